//! An agent at work: its state machine, its connection and its run.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::agent::{Action, Agent, EndReason, Event};
use crate::monotonic_ns;
use crate::net::agent::{OpenError, Session, open};
use crate::wire::{Assignment, FromAgent, Inspect};

/// What runs an agent's part of a load. Calls come from one thread, and return at once but for
/// [`Runs::run`] and [`Runs::inspect`], which have threads of their own.
pub trait Runs: Send + Sync + 'static {
    /// A run begins: what is said from now on is for it, and no more for the one before.
    fn begin(&self);
    /// Runs what it says, and tells what happens: in the end [`Event::Ended`] or
    /// [`Event::Refused`].
    fn run(&self, assignment: &Assignment, tell: &dyn Fn(Event));
    /// Lets the files of the next step be laid out, which has this number or a higher one: where
    /// [`Assignment::awaits_turn`] says so they wait for it.
    fn lay_out(&self, step_idx: u32);
    /// Starts a step at this time of `CLOCK_MONOTONIC`.
    fn start_step(&self, step_idx: u32, at_ns: u64);
    /// Ends the run: at once, or when what is in flight has completed.
    fn stop(&self, is_now: bool);
    /// Looks at this host, and returns what it is as JSON ([`crate::inspect::HostFacts`]).
    fn inspect(&self, request: &Inspect) -> Vec<u8>;
}

/// Why an agent ended without having done its part.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There was no session.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The session ended too early.
    #[error(transparent)]
    Ended(#[from] EndReason),
}

/// Least time between two looks at what is due.
const TICK: Duration = Duration::from_millis(100);

/// Serves a controller over `io` until it has all that the run gave, or is gone for too long.
///
/// # Errors
/// Where there was no session, it was lost, or the controller did not want this agent.
pub async fn serve<T>(io: T, agent: Agent, runs: Arc<dyn Runs>) -> Result<(), ServeError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let session = open(io).await?;
    serve_session(session, agent, runs).await
}

/// Does the same with a session that is open.
///
/// # Errors
/// Where it was lost, or the controller did not want this agent.
pub async fn serve_session(
    session: Session,
    mut agent: Agent,
    runs: Arc<dyn Runs>,
) -> Result<(), ServeError> {
    let Session { to, mut from } = session;
    let (teller, mut news) = unbounded_channel();
    let mut is_open = true;
    // What waits for a connection that stands still: no more than until its controller is given up.
    let mut waiting = VecDeque::new();
    let mut actions = agent.take(Event::Connected, monotonic_ns());
    loop {
        for action in actions {
            match action {
                Action::Send(kind) => {
                    waiting.push_back(FromAgent { kind: Some(kind) });
                }
                Action::Run(assignment) => {
                    let runs = Arc::clone(&runs);
                    runs.begin();
                    begin("run", &teller, move |tell| runs.run(&assignment, tell));
                }
                Action::Inspect(request) => {
                    let runs = Arc::clone(&runs);
                    begin("inspect", &teller, move |tell| {
                        tell(Event::Inspected(runs.inspect(&request)));
                    });
                }
                Action::LayOut(step_idx) => runs.lay_out(step_idx),
                Action::StartStep(step_idx, at_ns) => runs.start_step(step_idx, at_ns),
                Action::StopRun(is_now) => runs.stop(is_now),
                Action::End(reason) => return reason.map_or(Ok(()), |it| Err(it.into())),
            }
        }
        let event = tokio::select! {
            message = from.message(), if is_open => if let Ok(Some(message)) = message {
                // A message without a kind is of a newer version.
                message.kind.map_or(Event::Due, Event::Message)
            } else {
                is_open = false;
                waiting.clear();
                Event::Disconnected
            },
            permit = to.reserve(), if is_open && !waiting.is_empty() => {
                let Ok(permit) = permit else {
                    is_open = false;
                    actions = agent.take(Event::Disconnected, monotonic_ns());
                    continue;
                };
                if let Some(message) = waiting.pop_front() {
                    permit.send(message);
                }
                actions = Vec::new();
                continue;
            }
            Some(event) = news.recv() => event,
            () = tokio::time::sleep(TICK) => Event::Due,
        };
        actions = agent.take(event, monotonic_ns());
    }
}

/// Begins something on a thread of its own.
fn begin(
    name: &str,
    teller: &UnboundedSender<Event>,
    work: impl FnOnce(&dyn Fn(Event)) + Send + 'static,
) {
    let spawned = std::thread::Builder::new().name(name.to_owned()).spawn({
        let teller = teller.clone();
        move || {
            work(&|event| {
                // The agent outlives its run, or has given it up.
                let _gone = teller.send(event);
            });
        }
    });
    if let Err(error) = spawned {
        let _gone = teller.send(Event::Refused(vec![format!("cannot start a thread: {error}")]));
    }
}
