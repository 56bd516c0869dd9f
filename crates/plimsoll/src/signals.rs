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
use units::system_text;

use crate::exit::{Exit, Failure};

/// Listens to signals while it lives.
///
/// The first ends the run with a report, the second at once. A third kills the process as if
/// no handler was set: the way out where the kernel holds an I/O for ever. SIGUSR1 has the status
/// printed, and the run goes on, as in fio.
///
/// The handlers only write the number of the signal to a socket; a thread reads it there and asks.
#[derive(Debug)]
pub(crate) struct Signals {
    ids: Vec<SigId>,
    last: Arc<AtomicI32>,
    /// Ends when no handler is left that could write.
    thread: Option<JoinHandle<()>>,
}

impl Signals {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the system does not let it: then nothing is to be measured, as Ctrl-C would end the
    /// process at once, and what was measured until then would be lost.
    pub(crate) fn listen(control: &Arc<Control>) -> Result<Self, Failure> {
        Self::try_listen(control).map_err(|error| {
            let why = system_text(error);
            Failure::wrong_use(format!(
                "cannot listen to signals, so Ctrl-C would lose what is measured: {why}"
            ))
            .with(Exit::RunFailed)
            .hint("raise the limits on open files and threads (`ulimit -n`, `ulimit -u`)")
        })
    }

    fn try_listen(control: &Arc<Control>) -> io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        // A handler must not wait.
        writer.set_nonblocking(true)?;
        let asked = Arc::clone(control);
        let thread = std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || pass_on(reader, &asked))?;
        let last = Arc::new(AtomicI32::new(0));
        let mut signals = Signals { ids: Vec::new(), last, thread: Some(thread) };
        // What it has registered where it fails ends with `signals`.
        signals.register(control, writer)?;
        Ok(signals)
    }

    /// Sets the handlers. They alone have the writer: the thread ends with the last of them.
    fn register(&mut self, control: &Arc<Control>, writer: UnixStream) -> io::Result<()> {
        let (writer, n_stops) = (Arc::new(writer), Arc::new(AtomicU32::new(0)));
        for signal in heard() {
            let (control, last) = (Arc::clone(control), Arc::clone(&self.last));
            let (n_stops, writer) = (Arc::clone(&n_stops), Arc::clone(&writer));
            let action = move || {
                // The thread may not have come to the two before.
                if n_stops.fetch_add(1, Relaxed) >= 2 || control.stop() == Stop::Now {
                    live::tui::restore();
                    let _ = low_level::emulate_default_handler(signal);
                }
                last.store(signal, Relaxed);
                write(&writer, signal);
            };
            // SAFETY: the action only loads and stores atomics, writes to a socket and the
            // terminal, whose settings it restores by a system call, and calls a function that is
            // made for signal handlers; it neither allocates nor locks.
            self.ids.push(unsafe { low_level::register(signal, action) }?);
        }
        // SAFETY: the action writes to a socket.
        let asks = unsafe { low_level::register(SIGUSR1, move || write(&writer, SIGUSR1)) };
        self.ids.push(asks?);
        Ok(())
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
