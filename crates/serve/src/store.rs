//! One volume's data in the backing: what it occupies, where it lies, what a crash takes back.

pub(crate) mod address;
mod ranges;
pub(crate) mod rollback;
pub(crate) mod space;
pub(crate) mod undo;

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use crate::extent::{Extent, Ino};
use crate::lock::lock;
use address::{Addresses, REGION_BYTES};
use space::Space;

/// Occupied space is counted in these, as `stat` does.
const SECTOR_BYTES: u64 = 512;

/// What a write is rounded to when it takes space: the block of nearly every file system.
const PAGE_BYTES: u64 = 4096;

/// One volume.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) space: Space,
    addresses: Mutex<Addresses>,
    /// Whether its host cache takes writes.
    pub(crate) is_write_back: AtomicBool,
    /// Whether the disk under the backing was found full.
    pub(crate) is_disk_full: AtomicBool,
}

/// A file's share of the space, counted.
#[derive(Debug, Default)]
pub(crate) struct Occupied(Mutex<u64>);

impl Store {
    pub(crate) fn new(capacity: u64, used: u64, is_write_back: bool) -> Self {
        Store {
            space: Space::new(capacity, used),
            addresses: Mutex::new(Addresses::default()),
            is_write_back: AtomicBool::new(is_write_back),
            is_disk_full: AtomicBool::new(false),
        }
    }

    /// Returns where a range of a file lies on the volume: two extents where it crosses from one
    /// region into the next.
    pub(crate) fn extents(&self, ino: Ino, offset: u64, len: u64) -> Vec<Extent> {
        let mut addresses = lock(&self.addresses);
        let mut extents = Vec::with_capacity(1);
        let (mut offset, end) = (offset, offset + len);
        while offset < end {
            let stop = end.min((offset / REGION_BYTES + 1) * REGION_BYTES);
            let len_bytes = u32::try_from(stop - offset).unwrap_or(u32::MAX);
            extents.push(Extent { address: addresses.of(ino, offset), len_bytes });
            offset += u64::from(len_bytes);
        }
        extents
    }

    /// Returns the file that an address belongs to, and the offset in it.
    pub(crate) fn owner(&self, address: u64) -> Option<(Ino, u64)> {
        lock(&self.addresses).owner(address)
    }

    /// Forgets where a deleted file lay and returns its regions.
    pub(crate) fn forget(&self, ino: Ino) -> Vec<u64> {
        lock(&self.addresses).remove(ino)
    }

    /// Writes all, if the volume has the room.
    pub(crate) fn write(
        &self,
        file: &File,
        occupied: &Occupied,
        data: &[u8],
        offset: u64,
    ) -> io::Result<()> {
        let end = offset + data.len() as u64;
        self.grow(file, occupied, offset, end, || write_whole(file, data, offset))
    }

    /// Does something that may occupy the holes of a range, if the volume has the room.
    pub(crate) fn grow(
        &self,
        file: &File,
        occupied: &Occupied,
        start: u64,
        end: u64,
        act: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let reserved = self.reserve(file, start, end)?;
        self.fill(file, occupied, reserved, act)
    }

    /// Takes the room that a range may need. Returns how much, for [`Store::fill`].
    pub(crate) fn reserve(&self, file: &File, start: u64, end: u64) -> io::Result<u64> {
        let start = start / PAGE_BYTES * PAGE_BYTES;
        let end = end.div_ceil(PAGE_BYTES) * PAGE_BYTES;
        let mut reserved = end - start;
        if !self.space.reserve(reserved) {
            // Near the end of the volume it matters that what is there already costs nothing.
            reserved = holes(file, start, end)?;
            if !self.space.reserve(reserved) {
                return Err(Errno::NOSPC.into());
            }
        }
        Ok(reserved)
    }

    /// Does something that room was taken for, and counts what it came to.
    pub(crate) fn fill(
        &self,
        file: &File,
        occupied: &Occupied,
        reserved: u64,
        act: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let outcome = act();
        self.recount(file, occupied, reserved);
        if outcome.as_ref().err().and_then(Errno::from_io_error) == Some(Errno::NOSPC) {
            self.is_disk_full.store(true, Relaxed);
        }
        outcome
    }

    /// Counts again what a file occupies. `reserved` was taken for it.
    pub(crate) fn recount(&self, file: &File, occupied: &Occupied, reserved: u64) {
        let mut occupied = lock(&occupied.0);
        let now = file.metadata().map_or(*occupied, |found| found.blocks() * SECTOR_BYTES);
        self.space.correct(*occupied + reserved, now);
        *occupied = now;
    }

    /// Gives back what a deleted file occupied.
    pub(crate) fn release(&self, occupied: &Occupied) {
        let bytes = std::mem::take(&mut *lock(&occupied.0));
        self.space.correct(bytes, 0);
    }
}

impl Occupied {
    /// Starts with sectors that the volume has counted already.
    pub(crate) fn new(sectors: u64) -> Self {
        Occupied(Mutex::new(sectors * SECTOR_BYTES))
    }
}

/// Writes all. Where that fails, the file is as long as it was: the disk under it may be full after
/// a part of what was to follow its end.
pub(crate) fn write_whole(file: &File, data: &[u8], offset: u64) -> io::Result<()> {
    write_by(file, data, offset, |data, offset| file.write_at(data, offset))
}

/// Does so by a way to write.
fn write_by(
    file: &File,
    data: &[u8],
    offset: u64,
    mut write: impl FnMut(&[u8], u64) -> io::Result<usize>,
) -> io::Result<()> {
    let size = file.metadata()?.len();
    let mut n_written = 0;
    while n_written < data.len() {
        let at = offset + n_written as u64;
        let error = match write(&data[n_written..], at) {
            Ok(0) => io::ErrorKind::WriteZero.into(),
            Ok(n) => {
                n_written += n;
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => error,
        };
        // Unless another thread has written beyond it meanwhile.
        if at > size && file.metadata().is_ok_and(|found| found.len() == at) {
            file.set_len(size)?;
        }
        return Err(error);
    }
    Ok(())
}

/// Returns the bytes of a range that no data stand for. The range is whole pages.
fn holes(file: &File, start: u64, end: u64) -> io::Result<u64> {
    let (mut at, mut n_bytes) = (start, 0);
    while at < end {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(end),
            // No data from here on.
            Err(Errno::NXIO) => end,
            Err(error) => return Err(error.into()),
        };
        n_bytes += data - at;
        at = if data < end { seek(file, SeekFrom::Hole(data))?.min(end) } else { end };
    }
    Ok(n_bytes)
}

/// A file that is open for data.
#[derive(Debug)]
pub(crate) struct Opened {
    /// For reading and writing if writing was asked for, else for reading.
    pub(crate) file: Arc<File>,
    /// Whether every write goes through all caches.
    pub(crate) is_sync: bool,
    /// Crashes that the program which opened it knows of.
    pub(crate) n_crashes: AtomicU64,
}

impl Opened {
    pub(crate) fn new(file: File, is_sync: bool, n_crashes: u64) -> Opened {
        Opened { file: Arc::new(file), is_sync, n_crashes: AtomicU64::new(n_crashes) }
    }

    /// Says, once, whether a crash has taken something of its file since it was opened: the last
    /// one that did was `lost_at`.
    pub(crate) fn has_lost(&self, lost_at: u64) -> bool {
        lost_at > self.n_crashes.fetch_max(lost_at, AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_half_way_leaves_the_file_as_long_as_it_was() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[1; 1000], 0).unwrap();
        let mut n_left = 600;
        let full = |data: &[u8], offset: u64| {
            let n = data.len().min(n_left);
            n_left -= n;
            if n == 0 { Err(Errno::NOSPC.into()) } else { file.write_at(&data[..n], offset) }
        };
        let error = write_by(&file, &[2; 1000], 1000, full).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::NOSPC));
        assert_eq!(file.metadata().unwrap().len(), 1000);
        write_whole(&file, &[2; 1000], 1000).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 2000);
        // What lies beyond was another's.
        let refuse = |_: &[u8], _: u64| Err(Errno::NOSPC.into());
        write_by(&file, &[3; 1000], 500, refuse).unwrap_err();
        assert_eq!(file.metadata().unwrap().len(), 2000);
    }
}
