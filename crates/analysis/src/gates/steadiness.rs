//! Had the run settled, and did it keep its level?

use crate::change::{Change, ChangeRule, changes};
use crate::gate::{Gate, GateName};
use crate::series;
use crate::steady::{SteadyRule, WindowTest};

/// What steadiness is judged by.
#[derive(Clone, Copy, Debug)]
pub struct SteadyInputs<'a> {
    /// Operations per second, sample by sample, after the warm-up.
    pub iops: &'a [f64],
    /// The 99th percentile of latency of the same samples, one series per direction that had
    /// operations in all of them; nanoseconds.
    pub p99_ns: &'a [&'a [f64]],
    /// Whether `p99_ns` is of response times, from the intended start.
    pub is_response: bool,
    /// Length of a sample, seconds.
    pub sample_s: f64,
    /// Number of rounds and limits. The samples are cut into that many rounds of equal length.
    pub rule: SteadyRule,
}

/// Smallest stretch that counts as a level of its own, as a part of the run: a hiccup is noise, and
/// shows in the latencies.
const N_LEVELS_MAX: usize = 20;

/// Judges whether rates and latencies are steady over the whole of a run, by SNIA's two tests over
/// rounds and by jumps of the rate larger than the rule's slope limit.
///
/// The tests alone would miss a limit that changes in the middle by less than their range.
///
/// # Panics
/// If the rule is none.
pub fn steadiness(inputs: &SteadyInputs<'_>) -> Gate {
    let name = GateName::Steady;
    inputs.rule.must_be_one();
    let n_rounds = inputs.rule.n_rounds;
    let Some(iops) = series::rounds(inputs.iops, n_rounds) else {
        let n = inputs.iops.len();
        return Gate::unknown(name, format!("{n} samples do not make {n_rounds} rounds"));
    };
    let p99_name = if inputs.is_response { "response p99" } else { "p99" };
    let mut figures = Vec::new();
    let mut broken = Vec::new();
    judge("IOPS", &iops, &inputs.rule, &mut broken);
    figures.extend(test_figures(&iops, &inputs.rule, ["iops_range_pct", "iops_slope_pct"]));
    let mut widest: Vec<(&'static str, f64)> = Vec::new();
    for p99_ns in inputs.p99_ns {
        let Some(p99_ns) = series::rounds(p99_ns, n_rounds) else {
            return Gate::unknown(name, "the 99th percentile has gaps").with(&figures);
        };
        judge(p99_name, &p99_ns, &inputs.rule, &mut broken);
        let found = test_figures(&p99_ns, &inputs.rule, ["p99_range_pct", "p99_slope_pct"]);
        widest = widest_of(widest, found);
    }
    figures.extend(widest);
    if let Some(change) = largest_change(inputs) {
        let at_s = change.at_idx as f64 * inputs.sample_s;
        broken.push(format!(
            "IOPS went from {:.0} to {:.0} at {at_s:.0} s",
            change.before, change.after
        ));
        figures.push(("change_at_s", at_s));
    }
    let reason = if broken.is_empty() {
        let rule = inputs.rule;
        format!(
            "{n_rounds} rounds within {} %, and level within {} %",
            rule.range_pct, rule.slope_pct
        )
    } else {
        broken.join("; ")
    };
    Gate::judged(name, broken.is_empty(), reason).with(&figures)
}

fn judge(what: &str, rounds: &[f64], rule: &SteadyRule, broken: &mut Vec<String>) {
    let Some(test) = WindowTest::of(rounds, rule).filter(|test| test.mean > 0.0) else {
        broken.push(format!("{what} stood still"));
        return;
    };
    if !test.is_range_kept() {
        let range = units::format_percent(test.range / test.mean);
        broken.push(format!("{what} varied by {range} (limit {} %)", rule.range_pct));
    }
    if !test.is_slope_kept() {
        let direction = if test.slope > 0.0 { "rose" } else { "fell" };
        let slope = units::format_percent(test.excursion / test.mean);
        broken.push(format!(
            "{what} {direction} by {slope} of the mean (limit {} %)",
            rule.slope_pct
        ));
    }
}

/// Returns of each figure the larger one: of several directions the least steady is shown.
fn widest_of(
    known: Vec<(&'static str, f64)>,
    found: Vec<(&'static str, f64)>,
) -> Vec<(&'static str, f64)> {
    if known.is_empty() {
        return found;
    }
    let larger = |((name, one), other): ((&'static str, f64), Option<f64>)| {
        (name, other.map_or(one, |other| one.max(other)))
    };
    let of = |name| found.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    known.into_iter().map(|it| larger((it, of(it.0)))).collect()
}

fn test_figures(
    rounds: &[f64],
    rule: &SteadyRule,
    names: [&'static str; 2],
) -> Vec<(&'static str, f64)> {
    let Some(test) = WindowTest::of(rounds, rule) else { return Vec::new() };
    let pct = |part: f64| 100.0 * part / test.mean;
    vec![(names[0], pct(test.range)), (names[1], pct(test.excursion))]
}

fn largest_change(inputs: &SteadyInputs<'_>) -> Option<Change> {
    let rule = ChangeRule {
        segment_len_min: (inputs.iops.len() / N_LEVELS_MAX)
            .max(ChangeRule::default().segment_len_min),
        size_pct_min: inputs.rule.slope_pct,
    };
    let found = changes(inputs.iops, &rule).into_iter();
    found.max_by(|a, b| a.size_pct().total_cmp(&b.size_pct()))
}
