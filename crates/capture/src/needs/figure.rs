//! A figure: percentiles, where they come from, and how sure they are.

use serde::{Deserialize, Serialize};

/// How sure a figure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Returns its word in files and tables.
    pub fn word(self) -> &'static str {
        match self {
            Label::Measured => "measured",
            Label::Estimated => "estimated",
            Label::Assumed => "assumed",
        }
    }
}

/// Percentiles of one thing. What is not known of them is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Figure {
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenAmount")]
pub struct Amount {
    /// The number.
    pub value: f64,
    /// How sure it is.
    pub label: Label,
    /// Where it comes from, and by which rule.
    pub source: String,
}

/// What is taken for the source of a number that stands alone.
const BY_HAND: &str = "by hand";

/// A figure as it is written: a person may write one number.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or { p50 = .., p90 = .., p99 = .. }")]
enum Written {
    Number(f64),
    Whole(Whole),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Whole {
    p50: Option<f64>,
    p90: Option<f64>,
    p99: Option<f64>,
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    label: Label,
    source: String,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or { value = .. }")]
enum WrittenAmount {
    Number(f64),
    Whole(WholeAmount),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WholeAmount {
    value: f64,
    #[serde(default)]
    label: Label,
    #[serde(default)]
    source: String,
}

impl From<Written> for Figure {
    fn from(written: Written) -> Self {
        match written {
            Written::Number(number) => {
                let number = Some(number);
                let (p50, p90, p99, mean) = (number, number, number, number);
                let (label, source) = (Label::Assumed, BY_HAND.to_owned());
                Figure { p50, p90, p99, mean, min: number, max: number, label, source }
            }
            Written::Whole(Whole { p50, p90, p99, mean, min, max, label, source }) => {
                Figure { p50, p90, p99, mean, min, max, label, source }
            }
        }
    }
}

impl From<WrittenAmount> for Amount {
    fn from(written: WrittenAmount) -> Self {
        match written {
            WrittenAmount::Number(value) => {
                Amount { value, label: Label::Assumed, source: BY_HAND.to_owned() }
            }
            WrittenAmount::Whole(WholeAmount { value, label, source }) => {
                Amount { value, label, source }
            }
        }
    }
}

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
        self.values.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (first, last) = (self.values.first()?.0, self.values.last()?.0);
        let total: f64 = self.values.iter().map(|(_, weight)| weight).sum();
        let sum: f64 = self.values.iter().map(|(value, weight)| value * weight).sum();
        Some(Figure {
            p50: Some(self.at(0.50, total)),
            p90: Some(self.at(0.90, total)),
            p99: Some(self.at(0.99, total)),
            mean: Some(sum / total),
            min: Some(first),
            max: Some(last),
            label,
            source,
        })
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

#[cfg(test)]
mod tests {
    use super::*;

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
