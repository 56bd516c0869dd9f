//! Two sets of runs, figure by figure.
//!
//! Jobs are matched by step and name, and compared for each direction: rates, mean and percentiles
//! of latency, each by [`compare()`] over the runs of both sets. Where each side is one run, its
//! seconds stand in for repeats ([`compare_series`]): of its rates, and of the median and 99th
//! percentile of a second. What seconds cannot show, such as the mean latency of the run, cannot be
//! told then.

use record::{Interval, JobRecord, Record};

use crate::alike::{Difference, DifferenceKind, differences};
use crate::compare::{CompareOptions, Comparison, compare, compare_series};
use crate::entries::{Entry, counterpart, entries};
use crate::metric::{self, Metric, Thin, Waited, of_jobs, run_order, waited_of};

/// How to compare two sets.
#[derive(Clone, Debug, PartialEq)]
pub struct SetOptions {
    /// Probability that an interval holds the true ratio.
    pub coverage: f64,
    /// Smallest difference that matters, as a share.
    pub effect_min: f64,
}

impl Default for SetOptions {
    /// 95 %, and 5 % matters.
    fn default() -> Self {
        SetOptions { coverage: 0.95, effect_min: 0.05 }
    }
}

/// What a figure's interval comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The figures of several runs.
    Runs,
    /// The seconds of one run on each side.
    Seconds,
}

/// One figure of both sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The step; empty where runs have one.
    pub step: String,
    /// The job; empty for all jobs of the step together.
    pub job: String,
    /// `read`, `write` or `trim`; empty for all together.
    pub dir: &'static str,
    /// The figure, with its unit last: `iops`, `bytes_per_s`, `mean_ns`, `p99_ns`, or
    /// `second_p99_ns` for the mean of the 99th percentiles of the seconds.
    pub figure: &'static str,
    /// What the interval comes from.
    pub basis: Basis,
    /// What came of it.
    pub comparison: Comparison,
}

/// What came of two sets.
#[derive(Clone, Debug, PartialEq)]
pub struct SetComparison {
    /// In what the sets differ, workload first; with what differs within a set.
    pub differences: Vec<Difference>,
    /// The figures, in the order of the baseline's jobs.
    pub rows: Vec<Row>,
}

impl SetComparison {
    /// Returns whether both sets did the same I/O.
    pub fn is_alike(&self) -> bool {
        self.differences.iter().all(|found| found.kind != DifferenceKind::Workload)
    }
}

/// Compares two sets of runs. An empty set has no rows.
pub fn compare_sets(
    baseline: &[Record],
    candidate: &[Record],
    options: &SetOptions,
) -> SetComparison {
    let (Some(first), Some(other)) = (baseline.first(), candidate.first()) else {
        return SetComparison { differences: Vec::new(), rows: Vec::new() };
    };
    let mut found = differences(first, other);
    found.extend(counted_from(baseline, candidate));
    for (set, name) in [(baseline, "baseline"), (candidate, "candidate")] {
        for record in &set[1..] {
            for difference in differences(&set[0], record) {
                let what = format!("{} within the {name}", difference.what);
                let difference = Difference { what, ..difference };
                if !found.contains(&difference) {
                    found.push(difference);
                }
            }
        }
    }
    found.sort_by_key(|difference| difference.kind == DifferenceKind::Surroundings);
    let sides = Sides { baseline, candidate, options };
    SetComparison { differences: found, rows: sides.rows() }
}

/// Says that latencies of both sets count from different moments, and which ones are compared.
fn counted_from(baseline: &[Record], candidate: &[Record]) -> Option<Difference> {
    let is_due = |set: &[Record]| {
        set.iter()
            .all(|record| waited_of(&record.jobs.iter().collect::<Vec<_>>()) == Waited::FromDue)
    };
    let word = |is_due| if is_due { "when I/O was due" } else { "its submission" };
    let (from, to) = (is_due(baseline), is_due(candidate));
    (from != to).then(|| Difference {
        kind: DifferenceKind::Surroundings,
        what: "latency known from (compared is that from the submission)".to_owned(),
        baseline: word(from).to_owned(),
        candidate: word(to).to_owned(),
    })
}

struct Sides<'a> {
    baseline: &'a [Record],
    candidate: &'a [Record],
    options: &'a SetOptions,
}

impl Sides<'_> {
    fn rows(&self) -> Vec<Row> {
        let jobs = entries(&self.baseline[0]);
        let mut rows = Vec::new();
        for (idx, entry) in jobs.iter().enumerate() {
            let in_step = |other: &&Entry<'_>| other.step_idx == entry.step_idx;
            let n_in_step = jobs.iter().filter(in_step).count();
            let is_first = jobs[..idx].iter().all(|other| !in_step(&other));
            if n_in_step > 1 && is_first {
                self.put(&mut rows, &Place { entry, is_all: true, is_alone: true });
            }
            self.put(&mut rows, &Place { entry, is_all: false, is_alone: n_in_step == 1 });
        }
        rows
    }

    /// Puts the figures of a job, or of all jobs of its step.
    fn put(&self, rows: &mut Vec<Row>, place: &Place<'_>) {
        let (baseline, candidate) = (jobs(self.baseline, place), jobs(self.candidate, place));
        // A time from when I/O was due and one from its submission are different quantities.
        let waited = waited_in_all(baseline.iter().chain(&candidate));
        let (baseline, candidate) = (figures(&baseline, waited), figures(&candidate, waited));
        let (Some(baseline), Some(candidate)) = (baseline, candidate) else { return };
        let is_single = baseline.len() == 1 && candidate.len() == 1;
        let n_dirs = baseline[0].iter().filter(|metric| metric.name.ends_with("_iops")).count();
        for metric in &baseline[0] {
            // Of one direction, all together is the same.
            if metric.dir.is_empty() && n_dirs < 2 {
                continue;
            }
            let values = |set: &[Vec<Metric>]| -> Vec<f64> {
                let of_run = |run: &Vec<Metric>| {
                    run.iter().find(|other| other.name == metric.name).map(|other| other.value)
                };
                set.iter().filter_map(of_run).collect()
            };
            let by_seconds = || self.by_seconds(place, metric.dir, metric.figure);
            let is_rate = matches!(metric.figure, "iops" | "bytes_per_s");
            let seconds = if is_single && is_rate { by_seconds() } else { None };
            let (basis, comparison) = if let Some(comparison) = seconds {
                (Basis::Seconds, comparison)
            } else {
                let (from, to) = (values(&baseline), values(&candidate));
                let comparison = match thinnest(&metric.name, baseline.iter().chain(&candidate)) {
                    Some(thin) => Comparison::of_thin(from.len(), to.len(), thin),
                    None if from.is_empty() || to.is_empty() => {
                        Comparison::of_unknown(from.len(), to.len())
                    }
                    None => compare(&from, &to, &self.options(metric.figure)),
                };
                (Basis::Runs, comparison)
            };
            rows.push(place.row(metric.dir, metric.figure, basis, comparison));
            let second = match metric.figure {
                "p50_ns" => "second_p50_ns",
                "p99_ns" => "second_p99_ns",
                _ => continue,
            };
            if let Some(found) =
                is_single.then(|| self.by_seconds(place, metric.dir, second)).flatten()
            {
                rows.push(place.row(metric.dir, second, Basis::Seconds, found));
            }
        }
    }

    fn options(&self, figure: &str) -> CompareOptions {
        let started = |set: &[Record]| -> Vec<u64> {
            set.iter().map(|record| record.started_unix_ms).collect()
        };
        CompareOptions {
            better: metric::better(figure),
            order: run_order(&started(self.baseline), &started(self.candidate)),
            coverage: self.options.coverage,
            effect_min: self.options.effect_min,
        }
    }

    /// Compares by seconds; nothing where a run has none, or they do not tell jobs apart.
    fn by_seconds(&self, place: &Place<'_>, dir: &str, figure: &str) -> Option<Comparison> {
        let (baseline, candidate) = (&self.baseline[0], &self.candidate[0]);
        let from = seconds(baseline, place.entry, place, dir, figure)?;
        let (mine, theirs) = (entries(baseline), entries(candidate));
        let other = counterpart(place.entry, mine.len() == 1, &theirs)?;
        let to = seconds(candidate, other, place, dir, figure)?;
        Some(compare_series(&from, &to, &self.options(figure)))
    }
}

/// Whose figures are compared.
struct Place<'a> {
    /// The job, or the first one of a step.
    entry: &'a Entry<'a>,
    /// All jobs of its step are meant.
    is_all: bool,
    /// The intervals of its step are its own.
    is_alone: bool,
}

impl Place<'_> {
    fn row(
        &self,
        dir: &'static str,
        figure: &'static str,
        basis: Basis,
        comparison: Comparison,
    ) -> Row {
        let job = if self.is_all { String::new() } else { self.entry.job.clone() };
        Row { step: self.entry.step.clone(), job, dir, figure, basis, comparison }
    }
}

/// Returns the jobs of each run that has any.
fn jobs<'a>(set: &'a [Record], place: &Place<'_>) -> Vec<Vec<&'a JobRecord>> {
    let of_run = |record: &'a Record| {
        let found = entries(record);
        let is_only = found.len() == 1;
        if place.is_all {
            let of_step = found.iter().filter(|other| other.step == place.entry.step);
            return of_step.flat_map(|other| other.parts.iter().copied()).collect();
        }
        counterpart(place.entry, is_only, &found).map_or(Vec::new(), |it| it.parts.clone())
    };
    let found = set.iter().map(of_run);
    found.filter(|jobs: &Vec<&JobRecord>| !jobs.is_empty()).collect()
}

/// Returns from when the latencies of all runs count.
fn waited_in_all<'a>(runs: impl Iterator<Item = &'a Vec<&'a JobRecord>>) -> Waited {
    let is_due = runs.map(|jobs| waited_of(jobs)).all(|waited| waited == Waited::FromDue);
    if is_due { Waited::FromDue } else { Waited::FromIssue }
}

/// Returns the figures of each run; nothing where no run of a set has the job.
fn figures(runs: &[Vec<&JobRecord>], waited: Waited) -> Option<Vec<Vec<Metric>>> {
    let found: Vec<Vec<Metric>> = runs.iter().map(|jobs| of_jobs(jobs, waited)).collect();
    (!found.is_empty()).then_some(found)
}

/// Returns the run that has the fewest operations for a percentile; nothing where all have enough.
fn thinnest<'a>(name: &str, runs: impl Iterator<Item = &'a Vec<Metric>>) -> Option<Thin> {
    let found = runs.filter_map(|run| run.iter().find(|metric| metric.name == name)?.thin);
    found.min_by_key(|thin| thin.n_ios)
}

/// A last interval shorter than this share of the longest was cut off by the end.
const LENGTH_SHARE_MIN: f64 = 0.9;

/// Returns a figure of each full second after the ramp.
fn seconds(
    record: &Record,
    entry: &Entry<'_>,
    place: &Place<'_>,
    dir: &str,
    figure: &str,
) -> Option<Vec<f64>> {
    let of_step = |interval: &&Interval| interval.step_idx == entry.step_idx && !interval.ramp;
    let length_ms = record.intervals.iter().filter(of_step).map(|it| it.length_ms).max()?;
    let is_full = |it: &&Interval| it.length_ms as f64 >= length_ms as f64 * LENGTH_SHARE_MIN;
    let intervals = || record.intervals.iter().filter(of_step).filter(is_full);
    let job = (!place.is_alone).then_some(entry.job.as_str());
    let tells_jobs_apart = matches!(figure, "iops" | "bytes_per_s")
        && intervals().all(|interval| !interval.series.is_empty());
    if job.is_some() && !tells_jobs_apart {
        return None;
    }
    // A second without I/O has a rate of 0, and no percentile.
    let values: Vec<f64> =
        intervals().filter_map(|interval| of_second(interval, job, dir, figure)).collect();
    (!values.is_empty()).then_some(values)
}

/// Returns a figure of a second, of one job or of all; nothing where it has none.
fn of_second(interval: &Interval, job: Option<&str>, dir: &str, figure: &str) -> Option<f64> {
    let is_wanted = |name: &str| dir.is_empty() || name == dir;
    let dirs = || interval.dirs.iter().filter(|(name, _)| is_wanted(name)).map(|(_, of)| of);
    match figure {
        "second_p50_ns" => {
            return dirs().find_map(record::IntervalDir::waited_ns_p50).map(|ns| ns as f64);
        }
        "second_p99_ns" => {
            return dirs().find_map(record::IntervalDir::waited_ns_p99).map(|ns| ns as f64);
        }
        _ => {}
    }
    let counts: (u64, u64) = match job {
        Some(job) => {
            let all = interval.series.iter().filter(|it| it.job == job && is_wanted(&it.op));
            all.fold((0, 0), |sum, of| (sum.0 + of.n_ios, sum.1 + of.io_bytes))
        }
        None => dirs().fold((0, 0), |sum, of| (sum.0 + of.n_ios, sum.1 + of.io_bytes)),
    };
    let count = if figure == "iops" { counts.0 } else { counts.1 };
    Some(count as f64 * 1000.0 / interval.length_ms.max(1) as f64)
}
