//! A job bound to one worker: what [`crate::Worker`] is made from.

use std::sync::Arc;

use plan::Job;

/// The part of a file or device that a worker uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRegion {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes from there.
    pub len_bytes: u64,
}

/// One worker of a job, bound to files of known sizes.
#[derive(Clone, Debug)]
pub struct WorkerSpec {
    /// The job.
    pub job: Arc<Job>,
    /// Position among the workers of the job.
    pub worker_idx: u32,
    /// Seed of this worker's random numbers.
    pub seed: u64,
    /// Regions, in the order of the engine's file table.
    pub files: Vec<FileRegion>,
    /// Bytes of I/O per pass.
    pub amount_bytes: u64,
    /// Most operations handed over in one call, from the engine; 1 where each ends before the
    /// call returns, whatever the job says.
    pub batch_max: u32,
}
