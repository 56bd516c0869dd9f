//! How many operations a worker hands over and awaits at once, when the job leaves it open.
//!
//! Batches save system calls and wake-ups, which matters where a core has little time per I/O, and
//! they keep the device waiting: the first operation of a batch starts when the last one is ready.
//! So both follow the rate: as many as come in 16 us. Below some 60,000 I/Os per second that is
//! one, as for a program without batches; at two million it is 32.
//!
//! Completions are awaited in batches where wake-ups (1 to 2 us each) take a good part of a core's
//! time. By Little's law, awaiting a share of the depth delays no completion by more than that
//! share of its latency: a sixteenth from 200,000 per second on, an eighth from 400,000 on, though
//! no more than come in 16 us. From a million on the calls into the kernel alone fill a core, so
//! that completions pile up whether awaited or not: there it is a quarter. A device whose latency
//! does not depend on its load loses about half that share of its IOPS, so it is not more.
//!
//! Measured on a RAM disk whose I/O runs in kernel threads, depth 128, one core, against a bare
//! loop that awaits 32: at 300,000 per second 0.73 of its IOPS with one awaited and 0.94 with 8; at
//! 1.5 million 0.91 with 16 and 0.98 with 32.

/// Completions per second above which a sixteenth of the depth is awaited.
const AWAIT_FROM_PER_S: u128 = 200_000;

/// Completions per second above which up to an eighth of the depth is awaited.
const AWAIT_MORE_FROM_PER_S: u128 = 400_000;

/// Completions per second above which up to a quarter of the depth is awaited.
const AWAIT_MOST_FROM_PER_S: u128 = 1_000_000;

/// A batch is no more than what comes in this time.
const WINDOW_NS: u64 = 16_000;

/// The rate is measured over this time. Long against a batch, short against a change of load.
const PERIOD_NS: u64 = 1_000_000;

/// Operations handed over at once before the first rate is known.
const FIRST_BATCH: u32 = 4;

/// Watches the rate of completions.
#[derive(Debug)]
pub(crate) struct Pace {
    depth: u32,
    batch_max: u32,
    /// The job says how many are handed over.
    batch_is_set: bool,
    batch: u32,
    reap_min: u32,
    since_ns: u64,
    n_done: u64,
}

impl Pace {
    /// Watches a queue. `batch` is what the job says; `batch_max` is the engine's limit.
    pub(crate) fn new(queue_depth: u32, batch: Option<u32>, batch_max: u32) -> Self {
        let limit = queue_depth.min(batch_max).max(1);
        let first = match batch {
            // Each operation ends before the next begins: a batch would be timed as one.
            _ if batch_max == 1 => 1,
            Some(0) => queue_depth,
            Some(n) => n.min(queue_depth),
            None => FIRST_BATCH.min(limit),
        };
        Pace {
            depth: queue_depth,
            batch_max: limit,
            batch_is_set: batch.is_some(),
            batch: first,
            reap_min: 1,
            since_ns: 0,
            n_done: 0,
        }
    }

    /// Returns how many operations to hand over at once.
    #[inline]
    pub(crate) fn batch(&self) -> usize {
        self.batch as usize
    }

    /// Returns how many completions to wait for.
    #[inline]
    pub(crate) fn reap_min(&self) -> u32 {
        self.reap_min
    }

    #[inline]
    pub(crate) fn completed(&mut self, now_ns: u64, n_done: usize) {
        self.n_done += n_done as u64;
        if now_ns >= self.since_ns + PERIOD_NS {
            self.decide(now_ns);
        }
    }

    fn decide(&mut self, now_ns: u64) {
        let passed_ns = now_ns - self.since_ns;
        let per_s = u128::from(self.n_done) * 1_000_000_000 / u128::from(passed_ns);
        let in_window = (per_s * u128::from(WINDOW_NS) / 1_000_000_000) as u32;
        let share = |n: u32| (self.depth / n).max(1);
        self.reap_min = match per_s {
            AWAIT_MOST_FROM_PER_S.. => (2 * in_window).min(share(4)),
            AWAIT_MORE_FROM_PER_S.. => in_window.clamp(share(16), share(8)),
            AWAIT_FROM_PER_S.. => share(16),
            _ => 1,
        };
        if !self.batch_is_set {
            // What was awaited together goes out together.
            self.batch = in_window.max(self.reap_min).clamp(1, self.batch_max);
        }
        (self.since_ns, self.n_done) = (now_ns, 0);
    }
}
