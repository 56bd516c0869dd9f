//! What the kernel counted on a block device during a run.

use serde::{Deserialize, Serialize};

/// Differences of the kernel's block statistics over the run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskRecord {
    /// Kernel name, such as `nvme0n1`.
    pub name: String,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Sectors of 512 B read.
    pub read_sectors: u64,
    /// Sectors of 512 B written.
    pub write_sectors: u64,
    /// Reads merged.
    pub read_merges: u64,
    /// Writes merged.
    pub write_merges: u64,
    /// Time with reads in flight summed over requests, milliseconds.
    pub read_ticks_ms: u64,
    /// The same for writes.
    pub write_ticks_ms: u64,
    /// Weighted time in queue, milliseconds.
    pub in_queue_ms: u64,
    /// Share of the time with at least one request in flight, percent.
    #[serde(deserialize_with = "crate::number::number_or_null")]
    pub util_pct: f64,
    /// Devices below (md, dm), whose sums fio prints as `aggr_*`.
    pub members: Vec<DiskRecord>,
}
