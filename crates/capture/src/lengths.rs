//! How long the samples of a source last that has no moments, or one alone.

use crate::sample::{NS_PER_S, Rates};

/// What was seen of a source that tells how long its samples last.
#[derive(Debug, Default)]
pub(crate) struct Lengths {
    /// What a person says.
    pub(crate) stated_ns: Option<u64>,
    /// A sample had a length.
    has_length: bool,
    /// The first moment of a sample, or the number that stands for it.
    first_ns: Option<i64>,
    /// There is another one.
    has_several: bool,
    /// There were bytes of a whole report, and not per second alone.
    has_totals: bool,
    /// Bytes of whole reports, bytes per second beside them, and how many pairs of both.
    bytes: f64,
    bytes_per_s: f64,
    n_pairs: u32,
}

/// iostat prints whole KiB: below this many in the mean they say too little.
const KIB_MIN: f64 = 20.0;

/// Lengths that a report may have, seconds: others come from figures that are none.
const S_RANGE: std::ops::RangeInclusive<f64> = 0.01..=1e7;

/// iostat takes whole seconds: a length that is nearer to one than this share of it is that.
const WHOLE_TOLERANCE: f64 = 0.05;

impl Lengths {
    /// Looks at a sample.
    pub(crate) fn see(&mut self, end_ns: i64, span_ns: u64) {
        self.has_length |= span_ns > 0;
        self.has_several |= end_ns != *self.first_ns.get_or_insert(end_ns);
    }

    /// Looks at bytes of a report beside bytes per second.
    pub(crate) fn see_totals(&mut self, rates: &Rates) {
        for flow in [&rates.read, &rates.write, &rates.discard] {
            self.has_totals |= flow.total_bytes.is_some();
            let pair = flow.total_bytes.zip(flow.bytes);
            if let Some((bytes, per_s)) = pair.filter(|(bytes, per_s)| *bytes > 0.0 && *per_s > 0.0)
            {
                self.bytes += bytes;
                self.bytes_per_s += per_s;
                self.n_pairs = self.n_pairs.saturating_add(1);
            }
        }
    }

    /// Returns whether reports print what their length follows from.
    pub(crate) fn has_totals(&self) -> bool {
        self.has_totals
    }

    /// Returns whether samples have lengths, or moments from which they follow.
    pub(crate) fn are_told(&self, has_moments: bool) -> bool {
        self.has_length || (has_moments && self.has_several)
    }

    /// Returns whether there were any samples.
    pub(crate) fn has_samples(&self) -> bool {
        self.first_ns.is_some()
    }

    /// Returns the mean length of reports: bytes over bytes per second.
    pub(crate) fn derived_ns(&self) -> Option<u64> {
        let seconds = self.bytes / self.bytes_per_s;
        let is_exact = self.bytes >= KIB_MIN * 1024.0 * f64::from(self.n_pairs);
        let whole = seconds.round();
        let is_whole = (seconds - whole).abs() <= whole * WHOLE_TOLERANCE;
        let seconds = if is_whole { whole } else { seconds };
        let is_known = is_exact && S_RANGE.contains(&seconds);
        is_known.then(|| (seconds * NS_PER_S as f64).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::FlowRates;

    #[track_caller]
    fn check(pairs: &[(f64, f64)], expected_s: Option<f64>) {
        let mut lengths = Lengths::default();
        for (kib, kib_per_s) in pairs {
            let (bytes, total_bytes) = (Some(kib_per_s * 1024.0), Some(kib * 1024.0));
            let read = FlowRates { bytes, total_bytes, ..FlowRates::default() };
            lengths.see_totals(&Rates { read, ..Rates::default() });
        }
        let found = lengths.derived_ns().map(|ns| ns as f64 / NS_PER_S as f64);
        assert_eq!(found, expected_s, "{pairs:?}");
    }

    #[test]
    fn a_length_is_bytes_over_bytes_per_second() {
        // 10.003 s, as a timer is late; one idle report says nothing.
        check(&[(10_003.0, 1000.0), (0.0, 0.0), (20_006.0, 2000.0)], Some(10.0));
        check(&[(150.0, 300.0)], Some(0.5));
        check(&[(240.0, 100.0)], Some(2.4));
        // 3 whole KiB may be 3.9.
        check(&[(3.0, 3.9)], None);
        check(&[], None);
        check(&[(1e12, 0.001)], None);
    }
}
