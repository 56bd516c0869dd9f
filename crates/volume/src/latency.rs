//! Latency without load: constant, or drawn from a log-normal distribution.

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

/// Mixes 64 bits (a bijection): the output function of `SplitMix64`.
#[inline]
pub(crate) fn mix64(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns the distribution's value at the borders of its parts, scaled so that the mean of what is
/// drawn is the mean asked for: a table has an end where the distribution has none.
fn borders(latency: Latency) -> Box<[u32]> {
    // A log-normal variable with standard deviation over mean s has sigma^2 = ln(1 + s^2).
    let sigma = (latency.spread * latency.spread).ln_1p().sqrt();
    let n = N_PARTS as f64;
    let shape: Vec<f64> = (0..=N_PARTS)
        .map(|idx| (idx as f64 / n).clamp(0.25 / n, 1.0 - 0.25 / n))
        .map(|share| (sigma * normal_quantile(share)).exp())
        .collect();
    let sum: f64 = shape.windows(2).map(|ends| f64::midpoint(ends[0], ends[1])).sum();
    let scale = latency.mean_ns as f64 * n / sum;
    shape.iter().map(|value| (value * scale).round().min(f64::from(u32::MAX)) as u32).collect()
}

/// Returns the value that a standard normal variable stays below with probability `p`, 0 < p < 1.
///
/// P. J. Acklam's rational approximation, relative error below 1.2e-9.
fn normal_quantile(p: f64) -> f64 {
    const LOW: f64 = 0.02425;
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p < LOW {
        let q = (-2.0 * p.ln()).sqrt();
        let over = [
            -7.784_894_002_430_293e-3,
            -3.223_964_580_411_365e-1,
            -2.400_758_277_161_838,
            -2.549_732_539_343_734,
            4.374_664_141_464_968,
            2.938_163_982_698_783,
        ];
        let under = [
            7.784_695_709_041_462e-3,
            3.224_671_290_700_398e-1,
            2.445_134_137_142_996,
            3.754_408_661_907_416,
            1.0,
        ];
        return polynomial(&over, q) / polynomial(&under, q);
    }
    let q = p - 0.5;
    let r = q * q;
    let over = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    let under = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    q * polynomial(&over, r) / polynomial(&under, r)
}

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}
