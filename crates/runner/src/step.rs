//! Runs the workers of one step: builds them, starts them together, watches them, collects them.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use plan::job::AmountMax;
use record::{Interval, IoErrorRecord, JobRecord, NoteSeverity, StepConditions};

use worker::ErrorBudget;

use crate::amount::{AmountShare, Moved};
use crate::bind::BoundStep;
use crate::claims::Claims;
use crate::clock::Clock;
use crate::control::{Control, Stop};
use crate::cpu::CpuSampler;
use crate::emulation::SharedVolumes;
use crate::file_locks::FileLocks;
use crate::intervals::{Cuts, Cutter};
use crate::logs::{LogSetup, LogWriter};
use crate::overlaps::Overlaps;
use crate::pauses::PauseWatch;
use crate::prepare::{self, WaitsForOthers};
use crate::run::{RunEvent, RunOptions, RunSoFar};
use crate::running::{Running, flow_groups};
use crate::seat::{Seat, SeatState, Shared};
use crate::thread::WorkerEvent;
use crate::tree::StepTrees;
use crate::verify_notes;

/// How often the step looks at requests to stop, and at the longest.
const TICK: Duration = Duration::from_millis(50);

/// What a step needs to know of the run around it.
pub(crate) struct StepContext<'a> {
    pub(crate) step_idx: u32,
    pub(crate) n_steps: u32,
    pub(crate) clock: Clock,
    pub(crate) zero_unix_ms: u64,
    pub(crate) options: &'a RunOptions,
    pub(crate) control: &'a Control,
    /// Number of workers in the steps before.
    pub(crate) n_workers_before: u32,
    /// Errors that its workers survive together.
    pub(crate) errors: ErrorBudget,
    /// What its jobs move together at most.
    pub(crate) amount_max: AmountMax,
    /// Emulated volumes that the workers' threads work on.
    pub(crate) volumes: Option<SharedVolumes>,
    /// The steps before.
    pub(crate) so_far: &'a RunSoFar<'a>,
}

impl StepContext<'_> {
    /// Returns the folder for logs and what commands print; empty is the current one.
    pub(crate) fn log_dir(&self) -> &Path {
        self.options.log_dir.as_deref().unwrap_or(Path::new(""))
    }

    /// Returns the folder for verify state files.
    pub(crate) fn aux_dir(&self) -> &Path {
        self.options.aux_dir.as_deref().unwrap_or(Path::new(""))
    }
}

/// What came of a step.
#[derive(Default)]
pub(crate) struct StepOutcome {
    pub(crate) jobs: Vec<JobRecord>,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) conditions: StepConditions,
    pub(crate) notes: Vec<(NoteSeverity, &'static str, String)>,
    /// Failed operations, as far as they are kept.
    pub(crate) io_errors: Vec<IoErrorRecord>,
    pub(crate) stop_all: bool,
    /// A worker could not start or failed.
    pub(crate) failed: bool,
}

/// Runs a step to its end.
pub(crate) fn run_step(
    context: &StepContext<'_>,
    step: &BoundStep,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> StepOutcome {
    let mut setup = match context.volumes {
        None => prepare::step(context, step, on_event),
        Some(_) => step.workers.iter().map(|_| None).collect(),
    };
    let mut trees = StepTrees::prepare(step);
    trees.tell(true, on_event);
    let (sender, events) = channel();
    let mut flows = flow_groups(step);
    let locks = FileLocks::new(step);
    let overlaps = Overlaps::new(step);
    let moved = Moved::new(context.amount_max);
    let claims = Arc::new(Claims::new(context.options));
    // Interrupted while files were laid out: nothing starts.
    let starts = context.control.stop() == Stop::No;
    let mut logs =
        LogSetup::new(context.clock, context.zero_unix_ms, context.log_dir(), step.workers.len());
    let mut seats = Vec::with_capacity(step.workers.len());
    for (idx, bound) in step.workers.iter().enumerate() {
        let (tree, tree_error) = trees.seat_of(bound);
        let mut seat = Seat::new(bound, setup[idx].take().or(tree_error));
        if context.options.detailed_intervals.is_some() {
            seat.count_by_series();
        }
        if starts && seat.setup_error.is_none() && !bound.job.files.create_only {
            let waits = WaitsForOthers { locks: locks.of(bound), ranges: overlaps.of(bound) };
            let amount = moved.as_ref().map(|moved| AmountShare::new(moved, &seat.meters));
            let (flow, claims) = (flows.remove(&idx), Arc::clone(&claims));
            let shared = Shared { flow, waits, tree, amount, claims };
            if let Err(error) = seat.spawn(context, idx, shared, &mut logs, sender.clone()) {
                seat.setup_error = Some(error);
            }
        }
        seats.push(seat);
    }
    drop(sender);
    let mut running = Running::new(context, seats, context.clock.now_ns());
    running.notes = verify_notes::of_step(step);
    let logs = start_logs(&mut running, logs);
    wait_until_ready(&mut running, &events);
    let mut formats = trees.formats();
    let mut each_turn = || trees.let_formats_make();
    watch(&mut running, &events, &mut each_turn, &mut |event| {
        if matches!(event, RunEvent::Status(_) | RunEvent::Interval(_)) {
            formats.tell(on_event);
        }
        on_event(event);
    });
    running.notes.extend(logs.into_iter().flat_map(LogWriter::finish));
    join_threads(&mut running);
    trees.let_formats_make();
    formats.tell(on_event);
    trees.tell(false, on_event);
    running.notes.extend(trees.close());
    note_caps(&mut running);
    running.into_outcome(context.clock.now_ns())
}

/// Starts the writer of the logs, or says why there will be none.
fn start_logs(running: &mut Running<'_>, logs: LogSetup) -> Option<LogWriter> {
    logs.start().unwrap_or_else(|error| {
        let text = format!("no logs are written: {error}");
        running.notes.push((NoteSeverity::Error, "log-failed", text));
        None
    })
}

/// Time that commands have to end when a run is left at once: twice what they are given.
const LEAVE_NS: u64 = 1_000_000_000;

/// Waits until every worker has built its engine or failed to, or nobody wants that any more: who
/// stops the run ends the commands and reads that its workers get ready with.
fn wait_until_ready(running: &mut Running<'_>, events: &Receiver<WorkerEvent>) {
    let clock = running.context.clock;
    let mut leaves_at_ns = None;
    while running.seats.iter().any(|seat| seat.state == SeatState::Building) {
        if running.context.control.stop() != Stop::No && !running.obey_control() {
            let now_ns = clock.now_ns();
            // A command must be gone before we are, or nobody ends it.
            let has_command = |seat: &Seat<'_>| {
                let is_building = seat.state == SeatState::Building;
                is_building && seat.bound.job.process.exec_before.is_some()
            };
            let is_late = now_ns >= *leaves_at_ns.get_or_insert(now_ns + LEAVE_NS);
            if is_late || !running.seats.iter().any(has_command) {
                break;
            }
        }
        match events.recv_timeout(TICK) {
            Ok(event) => running.take(event),
            Err(RecvTimeoutError::Timeout) => {}
            // All threads are gone without a word: nothing is left to wait for.
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
}

/// Watches the workers until all have ended, and does `each_turn` what they may wait for.
fn watch(
    running: &mut Running<'_>,
    events: &Receiver<WorkerEvent>,
    each_turn: &mut dyn FnMut(),
    on_event: &mut dyn FnMut(RunEvent<'_>),
) {
    let context = running.context;
    let clock = context.clock;
    running.started_ns = clock.now_ns();
    running.host = Some(CpuSampler::start());
    running.pauses = PauseWatch::start(clock, running.ramp_end_ns());
    let started_ns = running.started_ns;
    let status_ns = context.options.status_interval_ns();
    let mut intervals = Intervals::start(running, started_ns);
    let mut live = running.sampler(started_ns);
    let mut next_status_ns = started_ns + status_ns;
    let report_ns = context.options.report_interval_ms.map(|ms| ms.max(1) * 1_000_000);
    let reported_ns = &context.so_far.reported_ns;
    let mut next_report_ns =
        report_ns.map_or(u64::MAX, |ns| (reported_ns.get() + ns).max(started_ns));
    running.start_waiting();
    while !running.is_over() {
        if !running.obey_control() {
            break;
        }
        let next_ns = intervals.next_ns().min(next_status_ns).min(next_report_ns);
        let next_ns = next_ns.min(running.next_look_ns());
        let wait = clock.wall_time(next_ns.saturating_sub(clock.now_ns())).min(TICK);
        match events.recv_timeout(wait) {
            Ok(event) => {
                running.take(event);
                running.start_waiting();
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        each_turn();
        let now_ns = clock.now_ns();
        // First of all: while the others work, what an interval counts goes on.
        intervals.tick(running, now_ns, on_event);
        running.check_steady(now_ns);
        running.check_ends(now_ns);
        running.tell_errors(on_event);
        if now_ns >= next_status_ns {
            let status = running.status(&live.sample(now_ns, 0, 0), now_ns);
            on_event(RunEvent::Status(&status));
            next_status_ns = now_ns + status_ns;
        }
        if context.control.take_status() {
            let jobs = running.jobs_now(now_ns);
            let record = context.so_far.record(now_ns, &jobs, &running.intervals);
            on_event(RunEvent::StatusAsked(&record));
        }
        if now_ns >= next_report_ns {
            let jobs = running.jobs_now(now_ns);
            let record = context.so_far.record(now_ns, &jobs, &running.intervals);
            on_event(RunEvent::Report(&record));
            reported_ns.set(now_ns);
            // With thousands of workers a report takes long; it must not become what is measured.
            let after_ns = clock.now_ns().saturating_sub(now_ns).saturating_mul(REPORT_PAUSE);
            next_report_ns = now_ns + report_ns.map_or(u64::MAX - now_ns, |ns| ns.max(after_ns));
        }
    }
    running.tell_errors(on_event);
    let ended_ns = running.work_ended_ns().unwrap_or_else(|| clock.now_ns());
    intervals.finish(running, ended_ns, on_event);
}

/// The intervals of a step: cut by a thread of their own, or by the caller where there is none.
enum Intervals {
    Cutter(Cutter),
    Own(Box<Cuts>),
}

impl Intervals {
    fn start(running: &Running<'_>, now_ns: u64) -> Self {
        let cuts = running.first_interval(now_ns);
        let clock = running.context.clock;
        match Cutter::start(cuts, &running.seats, clock, running.ends_ns()) {
            Ok(cutter) => Intervals::Cutter(cutter),
            Err(cuts) => Intervals::Own(cuts),
        }
    }

    /// Returns when it wants to be called at the latest.
    fn next_ns(&self) -> u64 {
        match self {
            Intervals::Cutter(_) => u64::MAX,
            Intervals::Own(cuts) => cuts.next_ns(),
        }
    }

    /// Tells of the intervals that are over.
    fn tick(
        &mut self,
        running: &mut Running<'_>,
        now_ns: u64,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        match self {
            Intervals::Cutter(cutter) => {
                cutter.set_end(running.ends_ns());
                while let Some((interval, ended_ns)) = cutter.take() {
                    running.tell_interval(interval, cutter.so_far().as_ref(), ended_ns, on_event);
                }
            }
            Intervals::Own(cuts) => {
                running.tick_interval(cuts, now_ns, on_event);
            }
        }
    }

    /// Tells of what is left when the step has ended.
    fn finish(
        self,
        running: &mut Running<'_>,
        ended_ns: u64,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        let (intervals, cuts) = match self {
            Intervals::Cutter(cutter) => cutter.finish(),
            Intervals::Own(cuts) => (Vec::new(), Some(*cuts)),
        };
        for (interval, cut_ns) in intervals {
            let so_far = cuts.as_ref().and_then(Cuts::so_far);
            running.tell_interval(interval, so_far.as_ref(), cut_ns, on_event);
        }
        if let Some(cuts) = cuts {
            running.end_last_interval(cuts, ended_ns, on_event);
        }
    }
}

/// Least time from report to report, in times of what one takes: they keep one processor busy
/// for two hundredths at most.
const REPORT_PAUSE: u64 = 50;

/// Share of the latency by which completions of emulated volumes may be late: the accuracy that is
/// promised of them.
const LATE_SHARE_MAX: f64 = 0.03;

/// Adds to the results which caps of emulated volumes held the workers, and says so where this host
/// was too busy to keep their time.
fn note_caps(running: &mut Running<'_>) {
    let context = running.context;
    let Some(volumes) = &context.volumes else { return };
    let mut late_share_max: f64 = 0.0;
    for (idx, seat) in running.seats.iter_mut().enumerate() {
        let Some(result) = &mut seat.result else { continue };
        let number = context.n_workers_before + idx as u32;
        if let Some((caps, late_share)) = volumes.caps_of(seat.bound, number) {
            result.caps = Some(caps);
            late_share_max = late_share_max.max(late_share);
        }
    }
    if late_share_max > LATE_SHARE_MAX {
        let text = format!(
            "completions were late by up to {:.0} % of their modelled latency, because this host \
             was busy: the volume is better than these numbers; run with --virtual, or slower \
             with --time-scale 10",
            late_share_max * 100.0
        );
        running.notes.push((NoteSeverity::Error, "late-completions", text));
    }
}

/// Takes leave of the threads of workers that have ended.
fn join_threads(running: &mut Running<'_>) {
    for seat in &mut running.seats {
        // A thread that has sent its result, or its panic, has nothing left to do but return.
        if seat.state == SeatState::Ended
            && let Some(thread) = seat.thread.take()
        {
            let _returned = thread.join();
        }
    }
}
