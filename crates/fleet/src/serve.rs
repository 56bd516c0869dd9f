//! An agent at work: its state machine, its connection and its run.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::agent::{Action, Agent, EndReason, Event};
use crate::monotonic_ns;
use crate::net::agent::{OpenError, Session, open};
use crate::net::dial::{Line, called};
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
    agent: Agent,
    runs: Arc<dyn Runs>,
) -> Result<(), ServeError> {
    serve_by(session, agent, runs, None).await
}

/// Does the same, and calls the controller again where the session breaks.
///
/// # Errors
/// Where it was lost for too long, or the controller did not want this agent.
pub async fn serve_line(
    session: Session,
    agent: Agent,
    runs: Arc<dyn Runs>,
    line: &Line<'_>,
) -> Result<(), ServeError> {
    serve_by(session, agent.calling_again(), runs, Some(line)).await
}

async fn serve_by(
    session: Session,
    mut agent: Agent,
    runs: Arc<dyn Runs>,
    line: Option<&Line<'_>>,
) -> Result<(), ServeError> {
    let (teller, mut news) = unbounded_channel();
    let mut desk = Desk { session: Some(session), waiting: VecDeque::new(), runs, teller };
    let mut call = None;
    let mut actions = agent.take(Event::Connected, monotonic_ns());
    loop {
        for action in actions {
            match action {
                Action::Send(kind) => desk.waiting.push_back(FromAgent { kind: Some(kind) }),
                Action::Call => {
                    desk.hang_up();
                    call = line.map(|line| Box::pin(line.call_again()));
                }
                Action::End(reason) => return reason.map_or(Ok(()), |it| Err(it.into())),
                Action::Run(assignment) => desk.run(*assignment),
                Action::Inspect(request) => desk.inspect(*request),
                Action::LayOut(step_idx) => desk.runs.lay_out(step_idx),
                Action::StartStep(step_idx, at_ns) => desk.runs.start_step(step_idx, at_ns),
                Action::StopRun(is_now) => desk.runs.stop(is_now),
            }
        }
        let event = tokio::select! {
            event = desk.exchange() => event,
            called = called(&mut call) => {
                call = None;
                match called {
                    Ok(session) => {
                        desk.session = Some(session);
                        Event::Connected
                    }
                    Err(error) => Event::Barred(error.to_string()),
                }
            }
            Some(event) = news.recv() => event,
            () = tokio::time::sleep(TICK) => Event::Due,
        };
        if let Event::Disconnected = event {
            desk.hang_up();
        }
        actions = agent.take(event, monotonic_ns());
    }
}

/// What an agent works with.
struct Desk {
    session: Option<Session>,
    /// What waits for a connection that stands still: no more than until it is given up.
    waiting: VecDeque<FromAgent>,
    runs: Arc<dyn Runs>,
    teller: UnboundedSender<Event>,
}

impl Desk {
    /// Leaves the session. What must not be lost the agent says again in the next one.
    fn hang_up(&mut self) {
        self.session = None;
        self.waiting.clear();
    }

    /// Sends what waits, and returns what comes.
    async fn exchange(&mut self) -> Event {
        let Some(Session { to, from }) = &mut self.session else {
            return std::future::pending().await;
        };
        loop {
            tokio::select! {
                message = from.message() => return match message {
                    // A message without a kind is of a newer version.
                    Ok(Some(message)) => message.kind.map_or(Event::Due, Event::Message),
                    Ok(None) | Err(_) => Event::Disconnected,
                },
                permit = to.reserve(), if !self.waiting.is_empty() => {
                    let Ok(permit) = permit else { return Event::Disconnected };
                    if let Some(message) = self.waiting.pop_front() {
                        permit.send(message);
                    }
                }
            }
        }
    }

    fn run(&self, assignment: Assignment) {
        let runs = Arc::clone(&self.runs);
        runs.begin();
        begin("run", &self.teller, move |tell| runs.run(&assignment, tell));
    }

    fn inspect(&self, request: Inspect) {
        let runs = Arc::clone(&self.runs);
        begin("inspect", &self.teller, move |tell| {
            tell(Event::Inspected(runs.inspect(&request)));
        });
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
