//! What happens when: a queue ordered by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Places for entries that stand in order. To put one among so few costs less than to go through a
/// heap, and what the next one is needs no search; among more it would cost more.
const N_PLACES: usize = 128;

/// A moment and what happens then, as one number that compares fast: the time, then the number of
/// the entry, so that equal moments keep the order they were entered in, then the caller's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    #[inline]
    fn at_ns(self) -> u64 {
        (self.0 >> 64) as u64
    }

    #[inline]
    fn name(self) -> u32 {
        self.0 as u32
    }
}

/// A queue, least moment first. It allocates only when it grows beyond what was reserved.
#[derive(Clone, Debug)]
pub(crate) struct TimeQueue {
    /// The next ones, in order, after those that have been taken out.
    near: Vec<Entry>,
    /// How many of `near` have been taken out; never all.
    n_taken: usize,
    /// Those that come after all of `near`; none if that is empty.
    far: BinaryHeap<Reverse<Entry>>,
    /// Moment of the first entry; `u64::MAX` if there is none. It is asked for several times per
    /// operation.
    next_ns: u64,
    /// Counts entries; wraps after 2^32, when no entry is as old.
    n_entered: u32,
}

impl TimeQueue {
    pub(crate) fn with_capacity(n: usize) -> TimeQueue {
        TimeQueue {
            near: Vec::with_capacity(N_PLACES),
            n_taken: 0,
            far: BinaryHeap::with_capacity(n),
            next_ns: u64::MAX,
            n_entered: 0,
        }
    }

    /// Returns the next moment; `u64::MAX` if there is none.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    #[expect(
        clippy::inline_always,
        reason = "a call costs as much as what it does to a short queue"
    )]
    #[inline(always)]
    pub(crate) fn push(&mut self, at_ns: u64, name: u32) {
        if self.near.is_empty() {
            self.n_entered = 0;
        }
        let order = u64::from(self.n_entered) << 32 | u64::from(name);
        self.n_entered = self.n_entered.wrapping_add(1);
        self.next_ns = self.next_ns.min(at_ns);
        let entry = Entry(u128::from(at_ns) << 64 | u128::from(order));
        if self.near.len() < N_PLACES && self.far.is_empty() {
            self.put_near(entry);
        } else {
            self.push_among_many(entry);
        }
    }

    /// Puts an entry among those that stand in order, for which there is a place.
    #[inline]
    fn put_near(&mut self, entry: Entry) {
        let mut idx = self.near.len();
        self.near.push(entry);
        // Most come late: there is little to move.
        while idx > self.n_taken && self.near[idx - 1] > entry {
            self.near[idx] = self.near[idx - 1];
            idx -= 1;
        }
        self.near[idx] = entry;
    }

    /// Puts an entry where it belongs when the places are used up, or there are more entries.
    #[inline(never)]
    fn push_among_many(&mut self, entry: Entry) {
        if self.near.len() == N_PLACES {
            self.near.drain(..self.n_taken);
            self.n_taken = 0;
        }
        let has_room = self.far.is_empty() && self.near.len() <= N_PLACES / 2;
        let is_near = has_room || self.near.last().is_some_and(|last| entry < *last);
        if !is_near {
            self.far.push(Reverse(entry));
            return;
        }
        if self.near.len() == N_PLACES {
            self.far.extend(self.near.pop().map(Reverse));
        }
        self.put_near(entry);
    }

    /// Takes the first entry out, if its moment is not after `now_ns`. Returns its name.
    #[expect(
        clippy::inline_always,
        reason = "a call costs as much as what it does to a short queue"
    )]
    #[inline(always)]
    pub(crate) fn pop_until(&mut self, now_ns: u64) -> Option<u32> {
        if self.next_ns > now_ns {
            return None;
        }
        let first = *self.near.get(self.n_taken)?;
        self.n_taken += 1;
        if self.n_taken == self.near.len() {
            self.near.clear();
            self.n_taken = 0;
            if !self.far.is_empty() {
                self.bring_near();
            }
        }
        self.next_ns = self.near.get(self.n_taken).map_or(u64::MAX, |next| next.at_ns());
        Some(first.name())
    }

    /// Brings the next of many near. Half of the places are left for what comes in between.
    #[inline(never)]
    fn bring_near(&mut self) {
        let next = std::iter::from_fn(|| self.far.pop());
        self.near.extend(next.take(N_PLACES / 2).map(|Reverse(entry)| entry));
    }

    pub(crate) fn clear(&mut self) {
        self.near.clear();
        self.n_taken = 0;
        self.far.clear();
        self.next_ns = u64::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes on with `n` entries in the queue at a time, and checks that each comes when it is due.
    #[track_caller]
    fn check(n: u32) {
        let mut queue = TimeQueue::with_capacity(n as usize);
        let mut waiting = std::collections::BTreeSet::new();
        let mut now_ns = 1;
        for name in 0..20 * n + 1000 {
            // Every few at the same moment, and some far away.
            let far_ns = if name % 7 == 0 { 10_000 } else { 0 };
            let at_ns = now_ns + u64::from(name.wrapping_mul(0x9E37_79B9) >> 22) / 3 + far_ns;
            queue.push(at_ns, name);
            waiting.insert((at_ns, name));
            while waiting.len() > n as usize {
                let (at_ns, name) = waiting.pop_first().expect("there are some");
                assert_eq!(queue.next_ns(), at_ns);
                assert_eq!(queue.pop_until(at_ns.saturating_sub(1)), None);
                assert_eq!(queue.pop_until(at_ns), Some(name));
                now_ns = at_ns;
            }
        }
        for (at_ns, name) in waiting {
            assert_eq!((queue.next_ns(), queue.pop_until(at_ns)), (at_ns, Some(name)));
        }
        assert_eq!((queue.next_ns(), queue.pop_until(u64::MAX)), (u64::MAX, None));
    }

    #[test]
    fn everything_comes_in_order_of_time_and_entry() {
        for n in [0, 1, 2, 5, 63, 64, 65, 66, 127, 128, 129, 130, 300, 1000] {
            check(n);
        }
    }
}
