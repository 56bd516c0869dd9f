//! Recorded operations, one after another, when they are due.

use std::sync::Arc;

use pattern::PatternError;
use pattern::offsets::Extent;
use plan::Direction;
use plan::replay::{RecordedOp, Recording};
use plan::workload::Workload;

use crate::chosen::{ChosenOp, UntimedOp};
use crate::series::{NO_SERIES, series_of};

/// A recording and how far it has been replayed.
#[derive(Debug)]
pub(crate) struct Replaying {
    recording: Arc<Recording>,
    next_idx: usize,
    n_files: u32,
    /// Something is due later than at once.
    timed: bool,
    /// When this pass over the recording started.
    since_ns: Option<u64>,
}

impl Replaying {
    /// Returns what a worker replays, if its job replays anything.
    pub(crate) fn new(
        workload: &Workload,
        worker_idx: u32,
        n_files: u32,
    ) -> Result<Option<Self>, PatternError> {
        let recordings = &workload.recordings;
        if recordings.is_empty() {
            return Ok(None);
        }
        let recording = Arc::clone(&recordings[worker_idx as usize % recordings.len()]);
        if recording.ops.iter().any(|op| op.file_idx >= n_files) {
            return Err(PatternError::NoFiles);
        }
        let back = recording.ops.windows(2).find(|pair| pair[1].due_ns < pair[0].due_ns);
        assert!(back.is_none(), "a recording goes back in time: {back:?}");
        let timed = recording.ops.last().is_some_and(|op| op.due_ns > 0);
        Ok(Some(Replaying { recording, next_idx: 0, n_files, timed, since_ns: None }))
    }

    pub(crate) fn n_files(&self) -> u32 {
        self.n_files
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.timed
    }

    pub(crate) fn is_done(&self) -> bool {
        self.next_idx >= self.recording.ops.len()
    }

    pub(crate) fn restart(&mut self) {
        self.next_idx = 0;
        self.since_ns = None;
    }

    /// Returns when the next operation is due. The first one of a pass is due when it is asked for.
    #[inline]
    pub(crate) fn due_ns(&mut self, now_ns: u64) -> Option<u64> {
        if !self.timed {
            return None;
        }
        let next = self.recording.ops.get(self.next_idx)?;
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        Some(since_ns.saturating_add(next.due_ns))
    }

    /// Returns the direction of the next operation.
    #[inline]
    pub(crate) fn direction(&self) -> Direction {
        let next = self.recording.ops.get(self.next_idx);
        next.and_then(|op| op.kind.direction()).unwrap_or(Direction::Read)
    }

    /// Takes the next operation.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<UntimedOp> {
        let RecordedOp { kind, file_idx, offset, len, .. } =
            *self.recording.ops.get(self.next_idx)?;
        self.next_idx += 1;
        let series = kind.direction().map_or(NO_SERIES, |dir| series_of(0, dir));
        Some(UntimedOp { kind, file_idx, extent: Extent { offset, len }, series })
    }

    /// Takes the next operation if it is a sync.
    #[inline]
    pub(crate) fn take_sync(&mut self) -> Option<ChosenOp> {
        let next = self.recording.ops.get(self.next_idx)?;
        if next.kind.is_sync() { self.take().map(ChosenOp::from) } else { None }
    }
}
