//! Credits: how long a burst lasts, how long it takes to come back, and what a demand that changes
//! leaves of them.

/// A sustained rate with a bucket of credits above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Credits {
    /// Sustained, per second.
    pub base: f64,
    /// While credits last, per second.
    pub burst: f64,
    /// Credits when full.
    pub bucket: f64,
}

impl Credits {
    /// Returns how long a demand lasts from a full bucket; infinite if it needs no credits.
    pub fn burst_s(&self, demand: f64) -> f64 {
        assert!(demand >= 0.0, "{demand} is no rate");
        let spent = demand.min(self.burst) - self.base;
        if spent > 0.0 { self.bucket / spent } else { f64::INFINITY }
    }

    /// Returns how long an idle volume takes to fill the empty bucket.
    pub fn refill_s(&self) -> f64 {
        self.bucket / self.base
    }
}

/// A cap while demand changes, as emulated volumes count it.
///
/// It has two buckets. One paces: what comes in at the burst rate and is not used may follow later,
/// up to a window's worth; it begins empty. The other holds the credits, and begins full: what is
/// used goes out, the sustained rate comes in. An I/O waits where either is below zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// The highest rate, per second: that of the burst, where there is one.
    pace: f64,
    window_s: f64,
    /// What may follow at once, beyond the highest rate.
    allowance: f64,
    credits: Option<Credits>,
    left: f64,
}

/// What of a demand may be missing: rounding.
const ROUNDING: f64 = 1e-9;

impl Levels {
    /// Begins with full credits. The pace is that of the credits' burst, else `per_s`.
    pub fn new(per_s: f64, credits: Option<Credits>, window_s: f64) -> Self {
        let pace = credits.map_or(per_s, |credits| credits.burst);
        let left = credits.map_or(0.0, |credits| credits.bucket);
        Levels { pace, window_s, allowance: 0.0, credits, left }
    }

    /// Lets time pass in which demand is even; returns whether all of it was carried at once.
    ///
    /// # Panics
    /// If demand or time is below zero.
    pub fn pass(&mut self, demand: f64, span_s: f64) -> bool {
        assert!(demand >= 0.0 && span_s >= 0.0, "{demand} a second for {span_s} s");
        let asked = demand * span_s;
        let allowance = self.allowance + self.pace * span_s - asked;
        self.allowance = allowance.clamp(0.0, self.pace * self.window_s);
        let is_in_pace = allowance >= -ROUNDING * asked;
        let Some(credits) = self.credits else { return is_in_pace };
        // What waits for its turn is not used yet.
        let used = asked + allowance.min(0.0);
        let left = self.left + credits.base * span_s - used;
        self.left = left.clamp(0.0, credits.bucket);
        is_in_pace && left >= -ROUNDING * (credits.bucket + asked)
    }

    /// Returns the credits that are left; `None` where there are none to have.
    pub fn left(&self) -> Option<f64> {
        self.credits.map(|_| self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The P20 of the disk types page: 2,300 IOPS, 3,500 for 30 minutes.
    const P20: Credits = Credits { base: 2300.0, burst: 3500.0, bucket: 1200.0 * 1800.0 };

    #[test]
    fn credits_last_as_long_as_is_published_and_come_back() {
        let mut levels = Levels::new(P20.base, Some(P20), 0.0);
        assert!((0..180).all(|_| levels.pass(3500.0, 10.0)));
        assert_eq!(levels.left(), Some(0.0));
        let mut longer = levels;
        assert!(longer.pass(2300.0, 10.0));
        assert!(!longer.pass(2301.0, 10.0));
        // 10 s at 1,100 bring in as much as 10 s at 3,500 take out.
        assert!(levels.pass(1100.0, 10.0));
        assert_eq!(levels.left(), Some(12_000.0));
        assert!(levels.pass(3500.0, 10.0));
        assert!(!levels.pass(3500.0, 10.0));
    }

    #[test]
    fn credits_carry_no_more_than_the_burst_and_are_no_more_than_full() {
        let mut levels = Levels::new(P20.base, Some(P20), 0.0);
        assert!(levels.pass(100.0, 3600.0));
        assert_eq!(levels.left(), Some(P20.bucket));
        assert!(!levels.pass(3501.0, 10.0));
        // Of what was asked above the burst rate nothing was used.
        assert_eq!(levels.left(), Some(P20.bucket - 12_000.0));
    }

    #[test]
    fn what_a_window_leaves_unused_may_follow() {
        let mut levels = Levels::new(1000.0, None, 0.1);
        // It begins with nothing saved up, and saves no more than 100.
        assert!(!levels.pass(1001.0, 1.0));
        assert!(levels.pass(10.0, 60.0));
        assert!(levels.pass(1060.0, 1.0));
        assert!(levels.pass(1040.0, 1.0));
        assert!(!levels.pass(1001.0, 1.0));
        assert_eq!(levels.left(), None);
    }
}
