//! The bytes of operations, seen from a worker that never touches them.

use plan::op::Op;

/// What a write must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteFacts {
    /// Number of this write in its worker, from 0: the generation of its contents.
    pub number: u64,
    /// Seed of the contents.
    pub seed: u64,
    /// When the worker chose the operation, nanoseconds on its clock.
    pub at_ns: u64,
}

/// What a read must have found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadFacts {
    /// Number of the write that put it there, if known.
    pub number: Option<u64>,
    /// Seed of that write, if known.
    pub seed: Option<u64>,
    /// The block was trimmed after the write.
    pub trimmed: bool,
}

/// Bad blocks found by checks that had been put off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateFailures {
    /// How many.
    pub n_blocks: u64,
    /// One of them, with its error number.
    pub example: Option<(Op, i32)>,
}

/// Fills the buffers of writes and checks those of reads. In virtual time there are none.
pub trait Data {
    /// Prepares the buffer of a write.
    fn write(&mut self, op: &Op, facts: WriteFacts);

    /// Checks the buffer of a read that is to be verified. Returns an error number if it is bad.
    ///
    /// The check may be put off to other threads; then it succeeds here, and
    /// [`Data::late_failures`] tells what came of it.
    fn check(&mut self, op: &Op, facts: ReadFacts) -> Result<(), i32>;

    /// Returns what checks that were put off have found since the last call; with `_all` it waits
    /// for every one of them.
    #[inline]
    fn late_failures(&mut self, _all: bool) -> LateFailures {
        LateFailures::default()
    }
}

/// No bytes: nothing is filled and every check passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoData;

impl Data for NoData {
    #[inline]
    fn write(&mut self, _op: &Op, _facts: WriteFacts) {}

    #[inline]
    fn check(&mut self, _op: &Op, _facts: ReadFacts) -> Result<(), i32> {
        Ok(())
    }
}
