//! Which blocks a worker reads back, and what it expects of them.

use pattern::verify::{
    Checks, VerifyState, WriteFate, WriteLog, WriteProgress, WriteRecord, effective_checks,
    write_seed,
};
use plan::op::{FileIdx, Op, OpKind};
use plan::{Direction, Job};

use crate::data::ReadFacts;
use crate::issue::Filled;
use crate::meters::add;
use crate::series::{NO_SERIES, series_of};
use crate::slots::{Slot, Slots};
use crate::source::{BlockCheck, ChosenOp};
use crate::trimming::{NextTrim, Trims};
use crate::worker::Worker;

/// The verification of one worker.
#[derive(Debug)]
pub(crate) struct Verifying {
    on: bool,
    reads_back: bool,
    dry_run: bool,
    is_late: bool,
    checks: Checks,
    backlog: usize,
    backlog_batch: usize,
    batch_left: usize,
    log: WriteLog,
    trims: Option<Trims>,
    progress: Option<WriteProgress>,
    /// Slot of the sync in flight that counts.
    sync_slot: Option<u32>,
    restriction: Option<Restriction>,
    seed: u64,
}

/// What an earlier run had written.
#[derive(Debug)]
struct Restriction {
    state: VerifyState,
    /// Reads chosen so far, by a job that reads what the earlier run wrote in the same order.
    n_reads: u64,
    /// All that was written has been chosen.
    exhausted: bool,
}

/// What becomes of a chosen operation that verifies an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replay {
    /// It is issued.
    Issue,
    /// It is passed over: a write that an earlier run made, or the read of a block that may hold
    /// anything.
    Skip,
    /// The earlier run went no further.
    End,
}

impl Verifying {
    pub(crate) fn new(job: &Job, seed: u64) -> Self {
        let checks = effective_checks(job);
        let verify = &job.verify;
        let on = verify.method.is_some();
        let writes = job.workload.access.write;
        let dry_run = on && verify.verify_only && writes;
        let backlog_batch =
            if verify.backlog_batch > 0 { verify.backlog_batch } else { verify.backlog };
        Verifying {
            on,
            reads_back: on && verify.do_verify && writes && !job.never_reads_back(),
            dry_run,
            is_late: on && verify.n_threads > 0,
            checks,
            backlog: if dry_run { 0 } else { verify.backlog as usize },
            backlog_batch: backlog_batch as usize,
            batch_left: 0,
            log: WriteLog::new(checks.may_overwrite),
            trims: (checks.trims && writes).then(|| Trims::new(job)),
            progress: (on && writes && !dry_run && verify.state_save)
                .then(|| WriteProgress::new(job.load.queue_depth)),
            sync_slot: None,
            restriction: None,
            seed,
        }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Returns whether writes are only remembered, as if an earlier run had made them.
    #[inline]
    pub(crate) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Returns whether checks may be put off to other threads.
    #[inline]
    pub(crate) fn is_late(&self) -> bool {
        self.is_late
    }

    /// Returns whether each pass is read back before the next one.
    pub(crate) fn reads_passes_back(&self) -> bool {
        self.reads_back && self.backlog == 0
    }

    /// Returns whether there is something to read back.
    pub(crate) fn has_work(&self) -> bool {
        self.reads_back && !self.log.is_empty()
    }

    /// Returns whether operations in flight must not touch the same bytes: a block that is verified
    /// while it is written, or written twice at the same time, may hold either.
    #[inline]
    pub(crate) fn excludes(&self, kind: OpKind) -> bool {
        let changes = matches!(kind, OpKind::Write | OpKind::Trim);
        self.on && changes && (self.checks.may_overwrite || self.backlog > 0)
    }

    /// Returns whether an earlier run's work has been gone through before the job's own amount.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.restriction.as_ref().is_some_and(|restriction| restriction.exhausted)
    }

    pub(crate) fn clear(&mut self) {
        self.log.clear();
        self.batch_left = 0;
        if let Some(trims) = &mut self.trims {
            trims.clear();
        }
    }

    fn remember(&mut self, record: WriteRecord) {
        if self.reads_back || self.trims.is_some() {
            self.log.record(record);
        }
        if let Some(trims) = &mut self.trims {
            trims.written(record);
        }
    }

    /// Remembers an issued write.
    pub(crate) fn issued(&mut self, op: &Op, number_io: u64) {
        let (file, offset, len) = (op.file, op.offset, op.len);
        self.remember(WriteRecord { offset, number_io, len, file, trimmed: false });
        if let Some(progress) = &mut self.progress {
            let issued = progress.issue();
            assert_eq!(issued, number_io, "writes are counted once");
        }
    }

    /// Notes the end of a write.
    pub(crate) fn completed(&mut self, slot: &Slot) {
        if let Some(progress) = &mut self.progress {
            progress.complete(slot.write_number, true);
        }
    }

    /// Forgets a block whose write or trim failed.
    pub(crate) fn failed(&mut self, slot: &Slot) {
        let record = WriteRecord {
            offset: slot.first_offset,
            number_io: slot.write_number,
            len: slot.whole_len(),
            file: slot.op.file,
            trimmed: false,
        };
        self.log.forget(&record);
        if slot.op.kind == OpKind::Write
            && let Some(progress) = &mut self.progress
        {
            progress.complete(slot.write_number, false);
        }
    }

    /// Notes that a sync of all files of the job is issued. Of several in flight the first counts.
    pub(crate) fn sync_issued(&mut self, slot_idx: u32) {
        if let (Some(progress), None) = (&mut self.progress, self.sync_slot) {
            self.sync_slot = Some(slot_idx);
            progress.sync_issued();
        }
    }

    /// Notes the end of a sync of all files of the job.
    pub(crate) fn sync_completed(&mut self, slot_idx: u32, ok: bool) {
        if let (Some(progress), Some(counted)) = (&mut self.progress, self.sync_slot)
            && counted == slot_idx
        {
            self.sync_slot = None;
            progress.sync_completed(ok);
        }
    }

    /// Returns the next block to read back at the end of a pass.
    pub(crate) fn next_read(&mut self) -> Option<ChosenOp> {
        self.log.take(|_| false).map(|record| block(OpKind::Read, &record))
    }

    /// Returns the next block to trim, `Err` when it must wait for writes in flight. `flush` says
    /// that the pass writes no more.
    fn next_trim(&mut self, slots: &Slots, flush: bool) -> Option<Result<ChosenOp, Filled>> {
        let trims = self.trims.as_mut()?;
        match trims.next(&mut self.log, |number| slots.is_changing(number), flush) {
            NextTrim::None => None,
            NextTrim::Block(record) => Some(Ok(block(OpKind::Trim, &record))),
            NextTrim::InFlight => Some(Err(Filled::Drain)),
        }
    }

    /// Returns the next block of the backlog, `Err` when it must wait for writes in flight.
    fn next_of_backlog(&mut self, slots: &Slots) -> Option<Result<ChosenOp, Filled>> {
        if self.backlog == 0 || !self.reads_back {
            return None;
        }
        if self.batch_left == 0 && self.log.len() >= self.backlog {
            self.batch_left = self.backlog_batch.min(self.log.len());
        }
        if self.batch_left == 0 {
            return None;
        }
        match self.log.take(|number| slots.is_changing(number)) {
            Some(record) => {
                self.batch_left -= 1;
                Some(Ok(block(OpKind::Read, &record)))
            }
            None if slots.is_idle() => {
                self.batch_left = 0;
                None
            }
            None => Some(Err(Filled::Drain)),
        }
    }

    /// Returns what a completed read must have found, or `None` if it is not to be checked.
    pub(crate) fn expectation(&self, slot: &Slot, issues_writes: bool) -> Option<ReadFacts> {
        let Some(check) = slot.check else {
            // Reads of a mixed job find blocks of any age; those of a read job are checked.
            let any = ReadFacts { number: None, seed: None, trimmed: false };
            return (!issues_writes).then_some(any);
        };
        Some(ReadFacts {
            number: self.checks.write_sequence.then_some(check.number),
            seed: self.checks.header_seed.then(|| write_seed(self.seed, check.number)),
            trimmed: check.trimmed && self.checks.trimmed_is_zero,
        })
    }

    /// Returns what becomes of the read of a job that verifies what an earlier run wrote.
    fn replay_read(&mut self) -> Replay {
        let Some(restriction) = &mut self.restriction else { return Replay::Issue };
        let number = restriction.n_reads;
        restriction.n_reads += 1;
        match restriction.state.fate(number) {
            WriteFate::Written => Replay::Issue,
            WriteFate::Unknown => Replay::Skip,
            WriteFate::Never => {
                restriction.exhausted = true;
                Replay::End
            }
        }
    }

    /// Remembers a write that an earlier run made, as far as it did.
    fn replay_write(&mut self, record: WriteRecord) -> Replay {
        let fate = self.restriction.as_ref().map(|known| known.state.fate(record.number_io));
        match fate {
            Some(WriteFate::Never) => {
                if let Some(restriction) = &mut self.restriction {
                    restriction.exhausted = true;
                }
                return Replay::End;
            }
            Some(WriteFate::Unknown) => {
                // What it replaced is not there for certain either.
                self.remember(record);
                self.log.forget(&record);
            }
            None | Some(WriteFate::Written) => self.remember(record),
        }
        Replay::Skip
    }
}

/// Makes an operation on a block that was written.
fn block(kind: OpKind, record: &WriteRecord) -> ChosenOp {
    ChosenOp {
        kind,
        file_idx: record.file.0,
        offset: record.offset,
        len: record.len,
        intended_ns: None,
        check: Some(BlockCheck { number: record.number_io, trimmed: record.trimmed }),
        series: kind.direction().map_or(NO_SERIES, |dir| series_of(0, dir)),
    }
}

impl Worker {
    /// Restricts verification to what an earlier run had written. Before the start.
    pub fn restrict_to(&mut self, state: VerifyState) {
        self.must_be_new("what was written is said");
        let name = &self.job.name;
        assert!(self.verifying.on, "what `{name}` wrote is said, which verifies nothing");
        assert!(self.verifying.restriction.is_none(), "what `{name}` wrote is said twice");
        self.verifying.restriction = Some(Restriction { state, n_reads: 0, exhausted: false });
    }

    /// Returns what was written, for a later run to verify; `None` if the job does not ask for it.
    ///
    /// `worker_number` counts over all workers of the run.
    pub fn verify_state(&self, worker_number: u64) -> Option<VerifyState> {
        let progress = self.verifying.progress.as_ref()?;
        let job = &self.job;
        Some(progress.state(job.verify.policy, &job.name, worker_number, self.seed))
    }

    /// Returns the number of blocks that were written and should have been read back.
    pub fn n_unverified(&self) -> usize {
        if self.verifying.reads_back { self.verifying.log.len() } else { 0 }
    }

    /// Chooses a block of the trim or verify backlog, if it is time for one.
    pub(crate) fn choose_backlog(&mut self) -> Option<Result<ChosenOp, Filled>> {
        let flush = self.source.is_done() || self.verifying.is_exhausted();
        let trim = self.verifying.next_trim(&self.slots, flush);
        trim.or_else(|| self.verifying.next_of_backlog(&self.slots))
    }

    /// Returns whether an operation is issued at all by a job that verifies an earlier run.
    pub(crate) fn replay(&mut self, chosen: &ChosenOp) -> Replay {
        let dry_run = self.verifying.is_dry_run();
        match chosen.kind {
            OpKind::Write if dry_run => {
                let number_io = self.writes.n;
                self.writes.n += 1;
                let file = FileIdx(chosen.file_idx);
                let ChosenOp { offset, len, .. } = *chosen;
                let record = WriteRecord { offset, number_io, len, file, trimmed: false };
                let replay = self.verifying.replay_write(record);
                if replay == Replay::Skip {
                    // As in fio: the writes that were gone through are counted, without bytes.
                    add(&self.meters.dir(Direction::Write).n_ios, 1);
                }
                replay
            }
            OpKind::Trim | OpKind::Read if dry_run => Replay::Skip,
            OpKind::Read if !self.job.workload.access.write => self.verifying.replay_read(),
            OpKind::Read
            | OpKind::Write
            | OpKind::Trim
            | OpKind::Fsync
            | OpKind::Fdatasync
            | OpKind::SyncFileRange
            | OpKind::Create
            | OpKind::Stat
            | OpKind::Delete
            | OpKind::Mkdir
            | OpKind::Rmdir
            | OpKind::Open
            | OpKind::Close
            | OpKind::Access
            | OpKind::Setattr
            | OpKind::Copy
            | OpKind::Move => Replay::Issue,
        }
    }
}
