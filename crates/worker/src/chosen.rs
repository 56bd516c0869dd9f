//! Operations that were chosen, and why none is.

use pattern::offsets::Extent;
use plan::op::OpKind;

use crate::series::NO_SERIES;

/// An operation without slot and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChosenOp {
    pub(crate) kind: OpKind,
    pub(crate) file_idx: u32,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// When it was due, under a rate.
    pub(crate) intended_ns: Option<u64>,
    /// Of a read that verifies: what it must find.
    pub(crate) check: Option<BlockCheck>,
    /// Series that counts it; see [`crate::series`].
    pub(crate) series: u16,
}

/// What a block must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockCheck {
    /// Number of the write that put it there.
    pub(crate) number: u64,
    /// It was trimmed since.
    pub(crate) trimmed: bool,
}

/// An operation of a workload, before anything is known of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UntimedOp {
    pub(crate) kind: OpKind,
    pub(crate) file_idx: u32,
    pub(crate) extent: Extent,
    /// See [`ChosenOp::series`].
    pub(crate) series: u16,
}

impl UntimedOp {
    /// Room for one.
    pub(crate) const NONE: UntimedOp = UntimedOp {
        kind: OpKind::Read,
        file_idx: 0,
        extent: Extent { offset: 0, len: 0 },
        series: NO_SERIES,
    };
}

impl From<UntimedOp> for ChosenOp {
    #[inline]
    fn from(untimed: UntimedOp) -> Self {
        let UntimedOp { kind, file_idx, extent: Extent { offset, len }, series } = untimed;
        ChosenOp { kind, file_idx, offset, len, intended_ns: None, check: None, series }
    }
}

impl ChosenOp {
    /// Makes an operation of the workload.
    #[inline]
    pub(crate) fn new(kind: OpKind, file_idx: u32, offset: u64, len: u32, series: u16) -> Self {
        UntimedOp { kind, file_idx, extent: Extent { offset, len }, series }.into()
    }

    /// Makes a sync of a whole file.
    pub(crate) fn sync(kind: OpKind, file_idx: u32) -> Self {
        ChosenOp::new(kind, file_idx, 0, 0, NO_SERIES)
    }
}

/// Why filling a batch stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// The batch is as large as one submission may be; more may follow at once.
    BatchFull,
    /// As many operations are in flight as the depth allows.
    QueueFull,
    /// Nothing more before this time.
    Until(u64),
    /// Nothing more before all in flight has completed.
    Drain,
    /// The phase has issued all it will.
    EndOfPhase,
}
