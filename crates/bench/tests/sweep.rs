//! Sweeps of volumes that are a formula: the plans that are asked for, and what is made of records.

use analysis::Limits;
use analysis::search::SearchOptions;
use bench::lever::Time;
use bench::sweep::{SweepError, SweepOptions};
use bench::{Lever, LeverError, Sweep};
use hist::Histogram;
use plan::job::Part;
use plan::load::{Arrivals, Rate};
use plan::{Job, Plan, Step};
use record::{DirRecord, Interval, JobRecord, Note, NoteSeverity, Outcome, PerDirRecord, Record};

const CAP_IOPS: f64 = 5_000.0;
const SECONDS: u64 = 10;
const TIME: Time = Time { measured_ns: SECONDS * 1_000_000_000, ramp_ns: 1_000_000_000 };
const OPEN: Lever = Lever::Rate { arrivals: Arrivals::Linear, in_flight_max: 64 };

fn job(name: &str) -> Job {
    Job { name: name.to_owned(), ..Job::default() }
}

fn plan(jobs: Vec<Job>) -> Plan {
    Plan { steps: vec![Step { jobs, ..Step::default() }], ..Plan::default() }
}

fn options(lever: Lever, limits: &str) -> SweepOptions {
    let search = match lever {
        Lever::Rate { .. } => SearchOptions::rate(1_000.0),
        Lever::QueueDepth | Lever::Workers => SearchOptions::depth(256),
    };
    SweepOptions { lever, limits: limits.parse::<Limits>().expect("limits"), search, time: TIME }
}

/// What a volume of 1 ms and `CAP_IOPS` gives for a plan: a rate above the cap waits ever longer, a
/// depth beyond five waits for its turn.
fn measure(plan: &Plan, started_unix_ms: u64) -> Record {
    let job = &plan.steps[0].jobs[0];
    let (rate, latency_ns) = match job.load.rate_total_iops {
        Some(offered) if offered > CAP_IOPS => (CAP_IOPS, 1_000_000_000),
        Some(offered) => (offered, 1_000_000),
        None => {
            let depth = f64::from(job.load.queue_depth);
            let rate = (depth * 1_000.0).min(CAP_IOPS);
            (rate, (depth / rate * 1e9) as u64)
        }
    };
    let n_ios = (rate * SECONDS as f64) as u64;
    let mut latency = Histogram::new();
    latency.record_n(latency_ns, n_ios);
    let read = DirRecord {
        n_ios,
        io_bytes: n_ios * 8192,
        runtime_ns: TIME.measured_ns,
        clat: latency.clone(),
        lat: latency.clone(),
        response: job.load.rate_total_iops.map(|_| latency),
        ..DirRecord::default()
    };
    let interval = Interval {
        step_idx: 0,
        end_ms: 2_000,
        length_ms: 1_000,
        ramp: false,
        dirs: PerDirRecord::default(),
        ..Interval::default()
    };
    let message = "the clock is coarse".to_owned();
    let note = Note { severity: NoteSeverity::Warning, code: "clock".to_owned(), message };
    Record {
        plimsoll_version: "0.1.0".to_owned(),
        started_unix_ms,
        elapsed_ns: (SECONDS + 1) * 1_000_000_000,
        jobs: vec![JobRecord {
            name: job.name.clone(),
            n_workers: 1,
            queue_depth: job.load.queue_depth,
            runtime_ns: TIME.measured_ns,
            dirs: PerDirRecord { read, ..PerDirRecord::default() },
            ..JobRecord::default()
        }],
        intervals: vec![interval],
        notes: vec![note],
        ..Record::default()
    }
}

/// Sweeps to the end. Each point starts 20 s after the one before.
fn drive(lever: Lever, limits: &str) -> Record {
    let mut sweep = Sweep::new(plan(vec![job("j")]), options(lever, limits)).expect("a sweep");
    while let Some(next) = sweep.next_point() {
        sweep.take(measure(&next.plan, 1_000_000 + u64::from(next.idx) * 20_000)).expect("a point");
        assert!(next.idx < 200, "it does not end");
    }
    sweep.finish().expect("a record")
}

#[test]
fn an_open_sweep_finds_the_cap() {
    let record = drive(OPEN, "p99 < 10ms");
    let curve = record.curve.as_ref().expect("a curve");
    let load = curve.line.load.expect("a line");
    assert!((load / CAP_IOPS - 1.0).abs() < 0.01, "{load}");
    assert_eq!(curve.limits, "p99 < 10ms and achieved > 0.95");
    assert_eq!(curve.line.broken[0], "p99 1000ms, not < 10ms");
    // 1 ms all along: the area over the width.
    assert!((curve.overall_response_ns.expect("a curve") / 1e6 - 1.0).abs() < 0.01);
    let carried = &curve.carried[1];
    assert_eq!((carried.latency_mean_ns, carried.state.as_str()), (2_000_000, "reached"));
}

#[test]
fn a_closed_sweep_starts_at_one_in_flight() {
    let record = drive(Lever::QueueDepth, "mean < 3.05ms");
    let curve = record.curve.as_ref().expect("a curve");
    assert!((curve.points[0].load - 1.0).abs() < f64::EPSILON);
    assert_eq!(curve.line.load, Some(15.0));
    assert_eq!(curve.limits, "mean < 3050us");
}

/// From five in flight on the rate is that of the cap, and only the latency grows: 5,000 are
/// carried at any latency from 1 ms on, and there is no peak to fit a law to.
#[test]
fn a_closed_sweep_at_a_cap_says_what_is_carried() {
    let record = drive(Lever::QueueDepth, "p50 < 3ms");
    let curve = record.curve.as_ref().expect("a curve");
    // At 15 in flight it is 3 ms, which is not less.
    assert_eq!(curve.line.load, Some(14.0));
    for carried in curve.carried.iter().filter(|it| it.latency_mean_ns <= 2_000_000) {
        assert_eq!(carried.state, "reached");
        assert!(carried.rate_iops.is_some_and(|rate| (rate - CAP_IOPS).abs() < 1.0));
    }
    assert_eq!(curve.carried[2].state, "above", "10 ms were not reached");
    assert_eq!(curve.scalability, None);
}

#[test]
fn the_points_are_steps_of_one_record() {
    let record = drive(OPEN, "p99 < 10ms");
    let n = record.steps.len();
    let curve = record.curve.as_ref().expect("a curve");
    assert_eq!((curve.points.len(), record.jobs.len(), record.intervals.len()), (n, n, n));
    for (idx, step) in record.steps.iter().enumerate() {
        assert_eq!(step.step_idx as usize, idx);
        assert_eq!(record.jobs[idx].step_idx as usize, idx);
        let interval = &record.intervals[idx];
        let expected = (idx as u32, idx as u64 * 20_000 + 2_000);
        assert_eq!((interval.step_idx, interval.end_ms), expected);
        assert!(step.name.ends_with(" IOPS offered"), "{}", step.name);
    }
    assert_eq!(record.elapsed_ns, ((n as u64 - 1) * 20 + SECONDS + 1) * 1_000_000_000);
    assert_eq!(record.notes.iter().filter(|note| note.code == "clock").count(), 1);
}

#[test]
fn jobs_share_a_rate_as_they_did() {
    let mut first = job("a");
    first.load.rate_total_iops = Some(300.0);
    let mut second = job("b");
    second.load.rate_total_iops = Some(100.0);
    second.load.rate.write = Some(Rate::Iops(5));
    let sweep = Sweep::new(plan(vec![first, second]), options(OPEN, "p99 < 1s")).expect("a sweep");
    let next = sweep.next_point().expect("a point");
    let jobs = &next.plan.steps[0].jobs;
    assert_eq!(jobs[0].load.rate_total_iops, Some(750.0));
    assert_eq!(jobs[1].load.rate_total_iops, Some(250.0));
    assert_eq!(jobs[1].load.rate.write, None);
    assert_eq!(jobs[1].load.queue_depth, 64);
    assert_eq!(jobs[1].limits.runtime_ns, Some(TIME.measured_ns));
}

#[test]
fn no_two_points_have_the_same_seed() {
    let mut sweep = Sweep::new(plan(vec![job("j")]), options(OPEN, "p99 < 10ms")).expect("a sweep");
    let mut seeds = Vec::new();
    while let Some(next) = sweep.next_point() {
        seeds.push(next.plan.steps[0].jobs[0].workload.seed);
        sweep.take(measure(&next.plan, 0)).expect("a point");
    }
    let n = seeds.len();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), n);
}

#[test]
fn an_interrupted_point_says_nothing_about_the_line() {
    let mut sweep = Sweep::new(plan(vec![job("j")]), options(OPEN, "p99 < 10ms")).expect("a sweep");
    let next = sweep.next_point().expect("a point");
    let record = Record { outcome: Outcome::Interrupted, ..measure(&next.plan, 0) };
    sweep.take(record).expect("a point");
    assert_eq!(sweep.next_point().expect("the same again").load.to_bits(), next.load.to_bits());
    let record = sweep.finish().expect("what was measured");
    assert_eq!(record.outcome, Outcome::Interrupted);
    let line = &record.curve.expect("a curve").line;
    assert_eq!((line.load, line.end.as_str()), (None, "unfinished"));
}

#[test]
fn what_decides_on_its_own_load_is_refused() {
    let refused = |change: fn(&mut Job)| {
        let mut job = job("j");
        change(&mut job);
        Sweep::new(plan(vec![job]), options(OPEN, "p99 < 10ms")).expect_err("refused").to_string()
    };
    assert_eq!(refused(|job| job.load.think.pause_ns = 1), "job `j` thinks, which a curve decides");
    let with_rate = |job: &mut Job| {
        job.parts.push(Part { rate_iops: Some(1.0), ..Part::default() });
    };
    assert_eq!(refused(with_rate), "job `j` has parts with rates, which a curve decides");
    let replays = |job: &mut Job| job.logs.read_replay.push("log".to_owned());
    assert_eq!(refused(replays), "job `j` replays a log, which cannot be given a load");
    let none = Sweep::new(Plan::default(), options(OPEN, "p99 < 10ms"));
    let Err(SweepError::Lever(LeverError::Steps { n_steps: 0 })) = none else {
        panic!("an empty plan has no step")
    };
    let closed = options(Lever::QueueDepth, "achieved > 95%");
    assert!(Sweep::new(plan(vec![job("j")]), closed).is_err());
}
