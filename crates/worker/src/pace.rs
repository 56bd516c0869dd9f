//! How many operations a worker hands over at once, and how many completions it waits for.
//!
//! A batch is as large as it takes to keep the depth. To fill the queue may take half of the time
//! that an operation is in flight. What the calls take is measured: where they are slow (the
//! doorbell of a virtual machine, a busy host), all free slots go over in one, and the slower it
//! is, the more completes meanwhile and goes over with the next. A batch that followed the rate
//! would keep the rate low: a call of 160 us carries 6,000 operations per second one by one.
//!
//! Where calls are quick, smaller batches let the device begin with the first operation while the
//! rest is prepared. As many completions are taken at once as go over at once: of a bunch that
//! completes together, the first are replaced before the last are looked at. A virtual disk that
//! answers in bunches otherwise waits for the worker, and the worker for it. Measured on one, depth
//! 32, io_uring, beside fio, which takes and hands over one by one (IOPS of fio's; operations at
//! the device by the kernel's count, where fio has 24):
//!
//! | batch | all taken | as many taken as go over |
//! |---|---|---|
//! | 1 | 1.02, 25 | 1.09, 25 |
//! | 4 | 0.98, 27 | 1.03, 27 |
//! | 8 | 0.97, 27 | 0.99, 27 |
//! | 16 | 0.91, 28 | - |
//! | 32 | 0.86, 29 | - |
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

/// Filling the queue may take up to one of so many parts of the time that an operation is in
/// flight.
const FILL_SHARE: u64 = 2;

/// Where all free slots go over in one call, a batch is split once in so many periods, to see what
/// a call takes that waits for nothing.
const PROBE_PERIODS: u32 = 64;

/// No more are awaited than come in this time, or twice that from a million per second on.
const WINDOW_NS: u64 = 16_000;

/// The rate is measured over this time. Long against a batch, short against a change of load.
const PERIOD_NS: u64 = 1_000_000;

/// Watches the rate of completions, and what calls take.
#[derive(Debug)]
pub(crate) struct Pace {
    depth: u32,
    /// Each operation ends before the next begins.
    one_by_one: bool,
    batch: u32,
    /// The largest batch; 0 where the job says how large it is.
    batch_max: u32,
    reap_min: u32,
    since_ns: u64,
    n_done: u64,
    /// When the batch at hand went over, in a call that waits for nothing.
    call_ns: Option<u64>,
    /// Calls of this period that waited for nothing, and their time.
    n_calls: u32,
    calls_ns: u64,
    n_periods: u32,
}

impl Pace {
    /// Watches a queue. `batch` is what the job says; `batch_max` is the limit of whoever carries
    /// the operations out.
    pub(crate) fn new(queue_depth: u32, batch: Option<u32>, batch_max: u32) -> Self {
        let limit = queue_depth.min(batch_max).max(1);
        let one_by_one = batch_max == 1;
        let (batch, batch_max) = match batch {
            // Each operation ends before the next begins: a batch would be timed as one.
            _ if one_by_one => (1, 0),
            Some(0) => (queue_depth, 0),
            Some(n) => (n.min(queue_depth), 0),
            None => (limit, limit),
        };
        Pace {
            depth: queue_depth,
            one_by_one,
            batch,
            batch_max,
            reap_min: 1,
            since_ns: 0,
            n_done: 0,
            call_ns: None,
            n_calls: 0,
            calls_ns: 0,
            n_periods: 0,
        }
    }

    /// Says whether each operation ends before the next begins.
    pub(crate) fn is_one_by_one(&self) -> bool {
        self.one_by_one
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

    /// Returns how many completions to take before the next batch goes over.
    #[inline]
    pub(crate) fn complete_max(&self) -> u32 {
        if self.batch < self.batch_max { self.batch } else { u32::MAX }
    }

    /// A batch goes over at `at_ns`, in a call that waits for nothing.
    #[inline]
    pub(crate) fn hands_over(&mut self, at_ns: u64) {
        self.call_ns = Some(at_ns);
    }

    /// A call has returned `n_done` completions.
    #[inline]
    pub(crate) fn completed(&mut self, now_ns: u64, n_done: usize) {
        if let Some(call_ns) = self.call_ns.take() {
            self.n_calls += 1;
            self.calls_ns += now_ns.saturating_sub(call_ns);
        }
        self.n_done += n_done as u64;
        if now_ns >= self.since_ns + PERIOD_NS && self.n_done > 0 {
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
        if self.batch_max > 0 {
            // By Little's law.
            let in_flight_ns = u64::from(self.depth).saturating_mul(passed_ns) / self.n_done;
            self.batch = self.fitting_batch(in_flight_ns);
        }
        self.n_periods = self.n_periods.wrapping_add(1);
        (self.since_ns, self.n_done) = (now_ns, 0);
        (self.n_calls, self.calls_ns) = (0, 0);
    }

    /// Returns the batch that keeps the depth, where an operation is in flight for so long.
    fn fitting_batch(&self, in_flight_ns: u64) -> u32 {
        let Some(call_ns) = self.calls_ns.checked_div(u64::from(self.n_calls)) else {
            let is_split =
                self.n_periods.is_multiple_of(PROBE_PERIODS) && self.batch == self.batch_max;
            return if is_split { self.batch.div_ceil(2) } else { self.batch };
        };
        let fill_ns = (in_flight_ns / FILL_SHARE).max(1);
        let takes_ns = u64::from(self.depth.div_ceil(self.batch)) * call_ns;
        let fitting = if takes_ns > fill_ns {
            u64::from(self.batch) * 2
        } else {
            // A smaller batch takes no longer than this one; how much less is seen then.
            (u64::from(self.depth) * call_ns).div_ceil(fill_ns).min(u64::from(self.batch))
        };
        // What was awaited together goes out together.
        fitting.max(u64::from(self.reap_min)).clamp(1, u64::from(self.batch_max)) as u32
    }
}
