//! Sizes of files: those that Vdbench 5.04.07 draws for the same definition.
//!
//! It draws one size after the other, in the order of the files. So that the size of any file is
//! known at once, the generator's state is kept for every 64th.

use std::sync::Arc;

use plan::tree::FileSizes;

use super::java::JavaRandom;

/// 1 KiB.
const KIB: u64 = 1024;

/// 1 MiB.
const MIB: u64 = 1024 * KIB;

/// Files from one kept state to the next: an eighth of a byte per file, and 32 draws of a
/// nanosecond each to find a size.
const STRIDE: u32 = 64;

/// The size of each file.
#[derive(Clone, Debug)]
pub(super) struct SizeOf {
    rule: SizeRule,
    /// States before files 0, [`STRIDE`] and so on.
    states: Arc<[JavaRandom]>,
}

#[derive(Clone, Debug)]
enum SizeRule {
    Fixed(u64),
    /// Sizes, each with the sum of its share and those before it, percent.
    Split(Vec<(u64, f64)>),
    Average(u64),
}

impl SizeOf {
    pub(super) fn new(sizes: &FileSizes, seed: u64, n_files: u64) -> Self {
        let rule = match sizes {
            FileSizes::Fixed(bytes) => SizeRule::Fixed(*bytes),
            FileSizes::Average(bytes) => SizeRule::Average(*bytes),
            FileSizes::Split(parts) => {
                assert!(!parts.is_empty(), "files of {} sizes", parts.len());
                let mut sum_pct = 0.0;
                let ends = parts.iter().map(|(bytes, share_pct)| {
                    assert!(*share_pct >= 0.0, "{share_pct} % of the files hold {bytes} B");
                    sum_pct += share_pct;
                    (*bytes, sum_pct)
                });
                SizeRule::Split(ends.collect())
            }
        };
        let mut random = JavaRandom::new(seed);
        let n_drawn = if matches!(rule, SizeRule::Fixed(_)) { 0 } else { n_files };
        let mut states = Vec::with_capacity((n_drawn / u64::from(STRIDE) + 1) as usize);
        for file in 0..n_drawn {
            if file.is_multiple_of(u64::from(STRIDE)) {
                states.push(random);
            }
            rule.next(&mut random);
        }
        SizeOf { rule, states: states.into() }
    }

    /// Returns the bytes of all files.
    pub(super) fn total_bytes(&self, n_files: u64) -> u64 {
        match self.rule {
            SizeRule::Fixed(bytes) => bytes.saturating_mul(n_files),
            SizeRule::Split(_) | SizeRule::Average(_) => {
                let Some(mut random) = self.states.first().copied() else { return 0 };
                let sizes = (0..n_files).map(|_| self.rule.next(&mut random));
                sizes.fold(0, u64::saturating_add)
            }
        }
    }

    #[inline]
    pub(super) fn of(&self, file: u32) -> u64 {
        if let SizeRule::Fixed(bytes) = self.rule {
            return bytes;
        }
        let Some(mut random) = self.states.get((file / STRIDE) as usize).copied() else {
            return 0;
        };
        for _ in 0..file % STRIDE {
            self.rule.next(&mut random);
        }
        self.rule.next(&mut random)
    }
}

impl SizeRule {
    /// Draws the next size.
    #[inline]
    fn next(&self, random: &mut JavaRandom) -> u64 {
        match self {
            SizeRule::Fixed(bytes) => *bytes,
            SizeRule::Split(ends) => {
                let pct = f64::from(random.below(100));
                let found = ends.iter().find(|end| pct < end.1).or(ends.last());
                found.map_or(0, |end| end.0)
            }
            SizeRule::Average(mean) => {
                let bound = u32::try_from(*mean).unwrap_or(i32::MAX as u32);
                let bytes = u64::from(random.below(bound)) + mean / 2;
                rounded(bytes, *mean)
            }
        }
    }
}

/// Rounds to the multiples that Vdbench uses, as its single precision does; never to nothing.
fn rounded(bytes: u64, mean: u64) -> u64 {
    let unit = match bytes {
        _ if bytes >= 10 * MIB => MIB,
        _ if mean >= MIB => 100 * KIB,
        _ if mean >= 100 * KIB => 10 * KIB,
        _ => KIB,
    };
    let n_units = f64::from(bytes as f32 / unit as f32) + 0.5;
    (n_units.floor() as u64 * unit).max(KIB)
}
