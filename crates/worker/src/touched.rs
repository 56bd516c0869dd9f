//! How many different blocks a worker's operations reached, counted in constant memory.
//!
//! A `HyperLogLog` (Flajolet et al., 2007) of 2^14 registers with the estimator of Ertl ("New
//! cardinality estimation algorithms for HyperLogLog sketches", 2017), whose standard error is 1.04
//! / sqrt(2^14) = 0.8 % at any count. A bit per block was rejected: it grows with the target. Only
//! workers whose plan does not determine the blocks that they touch count them; the others pay one
//! check per call.
//!
//! Not included: operations that failed count as if they had reached their blocks.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

use pattern::rng::mix64;
use plan::op::{Op, OpKind};

/// Bits of a hash that choose the register.
const INDEX_BITS: u32 = 14;

/// Registers.
const N_REGISTERS: usize = 1 << INDEX_BITS;

/// Largest value of a register.
const RANK_MAX: usize = 64 - INDEX_BITS as usize + 1;

/// Blocks that one operation counts as at most: longer ones are counted in larger blocks.
const BLOCKS_PER_OP_MAX: u32 = 16;

/// Odd, so that numbers of blocks and of files do not meet.
const BLOCK_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The different blocks that were touched. One writer, any number of readers.
#[derive(Debug)]
pub struct Touched {
    registers: Box<[AtomicU8]>,
    /// What tells the files of the worker apart from all others, by position.
    keys: Box<[u64]>,
    block_bytes: u64,
}

impl Touched {
    /// Makes a count of nothing. A file's key is the same for every worker that has it, and its
    /// own. Operations have `len_min` to `len_max` bytes.
    ///
    /// # Panics
    /// If the shortest is longer than the longest.
    pub fn new(keys: &[u64], len_min: u32, len_max: u32) -> Self {
        assert!(len_min <= len_max, "the shortest operation is no longer than the longest");
        let len_min = len_min.max(1);
        let times = len_max.div_ceil(BLOCKS_PER_OP_MAX).div_ceil(len_min).max(1);
        Touched {
            registers: (0..N_REGISTERS).map(|_| AtomicU8::new(0)).collect(),
            keys: keys.iter().map(|key| mix64(*key)).collect(),
            block_bytes: u64::from(len_min) * u64::from(times),
        }
    }

    /// Returns the number of files whose blocks it counts.
    pub(crate) fn n_files(&self) -> usize {
        self.keys.len()
    }

    /// Returns the bytes of a block. Counts of different blocks cannot be joined.
    pub fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Counts what operations reach.
    #[inline(never)]
    pub(crate) fn note(&self, ops: &[Op]) {
        for op in ops {
            if !matches!(op.kind, OpKind::Read | OpKind::Write | OpKind::Trim) {
                continue;
            }
            let Some(key) = self.keys.get(op.file.0 as usize) else { continue };
            let first = op.offset / self.block_bytes;
            let n_blocks = u64::from(op.len).div_ceil(self.block_bytes);
            for block in first..first.saturating_add(n_blocks) {
                self.add(mix64(key ^ block.wrapping_mul(BLOCK_STEP)));
            }
        }
    }

    fn add(&self, hash: u64) {
        let register = &self.registers[(hash >> (64 - INDEX_BITS)) as usize];
        // The bit behind the last one ends the run of zeros.
        let rest = (hash << INDEX_BITS) | (1 << (INDEX_BITS - 1));
        let rank = rest.leading_zeros() as u8 + 1;
        if register.load(Relaxed) < rank {
            register.store(rank, Relaxed);
        }
    }

    /// Estimates the different blocks that several workers touched together.
    ///
    /// # Panics
    /// If they counted blocks of different sizes.
    pub fn n_blocks<'a>(counts: impl Iterator<Item = &'a Touched>) -> f64 {
        let mut highest = [0_u8; N_REGISTERS];
        let mut joined_bytes = None;
        for count in counts {
            let bytes = count.block_bytes;
            let first = *joined_bytes.get_or_insert(bytes);
            assert_eq!(bytes, first, "blocks of {bytes} B are counted with those of {first} B");
            for (highest, register) in highest.iter_mut().zip(&count.registers) {
                *highest = register.load(Relaxed).max(*highest);
            }
        }
        let mut n_of_rank = [0.0; RANK_MAX + 1];
        for rank in highest {
            n_of_rank[usize::from(rank).min(RANK_MAX)] += 1.0;
        }
        let n = N_REGISTERS as f64;
        let mut sum = n * tau(1.0 - n_of_rank[RANK_MAX] / n);
        for n_of in n_of_rank[1..RANK_MAX].iter().rev() {
            sum = 0.5 * (sum + n_of);
        }
        sum += n * sigma(n_of_rank[0] / n);
        n * n / (2.0 * std::f64::consts::LN_2 * sum)
    }
}

/// Ertl's correction for registers that nothing reached, of their share.
fn sigma(share: f64) -> f64 {
    if share >= 1.0 {
        return f64::INFINITY;
    }
    let (mut power, mut weight, mut sum) = (share, 1.0, share);
    loop {
        power *= power;
        let before = sum;
        sum += power * weight;
        weight += weight;
        if sum <= before {
            return sum;
        }
    }
}

/// Ertl's correction for registers at their largest value, of the share of the others.
fn tau(share: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return 0.0;
    }
    let (mut root, mut weight, mut sum) = (share, 1.0, 1.0 - share);
    loop {
        root = root.sqrt();
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - root).powi(2) * weight;
        if sum >= before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::IoPriority;
    use plan::op::{BufId, FileIdx};

    use super::*;

    fn read(file: u32, offset: u64, len: u32) -> Op {
        Op {
            offset,
            len,
            file: FileIdx(file),
            slot: 0,
            buf: BufId(0),
            buf_offset_bytes: 0,
            kind: OpKind::Read,
            priority: IoPriority::NONE,
        }
    }

    #[track_caller]
    fn check(counts: &[&Touched], expected: f64) {
        let found = Touched::n_blocks(counts.iter().copied());
        let error = (found - expected).abs() / expected.max(1.0);
        assert!(error < 0.03, "{found}, and not {expected}");
    }

    #[test]
    fn different_blocks_are_counted_to_three_percent() {
        for n in [0, 1, 10, 1_000, 20_000, 50_000, 100_000, 1_000_000_u64] {
            let count = Touched::new(&[7], 4096, 4096);
            for block in 0..n {
                count.note(&[read(0, block * 4096, 4096); 2]);
            }
            check(&[&count], n as f64);
        }
    }

    #[test]
    fn workers_on_the_same_file_are_joined() {
        let counts = [&[1, 2][..], &[2, 1], &[3]].map(|keys| Touched::new(keys, 8192, 8192));
        for block in 0..10_000 {
            // The file with key 1 by two workers, and another file by the third.
            counts[0].note(&[read(0, block * 8192, 8192)]);
            counts[1].note(&[read(1, (block + 5_000) * 8192, 8192)]);
            counts[2].note(&[read(0, block * 8192, 8192)]);
        }
        check(&[&counts[0], &counts[1]], 15_000.0);
        check(&[&counts[0], &counts[1], &counts[2]], 25_000.0);
    }

    #[test]
    fn long_operations_count_as_several_blocks() {
        let count = Touched::new(&[1], 4096, 65_536);
        assert_eq!(count.block_bytes(), 4096);
        count.note(&[read(0, 0, 65_536), read(0, 4096, 4096), read(0, 1 << 20, 4096)]);
        check(&[&count], 17.0);
        // Not more than sixteen.
        assert_eq!(Touched::new(&[1], 4096, 1 << 20).block_bytes(), 65_536);
        assert_eq!(Touched::new(&[1], 12_288, 12_288).block_bytes(), 12_288);
    }
}
