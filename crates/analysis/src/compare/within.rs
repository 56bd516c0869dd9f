//! Two runs, by their own seconds: what can be said where neither was repeated.

use crate::sampled::Sampled;
use crate::series;
use crate::stats::{BatchMeans, Interval, N_BATCHES_MIN, normal_quantile, t_quantile};

use super::{
    CompareOptions, Comparison, NO_RATIO, NO_RUN, POWER, Verdict, detectable, reason, verdict,
};

/// Compares two runs by the series of one figure of each, such as one per second.
///
/// The ratio of the means, with the interval of Welch's t on batch means, so that seconds which
/// resemble their neighbours count for what they are worth ([`BatchMeans`]). Where no length of
/// batches leaves enough of them that look independent, which chance alone often does to a run of
/// half a minute, the seconds count as so many fewer as their autocorrelation says.
///
/// It tells whether these two runs differ; what another run would give it cannot know, and
/// [`Comparison::n_runs_needed`] stays empty.
///
/// # Panics
/// As [`super::compare`] does.
pub fn compare_series(
    baseline: &Sampled,
    candidate: &Sampled,
    options: &CompareOptions,
) -> Comparison {
    options.must_be_options();
    let mut result = Comparison::undecided(1, 1);
    let is_known = |side: &Sampled| side.mean.is_finite() && !side.samples.is_empty();
    if !is_known(baseline) || !is_known(candidate) {
        NO_RUN.clone_into(&mut result.reason);
        return result;
    }
    let (from, to) = (baseline.mean, candidate.mean);
    (result.baseline_median, result.candidate_median) = (Some(from), Some(to));
    if !(from > 0.0 && to > 0.0) {
        NO_RATIO.clone_into(&mut result.reason);
        return result;
    }
    result.ratio = Some(to / from);
    let (a, b) =
        match (Error::of(&baseline.samples, options), Error::of(&candidate.samples, options)) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => {
                let needed = [a, b].into_iter().filter_map(Result::err).max().unwrap_or(0);
                result.reason = format!(
                    "too few seconds that are independent of their neighbours (at least \
                 {N_BATCHES_MIN} of each are needed): measure for {needed} seconds or more, or \
                 repeat the runs"
                );
                return result;
            }
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
    result.detectable = detectable(&interval);
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

/// Standard error of figures that do not vary, as a share: latencies are known to a bucket of
/// their histograms, 1/128.
const RESOLUTION: f64 = 1.0 / 256.0;

/// Seconds of a run whose autocorrelation can be estimated at all.
const N_SECONDS_MIN: usize = 12;

/// Highest autocorrelation that is allowed for.
const AUTOCORRELATION_MAX: f64 = 0.9;

impl Error {
    /// Returns how well the mean is known, or the seconds that it would take.
    fn of(samples: &[f64], options: &CompareOptions) -> Result<Self, usize> {
        if let Some(first) = samples.first().filter(|_| samples.len() >= N_BATCHES_MIN)
            && samples.iter().all(|sample| sample.total_cmp(first).is_eq())
        {
            return Ok(Error { share: RESOLUTION, n: samples.len() as f64 });
        }
        if let Some(error) = Self::of_batches(samples, options) {
            return Ok(error);
        }
        Self::of_seconds(samples)
    }

    fn of_batches(samples: &[f64], options: &CompareOptions) -> Option<Self> {
        let batches = BatchMeans::of(samples, options.coverage)?;
        let n = batches.n_batches as f64;
        let t = t_quantile(f64::midpoint(1.0, options.coverage), n - 1.0)?;
        let error = (batches.interval.high - batches.mean) / t;
        (batches.mean > 0.0).then(|| Error { share: error / batches.mean, n })
    }

    /// Seconds whose lag-1 autocorrelation is `r` are worth `n (1 - r) / (1 + r)` independent ones
    /// (Bartlett, 1946). Of short series `r` comes out too low, by about `(1 + 3 r) / n` (Marriott
    /// and Pope, 1954); one below 0 counts as 0.
    fn of_seconds(samples: &[f64]) -> Result<Self, usize> {
        let n = samples.len() as f64;
        let figures = series::autocorrelation(samples)
            .zip(series::mean(samples).filter(|mean| *mean > 0.0))
            .zip(series::stdev(samples));
        let Some(((r, mean), stdev)) = figures.filter(|_| samples.len() >= N_SECONDS_MIN) else {
            return Err(N_SECONDS_MIN);
        };
        let r = (r + (1.0 + 3.0 * r.max(0.0)) / n).clamp(0.0, AUTOCORRELATION_MAX);
        let worth = (1.0 - r) / (1.0 + r);
        let n_worth = n * worth;
        if n_worth < N_BATCHES_MIN as f64 {
            return Err((N_BATCHES_MIN as f64 / worth).ceil() as usize);
        }
        Ok(Error { share: stdev / n_worth.sqrt() / mean, n: n_worth })
    }
}

/// Returns how much longer both runs would have to be for a difference that matters.
fn longer(variance: f64, options: &CompareOptions) -> Option<String> {
    let z = normal_quantile(f64::midpoint(1.0, options.coverage))? + normal_quantile(POWER)?;
    let factor = (z * z * variance / options.effect_min.ln_1p().powi(2)).ceil();
    let is_useful = factor.is_finite() && (2.0..1e4).contains(&factor);
    is_useful.then(|| format!("; runs {factor} times as long would decide it"))
}
