//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::sync_channel;

use pattern::tree::Tree;
use plan::Job;
use plan::load::{Flow, LatencyTarget};
use plan::op::Completion;
use plan::tree::TreeSpec;

use crate::latency_target::DepthSearch;
use crate::slots::Slots;
use crate::touched::Touched;
use crate::tree::Effect;
use crate::{
    Decision, ErrorBudget, FileFlags, FileRegion, FlowGroup, LogSender, Meters, NoData,
    SharedWalks, TreeState, Worker, WorkerSpec,
};

/// Checks that a call ends with these words.
#[track_caller]
fn check<T>(expected: &str, call: impl FnOnce() -> T) {
    let payload = catch_unwind(AssertUnwindSafe(call)).err().expect("the call is refused");
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    assert!(text.contains(expected), "{text}, not {expected}");
}

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

#[test]
fn what_a_worker_is_given_comes_before_its_start() {
    let has_begun = "before the worker starts";
    check(has_begun, || begun().0.join_flow(flows(&[1]).remove(0)));
    check(has_begun, || begun().0.share_errors(ErrorBudget::default()));
    check(has_begun, || begun().0.log_to(log()));
    check(has_begun, || begun().0.defer_meters());
    check(has_begun, || begun().0.gather_meters(1000));
    check(has_begun, || begun().0.share_walks(&mut SharedWalks::default()));
    check("a worker has one log", || {
        let mut worker = worker();
        worker.log_to(log());
        worker.log_to(log());
    });
    check("a worker is in one flow", || {
        let (mut worker, mut members) = (worker(), flows(&[1, 1]));
        worker.join_flow(members.remove(0));
        worker.join_flow(members.remove(0));
    });
}

#[test]
fn what_goes_over_and_comes_back_is_in_flight() {
    check("what goes over has a slot each", || {
        let (_, ops) = begun();
        worker().submitted(1, &ops);
    });
    check("what completes was in flight", || {
        let (mut worker, ops) = begun();
        let done: Vec<Completion> = ops.iter().chain(&ops).map(Completion::whole).collect();
        worker.complete(2, ops.len(), &done, &mut NoData);
    });
    check("a worker ends once", || {
        let mut worker = worker();
        worker.abandon(1);
        worker.abandon(2);
    });
}

#[test]
fn slots_are_free_once_at_the_end() {
    let mut taken = Slots::new(3);
    taken.take();
    check("nothing is in flight at the end of a phase", || taken.must_be_idle());
    let mut twice = Slots::new(3);
    let (first, _) = (twice.take(), twice.take());
    twice.release(first.expect("one of three"));
    twice.release(first.expect("one of three"));
    check("each slot is free once", || twice.must_be_whole());
    let mut busy = Slots::new(3);
    busy.get_mut(1).busy = true;
    check("a slot that is free is not in use", || busy.must_be_whole());
    check("a queue has a slot at least", || Slots::new(0));
}

#[test]
fn what_a_worker_is_made_of_fits_together() {
    check("at least one operation is handed over at once", || {
        Worker::new(&WorkerSpec { batch_max: 0, ..spec(Job::default()) }, Meters::new()).is_ok()
    });
    check("the members of a flow have its number", || flows(&[1, 2]));
    check("no longer than the longest", || Touched::new(&[1], 8192, 4096));
    check("meters are made before they are shared", || {
        let meters = Meters::new();
        let _reader = Arc::clone(&meters);
        meters.counting(Touched::new(&[1], 4096, 4096))
    });
    let target =
        |percentile| LatencyTarget { target_ns: 1, window_ns: 1, percentile, keep_running: false };
    check("a search has a depth to find", || DepthSearch::new(target(50.0), 0));
    check("0 to 100 percent", || DepthSearch::new(target(101.0), 4));
}

#[test]
fn what_is_let_go_in_a_tree_was_held() {
    let state = || TreeState::new(tree());
    check("a file is let go by who holds it", || state().release_file(0, true));
    check("a file is let go by who holds it", || state().release_file(0, false));
    check("a folder is let go by who holds it", || state().release_folder(0));
    check("a folder is kept before it is let go", || state().unpin_folder(0));
    check("work ends that has begun", || {
        state().count_at_work(&[Effect::CreatesFiles], false);
    });
    // Who does it right is let alone.
    let state = state();
    state.set_folder(0, true);
    state.set_file(0, FileFlags { exists: true, has_data: false, is_full: false });
    state.hold_file(0, true, |flags| flags.exists).expect("nobody holds it");
    state.release_file(0, true);
    assert_eq!(state.counts(), (1, 0, 1));
}
