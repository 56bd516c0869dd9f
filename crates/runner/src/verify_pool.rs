//! Threads that check blocks while the worker goes on (`verify_async`).
//!
//! The worker copies a block and goes on; a thread checks the copy. There are a few copies per
//! thread; when all are taken the worker waits, so memory stays bounded. Taking a copy and
//! handing one over takes a lock, one of the few that a worker takes while it runs.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use plan::op::Op;
use rustix::thread::{CpuSet, sched_setaffinity};
use worker::{LateFailures, ReadFacts};

use crate::verify_check::{BadBlocks, Checker, EILSEQ};

/// Copies per thread: one being checked, and some so that the thread finds the next one ready.
const BLOCKS_PER_THREAD: usize = 4;

/// Stack of a verifying thread. Its frames are shallow and hold no blocks.
const STACK_BYTES: usize = 256 << 10;

/// A block to be checked.
#[derive(Debug)]
struct Task {
    block: Vec<u8>,
    op: Op,
    facts: ReadFacts,
}

#[derive(Debug, Default)]
struct State {
    tasks: VecDeque<Task>,
    /// Copies that are not in use. Their memory is kept.
    free: Vec<Vec<u8>>,
    n_checking: usize,
    late: LateFailures,
    bad: BadBlocks,
    closed: bool,
}

#[derive(Debug)]
struct Shared {
    checker: Arc<Checker>,
    state: Mutex<State>,
    /// A task was added, or the pool is closed.
    has_work: Condvar,
    /// A check has ended.
    has_room: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent between any two of its changes, also after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The verifying threads of one worker. Dropping it waits for them.
#[derive(Debug)]
pub(crate) struct CheckPool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl CheckPool {
    /// Starts `n_threads` threads, on these CPUs if any are named.
    ///
    /// # Errors
    /// What the system says when it cannot start them, or has no such CPUs.
    pub(crate) fn start(checker: Arc<Checker>, n_threads: u32, cpus: &[u32]) -> io::Result<Self> {
        let n_blocks = n_threads as usize * BLOCKS_PER_THREAD;
        let state = State { free: vec![Vec::new(); n_blocks], ..State::default() };
        let shared = Arc::new(Shared {
            checker,
            state: Mutex::new(state),
            has_work: Condvar::new(),
            has_room: Condvar::new(),
        });
        let mut pool = CheckPool { shared, threads: Vec::new() };
        for idx in 0..n_threads {
            let shared = Arc::clone(&pool.shared);
            let (sender, bound) = std::sync::mpsc::sync_channel(1);
            let cpus = cpus.to_vec();
            let thread = std::thread::Builder::new()
                .name(format!("verify.{idx}"))
                .stack_size(STACK_BYTES)
                .spawn(move || {
                    let result = bind_to_cpus(&cpus);
                    let is_bound = result.is_ok();
                    // The starter waits for it.
                    let _sent = sender.send(result);
                    if is_bound {
                        check_all(&shared);
                    }
                })?;
            pool.threads.push(thread);
            bound.recv().map_err(io::Error::other)??;
        }
        Ok(pool)
    }

    /// Copies a block for a thread to check. Waits while all copies are in use.
    pub(crate) fn submit(&self, block: &[u8], op: &Op, facts: ReadFacts) {
        let mut state = self.shared.lock();
        let mut copy = loop {
            if let Some(copy) = state.free.pop() {
                break copy;
            }
            let waited = self.shared.has_room.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        copy.clear();
        copy.extend_from_slice(block);
        self.shared.lock().tasks.push_back(Task { block: copy, op: *op, facts });
        self.shared.has_work.notify_one();
    }

    /// Returns what was found since the last call; with `all` it waits for every check.
    pub(crate) fn late_failures(&self, all: bool) -> LateFailures {
        let mut state = self.shared.lock();
        while all && (state.n_checking > 0 || !state.tasks.is_empty()) {
            let waited = self.shared.has_room.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::take(&mut state.late)
    }

    /// Ends the threads and returns the bad blocks in words.
    pub(crate) fn finish(self) -> BadBlocks {
        let shared = Arc::clone(&self.shared);
        drop(self);
        std::mem::take(&mut shared.lock().bad)
    }
}

impl Drop for CheckPool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.has_work.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has been reported by the runtime.
            let _ended = thread.join();
        }
    }
}

/// Binds the calling thread.
fn bind_to_cpus(cpus: &[u32]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus.iter().map(|cpu| *cpu as usize).filter(|cpu| *cpu < CpuSet::MAX_CPU) {
        set.set(cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Checks blocks until the pool is closed and nothing is left.
fn check_all(shared: &Shared) {
    let mut state = shared.lock();
    loop {
        if let Some(task) = state.tasks.pop_front() {
            state.n_checking += 1;
            drop(state);
            let mut bad = BadBlocks::default();
            let check = || shared.checker.check(&task.block, &task.op, task.facts, &mut bad);
            // A block that cannot be checked is not proven.
            let is_good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
            state = shared.lock();
            state.n_checking -= 1;
            state.free.push(task.block);
            if !is_good.unwrap_or(false) {
                state.late.n_blocks += 1;
                state.late.example.get_or_insert((task.op, EILSEQ));
                state.bad.append(bad);
            }
            shared.has_room.notify_all();
        } else if state.closed {
            return;
        } else {
            let waited = shared.has_work.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}
