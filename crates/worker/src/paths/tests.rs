//! Every short way against the general one, in virtual time, over all that selects it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hist::{Histogram, LiveHistogram};
use pattern::rng::mix64;
use pattern::tree::{InUse, Tree};
use plan::engine::NameOp;
use plan::job::Part;
use plan::load::{Flow, LatencyTarget, Rate};
use plan::op::{Completion, Op, OpKind};
use plan::tree::{
    Activity, FileIo, FileSizes, Mixing, StopAfter, TreeOpen, TreeSpec, TreeTask, TreeWork,
};
use plan::workload::{Access, BlockSize};
use plan::{Direction, EngineKind, Job, PerDir};

use super::{Complete, Issue, JobFeatures, Paths};
use crate::spec::{FileRegion, WorkerSpec};
use crate::touched::Touched;
use crate::tree::{FileFlags, TreeJob, TreeState};
use crate::{Decision, FlowGroup, Meters, NoData, Worker};

/// Changes a job, or what surrounds it.
type Change = fn(&mut Case);

/// A job and what a worker of it is given.
struct Case {
    job: Job,
    files: Vec<FileRegion>,
    is_detailed: bool,
    counts_touched: bool,
    defers: bool,
    is_in_flow: bool,
}

/// Reads 4 KiB blocks of 1 MiB, 8 in flight.
fn case() -> Case {
    let mut job = Job::default();
    job.engine.kind = EngineKind::Uring;
    job.workload.access.random = true;
    job.load.queue_depth = 8;
    // Passes begin anew while it runs.
    (job.limits.time_based, job.limits.runtime_ns) = (true, Some(3_000_000));
    let files = vec![FileRegion { offset_bytes: 1 << 20, len_bytes: 1 << 20 }];
    let (is_detailed, counts_touched, defers, is_in_flow) = (false, false, false, false);
    Case { job, files, is_detailed, counts_touched, defers, is_in_flow }
}

fn part(case: &Case, access: Access) -> Part {
    let mut workload = case.job.workload.clone();
    workload.access = access;
    Part { workload, ..Part::default() }
}

/// Puts the job on a tree of 6 files of 20 KiB, all of which are there.
fn on_tree(case: &mut Case, tasks: Vec<TreeTask>) {
    case.job.load.queue_depth = 1;
    let activity = Activity::Operations(tasks);
    let (tree, open) = (tree_spec(), TreeOpen::default());
    case.job.tree =
        Some(TreeWork { tree, target: None, open, activity, mixing: Mixing::default() });
}

fn tree_spec() -> TreeSpec {
    let sizes = FileSizes::Fixed(20 << 10);
    TreeSpec { depth: 1, width: 2, files: 3, sizes, ..TreeSpec::default() }
}

fn tree_job(work: &TreeWork) -> TreeJob {
    let tree = || Tree::new(&work.tree).expect("a small tree");
    let state = TreeState::new(tree());
    for folder in 0..tree().n_folders() {
        state.set_folder(folder, true);
    }
    for file in 0..tree().n_files() {
        let bytes = tree().size_bytes(file);
        state.set_file(file, FileFlags::of_size(Some(bytes), bytes));
    }
    let in_use = InUse::new(&tree(), &work.tree).expect("all of them");
    TreeJob::new(work.clone(), (Arc::new(state), in_use), None, 1)
}

fn second_file(case: &mut Case) {
    case.files.push(FileRegion { offset_bytes: 0, len_bytes: 300 << 10 });
}

/// What the operations are: one or several of each kind of source, and ends of all kinds.
const WORKS: &[(&str, Change)] = &[
    ("read", |_| {}),
    ("sequential", |it| it.job.workload.access.random = false),
    ("write", |it| (it.job.workload.access.read, it.job.workload.access.write) = (false, true)),
    ("trim", |it| (it.job.workload.access.read, it.job.workload.access.trim) = (false, true)),
    ("mix", |it| it.job.workload.access.write = true),
    ("sizes", |it| {
        it.job.workload.block_size = PerDir::all(BlockSize::Split(vec![(4096, 70), (16_384, 30)]));
    }),
    ("draws", |it| it.job.workload.no_repeats = false),
    ("files", second_file),
    ("volume", |it| {
        second_file(it);
        it.job.files.concatenate = true;
    }),
    ("part", |it| it.job.parts = vec![part(it, it.job.workload.access)]),
    ("parts", |it| {
        let writes = Access { read: false, write: true, ..it.job.workload.access };
        let mixed = Access { write: true, random: false, ..Access::READ };
        it.job.parts = vec![part(it, Access::READ), part(it, writes), part(it, mixed)];
    }),
    ("parts that end", |it| {
        let mut ending = part(it, Access::READ);
        ending.workload.ends_with_region = true;
        it.job.parts = vec![part(it, it.job.workload.access), ending];
    }),
    ("parts with rates", |it| {
        let rated = Part { rate_iops: Some(5e5), ..part(it, Access::READ) };
        it.job.parts = vec![part(it, it.job.workload.access), rated];
    }),
    ("passes", |it| (it.job.limits.time_based, it.job.limits.loops) = (false, 3)),
    ("amount", |it| it.job.limits.n_ios_max = Some(133)),
    ("ramp", |it| it.job.limits.ramp_ns = 700_000),
    ("portions", |it| it.job.load.complete_max = Some(2)),
    ("batches", |it| it.job.load.submit_batch = Some(3)),
    ("names", |it| {
        second_file(it);
        it.job.engine.kind = EngineKind::Names(NameOp::FileStat);
        (it.job.limits.time_based, it.job.limits.loops) = (false, 50);
    }),
];

/// Work on trees of files.
const TREE_WORKS: &[(&str, Change)] = &[
    ("read files", |it| on_tree(it, vec![TreeTask::default()])),
    ("read whole files", |it| {
        let io = FileIo::Sequential { nonzero: false, delete: false };
        on_tree(
            it,
            vec![TreeTask { io, stop_after: Some(StopAfter::Pct(60.0)), ..TreeTask::default() }],
        );
    }),
    ("write files", |it| {
        let block_size = BlockSize::Split(vec![(4096, 70), (8192, 30)]);
        let operation = OpKind::Write;
        on_tree(it, vec![TreeTask { operation, block_size, ..TreeTask::default() }]);
    }),
    ("mix", |it| {
        let task =
            TreeTask { operation: OpKind::Write, read_pct: Some(60.0), ..TreeTask::default() };
        on_tree(it, vec![TreeTask { stop_after: Some(StopAfter::Ios(3)), ..task }]);
    }),
    ("replace files", |it| {
        let io = FileIo::Sequential { nonzero: false, delete: true };
        on_tree(it, vec![TreeTask { operation: OpKind::Write, io, ..TreeTask::default() }]);
    }),
    ("amount", |it| {
        on_tree(it, vec![TreeTask::default()]);
        it.job.limits.n_ios_max = Some(17);
    }),
    ("ramp", |it| {
        on_tree(it, vec![TreeTask::default()]);
        it.job.limits.ramp_ns = 700_000;
    }),
    ("stat", |it| on_tree(it, vec![TreeTask { operation: OpKind::Stat, ..TreeTask::default() }])),
    ("tasks", |it| {
        let stat = TreeTask { operation: OpKind::Stat, ..TreeTask::default() };
        on_tree(it, vec![TreeTask::default(), stat]);
    }),
];

/// What else may be asked: each by itself, with any of the others, and of any work.
const ASKED: &[(&str, Change)] = &[
    ("flow", |it| it.is_in_flow = true),
    ("series", |it| it.is_detailed = true),
    ("touched", |it| it.counts_touched = true),
    ("priorities", |it| it.job.engine.priority_pct = PerDir::all(30)),
    ("low", |it| it.job.load.queue_depth_low = Some(3)),
    ("polls", |it| it.job.load.complete_min = Some(0)),
    ("defers", |it| it.defers = true),
];

/// What keeps operations from short ways; asked for by itself.
const HINDERED: &[(&str, Change)] = &[
    ("rate", |it| it.job.load.rate = PerDir::all(Some(Rate::Iops(300_000)))),
    ("think", |it| it.job.load.think.pause_ns = 20_000),
    ("serialize", |it| it.job.load.serialize_overlap = true),
    ("last waits", |it| it.job.load.last_io_waits = true),
    ("syncs", |it| it.job.durability.fsync_every = 7),
    ("latency", |it| it.job.load.latency_max_ns = PerDir::all(Some(1 << 40))),
    ("trim and write", |it| {
        it.job.workload.access =
            Access { trim: true, write: true, trim_then_write: true, random: true, read: false };
    }),
    ("search", |it| {
        it.job.load.latency_target = Some(LatencyTarget {
            target_ns: 90_000,
            window_ns: 500_000,
            percentile: 50.0,
            keep_running: true,
        });
    }),
    ("verify", |it| it.job.verify.method = Some(plan::verify::VerifyMethod::Crc32c)),
];

/// A device whose latency differs from operation to operation.
#[derive(Default)]
struct Device {
    in_flight: BTreeMap<(u64, usize), Completion>,
    ops: Vec<(u64, Op)>,
}

impl Device {
    fn submit(&mut self, now_ns: u64, op: &Op) {
        let number = self.ops.len();
        let latency_ns = 50_000 + mix64(number as u64) % 100_000;
        // Now and then a transfer is short.
        let is_short = number % 97 == 96 && op.len > 512 && op.kind.direction().is_some();
        let len = if is_short { op.len / 2 } else { op.len };
        let completion = Completion { slot: op.slot, result: len as i32 };
        self.in_flight.insert((now_ns + latency_ns, number), completion);
        self.ops.push((now_ns, *op));
    }

    /// Returns the next completion, if no other comes at the same time.
    fn lone(&self) -> Option<(u64, Completion)> {
        let mut next = self.in_flight.iter();
        let (&(due_ns, _), completion) = next.next()?;
        let is_lone = next.next().is_none_or(|(&(other_ns, _), _)| other_ns != due_ns);
        is_lone.then_some((due_ns, *completion))
    }

    /// Waits as a worker asks for. Returns the time then, and what has completed: at most `max`.
    fn wait(
        &mut self,
        now_ns: u64,
        min: u32,
        max: u32,
        until_ns: Option<u64>,
    ) -> (u64, Vec<Completion>) {
        let nth = |n: u32| self.in_flight.keys().nth(n as usize - 1).map(|(due_ns, _)| *due_ns);
        let due_ns = match min.min(max) {
            0 if until_ns.is_none() => nth(1),
            0 => until_ns.filter(|_| self.in_flight.is_empty()),
            n => nth(n),
        };
        let until = until_ns.unwrap_or(u64::MAX);
        let mut now_ns = now_ns.max(due_ns.unwrap_or(now_ns).min(until));
        if self.in_flight.is_empty() && until_ns.is_some() {
            now_ns = now_ns.max(until);
        }
        let mut done = Vec::new();
        while let Some(next) = self.in_flight.first_entry()
            && next.key().0 <= now_ns
            && done.len() < max as usize
        {
            done.push(next.remove());
        }
        (now_ns, done)
    }
}

/// What came of a worker.
#[derive(Debug, PartialEq)]
struct Seen {
    ops: Vec<(u64, Op)>,
    histograms: Vec<Histogram>,
    counts: String,
}

/// Drives a worker of a case to its end, by the ways that `choose` gives. Returns what came of it,
/// and what it asked for.
fn run(case: &Case, choose: fn(&JobFeatures) -> Paths) -> (Seen, JobFeatures) {
    let job = Arc::new(case.job.clone());
    let mut meters = if case.is_detailed { Meters::detailed(&job) } else { Meters::of(&job) };
    if case.counts_touched {
        let keys: Vec<u64> = (0..case.files.len() as u64).collect();
        meters = meters.counting(Touched::new(&keys, 4096, 16_384));
    }
    let spec = WorkerSpec {
        worker_idx: 0,
        seed: pattern::derive(job.workload.seed, pattern::Stream::Worker, 0),
        files: case.files.clone(),
        amount_bytes: case.files.iter().map(|file| file.len_bytes).sum(),
        batch_max: 32,
        job,
    };
    let mut worker = Worker::new(&spec, Arc::clone(&meters)).expect("a job that fits");
    worker.choose_paths = choose;
    let flow = Flow { id: 1, weight: 1, sleep_ns: 0, slack_ios: 40 };
    let mut members = FlowGroup::members(&[flow; 2]);
    if let Some(work) = &spec.job.tree {
        worker.join_tree(Arc::new(tree_job(work))).expect("sizes that can be drawn");
    }
    if case.is_in_flow {
        worker.join_flow(members.remove(0));
    }
    if case.defers {
        worker.defer_meters();
    }
    let device = drive(&mut worker, &members);
    worker.publish();
    let (histograms, counts) = (histograms(&meters), counts(&worker, &meters));
    let seen = Seen { ops: device.ops, histograms, counts };
    (seen, worker.asks())
}

/// Drives a worker to its end. The other members of its flow go on by one at each call.
fn drive(worker: &mut Worker, others: &[FlowGroup]) -> Device {
    let mut device = Device::default();
    let (mut now_ns, mut n_submitted) = (1, 0);
    let (mut ops, mut done) = (Vec::new(), Vec::new());
    loop {
        others.iter().for_each(FlowGroup::advance);
        worker.complete(now_ns, n_submitted, &done, &mut NoData);
        let (mut min, until_ns) = match worker.next(now_ns, &mut ops, &mut NoData) {
            Decision::Exchange { min, until_ns } => (min, until_ns),
            Decision::RemoveFiles | Decision::DropCache => {
                (n_submitted, done) = (0, Vec::new());
                continue;
            }
            Decision::Done => return device,
        };
        worker.submitted(now_ns, &ops);
        n_submitted = ops.len();
        for op in &ops {
            device.submit(now_ns, op);
        }
        while (min, until_ns) == (1, None)
            && let Some((due_ns, completion)) = device.lone()
            && let Some(next) = worker.swap(due_ns, n_submitted, completion, &mut NoData)
        {
            device.in_flight.pop_first();
            (now_ns, n_submitted, min) = (due_ns, 1, next.min);
            device.submit(now_ns, &next.op);
        }
        (now_ns, done) = device.wait(now_ns, min, worker.complete_max(), until_ns);
        assert!(device.ops.len() < 1_000_000, "the worker does not end");
    }
}

/// Returns all times that a worker has recorded.
fn histograms(meters: &Meters) -> Vec<Histogram> {
    let of_dirs = Direction::ALL.map(|dir| meters.dir(dir));
    let of_dirs = of_dirs.iter().flat_map(|of| [&of.slat, &of.clat, &of.lat, &of.response]);
    let of_series = meters.series().into_iter().flat_map(|all| all.iter().map(|(_, of)| &of.lat));
    let priorities = Direction::ALL.map(|dir| meters.priorities(dir));
    let of_priorities = priorities.iter().flat_map(|all| all.iter().map(|of| &*of.lat));
    let all = of_dirs.chain(of_series).chain(of_priorities).chain([&meters.sync]);
    all.map(LiveHistogram::snapshot).collect()
}

/// Returns all else that a worker has counted.
fn counts(worker: &Worker, meters: &Meters) -> String {
    let batches = [&meters.depth_levels, &meters.submit_batches, &meters.complete_batches];
    let batches = batches.map(|levels| levels.each_ref().map(|level| level.load(Relaxed)));
    let dirs = Direction::ALL.map(|dir| {
        let dir = meters.dir(dir);
        let counters = [&dir.n_ios, &dir.bytes, &dir.n_ios_live, &dir.runtime_ns, &dir.n_short];
        counters.map(|counter| counter.load(Relaxed))
    });
    let series = meters.series().map(|all| {
        let of_one = |of: &crate::SeriesMeters| [&of.n_ios, &of.bytes].map(|it| it.load(Relaxed));
        all.iter().map(|(_, of)| of_one(of)).collect::<Vec<_>>()
    });
    format!(
        "{batches:?} {dirs:?} {series:?} {:?} {} {:?} {:?} {:?}",
        worker.samples(),
        worker.n_writes(),
        worker.in_flight_ns(),
        worker.kept(),
        meters.touched().map(|touched| Touched::n_blocks(std::iter::once(touched))),
    )
}

/// Runs a case by the ways that are chosen for it, and by the general one. Returns the former.
#[track_caller]
fn check(name: &str, case: &Case) -> Paths {
    let (chosen, asks) = run(case, Paths::of);
    let (general, _) = run(case, Paths::general);
    assert!(!chosen.ops.is_empty(), "{name}");
    if chosen.ops != general.ops {
        let at = chosen.ops.iter().zip(&general.ops).position(|(a, b)| a != b);
        let at = at.unwrap_or(chosen.ops.len().min(general.ops.len()));
        let around = |ops: &[(u64, Op)]| ops.get(at).copied();
        panic!("{name}: operation {at}: {:?}, {:?}", around(&chosen.ops), around(&general.ops));
    }
    assert_eq!(chosen.counts, general.counts, "{name}");
    assert!(chosen.histograms == general.histograms, "{name}: times differ");
    Paths::of(&asks)
}

#[test]
fn short_ways_give_what_the_general_one_does() {
    let mut n_of_issue: BTreeMap<String, usize> = BTreeMap::new();
    let (mut n_counted_only, mut n_swapping) = (0, 0);
    for (work, change) in WORKS {
        for asked in 0_usize..1 << ASKED.len() {
            let mut case = case();
            change(&mut case);
            let mut name = (*work).to_owned();
            for (_, (also, change)) in
                ASKED.iter().enumerate().filter(|(idx, _)| asked >> idx & 1 == 1)
            {
                change(&mut case);
                name = format!("{name}, {also}");
            }
            let paths = check(&name, &case);
            *n_of_issue.entry(format!("{:?}", paths.issue)).or_default() += 1;
            n_counted_only += usize::from(paths.complete == Complete::Counts);
            n_swapping += usize::from(paths.swaps);
        }
    }
    // All of them are tried often.
    assert_eq!(n_of_issue.len(), 4, "{n_of_issue:?}");
    assert!(n_of_issue.values().all(|n| *n >= 128), "{n_of_issue:?}");
    assert!(n_counted_only >= 512 && n_swapping >= 8, "{n_counted_only}, {n_swapping}");
}

#[test]
fn file_io_in_a_tree_gives_what_the_general_way_does() {
    let mut n_short = 0;
    for (work, change) in TREE_WORKS {
        for (asked, also) in [("alone", (|_| {}) as Change)].iter().chain(ASKED).chain(HINDERED) {
            // What a tree is never asked for.
            if ["low", "polls", "search", "verify", "trim and write"].contains(asked) {
                continue;
            }
            let mut case = case();
            change(&mut case);
            also(&mut case);
            let paths = check(&format!("{work}, {asked}"), &case);
            let is_short = paths.issue == Issue::FileIo && paths.complete == Complete::FileIo;
            let is_hindered = HINDERED.iter().any(|(name, _)| name == asked) || *asked == "flow";
            assert!(!(is_short && is_hindered), "{work}, {asked}: {paths:?}");
            n_short += usize::from(is_short);
        }
    }
    assert!(n_short >= 28, "{n_short}");
}

#[test]
fn what_holds_operations_back_takes_the_general_way_where_it_must() {
    for (hindrance, hinder) in HINDERED {
        for (work, change) in WORKS.iter().filter(|(work, _)| *work != "names") {
            let mut case = case();
            change(&mut case);
            hinder(&mut case);
            let paths = check(&format!("{work}, {hindrance}"), &case);
            let is_short = paths.issue != Issue::General && paths.complete == Complete::Counts;
            assert!(!is_short && !paths.swaps, "{work}, {hindrance}: {paths:?}");
        }
    }
}

/// What is no way, for a job that asks for one thing beside plain work: by depth, takes places,
/// fills first, counts late. Both ways keep to it.
const MANNERS: &[(&str, [bool; 4])] = &[
    ("read", [true, true, false, false]),
    ("sizes", [true, true, false, false]),
    ("parts", [true, true, false, false]),
    ("parts with rates", [false, false, false, true]),
    ("passes", [true, true, false, false]),
    ("portions", [true, false, true, false]),
    ("batches", [true, true, true, false]),
    ("names", [true, true, false, false]),
    ("read files", [false, true, false, false]),
    ("flow", [true, true, false, false]),
    ("series", [true, true, false, false]),
    ("touched", [true, true, false, false]),
    // Latencies by priority are looked at one by one.
    ("priorities", [false, true, false, false]),
    ("low", [true, false, true, false]),
    ("polls", [true, false, false, false]),
    ("defers", [true, true, false, false]),
    ("rate", [false, false, false, true]),
    ("think", [false, false, false, false]),
    ("serialize", [false, true, false, false]),
    ("last waits", [false, true, false, false]),
    ("syncs", [false, true, false, false]),
    ("latency", [false, true, false, false]),
    ("trim and write", [false, true, false, false]),
    ("search", [false, true, false, false]),
    ("verify", [false, true, false, false]),
];

#[test]
fn what_is_no_way_follows_from_what_the_job_asks_for() {
    for (name, expected) in MANNERS {
        let all = [WORKS, TREE_WORKS, ASKED, HINDERED];
        let (_, change) =
            all.into_iter().flatten().find(|(asked, _)| asked == name).expect("known");
        let mut case = case();
        change(&mut case);
        let (_, asks) = run(&case, Paths::of);
        for paths in [Paths::of(&asks), Paths::general(&asks)] {
            let Paths { is_by_depth, takes_places, fills_first, counts_late, .. } = paths;
            let found = [is_by_depth, takes_places, fills_first, counts_late];
            assert_eq!(found, *expected, "{name}");
        }
    }
}
