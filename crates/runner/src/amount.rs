//! The most that all jobs of a step move together.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use plan::Direction;
use plan::job::AmountMax;
use worker::Meters;

/// Longest time between two looks, nanoseconds: as often as a step looks at requests to stop.
const LOOK_MAX_NS: u64 = 50_000_000;

/// Shortest time between two looks, nanoseconds.
const LOOK_MIN_NS: u64 = 1_000_000;

/// How much the threads of a step have moved together: the one that finds the amount moved ends,
/// and so do all others when they look. Beyond the amount there is what was in flight then.
#[derive(Debug)]
pub(crate) struct Moved {
    max: AmountMax,
    /// Read and written.
    bytes: [AtomicU64; 2],
}

impl Moved {
    /// Begins to count; `None` where there is no limit.
    pub(crate) fn new(max: AmountMax) -> Option<Arc<Self>> {
        let moved = Moved { max, bytes: Default::default() };
        (max != AmountMax::default()).then(|| Arc::new(moved))
    }
}

/// What one thread of a step adds to what all have moved.
#[derive(Clone, Debug)]
pub(crate) struct AmountShare {
    moved: Arc<Moved>,
    meters: Arc<Meters>,
    counted_bytes: [u64; 2],
}

impl AmountShare {
    /// Makes the share of a thread with these counters.
    pub(crate) fn new(moved: &Arc<Moved>, meters: &Arc<Meters>) -> Self {
        let (moved, meters) = (Arc::clone(moved), Arc::clone(meters));
        AmountShare { moved, meters, counted_bytes: [0; 2] }
    }

    /// Adds what the thread has moved since the last call. Says whether all have moved the amount.
    pub(crate) fn is_reached(&mut self) -> bool {
        let dirs = [Direction::Read, Direction::Write];
        for (idx, dir) in dirs.into_iter().enumerate() {
            let now = self.meters.dir(dir).bytes.load(Relaxed);
            if now > self.counted_bytes[idx] {
                let more = now - self.counted_bytes[idx];
                self.moved.bytes[idx].fetch_add(more, Relaxed);
            }
            self.counted_bytes[idx] = now;
        }
        let [read, write] = self.moved.bytes.each_ref().map(|bytes| bytes.load(Relaxed));
        let moved = [read + write, read, write];
        limits(self.moved.max)
            .iter()
            .zip(moved)
            .any(|(max, moved)| max.is_some_and(|it| moved >= it))
    }
}

/// Returns the limits of what is moved in all, read and written.
fn limits(max: AmountMax) -> [Option<u64>; 3] {
    let AmountMax { total_bytes, read_bytes, write_bytes } = max;
    [total_bytes, read_bytes, write_bytes].map(|limit| (limit > 0).then_some(limit))
}

/// Watches from outside how much a step has moved in its measured time: it wakes workers that wait,
/// and ends steps without threads.
///
/// It looks again when half of what is left should have been moved at the speed since the last
/// look, within 1 to 50 ms, and after no more than twice the time between the last two looks.
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
        let [all, before] = [now[0], self.seen_bytes[0]];
        assert!(all >= before, "{before} B were moved, and now {all} B");
        let passed_ns = now_ns.saturating_sub(self.seen_ns).max(1);
        let mut wait_ns = LOOK_MAX_NS.min(passed_ns.saturating_mul(2));
        for (idx, limit) in limits(self.max).into_iter().enumerate() {
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
    fn threads_end_when_all_have_moved_the_amount() {
        let members = [Meters::new(), Meters::new()];
        let max = AmountMax { total_bytes: 1000, ..AmountMax::default() };
        let moved = Moved::new(max).expect("a limit");
        let mut shares = [0, 1].map(|idx: usize| AmountShare::new(&moved, &members[idx]));
        let mut at = |idx: usize, bytes: u64| {
            members[idx].dir(Direction::Write).bytes.store(bytes, Relaxed);
            shares[idx].is_reached()
        };
        assert_eq!([at(0, 600), at(1, 399), at(0, 600)], [false, false, false]);
        assert_eq!([at(1, 400), at(0, 600)], [true, true]);
        assert!(Moved::new(AmountMax::default()).is_none());
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
