//! What a worker's I/Os waited for, and what the caps gave meanwhile: the account of a worker.

use volume::{CapId, CapKind, DirtyLevel, Done, Stations, System};

/// A worker's measured I/Os and the caps that they met, over time.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitAccount {
    tally: Tally,
    /// How both stood when the measured time began, and after each period; empty before.
    marks: Vec<WaitMark>,
    period_ns: u64,
    /// When the next mark is due; 0 before the first.
    next_ns: u64,
}

/// How an account stood at a moment: sums since its beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitMark {
    /// What the measured I/Os waited for.
    pub tally: Tally,
    /// What the caps had given.
    pub usage: UsageMark,
}

/// Length of a period, until there are too many of them.
const PERIOD_NS: u64 = 250_000_000;

/// Periods from which on two become one.
const N_PERIODS_MAX: usize = 32;

impl WaitAccount {
    /// Makes the account of a worker in a system of so many caps.
    pub fn new(n_caps: usize) -> Self {
        WaitAccount {
            tally: Tally::new(n_caps),
            marks: Vec::new(),
            period_ns: PERIOD_NS,
            next_ns: 0,
        }
    }

    /// Returns whether there is something to [note](WaitAccount::note).
    #[inline]
    pub fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_ns
    }

    /// Begins the measured time, or notes how it stands if a period has passed.
    #[inline]
    pub fn note(&mut self, system: &System, now_ns: u64) {
        if self.is_due(now_ns) {
            self.mark(system, now_ns);
        }
    }

    #[cold]
    fn mark(&mut self, system: &System, now_ns: u64) {
        // What was counted before the first mark ended at that moment.
        let tally = if self.marks.is_empty() { self.tally.emptied() } else { self.tally.clone() };
        self.marks.push(WaitMark { tally, usage: UsageMark::of(system, now_ns) });
        if self.marks.len() > N_PERIODS_MAX {
            // The first stays, and every second from there on.
            let mut is_odd = true;
            self.marks.retain(|_| {
                is_odd = !is_odd;
                !is_odd
            });
            self.period_ns = self.period_ns.saturating_mul(2);
        }
        self.next_ns = now_ns.saturating_add(self.period_ns);
    }

    /// Returns the sums, to be added to.
    #[inline]
    pub fn tally_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// Ends the account: returns how it stood at the beginning, after each period, and now; `None`
    /// if the measured time has not begun.
    pub fn end(&self, system: &System, now_ns: u64) -> Option<Vec<WaitMark>> {
        let mut marks = self.marks.clone();
        marks.first()?;
        marks.push(WaitMark { tally: self.tally.clone(), usage: UsageMark::of(system, now_ns) });
        Some(marks)
    }
}

/// What a worker's I/Os waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Nanoseconds by cap, in the order of the system's list; the last is for no cap.
    held_ns: Box<[u64]>,
    /// Sum of the latencies, nanoseconds.
    io_time_ns: u64,
    /// I/Os.
    n_ios: u64,
    /// Sum of the times by which completions were handed out too late, nanoseconds.
    late_ns: u64,
    /// What any of them came through.
    stations: Stations,
}

impl Tally {
    /// Makes an empty tally of a system with so many caps.
    pub fn new(n_caps: usize) -> Self {
        Tally { held_ns: vec![0; n_caps + 1].into_boxed_slice(), ..Tally::default() }
    }

    fn emptied(&self) -> Self {
        Tally { held_ns: vec![0; self.held_ns.len()].into_boxed_slice(), ..Tally::default() }
    }

    /// Returns what was counted after `earlier`, a mark of the same account. What the I/Os came
    /// through is that of all.
    #[must_use]
    pub fn since(&self, earlier: &Tally) -> Tally {
        let pairs = self.held_ns.iter().zip(&earlier.held_ns);
        Tally {
            held_ns: pairs.map(|(now, before)| now.saturating_sub(*before)).collect(),
            io_time_ns: self.io_time_ns.saturating_sub(earlier.io_time_ns),
            n_ios: self.n_ios.saturating_sub(earlier.n_ios),
            late_ns: self.late_ns.saturating_sub(earlier.late_ns),
            stations: self.stations,
        }
    }

    /// Counts one I/O.
    #[inline]
    pub fn add(&mut self, done: &Done, latency_ns: u64) {
        // `CapId::NONE` is beyond all caps.
        let cap_idx = usize::from(done.held_by.0).min(self.held_ns.len() - 1);
        self.held_ns[cap_idx] += done.held_ns;
        self.io_time_ns += latency_ns;
        self.n_ios += 1;
        self.stations = self.stations.and(done.stations);
    }

    /// Returns the time that I/Os waited for a cap, nanoseconds.
    pub fn held_ns(&self, cap: CapId) -> u64 {
        self.held_ns.get(usize::from(cap.0)).copied().unwrap_or(0)
    }

    /// Counts that an I/O's completion was handed out this long after its modelled time.
    #[inline]
    pub fn add_lateness(&mut self, late_ns: u64) {
        self.late_ns += late_ns;
    }

    /// Returns by which share the measured latencies are too long, because this host was late: 0 in
    /// virtual time.
    pub fn late_share(&self) -> f64 {
        if self.io_time_ns == 0 { 0.0 } else { self.late_ns as f64 / self.io_time_ns as f64 }
    }

    /// Returns how many I/Os were counted.
    pub fn n_ios(&self) -> u64 {
        self.n_ios
    }

    /// Returns whether one of the I/Os came to where there are caps of this kind.
    pub fn met(&self, kind: CapKind) -> bool {
        self.stations.have(kind)
    }

    /// Returns the sum of the latencies, nanoseconds.
    pub fn io_time_ns(&self) -> u64 {
        self.io_time_ns
    }
}

/// What the caps of a system had given by a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageMark {
    at_ns: u64,
    /// Share of its capacity that each cap has given since the start.
    shares: Vec<f64>,
    /// What each cap has carried since the start: operations (in units) or bytes.
    used: Vec<u64>,
    dirty: DirtyLevel,
}

/// How what is dirty in a write-back cache grew between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirtyGrowth {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Bytes, over the whole time.
    pub bytes: f64,
    /// From the later moment on, until writes wait for the disks, if it goes on growing as fast;
    /// infinite where it does not grow. What is written again while it is dirty makes it longer.
    pub lasts_s: f64,
    /// Bytes that there was still room for at the later moment.
    pub left_bytes: f64,
    /// Bytes that may be dirty.
    pub full_bytes: f64,
    /// So many because no more ranges are followed; half of the cache is more.
    pub is_by_ranges: bool,
    /// Bytes that were written to it between the moments.
    pub written_bytes: f64,
    /// Seconds between them.
    pub passed_s: f64,
}

impl UsageMark {
    /// Reads a system that started at time 0.
    pub fn of(system: &System, now_ns: u64) -> Self {
        let usage = system.usage(now_ns);
        let shares = usage.iter().map(|usage| usage.capacity_share).collect();
        let used = usage.iter().map(|usage| usage.used).collect();
        UsageMark { at_ns: now_ns, shares, used, dirty: system.dirty_level() }
    }

    /// Returns the time since an earlier mark of the same system, nanoseconds.
    ///
    /// # Panics
    /// As [`UsageMark::dirty_since`].
    pub fn passed_ns(&self, earlier: &UsageMark) -> u64 {
        let (UsageMark { at_ns, used, .. }, before_ns) = (self, earlier.at_ns);
        assert!(before_ns <= *at_ns, "caps at {at_ns} ns are compared with {before_ns} ns");
        let (n_caps, n_before) = (used.len(), earlier.used.len());
        assert_eq!(n_caps, n_before, "{n_caps} caps are compared with {n_before}");
        at_ns - before_ns
    }

    /// Returns how what is dirty grew after `earlier`.
    ///
    /// # Panics
    /// If that is a later mark, or one of another system.
    pub fn dirty_since(&self, earlier: &UsageMark) -> DirtyGrowth {
        let passed_s = self.passed_ns(earlier).max(1) as f64 / 1e9;
        let (now, before) = (&self.dirty, &earlier.dirty);
        let (n_now, n_before) = (now.written_bytes, before.written_bytes);
        assert!(n_now >= n_before, "{n_before} B were written, and later {n_now} B");
        let (end, begin) = (now.bytes as f64, before.bytes as f64);
        let full_bytes = now.full_bytes as f64;
        let left_bytes = (full_bytes - end).max(0.0);
        let grown = end - begin;
        let lasts_s = if grown > 0.0 { left_bytes / grown * passed_s } else { f64::INFINITY };
        DirtyGrowth {
            bytes_per_s: grown / passed_s,
            bytes: grown,
            lasts_s,
            left_bytes,
            full_bytes,
            is_by_ranges: now.is_by_ranges,
            written_bytes: (n_now - n_before) as f64,
            passed_s,
        }
    }

    /// Returns what each cap carried per second after `earlier`, in the order of the system's list.
    ///
    /// # Panics
    /// As [`UsageMark::dirty_since`].
    pub fn rates_since(&self, earlier: &UsageMark) -> Vec<f64> {
        let passed_ns = self.passed_ns(earlier).max(1) as f64;
        let pairs = self.used.iter().zip(&earlier.used);
        pairs.map(|(end, begin)| end.saturating_sub(*begin) as f64 * 1e9 / passed_ns).collect()
    }

    /// Returns the share of its capacity that each cap gave after `earlier`, in the order of the
    /// system's list.
    ///
    /// # Panics
    /// As [`UsageMark::dirty_since`].
    pub fn since(&self, earlier: &UsageMark) -> Vec<f64> {
        let passed_ns = self.passed_ns(earlier) as f64;
        if passed_ns == 0.0 {
            return vec![0.0; self.shares.len()];
        }
        let (end_ns, begin_ns) = (self.at_ns as f64, earlier.at_ns as f64);
        let pairs = self.shares.iter().zip(&earlier.shares);
        pairs.map(|(end, begin)| ((end * end_ns - begin * begin_ns) / passed_ns).max(0.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_stays_written() {
        let mark = |at_ns, written_bytes| {
            let dirty = DirtyLevel { written_bytes, ..DirtyLevel::default() };
            UsageMark { at_ns, dirty, ..UsageMark::default() }
        };
        assert_eq!(mark(2, 8192).dirty_since(&mark(1, 4096)).written_bytes as u64, 4096);
        testing::check_wrong_calls(&[("less", "8192 B were written, and later 4096 B", &|| {
            _ = mark(2, 4096).dirty_since(&mark(1, 8192));
        })]);
    }
}
