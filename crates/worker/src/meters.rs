//! What a worker counts: one writer, any number of readers, no locks.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use hist::{LiveHistogram, Stats, Zeroed};
use plan::{Direction, IoPriority, Job};

use crate::series::Series;
use crate::touched::Touched;

/// Counters and histograms of one direction.
#[derive(Debug)]
pub struct DirMeters {
    /// Operations completed since the start, ramp included: for progress.
    pub n_ios_live: AtomicU64,
    /// Bytes moved since the start, ramp included: for progress.
    pub bytes_live: AtomicU64,
    /// Operations completed in the measured time.
    pub n_ios: AtomicU64,
    /// Bytes moved in the measured time.
    pub bytes: AtomicU64,
    /// Operations that moved fewer bytes than asked.
    pub n_short: AtomicU64,
    /// Operations given up because their file had ended.
    pub n_dropped: AtomicU64,
    /// Measured time with this direction, nanoseconds.
    pub runtime_ns: AtomicU64,
    /// From choice to submission.
    pub slat: LiveHistogram,
    /// From submission to completion.
    pub clat: LiveHistogram,
    /// From choice to completion.
    pub lat: LiveHistogram,
    /// From the intended start to completion; used under a rate only.
    pub response: LiveHistogram,
}

/// Latencies of the operations of one direction that had the same priority.
#[derive(Debug)]
pub struct PriorityMeters {
    /// Their priority.
    pub priority: IoPriority,
    /// From submission to completion.
    pub clat: Box<LiveHistogram>,
    /// From choice to completion.
    pub lat: Box<LiveHistogram>,
}

impl PriorityMeters {
    /// Returns those of a direction: the job's own priority first, then as the job lists them.
    /// None where all operations have the same.
    fn of(job: &Job, dir: Direction) -> Vec<PriorityMeters> {
        let shares = job.priority_shares(dir);
        let own = (!shares.is_empty()).then(|| job.process.priority());
        let mut meters: Vec<PriorityMeters> = Vec::new();
        for priority in own.into_iter().chain(shares.iter().map(|share| share.priority)) {
            if meters.iter().all(|known| known.priority != priority) {
                let (clat, lat) = (LiveHistogram::new(), LiveHistogram::new());
                meters.push(PriorityMeters { priority, clat, lat });
            }
        }
        meters
    }
}

/// Everything a worker counts.
#[derive(Debug)]
pub struct Meters {
    /// Per direction, indexed by [`Direction`].
    pub dirs: [DirMeters; 3],
    /// Latency of fsync, fdatasync and sync_file_range.
    pub sync: LiveHistogram,
    /// I/Os by occupancy at issue: 1, 2, 4, 8, 16, 32, 64 and more.
    pub depth_levels: [AtomicU64; 7],
    /// Submissions by size: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
    pub submit_batches: [AtomicU64; 7],
    /// Reaps by size, same classes.
    pub complete_batches: [AtomicU64; 7],
    /// Errors that did not end the job.
    pub n_errors: AtomicU64,
    /// Operations that were in flight when the last ones completed, these among them.
    pub n_in_flight: AtomicU64,
    /// Blocks found bad by verification.
    pub n_verify_errors: AtomicU64,
    /// When the measured time began or will begin, on the driver's clock; 0 before the start and
    /// `u64::MAX` while a ramp by bytes lasts.
    pub measured_since_ns: AtomicU64,
    /// Per part and kind of operation, where that is asked for.
    series: Option<Box<Series>>,
    /// Per direction and priority; only of jobs whose operations differ in it.
    priorities: Option<Box<[Vec<PriorityMeters>; 3]>>,
    /// The different blocks that were touched, if the plan does not determine them.
    touched: Option<Box<Touched>>,
}

// SAFETY: consists of atomic integers, histograms and optional boxes, for all of which zero bytes
// are valid: the boxes are absent then.
unsafe impl Zeroed for Meters {}

impl Meters {
    /// Returns counters at zero. Only pages that are counted in take memory.
    pub fn new() -> Arc<Self> {
        Self::zeroed()
    }

    /// Returns counters at zero for a worker of this job. It counts by series if the job has parts.
    pub fn of(job: &Job) -> Arc<Self> {
        Self::made_for(job, !job.parts.is_empty() || job.tree.is_some())
    }

    /// Returns counters at zero for a worker of this job that counts by series in any case.
    pub fn detailed(job: &Job) -> Arc<Self> {
        Self::made_for(job, true)
    }

    fn made_for(job: &Job, by_series: bool) -> Arc<Self> {
        let priorities = Direction::ALL.map(|dir| PriorityMeters::of(job, dir));
        let mut meters = Meters::new();
        if let Some(meters) = Arc::get_mut(&mut meters) {
            let differ = priorities.iter().any(|of_dir| !of_dir.is_empty());
            meters.priorities = differ.then(|| Box::new(priorities));
            meters.series = by_series.then(|| Box::new(Series::of(job)));
        }
        meters
    }

    /// Makes the worker count the different blocks that it touches.
    ///
    /// # Panics
    /// If they do already, or once they are shared: what counts is settled before they are read.
    #[must_use]
    pub fn counting(mut self: Arc<Self>, touched: Touched) -> Arc<Self> {
        let meters = Arc::get_mut(&mut self).expect("meters are made before they are shared");
        assert!(meters.touched.is_none(), "meters count different blocks once");
        meters.touched = Some(Box::new(touched));
        self
    }

    /// Returns the count of different blocks, where there is one.
    #[inline]
    pub fn touched(&self) -> Option<&Touched> {
        self.touched.as_deref()
    }

    /// Returns the counters by part and kind of operation, where there are any.
    #[inline]
    pub fn series(&self) -> Option<&Series> {
        self.series.as_deref()
    }

    /// Returns latencies by priority; empty where all operations of the direction have the same.
    pub fn priorities(&self, dir: Direction) -> &[PriorityMeters] {
        self.priorities.as_ref().map_or(&[], |dirs| &dirs[dir as usize])
    }

    /// Returns whether any direction counts by priority.
    #[inline]
    pub(crate) fn has_priorities(&self) -> bool {
        self.priorities.is_some()
    }

    /// Returns the counters of a direction.
    pub fn dir(&self, dir: Direction) -> &DirMeters {
        &self.dirs[dir as usize]
    }
}

/// Class of a batch size in [`Meters::submit_batches`].
#[inline]
pub(crate) fn batch_class(n: usize) -> usize {
    match n {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

/// Class of an occupancy in [`Meters::depth_levels`].
#[inline]
pub(crate) fn depth_class(n_in_flight: usize) -> usize {
    (n_in_flight.max(1).ilog2() as usize).min(6)
}

/// Records equal values in a row as one: within a batch all stamps are equal, so most latencies
/// are.
#[derive(Debug, Default)]
pub(crate) struct RunLength {
    value: u64,
    n: u64,
}

impl RunLength {
    #[inline]
    pub(crate) fn record(&mut self, value: u64, into: &LiveHistogram) {
        if value == self.value {
            self.n += 1;
        } else {
            self.flush(into);
            *self = RunLength { value, n: 1 };
        }
    }

    #[inline]
    pub(crate) fn flush(&mut self, into: &LiveHistogram) {
        match self.n {
            0 => {}
            1 => into.record(self.value),
            n => into.record_n(self.value, n),
        }
        self.n = 0;
    }
}

/// Bandwidth and IOPS of equal periods, as fio samples them: on the first completion after a
/// period has passed, over the time really passed; a direction without I/O gets no sample.
#[derive(Debug)]
pub(crate) struct Sampler {
    period_ns: u64,
    since_ns: u64,
    seen: [u64; 3],
    pub(crate) stats: [Stats; 3],
    unit: SampleUnit,
}

/// What a sample counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleUnit {
    /// KiB per second.
    KibPerSecond,
    /// Operations per second.
    Iops,
}

impl Sampler {
    pub(crate) fn new(period_ms: u32, unit: SampleUnit) -> Self {
        let period_ns = u64::from(period_ms).max(1) * 1_000_000;
        Sampler { period_ns, since_ns: 0, seen: [0; 3], stats: [Stats::new(); 3], unit }
    }

    /// Starts the first period.
    pub(crate) fn start(&mut self, now_ns: u64) {
        self.since_ns = now_ns;
    }

    /// Returns when the period has passed.
    pub(crate) fn due_ns(&self) -> u64 {
        self.since_ns.saturating_add(self.period_ns)
    }

    /// Takes samples if the period has passed.
    pub(crate) fn tick(&mut self, now_ns: u64, meters: &Meters) {
        if now_ns >= self.due_ns() {
            self.sample(now_ns, meters);
        }
    }

    fn sample(&mut self, now_ns: u64, meters: &Meters) {
        let passed_ms = ((now_ns - self.since_ns) / 1_000_000).max(1);
        for (idx, dir) in meters.dirs.iter().enumerate() {
            let total = match self.unit {
                SampleUnit::KibPerSecond => dir.bytes.load(Relaxed),
                SampleUnit::Iops => dir.n_ios.load(Relaxed),
            };
            let delta = total - self.seen[idx];
            self.seen[idx] = total;
            if delta > 0 {
                let per_second = u128::from(delta) * 1000 / u128::from(passed_ms);
                let per_second = match self.unit {
                    SampleUnit::KibPerSecond => per_second / 1024,
                    SampleUnit::Iops => per_second,
                };
                self.stats[idx].record(u64::try_from(per_second).unwrap_or(u64::MAX));
            }
        }
        self.since_ns = now_ns;
    }
}
