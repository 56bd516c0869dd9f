//! From what a worker counted to its entry in the record.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use hist::{Histogram, Stats};
use plan::load::Arrivals as Spacing;
use plan::report::Unified;
use plan::tree::{Activity, TreeWork};
use plan::{Direction, EngineKind, EngineQueue, EngineWork, IoPriority, Job, PerDir};
use record::job::DisabledRecord;
use record::{
    ArrivalsRecord, ChangingRateRecord, DirRecord, EngineQueueRecord, EngineRecord,
    IoPriorityRecord, JobRecord, LatencyTargetRecord, OfUnitRecord, PerDirRecord, PriorityRecord,
    Samples, SeriesRecord,
};
use units::system_text;
use worker::{
    ArrivalCounts, Failure, FailureKind, Meters, Series, SeriesMeters, SeriesName, offered_iops,
};

use crate::bind::BoundWorker;
use crate::tree;
use crate::verify_check::BadBlocks;
use crate::worker_event::WorkerResult;

/// Targets listed per entry: enough to recognise a job, not the thousand files of a large one.
const N_TARGETS_MAX: usize = 16;

/// Everything known about a worker that has ended, or never started.
pub(crate) struct Ended<'a> {
    pub(crate) bound: &'a BoundWorker,
    pub(crate) meters: &'a Meters,
    pub(crate) step_idx: u32,
    /// Unix time of the run's clock zero, milliseconds.
    pub(crate) zero_unix_ms: u64,
    pub(crate) result: Option<&'a WorkerResult>,
    /// Why it could not start.
    pub(crate) setup_error: Option<(i32, String)>,
    /// What it does in a tree of files, if it got as far as to be given one.
    pub(crate) tree: Option<&'a TreeWork>,
    /// It works on emulated volumes.
    pub(crate) is_emulated: bool,
    /// Its files were made and it was not meant to run.
    pub(crate) created_only: bool,
}

/// Makes the record of one worker.
pub(crate) fn job_record(ended: &Ended<'_>) -> JobRecord {
    let job = &ended.bound.job;
    let (error_errno, error_message) = error_of(ended);
    let result = ended.result;
    let usage = result.map(|result| result.usage).unwrap_or_default();
    let counts = |counters: &[std::sync::atomic::AtomicU64; 7]| {
        std::array::from_fn(|idx| counters[idx].load(Relaxed))
    };
    let dirs = PerDirRecord {
        read: dir_record(ended, Direction::Read),
        write: dir_record(ended, Direction::Write),
        trim: dir_record(ended, Direction::Trim),
    };
    JobRecord {
        name: job.name.clone(),
        description: job.description.clone(),
        step_idx: ended.step_idx,
        group_id: job.group_id,
        n_workers: 1,
        group_reporting: job.reporting.group_reporting,
        pid: result.map_or(0, |result| result.tid),
        started_unix_ms: ended.zero_unix_ms
            + result.map_or(0, |result| result.started_ns / 1_000_000),
        error_errno,
        error_message,
        options: job.options.clone(),
        engine: job.engine.name.clone(),
        engine_used: result.map_or_else(String::new, |result| result.engine_used.clone()),
        engine_traits: Some(engine_record(job.engine.kind)),
        queue_depth: job.load.queue_depth,
        in_flight_mean: result.and_then(in_flight_mean),
        arrivals: result.and_then(|result| arrivals(ended, &dirs, result)),
        of_unit: of_unit(job),
        is_direct: is_direct(ended),
        pauses: job.load.think.pause_ns > 0,
        polls: ended.is_emulated || job.engine.poll || job.load.complete_min == Some(0),
        seed: ended.bound.seed,
        targets: targets(ended.bound),
        runtime_ns: result.map_or(0, |result| result.ended_ns.saturating_sub(result.measured_ns)),
        // One that never ended, but measured, lacks it: see `record_now`.
        lacks_cpu: false,
        cpu_user_ns: usage.user_ns,
        cpu_system_ns: usage.system_ns,
        active_ns: result.map_or(0, |result| result.ended_ns.saturating_sub(result.started_ns)),
        cpu_wait_ns: usage.cpu_wait_ns,
        n_cpu_slices: usage.n_cpu_slices,
        context_switches: usage.context_switches,
        major_faults: usage.major_faults,
        minor_faults: usage.minor_faults,
        io_priority: priority_record(job.process.priority()),
        dirs,
        series: series(ended),
        sync: ended.meters.sync.snapshot(),
        sync_listed: None,
        depth_levels: counts(&ended.meters.depth_levels),
        submit_batches: counts(&ended.meters.submit_batches),
        complete_batches: counts(&ended.meters.complete_batches),
        n_errors: ended.meters.n_errors.load(Relaxed),
        latency_target: result.and_then(latency_target),
        steady: None,
        caps: result.and_then(|result| result.caps.clone()),
        print: print_record(job),
    }
}

/// Returns what verdicts ask of an engine.
fn engine_record(kind: EngineKind) -> EngineRecord {
    let queue = match kind.traits().queue {
        EngineQueue::OneByOne => EngineQueueRecord::OneByOne,
        EngineQueue::Kernel => EngineQueueRecord::Kernel,
        EngineQueue::Own => EngineQueueRecord::Own,
    };
    EngineRecord { is_idle: kind.is_idle(), queue }
}

/// Returns what the workers of a job are processes of; of none that lays out files.
fn of_unit(job: &Job) -> Option<OfUnitRecord> {
    let work = job.tree.as_ref()?;
    let own = work.tree.own.as_ref()?;
    match work.activity {
        Activity::Operations(_) => {}
        Activity::Format(_) => return None,
    }
    let n_workers = job.n_workers.max(1);
    Some(OfUnitRecord {
        unit: own.unit.clone(),
        n_units: n_workers / own.n_per_unit.max(1),
        rate: job.load.rate_total_iops.map(|rate| rate / f64::from(n_workers)),
    })
}

/// Returns the mean number of operations in flight, over the same time as rates and latencies: what
/// passes between the worker's last look at the clock and this thread's must not look like a gap.
fn in_flight_mean(result: &WorkerResult) -> Option<f64> {
    let time_ns = result.ended_ns.saturating_sub(result.measured_ns);
    let in_flight_ns = result.in_flight_ns.filter(|_| time_ns > 0)?;
    Some(in_flight_ns as f64 / time_ns as f64)
}

/// Returns how an open load was kept up with; `None` where not all operations have a rate.
fn arrivals(
    ended: &Ended<'_>,
    dirs: &PerDirRecord<DirRecord>,
    result: &WorkerResult,
) -> Option<ArrivalsRecord> {
    let block_bytes = |dir: &DirRecord| dir.io_bytes as f64 / dir.n_ios as f64;
    let block_bytes = PerDir {
        read: block_bytes(&dirs.read),
        write: block_bytes(&dirs.write),
        trim: block_bytes(&dirs.trim),
    };
    let job = &ended.bound.job;
    let ArrivalCounts { n_late, backlog_start, backlog_end, delay_ns_max, behind_since_ns } =
        result.kept;
    let changing = ChangingRateRecord { delay_ns_max, behind_since_ns };
    Some(ArrivalsRecord {
        offered_iops: offered_iops(job, block_bytes, offered_ns(job, result))?,
        spacing: match job.load.arrivals {
            Spacing::Linear => "even",
            Spacing::Poisson => "poisson",
            Spacing::Uniform => "uniform",
        }
        .to_owned(),
        n_late,
        backlog_start,
        backlog_end,
        start_delay_ns_mean: start_delay_ns(dirs),
        changing: job.load.rate_periods.is_some().then_some(changing),
    })
}

/// Returns between which moments operations were due in the measured time, nanoseconds after the
/// start of a job: until its time was over, whatever was in flight then.
fn offered_ns(job: &Job, result: &WorkerResult) -> (u64, u64) {
    let after_ns = |at_ns: u64| at_ns.saturating_sub(result.started_ns);
    let from_ns = after_ns(result.measured_ns);
    let to_ns =
        job.limits.runtime_ns.map_or(u64::MAX, |runtime_ns| from_ns.saturating_add(runtime_ns));
    (from_ns, to_ns.min(after_ns(result.ended_ns)))
}

/// Returns the mean time from when operations were due to their submission.
fn start_delay_ns(dirs: &PerDirRecord<DirRecord>) -> Option<f64> {
    let (mut n_ios, mut delay_ns) = (0, 0.0);
    for (_, dir) in dirs.iter() {
        let Some(response) = dir.response.as_ref().filter(|response| !response.is_empty()) else {
            continue;
        };
        if dir.clat.count() != response.count() {
            return None;
        }
        n_ios += response.count();
        delay_ns += response.sum_ns() as f64 - dir.clat.sum_ns() as f64;
    }
    (n_ios > 0).then(|| delay_ns.max(0.0) / n_ios as f64)
}

/// Returns whether I/O went past this host's page cache; `None` for what moves no bytes.
fn is_direct(ended: &Ended<'_>) -> Option<bool> {
    let job = &ended.bound.job;
    match job.engine.kind.traits().work {
        EngineWork::Nothing | EngineWork::ServerBytes => Some(true),
        EngineWork::Space(_) | EngineWork::Names(_) => ended.is_emulated.then_some(true),
        EngineWork::MappedBytes => Some(ended.is_emulated),
        EngineWork::Bytes => Some(ended.is_emulated || job.files.direct),
    }
}

fn targets(bound: &BoundWorker) -> Vec<String> {
    if let Some(work) = &bound.job.tree {
        return vec![work.tree.anchor.clone()];
    }
    let paths = bound.files.iter().take(N_TARGETS_MAX);
    paths.map(|file| file.path.display().to_string()).collect()
}

/// Returns whether operations of a direction are due at times of their own.
pub(crate) fn has_rate(job: &Job, dir: Direction) -> bool {
    let load = &job.load;
    load.rate[dir].is_some()
        || load.rate_total_iops.is_some()
        || job.parts.iter().any(|part| part.rate_iops.is_some())
}

fn dir_record(ended: &Ended<'_>, dir: Direction) -> DirRecord {
    let meters = ended.meters.dir(dir);
    let has_rate = has_rate(&ended.bound.job, dir);
    let samples = ended.result.map(|result| result.samples).unwrap_or_default();
    let errors: BTreeMap<i32, u64> = ended.result.map_or_else(BTreeMap::new, |result| {
        let of_dir = result.errors.iter().filter(|entry| entry.0 == Some(dir));
        of_dir.map(|(_, errno, n)| (errno, n)).collect()
    });
    let snapshot = |hist: &hist::LiveHistogram, wanted: bool| {
        if wanted { hist.snapshot() } else { Histogram::new() }
    };
    // A synchronous engine submits and completes in one call: there is no submission to measure.
    let has_slat = ended.bound.job.has_submission_latency();
    DirRecord {
        io_bytes: meters.bytes.load(Relaxed),
        n_ios: meters.n_ios.load(Relaxed),
        short_ios: meters.n_short.load(Relaxed),
        dropped_ios: meters.n_dropped.load(Relaxed),
        runtime_ns: meters.runtime_ns.load(Relaxed),
        slat: snapshot(&meters.slat, has_slat),
        clat: snapshot(&meters.clat, true),
        lat: snapshot(&meters.lat, true),
        response: has_rate.then(|| meters.response.snapshot()),
        listed: None,
        priorities: meters_by_priority(ended.meters, dir),
        bandwidth_kib_s: samples_of(&samples[0][dir as usize]),
        iops: samples_of(&samples[1][dir as usize]),
        errors,
    }
}

/// Returns the results by part and kind of operation, of jobs whose operations differ in them.
fn series(ended: &Ended<'_>) -> Vec<SeriesRecord> {
    let job = &ended.bound.job;
    if job.parts.is_empty() && job.tree.is_none() {
        return Vec::new();
    }
    let occurs = |meters: &SeriesMeters| {
        job.tree.is_none() || meters.n_ios.load(Relaxed) > 0 || meters.n_failed.load(Relaxed) > 0
    };
    let of_series = |(name, meters): (&SeriesName, &SeriesMeters)| SeriesRecord {
        part: name.part.clone(),
        op: name.op.name().to_owned(),
        n_ios: meters.n_ios.load(Relaxed),
        n_failed: meters.n_failed.load(Relaxed),
        io_bytes: meters.bytes.load(Relaxed),
        lat: meters.lat.snapshot(),
    };
    let all = ended.meters.series().into_iter().flat_map(Series::iter);
    all.filter(|series| occurs(series.1)).map(of_series).collect()
}

fn meters_by_priority(meters: &Meters, dir: Direction) -> Vec<PriorityRecord> {
    let records = meters.priorities(dir).iter().map(|meters| PriorityRecord {
        priority: priority_record(meters.priority),
        clat: meters.clat.snapshot(),
        lat: meters.lat.snapshot(),
    });
    records.collect()
}

fn priority_record(priority: IoPriority) -> IoPriorityRecord {
    IoPriorityRecord { class: priority.class(), level: priority.level(), hint: priority.hint() }
}

fn samples_of(stats: &Stats) -> Samples {
    Samples {
        n: stats.n_samples(),
        min: stats.min(),
        max: stats.max(),
        mean: stats.mean(),
        stdev: stats.stdev(),
    }
}

fn latency_target(result: &WorkerResult) -> Option<LatencyTargetRecord> {
    let (target, queue_depth) = result.latency_target?;
    Some(LatencyTargetRecord {
        target_ns: target.target_ns,
        window_ns: target.window_ns,
        percentile: target.percentile,
        queue_depth,
        met: queue_depth > 0,
    })
}

fn print_record(job: &Job) -> record::job::PrintRecord {
    let reporting = &job.reporting;
    record::job::PrintRecord {
        percentiles: reporting.percentiles.clone(),
        clat_percentiles: reporting.clat_percentiles,
        lat_percentiles: reporting.lat_percentiles,
        slat_percentiles: reporting.slat_percentiles,
        unified: match reporting.unified {
            Unified::Separate => "none",
            Unified::Mixed => "mixed",
            Unified::Both => "both",
        }
        .to_owned(),
        significant_figures: reporting.significant_figures,
        kb_base: reporting.kb_base,
        unit_base: reporting.unit_base,
        disabled: DisabledRecord {
            slat: reporting.disable_slat,
            clat: reporting.disable_clat,
            lat: reporting.disable_lat,
            bandwidth: reporting.disable_bandwidth,
            disk_util: !reporting.disk_util,
        },
        continue_on_error: {
            let errors = &job.errors;
            let ignores = errors.ignored_errno.iter().any(|numbers| !numbers.is_empty());
            ignores || errors.continue_read || errors.continue_write || errors.continue_verify
        },
    }
}

/// Returns error number and message; 0 and nothing if all went well.
fn error_of(ended: &Ended<'_>) -> (i32, String) {
    if let Some((errno, message)) = &ended.setup_error {
        return (*errno, message.clone());
    }
    let Some(result) = ended.result else {
        if ended.created_only {
            return (0, String::new());
        }
        return (libc::ECANCELED, "not started".to_owned());
    };
    if let Some(error) = &result.engine_error {
        return (error.errno().unwrap_or(libc::EIO), error.to_string());
    }
    match &result.failure {
        Some(failure) => (failure.errno, failure_text(ended, failure, &result.bad_blocks)),
        None => ignored_error(ended, result),
    }
}

/// Returns the first error that did not end the job, with how many there were.
fn ignored_error(ended: &Ended<'_>, result: &WorkerResult) -> (i32, String) {
    let Some(errno) = result.first_ignored_errno else { return (0, String::new()) };
    let n_errors = ended.meters.n_errors.load(Relaxed);
    let first = system_text(std::io::Error::from_raw_os_error(errno));
    let fails = ended.bound.job.errors.fails_in_the_end;
    let how = if fails { "nothing more is run" } else { "the job went on" };
    (errno, format!("{n_errors} I/Os failed and {how}; the first error: {first}"))
}

fn failure_text(ended: &Ended<'_>, failure: &Failure, bad_blocks: &BadBlocks) -> String {
    let bound = ended.bound;
    if let Some(work) = ended.tree.or(bound.job.tree.as_ref()) {
        return tree::failure_text(work, failure);
    }
    let errno_text = system_text(std::io::Error::from_raw_os_error(failure.errno));
    let Some(op) = failure.op else {
        return match failure.kind {
            FailureKind::RateBelowMinimum => {
                "the rate fell below `rate_min` or `rate_iops_min`".to_owned()
            }
            FailureKind::LatencyAboveMaximum => {
                "an I/O took longer than `latency_target` with one in flight, and by \
                 `latency_percentile` none may"
                    .to_owned()
            }
            FailureKind::Io
            | FailureKind::NothingMoved
            | FailureKind::Verify
            | FailureKind::Engine
            | FailureKind::Stuck(_) => errno_text,
        };
    };
    let target = bound.files.get(op.file.0 as usize);
    let target = target.map_or_else(String::new, |file| file.path.display().to_string());
    let what = match op.kind.direction() {
        Some(dir) => dir.name(),
        None => "sync",
    };
    let place = format!("{what} of {} B at offset {} of `{target}`", op.len, op.offset);
    match failure.kind {
        FailureKind::Verify => bad_blocks_text(bad_blocks, op.offset, &target),
        FailureKind::Io | FailureKind::NothingMoved
            if matches!(failure.errno, libc::ENOSPC | libc::EDQUOT) =>
        {
            format!("{place}: {errno_text}; free some space there, or lower `size`")
        }
        FailureKind::NothingMoved => format!("{place}: nothing moved, the file ends before it"),
        FailureKind::LatencyAboveMaximum => format!("{place}: took longer than `max_latency`"),
        FailureKind::Io
        | FailureKind::RateBelowMinimum
        | FailureKind::Engine
        | FailureKind::Stuck(_) => format!("{place}: {errno_text}"),
    }
}

/// Counts bad blocks; a note of the record describes them.
fn bad_blocks_text(bad_blocks: &BadBlocks, offset: u64, target: &str) -> String {
    match bad_blocks.n_blocks() {
        0 | 1 => format!("the block at offset {offset} of `{target}` fails verification"),
        n => format!("{n} blocks fail verification, the first at offset {offset} of `{target}`"),
    }
}

#[cfg(test)]
mod tests {
    use plan::param::ENGINES;

    use super::*;

    #[test]
    fn names_say_of_old_records_what_new_ones_say_themselves() {
        for engine in ENGINES {
            if let Some(kind) = engine.kind {
                assert_eq!(EngineRecord::of_name(engine.name), engine_record(kind), "{engine:?}");
            }
        }
        let of_trees = EngineRecord::of_name(plan::tree::ENGINE_NAME);
        assert_eq!(of_trees, engine_record(EngineKind::Sync));
    }
}
