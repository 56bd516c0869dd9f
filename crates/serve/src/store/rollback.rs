//! A rollback that outlives the process that began it.
//!
//! Before a crash takes the first byte back, what it will take back is written to a file beside
//! the data and synced: the marker. It goes when all is back and synced. A process that is killed
//! in between leaves it, and the next one carries out what it says from the start: every step may
//! be done twice. So a crash has either not begun or is complete when files are served.
//!
//! ```text
//! rollback 1
//! lost BYTES                        what only the cache had
//! block DEVICE INO OFFSET AT LEN    LEN bytes at AT of the log, zeros after them, go to OFFSET
//! size DEVICE INO BYTES             the file is no longer than this
//! end
//! ```

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

use crate::durable;
use crate::extent::Ino;

/// What is kept at once: a page, as most writes are whole pages.
pub(crate) const BLOCK_BYTES: u64 = 4096;

/// Name of the marker.
const NAME: &str = "rollback";

const HEAD: &str = "rollback 1";
const END: &str = "end";

/// A file by device and number, which a rename does not change.
pub(crate) type FileId = (u64, Ino);

/// A block to be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SavedBlock {
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// Where its contents lie in the log.
    pub(crate) at: u64,
    /// Bytes that are kept; the rest of the block was zero.
    pub(crate) len: u32,
}

/// All that a crash takes back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rollback {
    /// Bytes that only the cache had.
    pub(crate) n_lost: u64,
    pub(crate) blocks: Vec<(FileId, SavedBlock)>,
    /// Lengths that files may have at most.
    pub(crate) sizes: Vec<(FileId, u64)>,
}

impl SavedBlock {
    /// Puts a block back. May be done again.
    pub(crate) fn restore(self, log: &File, file: &File) -> io::Result<()> {
        let SavedBlock { offset, len, .. } = self;
        assert!(offset.is_multiple_of(BLOCK_BYTES), "a block is put back at {offset} B");
        assert!(u64::from(len) <= BLOCK_BYTES, "{len} B are put back as one block");
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if self.len == 0 && fallocate(file, hole, self.offset, BLOCK_BYTES).is_ok() {
            return Ok(());
        }
        let mut contents = vec![0; self.len as usize];
        log.read_exact_at(&mut contents, self.at)?;
        // Behind the end of the file nothing must be left that a later extension would show.
        let size = file.metadata()?.len();
        contents.resize(BLOCK_BYTES.min(size.saturating_sub(self.offset)) as usize, 0);
        file.write_all_at(&contents, self.offset)
    }
}

/// Gives a file the length that lasted, and makes what was put back last.
pub(crate) fn finish_file(file: &File, stable_size: u64) -> io::Result<()> {
    if file.metadata()?.len() > stable_size {
        file.set_len(stable_size)?;
    }
    file.sync_all()
}

/// The place of the marker.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    dir: PathBuf,
}

impl Marker {
    /// Makes the place in a backing.
    pub(crate) fn new(dir: &Path) -> Self {
        Marker { dir: dir.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.dir.join(NAME)
    }

    /// Writes the marker: it is there as a whole, and lasts, or not at all.
    pub(crate) fn write(&self, rollback: &Rollback, log: &File) -> io::Result<()> {
        rollback.check();
        log.sync_all()?;
        durable::replace(&self.dir, NAME, rollback.to_text().as_bytes())
    }

    /// Takes the marker away: all is back.
    pub(crate) fn remove(&self) -> io::Result<()> {
        fs::remove_file(self.path())?;
        File::open(&self.dir)?.sync_all()
    }

    /// Carries out what a killed process has begun. Returns the bytes that the crash took, or
    /// `None` where none was going on.
    pub(crate) fn resume(&self, log: &Path, data: &Path) -> io::Result<Option<u64>> {
        let text = match fs::read_to_string(self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let rollback = Rollback::parse(&text).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "`rollback` is not as it was written")
        })?;
        let log = File::open(log)?;
        // A file that is not there was deleted before the crash.
        let files = find(data, &rollback)?;
        for (id, kept) in &rollback.blocks {
            if let Some(file) = files.get(id) {
                kept.restore(&log, &writable(file)?)?;
            }
        }
        for (id, stable_size) in &rollback.sizes {
            if let Some(file) = files.get(id) {
                finish_file(&writable(file)?, *stable_size)?;
            }
        }
        self.remove()?;
        Ok(Some(rollback.n_lost))
    }
}

fn writable(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Finds the files of a rollback below a folder.
fn find(data: &Path, rollback: &Rollback) -> io::Result<HashMap<FileId, PathBuf>> {
    let wanted: HashMap<FileId, u64> = rollback.sizes.iter().copied().collect();
    let mut found = HashMap::new();
    let mut dirs = vec![data.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            let attributes = fs::symlink_metadata(&path)?;
            let id = (attributes.dev(), attributes.ino());
            if attributes.is_dir() {
                dirs.push(path);
            } else if wanted.contains_key(&id) {
                found.insert(id, path);
            }
        }
    }
    Ok(found)
}

impl Rollback {
    /// Asserts that each file of a block has a length: by these the files are found again.
    fn check(&self) {
        let known: HashSet<FileId> = self.sizes.iter().map(|(id, _)| *id).collect();
        let unknown = self.blocks.iter().find(|(id, _)| !known.contains(id));
        assert!(unknown.is_none(), "a rollback does not say how long the file is of {unknown:?}");
    }

    fn to_text(&self) -> String {
        let mut text = format!("{HEAD}\nlost {}\n", self.n_lost);
        for ((device, ino), SavedBlock { offset, at, len }) in &self.blocks {
            let _ = writeln!(text, "block {device} {ino} {offset} {at} {len}");
        }
        for ((device, ino), size) in &self.sizes {
            let _ = writeln!(text, "size {device} {ino} {size}");
        }
        text.push_str(END);
        text.push('\n');
        text
    }

    /// Reads a marker; `None` if it is not one, or not whole.
    fn parse(text: &str) -> Option<Self> {
        let mut rollback = Rollback::default();
        let lines = text.strip_prefix(HEAD)?.strip_prefix('\n')?;
        let lines = lines.strip_suffix('\n')?.strip_suffix(END)?;
        for line in lines.lines() {
            let mut words = line.split(' ');
            let kind = words.next()?;
            let numbers = words.map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
            match (kind, &*numbers) {
                ("lost", &[n_bytes]) => rollback.n_lost = n_bytes,
                ("block", &[device, ino, offset, at, len])
                    if len <= BLOCK_BYTES && offset.is_multiple_of(BLOCK_BYTES) =>
                {
                    let kept = SavedBlock { offset, at, len: len as u32 };
                    rollback.blocks.push(((device, ino), kept));
                }
                ("size", &[device, ino, bytes]) => rollback.sizes.push(((device, ino), bytes)),
                _ => return None,
            }
        }
        Some(rollback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rollback() -> Rollback {
        Rollback {
            n_lost: 5000,
            blocks: vec![((1, 2), SavedBlock { offset: 4096, at: 7, len: 4096 })],
            sizes: vec![((1, 2), 8192)],
        }
    }

    #[test]
    fn a_marker_is_read_as_it_was_written() {
        assert_eq!(Rollback::parse(&rollback().to_text()), Some(rollback()));
    }

    #[test]
    fn half_a_marker_is_none() {
        let text = rollback().to_text();
        for len in 0..text.len() {
            assert_eq!(Rollback::parse(&text[..len]), None, "{}", &text[..len]);
        }
        assert_eq!(Rollback::parse("rollback 1\nlost x\nend\n"), None);
    }

    #[test]
    fn a_marker_names_whole_blocks() {
        let read = |offset, len| {
            let text = format!("rollback 1\nblock 1 2 {offset} 0 {len}\nend\n");
            Rollback::parse(&text).is_some()
        };
        assert_eq!((read(8192, 4096), read(8192, 4097), read(8191, 4096)), (true, false, false));
    }

    #[test]
    fn what_is_put_back_are_blocks_of_files_with_a_length() {
        let folder = tempfile::tempdir().expect("a folder");
        let marker = Marker::new(folder.path());
        let log = || File::create(folder.path().join("log")).expect("a log");
        let restore = |offset, len| {
            let _refused = SavedBlock { offset, at: 0, len }.restore(&log(), &log());
        };
        marker.write(&rollback(), &log()).expect("it says how long the file is");
        testing::check_wrong_calls(&[
            ("within a block", "a block is put back at 4097 B", &|| restore(4097, 1)),
            ("more than a block", "4097 B are put back as one block", &|| restore(4096, 4097)),
            ("a file without length", "does not say how long the file is of Some(((1, 2)", &|| {
                let _refused = marker.write(&Rollback { sizes: vec![], ..rollback() }, &log());
            }),
        ]);
    }
}
