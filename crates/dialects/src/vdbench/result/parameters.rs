//! The parameter file that Vdbench copied beside its result: what the runs worked on.

use std::collections::BTreeMap;

use plan::{Plan, Severity};

use crate::NO_HOST;
use crate::vdbench::dialect::understood;
use crate::vdbench::options::Options;
use crate::vdbench::read::parse_text;
use crate::vdbench::run::{Run, Work};

/// Targets of a run that a record keeps.
const TARGETS_MAX: usize = 16;

/// What the parameter file says of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunSettings {
    /// Files and devices, or the folders of trees of files.
    pub(super) targets: Vec<String>,
    /// I/Os at a time over all of them.
    pub(super) threads: Option<u32>,
    pub(super) interval_ms: Option<u64>,
}

/// What the parameter file says.
pub(super) struct Parameters {
    runs: Vec<Run>,
    /// How many runs of a name were asked for.
    n_asked: BTreeMap<String, usize>,
    pub(super) plan: Option<Plan>,
    /// Why it says nothing, as half a sentence.
    pub(super) why_not: Option<String>,
}

impl Parameters {
    /// Reads the page: the files themselves, below a line of the page's own.
    pub(super) fn new(page: Option<&str>) -> Self {
        let mut found = Parameters {
            runs: Vec::new(),
            n_asked: BTreeMap::new(),
            plan: None,
            why_not: Some("no parmfile.html is beside the result".to_owned()),
        };
        let Some(page) = page else { return found };
        let (first, rest) = page.split_once('\n').unwrap_or((page, ""));
        // A blank line in place of the title: the numbers of lines stay.
        let text = if first.starts_with('<') { format!("\n{rest}") } else { page.to_owned() };
        let parsed = parse_text("parmfile.html", &text, &Options::default(), &NO_HOST);
        let wrong = parsed.diagnostics.iter().find(|it| it.severity == Severity::Error);
        found.why_not = match wrong {
            Some(wrong) => {
                let line = wrong.span.as_ref().map_or(1, |span| span.line);
                let why = &wrong.message;
                Some(format!("line {line} of parmfile.html cannot be read as it stands: {why}"))
            }
            None if parsed.runs.is_empty() => Some("parmfile.html has no run".to_owned()),
            None => None,
        };
        found.runs.clone_from(&parsed.runs);
        let read = understood(parsed, false, &NO_HOST).parsed;
        let mut findings = read.diagnostics.iter().chain(&read.refusals);
        let is_whole = findings.all(|it| it.severity != Severity::Error);
        found.plan = Some(read.plan).filter(|plan| is_whole && !plan.steps.is_empty());
        found
    }

    /// Returns what the next run of a name worked on: loops make several of one name.
    pub(super) fn next_run(&mut self, name: &str) -> RunSettings {
        let n_before = self.n_asked.entry(name.to_owned()).or_default();
        let run = self.runs.iter().filter(|run| run.name == name).nth(*n_before);
        *n_before += 1;
        run.map_or_else(RunSettings::default, settings)
    }
}

fn sum(threads: impl Iterator<Item = u32>) -> u32 {
    threads.fold(0, u32::saturating_add)
}

fn settings(run: &Run) -> RunSettings {
    let (mut targets, threads): (Vec<&String>, u32) = match &run.work {
        Work::Raw(work) => {
            let targets = work.sds.iter().map(|sd| &sd.lun).collect();
            (targets, sum(work.sds.iter().map(|sd| sd.threads)))
        }
        Work::Files(work) => {
            let targets = work.fsds.iter().map(|fsd| &fsd.anchor).collect();
            (targets, sum(work.fwds.iter().map(|fwd| fwd.threads)))
        }
        Work::Format(work) => (work.fsds.iter().map(|fsd| &fsd.anchor).collect(), work.threads),
        Work::SdFormat(work) => (work.sds.iter().map(|sd| &sd.lun).collect(), 0),
    };
    targets.dedup();
    let targets = targets.into_iter().take(TARGETS_MAX).cloned().collect();
    let interval_ms = Some(run.interval_ns / 1_000_000).filter(|ms| *ms > 0);
    RunSettings { targets, threads: Some(threads).filter(|n| *n > 0), interval_ms }
}
