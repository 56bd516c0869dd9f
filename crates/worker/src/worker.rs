//! The state machine: phases of a worker, and when it asks for what.
//!
//! Issue lives in `issue.rs`, completion in `complete.rs` of the folder beside: all methods of
//! [`Worker`] do.

mod asks;
mod complete;
mod issue;
mod swap;
mod tree;
mod verify;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plan::op::{FileIdx, Op, OpKind};
use plan::{Direction, EngineWork, Job};

use crate::chosen::{ChosenOp, Filled};
use crate::data::Data;
use crate::errors::{EIO, ETIMEDOUT, ErrorBudget, ErrorsSeen, Failure, FailureKind, IoError};
use crate::flow::FlowGroup;
use crate::gate::Gate;
use crate::keeping::{Faults, Lateness, Passes, Tally, Times, Waiting, Writes};
use crate::latency_target::{DepthSearch, Trial};
use crate::log::LogSender;
use crate::meters::Meters;
use crate::occupancy::{ArrivalCounts, Occupancy};
use crate::pace::Pace;
use crate::paths::{Complete, Paths};
use crate::raising::Raising;
use crate::series::add;
use crate::series::series_of_io;
use crate::slots::Slots;
use crate::source::Source;
use crate::spec::WorkerSpec;
use crate::together::SharedWalks;
use crate::touched::Touched;
use crate::tree::{Stuck, TreeWorker};
use crate::verifying::Verifying;

pub use swap::Swap;

/// What the driver of a worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Hand over the operations, wait until `min` have completed, at most until `until_ns`.
    ///
    /// With `min` 0 and no time: only look for completions. With nothing in flight and a time: wait
    /// until then.
    Exchange {
        /// Completions to wait for.
        min: u32,
        /// Latest return; `None` sets no limit.
        until_ns: Option<u64>,
    },
    /// Remove the files, then call again: a pass has ended and the next one makes them anew
    /// (`unlink_each_loop`). Nothing is in flight.
    RemoveFiles,
    /// Write back what the page cache holds of the files and drop it, then call again: what was
    /// written is read back from the target. Nothing is in flight.
    DropCache,
    /// The worker has ended; nothing is in flight.
    Done,
}

/// What a worker is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not started.
    New,
    /// The workload.
    Io,
    /// Everything is issued: waits for completions, then issues the syncs that end a pass.
    EndOfPass,
    /// Reads back what was written.
    Verify,
    /// Ended.
    Done,
}

/// One worker. Times are nanoseconds on the driver's clock.
pub struct Worker {
    pub(crate) job: Arc<Job>,
    pub(crate) seed: u64,
    pub(crate) meters: Arc<Meters>,
    pub(crate) phase: Phase,
    pub(crate) stopping: bool,
    // What comes next, and when.
    pub(crate) source: Source,
    pub(crate) gate: Gate,
    pub(crate) flow: Option<FlowGroup>,
    pub(crate) search: Option<DepthSearch>,
    pub(crate) verifying: Verifying,
    /// Of a job on a tree of files: what the worker does there.
    pub(crate) tree: Option<Box<TreeWorker>>,
    pub(crate) raising: Option<Raising>,
    /// Which way operations take, from the start on.
    pub(crate) paths: Paths,
    /// Tests compare ways that a job may take with those that it does take.
    #[cfg(test)]
    pub(crate) choose_paths: fn(&crate::paths::JobFeatures) -> Paths,
    // The queue.
    pub(crate) slots: Slots,
    pub(crate) waiting: Waiting,
    pub(crate) pace: Pace,
    /// The queue is being refilled (see `queue_depth_low`).
    pub(crate) refilling: bool,
    /// The batch at hand is full, and there is room for more.
    pub(crate) goes_on_at_once: bool,
    /// There is room for more than the batch that was chosen last.
    pub(crate) goes_on_filling: bool,
    pub(crate) n_issued: u64,
    // What has come of it.
    pub(crate) times: Times,
    pub(crate) passes: Passes,
    pub(crate) writes: Writes,
    pub(crate) tally: Tally,
    pub(crate) log: Option<LogSender>,
    /// What was in flight, up to when completions were last seen or operations chosen.
    pub(crate) occupancy: Occupancy,
    pub(crate) late: Lateness,
    pub(crate) faults: Faults,
}

impl Worker {
    /// Makes a worker that has not started.
    ///
    /// # Errors
    /// When the job's sizes and regions do not fit together.
    ///
    /// # Panics
    /// If nothing may be handed over at once, a region has no end within 64 bits, or the meters
    /// count the blocks of other files.
    pub fn new(spec: &WorkerSpec, meters: Arc<Meters>) -> Result<Self, pattern::PatternError> {
        spec.check();
        let n_files = spec.files.len();
        let n_counted = meters.touched().map_or(n_files, Touched::n_files);
        assert_eq!(n_counted, n_files, "blocks of {n_counted} files are counted, of {n_files}");
        let job = Arc::clone(&spec.job);
        let depth = job.load.queue_depth.max(1);
        Ok(Worker {
            seed: spec.seed,
            phase: Phase::New,
            stopping: false,
            source: Source::new(spec)?,
            gate: Gate::new(&job, spec.worker_idx, spec.seed)?,
            flow: None,
            search: job.load.latency_target.map(|target| DepthSearch::new(target, depth)),
            verifying: Verifying::new(&job, spec.seed),
            tree: None,
            raising: Raising::new(&job, spec.seed),
            paths: Paths::BEFORE,
            #[cfg(test)]
            choose_paths: Paths::of,
            slots: Slots::new(depth),
            waiting: Waiting::new(depth, n_files),
            pace: Pace::new(depth, job.load.submit_batch, spec.batch_max),
            refilling: true,
            goes_on_at_once: false,
            goes_on_filling: false,
            n_issued: 0,
            times: Times::new(),
            passes: Passes::new(job.limits.loops),
            writes: Writes::default(),
            tally: Tally::new(&job, &meters),
            log: None,
            occupancy: Occupancy::default(),
            late: Lateness::default(),
            faults: Faults::new(&job),
            job,
            meters,
        })
    }

    /// What a worker is given, it has before it starts: the way its operations take follows from
    /// it.
    #[track_caller]
    pub(crate) fn must_be_new(&self, what: &str) {
        assert!(self.phase == Phase::New, "{what} before the worker starts");
    }

    /// Makes the worker a member of a flow. Before the start.
    ///
    /// # Panics
    /// If it has started, or is in a flow.
    pub fn join_flow(&mut self, flow: FlowGroup) {
        self.must_be_new("a flow is joined");
        assert!(self.flow.is_none(), "a worker is in one flow");
        self.flow = Some(flow);
    }

    /// Lets the worker do its walks together with those that were given the same `walks`: the
    /// workers that a job was divided among ([`plan::load::Load::walks_together`]). Before the
    /// start.
    ///
    /// # Panics
    /// If the worker has started, or is not of the same job as the others, or its job was not
    /// divided.
    pub fn share_walks(&mut self, walks: &mut SharedWalks) {
        self.must_be_new("a walk is shared");
        let Job { name, load, .. } = self.job.as_ref();
        assert!(load.walks_together, "workers of `{name}` walk together, which was not divided");
        walks.give_to(&mut self.source);
    }

    /// Makes the worker add its errors to a count that it shares with others. Before the start.
    ///
    /// # Panics
    /// If it has started.
    pub fn share_errors(&mut self, budget: ErrorBudget) {
        self.must_be_new("errors are shared");
        self.faults.budget = budget;
    }

    /// Returns the failed operations since they were last taken, for whoever drives the worker to
    /// take; at most 64 are kept. Only of jobs with a limit to their errors.
    #[inline]
    pub fn io_errors(&mut self) -> &mut Vec<IoError> {
        &mut self.faults.io_errors
    }

    /// Gives the worker a log. Before the start.
    ///
    /// # Panics
    /// If it has started, or has a log.
    pub fn log_to(&mut self, log: LogSender) {
        self.must_be_new("a log is given");
        assert!(self.log.is_none(), "a worker has one log");
        self.log = Some(log);
    }

    /// Lets completions gather instead of adding them to the meters after each batch. Before the
    /// start, by a driver that calls [`Worker::publish`] before the meters are read: where
    /// every batch is one operation, adding them costs as much as all else that a worker does.
    ///
    /// # Panics
    /// If it has started.
    pub fn defer_meters(&mut self) {
        self.gather_meters(u64::MAX);
    }

    /// Does the same for no longer than `gathers_ns` while operations complete: readers see the end
    /// of an interval shifted by as much, and by the operation in flight where that takes long; and
    /// every count in the end. Before the start. Who lets
    /// the worker wait for anything else than completions calls [`Worker::publish`] first.
    ///
    /// # Panics
    /// If it has started.
    pub fn gather_meters(&mut self, gathers_ns: u64) {
        self.must_be_new("meters are put off");
        self.tally.gathers_ns = gathers_ns;
    }

    /// Ends the worker: nothing more is issued, what is in flight completes.
    pub fn stop(&mut self) {
        if !self.stopping {
            self.times.stopped_ns = self.occupancy.seen_ns;
        }
        self.stopping = true;
    }

    /// Returns what the worker is busy with.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the first failure, if any.
    pub fn failure(&self) -> Option<Failure> {
        self.faults.failure
    }

    /// Returns why work on a tree had nothing to do from the start, where that is no failure.
    pub fn nothing_left(&self) -> Option<Stuck> {
        self.faults.nothing_left
    }

    /// Fails the worker from outside, as when its engine cannot go on.
    pub fn fail(&mut self, failure: Failure) {
        self.faults.failure.get_or_insert(failure);
        self.stopping = true;
    }

    /// Ends the worker without another decision, as after [`Worker::fail`] if its engine can do
    /// nothing more: the time up to now counts, with what was done in it.
    ///
    /// # Panics
    /// If it has ended, or `now_ns` is before the start of its phase.
    pub fn abandon(&mut self, now_ns: u64) {
        assert!(self.phase != Phase::Done, "a worker ends once");
        self.stopping = true;
        self.end_phase_time(now_ns);
        self.phase = self.finish(now_ns);
    }

    /// Returns failed operations by direction and error number.
    pub fn errors_seen(&self) -> &ErrorsSeen {
        &self.faults.seen
    }

    /// Returns the error number of the first error that did not end the job.
    pub fn first_ignored_error(&self) -> Option<i32> {
        self.faults.first_ignored
    }

    /// Returns until when waiting must spin instead of sleep (`thinktime_spin`); a time that has
    /// passed when it need not.
    pub fn spin_until_ns(&self) -> u64 {
        self.gate.spin_until_ns()
    }

    /// Returns the most operations that can be in flight.
    pub fn queue_depth(&self) -> usize {
        self.slots.len()
    }

    /// Returns the operations in flight.
    pub fn n_in_flight(&self) -> usize {
        self.slots.n_in_flight()
    }

    /// Returns the start of the measured time, or `None` while the ramp lasts.
    pub fn measured_since_ns(&self) -> Option<u64> {
        (self.phase != Phase::New && self.times.measured_ns != u64::MAX)
            .then_some(self.times.measured_ns)
    }

    /// Returns when the last operation completed; the start where none has.
    pub fn last_done_ns(&self) -> u64 {
        self.times.last_done_ns
    }

    /// Returns bandwidth (KiB/s) and IOPS samples per direction.
    pub fn samples(&self) -> [[hist::Stats; 3]; 2] {
        [self.tally.samplers[0].stats, self.tally.samplers[1].stats]
    }

    /// Returns the state of the search for a depth, if the job asks for one: the target, the
    /// deepest queue that kept it, and whether any did.
    pub fn latency_target(&self) -> Option<(plan::load::LatencyTarget, u32)> {
        self.search.as_ref().map(|search| (search.target(), search.found_depth()))
    }

    /// Returns the mean number of operations in flight over the measured time, from their choice to
    /// their completion; `None` while a ramp lasts.
    pub fn in_flight_mean(&self) -> Option<f64> {
        self.occupancy.mean()
    }

    /// Returns what [`Worker::in_flight_mean`] is the mean of: operations in flight times
    /// nanoseconds.
    pub fn in_flight_ns(&self) -> Option<u64> {
        self.occupancy.sum_ns()
    }

    /// Returns how an open load was kept up with; complete when the worker has ended.
    pub fn kept(&self) -> ArrivalCounts {
        self.late.kept
    }

    /// Returns how many operations are due at `at_ns` and not chosen.
    fn backlog(&self, at_ns: u64) -> u64 {
        let len = self.tally.bytes_done.checked_div(self.n_issued).unwrap_or(0) as u32;
        self.gate.backlog(at_ns, len.max(1)) + self.source.backlog(at_ns)
    }

    /// Returns the number of writes issued.
    pub fn n_writes(&self) -> u64 {
        self.writes.n
    }

    /// Returns where the next operation will probably be, if that is known already: the file and
    /// the offset.
    #[inline]
    pub fn peek(&self) -> Option<(FileIdx, u64)> {
        self.source.peek().map(|offset| (FileIdx(0), offset))
    }

    /// Notes for the worker that the call which follows waits for nothing: completions are at hand.
    #[inline]
    pub fn waits_for_nothing(&mut self) {
        self.goes_on_at_once = true;
    }

    /// Notes for the worker when the operations of the last [`Worker::next`] were handed over.
    #[inline]
    pub fn submitted(&mut self, at_ns: u64, ops: &[Op]) {
        assert!(ops.len() <= self.slots.n_in_flight(), "what goes over has a slot each");
        for op in ops {
            self.slots.get_mut(op.slot).submit_ns = at_ns;
        }
        if self.goes_on_at_once {
            self.goes_on_at_once = false;
            if !ops.is_empty() {
                self.pace.hands_over(at_ns);
            }
        }
    }

    /// Decides what to do at `now_ns`. `ops` is cleared, then filled with what to hand over.
    #[inline]
    pub fn next<D: Data>(&mut self, now_ns: u64, ops: &mut Vec<Op>, data: &mut D) -> Decision {
        ops.clear();
        if self.phase == Phase::New {
            self.start(now_ns);
        }
        if now_ns != self.occupancy.seen_ns {
            self.occupancy.pass(now_ns, self.slots.n_in_flight());
        }
        self.tick(now_ns);
        if std::mem::take(&mut self.passes.resumes) {
            self.times.phase_since_ns = now_ns;
        }
        loop {
            if std::mem::take(&mut self.passes.removes_files) {
                return Decision::RemoveFiles;
            }
            if std::mem::take(&mut self.passes.drops_cache) {
                self.passes.resumes = true;
                return Decision::DropCache;
            }
            let filled = match self.phase {
                Phase::New | Phase::Done => return Decision::Done,
                _ if self.stopping => {
                    while let Some(slot_idx) = self.waiting.retries.pop() {
                        self.slots.release(slot_idx);
                    }
                    Filled::EndOfPhase
                }
                Phase::Io => self.fill(now_ns, ops, data),
                Phase::EndOfPass => self.fill_queued(now_ns, ops, data),
                Phase::Verify => self.fill_verify(now_ns, ops, data),
            };
            match filled {
                Filled::EndOfPhase if ops.is_empty() && self.slots.is_idle() => {
                    if self.verifying.is_late() {
                        self.collect_late(data, true);
                    }
                    self.advance_phase(now_ns);
                }
                filled => {
                    self.goes_on_filling = filled == Filled::BatchFull;
                    if let Some(raising) = &mut self.raising {
                        let slots = &mut self.slots;
                        raising.raise(ops, |slot, own| slots.get_mut(slot).op.priority = own);
                    }
                    if let Some(touched) = self.meters.touched() {
                        touched.note(ops);
                    }
                    return self.exchange(filled, ops.len());
                }
            }
        }
    }

    /// Turns the reason why filling stopped into how long to wait.
    #[inline]
    fn exchange(&self, filled: Filled, n_ops: usize) -> Decision {
        let n_in_flight = self.slots.n_in_flight() as u32;
        match filled {
            Filled::BatchFull => Decision::Exchange { min: 0, until_ns: None },
            Filled::QueueFull => Decision::Exchange { min: self.await_min(), until_ns: None },
            Filled::Until(until_ns) => {
                let until_ns = Some(until_ns.min(self.times.end_ns));
                Decision::Exchange { min: u32::from(n_in_flight > 0), until_ns }
            }
            // What is awaited together is seen together, at the time of the last: to wait for all
            // would give the first of them the last one's latency.
            Filled::Drain | Filled::EndOfPhase => {
                let is_drain = matches!(filled, Filled::Drain);
                debug_assert!(is_drain || n_in_flight > 0 || n_ops > 0, "an idle end advances");
                let min = self.pace.reap_min().min(n_in_flight);
                Decision::Exchange { min, until_ns: None }
            }
        }
    }

    /// Returns how many completions to wait for when the queue is full.
    #[inline]
    pub(crate) fn await_min(&self) -> u32 {
        let load = &self.job.load;
        let at_least = load.complete_min.unwrap_or(self.pace.reap_min());
        at_least.min(self.complete_max()).min(self.slots.n_in_flight() as u32)
    }

    /// Returns the most completions to take before the next operations are issued; `u32::MAX` for
    /// all there are. It is the job's `complete_max`, else its `submit_batch`, so that the queue is
    /// full at each hand-over. Such a job fills the queue before it takes any, as fio does: none
    /// while there is room for another batch. Without both, and with nothing but the depth to hold
    /// an operation back, it is as many as are handed over at once. Where the worker checks what
    /// it reads it is an eighth of the depth, or the queue would run empty meanwhile. The driver of
    /// the worker keeps the others for later.
    #[inline]
    pub fn complete_max(&self) -> u32 {
        if self.goes_on_filling && self.paths.fills_first {
            return 0;
        }
        let load = &self.job.load;
        let max = match (load.complete_max, load.submit_batch) {
            (Some(0), _) | (None, Some(0)) => u32::MAX,
            (Some(n), _) | (None, Some(n)) => n,
            (None, None) if self.verifying.checks_at_once() => (self.depth() / 8).max(1),
            (None, None) if self.paths.is_by_depth => self.pace.complete_max(),
            (None, None) => u32::MAX,
        };
        match load.queue_depth_low {
            // It falls to that depth, and no further.
            Some(low) if load.complete_min.is_none() && load.complete_max.is_none() => {
                max.min((self.slots.n_in_flight() as u32).saturating_sub(low).max(1))
            }
            Some(_) | None => max,
        }
    }

    fn chosen_paths(&self) -> Paths {
        #[cfg(test)]
        return (self.choose_paths)(&self.asks());
        #[cfg(not(test))]
        Paths::of(&self.asks())
    }

    /// Returns the depth to keep now.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        match &self.search {
            Some(search) => search.depth(),
            None => self.job.load.queue_depth.max(1),
        }
    }

    fn start(&mut self, now_ns: u64) {
        let Job { name, tree, .. } = self.job.as_ref();
        let has_tree = self.tree.is_some() || tree.is_none();
        assert!(has_tree, "a worker of `{name}` starts without its tree");
        let limits = &self.job.limits;
        self.times.start_ns = now_ns;
        let ramp_end = now_ns.saturating_add(limits.ramp_ns);
        self.times.measured_ns = if limits.ramp_bytes > 0 { u64::MAX } else { ramp_end };
        if let Some(runtime_ns) = limits.runtime_ns {
            self.times.end_ns = ramp_end.saturating_add(runtime_ns);
        }
        self.times.last_done_ns = now_ns;
        self.occupancy.seen_ns = now_ns;
        self.paths = self.chosen_paths();
        if self.paths.complete == Complete::FileIo {
            self.tally.series_of_dir = series_of_io();
        }
        self.gate.start(now_ns);
        self.late.counts_delay = self.job.load.rate_periods.is_some();
        self.begin_measuring(self.times.measured_ns);
        self.phase = Phase::Io;
        self.times.phase_since_ns = now_ns;
        if let Some(search) = &mut self.search {
            search.start(ramp_end);
        }
    }

    fn begin_measuring(&mut self, at_ns: u64) {
        self.meters.measured_since_ns.store(at_ns, Relaxed);
        for sampler in &mut self.tally.samplers {
            sampler.start(at_ns);
        }
        if let Some(check) = &mut self.tally.rate_check {
            check.since_ns = at_ns;
        }
    }

    /// Takes samples and checks limits, where that is due. Once per batch.
    #[inline]
    fn tick(&mut self, now_ns: u64) {
        if now_ns >= self.times.quiet_until_ns {
            self.check_limits(now_ns);
        }
    }

    /// Takes samples and checks limits. Notes when that is due next.
    #[cold]
    fn check_limits(&mut self, now_ns: u64) {
        if now_ns >= self.times.end_ns {
            self.stopping = true;
        }
        if now_ns < self.times.measured_ns {
            self.end_ramp_by_bytes(now_ns);
            return;
        }
        if self.occupancy.begin() {
            self.late.kept.backlog_start = self.backlog(now_ns);
        }
        self.publish();
        for sampler in &mut self.tally.samplers {
            sampler.tick(now_ns, &self.meters);
        }
        match self.search.as_mut().map(|search| search.tick(now_ns)) {
            None | Some(Trial::Running) => {}
            Some(Trial::Found) => self.stopping = true,
            Some(Trial::Missed) => {
                let kind = FailureKind::LatencyAboveMaximum;
                self.fail(Failure { kind, errno: ETIMEDOUT, op: None });
            }
        }
        if self.tally.rate_check.is_some() {
            self.check_rate(now_ns);
        }
        let looks_always =
            self.search.is_some() || self.tally.rate_check.is_some() || self.stopping;
        let [bandwidth, iops] = &self.tally.samplers;
        let next_ns = self.times.end_ns.min(bandwidth.due_ns()).min(iops.due_ns());
        self.times.quiet_until_ns = if looks_always { 0 } else { next_ns };
    }

    fn end_ramp_by_bytes(&mut self, now_ns: u64) {
        let ramp_bytes = self.job.limits.ramp_bytes;
        let ramp_end = self.times.start_ns.saturating_add(self.job.limits.ramp_ns);
        if ramp_bytes > 0 && self.tally.bytes_done >= ramp_bytes && now_ns >= ramp_end {
            self.times.measured_ns = now_ns;
            self.begin_measuring(now_ns);
            if let Some(runtime_ns) = self.job.limits.runtime_ns {
                self.times.end_ns = now_ns.saturating_add(runtime_ns);
            }
        }
    }

    #[cold]
    fn check_rate(&mut self, now_ns: u64) {
        let Some(check) = &mut self.tally.rate_check else { return };
        let passed_ns = now_ns.saturating_sub(check.since_ns);
        if passed_ns < self.job.load.rate_cycle_ns.max(1) || self.phase != Phase::Io {
            return;
        }
        check.since_ns = now_ns;
        let mut failed = false;
        for dir in Direction::ALL {
            let meters = self.meters.dir(dir);
            let now = (meters.n_ios.load(Relaxed), meters.bytes.load(Relaxed));
            let before = std::mem::replace(&mut check.seen[dir as usize], now);
            if now.1 == 0 {
                // As fio: a direction that never moved a byte is not judged.
                continue;
            }
            let (delta, minimum) = match self.job.load.rate_min[dir] {
                Some(plan::load::Rate::Iops(n)) => (now.0 - before.0, n),
                Some(plan::load::Rate::Bytes(n)) => (now.1 - before.1, n),
                None => continue,
            };
            let per_second = u128::from(delta) * 1_000_000_000 / u128::from(passed_ns);
            failed |= per_second < u128::from(minimum);
        }
        if failed {
            let kind = FailureKind::RateBelowMinimum;
            self.fail(Failure { kind, errno: EIO, op: None });
        }
    }

    /// Everything of the phase has completed: goes on to the next one.
    fn advance_phase(&mut self, now_ns: u64) {
        let is_all_over = self.waiting.retries.is_empty();
        assert!(is_all_over, "the rests of short transfers have gone over");
        self.slots.must_be_idle();
        self.end_phase_time(now_ns);
        let ended = self.phase;
        self.phase = match ended {
            _ if self.stopping => self.finish(now_ns),
            Phase::Io => self.end_pass(),
            Phase::EndOfPass if self.verifying.has_work() => Phase::Verify,
            Phase::New | Phase::EndOfPass | Phase::Verify | Phase::Done => self.next_pass(now_ns),
        };
        if self.phase == Phase::Done {
            self.slots.must_be_whole();
        }
        self.times.phase_since_ns = now_ns;
        self.passes.drops_cache = self.phase == Phase::Verify && self.reads_past_cache();
    }

    /// Returns whether what was written is read back from the target and not from the page cache.
    fn reads_past_cache(&self) -> bool {
        let files = &self.job.files;
        let is_cached = self.job.engine.kind.traits().work == EngineWork::Bytes && !files.direct;
        is_cached && files.invalidate && self.tree.is_none() && !self.verifying.is_dry_run()
    }

    /// Adds the time of the phase to the directions that were busy in it.
    fn end_phase_time(&mut self, now_ns: u64) {
        let begun_ns = self.times.phase_since_ns;
        assert!(now_ns >= begun_ns, "a phase that began at {begun_ns} ns ends at {now_ns} ns");
        self.publish();
        let since_ns = begun_ns.max(self.times.measured_ns.min(now_ns));
        // A phase that was cut short lasted until then, even if nothing completed at its end: two
        // operations in three seconds are 0.7 per second, also where the second came after one.
        let cut_ns = if self.stopping { now_ns.min(self.times.end_ns) } else { 0 };
        let passed_ns = self.times.last_done_ns.max(cut_ns).saturating_sub(since_ns);
        for dir in Direction::ALL {
            let busy = match self.phase {
                Phase::Io => self.meters.dir(dir).n_ios.load(Relaxed) > 0,
                Phase::Verify => dir == Direction::Read,
                Phase::New | Phase::EndOfPass | Phase::Done => false,
            };
            if busy {
                add(&self.meters.dir(dir).runtime_ns, passed_ns);
            }
        }
    }

    /// The region is done: queues the syncs that end a pass.
    fn end_pass(&mut self) -> Phase {
        let is_dry_run = self.verifying.is_dry_run();
        if is_dry_run && self.passes.n_left > 1 && !self.verifying.is_exhausted() {
            // What an earlier run wrote in all its passes is read back once.
            self.passes.n_left -= 1;
            self.source.restart();
            return Phase::Io;
        }
        if self.job.durability.end_fsync && self.job.access().write && !is_dry_run {
            for file_idx in 0..self.source.n_files() {
                self.waiting.queued.push(ChosenOp::sync(OpKind::Fsync, file_idx));
            }
        }
        Phase::EndOfPass
    }

    /// Starts over, or ends when all passes are done.
    fn next_pass(&mut self, now_ns: u64) -> Phase {
        // What is done in a tree is done: there is no second pass over it.
        if self.verifying.is_exhausted() || self.source.is_over() || self.tree.is_some() {
            return self.finish(now_ns);
        }
        let again_by_time = self.job.limits.time_based && self.times.end_ns != u64::MAX;
        if !again_by_time {
            assert!(self.passes.n_left > 0, "a worker ends with its last pass");
            self.passes.n_left -= 1;
            if self.passes.n_left == 0 {
                return self.finish(now_ns);
            }
        }
        self.source.restart();
        self.verifying.clear();
        self.passes.removes_files = self.job.files.unlink_each_loop;
        Phase::Io
    }

    fn finish(&mut self, now_ns: u64) -> Phase {
        self.leave_tree();
        if let Some(flow) = &self.flow {
            flow.end();
        }
        let end_ns = now_ns.min(self.times.end_ns).min(self.times.stopped_ns);
        if self.stopping {
            // One that ends by itself has nothing left to do, whatever the schedule says.
            self.late.kept.backlog_end = self.backlog(end_ns);
        }
        self.occupancy.end(if self.stopping { end_ns } else { self.times.last_done_ns });
        let at_ns = now_ns.saturating_sub(self.times.measured_ns);
        if let Some(log) = &mut self.log {
            log.finish(at_ns);
        }
        Phase::Done
    }

    pub(crate) fn mark_done(&mut self, now_ns: u64) {
        self.times.last_done_ns = now_ns;
    }
}
