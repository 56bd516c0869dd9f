//! The figures of a run that are worth comparing, and in which order runs were taken.

use hist::Histogram;
use record::{DIRECTIONS, DirRecord, Figure, JobRecord, Latency};

use crate::compare::{BetterWhen, RunOrder};
use crate::thin::ThinPercentile;

/// What is compared of two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// A figure of runs.
    OfRun(Figure),
    /// The mean of a figure of their seconds.
    OfSecond(Figure),
}

impl Compared {
    /// Returns all that there is, in the order of rows.
    pub fn all() -> impl Iterator<Item = Self> {
        let of_runs = Figure::OF_COMPARISON.iter().copied().map(Compared::OfRun);
        of_runs.chain(Figure::OF_SECOND.iter().copied().map(Compared::OfSecond))
    }

    /// Returns the column that its values are shown in.
    pub fn figure(self) -> Figure {
        let (Compared::OfRun(figure) | Compared::OfSecond(figure)) = self;
        figure
    }

    /// Returns its stable name, with the unit last: `iops`, `p99_ns`, `second_p99_ns`.
    pub fn name(self) -> String {
        match self {
            Compared::OfRun(figure) => figure.metric().to_owned(),
            Compared::OfSecond(figure) => format!("second_{}", figure.metric()),
        }
    }

    /// Returns what people read: `IOPS`, `p99`, `p99/second`.
    pub fn title(self) -> String {
        match self {
            Compared::OfRun(figure) => figure.head().to_owned(),
            Compared::OfSecond(figure) => format!("{}/second", figure.head()),
        }
    }

    /// Returns which way is better: rates up, latencies down.
    pub fn better(self) -> BetterWhen {
        if self.figure().is_rate() { BetterWhen::Higher } else { BetterWhen::Lower }
    }
}

/// A figure of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// `read`, `write` or `trim`; empty for all together.
    pub dir: &'static str,
    /// What of it.
    pub figure: Figure,
    /// Its value.
    pub value: f64,
    /// Of a percentile with fewer than [`crate::thin::N_BEYOND_MIN`] operations beyond it: how many
    /// it is of, and how many it takes. Its value is an accident.
    pub thin: Option<ThinPercentile>,
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

/// Returns the figures of some jobs together: rates over all directions, and for each direction its
/// rates, mean and percentiles of latency from `waited`, percentiles of too few operations among
/// them. Of imported results, percentiles that are only listed are those of one entry: they cannot
/// be merged.
pub fn of_jobs(jobs: &[&JobRecord], waited: Waited) -> Vec<Metric> {
    let mut metrics = Vec::new();
    let all: Vec<&DirRecord> = jobs.iter().flat_map(|job| job.dirs.iter()).map(|it| it.1).collect();
    put_rates(&mut metrics, "", &all);
    for (idx, name) in DIRECTIONS.into_iter().enumerate() {
        let dirs: Vec<&DirRecord> = jobs.iter().filter_map(|job| dir_at(job, idx)).collect();
        if dirs.is_empty() {
            continue;
        }
        put_rates(&mut metrics, name, &dirs);
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

fn put_rates(metrics: &mut Vec<Metric>, dir: &'static str, of: &[&DirRecord]) {
    let sum = |rate: fn(&DirRecord) -> f64| of.iter().map(|dir| rate(dir)).sum();
    let rates = [
        (Figure::Iops, sum(DirRecord::rate_iops)),
        (Figure::BytesPerS, sum(DirRecord::rate_bytes)),
    ];
    metrics.extend(rates.map(|(figure, value)| Metric { dir, figure, value, thin: None }));
}

fn put_latency(metrics: &mut Vec<Metric>, dir: &'static str, latency: &Latency<'_>) {
    for figure in Figure::OF_COMPARISON.iter().copied() {
        if let Some(value) = figure.of(latency) {
            let thin = figure.percentile().and_then(|it| ThinPercentile::of(latency.count(), it));
            metrics.push(Metric { dir, figure, value, thin });
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

/// Finds from the starts of runs, each set in the order it stands in, how two sets were taken: in
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
