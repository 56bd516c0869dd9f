//! I/O that overlaps one in flight waits for it, over all workers that ask for it
//! (`serialize_overlap` together with `io_submit_mode=offload`).
//!
//! A thread waits for others here between start and stop, because the job asks for it. It claims
//! one range at a time and holds nothing while it waits, so that no two can wait for each other.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use engine::{Engine, EngineError, Layer, Wait};
use plan::op::{Completion, Op};

use crate::bind::{BoundFile, BoundStep, BoundWorker};

/// What is in flight on the files of a step, by path.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    by_path: HashMap<PathBuf, Arc<Ranges>>,
}

impl Overlaps {
    /// Makes room for what the workers that ask for it may have in flight at once.
    pub(crate) fn new(step: &BoundStep) -> Self {
        let mut n_ranges: HashMap<PathBuf, usize> = HashMap::new();
        for worker in step.workers.iter().filter(|worker| asks(worker)) {
            for file in &worker.files {
                let n = n_ranges.entry(file.path.clone()).or_default();
                *n += worker.job.load.queue_depth.max(1) as usize;
            }
        }
        let make = |(path, n)| (path, Arc::new(Ranges::new(n)));
        Overlaps { by_path: n_ranges.into_iter().map(make).collect() }
    }

    /// Returns the ranges of a worker's files in order; `None` unless it asks for it.
    pub(crate) fn of(&self, worker: &BoundWorker) -> Option<WorkerRanges> {
        if !asks(worker) {
            return None;
        }
        let of_file = |file: &BoundFile| {
            let (ranges, path) = (self.by_path.get(&file.path), file.path.display());
            assert!(ranges.is_some(), "I/O on `{path}` waits for that of another step");
            ranges.map(Arc::clone)
        };
        Some(WorkerRanges(worker.files.iter().filter_map(of_file).collect()))
    }
}

fn asks(worker: &BoundWorker) -> bool {
    worker.job.load.offload && worker.job.load.serialize_overlap
}

/// The ranges of one worker's files.
#[derive(Clone, Debug)]
pub(crate) struct WorkerRanges(Vec<Arc<Ranges>>);

/// Bytes of one file that are in flight.
#[derive(Debug)]
struct Ranges {
    /// First byte, and the byte after the last.
    claimed: Mutex<Vec<(u64, u64)>>,
    freed: Condvar,
}

impl Ranges {
    fn new(n: usize) -> Self {
        Ranges { claimed: Mutex::new(Vec::with_capacity(n)), freed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, u64)>> {
        // No code that can panic runs under the lock.
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nothing in flight overlaps the range, and claims it.
    fn claim(&self, (start, end): (u64, u64)) {
        let overlaps = |claimed: &mut Vec<(u64, u64)>| {
            claimed.iter().any(|other| start < other.1 && other.0 < end)
        };
        let claimed = self.freed.wait_while(self.lock(), overlaps);
        claimed.unwrap_or_else(PoisonError::into_inner).push((start, end));
    }

    /// Gives a range back. Ranges that are claimed at the same time differ, so it is the only one.
    fn release(&self, range: (u64, u64)) {
        let mut claimed = self.lock();
        let idx = claimed.iter().position(|other| *other == range);
        if let Some(idx) = idx {
            claimed.swap_remove(idx);
        }
        // No panic under the lock.
        drop(claimed);
        assert!(idx.is_some(), "a range is given back by who claimed it");
        self.freed.notify_all();
    }
}

/// An engine with one operation in flight, which waits for what overlaps it.
pub(crate) struct Serialized {
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) ranges: WorkerRanges,
}

impl Layer for Serialized {
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
        let [op] = ops else { return self.engine.exchange(ops, wait, done) };
        let range = (op.offset, op.offset.saturating_add(u64::from(op.len)));
        let ranges = self.ranges.0.get(op.file.0 as usize).filter(|_| op.len > 0);
        let Some(ranges) = ranges else { return self.engine.exchange(ops, wait, done) };
        ranges.claim(range);
        let n_before = done.len();
        let mut result = self.engine.exchange(ops, wait, done);
        while result.is_ok() && done.len() == n_before {
            result = self.engine.exchange(&[], Wait { min: 1, timeout_ns: None }, done);
        }
        ranges.release(range);
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn ranges_that_overlap_are_never_claimed_together() {
        const N_BLOCKS: usize = 8;
        let ranges = Ranges::new(4);
        let users: [AtomicU32; N_BLOCKS] = std::array::from_fn(|_| AtomicU32::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4_usize {
                let (ranges, users) = (&ranges, &users);
                scope.spawn(move || {
                    for round in 0..2_000 {
                        let start = (round * (thread + 1)) % (N_BLOCKS - 1);
                        let range = (start as u64 * 512, start as u64 * 512 + 1024);
                        ranges.claim(range);
                        for user in &users[start..start + 2] {
                            assert_eq!(user.fetch_add(1, Ordering::Relaxed), 0);
                        }
                        for user in &users[start..start + 2] {
                            user.fetch_sub(1, Ordering::Relaxed);
                        }
                        ranges.release(range);
                    }
                });
            }
        });
        assert!(ranges.lock().is_empty());
    }

    #[test]
    fn a_range_that_was_not_claimed_is_not_given_back() {
        let expected = "a range is given back by who claimed it";
        testing::check_wrong_calls(&[("another range", expected, &|| {
            let ranges = Ranges::new(2);
            ranges.claim((0, 4096));
            ranges.release((0, 8192));
        })]);
    }

    #[test]
    fn ranges_that_touch_do_not_overlap() {
        let ranges = Ranges::new(2);
        ranges.claim((0, 4096));
        ranges.claim((4096, 8192));
        assert_eq!(ranges.lock().len(), 2);
    }
}
