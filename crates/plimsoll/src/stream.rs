//! Where text goes: data to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Mutex, PoisonError};

use crate::env;
use crate::fill::fill;

/// Columns assumed where the terminal does not tell.
const WIDTH_DEFAULT: usize = 80;

/// Writes data to standard output at once.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes data that is no text to standard output at once.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// What is to be written to standard error once the terminal is free again.
static HELD: Mutex<Option<String>> = Mutex::new(None);

/// Most bytes of it.
const HELD_MAX: usize = 1 << 20;

/// Holds back what goes to standard error: the terminal shows something else.
pub(crate) fn hold() {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// Writes what was held back, and holds nothing back any more.
pub(crate) fn release() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    print_message(&held.unwrap_or_default());
}

/// Writes to standard error. Where it is closed, no one is there to read it.
pub(crate) fn print_message(text: &str) {
    if let Some(held) = &mut *HELD.lock().unwrap_or_else(PoisonError::into_inner) {
        if held.len() + text.len() <= HELD_MAX {
            held.push_str(text);
        }
        return;
    }
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Returns whether standard output and standard error are read in one place: a terminal, or one
/// file or pipe (`2>&1`).
pub(crate) fn are_one_place() -> bool {
    let id = |stream: BorrowedFd<'_>| {
        rustix::fs::fstat(stream).ok().map(|facts| (facts.st_dev, facts.st_ino))
    };
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let are_terminals = stdout.is_terminal() && stderr.is_terminal();
    are_terminals || id(stdout.as_fd()).is_some_and(|own| id(stderr.as_fd()) == Some(own))
}

/// Returns whether text on standard error may be coloured: a terminal, and `NO_COLOR` is not set.
pub(crate) fn stderr_has_colour() -> bool {
    io::stderr().is_terminal()
        && !env::NO_COLOR.is_set()
        && env::TERM.get().as_deref() != Some("dumb")
}

/// Returns the columns of the terminal behind standard error, or 80.
pub(crate) fn stderr_width() -> usize {
    stderr_columns().unwrap_or(WIDTH_DEFAULT)
}

/// Returns the columns of the terminal behind standard error, if there is one.
pub(crate) fn stderr_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    let columns = usize::from(size.ws_col);
    Some(if columns == 0 { WIDTH_DEFAULT } else { columns })
}

/// Says something on standard error: in the columns of its terminal, with lines after the first
/// below the text; on one line where there is none.
pub(crate) fn remark(head: &str, text: &str) {
    print_message(&fill(head, text, stderr_columns().unwrap_or(usize::MAX)));
}

/// Returns the columns of the terminal behind standard output, if there is one.
pub(crate) fn stdout_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Cuts a line that ends in a carriage return so that it does not break on the terminal behind
/// standard output. Elsewhere it stays whole.
pub(crate) fn fit_stdout(line: &str) -> String {
    let Some(columns) = stdout_columns() else { return line.to_owned() };
    if line.trim_end().chars().count() < columns {
        return line.to_owned();
    }
    line.chars().take(columns - 1).chain(['\r']).collect()
}
