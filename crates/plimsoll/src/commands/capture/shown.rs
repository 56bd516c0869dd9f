//! Progress of a capture: one live line on a terminal, a plain line a minute elsewhere.

use std::io::{self, IsTerminal};
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::stream;

/// Shortest time between two live lines.
const FRAME: Duration = Duration::from_millis(250);
/// Time between two plain lines.
const PLAIN: Duration = Duration::from_mins(1);
/// Erases the line and returns to its start.
const ERASE: &str = "\r\x1b[2K";

/// Shows how far a capture is.
pub(super) struct Shown {
    is_off: bool,
    is_live: bool,
    clock: Stopwatch,
    last: Duration,
    is_dirty: bool,
}

impl Shown {
    pub(super) fn new(is_off: bool) -> Self {
        let is_live = io::stderr().is_terminal();
        Shown { is_off, is_live, clock: Stopwatch::start(), last: Duration::ZERO, is_dirty: false }
    }

    /// Shows how much of a file was read.
    pub(super) fn file(&mut self, name: &str, n_bytes: u64, size_bytes: Option<u64>) {
        let read = units::format_bytes(n_bytes);
        self.show(|| match size_bytes {
            Some(size_bytes) => {
                let share = n_bytes as f64 / size_bytes.max(1) as f64;
                let (percent, size) =
                    (units::format_percent(share.min(1.0)), units::format_bytes(size_bytes));
                format!("{name}: {percent} of {size}")
            }
            None => format!("{name}: {read}"),
        });
    }

    /// Reports that the host is watched from now on.
    pub(super) fn begin(&self, length: Duration) {
        if !self.is_off {
            let length = units::format_duration(length);
            stream::print_message(&format!(
                "capturing for {length}; Ctrl-C ends it and keeps what was captured\n"
            ));
        }
    }

    /// Shows what the host does.
    pub(super) fn host(&mut self, elapsed: Duration, length: Duration, what: &str) {
        let elapsed = units::format_duration(Duration::from_secs(elapsed.as_secs()));
        let length = units::format_duration(length);
        self.show(|| format!("{elapsed} of {length}  {what}"));
    }

    fn show(&mut self, line: impl FnOnce() -> String) {
        let now = self.clock.elapsed();
        let pause = if self.is_live { FRAME } else { PLAIN };
        if self.is_off || now < self.last + pause {
            return;
        }
        self.last = now;
        if self.is_live {
            let width = stream::stderr_width();
            let line: String = line().chars().take(width.saturating_sub(1)).collect();
            stream::print_message(&format!("{ERASE}{line}"));
            self.is_dirty = true;
        } else {
            stream::print_message(&format!("{}\n", line()));
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if self.is_dirty {
            stream::print_message(ERASE);
        }
    }
}
