//! Criteria against figures worked out by hand, and the way from counters to samples.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn spec(metric: SteadyMetric, by_slope: bool, limit: f64, limit_is_pct: bool) -> SteadyState {
    SteadyState {
        metric,
        by_slope,
        limit,
        limit_is_pct,
        window_ns: 4 * SECOND,
        ramp_ns: 0,
        check_interval_ns: SECOND,
    }
}

/// Feeds values of IOPS and returns (samples until attained, slope or deviation, criterion).
#[track_caller]
fn check(spec: SteadyState, values: &[u64], expected: (Option<usize>, f64, f64)) {
    let mut steady = Steady::new(spec);
    let attained = values.iter().position(|iops| {
        steady.push(Sample { iops: *iops, bytes_per_s: iops * 4096, latency_ns: *iops })
    });
    let record = steady.record();
    let figure = if spec.by_slope { record.slope } else { record.deviation_max };
    assert_eq!(attained, expected.0, "{record:?}");
    assert!((figure - expected.1).abs() < 1e-9, "{record:?}");
    assert!((record.criterion - expected.2).abs() < 1e-9, "{record:?}");
    assert_eq!(record.attained, attained.is_some());
    assert!(record.iops.len() <= 4);
}

#[test]
fn slope_in_units_and_in_percent() {
    use SteadyMetric::Iops;
    // Mean 115, distances -1.5 to 1.5, squares 5: slope (-1.5*100 - 0.5*110 + 0.5*120 + 1.5*130) /
    // 5.
    check(spec(Iops, true, 10.1, false), &[100, 110, 120, 130], (Some(3), 10.0, 10.0));
    check(spec(Iops, true, 10.0, false), &[100, 110, 120, 130], (None, 10.0, 10.0));
    let pct = 100.0 * 10.0 / 115.0;
    check(spec(Iops, true, 9.0, true), &[100, 110, 120, 130], (Some(3), 10.0, pct));
    check(spec(Iops, true, 8.0, true), &[130, 120, 110, 100], (None, -10.0, -pct));
}

#[test]
fn deviation_in_units_and_in_percent() {
    use SteadyMetric::{Iops, Latency};
    check(spec(Iops, false, 21.0, false), &[80, 100, 100, 120], (Some(3), 20.0, 20.0));
    check(spec(Latency, false, 20.0, true), &[80, 100, 100, 120], (None, 20.0, 20.0));
    check(spec(Iops, false, 20.1, true), &[80, 100, 100, 120], (Some(3), 20.0, 20.0));
}

#[test]
fn only_the_last_window_counts() {
    let spec = spec(SteadyMetric::Iops, false, 1.0, true);
    check(spec, &[5, 900, 40, 100, 100, 100, 100], (Some(6), 0.0, 0.0));
    check(spec, &[100, 100, 100], (None, 0.0, 0.0));
}

#[test]
fn a_standstill_is_not_steady() {
    check(spec(SteadyMetric::Iops, true, 1.0, true), &[0; 9], (None, 0.0, 0.0));
    check(spec(SteadyMetric::Iops, false, 1.0, false), &[0; 9], (None, 0.0, 0.0));
}

#[test]
fn the_criterion_reads_as_fio_writes_it() {
    let text = |metric, by_slope, limit, pct| criterion_text(&spec(metric, by_slope, limit, pct));
    assert_eq!(text(SteadyMetric::Iops, true, 0.3, true), "iops_slope:0.3%");
    assert_eq!(text(SteadyMetric::Bandwidth, false, 12.0, false), "bw:12");
    assert_eq!(text(SteadyMetric::Latency, true, 5.0, true), "lat_slope:5%");
}

/// Lets two workers count `per_second` each and returns when the state became steady, in seconds.
fn watch(ramp_s: u64, per_second: impl Fn(u64) -> u64) -> (Option<u64>, SteadyRecord) {
    let members: Vec<Arc<Meters>> = (0..2).map(|_| Meters::new()).collect();
    let start_ns = 500;
    let spec =
        SteadyState { ramp_ns: ramp_s * SECOND, ..spec(SteadyMetric::Latency, false, 1.0, true) };
    let mut watch = SteadyWatch::new(spec, members.clone());
    assert!(!watch.tick(start_ns), "no worker has started");
    for meters in &members {
        meters.measured_since_ns.store(start_ns, Relaxed);
    }
    let attained = (0..60).find(|second| {
        let steady = watch.tick(start_ns + second * SECOND);
        let dir = &members[0].dirs[1];
        dir.n_ios.store(dir.n_ios.load(Relaxed) + per_second(*second), Relaxed);
        dir.bytes.store(dir.bytes.load(Relaxed) + per_second(*second) * 4096, Relaxed);
        for meters in &members {
            meters.dirs[0].clat.record_n(per_second(*second) * 10, 3);
        }
        steady
    });
    assert!(attained.is_none() || !watch.tick(100 * SECOND), "it is reported once");
    (attained, watch.record())
}

#[test]
fn a_group_is_sampled_as_one() {
    let (attained, record) = watch(0, |_| 1000);
    assert_eq!(attained, Some(4), "the window is four seconds");
    assert_eq!(record.iops, [1000; 4]);
    assert_eq!(record.bandwidth_kib_s, [4000; 4]);
    assert_eq!(record.latency_ns, [10_000; 4]);
    assert!(record.attained);
}

#[test]
fn the_ramp_is_left_out() {
    // The first five seconds would spoil the window.
    let (attained, record) = watch(5, |second| if second < 5 { 10 * second } else { 700 });
    assert_eq!(attained, Some(9));
    assert_eq!(record.iops, [700; 4]);
    let (attained, record) = watch(500, |_| 700);
    assert_eq!((attained, record.iops.len()), (None, 0));
}
