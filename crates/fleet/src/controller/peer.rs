//! What the controller knows of an agent.

use super::{DEAD_NS, SUSPECT_NS};
use crate::clock::{ClockEstimate, Exchange};
use crate::frame::FrameSum;
use crate::wire::{Armed, Pong};

/// What an agent does, as far as the controller has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It was launched and has not come.
    Awaited,
    /// It has come, and waits for what to do.
    Joined,
    /// It has come, and takes no part: it waits for another run.
    Resting,
    /// It prepares its first step.
    Preparing,
    /// It waits for the start of a step.
    Ready(u32),
    /// It was given the start of a step, and has not answered.
    Armed(u32),
    /// It begins a step in time, as far as it has said.
    Set(u32),
    /// It runs a step, or prepares the next one.
    Running(u32),
    /// It was asked to end. What it has measured is awaited.
    Ending,
    /// All of it is here.
    Finished,
    /// It ran nothing: it refused its part, or its part did not begin.
    Refused,
    /// It was sent away: nothing that comes from it counts any more.
    Expelled,
    /// Nothing comes from it any more. It may come back while it has a connection.
    Lost,
}

impl State {
    /// It has a session that carries messages.
    pub(super) fn is_live(self) -> bool {
        match self {
            State::Joined
            | State::Resting
            | State::Preparing
            | State::Ready(_)
            | State::Armed(_)
            | State::Set(_)
            | State::Running(_)
            | State::Ending => true,
            State::Awaited | State::Finished | State::Refused | State::Expelled | State::Lost => {
                false
            }
        }
    }

    /// It has a session, and a part in this run.
    pub(super) fn takes_part(self) -> bool {
        self.is_live() && self != State::Resting
    }
}

/// What is known of an agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) state: State,
    /// How long it may take to come.
    pub(super) join_until_ns: u64,
    /// What it drew when it started.
    pub(super) incarnation: Option<u64>,
    /// It takes another run when it has delivered one.
    pub(super) takes_runs: bool,
    /// When something last came from it.
    pub(super) heard_ns: u64,
    pub(super) is_suspect: bool,
    pub(super) is_connected: bool,
    /// It calls again where its connection ends.
    pub(super) calls_again: bool,
    /// It has yet to begin this run: what comes from it is of the one before.
    pub(super) is_behind: bool,
    /// Since when it has no connection, and is to call again.
    pub(super) away_since_ns: Option<u64>,
    pub(super) clock: ClockEstimate,
    pub(super) n_exchanges: u32,
    /// When the pings were sent that it has not answered.
    pub(super) asked: Vec<(u64, u64)>,
    pub(super) frames: FrameSum,
    /// When it was lost, why, and what it did then.
    pub(super) lost: Option<Lost>,
    /// Longest silence that it came back from.
    pub(super) silence_ns_max: u64,
    /// The last step whose files it has the turn to lay out.
    pub(super) turn: Option<u32>,
    /// The last step that has ended there.
    pub(super) ended_idx: Option<u32>,
    /// Orders to start a step that it has left without the answer that it begins.
    pub(super) n_unanswered: u32,
    /// The starts of a step that it was given, in its own time and in the controller's.
    pub(super) orders: Vec<(u64, u64)>,
    /// The one of them that it has answered that it begins by.
    pub(super) begins_ns: Option<u64>,
    /// The steps that it has begun, and when, in the controller's time.
    pub(super) starts: Vec<(u32, u64)>,
}

/// An agent that is lost, or was.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    pub(super) at_ns: u64,
    pub(super) reason: String,
    pub(super) before: State,
}

impl Agent {
    /// Makes one that may come until `join_until_ns`.
    pub(super) fn new(now_ns: u64, join_until_ns: u64) -> Self {
        Agent {
            state: State::Awaited,
            join_until_ns,
            incarnation: None,
            takes_runs: false,
            heard_ns: now_ns,
            is_suspect: false,
            is_connected: false,
            calls_again: false,
            is_behind: false,
            away_since_ns: None,
            clock: ClockEstimate::default(),
            n_exchanges: 0,
            asked: Vec::new(),
            frames: FrameSum::default(),
            lost: None,
            silence_ns_max: 0,
            turn: None,
            ended_idx: None,
            n_unanswered: 0,
            orders: Vec::new(),
            begins_ns: None,
            starts: Vec::new(),
        }
    }

    /// Returns when its silence is too long next, if nothing comes from it; or its coming.
    pub(super) fn silent_from_ns(&self) -> u64 {
        if self.state == State::Awaited {
            self.join_until_ns
        } else if !self.state.is_live() {
            u64::MAX
        } else if self.is_suspect {
            self.heard_ns.saturating_add(DEAD_NS)
        } else {
            self.heard_ns.saturating_add(SUSPECT_NS)
        }
    }

    /// Returns it as it goes into the next run of a series; `None` where it has to be called again.
    pub(super) fn for_next_run(self, now_ns: u64) -> Option<Self> {
        let Agent { incarnation, clock, n_exchanges, .. } = self;
        let Agent { is_connected, calls_again, away_since_ns, .. } = self;
        let silence_ns = now_ns.saturating_sub(self.heard_ns);
        let is_here = is_connected || (calls_again && silence_ns < DEAD_NS);
        let stays = matches!(self.state, State::Finished | State::Resting)
            && self.lost.is_none()
            && is_here
            && self.takes_runs;
        stays.then(|| Agent {
            state: State::Joined,
            incarnation,
            takes_runs: true,
            // Nothing is awaited between two runs; of one that is away, its return.
            heard_ns: if is_connected { now_ns } else { self.heard_ns },
            is_connected,
            calls_again,
            is_behind: calls_again,
            away_since_ns,
            clock,
            n_exchanges,
            ..Agent::new(now_ns, now_ns)
        })
    }

    /// Adds an exchange of the time. Returns false where its times cannot be.
    pub(super) fn add_exchange(&mut self, pong: Pong, now_ns: u64) -> bool {
        let Some(at) = self.asked.iter().position(|(id, _)| *id == pong.id) else { return true };
        let (_, asked_ns) = self.asked.swap_remove(at);
        self.n_exchanges += 1;
        self.clock.add(Exchange {
            asked_ns,
            received_ns: pong.received_ns,
            sent_ns: pong.sent_ns,
            answered_ns: now_ns,
        })
    }

    /// Takes the answer to an order to start. That to an earlier one says nothing any more.
    pub(super) fn take_armed(&mut self, armed: Armed) {
        let Armed { step_idx, start_ns, begins_ns } = armed;
        let is_last = self.orders.last().is_some_and(|(there_ns, _)| *there_ns == start_ns);
        if self.state != State::Armed(step_idx) || !is_last {
            return;
        }
        // It may have begun by an order before.
        let begins = self.orders.iter().find(|(there_ns, _)| *there_ns == begins_ns);
        self.begins_ns = begins.map(|(_, here_ns)| *here_ns);
        // The time had passed where it names none: it waits for another order.
        self.state = if begins.is_some() { State::Set(step_idx) } else { State::Ready(step_idx) };
    }

    /// Notes that it has begun the step that it has answered for.
    pub(super) fn begin(&mut self, step_idx: u32) {
        if let Some(start_ns) = self.begins_ns.take() {
            self.starts.push((step_idx, start_ns));
        }
        self.orders.clear();
        self.n_unanswered = 0;
    }

    /// It begins its step in time, as far as it has said.
    pub(super) fn is_set(&self) -> bool {
        matches!(self.state, State::Set(_))
    }

    /// It has not begun a step that it is ready for.
    pub(super) fn waits_for(&self, step_idx: u32) -> bool {
        let is_that = |of: u32| of == step_idx;
        matches!(self.state, State::Ready(of) | State::Armed(of) | State::Set(of) if is_that(of))
    }
}
