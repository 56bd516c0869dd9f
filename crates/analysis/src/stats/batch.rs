//! Batch means: the interval of the mean of samples that resemble their neighbours.

use crate::series;

use super::Interval;
use super::interval::{mean_interval, must_be_coverage};

/// Batches whose means resemble their neighbours at most this much count as independent.
pub const AUTOCORRELATION_MAX: f64 = 0.1;

/// With fewer batches there is no interval.
pub const N_BATCHES_MIN: usize = 6;

/// The mean of a series of one run, with an interval that its autocorrelation has been taken out
/// of.
///
/// Neighbouring samples are merged into batches, one sample longer at a time, until the lag-1
/// autocorrelation of the batch means is at most [`AUTOCORRELATION_MAX`]; then the t interval of
/// the batch means holds. It says how well this run's mean is known, and nothing about what
/// another run would give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMeans {
    /// Samples per batch.
    pub batch_len: usize,
    /// Number of batches.
    pub n_batches: usize,
    /// Lag-1 autocorrelation of the batch means.
    pub autocorrelation: f64,
    /// Mean of the batches.
    pub mean: f64,
    /// Its interval.
    pub interval: Interval,
}

impl BatchMeans {
    /// Finds the shortest batches that will do. None if fewer than [`N_BATCHES_MIN`] would be left,
    /// or a sample is not finite.
    ///
    /// # Panics
    /// If the coverage is no probability between 0 and 1.
    pub fn of(samples: &[f64], coverage: f64) -> Option<Self> {
        must_be_coverage(coverage);
        (1..=samples.len() / N_BATCHES_MIN).find_map(|batch_len| {
            let batches = samples.chunks_exact(batch_len);
            let means: Option<Vec<f64>> = batches.map(series::mean).collect();
            let means = means?;
            // Equal means have no autocorrelation, and need none.
            let autocorrelation = series::autocorrelation(&means).unwrap_or(0.0);
            if autocorrelation.abs() > AUTOCORRELATION_MAX {
                return None;
            }
            Some(BatchMeans {
                batch_len,
                n_batches: means.len(),
                autocorrelation,
                mean: series::mean(&means)?,
                interval: mean_interval(&means, coverage)?,
            })
        })
    }
}
