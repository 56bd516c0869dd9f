//! The file of a journal: appended to ahead of the writes, made durable by one for all who wait,
//! and written anew when it has grown.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::PartFile;
use pattern::journal::frame::Body;
use pattern::journal::{BlockMap, Change, ChangeKind, Frame, Header};

/// Changes in one frame, at most.
const FRAME_CHANGES_MAX: usize = 4096;

/// A journal is written anew, as what it comes to, when so much was appended since that was done
/// last: some ten million writes, which take seconds to read.
const COMPACT_ABOVE_BYTES: u64 = 256 << 20;

/// An open journal file.
#[derive(Debug)]
pub(super) struct Log {
    file: Arc<File>,
    path: PathBuf,
    n_frames: u64,
    /// Counts appends: what each of them has is its number.
    pub(super) n_appended: u64,
    /// Number of the last append that is known to be durable.
    pub(super) n_durable: u64,
    /// Somebody makes it durable.
    pub(super) is_syncing: bool,
    appended_bytes: u64,
    compact_above_bytes: u64,
    bytes: Vec<u8>,
}

/// Who writes frames, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    pub(super) run: u64,
    pub(super) time_us: u64,
}

impl Log {
    /// Makes the file of a journal, with all that is known at the start.
    ///
    /// # Errors
    /// What the system says, also when there is such a file.
    pub(super) fn create(
        path: &Path,
        header: &Header,
        maps: &[BlockMap],
        writer: Writer,
    ) -> io::Result<Self> {
        // Whoever comes second finds it there.
        File::options().write(true).create_new(true).open(path)?;
        Log::replace(path, header, maps, writer).inspect_err(|_| {
            // An empty file would stand in the way of the next run, and say nothing.
            let _left_there = fs::remove_file(path);
        })
    }

    /// Puts a journal of all that is known in the place of one that is there.
    ///
    /// # Errors
    /// What the system says; the one that is there stays as it is then.
    pub(super) fn replace(
        path: &Path,
        header: &Header,
        maps: &[BlockMap],
        writer: Writer,
    ) -> io::Result<Self> {
        let mut log = Log {
            file: Arc::new(File::open(path)?),
            path: path.to_owned(),
            n_frames: 0,
            n_appended: 0,
            n_durable: 0,
            is_syncing: false,
            appended_bytes: 0,
            compact_above_bytes: COMPACT_ABOVE_BYTES,
            bytes: Vec::new(),
        };
        log.rewrite(header, maps, writer)?;
        Ok(log)
    }

    /// Sets from how many bytes on the file is written anew.
    #[cfg(test)]
    pub(super) fn compact_above(&mut self, bytes: u64) {
        self.compact_above_bytes = bytes;
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file, to make durable what was appended.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Appends changes.
    ///
    /// # Errors
    /// What the system says. What was appended in part is torn, and nothing may be appended then.
    pub(super) fn append(&mut self, changes: &[Change], writer: Writer) -> io::Result<()> {
        self.bytes.clear();
        for changes in changes.chunks(FRAME_CHANGES_MAX) {
            self.encode(Body::Changes(changes.to_vec()), writer);
        }
        self.file.as_ref().write_all(&self.bytes)?;
        self.appended_bytes += self.bytes.len() as u64;
        self.n_appended += 1;
        Ok(())
    }

    /// Returns whether it is due to be written anew.
    pub(super) fn is_grown(&self, maps: &[BlockMap]) -> bool {
        self.appended_bytes > self.compact_above_bytes && {
            let maps_bytes: u64 = maps.iter().map(BlockMap::size_bytes).sum();
            self.appended_bytes > maps_bytes.saturating_mul(2)
        }
    }

    /// Writes the file anew, as what it comes to. A crash leaves the old file or the new one.
    ///
    /// # Errors
    /// What the system says; the old file goes on then.
    pub(super) fn rewrite(
        &mut self,
        header: &Header,
        maps: &[BlockMap],
        writer: Writer,
    ) -> io::Result<()> {
        let mut part = PartFile::beside(&self.path)?;
        self.n_frames = 0;
        self.bytes.clear();
        self.encode(Body::Header(header.clone()), writer);
        for (target, map) in (0..).zip(maps) {
            if let Some(generation) = map.base() {
                let kind = ChangeKind::Forgotten;
                let base = Change { kind, target, first: 0, n_blocks: 0, generation };
                self.encode(Body::Changes(vec![base]), writer);
            }
            for (first, generations) in map.pieces() {
                let generations = generations.to_vec();
                self.encode(Body::Piece { target, first, generations }, writer);
                part.file().write_all(&self.bytes)?;
                self.bytes.clear();
            }
            let pending = |(first, generation)| {
                let kind = ChangeKind::Writing;
                Change { kind, target, first, n_blocks: 1, generation }
            };
            let pending: Vec<Change> = map.pending().into_iter().map(pending).collect();
            for changes in pending.chunks(FRAME_CHANGES_MAX) {
                self.encode(Body::Changes(changes.to_vec()), writer);
            }
        }
        part.file().write_all(&self.bytes)?;
        part.file().sync_all()?;
        self.file = Arc::new(part.put()?);
        self.appended_bytes = 0;
        self.n_durable = self.n_appended;
        sync_folder(&self.path)
    }

    fn encode(&mut self, body: Body, writer: Writer) {
        let Writer { run, time_us } = writer;
        Frame { number: self.n_frames, time_us, run, body }.encode(&mut self.bytes);
        self.n_frames += 1;
    }
}

/// Makes the name of a file durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use pattern::journal::Target;

    use super::super::replayed::replay;
    use super::*;

    /// Whatever was appended before a file was written anew: it says the same.
    #[test]
    fn a_journal_that_is_written_anew_says_what_it_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("j");
        let target = |path: &str| Target {
            path: path.to_owned(),
            block_bytes: 512,
            n_blocks: 10_000,
            is_of_tree: false,
        };
        let header = Header { runs: vec![1, 2], targets: vec![target("a"), target("b")] };
        let mut maps = vec![BlockMap::default(); 2];
        let writer = Writer { run: 2, time_us: 5 };
        let mut log = Log::create(&path, &header, &maps, writer).expect("there is room");
        log.compact_above(20_000);
        let (mut n_rewritten, mut longest) = (0, 0);
        for idx in 0..3_000_u64 {
            let (target, first) = ((idx % 2) as u32, idx * 7919 % 9_990);
            let map = &mut maps[target as usize];
            let generation = map.next(first);
            let mut note = |kind| {
                match kind {
                    ChangeKind::Writing => map.writing(first, generation),
                    ChangeKind::Written => map.written(first, generation),
                    ChangeKind::Forgotten => _ = map.forget(first),
                }
                let n_blocks = u16::from(kind != ChangeKind::Forgotten);
                Change { kind, target, first, n_blocks, generation }
            };
            let mut changes = vec![note(ChangeKind::Writing)];
            // Every tenth write fails.
            changes.extend((idx % 10 != 0).then(|| note(ChangeKind::Written)));
            // Now and then the end of a target is cut off.
            changes.extend((idx % 700 == 699).then(|| note(ChangeKind::Forgotten)));
            log.append(&changes, writer).expect("there is room");
            longest = longest.max(std::fs::metadata(&path).expect("it is there").len());
            if log.is_grown(&maps) {
                log.rewrite(&header, &maps, writer).expect("there is room");
                n_rewritten += 1;
            }
            if idx % 500 == 499 {
                let read = replay(&path, &mut |_| {}).expect("it is whole");
                assert_eq!((&read.header, read.torn_bytes), (&header, 0));
                for (read, map) in read.maps.iter().zip(&maps) {
                    assert_eq!(read.known(), map.known());
                    for block in 0..10_000 {
                        assert_eq!(read.state(block), map.state(block), "block {block}");
                        assert_eq!(read.next(block), map.next(block), "block {block}");
                    }
                }
            }
        }
        assert!(n_rewritten > 0 && longest < 300_000, "{n_rewritten} times, {longest} B");
        assert_eq!(testing::names_in(folder.path()), ["j"]);
        let again = Log::create(&path, &header, &maps, writer).expect_err("it is there");
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    }
}
