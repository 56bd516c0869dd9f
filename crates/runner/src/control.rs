//! Stopping a run from outside.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

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

    /// Returns what was asked for.
    pub fn stop(&self) -> Stop {
        match self.stop.load(Relaxed) {
            0 => Stop::No,
            1 => Stop::Soon,
            _ => Stop::Now,
        }
    }
}
