//! Latencies that came without their histograms.

use hist::Histogram;
use record::DirRecord;
use record::listed::{Latency, ListedLatencies, ListedLatency};

fn listed(n: u64, mean_ns: f64) -> ListedLatency {
    let percentiles = vec![(50.0, 900), (99.0, 2_000), (99.9, 7_000)];
    let (min_ns, max_ns, stdev_ns) = (Some(400), Some(9_000), Some(100.0));
    ListedLatency { n, min_ns, max_ns, mean_ns, stdev_ns, percentiles }
}

fn direction(clat: ListedLatency) -> DirRecord {
    let listed = ListedLatencies { clat: Some(clat), ..ListedLatencies::default() };
    DirRecord { listed: Some(listed), ..DirRecord::default() }
}

#[test]
fn only_listed_percentiles_are_known() {
    let dir = direction(listed(10, 1_000.0));
    let clat = dir.service_latency();
    assert_eq!(clat.percentile_ns(99.0), Some(2_000));
    assert_eq!(clat.percentile_ns(95.0), None);
    assert_eq!((clat.count(), clat.max_ns()), (10, Some(9_000)));
    assert!(dir.total_latency().is_empty());
}

#[test]
fn a_histogram_comes_first() {
    let mut dir = direction(listed(10, 1_000.0));
    dir.clat.record(5);
    assert!(matches!(dir.service_latency(), Latency::Measured(hist) if hist.count() == 1));
}

/// Merging must give the moments of all values together.
#[test]
fn merged_workers_keep_their_moments_and_lose_their_percentiles() {
    let sets = [vec![10_u64, 12, 17, 40], vec![100, 110, 250]];
    let moments = |values: &[u64]| {
        let mut hist = Histogram::new();
        for value in values {
            hist.record(*value);
        }
        hist
    };
    let of = |values: &[u64]| {
        let hist = moments(values);
        ListedLatency {
            n: hist.count(),
            min_ns: hist.min_ns(),
            max_ns: hist.max_ns(),
            mean_ns: hist.mean_ns().unwrap(),
            stdev_ns: hist.stdev_ns(),
            percentiles: vec![(50.0, 1)],
        }
    };
    let mut dir = direction(of(&sets[0]));
    dir.merge(&direction(of(&sets[1])));
    let merged = dir.service_latency();
    let all = moments(&sets.concat());
    assert_eq!(merged.count(), all.count());
    assert!((merged.mean_ns().unwrap() - all.mean_ns().unwrap()).abs() < 1e-9);
    assert!((merged.stdev_ns().unwrap() - all.stdev_ns().unwrap()).abs() < 1e-9);
    assert_eq!(merged.percentile_ns(50.0), None);
}

#[test]
fn what_one_of_two_did_not_print_is_unknown_of_both() {
    let whole = ListedLatency { min_ns: Some(1), max_ns: Some(9), ..listed(10, 5.0) };
    let part = ListedLatency { min_ns: None, max_ns: None, stdev_ns: None, ..listed(10, 5.0) };
    for (one, other) in [(&whole, &part), (&part, &whole)] {
        let mut dir = direction(one.clone());
        dir.merge(&direction(other.clone()));
        let merged = dir.service_latency();
        assert_eq!((merged.count(), merged.mean_ns()), (20, Some(5.0)));
        assert_eq!((merged.min_ns(), merged.max_ns(), merged.stdev_ns()), (None, None, None));
    }
}
