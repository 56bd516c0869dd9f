//! Operations in flight.

use plan::IoPriority;
use plan::op::{BufId, FileIdx, Op, OpKind};

use crate::chosen::BlockCheck;
use crate::series::NO_SERIES;

/// What is known about one operation in flight. Two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    pub(crate) op: Op,
    /// When it was chosen.
    pub(crate) start_ns: u64,
    /// When it was handed over.
    pub(crate) submit_ns: u64,
    /// When it was due, under a rate.
    pub(crate) intended_ns: u64,
    /// Where the whole of it began; `op` is what is left after a short transfer.
    pub(crate) first_offset: u64,
    /// Of a write: its number in the worker. Of the trim of a block that was written: of the write.
    pub(crate) write_number: u64,
    /// Of a read that verifies: what it must find.
    pub(crate) check: Option<BlockCheck>,
    /// Issued and not yet completed.
    pub(crate) busy: bool,
    /// Series that counts it.
    pub(crate) series: u16,
}

impl Slot {
    /// Takes an operation in that was chosen at `now_ns`, and was due then.
    #[inline]
    pub(crate) fn begin(&mut self, op: Op, now_ns: u64, series: u16) {
        self.op = op;
        self.start_ns = now_ns;
        self.intended_ns = now_ns;
        self.first_offset = op.offset;
        self.check = None;
        self.busy = true;
        self.series = series;
    }

    /// Returns the length of the whole operation, also after a short transfer.
    pub(crate) fn whole_len(&self) -> u32 {
        (self.op.offset - self.first_offset) as u32 + self.op.len
    }
}

const IDLE: Slot = Slot {
    op: Op {
        offset: 0,
        len: 0,
        file: FileIdx(0),
        slot: 0,
        buf: BufId(0),
        buf_offset_bytes: 0,
        kind: OpKind::Read,
        priority: IoPriority::NONE,
    },
    start_ns: 0,
    submit_ns: 0,
    intended_ns: 0,
    first_offset: 0,
    write_number: 0,
    check: None,
    busy: false,
    series: NO_SERIES,
};

/// The slots of a worker, as many as its queue is deep.
#[derive(Debug)]
pub(crate) struct Slots {
    entries: Box<[Slot]>,
    /// Indices of free slots, in the first `n_free` places.
    free: Box<[u32]>,
    n_free: usize,
}

impl Slots {
    pub(crate) fn new(queue_depth: u32) -> Self {
        assert!(queue_depth > 0, "a queue has a slot at least");
        let n_slots = queue_depth as usize;
        Slots {
            entries: vec![IDLE; n_slots].into_boxed_slice(),
            free: (0..queue_depth).rev().collect(),
            n_free: n_slots,
        }
    }

    #[inline]
    pub(crate) fn n_in_flight(&self) -> usize {
        self.entries.len() - self.n_free
    }

    /// Returns the depth of the queue.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the worker's write of this number, or the trim of its block, is in flight.
    pub(crate) fn is_changing(&self, number: u64) -> bool {
        self.entries.iter().any(|slot| {
            slot.busy
                && matches!(slot.op.kind, OpKind::Write | OpKind::Trim)
                && slot.write_number == number
        })
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.n_free == self.entries.len()
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.n_free == 0
    }

    /// Takes a free slot.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.n_free = self.n_free.checked_sub(1)?;
        Some(self.free[self.n_free])
    }

    #[inline]
    pub(crate) fn release(&mut self, slot_idx: u32) {
        self.entries[slot_idx as usize].busy = false;
        self.free[self.n_free] = slot_idx;
        self.n_free += 1;
    }

    #[inline]
    pub(crate) fn get(&self, slot_idx: u32) -> &Slot {
        &self.entries[slot_idx as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot_idx: u32) -> &mut Slot {
        &mut self.entries[slot_idx as usize]
    }

    /// Panics unless nothing is in flight; for the end of a phase, of which a short region has
    /// one every few operations.
    #[inline]
    pub(crate) fn must_be_idle(&self) {
        assert!(self.is_idle(), "nothing is in flight at the end of a phase");
    }

    /// Panics unless every slot is free, and free once. Linear in the depth; for the end of the
    /// worker.
    pub(crate) fn must_be_whole(&self) {
        self.must_be_idle();
        assert!(self.entries.iter().all(|slot| !slot.busy), "a slot that is free is not in use");
        let sum: u64 = self.free.iter().map(|slot_idx| u64::from(*slot_idx)).sum();
        let n_slots = self.entries.len() as u64;
        assert!(sum == n_slots * (n_slots - 1) / 2, "each slot is free once");
    }

    /// Returns whether an operation in flight touches the bytes. Linear in the depth; used only
    /// where overlaps are to be avoided.
    pub(crate) fn overlaps(&self, file: FileIdx, offset: u64, len: u32) -> bool {
        let end = offset + u64::from(len);
        self.entries.iter().any(|slot| {
            slot.busy
                && slot.op.file == file
                && slot.op.offset < end
                && offset < slot.op.offset + u64::from(slot.op.len)
        })
    }
}
