//! Two sets of whole records: runs, load curves or suites. What is a run of a curve or a suite, and
//! which figures only they have.
//!
//! A record that holds the very same measurements as another one of its set is a copy of it, as in
//! virtual time with one seed: it counts once, since it says nothing new.

use std::borrow::{Borrow, Cow};

use record::{
    CarriedState, CurvePointRecord, CurveRecord, Figure, Interval, JobRecord, Lever, Record,
    StepPurpose, SuiteRecord, is_same_load,
};

use crate::alike::{Difference, DifferenceKind};
use crate::compare::{
    CompareOptions, Comparison, RunOrder, compare, compare_intervals, compare_series,
};
use crate::metric::{Compared, run_order};
use crate::sampled::{Sampled, measured, per_s};
use crate::sets::{Basis, Row, SetComparison, SetOptions, compare_sets};
use crate::thin::ThinPercentile;
use crate::{series, stats};

/// Compares the steps of runs, with the repeats of a suite as runs of their own, and load curves.
pub fn compare_records<R: Borrow<Record>>(
    baseline: &[R],
    candidate: &[R],
    options: &SetOptions,
) -> SetComparison {
    let all: Vec<&Record> = baseline.iter().map(Borrow::borrow).collect();
    let all_to: Vec<&Record> = candidate.iter().map(Borrow::borrow).collect();
    let (from, to) = (distinct(&all), distinct(&all_to));
    let mut found = compare_sets(&split(&from), &split(&to), options);
    if !from.iter().chain(&to).all(|record| has_steps(record)) {
        // A point stands for the workload; its figures are those of the curve.
        found.rows.clear();
    }
    if let Some((first, other)) = from.first().zip(to.first()) {
        found.differences.splice(0..0, differences(first, other));
    }
    found.remarks = copies((&all, &from), (&all_to, &to));
    let lines = rows(&from, &to, options);
    found.rows.splice(0..0, lines);
    found
}

/// Returns the records without copies. Two measurements that are equal to the last count of their
/// histograms do not happen.
fn distinct<'a>(records: &[&'a Record]) -> Vec<&'a Record> {
    let mut found: Vec<&Record> = Vec::new();
    for record in records {
        if !found.iter().any(|known| is_copy(known, record)) {
            found.push(record);
        }
    }
    found
}

/// Returns what stands for runs in some records, see [`runs`].
fn split<'a>(records: &[&'a Record]) -> Vec<Cow<'a, Record>> {
    records.iter().flat_map(|record| runs(record)).collect()
}

fn is_copy(record: &Record, other: &Record) -> bool {
    let has_io = record.jobs.iter().any(|job| job.n_ios() > 0);
    has_io
        && record.jobs.len() == other.jobs.len()
        && record.jobs.iter().zip(&other.jobs).all(|(job, other)| is_same_job(job, other))
}

/// Returns whether two jobs are one and the same, seed and all, but for the moment of their start.
fn is_same_job(job: &JobRecord, other: &JobRecord) -> bool {
    let started = |it: &JobRecord| JobRecord { started_unix_ms: 0, pid: 0, ..it.clone() };
    job.name == other.name
        && job.seed == other.seed
        && job.dirs == other.dirs
        && started(job) == started(other)
}

/// Returns which records are copies, within a side or of one on the other.
fn copies(
    (baseline, from): (&[&Record], &[&Record]),
    (candidate, to): (&[&Record], &[&Record]),
) -> Vec<String> {
    let mut found = Vec::new();
    for (name, all, own) in [("baseline", baseline, from), ("candidate", candidate, to)] {
        let n_copies = all.len() - own.len();
        if n_copies > 0 {
            found.push(format!(
                "{n_copies} of the {} runs of the {name} are copies of another one, and do not \
                 count",
                all.len()
            ));
        }
    }
    let n_same = to.iter().filter(|it| from.iter().any(|other| is_copy(it, other))).count();
    match (n_same, to.len()) {
        (0, _) => {}
        (1, 1) => found.push("the candidate is a measurement of the baseline itself".to_owned()),
        (n, n_all) => {
            found.push(format!(
                "{n} of the {n_all} measurements of the candidate are the baseline's"
            ));
        }
    }
    found
}

/// Returns the runs that a record stands for: of a suite one for each of its repeats, without
/// preparations and without its curve; of a curve the workload of its first point, for what it
/// did, not for figures; else itself.
fn runs(record: &Record) -> Vec<Cow<'_, Record>> {
    if let Some(suite) = &record.suite {
        let n = suite.rounds.as_ref().map_or(suite.n_repeats, |rounds| rounds.iops.len() as u32);
        return (0..n.max(1)).map(|idx| Cow::Owned(repeat(record, suite, idx))).collect();
    }
    match &record.curve {
        Some(curve) => vec![Cow::Owned(workload(record, curve))],
        None => vec![Cow::Borrowed(record)],
    }
}

/// Returns whether there are figures beside those of a curve.
fn has_steps(record: &Record) -> bool {
    record.suite.is_some() || record.curve.is_none()
}

fn repeat(record: &Record, suite: &SuiteRecord, repeat_idx: u32) -> Record {
    let is_it = |step_idx: u32| {
        let mut steps = suite.steps.iter();
        steps.any(|step| {
            step.step_idx == step_idx
                && step.purpose == StepPurpose::Measure
                && step.repeat_idx == repeat_idx
        })
    };
    let mut run = only(record, is_it);
    let first = run.steps.iter().map(|step| step.started_ms).min().unwrap_or(0);
    run.started_unix_ms = run.started_unix_ms.saturating_add(first);
    run
}

fn workload(record: &Record, curve: &CurveRecord) -> Record {
    let first = curve.points.first().map_or(0, |point| point.step_idx);
    let mut run = only(record, |step_idx| step_idx == first);
    run.steps.clear();
    run
}

/// Returns a record with only some of its steps.
fn only(record: &Record, is_it: impl Fn(u32) -> bool) -> Record {
    let mut run = Record { curve: None, suite: None, ..record.clone() };
    run.jobs.retain(|job| is_it(job.step_idx));
    run.steps.retain(|step| is_it(step.step_idx));
    run.intervals.retain(|interval| is_it(interval.step_idx));
    run
}

/// Returns in what the curves and suites of two records differ.
fn differences(baseline: &Record, candidate: &Record) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut note = |what: &str, from: String, to: String| {
        if from != to {
            let (what, kind) = (what.to_owned(), DifferenceKind::Workload);
            found.push(Difference { kind, what, baseline: from, candidate: to });
        }
    };
    let suite = |record: &Record, of: &dyn Fn(&SuiteRecord) -> String| {
        record.suite.as_ref().map_or(String::new(), of)
    };
    let both = |of: &dyn Fn(&SuiteRecord) -> String| (suite(baseline, of), suite(candidate, of));
    let (from, to) = both(&|it| it.name.clone());
    note("suite", from, to);
    let (from, to) = both(&|it| it.scale.map_or(String::new(), |scale| scale.to_string()));
    note("scale of the suite", from, to);
    let curve = |record: &Record| {
        record.curve.as_ref().map_or(String::new(), |curve| {
            let arrivals = curve.arrivals.as_deref().unwrap_or("closed");
            format!("{arrivals}, {}", curve.limits)
        })
    };
    note("curve", curve(baseline), curve(candidate));
    found
}

/// Returns the rows of the load lines and of the points that both sets have; none where a record
/// has no curve.
fn rows(baseline: &[&Record], candidate: &[&Record], options: &SetOptions) -> Vec<Row> {
    let curves = |set: &[&Record]| -> Option<Vec<CurveRecord>> {
        set.iter().map(|record| record.curve.clone()).collect()
    };
    let Some((from, to)) = curves(baseline).zip(curves(candidate)) else { return Vec::new() };
    let started =
        |set: &[&Record]| -> Vec<u64> { set.iter().map(|record| record.started_unix_ms).collect() };
    let order = run_order(&started(baseline), &started(candidate));
    let records = (baseline, candidate);
    let sides = Sides { from: &from, to: &to, records, options, order };
    let mut rows = vec![row("load line", Compared::OfRun(Figure::Iops), sides.line())];
    for carried in from.iter().take(1).flat_map(|curve| &curve.carried) {
        rows.extend(sides.carried(carried.latency_mean_ns));
    }
    for load in common_loads(&from, &to) {
        rows.extend(sides.point(load));
    }
    rows
}

struct Sides<'a> {
    from: &'a [CurveRecord],
    to: &'a [CurveRecord],
    /// The records that they are of.
    records: (&'a [&'a Record], &'a [&'a Record]),
    options: &'a SetOptions,
    order: RunOrder,
}

fn row(step: &str, figure: Compared, comparison: Comparison) -> Row {
    let (step, job) = (step.to_owned(), String::new());
    Row { step, job, dir: "", figure, basis: Basis::Runs, comparison }
}

impl Sides<'_> {
    fn options(&self, figure: Figure) -> CompareOptions {
        let SetOptions { coverage, effect_min } = *self.options;
        let better = Compared::OfRun(figure).better();
        CompareOptions { better, order: self.order, coverage, effect_min }
    }

    /// Compares the load lines: of one curve on each side by their brackets, of several as runs.
    fn line(&self) -> Comparison {
        let options = self.options(Figure::Iops);
        let one = |set: &[CurveRecord]| match set {
            [curve] if curve.lever == Lever::Rate => {
                let interval = curve.line.interval?;
                let (low, high, coverage) = (interval.low, interval.high, interval.coverage);
                Some((curve.line.load?, stats::Interval { low, high, coverage }))
            }
            _ => None,
        };
        if let Some((from, to)) = one(self.from).zip(one(self.to)) {
            return compare_intervals(from, to, &options);
        }
        let lines = |set: &[CurveRecord]| -> Vec<f64> {
            let line = |curve: &CurveRecord| match curve.lever {
                Lever::Rate => curve.line.load,
                Lever::QueueDepth | Lever::Workers | Lever::Units => curve.line.achieved_iops,
            };
            set.iter().filter_map(line).collect()
        };
        compare(&lines(self.from), &lines(self.to), &options)
    }

    fn carried(&self, latency_mean_ns: u64) -> Option<Row> {
        let rates = |set: &[CurveRecord]| -> Option<Vec<f64>> {
            let of = |curve: &CurveRecord| {
                let mut carried = curve.carried.iter();
                let found = carried.find(|it| it.latency_mean_ns == latency_mean_ns)?;
                found.rate_iops.filter(|_| found.state == CarriedState::Reached)
            };
            set.iter().map(of).collect()
        };
        let (from, to) = (rates(self.from)?, rates(self.to)?);
        let step = format!("at mean {} ms", latency_mean_ns / 1_000_000);
        let comparison = compare(&from, &to, &self.options(Figure::Iops));
        Some(row(&step, Compared::OfRun(Figure::Iops), comparison))
    }

    /// Compares what a load that both sets have came to.
    fn point(&self, load: f64) -> Vec<Row> {
        let by_seconds = self.point_by_seconds(load);
        if !by_seconds.is_empty() {
            return by_seconds;
        }
        let of = |set: &[CurveRecord], figure: Figure| -> Vec<f64> {
            set.iter().filter_map(|curve| median_at(curve, load, figure)).collect()
        };
        let rows = [Figure::Iops, Figure::Mean, Figure::P99].into_iter().map(|figure| {
            let (from, to) = (of(self.from, figure), of(self.to, figure));
            let thin = |of: f64| ThinPercentile::of(self.fewest_ios(load)?, of);
            let comparison = match figure.percentile().and_then(thin) {
                Some(thin) => Comparison::of_thin(from.len(), to.len(), thin),
                None => compare(&from, &to, &self.options(figure)),
            };
            row(&format!("at load {load:.0}"), Compared::OfRun(figure), comparison)
        });
        rows.collect()
    }
}

impl Sides<'_> {
    /// Returns the operations of the measurement of a load that had the fewest, of both sets.
    fn fewest_ios(&self, load: f64) -> Option<u64> {
        let records = self.records.0.iter().chain(self.records.1);
        let of_record = |record: &&Record| {
            let points = record.curve.iter().flat_map(|curve| &curve.points);
            let n_ios = |point: &CurvePointRecord| {
                let jobs = record.jobs.iter().filter(|job| job.step_idx == point.step_idx);
                let n_ios = jobs.flat_map(|job| job.dirs.iter()).map(|(_, dir)| dir.n_ios).sum();
                (n_ios > 0).then_some(n_ios)
            };
            points.filter(|point| is_same_load(point.load, load)).filter_map(n_ios).min()
        };
        records.filter_map(of_record).min()
    }

    /// Compares a point of one curve on each side by its seconds, as single runs are; nothing where
    /// there are several curves, or no seconds.
    fn point_by_seconds(&self, load: f64) -> Vec<Row> {
        let ([from], [to]) = self.records else { return Vec::new() };
        let of_seconds = Figure::OF_SECOND.iter().copied().map(Compared::OfSecond);
        let figures = std::iter::once(Compared::OfRun(Figure::Iops)).chain(of_seconds);
        let rows = figures.filter_map(|compared| {
            let figure = compared.figure();
            let (from, to) = (seconds(from, load, figure)?, seconds(to, load, figure)?);
            let comparison = compare_series(&from, &to, &self.options(figure));
            let row = row(&format!("at load {load:.0}"), compared, comparison);
            Some(Row { basis: Basis::Seconds, ..row })
        });
        rows.collect()
    }
}

/// Returns a figure of the seconds of all measurements of a load; nothing where there are none.
fn seconds(record: &Record, load: f64, figure: Figure) -> Option<Sampled> {
    let points = record.curve.iter().flat_map(|curve| &curve.points);
    let steps = points.filter(|point| is_same_load(point.load, load)).map(|point| point.step_idx);
    let seconds = steps.flat_map(|step_idx| measured(record, step_idx));
    let figures: Vec<(u64, f64)> =
        seconds.filter_map(|second| Some((second.length_ms, of_second(second, figure)?))).collect();
    (!figures.is_empty()).then(|| Sampled::of(&figures))
}

/// Returns a figure of a second: operations of all directions, or the latency of the slowest one.
fn of_second(second: &Interval, figure: Figure) -> Option<f64> {
    if figure == Figure::Iops {
        return Some(per_s(second, second.dirs.iter().map(|(_, dir)| dir.n_ios).sum()));
    }
    second.dirs.iter().filter_map(|(_, dir)| dir.waited_ns(figure)).max().map(|ns| ns as f64)
}

fn median_at(curve: &CurveRecord, load: f64, figure: Figure) -> Option<f64> {
    let at = curve.points.iter().filter(|point| is_same_load(point.load, load));
    series::median(&at.filter_map(|point| point.figures.get(figure)).collect::<Vec<f64>>())
}

/// Returns the loads that every curve has, in ascending order.
fn common_loads(from: &[CurveRecord], to: &[CurveRecord]) -> Vec<f64> {
    let Some(first) = from.first() else { return Vec::new() };
    let mut loads: Vec<f64> = first.points.iter().map(|point| point.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup_by(|next, kept| is_same_load(*next, *kept));
    let has = |curve: &CurveRecord, load: f64| {
        curve.points.iter().any(|point| is_same_load(point.load, load))
    };
    loads.retain(|load| from.iter().chain(to).all(|curve| has(curve, *load)));
    loads
}
