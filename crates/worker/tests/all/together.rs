//! Workers that do one walk together, driven in turns.

use std::collections::VecDeque;
use std::sync::Arc;

use pattern::rng::Rng;
use plan::job::{Part, PartRegion};
use plan::op::{Completion, Op, OpKind};
use plan::workload::BlockSize;
use plan::{Job, PerDir};
use worker::{Decision, FileRegion, Meters, NoData, SharedWalks, Worker, WorkerSpec};

use crate::common::job;

const FILE: FileRegion = FileRegion { offset_bytes: 1 << 20, len_bytes: 1000 * 4096 };

/// A sequential job that ends with its region or after 5 ms, and walks together with others.
fn walking(ends: bool) -> Job {
    let mut job = job(OpKind::Read, false, 4);
    job.workload.ends_with_region = ends;
    job.load.walks_together = true;
    let runtime_ns = if ends { 1 << 40 } else { 5_000_000 };
    (job.limits.time_based, job.limits.runtime_ns) = (true, Some(runtime_ns));
    job
}

fn worker_of(job: &Arc<Job>, worker_idx: u32, files: &[FileRegion]) -> Worker {
    let spec = WorkerSpec {
        job: Arc::clone(job),
        worker_idx,
        seed: 100 + u64::from(worker_idx),
        files: files.to_vec(),
        amount_bytes: files.iter().map(|file| file.len_bytes).sum(),
        batch_max: 32,
    };
    Worker::new(&spec, Meters::of(job)).expect("the job fits the region")
}

/// What one call of one worker handed over.
type Batch = Vec<Op>;

/// Lets workers of one job go in a random order, each time until its queue is full; at most what is
/// in flight of one completes before. Returns the batches in order.
fn run_on(job: Job, n_workers: u32, files: &[FileRegion]) -> Vec<Batch> {
    let job = Arc::new(job);
    let mut walks = SharedWalks::default();
    let mut seats: Vec<(Worker, VecDeque<Op>)> = (0..n_workers)
        .map(|idx| {
            let mut worker = worker_of(&job, idx, files);
            worker.share_walks(&mut walks);
            (worker, VecDeque::new())
        })
        .collect();
    let (mut rng, mut now_ns, mut batches) = (Rng::new(7), 1, Vec::new());
    let mut ops = Vec::new();
    while !seats.is_empty() {
        let idx = rng.bounded(seats.len() as u64) as usize;
        let (worker, in_flight) = &mut seats[idx];
        now_ns += 1000;
        let n_done = rng.bounded(in_flight.len() as u64 + 1) as usize;
        let done: Vec<Completion> =
            in_flight.drain(..n_done).map(|op| Completion::whole(&op)).collect();
        worker.complete(now_ns, 0, &done, &mut NoData);
        match worker.next(now_ns, &mut ops, &mut NoData) {
            Decision::Exchange { .. } => {
                worker.submitted(now_ns, &ops);
                in_flight.extend(&ops);
                batches.push(ops.clone());
            }
            _ => drop(seats.remove(idx)),
        }
        assert!(batches.len() < 1_000_000, "the workers do not end");
    }
    batches
}

fn run(job: Job, n_workers: u32) -> Vec<Batch> {
    run_on(job, n_workers, &[FILE])
}

fn offsets(batches: &[Batch]) -> Vec<u64> {
    batches.iter().flatten().map(|op| op.offset).collect()
}

#[test]
fn every_block_is_done_once_and_in_order() {
    for n_workers in [1, 2, 5] {
        let found = offsets(&run(walking(true), n_workers));
        assert!(found.into_iter().eq((0..1000).map(|k| FILE.offset_bytes + k * 4096)));
    }
}

#[test]
fn several_rounds_go_on_from_each_other() {
    let found = offsets(&run(walking(false), 3));
    assert!(found.len() > 5000, "{} blocks", found.len());
    let expected = (0..found.len() as u64).map(|k| FILE.offset_bytes + k % 1000 * 4096);
    assert!(found.into_iter().eq(expected));
}

#[test]
fn sizes_and_directions_that_are_mixed_leave_no_gap() {
    let mut job = walking(true);
    job.workload.block_size = PerDir::all(BlockSize::Split(vec![(4096, 60), (16_384, 40)]));
    (job.workload.access.write, job.workload.one_cursor) = (true, true);
    let batches = run(job, 4);
    let mut at = FILE.offset_bytes;
    for op in batches.iter().flatten() {
        assert_eq!(op.offset, at);
        at += u64::from(op.len);
    }
    assert_eq!(at, FILE.offset_bytes + FILE.len_bytes);
    let n_writes = batches.iter().flatten().filter(|op| op.kind == OpKind::Write).count();
    let n_ops = batches.iter().map(Vec::len).sum::<usize>();
    assert!((n_ops * 4 / 10..n_ops * 6 / 10).contains(&n_writes), "{n_writes} of {n_ops}");
}

#[test]
fn each_part_of_a_job_walks_its_own_region_once() {
    let mut job = walking(true);
    let part = |region| Part { region, workload: job.workload.clone(), ..Part::default() };
    job.parts = vec![part(PartRegion::Pct(0.0, 30.0)), part(PartRegion::Pct(50.0, 100.0))];
    let mut found = offsets(&run(job, 3));
    found.sort_unstable();
    let blocks = (0..300).chain(500..1000);
    assert!(found.into_iter().eq(blocks.map(|k| FILE.offset_bytes + k * 4096)));
}

#[test]
fn files_that_are_one_volume_are_walked_as_one() {
    let second = FileRegion { offset_bytes: 0, len_bytes: 500 * 4096 };
    let mut job = walking(true);
    job.files.concatenate = true;
    let batches = run_on(job, 3, &[FILE, second]);
    let found = batches.iter().flatten().map(|op| (op.file.0, op.offset));
    let first = (0..1000).map(|k| (0, FILE.offset_bytes + k * 4096));
    assert!(found.eq(first.chain((0..500).map(|k| (1, k * 4096)))));
}

#[test]
#[should_panic(expected = "the workers of a job have the same walks")]
fn workers_of_different_jobs_do_not_walk_together() {
    let mut walks = SharedWalks::default();
    worker_of(&Arc::new(walking(true)), 0, &[FILE]).share_walks(&mut walks);
    let mut random = job(OpKind::Read, true, 4);
    random.load.walks_together = true;
    worker_of(&Arc::new(random), 1, &[FILE]).share_walks(&mut walks);
}

#[test]
#[should_panic(expected = "a walk is shared before the worker starts")]
fn who_has_begun_joins_none() {
    let mut worker = worker_of(&Arc::new(walking(true)), 0, &[FILE]);
    worker.next(1, &mut Vec::new(), &mut NoData);
    worker.share_walks(&mut SharedWalks::default());
}
