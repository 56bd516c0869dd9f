//! The agents of a run and their connections: which is whose, and what carries it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use crate::controller::Event;
use crate::hosts::Host;
use crate::launch::called::Called;
use crate::launch::client::{ClientEvent, Clients};
use crate::launch::dial_in::{DialIn, Gathered};
use crate::launch::ssh::Ssh;
use crate::ledger::Head;
use crate::monotonic_ns;
use crate::net::controller::{NetEvent, ToOne};
use crate::net::door::Incoming;
use crate::wire::from_agent::Kind as From;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Hello, ToAgent};

/// Events of clients that wait.
const EVENTS: usize = 1024;

/// How long what has come between two runs is read: long enough for all that waits, since what
/// carries it works in this time only.
const ARRIVE_NS: u64 = 5_000_000;

/// All agents of a run.
pub(crate) struct Crew<'a> {
    /// Their names, by position.
    pub(crate) names: Vec<String>,
    /// Whose a connection is.
    seats: BTreeMap<usize, usize>,
    /// Where to send what is for an agent.
    senders: BTreeMap<usize, ToOne>,
    /// How those greet who call again, by position.
    greetings: Vec<Hello>,
    /// Where to send what is for those who have come since, and have yet to greet.
    newcomers: BTreeMap<usize, ToOne>,
    events: Receiver<NetEvent>,
    /// What happened before the run.
    early: VecDeque<Event>,
    /// What comes of the clients that carry connections.
    launches: Receiver<ClientEvent>,
    clients: Clients,
    /// What calls hosts, where they are called.
    caller: Option<Caller<'a>>,
    /// What sends those away who are too many.
    door: Option<&'a DialIn>,
}

/// How hosts are called.
#[derive(Clone, Copy)]
pub(crate) enum Reach<'a> {
    /// Over ssh.
    Ssh(&'a Ssh, &'a [Host]),
    /// They listen.
    Called(&'a Called),
}

impl Reach<'_> {
    fn names(&self) -> Vec<String> {
        match self {
            Reach::Ssh(_, hosts) => hosts.iter().map(ToString::to_string).collect(),
            Reach::Called(called) => called.names(),
        }
    }
}

/// What calls hosts.
struct Caller<'a> {
    reach: Reach<'a>,
    /// Calls so far: each makes a connection of its own.
    n_calls: usize,
    connections: Sender<Incoming>,
    launched: Sender<ClientEvent>,
}

impl<'a> Crew<'a> {
    /// Calls all hosts at once.
    pub(crate) fn call(
        reach: Reach<'a>,
        connections: Sender<Incoming>,
        events: Receiver<NetEvent>,
    ) -> Self {
        let (launched, launches) = channel(EVENTS);
        let mut crew = Crew {
            names: reach.names(),
            seats: BTreeMap::new(),
            senders: BTreeMap::new(),
            greetings: Vec::new(),
            newcomers: BTreeMap::new(),
            events,
            early: VecDeque::new(),
            launches,
            clients: Clients::default(),
            caller: Some(Caller { reach, n_calls: 0, connections, launched }),
            door: None,
        };
        for idx in 0..crew.names.len() {
            crew.call_again(idx);
        }
        crew
    }

    /// Calls a host anew: what its connection before brings is of no one any more. Returns false
    /// where agents come by themselves.
    pub(crate) fn call_again(&mut self, idx: usize) -> bool {
        let Some(caller) = &mut self.caller else { return false };
        let before = self.seats.iter().find(|(_, of)| **of == idx).map(|(at, _)| *at);
        if let Some(at) = before {
            self.seats.remove(&at);
            self.clients.end(at);
        }
        self.senders.remove(&idx);
        let at = caller.n_calls;
        caller.n_calls += 1;
        self.seats.insert(at, idx);
        let (connections, launched) = (&caller.connections, &caller.launched);
        match caller.reach {
            Reach::Ssh(ssh, hosts) => {
                self.clients.call(at, (ssh, &hosts[idx]), connections, launched);
            }
            Reach::Called(called) => {
                self.clients.call_server(at, (called, idx), connections, launched);
            }
        }
        true
    }

    /// Goes on without those who are not called again, for this reason.
    pub(crate) fn without(&mut self, lacking: &[usize], reason: &str) {
        let gone = lacking.iter().map(|idx| Event::Gone(*idx, reason.to_owned()));
        self.early.extend(gone);
    }

    /// Takes those who came by themselves, and leaves the places of the others empty.
    pub(crate) fn seat(gathered: Gathered, door: &'a DialIn, events: Receiver<NetEvent>) -> Self {
        let Gathered { guests, senders: by_connection } = gathered;
        let (mut names, mut seats) = (Vec::new(), BTreeMap::new());
        let (mut senders, mut early) = (BTreeMap::new(), VecDeque::new());
        let greetings = guests.iter().map(|guest| guest.hello.clone()).collect();
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
        Crew { seats, senders, greetings, early, ..Crew::by_door(names, door, events) }
    }

    /// Awaits those of a run whose controller was killed: they call again, and greet as they did.
    ///
    /// # Errors
    /// Where the door cannot be opened.
    pub(crate) fn of_past(
        head: &Head,
        door: &'a DialIn,
        connections: Sender<Incoming>,
        events: Receiver<NetEvent>,
    ) -> io::Result<Self> {
        door.open(connections, &Arc::default())?;
        let reason = "its controller was started again";
        let gone = |idx| Event::Gone(idx, reason.to_owned());
        Ok(Crew {
            greetings: head.greetings.clone(),
            early: (0..head.names.len()).map(gone).collect(),
            ..Crew::by_door(head.names.clone(), door, events)
        })
    }

    /// Makes one of those who come by themselves, before any has.
    fn by_door(names: Vec<String>, door: &'a DialIn, events: Receiver<NetEvent>) -> Self {
        Crew {
            names,
            seats: BTreeMap::new(),
            senders: BTreeMap::new(),
            greetings: Vec::new(),
            newcomers: BTreeMap::new(),
            events,
            early: VecDeque::new(),
            // None is called: the channel has no other end.
            launches: channel(1).1,
            clients: Clients::default(),
            caller: None,
            door: Some(door),
        }
    }

    /// Returns how those greet who came by themselves.
    pub(crate) fn greetings(&self) -> Vec<Hello> {
        self.greetings.clone()
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
                    if let Some(event) = self.event(event) {
                        return Some(event);
                    }
                }
                Some(event) = self.launches.recv() => {
                    if let Some(event) = self.client_event(event) {
                        return Some(event);
                    }
                }
                () = &mut over => return None,
            }
        }
    }

    /// Returns what has come already.
    pub(crate) async fn arrived(&mut self) -> Vec<Event> {
        let until_ns = monotonic_ns() + ARRIVE_NS;
        let mut arrived = Vec::new();
        let left = || Duration::from_nanos(until_ns.saturating_sub(monotonic_ns()));
        while let Some(event) = self.next(left()).await {
            arrived.push(event);
        }
        arrived
    }

    /// Returns what an event of a client means to the controller, if it is of a host's last call.
    fn client_event(&self, event: ClientEvent) -> Option<Event> {
        Some(match event {
            ClientEvent::Sent(at, done, total) => Event::Sent(*self.seats.get(&at)?, done, total),
            ClientEvent::Gone(at, reason) => Event::Gone(*self.seats.get(&at)?, reason),
        })
    }

    /// Returns what an event means to the controller, if anything.
    fn event(&mut self, event: NetEvent) -> Option<Event> {
        match event {
            NetEvent::Opened(at, sender) => {
                match (self.seats.get(&at), self.door) {
                    (Some(idx), _) => drop(self.senders.insert(*idx, sender)),
                    (None, Some(_)) => drop(self.newcomers.insert(at, sender)),
                    (None, None) => {}
                }
                None
            }
            NetEvent::Message(at, message) => {
                if let Some(sender) = self.newcomers.remove(&at) {
                    self.greet(at, sender, &message);
                }
                Some(Event::Message(*self.seats.get(&at)?, message))
            }
            NetEvent::Closed(at, reason) => {
                self.newcomers.remove(&at);
                let idx = *self.seats.get(&at)?;
                self.senders.remove(&idx);
                // The client says why, in its own words.
                Some(Event::Gone(idx, self.clients.close(at, reason)?))
            }
        }
    }

    /// Gives one that calls again the seat that it has, whatever became of its connection before;
    /// sends others away.
    fn greet(&mut self, at: usize, sender: ToOne, message: &From) {
        let is_it = |known: &Hello, hello: &Hello| {
            hello.calls_again
                && (known.incarnation, &known.agent) == (hello.incarnation, &hello.agent)
        };
        let known = |hello: &Hello| self.greetings.iter().position(|known| is_it(known, hello));
        let greeting = if let From::Hello(hello) = message { Some(hello) } else { None };
        if let Some(idx) = greeting.and_then(known) {
            self.seats.retain(|_, of| *of != idx);
            self.seats.insert(at, idx);
            self.senders.insert(idx, sender);
        } else if let Some(door) = self.door {
            door.send_away(&sender);
        }
    }

    /// Waits until all have left, no longer than this.
    pub(crate) async fn leave(
        mut self,
        serving: &JoinHandle<Result<(), tonic::transport::Error>>,
        limit: Duration,
    ) {
        let leaving = async {
            let mut left: BTreeSet<usize> = std::mem::take(&mut self.senders).into_keys().collect();
            // Of an ssh client it is its own end that counts.
            let is_over_ssh = |it: &Caller<'_>| matches!(it.reach, Reach::Ssh(..));
            let awaits_end = !self.caller.as_ref().is_some_and(is_over_ssh);
            while awaits_end && !left.is_empty() {
                let Some(event) = self.events.recv().await else { break };
                if let NetEvent::Closed(at, _) = event
                    && let Some(idx) = self.seats.get(&at)
                {
                    left.remove(idx);
                }
            }
        };
        let _in_time = tokio::time::timeout(limit, leaving).await;
        // Connections that are there are not of it.
        serving.abort();
        self.clients.leave(limit).await;
    }
}
