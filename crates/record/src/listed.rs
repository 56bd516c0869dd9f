//! Latencies of which only some figures are known, as another program printed them.

use hist::Histogram;
use serde::{Deserialize, Serialize};

/// A distribution that came without its histogram: its moments, and values at some percentiles.
///
/// Nothing else may be derived from it: a percentile that is not listed is not known.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ListedLatency {
    /// Number of values.
    pub n: u64,
    /// Smallest, where it was printed.
    pub min_ns: Option<u64>,
    /// Largest, where it was printed.
    pub max_ns: Option<u64>,
    /// Mean.
    #[serde(deserialize_with = "crate::number::number_or_null")]
    pub mean_ns: f64,
    /// Standard deviation (n - 1), where it was printed.
    pub stdev_ns: Option<f64>,
    /// Percentiles (0 to 100) with their values, ascending; empty where none was printed.
    pub percentiles: Vec<(f64, u64)>,
}

/// What is known of a direction's latencies where histograms are not.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ListedLatencies {
    /// From the choice of an operation to its submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slat: Option<ListedLatency>,
    /// From submission to completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clat: Option<ListedLatency>,
    /// From the choice of an operation to its completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<ListedLatency>,
}

/// A distribution as far as it is known: measured here, or listed by another program.
#[derive(Clone, Copy, Debug)]
pub enum Latency<'a> {
    /// Everything.
    Measured(&'a Histogram),
    /// Some figures.
    Listed(&'a ListedLatency),
}

impl Latency<'_> {
    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        match self {
            Latency::Measured(hist) => hist.count(),
            Latency::Listed(listed) => listed.n,
        }
    }

    /// Returns the smallest value; `None` without any, and where it is not known.
    pub fn min_ns(&self) -> Option<u64> {
        match self {
            Latency::Measured(hist) => hist.min_ns(),
            Latency::Listed(listed) => listed.min_ns.filter(|_| listed.n > 0),
        }
    }

    /// Returns the largest value; `None` without any, and where it is not known.
    pub fn max_ns(&self) -> Option<u64> {
        match self {
            Latency::Measured(hist) => hist.max_ns(),
            Latency::Listed(listed) => listed.max_ns.filter(|_| listed.n > 0),
        }
    }

    /// Returns the mean; `None` without any value.
    pub fn mean_ns(&self) -> Option<f64> {
        match self {
            Latency::Measured(hist) => hist.mean_ns(),
            Latency::Listed(listed) => (listed.n > 0).then_some(listed.mean_ns),
        }
    }

    /// Returns the standard deviation (n - 1); `None` with fewer than two values, and where it is
    /// not known.
    pub fn stdev_ns(&self) -> Option<f64> {
        match self {
            Latency::Measured(hist) => hist.stdev_ns(),
            Latency::Listed(listed) => listed.stdev_ns.filter(|_| listed.n > 1),
        }
    }

    /// Returns the value at a percentile, 0 to 100; `None` where it is not known.
    ///
    /// # Panics
    /// If there is no such percentile.
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        assert!((0.0..=100.0).contains(&percentile), "the percentile {percentile}");
        match self {
            Latency::Measured(hist) => hist.quantile(percentile / 100.0),
            Latency::Listed(listed) => {
                let is_it = |(of, _): &&(f64, u64)| (of - percentile).abs() < 1e-6;
                listed.percentiles.iter().find(is_it).map(|(_, ns)| *ns)
            }
        }
    }

    /// Returns whether any percentile is known.
    pub fn has_percentiles(&self) -> bool {
        match self {
            Latency::Measured(hist) => !hist.is_empty(),
            Latency::Listed(listed) => listed.n > 0 && !listed.percentiles.is_empty(),
        }
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
}

impl ListedLatencies {
    /// Adds another worker's. Percentiles cannot be merged: none is known afterwards.
    pub fn merge(&mut self, other: &ListedLatencies) {
        let pairs = [
            (&mut self.slat, &other.slat),
            (&mut self.clat, &other.clat),
            (&mut self.lat, &other.lat),
        ];
        for (mine, theirs) in pairs {
            match (mine.as_mut(), theirs) {
                (Some(mine), Some(theirs)) => mine.merge(theirs),
                (None, Some(theirs)) => *mine = Some(theirs.clone()),
                (_, None) => {}
            }
        }
    }
}

impl ListedLatency {
    /// Adds another worker's, without its percentiles.
    pub(crate) fn merge(&mut self, other: &ListedLatency) {
        if other.n == 0 {
            return;
        }
        if self.n == 0 {
            self.clone_from(other);
            return;
        }
        let (mine, theirs) = (self.n as f64, other.n as f64);
        let mean_ns = (self.mean_ns * mine + other.mean_ns * theirs) / (mine + theirs);
        // Around the common mean.
        let squares = |of: &ListedLatency| {
            let own = of.stdev_ns?.powi(2) * (of.n as f64 - 1.0);
            Some(own + (of.mean_ns - mean_ns).powi(2) * of.n as f64)
        };
        let squares = squares(self).zip(squares(other));
        self.stdev_ns = squares.map(|(one, other)| ((one + other) / (mine + theirs - 1.0)).sqrt());
        self.mean_ns = mean_ns;
        self.n = self.n.saturating_add(other.n);
        self.min_ns = self.min_ns.zip(other.min_ns).map(|(one, other)| one.min(other));
        self.max_ns = self.max_ns.zip(other.max_ns).map(|(one, other)| one.max(other));
        self.percentiles.clear();
    }
}
