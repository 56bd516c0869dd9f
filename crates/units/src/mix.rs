//! A mixer of 64 bits.

/// Mixes 64 bits: the output function of `SplitMix64`. A bijection, so that no value is lost.
#[inline]
pub fn mix64(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
