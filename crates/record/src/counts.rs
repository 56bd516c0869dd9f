//! Latencies of one period, counted in coarse bins: what a picture of them over time needs.

use std::fmt::Write as _;

use hist::{Histogram, N_BUCKETS, SUB_BUCKET_BITS, bucket_bounds, bucket_index};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Buckets of the histogram that make one bin, as a power of two: four bins per octave, so each
/// ends 19 to 25 % above where it begins. Enough for the eye, and 200 bytes for a busy second.
const BUCKET_BITS: u32 = SUB_BUCKET_BITS - 2;

/// Bins there are.
const N_BINS: usize = N_BUCKETS >> BUCKET_BITS;

/// How many latencies lay in each bin. As text `first:count,count,...`, from the first bin that is
/// not empty to the last.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LatencyCounts {
    first_bin: usize,
    counts: Vec<u64>,
}

impl LatencyCounts {
    /// Counts what is in a histogram.
    pub fn of(latencies: &Histogram) -> Self {
        let mut found = LatencyCounts::default();
        for (low_ns, _, count) in latencies.iter_nonempty() {
            let bin = bucket_index(low_ns) >> BUCKET_BITS;
            if found.counts.is_empty() {
                found.first_bin = bin;
            }
            found.counts.resize(bin - found.first_bin + 1, 0);
            if let Some(last) = found.counts.last_mut() {
                *last = last.saturating_add(count);
            }
        }
        found
    }

    /// Returns whether nothing was counted, or none was kept.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Iterates over the bins from the first to the last that is not empty: (number of the bin,
    /// count).
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts.iter().enumerate().map(|(idx, count)| (self.first_bin + idx, *count))
    }

    /// Adds those of another period, or of another host.
    pub fn add(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        if self.counts.is_empty() {
            self.clone_from(other);
            return;
        }
        let first = self.first_bin.min(other.first_bin);
        let end = |it: &Self| it.first_bin + it.counts.len();
        let mut counts = vec![0_u64; end(self).max(end(other)) - first];
        for (bin, count) in self.iter().chain(other.iter()) {
            counts[bin - first] = counts[bin - first].saturating_add(count);
        }
        *self = LatencyCounts { first_bin: first, counts };
    }

    /// Returns a histogram with every latency in the middle of its bin: at most 13 % off.
    pub fn to_histogram(&self) -> Histogram {
        let mut latencies = Histogram::new();
        for (bin, count) in self.iter() {
            let (low_ns, end_ns) = LatencyCounts::bounds_ns(bin);
            latencies.record_n(low_ns + (end_ns - low_ns) / 2, count);
        }
        latencies
    }

    /// Returns the lowest latency of a bin and the lowest of the next, nanoseconds.
    pub fn bounds_ns(bin: usize) -> (u64, u64) {
        let first = bin.min(N_BINS - 1) << BUCKET_BITS;
        let last = first + (1 << BUCKET_BITS) - 1;
        (bucket_bounds(first).0, bucket_bounds(last).1.saturating_add(1))
    }
}

impl Serialize for LatencyCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        for (idx, count) in self.counts.iter().enumerate() {
            let written = match idx {
                0 => write!(text, "{}:{count}", self.first_bin),
                _ => write!(text, ",{count}"),
            };
            written.map_err(serde::ser::Error::custom)?;
        }
        to.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for LatencyCounts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        read(&text).ok_or_else(|| {
            serde::de::Error::custom("latency counts are not `first:count,count,...`")
        })
    }
}

fn read(text: &str) -> Option<LatencyCounts> {
    if text.is_empty() {
        return Some(LatencyCounts::default());
    }
    let (first, counts) = text.split_once(':')?;
    let first_bin: usize = first.parse().ok()?;
    let counts: Result<Vec<u64>, _> = counts.split(',').map(str::parse).collect();
    let counts = counts.ok()?;
    let is_inside = first_bin.checked_add(counts.len()).is_some_and(|end| end <= N_BINS);
    is_inside.then_some(LatencyCounts { first_bin, counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values_ns: &[u64]) -> LatencyCounts {
        let mut latencies = Histogram::new();
        for value_ns in values_ns {
            latencies.record(*value_ns);
        }
        LatencyCounts::of(&latencies)
    }

    #[test]
    fn every_value_is_counted_in_the_bin_that_holds_it() {
        let values_ns = [0, 31, 32, 999, 1_000_000, 1_000_001, 3_000_000_000, u64::MAX];
        let found = counts(&values_ns);
        assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), values_ns.len() as u64);
        for value_ns in values_ns {
            let holds = |bin: usize| {
                let (low_ns, end_ns) = LatencyCounts::bounds_ns(bin);
                low_ns <= value_ns && (value_ns < end_ns || end_ns == u64::MAX)
            };
            assert!(found.iter().any(|(bin, count)| count > 0 && holds(bin)), "{value_ns}");
        }
    }

    #[test]
    fn bins_follow_on_each_other_at_four_per_octave() {
        for bin in 0..N_BINS - 1 {
            let (low_ns, end_ns) = LatencyCounts::bounds_ns(bin);
            assert_eq!(LatencyCounts::bounds_ns(bin + 1).0, end_ns);
            assert!(low_ns < 128 || end_ns as f64 <= low_ns as f64 * 1.25, "{low_ns} {end_ns}");
        }
    }

    #[track_caller]
    fn check(text: &str, is_read: bool) {
        let json = format!("\"{text}\"");
        let found: Result<LatencyCounts, _> = serde_json::from_str(&json);
        assert_eq!(found.is_ok(), is_read, "{text}");
        if let Ok(found) = found {
            assert_eq!(serde_json::to_string(&found).unwrap(), json);
        }
    }

    #[test]
    fn the_text_is_read_again_and_nothing_else() {
        check("", true);
        check("71:1,0,5", true);
        check("71:", false);
        check("71", false);
        check("x:1", false);
        check("71:1,-5", false);
        check("230:1,2,3,4,5,6,7,8", false);
        check("18446744073709551615:1", false);
    }
}
