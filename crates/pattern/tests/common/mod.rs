//! What the tests of this crate share.
#![allow(dead_code, reason = "each test binary uses its own part")]

use pattern::{Extent, Offsets, Region};
use plan::Direction;
use plan::workload::{Access, Workload};

/// Bytes in a KiB.
pub(crate) const KIB: u64 = 1024;

/// A fixed, uneven alternation of choices, for mixing directions.
pub(crate) const MIX: [usize; 13] = [0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1];

/// Returns a workload of 4 KiB blocks by fio's name of its walk.
pub(crate) fn workload(rw: &str) -> Workload {
    let access = Access {
        read: rw.ends_with("read") || rw.ends_with("rw"),
        write: rw.ends_with("write") || rw.ends_with("rw"),
        trim: rw.contains("trim"),
        random: rw.starts_with("rand"),
        trim_then_write: rw.ends_with("trimwrite"),
    };
    Workload { access, ..Workload::default() }
}

/// Returns a region from the start of the file.
pub(crate) fn region(len_kib: u64) -> Region {
    Region { start_bytes: 0, len_bytes: len_kib * KIB }
}

/// Returns the offsets in KiB.
pub(crate) fn offsets_kib(extents: &[Extent]) -> Vec<u64> {
    extents.iter().map(|extent| extent.offset / KIB).collect()
}

/// Returns the rest of a pass.
pub(crate) fn layout(offsets: &mut Offsets, dir: Direction) -> Vec<Extent> {
    std::iter::from_fn(|| offsets.next(dir)).collect()
}

/// Returns the deviation of the number of runs above and below the mean, in standard deviations:
/// the test of fio's own t0020 and t0021 (A. Wald and J. Wolfowitz).
pub(crate) fn runs_deviation(blocks: &[u64]) -> f64 {
    let mean = blocks.iter().sum::<u64>() as f64 / blocks.len() as f64;
    let is_above: Vec<bool> = blocks.iter().map(|&b| b as f64 >= mean).collect();
    let n_runs = 1 + is_above.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let n = blocks.len() as f64;
    let n_above = is_above.iter().filter(|&&above| above).count() as f64;
    let product = 2.0 * n_above * (n - n_above);
    let expected = product / n + 1.0;
    let variance = product * (product - n) / (n * n * (n - 1.0));
    (n_runs as f64 - expected) / variance.sqrt()
}
