//! Which values of a job and of the one that was read back mean the same, though their texts
//! differ.

use plan::files::Size;
use plan::job::{Part, PartRegion};
use plan::load::{Arrivals, RatePeriods};
use plan::param::{Category, Param};
use plan::workload::{BlockSize, DEFAULT_SEED, Sequencer, Workload};
use plan::{Direction, Job, Step};

use super::super::run::{Run, Work};
use super::places::{luns, rate_of};
use super::processes;
use super::shares::{compress_ratio, rate_iops};
use super::words::comment;
use super::writer::WrittenJob;
use crate::translation::Translation;

/// What a step's jobs share.
pub(super) struct InStep<'a> {
    /// All jobs of the step that were written.
    pub(super) written: &'a [&'a WrittenJob],
    /// The step that was read back, and its run.
    pub(super) is_step: &'a Step,
    pub(super) run: &'a Run,
    pub(super) text: &'a str,
}

impl InStep<'_> {
    /// Returns the jobs that were read back for these storage definitions, in their order.
    pub(super) fn jobs_of(&self, storage: &[String]) -> Vec<&Job> {
        let of =
            |name: &String| self.is_step.jobs.iter().find(|job| processes::base(&job.name) == name);
        storage.iter().filter_map(of).collect()
    }

    /// Returns the job that was read back for a workload on files.
    pub(super) fn job_of_fwd(&self, name: &str) -> Option<&Job> {
        let Work::Files(work) = &self.run.work else { return None };
        let idx = work.fwds.iter().position(|fwd| fwd.name == name)?;
        self.is_step.jobs.get(idx)
    }

    fn jobs_read_back(&self, written: &WrittenJob) -> Vec<&Job> {
        if written.job.tree.is_some() {
            written.workloads.iter().filter_map(|name| self.job_of_fwd(name)).collect()
        } else {
            self.jobs_of(&written.storage)
        }
    }

    /// Says whether as much is in flight as the jobs on the same storage have together.
    fn is_depth_kept(&self, written: &WrittenJob) -> bool {
        let alike = self
            .written
            .iter()
            .filter(|it| written.storage.is_empty() || it.storage == written.storage);
        let alike = alike.filter(|it| it.job.tree.is_some() || written.job.tree.is_none());
        let was: u64 = match written.job.tree {
            Some(_) => in_flight(&written.job),
            None => alike.map(|it| in_flight(&it.job)).sum(),
        };
        was == self.jobs_read_back(written).into_iter().map(in_flight).sum::<u64>()
    }

    /// Says whether a job has the rate that it had, or none as before.
    fn is_rate_kept(&self, written: &WrittenJob, is_part: &Part) -> bool {
        let is_jobs = self.jobs_read_back(written);
        // With a rate of its own a workload has it on each of its files.
        let is: Option<f64> = match is_part.rate_iops {
            Some(_) => {
                let of = |job: &&Job| {
                    let parts = job.parts.iter().filter(|it| written.workloads.contains(&it.name));
                    parts.map(|it| it.rate_iops).sum::<Option<f64>>()
                };
                is_jobs.iter().map(of).sum()
            }
            None => is_jobs.iter().map(|job| job.load.rate_total_iops).sum(),
        };
        is_rate_near(rate_iops(&written.job), is)
    }

    /// Says whether a job makes the progress beside the others that it was to make.
    fn is_flow_kept(&self, written: &WrittenJob) -> bool {
        let Some(flow) = written.job.load.flow else {
            // A job with a rate of its own keeps its share by that, and one alone has all.
            let n_members = self.is_step.jobs.iter().filter(|job| job.load.flow.is_some()).count();
            return rate_iops(&written.job).is_some() || n_members <= 1;
        };
        let is_other = |it: &&&WrittenJob| it.job.load.flow.is_none_or(|other| other.id != flow.id);
        if self.written.iter().any(|it| is_other(&it)) {
            return false;
        }
        let weight = |job: &Job| {
            let each = job.load.flow.map_or(0.0, |flow| f64::from(flow.weight));
            each * f64::from(job.n_workers)
        };
        let was: f64 = self.written.iter().map(|it| weight(&it.job)).sum();
        let is: f64 = self.is_step.jobs.iter().map(weight).sum();
        let is_own: f64 = self.jobs_read_back(written).into_iter().map(weight).sum();
        is_near(weight(&written.job) / was, is_own / is)
    }
}

/// A job that was written and one that was read back for it, each without parts.
pub(super) struct Pair<'a> {
    pub(super) was: &'a Job,
    pub(super) is: &'a Job,
    pub(super) written: &'a WrittenJob,
    pub(super) is_part: &'a Part,
    pub(super) in_step: &'a InStep<'a>,
}

/// Says whether two texts of a parameter, which differ, mean the same for these jobs. What is not
/// named here does not.
pub(super) fn means_the_same(name: &str, it: &Pair<'_>) -> bool {
    let (was, is) = (it.was, it.is);
    let (old, new) = (&was.workload, &is.workload);
    let moves_at_random = effective_random_pct(was) > 0.0;
    let dirs: Vec<Direction> = was.issued_directions().collect();
    match name {
        "queue_depth" | "n_workers" => it.in_step.is_depth_kept(it.written),
        "file_names" | "directories" | "n_files" => has_same_files(it),
        "offset" | "size" | "file_size_bytes" => same_place(it),
        "access" => {
            let (drawn, drawn_is) = (old.drawn(), new.drawn());
            (drawn.read, drawn.write, drawn.trim) == (drawn_is.read, drawn_is.write, drawn_is.trim)
                && same_walk(was, is)
        }
        "random_pct" | "random_share_pct" => same_walk(was, is),
        "read_pct" | "read_share_pct" => (read_pct(was) - read_pct(is)).abs() < 0.011,
        "block_size_bytes"
        | "block_size_range"
        | "block_size_split"
        | "block_size_step_bytes"
        | "block_size_weights" => {
            dirs.iter().all(|dir| sizes(&old.block_size[*dir]) == sizes(&new.block_size[*dir]))
        }
        "block_align_bytes" => {
            let align =
                |it: &Workload, dir| it.block_align[dir].unwrap_or(it.block_size[dir].min());
            !moves_at_random || dirs.iter().all(|dir| align(old, *dir) == align(new, *dir))
        }
        "distribution" | "exponential_mean" | "power_exponent" => {
            let is_alike = |dir: &Direction| old.distribution[*dir] == new.distribution[*dir];
            !moves_at_random || dirs.iter().all(is_alike)
        }
        // Vdbench draws anew in each run, and here its seeds follow from names.
        "seed_repeats" => old.seed_varies,
        "seed" => old.seed == DEFAULT_SEED,
        "n_streams" => old.n_streams <= 1 && new.n_streams <= 1,
        "arrivals" | "even_gaps" => {
            let is_burst =
                |job: &Job| job.load.rate_periods.as_ref().is_some_and(|it| it.in_spikes);
            rate_iops(was).is_none()
                || was.load.arrivals == is.load.arrivals
                || (is_burst(was) && is.load.arrivals == Arrivals::Linear)
        }
        "rate" | "rate_iops" | "rate_total_iops" => it.in_step.is_rate_kept(it.written, it.is_part),
        "rate_periods" => {
            same_periods(was.load.rate_periods.as_ref(), is.load.rate_periods.as_ref())
        }
        "flow_id" | "flow_weight" | "flow_sleep_us" => {
            was.load.flow.is_none_or(|flow| flow.sleep_ns == 0)
                && it.in_step.is_flow_kept(it.written)
        }
        // What keeps shares of a rate keeps no progress.
        "flow_slack_ios" => was.load.flow.is_none() && it.in_step.is_flow_kept(it.written),
        "description" => {
            let text = was.description.as_deref().unwrap_or_default();
            it.in_step.text.contains(&format!(": {}\n", comment(text)))
        }
        // What is made where the job makes files is made; more would not be the same.
        "allow_create" => was.files.allow_create,
        "exec_before" => has(&it.in_step.is_step.exec_before, was.process.exec_before.as_deref()),
        "exec_after" => has(&it.in_step.is_step.exec_after, was.process.exec_after.as_deref()),
        "compress_pct" | "compress_ratio" => match (compress_ratio(was), compress_ratio(is)) {
            (Some(was), Some(is)) => (was - is).abs() < 0.011,
            // What others write is nothing to who only reads.
            (None, Some(_)) => !was.access().write,
            (Some(_) | None, None) => false,
        },
        _ => false,
    }
}

/// Says whether a value that did not come back may have a job write where it does not: every one
/// that says which files or which bytes, but for those that are known to say how alone.
pub(super) fn writes_elsewhere(job: &Job, param: &Param) -> bool {
    match param.category {
        Category::Target => match param.name {
            // With sizes of their own, a job's size is how much it moves.
            "size" => job.files.file_size_bytes.is_none(),
            // Vdbench leaves the first block of every device alone.
            "spare_first_block" => false,
            name => !HOW_FILES_ARE_USED.contains(&name),
        },
        Category::Workload => !HOW_BYTES_ARE_TAKEN.contains(&param.name),
        Category::Verify => param.name == "verify_only",
        Category::Zones | Category::Replay => true,
        Category::General
        | Category::Engine
        | Category::Load
        | Category::Time
        | Category::Buffers
        | Category::Process
        | Category::Report
        | Category::Logs
        | Category::Errors => false,
    }
}

/// Parameters of targets that say how files are opened, made and kept, not which.
const HOW_FILES_ARE_USED: [&str; 28] = [
    "allow_create",
    "atomic",
    "barrier_every",
    "buffered",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "direct",
    "end_fsync",
    "end_syncfs",
    "fadvise",
    "fallocate",
    "fdatasync_every",
    "file_service",
    "fsync_every",
    "fsync_on_close",
    "invalidate",
    "io_size",
    "lock_file",
    "n_open_files",
    "open_flag_bits",
    "overwrite",
    "pre_read",
    "sync",
    "sync_file_range",
    "unlink",
    "unlink_each_loop",
    "write_life",
];

/// Parameters of the workload that say in which order, how large and how often, within the same
/// bytes.
const HOW_BYTES_ARE_TAKEN: [&str; 35] = [
    "access",
    "block_align_bytes",
    "block_size_by_pattern",
    "block_size_bytes",
    "block_size_range",
    "block_size_split",
    "block_size_step_bytes",
    "block_size_weights",
    "distribution",
    "exponential_mean",
    "hit_area_bytes",
    "hit_area_read_pct",
    "hit_area_write_pct",
    "mix_cycle",
    "n_streams",
    "one_cursor",
    "power_exponent",
    "precondition_cache_bytes",
    "random_generator",
    "random_pct",
    "random_share_pct",
    "random_stride",
    "read_pct",
    "read_share_pct",
    "repeats_allowed",
    "seed",
    "seed_repeats",
    "sequencer",
    "sequential_pct",
    "soft_random_map",
    "trim_backlog",
    "trim_backlog_batch",
    "trim_pct",
    "trim_ranges",
    "write_pct",
];

/// Notes what does not come back of what a part has beside its workload.
pub(super) fn part_losses(was: &Part, is: &Part, to: &mut Translation) {
    let name = &was.name;
    if !same_region(was.region, is.region) {
        to.lose(format!("where on its target `{name}` works: {:?}", was.region));
    }
    if was.priority != is.priority {
        to.lose(format!("priority {} of `{name}`", was.priority));
    }
    let is_rate_kept = is_rate_near(was.rate_iops, is.rate_iops);
    if !is_rate_kept {
        to.lose(format!("the rate of `{name}` alone"));
    }
}

/// Returns a job without what names its file: its name, and what follows from that.
pub(super) fn without_file(job: &Job) -> Job {
    let mut job = job.clone();
    job.name.clear();
    job.files.names.clear();
    job.workload.seed = DEFAULT_SEED;
    job.group_id = 0;
    job
}

/// Says whether two figures are as near as two decimals, or a hundredth of a percent, can say.
fn is_rate_near(was: Option<f64>, is: Option<f64>) -> bool {
    match (was, is) {
        (None, None) => true,
        (Some(was), Some(is)) => is_near(was, is),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn is_near(was: f64, is: f64) -> bool {
    (was - is).abs() <= (was.abs() * 2e-3).max(0.011)
}

/// Returns how many I/Os or operations a job has in flight.
fn in_flight(job: &Job) -> u64 {
    let is_one = job.tree.is_some() || job.issues_one_at_a_time();
    let depth = if is_one { 1 } else { job.load.queue_depth };
    u64::from(depth) * u64::from(job.n_workers.max(1))
}

fn has_same_files(it: &Pair<'_>) -> bool {
    let files = &it.was.files;
    let is_jobs = it.in_step.jobs_of(&it.written.storage);
    let is: Vec<String> = is_jobs.iter().flat_map(|job| job.files.names.iter().cloned()).collect();
    files.directories.len() <= 1 && luns(&it.written.job) == is
}

/// Where a job works in each of its files: from here to there; without an end, to that of the file.
#[derive(Debug, PartialEq)]
enum Region {
    Bytes(u64, Option<u64>),
    Pct(f64, f64),
    /// Neither can say it.
    Other,
}

fn same_place(it: &Pair<'_>) -> bool {
    let files = &it.was.files;
    let is_one_size = files.file_size_bytes.is_none_or(|(min, max)| min == max);
    let has_two_sizes = files.file_size_bytes.is_some() && files.size.is_some();
    is_one_size && !has_two_sizes && region_of(it.was) == region_read_back(it)
}

fn region_of(job: &Job) -> Region {
    let files = &job.files;
    let n_files = if files.names.is_empty() { files.n_files } else { files.names.len() as u32 };
    let each = |bytes: u64| match files.file_size_bytes {
        Some((_, max)) => max,
        None if files.concatenate => bytes,
        None => bytes / u64::from(n_files.max(1)),
    };
    let own = files.file_size_bytes.map(|(_, max)| max);
    match (files.offset, files.size) {
        (Size::Bytes(from), None) => Region::Bytes(from, own.map(|bytes| from + bytes)),
        (Size::Bytes(from), Some(Size::Bytes(bytes))) => {
            Region::Bytes(from, Some(from.saturating_add(each(bytes))))
        }
        (Size::Percent(from), None) => Region::Pct(f64::from(from), 100.0),
        (Size::Bytes(0), Some(Size::Percent(to))) => Region::Pct(0.0, f64::from(to)),
        (Size::Percent(from), Some(Size::Percent(pct))) => {
            Region::Pct(f64::from(from), f64::from(from.saturating_add(pct).min(100)))
        }
        _ => Region::Other,
    }
}

fn region_read_back(it: &Pair<'_>) -> Region {
    let files = &it.is.files;
    // What was a part's is compared as such.
    let own = if it.written.job.parts.is_empty() { it.is_part.region } else { PartRegion::Whole };
    match (own, files.offset, files.size) {
        (PartRegion::Whole, Size::Bytes(from), None) => Region::Bytes(from, None),
        (PartRegion::Whole, Size::Bytes(from), Some(Size::Bytes(bytes))) => {
            Region::Bytes(from, Some(from.saturating_add(bytes)))
        }
        (PartRegion::Pct(from, to), Size::Bytes(0), _) => Region::Pct(from, to),
        _ => Region::Other,
    }
}

fn same_region(was: PartRegion, is: PartRegion) -> bool {
    match (was, is) {
        (PartRegion::Pct(from, to), PartRegion::Pct(is_from, is_to)) => {
            (from - is_from).abs() < 0.011 && (to - is_to).abs() < 0.011
        }
        _ => was == is,
    }
}

/// Returns how many of a job's I/Os read, percent. Rates of both directions go before the mix.
fn read_pct(job: &Job) -> f64 {
    let access = job.workload.access;
    let rates = (rate_of(job, Direction::Read), rate_of(job, Direction::Write));
    match (access.read, access.write) {
        (true, true) => match rates {
            (Some(read), Some(write)) if read + write > 0.0 => 100.0 * read / (read + write),
            _ => job.workload.read_pct,
        },
        (true, false) => 100.0,
        (false, _) => 0.0,
    }
}

/// Returns how many of a job's I/Os go to a place that is drawn, percent.
fn effective_random_pct(job: &Job) -> f64 {
    let workload = &job.workload;
    let dir = job.issued_directions().next().unwrap_or(Direction::Read);
    let pct = workload.random_pct[dir] / f64::from(workload.ios_per_draw.max(1));
    if workload.access.random { pct } else { 0.0 }
}

fn same_walk(was: &Job, is: &Job) -> bool {
    let workload = &was.workload;
    let pcts: Vec<f64> = was.issued_directions().map(|dir| workload.random_pct[dir]).collect();
    let is_one = pcts.windows(2).all(|pair| pair[0].total_cmp(&pair[1]).is_eq());
    let stays = workload.sequencer == Sequencer::Identical && workload.ios_per_draw > 1;
    (effective_random_pct(was) - effective_random_pct(is)).abs() < 0.011
        && (!workload.access.random || is_one)
        && !stays
        && workload.sequential_step_bytes == is.workload.sequential_step_bytes
}

/// Sizes with their shares, ten-thousandths of all; or all from here to there in steps.
#[derive(Debug, PartialEq)]
enum Sizes {
    Shares(Vec<(u32, u64)>),
    Steps(u32, u32, u32),
}

fn sizes(size: &BlockSize) -> Sizes {
    let shares = |parts: Vec<(u32, u64)>| {
        let total: u64 = parts.iter().map(|part| part.1).sum();
        let share = |weight: u64| (weight * 10_000 + total / 2) / total.max(1);
        Sizes::Shares(parts.into_iter().map(|(bytes, weight)| (bytes, share(weight))).collect())
    };
    match size {
        BlockSize::Fixed(bytes) => shares(vec![(*bytes, 1)]),
        BlockSize::Range { min, max } => Sizes::Steps(*min, *max, *min),
        BlockSize::Stepped { min, max, step } => Sizes::Steps(*min, *max, *step),
        BlockSize::Split(parts) => {
            shares(parts.iter().map(|(bytes, pct)| (*bytes, u64::from(*pct))).collect())
        }
        BlockSize::Weighted(parts) => {
            shares(parts.iter().map(|(bytes, weight)| (*bytes, u64::from(*weight))).collect())
        }
    }
}

fn same_periods(was: Option<&RatePeriods>, is: Option<&RatePeriods>) -> bool {
    let (Some(was), Some(is)) = (was, is) else { return false };
    let share = |periods: &RatePeriods, rate: f64| rate / periods.rate_max();
    was.in_spikes == is.in_spikes
        && was.periods.len() == is.periods.len()
        && was.periods.iter().zip(&is.periods).all(|(one, other)| {
            one.duration_ns == other.duration_ns
                && (share(was, one.rate) - share(is, other.rate)).abs() < 2e-3
        })
}

fn has(commands: &[String], command: Option<&str>) -> bool {
    command.is_some_and(|command| commands.iter().any(|it| it.contains(command)))
}
