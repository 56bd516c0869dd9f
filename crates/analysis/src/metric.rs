//! The figures of a run that are worth comparing, and in which order runs were taken.

use record::{DirRecord, JobRecord, Record};

use hist::Histogram;

use crate::compare::{Better, RunOrder};

/// A figure of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Stable name with its unit last, such as `iops` or `read_p99_ns`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Which way is better.
    pub better: Better,
}

/// Percentiles that are compared, with their names.
const PERCENTILES: [(f64, &str); 4] =
    [(0.5, "p50"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99_9")];

/// Operations that must lie beyond a percentile for it to be a figure and not an accident.
const N_BEYOND_MIN: f64 = 10.0;

/// Returns the figures of a step: rates over all directions, and for each direction its rate, mean
/// and percentiles of latency (response time under a rate, else service time). Percentiles with
/// fewer than 10 operations beyond them are left out.
pub fn metrics(record: &Record, step_idx: u32) -> Vec<Metric> {
    let jobs = || record.jobs.iter().filter(|job| job.step_idx == step_idx);
    let mut metrics = Vec::new();
    let mut add = |name: String, value: f64, better| {
        metrics.push(Metric { name, value, better });
    };
    let total = |of: fn(&DirRecord) -> f64| -> f64 {
        jobs().flat_map(|job| job.dirs.iter()).map(|(_, dir)| of(dir)).sum()
    };
    add("iops".to_owned(), total(DirRecord::rate_iops), Better::Higher);
    add("bytes_per_s".to_owned(), total(DirRecord::rate_bytes), Better::Higher);
    for (idx, name) in ["read", "write", "trim"].into_iter().enumerate() {
        let dirs: Vec<&DirRecord> = jobs().filter_map(|job| dir_at(job, idx)).collect();
        if dirs.is_empty() {
            continue;
        }
        let iops = dirs.iter().map(|dir| dir.rate_iops()).sum();
        add(format!("{name}_iops"), iops, Better::Higher);
        let latency = latency(&dirs);
        if let Some(mean_ns) = latency.mean_ns() {
            add(format!("{name}_mean_ns"), mean_ns, Better::Lower);
        }
        for (quantile, percentile) in PERCENTILES {
            let n_beyond = latency.count() as f64 * (1.0 - quantile);
            if let Some(ns) = latency.quantile(quantile).filter(|_| n_beyond >= N_BEYOND_MIN) {
                add(format!("{name}_{percentile}_ns"), ns as f64, Better::Lower);
            }
        }
    }
    metrics
}

/// Returns a direction that had operations.
fn dir_at(job: &JobRecord, idx: usize) -> Option<&DirRecord> {
    job.dirs.iter().nth(idx).map(|(_, dir)| dir).filter(|dir| dir.n_ios > 0)
}

fn latency(dirs: &[&DirRecord]) -> Histogram {
    let mut merged = Histogram::new();
    let is_open = dirs.iter().all(|dir| dir.response.is_some());
    for dir in dirs {
        let service = if dir.clat.is_empty() { &dir.lat } else { &dir.clat };
        merged.merge(dir.response.as_ref().filter(|_| is_open).unwrap_or(service));
    }
    merged
}

/// Tells from the starts of runs whether two sets were taken in mixed order: from one run to the
/// next, the set changes at least every fourth time.
pub fn run_order(baseline_started: &[u64], candidate_started: &[u64]) -> RunOrder {
    let baseline = baseline_started.iter().map(|started| (*started, false));
    let mut runs: Vec<(u64, bool)> =
        baseline.chain(candidate_started.iter().map(|started| (*started, true))).collect();
    runs.sort_unstable();
    let n_changes = runs.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    // One change is a block after a block.
    let is_mixed = n_changes > 1 && n_changes * 4 >= runs.len();
    if is_mixed { RunOrder::Mixed } else { RunOrder::Blocks }
}
