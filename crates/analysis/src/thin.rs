//! Percentiles of too few operations: accidents, not figures.

/// A percentile of too few operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinPercentile {
    /// Operations that there were.
    pub n_ios: u64,
    /// Operations that it takes.
    pub n_ios_needed: u64,
}

impl ThinPercentile {
    /// Returns whether a percentile of so many operations has too few beyond it.
    ///
    /// # Panics
    /// If the percentile is below 0, or none lies beyond it.
    pub fn of(n_ios: u64, percentile: f64) -> Option<Self> {
        let n_ios_needed = n_ios_for(percentile);
        (n_ios < n_ios_needed).then_some(ThinPercentile { n_ios, n_ios_needed })
    }
}

/// Operations that must lie beyond a percentile for it to be a figure and not an accident.
pub const N_BEYOND_MIN: f64 = 10.0;

/// Returns how many operations it takes for [`N_BEYOND_MIN`] of them to lie beyond a percentile.
///
/// # Panics
/// If the percentile is below 0, or none lies beyond it.
pub fn n_ios_for(percentile: f64) -> u64 {
    // 100,000 for 99.99, though its binary fraction leaves a little less than a ten-thousandth.
    (N_BEYOND_MIN / n_beyond(1, percentile) * (1.0 - 1e-9)).ceil() as u64
}

/// Returns how many of so many operations lie beyond a percentile.
///
/// # Panics
/// If the percentile is below 0, or none lies beyond it.
pub fn n_beyond(n_ios: u64, percentile: f64) -> f64 {
    assert!((0.0..100.0).contains(&percentile), "operations beyond the percentile {percentile}");
    n_ios as f64 * (1.0 - percentile / 100.0)
}
