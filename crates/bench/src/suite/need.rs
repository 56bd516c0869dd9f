//! Needs: what a disk must do, in words such as `iops=5000,p99<2ms`, and whether it does.
//!
//! A measurement that keeps all conditions answers a need; one that breaks some is repeated before
//! it counts, and one that the generator or the host spoiled does not count.

use std::time::Duration;

use analysis::gates::worst_backlog;
use analysis::thin::ThinPercentile;
use analysis::{LatencyFigure, Limits, Point};
use hist::Histogram;
use plan::Plan;
use plan::load::Arrivals;
use record::{
    ConditionUnit, Figures, NeedConditionRecord, NeedRecord, NeedVerdict, Outcome, Record,
};

use super::check::{Check, borrowed, checks, held_by, latency, only_slows, spoils};
use super::condition::{Condition, trimmed};
use super::{Access, Durable, End, Part, Prepare, Step, Suite};
use crate::lever::{Lever, Time};
use crate::outcome::grown_backlog;

mod parse;

pub use parse::parse;

/// A load, and what must hold under it.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// As typed.
    pub text: String,
    /// I/Os per second that are offered.
    pub iops: f64,
    /// What must hold; the rate is the first.
    pub conditions: Vec<Condition>,
    /// Bytes per I/O.
    pub block_bytes: u64,
    /// Share of reads, percent.
    pub read_pct: f64,
    /// One after the other, and not anywhere.
    pub is_sequential: bool,
}

/// Bytes per I/O of a need that does not say.
const BLOCK_BYTES: (u64, u64) = (8 << 10, 64 << 10);

/// Measured time of a need that needs no more.
const TIME_NS: u64 = 20_000_000_000;

/// Operations that are due at least in a measurement of a rate. Of random arrivals three standard
/// deviations below that number are a quarter of it.
const DUE_N_MIN: f64 = 16.0;

/// Longest measured time that a need gets by itself.
pub const TIME_NS_MAX: u64 = 600_000_000_000;

impl Need {
    /// Returns how long it is measured: half as long again as ten operations beyond its percentiles
    /// take, until enough operations are due that their number tells something of the disk, and
    /// 20 s at least.
    pub fn time_ns(&self) -> u64 {
        let due_s = DUE_N_MIN / self.iops;
        let needed_s = self.conditions.iter().map(|it| self.needed_s(it)).fold(due_s, f64::max);
        ((needed_s * 1e9) as u64).clamp(TIME_NS, TIME_NS_MAX)
    }

    /// Returns how long a condition must be measured for its percentile to be a figure, seconds.
    fn needed_s(&self, condition: &Condition) -> f64 {
        match condition {
            Condition::Latency { figure: LatencyFigure::Percentile(percentile), .. } => {
                let thin = ThinPercentile::of(0, *percentile);
                thin.map_or(0.0, |thin| 1.5 * thin.n_ios_needed as f64 / self.iops)
            }
            Condition::Latency { figure: LatencyFigure::Mean | LatencyFigure::Max, .. }
            | Condition::Iops(_)
            | Condition::BytesPerS(_) => 0.0,
        }
    }

    /// Returns a condition that cannot be decided in the [time](Need::time_ns) that the need gets
    /// by itself, and how long that takes; none where all can.
    pub fn out_of_reach(&self) -> Option<(&Condition, Duration)> {
        let needed = self.conditions.iter().map(|it| (it, self.needed_s(it)));
        let (condition, needed_s) = needed.max_by(|a, b| a.1.total_cmp(&b.1))?;
        // Half as long again is a reserve, which may be used up.
        (needed_s / 1.5 > TIME_NS_MAX as f64 / 1e9)
            .then(|| (condition, Duration::try_from_secs_f64(needed_s).unwrap_or(Duration::MAX)))
    }

    /// Returns the least operations per second that random arrivals give in a time: fewer by up to
    /// three standard deviations is no fault of the disk. 0 where none at all may arrive.
    pub fn least_offered_iops(&self, time_ns: u64) -> f64 {
        let seconds = time_ns.max(1) as f64 / 1e9;
        let n = self.iops * seconds;
        (n - 3.0 * n.sqrt()).max(0.0) / seconds
    }

    /// Returns whether it writes.
    pub fn writes(&self) -> bool {
        self.read_pct < 100.0
    }

    fn access(&self) -> Access {
        match (self.is_sequential, self.read_pct) {
            (true, 100.0) => Access::Read,
            (true, 0.0) => Access::Write,
            (true, _) => Access::ReadWrite,
            (false, 100.0) => Access::RandRead,
            (false, 0.0) => Access::RandWrite,
            (false, _) => Access::RandReadWrite,
        }
    }

    /// Returns how many workers offer the rate, so that none of them is what limits it.
    fn workers(&self) -> u32 {
        ((self.iops / WORKER_IOPS).ceil() as u32).clamp(1, WORKERS_MAX)
    }

    fn part(&self) -> Part {
        Part {
            name: self.text.clone(),
            is_preparation: false,
            access: self.access(),
            block_bytes: vec![self.block_bytes],
            read_pct: vec![self.read_pct],
            depths: vec![IN_FLIGHT_MAX],
            workers: vec![self.workers()],
            connections: Vec::new(),
            is_direct: true,
            durable: Durable::Whenever,
            place: String::new(),
            rate_iops: None,
            size_bytes: None,
            loads: Vec::new(),
            ramp_ns: 2_000_000_000,
            time_ns: self.time_ns(),
            end: End::Time,
            published: Vec::new(),
            targets: Vec::new(),
        }
    }
}

/// I/Os per second that one worker offers: each takes it 6 to 8 us of processor time at that rate
/// (docs/performance.md), so that it is busy for less than half of the time.
const WORKER_IOPS: f64 = 50_000.0;

/// Workers of a need at most.
const WORKERS_MAX: u32 = 16;

/// I/Os in flight at most, per worker, while a need is measured; what is due beyond waits, and its
/// wait counts.
pub const IN_FLIGHT_MAX: u32 = 256;

/// Returns the suite that measures needs: one part for each.
pub fn suite(needs: &[Need]) -> Suite {
    Suite {
        name: "need".to_owned(),
        title: "is it good enough?".to_owned(),
        about: String::new(),
        is_indicative: false,
        sources: Vec::new(),
        places: Vec::new(),
        layout: None,
        prepare: Prepare { fill_time_ns: Some(20_000_000_000), ..Prepare::default() },
        parts: needs.iter().map(Need::part).collect(),
        curve: None,
        rounds: None,
    }
}

/// What must hold of the steps of one label.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The need as typed, or the conditions of a target.
    pub text: String,
    /// Label of its steps.
    pub label: String,
    /// What must hold.
    pub conditions: Vec<Condition>,
    /// Operations per second that were offered at least, 0 where so few were due that their number
    /// says nothing; none in a closed loop.
    pub offered_iops: Option<f64>,
    /// The document that it is from, by its id; empty for a need of the user's own.
    pub source: String,
}

/// Measurements that are tried to get one that counts.
const SPOILED_MAX: usize = 3;

/// Returns what the targets of a suite ask of its steps, in their order.
pub fn targets(suite: &Suite, steps: &[Step]) -> Vec<Question> {
    let mut questions = Vec::new();
    for step in steps.iter().filter(|step| step.repeat_idx == 0) {
        let Some(part) = suite.parts.get(step.part_idx) else { continue };
        questions.extend(part.targets.iter().map(|target| {
            let conditions = target.conditions.iter().map(ToString::to_string);
            Question {
                text: conditions.collect::<Vec<_>>().join(", "),
                label: step.label.clone(),
                conditions: target.conditions.clone(),
                offered_iops: None,
                source: target.source.clone(),
            }
        }));
    }
    questions
}

/// Returns what needs ask of the steps that measure them.
pub fn questions(needs: &[Need], steps: &[Step]) -> Vec<Question> {
    let of_step = |step: &Step| {
        let need = needs.get(step.part_idx)?;
        Some(Question {
            text: need.text.clone(),
            label: step.label.clone(),
            conditions: need.conditions.clone(),
            offered_iops: Some(need.least_offered_iops(step.time_ns)),
            source: String::new(),
        })
    };
    steps.iter().filter(|step| step.repeat_idx == 0).filter_map(of_step).collect()
}

/// Returns the plan that measures a need for the n-th time, out of the plan of its step: random
/// arrivals at its rate, and draws of its own.
pub fn plan(need: &Need, plan: &Plan, attempt: u32, (time_ns, ramp_ns): (u64, u64)) -> Plan {
    let lever = Lever::Rate { arrivals: Arrivals::Poisson, in_flight_max: IN_FLIGHT_MAX };
    let time = Time { measured_ns: time_ns, ramp_ns };
    let mut plan = lever.put(plan, need.iops, (attempt, None), time);
    // The rate is known, and with it how many workers carry it.
    plan.steps.iter_mut().flat_map(|step| &mut step.jobs).for_each(|job| job.load.spreads = true);
    plan
}

/// What a measurement says of a question.
#[derive(Clone, Debug, PartialEq)]
struct Attempt {
    said: AttemptVerdict,
    /// Why it failed or is void; empty where it passed.
    reason: String,
    conditions: Vec<NeedConditionRecord>,
    figures: Figures,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttemptVerdict {
    Passed,
    /// Everything was kept, at a level that is known not to last.
    Borrowed,
    Failed,
    /// The generator, the host or a signal spoiled it.
    Spoiled,
    /// Too few operations: another one as long would say no more.
    Thin,
}

impl Question {
    /// Returns whether the steps so far leave it open, so that another measurement is wanted.
    pub fn wants_more(&self, record: &Record, steps: &[u32]) -> bool {
        decide(&self.attempts(record, steps)).is_none()
    }

    /// Returns the answer that the steps give.
    pub fn answer(&self, record: &Record, steps: &[u32]) -> NeedRecord {
        let attempts = self.attempts(record, steps);
        let said = decide(&attempts);
        let shown = match said {
            Some(AttemptVerdict::Failed) => {
                attempts.iter().rfind(|it| it.said == AttemptVerdict::Failed)
            }
            Some(AttemptVerdict::Passed) => {
                attempts.iter().rfind(|it| it.said == AttemptVerdict::Passed)
            }
            Some(AttemptVerdict::Borrowed) => {
                attempts.iter().rfind(|it| it.said == AttemptVerdict::Borrowed)
            }
            Some(AttemptVerdict::Spoiled | AttemptVerdict::Thin) | None => attempts.last(),
        };
        // One that was cut short at once shows nothing: what came before it does.
        let shows = |it: &&Attempt| it.conditions.iter().any(|it| it.value.is_some());
        let seen = shown.filter(shows).or(attempts.iter().rfind(shows)).or(shown);
        let verdict = match said {
            Some(AttemptVerdict::Passed) => NeedVerdict::Met,
            Some(AttemptVerdict::Failed) => NeedVerdict::NotMet,
            Some(AttemptVerdict::Borrowed | AttemptVerdict::Spoiled | AttemptVerdict::Thin)
            | None => NeedVerdict::CannotTell,
        };
        let mut conditions = seen.map_or_else(Vec::new, |it| it.conditions.clone());
        if matches!(said, Some(AttemptVerdict::Spoiled) | None) {
            // What a spoiled measurement shows decides nothing, nor does one that is alone.
            for condition in &mut conditions {
                condition.is_kept = None;
            }
        }
        let mut reason = shown.map_or("nothing was measured".to_owned(), |it| it.reason.clone());
        let n_failed = attempts.iter().filter(|it| it.said == AttemptVerdict::Failed).count();
        if said == Some(AttemptVerdict::Passed) && n_failed > 0 {
            reason = format!("{n_failed} of {} measurements broke it", attempts.len());
        } else if said.is_none() && n_failed > 0 {
            reason = format!("{reason}; it was not measured again");
        }
        NeedRecord {
            need: self.text.clone(),
            label: self.label.clone(),
            verdict,
            conditions,
            figures: seen.map_or_else(Figures::default, |it| it.figures),
            reason,
            n_measured: attempts.len() as u32,
            n_failed: n_failed as u32,
            source: self.source.clone(),
        }
    }

    fn attempts(&self, record: &Record, steps: &[u32]) -> Vec<Attempt> {
        steps.iter().map(|step_idx| self.attempt(record, *step_idx)).collect()
    }

    fn attempt(&self, record: &Record, step_idx: u32) -> Attempt {
        let point = match self.offered_iops {
            Some(offered_iops) => Point::of_open(record, step_idx, offered_iops),
            None => Point::of_closed(record, step_idx),
        };
        let checks = checks(record, step_idx);
        let mut conditions = Vec::new();
        let mut broken = Vec::new();
        let mut thin = None;
        for condition in &self.conditions {
            let seen = seen(condition, record, step_idx, point.as_ref(), self.offered_iops);
            broken.extend(seen.broken);
            thin = thin.or(seen.thin);
            conditions.push(seen.record);
        }
        let backlog = worst_backlog(record, step_idx).filter(|_| self.offered_iops.is_some());
        broken.extend(backlog.and_then(grown_backlog));
        let (said, reason) = self.said(record, step_idx, &checks, point.as_ref(), (broken, thin));
        let reason = match said {
            AttemptVerdict::Failed => held_by(record, step_idx)
                .map_or(reason.clone(), |cap| format!("{reason}; held back by {cap}")),
            AttemptVerdict::Passed
            | AttemptVerdict::Borrowed
            | AttemptVerdict::Spoiled
            | AttemptVerdict::Thin => reason,
        };
        let figures = point.as_ref().map_or_else(Figures::default, Point::figures);
        Attempt { said, reason, conditions, figures }
    }

    /// Weighs what a measurement showed.
    fn said(
        &self,
        record: &Record,
        step_idx: u32,
        checks: &[Check],
        point: Option<&Point>,
        (broken, thin): (Vec<String>, Option<String>),
    ) -> (AttemptVerdict, String) {
        let mut jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx);
        if let Some(job) = jobs.find(|job| job.error_errno != 0) {
            return (AttemptVerdict::Failed, format!("an operation failed: {}", job.error_message));
        }
        let is_last = record.jobs.iter().map(|job| job.step_idx).max() == Some(step_idx);
        if record.outcome == Outcome::Interrupted && is_last {
            return (AttemptVerdict::Spoiled, "it was interrupted".to_owned());
        }
        let is_kept = point.is_some() && broken.is_empty() && thin.is_none();
        let stands = |check: &&Check| is_kept && only_slows(check) && self.only_worsens();
        let mut spoiling = checks.iter().filter(|check| spoils(check, self.offered_iops.is_some()));
        if let Some(check) = spoiling.find(|check| !stands(check)) {
            return (AttemptVerdict::Spoiled, check.reason.clone());
        }
        if self.offered_iops == Some(0.0) {
            let thin = "too few operations were due in the time; measure longer \
                        (`--set time=...`, without `--scale`)";
            return (AttemptVerdict::Thin, thin.to_owned());
        }
        let Some(point) = point else {
            return (AttemptVerdict::Failed, "nothing was completed".to_owned());
        };
        match (broken.is_empty(), thin) {
            (_, Some(thin)) => (AttemptVerdict::Thin, thin),
            (true, None) => match borrowed(checks, self.asked_share(point)) {
                Some(check) => (
                    AttemptVerdict::Borrowed,
                    format!("it was kept, but may not last: {}", check.reason),
                ),
                None => (AttemptVerdict::Passed, String::new()),
            },
            (false, None) => (AttemptVerdict::Failed, broken.join("; ")),
        }
    }

    /// Returns how much of a measured load is asked for, as a share; none of a closed one whose
    /// latencies count, since those are latencies of the whole load.
    fn asked_share(&self, point: &Point) -> Option<f64> {
        let rate = |condition: &Condition| match condition {
            Condition::Iops(least) => Some(least / point.achieved_iops),
            Condition::BytesPerS(least) => Some(least / point.bytes_per_s),
            Condition::Latency { .. } => None,
        };
        let rates = self.conditions.iter().filter_map(rate);
        rates.reduce(f64::max).filter(|_| self.only_worsens())
    }

    /// Returns whether a slow generator can only make it look worse. It can where the rate is
    /// offered, and where nothing but a rate is asked for. In a closed loop it may spare the disk,
    /// so that latencies fall.
    fn only_worsens(&self) -> bool {
        let is_rate = |it: &Condition| match it {
            Condition::Iops(_) | Condition::BytesPerS(_) => true,
            Condition::Latency { .. } => false,
        };
        self.offered_iops.is_some() || self.conditions.iter().all(is_rate)
    }
}

/// Decides from all measurements; none where another one is wanted. A failure counts when it came
/// twice, and one success is enough where nothing failed; of several none may be at a level that
/// does not last.
fn decide(attempts: &[Attempt]) -> Option<AttemptVerdict> {
    let n = |said: AttemptVerdict| attempts.iter().filter(|it| it.said == said).count();
    let kept = if n(AttemptVerdict::Borrowed) > 0 {
        AttemptVerdict::Borrowed
    } else {
        AttemptVerdict::Passed
    };
    match (n(AttemptVerdict::Passed) + n(AttemptVerdict::Borrowed), n(AttemptVerdict::Failed)) {
        (passed, 0) if passed > 0 => Some(kept),
        (passed, failed) if passed >= 2 && passed >= failed => Some(kept),
        (_, failed) if failed >= 2 => Some(AttemptVerdict::Failed),
        _ if n(AttemptVerdict::Thin) > 0 => Some(AttemptVerdict::Thin),
        _ if n(AttemptVerdict::Spoiled) >= SPOILED_MAX => Some(AttemptVerdict::Spoiled),
        _ => None,
    }
}

/// What is seen of one condition.
struct ConditionResult {
    record: NeedConditionRecord,
    broken: Option<String>,
    thin: Option<String>,
}

fn seen(
    condition: &Condition,
    record: &Record,
    step_idx: u32,
    point: Option<&Point>,
    offered_iops: Option<f64>,
) -> ConditionResult {
    let of_offered = |least: f64, offered: f64| least.min(offered) * Limits::ACHIEVED_SHARE_MIN;
    let (unit, value, bound) = match condition {
        Condition::Iops(least) => {
            let bound = offered_iops.map_or(*least, |offered| of_offered(*least, offered));
            (ConditionUnit::Iops, point.map(|it| it.achieved_iops), bound)
        }
        Condition::BytesPerS(least) => {
            // Bytes are offered in the proportion of operations.
            let share = offered_iops.and_then(|offered| {
                let point = point.filter(|it| it.achieved_iops > 0.0)?;
                Some(offered * point.bytes_per_s / point.achieved_iops)
            });
            let bound = share.map_or(*least, |offered| of_offered(*least, offered));
            (ConditionUnit::BytesPerS, point.map(|it| it.bytes_per_s), bound)
        }
        Condition::Latency { figure, ns_max, is_of_sync } => {
            let latency = latency(record, step_idx, point, *is_of_sync);
            let value = latency.as_ref().and_then(|it| figure.of(it));
            return latency_seen(condition, (*figure, *ns_max), latency.as_ref(), value);
        }
    };
    // A bound of 0 is that of a load of which nothing may be due.
    let is_kept = value.filter(|_| bound > 0.0).map(|value| value >= bound);
    let broken = value.filter(|value| *value < bound).map(|value| match condition {
        Condition::BytesPerS(least) => {
            format!("{} MB/s, not {}", trimmed(value / 1e6), trimmed(least / 1e6))
        }
        Condition::Iops(_) | Condition::Latency { .. } => {
            format!("{value:.0} IOPS, not {}", trimmed(condition.bound()))
        }
    });
    let record = condition_record(condition, unit, value, is_kept);
    ConditionResult { record, broken, thin: None }
}

fn latency_seen(
    condition: &Condition,
    (figure, ns_max): (LatencyFigure, u64),
    latency: Option<&Histogram>,
    value: Option<f64>,
) -> ConditionResult {
    let n_ios = latency.map_or(0, Histogram::count);
    let thin = match figure {
        LatencyFigure::Percentile(percentile) => ThinPercentile::of(n_ios, percentile),
        LatencyFigure::Mean | LatencyFigure::Max => None,
    };
    if let (Some(thin), Some(_)) = (thin, value) {
        let thin = format!(
            "{figure} of {n_ios} operations says little: it takes {}; measure longer \
             (`--set time=...`), or ask for a lower percentile",
            thin.n_ios_needed
        );
        let record = latency_record(condition, value, None);
        return ConditionResult { record, broken: None, thin: Some(thin) };
    }
    let is_kept = value.map(|value| value < ns_max as f64);
    let broken = match value {
        Some(value) if value >= ns_max as f64 => {
            let condition = condition.to_string();
            let bound = condition.find('<').map_or(&*condition, |at| &condition[at..]);
            Some(format!("{figure} {}, not {bound}", units::format_latency_ns(value as u64)))
        }
        Some(_) => None,
        None => Some(format!("`{condition}` has no figure: nothing of that kind was done")),
    };
    ConditionResult { record: latency_record(condition, value, is_kept), broken, thin: None }
}

fn latency_record(
    condition: &Condition,
    value: Option<f64>,
    is_kept: Option<bool>,
) -> NeedConditionRecord {
    condition_record(condition, ConditionUnit::Nanoseconds, value, is_kept)
}

fn condition_record(
    condition: &Condition,
    unit: ConditionUnit,
    value: Option<f64>,
    is_kept: Option<bool>,
) -> NeedConditionRecord {
    NeedConditionRecord {
        condition: condition.to_string(),
        unit,
        bound: condition.bound(),
        value,
        is_kept,
    }
}

#[cfg(test)]
mod tests;
