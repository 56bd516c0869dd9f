//! For how long a rate is kept: what burst credits carry ends with them.
//!
//! On emulated volumes each account of credits was counted in the run, and all began full. Of real
//! ones the caps of the design say what is on credits, and the length of the run what they carried.

use analysis::{Gate, GateName, GateVerdict, Limits, credits_by_cap};
use record::{Record, SUSTAINED_SHARE};
use units::format_seconds;
use volume::design::Promised;
use volume::limits::credit::Credits;
use volume::limits::{CapUse, Flow, path};

use super::measured::Measured;
use super::{Part, Subject, gates};

/// Use of a cap above its sustained rate that is rounding and noise, as a share.
const ABOVE_MIN: f64 = 0.02;

/// Part of a promised time from which on it counts as all of it: a run's first and last moments are
/// in no figure.
const TIME_SHARE_MIN: f64 = 0.99;

/// Says whether a rate that was kept is kept for as long as is promised.
pub(super) fn lasting(
    subject: &Subject<'_>,
    promised: &Promised,
    measured: &Measured,
    record: &Record,
) -> Part {
    if record.emulation.is_none() {
        return of_design(subject, promised, measured);
    }
    let own = own_accounts(measured, record);
    let is_needed = |(_, gate): &&(String, Gate)| {
        let sustained = gate.figure(SUSTAINED_SHARE).unwrap_or(0.0) * measured.iops;
        sustained < promised.iops * Limits::ACHIEVED_SHARE_MIN
    };
    let run_s = measured.runtime_ns as f64 / 1e9;
    let lasts_s = |gate: &Gate| {
        let ended_s = gate.figure("fell_at_s").or(gate.figure("lasts_s"));
        ended_s.unwrap_or(run_s)
    };
    let needed = own.iter().filter(is_needed);
    let Some((cap, gate)) = needed.min_by(|a, b| lasts_s(&a.1).total_cmp(&lasts_s(&b.1))) else {
        return Part::Kept;
    };
    let lasts_s = lasts_s(gate);
    let Some(promised_s) = seconds(promised) else {
        return Part::Open(format!(
            "it was kept, but may not last: {}; {}",
            gate.reason,
            say_how_long(lasts_s)
        ));
    };
    if lasts_s >= promised_s * TIME_SHARE_MIN {
        return Part::Kept;
    }
    Part::Broken(format!(
        "full credits of {cap} carry it for {}, and {} are promised",
        format_seconds(lasts_s),
        format_seconds(promised_s)
    ))
}

/// What to do about a promise that says no time, where credits carry it for so many seconds.
fn say_how_long(lasts_s: f64) -> String {
    format!(
        "the promise is for ever: with `lasts`, of {} at most, it would be for that time",
        format_seconds(lasts_s.floor())
    )
}

/// Returns why a rate that was missed says nothing: the credits ended after the promised time.
pub(super) fn ended_later(
    promised: &Promised,
    measured: &Measured,
    record: &Record,
) -> Option<String> {
    let promised_s = seconds(promised)?;
    let fell_at_s = if record.emulation.is_some() {
        let own = own_accounts(measured, record);
        own.iter().filter_map(|(_, gate)| gate.figure("fell_at_s")).reduce(f64::min)
    } else {
        let mut gates = gates(record, measured.step_idx);
        let credits = gates.find(|gate| gate.name == GateName::Credits.as_str());
        credits.and_then(|gate| gate.figure("fell_at_s"))
    };
    let fell_at_s = fell_at_s.filter(|it| *it >= promised_s * TIME_SHARE_MIN)?;
    Some(format!(
        "the credits ended after {}, and {} are promised: run it for {}",
        format_seconds(fell_at_s),
        format_seconds(promised_s),
        format_seconds(promised_s)
    ))
}

fn seconds(promised: &Promised) -> Option<f64> {
    promised.lasts_ns.map(|ns| ns as f64 / 1e9)
}

/// Returns the accounts that a measurement's own jobs drew on, beside their caps' names.
fn own_accounts(measured: &Measured, record: &Record) -> Vec<(String, Gate)> {
    let mut accounts = credits_by_cap(record, measured.step_idx);
    accounts.retain(|(name, gate)| {
        let caps = measured.own(record).filter_map(|job| job.caps.as_ref());
        let mut met = caps.flat_map(|it| &it.caps);
        let is_own = met.any(|cap| cap.name == *name && cap.fullest_share() > 1.0 + ABOVE_MIN);
        is_own && gate.verdict != GateVerdict::Passed
    });
    accounts
}

/// A cap that a design's promise is above the sustained rate of.
struct OnCredits {
    cap: CapUse,
    credits: Credits,
    /// What is asked of it per second, in its own unit.
    used: f64,
}

impl OnCredits {
    /// Returns how long full credits carry what is promised, seconds.
    fn lasts_s(&self) -> f64 {
        self.credits.burst_s(self.used)
    }
}

/// Returns the cap of a design whose credits carry what is promised for the shortest time; none
/// where it is sustained.
fn on_credits(subject: &Subject<'_>, promised: &Promised) -> Option<OnCredits> {
    let mut flows = subject.flows(promised);
    for flow in &mut flows {
        flow.load.with_credits = false;
    }
    let own = flows.first()?;
    let demand = |flow: &Flow| flow.demand.unwrap_or(0.0);
    let caps = |flow: &Flow| path::caps(subject.design, flow.volume, &flow.load);
    let found = caps(own).into_iter().filter_map(|cap| {
        let credits = cap.credits?;
        let of_flow = |flow: &Flow| {
            let met = caps(flow).into_iter().find(|it| it.is_same(&cap));
            met.map_or(0.0, |it| it.per_io * demand(flow))
        };
        let used: f64 = flows.iter().map(of_flow).sum();
        (used > cap.per_s * (1.0 + ABOVE_MIN)).then_some(OnCredits { cap, credits, used })
    });
    found.min_by(|a, b| a.lasts_s().total_cmp(&b.lasts_s()))
}

/// Says of a real volume whether a run was long enough to tell.
fn of_design(subject: &Subject<'_>, promised: &Promised, measured: &Measured) -> Part {
    let Some(found) = on_credits(subject, promised) else { return Part::Kept };
    let run_s = measured.runtime_ns as f64 / 1e9;
    let (cap, run) = (format!("{} of {}", found.cap.bound, found.cap.name), format_seconds(run_s));
    let lasts_s = found.lasts_s();
    let Some(promised_s) = seconds(promised) else {
        return Part::Open(format!(
            "it was kept for {run}, but may not last: by the design full credits of {cap} carry \
             it for {}; {}",
            format_seconds(lasts_s),
            say_how_long(lasts_s)
        ));
    };
    if run_s >= promised_s * TIME_SHARE_MIN {
        return Part::Kept;
    }
    let promised = format_seconds(promised_s);
    Part::Open(format!(
        "it was kept for {run}, and {promised} on burst credits of {cap} are promised: run it for \
         {promised}, after {} without I/O, which fill the credits",
        format_seconds(found.credits.refill_s())
    ))
}

/// Says of a real volume that credits which were not full at the start would explain a rate that is
/// below the promise, if they would.
pub(super) fn not_full(
    subject: &Subject<'_>,
    promised: &Promised,
    measured: &Measured,
    record: &Record,
) -> Option<String> {
    let found = on_credits(subject, promised).filter(|_| record.emulation.is_none())?;
    let sustained = promised.iops * found.credits.base / found.used;
    (measured.iops >= sustained * Limits::ACHIEVED_SHARE_MIN).then(|| {
        format!(
            "credits of {} of {} that were not full at the start would explain it: {} without I/O \
             fill them",
            found.cap.bound,
            found.cap.name,
            format_seconds(found.credits.refill_s())
        )
    })
}
