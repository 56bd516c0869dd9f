//! Interval statistics: Welford, parallel merge, and fio's summing merge.

use hist::Stats;
use proptest::prelude::*;

fn stats_of(samples: &[u64]) -> Stats {
    let mut stats = Stats::new();
    for &sample in samples {
        stats.record(sample);
    }
    stats
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

#[test]
fn figures_of_a_known_series() {
    let stats = stats_of(&[2, 4, 4, 4, 5, 5, 7, 9]);
    assert_eq!((stats.n_samples(), stats.min(), stats.max()), (8, 2, 9));
    assert!(close(stats.mean(), 5.0) && close(stats.stdev(), (32.0_f64 / 7.0).sqrt()));
}

#[test]
fn without_samples_all_is_zero() {
    let stats = Stats::new();
    assert_eq!((stats.n_samples(), stats.min(), stats.max()), (0, 0, 0));
    assert!(close(stats.mean(), 0.0) && close(stats_of(&[7]).stdev(), 0.0));
}

#[test]
fn fio_groups_add_every_figure() {
    let mut group = stats_of(&[10, 20]);
    group.merge_summing(&stats_of(&[30, 60]));
    assert_eq!((group.n_samples(), group.min(), group.max()), (4, 40, 80));
    assert!(close(group.mean(), 60.0) && close(group.stdev(), (500.0_f64 / 3.0).sqrt()));
}

proptest! {
    #[test]
    fn merging_is_recording_into_one(
        a in prop::collection::vec(0..1_u64 << 40, 0..50),
        b in prop::collection::vec(0..1_u64 << 40, 0..50),
    ) {
        let mut merged = stats_of(&a);
        merged.merge(&stats_of(&b));
        let all = stats_of(&[a, b].concat());
        prop_assert_eq!(
            (merged.n_samples(), merged.min(), merged.max()),
            (all.n_samples(), all.min(), all.max())
        );
        prop_assert!(close(merged.mean(), all.mean()) && close(merged.stdev(), all.stdev()));
    }
}
