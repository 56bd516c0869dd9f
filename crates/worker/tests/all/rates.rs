//! Rates over everything that a job does, and of single parts, in virtual time.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plan::job::Part;
use plan::load::{Arrivals, Rate, RatePeriod, RatePeriods};
use plan::op::OpKind;
use plan::{Direction, Job};
use worker::{ArrivalCounts, FileRegion, Meters, NoData, Worker, WorkerSpec};

use crate::common::{Sim, job};

const S: u64 = 1_000_000_000;
const LEN_BYTES: u64 = 1 << 30;

/// Runs worker `worker_idx` of a job for some seconds, at a latency in nanoseconds.
fn run(job: Job, worker_idx: u32, seconds: u64, latency_ns: u64) -> (Sim, Arc<Meters>) {
    let (sim, meters, _) = run_worker(job, worker_idx, seconds, latency_ns);
    (sim, meters)
}

/// Runs it, and returns the worker as well.
fn run_worker(
    mut job: Job,
    worker_idx: u32,
    seconds: u64,
    latency_ns: u64,
) -> (Sim, Arc<Meters>, Worker) {
    job.limits.runtime_ns = Some(seconds * S);
    job.limits.time_based = true;
    let meters = Meters::of(&job);
    let (job, files) = (Arc::new(job), vec![FileRegion { offset_bytes: 0, len_bytes: LEN_BYTES }]);
    let seed = 7 + u64::from(worker_idx);
    let spec = WorkerSpec { job, worker_idx, seed, files, amount_bytes: LEN_BYTES, batch_max: 32 };
    let mut worker = Worker::new(&spec, Arc::clone(&meters)).expect("the job fits");
    let mut sim = Sim::new(latency_ns);
    sim.run(&mut worker, &mut NoData);
    (sim, meters, worker)
}

fn rated(rate_iops: f64, arrivals: Arrivals) -> Job {
    let mut job = job(OpKind::Read, true, 32);
    job.workload.access.write = true;
    job.load.rate_total_iops = Some(rate_iops);
    job.load.arrivals = arrivals;
    job
}

#[test]
fn one_rate_holds_over_all_directions() {
    #[track_caller]
    fn check(rate_iops: f64, arrivals: Arrivals, seconds: u64, share_off: f64) {
        let (sim, _) = run(rated(rate_iops, arrivals), 0, seconds, 1000);
        let (n, expected) = (sim.seen.len() as f64, rate_iops * seconds as f64);
        assert!((n - expected).abs() <= 1.0 + expected * share_off, "{n} I/Os, not {expected}");
        let reads = sim.seen.iter().filter(|seen| seen.op.kind == OpKind::Read).count() as f64;
        assert!((reads / n - 0.5).abs() < 0.1, "{reads} reads of {n}");
    }
    check(500.0, Arrivals::Linear, 4, 0.0);
    check(33.3, Arrivals::Linear, 3600, 0.0);
    check(1.0 / 3.0, Arrivals::Linear, 36_000, 0.0);
    check(100_000.0, Arrivals::Linear, 1, 0.0);
    // The standard deviation of 100,000 random gaps is 0.3 %, of even ones 0.2 %.
    check(1000.5, Arrivals::Poisson, 100, 0.01);
    check(1000.5, Arrivals::Uniform, 100, 0.01);
}

#[test]
fn workers_share_a_rate_and_take_even_turns() {
    let starts = |worker_idx| {
        let mut job = rated(1000.0, Arrivals::Linear);
        job.n_workers = 4;
        let (sim, _) = run(job, worker_idx, 1, 1000);
        sim.seen.iter().map(|seen| seen.at_ns).collect::<Vec<_>>()
    };
    let mut all: Vec<u64> = (0..4).flat_map(starts).collect();
    all.sort_unstable();
    assert_eq!(all.len(), 1000);
    assert!(all.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000));
}

#[test]
fn response_time_counts_from_when_an_operation_was_due() {
    let mut job = rated(1000.0, Arrivals::Linear);
    job.load.queue_depth = 2;
    job.workload.access.write = false;
    // Two at a time of 10 ms each carry 200 a second: after a second 800 are overdue.
    let (sim, meters) = run(job, 0, 1, 10_000_000);
    let response = meters.dir(Direction::Read).response.snapshot();
    assert_eq!(sim.depth_max, 2);
    assert_eq!(response.count(), meters.dir(Direction::Read).n_ios.load(Relaxed));
    let longest_ms = response.max_ns().unwrap_or(0) / 1_000_000;
    assert!((790..=820).contains(&longest_ms), "{longest_ms} ms");
}

fn part(name: &str, kind: OpKind, rate_iops: Option<f64>, priority: u32) -> Part {
    let workload = job(kind, true, 1).workload;
    Part { name: name.to_owned(), rate_iops, priority, workload, ..Part::default() }
}

fn counts(meters: &Meters) -> Vec<u64> {
    let series = meters.series().expect("parts");
    series.iter().map(|(_, of)| of.n_ios.load(Relaxed)).collect()
}

#[test]
fn a_part_with_a_rate_has_it_and_the_others_share_the_rest() {
    let mut job = rated(1000.0, Arrivals::Linear);
    let own = part("own", OpKind::Write, Some(250.5), 0);
    job.parts = vec![own, part("a", OpKind::Read, None, 0), part("b", OpKind::Read, None, 0)];
    job.parts[1].weight = 2.0;
    let (_, meters) = run(job.clone(), 0, 100, 1000);
    let n = counts(&meters);
    assert!(n[0].abs_diff(25_050) <= 1 && (n[1] + n[2]).abs_diff(74_950) <= 1, "{n:?}");
    assert!(n[1].abs_diff(n[2] * 2) <= 8, "{n:?}");
    // As fast as it goes, but for the one: at most 32 at a time of 1 ms.
    job.load.rate_total_iops = None;
    let (_, meters) = run(job, 0, 10, 1_000_000);
    let n = counts(&meters);
    assert!(n[0].abs_diff(2505) <= 1, "{n:?}");
    assert!((n[0] + n[1] + n[2]).abs_diff(320_000) <= 64, "{n:?}");
}

#[test]
fn the_more_urgent_of_two_rates_is_kept_when_both_are_too_much() {
    let mut job = job(OpKind::Read, true, 1);
    let urgent = part("urgent", OpKind::Read, Some(80.0), 1);
    job.parts = vec![part("other", OpKind::Write, Some(80.0), 2), urgent];
    // One at a time of 10 ms: 100 a second.
    let (_, meters) = run(job, 0, 100, 10_000_000);
    let n = counts(&meters);
    assert!(n[1].abs_diff(8000) <= 1 && n[0].abs_diff(2000) <= 2, "{n:?}");
}

fn changing(periods: &[(f64, u64)], in_spikes: bool, seconds: u64, worker: (u32, u32)) -> Sim {
    let largest = periods.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
    let mut job = rated(largest, Arrivals::Linear);
    job.load.queue_depth = 4;
    let period = |(rate, seconds): &(f64, u64)| RatePeriod {
        rate: *rate * 2.0, // In proportion.
        duration_ns: seconds * S,
    };
    let periods = periods.iter().map(period).collect();
    job.load.rate_periods = Some(RatePeriods { periods, in_spikes });
    job.n_workers = worker.1;
    run(job, worker.0, seconds, 1000).0
}

#[test]
fn a_rate_that_changes_holds_in_every_second() {
    #[track_caller]
    fn check(periods: &[(f64, u64)], n_workers: u32, expected: &[usize]) {
        for in_spikes in [false, true] {
            let mut n = vec![0; expected.len()];
            for worker_idx in 0..n_workers {
                let worker = (worker_idx, n_workers);
                let sim = changing(periods, in_spikes, expected.len() as u64, worker);
                sim.seen.iter().for_each(|seen| n[(seen.at_ns / S) as usize] += 1);
            }
            assert_eq!(n, expected, "in spikes: {in_spikes}");
        }
    }
    check(&[(100.0, 2), (1000.0, 1), (0.0, 1)], 1, &[100, 100, 1000, 0, 100, 100, 1000, 0]);
    check(&[(0.0, 1), (30.0, 1)], 3, &[0, 30, 0, 30, 0]);
}

#[test]
fn a_spike_waits_for_the_queue_and_shows_in_the_response_time() {
    let sim = changing(&[(8.0, 1)], true, 2, (0, 1));
    let at_us: Vec<u64> = sim.seen.iter().map(|seen| seen.at_ns / 1000).collect();
    // A queue of 4 at a latency of 1 us.
    let second = 1_000_000;
    let later = second + 1;
    let expected =
        [0, 0, 0, 0, 1, 1, 1, 1, second, second, second, second, later, later, later, later];
    assert_eq!(at_us, expected);
}

/// Ten a second for ten seconds, then two, one after the other. At 250 ms each, 80 of 120 are
/// begun; the last of them was due after 7.9 s and begun after 19.75 s. The second one had waited
/// already, and was due after 100 ms.
#[test]
fn a_rate_that_changes_has_a_backlog_and_a_moment_from_which_it_was_not_followed() {
    let kept = |latency_ns| {
        let mut job = rated(10.0, Arrivals::Linear);
        job.load.queue_depth = 1;
        let period = |rate| RatePeriod { rate, duration_ns: 10 * S };
        let periods = vec![period(10.0), period(2.0)];
        job.load.rate_periods = Some(RatePeriods { periods, in_spikes: false });
        run_worker(job, 0, 20, latency_ns).2.kept()
    };
    let slow = kept(250_000_000);
    let expected = ArrivalCounts {
        n_late: 0,
        backlog_start: 0,
        backlog_end: 40,
        delay_ns_max: 11_850_000_000,
        behind_since_ns: Some(100_000_000),
    };
    assert_eq!(slow, expected);
    assert_eq!(kept(25_000_000), ArrivalCounts::default());
}

#[test]
fn a_mix_of_one_direction_issues_no_other_whatever_the_rates() {
    #[track_caller]
    fn check(read_pct: f64, rates: [Option<Rate>; 2], random: bool, expected: [u64; 2]) {
        let mut job = job(OpKind::Read, random, 8);
        job.workload.access.write = true;
        job.workload.read_pct = read_pct;
        (job.load.rate.read, job.load.rate.write) = (rates[0], rates[1]);
        let (sim, _) = run(job, 0, 1, 1000);
        let n = |kind| sim.seen.iter().filter(|seen| seen.op.kind == kind).count() as u64;
        let what = format!("{read_pct} % reads, {rates:?}");
        assert_eq!([n(OpKind::Read), n(OpKind::Write)], expected, "{what}");
    }
    let iops = |rate| Some(Rate::Iops(rate));
    let bytes = |rate: u64| Some(Rate::Bytes(rate << 20));
    check(100.0, [iops(1000), iops(1000)], true, [1000, 0]);
    check(100.0, [iops(1000), iops(500)], true, [1000, 0]);
    check(0.0, [bytes(8), bytes(4)], true, [0, 1024]);
    check(100.0, [bytes(4), bytes(4)], false, [1024, 0]);
    check(0.0, [None, iops(10)], true, [0, 10]);
    // With a share of both, the rates rule.
    check(99.0, [iops(1000), iops(500)], true, [1000, 500]);
}

#[test]
fn a_closed_rate_makes_nothing_up() {
    let starts = |latency_ns, stall| {
        let mut job = rated(100.0, Arrivals::Linear);
        job.load.queue_depth = 1;
        job.load.rate_closed = true;
        job.workload.access.write = false;
        let meters = Meters::of(&job);
        job.limits.runtime_ns = Some(S);
        job.limits.time_based = true;
        let files = vec![FileRegion { offset_bytes: 0, len_bytes: LEN_BYTES }];
        let job = Arc::new(job);
        let amount_bytes = LEN_BYTES;
        let spec = WorkerSpec { job, worker_idx: 0, seed: 7, files, amount_bytes, batch_max: 32 };
        let mut worker = Worker::new(&spec, Arc::clone(&meters)).expect("the job fits");
        let mut sim = Sim::new(latency_ns);
        sim.stall = stall;
        sim.run(&mut worker, &mut NoData);
        let longest_ns = meters.dir(Direction::Read).response.snapshot().max_ns();
        let at_ms: Vec<u64> = sim.seen.iter().map(|seen| seen.at_ns / 1_000_000).collect();
        (at_ms, longest_ns.unwrap_or(0) / 1_000_000)
    };
    // What is quick is done at the rate.
    let (at_ms, longest_ms) = starts(1_000_000, None);
    assert_eq!(at_ms, (0..100).map(|idx| idx * 10).collect::<Vec<u64>>());
    assert!(longest_ms <= 1, "{longest_ms} ms");
    // What takes 30 ms is begun every 30 ms, and its response is as long as it took.
    let (at_ms, longest_ms) = starts(30_000_000, None);
    assert_eq!(at_ms, (0..34).map(|idx| idx * 30).collect::<Vec<u64>>());
    assert!((29..=31).contains(&longest_ms), "{longest_ms} ms");
    // Behind a stall of 300 ms the gaps are as before it: 30 operations are gone.
    let (at_ms, longest_ms) = starts(1_000_000, Some((101_000_000, 400_000_000)));
    assert!(at_ms.windows(2).all(|pair| pair[1] - pair[0] >= 10), "{at_ms:?}");
    assert!((69..=72).contains(&at_ms.len()), "{at_ms:?}");
    assert!((299..=302).contains(&longest_ms), "{longest_ms} ms");
}
