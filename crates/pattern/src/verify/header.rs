//! The header of a verified block, as fio lays it out.
//!
//! All fields are little-endian. fio stores them in the host's order, which is the same on every
//! platform that Plimsoll runs on.
//!
//! | bytes | [`HeaderLayout::Compact`] | [`HeaderLayout::Versioned`] |
//! |---|---|---|
//! | 0..2 | magic `0xacca` | magic `0xacca` |
//! | 2 | method | version `0x81` |
//! | 3 | 0 | method |
//! | 4..8 | bytes of the interval, header included | the same |
//! | 8..16 | seed of the write | the same |
//! | 16..24 | offset of the interval | the same |
//! | 24..32 | time of the write, s and ns | the same |
//! | 32..40 | worker (2), sequence (2), CRC (4) | sequence (8) |
//! | 40..48 | - | worker (2), zero (2), CRC (4) |
//!
//! The CRC is fio's CRC-32C over all that stands before it. The method's checksum follows.

use super::checksum::crc32c_of;
use plan::verify::{HEADER_BYTES, VerifyMethod};

/// First two bytes of a header.
pub(crate) const MAGIC: u16 = 0xacca;

/// Version of the versioned layout. Its top bit tells it from a method of the compact layout.
pub(crate) const VERSION: u8 = 0x81;

/// Which of fio's two header layouts is written. Both are recognised when a block is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HeaderLayout {
    /// fio up to 3.40: 40 bytes. The sequence has 16 bits, so a write that was lost exactly 65,536
    /// writes ago looks like the present one.
    Compact,
    /// fio from 3.41: 48 bytes, a sequence of 64 bits.
    #[default]
    Versioned,
}

impl HeaderLayout {
    /// Returns the size of the header without checksum, in bytes.
    pub fn header_bytes(self) -> usize {
        match self {
            HeaderLayout::Compact => 40,
            HeaderLayout::Versioned => HEADER_BYTES as usize,
        }
    }

    /// Returns the size of the header with the method's checksum, in bytes; 0 for the methods that
    /// write no header.
    pub fn stored_bytes(self, method: VerifyMethod) -> usize {
        if !method.has_header() {
            return 0;
        }
        self.header_bytes() + method.checksum_bytes() as usize
    }

    /// Returns the sequence number as the layout can hold it.
    pub(crate) fn sequence(self, number_io: u64) -> u64 {
        match self {
            HeaderLayout::Compact => number_io & 0xffff,
            HeaderLayout::Versioned => number_io,
        }
    }

    fn crc_at(self) -> usize {
        self.header_bytes() - 4
    }
}

/// Returns the number by which a header names the method.
pub(crate) fn method_code(method: VerifyMethod) -> u8 {
    match method {
        VerifyMethod::Meta => 1,
        VerifyMethod::Md5 => 2,
        VerifyMethod::Crc64 => 3,
        VerifyMethod::Crc32 => 4,
        VerifyMethod::Crc32c => 5,
        VerifyMethod::Crc16 => 7,
        VerifyMethod::Crc7 => 8,
        VerifyMethod::Sha256 => 9,
        VerifyMethod::Sha512 => 10,
        VerifyMethod::Sha3_224 => 11,
        VerifyMethod::Sha3_256 => 12,
        VerifyMethod::Sha3_384 => 13,
        VerifyMethod::Sha3_512 => 14,
        VerifyMethod::XxHash => 15,
        VerifyMethod::Sha1 => 16,
        VerifyMethod::PatternHeader => 17,
        VerifyMethod::Pattern => 18,
        VerifyMethod::Null => 19,
    }
}

/// The fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Layout on disk.
    pub(crate) layout: HeaderLayout,
    /// fio's number of the method; 6 (CRC-32C in hardware) means the same as 5.
    pub(crate) method_code: u8,
    /// Bytes from one header to the next.
    pub(crate) interval_bytes: u32,
    /// Seed of the write's contents.
    pub(crate) seed: u64,
    /// Offset of the interval in the file.
    pub(crate) offset: u64,
    /// Time of the write, whole seconds of a clock that the writer chose.
    pub(crate) time_s: u32,
    /// Time of the write, nanoseconds within the second.
    pub(crate) time_ns: u32,
    /// Position of the write among the worker's writes.
    pub(crate) number_io: u64,
    /// Number of the worker.
    pub(crate) worker: u16,
    /// CRC of the header as stored.
    pub(crate) crc: u32,
}

/// Why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAHeader {
    /// They do not start with the magic number, but with this.
    Magic(u16),
    /// The layout's version is unknown.
    Version(u8),
    /// There are too few of them.
    Short,
}

impl Header {
    /// Reads a header of either layout from the start of `bytes`, without checking its CRC.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Header, NotAHeader> {
        let [m0, m1, kind, code, ..] = *bytes else { return Err(NotAHeader::Short) };
        let magic = u16::from_le_bytes([m0, m1]);
        if magic != MAGIC {
            return Err(NotAHeader::Magic(magic));
        }
        let layout = match kind {
            VERSION => HeaderLayout::Versioned,
            0..=0x7f => HeaderLayout::Compact,
            _ => return Err(NotAHeader::Version(kind)),
        };
        let bytes = bytes.get(..layout.header_bytes()).ok_or(NotAHeader::Short)?;
        let (method_code, number_io, worker) = match layout {
            HeaderLayout::Compact => (kind, u64::from(u16_at(bytes, 34)), u16_at(bytes, 32)),
            HeaderLayout::Versioned => (code, u64_at(bytes, 32), u16_at(bytes, 40)),
        };
        Ok(Header {
            layout,
            method_code,
            interval_bytes: u32_at(bytes, 4),
            seed: u64_at(bytes, 8),
            offset: u64_at(bytes, 16),
            time_s: u32_at(bytes, 24),
            time_ns: u32_at(bytes, 28),
            number_io,
            worker,
            crc: u32_at(bytes, layout.crc_at()),
        })
    }

    /// Returns the CRC that the header at the start of `bytes` should carry.
    pub(crate) fn crc_of(layout: HeaderLayout, bytes: &[u8]) -> u32 {
        crc32c_of(&[&bytes[..layout.crc_at()]])
    }

    /// Returns the header as stored, in the first `layout.header_bytes()` bytes; the rest is zero.
    ///
    /// The field `crc` is ignored; the stored one is computed.
    pub(crate) fn to_bytes(self) -> [u8; 48] {
        let mut bytes = [0; 48];
        let mut put = |at: usize, field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
        };
        put(0, &MAGIC.to_le_bytes());
        put(4, &self.interval_bytes.to_le_bytes());
        put(8, &self.seed.to_le_bytes());
        put(16, &self.offset.to_le_bytes());
        put(24, &self.time_s.to_le_bytes());
        put(28, &self.time_ns.to_le_bytes());
        match self.layout {
            HeaderLayout::Compact => {
                put(2, &[self.method_code, 0]);
                put(32, &self.worker.to_le_bytes());
                put(34, &(self.number_io as u16).to_le_bytes());
            }
            HeaderLayout::Versioned => {
                put(2, &[VERSION, self.method_code]);
                put(32, &self.number_io.to_le_bytes());
                put(40, &self.worker.to_le_bytes());
            }
        }
        let crc = Header::crc_of(self.layout, &bytes);
        let crc_at = self.layout.crc_at();
        bytes[crc_at..crc_at + 4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
