//! A relay at work: its state machine, its connection to the controller and those of its agents.

use std::collections::{BTreeMap, VecDeque};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::sync::mpsc::channel;
use tonic::Code;
use units::system_text;

use super::agent::Trunk;
use super::controller::{NetEvent, ToOne, serve_while};
use super::dial::{DialError, Ways, called, dial_trunk};
use super::door::{Limits, keep};
use super::tls::acceptor;
use crate::monotonic_ns;
use crate::relay::{Action, Event, Relay};
use crate::token::Token;
use crate::wire::from_relay::Kind;
use crate::wire::{FromRelay, ToAgent};

/// Most agents of a relay: so many connections need no more open files than a process may have.
pub const AGENTS_MAX: usize = 256;

/// Least time between two looks at what is due.
const TICK: Duration = Duration::from_millis(100);

/// Events of agents that wait.
const EVENTS: usize = 1024;

/// What waits for the connection to the controller before no more is read from agents.
const WAITING_MAX: usize = 1024;

/// What a relay needs.
pub struct Place<'a> {
    /// Where it listens for agents.
    pub listener: TcpListener,
    /// What they, and the controller, must have.
    pub token: &'a Token,
    /// Where it reaches the controller: itself, or other relays.
    pub ways: &'a Ways,
    /// How long that may take to be there.
    pub limit: Duration,
    /// Of this program.
    pub version: &'a str,
    /// What is to be said of it.
    pub says: &'a dyn Fn(&RelayNews),
}

impl std::fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Place({})", self.ways.text())
    }
}

/// What happens to a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayNews {
    /// The controller is not there yet, for this reason.
    Waits(String),
    /// It is there.
    Connected,
    /// The connection to it has ended, and so many agents call elsewhere.
    Lost(usize),
    /// So many agents are here now.
    Agents(usize),
}

/// Why a relay ends.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// It cannot listen.
    #[error("cannot listen for agents: {}", system_text(.0))]
    Listen(std::io::Error),
    /// There is no controller.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The controller does not want it.
    #[error("the controller says: {0}")]
    Unwanted(String),
}

/// Passes on what agents and the controller have for each other, until that is not there for too
/// long.
///
/// # Errors
/// Always: why it ends.
pub async fn relay(place: Place<'_>) -> Result<(), RelayError> {
    let Place { listener, token, ways, limit, version, says } = place;
    let (net, mut events) = channel(EVENTS);
    let (connections, incoming) = channel(EVENTS);
    let has_room = Arc::new(AtomicBool::new(false));
    listener.set_nonblocking(true).map_err(RelayError::Listen)?;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(RelayError::Listen)?;
    tokio::spawn(serve_while(incoming, net, Arc::clone(&has_room)));
    tokio::spawn(keep(listener, acceptor(token), Limits::default(), connections, Arc::default()));
    let waits = |reason: &str| says(&RelayNews::Waits(reason.to_owned()));
    let dial = || Box::pin(dial_trunk(ways, token, limit, &waits, version));
    let mut desk = Desk { trunk: None, waiting: VecDeque::new(), senders: BTreeMap::new() };
    let mut relay = Relay::new(AGENTS_MAX, monotonic_ns());
    let (mut call, mut n_agents) = (Some(dial()), 0);
    loop {
        let event = tokio::select! {
            event = desk.exchange() => event?,
            called = called(&mut call) => {
                call = None;
                desk.trunk = Some(called?);
                says(&RelayNews::Connected);
                Event::Connected
            }
            Some(event) = events.recv(), if desk.waiting.len() < WAITING_MAX => desk.event(event),
            () = tokio::time::sleep(TICK) => Event::Due,
        };
        for action in relay.take(event, monotonic_ns()) {
            match action {
                Action::Pass(passed) => {
                    let kind = Some(Kind::Passed(passed));
                    desk.waiting.push_back(FromRelay { kind });
                }
                Action::Hand(session, kind) => {
                    if let Some(sender) = desk.senders.get(&session) {
                        // One whose mailbox is full does not listen: it will be found silent.
                        let _not_heard = sender.try_send(Ok(ToAgent { kind: Some(kind) }));
                    }
                }
                Action::HangUp(session) => drop(desk.senders.remove(&session)),
                Action::Call => {
                    says(&RelayNews::Lost(n_agents));
                    (desk.trunk, call) = (None, Some(dial()));
                    desk.waiting.clear();
                }
            }
        }
        has_room.store(relay.has_room(), Relaxed);
        if n_agents != relay.n_agents() {
            n_agents = relay.n_agents();
            says(&RelayNews::Agents(n_agents));
        }
    }
}

/// What a relay works with.
struct Desk {
    trunk: Option<Trunk>,
    /// What waits for the controller's connection.
    waiting: VecDeque<FromRelay>,
    /// Where to send what is for the agents.
    senders: BTreeMap<usize, ToOne>,
}

impl Desk {
    /// Sends the controller what waits, and returns what comes from it.
    async fn exchange(&mut self) -> Result<Event, RelayError> {
        let Some(Trunk { to, from }) = &mut self.trunk else {
            return std::future::pending().await;
        };
        loop {
            tokio::select! {
                message = from.message() => return match message {
                    Ok(Some(message)) => Ok(message.handed.map_or(Event::Due, Event::Handed)),
                    Err(status) if status.code() == Code::FailedPrecondition => {
                        Err(RelayError::Unwanted(status.message().to_owned()))
                    }
                    Ok(None) | Err(_) => Ok(Event::Disconnected),
                },
                permit = to.reserve(), if !self.waiting.is_empty() => {
                    let Ok(permit) = permit else { return Ok(Event::Disconnected) };
                    if let Some(message) = self.waiting.pop_front() {
                        permit.send(message);
                    }
                }
            }
        }
    }

    /// Returns what an event of an agent's session means.
    fn event(&mut self, event: NetEvent) -> Event {
        match event {
            NetEvent::Opened(session, sender) => {
                self.senders.insert(session, sender);
                Event::Opened(session)
            }
            NetEvent::Message(session, kind) => Event::Message(session, kind),
            NetEvent::Closed(session, reason) => {
                self.senders.remove(&session);
                Event::Closed(session, reason)
            }
        }
    }
}
