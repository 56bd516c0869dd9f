//! Recorded operations, in virtual time.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::sync_channel;

use crate::common::{Sim, job, worker_of};
use plan::op::{Op, OpKind};
use plan::replay::{RecordedFile, RecordedOp, Recording};
use plan::{Direction, Job};
use worker::{LogEvent, LogSender, NoData};

const US: u64 = 1000;
const REGION_BYTES: u64 = 1 << 20;

/// A recording of one file: (due in microseconds, kind, offset, length).
fn recording(ops: &[(u64, OpKind, u64, u32)]) -> Arc<Recording> {
    let op = |&(due_us, kind, offset, len): &(u64, OpKind, u64, u32)| RecordedOp {
        due_ns: due_us * US,
        offset,
        len,
        file_idx: 0,
        kind,
    };
    let files = vec![RecordedFile { name: "f".to_owned(), size_bytes: REGION_BYTES }];
    Arc::new(Recording { files, ops: ops.iter().map(op).collect() })
}

fn replaying(ops: &[(u64, OpKind, u64, u32)], queue_depth: u32) -> Job {
    let mut job = job(OpKind::Read, true, queue_depth);
    job.workload.access.write = true;
    job.workload.recordings = vec![recording(ops)];
    job
}

/// Returns (microsecond of submission, kind, offset, length) of what the device saw.
fn seen(sim: &Sim) -> Vec<(u64, OpKind, u64, u32)> {
    let of = |at_ns: u64, op: &Op| (at_ns / US, op.kind, op.offset, op.len);
    sim.seen.iter().map(|seen| of(seen.at_ns, &seen.op)).collect()
}

const OPS: [(u64, OpKind, u64, u32); 4] = [
    (0, OpKind::Write, 4096, 512),
    (100, OpKind::Read, 0, 8192),
    (100, OpKind::Fsync, 0, 0),
    (250, OpKind::Read, 8192, 4096),
];

#[test]
fn operations_come_as_recorded_when_they_are_due() {
    let (mut worker, meters) = worker_of(replaying(&OPS, 8), REGION_BYTES, 32);
    let mut sim = Sim::new(10 * US);
    sim.run(&mut worker, &mut NoData);
    assert_eq!(seen(&sim), OPS);
    assert_eq!(meters.dir(Direction::Read).n_ios.load(Relaxed), 2);
    assert_eq!(meters.dir(Direction::Write).bytes.load(Relaxed), 512);
}

#[test]
fn a_slow_device_shows_in_the_response_time() {
    let ops: Vec<_> = (0..10).map(|k| (k * 100, OpKind::Read, k * 4096, 4096)).collect();
    let (mut worker, meters) = worker_of(replaying(&ops, 1), REGION_BYTES, 32);
    let mut sim = Sim::new(150 * US);
    sim.run(&mut worker, &mut NoData);
    let reads = meters.dir(Direction::Read);
    assert_eq!(reads.lat.snapshot().max_ns(), Some(150 * US));
    // The last one was due at 900 and done at 1500.
    assert_eq!(reads.response.snapshot().max_ns(), Some(600 * US));
}

#[test]
fn passes_repeat_the_recording_with_its_times() {
    let mut job = replaying(&OPS[..2], 8);
    job.limits.loops = 2;
    let (mut worker, _) = worker_of(job, REGION_BYTES, 32);
    let mut sim = Sim::new(10 * US);
    sim.run(&mut worker, &mut NoData);
    let at_us: Vec<u64> = seen(&sim).iter().map(|op| op.0).collect();
    assert_eq!(at_us, [0, 100, 110, 210]);
}

#[test]
fn trims_beyond_two_gib_are_whole() {
    let ops = [(0, OpKind::Trim, 0, 3_u32 << 30), (0, OpKind::Write, 0, 4096)];
    let (mut worker, meters) = worker_of(replaying(&ops, 1), 4 << 30, 32);
    let mut sim = Sim::new(US);
    sim.run(&mut worker, &mut NoData);
    assert_eq!(worker.failure(), None);
    assert_eq!(meters.dir(Direction::Trim).bytes.load(Relaxed), 3 << 30);
}

#[test]
fn issued_operations_can_be_recorded_alone() {
    let (mut worker, _) = worker_of(replaying(&OPS, 8), REGION_BYTES, 32);
    let (sender, events) = sync_channel(64);
    worker.log_to(LogSender::new(sender, 0, Arc::default()).with_issues(false));
    Sim::new(10 * US).run(&mut worker, &mut NoData);
    let recorded: Vec<_> = events
        .try_iter()
        .map(|event| match event {
            LogEvent::Issue { at_ns, kind, offset, len, .. } => (at_ns / US, kind, offset, len),
            other => panic!("{other:?} was not asked for"),
        })
        .collect();
    assert_eq!(recorded, OPS);
}
