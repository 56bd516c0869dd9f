//! Jobs that mix several workloads, in virtual time.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plan::job::{Part, PartRegion};
use plan::op::{Op, OpKind};
use plan::workload::BlockSize;
use plan::{Direction, Job, PerDir};
use worker::{FileRegion, Meters, NoData, Worker, WorkerSpec};

use crate::common::{Sim, job};

const MIB: u64 = 1 << 20;
const S: u64 = 1_000_000_000;

/// Makes a part of 4 KiB blocks.
fn part(name: &str, weight: f64, kind: OpKind, random: bool) -> Part {
    let workload = job(kind, random, 1).workload;
    Part { name: name.to_owned(), weight, workload, ..Part::default() }
}

/// Makes a job of parts that ends after so many operations.
fn mixed(parts: Vec<Part>, n_ios: u64) -> Job {
    let mut job = job(OpKind::Read, true, 8);
    job.parts = parts;
    job.limits.n_ios_max = Some(n_ios);
    job
}

/// Runs a job in a region that is no limit to its amount.
fn run(job: Job, file: FileRegion, latency_ns: u64, batch_max: u32) -> (Sim, Arc<Meters>) {
    let meters = Meters::of(&job);
    let (job, files) = (Arc::new(job), vec![file]);
    let spec = WorkerSpec { job, worker_idx: 0, seed: 3, files, amount_bytes: u64::MAX, batch_max };
    let mut worker = Worker::new(&spec, Arc::clone(&meters)).expect("the parts fit");
    let mut sim = Sim::new(latency_ns);
    sim.run(&mut worker, &mut NoData);
    (sim, meters)
}

/// The region that most tests use.
const FILE: FileRegion = FileRegion { offset_bytes: 0, len_bytes: MIB };

/// Returns operations, bytes and recorded latencies per part and kind.
fn counts(meters: &Meters) -> Vec<(String, OpKind, u64, u64, u64)> {
    let series = meters.series().expect("a job with parts counts by series");
    let row = |(name, of): (&worker::SeriesName, &worker::SeriesMeters)| {
        let (n_ios, bytes) = (of.n_ios.load(Relaxed), of.bytes.load(Relaxed));
        (name.part.clone(), name.op, n_ios, bytes, of.lat.count())
    };
    series.iter().map(row).collect()
}

#[test]
fn parts_get_their_shares_and_are_counted_apart() {
    let mut large = part("large", 1.0, OpKind::Write, true);
    large.workload.block_size = PerDir::all(BlockSize::Fixed(65536));
    let mut both = part("both", 1.5, OpKind::Read, true);
    both.workload.access.write = true;
    both.workload.read_pct = 75.0;
    let job = mixed(vec![part("small", 7.5, OpKind::Read, true), large, both], 10_000);
    let (sim, meters) = run(job, FILE, 1000, 32);
    let found = counts(&meters);
    let names: Vec<(&str, OpKind)> = found.iter().map(|row| (row.0.as_str(), row.1)).collect();
    let both = [("both", OpKind::Read), ("both", OpKind::Write)];
    assert_eq!(names, [[("small", OpKind::Read), ("large", OpKind::Write)], both].concat());
    let n: Vec<u64> = found.iter().map(|row| row.2).collect();
    assert!(n[0].abs_diff(7500) <= 4 && n[1].abs_diff(1000) <= 4, "{n:?}");
    assert!((n[2] + n[3]).abs_diff(1500) <= 4 && n[2].abs_diff(1125) <= 60, "{n:?}");
    assert_eq!(found[1].3, n[1] * 65536);
    assert!(found.iter().all(|row| row.4 == row.2), "a latency for each operation");
    assert_eq!(sim.seen.len(), 10_000);
    for dir in [Direction::Read, Direction::Write] {
        let of_dir = found.iter().filter(|row| row.1.direction() == Some(dir));
        let (n_ios, bytes) = of_dir.fold((0, 0), |sum, row| (sum.0 + row.2, sum.1 + row.3));
        let total = meters.dir(dir);
        assert_eq!((n_ios, bytes), (total.n_ios.load(Relaxed), total.bytes.load(Relaxed)));
    }
}

#[test]
fn live_sums_include_the_ramp_and_know_squares_and_maximum() {
    let mut job = mixed(vec![part("a", 1.0, OpKind::Read, true)], 1000);
    job.limits.ramp_ns = 20_000;
    let (_, meters) = run(job, FILE, 3000, 32);
    let (_, of) = meters.series().and_then(|all| all.iter().next()).expect("a series");
    assert_eq!(of.n_ios_live.load(Relaxed), 1000);
    assert!(of.n_ios.load(Relaxed) < 1000, "the ramp is not measured");
    assert_eq!(of.latency_ns_sum_live.load(Relaxed), 1000 * 3000);
    assert!((of.latency_ns2_sum_live() - 1000.0 * 9e6).abs() < 1.0);
    assert_eq!((of.take_latency_ns_max(), of.take_latency_ns_max()), (3000, 0));
}

/// Runs one part in a region of 100 blocks from block 50 on; returns blocks as the device saw them.
fn blocks_of(region: PartRegion, random: bool, n_ios: u64) -> Vec<u64> {
    let mut only = part("only", 1.0, OpKind::Read, random);
    only.region = region;
    let file = FileRegion { offset_bytes: 50 * 4096, len_bytes: 100 * 4096 };
    let (sim, _) = run(mixed(vec![only], n_ios), file, 1000, 32);
    sim.seen.iter().map(|seen| seen.op.offset / 4096).collect()
}

#[test]
fn a_part_stays_in_its_region() {
    #[track_caller]
    fn check(region: PartRegion, expected: &[(u64, u64)]) {
        let expected: Vec<u64> = expected.iter().flat_map(|(from, to)| *from..*to).collect();
        let n_blocks = expected.len() as u64;
        assert_eq!(blocks_of(region, false, n_blocks), expected, "sequential");
        let mut random = blocks_of(region, true, n_blocks);
        random.sort_unstable();
        let mut sorted = expected;
        sorted.sort_unstable();
        assert_eq!(random, sorted, "random");
    }
    check(PartRegion::Whole, &[(50, 150)]);
    check(PartRegion::Pct(0.0, 10.0), &[(50, 60)]);
    check(PartRegion::Pct(25.5, 75.0), &[(75, 125)]);
    check(PartRegion::Pct(90.0, 110.0), &[(140, 150), (50, 60)]);
    check(PartRegion::Pct(20.0, 120.0), &[(70, 150), (50, 70)]);
    check(PartRegion::Pct(130.0, 140.0), &[(80, 90)]);
    check(PartRegion::Bytes(8192, 5 * 4096), &[(52, 55)]);
    check(PartRegion::Bytes(8191, u64::MAX), &[(51, 150)]);
}

#[test]
fn no_operation_lies_across_the_end_of_a_region_that_goes_on_at_its_start() {
    let mut only = part("only", 1.0, OpKind::Read, true);
    only.region = PartRegion::Pct(50.0, 150.0);
    only.workload.no_repeats = false;
    only.workload.block_size = PerDir::all(BlockSize::Range { min: 4096, max: 65536 });
    let (sim, _) = run(mixed(vec![only], 5000), FILE, 1000, 32);
    let end = |op: &Op| op.offset + u64::from(op.len);
    assert!(sim.seen.iter().all(|seen| end(&seen.op) <= MIB));
    assert!(sim.seen.iter().any(|seen| seen.op.offset < MIB / 2));
}

/// A part that reads to the end of its region once.
fn until_end(name: &str, weight: f64) -> Part {
    let mut part = part(name, weight, OpKind::Read, false);
    part.workload.ends_with_region = true;
    part
}

#[test]
fn a_part_that_is_done_leaves_and_the_rest_goes_on_in_proportion() {
    let once = until_end("once", 60.0);
    let others = [part("b", 30.0, OpKind::Read, true), part("c", 10.0, OpKind::Write, true)];
    let job = mixed([vec![once], others.to_vec()].concat(), 10_000);
    let (_, meters) = run(job, FILE, 1000, 32);
    let n: Vec<u64> = counts(&meters).iter().map(|row| row.2).collect();
    assert_eq!(n[0], 256, "each block once");
    assert!(n[1].abs_diff((10_000 - 256) * 3 / 4) <= 8 && n.iter().sum::<u64>() == 10_000, "{n:?}");
}

#[test]
fn a_worker_whose_parts_are_all_done_ends_before_its_time() {
    let mut job = mixed(vec![until_end("a", 1.0), until_end("b", 2.0)], u64::MAX);
    job.limits.time_based = true;
    job.limits.runtime_ns = Some(3600 * S);
    let (sim, meters) = run(job, FILE, 1000, 32);
    assert_eq!(counts(&meters).iter().map(|row| row.2).collect::<Vec<_>>(), [256, 256]);
    assert!(sim.now_ns < S);
}

#[test]
fn a_job_without_parts_may_end_with_its_region_too() {
    let mut job = job(OpKind::Read, false, 4);
    job.workload.ends_with_region = true;
    job.limits.time_based = true;
    job.limits.runtime_ns = Some(3600 * S);
    let (sim, _) = run(job, FILE, 1000, 32);
    assert_eq!(sim.seen.len(), 256);
}

/// Invariant 5 of ARCHITECTURE.md.
#[test]
fn operations_of_parts_do_not_depend_on_batches() {
    let seen = |batch_max: u32| {
        let mut write = part("w", 2.0, OpKind::Write, false);
        write.region = PartRegion::Pct(50.0, 100.0);
        let mut job = mixed(vec![part("r", 3.0, OpKind::Read, true), write], 2000);
        job.load.submit_batch = Some(batch_max);
        let (sim, _) = run(job, FILE, 10_000, batch_max);
        sim.seen.iter().map(|seen| (seen.op.kind, seen.op.offset)).collect::<Vec<_>>()
    };
    assert_eq!(seen(1), seen(7));
    assert_eq!(seen(1), seen(32));
    assert_eq!(seen(1), seen(100));
}

/// Checks that a job, also where it waits for nothing and so is filled in by batches, issues what
/// it does where each operation asks whether a pause is due.
#[track_caller]
fn check_asking(what: &str, n_files: u64, change: impl Fn(&mut Job)) {
    let seen = |asks: bool, queue_depth: u32| {
        let mut job = mixed(Vec::new(), 3000);
        change(&mut job);
        job.load.queue_depth = queue_depth;
        // What is taken at once follows the batch only where nothing is asked.
        job.load.complete_max = Some(0);
        if asks {
            (job.load.think.pause_ns, job.load.think.every_ios) = (1, u32::MAX);
        }
        let meters = Meters::detailed(&job);
        let file = |idx| FileRegion { offset_bytes: idx * 4096, len_bytes: MIB };
        let spec = WorkerSpec {
            worker_idx: 0,
            seed: 3,
            files: (0..n_files).map(file).collect(),
            amount_bytes: MIB,
            batch_max: queue_depth,
            job: Arc::new(job),
        };
        let mut worker = Worker::new(&spec, Arc::clone(&meters)).expect("the job fits");
        let mut sim = Sim::new(10_000);
        sim.run(&mut worker, &mut NoData);
        let ops = sim.seen.iter().map(|it| (it.op.kind, it.op.file, it.op.offset, it.op.len));
        (ops.collect::<Vec<_>>(), counts(&meters))
    };
    // What is chosen at once goes over in larger batches, in equal ones and in smaller ones.
    for queue_depth in [1, 8, 31, 32, 33, 64, 200] {
        let (plain, asking) = (seen(false, queue_depth), seen(true, queue_depth));
        assert!(plain.0.len() >= 256, "{what}: {} operations", plain.0.len());
        assert_eq!(plain, asking, "{what}, depth {queue_depth}");
    }
}

#[test]
fn batches_hold_what_would_be_chosen_one_by_one() {
    let read = || part("r", 3.0, OpKind::Read, true);
    let sequential = |name| part(name, 2.0, OpKind::Write, false);
    let for_a_time = |job: &mut Job| {
        (job.limits.time_based, job.limits.runtime_ns) = (true, Some(S / 200));
    };
    check_asking("a mix", 1, |job| job.workload.access.write = true);
    check_asking("a sequential mix, again and again", 1, |job| {
        (job.workload.access.write, job.workload.access.random) = (true, false);
        for_a_time(job);
    });
    check_asking("several files", 3, |job| job.limits.loops = 3);
    check_asking("one part", 1, |job| job.parts = vec![read()]);
    check_asking("one sequential part", 2, |job| {
        job.parts = vec![sequential("w")];
        for_a_time(job);
    });
    check_asking("one part that goes on at the start", 1, |job| {
        job.parts = vec![Part { region: PartRegion::Pct(50.0, 150.0), ..read() }];
    });
    check_asking("two parts", 2, |job| {
        job.parts = vec![read(), sequential("w")];
        for_a_time(job);
    });
    check_asking("one of two parts ends", 1, |job| {
        job.parts = vec![read(), until_end("e", 1.0)];
        for_a_time(job);
    });
}

#[test]
fn a_part_alone_is_the_workload_that_it_holds() {
    let seen = |region| {
        let mut both = part("both", 1.0, OpKind::Read, true);
        (both.workload.access.write, both.region) = (true, region);
        let (sim, meters) = run(mixed(vec![both], 2000), FILE, 1000, 32);
        let ops = sim.seen.iter().map(|it| (it.op.kind, it.op.offset)).collect::<Vec<_>>();
        (ops, counts(&meters))
    };
    // More than the whole keeps its turns. What it uses beyond is less than a block.
    assert_eq!(seen(PartRegion::Whole), seen(PartRegion::Pct(0.0, 100.000_1)));
}
