//! Locks between workers that share a file (`lockfile`).
//!
//! The one place where a worker waits for another between start and stop, because the job asks for
//! it. I/O under a lock goes one by one, whatever the queue depth: holding a lock while other I/O
//! of the worker waits for a second lock could stop two workers for ever.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use engine::{Engine, EngineError, Layer, Wait};
use plan::files::LockFile;
use plan::op::{Completion, Op, OpKind};

use crate::bind::{BoundFile, BoundStep, BoundWorker};

/// The locks of a step, by path.
#[derive(Debug, Default)]
pub(crate) struct FileLocks {
    by_path: HashMap<PathBuf, Arc<RwLock<()>>>,
}

impl FileLocks {
    /// Makes a lock for each file whose workers ask for one.
    pub(crate) fn new(step: &BoundStep) -> Self {
        let locking = step.workers.iter().filter(|w| w.job.files.lock != LockFile::None);
        let paths = locking.flat_map(|worker| &worker.files).map(|file| file.path.clone());
        FileLocks { by_path: paths.map(|path| (path, Arc::default())).collect() }
    }

    /// Returns the locks of a worker's files in order, and how they are taken; `None` without.
    pub(crate) fn of(&self, worker: &BoundWorker) -> Option<WorkerLocks> {
        if worker.job.files.lock == LockFile::None {
            return None;
        }
        let lock = |file: &BoundFile| {
            let (lock, path) = (self.by_path.get(&file.path), file.path.display());
            assert!(lock.is_some(), "`{path}` is locked in another step");
            lock.map(Arc::clone)
        };
        Some(WorkerLocks {
            shares_reads: worker.job.files.lock == LockFile::ReadWrite,
            locks: worker.files.iter().filter_map(lock).collect(),
        })
    }
}

/// The locks of one worker.
#[derive(Clone, Debug)]
pub(crate) struct WorkerLocks {
    shares_reads: bool,
    locks: Vec<Arc<RwLock<()>>>,
}

/// An engine that holds the lock of a file while it works on it.
pub(crate) struct Locked {
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) locks: WorkerLocks,
}

impl Locked {
    fn carry_out(&mut self, op: &Op, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let wait = Wait { min: 1, timeout_ns: None };
        let Some(lock) = self.locks.locks.get(op.file.0 as usize) else {
            return self.engine.exchange(&[*op], wait, done);
        };
        // A lock guards no memory, so one left by a panic is as good as any other.
        if self.locks.shares_reads && op.kind == OpKind::Read {
            let _shared = lock.read().unwrap_or_else(PoisonError::into_inner);
            self.engine.exchange(&[*op], wait, done)
        } else {
            let _alone = lock.write().unwrap_or_else(PoisonError::into_inner);
            self.engine.exchange(&[*op], wait, done)
        }
    }
}

impl Layer for Locked {
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
        if ops.is_empty() {
            return self.engine.exchange(ops, wait, done);
        }
        ops.iter().try_for_each(|op| self.carry_out(op, done))
    }
}
