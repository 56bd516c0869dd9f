//! Promises: completions that are certain before they come.
//!
//! An operation that has passed every cap only waits for its medium, and nothing that is submitted
//! later changes that. A caller in real time, whose answers take a while to arrive, is given such
//! an end in advance and keeps its model behind the clock by that much. So an operation that is
//! submitted after an answer finds the model at the right time.

use super::System;
use crate::design::CacheMode;
use crate::slab::NIL;

/// When an operation will complete, whatever is submitted meanwhile. Only a crash undoes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// [`crate::Io::id`].
    pub id: u64,
    /// What [`crate::Done::at_ns`] will be.
    pub at_ns: u64,
}

/// What of an operation is not certain yet.
#[derive(Clone, Copy, Debug, Default)]
struct Unsettled {
    /// Pieces whose end is unknown; one more while the operation is being split.
    n_left: u32,
    /// End of the last of the others.
    end_ns: u64,
}

/// Promises that were not taken yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Promises {
    /// From the first question on.
    pub(crate) are_kept: bool,
    /// By operation.
    open: Vec<Unsettled>,
    made: Vec<Promise>,
}

impl System {
    /// Appends the promises made since the last call. They are made for operations submitted after
    /// the first call, one for each, at the latest when the operation completes.
    pub fn take_promises(&mut self, out: &mut Vec<Promise>) {
        self.promises.are_kept = true;
        out.append(&mut self.promises.made);
    }

    /// Returns the shortest time, nanoseconds, that an operation takes once every cap has let it
    /// go: how long before an end its promise is made at the latest.
    pub fn latency_min_ns(&self) -> u64 {
        let media = self.media.iter().enumerate().map(|(volume, media)| {
            let disks = &self.layout.disks[self.layout.disks_of(volume)];
            let is_cached = disks.iter().any(|disk| disk.cache != CacheMode::None);
            let cache_ns = if is_cached { media.cache.min_ns() } else { u64::MAX };
            media.disk.min_ns().min(cache_ns)
        });
        media.min().unwrap_or(0)
    }

    /// An operation is about to be split into pieces.
    #[inline]
    pub(crate) fn open_promise(&mut self, operation: u32) {
        if self.promises.are_kept {
            let idx = operation as usize;
            if self.promises.open.len() <= idx {
                self.promises.open.resize(idx + 1, Unsettled::default());
            }
            self.promises.open[idx] = Unsettled { n_left: 1, end_ns: 0 };
        }
    }

    /// What was promised is not to be: the machine has crashed.
    pub(crate) fn break_promises(&mut self) {
        self.promises.made.clear();
    }

    /// A piece was split off.
    #[inline]
    pub(crate) fn widen_promise(&mut self, operation: u32) {
        if self.promises.are_kept
            && let Some(open) = self.promises.open.get_mut(operation as usize)
            && open.n_left > 0
        {
            open.n_left += 1;
        }
    }

    /// Completes a piece at a time to come.
    #[expect(clippy::inline_always, reason = "a call costs a third of what it does")]
    #[inline(always)]
    pub(crate) fn end_at(&mut self, at_ns: u64, piece: u32) {
        self.ends.push(at_ns, piece);
        if self.promises.are_kept {
            self.settle_promise(self.lanes.pieces[piece].parent, at_ns);
        }
    }

    /// One piece's end is known, or the splitting has ended.
    pub(crate) fn settle_promise(&mut self, operation: u32, at_ns: u64) {
        if !self.promises.are_kept || operation == NIL {
            return;
        }
        let Some(open) = self.promises.open.get_mut(operation as usize) else { return };
        open.end_ns = open.end_ns.max(at_ns);
        if open.n_left == 1 {
            let id = self.operations[operation].id;
            self.promises.made.push(Promise { id, at_ns: open.end_ns });
        }
        open.n_left = open.n_left.saturating_sub(1);
    }
}
