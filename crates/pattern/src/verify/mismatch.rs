//! What a failed check says.

use super::checksum::Checksum;
use super::header::{MAGIC, VERSION};
use plan::verify::VerifyMethod;
use std::fmt;

/// A block that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What is wrong.
    pub kind: MismatchKind,
    /// Offset in the file of the interval that fails, in bytes.
    pub at_offset: u64,
    /// Length of that interval, in bytes.
    pub len: u32,
    /// Offset of the read, in bytes.
    pub request_offset: u64,
    /// Length of the read, in bytes.
    pub request_len: u32,
}

/// What is wrong with a block. The first fault that is found; the checks go in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// The interval has no room for a header.
    Short,
    /// There is no header: the first two bytes are these.
    Magic {
        /// As read.
        got: u16,
    },
    /// A header of an unknown version.
    Version {
        /// As read.
        got: u8,
    },
    /// The header is of an interval of another length.
    Length {
        /// As read.
        got: u32,
    },
    /// The header is of another write, by the seed of its contents.
    Seed {
        /// As read.
        got: u64,
        /// Of the last write to the block.
        want: u64,
    },
    /// The header is of another place.
    Offset {
        /// As read.
        got: u64,
        /// Where it was read.
        want: u64,
    },
    /// The header is of another write, by its number: most often one that was overwritten.
    Sequence {
        /// As read.
        got: u64,
        /// Of the last write to the block, as the header's layout can hold it.
        want: u64,
    },
    /// The header does not match its own CRC.
    HeaderCrc {
        /// As read.
        got: u32,
        /// Computed over the header as read.
        want: u32,
    },
    /// The contents do not match the checksum.
    Checksum {
        /// Method.
        method: VerifyMethod,
        /// Computed over the contents as read.
        got: Box<Checksum>,
        /// Stored behind the header.
        want: Box<Checksum>,
        /// fio's numbers of the method in the header and of the one asked for, when they differ.
        methods: Option<(u8, u8)>,
    },
    /// A byte of the pattern.
    Pattern {
        /// As read.
        got: u8,
        /// As written.
        want: u8,
        /// Position in the interval.
        at: u32,
    },
    /// A trimmed block is not zero.
    NotZero {
        /// Position in the block of the first byte that is not zero.
        at: u32,
    },
}

impl Mismatch {
    /// Returns whether the header is at fault, so that the contents were not looked at.
    pub fn is_in_header(&self) -> bool {
        match self.kind {
            MismatchKind::Short
            | MismatchKind::Magic { .. }
            | MismatchKind::Version { .. }
            | MismatchKind::Length { .. }
            | MismatchKind::Seed { .. }
            | MismatchKind::Offset { .. }
            | MismatchKind::Sequence { .. }
            | MismatchKind::HeaderCrc { .. } => true,
            MismatchKind::Checksum { .. }
            | MismatchKind::Pattern { .. }
            | MismatchKind::NotZero { .. } => false,
        }
    }

    /// Returns the message for a block of this file, as fio words it: one line or several, without
    /// the last line feed.
    pub fn of_file<'a>(&'a self, file: &'a str) -> impl fmt::Display + 'a {
        Message { mismatch: self, file }
    }

    fn write_header_fault(
        &self,
        f: &mut fmt::Formatter<'_>,
        file: &str,
        fault: fmt::Arguments<'_>,
    ) -> fmt::Result {
        write!(
            f,
            "verify: {fault} at file {file} offset {}, length {} \
             (requested block: offset={}, length={})",
            self.at_offset, self.len, self.request_offset, self.request_len
        )
    }

    fn write_content_fault(
        &self,
        f: &mut fmt::Formatter<'_>,
        method: &str,
        file: &str,
    ) -> fmt::Result {
        // fio prints its internal flags at the end; 8 is what it has for a plain verifying read.
        write!(
            f,
            "{method}: verify failed at file {file} offset {}, length {} \
             (requested block: offset={}, length={}, flags=8)",
            self.at_offset, self.len, self.request_offset, self.request_len
        )
    }
}

struct Message<'a> {
    mismatch: &'a Mismatch,
    file: &'a str,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mismatch, file) = (self.mismatch, self.file);
        let fault = |f: &mut fmt::Formatter<'_>, fault: fmt::Arguments<'_>| {
            mismatch.write_header_fault(f, file, fault)
        };
        match &mismatch.kind {
            MismatchKind::Checksum { method, got, want, methods } => {
                mismatch.write_content_fault(f, method.name(), file)?;
                write!(f, "\n       Expected CRC: {want}\n       Received CRC: {got}")?;
                if let Some((media, asked)) = methods {
                    write!(f, "\nverify type mismatch ({media} media, {asked} given)")?;
                }
                Ok(())
            }
            MismatchKind::Pattern { got, want, at } => {
                let n_bits = (got ^ want).count_ones();
                writeln!(f, "got pattern '{got:02x}', wanted '{want:02x}'. Bad bits {n_bits}")?;
                writeln!(f, "bad pattern block offset {at}")?;
                mismatch.write_content_fault(f, "pattern", file)
            }
            MismatchKind::NotZero { at } => write!(
                f,
                "verify failed for zeroed data at file {file} offset {}, length {}, \
                 block offset {at}",
                mismatch.request_offset, mismatch.request_len
            ),
            MismatchKind::Short => fault(f, format_args!("no room for a header")),
            MismatchKind::Magic { got } => {
                fault(f, format_args!("bad magic header {got:x}, wanted {MAGIC:x}"))
            }
            MismatchKind::Version { got } => {
                fault(f, format_args!("unsupported header version {got:x}, wanted {VERSION:x}"))
            }
            MismatchKind::Length { got } => {
                fault(f, format_args!("bad header length {got}, wanted {}", mismatch.len))
            }
            MismatchKind::Seed { got, want } => {
                fault(f, format_args!("bad header rand_seed {got}, wanted {want}"))
            }
            MismatchKind::Offset { got, want } => {
                fault(f, format_args!("bad header offset {got}, wanted {want}"))
            }
            MismatchKind::Sequence { got, want } => {
                fault(f, format_args!("bad header numberio {got}, wanted {want}"))
            }
            MismatchKind::HeaderCrc { got, want } => {
                fault(f, format_args!("bad header crc {got:x}, calculated {want:x}"))
            }
        }
    }
}
