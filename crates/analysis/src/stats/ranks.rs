//! The interval of a shift between two sets, from ranks (Mann and Whitney; Hodges and Lehmann).

use crate::series;

use super::Interval;
use super::distribution::normal_quantile;

/// Sets that together hold at most this many values have exact counts: they stay whole numbers
/// below 2^53. Above, the normal approximation is good to three digits.
const N_EXACT_MAX: usize = 40;

/// Returns the median of all differences `b - a`, and their interval; none where the sets are too
/// small for the coverage (4 and 4 reach 95 %), or a value is not finite.
pub(crate) fn pair_interval(
    a: &[f64],
    b: &[f64],
    coverage: f64,
) -> Option<(f64, Option<Interval>)> {
    let differences: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect();
    let sorted = series::sorted(&differences)?;
    let shift = series::median(&sorted)?;
    let ends = rank_bound(a.len(), b.len(), coverage);
    let interval = ends.map(|(rank, coverage)| Interval {
        low: sorted[rank - 1],
        high: sorted[sorted.len() - rank],
        coverage,
    });
    Some((shift, interval))
}

/// Returns the rank, from 1, of the difference that bounds the shift, and the coverage.
fn rank_bound(n_a: usize, n_b: usize, coverage: f64) -> Option<(usize, f64)> {
    let tail_max = (1.0 - coverage) / 2.0;
    if n_a + n_b > N_EXACT_MAX {
        let pairs = n_a as f64 * n_b as f64;
        let stdev = (pairs * (n_a + n_b + 1) as f64 / 12.0).sqrt();
        let rank = (pairs / 2.0 - normal_quantile(1.0 - tail_max)? * stdev).floor();
        return (rank >= 1.0).then_some((rank as usize, coverage));
    }
    bound(&rank_sum_counts(n_a, n_b), tail_max)
}

/// Returns the median of the differences of pairs, and its interval from the signed ranks
/// (Wilcoxon; Hodges and Lehmann): of all means of two differences, one with itself among them.
/// None where there are too few pairs (6 reach 95 %), or a value is not finite.
///
/// What both of a pair share drops out. Where chance decided which of a pair came first, it holds
/// whatever else went on.
pub(crate) fn paired_interval(a: &[f64], b: &[f64], coverage: f64) -> Option<(f64, Interval)> {
    let (n, n_other) = (a.len(), b.len());
    assert!(n == n_other, "{n} and {n_other} runs are no pairs");
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
    let mut means = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (idx, one) in differences.iter().enumerate() {
        means.extend(differences[idx..].iter().map(|other| f64::midpoint(*one, *other)));
    }
    let sorted = series::sorted(&means)?;
    let (rank, coverage) = signed_rank_bound(differences.len(), coverage)?;
    let (low, high) = (sorted[rank - 1], sorted[sorted.len() - rank]);
    Some((series::median(&sorted)?, Interval { low, high, coverage }))
}

/// Returns the rank, from 1, of the mean of two differences that bounds the shift, and the
/// coverage.
fn signed_rank_bound(n: usize, coverage: f64) -> Option<(usize, f64)> {
    let tail_max = (1.0 - coverage) / 2.0;
    if n > N_EXACT_MAX {
        let n = n as f64;
        let stdev = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let rank = (n * (n + 1.0) / 4.0 - normal_quantile(1.0 - tail_max)? * stdev).floor();
        return (rank >= 1.0).then_some((rank as usize, coverage));
    }
    // Orders of signs for every sum of the ranks of positive differences.
    let mut counts = vec![0.0; n * (n + 1) / 2 + 1];
    counts[0] = 1.0;
    for rank in 1..=n {
        for sum in (rank..counts.len()).rev() {
            counts[sum] += counts[sum - rank];
        }
    }
    bound(&counts, tail_max)
}

/// Returns the last rank, from 1, up to which a statistic stays within a tail, and the coverage of
/// what lies between two such tails.
fn bound(counts: &[f64], tail_max: f64) -> Option<(usize, f64)> {
    let n_orders: f64 = counts.iter().sum();
    let mut tail = 0.0;
    let mut best = None;
    for (idx, count) in counts.iter().enumerate() {
        tail += count / n_orders;
        if tail > tail_max {
            break;
        }
        best = Some((idx + 1, 1.0 - 2.0 * tail));
    }
    best
}

/// Counts, for every value of the Mann-Whitney statistic, the orders of both sets that have it:
/// the coefficients of the Gaussian binomial `prod (1 - q^(n_b + i)) / (1 - q^i)`.
fn rank_sum_counts(n_a: usize, n_b: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n_a * n_b + 1];
    counts[0] = 1.0;
    for i in 1..=n_a {
        for idx in (n_b + i..counts.len()).rev() {
            counts[idx] -= counts[idx - n_b - i];
        }
        for idx in i..counts.len() {
            counts[idx] += counts[idx - i];
        }
    }
    counts
}
