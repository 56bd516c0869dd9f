//! A walk that several workers do together: each place goes to one of them.
//!
//! Where a sequential walk goes on follows from one number: where the I/O before it ended. So does
//! a random walk that goes on from there. The workers keep that number in one [`Cursor`]. To claim
//! places, a worker reads it, works out where as many I/Os as it hands over now would go, and
//! writes the end of the last one back, unless another worker was faster: then it begins anew.
//! No worker waits, and one begins anew only because another has made progress.
//!
//! A claim is of neighbours, and no larger than what is handed over at once. So a device sees the
//! order of the walk but for what is in flight, as it does from threads that take turns.
//!
//! Each worker has its own sizes and draws. Which worker reaches a place first differs from run to
//! run, so a run can be repeated exactly only if all I/Os are alike.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use plan::Direction;

use super::Extent;
use super::general::General;

/// Marks a walk that has not begun. No I/O ends there: regions end below 2^63.
const NOT_BEGUN: u64 = u64::MAX;

/// Where the workers of one walk go on. On a cache line of its own, and on its neighbour, which
/// processors load with it.
#[derive(Debug)]
#[repr(align(128))]
pub struct Cursor {
    /// Where the last I/O that was claimed ends.
    end_bytes: AtomicU64,
    /// Where the first one begins.
    first_bytes: u64,
}

impl Cursor {
    /// Makes the cursor of a walk that begins at `first_bytes`.
    pub fn new(first_bytes: u64) -> Arc<Self> {
        Arc::new(Cursor { end_bytes: AtomicU64::new(NOT_BEGUN), first_bytes })
    }
}

/// One worker's side of a walk.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    walk: General,
    cursor: Arc<Cursor>,
    /// The end of the region ends the walk. Otherwise it goes on at the region's start.
    ends: bool,
}

impl Shared {
    pub(super) fn new(walk: General, cursor: Arc<Cursor>) -> Self {
        let ends = walk.ends_with_region();
        Shared { walk, cursor, ends }
    }

    /// Claims the next places, one after another. Returns how many: fewer than there is room for
    /// only at the end of a walk that ends.
    #[inline]
    pub(super) fn fill(&mut self, dir: Direction, out: &mut [Extent]) -> usize {
        let mut seen = self.cursor.end_bytes.load(Relaxed);
        loop {
            let n_found = self.work_out(seen, dir, out);
            let Some(last) = out[..n_found].last() else { return 0 };
            // Nothing else follows from the number: what order memory is seen in does not matter.
            let claimed = &self.cursor.end_bytes;
            match claimed.compare_exchange_weak(seen, last.end(), Relaxed, Relaxed) {
                Ok(_) => return n_found,
                Err(other) => seen = other,
            }
        }
    }

    /// Works out where the I/Os behind `seen` would go.
    fn work_out(&mut self, seen: u64, dir: Direction, out: &mut [Extent]) -> usize {
        let end_bytes = (seen != NOT_BEGUN).then_some(seen);
        self.walk.go_on_from(end_bytes, self.cursor.first_bytes);
        for (n_found, place) in out.iter_mut().enumerate() {
            let mut next = self.walk.next(dir);
            if next.is_none() && !self.ends {
                self.walk.rewind(dir);
                next = self.walk.next(dir);
            }
            match next {
                Some(extent) => *place = extent,
                None => return n_found,
            }
        }
        out.len()
    }
}
