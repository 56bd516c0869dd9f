//! The run over time.

use std::collections::BTreeMap;

use crate::counts::LatencyCounts;
use crate::job::PerDirRecord;
use crate::{Figure, Figures, Latency};
use hist::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One sampling period of the whole run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// Step the period belongs to, from 0.
    pub step_idx: u32,
    /// End of the period, milliseconds after the start of the run.
    pub end_ms: u64,
    /// Length, milliseconds.
    pub length_ms: u64,
    /// Taken during a ramp: not part of any total.
    pub ramp: bool,
    /// Hosts that the counts are of, where the load came from several: fewer than there were, where
    /// one was lost or ended before the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_hosts: Option<u32>,
    /// Counts per direction.
    pub dirs: PerDirRecord<IntervalDir>,
    /// The same by job, part and kind of operation; empty unless asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<IntervalSeries>,
    /// What this host's processors did; `None` unless asked for, or where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuShares>,
    /// What one of several hosts was at as it ended; `None` of a load of this host alone, and of
    /// all hosts together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostSecond>,
}

/// What a host was at as a period ended.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct HostSecond {
    /// Operations that each job had in flight when the last ones completed, by its name.
    pub n_in_flight: BTreeMap<String, u64>,
    /// How busy it was in the period; `None` where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadShares>,
}

/// How busy a host was; shares from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadShares {
    /// Of the time of all its processors, without what was stolen.
    pub busy_share: f64,
    /// Part of it that this program used.
    pub own_share: f64,
    /// Of the time of all its processors, what its hypervisor gave to others.
    pub steal_share: f64,
}

impl Interval {
    /// Adds what another period, or another host in the same one, did in each direction: counts
    /// add up, and `join` adds the second latencies to the first.
    pub fn add_dirs<F>(&mut self, other: &Interval, join: F)
    where
        F: Fn((&mut IntervalLatency, &mut LatencyCounts), (&IntervalLatency, &LatencyCounts)),
    {
        let mine = [&mut self.dirs.read, &mut self.dirs.write, &mut self.dirs.trim];
        for (mine, (_, theirs)) in mine.into_iter().zip(other.dirs.iter()) {
            mine.n_ios = mine.n_ios.saturating_add(theirs.n_ios);
            mine.io_bytes = mine.io_bytes.saturating_add(theirs.io_bytes);
            join(
                (&mut mine.latency, &mut mine.latency_counts),
                (&theirs.latency, &theirs.latency_counts),
            );
            match (&mut mine.response, &theirs.response) {
                (Some(mine), Some(theirs)) => join(
                    (&mut mine.latency, &mut mine.latency_counts),
                    (&theirs.latency, &theirs.latency_counts),
                ),
                // Where one did nothing in this direction, the other's are those of both.
                (None, Some(_)) => mine.response.clone_from(&theirs.response),
                (Some(_) | None, None) => {}
            }
        }
    }
}

/// What one job did in one period, of one part and one kind of operation.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct IntervalSeries {
    /// Name of the job.
    pub job: String,
    /// Name of the part; empty where the job has none.
    pub part: String,
    /// Kind of operation, as in [`crate::SeriesRecord::op`].
    pub op: String,
    /// Operations completed.
    pub n_ios: u64,
    /// Bytes moved.
    pub io_bytes: u64,
    /// Sum of their total latencies, nanoseconds.
    pub latency_ns_sum: u64,
    /// Sum of the squares of their total latencies.
    pub latency_ns2_sum: f64,
    /// Largest total latency, nanoseconds (upper bound of its histogram bucket); 0 without I/O.
    pub latency_ns_max: u64,
}

/// Shares of the time of all processors together, percent.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct CpuShares {
    /// In user mode.
    pub user_pct: f64,
    /// In the kernel.
    pub system_pct: f64,
    /// Idle while I/O was outstanding.
    pub wait_pct: f64,
    /// Idle otherwise.
    pub idle_pct: f64,
}

/// One direction in one period.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct IntervalDir {
    /// Operations completed.
    pub n_ios: u64,
    /// Bytes moved.
    pub io_bytes: u64,
    /// Total latency.
    #[serde(flatten)]
    pub latency: IntervalLatency,
    /// All total latencies in coarse bins; empty where they were not counted.
    #[serde(default, skip_serializing_if = "LatencyCounts::is_empty")]
    pub latency_counts: LatencyCounts,
    /// The same from the intended start: the response time. `None` unless every job of the step
    /// has a rate in this direction, and where nothing completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<IntervalResponse>,
}

/// Response times of one direction in one period.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct IntervalResponse {
    /// Their figures.
    #[serde(flatten)]
    pub latency: IntervalLatency,
    /// All of them in coarse bins.
    pub latency_counts: LatencyCounts,
}

impl IntervalResponse {
    /// Takes what an interval shows out of a histogram; none where that is empty.
    pub fn of(latencies: &Histogram) -> Option<Self> {
        (!latencies.is_empty()).then(|| IntervalResponse {
            latency: IntervalLatency::of(latencies),
            latency_counts: LatencyCounts::of(latencies),
        })
    }
}

impl IntervalDir {
    /// Returns a figure of what a user waited, nanoseconds: of the response time under an open
    /// load, else of the total latency. None of what an interval does not hold.
    pub fn waited_ns(&self, figure: Figure) -> Option<u64> {
        self.response.as_ref().map_or(&self.latency, |it| &it.latency).ns(figure)
    }

    /// Returns all of it in coarse bins.
    pub fn waited_counts(&self) -> &LatencyCounts {
        self.response.as_ref().map_or(&self.latency_counts, |it| &it.latency_counts)
    }
}

/// The latencies that an interval keeps, [`Figure::OF_INTERVAL`], nanoseconds; none without I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct IntervalLatency([Option<u64>; Figure::OF_INTERVAL.len()]);

impl IntervalLatency {
    /// Takes them out of a histogram. The largest is the upper bound of its bucket: what a reader
    /// takes from a histogram that is written has no exact one.
    pub fn of(latencies: &Histogram) -> Self {
        let figures = Figures::of(&Latency::Measured(latencies));
        let figures = figures.with(Figure::Max, latencies.quantile(1.0).map(|ns| ns as f64));
        IntervalLatency::each(|figure| figures.ns(figure))
    }

    /// Returns one, nanoseconds; none of what an interval does not keep.
    pub fn ns(&self, figure: Figure) -> Option<u64> {
        let at = Figure::OF_INTERVAL.iter().position(|it| *it == figure)?;
        self.0[at]
    }

    /// Keeps of each the larger value: of two intervals together no percentile is above both.
    pub fn keep_larger(&mut self, other: &Self) {
        *self = IntervalLatency::each(|figure| self.ns(figure).max(other.ns(figure)));
    }

    /// Keeps of the largest latency the larger one of two, which is exact where percentiles come
    /// from bins.
    pub fn keep_largest(&mut self, one: &Self, other: &Self) {
        let larger = one.ns(Figure::Max).max(other.ns(Figure::Max));
        *self = IntervalLatency::each(|figure| match figure {
            Figure::Max => larger,
            other => self.ns(other).min(larger),
        });
    }

    /// Asks for each, nanoseconds.
    pub fn each(mut of: impl FnMut(Figure) -> Option<u64>) -> Self {
        let mut latency = IntervalLatency::default();
        for (ns, figure) in latency.0.iter_mut().zip(Figure::OF_INTERVAL) {
            *ns = of(*figure);
        }
        latency
    }
}

impl Serialize for IntervalLatency {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Figure::OF_INTERVAL.iter().map(|it| it.field()).zip(&self.0))
    }
}

impl<'de> Deserialize<'de> for IntervalLatency {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let figures = Figures::deserialize(from)?;
        Ok(IntervalLatency::each(|figure| figures.ns(figure)))
    }
}
