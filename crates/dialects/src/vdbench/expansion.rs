//! What making runs of a file's sections keeps while it goes.

use std::collections::HashSet;

use super::findings::{Findings, SourceRange};
use super::known::Known;
use super::loops::{LoopKind, Point};
use super::number_rule::THREADS_MAX;
use super::options::Options;
use super::parsed::Settings;
use super::rd::{CURVE_PCTS, NO_ELAPSED_S, RdEntry};
use super::run::{Rate, Run, Work, curve_rate_iops};
use super::sections::Sections;
use super::structures::Structures;
use super::values::{CURVE_RATE, MAX_RATE, NS_PER_S};

/// Most definitions in all runs together: more would fill the memory before the first run.
const ENTRIES_MAX: usize = 10_000_000;

/// How far shares may be off 100 percent.
pub(super) const SKEW_SLACK_PCT: f64 = 0.0001;

/// The maximum that a simulation takes for a curve.
const SIMULATED_MAX_IOPS: f64 = 10_000.0;

/// Nanoseconds of a millisecond.
const NS_PER_MS: f64 = 1e6;

/// The way from sections to runs.
pub(super) struct Expansion<'a> {
    pub(super) sections: &'a Sections,
    pub(super) options: &'a Options,
    pub(super) findings: &'a mut Findings,
    /// What the runs so far have made.
    pub(super) structures: Structures,
    /// What was reported so far that is reported once.
    reported: HashSet<String>,
    /// Definitions in all runs so far.
    n_entries: usize,
}

impl<'a> Expansion<'a> {
    pub(super) fn new(
        sections: &'a Sections,
        options: &'a Options,
        findings: &'a mut Findings,
    ) -> Self {
        let (structures, reported) = (Structures::default(), HashSet::new());
        Expansion { sections, options, findings, structures, reported, n_entries: 0 }
    }

    pub(super) fn is_kind(&self) -> bool {
        self.options.is_kind()
    }

    pub(super) fn known(&self) -> &'a Known {
        &self.sections.known
    }

    pub(super) fn settings(&self) -> &'a Settings {
        &self.sections.known.general.settings
    }

    /// Returns whether something is to be reported, which is so once.
    pub(super) fn is_first_report(&mut self, of: String) -> bool {
        self.reported.insert(of)
    }

    /// Returns whether so many runs with so many definitions each are not too much.
    pub(super) fn has_room(&mut self, place: SourceRange, n_runs: usize, n_each: usize) -> bool {
        self.n_entries = self.n_entries.saturating_add(n_runs.saturating_mul(n_each));
        if self.n_entries > ENTRIES_MAX {
            self.findings.too_many(place, "definitions in all runs together", ENTRIES_MAX);
        }
        self.n_entries <= ENTRIES_MAX
    }

    /// Reports a run whose threads together are too many.
    pub(super) fn check_threads(&mut self, rd: &RdEntry, n_threads: impl Iterator<Item = i64>) {
        let sum = n_threads.fold(0_u64, |sum, n| sum.saturating_add(n.max(1) as u64));
        if sum <= THREADS_MAX {
            return;
        }
        let looped = rd.loop_of(LoopKind::Threads);
        let message = format!(
            "rd={}: all threads of a run come to {sum}, more than {THREADS_MAX}",
            rd.head.name
        );
        let help = "lower `threads=` or `forthreads=`, or use fewer definitions in one run";
        let place = looped.map_or(rd.head.place, |looped| looped.place);
        self.findings.error_help(place, "too-many-threads", message, help);
    }

    /// Returns a run with what all kinds of work share.
    pub(super) fn bare_run(&self, rd: &RdEntry, point: &Point, work: Work) -> Run {
        let mut run = bare_run(rd, self.settings(), work);
        run.loops.clone_from(&point.shown);
        if let Some(compratio) = point.get(LoopKind::Compratio) {
            run.contents.compratio = compratio;
        }
        run
    }
}

/// Returns a run with what no loop changes, which is announced as nothing yet.
pub(super) fn bare_run(rd: &RdEntry, settings: &Settings, work: Work) -> Run {
    let ns = |seconds: i64| (seconds.max(0) as u64).saturating_mul(NS_PER_S);
    Run {
        name: rd.head.name.clone(),
        rd: rd.rd.clone(),
        announced: String::new(),
        simulated: String::new(),
        loops: Vec::new(),
        rate: Rate::Max,
        controlled: false,
        elapsed_ns: (rd.elapsed_s != NO_ELAPSED_S).then(|| ns(rd.elapsed_s)),
        warmup_ns: ns(rd.warmup_s),
        interval_ns: ns(rd.interval_s).max(NS_PER_S),
        pause_ns: ns(rd.pause_s),
        maxdata: rd.max_data(0),
        arrivals: rd.arrivals,
        rate_periods: rd.rate_periods(),
        commands: rd.commands.clone(),
        contents: settings.contents.clone(),
        data_errors: settings.data_errors,
        work,
    }
}

/// Returns the rate that a number stands for.
pub(super) fn rate_of(number: f64) -> Rate {
    match number {
        MAX_RATE => Rate::Max,
        CURVE_RATE => Rate::CurveMax,
        other => Rate::Iops(other.max(0.0)),
    }
}

/// Adds the points of a curve behind the run that measures its maximum. `texts` returns how a run
/// of a name and a rate is announced, and how a simulation lists it.
pub(super) fn add_curve(
    rd: &RdEntry,
    runs: &mut Vec<Run>,
    texts: impl Fn(&str, f64, &Run) -> (String, String),
) {
    let Some(maximum) = runs.last().cloned() else { return };
    for pct in rd.curve_pcts.as_deref().unwrap_or(&CURVE_PCTS) {
        let iops = curve_rate_iops(SIMULATED_MAX_IOPS, pct.trunc()) as f64;
        let name = format!("{}_({}%)", rd.head.name, *pct as i32);
        let (announced, simulated) = texts(&name, iops, &maximum);
        let rate = Rate::CurvePoint {
            pct: pct.trunc(),
            stop_above_ns: rd.stopcurve_ms.map(|ms| (ms * NS_PER_MS) as u64),
        };
        runs.push(Run { name, announced, simulated, rate, controlled: true, ..maximum.clone() });
    }
}
