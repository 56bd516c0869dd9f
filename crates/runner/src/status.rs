//! The run as it looks now, and second by second.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hist::{Histogram, LiveHistogram};
use plan::Direction;
use record::{
    Figure, Interval, IntervalDir, IntervalLatency, IntervalResponse, LatencyCounts, PerDirRecord,
};
use worker::{FormatStatus, Meters};

/// What a status line shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Step, from 0, and how many there are.
    pub step_idx: u32,
    /// Steps of the plan.
    pub n_steps: u32,
    /// Workers that run, of `n_workers`.
    pub n_running: u32,
    /// Workers of the step.
    pub n_workers: u32,
    /// All running workers are in their ramp.
    pub ramp: bool,
    /// Time since the step's workers started, nanoseconds.
    pub elapsed_ns: u64,
    /// Time until the step ends as far as is known, nanoseconds.
    pub left_ns: Option<u64>,
    /// How far the step's formats of trees are together; `None` where it formats none.
    pub format: Option<FormatStatus>,
    /// Operations per second in the last period, per direction.
    pub iops: [f64; 3],
    /// Bytes per second in the last period, per direction.
    pub bytes_per_s: [f64; 3],
    /// Median of the last period, the largest of the directions: response time under an open
    /// load, else total latency.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile, likewise.
    pub latency_ns_p99: Option<u64>,
}

impl Status {
    /// Returns what a period says of it: rates and latencies. The rest is left open.
    pub fn of(period: &Interval) -> Self {
        let seconds = (period.length_ms as f64 / 1000.0).max(1e-3);
        let dirs = [&period.dirs.read, &period.dirs.write, &period.dirs.trim];
        let largest = |figure| dirs.iter().filter_map(|dir| dir.waited_ns(figure)).max();
        Status {
            iops: dirs.map(|dir| dir.n_ios as f64 / seconds),
            bytes_per_s: dirs.map(|dir| dir.io_bytes as f64 / seconds),
            latency_ns_p50: largest(Figure::P50),
            latency_ns_p99: largest(Figure::P99),
            ..Status::default()
        }
    }
}

/// Takes differences of the workers' counters from period to period.
pub(crate) struct IntervalSampler {
    meters: Vec<Arc<Meters>>,
    seen: [(u64, u64); 3],
    latencies: [Histogram; 3],
    /// Response times until now, of the directions in which every worker has a rate.
    responses: [Option<Histogram>; 3],
    since_ns: u64,
}

impl IntervalSampler {
    /// `is_open` says by direction whether every worker has a rate.
    pub(crate) fn new(meters: Vec<Arc<Meters>>, is_open: [bool; 3], now_ns: u64) -> Self {
        let latencies = std::array::from_fn(|_| Histogram::new());
        let responses = is_open.map(|is_open| is_open.then(Histogram::new));
        IntervalSampler { meters, seen: [(0, 0); 3], latencies, responses, since_ns: now_ns }
    }

    /// Ends a period. `run_since_ns` is the start of the run on the same clock.
    pub(crate) fn sample(&mut self, now_ns: u64, run_since_ns: u64, step_idx: u32) -> Interval {
        let since_ns = std::mem::replace(&mut self.since_ns, now_ns);
        assert!(now_ns >= since_ns, "an interval from {since_ns} ns on ends at {now_ns} ns");
        assert!(
            now_ns >= run_since_ns,
            "an interval ends at {now_ns} ns, and the run began at {run_since_ns} ns"
        );
        let mut dirs = PerDirRecord::<IntervalDir>::default();
        for dir in Direction::ALL {
            let idx = dir as usize;
            let total = self.meters.iter().fold((0, 0), |sum, meters| {
                let meters = meters.dir(dir);
                let (n_ios, bytes) = (&meters.n_ios_live, &meters.bytes_live);
                (sum.0 + n_ios.load(Relaxed), sum.1 + bytes.load(Relaxed))
            });
            let before = std::mem::replace(&mut self.seen[idx], total);
            let is_more = total.0 >= before.0 && total.1 >= before.1;
            assert!(is_more, "{before:?} I/Os and bytes were done, and now {total:?}");
            let latency = delta(&self.meters, &mut self.latencies[idx], |it| &it.dir(dir).lat);
            let responses = self.responses[idx].as_mut();
            let response =
                responses.map(|before| delta(&self.meters, before, |it| &it.dir(dir).response));
            let entry = match dir {
                Direction::Read => &mut dirs.read,
                Direction::Write => &mut dirs.write,
                Direction::Trim => &mut dirs.trim,
            };
            *entry = IntervalDir {
                n_ios: total.0 - before.0,
                io_bytes: total.1 - before.1,
                latency: IntervalLatency::of(&latency),
                latency_counts: LatencyCounts::of(&latency),
                response: response.and_then(|response| IntervalResponse::of(&response)),
            };
        }
        Interval {
            step_idx,
            end_ms: (now_ns - run_since_ns) / 1_000_000,
            // Of whole milliseconds, so that lengths add up.
            length_ms: now_ns / 1_000_000 - since_ns / 1_000_000,
            ramp: false,
            n_hosts: None,
            dirs,
            series: Vec::new(),
            cpu: None,
            host: None,
        }
    }
}

/// Returns what the workers recorded since `before`, which becomes what they have recorded now.
fn delta(
    meters: &[Arc<Meters>],
    before: &mut Histogram,
    of: impl Fn(&Meters) -> &LiveHistogram,
) -> Histogram {
    let mut total = Histogram::new();
    for live in meters.iter().map(|meters| of(meters)) {
        if live.count() > 0 {
            total.merge(&live.snapshot());
        }
    }
    let delta = total.delta_since(before);
    *before = total;
    delta
}
