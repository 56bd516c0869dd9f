//! The plain histogram: moments, quantiles, merging and subtracting.

mod common;

use common::{histogram_of, latencies};
use hist::{Histogram, bucket_bounds, bucket_index};
use proptest::prelude::*;

#[track_caller]
fn check_stdev(values: &[u64], expected: f64) {
    let stdev = histogram_of(values).stdev_ns().expect("two values or more");
    assert!((stdev - expected).abs() <= expected * 1e-9, "{stdev} is not {expected}");
}

#[test]
fn stdev_is_the_samples_own_whatever_the_bucket_width() {
    check_stdev(&[2, 4, 4, 4, 5, 5, 7, 9], (32.0_f64 / 7.0).sqrt());
    check_stdev(&[1_000_000_000, 1_000_000_001], 0.5_f64.sqrt());
    check_stdev(&[u64::MAX >> 1, (u64::MAX >> 1) - 3], 4.5_f64.sqrt());
    check_stdev(&[77; 5], 0.0);
    assert_eq!(histogram_of(&[5]).stdev_ns(), None);
}

#[test]
fn an_empty_histogram_has_no_figures() {
    let hist = Histogram::new();
    assert_eq!((hist.count(), hist.sum_ns()), (0, 0));
    assert_eq!((hist.min_ns(), hist.max_ns(), hist.mean_ns()), (None, None, None));
    assert_eq!((hist.quantile(0.5), hist.count_below(10)), (None, 0));
    assert_eq!(hist.iter_nonempty().count(), 0);
}

#[track_caller]
fn check_quantile(n_values: u64, q: f64, expected: u64) {
    let values: Vec<u64> = (1..=n_values).collect();
    assert_eq!(histogram_of(&values).quantile(q), Some(expected));
}

#[test]
fn quantile_takes_the_rank_a_reader_expects() {
    check_quantile(100, 0.07, 7);
    check_quantile(100, 0.5, 50);
    check_quantile(100, 0.501, 51);
    check_quantile(100, 0.99, 99);
    check_quantile(100, 0.999, 100);
    check_quantile(100, 0.0, 1);
    check_quantile(100, -3.0, 1);
    check_quantile(100, 7.0, 100);
    check_quantile(1, 0.5, 1);
    assert_eq!(histogram_of(&[3]).quantile(f64::NAN), None);
}

#[test]
fn quantile_stays_within_minimum_and_maximum() {
    let hist = histogram_of(&[1_000_001]);
    assert_eq!(hist.quantile(0.5), Some(1_000_001));
}

#[track_caller]
fn check_below(values: &[u64], limit_ns: u64, expected: u64) {
    assert_eq!(histogram_of(values).count_below(limit_ns), expected);
}

#[test]
fn count_below_is_exact_on_limits_and_splits_within_a_bucket() {
    check_below(&[1, 2, 3, 250], 3, 2);
    check_below(&[1, 2, 3, 250], 251, 4);
    check_below(&[1, 2, 3], 1, 0);
    check_below(&[1000, 1001, 1002, 1003, 1004], 1004, 4);
    check_below(&[1000, 1001, 1002, 1003], 1002, 2);
    check_below(&[0, u64::MAX], u64::MAX, 1);
    check_below(&[], 5, 0);
}

#[test]
fn a_reset_in_between_makes_everything_new() {
    let before = histogram_of(&[100, 200, 300]);
    let after = histogram_of(&[150, 250]);
    assert_eq!(after.delta_since(&before), after);
}

#[test]
fn extreme_counts_saturate() {
    let mut hist = Histogram::new();
    hist.record_n(u64::MAX, u64::MAX);
    hist.record_n(u64::MAX, u64::MAX);
    assert_eq!(hist.count(), u64::MAX);
    assert_eq!(hist.quantile(0.5), Some(u64::MAX));
    assert!(hist.mean_ns().is_some_and(f64::is_finite));
    assert!(hist.stdev_ns().is_some_and(f64::is_finite));
}

fn exact_quantile(values: &mut [u64], q: f64) -> u64 {
    values.sort_unstable();
    let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
    values[rank - 1]
}

proptest! {
    #[test]
    fn moments_are_exact(values in latencies()) {
        let hist = histogram_of(&values);
        prop_assert_eq!(hist.count(), values.len() as u64);
        prop_assert_eq!(hist.sum_ns(), values.iter().map(|&v| u128::from(v)).sum::<u128>());
        prop_assert_eq!(hist.min_ns(), values.iter().min().copied());
        prop_assert_eq!(hist.max_ns(), values.iter().max().copied());
        prop_assert_eq!(hist.iter_nonempty().map(|(_, _, n)| n).sum::<u64>(), hist.count());
    }

    #[test]
    fn stdev_agrees_with_two_passes(values in prop::collection::vec(0..1_u64 << 40, 2..200)) {
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        let squares: f64 = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum();
        let expected = (squares / (values.len() - 1) as f64).sqrt();
        let stdev = histogram_of(&values).stdev_ns().unwrap();
        prop_assert!((stdev - expected).abs() <= expected * 1e-6, "{} {}", stdev, expected);
    }

    #[test]
    fn quantile_is_within_half_a_bucket(mut values in latencies(), q in 0.001..1.0_f64) {
        prop_assume!(!values.is_empty());
        let found = histogram_of(&values).quantile(q).unwrap();
        let exact = exact_quantile(&mut values, q);
        prop_assert!(found.abs_diff(exact) as f64 <= exact as f64 * 0.004);
    }

    #[test]
    fn quantile_never_falls(values in latencies(), a in 0.0..1.0_f64, b in 0.0..1.0_f64) {
        let hist = histogram_of(&values);
        prop_assert!(hist.quantile(a.min(b)) <= hist.quantile(a.max(b)));
    }

    #[test]
    fn merging_is_recording_into_one(a in latencies(), b in latencies(), c in latencies()) {
        let all = histogram_of(&[a.clone(), b.clone(), c.clone()].concat());
        let (a, b, c) = (histogram_of(&a), histogram_of(&b), histogram_of(&c));
        let mut left = a.clone();
        left.merge(&b);
        left.merge(&c);
        let mut right = c;
        right.merge(&b);
        right.merge(&a);
        prop_assert_eq!(&left, &all);
        prop_assert_eq!(&right, &all);
    }

    #[test]
    fn a_delta_merged_back_gives_the_later_state(a in latencies(), b in latencies()) {
        let mut earlier = histogram_of(&a);
        let later = histogram_of(&[a, b.clone()].concat());
        let delta = later.delta_since(&earlier);
        prop_assert_eq!(delta.count(), b.len() as u64);
        prop_assert_eq!(delta.sum_ns(), b.iter().map(|&v| u128::from(v)).sum::<u128>());
        for (found, exact) in [(delta.min_ns(), b.iter().min()), (delta.max_ns(), b.iter().max())] {
            prop_assert_eq!(found.map(bucket_index), exact.copied().map(bucket_index));
        }
        earlier.merge(&delta);
        prop_assert_eq!(earlier, later);
    }

    #[test]
    fn record_n_is_record_n_times(value in common::latency_ns(), n in 0..50_u64) {
        let mut hist = Histogram::new();
        hist.record_n(value, n);
        prop_assert_eq!(hist, histogram_of(&vec![value; n as usize]));
    }

    #[test]
    fn count_below_errs_only_within_the_bucket(
        values in latencies(),
        limit in common::latency_ns(),
    ) {
        let (lo, hi) = bucket_bounds(bucket_index(limit));
        let n_below = |end| values.iter().filter(|&&v| v < end).count() as u64;
        let found = histogram_of(&values).count_below(limit);
        prop_assert!(found >= n_below(lo));
        prop_assert!(found <= values.iter().filter(|&&v| v <= hi).count() as u64);
    }

    /// The same rank rule, so both must name values of the same size.
    #[test]
    fn agrees_with_hdrhistogram(
        values in prop::collection::vec(1..1_u64 << 40, 1..200),
        percent in 1..=100_u64,
    ) {
        let mut reference = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 41, 4).unwrap();
        for &value in &values {
            reference.record(value).unwrap();
        }
        // Never a whole rank: there hdrhistogram may take the next one.
        let q = (percent as f64 - 0.317) / 100.0;
        let found = histogram_of(&values).quantile(q).unwrap();
        let expected = reference.value_at_quantile(q);
        let apart = found.abs_diff(expected) as f64 / expected as f64;
        prop_assert!(apart <= 0.0045, "{} against {}", found, expected);
    }
}
