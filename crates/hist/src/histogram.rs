//! The plain histogram: owned, merged, kept and printed.

use crate::bucket::{N_BUCKETS, bucket_bounds, bucket_index, bucket_mid_ns};

/// A latency histogram in nanoseconds.
///
/// Holds only the range of buckets between the lowest and the highest value, so a record of
/// thousands of jobs stays small: a typical one has a few hundred buckets. Count, sum, sum of
/// squares, minimum and maximum are exact; quantiles are within 0.4 %.
///
/// Counts saturate at `u64::MAX` and the moments at `u128::MAX`; neither can be reached by
/// measuring, only by decoding made-up input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Bucket index of `counts[0]`; 0 when empty.
    pub(crate) first_idx: usize,
    /// Counts of consecutive buckets; the first and the last are never zero.
    pub(crate) counts: Vec<u64>,
    pub(crate) count: u64,
    pub(crate) sum_ns: u128,
    pub(crate) sum_squares: u128,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
}

impl Histogram {
    /// Returns an empty histogram. Allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one value.
    pub fn record(&mut self, latency_ns: u64) {
        self.record_n(latency_ns, 1);
    }

    /// Adds a value `n` times.
    pub fn record_n(&mut self, latency_ns: u64, n: u64) {
        if n == 0 {
            return;
        }
        let (min_ns, max_ns) = (self.min_ns, self.max_ns);
        let was_empty = self.is_empty();
        let index = bucket_index(latency_ns);
        let slot = self.slot_mut(index);
        *slot = slot.saturating_add(n);
        self.count = self.count.saturating_add(n);
        let value = u128::from(latency_ns);
        let times = u128::from(n);
        self.sum_ns = self.sum_ns.saturating_add(value * times);
        self.sum_squares = self.sum_squares.saturating_add((value * value).saturating_mul(times));
        self.min_ns = if was_empty { latency_ns } else { min_ns.min(latency_ns) };
        self.max_ns = if was_empty { latency_ns } else { max_ns.max(latency_ns) };
    }

    /// Adds everything that `other` holds. Associative and commutative, without loss.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        self.cover(other.first_idx, other.last_idx());
        let offset = other.first_idx - self.first_idx;
        for (mine, theirs) in self.counts[offset..].iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.sum_squares = self.sum_squares.saturating_add(other.sum_squares);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns what was added since `earlier`, an earlier state of the same histogram.
    ///
    /// Merging the result into `earlier` gives `self` back. Minimum and maximum are exact where
    /// this interval set them and within one bucket (0.8 %) otherwise. If any count or the sum is
    /// below that of `earlier`, the histogram was reset in between, so all of it is new and
    /// is returned.
    #[must_use]
    pub fn delta_since(&self, earlier: &Self) -> Self {
        if earlier.is_empty() || !self.contains(earlier) {
            return self.clone();
        }
        let mut counts = self.counts.clone();
        let offset = earlier.first_idx - self.first_idx;
        for (now, before) in counts[offset..].iter_mut().zip(&earlier.counts) {
            *now -= before;
        }
        let moments = Moments {
            sum_ns: self.sum_ns - earlier.sum_ns,
            sum_squares: self.sum_squares.saturating_sub(earlier.sum_squares),
            min_ns: self.min_ns,
            max_ns: self.max_ns,
        };
        Self::from_counts(self.first_idx, counts, &moments)
    }

    /// Returns whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of the recorded values.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Returns the smallest recorded value, or none when empty.
    pub fn min_ns(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min_ns)
    }

    /// Returns the largest recorded value, or none when empty.
    pub fn max_ns(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max_ns)
    }

    /// Returns the exact mean (not of bucket midpoints), or none when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.is_empty()).then(|| {
            let count = u128::from(self.count);
            let (whole, rest) = (self.sum_ns / count, self.sum_ns % count);
            whole as f64 + rest as f64 / self.count as f64
        })
    }

    /// Returns the sample standard deviation (n - 1), or none with fewer than two values.
    ///
    /// From exact integer moments: values a nanosecond apart around a second lose nothing, where
    /// floating sums of squares would cancel to noise.
    pub fn stdev_ns(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        // Deviations are taken from the whole part of the mean. The sum of squares around it is
        // `squares - whole * (sum + rest)`; modulo 2^128 that is exact, since the result fits.
        let count = u128::from(self.count);
        let (whole, rest) = (self.sum_ns / count, self.sum_ns % count);
        let product = whole.wrapping_mul(self.sum_ns.wrapping_add(rest));
        let around_whole = self.sum_squares.wrapping_sub(product) as f64;
        let rest = rest as f64;
        let around_mean = around_whole - rest * (rest / self.count as f64);
        Some((around_mean.max(0.0) / (self.count - 1) as f64).sqrt())
    }

    /// Returns the value at quantile `q` (0 to 1), or none when empty or `q` is not a number.
    ///
    /// Takes the first bucket whose cumulative count reaches `ceil(q * count)` (at least 1) and
    /// returns its midpoint, moved into the exact minimum and maximum. `q` outside 0 to 1 is
    /// taken as 0 or 1; 0 gives the minimum and 1 the maximum.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.is_empty() || q.is_nan() {
            return None;
        }
        if q <= 0.0 {
            return Some(self.min_ns);
        }
        if q >= 1.0 {
            return Some(self.max_ns);
        }
        // 0.07 * 100 is 7.000000000000001 in binary; its rank is meant to be 7.
        let product = q * self.count as f64;
        let rank = ((product - product * 4.0 * f64::EPSILON).ceil() as u64).clamp(1, self.count);
        let index = self.index_at_rank(rank);
        Some(bucket_mid_ns(index).clamp(self.min_ns, self.max_ns))
    }

    /// Iterates over the non-empty buckets, lowest first: (lowest value, highest value, count).
    pub fn iter_nonempty(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.nonempty_indexed().map(|(index, count)| {
            let (lo, hi) = bucket_bounds(index);
            (lo, hi, count)
        })
    }

    /// Returns how many values lie below `limit_ns`.
    ///
    /// Exact where the limit is the start of a bucket (as is every limit up to 256). Otherwise the
    /// bucket that holds the limit is split in proportion, so the error is at most the number
    /// of values within 0.8 % of the limit.
    pub fn count_below(&self, limit_ns: u64) -> u64 {
        if self.is_empty() || limit_ns <= self.min_ns {
            return 0;
        }
        if limit_ns > self.max_ns {
            return self.count;
        }
        let limit_idx = bucket_index(limit_ns);
        let n_whole = limit_idx - self.first_idx;
        let below: u64 = self.counts[..n_whole].iter().sum();
        let (lo, hi) = bucket_bounds(limit_idx);
        let (lo, hi) = (lo.max(self.min_ns), hi.min(self.max_ns));
        let part = u128::from(self.counts[n_whole]) * u128::from(limit_ns - lo);
        let width = u128::from(hi - lo) + 1;
        // Rounded down: the maximum itself is never below.
        below + (part / width) as u64
    }

    /// Returns the index of the bucket in which the cumulative count reaches `rank`.
    pub(crate) fn index_at_rank(&self, rank: u64) -> usize {
        assert!((1..=self.count).contains(&rank), "rank {rank} of {} values", self.count);
        let mut reached = 0_u64;
        for (index, count) in self.nonempty_indexed() {
            reached = reached.saturating_add(count);
            if reached >= rank {
                return index;
            }
        }
        self.last_idx()
    }

    /// Iterates over the non-empty buckets as (bucket index, count), lowest first.
    pub(crate) fn nonempty_indexed(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let indexed = self.counts.iter().enumerate();
        indexed.filter(|(_, n)| **n > 0).map(|(i, n)| (self.first_idx + i, *n))
    }

    /// Builds a histogram from counts that start at bucket `first_idx`, which may be untrimmed.
    ///
    /// Moments that contradict the counts are moved to the nearest value that does not: those
    /// of a snapshot taken during writing can be a few values behind its buckets.
    pub(crate) fn from_counts(first_idx: usize, counts: Vec<u64>, moments: &Moments) -> Self {
        let n_buckets = counts.len();
        assert!(first_idx + n_buckets <= N_BUCKETS, "{n_buckets} buckets from {first_idx} on");
        let Some(start) = counts.iter().position(|&n| n > 0) else {
            return Self::new();
        };
        let end = counts.iter().rposition(|&n| n > 0).expect("one is not zero") + 1;
        let mut hist = Self { first_idx: first_idx + start, ..Self::new() };
        hist.counts = if end - start == counts.len() { counts } else { counts[start..end].into() };
        let bounds = MomentBounds::of(&hist);
        hist.count = bounds.count;
        hist.sum_ns = moments.sum_ns.clamp(bounds.sum_lo, bounds.sum_hi);
        hist.sum_squares = moments.sum_squares.clamp(bounds.squares_lo, bounds.squares_hi);
        let (lo, hi) = bucket_bounds(hist.first_idx);
        hist.min_ns = moments.min_ns.clamp(lo, hi);
        let (lo, hi) = bucket_bounds(hist.last_idx());
        hist.max_ns = moments.max_ns.clamp(lo, hi).max(hist.min_ns);
        hist
    }

    /// Returns the index of the highest non-empty bucket; 0 when empty.
    pub(crate) fn last_idx(&self) -> usize {
        (self.first_idx + self.counts.len()).saturating_sub(1)
    }

    /// Returns whether `earlier` can be an earlier state of this histogram.
    fn contains(&self, earlier: &Self) -> bool {
        if earlier.first_idx < self.first_idx
            || earlier.last_idx() > self.last_idx()
            || earlier.sum_ns > self.sum_ns
            || earlier.min_ns < self.min_ns
            || earlier.max_ns > self.max_ns
        {
            return false;
        }
        let mine = &self.counts[earlier.first_idx - self.first_idx..];
        mine.iter().zip(&earlier.counts).all(|(now, before)| now >= before)
    }

    /// Returns the count of a bucket, after widening the range to hold it.
    fn slot_mut(&mut self, index: usize) -> &mut u64 {
        self.cover(index, index);
        &mut self.counts[index - self.first_idx]
    }

    /// Widens the range so that it holds the buckets from `first_idx` to `last_idx`.
    pub(crate) fn cover(&mut self, first_idx: usize, last_idx: usize) {
        assert!(first_idx <= last_idx && last_idx < N_BUCKETS, "{first_idx} to {last_idx}");
        if self.counts.is_empty() {
            self.first_idx = first_idx;
        }
        if first_idx < self.first_idx {
            let n_more = self.first_idx - first_idx;
            self.counts.splice(0..0, std::iter::repeat_n(0, n_more));
            self.first_idx = first_idx;
        }
        let n_needed = last_idx - self.first_idx + 1;
        if n_needed > self.counts.len() {
            self.counts.resize(n_needed, 0);
        }
    }
}

/// What a histogram holds in addition to its buckets.
pub(crate) struct Moments {
    pub(crate) sum_ns: u128,
    pub(crate) sum_squares: u128,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
}

/// The moments that bucket counts allow.
pub(crate) struct MomentBounds {
    pub(crate) count: u64,
    pub(crate) sum_lo: u128,
    pub(crate) sum_hi: u128,
    pub(crate) squares_lo: u128,
    pub(crate) squares_hi: u128,
}

impl MomentBounds {
    pub(crate) fn of(hist: &Histogram) -> Self {
        let mut bounds = Self { count: 0, sum_lo: 0, sum_hi: 0, squares_lo: 0, squares_hi: 0 };
        for (index, count) in hist.nonempty_indexed() {
            bounds.count = bounds.count.saturating_add(count);
            let (lo, hi) = bucket_bounds(index);
            let (lo, hi, n) = (u128::from(lo), u128::from(hi), u128::from(count));
            bounds.sum_lo = bounds.sum_lo.saturating_add(lo * n);
            bounds.sum_hi = bounds.sum_hi.saturating_add(hi * n);
            bounds.squares_lo = bounds.squares_lo.saturating_add((lo * lo).saturating_mul(n));
            bounds.squares_hi = bounds.squares_hi.saturating_add((hi * hi).saturating_mul(n));
        }
        bounds
    }
}
