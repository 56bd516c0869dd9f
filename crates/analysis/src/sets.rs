//! Two sets of runs, figure by figure.
//!
//! Jobs are matched by step and name, and compared for each direction: rates, mean and percentiles
//! of latency, each by [`compare()`] over the runs of both sets. Where each side is one run, its
//! seconds stand in for repeats ([`compare_series`]): of its rates, and of the median and 99th
//! percentile of a second. What seconds cannot show, such as the mean latency of the run, stays
//! open then.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};

use record::{Figure, Interval, IntervalDir, IntervalSeries, JobRecord, Record};

use crate::alike::{Difference, DifferenceKind, differences};
use crate::compare::{CompareOptions, Comparison, RunOrder, compare, compare_series};
use crate::entries::{Entries, Entry};
use crate::metric::{Compared, Metric, Waited, of_jobs, run_order, waited_of};
use crate::sampled::{Sampled, measured, per_s};
use crate::thin::ThinPercentile;

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
    /// The figure, of the runs or of their seconds.
    pub figure: Compared,
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
    /// What else is to be known of the sets, each a sentence without its stop: which of their runs
    /// do not count.
    pub remarks: Vec<String>,
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
pub fn compare_sets<R: Borrow<Record>>(
    baseline: &[R],
    candidate: &[R],
    options: &SetOptions,
) -> SetComparison {
    let baseline: Vec<&Record> = baseline.iter().map(Borrow::borrow).collect();
    let candidate: Vec<&Record> = candidate.iter().map(Borrow::borrow).collect();
    let (Some(first), Some(other)) = (baseline.first(), candidate.first()) else {
        return SetComparison { differences: Vec::new(), remarks: Vec::new(), rows: Vec::new() };
    };
    let mut found = differences(first, other);
    found.extend(counted_from(&baseline, &candidate));
    let mut known: HashSet<Difference> = found.iter().cloned().collect();
    for (set, name) in [(&baseline, "baseline"), (&candidate, "candidate")] {
        for record in &set[1..] {
            for difference in differences(set[0], record) {
                let what = format!("{} within the {name}", difference.what);
                let difference = Difference { what, ..difference };
                if known.insert(difference.clone()) {
                    found.push(difference);
                }
            }
        }
    }
    found.sort_by_key(|difference| difference.kind == DifferenceKind::Surroundings);
    let sides = Sides::new(&baseline, &candidate, options);
    SetComparison { differences: found, remarks: Vec::new(), rows: sides.rows() }
}

/// Reports that latencies of both sets count from different moments, and which ones are compared.
fn counted_from(baseline: &[&Record], candidate: &[&Record]) -> Option<Difference> {
    let is_due = |set: &[&Record]| {
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

/// One set: its runs, and their jobs by name.
struct Side<'a> {
    records: &'a [&'a Record],
    entries: Vec<Entries<'a>>,
}

impl<'a> Side<'a> {
    fn new(records: &'a [&'a Record]) -> Self {
        Side { records, entries: records.iter().map(|record| Entries::of(record)).collect() }
    }

    fn started(&self) -> Vec<u64> {
        self.records.iter().map(|record| record.started_unix_ms).collect()
    }

    /// Returns the jobs of each run that has any.
    fn jobs(&self, place: &Subject<'_>) -> Vec<Vec<&'a JobRecord>> {
        let of_run = |entries: &Entries<'a>| {
            if place.is_all {
                let of_step = entries.of_step(&place.entry.step);
                return of_step.flat_map(|other| other.parts.iter().copied()).collect();
            }
            let found = entries.counterpart(place.entry, entries.is_one());
            found.map_or(Vec::new(), |it| it.parts.clone())
        };
        let found = self.entries.iter().map(of_run);
        found.filter(|jobs: &Vec<&JobRecord>| !jobs.is_empty()).collect()
    }
}

struct Sides<'a> {
    baseline: Side<'a>,
    candidate: Side<'a>,
    options: &'a SetOptions,
    order: RunOrder,
}

impl<'a> Sides<'a> {
    fn new(
        baseline: &'a [&'a Record],
        candidate: &'a [&'a Record],
        options: &'a SetOptions,
    ) -> Self {
        let (baseline, candidate) = (Side::new(baseline), Side::new(candidate));
        let order = run_order(&baseline.started(), &candidate.started());
        Sides { baseline, candidate, options, order }
    }

    fn rows(&self) -> Vec<Row> {
        let jobs = self.baseline.entries[0].list();
        let mut n_in_step: HashMap<u32, usize> = HashMap::new();
        for entry in jobs {
            *n_in_step.entry(entry.step_idx).or_default() += 1;
        }
        let mut rows = Vec::new();
        let mut seen = HashSet::new();
        // Seconds are gathered once for all jobs of a step.
        let mut seconds: Option<(u32, StepSeconds<'_>)> = None;
        for entry in jobs {
            let is_alone = n_in_step[&entry.step_idx] == 1;
            if seconds.as_ref().is_none_or(|(step_idx, _)| *step_idx != entry.step_idx) {
                seconds = Some((entry.step_idx, self.step_seconds(entry)));
            }
            let seconds = seconds.as_ref().map(|(_, seconds)| seconds);
            if seen.insert(entry.step_idx) && !is_alone {
                let place = Subject { entry, is_all: true, is_alone: true, seconds };
                self.put(&mut rows, &place);
            }
            self.put(&mut rows, &Subject { entry, is_all: false, is_alone, seconds });
        }
        rows
    }

    /// Puts the figures of a job, or of all jobs of its step.
    fn put(&self, rows: &mut Vec<Row>, place: &Subject<'_>) {
        let (baseline, candidate) = (self.baseline.jobs(place), self.candidate.jobs(place));
        // A time from when I/O was due and one from its submission are different quantities.
        let waited = waited_in_all(baseline.iter().chain(&candidate));
        let (baseline, candidate) = (figures(&baseline, waited), figures(&candidate, waited));
        let (Some(baseline), Some(candidate)) = (baseline, candidate) else { return };
        let is_single = baseline.len() == 1 && candidate.len() == 1;
        let is_rate_of_dir = |it: &&Metric| !it.dir.is_empty() && it.figure == Figure::Iops;
        let n_dirs = baseline[0].iter().filter(is_rate_of_dir).count();
        for metric in &baseline[0] {
            // Of one direction, all together is the same.
            if metric.dir.is_empty() && n_dirs < 2 {
                continue;
            }
            let (from, to) = (values(&baseline, metric), values(&candidate, metric));
            let compared = Compared::OfRun(metric.figure);
            let seconds = (is_single && metric.figure.is_rate())
                .then(|| self.by_seconds(place, metric.dir, compared, Some((&from, &to))));
            let (basis, comparison) = if let Some(comparison) = seconds.flatten() {
                (Basis::Seconds, comparison)
            } else {
                let comparison = match thinnest(metric, baseline.iter().chain(&candidate)) {
                    Some(thin) => Comparison::of_thin(from.len(), to.len(), thin),
                    None if from.is_empty() || to.is_empty() => {
                        Comparison::of_unknown(from.len(), to.len())
                    }
                    None => compare(&from, &to, &self.options(compared)),
                };
                (Basis::Runs, comparison)
            };
            rows.push(place.row(metric.dir, compared, basis, comparison));
            if !Figure::OF_SECOND.contains(&metric.figure) {
                continue;
            }
            let second = Compared::OfSecond(metric.figure);
            let found = is_single.then(|| self.by_seconds(place, metric.dir, second, None));
            if let Some(found) = found.flatten() {
                rows.push(place.row(metric.dir, second, Basis::Seconds, found));
            }
        }
    }

    fn options(&self, figure: Compared) -> CompareOptions {
        CompareOptions {
            better: figure.better(),
            order: self.order,
            coverage: self.options.coverage,
            effect_min: self.options.effect_min,
        }
    }

    /// Gathers the seconds of a step, where each side is one run that has it.
    fn step_seconds(&self, entry: &Entry<'_>) -> StepSeconds<'a> {
        let ([from], [to]) = (self.baseline.records, self.candidate.records) else {
            return StepSeconds::default();
        };
        let mine = &self.baseline.entries[0];
        let theirs = &self.candidate.entries[0];
        let same_step = || theirs.of_step(&entry.step).next();
        let other = theirs.counterpart(entry, mine.is_one()).or_else(same_step);
        let to = other.map(|other| Seconds::of(to, other.step_idx));
        StepSeconds { from: Some(Seconds::of(from, entry.step_idx)), to }
    }

    /// Compares by seconds; nothing where a run has none, or they do not tell jobs apart. `known`
    /// is the figure of both runs as a whole, where there is one: the seconds say how well it is
    /// known.
    fn by_seconds(
        &self,
        place: &Subject<'_>,
        dir: &str,
        figure: Compared,
        known: Option<(&[f64], &[f64])>,
    ) -> Option<Comparison> {
        let StepSeconds { from, to } = place.seconds?;
        let mine = self.baseline.entries[0].is_one();
        let other = self.candidate.entries[0].counterpart(place.entry, mine)?;
        let mut from = from.as_ref()?.figure(&place.entry.job, place, dir, figure)?;
        let mut to = to.as_ref()?.figure(&other.job, place, dir, figure)?;
        if let Some(([whole], [whole_to])) = known {
            (from.mean, to.mean) = (*whole, *whole_to);
        }
        Some(compare_series(&from, &to, &self.options(figure)))
    }
}

/// Returns a figure of every run that has it.
fn values(set: &[Vec<Metric>], metric: &Metric) -> Vec<f64> {
    set.iter().filter_map(|run| same(run, metric).map(|other| other.value)).collect()
}

/// Returns the same figure of another run.
fn same<'a>(run: &'a [Metric], metric: &Metric) -> Option<&'a Metric> {
    run.iter().find(|other| (other.dir, other.figure) == (metric.dir, metric.figure))
}

/// Whose figures are compared.
struct Subject<'a> {
    /// The job, or the first one of a step.
    entry: &'a Entry<'a>,
    /// All jobs of its step are meant.
    is_all: bool,
    /// The intervals of its step are its own.
    is_alone: bool,
    /// The seconds of its step on both sides.
    seconds: Option<&'a StepSeconds<'a>>,
}

impl Subject<'_> {
    fn row(
        &self,
        dir: &'static str,
        figure: Compared,
        basis: Basis,
        comparison: Comparison,
    ) -> Row {
        let job = if self.is_all { String::new() } else { self.entry.job.clone() };
        Row { step: self.entry.step.clone(), job, dir, figure, basis, comparison }
    }
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
fn thinnest<'a>(
    metric: &Metric,
    runs: impl Iterator<Item = &'a Vec<Metric>>,
) -> Option<ThinPercentile> {
    let found = runs.filter_map(|run| same(run, metric)?.thin);
    found.min_by_key(|thin| thin.n_ios)
}

/// The seconds of a step of both sides; nothing of a side that has none.
#[derive(Default)]
struct StepSeconds<'a> {
    from: Option<Seconds<'a>>,
    to: Option<Seconds<'a>>,
}

/// The intervals of a step of one run.
struct Seconds<'a> {
    intervals: Vec<&'a Interval>,
    /// What each job did, with the position of the interval; empty where an interval does not say.
    by_job: HashMap<&'a str, Vec<(usize, &'a IntervalSeries)>>,
}

impl<'a> Seconds<'a> {
    fn of(record: &'a Record, step_idx: u32) -> Self {
        let intervals = measured(record, step_idx);
        let mut by_job: HashMap<&str, Vec<(usize, &IntervalSeries)>> = HashMap::new();
        if intervals.iter().all(|interval| !interval.series.is_empty()) {
            for (idx, interval) in intervals.iter().enumerate() {
                for series in &interval.series {
                    by_job.entry(&series.job).or_default().push((idx, series));
                }
            }
        }
        Seconds { intervals, by_job }
    }

    /// Returns a figure of each second, of a job or of all of the step; nothing where there is
    /// none.
    fn figure(
        &self,
        job: &str,
        place: &Subject<'_>,
        dir: &str,
        figure: Compared,
    ) -> Option<Sampled> {
        let sampled: Vec<(u64, f64)> = match figure {
            // Seconds hold latencies of all jobs together.
            Compared::OfSecond(_) if !place.is_alone => return None,
            Compared::OfSecond(figure) => self.latencies(dir, figure).collect(),
            Compared::OfRun(figure) => {
                let counts = self.counts(job, place, dir, figure == Figure::Iops)?;
                let rates = self.intervals.iter().zip(counts);
                rates.map(|(it, count)| (it.length_ms, per_s(it, count))).collect()
            }
        };
        (!sampled.is_empty()).then(|| Sampled::of(&sampled))
    }

    /// Returns a latency of each second with its length. A second without I/O has none.
    fn latencies<'b>(
        &'b self,
        dir: &'b str,
        figure: Figure,
    ) -> impl Iterator<Item = (u64, f64)> + 'b {
        let is_wanted = move |name: &str| dir.is_empty() || name == dir;
        self.intervals.iter().filter_map(move |it| {
            let mut dirs = it.dirs.iter().filter(|(name, _)| is_wanted(name));
            Some((it.length_ms, dirs.find_map(|(_, dir)| dir.waited_ns(figure))? as f64))
        })
    }

    /// Returns the operations or bytes of each second.
    fn counts(&self, job: &str, place: &Subject<'_>, dir: &str, is_iops: bool) -> Option<Vec<u64>> {
        let is_wanted = |name: &str| dir.is_empty() || name == dir;
        let mut counts = vec![0_u64; self.intervals.len()];
        if place.is_alone {
            let of = |dir: &IntervalDir| if is_iops { dir.n_ios } else { dir.io_bytes };
            for (count, interval) in counts.iter_mut().zip(&self.intervals) {
                let dirs = interval.dirs.iter().filter(|(name, _)| is_wanted(name));
                *count = dirs.map(|(_, dir)| of(dir)).sum();
            }
            return Some(counts);
        }
        for (idx, of) in self.by_job.get(job)?.iter().filter(|(_, of)| is_wanted(&of.op)) {
            counts[*idx] += if is_iops { of.n_ios } else { of.io_bytes };
        }
        Some(counts)
    }
}
