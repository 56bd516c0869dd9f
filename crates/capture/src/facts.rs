//! What a trace tells about a device beyond its samples.

use hist::Histogram;

use crate::sizes::SizeCounts;

/// What a trace tells about a device beyond its samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceFacts {
    /// Reads.
    pub read: DirectionFacts,
    /// Writes.
    pub write: DirectionFacts,
    /// How unevenly I/Os arrive; none where the trace has no moments.
    pub bursts: Option<Bursts>,
    /// Streams: pairs of a process and a direction.
    pub n_streams: u64,
}

/// What a trace tells about reads or writes of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionFacts {
    /// How many I/Os had which size.
    pub sizes: SizeCounts,
    /// I/Os that begin where the one before of the same stream ended.
    pub n_sequential: u64,
    /// What those moved.
    pub sequential_bytes: u64,
    /// From issue to completion.
    pub latency: Histogram,
    /// From arrival to completion, where the trace tells both.
    pub response: Histogram,
}

/// How unevenly I/Os arrive, counted in slots of 100 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bursts {
    /// I/Os of the fullest slot over those of the mean one.
    pub peak_to_mean: f64,
    /// Variance over mean of the I/Os of a slot: 1 where they arrive independently of each other.
    pub dispersion: f64,
}
