//! Several files as one volume, in order.

use std::sync::Arc;

use pattern::PatternError;
use pattern::offsets::{Cursor, Extent, Offsets, Region};
use plan::Direction;
use plan::workload::Workload;

use crate::spec::FileRegion;

/// A walk over the volume that several files form.
#[derive(Debug)]
pub(crate) struct Joined {
    offsets: Offsets,
    members: Box<[Member]>,
}

/// A file and where it ends in the volume.
#[derive(Clone, Copy, Debug)]
struct Member {
    file: FileRegion,
    end_bytes: u64,
}

impl Joined {
    pub(crate) fn new(
        workload: &Workload,
        files: &[FileRegion],
        seed: u64,
    ) -> Result<Self, PatternError> {
        let mut end_bytes = 0_u64;
        let members = files.iter().map(|file| {
            end_bytes = end_bytes.saturating_add(file.len_bytes);
            Member { file: *file, end_bytes }
        });
        let members = members.collect();
        let volume = Region { start_bytes: 0, len_bytes: end_bytes };
        Ok(Joined { offsets: Offsets::new(workload, volume, seed, 0)?, members })
    }

    pub(crate) fn n_files(&self) -> u32 {
        self.members.len() as u32
    }

    /// Does the walk together with others: see [`Offsets::share`].
    pub(crate) fn share(&mut self, cursor: &mut dyn FnMut(u64) -> Arc<Cursor>) {
        self.offsets.share(cursor);
    }

    /// Returns the file and the place of the next I/O; `None` at the end of the pass. One that
    /// would cross the end of a file ends there.
    pub(crate) fn next(&mut self, dir: Direction) -> Option<(u32, Extent)> {
        let Extent { offset, len } = self.offsets.next(dir)?;
        let file_idx = self.members.partition_point(|member| member.end_bytes <= offset);
        let Member { file, end_bytes } = self.members.get(file_idx)?;
        let start_bytes = end_bytes - file.len_bytes;
        let len = u64::from(len).min(end_bytes - offset) as u32;
        let offset = file.offset_bytes + (offset - start_bytes);
        Some((file_idx as u32, Extent { offset, len }))
    }

    /// Starts over in one direction, after the end of a pass.
    pub(crate) fn restart(&mut self, dir: Direction) {
        self.offsets.restart(dir);
    }

    /// Starts a new pass in all directions.
    pub(crate) fn next_pass(&mut self) {
        self.offsets.next_pass();
    }
}

#[cfg(test)]
mod tests {
    use plan::workload::{Access, BlockSize};
    use plan::{Direction, PerDir};

    use super::*;

    const FILES: [FileRegion; 3] = [
        FileRegion { offset_bytes: 0, len_bytes: 8192 },
        FileRegion { offset_bytes: 4096, len_bytes: 12_288 },
        FileRegion { offset_bytes: 512, len_bytes: 4096 },
    ];

    fn pass(workload: &Workload) -> Vec<(u32, u64, u32)> {
        let mut joined = Joined::new(workload, &FILES, 1).expect("files with room");
        let next = || joined.next(Direction::Read).map(|(file, it)| (file, it.offset, it.len));
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn files_follow_each_other() {
        let blocks = pass(&Workload::default());
        let expected = [(0, 0), (0, 4096), (1, 4096), (1, 8192), (1, 12_288), (2, 512)];
        assert!(blocks.into_iter().eq(expected.map(|(file, offset)| (file, offset, 4096))));
    }

    #[test]
    fn what_would_cross_a_border_ends_there() {
        let block_size = PerDir::all(BlockSize::Fixed(6144));
        let blocks = pass(&Workload { block_size, ..Workload::default() });
        let expected = [(0, 0, 6144), (0, 6144, 2048), (1, 8192, 6144), (1, 14_336, 2048)];
        assert_eq!(blocks, expected);
    }

    #[test]
    fn random_blocks_reach_every_file_once() {
        let access = Access { random: true, ..Access::READ };
        let mut blocks = pass(&Workload { access, ..Workload::default() });
        blocks.sort_unstable();
        let expected = [(0, 0), (0, 4096), (1, 4096), (1, 8192), (1, 12_288), (2, 512)];
        assert!(blocks.into_iter().eq(expected.map(|(file, offset)| (file, offset, 4096))));
    }
}
