//! Two runs, by their own seconds: what can be said where neither was repeated.

use crate::stats::{BatchMeans, Interval, N_BATCHES_MIN, normal_quantile, t_quantile};

use super::{CompareOptions, Comparison, NO_RATIO, NO_RUN, POWER, Verdict, reason, verdict};

/// Compares two runs by the series of one figure per second of each.
///
/// The ratio of the means, with the interval of Welch's t on batch means, so that seconds which
/// resemble their neighbours count for what they are worth ([`BatchMeans`]). It tells whether these
/// two runs differ; what another run would give it cannot know, and
/// [`Comparison::n_runs_needed`] stays empty.
pub fn compare_series(baseline: &[f64], candidate: &[f64], options: &CompareOptions) -> Comparison {
    let mut result = Comparison::untold(1, 1);
    result.baseline_median = crate::series::mean(baseline);
    result.candidate_median = crate::series::mean(candidate);
    let (Some(from), Some(to)) = (result.baseline_median, result.candidate_median) else {
        NO_RUN.clone_into(&mut result.reason);
        return result;
    };
    if !(from > 0.0 && to > 0.0) {
        NO_RATIO.clone_into(&mut result.reason);
        return result;
    }
    result.ratio = Some(to / from);
    let error = Error::of(baseline, options).zip(Error::of(candidate, options));
    let Some((a, b)) = error else {
        result.reason = format!(
            "too few seconds that are independent of their neighbours (at least {N_BATCHES_MIN} \
             of each are needed): measure for longer, or repeat the runs"
        );
        return result;
    };
    let variance = a.share * a.share + b.share * b.share;
    let df = variance * variance
        / (a.share.powi(4) / (a.n - 1.0) + b.share.powi(4) / (b.n - 1.0)).max(f64::MIN_POSITIVE);
    let df = df.clamp(1.0, a.n + b.n);
    let Some(t) = t_quantile(f64::midpoint(1.0, options.coverage), df) else { return result };
    let half = t * variance.sqrt();
    let shift = (to / from).ln();
    let interval = Interval {
        low: (shift - half).exp(),
        high: (shift + half).exp(),
        coverage: options.coverage,
    };
    result.interval = Some(interval);
    result.verdict = verdict(&interval, options);
    result.reason = reason(&result, &interval, options);
    if result.verdict == Verdict::CannotTell {
        result.reason.push_str(&longer(variance, options).unwrap_or_default());
    }
    result
}

/// How well a run's mean is known.
struct Error {
    /// Standard error as a share of the mean.
    share: f64,
    /// Batches.
    n: f64,
}

impl Error {
    fn of(samples: &[f64], options: &CompareOptions) -> Option<Self> {
        let batches = BatchMeans::of(samples, options.coverage)?;
        let n = batches.n_batches as f64;
        let t = t_quantile(f64::midpoint(1.0, options.coverage), n - 1.0)?;
        let error = (batches.interval.high - batches.mean) / t;
        (batches.mean > 0.0).then(|| Error { share: error / batches.mean, n })
    }
}

/// Says how much longer both runs would have to be for a difference that matters.
fn longer(variance: f64, options: &CompareOptions) -> Option<String> {
    let z = normal_quantile(f64::midpoint(1.0, options.coverage))? + normal_quantile(POWER)?;
    let factor = (z * z * variance / options.effect_min.ln_1p().powi(2)).ceil();
    let is_useful = factor.is_finite() && (2.0..1e4).contains(&factor);
    is_useful.then(|| format!("; runs {factor} times as long would tell"))
}
