//! What making runs of a file's sections keeps while it goes.

use std::collections::HashSet;

use super::findings::{Findings, Place};
use super::known::Known;
use super::loops::{LoopKind, Point};
use super::options::Options;
use super::parsed::Settings;
use super::rd::{NO_ELAPSED_S, RdEntry};
use super::run::{Contents, Rate, Run, Work};
use super::sections::Sections;
use super::sense::THREADS_MAX;
use super::structures::Structures;
use super::values::NS_PER_S;

/// Most definitions in all runs together: more would fill the memory before the first run.
const ENTRIES_MAX: usize = 10_000_000;

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

    /// Says whether something is to be reported, which is so once.
    pub(super) fn is_first_report(&mut self, of: String) -> bool {
        self.reported.insert(of)
    }

    /// Says whether so many runs with so many definitions each are not too much.
    pub(super) fn has_room(&mut self, place: Place, n_runs: usize, n_each: usize) -> bool {
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
        let looped = rd.loops.iter().find(|looped| looped.kind == LoopKind::Threads);
        let message =
            format!("rd={}: all threads of a run come to {sum}, more than {THREADS_MAX}", rd.name);
        let help = "lower `threads=` or `forthreads=`, or use fewer definitions in one run";
        let place = looped.map_or(rd.place, |looped| looped.place);
        self.findings.error_help(place, "too-many-threads", message, help);
    }

    /// Returns a run with what all kinds of work share.
    pub(super) fn bare_run(&self, rd: &RdEntry, point: &Point, work: Work) -> Run {
        let ns = |seconds: i64| (seconds.max(0) as u64).saturating_mul(NS_PER_S);
        let settings = self.settings();
        let compratio = point.get(LoopKind::Compratio).unwrap_or(settings.contents.compratio);
        Run {
            name: rd.name.clone(),
            rd: rd.rd.clone(),
            announced: String::new(),
            simulated: String::new(),
            loops: point.shown.clone(),
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
            contents: Contents { compratio, ..settings.contents.clone() },
            data_errors: settings.data_errors,
            work,
        }
    }
}
