//! A run over many hosts from start to end: the controller's state machine, its connections and
//! its launches.

use std::collections::BTreeMap;
use std::time::Duration;

use record::{HostShareRecord, Interval, LossRecord, Outcome, Record, StartRecord};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use units::system_text;

use crate::controller::{Action, AgentOutcome, Controller, Event, LossPolicy, News};
use crate::crew::Crew;
use crate::intervals::Joiner;
use crate::launch::Launcher;
use crate::launch::dial_in::NoCrew;
use crate::lobby::LobbyNews;
use crate::merge;
use crate::monotonic_ns;
use crate::net::controller::{NetEvent, serve};
use crate::net::door::Incoming;
use crate::stops::Stops;
use crate::wire::Assignment;

/// What is to be run, and where.
#[derive(Debug)]
pub struct Fleet {
    /// Where its agents come from.
    pub launcher: Launcher,
    /// What each is to do; position and number of hosts are filled in.
    pub assignment: Assignment,
    /// What to do when one is lost.
    pub policy: LossPolicy,
}

/// What happens during a run.
#[derive(Debug)]
pub enum FleetEvent<'a> {
    /// An agent came by itself, or is gone again, before the run.
    Lobby(&'a LobbyNews),
    /// Something about a host, or all, and the names of the hosts.
    News(&'a News, &'a [String]),
    /// A second of all hosts together.
    Interval(&'a Interval),
    /// The record as it would be if the run ended now.
    Report(&'a Record),
}

/// Why there is no record.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// Nothing was run: what stands against it on which host.
    #[error("the run cannot begin")]
    Refused(Vec<(String, Vec<String>)>),
    /// There is nothing to listen for agents with.
    #[error("{0}")]
    Listen(String),
    /// The system does not let it wait for connections.
    #[error("cannot wait for connections: {}", system_text(.0))]
    Wait(std::io::Error),
    /// More hosts than the process may have connections to.
    #[error("{n_hosts} hosts need {wanted} open files, and this process may have {limit}")]
    OpenFiles {
        /// Hosts.
        n_hosts: usize,
        /// Files that they need.
        wanted: u64,
        /// The hard limit.
        limit: u64,
    },
    /// Too few agents came in time.
    #[error("{0}")]
    TooFew(String),
    /// The user ended it before it began.
    #[error("stopped before all hosts had come: nothing was run")]
    Stopped,
}

/// How long an agent may take from its launch to its first message.
const JOIN_NS: u64 = 60_000_000_000;

/// How long an agent that has ended may take to leave.
const LEAVE: Duration = Duration::from_secs(5);

/// The same where the user wants the end at once.
const LEAVE_NOW: Duration = Duration::from_secs(1);

/// Open files for a host: three pipes of its client, and the client itself.
const FILES_PER_HOST: u64 = 4;

/// Open files for all else, those of clients that are being started among them.
const FILES_BESIDE: u64 = 100;

/// Time between two reports of the record: what is lost at most where the controller is killed.
const REPORT_NS: u64 = 1_000_000_000;

/// Least time between two reports, in times of what one takes.
const REPORT_PAUSE: u64 = 50;

/// Events that wait.
const EVENTS: usize = 1024;

impl Fleet {
    /// Returns the names of the hosts, as far as they are known before the run: agents that dial in
    /// have theirs when they come.
    pub fn names(&self) -> Vec<String> {
        match &self.launcher {
            Launcher::Ssh(_, hosts) => hosts.iter().map(ToString::to_string).collect(),
            Launcher::DialIn(_) => Vec::new(),
        }
    }

    /// Runs it until its end, or until `stops` asks for that: once with what is measured, twice
    /// with what is here.
    ///
    /// # Errors
    /// Where no host ran anything.
    pub fn run(
        &self,
        stops: &Stops,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Record, FleetError> {
        match &self.launcher {
            Launcher::Ssh(_, hosts) => allow_open_files(hosts.len())?,
            // Who finds no room at the door comes again.
            Launcher::DialIn(door) => drop(allow_open_files(door.n_agents)),
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(FleetError::Wait)?;
        let outcome = runtime.block_on(self.drive(stops, on_event));
        runtime.shutdown_background();
        outcome
    }

    async fn drive(
        &self,
        stops: &Stops,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Record, FleetError> {
        let (net, events) = channel(EVENTS);
        let (connections, incoming) = channel(EVENTS);
        let serving = tokio::spawn(serve(incoming, net));
        let mut crew = self.crew(connections, events, stops, on_event).await?;
        let mut live = Live::new(crew.names.clone());
        let mut controller = Controller::new(
            crew.names.len(),
            self.assignment.clone(),
            self.policy,
            monotonic_ns(),
            JOIN_NS,
        );
        let mut n_stopped = 0;
        'run: loop {
            let wait_ns = controller.due_ns().saturating_sub(monotonic_ns());
            let event = tokio::select! {
                () = stops.beyond(n_stopped) => {
                    n_stopped += 1;
                    Event::Stop
                }
                event = crew.next(Duration::from_nanos(wait_ns)) => event.unwrap_or(Event::Due),
            };
            for action in controller.take(event, monotonic_ns()) {
                match action {
                    Action::Send(idx, kind) => crew.send(idx, kind),
                    Action::Tell(news) => {
                        live.tell(&news, &controller, on_event);
                    }
                    Action::Finish => break 'run,
                }
            }
        }
        crew.leave(&serving, if n_stopped > 1 { LEAVE_NOW } else { LEAVE }).await;
        if !live.refused.is_empty() {
            // What the others did until they were stopped is no run.
            return Err(FleetError::Refused(live.refused));
        }
        match record(&live.names, &controller) {
            Some(record) => Ok(record),
            None if controller.is_interrupted() => Err(FleetError::Stopped),
            None => Err(FleetError::Refused(live.lost)),
        }
    }

    /// Brings the agents of the run together.
    async fn crew(
        &self,
        connections: Sender<Incoming>,
        mut events: Receiver<NetEvent>,
        stops: &Stops,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Crew<'_>, FleetError> {
        let door = match &self.launcher {
            Launcher::Ssh(ssh, hosts) => return Ok(Crew::call(ssh, hosts, &connections, events)),
            Launcher::DialIn(door) => door,
        };
        let n_agents_min = match self.policy {
            LossPolicy::Abort | LossPolicy::Continue => door.n_agents,
            LossPolicy::AtLeast(n) => n as usize,
        };
        let mut tell = |news: &LobbyNews| on_event(FleetEvent::Lobby(news));
        let gathered = door.gather(n_agents_min, connections, &mut events, stops, &mut tell);
        match gathered.await {
            Ok(gathered) => Ok(Crew::seat(gathered, door, events)),
            Err(NoCrew::Setup(text)) => Err(FleetError::Listen(text)),
            Err(NoCrew::TooFew(text)) => Err(FleetError::TooFew(text)),
            Err(NoCrew::Unfit(name, reason)) => {
                Err(FleetError::Refused(vec![(name, vec![reason])]))
            }
            Err(NoCrew::Stopped) => Err(FleetError::Stopped),
        }
    }
}

/// Raises the limit on open files as far as so many hosts need.
fn allow_open_files(n_hosts: usize) -> Result<(), FleetError> {
    let wanted = FILES_BESIDE + n_hosts as u64 * FILES_PER_HOST;
    let limits = getrlimit(Resource::Nofile);
    if limits.current.is_none_or(|soft| soft >= wanted) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(wanted), maximum: limits.maximum };
    match limits.maximum {
        Some(limit) if limit < wanted => Err(FleetError::OpenFiles { n_hosts, wanted, limit }),
        Some(_) | None => setrlimit(Resource::Nofile, raised)
            .map_err(|error| FleetError::Wait(std::io::Error::from(error))),
    }
}

/// Makes the record of what came from all; `None` where nothing did.
fn record(names: &[String], controller: &Controller) -> Option<Record> {
    let outcomes = controller.outcomes(monotonic_ns());
    if !outcomes.iter().any(|it| it.has_frames) {
        return None;
    }
    let shares = names.iter().zip(outcomes);
    let shares: Vec<HostShareRecord> =
        shares.map(|(name, outcome)| share(name.clone(), outcome)).collect();
    let notes = merge::notes_about(&shares);
    let mut record = merge::merge(shares);
    record.notes.extend(notes);
    Some(record)
}

/// Makes what is kept of a host.
fn share(name: String, outcome: AgentOutcome) -> HostShareRecord {
    let mut record = outcome.record;
    let later: BTreeMap<u32, u64> = outcome.starts.into_iter().collect();
    let started = record.conditions.iter().filter_map(|of_step| {
        let later_ns = later.get(&of_step.step_idx).copied().unwrap_or(0);
        let start_error_ns = of_step.start_error_ns?.saturating_add_unsigned(later_ns);
        Some(StartRecord { step_idx: of_step.step_idx, start_error_ns })
    });
    let starts = started.collect();
    if !outcome.is_complete && record.outcome == Outcome::Complete {
        record.outcome = Outcome::Interrupted;
    }
    let lost = outcome.lost.map(|(_, reason)| {
        let since_ms = record.intervals.last().map_or(0, |last| last.end_ms);
        LossRecord { since_ms, reason }
    });
    let offset = outcome.offset;
    HostShareRecord {
        name,
        clock_offset_ns: offset.map_or(0, |it| it.offset_ns),
        clock_error_ns: offset.map_or(u64::MAX, |it| it.error_ns),
        silence_ns_max: outcome.silence_ns_max,
        starts,
        lost,
        record,
    }
}

/// What is known while the run goes on.
struct Live {
    /// The hosts.
    names: Vec<String>,
    refused: Vec<(String, Vec<String>)>,
    lost: Vec<(String, Vec<String>)>,
    /// Intervals of each host that were joined, and the joining of them.
    n_intervals: Vec<usize>,
    joiner: Joiner,
    /// When the record is reported next.
    report_ns: u64,
}

impl Live {
    fn new(names: Vec<String>) -> Self {
        Live {
            refused: Vec::new(),
            lost: Vec::new(),
            n_intervals: vec![0; names.len()],
            joiner: Joiner::new(names.len()),
            names,
            report_ns: monotonic_ns() + REPORT_NS,
        }
    }

    /// Notes it, and tells the user.
    fn tell(
        &mut self,
        news: &News,
        controller: &Controller,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) {
        match news {
            News::Refused(idx, findings) => {
                self.refused.push((self.names[*idx].clone(), findings.clone()));
            }
            News::Lost(idx, reason) | News::Absent(idx, reason) => {
                self.lost.push((self.names[*idx].clone(), vec![reason.clone()]));
            }
            News::Frame(_) => {
                for interval in self.new_intervals(controller) {
                    on_event(FleetEvent::Interval(&interval));
                }
                let now_ns = monotonic_ns();
                if now_ns >= self.report_ns
                    && let Some(record) = record(&self.names, controller)
                {
                    on_event(FleetEvent::Report(&record));
                    // What takes long with many hosts is not done all the time.
                    let took_ns = monotonic_ns() - now_ns;
                    self.report_ns = now_ns + REPORT_NS.max(took_ns.saturating_mul(REPORT_PAUSE));
                }
            }
            News::Sent(..)
            | News::Suspect(_)
            | News::Back(..)
            | News::Starts(..)
            | News::Progress(..) => {}
        }
        on_event(FleetEvent::News(news, &self.names));
    }

    /// Returns the intervals up to which all hosts that are heard have come, and that were not
    /// returned before. A silent host is not waited for: what it did comes with it.
    fn new_intervals(&mut self, controller: &Controller) -> Vec<Interval> {
        for (idx, n_joined) in self.n_intervals.iter_mut().enumerate() {
            let intervals = controller.frames(idx).intervals();
            for interval in intervals.get(*n_joined..).unwrap_or_default() {
                self.joiner.push(idx, interval);
            }
            *n_joined = intervals.len().max(*n_joined);
        }
        self.joiner.take(|idx| controller.is_heard(idx))
    }
}
