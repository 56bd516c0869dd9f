//! Plans of our own, in TOML: everything that a plan can say, whatever tool it came from.
//!
//! A file has `schema = "plimsoll.plan/1"`, a `[[step]]` for each measured period and a
//! `[[step.job]]` for each job of it. A job's keys are the parameters that `plimsoll explain`
//! knows, by our names; `[[step.job.part]]` mixes workloads, `[step.job.tree]` works on a tree.
//! `[unit]` is a composite workload, which becomes steps of such jobs.
//! Jobs are given their meaning by the same code as those of fio.
//!
//! Tests: `tests/native.rs`.

mod mix;
mod read;
mod steps;
mod text;
mod tree_read;
mod tree_words;
mod tree_write;
mod unit;
mod write;

pub use read::{parse_file, parse_files, parse_text};
pub use tree_words::{before_word, filter_word, io_word, locality_words, order_words};
pub use unit::PROCESSES_MAX;
pub use write::write;

use plan::Plan;

use crate::{Dialect, Likeness, Loader, LowerOptions, ReadPlan, Request, Translation};

/// The language of our own plans.
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl Dialect for Native {
    fn name(&self) -> &'static str {
        "toml"
    }

    fn about(&self) -> &'static str {
        "Plans of Plimsoll's own, in TOML"
    }

    fn file(&self) -> &'static str {
        "a plan"
    }

    fn signs(&self) -> &'static str {
        "a plan of our own begins with `schema = \"plimsoll.plan/1\"`"
    }

    fn comment(&self) -> char {
        '#'
    }

    fn likeness(&self, text: &str) -> Likeness {
        if declares(text) { Likeness::Declared } else { Likeness::None }
    }

    fn read(&self, request: &Request<'_>, loader: &dyn Loader) -> ReadPlan {
        ReadPlan::of(parse_files(request.files, &LowerOptions::of(request), loader))
    }

    fn write(&self, plan: &Plan) -> Translation {
        write(plan)
    }
}

/// Name and version of the form; the first key of every file.
pub const SCHEMA: &str = "plimsoll.plan/1";

/// Returns whether a text names itself a plan of our own: with its first key.
pub fn declares(text: &str) -> bool {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    line.is_some_and(|line| line.starts_with("schema") && line.contains("plimsoll.plan"))
}
