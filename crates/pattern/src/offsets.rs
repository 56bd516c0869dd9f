//! Where the next I/O of a file goes.
//!
//! [`Offsets`] is built per worker and file. It walks one region, in passes: sequential I/O from
//! start to end, random I/O over every block once (`no_repeats`) or with independent draws. All
//! directions share the blocks of a pass; each has its own position. It knows nothing of amounts,
//! loops and time: it says `None` at the end of a pass, and the worker decides what follows.
//!
//! Memory is constant but for mixed block sizes without repeats ([`crate::map`]: one bit per
//! smallest block).

mod composite;
mod general;
mod lengths;
mod order;
mod shared;

use std::sync::Arc;

use plan::workload::{BlockSize, Distribution, RandomGenerator, Workload};
use plan::{Direction, PerDir};

use crate::error::PatternError;
use crate::permutation::Permutation;
use crate::rng::{Rng, Stream, derive};
use composite::Composite;
use general::General;
use lengths::ByLength;
use shared::Shared;

pub use general::Division;
pub use shared::Cursor;

/// One I/O's place: `len` bytes at `offset`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extent {
    /// First byte, counted from the start of the file or device.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

impl Extent {
    /// Returns the first byte after it.
    #[inline]
    pub fn end(self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// The part of a file or device that a worker addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte.
    pub start_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
}

impl Region {
    /// Returns the first byte after it.
    #[inline]
    pub fn end_bytes(self) -> u64 {
        self.start_bytes + self.len_bytes
    }
}

/// The offsets and lengths of one worker's I/O to one file.
///
/// A clone goes on with the same sequence: a clone taken at the start of a pass generates the pass
/// again, for verification without memory.
#[derive(Clone, Debug)]
pub struct Offsets {
    walk: Walk,
    pass: u64,
}

/// The common walks stand apart, so that they cost no more than their arithmetic.
#[derive(Clone, Debug)]
enum Walk {
    Repeats(FixedRepeats),
    Once(FixedOnce),
    ByLength(Box<ByLength>),
    General(Box<General>),
    Composite(Box<Composite>),
    Shared(Box<Shared>),
}

impl Offsets {
    /// Builds the offsets of the worker with this seed for its `file_idx`-th file.
    ///
    /// Blocks start at the region's start. What is left after the last whole block is not touched.
    /// Without `no_repeats`, with a distribution other than uniform, or with an alignment other
    /// than the block size, draws are independent, as with fio. The generator `Lfsr` implies
    /// `no_repeats`. A hit area and streams take parts of the region, whole largest blocks each.
    pub fn new(
        workload: &Workload,
        region: Region,
        seed: u64,
        file_idx: u32,
    ) -> Result<Self, PatternError> {
        let in_range =
            region.start_bytes.checked_add(region.len_bytes).is_some_and(|e| e >> 63 == 0);
        if !in_range {
            let Region { start_bytes, len_bytes } = region;
            return Err(PatternError::RegionTooLarge { start_bytes, len_bytes });
        }
        Offsets::seeded(workload, region, derive(seed, Stream::Target, u64::from(file_idx)))
    }

    /// Builds the offsets with a seed that is the file's own.
    fn seeded(workload: &Workload, region: Region, seed: u64) -> Result<Self, PatternError> {
        if let Some(composite) = Composite::new(workload, region, seed)? {
            return Ok(Offsets { walk: Walk::Composite(Box::new(composite)), pass: 0 });
        }
        let fixed = fixed_block(workload).filter(|(len, align)| *len > 0 && *align > 0);
        let walk = match fixed {
            Some((len, _)) if region.len_bytes < u64::from(len) => {
                let (region_bytes, block_bytes) = (region.len_bytes, len);
                return Err(PatternError::RegionTooSmall { region_bytes, block_bytes });
            }
            Some((len, align)) if is_once(workload) && u64::from(len) == align => {
                Walk::Once(FixedOnce::new(region, len, seed))
            }
            Some((len, align)) => Walk::Repeats(FixedRepeats {
                start_bytes: region.start_bytes,
                align_bytes: align,
                n_blocks: (region.len_bytes - u64::from(len)) / align + 1,
                len,
                rng: Rng::for_stream(seed, Stream::Offset, 0),
            }),
            None => match ByLength::new(workload, region, seed)? {
                Some(by_length) => Walk::ByLength(Box::new(by_length)),
                None => Walk::General(Box::new(General::new(workload, region, seed)?)),
            },
        };
        Ok(Offsets { walk, pass: 0 })
    }

    /// Returns where the next I/O in direction `dir` goes, or `None` at the end of the pass.
    ///
    /// `None` comes from a sequential walk at the region's end, and from a random walk without
    /// repeats after its last block; [`Offsets::restart`] starts over. Walks with repeats and
    /// strided walks never end. A direction that the workload does not issue yields `None`. With
    /// `trim_then_write`, a write goes where the trim before it went.
    #[inline]
    pub fn next(&mut self, dir: Direction) -> Option<Extent> {
        match &mut self.walk {
            Walk::Repeats(walk) => Some(walk.next()),
            Walk::Once(walk) => walk.next(),
            Walk::ByLength(walk) => walk.next(dir),
            Walk::General(walk) => walk.next(dir),
            Walk::Composite(walk) => walk.next(dir),
            Walk::Shared(walk) => {
                let mut claimed = [Extent::default()];
                (walk.fill(dir, &mut claimed) == 1).then_some(claimed[0])
            }
        }
    }

    /// Fills `out` with what as many calls of [`Offsets::next`] would return.
    ///
    /// Returns how many are filled: fewer than asked for only at the end of the pass.
    #[inline]
    pub fn fill(&mut self, dir: Direction, out: &mut [Extent]) -> usize {
        #[expect(
            clippy::inline_always,
            reason = "without, it saves and restores registers for each place"
        )]
        #[inline(always)]
        fn fill(out: &mut [Extent], mut next: impl FnMut() -> Option<Extent>) -> usize {
            for (n_filled, place) in out.iter_mut().enumerate() {
                match next() {
                    Some(extent) => *place = extent,
                    None => return n_filled,
                }
            }
            out.len()
        }
        match &mut self.walk {
            Walk::Repeats(walk) => fill(out, || Some(walk.next())),
            Walk::Once(walk) => fill(out, || walk.next()),
            Walk::ByLength(walk) => fill(out, || walk.next(dir)),
            Walk::General(walk) => fill(out, || walk.next(dir)),
            Walk::Composite(walk) => fill(out, || walk.next(dir)),
            Walk::Shared(walk) => walk.fill(dir, out),
        }
    }

    /// Starts over in one direction, after its end of the pass.
    ///
    /// A sequential walk goes back to the start in this direction only, unless all directions share
    /// one cursor. A random walk, whose blocks all directions share, starts a new pass.
    pub fn restart(&mut self, dir: Direction) {
        match &mut self.walk {
            Walk::General(walk) if !walk.is_random() => walk.rewind(dir),
            Walk::Composite(walk) => walk.restart(dir),
            // It goes round by itself.
            Walk::Shared(_) => {}
            Walk::Repeats(_) | Walk::Once(_) | Walk::ByLength(_) | Walk::General(_) => {
                self.next_pass();
            }
        }
    }

    /// Starts a new pass in all directions: other draws, and without repeats another order.
    pub fn next_pass(&mut self) {
        self.pass += 1;
        match &mut self.walk {
            // What is shared goes round by itself.
            Walk::Repeats(_) | Walk::ByLength(_) | Walk::Shared(_) => {}
            Walk::Once(walk) => walk.start_pass(self.pass),
            Walk::General(walk) => walk.next_pass(),
            Walk::Composite(walk) => walk.next_pass(),
        }
    }

    /// Does the walk together with others: what follows from where the I/O before it ended goes on
    /// where the last of any of them ended. Before the first I/O, for all who walk together, with
    /// the same workload and region.
    ///
    /// `cursor` gives the cursor of a walk that begins at a place: the first worker makes it, and
    /// the others take the same. It is asked once for each walk of the workload that has one,
    /// always in the same order. Returns whether it was asked: not for draws that follow from
    /// nothing.
    ///
    /// A walk that goes round does so without a [`Offsets::restart`], once for all.
    ///
    /// # Panics
    /// After a pass.
    pub fn share(&mut self, cursor: &mut dyn FnMut(u64) -> Arc<Cursor>) -> bool {
        assert!(self.pass == 0, "a walk is shared in pass {}, not before it begins", self.pass);
        match &mut self.walk {
            Walk::General(walk) if walk.goes_on_from_one() => {
                let cursor = cursor(walk.first_bytes());
                self.walk = Walk::Shared(Box::new(Shared::new((**walk).clone(), cursor)));
                true
            }
            Walk::Composite(walk) => walk.share(cursor),
            Walk::Repeats(_)
            | Walk::Once(_)
            | Walk::ByLength(_)
            | Walk::General(_)
            | Walk::Shared(_) => false,
        }
    }

    /// Returns what the offsets of one file of this workload take, about and in bytes, less maps of
    /// visited blocks.
    pub fn about_bytes(workload: &Workload) -> u64 {
        // Sizes by chance lie beside the walk.
        let of_walk = if fixed_block(workload).is_some() { 0 } else { size_of::<General>() + 512 };
        (size_of::<Offsets>() + of_walk) as u64
    }

    /// Returns the number of passes before this one.
    pub fn pass(&self) -> u64 {
        self.pass
    }

    /// Returns the bytes of the map of visited blocks, 0 for walks that need none.
    pub fn map_bytes(&self) -> u64 {
        match &self.walk {
            Walk::General(walk) => walk.map_bytes(),
            Walk::Composite(walk) => walk.map_bytes(),
            Walk::Repeats(_) | Walk::Once(_) | Walk::ByLength(_) | Walk::Shared(_) => 0,
        }
    }
}

/// Returns whether every block is visited once per pass.
fn is_once(workload: &Workload) -> bool {
    let is_uniform =
        dirs(workload).all(|dir| matches!(workload.distribution[dir], Distribution::Uniform));
    let is_aligned_to_size = dirs(workload).all(|dir| {
        workload.block_align[dir].is_none_or(|align| align == workload.block_size[dir].min())
    });
    let asked = workload.no_repeats || workload.generator == RandomGenerator::Lfsr;
    asked && is_uniform && is_aligned_to_size && workload.skip_bytes.is_none()
}

/// Returns whether each I/O is drawn by itself, wherever those before it went.
fn is_plain_random(workload: &Workload) -> bool {
    workload.access.random
        && !workload.access.trim_then_write
        && !workload.block_size_by_pattern
        && workload.strided.is_none()
        && workload.skip_bytes.is_none()
        && workload.ios_per_draw <= 1
}

/// Returns the one block size and alignment when each I/O is a uniform draw of such a block.
fn fixed_block(workload: &Workload) -> Option<(u32, u64)> {
    if !is_plain_random(workload) {
        return None;
    }
    let mut block = None;
    for dir in dirs(workload) {
        let size = &workload.block_size[dir];
        let this = (size.min(), u64::from(workload.block_align[dir].unwrap_or(size.min())));
        let is_same = size.min() == size.max() && *block.get_or_insert(this) == this;
        let is_uniform = matches!(workload.distribution[dir], Distribution::Uniform);
        if !is_same || !is_uniform || workload.random_pct[dir] < 100.0 {
            return None;
        }
    }
    block
}

/// Returns the block sizes of random I/O. By pattern, the size given for writes is for random I/O.
fn random_size(workload: &Workload, dir: Direction) -> &BlockSize {
    let size = &workload.block_size;
    if workload.block_size_by_pattern { &size.write } else { &size[dir] }
}

/// Returns the largest block of any direction that the workload issues, in bytes.
fn largest_block(workload: &Workload) -> u32 {
    let size = |dir| random_size(workload, dir).max().max(workload.block_size[dir].max());
    dirs(workload).map(size).max().unwrap_or(1).max(1)
}

/// Iterates over the directions that the workload issues.
fn dirs(workload: &Workload) -> impl Iterator<Item = Direction> + use<> {
    let access = workload.access;
    let issues = PerDir {
        read: access.read,
        write: access.write || access.trim_then_write,
        trim: access.trim || access.trim_then_write,
    };
    Direction::ALL.into_iter().filter(move |&dir| issues[dir])
}

/// Independent, equally likely draws of equal blocks.
#[derive(Clone, Debug)]
struct FixedRepeats {
    start_bytes: u64,
    align_bytes: u64,
    n_blocks: u64,
    len: u32,
    rng: Rng,
}

impl FixedRepeats {
    #[inline]
    fn next(&mut self) -> Extent {
        let block = self.rng.bounded(self.n_blocks);
        Extent { offset: self.start_bytes + block * self.align_bytes, len: self.len }
    }
}

/// Equal blocks, each once per pass.
#[derive(Clone, Debug)]
struct FixedOnce {
    start_bytes: u64,
    len: u32,
    order: Permutation,
    next_idx: u64,
    seed: u64,
}

impl FixedOnce {
    fn new(region: Region, len: u32, seed: u64) -> Self {
        let order = Permutation::new(region.len_bytes / u64::from(len), 0);
        let start_bytes = region.start_bytes;
        let mut walk = FixedOnce { start_bytes, len, order, next_idx: 0, seed };
        walk.start_pass(0);
        walk
    }

    fn start_pass(&mut self, pass: u64) {
        self.order.rekey(derive(self.seed, Stream::Pass, pass));
        self.next_idx = 0;
    }

    #[inline]
    fn next(&mut self) -> Option<Extent> {
        if self.next_idx == self.order.domain() {
            return None;
        }
        let block = self.order.get(self.next_idx);
        self.next_idx += 1;
        Some(Extent { offset: self.start_bytes + block * u64::from(self.len), len: self.len })
    }
}
