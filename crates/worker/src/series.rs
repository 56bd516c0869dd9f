//! Counts by series: by part of a job and kind of operation.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use hist::{LiveHistogram, Zeroed};
use plan::op::OpKind;
use plan::tree::{Activity, TreeWork};
use plan::{Direction, Job};

/// Series of each part of a job that reads and writes: one per direction.
const N_DIRS: usize = Direction::ALL.len();

/// The series of an operation that belongs to none.
pub(crate) const NO_SERIES: u16 = u16::MAX;

/// Returns the series of a part's operations in a direction. A job without parts has part 0.
#[inline]
pub(crate) fn series_of(part_idx: u16, dir: Direction) -> u16 {
    part_idx * N_DIRS as u16 + dir as u16
}

/// Returns the series of an operation: per task one for each kind of operation.
pub(crate) fn series_of_task(task: u16, kind: OpKind) -> u16 {
    let kind_idx = OpKind::ALL.iter().position(|it| *it == kind).unwrap_or(0);
    task * OpKind::ALL.len() as u16 + kind_idx as u16
}

/// Returns the series of the reads and writes of an only task, by direction.
pub(crate) fn series_of_io() -> [Option<u16>; Direction::ALL.len()] {
    let mut of_dirs = [None; Direction::ALL.len()];
    for (dir, kind) in [(Direction::Read, OpKind::Read), (Direction::Write, OpKind::Write)] {
        of_dirs[dir as usize] = Some(series_of_task(0, kind));
    }
    of_dirs
}

/// Returns the direction of a series of parts.
#[inline]
pub(crate) fn direction_of(series: u16) -> Direction {
    Direction::ALL[usize::from(series) % N_DIRS]
}

/// Adds to a counter that only this thread writes: a plain load and store, no locked addition.
#[inline]
pub(crate) fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(n), Relaxed);
}

/// What a series counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesName {
    /// Name of the part; empty where the job has none.
    pub part: String,
    /// Kind of the operations.
    pub op: OpKind,
}

/// Counters of one series. The first five count from the start, ramp included: for intervals.
#[derive(Debug)]
pub struct SeriesMeters {
    /// Operations completed.
    pub n_ios_live: AtomicU64,
    /// Bytes moved.
    pub bytes_live: AtomicU64,
    /// Sum of their latencies from choice to completion, nanoseconds.
    pub latency_ns_sum_live: AtomicU64,
    /// Sum of the squares of their latencies: the bits of an `f64`.
    latency_ns2_sum_live: AtomicU64,
    /// Largest latency since it was last taken.
    latency_ns_max_live: AtomicU64,
    /// Operations completed in the measured time.
    pub n_ios: AtomicU64,
    /// Bytes moved in the measured time.
    pub bytes: AtomicU64,
    /// Operations that failed and did not end the job.
    pub n_failed: AtomicU64,
    /// From choice to completion, in the measured time.
    pub lat: LiveHistogram,
}

// SAFETY: consists of atomic integers and a histogram, for which zero bytes are valid; those of an
// `f64` are 0.
unsafe impl Zeroed for SeriesMeters {}

impl SeriesMeters {
    /// Returns the sum of the squares of all latencies since the start.
    pub fn latency_ns2_sum_live(&self) -> f64 {
        f64::from_bits(self.latency_ns2_sum_live.load(Relaxed))
    }

    /// Returns the largest latency since the last call, in nanoseconds, and starts over.
    ///
    /// For one reader. It is the one counter that a reader changes: of an operation that completes
    /// at this very moment it may be counted before or after.
    pub fn take_latency_ns_max(&self) -> u64 {
        self.latency_ns_max_live.swap(0, Relaxed)
    }

    /// Adds operations with the same latency. For the one writer.
    #[inline]
    pub(crate) fn add(&self, (n_ios, bytes): (u64, u64), latency_ns: u64, measured: bool) {
        add(&self.n_ios_live, n_ios);
        add(&self.bytes_live, bytes);
        add(&self.latency_ns_sum_live, latency_ns.wrapping_mul(n_ios));
        let square = latency_ns as f64 * latency_ns as f64;
        let squares = self.latency_ns2_sum_live() + square * n_ios as f64;
        self.latency_ns2_sum_live.store(squares.to_bits(), Relaxed);
        if latency_ns > self.latency_ns_max_live.load(Relaxed) {
            self.latency_ns_max_live.store(latency_ns, Relaxed);
        }
        if measured {
            add(&self.n_ios, n_ios);
            add(&self.bytes, bytes);
            self.lat.record_n(latency_ns, n_ios);
        }
    }
}

/// All series of a worker.
#[derive(Debug)]
pub struct Series {
    /// By position; `None` for directions that a part does not issue.
    names: Box<[Option<SeriesName>]>,
    meters: Box<[SeriesMeters]>,
}

impl Series {
    /// Makes the series of a job's parts, or of its directions where it has no parts.
    pub(crate) fn of(job: &Job) -> Self {
        if let Some(work) = &job.tree {
            let names = names_of_tree(work);
            let meters = SeriesMeters::zeroed_slice(names.len());
            return Series { names, meters };
        }
        let of_part = |part: &str, workload: &plan::workload::Workload| {
            let access = workload.access;
            let issues_writes = access.write || access.trim_then_write;
            [
                (access.read || job.verify.method.is_some(), OpKind::Read),
                (issues_writes, OpKind::Write),
                (access.trim || access.trim_then_write, OpKind::Trim),
            ]
            .map(|(issued, op)| issued.then(|| SeriesName { part: part.to_owned(), op }))
        };
        let names: Box<[Option<SeriesName>]> = if job.parts.is_empty() {
            of_part("", &job.workload).into()
        } else {
            job.parts.iter().flat_map(|part| of_part(&part.name, &part.workload)).collect()
        };
        let meters = SeriesMeters::zeroed_slice(names.len());
        Series { names, meters }
    }

    /// Iterates over the series that can occur, in the order of the parts.
    pub fn iter(&self) -> impl Iterator<Item = (&SeriesName, &SeriesMeters)> {
        let all = self.names.iter().zip(&self.meters);
        all.filter_map(|(name, meters)| Some((name.as_ref()?, meters)))
    }

    /// Returns whether the operations of this job, counted by series, are kept apart by more than
    /// their direction.
    pub(crate) fn differ(job: &Job) -> bool {
        job.parts.len() > 1 || job.tree.is_some()
    }

    /// Adds a run of a series that completed at `now_ns`.
    #[inline]
    pub(crate) fn add_run(&self, series: u16, run: &Run, now_ns: u64, measured: bool) {
        let Some(meters) = self.get(series) else { return };
        meters.add((run.n_ios, run.bytes), now_ns.saturating_sub(run.start_ns), measured);
    }

    pub(crate) fn get(&self, series: u16) -> Option<&SeriesMeters> {
        self.meters.get(usize::from(series))
    }
}

/// Completions of one series within a batch that were chosen together and handed over together:
/// their latencies are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) start_ns: u64,
    pub(crate) submit_ns: u64,
    pub(crate) n_ios: u64,
    pub(crate) bytes: u64,
}

/// Gathers the completions of a batch by series.
#[derive(Debug)]
pub(crate) struct SeriesRuns {
    runs: Box<[Run]>,
    /// Series with completions in this batch.
    touched: Vec<u16>,
}

impl SeriesRuns {
    pub(crate) fn new(series: Option<&Series>) -> Self {
        let n_series = series.map_or(0, |series| series.meters.len());
        SeriesRuns {
            runs: vec![Run::default(); n_series].into_boxed_slice(),
            touched: Vec::with_capacity(n_series),
        }
    }

    /// Counts an operation with those of its run. Returns false where it is the first of one:
    /// [`SeriesRuns::begin`] counts it.
    #[inline]
    pub(crate) fn count(
        &mut self,
        series: u16,
        (start_ns, submit_ns): (u64, u64),
        bytes: u64,
    ) -> bool {
        let Some(run) = self.runs.get_mut(usize::from(series)) else { return true };
        let goes_on = run.n_ios > 0 && run.start_ns == start_ns && run.submit_ns == submit_ns;
        if goes_on {
            run.n_ios += 1;
            run.bytes += bytes;
        }
        goes_on
    }

    /// Counts the first operation of a run. Returns the run of the same series before it, if any.
    pub(crate) fn begin(
        &mut self,
        series: u16,
        (start_ns, submit_ns): (u64, u64),
        bytes: u64,
    ) -> Option<Run> {
        let run = self.runs.get_mut(usize::from(series))?;
        let before = std::mem::replace(run, Run { start_ns, submit_ns, n_ios: 1, bytes });
        if before.n_ios == 0 {
            self.touched.push(series);
            return None;
        }
        Some(before)
    }

    /// Returns a series whose run is not in the meters yet, once.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u16> {
        self.touched.pop()
    }

    /// Takes the run of a series.
    #[inline]
    pub(crate) fn take(&mut self, series: u16) -> Run {
        std::mem::take(&mut self.runs[usize::from(series)])
    }
}

/// Returns the series of a job on a tree: of each task, one for each kind of operation.
fn names_of_tree(work: &TreeWork) -> Box<[Option<SeriesName>]> {
    let parts: Vec<&str> = match &work.activity {
        Activity::Format(_) => vec![""],
        Activity::Operations(tasks) => tasks.iter().map(|task| task.name.as_str()).collect(),
    };
    let of_part = |part: &str| OpKind::ALL.map(|op| Some(SeriesName { part: part.to_owned(), op }));
    parts.into_iter().flat_map(of_part).collect()
}
