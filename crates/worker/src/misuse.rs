//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::sync_channel;

use pattern::tree::{InUse, Tree};
use pattern::verify::VerifyState;
use plan::Job;
use plan::load::{Flow, LatencyTarget};
use plan::op::{Completion, OpKind};
use plan::replay::{RecordedOp, Recording};
use plan::tree::{Activity, Mixing, TreeOpen, TreeSpec, TreeTask, TreeWork};
use plan::verify::VerifyMethod;
use plan::workload::Workload;

use crate::latency_target::DepthSearch;
use crate::slots::Slots;
use crate::source::replaying::Replaying;
use crate::touched::Touched;
use crate::tree::Effect;
use crate::trimming::Trims;
use crate::verifying::Verifying;
use crate::{
    Decision, ErrorBudget, FileFlags, FileRegion, FlowGroup, LogSender, Meters, NoData,
    SharedWalks, TreeJob, TreeState, Worker, WorkerSpec,
};

fn spec(job: Job) -> WorkerSpec {
    let files = vec![FileRegion { offset_bytes: 0, len_bytes: 1 << 20 }];
    let job = Arc::new(job);
    WorkerSpec { job, worker_idx: 0, seed: 1, files, amount_bytes: 1 << 20, batch_max: 4 }
}

fn worker() -> Worker {
    let mut job = Job::default();
    job.load.queue_depth = 4;
    Worker::new(&spec(job), Meters::new()).expect("a job that fits")
}

/// A worker that has begun, and what it has handed over.
fn begun() -> (Worker, Vec<plan::op::Op>) {
    let (mut worker, mut ops) = (worker(), Vec::new());
    assert!(matches!(worker.next(1, &mut ops, &mut NoData), Decision::Exchange { .. }));
    worker.submitted(1, &ops);
    (worker, ops)
}

fn flows(ids: &[u32]) -> Vec<FlowGroup> {
    let flow = |id: &u32| Flow { id: *id, weight: 1, sleep_ns: 0, slack_ios: 1 };
    FlowGroup::members(&ids.iter().map(flow).collect::<Vec<_>>())
}

fn log() -> LogSender {
    LogSender::new(sync_channel(1).0, 0, Arc::new(AtomicU64::new(0)))
}

fn tree() -> Tree {
    let spec = TreeSpec { depth: 1, width: 2, files: 2, ..TreeSpec::default() };
    Tree::new(&spec).expect("a small tree")
}

fn tree_work(tasks: Vec<TreeTask>) -> TreeWork {
    let (tree, open) = (TreeSpec::default(), TreeOpen::default());
    let activity = Activity::Operations(tasks);
    TreeWork { tree, target: None, open, activity, mixing: Mixing::default() }
}

/// A tree, all of it, and work on it of one kind.
fn tree_job(operation: OpKind, in_use: &Tree, second: Option<Arc<TreeState>>) -> TreeJob {
    let task = TreeTask { operation, ..TreeTask::default() };
    let work = tree_work(vec![task]);
    let in_use = InUse::new(in_use, &TreeSpec::default()).expect("all of them");
    TreeJob::new(work, (Arc::new(TreeState::new(tree())), in_use), second, 1)
}

/// What an earlier run wrote.
fn written() -> VerifyState {
    let (job_name, unfinished) = (String::new(), Vec::new());
    VerifyState { job_name, worker_idx: 0, seed: 1, n_issued: 1, n_covered: 1, unfinished }
}

fn recording(due_ns: &[u64]) -> Workload {
    let op = |due_ns: &u64| {
        let (due_ns, kind) = (*due_ns, OpKind::Read);
        RecordedOp { due_ns, offset: 0, len: 4096, file_idx: 0, kind }
    };
    let ops = due_ns.iter().map(op).collect();
    let recordings = vec![Arc::new(Recording { ops, ..Recording::default() })];
    Workload { recordings, ..Workload::default() }
}

#[test]
fn what_a_worker_is_given_comes_before_its_start() {
    let has_begun = "before the worker starts";
    testing::check_wrong_calls(&[
        ("a flow", has_begun, &|| begun().0.join_flow(flows(&[1]).remove(0))),
        ("errors", has_begun, &|| begun().0.share_errors(ErrorBudget::default())),
        ("a log", has_begun, &|| begun().0.log_to(log())),
        ("deferred meters", has_begun, &|| begun().0.defer_meters()),
        ("gathered meters", has_begun, &|| begun().0.gather_meters(1000)),
        ("walks", has_begun, &|| begun().0.share_walks(&mut SharedWalks::default())),
        ("an earlier run", has_begun, &|| begun().0.restrict_to(written())),
        ("a tree", has_begun, &|| {
            _ = begun().0.join_tree(Arc::new(tree_job(OpKind::Read, &tree(), None)));
        }),
    ]);
}

#[test]
fn what_a_worker_is_given_it_can_have_and_has_once() {
    let (mut verifying, mut on_tree) = (Job::default(), Job::default());
    verifying.verify.method = Some(VerifyMethod::Crc32c);
    on_tree.tree = Some(tree_work(vec![TreeTask::default()]));
    let of = |job: &Job| Worker::new(&spec(job.clone()), Meters::new()).expect("a job that fits");
    let shared = || Arc::new(tree_job(OpKind::Read, &tree(), None));
    testing::check_wrong_calls(&[
        ("two logs", "a worker has one log", &|| {
            let mut worker = worker();
            worker.log_to(log());
            worker.log_to(log());
        }),
        ("two flows", "a worker is in one flow", &|| {
            let (mut worker, mut members) = (worker(), flows(&[1, 1]));
            worker.join_flow(members.remove(0));
            worker.join_flow(members.remove(0));
        }),
        ("walks of a whole job", "workers of `` walk together, which was not divided", &|| {
            worker().share_walks(&mut SharedWalks::default());
        }),
        ("an earlier run of no check", "what `` wrote is said, which verifies nothing", &|| {
            worker().restrict_to(written());
        }),
        ("two earlier runs", "what `` wrote is said twice", &|| {
            let mut worker = of(&verifying);
            worker.restrict_to(written());
            worker.restrict_to(written());
        }),
        ("a tree of another job", "a worker of `` joins a tree, which is on none", &|| {
            _ = worker().join_tree(shared());
        }),
        ("two trees", "a worker of `` joins two trees", &|| {
            let mut worker = of(&on_tree);
            worker.join_tree(shared()).expect("sizes that can be drawn");
            _ = worker.join_tree(shared());
        }),
        ("no tree", "a worker of `` starts without its tree", &|| {
            of(&on_tree).next(1, &mut Vec::new(), &mut NoData);
        }),
    ]);
}

#[test]
fn what_goes_over_and_comes_back_is_in_flight() {
    testing::check_wrong_calls(&[
        ("of another worker", "what goes over has a slot each", &|| {
            let (_, ops) = begun();
            worker().submitted(1, &ops);
        }),
        ("twice", "what completes was in flight", &|| {
            let (mut worker, ops) = begun();
            let done: Vec<Completion> = ops.iter().chain(&ops).map(Completion::whole).collect();
            worker.complete(2, ops.len(), &done, &mut NoData);
        }),
        ("a write with another's number", "writes are counted once", &|| {
            let mut job = Job::default();
            job.workload.access.write = true;
            (job.verify.method, job.verify.state_save) = (Some(VerifyMethod::Crc32c), true);
            Verifying::new(&job, 1).issued(&begun().1[0], 7);
        }),
        ("two ends", "a worker ends once", &|| {
            let mut worker = worker();
            worker.abandon(1);
            worker.abandon(2);
        }),
        ("an end before the start", "a phase that began at 7 ns ends at 6 ns", &|| {
            let mut worker = worker();
            worker.next(7, &mut Vec::new(), &mut NoData);
            worker.abandon(6);
        }),
        ("a log that ends before its last window", "ends at 9 ns, in a window from 20 ns", &|| {
            let mut log = LogSender::new(sync_channel(1).0, 10, Arc::new(AtomicU64::new(0)));
            log.finish(20);
            log.finish(9);
        }),
    ]);
}

#[test]
fn slots_are_free_once_at_the_end() {
    let taken = RefCell::new(Slots::new(3));
    taken.borrow_mut().take();
    let mut twice = Slots::new(3);
    let (first, _) = (twice.take(), twice.take());
    twice.release(first.expect("one of three"));
    twice.release(first.expect("one of three"));
    let mut busy = Slots::new(3);
    busy.get_mut(1).busy = true;
    testing::check_wrong_calls(&[
        ("in flight", "nothing is in flight at the end of a phase", &|| {
            taken.borrow().must_be_idle();
        }),
        ("released twice", "each slot is free once", &|| twice.must_be_whole()),
        ("free and in use", "a slot that is free is not in use", &|| busy.must_be_whole()),
        ("none", "a queue has a slot at least", &|| drop(Slots::new(0))),
    ]);
}

#[test]
fn what_a_worker_is_made_of_fits_together() {
    let target =
        |percentile| LatencyTarget { target_ns: 1, window_ns: 1, percentile, keep_running: false };
    let of = |spec: WorkerSpec, meters| _ = Worker::new(&spec, meters).is_ok();
    let touched =
        |n_files: u64, len: u32| Touched::new(&(0..n_files).collect::<Vec<_>>(), len, len);
    let replay = |due_ns: &[u64]| _ = Replaying::new(&recording(due_ns), 0, 1).is_ok();
    replay(&[5, 5, 6]);
    testing::check_wrong_calls(&[
        ("no batch", "at least one operation is handed over at once", &|| {
            of(WorkerSpec { batch_max: 0, ..spec(Job::default()) }, Meters::new());
        }),
        ("a region without end", "file 1: 2 B from 18446744073709551614 B on end beyond", &|| {
            let mut spec = spec(Job::default());
            spec.files.push(FileRegion { offset_bytes: u64::MAX - 1, len_bytes: 2 });
            of(spec, Meters::new());
        }),
        ("meters of other files", "blocks of 2 files are counted, of 1", &|| {
            of(spec(Job::default()), Meters::new().counting(touched(2, 4096)));
        }),
        ("a flow of several", "the members of a flow have its number", &|| drop(flows(&[1, 2]))),
        ("no weight", "a member of flow 1 has no weight", &|| {
            let flow = Flow { id: 1, weight: 0, sleep_ns: 0, slack_ios: 1 };
            drop(FlowGroup::members(&[flow]));
        }),
        ("longer than the longest", "no longer than the longest", &|| {
            drop(Touched::new(&[1], 8192, 4096));
        }),
        ("blocks of two sizes", "blocks of 8192 B are counted with those of 4096 B", &|| {
            Touched::n_blocks([touched(1, 4096), touched(1, 8192)].iter());
        }),
        ("meters that are read", "meters are made before they are shared", &|| {
            let meters = Meters::new();
            let _reader = Arc::clone(&meters);
            drop(meters.counting(touched(1, 4096)));
        }),
        ("meters that count twice", "meters count different blocks once", &|| {
            drop(Meters::new().counting(touched(1, 4096)).counting(touched(1, 4096)));
        }),
        ("no depth", "a search has a depth to find", &|| _ = DepthSearch::new(target(50.0), 0)),
        ("more than all", "0 to 100 percent", &|| _ = DepthSearch::new(target(101.0), 4)),
        ("time that goes back", "a recording goes back in time", &|| replay(&[5, 7, 6])),
        ("more trims than writes", "101 % of the writes are trimmed", &|| {
            let mut job = Job::default();
            job.workload.trim_pct = 101;
            drop(Trims::new(&job));
        }),
    ]);
}

#[test]
fn what_is_let_go_in_a_tree_was_held() {
    let state = || TreeState::new(tree());
    testing::check_wrong_calls(&[
        ("a shared file", "a file is let go by who holds it", &|| state().release_file(0, true)),
        ("a file", "a file is let go by who holds it", &|| state().release_file(0, false)),
        ("a folder", "a folder is let go by who holds it", &|| state().release_folder(0)),
        ("a kept folder", "a folder is kept before it is let go", &|| state().unpin_folder(0)),
        ("work", "work ends that has begun", &|| {
            state().count_at_work(&[Effect::CreatesFiles], false);
        }),
    ]);
    // A right call does not panic.
    let state = state();
    state.set_folder(0, true);
    state.set_file(0, FileFlags { exists: true, has_data: false, is_full: false });
    state.hold_file(0, true, |flags| flags.exists).expect("it is free");
    state.release_file(0, true);
    assert_eq!(state.counts(), (1, 0, 1));
}

#[test]
fn work_on_a_tree_has_its_files_and_where_they_go() {
    let larger = TreeSpec { depth: 1, width: 2, files: 3, ..TreeSpec::default() };
    let larger = Tree::new(&larger).expect("a small tree");
    let second = Some(Arc::new(TreeState::new(tree())));
    drop(tree_job(OpKind::Move, &tree(), second));
    testing::check_wrong_calls(&[
        ("files of another tree", "6 of 4 files are in use", &|| {
            drop(tree_job(OpKind::Read, &larger, None));
        }),
        ("a copy to nowhere", "Some(Copy) to a tree that is missing", &|| {
            drop(tree_job(OpKind::Copy, &tree(), None));
        }),
    ]);
}
