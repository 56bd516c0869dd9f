//! A job bound to one worker: what [`crate::Worker`] is made from.

use std::sync::Arc;

use plan::Job;
use plan::job::PartRegion;

/// The part of a file or device that a worker uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRegion {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes from there.
    pub len_bytes: u64,
}

impl FileRegion {
    /// Returns it without what is left of its end after whole blocks.
    #[must_use]
    pub fn in_whole_blocks(self, block_bytes: u32) -> FileRegion {
        let rest_bytes = self.len_bytes % u64::from(block_bytes.max(1));
        FileRegion { len_bytes: self.len_bytes - rest_bytes, ..self }
    }

    /// Returns what a part of a job uses of it. Both ends are rounded down to whole blocks, counted
    /// from the start of the region, as in Vdbench: it may begin up to a block before what was
    /// asked for and ends up to a block before its end, so that parts that adjoin neither overlap
    /// nor leave a gap. Where a region of percentages goes on at the start of the file's, the
    /// result goes on behind its last whole block.
    #[must_use]
    pub fn of_part(self, region: PartRegion, block_bytes: u32) -> FileRegion {
        let block_bytes = u64::from(block_bytes.max(1));
        let whole = |bytes: u64| bytes / block_bytes * block_bytes;
        let len_bytes = match region {
            PartRegion::Pct(_, to_pct) if to_pct > 100.0 => whole(self.len_bytes),
            PartRegion::Whole | PartRegion::Pct(..) | PartRegion::Bytes(..) => self.len_bytes,
        };
        let share = |pct: f64| {
            // To a millionth of a percent, so that whole percentages are exact.
            let millionths = (pct.clamp(0.0, 200.0) * 1e6).round() as u128;
            let bytes = u128::from(len_bytes) * millionths / 100_000_000;
            whole(u64::try_from(bytes).unwrap_or(u64::MAX))
        };
        let (from, to) = match region {
            PartRegion::Whole => (0, self.len_bytes),
            PartRegion::Pct(from_pct, to_pct) => (share(from_pct), share(to_pct)),
            PartRegion::Bytes(from, to) => {
                (whole(from.min(self.len_bytes)), whole(to.min(self.len_bytes)))
            }
        };
        FileRegion {
            offset_bytes: self.offset_bytes.saturating_add(from),
            len_bytes: to.saturating_sub(from),
        }
    }
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

impl WorkerSpec {
    /// Asserts that each region ends, and that something is handed over at once.
    pub(crate) fn check(&self) {
        assert!(self.batch_max > 0, "at least one operation is handed over at once");
        for (file_idx, FileRegion { offset_bytes, len_bytes }) in self.files.iter().enumerate() {
            let is_within = offset_bytes.checked_add(*len_bytes).is_some();
            assert!(
                is_within,
                "file {file_idx}: {len_bytes} B from {offset_bytes} B on end beyond 64 bits"
            );
        }
    }
}
