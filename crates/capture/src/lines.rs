//! Lines of a stream in one buffer, and a stream that says how far it was read.

use std::io::{self, BufRead, Read};

/// Longest line. A row of PerfMon with ten thousand counters has 200 KiB.
const LINE_BYTES_MAX: u64 = 4 << 20;

/// Why a source cannot be read. Its name is the caller's to add.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A line makes no sense, and nothing after it would.
    #[error("line {line}: {message}")]
    Line {
        /// From 1.
        line: u64,
        /// What is wrong, and what to do about it.
        message: String,
    },
    /// The source as a whole makes no sense.
    #[error("{message}")]
    Whole {
        /// What is wrong, and what to do about it.
        message: String,
    },
    /// Nothing tells how long its samples last: rates are known, and no amounts.
    #[error("{message}")]
    Length {
        /// What is missing, and what to do about it.
        message: String,
    },
    /// The system could not read it.
    #[error("it cannot be read: {}", units::system_text(.0))]
    Io(#[from] io::Error),
}

impl ReadError {
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        ReadError::Whole { message: message.into() }
    }
}

/// Lines as bytes, one at a time, in one buffer.
pub(crate) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    line: Vec<u8>,
    n_read: u64,
    is_cut: bool,
    /// The last line is withheld: it stops within a number.
    is_last_left_out: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Self {
        Lines { input, line: Vec::new(), n_read: 0, is_cut: false, is_last_left_out: false }
    }

    /// Returns the next line without its end, or none after the last. A last line without an end
    /// that stops within a number is not given: the number may be the first part of a larger one.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, ReadError> {
        self.line.clear();
        let mut input = (&mut *self.input).take(LINE_BYTES_MAX);
        if input.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.n_read += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        } else if self.line.len() as u64 == LINE_BYTES_MAX {
            let message = format!("longer than {} MiB: this is not a log", LINE_BYTES_MAX >> 20);
            return Err(ReadError::Line { line: self.n_read, message });
        } else {
            self.is_cut = true;
            self.is_last_left_out = self.line.last().is_some_and(u8::is_ascii_digit);
            if self.is_last_left_out {
                return Ok(None);
            }
        }
        Ok(Some(&self.line))
    }

    /// Returns the number of the line that was given last.
    pub(crate) fn number(&self) -> u64 {
        self.n_read
    }

    /// Returns whether the last line of the stream has no end: it may have been cut off.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns whether the last line was not given.
    pub(crate) fn is_last_left_out(&self) -> bool {
        self.is_last_left_out
    }
}

/// A stream that tells how many bytes were read of it so far.
#[derive(Debug)]
pub struct Watched<R, F> {
    inner: R,
    n_bytes: u64,
    tell: F,
}

impl<R: Read, F: FnMut(u64)> Watched<R, F> {
    /// Watches a stream. `tell` is called after each read of it: put the buffer around this.
    pub fn new(inner: R, tell: F) -> Self {
        Watched { inner, n_bytes: 0, tell }
    }
}

impl<R: Read, F: FnMut(u64)> Read for Watched<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.inner.read(buffer)?;
        self.n_bytes += n_bytes as u64;
        (self.tell)(self.n_bytes);
        Ok(n_bytes)
    }
}
