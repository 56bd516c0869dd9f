//! The figures of a run that are worth comparing, and in which order runs were taken.

use hist::Histogram;
use record::{DirRecord, JobRecord, Latency, Record};

use crate::compare::{Better, RunOrder};

/// A figure of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Stable name with its unit last, such as `iops` or `read_p99_ns`.
    pub name: String,
    /// `read`, `write` or `trim`; empty for all together.
    pub dir: &'static str,
    /// What of it, such as `iops` or `p99_ns`.
    pub figure: &'static str,
    /// Its value.
    pub value: f64,
    /// Which way is better.
    pub better: Better,
    /// Of a percentile with fewer than [`N_BEYOND_MIN`] operations beyond it: how many it is of,
    /// and how many it takes. Its value is an accident.
    pub thin: Option<Thin>,
}

/// A percentile of too few operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thin {
    /// Operations that there were.
    pub n_ios: u64,
    /// Operations that it takes.
    pub n_ios_needed: u64,
}

impl Thin {
    /// Says whether a percentile of so many operations has too few beyond it.
    ///
    /// # Panics
    /// If the percentile is below 0, or none lies beyond it.
    pub fn of(n_ios: u64, percentile: f64) -> Option<Self> {
        let n_ios_needed = n_ios_for(percentile);
        (n_ios < n_ios_needed).then_some(Thin { n_ios, n_ios_needed })
    }
}

impl Metric {
    fn new(dir: &'static str, figure: &'static str, value: f64) -> Self {
        let name = if dir.is_empty() { figure.to_owned() } else { format!("{dir}_{figure}") };
        Metric { name, dir, figure, value, better: better(figure), thin: None }
    }
}

/// Says which way of a figure is better: rates up, latencies down.
pub fn better(figure: &str) -> Better {
    if figure.ends_with("_ns") { Better::Lower } else { Better::Higher }
}

/// Percentiles that are compared, with their names.
const PERCENTILES: [(f64, &str); 4] =
    [(50.0, "p50_ns"), (95.0, "p95_ns"), (99.0, "p99_ns"), (99.9, "p99_9_ns")];

/// Operations that must lie beyond a percentile for it to be a figure and not an accident.
pub const N_BEYOND_MIN: f64 = 10.0;

/// Returns how many operations it takes for [`N_BEYOND_MIN`] of them to lie beyond a percentile.
///
/// # Panics
/// If the percentile is below 0, or none lies beyond it.
pub fn n_ios_for(percentile: f64) -> u64 {
    // 100,000 for 99.99, though its binary fraction leaves a little less than a ten-thousandth.
    (N_BEYOND_MIN / n_beyond(1, percentile) * (1.0 - 1e-9)).ceil() as u64
}

/// Returns how many of so many operations lie beyond a percentile.
///
/// # Panics
/// If the percentile is below 0, or none lies beyond it.
pub fn n_beyond(n_ios: u64, percentile: f64) -> f64 {
    assert!((0.0..100.0).contains(&percentile), "operations beyond the percentile {percentile}");
    n_ios as f64 * (1.0 - percentile / 100.0)
}

/// Returns the figures of a step: rates over all directions, and for each direction its rates,
/// mean and percentiles of latency (response time under a rate, else service time). Percentiles
/// with fewer than 10 operations beyond them are left out.
pub fn metrics(record: &Record, step_idx: u32) -> Vec<Metric> {
    let jobs: Vec<&JobRecord> = record.jobs.iter().filter(|job| job.step_idx == step_idx).collect();
    let all = of_jobs(&jobs, Waited::FromDue).into_iter();
    all.filter(|metric| metric.thin.is_none()).collect()
}

/// From when a latency counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// From the intended start, where all operations had one: the response time.
    FromDue,
    /// From the submission: the service time.
    FromIssue,
}

/// Says from when the latencies of some jobs can count.
pub fn waited_of(jobs: &[&JobRecord]) -> Waited {
    let mut dirs = jobs.iter().flat_map(|job| job.dirs.iter()).filter(|(_, dir)| dir.n_ios > 0);
    let is_due = dirs.all(|(_, dir)| dir.response.is_some());
    if is_due { Waited::FromDue } else { Waited::FromIssue }
}

/// Returns the same figures of some jobs together, with latencies from `waited`, percentiles of too
/// few operations among them. Of imported
/// results, percentiles that are only listed are those of one entry: they cannot be merged.
pub fn of_jobs(jobs: &[&JobRecord], waited: Waited) -> Vec<Metric> {
    let mut metrics = Vec::new();
    let total = |of: fn(&DirRecord) -> f64| -> f64 {
        jobs.iter().flat_map(|job| job.dirs.iter()).map(|(_, dir)| of(dir)).sum()
    };
    metrics.push(Metric::new("", "iops", total(DirRecord::rate_iops)));
    metrics.push(Metric::new("", "bytes_per_s", total(DirRecord::rate_bytes)));
    for (idx, name) in ["read", "write", "trim"].into_iter().enumerate() {
        let dirs: Vec<&DirRecord> = jobs.iter().filter_map(|job| dir_at(job, idx)).collect();
        if dirs.is_empty() {
            continue;
        }
        let sum = |of: fn(&DirRecord) -> f64| dirs.iter().map(|dir| of(dir)).sum();
        metrics.push(Metric::new(name, "iops", sum(DirRecord::rate_iops)));
        metrics.push(Metric::new(name, "bytes_per_s", sum(DirRecord::rate_bytes)));
        if let [dir] = dirs.as_slice()
            && (dir.response.is_none() || waited == Waited::FromIssue)
            && let listed @ Latency::Listed(_) = service(dir)
        {
            put_latency(&mut metrics, name, &listed);
            continue;
        }
        let merged = latency(&dirs, waited);
        put_latency(&mut metrics, name, &Latency::Measured(&merged));
    }
    metrics
}

fn put_latency(metrics: &mut Vec<Metric>, dir: &'static str, latency: &Latency<'_>) {
    if let Some(mean_ns) = latency.mean_ns() {
        metrics.push(Metric::new(dir, "mean_ns", mean_ns));
    }
    for (percentile, figure) in PERCENTILES {
        if let Some(ns) = latency.percentile_ns(percentile) {
            let thin = Thin::of(latency.count(), percentile);
            metrics.push(Metric { thin, ..Metric::new(dir, figure, ns as f64) });
        }
    }
}

/// Returns a direction that had operations.
fn dir_at(job: &JobRecord, idx: usize) -> Option<&DirRecord> {
    job.dirs.iter().nth(idx).map(|(_, dir)| dir).filter(|dir| dir.n_ios > 0)
}

/// Returns the service time; the total latency where it was not measured.
fn service(dir: &DirRecord) -> Latency<'_> {
    let service = dir.service_latency();
    if service.is_empty() { dir.total_latency() } else { service }
}

/// Merges what was measured; nothing where a part of it is only listed.
fn latency(dirs: &[&DirRecord], waited: Waited) -> Histogram {
    let mut merged = Histogram::new();
    let is_open = waited == Waited::FromDue && dirs.iter().all(|dir| dir.response.is_some());
    for dir in dirs {
        match (dir.response.as_ref().filter(|_| is_open), service(dir)) {
            (Some(response), _) => merged.merge(response),
            (None, Latency::Measured(hist)) => merged.merge(hist),
            (None, Latency::Listed(_)) => return Histogram::new(),
        }
    }
    merged
}

/// Tells from the starts of runs, each set in the order it stands in, how two sets were taken: in
/// pairs of one run of each, mixed otherwise (from one run to the next, the set changes at least
/// every fourth time), or one set after the other.
pub fn run_order(baseline_started: &[u64], candidate_started: &[u64]) -> RunOrder {
    let baseline = baseline_started.iter().map(|started| (*started, false));
    let mut runs: Vec<(u64, bool)> =
        baseline.chain(candidate_started.iter().map(|started| (*started, true))).collect();
    runs.sort_unstable();
    // Of two that began at once the order is not known.
    let is_known = runs.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let is_sorted = baseline_started.is_sorted() && candidate_started.is_sorted();
    let of_each = |pair: &[(u64, bool)]| pair.len() == 2 && pair[0].1 != pair[1].1;
    if is_known && is_sorted && runs.len() > 2 && runs.chunks(2).all(of_each) {
        return RunOrder::Pairs;
    }
    let n_changes = runs.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    // One change is a block after a block.
    let is_mixed = n_changes > 1 && n_changes * 4 >= runs.len();
    if is_mixed { RunOrder::Mixed } else { RunOrder::Blocks }
}
