//! fio's views: its 1856 bins, percentiles and latency tables.
//!
//! Facts: fio's `stat.h` and HOWTO; see the test `tests/fio.rs` for figures of the real program.

use crate::bucket::{bucket_bounds, bucket_index};
use crate::histogram::{Histogram, MomentBounds, Moments};

/// Number of bins of fio's histogram: 29 groups of 64.
pub const FIO_N_BINS: usize = 1856;

/// Bits below the leading one that select a bin of fio's: 64 per octave.
const FIO_BITS: u32 = 6;

/// Upper ends of the entries of fio's `latency_ns` and `latency_us`, in that unit.
pub const FIO_LATENCY_KEYS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Upper ends of the entries of fio's `latency_ms`; the last one (`>=2000`) has none.
pub const FIO_LATENCY_KEYS_MS: [u64; 12] =
    [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000, u64::MAX];

/// Counts of fio's `latency_ns`, `latency_us` and `latency_ms`, in the order of the keys.
///
/// Each value is in one entry: below its key and not below the one before; below 1 us in `ns`, from
/// there below 1 ms in `us`, else in `ms`. All together are the histogram's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioLatencyTable {
    /// Values below 1 us; keys [`FIO_LATENCY_KEYS`].
    pub ns: [u64; 10],
    /// Values from 1 us to below 1 ms; keys [`FIO_LATENCY_KEYS`].
    pub us: [u64; 10],
    /// Values from 1 ms; keys [`FIO_LATENCY_KEYS_MS`].
    pub ms: [u64; 12],
}

/// Returns the value that fio reports for a bin: its middle.
///
/// An index of [`FIO_N_BINS`] or more counts as the last bin.
pub fn fio_bucket_value(index: usize) -> u64 {
    let index = index.min(FIO_N_BINS - 1) as u64;
    let group = index >> FIO_BITS;
    if group < 2 {
        return index;
    }
    let shift = group - 1;
    let top = (1 << FIO_BITS) + (index & ((1 << FIO_BITS) - 1));
    (top << shift) + (1 << shift >> 1)
}

/// Reduces bins as fio's `log_hist_coarseness` does: each 2^`coarseness` neighbours become one.
///
/// 1856 bins leave 1856 / 2^coarseness; fio allows 0 to 6, and larger values are taken as 6.
///
/// # Panics
/// If these are not all of fio's bins.
pub fn coarsen_fio_bins(bins: &[u64], coarseness: u32) -> Vec<u64> {
    assert!(bins.len() == FIO_N_BINS, "{} bins, and fio has {FIO_N_BINS}", bins.len());
    bins.chunks(1 << coarseness.min(FIO_BITS)).map(|chunk| chunk.iter().sum()).collect()
}

/// What fio prints of a distribution beside its bins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FioMoments {
    /// Smallest value, nanoseconds.
    pub min_ns: u64,
    /// Largest value.
    pub max_ns: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Standard deviation (n - 1).
    pub stdev_ns: f64,
}

impl Histogram {
    /// Makes a histogram from bins as fio prints them (`json+`): pairs of a bin's value, which is
    /// its middle, and its count, in any order.
    ///
    /// Each bin of fio's is two buckets here: half of its count goes into each, or all into one
    /// where only that allows the sum that fio counted. So mean, minimum and maximum are fio's
    /// own, [`Histogram::fio_percentiles`] gives back what fio printed, and any other quantile is
    /// as good as fio's bins, 0.8 %.
    pub fn from_fio_bins(bins: &[(u64, u64)], moments: &FioMoments) -> Self {
        let count = bins.iter().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
        let (n, mean) = (count as f64, moments.mean_ns);
        let moments = Moments {
            sum_ns: (mean * n).round() as u128,
            sum_squares: (mean * mean * n + moments.stdev_ns.powi(2) * (n - 1.0)).round() as u128,
            min_ns: moments.min_ns,
            max_ns: moments.max_ns,
        };
        let hist = Self::from_halves(bins, Halves::Both, &moments);
        let bounds = MomentBounds::of(&hist);
        let halves = match moments.sum_ns {
            sum if sum < bounds.sum_lo => Halves::Lower,
            sum if sum > bounds.sum_hi => Halves::Upper,
            _ => return hist,
        };
        Self::from_halves(bins, halves, &moments)
    }

    fn from_halves(bins: &[(u64, u64)], halves: Halves, moments: &Moments) -> Self {
        let mut hist = Self::new();
        for &(value, n) in bins {
            let bin = fio_bin(value);
            let mut rest = n;
            // The extremes are known exactly, so one value each goes where it belongs.
            for extreme in [moments.min_ns, moments.max_ns] {
                if rest > 0 && fio_bin(extreme) == bin {
                    hist.record(extreme);
                    rest -= 1;
                }
            }
            let upper = bucket_index(fio_bucket_value(bin));
            let lower = if bin < 2 << FIO_BITS { upper } else { upper - 1 };
            let n_lower = match halves {
                Halves::Lower => rest,
                Halves::Both => rest / 2,
                Halves::Upper => 0,
            };
            for (index, n) in [(lower, n_lower), (upper, rest - n_lower)] {
                // Not beyond the extremes, which lie in the same bin then.
                let (low, high) = bucket_bounds(index);
                let known = moments.min_ns..=moments.max_ns.max(moments.min_ns);
                let value = if known.contains(&high) { high } else { low };
                hist.record_n(value.clamp(*known.start(), *known.end()), n);
            }
        }
        let Self { first_idx, counts, .. } = hist;
        Self::from_counts(first_idx, counts, moments)
    }

    /// Returns the counts of fio's 1856 bins.
    ///
    /// Nothing is moved across a limit of fio's: each of our buckets lies in one of its bins. From
    /// 2^34 ns (17.2 s) on, everything is in the last one.
    pub fn to_fio_bins(&self) -> Vec<u64> {
        let mut bins = vec![0_u64; FIO_N_BINS];
        for (index, count) in self.nonempty_indexed() {
            let bin = &mut bins[fio_bin(bucket_bounds(index).0)];
            *bin = bin.saturating_add(count);
        }
        bins
    }

    /// Returns the values at `percentiles` (0 to 100), in the order given, as fio computes them.
    ///
    /// The middle of the first bin whose cumulative count reaches p / 100 * N, not moved into
    /// minimum and maximum, and saturating at the last bin. All zero when empty.
    pub fn fio_percentiles(&self, percentiles: &[f64]) -> Vec<u64> {
        let value_of = |&percentile: &f64| match fio_rank(percentile, self.count) {
            0 => 0,
            rank => {
                let (lo, _) = bucket_bounds(self.index_at_rank(rank));
                fio_bucket_value(fio_bin(lo))
            }
        };
        if self.is_empty() {
            return vec![0; percentiles.len()];
        }
        percentiles.iter().map(value_of).collect()
    }

    /// Returns the counts of fio's three latency tables.
    ///
    /// fio keeps counters for them; here they come from the buckets, which costs nothing while
    /// measuring. A value within 0.8 % of a key may count on its other side
    /// (see [`Histogram::count_below`]); keys up to 500 ns are exact.
    pub fn fio_latency_table(&self) -> FioLatencyTable {
        let mut table = FioLatencyTable::default();
        let mut below = 0;
        let mut fill = |entries: &mut [u64], keys: &[u64], unit_ns: u64| {
            for (entry, key) in entries.iter_mut().zip(keys) {
                let up_to = match key {
                    &u64::MAX => self.count,
                    key => self.count_below(key * unit_ns),
                };
                *entry = up_to.saturating_sub(below);
                below = below.max(up_to);
            }
        };
        fill(&mut table.ns, &FIO_LATENCY_KEYS, 1);
        fill(&mut table.us, &FIO_LATENCY_KEYS, 1_000);
        fill(&mut table.ms, &FIO_LATENCY_KEYS_MS, 1_000_000);
        table
    }
}

/// Which of the two buckets of a bin its values go into.
#[derive(Clone, Copy)]
enum Halves {
    Lower,
    Both,
    Upper,
}

/// Returns fio's bin of a value.
fn fio_bin(value: u64) -> usize {
    let shift = (value | (1 << FIO_BITS)).ilog2() - FIO_BITS;
    (((shift as usize) << FIO_BITS) + (value >> shift) as usize).min(FIO_N_BINS - 1)
}

/// Returns the least cumulative count that fio takes as reaching a percentile of `count` values.
///
/// fio compares with `p / 100 * N` in the 80-bit format of x86, where 99.9 (a binary fraction
/// just above) of 1000 is more than 999. So both roundings are done here, to 64 bits.
fn fio_rank(percentile: f64, count: u64) -> u64 {
    if percentile.is_nan() || percentile <= 0.0 {
        return 0;
    }
    if percentile >= 100.0 {
        return count;
    }
    let bits = percentile.to_bits();
    let exponent = (bits >> 52) as i32; // The sign is plus.
    if exponent < 512 {
        return 1; // Below 1e-153 %, and so that shifts below stay in range.
    }
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    // percentile = mantissa * 2^(exponent - 1075)
    let scaled = u128::from(mantissa) << 74;
    let sticky = u128::from(!scaled.is_multiple_of(100));
    let (share, share_shift) = round_to_64_bits((scaled / 100) | sticky);
    let (product, product_shift) = round_to_64_bits(u128::from(share) * u128::from(count));
    let shift = exponent - 1075 - 74 + share_shift + product_shift;
    // The product is at most `count`, so a positive shift loses no bit.
    match shift {
        0.. => product << shift.min(63),
        -63..0 => {
            let down = shift.unsigned_abs();
            (product >> down) + u64::from(product.trailing_zeros() < down && product != 0)
        }
        _ => 1,
    }
}

/// Rounds to 64 significant bits, ties to even: (mantissa, shift), mantissa * 2^shift.
fn round_to_64_bits(value: u128) -> (u64, i32) {
    let n_extra = 64_i32.saturating_sub(value.leading_zeros() as i32).max(0);
    if n_extra == 0 {
        return (value as u64, 0);
    }
    let kept = value >> n_extra;
    let rest = value & ((1 << n_extra) - 1);
    let half = 1_u128 << (n_extra - 1);
    let rounded = kept + u128::from(rest > half || (rest == half && kept & 1 == 1));
    match u64::try_from(rounded) {
        Ok(mantissa) => (mantissa, n_extra),
        Err(_) => (1 << 63, n_extra + 1),
    }
}
