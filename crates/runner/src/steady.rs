//! When a step is steady: by SNIA's two tests over its intervals, or as fio judges it.
//!
//! fio's steady state: has a metric stopped to change?
//!
//! [`Steady`] is pure: it takes one sample per check and judges the last window, by the slope of
//! the least-squares line or by the largest deviation from the mean. [`SteadyWatch`] makes the
//! samples from the counters of a worker or of a reporting group.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::options::UntilSteady;
use analysis::steady::WindowTest;
use analysis::{sampled, series};
use plan::load::{SteadyMetric, SteadyState};
use record::{Figure, Interval, SteadyRecord};
use worker::Meters;

/// What came of one check interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sample {
    iops: u64,
    bytes_per_s: u64,
    latency_ns: u64,
}

/// Judges samples taken at equal distances.
#[derive(Debug)]
struct Steady {
    spec: SteadyState,
    n_samples: usize,
    samples: VecDeque<Sample>,
    slope: f64,
    deviation_max: f64,
    criterion: f64,
    attained: bool,
}

impl Steady {
    fn new(spec: SteadyState) -> Self {
        let n_samples = (spec.window_ns / spec.check_interval_ns.max(1)).max(1) as usize;
        Steady {
            spec,
            n_samples,
            samples: VecDeque::new(),
            slope: 0.0,
            deviation_max: 0.0,
            criterion: 0.0,
            attained: false,
        }
    }

    /// Takes a sample. Returns whether the window that it ends is steady.
    fn push(&mut self, sample: Sample) -> bool {
        if self.samples.len() == self.n_samples {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        if self.samples.len() == self.n_samples {
            self.judge();
        }
        self.attained
    }

    fn judge(&mut self) {
        let values: Vec<f64> = self.samples.iter().map(|sample| self.metric(sample)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        self.slope = slope(&values, mean);
        self.deviation_max = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        let figure = if self.spec.by_slope { self.slope } else { self.deviation_max };
        self.criterion = match self.spec.limit_is_pct {
            true if mean > 0.0 => 100.0 * figure / mean,
            // Nothing has moved: a standstill is not a steady state.
            true => 0.0,
            false => figure,
        };
        self.attained = mean > 0.0 && self.criterion.abs() < self.spec.limit;
    }

    fn metric(&self, sample: &Sample) -> f64 {
        match self.spec.metric {
            SteadyMetric::Iops => sample.iops as f64,
            SteadyMetric::Bandwidth => sample.bytes_per_s as f64,
            SteadyMetric::Latency => sample.latency_ns as f64,
        }
    }

    fn record(&self) -> SteadyRecord {
        let by_latency = self.spec.metric == SteadyMetric::Latency;
        let latencies = self.samples.iter().filter(|_| by_latency);
        SteadyRecord {
            criterion_text: criterion_text(&self.spec),
            window_ns: self.spec.window_ns,
            attained: self.attained,
            criterion: self.criterion,
            deviation_max: if self.spec.by_slope { 0.0 } else { self.deviation_max },
            slope: if self.spec.by_slope { self.slope } else { 0.0 },
            iops: self.samples.iter().map(|sample| sample.iops).collect(),
            bandwidth_kib_s: self.samples.iter().map(|s| s.bytes_per_s / 1024).collect(),
            latency_ns: latencies.map(|sample| sample.latency_ns).collect(),
        }
    }
}

/// Returns the slope per sample of the least-squares line.
fn slope(values: &[f64], mean: f64) -> f64 {
    let center = (values.len() as f64 - 1.0) / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (idx, value) in values.iter().enumerate() {
        let distance = idx as f64 - center;
        products += distance * (value - mean);
        squares += distance * distance;
    }
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// Returns a criterion as fio writes it, such as `iops_slope:0.3%`.
fn criterion_text(spec: &SteadyState) -> String {
    let metric = match spec.metric {
        SteadyMetric::Iops => "iops",
        SteadyMetric::Bandwidth => "bw",
        SteadyMetric::Latency => "lat",
    };
    let slope = if spec.by_slope { "_slope" } else { "" };
    let unit = if spec.limit_is_pct { "%" } else { "" };
    format!("{metric}{slope}:{}{unit}", spec.limit)
}

/// Returns whether the last intervals of a step are steady by SNIA's two tests over rounds, on IOPS
/// and on the 99th percentile of latency of each direction that was busy in all of them: of the
/// response time under a rate, since what waits may grow while the target does the same.
pub(crate) fn is_steady(intervals: &[Interval], until: &UntilSteady) -> bool {
    let measured = intervals.iter().rev().take_while(|interval| !interval.ramp);
    let (mut window, mut length_ms) = (Vec::new(), 0_u64);
    let wanted_ms = until.window_ns / 1_000_000;
    for interval in measured {
        window.push(interval);
        length_ms = length_ms.saturating_add(interval.length_ms);
        // Periods of a clock differ a little.
        if window.len() > 1 && length_ms.saturating_add(interval.length_ms / 2) >= wanted_ms {
            break;
        }
    }
    window.reverse();
    let usual_ms = sampled::usual_ms(window.iter().map(|interval| interval.length_ms));
    if window.len() < 2 || length_ms.saturating_add(usual_ms / 2) < wanted_ms {
        return false;
    }
    let window = sampled::evened(&window);
    let iops: Vec<f64> = window.iter().map(interval_iops).collect();
    let p99_of = |idx: usize| -> Option<Vec<f64>> {
        let of_dir = |interval: &Interval| {
            interval.dirs.iter().nth(idx).and_then(|(_, dir)| dir.waited_ns(Figure::P99))
        };
        window.iter().map(|interval| of_dir(interval).map(|ns| ns as f64)).collect()
    };
    let p99 = (0..3).filter_map(p99_of);
    std::iter::once(iops).chain(p99).all(|values| {
        series::rounds(&values, until.rule.n_rounds.max(2))
            .and_then(|rounds| WindowTest::of(&rounds, &until.rule))
            .is_some_and(|test| test.is_steady())
    })
}

fn interval_iops(interval: &Interval) -> f64 {
    sampled::per_s(interval, interval.dirs.iter().map(|(_, dir)| dir.n_ios).sum())
}

/// Watches a worker, or the workers of a reporting group together.
#[derive(Debug)]
pub(crate) struct SteadyWatch {
    members: Vec<Arc<Meters>>,
    steady: Steady,
    seen: Totals,
    /// End of the running check interval with its start; `None` before the first one.
    interval: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    n_ios: u64,
    bytes: u64,
    n_latencies: u64,
    latency_sum_ns: u128,
}

impl SteadyWatch {
    /// Watches the sum of `members`.
    pub(crate) fn new(spec: SteadyState, members: Vec<Arc<Meters>>) -> Self {
        assert!(!members.is_empty(), "no job is watched for a steady state");
        let steady = Steady::new(spec);
        SteadyWatch { members, steady, seen: Totals::default(), interval: None }
    }

    /// Returns when a sample is due; `None` while it is not known when the first member starts.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        match self.interval {
            _ if self.steady.attained => Some(u64::MAX),
            Some((_, due_ns)) => Some(due_ns),
            None => Some(self.start_ns()?.saturating_add(self.steady.spec.ramp_ns)),
        }
    }

    /// Returns when the first member started to measure, if one has.
    fn start_ns(&self) -> Option<u64> {
        let starts = self.members.iter().map(|meters| meters.measured_since_ns.load(Relaxed));
        starts.filter(|start_ns| *start_ns != 0).min()
    }

    /// Takes a sample if one is due. Returns true once, when the state has become steady.
    pub(crate) fn tick(&mut self, now_ns: u64) -> bool {
        if self.steady.attained {
            return false;
        }
        let check_ns = self.steady.spec.check_interval_ns.max(1);
        let Some((since_ns, due_ns)) = self.interval else {
            self.begin(now_ns, check_ns);
            return false;
        };
        if now_ns < due_ns {
            return false;
        }
        let totals = self.totals();
        let sample = totals.since(&self.seen, now_ns - since_ns);
        self.seen = totals;
        // From the schedule, so that the intervals do not drift.
        let next_ns = due_ns + ((now_ns - due_ns) / check_ns + 1) * check_ns;
        self.interval = Some((now_ns, next_ns));
        self.steady.push(sample)
    }

    /// Begins the first interval when the wait after the first member's start is over.
    fn begin(&mut self, now_ns: u64, check_ns: u64) {
        let Some(start_ns) = self.start_ns() else { return };
        let begin_ns = start_ns.saturating_add(self.steady.spec.ramp_ns);
        if now_ns >= begin_ns {
            self.seen = self.totals();
            self.interval = Some((now_ns, begin_ns + check_ns));
        }
    }

    /// Returns the outcome for the record.
    pub(crate) fn record(&self) -> SteadyRecord {
        self.steady.record()
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for dir in self.members.iter().flat_map(|meters| &meters.dirs) {
            totals.n_ios += dir.n_ios.load(Relaxed);
            totals.bytes += dir.bytes.load(Relaxed);
            if self.steady.spec.metric == SteadyMetric::Latency && dir.clat.count() > 0 {
                let clat = dir.clat.snapshot();
                totals.n_latencies += clat.count();
                totals.latency_sum_ns += clat.sum_ns();
            }
        }
        totals
    }
}

impl Totals {
    fn since(&self, earlier: &Totals, passed_ns: u64) -> Sample {
        let is_more = self.n_ios >= earlier.n_ios && self.bytes >= earlier.bytes;
        assert!(is_more, "a group had done {earlier:?}, and now {self:?}");
        let per_second = |delta: u64| {
            let rate = u128::from(delta) * 1_000_000_000 / u128::from(passed_ns.max(1));
            u64::try_from(rate).unwrap_or(u64::MAX)
        };
        let n_latencies = u128::from(self.n_latencies.saturating_sub(earlier.n_latencies));
        let sum_ns = self.latency_sum_ns.saturating_sub(earlier.latency_sum_ns);
        let latency_ns = sum_ns.checked_div(n_latencies).unwrap_or(0);
        Sample {
            iops: per_second(self.n_ios - earlier.n_ios),
            bytes_per_s: per_second(self.bytes - earlier.bytes),
            latency_ns: u64::try_from(latency_ns).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests;
