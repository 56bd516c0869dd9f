//! What a run of a command line came to, thread by thread and target by target.

use hist::Histogram;
use record::{DirRecord, Interval, JobRecord, Record};

use super::command::TimeSpan;
use super::sites::sites;

/// A run of a time span.
pub(super) struct Measured<'a> {
    pub(super) record: &'a Record,
    /// Which step of the record it is.
    step_idx: u32,
    /// Measured time, seconds; 0 where nothing was measured.
    pub(super) seconds: f64,
    /// Threads in the order of the tool, each with its targets.
    pub(super) threads: Vec<Vec<OfTarget>>,
}

/// What a thread did to a target.
#[derive(Clone, Default)]
pub(super) struct OfTarget {
    /// As the command line has it.
    pub(super) path: String,
    /// Bytes of the file or device; 0 where it is not known.
    pub(super) size_bytes: u64,
    pub(super) read: Sum,
    pub(super) write: Sum,
}

/// What I/O of one direction, or of both, came to.
#[derive(Clone, Default)]
pub(super) struct Sum {
    pub(super) n_ios: u64,
    pub(super) n_bytes: u64,
    /// From submission to completion.
    pub(super) latency: Histogram,
    /// Deviation of IOPS from interval to interval, where it is known.
    pub(super) iops_stdev: Option<f64>,
}

/// Which I/O is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Total,
    Read,
    Write,
}

impl Section {
    pub(super) const ALL: [Section; 3] = units::all_of!(Section: Total, Read, Write);
}

impl Sum {
    fn of(dir: &DirRecord) -> Sum {
        Sum {
            n_ios: dir.n_ios,
            n_bytes: dir.io_bytes,
            // What one call submits and ends has its time in the total latency alone.
            latency: if dir.clat.is_empty() { dir.lat.clone() } else { dir.clat.clone() },
            iops_stdev: (dir.iops.n > 0).then_some(dir.iops.stdev),
        }
    }

    /// Adds other I/O. How the rates of both together vary is not known from those of each, unless
    /// one of them is nothing.
    fn add(&mut self, other: &Sum) {
        self.iops_stdev = match (self.n_ios, other.n_ios) {
            (_, 0) => self.iops_stdev,
            (0, _) => other.iops_stdev,
            (_, _) => None,
        };
        self.n_ios += other.n_ios;
        self.n_bytes += other.n_bytes;
        self.latency.merge(&other.latency);
    }

    /// Returns the mean of the latencies, milliseconds.
    pub(super) fn mean_ms(&self) -> f64 {
        self.latency.mean_ns().unwrap_or(0.0) / 1e6
    }

    /// Returns their deviation, milliseconds; none without I/O.
    pub(super) fn stdev_ms(&self) -> Option<f64> {
        (self.n_ios > 0).then(|| self.latency.stdev_ns().unwrap_or(0.0) / 1e6)
    }

    /// Returns the latency that this share of the I/Os stays within, milliseconds; none without
    /// I/O.
    pub(super) fn quantile_ms(&self, share: f64) -> Option<f64> {
        self.latency.quantile(share).map(|ns| ns as f64 / 1e6)
    }
}

impl OfTarget {
    pub(super) fn sum(&self, section: Section) -> Sum {
        match section {
            Section::Read => self.read.clone(),
            Section::Write => self.write.clone(),
            Section::Total => {
                let mut both = self.read.clone();
                both.add(&self.write);
                both
            }
        }
    }
}

impl<'a> Measured<'a> {
    /// Puts the jobs of a step of a record where its time span has them. `size_of` returns the
    /// bytes of a file or device.
    pub(super) fn of(
        time_span: &TimeSpan,
        step_idx: u32,
        record: &'a Record,
        size_of: &dyn Fn(&str) -> Option<u64>,
    ) -> Self {
        let of_step = || record.jobs.iter().filter(move |job| job.step_idx == step_idx);
        let mut jobs = of_step();
        let mut threads: Vec<Vec<OfTarget>> = Vec::new();
        for site in sites(time_span) {
            let command = site.command;
            let (n_rows, n_each) = if command.is_interlocked() && site.n_threads > 1 {
                (1, 1)
            } else if command.is_parallel.is_some() {
                (site.n_threads, site.queue_depth)
            } else {
                (site.n_threads, 1)
            };
            let names: Vec<&str> = site.targets.iter().map(|target| &*target.name).collect();
            let path = names.join(", ");
            for row_idx in 0..n_rows {
                let own: Vec<&JobRecord> = jobs.by_ref().take(n_each as usize).collect();
                let Some(first) = own.first() else { continue };
                let size_bytes = first.targets.first().and_then(|path| size_of(path));
                let size_bytes = size_bytes.or(command.end_bytes()).unwrap_or(0);
                let mut row = OfTarget { path: path.clone(), size_bytes, ..OfTarget::default() };
                for job in own {
                    row.read.add(&Sum::of(&job.dirs.read));
                    row.write.add(&Sum::of(&job.dirs.write));
                }
                // With -F each thread works on all targets.
                let known = threads.get_mut((site.thread_idx + row_idx) as usize);
                match known.filter(|_| command.n_threads.is_some()) {
                    Some(thread) => thread.push(row),
                    None => threads.push(vec![row]),
                }
            }
        }
        let seconds =
            |job: &JobRecord| job.runtime_ns as f64 / 1e9 / f64::from(job.n_workers.max(1));
        let seconds = of_step().map(seconds).fold(0.0, f64::max);
        Measured { record, step_idx, seconds, threads }
    }

    pub(super) fn targets(&self) -> impl Iterator<Item = &OfTarget> {
        self.threads.iter().flatten()
    }

    /// Returns what all threads did.
    pub(super) fn sum(&self, section: Section) -> Sum {
        let mut all = Sum::default();
        for target in self.targets() {
            all.add(&target.sum(section));
        }
        all.iops_stdev = self.iops_stdev(section);
        all
    }

    /// Returns the deviation of the rate of all threads, from one interval of the record to the
    /// next.
    fn iops_stdev(&self, section: Section) -> Option<f64> {
        let of = |it: &Interval| {
            let n_ios = match section {
                Section::Total => it.dirs.read.n_ios + it.dirs.write.n_ios,
                Section::Read => it.dirs.read.n_ios,
                Section::Write => it.dirs.write.n_ios,
            };
            n_ios as f64 * 1000.0 / it.length_ms as f64
        };
        let rates: Vec<f64> = self.intervals().map(of).collect();
        let n = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / n;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        (!rates.is_empty()).then(|| (squares / n).sqrt())
    }

    /// Iterates over the intervals of the measured time.
    pub(super) fn intervals(&self) -> impl Iterator<Item = &Interval> {
        let is_own = |it: &&Interval| it.step_idx == self.step_idx && !it.ramp && it.length_ms > 0;
        self.record.intervals.iter().filter(is_own)
    }

    /// Returns processor time of the workers in user mode and in the kernel, as shares of all
    /// processors in percent.
    pub(super) fn cpu_pct(&self) -> (f64, f64) {
        let all_ns = f64::from(self.record.host.n_cpus.max(1)) * self.seconds * 1e9;
        let pct = |of: fn(&JobRecord) -> u64| {
            let jobs = self.record.jobs.iter().filter(|job| job.step_idx == self.step_idx);
            let ns: u64 = jobs.map(of).sum();
            if all_ns > 0.0 { (100.0 * ns as f64 / all_ns).min(100.0) } else { 0.0 }
        };
        (pct(|job| job.cpu_user_ns), pct(|job| job.cpu_system_ns))
    }
}
