//! fio: job files, command lines and reports.
//!
//! The way of a job file: `scan` finds lines, `read` follows includes and replaces variables,
//! `lower` gives sections their meaning through the parameter registry with a value reader per kind
//! (`value`), and `cross` checks options against one another. A command line comes in through
//! `args` and goes the same way. What fio's `--parse-only` accepts parses without an error here;
//! what cannot run is apart, in [`crate::Parsed::refusals`].
//!
//! Facts come from fio's manual and the behaviour of fio 3.33. Tests: `tests/fio_parse*.rs`.

mod args;
mod cross;
mod engines;
mod lower;
mod read;
mod scan;
mod showcmd;
mod sniff;
mod switches;
mod value;
mod vars;
mod write;

pub mod iolog;
pub mod output;
pub mod result;

pub use args::read_args;
pub use engines::enghelp;
pub use showcmd::usage;
pub use sniff::sniff;
pub use switches::{ClientArg, ClientFile, Eta, Format, Switches};
pub use write::write;

use plan::{Plan, Severity};

use crate::{
    Dialect, Input, Likeness, Loader, LowerOptions, Parsed, ReadPlan, Request, Translation,
};

/// The language of fio's job files.
#[derive(Clone, Copy, Debug)]
pub struct Fio;

impl Dialect for Fio {
    fn name(&self) -> &'static str {
        "fio"
    }

    fn about(&self) -> &'static str {
        "Job files of fio"
    }

    fn file(&self) -> &'static str {
        "a job file of fio"
    }

    fn signs(&self) -> &'static str {
        "a job file of fio has a `[section]` for each job, with `option=value` lines"
    }

    fn comment(&self) -> char {
        '#'
    }

    fn likeness(&self, text: &str) -> Likeness {
        Likeness::of_pct(sniff(text))
    }

    fn read(&self, request: &Request<'_>, loader: &dyn Loader) -> ReadPlan {
        let mut parsed = parse_files(request.files, &LowerOptions::of(request), loader);
        for finding in &mut parsed.diagnostics {
            // fio takes an unset variable for nothing, which turns `${DIR}/f` into `/f`.
            if finding.code == "undefined-variable" {
                finding.severity = Severity::Error;
                finding.help.push("one that shall be empty must be set, to nothing".to_owned());
            }
        }
        ReadPlan::of(parsed)
    }

    fn write(&self, plan: &Plan) -> Translation {
        write(plan)
    }
}

/// A command line, parsed in full.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// What it says besides jobs.
    pub switches: Switches,
    /// Its jobs and those of its job files.
    pub parsed: Parsed,
    /// The jobs as one command line, which `--showcmd` prints.
    pub showcmd: String,
}

/// Parses fio's arguments (without the program's name) and the job files they name.
pub fn parse_args(args: &[String], loader: &dyn Loader) -> CommandLine {
    let (switches, input) = read_args(args, loader);
    let showcmd = if switches.showcmd { input.showcmd(&switches.sections) } else { String::new() };
    let wishes =
        LowerOptions { sections: &switches.sections, readonly: switches.readonly, overrides: None };
    let parsed = input.lower(&wishes, loader);
    CommandLine { switches, parsed, showcmd }
}

/// Parses one job file; the path `-` is the standard input.
pub fn parse_file(path: &str, wishes: &LowerOptions<'_>, loader: &dyn Loader) -> Parsed {
    parse_files(&[path], wishes, loader)
}

/// Parses job files that run one after another, each with defaults of its own.
pub fn parse_files<P: AsRef<str>>(
    paths: &[P],
    wishes: &LowerOptions<'_>,
    loader: &dyn Loader,
) -> Parsed {
    let mut input = Input::default();
    for path in paths {
        read::read_job_file(path.as_ref(), &mut input, loader);
    }
    input.lower(wishes, loader)
}

/// Parses a job file that is already in memory; `name` stands for its path.
pub fn parse_text(
    name: &str,
    text: &str,
    wishes: &LowerOptions<'_>,
    loader: &dyn Loader,
) -> Parsed {
    let mut input = Input::default();
    read::read_job_text(name, text.to_owned(), &mut input, loader);
    input.lower(wishes, loader)
}
