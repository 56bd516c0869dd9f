//! The workers of a step while it runs: who waits, who runs, who has ended, and what follows from
//! it. Uses neither threads nor a clock, so that it serves real and virtual time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plan::Direction;
use plan::job::ExitAll;
use plan::load::{Flow, Limits};
use record::step::IO_ERRORS_MAX;
use record::{
    HostSecond, Interval, IoErrorRecord, JobRecord, LoadShares, NoteSeverity, StepConditions,
    UntilSteadyRecord,
};
use worker::{FlowGroup, FormatStatus, IoError};

use crate::amount::AmountWatch;
use crate::claims::Claims;
use crate::context::{StepContext, StepOutcome};
use crate::cpu::{CpuSampler, HostLoad};
use crate::disk::DiskWatch;
use crate::event::RunEvent;
use crate::jobs_so_far::JobsSoFar;
use crate::series::SeriesSoFar;
use crate::setup_error::SetupError;
use crate::worker_event::{WorkerEvent, WorkerResult};

use crate::bind::BoundStep;
use crate::collect::{Ended, has_rate, job_record};
use crate::control::Stop;
use crate::error_watch::ErrorWatch;
use crate::footprint::{self, Footprint};
use crate::intervals::{Counters, Cuts, Schedule};
use crate::pauses::PauseWatch;
use crate::seat::{Seat, SeatState, delay_ns};
use crate::status::{IntervalSampler, Status};
use crate::steady::{self, SteadyWatch};
use crate::tree::TreeSeat;
use crate::{tree, verify_notes, verify_state};

/// Returns the flow membership of each worker that has one, by position in the step.
pub(crate) fn flow_groups(step: &BoundStep) -> BTreeMap<usize, FlowGroup> {
    let mut by_id: BTreeMap<u32, Vec<(usize, Flow)>> = BTreeMap::new();
    for (idx, bound) in step.workers.iter().enumerate() {
        if let Some(flow) = bound.job.load.flow {
            by_id.entry(flow.id).or_default().push((idx, flow));
        }
    }
    by_id
        .into_values()
        .flat_map(|members| {
            let flows: Vec<Flow> = members.iter().map(|member| member.1).collect();
            let groups = FlowGroup::members(&flows);
            members.into_iter().map(|member| member.0).zip(groups).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the watches of steady state: one per reporting group, or per worker without groups.
fn steady_groups(seats: &[Seat<'_>]) -> Vec<(SteadyWatch, Vec<usize>)> {
    let mut groups: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
    for (idx, seat) in seats.iter().enumerate() {
        let job = &seat.bound.job;
        if job.limits.steady.is_some_and(|steady| steady.window_ns > 0) {
            let alone = if job.reporting.group_reporting { usize::MAX } else { idx };
            groups.entry((job.group_id, alone)).or_default().push(idx);
        }
    }
    groups
        .into_values()
        .filter_map(|members| {
            let spec = seats[members[0]].bound.job.limits.steady?;
            let meters = members.iter().map(|idx| Arc::clone(&seats[*idx].meters)).collect();
            Some((SteadyWatch::new(spec, meters), members))
        })
        .collect()
}

/// A step whose workers exist.
pub(crate) struct Running<'a> {
    pub(crate) context: &'a StepContext<'a>,
    pub(crate) seats: Vec<Seat<'a>>,
    /// The devices that are held while its workers write to them.
    pub(crate) claims: Arc<Claims>,
    pub(crate) started_ns: u64,
    /// When the caller wanted the workers to begin, where it named a moment.
    pub(crate) start_at_ns: Option<u64>,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) notes: Vec<(NoteSeverity, &'static str, String)>,
    /// Watches of steady state, with the positions of their seats.
    pub(crate) steady: Vec<(SteadyWatch, Vec<usize>)>,
    /// When it was found steady, where it was to run until then.
    steady_since_ns: Option<u64>,
    /// Intervals from the first on in which reads filled a cache: no window begins in them.
    n_filling: usize,
    /// What this host's processors do from the start of the workers on.
    pub(crate) host: Option<CpuSampler>,
    /// What the disks below the targets do meanwhile.
    disks: Option<DiskWatch>,
    /// What keeps this process from acting meanwhile.
    pub(crate) pauses: Option<PauseWatch>,
    pub(crate) stop_all: bool,
    amount: Option<AmountWatch>,
    errors: ErrorWatch,
    /// Failed operations, as far as they are kept.
    io_errors: Vec<IoErrorRecord>,
    /// Failed operations that were reported.
    n_errors_reported: usize,
    follow: Follow,
    /// What this host's processors did since the last interval, where intervals say so.
    host_second: Option<CpuSampler>,
}

/// When it is said next how the jobs stand, where that is wanted.
struct Follow {
    /// What this host's processors did since it was said last.
    cpu: Option<CpuSampler>,
    /// Not before this time.
    next_ns: u64,
}

/// Least time between two looks at all jobs, in times of what one takes: they keep a processor
/// busy for two hundredths at most.
const FOLLOW_PAUSE: u64 = 50;

/// What follows for a step from what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obeyed {
    /// Nothing.
    GoesOn,
    /// Its workers were asked to end.
    Ends,
    /// It is left at once, without waiting for what is in flight.
    LeavesNow,
}

/// Part of what a cache can hold that counts as all of it: reads that are drawn anew each time
/// come to the last of it late.
const CACHE_FULL: f64 = 0.95;

/// Returns when a worker's time is over, nanoseconds after the start of its step, if it is limited;
/// one of centuries never is.
fn end_of(limits: &Limits) -> Option<u64> {
    let before_ns = limits.start_delay_ns.1.saturating_add(limits.ramp_ns);
    limits.runtime_ns.map(|runtime_ns| before_ns.saturating_add(runtime_ns))
}

impl<'a> Running<'a> {
    /// Makes a step that starts at `now_ns`.
    pub(crate) fn new(context: &'a StepContext<'a>, seats: Vec<Seat<'a>>, now_ns: u64) -> Self {
        let steady = steady_groups(&seats);
        let meters = seats.iter().map(|seat| Arc::clone(&seat.meters)).collect();
        let disks = if context.options.emulation.is_none() {
            let workers = seats.iter().map(|seat| seat.bound);
            DiskWatch::start(workers, context.journal.is_some())
        } else {
            None
        };
        Running {
            errors: ErrorWatch::new(&seats),
            context,
            seats,
            claims: Arc::new(Claims::new(context.options)),
            started_ns: now_ns,
            start_at_ns: None,
            intervals: Vec::new(),
            notes: Vec::new(),
            steady,
            steady_since_ns: None,
            n_filling: 0,
            host: (!context.options.is_virtual()).then(CpuSampler::start),
            disks,
            pauses: None,
            stop_all: false,
            amount: AmountWatch::new(context.amount_max, meters, now_ns),
            io_errors: Vec::new(),
            n_errors_reported: 0,
            follow: Follow {
                cpu: (context.options.follows_jobs && !context.options.is_virtual())
                    .then(CpuSampler::start),
                next_ns: 0,
            },
            host_second: (context.options.has_host_seconds && !context.options.is_virtual())
                .then(CpuSampler::start),
        }
    }

    /// Notes that the workers start at `started_ns`: what this host does counts from here on.
    pub(crate) fn begin(&mut self, started_ns: u64) {
        self.started_ns = started_ns;
        self.host = Some(CpuSampler::start());
        self.disks = self.disks.take().and_then(DiskWatch::restart);
        if self.follow.cpu.is_some() {
            self.follow.cpu = Some(CpuSampler::start());
        }
        self.host_second = self.host_second.take().map(|_| CpuSampler::start());
        self.pauses = PauseWatch::start(self.context.clock, self.ramp_end_ns());
    }

    /// Makes a sampler of all workers from `now_ns` on.
    pub(crate) fn sampler(&self, now_ns: u64) -> IntervalSampler {
        let meters = self.seats.iter().map(|seat| Arc::clone(&seat.meters)).collect();
        // Response times of some of the operations are not those of all.
        let is_open =
            Direction::ALL.map(|dir| self.seats.iter().all(|it| has_rate(&it.bound.job, dir)));
        IntervalSampler::new(meters, is_open, now_ns)
    }

    /// Begins the first interval of the step.
    pub(crate) fn first_interval(&self, now_ns: u64) -> Cuts {
        let counters = Counters::new(&self.seats, self.sampler(now_ns), self.context);
        let schedule = Schedule::new(now_ns, self.ramp_end_ns(), self.context.options);
        Cuts::new(schedule, counters)
    }
}

impl Running<'_> {
    /// Ends the workers when they have moved together what the step allows, or when the last failed
    /// operation is long enough ago.
    pub(crate) fn check_ends(&mut self, now_ns: u64) {
        if self.errors.is_quiet(now_ns) {
            self.stop_all = true;
            self.stop_where(|_| true);
        }
        if self.amount.as_mut().is_some_and(|amount| amount.is_reached(now_ns)) {
            self.amount = None;
            self.stop_where(|_| true);
        }
    }

    /// Returns when [`Running::check_ends`] wants to be called at the latest.
    pub(crate) fn next_look_ns(&self) -> u64 {
        let of_amount = self.amount.as_ref().map_or(u64::MAX, AmountWatch::next_ns);
        of_amount.min(self.errors.next_ns())
    }

    /// Reports of operations that have failed since the last call.
    pub(crate) fn report_errors(&mut self, on_event: &mut dyn FnMut(RunEvent<'_>)) {
        for error in &self.io_errors[self.n_errors_reported..] {
            on_event(RunEvent::IoError(error));
        }
        self.n_errors_reported = self.io_errors.len();
    }

    /// Keeps a failed operation, if there is room.
    fn keep_error(&mut self, idx: usize, error: &IoError) {
        self.errors.saw(error.at_ns);
        if self.io_errors.len() >= IO_ERRORS_MAX {
            return;
        }
        let (bound, op) = (self.seats[idx].bound, &error.op);
        let target = match &bound.job.tree {
            Some(work) => {
                let seat = self.seats[idx].tree.as_ref();
                tree::path_of(seat.map_or(work, TreeSeat::work), op)
            }
            None => (bound.files.get(op.file.0 as usize))
                .map_or_else(String::new, |file| file.path.display().to_string()),
        };
        self.io_errors.push(IoErrorRecord {
            job: bound.job.name.clone(),
            target,
            op: op.kind.name().to_owned(),
            offset: op.offset,
            len: op.len,
            errno: error.errno,
            at_ms: error.at_ns / 1_000_000,
        });
    }

    /// Returns when [`Running::check_steady`] wants to be called; `None` while it is not known when
    /// a group begins to measure.
    pub(crate) fn next_steady_ns(&self) -> Option<u64> {
        let due = self.steady.iter().map(|(watch, _)| watch.next_ns());
        Some(due.collect::<Option<Vec<u64>>>()?.into_iter().min().unwrap_or(u64::MAX))
    }

    /// Ends the workers whose group has become steady.
    pub(crate) fn check_steady(&mut self, now_ns: u64) {
        for (watch, members) in &mut self.steady {
            if watch.tick(now_ns) {
                for idx in members {
                    self.seats[*idx].stop();
                }
            }
        }
    }

    pub(crate) fn take(&mut self, event: WorkerEvent) {
        match event {
            WorkerEvent::Ready { idx, error } => {
                let seat = &mut self.seats[idx];
                assert!(seat.state == SeatState::Building, "a worker gets ready once");
                seat.state = SeatState::Waiting;
                if let Some(error) = error {
                    seat.state = SeatState::Ended;
                    seat.setup_error = Some(error);
                    self.after_end(idx);
                }
            }
            WorkerEvent::Error { text } => {
                self.notes.push((NoteSeverity::Info, "io-error", text));
            }
            WorkerEvent::IoError { idx, error } => self.keep_error(idx, &error),
            WorkerEvent::Panicked { idx, message } => {
                let seat = &mut self.seats[idx];
                seat.state = SeatState::Ended;
                seat.setup_error = Some(SetupError::of_panic("the worker", &message));
                // What others would measure beside it is not what was asked for.
                self.stop_all = true;
                self.stop_where(|_| true);
            }
            WorkerEvent::Ended { idx, result } => {
                let is_there =
                    matches!(self.seats[idx].state, SeatState::Waiting | SeatState::Running);
                assert!(is_there, "a worker that ends was ready, and ends once");
                self.note_verification(idx, &result);
                self.note_remarks(idx, &result);
                self.seats[idx].state = SeatState::Ended;
                self.seats[idx].result = Some(result);
                self.after_end(idx);
            }
        }
    }

    /// Takes over the remarks of a worker, each once.
    fn note_remarks(&mut self, idx: usize, result: &WorkerResult) {
        let job = &self.seats[idx].bound.job;
        let remarks = result.remarks.iter().map(|text| ("after-job", text.clone()));
        let text = format!("job `{}` ran on {}", job.name, result.engine_used);
        let replaced = result.stands_in.then_some(("engine-replaced", text));
        for (code, text) in remarks.chain(replaced) {
            let note = (NoteSeverity::Warning, code, text);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// Saves what a worker had written, and notes what its verification left open.
    fn note_verification(&mut self, idx: usize, result: &WorkerResult) {
        let job = &self.seats[idx].bound.job;
        if let Some(state) = &result.verify_state {
            let aux_dir = self.context.aux_dir();
            if let Err(error) = verify_state::save(aux_dir, state) {
                let text = error.to_string();
                self.notes.push((NoteSeverity::Warning, "verify-state-unsaved", text));
            }
        }
        self.notes.extend(verify_notes::of_result(job, result));
    }

    /// Starts waiting workers whose time has come.
    pub(crate) fn start_waiting(&mut self) {
        for idx in 0..self.seats.len() {
            if self.seats[idx].state == SeatState::Waiting && !self.is_held_back(idx) {
                self.seats[idx].go();
            }
        }
    }

    /// Returns whether a worker waits for a job that has not ended.
    fn is_held_back(&self, idx: usize) -> bool {
        let Some(awaited) = &self.seats[idx].bound.job.wait_for else { return false };
        self.seats
            .iter()
            .any(|seat| seat.bound.job.name == *awaited && seat.state != SeatState::Ended)
    }

    /// Draws the consequences of a worker's end for the others.
    fn after_end(&mut self, idx: usize) {
        let seat = &self.seats[idx];
        let errors = &seat.bound.job.errors;
        let group_id = seat.bound.job.group_id;
        let ends_all = errors.exit_all_on_error || errors.n_errors_max.is_some();
        let exit_all = if ends_all && seat.has_failed() { ExitAll::All } else { errors.exit_all };
        match exit_all {
            ExitAll::Itself => {}
            ExitAll::Group => self.stop_where(|other| other.bound.job.group_id == group_id),
            ExitAll::Step => self.stop_where(|_| true),
            ExitAll::All => {
                self.stop_all = true;
                self.stop_where(|_| true);
            }
        }
    }

    fn stop_where(&self, which: impl Fn(&Seat<'_>) -> bool) {
        for seat in self.seats.iter().filter(|seat| which(seat)) {
            seat.stop();
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.seats.iter().all(|seat| seat.state == SeatState::Ended)
    }

    /// Ends the interval that is over, if one is. Returns when the next one will be.
    pub(crate) fn tick_interval(
        &mut self,
        cuts: &mut Cuts,
        now_ns: u64,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> u64 {
        if let Some(interval) = cuts.tick(now_ns, self.ends_ns()) {
            self.report_interval(interval, cuts.so_far().as_ref(), now_ns, on_event);
        }
        cuts.next_ns()
    }

    /// Returns when the time of every worker that has not ended is over; `None` where that of one
    /// is not limited.
    pub(crate) fn ends_ns(&self) -> Option<u64> {
        let active = self.seats.iter().filter(|seat| seat.state != SeatState::Ended);
        let ends = active.map(|seat| &seat.bound.job.limits).map(|limits| {
            let end_ns = end_of(limits).map(|end_ns| end_ns.saturating_add(self.started_ns));
            end_ns.filter(|_| limits.ramp_bytes == 0)
        });
        ends.collect::<Option<Vec<u64>>>()?.into_iter().max().or(Some(0))
    }

    /// Ends the last interval, if there is something of it.
    pub(crate) fn end_last_interval(
        &mut self,
        mut cuts: Cuts,
        now_ns: u64,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        if let Some(interval) = cuts.last(now_ns) {
            self.report_interval(interval, cuts.so_far().as_ref(), now_ns, on_event);
        }
    }

    /// Returns when the last worker had nothing more to do; `None` where not all have ended. Its
    /// thread and this one may notice much later.
    pub(crate) fn work_ended_ns(&self) -> Option<u64> {
        let of_seat = |seat: &Seat<'_>| {
            let result = seat.result.as_ref()?;
            let limits = &seat.bound.job.limits;
            let Some(runtime_ns) = limits.runtime_ns else { return Some(result.ended_ns) };
            let end_ns =
                result.started_ns.saturating_add(limits.ramp_ns).saturating_add(runtime_ns);
            Some(result.ended_ns.min(end_ns.max(result.last_done_ns)))
        };
        let ends: Option<Vec<u64>> = self.seats.iter().map(of_seat).collect();
        ends?.into_iter().max()
    }

    /// Adds an interval to the record, and reports it.
    pub(crate) fn report_interval(
        &mut self,
        mut interval: Interval,
        so_far: Option<&SeriesSoFar<'_>>,
        now_ns: u64,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        interval.host = self.host_second();
        if let Some(so_far) = so_far {
            on_event(RunEvent::SeriesSoFar(so_far));
        }
        on_event(RunEvent::Interval(&interval));
        if self.context.options.follows_jobs {
            on_event(RunEvent::JobsSoFar(&self.jobs_so_far(now_ns)));
        }
        self.intervals.push(interval);
        self.check_until_steady(now_ns);
    }

    /// Returns what this host is at, and begins its next period; `None` where it is not asked for.
    fn host_second(&mut self) -> Option<HostSecond> {
        let load = self.host_second.as_ref()?.load();
        self.host_second = Some(CpuSampler::start());
        let mut n_in_flight: BTreeMap<String, u64> = BTreeMap::new();
        for idx in self.reported() {
            let Seat { bound, meters, state, .. } = &self.seats[idx];
            let n = if *state == SeatState::Running { meters.n_in_flight.load(Relaxed) } else { 0 };
            match n_in_flight.get_mut(&bound.job.name) {
                Some(sum) => *sum += n,
                None => drop(n_in_flight.insert(bound.job.name.clone(), n)),
            }
        }
        let load = load.map(|HostLoad { busy_share, own_share, steal_share, .. }| LoadShares {
            busy_share,
            own_share,
            steal_share,
        });
        Some(HostSecond { n_in_flight, load })
    }

    /// Returns how the jobs stand, and settles when that may be asked next.
    fn jobs_so_far(&mut self, now_ns: u64) -> JobsSoFar {
        let clock = self.context.clock;
        let began_ns = clock.now_ns();
        if now_ns < self.follow.next_ns {
            return JobsSoFar { step_idx: self.context.step_idx, ..JobsSoFar::default() };
        }
        let n_in_flight = self.reported().map(|idx| {
            let seat = &self.seats[idx];
            let is_running = seat.state == SeatState::Running;
            if is_running { seat.meters.n_in_flight.load(Relaxed) } else { 0 }
        });
        let so_far = JobsSoFar {
            step_idx: self.context.step_idx,
            n_in_flight: n_in_flight.collect(),
            jobs: self.jobs_now(now_ns),
            load: self.follow.cpu.as_ref().and_then(CpuSampler::load),
        };
        if self.follow.cpu.is_some() {
            self.follow.cpu = Some(CpuSampler::start());
            // With thousands of workers it takes long, and must not become what is measured. The
            // time of emulated volumes is not this host's.
            let took_ns = clock.now_ns().saturating_sub(began_ns);
            self.follow.next_ns = now_ns.saturating_add(took_ns.saturating_mul(FOLLOW_PAUSE));
        }
        so_far
    }

    /// Ends the step once it is steady, where it is to run until then.
    fn check_until_steady(&mut self, now_ns: u64) {
        let Some(until) = self.context.options.until_steady else { return };
        if self.steady_since_ns.is_some() {
            return;
        }
        if self.fills_cache() {
            self.n_filling = self.intervals.len();
        } else if steady::is_steady(&self.intervals[self.n_filling..], &until) {
            self.steady_since_ns = Some(now_ns);
            self.stop_where(|_| true);
        }
    }

    /// Returns whether reads still fill the host cache of an emulated machine that began cold: the
    /// level now, however even, is not the one that comes when it is full.
    fn fills_cache(&self) -> bool {
        let Some(emulation) = &self.context.options.emulation else { return false };
        let readers = self.seats.iter().filter(|seat| seat.bound.job.access().read);
        let files = readers.flat_map(|seat| &seat.bound.files);
        let cache_bytes = files.map(|file| emulation.cold_cache_bytes(&file.path)).max();
        let Some(cache_bytes) = cache_bytes.filter(|bytes| *bytes > 0) else { return false };
        let workers = self.seats.iter().map(|seat| (seat.bound, seat.meters.as_ref()));
        let Footprint { addressed_bytes, touched_bytes } = footprint::of_step(workers);
        let Some((addressed, touched)) = addressed_bytes.zip(touched_bytes) else { return false };
        let mut readers = self.seats.iter().filter(|seat| seat.bound.job.access().read);
        // Until its pass is whole, such a reader finds nothing that it has brought in.
        let goes_in_passes = readers.any(|seat| footprint::goes_in_passes(&seat.bound.job));
        let full = if goes_in_passes { 1.0 } else { CACHE_FULL };
        (touched as f64) < addressed.min(cache_bytes) as f64 * full
    }

    /// Returns whether workers may be stopped when an interval ends.
    pub(crate) fn ends_with_intervals(&self) -> bool {
        self.context.options.until_steady.is_some()
    }

    pub(crate) fn ramp_end_ns(&self) -> u64 {
        let ramp_ns = self.seats.iter().map(|seat| seat.bound.job.limits.ramp_ns).min();
        self.started_ns + ramp_ns.unwrap_or(0)
    }

    /// Passes on requests to end the step or the run.
    pub(crate) fn obey_control(&mut self) -> Obeyed {
        match self.context.control.stop() {
            Stop::No => {
                if !self.context.control.take_step_end() {
                    return Obeyed::GoesOn;
                }
                self.end_seats();
                Obeyed::Ends
            }
            Stop::Soon => {
                self.stop_all = true;
                self.end_seats();
                Obeyed::Ends
            }
            Stop::Now => {
                self.stop_all = true;
                self.interrupt_seats();
                Obeyed::LeavesNow
            }
        }
    }

    /// Asks the workers to end, and how urgently: it ends their commands, too.
    fn interrupt_seats(&self) {
        let n_interrupts = self.context.control.n_requests();
        for seat in &self.seats {
            seat.signals.n_interrupts.store(n_interrupts, Relaxed);
            seat.stop();
        }
    }

    /// Lets workers that wait for others begin, so that all can end.
    fn end_seats(&mut self) {
        self.interrupt_seats();
        for seat in &mut self.seats {
            if seat.state == SeatState::Waiting {
                seat.go();
            }
            seat.stop();
        }
    }

    pub(crate) fn status(&self, period: &Interval, now_ns: u64) -> Status {
        let n_running = self.seats.iter().filter(|s| s.state == SeatState::Running).count();
        Status {
            step_idx: self.context.step_idx,
            n_steps: self.context.n_steps,
            n_running: n_running as u32,
            n_workers: self.seats.len() as u32,
            ramp: now_ns < self.ramp_end_ns(),
            elapsed_ns: now_ns - self.started_ns,
            left_ns: self.left_ns(now_ns),
            format: self.format_status(),
            ..Status::of(period)
        }
    }

    /// Returns how far all formats of the step are together; each is counted once, however many
    /// workers it has.
    fn format_status(&self) -> Option<FormatStatus> {
        let mut of_jobs = BTreeMap::new();
        for seat in &self.seats {
            if let Some(status) = seat.format_status() {
                of_jobs.insert(Arc::as_ptr(&seat.bound.job), status);
            }
        }
        of_jobs.into_values().reduce(FormatStatus::and)
    }

    /// Estimates the time until the last worker ends: by its runtime, and by its progress.
    fn left_ns(&self, now_ns: u64) -> Option<u64> {
        let elapsed_ns = now_ns - self.started_ns;
        let mut longest = Some(0);
        for seat in self.seats.iter().filter(|seat| seat.state == SeatState::Running) {
            let limits = &seat.bound.job.limits;
            let by_time = end_of(limits).map(|end_ns| end_ns.saturating_sub(elapsed_ns));
            let by_amount = if limits.time_based { None } else { seat.left_by_amount(elapsed_ns) };
            let left = match (by_time, by_amount) {
                (Some(time), Some(amount)) => Some(time.min(amount)),
                (time, amount) => time.or(amount),
            };
            longest = longest.zip(left).map(|(longest, left)| longest.max(left));
        }
        longest
    }
}

impl Running<'_> {
    /// Returns what came of the step, `now_ns` being its end.
    pub(crate) fn into_outcome(mut self, now_ns: u64) -> StepOutcome {
        let failure = self.errors.failure(&self.seats);
        let has_failed = failure.is_some() || self.seats.iter().any(Seat::has_failed);
        if let Some(text) = failure {
            self.stop_all = true;
            self.notes.push((NoteSeverity::Error, "operations-failed", text));
        }
        let conditions = self.conditions();
        let mut jobs: Vec<_> = self.reported().map(|idx| self.last_record(idx, now_ns)).collect();
        record::compare_parts(&mut jobs);
        StepOutcome {
            jobs,
            intervals: std::mem::take(&mut self.intervals),
            conditions,
            notes: self.notes,
            io_errors: self.io_errors,
            stop_all: self.stop_all,
            failed: has_failed,
        }
    }

    /// Returns under which conditions the step was measured.
    fn conditions(&mut self) -> StepConditions {
        let load = self.host.as_ref().and_then(CpuSampler::load);
        let workers = self.seats.iter().map(|seat| (seat.bound, seat.meters.as_ref()));
        let Footprint { addressed_bytes, touched_bytes } = footprint::of_step(workers);
        StepConditions {
            step_idx: self.context.step_idx,
            start_error_ns: self.start_error_ns(),
            host_busy_share: load.map(|load| load.busy_share),
            host_steal_share: load.map(|load| load.steal_share),
            own_busy_share: load.map(|load| load.own_share),
            others_user_share: load.map(|load| load.others_user_share),
            pauses: self.pauses.take().map(PauseWatch::finish),
            disk_use: self.disks.as_ref().and_then(DiskWatch::finish),
            addressed_bytes,
            touched_bytes,
            until_steady: self.context.options.until_steady.map(|until| UntilSteadyRecord {
                limit_ms: until.limit_ns / 1_000_000,
                attained_ms: self
                    .steady_since_ns
                    .map(|at_ns| at_ns.saturating_sub(self.started_ns) / 1_000_000),
            }),
        }
    }

    /// Returns how much later than the caller wanted the first worker began, nanoseconds.
    fn start_error_ns(&self) -> Option<i64> {
        let began = self.seats.iter().filter_map(|seat| {
            Some(seat.result.as_ref()?.started_ns.saturating_sub(delay_ns(seat.bound)))
        });
        Some(began.min()?.cast_signed() - self.start_at_ns?.cast_signed())
    }

    /// Returns the positions of the workers that stand in the results.
    fn reported(&self) -> impl Iterator<Item = usize> {
        (0..self.seats.len()).filter(|&idx| self.seats[idx].bound.job.reporting.stats)
    }

    /// Makes the record of one worker; `is_live` while it may still run.
    fn job_record(&self, idx: usize, is_live: bool) -> JobRecord {
        let seat = &self.seats[idx];
        let watch = self.steady.iter().find(|(_, members)| members.contains(&idx));
        let ended = Ended {
            bound: seat.bound,
            meters: &seat.meters,
            step_idx: self.context.step_idx,
            zero_unix_ms: self.context.zero_unix_ms,
            result: seat.result.as_deref(),
            tree: seat.tree.as_ref().map(TreeSeat::work),
            is_emulated: self.context.options.emulation.is_some(),
            setup_error: seat.setup_error.as_ref().map(|e| (e.errno, e.message.clone())),
            created_only: is_live || seat.bound.job.files.create_only,
        };
        JobRecord { steady: watch.map(|(watch, _)| watch.record()), ..job_record(&ended) }
    }

    /// Makes the record of one worker at the end of the step. One that was left while it ran has
    /// what it had counted by then.
    fn last_record(&self, idx: usize, now_ns: u64) -> JobRecord {
        match (self.seats[idx].state, &self.seats[idx].result) {
            (SeatState::Running, _) => {}
            // Its thread is gone.
            (SeatState::Ended, None) if self.seats[idx].setup_error.is_some() => {
                let JobRecord { error_errno, error_message, .. } = self.job_record(idx, false);
                return JobRecord { error_errno, error_message, ..self.record_now(idx, now_ns) };
            }
            (SeatState::Building | SeatState::Waiting | SeatState::Ended, _) => {
                return self.job_record(idx, false);
            }
        }
        let error_message =
            "stopped at once: what was in flight is not counted, nor CPU time".to_owned();
        JobRecord { error_errno: libc::ECANCELED, error_message, ..self.record_now(idx, now_ns) }
    }

    /// Makes the record of one worker as it is now.
    fn record_now(&self, idx: usize, now_ns: u64) -> JobRecord {
        let seat = &self.seats[idx];
        let mut record = self.job_record(idx, true);
        let since_ns = seat.meters.measured_since_ns.load(Relaxed);
        if seat.result.is_none() && since_ns > 0 {
            // A ramp ends in the future, or it is not known when.
            record.runtime_ns = now_ns.saturating_sub(since_ns);
            // A worker hands its count over when it ends.
            record.lacks_cpu = true;
            let dirs = &mut record.dirs;
            for dir in [&mut dirs.read, &mut dirs.write, &mut dirs.trim] {
                dir.runtime_ns = if dir.n_ios > 0 { record.runtime_ns } else { 0 };
            }
        }
        record
    }

    /// Makes the records of all workers as they are now.
    pub(crate) fn jobs_now(&self, now_ns: u64) -> Vec<JobRecord> {
        self.reported().map(|idx| self.record_now(idx, now_ns)).collect()
    }
}
