//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use crate::{
    CapRecord, CapsRecord, Figure, Figures, FillingRecord, JobRecord, Latency, ListedLatency,
    SeriesRecord, compare_parts, group,
};

fn cap(name: &str) -> CapRecord {
    let kind = name.split(' ').next().unwrap_or_default().to_owned();
    CapRecord { name: name.to_owned(), kind, per_s: 1, part: 1.0, ..CapRecord::default() }
}

fn caps(caps: &[CapRecord]) {
    _ = CapsRecord::new(1, caps.to_vec(), None);
}

fn filling(lasts_s: f64, bytes_per_s: f64) {
    let filling = FillingRecord { bytes_per_s, lasts_s, ..FillingRecord::default() };
    _ = CapsRecord::new(1, Vec::new(), Some(filling));
}

#[test]
fn a_wrong_cap_panics() {
    let pool = cap("pool");
    let used = |used_share| CapRecord { used_share, ..pool.clone() };
    let busy = |busiest_used_share| CapRecord { busiest_used_share, ..pool.clone() };
    let part = |part| CapRecord { part, ..pool.clone() };
    let named = CapRecord { kind: "disk_iops".to_owned(), ..pool.clone() };
    testing::check_wrong_calls(&[
        ("a cap twice", "two caps are called `pool`", &|| caps(&[pool.clone(), pool.clone()])),
        ("a name of another kind", "`pool` is a cap of the kind `disk_iops`", &|| {
            caps(std::slice::from_ref(&named));
        }),
        ("a use that is no number", "`pool` is used to NaN", &|| caps(&[used(f64::NAN)])),
        ("a use below 0", "`pool` is used to -0.1", &|| caps(&[used(-0.1)])),
        ("a busy disk that is none", "used to inf where it is", &|| caps(&[busy(f64::INFINITY)])),
        ("a part below 0", "the part of `pool` is -1", &|| caps(&[part(-1.0)])),
        ("a time without end", "a cache fills for inf s", &|| filling(f64::INFINITY, 1.0)),
        ("a time below 0", "a cache fills for -1 s", &|| filling(-1.0, 1.0)),
        ("a cache that empties", "a cache fills by -5 B/s", &|| filling(1.0, -5.0)),
    ]);
    // A mount may be named so that two caps are called the same.
    let one = CapRecord { mount: Some("/a".to_owned()), ..cap("disk_iops /a reads") };
    let other = CapRecord { mount: Some("/a reads".to_owned()), ..one.clone() };
    let mut both = CapsRecord::new(1, vec![one, other], None);
    both.merge(&both.clone());
    assert_eq!(both.caps.len(), 2);
}

#[test]
fn a_rate_is_no_latency() {
    let figures = Figures::default();
    assert_eq!(figures.ns(Figure::Mean), None);
    testing::check_wrong_calls(&[("a rate", "Iops is no latency", &|| {
        _ = figures.ns(Figure::Iops);
    })]);
}

fn of_step(step_idx: u32) -> JobRecord {
    JobRecord { step_idx, n_workers: 1, group_reporting: true, ..JobRecord::default() }
}

#[test]
fn merging_unrelated_records_panics() {
    let reads = SeriesRecord { part: "p".into(), op: "read".into(), ..SeriesRecord::default() };
    let writes = SeriesRecord { op: "write".into(), ..reads.clone() };
    let listed = ListedLatency::default();
    let percentile = |of: f64| _ = Latency::Listed(&listed).percentile_ns(of);
    testing::check_wrong_calls(&[
        ("workers of two steps", "workers of the steps 0 and 1 are no group", &|| {
            of_step(0).merge(&of_step(1));
        }),
        ("steps out of order", "a worker of step 1 comes behind one of step 2", &|| {
            _ = group::group(vec![of_step(2), of_step(1)]);
        }),
        ("caps of two steps", "workers of the steps 3 and Some(4) share no cap", &|| {
            compare_parts(&mut [of_step(3), of_step(4)]);
        }),
        ("reads and writes", "`write` of `p` is no `read` of `p`", &|| {
            reads.clone().merge(&writes);
        }),
        ("a percentile above 100", "the percentile 100.1", &|| percentile(100.1)),
        ("a percentile below 0", "the percentile -1", &|| percentile(-1.0)),
    ]);
    assert_eq!(group::group(vec![of_step(1), of_step(1), of_step(2)]).len(), 2);
}
