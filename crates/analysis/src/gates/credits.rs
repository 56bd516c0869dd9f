//! Was the level borrowed? Many cloud disks carry more than they are sold for until their burst
//! credits run out.

use record::SUSTAINED_SHARE;
use units::format_seconds;

use crate::change::{Change, ChangeRule, changes};
use crate::gate::{Gate, GateName};
use crate::series;

/// What is known of a target's burst credits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BurstKnowledge {
    /// It has none.
    None,
    /// Its figures.
    Known {
        /// Operations per second that it carries for ever.
        baseline_iops: f64,
        /// Operations beyond the baseline that a full account holds.
        credit_ios: f64,
    },
    /// Nothing, as of a cloud disk of unknown kind.
    Unknown {
        /// Longest time that credits of such targets last, seconds.
        lasts_s_max: f64,
    },
}

/// What an account of credits counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditUnit {
    /// Operations per second.
    Iops,
    /// Binary megabytes per second.
    MibPerS,
}

impl CreditUnit {
    /// Returns the unit as it is printed.
    pub fn words(self) -> &'static str {
        match self {
            CreditUnit::Iops => "IOPS",
            CreditUnit::MibPerS => "MiB/s",
        }
    }

    /// Names of the levels before and after a fall, and of the baseline.
    fn figure_names(self) -> [&'static str; 3] {
        match self {
            CreditUnit::Iops => ["before_iops", "after_iops", "baseline_iops"],
            CreditUnit::MibPerS => ["before_mib_per_s", "after_mib_per_s", "baseline_mib_per_s"],
        }
    }
}

/// What credits are judged by.
#[derive(Clone, Copy, Debug)]
pub struct CreditInputs<'a> {
    /// What is counted.
    pub unit: CreditUnit,
    /// So much per second, sample by sample, from the start: the warm-up spends credits too.
    pub iops: &'a [f64],
    /// Length of a sample, seconds.
    pub sample_s: f64,
    /// What they counted as on average, per second, where that is not once each: a large operation
    /// counts as several.
    pub counted_per_s: Option<f64>,
    /// Whose credits they are, where the samples are of others as well: what its own share of them
    /// counted as is known then.
    pub place: Option<&'a str>,
    /// What is known.
    pub knowledge: BurstKnowledge,
    /// The rate asked for changed, and was carried: a change of the level is its own.
    pub follows_rate: bool,
}

/// Smallest fall that can be the end of credits, percent: bursts are sold by multiples.
const FALL_PCT_MIN: f64 = 15.0;

/// Rate above the baseline that is rounding and noise, as a share.
const ABOVE_MIN: f64 = 0.02;

/// Share of an account that counts as all of it: what is left of a run's first and last moments is
/// in no mean.
const SPENT_MIN: f64 = 0.99;

/// Judges whether a rate can be kept. Unknown, with "credits possible", where the run was too short
/// to tell.
pub fn credits(inputs: &CreditInputs<'_>) -> Gate {
    let name = GateName::Credits;
    if inputs.knowledge == BurstKnowledge::None {
        return Gate::passed(name, "the target has no burst credits");
    }
    let Some(mean_iops) = series::mean(inputs.iops) else {
        return Gate::unknown(name, "no samples to judge burst credits by");
    };
    // The account's own part of what the samples count, and as what it counts there.
    let counted_per_s = inputs.counted_per_s.unwrap_or(mean_iops);
    let scale = if mean_iops > 0.0 { counted_per_s / mean_iops } else { 1.0 };
    let levels = if inputs.follows_rate { Vec::new() } else { changes(inputs.iops, &rule(inputs)) };
    if let Some(fall) = levels.iter().rev().find(|change| is_end(change, scale, inputs)) {
        let at_s = fall.at_idx as f64 * inputs.sample_s;
        let reason = format!(
            "{} fell from {:.0} to {:.0} after {}, as when burst credits run out",
            inputs.unit.words(),
            fall.before,
            fall.after,
            format_seconds(at_s)
        );
        let [before, after, _] = inputs.unit.figure_names();
        let figures = [("fell_at_s", at_s), (before, fall.before), (after, fall.after)];
        let gate = Gate::failed(name, reason).with(&figures);
        return match inputs.knowledge {
            BurstKnowledge::Known { baseline_iops, .. } => {
                gate.with(&[sustained(baseline_iops, counted_per_s)])
            }
            BurstKnowledge::None | BurstKnowledge::Unknown { .. } => gate,
        };
    }
    let run_s = inputs.iops.len() as f64 * inputs.sample_s;
    match inputs.knowledge {
        BurstKnowledge::Known { baseline_iops, credit_ios } => {
            let account = CreditAccount { baseline_iops, credit_ios, scale, run_s };
            account.judge(inputs, mean_iops, levels.last())
        }
        BurstKnowledge::Unknown { lasts_s_max } if run_s < lasts_s_max => {
            let reason = format!(
                "credits possible: {} are too short to see burst credits end; run for {}, or name \
                 the disk",
                format_seconds(run_s),
                format_seconds(lasts_s_max)
            );
            Gate::unknown(name, reason).with(&[("lasts_s_max", lasts_s_max), ("run_s", run_s)])
        }
        BurstKnowledge::None | BurstKnowledge::Unknown { .. } => {
            let what = if inputs.follows_rate {
                "the rate that was asked for was carried for"
            } else {
                "the rate did not fall in"
            };
            Gate::passed(name, format!("{what} {}", format_seconds(run_s)))
        }
    }
}

/// An account of credits whose figures are known, and what drew on it.
struct CreditAccount {
    baseline_iops: f64,
    credit_ios: f64,
    /// What drew on it, over what the samples count.
    scale: f64,
    /// Length of the run, seconds.
    run_s: f64,
}

impl CreditAccount {
    /// Judges by what was drawn on average, and by the level at the end, where there were several.
    fn judge(&self, inputs: &CreditInputs<'_>, mean_iops: f64, last: Option<&Change>) -> Gate {
        let CreditAccount { baseline_iops, credit_ios, scale, run_s } = *self;
        let (name, unit) = (GateName::Credits, inputs.unit.words());
        let counted_per_s = mean_iops * scale;
        let is_as_many = (scale - 1.0).abs() <= ABOVE_MIN;
        let rate_of = |iops: f64| match inputs.place {
            Some(place) => format!("{:.0} {unit} on {place}", iops * scale),
            None if is_as_many => format!("{iops:.0} {unit}"),
            None => format!("{iops:.0} {unit}, which count as {:.0},", iops * scale),
        };
        let rate = rate_of(mean_iops);
        let above_iops = counted_per_s - baseline_iops;
        if above_iops <= baseline_iops * ABOVE_MIN {
            let reason = format!("{rate} are within the baseline");
            return Gate::passed(name, reason)
                .with(&[(inputs.unit.figure_names()[2], baseline_iops)]);
        }
        let sustained = sustained(baseline_iops, counted_per_s);
        let left_ios = credit_ios - above_iops * run_s;
        if left_ios <= credit_ios * (1.0 - SPENT_MIN) {
            let reason = format!(
                "{rate} were {above_iops:.0} above the baseline of {baseline_iops:.0} on \
                 average, which spent full credits in these {}",
                format_seconds(run_s)
            );
            let figures = [(inputs.unit.figure_names()[2], baseline_iops), sustained];
            return Gate::failed(name, reason).with(&figures);
        }
        // A level that was reached on the way is the one that goes on.
        let last_iops = last.map(|change| change.after);
        let is_above = |iops: &f64| iops * scale > baseline_iops * (1.0 + ABOVE_MIN);
        let (lasts_s, until) = if let Some(iops) = last_iops.filter(is_above) {
            let lasts_s = run_s + left_ios / (iops * scale - baseline_iops);
            let rate = rate_of(iops);
            let text = format!(
                "{rate} at the end are above the baseline of {baseline_iops:.0}, and full credits \
                 last {} with what came before",
                format_seconds(lasts_s)
            );
            (lasts_s, text)
        } else {
            let lasts_s = credit_ios / above_iops;
            let text = format!(
                "{rate} are above the baseline of {baseline_iops:.0}, and full credits last {} at \
                 this load",
                format_seconds(lasts_s)
            );
            (lasts_s, text)
        };
        let reason = format!("credits possible: {until}; the run took {}", format_seconds(run_s));
        Gate::unknown(name, reason).with(&[("lasts_s", lasts_s), ("run_s", run_s), sustained])
    }
}

/// Returns whether a part of a load is carried without credits, where so much of the load is
/// ([`record::GateRecord::sustained_share`]): as of a whole load, what is less than rounding and
/// noise above the baseline counts as within it.
pub fn is_sustained(part: f64, sustained_share: f64) -> bool {
    part <= sustained_share * (1.0 + ABOVE_MIN)
}

/// Returns the figure of how much of a load is carried without credits, as a share.
fn sustained(baseline_iops: f64, counted_per_s: f64) -> (&'static str, f64) {
    (SUSTAINED_SHARE, (baseline_iops / counted_per_s).min(1.0))
}

/// Shortest level, as a part of the run: the second that a fall comes in is of both levels, and
/// must not be taken for one between them.
const LEVEL_PART_MIN: usize = 100;

/// Returns what counts as a change of the level. Where the baseline is known even a small one is: a
/// rate little above it uses credits as well.
fn rule(inputs: &CreditInputs<'_>) -> ChangeRule {
    let is_known = matches!(inputs.knowledge, BurstKnowledge::Known { .. });
    let segment_len_min = inputs.iops.len() / LEVEL_PART_MIN;
    ChangeRule {
        segment_len_min: segment_len_min.max(ChangeRule::default().segment_len_min),
        size_pct_min: if is_known { 100.0 * ABOVE_MIN } else { FALL_PCT_MIN },
    }
}

/// Returns whether a change can be the end of credits: a fall, and where the baseline is known one
/// from above it to no more than it. What the samples count is the account's own by `scale`.
fn is_end(change: &Change, scale: f64, inputs: &CreditInputs<'_>) -> bool {
    if change.after >= change.before {
        return false;
    }
    let BurstKnowledge::Known { baseline_iops, .. } = inputs.knowledge else {
        return change.size_pct() >= FALL_PCT_MIN;
    };
    let above = |iops: f64| (iops * scale - baseline_iops) / baseline_iops;
    let is_onto = above(change.before) > ABOVE_MIN && above(change.after) <= ABOVE_MIN;
    // A small one is if it ends there; of several volumes' samples that is not known.
    let ends_there = inputs.place.is_none() && above(change.after).abs() <= ABOVE_MIN;
    is_onto && (change.size_pct() >= FALL_PCT_MIN || ends_there)
}
