//! Credits: how long a burst lasts, how long it takes to come back, what an on-demand burst costs.

use super::bound::Bound;

/// Longest burst from a full bucket, seconds: "at most 30 minutes" (disk bursting page). The size
/// of the bucket is not published; it follows from this.
pub const AZURE_BURST_S: f64 = 1800.0;

/// Credits of a full gp2 bucket, I/Os (Amazon EC2 user guide).
pub const GP2_BUCKET: f64 = 5_400_000.0;

/// Run time of the fio jobs in the Premium Storage guide (its line 460), seconds.
pub const SHORT_RUN_S: u64 = 30;

/// KiB that one transaction of an on-demand burst moves.
const BURST_TRANSACTION_KIB: f64 = 256.0;

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

/// A stretch of time at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// Per second.
    pub rate: f64,
    /// How long, seconds.
    pub seconds: f64,
    /// What holds the rate; [`Bound::Nothing`] if the demand is met.
    pub binds: Bound,
}

impl Credits {
    /// Makes those of an Azure disk: the bucket is (burst − base) x 1,800 s.
    pub fn azure(base: f64, burst: f64) -> Self {
        Credits { base, burst, bucket: (burst - base) * AZURE_BURST_S }
    }

    /// Makes those of QEMU's throttling: a bucket of `max` x `length_s` that leaks at `avg`.
    pub fn leaky(avg: f64, max: f64, length_s: f64) -> Self {
        Credits { base: avg, burst: max, bucket: max * length_s }
    }

    /// Returns how long a demand lasts from a full bucket; infinite if it needs no credits.
    pub fn burst_s(&self, demand: f64) -> f64 {
        let spent = demand.min(self.burst) - self.base;
        if spent > 0.0 { self.bucket / spent } else { f64::INFINITY }
    }

    /// Returns how long an idle volume takes to fill the empty bucket.
    pub fn refill_s(&self) -> f64 {
        self.bucket / self.base
    }

    /// Returns credits gained per second at a use; negative spends them.
    pub fn accrual(&self, used: f64) -> f64 {
        self.base - used
    }

    /// Returns what a demand gets from a full bucket over a time.
    pub fn phases(&self, demand: f64, seconds: f64) -> Vec<Phase> {
        let rate = demand.min(self.burst);
        let bursting_s = self.burst_s(demand).min(seconds);
        let met = if demand > self.burst { Bound::Credits } else { Bound::Nothing };
        let mut phases = vec![Phase { rate, seconds: bursting_s, binds: met }];
        if bursting_s < seconds {
            let seconds = seconds - bursting_s;
            phases.push(Phase { rate: self.base, seconds, binds: Bound::Credits });
        }
        phases
    }
}

/// Returns what phases move together.
pub fn total(phases: &[Phase]) -> f64 {
    phases.iter().map(|phase| phase.rate * phase.seconds).sum()
}

/// What an on-demand burst used above the provisioned pair of caps, for a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excess {
    /// I/Os per second above.
    pub iops: f64,
    /// MB/s above, of 1,024 KiB.
    pub mb_s: f64,
    /// How long, seconds.
    pub seconds: f64,
}

impl Excess {
    /// Takes a use against the provisioned pair.
    pub fn above(base_iops: f64, base_mb_s: f64, iops: f64, mb_s: f64, seconds: f64) -> Self {
        let above = |used: f64, base: f64| (used - base).max(0.0);
        Excess { iops: above(iops, base_iops), mb_s: above(mb_s, base_mb_s), seconds }
    }

    /// Returns the transactions that are billed: the larger of I/Os and of pieces of 256 KiB.
    pub fn transactions(&self) -> f64 {
        self.iops.max(self.mb_s * 1024.0 / BURST_TRANSACTION_KIB) * self.seconds
    }
}

/// Returns how many billing units so many transactions are.
pub fn billed_units(transactions: f64, unit: f64) -> u64 {
    (transactions / unit).ceil() as u64
}

/// Says whether a short run shows what a volume sustains: it has no credits to spend.
///
/// A run of [`SHORT_RUN_S`] within a burst of 30 minutes shows the burst.
pub fn short_run_is_representative(burst: Option<f64>, base: f64) -> bool {
    burst.is_none_or(|burst| burst <= base)
}
