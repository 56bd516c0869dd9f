//! Stopping a run from outside.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8};

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

/// Shared between a run and whoever may stop it, such as a signal handler.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicU8,
    ends_step: AtomicBool,
    ends_after_step: AtomicBool,
    asks_status: AtomicBool,
}

impl Control {
    /// Makes a control that lets the run go on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to end. A second request is more urgent. Safe in a signal handler.
    pub fn request_stop(&self) {
        let level = self.stop.load(Relaxed);
        self.stop.store(level.saturating_add(1).min(2), Relaxed);
    }

    /// Asks the step that is running to end before its time, as if it were over; the next one
    /// follows. Without a step that runs, it is the next one's.
    pub fn request_step_end(&self) {
        self.ends_step.store(true, Relaxed);
    }

    /// Asks the run to be complete with the step that is running: those behind it are not wanted.
    /// To be asked at the latest when that step has ended ([`crate::RunEvent::StepEnded`]).
    pub fn request_end_after_step(&self) {
        self.ends_after_step.store(true, Relaxed);
    }

    /// Asks how the run stands: [`crate::RunEvent::StatusAsked`] answers as soon as workers run,
    /// and the run goes on. Safe in a signal handler.
    pub fn request_status(&self) {
        self.asks_status.store(true, Relaxed);
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
