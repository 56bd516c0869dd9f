//! Judges every step of a record: which checks apply, what they are fed with, what to do next.

mod host;
mod load;
mod place;
mod rows;
mod standing;

use record::{
    GateRecord, HostShareRecord, Interval, JobRecord, LineVerdict, Record, SteadyRuleRecord,
    StepConditions, StepValidity, Verdict,
};

use crate::advice::{self, RATE_CHANGES};
use crate::change::{Change, ChangeRule, changes};
use crate::gate::{Gate, GateName, GateVerdict};
use crate::gates::{ErrorInputs, IS_TRANSIENT, SteadyInputs, StepSeries, errors, steadiness};
use crate::sampled::{evened, is_last_cut_off, per_s, sample_s};
use crate::series;
use crate::steady::SteadyRule;
use crate::warmup::{BATCH_LEN, WarmUp};

pub use rows::RowsWorth;
pub use standing::{Standing, is_invalid_row};

/// Error number of a job that was stopped at once, or never began: of `errno.h` on Linux.
const ECANCELED: i32 = 125;

/// Why a check of what was measured has nothing to judge.
const NOTHING_MEASURED: &str = "nothing was measured";

/// What runs are judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rules {
    /// Rounds and limits of a steady state.
    pub steady: SteadyRule,
    /// Length of the stretch at the end that must be steady, seconds; none for all that was
    /// measured after the warm-up.
    pub window_s: Option<f64>,
    /// Length of the warm-up, seconds; none to find it in the series.
    pub warm_up_s: Option<f64>,
    /// Share of failed operations that is accepted.
    pub error_share_max: f64,
    /// Size of the caches between this host and the media; none if unknown.
    pub cache_bytes: Option<u64>,
}

/// Shortest time over which steadiness is judged unless a window is asked for: six seconds a round,
/// whose median one hiccup does not move.
pub const STEADY_S_MIN: f64 = 30.0;

/// From this difference on between the level after the warm-up and the mean of the whole run, the
/// two count as different; a share.
const LEVEL_SHARE_MIN: f64 = 0.02;

/// A level that lasts for this many samples before it rises is no part of a warm-up.
const KEPT_LEN: usize = 10;

/// Judges the steps of a record that have results.
pub fn assess(record: &Record, rules: &Rules) -> Vec<StepValidity> {
    let mut steps: Vec<u32> = record.jobs.iter().map(|job| job.step_idx).collect();
    steps.dedup();
    steps.into_iter().map(|step_idx| Step::of(record, step_idx).assess(rules)).collect()
}

/// Returns what the check of burst credits finds of each account that the jobs of a step drew on,
/// by the name of its cap; nothing of targets that are not emulated, or that were changed.
pub fn credits_by_cap(record: &Record, step_idx: u32) -> Vec<(String, Gate)> {
    if record.emulation.as_ref().is_none_or(|it| !it.changes.is_empty()) {
        return Vec::new();
    }
    let step = Step::of(record, step_idx);
    step.credits_by_cap().into_iter().map(|(cap, gate)| (cap.name.clone(), gate)).collect()
}

/// Returns whether a run is what was asked for: no step has a check that says otherwise, and none
/// was to run until it was steady and did not become so. Of a curve its load line, see
/// [`has_valid_line`].
pub fn is_valid(record: &Record) -> bool {
    if record.curve.is_some() {
        return has_valid_line(record);
    }
    let is_steady = |it: &StepConditions| it.until_steady.is_none_or(|it| it.attained_ms.is_some());
    record.validity.iter().all(|step| step.is_valid) && record.conditions.iter().all(is_steady)
}

/// Returns whether a curve has an answer (also that no load is carried, or that all are), and
/// whether the measurement that stands for it is what was asked for; true of a record without a
/// curve.
pub fn has_valid_line(record: &Record) -> bool {
    let Some(curve) = &record.curve else { return true };
    match curve.line.verdict() {
        LineVerdict::Line(_) | LineVerdict::Above(_) | LineVerdict::Below => {
            record.line_validity().is_none_or(|step| step.is_valid)
        }
        LineVerdict::CannotTell(_) | LineVerdict::Unfinished => false,
    }
}

/// A step with what is known of it.
struct Step<'a> {
    record: &'a Record,
    idx: u32,
    jobs: Vec<&'a JobRecord>,
    conditions: Option<&'a StepConditions>,
    series: StepSeries,
    /// Its part on each host that did one, where the load came from several.
    hosts: Vec<(&'a str, Step<'a>)>,
}

/// A stretch of a step's samples.
#[derive(Clone, Debug, PartialEq)]
struct Window {
    /// Samples before it that are warm-up; none if that is not known.
    n_warm_up: Option<usize>,
    samples: std::ops::Range<usize>,
}

impl<'a> Step<'a> {
    fn of(record: &'a Record, step_idx: u32) -> Self {
        let part = |host: &'a HostShareRecord| (&*host.name, Step::of(&host.record, step_idx));
        let did_one = |(_, part): &(&str, Step<'_>)| !part.jobs.is_empty();
        Step {
            hosts: record.hosts.iter().map(part).filter(did_one).collect(),
            record,
            idx: step_idx,
            jobs: record.jobs.iter().filter(|job| job.step_idx == step_idx).collect(),
            conditions: record.conditions.iter().find(|it| it.step_idx == step_idx),
            series: StepSeries::of(record, step_idx),
        }
    }

    fn assess(&self, rules: &Rules) -> StepValidity {
        let window = self.window(rules);
        let offered = self.offered_anywhere();
        let is_carried = offered.as_ref().is_none_or(|gate| gate.verdict != GateVerdict::Failed);
        let steady = self.steady(rules, &window, is_carried);
        let gates = [
            Some(self.errors(rules)),
            Some(if is_carried { steady } else { beside_backlog(steady) }),
            self.credits(is_carried),
            self.write_cache(),
            offered,
            self.worst_host(Step::queue_depth),
            self.worst_host(Step::generator),
            self.worst_host(Step::shared_disk),
            self.little(),
            self.worst_host(|step| step.footprint(rules)),
            self.worst_host(Step::page_cache),
            self.worst_host(Step::socket_buffers),
            self.worst_host(Step::mount_options),
        ];
        let gates: Vec<Gate> = gates.into_iter().flatten().collect();
        let breaks = |gate: &Gate| gate.verdict == GateVerdict::Failed && gate.name.invalidates();
        let length_ms = |n: usize| (self.series.sample_s * 1000.0 * n as f64).round() as u64;
        let at_ms = |idx: usize| self.series.start_ms.saturating_add(length_ms(idx));
        let has_window = !window.samples.is_empty();
        StepValidity {
            step_idx: self.idx,
            is_valid: !gates.iter().any(breaks),
            rule: SteadyRuleRecord {
                n_rounds: rules.steady.n_rounds as u32,
                window_ms: rules.window_s.map(|window_s| (window_s * 1000.0) as u64),
                range_pct: rules.steady.range_pct,
                slope_pct: rules.steady.slope_pct,
            },
            warm_up_ms: window.n_warm_up.map(length_ms),
            window_ms: has_window.then(|| (at_ms(window.samples.start), at_ms(window.samples.end))),
            gates: gates.into_iter().map(to_record).collect(),
        }
    }

    /// Runs a check that a sum over hosts would hide something from: of several hosts it is the
    /// first of the worst that is named, since what spoils a part spoils the whole.
    fn worst_host(&self, check: impl Fn(&Step<'a>) -> Option<Gate>) -> Option<Gate> {
        if self.record.hosts.is_empty() {
            return check(self);
        }
        let found = self.hosts.iter().filter_map(|(name, part)| Some((name, check(part)?)));
        // Of two that are as bad, what a repeated measurement may be without.
        let is_transient = |gate: &Gate| gate.figure(IS_TRANSIENT).is_some_and(|it| it > 0.0);
        let badness = |gate: &Gate| (gate.verdict.rank(), is_transient(gate));
        let (name, gate) = found.rev().max_by_key(|(_, gate)| badness(gate))?;
        Some(Gate { reason: format!("`{name}`: {}", gate.reason), ..gate })
    }

    /// Judges whether open loads were carried: by all hosts together, and by each of them, whose
    /// part the sum would hide.
    fn offered_anywhere(&self) -> Option<Gate> {
        let whole = self.offered();
        if self.hosts.is_empty() {
            return whole;
        }
        let rank = |gate: &Option<Gate>| gate.as_ref().map(|gate| gate.verdict.rank());
        let worst = self.worst_host(Step::offered);
        if rank(&worst) > rank(&whole) { worst } else { whole }
    }

    /// Returns the stretch to judge: behind the warm-up, and as long as asked for.
    fn window(&self, rules: &Rules) -> Window {
        let n_samples = self.series.iops.len();
        let samples_of = |seconds: f64| (seconds / self.series.sample_s).round() as usize;
        let n_warm_up = match rules.warm_up_s {
            Some(warm_up_s) => Some(samples_of(warm_up_s).min(n_samples)),
            None => match WarmUp::of(&self.series.iops) {
                WarmUp::Cut(n_cut) => Some(n_cut),
                WarmUp::NotSettled | WarmUp::NotAssessed => None,
            },
        };
        let from = n_warm_up.unwrap_or(0);
        let n_asked = rules.window_s.map_or(n_samples, samples_of);
        Window { n_warm_up, samples: from.max(n_samples.saturating_sub(n_asked))..n_samples }
    }

    fn errors(&self, rules: &Rules) -> Gate {
        let dirs = self.jobs.iter().flat_map(|job| job.dirs.iter());
        let by_errno: u64 = dirs.flat_map(|(_, dir)| dir.errors.values()).sum();
        let n_errors: u64 = self.jobs.iter().map(|job| job.n_errors).sum();
        let gate = errors(&ErrorInputs {
            n_ios: self.jobs.iter().map(|job| job.n_ios()).sum(),
            n_errors: n_errors.max(by_errno),
            share_max: rules.error_share_max,
        });
        // A job may fail without a failed operation: its server is gone, a file could not be made
        // durable when it was closed.
        let is_failed = |job: &&&JobRecord| !matches!(job.error_errno, 0 | ECANCELED);
        match self.jobs.iter().find(is_failed).filter(|_| n_errors.max(by_errno) == 0) {
            Some(job) => {
                let reason = format!("job `{}` failed: {}", job.name, job.error_message);
                Gate::judged(gate.name, false, reason)
            }
            None => gate,
        }
    }

    /// Judges whether rate and response time are steady. If the rate asked for is not carried, the
    /// service time is judged instead: the check of the rate reports the growing wait.
    fn steady(&self, rules: &Rules, window: &Window, is_carried: bool) -> Gate {
        let length_s = window.samples.len() as f64 * self.series.sample_s;
        if self.follows_rate() {
            let reason = "the rate that was asked for changed: there is no one level to be steady";
            return Gate::unknown(GateName::Steady, reason).with(&[(RATE_CHANGES, 1.0)]);
        }
        if rules.window_s.is_none() && length_s < STEADY_S_MIN {
            let mut reason = format!(
                "{length_s:.0} s are too short to judge whether it was steady: {STEADY_S_MIN} s do"
            );
            if let Some(text) = self.saved_text() {
                reason = format!("{reason}; {text}");
            }
            return Gate::unknown(GateName::Steady, reason);
        }
        let series = &self.series;
        let p99_ns = if is_carried { &series.waited_p99_ns } else { &series.service_p99_ns };
        let p99_ns: Vec<&[f64]> =
            p99_ns.iter().filter_map(|values| values.get(window.samples.clone())).collect();
        let gate = steadiness(&SteadyInputs {
            iops: series.iops.get(window.samples.clone()).unwrap_or_default(),
            p99_ns: &p99_ns,
            is_response: is_carried && series.is_response,
            sample_s: series.sample_s,
            rule: rules.steady,
        });
        let is_found = rules.warm_up_s.is_none() && rules.window_s.is_none();
        if is_found { self.with_warm_up(gate, rules, window) } else { gate }
    }

    /// Reports a cap without credits that carried more than its rate: in a short run, the
    /// operations that it lets pass after an idle moment count.
    fn saved_text(&self) -> Option<String> {
        let caps = self.jobs.iter().filter_map(|job| job.caps.as_ref()).flat_map(|it| &it.caps);
        let paced = caps.filter(|cap| cap.credit == 0 && cap.burst_per_s <= cap.per_s);
        let above = paced.max_by(|a, b| a.used_share.total_cmp(&b.used_share))?;
        (above.used_share > 1.0 + LEVEL_SHARE_MIN).then(|| {
            format!(
                "{} carried {} of its rate: in so short a run the operations that a cap lets \
                pass after an idle moment (bucket_window_ms) count",
                above.name,
                units::format_percent_whole(above.used_share)
            )
        })
    }

    /// Checks what was left out as warm-up. A level that lasted and then fell or rose is no
    /// warm-up; after a warm-up at another level, the figures of the run are a mean of both levels.
    fn with_warm_up(&self, gate: Gate, rules: &Rules, window: &Window) -> Gate {
        let n_cut = window.samples.start;
        let iops = &self.series.iops;
        let means = series::mean(iops).zip(series::mean(iops.get(n_cut..).unwrap_or_default()));
        let Some((mean, later)) = means.filter(|_| n_cut > 0) else { return gate };
        let rule = ChangeRule { size_pct_min: rules.steady.slope_pct, ..ChangeRule::default() };
        let mixes = (mean / later - 1.0).abs() >= LEVEL_SHARE_MIN;
        let is_kept = |it: &Change| it.after < it.before || it.at_idx >= KEPT_LEN && mixes;
        let mut jumps = changes(iops, &rule).into_iter().filter(is_kept);
        if let Some(jump) = jumps.find(|jump| jump.at_idx <= n_cut + BATCH_LEN) {
            let at_s = jump.at_idx as f64 * self.series.sample_s;
            let direction = if jump.after < jump.before { "fell" } else { "rose" };
            let (before, after) = (jump.before, jump.after);
            let text = format!("IOPS {direction} from {before:.0} to {after:.0} at {at_s:.0} s");
            let is_broken = gate.verdict == GateVerdict::Failed;
            let reason = if is_broken { format!("{text}; {}", gate.reason) } else { text };
            // A later change of the level may have its time there already: the first one decides.
            let mut figures = gate.figures;
            figures.retain(|it| it.name != "change_at_s");
            return Gate { verdict: GateVerdict::Failed, reason, figures, ..gate }
                .with(&[("change_at_s", at_s)]);
        }
        if gate.verdict != GateVerdict::Passed || !mixes {
            return gate;
        }
        let reason = format!(
            "{} after a warm-up of {:.0} s, which the figures include; the level after it is \
             {later:.0} IOPS",
            gate.reason,
            n_cut as f64 * self.series.sample_s
        );
        Gate { reason, ..gate }.with(&[("n_remarks", 1.0)])
    }

    /// Returns whether time was that of emulated volumes.
    fn is_virtual(&self) -> bool {
        self.record.emulation.as_ref().is_some_and(|emulation| emulation.time == "virtual")
    }

    /// Returns whether no operation was completed in the measured time: then there is nothing that
    /// a cache could have answered, whatever the ramp touched.
    fn has_no_io(&self) -> bool {
        self.jobs.iter().all(|job| job.n_ios() == 0)
    }

    /// Returns whether nothing but the load generator was at work.
    fn is_null(&self) -> bool {
        self.jobs.iter().all(|job| job.engine_traits().is_idle)
    }

    /// Returns the samples of the step, ramp included.
    fn all_samples(&self, of: fn(&record::IntervalDir) -> u64) -> (Vec<f64>, f64) {
        let of_step = |interval: &&Interval| interval.step_idx == self.idx;
        let mut intervals: Vec<&Interval> = self.record.intervals.iter().filter(of_step).collect();
        if is_last_cut_off(&intervals) {
            intervals.pop();
        }
        let even = evened(&intervals);
        let sum_per_s = |interval: &Interval| {
            per_s(interval, interval.dirs.iter().map(|(_, dir)| of(dir)).sum())
        };
        (even.iter().map(sum_per_s).collect(), sample_s(&even))
    }
}

/// Where more is offered than is carried, the target can do the same all the time while what waits
/// for it grows without end: such a run is not steady, and its response times have no level.
fn beside_backlog(steady: Gate) -> Gate {
    if steady.verdict != GateVerdict::Passed {
        return steady;
    }
    let reason = "more was offered than carried: response times grow as long as this lasts";
    Gate { verdict: GateVerdict::Unknown, reason: reason.to_owned(), ..steady }
}

/// Returns how long a job was measured, per worker, nanoseconds.
fn time_ns(job: &JobRecord) -> f64 {
    job.runtime_ns as f64 / f64::from(job.n_workers.max(1))
}

fn to_record(gate: Gate) -> GateRecord {
    GateRecord {
        name: gate.name.as_str().to_owned(),
        verdict: match gate.verdict {
            GateVerdict::Passed => Verdict::Passed,
            GateVerdict::Failed => Verdict::Failed,
            GateVerdict::Unknown => Verdict::NotAssessed,
        },
        next_step: advice::next_step(&gate).map(str::to_owned),
        reason: gate.reason,
        figures: gate.figures.iter().map(|it| (it.name.to_owned(), it.value)).collect(),
    }
}
