//! One worker on one thread: builds its engine, waits for the start, drives it to its end.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::mpsc::Sender;

use engine::{Engine, EngineError, Usage, Wait};
use worker::{Data, Decision, Failure, FailureKind, NoData, Worker};

use crate::after;
use crate::amount::AmountShare;
use crate::bytes::{Bytes, Filler};
use crate::clock::{Clock, sharpen_timers};
use crate::error_dump::ErrorDump;
use crate::journal::{Journaled, WorkerJournal};
use crate::portions::Portions;
use crate::prepare::EngineBuilder;
use crate::process::Surroundings;
use crate::setup_error::SetupError;
use crate::step_event::StepEvent;
use crate::verify_check::BadBlocks;
use crate::worker_event::{Signals, WorkerEvent, WorkerResult};

/// How long a worker with one operation at a time lets what has completed gather before it adds it
/// to its meters: with operations of a microsecond, adding each by itself took a fifth of its time.
/// Short against the shortest interval of a log, a millisecond.
const GATHER_NS: u64 = 50_000;

/// Everything a worker thread owns.
pub(crate) struct ThreadContext {
    pub(crate) idx: usize,
    /// Position among all workers of the run.
    pub(crate) worker_number: u64,
    pub(crate) worker: Worker,
    pub(crate) filler: Filler,
    pub(crate) clock: Clock,
    pub(crate) signals: Arc<Signals>,
    pub(crate) events: Sender<StepEvent>,
    pub(crate) delay_ns: u64,
    pub(crate) surroundings: Surroundings,
    /// What all workers of the step may move together.
    pub(crate) amount: Option<AmountShare>,
    /// Where it writes down what it writes, if it does.
    pub(crate) journal: Option<WorkerJournal>,
}

impl ThreadContext {
    /// Runs the worker on the calling thread, with the engine that `builder` makes. Returns the
    /// last event of the worker.
    pub(crate) fn run(mut self, builder: EngineBuilder) -> WorkerEvent {
        sharpen_timers();
        let waits = self.delay_ns > 0 || self.surroundings.job.wait_for.is_some();
        let device_check = waits.then(|| builder.device_check());
        let surroundings = self.surroundings.apply(&self.signals).map_err(SetupError::from);
        let prepared = surroundings.and_then(|locked| {
            let engine = builder.build(&self.signals.stop)?;
            Ok((locked, bind_to_thread(engine).map_err(|error| SetupError::from(&error))?))
        });
        let (_locked_memory, mut engine) = match prepared {
            Ok((locked, engine)) => (locked, self.watch_errors(self.validated(engine))),
            Err(error) => {
                return WorkerEvent::Ready { idx: self.idx, error: Some(error) };
            }
        };
        self.filler.fill_all(engine.as_mut());
        self.await_start();
        wait_until(self.clock, &self.signals, self.clock.now_ns() + self.delay_ns);
        let usage = Usage::of_thread();
        let started_ns = self.clock.now_ns();
        if self.worker.queue_depth() == 1 && self.amount.is_none() {
            self.worker.gather_meters(GATHER_NS);
        }
        let mut context = DriveContext {
            amount: self.amount.take(),
            clock: self.clock,
            signals: Arc::clone(&self.signals),
            events: self.events.clone(),
            idx: self.idx,
        };
        let checked = device_check.map_or(Ok(()), |device_check| device_check.check());
        let engine_error = checked.and_then(|()| self.drive(&mut context, engine.as_mut())).err();
        let ended_ns = self.clock.now_ns();
        let mut usage = Usage::of_thread().since(usage);
        usage += engine.end_threads();
        let mut result = WorkerResult {
            failure: self.worker.failure(),
            engine_error,
            engine_used: engine.name().to_owned(),
            stands_in: engine.stands_in(),
            tid: rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs(),
            started_ns,
            measured_ns: self.worker.measured_since_ns().unwrap_or(started_ns),
            ended_ns,
            last_done_ns: self.worker.last_done_ns(),
            usage,
            samples: self.worker.samples(),
            in_flight_ns: self.worker.in_flight_ns(),
            kept: self.worker.kept(),
            latency_target: self.worker.latency_target(),
            errors: self.worker.errors_seen().clone(),
            first_ignored_errno: self.worker.first_ignored_error(),
            bad_blocks: self.bad_blocks(),
            n_unverified: self.worker.n_unverified(),
            verify_state: self.worker.verify_state(self.worker_number),
            remarks: Vec::new(),
            caps: None,
        };
        let failed = result.failure.is_some() || result.engine_error.is_some();
        let (error, remarks) =
            after::finish(&self.surroundings, engine.as_mut(), failed, &self.signals);
        result.engine_error = result.engine_error.or(error);
        result.remarks = remarks;
        result.remarks.extend(self.nothing_left());
        WorkerEvent::Ended { idx: self.idx, result: Box::new(result) }
    }

    /// Drives the worker to its end.
    fn drive(
        &mut self,
        context: &mut DriveContext,
        engine: &mut dyn Engine,
    ) -> Result<(), EngineError> {
        if self.filler.is_needed() {
            drive(&mut self.worker, context, engine, &mut self.filler)
        } else {
            drive(&mut self.worker, context, engine, &mut NoBytes)
        }
    }

    /// Reports that the worker is ready, and waits for the start.
    fn await_start(&self) {
        // The step outlives its threads; if it is gone, no receiver is left.
        let ready = WorkerEvent::Ready { idx: self.idx, error: None };
        let _gone = self.events.send(StepEvent::Worker(ready));
        while !self.signals.go.load(Acquire) {
            std::thread::park();
        }
    }

    /// Returns why work on a tree had nothing to do from the start.
    fn nothing_left(&self) -> Option<String> {
        let job = &self.surroundings.job;
        let (work, stuck) = (job.tree.as_ref()?, self.worker.nothing_left()?);
        Some(format!("job `{}`: {}", job.name, crate::tree::stuck_text(work, stuck)))
    }

    /// Validates what goes through the engine, where the run asks for it.
    fn validated(&self, engine: Box<dyn Engine>) -> Box<dyn Engine> {
        match &self.journal {
            Some(part) => Box::new(Journaled::new(engine, self.worker.queue_depth(), part.clone())),
            None => engine,
        }
    }

    /// Returns the blocks that were found bad, in words.
    fn bad_blocks(&mut self) -> BadBlocks {
        let mut bad = self.filler.finish();
        if let Some(part) = &self.journal {
            bad.append(part.take_bad());
        }
        bad
    }

    /// Reports every failed operation, where the job asks for it.
    fn watch_errors(&self, mut engine: Box<dyn Engine>) -> Box<dyn Engine> {
        let job = &self.surroundings.job;
        if !job.errors.dump {
            return engine;
        }
        let paths = engine.files().specs().map(|(_, spec)| spec.path.clone()).collect();
        let depth = self.worker.queue_depth() as u32;
        let events = self.events.clone();
        Box::new(ErrorDump::new(engine, depth, paths, job.name.clone(), events))
    }
}

/// Drives the worker until it is done: the loop that everything else is there for.
///
/// The clock is read before each hand-over and after each return, so that submission, completion
/// and total latency of an operation are differences of the same three stamps.
fn drive<S: DataSource>(
    worker: &mut Worker,
    context: &mut DriveContext,
    engine: &mut dyn Engine,
    source: &mut S,
) -> Result<(), EngineError> {
    let clock = context.clock;
    let signals = Arc::clone(&context.signals);
    let signals = signals.as_ref();
    let depth = worker.queue_depth();
    let mut ops = Vec::with_capacity(depth);
    let mut done = Vec::with_capacity(depth);
    let mut portions = Portions::new(depth);
    let mut now_ns = clock.now_ns();
    loop {
        if signals.stop.load(Relaxed) || context.is_enough() {
            worker.stop();
        }
        let decision = worker.next(now_ns, &mut ops, &mut source.over(engine));
        let (min, until_ns) = match decision {
            Decision::Exchange { min, until_ns } => (min, until_ns),
            Decision::RemoveFiles => {
                engine.remove_files().inspect_err(|_| worker.abandon(clock.now_ns()))?;
                continue;
            }
            Decision::DropCache => {
                engine.drop_cache().inspect_err(|_| worker.abandon(clock.now_ns()))?;
                now_ns = clock.now_ns();
                continue;
            }
            Decision::Done => {
                portions.must_be_empty();
                return Ok(());
            }
        };
        if ops.is_empty() && worker.n_in_flight() == 0 {
            worker.publish();
            let until_ns = until_ns.unwrap_or(now_ns);
            spin_until(clock, signals, until_ns.min(worker.spin_until_ns()));
            wait_until(clock, signals, until_ns);
            now_ns = clock.now_ns();
            continue;
        }
        let submit_ns = if ops.is_empty() { now_ns } else { clock.now_ns() };
        if portions.has(min) {
            worker.waits_for_nothing();
        }
        worker.submitted(submit_ns, &ops);
        let timeout_ns = until_ns.map(|until_ns| until_ns.saturating_sub(submit_ns));
        done.clear();
        let (wait, max) = (Wait { min, timeout_ns }, worker.complete_max());
        if let Err(error) = portions.exchange(engine, &ops, wait, max, &mut done) {
            let errno = error.errno().unwrap_or(libc::EIO);
            worker.fail(Failure { kind: FailureKind::Engine, errno, op: None });
            worker.abandon(clock.now_ns());
            return Err(error);
        }
        now_ns = clock.now_ns();
        worker.complete(now_ns, ops.len(), &done, &mut source.over(engine));
        if !worker.io_errors().is_empty() {
            context.report_errors(worker);
        }
    }
}

/// What a worker is driven in.
struct DriveContext {
    clock: Clock,
    signals: Arc<Signals>,
    events: Sender<StepEvent>,
    idx: usize,
    amount: Option<AmountShare>,
}

impl DriveContext {
    /// Returns whether the step has moved all that it may.
    #[inline]
    fn is_enough(&mut self) -> bool {
        self.amount.as_mut().is_some_and(AmountShare::is_reached)
    }

    /// Reports of failed operations.
    #[cold]
    fn report_errors(&self, worker: &mut Worker) {
        for error in worker.io_errors().drain(..) {
            // The step outlives its threads; if it is gone, no receiver is left.
            let event = WorkerEvent::IoError { idx: self.idx, error };
            let _gone = self.events.send(StepEvent::Worker(event));
        }
    }
}

/// Keeps the CPU busy until the clock shows `until_ns` or the worker is to stop.
fn spin_until(clock: Clock, signals: &Signals, until_ns: u64) {
    while clock.now_ns() < until_ns && !signals.stop.load(Relaxed) {
        std::hint::spin_loop();
    }
}

/// Waits until the clock shows `until_ns` or the worker is to stop.
fn wait_until(clock: Clock, signals: &Signals, until_ns: u64) {
    loop {
        let now_ns = clock.now_ns();
        if now_ns >= until_ns || signals.stop.load(Relaxed) {
            return;
        }
        std::thread::park_timeout(clock.wall_time(until_ns - now_ns));
    }
}

/// Where the bytes of operations come from.
trait DataSource {
    type Data<'a>: Data
    where
        Self: 'a;

    /// Joins the source with the engine whose buffers it works on, for one call.
    fn over<'a>(&'a mut self, engine: &'a mut dyn Engine) -> Self::Data<'a>;
}

/// Nothing is filled or checked: reads, and writes whose buffers were filled before the run.
struct NoBytes;

impl DataSource for NoBytes {
    type Data<'a> = NoData;

    #[inline]
    fn over<'a>(&'a mut self, _engine: &'a mut dyn Engine) -> NoData {
        NoData
    }
}

impl DataSource for Filler {
    type Data<'a> = Bytes<'a>;

    #[inline]
    fn over<'a>(&'a mut self, engine: &'a mut dyn Engine) -> Bytes<'a> {
        Bytes { engine, filler: self }
    }
}

/// Makes the engine belong to this thread before anything is measured.
fn bind_to_thread(mut engine: Box<dyn Engine>) -> Result<Box<dyn Engine>, EngineError> {
    engine.exchange(&[], Wait::POLL, &mut Vec::new())?;
    Ok(engine)
}
