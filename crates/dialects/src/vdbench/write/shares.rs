//! What part of a run each of its workloads does.

use plan::load::RatePeriods;
use plan::{Job, Step};

use super::places::rate_of;
use super::run_words::RunWords;
use super::words::rate_words;

/// Returns the progress of a job beside the others that it is kept in step with.
pub(super) fn flow_weight(job: &Job) -> Option<f64> {
    job.load.flow.map(|flow| f64::from(flow.weight) * f64::from(job.n_workers))
}

/// Returns the share of each workload in percent, and whether it is to be said.
pub(super) fn skews(words: &RunWords<'_>) -> (Vec<f64>, bool) {
    let total: f64 = words.shares.iter().sum();
    let pcts: Vec<f64> =
        words.shares.iter().map(|share| (1e4 * share / total).round() / 100.0).collect();
    let is_equal = pcts.windows(2).all(|pair| (pair[0] - pair[1]).abs() <= 0.011);
    if pcts.len() < 2 || (is_equal && !words.is_shared) {
        return (vec![100.0 / pcts.len() as f64; pcts.len()], false);
    }
    // All add up to 100, and no rounding goes to one of them alone.
    let (mut sum, mut sum_pct) = (0.0, 0.0);
    let skew = |share: &f64| {
        sum += share;
        let before_pct = std::mem::replace(&mut sum_pct, (1e4 * sum / total).round() / 100.0);
        sum_pct - before_pct
    };
    (words.shares.iter().map(skew).collect(), true)
}

/// Returns the rate of each workload that has one, behind a comma. With rates go priorities: all
/// differ, and those without a rate come last.
pub(super) fn own_rates(rates_iops: &[f64]) -> Vec<String> {
    let n_rates = rates_iops.iter().filter(|rate| **rate > 0.0).count();
    let (mut n_rated, mut n_ranked) = (0, n_rates);
    let words = |rate: &f64| {
        if *rate > 0.0 {
            n_rated += 1;
            format!(",iorate={},priority={n_rated}", rate_words(*rate))
        } else {
            n_ranked += 1;
            format!(",priority={n_ranked}")
        }
    };
    rates_iops.iter().map(words).collect()
}

/// Returns the rate of a job over all directions and workers; `None` without one.
pub(super) fn rate_iops(job: &Job) -> Option<f64> {
    if let Some(total) = job.load.rate_total_iops {
        return Some(total);
    }
    let rates = job.issued_directions().map(|dir| rate_of(job, dir));
    let sum: Option<f64> = rates.sum();
    Some(sum? * f64::from(job.n_workers))
}

/// Returns how the rate of a step changes, if it does.
pub(super) fn rate_periods(step: &Step) -> Option<&RatePeriods> {
    step.jobs.first()?.load.rate_periods.as_ref()
}

/// Returns how many times the written data of a job compresses, if it says so.
pub(super) fn compress_ratio(job: &Job) -> Option<f64> {
    let pct = job.buffers.compress_pct.filter(|pct| *pct > 0).map(f64::from);
    let ratio = job.buffers.compress_ratio.or(pct.map(|pct| 100.0 / (100.0 - pct).max(4.0)));
    // 1 is none, and two decimals are said.
    ratio.filter(|ratio| *ratio >= 1.005)
}

/// Returns whether two rates or shares are as near as two decimals can say.
pub(super) fn is_near(was: f64, is: f64) -> bool {
    (was - is).abs() <= (was.abs() * 2e-3).max(0.011)
}
