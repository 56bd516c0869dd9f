//! Time left while files are laid out.

use std::collections::VecDeque;

/// Time over which the rate is taken. Long enough to be calm, short enough to show that a cache is
/// full and the device itself has taken over.
const WINDOW_MS: u64 = 10_000;
/// No time left is shown before this much was seen: the first writes go to memory.
const SEEN_MS_MIN: u64 = 1_000;
/// Shortest time between samples, which bounds their number.
const SAMPLE_MS: u64 = 100;

/// The recent rate of layout.
#[derive(Debug, Default)]
pub(super) struct LayoutRate {
    /// Milliseconds and bytes done, ascending.
    samples: VecDeque<(u64, u64)>,
}

impl LayoutRate {
    /// Takes in how much is done. Less than before is another layout, whose rate is its own.
    pub(super) fn add(&mut self, now_ms: u64, done_bytes: u64) {
        let last = self.samples.back().copied().unwrap_or_default();
        assert!(now_ms >= last.0, "{done_bytes} B are done at {now_ms} ms, after {} ms", last.0);
        if done_bytes < last.1 {
            self.samples.clear();
        }
        if self.samples.back().is_some_and(|last| now_ms < last.0 + SAMPLE_MS) {
            return;
        }
        self.samples.push_back((now_ms, done_bytes));
        while self.samples.len() > 2 && self.samples[1].0 + WINDOW_MS <= now_ms {
            self.samples.pop_front();
        }
    }

    /// Returns the seconds left at the recent rate; `None` while it is not known.
    pub(super) fn left_s(&self, total_bytes: u64) -> Option<u64> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        let (seen_ms, seen_bytes) = (last.0 - first.0, last.1 - first.1);
        if seen_ms < SEEN_MS_MIN || seen_bytes == 0 {
            return None;
        }
        let left = u128::from(total_bytes.saturating_sub(last.1));
        let left_ms = left * u128::from(seen_ms) / u128::from(seen_bytes);
        u64::try_from(left_ms.div_ceil(1000)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(samples: &[(u64, u64)], total_bytes: u64, expected: Option<u64>) {
        let mut rate = LayoutRate::default();
        for &(now_ms, done_bytes) in samples {
            rate.add(now_ms, done_bytes);
        }
        assert_eq!(rate.left_s(total_bytes), expected);
    }

    #[test]
    fn says_nothing_before_it_knows() {
        check(&[], 100, None);
        check(&[(0, 0)], 100, None);
        check(&[(0, 0), (500, 50)], 100, None);
        check(&[(0, 0), (5000, 0)], 100, None);
    }

    #[test]
    fn another_layout_has_a_rate_of_its_own() {
        check(&[(0, 0), (9000, 900), (9500, 10)], 100, None);
        check(&[(0, 0), (9000, 900), (9500, 10), (11_500, 30)], 100, Some(7));
    }

    #[test]
    fn time_goes_forward() {
        testing::check_wrong_calls(&[("back", "50 B are done at 400 ms, after 500 ms", &|| {
            check(&[(0, 0), (500, 50), (400, 50)], 100, None);
        })]);
    }

    #[test]
    fn follows_the_recent_rate() {
        check(&[(0, 0), (1000, 10)], 100, Some(9));
        // 90 bytes went to the cache in the first second; since then it is one per second.
        check(&[(0, 0), (1000, 90), (12_000, 101), (22_000, 111)], 121, Some(10));
        check(&[(0, 0), (1000, 100)], 100, Some(0));
    }
}
