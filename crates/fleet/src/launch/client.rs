//! What carries the connections of agents, each from the call of its host to its end: ssh clients,
//! or the network itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};

use super::called::Called;
use super::ssh::{Client, Launched, Ssh};
use crate::hosts::Host;
use crate::net::Duplex;
use crate::net::call::call;
use crate::net::controller::AgentConnection;
use crate::net::door::Incoming;
use crate::net::place::ListenAddress;
use crate::token::Token;

/// How long a client may take for its last words once a session has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What comes of the clients, each by the position of its connection.
#[derive(Debug)]
pub enum ClientEvent {
    /// So much of the program was sent to a host: bytes, and in all.
    Sent(usize, u64, u64),
    /// A host could not be called, or its connection has ended: why, in the client's words where
    /// it has any.
    Gone(usize, String),
}

/// The clients of a run, by the positions of their connections; none where agents come by
/// themselves.
#[derive(Debug, Default)]
pub struct Clients {
    /// Where each hears why its session has ended.
    closing: BTreeMap<usize, oneshot::Sender<String>>,
    tasks: JoinSet<()>,
    /// What ends each.
    ends: BTreeMap<usize, AbortHandle>,
}

impl Clients {
    /// Calls a host, for the connection of this position.
    pub fn call(
        &mut self,
        at: usize,
        (ssh, host): (&Ssh, &Host),
        connections: &Sender<Incoming>,
        events: &Sender<ClientEvent>,
    ) {
        let (ssh, host) = (ssh.clone(), host.clone());
        let (connections, events) = (connections.clone(), events.clone());
        let (close, mut closed) = oneshot::channel();
        self.closing.insert(at, close);
        let end = self.tasks.spawn(async move {
            let tell = |done, total| {
                // One that finds no room is followed by others.
                let _dropped = events.try_send(ClientEvent::Sent(at, done, total));
            };
            let reason = match ssh.launch(&host, &tell, &mut closed).await {
                Ok(Launched { io, client }) => {
                    let io: Box<dyn Duplex> = Box::new(io);
                    let connection = AgentConnection::new(io, at);
                    let _run_has_ended = connections.send(connection).await;
                    drop(connections);
                    follow(client, closed).await
                }
                Err(error) => error.to_string(),
            };
            let _run_has_ended = events.send(ClientEvent::Gone(at, reason)).await;
        });
        self.ends.insert(at, end);
    }

    /// Calls the agent at this position among those that listen, for the connection of this
    /// position.
    pub fn call_server(
        &mut self,
        at: usize,
        (called, idx): (&Called, usize),
        connections: &Sender<Incoming>,
        events: &Sender<ClientEvent>,
    ) {
        let what = (called.servers[idx].place.clone(), Arc::clone(&called.token));
        let (close, closed) = oneshot::channel();
        self.closing.insert(at, close);
        let end = self.tasks.spawn(carry(what, at, connections.clone(), events.clone(), closed));
        self.ends.insert(at, end);
    }

    /// Ends the client of a connection at once, as far as it still runs. Its agent finds no one.
    pub fn end(&mut self, at: usize) {
        self.closing.remove(&at);
        if let Some(end) = self.ends.remove(&at) {
            end.abort();
        }
    }

    /// Says that the session of a connection has ended: [`ClientEvent::Gone`] follows with the
    /// client's own words. Returns the reason where there is no client.
    pub fn close(&mut self, at: usize, reason: String) -> Option<String> {
        match self.closing.remove(&at) {
            Some(close) => {
                // One that has ended has said so itself.
                let _ended = close.send(reason);
                None
            }
            None => Some(reason),
        }
    }

    /// Waits until all have left; no longer than this. Those that still call clean up: their
    /// agents find no one. Whoever is left then is ended.
    pub async fn leave(mut self, limit: Duration) {
        self.closing.clear();
        let leaving = async { while self.tasks.join_next().await.is_some() {} };
        let _in_time = tokio::time::timeout(limit, leaving).await;
    }
}

/// Waits until a client is of no more use, and returns why.
async fn follow(mut client: Client, mut closed: oneshot::Receiver<String>) -> String {
    tokio::select! {
        reason = &mut closed => match reason {
            Ok(reason) => client.last_words(LAST_WORDS, &reason).await,
            // The run has ended, and does not ask for the reason.
            Err(_) => client.status().await,
        },
        status = client.status() => {
            // What it has carried is read first: the last frames may be among it.
            let _closed = tokio::time::timeout(LAST_WORDS, closed).await;
            client.last_words(LAST_WORDS, &status).await
        }
    }
}

/// Calls an agent for the connection at this position, and follows that to its end.
async fn carry(
    (place, token): (ListenAddress, Arc<Token>),
    at: usize,
    connections: Sender<Incoming>,
    events: Sender<ClientEvent>,
    closed: oneshot::Receiver<String>,
) {
    let reason = match call(&place, &token).await {
        Ok(io) => {
            let _run_has_ended = connections.send(AgentConnection::new(io, at)).await;
            drop(connections);
            match closed.await {
                Ok(reason) => reason,
                // The run has ended, and does not ask for the reason.
                Err(_) => return,
            }
        }
        Err(error) => error.to_string(),
    };
    let _run_has_ended = events.send(ClientEvent::Gone(at, reason)).await;
}
