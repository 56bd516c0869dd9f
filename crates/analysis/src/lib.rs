//! What measurements mean: steady or not, valid or not, how much a volume carries, and whether one
//! run differs from another.
//!
//! - A series over time: [`steady`] (SNIA's two tests), [`warmup`] (where it ends), [`change`]
//!   (where the level jumps, such as when credits run out).
//! - A run: [`assess()`] judges every step of a record by all [`gates`], each a [`Gate`] that
//!   passed, failed or could not be judged, with its reason
//!   and figures.
//! - Repeats: [`stats`] (median and mean with intervals, batch means) and
//!   [`compare()`]; [`metric`] has the figures of a run to compare, [`alike`] whether it makes
//!   sense, [`sampled`] makes the intervals of a run equal, [`sets`] does all of it for two sets of
//!   records, [`whole`] of curves and suites, too.
//! - A curve: [`search`] asks for one load after the other until it has the load line; [`Limits`]
//!   say what a load must keep (`p99 < 2ms`); [`curve`] turns points into figures: load at a
//!   latency, overall response time, knee, scalability law.
//!
//! Never here: measuring, a clock, I/O, the environment, text files, or text for people beyond one
//! sentence per verdict. Everything is a function of its arguments, so a search can be driven by a
//! simulation as well as by a volume.
//!
//! Sources of the formulas stand beside them. Tests: `tests/`, with the published golden values.

mod advice;
pub mod alike;
pub mod assess;
pub mod change;
pub mod compare;
pub mod composite;
pub mod correction;
pub mod curve;
pub mod entries;
pub mod gate;
pub mod gates;
pub mod limit;
pub mod metric;
#[cfg(test)]
mod misuse;
mod random;
pub mod sampled;
pub mod search;
pub mod series;
pub mod sets;
pub mod stats;
pub mod steady;
pub mod thin;
pub mod warmup;
pub mod whole;

pub use assess::{Rules, assess, credits_by_cap};
pub use compare::{Comparison, compare};
pub use curve::Point;
pub use gate::{Figure, Gate, GateName, GateVerdict};
pub use limit::{LatencyFigure, Limit, LimitError, Limits};
pub use search::{LoadLine, Search, SearchOptions};
