//! Where to try next between a load that passes and one that fails.

use super::Search;

/// Least share of a bracket that a guess cuts off at either end: a guess beside an end that is
/// wrong gains nothing.
const CUT_MIN: f64 = 0.1;

/// Most guesses from an achieved rate: a volume that collapses under overload achieves, each time
/// again, less than it could carry, or much more than its limits allow.
const BY_ACHIEVED_MAX: u32 = 4;

/// Where such guesses lie from what was achieved, in tolerances. The last two are for limits so
/// wide that a queue may grow for all of a probe and keep them.
const BY_ACHIEVED: [f64; 4] = [-0.5, 1.0 / 3.0, 4.0 / 3.0, 4.0];

/// Returns the geometric middle of two loads that are not neighbours.
pub(super) fn middle(low: u64, high: u64) -> u64 {
    ((low as f64 * high as f64).sqrt() as u64).clamp(low + 1, high - 1)
}

impl Search {
    /// Returns a load strictly between both.
    pub(super) fn narrow(&mut self, pass: u64, fail: u64) -> u64 {
        let inside = |units: u64| units.clamp(pass + 1, fail - 1);
        if self.n_by_achieved < BY_ACHIEVED_MAX
            && let Some(guess) = self.by_achieved(pass, fail)
        {
            self.n_by_achieved += 1;
            return inside(guess);
        }
        let width = (fail as f64 / pass as f64).ln();
        // A guess that left more than half of the bracket was a bad one: halve it once.
        let was_bad = self.width_before.is_some_and(|before| width > before / 2.0);
        let guess = if was_bad { None } else { self.by_pressure(pass, fail) };
        self.width_before = guess.is_some().then_some(width);
        inside(guess.unwrap_or_else(|| middle(pass, fail)))
    }

    /// Guesses from what an overloaded probe achieved: the line is not above that. First a little
    /// below it, then ever more above: the first two together are a bracket within the tolerance.
    fn by_achieved(&self, pass: u64, fail: u64) -> Option<u64> {
        let tolerance = self.options.tolerance;
        let achieved = self.tally(fail).achieved? / self.options.step;
        let (low, high) = (pass as f64, fail as f64);
        if achieved >= high * (1.0 - tolerance) {
            return None;
        }
        let mut guesses = BY_ACHIEVED.iter().map(|part| achieved * (1.0 + part * tolerance));
        let guess = guesses.find(|guess| *guess > low * (1.0 + tolerance / 4.0));
        guess.filter(|guess| *guess < high).map(|guess| guess as u64)
    }

    /// Guesses from how hard the limits were pressed at both ends: near saturation the inverse of a
    /// waiting time falls in a straight line.
    fn by_pressure(&self, pass: u64, fail: u64) -> Option<u64> {
        let inverse = |units| self.tally(units).pressure.filter(|p| *p > 0.0).map(|p| 1.0 / p);
        let (at_pass, at_fail) = (inverse(pass)?, inverse(fail)?);
        if at_pass <= 1.0 || at_fail >= 1.0 {
            return None; // failed for another reason than the limits
        }
        let (low, high) = (pass as f64, fail as f64);
        let part = ((at_pass - 1.0) / (at_pass - at_fail)).clamp(CUT_MIN, 1.0 - CUT_MIN);
        Some((low + part * (high - low)) as u64)
    }
}
