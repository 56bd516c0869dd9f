//! The histogram that a worker writes while others read.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use crate::bucket::{N_BUCKETS, bucket_index};
use crate::histogram::{Histogram, Moments};

/// How often a reader tries for a moment in which the writer added nothing.
///
/// One try reads a few hundred buckets in under a microsecond, and workers record in bursts, so
/// the first try nearly always works. Chosen so that a snapshot stays below 100 us.
const MAX_TRIES: u32 = 64;

/// Marks `n_begun` while a reset is under way; no count reaches it.
const RESETTING: u64 = u64::MAX;

/// A histogram with one writer and any number of readers, without locks.
///
/// The writer uses plain loads and stores (no `lock` prefix): about 2 ns per value. A second
/// concurrent writer would lose counts, though nothing worse; each worker has its own. Counts wrap
/// at 2^64, which only [`LiveHistogram::record_n`] with made-up numbers could reach; saturating
/// there doubled the cost of a value.
///
/// It is a sequence lock with two numbers (L. Lamport, "Concurrent reading and writing", CACM 20,
/// 1977), with the fences of H.-J. Boehm, "Can seqlocks get along with programming language memory
/// models?", MSPC 2012: the writer counts values begun before each update and values finished
/// behind it, a reader reads them the other way round, and has seen a whole number of values where
/// they are equal. If they are not it tries again, but other than at a sequence lock not for ever.
/// Should the writer outrun the reader every time, the snapshot's sum and extremes belong to an
/// instant a few values before its buckets: an interval boundary shifts, no value is wrong. What
/// [`LiveHistogram::record_all`] adds is such a few values. Sum and extremes, a few words, are
/// tried on their own as often.
///
/// Memory comes zeroed from the system and only touched pages are backed: 58 KiB at most.
#[derive(Debug)]
pub struct LiveHistogram {
    n_begun: AtomicU64,
    n_finished: AtomicU64,
    sum_lo: AtomicU64,
    sum_hi: AtomicU64,
    squares_lo: AtomicU64,
    squares_hi: AtomicU64,
    /// The bitwise complement of the minimum, so that zero means none yet.
    min_inverted: AtomicU64,
    max_ns: AtomicU64,
    n_resets: AtomicU64,
    buckets: [AtomicU64; N_BUCKETS],
}

/// What [`LiveHistogram::record_all`] has added so far.
#[derive(Default)]
struct Added {
    n: u64,
    sum_ns: u128,
    sum_squares: u128,
    min_ns: u64,
    max_ns: u64,
}

impl LiveHistogram {
    /// Returns an empty histogram. Boxed, as 58 KiB do not belong on a stack.
    pub fn new() -> Box<Self> {
        // SAFETY: see the implementation of `Zeroed`.
        unsafe { Box::<Self>::new_zeroed().assume_init() }
    }

    /// Adds one value. For the one writer.
    #[inline]
    pub fn record(&self, latency_ns: u64) {
        self.add(latency_ns, 1, u128::from(latency_ns), square(latency_ns));
    }

    /// Adds a value `n` times. For the one writer.
    #[inline]
    pub fn record_n(&self, latency_ns: u64, n: u64) {
        if n == 1 {
            self.record(latency_ns); // the usual case, without products of 128 bits
        } else if n > 0 {
            let times = u128::from(n);
            let sum = u128::from(latency_ns) * times;
            self.add(latency_ns, n, sum, square(latency_ns).saturating_mul(times));
        }
    }

    /// Adds many values, each so many times. For the one writer.
    ///
    /// Costs less than one by one: sums are kept aside until the end, and equal values in a row are
    /// taken as one.
    pub fn record_all(&self, values: impl IntoIterator<Item = (u64, u64)>) {
        let mut values = values.into_iter();
        let Some((mut latency_ns, mut n)) = values.next() else { return };
        let n_before = self.n_finished.load(Relaxed);
        // Any number but what is finished: readers see that something is under way.
        self.n_begun.store(n_before.wrapping_add(1), Relaxed);
        fence(Release); // Everything below is seen after the line above.
        let mut added = Added { min_ns: u64::MAX, ..Added::default() };
        for (next_ns, n_next) in values {
            if next_ns != latency_ns {
                self.count_in(latency_ns, n, &mut added);
                (latency_ns, n) = (next_ns, 0);
            }
            n += n_next;
        }
        self.count_in(latency_ns, n, &mut added);
        add_wide(&self.sum_lo, &self.sum_hi, added.sum_ns);
        add_wide(&self.squares_lo, &self.squares_hi, added.sum_squares);
        self.widen(added.min_ns, added.max_ns);
        let n_values = n_before.wrapping_add(added.n);
        self.n_begun.store(n_values, Relaxed);
        self.n_finished.store(n_values, Release);
    }

    /// Counts a value in its bucket and in what is added.
    #[inline]
    fn count_in(&self, latency_ns: u64, n: u64, added: &mut Added) {
        if n == 0 {
            return;
        }
        let bucket = &self.buckets[bucket_index(latency_ns)];
        bucket.store(bucket.load(Relaxed).wrapping_add(n), Relaxed);
        let squares = match n {
            1 => square(latency_ns), // the usual case, without a product of 128 bits
            n => square(latency_ns).saturating_mul(u128::from(n)),
        };
        added.n += n;
        added.sum_ns = added.sum_ns.saturating_add(u128::from(latency_ns) * u128::from(n));
        added.sum_squares = added.sum_squares.saturating_add(squares);
        added.min_ns = added.min_ns.min(latency_ns);
        added.max_ns = added.max_ns.max(latency_ns);
    }

    /// Takes new extremes.
    #[inline]
    fn widen(&self, min_ns: u64, max_ns: u64) {
        if !min_ns > self.min_inverted.load(Relaxed) {
            self.min_inverted.store(!min_ns, Relaxed);
        }
        if max_ns > self.max_ns.load(Relaxed) {
            self.max_ns.store(max_ns, Relaxed);
        }
    }

    /// Forgets everything, as at the end of a ramp. For the one writer.
    ///
    /// A reader meanwhile gets an empty histogram; [`Histogram::delta_since`] notices the reset.
    pub fn reset(&self) {
        self.n_begun.store(RESETTING, Relaxed);
        fence(Release);
        for bucket in &self.buckets {
            // Reading an untouched page does not make it a page of its own; writing would.
            if bucket.load(Relaxed) != 0 {
                bucket.store(0, Relaxed);
            }
        }
        for word in [&self.sum_lo, &self.sum_hi, &self.squares_lo, &self.squares_hi, &self.max_ns] {
            word.store(0, Relaxed);
        }
        self.min_inverted.store(0, Relaxed);
        self.n_resets.store(self.n_resets.load(Relaxed) + 1, Relaxed);
        self.n_finished.store(0, Release);
        self.n_begun.store(0, Release);
    }

    /// Returns the number of values so far. Cheap: one load.
    #[inline]
    pub fn count(&self) -> u64 {
        self.n_finished.load(Acquire)
    }

    /// Returns the state of this moment. For any reader, at any time.
    ///
    /// Exact once the writer has stopped; see the type for what a reader sees before.
    pub fn snapshot(&self) -> Histogram {
        let mut last = Histogram::new();
        for _ in 0..MAX_TRIES {
            let (hist, is_whole) = self.try_snapshot();
            if is_whole {
                return hist;
            }
            last = hist;
            std::hint::spin_loop();
        }
        last
    }

    /// Reads moments, then buckets, and says whether nothing was written meanwhile.
    fn try_snapshot(&self) -> (Histogram, bool) {
        let n_resets = self.n_resets.load(Acquire);
        let n_finished = self.n_finished.load(Acquire);
        let (moments, is_whole) = self.read_moments(n_finished);
        if !is_whole && n_finished == 0 || moments.min_ns > moments.max_ns {
            return (Histogram::new(), is_whole && n_finished == 0);
        }
        let (first, last) = (bucket_index(moments.min_ns), bucket_index(moments.max_ns));
        let counts = self.buckets[first..=last].iter().map(|b| b.load(Relaxed)).collect();
        fence(Acquire);
        let n_begun = self.n_begun.load(Relaxed);
        if n_begun == RESETTING {
            return (Histogram::new(), true);
        }
        let is_whole = n_begun == n_finished && n_resets == self.n_resets.load(Relaxed);
        (Histogram::from_counts(first, counts, &moments), is_whole)
    }

    /// Reads the moments as they were after some value; the window is a few nanoseconds.
    fn read_moments(&self, mut n_finished: u64) -> (Moments, bool) {
        let mut tries = 0;
        loop {
            let moments = Moments {
                sum_ns: join(&self.sum_lo, &self.sum_hi),
                sum_squares: join(&self.squares_lo, &self.squares_hi),
                min_ns: !self.min_inverted.load(Relaxed),
                max_ns: self.max_ns.load(Relaxed),
            };
            fence(Acquire);
            let is_whole = self.n_begun.load(Relaxed) == n_finished;
            tries += 1;
            if is_whole || tries == MAX_TRIES {
                return (moments, is_whole);
            }
            std::hint::spin_loop();
            n_finished = self.n_finished.load(Acquire);
        }
    }

    #[inline]
    fn add(&self, latency_ns: u64, n: u64, sum: u128, squares: u128) {
        let n_values = self.n_finished.load(Relaxed).wrapping_add(n);
        self.n_begun.store(n_values, Relaxed);
        fence(Release); // Everything below is seen after the line above.
        let bucket = &self.buckets[bucket_index(latency_ns)];
        bucket.store(bucket.load(Relaxed).wrapping_add(n), Relaxed);
        add_wide(&self.sum_lo, &self.sum_hi, sum);
        add_wide(&self.squares_lo, &self.squares_hi, squares);
        self.widen(latency_ns, latency_ns);
        self.n_finished.store(n_values, Release);
    }
}

/// Types for which zero bytes are a valid and empty value.
///
/// A worker's counters and histograms are 750 KiB of which a run touches a few pages. Zeroed memory
/// of that size comes from the kernel page by page as it is touched; anything smaller an allocator
/// clears by hand, which cost 1 GB for 2,000 workers. The type must not ask for more than the usual
/// alignment, for aligned memory is cleared by hand as well.
///
/// # Safety
/// Zero bytes must be a valid value of the type.
pub unsafe trait Zeroed: Sized {
    /// Returns an empty value without touching its memory.
    fn zeroed() -> Arc<Self> {
        // SAFETY: zero bytes are valid, as the implementer states.
        unsafe { Arc::<Self>::new_zeroed().assume_init() }
    }

    /// Returns so many empty values without touching their memory.
    fn zeroed_slice(n: usize) -> Box<[Self]> {
        // SAFETY: zero bytes are valid, as the implementer states.
        unsafe { Box::<[Self]>::new_zeroed_slice(n).assume_init() }
    }
}

// SAFETY: consists of atomic integers, for which zero bytes are valid; counts, sums and the
// complement of the minimum are zero when empty.
unsafe impl Zeroed for LiveHistogram {}

#[inline]
fn square(latency_ns: u64) -> u128 {
    u128::from(latency_ns) * u128::from(latency_ns)
}

fn join(lo: &AtomicU64, hi: &AtomicU64) -> u128 {
    u128::from(hi.load(Relaxed)) << 64 | u128::from(lo.load(Relaxed))
}

/// Adds to a two-word number. The high word is nearly always left alone.
#[inline]
fn add_wide(lo: &AtomicU64, hi: &AtomicU64, value: u128) {
    let (sum, carry) = lo.load(Relaxed).overflowing_add(value as u64);
    lo.store(sum, Relaxed);
    if carry || value >> 64 != 0 {
        add_high(lo, hi, (value >> 64) as u64, carry);
    }
}

#[cold]
fn add_high(lo: &AtomicU64, hi: &AtomicU64, value: u64, carry: bool) {
    let sum = hi.load(Relaxed).checked_add(value).and_then(|sum| sum.checked_add(carry as u64));
    if sum.is_none() {
        lo.store(u64::MAX, Relaxed);
    }
    hi.store(sum.unwrap_or(u64::MAX), Relaxed);
}
