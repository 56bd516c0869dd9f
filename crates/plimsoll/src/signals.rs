//! SIGINT, SIGTERM and SIGHUP as a request to stop, SIGUSR1 as a question how it goes.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicU32};
use std::thread::JoinHandle;

use runner::{Control, Stop};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::{SigId, low_level};

/// Listens to signals while it lives.
///
/// The first ends the run with a report, the second at once. A third kills the process as if
/// no handler was set: the way out where the kernel holds an I/O for ever. SIGUSR1 has the status
/// printed, and the run goes on, as in fio.
///
/// The handlers only write the number of the signal to a socket; a thread reads it there and asks.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    ids: Vec<SigId>,
    last: Arc<AtomicI32>,
    /// Ends when no handler is left that could write.
    thread: Option<JoinHandle<()>>,
}

impl Signals {
    /// Starts to listen. Signals that the system does not let us have go their own way.
    pub(crate) fn listen(control: &Arc<Control>) -> Self {
        Self::try_listen(control).unwrap_or_default()
    }

    fn try_listen(control: &Arc<Control>) -> io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        // A handler must not wait.
        writer.set_nonblocking(true)?;
        let (writer, asked) = (Arc::new(writer), Arc::clone(control));
        let thread = std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || pass_on(reader, &asked))?;
        let last = Arc::new(AtomicI32::new(0));
        let n_stops = Arc::new(AtomicU32::new(0));
        let ids = heard().into_iter().filter_map(|signal| {
            let (control, last) = (Arc::clone(control), Arc::clone(&last));
            let (n_stops, writer) = (Arc::clone(&n_stops), Arc::clone(&writer));
            let action = move || {
                // The thread may not have come to the two before.
                if n_stops.fetch_add(1, Relaxed) >= 2 || control.stop() == Stop::Now {
                    let _ = low_level::emulate_default_handler(signal);
                }
                last.store(signal, Relaxed);
                write(&writer, signal);
            };
            // SAFETY: the action only loads and stores atomics, writes to a socket, and calls a
            // function that is made for signal handlers; it neither allocates nor locks.
            unsafe { low_level::register(signal, action) }.ok()
        });
        let mut ids: Vec<SigId> = ids.collect();
        // SAFETY: the action writes to a socket.
        ids.extend(unsafe { low_level::register(SIGUSR1, move || write(&writer, SIGUSR1)) }.ok());
        Ok(Signals { ids, last, thread: Some(thread) })
    }

    /// Returns the last signal that came, if one did.
    pub(crate) fn last(&self) -> Option<i32> {
        Some(self.last.load(Relaxed)).filter(|&signal| signal != 0)
    }
}

/// Writes the number of a signal, as a handler may.
fn write(mut socket: &UnixStream, signal: i32) {
    // In a full socket others wait that ask for the same.
    let _ = socket.write(&[u8::try_from(signal).unwrap_or(0)]);
}

/// Asks for what signals stand for, as they come, until none can come any more.
fn pass_on(mut reader: UnixStream, control: &Control) {
    let mut signal = [0];
    while reader.read_exact(&mut signal).is_ok() {
        match i32::from(signal[0]) {
            SIGUSR1 => control.request_status(),
            _ => control.request_stop(),
        }
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
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
