//! Failed operations that did not end their job: the step ends when no more have come for a time,
//! or counts as failed at its end.

use std::sync::atomic::Ordering::Relaxed;

use crate::seat::Seat;

const NS_PER_S: u64 = 1_000_000_000;

/// Watches the failed operations of a step.
#[derive(Debug, Default)]
pub(crate) struct ErrorWatch {
    /// The step ends this long after the last failed operation.
    quiet_ns: Option<u64>,
    last_ns: Option<u64>,
    /// It has ended for that.
    is_over: bool,
}

impl ErrorWatch {
    /// Watches for the shortest silence that any of the jobs asks for.
    pub(crate) fn new(seats: &[Seat<'_>]) -> Self {
        let all = seats.iter().filter_map(|seat| seat.bound.job.errors.quiet_ns);
        ErrorWatch { quiet_ns: all.min(), ..ErrorWatch::default() }
    }

    /// Takes in a failed operation.
    pub(crate) fn saw(&mut self, at_ns: u64) {
        self.last_ns = self.last_ns.max(Some(at_ns));
    }

    /// Returns when the silence will have lasted long enough.
    pub(crate) fn next_ns(&self) -> u64 {
        let until = self.last_ns.zip(self.quiet_ns).filter(|_| !self.is_over);
        until.map_or(u64::MAX, |(last_ns, quiet_ns)| last_ns.saturating_add(quiet_ns))
    }

    /// Says, once, that it has.
    pub(crate) fn is_quiet(&mut self, now_ns: u64) -> bool {
        let is_quiet = now_ns >= self.next_ns();
        self.is_over |= is_quiet;
        is_quiet
    }

    /// Returns why a step has failed that came to its end, if it has.
    pub(crate) fn failure(&self, seats: &[Seat<'_>]) -> Option<String> {
        let n_errors: u64 = seats.iter().map(|seat| seat.meters.n_errors.load(Relaxed)).sum();
        if self.is_over {
            let quiet_s = self.quiet_ns.unwrap_or(0) / NS_PER_S;
            return Some(format!(
                "{n_errors} operations failed, the last more than {quiet_s} seconds ago: \
                 the run ends"
            ));
        }
        let is_failure = |seat: &Seat<'_>| {
            seat.bound.job.errors.fails_in_the_end && seat.meters.n_errors.load(Relaxed) > 0
        };
        // One that failed for the number of errors says so itself.
        if seats.iter().any(Seat::has_failed) {
            return None;
        }
        let shown = || format!("{n_errors} operations failed: nothing more is run");
        seats.iter().any(is_failure).then(shown)
    }
}
