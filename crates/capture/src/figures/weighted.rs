//! Values with weights, and the percentiles of them.

use needs::{Figure, Label};

/// Values with their weights.
#[derive(Clone, Debug, Default)]
pub(super) struct Weighted {
    values: Vec<(f64, f64)>,
}

impl Weighted {
    /// Adds a value. One without weight says nothing.
    pub(super) fn put(&mut self, value: f64, weight: f64) {
        if weight > 0.0 && value.is_finite() {
            self.values.push((value, weight));
        }
    }

    /// Adds a value if it is known.
    pub(super) fn put_known(&mut self, value: Option<f64>, weight: f64) {
        if let Some(value) = value {
            self.put(value, weight);
        }
    }

    /// Makes a figure; none without values.
    pub(super) fn figure(mut self, label: Label, source: String) -> Option<Figure> {
        let total = self.sort();
        let (first, last) = (self.values.first()?.0, self.values.last()?.0);
        let sum: f64 = self.values.iter().map(|(value, weight)| value * weight).sum();
        let at = |q: f64| Some(self.at(q, total));
        Some(spread(sum / total, (first, last), at, label, source))
    }

    /// Makes the figure of a share, with the percentiles that turn into those of the rest.
    pub(super) fn share(mut self, label: Label, source: String) -> Option<Figure> {
        let total = self.sort();
        let (p1, p10) = (Some(self.at(0.01, total)), Some(self.at(0.10, total)));
        Some(Figure { p1, p10, ..self.figure(label, source)? })
    }

    /// Puts the values in order, and returns the weight of all of them.
    fn sort(&mut self) -> f64 {
        self.values.sort_by(|one, other| one.0.total_cmp(&other.0));
        self.values.iter().map(|(_, weight)| weight).sum()
    }

    /// Returns the smallest value that at least a share `q` of the weight does not exceed.
    fn at(&self, q: f64, total: f64) -> f64 {
        let due = q * total;
        // Sums of weights are not exact: a millionth of a part does not move a percentile.
        let tolerance = total * 1e-9;
        let mut reached = 0.0;
        let found = self.values.iter().find(|(_, weight)| {
            reached += weight;
            reached + tolerance >= due
        });
        found.or(self.values.last()).map_or(0.0, |(value, _)| *value)
    }
}

/// Makes a figure of values between a smallest and a largest one, `at` their quantiles. So is the
/// mean: a sum over a sum can be off by its last digit, which then rounds another way.
pub(super) fn spread(
    mean: f64,
    (min, max): (f64, f64),
    at: impl Fn(f64) -> Option<f64>,
    label: Label,
    source: String,
) -> Figure {
    Figure {
        p50: at(0.50),
        p90: at(0.90),
        p99: at(0.99),
        mean: Some(mean.max(min).min(max)),
        min: Some(min),
        max: Some(max),
        label,
        source,
        ..Figure::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three times the same value has it as its mean, to the last digit.
    #[test]
    fn a_mean_is_not_above_all_values() {
        for hundred_thousandths in (5..80_000).step_by(10) {
            let value = f64::from(hundred_thousandths) / 100_000.0;
            let mut values = Weighted::default();
            (0..3).for_each(|_| values.put(value, 15.0));
            let figure = values.figure(Label::Measured, String::new()).expect("there are values");
            assert_eq!(figure.mean, Some(value));
        }
    }

    #[test]
    fn percentiles_are_weighed() {
        let mut values = Weighted::default();
        // 90 s of 100 and 10 s of 1000: the 90th percentile is still 100.
        values.put(1000.0, 10.0);
        values.put(100.0, 90.0);
        values.put(5000.0, 0.0);
        let figure = values.figure(Label::Measured, String::new()).expect("there are values");
        assert_eq!((figure.p50, figure.p90, figure.p99), (Some(100.0), Some(100.0), Some(1000.0)));
        // (90 x 100 + 10 x 1000) / 100
        assert_eq!((figure.mean, figure.max), (Some(190.0), Some(1000.0)));
        assert_eq!(Weighted::default().figure(Label::Measured, String::new()), None);
    }
}
