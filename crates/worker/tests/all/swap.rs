//! An operation that takes another's place in one step is the one that would have come anyway.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hist::LiveHistogram;
use plan::op::{Completion, Op, OpKind};
use plan::{Direction, Job};
use worker::{Decision, Meters, NoData, Worker};

use crate::common::{job, worker_of};

const REGION_BYTES: u64 = 16 << 20;

/// What came of a worker.
struct Seen {
    ops: Vec<(u64, Op)>,
    counts: String,
    n_swaps: usize,
}

/// A device whose latency differs from operation to operation, and what it has seen.
#[derive(Default)]
struct Device {
    in_flight: BTreeMap<(u64, usize), Completion>,
    ops: Vec<(u64, Op)>,
    /// Number of the operation that moves half of its bytes.
    short: Option<usize>,
}

impl Device {
    fn submit(&mut self, now_ns: u64, op: &Op) {
        let number = self.ops.len();
        let latency_ns = 50_000 + pattern::rng::mix64(number as u64) % 100_000;
        let len = if self.short == Some(number) { op.len / 2 } else { op.len };
        let completion = Completion { slot: op.slot, result: len as i32 };
        self.in_flight.insert((now_ns + latency_ns, number), completion);
        self.ops.push((now_ns, *op));
    }

    /// Returns the next completion, if no other comes at the same time.
    fn lone(&self) -> Option<(u64, Completion)> {
        let mut next = self.in_flight.iter();
        let (&(due_ns, _), completion) = next.next()?;
        next.next()
            .is_none_or(|(&(other_ns, _), _)| other_ns != due_ns)
            .then_some((due_ns, *completion))
    }

    /// Waits as a worker asks for. Returns the time then, and what has completed.
    fn wait(&mut self, now_ns: u64, min: u32, until_ns: Option<u64>) -> (u64, Vec<Completion>) {
        let nth = |n: u32| self.in_flight.keys().nth(n as usize - 1).map(|(due_ns, _)| *due_ns);
        let due_ns = match min {
            // A poll that finds nothing is made again.
            0 if until_ns.is_none() => nth(1),
            0 => until_ns.filter(|_| self.in_flight.is_empty()),
            _ => nth(min),
        };
        let now_ns = now_ns.max(due_ns.unwrap_or(now_ns).min(until_ns.unwrap_or(u64::MAX)));
        let later = self.in_flight.split_off(&(now_ns + 1, 0));
        let done = std::mem::replace(&mut self.in_flight, later);
        (now_ns, done.into_values().collect())
    }
}

/// Drives a worker to its end.
fn run(job: Job, short: Option<usize>, swaps: bool) -> Seen {
    let (mut worker, meters) = worker_of(job, REGION_BYTES, 32);
    worker.defer_meters();
    let mut device = Device { short, ..Device::default() };
    let (mut now_ns, mut n_submitted, mut n_swaps) = (1, 0, 0);
    let (mut ops, mut done) = (Vec::new(), Vec::new());
    loop {
        worker.complete(now_ns, n_submitted, &done, &mut NoData);
        let decision = worker.next(now_ns, &mut ops, &mut NoData);
        let Decision::Exchange { mut min, until_ns } = decision else { break };
        worker.submitted(now_ns, &ops);
        n_submitted = ops.len();
        for op in &ops {
            device.submit(now_ns, op);
        }
        while swaps
            && (min, until_ns) == (1, None)
            && let Some((due_ns, completion)) = device.lone()
            && let Some(next) = worker.swap(due_ns, n_submitted, completion, &mut NoData)
        {
            device.in_flight.pop_first();
            (now_ns, n_submitted, min) = (due_ns, 1, next.min);
            device.submit(now_ns, &next.op);
            n_swaps += 1;
        }
        (now_ns, done) = device.wait(now_ns, min, until_ns);
    }
    worker.publish();
    Seen { ops: device.ops, counts: counts(&worker, &meters), n_swaps }
}

/// Returns all that a worker has counted.
fn counts(worker: &Worker, meters: &Arc<Meters>) -> String {
    let batches = [&meters.depth_levels, &meters.submit_batches, &meters.complete_batches];
    let batches = batches.map(|levels| levels.each_ref().map(|level| level.load(Relaxed)));
    let dirs = Direction::ALL.map(|dir| {
        let dir = meters.dir(dir);
        let counters = [&dir.n_ios, &dir.bytes, &dir.n_ios_live, &dir.runtime_ns, &dir.n_short];
        let counters = counters.map(|counter| counter.load(Relaxed));
        (counters, [&dir.slat, &dir.clat, &dir.lat, &dir.response].map(LiveHistogram::snapshot))
    });
    format!("{batches:?} {dirs:?} {:?} {}", worker.samples(), worker.n_writes())
}

/// Runs a job with swaps and without. Returns the share of its operations that were swapped in.
#[track_caller]
fn check_short(short: Option<usize>, change: impl Fn(&mut Job)) -> f64 {
    let make = || {
        let mut job = job(OpKind::Read, true, 8);
        job.reporting.bandwidth_sample_ms = 2;
        change(&mut job);
        job
    };
    let (plain, swapped) = (run(make(), short, false), run(make(), short, true));
    assert_eq!(plain.ops, swapped.ops);
    assert_eq!(plain.counts, swapped.counts);
    assert_eq!(plain.n_swaps, 0);
    swapped.n_swaps as f64 / swapped.ops.len() as f64
}

#[track_caller]
fn check(change: impl Fn(&mut Job)) -> f64 {
    check_short(None, change)
}

#[test]
fn swaps_are_what_would_have_come_anyway() {
    assert!(check(|_| {}) > 0.8, "most operations are swapped");
    assert!(check(|job| job.load.queue_depth = 1) > 0.8);
    assert!(check(|job| job.workload.access.random = false) > 0.8);
    let is_write =
        |job: &mut Job| (job.workload.access.read, job.workload.access.write) = (false, true);
    assert!(check(is_write) > 0.8);
    check(|job| job.limits.loops = 3);
    check(|job| job.limits.n_ios_max = Some(777));
    check(|job| job.limits.ramp_ns = 3_000_000);
    check(|job| job.limits.ramp_bytes = 1 << 20);
    check(|job| {
        job.limits.time_based = true;
        job.limits.runtime_ns = Some(50_000_000);
    });
    check(|job| job.load.complete_min = Some(3));
    check_short(Some(1000), |_| {});
}

#[test]
fn what_is_more_than_a_swap_is_none() {
    #[track_caller]
    fn none(change: impl Fn(&mut Job)) {
        assert!(check(change) == 0.0);
    }
    none(|job| job.workload.access.write = true);
    none(|job| job.load.rate.read = Some(plan::load::Rate::Iops(20_000)));
    none(|job| job.load.think.pause_ns = 100_000);
    none(|job| job.load.queue_depth_low = Some(4));
    none(|job| job.load.complete_min = Some(0));
    none(|job| job.load.latency_max_ns.read = Some(10_000_000));
    none(|job| {
        (job.workload.access.read, job.workload.access.write) = (false, true);
        job.durability.fsync_every = 10;
    });
}
