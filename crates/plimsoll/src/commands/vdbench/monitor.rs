//! `monitor=`: a file whose first line ends a run, or all of them.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::PathBuf;

use units::system_text;

use crate::exit::Failure;
use crate::result_file;

/// Longest first line that is looked at.
const LINE_BYTES_MAX: u64 = 256;

/// What the file asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MonitorRequest {
    /// The run that goes on is over.
    EndRun,
    /// Everything is over.
    EndAll,
}

/// The file that is watched.
#[derive(Debug)]
pub(super) struct Monitor {
    path: PathBuf,
}

impl Monitor {
    /// Begins to watch: makes the file, or empties it of an earlier wish.
    pub(super) fn watch(path: &str) -> Result<Self, Failure> {
        let monitor = Monitor { path: PathBuf::from(path) };
        let begun = match fs::metadata(path) {
            Ok(facts) if !facts.is_file() => Err(io::Error::other("it is not a file")),
            Ok(facts) if facts.len() == 0 => Ok(()),
            // Whatever else is in there is not ours to throw away.
            Ok(_) if monitor.read().is_none() => {
                Err(io::Error::other("it holds something other than `end_rd` or `end_vdbench`"))
            }
            Ok(_) => monitor.clear(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                result_file::refuse_among_devices(&monitor.path).and_then(|()| monitor.clear())
            }
            Err(error) => Err(error),
        };
        begun.map(|()| monitor).map_err(|error| {
            Failure::wrong_use(format!(
                "monitor=`{path}` cannot be watched: {}",
                system_text(&error)
            ))
            .hint("name a file that may be made and emptied")
        })
    }

    /// Returns what the file asks for, once: it is emptied then.
    pub(super) fn wish(&self) -> Option<MonitorRequest> {
        let wish = self.read()?;
        // One that cannot be emptied ends everything: it would end every run otherwise.
        Some(if self.clear().is_ok() { wish } else { MonitorRequest::EndAll })
    }

    fn read(&self) -> Option<MonitorRequest> {
        let mut line = String::new();
        let file = File::open(&self.path).ok()?;
        BufReader::new(file.take(LINE_BYTES_MAX)).read_line(&mut line).ok()?;
        match line.trim().to_lowercase().as_str() {
            "end_rd" | "shutdown" => Some(MonitorRequest::EndRun),
            "end_vdbench" | "terminate" => Some(MonitorRequest::EndAll),
            _ => None,
        }
    }

    fn clear(&self) -> io::Result<()> {
        File::create(&self.path).map(drop)
    }
}
