//! A sweep at work: which point next, and what came of it.

use analysis::gates::{Backlog, IS_TRANSIENT, culprit, of_step, worst_backlog};
use analysis::limit::TooFew;
use analysis::search::{Answer, Probe, ProbeResult, Purpose, Search, SearchError, SearchOptions};
use analysis::steady::SteadyRule;
use analysis::{Gate, GateName, GateVerdict, Limits, Point};
use plan::Plan;
use plan::load::Arrivals;
use record::{
    CannotTell, CurvePointRecord, GateRecord, LineVerdict, Note, NoteSeverity, Outcome, Record,
    Verdict,
};

use crate::hosts;
use crate::in_flight;
use crate::join::join;
use crate::lever::{Lever, LeverError, Time};
use crate::outcome::{self, Measured};
use crate::workers::{Counts, WorkerUsage, Workers};

/// How to sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOptions {
    /// What is turned up.
    pub lever: Lever,
    /// The limits that a load must keep to count as carried. Of an open load the usual share of the
    /// offered
    /// rate is added, and that its backlog does not grow, unless there is one on that share.
    pub limits: Limits,
    /// Loads and their order, in the unit of the lever.
    pub search: SearchOptions,
    /// How long a point is measured.
    pub time: Time,
    /// The workers that issue the load.
    pub workers: Workers,
    /// What to write for a longer search: by the command that runs it.
    pub advice: Advice,
}

/// What to write where a search was too short, in the words of the command that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// For more measurements.
    pub more: &'static str,
    /// For longer ones.
    pub longer: &'static str,
}

impl Advice {
    /// Of `plimsoll curve`.
    pub const CURVE: Advice = Advice { more: "--probes-max", longer: "--time" };

    /// Of a suite's load curve.
    pub const SUITE: Advice =
        Advice { more: "--set probes_max=N", longer: "--set point_time=DURATION" };
}

impl SweepOptions {
    /// Returns how long a point may last that has too few operations.
    fn longest_ns(&self) -> u64 {
        self.time.measured_ns.max(STRETCHED_NS_MAX)
    }

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
    #[error("`{limits}` needs an open load: a closed one has no offered rate")]
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
    /// How long the next point is measured where it had too few operations before.
    stretched_ns: Option<u64>,
    /// Loads that were measured between others, see [`Sweep::measure_between`].
    n_between: u32,
    /// Why nothing more can be measured, where that is so.
    abandoned: Option<String>,
    record: Option<Record>,
}

/// Returns the workers of a step of a record, over all its jobs.
pub fn n_workers(record: &Record, step_idx: u32) -> u32 {
    let jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx);
    jobs.map(|job| job.n_workers).fold(0, u32::saturating_add)
}

/// Returns what a step shows about the workers that issued its load.
pub fn seen(record: &Record, step_idx: u32, gates: &[Gate], is_short: bool) -> Option<WorkerUsage> {
    let point = Point::of_closed(record, step_idx)?;
    let generator = gates.iter().find(|gate| gate.name == GateName::Generator);
    Some(WorkerUsage {
        achieved_iops: point.achieved_iops,
        is_short,
        busy_share: generator.and_then(|gate| gate.figure("worker_cpu_share_max")),
        n_workers: n_workers(record, step_idx),
        in_flight_max: point.queue_depth.unwrap_or(u32::MAX),
        n_cpus: record.host.n_cpus,
    })
}

/// Longest time of a point that lasts longer than asked for because it has too few operations.
pub const STRETCHED_NS_MAX: u64 = 60_000_000_000;

/// What a point is made longer by beyond what it takes: rates vary.
const STRETCH: f64 = 1.2;

/// How much higher than asked for the first rate may be, so that a point has enough operations.
const START_RAISED_MAX: f64 = 32.0;

/// Most loads to measure between others: a few for each latency in question.
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
        if options.lever.is_open() {
            // At lower rates no point is long enough to be carried.
            let n_needed = options.limits.n_ios_needed() as f64 * STRETCH;
            let rate_needed = n_needed / (options.longest_ns() as f64 / 1e9);
            let search = &mut options.search;
            if rate_needed <= search.max.min(search.start * START_RAISED_MAX) {
                search.start = search.start.max(rate_needed);
            }
        }
        let search = Search::new(options.search)?;
        let (measured, stretched_ns) = (Vec::new(), None);
        let (abandoned, record) = (None, None);
        Ok(Sweep { plan, options, search, measured, stretched_ns, n_between: 0, abandoned, record })
    }

    /// Returns the point to measure next; none when the sweep is over.
    pub fn next_point(&self) -> Option<Next> {
        let probe = self.search.next_probe()?;
        let lever = self.options.lever;
        Some(Next {
            idx: self.measured.len() as u32,
            load: lever.total(&self.plan, probe.load),
            purpose: purpose(probe),
            plan: lever.put(
                &self.plan,
                probe.load,
                (self.measured.len() as u32, self.options.workers.n_parts()),
                self.time(probe),
            ),
        })
    }

    /// Returns how long a point is measured: long enough for the percentiles of the limits.
    fn time(&self, probe: Probe) -> Time {
        let time = self.options.time;
        let needed_ns = match self.options.lever {
            Lever::Rate { .. } => {
                let n_needed = self.options.limits.n_ios_needed() as f64 * STRETCH;
                (n_needed / probe.load * 1e9) as u64
            }
            Lever::QueueDepth | Lever::Workers => 0,
        };
        let wanted_ns = self.stretched_ns.unwrap_or(needed_ns).min(self.options.longest_ns());
        Time { measured_ns: time.measured_ns.max(wanted_ns), ..time }
    }

    /// Takes the record of the point that [`Sweep::next_point`] asked for. One that was
    /// interrupted, or in which a host of several was lost or late, is kept in the record, but is
    /// void for the line. Returns none without a point to take it for.
    pub fn take(&mut self, mut record: Record) -> Option<CurvePointRecord> {
        let probe = self.search.next_probe()?;
        let load = self.options.lever.total(&self.plan, probe.load);
        let is_whole = record.outcome != Outcome::Interrupted;
        let failed = record.outcome == Outcome::Failed;
        let spoiled = hosts::spoiled(&record, self.options.time.ramp_ns);
        hosts::leave_behind(&mut record);
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
        let disturbed = disturbance(whole, step_idx).map(|gate| culprit(&gate.reason));
        let mut broken = self.broken(measured.as_ref(), &gates, failed);
        broken.extend(backlog.and_then(outcome::grown_backlog));
        let is_of_limits = measured
            .as_ref()
            .is_some_and(|it| broken.len() == self.options.limits.broken(&it.measured()).len());
        let too_few = measured.as_ref().filter(|_| is_of_limits);
        let too_few = too_few.and_then(|it| self.options.limits.too_few(&it.measured()));
        let mut point = outcome::point(step_idx, load, purpose(probe), measured.as_ref(), broken);
        // A worker that had all of a core was not disturbed, whatever else ran.
        let is_judged = is_whole
            && spoiled.is_none()
            && (disturbed.is_none() || !self.options.workers.is_trying());
        let core_bound =
            if is_judged { self.too_few_workers(step_idx, &gates, point.passed) } else { None };
        let (answer, void) = match (point.passed, disturbed, too_few) {
            _ if !is_whole => (None, Some("it was cut short".to_owned())),
            _ if spoiled.is_some() => (Some(Answer::HostAtFault), spoiled),
            _ if core_bound.is_some() => (None, core_bound),
            (false, Some(reason), _) => (Some(Answer::HostAtFault), Some(reason)),
            (_, _, Some(too_few)) => self.few_operations(probe, too_few),
            (passed, _, None) => {
                (Some(if passed { Answer::Carried } else { Answer::Failed }), None)
            }
        };
        point.passed &= void.is_none();
        point.void = void;
        if point.passed && is_open {
            count_as_carried(self.record.as_mut()?, step_idx, Fault::Own);
        }
        let measured = Measured { point: point.clone(), histogram: measured };
        if let Some(answer) = answer {
            self.stretched_ns = None;
            self.search.take(self.result(answer, &measured, backlog));
        }
        self.note_gates(&point, &gates);
        self.measured.push(measured);
        self.measure_between();
        Some(point)
    }

    /// Returns why a point is void, if its workers and not the device were the limit: the next one
    /// has more workers.
    fn too_few_workers(&mut self, step_idx: u32, gates: &[Gate], passed: bool) -> Option<String> {
        let record = self.record.as_ref()?;
        let is_short = !passed || !self.options.lever.is_open();
        let seen = seen(record, step_idx, gates, is_short)?;
        let counts = self.options.workers.take(&seen);
        (counts == Counts::No).then(|| match seen.n_workers {
            1 => "one core was the limit: measured again with more".to_owned(),
            n => format!("{n} cores were the limit: measured again with more"),
        })
    }

    fn result(&self, answer: Answer, measured: &Measured, backlog: Option<Backlog>) -> ProbeResult {
        let point = measured.histogram.as_ref();
        let of_limits = |it: &Point| self.options.limits.pressure(&it.measured());
        let waiting = backlog.map_or(0.0, |it: Backlog| it.pressure());
        let is_open = self.options.lever.is_open();
        ProbeResult {
            answer,
            achieved: point.map(|it| it.achieved_iops).filter(|_| is_open),
            pressure: point.map(|it| of_limits(it).max(waiting)),
        }
    }

    /// Lets a point that has too few operations last longer the next time. Reports it as void if it
    /// has already lasted as long as it may.
    fn few_operations(
        &mut self,
        probe: Probe,
        too_few: TooFew,
    ) -> (Option<Answer>, Option<String>) {
        let TooFew { figure, n_ios, n_ios_needed } = too_few;
        let reason = format!("{n_ios} operations, and {figure} needs {n_ios_needed}");
        let lasted_ns = self.time(probe).measured_ns;
        let longest_ns = self.options.longest_ns();
        if lasted_ns >= longest_ns {
            return (Some(Answer::FewOperations), Some(reason));
        }
        let more = n_ios_needed as f64 / n_ios.max(1) as f64 * STRETCH;
        self.stretched_ns = Some(((lasted_ns as f64 * more) as u64).min(longest_ns));
        (None, Some(reason))
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
        let standing = outcome::standing(&self.measured, &self.curve());
        if let Some(load) = outcome::load_between(&standing, of_one) {
            self.n_between += 1;
            self.search.also(load);
        }
    }

    /// Returns the record so far, with the curve of the points so far: everything is computed
    /// anew, and copied. None before the first point.
    pub fn record(&self) -> Option<Record> {
        let mut record = self.record.clone()?;
        record.notes.extend(self.options.workers.note("the load"));
        Some(with_curve(record, self.curve()))
    }

    /// Ends the search because nothing more can be measured, for this reason. A line that was
    /// found stands.
    pub fn abandon(&mut self, why: String) {
        self.search.abandon();
        if let Some(record) = &mut self.record {
            let code = "abandoned".to_owned();
            let message = format!("the measurements ended early: {why}");
            record.notes.push(Note { severity: NoteSeverity::Warning, code, message });
        }
        self.abandoned = Some(why);
    }

    /// Ends the sweep and returns its record; none where no point was measured.
    pub fn finish(mut self) -> Option<Record> {
        let curve = self.curve();
        let mut record = self.record.take()?;
        record.notes.extend(self.options.workers.note("the load"));
        Some(with_curve(record, curve))
    }

    /// Returns how many points were measured.
    pub fn n_measured(&self) -> usize {
        self.measured.len()
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

    /// Returns what a point breaks, the limits in their order first.
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
        let is_noted = |gate: &&Gate| {
            let is_of_limits = matches!(gate.name, GateName::Errors | GateName::Offered);
            point.passed && gate.verdict == GateVerdict::Failed && !is_of_limits
        };
        for gate in gates.iter().filter(is_noted) {
            let name = record.steps.get(point.step_idx as usize).map_or("", |step| &step.name);
            let message = format!("at {name}: {}", gate.reason);
            let code = format!("gate-{}", gate.name);
            let is_known = record.notes.iter().any(|note| note.code == code);
            if !is_known {
                record.notes.push(Note { severity: NoteSeverity::Warning, code, message });
            }
        }
    }

    /// Adds to why there is no line what the points themselves say.
    fn say_why(&self, line: &mut record::LoadLineRecord) {
        let Some(reason) = line.reason else { return };
        match (reason, &self.abandoned) {
            (CannotTell::Host, Some(why)) => line.why.clone_from(why),
            (CannotTell::Host, None) => {
                let Some(why) = last_void(&self.measured) else { return };
                line.why = format!("{}; the last time {why}", line.why);
            }
            (CannotTell::FewOperations, _) => {
                let Some(why) = last_void(&self.measured) else { return };
                let longest_s = self.options.longest_ns() as f64 / 1e9;
                line.why = format!(
                    "{}: {why}, and a point lasts {longest_s:.0} s at most; limit a lower \
                     percentile, or measure longer with {}",
                    line.why, self.options.advice.longer
                );
            }
            (CannotTell::Probes, _) => {
                line.why.push_str("; allow more with ");
                line.why.push_str(self.options.advice.more);
            }
            (CannotTell::NotOfLoad | CannotTell::Unsteady, _) => {}
        }
    }

    fn curve(&self) -> record::CurveRecord {
        let SweepOptions { lever, limits, .. } = &self.options;
        let total = |load| lever.total(&self.plan, load);
        let mut curve = outcome::curve(*lever, limits, &self.search, &self.measured, total);
        self.say_why(&mut curve.line);
        curve.n_workers = self.record.as_ref().and_then(|record| {
            let counts = curve.points.iter().filter(|point| point.void.is_none());
            counts.map(|point| n_workers(record, point.step_idx)).max()
        });
        curve
    }
}

/// Returns the points at which the load line was carried.
fn points_at_line(curve: &record::CurveRecord) -> impl Iterator<Item = &CurvePointRecord> {
    curve.points.iter().filter(|point| point.passed && Some(point.load) == curve.line.load)
}

/// Returns the reason why points are void: that of the last one.
fn last_void(measured: &[Measured]) -> Option<&str> {
    measured.iter().rev().find_map(|it| it.point.void.as_deref())
}

/// Returns the check that says that a point was disturbed by what may be gone the next time: a
/// generator that was late, stopped or stolen, others who used the disk.
fn disturbance(record: &Record, step_idx: u32) -> Option<&GateRecord> {
    let judged = record.validity.iter().find(|judged| judged.step_idx == step_idx)?;
    let may_pass = |gate: &&GateRecord| gate.figure(IS_TRANSIENT).is_some_and(|it| it > 0.0);
    judged.with(Verdict::Failed).find(may_pass)
}

/// Which faults of the host do not count against a load that was carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// That the generator had nothing to spare by itself.
    Own,
    /// That, and what others did to it or to the disk.
    Any,
}

/// Lets a load that was carried count although something made it slow: its limits were kept anyway.
/// That the generator ends the line is said with the line.
pub(crate) fn count_as_carried(record: &mut Record, step_idx: u32, fault: Fault) {
    let judged = record.validity.iter_mut().find(|judged| judged.step_idx == step_idx);
    let Some(judged) = judged else { return };
    let is_meant = |gate: &&mut GateRecord| {
        let is_own = gate.figure(IS_TRANSIENT).is_some_and(|it| it <= 0.0);
        GateName::only_slows_by_name(&gate.name)
            && gate.verdict == Verdict::Failed
            && (is_own || fault == Fault::Any)
    };
    for gate in judged.gates.iter_mut().filter(is_meant) {
        gate.verdict = Verdict::Passed;
        gate.next_step = None;
        let why = gate.reason.trim_start_matches("client-bound: ");
        gate.reason = format!("the load was carried, though it was slowed down: {why}");
    }
    let breaks = |gate: &GateRecord| {
        gate.verdict == Verdict::Failed && GateName::invalidates_by_name(&gate.name)
    };
    judged.is_valid = !judged.gates.iter().any(breaks);
}

/// Returns what the check of a step's generator says, where it failed.
fn generator(record: &Record, step_idx: u32) -> Option<&GateRecord> {
    let judged = record.validity.iter().find(|judged| judged.step_idx == step_idx)?;
    let gate = judged.gate(GateName::Generator.as_str())?;
    (gate.verdict == Verdict::Failed).then_some(gate)
}

/// Reports that what ends the line is the generator itself, and not the volume: it was the limit of
/// the lowest load that was not carried, whenever that was measured.
fn generator_bound(record: &Record, curve: &record::CurveRecord) -> Option<String> {
    let first_fail = curve.line.load.and(curve.line.first_fail)?;
    let at = |it: &&CurvePointRecord| it.load.total_cmp(&first_fail).is_eq() && it.void.is_none();
    let failed: Vec<_> = curve.points.iter().filter(at).filter(|it| !it.passed).collect();
    let reasons = failed.iter().filter_map(|point| generator(record, point.step_idx));
    let reasons: Vec<&GateRecord> = reasons.collect();
    let gate = reasons.first().filter(|_| 2 * reasons.len() > failed.len())?;
    let advice = gate.next_step.as_ref().map_or(String::new(), |it| format!("; {it}"));
    Some(format!("above the load line the generator was the limit: {}{advice}", gate.reason))
}

/// Adds the curve, and that its line is one of burst credits, of a cache that fills, of the I/Os in
/// flight or of the generator, if it is.
fn with_curve(mut record: Record, curve: record::CurveRecord) -> Record {
    // Where no load failed, none failed by the generator's fault either: the line lies above.
    if let LineVerdict::Above(_) = curve.line.verdict() {
        for point in points_at_line(&curve) {
            count_as_carried(&mut record, point.step_idx, Fault::Any);
        }
    }
    if let Some(message) = generator_bound(&record, &curve) {
        record.notes.push(Note::of_line("of-generator", message));
    }
    if let Some(message) = in_flight::bound(&record, &curve) {
        record.notes.push(Note::of_line("of-in-flight", message));
    }
    let judged = points_at_line(&curve).flat_map(|point| {
        record.validity.iter().filter(move |judged| judged.step_idx == point.step_idx)
    });
    let judged: Vec<_> = judged.collect();
    let borrowed = |(name, what): &(GateName, &str)| {
        let mut gates = judged.iter().filter_map(|judged| judged.gate(name.as_str()));
        let gate = gates.find(|it| it.verdict != Verdict::Passed && !it.reason.is_empty())?;
        Some(Note::of_line(what, format!("the load line does not last: {}", gate.reason)))
    };
    let lasts = [(GateName::Credits, "on-credits"), (GateName::WriteCache, "on-write-cache")];
    let notes: Vec<Note> = lasts.iter().filter_map(borrowed).collect();
    record.notes.extend(notes);
    Record { curve: Some(curve), ..record }
}

fn purpose(probe: Probe) -> &'static str {
    match probe.purpose {
        Purpose::Coarse => "coarse",
        Purpose::Narrow => "narrow",
        Purpose::Confirm => "confirm",
        Purpose::Curve => "curve",
        Purpose::Again => "again",
        Purpose::Control => "control",
    }
}
