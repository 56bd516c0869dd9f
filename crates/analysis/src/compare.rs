//! Is one set of runs better or worse than another?
//!
//! Each value is the figure of one whole run (IOPS, MiB/s, a percentile): samples within a run say
//! nothing about the next run. The figure of merit is the ratio candidate / baseline: the median of
//! the ratios of all pairs, with its interval from their ranks (Hodges and Lehmann; Mann and
//! Whitney). It assumes no distribution, is exact for few runs, and follows from the values alone.
//! The bootstrap of the ratio of medians was rejected: it needs random numbers, and its intervals
//! of fewer than ten values are too narrow.
//!
//! Runs taken one set after the other share more than the set: the machine warms up, a neighbour
//! comes and goes. Unless the order was mixed, the interval is widened by what neighbouring runs
//! have in common; it cannot tell a change of the host between the sets from one of the candidate.
//! Runs taken in pairs, one of each set, are compared pair by pair (Wilcoxon's signed ranks), so
//! that what drifts from pair to pair drops out. Student's t of the pairs was tried: it finds a
//! little more in six pairs, and less where one run is an outlier.
//! `tests/compare.rs` measures how often each is wrong and how much it finds; docs/compare.md has
//! the table.

mod within;

use crate::series;
use crate::stats::{Interval, must_be_coverage, normal_quantile, pair_interval, paired_interval};
use crate::thin::{N_BEYOND_MIN, ThinPercentile};

pub use within::compare_series;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetterWhen {
    /// Rates.
    Higher,
    /// Latencies, errors, cost.
    Lower,
}

/// In which order the runs were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOrder {
    /// In pairs of one run of each set, such as A B B A: the first of a set belongs to the first
    /// of the other.
    Pairs,
    /// Mixed otherwise: what drifts met both sets.
    Mixed,
    /// First one set, then the other; or unknown.
    Blocks,
}

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// Which way is better.
    pub better: BetterWhen,
    /// In which order the runs were taken.
    pub order: RunOrder,
    /// Probability that the interval holds the true ratio, such as 0.95.
    pub coverage: f64,
    /// Smallest difference that matters, as a share: 0.05 for 5 %. Decides between "no difference
    /// shown" and "cannot tell", never between better and worse.
    pub effect_min: f64,
}

impl CompareOptions {
    /// 95 %, and 5 % matters; order unknown.
    pub fn new(better: BetterWhen) -> Self {
        CompareOptions { better, order: RunOrder::Blocks, coverage: 0.95, effect_min: 0.05 }
    }
}

/// What came of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval excludes 1, on the good side.
    Better,
    /// The interval excludes 1, on the bad side.
    Worse,
    /// The interval includes 1, and excludes every difference that matters.
    NoDifferenceShown,
    /// The interval includes both 1 and differences that matter, or there is none.
    CannotTell,
}

/// A ratio of two sets, and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Runs of the baseline.
    pub n_baseline: usize,
    /// Runs of the candidate.
    pub n_candidate: usize,
    /// Median of the baseline; none where its values are unusable.
    pub baseline_median: Option<f64>,
    /// Median of the candidate.
    pub candidate_median: Option<f64>,
    /// Candidate / baseline, the median over all pairs; none where a value is not above 0.
    pub ratio: Option<f64>,
    /// Interval of the ratio; none with too few runs.
    pub interval: Option<Interval>,
    /// How much the interval was widened for runs that resemble their neighbours; 1 for not.
    pub widening: f64,
    /// What it means.
    pub verdict: Verdict,
    /// Smallest difference, as a share, that would be found nine times of ten with as many runs
    /// that vary as these; none without an interval.
    pub detectable: Option<f64>,
    /// Runs of each set with which a difference of `effect_min` would be found nine times of ten;
    /// none where that is unknown or there are enough.
    pub n_runs_needed: Option<usize>,
    /// One sentence: the verdict's reason, and what would be needed to tell.
    pub reason: String,
}

impl Comparison {
    /// Returns that a percentile cannot be compared, because a run has too few operations for it.
    pub(crate) fn of_thin(n_baseline: usize, n_candidate: usize, thin: ThinPercentile) -> Self {
        let ThinPercentile { n_ios, n_ios_needed } = thin;
        assert!(n_ios < n_ios_needed, "{n_ios} operations are too few, and {n_ios_needed} enough");
        let n_times = n_ios_needed.div_ceil(n_ios.max(1));
        let reason = format!(
            "a run has {n_ios} operations; {n_ios_needed} are needed for {N_BEYOND_MIN} of them \
            to lie beyond this percentile: measure at least {n_times} times as long"
        );
        Comparison { reason, ..Comparison::undecided(n_baseline, n_candidate) }
    }

    /// Returns that not both sides have a figure.
    pub(crate) fn of_unknown(n_baseline: usize, n_candidate: usize) -> Self {
        let is_known = n_baseline > 0 && n_candidate > 0;
        assert!(!is_known, "{n_baseline} and {n_candidate} figures are unknown");
        let side = if n_baseline == 0 { "baseline" } else { "candidate" };
        let reason = format!("the results of the {side} do not contain it");
        Comparison { reason, ..Comparison::undecided(n_baseline, n_candidate) }
    }

    fn undecided(n_baseline: usize, n_candidate: usize) -> Self {
        Comparison {
            n_baseline,
            n_candidate,
            baseline_median: None,
            candidate_median: None,
            ratio: None,
            interval: None,
            widening: 1.0,
            verdict: Verdict::CannotTell,
            detectable: None,
            n_runs_needed: None,
            reason: String::new(),
        }
    }

    /// Returns whether the candidate is shown to be worse, and not shown to be worse by less than
    /// `loss_max`.
    ///
    /// `loss_max` is a share: 0.05 for 5 %. A loss that is not shown never fails, and one that is
    /// known to be smaller than the limit does not either. To ask for an estimate beyond the limit
    /// was rejected: a loss that is exactly at the limit would pass every other time, however well
    /// it is measured.
    pub fn fails(&self, loss_max: f64, better: BetterWhen) -> bool {
        let worst = self.interval.map(|interval| match better {
            BetterWhen::Higher => 1.0 - interval.low,
            BetterWhen::Lower => interval.high - 1.0,
        });
        self.verdict == Verdict::Worse && worst.is_some_and(|loss| loss >= loss_max)
    }
}

/// Fewest runs of each set for an interval of 95 %.
pub const N_RUNS_MIN: usize = 4;

/// Least chance to find a difference with the runs that are said to be needed.
const POWER: f64 = 0.9;

/// Share of its efficiency that a comparison of ranks keeps where means would be best (3 / pi).
const RANK_EFFICIENCY: f64 = 0.955;

/// Highest autocorrelation of runs allowed for; beyond, no number of runs would do.
const AUTOCORRELATION_MAX: f64 = 0.85;

/// What is added to the autocorrelation of runs that were taken one set after the other, since so
/// few cannot tell it well. By simulation: with a true one of 0.5 and ten runs each, 2.3 % of equal
/// sets are called worse; without it were 4.7 %.
const AUTOCORRELATION_MARGIN: f64 = 0.2;

const NO_RUN: &str = "one side has no run";
const NO_RATIO: &str = "a run has a figure of 0, so there is no ratio";
const DRIFT: &str = "; runs resemble their neighbours, so take both sets in mixed order";

impl CompareOptions {
    /// Checks that a comparison can keep to them.
    pub(crate) fn must_be_options(&self) {
        must_be_coverage(self.coverage);
        let effect = self.effect_min;
        assert!(effect >= 0.0 && effect.is_finite(), "a difference of {effect} matters");
    }
}

/// Compares two sets of runs, each in the order in which they were taken.
///
/// # Panics
/// If the coverage is no probability between 0 and 1, or the smallest difference that matters is
/// none.
pub fn compare(baseline: &[f64], candidate: &[f64], options: &CompareOptions) -> Comparison {
    options.must_be_options();
    let mut result = Comparison::undecided(baseline.len(), candidate.len());
    result.baseline_median = series::median(baseline);
    result.candidate_median = series::median(candidate);
    let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value.ln()).collect() };
    let (from, to) = (logs(baseline), logs(candidate));
    let by_pairs = (options.order == RunOrder::Pairs)
        .then(|| paired_interval(&from, &to, options.coverage))
        .flatten();
    let found = match by_pairs {
        Some((shift, interval)) => Some((shift, Some(interval))),
        None => pair_interval(&from, &to, options.coverage),
    };
    let Some((shift, interval)) = found else {
        let is_one_empty = baseline.is_empty() || candidate.is_empty();
        result.reason = String::from(if is_one_empty { NO_RUN } else { NO_RATIO });
        return result;
    };
    result.ratio = Some(shift.exp());
    let Some(interval) = interval else {
        result.n_runs_needed = Some(N_RUNS_MIN.max(least_runs(options.coverage)));
        result.reason = too_few(&result, options);
        return result;
    };
    if options.order == RunOrder::Blocks {
        result.widening = widening(&from, &to);
    }
    let end = |end: f64| (shift + (end - shift) * result.widening).exp();
    let interval =
        Interval { low: end(interval.low), high: end(interval.high), coverage: interval.coverage };
    result.interval = Some(interval);
    result.verdict = verdict(&interval, options);
    result.detectable = detectable(&interval);
    if result.verdict == Verdict::CannotTell {
        result.n_runs_needed = match by_pairs {
            Some(_) => pairs_needed(&from, &to, options),
            None => runs_needed(&from, &to, result.widening, options),
        };
    }
    result.reason = reason(&result, &interval, options);
    result
}

/// Returns the smallest difference that an interval as wide as this one shows with probability
/// [`POWER`], as a share: its half, and as much again as the estimate may be off.
pub(crate) fn detectable(interval: &Interval) -> Option<f64> {
    let half = (interval.high.ln() - interval.low.ln()) / 2.0;
    let z = normal_quantile(f64::midpoint(1.0, interval.coverage))?;
    let found = (half * (1.0 + normal_quantile(POWER)? / z)).exp_m1();
    found.is_finite().then_some(found)
}

/// Compares two figures that each have their own interval, such as two load lines: the ratio lies
/// between the quotients of opposite ends.
///
/// Its coverage is what both leave (`a + b - 1`); below that asked for it cannot tell, however far
/// apart the figures are.
///
/// # Panics
/// As [`compare`] does.
pub fn compare_intervals(
    baseline: (f64, Interval),
    candidate: (f64, Interval),
    options: &CompareOptions,
) -> Comparison {
    options.must_be_options();
    let mut result = Comparison::undecided(1, 1);
    result.baseline_median = Some(baseline.0);
    result.candidate_median = Some(candidate.0);
    let figures = [baseline.0, baseline.1.low, baseline.1.high, candidate.0, candidate.1.low];
    if !figures.iter().all(|figure| *figure > 0.0 && figure.is_finite()) {
        NO_RATIO.clone_into(&mut result.reason);
        return result;
    }
    result.ratio = Some(candidate.0 / baseline.0);
    let interval = Interval {
        low: candidate.1.low / baseline.1.high,
        high: candidate.1.high / baseline.1.low,
        coverage: (baseline.1.coverage + candidate.1.coverage - 1.0).max(0.0),
    };
    result.interval = Some(interval);
    result.detectable = detectable(&interval);
    if interval.coverage < options.coverage {
        result.reason = format!(
            "both intervals together have a probability of only {}, and {} is asked for: \
            measure each \
             end {} times",
            units::format_percent(interval.coverage),
            units::format_percent_exact(options.coverage, 4),
            repeats_needed(options.coverage)
        );
        return result;
    }
    result.verdict = verdict(&interval, options);
    result.reason = reason(&result, &interval, options);
    result
}

/// Returns how often both ends of two brackets have to be measured for them to hold together with a
/// probability: each repeat of an end halves the doubt about it, and there are four.
fn repeats_needed(coverage: f64) -> u32 {
    let doubt = (1.0 - coverage).max(f64::EPSILON) / 4.0;
    1 + doubt.log2().abs().ceil() as u32
}

/// Differences are given to a tenth of a percent: what lies within half of that either way is none,
/// however well it was measured.
const TOLD_MIN: f64 = 0.0005;

fn verdict(interval: &Interval, options: &CompareOptions) -> Verdict {
    let is_up_better = options.better == BetterWhen::Higher;
    if interval.low > 1.0 - TOLD_MIN && interval.high < 1.0 + TOLD_MIN {
        return Verdict::NoDifferenceShown;
    }
    if interval.low > 1.0 {
        return if is_up_better { Verdict::Better } else { Verdict::Worse };
    }
    if interval.high < 1.0 {
        return if is_up_better { Verdict::Worse } else { Verdict::Better };
    }
    let is_small =
        interval.low > 1.0 - options.effect_min && interval.high < 1.0 + options.effect_min;
    if is_small { Verdict::NoDifferenceShown } else { Verdict::CannotTell }
}

/// Returns the factor by which runs that resemble their neighbours widen the interval: the root of
/// `(1 + r) / (1 - r)`, with the lag-1 autocorrelation `r` of both sets around their own means.
fn widening(from: &[f64], to: &[f64]) -> f64 {
    let (mut products, mut squares, mut n) = (0.0, 0.0, 0.0);
    for set in [from, to] {
        let mean = series::mean(set).unwrap_or(0.0);
        let of_set = series::lag_products(set, mean);
        products += of_set.0;
        squares += of_set.1;
        n += set.len() as f64;
    }
    if squares <= 0.0 {
        return 1.0;
    }
    // Of short sets `r` comes out too low, by about (1 + 3 r) / n each (Marriott and Pope, 1954).
    let of_each = n / 2.0;
    let r = products / squares;
    let r = r + (1.0 + 3.0 * r.max(0.0)) / of_each + AUTOCORRELATION_MARGIN;
    let r = r.clamp(0.0, AUTOCORRELATION_MAX);
    ((1.0 + r) / (1.0 - r)).sqrt()
}

/// Returns the runs of each set that find a difference that matters with probability [`POWER`].
fn runs_needed(from: &[f64], to: &[f64], widening: f64, options: &CompareOptions) -> Option<usize> {
    let variance = |set: &[f64]| series::stdev(set).map(|stdev| stdev * stdev);
    let variance = (variance(from)? + variance(to)?) * widening * widening;
    let z = normal_quantile(f64::midpoint(1.0, options.coverage))? + normal_quantile(POWER)?;
    let effect = options.effect_min.ln_1p();
    let n = (z * z * variance / (effect * effect) / RANK_EFFICIENCY).ceil();
    (n.is_finite() && n < 1e6).then(|| (n as usize).max(from.len().min(to.len()) + 1))
}

/// Returns the pairs of runs that find a difference that matters with probability [`POWER`].
fn pairs_needed(from: &[f64], to: &[f64], options: &CompareOptions) -> Option<usize> {
    let differences: Vec<f64> = from.iter().zip(to).map(|(from, to)| to - from).collect();
    let stdev = series::stdev(&differences)?;
    let z = normal_quantile(f64::midpoint(1.0, options.coverage))? + normal_quantile(POWER)?;
    let n = ((z * stdev / options.effect_min.ln_1p()).powi(2) / RANK_EFFICIENCY).ceil();
    (n.is_finite() && n < 1e6).then(|| (n as usize).max(from.len() + 1))
}

/// Returns the fewest runs of each of two equal sets that have an interval.
fn least_runs(coverage: f64) -> usize {
    let has_interval = |n: &usize| {
        let zeros = vec![0.0; *n];
        pair_interval(&zeros, &zeros, coverage).is_some_and(|(_, interval)| interval.is_some())
    };
    (1..100).find(has_interval).unwrap_or(100)
}

fn too_few(result: &Comparison, options: &CompareOptions) -> String {
    let needed = result.n_runs_needed.unwrap_or(N_RUNS_MIN);
    format!(
        "{} and {} runs are too few for an interval of {}: how much runs vary is unknown; take \
         at least {needed} of each",
        result.n_baseline,
        result.n_candidate,
        units::format_percent_exact(options.coverage, 4),
    )
}

fn reason(result: &Comparison, interval: &Interval, options: &CompareOptions) -> String {
    let pct = |ratio: f64| units::format_change(ratio - 1.0);
    let range = format!("between {} and {}", pct(interval.low), pct(interval.high));
    let effect_pct = (options.effect_min * 1e6).round() / 1e4;
    let drift = if result.widening > 1.0 { DRIFT } else { "" };
    match result.verdict {
        Verdict::Better | Verdict::Worse => {
            format!("{} ({range})", pct(result.ratio.unwrap_or(1.0)))
        }
        Verdict::NoDifferenceShown => {
            format!("the difference lies {range}, which is less than {effect_pct} %")
        }
        Verdict::CannotTell => match result.n_runs_needed {
            Some(n) => format!(
                "the difference lies {range}; to find one of {effect_pct} %, take about {n} runs \
                 of each{drift}"
            ),
            None => format!("the difference lies {range}, which is too wide to decide{drift}"),
        },
    }
}
