//! FNV-1a, 64 bit: tells bytes from other bytes, guards nothing.

const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Returns the hash of some bytes. It is the same in every version and on every machine, so it may
/// be stored.
///
/// ```
/// assert_eq!(units::fnv1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
/// ```
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(START, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}
