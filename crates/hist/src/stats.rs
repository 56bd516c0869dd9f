//! Running mean and deviation of samples that are few, such as one per interval.

/// Count, minimum, maximum, mean and deviation (n - 1) of samples, updated one by one.
///
/// Welford's update: no sum of squares that could cancel. Meant for interval samples of bandwidth
/// and IOPS; latencies have the exact moments of a [`crate::Histogram`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    n_samples: u64,
    min: u64,
    max: u64,
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
}

impl Stats {
    /// Returns statistics without samples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one sample.
    pub fn record(&mut self, sample: u64) {
        self.min = if self.n_samples == 0 { sample } else { self.min.min(sample) };
        self.max = self.max.max(sample);
        self.n_samples += 1;
        let value = sample as f64;
        let from_old_mean = value - self.mean;
        self.mean += from_old_mean / self.n_samples as f64;
        self.squares += from_old_mean * (value - self.mean);
    }

    /// Adds the samples of `other`, as if they had been recorded here (parallel Welford).
    pub fn merge(&mut self, other: &Self) {
        if other.n_samples == 0 {
            return;
        }
        if self.n_samples == 0 {
            *self = *other;
            return;
        }
        let (mine, theirs) = (self.n_samples as f64, other.n_samples as f64);
        let total = mine + theirs;
        let apart = other.mean - self.mean;
        self.mean += apart * (theirs / total);
        self.squares += other.squares + apart * apart * (mine * theirs / total);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.n_samples += other.n_samples;
    }

    /// Adds a member of a group the way fio does for bandwidth and IOPS samples.
    ///
    /// Minimum, maximum, mean, squared deviation and number of samples are each summed, as if all
    /// members had been sampled at the same moments. Wrong as statistics, and what readers
    /// of fio's group output expect.
    pub fn merge_summing(&mut self, other: &Self) {
        self.min = self.min.saturating_add(other.min);
        self.max = self.max.saturating_add(other.max);
        self.mean += other.mean;
        self.squares += other.squares;
        self.n_samples = self.n_samples.saturating_add(other.n_samples);
    }

    /// Returns the number of samples.
    pub fn n_samples(&self) -> u64 {
        self.n_samples
    }

    /// Returns the smallest sample; 0 without samples, as fio prints.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// Returns the largest sample; 0 without samples, as fio prints.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns the mean; 0 without samples, as fio prints.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the sample standard deviation (n - 1); 0 with fewer than two samples, as fio prints.
    pub fn stdev(&self) -> f64 {
        if self.n_samples < 2 {
            return 0.0;
        }
        (self.squares / (self.n_samples - 1) as f64).sqrt()
    }
}
