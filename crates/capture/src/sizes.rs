//! Sizes of I/Os, counted one by one: unlike latencies they are few and exact.

use std::collections::BTreeMap;

/// Multiples of a sector up to here are counted in a table.
const TABLE_BYTES: u64 = 2 << 20;
const SECTOR_BYTES: u64 = 512;
/// Other sizes that are distinguished; more are counted as the next power of two.
const OTHERS_MAX: usize = 1 << 14;

/// How many I/Os had which size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeCounts {
    /// By size in sectors; empty until the first.
    table: Vec<u64>,
    others: BTreeMap<u64, u64>,
    count: u64,
    bytes: u128,
}

impl SizeCounts {
    /// Counts one I/O.
    pub fn record(&mut self, size_bytes: u64) {
        self.count += 1;
        self.bytes += u128::from(size_bytes);
        if size_bytes.is_multiple_of(SECTOR_BYTES) && size_bytes <= TABLE_BYTES {
            if self.table.is_empty() {
                self.table.resize((TABLE_BYTES / SECTOR_BYTES) as usize + 1, 0);
            }
            self.table[(size_bytes / SECTOR_BYTES) as usize] += 1;
            return;
        }
        let is_full = self.others.len() >= OTHERS_MAX && !self.others.contains_key(&size_bytes);
        let size_bytes = if is_full {
            size_bytes.checked_next_power_of_two().unwrap_or(u64::MAX)
        } else {
            size_bytes
        };
        *self.others.entry(size_bytes).or_default() += 1;
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &SizeCounts) {
        if self.table.len() < other.table.len() {
            self.table.resize(other.table.len(), 0);
        }
        for (mine, theirs) in self.table.iter_mut().zip(&other.table) {
            *mine += theirs;
        }
        for (size_bytes, count) in &other.others {
            *self.others.entry(*size_bytes).or_default() += count;
        }
        self.count += other.count;
        self.bytes += other.bytes;
    }

    /// Returns the number of I/Os.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns what they moved.
    pub fn bytes(&self) -> u128 {
        self.bytes
    }

    /// Iterates over sizes and their counts, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let table = self.table.iter().enumerate().filter(|(_, count)| **count > 0);
        let mut all: Vec<(u64, u64)> =
            table.map(|(idx, count)| (idx as u64 * SECTOR_BYTES, *count)).collect();
        all.extend(self.others.iter().map(|(size_bytes, count)| (*size_bytes, *count)));
        all.sort_unstable();
        all.into_iter()
    }

    /// Returns the size that a share `q` of the I/Os does not exceed; none without I/Os.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut n_below = 0;
        self.iter().find_map(|(size_bytes, count)| {
            n_below += count;
            (n_below >= rank).then_some(size_bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_sizes_that_occurred() {
        let mut sizes = SizeCounts::default();
        assert_eq!(sizes.quantile(0.5), None);
        for (size_bytes, count) in [(8192, 60), (65_536, 39), (100, 1)] {
            (0..count).for_each(|_| sizes.record(size_bytes));
        }
        assert_eq!(sizes.quantile(0.0), Some(100));
        assert_eq!(sizes.quantile(0.5), Some(8192));
        // 61 of 100 are no larger than 8 KiB.
        assert_eq!((sizes.quantile(0.61), sizes.quantile(0.62)), (Some(8192), Some(65_536)));
        assert_eq!(sizes.bytes(), 60 * 8192 + 39 * 65_536 + 100);
        let mut twice = sizes.clone();
        twice.merge(&sizes);
        assert_eq!((twice.count(), twice.quantile(0.5)), (200, Some(8192)));
    }

    #[test]
    fn odd_sizes_take_limited_memory() {
        let mut sizes = SizeCounts::default();
        (0..3 * OTHERS_MAX as u64).for_each(|idx| sizes.record(idx * 512 + 1));
        assert!(sizes.others.len() <= OTHERS_MAX + 64, "{}", sizes.others.len());
        assert_eq!(sizes.count(), 3 * OTHERS_MAX as u64);
    }
}
