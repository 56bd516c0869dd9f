//! Answers that take many runs: a load curve and its load line, and suites of benchmarks.
//!
//! [`Sweep`] says which plan to run next and takes the record of what came out, until it has the
//! answer. It is independent of what runs the plans, on files or on emulated volumes. One
//! record holds the whole sweep: a step per point, and [`record::CurveRecord`] beside them.
//!
//! [`lever`] puts a load onto a plan: a rate with intended starts, or I/Os in flight.
//! [`workers`] says how many workers issue it.
//! [`sweep`] drives the search of `analysis` and joins the records. [`outcome`] turns the points
//! into figures, [`hosts`] says what a host of several spoiled. [`suite`] reads benchmark
//! procedures and says what to run for them. [`composite`] takes points over units of load of a
//! composite workload.
//!
//! Never here: running anything, a clock, I/O, text for people beyond one sentence per mistake.
//!
//! Tests: `tests/`, and whole sweeps on emulated volumes with `plimsoll`'s.

pub mod composite;
pub mod hosts;
mod in_flight;
mod join;
pub mod lever;
pub mod outcome;
pub mod scale_out;
pub mod suite;
pub mod sweep;
pub mod workers;

pub use composite::UnitsSweep;
pub use join::append;
pub use lever::{Lever, LeverError};
pub use suite::Suite;
pub use sweep::{Advice, Sweep, SweepOptions};
