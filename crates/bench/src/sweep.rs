//! A sweep at work: which point next, and what came of it.

use analysis::gates::of_step;
use analysis::search::{Probe, ProbeResult, Purpose, Search, SearchError, SearchOptions};
use analysis::steady::SteadyRule;
use analysis::{Gate, GateName, GateVerdict, Limits, Point};
use plan::Plan;
use plan::load::Arrivals;
use record::{CurvePointRecord, Note, NoteSeverity, Outcome, Record, Verdict};

use crate::join::join;
use crate::lever::{Lever, LeverError, Time};
use crate::outcome::{self, Measured};

/// How to sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOptions {
    /// What is turned up.
    pub lever: Lever,
    /// What a load must keep to count as carried. Of an open load the usual share of the offered
    /// rate is added, unless there is one.
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
    record: Option<Record>,
}

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
        Ok(Sweep { plan, options, search, measured: Vec::new(), record: None })
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
        let broken = self.broken(measured.as_ref(), &gates, failed);
        let point = outcome::point(step_idx, load, purpose(probe), measured.as_ref(), broken);
        if is_whole {
            let pressure = measured.as_ref().map(|it| self.options.limits.pressure(&it.measured()));
            let achieved = measured.as_ref().map(|it| it.achieved_iops).filter(|_| is_open);
            self.search.take(ProbeResult { passed: point.passed, achieved, pressure });
        }
        self.note_gates(&point, &gates);
        self.measured.push(Measured { point: point.clone(), histogram: measured });
        Some(point)
    }

    /// Returns the record so far, with the curve of the points so far: everything is computed
    /// anew, and copied. None before the first point.
    pub fn record(&self) -> Option<Record> {
        self.record.clone().map(|record| with_curve(record, self.curve()))
    }

    /// Ends the sweep and returns its record; none where no point was measured.
    pub fn finish(mut self) -> Option<Record> {
        let curve = self.curve();
        self.record.take().map(|record| with_curve(record, curve))
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

/// Adds the curve, and that its line is one of burst credits, if it is.
fn with_curve(mut record: Record, curve: record::CurveRecord) -> Record {
    let is_line = |point: &&CurvePointRecord| point.passed && Some(point.load) == curve.line.load;
    let judged = curve.points.iter().filter(is_line).flat_map(|point| {
        record.validity.iter().filter(move |judged| judged.step_idx == point.step_idx)
    });
    let borrowed = judged.filter_map(|judged| judged.gate(GateName::Credits.as_str()));
    let mut borrowed = borrowed
        .filter(|gate| gate.verdict != Verdict::Passed && !gate.reason.is_empty())
        .map(|gate| gate.reason.clone());
    if let Some(reason) = borrowed.next() {
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
