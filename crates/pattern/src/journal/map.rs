//! Which generation of each block is on its target, in memory.

use std::collections::HashMap;

/// Blocks of a piece of the map. A piece takes 8 KiB, or less at the end of a target, and is there
/// once one of its blocks was written.
const PIECE_BLOCKS: u64 = 4096;

/// What must be on the target of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockState {
    /// Generation that was acknowledged last; 0 if none was, and the block may hold anything.
    pub written: u16,
    /// Last of the generations that were issued since and not acknowledged: each may be there.
    pub pending: Option<u16>,
}

impl BlockState {
    /// Returns whether anything is known of the block.
    pub fn is_known(self) -> bool {
        self != BlockState::default()
    }

    /// Returns the generation of the next write.
    pub fn next(self) -> u16 {
        next_generation(self.pending.unwrap_or(self.written))
    }

    /// Returns whether a generation was issued and not acknowledged.
    pub fn is_pending(self, generation: u16) -> bool {
        let Some(last) = self.pending else { return false };
        // Both are counted from the acknowledged one, which is where the count may begin anew.
        let since = |generation: u16| {
            let (from, to) = (u32::from(self.written), u32::from(generation));
            if to > from { to - from } else { to + u32::from(u16::MAX) - from }
        };
        generation != 0 && generation != self.written && since(generation) <= since(last)
    }
}

/// Returns the generation behind another one. After 65,535 comes 1, as 0 is a block that was never
/// written.
pub fn next_generation(generation: u16) -> u16 {
    generation.checked_add(1).unwrap_or(1)
}

/// The blocks of one target: 2 bytes for each, as far as they were written, and some tens for each
/// write that is in flight or failed.
#[derive(Clone, Debug, Default)]
pub struct BlockMap {
    pieces: HashMap<u64, Vec<u16>>,
    pending: HashMap<u64, u16>,
    /// Generation that was issued last.
    latest: u16,
    /// What blocks held before was given up: the count of one that is not known goes on from here.
    base: u16,
}

impl BlockMap {
    /// Returns what is known of a block.
    pub fn state(&self, block: u64) -> BlockState {
        let piece = self.pieces.get(&(block / PIECE_BLOCKS));
        let place = (block % PIECE_BLOCKS) as usize;
        let written = piece.and_then(|piece| piece.get(place)).copied().unwrap_or(0);
        let pending = self.pending.get(&block).copied();
        BlockState { written, pending }
    }

    /// Returns the generation of the next write of a block.
    pub fn next(&self, block: u64) -> u16 {
        let state = self.state(block);
        if state.is_known() { state.next() } else { next_generation(self.base) }
    }

    /// Notes that a generation of a block is being written.
    pub fn writing(&mut self, block: u64, generation: u16) {
        self.pending.insert(block, generation);
        self.issued(generation);
    }

    /// Notes a generation: the last one is the largest, or a small one behind the largest there is.
    fn issued(&mut self, generation: u16) {
        if generation > self.latest || self.latest - generation > u16::MAX / 2 {
            self.latest = generation;
        }
    }

    /// Returns whether anything is known of blocks from one on.
    pub fn knows_from(&self, first: u64) -> bool {
        let is_written = |(number, piece): (&u64, &Vec<u16>)| {
            let skipped = first.saturating_sub(number * PIECE_BLOCKS);
            piece.iter().skip(usize::try_from(skipped).unwrap_or(usize::MAX)).any(|it| *it != 0)
        };
        self.pending.keys().any(|block| *block >= first) || self.pieces.iter().any(is_written)
    }

    /// Gives up what is known of all blocks from one on: they may hold anything, as those of a file
    /// that is removed. Returns the generation behind which their count goes on, so that what they
    /// held before is never taken for what is written next.
    pub fn forget(&mut self, first: u64) -> u16 {
        self.pending.retain(|block, _| *block < first);
        self.pieces.retain(|number, piece| {
            let kept = first.saturating_sub(number * PIECE_BLOCKS);
            piece.truncate(usize::try_from(kept).unwrap_or(usize::MAX));
            !piece.is_empty()
        });
        self.base = self.latest;
        self.base
    }

    /// Does what [`BlockMap::forget`] did, as a journal says it.
    pub fn forgotten(&mut self, first: u64, base: u16) {
        self.issued(base);
        self.forget(first);
        self.base = base;
    }

    /// Returns the generation behind which blocks are counted that are not known, if one is.
    pub fn base(&self) -> Option<u16> {
        (self.base > 0).then_some(self.base)
    }

    /// Notes that a generation of a block was acknowledged.
    pub fn written(&mut self, block: u64, generation: u16) {
        self.pending.remove(&block);
        self.issued(generation);
        let piece = self.pieces.entry(block / PIECE_BLOCKS).or_default();
        let place = (block % PIECE_BLOCKS) as usize;
        if piece.len() <= place {
            piece.resize(place + 1, 0);
        }
        piece[place] = generation;
    }

    /// Notes which generation of a block was found there: what was in flight is settled. 0 is what
    /// was there before the first write.
    pub fn settled(&mut self, block: u64, generation: u16) {
        if generation == 0 {
            self.pending.remove(&block);
        } else {
            self.written(block, generation);
        }
    }

    /// Returns the pieces of the map in order: the first block, and the generations from there on.
    pub fn pieces(&self) -> impl Iterator<Item = (u64, &[u16])> {
        let mut numbers: Vec<u64> = self.pieces.keys().copied().collect();
        numbers.sort_unstable();
        let piece = |number| self.pieces.get(&number).map(|it| (number * PIECE_BLOCKS, &**it));
        numbers.into_iter().filter_map(piece)
    }

    /// Returns the blocks with generations that were not acknowledged, in order.
    pub fn pending(&self) -> Vec<(u64, u16)> {
        let mut pending: Vec<_> = self.pending.iter().map(|(block, it)| (*block, *it)).collect();
        pending.sort_unstable();
        pending
    }

    /// Returns the bytes that a copy of the map takes in a file.
    pub fn size_bytes(&self) -> u64 {
        let n_blocks: usize = self.pieces.values().map(Vec::len).sum();
        n_blocks as u64 * 2 + self.pending.len() as u64 * 16
    }

    /// Returns the runs of blocks of which something is known, in order: the first, and the one
    /// behind the last.
    pub fn known(&self) -> Vec<(u64, u64)> {
        let mut blocks = self.pending();
        let mut runs: Vec<(u64, u64)> = Vec::new();
        let mut add = |block: u64| match runs.last_mut() {
            Some(run) if run.1 == block => run.1 += 1,
            _ => runs.push((block, block + 1)),
        };
        blocks.reverse();
        for (first, generations) in self.pieces() {
            for (block, generation) in (first..).zip(generations) {
                while let Some((pending, _)) = blocks.pop_if(|it| it.0 < block) {
                    add(pending);
                }
                let is_pending = blocks.pop_if(|it| it.0 == block).is_some();
                if is_pending || *generation != 0 {
                    add(block);
                }
            }
        }
        while let Some((pending, _)) = blocks.pop() {
            add(pending);
        }
        runs
    }
}
