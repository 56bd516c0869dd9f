//! Open load: what a stall does to latencies, what waits, who is late, and how full the queue was.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pattern::Stream;
use pattern::arrivals::Arrivals as Schedule;
use plan::load::{Arrivals, Rate, RatePeriod, RatePeriods, ThinkTime};
use plan::op::OpKind;
use plan::{Direction, Job, PerDir};
use worker::{ArrivalCounts, Meters, NoData, Worker, offered_iops};

use crate::common::{Sim, job, run, worker_of};

const MIB: u64 = 1 << 20;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Random reads at a rate for so long.
fn rated(rate_iops: u64, runtime_ns: u64, queue_depth: u32) -> Job {
    let mut job = job(OpKind::Read, true, queue_depth);
    job.load.rate.read = Some(Rate::Iops(rate_iops));
    job.limits.runtime_ns = Some(runtime_ns);
    job.limits.time_based = true;
    job
}

/// Runs 2,000 reads per second for 10 s, with 3 s in which nothing goes on.
fn with_stall(depth: u32, set: impl FnOnce(&mut Sim)) -> (Arc<Meters>, Worker) {
    let (mut worker, meters) = worker_of(rated(2_000, 10 * S, depth), 64 * MIB, 32);
    let mut sim = Sim::new(10 * US);
    set(&mut sim);
    sim.run(&mut worker, &mut NoData);
    (meters, worker)
}

/// Checks quantiles and mean of the response time, in seconds, within a bucket of the histogram.
#[track_caller]
fn check_responses(meters: &Meters, expected: &[(f64, f64)], mean: f64) {
    let response = meters.dir(Direction::Read).response.snapshot();
    assert_eq!(response.count(), 20_000);
    for (share, expected_s) in expected {
        let found_s = response.quantile(*share).expect("there are responses") as f64 / 1e9;
        let off_s = (found_s - expected_s).abs();
        assert!(off_s <= 0.005 * expected_s + 0.001, "{share}: {found_s} s, not {expected_s}");
    }
    let found_s = response.mean_ns().expect("there are responses") / 1e9;
    assert!((found_s - mean).abs() < 0.005 * mean, "mean {found_s} s, not {mean}");
}

/// Of 20,000 operations 6,000 were due in the stall: they waited between 3 s and nothing.
const UNLIMITED: [(f64, f64); 5] =
    [(0.5, 0.0), (0.69, 0.0), (0.9, 2.0), (0.99, 2.9), (0.999, 2.99)];

#[test]
fn a_stall_of_the_device_shows_in_full() {
    let (meters, worker) = with_stall(128, |sim| sim.stall = Some((4 * S, 7 * S)));
    check_responses(&meters, &UNLIMITED, 0.45);
    let service = meters.dir(Direction::Read).lat.snapshot();
    let p99_ns = service.quantile(0.99).expect("there are latencies");
    // Only what was in flight stood still: 128 of 20,000.
    assert!(p99_ns < 20 * US, "service p99 is {p99_ns} ns");
    assert!(service.max_ns().is_some_and(|max_ns| max_ns > 2_990 * MS));
    assert_eq!(worker.kept(), ArrivalCounts::default(), "only the device is late");
}

#[test]
fn a_stall_of_the_generator_shows_in_full_and_is_kept_apart() {
    let (meters, worker) = with_stall(128, |sim| sim.frozen = Some((4 * S, 7 * S)));
    check_responses(&meters, &UNLIMITED, 0.45);
    let n_late = worker.kept().n_late;
    assert!((5_900..=6_000).contains(&n_late), "{n_late} of 6,000 late");
}

#[test]
fn a_device_that_catches_up_slowly() {
    let (meters, _) = with_stall(1, |sim| {
        sim.stall = Some((4 * S, 7 * S));
        sim.gap_ns = S / 14_000;
    });
    let expected = [(0.5, 0.0), (0.7, 0.429), (0.9, 2.143), (0.99, 2.914), (0.999, 2.991)];
    check_responses(&meters, &expected, 0.525);
}

#[test]
fn what_a_device_does_not_carry_waits() {
    // Four at a time of 10 ms each are 400 per second of the 1,000 that are due.
    let mut job = rated(1_000, 5 * S, 4);
    job.limits.ramp_ns = S;
    let (_, _, worker) = run(job, 64 * MIB, 10 * MS);
    let ArrivalCounts { n_late, backlog_start, backlog_end, .. } = worker.kept();
    assert_eq!(n_late, 0, "there was never room");
    assert!((595..=600).contains(&backlog_start), "{backlog_start}");
    assert!((3_595..=3_600).contains(&backlog_end), "{backlog_end}");
    let in_flight = worker.in_flight_mean().expect("it ran");
    assert!((3.9..=4.0).contains(&in_flight), "{in_flight}");
    // A job that ends by itself leaves nothing behind, whatever its schedule says.
    let mut short = rated(1_000, 5 * S, 4);
    short.limits.time_based = false;
    short.limits.n_ios_max = Some(100);
    let (_, _, worker) = run(short, 64 * MIB, 50 * MS);
    assert_eq!(worker.kept().backlog_end, 0);
}

#[test]
fn a_job_that_pauses_is_not_late() {
    let mut job = rated(1_000, 2 * S, 4);
    job.load.think = ThinkTime { pause_ns: 20 * MS, every_ios: 10, ..ThinkTime::default() };
    let (_, _, worker) = run(job, 64 * MIB, 10 * US);
    assert_eq!(worker.kept().n_late, 0);
}

/// Rate times latency is what was in flight, and what was in flight was counted without latencies.
#[test]
fn littles_law_holds() {
    #[track_caller]
    fn check(job: Job, latency_ns: u64, expected: f64) {
        let (_, meters, worker) = run(job, 64 * MIB, latency_ns);
        let found = worker.in_flight_mean().expect("it ran");
        assert!((found - expected).abs() <= 0.001 * expected, "{found}, not {expected}");
        let dir = meters.dir(Direction::Read);
        let lat = dir.lat.snapshot();
        let by_law = lat.sum_ns() as f64 / dir.runtime_ns.load(Relaxed) as f64;
        assert!((by_law - found).abs() <= 0.002 * found, "{by_law}, not {found}");
    }
    let closed = |depth, ramp_ns| {
        let mut job = job(OpKind::Read, true, depth);
        job.limits.runtime_ns = Some(5 * S);
        job.limits.ramp_ns = ramp_ns;
        job.limits.time_based = true;
        job
    };
    check(closed(1, 0), 100 * US, 1.0);
    check(closed(1, S), 100 * US, 1.0);
    check(closed(32, S), 700 * US, 32.0);
    // Idle time counts: 500 per second of 200 us each.
    check(rated(500, 5 * S, 8), 200 * US, 0.1);
    let mut pausing = closed(4, 0);
    pausing.load.think = ThinkTime { pause_ns: MS, every_ios: 4, ..ThinkTime::default() };
    // Four at once for 1 ms of every 2.
    check(pausing, MS, 2.0);
}

/// Every arrival that was due is issued, and there are as many as the rate says, within 0.1 %.
#[test]
fn rates_up_to_a_million_per_second_hold() {
    #[track_caller]
    fn check(rate_iops: u64, arrivals: Arrivals, runtime_ns: u64) {
        let mut job = rated(rate_iops, runtime_ns, 1024);
        job.load.arrivals = arrivals;
        let seed = pattern::derive(job.workload.seed, Stream::Worker, 0);
        let (sim, _, worker) = run(job, 64 * MIB, US);
        let rate = Rate::Iops(rate_iops);
        let mut schedule =
            Schedule::new(arrivals, rate, seed, Direction::Read as u64).expect("the rate is one");
        let mut n_due = 0;
        while schedule.due_ns() < runtime_ns {
            n_due += 1;
            schedule.advance(4096);
        }
        let n_left = worker.kept().backlog_end;
        assert_eq!(sim.seen.len() as u64 + n_left, n_due, "{arrivals:?} at {rate_iops}");
        let share = 1000 * n_left / n_due;
        assert_eq!(share, 0, "{n_left} of {n_due} were due and not issued");
    }
    for rate_iops in [1_000, 30_000, 1_000_000] {
        check(rate_iops, Arrivals::Linear, S / 2);
        check(rate_iops, Arrivals::Poisson, S / 2);
    }
    // The schedule itself: of ten million random gaps the standard deviation is 0.03 %.
    for arrivals in [Arrivals::Linear, Arrivals::Poisson] {
        let mut schedule = Schedule::new(arrivals, Rate::Iops(1_000_000), 5, 0).expect("a rate");
        (0..10_000_000).for_each(|_| schedule.advance(4096));
        let passed_s = schedule.due_ns() as f64 / 1e9;
        assert!((passed_s - 10.0).abs() <= 0.01, "{arrivals:?}: {passed_s} s, not 10");
    }
}

#[test]
fn what_is_offered_adds_up() {
    let block_bytes = PerDir::all(8192.0);
    let offered = |set: &dyn Fn(&mut Job)| {
        let mut job = job(OpKind::Read, true, 4);
        job.n_workers = 2;
        set(&mut job);
        offered_iops(&job, block_bytes, (0, 15 * S))
    };
    assert_eq!(offered(&|_| {}), None);
    assert_eq!(offered(&|job| job.load.rate.read = Some(Rate::Iops(500))), Some(500.0));
    assert_eq!(offered(&|job| job.load.rate.read = Some(Rate::Bytes(MIB))), Some(128.0));
    assert_eq!(offered(&|job| job.load.rate_total_iops = Some(500.0)), Some(250.0));
    // 10 s at 500, 10 s at 100, and over again: of the first 15 s a third is at 100.
    let period = |rate| RatePeriod { rate, duration_ns: 10 * S };
    let periods = RatePeriods { periods: vec![period(500.0), period(100.0)], in_spikes: false };
    let changing = |job: &mut Job| {
        (job.load.rate_total_iops, job.load.rate_periods) = (Some(500.0), Some(periods.clone()));
    };
    let offered_iops = offered(&changing).expect("it has a rate");
    assert!((offered_iops - 5500.0 / 15.0 / 2.0).abs() < 1e-9, "{offered_iops}");
    assert!((periods.share_between(5 * S, 25 * S) - 0.6).abs() < 1e-12);
    assert!(periods.share_between(5 * S, 5 * S).abs() < 1e-12);
    // Writes without a rate: it is not known how many there will be.
    let half = |job: &mut Job| {
        job.workload.access.write = true;
        job.load.rate.read = Some(Rate::Iops(500));
    };
    assert_eq!(offered(&half), None);
    assert_eq!(
        offered(&|job| (half(job), job.load.rate.write = Some(Rate::Iops(7))).1),
        Some(507.0)
    );
}
