//! The run over time.

use crate::job::PerDirRecord;
use serde::{Deserialize, Serialize};

/// One sampling period of the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
}
