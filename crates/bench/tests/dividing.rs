//! Rows of a suite whose limit is a core: a model of a device whose rate grows with the workers.

use bench::append;
use bench::suite::change::Changes;
use bench::suite::dividing::Dividing;
use bench::suite::rows::Running;
use bench::suite::steps::Order;
use bench::suite::{built_in, parse};
use hist::Histogram;
use record::{DirRecord, JobRecord, PerDirRecord, Record, StepPurpose};

const LABEL: &str = "random read 8k";
const SECONDS: u64 = 6;
const DEPTH: u32 = 32;

/// A device that carries so much at most, and cores that issue so much each.
#[derive(Clone, Copy)]
struct World {
    device_iops: f64,
    core_iops: f64,
    n_cpus: u32,
}

/// What a measurement by so many workers gives.
fn measured(world: World, n_parts: u32) -> Record {
    let n_workers = n_parts.min(world.n_cpus);
    let most = world.core_iops * f64::from(n_workers);
    let iops = most.min(world.device_iops);
    let n_ios = (iops * SECONDS as f64) as u64;
    let runtime_ns = SECONDS * 1_000_000_000;
    let mut latency = Histogram::new();
    latency.record_n((f64::from(DEPTH) / iops * 1e9) as u64, n_ios);
    let read = DirRecord {
        n_ios,
        io_bytes: n_ios * 8192,
        runtime_ns,
        clat: latency.clone(),
        lat: latency,
        ..DirRecord::default()
    };
    let active_ns = u64::from(n_workers) * runtime_ns;
    let job = JobRecord {
        name: "j".to_owned(),
        n_workers,
        queue_depth: DEPTH / n_workers,
        runtime_ns: active_ns,
        active_ns,
        cpu_user_ns: (iops / most * active_ns as f64) as u64,
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        ..JobRecord::default()
    };
    let mut record = Record { jobs: vec![job], ..Record::default() };
    record.host.n_cpus = world.n_cpus;
    record
}

/// Measures a row as often as it wants; returns the record of the suite with all of it.
fn drive(world: World, n_repeats: u32) -> Record {
    let (suite, findings) = parse(built_in("quick").expect("it is ours"));
    assert!(findings.is_empty(), "{findings:?}");
    let order = Order { n_repeats, ..Order::default() };
    let mut running = Running::new(suite.expect("a suite"), Changes::default(), order);
    let mut whole = None;
    let take = |whole: &mut Option<Record>, running: &mut Running, n_parts: u32| {
        let step_idx = append(whole, measured(world, n_parts), &[LABEL.to_owned()]);
        running.took(step_idx, LABEL, StepPurpose::Measure, step_idx);
    };
    for _ in 0..n_repeats {
        take(&mut whole, &mut running, 1);
    }
    let mut row = Dividing::new(&running, LABEL);
    while let Some(n_parts) = row.next(&mut running, whole.as_ref().expect("a record")) {
        assert!(running.taken.len() < 50, "it does not end");
        take(&mut whole, &mut running, n_parts);
    }
    let mut record = whole.expect("a record");
    record.notes.extend(row.end(&mut running, &record));
    record.suite = Some(running.recorded(&record));
    record
}

/// What a row came to: its rate, the workers of the measurements that count, how many those are,
/// all measurements, and what is said of the workers.
#[track_caller]
fn check(world: World, n_repeats: u32, iops: f64, n_workers: u32, n_measured: usize, note: &str) {
    let record = drive(world, n_repeats);
    let suite = record.suite.as_ref().expect("a suite");
    let row = suite.rows.iter().find(|row| row.label == LABEL).expect("a row");
    assert!((row.medians().iops() / iops - 1.0).abs() < 1e-6, "{} IOPS", row.medians().iops());
    let of_row = record.jobs.iter().filter(|job| row.steps.contains(&job.step_idx));
    let counted: Vec<u32> = of_row.map(|job| job.n_workers).collect();
    assert_eq!(counted, vec![n_workers; n_repeats as usize]);
    assert_eq!(record.steps.len(), n_measured);
    let said: Vec<&str> = record.notes.iter().map(|note| note.message.as_str()).collect();
    assert_eq!(said, if note.is_empty() { vec![] } else { vec![note] });
}

const FAST: World = World { device_iops: 1e6, core_iops: 300e3, n_cpus: 16 };

#[test]
fn a_row_gets_workers_until_the_device_is_its_limit() {
    check(
        FAST,
        1,
        1e6,
        4,
        3,
        "4 workers issued `random read 8k`: 2 workers used all of their cores at 600 k IOPS, \
         4 workers carried 1.00 M",
    );
}

#[test]
fn what_fewer_workers_measured_is_no_part_of_the_row() {
    // Three by one worker, one by two, and three by four.
    let note = "4 workers issued `random read 8k`: 2 workers used all of their cores at 600 k \
                IOPS, 4 workers carried 1.00 M";
    check(FAST, 3, 1e6, 4, 3 + 1 + 3, note);
}

#[test]
fn a_row_of_a_slow_device_stays_as_it_was() {
    check(World { device_iops: 20e3, ..FAST }, 1, 20e3, 1, 1, "");
}

#[test]
fn there_are_no_more_workers_than_processors() {
    let world = World { core_iops: 50e3, n_cpus: 2, ..FAST };
    let note = "2 workers issued `random read 8k`: 1 worker used all of its core at 50.0 k IOPS, \
                2 workers carried 100 k";
    check(world, 1, 100e3, 2, 2, note);
}

#[test]
fn where_more_carry_no_more_the_row_keeps_its_worker() {
    let note = "1 worker issued `random read 8k`: more than 295 k IOPS were not carried by 2 \
                workers either (295 k)";
    check(World { device_iops: 295e3, ..FAST }, 2, 295e3, 1, 3, note);
}
