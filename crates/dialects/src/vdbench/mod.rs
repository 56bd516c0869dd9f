//! Vdbench's parameter files and command line.
//!
//! The way in: [`run`] holds what a file comes to, run by run, with everything resolved: defaults,
//! wildcards, loops and overrides. Reading a file makes runs ([`parse_files`], [`parse_args`]);
//! [`lower::step`] turns each into a step of a [`plan::Plan`]; the outputs print them as Vdbench
//! does.
//!
//! The way of a file: `lines` drops comments, follows includes and replaces names; `params` joins
//! lines and takes them apart; `values` tells numbers from words and carries ranges out. A section
//! is data (`section`): a row for each keyword, in Vdbench's order, with how its value is read,
//! what it sets and what it means. One module per section holds its rows and the values with a
//! grammar of their own (`general`, `hosts`, `fsd`, `sd`, `wd`, `fwd`, `rd`); `sections` reads
//! all of them. `expand` makes runs of what was read: `select` completes run definitions,
//! `pick_raw` finds what they name, `check_raw` checks it, `expand_raw` and `expand_files` carry
//! loops out, `announce` says what Vdbench says of each.
//!
//! Two modes ([`Mode`]) share all of it. Every mistake is reported with its place, not only the
//! first; what is understood but cannot run is apart, in [`Parsed::refusals`].
//!
//! Source of all rules: the behaviour of Vdbench 5.04.07 and its users guide. Tests:
//! `tests/vdbench_*.rs`.

#[macro_use]
mod defaults;

mod announce;
mod args;
mod check_raw;
mod context;
mod dedup;
mod dialect;
mod expand;
mod expand_files;
mod expand_raw;
mod expansion;
mod file_words;
mod findings;
mod format;
mod fsd;
mod fwd;
mod general;
mod head;
mod hosts;
mod known;
mod lines;
mod loops;
mod lower_files;
mod lower_raw;
mod luns;
mod names;
mod number_rule;
mod openflags;
mod options;
mod params;
mod parsed;
mod pick_raw;
mod plain;
mod rd;
mod reach;
mod read;
mod repeat;
mod scan;
mod sd;
mod section;
mod sections;
mod select;
mod slaves;
mod sniff;
mod structures;
mod values;
mod wd;
mod words;
mod write;
mod written;

pub mod lower;
pub mod output;
pub mod result;
pub mod run;

pub use announce::{announced_with_rate, simulation};
pub use args::{CommandLine, Utility, parse_args};
pub use dialect::{Vdbench, plan_of};
pub use luns::unsized_luns;
pub use options::{FormatOverride, Mode, Options};
pub use parsed::{FileNames, Host, Journaling, Parsed, Repeat, ReportFiles, Settings};
pub use reach::{remote_finding, unreachable_hosts, used_hosts};
pub use read::{parse_files, parse_text, sd_format};
pub use sniff::sniff;
pub use words::explain;
pub use write::write;

pub use crate::loader::Lun;
