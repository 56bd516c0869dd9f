//! Steady state, the end of the warm-up, and jumps of the level.

mod common;

use analysis::change::{ChangeRule, changes};
use analysis::series;
use analysis::steady::{Steadiness, SteadyRule, WindowTest, assess};
use analysis::warmup::WarmUp;
use common::Noise;
use proptest::prelude::*;

/// What a window's figures are: range, its limit, slope, excursion, its limit.
type Figures = (f64, f64, f64, f64, f64);

#[track_caller]
fn check(values: [f64; 5], expected: Figures, is_range_kept: bool, is_slope_kept: bool) {
    let test = WindowTest::of(&values, &SteadyRule::default()).unwrap();
    let found = (test.range, test.range_max, test.slope, test.excursion, test.excursion_max);
    let pairs = [
        (found.0, expected.0),
        (found.1, expected.1),
        (found.2, expected.2),
        (found.3, expected.3),
        (found.4, expected.4),
    ];
    assert!(pairs.iter().all(|(found, expected)| (found - expected).abs() < 1e-9), "{found:?}");
    assert_eq!((test.is_range_kept(), test.is_slope_kept()), (is_range_kept, is_slope_kept));
    assert_eq!(test.is_steady(), is_range_kept && is_slope_kept);
}

#[test]
fn snia_as_published() {
    check([100.0, 102.0, 98.0, 101.0, 99.0], (4.0, 20.0, -0.3, 1.2, 10.0), true, true);
    check([100.0, 104.0, 108.0, 112.0, 116.0], (16.0, 21.6, 4.0, 16.0, 10.8), true, false);
    check([89.0, 111.0, 89.0, 111.0, 100.0], (22.0, 20.0, 2.2, 8.8, 10.0), false, true);
    check([90.0, 110.0, 100.0, 90.0, 110.0], (20.0, 20.0, 2.0, 8.0, 10.0), true, true);
    check([100.0, 97.5, 95.0, 92.5, 90.0], (10.0, 19.0, -2.5, 10.0, 9.5), true, false);
}

#[test]
fn a_standstill_or_a_gap_is_not_steady() {
    let rule = SteadyRule::default();
    assert!(!WindowTest::of(&[0.0; 5], &rule).unwrap().is_steady());
    for bad in [f64::NAN, f64::INFINITY] {
        let values = [100.0, bad, 100.0, 100.0, 100.0];
        assert_eq!(WindowTest::of(&values, &rule), None);
        assert_eq!(assess(&[&values], &rule), Steadiness::NotSteady { tests: vec![None] });
    }
}

#[test]
fn the_first_window_in_which_all_series_hold() {
    let rule = SteadyRule::default();
    let iops = [10.0, 50.0, 100.0, 101.0, 99.0, 100.0, 100.0, 100.0, 100.0];
    let p99 = [5.0, 5.0, 5.0, 5.0, 9.0, 5.0, 5.0, 5.0, 5.0];
    assert!(matches!(assess(&[&iops], &rule), Steadiness::Steady { from_round: 2, .. }));
    // The 99th percentile jumps in round 4, so no window that holds it will do.
    assert!(matches!(assess(&[&iops, &p99], &rule), Steadiness::NotSteady { .. }));
    let longer = |values: &[f64]| [values, &values[8..]].concat();
    let (iops, p99) = (longer(&iops), longer(&p99));
    match assess(&[&iops, &p99], &rule) {
        Steadiness::Steady { from_round: 5, tests } => assert_eq!(tests.len(), 2),
        other => panic!("{other:?}"),
    }
    assert_eq!(assess(&[&iops[..4]], &rule), Steadiness::NotAssessed { n_rounds: 4 });
    assert_eq!(assess(&[], &rule), Steadiness::NotAssessed { n_rounds: 0 });
}

#[test]
fn limits_and_window_are_settable() {
    let values = [100.0, 104.0, 108.0, 112.0, 116.0];
    let rule = SteadyRule { slope_pct: 15.0, ..SteadyRule::default() };
    assert!(WindowTest::of(&values, &rule).unwrap().is_steady());
    let rule = SteadyRule { n_rounds: 3, ..SteadyRule::default() };
    assert!(matches!(assess(&[&values[..3]], &rule), Steadiness::Steady { from_round: 0, .. }));
}

#[test]
fn rounds_are_medians_of_the_last_samples() {
    assert_eq!(series::rounds(&[9.0, 1.0, 2.0, 3.0, 4.0, 8.0, 6.0], 2), Some(vec![2.0, 6.0]));
    assert_eq!(series::rounds(&[1.0], 2), None);
    assert_eq!(series::rounds(&[1.0], 0), None);
    assert_eq!(series::rounds(&[1.0, f64::NAN], 2), None);
}

/// Noise around a level that starts low and rises towards it, as a cache that fills.
fn warming(seed: u64, n_warm: usize, n: usize) -> Vec<f64> {
    let mut noise = Noise::new(seed);
    let part = |idx: usize| (-3.0 * idx as f64 / n_warm as f64).exp();
    (0..n).map(|idx| 1000.0 * (1.0 - 0.8 * part(idx)) + 20.0 * noise.normal()).collect()
}

#[test]
fn the_warm_up_is_cut_off() {
    for seed in 0..50 {
        let WarmUp::Cut(n) = WarmUp::of(&warming(seed, 60, 600)) else { panic!("seed {seed}") };
        // At 60 samples 4 % are missing, twice the noise.
        assert!((40..=200).contains(&n), "seed {seed}: {n}");
    }
}

#[test]
fn what_does_not_warm_up_is_kept() {
    let (mut n_cut, mut n_not_settled) = (0, 0);
    for seed in 0..200 {
        let noise = Noise::new(seed).correlated(600, 0.3);
        let samples: Vec<f64> = noise.iter().map(|part| 1000.0 + 20.0 * part).collect();
        match WarmUp::of(&samples) {
            WarmUp::Cut(n) => n_cut += n,
            WarmUp::NotSettled => n_not_settled += 1,
            WarmUp::NotAssessed => panic!("seed {seed}"),
        }
    }
    assert!(n_cut < 200 * 60, "{} of 600 samples are cut on average", n_cut / 200);
    assert!(n_not_settled <= 4, "{n_not_settled} of 200");
    assert_eq!(WarmUp::of(&[7.0; 100]), WarmUp::Cut(0));
}

#[test]
fn a_series_that_never_settles_says_so() {
    let rising: Vec<f64> = (0..300).map(f64::from).collect();
    assert_eq!(WarmUp::of(&rising), WarmUp::NotSettled);
    assert_eq!(WarmUp::of(&[1.0; 59]), WarmUp::NotAssessed);
    assert_eq!(WarmUp::of(&[f64::NAN; 100]), WarmUp::NotAssessed);
}

/// A series of levels, each to its end, with noise of 2 % that resembles its neighbours.
fn levels(seed: u64, levels: &[(usize, f64)]) -> Vec<f64> {
    let n = levels.last().unwrap().0;
    let noise = Noise::new(seed).correlated(n, 0.5);
    let level_at = |idx: usize| levels.iter().find(|(end, _)| idx < *end).unwrap().1;
    noise.iter().enumerate().map(|(idx, part)| level_at(idx) * (1.0 + 0.02 * part)).collect()
}

#[track_caller]
fn check_changes(shape: &[(usize, f64)]) {
    for seed in 0..20 {
        let found = changes(&levels(seed, shape), &ChangeRule::default());
        assert_eq!(found.len(), shape.len() - 1, "seed {seed}: {found:?}");
        for (change, ends) in found.iter().zip(shape.windows(2)) {
            assert!(change.at_idx.abs_diff(ends[0].0) <= 5, "seed {seed}: {change:?}");
            assert!((change.before / ends[0].1 - 1.0).abs() < 0.03, "{change:?}");
            assert!((change.after / ends[1].1 - 1.0).abs() < 0.03, "{change:?}");
        }
    }
}

#[test]
fn the_end_of_credits_is_found_to_five_seconds() {
    check_changes(&[(1_803, 3_500.0), (3_600, 120.0)]);
    check_changes(&[(31, 3_500.0), (3_600, 120.0)]);
    check_changes(&[(3_570, 3_500.0), (3_600, 500.0)]);
    // A tenth less, five times the noise.
    check_changes(&[(1_200, 5_000.0), (3_600, 4_500.0)]);
}

#[test]
fn several_changes_are_found() {
    check_changes(&[(600, 5_000.0), (1_200, 2_500.0), (3_600, 5_000.0)]);
    // A bump whose jumps cancel.
    check_changes(&[(1_700, 1_000.0), (1_900, 1_500.0), (3_600, 1_000.0)]);
    check_changes(&[(500, 100.0), (1_000, 200.0), (1_500, 400.0), (2_000, 800.0)]);
}

#[test]
fn a_calm_series_has_no_change() {
    for seed in 0..100 {
        let found = changes(&levels(seed, &[(3_600, 5_000.0)]), &ChangeRule::default());
        assert!(found.is_empty(), "seed {seed}: {found:?}");
        // However small a change may be.
        let rule = ChangeRule { size_pct_min: 0.0, ..ChangeRule::default() };
        let found = changes(&levels(seed, &[(600, 5_000.0)]), &rule);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
    }
    assert_eq!(changes(&[5.0; 100], &ChangeRule::default()), Vec::new());
    assert_eq!(changes(&[0.0; 100], &ChangeRule::default()), Vec::new());
}

#[test]
fn without_noise_the_place_is_exact() {
    let mut samples = vec![3_500.0; 700];
    samples.extend([500.0; 300]);
    let found = changes(&samples, &ChangeRule::default());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].at_idx, found[0].before, found[0].after), (700, 3_500.0, 500.0));
    assert!((found[0].size_pct() - 85.714).abs() < 0.001);
}

proptest! {
    #[test]
    fn nothing_panics(
        values in prop::collection::vec(prop::num::f64::ANY, 0..80),
        window in 2_usize..9,
    ) {
        let rule = SteadyRule { n_rounds: window, ..SteadyRule::default() };
        let _ = assess(&[&values], &rule);
        let _ = WarmUp::of(&values);
        for change in changes(&values, &ChangeRule { segment_len_min: window, size_pct_min: 5.0 }) {
            prop_assert!(change.at_idx > 0 && change.at_idx < values.len());
        }
    }

    #[test]
    fn scaling_changes_no_verdict(
        values in prop::collection::vec(1.0_f64..1e3, 5),
        by in 0.01_f64..100.0,
    ) {
        let scaled: Vec<f64> = values.iter().map(|value| value * by).collect();
        let rule = SteadyRule::default();
        let (plain, scaled) = (WindowTest::of(&values, &rule), WindowTest::of(&scaled, &rule));
        let (plain, scaled) = (plain.unwrap(), scaled.unwrap());
        // Away from the limits themselves, where rounding decides.
        if (plain.range / plain.range_max - 1.0).abs() > 1e-9
            && (plain.excursion / plain.excursion_max - 1.0).abs() > 1e-9
        {
            prop_assert_eq!(plain.is_steady(), scaled.is_steady());
        }
    }
}
