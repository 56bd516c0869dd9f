//! The agents of a run and their connections: which is whose, and what carries it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::pin;
use std::time::Duration;

use tokio::process::Child;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::task::{JoinHandle, JoinSet};

use crate::controller::Event;
use crate::hosts::Host;
use crate::launch::dial_in::{DialIn, Gathered};
use crate::launch::ssh::{Launched, Said, Ssh};
use crate::net::Duplex;
use crate::net::controller::{AgentConnection, NetEvent, ToOne};
use crate::net::door::Incoming;
use crate::wire::ToAgent;
use crate::wire::from_agent::Kind as From;
use crate::wire::to_agent::Kind as To;

/// How long agents that have ended may take to leave.
const LEAVE: Duration = Duration::from_secs(5);

/// Time for the last words of a client.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// All agents of a run.
pub(crate) struct Crew<'a> {
    /// Their names, by position.
    pub(crate) names: Vec<String>,
    /// Whose a connection is.
    seats: BTreeMap<usize, usize>,
    /// Where to send what is for an agent.
    senders: BTreeMap<usize, ToOne>,
    events: Receiver<NetEvent>,
    /// What happened before the run.
    early: VecDeque<Event>,
    /// Clients that still call their host.
    launches: JoinSet<Option<(usize, Client)>>,
    /// Those whose agent was started.
    clients: BTreeMap<usize, Client>,
    /// What sends those away who are too many.
    door: Option<&'a DialIn>,
}

/// A client that carries a connection.
struct Client {
    process: Child,
    said: Said,
}

impl<'a> Crew<'a> {
    /// Calls all hosts at once.
    pub(crate) fn call(
        ssh: &Ssh,
        hosts: &[Host],
        net: &Sender<NetEvent>,
        connections: &Sender<Incoming>,
        events: Receiver<NetEvent>,
    ) -> Self {
        let mut launches = JoinSet::new();
        for (idx, host) in hosts.iter().enumerate() {
            let (ssh, host) = (ssh.clone(), host.clone());
            let (net, connections) = (net.clone(), connections.clone());
            launches.spawn(async move {
                match ssh.launch(&host).await {
                    Ok(Launched { io, client, said }) => {
                        let io: Box<dyn Duplex> = Box::new(io);
                        let connection = AgentConnection::new(io, idx);
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
        Crew {
            names: hosts.iter().map(ToString::to_string).collect(),
            seats: (0..hosts.len()).map(|idx| (idx, idx)).collect(),
            senders: BTreeMap::new(),
            events,
            early: VecDeque::new(),
            launches,
            clients: BTreeMap::new(),
            door: None,
        }
    }

    /// Takes those who came by themselves, and leaves the places of the others empty.
    pub(crate) fn seat(gathered: Gathered, door: &'a DialIn, events: Receiver<NetEvent>) -> Self {
        let Gathered { guests, senders: by_connection } = gathered;
        let (mut names, mut seats) = (Vec::new(), BTreeMap::new());
        let (mut senders, mut early) = (BTreeMap::new(), VecDeque::new());
        for (idx, guest) in guests.into_iter().enumerate() {
            seats.insert(guest.connection, idx);
            if let Some(sender) = by_connection.get(&guest.connection) {
                senders.insert(idx, sender.clone());
            }
            names.push(guest.name);
            early.push_back(Event::Message(idx, From::Hello(guest.hello)));
        }
        for idx in names.len()..door.n_agents {
            names.push(format!("agent-{}-of-{}", idx + 1, door.n_agents));
            let reason = format!("it did not come within {} s", door.wait.as_secs());
            early.push_back(Event::Gone(idx, reason));
        }
        Crew {
            names,
            seats,
            senders,
            events,
            early,
            launches: JoinSet::new(),
            clients: BTreeMap::new(),
            door: Some(door),
        }
    }

    /// Sends to an agent. One whose mailbox is full does not listen: it will be found silent.
    pub(crate) fn send(&self, idx: usize, kind: To) {
        if let Some(sender) = self.senders.get(&idx) {
            let _not_heard = sender.try_send(Ok(ToAgent { kind: Some(kind) }));
        }
    }

    /// Waits for what comes next; `None` where nothing does for so long.
    pub(crate) async fn next(&mut self, wait: Duration) -> Option<Event> {
        if let Some(event) = self.early.pop_front() {
            return Some(event);
        }
        let mut over = pin!(tokio::time::sleep(wait));
        loop {
            tokio::select! {
                Some(event) = self.events.recv() => {
                    if let Some(event) = self.event(event).await {
                        return Some(event);
                    }
                }
                Some(launched) = self.launches.join_next() => {
                    if let Ok(Some((idx, client))) = launched {
                        self.clients.insert(idx, client);
                    }
                }
                () = &mut over => return None,
            }
        }
    }

    /// Returns what an event means to the controller, if anything.
    async fn event(&mut self, event: NetEvent) -> Option<Event> {
        match event {
            NetEvent::Opened(at, sender) => {
                match (self.seats.get(&at), self.door) {
                    (Some(idx), _) => drop(self.senders.insert(*idx, sender)),
                    (None, Some(door)) => door.send_away(&sender),
                    (None, None) => {}
                }
                None
            }
            NetEvent::Message(at, message) => Some(Event::Message(*self.seats.get(&at)?, message)),
            NetEvent::Closed(at, reason) => {
                let idx = *self.seats.get(&at)?;
                self.senders.remove(&idx);
                Some(Event::Gone(idx, self.why(idx, reason).await))
            }
        }
    }

    /// Returns why a session ended, in the words of the client where it has any.
    async fn why(&self, idx: usize, reason: String) -> String {
        let Some(client) = self.clients.get(&idx) else { return reason };
        // What the client says about it may come after the end of the connection.
        tokio::time::sleep(LAST_WORDS).await;
        client.said.or(&reason)
    }

    /// Waits until all have left. Hosts that were still called clean up: their agents find no one.
    pub(crate) async fn leave(mut self, serving: &JoinHandle<Result<(), tonic::transport::Error>>) {
        let leaving = async {
            let mut left: BTreeSet<usize> = std::mem::take(&mut self.senders).into_keys().collect();
            // Of a client it is its own end that counts.
            while self.door.is_some() && !left.is_empty() {
                let Some(event) = self.events.recv().await else { break };
                if let NetEvent::Closed(at, _) = event
                    && let Some(idx) = self.seats.get(&at)
                {
                    left.remove(idx);
                }
            }
            for client in self.clients.values_mut() {
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
