//! The stages of a suite, one after another, and their records in one.

use std::time::Duration;

use bench::suite::dividing::Dividing;
use bench::suite::jobs::{self, Site};
use bench::suite::need::{self, Need};
use bench::suite::rounds::Verdict;
use bench::suite::rows::Running;
use bench::suite::{CurvePart, Step};
use bench::workers::Workers;
use bench::{Advice, Lever, Sweep, SweepOptions, append};
use dialects::{LowerOptions, fio};
use plan::Plan;
use plan::load::Arrivals;
use record::{Note, NoteSeverity, Outcome, Record, StepPurpose};
use runner::{RunEvent, RunOptions};
use units::system_text;

use super::super::execute::{EventReply, Session};
use super::super::hosts_load::HostsLoad;
use super::super::input;
use super::sites::{SiteKind, Sites};
use crate::exit::{Exit, Failure};
use crate::loader::HostLoader;
use crate::summary;

/// Distance of the seeds of two steps; odd and large, so that no two jobs' seeds meet.
const SEED_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Measurements that may count for nothing because a host of several was lost or late.
const SPOILED_MAX: u32 = 3;

/// Most measurements of a step to answer its needs.
const ATTEMPTS_MAX: u32 = 8;

/// A suite at work.
pub(super) struct Driver<'a> {
    pub(super) session: Session,
    pub(super) options: &'a RunOptions,
    pub(super) sites: &'a mut Sites,
    pub(super) running: Running,
    /// What the disk must do, in place of a suite; each is the part of the same position.
    pub(super) needs: &'a [Need],
    /// The hosts that carry each load together; none where this host does.
    pub(super) hosts: Option<HostsLoad<'a>>,
    /// Devices may be discarded.
    pub(super) may_discard: bool,
    pub(super) whole: Option<Record>,
    pub(super) notes: Vec<Note>,
    /// What is left of the longest time that is planned, nanoseconds.
    pub(super) left_ns: u64,
}

/// Returns the plan of a job file of ours.
pub(super) fn parse(text: &str) -> Result<Plan, Failure> {
    let mut parsed = fio::parse_text("<suite>", text, &LowerOptions::default(), &HostLoader);
    input::print_findings(&parsed)?;
    parsed.plan.engines_give_way();
    Ok(parsed.plan)
}

/// Returns the plan of steps, each with its name and seeds of its own.
pub(super) fn plan_of(steps: &[Step], sites: &[Site], round: u32) -> Result<Plan, Failure> {
    let mut plan = parse(&jobs::job_file(steps, sites))?;
    must_have(&plan, steps.len());
    for (idx, (step, meant)) in plan.steps.iter_mut().zip(steps).enumerate() {
        step.name.clone_from(&meant.label);
        let number = (u64::from(round) << 32) + idx as u64 + 1;
        for job in &mut step.jobs {
            let seed = &mut job.workload.seed;
            *seed = seed.wrapping_add(number.wrapping_mul(SEED_STEP));
        }
    }
    Ok(plan)
}

/// Panics unless each step that was written is one of the plan: names and seeds go by position.
fn must_have(plan: &Plan, n_written: usize) {
    let n_steps = plan.steps.len();
    assert_eq!(n_steps, n_written, "{n_written} steps were written, and read as {n_steps}");
}

/// What a suite at work came to.
pub(super) struct Driven<'a> {
    pub(super) session: Session,
    /// What there is, with all that the suite makes of it.
    pub(super) record: Option<Record>,
    /// A later stage may have been refused.
    pub(super) ran: Result<(), Failure>,
    pub(super) hosts: Option<HostsLoad<'a>>,
}

impl<'a> Driver<'a> {
    /// Runs all stages, and ends.
    pub(super) fn driven(mut self) -> Driven<'a> {
        let ran = self.run();
        let record = self.record();
        let Driver { session, hosts, .. } = self;
        Driven { session, record, ran, hosts }
    }
}

impl Driver<'_> {
    /// Runs all stages until the end, or until one is cut short.
    fn run(&mut self) -> Result<(), Failure> {
        self.purge()?;
        self.fill()?;
        self.drop_small_blocks();
        if self.needs.is_empty() {
            self.measure()?;
        }
        self.answer()?;
        self.curve()
    }

    /// Measures what questions want, once and again until each has an answer.
    fn answer(&mut self) -> Result<(), Failure> {
        let nothing = Record::default();
        let mut n_spoiled = 0;
        while !self.is_over() && n_spoiled < SPOILED_MAX {
            let record = self.whole.as_ref().unwrap_or(&nothing);
            let Some(label) = self.running.wanted(record).map(str::to_owned) else { break };
            let mut steps = self.running.steps.iter().filter(|it| it.repeat_idx == 0);
            let Some(step) = steps.find(|it| it.label == label).cloned() else { break };
            let attempt = self.running.steps_of(&label).len() as u32;
            if attempt >= ATTEMPTS_MAX {
                break;
            }
            let mut plan = plan_of(std::slice::from_ref(&step), &self.sites.list, attempt)?;
            if let Some(need) = self.needs.get(step.part_idx) {
                plan = need::plan(need, &plan, attempt, (step.time_ns, step.ramp_ns));
            }
            if self.hosts.is_some() {
                let counts = self.stage_of_hosts(
                    &plan,
                    StepPurpose::Measure,
                    (&label, attempt),
                    step.ramp_ns,
                )?;
                n_spoiled += u32::from(!counts);
            } else {
                self.stage(&plan, StepPurpose::Measure, &[(label, attempt)])?;
            }
        }
        Ok(())
    }

    /// Has the hosts carry a load together, and joins what came out. Returns false where it counts
    /// for nothing, because one of them was lost or late.
    fn stage_of_hosts(
        &mut self,
        plan: &Plan,
        purpose: StepPurpose,
        (label, repeat_idx): (&str, u32),
        ramp_ns: u64,
    ) -> Result<bool, Failure> {
        let Driver { session, hosts: Some(hosts), .. } = self else { return Ok(false) };
        let record = match hosts.measure(session, plan) {
            Ok(record) => record,
            Err(error) if self.whole.is_none() => return Err(error.failure()),
            // What was measured is not lost with it.
            Err(error) => {
                if !self.session.is_stopped() {
                    let message = format!("the measurements ended early: {}", error.words());
                    self.add_note(NoteSeverity::Warning, "abandoned", message);
                }
                return Ok(false);
            }
        };
        if let Some(why) = bench::hosts::spoiled(&record, ramp_ns) {
            let message = format!("{label}: this measurement is discarded: {why}");
            self.add_note(NoteSeverity::Warning, "host-lost", message);
            return Ok(false);
        }
        self.left_ns = self.left_ns.saturating_sub(time_of(&self.running, label));
        self.session.print_progress(&line(label, &record.jobs, self.left_ns));
        let first = append(&mut self.whole, record, &[label.to_owned()]);
        self.running.took(first, label, purpose, repeat_idx);
        self.keep();
        Ok(true)
    }

    fn is_over(&self) -> bool {
        let is_cut = self.whole.as_ref().is_some_and(|it| it.outcome != Outcome::Complete);
        is_cut || self.session.is_stopped()
    }

    pub(super) fn note(&mut self, severity: NoteSeverity, code: &str, message: String) {
        self.notes.push(Note { severity, code: code.to_owned(), message });
    }

    /// Says something at once, and notes it.
    pub(super) fn add_note(&mut self, severity: NoteSeverity, code: &str, message: String) {
        let note = Note { severity, code: code.to_owned(), message };
        self.session.print_note(&note);
        self.notes.push(note);
    }

    /// Returns what there is, with all that the suite makes of it.
    fn record(&self) -> Option<Record> {
        let mut record = self.whole.clone()?;
        // After a signal between two stages none of them was cut short, but some are missing.
        if self.session.is_stopped() && record.outcome == Outcome::Complete {
            record.outcome = Outcome::Interrupted;
        }
        record.suite = Some(self.running.recorded(&record));
        record.validity.retain(|judged| self.running.is_result(judged.step_idx));
        record.notes.extend(self.notes.iter().cloned());
        Some(record)
    }

    fn keep(&mut self) {
        if self.session.is_due()
            && let Some(record) = self.record()
        {
            self.session.keep(&record);
        }
    }

    /// Runs a plan of several steps and joins what came out; `tell` says something of a step that
    /// has ended.
    fn stage(
        &mut self,
        plan: &Plan,
        purpose: StepPurpose,
        steps: &[(String, u32)],
    ) -> Result<u32, Failure> {
        let Driver { session, options, running, whole, notes, left_ns, .. } = self;
        let names: Vec<String> = steps.iter().map(|(label, _)| label.clone()).collect();
        let of_plan = |idx: u32| steps.get(idx as usize);
        let is_preparation: Vec<bool> =
            names.iter().map(|name| is_preparation(running, name)).collect();
        let times: Vec<u64> = names.iter().map(|name| time_of(running, name)).collect();
        let join = |whole: &mut Option<Record>, running: &mut Running, record: Record| -> u32 {
            let first = append(whole, record, &names);
            let n_steps = whole.as_ref().map_or(0, |it| it.steps.len() as u32);
            for idx in 0..n_steps - first {
                let Some((label, repeat_idx)) = of_plan(idx) else { continue };
                let purpose = match is_preparation.get(idx as usize) {
                    Some(true) => StepPurpose::Prepare,
                    _ => purpose,
                };
                running.took(first + idx, label, purpose, *repeat_idx);
            }
            first
        };
        let mut rounds = RoundsSoFar::default();
        let record = session.measure_with(plan, options, &mut |event| match event {
            RunEvent::Report(record) => {
                let (mut so_far, mut then) = (whole.clone(), running.clone());
                join(&mut so_far, &mut then, (*record).clone());
                let Some(mut so_far) = so_far else { return EventReply::Nothing };
                so_far.suite = Some(then.recorded(&so_far));
                so_far.notes.extend(notes.iter().cloned());
                EventReply::Keep(Box::new(so_far))
            }
            RunEvent::StepEnded { step_idx, jobs } => {
                *left_ns =
                    left_ns.saturating_sub(times.get(*step_idx as usize).map_or(0, |ns| *ns));
                let label = of_plan(*step_idx).map_or("", |(label, _)| label);
                let text = line(label, jobs, *left_ns);
                match rounds.end_step(running, label, jobs) {
                    Some(verdict) => EventReply::EndWith(text + &verdict),
                    None => EventReply::Tell(text),
                }
            }
            // What is said of a step's workers, and as it goes on.
            RunEvent::Note(_)
            | RunEvent::Layout { .. }
            | RunEvent::Paused { .. }
            | RunEvent::CommandEnded { .. }
            | RunEvent::StepSkipped { .. }
            | RunEvent::IoError(_)
            | RunEvent::StepStarted { .. }
            | RunEvent::StepReady { .. }
            | RunEvent::Tree { .. }
            | RunEvent::TreeMade { .. }
            | RunEvent::OtherTree { .. }
            | RunEvent::Status(_)
            | RunEvent::SeriesSoFar(_)
            | RunEvent::Interval(_)
            | RunEvent::JobsSoFar(_)
            | RunEvent::StatusAsked(_) => EventReply::Nothing,
        })?;
        let first = join(whole, running, record);
        self.keep();
        Ok(first)
    }

    /// Discards what is there, where that is safe: in files of our own, and in devices if the user
    /// says so.
    fn purge(&mut self) -> Result<(), Failure> {
        if !self.running.suite.prepare.purge {
            return Ok(());
        }
        for idx in 0..self.sites.list.len() {
            let site = self.sites.list[idx].clone();
            match self.sites.kinds[idx] {
                SiteKind::Emulated => {}
                SiteKind::Scratch => {
                    let folder = self
                        .sites
                        .scratch
                        .iter()
                        .find(|it| it.file(&site.place) == std::path::Path::new(&site.file));
                    let purged = folder.map(|it| it.purge(&site.place, site.size_bytes));
                    let message = match purged {
                        Some(Ok(())) => {
                            "purged: the blocks of the scratch file were reserved and released; \
                             whether the volume below discards them depends on its mount options"
                                .to_owned()
                        }
                        Some(Err(error)) => format!("not purged: {}", system_text(error)),
                        None => continue,
                    };
                    self.note(NoteSeverity::Info, "purge", message);
                }
                SiteKind::Device if self.may_discard && self.sites.read_only.is_none() => {
                    self.discard(&site)?;
                }
                kind => {
                    let why = match kind {
                        SiteKind::Device if self.sites.read_only.is_some() => "it is only read",
                        SiteKind::Device => "`--discard` discards its blocks",
                        SiteKind::Scratch
                        | SiteKind::File
                        | SiteKind::Export
                        | SiteKind::Emulated => "only devices and our own scratch files are purged",
                    };
                    let message = format!("not purged: `{}`: {why}", site.file);
                    self.note(NoteSeverity::Warning, "purge", message);
                }
            }
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Discards a device's contents, if it takes that.
    fn discard(&mut self, site: &Site) -> Result<(), Failure> {
        if takes_discards(&site.file) == Some(false) {
            let message = format!("not purged: `{}` takes no discards", site.file);
            self.add_note(NoteSeverity::Warning, "purge", message);
            return Ok(());
        }
        let plan = parse(&jobs::purge(site))?;
        let label = label("purge", &site.place);
        self.stage(&plan, StepPurpose::Prepare, &[(label, 0)])?;
        Ok(())
    }

    /// Writes everything once or more, so that reads find data and writes overwrite data.
    fn fill(&mut self) -> Result<(), Failure> {
        let prepare = self.running.suite.prepare.clone();
        if prepare.n_fills == 0 || self.sites.read_only.is_some() {
            return Ok(());
        }
        for idx in 0..self.sites.list.len() {
            let site = self.sites.list[idx].clone();
            if self.sites.kinds[idx] == SiteKind::Emulated || self.is_over() {
                continue;
            }
            let plan = parse(&jobs::fill(&prepare, &site))?;
            let label = label("fill", &site.place);
            let first = if self.hosts.is_some() {
                self.fill_by_hosts(&plan, &label)?
            } else {
                self.stage(&plan, StepPurpose::Prepare, &[(label, 0)])?
            };
            if prepare.fill_time_ns.is_some() {
                self.cut(idx, first, prepare.fill_block_bytes);
            }
        }
        Ok(())
    }

    /// Has all hosts write their parts. Returns the step.
    fn fill_by_hosts(&mut self, plan: &Plan, label: &str) -> Result<u32, Failure> {
        if self.stage_of_hosts(plan, StepPurpose::Prepare, (label, 0), u64::MAX)? {
            return Ok(0);
        }
        let text = "not all hosts wrote their part of what is to be measured";
        Err(Failure::wrong_use(text).with(Exit::RunFailed))
    }

    /// Works on what was written, where the fill's time ended it.
    fn cut(&mut self, site_idx: usize, step_idx: u32, block_bytes: u64) {
        let Some(whole) = &self.whole else { return };
        let of_step = |record: &Record| {
            let jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx);
            jobs.map(record::JobRecord::io_bytes).fold(0, u64::saturating_add)
        };
        // Hosts write blocks by turns: as far as the slowest one came there are no gaps.
        let of_slowest = whole.hosts.iter().map(|host| of_step(&host.record)).min();
        let n_hosts = whole.hosts.len() as u64;
        let written = of_slowest.map_or_else(|| of_step(whole), |it| it.saturating_mul(n_hosts));
        let site = &mut self.sites.list[site_idx];
        let unit = block_bytes.max(1 << 20);
        let written = written / unit * unit;
        if written > 0 && written < site.size_bytes {
            site.size_bytes = written;
        }
    }

    /// Leaves out steps with I/Os smaller than direct I/O takes here.
    fn drop_small_blocks(&mut self) {
        let is_small =
            |it: &bench::suite::StepLoad| it.is_direct && !it.block_bytes.is_multiple_of(4096);
        let is_small = |step: &Step| step.loads.iter().any(is_small);
        // What other hosts take is not known here.
        if self.hosts.is_some() || !self.running.steps.iter().any(is_small) {
            return;
        }
        let files = self.sites.list.iter().zip(&self.sites.kinds);
        let mut ours = files.filter(|(site, kind)| {
            site.takes_direct && !matches!(kind, SiteKind::Emulated | SiteKind::Export)
        });
        if ours.all(|(site, _)| super::super::scratch::takes_512(&site.file)) {
            return;
        }
        let before = self.running.steps.len();
        self.running.steps.retain(|step| !is_small(step));
        let n_left_out = before - self.running.steps.len();
        let message = format!(
            "{n_left_out} steps with I/Os below 4 KiB are left out: direct I/O does not take them \
             here"
        );
        self.add_note(NoteSeverity::Warning, "small-blocks", message);
    }

    /// Runs the steps, once or in rounds until they are steady. All of it is one run, so that an
    /// emulated volume goes on with what its caches hold and with the credits that are left.
    fn measure(&mut self) -> Result<(), Failure> {
        if self.is_over() || self.running.steps.is_empty() {
            return Ok(());
        }
        let n_rounds = self.running.suite.rounds.as_ref().map_or(1, |rounds| rounds.n_max.max(1));
        let mut plan = plan_of(&self.running.steps, &self.sites.list, 0)?;
        let mut labels: Vec<(String, u32)> = Vec::new();
        for round in 0..n_rounds {
            if round > 0 {
                plan.steps.extend(plan_of(&self.running.steps, &self.sites.list, round)?.steps);
            }
            labels.extend(self.running.steps.iter().map(|step| {
                let repeat_idx = if n_rounds > 1 { round } else { step.repeat_idx };
                (step.label.clone(), repeat_idx)
            }));
        }
        self.stage(&plan, StepPurpose::Measure, &labels)?;
        if n_rounds > 1 || self.options.emulation.is_some() {
            return Ok(());
        }
        let mut steps = self.running.steps.clone();
        steps.sort_by(|a, b| a.label.cmp(&b.label));
        steps.dedup_by(|a, b| a.label == b.label);
        steps.iter().try_for_each(|step| self.add_workers(step))
    }

    /// Measures a step again with more workers while a core, and not the disk, is its limit; as
    /// often as the suite wants with the number that is kept.
    fn add_workers(&mut self, step: &Step) -> Result<(), Failure> {
        let plan = plan_of(std::slice::from_ref(step), &self.sites.list, 0)?;
        let is_closed = step.loads.iter().all(|load| load.rate_iops.is_none());
        if step.is_preparation || !is_closed || !plan.jobs().any(runner::may_spread) {
            return Ok(());
        }
        let mut row = Dividing::new(&self.running, &step.label);
        while !self.is_over()
            && let Some(whole) = &self.whole
            && let Some(n_parts) = row.next(&mut self.running, whole)
        {
            self.measure_by(n_parts, step)?;
        }
        if let Some(whole) = &self.whole {
            self.notes.extend(row.end(&mut self.running, whole));
        }
        Ok(())
    }

    /// Measures a step once more, each of its workers divided among so many.
    fn measure_by(&mut self, n_parts: u32, step: &Step) -> Result<(), Failure> {
        let attempt = self.running.taken.iter().filter(|it| it.label == step.label).count() as u32;
        let mut plan = plan_of(std::slice::from_ref(step), &self.sites.list, attempt)?;
        for job in plan.steps.iter_mut().flat_map(|step| &mut step.jobs) {
            job.load.spreads = true;
            job.load.spread_workers_max = Some(n_parts);
        }
        self.session.print_progress(&format!(
            "{}: a core was the limit, measured again with more workers\n",
            step.label
        ));
        self.stage(&plan, StepPurpose::Measure, &[(step.label.clone(), attempt)])?;
        Ok(())
    }

    /// Searches the load line, and joins its points.
    fn curve(&mut self) -> Result<(), Failure> {
        let Some(curve) = self.running.suite.curve.clone() else { return Ok(()) };
        if self.is_over() {
            return Ok(());
        }
        let plan = self.curve_plan(&curve)?;
        let options = sweep_options(&curve);
        let mut sweep =
            Sweep::new(plan, options).map_err(|error| Failure::wrong_use(error.to_string()))?;
        self.session.print_progress(&format!("{}: {}\n", curve.name, sweep.limits()));
        while let Some(next) = sweep.next_point() {
            let record = self.session.measure(&next.plan, self.options)?;
            let outcome = record.outcome;
            let Some(point) = sweep.take(record) else { break };
            self.session.print_progress(&summary::point_line(&point));
            if self.session.is_due()
                && let Some(record) = sweep.record()
            {
                let mut so_far = self.whole.clone();
                let mut running = self.running.clone();
                join_curve(&mut so_far, &mut running, record, &curve);
                if let Some(mut so_far) = so_far {
                    so_far.suite = Some(running.recorded(&so_far));
                    so_far.notes.extend(self.notes.iter().cloned());
                    self.session.keep(&so_far);
                }
            }
            if outcome != Outcome::Complete {
                break;
            }
        }
        if let Some(record) = sweep.finish() {
            join_curve(&mut self.whole, &mut self.running, record, &curve);
        }
        Ok(())
    }

    fn curve_plan(&self, curve: &CurvePart) -> Result<Plan, Failure> {
        let place = self.running.suite.place_of(&curve.place).to_owned();
        let load = bench::suite::StepLoad {
            name: String::new(),
            access: curve.access,
            block_bytes: curve.block_bytes,
            read_pct: curve.read_pct,
            depth: 1,
            workers: curve.workers,
            connections: None,
            is_direct: true,
            durable: bench::suite::Durable::Whenever,
            place,
            rate_iops: None,
            size_bytes: None,
        };
        let at = bench::suite::Settings {
            block_bytes: curve.block_bytes,
            read_pct: curve.read_pct,
            depth: 1,
            workers: curve.workers,
            connections: None,
        };
        let step = Step {
            part_idx: 0,
            label: curve.name.clone(),
            is_preparation: false,
            repeat_idx: 0,
            loads: vec![load],
            at,
            ramp_ns: curve.time.ramp_ns,
            time_ns: curve.time.measured_ns,
            end: bench::suite::End::Time,
        };
        plan_of(&[step], &self.sites.list, u32::MAX)
    }
}

fn sweep_options(curve: &CurvePart) -> SweepOptions {
    let search = curve.search_options();
    let lever = Lever::Rate { arrivals: Arrivals::Poisson, in_flight_max: curve.in_flight_max };
    let workers = Workers::default();
    let (limits, advice) = (curve.limits.clone(), Advice::SUITE);
    SweepOptions { lever, limits, search, time: curve.time, workers, advice }
}

/// Joins the record of a sweep: its points are steps behind those that are there.
fn join_curve(
    whole: &mut Option<Record>,
    running: &mut Running,
    mut record: Record,
    curve: &CurvePart,
) {
    let found = record.curve.take();
    let names: Vec<String> = record.steps.iter().map(|step| step.name.clone()).collect();
    let first = append(whole, record, &names);
    for idx in 0..names.len() as u32 {
        running.took(first + idx, &curve.name, StepPurpose::Curve, idx);
    }
    if let (Some(mut found), Some(whole)) = (found, whole) {
        found.points.iter_mut().for_each(|point| point.step_idx += first);
        whole.curve = Some(found);
    }
}

/// Returns what a preparation of a place is called.
fn label(what: &str, place: &str) -> String {
    if place.is_empty() { what.to_owned() } else { format!("{what} {place}") }
}

/// Returns whether a device takes discards; none where the kernel does not tell.
fn takes_discards(path: &str) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    let number = std::fs::metadata(path).ok()?.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let device = format!("/sys/dev/block/{major}:{minor}");
    // A partition's queue is that of its disk.
    let queues = ["queue", "../queue"];
    let mut limits = queues.iter().filter_map(|queue| {
        std::fs::read_to_string(format!("{device}/{queue}/discard_max_bytes")).ok()
    });
    limits.next().map(|limit| limit.trim() != "0")
}

/// The round that is being measured.
#[derive(Default)]
struct RoundsSoFar {
    n_steps: usize,
    tracked_iops: f64,
}

impl RoundsSoFar {
    /// Takes a step that has ended. Returns what to say where no further round is wanted.
    fn end_step(
        &mut self,
        running: &mut Running,
        label: &str,
        jobs: &[record::JobRecord],
    ) -> Option<String> {
        let rounds = running.suite.rounds.as_ref()?;
        if running.steps.iter().all(|step| step.label != label) {
            return None;
        }
        if rounds.tracked == label {
            self.tracked_iops = rates(jobs).0;
        }
        self.n_steps += 1;
        if !self.n_steps.is_multiple_of(running.steps.len()) {
            return None;
        }
        match running.end_round(std::mem::take(&mut self.tracked_iops)) {
            Verdict::GoOn => None,
            Verdict::Steady(from) => Some(format!("steady since round {}\n", from + 1)),
            Verdict::GiveUp => Some(String::new()),
        }
    }
}

/// Returns I/Os and bytes per second of workers together.
fn rates(jobs: &[record::JobRecord]) -> (f64, f64) {
    let dirs = || jobs.iter().flat_map(|job| job.dirs.iter()).map(|(_, dir)| dir);
    let iops: f64 = dirs().map(record::DirRecord::rate_iops).sum();
    (iops, dirs().map(record::DirRecord::rate_bytes).sum())
}

fn is_preparation(running: &Running, label: &str) -> bool {
    running.steps.iter().any(|step| step.label == label && step.is_preparation)
}

/// Returns the longest time of a step that was counted in what is left; a purge was not.
fn time_of(running: &Running, label: &str) -> u64 {
    let is_fill = label.starts_with("fill");
    let fill_ns = || running.suite.prepare.fill_time_ns.filter(|_| is_fill).unwrap_or(0);
    let step = running.steps.iter().find(|step| step.label == label);
    step.map_or_else(fill_ns, Step::time_max_ns)
}

/// Returns the line about a step as it ends.
pub(super) fn line(label: &str, jobs: &[record::JobRecord], left_ns: u64) -> String {
    let (iops, bytes) = rates(jobs);
    let left = match left_ns / 1_000_000_000 {
        0 => String::new(),
        left_s => {
            let left = units::format_duration(Duration::from_secs(left_s));
            format!("   about {left} left")
        }
    };
    let label = summary::fit(label, 29);
    let (iops, moved) = (units::format_iops(iops), units::format_mib_s(bytes));
    format!("{label:<30}{iops:>8} IOPS {moved:>7} MiB/s{left}\n")
}

/// Returns steps that only read.
pub(super) fn reading(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().filter(|step| !step.writes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_the_steps_that_were_written() {
        must_have(&Plan::default(), 0);
        testing::check_wrong_calls(&[("one lost", "1 steps were written, and read as 0", &|| {
            must_have(&Plan::default(), 1);
        })]);
    }
}
