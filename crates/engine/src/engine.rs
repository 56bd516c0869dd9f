//! What an engine does, whatever it works with.

use plan::EngineKind;
use plan::op::{Completion, Op};

use crate::{Arena, EngineError, FileTable, Usage};

/// Operations that an engine without system calls takes at once: enough to make the cost of the
/// call disappear, few enough to stay in the first-level cache.
const BATCH_WITHOUT_CALL_MAX: u32 = 64;

/// Returns the most operations that may usefully be handed over at once: all that can be in flight,
/// so that a slow call is made once for all of them. `kind` carries out several at a time.
pub fn batch_max(kind: EngineKind, queue_depth: u32) -> u32 {
    let queue_depth = queue_depth.max(1);
    if kind.is_idle() { queue_depth.min(BATCH_WITHOUT_CALL_MAX) } else { queue_depth }
}

/// Returns how many of `in_flight` operations are left after so many have completed.
#[inline]
pub(crate) fn still_in_flight(in_flight: u32, n_done: u32) -> u32 {
    assert!(n_done <= in_flight, "what completes was in flight, and completes once");
    in_flight - n_done
}

/// How long [`Engine::exchange`] may take to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Return when this many operations have completed; 0 does not block.
    pub min: u32,
    /// Return after this long even if fewer have completed; `None` waits on.
    pub timeout_ns: Option<u64>,
}

impl Wait {
    /// Does not block.
    pub const POLL: Wait = Wait { min: 0, timeout_ns: None };
}

/// Issues operations and returns their completions. One worker owns one engine; nothing is shared.
///
/// Between construction and drop an engine allocates nothing, locks nothing and logs nothing; but
/// [`offload`](crate::offload()) locks where operations change hands.
pub trait Engine: Send {
    /// Issues `ops`, waits as `wait` says, and appends completions to `done`.
    ///
    /// One call per batch: at queue depth 1 it is at most one system call for an asynchronous
    /// engine. Operations that fail complete with a negative result; they are not errors of the
    /// call. `done` has room for one completion per slot. A synchronous engine carries out all of
    /// `ops` before it returns, whatever `wait` says.
    ///
    /// # Errors
    /// Only when the engine itself cannot go on (its ring is gone, the arguments are refused).
    fn exchange(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError>;

    /// Returns the most operations that may usefully be handed over at once. The worker never
    /// submits more in one call.
    fn batch_max(&self) -> u32;

    /// Returns the name of the engine that really runs, with the reason where it stands in for
    /// another (`aio (io_uring is forbidden here: EPERM)`).
    fn name(&self) -> &str;

    /// Returns whether the engine runs because the host refuses the one that was asked for.
    fn stands_in(&self) -> bool {
        false
    }

    /// Returns the memory that operations read into and write from.
    fn arena(&mut self) -> &mut Arena;

    /// Returns the files that operations name.
    fn files(&mut self) -> &mut FileTable;

    /// Removes the regular files that the worker works on; see [`FileTable::unlink_all`].
    ///
    /// # Errors
    /// The last failure; the others are removed anyway.
    fn remove_files(&mut self) -> Result<(), EngineError> {
        self.files().unlink_all()
    }

    /// Writes back what the page cache holds of the files, and drops it; see
    /// [`FileTable::drop_cache`].
    ///
    /// # Errors
    /// The first failure: what was written may be lost.
    fn drop_cache(&mut self) -> Result<(), EngineError> {
        self.files().drop_cache()
    }

    /// Makes durable all that was written to the file systems of the files; see
    /// [`FileTable::sync_file_systems`].
    ///
    /// # Errors
    /// The first failure.
    fn sync_file_systems(&mut self) -> Result<(), EngineError> {
        self.files().sync_file_systems()
    }

    /// Closes the files after the last operation, durably where the job asks for that; see
    /// [`FileTable::close_all`]. Its threads have ended.
    ///
    /// # Errors
    /// The last failure: what was written may be lost.
    fn close_files(&mut self) -> Result<(), EngineError> {
        self.files().close_all()
    }

    /// Ends the threads of the engine, if it has any, and returns what they used since they were
    /// ready. Nothing may be in flight unless the engine has failed, and nothing more be issued.
    fn end_threads(&mut self) -> Usage {
        Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_completes_was_in_flight() {
        assert_eq!(still_in_flight(3, 3), 0);
        testing::check_wrong_calls(&[("one more", "what completes was in flight", &|| {
            still_in_flight(3, 4);
        })]);
    }
}
