//! Was the rate achieved that was asked for?

use crate::gate::{Gate, GateName};
use crate::limit::Limits;

use super::pct;

/// What an open load is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfferedInputs {
    /// Operations per second asked for.
    pub offered_iops: f64,
    /// Operations per second completed.
    pub achieved_iops: f64,
    /// The least share of its own rate that one worker achieved; none if unknown.
    pub worker_share_min: Option<f64>,
    /// Operations due and not submitted when the window began.
    pub backlog_start: u64,
    /// The same when it ended.
    pub backlog_end: u64,
    /// Length of the window, seconds.
    pub window_s: f64,
    /// Of a rate that changes, that it was not followed at some time.
    pub behind: Option<Behind>,
}

/// That a rate which changes was not followed for a time, though it may have been in the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behind {
    /// Since when operations waited, seconds after the start.
    pub since_s: f64,
    /// Longest time that one of them waited to be begun, seconds.
    pub delay_s_max: f64,
}

/// Least share that one worker must achieve (SPEC's template default).
const WORKER_SHARE_MIN: f64 = 0.75;

/// Growth of the backlog over the window that counts as not keeping up, as a share of what was due.
const BACKLOG_GROWTH_MAX: f64 = 0.01;

/// Growth of a backlog that is ignored, operations.
const BACKLOG_NOISE: f64 = 16.0;

/// Standard deviations of the number of random arrivals that may wait by chance.
const BACKLOG_SIGMA: f64 = 2.0;

/// What is known of the backlog of one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backlog {
    /// Operations due and not submitted when the window began.
    pub start: u64,
    /// The same when it ended.
    pub end: u64,
    /// Operations that were due in the window.
    pub n_due: f64,
    /// They came at random: in bunches.
    pub is_random: bool,
}

impl Backlog {
    /// Returns how much it grew, as a share of what chance or a moment's delay may leave at the end
    /// of a window; above 1 the load was not carried.
    pub fn pressure(&self) -> f64 {
        self.end.saturating_sub(self.start) as f64 / self.allowed()
    }

    /// Returns the growth that does not count, operations: a percent of what was due, or the chance
    /// variation of random arrivals in a short window.
    fn allowed(&self) -> f64 {
        (self.n_due * BACKLOG_GROWTH_MAX).max(self.noise())
    }

    /// Returns the part of it that has nothing to do with the load's size.
    pub(crate) fn noise(&self) -> f64 {
        let chance = if self.is_random { BACKLOG_SIGMA * self.n_due.max(0.0).sqrt() } else { 0.0 };
        BACKLOG_NOISE.max(chance)
    }
}

/// Judges whether an open load was carried: overall 95 %, each worker 75 %, and no growing backlog.
pub fn offered(inputs: &OfferedInputs) -> Gate {
    let name = GateName::Offered;
    if inputs.offered_iops.is_nan() || inputs.offered_iops <= 0.0 {
        return Gate::unknown(name, "no rate was asked for");
    }
    let share = inputs.achieved_iops / inputs.offered_iops;
    let due = inputs.offered_iops * inputs.window_s;
    let growth = inputs.backlog_end.saturating_sub(inputs.backlog_start) as f64 / due;
    let mut broken = Vec::new();
    if let Some(Behind { since_s, delay_s_max }) = inputs.behind {
        broken.push(format!(
            "not carried from {since_s:.0} s on: operations waited up to {delay_s_max:.0} s to be \
             begun"
        ));
    }
    if share.is_nan() || share < Limits::ACHIEVED_SHARE_MIN {
        broken.push(format!(
            "{} of {:.0} IOPS were achieved (limit 95 %)",
            pct(share),
            inputs.offered_iops
        ));
    }
    if let Some(worker_share) = inputs.worker_share_min.filter(|share| *share < WORKER_SHARE_MIN) {
        broken.push(format!("one worker achieved {} (limit 75 %)", pct(worker_share)));
    }
    if growth > BACKLOG_GROWTH_MAX {
        broken.push(format!(
            "the backlog grew from {} to {} operations",
            inputs.backlog_start, inputs.backlog_end
        ));
    }
    let reason = if broken.is_empty() {
        format!("{} of {:.0} IOPS were achieved", pct(share), inputs.offered_iops)
    } else {
        broken.join("; ")
    };
    let gate = Gate::judged(name, broken.is_empty(), reason);
    let gate = match inputs.behind {
        Some(behind) => {
            gate.with(&[("behind_since_s", behind.since_s), ("delay_s_max", behind.delay_s_max)])
        }
        None => gate,
    };
    let figures = [
        ("achieved_share", share),
        ("worker_share_min", inputs.worker_share_min.unwrap_or(f64::NAN)),
        ("backlog_growth_share", growth),
    ];
    gate.with(&figures)
}
