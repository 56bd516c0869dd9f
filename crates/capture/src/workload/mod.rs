//! A composite workload from an application's own trace: what its processes do with files, by the
//! calls that `strace -f -ttt -y` shows.
//!
//! [`CallTrace`] follows the processes of a trace: which files they have open, and what becomes of
//! each. When a file is closed, what was done with it becomes operations of a mix
//! (`open_file.rs`). [`Workload`] is the sum: a component for each program, with its mix, its pace,
//! its sizes and its files, which `text.rs` writes as `[unit]` of a plan.
//!
//! [`MountCounts`] make one of what an NFS client counts (`nfs.rs`).
//!
//! What a trace does not show is not made up: contents of files, pages of mappings that are touched
//! and I/O that is handed over in bulk are in the notes.

mod call;
mod component;
mod files;
mod nfs;
mod observe;
mod open_file;
mod processes;
mod program;
mod rate;
mod text;

use std::io::BufRead;

pub use component::{Component, Workload};
pub use nfs::MountCounts;

pub(crate) use call::is_line;
use call::{Halves, Unclear};
use observe::LeftOut;
use processes::Processes;

use crate::lines::{Lines, ReadError};

/// Where the system has files of its own, which count only where they are asked for.
const OF_THE_SYSTEM: [&str; 13] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run",
    "/sbin", "/sys", "/usr",
];

/// Which files count.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Those in and below these folders, by whole paths; none: all but those of the system.
    pub below: Vec<String>,
}

impl Scope {
    /// Returns whether a file counts.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let is_below = |folder: &str| {
            let rest = path.strip_prefix(folder.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.below.is_empty() {
            // A name that is no path is a pipe or a socket.
            !path.contains(":[") && !OF_THE_SYSTEM.iter().any(|folder| is_below(folder))
        } else {
            self.below.iter().any(|folder| is_below(folder))
        }
    }
}

/// A trace of calls that is being read.
#[derive(Debug, Default)]
pub struct CallTrace {
    processes: Processes,
    left_out: LeftOut,
    n_calls: u64,
    /// Lines that could not be understood, and where the first of them is.
    n_unclear: u64,
    first_unclear: Option<String>,
}

impl CallTrace {
    /// Begins a trace of the files that count.
    pub fn new(scope: Scope) -> Self {
        let mut trace = CallTrace::default();
        trace.processes.scope = scope;
        trace
    }

    /// Reads a source to its end. Several are parts of one trace, as `strace -ff` writes them:
    /// where lines do not name a process, all of a source are of one.
    ///
    /// # Errors
    /// Where the system fails, or no line of it can be used.
    pub fn read(&mut self, name: &str, input: &mut dyn BufRead) -> Result<(), ReadError> {
        let mut lines = Lines::new(input);
        let mut halves = Halves::default();
        let n_before = self.n_calls;
        while let Some(line) = lines.next()? {
            let line = String::from_utf8_lossy(line).into_owned();
            let number = lines.number();
            let parent = halves.parent().map(|(pid, text)| (pid, text.to_owned()));
            match halves.take(&line) {
                Ok(Some(call)) => {
                    self.n_calls += 1;
                    let parent = parent.as_ref().map(|(pid, text)| (*pid, &**text));
                    self.processes.enter(&call, parent);
                    observe::take(&call, &mut self.processes, &mut self.left_out);
                }
                Ok(None) => {}
                Err(Unclear::NoTime) => return Err(no_clock(number, "has no time")),
                Err(Unclear::RelativeTime) => {
                    return Err(no_clock(number, "has a time since the line before (`-r`)"));
                }
                Err(Unclear::Other) => {
                    self.n_unclear += 1;
                    self.first_unclear.get_or_insert_with(|| format!("`{name}`, line {number}"));
                }
            }
        }
        halves.clear();
        self.processes.end_source();
        if self.n_calls == n_before {
            return Err(ReadError::whole(
                "there is no call in it: write it with `strace -f -ttt -y -o FILE PROGRAM`",
            ));
        }
        Ok(())
    }

    /// Returns whether it has no call.
    pub fn is_empty(&self) -> bool {
        self.n_calls == 0
    }

    /// Returns what it came to.
    ///
    /// # Errors
    /// Says why there is none: no file that counts was worked on.
    pub fn finish(mut self) -> Result<Workload, String> {
        self.processes.end_all();
        component::workload(self)
    }
}

fn no_clock(line: u64, what: &str) -> ReadError {
    let message = format!(
        "a call {what}: rates need the time of day; write the trace with `strace -f -ttt -y -o \
         FILE PROGRAM`"
    );
    ReadError::Line { line, message }
}
