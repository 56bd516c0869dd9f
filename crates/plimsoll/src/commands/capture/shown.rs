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

    /// Shows how much of a file was read since `begun`.
    pub(super) fn file(
        &mut self,
        name: &str,
        n_bytes: u64,
        size_bytes: Option<u64>,
        begun: &Stopwatch,
    ) {
        let is_live = self.is_live;
        self.show(|| of_file(name, n_bytes, size_bytes, begun.elapsed(), is_live));
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

/// Cells of the bar.
const BAR_CELLS: usize = 24;

/// Says how far a file was read in `elapsed`, and how long the rest takes at that pace; with a bar
/// where its size is known.
fn of_file(
    name: &str,
    n_bytes: u64,
    size_bytes: Option<u64>,
    elapsed: Duration,
    has_bar: bool,
) -> String {
    let per_s = n_bytes as f64 / elapsed.as_secs_f64().max(1e-3);
    let pace = units::format_rate_mb_s(per_s);
    let Some(size_bytes) = size_bytes else {
        return format!("{name}: {}, {pace}", units::format_bytes(n_bytes));
    };
    let share = (n_bytes as f64 / size_bytes.max(1) as f64).min(1.0);
    let n_full = (share * BAR_CELLS as f64) as usize;
    let bar = format!("[{}{}] ", "#".repeat(n_full), ".".repeat(BAR_CELLS - n_full));
    let left_s = size_bytes.saturating_sub(n_bytes) as f64 / per_s.max(1.0);
    let left = units::format_duration(Duration::from_secs(left_s.ceil() as u64));
    let (percent, size) = (units::format_percent(share), units::format_bytes(size_bytes));
    let bar = if has_bar { bar.as_str() } else { "" };
    format!("{name}: {bar}{percent} of {size}, {pace}, {left} left")
}

impl Drop for Shown {
    fn drop(&mut self) {
        if self.is_dirty {
            stream::print_message(ERASE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_bar_and_the_time_that_is_left() {
        let check = |n_bytes, size_bytes, expected: &str| {
            let line = of_file("trace.txt", n_bytes, size_bytes, Duration::from_secs(10), true);
            assert_eq!(line, expected);
        };
        // A quarter in 10 s: 30 s are left.
        let quarter =
            "trace.txt: [######..................] 25.0 % of 40.0 GiB, 1074 MB/s, 30s left";
        check(10 << 30, Some(40 << 30), quarter);
        // It grew while it was read.
        let whole = "trace.txt: [########################] 100.0 % of 5.00 GiB, 1074 MB/s, 0s left";
        check(10 << 30, Some(5 << 30), whole);
        check(10 << 30, None, "trace.txt: 10.0 GiB, 1074 MB/s");
        let plain = of_file("t", 1, Some(4), Duration::from_secs(1), false);
        assert!(!plain.contains('['), "{plain}");
    }
}
