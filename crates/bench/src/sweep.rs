//! A sweep at work: which point next, and what came of it.

use analysis::gates::{Backlog, of_step, worst_backlog};
use analysis::metric::{N_BEYOND_MIN, n_beyond};
use analysis::search::{Probe, ProbeResult, Purpose, Search, SearchError, SearchOptions};
use analysis::steady::SteadyRule;
use analysis::{Gate, GateName, GateVerdict, LatencyFigure, Limit, Limits, Point};
use plan::Plan;
use plan::load::Arrivals;
use record::{CurvePointRecord, JobRecord, Note, NoteSeverity, Outcome, Record, Verdict};

use crate::in_flight;
use crate::join::join;
use crate::lever::{Lever, LeverError, Time};
use crate::outcome::{self, Measured};

/// How to sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOptions {
    /// What is turned up.
    pub lever: Lever,
    /// What a load must keep to count as carried. Of an open load the usual share of the offered
    /// rate is added, and that its backlog does not grow, unless there is one on that share.
    pub limits: Limits,
    /// Loads and their order, in the unit of the lever.
    pub search: SearchOptions,
    /// How long a point is measured.
    pub time: Time,
}

impl SweepOptions {
    /// Returns the rate that was offered at least: random arrivals in a short time may be fewer
    /// than the rate says, which is no fault of the volume. Three standard deviations of their
    /// number are allowed for.
    fn least_offered(&self, rate_iops: f64) -> f64 {
        let is_random = matches!(
            self.lever,
            Lever::Rate { arrivals: Arrivals::Poisson | Arrivals::Uniform, .. }
        );
        if !is_random {
            return rate_iops;
        }
        let seconds = self.time.measured_ns as f64 / 1e9;
        let n = rate_iops * seconds;
        (n - 3.0 * n.sqrt()).max(1.0) / seconds
    }
}

/// Why a sweep cannot begin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweepError {
    /// The plan.
    #[error(transparent)]
    Lever(#[from] LeverError),
    /// The loads.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A limit that no closed load can keep or break.
    #[error("`{limits}` needs an open load: in a closed one nothing is offered")]
    NeedsOffered {
        /// The limits.
        limits: String,
    },
}

/// A point to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Next {
    /// Its number, from 0.
    pub idx: u32,
    /// The load over all workers, in the unit of the lever.
    pub load: f64,
    /// What for: `coarse`, `narrow`, `confirm`, `curve`, `again`.
    pub purpose: &'static str,
    /// The plan to run.
    pub plan: Plan,
}

/// A sweep at work.
#[derive(Clone, Debug)]
pub struct Sweep {
    plan: Plan,
    options: SweepOptions,
    search: Search,
    measured: Vec<Measured>,
    /// Loads that were measured between others, see [`Sweep::measure_between`].
    n_between: u32,
    record: Option<Record>,
}

/// Most loads to measure between others: a few for each latency that is asked about.
const BETWEEN_MAX: u32 = 12;

impl Sweep {
    /// Sets a sweep up over a plan of one step.
    pub fn new(plan: Plan, mut options: SweepOptions) -> Result<Self, SweepError> {
        options.lever.check(&plan)?;
        if options.lever.is_open() {
            options.limits = options.limits.with_achieved();
        } else if options.limits.needs_offered() {
            return Err(SweepError::NeedsOffered { limits: options.limits.to_string() });
        }
        let search = Search::new(options.search)?;
        Ok(Sweep { plan, options, search, measured: Vec::new(), n_between: 0, record: None })
    }

    /// Returns the point to measure next; none when the sweep is over.
    pub fn next_point(&self) -> Option<Next> {
        let probe = self.search.next_probe()?;
        let lever = self.options.lever;
        Some(Next {
            idx: probe.idx,
            load: lever.total(&self.plan, probe.load),
            purpose: purpose(probe),
            plan: lever.put(&self.plan, probe.load, probe.idx, self.options.time),
        })
    }

    /// Takes the record of the point that [`Sweep::next_point`] asked for. One that was
    /// interrupted is kept in the record, and says nothing about the line. Returns none without a
    /// point to take it for.
    pub fn take(&mut self, record: Record) -> Option<CurvePointRecord> {
        let probe = self.search.next_probe()?;
        let load = self.options.lever.total(&self.plan, probe.load);
        let is_whole = record.outcome != Outcome::Interrupted;
        let failed = record.outcome == Outcome::Failed;
        let name = self.step_name(load);
        let step_idx = join(&mut self.record, record, name);
        let whole = self.record.as_ref()?;
        let is_open = self.options.lever.is_open();
        let measured = if is_open {
            Point::of_open(whole, step_idx, self.options.least_offered(load))
        } else {
            Point::of_closed(whole, step_idx)
        };
        let gates = of_step(whole, step_idx, !is_open, &SteadyRule::default());
        // Whatever the limits: what waits ever longer is not carried. A closed load has none.
        let backlog = worst_backlog(whole, step_idx).filter(|_| is_open);
        let mut broken = self.broken(measured.as_ref(), &gates, failed);
        broken.extend(backlog.and_then(outcome::grown_backlog));
        let point = outcome::point(step_idx, load, purpose(probe), measured.as_ref(), broken);
        if is_whole {
            let of_limits = |it: &Point| self.options.limits.pressure(&it.measured());
            let waiting = backlog.map_or(0.0, |it: Backlog| it.pressure());
            let pressure = measured.as_ref().map(|it| of_limits(it).max(waiting));
            let achieved = measured.as_ref().map(|it| it.achieved_iops).filter(|_| is_open);
            self.search.take(ProbeResult { passed: point.passed, achieved, pressure });
        }
        self.note_gates(&point, &gates);
        self.measured.push(Measured { point: point.clone(), histogram: measured });
        self.measure_between();
        Some(point)
    }

    /// Asks, when a closed sweep has all else, for a load between two where what is carried at a
    /// latency would be read off a gap.
    fn measure_between(&mut self) {
        let is_over = self.search.next_probe().is_none();
        let has_curve = self.options.search.n_curve_points > 0;
        if self.options.lever.is_open() || !is_over || !has_curve || self.n_between >= BETWEEN_MAX {
            return;
        }
        let of_one = self.options.lever.total(&self.plan, 1.0);
        if let Some(load) = outcome::load_between(&self.measured, of_one) {
            self.n_between += 1;
            self.search.also(load);
        }
    }

    /// Returns the record so far, with the curve of the points so far: everything is computed
    /// anew, and copied. None before the first point.
    pub fn record(&self) -> Option<Record> {
        self.record.clone().map(|record| with_curve(record, self.curve(), &self.options.limits))
    }

    /// Ends the sweep and returns its record; none where no point was measured.
    pub fn finish(mut self) -> Option<Record> {
        let curve = self.curve();
        self.record.take().map(|record| with_curve(record, curve, &self.options.limits))
    }

    /// Returns the limits, with the one that is added to those of an open load.
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    fn step_name(&self, load: f64) -> String {
        match self.options.lever {
            Lever::Rate { .. } => format!("{load:.0} IOPS offered"),
            Lever::QueueDepth => format!("depth {load:.0}"),
            Lever::Workers => format!("{load:.0} workers"),
        }
    }

    /// Says what a point breaks, the limits in their order first.
    fn broken(&self, point: Option<&Point>, gates: &[Gate], failed: bool) -> Vec<String> {
        let Some(point) = point else { return vec!["nothing was completed".to_owned()] };
        let limits = self.options.limits.broken(&point.measured());
        let mut broken: Vec<String> =
            limits.iter().map(|limit| outcome::broken_limit(limit, point)).collect();
        let is_failed =
            |gate: &&Gate| gate.name == GateName::Errors && gate.verdict == GateVerdict::Failed;
        broken.extend(gates.iter().filter(is_failed).map(|gate| gate.reason.clone()));
        if failed && broken.is_empty() {
            broken.push("a job failed".to_owned());
        }
        broken
    }

    /// Notes checks that failed at a point that passed: its number may not mean what it seems to.
    fn note_gates(&mut self, point: &CurvePointRecord, gates: &[Gate]) {
        let Some(record) = &mut self.record else { return };
        let told = |gate: &&Gate| {
            let is_of_limits = matches!(gate.name, GateName::Errors | GateName::Offered);
            point.passed && gate.verdict == GateVerdict::Failed && !is_of_limits
        };
        for gate in gates.iter().filter(told) {
            let name = record.steps.get(point.step_idx as usize).map_or("", |step| &step.name);
            let message = format!("at {name}: {}", gate.reason);
            let code = format!("gate-{}", gate.name);
            let is_known = record.notes.iter().any(|note| note.code == code);
            if !is_known {
                record.notes.push(Note { severity: NoteSeverity::Warning, code, message });
            }
        }
    }

    fn curve(&self) -> record::CurveRecord {
        let SweepOptions { lever, limits, .. } = &self.options;
        let total = |load| lever.total(&self.plan, load);
        outcome::curve(*lever, limits, &self.search, &self.measured, total)
    }
}

/// Returns the points at which the load line was carried.
fn points_at_line(curve: &record::CurveRecord) -> impl Iterator<Item = &CurvePointRecord> {
    curve.points.iter().filter(|point| point.passed && Some(point.load) == curve.line.load)
}

/// Says that a limit's percentile rests on next to no operations where the line is.
fn thin_percentile(
    record: &Record,
    curve: &record::CurveRecord,
    limits: &Limits,
) -> Option<String> {
    let step_idx = points_at_line(curve).next()?.step_idx;
    let jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx);
    let n_ios = jobs.map(JobRecord::n_ios).sum::<u64>();
    let beyond = |limit: &Limit| match limit {
        Limit::Latency { figure: LatencyFigure::Percentile(percentile), .. } => {
            let n_beyond = n_beyond(n_ios, *percentile);
            (n_beyond < N_BEYOND_MIN).then_some((*percentile, n_beyond))
        }
        _ => None,
    };
    let (percentile, n_beyond) = limits.all.iter().find_map(beyond)?;
    Some(format!(
        "of the {n_ios} operations at the load line {n_beyond:.1} lie beyond p{percentile}, which \
         says little about it: measure longer, or limit a lower percentile"
    ))
}

/// Adds the curve, and that its line is one of burst credits, of the I/Os in flight or of hardly
/// any operations, if it is.
fn with_curve(mut record: Record, curve: record::CurveRecord, limits: &Limits) -> Record {
    if let Some(message) = thin_percentile(&record, &curve, limits) {
        let code = "thin-percentile".to_owned();
        record.notes.push(Note { severity: NoteSeverity::Warning, code, message });
    }
    if let Some(message) = in_flight::bound(&record, &curve) {
        let code = "line-of-in-flight".to_owned();
        record.notes.push(Note { severity: NoteSeverity::Warning, code, message });
    }
    let judged = points_at_line(&curve).flat_map(|point| {
        record.validity.iter().filter(move |judged| judged.step_idx == point.step_idx)
    });
    let borrowed = judged
        .filter_map(|judged| judged.gate(GateName::Credits.as_str()))
        .find(|gate| gate.verdict != Verdict::Passed && !gate.reason.is_empty())
        .map(|gate| gate.reason.clone());
    if let Some(reason) = borrowed {
        let message = format!("the load line is not one for ever: {reason}");
        let code = "line-on-credits".to_owned();
        record.notes.push(Note { severity: NoteSeverity::Warning, code, message });
    }
    Record { curve: Some(curve), ..record }
}

fn purpose(probe: Probe) -> &'static str {
    match probe.purpose {
        Purpose::Coarse => "coarse",
        Purpose::Narrow => "narrow",
        Purpose::Confirm => "confirm",
        Purpose::Curve => "curve",
        Purpose::Again => "again",
    }
}
