//! What the checks of a step find in its figures.

use analysis::gates::{is_sustained, of_step};
use analysis::steady::SteadyRule;
use analysis::{GateName, GateVerdict, Point};
use hist::Histogram;
use record::{Record, Verdict};

/// A check that a row's verdict looks at.
pub(super) struct Check {
    pub(super) name: String,
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    /// The level is known not to last: it is one of burst credits, or of a cache that fills.
    pub(super) is_borrowed: bool,
    /// Share of the load that is carried without credits, where that is known.
    sustained_share: Option<f64>,
}

/// Returns whether a check found that the host, its clocks, others or the page cache made the
/// figures, and not the disk. Of a suite's part the page cache may be meant.
pub(super) fn spoils(check: &Check, is_of_need: bool) -> bool {
    let hides =
        |name: GateName| name.hides_storage() && (is_of_need || name != GateName::PageCache);
    check.verdict == Verdict::Failed && GateName::named(&check.name).is_some_and(hides)
}

/// Returns whether a check that spoils found no more than that the host or others were slow: a disk
/// is no better for that.
pub(super) fn only_slows(check: &Check) -> bool {
    GateName::only_slows_by_name(&check.name)
}

/// Returns why the level of a step is known not to last, if it is: credits that ran out on the way
/// carried a part of it, too. Where only a share of the load is asked for, credits do not matter if
/// that share is carried without them.
pub(super) fn borrowed(checks: &[Check], asked_share: Option<f64>) -> Option<&Check> {
    let has_ended = |check: &&Check| {
        check.verdict == Verdict::Failed && check.name == GateName::Credits.as_str()
    };
    let is_needed = |it: &&Check| {
        let shares = asked_share.zip(it.sustained_share);
        shares.is_none_or(|(asked, sustained)| !is_sustained(asked, sustained))
    };
    let needed = || checks.iter().filter(is_needed);
    needed().find(has_ended).or_else(|| needed().find(|check| check.is_borrowed))
}

/// Returns the checks of a step: those that were made when it ended, else what its record allows.
pub(super) fn checks(record: &Record, step_idx: u32) -> Vec<Check> {
    if let Some(judged) = record.validity.iter().find(|it| it.step_idx == step_idx) {
        let checks = judged.gates.iter().map(|gate| Check {
            name: gate.name.clone(),
            verdict: gate.verdict,
            reason: gate.reason.clone(),
            is_borrowed: gate.is_borrowed(),
            sustained_share: gate.sustained_share(),
        });
        return checks.collect();
    }
    let mut jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx);
    let is_closed = jobs.all(|job| job.dirs.iter().all(|(_, dir)| dir.response.is_none()));
    let gates = of_step(record, step_idx, is_closed, &SteadyRule::default());
    let checks = gates.into_iter().map(|gate| Check {
        name: gate.name.to_string(),
        verdict: match gate.verdict {
            GateVerdict::Passed => Verdict::Passed,
            GateVerdict::Failed => Verdict::Failed,
            GateVerdict::Unknown => Verdict::NotAssessed,
        },
        reason: gate.reason,
        is_borrowed: false,
        sustained_share: None,
    });
    checks.collect()
}

/// Returns the latencies of a step's point, or of what made its writes durable.
pub(super) fn latency(
    record: &Record,
    step_idx: u32,
    point: Option<&Point>,
    is_of_sync: bool,
) -> Option<Histogram> {
    if !is_of_sync {
        return point.map(|it| it.latency.clone());
    }
    let mut all = Histogram::new();
    for job in record.jobs.iter().filter(|job| job.step_idx == step_idx) {
        all.merge(&job.sync);
    }
    (!all.is_empty()).then_some(all)
}

/// Names the cap of an emulated volume that held a step.
pub(super) fn held_by(record: &Record, step_idx: u32) -> Option<String> {
    let mut jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx);
    let caps = jobs.find_map(|job| job.caps.as_ref())?;
    caps.binding_cap().map(|cap| cap.name.clone())
}
