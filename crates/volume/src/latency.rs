//! Latency without load: constant, or drawn from a log-normal distribution.

use units::mix64;

use crate::design::Latency;

/// Equal parts of the distribution; a sample falls into one and is interpolated within it.
const N_PARTS: usize = 4096;

/// Draws latencies of one medium.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    mean_ns: u64,
    /// Latency at each border between parts, nanoseconds; empty for a constant.
    borders: Box<[u32]>,
    random: u64,
}

impl Sampler {
    pub(crate) fn new(latency: Latency, seed: u64) -> Sampler {
        let borders = if latency.spread > 0.0 && latency.mean_ns > 0 {
            borders(latency)
        } else {
            Box::default()
        };
        Sampler { mean_ns: latency.mean_ns, borders, random: seed }
    }

    /// Takes another distribution and goes on with the same random numbers.
    pub(crate) fn change(&mut self, latency: Latency) {
        *self = Sampler::new(latency, self.random);
    }

    /// Returns the shortest latency that is ever drawn, nanoseconds.
    pub(crate) fn min_ns(&self) -> u64 {
        self.borders.first().map_or(self.mean_ns, |&border| u64::from(border))
    }

    /// Returns the latency of the next operation, nanoseconds.
    #[inline]
    pub(crate) fn next_ns(&mut self) -> u64 {
        if self.borders.is_empty() {
            return self.mean_ns;
        }
        // SplitMix64: one addition and a mix, and every seed is as good as another.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let bits = mix64(self.random);
        let part = (bits >> 52) as usize % N_PARTS;
        let within = bits & 0xFFFF_FFFF;
        let (low, high) = (u64::from(self.borders[part]), u64::from(self.borders[part + 1]));
        low + (((high - low) * within) >> 32)
    }
}

/// Returns the distribution's value at the borders of its parts, scaled so that the mean of what is
/// drawn is the mean asked for: a table has an end where the distribution has none.
fn borders(latency: Latency) -> Box<[u32]> {
    // A log-normal variable with standard deviation over mean s has sigma^2 = ln(1 + s^2).
    let sigma = (latency.spread * latency.spread).ln_1p().sqrt();
    let n = N_PARTS as f64;
    let shape: Vec<f64> = (0..=N_PARTS)
        .map(|idx| (idx as f64 / n).clamp(0.25 / n, 1.0 - 0.25 / n))
        .map(|share| (sigma * hist::normal_quantile(share).unwrap_or(0.0)).exp())
        .collect();
    let sum: f64 = shape.windows(2).map(|ends| f64::midpoint(ends[0], ends[1])).sum();
    let scale = latency.mean_ns as f64 * n / sum;
    shape.iter().map(|value| (value * scale).round().min(f64::from(u32::MAX)) as u32).collect()
}
