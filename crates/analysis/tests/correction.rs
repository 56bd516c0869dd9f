//! Correction of closed-loop latencies.

use analysis::correction::corrected;
use hist::Histogram;
use proptest::prelude::*;

fn values(hist: &Histogram) -> Vec<(u64, u64)> {
    hist.iter_nonempty().map(|(low, _, n)| (low, n)).collect()
}

#[test]
fn hidden_waits_are_added() {
    let mut hist = Histogram::new();
    hist.record(100);
    assert_eq!(values(&corrected(&hist, 30)), [(10, 1), (40, 1), (70, 1), (100, 1)]);
    assert_eq!(values(&corrected(&hist, 100)), [(100, 1)]);
    assert_eq!(corrected(&hist, 0), hist);
    assert_eq!(corrected(&Histogram::new(), 30), Histogram::new());
}

#[test]
fn a_stall_of_an_hour_is_corrected_at_once() {
    let mut hist = Histogram::new();
    hist.record(3_600_000_000_000);
    // A microsecond apart: 3.6 billion operations, of which half waited for half an hour and more.
    let corrected = corrected(&hist, 1_000);
    let n = corrected.count() as f64;
    assert!((n / 3.6e9 - 1.0).abs() < 0.005, "{n}");
    let median = corrected.quantile(0.5).unwrap() as f64;
    assert!((median / 1.8e12 - 1.0).abs() < 0.01, "{median}");
}

proptest! {
    #[test]
    fn it_adds_as_one_by_one(latency_ns in 1_u64..250, interval_ns in 1_u64..300, n in 1_u64..5) {
        // Below 256 every value has its own bucket, so the result is exact.
        let mut hist = Histogram::new();
        hist.record_n(latency_ns, n);
        let mut expected = hist.clone();
        let mut missing = latency_ns.saturating_sub(interval_ns);
        while missing > 0 {
            expected.record_n(missing, n);
            missing = missing.saturating_sub(interval_ns);
        }
        prop_assert_eq!(corrected(&hist, interval_ns), expected);
    }
}
