//! A run over many hosts from start to end: the controller's state machine, its connections and
//! its launches.

use std::path::PathBuf;
use std::time::Duration;

use record::{Interval, Record};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use units::system_text;

use crate::controller::{Action, Controller, Event, LossPolicy, News, OwnPlan};
use crate::crew::{Crew, Reach};
use crate::launch::Launcher;
use crate::launch::dial_in::{NoCrew, no_door};
use crate::ledger::{self, Head, Ledger, LedgerError, Past};
use crate::live::{self, Live};
use crate::lobby::LobbyNews;
use crate::monotonic_ns;
use crate::net::controller::{NetEvent, serve};
use crate::net::door::Incoming;
use crate::stops::Stops;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Assignment, Bye};

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
    /// The plan of each agent, where they have plans of their own: then that of the assignment is
    /// none's.
    pub plans: Vec<OwnPlan>,
    /// Where to keep what comes from agents that dial in: a run that is there, since its controller
    /// was killed, is taken back. The file stays, for the record to be kept first.
    pub ledger: Option<PathBuf>,
}

/// What happens during a run.
#[derive(Debug)]
pub enum FleetEvent<'a> {
    /// An agent came by itself, or is gone again, before the run.
    Lobby(&'a LobbyNews),
    /// Something about a host, or all, and the names of the hosts.
    News(&'a News, &'a [String]),
    /// A run was taken back, of so many agents, with what they have sent of so many seconds.
    TakenBack(usize, u64),
    /// What comes from agents is kept no more, for this reason.
    LedgerFailed(&'a LedgerError),
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
    /// What comes from agents cannot be kept, or a run not be taken back.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
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
        let mut once = Series::new(&self.launcher, self.policy)?;
        once.is_one = true;
        once.plans.clone_from(&self.plans);
        once.ledger.clone_from(&self.ledger);
        let outcome = once.run(&self.assignment, stops, on_event);
        if let (Some(path), Err(error)) = (&self.ledger, &outcome)
            && !matches!(error, FleetError::Ledger(_))
        {
            // Nothing is to be taken back. What cannot be removed stays.
            let _ = std::fs::remove_file(path);
        }
        outcome
    }
}

/// Which agents of a series take part in a run of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// All of them: those that were lost are called again.
    All,
    /// The first ones, up to so many. The others are there, too, and rest.
    First(usize),
    /// Those that are left; of those that were lost, who can be called again.
    Left,
}

/// Runs one after another by the same agents, which stay connected between them. Who is lost in a
/// run is called again for the next one.
#[derive(Debug)]
pub struct Series<'a> {
    launcher: &'a Launcher,
    policy: LossPolicy,
    /// There is one run: agents leave as they end.
    is_one: bool,
    /// See [`Fleet::plans`].
    plans: Vec<OwnPlan>,
    /// See [`Fleet::ledger`].
    ledger: Option<PathBuf>,
    /// There was a run.
    has_begun: bool,
    /// Taken where it ends.
    runtime: Option<Runtime>,
    crewed: Option<Crewed<'a>>,
}

/// The agents of a series, once they were called.
struct Crewed<'a> {
    crew: Crew<'a>,
    /// Of the last run.
    controller: Controller,
    serving: JoinHandle<Result<(), tonic::transport::Error>>,
    /// Where what comes is kept.
    ledger: Option<Ledger>,
    /// What is to come to the controller before all else: what came to the one before it.
    past: Vec<(u64, Event)>,
}

impl std::fmt::Debug for Crewed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.crew.names)
    }
}

impl<'a> Series<'a> {
    /// Begins a series: hosts are called for its first run.
    ///
    /// # Errors
    /// Where this host cannot call so many.
    pub fn new(launcher: &'a Launcher, policy: LossPolicy) -> Result<Self, FleetError> {
        match launcher {
            Launcher::Ssh(_, hosts) => allow_open_files(hosts.len())?,
            Launcher::Called(called) => allow_open_files(called.servers.len())?,
            // Who finds no room at the door comes again.
            Launcher::DialIn(door) => drop(allow_open_files(door.n_agents)),
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = Some(runtime.map_err(FleetError::Wait)?);
        Ok(Series {
            launcher,
            policy,
            is_one: false,
            plans: Vec::new(),
            ledger: None,
            has_begun: false,
            runtime,
            crewed: None,
        })
    }

    /// Runs this until its end, or until `stops` asks for that, as [`Fleet::run`]. Where a run does
    /// not begin, or is to end at once, all agents leave: the next run calls their hosts anew.
    ///
    /// # Errors
    /// Where no host ran anything.
    pub fn run(
        &mut self,
        assignment: &Assignment,
        stops: &Stops,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Record, FleetError> {
        self.run_by(Who::All, assignment, stops, on_event)
    }

    /// Does the same with some of the agents.
    ///
    /// # Errors
    /// Where no host ran anything.
    pub fn run_by(
        &mut self,
        who: Who,
        assignment: &Assignment,
        stops: &Stops,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Record, FleetError> {
        let Some(runtime) = self.runtime.take() else { return Err(FleetError::Stopped) };
        let outcome = runtime.block_on(self.drive(who, assignment, stops, on_event));
        self.runtime = Some(runtime);
        outcome
    }

    async fn drive(
        &mut self,
        who: Who,
        assignment: &Assignment,
        stops: &Stops,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Record, FleetError> {
        let mut crewed = match self.crewed.take() {
            Some(before) => before.next_run(who, self.policy, assignment).await?,
            None if self.has_begun && matches!(self.launcher, Launcher::DialIn(_)) => {
                // They have left, and nothing starts them again.
                return Err(FleetError::Stopped);
            }
            None => self.called(assignment, stops, on_event).await?,
        };
        if let Who::First(n_taking) = who {
            crewed.controller = crewed.controller.of_first(n_taking);
        }
        self.has_begun = true;
        let mut live = Live::new(crewed.crew.names.clone());
        let Crewed { crew, controller, ledger, past, .. } = &mut crewed;
        let mut is_over = relive(std::mem::take(past), controller, &mut live, on_event);
        let mut n_stopped = 0;
        while !is_over {
            let wait_ns = controller.due_ns().saturating_sub(monotonic_ns());
            let event = tokio::select! {
                () = stops.beyond(n_stopped) => {
                    n_stopped += 1;
                    Event::Stop
                }
                event = crew.next(Duration::from_nanos(wait_ns)) => event.unwrap_or(Event::Due),
            };
            let now_ns = monotonic_ns();
            let noted = ledger.as_mut().map_or(Ok(()), |ledger| ledger.note(&event, now_ns));
            if let Err(error) = noted {
                *ledger = None;
                on_event(FleetEvent::LedgerFailed(&error));
            }
            for action in controller.take(event, now_ns) {
                match action {
                    Action::Send(idx, kind) => crew.send(idx, kind),
                    Action::Tell(news) => tell(&mut live, &news, controller, on_event),
                    Action::Finish => is_over = true,
                }
            }
        }
        let is_refused = !live.refused.is_empty();
        let record = live::record(&live.names, controller, monotonic_ns());
        let is_interrupted = controller.is_interrupted();
        if self.is_one || n_stopped > 1 || is_refused || record.is_none() {
            crewed.leave(if n_stopped > 1 { LEAVE_NOW } else { LEAVE }).await;
        } else {
            self.crewed = Some(crewed);
        }
        match record {
            // What the others did until they were stopped is no run.
            _ if is_refused => Err(FleetError::Refused(live.refused)),
            Some(record) => Ok(record),
            None if is_interrupted => Err(FleetError::Stopped),
            None => Err(FleetError::Refused(live.lost)),
        }
    }

    /// Brings the agents of the first run together.
    async fn called(
        &self,
        assignment: &Assignment,
        stops: &Stops,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Crewed<'a>, FleetError> {
        let (net, events) = channel(EVENTS);
        let (connections, incoming) = channel(EVENTS);
        let serving = tokio::spawn(serve(incoming, net));
        let mut ledger = None;
        if let (Some(path), Launcher::DialIn(door)) = (&self.ledger, self.launcher) {
            let (opened, past) = Ledger::open(path)?;
            if let Some(Past { head, events: past }) = past {
                ledger::check(path, &head, assignment)?;
                let crew = Crew::of_past(&head, door, connections, events);
                let crew = crew.map_err(|error| FleetError::Listen(no_door(&error)))?;
                let seconds =
                    past.last().map_or(0, |(at_ns, _)| at_ns.saturating_sub(head.begun_ns));
                on_event(FleetEvent::TakenBack(head.names.len(), seconds / 1_000_000_000));
                let (controller, ledger) = (head.controller(), Some(opened));
                return Ok(Crewed { crew, controller, serving, ledger, past });
            }
            ledger = Some(opened);
        }
        let crew = self.crew(connections, events, stops, on_event).await?;
        let (begun_ns, names) = (monotonic_ns(), crew.names.clone());
        if let Some(ledger) = &mut ledger {
            let head = Head::new(begun_ns, JOIN_NS, assignment, names.clone());
            ledger.begin(&Head { greetings: crew.greetings(), ..head.with_policy(self.policy) })?;
        }
        let assignment = assignment.clone();
        let controller = Controller::new(names.len(), assignment, self.policy, begun_ns, JOIN_NS);
        let controller = controller.with_plans(self.plans.clone());
        let controller = if self.is_one { controller } else { controller.keeping_agents() };
        Ok(Crewed { crew, controller, serving, ledger, past: Vec::new() })
    }

    async fn crew(
        &self,
        connections: Sender<Incoming>,
        mut events: Receiver<NetEvent>,
        stops: &Stops,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Crew<'a>, FleetError> {
        let door = match self.launcher {
            Launcher::Ssh(ssh, hosts) => {
                return Ok(Crew::call(Reach::Ssh(ssh, hosts), connections, events));
            }
            Launcher::Called(called) => {
                return Ok(Crew::call(Reach::Called(called), connections, events));
            }
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

impl Drop for Series<'_> {
    /// Lets the agents leave.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if let Some(crewed) = self.crewed.take() {
            runtime.block_on(crewed.leave(LEAVE));
        }
        runtime.shutdown_background();
    }
}

impl Crewed<'_> {
    /// Begins the next run, and calls those again who do not go into it from the one before.
    async fn next_run(
        self,
        who: Who,
        policy: LossPolicy,
        assignment: &Assignment,
    ) -> Result<Self, FleetError> {
        let Crewed { mut crew, mut controller, serving, ledger, past } = self;
        // Who has left since is to be called, too. The run has ended: nothing is to be done.
        for event in crew.arrived().await {
            controller.take(event, monotonic_ns());
        }
        let (controller, absent) = controller.next_run(assignment.clone(), monotonic_ns());
        let policy = if who == Who::Left { LossPolicy::AtLeast(1) } else { policy };
        let controller = controller.with_policy(policy);
        let lacking: Vec<usize> = absent.into_iter().filter(|idx| !crew.call_again(*idx)).collect();
        let reason = "it is lost, and what has started it does not start it again";
        if who == Who::Left {
            crew.without(&lacking, reason);
        }
        if lacking.is_empty() || who == Who::Left {
            return Ok(Crewed { crew, controller, serving, ledger, past });
        }
        let refused = lacking.iter().map(|idx| (crew.names[*idx].clone(), vec![reason.to_owned()]));
        let refused = refused.collect();
        Crewed { crew, controller, serving, ledger, past }.leave(LEAVE).await;
        Err(FleetError::Refused(refused))
    }

    /// Sends all home that are here, and waits until they have left.
    async fn leave(self, limit: Duration) {
        for idx in 0..self.crew.names.len() {
            self.crew.send(idx, To::Bye(Bye::default()));
        }
        self.crew.leave(&self.serving, limit).await;
    }
}

/// Has a controller see what came to the one before it, and shows the seconds that were whole.
/// Returns whether its run was over.
fn relive(
    past: Vec<(u64, Event)>,
    controller: &mut Controller,
    live: &mut Live,
    on_event: &mut dyn FnMut(FleetEvent<'_>),
) -> bool {
    let mut is_over = false;
    for (at_ns, event) in past {
        for action in controller.take(event, at_ns) {
            match action {
                // It was sent, or is said again to those who call.
                Action::Send(..) => {}
                Action::Tell(news) => {
                    let (seconds, _) = live.take(&news, controller, at_ns);
                    for second in &seconds {
                        on_event(FleetEvent::Interval(second));
                    }
                }
                Action::Finish => is_over = true,
            }
        }
    }
    is_over
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
