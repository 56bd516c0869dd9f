//! What was done of one kind of operation, as a record counts it.

use std::collections::BTreeMap;

use hist::Histogram;
use record::{DirRecord, Figure, Figures, JobRecord, Latency};

/// A kind of operation of a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpName {
    /// Name of the part; empty where the job has none.
    pub part: String,
    /// `read`, `write`, `trim`, `sync`, or the name of a file operation such as `mkdir`.
    pub op: String,
}

/// What was done of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Operations completed in the measured time.
    pub n_ios: u64,
    /// Bytes moved.
    pub io_bytes: u64,
    /// Measured time, nanoseconds: of a difference that between its two states.
    pub runtime_ns: u64,
    /// From the choice of an operation to its completion.
    pub latency: Histogram,
    /// From the intended start to completion; empty without a rate.
    pub response: Histogram,
    /// Number and sum of the service times, nanoseconds.
    service: (u64, u128),
}

/// Returns the operations of which latencies are counted, where they are. Workers go on between the
/// looks at the two, so that the number counted beside them may be another; in the end it is not.
fn of_one_moment(n_ios: u64, latency: &Histogram) -> u64 {
    if latency.is_empty() { n_ios } else { latency.count() }
}

impl Counts {
    fn of_dir(dir: &DirRecord) -> Self {
        Counts {
            n_ios: of_one_moment(dir.n_ios, &dir.lat),
            io_bytes: dir.io_bytes,
            runtime_ns: dir.runtime_ns,
            latency: dir.lat.clone(),
            response: dir.response.clone().unwrap_or_default(),
            service: (dir.clat.count(), dir.clat.sum_ns()),
        }
    }

    /// Returns what each job did, by kind of operation, workers of a job together. A job that
    /// counts by part and kind has its operations so, others by direction.
    pub(crate) fn of_job(job: &JobRecord) -> BTreeMap<OpName, Counts> {
        let mut of_job = BTreeMap::new();
        let mut put = |part: &str, op: &str, counts: Counts| {
            if counts.n_ios > 0 {
                of_job.insert(OpName { part: part.to_owned(), op: op.to_owned() }, counts);
            }
        };
        let runtime_ns = job.dirs.iter().map(|(_, dir)| dir.runtime_ns).max().unwrap_or(0);
        if job.series.is_empty() {
            for (name, dir) in job.dirs.iter() {
                put("", name, Counts::of_dir(dir));
            }
        }
        for series in &job.series {
            put(
                &series.part,
                &series.op,
                Counts {
                    n_ios: of_one_moment(series.n_ios, &series.lat),
                    io_bytes: series.io_bytes,
                    runtime_ns,
                    latency: series.lat.clone(),
                    ..Counts::default()
                },
            );
        }
        let sync = job.sync.clone();
        put(
            "",
            "sync",
            Counts { n_ios: sync.count(), runtime_ns, latency: sync, ..Counts::default() },
        );
        of_job
    }

    /// Adds those of another worker, or of another host; the longer time counts.
    pub fn add(&mut self, other: &Counts) {
        self.n_ios = self.n_ios.saturating_add(other.n_ios);
        self.io_bytes = self.io_bytes.saturating_add(other.io_bytes);
        self.runtime_ns = self.runtime_ns.max(other.runtime_ns);
        self.latency.merge(&other.latency);
        self.response.merge(&other.response);
        self.service.0 = self.service.0.saturating_add(other.service.0);
        self.service.1 = self.service.1.saturating_add(other.service.1);
    }

    /// Returns what was done since an earlier state, in so much time. Adding it to that gives this.
    #[must_use]
    pub(crate) fn since(&self, earlier: &Counts, runtime_ns: u64) -> Counts {
        Counts {
            n_ios: self.n_ios.saturating_sub(earlier.n_ios),
            io_bytes: self.io_bytes.saturating_sub(earlier.io_bytes),
            runtime_ns,
            latency: self.latency.delta_since(&earlier.latency),
            response: self.response.delta_since(&earlier.response),
            service: (
                self.service.0.saturating_sub(earlier.service.0),
                self.service.1.saturating_sub(earlier.service.1),
            ),
        }
    }

    /// Returns rates and latencies, as a record's tables have them.
    pub fn figures(&self) -> Figures {
        self.figures_with(&self.latency)
    }

    /// Returns the same with the latencies that a user waited.
    pub(crate) fn waited_figures(&self) -> Figures {
        self.figures_with(self.waited())
    }

    fn figures_with(&self, latency: &Histogram) -> Figures {
        let per_second = |count: u64| count as f64 * 1e9 / self.runtime_ns as f64;
        let has_time = self.runtime_ns > 0;
        Figures::of(&Latency::Measured(latency))
            .with(Figure::Iops, has_time.then(|| per_second(self.n_ios)))
            .with(Figure::BytesPerS, has_time.then(|| per_second(self.io_bytes)))
    }

    /// Returns what a user waited: the response time under a rate, else the latency.
    pub fn waited(&self) -> &Histogram {
        if self.response.is_empty() { &self.latency } else { &self.response }
    }

    /// Returns how late operations were submitted after they were due, on average, nanoseconds;
    /// `None` without a rate, and where service times were not counted.
    pub fn start_delay_ns_mean(&self) -> Option<f64> {
        let (n, n_service) = (self.response.count(), self.service.0);
        let mean_ns = |sum_ns: u128, n: u64| sum_ns as f64 / n as f64;
        // Each its own mean: while workers go on, one may count an operation more than the other.
        let delay_ns = mean_ns(self.response.sum_ns(), n) - mean_ns(self.service.1, n_service);
        (n > 0 && n_service > 0).then(|| delay_ns.max(0.0))
    }
}
