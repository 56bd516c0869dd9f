//! Merging of workers into groups, by fio's rules.

use hist::Histogram;
use record::{
    ArrivalsRecord, ChangingRateRecord, DirRecord, IoPriorityRecord, JobRecord, PerDirRecord,
    PriorityRecord, Samples, SeriesRecord, group::group,
};

fn worker(name: &str, group_id: u32, group_reporting: bool) -> JobRecord {
    let mut lat = Histogram::new();
    lat.record(1_000);
    let samples = Samples { n: 2, min: 90, max: 110, mean: 100.0, stdev: 10.0 };
    let read = DirRecord {
        io_bytes: 4096,
        n_ios: 1,
        runtime_ns: 5,
        lat,
        bandwidth_kib_s: samples,
        iops: samples,
        ..DirRecord::default()
    };
    JobRecord {
        name: name.to_owned(),
        pid: name.bytes().map(u32::from).sum(),
        group_id,
        group_reporting,
        n_workers: 1,
        options: vec![("name".to_owned(), name.to_owned())],
        runtime_ns: 5,
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        ..JobRecord::default()
    }
}

/// Describes workers as `name group [g]`, and what comes out as `name x workers`.
#[track_caller]
fn check(workers: &[(&str, u32, bool)], expected: &[(&str, u32)]) {
    let workers = workers.iter().map(|(name, id, flag)| worker(name, *id, *flag)).collect();
    let entries = group(workers);
    let found: Vec<_> = entries.iter().map(|job| (job.name.as_str(), job.n_workers)).collect();
    assert_eq!(found, expected);
}

#[test]
fn members_of_a_group_that_ask_for_it_are_merged() {
    check(&[], &[]);
    check(&[("a", 0, false), ("b", 0, false)], &[("a", 1), ("b", 1)]);
    check(&[("a", 0, true), ("b", 0, true), ("c", 0, true)], &[("a", 3)]);
    check(&[("a", 0, true), ("b", 1, true), ("c", 1, true)], &[("a", 1), ("b", 2)]);
}

#[test]
fn a_member_that_does_not_ask_stands_alone() {
    check(&[("a", 0, true), ("b", 0, false)], &[("a", 1), ("b", 1)]);
    check(&[("a", 0, true), ("a", 0, true), ("b", 0, false)], &[("a", 2), ("b", 1)]);
    check(&[("a", 0, false), ("b", 0, true), ("c", 0, true)], &[("a", 1), ("b", 2)]);
}

#[test]
fn a_group_stands_at_the_place_of_its_first_member() {
    check(&[("a", 0, true), ("b", 1, false), ("c", 0, true)], &[("a", 2), ("b", 1)]);
}

#[test]
fn names_are_of_the_first_and_options_of_the_last_member() {
    let entries = group(vec![worker("a", 0, true), worker("b", 0, true)]);
    assert_eq!(entries[0].name, "a");
    assert_eq!(entries[0].pid, u32::from(b'a'));
    assert_eq!(entries[0].options, [("name".to_owned(), "b".to_owned())]);
}

#[test]
fn percentiles_are_shown_as_the_last_member_asks() {
    let shown = |change: fn(&mut JobRecord)| {
        let mut last = worker("b", 0, true);
        change(&mut last);
        let print = group(vec![worker("a", 0, true), last]).remove(0).print;
        (print.clat_percentiles, print.lat_percentiles)
    };
    assert_eq!(shown(|_| {}), (true, false));
    assert_eq!(shown(|last| last.print.clat_percentiles = false), (false, false));
    assert_eq!(shown(|last| last.print.lat_percentiles = true), (true, true));
    assert_eq!(shown(|last| last.print.disabled.clat = true), (false, false));
}

#[test]
fn counters_are_added_and_a_directions_runtime_is_the_largest() {
    let (first, mut second) = (worker("a", 0, true), worker("b", 0, true));
    second.dirs.read.runtime_ns = 7;
    second.runtime_ns = 7;
    second.dirs.read.errors.insert(5, 3);
    second.depth_levels = [1, 0, 0, 0, 0, 0, 2];
    second.error_errno = 5;
    second.error_message = "first".to_owned();
    let mut third = worker("c", 0, true);
    third.error_errno = 28;
    let entry = group(vec![first, second, third]).remove(0);
    assert_eq!(entry.runtime_ns, 17);
    assert_eq!(entry.dirs.read.runtime_ns, 7);
    assert_eq!(entry.dirs.read.n_ios, 3);
    assert_eq!(entry.dirs.read.io_bytes, 3 * 4096);
    assert_eq!(entry.dirs.read.lat.count(), 3);
    assert_eq!(entry.dirs.read.errors[&5], 3);
    assert_eq!(entry.depth_levels, [1, 0, 0, 0, 0, 0, 2]);
    assert_eq!((entry.error_errno, entry.error_message.as_str()), (5, "first"));
}

#[test]
fn samples_are_summed() {
    let entry = group(vec![worker("a", 0, true), worker("b", 0, true)]).remove(0);
    let samples = entry.dirs.read.iops;
    assert_eq!((samples.n, samples.min, samples.max), (4, 180, 220));
    assert!((samples.mean - 200.0).abs() < 1e-9);
    // Squared deviations 100 + 100 over n - 1 = 3.
    assert!((samples.stdev - (200.0_f64 / 3.0).sqrt()).abs() < 1e-9);
}

#[test]
fn mixed_holds_all_directions() {
    let mut job = worker("a", 0, false);
    job.dirs.write = DirRecord { io_bytes: 100, n_ios: 2, runtime_ns: 9, ..DirRecord::default() };
    let mixed = job.mixed();
    assert_eq!((mixed.n_ios, mixed.io_bytes, mixed.runtime_ns), (3, 4196, 9));
    assert_eq!((job.n_ios(), job.io_bytes()), (3, 4196));
}

#[test]
fn rates_need_a_runtime() {
    let dir = DirRecord { io_bytes: 4096, n_ios: 4, ..DirRecord::default() };
    assert_eq!((dir.rate_iops(), dir.rate_bytes()), (0.0, 0.0));
    let dir = DirRecord { runtime_ns: 500_000_000, ..dir };
    assert_eq!((dir.rate_iops(), dir.rate_bytes()), (8.0, 8192.0));
}

/// A worker with this level, and so many reads with its own and with a higher priority.
fn of_priority(level: u8, n_usual: u64, n_high: u64) -> JobRecord {
    let latencies = |n| {
        let mut hist = Histogram::new();
        hist.record_n(1_000, n);
        hist
    };
    let of = |priority, n| PriorityRecord { priority, clat: latencies(n), lat: latencies(n) };
    let mut job = worker("a", 0, true);
    job.io_priority = priority(2, level);
    let read = &mut job.dirs.read;
    read.n_ios = n_usual + n_high;
    (read.clat, read.lat) = (latencies(read.n_ios), latencies(read.n_ios));
    if n_high > 0 {
        read.priorities = vec![of(job.io_priority, n_usual), of(priority(1, 0), n_high)];
    }
    job
}

fn priority(class: u8, level: u8) -> IoPriorityRecord {
    IoPriorityRecord { class, level, hint: 0 }
}

/// Merges workers and compares class, level and number of reads of each priority.
#[track_caller]
fn check_priorities(workers: Vec<JobRecord>, expected: &[(u8, u8, u64)]) {
    let job = group(workers).remove(0);
    let found = |dir: &DirRecord| -> Vec<(u8, u8, u64)> {
        let all = dir.priorities.iter();
        all.map(|of| {
            assert_eq!(of.clat.count(), of.lat.count());
            (of.priority.class, of.priority.level, of.clat.count())
        })
        .collect()
    };
    assert_eq!(found(&job.dirs.read), expected);
    assert_eq!(found(&job.mixed()), expected);
    assert!(job.dirs.trim.priorities.is_empty());
}

#[test]
fn latencies_by_priority_are_merged_by_it() {
    let usual = |level, n| of_priority(level, n, 0);
    check_priorities(vec![usual(4, 5), usual(4, 6)], &[]);
    check_priorities(vec![usual(4, 5), usual(7, 6)], &[(2, 4, 5), (2, 7, 6)]);
    check_priorities(vec![of_priority(4, 5, 2), usual(4, 6)], &[(2, 4, 11), (1, 0, 2)]);
    check_priorities(vec![usual(4, 6), of_priority(4, 5, 2)], &[(2, 4, 11), (1, 0, 2)]);
    check_priorities(
        vec![of_priority(4, 5, 2), of_priority(7, 1, 3), usual(4, 1)],
        &[(2, 4, 6), (1, 0, 5), (2, 7, 1)],
    );
}

#[test]
fn a_direction_with_one_priority_joins_those_of_the_others() {
    let mut job = of_priority(4, 5, 2);
    job.dirs.write = of_priority(4, 3, 0).dirs.read;
    let counts: Vec<u64> = job.mixed().priorities.iter().map(|of| of.clat.count()).collect();
    assert_eq!(counts, [8, 2]);
    assert_eq!(job.mixed().clat.count(), 10);
}

#[test]
fn series_are_added_by_part_and_kind() {
    let series = |part: &str, op: &str, n_ios: u64| {
        let mut lat = Histogram::new();
        lat.record_n(1_000, n_ios);
        let (part, op) = (part.to_owned(), op.to_owned());
        SeriesRecord { part, op, n_ios, n_failed: 1, io_bytes: n_ios * 512, lat }
    };
    let with = |series: Vec<SeriesRecord>| JobRecord { series, ..worker("a", 0, true) };
    let first = with(vec![series("wd1", "read", 5), series("wd2", "read", 1)]);
    let second = with(vec![series("wd1", "write", 7), series("wd1", "read", 2)]);
    let entries = group(vec![first, second]);
    let row = |it: &SeriesRecord| {
        (it.part.clone() + " " + &it.op, it.n_ios, it.n_failed, it.io_bytes, it.lat.count())
    };
    let found: Vec<_> = entries[0].series.iter().map(row).collect();
    let expected = [("wd1 read", 7, 2), ("wd2 read", 1, 1), ("wd1 write", 7, 1)]
        .map(|(name, n, n_failed)| (name.to_owned(), n, n_failed, n * 512, n));
    assert_eq!(found, expected);
}

#[test]
fn what_was_in_flight_and_what_waited_add_up() {
    let worker = |in_flight, n_late, delay_ns| JobRecord {
        in_flight_mean: in_flight,
        is_direct: Some(true),
        arrivals: Some(ArrivalsRecord {
            offered_iops: 100.0,
            spacing: "even".to_owned(),
            n_late,
            backlog_start: 1,
            backlog_end: 2,
            start_delay_ns_mean: Some(delay_ns),
            // The one with more delay is the one that was behind first.
            changing: Some(ChangingRateRecord {
                delay_ns_max: delay_ns as u64,
                behind_since_ns: (n_late > 0).then_some(90 - delay_ns as u64),
            }),
        }),
        ..worker("a", 0, true)
    };
    let mut whole = worker(Some(4.0), 3, 10.0);
    whole.merge(&worker(Some(2.0), 5, 30.0));
    assert_eq!((whole.in_flight_mean, whole.is_direct), (Some(6.0), Some(true)));
    let expected = ArrivalsRecord {
        offered_iops: 200.0,
        spacing: "even".to_owned(),
        n_late: 8,
        backlog_start: 2,
        backlog_end: 4,
        start_delay_ns_mean: Some(20.0),
        changing: Some(ChangingRateRecord { delay_ns_max: 30, behind_since_ns: Some(60) }),
    };
    assert_eq!(whole.arrivals, Some(expected));
    // 6 in flight for 5 ns and 3 for 25 ns, over the mean time of a worker, 35/3 ns.
    let longer = JobRecord { runtime_ns: 25, ..worker(Some(3.0), 0, 0.0) };
    whole.merge(&longer);
    assert_eq!(whole.in_flight_mean, Some((6.0 * 5.0 + 3.0 * 25.0) / (35.0 / 3.0)));
    // What was not counted of one is not known of both, and one through the cache is enough.
    whole.merge(&JobRecord { is_direct: Some(false), ..worker(None, 0, 0.0) });
    assert_eq!((whole.in_flight_mean, whole.is_direct), (None, Some(false)));
}
