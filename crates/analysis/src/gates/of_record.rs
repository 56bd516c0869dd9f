//! The checks that a record alone allows.

use record::{Figure, Interval, IntervalDir, JobRecord, Record};

use crate::gate::Gate;
use crate::sampled::{evened, measured, per_s, sample_s};
use crate::steady::SteadyRule;

use super::{
    Backlog, ErrorInputs, FlightInputs, GeneratorInputs, SteadyInputs, errors, generator,
    queue_depth, steadiness,
};

/// Reads, writes and trims.
const N_DIRS: usize = 3;

/// A step's figures over time, without ramps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepSeries {
    /// Length of a sample, seconds.
    pub sample_s: f64,
    /// Start of the first sample, milliseconds after the start of the run.
    pub start_ms: u64,
    /// Operations per second, all directions together.
    pub iops: Vec<f64>,
    /// Bytes per second, all directions together.
    pub bytes_per_s: Vec<f64>,
    /// 99th percentile of what the target took per direction, nanoseconds; only directions with
    /// operations in every sample. Percentiles of directions cannot be merged.
    pub service_p99_ns: Vec<Vec<f64>>,
    /// The same of the response time, from the intended start; of a closed load what the target
    /// took.
    pub waited_p99_ns: Vec<Vec<f64>>,
    /// Whether `waited_p99_ns` is of response times.
    pub is_response: bool,
}

impl StepSeries {
    /// Takes the series of a step out of a record, in samples of about equal length
    /// ([`crate::sampled::evened`]). A last interval that was cut off is left out.
    pub fn of(record: &Record, step_idx: u32) -> Self {
        let intervals = evened(&measured(record, step_idx));
        let sum = |interval: &Interval, of: fn(&IntervalDir) -> u64| {
            let total = interval.dirs.iter().map(|(_, dir)| of(dir)).fold(0, u64::saturating_add);
            per_s(interval, total)
        };
        let dirs = || intervals.iter().flat_map(|it| it.dirs.iter().map(|(_, dir)| dir));
        StepSeries {
            sample_s: sample_s(&intervals),
            start_ms: intervals.first().map_or(0, |it| it.end_ms.saturating_sub(it.length_ms)),
            iops: intervals.iter().map(|interval| sum(interval, |dir| dir.n_ios)).collect(),
            bytes_per_s: intervals.iter().map(|i| sum(i, |dir| dir.io_bytes)).collect(),
            service_p99_ns: by_direction(&intervals, |dir| dir.latency.ns(Figure::P99)),
            waited_p99_ns: by_direction(&intervals, |dir| dir.waited_ns(Figure::P99)),
            is_response: dirs().any(|dir| dir.response.is_some()),
        }
    }
}

/// Returns a latency of every interval, nanoseconds, of those directions that have it in all.
fn by_direction(intervals: &[Interval], of: fn(&IntervalDir) -> Option<u64>) -> Vec<Vec<f64>> {
    let of_dir = |idx: usize| -> Option<Vec<f64>> {
        let dirs = intervals.iter().map(|it| it.dirs.iter().nth(idx).and_then(|(_, dir)| of(dir)));
        dirs.map(|ns| ns.map(|ns| ns as f64)).collect()
    };
    (0..N_DIRS).filter_map(of_dir).filter(|values| !values.is_empty()).collect()
}

/// Judges a step by what its record holds: errors, steadiness, the workers' CPU time, and, where
/// `is_closed`, the queue depth.
pub fn of_step(record: &Record, step_idx: u32, is_closed: bool, rule: &SteadyRule) -> Vec<Gate> {
    let of_step = |job: &&JobRecord| job.step_idx == step_idx;
    let jobs: Vec<&JobRecord> = record.jobs.iter().filter(of_step).collect();
    let total =
        |of: fn(&JobRecord) -> u64| jobs.iter().map(|job| of(job)).fold(0, u64::saturating_add);
    let inputs = ErrorInputs {
        n_ios: total(JobRecord::n_ios),
        n_errors: total(|job| job.n_errors),
        share_max: 0.0,
    };
    let series = StepSeries::of(record, step_idx);
    let p99_ns: Vec<&[f64]> = series.waited_p99_ns.iter().map(Vec::as_slice).collect();
    let mut gates = vec![
        errors(&inputs),
        steadiness(&SteadyInputs {
            iops: &series.iops,
            p99_ns: &p99_ns,
            is_response: series.is_response,
            sample_s: series.sample_s,
            rule: *rule,
        }),
    ];
    if is_closed {
        let asked: f64 =
            jobs.iter().map(|job| f64::from(job.queue_depth) * f64::from(job.n_workers)).sum();
        let n_workers = jobs.iter().map(|job| job.n_workers).sum();
        let flight = flight(&jobs, series.iops.len() as f64 * series.sample_s);
        gates.push(queue_depth(asked, n_workers, &flight));
    }
    gates.push(generator(&GeneratorInputs::of_jobs(&jobs)));
    gates
}

/// Returns the backlog of that open load of a step whose backlog grew most; none where no job has
/// an open load that was measured.
pub fn worst_backlog(record: &Record, step_idx: u32) -> Option<Backlog> {
    let is_measured = |job: &&JobRecord| job.step_idx == step_idx && job.runtime_ns > 0;
    let jobs = record.jobs.iter().filter(is_measured);
    let backlogs = jobs.filter_map(|job| {
        let arrivals = job.arrivals.as_ref()?;
        let window_s = job.runtime_ns as f64 / f64::from(job.n_workers.max(1)) / 1e9;
        Some(Backlog {
            start: arrivals.backlog_start,
            end: arrivals.backlog_end,
            n_due: arrivals.offered_iops * window_s,
            is_random: arrivals.spacing != "even",
        })
    });
    backlogs.max_by(|a, b| a.pressure().total_cmp(&b.pressure()))
}

/// Rate times time in the queue, summed over workers and directions: of each its own.
fn flight(jobs: &[&JobRecord], window_s: f64) -> FlightInputs {
    let (mut rate_iops, mut in_flight) = (0.0, 0.0);
    for dir in jobs.iter().flat_map(|job| job.dirs.iter()).map(|(_, dir)| dir) {
        // From the choice on: an operation in submission occupies its place in the queue.
        rate_iops += dir.rate_iops();
        in_flight += dir.rate_iops() * dir.lat.mean_ns().unwrap_or(0.0) / 1e9;
    }
    let service_ns = (rate_iops > 0.0).then(|| in_flight / rate_iops * 1e9);
    let completed_iops = rate_iops;
    FlightInputs { in_flight: None, completed_iops, service_ns, window_s, latency_ns_max: 0 }
}

impl GeneratorInputs {
    /// What jobs alone say of their generator, without the host that they ran on.
    pub(crate) fn of_jobs(jobs: &[&JobRecord]) -> Self {
        GeneratorInputs { worker_cpu_share_max: worker_cpu_share_max(jobs), ..Self::default() }
    }
}

/// The largest CPU share of a worker that does not poll; of a group the mean of its members.
fn worker_cpu_share_max(jobs: &[&JobRecord]) -> Option<f64> {
    let is_counted = |job: &&&JobRecord| !job.polls && !job.lacks_cpu && active_ns(job) > 0;
    let counted = jobs.iter().filter(is_counted);
    counted.map(|job| worker_cpu_share(job)).max_by(f64::total_cmp)
}

/// Returns the CPU time of a job's workers over their time: of each, in the mean.
pub(crate) fn worker_cpu_share(job: &JobRecord) -> f64 {
    let cpu_ns = job.cpu_user_ns.saturating_add(job.cpu_system_ns);
    cpu_ns as f64 / active_ns(job).max(1) as f64
}

/// Returns the time that processor time and waits were counted over, summed over workers.
pub(crate) fn active_ns(job: &JobRecord) -> u64 {
    if job.active_ns > 0 { job.active_ns } else { job.runtime_ns }
}
