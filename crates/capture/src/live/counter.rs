//! Counters that only grow, until they wrap or begin anew.

/// What became of a counter between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta {
    /// It grew by so much.
    By(u64),
    /// It grew by so much, past the end of its range.
    Wrapped(u64),
    /// It began anew: how much was counted in between is not known.
    Restarted,
}

const WRAP_32: u64 = 1 << 32;

/// Returns by how much a counter grew.
///
/// A counter that is smaller than before has wrapped at 32 or 64 bits where it was in the last
/// quarter of that range and is in the first one now; else it began anew. Linux keeps I/Os and
/// sectors in a `long`, but shows times in 32 bits, which 50 days of waiting fill.
pub fn delta(before: u64, now: u64) -> Delta {
    if now >= before {
        return Delta::By(now - before);
    }
    let has_wrapped = |quarter: u64| before / quarter == 3 && now < quarter;
    if has_wrapped(WRAP_32 / 4) {
        return Delta::Wrapped(now + WRAP_32 - before);
    }
    if has_wrapped(1 << 62) {
        return Delta::Wrapped(now.wrapping_sub(before));
    }
    Delta::Restarted
}

/// By how much several counters grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grown<const N: usize> {
    pub(super) by: [u64; N],
    /// One of them passed the end of its range.
    pub(super) has_wrapped: bool,
}

/// Returns by how much each of several counters grew; none if one of them began anew.
pub(super) fn deltas<const N: usize>(before: &[u64; N], now: &[u64; N]) -> Option<Grown<N>> {
    let mut grown = Grown { by: [0; N], has_wrapped: false };
    for (idx, place) in grown.by.iter_mut().enumerate() {
        match delta(before[idx], now[idx]) {
            Delta::By(by) => *place = by,
            Delta::Wrapped(by) => {
                *place = by;
                grown.has_wrapped = true;
            }
            Delta::Restarted => return None,
        }
    }
    Some(grown)
}

/// Returns what is said of counters that passed the end of their range.
pub(super) fn wrapped(name: &str) -> String {
    format!(
        "a counter of {name} passed the end of its range and began at 0: both parts are counted"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_grow_wrap_and_begin_anew() {
        assert_eq!(delta(5, 7), Delta::By(2));
        assert_eq!(delta(u64::from(u32::MAX), 0), Delta::Wrapped(1));
        assert_eq!(delta(WRAP_32 - 10, 30), Delta::Wrapped(40));
        assert_eq!(delta(u64::MAX - 9, 30), Delta::Wrapped(40));
        assert_eq!(delta(1_000_000, 5), Delta::Restarted);
        // Half way to a wrap is none.
        assert_eq!(delta(WRAP_32 / 2, 5), Delta::Restarted);
    }
}
