//! What a worker verifies.

use pattern::verify::{VerifyState, WriteRecord};
use plan::Direction;
use plan::op::{FileIdx, OpClass};

use super::Worker;
use crate::chosen::{ChosenOp, Filled};
use crate::series::add;
use crate::verifying::Replay;

impl Worker {
    /// Restricts verification to what an earlier run had written. Before the start.
    pub fn restrict_to(&mut self, state: VerifyState) {
        self.must_be_new("what was written is said");
        self.verifying.restrict_to(state, &self.job.name);
    }

    /// Returns what was written, for a later run to verify; `None` if the job does not ask for it.
    ///
    /// `worker_number` counts over all workers of the run.
    pub fn verify_state(&self, worker_number: u64) -> Option<VerifyState> {
        let progress = self.verifying.progress()?;
        let job = &self.job;
        Some(progress.state(job.verify.policy, &job.name, worker_number, self.seed))
    }

    /// Returns the number of blocks that were written and should have been read back.
    pub fn n_unverified(&self) -> usize {
        self.verifying.n_unverified()
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
        match chosen.kind.class() {
            OpClass::Bytes(Direction::Write) if dry_run => {
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
            OpClass::Bytes(_) if dry_run => Replay::Skip,
            OpClass::Bytes(Direction::Read) if !self.job.workload.access.write => {
                self.verifying.replay_read()
            }
            OpClass::Bytes(_) | OpClass::Sync(_) | OpClass::File => Replay::Issue,
        }
    }
}
