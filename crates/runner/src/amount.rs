//! The most that all jobs of a step move together.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plan::Direction;
use plan::job::AmountMax;
use worker::Meters;

/// Longest time between two looks, nanoseconds: as often as a step looks at requests to stop.
const LOOK_MAX_NS: u64 = 50_000_000;

/// Shortest time between two looks, nanoseconds.
const LOOK_MIN_NS: u64 = 1_000_000;

/// Watches how much a step has moved in its measured time.
///
/// It looks again when half of what is left should have been moved at the speed since the last
/// look, within 1 to 50 ms: a step at a steady speed ends with what is moved in a millisecond, and
/// what is in flight then, beyond the amount; one that becomes much faster at the end with up to
/// 50 ms of it.
#[derive(Debug)]
pub(crate) struct AmountWatch {
    max: AmountMax,
    members: Vec<Arc<Meters>>,
    seen_bytes: [u64; 3],
    seen_ns: u64,
    next_ns: u64,
}

impl AmountWatch {
    /// Watches the workers with these counters; `None` where there is no limit.
    pub(crate) fn new(max: AmountMax, members: Vec<Arc<Meters>>, now_ns: u64) -> Option<Self> {
        let watch =
            AmountWatch { max, members, seen_bytes: [0; 3], seen_ns: now_ns, next_ns: now_ns };
        (max != AmountMax::default()).then_some(watch)
    }

    /// Returns when to look again.
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Looks if it is time to. Says whether the amount has been moved.
    pub(crate) fn is_reached(&mut self, now_ns: u64) -> bool {
        if now_ns < self.next_ns {
            return false;
        }
        let now = self.moved_bytes();
        let passed_ns = now_ns.saturating_sub(self.seen_ns).max(1);
        let mut wait_ns = LOOK_MAX_NS;
        for (idx, limit) in self.limits().into_iter().enumerate() {
            let Some(left) = limit.map(|limit| limit.saturating_sub(now[idx])) else { continue };
            if left == 0 {
                return true;
            }
            let moved = now[idx].saturating_sub(self.seen_bytes[idx]);
            let until_ns = u128::from(left) * u128::from(passed_ns) / u128::from(moved.max(1)) / 2;
            wait_ns = wait_ns.min(u64::try_from(until_ns).unwrap_or(u64::MAX));
        }
        (self.seen_bytes, self.seen_ns) = (now, now_ns);
        self.next_ns = now_ns + wait_ns.max(LOOK_MIN_NS);
        false
    }

    /// Returns the limits of what is moved in all, read and written.
    fn limits(&self) -> [Option<u64>; 3] {
        let AmountMax { total_bytes, read_bytes, write_bytes } = self.max;
        [total_bytes, read_bytes, write_bytes].map(|limit| (limit > 0).then_some(limit))
    }

    fn moved_bytes(&self) -> [u64; 3] {
        let of_dir = |dir: Direction| -> u64 {
            self.members.iter().map(|meters| meters.dir(dir).bytes.load(Relaxed)).sum()
        };
        let (read, write) = (of_dir(Direction::Read), of_dir(Direction::Write));
        [read + write, read, write]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_more_often_the_nearer_the_end_is() {
        let meters = Meters::new();
        let max = AmountMax { write_bytes: 1_000_000, ..AmountMax::default() };
        let mut watch = AmountWatch::new(max, vec![Arc::clone(&meters)], 0).expect("a limit");
        // 10 bytes a microsecond: the end is at 100 ms.
        let (mut now_ns, mut n_looks) = (0, 0);
        while !watch.is_reached(now_ns) {
            now_ns = watch.next_ns();
            n_looks += 1;
            meters.dir(Direction::Write).bytes.store(now_ns / 100, Relaxed);
            assert!(n_looks < 20, "at {now_ns} ns");
        }
        assert!((100_000_000..=101_000_000).contains(&now_ns), "{now_ns}");
    }

    #[test]
    fn each_limit_counts_what_it_is_of() {
        let meters = Meters::new();
        meters.dir(Direction::Read).bytes.store(600, Relaxed);
        meters.dir(Direction::Write).bytes.store(500, Relaxed);
        let reached = |total_bytes, read_bytes, write_bytes| {
            let max = AmountMax { total_bytes, read_bytes, write_bytes };
            AmountWatch::new(max, vec![Arc::clone(&meters)], 0).map(|mut it| it.is_reached(0))
        };
        assert_eq!(reached(0, 0, 0), None);
        assert_eq!((reached(1100, 0, 0), reached(1101, 0, 0)), (Some(true), Some(false)));
        assert_eq!((reached(0, 600, 0), reached(0, 601, 0)), (Some(true), Some(false)));
        assert_eq!((reached(0, 0, 500), reached(0, 0, 501)), (Some(true), Some(false)));
    }
}
