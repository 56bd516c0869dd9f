//! The random numbers of Java's `java.util.Random`, which Vdbench draws sizes and parts of a tree
//! from: the same seed must give the same tree here and there.
//!
//! The formulas are those of the class's public documentation.

/// A generator in the state that `new Random(seed)` begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct JavaRandom(u64);

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

impl JavaRandom {
    pub(super) fn new(seed: u64) -> Self {
        JavaRandom((seed ^ MULTIPLIER) & MASK)
    }

    /// Draws the `n_bits` highest bits of the next state, at most 32.
    #[inline]
    fn bits(&mut self, n_bits: u32) -> u64 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK;
        self.0 >> (48 - n_bits)
    }

    /// Draws a number below `bound`, which is 1 or more (`nextInt(bound)`).
    #[inline]
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        let bound = u64::from(bound.clamp(1, i32::MAX as u32));
        if bound.is_power_of_two() {
            return ((bound * self.bits(31)) >> 31) as u32;
        }
        loop {
            let bits = self.bits(31);
            let value = bits % bound;
            // Beyond the last whole multiple of the bound: drawn again.
            if i32::try_from(bits - value + (bound - 1)).is_ok() {
                return value as u32;
            }
        }
    }

    /// Draws a number from 0 up to 1 (`nextDouble()`).
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        let high = self.bits(26) << 27;
        (high + self.bits(27)) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::JavaRandom;

    /// Printed by OpenJDK 17.
    #[test]
    fn draws_are_those_of_java() {
        let mut random = JavaRandom::new(0);
        let drawn: Vec<u32> = (0..8).map(|_| random.below(100)).collect();
        assert_eq!(drawn, [60, 48, 29, 47, 15, 53, 91, 61]);
        let mut random = JavaRandom::new(0);
        let drawn: Vec<u32> = (0..4).map(|_| random.below(8192)).collect();
        assert_eq!(drawn, [5988, 6811, 1970, 4967]);
        let mut random = JavaRandom::new(0);
        assert_eq!(
            (random.unit(), random.unit()),
            (0.730_967_787_376_657, 0.240_536_415_671_485_87)
        );
        // Two of five draws are beyond the last multiple of this bound.
        let mut random = JavaRandom::new(0);
        let drawn: Vec<u32> = (0..4).map(|_| random.below(1_500_000_000)).collect();
        assert_eq!(drawn, [516_548_029, 1_302_116_447, 1_368_843_515, 663_681_053]);
    }
}
