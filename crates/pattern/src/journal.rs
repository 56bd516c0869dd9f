//! The journal of data validation: which generation of each block was being written, and which was
//! acknowledged; sectors that prove which one they hold; and what became of a block.
//!
//! A target is divided into blocks of one size. Each write of a block has the next *generation*.
//! The journal says of a block "generation g is being written" before the write is issued and "g is
//! written" when it has completed ([`frame`]). Every sector of the block names its place, its
//! generation and its writer, with a checksum ([`sector`]). From both follows whether the block is
//! as it must be ([`judge()`]). `docs/journal.md` has the format.
//!
//! Pure: who writes and reads files is the runner.

pub mod frame;
pub mod judge;
pub mod map;
pub mod sector;

pub use frame::{
    Change, ChangeKind, FRAME_BYTES_MAX, Frame, FrameError, Header, TARGETS_MAX, Target,
};
pub use judge::{Judged, SectorContent, Verdict, judge};
pub use map::{BlockMap, BlockState, next_generation};
pub use sector::{SECTOR_BYTES, Sector, Stamp, read_sector, stamp};

/// Returns the CRC-32C of the parts, one behind the other.
fn crc(parts: &[&[u8]]) -> u32 {
    parts.iter().fold(0, |crc, part| crc32c::crc32c_append(crc, part))
}

/// Reads a little-endian number of 2, 4 or 8 bytes at a place; 0 behind the end.
fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let taken = bytes.get(at..at + len).unwrap_or_default();
    taken.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
