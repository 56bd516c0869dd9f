//! Recorded I/O, to be issued again instead of generated operations.

use crate::op::OpKind;

/// The operations of one record file, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The files it uses.
    pub files: Vec<RecordedFile>,
    /// Operations in the order of their issue.
    pub ops: Vec<RecordedOp>,
}

/// A file of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFile {
    /// Its name as recorded.
    pub name: String,
    /// The size it must have: where its last operation ends.
    pub size_bytes: u64,
}

/// One recorded operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedOp {
    /// When it is due, counted from the first operation.
    pub due_ns: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for a sync.
    pub len: u32,
    /// Position in [`Recording::files`].
    pub file_idx: u32,
    /// Read, write, trim or one of the syncs.
    pub kind: OpKind,
}

impl Recording {
    /// Returns the bytes that all reads, writes and trims move.
    pub fn total_bytes(&self) -> u64 {
        self.ops.iter().map(|op| u64::from(op.len)).sum()
    }
}
