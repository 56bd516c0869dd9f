//! Stopping a run from outside.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::step_event::StepEvent;

/// How urgently a run should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// It goes on.
    No,
    /// Nothing more is issued; what is in flight completes and is reported.
    Soon,
    /// Now, without waiting for what is in flight.
    Now,
}

/// Shared between a run and whoever may stop it or ask for its status.
///
/// A request is an event for the step that runs: it wakes the step's loop. Requests lock, so a
/// signal handler leaves them to a thread.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicU8,
    ends_step: AtomicBool,
    ends_after_step: AtomicBool,
    asks_status: AtomicBool,
    /// A step, and when its workers begin.
    start: Mutex<Option<StepStart>>,
    /// The files of steps with lower numbers may be laid out.
    n_layouts: AtomicU32,
    /// The loop of the step that runs.
    listener: Mutex<Option<Sender<StepEvent>>>,
    asked: Condvar,
    /// Who hears of each request to end.
    on_stop: Mutex<Option<OnStop>>,
}

/// Who hears of each request to end.
struct OnStop(Box<dyn Fn() + Send>);

impl std::fmt::Debug for OnStop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnStop")
    }
}

/// When the workers of a step begin.
#[derive(Clone, Copy, Debug)]
struct StepStart {
    step_idx: u32,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    monotonic_ns: u64,
}

impl Control {
    /// Makes a control that lets the run go on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to end. A second request is more urgent.
    pub fn request_stop(&self) {
        let heard_by = self.on_stop.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.stop.fetch_update(Relaxed, Relaxed, |level| Some((level + 1).min(2)));
        if let Some(OnStop(on_stop)) = &*heard_by {
            on_stop();
        }
        drop(heard_by);
        self.wake();
    }

    /// Calls `on_stop` at each request to end, in the thread that asks, and at once for those that
    /// were made before.
    pub fn tell_stops(&self, on_stop: Box<dyn Fn() + Send>) {
        let mut heard_by = self.on_stop.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..self.n_requests() {
            on_stop();
        }
        *heard_by = Some(OnStop(on_stop));
    }

    /// Asks the step that is running to end before its time, as if it were over; the next one
    /// follows. Without a step that runs, it is the next one's.
    pub fn request_step_end(&self) {
        self.ends_step.store(true, Relaxed);
        self.wake();
    }

    /// Asks the run to be complete with the step that is running: those behind it are not wanted.
    /// To be asked at the latest when that step has ended ([`crate::RunEvent::StepEnded`]).
    pub fn request_end_after_step(&self) {
        self.ends_after_step.store(true, Relaxed);
    }

    /// Asks how the run stands: [`crate::RunEvent::StatusAsked`] answers as soon as workers run,
    /// and the run goes on.
    pub fn request_status(&self) {
        self.asks_status.store(true, Relaxed);
        self.wake();
    }

    /// Says when the workers of a step begin, nanoseconds of `CLOCK_MONOTONIC`; at once where that
    /// is over. What was said before, of this step or another, counts no more; a step that has
    /// begun goes on.
    pub fn start_step(&self, step_idx: u32, monotonic_ns: u64) {
        let mut start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        *start = Some(StepStart { step_idx, monotonic_ns });
        drop(start);
        self.wake();
    }

    /// Lets the files of the next step be laid out: the first one from this number on that runs.
    pub fn lay_out_step(&self, step_idx: u32) {
        self.n_layouts.fetch_max(step_idx.saturating_add(1), Relaxed);
        self.wake();
    }

    /// Returns whether the files of the next step may be laid out.
    pub(crate) fn has_turn(&self) -> bool {
        let started = *self.start.lock().unwrap_or_else(PoisonError::into_inner);
        // Steps between are left out, which others do not know.
        let next_idx = started.map_or(0, |start| start.step_idx + 1);
        self.n_layouts.load(Relaxed) > next_idx
    }

    /// Returns what was said of a step.
    pub(crate) fn start_of(&self, step_idx: u32) -> Option<u64> {
        let start = *self.start.lock().unwrap_or_else(PoisonError::into_inner);
        start.filter(|start| start.step_idx == step_idx).map(|start| start.monotonic_ns)
    }

    /// Waits until an end is asked for, and no longer than this.
    pub fn wait_for_stop(&self, longest: Duration) {
        let goes_on = |_: &mut Option<Sender<StepEvent>>| !self.is_stopped();
        let waited = self.asked.wait_timeout_while(self.lock(), longest, goes_on);
        drop(waited);
    }

    /// Sends every request to `events` while what it returns lives. A control is of one step at a
    /// time.
    pub(crate) fn listen(&self, events: Sender<StepEvent>) -> Listening<'_> {
        let before = self.lock().replace(events);
        assert!(before.is_none(), "two steps listen to one control");
        Listening(self)
    }

    /// Makes a request known, after it was noted.
    fn wake(&self) {
        let listener = self.lock();
        if let Some(events) = &*listener {
            // A step that has ended takes no more events.
            let _gone = events.send(StepEvent::Control);
        }
        self.asked.notify_all();
    }

    /// What it guards is whole at any time, so a panic elsewhere does not matter.
    fn lock(&self) -> MutexGuard<'_, Option<Sender<StepEvent>>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes such a request, if there is one.
    pub(crate) fn take_status(&self) -> bool {
        self.asks_status.swap(false, Relaxed)
    }

    /// Takes such a request, if there is one.
    pub(crate) fn take_end_after_step(&self) -> bool {
        self.ends_after_step.swap(false, Relaxed)
    }

    /// Takes a request to end a step, if there is one.
    pub(crate) fn take_step_end(&self) -> bool {
        self.ends_step.swap(false, Relaxed)
    }

    /// Returns how often an end was asked for, as far as that makes a difference.
    pub(crate) fn n_requests(&self) -> u32 {
        u32::from(self.stop.load(Relaxed))
    }

    /// Returns whether an end was asked for. What may take long before anything is measured asks at
    /// every turn.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed) > 0
    }

    /// Returns what was asked for.
    pub fn stop(&self) -> Stop {
        match self.stop.load(Relaxed) {
            0 => Stop::No,
            1 => Stop::Soon,
            _ => Stop::Now,
        }
    }
}

/// A step that takes requests as events, until it is dropped.
#[derive(Debug)]
pub(crate) struct Listening<'a>(&'a Control);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}
