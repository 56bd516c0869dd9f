//! Intervals of a mean and of a median.

use crate::series;

use super::distribution::{coin_below, t_quantile};

/// A range that holds the true figure with a known probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability, 0 to 1. Of an order-statistic interval the exact one, at or above that asked
    /// for.
    pub coverage: f64,
}

impl Interval {
    /// Returns whether a value lies within, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Checks that an interval can hold a figure with a probability.
pub(crate) fn must_be_coverage(coverage: f64) {
    assert!(coverage > 0.0 && coverage < 1.0, "an interval that holds with {coverage}");
}

/// Returns the mean's interval: `mean +- t(n-1) s / sqrt(n)`.
///
/// Right for independent values only; of samples of one run take [`super::BatchMeans`]. None with
/// fewer than two values, or where one is not finite.
///
/// # Panics
/// If the coverage is no probability between 0 and 1.
pub fn mean_interval(values: &[f64], coverage: f64) -> Option<Interval> {
    must_be_coverage(coverage);
    let mean = series::mean(values)?;
    let error = series::stdev(values)? / (values.len() as f64).sqrt();
    let t = t_quantile(f64::midpoint(1.0, coverage), (values.len() - 1) as f64)?;
    Some(Interval { low: mean - t * error, high: mean + t * error, coverage })
}

/// Returns the median's interval without assuming a distribution, from order statistics.
///
/// The narrowest `[x_(j), x_(n+1-j)]` whose coverage `1 - 2 P(Bin(n, 1/2) < j)` is at least that
/// asked for (CONFIRM: Maricq et al., OSDI'18). None if none has it: below 6 values for 95 %.
pub fn median_interval(values: &[f64], coverage: f64) -> Option<Interval> {
    let sorted = series::sorted(values)?;
    let (low_rank, high_rank, coverage) = median_ranks(sorted.len(), coverage)?;
    Some(Interval { low: sorted[low_rank - 1], high: sorted[high_rank - 1], coverage })
}

/// Returns which order statistics, from 1, bound the median of `n_values`, and their coverage.
///
/// # Panics
/// If the coverage that is asked for is no probability between 0 and 1.
pub fn median_ranks(n_values: usize, coverage: f64) -> Option<(usize, usize, f64)> {
    must_be_coverage(coverage);
    let coverage_of = |rank: usize| 1.0 - 2.0 * coin_below(rank, n_values);
    let ranks = 1..=n_values / 2;
    let rank = ranks.take_while(|rank| coverage_of(*rank) >= coverage).last()?;
    Some((rank, n_values + 1 - rank, coverage_of(rank)))
}
