//! Steady state, by the two tests of SNIA's Performance Test Specification.
//!
//! Over the last `window` rounds, with their mean `avg`: the values lie within `range_pct` % of
//! `avg`, and the least-squares line rises or falls by at most `slope_pct` % of `avg` across the
//! window. Both are needed: the first alone accepts a slow drift, the second alone accepts noise.
//!
//! Source: SNIA SSS PTS 2.0, as implemented in cloudharmony/block-storage.

use crate::series;

/// What counts as steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyRule {
    /// Rounds in the window; at least 2.
    pub n_rounds: usize,
    /// Largest difference of two values, percent of the mean.
    pub range_pct: f64,
    /// Largest rise or fall of the fitted line over the window, percent of the mean.
    pub slope_pct: f64,
}

impl SteadyRule {
    /// Checks that it can be kept and broken.
    pub(crate) fn must_be_one(&self) {
        let SteadyRule { n_rounds, range_pct, slope_pct } = *self;
        assert!(n_rounds >= 2, "a window of {n_rounds} rounds");
        assert!(range_pct > 0.0, "rounds within {range_pct} %");
        assert!(slope_pct > 0.0, "a level within {slope_pct} %");
    }
}

impl Default for SteadyRule {
    /// SNIA's: 5 rounds, 20 %, 10 %.
    fn default() -> Self {
        SteadyRule { n_rounds: 5, range_pct: 20.0, slope_pct: 10.0 }
    }
}

/// Rounds after which SNIA's test gives up.
pub const SNIA_ROUNDS_MAX: usize = 25;

/// Both tests of one window, with the figures that a report prints beside the limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowTest {
    /// Mean of the values.
    pub mean: f64,
    /// Largest less smallest value.
    pub range: f64,
    /// The most `range` may be.
    pub range_max: f64,
    /// Slope of the least-squares line, per round.
    pub slope: f64,
    /// Rise or fall of that line from the first to the last round, without sign.
    pub excursion: f64,
    /// The most `excursion` may be.
    pub excursion_max: f64,
}

/// Limits include equality; this much of a limit is rounding of binary fractions.
const ROUNDING: f64 = 1e-12;

impl WindowTest {
    /// Tests one window. None with fewer than two values, or where one is not finite.
    pub fn of(values: &[f64], rule: &SteadyRule) -> Option<Self> {
        let sorted = series::sorted(values)?;
        let mean = series::mean(values)?;
        let slope = series::slope(values)?;
        Some(WindowTest {
            mean,
            range: sorted[sorted.len() - 1] - sorted[0],
            range_max: rule.range_pct * mean.abs() / 100.0,
            slope,
            excursion: slope.abs() * (values.len() - 1) as f64,
            excursion_max: rule.slope_pct * mean.abs() / 100.0,
        })
    }

    /// Returns whether the values lie close enough together.
    pub fn is_range_kept(&self) -> bool {
        self.range <= self.range_max * (1.0 + ROUNDING)
    }

    /// Returns whether the fitted line is flat enough.
    pub fn is_slope_kept(&self) -> bool {
        self.excursion <= self.excursion_max * (1.0 + ROUNDING)
    }

    /// Returns whether both hold. A standstill (mean 0) is not a steady state.
    pub fn is_steady(&self) -> bool {
        self.mean != 0.0 && self.is_range_kept() && self.is_slope_kept()
    }
}

/// Whether a series became steady.
#[derive(Clone, Debug, PartialEq)]
pub enum Steadiness {
    /// All tracked series passed in the same window.
    Steady {
        /// First round of that window; it is the measurement.
        from_round: usize,
        /// The tests, in the order of the series.
        tests: Vec<WindowTest>,
    },
    /// No window passed. The tests are those of the last window; none of a series with a gap.
    NotSteady {
        /// In the order of the series.
        tests: Vec<Option<WindowTest>>,
    },
    /// Fewer rounds than a window has.
    NotAssessed {
        /// Rounds there are.
        n_rounds: usize,
    },
}

/// Looks for the first window in which every one of `tracked` is steady.
///
/// `tracked` are values per round of the same rounds, such as IOPS and the 99th percentile. Call it
/// after each round to run on until steady; the limit of rounds is the caller's
/// ([`SNIA_ROUNDS_MAX`]).
///
/// # Panics
/// If the rule is none, or the series are not of the same rounds.
pub fn assess(tracked: &[&[f64]], rule: &SteadyRule) -> Steadiness {
    rule.must_be_one();
    let lens: Vec<usize> = tracked.iter().map(|values| values.len()).collect();
    assert!(lens.windows(2).all(|pair| pair[0] == pair[1]), "series of {lens:?} rounds");
    let n_rounds = tracked.iter().map(|values| values.len()).min().unwrap_or(0);
    let window = rule.n_rounds;
    let Some(last_start) = n_rounds.checked_sub(window) else {
        return Steadiness::NotAssessed { n_rounds };
    };
    for from_round in 0..=last_start {
        let tests = window_tests(tracked, from_round, window, rule);
        let steady: Option<Vec<WindowTest>> =
            tests.into_iter().map(|test| test.filter(WindowTest::is_steady)).collect();
        if let Some(tests) = steady {
            return Steadiness::Steady { from_round, tests };
        }
    }
    Steadiness::NotSteady { tests: window_tests(tracked, last_start, window, rule) }
}

fn window_tests(
    tracked: &[&[f64]],
    from_round: usize,
    n_rounds: usize,
    rule: &SteadyRule,
) -> Vec<Option<WindowTest>> {
    let window = from_round..from_round + n_rounds;
    tracked.iter().map(|values| WindowTest::of(&values[window.clone()], rule)).collect()
}
