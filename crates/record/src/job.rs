//! Results of one worker, or of several merged.

use std::collections::BTreeMap;

use hist::Histogram;
use serde::{Deserialize, Serialize};

use crate::caps::CapsRecord;
use crate::composite::OfUnitRecord;
use crate::figures::{Figure, Figures};
use crate::listed::{Latency, ListedLatencies, ListedLatency};

/// One value per data direction.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct PerDirRecord<T> {
    /// Reads, and operations on whole files.
    pub read: T,
    /// Writes.
    pub write: T,
    /// Trims.
    pub trim: T,
}

/// Results of one worker or of a reporting group.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct JobRecord {
    /// Name of the job (of a group: of its first member).
    pub name: String,
    /// Description, if any.
    pub description: Option<String>,
    /// Step, from 0.
    pub step_idx: u32,
    /// Reporting group over the whole plan, from 0.
    pub group_id: u32,
    /// Workers in this entry.
    pub n_workers: u32,
    /// The entry stands for its whole group.
    pub group_reporting: bool,
    /// Thread id of the (first) worker.
    pub pid: u32,
    /// Start, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// First error number, 0 if none. The job failed with it unless its policy was to go on.
    pub error_errno: i32,
    /// The error in words with target and offset, empty if none.
    pub error_message: String,
    /// Options as written, canonical names. Of a group: of its last member.
    pub options: Vec<(String, String)>,
    /// Engine as the user named it.
    pub engine: String,
    /// Engine that really ran, with the reason where it is another one.
    pub engine_used: String,
    /// What verdicts ask of the engine. `None` in records that do not say it: see
    /// [`JobRecord::engine_traits`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_traits: Option<EngineRecord>,
    /// Depth asked for.
    pub queue_depth: u32,
    /// Mean of the operations in flight in the measured time, from the choice of an operation
    /// to its completion. Counted while the job ran, not computed from rate and latency; of a group
    /// that of all its workers together. `None` where none were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_mean: Option<f64>,
    /// How an open load was kept up with; `None` without a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalsRecord>,
    /// What its workers are processes of, in a composite workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_unit: Option<OfUnitRecord>,
    /// I/O went past the page cache of this host. `None` where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_direct: Option<bool>,
    /// Workers look for completions without sleeping: their CPU time says nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polls: bool,
    /// Workers pause between operations (think time): their queues are empty meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pauses: bool,
    /// Seed of the (first) worker's random numbers.
    pub seed: u64,
    /// Targets, at most the first 16.
    pub targets: Vec<String>,
    /// Measured time, summed over workers.
    pub runtime_ns: u64,
    /// CPU time in user mode.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel.
    pub cpu_system_ns: u64,
    /// CPU time, context switches and page faults were not counted: a worker had not ended when
    /// this was taken, as in a run that was killed. Of a group: of one of its members.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_cpu: bool,
    /// Time that CPU time and waits were counted over, ramp included, summed over workers; 0 where
    /// it is not said: then it is `runtime_ns`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub active_ns: u64,
    /// Time that workers were ready to run and did not, because others had the processor.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cpu_wait_ns: u64,
    /// Times that a worker was given a processor.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_cpu_slices: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
    /// I/O priority of all operations that had none of their own. Of a group: of its first member.
    #[serde(default)]
    pub io_priority: IoPriorityRecord,
    /// Results per direction.
    pub dirs: PerDirRecord<DirRecord>,
    /// Results by part and kind of operation; empty unless the job has parts or works on a tree of
    /// files. Those of what the job was asked to do add up to `dirs`. In a tree what leads to an
    /// operation or ends it, the opening, closing and making of its file, stands here alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<SeriesRecord>,
    /// Latency of fsync, fdatasync and sync_file_range.
    #[serde(with = "crate::latency")]
    pub sync: Histogram,
    /// What is known of it where that is empty: of results that another program printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_listed: Option<ListedLatency>,
    /// I/Os issued while this many were in flight: 1, 2, 4, 8, 16, 32, 64 and more.
    pub depth_levels: [u64; 7],
    /// Submissions by size: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
    pub submit_batches: [u64; 7],
    /// Reaps by size: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
    pub complete_batches: [u64; 7],
    /// Errors that did not end the job.
    pub n_errors: u64,
    /// Result of the search for the depth that meets a latency.
    pub latency_target: Option<LatencyTargetRecord>,
    /// Steady state, if asked for.
    pub steady: Option<SteadyRecord>,
    /// Which caps held the job; only on emulated volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caps: Option<CapsRecord>,
    /// How the job wants its results printed.
    pub print: PrintRecord,
}

/// Says of a count that there is nothing to write.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What verdicts ask of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// It opens no file and moves no byte: only the load generator is at work.
    pub is_idle: bool,
    /// How it holds what is in flight.
    pub queue: EngineQueueRecord,
}

/// How an engine holds what is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineQueueRecord {
    /// One operation at a time, whatever the queue depth.
    OneByOne,
    /// A queue of the kernel's.
    Kernel,
    /// A queue of the engine's own.
    Own,
}

impl EngineRecord {
    /// Returns what the name of an engine says, for records that do not say more: those of older
    /// versions, and results of other programs.
    pub fn of_name(name: &str) -> EngineRecord {
        let queue = match name {
            "io_uring" | "libaio" | "posixaio" => EngineQueueRecord::Kernel,
            "nfs" | "null" => EngineQueueRecord::Own,
            _ => EngineQueueRecord::OneByOne,
        };
        EngineRecord { is_idle: name == "null", queue }
    }
}

/// How an open load was kept up with in the measured time.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ArrivalsRecord {
    /// Operations per second asked for.
    pub offered_iops: f64,
    /// How intended starts were spaced: `even`, `poisson` or `uniform`.
    #[serde(default)]
    pub spacing: String,
    /// Operations that were chosen more than a millisecond after they were due although there had
    /// been room in flight: the load generator's own delay.
    pub n_late: u64,
    /// Operations due and not submitted when the measured time began.
    pub backlog_start: u64,
    /// The same when it ended.
    pub backlog_end: u64,
    /// Mean time from when an operation was due to its submission, nanoseconds: the difference of
    /// response and service time. `None` where those were not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_delay_ns_mean: Option<f64>,
    /// How a rate that changes was followed, of which `offered_iops` is the mean; `None` of one
    /// that stays the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changing: Option<ChangingRateRecord>,
}

/// How a rate that changes was followed in the measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChangingRateRecord {
    /// Longest time from when an operation was due until it was begun, nanoseconds.
    pub delay_ns_max: u64,
    /// Since when operations waited, nanoseconds after the start of the job, in the first stretch
    /// in which one of them waited for more than two seconds; `None` where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind_since_ns: Option<u64>,
}

/// Results in one direction.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct DirRecord {
    /// Bytes moved.
    pub io_bytes: u64,
    /// Operations completed.
    pub n_ios: u64,
    /// Operations that moved fewer bytes than asked.
    pub short_ios: u64,
    /// Operations not issued because their file had failed or ended.
    pub dropped_ios: u64,
    /// From the first operation after the ramp to the last completion, or to the end of the job
    /// where its time or a stop ended it; largest of the workers.
    pub runtime_ns: u64,
    /// From the choice of an operation to its submission. Empty for synchronous engines.
    #[serde(with = "crate::latency")]
    pub slat: Histogram,
    /// From submission to completion: the service time.
    #[serde(with = "crate::latency")]
    pub clat: Histogram,
    /// From the choice of an operation to its completion.
    #[serde(with = "crate::latency")]
    pub lat: Histogram,
    /// From the intended start to completion; only under a rate.
    #[serde(with = "crate::latency::optional", default)]
    pub response: Option<Histogram>,
    /// What is known of latencies whose histograms are empty: of results that another program
    /// printed. See [`DirRecord::service_latency`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<ListedLatencies>,
    /// The same latencies by I/O priority; empty unless operations differ in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityRecord>,
    /// Bandwidth per sample, KiB/s.
    pub bandwidth_kib_s: Samples,
    /// IOPS per sample.
    pub iops: Samples,
    /// Failed operations by error number.
    pub errors: BTreeMap<i32, u64>,
}

/// Results of the operations of one kind and part.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct SeriesRecord {
    /// Name of the part; empty where the job has none.
    pub part: String,
    /// Kind of operation: `read`, `write`, `trim`, or the name of a file operation such as
    /// `mkdir`.
    pub op: String,
    /// Operations completed.
    pub n_ios: u64,
    /// Operations that failed and did not end the job.
    #[serde(default)]
    pub n_failed: u64,
    /// Bytes moved.
    pub io_bytes: u64,
    /// From the choice of an operation to its completion.
    #[serde(with = "crate::latency")]
    pub lat: Histogram,
}

/// An I/O priority (`linux/ioprio.h`). All zero is the kernel's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoPriorityRecord {
    /// 0 none, 1 real time, 2 best effort, 3 idle.
    pub class: u8,
    /// Level within the class, 0..=7; 0 is the highest.
    pub level: u8,
    /// Further bits, such as command duration limits.
    pub hint: u16,
}

/// Latencies of the operations of one direction that had the same I/O priority.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct PriorityRecord {
    /// Their priority.
    pub priority: IoPriorityRecord,
    /// From submission to completion.
    #[serde(with = "crate::latency")]
    pub clat: Histogram,
    /// From the choice of an operation to its completion.
    #[serde(with = "crate::latency")]
    pub lat: Histogram,
}

/// Statistics of samples taken at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Samples {
    /// Number of samples.
    pub n: u64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Mean.
    #[serde(deserialize_with = "crate::number::number_or_null")]
    pub mean: f64,
    /// Standard deviation with n - 1.
    #[serde(deserialize_with = "crate::number::number_or_null")]
    pub stdev: f64,
}

/// Outcome of fio's `latency_target`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyTargetRecord {
    /// The latency to keep.
    pub target_ns: u64,
    /// Length of one trial.
    pub window_ns: u64,
    /// Share of I/Os that must meet it, percent.
    pub percentile: f64,
    /// Deepest queue that kept it.
    pub queue_depth: u32,
    /// Whether it was met at all.
    pub met: bool,
}

/// Outcome of fio's `steadystate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// The criterion as fio writes it, such as `iops_slope:0.3%`.
    pub criterion_text: String,
    /// Window.
    pub window_ns: u64,
    /// Whether it was met.
    pub attained: bool,
    /// Last value of the criterion, in percent or in the metric's unit.
    #[serde(deserialize_with = "crate::number::number_or_null")]
    pub criterion: f64,
    /// Largest deviation from the mean.
    #[serde(deserialize_with = "crate::number::number_or_null")]
    pub deviation_max: f64,
    /// Slope of the regression line per sample.
    #[serde(deserialize_with = "crate::number::number_or_null")]
    pub slope: f64,
    /// IOPS of the last window's samples.
    pub iops: Vec<u64>,
    /// Bandwidth of the last window's samples, KiB/s.
    pub bandwidth_kib_s: Vec<u64>,
    /// Mean latency of the last window's samples; empty unless it is the metric.
    pub latency_ns: Vec<u64>,
}

/// How a job wants its results printed by tools that print as fio does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrintRecord {
    /// Percentiles, 0..=100.
    pub percentiles: Vec<f64>,
    /// Percentiles of completion latency.
    pub clat_percentiles: bool,
    /// Percentiles of total latency.
    pub lat_percentiles: bool,
    /// Percentiles of submission latency.
    pub slat_percentiles: bool,
    /// Directions: `none`, `mixed` or `both`.
    pub unified: String,
    /// Digits.
    pub significant_figures: u8,
    /// 1024 or 1000.
    pub kb_base: u32,
    /// 0, 1 or 8.
    pub unit_base: u8,
    /// Latencies, bandwidth or disks were not measured, by the user's wish.
    pub disabled: DisabledRecord,
    /// Errors are counted instead of ending the job (`continue_on_error`).
    pub continue_on_error: bool,
}

impl Default for PrintRecord {
    /// As fio prints when nothing is asked for.
    fn default() -> Self {
        PrintRecord {
            percentiles: vec![
                1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5,
                99.9, 99.95, 99.99,
            ],
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            unified: "none".to_owned(),
            significant_figures: 4,
            kb_base: 1024,
            unit_base: 0,
            disabled: DisabledRecord::default(),
            continue_on_error: false,
        }
    }
}

/// Measurements switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DisabledRecord {
    /// Submission latency.
    pub slat: bool,
    /// Completion latency.
    pub clat: bool,
    /// Total latency.
    pub lat: bool,
    /// Bandwidth and IOPS samples.
    pub bandwidth: bool,
    /// Disk statistics.
    pub disk_util: bool,
}

impl DirRecord {
    /// Returns the total latency, from the choice of an operation to its completion.
    pub fn total_latency(&self) -> Latency<'_> {
        known(&self.lat, self.listed.as_ref().and_then(|listed| listed.lat.as_ref()))
    }

    /// Returns the service time, from submission to completion.
    pub fn service_latency(&self) -> Latency<'_> {
        known(&self.clat, self.listed.as_ref().and_then(|listed| listed.clat.as_ref()))
    }

    /// Returns the latency to show, and whether it is the total one: fio lists percentiles of the
    /// service time only, which then says more.
    pub fn shown_latency(&self) -> (bool, Latency<'_>) {
        let (total, service) = (self.total_latency(), self.service_latency());
        let is_total = total.has_percentiles() || !service.has_percentiles() && !total.is_empty();
        (is_total, if is_total { total } else { service })
    }

    /// Returns the submission latency.
    pub fn submit_latency(&self) -> Latency<'_> {
        known(&self.slat, self.listed.as_ref().and_then(|listed| listed.slat.as_ref()))
    }
}

impl JobRecord {
    /// Returns what verdicts ask of the engine that was asked for. What runs in its place has the
    /// same traits, and an emulated volume takes as many operations at once.
    pub fn engine_traits(&self) -> EngineRecord {
        self.engine_traits.unwrap_or_else(|| EngineRecord::of_name(&self.engine))
    }

    /// Returns the latency of fsync and its like.
    pub fn sync_latency(&self) -> Latency<'_> {
        known(&self.sync, self.sync_listed.as_ref())
    }

    /// Returns the calls per second of fsync and its like, and their latencies; none where there
    /// were none.
    pub fn sync_figures(&self) -> Option<Figures> {
        let sync = self.sync_latency();
        let runtime_ns = self.dirs.iter().map(|(_, dir)| dir.runtime_ns).max().unwrap_or(0);
        let calls = DirRecord { n_ios: sync.count(), runtime_ns, ..DirRecord::default() };
        (!sync.is_empty()).then(|| Figures::of(&sync).with(Figure::Iops, calls.rate_iops()))
    }

    /// Says for how long the job's rates hold, where that is only until a write-back cache is
    /// dirty.
    pub fn rates_last(&self) -> Option<String> {
        self.caps.as_ref()?.filling.as_ref()?.words()
    }
}

fn known<'a>(hist: &'a Histogram, listed: Option<&'a ListedLatency>) -> Latency<'a> {
    match listed {
        Some(listed) if hist.is_empty() => Latency::Listed(listed),
        _ => Latency::Measured(hist),
    }
}
