//! The sizes of I/Os that a load is made of, and where these begin.
//!
//! A mean is made of sizes that are issued: jobs issue them, and a design counts what a stripe cuts
//! them into. So both are of the same I/Os.

use std::collections::BTreeMap;

use crate::Figure;

/// What a device takes, bytes.
const SECTOR_BYTES: f64 = 512.0;

/// What file systems allocate, bytes, and what devices with larger sectors take: I/Os between two
/// multiples of it are a mix of both.
const PAGE_BYTES: f64 = 4096.0;

/// Largest I/O of a job, bytes.
const IO_BYTES_MAX: f64 = (1_u64 << 30) as f64;

/// A size this near to a multiple of a sector, in bytes, is taken for that multiple: logs print
/// two decimals of a KiB. A rare smaller size would let all I/Os begin at any sector.
const NEAR_BYTES: f64 = 0.01 * 1024.0;

/// What weights of sizes add up to, nearly.
const WHOLE: f64 = 1e6;

/// Sizes of I/Os with their weights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IoSizes {
    /// Bytes, whole sectors, each once and the smallest first, with weights that add up to a
    /// million, nearly.
    pub weighted: Vec<(u32, u32)>,
}

impl IoSizes {
    /// Makes those that percentiles tell, else that of a mean. One that is a multiple of a sector
    /// is that size; one between two pages of 4 KiB is a mix of both, and a smaller one a mix of
    /// sectors.
    pub fn new(figure: Option<&Figure>, mean_bytes: f64) -> Self {
        let split = figure.map(Figure::split).unwrap_or_default();
        let of_figure: Vec<(f64, f64)> =
            split.into_iter().map(|(kib, share)| (kib * 1024.0, share)).collect();
        let values = if of_figure.is_empty() { vec![(mean_bytes, 1.0)] } else { of_figure };
        let mut shares: BTreeMap<u32, f64> = BTreeMap::new();
        let mut put = |bytes: f64, share: f64| *shares.entry(bytes as u32).or_default() += share;
        for (bytes, share) in values {
            let bytes = bytes.clamp(SECTOR_BYTES, IO_BYTES_MAX);
            let whole = (bytes / SECTOR_BYTES).round() * SECTOR_BYTES;
            if (bytes - whole).abs() < NEAR_BYTES {
                put(whole, share);
                continue;
            }
            let step = if bytes < PAGE_BYTES { SECTOR_BYTES } else { PAGE_BYTES };
            let below = (bytes / step).floor() * step;
            let above_share = (bytes - below) / step;
            put(below, share * (1.0 - above_share));
            put(below + step, share * above_share);
        }
        let weighted = shares.into_iter().map(|(bytes, share)| (bytes, (share * WHOLE).round()));
        let weighted = weighted.filter(|(_, weight)| *weight > 0.0);
        IoSizes { weighted: weighted.map(|(bytes, weight)| (bytes, weight as u32)).collect() }
    }

    /// Returns the largest power of two that all sizes are multiples of, bytes: I/Os begin at
    /// multiples of it.
    pub fn step_bytes(&self) -> u32 {
        let zeros = self.weighted.iter().map(|(bytes, _)| bytes.trailing_zeros()).min();
        1 << zeros.unwrap_or(0).min(30)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kib: f64, sizes: &[(u32, u32)], step_bytes: u32) {
        let found = IoSizes::new(None, kib * 1024.0);
        assert_eq!((found.weighted.as_slice(), found.step_bytes()), (sizes, step_bytes), "{kib}");
    }

    #[test]
    fn a_mean_is_a_size_or_a_mix_of_the_two_beside_it() {
        check(8.0, &[(8192, 1_000_000)], 8192);
        check(24.0, &[(24_576, 1_000_000)], 8192);
        check(4.5, &[(4608, 1_000_000)], 512);
        check(63.995, &[(65_536, 1_000_000)], 65_536);
        check(4.3, &[(4096, 925_000), (8192, 75_000)], 4096);
        check(40.3, &[(40_960, 925_000), (45_056, 75_000)], 4096);
        check(3.9, &[(3584, 200_000), (4096, 800_000)], 512);
        check(0.1, &[(512, 1_000_000)], 512);
    }

    #[test]
    fn sizes_of_percentiles_that_meet_are_one() {
        let figure = Figure { p50: Some(4.3), p90: Some(8.0), ..Figure::default() };
        let found = IoSizes::new(Some(&figure), 0.0);
        let sizes: Vec<u32> = found.weighted.iter().map(|it| it.0).collect();
        assert_eq!((sizes, found.step_bytes()), (vec![4096, 8192], 4096));
        let sum: u32 = found.weighted.iter().map(|it| it.1).sum();
        assert_eq!(sum, 1_000_000);
    }
}
