//! How to search.

use super::N_CONTROLS_MAX;

/// In which order the points of the curve are measured. What heats up or fills up follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointOrder {
    /// From the lowest load up.
    Ascending,
    /// From the line down.
    Descending,
    /// Mixed, by a seed.
    Shuffled {
        /// The same seed gives the same order.
        seed: u64,
    },
}

/// How to search. Loads are in one unit: operations per second, or queue depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// First load to try.
    pub start: f64,
    /// Loads below are not tried; above 0.
    pub min: f64,
    /// Loads above are not tried.
    pub max: f64,
    /// Every load is a multiple of this: 1 for queue depths.
    pub step: f64,
    /// Growth of the load while nothing has failed; at least 1.1.
    pub factor: f64,
    /// Width of the bracket to stop at, as a share of the load: 0.02 for 2 %.
    pub tolerance: f64,
    /// Probes of each end of the bracket, the first one among them; at least 1.
    pub n_repeats: u32,
    /// Equally spaced points of the curve up to the line; 0 for none.
    pub n_curve_points: u32,
    /// Their order.
    pub order: PointOrder,
    /// Most probes to find the line: a volume without one must not be probed for ever. The curve
    /// and its controls come on top.
    pub n_probes_max: u32,
}

/// Why a search cannot be set up.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// A figure is not a number above 0.
    #[error("`{name}` is {value}, and must be above 0")]
    NotPositive {
        /// Which.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The loads are not in order.
    #[error("the first load {start} must lie between the smallest {min} and the largest {max}")]
    Order {
        /// The first load.
        start: f64,
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// The growth is too small to get anywhere.
    #[error("a growth of {factor} is too small; use 1.1 or more")]
    Factor {
        /// As given.
        factor: f64,
    },
    /// More steps than can be counted.
    #[error("the largest load {max} has too many steps of {step}")]
    Steps {
        /// The largest load.
        max: f64,
        /// The step.
        step: f64,
    },
}

/// Steps that a 64-bit floating number counts without loss.
const N_STEPS_MAX: f64 = 9e15;

impl SearchOptions {
    /// An open load: whole operations per second from `start`, up to a billion.
    pub fn rate(start: f64) -> Self {
        SearchOptions {
            start,
            min: 1.0,
            max: 1e9,
            step: 1.0,
            factor: 2.0,
            tolerance: 0.01,
            n_repeats: 3,
            n_curve_points: 10,
            order: PointOrder::Ascending,
            n_probes_max: 60,
        }
    }

    /// A closed load: queue depth from 1, which has the best possible latency, to `max`.
    pub fn depth(max: u32) -> Self {
        SearchOptions { max: f64::from(max), ..Self::rate(1.0) }
    }

    /// Returns the most probes of all phases together that are not void.
    pub fn n_taken_max(&self) -> u32 {
        self.n_probes_max + self.n_of_curve_max() + N_CONTROLS_MAX as u32
    }

    /// Returns the most probes of the curve: a point that fails is measured again.
    pub(super) fn n_of_curve_max(&self) -> u32 {
        2 * self.n_curve_points
    }

    pub(super) fn check(&self) -> Result<(), SearchError> {
        let figures = [
            ("start", self.start),
            ("min", self.min),
            ("max", self.max),
            ("step", self.step),
            ("tolerance", self.tolerance),
        ];
        for (name, value) in figures {
            if !(value > 0.0 && value.is_finite()) {
                return Err(SearchError::NotPositive { name, value });
            }
        }
        if self.n_repeats == 0 {
            return Err(SearchError::NotPositive { name: "n_repeats", value: 0.0 });
        }
        if !(self.min <= self.start && self.start <= self.max) {
            let (start, min, max) = (self.start, self.min, self.max);
            return Err(SearchError::Order { start, min, max });
        }
        if !(self.factor >= 1.1 && self.factor.is_finite()) {
            return Err(SearchError::Factor { factor: self.factor });
        }
        if self.max / self.step > N_STEPS_MAX {
            return Err(SearchError::Steps { max: self.max, step: self.step });
        }
        Ok(())
    }

    pub(super) fn units(&self, load: f64) -> u64 {
        ((load / self.step).round() as u64).max(1)
    }

    pub(super) fn units_start(&self) -> u64 {
        self.units(self.start).clamp(self.units_min(), self.units_max())
    }

    /// The smallest load, rounded up to whole steps.
    pub(super) fn units_min(&self) -> u64 {
        (((self.min / self.step) * (1.0 - 1e-12)).ceil() as u64).max(1)
    }

    /// The largest load, rounded down to whole steps.
    pub(super) fn units_max(&self) -> u64 {
        (((self.max / self.step) * (1.0 + 1e-12)) as u64).max(self.units_min())
    }

    /// Returns the next load while nothing has failed. Two steps at once where even a latency that
    /// grows with the load would keep the limit.
    pub(super) fn grown(&self, units: u64, pressure: Option<f64>) -> u64 {
        let two_steps = self.factor * self.factor;
        let is_light = pressure.is_some_and(|pressure| pressure * two_steps < 1.0);
        let factor = if is_light { two_steps } else { self.factor };
        ((units as f64 * factor) as u64).max(units + 1)
    }

    pub(super) fn shrunk(&self, units: u64) -> u64 {
        ((units as f64 / self.factor) as u64).clamp(1, units.max(2) - 1)
    }

    /// Returns whether nothing worth trying lies between.
    pub(super) fn is_close(&self, low: u64, high: u64) -> bool {
        assert!(low < high, "a bracket from {low} to {high}");
        high - low <= 1 || (high - low) as f64 <= self.tolerance * low as f64
    }
}
