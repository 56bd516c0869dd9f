//! Vdbench's parameter files and command line.
//!
//! The way in: [`run`] holds what a file comes to, run by run, with everything resolved: defaults,
//! wildcards, loops and overrides. Reading a file makes runs; lowering turns them into steps of a
//! [`plan::Plan`]; the outputs print them as Vdbench does.
//!
//! Source of all rules: the behaviour of Vdbench 5.04.07 and its users guide.

mod options;
mod parsed;

pub mod output;
pub mod run;
mod write;

pub use options::{FormatOverride, Mode, Options};
pub use write::write;
pub use parsed::{Host, Parsed, Repeat, Report, Settings};
