//! Shared by the tests: seeded noise.

#![allow(dead_code, reason = "each test file uses a part of it")]

/// A generator of random numbers, made for tests only.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B)
    }

    fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Even in `0.0..1.0`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Standard normal (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.unit()).cos()
    }

    /// A series with mean 0, deviation 1 and this lag-1 autocorrelation.
    pub(crate) fn correlated(&mut self, n: usize, autocorrelation: f64) -> Vec<f64> {
        let fresh = (1.0 - autocorrelation * autocorrelation).sqrt();
        let mut value = self.normal();
        let next = |_| {
            let now = value;
            value = autocorrelation * value + fresh * self.normal();
            now
        };
        (0..n).map(next).collect()
    }
}
