//! The run over time.

use crate::counts::LatencyCounts;
use crate::figures::Figure;
use crate::job::PerDirRecord;
use hist::Histogram;
use serde::{Deserialize, Serialize};

/// One sampling period of the whole run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// Step the period belongs to, from 0.
    pub step_idx: u32,
    /// End of the period, milliseconds after the start of the run.
    pub end_ms: u64,
    /// Length, milliseconds.
    pub length_ms: u64,
    /// Taken during a ramp: not part of any total.
    pub ramp: bool,
    /// Counts per direction.
    pub dirs: PerDirRecord<IntervalDir>,
    /// The same by job, part and kind of operation; empty unless asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<IntervalSeries>,
    /// What this host's processors did; `None` unless asked for, or where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuShares>,
}

/// What one job did in one period, of one part and one kind of operation.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct IntervalSeries {
    /// Name of the job.
    pub job: String,
    /// Name of the part; empty where the job has none.
    pub part: String,
    /// Kind of operation, as in [`crate::SeriesRecord::op`].
    pub op: String,
    /// Operations completed.
    pub n_ios: u64,
    /// Bytes moved.
    pub io_bytes: u64,
    /// Sum of their total latencies, nanoseconds.
    pub latency_ns_sum: u64,
    /// Sum of the squares of their total latencies.
    pub latency_ns2_sum: f64,
    /// Largest total latency, nanoseconds (upper bound of its histogram bucket); 0 without I/O.
    pub latency_ns_max: u64,
}

/// Shares of the time of all processors together, percent.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct CpuShares {
    /// In user mode.
    pub user_pct: f64,
    /// In the kernel.
    pub system_pct: f64,
    /// Idle while I/O was outstanding.
    pub wait_pct: f64,
    /// Idle otherwise.
    pub idle_pct: f64,
}

/// One direction in one period.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct IntervalDir {
    /// Operations completed.
    pub n_ios: u64,
    /// Bytes moved.
    pub io_bytes: u64,
    /// Median total latency, nanoseconds; `None` without I/O.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile of total latency, nanoseconds.
    pub latency_ns_p99: Option<u64>,
    /// Largest total latency, nanoseconds (upper bound of its histogram bucket).
    pub latency_ns_max: Option<u64>,
    /// All total latencies in coarse bins; empty where they were not counted.
    #[serde(default, skip_serializing_if = "LatencyCounts::is_empty")]
    pub latency_counts: LatencyCounts,
    /// The same from the intended start: the response time. `None` unless every job of the step
    /// has a rate in this direction, and where nothing completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<IntervalResponse>,
}

/// Response times of one direction in one period.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct IntervalResponse {
    /// Median, nanoseconds.
    pub latency_ns_p50: u64,
    /// 99th percentile, nanoseconds.
    pub latency_ns_p99: u64,
    /// Largest, nanoseconds (upper bound of its histogram bucket).
    pub latency_ns_max: u64,
    /// All of them in coarse bins.
    pub latency_counts: LatencyCounts,
}

impl IntervalResponse {
    /// Takes what an interval shows out of a histogram; none where that is empty.
    pub fn of(latencies: &Histogram) -> Option<Self> {
        Some(IntervalResponse {
            latency_ns_p50: latencies.quantile(0.5)?,
            latency_ns_p99: latencies.quantile(0.99)?,
            latency_ns_max: latencies.quantile(1.0)?,
            latency_counts: LatencyCounts::of(latencies),
        })
    }
}

impl IntervalDir {
    /// Returns the median of what a user waited, nanoseconds: of the response time under an open
    /// load, else of the total latency.
    pub fn waited_ns_p50(&self) -> Option<u64> {
        self.response.as_ref().map(|it| it.latency_ns_p50).or(self.latency_ns_p50)
    }

    /// Returns its 99th percentile, nanoseconds.
    pub fn waited_ns_p99(&self) -> Option<u64> {
        self.response.as_ref().map(|it| it.latency_ns_p99).or(self.latency_ns_p99)
    }

    /// Returns its largest value, nanoseconds.
    pub fn waited_ns_max(&self) -> Option<u64> {
        self.response.as_ref().map(|it| it.latency_ns_max).or(self.latency_ns_max)
    }

    /// Returns a figure of what a user waited; none of what a second does not hold.
    pub fn waited(&self, figure: Figure) -> Option<f64> {
        let ns = match figure {
            Figure::P50 => self.waited_ns_p50(),
            Figure::P99 => self.waited_ns_p99(),
            Figure::Max => self.waited_ns_max(),
            Figure::Iops
            | Figure::BytesPerS
            | Figure::Mean
            | Figure::Min
            | Figure::P90
            | Figure::P95
            | Figure::P99_9
            | Figure::P99_99 => None,
        };
        ns.map(|ns| ns as f64)
    }

    /// Returns all of it in coarse bins.
    pub fn waited_counts(&self) -> &LatencyCounts {
        self.response.as_ref().map_or(&self.latency_counts, |it| &it.latency_counts)
    }
}
