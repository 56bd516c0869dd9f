//! Which blocks a host cache holds.
//!
//! A machine's cache may be terabytes large, so a block costs two bytes. Sixteen blocks in a row
//! are a group: a tag and a bit for each of them, so that a long read looks up a tag in sixteen
//! blocks, and a short one touches one line of memory. Groups lie in sets of sixteen; neighbours in
//! neighbouring sets, so that a long read walks through memory in order. An I/O smaller than a
//! block brings in the whole block.
//!
//! What leaves is found by a hand that goes round all groups: one that was used since it last came
//! by stays for another round. That keeps what is used, like strict order of use does, and most
//! hits write nothing to memory. Blocks leave one by one, and only when the whole cache is full, so
//! ranges of any place and size up to the cache's fit into it. The limit of the layout: where fewer
//! than two of a group's sixteen blocks are ever used, sets run out of tags, and the cache holds
//! less than its size, half in the extreme.

use std::ops::Range;

use units::mix64;

/// Blocks of a group: bits of a mask.
const GROUP_SHIFT: u32 = 4;
/// Groups of a set.
const N_WAYS: usize = 16;
/// Blocks that a set stands for. It can hold all of its groups in full where others hold less.
const N_SET_BLOCKS: u64 = 32;
/// Tags, then masks: a line of memory.
const N_SET_WORDS: usize = 2 * N_WAYS;
/// In a tag: the group was used since the hand came by.
const USED: u16 = 1 << 15;
/// Tags go from 1 to this; 0 is an empty place.
const TAG_MAX: u64 = 0x7FFF;
/// Blocks that are kept apart at most: 256 MiB of tags. A larger cache has larger blocks.
const N_BLOCKS_MAX: u64 = 1 << 27;
/// Smallest block.
const BLOCK_BYTES_MIN: u64 = 4096;
/// Addresses are laid out in the cache in regions of 1 TiB, each from a set of its own on.
const REGION_SHIFT: u32 = 40;
/// Nothing is known of where a group stands in its set.
const NO_HINT: usize = N_WAYS;
/// Bytes that the processor fetches at once.
const LINE_BYTES: usize = 64;

/// Tags and masks of sixteen groups.
type Set = [u16; N_SET_WORDS];

/// The blocks of one machine's cache.
#[derive(Clone, Debug)]
pub(crate) struct BlockCache {
    /// Sets, from `skip` on. The whole is zeroed memory until it is used.
    words: Vec<u16>,
    /// Words before the first set, so that each is one line.
    skip: usize,
    n_sets: u64,
    /// 2^64 over `n_sets`, rounded up: a division by it becomes a multiplication.
    inverse: u64,
    block_shift: u32,
    /// Groups of a region, as a power of two.
    region_shift: u32,
    n_blocks: u64,
    n_held: u64,
    /// Where the hand is: the set, and the place in it.
    hand: (usize, usize),
    n_hits: u64,
    n_misses: u64,
    /// Whether a block that was never asked for counts as held, as long as there is room.
    is_warm: bool,
    /// Where each volume's blocks lie.
    homes: Vec<BlockHome>,
}

/// Where a volume's blocks lie.
#[derive(Clone, Copy, Debug)]
struct BlockHome {
    volume: u16,
    /// Changes when the blocks are dropped, so that what is left of them is not found.
    generation: u32,
    /// Of the first region: most volumes have no other.
    first: Start,
}

/// Where a region begins: in which set, and with which tag.
#[derive(Clone, Copy, Debug)]
struct Start {
    set: u64,
    tag: u64,
}

impl BlockHome {
    fn new(volume: u16, generation: u32, n_sets: u64) -> BlockHome {
        let first = BlockHome::start_of(volume, generation, 0, n_sets);
        BlockHome { volume, generation, first }
    }

    #[inline]
    fn start(&self, region: u64, n_sets: u64) -> Start {
        match region {
            0 => self.first,
            _ => BlockHome::start_of(self.volume, self.generation, region, n_sets),
        }
    }

    fn start_of(volume: u16, generation: u32, region: u64, n_sets: u64) -> Start {
        let bits = mix64((u64::from(volume) << 48) ^ (u64::from(generation) << 32) ^ region);
        Start { set: scale(bits, n_sets), tag: bits & 0xFFFF_FFFF }
    }
}

/// Where the blocks of a range stand that lies in one group. Found for a read, it serves again when
/// what was read comes in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupSpot {
    set: u32,
    tag: u16,
    /// The blocks, of those of the group; 0 if nothing is known.
    wanted: u16,
}

impl GroupSpot {
    pub(crate) const UNKNOWN: GroupSpot = GroupSpot { set: 0, tag: 0, wanted: 0 };
}

/// What a read did not find.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Miss {
    /// From the first byte that is not held to the last one.
    pub(crate) len_bytes: u32,
    /// Where it will be held.
    pub(crate) spot: GroupSpot,
}

/// Where neighbouring groups lie.
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
        let n_sets = (cache_bytes >> block_shift).div_ceil(N_SET_BLOCKS);
        let mut cache = BlockCache {
            words: Vec::new(),
            skip: 0,
            n_sets,
            inverse: (u64::MAX / n_sets.max(1)).saturating_add(1),
            block_shift,
            region_shift: REGION_SHIFT.saturating_sub(block_shift + GROUP_SHIFT),
            n_blocks: n_sets * N_SET_BLOCKS,
            n_held: 0,
            hand: (0, 0),
            n_hits: 0,
            n_misses: 0,
            is_warm,
            homes: (0..n_volumes).map(|volume| BlockHome::new(volume as u16, 0, n_sets)).collect(),
        };
        cache.clear();
        cache.is_warm = is_warm;
        cache
    }

    /// Looks a range up for a read and counts a hit or a miss. Returns `None` if all is held.
    #[inline]
    pub(crate) fn read(&mut self, volume: u16, offset: u64, len: u32) -> Option<Miss> {
        if self.n_sets == 0 {
            return Some(Miss { len_bytes: len, spot: GroupSpot::UNKNOWN });
        }
        let end = offset.saturating_add(u64::from(len));
        let (first_block, last_block) = self.blocks(offset, end);
        let group = first_block >> GROUP_SHIFT;
        let mut spot = GroupSpot::UNKNOWN;
        let missing = if group == last_block >> GROUP_SHIFT {
            spot = self.spot(volume, first_block, last_block);
            let missing = self.look_at(spot);
            if missing == spot.wanted {
                self.n_misses += 1;
                return Some(Miss { len_bytes: (end - offset) as u32, spot });
            }
            ends(group, missing)
        } else {
            self.look_along(volume, first_block, last_block)
        };
        let Some((first_missing, last_missing)) = missing else {
            self.n_hits += 1;
            return None;
        };
        self.n_misses += 1;
        let from = (first_missing << self.block_shift).max(offset);
        let block_end = (last_missing << self.block_shift) | (self.block_bytes() - 1);
        let until = block_end.saturating_add(1).min(end);
        Some(Miss { len_bytes: (until - from) as u32, spot })
    }

    /// Returns which blocks of one group are not held, and notes the use.
    #[inline]
    fn look_at(&mut self, spot: GroupSpot) -> u16 {
        let GroupSpot { set: set_idx, tag, wanted } = spot;
        let set = set(&mut self.words, self.skip, set_idx as usize);
        let held = find(set, tag).map_or(0, |place| used(set, place));
        let missing = wanted & !held;
        if missing != 0
            && self.is_warm
            && self.takes_for_warm(set_idx as usize, tag, missing, &mut { NO_HINT })
        {
            return 0;
        }
        missing
    }

    /// Looks a range of several groups up. Returns the first and the last block that are not held.
    fn look_along(&mut self, volume: u16, first_block: u64, last_block: u64) -> Option<(u64, u64)> {
        let (mut group, last_group) = (first_block >> GROUP_SHIFT, last_block >> GROUP_SHIFT);
        let mut missing: Option<(u64, u64)> = None;
        let mut way = NO_HINT;
        while group <= last_group {
            let run = self.run(volume, group, last_group);
            for set in run.sets {
                let wanted = wanted(group, first_block, last_block);
                if let Some((first, last)) = ends(group, self.look(set, run.tag, wanted, &mut way))
                {
                    missing = Some((missing.map_or(first, |(first, _)| first), last));
                }
                group += 1;
            }
        }
        missing
    }

    /// Returns which of the wanted blocks of a group are not held, and notes the use.
    #[inline]
    fn look(&mut self, set: usize, tag: u16, wanted: u16, way: &mut usize) -> u16 {
        let missing = wanted & !held(self.set(set), tag, way);
        let is_there = missing == 0 || self.is_warm && self.takes_for_warm(set, tag, missing, way);
        if is_there { 0 } else { missing }
    }

    /// Counts a read that dirty data answered.
    pub(crate) fn count_as_hit(&mut self) {
        self.n_misses -= 1;
        self.n_hits += 1;
    }

    /// Holds every block of a range from now on.
    #[inline]
    pub(crate) fn insert(&mut self, volume: u16, offset: u64, len: u64) {
        if self.n_sets == 0 || len == 0 {
            return;
        }
        let (first_block, last_block) = self.blocks(offset, offset.saturating_add(len));
        let group = first_block >> GROUP_SHIFT;
        if group == last_block >> GROUP_SHIFT {
            self.hold_at(self.spot(volume, first_block, last_block));
        } else {
            self.hold_along(volume, first_block, last_block);
        }
    }

    /// Holds what a read missed from now on: as [`BlockCache::insert`] of the range.
    #[inline]
    pub(crate) fn fill(&mut self, spot: GroupSpot, volume: u16, offset: u64, len: u32) {
        if spot.wanted == 0 {
            self.insert(volume, offset, u64::from(len));
        } else {
            self.hold_at(spot);
        }
    }

    /// Holds blocks of one group from now on.
    #[inline]
    fn hold_at(&mut self, spot: GroupSpot) {
        let GroupSpot { set: set_idx, tag, wanted } = spot;
        let set = set(&mut self.words, self.skip, set_idx as usize);
        if find(set, tag).is_none() {
            self.bring_in(set_idx as usize, tag, wanted);
            return;
        }
        self.hold(set_idx as usize, tag, wanted, &mut { NO_HINT });
    }

    /// Holds every block of several groups from now on.
    fn hold_along(&mut self, volume: u16, first_block: u64, last_block: u64) {
        let (mut group, last_group) = (first_block >> GROUP_SHIFT, last_block >> GROUP_SHIFT);
        let mut way = NO_HINT;
        while group <= last_group {
            let run = self.run(volume, group, last_group);
            for set in run.sets {
                self.hold(set, run.tag, wanted(group, first_block, last_block), &mut way);
                group += 1;
            }
        }
    }

    /// Forgets a volume's blocks. Their places are used again as others come. What was known of
    /// where its blocks stand no longer holds.
    pub(crate) fn forget(&mut self, volume: u16) {
        let home = &mut self.homes[usize::from(volume)];
        *home = BlockHome::new(volume, home.generation.wrapping_add(1), self.n_sets);
    }

    /// Returns whether it began warm and was not cleared since.
    pub(crate) fn is_warm(&self) -> bool {
        self.is_warm
    }

    /// Forgets everything, the counts as well, as a start of the machine does.
    pub(crate) fn clear(&mut self) {
        let n_line_words = LINE_BYTES / size_of::<u16>();
        let n_words = match self.n_sets {
            0 => 0,
            n_sets => n_sets as usize * N_SET_WORDS + n_line_words,
        };
        self.words = vec![0; n_words];
        // A clone may lie otherwise: it is slower then, not wrong.
        self.skip = self.words.as_ptr().align_offset(LINE_BYTES).min(n_line_words);
        self.skip = self.skip.min(n_words);
        self.n_held = 0;
        self.hand = (0, 0);
        (self.n_hits, self.n_misses) = (0, 0);
        self.is_warm = false;
    }

    /// Returns the addresses of its memory.
    pub(crate) fn memory(&self) -> Range<usize> {
        let words = self.words.as_ptr_range();
        words.start.addr()..words.end.addr()
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

    /// Returns where a group and those after it lie, as far as they lie side by side.
    #[inline]
    fn run(&self, volume: u16, group: u64, last_group: u64) -> Run {
        let (set, tag) = self.place(volume, group);
        let left = (1 << self.region_shift) - (group & ((1 << self.region_shift) - 1));
        let n = (last_group - group + 1).min(self.n_sets - set as u64).min(left);
        Run { sets: set..set + n as usize, tag }
    }

    /// Returns where blocks of one group stand.
    #[inline]
    fn spot(&self, volume: u16, first_block: u64, last_block: u64) -> GroupSpot {
        let group = first_block >> GROUP_SHIFT;
        let (set, tag) = self.place(volume, group);
        let within = |block: u64| block & ((1 << GROUP_SHIFT) - 1);
        let wanted = (u16::MAX << within(first_block)) & (u16::MAX >> (15 - within(last_block)));
        GroupSpot { set: set as u32, tag, wanted }
    }

    /// Returns the set of a group, and its tag there.
    ///
    /// The tags of one region differ from each other; those of different ones are alike by chance,
    /// 1 in 32,767.
    #[inline]
    fn place(&self, volume: u16, group: u64) -> (usize, u16) {
        let within = group & ((1 << self.region_shift) - 1);
        let home = &self.homes[usize::from(volume)];
        let start = home.start(group >> self.region_shift, self.n_sets);
        let position = start.set + within;
        // Exact: a position and the number of sets are below 2^32 each. One set has no inverse.
        let n_times = if self.n_sets == 1 { position } else { scale(position, self.inverse) };
        let set = position - n_times * self.n_sets;
        let tag = start.tag + n_times;
        (set as usize, (tag % TAG_MAX) as u16 + 1)
    }

    /// Fetches what the next look-up at a place reads, so that it need not wait for memory.
    /// Changes nothing.
    #[inline]
    pub(crate) fn fetch(&self, volume: u16, offset: u64) {
        if self.n_sets > 0 {
            let (set, _) = self.place(volume, offset >> self.block_shift >> GROUP_SHIFT);
            prefetch(&self.words[self.skip + set * N_SET_WORDS]);
        }
    }

    #[inline]
    fn set(&mut self, idx: usize) -> &mut Set {
        set(&mut self.words, self.skip, idx)
    }

    /// Returns whether blocks that were not asked for yet are there already, and holds them then:
    /// in a cache that began warm, if there is room.
    fn takes_for_warm(&mut self, set_idx: usize, tag: u16, missing: u16, way: &mut usize) -> bool {
        let n_after = self.n_held + u64::from(missing.count_ones());
        if n_after > self.n_blocks {
            return false;
        }
        let set = self.set(set_idx);
        if find(set, tag).is_none() && first_empty(set).is_none() {
            return false;
        }
        self.hold(set_idx, tag, missing, way);
        true
    }

    /// Holds these blocks of a group from now on that has none in its set.
    #[inline]
    fn bring_in(&mut self, set_idx: usize, tag: u16, blocks: u16) {
        let n_after = self.n_held + u64::from(blocks.count_ones());
        if n_after > self.n_blocks {
            self.let_leave(n_after - self.n_blocks);
        }
        self.n_held = n_after.min(self.n_blocks);
        let set = self.set(set_idx);
        let Some(place) = first_empty(set) else {
            let place = self.drop_group(set_idx);
            put(self.set(set_idx), place, tag, blocks);
            return;
        };
        put(set, place, tag, blocks);
    }

    /// Holds these blocks of a group from now on. Others may have to leave.
    #[inline(never)]
    fn hold(&mut self, set_idx: usize, tag: u16, wanted: u16, way: &mut usize) {
        let (place, missing) = loop {
            let set = self.set(set_idx);
            let place = look_up(set, tag, way);
            let missing = wanted & !place.map_or(0, |place| set[N_WAYS + place]);
            if missing == 0 {
                return;
            }
            let n_after = self.n_held + u64::from(missing.count_ones());
            if n_after <= self.n_blocks {
                self.n_held = n_after;
                break (place, missing);
            }
            // What leaves may be of the same group.
            self.let_leave(n_after - self.n_blocks);
        };
        let set = self.set(set_idx);
        *way = match place.or_else(|| first_empty(set)) {
            Some(place) => place,
            None => self.drop_group(set_idx),
        };
        put(self.set(set_idx), *way, tag, missing);
    }

    /// Drops a group of a set that has no place left, and returns its place.
    #[cold]
    fn drop_group(&mut self, set_idx: usize) -> usize {
        let start = self.hand.1;
        let set = self.set(set_idx);
        let place = unused(set, start);
        let n_lost = std::mem::take(&mut set[N_WAYS + place]).count_ones();
        self.n_held -= u64::from(n_lost);
        place
    }

    /// Lets the hand go on until so many blocks have left.
    fn let_leave(&mut self, n_blocks: u64) {
        let mut n_left = n_blocks;
        let (mut set_idx, mut place) = self.hand;
        while n_left > 0 {
            let set = self.set(set_idx);
            while place < N_WAYS && n_left > 0 {
                if set[place] & USED != 0 {
                    set[place] &= !USED;
                } else if set[place] != 0 {
                    let mask = &mut set[N_WAYS + place];
                    while *mask != 0 && n_left > 0 {
                        *mask &= *mask - 1;
                        n_left -= 1;
                    }
                    if *mask != 0 {
                        break;
                    }
                    set[place] = 0;
                }
                place += 1;
            }
            if place == N_WAYS {
                place = 0;
                set_idx = if set_idx as u64 + 1 == self.n_sets { 0 } else { set_idx + 1 };
            }
        }
        self.hand = (set_idx, place);
        self.n_held -= n_blocks;
    }
}

#[inline]
fn set(words: &mut [u16], skip: usize, idx: usize) -> &mut Set {
    &mut words[skip..].as_chunks_mut().0[idx]
}

/// Notes blocks of a group at its place.
#[inline]
fn put(set: &mut Set, place: usize, tag: u16, blocks: u16) {
    set[place] = tag | USED;
    set[N_WAYS + place] |= blocks;
}

/// Returns `share` of 2^64 of `whole`.
#[inline]
fn scale(share: u64, whole: u64) -> u64 {
    ((u128::from(share) * u128::from(whole)) >> 64) as u64
}

/// Returns which blocks of a group a range covers.
#[inline]
fn wanted(group: u64, first_block: u64, last_block: u64) -> u16 {
    let start = group << GROUP_SHIFT;
    let n_before = first_block.saturating_sub(start);
    let n_until = last_block.saturating_sub(start).min(15);
    (u16::MAX << n_before) & (u16::MAX >> (15 - n_until))
}

/// Returns the first and the last block of those of a group; `None` if there is none.
#[inline]
fn ends(group: u64, blocks: u16) -> Option<(u64, u64)> {
    let start = group << GROUP_SHIFT;
    let last = blocks.checked_ilog2()?;
    Some((start + u64::from(blocks.trailing_zeros()), start + u64::from(last)))
}

/// Returns which blocks of a group are held, and notes the use.
#[inline]
fn held(set: &mut Set, tag: u16, way: &mut usize) -> u16 {
    look_up(set, tag, way).map_or(0, |place| set[N_WAYS + place])
}

/// Returns the place of a group, if it is held, and notes the use. `way` is where to look first,
/// and where it was: neighbours mostly came together and stand alike.
#[inline]
fn look_up(set: &mut Set, tag: u16, way: &mut usize) -> Option<usize> {
    let is_there = *way < N_WAYS && set[*way] & !USED == tag;
    if !is_there {
        *way = find(set, tag)?;
    }
    let place = *way % N_WAYS;
    used(set, place);
    Some(place)
}

/// Notes that a group was used. Returns its blocks.
#[inline]
fn used(set: &mut Set, place: usize) -> u16 {
    if set[place] & USED == 0 {
        set[place] |= USED;
    }
    set[N_WAYS + place]
}

/// Returns the place of a tag: there is no more than one.
#[inline]
fn find(set: &Set, tag: u16) -> Option<usize> {
    // All sixteen at once, without a branch that would be guessed wrong: the compiler makes of it
    // two comparisons of eight words each.
    let mut found = [0; N_WAYS / 2];
    for (way, found) in found.iter_mut().enumerate() {
        let mark = |way: usize| if set[way] & !USED == tag { USED | way as u16 } else { 0 };
        *found = mark(way) | mark(way + N_WAYS / 2);
    }
    let found = found.into_iter().fold(0, |all, one| all | one);
    (found != 0).then_some(usize::from(found & !USED))
}

/// Returns the first place without a tag.
#[inline]
fn first_empty(set: &Set) -> Option<usize> {
    let mut first = [0; N_WAYS / 2];
    for (way, first) in first.iter_mut().enumerate() {
        let place = |way: usize| if set[way] & !USED == 0 { way as i16 } else { i16::MAX };
        *first = place(way).min(place(way + N_WAYS / 2));
    }
    let first = first.into_iter().fold(i16::MAX, i16::min) as usize;
    (first < N_WAYS).then_some(first)
}

/// Returns a place of a full set that was not used lately, looking from `start` on.
fn unused(set: &mut Set, start: usize) -> usize {
    let places = || (start..start + N_WAYS).map(|place| place % N_WAYS);
    if let Some(place) = places().find(|place| set[*place] & USED == 0) {
        return place;
    }
    for tag in &mut set[..N_WAYS] {
        *tag &= !USED;
    }
    start % N_WAYS
}

/// Asks the processor to fetch the memory of a place, where that can be said.
#[inline]
pub(crate) fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = std::ptr::from_ref(place).cast();
        // SAFETY: every x86-64 processor has the instruction, and it changes nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
