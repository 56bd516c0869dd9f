//! A pool of threads that issues I/O in place of the worker (fio's `io_submit_mode=offload`).
//!
//! Each thread has an engine of its own with one operation in flight, over the worker's buffers
//! and files. So whatever blocks in a submission (a synchronous call, a full queue, a lock)
//! blocks that thread alone, and the worker goes on to generate I/O up to the queue depth.
//!
//! A hand-over takes a lock and often wakes a thread: a few microseconds for each operation, which
//! are part of its latency. One queue for all threads and one lock were chosen over a mailbox per
//! thread: a thread that is done takes the next operation without being woken.
//!
//! Not here: what a thread's engine does, see [`offload`]'s argument `make`.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use plan::op::{Completion, Op};

use crate::{Arena, Engine, EngineError, FileTable, Usage, Wait};

/// Stack of a thread of the pool. Its frames are shallow and hold no buffers.
const STACK_BYTES: usize = 256 << 10;

/// Makes the engine of one thread, for one operation in flight.
pub type MakeEngine<'a> =
    dyn Fn(FileTable, Arena) -> Result<Box<dyn Engine>, EngineError> + Send + Sync + 'a;

/// Starts `n_threads` threads (at least one), each with an engine that `make` makes, and returns
/// the engine that hands operations over to them. `n_threads` is the queue depth too.
///
/// Called on the worker's thread: the threads inherit its processors, priorities and user. All of
/// them are ready when it returns.
///
/// # Errors
/// When `make` fails, or a thread cannot be started or be bound to its engine.
///
/// # Panics
/// If there are no threads, or fewer buffers than threads.
pub fn offload(
    n_threads: u32,
    files: FileTable,
    arena: Arena,
    make: &MakeEngine<'_>,
) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(Offload::new(n_threads, files, arena, make)?))
}

impl Offload {
    /// As [`offload`].
    pub(crate) fn new(
        n_threads: u32,
        files: FileTable,
        arena: Arena,
        make: &MakeEngine<'_>,
    ) -> Result<Offload, EngineError> {
        assert!(n_threads > 0, "a thread issues what the worker hands over");
        assert!(arena.n_buffers() >= n_threads, "each operation in flight has a buffer of its own");
        let queue = Arc::new(IssueQueue::new(n_threads as usize, files.generation()));
        let mut pool = Offload {
            queue,
            threads: Vec::with_capacity(n_threads as usize),
            arena,
            files,
            batch_max: n_threads,
            n_in_flight: 0,
            has_failed: false,
            name: String::new(),
            stands_in: false,
        };
        for idx in 0..n_threads {
            let mut engine = make(pool.files.share(), pool.arena.share())?;
            if idx == 0 {
                let threads = units::plural(n_threads, "thread");
                pool.name = format!("{} (issued by {threads})", engine.name());
                pool.stands_in = engine.stands_in();
            }
            let queue = Arc::clone(&pool.queue);
            let thread = std::thread::Builder::new()
                .name(thread_name(idx))
                .stack_size(STACK_BYTES)
                .spawn(move || serve(&queue, engine.as_mut()))
                .map_err(|source| EngineError::System { call: "starting a thread", source })?;
            pool.threads.push(thread);
        }
        pool.wait_until_ready()?;
        Ok(pool)
    }
}

/// Names a thread after the worker that it issues for.
fn thread_name(idx: u32) -> String {
    let thread = std::thread::current();
    format!("{}/{idx}", thread.name().unwrap_or("worker"))
}

/// The operations between the worker and its threads.
struct IssueQueue {
    state: Mutex<QueueState>,
    /// There are operations, or the queue is closed.
    work: Condvar,
    /// The worker has what it waits for.
    enough: Condvar,
}

/// What the lock guards. All of it is allocated before the start.
struct QueueState {
    ops: VecDeque<Op>,
    done: Vec<Completion>,
    /// The worker sleeps until so many have ended; `usize::MAX` while it does not sleep.
    wanted: usize,
    n_ready: usize,
    n_idle: usize,
    /// Files were closed at this change of the worker's table; the threads follow.
    files_generation: u64,
    is_closed: bool,
    failure: Option<EngineError>,
    usage: Usage,
}

impl IssueQueue {
    fn new(n_threads: usize, files_generation: u64) -> IssueQueue {
        IssueQueue {
            state: Mutex::new(QueueState {
                ops: VecDeque::with_capacity(n_threads),
                done: Vec::with_capacity(n_threads),
                wanted: usize::MAX,
                n_ready: 0,
                n_idle: 0,
                files_generation,
                is_closed: false,
                failure: None,
                usage: Usage::default(),
            }),
            work: Condvar::new(),
            enough: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, error: EngineError) {
        self.lock().failure.get_or_insert(error);
        self.enough.notify_one();
    }
}

/// The worker's side.
pub(crate) struct Offload {
    queue: Arc<IssueQueue>,
    threads: Vec<JoinHandle<()>>,
    arena: Arena,
    files: FileTable,
    batch_max: u32,
    /// Operations that were handed over and have not been returned.
    n_in_flight: usize,
    /// A thread could not go on: what is in flight may never end.
    has_failed: bool,
    name: String,
    /// It runs because io_uring is refused.
    pub(crate) stands_in: bool,
}

impl Offload {
    fn wait_until_ready(&self) -> Result<(), EngineError> {
        let n_threads = self.threads.len();
        let waits = |state: &mut QueueState| state.failure.is_none() && state.n_ready < n_threads;
        let state = self.queue.enough.wait_while(self.queue.lock(), waits);
        match state.unwrap_or_else(PoisonError::into_inner).failure.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn join_threads(&mut self) {
        self.queue.lock().is_closed = true;
        self.queue.work.notify_all();
        for thread in self.threads.drain(..) {
            // One that panicked has said so as an error.
            let _panicked = thread.join();
        }
    }

    /// Queues operations and wakes threads that sleep, no more than are needed.
    fn hand_over(&mut self, ops: &[Op]) {
        let (n_in_flight, n_threads) = (self.n_in_flight + ops.len(), self.threads.len());
        assert!(n_in_flight <= n_threads, "{n_in_flight} are in flight on {n_threads} threads");
        self.n_in_flight = n_in_flight;
        let mut state = self.queue.lock();
        state.ops.extend(ops);
        state.files_generation = self.files.generation();
        let n_to_wake = state.n_idle.min(ops.len());
        // A thread that is woken while the lock is held would sleep again at once.
        drop(state);
        for _ in 0..n_to_wake {
            self.queue.work.notify_one();
        }
    }
}

impl Engine for Offload {
    fn exchange(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        if !ops.is_empty() {
            self.hand_over(ops);
        }
        let mut state = self.queue.lock();
        let min = wait.min as usize;
        if state.done.len() < min && state.failure.is_none() {
            state.wanted = min;
            let waits = |state: &mut QueueState| state.done.len() < min && state.failure.is_none();
            let enough = &self.queue.enough;
            state = match wait.timeout_ns.map(Duration::from_nanos) {
                None => enough.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner),
                Some(timeout) => {
                    let waited = enough.wait_timeout_while(state, timeout, waits);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.wanted = usize::MAX;
        }
        self.n_in_flight -= state.done.len();
        done.append(&mut state.done);
        match state.failure.take() {
            Some(error) => {
                self.has_failed = true;
                Err(error)
            }
            None => Ok(()),
        }
    }

    fn batch_max(&self) -> u32 {
        self.batch_max
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn stands_in(&self) -> bool {
        self.stands_in
    }

    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn files(&mut self) -> &mut FileTable {
        &mut self.files
    }

    fn end_threads(&mut self) -> Usage {
        let n_in_flight = self.n_in_flight;
        let is_idle = n_in_flight == 0 || self.has_failed;
        assert!(is_idle, "threads end while {n_in_flight} operations are in flight");
        self.join_threads();
        std::mem::take(&mut self.queue.lock().usage)
    }
}

impl Drop for Offload {
    fn drop(&mut self) {
        self.join_threads();
    }
}

/// Reports a failure if its thread ends by a panic: the worker would wait for ever.
struct PanicGuard<'a>(&'a IssueQueue);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(EngineError::ThreadLost);
        }
    }
}

/// Runs a thread of the pool until the queue is closed.
fn serve(queue: &IssueQueue, engine: &mut dyn Engine) {
    let _guard = PanicGuard(queue);
    let mut done = Vec::with_capacity(1);
    if let Err(error) = engine.exchange(&[], Wait::POLL, &mut done) {
        return queue.fail(error);
    }
    let started = Usage::of_thread();
    let mut state = queue.lock();
    let mut files_generation = state.files_generation;
    state.n_ready += 1;
    queue.enough.notify_one();
    loop {
        while state.ops.is_empty() && !state.is_closed {
            state.n_idle += 1;
            state = queue.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.n_idle -= 1;
        }
        if state.is_closed {
            state.usage += Usage::of_thread().since(started);
            return;
        }
        let Some(op) = state.ops.pop_front() else { continue };
        let must_close = std::mem::replace(&mut files_generation, state.files_generation)
            != state.files_generation;
        drop(state);
        if must_close && let Err(error) = engine.files().close_all() {
            return queue.fail(error);
        }
        let result = match carry_out(engine, op, &mut done) {
            Ok(result) => result,
            Err(error) => return queue.fail(error),
        };
        state = queue.lock();
        state.done.push(Completion { slot: op.slot, result });
        if state.done.len() >= state.wanted {
            queue.enough.notify_one();
        }
    }
}

/// Issues one operation and waits for it.
fn carry_out(
    engine: &mut dyn Engine,
    op: Op,
    done: &mut Vec<Completion>,
) -> Result<i32, EngineError> {
    let wait = Wait { min: 1, timeout_ns: None };
    // The engine has one slot.
    engine.exchange(&[Op { slot: 0, ..op }], wait, done)?;
    loop {
        if let Some(completion) = done.pop() {
            return Ok(completion.result);
        }
        engine.exchange(&[], wait, done)?;
    }
}
