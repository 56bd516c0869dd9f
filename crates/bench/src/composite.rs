//! A curve over units of load of a composite workload: so many job sets, then more.
//!
//! Each point is a run of the whole workload with a number of units. It counts as carried where the
//! rates asked for were achieved ([`analysis::composite`]), nothing failed, the backlog did not
//! grow, and further limits, if any, were kept. Unlike a [`crate::Sweep`] it searches nothing:
//! loads are given, since each may take the better part of an hour.

use analysis::curve::{knees, overall_response_time};
use analysis::gates::culprit;
use analysis::{GateName, Limits, Point};
use record::{
    CannotTell, CurvePointRecord, CurveRecord, Figure, GateRecord, JobRecord, KneesRecord, Lever,
    LineVerdict, LoadLineRecord, Note, NoteSeverity, Outcome, Record, SearchEnd, UnitsRecord,
    Verdict,
};

use crate::join::join;
use crate::outcome::{self, KNEE_SENSITIVITY, Measured};
use crate::sweep::{Fault, count_as_carried};

/// Most points of a curve.
pub const POINTS_MAX: u32 = 1000;

/// Mean latencies at which is said what is carried.
const AT_LATENCIES_NS: [u64; 2] = [1_000_000, 2_000_000];

/// Times that a load is measured at most, where the host disturbs the measurements.
const TRIES_MAX: usize = 2;

/// Returns numbers of units at equal distances, as far as whole numbers have them, both ends among
/// them. Fewer than `n_points` where there are not as many; none where `max` is less than `from`.
pub fn loads(from: u32, max: u32, n_points: u32) -> Vec<u32> {
    if max < from || n_points == 0 {
        return Vec::new();
    }
    if n_points == 1 {
        return vec![max];
    }
    let n_steps = u64::from(n_points - 1);
    let at = |idx: u64| u64::from(from) + (u64::from(max - from) * idx + n_steps / 2) / n_steps;
    let mut loads: Vec<u32> = (0..=n_steps).map(|idx| at(idx) as u32).collect();
    loads.dedup();
    loads
}

/// A curve over units, point after point.
#[derive(Clone, Debug)]
pub struct UnitsSweep {
    loads: Vec<u32>,
    limits: Limits,
    next_idx: usize,
    n_tries: usize,
    taken: Vec<Taken>,
    /// Asked for no rate: then nothing can be missed.
    has_no_rate: bool,
    record: Option<Record>,
}

/// A point.
#[derive(Clone, Debug)]
struct Taken {
    measured: Measured,
    /// The rates were achieved, whatever further limits say.
    holds: bool,
}

/// What is wrong with a point.
#[derive(Default)]
struct Wrong {
    /// What of the rates, and of what belongs to them, does not hold.
    rates: Vec<String>,
    /// Why the point says nothing.
    void: Option<String>,
    /// A further measurement may say more.
    is_of_host: bool,
}

impl UnitsSweep {
    /// Sets a curve over these loads up, in ascending order.
    pub fn new(mut loads: Vec<u32>, limits: Limits) -> Self {
        loads.sort_unstable();
        loads.dedup();
        let (taken, record) = (Vec::new(), None);
        UnitsSweep { loads, limits, next_idx: 0, n_tries: 0, taken, has_no_rate: false, record }
    }

    /// Returns the units of the next point; none when the curve is done.
    pub fn next_load(&self) -> Option<u32> {
        self.loads.get(self.next_idx).copied()
    }

    /// Returns how many points were measured.
    pub fn n_measured(&self) -> usize {
        self.taken.len()
    }

    /// Takes the record of the run that [`UnitsSweep::next_load`] asked for. Of its steps the
    /// measured one is kept, with one entry for each component. Returns none without a point to
    /// take it for.
    pub fn take(&mut self, record: Record) -> Option<CurvePointRecord> {
        let n_units = self.next_load()?;
        let is_whole = record.outcome != Outcome::Interrupted;
        let units = record.units.last().cloned();
        let wrong = wrong(&record, units.as_ref(), is_whole);
        self.has_no_rate |= units.as_ref().is_some_and(|it| it.all.asked_iops.is_none());
        let measured = units.as_ref().and_then(|units| point(&record, units));
        let unit = units.as_ref().map_or("units", |units| &units.unit);
        let name = format!("{n_units} x {unit}");
        let condensed = condensed(record, units.as_ref());
        let step_idx = join(&mut self.record, condensed, name);
        if let Some(units) = units {
            let record = self.record.as_mut()?;
            record.units.push(UnitsRecord { step_idx, ..units });
        }
        let mut broken = wrong.rates;
        let holds = broken.is_empty() && wrong.void.is_none() && measured.is_some();
        let over = measured.as_ref().map_or(Vec::new(), |point| {
            let over = self.limits.broken(&point.measured());
            over.iter().map(|limit| outcome::broken_limit(limit, point)).collect()
        });
        broken.extend(over);
        let load = f64::from(n_units);
        let is_carried = broken.is_empty() && wrong.void.is_none();
        if let Some(record) = self.record.as_mut().filter(|_| is_carried) {
            count_as_carried(record, step_idx, Fault::Own);
        }
        let mut point = outcome::point(step_idx, load, "curve", measured.as_ref(), broken);
        point.passed &= wrong.void.is_none();
        point.void = wrong.void;
        self.taken.push(Taken {
            measured: Measured { point: point.clone(), histogram: measured },
            holds,
        });
        self.n_tries += 1;
        if !(wrong.is_of_host && self.n_tries < TRIES_MAX) {
            self.next_idx += 1;
            self.n_tries = 0;
        }
        Some(point)
    }

    /// Ends the curve because nothing more can be measured, for this reason.
    pub fn abandon(&mut self, why: &str) {
        if let Some(record) = &mut self.record {
            let code = "abandoned".to_owned();
            let message = format!("the measurements ended early: {why}");
            record.notes.push(Note { severity: NoteSeverity::Warning, code, message });
        }
    }

    /// Returns the record so far, with the curve of the points so far; none before the first.
    pub fn record(&self) -> Option<Record> {
        let mut record = self.record.clone()?;
        let curve = self.curve();
        if let LineVerdict::Above(_) = curve.line.verdict() {
            for point in curve.points.iter().filter(|point| point.passed) {
                count_as_carried(&mut record, point.step_idx, Fault::Any);
            }
        }
        Some(Record { curve: Some(curve), ..record })
    }

    /// Returns what a load must keep, in words.
    pub fn limits_words(&self) -> String {
        let rates = "achieved > 95 % and each process > 75 %".to_owned();
        let mut parts = if self.has_no_rate { Vec::new() } else { vec![rates] };
        if !self.limits.all.is_empty() {
            parts.push(self.limits.to_string());
        }
        if parts.is_empty() { "no failed operation".to_owned() } else { parts.join(" and ") }
    }

    fn curve(&self) -> CurveRecord {
        let line = self.line();
        let holding: Vec<&Measured> = self.holding().map(|it| &it.measured).collect();
        let over = |of: fn(&CurvePointRecord) -> f64| -> Vec<(f64, f64)> {
            let mean = |it: &&Measured| Some((of(&it.point), it.point.figures.get(Figure::Mean)?));
            holding.iter().filter_map(mean).collect()
        };
        let by_rate = over(|point| point.figures.iops());
        CurveRecord {
            lever: Lever::Units,
            n_workers: self
                .record
                .as_ref()
                .and_then(|record| record.units.iter().map(|units| units.all.n_processes).max()),
            limits: self.limits_words(),
            points: self.taken.iter().map(|it| it.measured.point.clone()).collect(),
            line,
            carried: AT_LATENCIES_NS.iter().map(|ns| outcome::carried(&holding, *ns)).collect(),
            overall_response_ns: overall_response_time(&over(|point| point.load)),
            knees: knees(&by_rate, KNEE_SENSITIVITY).map(|found| KneesRecord {
                sensitivity: found.sensitivity,
                range_iops: found.range,
                rates_iops: found.loads(),
                leave_one_out_iops: found.leave_one_out,
            }),
            ..CurveRecord::default()
        }
    }

    /// Returns the points in which the rates were achieved, up to the first load in which they were
    /// not: above it a response time is that of a backlog.
    fn holding(&self) -> impl Iterator<Item = &Taken> {
        let missed = self.taken.iter().filter(|it| !it.holds && it.measured.point.void.is_none());
        let missed = missed.map(|it| it.measured.point.load).reduce(f64::min);
        let is_below = move |it: &&Taken| missed.is_none_or(|load| it.measured.point.load < load);
        self.taken.iter().filter(|it| it.holds).filter(is_below)
    }

    /// Returns the highest load that was carried with none below it that was not.
    fn line(&self) -> LoadLineRecord {
        let points = || self.taken.iter().map(|it| &it.measured.point);
        let said = || points().filter(|point| point.void.is_none());
        let first_fail = said().filter(|point| !point.passed).min_by(|a, b| by_load(a, b));
        let is_below =
            |point: &&CurvePointRecord| first_fail.is_none_or(|failed| point.load < failed.load);
        let passed = said().filter(|point| point.passed);
        let line = passed.filter(is_below).max_by(|a, b| by_load(a, b));
        let is_answered = |load: f64| {
            said().any(|it| (it.load - load).abs() < 0.5 || (it.passed && it.load > load))
        };
        // One between the line and the first that failed only leaves them further apart.
        let is_below_fail = |load: f64| first_fail.is_none_or(|failed| load < failed.load);
        let mut measured = self.loads.iter().take(self.next_idx).map(|load| f64::from(*load));
        let lacks_one = measured.any(|load| is_below_fail(load) && !is_answered(load));
        let is_open = self.next_idx < self.loads.len() && first_fail.is_none();
        let end = match (line, first_fail, lacks_one) {
            _ if is_open => SearchEnd::Unfinished,
            (Some(_), Some(_), _) => SearchEnd::Bracketed,
            (Some(_), None, false) => SearchEnd::NothingFailed,
            (None, Some(_), false) => SearchEnd::NothingPassed,
            (_, None, true) | (None, _, _) => SearchEnd::CannotTell,
        };
        let is_open_question = end == SearchEnd::CannotTell;
        let why = points().rfind(|point| point.void.is_some()).filter(|_| is_open_question);
        LoadLineRecord {
            end,
            reason: is_open_question.then_some(CannotTell::Host),
            why: why.map_or(String::new(), |point| {
                let void = point.void.as_deref().unwrap_or_default();
                format!("{:.0} {}: {void}", point.load, Lever::Units.unit())
            }),
            load: line.map(|point| point.load),
            first_fail: first_fail.map(|point| point.load),
            broken: first_fail.map_or(Vec::new(), |point| point.broken.clone()),
            achieved_iops: line.map(|point| point.figures.iops()),
            bytes_per_s: line.and_then(|point| point.figures.get(Figure::BytesPerS)),
            n_probes: self.taken.len() as u32,
            ..LoadLineRecord::default()
        }
    }
}

fn by_load(a: &CurvePointRecord, b: &CurvePointRecord) -> std::cmp::Ordering {
    a.load.total_cmp(&b.load)
}

/// Returns what was wrong in a run.
fn wrong(record: &Record, units: Option<&UnitsRecord>, is_whole: bool) -> Wrong {
    if !is_whole {
        return Wrong { void: Some("it was cut short".to_owned()), ..Wrong::default() };
    }
    let failure = record.jobs.iter().find(|job| job.error_errno != 0);
    let Some(units) = units else {
        let why = failure.map_or("nothing was measured", |job| job.error_message.as_str());
        return Wrong { void: Some(why.to_owned()), ..Wrong::default() };
    };
    let gate = |name: GateName| {
        let judged = record.validity.iter().find(|it| it.step_idx == units.step_idx)?;
        judged.gate(name.as_str())
    };
    let failed = |gate: &&GateRecord| gate.verdict == Verdict::Failed;
    let mut wrong = Wrong::default();
    match units.holds() {
        Some(true) => {}
        Some(false) => wrong.rates.clone_from(&units.broken),
        None if units.all.asked_iops.is_none() => {}
        None => wrong.void = units.broken.first().cloned(),
    }
    let offered = gate(GateName::Offered);
    if let Some(offered) = offered.filter(failed).filter(|_| wrong.rates.is_empty()) {
        wrong.rates.push(offered.reason.clone());
    }
    if let Some(errors) = gate(GateName::Errors).filter(failed) {
        wrong.rates.push(errors.reason.clone());
    }
    if let Some(job) = failure.filter(|_| record.outcome == Outcome::Failed) {
        wrong.rates.push(format!("`{}` failed: {}", job.name, job.error_message));
    }
    if wrong.rates.is_empty() {
        return wrong;
    }
    // What the host did to the load is not the volume's.
    let mut slowing = GateName::ALL.into_iter().filter(|name| name.only_slows());
    if let Some(slowed) = slowing.find_map(|name| gate(name).filter(failed)) {
        wrong.void = Some(culprit(&slowed.reason));
        wrong.is_of_host = true;
    }
    let is_short = |gate: &&GateRecord| gate.verdict == Verdict::NotAssessed;
    if let Some(offered) = offered.filter(is_short) {
        wrong.void = Some(offered.reason.clone());
    }
    wrong
}

/// Returns the figures of all components together.
fn point(record: &Record, units: &UnitsRecord) -> Option<Point> {
    let of_all = &units.all;
    let offered = of_all.asked_iops;
    let open = offered.and_then(|iops| Point::of_open(record, units.step_idx, iops));
    let point = open.or_else(|| Point::of_closed(record, units.step_idx))?;
    // Over the time that was measured, as those of the components.
    Some(Point {
        offered_iops: offered,
        achieved_iops: of_all.figures.iops(),
        bytes_per_s: of_all.figures.get(Figure::BytesPerS).unwrap_or(point.bytes_per_s),
        ..point
    })
}

/// Leaves of a run its measured step, with one entry for each component: hundreds of processes with
/// a dozen histograms each would make a curve of gigabytes.
fn condensed(mut record: Record, units: Option<&UnitsRecord>) -> Record {
    let last = record.jobs.iter().map(|job| job.step_idx).max().unwrap_or(0);
    let kept = units.map_or(last, |units| units.step_idx);
    record.units.clear();
    record.steps.retain(|step| step.step_idx == kept);
    for step in &mut record.steps {
        step.step_idx = 0;
    }
    record.intervals.retain(|interval| interval.step_idx == kept);
    record.conditions.retain(|of_step| of_step.step_idx == kept);
    record.validity.retain(|of_step| of_step.step_idx == kept);
    let mut jobs: Vec<JobRecord> = Vec::new();
    for job in record.jobs.drain(..).filter(|job| job.step_idx == kept) {
        match jobs.iter_mut().find(|known| known.name == job.name) {
            Some(known) => known.merge(&job),
            None => jobs.push(JobRecord { group_reporting: true, ..job }),
        }
    }
    record.jobs = jobs;
    record
}
