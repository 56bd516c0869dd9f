//! Load semantics, in virtual time against a device whose every latency is known.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

use crate::common::{Sim, job, run, worker_of};
use plan::files::Size;
use plan::load::{Arrivals, LatencyTarget, Rate, ThinkTime};
use plan::op::{Completion, OpKind};
use plan::{Direction, Job};
use worker::{Decision, FailureKind, NoData};

const MIB: u64 = 1 << 20;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn n_ios(meters: &worker::Meters, dir: Direction) -> u64 {
    meters.dir(dir).n_ios.load(Relaxed)
}

#[test]
fn every_block_is_visited_once_per_pass() {
    let (sim, meters, _) = run(job(OpKind::Read, true, 16), MIB, 100_000);
    let offsets: HashSet<u64> = sim.seen.iter().map(|seen| seen.op.offset).collect();
    assert_eq!(sim.seen.len(), 256);
    assert_eq!(offsets.len(), 256);
    assert_eq!(n_ios(&meters, Direction::Read), 256);
}

#[test]
fn measured_latency_is_the_modelled_one() {
    let (_, meters, _) = run(job(OpKind::Read, true, 8), MIB, 123_456);
    let lat = meters.dir(Direction::Read).lat.snapshot();
    assert_eq!(lat.mean_ns(), Some(123_456.0));
    assert_eq!((lat.min_ns(), lat.max_ns()), (Some(123_456), Some(123_456)));
}

/// A full queue of a device that serves one after the other: whatever the worker waits for, each
/// operation ends when it ends, and not with the last that it waits for.
#[test]
fn what_is_waited_for_together_has_each_its_own_latency() {
    #[track_caller]
    fn check(set: impl FnOnce(&mut Job)) {
        let mut job = job(OpKind::Read, true, 32);
        set(&mut job);
        let (mut worker, meters) = worker_of(job, MIB, 32);
        let mut sim = Sim::new(MS);
        sim.gap_ns = MS;
        sim.run(&mut worker, &mut NoData);
        let lat = meters.dir(Direction::Read).lat.snapshot();
        assert_eq!(lat.count(), sim.latencies_ns.len() as u64);
        assert_eq!(lat.sum_ns(), sim.latencies_ns.iter().map(|ns| u128::from(*ns)).sum());
        assert_eq!(lat.max_ns(), sim.latencies_ns.iter().max().copied());
    }
    // The end of the region, and of the time.
    check(|_| ());
    check(|job| (job.limits.runtime_ns, job.limits.time_based) = (Some(500 * MS), true));
    // Pauses, and a queue that is refilled when it has fallen to a few.
    let pauses = ThinkTime { pause_ns: 5 * MS, every_ios: 64, ..ThinkTime::default() };
    check(|job| job.load.think = pauses);
    check(|job| job.load.queue_depth_low = Some(4));
}

#[test]
fn at_depth_one_handing_over_and_waiting_are_one_call() {
    let (mut worker, _) = worker_of(job(OpKind::Read, true, 1), MIB, 32);
    let (mut ops, mut n_calls) = (Vec::new(), 0);
    while let Decision::Exchange { min, .. } = worker.next(n_calls, &mut ops, &mut NoData) {
        assert_eq!((ops.len(), min), (1, 1));
        let done = Completion { slot: ops[0].slot, result: ops[0].len as i32 };
        worker.submitted(n_calls, &ops);
        n_calls += 1;
        worker.complete(n_calls, 1, &[done], &mut NoData);
    }
    assert_eq!(n_calls, 256);
}

#[test]
fn submission_and_completion_latency_add_up_to_the_total() {
    let (_, meters, _) = run(job(OpKind::Read, true, 8), MIB, 50_000);
    let dir = meters.dir(Direction::Read);
    let mean = |hist: &hist::LiveHistogram| hist.snapshot().mean_ns().unwrap_or(0.0);
    let sum = mean(&dir.slat) + mean(&dir.clat);
    assert!((sum - mean(&dir.lat)).abs() < 1.0, "{sum} against {}", mean(&dir.lat));
}

#[test]
fn a_log_brings_its_window_along_for_the_samples() {
    #[track_caller]
    fn check(set: impl FnOnce(&mut Job), expected: [u64; 2]) {
        let mut job = job(OpKind::Read, true, 1);
        job.logs.window_ms = 10;
        set(&mut job);
        let (_, _, worker) = run(job, MIB, MS);
        let [bandwidth, iops] = worker.samples();
        assert_eq!([bandwidth[0].n_samples(), iops[0].n_samples()], expected);
    }
    // 256 reads of 1 ms each.
    check(|_| (), [0, 0]);
    check(|job| job.logs.bandwidth = Some("log".to_owned()), [25, 0]);
    check(|job| job.logs.iops = Some("log".to_owned()), [0, 25]);
    let set = |job: &mut Job| {
        job.logs.bandwidth = Some("log".to_owned());
        job.reporting.bandwidth_sample_ms = 50;
    };
    check(set, [5, 0]);
}

#[test]
fn closed_load_keeps_the_queue_full() {
    let (sim, _, _) = run(job(OpKind::Read, true, 24), MIB, 100_000);
    assert_eq!(sim.depth_max, 24);
}

/// Runs a closed load for a second. Returns operations per call and operations in flight, as shares
/// of the depth.
fn kept(queue_depth: u32, batch: Option<u32>, call_ns: u64, latency_ns: u64) -> (f64, f64) {
    let mut job = job(OpKind::Read, true, queue_depth);
    job.load.submit_batch = batch;
    job.limits.runtime_ns = Some(S);
    job.limits.time_based = true;
    let (mut worker, _) = worker_of(job, 64 * MIB, queue_depth);
    let mut sim = Sim::new(latency_ns);
    sim.call_ns = call_ns;
    sim.run(&mut worker, &mut NoData);
    let depth = f64::from(queue_depth);
    let in_flight = worker.in_flight_mean().expect("there is no ramp");
    (sim.seen.len() as f64 / sim.n_calls as f64 / depth, in_flight / depth)
}

/// A call of 160 us and a device of 100 us: all that completes during a call is replaced by the
/// next one. One operation per call would be 6,250 per second.
#[test]
fn a_slow_call_is_made_once_for_all_free_slots() {
    for queue_depth in [1, 4, 32, 128] {
        let (per_call, in_flight) = kept(queue_depth, None, 160_000, 100_000);
        assert!(per_call >= 0.95, "{per_call} of {queue_depth} per call");
        assert!(in_flight >= 0.95, "{in_flight} of {queue_depth} in flight");
    }
    let per_call = |batch| kept(32, Some(batch), 160_000, 100_000).0;
    assert!((per_call(0) - 1.0).abs() < 0.001 && (per_call(8) - 0.25).abs() < 0.001);
}

/// Where a call takes little of the time that an operation does, the device gets the first of many
/// before the last is prepared.
#[test]
fn a_quick_call_is_made_for_a_few_and_the_depth_is_kept() {
    for queue_depth in [4, 32, 128] {
        let (per_call, in_flight) = kept(queue_depth, None, 1_000, 1_000_000);
        assert!(per_call <= 0.5, "{per_call} of {queue_depth} per call");
        assert!(in_flight >= 0.95, "{in_flight} of {queue_depth} in flight");
    }
}

/// Where completions come in bunches, the next batch goes over before all of a bunch is taken: the
/// device has the first of them while the others wait for their turn.
#[test]
fn of_a_bunch_as_many_are_taken_as_go_over_at_once() {
    for queue_depth in [8, 32, 128] {
        let mut job = job(OpKind::Read, true, queue_depth);
        job.limits.runtime_ns = Some(S);
        job.limits.time_based = true;
        let (mut worker, _) = worker_of(job, 64 * MIB, queue_depth);
        let mut sim = Sim::new(1_000_000);
        (sim.call_ns, sim.bunch_ns) = (4_000, 500_000);
        sim.run(&mut worker, &mut NoData);
        let (n_ops, n_calls) = (sim.seen.len() as f64, sim.n_calls as f64);
        let depth = f64::from(queue_depth);
        let in_flight = worker.in_flight_mean().expect("there is no ramp");
        assert!(n_ops / n_calls <= 0.5 * depth, "{n_ops} in {n_calls} calls");
        assert!(in_flight >= 0.95 * depth, "{in_flight} of {queue_depth} in flight");
        assert!(worker.complete_max() <= queue_depth / 2, "{}", worker.complete_max());
    }
}

/// What is in flight when an operation goes over, by classes that begin at 1, 2, 4, 8, 16, 32 and
/// 64: of 256 operations at depth 32, of which all in flight end at once.
#[test]
fn depths_are_counted_as_fio_does() {
    #[track_caller]
    fn check(set: impl FnOnce(&mut Job), expected: [u64; 7]) {
        let mut job = job(OpKind::Read, true, 32);
        set(&mut job);
        let (_, meters, _) = run(job, MIB, 100_000);
        assert_eq!(meters.depth_levels.each_ref().map(|level| level.load(Relaxed)), expected);
    }
    // Once full, it stays so: one takes the place of another.
    check(|_| {}, [1, 2, 4, 8, 16, 225, 0]);
    check(|job| job.load.complete_max = Some(1), [1, 2, 4, 8, 16, 225, 0]);
    // Eight are taken, and eight go over one by one.
    let portions = |job: &mut Job| {
        (job.load.complete_min, job.load.complete_max) = (Some(8), Some(8));
    };
    check(portions, [1, 2, 4, 8, 16 + 28 * 7, 1 + 28, 0]);
    // A batch counts as one.
    check(|job| job.load.submit_batch = Some(4), [0, 0, 4, 8, 16, 4 + 224, 0]);
    check(|job| job.load.submit_batch = Some(0), [0, 0, 0, 0, 0, 256, 0]);
    // It falls to eight and is filled up, nine times and a third.
    check(|job| job.load.queue_depth_low = Some(8), [1, 2, 4, 78, 161, 10, 0]);
}

#[test]
fn no_more_is_awaited_than_is_taken() {
    let mut job = job(OpKind::Read, true, 32);
    (job.load.complete_min, job.load.complete_max) = (Some(8), Some(3));
    let (mut worker, _) = worker_of(job, MIB, 32);
    assert_eq!(worker.complete_max(), 3);
    let decision = worker.next(0, &mut Vec::new(), &mut NoData);
    assert_eq!(decision, Decision::Exchange { min: 3, until_ns: None });
}

#[test]
fn a_walk_with_steps_ends_with_the_region_unless_more_is_asked_for() {
    #[track_caller]
    fn check(set: impl FnOnce(&mut Job), expected_kib: &[u64]) {
        let mut job = job(OpKind::Read, false, 1);
        job.workload.sequential_step_bytes = 10 * 1024;
        set(&mut job);
        let (sim, _, _) = run(job, 32 * 1024, 1000);
        let offsets_kib: Vec<u64> = sim.seen.iter().map(|seen| seen.op.offset / 1024).collect();
        assert_eq!(offsets_kib, expected_kib);
    }
    check(|_| {}, &[0, 14, 28]);
    check(|job| job.limits.loops = 2, &[0, 14, 28, 0, 14, 28]);
    check(|job| job.files.io_size = Some(Size::Bytes(32 * 1024)), &[0, 14, 28, 0, 14, 28, 0, 14]);
}

/// Invariant 5 of ARCHITECTURE.md.
#[test]
fn operations_do_not_depend_on_batches() {
    let offsets = |batch_max: u32| {
        let mut job = job(OpKind::Read, true, 32);
        job.workload.access.write = true;
        job.load.submit_batch = Some(batch_max);
        let (mut worker, _) = worker_of(job, MIB, batch_max);
        let mut sim = Sim::new(10_000);
        sim.run(&mut worker, &mut NoData);
        sim.seen.iter().map(|seen| (seen.op.kind, seen.op.offset)).collect::<Vec<_>>()
    };
    assert_eq!(offsets(1), offsets(7));
    assert_eq!(offsets(1), offsets(32));
    assert_eq!(offsets(1), offsets(100));
}

fn rated(rate_iops: u64, runtime_ns: u64) -> Job {
    let mut job = job(OpKind::Read, true, 1);
    job.load.rate.read = Some(Rate::Iops(rate_iops));
    job.limits.runtime_ns = Some(runtime_ns);
    job.limits.time_based = true;
    job
}

#[track_caller]
fn check_rate(job: Job, expected_ios: u64, tolerance: f64) {
    let (_, meters, _) = run(job, MIB, 1_000);
    let n = n_ios(&meters, Direction::Read) as f64;
    let expected = expected_ios as f64;
    assert!((n - expected).abs() <= expected * tolerance + 1.0, "{n} I/Os, not {expected}");
}

#[test]
fn linear_rates_hold() {
    check_rate(rated(500, 2 * S), 1_000, 0.0);
    check_rate(rated(3_000, S), 3_000, 0.0);
    check_rate(rated(100_000, S), 100_000, 0.001);
}

#[test]
fn a_job_that_time_ends_lasted_until_then() {
    #[track_caller]
    fn check(job: Job, expected: (u64, u64)) {
        let (_, meters, _) = run(job, MIB, 1_000);
        let runtime_ns = meters.dir(Direction::Read).runtime_ns.load(Relaxed);
        assert_eq!((n_ios(&meters, Direction::Read), runtime_ns), expected);
    }
    check(rated(2, 3 * S), (6, 3 * S));
    check(rated(1, S), (1, S));
    let mut thinking = job(OpKind::Read, true, 1);
    thinking.load.think.pause_ns = 10 * S;
    thinking.limits.runtime_ns = Some(2 * S);
    check(thinking, (1, 2 * S));
    // Where the amount ends it, the last completion does.
    let mut short = rated(2, 3 * S);
    short.limits.time_based = false;
    short.limits.n_ios_max = Some(3);
    check(short, (3, S + 1_000));
}

#[test]
fn poisson_rates_hold_in_the_mean() {
    let mut job = rated(50_000, 2 * S);
    job.load.arrivals = Arrivals::Poisson;
    check_rate(job, 100_000, 0.015);
}

#[test]
fn byte_rates_hold() {
    let mut job = rated(1, 2 * S);
    job.load.rate.read = Some(Rate::Bytes(8 * MIB));
    check_rate(job, 4_096, 0.001);
}

/// A device that stops for a second must show in the response time in full: of 2,500 operations
/// 500 were due in that second.
#[test]
fn a_stall_shows_in_the_response_time() {
    let (mut worker, meters) = worker_of(rated(500, 5 * S), MIB, 32);
    let mut sim = Sim::new(100_000);
    sim.stall = Some((2 * S, 3 * S));
    sim.run(&mut worker, &mut NoData);
    let dir = meters.dir(Direction::Read);
    let p90_ns = dir.response.snapshot().quantile(0.9).expect("there are responses");
    assert!((400 * MS..600 * MS).contains(&p90_ns), "p90 is {p90_ns} ns");
    let service_p99_ns = dir.lat.snapshot().quantile(0.99).expect("there are latencies");
    assert!(service_p99_ns < MS, "service time counts the stall once");
    assert_eq!(dir.n_ios.load(Relaxed), 2_500, "what was missed is caught up with");
}

#[test]
fn a_ramp_is_not_counted() {
    let mut job = rated(1_000, S);
    job.limits.ramp_ns = S / 2;
    let (sim, meters, _) = run(job, MIB, 1_000);
    assert!((1_499..=1_501).contains(&sim.seen.len()), "{} operations", sim.seen.len());
    let n = n_ios(&meters, Direction::Read);
    assert!((999..=1_001).contains(&n), "{n} counted");
}

#[test]
fn passes_repeat_the_amount() {
    let mut job = job(OpKind::Read, false, 4);
    job.limits.loops = 3;
    let (sim, _, _) = run(job, MIB, 1_000);
    assert_eq!(sim.seen.len(), 3 * 256);
}

#[test]
fn the_number_of_operations_can_be_limited() {
    let mut job = job(OpKind::Read, true, 4);
    job.limits.n_ios_max = Some(10);
    let (sim, _, _) = run(job, MIB, 1_000);
    assert_eq!(sim.seen.len(), 10);
}

#[test]
fn think_time_drains_and_pauses() {
    let mut job = job(OpKind::Read, false, 4);
    job.load.think = ThinkTime { pause_ns: MS, every_ios: 8, ..ThinkTime::default() };
    let (sim, _, _) = run(job, 64 * 4096, 10_000);
    let last = sim.seen.last().expect("there are operations").at_ns;
    // 64 operations are 8 bursts with 7 pauses between them; a burst overlaps its own latency.
    assert!((7 * MS..8 * MS + 8 * 30_000).contains(&last), "the last was issued at {last} ns");
}

#[test]
fn a_failing_operation_ends_the_worker() {
    let (mut worker, _) = worker_of(job(OpKind::Read, true, 4), MIB, 32);
    let mut sim = Sim::new(1_000);
    sim.fault = Some((10, -5));
    sim.run(&mut worker, &mut NoData);
    let failure = worker.failure().expect("it failed");
    assert_eq!((failure.kind, failure.errno), (FailureKind::Io, 5));
    assert!(sim.seen.len() < 256);
}

#[test]
fn errors_can_be_survived_and_are_counted() {
    let mut job = job(OpKind::Read, true, 4);
    job.errors.continue_read = true;
    let (mut worker, meters) = worker_of(job, MIB, 32);
    let mut sim = Sim::new(1_000);
    sim.fault = Some((10, -5));
    sim.run(&mut worker, &mut NoData);
    assert_eq!(worker.failure(), None);
    assert_eq!(meters.n_errors.load(Relaxed), 1);
    assert_eq!(n_ios(&meters, Direction::Read), 255);
}

#[test]
fn a_short_transfer_goes_on_with_the_rest() {
    let (mut worker, meters) = worker_of(job(OpKind::Write, false, 1), 8 * 4096, 32);
    let mut sim = Sim::new(1_000);
    sim.fault = Some((2, 1_024));
    sim.run(&mut worker, &mut NoData);
    let rest = sim.seen[3].op;
    assert_eq!((rest.offset, rest.len, rest.buf_offset_bytes), (2 * 4096 + 1_024, 3_072, 1_024));
    let dir = meters.dir(Direction::Write);
    assert_eq!((dir.n_ios.load(Relaxed), dir.bytes.load(Relaxed)), (8, 8 * 4096));
    assert_eq!(dir.n_short.load(Relaxed), 1);
}

#[test]
fn syncs_come_after_so_many_writes() {
    let mut job = job(OpKind::Write, false, 1);
    job.durability.fsync_every = 4;
    let (sim, meters, _) = run(job, 16 * 4096, 1_000);
    let kinds: Vec<OpKind> = sim.seen.iter().map(|seen| seen.op.kind).collect();
    let sync_at: Vec<usize> =
        kinds.iter().enumerate().filter(|(_, kind)| kind.is_sync()).map(|(at, _)| at).collect();
    assert_eq!(sync_at, [4, 9, 14, 19]);
    assert_eq!(meters.sync.count(), 4);
}

#[test]
fn the_search_for_a_depth_converges() {
    let mut job = job(OpKind::Read, true, 64);
    job.load.latency_target = Some(LatencyTarget {
        target_ns: 150_000,
        window_ns: 10 * MS,
        percentile: 99.0,
        keep_running: false,
    });
    job.limits.runtime_ns = Some(10 * S);
    job.limits.time_based = true;
    let (mut worker, _) = worker_of(job, 16 * MIB, 32);
    let mut sim = Sim::new(100_000);
    sim.run(&mut worker, &mut NoData);
    let (_, depth) = worker.latency_target().expect("it was asked for");
    assert_eq!(depth, 64, "a device of constant latency keeps it at any depth");
    assert!(sim.now_ns < S, "the search ends before the runtime");
}

#[test]
fn a_latency_that_is_missed_at_depth_1_ends_the_job_only_if_every_io_must_meet_it() {
    for (percentile, latency_ns, ends) in
        [(99.9, 100_000, None), (100.0, 100_000, Some(true)), (100.0, 50_000, Some(false))]
    {
        let mut job = job(OpKind::Read, true, 8);
        job.load.latency_target = Some(LatencyTarget {
            target_ns: 80_000,
            window_ns: 10 * MS,
            percentile,
            keep_running: false,
        });
        job.limits.runtime_ns = Some(S);
        job.limits.time_based = true;
        let (mut worker, _) = worker_of(job, 16 * MIB, 32);
        let mut sim = Sim::new(latency_ns);
        sim.run(&mut worker, &mut NoData);
        let what = format!("{percentile} % within 80 us at {latency_ns} ns");
        assert_eq!(worker.failure().is_some(), ends == Some(true), "{what}");
        assert_eq!(sim.now_ns >= S, ends.is_none(), "{what}");
        assert!(ends != Some(true) || sim.seen.len() < 4, "{what}: the first decides");
        let (_, depth) = worker.latency_target().expect("it was asked for");
        assert_eq!(depth, if ends == Some(false) { 8 } else { 0 }, "{what}");
    }
}

#[test]
fn a_minimum_rate_fails_the_worker() {
    let mut job = job(OpKind::Read, true, 1);
    job.load.rate_min.read = Some(Rate::Iops(10_000));
    job.limits.runtime_ns = Some(5 * S);
    job.limits.time_based = true;
    let (_, _, worker) = run(job, MIB, MS);
    assert_eq!(worker.failure().map(|f| f.kind), Some(FailureKind::RateBelowMinimum));
}

#[test]
fn a_direction_that_moves_nothing_has_no_minimum_rate() {
    let mut job = job(OpKind::Read, true, 1);
    job.load.rate_min.read = Some(Rate::Iops(100));
    job.load.rate_min.write = Some(Rate::Iops(100));
    job.limits.runtime_ns = Some(5 * S);
    job.limits.time_based = true;
    let (_, _, worker) = run(job, MIB, MS);
    assert_eq!(worker.failure(), None);
}

#[test]
fn stopping_drains_what_is_in_flight() {
    let (mut worker, _) = worker_of(job(OpKind::Read, true, 8), MIB, 32);
    let mut sim = Sim::new(1_000);
    let mut ops = Vec::new();
    worker.next(0, &mut ops, &mut NoData);
    assert!(!ops.is_empty());
    worker.submitted(0, &ops);
    let done: Vec<_> = ops
        .iter()
        .map(|op| plan::op::Completion { slot: op.slot, result: op.len as i32 })
        .collect();
    worker.stop();
    worker.complete(1_000, ops.len(), &done, &mut NoData);
    sim.now_ns = 1_000;
    sim.run(&mut worker, &mut NoData);
    assert!(sim.seen.is_empty(), "nothing is issued after a stop");
}

#[test]
fn workers_survive_so_many_errors_together() {
    #[track_caller]
    fn check(n_errors_max: u64, expected: [usize; 2], fails: bool) {
        let budget = worker::ErrorBudget::default();
        let mut n_kept = [0; 2];
        let mut failed = false;
        for n_kept in &mut n_kept {
            let mut job = job(OpKind::Read, true, 1);
            job.errors.n_errors_max = Some(n_errors_max);
            let (mut worker, meters) = worker_of(job, MIB, 32);
            worker.share_errors(budget.clone());
            let mut sim = Sim::new(1000);
            sim.fault = Some((3, -107));
            sim.run(&mut worker, &mut NoData);
            *n_kept = worker.io_errors().len();
            let first = worker.io_errors().first().map(|it| (it.errno, it.op.len, it.at_ns));
            assert_eq!(first, Some((107, 4096, 4000)));
            failed |= worker.failure().is_some();
            let n_errors = meters.n_errors.load(Relaxed);
            assert_eq!(n_errors, u64::from(worker.failure().is_none()));
        }
        assert_eq!((n_kept, failed), (expected, fails));
    }
    check(3, [1, 1], false);
    check(2, [1, 1], true);
}

#[test]
fn the_last_operation_waits_for_all_others_where_it_is_asked_to() {
    #[track_caller]
    fn check(amount_bytes: u64, depth: u32) {
        let mut job = job(OpKind::Write, false, depth);
        job.load.last_io_waits = true;
        let (sim, meters, _) = run(job, amount_bytes, MS);
        let n_blocks = amount_bytes / 4096;
        assert_eq!(n_ios(&meters, Direction::Write), n_blocks);
        let offsets: Vec<u64> = sim.seen.iter().map(|seen| seen.op.offset / 4096).collect();
        assert_eq!(offsets, (0..n_blocks).collect::<Vec<_>>());
        let (last, others) = sim.seen.split_last().expect("operations");
        assert!(others.iter().all(|seen| seen.at_ns + MS <= last.at_ns));
        assert!(others.len() < 2 || depth < 2 || others[0].at_ns == others[1].at_ns);
    }
    check(8 * 4096, 4);
    check(9 * 4096, 4);
    check(3 * 4096, 32);
    check(4096, 32);
    check(MIB, 1);
}
