//! Credits: how long a burst lasts, and how long it takes to come back.

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
