//! A whole run: binds, prepares, runs the steps, returns the record.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use plan::{Diagnostic, Plan, Severity, Step};
use record::{NoteSeverity, Record, StepRecord};

use worker::ErrorBudget;

use crate::alone;
use crate::bind::{BoundPlan, BoundStep, bind, too_many_workers};
use crate::clock::{Clock, unix_ms};
use crate::context::{StepContext, StepOutcome};
use crate::control::{Control, Stop};
use crate::disk::DiskSampler;
use crate::emulation::{self, Emulation, Placement, SharedVolumes};
use crate::event::RunEvent;
use crate::facts::Facts;
use crate::journal::{self, Journal, JournalClock};
use crate::logs::bandwidth_logs;
use crate::memory;
use crate::open_dir;
use crate::options::RunOptions;
use crate::places;
use crate::read_only;
use crate::remarks;
use crate::replay;
use crate::so_far::RunSoFar;
use crate::spread::spread;
use crate::step::run_step;
use crate::steps::{self, Point};
use crate::targets;
use crate::virtual_time::{self, World};

/// Why nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan and this host do not fit together; every mistake is listed.
    #[error("the plan cannot run here")]
    Refused {
        /// What is wrong.
        findings: Vec<Diagnostic>,
        /// Workers of the jobs that cannot start, each job alone on this host; 0 unless
        /// [`RunOptions::counts_refused`] asks for it, and where no single job is the reason.
        n_workers: u64,
    },
}

/// Looks whether a plan can run, as [`run`] does before it begins, and changes nothing.
///
/// # Errors
/// Returns why it cannot.
pub fn check(plan: &Plan, options: &RunOptions) -> Result<(), RunError> {
    Ready::new(plan, options, &Control::new(), unix_ms()).map(drop)
}

/// Binds a plan to this host as [`run`] does, and changes nothing. Returns what it would use,
/// nothing where it cannot run, and what is to be said about it.
pub(crate) fn look(plan: &Plan, options: &RunOptions) -> (BoundPlan, Vec<Diagnostic>) {
    match Ready::new(plan, options, &Control::new(), unix_ms()) {
        Ok(ready) => (ready.bound, ready.findings),
        Err(RunError::Refused { findings, .. }) => (BoundPlan::default(), findings),
    }
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
    let ready = Ready::new(plan, options, control, zero_unix_ms)?;
    let Ready { plan, bound, placement, findings } = ready;
    let plan = plan.as_ref();
    let mut medium = Medium::new(emulation, placement, &bound, clock);
    let journal = begin_journal(options, &bound, JournalClock { clock, zero_unix_ms })?;
    let mut so_far = RunSoFar {
        plan,
        options,
        control,
        clock,
        zero_unix_ms,
        disks: emulation.is_none().then(|| DiskSampler::start(bound.workers())),
        steps: Vec::new(),
        jobs: Vec::new(),
        intervals: Vec::new(),
        conditions: Vec::new(),
        places: if emulation.is_none() { places::of_plan(&bound) } else { Vec::new() },
        notes: emulation.map_or_else(Vec::new, |emulation| emulation.notes.clone()),
        failed: false,
        journal,
        reported_ns: Cell::new(0),
    };
    so_far.note_findings(&findings, on_event);
    if emulation.is_none() {
        so_far.note_places(&bound, on_event);
    }
    let mut n_workers_before = 0;
    for (step_idx, step) in bound.steps.iter().enumerate() {
        let number = StepNumber { step_idx: step_idx as u32, n_workers_before };
        n_workers_before += step.workers.len() as u32;
        if !run_one(&mut so_far, number, step, &mut medium, on_event) {
            break;
        }
        if control.take_end_after_step() {
            break;
        }
        // The record of the whole run follows the last one at once.
        if step_idx + 1 < bound.steps.len() {
            so_far.report(medium.now_ns(clock), on_event);
        }
    }
    so_far.read_back(on_event);
    if let Some((severity, code, message)) = medium.changes_left() {
        so_far.note(severity, code, &message, on_event);
    }
    for (severity, code, message) in bandwidth_logs(options, &so_far.intervals) {
        so_far.note(severity, code, &message, on_event);
    }
    Ok(so_far.record(medium.now_ns(clock), &[], &[]))
}

/// Where a step stands in its run.
#[derive(Clone, Copy)]
struct StepNumber {
    step_idx: u32,
    /// Number of workers in the steps before.
    n_workers_before: u32,
}

/// Runs a step with all that is around it, unless it is left out. Returns false to end the run.
fn run_one(
    so_far: &mut RunSoFar<'_>,
    number: StepNumber,
    step: &Arc<BoundStep>,
    medium: &mut Medium,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> bool {
    let plan = so_far.plan;
    let Some(planned) = plan.steps.get(number.step_idx as usize) else { return false };
    let step_idx = number.step_idx;
    if step.workers.is_empty() {
        so_far.stand_by(step_idx, on_event);
        return so_far.control.stop() == Stop::No;
    }
    let mut record = StepRecord { step_idx, name: planned.name.clone(), ..StepRecord::default() };
    let mut step = Arc::clone(step);
    if let Some(rate_of) = &planned.rate_of {
        let done = steps::JobsDone {
            steps: &so_far.steps,
            jobs: &so_far.jobs,
            intervals: &so_far.intervals,
        };
        match steps::point(rate_of, &plan.steps, done) {
            Point::At(rate_iops) => {
                record.rate_iops = Some(rate_iops as f64);
                step = Arc::new(steps::at_rate(&step, rate_iops as f64));
            }
            Point::Skipped(reason) => {
                so_far.skip(record, reason, medium.now_ns(so_far.clock), on_event);
                return true;
            }
        }
    }
    so_far.pause(number, planned.pause_ns, medium, on_event);
    so_far.run_commands(step_idx, &planned.exec_before, on_event);
    if so_far.control.stop() != Stop::No {
        return false;
    }
    let started_ns = medium.now_ns(so_far.clock);
    record.started_ms = started_ns / 1_000_000;
    let mut outcome = so_far.run_workers(number, planned, &step, medium, on_event);
    so_far.run_commands(step_idx, &planned.exec_after, on_event);
    record.ended_ms = medium.now_ns(so_far.clock) / 1_000_000;
    record.io_errors = std::mem::take(&mut outcome.io_errors);
    so_far.steps.push(record);
    so_far.conditions.push(outcome.conditions);
    so_far.failed |= outcome.failed;
    so_far.jobs.append(&mut outcome.jobs);
    so_far.intervals.append(&mut outcome.intervals);
    for (severity, code, message) in &outcome.notes {
        so_far.note(*severity, code, message, on_event);
    }
    !outcome.stop_all
}

/// Most time between reports where steps end: nothing is measured then that they could disturb.
const BETWEEN_STEPS_MS: u64 = 1000;

/// Longest time between two looks at whether a step begins in which only other hosts have workers.
const STAND_BY: Duration = Duration::from_millis(10);

/// Code of the note that all that was written was found again.
pub const VALIDATED: &str = "validated";

/// Code of the note that some of it was not.
pub const VALIDATE_FAILED: &str = "validate-failed";

/// Blocks that are lost or torn are described up to this number; `plimsoll verify` has all.
const BAD_LINES_MAX: usize = 16;

/// Time between two reports of a pause.
const PAUSED_NS: u64 = 50_000_000;

impl RunSoFar<'_> {
    /// Reports between two steps how the run stands, if that was long ago, or somebody else decides
    /// when the next one begins.
    fn report(&self, now_ns: u64, on_event: &mut dyn FnMut(RunEvent<'_>)) {
        let Some(interval_ms) = self.options.report_interval_ms else { return };
        let interval_ms = interval_ms.clamp(1, BETWEEN_STEPS_MS);
        let is_due = now_ns.saturating_sub(self.reported_ns.get()) >= interval_ms * 1_000_000;
        if is_due || self.options.waits_for_start {
            self.reported_ns.set(now_ns);
            on_event(RunEvent::Report(&self.record(now_ns, &[], &[])));
        }
    }

    /// Takes part in a step in which only other hosts have workers: it ends as it begins.
    fn stand_by(&self, step_idx: u32, on_event: &mut dyn FnMut(RunEvent<'_>)) {
        let control = self.control;
        let wait_for = |holds: &dyn Fn() -> bool| {
            while control.stop() == Stop::No && !holds() {
                control.wait_for_stop(STAND_BY);
            }
        };
        if self.options.waits_for_turn {
            wait_for(&|| control.has_turn());
        }
        if self.options.waits_for_start {
            on_event(RunEvent::StepReady { step_idx });
            let is_over = |at_ns: u64| self.clock.at_monotonic(at_ns) <= self.clock.now_ns();
            wait_for(&|| control.start_of(step_idx).is_some_and(is_over));
        }
        on_event(RunEvent::StepEnded { step_idx, jobs: &[] });
    }

    /// Runs the workers of a step to their end.
    fn run_workers(
        &self,
        number: StepNumber,
        planned: &Step,
        step: &Arc<BoundStep>,
        medium: &mut Medium,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> StepOutcome {
        let StepNumber { step_idx, n_workers_before } = number;
        let context = StepContext {
            step_idx,
            n_steps: self.plan.steps.len() as u32,
            clock: self.clock,
            zero_unix_ms: self.zero_unix_ms,
            options: self.options,
            control: self.control,
            n_workers_before,
            errors: ErrorBudget::default(),
            amount_max: planned.amount_max,
            so_far: self,
            volumes: medium.shared(),
            journal: self.journal.clone(),
        };
        let (name, n_workers) = (planned.name.as_str(), step.workers.len() as u32);
        let rate_iops = planned.rate_of.map(|_| {
            let first = step.workers.iter().filter(|worker| worker.worker_idx == 0);
            first.filter_map(|worker| worker.job.load.rate_total_iops).sum()
        });
        on_event(RunEvent::StepStarted { step_idx, name, rate_iops, n_workers });
        let outcome = match medium {
            Medium::Virtual(world) => virtual_time::run_step(&context, step, world, on_event),
            Medium::Host | Medium::Volumes(_) => run_step(&context, step, on_event),
        };
        on_event(RunEvent::StepEnded { step_idx, jobs: &outcome.jobs });
        outcome
    }

    /// Reads what was written, where a run that validates asks for it, and notes what came of that.
    fn read_back(&mut self, on_event: &mut dyn FnMut(RunEvent<'_>)) {
        let is_asked = self.options.validation.as_ref().is_some_and(|it| it.reads_back);
        let Some(journal) = self.journal.clone().filter(|_| is_asked) else { return };
        let found = journal.read_back(self.control);
        if found.is_partial {
            return;
        }
        let (n_blocks, n_bad) = found.counts();
        let mut text = format!(
            "total amount of blocks read and validated: {n_blocks}; blocks marked in error: {n_bad}"
        );
        for line in found.bad_lines(BAD_LINES_MAX) {
            text.push('\n');
            text.push_str(&line);
        }
        let (severity, code) = if n_bad > 0 {
            self.failed = true;
            (NoteSeverity::Error, VALIDATE_FAILED)
        } else {
            (NoteSeverity::Info, VALIDATED)
        };
        self.note(severity, code, &text, on_event);
    }

    /// Lets time pass before a step, until a stop is asked for.
    fn pause(
        &self,
        number: StepNumber,
        pause_ns: u64,
        medium: &mut Medium,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        let step_idx = number.step_idx;
        if let Medium::Virtual(world) = medium {
            world.now_ns += pause_ns;
            return;
        }
        let until_ns = self.clock.now_ns().saturating_add(pause_ns);
        while self.control.stop() == Stop::No {
            let left_ns = until_ns.saturating_sub(self.clock.now_ns());
            if left_ns == 0 {
                return;
            }
            on_event(RunEvent::Paused { step_idx, left_ns });
            self.control.wait_for_stop(self.clock.wall_time(left_ns.min(PAUSED_NS)));
        }
    }

    /// Runs the commands around a step, one after another.
    fn run_commands(
        &mut self,
        step_idx: u32,
        commands: &[String],
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        for command in commands {
            if self.control.stop() != Stop::No {
                return;
            }
            let stops = || self.control.stop() != Stop::No;
            let (output, failed) = steps::run_command(command, &stops);
            let ok = failed.is_none();
            on_event(RunEvent::CommandEnded { step_idx, command, output: &output, ok });
            if let Some(why) = failed {
                let text = format!("`{command}` failed: {why}");
                self.note(NoteSeverity::Warning, "command-failed", &text, on_event);
            }
        }
    }

    /// Leaves a step out.
    fn skip(
        &mut self,
        record: StepRecord,
        reason: String,
        now_ns: u64,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        let now_ms = now_ns / 1_000_000;
        let (step_idx, name) = (record.step_idx, record.name.as_str());
        on_event(RunEvent::StepSkipped { step_idx, name, reason: &reason });
        let text = format!("step `{name}` is left out: {reason}");
        self.note(NoteSeverity::Info, "step-skipped", &text, on_event);
        let skipped = Some(reason);
        self.steps.push(StepRecord { started_ms: now_ms, ended_ms: now_ms, skipped, ..record });
    }
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
    /// Binds a plan to this host, or to the volumes that stand in for it. If the user asks for the
    /// end meanwhile, nothing is bound, and nothing is refused.
    fn new(
        plan: &'a Plan,
        options: &RunOptions,
        control: &Control,
        zero_unix_ms: u64,
    ) -> Result<Self, RunError> {
        if let Some(finding) =
            too_many_workers(plan).or_else(|| memory::too_little(plan, options.is_virtual()))
        {
            return Err(RunError::Refused { findings: vec![finding], n_workers: 0 });
        }
        let emulation = options.emulation.as_ref();
        let (plan, mut of_jobs) = match emulation {
            None => open_dir::expand(plan, control),
            Some(_) => (Cow::Borrowed(plan), Vec::new()),
        };
        let (loaded, mut of_records) = replay::load(plan.as_ref(), options.read_only, control);
        of_jobs.append(&mut of_records);
        let plan = match (emulation, loaded) {
            (Some(emulation), loaded) if emulation.is_virtual() => {
                Cow::Owned(emulation::without_batches(loaded.as_ref()))
            }
            (_, Cow::Owned(loaded)) => Cow::Owned(loaded),
            (_, Cow::Borrowed(_)) => plan,
        };
        let plan = match (emulation, spread(&plan, n_cpus())) {
            (None, Cow::Owned(spread)) => Cow::Owned(spread),
            _ => plan,
        };
        let is_virtual = emulation.is_some_and(Emulation::is_virtual);
        let unread = alone::refused(&of_jobs);
        let mut findings: Vec<_> = of_jobs.into_iter().map(|(_, finding)| finding).collect();
        findings.extend(steps::check_commands(&plan, options.allow_commands, is_virtual));
        let run_seed = run_seed(zero_unix_ms);
        let mut facts = None;
        let (bound, placement) = match emulation {
            None => {
                let (bound, found) = bind_here(&plan, options, (run_seed, control), &mut findings);
                facts = Some(found);
                (bound, Placement::default())
            }
            Some(emulation) => {
                // What the volumes hold is no part of this host; what goes on around them is.
                if options.read_only && !is_virtual {
                    findings.extend(read_only::around(&plan));
                }
                let seed_and_control = (run_seed, control);
                let (bound, placement) =
                    bind_to(emulation, &plan, options, seed_and_control, &mut findings);
                if options.read_only {
                    findings.extend(read_only::outputs(&plan, &bound, options));
                }
                (bound, placement)
            }
        };
        findings.extend(journal::refusals(&bound, options));
        if control.is_stopped() {
            let (bound, placement) = (BoundPlan::default(), Placement::default());
            return Ok(Ready { plan, bound, placement, findings: Vec::new() });
        }
        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            let n_workers = facts.map_or(0, |it| alone::n_workers(&plan, &it, &unread, options));
            return Err(RunError::Refused { findings, n_workers });
        }
        check_whole(&plan, &bound);
        Ok(Ready { plan, bound, placement, findings })
    }
}

/// Asserts that each step and each worker of a plan is bound.
pub(crate) fn check_whole(plan: &Plan, bound: &BoundPlan) {
    let (n_steps, n_bound) = (plan.steps.len(), bound.steps.len());
    assert!(n_steps == n_bound, "{n_bound} steps are bound of a plan of {n_steps}");
    let n_workers: u64 = plan.jobs().map(|job| u64::from(job.n_workers)).sum();
    let n_bound: usize = bound.steps.iter().map(|step| step.workers.len()).sum();
    assert!(n_bound as u64 == n_workers, "{n_bound} workers are bound of a plan of {n_workers}");
}

/// What the plan's files are on, and whose time it is.
enum Medium {
    /// This host's files and devices.
    Host,
    /// Volumes in virtual time.
    Virtual(Box<World>),
    /// Volumes in time that passes.
    Volumes(SharedVolumes),
}

impl Medium {
    fn new(
        emulation: Option<&Emulation>,
        placement: Placement,
        bound: &BoundPlan,
        clock: Clock,
    ) -> Self {
        match emulation {
            None => Medium::Host,
            Some(emulation) if emulation.is_virtual() => {
                Medium::Virtual(Box::new(World::new(emulation, placement, bound)))
            }
            Some(emulation) => {
                Medium::Volumes(SharedVolumes::new(emulation, placement, bound, clock))
            }
        }
    }

    /// Returns the volumes that threads work on.
    fn shared(&self) -> Option<SharedVolumes> {
        match self {
            Medium::Volumes(volumes) => Some(volumes.clone()),
            Medium::Host | Medium::Virtual(_) => None,
        }
    }

    /// Returns what is to be said of designs whose time did not come.
    fn changes_left(&self) -> Option<(NoteSeverity, &'static str, String)> {
        match self {
            Medium::Virtual(world) => world.changes_left(),
            Medium::Host | Medium::Volumes(_) => None,
        }
    }

    /// Returns the time since the start of the run.
    fn now_ns(&self, clock: Clock) -> u64 {
        match self {
            Medium::Virtual(world) => world.now_ns,
            Medium::Host | Medium::Volumes(_) => clock.now_ns(),
        }
    }
}

/// Returns the processors that the process may use.
fn n_cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

/// Binds the plan to what is on this host, and collects what stands against it. Returns what is
/// known of its targets, too.
fn bind_here(
    plan: &Plan,
    options: &RunOptions,
    (run_seed, control): (u64, &Control),
    findings: &mut Vec<Diagnostic>,
) -> (BoundPlan, Facts) {
    let (facts, mut unknown) = targets::probe(plan, options, control);
    findings.append(&mut unknown);
    let (bound, mut unbound) = bind(plan, &facts, run_seed, control);
    findings.append(&mut unbound);
    findings.append(&mut targets::check(&bound, &facts, options, control));
    if options.read_only {
        findings.extend(read_only::check(plan, &bound, &facts, options));
    }
    findings.append(&mut remarks::of(&bound, &facts));
    (bound, facts)
}

/// Binds the plan to the volumes of the design, and collects what stands against it.
fn bind_to(
    on: &Emulation,
    plan: &Plan,
    options: &RunOptions,
    (run_seed, control): (u64, &Control),
    findings: &mut Vec<Diagnostic>,
) -> (BoundPlan, Placement) {
    findings.append(&mut emulation::refusals(plan, on.is_virtual()));
    let (facts, mut misplaced) = emulation::facts(plan, &on.design, control);
    let is_placed = misplaced.is_empty();
    findings.append(&mut misplaced);
    let (bound, mut unbound) = bind(plan, &facts, run_seed, control);
    if is_placed {
        findings.append(&mut unbound);
    }
    findings.append(&mut targets::check(&bound, &facts, options, control));
    findings.append(&mut remarks::on_volumes(&bound));
    let (placement, mut too_much) = Placement::new(&bound, &on.design, control);
    findings.append(&mut too_much);
    (bound, placement)
}

/// Begins the journal of a run that validates what it writes.
fn begin_journal(
    options: &RunOptions,
    bound: &BoundPlan,
    time: JournalClock,
) -> Result<Option<Arc<Journal>>, RunError> {
    let Some(validation) = options.validation.as_ref().filter(|_| !bound.steps.is_empty()) else {
        return Ok(None);
    };
    let run = run_seed(time.zero_unix_ms);
    match Journal::begin(validation, bound, time, run) {
        Ok(journal) => Ok(Some(Arc::new(journal))),
        Err(finding) => Err(RunError::Refused { findings: vec![finding], n_workers: 0 }),
    }
}

/// Returns a number that differs from run to run, for jobs without a fixed seed.
fn run_seed(zero_unix_ms: u64) -> u64 {
    pattern::rng::mix64(zero_unix_ms ^ (u64::from(std::process::id()) << 44))
}
