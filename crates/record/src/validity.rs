//! Whether a run means what it seems to: what each step was measured under, and what its checks
//! said.
//!
//! Conditions are facts, taken while the step ran. Verdicts follow from them and from the results;
//! they are kept with the rules they were made by, so that a run is judged once, when it ends.

use std::collections::BTreeMap;

use hist::Histogram;
use serde::{Deserialize, Serialize};

/// Under which conditions a step was measured.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StepConditions {
    /// Step, from 0.
    pub step_idx: u32,
    /// How much later the first worker began than the moment that all hosts of the load were given,
    /// nanoseconds; negative where it began too early. `None` where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_error_ns: Option<i64>,
    /// Share of the time of all processors of this host that was not idle, 0 to 1; without what
    /// hypervisors took. `None` in virtual time, or where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// Share of the time of all processors that hypervisors gave to others, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_steal_share: Option<f64>,
    /// Part of `host_busy_share` that this process used itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_busy_share: Option<f64>,
    /// Part of `host_busy_share` that other programs used in user mode. What is missing to all of
    /// it is the kernel's work, some of it for this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_user_share: Option<f64>,
    /// How late an extra timer thread woke; `None` in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<PausesRecord>,
    /// What the disks below the targets did; `None` where there are none, or where the kernel does
    /// not say what of it this process asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_use: Option<DiskUseRecord>,
    /// Different bytes that the jobs may touch by their plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addressed_bytes: Option<u64>,
    /// Different bytes that they touched, computed from their plan and the number of their
    /// operations, or else counted to 1 %. `None` where neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touched_bytes: Option<u64>,
    /// The step was to run on until it was steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_steady: Option<UntilSteadyRecord>,
}

/// What the disks below a step's targets did meanwhile, and what of it this process asked for.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskUseRecord {
    /// The disks, such as `vda`, in the order of the targets.
    pub disks: Vec<String>,
    /// How long was counted, milliseconds.
    pub length_ms: u64,
    /// Share of that time in which the busiest disk had something to do, 0 to 1.
    pub busy_share: f64,
    /// What was read.
    pub read: DiskUseDir,
    /// What was written.
    pub write: DiskUseDir,
    /// What this process wrote is what it made the disks write, and at that time. False of buffered
    /// writes, and of writes that are made durable by a journal: nothing follows from them.
    pub knows_own_writes: bool,
}

/// One direction of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiskUseDir {
    /// Operations that the disks completed, whoever asked for them.
    pub n_ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes that this process asked for, of any device.
    pub own_bytes: u64,
}

impl DiskUseDir {
    /// Returns the bytes that others asked for; too few where this process also used other devices.
    pub fn others_bytes(self) -> u64 {
        self.bytes.saturating_sub(self.own_bytes)
    }

    /// Returns the operations that others asked for, as if theirs were as long as its own.
    pub fn others_ios(self) -> f64 {
        self.n_ios as f64 * self.others_bytes() as f64 / self.bytes.max(1) as f64
    }
}

/// How late an extra thread woke that only sleeps for a fixed period: what would have kept any
/// worker from acting at that moment.
///
/// A wake-up that comes later than a period stands for all that were due meanwhile, each with its
/// own delay. So the histograms are of moments at equal distances, and a share of their values is
/// one of the step's time.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct PausesRecord {
    /// Distance of the moments.
    pub period_ns: u64,
    /// Delays that others' use of the processors does not explain: the process was stopped, or a
    /// hypervisor gave its processor to others.
    #[serde(with = "crate::latency")]
    pub still: Histogram,
    /// All other delays: the usual few microseconds, and waits for a processor.
    #[serde(with = "crate::latency")]
    pub waited: Histogram,
    /// The longest in which it stood still, in the order of time; none below 10 ms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub longest: Vec<PauseRecord>,
}

/// A time in which the process stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PauseRecord {
    /// When it ended, milliseconds after the start of the run.
    pub end_ms: u64,
    /// Length, milliseconds.
    pub length_ms: u64,
}

impl PausesRecord {
    /// Returns the share of the step's time, 0 to 1, at which a wake-up was later than `late_ns`
    /// because the process stood still; `None` where nothing was counted.
    pub fn still_share(&self, late_ns: u64) -> Option<f64> {
        self.share(&self.still, late_ns)
    }

    /// Returns the share of the step's time, 0 to 1, at which a wake-up was later than `late_ns`
    /// because others had the processor; `None` where nothing was counted.
    pub fn waited_share(&self, late_ns: u64) -> Option<f64> {
        self.share(&self.waited, late_ns)
    }

    fn share(&self, of: &Histogram, late_ns: u64) -> Option<f64> {
        let n = self.still.count().saturating_add(self.waited.count());
        let n_late = of.count().saturating_sub(of.count_below(late_ns));
        (n > 0).then(|| n_late as f64 / n as f64)
    }
}

/// A step that was to run on until it was steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UntilSteadyRecord {
    /// Longest time it was given, milliseconds after the start of its workers.
    pub limit_ms: u64,
    /// When it was found steady, milliseconds after the start of its workers; `None` if never.
    pub attained_ms: Option<u64>,
}

/// What the checks of a step said.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StepValidity {
    /// Step, from 0.
    pub step_idx: u32,
    /// No check failed that says that the step measured something else than was asked for: errors,
    /// the rate, the load generator, Little's law. Others may have failed or not been assessed.
    pub is_valid: bool,
    /// What steadiness was judged by.
    pub rule: SteadyRuleRecord,
    /// Length of the warm-up that was found, milliseconds from the first measured interval of the
    /// step; `None` where that could not be found out. What it counts is still in all results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_ms: Option<u64>,
    /// The stretch that was steady, or was judged and was not, as milliseconds after the start of
    /// the run: from and to. `None` where nothing could be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ms: Option<(u64, u64)>,
    /// The checks, in the order in which a summary lists them.
    pub gates: Vec<GateRecord>,
}

/// Limits of a steady state: SNIA's two tests over rounds.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct SteadyRuleRecord {
    /// Rounds in the window.
    pub n_rounds: u32,
    /// Length of the window, milliseconds; `None` for all that was measured after the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ms: Option<u64>,
    /// Largest difference of two rounds, percent of the mean.
    pub range_pct: f64,
    /// Largest rise or fall of the fitted line over the window, percent of the mean.
    pub slope_pct: f64,
}

/// What one check said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateRecord {
    /// Stable short name, such as `steady` or `littles-law`.
    pub name: String,
    /// What it said.
    pub verdict: Verdict,
    /// One sentence with the figures that decided.
    pub reason: String,
    /// What to do about it; `None` where there is nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
    /// The figures by name, with the unit last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
}

/// What a check can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The measurement keeps the condition.
    Passed,
    /// It does not: its numbers do not mean what they seem to.
    Failed,
    /// Something to judge it by is missing. Never a silent pass.
    #[default]
    NotAssessed,
}

impl Verdict {
    /// Returns the verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::NotAssessed => "not assessed",
        }
    }
}

impl StepValidity {
    /// Returns the checks with a verdict, in their order.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &GateRecord> {
        self.gates.iter().filter(move |gate| gate.verdict == verdict)
    }

    /// Returns a check by its name.
    pub fn gate(&self, name: &str) -> Option<&GateRecord> {
        self.gates.iter().find(|gate| gate.name == name)
    }
}

/// Name of the figure of [`GateRecord::sustained_share`].
pub const SUSTAINED_SHARE: &str = "sustained_share";

impl GateRecord {
    /// Returns a figure by its name.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }

    /// Returns whether the level is known not to last: for how long it does (`lasts_s`) is known.
    pub fn is_borrowed(&self) -> bool {
        self.verdict == Verdict::NotAssessed && self.figure("lasts_s").is_some()
    }

    /// Returns the share of the measured load that is carried without credits, 0 to 1; none where
    /// that is not known.
    pub fn sustained_share(&self) -> Option<f64> {
        self.figure(SUSTAINED_SHARE)
    }
}
