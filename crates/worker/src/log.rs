//! What a worker sends to the log writer: one event per I/O, or per window and direction.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{SyncSender, TrySendError};

use plan::op::{Op, OpKind};
use plan::{Direction, IoPriority};

/// One line's worth of facts. Times count from the start of the worker's measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEvent {
    /// A completed I/O.
    Io {
        /// Completion.
        at_ns: u64,
        /// Direction.
        dir: Direction,
        /// Bytes moved.
        len: u32,
        /// First byte.
        offset: u64,
        /// From choice to submission.
        slat_ns: u64,
        /// From submission to completion.
        clat_ns: u64,
        /// From choice to completion.
        lat_ns: u64,
        /// Position of the file in the worker's table.
        file_idx: u32,
        /// Its own priority; [`IoPriority::NONE`] is the job's.
        priority: IoPriority,
    },
    /// An issued operation, for a record that can be replayed. Its time counts from the start of
    /// the worker.
    Issue {
        /// When it was chosen.
        at_ns: u64,
        /// What it does.
        kind: OpKind,
        /// Position of the file in the worker's table.
        file_idx: u32,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u32,
    },
    /// A window of one direction.
    Window {
        /// End of the window.
        at_ns: u64,
        /// Its length.
        length_ns: u64,
        /// Direction.
        dir: Direction,
        /// I/Os in it.
        n_ios: u64,
        /// Bytes in it.
        bytes: u64,
        /// Sum and maximum of slat, clat and lat.
        latencies: [(u64, u64); 3],
    },
}

/// The worker's end of the channel to the log writer.
///
/// The channel is bounded: a writer that cannot keep up holds the worker back rather than losing
/// lines, and every such moment is counted.
#[derive(Debug)]
pub struct LogSender {
    sender: SyncSender<LogEvent>,
    n_stalls: std::sync::Arc<AtomicU64>,
    window_ns: u64,
    windows: [Window; 3],
    window_since_ns: u64,
    sends_completions: bool,
    sends_issues: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    n_ios: u64,
    bytes: u64,
    latencies: [(u64, u64); 3],
}

/// A completed I/O as the log sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedIo {
    pub(crate) dir: Direction,
    pub(crate) len: u32,
    pub(crate) offset: u64,
    pub(crate) file_idx: u32,
    pub(crate) priority: IoPriority,
    pub(crate) slat_ns: u64,
    pub(crate) clat_ns: u64,
    pub(crate) lat_ns: u64,
}

impl LogSender {
    /// Makes a sender. `window_ns` 0 sends every I/O; `n_stalls` counts waits for the writer.
    pub fn new(
        sender: SyncSender<LogEvent>,
        window_ns: u64,
        n_stalls: std::sync::Arc<AtomicU64>,
    ) -> Self {
        LogSender {
            sender,
            n_stalls,
            window_ns,
            windows: [Window::default(); 3],
            window_since_ns: 0,
            sends_completions: true,
            sends_issues: false,
        }
    }

    /// Sends operations as they are issued, too; completions only if they are wanted.
    #[must_use]
    pub fn with_issues(mut self, completions: bool) -> Self {
        self.sends_issues = true;
        self.sends_completions = completions;
        self
    }

    /// Takes one operation that is issued `at_ns` after the start of the worker.
    #[inline]
    pub(crate) fn issue(&self, at_ns: u64, op: &Op) {
        if self.sends_issues {
            let Op { kind, offset, len, .. } = *op;
            self.send(LogEvent::Issue { at_ns, kind, file_idx: op.file.0, offset, len });
        }
    }

    /// Takes one I/O that completed `at_ns` after the start of the measured time.
    pub(crate) fn io(&mut self, at_ns: u64, io: &LoggedIo) {
        if !self.sends_completions {
            return;
        }
        if self.window_ns == 0 {
            self.send(LogEvent::Io {
                at_ns,
                dir: io.dir,
                len: io.len,
                offset: io.offset,
                slat_ns: io.slat_ns,
                clat_ns: io.clat_ns,
                lat_ns: io.lat_ns,
                file_idx: io.file_idx,
                priority: io.priority,
            });
            return;
        }
        self.end_windows_before(at_ns);
        let window = &mut self.windows[io.dir as usize];
        window.n_ios += 1;
        window.bytes += u64::from(io.len);
        for (slot, value) in window.latencies.iter_mut().zip([io.slat_ns, io.clat_ns, io.lat_ns]) {
            slot.0 += value;
            slot.1 = slot.1.max(value);
        }
    }

    /// Sends the last, partial window. At the end of the worker.
    pub(crate) fn finish(&mut self, at_ns: u64) {
        if self.window_ns == 0 {
            return;
        }
        let since_ns = self.window_since_ns;
        assert!(at_ns >= since_ns, "a log ends at {at_ns} ns, in a window from {since_ns} ns on");
        self.end_windows_before(at_ns);
        if at_ns > self.window_since_ns {
            self.end_window(at_ns);
        }
    }

    /// Ends every window that is over at `at_ns`.
    #[inline]
    fn end_windows_before(&mut self, at_ns: u64) {
        while at_ns >= self.window_since_ns + self.window_ns {
            self.end_window(self.window_since_ns + self.window_ns);
        }
    }

    fn end_window(&mut self, at_ns: u64) {
        let length_ns = at_ns - self.window_since_ns;
        for dir in Direction::ALL {
            let window = std::mem::take(&mut self.windows[dir as usize]);
            if window.n_ios > 0 {
                let Window { n_ios, bytes, latencies } = window;
                self.send(LogEvent::Window { at_ns, length_ns, dir, n_ios, bytes, latencies });
            }
        }
        self.window_since_ns = at_ns;
    }

    fn send(&self, event: LogEvent) {
        if let Err(TrySendError::Full(event)) = self.sender.try_send(event) {
            self.n_stalls.store(self.n_stalls.load(Relaxed) + 1, Relaxed);
            // A closed channel means the writer failed and has said so; the run goes on.
            let _closed = self.sender.send(event);
        }
    }
}
