//! How full the queue was, and how an open load was kept up with.

use plan::job::Job;
use plan::load::Rate;
use plan::{Direction, PerDir};

/// Delay from which on an operation counts as late: see [`ArrivalCounts::n_late`]. Far above the
/// grouping of high rates (100 us) and what a timer is off by, far below what a user of storage
/// notices.
pub const LATE_NS: u64 = 1_000_000;

/// Delay from which on a rate that changes counts as not carried. A second's operations may come at
/// once, and a pause of the host or a hiccup of the target on top of it.
pub const BEHIND_NS: u64 = 2_000_000_000;

/// Operations in flight, integrated over time.
///
/// Taken from the slots in use, not from latencies, so that Little's law can be checked with it. It
/// costs a few instructions per batch: between two batches the number does not change.
#[derive(Debug, Default)]
pub(crate) struct Occupancy {
    /// Up to when the sum reaches.
    pub(crate) seen_ns: u64,
    /// Sum of operations times nanoseconds.
    sum: u64,
    /// When the measured time began, and the sum then; `None` before.
    since: Option<(u64, u64)>,
    end_ns: u64,
}

impl Occupancy {
    /// Adds the time until `now_ns`, in which so many were in flight.
    #[inline]
    pub(crate) fn pass(&mut self, now_ns: u64, n_in_flight: usize) {
        // Wraps after 500 years at a depth of 1, and half a year at 1,024: only differences count.
        let area = now_ns.wrapping_sub(self.seen_ns).wrapping_mul(n_in_flight as u64);
        self.sum = self.sum.wrapping_add(area);
        self.seen_ns = now_ns;
    }

    /// Begins the measured time, unless it has begun. Returns whether it begins now.
    pub(crate) fn begin(&mut self) -> bool {
        let begins = self.since.is_none();
        self.since.get_or_insert((self.seen_ns, self.sum));
        begins
    }

    /// Ends the time at `at_ns`, or when the last operation ended.
    pub(crate) fn end(&mut self, at_ns: u64) {
        self.end_ns = at_ns.max(self.seen_ns);
    }

    /// Returns the sum over the measured time, operations times nanoseconds; `None` before it.
    pub(crate) fn sum_ns(&self) -> Option<u64> {
        self.since.map(|(_, before)| self.sum.wrapping_sub(before))
    }

    /// Returns the mean number in flight over the measured time; `None` before that has passed.
    pub(crate) fn mean(&self) -> Option<f64> {
        let (since_ns, before) = self.since?;
        let passed_ns = self.end_ns.max(self.seen_ns).saturating_sub(since_ns);
        (passed_ns > 0).then(|| self.sum.wrapping_sub(before) as f64 / passed_ns as f64)
    }
}

/// How an open load was kept up with in the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrivalCounts {
    /// Operations that were chosen more than [`LATE_NS`] after they were due, although there had
    /// been room in flight since then: the delay of whoever drives the worker. Jobs that pause, or
    /// whose operations wait for others, have none.
    pub n_late: u64,
    /// Operations due and not chosen when the measured time began.
    pub backlog_start: u64,
    /// The same when it ended.
    pub backlog_end: u64,
    /// Longest time from when an operation was due until it was chosen, nanoseconds. Only under a
    /// rate that changes, as what follows: of any other the backlog at the end says it.
    pub delay_ns_max: u64,
    /// Since when operations waited, nanoseconds after the start, in the first stretch in which one
    /// of them waited for longer than [`BEHIND_NS`].
    pub behind_since_ns: Option<u64>,
}

/// Returns the operations per second that a job asks of each of its workers; `None` where some of
/// its operations have no rate. `block_bytes` are the mean sizes of its I/Os, for rates in bytes.
/// Of a rate that changes it is the mean of the time between two moments, nanoseconds after the
/// start; `None` where parts have rates beside it.
pub fn offered_iops(
    job: &Job,
    block_bytes: PerDir<f64>,
    (from_ns, to_ns): (u64, u64),
) -> Option<f64> {
    let n_workers = f64::from(job.n_workers.max(1));
    if let Some(total_iops) = job.load.rate_total_iops {
        let share = match &job.load.rate_periods {
            Some(_) if job.parts.iter().any(|part| part.rate_iops.is_some()) => return None,
            Some(periods) => periods.share_between(from_ns, to_ns),
            None => 1.0,
        };
        return Some(total_iops * share / n_workers);
    }
    if !job.parts.is_empty() {
        let of_parts: Option<f64> = job.parts.iter().map(|part| part.rate_iops).sum();
        return of_parts.map(|iops| iops / n_workers);
    }
    let of_dir = |dir: Direction| match job.load.rate[dir]? {
        Rate::Iops(per_s) => Some(per_s as f64),
        Rate::Bytes(per_s) => Some(per_s as f64 / block_bytes[dir]).filter(|iops| iops.is_finite()),
    };
    job.issued_directions().map(of_dir).sum()
}

#[cfg(test)]
mod tests {
    use super::Occupancy;

    #[test]
    fn what_was_in_flight_is_weighed_by_time() {
        let mut occupancy = Occupancy { seen_ns: 100, ..Occupancy::default() };
        assert_eq!(occupancy.mean(), None);
        occupancy.pass(200, 7);
        assert!(occupancy.begin() && !occupancy.begin());
        assert_eq!(occupancy.mean(), None, "no time has passed");
        occupancy.pass(300, 2);
        occupancy.pass(500, 4);
        assert_eq!(occupancy.mean(), Some(1000.0 / 300.0));
        occupancy.end(700);
        assert_eq!(occupancy.mean(), Some(2.0));
    }

    #[test]
    fn a_sum_that_wraps_is_right_all_the_same() {
        let mut occupancy = Occupancy { seen_ns: 0, sum: u64::MAX - 5, ..Occupancy::default() };
        occupancy.begin();
        occupancy.pass(10, 3);
        assert_eq!(occupancy.mean(), Some(3.0));
    }
}
