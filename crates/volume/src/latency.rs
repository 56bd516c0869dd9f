//! Latency without load: constant, or drawn from a log-normal distribution.

use units::mix64;

use crate::design::Latency;

/// Equal parts of the distribution; a sample falls into one and is interpolated within it.
const N_PARTS: usize = 4096;

/// Draws latencies of one medium.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    mean_ns: u64,
    /// Latency at each border between parts, in units of 2^`shift` ns; empty for a constant.
    borders: Box<[u32]>,
    /// 0 where no latency is above 4.29 s: then the unit is a nanosecond.
    shift: u32,
    random: u64,
}

impl Sampler {
    pub(crate) fn new(latency: Latency, seed: u64) -> Sampler {
        let (borders, shift) = if latency.spread > 0.0 && latency.mean_ns > 0 {
            borders(latency)
        } else {
            Default::default()
        };
        Sampler { mean_ns: latency.mean_ns, borders, shift, random: seed }
    }

    /// Takes another distribution and goes on with the same random numbers.
    pub(crate) fn change(&mut self, latency: Latency) {
        *self = Sampler::new(latency, self.random);
    }

    /// Returns the shortest latency that is ever drawn, nanoseconds.
    pub(crate) fn min_ns(&self) -> u64 {
        self.borders.first().map_or(self.mean_ns, |&border| u64::from(border) << self.shift)
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
        (low + (((high - low) * within) >> 32)) << self.shift
    }
}

/// Returns the distribution's value at the borders of its parts, scaled so that the mean of what is
/// drawn is the mean asked for: a table has an end where the distribution has none. And the unit
/// of these values, as a power of two, nanoseconds: the smallest with which 32 bits hold them.
fn borders(latency: Latency) -> (Box<[u32]>, u32) {
    // A log-normal variable with standard deviation over mean s has sigma^2 = ln(1 + s^2).
    let sigma = (latency.spread * latency.spread).ln_1p().sqrt();
    let n = N_PARTS as f64;
    let shape: Vec<f64> = (0..=N_PARTS)
        .map(|idx| (idx as f64 / n).clamp(0.25 / n, 1.0 - 0.25 / n))
        .map(|share| (sigma * hist::normal_quantile(share).unwrap_or(0.0)).exp())
        .collect();
    let sum: f64 = shape.windows(2).map(|ends| f64::midpoint(ends[0], ends[1])).sum();
    let scale = latency.mean_ns as f64 * n / sum;
    let longest_ns = (shape[N_PARTS] * scale) as u64;
    let shift = u64::BITS - (longest_ns >> u32::BITS).leading_zeros();
    let per_unit = scale / (1_u64 << shift) as f64;
    let borders = shape.iter().map(|value| (value * per_unit).round() as u32).collect();
    (borders, shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_the_one_asked_for_however_long() {
        for (mean_ns, spread) in
            [(1_000, 0.3), (1_000_000, 10.0), (900_000_000, 2.0), (10_000_000_000, 10.0)]
        {
            let mut sampler = Sampler::new(Latency { mean_ns, spread }, 7);
            let n_draws = 1 << 20;
            let sum_ns: u128 = (0..n_draws).map(|_| u128::from(sampler.next_ns())).sum();
            let mean_over_asked = sum_ns as f64 / f64::from(n_draws) / mean_ns as f64;
            assert!((mean_over_asked - 1.0).abs() < 0.03, "{mean_over_asked} times {mean_ns} ns");
        }
    }
}
