//! Which written blocks are trimmed before they are verified (`trim_percentage`).

use std::collections::VecDeque;

use pattern::verify::{WriteLog, WriteRecord};
use plan::Job;

/// Written blocks that wait to be trimmed.
///
/// Of the writes issued the job's share enters, evenly spread: at 50 % every second one. After a
/// backlog of writes a batch of trims goes before the next write. Blocks that were overwritten or
/// verified meanwhile are passed over. All that are left are trimmed at the end of a pass.
#[derive(Debug)]
pub(crate) struct Trims {
    pct: u8,
    backlog: u32,
    batch: u32,
    batch_left: u32,
    n_writes_since: u32,
    queue: VecDeque<WriteRecord>,
    /// Hundredths of a block that the share is ahead of the blocks in the queue.
    share: u32,
    /// The block is read back as zeros; otherwise it is not read back.
    stays_in_log: bool,
}

/// What is to be trimmed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextTrim {
    /// Nothing now.
    None,
    /// This block.
    Block(WriteRecord),
    /// A block whose write is in flight; nothing else is left to do.
    InFlight,
}

impl Trims {
    pub(crate) fn new(job: &Job) -> Self {
        let workload = &job.workload;
        let pct = workload.trim_pct;
        assert!(pct <= 100, "{pct} % of the writes are trimmed");
        let (backlog, batch) = (workload.trim_backlog, workload.trim_backlog_batch);
        Trims {
            pct,
            backlog,
            batch: if batch > 0 { batch } else { backlog },
            batch_left: 0,
            n_writes_since: 0,
            queue: VecDeque::new(),
            share: 0,
            stays_in_log: job.verify.trimmed_is_zero,
        }
    }

    pub(crate) fn written(&mut self, record: WriteRecord) {
        self.n_writes_since += 1;
        self.share += u32::from(self.pct);
        if self.share >= 100 {
            self.share -= 100;
            self.queue.push_back(record);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        (self.batch_left, self.n_writes_since) = (0, 0);
    }

    /// Takes the next block to be trimmed, if it is time for one; `flush` says that it is, because
    /// the pass writes no more.
    pub(crate) fn next(
        &mut self,
        log: &mut WriteLog,
        is_changing: impl Fn(u64) -> bool,
        flush: bool,
    ) -> NextTrim {
        if self.batch_left == 0 && self.n_writes_since >= self.backlog && !self.queue.is_empty() {
            self.batch_left = self.batch;
            self.n_writes_since = 0;
        }
        if self.batch_left == 0 && !flush {
            return NextTrim::None;
        }
        while let Some(record) = self.queue.front().copied() {
            if is_changing(record.number_io) {
                return if flush { NextTrim::InFlight } else { NextTrim::None };
            }
            self.queue.pop_front();
            let is_current =
                if self.stays_in_log { log.mark_trimmed(&record) } else { log.forget(&record) };
            if is_current {
                self.batch_left = self.batch_left.saturating_sub(1);
                return NextTrim::Block(record);
            }
        }
        self.batch_left = 0;
        NextTrim::None
    }
}
