//! Foreign and native workload languages: text in, [`plan::Plan`] and diagnostics out; and a
//! [`record::Record`] in, that tool's own output out.
//!
//! Each dialect is one module and owns its grammar, its quirks and its messages. All of them fill
//! the same plan, through the parameter registry of `plan`. Files, variables and facts about the
//! host come in through a [`Loader`]; nothing here opens a file, reads the environment or a clock,
//! and no input makes it panic: every mistake is a [`plan::Diagnostic`] with its place.
//!
//! What each of them does alike is the trait [`Dialect`]: recognise, read, write. To add one: a
//! module with a type that has the trait, its name here, and its place in [`DIALECTS`].
//!
//! Tests: `tests/fio_parse*.rs` for reading, beside the modules for the parts.

mod devices;
pub mod dialect;
pub mod diskspd;
mod drafts;
pub mod fio;
pub mod foreign;
pub mod iometer;
mod languages;
mod likeness;
pub mod loader;
#[cfg(test)]
mod misuse;
mod mix_op;
pub mod native;
pub mod needs;
mod overrides;
mod read_back;
mod sections;
pub mod translation;
pub mod vdbench;
mod windows;

pub use dialect::{Dialect, Parsed, ReadPlan, Request};
pub use foreign::Foreign;
pub use languages::{DIALECTS, find_dialect, likeliest};
pub use likeness::Likeness;
pub use loader::{FilesOnly, LoadError, Loader, NO_HOST};
pub use mix_op::MixOp;
pub use overrides::{LowerOptions, Overrides};
pub use sections::Input;
pub use translation::Translation;
