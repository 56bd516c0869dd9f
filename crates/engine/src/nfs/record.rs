//! Record marking (RFC 5531, section 11): how messages are separated in a stream of bytes.
//!
//! A record is one message, cut into fragments; each has its length in front, and the last one says
//! so. Nothing is gathered here: the caller is shown each part where it lies.

use super::xdr::XdrError;

/// Most bytes of one record: the largest transfer of any server we know (1 MiB), and room for what
/// is around it. A length above it is a sign of a lost place in the stream.
pub const RECORD_BYTES_MAX: u32 = 2 << 20;

/// Bit of a fragment's mark that says that it is the record's last.
const LAST: u32 = 1 << 31;

/// A part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Bytes of the message; may be empty.
    pub bytes: &'a [u8],
    /// The record ends behind them.
    pub is_end: bool,
}

/// Where in a stream of records the reader is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Records {
    mark: [u8; 4],
    n_mark: usize,
    /// Bytes of the fragment that are still to come.
    left_bytes: u32,
    is_last: bool,
    record_bytes: u32,
}

impl Records {
    /// Takes the next part of a record off the front of `input`, or `None` when it is used up.
    ///
    /// # Errors
    /// `Malformed` for a record that is too long.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Part<'a>>, XdrError> {
        while self.left_bytes == 0 {
            let n_taken = input.len().min(4 - self.n_mark);
            let (mark, rest) = input.split_at(n_taken);
            self.mark[self.n_mark..self.n_mark + n_taken].copy_from_slice(mark);
            self.n_mark += n_taken;
            *input = rest;
            if self.n_mark < 4 {
                return Ok(None);
            }
            self.n_mark = 0;
            let mark = u32::from_be_bytes(self.mark);
            self.is_last = mark & LAST != 0;
            self.left_bytes = mark & !LAST;
            self.record_bytes = self.record_bytes.saturating_add(self.left_bytes);
            if self.record_bytes > RECORD_BYTES_MAX {
                return Err(XdrError::Malformed("length of a record"));
            }
            if self.left_bytes == 0 && self.is_last {
                self.record_bytes = 0;
                return Ok(Some(Part { bytes: &[], is_end: true }));
            }
        }
        let (bytes, rest) = input.split_at(input.len().min(self.left_bytes as usize));
        if bytes.is_empty() {
            return Ok(None);
        }
        *input = rest;
        Ok(Some(Part { bytes, is_end: self.advance(bytes.len()) }))
    }

    /// Returns how many bytes of the message come next without a mark between them.
    pub(super) fn run_bytes(&self) -> usize {
        self.left_bytes as usize
    }

    /// Passes over `n` bytes of the run, which the caller took from the stream itself. Says whether
    /// the record ends behind them.
    pub(super) fn advance(&mut self, n: usize) -> bool {
        self.left_bytes -= n as u32;
        let is_end = self.left_bytes == 0 && self.is_last;
        if is_end {
            self.record_bytes = 0;
        }
        is_end
    }
}

/// Returns the mark of a record of one fragment.
pub(super) fn mark(len: usize) -> u32 {
    LAST | len as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `stream` in chunks of `n` bytes, and returns the records.
    #[track_caller]
    fn check(stream: &[u8], expected: &[&[u8]]) {
        for n in [1, 2, 3, 5, 1000] {
            let mut records = Records::default();
            let (mut found, mut record) = (Vec::new(), Vec::new());
            for chunk in stream.chunks(n) {
                let mut input = chunk;
                while let Some(part) = records.next(&mut input).expect("well-formed") {
                    record.extend_from_slice(part.bytes);
                    if part.is_end {
                        found.push(std::mem::take(&mut record));
                    }
                }
                assert!(input.is_empty());
            }
            assert_eq!(found, expected, "in chunks of {n}");
        }
    }

    #[test]
    fn whole_records() {
        check(b"\x80\0\0\x03abc\x80\0\0\x01d", &[b"abc", b"d"]);
    }

    #[test]
    fn records_in_fragments() {
        check(b"\0\0\0\x02ab\0\0\0\0\x80\0\0\x01c\x80\0\0\x01d", &[b"abc", b"d"]);
    }

    #[test]
    fn an_empty_last_fragment_ends_the_record() {
        check(b"\0\0\0\x02ab\x80\0\0\0\x80\0\0\0", &[b"ab", b""]);
    }

    #[test]
    fn an_unfinished_record_is_no_record() {
        check(b"\x80\0\0\x03ab", &[]);
    }

    #[test]
    fn a_record_beyond_the_limit_is_refused() {
        let mut records = Records::default();
        let mut input: &[u8] = b"\xff\xff\xff\xff";
        assert_eq!(records.next(&mut input), Err(XdrError::Malformed("length of a record")));
    }
}
