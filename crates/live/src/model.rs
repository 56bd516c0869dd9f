//! The state of a run.

use std::collections::BTreeMap;

use record::{HostRecord, Interval, JobRecord, Note, Outcome, Record};

use crate::counts::{Counts, OpName};
use crate::history::History;

/// What is known of a run before it begins.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Version of the program.
    pub version: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The plan, as a plan file has it.
    pub plan: String,
    /// Start, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// The machine that runs it, or steers it.
    pub machine: HostRecord,
    /// Names of the hosts, where the load comes from several; empty where it comes from this one.
    pub hosts: Vec<String>,
}

/// The step that runs, or ran last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepNow {
    /// Number of the run among those of one command, from 0: a curve is made of many.
    pub run_idx: u32,
    /// Step of that run, from 0.
    pub step_idx: u32,
    /// Steps of that run.
    pub n_steps: u32,
    /// Its name; may be empty.
    pub name: String,
    /// Its workers, of all hosts.
    pub n_workers: u32,
}

/// How busy a host is; shares from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadNow {
    /// Of the time of all its processors.
    pub busy_share: f64,
    /// Part of it that this program used.
    pub own_share: f64,
    /// Of the time of all its processors, what its hypervisor gave to others.
    pub steal_share: f64,
}

/// How the jobs of a host stand.
#[derive(Clone, Copy, Debug)]
pub struct HostSoFar<'a> {
    /// Its name; empty for the only one.
    pub name: &'a str,
    /// Its workers or groups; of several steps only those of the step that runs count.
    pub jobs: &'a [JobRecord],
    /// Operations that each of them has in flight; empty where that is not known.
    pub n_in_flight: &'a [u64],
    /// How busy it is.
    pub load: Option<LoadNow>,
    /// Why nothing comes from it any more.
    pub lost: Option<&'a str>,
}

/// A host.
#[derive(Clone, Debug, Default)]
pub struct HostNow {
    /// Its name; empty for the only one.
    pub name: String,
    /// How busy it is; `None` where that is not known.
    pub load: Option<LoadNow>,
    /// Why nothing comes from it any more.
    pub lost: Option<String>,
    /// Its jobs of this step.
    pub jobs: BTreeMap<String, JobNow>,
    /// End of the last interval of which its jobs were seen, milliseconds.
    seen_ms: u64,
    /// What it did in steps before, by job and kind of operation.
    before: BTreeMap<(String, OpName), Counts>,
    /// Errors in steps before.
    n_errors_before: BTreeMap<String, u64>,
}

/// A job on one host.
#[derive(Clone, Debug, Default)]
pub struct JobNow {
    /// Workers.
    pub n_workers: u32,
    /// Errors that did not end it.
    pub n_errors: u64,
    /// Operations in flight; `None` where that is not known.
    pub n_in_flight: Option<u64>,
    /// What it does.
    pub ops: BTreeMap<OpName, OpNow>,
}

/// A kind of operation of a job on one host.
#[derive(Clone, Debug, Default)]
pub struct OpNow {
    /// What was done in the last second.
    pub last: Counts,
    /// What was done in the step.
    pub so_far: Counts,
}

/// A run as it stands.
#[derive(Clone, Debug, Default)]
pub struct Live {
    about: About,
    n_runs: u32,
    step: StepNow,
    hosts: Vec<HostNow>,
    history: History,
    /// The last interval of all hosts together.
    last: Option<Interval>,
    /// Milliseconds from the start of the first run to that of the one that goes on.
    run_zero_ms: u64,
    /// Number of updates: views look whether there is something new.
    n_updates: u64,
    /// What hosts did in the last second is known.
    has_hosts: bool,
    outcome: Option<Outcome>,
    notes: Vec<Note>,
}

/// Most notes that are kept.
const NOTES_MAX: usize = 100;

impl Live {
    /// Begins.
    pub fn new(about: About) -> Self {
        Live { about, hosts: vec![HostNow::default()], ..Live::default() }
    }

    /// Names the hosts that the load comes from, before anything has come from them.
    pub fn set_hosts(&mut self, names: Vec<String>) {
        let host = |name: &String| HostNow { name: name.clone(), ..HostNow::default() };
        self.hosts = names.iter().map(host).collect();
        self.about.hosts = names;
    }

    /// Begins one of several runs of a command.
    pub fn begin_run(&mut self) {
        self.n_runs += 1;
        self.run_zero_ms = self.last.as_ref().map_or(0, |last| last.end_ms);
    }

    /// Begins a step. What was done in the one before is kept as a sum.
    pub fn begin_step(&mut self, step_idx: u32, n_steps: u32, name: &str, n_workers: u32) {
        let run_idx = self.n_runs.saturating_sub(1);
        let zero_ms = self.last.as_ref().map_or(0, |last| last.end_ms);
        for host in &mut self.hosts {
            host.end_step();
            host.seen_ms = zero_ms;
        }
        self.step = StepNow { run_idx, step_idx, n_steps, name: name.to_owned(), n_workers };
        self.n_updates += 1;
    }

    /// Takes a second of the run: the interval of all hosts together, and how the jobs of those
    /// hosts stand of which that is known.
    pub fn second(&mut self, interval: &Interval, hosts: &[HostSoFar<'_>]) {
        let end_ms = self.run_zero_ms + interval.end_ms;
        let start_ms = end_ms.saturating_sub(interval.length_ms);
        let is_first = self.last.as_ref().is_none_or(|last| last.step_idx != interval.step_idx);
        if is_first {
            // A pause, or the layout of files, is no part of the first second.
            self.hosts.iter_mut().for_each(|host| host.seen_ms = host.seen_ms.max(start_ms));
        }
        let interval = Interval { end_ms, ..interval.clone() };
        self.history.push(&interval);
        self.last = Some(interval);
        self.take_hosts(hosts, end_ms);
    }

    /// Takes how the jobs of a step stand at its end, which is seldom the end of a second.
    pub fn end_step(&mut self, hosts: &[HostSoFar<'_>]) {
        let end_ms = self.last.as_ref().map_or(0, |last| last.end_ms);
        self.take_hosts(hosts, end_ms);
    }

    /// Takes the outcome.
    pub fn end(&mut self, record: &Record) {
        self.outcome = Some(record.outcome);
        self.notes = record.notes.iter().take(NOTES_MAX).cloned().collect();
        self.n_updates += 1;
    }

    /// Keeps a note.
    pub fn note(&mut self, note: &Note) {
        if self.notes.len() < NOTES_MAX && !self.notes.contains(note) {
            self.notes.push(note.clone());
            self.n_updates += 1;
        }
    }

    fn take_hosts(&mut self, hosts: &[HostSoFar<'_>], end_ms: u64) {
        self.has_hosts = !hosts.is_empty();
        for so_far in hosts {
            let step_idx = self.step.step_idx;
            if let Some(host) = self.hosts.iter_mut().find(|host| host.name == so_far.name) {
                host.take(so_far, step_idx, end_ms);
            }
        }
        self.n_updates += 1;
    }

    /// Returns what was known before.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Returns the step.
    pub fn step(&self) -> &StepNow {
        &self.step
    }

    /// Returns the hosts, in the order in which they were named.
    pub fn hosts(&self) -> &[HostNow] {
        &self.hosts
    }

    /// Returns whether it is known what each host did in the last second; else that is part of the
    /// next one.
    pub fn has_hosts(&self) -> bool {
        self.has_hosts
    }

    /// Returns the last second of all hosts together; its end counts from the start of the first
    /// run.
    pub fn last(&self) -> Option<&Interval> {
        self.last.as_ref()
    }

    /// Returns the seconds so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns how the run ended; `None` while it goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// Returns the notes so far.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns a number that rises with each update.
    pub fn n_updates(&self) -> u64 {
        self.n_updates
    }

    /// Returns each job of the step with what all hosts did of it.
    pub fn jobs(&self) -> BTreeMap<&str, JobNow> {
        let mut all: BTreeMap<&str, JobNow> = BTreeMap::new();
        for (name, job) in self.hosts.iter().flat_map(|host| &host.jobs) {
            all.entry(name).or_default().add(job);
        }
        all
    }
}

impl HostNow {
    /// Returns what it did since the start of all, by job and kind of operation.
    pub fn totals(&self) -> BTreeMap<(String, OpName), Counts> {
        let mut totals = self.before.clone();
        for (name, job) in &self.jobs {
            for (op, now) in &job.ops {
                totals.entry((name.clone(), op.clone())).or_default().add(&now.so_far);
            }
        }
        totals
    }

    /// Returns the errors since the start of all, by job.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        let mut errors = self.n_errors_before.clone();
        for (name, job) in &self.jobs {
            *errors.entry(name.clone()).or_default() += job.n_errors;
        }
        errors
    }

    /// Returns what all its jobs did together in the last second.
    pub fn last(&self) -> Counts {
        let mut all = Counts::default();
        self.jobs.values().for_each(|job| all.add(&job.last()));
        all
    }

    fn end_step(&mut self) {
        self.before = self.totals();
        self.n_errors_before = self.errors();
        self.jobs.clear();
    }

    fn take(&mut self, so_far: &HostSoFar<'_>, step_idx: u32, end_ms: u64) {
        let length_ns = end_ms.saturating_sub(self.seen_ms).saturating_mul(1_000_000);
        self.seen_ms = end_ms;
        self.load = so_far.load.or(self.load);
        self.lost = so_far.lost.map(str::to_owned);
        let mut jobs: BTreeMap<String, JobNow> = BTreeMap::new();
        for (idx, record) in so_far.jobs.iter().enumerate() {
            if record.step_idx != step_idx {
                continue;
            }
            let job = jobs.entry(record.name.clone()).or_default();
            job.n_workers += record.n_workers;
            job.n_errors += record.n_errors;
            if let Some(n) = so_far.n_in_flight.get(idx) {
                *job.n_in_flight.get_or_insert(0) += n;
            }
            for (name, counts) in Counts::of_job(record) {
                job.ops.entry(name).or_default().so_far.add(&counts);
            }
        }
        for (name, job) in &mut jobs {
            let before = self.jobs.get(name);
            for (op, now) in &mut job.ops {
                let before = before.and_then(|job| job.ops.get(op));
                let nothing = Counts::default();
                let before = before.map_or(&nothing, |it| &it.so_far);
                now.last = now.so_far.since(before, length_ns);
            }
        }
        self.jobs = jobs;
    }
}

impl JobNow {
    /// Adds the same job on another host.
    fn add(&mut self, other: &JobNow) {
        self.n_workers += other.n_workers;
        self.n_errors += other.n_errors;
        if let Some(n) = other.n_in_flight {
            *self.n_in_flight.get_or_insert(0) += n;
        }
        for (name, theirs) in &other.ops {
            let mine = self.ops.entry(name.clone()).or_default();
            mine.last.add(&theirs.last);
            mine.so_far.add(&theirs.so_far);
        }
    }

    /// Returns what all its operations did together in the last second.
    pub fn last(&self) -> Counts {
        let mut all = Counts::default();
        self.ops.values().for_each(|op| all.add(&op.last));
        all
    }
}
