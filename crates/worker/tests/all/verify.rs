//! Verification against a model of a device that completes operations in any order: good blocks are
//! never called bad, bad ones always, and nothing that should be read back is left out.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pattern::Rng;
use pattern::verify::{VerifyState, write_seed};
use plan::op::{Completion, Op, OpKind};
use plan::verify::{VerifyMethod, VerifyPolicy};
use plan::workload::BlockSize;
use plan::{Job, PerDir};
use proptest::prelude::*;
use worker::{
    Data, Decision, FailureKind, FileRegion, LateFailures, Meters, ReadFacts, Worker, WorkerSpec,
    WriteFacts,
};

const SECTOR: u64 = 512;
const REGION: u64 = 64 << 10;
const SEED: u64 = 7;
const EILSEQ: i32 = 84;

/// What a sector holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The sector at `idx` of the block of this write.
    Block {
        number: u64,
        len: u32,
        idx: u32,
    },
    Zeros,
    Garbage,
}

/// An operation on its way.
struct InFlight {
    op: Op,
    write_number: u64,
    /// What a read has seen.
    seen: Vec<Content>,
    /// For a sync: the writes completed when it was issued.
    covers: HashSet<u64>,
}

/// Completes operations in random order; a read sees the device at any moment of its flight.
struct Device {
    rng: Rng,
    sectors: Vec<Content>,
    in_flight: Vec<InFlight>,
    reads: HashMap<u32, Vec<Content>>,
    write_numbers: HashMap<u32, u64>,
    completed: HashSet<u64>,
    durable: HashSet<u64>,
    n_writes: u64,
    n_trims: u64,
    checked: Vec<u64>,
    n_checked_trims: u64,
    n_bad: u64,
    /// Checks are put off until they are asked for.
    late: Option<LateFailures>,
    /// Writes made and blocks checked when the page cache was dropped.
    dropped_at: Vec<(u64, usize)>,
}

impl Device {
    fn new(seed: u64) -> Self {
        Device {
            rng: Rng::new(seed),
            sectors: vec![Content::Garbage; (REGION / SECTOR) as usize],
            in_flight: Vec::new(),
            reads: HashMap::new(),
            write_numbers: HashMap::new(),
            completed: HashSet::new(),
            durable: HashSet::new(),
            n_writes: 0,
            n_trims: 0,
            checked: Vec::new(),
            n_checked_trims: 0,
            n_bad: 0,
            late: None,
            dropped_at: Vec::new(),
        }
    }

    fn range(op: &Op) -> std::ops::Range<usize> {
        let start = (op.offset / SECTOR) as usize;
        start..start + (u64::from(op.len) / SECTOR) as usize
    }

    fn submit(&mut self, op: Op) {
        let seen = match op.kind {
            OpKind::Read => self.sectors[Self::range(&op)].to_vec(),
            _ => Vec::new(),
        };
        let write_number = self.write_numbers.get(&op.slot).copied().unwrap_or(u64::MAX);
        let covers = if op.kind.is_sync() { self.completed.clone() } else { HashSet::new() };
        self.in_flight.push(InFlight { op, write_number, seen, covers });
    }

    /// Puts the first `n` sectors of a write in place.
    fn apply(&mut self, op: &Op, number: u64, n: usize) {
        for (idx, at) in Self::range(op).enumerate().take(n) {
            self.sectors[at] = match op.kind {
                OpKind::Trim => Content::Zeros,
                _ => Content::Block { number, len: op.len, idx: idx as u32 },
            };
        }
    }

    /// Completes one operation.
    fn complete(&mut self) -> Completion {
        let idx = self.rng.bounded(self.in_flight.len() as u64) as usize;
        let done = self.in_flight.swap_remove(idx);
        let op = done.op;
        match op.kind {
            OpKind::Write => {
                self.apply(&op, done.write_number, usize::MAX);
                self.completed.insert(done.write_number);
            }
            OpKind::Trim => {
                self.n_trims += 1;
                self.apply(&op, 0, usize::MAX);
            }
            OpKind::Read => {
                let now = &self.sectors[Self::range(&op)];
                // Each sector was read before or after what was written meanwhile.
                let pairs = done.seen.iter().zip(now);
                let rng = &mut self.rng;
                let mixed = pairs.map(|(old, new)| if rng.percent(50) { *old } else { *new });
                self.reads.insert(op.slot, mixed.collect());
            }
            _ => self.durable.extend(done.covers),
        }
        let result = if op.kind.is_sync() { 0 } else { op.len as i32 };
        Completion { slot: op.slot, result }
    }

    /// Loses power: writes in flight are done in part, others that no sync covers may be lost.
    fn crash(&mut self, loses_unsynced: bool) {
        for lost in std::mem::take(&mut self.in_flight) {
            if matches!(lost.op.kind, OpKind::Write | OpKind::Trim) {
                let n = self.rng.bounded(u64::from(lost.op.len) / SECTOR + 1) as usize;
                self.apply(&lost.op, lost.write_number, n);
            }
        }
        for at in 0..self.sectors.len() {
            if let Content::Block { number, .. } = self.sectors[at]
                && loses_unsynced
                && !self.durable.contains(&number)
                && self.rng.percent(50)
            {
                self.sectors[at] = Content::Garbage;
            }
        }
        self.reads.clear();
        self.checked.clear();
        self.write_numbers.clear();
    }

    fn is_good(&mut self, op: &Op, facts: ReadFacts) -> bool {
        let seen = self.reads.remove(&op.slot).expect("only a completed read is checked");
        if facts.trimmed {
            self.n_checked_trims += 1;
            return seen.iter().all(|content| *content == Content::Zeros);
        }
        let Content::Block { number, .. } = seen[0] else { return false };
        self.checked.push(number);
        let whole = seen.iter().enumerate().all(|(idx, content)| {
            *content == Content::Block { number, len: op.len, idx: idx as u32 }
        });
        whole
            && facts.number.is_none_or(|wanted| wanted == number)
            && facts.seed.is_none_or(|wanted| wanted == write_seed(SEED, number))
    }
}

impl Data for Device {
    fn write(&mut self, op: &Op, facts: WriteFacts) {
        assert_eq!(facts.seed, write_seed(SEED, facts.number));
        self.write_numbers.insert(op.slot, facts.number);
        self.n_writes += 1;
    }

    fn check(&mut self, op: &Op, facts: ReadFacts) -> Result<(), i32> {
        if self.is_good(op, facts) {
            return Ok(());
        }
        self.n_bad += 1;
        let Some(late) = &mut self.late else { return Err(EILSEQ) };
        late.n_blocks += 1;
        late.example = Some((*op, EILSEQ));
        Ok(())
    }

    fn late_failures(&mut self, all: bool) -> LateFailures {
        match &mut self.late {
            Some(late) if all => std::mem::take(late),
            _ => LateFailures::default(),
        }
    }
}

fn worker_of(job: &Job) -> Worker {
    let spec = WorkerSpec {
        job: Arc::new(job.clone()),
        worker_idx: 0,
        seed: SEED,
        files: vec![FileRegion { offset_bytes: 0, len_bytes: REGION }],
        amount_bytes: REGION,
        batch_max: 8,
    };
    Worker::new(&spec, Meters::new()).expect("the job fits the region")
}

/// Drives a worker until it ends or `n_ops_max` operations were issued; says whether it ended.
fn drive(worker: &mut Worker, device: &mut Device, n_ops_max: usize) -> bool {
    let (mut ops, mut now_ns, mut n_ops) = (Vec::new(), 0, 0);
    loop {
        now_ns += 1000;
        let min = match worker.next(now_ns, &mut ops, device) {
            Decision::Exchange { min, .. } => min,
            Decision::DropCache => {
                assert!(ops.is_empty() && device.in_flight.is_empty(), "all has completed");
                device.dropped_at.push((device.n_writes, device.checked.len()));
                continue;
            }
            Decision::RemoveFiles | Decision::Done => return true,
        };
        worker.submitted(now_ns, &ops);
        for op in &ops {
            device.submit(*op);
        }
        n_ops += ops.len();
        if n_ops > n_ops_max {
            return false;
        }
        let more = device.rng.bounded(device.in_flight.len() as u64 + 1) as usize;
        let n_done = more.max(min as usize).min(device.in_flight.len());
        let done: Vec<Completion> = (0..n_done).map(|_| device.complete()).collect();
        worker.complete(now_ns, ops.len(), &done, device);
    }
}

/// What was written is to come from the target, not from the page cache, when it is read back.
#[test]
fn the_cache_is_dropped_between_writing_and_reading_back() {
    let dropped_at = |change: fn(&mut Job)| {
        let mut job = writer(4);
        change(&mut job);
        let mut worker = worker_of(&job);
        let mut device = Device::new(1);
        assert!(drive(&mut worker, &mut device, 100_000));
        assert!(!device.checked.is_empty() && device.n_bad == 0);
        device.dropped_at
    };
    let n_blocks = REGION / 1024;
    assert_eq!(dropped_at(|_| {}), [(n_blocks, 0)]);
    let each_pass = [(n_blocks, 0), (2 * n_blocks, n_blocks as usize)];
    assert_eq!(dropped_at(|job| job.limits.loops = 2), each_pass);
    assert_eq!(dropped_at(|job| job.files.direct = true), []);
    assert_eq!(dropped_at(|job| job.files.invalidate = false), []);
    assert_eq!(dropped_at(|job| job.engine.kind = plan::EngineKind::Mmap), []);
}

/// A job that writes blocks of 1 KiB and verifies them.
fn writer(queue_depth: u32) -> Job {
    let mut job = Job::default();
    job.engine.kind = plan::EngineKind::Uring;
    job.workload.access.read = false;
    job.workload.access.write = true;
    job.workload.block_size = PerDir::all(BlockSize::Fixed(1024));
    job.load.queue_depth = queue_depth;
    job.verify.method = Some(VerifyMethod::Crc32c);
    job
}

/// Jobs that write and verify in every way.
fn any_job() -> impl Strategy<Value = Job> {
    let walk = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let numbers = (1_u32..20, 0_u32..20, 0_u32..8, 1_u32..4, 0_u32..6);
    let trims = (prop_oneof![Just(0_u8), Just(40), Just(100)], 1_u32..6, any::<bool>());
    (walk, numbers, trims).prop_map(|(walk, numbers, trims)| {
        let (random, no_repeats, mixed, ranged) = walk;
        let (depth, backlog, batch, loops, fsync_every) = numbers;
        let mut job = writer(depth);
        job.workload.access.random = random;
        job.workload.no_repeats = no_repeats;
        job.workload.access.read = mixed;
        if ranged {
            job.workload.block_size = PerDir::all(BlockSize::Range { min: 512, max: 4096 });
        }
        (job.verify.backlog, job.verify.backlog_batch) = (backlog, batch);
        job.limits.loops = loops;
        job.durability.fsync_every = fsync_every;
        (job.workload.trim_pct, job.workload.trim_backlog, job.verify.trimmed_is_zero) = trims;
        job
    })
}

/// Verifies what an earlier run wrote, in its order.
fn verifier_of(job: &Job, state: Option<VerifyState>) -> Worker {
    let mut job = job.clone();
    job.verify.verify_only = true;
    let mut worker = worker_of(&job);
    if let Some(state) = state {
        worker.restrict_to(VerifyState::decode(&state.encode()).expect("it was just encoded"));
    }
    worker
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn good_blocks_are_never_called_bad(job in any_job(), seed: u64) {
        let mut device = Device::new(seed);
        let mut worker = worker_of(&job);
        prop_assert!(drive(&mut worker, &mut device, usize::MAX));
        prop_assert_eq!(worker.failure(), None);
        prop_assert_eq!(device.n_bad, 0);
        prop_assert_eq!(worker.n_unverified(), 0);
        let wanted = device.n_writes * u64::from(job.workload.trim_pct) / 100;
        if job.workload.no_repeats && job.verify.backlog == 0 {
            prop_assert_eq!(device.n_trims, wanted);
            let n_checks = device.checked.len() as u64 + device.n_checked_trims;
            let n_left_out = if job.verify.trimmed_is_zero { 0 } else { device.n_trims };
            prop_assert_eq!(n_checks + n_left_out, device.n_writes);
        }
    }

    #[test]
    fn a_second_run_verifies_the_first(mut job in any_job(), seed: u64) {
        if job.verify.backlog > 0 {
            // Which blocks were verified before they could be trimmed is a matter of timing.
            job.workload.trim_pct = 0;
        }
        let mut device = Device::new(seed);
        prop_assert!(drive(&mut worker_of(&job), &mut device, usize::MAX));
        let n_writes = device.n_writes;
        let mut second = verifier_of(&job, None);
        prop_assert!(drive(&mut second, &mut device, usize::MAX));
        prop_assert_eq!(second.failure(), None);
        prop_assert_eq!(device.n_writes, n_writes, "it writes nothing");
    }

    #[test]
    fn a_state_covers_what_a_crash_left(
        job in any_job(),
        seed: u64,
        n_ops in 1_usize..200,
        fsynced: bool,
    ) {
        let mut job = Job { verify: plan::verify::Verify { backlog: 0, ..job.verify }, ..job };
        job.workload.trim_pct = 0;
        if fsynced {
            job.verify.policy = VerifyPolicy::Fsynced;
        }
        let mut device = Device::new(seed);
        let mut first = worker_of(&job);
        drive(&mut first, &mut device, n_ops);
        let state = first.verify_state(0).expect("states are saved unless switched off");
        device.crash(fsynced);
        let mut second = verifier_of(&job, Some(state.clone()));
        prop_assert!(drive(&mut second, &mut device, usize::MAX));
        prop_assert_eq!(second.failure(), None);
        prop_assert_eq!(device.n_bad, 0);
        if job.workload.no_repeats && job.limits.loops == 1 {
            let n_covered = state.n_covered - state.unfinished.len() as u64;
            prop_assert_eq!(device.checked.len() as u64, n_covered);
        }
    }
}

#[test]
fn a_read_job_follows_the_state_of_the_job_that_wrote() {
    for random in [false, true] {
        let mut job = writer(4);
        job.workload.access.random = random;
        let mut device = Device::new(3);
        let mut first = worker_of(&job);
        assert!(!drive(&mut first, &mut device, 30));
        let state = first.verify_state(0).expect("states are saved unless switched off");
        device.crash(false);
        job.workload.access.write = false;
        job.workload.access.read = true;
        let mut second = worker_of(&job);
        second.restrict_to(state.clone());
        assert!(drive(&mut second, &mut device, usize::MAX));
        assert_eq!((second.failure(), device.n_bad), (None, 0));
        let n_covered = state.n_covered - state.unfinished.len() as u64;
        assert_eq!(device.checked.len() as u64, n_covered);
        assert!(n_covered > 0 && n_covered < 64);
    }
}

/// Spoils one block between a run that writes and one that reads; returns the second one.
fn spoiled(change: impl Fn(&mut Job), late: bool) -> (Worker, Device) {
    let mut job = writer(1);
    job.verify.do_verify = false;
    let mut device = Device::new(5);
    assert!(drive(&mut worker_of(&job), &mut device, usize::MAX));
    assert!(device.checked.is_empty(), "the first run reads nothing back");
    device.sectors[4] = Content::Garbage;
    device.sectors[20] = Content::Garbage;
    device.late = late.then(LateFailures::default);
    job.workload.access.write = false;
    job.workload.access.read = true;
    job.verify.n_threads = u32::from(late);
    change(&mut job);
    let mut second = worker_of(&job);
    assert!(drive(&mut second, &mut device, usize::MAX));
    (second, device)
}

#[test]
fn bad_blocks_fail_the_job_in_the_end() {
    for late in [false, true] {
        let (worker, device) = spoiled(|_| {}, late);
        let failure = worker.failure().expect("two blocks are bad");
        assert_eq!((failure.kind, failure.errno), (FailureKind::Verify, EILSEQ));
        assert_eq!((device.n_bad, device.checked.len()), (2, 62));
    }
}

#[test]
fn a_fatal_bad_block_ends_the_job_at_once() {
    let (worker, device) = spoiled(|job| job.verify.fatal = true, false);
    assert!(worker.failure().is_some());
    assert_eq!((device.n_bad, device.checked.len()), (1, 2));
}

#[test]
fn the_job_goes_on_where_it_may() {
    for late in [false, true] {
        let (worker, device) = spoiled(|job| job.errors.continue_verify = true, late);
        assert_eq!((worker.failure(), worker.first_ignored_error()), (None, Some(EILSEQ)));
        assert_eq!((device.n_bad, device.checked.len()), (2, 62));
    }
}

#[test]
fn a_job_that_repeats_for_a_time_verifies_each_pass() {
    for (is_mixed, backlog) in [(false, 0), (true, 0), (false, 8)] {
        let mut job = writer(4);
        job.workload.access.read = is_mixed;
        job.limits.time_based = true;
        job.limits.runtime_ns = Some(3_000_000);
        job.verify.backlog = backlog;
        let mut device = Device::new(9);
        let mut worker = worker_of(&job);
        assert!(drive(&mut worker, &mut device, usize::MAX));
        assert!(device.n_writes > 64, "it goes over the region more than once");
        let n_checked = device.checked.len() as u64;
        assert!(n_checked > 64 && n_checked <= device.n_writes, "{n_checked} blocks");
        // The last pass may be cut off before it is verified.
        assert!(device.n_writes - n_checked <= 64, "{n_checked} of {}", device.n_writes);
        assert_eq!(device.n_bad, 0);
    }
}

#[test]
fn one_io_at_a_time_verifies_only_what_its_time_leaves_room_for() {
    for (backlog, is_timed) in [(0, true), (8, true), (0, false)] {
        let mut job = writer(1);
        job.engine.kind = plan::EngineKind::Sync;
        job.limits.time_based = is_timed;
        job.limits.runtime_ns = Some(1_000_000_000).filter(|_| is_timed).map(|ns| ns / 1000);
        job.verify.backlog = backlog;
        assert_eq!(job.never_reads_back(), is_timed && backlog == 0);
        let mut device = Device::new(9);
        let mut worker = worker_of(&job);
        assert!(drive(&mut worker, &mut device, usize::MAX));
        assert_eq!(device.checked.is_empty(), job.never_reads_back());
        assert_eq!(device.n_bad, 0);
    }
}
