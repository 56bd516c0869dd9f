//! What the probes so far say about where the line is.

use std::collections::BTreeMap;

use super::ProbeResult;

/// The probes of one load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) n_pass: u32,
    pub(super) n_fail: u32,
    /// Of the last probe.
    pub(super) achieved: Option<f64>,
    /// Of the last probe.
    pub(super) pressure: Option<f64>,
}

impl Tally {
    pub(super) fn add(&mut self, result: &ProbeResult) {
        let count = if result.passed { &mut self.n_pass } else { &mut self.n_fail };
        *count += 1;
        self.achieved = result.achieved.filter(|achieved| achieved.is_finite());
        self.pressure = result.pressure.filter(|pressure| pressure.is_finite());
    }

    pub(super) fn n(&self) -> u32 {
        self.n_pass + self.n_fail
    }
}

/// The loads that matter, in units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Edges {
    /// Highest load that never failed, below all that did.
    pub(super) pass: Option<u64>,
    /// Lowest load that failed at least once.
    pub(super) fail: Option<u64>,
    /// Lowest load that always failed, above all that passed.
    pub(super) fails_all: Option<u64>,
    /// Highest load that passed at least once.
    pub(super) doubtful: Option<u64>,
}

impl Edges {
    pub(super) fn of(tallies: &BTreeMap<u64, Tally>) -> Self {
        let fail = tallies.iter().find(|(_, tally)| tally.n_fail > 0).map(|(units, _)| *units);
        let below = tallies.range(..fail.unwrap_or(u64::MAX));
        let doubtful = tallies.iter().rev().find(|(_, tally)| tally.n_pass > 0);
        let doubtful = doubtful.map(|(units, _)| *units);
        let above = tallies.range(doubtful.map_or(0, |units| units + 1)..);
        Edges {
            pass: below.last().map(|(units, _)| *units),
            fail,
            fails_all: above.into_iter().next().map(|(units, _)| *units),
            doubtful,
        }
    }
}
