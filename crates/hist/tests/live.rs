//! The live histogram equals the plain one, and readers never see torn state.

mod common;

use common::{histogram_of, latencies};
use hist::LiveHistogram;
use proptest::prelude::*;

#[test]
fn a_reset_forgets_everything() {
    let live = LiveHistogram::new();
    live.record(5);
    live.record(u64::MAX);
    live.reset();
    assert_eq!((live.count(), live.snapshot()), (0, histogram_of(&[])));
    live.record(7);
    assert_eq!(live.snapshot(), histogram_of(&[7]));
}

/// Every value is one second, so any snapshot taken at any time must say so: a torn one would show
/// in the mean (sum against count), the deviation (squares) or the total.
#[test]
fn readers_see_whole_values_while_the_writer_runs() {
    const VALUE_NS: u64 = 1_000_000_000;
    let live = LiveHistogram::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..200_000 {
                live.record(VALUE_NS);
            }
        });
        let mut earlier = live.snapshot();
        while !writer.is_finished() {
            let now = live.snapshot();
            assert!(now.count() >= earlier.count());
            // While outrun, the sum may lag by the values of one read, which stay in the bucket.
            let mean_ns = now.mean_ns().unwrap_or(VALUE_NS as f64);
            assert!((mean_ns / VALUE_NS as f64 - 1.0).abs() < 0.01, "{mean_ns}");
            earlier = now;
        }
    });
    let mut expected = histogram_of(&[]);
    expected.record_n(VALUE_NS, 200_000);
    assert_eq!(live.snapshot(), expected);
}

proptest! {
    #[test]
    fn live_equals_plain(values in latencies(), extra in common::latency_ns(), n in 0..9_u64) {
        let live = LiveHistogram::new();
        for &value in &values { live.record(value); }
        live.record_n(extra, n);
        let mut plain = histogram_of(&values);
        plain.record_n(extra, n);
        prop_assert_eq!(live.count(), plain.count());
        prop_assert_eq!(live.snapshot(), plain);
    }

    #[test]
    fn many_at_once_are_the_same_as_one_by_one(
        before in latencies(),
        runs in prop::collection::vec((common::latency_ns(), 0..4_u64), 0..90),
    ) {
        let live = LiveHistogram::new();
        for &value in &before { live.record(value); }
        live.record_all(runs.iter().copied());
        let mut plain = histogram_of(&before);
        for &(value, n) in &runs { plain.record_n(value, n); }
        prop_assert_eq!(live.count(), plain.count());
        prop_assert_eq!(live.snapshot(), plain);
    }
}
