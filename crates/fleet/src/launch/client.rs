//! Clients that carry the connections of agents, each from the call of its host to its end.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::ssh::{Client, Launched, Ssh};
use crate::hosts::Host;
use crate::net::Duplex;
use crate::net::controller::AgentConnection;
use crate::net::door::Incoming;

/// How long a client may take for its last words once a session has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What comes of the clients.
#[derive(Debug)]
pub enum ClientEvent {
    /// So much of the program was sent to a host: bytes, and in all.
    Sent(usize, u64, u64),
    /// A host could not be called, or its connection has ended: why, in the client's words where
    /// it has any.
    Gone(usize, String),
}

/// The clients of a run, by the position of their hosts; none where agents come by themselves.
#[derive(Debug, Default)]
pub struct Clients {
    /// Where each hears why its session has ended.
    closing: BTreeMap<usize, oneshot::Sender<String>>,
    tasks: JoinSet<()>,
}

impl Clients {
    /// Calls all hosts at once.
    pub fn call(
        ssh: &Ssh,
        hosts: &[Host],
        connections: &Sender<Incoming>,
        events: &Sender<ClientEvent>,
    ) -> Self {
        let mut clients = Clients { closing: BTreeMap::new(), tasks: JoinSet::new() };
        for (idx, host) in hosts.iter().enumerate() {
            let (ssh, host) = (ssh.clone(), host.clone());
            let (connections, events) = (connections.clone(), events.clone());
            let (close, mut closed) = oneshot::channel();
            clients.closing.insert(idx, close);
            clients.tasks.spawn(async move {
                let tell = |done, total| {
                    // One that finds no room is followed by others.
                    let _dropped = events.try_send(ClientEvent::Sent(idx, done, total));
                };
                let reason = match ssh.launch(&host, &tell, &mut closed).await {
                    Ok(Launched { io, client }) => {
                        let io: Box<dyn Duplex> = Box::new(io);
                        let connection = AgentConnection::new(io, idx);
                        let _run_has_ended = connections.send(connection).await;
                        drop(connections);
                        follow(client, closed).await
                    }
                    Err(error) => error.to_string(),
                };
                let _run_has_ended = events.send(ClientEvent::Gone(idx, reason)).await;
            });
        }
        clients
    }

    /// Says that the session of a host has ended: [`ClientEvent::Gone`] follows with the client's
    /// own words. Returns the reason where there is no client.
    pub fn close(&mut self, idx: usize, reason: String) -> Option<String> {
        match self.closing.remove(&idx) {
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
