//! Agents that something else starts, and that dial in: the job step of a batch system, pods, a
//! shell on each host.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender};
use units::system_text;

use crate::lobby::{Action, Closing, Event, Guest, Lobby, LobbyNews, Wanted};
use crate::monotonic_ns;
use crate::net::controller::{NetEvent, ToOne};
use crate::net::door::{Incoming, Limits, keep};
use crate::net::tls::acceptor;
use crate::stops::Stops;
use crate::token::Token;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Bye, ToAgent};

/// What agents dial, and how long they are waited for.
#[derive(Debug)]
pub struct DialIn {
    /// Where they are listened for.
    pub listener: TcpListener,
    /// What they must have.
    pub token: Token,
    /// How many are to come.
    pub n_agents: usize,
    /// How long they may take.
    pub wait: Duration,
}

/// Those who came, at their places.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) guests: Vec<Guest>,
    /// Where to send what is for them, by their connections.
    pub(crate) senders: BTreeMap<usize, ToOne>,
}

/// Why there is no run.
#[derive(Debug)]
pub(crate) enum NoCrew {
    /// There is nothing to listen with.
    Setup(String),
    /// Too few came: who did.
    TooFew(String),
    /// This one cannot be driven, for this reason.
    Unfit(String, String),
    /// The user wants the end.
    Stopped,
}

/// Least time between two looks at what is due.
const TICK: Duration = Duration::from_millis(50);

/// How long those who are sent home may take to leave.
const LEAVE: Duration = Duration::from_secs(5);

impl DialIn {
    /// Waits until enough have come, `n_agents_min` when the time is over. The door stays open:
    /// whoever comes later is to hear that no one is missing.
    pub(crate) async fn gather(
        &self,
        n_agents_min: usize,
        connections: Sender<Incoming>,
        events: &mut Receiver<NetEvent>,
        stops: &Stops,
        tell: &mut dyn FnMut(&LobbyNews),
    ) -> Result<Gathered, NoCrew> {
        let n_refused = Arc::new(AtomicU64::new(0));
        self.open(connections, &n_refused).map_err(|error| NoCrew::Setup(no_door(&error)))?;
        let wait_ns = u64::try_from(self.wait.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = monotonic_ns().saturating_add(wait_ns);
        let mut lobby = Lobby::new(Wanted { n_agents: self.n_agents, n_agents_min, until_ns });
        let mut senders: BTreeMap<usize, ToOne> = BTreeMap::new();
        let closing = 'waiting: loop {
            let event = tokio::select! {
                Some(event) = events.recv() => match event {
                    NetEvent::Opened(at, sender) => {
                        senders.insert(at, sender);
                        continue;
                    }
                    NetEvent::Message(at, message) => Event::Message(at, message),
                    NetEvent::Closed(at, _) => {
                        senders.remove(&at);
                        Event::Closed(at)
                    }
                },
                () = stops.beyond(0) => Event::Stop,
                () = tokio::time::sleep(TICK) => Event::Due,
            };
            for action in lobby.take(event, monotonic_ns()) {
                match action {
                    Action::Send(at, kind) => {
                        if let Some(sender) = senders.get(&at) {
                            let _not_heard = sender.try_send(Ok(ToAgent { kind: Some(kind) }));
                        }
                    }
                    Action::Tell(news) => tell(&news),
                    Action::Close(closing) => break 'waiting closing,
                }
            }
        };
        let reason = match closing {
            Closing::Begin(guests) => {
                let seated: BTreeSet<usize> = guests.iter().map(|guest| guest.connection).collect();
                let surplus = senders.iter().filter(|(at, _)| !seated.contains(at));
                surplus.for_each(|(_, sender)| self.send_away(sender));
                return Ok(Gathered { guests, senders });
            }
            Closing::TooFew(names) => NoCrew::TooFew(self.too_few(&names, n_refused.load(Relaxed))),
            Closing::Unfit(name, reason) => NoCrew::Unfit(name, reason),
            Closing::Stopped => NoCrew::Stopped,
        };
        farewell(senders, events).await;
        Err(reason)
    }

    /// Opens the door.
    pub(crate) fn open(&self, to: Sender<Incoming>, n_refused: &Arc<AtomicU64>) -> io::Result<()> {
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (acceptor, n_refused) = (acceptor(&self.token), Arc::clone(n_refused));
        tokio::spawn(keep(listener, acceptor, Limits::default(), to, n_refused));
        Ok(())
    }

    /// Tells one that is too many so.
    pub(crate) fn send_away(&self, sender: &ToOne) {
        let reason = format!("the run has its {} agents: this one is too many", self.n_agents);
        let bye = ToAgent { kind: Some(To::Bye(Bye { reason })) };
        let _not_heard = sender.try_send(Ok(bye));
    }

    /// Says who came.
    fn too_few(&self, names: &[String], n_refused: u64) -> String {
        let (n, wait_s) = (self.n_agents, self.wait.as_secs());
        let mut text = match names {
            [] => format!("none of {n} agents connected within {wait_s} s"),
            _ => format!(
                "of {n} agents {} came within {wait_s} s: {}",
                names.len(),
                names.join(", ")
            ),
        };
        if n_refused > 0 {
            text.push_str(&format!("; {n_refused} connections without the token were refused"));
        }
        text
    }
}

/// Says that the door cannot be opened.
pub(crate) fn no_door(error: &io::Error) -> String {
    format!("cannot listen for agents: {}", system_text(error))
}

/// Ends all sessions, and waits until those who had one have left.
async fn farewell(senders: BTreeMap<usize, ToOne>, events: &mut Receiver<NetEvent>) {
    let mut open: Vec<usize> = senders.into_keys().collect();
    let leaving = async {
        while !open.is_empty() {
            match events.recv().await {
                Some(NetEvent::Closed(at, _)) => open.retain(|it| *it != at),
                Some(NetEvent::Opened(..) | NetEvent::Message(..)) => {}
                None => return,
            }
        }
    };
    let _in_time = tokio::time::timeout(LEAVE, leaving).await;
}
