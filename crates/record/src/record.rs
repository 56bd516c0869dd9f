//! The record of a run.

mod hosts;

pub use self::hosts::{HostShareRecord, LossRecord, StartRecord};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    ClockRecord, CurveRecord, DiskRecord, EmulationRecord, HostRecord, Interval, JobRecord,
    PlaceRecord, StepConditions, StepRecord, StepValidity, SuiteRecord, UnitsRecord, Verdict,
};

/// Name and version of the JSON form. The number rises when a field changes its meaning.
pub const SCHEMA: &str = "plimsoll.record/1";

/// What came out of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program that measured.
    pub plimsoll_version: String,
    /// Start of the run, milliseconds since the Unix epoch. A label, never used to measure.
    pub started_unix_ms: u64,
    /// Length of the whole run including preparation, nanoseconds.
    pub elapsed_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The command and its arguments, as typed.
    pub command: Vec<String>,
    /// Where it ran.
    pub host: HostRecord,
    /// How time was read.
    pub clock: ClockRecord,
    /// What stood in for the targets; `None` for a run on this host's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<EmulationRecord>,
    /// Options given for all jobs, as written.
    pub global_options: Vec<(String, String)>,
    /// The steps, where they have names; in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepRecord>,
    /// Under which conditions the steps were measured, one entry for each that ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<StepConditions>,
    /// What the checks of the steps said, one entry for each that ran; empty where none were judged
    /// the run, as of results that another program printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validity: Vec<StepValidity>,
    /// What each host did, where the load came from several: then all other figures are those of
    /// all hosts together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostShareRecord>,
    /// What the targets lie on; empty where they are emulated, or it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PlaceRecord>,
    /// The load curve, where steps are its points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurveRecord>,
    /// What came of units of load, one entry for each measured step of a composite workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitsRecord>,
    /// The suite of a benchmark, where the steps are its measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteRecord>,
    /// One entry per worker, or per group where the job asks for it; in the order of the plan.
    pub jobs: Vec<JobRecord>,
    /// The whole run per second.
    pub intervals: Vec<Interval>,
    /// Block devices below the targets.
    pub disks: Vec<DiskRecord>,
    /// What a reader must know before trusting the numbers.
    pub notes: Vec<Note>,
}

impl Default for Record {
    /// The record of a run in which nothing was done, of this version of the schema.
    fn default() -> Self {
        Record {
            schema: SCHEMA.to_owned(),
            plimsoll_version: String::new(),
            started_unix_ms: 0,
            elapsed_ns: 0,
            outcome: Outcome::Complete,
            command: Vec::new(),
            host: HostRecord::default(),
            clock: ClockRecord::default(),
            emulation: None,
            global_options: Vec::new(),
            steps: Vec::new(),
            conditions: Vec::new(),
            validity: Vec::new(),
            hosts: Vec::new(),
            places: Vec::new(),
            curve: None,
            units: Vec::new(),
            suite: None,
            jobs: Vec::new(),
            intervals: Vec::new(),
            disks: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Record {
    /// Returns whether anything was measured: an operation that counts, of a job or, where the run
    /// was cut off before its totals were written, of a period that is no ramp.
    pub fn has_measured(&self) -> bool {
        let of_job = |job: &JobRecord| {
            job.n_ios() > 0
                || !job.sync.is_empty()
                || job.series.iter().any(|series| series.n_ios > 0)
        };
        let of_interval = |interval: &Interval| {
            !interval.ramp && interval.dirs.iter().any(|(_, dir)| dir.n_ios > 0)
        };
        self.jobs.iter().any(of_job) || self.intervals.iter().any(of_interval)
    }

    /// Returns when the warm-up ended that was found, by step, as milliseconds after the start of
    /// the run. Steps of which that could not be found out are not in it.
    pub fn warm_up_ends_ms(&self) -> BTreeMap<u32, u64> {
        let end_ms = |step: &StepValidity| {
            let is_first = |it: &&Interval| it.step_idx == step.step_idx && !it.ramp;
            let first = self.intervals.iter().find(is_first)?;
            let start_ms = first.end_ms.saturating_sub(first.length_ms);
            Some((step.step_idx, start_ms.saturating_add(step.warm_up_ms?)))
        };
        self.validity.iter().filter_map(end_ms).collect()
    }

    /// Returns the checks of the measurement that stands for the load line: those of a curve's
    /// answer. All its other points were measured on the way, most of them to overload the volume.
    pub fn line_validity(&self) -> Option<&StepValidity> {
        let of = |step_idx: u32| self.validity.iter().find(|it| it.step_idx == step_idx);
        let n_failed = |step_idx: u32| {
            let weigh = |it: &StepValidity| {
                it.with(Verdict::Failed).count() + if it.is_valid { 0 } else { it.gates.len() }
            };
            of(step_idx).map_or(0, weigh)
        };
        of(self.curve.as_ref()?.line_step(n_failed)?)
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything the plan says was done.
    #[default]
    Complete,
    /// Stopped by a signal; what was measured until then, if anything, is here.
    Interrupted,
    /// At least one job failed; the others are here.
    Failed,
    /// Hosts were lost on the way; what came from them until then is here.
    Partial,
}

/// A remark about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Whether numbers are affected.
    pub severity: NoteSeverity,
    /// Stable short name for scripts.
    pub code: String,
    /// One sentence.
    pub message: String,
}

/// What the codes of warnings begin with that limit what a load line means.
const OF_LINE: &str = "line-";

impl Note {
    /// Makes a warning that limits what a load line means; its code is `line-` and `what`.
    pub fn of_line(what: &str, message: String) -> Note {
        Note { severity: NoteSeverity::Warning, code: format!("{OF_LINE}{what}"), message }
    }

    /// Returns whether it limits what a load line means.
    pub fn is_of_line(&self) -> bool {
        self.severity == NoteSeverity::Warning && self.code.starts_with(OF_LINE)
    }
}

/// Code of the note that no logs were written.
pub const LOG_FAILED: &str = "log-failed";

/// Code of the note that a log lacks its end.
pub const LOG_INCOMPLETE: &str = "log-incomplete";

/// Weight of a [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteSeverity {
    /// Good to know.
    Info,
    /// Some numbers may not mean what they seem to.
    Warning,
    /// Something failed.
    Error,
}
