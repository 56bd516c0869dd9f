//! The few random numbers that are needed here: the order of points.

/// Puts items into an order that follows from the seed alone (Fisher and Yates, `SplitMix64`).
pub(crate) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for end in (1..items.len()).rev() {
        let drawn = (u128::from(next(&mut state)) * (end as u128 + 1)) >> 64;
        items.swap(end, drawn as usize);
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
