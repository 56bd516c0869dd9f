//! How far the search is, on a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::stream;

/// Shortest time between two lines: they are meant to be read.
const FRAME: Duration = Duration::from_millis(250);

/// Erases the line and returns to its start.
const ERASE: &str = "\r\x1b[2K";

/// A line that is written again and again; nothing where standard error is no terminal.
pub(super) struct Progress {
    clock: Stopwatch,
    /// What is counted.
    what: String,
    is_live: bool,
    shown: Option<Duration>,
}

impl Progress {
    pub(super) fn new(what: impl Into<String>) -> Self {
        let is_live = io::stderr().is_terminal();
        Progress { clock: Stopwatch::start(), what: what.into(), is_live, shown: None }
    }

    /// Shows how much is done of all, where the line before was there long enough; what is done
    /// within the first frame shows nothing.
    pub(super) fn show(&mut self, n_done: usize, n_all: usize) {
        let now = self.clock.elapsed();
        if !self.is_live || now < self.shown.unwrap_or_default() + FRAME {
            return;
        }
        self.shown = Some(now);
        let line = line(&self.what, n_done, n_all, now);
        stream::print_message(&format!("{ERASE}{line}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            stream::print_message(ERASE);
        }
    }
}

fn line(what: &str, n_done: usize, n_all: usize, elapsed: Duration) -> String {
    let left_s = elapsed.as_secs_f64() / n_done as f64 * (n_all - n_done) as f64;
    let pct = n_done * 100 / n_all;
    format!("{what}: {n_done} of {n_all} ({pct} %), about {left_s:.0} s left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_at_the_pace_until_now() {
        let line = line("designs", 250, 1000, Duration::from_secs(10));
        assert_eq!(line, "designs: 250 of 1000 (25 %), about 30 s left");
    }
}
