//! Which blocks a host cache holds.
//!
//! A machine's cache may be terabytes large, so a block costs two bytes: a tag in a set of sixteen,
//! kept in order of use, the least recently used last. Neighbours lie in neighbouring sets, so that
//! a range of any size up to the cache's fits without conflict, and a long read walks through
//! memory in order.

use crate::latency::mix64;

/// Blocks of a set.
const N_WAYS: usize = 16;
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

/// Where a block lies.
#[derive(Clone, Copy)]
struct Spot {
    set: usize,
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
        let mut spot = self.spot(volume, block);
        loop {
            if !self.touch(spot) {
                first_missing = first_missing.min(block);
                last_missing = block;
            }
            if block >= last_block {
                break;
            }
            block += 1;
            spot = self.next_spot(volume, block, spot);
        }
        if first_missing == u64::MAX {
            self.n_hits += 1;
            return None;
        }
        self.n_misses += 1;
        let from = (first_missing << self.block_shift).max(offset);
        let until = ((last_missing + 1) << self.block_shift).min(end);
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
        let mut spot = self.spot(volume, block);
        loop {
            let set = &mut self.sets[spot.set];
            if !bring_forward(set, spot.tag) {
                self.n_held += u64::from(set[N_WAYS - 1] == 0);
                set.copy_within(..N_WAYS - 1, 1);
                set[0] = spot.tag;
            }
            if block >= last_block {
                return;
            }
            block += 1;
            spot = self.next_spot(volume, block, spot);
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
        let last = end.max(offset + 1) - 1;
        (offset >> self.block_shift, last >> self.block_shift)
    }

    /// Uses a block; returns whether it is held.
    #[inline]
    fn touch(&mut self, spot: Spot) -> bool {
        let set = &mut self.sets[spot.set];
        if bring_forward(set, spot.tag) {
            return true;
        }
        let is_assumed = self.is_warm && set[N_WAYS - 1] == 0;
        if is_assumed {
            set.copy_within(..N_WAYS - 1, 1);
            set[0] = spot.tag;
            self.n_held += 1;
        }
        is_assumed
    }

    /// Returns where a block lies. The tags of one region differ from each other; those of
    /// different ones are alike by chance, 1 in 65,535.
    fn spot(&self, volume: u16, block: u64) -> Spot {
        let n_sets = self.sets.len() as u64;
        let region_blocks_shift = REGION_SHIFT - self.block_shift;
        let region = block >> region_blocks_shift;
        let generation = self.generations[usize::from(volume)];
        let start = mix64(mix64(u64::from(volume) << 32 ^ generation) ^ region);
        let position = start % n_sets + (block & ((1 << region_blocks_shift) - 1));
        let tag = (start >> 40) + position / n_sets;
        Spot { set: (position % n_sets) as usize, tag: (tag % 0xFFFF) as u16 + 1 }
    }

    /// Returns where the block after the one at `spot` lies.
    #[inline]
    fn next_spot(&self, volume: u16, block: u64, spot: Spot) -> Spot {
        let set = spot.set + 1;
        let starts_region = block.trailing_zeros() >= REGION_SHIFT - self.block_shift;
        if set == self.sets.len() || starts_region {
            return self.spot(volume, block);
        }
        Spot { set, tag: spot.tag }
    }
}

/// Makes a tag the most recently used one of its set; returns whether it is there.
#[inline]
fn bring_forward(set: &mut [u16; N_WAYS], tag: u16) -> bool {
    if set[0] == tag {
        return true;
    }
    // All sixteen at once: the compiler makes two or three instructions of it.
    let mut places = 0_u32;
    for (way, held) in set.iter().enumerate() {
        places |= u32::from(*held == tag) << way;
    }
    if places == 0 {
        return false;
    }
    let way = places.trailing_zeros() as usize;
    set.copy_within(..way, 1);
    set[0] = tag;
    true
}
