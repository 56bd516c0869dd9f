//! The loop of a step: from the layout of its files to the end of the last worker.
//!
//! It takes one closed set of events, [`StepEvent`], in all phases, and waits for the next one
//! until something is due; threads and whoever controls the run only produce them. A thread that
//! panics, and a request to stop, end the step in each.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};

use record::Interval;

use crate::bind::BoundStep;
use crate::event::RunEvent;
use crate::intervals::{Cuts, Cutter};
use crate::preparation::Preparation;
use crate::resources::StepResources;
use crate::running::{Obeyed, Running};
use crate::seat::{Seat, SeatState};
use crate::series::SeriesSoFar;
use crate::status::IntervalSampler;
use crate::step_event::StepEvent;

/// How often the step looks at what no event reports: when the first worker begins to measure, for
/// a steady state, and when a format has removed what lay there before.
const LOOK_NS: u64 = 50_000_000;

/// Time that commands have to end when a run is left at once: twice what they are given.
const LEAVE_NS: u64 = 1_000_000_000;

/// How long before a start that was agreed on the step stops sleeping: what a timer may be late.
const SPIN_NS: u64 = 300_000;

/// Least time from report to report, in times of what one takes: they keep one processor busy
/// for two hundredths at most.
const REPORT_PAUSE: u64 = 50;

/// The events of a step, and where its threads send them.
pub(crate) type Channel = (Sender<StepEvent>, Receiver<StepEvent>);

/// How far a step is.
enum Phase {
    /// It is not yet this host's turn to lay out the files of the step.
    Queued(Arc<BoundStep>),
    /// A thread lays out files and looks at trees; there are no workers yet.
    LayingOut(Preparation),
    /// Workers build their engines. `leaves_at_ns` is when a step that is to be left at once waits
    /// no longer for commands.
    Preparing { leaves_at_ns: Option<u64> },
    /// All wait for the start that the caller names: `start_ns`, once it has.
    Ready { start_ns: Option<u64> },
    /// Every worker has built its engine or failed to.
    Measuring(Box<Measuring>),
}

/// Watches a step from its preparation on until all its workers have ended. Returns what they
/// worked with.
pub(crate) fn watch(
    running: &mut Running<'_>,
    channel: &Channel,
    step: &Arc<BoundStep>,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> StepResources {
    let mut resources = StepResources::default();
    let mut phase = Phase::Queued(Arc::clone(step));
    loop {
        phase = phase.advance(running, &channel.0, on_event);
        let mut is_awaited = false;
        if let Phase::Measuring(measuring) = &mut phase {
            running.start_waiting();
            is_awaited = resources.trees.let_formats_make();
            resources.formats.report(on_event);
            measuring.turn(running, on_event);
        }
        if phase.is_over(running) {
            break;
        }
        match running.obey_control() {
            Obeyed::LeavesNow if !phase.waits(running) => break,
            Obeyed::GoesOn | Obeyed::Ends | Obeyed::LeavesNow => {}
        }
        match next(&channel.1, running, phase.due_ns(running, is_awaited)) {
            StepEvent::Layout(progress) => {
                let Phase::LayingOut(preparation) = &phase else { unreachable!("it is laid out") };
                preparation.report(&progress, running.context.control, on_event);
            }
            StepEvent::Prepared => {
                let Phase::LayingOut(preparation) = phase else { unreachable!("it is laid out") };
                let (step, prepared) = preparation.finish();
                resources =
                    StepResources::make_workers(running, &step, prepared, &channel.0, on_event);
                phase = Phase::Preparing { leaves_at_ns: None };
            }
            StepEvent::Worker(event) => running.take(event),
            StepEvent::Interval(interval, ended_ns) => {
                resources.formats.report(on_event);
                phase.report_interval(running, *interval, ended_ns, on_event);
            }
            // What was asked for is looked at in each turn, as it may be older than the step.
            StepEvent::Control | StepEvent::Due => {}
        }
    }
    running.report_errors(on_event);
    resources.formats.report(on_event);
    if let Phase::Measuring(measuring) = phase {
        measuring.finish(running, &channel.1, on_event);
    }
    resources
}

/// Waits for the next event, until `due_ns`.
fn next(events: &Receiver<StepEvent>, running: &Running<'_>, due_ns: u64) -> StepEvent {
    let clock = running.context.clock;
    let wait = clock.wall_time(due_ns.saturating_sub(clock.now_ns()));
    match events.recv_timeout(wait) {
        Ok(event) => event,
        Err(RecvTimeoutError::Timeout) => StepEvent::Due,
        Err(RecvTimeoutError::Disconnected) => unreachable!("the step holds a sender"),
    }
}

impl Phase {
    /// Starts the workers together once none builds its engine any more, and the moment has come.
    fn advance(
        self,
        running: &mut Running<'_>,
        events: &Sender<StepEvent>,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Phase {
        let context = running.context;
        let is_in = |seat: &Seat<'_>, state| seat.state == state;
        match self {
            Phase::Queued(step) => {
                let control = context.control;
                let waits = context.options.waits_for_turn && context.volumes.is_none();
                if waits && !control.has_turn() && !control.is_stopped() {
                    return Phase::Queued(step);
                }
                let preparation = Preparation::start(context, step, events);
                Phase::LayingOut(preparation).advance(running, events, on_event)
            }
            Phase::LayingOut(ref preparation) => {
                preparation.obey(context.control);
                self
            }
            Phase::Preparing { .. }
                if running.seats.iter().any(|seat| is_in(seat, SeatState::Building)) =>
            {
                self
            }
            Phase::Preparing { .. }
                if context.options.waits_for_start
                    && running.seats.iter().any(|seat| is_in(seat, SeatState::Waiting)) =>
            {
                on_event(RunEvent::StepReady { step_idx: context.step_idx });
                Phase::Ready { start_ns: None }.advance(running, events, on_event)
            }
            Phase::Ready { .. } if !context.control.is_stopped() => {
                // A later one may have been named since.
                let named = context.control.start_of(context.step_idx);
                let start_ns = named.map(|at_ns| context.clock.at_monotonic(at_ns));
                match start_ns {
                    Some(at_ns) if at_ns <= context.clock.now_ns() + SPIN_NS => {
                        while context.clock.now_ns() < at_ns {
                            std::hint::spin_loop();
                        }
                        running.start_at_ns = Some(at_ns);
                        // First of all: what watches them takes longer to begin.
                        let started_ns = context.clock.now_ns();
                        running.start_waiting();
                        Phase::Measuring(Box::new(Measuring::start(running, events, started_ns)))
                    }
                    Some(_) | None => Phase::Ready { start_ns },
                }
            }
            Phase::Preparing { .. } | Phase::Ready { .. } => {
                let started_ns = context.clock.now_ns();
                Phase::Measuring(Box::new(Measuring::start(running, events, started_ns)))
            }
            Phase::Measuring(_) => self,
        }
    }

    fn is_over(&self, running: &Running<'_>) -> bool {
        match self {
            Phase::Queued(_)
            | Phase::LayingOut(_)
            | Phase::Preparing { .. }
            | Phase::Ready { .. } => false,
            Phase::Measuring(_) => running.is_over(),
        }
    }

    /// Returns whether a step that is to be left at once waits a little yet: a command that a
    /// worker prepares with must have ended before this process does; it would run on otherwise.
    fn waits(&mut self, running: &Running<'_>) -> bool {
        let Phase::Preparing { leaves_at_ns } = self else { return false };
        let has_command = |seat: &Seat<'_>| {
            seat.state == SeatState::Building && seat.bound.job.process.exec_before.is_some()
        };
        let now_ns = running.context.clock.now_ns();
        let is_late = now_ns >= *leaves_at_ns.get_or_insert(now_ns + LEAVE_NS);
        !is_late && running.seats.iter().any(has_command)
    }

    /// Returns when something is to be done even if no event comes.
    fn due_ns(&self, running: &Running<'_>, is_awaited: bool) -> u64 {
        let look_ns = running.context.clock.now_ns() + LOOK_NS;
        match self {
            Phase::Queued(_) | Phase::LayingOut(_) => u64::MAX,
            Phase::Preparing { leaves_at_ns } => leaves_at_ns.unwrap_or(u64::MAX),
            Phase::Ready { start_ns } => start_ns.map_or(u64::MAX, |ns| ns.saturating_sub(SPIN_NS)),
            Phase::Measuring(measuring) => {
                let awaited_ns = if is_awaited { look_ns } else { u64::MAX };
                let steady_ns = running.next_steady_ns().unwrap_or(look_ns);
                let due_ns = measuring.next_ns().min(running.next_look_ns());
                due_ns.min(steady_ns).min(awaited_ns)
            }
        }
    }

    fn report_interval(
        &self,
        running: &mut Running<'_>,
        interval: Interval,
        ended_ns: u64,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        match self {
            Phase::Measuring(measuring) => {
                let so_far = measuring.intervals.so_far();
                running.report_interval(interval, so_far.as_ref(), ended_ns, on_event);
            }
            Phase::Queued(_)
            | Phase::LayingOut(_)
            | Phase::Preparing { .. }
            | Phase::Ready { .. } => {
                unreachable!("intervals begin with the measuring")
            }
        }
    }
}

/// What is reported of a step whose workers run, and when.
struct Measuring {
    intervals: Intervals,
    live: IntervalSampler,
    next_status_ns: u64,
    next_report_ns: u64,
}

impl Measuring {
    /// Watches workers that start at `started_ns`.
    fn start(running: &mut Running<'_>, events: &Sender<StepEvent>, started_ns: u64) -> Measuring {
        let context = running.context;
        running.begin(started_ns);
        let report_ns = context.options.report_interval_ms.map(|ms| ms.max(1) * 1_000_000);
        let reported_ns = context.so_far.reported_ns.get();
        Measuring {
            intervals: Intervals::start(running, started_ns, events.clone()),
            live: running.sampler(started_ns),
            next_status_ns: started_ns + context.options.status_interval_ns(),
            next_report_ns: report_ns.map_or(u64::MAX, |ns| (reported_ns + ns).max(started_ns)),
        }
    }

    /// Returns when the next thing is due.
    fn next_ns(&self) -> u64 {
        self.intervals.next_ns().min(self.next_status_ns).min(self.next_report_ns)
    }

    /// Does what is due.
    fn turn(&mut self, running: &mut Running<'_>, on_event: &mut dyn FnMut(RunEvent<'_>)) {
        let context = running.context;
        let clock = context.clock;
        let now_ns = clock.now_ns();
        // First of all: while the others work, what an interval counts goes on.
        self.intervals.tick(running, now_ns, on_event);
        running.check_steady(now_ns);
        running.check_ends(now_ns);
        running.report_errors(on_event);
        if now_ns >= self.next_status_ns {
            let status = running.status(&self.live.sample(now_ns, 0, 0), now_ns);
            on_event(RunEvent::Status(&status));
            self.next_status_ns = now_ns + context.options.status_interval_ns();
        }
        if context.control.take_status() {
            let jobs = running.jobs_now(now_ns);
            let record = context.so_far.record(now_ns, &jobs, &running.intervals);
            on_event(RunEvent::StatusAsked(&record));
        }
        if now_ns >= self.next_report_ns {
            let jobs = running.jobs_now(now_ns);
            let record = context.so_far.record(now_ns, &jobs, &running.intervals);
            on_event(RunEvent::Report(&record));
            context.so_far.reported_ns.set(now_ns);
            // With thousands of workers a report takes long; it must not become what is measured.
            let after_ns = clock.now_ns().saturating_sub(now_ns).saturating_mul(REPORT_PAUSE);
            let report_ns = context.options.report_interval_ms.map(|ms| ms.max(1) * 1_000_000);
            let pause_ns = report_ns.map_or(u64::MAX - now_ns, |ns| ns.max(after_ns));
            self.next_report_ns = now_ns + pause_ns;
        }
    }

    /// Reports of what is left when the step has ended.
    fn finish(
        self,
        running: &mut Running<'_>,
        events: &Receiver<StepEvent>,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        let ended_ns = running.work_ended_ns().unwrap_or_else(|| running.context.clock.now_ns());
        self.intervals.finish(running, events, ended_ns, on_event);
    }
}

/// The intervals of a step: cut by a thread of their own, or by the caller where there is none.
enum Intervals {
    Cutter(Cutter),
    Own(Box<Cuts>),
}

impl Intervals {
    fn start(running: &Running<'_>, now_ns: u64, events: Sender<StepEvent>) -> Self {
        let cuts = running.first_interval(now_ns);
        let clock = running.context.clock;
        match Cutter::start(cuts, &running.seats, clock, running.ends_ns(), events) {
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

    /// Returns what was done until now, where intervals hold it.
    fn so_far(&self) -> Option<SeriesSoFar<'_>> {
        match self {
            Intervals::Cutter(cutter) => cutter.so_far(),
            Intervals::Own(cuts) => cuts.so_far(),
        }
    }

    /// Lets the thread know when the workers' time is over, or does what it would.
    fn tick(
        &mut self,
        running: &mut Running<'_>,
        now_ns: u64,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        match self {
            Intervals::Cutter(cutter) => cutter.set_end(running.ends_ns()),
            Intervals::Own(cuts) => {
                running.tick_interval(cuts, now_ns, on_event);
            }
        }
    }

    /// Reports of what is left when the step has ended.
    fn finish(
        self,
        running: &mut Running<'_>,
        events: &Receiver<StepEvent>,
        ended_ns: u64,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        let cuts = match self {
            Intervals::Cutter(cutter) => cutter.finish(),
            Intervals::Own(cuts) => Some(*cuts),
        };
        for event in events.try_iter() {
            // A step that was left takes nothing more of what its workers send.
            if let StepEvent::Interval(interval, cut_ns) = event {
                let so_far = cuts.as_ref().and_then(Cuts::so_far);
                running.report_interval(*interval, so_far.as_ref(), cut_ns, on_event);
            }
        }
        if let Some(cuts) = cuts {
            running.end_last_interval(cuts, ended_ns, on_event);
        }
    }
}
