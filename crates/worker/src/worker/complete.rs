//! Completion: what comes back becomes counts, latencies and consequences.

use std::sync::atomic::Ordering::Relaxed;

use plan::op::{Completion, Op, OpClass, OpKind, SyncScope};
use plan::{Direction, IoPriority};

use super::{Phase, Worker};
use crate::chosen::ChosenOp;
use crate::data::Data;
use crate::errors::{EDQUOT, EILSEQ, EIO, ENOSPC, ETIMEDOUT, Failure, FailureKind, IoError};
use crate::log::LoggedIo;
use crate::meters::{batch_class, depth_class};
use crate::paths::Complete;
use crate::series::add;
use crate::slots::Slot;
use crate::{pending, series};

/// What became of a completion.
pub(crate) enum Outcome {
    /// The operation is done.
    Done,
    /// It goes on with the rest; its slot stays taken.
    Continues,
    /// It failed: no I/O and no latency.
    Failed,
}

impl Worker {
    /// Takes completions that were seen at `now_ns`, after `n_submitted` operations were handed
    /// over.
    #[inline]
    pub fn complete<D: Data>(
        &mut self,
        now_ns: u64,
        n_submitted: usize,
        done: &[Completion],
        data: &mut D,
    ) {
        self.see(now_ns, n_submitted, done.len());
        if done.is_empty() {
            return;
        }
        let measured = now_ns >= self.times.measured_ns;
        let is_plain = self.paths.complete == Complete::Counts;
        let is_file_io = self.paths.complete == Complete::FileIo;
        let by_series = self.tally.counts_series;
        for completion in done {
            let slot = self.slots.get(completion.slot);
            let whole = completion.is_whole(&slot.op);
            if is_plain
                && whole
                && let Some(dir) = slot.op.kind.direction()
            {
                let (start_ns, submit_ns) = (slot.start_ns, slot.submit_ns);
                let (bytes, series) = (u64::from(slot.whole_len()), slot.series);
                if by_series {
                    self.count_series(series, (start_ns, submit_ns), bytes, now_ns);
                } else {
                    self.count(dir, start_ns, submit_ns, bytes, now_ns);
                }
                self.slots.release(completion.slot);
                continue;
            }
            if is_file_io && whole && self.complete_file_io(completion.slot, now_ns) {
                continue;
            }
            let slot = *self.slots.get(completion.slot);
            if self.tree.is_some() {
                self.complete_of_tree(&slot, completion.result, now_ns);
                continue;
            }
            let outcome =
                if whole { Outcome::Done } else { self.irregular(&slot, completion.result) };
            if matches!(outcome, Outcome::Continues) {
                continue;
            }
            self.slots.release(completion.slot);
            if matches!(outcome, Outcome::Done) {
                self.record(&slot, now_ns, measured);
                self.follow_up(&slot, data);
            }
        }
        if by_series {
            while let Some(series) = self.tally.series_runs.pop() {
                let run = self.tally.series_runs.take(series);
                self.add_run(series, &run, now_ns);
            }
        }
        let passed_ns = now_ns.saturating_sub(self.tally.published_ns);
        if !measured || passed_ns >= self.tally.gathers_ns {
            self.tally.published_ns = now_ns;
            self.publish();
        }
        if self.verifying.is_late() {
            self.collect_late(data, false);
        }
        self.mark_done(now_ns);
    }

    /// Takes the end of an operation in a tree, if it read or wrote a file. Returns whether it did.
    #[inline]
    fn complete_file_io(&mut self, slot_idx: u32, now_ns: u64) -> bool {
        let (slot, Some(tree)) = (self.slots.get(slot_idx), &mut self.tree) else { return false };
        let dir = match slot.op.kind.class() {
            OpClass::Bytes(dir @ (Direction::Read | Direction::Write)) => dir,
            OpClass::Bytes(Direction::Trim) | OpClass::Sync(_) | OpClass::File => return false,
        };
        let (start_ns, submit_ns) = (slot.start_ns, slot.submit_ns);
        let bytes = u64::from(slot.whole_len());
        tree.completed(0);
        self.count(dir, start_ns, submit_ns, bytes, now_ns);
        self.slots.release(slot_idx);
        true
    }

    /// Takes note of a batch: how many operations were handed over before, and how many completed.
    #[inline]
    pub(crate) fn see(&mut self, now_ns: u64, n_submitted: usize, n_done: usize) {
        let n_in_flight = self.slots.n_in_flight();
        assert!(n_done <= n_in_flight, "what completes was in flight");
        self.count_batches(n_submitted, n_done, n_in_flight);
        self.pace.completed(now_ns, n_done);
        if n_done > 0 {
            self.meters.n_in_flight.store(n_in_flight as u64, Relaxed);
            self.occupancy.pass(now_ns, n_in_flight);
        }
    }

    #[inline]
    fn count_batches(&mut self, n_submitted: usize, n_done: usize, n_in_flight: usize) {
        if n_submitted > 0 {
            self.count_depths(n_submitted, n_in_flight);
            add(&self.meters.submit_batches[batch_class(n_submitted)], 1);
        }
        add(&self.meters.complete_batches[batch_class(n_done)], u64::from(n_done > 0));
        if self.paths.takes_places {
            self.tally.n_vacated += n_done;
        }
    }

    /// Counts how many were in flight with each operation that has gone over, as fio does: those of
    /// a batch that the job asks for with the whole batch, all others each with those before it.
    /// fio takes completions one by one and issues one for each, unless the job says otherwise; so
    /// one that takes the place of another has as many in flight with it as that one left.
    #[inline]
    fn count_depths(&mut self, n_submitted: usize, n_in_flight: usize) {
        let n_taking_places = n_submitted.min(self.tally.n_vacated);
        self.tally.n_vacated -= n_taking_places;
        let levels = &self.meters.depth_levels;
        let n_more = n_submitted - n_taking_places;
        if n_more <= 1 || self.job.load.submit_batch.is_some() {
            add(&levels[depth_class(n_in_flight)], n_submitted as u64);
            return;
        }
        add(&levels[depth_class(n_in_flight)], n_taking_places as u64);
        for n in n_in_flight - n_more + 1..=n_in_flight {
            add(&levels[depth_class(n)], 1);
        }
    }

    /// Counts a completed operation.
    #[inline]
    pub(crate) fn count(
        &mut self,
        dir: Direction,
        start_ns: u64,
        submit_ns: u64,
        bytes: u64,
        now_ns: u64,
    ) {
        if self.tally.pending[dir as usize].is_full() {
            self.publish_dir(dir);
        }
        self.tally.pending[dir as usize].note(start_ns, submit_ns, now_ns, bytes);
    }

    /// Counts a completed operation with those of its part and kind. Where all are plain, what
    /// counts it by direction follows from that.
    #[inline]
    pub(crate) fn count_series(
        &mut self,
        series: u16,
        handed_over: (u64, u64),
        bytes: u64,
        now_ns: u64,
    ) {
        if !self.tally.series_runs.count(series, handed_over, bytes) {
            self.begin_run(series, handed_over, bytes, now_ns);
        }
    }

    #[inline(never)]
    fn begin_run(&mut self, series: u16, handed_over: (u64, u64), bytes: u64, now_ns: u64) {
        if let Some(before) = self.tally.series_runs.begin(series, handed_over, bytes) {
            self.add_run(series, &before, now_ns);
        }
    }

    /// Adds a run of a series to its meters, and notes it for those of its direction.
    fn add_run(&mut self, series: u16, run: &series::Run, now_ns: u64) {
        if let Some(all) = self.meters.series() {
            all.add_run(series, run, now_ns, now_ns >= self.times.measured_ns);
        }
        if self.paths.complete != Complete::Counts {
            return;
        }
        let dir = series::direction_of(series);
        if self.tally.pending[dir as usize].is_full() {
            self.publish_dir(dir);
        }
        let &series::Run { start_ns, submit_ns, n_ios, bytes } = run;
        let noted = pending::Run { start_ns, submit_ns, done_ns: now_ns, n_ios, bytes };
        self.tally.pending[dir as usize].note_run(noted);
    }

    /// Records one completed operation, and what only some jobs ask for.
    #[inline]
    pub(crate) fn record(&mut self, slot: &Slot, now_ns: u64, measured: bool) {
        let bytes = u64::from(slot.whole_len());
        let clat_ns = now_ns.saturating_sub(slot.submit_ns);
        let Some(dir) = slot.op.kind.direction() else {
            // The syncs that end a pass are no part of the load, as in fio.
            if measured && self.phase == Phase::Io {
                self.meters.sync.record(clat_ns);
            }
            return;
        };
        self.gate.completed();
        if self.tally.counts_series && self.tally.series_of_dir[dir as usize] != Some(slot.series) {
            self.count_series(slot.series, (slot.start_ns, slot.submit_ns), bytes, now_ns);
        }
        if !(self.tally.counts_series && self.paths.complete == Complete::Counts) {
            self.count(dir, slot.start_ns, slot.submit_ns, bytes, now_ns);
        }
        if !measured {
            return;
        }
        let lat_ns = now_ns.saturating_sub(slot.start_ns);
        let slat_ns = slot.submit_ns.saturating_sub(slot.start_ns);
        if self.gate.has_rate() || self.source.is_timed() {
            let response = &self.meters.dirs[dir as usize].response;
            let response_ns = now_ns.saturating_sub(slot.intended_ns);
            self.tally.pending[dir as usize].response.record(response_ns, response);
        }
        if let Some(search) = &mut self.search {
            search.record(lat_ns);
        }
        if self.watches(dir) {
            self.watch(dir, slot, now_ns, [slat_ns, clat_ns, lat_ns], bytes as u32);
        }
    }

    /// Returns whether completions of any direction are looked at one by one.
    pub(crate) fn watches_any(&self) -> bool {
        Direction::ALL.iter().any(|dir| self.watches(*dir))
    }

    #[inline]
    fn watches(&self, dir: Direction) -> bool {
        self.log.is_some()
            || self.job.load.latency_max_ns[dir].is_some()
            || self.meters.has_priorities()
    }

    /// The rarer consequences of a completion: logs, the largest latency allowed, latencies by
    /// priority.
    #[cold]
    fn watch(&mut self, dir: Direction, slot: &Slot, now_ns: u64, latencies: [u64; 3], len: u32) {
        let [slat_ns, clat_ns, lat_ns] = latencies;
        let at_ns = now_ns - self.times.measured_ns;
        if let Some(log) = &mut self.log {
            let (offset, file_idx, priority) =
                (slot.first_offset, slot.op.file.0, slot.op.priority);
            let io = LoggedIo { dir, len, offset, file_idx, priority, slat_ns, clat_ns, lat_ns };
            log.io(at_ns, &io);
        }
        self.count_by_priority(dir, slot.op.priority, clat_ns, lat_ns);
        if self.job.load.latency_max_ns[dir].is_some_and(|max_ns| lat_ns > max_ns) {
            let kind = FailureKind::LatencyAboveMaximum;
            self.fail(Failure { kind, errno: ETIMEDOUT, op: Some(slot.op) });
        }
    }

    /// Counts the latencies of an operation with those of the same priority.
    fn count_by_priority(&self, dir: Direction, priority: IoPriority, clat_ns: u64, lat_ns: u64) {
        let all = self.meters.priorities(dir);
        // The job's own comes first, which is that of operations without one of their own.
        let found = all.iter().find(|meters| meters.priority == priority).or(all.first());
        let Some(meters) = found else { return };
        if !self.job.reporting.disable_clat {
            meters.clat.record(clat_ns);
        }
        if !self.job.reporting.disable_lat {
            meters.lat.record(lat_ns);
        }
    }

    /// Adds to the meters what has gathered.
    pub fn publish(&mut self) {
        for dir in Direction::ALL {
            self.publish_dir(dir);
        }
    }

    /// Adds a direction's completions to the meters. All are of the measured time, or none.
    fn publish_dir(&mut self, dir: Direction) {
        let (meters, pending) =
            (&self.meters.dirs[dir as usize], &mut self.tally.pending[dir as usize]);
        let Some(measured) = pending.runs().last().map(|run| run.done_ns >= self.times.measured_ns)
        else {
            return;
        };
        let (mut n_ios, mut bytes) = (0, 0);
        for run in pending.runs() {
            n_ios += run.n_ios;
            bytes += run.bytes;
        }
        self.tally.bytes_done += bytes;
        add(&meters.n_ios_live, n_ios);
        add(&meters.bytes_live, bytes);
        if let Some(number) = self.tally.series_of_dir[dir as usize]
            && let Some(series) = self.meters.series().and_then(|all| all.get(number))
        {
            for run in pending.runs() {
                series.add((run.n_ios, run.bytes), run.latency_ns(), measured);
            }
        }
        if measured {
            add(&meters.n_ios, n_ios);
            add(&meters.bytes, bytes);
            pending.time(meters, &self.job.reporting);
        }
        pending.clear();
    }

    /// What an operation's end leads to: the write after a trim, the check of a read.
    #[inline]
    fn follow_up<D: Data>(&mut self, slot: &Slot, data: &mut D) {
        match slot.op.kind.class() {
            OpClass::Bytes(Direction::Trim) if self.job.workload.access.trim_then_write => {
                let (file_idx, len) = (slot.op.file.0, slot.whole_len());
                // Writes come after reads in the series of a part, trims after writes.
                let series = slot.series.saturating_sub(1);
                let write = ChosenOp::new(OpKind::Write, file_idx, slot.first_offset, len, series);
                self.waiting.queued.push(write);
            }
            OpClass::Bytes(Direction::Read) if self.verifying.is_on() => self.verify(slot, data),
            OpClass::Bytes(Direction::Write) if self.verifying.is_on() => {
                self.verifying.completed(slot);
            }
            OpClass::Sync(SyncScope::All | SyncScope::Data)
                if self.verifying.is_on() && self.is_whole_sync(slot.op.kind) =>
            {
                self.verifying.sync_completed(slot.op.slot, true);
            }
            OpClass::Bytes(_) | OpClass::Sync(_) | OpClass::File => {}
        }
    }

    #[cold]
    fn verify<D: Data>(&mut self, slot: &Slot, data: &mut D) {
        let Some(facts) = self.verifying.expectation(slot, self.job.workload.access.write) else {
            return;
        };
        // The buffer holds the operation from its first byte, also after a short transfer.
        let len = slot.whole_len();
        let op = Op { offset: slot.first_offset, len, buf_offset_bytes: 0, ..slot.op };
        if let Err(errno) = data.check(&op, facts) {
            self.bad_blocks(1, errno, op);
        }
    }

    /// Takes the results of checks that were put off; with `all` it waits for every one.
    #[cold]
    pub(crate) fn collect_late<D: Data>(&mut self, data: &mut D, all: bool) {
        let late = data.late_failures(all);
        if let Some((op, errno)) = late.example {
            self.bad_blocks(late.n_blocks, errno, op);
        }
    }

    fn bad_blocks(&mut self, n_blocks: u64, errno: i32, op: Op) {
        add(&self.meters.n_verify_errors, n_blocks);
        let failure = Failure { kind: FailureKind::Verify, errno, op: Some(op) };
        let goes_on = self.job.errors.continue_verify && !self.job.verify.fatal;
        if goes_on || self.ignores(2, errno) {
            add(&self.meters.n_errors, n_blocks);
            self.faults.first_ignored.get_or_insert(errno);
        } else if self.job.verify.fatal {
            self.fail(failure);
        } else {
            // Goes on to find all bad blocks; the job fails in the end.
            self.fail_later(failure);
        }
    }

    /// A short transfer or an error.
    #[cold]
    pub(crate) fn irregular(&mut self, slot: &Slot, result: i32) -> Outcome {
        if slot.op.kind.is_sync() || slot.op.len == 0 {
            if result < 0 {
                if self.is_whole_sync(slot.op.kind) {
                    self.verifying.sync_completed(slot.op.slot, false);
                }
                self.failed(slot, -result, FailureKind::Io);
            }
            return if result < 0 { Outcome::Failed } else { Outcome::Done };
        }
        if result < 0 {
            self.failed(slot, -result, FailureKind::Io);
            return Outcome::Failed;
        }
        let dir = slot.op.kind.direction().unwrap_or(Direction::Read);
        if result == 0 {
            let errno = if dir == Direction::Read { EIO } else { ENOSPC };
            self.failed(slot, errno, FailureKind::NothingMoved);
            return Outcome::Failed;
        }
        add(&self.meters.dirs[dir as usize].n_short, 1);
        let moved = result as u32;
        let rest = self.slots.get_mut(slot.op.slot);
        rest.op.offset += u64::from(moved);
        rest.op.buf_offset_bytes += moved;
        rest.op.len -= moved;
        self.waiting.retries.push(slot.op.slot);
        Outcome::Continues
    }

    pub(crate) fn failed(&mut self, slot: &Slot, errno: i32, kind: FailureKind) {
        let is_read = slot.op.kind.direction() == Some(Direction::Read);
        if (errno == ENOSPC || errno == EDQUOT) && self.job.files.fill_device && !is_read {
            // The aim was to fill it.
            self.stop();
            return;
        }
        if self.verifying.is_on() && matches!(slot.op.kind, OpKind::Write | OpKind::Trim) {
            self.verifying.failed(slot);
        }
        let class = usize::from(!is_read);
        let policy = &self.job.errors;
        let allowed = if is_read { policy.continue_read } else { policy.continue_write };
        let goes_on = allowed && (errno == EIO || errno == EILSEQ);
        self.faults.seen.count(slot.op.kind.direction(), errno);
        let goes_on = goes_on || self.ignores(class, errno);
        if self.survives(slot, errno, goes_on) {
            add(&self.meters.n_errors, 1);
            if let Some(series) = self.meters.series().and_then(|all| all.get(slot.series)) {
                add(&series.n_failed, 1);
            }
            self.faults.first_ignored.get_or_insert(errno);
            return;
        }
        self.fail(Failure { kind, errno, op: Some(slot.op) });
    }

    /// Returns whether the worker goes on after an error, `goes_on` where it may by its number.
    /// With a limit it does whatever the number, until all workers of the step together have
    /// reached it.
    fn survives(&mut self, slot: &Slot, errno: i32, goes_on: bool) -> bool {
        let Some(n_errors_max) = self.job.errors.n_errors_max else { return goes_on };
        if self.faults.io_errors.len() < self.faults.io_errors.capacity() {
            let (offset, len) = (slot.first_offset, slot.whole_len());
            let op = Op { offset, len, buf_offset_bytes: 0, ..slot.op };
            self.faults.io_errors.push(IoError { op, errno, at_ns: self.occupancy.seen_ns });
        }
        // In a tree, what fails to open or make a file leaves nothing to go on with.
        let is_survivable = self.tree.is_none()
            || matches!(
                slot.op.kind,
                OpKind::Read
                    | OpKind::Write
                    | OpKind::MapRead
                    | OpKind::MapWrite
                    | OpKind::Copy
                    | OpKind::Move
                    | OpKind::Close
            );
        self.faults.budget.count() < n_errors_max.max(1) && is_survivable
    }

    /// Remembers a failure that does not stop the worker; it fails when it ends.
    fn fail_later(&mut self, failure: Failure) {
        self.faults.failure.get_or_insert(failure);
    }

    fn ignores(&self, class: usize, errno: i32) -> bool {
        self.job.errors.ignored_errno[class].contains(&errno)
    }
}
