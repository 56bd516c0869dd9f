//! The state of a worker, part by part: times, what waits, passes, writes, counts and faults.

use plan::{Direction, Job};

use crate::chosen::ChosenOp;
use crate::errors::{ErrorBudget, ErrorsSeen, Failure, IoError};
use crate::meters::{Meters, SampleUnit, Sampler};
use crate::occupancy::ArrivalCounts;
use crate::pending::Pending;
use crate::series::{Series, SeriesRuns, series_of};
use crate::tree::Stuck;

/// Failed operations kept until they are taken: more than come in a batch.
const IO_ERRORS_MAX: usize = 64;

/// When what begins and ends, on the driver's clock.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "a time has its unit in its name")]
pub(crate) struct Times {
    pub(crate) start_ns: u64,
    /// Start of the measured time; `u64::MAX` while a ramp by bytes lasts.
    pub(crate) measured_ns: u64,
    /// Nothing is issued from here on.
    pub(crate) end_ns: u64,
    /// Nothing is issued from here on, as was decided outside.
    pub(crate) stopped_ns: u64,
    /// No sample is due and no limit is reached before.
    pub(crate) quiet_until_ns: u64,
    pub(crate) phase_since_ns: u64,
    pub(crate) last_done_ns: u64,
}

impl Times {
    /// Of a worker that has not started.
    pub(crate) fn new() -> Self {
        Times {
            start_ns: 0,
            measured_ns: 0,
            end_ns: u64::MAX,
            stopped_ns: u64::MAX,
            quiet_until_ns: 0,
            phase_since_ns: 0,
            last_done_ns: 0,
        }
    }
}

/// What goes before the next choice.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// An operation that was chosen but must wait for an overlapping one.
    pub(crate) held: Option<ChosenOp>,
    /// Syncs and follow-up writes.
    pub(crate) queued: Vec<ChosenOp>,
    /// Slots whose operation goes on with the rest of a short transfer.
    pub(crate) retries: Vec<u32>,
}

impl Waiting {
    pub(crate) fn new(depth: u32, n_files: usize) -> Self {
        let n_queued = depth as usize + n_files + 4;
        let (queued, retries) = (Vec::with_capacity(n_queued), Vec::with_capacity(depth as usize));
        Waiting { held: None, queued, retries }
    }
}

/// How many passes are left, and what comes between two phases.
#[derive(Debug)]
pub(crate) struct Passes {
    pub(crate) n_left: u32,
    /// The next pass starts with new files.
    pub(crate) removes_files: bool,
    /// A phase begins for which the cache is dropped, and when it is, at the next call.
    pub(crate) drops_cache: bool,
    pub(crate) resumes: bool,
}

impl Passes {
    pub(crate) fn new(n_loops: u32) -> Self {
        let (removes_files, drops_cache, resumes) = (false, false, false);
        Passes { n_left: n_loops.max(1), removes_files, drops_cache, resumes }
    }
}

/// Writes issued.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    pub(crate) n: u64,
    /// Since the last sync of each rule, in the order in which they are asked.
    pub(crate) n_since_sync: [u32; 4],
}

/// What keeps an open load from being kept up with.
#[derive(Debug, Default)]
pub(crate) struct Lateness {
    pub(crate) kept: ArrivalCounts,
    /// Since when there is room in flight, and the last long stretch with room before: from, to.
    pub(crate) room_ns: u64,
    pub(crate) room_before_ns: (u64, u64),
    /// When the last operation with a due time was chosen.
    pub(crate) chosen_ns: u64,
    /// The rate changes: how long operations waited is counted.
    pub(crate) counts_delay: bool,
    /// When the first operation was due of those that waited until now; `None` while none does.
    pub(crate) waits_since_ns: Option<u64>,
}

/// What was counted, on its way to the meters.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) pending: [Pending; 3],
    /// Meters follow after this long, not after every batch; `u64::MAX` is when they are asked for.
    pub(crate) gathers_ns: u64,
    /// When they last did.
    pub(crate) published_ns: u64,
    pub(crate) series_runs: SeriesRuns,
    /// Each operation is counted by its series. Otherwise those of a direction all have the same.
    pub(crate) counts_series: bool,
    /// The series that all operations of a direction belong to which are counted by direction: the
    /// meters of both follow together.
    pub(crate) series_of_dir: [Option<u16>; Direction::ALL.len()],
    pub(crate) bytes_done: u64,
    /// Operations that have ended and that no other has taken the place of; counted where one does
    /// so at once ([`crate::paths::Paths::takes_places`]).
    pub(crate) n_vacated: usize,
    pub(crate) samplers: [Sampler; 2],
    pub(crate) rate_check: Option<RateCheck>,
}

/// Window of the check for a minimum rate.
#[derive(Debug)]
pub(crate) struct RateCheck {
    pub(crate) since_ns: u64,
    /// I/Os and bytes at the start of the window.
    pub(crate) seen: [(u64, u64); 3],
}

impl Tally {
    pub(crate) fn new(job: &Job, meters: &Meters) -> Self {
        let [bandwidth_ms, iops_ms] = job.reporting.sample_intervals_ms(&job.logs);
        let has_minimum = Direction::ALL.iter().any(|dir| job.load.rate_min[*dir].is_some());
        let counts_series = meters.series().is_some() && Series::differ(job);
        Tally {
            pending: [Pending::new(), Pending::new(), Pending::new()],
            gathers_ns: 0,
            published_ns: 0,
            series_runs: SeriesRuns::new(meters.series()),
            counts_series,
            series_of_dir: Direction::ALL.map(|dir| (!counts_series).then(|| series_of(0, dir))),
            bytes_done: 0,
            n_vacated: 0,
            samplers: [
                Sampler::new(bandwidth_ms, SampleUnit::KibPerSecond),
                Sampler::new(iops_ms, SampleUnit::Iops),
            ],
            rate_check: has_minimum.then_some(RateCheck { since_ns: 0, seen: [(0, 0); 3] }),
        }
    }
}

/// What went wrong.
#[derive(Debug)]
pub(crate) struct Faults {
    /// What ended the worker.
    pub(crate) failure: Option<Failure>,
    /// Work on a tree had nothing to do from the start, and that is no failure.
    pub(crate) nothing_left: Option<Stuck>,
    pub(crate) seen: ErrorsSeen,
    /// Errors that the workers of the step survive together; counted if the job has a limit.
    pub(crate) budget: ErrorBudget,
    /// Failed operations that were not taken note of yet.
    pub(crate) io_errors: Vec<IoError>,
    /// First error that did not end the job.
    pub(crate) first_ignored: Option<i32>,
}

impl Faults {
    pub(crate) fn new(job: &Job) -> Self {
        let n_kept = if job.errors.n_errors_max.is_some() { IO_ERRORS_MAX } else { 0 };
        Faults {
            failure: None,
            nothing_left: None,
            seen: ErrorsSeen::default(),
            budget: ErrorBudget::default(),
            io_errors: Vec::with_capacity(n_kept),
            first_ignored: None,
        }
    }
}
