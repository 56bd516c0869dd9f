//! Operations that are due and that their worker has no file or folder for: whoever of the job has
//! one does them.
//!
//! Each worker has a schedule of its own. Where there are fewer files than workers, those without
//! one hand on what is due, so that the rate of the job holds. Handing on never waits: it is a ring
//! of fixed size, in which each place is written and read in turn.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Places of the ring: seconds of what one file carries. What does not fit stays with its worker.
const N_PLACES: u64 = 1024;

/// Workers that look out for what others hand on instead of sleeping until their own next turn. A
/// few are enough to begin with it; the others help when they are awake.
const N_WATCHERS_MAX: u32 = 2;

/// What the workers of a job hand on to each other.
#[derive(Debug)]
pub(super) struct Overdue {
    places: Box<[RingPlace]>,
    /// Times that something was put in, and taken out.
    n_put: AtomicU64,
    n_taken: AtomicU64,
    /// Workers without a file, and those that look out.
    n_waiting: AtomicU32,
    n_watching: AtomicU32,
}

#[derive(Debug)]
struct RingPlace {
    /// Says whose turn it is: `k` of the putting with that number, `k + 1` of the taking.
    turn: AtomicU64,
    due_ns: AtomicU64,
}

impl Default for Overdue {
    fn default() -> Self {
        let place = |k| RingPlace { turn: AtomicU64::new(k), due_ns: AtomicU64::new(0) };
        Overdue {
            places: (0..N_PLACES).map(place).collect(),
            n_put: AtomicU64::new(0),
            n_taken: AtomicU64::new(0),
            n_waiting: AtomicU32::new(0),
            n_watching: AtomicU32::new(0),
        }
    }
}

impl Overdue {
    /// Hands on an operation that was due. Returns false where there is no room.
    pub(super) fn put(&self, due_ns: u64) -> bool {
        let mut k = self.n_put.load(Relaxed);
        loop {
            let place = &self.places[(k % N_PLACES) as usize];
            let turn = place.turn.load(Acquire);
            if turn < k {
                return false;
            }
            if turn > k {
                k = self.n_put.load(Relaxed);
                continue;
            }
            match self.n_put.compare_exchange_weak(k, k + 1, Relaxed, Relaxed) {
                Ok(_) => {
                    place.due_ns.store(due_ns, Relaxed);
                    place.turn.store(k + 1, Release);
                    return true;
                }
                Err(now) => k = now,
            }
        }
    }

    /// Takes what was handed on first. Returns when it was due.
    pub(super) fn take(&self) -> Option<u64> {
        let mut k = self.n_taken.load(Relaxed);
        loop {
            let place = &self.places[(k % N_PLACES) as usize];
            let turn = place.turn.load(Acquire);
            if turn <= k {
                return None;
            }
            if turn > k + 1 {
                k = self.n_taken.load(Relaxed);
                continue;
            }
            match self.n_taken.compare_exchange_weak(k, k + 1, Relaxed, Relaxed) {
                Ok(_) => {
                    let due_ns = place.due_ns.load(Relaxed);
                    place.turn.store(k + N_PLACES, Release);
                    return Some(due_ns);
                }
                Err(now) => k = now,
            }
        }
    }

    /// Counts a worker without a file, or no longer.
    pub(super) fn count_waiting(&self, waits: bool) {
        count(&self.n_waiting, waits);
    }

    /// Returns whether any worker has no file.
    pub(super) fn has_waiting(&self) -> bool {
        self.n_waiting.load(Acquire) > 0
    }

    /// Lets a worker look out, if not enough do.
    pub(super) fn may_watch(&self) -> bool {
        let more = |n: u32| (n < N_WATCHERS_MAX).then_some(n + 1);
        self.n_watching.fetch_update(AcqRel, Acquire, more).is_ok()
    }

    /// Counts a worker that no longer looks out.
    pub(super) fn end_watch(&self) {
        count(&self.n_watching, false);
    }
}

fn count(n: &AtomicU32, is_more: bool) {
    let n_before = if is_more { n.fetch_add(1, AcqRel) } else { n.fetch_sub(1, AcqRel) };
    assert!(is_more || n_before > 0, "a worker waits no longer that did not wait");
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    use super::{N_PLACES, Overdue};

    #[test]
    fn what_is_handed_on_comes_out_in_its_order_and_no_more_than_fits() {
        let ring = Overdue::default();
        for round in 0..3 {
            assert_eq!(ring.take(), None);
            for k in 0..N_PLACES {
                assert!(ring.put(round * 10_000 + k));
            }
            assert!(!ring.put(1), "full");
            for k in 0..N_PLACES {
                assert_eq!(ring.take(), Some(round * 10_000 + k));
            }
        }
    }

    #[test]
    fn who_waits_no_longer_did_wait() {
        let expected = "a worker waits no longer that did not wait";
        testing::check_wrong_calls(&[
            ("for a file", expected, &|| Overdue::default().count_waiting(false)),
            ("for what others hand on", expected, &|| Overdue::default().end_watch()),
        ]);
    }

    #[test]
    fn nothing_is_lost_or_done_twice_between_threads() {
        let ring = Overdue::default();
        let (sum, n) = (AtomicU64::new(0), AtomicU64::new(0));
        let n_each = 20_000;
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let ring = &ring;
                scope.spawn(move || {
                    for k in 1..=n_each {
                        while !ring.put(thread * n_each + k) {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    while n.load(Relaxed) < 2 * n_each {
                        match ring.take() {
                            Some(due_ns) => {
                                sum.fetch_add(due_ns, Relaxed);
                                n.fetch_add(1, Relaxed);
                            }
                            None => std::thread::yield_now(),
                        }
                    }
                });
            }
        });
        let all = 2 * n_each;
        assert_eq!(sum.load(Relaxed), all * (all + 1) / 2);
        assert_eq!(ring.take(), None);
    }

    #[test]
    fn few_look_out() {
        let ring = Overdue::default();
        assert!(ring.may_watch() && ring.may_watch() && !ring.may_watch());
        ring.end_watch();
        assert!(ring.may_watch());
    }
}
