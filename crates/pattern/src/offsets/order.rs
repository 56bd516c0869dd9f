//! How a random walk chooses its blocks within a window.

use plan::workload::{BlockSize, Distribution, Workload};
use plan::{Direction, PerDir};

use super::{Extent, Region, dirs, is_once, random_size};
use crate::distribution::Spread;
use crate::error::PatternError;
use crate::map::BlockMap;
use crate::permutation::Permutation;
use crate::rng::{Rng, Stream, derive};
use crate::sizes::Sizes;

/// The choice of random blocks.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// Independent draws.
    Repeats(Box<PerDir<Draws>>),
    /// Equal blocks, each once.
    Once { order: Permutation, next_idx: u64, len: u32 },
    /// Blocks of mixed sizes, each smallest block once.
    Map { map: BlockMap, unit_bytes: u32 },
}

/// Independent draws of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Draws {
    /// `None` is uniform over the window.
    spread: Option<Spread>,
    /// Places are multiples of the length drawn, not of the alignment.
    by_length: bool,
}

impl Order {
    /// Builds the choice for a window of this size. `aligns` are the directions' alignments.
    pub(super) fn new(
        workload: &Workload,
        window_bytes: u64,
        aligns: PerDir<u64>,
        seed: u64,
    ) -> Result<Self, PatternError> {
        if !is_once(workload) {
            let mut draws = Box::new(PerDir::<Draws>::default());
            for dir in dirs(workload) {
                draws[dir].by_length =
                    workload.aligned_to_length && workload.block_align[dir].is_none();
                let distribution = &workload.distribution[dir];
                if *distribution != Distribution::Uniform {
                    let min_bytes = u64::from(random_size(workload, dir).min());
                    let n_blocks = n_places(window_bytes, min_bytes, aligns[dir]);
                    let (align, idx) = (aligns[dir], dir as u64);
                    let spread = Spread::new(distribution, n_blocks, align, seed, idx)?;
                    let advances = workload.sequence_advances;
                    draws[dir].spread = Some(if advances { spread.advancing() } else { spread });
                }
            }
            return Ok(Order::Repeats(draws));
        }
        let sizes = || dirs(workload).map(|dir| random_size(workload, dir));
        let unit_bytes = sizes().map(BlockSize::min).min().unwrap_or(1).max(1);
        let n_units = window_bytes / u64::from(unit_bytes);
        if sizes().all(|size| size.min() == unit_bytes && size.max() == unit_bytes) {
            let order = Permutation::new(n_units, 0);
            return Ok(Order::Once { order, next_idx: 0, len: unit_bytes });
        }
        Ok(Order::Map { map: BlockMap::new(n_units)?, unit_bytes })
    }

    /// Forgets what was visited and takes the `round`-th order, for a window of this size.
    ///
    /// The window may be smaller than at first, never larger.
    pub(super) fn restart(&mut self, window_bytes: u64, seed: u64, round: u64) {
        match self {
            Order::Repeats(_) => {}
            Order::Once { order, next_idx, len } => {
                let n_blocks = window_bytes / u64::from(*len);
                *order = Permutation::new(n_blocks, derive(seed, Stream::Pass, round));
                *next_idx = 0;
            }
            Order::Map { map, unit_bytes } => {
                map.clear();
                let n_units = window_bytes / u64::from(*unit_bytes);
                map.visit(n_units, u64::MAX);
            }
        }
    }

    /// Chooses the next extent in the window, or `None` when every block was visited.
    pub(super) fn next(
        &mut self,
        dir: Direction,
        window: Region,
        align_bytes: u64,
        sizes: &mut Sizes,
        rng: &mut Rng,
    ) -> Option<Extent> {
        let end = window.end_bytes();
        match self {
            Order::Repeats(draws) if draws[dir].by_length => {
                Some(draws[dir].next_by_length(window, align_bytes, sizes, rng))
            }
            Order::Repeats(draws) => {
                let min_bytes = u64::from(sizes.min_bytes());
                let n_blocks = n_places(window.len_bytes, min_bytes, align_bytes);
                let block = match &mut draws[dir].spread {
                    None => rng.bounded(n_blocks),
                    // Only in the last strided zone, which may be shorter, can it be past the end.
                    Some(spread) => spread.next(rng) % n_blocks,
                };
                let offset = window.start_bytes + block * align_bytes;
                Some(Extent { offset, len: sizes.next(end - offset) })
            }
            Order::Once { order, next_idx, len } => {
                if *next_idx == order.domain() {
                    return None;
                }
                let block = order.get(*next_idx);
                *next_idx += 1;
                Some(Extent { offset: window.start_bytes + block * u64::from(*len), len: *len })
            }
            Order::Map { map, unit_bytes } => {
                let unit = u64::from(*unit_bytes);
                let n_places = (window.len_bytes / align_bytes).max(1);
                let drawn = rng.bounded(n_places) * align_bytes / unit;
                let block = map.next_free(drawn)?;
                let offset = window.start_bytes + block * unit;
                let len = sizes.next(end - offset);
                let n_units = u64::from(len).div_ceil(unit);
                let n_free = map.free_run(block, n_units);
                map.visit(block, n_free);
                // An I/O ends where a visited block begins, so that each block is done once.
                let len = if n_free < n_units { (n_free * unit) as u32 } else { len };
                Some(Extent { offset, len })
            }
        }
    }

    /// Returns the bytes of the map, if there is one.
    pub(super) fn map_bytes(&self) -> u64 {
        match self {
            Order::Map { map, .. } => map.memory_bytes(),
            Order::Repeats(_) | Order::Once { .. } => 0,
        }
    }
}

impl Draws {
    /// Draws the length first, then one of the places that are multiples of it.
    fn next_by_length(
        &mut self,
        window: Region,
        align_bytes: u64,
        sizes: &mut Sizes,
        rng: &mut Rng,
    ) -> Extent {
        let len = sizes.next(window.len_bytes);
        let len_bytes = u64::from(len).max(1);
        let n_places = (window.len_bytes / len_bytes).max(1);
        let place = match &mut self.spread {
            None => rng.bounded(n_places),
            // A spread is over the smallest blocks: the larger one that such a block lies in.
            Some(spread) => (spread.next(rng) * align_bytes / len_bytes).min(n_places - 1),
        };
        Extent { offset: window.start_bytes + place * len_bytes, len }
    }
}

/// Returns how many aligned places of a window have room for `min_bytes`, at least 1.
pub(super) fn n_places(window_bytes: u64, min_bytes: u64, align_bytes: u64) -> u64 {
    window_bytes.saturating_sub(min_bytes) / align_bytes + 1
}
