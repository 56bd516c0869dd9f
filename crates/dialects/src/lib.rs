//! Foreign and native workload languages: text in, [`plan::Plan`] and diagnostics out; and a
//! [`record::Record`] in, that tool's own output out.
//!
//! Each dialect is one module and owns its grammar, its quirks and its messages. All of them fill
//! the same plan, through the parameter registry of `plan`. Files, variables and facts about the
//! host come in through a [`Loader`]; nothing here opens a file, reads the environment or a clock,
//! and no input makes it panic: every mistake is a [`plan::Diagnostic`] with its place.
//!
//! `sniff` of each dialect says how much a text looks like one of its own, in percent of the lines
//! that it would know; the largest is the likeliest.
//!
//! Tests: `tests/fio_parse*.rs` for reading, beside the modules for the parts.

pub mod fio;
pub mod foreign;
mod likeness;
pub mod loader;
pub mod native;
pub mod translation;
pub mod vdbench;

pub use foreign::Foreign;
pub use loader::{LoadError, Loader, NoHost};
pub use translation::Translation;
