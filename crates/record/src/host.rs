//! Where a run took place.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The machine.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostRecord {
    /// Name.
    pub name: String,
    /// Kernel name and release, such as `Linux 6.18.0`.
    pub kernel: String,
    /// Machine architecture, such as `x86_64`.
    pub architecture: String,
    /// Model of the first CPU, empty if unknown.
    pub cpu_model: String,
    /// CPUs online.
    pub n_cpus: u32,
    /// Memory.
    pub memory_bytes: u64,
    /// Largest cache of the processors; 0 if unknown.
    #[serde(default)]
    pub cpu_cache_bytes: u64,
    /// Settings of the kernel that affect I/O, such as `net.core.rmem_max`, as they read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctls: BTreeMap<String, String>,
}

/// How time was read.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClockRecord {
    /// `tsc` or `monotonic`.
    pub source: String,
    /// Clock reads: `per_io` or `per_batch`.
    pub stamping: String,
    /// Cost of one reading, nanoseconds.
    pub read_cost_ns: u64,
}
