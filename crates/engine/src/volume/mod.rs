//! Volumes that are computed, not stored: operations become [`Io`]s of a [`volume::System`].
//!
//! [`Volumes`] shares one system among the workers of a run, in real time or slower; the engine
//! over it keeps no data. [`VolumeRange`], [`route`] and [`WaitAccount`] also serve a driver in
//! virtual time.

mod account;
mod engine;
mod host;

pub use account::{DirtyGrowth, Tally, UsageMark, WaitAccount, WaitMark};
pub use engine::VolumeEngine;
pub use host::{Member, ReadClock, Volumes};

use plan::Direction;
use plan::op::{Op, OpClass, SyncScope};
use volume::{Io, IoKind};

/// Where the bytes of a file lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeRange {
    /// Position of the volume in the design.
    pub volume: u16,
    /// Position of the design's client that reaches it, on a network volume; else 0.
    pub client: u16,
    /// Address of the file's first byte.
    pub base_bytes: u64,
    /// Bytes from there; what lies beyond does not fit the volume.
    pub len_bytes: u64,
}

/// Where a tree of files lies: each file has room for the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRange {
    /// All of it.
    pub range: VolumeRange,
    /// Bytes from the start of a file to that of the next.
    pub file_bytes: u64,
}

/// Returns an operation in a tree as its volume sees it, as [`route`] does.
pub fn route_in_tree(op: &Op, place: &TreeRange, through: bool, id: u64) -> Result<Io, i32> {
    let TreeRange { range, file_bytes } = place;
    if op.kind.class() == OpClass::File {
        let (volume, client) = (range.volume, range.client);
        return Ok(Io { id, kind: IoKind::Call, volume, client, offset_bytes: 0, len_bytes: 0 });
    }
    let offset = u64::from(op.file.0).saturating_mul(*file_bytes).saturating_add(op.offset);
    let whole = [*range];
    route(&Op { file: plan::op::FileIdx(0), offset, ..*op }, &whole, through, id)
}

/// Returns the operation as its volume sees it, or the result of one that never gets there: beyond
/// the end of what the volume holds, or without effect on it.
///
/// `through` makes writes bypass the caches (`O_SYNC`). `sync_file_range` starts the write-back of
/// a page cache, which is not emulated, so it does nothing.
#[inline]
pub fn route(op: &Op, places: &[VolumeRange], through: bool, id: u64) -> Result<Io, i32> {
    let Some(place) = places.get(op.file.0 as usize) else { return Err(-libc::EBADF) };
    let kind = match op.kind.class() {
        OpClass::Bytes(Direction::Read) => IoKind::Read,
        OpClass::Bytes(Direction::Write) if through => IoKind::WriteThrough,
        OpClass::Bytes(Direction::Write) => IoKind::Write,
        OpClass::Bytes(Direction::Trim) => IoKind::Trim,
        OpClass::Sync(SyncScope::All | SyncScope::Data) => IoKind::Flush,
        OpClass::Sync(SyncScope::Range) => return Err(0),
        OpClass::File => return Err(-libc::EOPNOTSUPP),
    };
    if op.offset.saturating_add(u64::from(op.len)) > place.len_bytes {
        return Err(if kind == IoKind::Read { 0 } else { -libc::ENOSPC });
    }
    Ok(Io {
        id,
        kind,
        volume: place.volume,
        client: place.client,
        offset_bytes: place.base_bytes + op.offset,
        len_bytes: if kind == IoKind::Flush { 0 } else { op.len },
    })
}
