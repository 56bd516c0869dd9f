//! Where a result goes: standard output, or a file.

use std::path::Path;
use std::{fmt, io};

use plan::Plan;
use units::system_text;

use crate::exit::{AlreadyReported, Failure};
use crate::inputs;
use crate::result_file::{ResultFile, not_written};
use crate::stream::{print, print_message};

/// Where the result goes: standard output, or a file that is opened before the run, so that a
/// mistyped name does not cost the result of an hour.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Standard output.
    Stdout,
    /// A file.
    File(ResultFile),
}

impl Sink {
    /// Opens the file, unless this command reads it, or takes standard output.
    pub(crate) fn open(path: Option<&str>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Sink::Stdout) };
        let path = Path::new(path);
        inputs::refuse(path)?;
        ResultFile::open(path).map(Sink::File).map_err(|error| not_written(path, &error))
    }

    /// Opens a file for the result of a run. One that may change nothing does not replace a result.
    pub(crate) fn open_of_run(path: Option<&str>, is_read_only: bool) -> Result<Self, Failure> {
        if let Some(path) = path.filter(|_| is_read_only) {
            inputs::refuse_to_change(Path::new(path), "replaces nothing")?;
        }
        Sink::open(path)
    }

    /// Opens a file for the result of a plan, likewise, unless the plan was read from it, replays
    /// it, or works on it. That of a run that may change nothing is in no folder it measures in.
    pub(crate) fn open_beside(
        path: Option<&str>,
        plan: &Plan,
        is_read_only: bool,
    ) -> Result<Self, Failure> {
        let Some(named) = path else { return Ok(Sink::Stdout) };
        refuse_target(named, plan, is_read_only)?;
        Sink::open_of_run(path, is_read_only)
    }

    /// Opens a file that the result of a plan is added to, likewise. A run that may change nothing
    /// does not add to one, either.
    pub(crate) fn open_to_add(
        named: &str,
        plan: &Plan,
        is_read_only: bool,
    ) -> Result<Self, Failure> {
        refuse_target(named, plan, is_read_only)?;
        let path = Path::new(named);
        if is_read_only {
            inputs::refuse_to_change(path, "adds nothing to it")?;
        }
        inputs::refuse(path)?;
        ResultFile::open_to_add(path).map(Sink::File).map_err(|error| not_written(path, &error))
    }

    /// Returns whether the result goes to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Sink::Stdout)
    }

    /// Writes. What a file does not take goes to standard output: no result is lost.
    pub(crate) fn write(&mut self, text: &str) -> io::Result<()> {
        match self {
            Sink::Stdout => print(text),
            Sink::File(file) => file.write(text.as_bytes()).map_err(|error| {
                let path = file.path().display();
                print_message(&format!(
                    "error: cannot write to `{path}`: {}; it follows here\n",
                    system_text(&error)
                ));
                // A script that looks for the file must not read its absence as success, whether or
                // not anyone reads this.
                let _ = print(text);
                io::Error::other(AlreadyReported)
            }),
        }
    }

    /// Writes one of many parts. What a file does not take is lost: the caller reports it.
    pub(crate) fn write_part(&mut self, text: &str) -> io::Result<()> {
        match self {
            Sink::Stdout => print(text),
            Sink::File(file) => file.write(text.as_bytes()),
        }
    }
}

impl fmt::Display for Sink {
    /// Names it in a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sink::Stdout => f.write_str("standard output"),
            Sink::File(file) => write!(f, "`{}`", file.path().display()),
        }
    }
}

/// Refuses a result in the place of a target, and with `--readonly` one beside it.
fn refuse_target(named: &str, plan: &Plan, is_read_only: bool) -> Result<(), Failure> {
    let file = Path::new(named);
    let is_file = std::fs::metadata(file).map_or(true, |facts| facts.is_file());
    plan.jobs().flat_map(|job| &job.logs.read_replay).map(Path::new).for_each(inputs::note);
    if is_file && runner::target_paths(plan).any(|target| inputs::is_same(&target, file)) {
        let why = "is a target of a job: the result would replace what it holds";
        let failure = Failure::wrong_use(format!("`{named}` {why}"));
        return Err(failure.hint("name another file for the result"));
    }
    if is_read_only && is_file && runner::is_in_target(plan, file) {
        let why = "would lie in a target, and `--readonly` writes nothing there";
        let failure = Failure::wrong_use(format!("`{named}` {why}"));
        return Err(failure.hint("name a file in another folder for the result"));
    }
    Ok(())
}
