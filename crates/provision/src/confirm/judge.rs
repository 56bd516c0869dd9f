//! One measurement against one promise.

use analysis::{GateName, Limits};
use record::{CapsRecord, GateRecord, Outcome, Record};
use volume::design::Promised;
use volume::limits::{Bound, Flow, together};

use super::explain;
use super::lasting::{self, lasting};
use super::measured::Measured;
use super::{Part, Subject, Verdict, gates};

/// What came of one measurement.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
}

impl Judged {
    fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Judged { verdict, reason: reason.into() }
    }

    fn cannot_tell(reason: impl Into<String>) -> Self {
        Judged::new(Verdict::CannotTell, reason)
    }
}

/// I/Os below which nothing is said.
const N_IOS_MIN: u64 = 100;

/// By how much an offered rate may be above the promise for its latency to be the promised load's.
const MORE_OFFERED_MAX: f64 = 0.02;

/// By how much the share of reads that are in the cache may be below the promised one.
const HIT_DIFFERENCE_MAX: f64 = 0.05;

/// Judges a measurement.
pub(super) fn judge(
    subject: &Subject<'_>,
    promised: &Promised,
    measured: &Measured,
    record: &Record,
) -> Judged {
    if let Some(why) = failed(measured, record) {
        return Judged::new(Verdict::NotMet, why);
    }
    if let Some(why) = says_nothing(promised, measured, record) {
        return Judged::cannot_tell(why);
    }
    let rate = rate(subject, promised, measured);
    let latency = latency(promised, measured);
    let gates = || gates(record, measured.step_idx);
    let failed_check = |name: GateName| {
        gates().find(|it| it.name == name.as_str() && it.verdict == record::Verdict::Failed)
    };
    // A generator that is late, and others who use the disk, make a volume look worse, never
    // better, where a rate is offered.
    let is_kept = matches!((&rate, &latency), (Part::Kept, Part::Kept));
    let is_carried = is_kept && measured.offered_iops.is_some();
    let spoils = |name: &GateName| name.hides_storage() && !(is_carried && name.only_slows());
    let mut spoiling = GateName::ALL.into_iter().filter(spoils);
    if let Some(gate) = spoiling.find_map(failed_check) {
        return Judged::cannot_tell(gate.reason.clone());
    }
    let is_broken = |part: &Part| matches!(part, Part::Broken(_));
    if (is_broken(&rate) || is_broken(&latency))
        && let Some(why) = unwarmed(subject, promised, measured, record)
    {
        return Judged::cannot_tell(why);
    }
    if is_broken(&rate)
        && let Some(why) = lasting::ended_later(promised, measured, record)
    {
        return Judged::cannot_tell(why);
    }
    match (rate, latency) {
        (Part::Broken(why), Part::Broken(also)) => {
            Judged::new(Verdict::NotMet, format!("{why}; {also}"))
        }
        (Part::Broken(why), _) | (_, Part::Broken(why)) => Judged::new(Verdict::NotMet, why),
        (Part::Open(why), _) | (_, Part::Open(why)) => Judged::cannot_tell(why),
        (Part::Kept, Part::Kept) => kept(subject, promised, measured, record),
    }
}

/// Returns why a promise that counts on the host cache may have been missed by a cache that was not
/// warm, if that explains it: the volume did as much as it carries without hits.
fn unwarmed(
    subject: &Subject<'_>,
    promised: &Promised,
    measured: &Measured,
    record: &Record,
) -> Option<String> {
    let is_warm = record.emulation.as_ref().is_some_and(|it| it.cache == "warm")
        || measured.repeated_share >= promised.hit_share - HIT_DIFFERENCE_MAX;
    if promised.hit_share <= 0.0 || is_warm {
        return None;
    }
    let carried = explain::carried_unwarmed(subject, promised)?;
    (measured.iops >= carried * Limits::ACHIEVED_SHARE_MIN).then(|| {
        format!(
            "the cache was cold, or may have been: the promise counts on it for {} of the reads, \
             and {carried:.0} IOPS are carried without; run the job of `provision --as job`, or \
             with a longer ramp",
            units::format_percent_whole(promised.hit_share)
        )
    })
}

/// Returns which operation failed, if one did: what fails is not carried.
fn failed(measured: &Measured, record: &Record) -> Option<String> {
    let mut jobs = record.jobs.iter().filter(|job| job.step_idx == measured.step_idx);
    let job = jobs.find(|job| job.error_errno != 0 && measured.jobs.contains(&job.name))?;
    Some(format!("an operation failed: {}", job.error_message))
}

/// Returns why a measurement says nothing whatever its figures are.
fn says_nothing(promised: &Promised, measured: &Measured, record: &Record) -> Option<String> {
    let is_last = record.jobs.iter().map(|job| job.step_idx).max() == Some(measured.step_idx);
    if record.outcome == Outcome::Interrupted && is_last {
        return Some("the run was interrupted".to_owned());
    }
    if measured.n_ios < N_IOS_MIN {
        return Some(format!("{} I/Os are too few: measure longer", measured.n_ios));
    }
    let offered = measured.held_to_iops()?;
    (offered < least_offered(promised.iops, measured))
        .then(|| format!("{offered:.0} IOPS were offered, fewer than are promised: offer them all"))
}

/// Returns the operations per second that are offered at least where a rate is: of random arrivals
/// three standard deviations less are chance, and rates in job files are whole numbers.
fn least_offered(iops: f64, measured: &Measured) -> f64 {
    let seconds = (measured.runtime_ns as f64 / 1e9).max(1e-9);
    let n = iops * seconds;
    ((n - 3.0 * n.sqrt()) / seconds).min(iops - 2.0) * (1.0 - 1e-9)
}

/// Holds the rate against what is promised.
fn rate(subject: &Subject<'_>, promised: &Promised, measured: &Measured) -> Part {
    let offered = measured
        .held_to_iops()
        .map_or(promised.iops, |_| least_offered(promised.iops, measured).max(0.0));
    let bound = offered * Limits::ACHIEVED_SHARE_MIN;
    let missed = || {
        let share = units::format_percent(measured.iops / promised.iops);
        format!("{:.0} IOPS, {share} of what is promised", measured.iops)
    };
    let straddles = measured.interval.is_some_and(|it| it.low < bound && bound <= it.high);
    if straddles && measured.offered_iops.is_none() {
        let interval = measured.interval.map_or((0.0, 0.0), |it| (it.low, it.high));
        let (low, high) = interval;
        return Part::Open(format!(
            "the rate is between {low:.0} and {high:.0} IOPS with 95 % probability, and {bound:.0} \
             would be enough: measure longer"
        ));
    }
    if measured.iops >= bound {
        return Part::Kept;
    }
    if measured.offered_iops.is_none()
        && let Some(why) = too_few_in_flight(subject, promised, measured)
    {
        return Part::Open(why);
    }
    Part::Broken(missed())
}

/// Reports that a closed load had too few I/Os in flight for the rate, if it had: by the design's
/// own latencies, or by the one that was promised.
fn too_few_in_flight(
    subject: &Subject<'_>,
    promised: &Promised,
    measured: &Measured,
) -> Option<String> {
    let depth = measured.queue_depth.max(1);
    let mut flow = promised.flow(subject.position(&promised.volume)?);
    (flow.load.queue_depth, flow.demand) = (Some(depth), None);
    let done = together(subject.design, &[flow]).pop()?;
    if done.binds == Bound::QueueDepth && done.iops < promised.iops {
        return Some(format!(
            "{depth} in flight carry {:.0} IOPS at most at the latency of the medium: allow more \
             (iodepth)",
            done.iops
        ));
    }
    let latency_ns = measured.latency_ns?;
    let kept_ns = promised.latency_ns?;
    (latency_ns < kept_ns as f64).then(|| {
        format!(
            "{depth} in flight are too few for the rate, and their mean of {} is still below what \
             is promised: allow more (iodepth)",
            units::format_latency_ns(latency_ns as u64)
        )
    })
}

/// Holds the mean latency against what is promised.
fn latency(promised: &Promised, measured: &Measured) -> Part {
    let Some(most_ns) = promised.latency_ns else { return Part::Kept };
    let Some(ns) = measured.latency_ns else {
        return Part::Open("the run has no latency of these I/Os".to_owned());
    };
    if ns < most_ns as f64 {
        return Part::Kept;
    }
    let (seen, most) = (units::format_latency_ns(ns as u64), units::format_latency_ns(most_ns));
    let said = format!("a mean of {seen}, not below {most}");
    match measured.held_to_iops() {
        Some(offered) if offered > promised.iops * (1.0 + MORE_OFFERED_MAX) + 2.0 => {
            Part::Open(format!(
                "{said}, with {offered:.0} IOPS offered: more than is promised; offer {:.0}",
                promised.iops
            ))
        }
        // In a closed loop the depth sets the latency as soon as a cap holds the rate.
        None if measured.iops >= promised.iops * Limits::ACHIEVED_SHARE_MIN => Part::Open(format!(
            "{said}, with {} in flight and no rate: offer {:.0} IOPS (rate_iops)",
            measured.queue_depth, promised.iops
        )),
        Some(_) | None => Part::Broken(said),
    }
}

/// Says of a measurement that kept rate and latency whether that will last, and whether the others
/// of its phase were there.
fn kept(
    subject: &Subject<'_>,
    promised: &Promised,
    measured: &Measured,
    record: &Record,
) -> Judged {
    let fills = |gate: &&GateRecord| {
        gate.name == GateName::WriteCache.as_str() && gate.is_borrowed() && fills(measured, record)
    };
    if let Some(gate) = gates(record, measured.step_idx).find(fills) {
        return Judged::cannot_tell(format!("it was kept, but may not last: {}", gate.reason));
    }
    match lasting(subject, promised, measured, record) {
        Part::Broken(why) => return Judged::new(Verdict::NotMet, why),
        Part::Open(why) => return Judged::cannot_tell(why),
        Part::Kept => {}
    }
    let absent = absent(subject, promised, measured, record);
    if !absent.is_empty() {
        return Judged::cannot_tell(format!(
            "it was kept alone; its phase also promises {} at the same time, through caps that \
             both share",
            absent.join(" and ")
        ));
    }
    Judged::new(Verdict::Met, "")
}

/// Returns whether a measurement's own jobs filled a write-back cache. That is known of emulated
/// volumes alone.
fn fills(measured: &Measured, record: &Record) -> bool {
    let fills = |caps: &CapsRecord| caps.filling.as_ref().is_some_and(|it| !it.never_fills);
    measured.own(record).any(|job| job.caps.as_ref().is_none_or(fills))
}

/// Returns the volumes of other promises of the same phase that share caps with this one, and were
/// not loaded as promised in the same step.
fn absent(
    subject: &Subject<'_>,
    promised: &Promised,
    measured: &Measured,
    record: &Record,
) -> Vec<String> {
    let beside = super::measured::of(subject, record, measured.record_idx);
    let is_there = |other: &Promised| {
        beside.iter().any(|it| {
            let offered = it.held_to_iops().unwrap_or(it.iops);
            let is_enough = offered >= other.iops * Limits::ACHIEVED_SHARE_MIN;
            it.step_idx == measured.step_idx && it.is_of(other) && is_enough
        })
    };
    let others = subject.design.promises.iter().filter(|other| {
        other.phase == promised.phase && *other != promised && share_caps(subject, promised, other)
    });
    let mut absent: Vec<String> =
        others.filter(|other| !is_there(other)).map(|other| other.volume.clone()).collect();
    absent.dedup();
    absent
}

/// Returns whether two promises go over a common cap.
fn share_caps(subject: &Subject<'_>, one: &Promised, other: &Promised) -> bool {
    let flow = |promised: &Promised| -> Option<Flow> {
        Some(promised.flow(subject.position(&promised.volume)?))
    };
    let (Some(one), Some(other)) = (flow(one), flow(other)) else { return false };
    let done = together(subject.design, &[one, other]);
    let [one, other] = done.as_slice() else { return false };
    one.caps.iter().any(|(cap, _)| other.caps.iter().any(|(it, _)| it.is_same(cap)))
}
