//! Divides the queue of a job among several workers, so that one processor is not the limit.
//!
//! A job that allows it ([`plan::load::Load::spreads`]) says how many I/Os are in flight, and not
//! who issues them. One worker issues several hundred thousand per second, and fewer where the
//! kernel copies data in the call that submits (zram, tmpfs) or where others use the processors.
//! Threads of Vdbench run on all processors; so there is one worker for each, as far as there are
//! I/Os to issue. Operation k of a worker stays a function of the plan, the seed and the worker.
//!
//! Work whose I/Os follow from one another is divided where each goes on from where the one before
//! it ended: the workers then do one walk together ([`pattern::Division`]), as threads of a storage
//! definition of Vdbench do. Two walks of their own would read everything twice. Work that knows
//! what it did before is not divided: verification, logs, amounts.
//!
//! Pure: the number of processors comes from the caller.

use std::borrow::Cow;

use pattern::Division;
use plan::files::{Durability, Size};
use plan::report::Logs;
use plan::{Direction, EngineQueue, Job, Plan, Step};

/// I/Os per second that one worker carries without being the limit, on a slow core and with data to
/// copy.
const WORKER_IOPS: f64 = 100_000.0;

/// Up to this size an I/O costs the same; beyond it, copying counts.
const WORKER_BLOCK_BYTES: f64 = 16_384.0;

/// Returns the plan with the jobs divided that gain by it, on a host with so many processors.
pub(crate) fn spread(plan: &Plan, n_cpus: u32) -> Cow<'_, Plan> {
    let n_of = |step: &Step| -> Vec<u32> {
        let n_jobs = (step.jobs.len() as u32).max(1);
        // To the nearest: with five jobs on eight processors, three would have nothing to do.
        let n_each = (n_cpus.saturating_add(n_jobs / 2) / n_jobs).max(1);
        step.jobs.iter().map(|job| n_workers(job, n_each)).collect()
    };
    let divided: Vec<Vec<u32>> = plan.steps.iter().map(n_of).collect();
    if divided.iter().flatten().all(|n| *n <= 1) {
        return Cow::Borrowed(plan);
    }
    let mut plan = plan.clone();
    for (step, n) in plan.steps.iter_mut().zip(&divided) {
        keep_flows(step, n);
        for (job, n) in step.jobs.iter_mut().zip(n).filter(|(_, n)| **n > 1) {
            divide(job, *n);
        }
    }
    Cow::Owned(plan)
}

/// Divides each worker of a job among `n`: as much is in flight as before.
pub(crate) fn divide(job: &mut Job, n: u32) {
    let depth = job.load.queue_depth;
    assert!(job.load.n_deeper == 0, "a queue is divided once");
    assert!((1..=depth).contains(&n), "a queue of {depth} is divided among {n} workers");
    job.load.walks_together = walks_together(job);
    job.load.n_deeper = depth % n * job.n_workers;
    job.n_workers *= n;
    job.load.queue_depth /= n;
    // One result for the job, as if it were one worker.
    job.reporting.group_reporting = true;
}

/// Divides the weights of jobs that keep pace by the workers that each is divided among.
fn keep_flows(step: &mut Step, n: &[u32]) {
    let flow_id = |job: &Job| job.load.flow.map(|flow| flow.id);
    let flows: Vec<Option<u32>> = step.jobs.iter().map(flow_id).collect();
    for ((job, own), id) in step.jobs.iter_mut().zip(n).zip(&flows) {
        let Some(flow) = &mut job.load.flow else { continue };
        let of_flow = n.iter().zip(&flows).filter(|(_, other)| *other == id).map(|(n, _)| *n);
        let common = of_flow.fold(1, least_common_multiple);
        flow.weight = flow.weight.saturating_mul(common / own);
    }
}

fn least_common_multiple(a: u32, b: u32) -> u32 {
    a / units::gcd(u64::from(a), u64::from(b)) as u32 * b
}

/// Returns among how many workers each worker of a job is divided, with so many processors to
/// itself.
fn n_workers(job: &Job, n_cpus: u32) -> u32 {
    if !job.load.spreads || !is_divisible(job) {
        return 1;
    }
    let n_useful = match (job.load.spread_workers_max, job.load.rate_total_iops) {
        (Some(n), _) => n,
        (None, Some(rate_iops)) => {
            let copied = f64::from(job.block_size_max()) / WORKER_BLOCK_BYTES;
            (rate_iops / WORKER_IOPS * copied.max(1.0)).ceil() as u32
        }
        (None, None) => u32::MAX,
    };
    let depth = job.load.queue_depth;
    let most = (n_cpus / job.n_workers.max(1)).min(n_useful).min(depth).max(1);
    // Equal parts, where that costs few workers.
    let even = (1..=most).rev().find(|n| depth.is_multiple_of(*n)).unwrap_or(1);
    if even * 4 >= most * 3 { even } else { most }
}

/// Returns whether the queue of a job's workers can be divided among more of them, with the same
/// work.
pub fn may_spread(job: &Job) -> bool {
    job.load.queue_depth > 1 && is_divisible(job)
}

/// Returns whether two workers with half of the depth each do what one does. Of several workers
/// each must do the same already, and they must be reported as one.
fn is_divisible(job: &Job) -> bool {
    let load = &job.load;
    let is_plain_load = Direction::ALL.iter().all(|dir| load.rate[*dir].is_none())
        && Direction::ALL.iter().all(|dir| load.rate_min[*dir].is_none())
        && load.rate_periods.is_none()
        && load.queue_depth_low.is_none()
        && load.think.pause_ns == 0
        && load.latency_target.is_none()
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
    // Each worker of the divided job must have the region that the one has.
    let is_one_region =
        job.files.offset_increment == Size::Bytes(0) && job.files.file_size_bytes.is_none();
    let is_same = is_one_region && (job.n_workers == 1 || job.reporting.group_reporting);
    let is_alone = is_same
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
        && job.workloads().all(|it| Division::of(it).is_some())
        && (!walks_together(job) || is_one_walk(job))
}

/// Returns whether workers among which the job is divided have to go on from where the others are.
fn walks_together(job: &Job) -> bool {
    job.workloads().any(|it| Division::of(it) == Some(Division::Together))
}

/// Returns whether a job's walks are those of one worker, over one target or several as one.
fn is_one_walk(job: &Job) -> bool {
    job.n_workers == 1 && (job.files.names.len() == 1 || job.files.concatenate)
}

#[cfg(test)]
mod tests {
    use plan::EngineKind;
    use plan::load::{Flow, Rate};
    use plan::workload::BlockSize;

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
        let in_flight = |job: &Job| job.n_workers * job.load.queue_depth + job.load.n_deeper;
        assert_eq!(in_flight(after), in_flight(before));
    }

    #[test]
    fn a_queue_is_divided_by_processors_and_depth() {
        check(1, |_| {}, 1);
        check(2, |_| {}, 2);
        check(16, |_| {}, 16);
        check(64, |_| {}, 32);
        check(2, |job| job.load.queue_depth = 1, 1);
        check(16, |job| job.load.queue_depth = 8, 8);
        check(2, |job| job.load.queue_depth = 1000, 2);
        // Equal parts, where that costs few workers.
        check(16, |job| job.load.queue_depth = 30, 15);
        check(16, |job| job.load.queue_depth = 31, 16);
        check(3, |_| {}, 3);
        check(2, |job| job.load.queue_depth = 15, 2);
    }

    #[test]
    fn a_rate_takes_as_many_workers_as_carry_it() {
        check(8, |job| job.load.rate_total_iops = Some(5_000.0), 1);
        check(8, |job| job.load.rate_total_iops = Some(50_000.0), 1);
        check(8, |job| job.load.rate_total_iops = Some(150_000.0), 2);
        check(8, |job| job.load.rate_total_iops = Some(1e9), 8);
        let large = |job: &mut Job| {
            job.load.rate_total_iops = Some(50_000.0);
            job.workload.block_size = plan::PerDir::all(BlockSize::Fixed(64 << 10));
        };
        check(8, large, 2);
    }

    #[test]
    fn a_number_that_is_asked_for_is_given_up_to_the_processors() {
        let most = |n| {
            move |job: &mut Job| {
                job.load.spread_workers_max = Some(n);
                job.load.rate_total_iops = Some(5_000.0);
            }
        };
        check(8, most(1), 1);
        check(8, most(2), 2);
        check(8, most(64), 8);
    }

    #[test]
    fn workers_that_do_the_same_are_divided_each() {
        let workers = |n_workers, is_group| {
            move |job: &mut Job| {
                (job.n_workers, job.reporting.group_reporting) = (n_workers, is_group);
            }
        };
        check(8, workers(4, true), 2);
        check(8, workers(8, true), 1);
        check(8, workers(3, false), 1);
        // What is left of each of them is kept.
        let uneven = |job: &mut Job| {
            workers(2, true)(job);
            job.load.queue_depth = 31;
        };
        check(4, uneven, 2);
    }

    #[test]
    fn a_queue_that_was_divided_is_not_divided_again() {
        testing::check_wrong_calls(&[("again", "a queue is divided once", &|| {
            check(2, |job| job.load.n_deeper = 1, 2);
        })]);
    }

    #[test]
    fn jobs_in_proportion_stay_in_proportion() {
        let mut jobs = vec![job(), job(), job()];
        for (job, weight) in jobs.iter_mut().zip([1000, 300, 700]) {
            let flow = Flow { id: 1, weight, sleep_ns: 0, slack_ios: 2000 };
            job.load.flow = Some(flow);
        }
        jobs[1].load.queue_depth = 2;
        jobs[2].load.spreads = false;
        let plan = plan_of(jobs);
        let spread = spread(&plan, 12);
        let of_all: Vec<(u32, u32)> = spread
            .jobs()
            .map(|job| (job.n_workers, job.load.flow.map_or(0, |flow| flow.weight)))
            .collect();
        // A worker's weight times its job's workers: 4 x 1000, 4 x 300, 4 x 700.
        assert_eq!(of_all, [(4, 1000), (2, 600), (1, 2800)]);
    }

    #[test]
    fn what_cannot_be_divided_stays_whole() {
        check(2, |job| job.load.spreads = false, 1);
        check(2, |job| job.engine.kind = EngineKind::Sync, 1);
        check(2, |job| job.workload.ios_per_draw = 8, 1);
        check(2, |job| job.limits.n_ios_max = Some(1000), 1);
        check(2, |job| job.limits.time_based = false, 1);
        check(2, |job| job.files.offset_increment = Size::Bytes(1 << 30), 1);
        check(2, |job| job.files.file_size_bytes = Some((1 << 20, 1 << 30)), 1);
        check(2, |job| job.durability.fsync_every = 1, 1);
        check(2, |job| job.verify.method = Some(plan::verify::VerifyMethod::Crc32c), 1);
        check(2, |job| job.load.rate.read = Some(Rate::Iops(1_000_000)), 1);
    }

    #[test]
    fn work_that_goes_on_from_the_last_io_is_one_walk_of_all_workers() {
        let sequential = |job: &mut Job| job.workload.access.random = false;
        let seeking = |job: &mut Job| {
            (job.workload.no_repeats, job.workload.random_pct.read) = (false, 50.0);
        };
        check(2, sequential, 2);
        check(2, seeking, 2);
        // Each worker of a job with several has a walk of its own, as has each of several files.
        let of_several = |job: &mut Job| {
            sequential(job);
            (job.n_workers, job.reporting.group_reporting) = (2, true);
        };
        check(8, of_several, 1);
        let two_files = |job: &mut Job| {
            sequential(job);
            job.files.names.push("/dev/y".to_owned());
        };
        check(8, two_files, 1);
        let as_one = |job: &mut Job| {
            two_files(job);
            job.files.concatenate = true;
        };
        check(8, as_one, 8);
        // Each direction has a walk of its own.
        let both = |job: &mut Job| {
            sequential(job);
            job.workload.access.write = true;
        };
        check(8, both, 1);
        let together = |change: &dyn Fn(&mut Job)| {
            let mut job = job();
            change(&mut job);
            let plan = plan_of(vec![job]);
            spread(&plan, 2).steps[0].jobs[0].load.walks_together
        };
        assert_eq!(
            [together(&|_| {}), together(&sequential), together(&seeking)],
            [false, true, true]
        );
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
        assert_eq!(n_workers(5, 8), [2, 2, 2, 2, 2]);
    }
}
