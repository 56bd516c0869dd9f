//! One operation ends and another takes its place: what most of a closed load consists of, where
//! each completion is seen by itself.

use plan::op::{Completion, Op};

use super::{Phase, Worker};
use crate::data::Data;

/// What takes the place of an operation that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swap {
    /// What to hand over at once.
    pub op: Op,
    /// Completions to wait for then.
    pub min: u32,
}

impl Worker {
    /// Does in one step what [`Worker::complete`] of one operation, [`Worker::next`] and
    /// [`Worker::submitted`] do, where they would choose one operation in its place, handed over
    /// at `now_ns`, and nothing else is due. Costs a third of the three.
    ///
    /// Returns `None` where anything else is to be done, or might be: nothing has happened then.
    /// Only of a worker whose meters follow later ([`Worker::defer_meters`]).
    #[inline]
    pub fn swap<D: Data>(
        &mut self,
        now_ns: u64,
        n_submitted: usize,
        done: Completion,
        data: &mut D,
    ) -> Option<Swap> {
        let slot = self.slots.get(done.slot);
        if !self.is_quiet(now_ns) || !done.is_whole(&slot.op) {
            return None;
        }
        let dir = slot.op.kind.direction()?;
        let (start_ns, submit_ns) = (slot.start_ns, slot.submit_ns);
        let bytes = u64::from(slot.whole_len());
        self.source.take_batch(1);
        let place = self.source.of_batch(0);
        self.see(now_ns, n_submitted, 1);
        self.count(dir, start_ns, submit_ns, bytes, now_ns);
        self.mark_done(now_ns);
        let op = self.begin_plain(done.slot, place, now_ns, data);
        self.slots.get_mut(done.slot).submit_ns = now_ns;
        self.n_issued += 1;
        Some(Swap { op, min: self.await_min() })
    }

    /// Returns whether nothing is due at `now_ns` but that one operation takes another's place: the
    /// queue is full, no limit is near, and what comes next is known.
    #[inline]
    fn is_quiet(&self, now_ns: u64) -> bool {
        self.paths.swaps
            && now_ns < self.times.quiet_until_ns
            && self.phase == Phase::Io
            && !self.stopping
            && self.slots.is_full()
            && self.waiting.retries.is_empty()
            && self.waiting.queued.is_empty()
            && self.source.knows_two()
    }
}
