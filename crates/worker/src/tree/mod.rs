//! Work on a tree of files: which operation comes next, on which file, and what it leaves behind.
//!
//! Each worker has a [`TreeWorker`] that holds one file or folder at a time and takes it through
//! the steps of an operation: a read opens the file first and closes it in the end. What is there
//! of the tree is in [`TreeState`], which all workers share.

mod overdue;
mod shared;
mod state;
mod task;
mod traits;
mod tree_worker;

pub use shared::{CompleteParts, DoneOf, FormatStatus, TreeJob};
pub use state::{FileFlags, TreeState};

#[cfg(test)]
pub(crate) use traits::Effect;
pub(crate) use tree_worker::TreeWorker;

use plan::op::OpKind;
use plan::tree::SelectFilter;
use traits::{TaskTraits, WorksOn};

/// A folder holds something (Linux).
pub(crate) const ENOTEMPTY: i32 = 39;

/// One operation of a hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeOp {
    /// What is done.
    pub(crate) kind: OpKind,
    /// Number of the file or folder, marked if it is in the second tree.
    pub(crate) entry: u32,
    /// First byte.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) len: u32,
    /// It is what the job is asked to do; else it only leads there or ends it.
    pub(crate) is_asked: bool,
    /// Position of its task.
    pub(crate) task: u16,
}

impl TreeOp {
    /// Makes an operation that moves no bytes.
    pub(crate) fn whole(kind: OpKind, entry: u32, is_asked: bool, task: u16) -> Self {
        TreeOp { kind, entry, offset: 0, len: 0, is_asked, task }
    }
}

/// What a hand does next. Small: it is handed on three times for each operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Carries out an operation.
    Op(TreeOp),
    /// Nothing can be done now; others may change that.
    Later,
    /// Everything is done.
    Done,
    /// Nothing can ever be done.
    Stuck(Box<Stuck>),
    /// It may not be done, for the reason of this error number.
    Refused(i32),
}

/// Why nothing can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// What was to be done.
    pub operation: OpKind,
    /// Which files it was to be done on.
    pub filter: SelectFilter,
    /// So many files or folders were tried in a row; 0 where none that fits can exist.
    pub n_tried: u32,
    /// What is there of the tree.
    pub there: TreeCounts,
    /// What is there of the tree that files are copied or moved to.
    pub target: Option<TreeCounts>,
}

impl Stuck {
    /// Returns whether what the operation works towards is there before its first one: every
    /// folder made, every file removed. Nothing failed then, as in Vdbench.
    pub fn is_at_its_end(&self) -> bool {
        match TaskTraits::of(self.operation).works_on {
            WorksOn::MissingFolder => self.n_tried == 0,
            WorksOn::MissingFile => self.n_tried == 0 && self.there.n_folders > 0,
            WorksOn::EmptyFolder => true,
            WorksOn::File => self.operation == OpKind::Delete && self.n_tried == 0,
            WorksOn::Folder | WorksOn::FullFile | WorksOn::WrittenFile => false,
        }
    }
}

/// What is there of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeCounts {
    /// Files.
    pub n_files: u64,
    /// Files of their whole size.
    pub n_full: u64,
    /// Folders.
    pub n_folders: u64,
}

/// Leave to do what is asked for next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Admission {
    /// Under a rate: when it was due.
    pub(crate) due_ns: Option<u64>,
    /// A schedule has counted it, that of whoever handed it on.
    pub(crate) is_counted: bool,
}

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is done.
    Done,
    /// It failed in a way that was to be expected, and the work goes on.
    Tolerated,
    /// It failed.
    Failed,
}
