//! Intervals of few values: golden figures and coverage.

mod common;

use analysis::series;
use analysis::stats::{
    BatchMeans, mean_interval, median_interval, median_ranks, normal_quantile, t_quantile,
};
use common::Noise;
use proptest::prelude::*;

#[track_caller]
fn check_t(p: f64, n_free: f64, expected: f64) {
    let found = t_quantile(p, n_free).unwrap();
    assert!((found - expected).abs() < 6e-4, "t({p}, {n_free}) = {found}");
}

#[test]
fn student_as_tabulated() {
    let table = [
        (1.0, 12.706),
        (2.0, 4.303),
        (4.0, 2.776),
        (5.0, 2.571),
        (9.0, 2.262),
        (19.0, 2.093),
        (29.0, 2.045),
    ];
    for (n_free, expected) in table {
        check_t(0.975, n_free, expected);
        check_t(0.025, n_free, -expected);
    }
    check_t(0.5, 3.0, 0.0);
    check_t(0.9995, 1.0, 636.619);
    assert!((normal_quantile(0.975).unwrap() - 1.959_964).abs() < 1e-5);
    assert!((normal_quantile(0.9).unwrap() - 1.281_552).abs() < 1e-5);
    for p in [0.0, 1.0, -1.0, f64::NAN] {
        assert_eq!(t_quantile(p, 5.0), None);
    }
}

#[track_caller]
fn check_ranks(n: usize, expected: Option<(usize, usize, f64)>) {
    let found = median_ranks(n, 0.95);
    assert_eq!(found.map(|(low, high, _)| (low, high)), expected.map(|(low, high, _)| (low, high)));
    if let (Some(found), Some(expected)) = (found, expected) {
        assert!((found.2 * 100.0 - expected.2).abs() < 0.06, "coverage {}", found.2);
    }
}

#[test]
fn ranks_that_bound_the_median() {
    for n in 0..=5 {
        check_ranks(n, None);
    }
    check_ranks(6, Some((1, 6, 96.9)));
    check_ranks(7, Some((1, 7, 98.4)));
    check_ranks(8, Some((1, 8, 99.2)));
    check_ranks(9, Some((2, 8, 96.1)));
    check_ranks(10, Some((2, 9, 97.9)));
    check_ranks(11, Some((2, 10, 98.8)));
    check_ranks(12, Some((3, 10, 96.1)));
    check_ranks(15, Some((4, 12, 96.5)));
    check_ranks(17, Some((5, 13, 95.1)));
    check_ranks(20, Some((6, 15, 95.9)));
    // Far beyond what powers of two can hold.
    let (low, high, coverage) = median_ranks(5_000, 0.95).unwrap();
    assert_eq!(low + high, 5_001);
    assert!((2_420..2_440).contains(&low) && coverage >= 0.95, "{low} {coverage}");
}

const SIX: [f64; 6] = [41.0, 40.2, 42.1, 39.8, 40.9, 41.4];

#[test]
fn intervals_of_six_values() {
    let mean = series::mean(&SIX).unwrap();
    assert!((mean - 40.90).abs() < 1e-9);
    assert!((series::stdev(&SIX).unwrap() - 0.8246).abs() < 1e-4);
    let interval = mean_interval(&SIX, 0.95).unwrap();
    assert!(
        (interval.high - mean - 0.866).abs() < 1e-3 && (mean - interval.low - 0.866).abs() < 1e-3
    );
    let interval = median_interval(&SIX, 0.95).unwrap();
    assert_eq!((interval.low, interval.high), (39.8, 42.1));
    assert_eq!(median_interval(&SIX[..5], 0.95), None);
}

#[test]
fn a_gap_gives_no_figure() {
    let gap = [1.0, f64::NAN, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(series::mean(&gap), None);
    assert_eq!(series::median(&gap), None);
    assert_eq!(series::slope(&gap), None);
    assert_eq!(mean_interval(&gap, 0.95), None);
    assert_eq!(median_interval(&gap, 0.95), None);
    assert_eq!(BatchMeans::of(&[f64::INFINITY; 60], 0.95), None);
    assert_eq!(mean_interval(&[1.0], 0.95), None);
}

#[test]
fn batches_make_correlated_samples_honest() {
    // Samples that resemble their neighbours: the plain interval misses the true mean far too
    // often, batch means hold nearly what they promise, or give none.
    let (mut n_plain, mut n_batched, mut n_held) = (0, 0, 0);
    for seed in 0..400 {
        let samples = Noise::new(seed).correlated(600, 0.7);
        n_plain += u32::from(mean_interval(&samples, 0.95).unwrap().contains(0.0));
        let Some(batches) = BatchMeans::of(&samples, 0.95) else { continue };
        assert!(batches.autocorrelation.abs() <= 0.1 && batches.n_batches >= 6);
        n_batched += 1;
        n_held += u32::from(batches.interval.contains(0.0));
    }
    assert!(n_plain < 300, "plain intervals hold {n_plain} of 400");
    assert!(n_batched > 380, "batches found for {n_batched} of 400");
    let share = f64::from(n_held) / f64::from(n_batched);
    assert!(share > 0.86, "batched intervals hold {share}");
}

#[test]
fn a_drift_has_no_batches() {
    let drift: Vec<f64> = (0..100).map(f64::from).collect();
    assert_eq!(BatchMeans::of(&drift, 0.95), None);
    // All equal is no drift.
    assert_eq!(BatchMeans::of(&[5.0; 30], 0.95).map(|batches| batches.batch_len), Some(1));
}

proptest! {
    #[test]
    fn intervals_hold_their_figures(values in prop::collection::vec(-1e6_f64..1e6, 6..60)) {
        let median = median_interval(&values, 0.95).unwrap();
        prop_assert!(median.contains(series::median(&values).unwrap()));
        prop_assert!(median.coverage >= 0.95);
        let mean = mean_interval(&values, 0.95).unwrap();
        prop_assert!(mean.contains(series::mean(&values).unwrap()));
        let wider = mean_interval(&values, 0.99).unwrap();
        prop_assert!(wider.low <= mean.low && wider.high >= mean.high);
    }

    #[test]
    fn the_slope_of_a_line_is_its_slope(
        from in -1e3_f64..1e3,
        by in -1e3_f64..1e3,
        n in 2_usize..50,
    ) {
        let line: Vec<f64> = (0..n).map(|idx| from + by * idx as f64).collect();
        prop_assert!((series::slope(&line).unwrap() - by).abs() < 1e-6);
    }
}
