//! The nouns that come out of a run: [`Record`] and what it is made of, and its versioned JSON.
//!
//! A record says what was measured, under which conditions, and what went wrong. It holds
//! histograms, not percentiles, so that records can be merged: hosts of a fleet, workers of a
//! group.
//!
//! What several outputs say of a record in the same words is here, too: `figures.rs`,
//! `curve_words.rs`, `suite_words.rs`.
//!
//! Never here: measuring, averaging of averages, what one output alone says.
//!
//! Tests: `tests/`.

mod counts;
pub mod curve;
mod curve_words;
pub mod disk;
pub mod emulation;
pub mod figures;
pub mod group;
pub mod host;
pub mod interval;
pub mod job;
pub mod json;
mod latency;
pub mod listed;
#[cfg(test)]
mod misuse;
pub mod place;
pub mod step;
pub mod suite;
mod suite_words;
pub mod validity;

pub use counts::LatencyCounts;
pub use curve::{
    CannotTell, CarriedRecord, CurvePointRecord, CurveRecord, CurveTargetRecord, IntervalRecord,
    KneesRecord, Lever, LineVerdict, LoadLineRecord, ScalabilityRecord,
};
pub use curve_words::load_words;
pub use disk::DiskRecord;
pub use emulation::{
    BurstRecord, CapRecord, CapsRecord, DesignChangeRecord, EmulationRecord, FillingRecord,
    compare_parts,
};
pub use figures::{Figure, Figures};
pub use host::{ClockRecord, HostRecord};
pub use interval::{CpuShares, Interval, IntervalDir, IntervalResponse, IntervalSeries};
pub use job::{
    ArrivalsRecord, DirRecord, DisabledRecord, IoPriorityRecord, JobRecord, LatencyTargetRecord,
    PerDirRecord, PrintRecord, PriorityRecord, Samples, SeriesRecord, SteadyRecord,
};
pub use json::ReadError;
pub use listed::{Latency, ListedLatencies, ListedLatency};
pub use place::{DeviceRecord, NetworkRecord, PlaceRecord};
pub use step::{IoErrorRecord, StepRecord};
pub use suite::{
    MET, NeedConditionRecord, NeedRecord, PublishedRecord, SuiteFigureRecord, SuiteRecord,
    SuiteRoundsRecord, SuiteRowRecord, SuiteSourceRecord, SuiteStepRecord,
};
pub use validity::{
    GateRecord, PauseRecord, PausesRecord, SUSTAINED_SHARE, SteadyRuleRecord, StepConditions,
    StepValidity, UntilSteadyRecord, Verdict,
};

use serde::{Deserialize, Serialize};

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
    /// What the targets lie on; empty where they are emulated, or it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PlaceRecord>,
    /// The load curve, where steps are its points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurveRecord>,
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
            places: Vec::new(),
            curve: None,
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
