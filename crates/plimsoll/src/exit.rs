//! How the program ends: exit codes, and failures with what to do about them.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use units::system_text;

use crate::fill::fill;
use crate::stream;

/// What the exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Fine,
    /// The run failed.
    RunFailed,
    /// Wrong use, or a mistake in a file; nothing was run.
    WrongUse,
    /// Measured, but invalid or partial.
    Invalid,
    /// Worse than it should be, or a need that is not met.
    Missed,
    /// Interrupted; what was measured until then was reported.
    Interrupted,
    /// A code of fio's own: 1 for mistakes, the number of failed jobs, 128 on a signal.
    Fio(u8),
    /// A code of Vdbench's own: 0, 157 for any failure, 130 on a signal.
    Vdbench(u8),
}

impl Exit {
    /// Returns the number.
    pub(crate) fn number(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::RunFailed => 1,
            Exit::WrongUse => 2,
            Exit::Invalid => 3,
            Exit::Missed => 4,
            Exit::Interrupted => 130,
            Exit::Fio(code) | Exit::Vdbench(code) => code,
        }
    }

    /// Ends with this once the result was written. A reader that has seen enough changes nothing
    /// about how the run went.
    pub(crate) fn once(self, written: io::Result<()>) -> Result<Self, Failure> {
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(self),
        }
    }

    /// Turns success into a failure if the run was not stored, or its lines not written, as asked.
    pub(crate) fn if_kept(self, is_kept: bool) -> Self {
        if self == Exit::Fine && !is_kept { Exit::RunFailed } else { self }
    }

    /// Returns the number as the system takes it.
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }
}

/// Why a command ends early: a message, what to do, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    hints: Vec<String>,
}

impl Failure {
    /// Makes one of wrong use. The message is one sentence: lower case, no final full stop.
    pub(crate) fn wrong_use(message: impl Into<String>) -> Self {
        Failure { exit: Exit::WrongUse, message: message.into(), hints: Vec::new() }
    }

    /// Makes one without a message of its own, for what was explained already.
    pub(crate) fn silent(exit: Exit) -> Self {
        Failure { exit, message: String::new(), hints: Vec::new() }
    }

    /// Adds a next step.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Changes the exit code.
    #[must_use]
    pub(crate) fn with(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Returns the message, without hints.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns the exit code.
    #[cfg(test)]
    pub(crate) fn exit_number(&self) -> u8 {
        self.exit.number()
    }

    /// Prints the message and its hints, and returns the code to end with.
    pub(crate) fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            stream::print_message(&self.text(stream::stderr_columns()));
        }
        self.exit.code()
    }

    /// Returns the message and its hints; each on one line where there is no terminal, whose
    /// columns they would fit.
    fn text(&self, columns: Option<usize>) -> String {
        let columns = columns.unwrap_or(usize::MAX);
        let mut text = fill("error: ", &self.message, columns);
        if !self.hints.is_empty() {
            text.push('\n');
        }
        for hint in &self.hints {
            text.push_str(&fill("hint: ", hint, columns));
        }
        text
    }
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

impl From<io::Error> for Failure {
    /// A closed pipe is not an error: the reader has seen enough.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::silent(Exit::Fine);
        }
        let cause: Option<&(dyn Error + Send + Sync)> = error.get_ref();
        if cause.is_some_and(<dyn Error + Send + Sync>::is::<AlreadyReported>) {
            return Failure::silent(Exit::RunFailed);
        }
        let message = format!("cannot write the result: {}", system_text(&error));
        Failure { exit: Exit::RunFailed, message, hints: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_fits_the_terminal_and_is_one_line_elsewhere() {
        let failure = Failure::wrong_use("`/mnt/a` is in use: a program has a file open there")
            .hint("detach it at once with --lazy, or end it");
        assert_eq!(
            failure.text(Some(40)),
            "error: `/mnt/a` is in use: a program has\n       a file open there\n\n\
             hint: detach it at once with --lazy, or\n      end it\n"
        );
        assert_eq!(failure.text(None).lines().count(), 3);
        let lines = Failure::wrong_use("first line\nsecond line").text(Some(80));
        assert_eq!(lines, "error: first line\n       second line\n");
    }
}
