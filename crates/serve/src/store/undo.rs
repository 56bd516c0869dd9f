//! What a crash takes back.
//!
//! Data go to the backing at once. For a volume whose host cache takes writes, the contents that a
//! write replaces are kept here until the model says that the range has reached the disk. A crash
//! puts back what is still here: exactly the bytes that only the cache had.
//!
//! The model decides what reached the disk, byte by byte. Here contents are kept in blocks, each
//! with its bytes that are dirty. Where only a part of a block reaches the disk, the kept contents
//! take that part over, so that a crash leaves it.
//!
//! Names, attributes and lengths set by `truncate` are lasting at once, as in a file system with a
//! journal. A length that a write brought about lasts with the data that brought it about.
//!
//! The kept contents lie in a file beside the backing; what is in memory is an index of about 100
//! bytes for each 4 KiB that only the cache has.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, fallocate};

use super::ranges::Ranges;
use super::rollback::{BLOCK_BYTES, Marker, Rollback, SavedBlock, finish_file};
use crate::extent::Ino;

/// A write that is about to happen, in one region of a file.
#[derive(Debug)]
pub(crate) struct Overwrite<'a> {
    /// The file: open for reading and writing.
    pub(crate) file: &'a Arc<File>,
    /// Its number.
    pub(crate) ino: Ino,
    /// Volume it is on.
    pub(crate) volume: u16,
    /// Where the write begins, in the file.
    pub(crate) offset: u64,
    /// Where the write begins, on the volume; as far from a block's begin as `offset`.
    pub(crate) address: u64,
    /// Length of the write.
    pub(crate) len: u64,
    /// Length of the file before the write.
    pub(crate) size: u64,
}

/// How a block was kept before a write.
#[derive(Debug)]
pub(crate) struct SavedBefore {
    /// Its address in blocks.
    number: u64,
    /// Its bytes that were dirty; `None` where it was not kept.
    dirty: Option<Ranges>,
}

/// A range of a file that a crash took back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lost {
    /// Volume the file is on.
    pub(crate) volume: u16,
    /// The file.
    pub(crate) ino: Ino,
    /// First byte.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) len: u64,
}

/// The kept contents of all volumes.
#[derive(Debug)]
pub(crate) struct Undo {
    log: File,
    marker: Marker,
    log_end: u64,
    /// By volume and address in blocks.
    blocks: BTreeMap<(u16, u64), Block>,
    files: HashMap<(u16, Ino), TouchedFile>,
    /// Addresses that were forgotten since they hold nothing any more, and that the model is to
    /// forget as well.
    cleared: Vec<(u16, Range<u64>)>,
}

/// What a block held before it was written to.
#[derive(Debug)]
struct Block {
    ino: Ino,
    /// Where it begins in the file.
    offset: u64,
    /// Where its contents lie in the log.
    at: u64,
    /// Bytes that are kept; the rest of the block was zero.
    len: u32,
    /// Bytes of it that only the cache has.
    dirty: Ranges,
}

/// A file with blocks here.
#[derive(Debug)]
struct TouchedFile {
    file: Arc<File>,
    n_blocks: u64,
    /// All its blocks lie within, by address in blocks.
    span: Range<u64>,
    /// Length that a crash leaves it.
    stable_size: u64,
}

impl Undo {
    /// Starts with nothing to take back. An unfinished rollback must be completed before, because
    /// the log is emptied.
    pub(crate) fn new(log: File, marker: Marker) -> io::Result<Self> {
        log.set_len(0)?;
        let (blocks, files, cleared) = (BTreeMap::new(), HashMap::new(), Vec::new());
        Ok(Undo { log, marker, log_end: 0, blocks, files, cleared })
    }

    /// Keeps what a write is about to replace. Adds to `before` how its blocks were kept until now,
    /// for a write that fails.
    pub(crate) fn before_write(
        &mut self,
        write: &Overwrite<'_>,
        before: &mut Vec<SavedBefore>,
    ) -> io::Result<()> {
        let (in_file, on_volume) = (write.offset % BLOCK_BYTES, write.address % BLOCK_BYTES);
        assert_eq!(in_file, on_volume, "a block of a file is a block of its volume");
        let first = write.address / BLOCK_BYTES;
        let end = (write.address + write.len).div_ceil(BLOCK_BYTES);
        let touched = self.files.entry((write.volume, write.ino)).or_insert_with(|| TouchedFile {
            file: Arc::clone(write.file),
            n_blocks: 0,
            span: first..end,
            stable_size: write.size,
        });
        touched.span = touched.span.start.min(first)..touched.span.end.max(end);
        let kept = (first..end).try_for_each(|number| self.keep_block(write, number, before));
        self.release(write.volume, write.ino, 0);
        kept
    }

    fn keep_block(
        &mut self,
        write: &Overwrite<'_>,
        number: u64,
        before: &mut Vec<SavedBefore>,
    ) -> io::Result<()> {
        let offset = write.offset - write.offset % BLOCK_BYTES
            + (number - write.address / BLOCK_BYTES) * BLOCK_BYTES;
        let within = within(offset, &(write.offset..write.offset + write.len));
        let key = (write.volume, number);
        if let Some(block) = self.blocks.get_mut(&key) {
            before.push(SavedBefore { number, dirty: Some(block.dirty.clone()) });
            block.dirty.add(within);
            return Ok(());
        }
        let mut contents = [0; BLOCK_BYTES as usize];
        let len = write.size.saturating_sub(offset).min(BLOCK_BYTES) as usize;
        let len = read_at_most(write.file, &mut contents[..len], offset)?;
        let (at, len) = self.append(&contents[..len])?;
        let dirty = Ranges::of(within);
        self.blocks.insert(key, Block { ino: write.ino, offset, at, len, dirty });
        before.push(SavedBefore { number, dirty: None });
        if let Some(touched) = self.files.get_mut(&(write.volume, write.ino)) {
            touched.n_blocks += 1;
        }
        Ok(())
    }

    /// Returns whether anything of a file would be taken back.
    pub(crate) fn touches(&self, volume: u16, ino: Ino) -> bool {
        self.files.contains_key(&(volume, ino))
    }

    /// Forgets a write that failed: what was dirty before it is what is dirty.
    pub(crate) fn undo_before(&mut self, volume: u16, before: Vec<SavedBefore>) {
        for SavedBefore { number, dirty } in before {
            let key = (volume, number);
            match (dirty, self.blocks.get_mut(&key)) {
                (Some(dirty), Some(block)) => block.dirty = dirty,
                (None, Some(_)) => self.drop_block(key),
                (_, None) => {}
            }
        }
        self.shrink();
    }

    /// Appends contents to the log, without the zeros at their end.
    fn append(&mut self, contents: &[u8]) -> io::Result<(u64, u32)> {
        let len = contents.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let at = self.log_end;
        self.log.write_all_at(&contents[..len], at)?;
        self.log_end += len as u64;
        Ok((at, len as u32))
    }

    /// Forgets the old contents of a range of addresses: what it holds now is on the disk.
    pub(crate) fn settle(&mut self, volume: u16, addresses: &Range<u64>) -> io::Result<()> {
        assert!(addresses.start <= addresses.end, "a range ends behind its start: {addresses:?}");
        let first = addresses.start / BLOCK_BYTES;
        let end = addresses.end.div_ceil(BLOCK_BYTES);
        let keys: Vec<_> =
            self.blocks.range((volume, first)..(volume, end)).map(|(&key, _)| key).collect();
        let settled = keys
            .into_iter()
            .try_for_each(|key| self.settle_block(key, within(key.1 * BLOCK_BYTES, addresses)));
        self.shrink();
        settled
    }

    fn settle_block(&mut self, key: (u16, u64), range: Range<u16>) -> io::Result<()> {
        let Some(block) = self.blocks.get_mut(&key) else { return Ok(()) };
        let (ino, offset) = (block.ino, block.offset);
        // What reached the disk may be longer than what the file still has of it.
        let ends = block.dirty.iter().filter(|dirty| dirty.start < range.end);
        let last = ends.map(|dirty| dirty.end.min(range.end)).max();
        let Some(end) = last.filter(|&end| end > range.start) else { return Ok(()) };
        block.dirty.remove(range.clone());
        let is_clean = block.dirty.is_empty();
        let file = self.files.get_mut(&(key.0, ino)).map(|touched| {
            touched.stable_size = touched.stable_size.max(offset + u64::from(end));
            Arc::clone(&touched.file)
        });
        if is_clean {
            self.drop_block(key);
            return Ok(());
        }
        let Some(file) = file else { return Ok(()) };
        let mut now = vec![0; usize::from(range.end - range.start)];
        read_at_most(&file, &mut now, offset + u64::from(range.start))?;
        self.overlay(key, range.start, &now)
    }

    /// Changes a part of the kept contents.
    fn overlay(&mut self, key: (u16, u64), start: u16, part: &[u8]) -> io::Result<()> {
        let Some(block) = self.blocks.get(&key) else { return Ok(()) };
        let (at, len) = (block.at, block.len);
        let mut contents = [0; BLOCK_BYTES as usize];
        self.log.read_exact_at(&mut contents[..len as usize], at)?;
        contents[usize::from(start)..usize::from(start) + part.len()].copy_from_slice(part);
        let (new_at, new_len) = self.append(&contents)?;
        if let Some(block) = self.blocks.get_mut(&key) {
            (block.at, block.len) = (new_at, new_len);
        }
        self.discard(at, len);
        Ok(())
    }

    fn drop_block(&mut self, key: (u16, u64)) {
        if let Some(block) = self.blocks.remove(&key) {
            self.release(key.0, block.ino, 1);
            self.discard(block.at, block.len);
        }
    }

    /// Takes blocks off a file's count, and forgets a file that has none.
    fn release(&mut self, volume: u16, ino: Ino, n_blocks: u64) {
        if let Some(touched) = self.files.get_mut(&(volume, ino)) {
            assert!(touched.n_blocks >= n_blocks, "file {ino} gives up a block too many");
            touched.n_blocks -= n_blocks;
            if touched.n_blocks == 0 {
                self.files.remove(&(volume, ino));
            }
        }
    }

    /// Gives a place in the log back. That it fails costs only space.
    fn discard(&self, at: u64, len: u32) {
        if len > 0 {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = fallocate(&self.log, hole, at, u64::from(len));
        }
    }

    fn shrink(&mut self) {
        if self.blocks.is_empty() && self.log_end > 0 && self.log.set_len(0).is_ok() {
            self.log_end = 0;
        }
    }

    /// Makes a length lasting that was set without a write, and forgets what lay behind it.
    pub(crate) fn set_size(&mut self, volume: u16, ino: Ino, size: u64) -> io::Result<()> {
        if let Some(touched) = self.files.get_mut(&(volume, ino)) {
            touched.stable_size = size;
            self.clear(volume, ino, &(size..u64::MAX))?;
        }
        Ok(())
    }

    /// Makes a length lasting that was reached without a write.
    pub(crate) fn extend(&mut self, volume: u16, ino: Ino, size: u64) {
        if let Some(touched) = self.files.get_mut(&(volume, ino)) {
            touched.stable_size = touched.stable_size.max(size);
        }
    }

    /// Makes zeros lasting: no old contents come back into this range of a file.
    pub(crate) fn clear(&mut self, volume: u16, ino: Ino, range: &Range<u64>) -> io::Result<()> {
        let Some(touched) = self.files.get(&(volume, ino)) else { return Ok(()) };
        let is_within = |block: &Block| {
            block.ino == ino && block.offset < range.end && block.offset + BLOCK_BYTES > range.start
        };
        let span = self.blocks.range((volume, touched.span.start)..(volume, touched.span.end));
        let keys: Vec<_> =
            span.filter(|(_, block)| is_within(block)).map(|(&key, _)| key).collect();
        let cleared = keys.into_iter().try_for_each(|key| self.clear_block(key, range));
        self.shrink();
        cleared
    }

    fn clear_block(&mut self, key: (u16, u64), range: &Range<u64>) -> io::Result<()> {
        let Some(block) = self.blocks.get_mut(&key) else { return Ok(()) };
        let part = within(block.offset, range);
        block.dirty.remove(part.clone());
        let address = key.1 * BLOCK_BYTES;
        let addresses = address + u64::from(part.start)..address + u64::from(part.end);
        self.cleared.push((key.0, addresses));
        if block.dirty.is_empty() {
            self.drop_block(key);
            return Ok(());
        }
        self.overlay(key, part.start, &vec![0; usize::from(part.end - part.start)])
    }

    /// Returns the addresses that [`Undo::clear`] and [`Undo::set_size`] have forgotten since the
    /// last call, with their volumes: what was dirty of them is gone, and not on a disk.
    pub(crate) fn take_cleared(&mut self) -> Vec<(u16, Range<u64>)> {
        std::mem::take(&mut self.cleared)
    }

    /// Puts the kept contents back and returns the bytes that were dirty, in order. Goes on after
    /// an error and returns the first. If the process is killed on the way, the next one goes on.
    pub(crate) fn roll_back(&mut self) -> (Vec<Lost>, io::Result<()>) {
        let n_blocks = self.blocks.len() as u64;
        let n_of_files: u64 = self.files.values().map(|touched| touched.n_blocks).sum();
        assert_eq!(n_of_files, n_blocks, "{n_blocks} blocks are put back of {n_of_files} of files");
        let lost = self.lost();
        let mut outcome = Ok(());
        if !self.blocks.is_empty() {
            // On a full disk there is no room for it: then the crash goes on without.
            let is_marked = self.marker.write(&self.plan(&lost), &self.log).is_ok();
            outcome = outcome.and(self.put_back(usize::MAX));
            for touched in self.files.values() {
                outcome = outcome.and(finish_file(&touched.file, touched.stable_size));
            }
            if is_marked {
                outcome = outcome.and(self.marker.remove());
            }
        }
        self.blocks.clear();
        self.files.clear();
        self.shrink();
        (lost, outcome)
    }

    /// Returns the bytes that are dirty, in order.
    fn lost(&self) -> Vec<Lost> {
        let of = |(&(volume, _), block): (&(u16, u64), &Block)| {
            let (ino, start) = (block.ino, block.offset);
            let lost = |range: &Range<u16>| {
                let (offset, len) = (start + u64::from(range.start), range.end - range.start);
                Lost { volume, ino, offset, len: u64::from(len) }
            };
            block.dirty.iter().map(lost).collect::<Vec<_>>()
        };
        merge(self.blocks.iter().flat_map(of).collect())
    }

    /// Returns what a rollback will do, for a process that has to go on with it.
    fn plan(&self, lost: &[Lost]) -> Rollback {
        let mut plan = Rollback { n_lost: lost.iter().map(|l| l.len).sum(), ..Rollback::default() };
        let mut ids = HashMap::new();
        for (key, touched) in &self.files {
            // A deleted file is gone with the process.
            let found = touched.file.metadata().ok().filter(|found| found.nlink() > 0);
            let Some(id) = found.map(|found| (found.dev(), found.ino())) else { continue };
            ids.insert(*key, id);
            plan.sizes.push((id, touched.stable_size));
        }
        for (&(volume, _), block) in &self.blocks {
            if let Some(id) = ids.get(&(volume, block.ino)) {
                plan.blocks.push((*id, block.kept()));
            }
        }
        plan
    }

    /// Puts the first blocks back. Goes on after an error and returns the first.
    fn put_back(&self, n_blocks_max: usize) -> io::Result<()> {
        let mut outcome = Ok(());
        for (&(volume, _), block) in self.blocks.iter().take(n_blocks_max) {
            if let Some(touched) = self.files.get(&(volume, block.ino)) {
                outcome = outcome.and(block.kept().restore(&self.log, &touched.file));
            }
        }
        outcome
    }
}

impl Block {
    fn kept(&self) -> SavedBlock {
        SavedBlock { offset: self.offset, at: self.at, len: self.len }
    }
}

/// Returns the part of a range that lies in the block at an offset, counted from there.
fn within(offset: u64, range: &Range<u64>) -> Range<u16> {
    let clip = |at: u64| at.saturating_sub(offset).min(BLOCK_BYTES) as u16;
    clip(range.start)..clip(range.end)
}

/// Reads until the buffer is full or the file ends.
fn read_at_most(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < buffer.len() {
        match file.read_at(&mut buffer[n_read..], offset + n_read as u64) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

/// Joins ranges that touch.
pub(crate) fn merge(mut ranges: Vec<Lost>) -> Vec<Lost> {
    ranges.sort_unstable();
    let mut merged: Vec<Lost> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last)
                if (last.volume, last.ino) == (range.volume, range.ino)
                    && last.offset + last.len == range.offset =>
            {
                last.len += range.len;
            }
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::path::Path;

    use super::*;

    const N_BLOCKS: u64 = 6;

    fn open(path: &Path) -> File {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true).open(path).unwrap()
    }

    /// A file of lasting ones below a folder, and unflushed twos over its second half and beyond.
    fn written(dir: &Path) -> Undo {
        fs::create_dir_all(dir.join("data/sub")).unwrap();
        let file = Arc::new(open(&dir.join("data/sub/f")));
        let stable = N_BLOCKS * BLOCK_BYTES / 2 + 100;
        file.write_all_at(&vec![1; stable as usize], 0).unwrap();
        let mut undo = Undo::new(open(&dir.join("undo")), Marker::new(dir)).unwrap();
        for number in 1..N_BLOCKS {
            let size = file.metadata().unwrap().len();
            let at = number * BLOCK_BYTES;
            let (file, len) = (&file, BLOCK_BYTES);
            let write = Overwrite { file, ino: 7, volume: 0, offset: at, address: at, len, size };
            undo.before_write(&write, &mut Vec::new()).unwrap();
            file.write_all_at(&[2; BLOCK_BYTES as usize], at).unwrap();
        }
        undo
    }

    /// A process that is killed anywhere in a rollback leaves it to the next, also to be killed.
    #[test]
    fn a_rollback_that_was_cut_off_is_finished_by_the_next_process() {
        let expected = vec![1; (N_BLOCKS * BLOCK_BYTES / 2 + 100) as usize];
        for n_put_back in 0..=N_BLOCKS as usize {
            let folder = tempfile::tempdir().unwrap();
            let dir = folder.path();
            let undo = written(dir);
            undo.marker.write(&undo.plan(&undo.lost()), &undo.log).unwrap();
            undo.put_back(n_put_back).unwrap();
            drop(undo);
            let left = fs::read(dir.join("rollback")).unwrap();
            let marker = Marker::new(dir);
            for _ in 0..2 {
                let resumed = marker.resume(&dir.join("undo"), &dir.join("data"));
                assert_eq!(resumed.unwrap(), Some((N_BLOCKS - 1) * BLOCK_BYTES));
                assert_eq!(fs::read(dir.join("data/sub/f")).unwrap(), expected, "{n_put_back}");
                let again = marker.resume(&dir.join("undo"), &dir.join("data"));
                assert_eq!(again.unwrap(), None);
                fs::write(dir.join("rollback"), &left).unwrap();
            }
        }
    }

    /// A write that fails on a full disk, over one that did not and beyond it.
    #[test]
    fn a_write_that_failed_has_nothing_to_lose() {
        let folder = tempfile::tempdir().unwrap();
        let mut undo = written(folder.path());
        let lost = undo.lost();
        let file = Arc::new(open(&folder.path().join("data/sub/f")));
        let size = file.metadata().unwrap().len();
        let at = (N_BLOCKS - 1) * BLOCK_BYTES + 100;
        let len = 2 * BLOCK_BYTES;
        let (file, mut before) = (&file, Vec::new());
        let write = Overwrite { file, ino: 7, volume: 0, offset: at, address: at, len, size };
        undo.before_write(&write, &mut before).unwrap();
        assert_ne!(undo.lost(), lost);
        undo.undo_before(0, before);
        assert_eq!(undo.lost(), lost);
    }

    /// Writes that the cache has no room for, beside what it has dirty: within a block of that, and
    /// behind the end of the file.
    #[test]
    fn a_write_that_went_through_stays_beside_dirty_neighbours() {
        let folder = tempfile::tempdir().unwrap();
        let mut undo = written(folder.path());
        let file = &Arc::new(open(&folder.path().join("data/sub/f")));
        let put = |undo: &mut Undo, at, len, with| {
            assert!(undo.touches(0, 7));
            let size = file.metadata().unwrap().len();
            let write = Overwrite { file, ino: 7, volume: 0, offset: at, address: at, len, size };
            undo.before_write(&write, &mut Vec::new()).unwrap();
            file.write_all_at(&vec![with; len as usize], at).unwrap();
        };
        put(&mut undo, 80, 20, 2);
        let lost = undo.lost();
        let mut expected = vec![1; (N_BLOCKS * BLOCK_BYTES / 2 + 100) as usize];
        for (at, len) in [(100, 50), (BLOCK_BYTES - 7, 7), (N_BLOCKS * BLOCK_BYTES + 10, 100)] {
            put(&mut undo, at, len, 3);
            undo.settle(0, &(at..at + len)).unwrap();
            expected.resize(expected.len().max((at + len) as usize), 0);
            expected[at as usize..(at + len) as usize].fill(3);
        }
        assert_eq!(undo.lost(), lost);
        undo.roll_back().1.unwrap();
        assert_eq!(fs::read(folder.path().join("data/sub/f")).unwrap(), expected);
    }

    /// A block that is on its way to the disk is cut by a truncation, beside one that is not.
    #[test]
    fn what_was_cut_off_does_not_come_back_as_length() {
        let folder = tempfile::tempdir().unwrap();
        let mut undo = written(folder.path());
        let file = &Arc::new(open(&folder.path().join("data/sub/f")));
        let at = BLOCK_BYTES;
        file.set_len(at + 100).unwrap();
        undo.set_size(0, 7, at + 100).unwrap();
        let len = BLOCK_BYTES;
        let (offset, size) = (2 * at, at + 100);
        let write = Overwrite { file, ino: 7, volume: 0, offset, address: offset, len, size };
        undo.before_write(&write, &mut Vec::new()).unwrap();
        file.write_all_at(&[3; BLOCK_BYTES as usize], offset).unwrap();
        undo.settle(0, &(at..2 * at)).unwrap();
        assert_eq!(undo.take_cleared().len(), N_BLOCKS as usize - 1);
        undo.roll_back().1.unwrap();
        let expected = [vec![1; at as usize], vec![2; 100]].concat();
        assert_eq!(fs::read(folder.path().join("data/sub/f")).unwrap(), expected);
    }

    #[test]
    fn a_rollback_leaves_nothing_to_resume() {
        let folder = tempfile::tempdir().unwrap();
        let mut undo = written(folder.path());
        let (lost, outcome) = undo.roll_back();
        outcome.unwrap();
        assert_eq!((lost.len(), lost[0].len), (1, (N_BLOCKS - 1) * BLOCK_BYTES));
        assert!(!folder.path().join("rollback").exists());
        assert_eq!(fs::metadata(folder.path().join("undo")).unwrap().len(), 0);
    }

    #[test]
    fn blocks_are_those_of_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let undo = || written(folder.path());
        #[expect(clippy::reversed_empty_ranges, reason = "the mistake that is to be found")]
        let reversed = 8192..4096;
        testing::check_wrong_calls(&[
            ("more than there are", "file 7 gives up a block too many", &|| {
                undo().release(0, 7, u64::MAX);
            }),
            ("addresses apart", "a block of a file is a block of its volume", &|| {
                let file = &Arc::new(open(&folder.path().join("data/sub/f")));
                let (offset, address, len, size) = (1, 2, 1, 10);
                let write = Overwrite { file, ino: 7, volume: 0, offset, address, len, size };
                let _refused = undo().before_write(&write, &mut Vec::new());
            }),
            ("a range that ends first", "a range ends behind its start: 8192..4096", &|| {
                let _refused = undo().settle(0, &reversed);
            }),
            ("a block that no file counts", "5 blocks are put back of 4 of files", &|| {
                let mut undo = undo();
                undo.release(0, 7, 1);
                let _refused = undo.roll_back();
            }),
        ]);
    }
}
