//! Duplicates by place.
//!
//! Of `n` blocks that deduplicate `ratio` times into sets, `n / ratio` are different: the sets, and
//! the blocks that have no equal. So a block is unique with a probability of
//! `1 / ratio - sets / n`; the others are of set `block mod sets`. A set is too seldom empty to be
//! seen, where draws would leave many empty.
//!
//! Each set has two versions. A duplicate that flips has the other one each time it is written, as
//! in Vdbench: a bit per block says which was last.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use plan::verify::{DedupeSets, FlipFlop, SetCount};

use super::ContentsSpec;
use crate::rng::{Chance, Rng, Stream, derive};

/// The sets of one target.
#[derive(Clone, Debug)]
pub(super) struct Grouping {
    unit_bytes: usize,
    unique: Chance,
    n_sets: u64,
    /// Sets of known size: the first block of each kind, its first set, and how many there are.
    hot: Box<[Hot]>,
    n_hot_sets: u64,
    n_hot_blocks: u64,
    flip_flop: FlipFlop,
    /// Version of each block that was written last; empty where none flips.
    versions: Arc<[AtomicU64]>,
    /// Seed of what is unique and what is not.
    place_seed: u64,
    /// Seed of the sets' contents.
    set_seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Hot {
    end_block: u64,
    first_set: u64,
    n_sets: u64,
}

/// A block, or a piece of one that a write begins or ends with.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPart {
    block: u64,
    /// Where the piece begins within its block; pieces are equal if both blocks and this are.
    from_bytes: u64,
}

impl Grouping {
    pub(super) fn new(sets: &DedupeSets, spec: ContentsSpec) -> Self {
        let (unit_bytes, ratio) = (sets.unit_bytes, sets.ratio);
        assert!(unit_bytes > 0, "blocks that repeat have {unit_bytes} B");
        assert!(ratio >= 1.0, "{ratio} blocks for each different one");
        let n_blocks = (spec.region_bytes / u64::from(unit_bytes)).max(1);
        let n_sets = match sets.sets {
            SetCount::Count(count) => count,
            SetCount::Pct(pct) => {
                assert!((0.0..=100.0).contains(&pct), "{pct} % of the blocks are sets");
                (pct / 100.0 * n_blocks as f64).round() as u64
            }
        };
        let n_sets = n_sets.clamp(1, n_blocks);
        let unique = 1.0 / ratio - n_sets as f64 / n_blocks as f64;
        let (mut end_block, mut first_set) = (0_u64, 0_u64);
        let hot = sets.hot_sets.iter().map(|&(count, size)| {
            assert!(count > 0, "{count} sets of {size} blocks each");
            let n_sets = u64::from(count);
            end_block = end_block.saturating_add(n_sets * u64::from(size));
            let hot = Hot { end_block, first_set, n_sets };
            first_set += n_sets;
            hot
        });
        let hot = hot.collect();
        // A ratio of 1 has no duplicates at all, not even a set.
        let unique = if ratio > 1.0 { unique.max(0.0) } else { 1.0 };
        Grouping {
            unit_bytes: unit_bytes as usize,
            unique: Chance::from_pct(unique * 100.0),
            n_sets: n_sets.max(first_set + 1),
            hot,
            n_hot_sets: first_set,
            n_hot_blocks: end_block,
            flip_flop: sets.flip_flop,
            versions: versions(match sets.flip_flop {
                FlipFlop::None => 0,
                FlipFlop::All => n_blocks,
                FlipFlop::Hot => end_block.min(n_blocks),
            }),
            place_seed: derive(spec.job_seed, Stream::Dedupe, 2),
            set_seed: derive(spec.job_seed, Stream::Dedupe, 3),
        }
    }

    /// Cuts a buffer at the borders of blocks and has each piece filled.
    pub(super) fn fill(
        &self,
        mut buf: &mut [u8],
        offset_bytes: u64,
        mut fill: impl FnMut(BlockPart, &mut [u8]),
    ) {
        let unit = self.unit_bytes as u64;
        let mut at = offset_bytes;
        while !buf.is_empty() {
            let part = BlockPart { block: at / unit, from_bytes: at % unit };
            let len = buf.len().min((unit - part.from_bytes) as usize);
            let (piece, rest) = buf.split_at_mut(len);
            fill(part, piece);
            at += len as u64;
            buf = rest;
        }
    }

    /// Returns the seed of a block's contents. `seed` is the worker's own, for what is unique.
    pub(super) fn block_seed(&self, seed: u64, part: BlockPart, generation: u64) -> u64 {
        let BlockPart { block, from_bytes } = part;
        let of_piece = |seed| match from_bytes {
            0 => seed,
            _ => derive(seed, Stream::Contents, from_bytes),
        };
        let Some(set) = self.set_of(block) else {
            let seed = derive(seed, Stream::Contents, block);
            return of_piece(derive(seed, Stream::Contents, generation));
        };
        let version = self.version(set, block, generation);
        of_piece(derive(self.set_seed, Stream::Contents, set << 1 | version))
    }

    /// Returns the set that a block is of; `None` for one that is unique.
    fn set_of(&self, block: u64) -> Option<u64> {
        if block < self.n_hot_blocks {
            let hot = self.hot.iter().find(|hot| block < hot.end_block)?;
            return Some(hot.first_set + block % hot.n_sets);
        }
        let is_unique = Rng::for_stream(self.place_seed, Stream::Dedupe, block).chance(self.unique);
        (!is_unique).then(|| self.n_hot_sets + block % (self.n_sets - self.n_hot_sets))
    }

    /// Returns which of a set's two versions a write holds: the other one than the write before it.
    fn version(&self, set: u64, block: u64, generation: u64) -> u64 {
        let flips = match self.flip_flop {
            FlipFlop::None => false,
            FlipFlop::All => true,
            FlipFlop::Hot => set < self.n_hot_sets,
        };
        if !flips || generation == 0 {
            return 0;
        }
        let bit = block % u64::from(u64::BITS);
        if let Some(word) = self.versions.get((block / u64::from(u64::BITS)) as usize) {
            return !(word.fetch_xor(1 << bit, Relaxed) >> bit) & 1;
        }
        // Beyond what is remembered a write draws.
        let of_block = derive(self.place_seed, Stream::Dedupe, block);
        derive(of_block, Stream::Dedupe, generation) & 1
    }
}

/// Most blocks whose version is remembered, one bit each: 512 MiB, 16 TiB of 4 KiB blocks.
const VERSIONS_MAX: u64 = 1 << 32;

fn versions(n_blocks: u64) -> Arc<[AtomicU64]> {
    let n_words = n_blocks.min(VERSIONS_MAX).div_ceil(u64::from(u64::BITS));
    (0..n_words).map(|_| AtomicU64::new(0)).collect()
}
