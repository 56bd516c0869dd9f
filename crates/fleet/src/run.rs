//! A run over many hosts from start to end: the controller's state machine, its connections and
//! its launches.

use std::time::Duration;

use record::{Interval, Record};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use units::system_text;

use crate::controller::{Action, Controller, Event, LossPolicy, News};
use crate::crew::Crew;
use crate::launch::Launcher;
use crate::launch::dial_in::NoCrew;
use crate::live::{self, Live};
use crate::lobby::LobbyNews;
use crate::monotonic_ns;
use crate::net::controller::{NetEvent, serve};
use crate::net::door::Incoming;
use crate::stops::Stops;
use crate::wire::Assignment;

pub use crate::live::ReportCause;

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
    /// The record as it would be if the run ended now, and why it is reported.
    Report(&'a Record, ReportCause),
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
pub(crate) const JOIN_NS: u64 = 60_000_000_000;

/// How long an agent that has ended may take to leave.
pub(crate) const LEAVE: Duration = Duration::from_secs(5);

/// The same where the user wants the end at once.
const LEAVE_NOW: Duration = Duration::from_secs(1);

/// Open files for a host: three pipes of its client, and the client itself.
const FILES_PER_HOST: u64 = 4;

/// Open files for all else, those of clients that are being started among them.
const FILES_BESIDE: u64 = 100;

/// Events that wait.
pub(crate) const EVENTS: usize = 1024;

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
                    Action::Tell(news) => tell(&mut live, &news, &controller, on_event),
                    Action::Finish => break 'run,
                }
            }
        }
        crew.leave(&serving, if n_stopped > 1 { LEAVE_NOW } else { LEAVE }).await;
        if !live.refused.is_empty() {
            // What the others did until they were stopped is no run.
            return Err(FleetError::Refused(live.refused));
        }
        match live::record(&live.names, &controller, monotonic_ns()) {
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

/// Says what happened, and what it makes whole.
fn tell(
    live: &mut Live,
    news: &News,
    controller: &Controller,
    on_event: &mut dyn FnMut(FleetEvent<'_>),
) {
    let from_ns = monotonic_ns();
    if let News::Starts(..) | News::Ended(..) = news
        && let Some(record) = live::record(&live.names, controller, from_ns)
    {
        on_event(FleetEvent::Report(&record, ReportCause::Step));
    }
    let (seconds, cause) = live.take(news, controller, from_ns);
    for second in &seconds {
        on_event(FleetEvent::Interval(second));
    }
    if let Some(cause) = cause
        && let Some(record) = live::record(&live.names, controller, from_ns)
    {
        on_event(FleetEvent::Report(&record, cause));
        live.reported(from_ns, monotonic_ns());
    }
    on_event(FleetEvent::News(news, &live.names));
}

/// Raises the limit on open files as far as so many hosts need.
pub(crate) fn allow_open_files(n_hosts: usize) -> Result<(), FleetError> {
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
