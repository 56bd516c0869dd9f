//! Byte ranges that are dirty: in the host cache and not yet on the disk.
//!
//! Ranges of one volume do not overlap. They are found by address and by age (a list), in memory
//! that is reserved once. By address a volume is cut into regions, and so are ranges that go over
//! more than one; each region has a tree (a treap) of its own, so that among millions of ranges
//! all over a volume one is found in a few steps. Regions that are far apart share a tree.

use std::ops::Range;

use units::mix64;

use crate::cache::prefetch;
use crate::slab::NIL;

/// Bytes of a region, as a power of two: what the cache writes to a disk at once at most.
const REGION_SHIFT: u32 = 18;
/// Trees of a volume. Their roots take memory where ranges are only.
const N_TREES: usize = 1 << 20;

/// One dirty range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Number of the write that made it dirty.
    pub(crate) number: u64,
    /// When that was.
    pub(crate) since_ns: u64,
    /// Whether it is on its way to the disk.
    pub(crate) is_leaving: bool,
    left: u32,
    right: u32,
    older: u32,
    newer: u32,
}

/// The write that makes a range dirty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dirtied {
    /// Its number.
    pub(crate) number: u64,
    /// When it was submitted.
    pub(crate) now_ns: u64,
    /// Whether it goes on to the disk itself, so that nothing else need bring the range there.
    pub(crate) is_leaving: bool,
}

/// The dirty ranges of one volume.
#[derive(Clone, Debug)]
struct Ranges {
    /// The root of each tree, counted from 1; 0 is an empty tree.
    roots: Vec<u32>,
    oldest: u32,
    newest: u32,
    n_bytes: u64,
    /// Ranges that are not on their way to the disk.
    n_staying: usize,
    /// Bytes of writes with a number below `before`.
    n_bytes_before: u64,
    before: u64,
}

impl Ranges {
    fn none(n_trees: usize) -> Ranges {
        let roots = vec![0; n_trees];
        Ranges {
            roots,
            oldest: NIL,
            newest: NIL,
            n_bytes: 0,
            n_staying: 0,
            n_bytes_before: 0,
            before: 0,
        }
    }
}

/// The dirty ranges of all volumes.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    nodes: Vec<Extent>,
    free: u32,
    n_used: usize,
    n_max: usize,
    n_bytes: u64,
    region_shift: u32,
    volumes: Vec<Ranges>,
}

impl Extents {
    pub(crate) fn new(n_volumes: usize, n_max: usize) -> Extents {
        Extents::with_regions(n_volumes, n_max, REGION_SHIFT, N_TREES)
    }

    fn with_regions(n_volumes: usize, n_max: usize, region_shift: u32, n_trees: usize) -> Extents {
        let mut extents = Extents {
            nodes: Vec::new(),
            free: NIL,
            n_used: 0,
            n_max: 0,
            n_bytes: 0,
            region_shift,
            // Zeroed memory is none until it is used. A clone of it would have to be.
            volumes: (0..n_volumes).map(|_| Ranges::none(n_trees)).collect(),
        };
        extents.reserve(n_max);
        extents
    }

    /// Returns the dirty bytes of all volumes.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Returns how many ranges there may be.
    pub(crate) fn n_max(&self) -> usize {
        self.n_max
    }

    /// Makes room for `n_max` ranges, if there was less; for fewer where the system does not give
    /// as much memory. What is reserved takes none until it is used.
    pub(crate) fn reserve(&mut self, n_max: usize) {
        let mut n_max = n_max;
        while n_max > self.n_max {
            let more = n_max.saturating_sub(self.nodes.len());
            if self.nodes.try_reserve_exact(more).is_ok() {
                self.n_max = n_max;
                return;
            }
            n_max /= 2;
        }
    }

    /// Returns the addresses of its memory, used or reserved.
    pub(crate) fn memory(&self) -> Range<usize> {
        let start = self.nodes.as_ptr().addr();
        start..start + self.nodes.capacity() * size_of::<Extent>()
    }

    /// Returns the share of the places that are in use, in percent.
    pub(crate) fn used_pct(&self) -> usize {
        self.n_used * 100 / self.n_max.max(1)
    }

    /// Returns how much of the room is taken, 0 to 1.
    pub(crate) fn used_share(&self) -> f64 {
        self.n_used as f64 / self.n_max.max(1) as f64
    }

    /// Makes a range dirty, where it is not yet: by write `number` at `now_ns`, which itself
    /// goes on to the disk or not. Without room, what is left out stays clean. Says whether all of
    /// the range is dirty now.
    pub(crate) fn add(&mut self, volume: u16, range: Range<u64>, by: Dirtied) -> bool {
        let mut start = range.start;
        while let Some(gap) = self.first_gap(volume, start..range.end) {
            if self.n_used >= self.n_max {
                return false;
            }
            start = gap.end;
            self.insert(volume, gap, by);
        }
        true
    }

    /// Returns the first part of a range that is clean, of one region.
    fn first_gap(&self, volume: u16, range: Range<u64>) -> Option<Range<u64>> {
        let mut start = range.start;
        while start < range.end {
            match self.ending_after(volume, start).map(|idx| &self.nodes[idx as usize]) {
                Some(extent) if extent.start <= start => start = extent.end,
                after => {
                    let end = self.region_end(start).min(range.end);
                    return Some(start..after.map_or(end, |extent| extent.start.min(end)));
                }
            }
        }
        None
    }

    /// Returns the parts of a range that are clean, in order of address; neighbours are of
    /// different regions.
    pub(crate) fn gaps(
        &self,
        volume: u16,
        mut range: Range<u64>,
    ) -> impl Iterator<Item = Range<u64>> + '_ {
        std::iter::from_fn(move || {
            let gap = self.first_gap(volume, range.clone())?;
            range.start = gap.end;
            Some(gap)
        })
    }

    /// Makes a range clean, and returns what was made clean: more than the range if its end lies
    /// within a dirty extent and there is no room for another piece of that.
    ///
    /// Room that is beyond the limit, for pieces, was rejected: writes through to the disk can cut
    /// a large range into as many as it has bytes.
    pub(crate) fn clean(&mut self, volume: u16, range: Range<u64>) -> Range<u64> {
        let (mut start, mut end) = (range.start, range.end);
        while start < end {
            let until = end.min(self.region_end(start));
            let cleaned = self.clean_in_region(volume, start..until);
            start = until;
            end = end.max(cleaned);
        }
        range.start..end
    }

    /// Makes a range clean that lies in one region. Returns where what became clean ends.
    fn clean_in_region(&mut self, volume: u16, range: Range<u64>) -> u64 {
        let mut end = range.end;
        while let Some(idx) = self.ending_after(volume, range.start) {
            let extent = self.nodes[idx as usize];
            if extent.start >= end {
                break;
            }
            if extent.start < range.start {
                // The first part stays as it is; the rest is looked at as one of its own.
                self.nodes[idx as usize].end = range.start;
                self.lose(volume, extent.number, extent.end - range.start);
                if extent.end > end && self.n_used < self.n_max {
                    self.insert_after(volume, idx, end..extent.end);
                } else {
                    end = end.max(extent.end);
                }
            } else if extent.end > end {
                // Nothing else lies between, so the order by address holds.
                self.nodes[idx as usize].start = end;
                self.lose(volume, extent.number, end - extent.start);
            } else {
                self.remove(volume, idx);
            }
        }
        end
    }

    /// Makes clean what writes with a number below `before` made dirty of a range. Calls back with
    /// each part, in order of address: see [`Extents::clean`] for how far they reach.
    pub(crate) fn clean_before(
        &mut self,
        volume: u16,
        range: Range<u64>,
        before: u64,
        mut cleaned: impl FnMut(Range<u64>),
    ) {
        let mut start = range.start;
        while start < range.end {
            let until = range.end.min(self.region_end(start));
            let first = self.ending_after(volume, start).map(|idx| self.nodes[idx as usize]);
            let Some(extent) = first.filter(|extent| extent.start < until) else {
                start = until;
                continue;
            };
            let part = extent.start.max(start)..extent.end.min(until);
            start = part.end;
            if extent.number < before {
                let part = self.clean(volume, part);
                start = part.end;
                cleaned(part);
            }
        }
    }

    /// Returns whether all of a range is dirty.
    pub(crate) fn covers(&self, volume: u16, range: Range<u64>) -> bool {
        self.first_gap(volume, range).is_none()
    }

    /// Returns the dirty bytes of a volume.
    pub(crate) fn n_bytes_of(&self, volume: u16) -> u64 {
        self.volumes[usize::from(volume)].n_bytes
    }

    /// Returns a volume's dirty ranges in order of address, neighbours as one. It takes memory for
    /// all of them.
    pub(crate) fn ranges(&self, volume: u16) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut found = Vec::new();
        let mut idx = self.volumes[usize::from(volume)].oldest;
        while idx != NIL {
            let extent = &self.nodes[idx as usize];
            found.push((extent.start, extent.end));
            idx = extent.newer;
        }
        found.sort_unstable();
        let mut left = found.into_iter().peekable();
        std::iter::from_fn(move || {
            let (start, mut end) = left.next()?;
            while let Some((_, next_end)) = left.next_if(|(next_start, _)| *next_start == end) {
                end = next_end;
            }
            Some(start..end)
        })
    }

    /// Returns a volume's oldest range that is not leaving yet.
    pub(crate) fn oldest_staying(&self, volume: u16) -> Option<(u32, Extent)> {
        if self.volumes[usize::from(volume)].n_staying == 0 {
            return None;
        }
        let mut idx = self.volumes[usize::from(volume)].oldest;
        while idx != NIL {
            let extent = self.nodes[idx as usize];
            if !extent.is_leaving {
                return Some((idx, extent));
            }
            idx = extent.newer;
        }
        None
    }

    /// Returns whether any of a range is dirty.
    pub(crate) fn touches(&self, volume: u16, range: &Range<u64>) -> bool {
        let mut start = range.start;
        while start < range.end {
            let first = self.ending_after(volume, start);
            if first.is_some_and(|idx| self.nodes[idx as usize].start < range.end) {
                return true;
            }
            start = self.region_end(start);
        }
        false
    }

    /// Counts the dirty bytes of writes with a number below `number` from now on.
    pub(crate) fn count_before(&mut self, volume: u16, number: u64) {
        let mut idx = self.volumes[usize::from(volume)].oldest;
        let mut n_bytes = 0;
        while idx != NIL && self.nodes[idx as usize].number < number {
            let extent = &self.nodes[idx as usize];
            n_bytes += extent.end - extent.start;
            idx = extent.newer;
        }
        let ranges = &mut self.volumes[usize::from(volume)];
        (ranges.before, ranges.n_bytes_before) = (number, n_bytes);
    }

    /// Returns the dirty bytes of writes before the number that was named last.
    pub(crate) fn n_bytes_before(&self, volume: u16) -> u64 {
        self.volumes[usize::from(volume)].n_bytes_before
    }

    /// Returns the number of the oldest write that is dirty.
    pub(crate) fn oldest_number(&self, volume: u16) -> Option<u64> {
        let oldest = self.volumes[usize::from(volume)].oldest;
        (oldest != NIL).then(|| self.nodes[oldest as usize].number)
    }

    /// Marks a range, and those that follow it without a gap up to the address `until`, as leaving.
    /// Returns where they end.
    pub(crate) fn let_leave(&mut self, volume: u16, idx: u32, until: u64) -> u64 {
        let mut end = self.nodes[idx as usize].end;
        self.nodes[idx as usize].is_leaving = true;
        let mut n_marked = 1;
        while let Some(next) = self.ending_after(volume, end) {
            let extent = &mut self.nodes[next as usize];
            if extent.start != end || extent.end > until || extent.is_leaving {
                break;
            }
            extent.is_leaving = true;
            end = extent.end;
            n_marked += 1;
        }
        self.volumes[usize::from(volume)].n_staying -= n_marked;
        end
    }

    /// Makes everything clean.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.free = NIL;
        self.n_used = 0;
        self.n_bytes = 0;
        for ranges in &mut self.volumes {
            *ranges = Ranges::none(ranges.roots.len());
        }
    }

    /// Returns where the region of a place ends.
    fn region_end(&self, offset: u64) -> u64 {
        (offset | ((1 << self.region_shift) - 1)).saturating_add(1)
    }

    /// Fetches the root of the tree that the next look-up at a place begins with. Changes nothing.
    #[inline]
    pub(crate) fn fetch(&self, volume: u16, offset: u64) {
        prefetch(&self.volumes[usize::from(volume)].roots[self.tree(volume, offset)]);
    }

    /// Returns the tree of a place.
    fn tree(&self, volume: u16, offset: u64) -> usize {
        // A power of two of them.
        let n_trees = self.volumes[usize::from(volume)].roots.len();
        (offset >> self.region_shift) as usize & (n_trees - 1)
    }

    fn root(&self, volume: u16, offset: u64) -> u32 {
        let root = self.volumes[usize::from(volume)].roots[self.tree(volume, offset)];
        // What is counted from 1 and is none is NIL.
        root.wrapping_sub(1)
    }

    fn set_root(&mut self, volume: u16, offset: u64, root: u32) {
        let tree = self.tree(volume, offset);
        self.volumes[usize::from(volume)].roots[tree] = root.wrapping_add(1);
    }

    fn gain(&mut self, volume: u16, number: u64, n_bytes: u64) {
        self.n_bytes += n_bytes;
        let ranges = &mut self.volumes[usize::from(volume)];
        ranges.n_bytes += n_bytes;
        ranges.n_bytes_before += if number < ranges.before { n_bytes } else { 0 };
    }

    fn lose(&mut self, volume: u16, number: u64, n_bytes: u64) {
        self.n_bytes -= n_bytes;
        let ranges = &mut self.volumes[usize::from(volume)];
        ranges.n_bytes -= n_bytes;
        ranges.n_bytes_before -= if number < ranges.before { n_bytes } else { 0 };
    }

    /// Returns the first range by address that ends after `offset`, of those that share the tree
    /// of its region.
    fn ending_after(&self, volume: u16, offset: u64) -> Option<u32> {
        let mut idx = self.root(volume, offset);
        let mut found = None;
        while idx != NIL {
            let node = &self.nodes[idx as usize];
            if node.end > offset {
                found = Some(idx);
                idx = node.left;
            } else {
                idx = node.right;
            }
        }
        found
    }

    /// Puts a range in as the newest.
    fn insert(&mut self, volume: u16, range: Range<u64>, by: Dirtied) {
        let Dirtied { number, now_ns, is_leaving } = by;
        let older = self.volumes[usize::from(volume)].newest;
        self.gain(volume, number, range.end - range.start);
        let idx = self.place(Extent {
            start: range.start,
            end: range.end,
            number,
            since_ns: now_ns,
            is_leaving,
            left: NIL,
            right: NIL,
            older,
            newer: NIL,
        });
        let ranges = &mut self.volumes[usize::from(volume)];
        ranges.newest = idx;
        ranges.n_staying += usize::from(!is_leaving);
        match older {
            NIL => ranges.oldest = idx,
            older => self.nodes[older as usize].newer = idx,
        }
        self.hang_in(volume, idx);
    }

    /// Puts the second part of a range in, as old as the first one.
    fn insert_after(&mut self, volume: u16, first: u32, range: Range<u64>) {
        let whole = self.nodes[first as usize];
        self.gain(volume, whole.number, range.end - range.start);
        let idx = self.place(Extent {
            start: range.start,
            end: range.end,
            left: NIL,
            right: NIL,
            older: first,
            ..whole
        });
        self.nodes[first as usize].newer = idx;
        self.volumes[usize::from(volume)].n_staying += usize::from(!whole.is_leaving);
        match whole.newer {
            NIL => self.volumes[usize::from(volume)].newest = idx,
            newer => self.nodes[newer as usize].older = idx,
        }
        self.hang_in(volume, idx);
    }

    fn place(&mut self, extent: Extent) -> u32 {
        self.n_used += 1;
        if self.free == NIL {
            self.nodes.push(extent);
            return (self.nodes.len() - 1) as u32;
        }
        let idx = self.free;
        self.free = self.nodes[idx as usize].newer;
        self.nodes[idx as usize] = extent;
        idx
    }

    fn remove(&mut self, volume: u16, idx: u32) {
        let Extent { start, end, number, is_leaving, left, right, older, newer, .. } =
            self.nodes[idx as usize];
        let joined = self.join(left, right);
        self.replace(volume, idx, start, joined);
        let ranges = &mut self.volumes[usize::from(volume)];
        ranges.n_staying -= usize::from(!is_leaving);
        match newer {
            NIL => ranges.newest = older,
            newer => self.nodes[newer as usize].older = older,
        }
        match older {
            NIL => ranges.oldest = newer,
            older => self.nodes[older as usize].newer = newer,
        }
        self.nodes[idx as usize].newer = self.free;
        self.free = idx;
        self.n_used -= 1;
        self.lose(volume, number, end - start);
    }

    /// Rank of a node in the heap order of the treap: as good as random, and the same every time.
    fn rank(idx: u32) -> u64 {
        mix64(u64::from(idx) + 1)
    }

    /// Hangs a node into the tree: below all of higher rank on its way down.
    fn hang_in(&mut self, volume: u16, idx: u32) {
        let start = self.nodes[idx as usize].start;
        let mut below = self.root(volume, start);
        let mut above = NIL;
        while below != NIL && Self::rank(below) > Self::rank(idx) {
            above = below;
            let node = &self.nodes[below as usize];
            below = if start < node.start { node.left } else { node.right };
        }
        let (left, right) = self.split(below, start);
        let node = &mut self.nodes[idx as usize];
        node.left = left;
        node.right = right;
        if above == NIL {
            self.set_root(volume, start, idx);
        } else if start < self.nodes[above as usize].start {
            self.nodes[above as usize].left = idx;
        } else {
            self.nodes[above as usize].right = idx;
        }
    }

    /// Puts `by` in the place of a node in the tree.
    fn replace(&mut self, volume: u16, idx: u32, start: u64, by: u32) {
        let root = self.root(volume, start);
        if root == idx {
            self.set_root(volume, start, by);
            return;
        }
        let mut above = root;
        loop {
            let node = &mut self.nodes[above as usize];
            let below = if start < node.start { &mut node.left } else { &mut node.right };
            if *below == idx {
                *below = by;
                return;
            }
            above = *below;
        }
    }

    /// Splits a tree into what starts before `start` and the rest.
    fn split(&mut self, root: u32, start: u64) -> (u32, u32) {
        if root == NIL {
            return (NIL, NIL);
        }
        let node = self.nodes[root as usize];
        if node.start < start {
            let (left, right) = self.split(node.right, start);
            self.nodes[root as usize].right = left;
            (root, right)
        } else {
            let (left, right) = self.split(node.left, start);
            self.nodes[root as usize].left = right;
            (left, root)
        }
    }

    /// Joins two trees, all of the first before all of the second.
    fn join(&mut self, left: u32, right: u32) -> u32 {
        if left == NIL || right == NIL {
            return if left == NIL { right } else { left };
        }
        if Self::rank(left) > Self::rank(right) {
            let joined = self.join(self.nodes[left as usize].right, right);
            self.nodes[left as usize].right = joined;
            left
        } else {
            let joined = self.join(left, self.nodes[right as usize].left);
            self.nodes[right as usize].left = joined;
            right
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Places of a byte map.
    const N_BYTES: usize = 80;

    /// Checks all that is kept against one flag per byte.
    fn check(extents: &Extents, bytes: &[bool; N_BYTES]) -> Result<(), TestCaseError> {
        let mut found = [false; N_BYTES];
        for range in extents.ranges(1) {
            found[range.start as usize..range.end as usize].fill(true);
        }
        prop_assert_eq!(&found, bytes);
        let mut clean = [true; N_BYTES];
        for range in extents.gaps(1, 0..N_BYTES as u64) {
            clean[range.start as usize..range.end as usize].fill(false);
        }
        prop_assert_eq!(&clean, bytes);
        let n_bytes = bytes.iter().filter(|is| **is).count() as u64;
        prop_assert_eq!(extents.n_bytes(), n_bytes);
        prop_assert_eq!(extents.n_bytes_of(1), n_bytes);
        prop_assert_eq!(extents.n_bytes_of(0), 0);
        prop_assert_eq!(extents.ranges(0).count(), 0);
        let (mut n_staying, mut idx) = (0, extents.volumes[1].oldest);
        while idx != NIL {
            n_staying += usize::from(!extents.nodes[idx as usize].is_leaving);
            idx = extents.nodes[idx as usize].newer;
        }
        prop_assert_eq!(extents.volumes[1].n_staying, n_staying);
        prop_assert_eq!(extents.oldest_staying(1).is_some(), n_staying > 0);
        prop_assert!(extents.nodes.len() <= extents.n_max, "more memory than was reserved");
        // What is counted as it goes is what counting at once gives.
        let mut counted = extents.clone();
        counted.count_before(1, extents.volumes[1].before);
        prop_assert_eq!(extents.n_bytes_before(1), counted.n_bytes_before(1));
        Ok(())
    }

    proptest! {
        /// Against one flag per byte: with room for all of them, and with little; in one region
        /// and in several, which share trees or not.
        #[test]
        fn ranges_are_what_a_byte_map_says(
            region_shift in prop_oneof![2_u32..7, Just(REGION_SHIFT)],
            n_trees in prop_oneof![Just(1_usize), Just(4), Just(64)],
            n_max in prop_oneof![1_usize..8, Just(1000)],
            steps in proptest::collection::vec((0..5_u8, 0..60_u64, 1..20_u64), 1..200)
        ) {
            let mut extents = Extents::with_regions(2, n_max, region_shift, n_trees);
            let mut bytes = [false; N_BYTES];
            let mut numbers = [0; N_BYTES];
            for (number, (step, start, len)) in steps.into_iter().enumerate() {
                let range = start..start + len;
                let within = start as usize..range.end as usize;
                if step == 3 {
                    // What is of the newer half of the writes stays.
                    let before = number / 2;
                    let mut cleaned = [false; N_BYTES];
                    extents.clean_before(1, range.clone(), before as u64, |part| {
                        cleaned[part.start as usize..part.end as usize].fill(true);
                    });
                    for at in 0..N_BYTES {
                        let is_wanted = within.contains(&at) && bytes[at] && numbers[at] < before;
                        prop_assert!(cleaned[at] >= is_wanted);
                        prop_assert!(cleaned[at] == is_wanted || n_max < 1000);
                        prop_assert!(!cleaned[at] || bytes[at] && numbers[at] < before);
                        bytes[at] &= !cleaned[at];
                    }
                } else if step == 0 {
                    let cleaned = extents.clean(1, range.clone());
                    prop_assert!(cleaned.start == start && cleaned.end >= range.end);
                    prop_assert!(cleaned.end == range.end || n_max < 1000);
                    bytes[start as usize..cleaned.end as usize].fill(false);
                } else if step == 1 {
                    if let Some((idx, _)) = extents.oldest_staying(1) {
                        extents.let_leave(1, idx, range.end);
                    }
                } else {
                    let is_leaving = step == 4;
                    let by = Dirtied { number: number as u64, now_ns: 0, is_leaving };
                    let is_dirty = extents.add(1, range.clone(), by);
                    prop_assert_eq!(is_dirty, extents.covers(1, range.clone()));
                    prop_assert!(is_dirty || extents.n_used == n_max);
                    // What was dirty stays so, and no more is left out than there is no room for.
                    let mut after = bytes;
                    after[within.clone()].fill(true);
                    for gap in extents.gaps(1, range) {
                        after[gap.start as usize..gap.end as usize].fill(false);
                    }
                    prop_assert!(bytes.iter().zip(&after).all(|(before, now)| now >= before));
                    let is_new = |at: &usize| after[*at] && !bytes[*at];
                    (0..N_BYTES).filter(is_new).for_each(|at| numbers[at] = number);
                    bytes = after;
                }
                check(&extents, &bytes)?;
                if number % 7 == 0 {
                    extents.count_before(1, number as u64 / 2);
                }
            }
        }
    }
}
