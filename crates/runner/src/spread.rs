//! Divides the queue of a job among several workers, so that one processor is not the limit.
//!
//! A job that allows it ([`plan::load::Load::spreads`]) says how many I/Os are in flight, and not
//! who issues them. One worker issues several hundred thousand per second, which is more than most
//! volumes carry; beyond that it takes several, each on a processor of its own. Operation k of a
//! worker stays a function of the plan, the seed and the worker.
//!
//! Only random work is divided: two workers on one sequential walk would read everything twice.
//! Nor is work that knows what it did before: verification, logs, amounts, flows.
//!
//! Pure: the number of processors comes from the caller.

use std::borrow::Cow;

use plan::files::Durability;
use plan::report::Logs;
use plan::workload::Workload;
use plan::{Direction, EngineQueue, Job, Plan, Step};

/// Least I/Os in flight per worker: with fewer, completions come one by one, and two workers make
/// twice the system calls for the same load.
const DEPTH_MIN: u32 = 8;

/// I/Os per second that one worker carries without being the limit, on a slow core and with data to
/// copy.
const WORKER_IOPS: f64 = 100_000.0;

/// Returns the plan with the jobs divided that gain by it, on a host with so many processors.
pub(crate) fn spread(plan: &Plan, n_cpus: u32) -> Cow<'_, Plan> {
    let n_of = |step: &Step, job: &Job| n_workers(job, n_cpus / (step.jobs.len() as u32).max(1));
    let gains = |step: &Step| step.jobs.iter().any(|job| n_of(step, job) > 1);
    if !plan.steps.iter().any(gains) {
        return Cow::Borrowed(plan);
    }
    let mut plan = plan.clone();
    for step in &mut plan.steps {
        let n: Vec<u32> = step.jobs.iter().map(|job| n_of(step, job)).collect();
        for (job, n) in step.jobs.iter_mut().zip(n).filter(|(_, n)| *n > 1) {
            job.n_workers = n;
            job.load.queue_depth /= n;
            // One result for the job, as if it were one worker.
            job.reporting.group_reporting = true;
        }
    }
    Cow::Owned(plan)
}

/// Returns among how many workers a job is divided, with so many processors to itself. Each gets an
/// equal part of the depth.
fn n_workers(job: &Job, n_cpus: u32) -> u32 {
    if !job.load.spreads || !is_divisible(job) {
        return 1;
    }
    let by_rate = match job.load.rate_total_iops {
        Some(rate_iops) => (rate_iops / WORKER_IOPS).ceil() as u32,
        None => u32::MAX,
    };
    let depth = job.load.queue_depth;
    let most = n_cpus.min(by_rate).min(depth / DEPTH_MIN);
    (2..=most).rev().find(|n| depth.is_multiple_of(*n)).unwrap_or(1)
}

/// Says whether two workers with half of the depth each do what one does.
fn is_divisible(job: &Job) -> bool {
    let load = &job.load;
    let is_plain_load = Direction::ALL.iter().all(|dir| load.rate[*dir].is_none())
        && Direction::ALL.iter().all(|dir| load.rate_min[*dir].is_none())
        && load.rate_periods.is_none()
        && load.queue_depth_low.is_none()
        && load.think.pause_ns == 0
        && load.latency_target.is_none()
        && load.flow.is_none()
        && !load.offload
        && !load.serialize_overlap
        && !load.last_io_waits;
    let is_asynchronous = job.engine.kind.traits().queue == EngineQueue::Kernel;
    let limits = &job.limits;
    let is_timed = limits.time_based
        && limits.runtime_ns.is_some()
        && limits.ramp_bytes == 0
        && limits.n_ios_max.is_none()
        && limits.steady.is_none();
    let is_alone = job.n_workers == 1
        && job.tree.is_none()
        && job.wait_for.is_none()
        && !job.files.names.is_empty()
        && job.files.io_size.is_none()
        && job.logs == Logs::default()
        && job.durability == Durability::default()
        && job.buffers.dedupe_sets.is_none()
        && job.verify.method.is_none();
    is_asynchronous
        && is_plain_load
        && is_timed
        && is_alone
        && job.parts.iter().all(|part| part.rate_iops.is_none())
        && job.workloads().all(is_random)
}

/// Says whether the places of a workload do not follow from one another.
fn is_random(workload: &Workload) -> bool {
    let draws_each = Direction::ALL.iter().all(|dir| workload.random_pct[*dir] >= 100.0);
    workload.access.random
        && !workload.access.trim_then_write
        && draws_each
        && workload.ios_per_draw <= 1
        && workload.skip_bytes.is_none()
        && workload.strided.is_none()
        && !workload.ends_with_region
        && workload.n_streams == 0
        && (workload.trim_pct, workload.trim_backlog) == (0, 0)
        && workload.recordings.is_empty()
}

#[cfg(test)]
mod tests {
    use plan::EngineKind;
    use plan::load::{Flow, Rate};

    use super::*;

    /// Random reads for a second, 32 in flight.
    fn job() -> Job {
        let mut job = Job::default();
        job.engine.kind = EngineKind::Uring;
        job.files.names = vec!["/dev/x".to_owned()];
        (job.workload.access.random, job.load.spreads) = (true, true);
        job.load.queue_depth = 32;
        (job.limits.time_based, job.limits.runtime_ns) = (true, Some(1_000_000_000));
        job
    }

    fn plan_of(jobs: Vec<Job>) -> Plan {
        Plan { steps: vec![Step { jobs, ..Step::default() }], ..Plan::default() }
    }

    /// Checks among how many workers the job is divided, and that as much is in flight.
    #[track_caller]
    fn check(n_cpus: u32, change: impl FnOnce(&mut Job), expected: u32) {
        let mut job = job();
        change(&mut job);
        let plan = plan_of(vec![job]);
        let spread = spread(&plan, n_cpus);
        let (before, after) = (&plan.steps[0].jobs[0], &spread.steps[0].jobs[0]);
        assert_eq!(after.n_workers / before.n_workers, expected);
        let in_flight = |job: &Job| job.n_workers * job.load.queue_depth;
        assert_eq!(in_flight(after), in_flight(before));
    }

    #[test]
    fn a_queue_is_divided_by_processors_and_depth() {
        check(1, |_| {}, 1);
        check(2, |_| {}, 2);
        check(64, |_| {}, 4);
        check(3, |_| {}, 2);
        check(2, |job| job.load.queue_depth = 1, 1);
        check(2, |job| job.load.queue_depth = 15, 1);
        check(2, |job| job.load.queue_depth = 16, 2);
        check(8, |job| job.load.queue_depth = 30, 3);
        // No equal parts.
        check(8, |job| job.load.queue_depth = 31, 1);
    }

    #[test]
    fn a_rate_takes_as_many_workers_as_carry_it() {
        check(8, |job| job.load.rate_total_iops = Some(50_000.0), 1);
        check(8, |job| job.load.rate_total_iops = Some(150_000.0), 2);
        check(8, |job| job.load.rate_total_iops = Some(1e9), 4);
    }

    #[test]
    fn what_cannot_be_divided_stays_whole() {
        check(2, |job| job.load.spreads = false, 1);
        check(2, |job| job.n_workers = 3, 1);
        check(2, |job| job.engine.kind = EngineKind::Sync, 1);
        check(2, |job| job.workload.access.random = false, 1);
        check(2, |job| job.workload.random_pct.read = 50.0, 1);
        check(2, |job| job.workload.n_streams = 4, 1);
        check(2, |job| job.workload.ends_with_region = true, 1);
        check(2, |job| job.limits.n_ios_max = Some(1000), 1);
        check(2, |job| job.limits.time_based = false, 1);
        check(2, |job| job.durability.fsync_every = 1, 1);
        check(2, |job| job.verify.method = Some(plan::verify::VerifyMethod::Crc32c), 1);
        check(2, |job| job.load.rate.read = Some(Rate::Iops(1_000_000)), 1);
        let flow = Flow { id: 1, weight: 1, sleep_ns: 0, slack_ios: 1 };
        check(2, |job| job.load.flow = Some(flow), 1);
    }

    #[test]
    fn processors_are_shared_by_the_jobs_of_a_step() {
        let n_workers = |n_jobs, n_cpus| {
            let plan = plan_of(vec![job(); n_jobs]);
            let spread = spread(&plan, n_cpus);
            spread.jobs().map(|job| job.n_workers).collect::<Vec<_>>()
        };
        assert_eq!(n_workers(2, 2), [1, 1]);
        assert_eq!(n_workers(2, 4), [2, 2]);
        assert_eq!(n_workers(3, 4), [1, 1, 1]);
    }
}
