//! Merging workers into the entry of their reporting group, by fio's rules.
//!
//! Counters and times are added, distributions merged without loss, `runtime_ns` of a direction is
//! the largest of the members. Name, thread id, start and description are those of the first
//! member, the options and what percentiles are shown those of the last. Samples of bandwidth and
//! IOPS are summed ([`Samples::merge_summing`]), which is what readers of fio's group output
//! expect.
//!
//! Facts: fio's HOWTO (`group_reporting`, `unified_rw_reporting`) and figures of real runs.

use hist::Histogram;

use crate::{
    ArrivalsRecord, ChangingRateRecord, DirRecord, IoPriorityRecord, JobRecord,
    LatencyTargetRecord, PerDirRecord, PriorityRecord, Samples, SeriesRecord,
};

/// Most targets named in one entry: enough to recognise it, whatever the number of workers.
pub const TARGETS_MAX: usize = 16;

/// Replaces the workers of each reporting group that ask for it by one entry.
///
/// `workers` are in the order of the plan; so are the entries, a group at the place of its first
/// member that asks. A worker that does not ask has its own entry. (fio adds an entry without name
/// where the first member does not ask and others do; none is added here.)
///
/// # Panics
/// If workers of a later step come before those of an earlier one.
pub fn group(workers: Vec<JobRecord>) -> Vec<JobRecord> {
    for pair in workers.windows(2) {
        let (step, next) = (pair[0].step_idx, pair[1].step_idx);
        assert!(step <= next, "a worker of step {next} comes behind one of step {step}");
    }
    let mut entries: Vec<JobRecord> = Vec::with_capacity(workers.len());
    // Where each group's first member went, by (step, group).
    let mut first_of = std::collections::BTreeMap::new();
    for worker in workers {
        if !worker.group_reporting {
            entries.push(worker);
            continue;
        }
        let first_idx =
            *first_of.entry((worker.step_idx, worker.group_id)).or_insert(entries.len());
        match entries.get_mut(first_idx) {
            Some(first) => first.merge(&worker),
            None => entries.push(worker),
        }
    }
    entries
}

impl JobRecord {
    /// Adds another member of the same reporting group.
    ///
    /// Order matters for the names: `self` stays the first member, `other` becomes the last. The
    /// first error of the members stays, and the search for a depth counts as met only if every
    /// member met it.
    ///
    /// # Panics
    /// If it is of another step.
    pub fn merge(&mut self, other: &JobRecord) {
        let (step, theirs) = (self.step_idx, other.step_idx);
        assert!(step == theirs, "workers of the steps {step} and {theirs} are no group");
        self.merge_load(other);
        self.n_workers = self.n_workers.saturating_add(other.n_workers);
        if self.error_errno == 0 {
            self.error_errno = other.error_errno;
            self.error_message.clone_from(&other.error_message);
        }
        self.options.clone_from(&other.options);
        self.queue_depth = self.queue_depth.max(other.queue_depth);
        for target in &other.targets {
            if self.targets.len() < TARGETS_MAX && !self.targets.contains(target) {
                self.targets.push(target.clone());
            }
        }
        let counters = [
            (&mut self.runtime_ns, other.runtime_ns),
            (&mut self.cpu_user_ns, other.cpu_user_ns),
            (&mut self.cpu_system_ns, other.cpu_system_ns),
            (&mut self.active_ns, other.active_ns),
            (&mut self.cpu_wait_ns, other.cpu_wait_ns),
            (&mut self.n_cpu_slices, other.n_cpu_slices),
            (&mut self.context_switches, other.context_switches),
            (&mut self.major_faults, other.major_faults),
            (&mut self.minor_faults, other.minor_faults),
            (&mut self.n_errors, other.n_errors),
        ];
        for (mine, theirs) in counters {
            *mine = mine.saturating_add(theirs);
        }
        self.merge_dirs(other);
        self.merge_series(other);
        self.sync.merge(&other.sync);
        if let Some(listed) = &other.sync_listed {
            self.sync_listed.get_or_insert_default().merge(listed);
        }
        add_each(&mut self.depth_levels, &other.depth_levels);
        add_each(&mut self.submit_batches, &other.submit_batches);
        add_each(&mut self.complete_batches, &other.complete_batches);
        self.latency_target = merge_targets(self.latency_target, other.latency_target);
        if self.steady.is_none() {
            self.steady.clone_from(&other.steady);
        }
        if let Some(caps) = &other.caps {
            self.caps.get_or_insert_default().merge(caps);
        }
        self.print.continue_on_error |= other.print.continue_on_error;
        let (print, last) = (&mut self.print, &other.print);
        print.percentiles.clone_from(&last.percentiles);
        // What is not measured has no percentiles.
        print.clat_percentiles = last.clat_percentiles && !last.disabled.clat;
        print.lat_percentiles = last.lat_percentiles && !last.disabled.lat;
        print.slat_percentiles = last.slat_percentiles && !last.disabled.slat;
    }

    /// Adds how full the queue was, and how an open load was kept up with. Before all else: it
    /// weighs by times and operations.
    fn merge_load(&mut self, other: &JobRecord) {
        self.in_flight_mean = self.in_flight_with(other);
        if self.is_direct != other.is_direct {
            // Some went through the page cache, or it is not known.
            let is_buffered = self.is_direct == Some(false) || other.is_direct == Some(false);
            self.is_direct = is_buffered.then_some(false);
        }
        self.polls |= other.polls;
        self.pauses |= other.pauses;
        self.lacks_cpu |= other.lacks_cpu;
        let n_ios = [self.n_ios() as f64, other.n_ios() as f64];
        self.arrivals = match (self.arrivals.take(), other.arrivals.clone()) {
            (Some(mine), Some(theirs)) => Some(mine.merged(&theirs, n_ios)),
            (mine, theirs) => mine.or(theirs),
        };
    }

    /// Returns the mean number in flight of both, over the mean of their times: then Little's law
    /// holds for the group where it holds for its workers, also where they ran for different times.
    fn in_flight_with(&self, other: &JobRecord) -> Option<f64> {
        let time = |job: &JobRecord| job.runtime_ns as f64 / f64::from(job.n_workers.max(1));
        let area = self.in_flight_mean? * time(self) + other.in_flight_mean? * time(other);
        let n_workers = f64::from(self.n_workers.max(1)) + f64::from(other.n_workers.max(1));
        let total_ns = self.runtime_ns.saturating_add(other.runtime_ns) as f64;
        Some(area * n_workers / total_ns).filter(|mean| mean.is_finite())
    }

    /// Adds the results by part and kind of operation, by name.
    fn merge_series(&mut self, other: &JobRecord) {
        for theirs in &other.series {
            let of_same =
                |mine: &&mut SeriesRecord| mine.part == theirs.part && mine.op == theirs.op;
            match self.series.iter_mut().find(of_same) {
                Some(mine) => mine.merge(theirs),
                None => self.series.push(theirs.clone()),
            }
        }
    }

    /// Returns all directions as one (`unified_rw_reporting=mixed`).
    pub fn mixed(&self) -> DirRecord {
        let mut mixed = DirRecord::default();
        let by_priority = self.has_priorities();
        for (_, dir) in self.dirs.iter() {
            mixed.merge(dir);
            if by_priority && dir.priorities.is_empty() {
                mixed.add_priorities(&dir.as_one_priority(self.io_priority));
            }
        }
        mixed
    }

    /// Adds what another worker did, direction by direction. Where operations differ in their
    /// priority, within a worker or between the two, latencies are kept by priority from then on.
    fn merge_dirs(&mut self, other: &JobRecord) {
        let by_priority = self.has_priorities()
            || other.has_priorities()
            || self.io_priority != other.io_priority;
        let mine = [&mut self.dirs.read, &mut self.dirs.write, &mut self.dirs.trim];
        for (mine, (_, theirs)) in mine.into_iter().zip(other.dirs.iter()) {
            if by_priority && mine.priorities.is_empty() {
                mine.priorities = mine.as_one_priority(self.io_priority);
            }
            mine.merge(theirs);
            if by_priority && theirs.priorities.is_empty() {
                mine.add_priorities(&theirs.as_one_priority(other.io_priority));
            }
        }
    }

    fn has_priorities(&self) -> bool {
        self.dirs.iter().any(|(_, dir)| !dir.priorities.is_empty())
    }

    /// Returns the bytes moved in all directions.
    pub fn io_bytes(&self) -> u64 {
        self.dirs.iter().fold(0, |sum, (_, dir)| sum.saturating_add(dir.io_bytes))
    }

    /// Returns the operations completed in all directions.
    pub fn n_ios(&self) -> u64 {
        self.dirs.iter().fold(0, |sum, (_, dir)| sum.saturating_add(dir.n_ios))
    }
}

impl ArrivalsRecord {
    /// Adds those of another worker; `n_ios` are the operations of both.
    fn merged(&self, other: &ArrivalsRecord, n_ios: [f64; 2]) -> ArrivalsRecord {
        let delays = self.start_delay_ns_mean.zip(other.start_delay_ns_mean);
        let total = n_ios[0] + n_ios[1];
        ArrivalsRecord {
            offered_iops: self.offered_iops + other.offered_iops,
            spacing: self.spacing.clone(),
            n_late: self.n_late.saturating_add(other.n_late),
            backlog_start: self.backlog_start.saturating_add(other.backlog_start),
            backlog_end: self.backlog_end.saturating_add(other.backlog_end),
            start_delay_ns_mean: delays
                .filter(|_| total > 0.0)
                .map(|(mine, theirs)| (mine * n_ios[0] + theirs * n_ios[1]) / total),
            changing: match (self.changing, other.changing) {
                (Some(mine), Some(theirs)) => Some(mine.merged(theirs)),
                (mine, theirs) => mine.or(theirs),
            },
        }
    }
}

impl ChangingRateRecord {
    /// Adds that of another worker: what one of them could not follow was not followed.
    fn merged(self, other: ChangingRateRecord) -> ChangingRateRecord {
        let since_ns = [self.behind_since_ns, other.behind_since_ns];
        ChangingRateRecord {
            delay_ns_max: self.delay_ns_max.max(other.delay_ns_max),
            behind_since_ns: since_ns.into_iter().flatten().min(),
        }
    }
}

/// Names of the directions, in the order in which every output lists them.
pub const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

impl<T> PerDirRecord<T> {
    /// Iterates over the values with their names, in the order in which every output lists them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &T)> {
        let PerDirRecord { read, write, trim } = self;
        DIRECTIONS.into_iter().zip([read, write, trim])
    }
}

impl DirRecord {
    /// Adds what another worker did in the same direction, or the same worker in another one.
    pub fn merge(&mut self, other: &DirRecord) {
        let counters = [
            (&mut self.io_bytes, other.io_bytes),
            (&mut self.n_ios, other.n_ios),
            (&mut self.short_ios, other.short_ios),
            (&mut self.dropped_ios, other.dropped_ios),
        ];
        for (mine, theirs) in counters {
            *mine = mine.saturating_add(theirs);
        }
        self.runtime_ns = self.runtime_ns.max(other.runtime_ns);
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        if let Some(response) = &other.response {
            self.response.get_or_insert_with(Histogram::new).merge(response);
        }
        if let Some(listed) = &other.listed {
            self.listed.get_or_insert_default().merge(listed);
        }
        self.add_priorities(&other.priorities);
        self.bandwidth_kib_s.merge_summing(&other.bandwidth_kib_s);
        self.iops.merge_summing(&other.iops);
        for (errno, n) in &other.errors {
            let count = self.errors.entry(*errno).or_default();
            *count = count.saturating_add(*n);
        }
    }

    fn add_priorities(&mut self, others: &[PriorityRecord]) {
        for other in others {
            match self.priorities.iter_mut().find(|mine| mine.priority == other.priority) {
                Some(mine) => {
                    mine.clat.merge(&other.clat);
                    mine.lat.merge(&other.lat);
                }
                None => self.priorities.push(other.clone()),
            }
        }
    }

    /// Returns the latencies as those of one priority; nothing where nothing was done.
    fn as_one_priority(&self, priority: IoPriorityRecord) -> Vec<PriorityRecord> {
        if self.n_ios == 0 {
            return Vec::new();
        }
        vec![PriorityRecord { priority, clat: self.clat.clone(), lat: self.lat.clone() }]
    }

    /// Returns operations per second over the direction's runtime; 0 without runtime.
    pub fn rate_iops(&self) -> f64 {
        per_second(self.n_ios, self.runtime_ns)
    }

    /// Returns bytes per second over the direction's runtime; 0 without runtime.
    pub fn rate_bytes(&self) -> f64 {
        per_second(self.io_bytes, self.runtime_ns)
    }
}

impl SeriesRecord {
    /// Adds the operations of the same kind and part that another worker did.
    ///
    /// # Panics
    /// If they are of another part or kind.
    pub fn merge(&mut self, other: &SeriesRecord) {
        let (part, op) = (&self.part, &self.op);
        let is_same = *part == other.part && *op == other.op;
        assert!(is_same, "`{}` of `{}` is no `{op}` of `{part}`", other.op, other.part);
        self.n_ios = self.n_ios.saturating_add(other.n_ios);
        self.n_failed = self.n_failed.saturating_add(other.n_failed);
        self.io_bytes = self.io_bytes.saturating_add(other.io_bytes);
        self.lat.merge(&other.lat);
    }
}

impl Samples {
    /// Adds the samples of another member as if both had been taken at the same moments.
    ///
    /// Number, minimum, maximum, mean and squared deviation are each summed, as fio does for
    /// groups. Wrong as statistics: the mean is right only while all members run.
    pub fn merge_summing(&mut self, other: &Samples) {
        let squares = self.squares() + other.squares();
        self.n = self.n.saturating_add(other.n);
        self.min = self.min.saturating_add(other.min);
        self.max = self.max.saturating_add(other.max);
        self.mean += other.mean;
        self.stdev = if self.n < 2 { 0.0 } else { (squares / (self.n - 1) as f64).sqrt() };
    }

    /// Returns the sum of squared deviations from the mean.
    fn squares(&self) -> f64 {
        self.stdev * self.stdev * self.n.saturating_sub(1) as f64
    }
}

impl From<hist::Stats> for Samples {
    fn from(stats: hist::Stats) -> Self {
        Samples {
            n: stats.n_samples(),
            min: stats.min(),
            max: stats.max(),
            mean: stats.mean(),
            stdev: stats.stdev(),
        }
    }
}

fn merge_targets(
    mine: Option<LatencyTargetRecord>,
    theirs: Option<LatencyTargetRecord>,
) -> Option<LatencyTargetRecord> {
    let (Some(mine), Some(theirs)) = (mine, theirs) else { return mine.or(theirs) };
    Some(LatencyTargetRecord { met: mine.met && theirs.met, ..mine })
}

fn add_each(mine: &mut [u64], theirs: &[u64]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine = mine.saturating_add(*theirs);
    }
}

fn per_second(count: u64, runtime_ns: u64) -> f64 {
    if runtime_ns == 0 { 0.0 } else { count as f64 * 1e9 / runtime_ns as f64 }
}
