//! A few ranges within a block.

use std::ops::Range;

/// Ranges that neither overlap nor touch, in order. Nearly always one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Range<u16>>);

impl Ranges {
    /// Starts with one range.
    pub(crate) fn of(range: Range<u16>) -> Self {
        let mut ranges = Ranges::default();
        ranges.add(range);
        ranges
    }

    /// Adds a range.
    pub(crate) fn add(&mut self, range: Range<u16>) {
        assert!(range.start <= range.end, "a range ends behind its start");
        if range.is_empty() {
            return;
        }
        let touches = |other: &Range<u16>| other.start <= range.end && range.start <= other.end;
        let mut joined = range.clone();
        for other in self.0.iter().filter(|other| touches(other)) {
            joined = joined.start.min(other.start)..joined.end.max(other.end);
        }
        self.0.retain(|other| !touches(other));
        let at = self.0.partition_point(|other| other.start < joined.start);
        self.0.insert(at, joined);
    }

    /// Takes a range away.
    pub(crate) fn remove(&mut self, range: Range<u16>) {
        let mut left = Vec::with_capacity(self.0.len() + 1);
        for other in self.0.drain(..) {
            let (before, after) =
                (other.start..other.end.min(range.start), other.start.max(range.end)..other.end);
            left.extend([before, after].into_iter().filter(|part| !part.is_empty()));
        }
        self.0 = left;
    }

    /// Returns whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns them in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Range<u16>> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(added: &[(u16, u16)], removed: (u16, u16), expected: &[(u16, u16)]) {
        let mut ranges = Ranges::default();
        for &(start, end) in added {
            ranges.add(start..end);
        }
        ranges.remove(removed.0..removed.1);
        let found: Vec<_> = ranges.iter().map(|range| (range.start, range.end)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn ranges_join_and_split() {
        check(&[(0, 4), (4, 8)], (0, 0), &[(0, 8)]);
        check(&[(8, 10), (0, 4), (2, 9)], (0, 0), &[(0, 10)]);
        check(&[(0, 4), (6, 8)], (3, 7), &[(0, 3), (7, 8)]);
        check(&[(0, 4096)], (512, 1024), &[(0, 512), (1024, 4096)]);
        check(&[(0, 4096)], (0, 4096), &[]);
        check(&[(5, 5)], (0, 1), &[]);
    }

    #[test]
    fn a_range_is_not_the_wrong_way_round() {
        let (start, end) = (5, 3);
        testing::check_wrong_calls(&[("ends first", "a range ends behind its start", &|| {
            Ranges::of(start..end);
        })]);
    }
}
