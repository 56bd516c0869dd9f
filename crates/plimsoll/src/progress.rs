//! Progress on standard error: one live line on a terminal, plain lines now and then elsewhere.

mod layout;
mod line;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal};

use record::Note;
use runner::{RunEvent, Status};

use crate::clock::Stopwatch;
use crate::{diagnostics, stream};

use layout::LayoutRate;

/// Time between plain lines unless one is given: a log of an hour stays readable.
const PLAIN_INTERVAL_MS: u64 = 5_000;
/// Shortest time between two live lines: they are meant to be read.
const FRAME_MS: u64 = 250;
/// Erases the line and returns to its start.
const ERASE: &str = "\r\x1b[2K";

/// When progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressMode {
    /// A live line on a terminal, plain lines elsewhere.
    Auto,
    /// Plain lines.
    Plain,
    /// Never. Notes are still shown.
    Never,
}

/// Shows a run while it lasts. The terminal is as before when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    /// One line on a terminal is written again and again.
    is_live: bool,
    is_plain: bool,
    interval_ms: u64,
    clock: Stopwatch,
    /// When the last line was shown, milliseconds of `clock`.
    shown_ms: Option<u64>,
    /// A live line stands on the terminal.
    is_dirty: Cell<bool>,
    layout: LayoutRate,
    /// Notes that were shown: each run of a series has them again.
    notes: BTreeSet<String>,
}

impl Progress {
    /// Starts. `interval_ms` is the time between plain lines, 5 s where there is none.
    pub(crate) fn new(when: ProgressMode, interval_ms: Option<u64>) -> Self {
        let is_live = when == ProgressMode::Auto && io::stderr().is_terminal();
        Progress {
            is_live,
            is_plain: when == ProgressMode::Plain || (when == ProgressMode::Auto && !is_live),
            interval_ms: interval_ms.unwrap_or(PLAIN_INTERVAL_MS),
            clock: Stopwatch::start(),
            shown_ms: None,
            is_dirty: Cell::new(false),
            layout: LayoutRate::default(),
            notes: BTreeSet::new(),
        }
    }

    /// Takes an event of the run.
    pub(crate) fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Note(note) => {
                if self.notes.insert(note.message.clone()) {
                    self.print_note(note);
                }
            }
            RunEvent::Layout { path, done_bytes, total_bytes, is_last, .. } => {
                let now_ms = self.clock.elapsed().as_millis() as u64;
                self.layout.add(now_ms, *done_bytes);
                let left_s = self.layout.left_s(*total_bytes);
                let width = self.width();
                let line = line::layout(path, *done_bytes, *total_bytes, left_s, width);
                let is_done = done_bytes >= total_bytes;
                // The last bytes come with two events; the end is shown once, by the second.
                if *is_last || !is_done {
                    self.show(&line, is_done);
                }
            }
            RunEvent::Status(status) => self.status(status),
            RunEvent::Paused { left_ns, .. } => {
                let left_s = left_ns.div_ceil(1_000_000_000);
                self.show(&format!("pause before the next step, {left_s} s left"), false);
            }
            RunEvent::CommandEnded { output, .. } => {
                if !output.is_empty() {
                    self.print(output.trim_end());
                }
            }
            RunEvent::StepStarted { .. }
            | RunEvent::StepReady { .. }
            | RunEvent::StepSkipped { .. }
            | RunEvent::Tree { .. }
            | RunEvent::TreeMade { .. }
            | RunEvent::OtherTree { .. }
            | RunEvent::StepEnded { .. }
            | RunEvent::IoError(_)
            | RunEvent::JobsSoFar(_)
            | RunEvent::SeriesSoFar(_)
            | RunEvent::Interval(_)
            | RunEvent::StatusAsked(_)
            | RunEvent::Report(_) => {}
        }
    }

    /// Shows how something goes that is no event of a run.
    pub(crate) fn line(&mut self, line: &str) {
        let line: String = line.chars().take(self.width()).collect();
        self.show(&line, false);
    }

    /// Prints a text in place of the live line, which comes back below it.
    pub(crate) fn print(&self, text: &str) {
        self.erase();
        stream::print_message(text);
    }

    /// Does the same with a note.
    pub(crate) fn print_note(&self, note: &Note) {
        self.erase();
        diagnostics::print_note(note.severity, &note.message);
    }

    fn status(&mut self, status: &Status) {
        let line = line::status(status, self.width());
        self.show(&line, false);
    }

    /// Shows a line when it is time: a live one soon, a plain one after its interval or at the end.
    fn show(&mut self, line: &str, is_last: bool) {
        let now_ms = self.clock.elapsed().as_millis() as u64;
        if self.is_live {
            if self.shown_ms.is_none_or(|shown_ms| now_ms >= shown_ms + FRAME_MS) {
                self.shown_ms = Some(now_ms);
                self.is_dirty.set(true);
                stream::print_message(&format!("{ERASE}{line}"));
            }
        } else if self.is_plain {
            // The first line comes after an interval: short runs say nothing.
            let since_ms = now_ms - self.shown_ms.unwrap_or(0);
            if since_ms >= self.interval_ms || (is_last && now_ms >= self.interval_ms) {
                self.shown_ms = Some(now_ms);
                stream::print_message(&format!("{line}\n"));
            }
        }
    }

    fn erase(&self) {
        if self.is_dirty.replace(false) {
            stream::print_message(ERASE);
        }
    }

    /// Returns the columns for a line. An echoed `^C` must not break it.
    fn width(&self) -> usize {
        if self.is_live { stream::stderr_width().saturating_sub(3) } else { usize::MAX }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.erase();
    }
}
