//! A run while it goes on: what came out of it, and the record as it would be if it ended now.

use std::cell::Cell;
use std::sync::Arc;

use plan::{Diagnostic, Plan, Severity};
use record::{
    ClockRecord, Interval, JobRecord, Note, NoteSeverity, Outcome, PlaceRecord, Record,
    StepConditions, StepRecord,
};

use crate::bind::BoundPlan;
use crate::clock::Clock;
use crate::control::{Control, Stop};
use crate::disk::DiskSampler;
use crate::emulation::Emulation;
use crate::event::RunEvent;
use crate::journal::Journal;
use crate::options::RunOptions;
use crate::{host, places};

/// A run and what came out of it so far.
pub(crate) struct RunSoFar<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) options: &'a RunOptions,
    pub(crate) control: &'a Control,
    pub(crate) clock: Clock,
    pub(crate) zero_unix_ms: u64,
    /// Devices below the targets; `None` where there are none.
    pub(crate) disks: Option<DiskSampler>,
    /// Steps that have ended or were left out.
    pub(crate) steps: Vec<StepRecord>,
    /// Workers of the steps that have ended.
    pub(crate) jobs: Vec<JobRecord>,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) conditions: Vec<StepConditions>,
    /// What the targets lie on.
    pub(crate) places: Vec<PlaceRecord>,
    pub(crate) notes: Vec<Note>,
    /// A worker could not start or failed.
    pub(crate) failed: bool,
    /// Where writes are written down, if they are.
    pub(crate) journal: Option<Arc<Journal>>,
    /// When [`RunEvent::Report`] was last sent, nanoseconds after the start of the run.
    pub(crate) reported_ns: Cell<u64>,
}

impl RunSoFar<'_> {
    /// Makes the record, with the workers and intervals of a step that has not ended.
    ///
    /// `now_ns` is the time since the start of the run.
    pub(crate) fn record(&self, now_ns: u64, jobs: &[JobRecord], intervals: &[Interval]) -> Record {
        let jobs = [&self.jobs, jobs].concat();
        Record {
            schema: record::SCHEMA.to_owned(),
            plimsoll_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_ms: self.zero_unix_ms,
            elapsed_ns: now_ns,
            outcome: outcome_of(self.control, self.failed),
            command: self.options.command.clone(),
            host: host::describe(),
            clock: self.clock_record(),
            emulation: self.options.emulation.as_ref().map(|it| it.record(now_ns)),
            global_options: self.plan.global_options.clone(),
            steps: self.named_steps(),
            conditions: self.conditions.clone(),
            validity: Vec::new(),
            hosts: Vec::new(),
            places: self.places.clone(),
            curve: None,
            suite: None,
            units: Vec::new(),
            jobs: record::group::group(jobs),
            intervals: [&self.intervals, intervals].concat(),
            disks: self.disks.as_ref().map(DiskSampler::finish).unwrap_or_default(),
            notes: self.notes.clone(),
        }
    }

    /// Returns the steps, if any has a name.
    fn named_steps(&self) -> Vec<StepRecord> {
        let is_named = self.plan.steps.iter().any(|step| !step.name.is_empty());
        if is_named { self.steps.clone() } else { Vec::new() }
    }

    fn clock_record(&self) -> ClockRecord {
        if self.options.emulation.as_ref().is_some_and(Emulation::is_virtual) {
            let (source, stamping) = ("virtual".to_owned(), "per_io".to_owned());
            return ClockRecord { source, stamping, read_cost_ns: 0 };
        }
        ClockRecord {
            source: self.clock.source_name().to_owned(),
            stamping: "per_batch".to_owned(),
            read_cost_ns: self.clock.read_cost_ns(),
        }
    }

    /// Notes what was found before anything ran.
    pub(crate) fn note_findings(
        &mut self,
        findings: &[Diagnostic],
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        for finding in findings {
            let severity = match finding.severity {
                Severity::Note => NoteSeverity::Info,
                Severity::Warning | Severity::Error => NoteSeverity::Warning,
            };
            self.note(severity, finding.code, &finding.message, on_event);
        }
    }

    /// Notes what of the targets' places makes the numbers those of something else.
    pub(crate) fn note_places(
        &mut self,
        bound: &BoundPlan,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        for text in places::in_memory(&self.places) {
            self.note(NoteSeverity::Warning, "target-in-memory", &text, on_event);
        }
        for text in places::of_zeros(bound) {
            self.note(NoteSeverity::Warning, "target-zeros", &text, on_event);
        }
    }

    pub(crate) fn note(
        &mut self,
        severity: NoteSeverity,
        code: &str,
        message: &str,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        let note = Note { severity, code: code.to_owned(), message: message.to_owned() };
        on_event(RunEvent::Note(&note));
        self.notes.push(note);
    }
}

fn outcome_of(control: &Control, failed: bool) -> Outcome {
    match control.stop() {
        Stop::No if failed => Outcome::Failed,
        Stop::No => Outcome::Complete,
        Stop::Soon | Stop::Now => Outcome::Interrupted,
    }
}
