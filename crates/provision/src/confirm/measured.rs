//! What a run did on a volume: one load, or all loads of a step together.

use std::collections::BTreeMap;

use analysis::gates::StepSeries;
use analysis::stats::{BatchMeans, Interval};
use hist::Histogram;
use record::{JobRecord, Record};
use volume::design::Promised;

use super::Subject;

/// A load that was measured on a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Position of its run among those given.
    pub record_idx: usize,
    /// Step of the run.
    pub step_idx: u32,
    /// Mount of the volume, as the design has it.
    pub mount: String,
    /// Names of the jobs.
    pub jobs: Vec<String>,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Share of reads, 0 to 1.
    pub read_share: f64,
    /// Share of I/Os at random places, 0 to 1; `None` where the run does not say.
    pub random_share: Option<f64>,
    /// Mean response time under an open load, else service time, nanoseconds.
    pub latency_ns: Option<f64>,
    /// I/Os that were completed.
    pub n_ios: u64,
    /// Time in which they were, nanoseconds.
    pub runtime_ns: u64,
    /// I/Os per second that were offered; `None` of a closed load.
    pub offered_iops: Option<f64>,
    /// I/Os per second that a load without intended starts was held to, as fio does; `None`
    /// without such a rate.
    pub ceiling_iops: Option<f64>,
    /// I/Os in flight that were asked for.
    pub queue_depth: u32,
    /// Where the rate of its whole step lies; `None` of short runs, and beside other loads.
    pub interval: Option<Interval>,
    /// Everything that its step did is in it.
    pub is_whole_step: bool,
    /// Share of its reads that were of places read over and over, which any cache holds by then; 0
    /// where the run does not say how large its files are.
    pub repeated_share: f64,
}

/// How often on average a job reads what it reads for its reads to be of places that are in a
/// cache.
const REPEATS_MIN: f64 = 4.0;

/// By how much sizes of I/Os may differ: what the last, shorter one of a file makes of a mean.
const SIZE_DIFFERENCE_MAX: f64 = 0.02;

/// By how much shares of reads may differ.
const READ_DIFFERENCE_MAX: f64 = 0.03;

/// By how much shares of I/Os at random places may differ.
const RANDOM_DIFFERENCE_MAX: f64 = 0.1;

/// Probability with which an interval holds the rate.
const COVERAGE: f64 = 0.95;

/// Returns what a run did on the volumes of a design.
pub(super) fn of(subject: &Subject<'_>, record: &Record, record_idx: usize) -> Vec<Measured> {
    let mut groups: BTreeMap<(u32, &str), Vec<&JobRecord>> = BTreeMap::new();
    for job in &record.jobs {
        let mut mounts = job.targets.iter().map(|target| subject.mount_of(target));
        let Some(Some(mount)) = mounts.next() else { continue };
        if mounts.all(|other| other == Some(mount)) {
            groups.entry((job.step_idx, mount)).or_default().push(job);
        }
    }
    let mut all = Vec::new();
    for ((step_idx, mount), jobs) in groups {
        let one = |jobs: &[&JobRecord]| measured(record, (record_idx, step_idx), mount, jobs);
        let mut by_name: BTreeMap<&str, Vec<&JobRecord>> = BTreeMap::new();
        for job in &jobs {
            by_name.entry(&job.name).or_default().push(job);
        }
        all.extend(by_name.values().filter_map(|jobs| one(jobs)));
        if by_name.len() > 1 {
            // What is promised may be the sum of what several jobs do.
            all.extend(one(&jobs));
        }
    }
    all
}

fn measured(
    record: &Record,
    (record_idx, step_idx): (usize, u32),
    mount: &str,
    jobs: &[&JobRecord],
) -> Option<Measured> {
    let dirs = || jobs.iter().flat_map(|job| job.dirs.iter()).map(|(_, dir)| dir);
    let (mut iops, mut bytes_per_s, mut n_ios) = (0.0, 0.0, 0);
    for dir in dirs() {
        iops += dir.rate_iops();
        bytes_per_s += dir.rate_bytes();
        n_ios += dir.n_ios;
    }
    if n_ios == 0 {
        return None;
    }
    let weights = weights(jobs, record);
    let has_done = || dirs().filter(|dir| dir.n_ios > 0);
    let is_open = has_done().all(|dir| dir.response.is_some());
    let latencies = has_done().map(|dir| {
        let response = dir.response.as_ref().filter(|_| is_open);
        let service_ns = || dir.service_latency().mean_ns().or(dir.total_latency().mean_ns());
        let mean_ns = response.map_or_else(service_ns, Histogram::mean_ns);
        Some(mean_ns? * dir.n_ios as f64)
    });
    let offered = jobs.iter().map(|job| job.arrivals.as_ref().map(|it| it.offered_iops));
    let mut names: Vec<String> = jobs.iter().map(|job| job.name.clone()).collect();
    names.dedup();
    let of_step: Vec<&JobRecord> =
        record.jobs.iter().filter(|job| job.step_idx == step_idx).collect();
    let is_whole_step = of_step.len() == jobs.len();
    let random = jobs.iter().map(|job| random_share(job, record));
    let reads = jobs.iter().map(|job| Some(job.dirs.read.n_ios as f64 / job.n_ios() as f64));
    let depths = jobs.iter().map(|job| job.queue_depth.saturating_mul(job.n_workers.max(1)));
    Some(Measured {
        record_idx,
        step_idx,
        mount: mount.to_owned(),
        jobs: names,
        iops,
        bytes_per_s,
        read_share: mean_share(reads, &weights).unwrap_or(0.0),
        random_share: mean_share(random, &weights),
        latency_ns: latencies.sum::<Option<f64>>().map(|sum_ns| sum_ns / n_ios as f64),
        n_ios,
        runtime_ns: dirs().map(|dir| dir.runtime_ns).max().unwrap_or(0),
        offered_iops: offered.sum(),
        ceiling_iops: jobs.iter().map(|job| ceiling_iops(job, record)).sum(),
        queue_depth: depths.fold(0, u32::saturating_add),
        interval: interval(record, step_idx).filter(|_| is_whole_step),
        is_whole_step,
        repeated_share: repeated_share(jobs, &weights, record),
    })
}

/// Returns the share of reads by jobs that read all of their file several times; each job counts as
/// in the mix.
fn repeated_share(jobs: &[&JobRecord], weights: &[f64], record: &Record) -> f64 {
    let is_repeated = |job: &JobRecord| {
        let size = option(job, record, "size").and_then(|text| {
            units::fio::parse_size(text.trim(), units::fio::SizeRules::default()).ok()
        });
        size.is_some_and(|size| {
            size.value > 0 && job.dirs.read.io_bytes as f64 >= REPEATS_MIN * size.value as f64
        })
    };
    let (mut all, mut repeated) = (0.0, 0.0);
    for (job, weight) in jobs.iter().zip(weights) {
        let reads = weight * job.dirs.read.n_ios as f64 / job.n_ios().max(1) as f64;
        all += reads;
        repeated += if is_repeated(job) { reads } else { 0.0 };
    }
    if all > 0.0 { repeated / all } else { 0.0 }
}

/// Returns the interval of a step's rate, from its seconds.
fn interval(record: &Record, step_idx: u32) -> Option<Interval> {
    let series = StepSeries::of(record, step_idx);
    BatchMeans::of(&series.iops, COVERAGE).map(|batches| batches.interval)
}

/// Returns how much each job counts in the mix of a load: by the rate that it was asked for, where
/// all have one, since a volume that is overloaded may do more of one job than of another. Else by
/// what it did.
fn weights(jobs: &[&JobRecord], record: &Record) -> Vec<f64> {
    let asked = |job: &&JobRecord| {
        let offered = job.arrivals.as_ref().map(|it| it.offered_iops);
        offered.or_else(|| ceiling_iops(job, record)).filter(|_| job.n_ios() > 0)
    };
    let done = || jobs.iter().map(|job| job.n_ios() as f64).collect();
    jobs.iter().map(asked).collect::<Option<Vec<f64>>>().unwrap_or_else(done)
}

/// Returns the mean of the jobs' shares; `None` where one that counts is not known.
fn mean_share(shares: impl Iterator<Item = Option<f64>>, weights: &[f64]) -> Option<f64> {
    let counts = shares.zip(weights).filter(|(_, weight)| **weight > 0.0);
    let weighed = counts.map(|(share, weight)| Some(share? * weight));
    weighed.sum::<Option<f64>>().map(|sum| sum / weights.iter().sum::<f64>())
}

/// Returns an option of a job: what it says for itself stands before what holds for all.
fn option<'a>(job: &'a JobRecord, record: &'a Record, name: &str) -> Option<&'a str> {
    let mut all = job.options.iter().rev().chain(record.global_options.iter().rev());
    all.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Returns the share of a job's I/Os at random places, by its options.
fn random_share(job: &JobRecord, record: &Record) -> Option<f64> {
    if !option(job, record, "rw")?.starts_with("rand") {
        return Some(0.0);
    }
    let percent = option(job, record, "percentage_random");
    let percent = percent.map_or(Some(100.0), |text| text.split(',').next()?.parse().ok());
    percent.map(|percent: f64| percent / 100.0)
}

/// Returns the rate that a job's options hold it to, of all workers and directions that did I/O;
/// `None` where one of these has none. One number holds for each direction.
fn ceiling_iops(job: &JobRecord, record: &Record) -> Option<f64> {
    let rates: Vec<&str> = option(job, record, "rate_iops")?.split(',').collect();
    let of_dirs = job.dirs.iter().enumerate().filter(|(_, (_, dir))| dir.n_ios > 0);
    let rate = |idx: usize| {
        let text = if let [all] = rates.as_slice() { all } else { rates.get(idx)? };
        let rate = units::fio::parse_size(text.trim(), units::fio::SizeRules::default()).ok()?;
        (rate.value > 0).then_some(rate.value as f64)
    };
    let of_worker: f64 = of_dirs.map(|(idx, _)| rate(idx)).sum::<Option<f64>>()?;
    Some(of_worker * f64::from(job.n_workers.max(1)))
}

impl Measured {
    /// Returns the I/Os per second that it would have done at most, however fast the volume is;
    /// `None` where it was held to no rate.
    pub(super) fn held_to_iops(&self) -> Option<f64> {
        self.offered_iops.or(self.ceiling_iops)
    }

    /// Returns the jobs of its run that it is of.
    pub(super) fn own<'a>(&self, record: &'a Record) -> impl Iterator<Item = &'a JobRecord> {
        let is_own =
            |job: &&JobRecord| job.step_idx == self.step_idx && self.jobs.contains(&job.name);
        record.jobs.iter().filter(is_own)
    }

    /// Returns the mean bytes of an I/O.
    pub fn io_size_bytes(&self) -> f64 {
        self.bytes_per_s / self.iops
    }

    /// Returns whether it is the load of a promise, at whatever rate.
    pub(super) fn is_of(&self, promised: &Promised) -> bool {
        let sizes = self.io_size_bytes() / promised.io_size_bytes - 1.0;
        // Which I/O reads is drawn: three standard deviations are chance.
        let share = promised.read_share;
        let chance = 3.0 * (share * (1.0 - share) / self.n_ios as f64).sqrt();
        let reads = (self.read_share - share).abs();
        let random = self.random_share.map_or(0.0, |it| (it - promised.random_share).abs());
        self.mount == promised.volume
            && sizes.abs() <= SIZE_DIFFERENCE_MAX
            && reads <= READ_DIFFERENCE_MAX + chance
            && random <= RANDOM_DIFFERENCE_MAX
    }

    /// Says in what it differs from the load of a promise.
    pub(super) fn unlike(&self, promised: &Promised) -> String {
        format!(
            "`{}` had {}, not {}",
            self.jobs.join("`, `"),
            load(self.io_size_bytes(), self.read_share, self.random_share),
            load(promised.io_size_bytes, promised.read_share, Some(promised.random_share)),
        )
    }
}

/// Returns a load in words: `8 KiB, 70 % reads, random`.
pub fn load(size_bytes: f64, read_share: f64, random_share: Option<f64>) -> String {
    let size = units::format_bytes(size_bytes.round() as u64);
    let place = match random_share {
        None => String::new(),
        Some(share) if share >= 1.0 - RANDOM_DIFFERENCE_MAX => ", random".to_owned(),
        Some(share) if share <= RANDOM_DIFFERENCE_MAX => ", sequential".to_owned(),
        Some(share) => format!(", {} random", units::format_percent_whole(share)),
    };
    format!("{size}, {} reads{place}", units::format_percent_whole(read_share))
}
