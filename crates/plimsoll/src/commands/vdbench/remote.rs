//! Runs on other hosts, which `hd=` names: each does its own jobs, and what all of them do comes
//! here as the events of one run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use analysis::Rules;
use dialects::Dialect as _;
use dialects::native::Native;
use dialects::vdbench::output::{host_labels, host_paths};
use dialects::vdbench::run::{Run, Sd, Work};
use dialects::vdbench::{Lun, Parsed, used_hosts};
use fleet::controller::{LossPolicy, News};
use fleet::hosts::Host;
use fleet::inspect::{Checkup, TargetFacts, ThereFacts, inspect, is_shared};
use fleet::launch::Launcher;
use fleet::launch::ssh::Ssh;
use fleet::run::{Fleet, FleetError, FleetEvent, ReportCause};
use fleet::wire::{self, Assignment, Inspect};
use plan::{Diagnostic, Plan};
use record::{Interval, JobRecord, Record};
use runner::{Control, RunEvent, RunOptions, Stop};

use super::super::execute::judge_hosts;
use super::super::hosts::{self, HostsArgs};
use super::super::keep::Keeper;
use super::session::VdbenchSession;
use super::validation::NO_VALIDATION;
use super::{Heard, Pass, STOPPING};
use crate::exit::{Exit, Failure};

/// The hosts of a file's runs, some of which are not this one.
pub(super) struct Remote {
    ssh: Ssh,
    hosts: Vec<Host>,
    /// Their labels in the file.
    labels: Vec<String>,
    policy: LossPolicy,
    /// What each has found at the paths of its storage definitions.
    found: Vec<HashMap<String, TargetFacts>>,
}

impl Remote {
    /// Finds the hosts; `None` where all that runs use are this one.
    pub(super) fn of(parsed: &Parsed, called: &HostsArgs) -> Result<Option<Self>, Failure> {
        let used = used_hosts(parsed);
        if used.iter().all(|host| host.is_local) {
            return Ok(None);
        }
        let reached = |host: &&dialects::vdbench::Host| {
            if host.is_local {
                return Ok(Host::here(&host.label));
            }
            Host::labelled(&host.system, host.user.as_deref(), &host.label).map_err(|why| {
                let text = format!("hd={} cannot be called over ssh: {why}", host.label);
                Failure::wrong_use(text).hint("write `system=` with a name or an address")
            })
        };
        let hosts = used.iter().map(reached).collect::<Result<Vec<Host>, Failure>>()?;
        let labels = used.iter().map(|host| host.label.clone()).collect();
        let policy = called.policy_of(hosts.len())?;
        Ok(Some(Remote { ssh: called.ssh()?, hosts, labels, policy, found: Vec::new() }))
    }

    /// Asks all hosts what is at the paths of storage definitions and at anchors.
    pub(super) fn look(&mut self, parsed: &Parsed, control: &Control) -> Result<(), Failure> {
        let luns = parsed.sds.iter().map(|sd| sd.lun.clone());
        let in_runs = parsed.runs.iter().flat_map(host_paths).map(|(_, path)| path);
        let mut paths: Vec<String> = luns.chain(in_runs).collect();
        paths.sort_unstable();
        paths.dedup();
        if paths.is_empty() {
            return Ok(());
        }
        let request = Inspect { assignment: None, paths };
        let checkup = Checkup { ssh: self.ssh.clone(), hosts: self.hosts.clone(), request };
        let reports = inspect(&checkup, &hosts::stops_of(control), &mut |_, _| {});
        let reports = reports.map_err(hosts::failure)?;
        if control.stop() != Stop::No {
            let text = "stopped before all hosts had answered";
            return Err(Failure::wrong_use(text).with(Exit::Interrupted));
        }
        let mut silent = Vec::new();
        for report in reports {
            match report.facts {
                Ok(facts) => {
                    let by_path = facts.targets.into_iter().map(|it| (it.path.clone(), it));
                    self.found.push(by_path.collect());
                }
                Err(reason) => silent.push(format!("hd={}: {reason}", report.name)),
            }
        }
        if silent.is_empty() {
            return Ok(());
        }
        let text = format!("nothing was run: not all hosts answer\n{}", silent.join("\n"));
        Err(Failure::wrong_use(text))
    }

    fn target(&self, label: &str, path: &str) -> Option<&TargetFacts> {
        let idx = self.labels.iter().position(|known| known == label)?;
        self.found.get(idx)?.get(path)
    }

    /// Returns what is at the path of a storage definition on its host.
    pub(super) fn lun(&self, sd: &Sd) -> Option<Lun> {
        match self.target(&sd.host, &sd.lun)?.there {
            ThereFacts::Unknown => None,
            ThereFacts::Missing => Some(Lun::Missing),
            ThereFacts::NoFolder => Some(Lun::NoFolder),
            ThereFacts::File(bytes) => Some(Lun::File(bytes)),
            ThereFacts::Other => Some(Lun::Device),
        }
    }

    /// Names the file system that a path of a host lies on: what hosts have in common has one name.
    fn place(&self, label: &str, path: &str) -> String {
        match self.target(label, path) {
            Some(target) if is_shared(target) => target.place.source.clone(),
            Some(_) | None => {
                let idx = self.labels.iter().position(|known| known == label);
                idx.map_or_else(String::new, |idx| self.hosts[idx].name.clone())
            }
        }
    }

    /// Returns what keeps data from being validated: what several hosts write, no host can judge.
    pub(super) fn not_validated(&self, runs: &[Run]) -> Vec<Diagnostic> {
        let mut used: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for (label, path) in runs.iter().flat_map(host_paths) {
            used.entry((path.clone(), self.place(&label, &path))).or_default().insert(label);
        }
        let several = used.into_iter().filter(|(_, labels)| labels.len() > 1);
        let refused = several.map(|((path, _), labels)| {
            let labels = labels.into_iter().collect::<Vec<_>>().join(", ");
            let text = format!("`{path}` is used by {labels}: no host knows what another wrote");
            Diagnostic::error(NO_VALIDATION, text)
                .help("give each host a `lun=` or an `anchor=` of its own")
        });
        refused.collect()
    }

    /// Leaves the writing of what hosts share to the first of them.
    pub(super) fn write_once(&self, format: &mut Run) {
        let Work::SdFormat(work) = &mut format.work else { return };
        let mut seen = Vec::new();
        work.sds.retain(|sd| {
            let key = (sd.lun.clone(), self.place(&sd.host, &sd.lun));
            let is_new = !seen.contains(&key);
            seen.push(key);
            is_new
        });
    }

    /// Runs a plan, whose steps are these runs.
    pub(super) fn run(
        &self,
        plan: &Plan,
        runs: &[Run],
        (options, validation): (&RunOptions, Option<wire::Validation>),
        heard: &Heard,
        (session, kept): (&mut VdbenchSession, &mut Keeper),
    ) -> Pass {
        let mut job_hosts = Vec::new();
        for label in runs.iter().flat_map(host_labels) {
            let Some(idx) = self.labels.iter().position(|known| *known == label) else {
                let text = format!("hd={label} has jobs, and is none of the hosts that are called");
                return Pass::Refused(vec![Diagnostic::error("host", text)]);
            };
            job_hosts.push(idx as u32);
        }
        let assignment = Assignment {
            plan_toml: Native.write(plan).text,
            job_hosts,
            is_detailed: true,
            awaits_turn: true,
            allow_mounted: options.allow_mounted,
            overwrite_filesystem: options.overwrite_filesystem,
            read_only: options.read_only,
            command: options.command.clone(),
            validation,
            ..Assignment::default()
        };
        let launcher = Launcher::Ssh(self.ssh.clone(), self.hosts.clone());
        let fleet =
            Fleet { launcher, assignment, policy: self.policy, plans: Vec::new(), ledger: None };
        let stops = hosts::stops_of(&heard.control);
        let mut is_reported = false;
        let control = &*heard.control;
        let mut events = Events { plan, control, session, kept, step: None, so_far: None };
        let outcome = fleet.run(&stops, &mut |event| {
            if heard.signals.last().is_some() && !is_reported {
                is_reported = true;
                events.session.print(STOPPING, false);
            }
            events.take(&event);
        });
        match outcome {
            Ok(mut record) => {
                events.so_far = Some(Box::new(record.clone()));
                events.end_step();
                events.note(&record);
                judge_hosts(&mut record, &Rules::default());
                Pass::Done(Box::new(record))
            }
            Err(FleetError::Stopped) => Pass::Stopped,
            Err(FleetError::Refused(hosts)) => {
                let of_host = |(host, findings): (String, Vec<String>)| {
                    let finding =
                        |text: String| Diagnostic::error("host", format!("hd={host}: {text}"));
                    findings.into_iter().map(finding).collect::<Vec<_>>()
                };
                Pass::Refused(hosts.into_iter().flat_map(of_host).collect())
            }
            Err(error) => Pass::Refused(vec![Diagnostic::error("fleet", error.to_string())]),
        }
    }
}

/// Lets hosts begin without a file that another one will have written for them.
pub(super) fn await_files(plan: &mut Plan, runs: &[Run]) {
    let formats = runs.iter().filter_map(|run| match &run.work {
        Work::SdFormat(work) => Some(&work.sds),
        Work::Raw(_) | Work::Files(_) | Work::Format(_) => None,
    });
    let written: Vec<&str> = formats.flatten().map(|sd| sd.lun.as_str()).collect();
    for job in plan.jobs_mut() {
        let files = &mut job.files;
        let is_written = |name: &String| written.contains(&name.as_str());
        files.allow_create |= files.size.is_some() && files.names.iter().all(is_written);
    }
}

/// The step that hosts run.
struct Current {
    step_idx: u32,
    /// End of its last interval, milliseconds.
    end_ms: u64,
}

/// What happens on hosts as the events of a run here.
struct Events<'a> {
    plan: &'a Plan,
    control: &'a Control,
    session: &'a mut VdbenchSession,
    kept: &'a mut Keeper,
    step: Option<Current>,
    /// The record as it was when a step last ended or began.
    so_far: Option<Box<Record>>,
}

impl Events<'_> {
    fn take(&mut self, event: &FleetEvent<'_>) {
        match event {
            FleetEvent::Lobby(_) | FleetEvent::TakenBack(..) | FleetEvent::LedgerFailed(_) => {}
            FleetEvent::News(News::Ended(_), _) => self.end_step(),
            FleetEvent::News(News::Starts(step_idx, n_hosts), _) => {
                // Where the last that was in it is lost, none has ended it.
                self.end_step();
                self.start_step(*step_idx, *n_hosts);
            }
            FleetEvent::News(news, names) => {
                if let Some(text) = hosts::said(news, names) {
                    self.session.print(text.trim_end(), matches!(news, News::Lost(..)));
                }
            }
            FleetEvent::Interval(interval) => self.interval(interval),
            FleetEvent::Report(record, cause) => {
                self.kept.event(&RunEvent::Report(record));
                if *cause == ReportCause::Step {
                    self.so_far = Some(Box::new((*record).clone()));
                }
            }
        }
    }

    fn start_step(&mut self, step_idx: u32, n_hosts: usize) {
        self.step = Some(Current { step_idx, end_ms: 0 });
        let name = self.plan.steps.get(step_idx as usize).map_or("", |step| &step.name);
        let n_workers = n_hosts as u32;
        // Each takes its share of its own maximum.
        let of_hosts = self.so_far.iter().flat_map(|record| &record.hosts);
        let rates = of_hosts
            .filter_map(|host| runner::rate_of_point(self.plan, step_idx, &host.record))
            .collect::<Vec<u64>>();
        let rate_iops = (!rates.is_empty()).then(|| rates.iter().sum::<u64>() as f64);
        let started = RunEvent::StepStarted { step_idx, name, rate_iops, n_workers };
        self.session.event(&started);
    }

    fn interval(&mut self, interval: &Interval) {
        self.kept.event(&RunEvent::Interval(interval));
        let Some(current) = self.step.as_mut() else { return };
        if current.step_idx != interval.step_idx {
            return;
        }
        // Hosts count from their own start: a lost one may have been the latest.
        current.end_ms = interval.end_ms.max(current.end_ms);
        let interval = Interval { end_ms: current.end_ms, ..interval.clone() };
        self.session.event(&RunEvent::Interval(&interval));
    }

    /// Ends the step that runs, with what the record says of it.
    fn end_step(&mut self) {
        let Some(record) = &self.so_far else { return };
        let Some(Current { step_idx, .. }) = self.step.take() else { return };
        let of_step = record.steps.iter().filter(|step| step.step_idx == step_idx);
        for error in of_step.flat_map(|step| &step.io_errors) {
            self.session.event(&RunEvent::IoError(error));
        }
        let of_step = |job: &&JobRecord| job.step_idx == step_idx;
        let jobs: Vec<JobRecord> = record.jobs.iter().filter(of_step).cloned().collect();
        if jobs.iter().any(|job| job.error_errno != 0) {
            // The host has ended its runs: so do the others.
            self.control.request_stop();
        }
        self.session.event(&RunEvent::StepEnded { step_idx, jobs: &jobs });
    }

    /// Says what is to be known of the whole.
    fn note(&mut self, record: &Record) {
        for step in &record.steps {
            let (step_idx, name) = (step.step_idx, step.name.as_str());
            if let Some(reason) = &step.skipped {
                self.session.event(&RunEvent::StepSkipped { step_idx, name, reason });
            }
        }
        for note in &record.notes {
            self.session.event(&RunEvent::Note(note));
        }
    }
}
