//! A load curve and its load line, in a record whose steps are the points.

use serde::{Deserialize, Serialize};

use crate::figures_json::{Fields as _, OfPoint};
use crate::{Figure, Figures};

/// The result of a search for the load line. The measurements themselves are the record's steps.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct CurveRecord {
    /// What was turned up.
    pub lever: Lever,
    /// Spacing of the intended starts, under an open load: `fixed`, `poisson` or `uniform`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<String>,
    /// I/Os in flight at most, under an open load, over all workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_max: Option<u64>,
    /// Workers that issued the load, the most of the points that count; `None` where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_workers: Option<u32>,
    /// The limits that a load must keep to count as carried, such as `p99 < 2ms and achieved >
    /// 0.95`.
    pub limits: String,
    /// The points in the order in which they were measured; each says which step it is.
    pub points: Vec<CurvePointRecord>,
    /// The load line.
    pub line: LoadLineRecord,
    /// How much is carried at round latencies.
    pub carried: Vec<CarriedRecord>,
    /// Mean latency over the span of the curve's loads, nanoseconds: the area under the curve over
    /// its width. It depends on how far the curve goes, and is no SPEC metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overall_response_ns: Option<f64>,
    /// Where the curve bends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knees: Option<KneesRecord>,
    /// The scalability law, where the points bracket its peak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scalability: Option<ScalabilityRecord>,
    /// What a rate takes that was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<CurveTargetRecord>,
}

impl CurveRecord {
    /// Returns the rate of the load line, I/Os per second: of an open load the one that was offered
    /// and carried, as its bracket counts; of a closed one what was achieved there.
    pub fn line_iops(&self) -> Option<f64> {
        match self.lever {
            Lever::Rate => self.line.load,
            Lever::QueueDepth | Lever::Workers | Lever::Units => self.line.achieved_iops,
        }
    }

    /// Returns the lowest load that broke a limit, and the highest from there on that kept them
    /// all: between them some measurements did and some did not.
    pub fn by_turns(&self) -> Option<(f64, f64)> {
        let first_fail = self.line.first_fail?;
        let passed = self.points.iter().filter(|it| it.passed && it.load >= first_fail);
        Some((first_fail, passed.map(|it| it.load).reduce(f64::max)?))
    }

    /// Returns the measurements of a load that count, and those of them that broke a limit.
    pub fn measured(&self, load: f64) -> (usize, usize) {
        let at = |it: &&CurvePointRecord| it.load.total_cmp(&load).is_eq() && it.void.is_none();
        let n = self.points.iter().filter(at).count();
        (n, self.points.iter().filter(at).filter(|it| !it.passed).count())
    }

    /// Returns whether a point counts: it is not void, and neither the other measurements nor the
    /// line contradict it. One that failed below the line, where the load was carried or only tried
    /// once, was a hiccup.
    pub fn stands(&self, point: &CurvePointRecord) -> bool {
        if point.void.is_some() {
            return false;
        }
        let is_below = self.line.load.is_some_and(|line| point.load <= line);
        let (n, n_over) = self.measured(point.load);
        let is_hiccup = is_below && !point.passed && (n_over < n || n < 2);
        !is_hiccup
    }

    /// Returns the step of the measurement that stands for the load line: its checks are those of
    /// the answer. Of several the one in the middle by `n_failed`, the checks that a step failed.
    pub fn line_step(&self, n_failed: impl Fn(u32) -> usize) -> Option<u32> {
        let at_line = |it: &&CurvePointRecord| it.passed && Some(it.load) == self.line.load;
        let points = self.points.iter().filter(at_line);
        let mut steps: Vec<(usize, u32)> =
            points.map(|it| (n_failed(it.step_idx), it.step_idx)).collect();
        steps.sort_unstable();
        let middle = steps.len().checked_sub(1)? / 2;
        steps.get(middle).map(|(_, step_idx)| *step_idx)
    }

    /// Returns the two neighbouring loads around a mean latency, of which the first keeps it, where
    /// a closed load could be turned up only in steps of several and the next step carries more by
    /// a twentieth: how much is carried at the latency is then known no finer than that.
    pub fn coarse_step(&self, latency_ns: u64) -> Option<[&CurvePointRecord; 2]> {
        match self.lever {
            Lever::Rate | Lever::Units => return None,
            Lever::QueueDepth | Lever::Workers => {}
        }
        let mut points: Vec<&CurvePointRecord> =
            self.points.iter().filter(|point| point.figures.iops() > 0.0).collect();
        points.sort_by(|a, b| a.load.total_cmp(&b.load));
        points.dedup_by(|next, kept| next.load <= kept.load);
        let is_over = |ns: f64| ns > latency_ns as f64;
        let over =
            points.iter().position(|it| it.figures.get(Figure::Mean).is_some_and(is_over))?;
        let [under, over] = [*points.get(over.checked_sub(1)?)?, points[over]];
        let is_coarse = over.load - under.load > 1.5;
        let carries_more = over.figures.iops() > 1.05 * under.figures.iops();
        (is_coarse && carries_more).then_some([under, over])
    }
}

/// How many I/Os in flight a rate takes, by Little's law at the best latency that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveTargetRecord {
    /// The rate, I/Os per second.
    pub rate_iops: f64,
    /// Mean latency at the least load, nanoseconds.
    pub latency_mean_ns: f64,
    /// I/Os in flight.
    pub depth: u64,
    /// The highest rate of any point: one above it was not seen to be achieved at any depth.
    pub highest_iops: f64,
}

/// What is turned up from point to point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lever {
    /// The offered rate, I/Os per second: an open load.
    #[default]
    Rate,
    /// I/Os in flight per worker: a closed load.
    QueueDepth,
    /// Workers, each with one I/O at a time: a closed load.
    Workers,
    /// Units of load of a composite workload, each with processes and rates of its own.
    Units,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct CurvePointRecord {
    /// Step of the record.
    pub step_idx: u32,
    /// The load, in the unit of the lever: I/Os per second, I/Os in flight over all workers.
    pub load: f64,
    /// What it was measured for: `coarse`, `narrow`, `confirm`, `curve`, `again`, `control`.
    pub purpose: String,
    /// All limits were kept, and nothing failed.
    pub passed: bool,
    /// Why not; empty where it passed.
    pub broken: Vec<String>,
    /// Why the point is void, that is, shows neither that its load is carried nor that it is not:
    /// the generator was at fault, or there were too few operations. Such a point is not `passed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
    /// Its figures; the latency is from the intended start under an open load, else of the service.
    #[serde(flatten, with = "OfPoint")]
    pub figures: Figures,
}

/// The load line: the highest load that keeps the limits.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadLineRecord {
    /// How the search ended.
    pub end: SearchEnd,
    /// Why there is no line, where `end` is `cannot_tell`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<CannotTell>,
    /// The same with its figures, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The highest measured load that is more likely carried than not. None without a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The lowest measured load that is more likely not carried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_fail: Option<f64>,
    /// What holds the line, with the probability that it does; where the limit moved during the
    /// search, where it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalRecord>,
    /// What broke first above the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<String>,
    /// Operations completed per second at `load`, the median of its probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub achieved_iops: Option<f64>,
    /// Bytes moved per second at `load`, the median of its probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
    /// Probes until the line was known, without confirmation and curve.
    pub n_probes: u32,
    /// Loads below the line that failed twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dips: Vec<f64>,
}

/// Returns whether two loads are the same. They come from one grid: equal ones differ by rounding,
/// others by a step of it.
pub fn is_same_load(load: f64, other: f64) -> bool {
    (load - other).abs() < 1e-9 * load.abs().max(1.0)
}

/// How the search for a load line ended. A word that is not among these is an error of whoever
/// reads the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// The line lies between a load that was carried and one that was not.
    Bracketed,
    /// The line lies above all loads of the search.
    NothingFailed,
    /// The line lies below all loads of the search.
    NothingPassed,
    /// No line can be given; see [`LoadLineRecord::reason`].
    #[default]
    CannotTell,
    /// The search was interrupted.
    Unfinished,
}

/// Why a search found no load line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CannotTell {
    /// The generator or its host was at fault in too many measurements.
    Host,
    /// Too few operations lie beyond a limit's percentile.
    FewOperations,
    /// Latency does not follow the load.
    NotOfLoad,
    /// The limit moved while it was searched.
    Unsteady,
    /// The number of measurements ended the search.
    Probes,
}

impl CannotTell {
    /// Returns the reason in words.
    pub fn words(self) -> &'static str {
        match self {
            CannotTell::Host => "the generator or its host was at fault",
            CannotTell::FewOperations => "too few operations",
            CannotTell::NotOfLoad => "latency does not follow the load",
            CannotTell::Unsteady => "the limit moved while it was searched",
            CannotTell::Probes => "the measurements ran out",
        }
    }
}

/// The answer of a search for a load line: every headline and exit code follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineVerdict {
    /// The line is at this load.
    Line(f64),
    /// The line lies above this load, the highest one of the search.
    Above(f64),
    /// Even the lowest load of the search is not carried.
    Below,
    /// No line can be given, and why.
    CannotTell(CannotTell),
    /// The search was interrupted.
    Unfinished,
}

impl LoadLineRecord {
    /// Returns what the search says.
    pub fn verdict(&self) -> LineVerdict {
        match (self.end, self.load) {
            (SearchEnd::NothingFailed, Some(load)) => LineVerdict::Above(load),
            (SearchEnd::NothingPassed, _) => LineVerdict::Below,
            (SearchEnd::Bracketed, Some(load)) => LineVerdict::Line(load),
            (SearchEnd::Unfinished, _) => LineVerdict::Unfinished,
            (SearchEnd::CannotTell, _)
            | (SearchEnd::NothingFailed | SearchEnd::Bracketed, None) => {
                LineVerdict::CannotTell(self.reason.unwrap_or(CannotTell::Probes))
            }
        }
    }

    /// Returns why there is no line, in a sentence without full stop; empty where there is one.
    pub fn why_not(&self) -> String {
        match self.verdict() {
            LineVerdict::CannotTell(_) if !self.why.is_empty() => self.why.clone(),
            LineVerdict::CannotTell(reason) => reason.words().to_owned(),
            LineVerdict::Unfinished => "the search was not finished".to_owned(),
            LineVerdict::Line(_) | LineVerdict::Above(_) | LineVerdict::Below => String::new(),
        }
    }
}

/// A range that holds a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalRecord {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The least probability with which it holds the figure, 0 to 1.
    pub coverage: f64,
}

/// How it is known what is carried at a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CarriedState {
    /// It lies between two points of the curve.
    Reached,
    /// All points are faster: the rate is one that is carried at least.
    Above,
    /// All points are slower: the rate is one that is not carried.
    Below,
    /// There is no point.
    Unknown,
}

/// How much is carried at a latency, read off the curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarriedRecord {
    /// Mean latency, nanoseconds.
    pub latency_mean_ns: u64,
    /// How the rate is known.
    pub state: CarriedState,
    /// I/Os per second; a bound where `state` is `above` or `below`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_iops: Option<f64>,
    /// Bytes per second, the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
}

/// Where a curve bends (Kneedle). It depends on how far the curve goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KneesRecord {
    /// How far the distance must fall after a candidate, in mean steps of load.
    pub sensitivity: f64,
    /// Smallest and largest rate of the curve, I/Os per second.
    pub range_iops: (f64, f64),
    /// Every candidate, I/Os per second.
    pub rates_iops: Vec<f64>,
    /// Their smallest and largest value when any one point is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_one_out_iops: Option<(f64, f64)>,
}

/// The Universal Scalability Law, fitted to rates over I/Os in flight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalabilityRecord {
    /// I/Os per second of one in flight.
    pub rate_iops_of_one: f64,
    /// Contention.
    pub contention: f64,
    /// Coherency.
    pub coherency: f64,
    /// I/Os in flight with the highest rate.
    pub peak_depth: f64,
    /// Its interval.
    pub peak_interval: IntervalRecord,
}
