//! The limits that a load must keep to count as carried: `p99 < 2ms and achieved > 95%`.
//!
//! One limit is a figure, a comparison and a value; several are joined by `and` or a comma. `<` and
//! `<=` mean the same, and so do `>` and `>=`: a histogram does not tell them apart. Capitals and
//! blanks are free.
//!
//! | figure | is | value |
//! |---|---|---|
//! | `p50`, `p99.9`, ... | a percentile of the latency | a time with its unit |
//! | `median`, `mean`, `max` | of the latency | a time with its unit |
//! | `achieved` | completed over offered rate; open load only | `95%` or `0.95` |

use std::fmt;
use std::time::Duration;

use hist::Histogram;

use crate::thin::{N_BEYOND_MIN, n_ios_for};

mod parse;

pub use parse::{Comparison, LimitError, LimitMistake, Piece, pieces};

/// A figure of a latency distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LatencyFigure {
    /// Percentile, above 0 and below 100.
    Percentile(f64),
    /// Arithmetic mean.
    Mean,
    /// Largest value.
    Max,
}

impl LatencyFigure {
    /// Reads the figure off a histogram, in nanoseconds; none when it is empty.
    ///
    /// # Panics
    /// If it is a percentile that there is not.
    pub fn of(self, latency: &Histogram) -> Option<f64> {
        match self {
            LatencyFigure::Percentile(percentile) => {
                let is_one = percentile > 0.0 && percentile < 100.0;
                assert!(is_one, "the percentile {percentile} of a latency");
                latency.quantile(percentile / 100.0).map(|ns| ns as f64)
            }
            LatencyFigure::Mean => latency.mean_ns(),
            LatencyFigure::Max => latency.max_ns().map(|ns| ns as f64),
        }
    }
}

impl fmt::Display for LatencyFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LatencyFigure::Percentile(percentile) => write!(f, "p{percentile}"),
            LatencyFigure::Mean => f.write_str("mean"),
            LatencyFigure::Max => f.write_str("max"),
        }
    }
}

/// One condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A figure of the latency is at most this.
    Latency {
        /// Which figure. Under an open load of the response time, else of the service time.
        figure: LatencyFigure,
        /// It must be less, nanoseconds; above 0.
        ns_max: u64,
    },
    /// Completed over offered rate is at least this.
    Achieved {
        /// 0 to 1, above 0.
        share_min: f64,
    },
}

/// What was measured at a load.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Response time under an open load, else service time.
    pub latency: &'a Histogram,
    /// Operations completed per second.
    pub achieved_iops: f64,
    /// Operations per second asked for; none in a closed loop.
    pub offered_iops: Option<f64>,
}

impl Limit {
    /// Returns the measured figure, nanoseconds or a share; none where there is none, such as
    /// a latency without operations, or `achieved` in a closed loop.
    pub fn figure(&self, measured: &Measured<'_>) -> Option<f64> {
        match self {
            Limit::Latency { figure, .. } => figure.of(measured.latency),
            Limit::Achieved { .. } => {
                let offered = measured.offered_iops.filter(|offered| *offered > 0.0)?;
                Some(measured.achieved_iops / offered)
            }
        }
    }

    /// Returns how hard the limit is pressed: 1 at the limit, above it broken, infinite where there
    /// is no figure. Of a latency its share of the limit; of the achieved rate what is missing, as
    /// a share of what may be missing.
    pub fn pressure(&self, measured: &Measured<'_>) -> f64 {
        let Some(figure) = self.figure(measured) else { return f64::INFINITY };
        match self {
            Limit::Latency { ns_max, .. } => figure / *ns_max as f64,
            Limit::Achieved { .. } if figure >= 1.0 => 0.0,
            Limit::Achieved { share_min } => (1.0 - figure) / (1.0 - share_min),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Latency { figure, ns_max } => {
                write!(f, "{figure} < {}", Exact(Duration::from_nanos(*ns_max)))
            }
            Limit::Achieved { share_min } => write!(f, "achieved > {share_min}"),
        }
    }
}

/// A duration in the largest unit that loses nothing, so that what is printed reads back the same.
struct Exact(Duration);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.as_nanos();
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        match units.iter().find(|(unit_ns, _)| ns.is_multiple_of(*unit_ns)) {
            Some((unit_ns, unit)) => write!(f, "{}{unit}", ns / unit_ns),
            None => write!(f, "{ns}ns"),
        }
    }
}

/// Conditions that must all hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// In the order in which they were written.
    pub all: Vec<Limit>,
}

impl Limits {
    /// Share of the offered rate below which a point does not count as carried, unless given (the
    /// gate of SPEC and SFS).
    pub const ACHIEVED_SHARE_MIN: f64 = 0.95;

    /// Adds the usual condition on the achieved rate, unless there is one.
    #[must_use]
    pub fn with_achieved(mut self) -> Self {
        if !self.needs_offered() {
            self.all.push(Limit::Achieved { share_min: Self::ACHIEVED_SHARE_MIN });
        }
        self
    }

    /// Returns whether a condition makes sense under an open load only.
    pub fn needs_offered(&self) -> bool {
        self.all.iter().any(|limit| matches!(limit, Limit::Achieved { .. }))
    }

    /// Returns the conditions that a measured point breaks, in their order.
    pub fn broken(&self, measured: &Measured<'_>) -> Vec<Limit> {
        let is_broken = |limit: &&Limit| match limit.pressure(measured) {
            // `p99 < 10ms` is not 10 ms.
            pressure if matches!(limit, Limit::Latency { .. }) => pressure >= 1.0,
            pressure => pressure > 1.0,
        };
        self.all.iter().filter(is_broken).copied().collect()
    }

    /// Returns how hard the hardest pressed condition is pressed, see [`Limit::pressure`]; 0
    /// without conditions.
    pub fn pressure(&self, measured: &Measured<'_>) -> f64 {
        self.all.iter().map(|limit| limit.pressure(measured)).fold(0.0, f64::max)
    }
}

/// Too few operations to tell whether a limit is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooFew {
    /// The figure that they say too little about.
    pub figure: LatencyFigure,
    /// Operations that there were.
    pub n_ios: u64,
    /// Operations that it takes: ten beyond the percentile.
    pub n_ios_needed: u64,
}

impl LatencyFigure {
    /// Returns how many operations it takes: ten beyond a percentile.
    pub fn n_ios_needed(self) -> u64 {
        match self {
            LatencyFigure::Percentile(percentile) => n_ios_for(percentile),
            LatencyFigure::Mean | LatencyFigure::Max => N_BEYOND_MIN as u64,
        }
    }
}

impl Limits {
    /// Returns how many operations a point needs to say whether it keeps the limits.
    pub fn n_ios_needed(&self) -> u64 {
        let needed = self.all.iter().map(|limit| match limit {
            Limit::Latency { figure, .. } => figure.n_ios_needed(),
            Limit::Achieved { .. } => 0,
        });
        needed.max().unwrap_or(0)
    }

    /// Returns what a point has too few operations for; none where it says what it is asked. A
    /// limit is broken for sure where ten operations were slower than it, and kept for sure
    /// where ten lie beyond its percentile.
    pub fn too_few(&self, measured: &Measured<'_>) -> Option<TooFew> {
        let n_ios = measured.latency.count();
        let mut found = None;
        for limit in &self.all {
            let Limit::Latency { figure, ns_max } = limit else {
                if limit.pressure(measured) > 1.0 {
                    return None;
                }
                continue;
            };
            let n_slow = n_ios.saturating_sub(measured.latency.count_below(*ns_max));
            let is_broken = limit.pressure(measured) >= 1.0;
            if is_broken && n_slow as f64 >= N_BEYOND_MIN {
                return None;
            }
            let n_ios_needed = figure.n_ios_needed();
            if n_ios < n_ios_needed && found.is_none() {
                found = Some(TooFew { figure: *figure, n_ios, n_ios_needed });
            }
        }
        found
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, limit) in self.all.iter().enumerate() {
            let joint = if idx == 0 { "" } else { " and " };
            write!(f, "{joint}{limit}")?;
        }
        Ok(())
    }
}
