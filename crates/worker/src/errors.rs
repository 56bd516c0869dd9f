//! Why a worker failed, and what it counted on the way.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use plan::Direction;

use crate::tree::Stuck;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// An operation failed.
    Io,
    /// An operation moved nothing: the file ended, or the device is full.
    NothingMoved,
    /// A block did not hold what was written.
    Verify,
    /// The rate fell below its minimum.
    RateBelowMinimum,
    /// The engine could not go on.
    Engine,
    /// An operation took longer than allowed.
    LatencyAboveMaximum,
    /// Nothing in a tree of files fits what is to be done.
    Stuck(Stuck),
}

/// The first failure of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// Error number.
    pub errno: i32,
    /// What was issued.
    pub op: Option<plan::op::Op>,
}

/// Failed operations by direction (`None` for syncs) and error number.
///
/// Room for [`ErrorsSeen::N_MAX`] kinds is reserved at the start, so that counting allocates
/// nothing; what is beyond is counted under its direction with error number 0.
#[derive(Clone, Debug)]
pub struct ErrorsSeen {
    counts: Vec<(Option<Direction>, i32, u64)>,
}

impl Default for ErrorsSeen {
    fn default() -> Self {
        ErrorsSeen { counts: Vec::with_capacity(Self::N_MAX) }
    }
}

impl ErrorsSeen {
    /// Kinds kept apart. A device in trouble shows two or three.
    pub const N_MAX: usize = 64;

    pub(crate) fn count(&mut self, dir: Option<Direction>, errno: i32) {
        let errno = if self.counts.len() + 4 > Self::N_MAX { 0 } else { errno };
        match self.counts.iter_mut().find(|entry| entry.0 == dir && entry.1 == errno) {
            Some(entry) => entry.2 += 1,
            None => self.counts.push((dir, errno, 1)),
        }
    }

    /// Iterates over direction, error number and count.
    pub fn iter(&self) -> impl Iterator<Item = (Option<Direction>, i32, u64)> + '_ {
        self.counts.iter().copied()
    }
}

/// No such file.
pub(crate) const ENOENT: i32 = 2;
/// A failed operation, as it is reported while the worker goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoError {
    /// What was issued, whole.
    pub op: plan::op::Op,
    /// Error number.
    pub errno: i32,
    /// When it was seen, on the driver's clock.
    pub at_ns: u64,
}

/// The errors that the workers of a step may survive together.
#[derive(Clone, Debug, Default)]
pub struct ErrorBudget {
    n_errors: Arc<AtomicU64>,
}

impl ErrorBudget {
    /// Counts an error. Returns how many there were with it.
    pub(crate) fn count(&self) -> u64 {
        self.n_errors.fetch_add(1, Relaxed).saturating_add(1)
    }
}

/// Input/output error.
pub(crate) const EIO: i32 = 5;
/// A deadlock would follow.
pub(crate) const EDEADLK: i32 = 35;
/// No space left on device.
pub(crate) const ENOSPC: i32 = 28;
/// A block fails verification.
pub(crate) const EILSEQ: i32 = 84;
/// An operation took too long.
pub(crate) const ETIMEDOUT: i32 = 110;
/// Quota exceeded.
pub(crate) const EDQUOT: i32 = 122;
