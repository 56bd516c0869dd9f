//! Figures of curves: published results, and what must hold of any curve.

mod common;

use analysis::curve::{Point, Usl, UslError, UslFit, depth_for, knees, overall_response_time};
use analysis::limit::LatencyFigure;
use common::Noise;
use hist::Histogram;
use proptest::prelude::*;

/// NetApp AFF A90, 8 nodes (SPECstorage 2020, res2024q3): job sets and milliseconds.
const A90: [(f64, f64); 10] = [
    (810.0, 0.4),
    (1620.0, 0.4),
    (2430.0, 0.4),
    (3240.0, 0.5),
    (4050.0, 0.6),
    (4860.0, 0.8),
    (5670.0, 1.1),
    (6480.0, 1.5),
    (7290.0, 2.6),
    (8100.0, 4.9),
];

/// Azure NetApp Files breakthrough mode (res2026q2). Not monotone in the middle.
const BT: [(f64, f64); 15] = [
    (1152.0, 0.299),
    (2304.0, 0.346),
    (3456.0, 0.396),
    (4608.0, 0.425),
    (5760.0, 0.450),
    (6912.0, 0.472),
    (8064.0, 0.430),
    (9216.0, 0.435),
    (10368.0, 0.483),
    (11520.0, 0.578),
    (12672.0, 0.753),
    (13824.0, 0.796),
    (14976.0, 0.753),
    (16128.0, 1.026),
    (17280.0, 1.699),
];

#[track_caller]
fn check_ort(points: &[(f64, f64)], expected: f64) {
    let found = overall_response_time(points).unwrap();
    assert!((found - expected).abs() < 6e-6, "{found}, not {expected}");
    // The unit of load does not matter.
    let scaled: Vec<_> = points.iter().map(|(load, ms)| (load * 450.0, *ms)).collect();
    assert!((overall_response_time(&scaled).unwrap() - found).abs() < 1e-12);
}

#[test]
fn overall_response_times_as_published() {
    check_ort(&A90, 1.172_222);
    check_ort(&A90[..9], 0.85);
    check_ort(&A90[..8], 0.678_571);
    check_ort(&A90[..7], 0.575);
    check_ort(&BT, 0.595_857);
    check_ort(&BT[..14], 0.536_885);
    check_ort(&BT[..13], 0.5075);
    check_ort(&BT[..12], 0.483_227);
    assert_eq!(overall_response_time(&A90[..1]), None);
    assert_eq!(overall_response_time(&[(2.0, 1.0), (1.0, 1.0)]), None);
    assert_eq!(overall_response_time(&[(1.0, 1.0), (2.0, f64::NAN)]), None);
}

#[track_caller]
fn check_knees(points: &[(f64, f64)], sensitivity: f64, expected: &[f64]) {
    assert_eq!(knees(points, sensitivity).unwrap().loads(), expected);
}

#[test]
fn knees_as_published() {
    check_knees(&A90, 1.0, &[6480.0]);
    check_knees(&A90[..9], 1.0, &[4860.0]);
    check_knees(&A90[..8], 1.0, &[4050.0]);
    check_knees(&A90[..7], 1.0, &[4050.0]);
    for sensitivity in [0.5, 2.0, 3.0] {
        check_knees(&A90, sensitivity, &[6480.0]);
    }
    check_knees(&A90[..8], 3.0, &[]);
    check_knees(&BT, 1.0, &[11520.0, 14976.0]);
    check_knees(&BT[..14], 1.0, &[10368.0, 14976.0]);
    check_knees(&BT[..13], 1.0, &[9216.0]);
}

#[test]
fn a_knee_comes_with_its_doubts() {
    let found = knees(&A90, 1.0).unwrap();
    assert!((found.knees[0].distance - 0.5333).abs() < 1e-4, "{found:?}");
    assert!((found.knees[0].latency - 1.5).abs() < 1e-9);
    assert_eq!(found.range, (810.0, 8100.0));
    assert_eq!(found.truncated, [vec![4860.0], vec![4050.0]]);
    let (low, high) = found.leave_one_out.unwrap();
    assert!(low <= 4860.0 && high >= 6480.0, "{found:?}");
    // A straight line has none, a flat one no shape at all.
    let line: Vec<(f64, f64)> = (0..10).map(|idx| (f64::from(idx), f64::from(idx))).collect();
    assert_eq!(knees(&line, 1.0).unwrap().knees, []);
    let flat: Vec<(f64, f64)> = (0..10).map(|idx| (f64::from(idx), 1.0)).collect();
    assert_eq!(knees(&flat, 1.0), None);
    // A level one that is measured: 1 ms, give or take a hundredth.
    let noisy: Vec<(f64, f64)> =
        (1..=10).map(|idx| (f64::from(idx), 1.0 + 0.01 * f64::from(idx * 7 % 5))).collect();
    assert_eq!(knees(&noisy, 1.0), None);
    assert_eq!(knees(&A90[..2], 1.0), None);
}

const USL: Usl = Usl { of_one: 50_000.0, contention: 0.05, coherency: 0.0004 };

#[test]
fn the_scalability_law_as_published() {
    let table = [
        (1.0, 50_000.0),
        (8.0, 291_460.0),
        (16.0, 433_369.0),
        (32.0, 542_962.0),
        (48.0, 564_387.0),
        (64.0, 555_286.0),
    ];
    for (n, expected) in table {
        assert!((USL.throughput(n) - expected).abs() < 1.0, "{n}: {}", USL.throughput(n));
    }
    assert!((USL.peak_n().unwrap() - 48.734).abs() < 1e-3);
    assert_eq!(Usl { coherency: 0.0, ..USL }.peak_n(), None);
}

fn curve_of(usl: &Usl, ns: &[f64], noise: &mut Noise, share: f64) -> Vec<(f64, f64)> {
    ns.iter().map(|n| (*n, usl.throughput(*n) * (1.0 + share * noise.normal()))).collect()
}

const NOT_BRACKETED: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
const BRACKETED: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 96.0, 128.0];

#[test]
fn without_noise_the_law_is_found_where_its_peak_is() {
    let mut noise = Noise::new(1);
    let fit = UslFit::of(&curve_of(&USL, &BRACKETED, &mut noise, 0.0)).unwrap();
    assert!((fit.usl.of_one / USL.of_one - 1.0).abs() < 1e-6, "{fit:?}");
    assert!((fit.usl.contention / USL.contention - 1.0).abs() < 1e-6, "{fit:?}");
    assert!((fit.usl.coherency / USL.coherency - 1.0).abs() < 1e-6, "{fit:?}");
    assert!((fit.peak_n - 48.734).abs() < 1e-2 && fit.error_share < 1e-6);
    assert_eq!(fit.range, (1.0, 128.0));
    // Exact points up to 32 do give the peak at 49: beyond what was measured, so no.
    let points = curve_of(&USL, &NOT_BRACKETED, &mut noise, 0.0);
    assert_eq!(UslFit::of(&points), Err(UslError::PeakNotBracketed { n_max: 32.0 }));
}

#[test]
fn a_fit_takes_a_bracketed_peak() {
    let (mut n_short, mut n_long, mut n_near, mut n_held) = (0, 0, 0, 0);
    for seed in 0..300 {
        let mut noise = Noise::new(seed);
        let short = UslFit::of(&curve_of(&USL, &NOT_BRACKETED, &mut noise, 0.03));
        n_short += u32::from(short.is_ok());
        if let Ok(fit) = UslFit::of(&curve_of(&USL, &BRACKETED, &mut noise, 0.03)) {
            n_long += 1;
            n_near += u32::from((38.0..64.0).contains(&fit.peak_n));
            n_held += u32::from(fit.peak_interval.contains(48.734));
        }
    }
    assert!(n_short <= 6, "{n_short} of 300 fits without a peak");
    assert!(n_long >= 290 && n_near >= 285, "{n_long} fits of 300, {n_near} of them near");
    assert!(n_held >= 270, "{n_held} intervals hold the peak");
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let few = [(1.0, 1.0); 5];
    assert_eq!(UslFit::of(&few), Err(UslError::TooFewPoints { n_points: 5 }));
    assert_eq!(UslFit::of(&[(1.0, 1.0); 6]), Err(UslError::NotACurve));
    let rising: Vec<(f64, f64)> = (1..9).map(|n| (f64::from(n), f64::from(n))).collect();
    assert!(matches!(UslFit::of(&rising), Err(UslError::PeakNotBracketed { .. })));
}

#[test]
fn the_depth_that_a_rate_needs() {
    // Published: 1 ms and 5,000 IOPS; 1.14 ms and 3,500; 1.3 ms and 5,000; 1 ms and 300,000.
    assert_eq!(depth_for(5_000.0, 1e6), Some(5));
    assert_eq!(depth_for(3_500.0, 1.14e6), Some(4));
    assert_eq!(depth_for(5_000.0, 1.3e6), Some(7));
    assert_eq!(depth_for(300_000.0, 1e6), Some(300));
    assert_eq!(depth_for(10.0, 1e6), Some(1));
    for (iops, ns) in [(0.0, 1e6), (1e3, 0.0), (f64::NAN, 1e6), (1e300, 1e300)] {
        assert_eq!(depth_for(iops, ns), None);
    }
}

#[test]
fn a_point_gives_pairs() {
    let mut latency = Histogram::new();
    latency.record_n(100, 99);
    latency.record(5_000);
    let point = Point {
        offered_iops: Some(1000.0),
        queue_depth: None,
        achieved_iops: 990.0,
        bytes_per_s: 990.0 * 4096.0,
        latency,
    };
    assert_eq!(point.by_rate(LatencyFigure::Mean), Some((990.0, 149.0)));
    assert_eq!(point.by_rate(LatencyFigure::Percentile(50.0)), Some((990.0, 100.0)));
    assert_eq!(point.measured().offered_iops, Some(1000.0));
}

proptest! {
    #[test]
    fn figures_lie_within_their_points(latencies in prop::collection::vec(0.1_f64..100.0, 3..30)) {
        let points: Vec<(f64, f64)> =
            latencies.iter().enumerate().map(|(idx, ms)| (100.0 * (idx + 1) as f64, *ms)).collect();
        let low = latencies.iter().copied().fold(f64::INFINITY, f64::min);
        let high = latencies.iter().copied().fold(0.0, f64::max);
        let ort = overall_response_time(&points).unwrap();
        prop_assert!(low - 1e-9 <= ort && ort <= high + 1e-9);
        if let Some(found) = knees(&points, 1.0) {
            let inner = &points[1..points.len() - 1];
            for knee in found.loads() {
                prop_assert!(inner.iter().any(|point| (point.0 - knee).abs() < 1e-9));
            }
        }
    }

    #[test]
    fn no_points_panic(
        points in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..12),
    ) {
        let _ = (overall_response_time(&points), knees(&points, 1.0));
        let _ = UslFit::of(&points);
    }
}
