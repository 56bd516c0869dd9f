//! How much I/O is offered, and when.

use crate::PerDir;

/// How intended starts are spaced under a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly.
    Linear,
    /// Exponentially distributed gaps with the rate's mean.
    Poisson,
    /// Gaps spread evenly between none and twice the rate's mean.
    Uniform,
}

/// What is asked for per second in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Bytes per second.
    Bytes(u64),
    /// Operations per second.
    Iops(u64),
}

/// How a rate changes within a run: period after period, over and over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RatePeriods {
    /// In order. At least one has a rate, and each takes time.
    pub periods: Vec<RatePeriod>,
    /// What is due within a second is due at once, when the second begins.
    pub in_spikes: bool,
}

/// A part of the time during which the rate stays the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatePeriod {
    /// In proportion to the other periods: the largest stands for the job's `rate_total_iops`. 0
    /// is a pause.
    pub rate: f64,
    /// How long it lasts.
    pub duration_ns: u64,
}

impl RatePeriods {
    /// Returns the largest rate of any period.
    pub fn rate_max(&self) -> f64 {
        self.periods.iter().map(|period| period.rate).fold(0.0, f64::max)
    }

    /// Returns the time after which it starts over.
    pub fn cycle_ns(&self) -> u64 {
        let durations = self.periods.iter().map(|period| period.duration_ns);
        durations.fold(0, u64::saturating_add)
    }

    /// Returns the mean rate over whole cycles as a share of the largest, 0.0 to 1.0.
    pub fn mean_share(&self) -> f64 {
        let offered = |period: &RatePeriod| period.rate * period.duration_ns as f64;
        let whole = self.rate_max() * self.cycle_ns() as f64;
        if whole > 0.0 { self.periods.iter().map(offered).sum::<f64>() / whole } else { 0.0 }
    }

    /// Returns the mean rate between two moments, nanoseconds after the start, as a share of the
    /// largest, 0.0 to 1.0; 0.0 where no time is between them.
    pub fn share_between(&self, from_ns: u64, to_ns: u64) -> f64 {
        let whole = self.rate_max() * to_ns.saturating_sub(from_ns) as f64;
        if whole > 0.0 {
            ((self.offered_until(to_ns) - self.offered_until(from_ns)) / whole).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Returns what is offered until a moment, in units of rate times nanoseconds.
    fn offered_until(&self, at_ns: u64) -> f64 {
        let cycle_ns = self.cycle_ns().max(1);
        let of_cycle = self.mean_share() * self.rate_max() * cycle_ns as f64;
        let mut offered = (at_ns / cycle_ns) as f64 * of_cycle;
        let mut left_ns = at_ns % cycle_ns;
        for period in &self.periods {
            let within_ns = left_ns.min(period.duration_ns);
            offered += period.rate * within_ns as f64;
            left_ns -= within_ns;
        }
        offered
    }
}

/// What a count of I/Os for think time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkCount {
    /// Completed I/Os.
    Complete,
    /// Issued I/Os.
    Issue,
}

/// A pause between bursts of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkTime {
    /// Length of the pause; 0 is off.
    pub pause_ns: u64,
    /// Part of the pause spent spinning instead of sleeping.
    pub spin_ns: u64,
    /// Pause after this many I/Os.
    pub every_ios: u32,
    /// What the count counts.
    pub count: ThinkCount,
    /// Pause after this much time with I/O instead; 0 is off.
    pub every_io_time_ns: u64,
}

impl Default for ThinkTime {
    fn default() -> Self {
        ThinkTime {
            pause_ns: 0,
            spin_ns: 0,
            every_ios: 1,
            count: ThinkCount::Complete,
            every_io_time_ns: 0,
        }
    }
}

/// The search for the deepest queue that still meets a latency (fio `latency_target`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// The latency to keep.
    pub target_ns: u64,
    /// Length of one trial.
    pub window_ns: u64,
    /// Share of I/Os that must meet it, percent.
    pub percentile: f64,
    /// Keep adjusting instead of ending when found.
    pub keep_running: bool,
}

/// Progress in proportion to other jobs with the same flow id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Jobs with the same id share a flow.
    pub id: u32,
    /// Relative progress.
    pub weight: u32,
    /// Pause when ahead; 0 retries at once.
    pub sleep_ns: u64,
    /// I/Os of its own that a member may be ahead of the slowest; fio lets it be one.
    pub slack_ios: u32,
}

/// How much load a worker offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// I/Os in flight per worker, at least 1.
    pub queue_depth: u32,
    /// The queue may be divided among several workers on a host with several processors, so that
    /// one is not the limit: it is said what is in flight, not who issues it.
    pub spreads: bool,
    /// Then it is divided among at most so many; `None` is as many as there are processors.
    pub spread_workers_max: Option<u32>,
    /// So many workers, the last of the job, hold one I/O more in flight than `queue_depth`: what
    /// dividing a queue leaves.
    pub n_deeper: u32,
    /// The workers of the job do one walk together: each goes on where the last I/O of any of them
    /// ended. What dividing a queue leaves of work whose I/Os follow from one another.
    pub walks_together: bool,
    /// Which of its operations a worker issues. All of them, but where hosts do a load together.
    pub share: Share,
    /// I/Os handed over per submission; `None` lets the engine choose.
    pub submit_batch: Option<u32>,
    /// Completions to wait for at least; `None` is 1, 0 polls.
    pub complete_min: Option<u32>,
    /// Completions taken at most; `None` is all there are.
    pub complete_max: Option<u32>,
    /// Refill the queue only when it fell to this depth; `None` refills at once.
    pub queue_depth_low: Option<u32>,
    /// Rate cap per direction.
    pub rate: PerDir<Option<Rate>>,
    /// Rate cap over all directions and parts, I/Os per second, shared equally by the job's
    /// workers; excludes `rate`.
    pub rate_total_iops: Option<f64>,
    /// What could not begin when it was due, because what came before took long, is not made up:
    /// the schedule of `rate_total_iops` goes on from when it begins.
    pub rate_closed: bool,
    /// How `rate_total_iops`, then the largest, changes over time; `None` is not at all.
    pub rate_periods: Option<RatePeriods>,
    /// The job fails below this.
    pub rate_min: PerDir<Option<Rate>>,
    /// Window over which `rate_min` is checked.
    pub rate_cycle_ns: u64,
    /// Spacing under a rate.
    pub arrivals: Arrivals,
    /// Think time does not count against the rate.
    pub rate_ignores_think_time: bool,
    /// Pause between I/Os.
    pub think: ThinkTime,
    /// Search for the depth.
    pub latency_target: Option<LatencyTarget>,
    /// An I/O over this ends the job with `ETIMEDOUT`.
    pub latency_max_ns: PerDir<Option<u64>>,
    /// Proportional progress.
    pub flow: Option<Flow>,
    /// A pool of threads, one per I/O in flight, issues what the worker generates (fio
    /// `io_submit_mode=offload`).
    pub offload: bool,
    /// Hold back I/O that overlaps one in flight; with `offload` also one of other workers that
    /// ask for both.
    pub serialize_overlap: bool,
    /// The last I/O of a pass waits until all others have completed. A file that grows as it is
    /// written then has its whole size only when all of it is written.
    pub last_io_waits: bool,
}

/// One of several equal parts of a sequence: of the operations of a worker, every `n`th.
///
/// Hosts that do a load together have the same sequence each, and issue each its own part: every
/// operation is issued by one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The first operation of the part, from 0; below `n`.
    pub idx: u32,
    /// Number of parts, at least 1.
    pub n: u32,
}

impl Default for Share {
    fn default() -> Self {
        Share { idx: 0, n: 1 }
    }
}

impl Share {
    /// Returns its part of a number, as equal as whole numbers can be: together the parts are all
    /// of it.
    pub fn of(self, number: u64) -> u64 {
        let n = u64::from(self.n.max(1));
        number / n + u64::from(u64::from(self.idx) < number % n)
    }
}

impl Default for Load {
    fn default() -> Self {
        Load {
            queue_depth: 1,
            spreads: false,
            spread_workers_max: None,
            n_deeper: 0,
            walks_together: false,
            share: Share::default(),
            submit_batch: None,
            complete_min: None,
            complete_max: None,
            queue_depth_low: None,
            rate: PerDir::default(),
            rate_total_iops: None,
            rate_closed: false,
            rate_periods: None,
            rate_min: PerDir::default(),
            rate_cycle_ns: 1_000_000_000,
            arrivals: Arrivals::Linear,
            rate_ignores_think_time: false,
            think: ThinkTime::default(),
            latency_target: None,
            latency_max_ns: PerDir::default(),
            flow: None,
            offload: false,
            serialize_overlap: false,
            last_io_waits: false,
        }
    }
}

/// When a worker starts and stops.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Upper limit of the measured time; `None` is no limit.
    pub runtime_ns: Option<u64>,
    /// Start over until the runtime ends.
    pub time_based: bool,
    /// Passes over the amount, at least 1.
    pub loops: u32,
    /// Runs, not recorded, before the measured time.
    pub ramp_ns: u64,
    /// Runs, not recorded, until this many bytes are done; 0 is off.
    pub ramp_bytes: u64,
    /// Stop after this many I/Os.
    pub n_ios_max: Option<u64>,
    /// Delay before the start, drawn between the two for each worker.
    pub start_delay_ns: (u64, u64),
    /// Steady state ends the job.
    pub steady: Option<SteadyState>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            runtime_ns: None,
            time_based: false,
            loops: 1,
            ramp_ns: 0,
            ramp_bytes: 0,
            n_ios_max: None,
            start_delay_ns: (0, 0),
            steady: None,
        }
    }
}

/// What must be steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyMetric {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean latency.
    Latency,
}

/// fio's steady-state criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    /// What is watched.
    pub metric: SteadyMetric,
    /// The slope of a regression line is judged; otherwise the largest deviation from the mean.
    pub by_slope: bool,
    /// Limit, in the metric's unit or in percent of its mean.
    pub limit: f64,
    /// The limit is a percentage.
    pub limit_is_pct: bool,
    /// Window.
    pub window_ns: u64,
    /// Wait before collecting.
    pub ramp_ns: u64,
    /// Interval between checks.
    pub check_interval_ns: u64,
}
