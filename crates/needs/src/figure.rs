//! A figure: percentiles, where they come from, and how sure they are.

use serde::Serialize;

/// How sure a figure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Counted by the source.
    Measured,
    /// Worked out of what the source counts, by a rule that can be wrong.
    Estimated,
    /// Nothing was counted that tells it; or written by a person.
    #[default]
    Assumed,
}

impl Label {
    /// All of them, the surest first.
    pub const ALL: [Label; 3] = units::all_of!(Label: Measured, Estimated, Assumed);

    /// Returns its word in files and tables.
    pub fn word(self) -> &'static str {
        match self {
            Label::Measured => "measured",
            Label::Estimated => "estimated",
            Label::Assumed => "assumed",
        }
    }
}

/// Which percentile a design must carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Percentile {
    /// The median.
    P50,
    /// 90th percentile.
    P90,
    /// 99th percentile.
    #[default]
    P99,
    /// The largest sample.
    Max,
}

impl Percentile {
    /// All of them, from the smallest on.
    pub const ALL: [Percentile; 4] = units::all_of!(Percentile: P50, P90, P99, Max);

    /// Returns the share of time in which more may be asked, 0 to 1.
    pub fn rest(self) -> f64 {
        match self {
            Percentile::P50 => 0.5,
            Percentile::P90 => 0.1,
            Percentile::P99 => 0.01,
            Percentile::Max => 0.0,
        }
    }

    /// Returns its word in files.
    pub fn word(self) -> &'static str {
        match self {
            Percentile::P50 => "p50",
            Percentile::P90 => "p90",
            Percentile::P99 => "p99",
            Percentile::Max => "max",
        }
    }
}

/// Percentiles of one thing. What is not known of them is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// 1st percentile, of shares: what is left of 100 % has its 99th there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p1: Option<f64>,
    /// 10th percentile, of shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p10: Option<f64>,
    /// 50th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// 90th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<f64>,
    /// 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// Mean of all, weighed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Smallest sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// How sure it is.
    pub label: Label,
    /// Where it comes from, and by which rule.
    pub source: String,
}

/// One number.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Amount {
    /// The number.
    pub value: f64,
    /// How sure it is.
    pub label: Label,
    /// Where it comes from, and by which rule.
    pub source: String,
}

/// What is taken for the source of what a person writes.
pub(crate) const BY_HAND: &str = "by hand";

/// Makes one list of the numbers of a figure: each is a field, and the key of a file that has its
/// name. Behind it the share of all samples that are smaller; none for what is no sample.
macro_rules! numbers {
    ($($name:ident: $share_below:expr,)+) => {
        /// How many numbers there are.
        const N_NUMBERS: usize = [$(stringify!($name)),+].len();

        /// Share of all samples below each, in the order of [`Figure::values`].
        const SHARES_BELOW: [Option<f64>; N_NUMBERS] = [$($share_below),+];

        impl Figure {
            /// Returns its numbers with the names of their keys, in the order of the file.
            pub fn values(&self) -> [(&'static str, Option<f64>); N_NUMBERS] {
                let Figure { $($name,)+ label: _, source: _ } = self;
                [$((stringify!($name), *$name)),+]
            }

            /// Makes a figure of what a file says of each key.
            pub(crate) fn of_keys(
                mut number: impl FnMut(&'static str) -> Option<f64>,
                label: Label,
                source: String,
            ) -> Self {
                Figure { $($name: number(stringify!($name)),)+ label, source }
            }
        }
    };
}

numbers! {
    p1: Some(0.01),
    p10: Some(0.1),
    p50: Some(0.5),
    p90: Some(0.9),
    p99: Some(0.99),
    mean: None,
    min: Some(0.0),
    max: Some(1.0),
}

impl Figure {
    /// Makes the figure of one number that a person writes: it is that all the time.
    pub fn by_hand(value: f64) -> Self {
        let value = Some(value);
        let (p50, p90, p99, mean, min, max) = (value, value, value, value, value, value);
        let (label, source) = (Label::Assumed, BY_HAND.to_owned());
        Figure { p50, p90, p99, mean, min, max, label, source, ..Figure::default() }
    }

    /// Returns the number that it is all the time; none where it may change.
    pub fn constant(&self) -> Option<f64> {
        self.min.filter(|min| self.max == Some(*min))
    }

    /// Returns its numbers that are samples, with the names of their keys, the smallest first.
    pub(crate) fn ascending(&self) -> Vec<(&'static str, f64)> {
        let known = self.values().into_iter().zip(SHARES_BELOW);
        let known = known.filter_map(|((name, value), share)| Some((name, value?, share?)));
        let mut known: Vec<(&str, f64, f64)> = known.collect();
        known.sort_by(|one, other| one.2.total_cmp(&other.2));
        known.into_iter().map(|(name, value, _)| (name, value)).collect()
    }

    /// Returns the number at a percentile; none where it is not known.
    fn of(&self, percentile: Percentile) -> Option<f64> {
        match percentile {
            Percentile::P50 => self.p50,
            Percentile::P90 => self.p90,
            Percentile::P99 => self.p99,
            Percentile::Max => self.max,
        }
    }

    /// Returns the number at a percentile, and the word for what it is: the next larger one that
    /// is known, else the next smaller one, else the mean.
    pub fn at(&self, percentile: Percentile) -> Option<(f64, &'static str)> {
        let known = |at: &Percentile| self.of(*at).map(|value| (value, at.word()));
        let above = Percentile::ALL.iter().filter(|at| **at >= percentile).find_map(known);
        let below = || Percentile::ALL.iter().rev().filter(|at| **at < percentile).find_map(known);
        above.or_else(below).or(self.mean.map(|mean| (mean, "mean")))
    }

    /// Returns what is usual: the mean, else that of what the percentiles tell.
    pub fn usual(&self) -> Option<(f64, &'static str)> {
        if let Some(mean) = self.mean {
            return Some((mean, "mean"));
        }
        let values = self.split();
        let mean = values.iter().map(|(value, share)| value * share).sum();
        match values[..] {
            [] => None,
            [_] => self.at(Percentile::P50),
            _ => Some((mean, "mean of its percentiles")),
        }
    }

    /// Returns values with their shares, 0 to 1, that have these percentiles and this mean, as far
    /// as values at the percentiles alone can: between two of them a share is at the lower one and
    /// the rest at the upper one, the same share everywhere, and half where no mean is known.
    pub fn split(&self) -> Vec<(f64, f64)> {
        let inner = Percentile::ALL.into_iter().filter(|at| *at != Percentile::Max);
        let known = inner.filter_map(|at| Some((1.0 - at.rest(), self.of(at)?)));
        let mut points: Vec<(f64, f64)> = known.collect();
        let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) else {
            let one = self.mean.or(self.max).or(self.min);
            return one.map(|value| (value, 1.0)).into_iter().collect();
        };
        points.insert(0, (0.0, self.min.unwrap_or(first.1)));
        points.push((1.0, self.max.unwrap_or(last.1)));
        let sum = |at: usize| -> f64 {
            points.windows(2).map(|pair| (pair[1].0 - pair[0].0) * pair[at].1).sum()
        };
        let (low, high) = (sum(0), sum(1));
        let mean = self.mean.unwrap_or(f64::midpoint(low, high));
        let at_lower =
            if high > low { ((high - mean) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
        let mut values: Vec<(f64, f64)> = Vec::new();
        let mut put = |value: f64, share: f64| match values.last_mut() {
            Some(before) if value <= before.0 => before.1 += share,
            _ if share > 0.0 => values.push((value, share)),
            _ => {}
        };
        for pair in points.windows(2) {
            let share = pair[1].0 - pair[0].0;
            put(pair[0].1, share * at_lower);
            put(pair[1].1, share * (1.0 - at_lower));
        }
        values
    }
}

impl Amount {
    /// Makes the amount that a person writes.
    pub fn by_hand(value: f64) -> Self {
        Amount { value, label: Label::Assumed, source: BY_HAND.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_that_is_not_known_is_the_next_larger_one() {
        let whole = Figure { p50: Some(1.0), p90: Some(2.0), max: Some(4.0), ..Figure::default() };
        for (percentile, expected) in [
            (Percentile::P50, (1.0, "p50")),
            (Percentile::P90, (2.0, "p90")),
            (Percentile::P99, (4.0, "max")),
            (Percentile::Max, (4.0, "max")),
        ] {
            assert_eq!(whole.at(percentile), Some(expected), "{percentile:?}");
        }
        let part = Figure { p50: Some(1.0), mean: Some(3.0), ..Figure::default() };
        assert_eq!(part.at(Percentile::P99), Some((1.0, "p50")));
        assert_eq!(part.usual(), Some((3.0, "mean")));
        let wide = Figure { p50: Some(8.0), p99: Some(64.0), ..Figure::default() };
        // 0.5 + 0.49 / 2 at 8, 0.49 / 2 + 0.01 at 64.
        assert_eq!(wide.usual().map(|it| it.0.round()), Some(22.0));
        let mean = Figure { mean: Some(3.0), ..Figure::default() };
        assert_eq!(mean.at(Percentile::P99), Some((3.0, "mean")));
        assert_eq!(Figure::default().at(Percentile::P50), None);
    }

    #[track_caller]
    fn check_split(figure: &Figure, expected: &[(f64, f64)]) {
        let found = figure.split();
        let is_near = found.len() == expected.len()
            && found.iter().zip(expected).all(|(one, other)| {
                (one.0 - other.0).abs() < 1e-9 && (one.1 - other.1).abs() < 1e-9
            });
        assert!(is_near, "{found:?} instead of {expected:?}");
    }

    /// 70 of 100 at 8 and 30 at 64: their percentiles and mean tell them again.
    #[test]
    fn percentiles_and_mean_says_the_values() {
        let (small, large) = (Some(8.0), Some(64.0));
        let figure = Figure { p50: small, p90: large, p99: large, ..Figure::default() };
        let whole = Figure { mean: Some(24.8), min: small, max: large, ..figure };
        check_split(&whole, &[(8.0, 0.7), (64.0, 0.3)]);
        check_split(&Figure::by_hand(4.0), &[(4.0, 1.0)]);
        check_split(&Figure { mean: Some(10.7), max: large, ..Figure::default() }, &[(10.7, 1.0)]);
        check_split(&Figure::default(), &[]);
    }
}
