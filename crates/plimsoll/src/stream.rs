//! Where text goes: data to standard output or a file, everything else to standard error.

use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use plan::Plan;
use units::system_text;

use crate::env;
use crate::exit::Failure;
use crate::fill::fill;
use crate::inputs;
use crate::result_file::{ResultFile, not_written};

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

/// Writes to standard error. Where it is closed, there is no one to tell.
pub(crate) fn print_message(text: &str) {
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

/// Where the result goes: standard output, or a file that is opened before the run, so that a
/// mistyped name does not cost the result of an hour.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Standard output.
    Stdout,
    /// A file.
    File(ResultFile),
}

/// A result that could not be written where it was to be, of which a message was printed.
#[derive(Debug)]
pub(crate) struct AlreadyReported;

impl std::error::Error for AlreadyReported {}

impl std::fmt::Display for AlreadyReported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the result was not written to its file")
    }
}

impl Sink {
    /// Opens the file, unless this command reads it, or takes standard output.
    pub(crate) fn open(path: Option<&str>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Sink::Stdout) };
        let path = Path::new(path);
        inputs::refuse(path)?;
        ResultFile::open(path).map(Sink::File).map_err(|error| not_written(path, &error))
    }

    /// Opens a file for the result of a plan, unless the plan was read from it, replays it, or
    /// works on it.
    pub(crate) fn open_beside(path: Option<&str>, plan: &Plan) -> Result<Self, Failure> {
        let Some(named) = path else { return Ok(Sink::Stdout) };
        let file = Path::new(named);
        let is_file = std::fs::metadata(file).map_or(true, |facts| facts.is_file());
        plan.jobs().flat_map(|job| &job.logs.read_replay).map(Path::new).for_each(inputs::note);
        if is_file && runner::target_paths(plan).any(|target| inputs::is_same(&target, file)) {
            let why = "is a target of a job: the result would replace what it holds";
            let failure = Failure::wrong_use(format!("`{named}` {why}"));
            return Err(failure.hint("name another file with `--output`"));
        }
        Sink::open(path)
    }

    /// Returns whether the result goes to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Sink::Stdout)
    }

    /// Writes. What a file does not take goes to standard output: no result is lost.
    pub(crate) fn write(&mut self, text: &str) -> io::Result<()> {
        match self {
            Sink::Stdout => print(text),
            Sink::File(file) => file.write(text.as_bytes()).or_else(|error| {
                let path = file.path().display();
                print_message(&format!(
                    "error: cannot write to `{path}`: {}; it follows here\n",
                    system_text(&error)
                ));
                print(text)?;
                // A script that looks for the file must not read its absence as success.
                Err(io::Error::other(AlreadyReported))
            }),
        }
    }
}
