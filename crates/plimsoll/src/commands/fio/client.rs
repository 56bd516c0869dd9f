//! `--client`: runs jobs on hosts where servers wait, and prints what came out as fio does.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use analysis::Rules;
use dialects::fio::output::{
    COMPAT_VERSION, ClientResult, JsonOptions, TerseVersion, client_start_lines, clients_json,
    clients_normal, clients_terse,
};
use dialects::fio::{self, ClientArg, ClientFile, Format, Switches};
use dialects::native::Native;
use dialects::{Dialect as _, LowerOptions, Parsed};
use fleet::controller::{LossPolicy, News, OwnPlan};
use fleet::launch::Launcher;
use fleet::launch::called::{Called, Server};
use fleet::run::{Fleet, FleetError, FleetEvent};
use fleet::wire::Assignment;
use plan::{Job, Plan};
use record::{Interval, NoteSeverity, Outcome, Record};
use runner::{Control, RunOptions, Status};

use super::super::{execute, hosts, input};
use super::eta::{Eta, step_ns};
use super::place::{self, Address};
use super::report::{failures, note_line};
use super::server::token;
use super::{FAILED, SIGNALLED, is_wrong, print_mistakes};
use crate::clock::{self, Stopwatch};
use crate::diagnostics::Texts;
use crate::exit::{Exit, Failure};
use crate::limited;
use crate::loader::HostLoader;
use crate::signals::Signals;
use crate::sink::Sink;
use crate::stream;
use units::system_text;

/// Longest list of hosts that is read: ten thousand of the longest names.
const LIST_BYTES_MAX: u64 = 4 << 20;

/// A server, and what it is to run.
struct Client {
    address: Address,
    work: Work,
    /// What its host calls itself, once it has come.
    name: Option<String>,
}

/// What a server is to run.
#[derive(Clone, Debug)]
enum Work {
    /// This.
    Sent(Arc<Plan>),
    /// A job file of its own.
    Theirs(String),
}

impl Work {
    /// Returns it as it is sent.
    fn plan(&self) -> OwnPlan {
        match self {
            Work::Sent(plan) => OwnPlan::Sent(Native.write(plan).text),
            Work::Theirs(path) => OwnPlan::Theirs(path.clone()),
        }
    }

    /// Returns the options of all jobs, as far as they are known here.
    fn global_options(&self) -> &[(String, String)] {
        match self {
            Work::Sent(plan) => &plan.global_options,
            Work::Theirs(_) => &[],
        }
    }
}

/// Runs jobs on servers: those of `general` on each that has none of its own.
pub(super) fn run(
    switches: &Switches,
    general: Parsed,
    options: &RunOptions,
    command_line: &str,
) -> Result<Exit, Failure> {
    let token = Arc::new(token(switches)?);
    let Some(clients) = clients(switches, general, command_line)? else { return Ok(FAILED) };
    let control = Arc::new(Control::new());
    let signals = Signals::listen(&control).map_err(|failure| failure.with(FAILED))?;
    let output = switches.output.as_deref();
    let sink =
        Sink::open_of_run(output, switches.readonly).map_err(|failure| failure.with(FAILED))?;
    let server = |it: &Client| {
        let Address { host, place, .. } = it.address.clone();
        Server { name: if host.is_empty() { place.to_string() } else { host }, place }
    };
    let fleet = Fleet {
        launcher: Launcher::Called(Called { servers: clients.iter().map(server).collect(), token }),
        assignment: Assignment {
            allow_mounted: options.allow_mounted,
            overwrite_filesystem: options.overwrite_filesystem,
            read_only: options.read_only,
            command: options.command.clone(),
            ..Assignment::default()
        },
        policy: LossPolicy::Continue,
        plans: clients.iter().map(|it| it.work.plan()).collect(),
        ledger: None,
    };
    let all = of_all(&clients);
    let is_safe = switches.formats.contains(&Format::Normal) || !sink.is_stdout();
    let mut session = ClientSession {
        switches,
        clients,
        sink,
        held: String::new(),
        said: BTreeSet::new(),
        reported: Stopwatch::start(),
        eta: Eta::wanted(switches, is_safe).then(|| Eta::new(switches, &all)),
        all: &all,
        step_began: Stopwatch::start(),
    };
    let stops = hosts::stops_of(&control);
    let outcome = fleet.run(&stops, &mut |event| session.event(&event));
    if let Some(signal) = signals.last() {
        session.write(&format!("\nfio: terminating on signal {signal}\n"));
    }
    match outcome {
        Ok(mut record) => {
            execute::judge_hosts(&mut record, &Rules::default());
            session.put_options(&mut record);
            exit(&record).once(session.finish(&record))
        }
        Err(FleetError::Refused(found)) => {
            for (host, findings) in &found {
                for finding in findings {
                    stream::print_message(&format!("fio: <{host}> {finding}\n"));
                }
            }
            Ok(FAILED)
        }
        Err(FleetError::Stopped) => Ok(SIGNALLED),
        Err(error) => Err(hosts::failure(error).with(FAILED)),
    }
}

/// Returns what all servers run, as far as it is known here, as if one did: each step has the jobs
/// of all.
fn of_all(clients: &[Client]) -> Plan {
    let mut all = Plan::default();
    for client in clients {
        let Work::Sent(plan) = &client.work else { continue };
        for (idx, step) in plan.steps.iter().enumerate() {
            match all.steps.get_mut(idx) {
                Some(of_all) => of_all.jobs.extend(step.jobs.iter().cloned()),
                None => all.steps.push(step.clone()),
            }
        }
    }
    all
}

/// Returns whether a job of a server has failed, or lacks a log.
fn has_failed(record: &Record) -> bool {
    record.jobs.iter().any(|job| job.error_errno != 0) || execute::lacks_logs(record)
}

/// Returns fio's exit code: 1 for any failure.
fn exit(record: &Record) -> Exit {
    match record.outcome {
        Outcome::Interrupted => SIGNALLED,
        Outcome::Failed | Outcome::Partial => FAILED,
        Outcome::Complete if record.hosts.iter().any(|host| has_failed(&host.record)) => FAILED,
        Outcome::Complete => Exit::Fio(0),
    }
}

/// Returns the servers and what they run; `None` where a mistake was printed.
fn clients(
    switches: &Switches,
    general: Parsed,
    command_line: &str,
) -> Result<Option<Vec<Client>>, Failure> {
    let wrong = |text: String| Failure::wrong_use(text).with(FAILED);
    let mut found: Vec<(Address, Option<Work>)> = Vec::new();
    let mut general = general;
    for arg in &switches.clients {
        let (files, theirs) = files(arg).map_err(wrong)?;
        // As fio: a file lists hosts, and job files behind it are of all.
        let is_list = Path::new(&arg.hosts).is_file();
        let addresses = if is_list { listed(&arg.hosts) } else { place::clients(&arg.hosts) };
        let mut own = theirs.map(|path| Work::Theirs(path.to_owned()));
        if !files.is_empty() {
            let parsed = parse(switches, &files);
            if is_list {
                general = parsed;
            } else {
                let Some(plan) = sound(switches, parsed, command_line) else { return Ok(None) };
                own = Some(Work::Sent(plan));
            }
        }
        found.extend(addresses.map_err(wrong)?.into_iter().map(|address| (address, own.clone())));
    }
    let mut common = None;
    if found.iter().any(|(_, own)| own.is_none()) {
        let Some(plan) = sound(switches, general, command_line) else { return Ok(None) };
        common = Some(Work::Sent(plan));
    }
    let client = |(address, own): (Address, Option<Work>)| {
        let work = own.or_else(|| common.clone())?;
        Some(Client { address, work, name: None })
    };
    Ok(Some(found.into_iter().filter_map(client).collect()))
}

/// Returns the job files that are sent, or the one that is there.
fn files(arg: &ClientArg) -> Result<(Vec<&str>, Option<&str>), String> {
    let mut sent = Vec::new();
    for file in &arg.files {
        match file {
            ClientFile::Sent(path) => sent.push(&**path),
            ClientFile::Theirs(path) if arg.files.len() == 1 => return Ok((sent, Some(path))),
            ClientFile::Theirs(path) => {
                let hosts = &arg.hosts;
                return Err(format!("`{hosts}` has `{path}` to run, and other files: leave one"));
            }
        }
    }
    Ok((sent, None))
}

/// Reads a file with a server in each word.
fn listed(path: &str) -> Result<Vec<Address>, String> {
    let text = limited::read_text(path.as_ref(), LIST_BYTES_MAX)
        .map_err(|error| format!("cannot read the hosts of `{path}`: {}", system_text(error)))?;
    let mut found = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        for word in line.split_whitespace() {
            let addresses = place::clients(word);
            found.extend(addresses.map_err(|error| format!("{path}:{}: {error}", idx + 1))?);
        }
    }
    if found.is_empty() {
        return Err(format!("`{path}` lists no host"));
    }
    Ok(found)
}

fn parse(switches: &Switches, files: &[&str]) -> Parsed {
    let (sections, readonly) = (&switches.sections, switches.readonly);
    let wishes = LowerOptions { sections, readonly, overrides: None };
    fio::parse_files(files, &wishes, &HostLoader)
}

/// Returns the plan, if nothing is wrong with it; what is, is printed. What is said of this host's
/// files is not: the jobs run elsewhere.
fn sound(switches: &Switches, mut parsed: Parsed, command_line: &str) -> Option<Arc<Plan>> {
    input::leave_out(&mut parsed, &input::ABOUT_THIS_HOST);
    let texts = Texts { sources: &parsed.plan.sources, command_line };
    for findings in [&parsed.diagnostics, &parsed.refusals] {
        if is_wrong(findings, switches) {
            print_mistakes(findings, texts);
            return None;
        }
    }
    Some(Arc::new(parsed.plan))
}

/// What is printed, and where.
struct ClientSession<'a> {
    switches: &'a Switches,
    clients: Vec<Client>,
    sink: Sink,
    /// What comes before a report, for a file: both are written at once.
    held: String,
    /// What servers have said while they ran.
    said: BTreeSet<(usize, String)>,
    /// When a report was made last.
    reported: Stopwatch,
    /// The line with the time left, where it is shown.
    eta: Option<Eta<'a>>,
    /// What all servers run.
    all: &'a Plan,
    /// When the step began that runs.
    step_began: Stopwatch,
}

impl ClientSession<'_> {
    fn event(&mut self, event: &FleetEvent<'_>) {
        match event {
            FleetEvent::News(News::Came(idx, name, version), _) => {
                let client = &mut self.clients[*idx];
                client.name = Some(name.clone());
                let mut text = format!(
                    "hostname={name}, os=Linux, fio={COMPAT_VERSION}, plimsoll={version}\n"
                );
                if let Work::Sent(plan) = &client.work {
                    text.push_str(&client_start_lines(name, plan));
                }
                self.write(&text);
            }
            FleetEvent::News(News::Said(idx, said), _) => {
                self.said.insert((*idx, said.text.clone()));
                self.pass_on(*idx, &said.text, said.is_error);
            }
            FleetEvent::News(news, names) => {
                if let News::Starts(step_idx, _) = news {
                    self.begin_step(*step_idx);
                }
                if let Some(text) = hosts::said(news, names) {
                    stream::print_message(&format!("fio: {text}"));
                }
            }
            FleetEvent::Report(record, _) => {
                let since_ms = self.reported.elapsed().as_millis();
                let is_due = |ms: u64| since_ms >= u128::from(ms);
                if self.switches.status_interval_ms.is_some_and(is_due) {
                    self.reported = Stopwatch::start();
                    // The last report says whether it can be written.
                    let _shown = self.report(record);
                }
            }
            FleetEvent::Interval(interval) => self.show(interval),
            FleetEvent::Lobby(_) | FleetEvent::TakenBack(..) | FleetEvent::LedgerFailed(_) => {}
        }
    }

    /// Counts the time of a step from now on.
    fn begin_step(&mut self, step_idx: u32) {
        self.step_began = Stopwatch::start();
        if let Some(eta) = self.eta.as_mut().filter(|_| step_idx > 0) {
            eta.step_ended();
        }
    }

    /// Shows a second of all servers in the line with the time left.
    fn show(&mut self, second: &Interval) {
        let Some(eta) = &mut self.eta else { return };
        let jobs = self.all.steps.get(second.step_idx as usize).map_or(&[][..], |step| &step.jobs);
        let n_workers = jobs.iter().map(|job| job.n_workers).fold(0, u32::saturating_add);
        let elapsed_ns = units::nanoseconds(self.step_began.elapsed());
        eta.show(&Status {
            step_idx: second.step_idx,
            n_steps: self.all.steps.len() as u32,
            n_running: n_workers,
            n_workers,
            ramp: second.ramp,
            elapsed_ns,
            left_ns: step_ns(jobs).map(|step_ns| step_ns.saturating_sub(elapsed_ns)),
            ..Status::of(second)
        });
    }

    /// Gives the entries of each server the options that stand in their own sections: a plan that
    /// is sent has those of all among them.
    fn put_options(&self, record: &mut Record) {
        for (client, host) in self.clients.iter().zip(&mut record.hosts) {
            let Work::Sent(plan) = &client.work else { continue };
            for entry in &mut host.record.jobs {
                let is_same = |job: &&Job| job.name == entry.name && job.group_id == entry.group_id;
                if let Some(job) = plan.jobs().filter(is_same).last() {
                    entry.options.clone_from(&job.options);
                }
            }
        }
    }

    /// Prints what is to be known of each server, and the reports.
    fn finish(&mut self, record: &Record) -> io::Result<()> {
        if let Some(eta) = &mut self.eta {
            eta.clear();
        }
        for (idx, host) in record.hosts.iter().enumerate() {
            for note in &host.record.notes {
                let text = note_line(note);
                if !self.said.contains(&(idx, text.clone())) {
                    self.pass_on(idx, &text, note.severity == NoteSeverity::Error);
                }
            }
            failures(&host.record).for_each(|text| self.pass_on(idx, &text, true));
            if has_failed(&host.record) || host.record.outcome == Outcome::Failed {
                let Address { host, place, .. } = &self.clients[idx].address;
                let name = if host.is_empty() { place.to_string() } else { host.clone() };
                self.write(&format!("client <{name}>: exited with error 1\n"));
            }
        }
        self.report(record)
    }

    /// Prints what a server has to say.
    fn pass_on(&mut self, idx: usize, text: &str, is_error: bool) {
        let name = self.name(idx).to_owned();
        for line in text.lines() {
            let line = format!("<{name}> {line}\n");
            if is_error {
                stream::print_message(&line);
            } else {
                self.write(&line);
            }
        }
    }

    /// Returns what a host calls itself.
    fn name(&self, idx: usize) -> &str {
        let client = &self.clients[idx];
        client.name.as_deref().unwrap_or(&client.address.host)
    }

    /// Prints one report in every format asked for: terse, then JSON, then normal.
    fn report(&mut self, record: &Record) -> io::Result<()> {
        let now = clock::report_time();
        let mut text = std::mem::take(&mut self.held);
        let result = |idx: usize| {
            let client = &self.clients[idx];
            let Address { host, port, .. } = &client.address;
            let record = &record.hosts.get(idx)?.record;
            let global_options = client.work.global_options();
            Some(ClientResult { name: self.name(idx), host, port: *port, global_options, record })
        };
        let results: Vec<ClientResult<'_>> = (0..self.clients.len()).filter_map(result).collect();
        let has = |format| self.switches.formats.contains(&format);
        if has(Format::Terse) || self.switches.append_terse {
            let version = TerseVersion::from_number(u32::from(self.switches.terse_version));
            let version = version.unwrap_or(TerseVersion::V3);
            text.push_str(&clients_terse(&results, version, COMPAT_VERSION));
        }
        if has(Format::Json) || has(Format::JsonPlus) {
            let plus = has(Format::JsonPlus);
            let options = JsonOptions { plus, version: COMPAT_VERSION, now };
            text.push_str(&clients_json(&results, options));
        }
        if has(Format::Normal) {
            text.push_str(&clients_normal(&results, now));
        }
        self.sink.write(&text)
    }

    /// Writes what belongs to the normal report.
    fn write(&mut self, text: &str) {
        if !self.switches.formats.contains(&Format::Normal) {
            return;
        }
        if self.sink.is_stdout() {
            // The last report says whether it can be written.
            let _shown = self.sink.write(text);
        } else {
            self.held.push_str(text);
        }
    }
}
