//! What a device holds, found by the marks that file systems, volume managers, arrays, partition
//! tables and databases leave on it. A device with any of them is not written without the user's
//! word.
//!
//! All that `blkid -k` of util-linux 2.38 lists is known, partition tables, and the copies that
//! file systems keep of their super blocks, since one whose first is damaged can be repaired.
//! Places and marks are those of the formats' own definitions: the headers of Linux under
//! `include/uapi` and `fs/`, the specifications of ECMA-167, ISO 9660, UEFI, LUKS2 and DDF, and for
//! formats without one what their tools write. Checksums are not recomputed: a header that is
//! damaged still belongs to data. Only a mark of two bytes counts with a second sign beside it:
//! random data, which benchmarks leave, has any two bytes once in 65,536 times.

mod table;

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

use table::SIGNATURES;

/// What kind of thing a mark belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentsKind {
    /// A file system.
    FileSystem,
    /// A member of an array.
    Array,
    /// Part of a volume manager, cache or snapshot.
    Volume,
    /// An encrypted container.
    Crypto,
    /// A partition table.
    Partitions,
    /// Swap space, hibernation, a database.
    Other,
}

/// Where a mark lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkPlace {
    /// So many bytes from the start.
    Start(u64),
    /// So many bytes before the end, which is rounded down to a multiple of `unit` first.
    End {
        /// Bytes.
        unit: u64,
        /// Bytes.
        before: u64,
    },
    /// Behind the first of so many equal parts, each rounded up to blocks of 4 KiB.
    Share {
        /// Number of parts.
        n_shares: u64,
    },
    /// At every multiple of `step` in these bytes from the start.
    Each {
        /// First byte.
        from: u64,
        /// Behind the last.
        to: u64,
        /// Bytes.
        step: u64,
    },
    /// The same from the end, rounded down to a multiple of 256 KiB: `from` bytes before it up to
    /// `to` bytes before it.
    EachBeforeEnd {
        /// Bytes before the end.
        from: u64,
        /// Bytes before the end.
        to: u64,
        /// Bytes.
        step: u64,
    },
}

/// Size of the labels of ZFS, to a multiple of which it rounds devices down.
const ZFS_LABEL_BYTES: u64 = 256 << 10;

impl MarkPlace {
    /// Returns where that is on a device of this size; empty where the device is too small.
    fn offsets(self, size_bytes: u64) -> impl Iterator<Item = u64> {
        let (from, to, step) = match self {
            MarkPlace::Start(at) => (Some(at), Some(at + 1), 1),
            MarkPlace::End { unit, before } => {
                let at = (size_bytes / unit * unit).checked_sub(before);
                (at, at.map(|at| at + 1), 1)
            }
            MarkPlace::Share { n_shares } => {
                let at = (size_bytes / BLOCK_BYTES).div_ceil(n_shares) * BLOCK_BYTES;
                (Some(at), Some(at + 1), 1)
            }
            MarkPlace::Each { from, to, step } => (Some(from), Some(to), step),
            MarkPlace::EachBeforeEnd { from, to, step } => {
                let end = size_bytes / ZFS_LABEL_BYTES * ZFS_LABEL_BYTES;
                (end.checked_sub(from), end.checked_sub(to), step)
            }
        };
        let range = from.zip(to).map_or(0..0, |(from, to)| from..to);
        range.step_by(usize::try_from(step).unwrap_or(1))
    }
}

/// One format: its name, and by which bytes where it is known.
pub(crate) struct Signature {
    pub(crate) name: &'static str,
    pub(crate) kind: ContentsKind,
    pub(crate) magics: &'static [&'static [u8]],
    pub(crate) places: &'static [MarkPlace],
    /// What else must be so, given the place of the mark; for marks that random data may have.
    pub(crate) test: Option<Test>,
}

/// A second sign beside a mark.
pub(crate) struct Test {
    /// The bytes that it looks at.
    pub(crate) bytes: Range<u64>,
    /// They are counted from the mark, else from the start of the device.
    pub(crate) from_mark: bool,
    /// Returns whether they, as many as asked for, fit the format on a device of this size in
    /// bytes.
    pub(crate) holds: fn(&[u8], u64) -> bool,
}

/// Bytes of a block that is read at once, and a multiple of every sector.
const BLOCK_BYTES: u64 = 4096;

/// What a device holds, or that this is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// No known mark, and everything was read that could hold one.
    Nothing,
    /// This.
    Known {
        /// Name of the format.
        name: &'static str,
        /// What it is.
        kind: ContentsKind,
    },
    /// A place where marks lie cannot be read, so nothing is known. A device that fails is the last
    /// one that may be overwritten by mistake.
    Unreadable {
        /// The first byte that could not be read.
        offset: u64,
        /// Why: the `errno`.
        errno: i32,
    },
}

/// The blocks of a device that may hold marks.
struct Blocks {
    /// Runs of bytes, by the offset of the first.
    runs: Vec<(u64, Vec<u8>)>,
}

impl Blocks {
    /// Returns bytes that were read, or `None` where the device ends before.
    fn at(&self, offset: u64, len: u64) -> Option<&[u8]> {
        let idx = self.runs.partition_point(|run| run.0 <= offset).checked_sub(1)?;
        let (start, bytes) = &self.runs[idx];
        let from = usize::try_from(offset - start).ok()?;
        bytes.get(from..from.checked_add(usize::try_from(len).ok()?)?)
    }
}

/// Finds out what a device of this size holds. `read` fills the bytes from an offset on and returns
/// how many there were.
pub(crate) fn identify(
    size_bytes: u64,
    read: &mut dyn FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> Contents {
    let mut unreadable = None;
    let mut blocks = Blocks { runs: Vec::new() };
    for run in runs(size_bytes) {
        let mut bytes = vec![0; usize::try_from(run.end - run.start).unwrap_or(0)];
        let (n_read, error) = read_up_to(run.start, &mut bytes, read);
        bytes.truncate(n_read);
        if let Some(error) = error {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            let offset = run.start + n_read as u64;
            unreadable.get_or_insert(Contents::Unreadable { offset, errno });
        }
        blocks.runs.push((run.start, bytes));
    }
    // A mark that was found says more than a block that was not read.
    match SIGNATURES.iter().find(|signature| signature.is_in(&blocks, size_bytes)) {
        Some(&Signature { name, kind, .. }) => Contents::Known { name, kind },
        None => unreadable.unwrap_or(Contents::Nothing),
    }
}

/// Reads until the bytes are full, the device ends or cannot be read.
fn read_up_to(
    offset: u64,
    bytes: &mut [u8],
    read: &mut dyn FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> (usize, Option<io::Error>) {
    let mut n_read = 0;
    while n_read < bytes.len() {
        match read(offset + n_read as u64, &mut bytes[n_read..]) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (n_read, Some(error)),
        }
    }
    (n_read, None)
}

/// Returns the runs of blocks that hold a place of a mark, in order.
fn runs(size_bytes: u64) -> Vec<Range<u64>> {
    let mut blocks = BTreeSet::new();
    for signature in SIGNATURES {
        for (offset, _) in signature.offsets(size_bytes) {
            let len = signature.magics.iter().map(|magic| magic.len() as u64).max().unwrap_or(0);
            let marks = std::iter::once(offset..offset + len);
            let tests = signature.test.as_ref().map(|test| test.span(offset));
            for span in marks.chain(tests) {
                let last = span.end.saturating_sub(1).min(size_bytes.saturating_sub(1));
                blocks.extend(span.start / BLOCK_BYTES..=last / BLOCK_BYTES);
            }
        }
    }
    let mut runs: Vec<Range<u64>> = Vec::new();
    for block in blocks {
        let (start, end) = (block * BLOCK_BYTES, ((block + 1) * BLOCK_BYTES).min(size_bytes));
        match runs.last_mut() {
            _ if start >= size_bytes => {}
            Some(run) if run.end == start => run.end = end,
            _ => runs.push(start..end),
        }
    }
    runs
}

impl Test {
    fn span(&self, mark: u64) -> Range<u64> {
        let base = if self.from_mark { mark } else { 0 };
        base + self.bytes.start..base + self.bytes.end
    }
}

impl Signature {
    /// Returns the places on a device of this size, with the place that each comes from.
    fn offsets(&self, size_bytes: u64) -> impl Iterator<Item = (u64, MarkPlace)> {
        let of_place = move |place: &MarkPlace| {
            let place = *place;
            place.offsets(size_bytes).map(move |offset| (offset, place))
        };
        self.places.iter().flat_map(of_place).filter(move |(offset, _)| *offset < size_bytes)
    }

    fn is_in(&self, blocks: &Blocks, size_bytes: u64) -> bool {
        self.offsets(size_bytes).any(|(offset, _)| {
            let is_marked = self
                .magics
                .iter()
                .any(|magic| blocks.at(offset, magic.len() as u64) == Some(*magic));
            is_marked
                && self.test.as_ref().is_none_or(|test| {
                    let span = test.span(offset);
                    let bytes = blocks.at(span.start, span.end - span.start);
                    bytes.is_some_and(|bytes| (test.holds)(bytes, size_bytes))
                })
        })
    }
}

#[cfg(test)]
mod tests;
