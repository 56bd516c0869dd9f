//! Reading a journal file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pattern::journal::frame::Body;
use pattern::journal::{BlockMap, Change, ChangeKind, Frame, FrameError, Header};
use units::system_text;

/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 20;

/// Why a journal says nothing.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read.
    #[error("cannot read the journal `{}`: {}", path.display(), system_text(source))]
    Io {
        /// The journal.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is no journal, or its first frame is not whole.
    #[error("`{}` is not a journal of Plimsoll", path.display())]
    NotJournal {
        /// The file.
        path: PathBuf,
    },
    /// Something within it is not as it was written: what follows is not known to be all.
    #[error(
        "the journal `{}` is damaged at byte {at}, and goes on behind that: what it says of blocks \
         is not complete",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
    },
    /// Another version wrote it.
    #[error("the journal `{}` is of another version of Plimsoll (at byte {at})", path.display())]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
    },
    /// It names blocks or targets that it does not have.
    #[error("the journal `{}` contradicts itself at byte {at}", path.display())]
    Contradiction {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
    },
}

/// What a journal says in the end.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    pub(super) header: Header,
    /// By target.
    pub(super) maps: Vec<BlockMap>,
    /// Bytes at its end that are no whole frame, as a crash leaves them.
    pub(super) torn_bytes: u64,
    /// When it was begun, or written anew, microseconds since 1970.
    pub(super) since_us: u64,
}

/// Frames of a journal, one after the other.
struct Frames {
    file: File,
    path: PathBuf,
    bytes: Vec<u8>,
    /// Where `bytes` begins in the file.
    at: u64,
    /// Of `bytes`, what was taken.
    taken: usize,
    is_end: bool,
    /// Frames that were whole.
    n_passed: u64,
}

impl Frames {
    fn open(path: &Path) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        if !file.metadata().map_err(io)?.is_file() {
            return Err(JournalError::NotJournal { path: path.to_owned() });
        }
        Ok(Frames {
            file,
            path: path.to_owned(),
            bytes: Vec::new(),
            at: 0,
            taken: 0,
            is_end: false,
            n_passed: 0,
        })
    }

    /// Makes so many bytes that are not taken available, or all that there are.
    fn fill(&mut self, len: usize) -> Result<&[u8], JournalError> {
        while self.bytes.len() - self.taken < len && !self.is_end {
            self.bytes.drain(..self.taken);
            self.at += self.taken as u64;
            self.taken = 0;
            let wanted = len.max(READ_BYTES) as u64;
            let read = self.file.by_ref().take(wanted).read_to_end(&mut self.bytes);
            let n_read = read.map_err(|source| {
                let path = self.path.clone();
                JournalError::Io { path, source }
            })?;
            self.is_end = n_read == 0;
        }
        Ok(&self.bytes[self.taken..])
    }

    fn place(&self) -> u64 {
        self.at + self.taken as u64
    }

    /// Returns the next frame, where there is a whole one.
    fn next(&mut self) -> Result<Option<Frame>, JournalError> {
        let head = self.fill(Frame::HEAD_BYTES)?;
        let Some(len) = Frame::len_of(head) else { return Ok(None) };
        let bytes = self.fill(len)?;
        match Frame::decode(bytes) {
            Ok(frame) if frame.number == self.n_passed => {
                self.n_passed += 1;
                self.taken += len;
                Ok(Some(frame))
            }
            Ok(_) | Err(FrameError::Torn) => Ok(None),
            Err(FrameError::Unknown) => {
                Err(JournalError::OtherVersion { path: self.path.clone(), at: self.place() })
            }
        }
    }

    /// Returns how many bytes are left, where none of them is a whole frame: the file is torn.
    fn torn(&mut self) -> Result<u64, JournalError> {
        let (path, at) = (self.path.clone(), self.place());
        let mut n_torn = 0;
        loop {
            let head = self.fill(Frame::HEAD_BYTES)?;
            if head.is_empty() {
                return Ok(n_torn);
            }
            if let Some(len) = Frame::len_of(head)
                && Frame::decode(self.fill(len)?).is_ok_and(|frame| frame.number >= self.n_passed)
            {
                return Err(JournalError::Damaged { path, at });
            }
            let rest = self.fill(Frame::HEAD_BYTES)?;
            // To where the next frame may begin.
            let next = rest.iter().skip(1).position(|byte| *byte == Frame::MAGIC[0]);
            let passed = next.map_or(rest.len(), |position| position + 1);
            self.taken += passed;
            n_torn += passed as u64;
        }
    }
}

/// Reads what stands at the start of a journal.
pub(super) fn header(path: &Path) -> Result<Header, JournalError> {
    first_frame(&mut Frames::open(path)?).map(|(header, _)| header)
}

/// Returns what stands at the start of a journal, and since when.
fn first_frame(frames: &mut Frames) -> Result<(Header, u64), JournalError> {
    match frames.next()? {
        Some(Frame { body: Body::Header(header), time_us, .. }) => Ok((header, time_us)),
        Some(_) | None => Err(JournalError::NotJournal { path: frames.path.clone() }),
    }
}

/// Reads a journal to its end. `watch` sees each frame that is whole.
pub(super) fn replay(path: &Path, watch: &mut dyn FnMut(&Frame)) -> Result<Replayed, JournalError> {
    let mut frames = Frames::open(path)?;
    let mut replayed = Replayed::default();
    (replayed.header, replayed.since_us) = first_frame(&mut frames)?;
    replayed.maps = vec![BlockMap::default(); replayed.header.targets.len()];
    loop {
        let at = frames.place();
        let Some(frame) = frames.next()? else { break };
        watch(&frame);
        let is_right = match &frame.body {
            Body::Header(_) => false,
            Body::Changes(changes) => changes.iter().all(|change| replayed.apply(change)),
            Body::Piece { target, first, generations } => {
                replayed.take_piece(*target, *first, generations)
            }
        };
        if !is_right {
            return Err(JournalError::Contradiction { path: path.to_owned(), at });
        }
    }
    replayed.torn_bytes = frames.torn()?;
    Ok(replayed)
}

impl Replayed {
    fn has(&self, target: u32, first: u64, n_blocks: u64) -> bool {
        let target = self.header.targets.get(target as usize);
        target.is_some_and(|it| first.checked_add(n_blocks).is_some_and(|end| end <= it.n_blocks))
    }

    /// Applies a change; says whether it is one of a block that there is.
    fn apply(&mut self, change: &Change) -> bool {
        let Change { kind, target, first, n_blocks, generation } = *change;
        if generation == 0 || !self.has(target, first, u64::from(n_blocks)) {
            return false;
        }
        let Some(map) = self.maps.get_mut(target as usize) else { return false };
        let blocks = first..first + u64::from(n_blocks);
        match kind {
            ChangeKind::Writing => blocks.for_each(|block| map.writing(block, generation)),
            ChangeKind::Written => blocks.for_each(|block| map.written(block, generation)),
            ChangeKind::Forgotten => map.forgotten(first, generation),
        }
        true
    }

    fn take_piece(&mut self, target: u32, first: u64, generations: &[u16]) -> bool {
        // A piece is whole, also at the end of its target.
        let known = generations.iter().rposition(|it| *it != 0).map_or(0, |last| last + 1);
        if !self.has(target, first, known as u64) {
            return false;
        }
        let Some(map) = self.maps.get_mut(target as usize) else { return false };
        let known =
            (first..).zip(&generations[..known]).filter(|(_, generation)| **generation != 0);
        known.for_each(|(block, generation)| map.written(block, *generation));
        true
    }
}
