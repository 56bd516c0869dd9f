//! The walk that can do everything: sequential, strided, mixed, and random with all its options.

use plan::workload::{Sequencer, Strided, Workload};
use plan::{Direction, PerDir};

use super::order::{Order, n_places};
use super::{Extent, Region, dirs, is_once, random_size};
use crate::error::PatternError;
use crate::rng::{Chance, Rng, Stream};
use crate::sizes::Sizes;

/// One direction's place in the walk.
#[derive(Clone, Debug)]
struct Position {
    /// Sizes of random I/O, and of sequential I/O unless it has its own.
    sizes: Sizes,
    /// Sizes of sequential I/O, when they differ by pattern and not by direction.
    sequential_sizes: Option<Sizes>,
    align_bytes: u64,
    /// Chance that an I/O is a random one; `None` is always.
    random: Option<Chance>,
    /// Random places, and where walks start, are multiples of a size of their own.
    is_aligned: bool,
    /// The last I/O since the start of the walk or zone, of this direction unless all share one.
    last: Option<Extent>,
    /// Where a sequential walk starts.
    first_bytes: u64,
}

impl Position {
    fn sequential_sizes(&mut self) -> &mut Sizes {
        self.sequential_sizes.as_mut().unwrap_or(&mut self.sizes)
    }

    /// Goes forward from the last I/O by the first number of bytes and a random number of whole
    /// I/Os up to the second; at first, and past the end, to the start.
    fn skip(&mut self, (min, max): (u64, u64), window: Region, rng: &mut Rng) -> Extent {
        let len = self.sizes.next(window.len_bytes);
        let unit = if self.is_aligned { self.align_bytes } else { u64::from(len).max(1) };
        let more = rng.bounded(max.saturating_sub(min) / unit + 1) * unit;
        let offset = self.last.map(|last| last.end().saturating_add(min).saturating_add(more));
        let has_room = |offset: &u64| offset.saturating_add(len.into()) <= window.end_bytes();
        Extent { offset: offset.filter(has_room).unwrap_or(window.start_bytes), len }
    }
}

/// Zones worked one after another.
#[derive(Clone, Debug)]
struct Zones {
    region: Region,
    /// Bytes done before going on.
    quota_bytes: u64,
    range_bytes: u64,
    stride_bytes: u64,
    done_bytes: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct General {
    is_random: bool,
    trim_then_write: bool,
    sequencer: Sequencer,
    one_cursor: bool,
    /// All that an I/O follows from is where the one before it ended.
    goes_on_from_one: bool,
    ends_with_region: bool,
    skip_bytes: Option<(u64, u64)>,
    starts_anywhere: bool,
    step_bytes: i64,
    ios_per_draw: u32,
    /// I/Os left until the next draw, this one included.
    ios_to_draw: u32,
    /// The part of the region at work: all of it, or a zone.
    window: Region,
    zones: Option<Zones>,
    /// Smallest block of any direction: a zone must have room for it.
    min_bytes: u32,
    positions: PerDir<Option<Position>>,
    order: Order,
    /// Counts orders: passes, or rounds of zones.
    round: u64,
    offset_rng: Rng,
    walk_rng: Rng,
    seed: u64,
}

impl General {
    /// Builds the walk at the start of its first pass. `seed` is the file's own.
    pub(super) fn new(
        workload: &Workload,
        region: Region,
        seed: u64,
    ) -> Result<Self, PatternError> {
        let zones = workload.strided.map(|strided| Zones::new(strided, region));
        let window = zones.as_ref().map_or(region, Zones::first_window);
        let mut positions = PerDir::default();
        let mut aligns = PerDir::all(1);
        let mut min_bytes = 1;
        for dir in dirs(workload) {
            let position = position(workload, dir, seed)?;
            aligns[dir] = position.align_bytes;
            let dir_min_bytes = [Some(&position.sizes), position.sequential_sizes.as_ref()]
                .into_iter()
                .flatten()
                .map(Sizes::min_bytes)
                .fold(0, u32::max);
            min_bytes = min_bytes.max(dir_min_bytes);
            positions[dir] = Some(position);
        }
        if window.len_bytes < u64::from(min_bytes) {
            let (region_bytes, block_bytes) = (window.len_bytes, min_bytes);
            return Err(PatternError::RegionTooSmall { region_bytes, block_bytes });
        }
        let mut order = if workload.access.random {
            Order::new(workload, window.len_bytes, aligns, seed)?
        } else {
            Order::Repeats(Box::default())
        };
        order.restart(window.len_bytes, seed, 0);
        let mut walk = General {
            is_random: workload.access.random,
            trim_then_write: workload.access.trim_then_write,
            sequencer: workload.sequencer,
            one_cursor: workload.one_cursor,
            goes_on_from_one: Division::of(workload) == Some(Division::Together),
            ends_with_region: workload.ends_with_region && !workload.access.random,
            skip_bytes: workload.skip_bytes.filter(|_| workload.access.random),
            starts_anywhere: workload.starts_anywhere && workload.strided.is_none(),
            step_bytes: workload.sequential_step_bytes,
            ios_per_draw: workload.ios_per_draw.max(1),
            ios_to_draw: 1,
            window,
            zones,
            min_bytes,
            positions,
            order,
            round: 0,
            offset_rng: Rng::for_stream(seed, Stream::Offset, 0),
            walk_rng: Rng::for_stream(seed, Stream::Walk, 0),
            seed,
        };
        walk.begin();
        Ok(walk)
    }

    pub(super) fn is_random(&self) -> bool {
        self.is_random
    }

    pub(super) fn map_bytes(&self) -> u64 {
        self.order.map_bytes()
    }

    /// See [`Division::Together`].
    pub(super) fn goes_on_from_one(&self) -> bool {
        self.goes_on_from_one
    }

    /// Returns whether the walk is over at the end of its region.
    pub(super) fn ends_with_region(&self) -> bool {
        self.ends_with_region
    }

    /// Returns where the walk begins.
    pub(super) fn first_bytes(&self) -> u64 {
        let mut positions = self.positions.iter().filter_map(|(_, position)| position.as_ref());
        positions.next().map_or(self.window.start_bytes, |position| position.first_bytes)
    }

    /// Goes on as if an I/O had just ended at `end_bytes`; `None` is a walk that begins, at
    /// `first_bytes`.
    #[inline]
    pub(super) fn go_on_from(&mut self, end_bytes: Option<u64>, first_bytes: u64) {
        let last = end_bytes.map(|offset| Extent { offset, len: 0 });
        for position in self.positions.iter_mut().flatten() {
            (position.last, position.first_bytes) = (last, first_bytes);
        }
    }

    /// Goes back to the start in one direction of a sequential walk, or in all that share it.
    pub(super) fn rewind(&mut self, dir: Direction) {
        let start_bytes = self.window.start_bytes;
        for other in Direction::ALL {
            if let Some(position) = &mut self.positions[other]
                && (other == dir || self.one_cursor)
            {
                position.last = None;
                position.first_bytes = start_bytes;
            }
        }
    }

    /// Goes in all directions to where a pass begins.
    fn begin(&mut self) {
        for dir in Direction::ALL {
            self.rewind(dir);
        }
        if !self.starts_anywhere {
            return;
        }
        let window = self.window;
        for dir in Direction::ALL {
            let Some(position) = &mut self.positions[dir] else { continue };
            let idx = if self.one_cursor { 0 } else { dir as u64 };
            let mut rng = Rng::for_stream(self.seed, Stream::Start, idx);
            let min_bytes = u64::from(position.sequential_sizes().min_bytes());
            let n_places = n_places(window.len_bytes, min_bytes, position.align_bytes);
            // Not the start itself, unless there is nothing else.
            let place = if n_places > 1 { 1 + rng.bounded(n_places - 1) } else { 0 };
            position.first_bytes = window.start_bytes + place * position.align_bytes;
        }
    }

    /// Goes back to the start in all directions and takes another order.
    pub(super) fn next_pass(&mut self) {
        if let Some(zones) = &mut self.zones {
            zones.done_bytes = 0;
            self.window = zones.first_window();
        }
        self.enter_window();
    }

    /// Returns where the next I/O goes.
    pub(super) fn next(&mut self, dir: Direction) -> Option<Extent> {
        if self.trim_then_write && dir == Direction::Write {
            return self.positions.trim.as_ref().and_then(|position| position.last);
        }
        if let Some(zones) = &mut self.zones {
            // The change waits for the next I/O, so that a write can follow its trim.
            if let Some(window) = zones.advance(self.window, self.min_bytes) {
                self.window = window;
                self.enter_window();
            }
        }
        let extent = if self.is_random { self.next_random(dir) } else { self.next_sequential(dir) };
        let extent = extent?;
        if let Some(zones) = &mut self.zones {
            zones.done_bytes += u64::from(extent.len);
        }
        if self.one_cursor {
            for position in self.positions.iter_mut().flatten() {
                position.last = Some(extent);
            }
        } else {
            self.positions[dir].as_mut()?.last = Some(extent);
        }
        Some(extent)
    }

    /// Starts afresh in the current window.
    fn enter_window(&mut self) {
        self.round += 1;
        self.order.restart(self.window.len_bytes, self.seed, self.round);
        self.ios_to_draw = 1;
        self.begin();
    }

    fn next_random(&mut self, dir: Direction) -> Option<Extent> {
        let position = self.positions[dir].as_mut()?;
        self.ios_to_draw -= 1;
        let is_draw_due = self.ios_to_draw == 0;
        if is_draw_due {
            self.ios_to_draw = self.ios_per_draw;
            if position.random.is_none_or(|chance| self.walk_rng.chance(chance)) {
                return self.draw(dir);
            }
        } else if self.sequencer == Sequencer::Identical
            && let Some(last) = position.last
        {
            let len = position.sizes.next(self.window.end_bytes() - last.offset);
            return Some(Extent { offset: last.offset, len });
        }
        let start = position.last.map_or(self.window.start_bytes, Extent::end);
        let room = self.window.end_bytes().saturating_sub(start);
        let sizes = position.sequential_sizes();
        if room >= u64::from(sizes.min_bytes()) {
            return Some(Extent { offset: start, len: sizes.next(room) });
        }
        if self.one_cursor {
            let offset = self.window.start_bytes;
            return Some(Extent { offset, len: sizes.next(self.window.len_bytes) });
        }
        self.draw(dir)
    }

    /// Draws a random place. In a zone whose blocks are all visited, starts over.
    fn draw(&mut self, dir: Direction) -> Option<Extent> {
        let position = self.positions[dir].as_mut()?;
        let rng = &mut self.offset_rng;
        if let Some(skip_bytes) = self.skip_bytes {
            return Some(position.skip(skip_bytes, self.window, rng));
        }
        let (align, sizes) = (position.align_bytes, &mut position.sizes);
        if let Some(extent) = self.order.next(dir, self.window, align, sizes, rng) {
            return Some(extent);
        }
        if self.zones.is_none() {
            self.ios_to_draw = 1;
            return None;
        }
        self.round += 1;
        self.order.restart(self.window.len_bytes, self.seed, self.round);
        self.order.next(dir, self.window, align, sizes, rng)
    }

    fn next_sequential(&mut self, dir: Direction) -> Option<Extent> {
        let (window, step_bytes) = (self.window, self.step_bytes);
        let is_strided = self.zones.is_some();
        let position = self.positions[dir].as_mut()?;
        let (last, first_bytes) = (position.last, position.first_bytes);
        let sizes = position.sequential_sizes();
        let min_bytes = u64::from(sizes.min_bytes());
        let offset = match last {
            None => first_bytes,
            Some(last) => match follow(last.end(), step_bytes, window, min_bytes) {
                Some(offset) => offset,
                None if is_strided => window.start_bytes,
                None => return None,
            },
        };
        Some(Extent { offset, len: sizes.next(window.end_bytes() - offset) })
    }
}

/// Returns where a sequential walk goes on after an I/O that ended at `last_end`.
///
/// `None` at the window's end, and where a step leaves less than a block before it. A step over the
/// end wraps to the start, and a step back over the start wraps to the end, where it is applied
/// again; all as fio does.
fn follow(last_end: u64, step_bytes: i64, window: Region, min_bytes: u64) -> Option<u64> {
    let has_room = |offset: u64| offset.saturating_add(min_bytes) <= window.end_bytes();
    if step_bytes == 0 {
        return has_room(last_end).then_some(last_end);
    }
    if last_end >= window.end_bytes() {
        return None;
    }
    let is_within = |offset: &u64| *offset < window.end_bytes();
    if last_end.checked_add_signed(step_bytes).filter(is_within).is_some_and(|it| !has_room(it)) {
        return None;
    }
    let stepped = |from: u64| {
        from.checked_add_signed(step_bytes)
            .filter(|&offset| offset >= window.start_bytes && has_room(offset))
    };
    let wrapped = || if step_bytes < 0 { stepped(window.end_bytes()) } else { None };
    Some(stepped(last_end).or_else(wrapped).unwrap_or(window.start_bytes))
}

fn position(workload: &Workload, dir: Direction, seed: u64) -> Result<Position, PatternError> {
    let sizes = |size, idx| Sizes::new(size, workload.block_unaligned, seed, idx);
    let idx = dir as u64;
    // By pattern, the size given for reads is for sequential I/O.
    let sequential_idx = idx + Direction::ALL.len() as u64;
    let sequential_sizes = workload
        .block_size_by_pattern
        .then(|| sizes(&workload.block_size.read, sequential_idx))
        .transpose()?;
    let sizes = sizes(random_size(workload, dir), idx)?;
    let align = workload.block_align[dir].unwrap_or(sizes.min_bytes());
    if align == 0 {
        return Err(PatternError::BlockSize { min_bytes: 0, max_bytes: sizes.max_bytes() });
    }
    let random_pct = workload.random_pct[dir];
    let random = (random_pct < 100.0).then(|| Chance::from_pct(random_pct));
    let align_bytes = u64::from(align);
    let is_aligned = workload.block_align[dir].is_some();
    Ok(Position {
        sizes,
        sequential_sizes,
        align_bytes,
        random,
        is_aligned,
        last: None,
        first_bytes: 0,
    })
}

impl Zones {
    fn new(strided: Strided, region: Region) -> Self {
        let quota_bytes = strided.zone_size_bytes;
        let range_bytes = match strided.zone_range_bytes {
            0 => quota_bytes,
            range_bytes => range_bytes,
        };
        let stride_bytes = range_bytes.saturating_add(strided.zone_skip_bytes);
        Zones { region, quota_bytes, range_bytes, stride_bytes, done_bytes: 0 }
    }

    fn window_at(&self, start_bytes: u64) -> Region {
        let left_bytes = self.region.end_bytes() - start_bytes;
        Region { start_bytes, len_bytes: self.range_bytes.min(left_bytes) }
    }

    fn first_window(&self) -> Region {
        self.window_at(self.region.start_bytes)
    }

    /// Returns the next zone when the current one has had its bytes.
    fn advance(&mut self, current: Region, min_bytes: u32) -> Option<Region> {
        if self.done_bytes < self.quota_bytes || self.done_bytes == 0 {
            return None;
        }
        self.done_bytes = 0;
        let start_bytes = current.start_bytes.saturating_add(self.stride_bytes);
        let has_room = start_bytes.saturating_add(u64::from(min_bytes)) <= self.region.end_bytes();
        Some(if has_room { self.window_at(start_bytes) } else { self.first_window() })
    }
}

/// How several workers can do the work of one, each with a part of the I/Os in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Each I/O is drawn by itself: each worker draws its own.
    Apart,
    /// An I/O goes on where the one before it ended: the workers share a [`Cursor`](super::Cursor)
    /// ([`super::Offsets::share`]).
    Together,
}

impl Division {
    /// Returns how a workload can be divided; `None` where an I/O follows from more than where the
    /// one before it ended.
    pub fn of(workload: &Workload) -> Option<Self> {
        let is_simple = !workload.access.trim_then_write
            && workload.ios_per_draw <= 1
            && workload.strided.is_none()
            && (workload.trim_pct, workload.trim_backlog) == (0, 0)
            && workload.recordings.is_empty();
        if !is_simple {
            return None;
        }
        let draws_all = dirs(workload).all(|dir| workload.random_pct[dir] >= 100.0);
        if workload.access.random && draws_all && workload.skip_bytes.is_none() {
            return Some(Division::Apart);
        }
        let goes_on_from_one = workload.one_cursor || dirs(workload).count() == 1;
        let remembers = workload.access.random && is_once(workload);
        (goes_on_from_one && !remembers).then_some(Division::Together)
    }
}
