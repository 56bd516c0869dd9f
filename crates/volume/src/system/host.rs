//! The machine's host cache at work: hits, misses, and writes that reach the disk later.

use std::ops::Range;

use super::{Start, System, TIMER};
use crate::cache::{BlockCache, GroupSpot, Miss};
use crate::cap::{CapId, Demand};
use crate::design::{Backing, CacheMode, Design};
use crate::extents::{Dirtied, Extents};
use crate::io::{Io, IoKind, Stations};
use crate::lanes::{Piece, Task};
use crate::layout::VolumePlace;
use crate::slab::NIL;
use crate::unit::units;

/// How long data stays in a write-back cache only, unless a flush asks for it. What the provider
/// does is not published; a second lets blocks that are written again and again go once.
const DELAY_NS: u64 = 1_000_000_000;
/// Ranges that may be dirty at one time, for all volumes: half of a cache of 256 GiB in pages of
/// 8 KiB. A range takes 56 bytes while it is dirty, so all of them 0.9 GiB. When there are more, a
/// write goes through to its disk.
const N_DIRTY_MAX: u64 = 1 << 24;
/// Smaller writes than a sector are not counted on when room is made for what half of a cache
/// holds: half of 16 GiB and more, as nearly all sizes have, asks for the most.
const DIRTY_BYTES_MIN: u64 = 512;
/// Writes to one disk that the cache has under way by itself.
const N_LEAVING_PER_DISK: usize = 8;
/// Most that the cache writes at once: what counts as one operation on a premium disk.
const LEAVING_BYTES_MAX: u64 = 256 << 10;

/// What a write-back cache has dirty, and has taken since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirtyLevel {
    /// Bytes that are dirty.
    pub bytes: u64,
    /// Bytes that may be dirty, in ranges as long as they are: from there on writes wait for the
    /// disks.
    pub full_bytes: u64,
    /// The ranges that are [followed](N_DIRTY_MAX) are fewer than half of the cache holds.
    pub is_by_ranges: bool,
    /// Bytes that were written to it.
    pub written_bytes: u64,
}

/// The host cache of the machine.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) blocks: BlockCache,
    pub(crate) dirty: Extents,
    /// Dirty bytes at most: half of the cache.
    n_dirty_bytes_max: u64,
    /// Bytes that were written to it since the start.
    written_bytes: u64,
    volumes: Vec<WriteBehind>,
    /// Ranges that reached the disk; kept from the first question on.
    flushed: Vec<(u16, Range<u64>)>,
    keeps_flushed: bool,
}

/// Writing behind, for one volume.
#[derive(Clone, Debug, Default)]
struct WriteBehind {
    n_leaving: usize,
    is_timed: bool,
    /// Number before which every write is to leave at once: the machine's cache was changed after
    /// it.
    leaves_before: u64,
    left: FlushWaits,
}

/// What writes took that the cache sent to the disks while a flush waited.
#[derive(Clone, Debug, Default)]
struct FlushWaits {
    took_ns: u64,
    /// What each cap made them wait, by its position.
    held_ns: Vec<u64>,
}

impl FlushWaits {
    fn count(&mut self, piece: &Piece, now_ns: u64) {
        self.took_ns += now_ns.saturating_sub(piece.since_ns);
        if let Some(held_ns) = self.held_ns.get_mut(usize::from(piece.held_by.0)) {
            *held_ns += piece.held_ns;
        }
    }

    /// Returns the cap that most was waited for, and its part of `wait_ns`: as large as its part
    /// of what the writes took.
    fn blame(&self, wait_ns: u64) -> Option<(CapId, u64)> {
        let held = self.held_ns.iter().copied().enumerate();
        let (idx, held_ns) = held.max_by_key(|&(_, held_ns)| held_ns)?;
        let share = u128::from(held_ns.min(self.took_ns)) * u128::from(wait_ns);
        let part_ns = share.checked_div(u128::from(self.took_ns))? as u64;
        (part_ns > 0).then_some((CapId(idx as u16), part_ns))
    }
}

impl Host {
    pub(crate) fn new(design: &Design, start: Start) -> Host {
        let cache_bytes = design.vm.as_ref().and_then(|vm| vm.cache_bytes).unwrap_or(0);
        let n_volumes = design.volumes.len();
        let disks = || {
            design.volumes.iter().flat_map(|volume| match &volume.backing {
                Backing::Disks(stripe) => stripe.disks.as_slice(),
                Backing::Network(_) => &[],
            })
        };
        let writes_behind = disks().any(|disk| disk.cache == CacheMode::ReadWrite);
        let is_used = disks().any(|disk| disk.cache != CacheMode::None);
        let cache_bytes = if is_used { cache_bytes } else { 0 };
        let n_dirty_bytes_max = cache_bytes / 2;
        let n_dirty_max = (n_dirty_bytes_max / DIRTY_BYTES_MIN).clamp(1, N_DIRTY_MAX) as usize;
        Host {
            blocks: BlockCache::new(cache_bytes, n_volumes, start == Start::Warm),
            dirty: Extents::new(n_volumes, if writes_behind { n_dirty_max } else { 0 }),
            n_dirty_bytes_max,
            written_bytes: 0,
            volumes: vec![WriteBehind::default(); n_volumes],
            flushed: Vec::new(),
            keeps_flushed: false,
        }
    }

    /// Takes over what another cache holds dirty, and its blocks too if it was as large.
    pub(crate) fn adopt(&mut self, old: Host, with_blocks: bool) {
        let (n_old, n_new) = (old.volumes.len(), self.volumes.len());
        assert_eq!(n_old, n_new, "a cache of {n_new} volumes takes over one of {n_old}");
        if with_blocks {
            self.blocks = old.blocks;
        }
        let n_max = self.dirty.n_max();
        self.dirty = old.dirty;
        self.dirty.reserve(n_max);
        self.written_bytes = old.written_bytes;
        self.volumes = old.volumes;
        self.flushed = old.flushed;
        self.keeps_flushed = old.keeps_flushed;
    }

    /// Lets all that a volume has dirty leave at once: writes with a number below `number`.
    pub(crate) fn let_all_leave(&mut self, volume: u16, number: u64) {
        let leaves_before = &mut self.volumes[usize::from(volume)].leaves_before;
        let before = std::mem::replace(leaves_before, number);
        assert!(before <= number, "writes before {before} were let go, now those before {number}");
        self.dirty.count_before(volume, number);
    }

    /// Returns how much of a volume's dirty data was to leave at once and has not.
    pub(crate) fn n_bytes_to_leave(&self, volume: u16) -> u64 {
        self.dirty.n_bytes_before(volume)
    }

    /// Makes room to blame any of so many caps.
    pub(crate) fn reserve_caps(&mut self, n_caps: usize) {
        for behind in &mut self.volumes {
            let n_before = behind.left.held_ns.len();
            assert!(n_before <= n_caps, "of {n_before} caps {n_caps} are left");
            behind.left.held_ns.resize(n_caps, 0);
        }
    }

    /// A flush begins to wait; no other one of its volume does.
    pub(crate) fn begin_to_blame(&mut self, volume: u16) {
        let FlushWaits { took_ns, held_ns } = &mut self.volumes[usize::from(volume)].left;
        *took_ns = 0;
        held_ns.fill(0);
    }

    /// Returns what a flush waited for, if caps of the disks held what it waited for.
    pub(crate) fn blame(&self, volume: u16, wait_ns: u64) -> Option<(CapId, u64)> {
        self.volumes[usize::from(volume)].left.blame(wait_ns)
    }

    /// Loses everything.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.dirty.clear();
        for behind in &mut self.volumes {
            let held_ns = std::mem::take(&mut behind.left.held_ns);
            *behind =
                WriteBehind { left: FlushWaits { took_ns: 0, held_ns }, ..WriteBehind::default() };
        }
    }

    fn is_crowded(&self, pct: u64) -> bool {
        self.dirty.used_pct() as u64 >= pct
            || self.dirty.n_bytes() > self.n_dirty_bytes_max / 100 * pct
    }

    /// A write to a disk has ended. What was made dirty by writes with a number below `before` is
    /// there; what came later is not, as where a file was deleted while its data were on their way
    /// and another one has its place.
    fn reached_disk(&mut self, volume: u16, range: Range<u64>, before: u64) {
        let Host { dirty, flushed, keeps_flushed, .. } = self;
        let n_known = flushed.len();
        dirty.clean_before(volume, range, before, |part| match flushed[n_known..].last_mut() {
            Some((_, last)) if last.end == part.start => last.end = part.end,
            _ if *keeps_flushed => flushed.push((volume, part)),
            _ => {}
        });
    }
}

impl System {
    /// Puts a range into the cache without time passing, as far as its disks are cached.
    pub fn warm(&mut self, volume: u16, offset_bytes: u64, len_bytes: u64) {
        assert!(offset_bytes.checked_add(len_bytes).is_some(), "a range ends within 64 bits");
        let VolumePlace::Disks { first, .. } = self.layout.volumes[usize::from(volume)] else {
            return;
        };
        if self.layout.disks[usize::from(first)].cache != CacheMode::None {
            self.host.blocks.insert(volume, offset_bytes, len_bytes);
        }
    }

    /// Returns the addresses of the memory in which the host cache notes its blocks, and of that
    /// for what is dirty; empty where there is none. Up to 256 MiB, and up to 0.9 GiB that are
    /// reserved, are read all over the place: a caller can have its kernel back them by large
    /// pages.
    pub fn cache_memory(&self) -> [Range<usize>; 2] {
        [self.host.blocks.memory(), self.host.dirty.memory()]
    }

    /// Reports where an operation will probably be submitted next: what the host cache notes about
    /// the place is then fetched from memory in time. Changes nothing but how long that submission
    /// takes to compute.
    #[inline]
    pub fn expect(&self, volume: u16, offset_bytes: u64) {
        let VolumePlace::Disks { first, .. } = self.layout.volumes[usize::from(volume)] else {
            return;
        };
        let mode = self.layout.disks[usize::from(first)].cache;
        if mode != CacheMode::None {
            self.host.blocks.fetch(volume, offset_bytes);
        }
        if mode == CacheMode::ReadWrite {
            self.host.dirty.fetch(volume, offset_bytes);
        }
    }

    /// Returns how much a write-back cache has dirty, and has taken until now.
    pub fn dirty_level(&self) -> DirtyLevel {
        let Host { dirty, n_dirty_bytes_max, written_bytes, .. } = &self.host;
        let bytes = dirty.n_bytes();
        let by_bytes = bytes as f64 / (*n_dirty_bytes_max).max(1) as f64;
        let by_ranges = dirty.used_share();
        let is_by_ranges = by_ranges > by_bytes;
        let full_bytes =
            if is_by_ranges { (bytes as f64 / by_ranges) as u64 } else { *n_dirty_bytes_max };
        DirtyLevel { bytes, full_bytes, is_by_ranges, written_bytes: *written_bytes }
    }

    /// Returns the ranges of a volume that are in a write-back cache and not yet on its disks, in
    /// order of address.
    ///
    /// A write counts as dirty from its submission on, before it is done. What a flush brings to
    /// the disk is what the range holds when it arrives there. What the cache has no room to note
    /// goes through to the disk and counts as there from its submission on.
    pub fn dirty(&self, volume: u16) -> impl Iterator<Item = Range<u64>> + '_ {
        self.host.dirty.ranges(volume)
    }

    /// Appends the ranges, with their volumes, that reached the disks since the last call, in
    /// order of time. They are kept from the first call on.
    pub fn take_flushed(&mut self, out: &mut Vec<(u16, Range<u64>)>) {
        self.host.keeps_flushed = true;
        out.append(&mut self.host.flushed);
    }

    /// Forgets what is dirty of a range that holds nothing any more: it need not reach the disks,
    /// and no flush waits for it. A trim does so by itself.
    pub fn discard(&mut self, volume: u16, range: Range<u64>) {
        assert!(range.start <= range.end, "a range begins before it ends: {range:?}");
        if self.host.dirty.n_bytes_of(volume) == 0 {
            return;
        }
        let end = range.end;
        let discarded = self.host.dirty.clean(volume, range);
        // What had to become clean with it counts as on the disk.
        if discarded.end > end && self.host.keeps_flushed {
            self.host.flushed.push((volume, end..discarded.end));
        }
        self.complete_flushes(volume);
    }

    /// Returns the parts of a range that [`System::dirty`] does not name, in order of address.
    pub fn clean(&self, volume: u16, range: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        self.host.dirty.gaps(volume, range)
    }

    /// Returns whether any of a range is in a write-back cache and not yet on its disks, which is
    /// when [`System::take_flushed`] will name it.
    pub fn is_dirty(&self, volume: u16, range: &Range<u64>) -> bool {
        self.host.dirty.touches(volume, range)
    }

    /// Returns what is to be done about a piece on a disk whose cache takes no writes. What an
    /// earlier cache still has of the range is dirty together with it until it is on the disk.
    pub(crate) fn task_uncached(&mut self, io: &Io, offset: u64, len: u32, op: u32) -> Task {
        if io.kind == IoKind::Read || io.kind == IoKind::Trim || self.host.dirty.n_bytes() == 0 {
            return Task::Plain;
        }
        let range = offset..offset.saturating_add(u64::from(len));
        if !self.host.dirty.touches(io.volume, &range) {
            return Task::Plain;
        }
        let number = self.operations[op].number;
        let by = Dirtied { number, now_ns: self.now_ns, is_leaving: true };
        self.host.dirty.add(io.volume, range, by);
        Task::Through
    }

    /// Returns what is to be done about a piece on a cached disk.
    pub(crate) fn task(&mut self, io: &Io, offset: u64, len: u32, operation: u32) -> Task {
        if io.kind == IoKind::Read || io.kind == IoKind::Trim {
            return Task::Plain;
        }
        let is_crowded = self.host.is_crowded(100);
        let number = self.operations[operation].number;
        let range = offset..offset.saturating_add(u64::from(len));
        let goes_through = io.kind == IoKind::WriteThrough || is_crowded;
        // What goes to the disk by itself is not sent there by the cache as well.
        let by = Dirtied { number, now_ns: self.now_ns, is_leaving: goes_through };
        let fits = self.host.dirty.add(io.volume, range, by);
        self.host.written_bytes += u64::from(len);
        if goes_through || !fits { Task::Through } else { Task::Behind }
    }

    /// Serves a piece that has passed the caps of the cached path.
    pub(crate) fn serve_cached(&mut self, piece_idx: u32) {
        let Piece { volume, offset_bytes, len_bytes, disk, demand, .. } =
            self.lanes.pieces[piece_idx];
        let disk = &self.layout.disks[usize::from(disk)];
        let writes_behind = disk.cache == CacheMode::ReadWrite;
        let (lane, unit) = (disk.lane, disk.io_unit_bytes);
        if !demand.writes {
            let missing = self.host.blocks.read(volume, offset_bytes, len_bytes);
            let range = offset_bytes..offset_bytes.saturating_add(u64::from(len_bytes));
            match missing {
                Some(_) if writes_behind && self.host.dirty.covers(volume, range) => {
                    self.host.blocks.count_as_hit();
                }
                Some(Miss { len_bytes: bytes, spot }) => {
                    let demand = Demand { bytes, units: units(bytes, unit), writes: false };
                    let piece = &mut self.lanes.pieces[piece_idx];
                    piece.demand = demand;
                    piece.spot = spot;
                    piece.task = Task::Fill;
                    piece.stations = piece.stations.and(Stations::DISKS);
                    self.join(lane, piece_idx);
                    return;
                }
                None => {}
            }
            self.end_from_cache(piece_idx);
            return;
        }
        // What a write-back cache takes goes on to the disk, later.
        let piece = &mut self.lanes.pieces[piece_idx];
        piece.stations = piece.stations.and(Stations::DISKS);
        let task = piece.task;
        if writes_behind {
            self.host.blocks.insert(volume, offset_bytes, u64::from(len_bytes));
        }
        if task == Task::Behind {
            self.end_from_cache(piece_idx);
        } else {
            self.join(lane, piece_idx);
        }
    }

    /// Does what a piece's task asks for once it is complete. Its place was given back: it is read
    /// before anything else can take it.
    #[inline]
    pub(crate) fn do_task(&mut self, piece_idx: u32) {
        let piece = &self.lanes.pieces[piece_idx];
        let (volume, task, parent) = (piece.volume, piece.task, piece.parent);
        match task {
            Task::Plain | Task::Commit => {}
            Task::Fill => {
                let Piece { spot, offset_bytes, len_bytes, .. } = *piece;
                self.host.blocks.fill(spot, volume, offset_bytes, len_bytes);
            }
            Task::Behind => self.write_behind(volume),
            Task::Through | Task::Leave => {
                let end = piece.offset_bytes.saturating_add(u64::from(piece.len_bytes));
                // A write through takes with it what was dirty there before.
                let own = |parent| self.operations[parent].number + 1;
                let before = if task == Task::Leave { piece.id } else { own(parent) };
                self.host.reached_disk(volume, piece.offset_bytes..end, before);
                let behind = &mut self.host.volumes[usize::from(volume)];
                behind.left.count(piece, self.now_ns);
                if task == Task::Leave {
                    behind.n_leaving -= 1;
                }
                self.write_behind(volume);
                self.complete_flushes(volume);
            }
        }
    }

    /// The time of a volume's oldest dirty range has come.
    pub(crate) fn write_behind_due(&mut self, volume: u16) {
        self.host.volumes[usize::from(volume)].is_timed = false;
        self.write_behind(volume);
    }

    /// Sends dirty ranges to their disks: those that a flush waits for, those that are old, and all
    /// when there are many.
    pub(crate) fn write_behind(&mut self, volume: u16) {
        let VolumePlace::Disks { first, map } = &self.layout.volumes[usize::from(volume)] else {
            return;
        };
        let (first, map) = (*first, map.clone());
        let n_leaving_max = N_LEAVING_PER_DISK * map.n_disks();
        let keeps = self.layout.disks[usize::from(first)].cache == CacheMode::ReadWrite;
        let flush_number = self.orders[usize::from(volume)].flush_number();
        while self.host.volumes[usize::from(volume)].n_leaving < n_leaving_max {
            let Some((idx, extent)) = self.host.dirty.oldest_staying(volume) else { return };
            let due_ns = extent.since_ns.saturating_add(DELAY_NS);
            let leaves_before = self.host.volumes[usize::from(volume)].leaves_before;
            let is_wanted = extent.number < flush_number.max(leaves_before)
                || !keeps
                || self.host.is_crowded(50);
            if !is_wanted && due_ns > self.now_ns {
                let behind = &mut self.host.volumes[usize::from(volume)];
                if !behind.is_timed {
                    behind.is_timed = true;
                    self.ends.push(due_ns, TIMER | u32::from(volume));
                }
                return;
            }
            let piece_max = extent.start.saturating_add(LEAVING_BYTES_MAX);
            let in_chunk = map.piece_bytes(extent.start, LEAVING_BYTES_MAX as u32);
            let until = extent.start.saturating_add(u64::from(in_chunk)).min(piece_max);
            let end = self.host.dirty.let_leave(volume, idx, until);
            self.host.volumes[usize::from(volume)].n_leaving += 1;
            let disk = first + map.disk(extent.start) as u16;
            self.send_behind(volume, disk, extent.start..end);
        }
    }

    /// Sends a write of the cache's own to a disk.
    fn send_behind(&mut self, volume: u16, disk: u16, range: Range<u64>) {
        let len_bytes = (range.end - range.start) as u32;
        let place = &self.layout.disks[usize::from(disk)];
        let (lane, n_units) = (place.lane, units(len_bytes, place.io_unit_bytes));
        let piece = self.lanes.pieces.insert(Piece {
            next: NIL,
            parent: NIL,
            id: self.orders[usize::from(volume)].next_number(),
            offset_bytes: range.start,
            len_bytes,
            demand: Demand { bytes: len_bytes, units: n_units, writes: true },
            since_ns: self.now_ns,
            held_ns: 0,
            held_by: CapId::NONE,
            stations: Stations::DISKS,
            disk,
            volume,
            task: Task::Leave,
            spot: GroupSpot::UNKNOWN,
        });
        self.join(lane, piece);
    }
}
