//! What is turned up from point to point, and how it is put onto a plan.

use plan::load::{Arrivals, Rate};
use plan::workload::Workload;
use plan::{Direction, Job, PerDir, Plan};

/// What is turned up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lever {
    /// An open load: so many I/Os per second over all jobs, whatever completes.
    Rate {
        /// Spacing of the intended starts.
        arrivals: Arrivals,
        /// I/Os in flight at most, per worker; what is due beyond waits, and its wait counts.
        in_flight_max: u32,
    },
    /// A closed load: so many I/Os in flight per worker.
    QueueDepth,
    /// A closed load: so many workers per job, each with one I/O at a time.
    Workers,
}

/// Why a plan cannot be swept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeverError {
    /// More than one step, or none.
    #[error("a curve needs jobs of one step, and these have {n_steps}")]
    Steps {
        /// Steps there are.
        n_steps: usize,
    },
    /// A job that decides on its own load.
    #[error("job `{job}` {what}, which a curve decides")]
    OwnLoad {
        /// Its name.
        job: String,
        /// What it says.
        what: &'static str,
    },
    /// A job without a rate beside jobs with one: its part of the whole is not known.
    #[error(
        "job `{job}` has no rate and others have one: give each job a rate, which the curve \
        scales in proportion, or none, for equal parts"
    )]
    NoRate {
        /// Its name.
        job: String,
    },
    /// A job whose amount cannot be set.
    #[error("job `{job}` {what}, which cannot be given a load")]
    NoLoad {
        /// Its name.
        job: String,
        /// What it does.
        what: &'static str,
    },
}

/// Distance of the seeds of two points; odd and large, so that no two jobs' seeds meet.
const SEED_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Longest depth of a queue that an engine takes.
pub const IN_FLIGHT_MAX: u32 = 32_768;

impl Lever {
    /// Returns the closed lever that fits a plan: workers where an engine holds one I/O at a time
    /// whatever the depth.
    pub fn closed(plan: &Plan) -> Self {
        let is_one_by_one = plan.jobs().any(Job::issues_one_at_a_time);
        if is_one_by_one { Lever::Workers } else { Lever::QueueDepth }
    }

    /// Returns whether the load does not wait for completions.
    pub fn is_open(self) -> bool {
        matches!(self, Lever::Rate { .. })
    }

    /// Checks that a plan can be swept: one step, whose jobs leave the load to the curve.
    pub fn check(self, plan: &Plan) -> Result<(), LeverError> {
        let [step] = plan.steps.as_slice() else {
            return Err(LeverError::Steps { n_steps: plan.steps.len() });
        };
        for job in &step.jobs {
            let load = &job.load;
            let own = [
                (load.latency_target.is_some(), "searches for a depth of its own"),
                (load.flow.is_some(), "keeps pace with others"),
                (load.think.pause_ns > 0 || load.think.every_io_time_ns > 0, "thinks"),
                (job.parts.iter().any(|part| part.rate_iops.is_some()), "has parts with rates"),
                (job.limits.steady.is_some(), "ends when it is steady"),
            ];
            if let Some((_, what)) = own.into_iter().find(|(is_so, _)| *is_so) {
                return Err(LeverError::OwnLoad { job: job.name.clone(), what });
            }
            let without = [
                (job.tree.is_some(), "works on a tree of files"),
                (!job.logs.read_replay.is_empty(), "replays a log"),
                (job.engine.kind.is_of_names(), "makes or removes files"),
            ];
            if let Some((_, what)) = without.into_iter().find(|(is_so, _)| *is_so) {
                return Err(LeverError::NoLoad { job: job.name.clone(), what });
            }
        }
        let has_rate = |job: &&Job| own_rate_iops(job).is_some();
        match step.jobs.iter().find(|job| !has_rate(job)) {
            Some(job) if self.is_open() && step.jobs.iter().any(|job| has_rate(&job)) => {
                Err(LeverError::NoRate { job: job.name.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns the plan at a load, which is above 0: of a rate I/Os per second over all jobs, in
    /// proportion to the rates they have over all their workers, else equal ones; of a depth or of
    /// workers each job's. Each worker's queue is divided among `n_parts` where that is given. Each
    /// point `idx` has a seed of its own, or a repeat would say nothing new.
    pub(crate) fn put(
        self,
        plan: &Plan,
        load: f64,
        (idx, n_parts): (u32, Option<u32>),
        time: Time,
    ) -> Plan {
        let mut plan = plan.clone();
        let shares: f64 = plan.jobs().map(share).sum();
        for job in plan.steps.iter_mut().flat_map(|step| step.jobs.iter_mut()) {
            let share = share(job) / shares;
            if let Some(read_pct) = own_read_pct(job) {
                job.workload.read_pct = read_pct;
            }
            job.load.rate = PerDir::default();
            job.load.rate_min = PerDir::default();
            job.load.rate_total_iops = None;
            match self {
                Lever::Rate { arrivals, in_flight_max } => {
                    job.load.rate_total_iops = Some(load * share);
                    job.load.arrivals = arrivals;
                    job.load.queue_depth = in_flight_max;
                }
                Lever::QueueDepth => job.load.queue_depth = load.round() as u32,
                Lever::Workers => {
                    job.load.queue_depth = 1;
                    job.n_workers = load.round() as u32;
                }
            }
            if self.is_open() {
                // One completion at a time: a batch would hold back what is due.
                job.load.submit_batch = None;
                job.load.complete_min = None;
                job.load.complete_max = None;
                job.load.queue_depth_low = None;
            }
            // The curve measures the volume, not one processor.
            if n_parts.is_some() {
                job.load.spreads = true;
                job.load.spread_workers_max = n_parts;
            }
            job.limits.runtime_ns = Some(time.measured_ns);
            job.limits.ramp_ns = time.ramp_ns;
            job.limits.time_based = true;
            let step = u64::from(idx).wrapping_mul(SEED_STEP);
            job.workload.seed = job.workload.seed.wrapping_add(step);
        }
        plan
    }

    /// Returns the load over all workers for a load of the search.
    pub(crate) fn total(self, plan: &Plan, load: f64) -> f64 {
        match self {
            Lever::Rate { .. } => load,
            Lever::QueueDepth => {
                load * plan.jobs().map(|job| f64::from(job.n_workers)).sum::<f64>()
            }
            Lever::Workers => load * plan.jobs().count() as f64,
        }
    }

    pub(crate) fn recorded(self) -> record::Lever {
        match self {
            Lever::Rate { .. } => record::Lever::Rate,
            Lever::QueueDepth => record::Lever::QueueDepth,
            Lever::Workers => record::Lever::Workers,
        }
    }
}

/// How long a point is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// Measured, nanoseconds; above 0.
    pub measured_ns: u64,
    /// Before that, not measured.
    pub ramp_ns: u64,
}

/// A job's weight among the jobs of its step: the rate it has, if it has one.
fn share(job: &Job) -> f64 {
    own_rate_iops(job).unwrap_or(1.0)
}

/// Returns the operations per second that a job asks for over all its workers; none without a
/// rate. A rate in bytes counts by the mean size of the I/Os, a total before those of directions.
fn own_rate_iops(job: &Job) -> Option<f64> {
    let of_dir = |dir| rate_iops_of(job, dir);
    let of_worker = || job.issued_directions().filter_map(of_dir).sum::<f64>();
    let rate = job.load.rate_total_iops.unwrap_or_else(|| of_worker() * f64::from(job.n_workers));
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

/// Returns the operations per second of a direction that a worker is asked for.
fn rate_iops_of(job: &Job, dir: Direction) -> Option<f64> {
    match job.load.rate[dir]? {
        Rate::Iops(per_s) => Some(per_s as f64),
        Rate::Bytes(per_s) => Some(per_s as f64 / mean_block_bytes(job, dir)),
    }
}

/// Returns the share of reads of a job whose reads and writes have separate rates, percent: then
/// these rates make the mix, whatever mix is set.
fn own_read_pct(job: &Job) -> Option<f64> {
    if job.load.rate_total_iops.is_some() || !job.parts.is_empty() {
        return None;
    }
    let is_mixed = job.issued_directions().eq([Direction::Read, Direction::Write]);
    let (reads, writes) =
        rate_iops_of(job, Direction::Read).zip(rate_iops_of(job, Direction::Write))?;
    (is_mixed && reads + writes > 0.0).then(|| 100.0 * reads / (reads + writes))
}

/// Returns the mean size of a direction's I/Os, the job's parts by their weights.
fn mean_block_bytes(job: &Job, dir: Direction) -> f64 {
    let of = |workload: &Workload| {
        let sizes = &workload.block_size;
        if workload.block_size_by_pattern {
            let by_pattern = if workload.access.random { &sizes.write } else { &sizes.read };
            return by_pattern.mean();
        }
        sizes[dir].mean()
    };
    if job.parts.is_empty() {
        return of(&job.workload);
    }
    let issuing = || {
        job.parts.iter().filter(|part| part.workload.access.issued().any(|issued| issued == dir))
    };
    let bytes: f64 = issuing().map(|part| part.weight * of(&part.workload)).sum();
    bytes / issuing().map(|part| part.weight).sum::<f64>()
}
