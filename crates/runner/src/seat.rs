//! One worker from the step's side: its thread, how to start and stop it, and what came of it.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::mpsc::Sender;
use std::thread::{JoinHandle, Thread};

use pattern::ContentsSpec;
use units::system_text;
use worker::{FlowGroup, FormatStatus, Meters, SharedWalks, Worker, WorkerSpec};

use crate::amount::AmountShare;
use crate::bind::BoundWorker;
use crate::bytes::Filler;
use crate::claims::Claims;
use crate::context::StepContext;
use crate::footprint;
use crate::journal::WorkerJournal;
use crate::logs::LogSetup;
use crate::prepare::{self, WaitsForOthers};
use crate::process::Surroundings;
use crate::setup_error::{SetupError, caught};
use crate::step_event::StepEvent;
use crate::thread::ThreadContext;
use crate::tree::TreeSeat;
use crate::verify_check::Dumps;
use crate::verify_state;
use crate::worker_event::{Signals, WorkerEvent, WorkerResult};

/// Stack of a worker thread. Its frames are shallow and hold no buffers; thousands of workers must
/// fit into memory.
const STACK_BYTES: usize = 512 << 10;

/// One worker from the step's side.
pub(crate) struct Seat<'a> {
    pub(crate) bound: &'a BoundWorker,
    pub(crate) meters: Arc<Meters>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) thread: Option<JoinHandle<()>>,
    pub(crate) state: SeatState,
    pub(crate) result: Option<Box<WorkerResult>>,
    pub(crate) setup_error: Option<SetupError>,
    /// The tree of files that it works on.
    pub(crate) tree: Option<TreeSeat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeatState {
    /// Builds its engine.
    Building,
    /// Ready, waits for the start or for another job.
    Waiting,
    /// Runs.
    Running,
    /// Has ended or could not start.
    Ended,
}

/// What a worker shares with others.
pub(crate) struct Shared<'a> {
    /// With the workers of the same job, where that does its walks together.
    pub(crate) walks: &'a mut SharedWalks,
    pub(crate) flow: Option<FlowGroup>,
    pub(crate) waits: WaitsForOthers,
    /// Of a job on a tree of files: the tree.
    pub(crate) tree: Option<TreeSeat>,
    pub(crate) amount: Option<AmountShare>,
    pub(crate) claims: Arc<Claims>,
}

impl<'a> Seat<'a> {
    /// Makes a seat whose worker has not been built.
    pub(crate) fn new(bound: &'a BoundWorker) -> Self {
        Seat {
            bound,
            meters: footprint::counting(Meters::of(&bound.job), bound),
            signals: Arc::new(Signals::default()),
            thread: None,
            state: SeatState::Ended,
            result: None,
            setup_error: None,
            tree: None,
        }
    }

    /// Makes the worker count by part and kind of operation, whatever its job. Before it is built.
    pub(crate) fn count_by_series(&mut self) {
        let name = &self.bound.job.name;
        let n_users = Arc::strong_count(&self.meters);
        assert!(n_users == 1, "counters of `{name}` are changed that {} others use", n_users - 1);
        self.meters = footprint::counting(Meters::detailed(&self.bound.job), self.bound);
    }

    /// Builds the worker and starts its thread.
    pub(crate) fn spawn(
        &mut self,
        context: &StepContext<'_>,
        idx: usize,
        shared: Shared<'_>,
        logs: &mut LogSetup,
        events: Sender<StepEvent>,
    ) -> Result<(), SetupError> {
        let is_unused = self.state == SeatState::Ended && self.result.is_none();
        assert!(is_unused && self.thread.is_none(), "a seat has one worker");
        let bound = self.bound;
        let number = context.n_workers_before + idx as u32;
        let volumes = context.volumes.as_ref();
        let volumes = volumes.map(|volumes| volumes.seat(bound, number, Arc::clone(&self.meters)));
        let builder =
            prepare::EngineBuilder::new(bound, context.options, shared.waits, shared.claims)
                .on(volumes);
        let builder = builder.on_tree(shared.tree.clone());
        self.tree.clone_from(&shared.tree);
        let (mut worker, filler) = self.build(context, number, shared.flow, logs)?;
        if bound.job.load.walks_together {
            worker.share_walks(shared.walks);
        }
        if let Some(tree) = &shared.tree {
            worker
                .join_tree(Arc::clone(&tree.shared))
                .map_err(|error| SetupError { errno: libc::EINVAL, message: error.to_string() })?;
        }
        let thread_context = ThreadContext {
            idx,
            worker_number: u64::from(number),
            worker,
            filler,
            clock: context.clock,
            signals: Arc::clone(&self.signals),
            events,
            delay_ns: delay_ns(bound),
            amount: shared.amount,
            journal: context.journal.as_ref().map(|it| WorkerJournal::new(it, bound, number)),
            surroundings: Surroundings {
                job: Arc::clone(&bound.job),
                number,
                target: bound.files.first().map(|file| file.path.clone()),
                output_dir: context.log_dir().to_owned(),
            },
        };
        let thread = std::thread::Builder::new()
            .name(format!("{}.{}", bound.job.name, bound.worker_idx))
            .stack_size(STACK_BYTES)
            .spawn(move || run_guarded(thread_context, builder))
            .map_err(|error| SetupError {
                errno: error.raw_os_error().unwrap_or(libc::EAGAIN),
                message: format!(
                    "cannot start a thread: {}; lower `numjobs` or raise `ulimit -u`",
                    system_text(&error)
                ),
            })?;
        self.thread = Some(thread);
        self.state = SeatState::Building;
        Ok(())
    }

    /// Builds the worker and what fills and checks its buffers.
    pub(crate) fn build(
        &self,
        context: &StepContext<'_>,
        number: u32,
        flow: Option<FlowGroup>,
        logs: &mut LogSetup,
    ) -> Result<(Worker, Filler), SetupError> {
        let bound = self.bound;
        let job = &bound.job;
        let refused = |message: String| SetupError { errno: libc::EINVAL, message };
        let state = if verify_state::is_wanted(job) {
            let loaded = verify_state::load(context.aux_dir(), &job.name, u64::from(number));
            Some(loaded.map_err(|e| SetupError { errno: e.errno(), message: e.to_string() })?)
        } else {
            None
        };
        let seed = state.as_ref().map_or(bound.seed, |state| state.seed);
        let spec = WorkerSpec {
            job: Arc::clone(job),
            worker_idx: bound.worker_idx,
            seed,
            files: bound.files.iter().map(|file| file.region).collect(),
            amount_bytes: bound.amount_bytes,
            batch_max: prepare::batch_max(job),
        };
        let mut worker = Worker::new(&spec, Arc::clone(&self.meters))
            .map_err(|error| refused(error.to_string()))?;
        worker.share_errors(context.errors.clone());
        if let Some(flow) = flow {
            worker.join_flow(flow);
        }
        if let Some(state) = state {
            worker.restrict_to(state);
        }
        // Millions of names, where nothing asks for them, would be copied for nothing.
        let names_targets = job.verify.method.is_some() || job.logs.write_replay.is_some();
        let named = bound.files.iter().filter(|_| names_targets);
        let targets: Vec<_> = named.map(|file| file.path.clone()).collect();
        if let Some(log) = logs.add(job, number + 1, &self.meters, &targets)? {
            worker.log_to(log);
        }
        let contents = ContentsSpec {
            block_bytes: job.block_size_min(),
            region_bytes: match &self.tree {
                Some(tree) if job.buffers.dedupe_sets.is_some() => {
                    tree.shared.state().tree().total_bytes()
                }
                _ => bound.files.iter().map(|file| file.region.len_bytes).sum(),
            },
            worker_seed: seed,
            job_seed: job.workload.seed,
            is_direct: job.files.direct,
        };
        let worker_number = bound.worker_idx as u16;
        let dumps =
            Dumps { dir: context.aux_dir().to_owned(), replaces: !context.options.read_only };
        let filler = Filler::new(job, contents, worker_number, targets, dumps)
            .map_err(|error| refused(error.to_string()))?;
        Ok((worker, filler))
    }

    /// Returns the name of its job, and what its worker counts.
    pub(crate) fn counters(&self) -> (&str, &Arc<Meters>) {
        (&self.bound.job.name, &self.meters)
    }

    fn handle(&self) -> Option<&Thread> {
        self.thread.as_ref().map(JoinHandle::thread)
    }

    pub(crate) fn go(&mut self) {
        assert!(self.state == SeatState::Waiting, "a worker goes once, when it is ready");
        self.signals.go.store(true, Release);
        self.state = SeatState::Running;
        if let Some(thread) = self.handle() {
            thread.unpark();
        }
    }

    pub(crate) fn stop(&self) {
        self.signals.stop.store(true, Relaxed);
        if let Some(thread) = self.handle() {
            thread.unpark();
        }
    }

    /// Returns whether the worker failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.setup_error.is_some()
            || self
                .result
                .as_ref()
                .is_some_and(|result| result.failure.is_some() || result.engine_error.is_some())
    }

    /// Returns the bytes that are done, and those to be done in all.
    fn bytes_progress(&self) -> (u64, u64) {
        let done = self.meters.dirs.iter().map(|dir| dir.bytes_live.load(Relaxed)).sum();
        let job = &self.bound.job;
        let amount_bytes = job.load.share.of(self.bound.amount_bytes);
        (done, amount_bytes.saturating_mul(u64::from(job.limits.loops)))
    }

    /// Returns how far the format is that the worker takes part in.
    pub(crate) fn format_status(&self) -> Option<FormatStatus> {
        self.tree.as_ref()?.shared.format_status()
    }

    /// Extrapolates from what is done.
    pub(crate) fn left_by_amount(&self, elapsed_ns: u64) -> Option<u64> {
        let (done, total) = match self.format_status() {
            // Once files are written, what is left to write says more than their number.
            Some(format) if format.bytes.0 > 0 && format.bytes.0 < format.bytes.1 => format.bytes,
            Some(format) => format.entries,
            None => self.bytes_progress(),
        };
        if done == 0 {
            return None;
        }
        let left =
            u128::from(elapsed_ns) * u128::from(total.saturating_sub(done)) / u128::from(done);
        u64::try_from(left).ok()
    }
}

/// Runs a worker. Whatever becomes of it, the step gets a last event from the thread.
fn run_guarded(context: ThreadContext, builder: prepare::EngineBuilder) {
    let (idx, events) = (context.idx, context.events.clone());
    let last = caught(|| context.run(builder))
        .unwrap_or_else(|message| WorkerEvent::Panicked { idx, message });
    // The step outlives its threads; if it is gone, no receiver is left.
    let _gone = events.send(StepEvent::Worker(last));
}

/// Draws the start delay of a worker between the job's two bounds.
pub(crate) fn delay_ns(bound: &BoundWorker) -> u64 {
    let (min, max) = bound.job.limits.start_delay_ns;
    if max <= min {
        return min;
    }
    let mut rng = pattern::Rng::for_stream(bound.seed, pattern::Stream::Worker, 1);
    min + rng.bounded(max - min + 1)
}
