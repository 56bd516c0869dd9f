//! The seconds of a run, in bounded memory.

use record::Interval;

/// Most periods that are kept: twice what a chart draws, and 40 minutes of seconds.
const PERIODS_MAX: usize = 2400;

/// The periods of a run from its start on. When there are too many, each two in a row become one,
/// and so do those to come: all have one length, as far as steps and ramps allow.
#[derive(Clone, Debug)]
pub struct History {
    periods: Vec<Interval>,
    /// Intervals that make a period.
    n_per: u32,
    /// The period that is not full, and how many intervals are in it.
    open: Option<(Interval, u32)>,
}

impl Default for History {
    fn default() -> Self {
        History { periods: Vec::new(), n_per: 1, open: None }
    }
}

impl History {
    /// Adds an interval that has ended.
    pub fn push(&mut self, interval: &Interval) {
        let mut interval = interval.clone();
        interval.series.clear();
        match &mut self.open {
            Some((open, n)) if belongs(open, &interval) => {
                add(open, &interval);
                *n += 1;
            }
            open => {
                let before = open.replace((interval, 1));
                self.periods.extend(before.map(|(period, _)| period));
            }
        }
        if self.open.as_ref().is_some_and(|(_, n)| *n >= self.n_per) {
            self.periods.extend(self.open.take().map(|(period, _)| period));
        }
        if self.periods.len() >= PERIODS_MAX {
            self.n_per *= 2;
            self.periods = in_pairs(std::mem::take(&mut self.periods));
        }
    }

    /// Returns the periods so far; the last may still grow.
    pub fn periods(&self) -> impl Iterator<Item = &Interval> {
        self.periods.iter().chain(self.open.iter().map(|(period, _)| period))
    }

    /// Returns how many intervals make a period.
    pub fn n_per(&self) -> u32 {
        self.n_per
    }
}

fn belongs(period: &Interval, next: &Interval) -> bool {
    period.step_idx == next.step_idx && period.ramp == next.ramp
}

fn in_pairs(periods: Vec<Interval>) -> Vec<Interval> {
    let mut found: Vec<Interval> = Vec::with_capacity(periods.len() / 2 + 1);
    let mut is_single = false;
    for period in periods {
        match found.last_mut() {
            Some(last) if is_single && belongs(last, &period) => {
                add(last, &period);
                is_single = false;
            }
            _ => {
                found.push(period);
                is_single = true;
            }
        }
    }
    found
}

/// Adds the interval that follows. Of percentiles the larger stays, so that a slow second shows at
/// any length.
fn add(period: &mut Interval, next: &Interval) {
    period.end_ms = next.end_ms;
    period.length_ms += next.length_ms;
    period.n_hosts = period.n_hosts.min(next.n_hosts);
    period.cpu = None;
    period.add_dirs(next, |mine, theirs| {
        mine.0.keep_larger(theirs.0);
        mine.1.add(theirs.1);
    });
}

#[cfg(test)]
mod tests {
    use hist::Histogram;
    use record::{IntervalDir, IntervalLatency, LatencyCounts};

    use super::*;

    fn second(at: u64, step_idx: u32, latency_ns: u64) -> Interval {
        let mut latencies = Histogram::new();
        latencies.record_n(latency_ns, 10);
        let mut interval =
            Interval { step_idx, end_ms: (at + 1) * 1000, length_ms: 1000, ..Interval::default() };
        interval.dirs.read = IntervalDir {
            n_ios: 10,
            io_bytes: 40_960,
            latency: IntervalLatency::of(&latencies),
            latency_counts: LatencyCounts::of(&latencies),
            response: None,
        };
        interval
    }

    #[test]
    fn three_days_fit_and_nothing_is_lost() {
        let mut history = History::default();
        let n_seconds = 3 * 86_400;
        for at in 0..n_seconds {
            let latency_ns = if at == 100_001 { 5_000_000_000 } else { 100_000 };
            history.push(&second(at, u32::from(at > 200_000), latency_ns));
        }
        let periods: Vec<&Interval> = history.periods().collect();
        assert!(periods.len() <= PERIODS_MAX, "{}", periods.len());
        assert_eq!(periods.iter().map(|it| it.dirs.read.n_ios).sum::<u64>(), 10 * n_seconds);
        assert_eq!(periods.iter().map(|it| it.length_ms).sum::<u64>(), 1000 * n_seconds);
        let counted = periods.iter().flat_map(|it| it.dirs.read.latency_counts.iter());
        assert_eq!(counted.map(|(_, n)| n).sum::<u64>(), 10 * n_seconds);
        // The slow second is seen, in its place.
        let slow =
            |it: &&&Interval| it.dirs.read.latency.ns(record::Figure::Max) > Some(1_000_000_000);
        let slow: Vec<_> = periods.iter().filter(slow).collect();
        assert_eq!(slow.len(), 1);
        assert!((slow[0].end_ms - slow[0].length_ms..slow[0].end_ms).contains(&100_001_000));
        // No period mixes two steps; all others have one length.
        for pair in periods.windows(2) {
            assert_eq!(pair[0].end_ms, pair[1].end_ms - pair[1].length_ms);
        }
        let odd = periods.iter().filter(|it| it.length_ms != 1000 * u64::from(history.n_per()));
        assert!(odd.count() <= 3);
    }

    #[test]
    fn short_runs_keep_every_second() {
        let mut history = History::default();
        (0..600).for_each(|at| history.push(&second(at, 0, 1000)));
        assert_eq!(history.periods().count(), 600);
    }
}
