//! The registry: one entry per parameter, from which parsing, help, completion, reference and tests
//! are made.
//!
//! An entry names the parameter in each dialect, says what values it takes ([`ValueKind`]), how a
//! parsed [`Value`] changes a [`Job`](crate::Job) (`lower`), and which value a job has (`get`). A
//! dialect turns text into a `Value` by the entry's kind, and a value into text by
//! [`Param::text`]; it never needs to know the parameter.
//!
//! Adding a parameter is one entry in a table of its chapter (`param/target.rs`, `param/load.rs`,
//! ...), for a field of a job by `..field!(files.direct)`. Which table it is tells its category,
//! and whether it says where a job works. An entry with a `lower` of its own names the field that
//! it changes, by [`job_field!`](crate::job_field): writers answer for fields, and thereby for
//! every parameter that says one.
//!
//! How a dialect makes a job: find each name ([`find_fio`]), parse its text by `kind`, sort the
//! pairs by [`apply_rank`] (stable, so that for equal ranks the later one wins), call each `lower`,
//! and then [`finish`] once. [`settings`] is the way back. Names that shape the plan, such as
//! `barrier`, are the dialect's own, and their `lower` changes nothing. A [`Support::Later`] or
//! [`Support::NeedsEngine`] entry is refused unless its text is its default.
//!
//! Tests: `tests/registry.rs` walks the table (unique names, every entry documented, defaults
//! within their range, each lowering changes the field that it names and is got back).

mod buffers;
mod engines;
mod entry;
mod error;
mod fields;
mod finish;
mod foreign;
mod index;
mod load;
mod logs;
mod native;
mod nfs;
mod print;
mod process;
mod report;
mod setting;
mod target;
mod text;
mod time;
mod verify;
mod workload;
mod zones;

pub use engines::{ENGINES, EngineName, engine_note, find_engine};
pub use entry::{AccessValue, Category, Choice, Field, Param, Support, TimeUnit, Value, ValueKind};
pub use error::ValueError;
pub use finish::finish;
pub use index::{Names, all, apply_rank, find, find_fio, suggest};
pub use setting::{Setting, settings};
pub use text::{cmdhelp, completion_words, explain, reference_markdown, suggest_value};
pub use workload::{ACCESS_WORDS, find_access};
