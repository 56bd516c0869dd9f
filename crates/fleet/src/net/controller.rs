//! The controller's end of the connections: one gRPC service for all agents.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::Sleep;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::Server;
use tonic::transport::server::Connected;
use tonic::{Request, Response, Status, Streaming};

use super::{MAILBOX, PASSED_BYTES_MAX};
use crate::relay::Relay;
use crate::wire::fleet_server::{Fleet, FleetServer};
use crate::wire::from_agent::Kind as From;
use crate::wire::from_relay::Kind as RelayKind;
use crate::wire::passed::What;
use crate::wire::{FromAgent, FromRelay, Handed, Passed, ToAgent, ToRelay};

/// Where to send what is for one agent.
pub type ToOne = Sender<Result<ToAgent, Status>>;

/// What comes of the connections, each by its position.
#[derive(Debug)]
pub enum NetEvent {
    /// An agent opened its session: where to send what is for it.
    Opened(usize, ToOne),
    /// A message.
    Message(usize, From),
    /// The session has ended.
    Closed(usize, String),
}

/// A connection to which an agent is expected.
#[derive(Debug)]
pub struct AgentConnection<T> {
    io: T,
    at: AgentAt,
    /// When it ends unless the agent has spoken, where that is limited.
    speaks_until: Option<Pin<Box<Sleep>>>,
    /// Where to say that it ended before there was a session.
    events: Option<Sender<NetEvent>>,
}

/// Position of a connection among all.
#[derive(Clone, Debug)]
pub struct AgentAt {
    idx: usize,
    has_session: Arc<AtomicBool>,
    /// A message came.
    has_spoken: Arc<AtomicBool>,
}

impl<T> AgentConnection<T> {
    /// Takes what carries the bytes, and the position of the connection among all.
    pub fn new(io: T, idx: usize) -> Self {
        let at = AgentAt { idx, has_session: Arc::default(), has_spoken: Arc::default() };
        AgentConnection { io, at, speaks_until: None, events: None }
    }

    /// Ends it where no message comes within this time.
    #[must_use]
    pub fn speaking_within(mut self, limit: Duration) -> Self {
        self.speaks_until = Some(Box::pin(tokio::time::sleep(limit)));
        self
    }
}

impl<T> Drop for AgentConnection<T> {
    /// The end of a session is reported by what reads it; that of a connection without one, here.
    fn drop(&mut self) {
        let Some(events) = self.events.take().filter(|_| !self.at.has_session.load(Relaxed)) else {
            return;
        };
        let closed = NetEvent::Closed(self.at.idx, "its connection ended at once".to_owned());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _run_has_ended = events.send(closed).await;
            });
        }
    }
}

impl<T> Connected for AgentConnection<T> {
    type ConnectInfo = AgentAt;

    fn connect_info(&self) -> AgentAt {
        self.at.clone()
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for AgentConnection<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if let Some(until) = &mut self.speaks_until
            && until.as_mut().poll(context).is_ready()
        {
            if !self.at.has_spoken.load(Relaxed) {
                return Poll::Ready(Err(std::io::ErrorKind::TimedOut.into()));
            }
            self.speaks_until = None;
        }
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for AgentConnection<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

/// The service that agents call.
struct Sessions {
    events: Sender<NetEvent>,
    /// Whether there is room for another one.
    has_room: Arc<AtomicBool>,
    /// Sessions so far that came by relays.
    n_lines: Arc<AtomicUsize>,
}

/// Numbers of sessions that come by relays begin here: those of connections never get so far.
const LINES_FROM: usize = usize::MAX / 2;

/// Where to send what is for the agents of a relay.
type ToLines = Sender<Result<ToRelay, Status>>;

#[tonic::async_trait]
impl Fleet for Sessions {
    type SessionStream = ReceiverStream<Result<ToAgent, Status>>;

    async fn session(
        &self,
        request: Request<Streaming<FromAgent>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let Some(at) = request.extensions().get::<AgentAt>().cloned() else {
            return Err(Status::unauthenticated("it is not known whose connection this is"));
        };
        if !self.has_room.load(Relaxed) {
            return Err(Status::unavailable("the relay has no room, or no controller"));
        }
        at.has_session.store(true, Relaxed);
        let (sender, receiver) = channel(MAILBOX);
        let events = self.events.clone();
        let closed = |_| Status::unavailable("the run has ended");
        events.send(NetEvent::Opened(at.idx, sender)).await.map_err(closed)?;
        tokio::spawn(forward(at, request.into_inner(), events));
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    type RelayStream = ReceiverStream<Result<ToRelay, Status>>;

    async fn relay(
        &self,
        request: Request<Streaming<FromRelay>>,
    ) -> Result<Response<Self::RelayStream>, Status> {
        let Some(at) = request.extensions().get::<AgentAt>().cloned() else {
            return Err(Status::unauthenticated("it is not known whose connection this is"));
        };
        // What ends is reported of its agents, each by itself.
        at.has_session.store(true, Relaxed);
        let (to, receiver) = channel(MAILBOX);
        let n_lines = Arc::clone(&self.n_lines);
        let exchange =
            Exchange { to, events: self.events.clone(), n_lines, lines: BTreeMap::new() };
        tokio::spawn(exchange.serve(at, request.into_inner()));
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

/// The sessions that come by one relay.
struct Exchange {
    to: ToLines,
    events: Sender<NetEvent>,
    n_lines: Arc<AtomicUsize>,
    /// Numbers of the sessions by their lines.
    lines: BTreeMap<u32, usize>,
}

impl Exchange {
    /// Passes on what the agents of a relay send, until its connection ends, and theirs with it.
    async fn serve(mut self, at: AgentAt, mut messages: Streaming<FromRelay>) {
        let mut is_known = false;
        let reason = loop {
            let kind = match messages.message().await {
                Ok(Some(FromRelay { kind: Some(kind) })) => kind,
                // A message of a newer version.
                Ok(Some(FromRelay { kind: None })) => continue,
                Ok(None) => break "the connection of its relay was closed".to_owned(),
                Err(status) => {
                    break format!("the connection of its relay broke: {}", status.message());
                }
            };
            at.has_spoken.store(true, Relaxed);
            match kind {
                RelayKind::Hello(hello) => {
                    if let Some(reason) = Relay::unfit(&hello) {
                        let _gone = self.to.send(Err(Status::failed_precondition(reason))).await;
                        return;
                    }
                    is_known = true;
                }
                RelayKind::Passed(passed) if is_known => {
                    if self.pass_on(passed).await.is_err() {
                        return;
                    }
                }
                RelayKind::Passed(_) => {
                    let status = Status::failed_precondition("a relay greets first");
                    let _gone = self.to.send(Err(status)).await;
                    return;
                }
            }
        };
        for session in self.lines.into_values() {
            let _run_has_ended = self.events.send(NetEvent::Closed(session, reason.clone())).await;
        }
    }

    /// Passes on what came from an agent. The first message of a line opens its session.
    ///
    /// # Errors
    /// Where the run has ended.
    async fn pass_on(&mut self, passed: Passed) -> Result<(), SendError<NetEvent>> {
        let Passed { line, what } = passed;
        match what {
            Some(What::Message(FromAgent { kind: Some(kind) })) => {
                let session = match self.lines.get(&line) {
                    Some(session) => *session,
                    None => self.open(line).await?,
                };
                self.events.send(NetEvent::Message(session, kind)).await
            }
            Some(What::Ended(reason)) => match self.lines.remove(&line) {
                Some(session) => self.events.send(NetEvent::Closed(session, reason)).await,
                None => Ok(()),
            },
            // A message of a newer version.
            Some(What::Message(FromAgent { kind: None })) | None => Ok(()),
        }
    }

    async fn open(&mut self, line: u32) -> Result<usize, SendError<NetEvent>> {
        let session = LINES_FROM + self.n_lines.fetch_add(1, Relaxed);
        let (sender, receiver) = channel(MAILBOX);
        self.events.send(NetEvent::Opened(session, sender)).await?;
        tokio::spawn(hand_on(line, receiver, self.to.clone()));
        self.lines.insert(line, session);
        Ok(session)
    }
}

/// Hands on what is for an agent, until its session is to end.
async fn hand_on(line: u32, mut messages: Receiver<Result<ToAgent, Status>>, to: ToLines) {
    while let Some(Ok(message)) = messages.recv().await {
        if to.send(Ok(handed(line, Some(message)))).await.is_err() {
            return;
        }
    }
    let _gone = to.send(Ok(handed(line, None))).await;
}

fn handed(line: u32, message: Option<ToAgent>) -> ToRelay {
    ToRelay { handed: Some(Handed { line, message }) }
}

/// Passes on what an agent sends, until its session ends.
async fn forward(at: AgentAt, mut messages: Streaming<FromAgent>, events: Sender<NetEvent>) {
    let AgentAt { idx, has_spoken, .. } = at;
    let reason = loop {
        match messages.message().await {
            Ok(Some(FromAgent { kind: Some(kind) })) => {
                has_spoken.store(true, Relaxed);
                if events.send(NetEvent::Message(idx, kind)).await.is_err() {
                    return;
                }
            }
            // A message of a newer version.
            Ok(Some(FromAgent { kind: None })) => {}
            Ok(None) => break "its connection was closed".to_owned(),
            Err(status) => break format!("its connection broke: {}", status.message()),
        }
    };
    let _run_has_ended = events.send(NetEvent::Closed(idx, reason)).await;
}

/// Serves connections until there are no more and all have ended.
///
/// # Errors
/// Where the server cannot start.
pub async fn serve<T>(
    connections: Receiver<AgentConnection<T>>,
    events: Sender<NetEvent>,
) -> Result<(), tonic::transport::Error>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    serve_while(connections, events, Arc::new(AtomicBool::new(true))).await
}

/// Does the same, and refuses agents as long as there is no room for them.
///
/// # Errors
/// Where the server cannot start.
pub(super) async fn serve_while<T>(
    connections: Receiver<AgentConnection<T>>,
    events: Sender<NetEvent>,
    has_room: Arc<AtomicBool>,
) -> Result<(), tonic::transport::Error>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let incoming = incoming(connections, events.clone());
    let sessions = Sessions { events, has_room, n_lines: Arc::default() };
    let service = FleetServer::new(sessions)
        .max_decoding_message_size(PASSED_BYTES_MAX)
        .max_encoding_message_size(PASSED_BYTES_MAX);
    // A connection has one session, as long as it lasts.
    let mut server = Server::builder().max_concurrent_streams(1);
    server.add_service(service).serve_with_incoming(incoming).await
}

fn incoming<T: Send + 'static>(
    connections: Receiver<AgentConnection<T>>,
    events: Sender<NetEvent>,
) -> impl Stream<Item = Result<AgentConnection<T>, std::io::Error>> {
    ReceiverStream::new(connections).map(move |mut connection| {
        connection.events = Some(events.clone());
        Ok(connection)
    })
}
