//! Priorities of single I/Os: which ones get them, and that their latencies are counted apart.

use crate::common::{Sim, job, run, worker_of};
use plan::op::OpKind;
use plan::{Direction, EngineKind, IoPriority, Job, PerDir, PriorityShare};
use worker::{LogEvent, LogSender, Meters, NoData};

const MIB: u64 = 1 << 20;

/// Reads and writes of which this share is raised.
fn raised(pct: u8) -> Job {
    let mut job = job(OpKind::Read, true, 8);
    job.workload.access.write = true;
    job.engine.priority_pct = PerDir::all(pct);
    job
}

/// Returns the priority of each operation, in the order of issue.
fn priorities(job: Job, batch_max: u32) -> Vec<u16> {
    let (mut worker, _) = worker_of(job, MIB, batch_max);
    let mut sim = Sim::new(10_000);
    sim.run(&mut worker, &mut NoData);
    sim.seen.iter().map(|seen| seen.op.priority.bits()).collect()
}

/// Returns priority, and operations counted by completion and total latency, of a direction.
fn counted(meters: &Meters, dir: Direction) -> Vec<(u16, u64, u64)> {
    let all = meters.priorities(dir).iter();
    all.map(|meters| {
        let (clat, lat) = (meters.clat.snapshot(), meters.lat.snapshot());
        (meters.priority.bits(), clat.count(), lat.count())
    })
    .collect()
}

#[test]
fn the_choice_follows_from_seed_and_number() {
    let first = priorities(raised(40), 32);
    assert_eq!(first, priorities(raised(40), 32));
    assert_eq!(first, priorities(raised(40), 1));
    assert_eq!(first, priorities(raised(40), 7));
    let mut other = raised(40);
    other.workload.seed += 1;
    assert_ne!(first, priorities(other, 32));
    // Syncs have no priority and take no draw.
    let mut synced = raised(40);
    synced.durability.fsync_every = 3;
    synced.load.queue_depth = 1;
    let (mut worker, _) = worker_of(synced, MIB, 32);
    let mut sim = Sim::new(10_000);
    sim.run(&mut worker, &mut NoData);
    let of_data = sim.seen.iter().filter(|seen| !seen.op.kind.is_sync());
    assert_eq!(first, of_data.map(|seen| seen.op.priority.bits()).collect::<Vec<_>>());
    assert!(sim.seen.iter().any(|seen| seen.op.kind.is_sync()));
}

#[test]
fn the_share_of_one_direction_leaves_the_choices_of_the_other_alone() {
    let choices = |write_pct| {
        let mut job = raised(40);
        job.engine.priority_pct.write = write_pct;
        let (sim, ..) = run(job, MIB, 10_000);
        let reads = sim.seen.iter().filter(|seen| seen.op.kind == OpKind::Read);
        reads.map(|seen| seen.op.priority).collect::<Vec<_>>()
    };
    assert_eq!(choices(0), choices(90));
}

#[test]
fn latencies_are_counted_by_priority() {
    let mut job = raised(40);
    job.process.io_priority = 6;
    job.engine.priority_class.write = 3;
    let (sim, meters, _) = run(job, MIB, 10_000);
    for (dir, kind, high) in
        [(Direction::Read, OpKind::Read, 0x2000), (Direction::Write, OpKind::Write, 0x6000)]
    {
        let of_kind = sim.seen.iter().filter(|seen| seen.op.kind == kind);
        let (n_high, n_usual) = of_kind.fold((0, 0), |(high, usual), seen| {
            if seen.op.priority == IoPriority::NONE { (high, usual + 1) } else { (high + 1, usual) }
        });
        assert!(n_high > 0 && n_usual > 0);
        let expected = [(0x4006, n_usual, n_usual), (high, n_high, n_high)];
        assert_eq!(counted(&meters, dir), expected);
        assert_eq!(n_high + n_usual, meters.dir(dir).clat.snapshot().count());
    }
    assert!(counted(&meters, Direction::Trim).is_empty());
}

#[test]
fn a_raised_priority_may_be_that_of_the_job() {
    let mut job = raised(50);
    job.workload.access.write = false;
    job.process.io_priority_class = 1;
    let (_, meters, _) = run(job, MIB, 10_000);
    assert_eq!(counted(&meters, Direction::Read), [(0x2000, 256, 256)]);
}

#[test]
fn what_is_not_measured_is_not_counted_by_priority_either() {
    let mut job = raised(50);
    job.workload.access.write = false;
    job.reporting.disable_clat = true;
    job.limits.ramp_ns = 100_000;
    let (_, meters, _) = run(job, MIB, 10_000);
    let all = counted(&meters, Direction::Read);
    let n_lat: u64 = all.iter().map(|(_, _, n_lat)| n_lat).sum();
    assert_eq!(n_lat, meters.dir(Direction::Read).lat.snapshot().count());
    assert!(n_lat < 256);
    assert!(all.iter().all(|(_, n_clat, _)| *n_clat == 0));
}

#[test]
fn a_job_without_raised_priorities_keeps_no_histograms() {
    for change in [
        |job: &mut Job| job.engine.priority_pct = PerDir::all(0),
        |job: &mut Job| {
            job.engine.kind = EngineKind::Sync;
        },
    ] {
        let mut job = raised(40);
        change(&mut job);
        let (sim, meters, _) = run(job, MIB, 10_000);
        assert!(Direction::ALL.iter().all(|dir| meters.priorities(*dir).is_empty()));
        assert!(sim.seen.iter().all(|seen| seen.op.priority == IoPriority::NONE));
    }
}

#[test]
fn the_rest_of_a_short_transfer_keeps_its_priority() {
    let mut job = raised(40);
    job.workload.access.write = false;
    job.load.queue_depth = 1;
    let whole = priorities(job.clone(), 1);
    let first_high = whole.iter().position(|bits| *bits != 0).expect("some are raised");
    let (mut worker, meters) = worker_of(job, MIB, 1);
    let mut sim = Sim::new(10_000);
    sim.fault = Some((first_high, 512));
    sim.run(&mut worker, &mut NoData);
    let mut seen: Vec<u16> = sim.seen.iter().map(|seen| seen.op.priority.bits()).collect();
    assert_eq!(sim.seen[first_high + 1].op.buf_offset_bytes, 512);
    assert_eq!(seen.remove(first_high + 1), 0x2000);
    assert_eq!(seen, whole);
    assert_eq!(counted(&meters, Direction::Read).iter().map(|(_, n, _)| n).sum::<u64>(), 256);
}

#[test]
fn shares_by_block_size_reach_the_operations() {
    let mut job = raised(0);
    let own = IoPriority::new(3, 2, 0);
    let share = |pct, priority| PriorityShare { block_bytes: Some(4096), pct, priority };
    job.engine.priority_split.read = vec![share(30, IoPriority::NONE), share(70, own)];
    let (sim, meters, _) = run(job, MIB, 10_000);
    let reads = sim.seen.iter().filter(|seen| seen.op.kind == OpKind::Read);
    assert!(reads.clone().all(|seen| [0x2000, 0x6002].contains(&seen.op.priority.bits())));
    assert_eq!(
        reads.count() as u64,
        counted(&meters, Direction::Read)[1..].iter().map(|c| c.1).sum()
    );
    assert_eq!(counted(&meters, Direction::Write), []);
}

#[test]
fn the_log_shows_each_priority() {
    let (mut worker, _) = worker_of(raised(40), MIB, 32);
    let (sender, events) = std::sync::mpsc::sync_channel(1024);
    worker.log_to(LogSender::new(sender, 0, std::sync::Arc::default()));
    let mut sim = Sim::new(10_000);
    sim.run(&mut worker, &mut NoData);
    drop(worker);
    let logged = events.iter().filter_map(|event| match event {
        LogEvent::Io { priority, .. } => Some(priority.bits()),
        _ => None,
    });
    let seen: Vec<u16> = sim.seen.iter().map(|seen| seen.op.priority.bits()).collect();
    assert_eq!(logged.collect::<Vec<_>>(), seen);
}
