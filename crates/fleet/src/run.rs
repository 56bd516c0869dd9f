//! A run over many hosts from start to end: the controller's state machine, its connections and
//! its launches.

use std::collections::BTreeMap;
use std::time::Duration;

use record::{HostShareRecord, Interval, LossRecord, Outcome, Record, StartRecord};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::{JoinHandle, JoinSet};

use crate::controller::{Action, AgentOutcome, Controller, Event, LossPolicy, News};
use crate::hosts::Host;
use crate::intervals::Joiner;
use crate::launch::ssh::{Launched, Said, Ssh};
use crate::merge;
use crate::monotonic_ns;
use crate::net::controller::{AgentAt, AgentConnection, NetEvent, serve};
use crate::wire::{Assignment, ToAgent};

/// What is to be run, and where.
#[derive(Debug)]
pub struct Fleet {
    /// The hosts.
    pub hosts: Vec<Host>,
    /// How their agents are started.
    pub ssh: Ssh,
    /// What each is to do; position and number of hosts are filled in.
    pub assignment: Assignment,
    /// What to do when one is lost.
    pub policy: LossPolicy,
}

/// What happens during a run.
#[derive(Debug)]
pub enum FleetEvent<'a> {
    /// Something about a host, or all.
    News(&'a News),
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
    /// The program of the agents, or the means to speak with them, is not there.
    #[error("{0}")]
    Setup(String),
}

/// How long an agent may take from its launch to its first message.
const JOIN_NS: u64 = 60_000_000_000;

/// How often a stop is asked about, and the least time between two looks at what is due.
const TICK: Duration = Duration::from_millis(50);

/// How long an agent that has ended may take to leave.
const LEAVE: Duration = Duration::from_secs(5);

/// Time between two reports of the record: what is lost at most where the controller is killed.
const REPORT_NS: u64 = 1_000_000_000;

/// Least time between two reports, in times of what one takes.
const REPORT_PAUSE: u64 = 50;

/// Events that wait.
const EVENTS: usize = 1024;

impl Fleet {
    /// Runs it. `n_stops` says how often the user has asked for the end.
    ///
    /// # Errors
    /// Where no host ran anything.
    pub fn run(
        &self,
        n_stops: &dyn Fn() -> u32,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Record, FleetError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime
            .map_err(|error| FleetError::Setup(format!("cannot wait for connections: {error}")))?;
        let outcome = runtime.block_on(self.drive(n_stops, on_event));
        runtime.shutdown_background();
        outcome
    }

    async fn drive(
        &self,
        n_stops: &dyn Fn() -> u32,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Record, FleetError> {
        let n_hosts = self.hosts.len();
        let (net, mut events) = channel(EVENTS);
        let (connections, incoming) = channel(n_hosts.max(1));
        let mut clients =
            Clients { launches: self.launch(&net, &connections), there: BTreeMap::new() };
        drop(connections);
        let serving = tokio::spawn(serve(incoming, net));
        let mut live = Live::new(n_hosts);
        let mut controller =
            Controller::new(n_hosts, self.assignment.clone(), self.policy, monotonic_ns(), JOIN_NS);
        let mut n_stopped = 0;
        'run: loop {
            let wait_ns = controller.due_ns().saturating_sub(monotonic_ns());
            let event = tokio::select! {
                Some(event) = events.recv() => match event {
                    NetEvent::Opened(idx, sender) => {
                        live.senders.insert(idx, sender);
                        continue;
                    }
                    NetEvent::Message(idx, message) => Event::Message(idx, message),
                    NetEvent::Closed(idx, reason) => {
                        live.senders.remove(&idx);
                        Event::Gone(idx, clients.why(idx, reason).await)
                    }
                },
                Some(launched) = clients.launches.join_next() => {
                    if let Ok(Some((idx, client))) = launched {
                        clients.there.insert(idx, client);
                    }
                    continue;
                }
                () = tokio::time::sleep(TICK.min(Duration::from_nanos(wait_ns))) => {
                    if n_stops() > n_stopped {
                        n_stopped += 1;
                        Event::Stop
                    } else {
                        Event::Due
                    }
                }
            };
            for action in controller.take(event, monotonic_ns()) {
                match action {
                    Action::Send(idx, kind) => live.send(idx, kind),
                    Action::Tell(news) => {
                        self.tell(&news, &mut live, &controller, on_event);
                    }
                    Action::Finish => break 'run,
                }
            }
        }
        live.senders.clear();
        clients.leave(&serving).await;
        if !live.refused.is_empty() {
            // What the others did until they were stopped is no run.
            return Err(FleetError::Refused(live.refused));
        }
        self.record(&controller).ok_or(FleetError::Refused(live.lost))
    }

    /// Calls all hosts at once.
    fn launch(
        &self,
        net: &Sender<NetEvent>,
        connections: &Sender<AgentConnection<Io>>,
    ) -> JoinSet<Option<(usize, Client)>> {
        let mut launches = JoinSet::new();
        for (idx, host) in self.hosts.iter().enumerate() {
            let (ssh, host) = (self.ssh.clone(), host.clone());
            let (net, connections) = (net.clone(), connections.clone());
            launches.spawn(async move {
                match ssh.launch(&host).await {
                    Ok(Launched { io, client, said }) => {
                        let connection = AgentConnection { io, agent: AgentAt(idx) };
                        let _run_has_ended = connections.send(connection).await;
                        Some((idx, Client { process: client, said }))
                    }
                    Err(reason) => {
                        let _run_has_ended = net.send(NetEvent::Closed(idx, reason)).await;
                        None
                    }
                }
            });
        }
        launches
    }

    fn tell(
        &self,
        news: &News,
        live: &mut Live,
        controller: &Controller,
        on_event: &mut dyn FnMut(FleetEvent<'_>),
    ) {
        match news {
            News::Refused(idx, findings) => {
                live.refused.push((self.hosts[*idx].to_string(), findings.clone()));
            }
            News::Lost(idx, reason) | News::Absent(idx, reason) => {
                live.lost.push((self.hosts[*idx].to_string(), vec![reason.clone()]));
            }
            News::Frame(_) => {
                for interval in live.new_intervals(controller) {
                    on_event(FleetEvent::Interval(&interval));
                }
                let now_ns = monotonic_ns();
                if now_ns >= live.report_ns
                    && let Some(record) = self.record(controller)
                {
                    on_event(FleetEvent::Report(&record));
                    // What takes long with many hosts is not done all the time.
                    let took_ns = monotonic_ns() - now_ns;
                    live.report_ns = now_ns + REPORT_NS.max(took_ns.saturating_mul(REPORT_PAUSE));
                }
            }
            News::Suspect(_) | News::Back(..) | News::Starts(..) | News::Progress(..) => {}
        }
        on_event(FleetEvent::News(news));
    }

    /// Makes the record of what came from all; `None` where nothing did.
    fn record(&self, controller: &Controller) -> Option<Record> {
        let outcomes = controller.outcomes(monotonic_ns());
        if !outcomes.iter().any(|it| it.has_frames) {
            return None;
        }
        let shares = self.hosts.iter().zip(outcomes);
        let shares: Vec<HostShareRecord> =
            shares.map(|(host, outcome)| share(host.to_string(), outcome)).collect();
        let notes = merge::notes_about(&shares);
        let mut record = merge::merge(shares);
        record.notes.extend(notes);
        Some(record)
    }
}

/// What carries the bytes of a session.
type Io = tokio::io::Join<tokio::io::BufReader<ChildStdout>, ChildStdin>;

/// The clients that carry the connections.
struct Clients {
    /// Those that still call their host.
    launches: JoinSet<Option<(usize, Client)>>,
    /// Those whose agent was started.
    there: BTreeMap<usize, Client>,
}

/// One of them.
struct Client {
    process: Child,
    said: Said,
}

impl Clients {
    /// Returns why a session ended, in the words of the client where it has any.
    async fn why(&self, idx: usize, reason: String) -> String {
        let Some(client) = self.there.get(&idx) else { return reason };
        // What the client says about it may come after the end of the connection.
        tokio::time::sleep(TICK).await;
        client.said.or(&reason)
    }

    /// Waits until all have left. Hosts that were still called clean up: their agents find no one.
    async fn leave(mut self, serving: &JoinHandle<Result<(), tonic::transport::Error>>) {
        let leaving = async {
            for client in self.there.values_mut() {
                let _status = client.process.wait().await;
            }
        };
        let _in_time = tokio::time::timeout(LEAVE, leaving).await;
        serving.abort();
        let called = async {
            while let Some(launched) = self.launches.join_next().await {
                if let Ok(Some((_, mut client))) = launched {
                    let _status = client.process.wait().await;
                }
            }
        };
        // Whoever is left ends with what is dropped here.
        let _in_time = tokio::time::timeout(LEAVE, called).await;
    }
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
    let lost = outcome.lost.map(|(_, reason)| {
        if record.outcome == Outcome::Complete {
            record.outcome = Outcome::Interrupted;
        }
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
    senders: BTreeMap<usize, Sender<Result<ToAgent, tonic::Status>>>,
    refused: Vec<(String, Vec<String>)>,
    lost: Vec<(String, Vec<String>)>,
    /// Intervals of each host that were joined, and the joining of them.
    n_intervals: Vec<usize>,
    joiner: Joiner,
    /// When the record is reported next.
    report_ns: u64,
}

impl Live {
    fn new(n_hosts: usize) -> Self {
        Live {
            senders: BTreeMap::new(),
            refused: Vec::new(),
            lost: Vec::new(),
            n_intervals: vec![0; n_hosts],
            joiner: Joiner::new(n_hosts),
            report_ns: monotonic_ns() + REPORT_NS,
        }
    }

    /// Sends to an agent. One whose mailbox is full does not listen: it will be found silent.
    fn send(&self, idx: usize, kind: crate::wire::to_agent::Kind) {
        if let Some(sender) = self.senders.get(&idx) {
            let _not_heard = sender.try_send(Ok(ToAgent { kind: Some(kind) }));
        }
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
