//! Which blocks a host cache holds.
//!
//! A machine's cache may be terabytes large, so a block costs two bytes: a tag in a set of sixteen,
//! kept roughly in order of use, the least recently used last. Neighbours lie in neighbouring sets,
//! so that a range of any size up to the cache's fits without conflict, and a long read walks
//! through memory in order. An I/O smaller than a block brings in the whole block.

use std::ops::Range;

use crate::latency::mix64;

/// Blocks of a set.
const N_WAYS: usize = 16;
/// A block is brought forward only when it is used in the rear half of its set. That keeps what is
/// used, like strict order does, and most hits write nothing to memory.
const N_WAYS_FRONT: usize = 8;
/// Blocks that are kept apart at most: 256 MiB of tags. A larger cache has larger blocks.
const N_BLOCKS_MAX: u64 = 1 << 27;
/// Smallest block.
const BLOCK_BYTES_MIN: u64 = 4096;
/// Addresses are laid out in the cache in regions of 1 TiB, each from a set of its own on.
const REGION_SHIFT: u32 = 40;

/// The blocks of one machine's cache.
#[derive(Clone, Debug)]
pub(crate) struct BlockCache {
    /// Tags in order of use; 0 is an empty place. The whole is zeroed memory until it is used.
    sets: Vec<[u16; N_WAYS]>,
    block_shift: u32,
    n_blocks: u64,
    n_held: u64,
    n_hits: u64,
    n_misses: u64,
    /// Whether a block that was never asked for counts as held, as long as there is room.
    is_warm: bool,
    /// Changes when a volume's blocks are dropped.
    generations: Vec<u64>,
}

/// Where neighbouring blocks lie.
struct Run {
    sets: Range<usize>,
    tag: u16,
}

impl BlockCache {
    pub(crate) fn new(cache_bytes: u64, n_volumes: usize, is_warm: bool) -> BlockCache {
        let mut block_shift = BLOCK_BYTES_MIN.trailing_zeros();
        while cache_bytes >> block_shift > N_BLOCKS_MAX {
            block_shift += 1;
        }
        let n_sets = (cache_bytes >> block_shift).div_ceil(N_WAYS as u64);
        BlockCache {
            sets: vec![[0; N_WAYS]; n_sets as usize],
            block_shift,
            n_blocks: n_sets * N_WAYS as u64,
            n_held: 0,
            n_hits: 0,
            n_misses: 0,
            is_warm,
            generations: vec![0; n_volumes],
        }
    }

    /// Looks a range up for a read and counts a hit or a miss. Returns the first byte that is not
    /// held and how many from there to the last one that is not; `None` if all are held.
    #[inline]
    pub(crate) fn read(&mut self, volume: u16, offset: u64, len: u32) -> Option<(u64, u32)> {
        if self.sets.is_empty() {
            return Some((offset, len));
        }
        let end = offset.saturating_add(u64::from(len));
        let (mut first_missing, mut last_missing) = (u64::MAX, 0);
        let (mut block, last_block) = self.blocks(offset, end);
        let mut way = 0;
        while block <= last_block {
            let run = self.run(volume, block, last_block);
            for (idx, set) in self.sets[run.sets.clone()].iter_mut().enumerate() {
                if is_in(set, run.tag, &mut way) {
                    continue;
                }
                if self.is_warm && set[N_WAYS - 1] == 0 {
                    put_in_front(set, N_WAYS - 1, run.tag);
                    self.n_held += 1;
                    continue;
                }
                first_missing = first_missing.min(block + idx as u64);
                last_missing = block + idx as u64;
            }
            block += run.sets.len() as u64;
        }
        if first_missing == u64::MAX {
            self.n_hits += 1;
            return None;
        }
        self.n_misses += 1;
        let from = (first_missing << self.block_shift).max(offset);
        let block_end = (last_missing << self.block_shift) | (self.block_bytes() - 1);
        let until = block_end.saturating_add(1).min(end);
        Some((from, (until - from) as u32))
    }

    /// Counts a read that dirty data answered.
    pub(crate) fn count_as_hit(&mut self) {
        self.n_misses -= 1;
        self.n_hits += 1;
    }

    /// Holds every block of a range from now on.
    #[inline]
    pub(crate) fn insert(&mut self, volume: u16, offset: u64, len: u64) {
        if self.sets.is_empty() || len == 0 {
            return;
        }
        let (mut block, last_block) = self.blocks(offset, offset.saturating_add(len));
        let mut way = 0;
        while block <= last_block {
            let run = self.run(volume, block, last_block);
            for set in &mut self.sets[run.sets.clone()] {
                if !is_in(set, run.tag, &mut way) {
                    self.n_held += u64::from(set[N_WAYS - 1] == 0);
                    put_in_front(set, N_WAYS - 1, run.tag);
                }
            }
            block += run.sets.len() as u64;
        }
    }

    /// Forgets a volume's blocks. Their places are used again as others come.
    pub(crate) fn forget(&mut self, volume: u16) {
        self.generations[usize::from(volume)] += 1;
    }

    /// Forgets everything, as a start of the machine does.
    pub(crate) fn clear(&mut self) {
        self.sets = vec![[0; N_WAYS]; self.sets.len()];
        self.n_held = 0;
        self.is_warm = false;
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.n_blocks << self.block_shift
    }

    pub(crate) fn held_bytes(&self) -> u64 {
        self.n_held << self.block_shift
    }

    pub(crate) fn block_bytes(&self) -> u64 {
        1 << self.block_shift
    }

    /// Returns reads that were answered, and reads that were not.
    pub(crate) fn hits_and_misses(&self) -> (u64, u64) {
        (self.n_hits, self.n_misses)
    }

    /// Returns the first and the last block of a range.
    #[inline]
    fn blocks(&self, offset: u64, end: u64) -> (u64, u64) {
        let last = end.max(offset.saturating_add(1)) - 1;
        (offset >> self.block_shift, last >> self.block_shift)
    }

    /// Returns where a block and those after it lie, as far as they lie side by side.
    ///
    /// The tags of one region differ from each other; those of different ones are alike by chance,
    /// 1 in 65,535.
    #[inline]
    fn run(&self, volume: u16, block: u64, last_block: u64) -> Run {
        let n_sets = self.sets.len() as u64;
        let region_shift = REGION_SHIFT - self.block_shift;
        let within = block & ((1 << region_shift) - 1);
        let generation = self.generations[usize::from(volume)];
        let start = mix64((u64::from(volume) << 48) ^ (generation << 32) ^ (block >> region_shift));
        let position = start % n_sets + within;
        let set = position % n_sets;
        let tag = (start >> 40) + position / n_sets;
        let n = (last_block - block + 1).min(n_sets - set).min((1 << region_shift) - within);
        Run { sets: set as usize..(set + n) as usize, tag: (tag % 0xFFFF) as u16 + 1 }
    }
}

/// Returns whether a tag is in its set, and keeps it there. `way` is where to look first, and where
/// it was: neighbours mostly came together and stand alike.
#[inline]
fn is_in(set: &mut [u16; N_WAYS], tag: u16, way: &mut usize) -> bool {
    set[*way % N_WAYS_FRONT] == tag || find(set, tag, way)
}

/// Looks at all places of a set.
fn find(set: &mut [u16; N_WAYS], tag: u16, way: &mut usize) -> bool {
    // All sixteen at once: the compiler makes a few instructions of it.
    let mut place = 0_u16;
    for (idx, held) in set.iter().enumerate() {
        place = place.max(if *held == tag { idx as u16 + 1 } else { 0 });
    }
    if place == 0 {
        return false;
    }
    *way = usize::from(place) - 1;
    if *way >= N_WAYS_FRONT {
        put_in_front(set, *way, tag);
        *way = 0;
    }
    true
}

/// Puts a tag in front; those up to `way` move back by one, over what was there.
#[inline]
fn put_in_front(set: &mut [u16; N_WAYS], way: usize, tag: u16) {
    let before = *set;
    for idx in 1..N_WAYS {
        set[idx] = if idx <= way { before[idx - 1] } else { before[idx] };
    }
    set[0] = tag;
}
