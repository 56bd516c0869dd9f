//! The search for the deepest queue that keeps a latency (fio's `latency_target`).
//!
//! Trials of one window each: the depth doubles from 1 while enough I/Os meet the target, then the
//! search halves the bracket between the deepest that met it and the shallowest that did not. Its
//! result is the depth to which fio's search converges, in fewer windows.

use plan::load::LatencyTarget;

/// State of a search.
#[derive(Debug)]
pub(crate) struct DepthSearch {
    target: LatencyTarget,
    depth_max: u32,
    /// Depth of the running trial.
    depth: u32,
    /// Deepest that met the target.
    good: u32,
    /// Shallowest that missed it; beyond the maximum at first.
    bad: u32,
    window_since_ns: u64,
    n_ios: u64,
    n_met: u64,
}

/// What a finished window means for the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    /// Go on, perhaps with another depth.
    Running,
    /// The search is over.
    Found,
    /// One I/O at a time is too slow, and every one was to meet the target: the job fails.
    Missed,
}

impl DepthSearch {
    pub(crate) fn new(target: LatencyTarget, depth_max: u32) -> Self {
        assert!(depth_max > 0, "a search has a depth to find");
        let is_share = (0.0..=100.0).contains(&target.percentile);
        assert!(is_share, "a share of the operations is 0 to 100 percent");
        DepthSearch {
            target,
            depth_max,
            depth: 1,
            good: 0,
            bad: depth_max + 1,
            window_since_ns: 0,
            n_ios: 0,
            n_met: 0,
        }
    }

    /// Returns the depth to keep now.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the deepest queue that met the target, 0 if none did.
    pub(crate) fn found_depth(&self) -> u32 {
        self.good
    }

    pub(crate) fn target(&self) -> LatencyTarget {
        self.target
    }

    pub(crate) fn start(&mut self, now_ns: u64) {
        self.window_since_ns = now_ns;
    }

    #[inline]
    pub(crate) fn record(&mut self, latency_ns: u64) {
        self.n_ios += 1;
        self.n_met += u64::from(latency_ns <= self.target.target_ns);
    }

    /// Ends the window if its time has come.
    pub(crate) fn tick(&mut self, now_ns: u64) -> Trial {
        let is_over = now_ns >= self.window_since_ns + self.target.window_ns && self.n_ios > 0;
        // Where all must meet the target the first that does not decides, as in fio.
        let is_strict = self.target.percentile >= 100.0;
        let is_decided = is_over || is_strict && self.n_met < self.n_ios;
        if !is_decided {
            return Trial::Running;
        }
        let met = self.n_met as f64 >= self.n_ios as f64 * self.target.percentile / 100.0;
        if !met && self.depth == 1 {
            if is_strict {
                return Trial::Missed;
            }
            // It goes on with one at a time, as in fio, which counts on: all I/Os since this window
            // began may still reach the percentile.
            (self.good, self.bad) = (0, self.depth_max + 1);
            return Trial::Running;
        }
        (self.n_ios, self.n_met, self.window_since_ns) = (0, 0, now_ns);
        if met {
            self.good = self.depth;
        } else {
            self.bad = self.depth;
        }
        if self.bad <= self.good + 1 {
            return self.settle();
        }
        self.depth = if self.bad > self.depth_max {
            (self.depth * 2).min(self.depth_max)
        } else {
            self.good + (self.bad - self.good) / 2
        };
        Trial::Running
    }

    /// The bracket is closed: ends, or starts over from the found depth where it keeps running.
    fn settle(&mut self) -> Trial {
        self.depth = self.good.max(1);
        if !self.target.keep_running {
            return Trial::Found;
        }
        // A device may change: try one deeper next time, and one shallower if this one fails.
        self.bad = self.depth_max + 1;
        self.good = self.good.saturating_sub(1);
        Trial::Running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fio 3.33, null engine: one slow I/O among the first keeps a job with a window of 0 running
    /// until 99.9999 % of all are fast enough.
    #[test]
    fn at_depth_1_a_missed_window_counts_on() {
        let target =
            LatencyTarget { target_ns: 1_000, window_ns: 0, percentile: 90.0, keep_running: false };
        let mut search = DepthSearch::new(target, 1);
        search.start(0);
        let n_ios = (1..100).find(|&n| {
            search.record(if n == 1 { 2_000 } else { 500 });
            search.tick(n * 1_000) == Trial::Found
        });
        assert_eq!(n_ios, Some(10));
    }
}
