//! A whole run: binds, prepares, runs the steps, returns the record.

use std::borrow::Cow;

use plan::{Diagnostic, Plan, Severity};
use record::{ClockRecord, Interval, JobRecord, Note, NoteSeverity, Outcome, Record};

use crate::bind::{BoundPlan, bind, too_many_workers};
use crate::clock::{Clock, unix_ms};
use crate::control::{Control, Stop};
use crate::disk::DiskSampler;
use crate::emulation::{self, Emulation, Placement, SharedVolumes};
use crate::logs::bandwidth_logs;
use crate::open_dir;
use crate::remarks;
use crate::replay;
use crate::status::Status;
use crate::step::{StepContext, run_step};
use crate::targets;
use crate::virtual_time::{self, World};

/// What the caller decides besides the plan.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The command and its arguments, for the record.
    pub command: Vec<String>,
    /// Write to devices that are mounted, whatever the job says.
    pub allow_mounted: bool,
    /// Write to devices that hold a partition table or a file system, whatever the job says.
    pub overwrite_filesystem: bool,
    /// Refuse every job that writes or trims.
    pub read_only: bool,
    /// Behave as if the kernel had no io_uring.
    pub forbid_uring: bool,
    /// Make missing folders above files, as fio does. Otherwise a mistyped path is an error.
    pub create_parents: bool,
    /// Folder for verify state files and logs with relative names; `None` is the current one.
    pub aux_dir: Option<std::path::PathBuf>,
    /// Time between [`RunEvent::Status`], milliseconds; 0 is 1000.
    pub status_interval_ms: u64,
    /// Time between [`RunEvent::Report`], milliseconds; `None` makes none.
    pub report_interval_ms: Option<u64>,
    /// Volumes that stand in for this host's files and devices.
    pub emulation: Option<Emulation>,
    /// Prefix of logs of the whole run's bandwidth (fio `--bandwidth-log`).
    pub bandwidth_log: Option<String>,
}

impl RunOptions {
    /// Returns the time between [`RunEvent::Status`], nanoseconds.
    pub(crate) fn status_interval_ns(&self) -> u64 {
        match self.status_interval_ms {
            0 => 1_000_000_000,
            ms => ms * 1_000_000,
        }
    }
}

/// What happens during a run, for progress and live views.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// Something the user should know now.
    Note(&'a Note),
    /// A file is being laid out.
    Layout {
        /// Name of the job that needs it.
        job: &'a str,
        /// The file.
        path: &'a std::path::Path,
        /// Bytes written of all files to be laid out.
        done_bytes: u64,
        /// Bytes to write in all.
        total_bytes: u64,
        /// The file is complete.
        is_last: bool,
    },
    /// The workers of a step start.
    StepStarted {
        /// Step, from 0.
        step_idx: u32,
        /// Workers.
        n_workers: u32,
    },
    /// How it looks now.
    Status(&'a Status),
    /// One second of the run.
    Interval(&'a Interval),
    /// The record as it would be if the run ended now. CPU time, samples and failures of workers
    /// that still run are not known yet.
    Report(&'a Record),
    /// The workers of a step have ended.
    StepEnded {
        /// Step, from 0.
        step_idx: u32,
        /// Results of its workers, one each.
        jobs: &'a [JobRecord],
    },
}

/// Why nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan and this host do not fit together; every mistake is listed.
    #[error("the plan cannot run here")]
    Refused(Vec<Diagnostic>),
}

/// Runs a plan.
///
/// Once the first worker has started there is always a record: of a run that failed, was
/// interrupted or lost its target, too. `on_event` is called on the calling thread, several times a
/// second; it must not take long.
///
/// # Errors
/// [`RunError::Refused`] if nothing was run because of what the plan says or what is on this host.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    control: &Control,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> Result<Record, RunError> {
    let emulation = options.emulation.as_ref();
    let clock = match emulation {
        None => Clock::start(),
        Some(emulation) => Clock::start().slowed(emulation.time_scale()),
    };
    let zero_unix_ms = unix_ms() - clock.now_ns() / 1_000_000;
    let Ready { plan, bound, placement, findings } = Ready::new(plan, options, zero_unix_ms)?;
    let plan = plan.as_ref();
    let mut ground = Ground::new(emulation, placement, &bound, clock);
    let mut so_far = RunSoFar {
        plan,
        options,
        control,
        clock,
        zero_unix_ms,
        disks: emulation.is_none().then(|| DiskSampler::start(&bound)),
        jobs: Vec::new(),
        intervals: Vec::new(),
        notes: Vec::new(),
        failed: false,
    };
    so_far.note_findings(&findings, on_event);
    let mut n_workers_before = 0;
    for (step_idx, step) in bound.steps.iter().enumerate() {
        let context = StepContext {
            step_idx: step_idx as u32,
            n_steps: bound.steps.len() as u32,
            clock,
            zero_unix_ms,
            options,
            control,
            n_workers_before,
            so_far: &so_far,
            volumes: ground.shared(),
        };
        n_workers_before += step.workers.len() as u32;
        let n_workers = step.workers.len() as u32;
        on_event(RunEvent::StepStarted { step_idx: step_idx as u32, n_workers });
        let mut outcome = match &mut ground {
            Ground::Virtual(world) => virtual_time::run_step(&context, step, world, on_event),
            _ => run_step(&context, step, on_event),
        };
        on_event(RunEvent::StepEnded { step_idx: step_idx as u32, jobs: &outcome.jobs });
        so_far.failed |= outcome.failed;
        so_far.jobs.append(&mut outcome.jobs);
        so_far.intervals.append(&mut outcome.intervals);
        for (severity, code, message) in &outcome.notes {
            so_far.note(*severity, code, message, on_event);
        }
        if outcome.stop_all {
            break;
        }
    }
    for (severity, code, message) in bandwidth_logs(options, &so_far.intervals) {
        so_far.note(severity, code, &message, on_event);
    }
    Ok(so_far.record(ground.now_ns(clock), &[], &[]))
}

/// A plan that may run.
struct Ready<'a> {
    /// With what it replays, and the files that are in its folders.
    plan: Cow<'a, Plan>,
    bound: BoundPlan,
    /// Where its files lie on emulated volumes.
    placement: Placement,
    /// What the user should know before.
    findings: Vec<Diagnostic>,
}

impl<'a> Ready<'a> {
    /// Binds a plan to this host, or to the volumes that stand in for it.
    fn new(plan: &'a Plan, options: &RunOptions, zero_unix_ms: u64) -> Result<Self, RunError> {
        if let Some(finding) = too_many_workers(plan) {
            return Err(RunError::Refused(vec![finding]));
        }
        let emulation = options.emulation.as_ref();
        let (plan, mut findings) = match emulation {
            None => open_dir::expand(plan),
            Some(_) => (Cow::Borrowed(plan), Vec::new()),
        };
        let (loaded, mut unread) = replay::load(plan.as_ref(), options.read_only);
        findings.append(&mut unread);
        let plan = match (emulation, loaded) {
            (Some(emulation), loaded) if emulation.is_virtual() => {
                Cow::Owned(emulation::without_batches(loaded.as_ref()))
            }
            (_, Cow::Owned(loaded)) => Cow::Owned(loaded),
            (_, Cow::Borrowed(_)) => plan,
        };
        let run_seed = run_seed(zero_unix_ms);
        let (bound, placement) = match emulation {
            None => (bind_here(&plan, options, run_seed, &mut findings), Placement::default()),
            Some(emulation) => {
                emulation::bind_to(emulation, &plan, options, run_seed, &mut findings)
            }
        };
        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(RunError::Refused(findings));
        }
        Ok(Ready { plan, bound, placement, findings })
    }
}

/// What the plan's files are on.
enum Ground {
    /// This host's files and devices.
    Host,
    /// Volumes in virtual time.
    Virtual(Box<World>),
    /// Volumes in time that passes.
    Volumes(SharedVolumes),
}

impl Ground {
    fn new(
        emulation: Option<&Emulation>,
        placement: Placement,
        bound: &BoundPlan,
        clock: Clock,
    ) -> Self {
        match emulation {
            None => Ground::Host,
            Some(emulation) if emulation.is_virtual() => {
                Ground::Virtual(Box::new(World::new(emulation, placement, bound)))
            }
            Some(emulation) => {
                Ground::Volumes(SharedVolumes::new(emulation, placement, bound, clock))
            }
        }
    }

    /// Returns the volumes that threads work on.
    fn shared(&self) -> Option<SharedVolumes> {
        match self {
            Ground::Volumes(volumes) => Some(volumes.clone()),
            _ => None,
        }
    }

    /// Returns the time since the start of the run.
    fn now_ns(&self, clock: Clock) -> u64 {
        match self {
            Ground::Virtual(world) => world.now_ns,
            _ => clock.now_ns(),
        }
    }
}

/// A run and what came out of it so far.
pub(crate) struct RunSoFar<'a> {
    plan: &'a Plan,
    options: &'a RunOptions,
    control: &'a Control,
    clock: Clock,
    zero_unix_ms: u64,
    /// Devices below the targets; `None` where there are none.
    disks: Option<DiskSampler>,
    /// Workers of the steps that have ended.
    jobs: Vec<JobRecord>,
    intervals: Vec<Interval>,
    notes: Vec<Note>,
    /// A worker could not start or failed.
    failed: bool,
}

impl RunSoFar<'_> {
    /// Makes the record, with the workers and intervals of a step that has not ended.
    ///
    /// `now_ns` is the time since the start of the run.
    pub(crate) fn record(&self, now_ns: u64, jobs: &[JobRecord], intervals: &[Interval]) -> Record {
        let jobs = [&self.jobs, jobs].concat();
        Record {
            schema: record::SCHEMA.to_owned(),
            plimsoll_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_ms: self.zero_unix_ms,
            elapsed_ns: now_ns,
            outcome: outcome_of(self.control, self.failed),
            command: self.options.command.clone(),
            host: crate::host::describe(),
            clock: self.clock_record(),
            emulation: self.options.emulation.as_ref().map(Emulation::record),
            global_options: self.plan.global_options.clone(),
            jobs: record::group::group(jobs),
            intervals: [&self.intervals, intervals].concat(),
            disks: self.disks.as_ref().map(DiskSampler::finish).unwrap_or_default(),
            notes: self.notes.clone(),
        }
    }

    fn clock_record(&self) -> ClockRecord {
        if self.options.emulation.as_ref().is_some_and(Emulation::is_virtual) {
            let (source, stamping) = ("virtual".to_owned(), "per_io".to_owned());
            return ClockRecord { source, stamping, read_cost_ns: 0 };
        }
        ClockRecord {
            source: self.clock.source_name().to_owned(),
            stamping: "per_batch".to_owned(),
            read_cost_ns: self.clock.read_cost_ns(),
        }
    }

    /// Notes what was found before anything ran.
    fn note_findings(&mut self, findings: &[Diagnostic], on_event: &mut dyn FnMut(RunEvent<'_>)) {
        for finding in findings {
            let severity = match finding.severity {
                Severity::Note => NoteSeverity::Info,
                _ => NoteSeverity::Warning,
            };
            self.note(severity, finding.code, &finding.message, on_event);
        }
    }

    fn note(
        &mut self,
        severity: NoteSeverity,
        code: &str,
        message: &str,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        let note = Note { severity, code: code.to_owned(), message: message.to_owned() };
        on_event(RunEvent::Note(&note));
        self.notes.push(note);
    }
}

fn outcome_of(control: &Control, failed: bool) -> Outcome {
    match control.stop() {
        Stop::No if failed => Outcome::Failed,
        Stop::No => Outcome::Complete,
        _ => Outcome::Interrupted,
    }
}

/// Binds the plan to what is on this host, and collects what stands against it.
fn bind_here(
    plan: &Plan,
    options: &RunOptions,
    run_seed: u64,
    findings: &mut Vec<Diagnostic>,
) -> BoundPlan {
    let (facts, mut unknown) = targets::probe(plan, options);
    findings.append(&mut unknown);
    let (bound, mut unbound) = bind(plan, &facts, run_seed);
    findings.append(&mut unbound);
    findings.append(&mut targets::check(&bound, &facts, options));
    findings.append(&mut remarks::of(&bound, &facts));
    bound
}

/// Returns a number that differs from run to run, for jobs whose seed shall.
fn run_seed(zero_unix_ms: u64) -> u64 {
    pattern::rng::mix64(zero_unix_ms ^ (u64::from(std::process::id()) << 44))
}
