//! SIGINT, SIGTERM and SIGHUP as a request to stop, SIGUSR1 as a question how it goes.

use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;

use runner::{Control, Stop};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::{SigId, low_level};

/// Listens to signals while it lives.
///
/// The first ends the run with a report, the second at once. A third kills the process as if
/// no handler was set: the way out where the kernel holds an I/O for ever. SIGUSR1 has the status
/// printed, and the run goes on, as in fio.
#[derive(Debug)]
pub(crate) struct Signals {
    ids: Vec<SigId>,
    last: Arc<AtomicI32>,
}

impl Signals {
    /// Starts to listen. Signals that the system does not let us have go their own way.
    pub(crate) fn listen(control: &Arc<Control>) -> Self {
        let last = Arc::new(AtomicI32::new(0));
        let ids = heard().into_iter().filter_map(|signal| {
            let (control, last) = (Arc::clone(control), Arc::clone(&last));
            let action = move || {
                if control.stop() == Stop::Now {
                    let _ = low_level::emulate_default_handler(signal);
                }
                last.store(signal, Relaxed);
                control.request_stop();
            };
            // SAFETY: the action only loads and stores atomics and calls a function that is made
            // for signal handlers; it neither allocates nor locks.
            unsafe { low_level::register(signal, action) }.ok()
        });
        let mut ids: Vec<SigId> = ids.collect();
        let control = Arc::clone(control);
        // SAFETY: the action stores an atomic.
        ids.extend(unsafe { low_level::register(SIGUSR1, move || control.request_status()) }.ok());
        Signals { ids, last }
    }

    /// Returns the last signal that came, if one did.
    pub(crate) fn last(&self) -> Option<i32> {
        Some(self.last.load(Relaxed)).filter(|&signal| signal != 0)
    }
}

/// Returns the signals that end a run. A terminal that is lost (SIGHUP) ends it as an interrupt
/// does, unless that was to be ignored from the start (`nohup`).
pub(crate) fn heard() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_ignored = |signal: i32| ignored >> (signal - 1) & 1 == 1;
    let all = [SIGINT, SIGTERM, SIGHUP].into_iter();
    all.filter(|&signal| signal != SIGHUP || !is_ignored(signal)).collect()
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            low_level::unregister(id);
        }
    }
}
