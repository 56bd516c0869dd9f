//! Sweeps of volumes that are a formula: the plans that are asked for, and what is made of records.

use analysis::assess::has_valid_line;
use analysis::search::SearchOptions;
use analysis::{GateName, Limits};
use bench::lever::Time;
use bench::sweep::{SweepError, SweepOptions};
use bench::workers::Workers;
use bench::{Advice, Lever, LeverError, Sweep};
use hist::Histogram;
use plan::job::Part;
use plan::load::{Arrivals, Rate};
use plan::workload::{Access, BlockSize};
use plan::{Job, PerDir, Plan, Step};
use record::{
    ArrivalsRecord, CannotTell, CarriedState, DirRecord, Figure, GateRecord, HostShareRecord,
    Interval, JobRecord, LineVerdict, LossRecord, Note, NoteSeverity, Outcome, PerDirRecord,
    Record, SearchEnd, StartRecord, StepValidity, Verdict,
};

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
    let limits = limits.parse::<Limits>().expect("limits");
    let (workers, advice) = (Workers::default(), Advice::SUITE);
    SweepOptions { lever, limits, search, time: TIME, workers, advice }
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
    assert!(curve.line.bytes_per_s.is_some_and(|it| (it / load / 8192.0 - 1.0).abs() < 1e-9));
    // 1 ms all along: the area over the width.
    assert!((curve.overall_response_ns.expect("a curve") / 1e6 - 1.0).abs() < 0.01);
    let carried = &curve.carried[1];
    assert_eq!((carried.latency_mean_ns, carried.state), (2_000_000, CarriedState::Reached));
}

/// What the same volume gives where a worker's core carries so much at most, on a host with so many
/// processors.
fn measure_by_cores(plan: &Plan, core_iops: f64, n_cpus: u32) -> Record {
    let job = &plan.steps[0].jobs[0];
    let offered = job.load.rate_total_iops.expect("an open load");
    let n_workers = job.load.spread_workers_max.unwrap_or(1).min(n_cpus);
    let most = core_iops * f64::from(n_workers);
    let mut record = measure(plan, 0);
    record.host.n_cpus = n_cpus;
    if offered > most && most < CAP_IOPS {
        let read = &mut record.jobs[0].dirs.read;
        read.n_ios = (most * SECONDS as f64) as u64;
        let mut latency = Histogram::new();
        latency.record_n(1_000_000_000, read.n_ios);
        read.response = Some(latency);
    }
    let carried = offered.min(most).min(CAP_IOPS);
    let job = &mut record.jobs[0];
    (job.n_workers, job.active_ns) = (n_workers, u64::from(n_workers) * TIME.measured_ns);
    job.cpu_user_ns = (carried / most * job.active_ns as f64) as u64;
    record
}

#[test]
fn the_limit_of_a_core_is_no_line() {
    // A core carries so much; workers at the line, and points that say nothing on the way.
    for (core_iops, n_workers, n_void) in [(50_000.0, 1, 0), (3_000.0, 2, 1), (900.0, 8, 3)] {
        let options = options(OPEN, "p99 < 10ms");
        let mut sweep = Sweep::new(plan(vec![job("j")]), options).expect("a sweep");
        while let Some(next) = sweep.next_point() {
            sweep.take(measure_by_cores(&next.plan, core_iops, 16)).expect("a point");
            assert!(next.idx < 200, "it does not end");
        }
        let record = sweep.finish().expect("a record");
        let curve = record.curve.as_ref().expect("a curve");
        let load = curve.line.load.expect("a line");
        assert!((load / CAP_IOPS - 1.0).abs() < 0.01, "{load} with cores of {core_iops}");
        assert_eq!(curve.n_workers, Some(n_workers));
        assert_eq!(curve.points.iter().filter(|it| it.void.is_some()).count(), n_void);
        assert_eq!(record.notes.iter().any(|note| note.code == "workers"), n_void > 0);
    }
}

/// Others are at work, but the worker had all of its core: it was the limit, and not they.
#[test]
fn a_full_core_is_the_limit_whatever_others_do() {
    let mut sweep = Sweep::new(plan(vec![job("j")]), options(OPEN, "p99 < 10ms")).expect("a sweep");
    while let Some(next) = sweep.next_point() {
        let record = measure_by_cores(&next.plan, 3_000.0, 16);
        let is_full = record.jobs[0].cpu_user_ns == record.jobs[0].active_ns;
        sweep.take(if is_full { disturbed(record, true) } else { record }).expect("a point");
        assert!(next.idx < 200, "it does not end");
    }
    let record = sweep.finish().expect("a record");
    let curve = record.curve.as_ref().expect("a curve");
    assert!(
        curve.line.load.is_some_and(|it| (it / CAP_IOPS - 1.0).abs() < 0.01),
        "{:?}",
        curve.line
    );
    assert_eq!(curve.n_workers, Some(2));
}

#[test]
fn where_there_are_no_more_processors_the_line_is_that_of_the_cores() {
    let mut sweep = Sweep::new(plan(vec![job("j")]), options(OPEN, "p99 < 10ms")).expect("a sweep");
    while let Some(next) = sweep.next_point() {
        sweep.take(measure_by_cores(&next.plan, 900.0, 3)).expect("a point");
    }
    let record = sweep.finish().expect("a record");
    let curve = record.curve.as_ref().expect("a curve");
    assert_eq!(curve.n_workers, Some(3));
    assert!(
        curve.line.load.is_some_and(|it| (it / 2_700.0 - 1.0).abs() < 0.01),
        "{:?}",
        curve.line
    );
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
        assert_eq!(carried.state, CarriedState::Reached);
        assert!(carried.rate_iops.is_some_and(|rate| (rate - CAP_IOPS).abs() < 1.0));
    }
    assert_eq!(curve.carried[2].state, CarriedState::Above, "10 ms were not reached");
    assert_eq!(curve.scalability, None);
}

/// A closed sweep of a volume that is a table of rates by depth; the mean follows by Little.
fn closed(limits: &str, rate_at: impl Fn(u32) -> f64) -> record::CurveRecord {
    let options = options(Lever::QueueDepth, limits);
    let mut sweep = Sweep::new(plan(vec![job("j")]), options).expect("a sweep");
    while let Some(next) = sweep.next_point() {
        let mut record = measure(&next.plan, 0);
        let depth = next.plan.steps[0].jobs[0].load.queue_depth;
        let rate = rate_at(depth);
        let read = &mut record.jobs[0].dirs.read;
        read.n_ios = (rate * SECONDS as f64) as u64;
        read.clat = Histogram::new();
        read.clat.record_n((f64::from(depth) / rate * 1e9) as u64, read.n_ios);
        sweep.take(record).expect("a point");
        assert!(next.idx < 200, "it does not end");
    }
    sweep.finish().expect("a record").curve.expect("a curve")
}

/// A cap of 3,500 at 1 ms each: three in flight carry 3,000 at exactly 1 ms, four wait.
#[test]
fn what_a_closed_sweep_carries_at_a_latency_is_measured_and_not_read_off_a_gap() {
    let curve = closed("p50 < 10ms", |depth| (f64::from(depth) * 1_000.0).min(3_500.0));
    let rate = curve.carried[0].rate_iops.expect("a rate at 1 ms");
    assert!((2_999.0..3_010.0).contains(&rate), "{rate}");
}

/// A rate that falls again above some depth, as real ones do by chance, cuts off nothing:
/// every point counts, by the area over the depths as computed here.
#[test]
fn a_rate_that_wavers_leaves_no_point_out_of_a_closed_curve() {
    let rate_at = |depth: u32| match depth {
        0..=13 => f64::from(depth) * 2_500.0,
        14..=20 => 34_000.0,
        _ => 29_000.0,
    };
    let curve = closed("p50 < 1500us", rate_at);
    let line = curve.line.load.expect("a line");
    let mut grid: Vec<f64> = (1..=10).map(|k| (line * f64::from(k) / 10.0).ceil()).collect();
    grid.dedup();
    let mean_ns = |depth: f64| depth / rate_at(depth as u32) * 1e9;
    let strip = |w: &[f64]| f64::midpoint(mean_ns(w[0]), mean_ns(w[1])) * (w[1] - w[0]);
    let width = grid[grid.len() - 1] - grid[0];
    let area = grid.windows(2).map(strip).sum::<f64>() / width;
    let found = curve.overall_response_ns.expect("a curve");
    assert!((found / area - 1.0).abs() < 0.001, "{found} and not {area}");
    // 1 ms is crossed at a lower rate than was measured below it.
    let best = curve
        .points
        .iter()
        .filter(|point| point.figures.get(Figure::Mean).is_some_and(|ns| ns <= 1e6));
    let best = best.map(|point| point.figures.iops()).fold(0.0, f64::max);
    assert!(best > 29_000.0, "{best}");
    assert!(curve.carried[0].rate_iops.is_some_and(|rate| rate >= best - 1.0));
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

/// The shares of two jobs by what each asks for, computed by hand: 3 to 1 whatever the words.
#[test]
fn jobs_share_a_rate_by_the_rates_of_their_directions() {
    let with = |read: (Rate, u32, u32), write: (Rate, u32, u32)| {
        let rated = |name: &str, (rate, n_workers, block_bytes): (Rate, u32, u32)| {
            let mut job = job(name);
            let is_read = name == "r";
            job.workload.access = Access { read: is_read, write: !is_read, ..Access::READ };
            job.workload.block_size = PerDir::all(BlockSize::Fixed(block_bytes));
            // fio gives a bare rate to every direction: those that are not issued count nothing.
            job.load.rate = PerDir::all(Some(rate));
            job.n_workers = n_workers;
            job
        };
        let jobs = vec![rated("r", read), rated("w", write)];
        let sweep = Sweep::new(plan(jobs), options(OPEN, "p99 < 1s")).expect("a sweep");
        let next = sweep.next_point().expect("a point");
        let jobs = &next.plan.steps[0].jobs;
        assert!(jobs.iter().all(|job| job.load.rate.iter().all(|(_, rate)| rate.is_none())));
        [jobs[0].load.rate_total_iops, jobs[1].load.rate_total_iops]
    };
    let three_to_one = [Some(750.0), Some(250.0)];
    let iops = |rate| (Rate::Iops(rate), 1, 8192);
    assert_eq!(with(iops(3_000), iops(1_000)), three_to_one);
    assert_eq!(with(iops(30), iops(10)), three_to_one);
    assert_eq!(with((Rate::Iops(1_000), 3, 8192), iops(1_000)), three_to_one, "three workers");
    let bytes = |rate, block_bytes| (Rate::Bytes(rate), 1, block_bytes);
    assert_eq!(with(bytes(24 << 20, 8192), bytes(8 << 20, 8192)), three_to_one);
    // 24 MiB/s in 8 KiB are 3,072 a second, 64 MiB/s in 64 KiB are 1,024.
    assert_eq!(with(bytes(24 << 20, 8192), bytes(64 << 20, 65_536)), three_to_one);
}

/// Rates of a job's own directions make its mix, and not the mix that is set beside them.
#[test]
fn a_mixed_job_keeps_the_proportion_of_its_reads_and_writes() {
    let read_pct = |read: Option<Rate>, write: Option<Rate>| {
        let mut mixed = job("m");
        mixed.workload.access = Access { write: true, ..Access::READ };
        mixed.workload.block_size = PerDir::all(BlockSize::Fixed(8192));
        mixed.workload.read_pct = 70.0;
        mixed.load.rate = PerDir { read, write, trim: None };
        let sweep = Sweep::new(plan(vec![mixed]), options(OPEN, "p99 < 1s")).expect("a sweep");
        sweep.next_point().expect("a point").plan.steps[0].jobs[0].workload.read_pct
    };
    let iops = |rate| Some(Rate::Iops(rate));
    assert!((read_pct(iops(3_000), iops(1_000)) - 75.0).abs() < 1e-9);
    assert!((read_pct(iops(3_000), iops(3_000)) - 50.0).abs() < 1e-9);
    // 8 MiB/s in 8 KiB are 1,024 a second.
    assert!((read_pct(iops(1_024), Some(Rate::Bytes(8 << 20))) - 50.0).abs() < 1e-9);
    // Without rates, or with one for one direction only, the mix that is set holds.
    assert!((read_pct(None, None) - 70.0).abs() < 1e-9);
    assert!((read_pct(None, iops(1_000)) - 70.0).abs() < 1e-9);
}

#[test]
fn a_job_without_a_rate_beside_one_that_has_one_is_refused() {
    let mut rated = job("a");
    rated.load.rate.read = Some(Rate::Iops(5));
    let jobs = vec![rated, job("b")];
    let refused = Sweep::new(plan(jobs.clone()), options(OPEN, "p99 < 1s")).expect_err("refused");
    assert!(refused.to_string().starts_with("job `b` has no rate and others have"), "{refused}");
    assert!(Sweep::new(plan(jobs), options(Lever::QueueDepth, "p99 < 1s")).is_ok());
}

/// What a queue of any length in front of a volume of 1 ms and `CAP_IOPS` gives in five seconds,
/// with 256 in flight at most: what is due beyond grows for as long as the load is offered.
fn queued(plan: &Plan, spacing: &str) -> Record {
    const WINDOW_S: f64 = 5.0;
    let mut record = measure(plan, 0);
    let job = &mut record.jobs[0];
    let offered_iops = plan.steps[0].jobs[0].load.rate_total_iops.expect("a rate");
    let excess = (offered_iops - CAP_IOPS).max(0.0);
    let n_ios = (offered_iops.min(CAP_IOPS) * WINDOW_S) as u64;
    let mut response = Histogram::new();
    response.record_n(1_000_000 + (excess * WINDOW_S / CAP_IOPS * 1e9) as u64, n_ios);
    job.runtime_ns = (WINDOW_S * 1e9) as u64;
    let read = &mut job.dirs.read;
    (read.n_ios, read.runtime_ns, read.response) = (n_ios, job.runtime_ns, Some(response));
    job.arrivals = Some(ArrivalsRecord {
        offered_iops,
        spacing: spacing.to_owned(),
        backlog_end: (excess * WINDOW_S - 256.0).max(0.0) as u64,
        ..ArrivalsRecord::default()
    });
    record
}

/// A limit so wide that a queue may grow for all of a point and keep it: the backlog tells.
#[test]
fn a_load_whose_backlog_grows_is_not_carried() {
    let (even, poisson) = ((Arrivals::Linear, "even"), (Arrivals::Poisson, "poisson"));
    // A limit on what is achieved stands beside it, however wide, and is no other word for it.
    for ((arrivals, spacing), limits) in [
        (even, "p99 < 1s"),
        (poisson, "p99 < 1s"),
        (even, "p99 < 1s and achieved > 95%"),
        (poisson, "achieved > 50%"),
    ] {
        let lever = Lever::Rate { arrivals, in_flight_max: 256 };
        let mut options = options(lever, limits);
        options.time.measured_ns = 5_000_000_000;
        let mut sweep = Sweep::new(plan(vec![job("j")]), options).expect("a sweep");
        while let Some(next) = sweep.next_point() {
            sweep.take(queued(&next.plan, spacing)).expect("a point");
            assert!(next.idx < 200, "it does not end");
        }
        let line = sweep.finish().expect("a record").curve.expect("a curve").line;
        let load = line.load.expect("a line");
        // 256 in flight are 1 % of what is due in five seconds, and a percent may wait.
        assert!((0.99..1.03).contains(&(load / CAP_IOPS)), "{spacing}, {limits}: {load}");
        assert!(line.broken[0].starts_with("the backlog grew from 0 to "), "{:?}", line.broken);
    }
}

#[test]
fn a_line_of_the_ios_in_flight_is_reported() {
    // 1 ms each: four in flight come to 4,000 per second of a volume that carries 5,000.
    let run = |in_flight_max: u32| {
        let lever = Lever::Rate { arrivals: Arrivals::Linear, in_flight_max };
        let mut sweep =
            Sweep::new(plan(vec![job("j")]), options(lever, "p99 < 10ms")).expect("one");
        while let Some(next) = sweep.next_point() {
            let mut record = measure(&next.plan, 0);
            let offered = next.plan.steps[0].jobs[0].load.rate_total_iops.expect("a rate");
            let bound = f64::from(in_flight_max) * 1_000.0;
            let read = &mut record.jobs[0].dirs.read;
            let rate = offered.min(bound).min(CAP_IOPS);
            let in_queue = if offered > rate { f64::from(in_flight_max) } else { rate / 1_000.0 };
            read.n_ios = (rate * SECONDS as f64) as u64;
            read.clat = Histogram::new();
            read.clat.record_n((in_queue / rate * 1e9) as u64, read.n_ios);
            if offered > rate {
                let mut response = Histogram::new();
                response.record_n(1_000_000_000, read.n_ios);
                read.response = Some(response);
            }
            sweep.take(record).expect("a point");
        }
        let record = sweep.finish().expect("a record");
        let reported = record.notes.iter().find(|note| note.code == "line-of-in-flight");
        reported.map(|note| note.message.clone())
    };
    let reported = run(4).expect("four are too few");
    assert!(reported.contains("the 4 I/Os allowed in flight"), "{reported}");
    assert!(reported.contains("make 4000 IOPS") || reported.contains("make 399"), "{reported}");
    assert_eq!(run(64), None, "they would wait in the volume");
}

/// What a volume says of a plan whose points last as long as the plan says.
fn measure_as_long(plan: &Plan) -> Record {
    let mut record = measure(plan, 0);
    let runtime_ns = plan.steps[0].jobs[0].limits.runtime_ns.expect("points have a time");
    let more = runtime_ns as f64 / TIME.measured_ns as f64;
    let read = &mut record.jobs[0].dirs.read;
    let latency_ns = read.clat.max_ns().expect("it did something");
    let n_ios = (read.n_ios as f64 * more) as u64;
    let mut latency = Histogram::new();
    latency.record_n(latency_ns, n_ios);
    (read.n_ios, read.io_bytes, read.runtime_ns) = (n_ios, n_ios * 8192, runtime_ns);
    (read.clat, read.lat) = (latency.clone(), latency.clone());
    read.response = read.response.take().map(|_| latency);
    record.jobs[0].runtime_ns = runtime_ns;
    record
}

fn curve_of(
    options: SweepOptions,
    mut measure: impl FnMut(&Plan) -> Record,
) -> record::CurveRecord {
    let mut sweep = Sweep::new(plan(vec![job("j")]), options).expect("a sweep");
    let mut n = 0;
    while let Some(next) = sweep.next_point() {
        sweep.take(measure(&next.plan)).expect("a point");
        n += 1;
        assert!(n < 200, "it does not end");
    }
    sweep.finish().expect("a record").curve.expect("a curve")
}

#[test]
fn points_last_until_there_are_enough_operations() {
    let short = Time { measured_ns: 1_000_000_000, ramp_ns: 0 };
    let mut longest_ns = 0;
    let options = SweepOptions { time: short, ..options(OPEN, "p99.9 < 10ms") };
    let curve = curve_of(options, |plan| {
        let load = &plan.steps[0].jobs[0];
        let runtime_ns = load.limits.runtime_ns.expect("a time");
        let n_due = load.load.rate_total_iops.expect("a rate") * runtime_ns as f64 / 1e9;
        assert!(n_due >= 10_000.0 || runtime_ns == 60_000_000_000, "{n_due}");
        longest_ns = longest_ns.max(runtime_ns);
        measure_as_long(plan)
    });
    assert!(longest_ns >= 10_000_000_000, "10,000 operations take 10 s at 1,000 a second");
    assert!(curve.line.load.is_some_and(|load| (load / CAP_IOPS - 1.0).abs() < 0.01));
}

/// What a search that ran out of measurements advises is what its command takes.
#[test]
fn a_search_that_ran_out_advises_what_its_command_takes() {
    for (advice, more) in
        [(Advice::CURVE, "with --probes-max"), (Advice::SUITE, "with --set probes_max=N")]
    {
        let mut options = SweepOptions { advice, ..options(OPEN, "p99 < 10ms") };
        options.search.n_probes_max = 3;
        let why = curve_of(options, measure_as_long).line.why;
        assert!(why.ends_with(more), "{why}");
    }
}

#[test]
fn a_percentile_of_too_few_operations_is_no_line() {
    for (lever, limits) in [(OPEN, "p99.99999 < 10ms"), (Lever::QueueDepth, "p99.9999 < 3ms")] {
        let curve = curve_of(options(lever, limits), measure_as_long);
        assert_eq!(curve.line.verdict(), LineVerdict::CannotTell(CannotTell::FewOperations));
        assert_eq!((curve.line.load, curve.line.interval), (None, None));
        assert!(curve.line.why.contains("operations, and p99.9"), "{}", curve.line.why);
        let longer = "measure longer with --set point_time=DURATION";
        assert!(curve.line.why.ends_with(longer), "{}", curve.line.why);
    }
}

/// Checks of a generator that was disturbed, by what may be gone the next time or not.
fn disturbed(record: Record, is_transient: bool) -> Record {
    failing(record, GateName::Generator, is_transient)
}

fn failing(mut record: Record, name: GateName, is_transient: bool) -> Record {
    let transient = if is_transient { 1.0 } else { 0.0 };
    let gate = GateRecord {
        name: name.to_string(),
        verdict: Verdict::Failed,
        reason: "client-bound: it stood still for 0.4 s".to_owned(),
        next_step: None,
        figures: [("is_transient".to_owned(), transient)].into(),
    };
    record.validity = vec![StepValidity { gates: vec![gate], ..StepValidity::default() }];
    record
}

/// Slow by a pause of ours: every third point, whatever its load.
fn slow(mut record: Record) -> Record {
    let read = &mut record.jobs[0].dirs.read;
    let mut latency = Histogram::new();
    latency.record_n(400_000_000, read.n_ios);
    (read.clat, read.lat, read.response) = (latency.clone(), latency.clone(), Some(latency));
    record
}

#[test]
fn what_was_slowed_down_is_repeated_and_counts_for_nothing() {
    for name in GateName::ALL.into_iter().filter(|name| name.only_slows()) {
        let mut n = 0;
        let curve = curve_of(options(OPEN, "p99 < 10ms"), |plan| {
            n += 1;
            let record = measure(plan, 0);
            if n % 3 == 0 { failing(slow(record), name, true) } else { record }
        });
        assert!(curve.line.load.is_some_and(|load| (load / CAP_IOPS - 1.0).abs() < 0.01));
        let void: Vec<_> = curve.points.iter().filter(|point| point.void.is_some()).collect();
        assert_eq!(void.len(), n / 3, "{name}");
        assert!(void.iter().all(|point| !point.passed && !curve.stands(point)));
    }
}

#[test]
fn a_generator_that_is_always_disturbed_is_why_there_is_no_line() {
    let curve =
        curve_of(options(OPEN, "p99 < 10ms"), |plan| disturbed(slow(measure(plan, 0)), true));
    assert_eq!(curve.line.verdict(), LineVerdict::CannotTell(CannotTell::Host));
    assert!(curve.line.why.contains("stood still"), "{}", curve.line.why);
    // What stays so is a limit as any other, and is named beside the line.
    let mut sweep = Sweep::new(plan(vec![job("j")]), options(OPEN, "p99 < 10ms")).expect("a sweep");
    while let Some(next) = sweep.next_point() {
        let is_over = next.load > CAP_IOPS;
        let record = measure(&next.plan, 0);
        sweep.take(if is_over { disturbed(record, false) } else { record }).expect("a point");
    }
    let record = sweep.finish().expect("a record");
    assert!(record.curve.as_ref().is_some_and(|curve| curve.line.load.is_some()));
    assert!(record.notes.iter().any(|note| note.code == "line-of-generator"), "{:?}", record.notes);
}

/// A load that was carried with nothing to spare was carried; one that others disturbed was not
/// measured as asked for.
#[test]
fn what_was_carried_with_nothing_to_spare_is_a_line() {
    for (is_transient, is_valid) in [(false, true), (true, false)] {
        let options = options(OPEN, "p99 < 10ms");
        let mut sweep = Sweep::new(plan(vec![job("j")]), options).expect("a sweep");
        while let Some(next) = sweep.next_point() {
            let is_over = next.load > CAP_IOPS;
            let record = measure(&next.plan, 0);
            sweep.take(if is_over { record } else { disturbed(record, is_transient) });
        }
        let record = sweep.finish().expect("a record");
        assert!(record.curve.as_ref().is_some_and(|curve| curve.line.load.is_some()));
        assert_eq!(has_valid_line(&record), is_valid);
    }
}

/// Where every load was carried, no disturbance made one fail: the answer stands.
#[test]
fn a_disturbance_takes_nothing_from_a_line_above_all_loads() {
    let mut options = options(OPEN, "p99 < 10ms");
    options.search.max = CAP_IOPS / 2.0;
    let mut sweep = Sweep::new(plan(vec![job("j")]), options).expect("a sweep");
    while let Some(next) = sweep.next_point() {
        sweep.take(disturbed(measure(&next.plan, 0), true));
    }
    let record = sweep.finish().expect("a record");
    let verdict = record.curve.as_ref().expect("a curve").line.verdict();
    assert_eq!(verdict, LineVerdict::Above(CAP_IOPS / 2.0));
    assert!(has_valid_line(&record), "{:?}", record.line_validity());
}

/// The lowest load alone is slow, once: it decides nothing.
#[test]
fn a_hiccup_at_the_lowest_load_decides_no_figure() {
    let mut n = 0;
    let curve = curve_of(options(OPEN, "p99 < 10ms"), |plan| {
        n += 1;
        let record = measure(plan, 0);
        if n == 1 { slow(record) } else { record }
    });
    assert!(curve.line.load.is_some_and(|load| (load / CAP_IOPS - 1.0).abs() < 0.01));
    assert!(curve.carried.iter().all(|it| it.state != CarriedState::Below), "{:?}", curve.carried);
    assert!((curve.overall_response_ns.expect("a curve") / 1e6 - 1.0).abs() < 0.01);
    assert!(curve.knees.is_none_or(|knees| knees.rates_iops.iter().all(|rate| *rate > 1_000.0)));
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
    assert_eq!((line.load, line.end), (None, SearchEnd::Unfinished));
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

/// The record of a point that two hosts made, the second of them with this harm.
fn by_hosts(whole: Record, lost: Option<&str>, start_error_ns: i64) -> Record {
    let host = |name: &str, start_error_ns: i64, lost: Option<&str>| HostShareRecord {
        name: name.to_owned(),
        starts: vec![StartRecord { step_idx: 0, start_error_ns }],
        lost: lost.map(|reason| LossRecord { since_ms: 500, reason: reason.to_owned() }),
        record: Record { outcome: whole.outcome, ..Record::default() },
        ..HostShareRecord::default()
    };
    let hosts = vec![host("a", 0, None), host("b", start_error_ns, lost)];
    let outcome = if lost.is_some() { Outcome::Partial } else { whole.outcome };
    Record { hosts, outcome, ..whole }
}

#[test]
fn a_point_without_one_of_its_hosts_counts_for_nothing() {
    let quiet = drive(OPEN, "p99 < 10ms").curve.expect("a curve").line;
    for (lost, start_error_ns, said) in [
        (Some("it hung"), 0, "`b` was lost: it hung"),
        (None, -2_500_000_000, "`b` began beside the others: 2500 ms off"),
    ] {
        let mut sweep =
            Sweep::new(plan(vec![job("j")]), options(OPEN, "p99 < 10ms")).expect("a sweep");
        while let Some(next) = sweep.next_point() {
            let whole = measure(&next.plan, 1_000_000 + u64::from(next.idx) * 20_000);
            let is_harmed = next.idx % 4 == 1;
            // Without half of the load the volume carries anything.
            let record = if is_harmed {
                by_hosts(with_latency(whole, 1_000_000), lost, start_error_ns)
            } else {
                by_hosts(whole, None, 900_000_000)
            };
            let point = sweep.take(record).expect("a point");
            assert_eq!(point.void.as_deref(), is_harmed.then_some(said));
            assert!(next.idx < 200, "it does not end");
        }
        let record = sweep.finish().expect("a record");
        let line = &record.curve.as_ref().expect("a curve").line;
        assert_eq!((line.load, line.first_fail), (quiet.load, quiet.first_fail), "{said}");
        assert_eq!(record.outcome, Outcome::Complete, "the points that count have all hosts");
        assert!(record.hosts.iter().all(|host| host.lost.is_none()));
    }
}

/// Gives all operations of a record one latency.
fn with_latency(mut record: Record, ns: u64) -> Record {
    let read = &mut record.jobs[0].dirs.read;
    let mut latency = Histogram::new();
    latency.record_n(ns, read.n_ios);
    read.response = Some(latency);
    record
}

#[test]
fn a_sweep_that_cannot_go_on_keeps_what_it_has() {
    let abandoned = |n_points: u32| {
        let options = options(OPEN, "p99 < 10ms");
        let mut sweep = Sweep::new(plan(vec![job("j")]), options).expect("a sweep");
        while let Some(next) = sweep.next_point().filter(|next| next.idx < n_points) {
            sweep.take(measure(&next.plan, 1_000_000)).expect("a point");
        }
        sweep.abandon("`b` is gone".to_owned());
        assert!(sweep.next_point().is_none(), "nothing more is asked for");
        let record = sweep.finish().expect("a record");
        assert!(record.notes.iter().any(|note| note.message.contains("`b` is gone")));
        record.curve.expect("a curve")
    };
    let early = abandoned(4);
    assert_eq!(early.points.len(), 4);
    assert_eq!(early.line.verdict(), LineVerdict::CannotTell(CannotTell::Host));
    assert_eq!(early.line.why_not(), "`b` is gone");
    let whole = drive(OPEN, "p99 < 10ms").curve.expect("a curve");
    // The line is there, and some of the curve is not.
    let n_points = whole.points.len() as u32;
    let late = abandoned(n_points - 4);
    assert_eq!(late.line.load, whole.line.load, "what was found stands");
}
