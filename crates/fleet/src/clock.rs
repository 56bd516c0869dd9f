//! What an agent's clock reads beside the controller's: the offset, and how far it may be off.

use std::collections::VecDeque;

/// Samples that are looked at: those of a quarter of a minute at four a second.
const N_SAMPLES: usize = 64;

/// Exchanges that say how long a message takes now: those of two seconds.
const N_RECENT: usize = 8;

/// How far two clocks move apart at most, as a share of the time: 200 ppm, above what a crystal
/// and its correction do.
const DRIFT_MAX: f64 = 200e-6;

/// One exchange of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When the controller asked, in its time.
    pub asked_ns: u64,
    /// When the agent was asked, in its own time.
    pub received_ns: u64,
    /// When the agent answered, in its own time.
    pub sent_ns: u64,
    /// When the controller had the answer, in its time.
    pub answered_ns: u64,
}

/// What an agent's clock reads more than the controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// Nanoseconds; negative where it reads less.
    pub offset_ns: i64,
    /// How far that may be off, either way.
    pub error_ns: u64,
}

/// Estimates the offset from exchanges of the time, as NTP does (RFC 5905, section 8): half the
/// difference of both ways, off by at most half of what the exchange took. The quickest exchange
/// of the last ones decides, an older one with what the clocks may have drifted since.
#[derive(Clone, Debug, Default)]
pub struct ClockEstimate {
    samples: Vec<(u64, Offset)>,
    next: usize,
    /// What the last ones took, nanoseconds.
    round_trips_ns: VecDeque<u64>,
}

impl ClockEstimate {
    /// Adds an exchange. One whose times run backwards says nothing, and false is returned.
    pub fn add(&mut self, exchange: Exchange) -> bool {
        let Exchange { asked_ns, received_ns, sent_ns, answered_ns } = exchange;
        let (Some(here_ns), Some(there_ns)) =
            (answered_ns.checked_sub(asked_ns), sent_ns.checked_sub(received_ns))
        else {
            return false;
        };
        let Some(round_trip_ns) = here_ns.checked_sub(there_ns) else { return false };
        let difference = |there: u64, here: u64| i128::from(there) - i128::from(here);
        let sum = difference(received_ns, asked_ns) + difference(sent_ns, answered_ns);
        let Ok(offset_ns) = i64::try_from(sum / 2) else { return false };
        let offset = Offset { offset_ns, error_ns: round_trip_ns / 2 + 1 };
        if self.round_trips_ns.len() == N_RECENT {
            self.round_trips_ns.pop_front();
        }
        self.round_trips_ns.push_back(round_trip_ns);
        if self.samples.len() < N_SAMPLES {
            self.samples.push((answered_ns, offset));
        } else {
            self.samples[self.next] = (answered_ns, offset);
            self.next = (self.next + 1) % N_SAMPLES;
        }
        true
    }

    /// Returns the offset at `now_ns` of the controller's time; `None` before the first exchange.
    pub fn offset(&self, now_ns: u64) -> Option<Offset> {
        let aged = self.samples.iter().map(|(taken_ns, offset)| {
            let drift_ns = now_ns.saturating_sub(*taken_ns) as f64 * DRIFT_MAX;
            Offset { error_ns: offset.error_ns.saturating_add(drift_ns as u64), ..*offset }
        });
        aged.min_by_key(|offset| offset.error_ns)
    }

    /// Returns the longest round trip of the last exchanges, nanoseconds; 0 before the first one.
    pub fn round_trip_ns_recent(&self) -> u64 {
        self.round_trips_ns.iter().copied().max().unwrap_or(0)
    }
}

impl Offset {
    /// Returns what the agent's clock reads when the controller's reads `at_ns`.
    pub fn there(&self, at_ns: u64) -> u64 {
        at_ns.saturating_add_signed(self.offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the two ways take, the true offset lies within the stated error.
        #[test]
        fn the_true_offset_is_within_the_error(
            offset_ns in -3_600_000_000_000_i64..3_600_000_000_000,
            drift in -DRIFT_MAX..DRIFT_MAX,
            ways in proptest::collection::vec(
                (0_u64..50_000_000, 0_u64..50_000_000, 0_u64..5_000_000),
                1..100,
            ),
            pause_ns in 0_u64..1_000_000_000,
        ) {
            // The agent's clock reads this when the controller's reads `at_ns`.
            let there = |at_ns: u64| {
                let drifted = at_ns as f64 * drift;
                (i128::from(at_ns) + i128::from(offset_ns) + drifted as i128) as u64
            };
            let mut estimate = ClockEstimate::default();
            let mut now_ns = 7_200_000_000_000_u64;
            for (to_ns, from_ns, stay_ns) in ways {
                let asked_ns = now_ns;
                let received_at = asked_ns + to_ns;
                let sent_at = received_at + stay_ns;
                now_ns = sent_at + from_ns;
                estimate.add(Exchange {
                    asked_ns,
                    received_ns: there(received_at),
                    sent_ns: there(sent_at),
                    answered_ns: now_ns,
                });
                now_ns += pause_ns;
                let found = estimate.offset(now_ns).expect("an exchange was added");
                let is_ns = i128::from(there(now_ns)) - i128::from(now_ns);
                let off_ns = (i128::from(found.offset_ns) - is_ns).unsigned_abs();
                // Both clocks are read in whole nanoseconds, the drift of a stay is not known.
                prop_assert!(off_ns <= u128::from(found.error_ns) + 2 + stay_ns as u128 / 4000);
            }
        }
    }

    #[test]
    fn times_that_run_backwards_say_nothing() {
        let mut estimate = ClockEstimate::default();
        for (asked_ns, received_ns, sent_ns, answered_ns) in
            [(5, 0, 0, 4), (0, 5, 4, 9), (0, 0, 100, 50)]
        {
            let exchange = Exchange { asked_ns, received_ns, sent_ns, answered_ns };
            assert!(!estimate.add(exchange), "{exchange:?}");
        }
        assert_eq!(estimate.offset(10), None);
    }

    #[test]
    fn a_slow_exchange_of_the_past_counts_no_more() {
        let mut estimate = ClockEstimate::default();
        for round_trip_ns in [9_000_000_000].into_iter().chain([1_000; N_RECENT]) {
            let at_ns = 10_000_000_000;
            assert!(estimate.add(Exchange {
                asked_ns: at_ns,
                received_ns: at_ns,
                sent_ns: at_ns,
                answered_ns: at_ns + round_trip_ns,
            }));
        }
        assert_eq!(estimate.round_trip_ns_recent(), 1_000);
    }
}
