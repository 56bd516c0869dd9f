//! The layer around the engine of a worker whose writes and reads are validated.
//!
//! An operation on blocks that another one works on waits here, whichever worker that is of:
//! otherwise it would not be known what the blocks must hold. A transfer that ends early goes on
//! here, so that blocks are taken and given back once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Engine, EngineError, Layer, Wait};
use pattern::journal::judge::ExpectedBlock;
use pattern::journal::{BlockState, judge, stamp};
use plan::Direction;
use plan::op::{Completion, Op, OpClass, OpKind};

use super::shared::{BlockRun, Claim, Journal};
use super::verification::block_line;
use crate::bind::BoundWorker;
use crate::verify_check::{BadBlocks, EILSEQ};

/// The part of a worker in a journal.
#[derive(Clone, Debug)]
pub(crate) struct WorkerJournal {
    journal: Arc<Journal>,
    /// Number of the worker in the run.
    worker: u32,
    /// Targets by the worker's files, or by those of its tree.
    targets: Vec<u32>,
    paths: Arc<Vec<String>>,
    bad: Arc<Mutex<BadBlocks>>,
}

impl WorkerJournal {
    /// Joins a worker.
    pub(crate) fn new(journal: &Arc<Journal>, bound: &BoundWorker, worker: u32) -> Self {
        let paths = bound.files.iter().map(|file| file.path.display().to_string()).collect();
        WorkerJournal {
            targets: journal.targets_of(bound),
            journal: Arc::clone(journal),
            worker,
            paths: Arc::new(paths),
            bad: Arc::default(),
        }
    }

    fn bad(&self) -> MutexGuard<'_, BadBlocks> {
        self.bad.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the blocks found bad, in words.
    pub(crate) fn take_bad(&self) -> BadBlocks {
        std::mem::take(&mut self.bad())
    }
}

/// An operation that has its blocks.
#[derive(Debug)]
struct InFlight {
    /// As it was issued.
    whole: Op,
    /// What is left of it.
    op: Op,
    claim: Option<Claim>,
    /// What a write makes of its blocks.
    runs: Vec<BlockRun>,
}

/// An engine whose I/O is validated.
pub(crate) struct Journaled {
    engine: Box<dyn Engine>,
    part: WorkerJournal,
    /// Operations that wait for blocks, in order.
    held: VecDeque<Op>,
    /// By slot.
    in_flight: Vec<Option<InFlight>>,
    /// Operations that the engine below has.
    n_below: usize,
    ready: Vec<Op>,
    completed: Vec<Completion>,
    /// What blocks of a read must hold.
    states: Vec<BlockState>,
}

impl Journaled {
    /// Validates what goes through an engine with so many operations in flight.
    pub(crate) fn new(engine: Box<dyn Engine>, queue_depth: usize, part: WorkerJournal) -> Self {
        Journaled {
            engine,
            part,
            held: VecDeque::with_capacity(queue_depth),
            in_flight: std::iter::repeat_with(|| None).take(queue_depth).collect(),
            n_below: 0,
            ready: Vec::with_capacity(queue_depth),
            completed: Vec::with_capacity(queue_depth),
            states: Vec::new(),
        }
    }

    /// Gives blocks to operations that wait for them, as far as they are free.
    fn begin(&mut self) -> Result<(), EngineError> {
        if self.held.is_empty() {
            return Ok(());
        }
        let Journaled { part, held, in_flight, ready, .. } = self;
        let mut wrong = None;
        part.journal.take(|shared| {
            held.retain(|op| {
                let claim = match claim_of(part, op) {
                    Ok(claim) => claim,
                    Err(error) => {
                        wrong.get_or_insert(error);
                        return true;
                    }
                };
                let mut runs = Vec::new();
                if let Some(claim) = claim {
                    if !shared.is_free(claim) {
                        return true;
                    }
                    shared.claim(claim, &mut runs);
                }
                // Whoever makes, cuts or removes a file of a tree has it for itself.
                if let Some((target, first)) = forgotten_by(part, op) {
                    shared.forget(target, first);
                }
                if let Some(slot) = in_flight.get_mut(op.slot as usize) {
                    *slot = Some(InFlight { whole: *op, op: *op, claim, runs });
                }
                ready.push(*op);
                false
            });
        })?;
        if let Some(error) = wrong {
            return Err(error);
        }
        for op in &self.ready {
            let slot = self.in_flight.get(op.slot as usize).and_then(Option::as_ref);
            if let Some(InFlight { claim: Some(claim), runs, .. }) = slot.filter(|it| is_new(it)) {
                stamp_all(self.engine.as_mut(), &self.part, op, claim, runs);
            }
        }
        Ok(())
    }

    /// Takes what has completed below: goes on with the rest of short transfers, checks reads, and
    /// notes writes. Returns whether anything is left to go over.
    fn settle(&mut self, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let mut completed = std::mem::take(&mut self.completed);
        self.n_below -= completed.len();
        completed.retain_mut(|completion| !self.goes_on(completion));
        for completion in &mut completed {
            let slot = self.in_flight.get(completion.slot as usize).and_then(Option::as_ref);
            let Some(InFlight { whole, claim: Some(claim), .. }) = slot else { continue };
            let (whole, claim) = (*whole, *claim);
            if !claim.is_write && completion.is_whole(&whole) && !self.is_good(&whole, claim) {
                completion.result = -EILSEQ;
            }
        }
        if !completed.is_empty() {
            let Journaled { part, in_flight, .. } = self;
            part.journal.give_back(|shared| {
                for completion in &completed {
                    let slot = in_flight.get_mut(completion.slot as usize).and_then(Option::take);
                    let Some(InFlight { whole, claim: Some(claim), runs, .. }) = slot else {
                        continue;
                    };
                    if claim.is_write && completion.is_whole(&whole) {
                        shared.written(claim.target, &runs);
                    }
                    shared.release(claim);
                }
            })?;
        }
        done.append(&mut completed);
        self.completed = completed;
        Ok(())
    }

    /// Goes on with the rest of a transfer that ended early, if this is one; otherwise makes its
    /// completion that of the whole.
    fn goes_on(&mut self, completion: &mut Completion) -> bool {
        let slot = self.in_flight.get_mut(completion.slot as usize).and_then(Option::as_mut);
        let Some(slot) = slot.filter(|slot| slot.claim.is_some() && completion.result > 0) else {
            return false;
        };
        let moved = completion.result as u32;
        if moved < slot.op.len {
            slot.op.offset += u64::from(moved);
            slot.op.buf_offset_bytes += moved;
            slot.op.len -= moved;
            self.ready.push(slot.op);
            return true;
        }
        *completion = Completion::whole(&slot.whole);
        false
    }

    /// Compares the blocks of a read with what they must hold.
    fn is_good(&mut self, op: &Op, claim: Claim) -> bool {
        let Journaled { engine, part, states, .. } = self;
        let journal = &part.journal;
        states.clear();
        journal.look(|shared| {
            states.extend((claim.first..claim.end).map(|it| shared.state(claim.target, it)));
        });
        let Some((block_bytes, _)) = journal.extent_of(claim.target) else { return true };
        // SAFETY: the operation has completed, and its slot is not taken again before this returns.
        let bytes = unsafe { engine.arena().slice(op.buf, op.len) };
        let mut is_good = true;
        let blocks = bytes.chunks_exact(block_bytes as usize);
        for ((idx, block), state) in (0..).zip(blocks).zip(states.iter()) {
            if !state.is_known() {
                continue;
            }
            let offset = op.offset + idx * u64::from(block_bytes);
            let place = ExpectedBlock { target: claim.target, offset, state: *state };
            let judged = judge(block, &place, &|run| journal.is_own(run));
            if judged.is_bad() {
                is_good = false;
                let named = part.paths.get(op.file.0 as usize).map(String::as_str);
                let path = named.unwrap_or_else(|| journal.path_of(claim.target));
                part.bad().add(&block_line(path, offset, *state, &judged));
            }
        }
        is_good
    }
}

impl Layer for Journaled {
    fn below(&self) -> &dyn Engine {
        self.engine.as_ref()
    }

    fn below_mut(&mut self) -> &mut dyn Engine {
        self.engine.as_mut()
    }

    fn exchange_through(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        let n_before = done.len();
        self.held.extend(ops);
        let mut n_freed = 0;
        loop {
            if !self.held.is_empty() {
                n_freed = self.part.journal.look(super::shared::Shared::n_freed);
            }
            self.begin()?;
            let n_done = done.len() - n_before;
            let is_enough = n_done >= wait.min as usize;
            let n_available = self.n_below + self.ready.len();
            if n_available == 0 {
                if is_enough || self.held.is_empty() {
                    return Ok(());
                }
                // All of them wait for other workers.
                self.part.journal.await_freed(n_freed)?;
                if wait.timeout_ns.is_some() {
                    return Ok(());
                }
                continue;
            }
            if is_enough && self.ready.is_empty() && n_done > 0 {
                return Ok(());
            }
            let min_left = (wait.min as usize).saturating_sub(n_done).min(n_available);
            // What waits is looked at again when the first completes.
            let min = if self.held.is_empty() { min_left } else { min_left.min(1) };
            let below = Wait { min: min as u32, timeout_ns: wait.timeout_ns };
            self.n_below += self.ready.len();
            self.engine.exchange(&self.ready, below, &mut self.completed)?;
            self.ready.clear();
            let n_completed = self.completed.len();
            self.settle(done)?;
            let is_enough = done.len() - n_before >= wait.min as usize;
            let is_over = is_enough || wait.timeout_ns.is_some() && n_completed < min;
            if is_over && self.ready.is_empty() && (self.held.is_empty() || n_completed == 0) {
                return Ok(());
            }
        }
    }
}

impl Drop for Journaled {
    /// A worker that ends early keeps no blocks from the others. What it was writing stays unsure.
    fn drop(&mut self) {
        let claims: Vec<Claim> =
            self.in_flight.iter_mut().filter_map(|slot| slot.take()?.claim).collect();
        if !claims.is_empty() {
            // Nothing is appended.
            let _nothing_written = self.part.journal.give_back(|shared| {
                for claim in claims {
                    shared.release(claim);
                }
            });
        }
    }
}

/// Returns whether none of an operation has moved.
fn is_new(slot: &InFlight) -> bool {
    slot.op.buf_offset_bytes == 0
}

/// Returns the blocks of an operation; none of one that moves nothing.
fn claim_of(part: &WorkerJournal, op: &Op) -> Result<Option<Claim>, EngineError> {
    let is_write = match op.kind.class() {
        OpClass::Bytes(Direction::Read) => false,
        OpClass::Bytes(Direction::Write | Direction::Trim) => true,
        OpClass::Sync(_) | OpClass::File => return Ok(None),
    };
    let target = part.targets.get(op.file.0 as usize).copied().unwrap_or(u32::MAX);
    let Some((block_bytes, n_blocks)) = part.journal.extent_of(target) else { return Ok(None) };
    let unit = u64::from(block_bytes);
    let end = op.offset.saturating_add(u64::from(op.len));
    let out_of_range = |what, value, expected| EngineError::OutOfRange { what, value, expected };
    if !op.offset.is_multiple_of(unit) || !end.is_multiple_of(unit) {
        let what = "with `--validate`, the place where an I/O begins or ends";
        let value = if op.offset.is_multiple_of(unit) { end } else { op.offset };
        return Err(out_of_range(what, value, "a multiple of the smallest block size"));
    }
    if end / unit > n_blocks {
        let what = "with `--validate`, the end of an I/O";
        return Err(out_of_range(what, end, "within the file as it was when the run began"));
    }
    Ok(Some(Claim { target, first: op.offset / unit, end: end / unit, is_write }))
}

/// Returns the target, and the first of its blocks, that an operation leaves nothing of.
fn forgotten_by(part: &WorkerJournal, op: &Op) -> Option<(u32, u64)> {
    let end_bytes = match op.kind {
        OpKind::Create | OpKind::Delete => 0,
        OpKind::Truncate => op.offset,
        OpKind::Read
        | OpKind::Write
        | OpKind::Trim
        | OpKind::Fsync
        | OpKind::Fdatasync
        | OpKind::SyncFileRange
        | OpKind::Stat
        | OpKind::Mkdir
        | OpKind::Rmdir
        | OpKind::Open
        | OpKind::Close
        | OpKind::Access
        | OpKind::Setattr
        | OpKind::Chmod
        | OpKind::NegStat
        | OpKind::Lock
        | OpKind::Readdir
        | OpKind::Statfs
        | OpKind::Pathconf
        | OpKind::MapRead
        | OpKind::MapWrite
        // Refused.
        | OpKind::Rename
        | OpKind::Copy
        | OpKind::Move => return None,
    };
    let target = part.targets.get(op.file.0 as usize).copied()?;
    let (block_bytes, _) = part.journal.extent_of(target)?;
    Some((target, end_bytes / u64::from(block_bytes)))
}

/// Stamps the blocks of a write.
fn stamp_all(
    engine: &mut dyn Engine,
    part: &WorkerJournal,
    op: &Op,
    claim: &Claim,
    runs: &[BlockRun],
) {
    let Some((block_bytes, _)) = part.journal.extent_of(claim.target) else { return };
    let mut facts = part.journal.stamp(part.worker, claim.target, block_bytes);
    // SAFETY: the buffer is that of the operation's slot, and the operation is about to be handed
    // over.
    let bytes = unsafe { engine.arena().slice_mut(op.buf, op.len) };
    for run in runs {
        facts.generation = run.generation;
        for block in run.first..run.first + u64::from(run.n_blocks) {
            let start = ((block - claim.first) * u64::from(block_bytes)) as usize;
            let block_of = bytes.get_mut(start..start + block_bytes as usize);
            if let Some(bytes) = block_of {
                stamp(bytes, block * u64::from(block_bytes), &facts);
            }
        }
    }
}
