//! What the workers of a job share: the tree, turns, and how far a format is.

mod format;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use pattern::tree::InUse;
use plan::op::OpKind;
use plan::tree::{Activity, FileIo, TreeTask, TreeWork};

use super::overdue::Overdue;
use super::state::TreeState;
use format::{FormatProgress, bytes_to_make};

pub(super) use format::FormatWorker;
pub use format::{CompleteParts, DoneOf, FormatStatus};

/// One job on a tree, as its workers share it.
#[derive(Debug)]
pub struct TreeJob {
    pub(super) work: TreeWork,
    pub(super) state: Arc<TreeState>,
    /// The files of the tree that are worked on.
    pub(super) in_use: InUse,
    /// The tree that is copied to, or that a format removes.
    pub(super) second: Option<Arc<TreeState>>,
    /// Turns taken, per task.
    pub(super) turns: Box<[AtomicU64]>,
    /// Per file the byte behind the last one that was read or written, where files are left before
    /// their end and gone on with later; else empty.
    left_at: Box<[AtomicU64]>,
    /// Operations that were begun, per task.
    n_begun: Box<[AtomicU64]>,
    pub(super) format: FormatProgress,
    /// What workers hand on to each other.
    pub(super) overdue: Overdue,
    /// Seed that all workers share.
    pub(super) seed: u64,
}

impl TreeJob {
    /// Makes what the workers of a job share. `second` is the tree that files are copied or moved
    /// to; of a format, the tree that is there and to be removed, if it is another one.
    ///
    /// # Panics
    /// If more files are in use than there are, or files go to another tree and there is none.
    pub fn new(
        work: TreeWork,
        (state, in_use): (Arc<TreeState>, InUse),
        second: Option<Arc<TreeState>>,
        seed: u64,
    ) -> Self {
        let (n_in_use, n_files) = (in_use.len(), state.tree().n_files());
        assert!(n_in_use <= n_files, "{n_in_use} of {n_files} files are in use");
        if let Activity::Operations(tasks) = &work.activity {
            let leaves = |task: &&TreeTask| matches!(task.operation, OpKind::Copy | OpKind::Move);
            let leaving = tasks.iter().find(leaves).map(|task| task.operation);
            assert!(leaving.is_none() || second.is_some(), "{leaving:?} to a tree that is missing");
        }
        let n_tasks = match &work.activity {
            Activity::Operations(tasks) => tasks.len(),
            Activity::Format(_) => 0,
        };
        let zeros = || (0..n_tasks).map(|_| AtomicU64::new(0)).collect();
        let goes_on = match &work.activity {
            Activity::Operations(tasks) => tasks.iter().any(|task| {
                task.stop_after.is_some() && matches!(task.io, FileIo::Sequential { .. })
            }),
            Activity::Format(_) => false,
        };
        let n_left_at = if goes_on { state.tree().n_files() } else { 0 };
        let to_make_bytes = bytes_to_make(&work.activity, &state, &in_use);
        let is_format = matches!(work.activity, Activity::Format(_));
        let format = FormatProgress::new(to_make_bytes, is_format && second.is_some());
        TreeJob {
            work,
            state,
            in_use,
            second,
            turns: zeros(),
            left_at: (0..n_left_at).map(|_| AtomicU64::new(0)).collect(),
            n_begun: zeros(),
            format,
            overdue: Overdue::default(),
            seed,
        }
    }

    /// Returns what the job does.
    pub fn work(&self) -> &TreeWork {
        &self.work
    }

    /// Returns the state of the job's tree.
    pub fn state(&self) -> &Arc<TreeState> {
        &self.state
    }

    /// Returns the state of the second tree.
    pub fn second(&self) -> Option<&Arc<TreeState>> {
        self.second.as_ref()
    }

    /// Returns how far a format is; `None` of a job that is none.
    pub fn format_status(&self) -> Option<FormatStatus> {
        self.format.status(self)
    }

    /// Returns which parts of its tree a format has made; none of a job that is no format.
    pub fn made_whole(&self) -> CompleteParts {
        self.format.made_whole(self)
    }

    /// Returns whether a format has removed all files that it was to remove, and looked at all
    /// folders.
    pub fn has_removed(&self) -> bool {
        self.format.has_removed(self)
    }

    /// Lets a format make its tree in the place of another one that it has removed, or not, for the
    /// reason of an error number; 0 lets it.
    ///
    /// # Panics
    /// If that is no error number, or the format waits for no leave.
    pub fn let_make(&self, errno: i32) {
        self.format.let_make(errno);
    }

    /// Returns where a file was left before its end.
    pub(super) fn left_at(&self, file: u32) -> u64 {
        self.left_at.get(file as usize).map_or(0, |byte| byte.load(Relaxed))
    }

    /// Notes where a file is left.
    pub(super) fn leave_at(&self, file: u32, byte: u64) {
        if let Some(left_at) = self.left_at.get(file as usize) {
            left_at.store(byte, Relaxed);
        }
    }

    pub(super) fn begin(&self, task: u16) {
        self.n_begun[usize::from(task)].fetch_add(1, Relaxed);
    }

    pub(super) fn has_begun(&self, task: u16) -> bool {
        self.n_begun[usize::from(task)].load(Relaxed) > 0
    }
}
