//! One worker in virtual time: the driver of `thread.rs` without a thread.

use engine::Usage;
use engine::volume::{TreeRange, VolumeRange, WaitAccount, route, route_in_tree};
use plan::files::SyncMode;
use plan::op::{Completion, Op};
use volume::{Done, System};
use worker::{Decision, Failure, FailureKind, NoData, Worker};

use crate::bind::BoundWorker;
use crate::verify_check::BadBlocks;
use crate::worker_event::WorkerResult;

use super::world::World;

/// How long an operation takes that ends before it reaches a volume: about a system call. Without
/// it, a worker that ignores such failures would go on for ever at one moment.
const AT_ONCE_NS: u64 = 1000;

/// One worker with what it has in flight.
pub(super) struct Lane {
    worker: Worker,
    worker_idx: u32,
    ops: Vec<Op>,
    /// Has completed, and the worker does not know it yet.
    done: Vec<Completion>,
    /// Completions that the worker waits for.
    min: usize,
    /// Operations of the last hand-over, until the worker has heard of it.
    n_submitted: usize,
    flights: Box<[Flight]>,
    places: Vec<VolumeRange>,
    /// Of a worker on a tree: where that lies.
    tree: Option<TreeRange>,
    /// Says where the next operation will be: there is a cache that looks it up.
    announces: bool,
    /// Writes bypass caches.
    through: bool,
    /// Carries out one operation at a time: position of the next one in `ops`.
    one_by_one: Option<usize>,
    started_ns: Option<u64>,
    account: WaitAccount,
    /// May start, or has.
    pub(super) is_released: bool,
    /// Already among those that have something to do.
    is_ready: bool,
    /// Was asked to stop.
    pub(super) is_stopped: bool,
}

/// An operation on its volume.
#[derive(Clone, Copy, Default)]
struct Flight {
    submit_ns: u64,
    result: i32,
}

/// What a worker does after a step.
pub(super) enum Stepped {
    /// Waits for completions, at most until this time; `u64::MAX` sets none.
    Waits(u64),
    /// Has ended.
    Ends,
}

impl Lane {
    pub(super) fn new(
        worker_idx: usize,
        bound: &BoundWorker,
        mut worker: Worker,
        places: Vec<VolumeRange>,
        world: &World,
    ) -> Self {
        worker.defer_meters();
        let depth = worker.queue_depth();
        let job = &bound.job;
        Lane {
            worker,
            worker_idx: worker_idx as u32,
            ops: Vec::with_capacity(depth),
            done: Vec::with_capacity(depth),
            min: 0,
            n_submitted: 0,
            flights: vec![Flight::default(); depth].into_boxed_slice(),
            places,
            announces: job.tree.is_none() && !world.system.cache_memory()[0].is_empty(),
            tree: world.placement.tree_of(bound),
            through: job.files.sync != SyncMode::None
                || job.tree.as_ref().is_some_and(|work| work.open.dsync),
            one_by_one: job.issues_one_at_a_time().then_some(0),
            started_ns: None,
            account: WaitAccount::new(world.caps.n_caps()),
            is_released: false,
            is_ready: false,
            is_stopped: false,
        }
    }

    /// Takes the end of an operation in whose place another one goes at once, if that is all there
    /// is to do for the worker. Returns until when it waits then; `None` if nothing has happened:
    /// [`Lane::take`] and [`Lane::step`] do what is to be done.
    #[inline]
    pub(super) fn swap(&mut self, done: &Done, system: &mut System) -> Option<u64> {
        if self.min != 1
            || !self.done.is_empty()
            || self.one_by_one.is_some()
            || self.account.is_due(done.at_ns)
        {
            return None;
        }
        let slot = done.id as u32;
        let flight = self.flights[slot as usize];
        let completion = Completion { slot, result: flight.result };
        let now_ns = done.at_ns;
        let next = self.worker.swap(now_ns, self.n_submitted, completion, &mut NoData)?;
        self.account.tally_mut().add(done, now_ns - flight.submit_ns);
        self.n_submitted = 1;
        self.min = next.min as usize;
        self.hand_over(&next.op, now_ns, system);
        self.announce(system);
        Some(self.waits_until(now_ns, u64::MAX))
    }

    /// Takes the end of an operation. Returns true if the worker now has something to do and had
    /// nothing before.
    #[inline]
    pub(super) fn take(&mut self, done: &Done, system: &mut System) -> bool {
        let slot = done.id as u32;
        let flight = self.flights[slot as usize];
        self.done.push(Completion { slot, result: flight.result });
        if self.worker.measured_since_ns().is_some_and(|since_ns| done.at_ns >= since_ns) {
            self.account.tally_mut().add(done, done.at_ns - flight.submit_ns);
        }
        if self.one_by_one.is_some() {
            self.submit_next(done.at_ns, system);
        }
        self.done.len() >= self.min && self.mark_ready()
    }

    /// Lets the worker act: tells it what completed, hands over what it chooses.
    pub(super) fn step(&mut self, now_ns: u64, system: &mut System) -> Stepped {
        self.is_ready = false;
        if self.account.is_due(now_ns) {
            self.mark(now_ns, system);
        }
        loop {
            if self.n_submitted > 0 || !self.done.is_empty() {
                let n_submitted = std::mem::take(&mut self.n_submitted);
                self.worker.complete(now_ns, n_submitted, &self.done, &mut NoData);
                self.done.clear();
            }
            let (min, until_ns) = match self.worker.next(now_ns, &mut self.ops, &mut NoData) {
                Decision::Exchange { min, until_ns } => (min, until_ns),
                // There is no file to remove; the volume keeps its addresses for the next one.
                // Nor is there a page cache.
                Decision::RemoveFiles | Decision::DropCache => continue,
                Decision::Done => return Stepped::Ends,
            };
            self.worker.submitted(now_ns, &self.ops);
            self.n_submitted = self.ops.len();
            self.submit(now_ns, system);
            let is_idle = self.worker.n_in_flight() == 0;
            self.min = match self.one_by_one {
                // The call returns when all are carried out.
                Some(_) if !self.ops.is_empty() => self.ops.len(),
                // A poll that finds nothing is made again; here, when there is something.
                _ if min == 0 && until_ns.is_none() && self.ops.is_empty() => 1,
                _ if is_idle => usize::MAX,
                _ => min as usize,
            };
            if self.min > 0 || !self.done.is_empty() {
                return Stepped::Waits(self.waits_until(now_ns, until_ns.unwrap_or(u64::MAX)));
            }
        }
    }

    /// Returns until when the worker waits that wants to wait until `until_ns`.
    #[inline]
    fn waits_until(&self, now_ns: u64, until_ns: u64) -> u64 {
        let until_ns =
            if self.done.is_empty() { until_ns } else { until_ns.min(now_ns + AT_ONCE_NS) };
        // One that sends its next request at once would stop the time.
        until_ns.max(now_ns + 1)
    }

    /// Notes the start, and what the caps had given when the measured time began and after each
    /// period of it.
    #[cold]
    fn mark(&mut self, now_ns: u64, system: &System) {
        self.started_ns.get_or_insert(now_ns);
        if self.worker.measured_since_ns().is_some_and(|since_ns| now_ns >= since_ns) {
            self.account.note(system, now_ns);
        }
    }

    /// Hands over what the worker chose.
    #[inline]
    fn submit(&mut self, now_ns: u64, system: &mut System) {
        if self.one_by_one.is_some() {
            self.one_by_one = Some(0);
            self.submit_next(now_ns, system);
            return;
        }
        for idx in 0..self.ops.len() {
            let op = self.ops[idx];
            self.hand_over(&op, now_ns, system);
        }
        self.announce(system);
    }

    /// Hands an operation over. Returns false if it ended before it reached a volume.
    #[inline]
    fn hand_over(&mut self, op: &Op, now_ns: u64, system: &mut System) -> bool {
        let id = u64::from(self.worker_idx) << 32 | u64::from(op.slot);
        let routed = match &self.tree {
            Some(tree) => route_in_tree(op, tree, self.through, id),
            None => route(op, &self.places, self.through, id),
        };
        match routed {
            Ok(io) => {
                let result = op.len.min(i32::MAX as u32) as i32;
                self.flights[op.slot as usize] = Flight { submit_ns: now_ns, result };
                system.submit(now_ns, io);
                true
            }
            Err(result) => {
                self.done.push(Completion { slot: op.slot, result });
                false
            }
        }
    }

    /// Reports where the next operation will be, as far as that is known.
    #[inline]
    fn announce(&self, system: &System) {
        if self.announces
            && let Some((file, offset)) = self.worker.peek()
            && let Some(place) = self.places.get(file.0 as usize)
        {
            system.expect(place.volume, place.base_bytes + offset);
        }
    }

    /// Hands over the next of the operations that are carried out one by one.
    fn submit_next(&mut self, now_ns: u64, system: &mut System) {
        while let Some(op_idx) = self.one_by_one
            && let Some(op) = self.ops.get(op_idx)
        {
            self.one_by_one = Some(op_idx + 1);
            let op = *op;
            if self.hand_over(&op, now_ns, system) {
                return;
            }
        }
    }

    /// Brings the worker's meters up to date.
    pub(super) fn publish(&mut self) {
        self.worker.publish();
    }

    /// Ends the worker: nothing more is issued, what is in flight completes.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
        self.worker.stop();
    }

    /// Fails the worker, which cannot go on.
    pub(super) fn fail(&mut self, errno: i32) {
        self.worker.fail(Failure { kind: FailureKind::Engine, errno, op: None });
    }

    /// Marks the worker as one that has something to do. Returns false if it was one already.
    pub(super) fn mark_ready(&mut self) -> bool {
        !std::mem::replace(&mut self.is_ready, true)
    }

    /// Returns what came of the worker, which was number `number` of the plan.
    pub(super) fn into_result(self, world: &World, number: u32) -> WorkerResult {
        let now_ns = world.now_ns;
        let started_ns = self.started_ns.unwrap_or(now_ns);
        let marks = self.account.end(&world.system, now_ns);
        let caps = marks.map(|marks| world.caps.record(&marks, &world.placement, &self.places));
        let worker = self.worker;
        WorkerResult {
            failure: worker.failure(),
            engine_error: None,
            engine_used: "volume".to_owned(),
            stands_in: false,
            tid: 0,
            started_ns,
            measured_ns: worker.measured_since_ns().unwrap_or(started_ns),
            ended_ns: now_ns,
            last_done_ns: worker.last_done_ns(),
            usage: Usage::default(),
            samples: worker.samples(),
            in_flight_ns: worker.in_flight_ns(),
            kept: worker.kept(),
            latency_target: worker.latency_target(),
            errors: worker.errors_seen().clone(),
            first_ignored_errno: worker.first_ignored_error(),
            bad_blocks: BadBlocks::default(),
            n_unverified: 0,
            verify_state: worker.verify_state(u64::from(number)),
            remarks: Vec::new(),
            caps,
        }
    }
}
