//! Which blocks a worker reads back, and what it expects of them.

use pattern::verify::{
    Checks, VerifyState, WriteFate, WriteLog, WriteProgress, WriteRecord, effective_checks,
    write_seed,
};
use plan::Job;
use plan::op::{Op, OpKind};

use crate::chosen::{BlockCheck, ChosenOp, Filled};
use crate::data::ReadFacts;
use crate::series::{NO_SERIES, series_of};
use crate::slots::{Slot, Slots};
use crate::trimming::{NextTrim, Trims};

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

    /// Returns whether each block is checked by the worker itself, when it is read.
    #[inline]
    pub(crate) fn checks_at_once(&self) -> bool {
        self.on && !self.is_late
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
    pub(crate) fn next_trim(
        &mut self,
        slots: &Slots,
        flush: bool,
    ) -> Option<Result<ChosenOp, Filled>> {
        let trims = self.trims.as_mut()?;
        match trims.next(&mut self.log, |number| slots.is_changing(number), flush) {
            NextTrim::None => None,
            NextTrim::Block(record) => Some(Ok(block(OpKind::Trim, &record))),
            NextTrim::InFlight => Some(Err(Filled::Drain)),
        }
    }

    /// Returns the next block of the backlog, `Err` when it must wait for writes in flight.
    pub(crate) fn next_of_backlog(&mut self, slots: &Slots) -> Option<Result<ChosenOp, Filled>> {
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
    pub(crate) fn replay_read(&mut self) -> Replay {
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
    pub(crate) fn replay_write(&mut self, record: WriteRecord) -> Replay {
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

    /// Restricts it to what an earlier run of a job had written.
    pub(crate) fn restrict_to(&mut self, state: VerifyState, name: &str) {
        assert!(self.on, "what `{name}` wrote is said, which verifies nothing");
        assert!(self.restriction.is_none(), "what `{name}` wrote is said twice");
        self.restriction = Some(Restriction { state, n_reads: 0, exhausted: false });
    }

    /// Returns how far writing is, if a later run is to verify it.
    pub(crate) fn progress(&self) -> Option<&WriteProgress> {
        self.progress.as_ref()
    }

    /// Returns the number of blocks that were written and should have been read back.
    pub(crate) fn n_unverified(&self) -> usize {
        if self.reads_back { self.log.len() } else { 0 }
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
