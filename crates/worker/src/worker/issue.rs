//! Issue: fills batches of operations.

use pattern::offsets::Extent;
use pattern::verify::write_seed;
use plan::op::{BufId, FileIdx, Op, OpKind};
use plan::{Direction, IoPriority};

use super::Worker;
use crate::chosen::{ChosenOp, Filled, UntimedOp};
use crate::data::{Data, WriteFacts};
use crate::flow::FlowGroup;
use crate::gate::Pass;
use crate::occupancy::{BEHIND_NS, LATE_NS};
use crate::paths::Issue;
use crate::series::series_of_task;
use crate::source::BATCH_MAX;
use crate::verifying::Replay;

/// A pause without a set end: the worker is called again after this when others hold it back.
const RETRY_NS: u64 = 50_000;

/// Operations passed over at once, so that a request to stop is heard within a millisecond.
const N_SKIPPED_MAX: u32 = 4096;

impl Worker {
    /// Fills a batch of the workload.
    #[inline]
    pub(crate) fn fill<D: Data>(&mut self, now: u64, ops: &mut Vec<Op>, data: &mut D) -> Filled {
        if let Some(low) = self.job.load.queue_depth_low
            && !self.refilling
        {
            if self.slots.n_in_flight() as u32 > low {
                return Filled::QueueFull;
            }
            self.refilling = true;
            self.late.room_ns = now;
        }
        self.resubmit(ops);
        self.fill_plainly(now, ops, data);
        let mut n_skipped = 0;
        while ops.len() < self.pace.batch() {
            if self.slots.n_in_flight() >= self.depth() as usize {
                self.refilling = false;
                return Filled::QueueFull;
            }
            let chosen = match self.choose(now) {
                Ok(chosen) => chosen,
                Err(filled) => return filled,
            };
            if self.must_wait(&chosen) {
                self.waiting.held = Some(chosen);
                return Filled::Drain;
            }
            if self.verifying.is_on() {
                match self.replay(&chosen) {
                    Replay::Issue => {}
                    Replay::Skip if n_skipped < N_SKIPPED_MAX => {
                        n_skipped += 1;
                        continue;
                    }
                    Replay::Skip => return Filled::Until(now),
                    Replay::End => return Filled::EndOfPhase,
                }
            }
            self.issue(chosen, now, ops, data);
        }
        self.batch_full(self.depth() as usize)
    }

    /// Returns what a full batch leaves to do: more batches, or to wait, if the queue is full with
    /// it.
    ///
    /// It is handed over and waited for in one call then; at depth 1 that is half of the calls.
    #[inline]
    fn batch_full(&mut self, in_flight_max: usize) -> Filled {
        if self.slots.n_in_flight() < in_flight_max {
            self.goes_on_at_once = true;
            return Filled::BatchFull;
        }
        self.refilling = false;
        Filled::QueueFull
    }

    /// Fills a batch as far as it goes without asking what most jobs leave out: rates, think time,
    /// verification, syncs, trees of files. What stops it is not said; [`Worker::fill`] finds it.
    #[inline]
    fn fill_plainly<D: Data>(&mut self, now: u64, ops: &mut Vec<Op>, data: &mut D) {
        if self.waiting.held.is_some() || !self.waiting.queued.is_empty() {
            return;
        }
        let n_free = (self.depth() as usize).saturating_sub(self.slots.n_in_flight());
        let n_ops = self.pace.batch().saturating_sub(ops.len()).min(n_free);
        match self.paths.issue {
            Issue::Batches => self.fill_by_batches(n_ops, now, ops, data),
            Issue::Turns => self.fill_by_turns(n_ops, now, ops, data),
            Issue::OneByOne => self.fill_in_turn(n_ops, now, ops, data),
            Issue::FileIo if n_ops > 0 => self.fill_with_file_io(now, ops, data),
            Issue::General | Issue::FileIo => {}
        }
    }

    /// Issues the next operation on an open file of a tree, if there is one.
    #[inline]
    fn fill_with_file_io<D: Data>(&mut self, now: u64, ops: &mut Vec<Op>, data: &mut D) {
        let Some(op) = self.tree.as_mut().and_then(|tree| tree.next_io()) else { return };
        let extent = Extent { offset: op.offset, len: op.len };
        let series = series_of_task(op.task, op.kind);
        let untimed = UntimedOp { kind: op.kind, file_idx: op.entry, extent, series };
        self.issue_plain(untimed, now, ops, data);
        self.n_issued += 1;
    }

    /// Issues operations of one file and one direction. A batch of the source may be smaller than
    /// the one that goes over.
    #[inline]
    fn fill_by_batches<D: Data>(
        &mut self,
        n_ops: usize,
        now: u64,
        ops: &mut Vec<Op>,
        data: &mut D,
    ) {
        let mut n_left = n_ops;
        while n_left > 0 {
            let n_taken = self.source.take_batch(n_left);
            for idx in 0..n_taken {
                let untimed = self.source.of_batch(idx);
                self.issue_plain(untimed, now, ops, data);
            }
            self.n_issued += n_taken as u64;
            n_left = if n_taken == 0 { 0 } else { n_left - n_taken };
        }
    }

    /// The same for parts that take turns.
    #[inline(never)]
    fn fill_by_turns<D: Data>(&mut self, n_ops: usize, now: u64, ops: &mut Vec<Op>, data: &mut D) {
        let mut n_left = n_ops;
        while n_left > 0 {
            let n_allowed = match &self.flow {
                Some(flow) => flow.take(n_left.min(BATCH_MAX)),
                None => n_left,
            };
            let n_taken = self.source.take_turns(n_allowed);
            for idx in 0..n_taken {
                let untimed = self.source.of_turns(idx);
                self.issue_plain(untimed, now, ops, data);
            }
            self.n_issued += n_taken as u64;
            n_left = if n_taken == 0 { 0 } else { n_left - n_taken };
        }
    }

    /// The same for several files, mixes and members of a flow: one by one.
    #[inline(never)]
    fn fill_in_turn<D: Data>(&mut self, n_ops: usize, now: u64, ops: &mut Vec<Op>, data: &mut D) {
        for _ in 0..n_ops {
            if self.flow.as_ref().is_some_and(FlowGroup::is_ahead) {
                return;
            }
            let Some(untimed) = self.source.take_next() else { return };
            if let Some(flow) = &self.flow {
                flow.advance();
            }
            self.issue_plain(untimed, now, ops, data);
            self.n_issued += 1;
        }
    }

    /// Chooses the next operation of the workload, or says why there is none now.
    #[inline]
    fn choose(&mut self, now: u64) -> Result<ChosenOp, Filled> {
        if self.tree.is_some() {
            return self.choose_of_tree(now);
        }
        if let Some(chosen) = self.waiting.held.take() {
            return Ok(chosen);
        }
        if let Some(chosen) = self.waiting.queued.pop() {
            return Ok(chosen);
        }
        if self.verifying.is_on()
            && let Some(chosen) = self.choose_backlog()
        {
            return chosen;
        }
        if self.source.is_done() || self.verifying.is_exhausted() {
            if !self.restarts_at_once() {
                return Err(Filled::EndOfPhase);
            }
            self.source.restart();
        }
        let mut intended_ns = self.source.due_ns(now);
        if let Some(due_ns) = intended_ns.filter(|due_ns| *due_ns > now) {
            return Err(Filled::Until(due_ns));
        }
        if let Some(sync) = self.source.take_sync() {
            return Ok(sync);
        }
        let mut dir = self.source.direction();
        // What has a schedule of its own has passed it.
        let asks = !self.gate.is_open() && !self.source.is_by_own_rate();
        if asks {
            match self.gate.ask(dir, now, self.slots.is_idle()) {
                Pass::Go(open, due_ns) => (dir, intended_ns) = (open, due_ns.or(intended_ns)),
                Pass::Until(until_ns) => {
                    let own_due_ns = self.source.next_own_due_ns().unwrap_or(u64::MAX);
                    return Err(Filled::Until(until_ns.min(own_due_ns)));
                }
                Pass::Drain => return Err(Filled::Drain),
            }
        }
        if let Some(flow) = &self.flow {
            if flow.is_ahead() {
                let asked_ns = self.job.load.flow.map_or(0, |flow| flow.sleep_ns);
                return Err(Filled::Until(now + asked_ns.max(RETRY_NS)));
            }
            flow.advance();
        }
        let Some(untimed) = self.source.take(dir) else { return Err(Filled::EndOfPhase) };
        let chosen = ChosenOp { intended_ns, ..untimed.into() };
        if asks {
            self.gate.issued(dir, chosen.len);
        }
        if self.late.counts_delay
            && let Some(due_ns) = intended_ns
        {
            self.count_delay(due_ns, now);
        }
        if self.paths.counts_late
            && let Some(due_ns) = intended_ns
        {
            if now - due_ns > LATE_NS || !self.refilling {
                self.count_late(due_ns, now);
            }
            self.late.chosen_ns = now;
        }
        Ok(chosen)
    }

    /// Returns whether an operation waits for those in flight: it overlaps one of them, or is the
    /// last of the pass and waits for all others.
    #[inline]
    fn must_wait(&self, chosen: &ChosenOp) -> bool {
        let (file, offset, len) = (FileIdx(chosen.file_idx), chosen.offset, chosen.len);
        let excludes = self.serializes() || self.verifying.excludes(chosen.kind);
        (excludes && self.slots.overlaps(file, offset, len))
            || (self.job.load.last_io_waits && self.source.is_done() && !self.slots.is_idle())
    }

    /// Counts an operation that comes late although there was room for it.
    ///
    /// While the queue is full the device is to blame, and no part of the host for what was due
    /// then and goes after the others that waited. So what counts is the time with room since it
    /// was due: now, or in the stretch before the queue filled up, as when a generator that stood
    /// still catches up.
    #[inline(never)]
    fn count_late(&mut self, due_ns: u64, now: u64) {
        if !self.refilling {
            // The queue was full from the last choice until now.
            self.refilling = true;
            if self.late.chosen_ns.saturating_sub(self.late.room_ns) > LATE_NS {
                self.late.room_before_ns = (self.late.room_ns, self.late.chosen_ns);
            }
            self.late.room_ns = now;
        }
        let idle_ns = |(from_ns, to_ns): (u64, u64)| to_ns.saturating_sub(from_ns.max(due_ns));
        let own_ns = idle_ns((self.late.room_ns, now)).max(idle_ns(self.late.room_before_ns));
        self.late.kept.n_late += u64::from(own_ns > LATE_NS && now >= self.times.measured_ns);
    }

    /// Counts for how long an operation of a rate that changes had waited, whatever it waited for.
    fn count_delay(&mut self, due_ns: u64, now: u64) {
        let delay_ns = now.saturating_sub(due_ns);
        if delay_ns <= LATE_NS {
            self.late.waits_since_ns = None;
            return;
        }
        let since_ns = *self.late.waits_since_ns.get_or_insert(due_ns);
        if now < self.times.measured_ns {
            return;
        }
        let kept = &mut self.late.kept;
        kept.delay_ns_max = kept.delay_ns_max.max(delay_ns);
        if delay_ns > BEHIND_NS {
            let after_ns = since_ns.saturating_sub(self.times.start_ns);
            kept.behind_since_ns.get_or_insert(after_ns);
        }
    }

    /// Returns whether the worker itself holds back what overlaps. Threads that issue for it do so
    /// without holding back the rest.
    #[inline]
    fn serializes(&self) -> bool {
        self.job.load.serialize_overlap && !self.job.load.offload
    }

    /// Returns whether a finished pass is followed by the next without a pause.
    fn restarts_at_once(&self) -> bool {
        self.job.repeats_for_a_time()
            && !self.verifying.reads_passes_back()
            && !self.verifying.is_dry_run()
            && !self.verifying.is_exhausted()
            && !self.job.durability.end_fsync
            && !self.job.engine.kind.is_of_names()
            && !self.job.files.unlink_each_loop
            && !self.source.is_over()
    }

    /// Goes on with the rest of short transfers.
    #[inline]
    fn resubmit(&mut self, ops: &mut Vec<Op>) {
        while let Some(slot_idx) = self.waiting.retries.pop() {
            ops.push(self.slots.get(slot_idx).op);
        }
    }

    /// Gives an operation a slot and makes it ready to hand over.
    #[expect(
        clippy::inline_always,
        reason = "in a loop of plain operations the call costs half as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn issue<D: Data>(
        &mut self,
        chosen: ChosenOp,
        now: u64,
        ops: &mut Vec<Op>,
        data: &mut D,
    ) {
        let Some(slot_idx) = self.slots.take() else {
            self.waiting.queued.push(chosen);
            return;
        };
        let op = op(slot_idx, chosen.kind, chosen.file_idx, chosen.offset, chosen.len);
        let slot = self.slots.get_mut(slot_idx);
        slot.begin(op, now, chosen.series);
        slot.intended_ns = chosen.intended_ns.unwrap_or(now);
        slot.check = chosen.check;
        self.n_issued += 1;
        if matches!(chosen.kind, OpKind::Write | OpKind::MapWrite) {
            self.issue_write(&op, now, data);
        } else if self.verifying.is_on() {
            self.issue_verifying(&chosen, slot_idx);
        }
        if let Some(log) = &self.log {
            log.issue(now.saturating_sub(self.times.start_ns), &op);
        }
        ops.push(op);
    }

    /// Does the same for an operation of a plain batch, for which there is a slot. Does not count
    /// it.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn issue_plain<D: Data>(
        &mut self,
        untimed: UntimedOp,
        now: u64,
        ops: &mut Vec<Op>,
        data: &mut D,
    ) {
        let Some(slot_idx) = self.slots.take() else { return };
        let op = self.begin_plain(slot_idx, untimed, now, data);
        ops.push(op);
    }

    /// Puts an operation of a plain batch into its slot.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(crate) fn begin_plain<D: Data>(
        &mut self,
        slot_idx: u32,
        untimed: UntimedOp,
        now: u64,
        data: &mut D,
    ) -> Op {
        let UntimedOp { kind, file_idx, extent, series } = untimed;
        let op = op(slot_idx, kind, file_idx, extent.offset, extent.len);
        self.slots.get_mut(slot_idx).begin(op, now, series);
        if kind == OpKind::Write {
            self.issue_write(&op, now, data);
        }
        if let Some(log) = &self.log {
            log.issue(now.saturating_sub(self.times.start_ns), &op);
        }
        op
    }

    /// Returns whether an operation makes all writes durable that have completed. With several
    /// files no single one does.
    pub(crate) fn is_whole_sync(&self, kind: OpKind) -> bool {
        matches!(kind, OpKind::Fsync | OpKind::Fdatasync) && self.source.n_files() == 1
    }

    /// Notes what else than a write is issued while written blocks are remembered.
    #[inline(never)]
    fn issue_verifying(&mut self, chosen: &ChosenOp, slot_idx: u32) {
        self.slots.get_mut(slot_idx).write_number =
            chosen.check.map_or(u64::MAX, |check| check.number);
        if self.is_whole_sync(chosen.kind) {
            self.verifying.sync_issued(slot_idx);
        }
    }

    /// Numbers a write, prepares its bytes and queues the syncs that follow. Stands apart, so that
    /// a read does not save registers for it.
    #[inline(never)]
    fn issue_write<D: Data>(&mut self, op: &Op, now: u64, data: &mut D) {
        let number = self.writes.n;
        self.writes.n += 1;
        self.slots.get_mut(op.slot).write_number = number;
        let facts = WriteFacts { number, seed: write_seed(self.seed, number), at_ns: now };
        self.verifying.issued(op, number);
        data.write(op, facts);
        self.queue_syncs(op.file.0);
    }

    /// Queues the syncs that are due after so many writes.
    #[inline]
    fn queue_syncs(&mut self, file_idx: u32) {
        let due = &self.job.durability;
        let rules = [
            (due.fsync_every, OpKind::Fsync),
            (due.fdatasync_every, OpKind::Fdatasync),
            (due.sync_file_range_every, OpKind::SyncFileRange),
            (due.barrier_every, OpKind::Fsync),
        ];
        for (n_since, (every, kind)) in self.writes.n_since_sync.iter_mut().zip(rules) {
            if every > 0 {
                *n_since += 1;
                if *n_since == every {
                    *n_since = 0;
                    self.waiting.queued.push(ChosenOp::sync(kind, file_idx));
                }
            }
        }
    }

    /// Fills a batch with what is queued: the syncs at the end of a pass.
    pub(crate) fn fill_queued<D: Data>(
        &mut self,
        now: u64,
        ops: &mut Vec<Op>,
        data: &mut D,
    ) -> Filled {
        self.resubmit(ops);
        while ops.len() < self.pace.batch() {
            if self.slots.n_in_flight() >= self.slots.len() {
                return Filled::QueueFull;
            }
            let Some(chosen) = self.waiting.queued.pop() else { return Filled::EndOfPhase };
            self.issue(chosen, now, ops, data);
        }
        self.batch_full(self.slots.len())
    }

    /// Fills a batch of reads that verify what was written.
    pub(crate) fn fill_verify<D: Data>(
        &mut self,
        now: u64,
        ops: &mut Vec<Op>,
        data: &mut D,
    ) -> Filled {
        self.resubmit(ops);
        while ops.len() < self.pace.batch() {
            if self.slots.n_in_flight() >= self.slots.len() {
                return Filled::QueueFull;
            }
            if !self.gate.is_open() {
                match self.gate.ask(Direction::Read, now, self.slots.is_idle()) {
                    Pass::Go(Direction::Read, _) => {}
                    Pass::Go(..) => return Filled::Until(now + RETRY_NS),
                    Pass::Until(until_ns) => return Filled::Until(until_ns),
                    Pass::Drain => return Filled::Drain,
                }
            }
            let Some(read) = self.verifying.next_read() else { return Filled::EndOfPhase };
            self.gate.issued(Direction::Read, read.len);
            self.issue(read, now, ops, data);
        }
        self.batch_full(self.slots.len())
    }
}

/// Makes the operation of a slot.
#[inline]
fn op(slot_idx: u32, kind: OpKind, file_idx: u32, offset: u64, len: u32) -> Op {
    Op {
        offset,
        len,
        file: FileIdx(file_idx),
        slot: slot_idx,
        buf: BufId(slot_idx),
        buf_offset_bytes: 0,
        kind,
        priority: IoPriority::NONE,
    }
}
