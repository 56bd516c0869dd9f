//! `monitor=`: a file whose first line ends a run, or all of them.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::time::SystemTime;

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
    /// The file is neither made nor emptied (`--readonly`).
    is_read_only: bool,
    /// When the request that was obeyed last was written, as far as it stays in the file.
    obeyed: Option<SystemTime>,
}

impl Monitor {
    /// Begins to watch: makes the file, or empties it of an earlier request. With `is_read_only` it
    /// does neither.
    pub(super) fn watch(path: &str, is_read_only: bool) -> Result<Self, Failure> {
        let monitor = Monitor { path: PathBuf::from(path), is_read_only, obeyed: None };
        let begun = match fs::metadata(path) {
            Ok(facts) if !facts.is_file() => Err(io::Error::other("it is not a file")),
            Ok(facts) if facts.len() == 0 => Ok(()),
            // Whatever else is in there is not ours to throw away.
            Ok(_) if monitor.read().is_none() => {
                Err(io::Error::other("it holds something other than `end_rd` or `end_vdbench`"))
            }
            Ok(_) if is_read_only => Err(io::Error::other(
                "it asks for an end already, and `--readonly` empties nothing",
            )),
            Ok(_) => monitor.clear(),
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_read_only => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                result_file::refuse_among_devices(&monitor.path).and_then(|()| monitor.clear())
            }
            Err(error) => Err(error),
        };
        let hint = if is_read_only {
            "name an empty file, or one that is not there yet"
        } else {
            "name a file that may be made and emptied"
        };
        begun.map(|()| monitor).map_err(|error| {
            let why = system_text(&error);
            Failure::wrong_use(format!("monitor=`{path}` cannot be watched: {why}")).hint(hint)
        })
    }

    /// Returns what the file asks for, once: it is emptied then, or not looked at until it is
    /// written anew.
    pub(super) fn request(&mut self) -> Option<MonitorRequest> {
        let request = self.read()?;
        let is_taken = if self.is_read_only {
            let written = fs::metadata(&self.path).and_then(|facts| facts.modified()).ok();
            if written.is_some() && written == self.obeyed {
                return None;
            }
            self.obeyed = written;
            written.is_some()
        } else {
            self.clear().is_ok()
        };
        // One that stays as it is ends everything: it would end every run otherwise.
        Some(if is_taken { request } else { MonitorRequest::EndAll })
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Watches a file with this text. Returns what it asks for, asked twice, and its text then.
    fn taken(text: &str, is_read_only: bool) -> ([Option<MonitorRequest>; 2], String) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().to_str().expect("plain");
        let mut monitor = Monitor::watch(path, is_read_only).expect("it is empty");
        fs::write(path, text).expect("it is ours");
        let requests = [monitor.request(), monitor.request()];
        (requests, fs::read_to_string(path).expect("it is there"))
    }

    #[test]
    fn a_request_is_taken_once() {
        let end_run = Some(MonitorRequest::EndRun);
        assert_eq!(taken("end_rd\n", false), ([end_run, None], String::new()));
        assert_eq!(taken("end_rd\n", true), ([end_run, None], "end_rd\n".to_owned()));
        assert_eq!(taken("other\n", true), ([None, None], "other\n".to_owned()));
    }

    #[test]
    fn a_request_that_is_written_anew_is_taken_again() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().to_str().expect("plain");
        let mut monitor = Monitor::watch(path, true).expect("it is empty");
        fs::write(path, "end_rd").expect("it is ours");
        assert_eq!(monitor.request(), Some(MonitorRequest::EndRun));
        let written = file.as_file().metadata().and_then(|facts| facts.modified());
        let later = written.expect("it is there") + Duration::from_secs(1);
        file.as_file().set_modified(later).expect("it is ours");
        assert_eq!(monitor.request(), Some(MonitorRequest::EndRun));
        assert_eq!(monitor.request(), None);
    }
}
