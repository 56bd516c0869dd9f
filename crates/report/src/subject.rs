//! What a page is about.

use export::Run;

use crate::table::Table;

/// What to report.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// Heading of the page; made of the runs' names where empty.
    pub title: String,
    /// The question answered in one sentence; made from the records where empty.
    pub answer: String,
    /// The runs.
    pub runs: Runs,
    /// Published figures beside ours: for reference, never a pass mark.
    pub references: Vec<Reference>,
    /// What a design promises beside what was measured; shown before the runs.
    pub promises: Option<Table>,
    /// When the page was written, such as `2026-11-22 08:10 UTC`. The only part of the page that
    /// the records do not decide; left out where empty.
    pub written: String,
}

/// The runs of a page.
#[derive(Clone, Debug)]
pub enum Runs {
    /// One run, or several that belong together, such as the parts of a benchmark. Each has its
    /// charts; the first one with a load curve, or else the first, stands for all at the top.
    Parts(Vec<Run>),
    /// Sets of runs to compare; the first is the baseline.
    Sets(Vec<Set>),
}

impl Default for Runs {
    fn default() -> Self {
        Runs::Parts(Vec::new())
    }
}

/// Runs that count as repeats of each other.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// What it is called.
    pub name: String,
    /// The runs, in the order in which they were taken.
    pub runs: Vec<Run>,
}

/// A figure that was published, and ours.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// What was measured, such as `read IOPS, 8 KiB random`.
    pub what: String,
    /// Theirs, with its unit.
    pub published: String,
    /// Ours, with its unit.
    pub measured: String,
    /// Where it stands.
    pub source: String,
}

impl Subject {
    /// Makes a page of one run.
    pub fn of_run(run: Run) -> Self {
        Subject { runs: Runs::Parts(vec![run]), ..Subject::default() }
    }

    /// Makes a page that compares sets of runs.
    pub fn of_sets(sets: Vec<Set>) -> Self {
        Subject { runs: Runs::Sets(sets), ..Subject::default() }
    }
}

/// Returns what a run is called.
pub(crate) fn called(run: &Run) -> String {
    match (run.id, run.name.as_str()) {
        (Some(id), "") => format!("run {id}"),
        (_, "") => "run".to_owned(),
        (_, name) => name.to_owned(),
    }
}
