//! The overhead of a request: what it takes from a program to us and back.
//!
//! A program that waits for an answer waits for the overhead as well, so a request counts as made
//! earlier than it was read by so much. It is measured when a mount or an export begins, with
//! requests that are as a small read in all but the model: the same system calls and buffers, the
//! same threads that are woken after the same wait.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::clock::now_ns;

/// Length of an answer: that of a small read, bytes.
pub(crate) const ANSWER_BYTES: usize = 8192;

/// How long an answer is kept back: as long as a disk takes, after which processors are asleep.
pub(crate) const WAIT_NS: u64 = 1_000_000;

/// How often is asked.
const N_PROBES: usize = 64;

/// Longest overhead that is made up for. Far above what a calm machine takes; more means that the
/// machine was busy all the time, and is no measure of a calm one.
const MAX_NS: u64 = 250_000;

/// The overhead of a mount's or an export's requests, as it was measured.
#[derive(Debug, Default)]
pub(crate) struct Overhead {
    length_ns: AtomicU64,
    is_being_measured: AtomicBool,
}

impl Overhead {
    /// Returns how long it is, nanoseconds; 0 before it was measured.
    pub(crate) fn length_ns(&self) -> u64 {
        self.length_ns.load(Relaxed)
    }

    /// Returns when a request was made that is read now, as the model counts it.
    pub(crate) fn made_ns(&self) -> u64 {
        now_ns().saturating_sub(self.length_ns())
    }

    /// Returns whether the overhead is being measured.
    pub(crate) fn is_being_measured(&self) -> bool {
        self.is_being_measured.load(Relaxed)
    }

    /// Measures the overhead, which counts from now on: what nine in ten requests take at most.
    /// `ask` has a request answered that is answered by [`crate::pacer::Pacer::answer_probe`].
    ///
    /// A program that waits for its answers does not gain where a request takes less
    /// ([`crate::loops`]), and loses what one takes more.
    pub(crate) fn measure(&self, mut ask: impl FnMut() -> Option<()>) {
        let is_first = !self.is_being_measured.swap(true, Relaxed);
        assert!(is_first, "an overhead is measured twice at once");
        let mut once = |_| {
            let start_ns = now_ns();
            ask()?;
            (now_ns() - start_ns).checked_sub(WAIT_NS)
        };
        let mut ways_ns: Vec<u64> = (0..N_PROBES).filter_map(&mut once).collect();
        self.is_being_measured.store(false, Relaxed);
        ways_ns.sort_unstable();
        let way_ns = ways_ns.get(ways_ns.len() * 9 / 10).copied().unwrap_or(0);
        self.length_ns.store(way_ns.min(MAX_NS), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overhead_is_measured_by_one_at_a_time() {
        let overhead = Overhead::default();
        overhead.measure(|| None);
        testing::check_wrong_calls(&[("within", "an overhead is measured twice at once", &|| {
            overhead.measure(|| {
                overhead.measure(|| None);
                None
            });
        })]);
    }
}
