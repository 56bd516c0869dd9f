//! What happens when: a queue ordered by time.

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

/// A binary heap, least moment first. It allocates only when it grows beyond what was reserved.
#[derive(Clone, Debug)]
pub(crate) struct TimeHeap {
    entries: Vec<Entry>,
    /// Moment of the first entry; `u64::MAX` if there is none. It is asked for several times per
    /// operation.
    next_ns: u64,
    /// Counts entries; wraps after 2^32, when no entry is as old.
    n_entered: u32,
}

impl TimeHeap {
    pub(crate) fn with_capacity(n: usize) -> TimeHeap {
        TimeHeap { entries: Vec::with_capacity(n), next_ns: u64::MAX, n_entered: 0 }
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
        if self.entries.is_empty() {
            self.n_entered = 0;
        }
        let order = u64::from(self.n_entered) << 32 | u64::from(name);
        self.n_entered = self.n_entered.wrapping_add(1);
        self.next_ns = self.next_ns.min(at_ns);
        let entry = Entry(u128::from(at_ns) << 64 | u128::from(order));
        let mut idx = self.entries.len();
        self.entries.push(entry);
        while idx > 0 {
            let parent = (idx - 1) / 2;
            if self.entries[parent] <= entry {
                break;
            }
            self.entries[idx] = self.entries[parent];
            idx = parent;
        }
        self.entries[idx] = entry;
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
        let last = self.entries.pop()?;
        let Some(&first) = self.entries.first() else {
            self.next_ns = u64::MAX;
            return Some(last.name());
        };
        self.sift_down(last);
        self.next_ns = self.entries[0].at_ns();
        Some(first.name())
    }

    /// Puts `entry` where the first one was, and restores the order.
    #[inline]
    fn sift_down(&mut self, entry: Entry) {
        let entries = self.entries.as_mut_slice();
        let mut idx = 0;
        loop {
            let mut child = 2 * idx + 1;
            if child >= entries.len() {
                break;
            }
            if child + 1 < entries.len() {
                // Which one is a coin toss: no branch that would be guessed wrong.
                child += usize::from(entries[child + 1] < entries[child]);
            }
            if entry <= entries[child] {
                break;
            }
            entries[idx] = entries[child];
            idx = child;
        }
        entries[idx] = entry;
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.next_ns = u64::MAX;
    }
}
