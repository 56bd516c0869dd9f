//! When workers want to be asked again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The times at which workers wake, earliest first.
///
/// A worker that changes its mind leaves its old entry behind, which is put right when its time
/// comes. At most one entry per worker counts, so the heap does not grow with the run.
#[derive(Debug)]
pub(super) struct Wakeups {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// When each worker wants to wake; `u64::MAX` is never.
    wanted_ns: Vec<u64>,
    /// The earliest entry of each worker in the heap; `u64::MAX` is none.
    queued_ns: Vec<u64>,
}

impl Wakeups {
    pub(super) fn new(n_workers: usize) -> Self {
        Wakeups {
            heap: BinaryHeap::with_capacity(2 * n_workers),
            wanted_ns: vec![u64::MAX; n_workers],
            queued_ns: vec![u64::MAX; n_workers],
        }
    }

    /// Wakes a worker at a time, in place of what it wanted before; `u64::MAX` is never.
    #[inline]
    pub(super) fn set(&mut self, worker_idx: u32, at_ns: u64) {
        let idx = worker_idx as usize;
        self.wanted_ns[idx] = at_ns;
        if at_ns < self.queued_ns[idx] {
            self.queued_ns[idx] = at_ns;
            self.heap.push(Reverse((at_ns, worker_idx)));
        }
    }

    /// Returns a time before which no worker wakes; `u64::MAX` if none will.
    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns)
    }

    /// Moves the workers that wake by `now_ns` to `ready`.
    pub(super) fn take(&mut self, now_ns: u64, ready: &mut Vec<u32>) {
        while let Some(Reverse((at_ns, worker_idx))) = self.heap.peek().copied() {
            if at_ns > now_ns {
                return;
            }
            self.heap.pop();
            let idx = worker_idx as usize;
            if self.queued_ns[idx] != at_ns {
                continue;
            }
            self.queued_ns[idx] = u64::MAX;
            let wanted_ns = self.wanted_ns[idx];
            if wanted_ns <= now_ns {
                self.wanted_ns[idx] = u64::MAX;
                ready.push(worker_idx);
            } else if wanted_ns != u64::MAX {
                self.set(worker_idx, wanted_ns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets the wake-ups in order, then takes those due at each time.
    #[track_caller]
    fn check(set: &[(u32, u64)], expected: &[(u64, &[u32])]) {
        let mut wakeups = Wakeups::new(4);
        for (worker_idx, at_ns) in set {
            wakeups.set(*worker_idx, *at_ns);
        }
        for (now_ns, workers) in expected {
            let mut ready = Vec::new();
            wakeups.take(*now_ns, &mut ready);
            assert_eq!(&ready, workers, "at {now_ns}");
        }
        assert_eq!(wakeups.next_ns(), u64::MAX);
    }

    #[test]
    fn the_earliest_wakes_first() {
        check(&[(0, 30), (1, 10), (2, 20)], &[(5, &[]), (20, &[1, 2]), (30, &[0])]);
    }

    #[test]
    fn the_last_wish_counts() {
        check(&[(0, 10), (0, 30)], &[(10, &[]), (29, &[]), (30, &[0])]);
        check(&[(0, 30), (0, 10)], &[(10, &[0]), (30, &[])]);
        check(&[(0, 10), (0, u64::MAX)], &[(10, &[]), (50, &[])]);
        check(&[(0, 30), (0, 10), (0, 20)], &[(10, &[]), (20, &[0]), (30, &[])]);
    }

    #[test]
    fn repeated_wishes_take_one_place() {
        let mut wakeups = Wakeups::new(1);
        for at_ns in 100..10_000 {
            wakeups.set(0, at_ns);
        }
        assert_eq!(wakeups.heap.len(), 1);
    }
}
