//! Frames: what a journal file is made of.
//!
//! A frame is 40 bytes of header and a payload, with one checksum over all. A file that ends within
//! a frame, or with one whose checksum is wrong, is torn there; what stands before is whole.

use super::{crc, number};

/// What every frame begins with.
const MAGIC: [u8; 4] = *b"PLJ1";

/// Version of the format.
const VERSION: u64 = 1;

/// Bytes before the payload.
const HEAD_BYTES: usize = 40;

/// Bytes of a change in a frame.
const CHANGE_BYTES: usize = 16;

/// Longest payload, so that a damaged length is no reason to take memory. A frame of ours has at
/// most what one worker hands over at once, or a piece of a map.
pub const FRAME_BYTES_MAX: usize = 16 << 20;

/// Most targets of a journal: what the number of one holds.
pub const TARGETS_MAX: usize = 1 << 16;

/// A target of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Where it is.
    pub path: String,
    /// Bytes of a block, a multiple of a sector.
    pub block_bytes: u32,
    /// Blocks.
    pub n_blocks: u64,
    /// It is a file of a tree, which may come and go.
    pub is_of_tree: bool,
}

/// What is added to the bytes of a block of a file of a tree.
const OF_TREE: u64 = 1 << 32;

/// What stands at the start of a journal: its targets, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Runs that may have written what is on the targets, in order; the last keeps the journal.
    pub runs: Vec<u64>,
    /// Targets in order of their numbers.
    pub targets: Vec<Target>,
}

/// What a change says of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The generation is about to be written.
    Writing,
    /// The generation is written.
    Written,
    /// From the first block to the end of the target nothing is known any more: the file is made,
    /// cut or removed. `n_blocks` is 0; the next writes of these blocks are counted from the
    /// generation on.
    Forgotten,
}

/// A run of blocks of one target that get the same generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// What is said of them.
    pub kind: ChangeKind,
    /// Number of the target.
    pub target: u32,
    /// First block.
    pub first: u64,
    /// How many.
    pub n_blocks: u16,
    /// Their generation.
    pub generation: u16,
}

impl Header {
    /// Returns the bytes that it takes in a file, at most, with the head of its frame.
    pub fn size_bytes(&self) -> usize {
        let of_targets: usize = self.targets.iter().map(|target| 24 + target.path.len()).sum();
        HEAD_BYTES + 16 + 8 * self.runs.len() + of_targets
    }
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Counts the frames of a file, from 0.
    pub number: u64,
    /// When it was written, microseconds since 1970.
    pub time_us: u64,
    /// The run that wrote it.
    pub run: u64,
    /// What it says.
    pub body: Body,
}

/// What a frame says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The targets.
    Header(Header),
    /// What happened to blocks, in order.
    Changes(Vec<Change>),
    /// Acknowledged generations of a target's blocks, from one on: a piece of a map.
    Piece {
        /// Number of the target.
        target: u32,
        /// First block.
        first: u64,
        /// Their generations; 0 where none is known.
        generations: Vec<u16>,
    },
}

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// There are too few of them, or their checksum is wrong.
    #[error("the frame is not whole")]
    Torn,
    /// The checksum is right and the contents are none that this version writes.
    #[error("the frame is of another version")]
    Unknown,
}

impl Frame {
    /// Appends the frame to `bytes`.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let at = bytes.len();
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&[0; HEAD_BYTES - 4]);
        let kind = match &self.body {
            Body::Header(header) => {
                encode_header(header, bytes);
                0
            }
            Body::Changes(changes) => {
                for change in changes {
                    encode_change(change, bytes);
                }
                1
            }
            Body::Piece { target, first, generations } => {
                bytes.extend_from_slice(&u64::from(*target).to_le_bytes());
                bytes.extend_from_slice(&first.to_le_bytes());
                for generation in generations {
                    bytes.extend_from_slice(&generation.to_le_bytes());
                }
                2
            }
        };
        let frame = &mut bytes[at..];
        let len = (frame.len() - HEAD_BYTES) as u32;
        frame[4..8].copy_from_slice(&len.to_le_bytes());
        frame[12] = kind;
        frame[16..24].copy_from_slice(&self.number.to_le_bytes());
        frame[24..32].copy_from_slice(&self.time_us.to_le_bytes());
        frame[32..40].copy_from_slice(&self.run.to_le_bytes());
        let crc = crc(&[&frame[4..8], &frame[12..]]);
        frame[8..12].copy_from_slice(&crc.to_le_bytes());
    }

    /// Returns the length of the frame whose first bytes these are, if they are one's.
    pub fn len_of(head: &[u8]) -> Option<usize> {
        let len = number(head, 4, 4) as usize;
        let is_frame = head.len() >= HEAD_BYTES && head[..4] == MAGIC && len <= FRAME_BYTES_MAX;
        is_frame.then_some(HEAD_BYTES + len)
    }

    /// Bytes that [`Frame::len_of`] needs.
    pub const HEAD_BYTES: usize = HEAD_BYTES;

    /// What every frame begins with.
    pub const MAGIC: [u8; 4] = MAGIC;

    /// Reads the frame that these bytes begin with.
    ///
    /// # Errors
    /// When they do not begin with a whole one.
    pub fn decode(bytes: &[u8]) -> Result<Frame, FrameError> {
        let len = Frame::len_of(bytes).ok_or(FrameError::Torn)?;
        let frame = bytes.get(..len).ok_or(FrameError::Torn)?;
        if number(frame, 8, 4) != u64::from(crc(&[&frame[4..8], &frame[12..]])) {
            return Err(FrameError::Torn);
        }
        let payload = &frame[HEAD_BYTES..];
        let body = match frame[12] {
            0 => Body::Header(decode_header(payload)?),
            1 => Body::Changes(decode_changes(payload)?),
            2 => decode_piece(payload)?,
            _ => return Err(FrameError::Unknown),
        };
        Ok(Frame {
            number: number(frame, 16, 8),
            time_us: number(frame, 24, 8),
            run: number(frame, 32, 8),
            body,
        })
    }
}

fn encode_header(header: &Header, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(header.runs.len() as u64).to_le_bytes());
    for run in &header.runs {
        bytes.extend_from_slice(&run.to_le_bytes());
    }
    for target in &header.targets {
        let path = target.path.as_bytes();
        let of_tree = if target.is_of_tree { OF_TREE } else { 0 };
        bytes.extend_from_slice(&(u64::from(target.block_bytes) | of_tree).to_le_bytes());
        bytes.extend_from_slice(&target.n_blocks.to_le_bytes());
        bytes.extend_from_slice(&(path.len() as u64).to_le_bytes());
        bytes.extend_from_slice(path);
    }
}

fn decode_header(mut payload: &[u8]) -> Result<Header, FrameError> {
    if number(payload, 0, 8) != VERSION {
        return Err(FrameError::Unknown);
    }
    let n_runs = usize::try_from(number(payload, 8, 8)).unwrap_or(usize::MAX);
    let runs_end = n_runs.checked_mul(8).and_then(|len| len.checked_add(16));
    let runs = runs_end.and_then(|end| payload.get(16..end)).ok_or(FrameError::Unknown)?;
    payload = &payload[16 + runs.len()..];
    let runs = runs.chunks_exact(8).map(|run| number(run, 0, 8)).collect();
    let mut header = Header { runs, targets: Vec::new() };
    while !payload.is_empty() {
        let is_of_tree = number(payload, 4, 4) == OF_TREE >> 32;
        let block_bytes = number(payload, 0, 8) & if is_of_tree { !OF_TREE } else { u64::MAX };
        let n_blocks = number(payload, 8, 8);
        let len = usize::try_from(number(payload, 16, 8)).unwrap_or(usize::MAX);
        let rest = payload.get(24..).unwrap_or_default();
        let (path, rest) = rest.split_at_checked(len).ok_or(FrameError::Unknown)?;
        let path = String::from_utf8(path.to_vec());
        let is_size = (1..=u64::from(u32::MAX)).contains(&block_bytes)
            && block_bytes.is_multiple_of(super::SECTOR_BYTES as u64)
            && n_blocks.checked_mul(block_bytes).is_some_and(|end| i64::try_from(end).is_ok());
        if !is_size || header.targets.len() == TARGETS_MAX {
            return Err(FrameError::Unknown);
        }
        let path = path.map_err(|_| FrameError::Unknown)?;
        header.targets.push(Target { path, block_bytes: block_bytes as u32, n_blocks, is_of_tree });
        payload = rest;
    }
    Ok(header)
}

fn encode_change(change: &Change, bytes: &mut Vec<u8>) {
    let kind: u64 = match change.kind {
        ChangeKind::Writing => 1,
        ChangeKind::Written => 2,
        ChangeKind::Forgotten => 3,
    };
    bytes.extend_from_slice(&(kind << 56 | change.first).to_le_bytes());
    bytes.extend_from_slice(&change.generation.to_le_bytes());
    bytes.extend_from_slice(&change.n_blocks.to_le_bytes());
    bytes.extend_from_slice(&change.target.to_le_bytes());
}

fn decode_changes(payload: &[u8]) -> Result<Vec<Change>, FrameError> {
    let (changes, rest) = payload.as_chunks::<CHANGE_BYTES>();
    if !rest.is_empty() {
        return Err(FrameError::Unknown);
    }
    let decode = |bytes: &[u8; CHANGE_BYTES]| {
        let kind = match bytes[7] {
            1 => ChangeKind::Writing,
            2 => ChangeKind::Written,
            3 => ChangeKind::Forgotten,
            _ => return Err(FrameError::Unknown),
        };
        Ok(Change {
            kind,
            target: number(bytes, 12, 4) as u32,
            first: number(bytes, 0, 7),
            n_blocks: number(bytes, 10, 2) as u16,
            generation: number(bytes, 8, 2) as u16,
        })
    };
    changes.iter().map(decode).collect()
}

fn decode_piece(payload: &[u8]) -> Result<Body, FrameError> {
    let (words, rest) = payload.get(16..).unwrap_or_default().as_chunks::<2>();
    let target = u32::try_from(number(payload, 0, 8)).map_err(|_| FrameError::Unknown)?;
    if payload.len() < 16 || !rest.is_empty() {
        return Err(FrameError::Unknown);
    }
    let generations = words.iter().map(|word| u16::from_le_bytes(*word)).collect();
    Ok(Body::Piece { target, first: number(payload, 8, 8), generations })
}
