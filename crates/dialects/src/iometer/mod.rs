//! Test configurations of Iometer (`.icf`): what workers do to targets, access specification after
//! access specification, with the numbers of workers, targets and outstanding I/Os turned up.
//!
//! A configuration is [read](config) into its own words, its [runs](sequence) are listed in the
//! order of the tool, and each run becomes a [step](lower) of a plan: a job for each target of each
//! worker, since outstanding I/Os count per target and worker.
//!
//! The format and the order of runs are those of Iometer 1.1.0; what its published source leaves to
//! the host (drive letters, physical drive numbers) is mapped by `--remap`.
//!
//! A plan is [written](write) as a configuration of that version: the files of its jobs become
//! [targets](places), and their I/O [lines](lines) of access specifications.
//!
//! Tests: `tests/iometer.rs`.

mod config;
mod file;
mod lines;
mod lower;
mod places;
mod read;
mod results;
mod sequence;
mod text;
mod write;

use plan::Plan;

pub use config::{
    AccessLine, AccessSpec, Assigned, Config, Growth, Manager, Rows, Steps, Target, TestSetup,
    TestType, Worker,
};
pub use read::read_config;
pub use results::{ResultLayout, results};
pub use sequence::{ActiveWorker, JobOfRun, MeasuredRun, Run, measured, runs};

use crate::{Dialect, Likeness, Loader, Parsed, ReadPlan, Request, Translation};

/// The language of Iometer's test configurations.
#[derive(Clone, Copy, Debug)]
pub struct Iometer;

impl Dialect for Iometer {
    fn name(&self) -> &'static str {
        "iometer"
    }

    fn about(&self) -> &'static str {
        "Test configurations of Iometer (.icf)"
    }

    fn file(&self) -> &'static str {
        "a test configuration of Iometer"
    }

    fn signs(&self) -> &'static str {
        "a test configuration of Iometer has `'TEST SETUP` and `'ACCESS SPECIFICATIONS`"
    }

    fn comment(&self) -> char {
        '\''
    }

    fn likeness(&self, text: &str) -> Likeness {
        let is_head = |line: &str| {
            let line = line.trim_start_matches('\u{feff}').trim_start().to_ascii_uppercase();
            line.starts_with("'TEST SETUP") || line.starts_with("'ACCESS SPECIFICATIONS")
        };
        if text.lines().any(is_head) { Likeness::Declared } else { Likeness::None }
    }

    fn read(&self, request: &Request<'_>, loader: &dyn Loader) -> ReadPlan {
        // Names of targets in a code page of Windows lose their accents.
        Parsed::of_wide_files(request.files, "test configuration", loader, |path, text| {
            lower::parse_text(path, text, request, loader)
        })
    }

    fn annotate(&self, text: &str, remarks: &[String]) -> String {
        file::annotate(text, remarks)
    }

    fn write(&self, plan: &Plan) -> Translation {
        write::write(plan)
    }
}
