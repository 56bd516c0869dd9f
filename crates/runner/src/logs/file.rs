//! One log file: lines collect in memory and go out in large writes.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dialects::fio::output::packed_log;
use units::system_text;

/// A file that lines are added to. It survives a full disk: it keeps what was written whole, counts
/// what was lost, and says so at the end.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    /// `None` after an error.
    file: Option<File>,
    /// Whole lines that are not written yet.
    text: String,
    /// Write when the text has reached this length.
    flush_at_bytes: usize,
    /// Length of the file.
    len_bytes: u64,
    error: Option<io::Error>,
    n_lines_lost: u64,
    /// Lines are compressed.
    packed: bool,
}

impl LogFile {
    /// Opens a file to be written anew, or to be continued.
    pub(super) fn open(path: &Path, append: bool, flush_at_bytes: usize) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = if append {
            options.append(true).create(true).open(path)?
        } else {
            options.write(true).create(true).truncate(true).open(path)?
        };
        let len_bytes = file.metadata()?.len();
        Ok(LogFile {
            path: path.to_owned(),
            file: Some(file),
            text: String::new(),
            flush_at_bytes,
            len_bytes,
            error: None,
            n_lines_lost: 0,
            packed: false,
        })
    }

    /// Compresses what is written from here on.
    pub(super) fn packed(mut self) -> Self {
        self.packed = true;
        self
    }

    /// Lets `put` add whole lines.
    #[inline]
    pub(super) fn add(&mut self, put: impl FnOnce(&mut String)) {
        put(&mut self.text);
        if self.text.len() >= self.flush_at_bytes {
            self.flush();
        }
    }

    /// Writes what has collected.
    #[cold]
    pub(super) fn flush(&mut self) {
        if let Err(error) = self.write_text() {
            self.file = None;
            self.error = Some(error);
        }
        self.text.clear();
    }

    fn write_text(&mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let packed = if self.packed { packed_log::pack(self.text.as_bytes()) } else { Vec::new() };
        let bytes = if self.packed { &packed } else { self.text.as_bytes() };
        let mut n_done = 0;
        while n_done < bytes.len() {
            let Some(file) = &mut self.file else {
                self.n_lines_lost += n_lines(&self.text);
                return Ok(());
            };
            match file.write(&bytes[n_done..]) {
                Ok(0) => return Err(self.give_up(n_done, io::ErrorKind::WriteZero.into())),
                Ok(n) => n_done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.give_up(n_done, error)),
            }
        }
        self.len_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Ends the file behind its last whole line.
    fn give_up(&mut self, n_done: usize, error: io::Error) -> io::Error {
        let bytes = self.text.as_bytes();
        // Of a stream that is cut, nothing counts.
        let n_written = if self.packed { 0 } else { n_done };
        let n_whole =
            bytes[..n_written].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.n_lines_lost += n_lines(&self.text[n_whole..]);
        if let Some(file) = &self.file {
            // Not every target can be cut; then its last line stays broken.
            let _cut = file.set_len(self.len_bytes + n_whole as u64);
        }
        error
    }

    /// Writes the rest. Returns what went wrong, in words.
    pub(super) fn finish(mut self) -> Option<String> {
        self.flush();
        let error = self.error?;
        let (path, n_lost) = (self.path.display(), self.n_lines_lost);
        Some(format!("log `{path}` ends early: {}; {n_lost} lines are lost", system_text(&error)))
    }
}

fn n_lines(text: &str) -> u64 {
    text.lines().count() as u64
}
