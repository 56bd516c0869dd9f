//! How a worker uses its part of a tree of files.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pattern::PatternError;
use plan::Direction;
use plan::op::OpKind;

use super::Worker;
use crate::chosen::{ChosenOp, Filled};
use crate::errors::{EDEADLK, EIO, ENOENT, ENOSPC, Failure, FailureKind};
use crate::gate::Pass;
use crate::series::{add, series_of_task};
use crate::slots::Slot;
use crate::tree::{Admission, Next, Stuck, TreeJob, TreeOp, TreeWorker, Verdict};

/// Pause while others of a flow have to catch up.
const RETRY_NS: u64 = 50_000;

/// Operations that are handed on at once, so that a request to stop is heard.
const N_HANDED_ON_MAX: usize = 64;

impl Worker {
    /// Gives the worker of a job on a tree its part of it. Before the start.
    ///
    /// # Errors
    /// When the job's sizes cannot be drawn, or it does nothing.
    ///
    /// # Panics
    /// If the worker has started, its job is on no tree, or it has joined one.
    pub fn join_tree(&mut self, job: Arc<TreeJob>) -> Result<(), PatternError> {
        self.must_be_new("a tree is given");
        let name = &self.job.name;
        assert!(self.job.tree.is_some(), "a worker of `{name}` joins a tree, which is on none");
        assert!(self.tree.is_none(), "a worker of `{name}` joins two trees");
        let n_asked_max = self.job.limits.n_ios_max;
        self.tree = Some(Box::new(TreeWorker::new(job, self.seed, n_asked_max)?));
        Ok(())
    }

    /// Chooses the next operation in the tree, or says why there is none now.
    #[inline]
    pub(crate) fn choose_of_tree(&mut self, now: u64) -> Result<ChosenOp, Filled> {
        let Some(tree) = &self.tree else { return Err(Filled::EndOfPhase) };
        if tree.asks_first() {
            if tree.is_spent() {
                return Err(Filled::EndOfPhase);
            }
            let leave = self.ask_for_tree(now)?;
            if let Some(tree) = &mut self.tree {
                tree.admit(leave);
            }
        }
        let Some(tree) = &mut self.tree else { return Err(Filled::EndOfPhase) };
        match tree.next() {
            Next::Op(op) => {
                let mut due_ns = None;
                if op.is_asked {
                    let leave = tree.take_leave();
                    due_ns = leave.due_ns;
                    if !leave.is_counted {
                        self.gate.issued(direction(&op), op.len);
                    }
                    if let Some(flow) = &mut self.flow {
                        flow.advance();
                    }
                }
                let series = series_of_task(op.task, op.kind);
                let mut chosen = ChosenOp::new(op.kind, op.entry, op.offset, op.len, series);
                chosen.intended_ns = due_ns;
                Ok(chosen)
            }
            Next::Later => {
                if let Some(flow) = &self.flow {
                    flow.excuse();
                }
                let wait_ns = tree.wait_ns();
                self.hand_on(now);
                Err(Filled::Until(now + wait_ns))
            }
            Next::Done => Err(Filled::EndOfPhase),
            Next::Stuck(stuck) => {
                if stuck.is_at_its_end() {
                    self.faults.nothing_left = Some(*stuck);
                } else {
                    self.fail_stuck(*stuck);
                }
                Err(Filled::EndOfPhase)
            }
            Next::Refused(errno) => {
                self.fail(Failure { kind: FailureKind::Io, errno, op: None });
                Err(Filled::EndOfPhase)
            }
        }
    }

    /// Returns whether the worker may hand on what is due to others of its job, and do what they
    /// have nothing free for.
    fn hands_on(&self) -> bool {
        self.gate.is_one_schedule()
            && self.flow.is_none()
            && self.tree.as_ref().is_some_and(|tree| tree.may_hand_on())
    }

    /// Hands on what is due, as nothing is free for it.
    fn hand_on(&mut self, now: u64) {
        if !self.hands_on() {
            return;
        }
        let Some(tree) = &mut self.tree else { return };
        if let Some(leave) = tree.give_up()
            && leave.is_counted
            && let Some(due_ns) = leave.due_ns
            && !tree.hand_on(due_ns)
        {
            tree.admit(leave);
            return;
        }
        for _ in 0..N_HANDED_ON_MAX {
            let Pass::Go(dir, Some(due_ns)) = self.gate.ask(Direction::Read, now, true) else {
                return;
            };
            if !tree.hand_on(due_ns) {
                return;
            }
            self.gate.issued(dir, 0);
        }
    }

    /// Takes what others of the job handed on. One that waits for something free looks for it
    /// first.
    fn take_over(&mut self, now: u64) -> Result<Option<Admission>, Filled> {
        if !self.hands_on() {
            return Ok(None);
        }
        if self.tree.as_ref().is_some_and(|tree| tree.is_waiting()) {
            self.hand_on(now);
        }
        let Some(tree) = &mut self.tree else { return Ok(None) };
        if tree.is_waiting() && !tree.find_free() {
            return Err(Filled::Until(now + tree.wait_ns()));
        }
        Ok(tree.take_over())
    }

    /// Asks rates, pauses and flows for leave to do what is asked for next.
    fn ask_for_tree(&mut self, now: u64) -> Result<Admission, Filled> {
        if let Some(leave) = self.take_over(now)? {
            return Ok(leave);
        }
        let mut due_ns = None;
        if !self.gate.is_open() {
            match self.gate.ask(Direction::Read, now, self.slots.is_idle()) {
                Pass::Go(_, at_ns) => due_ns = at_ns,
                Pass::Until(until_ns) if self.hands_on() => {
                    let tree = self.tree.as_mut();
                    let until_ns = tree.map_or(until_ns, |tree| tree.sleep_until(until_ns, now));
                    return Err(Filled::Until(until_ns));
                }
                Pass::Until(until_ns) => return Err(Filled::Until(until_ns)),
                Pass::Drain => return Err(Filled::Drain),
            }
        }
        if self.flow.as_mut().is_some_and(|flow| flow.is_ahead()) {
            let asked_ns = self.job.load.flow.map_or(0, |flow| flow.sleep_ns);
            return Err(Filled::Until(now + asked_ns.max(RETRY_NS)));
        }
        Ok(Admission { due_ns, is_counted: false })
    }

    fn fail_stuck(&mut self, stuck: Stuck) {
        let errno = if stuck.n_tried == 0 { ENOENT } else { EDEADLK };
        self.fail(Failure { kind: FailureKind::Stuck(stuck), errno, op: None });
    }

    /// Takes the end of an operation in the tree: bytes moved, or the negated error number.
    pub(crate) fn complete_of_tree(&mut self, slot: &Slot, result: i32, now_ns: u64) {
        let left = slot.op.len.min(i32::MAX as u32);
        let errno = match result {
            result if result < 0 => -result,
            result if result as u32 >= left => 0,
            0 if slot.op.kind.direction() == Some(Direction::Read) => EIO,
            0 => ENOSPC,
            _ => {
                // The rest of a short transfer follows.
                self.irregular(slot, result);
                return;
            }
        };
        self.slots.release(slot.op.slot);
        let Some(tree) = &mut self.tree else { return };
        let Some(op) = tree.in_flight() else { return };
        let verdict = tree.completed(errno);
        match verdict {
            Verdict::Done if op.is_asked => {
                self.record(slot, now_ns, now_ns >= self.times.measured_ns);
            }
            Verdict::Done => {
                let bytes = u64::from(slot.whole_len());
                let handed_over = (slot.start_ns, slot.submit_ns);
                self.count_series(slot.series, handed_over, bytes, now_ns);
            }
            Verdict::Tolerated | Verdict::Failed => {
                let all = self.meters.series();
                if let Some(meters) = all.and_then(|all| all.get(slot.series)) {
                    add(&meters.n_failed, 1);
                }
                if verdict == Verdict::Failed {
                    let kind = if op.len > 0 && errno == ENOSPC {
                        FailureKind::NothingMoved
                    } else {
                        FailureKind::Io
                    };
                    self.failed(slot, errno, kind);
                }
            }
        }
    }

    /// Reports that the worker is no longer at work in its tree.
    pub(crate) fn leave_tree(&mut self) {
        if let Some(tree) = &mut self.tree {
            tree.end();
        }
    }

    /// Returns how many operations of a kind have been done; for tests and progress.
    pub fn n_done(&self, task: u16, kind: OpKind) -> u64 {
        let all = self.meters.series();
        all.and_then(|all| all.get(series_of_task(task, kind)))
            .map_or(0, |meters| meters.n_ios_live.load(Relaxed))
    }
}

fn direction(op: &TreeOp) -> Direction {
    op.kind.direction().unwrap_or(Direction::Read)
}
