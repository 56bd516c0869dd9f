//! An agent as a state machine: what came from the controller and from its run in, what to do out.
//!
//! It does no I/O and reads no clock, as [`crate::controller`].

use std::collections::VecDeque;

use record::Record;

use crate::frame::FrameMaker;
use crate::wire::from_agent::Kind as From;
use crate::wire::to_agent::Kind as To;
use crate::wire::{
    Arm, Armed, Assignment, Begun, Bye, Ended as StepEnded, Finished, Frame, Hello, Inspect,
    Inspected, Piece, Pong, Progress, Ready, Refused, Said,
};
use crate::{PROTOCOL_MAJOR, PROTOCOL_MINOR};

/// How long an agent goes on without a word from the controller, unless that says otherwise.
pub const ORPHAN_NS: u64 = 30_000_000_000;

/// How long a run may take to end that no controller waits for. Longer, and its I/O hangs: the
/// agent ends without it.
pub const LEAVE_NS: u64 = 3_000_000_000;

/// Silence after which an agent that can call again does, though its connection stands: what lies
/// between may have forgotten it. Twenty of the controller's questions for the time.
pub const HANG_UP_NS: u64 = 5_000_000_000;

/// Time from one event to the next, ten looks at what is due, from which on the agent itself stood
/// still: what was sent to it meanwhile is yet to be read.
const OWN_GAP_NS: u64 = 1_000_000_000;

/// Least time between two words about preparing.
const PROGRESS_NS: u64 = 250_000_000;

/// How long before its start a step cannot be given another one: its workers stop sleeping, and
/// the order is on its way to them.
const FIXED_NS: u64 = 5_000_000;

/// What comes to an agent.
#[derive(Debug)]
pub enum Event {
    /// There is a connection.
    Connected,
    /// The connection has ended.
    Disconnected,
    /// The controller is not to be reached again, for this reason.
    Barred(String),
    /// The controller sent a message.
    Message(To),
    /// The run cannot begin: its findings.
    Refused(Vec<String>),
    /// Bytes of files laid out, and in all.
    Progress(u64, u64),
    /// The workers of a step wait for their start.
    Ready(u32),
    /// The workers of a step have ended.
    StepEnded(u32),
    /// The run has something to say to its user.
    Said(Said),
    /// The record as it would be if the run ended now.
    Report(Box<Record>),
    /// The run has ended.
    Ended(Box<Record>),
    /// What this host is, as JSON.
    Inspected(Vec<u8>),
    /// Time has passed.
    Due,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum Action {
    /// Send a message.
    Send(From),
    /// Call the controller again, until it is there; what is left of the connection is hung up.
    Call,
    /// Begin the run.
    Run(Box<Assignment>),
    /// Look at this host.
    Inspect(Box<Inspect>),
    /// Lay out the files of the next step, which has this number or a higher one.
    LayOut(u32),
    /// Start a step at this time of the agent's clock.
    StartStep(u32, u64),
    /// End the run: at once, or when what is in flight has completed.
    StopRun(bool),
    /// End the agent, with the reason where something went wrong.
    End(Option<EndReason>),
}

/// Why an agent ends without having done its part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndReason {
    /// The controller does not want it.
    #[error("the controller says: {reason}")]
    Unwanted {
        /// In its words.
        reason: String,
    },
    /// Its connection has ended.
    #[error("the connection to the controller ended")]
    Disconnected,
    /// The connection stands, and nothing comes.
    #[error("nothing came from the controller for {silence_s} s")]
    Silent {
        /// For so long.
        silence_s: u64,
    },
    /// Its connection has ended, and there was no other.
    #[error(
        "the connection to the controller ended, and it was not to be reached again for \
         {silence_s} s"
    )]
    NotThere {
        /// For so long.
        silence_s: u64,
    },
    /// Its connection has ended, and there can be no other.
    #[error("the connection to the controller ended; then {reason}")]
    Barred {
        /// For this reason.
        reason: String,
    },
}

/// What the agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits for what to do.
    Idle,
    /// The run goes on.
    Running,
    /// The run has ended; frames are to be delivered.
    Delivering,
    /// It has nothing more to do.
    Ended,
}

/// One agent.
#[derive(Debug)]
pub struct Agent {
    name: String,
    program_version: String,
    incarnation: u64,
    state: State,
    /// Number of the run that it has, or had last.
    run_idx: u32,
    frames: FrameMaker,
    /// Frames that the controller does not have yet.
    spool: VecDeque<Frame>,
    /// Why the run did not begin.
    refused: Option<Refused>,
    /// The step that is ready, or was last.
    ready_idx: Option<u32>,
    /// The step that has ended last.
    ended_idx: Option<u32>,
    /// The step whose start was ordered last, and the start.
    order: Option<(u32, u64)>,
    is_connected: bool,
    /// It may call again where its connection ends.
    calls_again: bool,
    /// Why it is in vain.
    barred: Option<String>,
    /// When the controller was heard last.
    heard_ns: u64,
    /// When something came last, if only time, and when something did after the agent stood still.
    looked_ns: u64,
    awake_ns: u64,
    orphan_ns: u64,
    /// When the run was asked to end, because no controller waits for it.
    orphan_since_ns: Option<u64>,
    /// When preparing was last reported.
    progress_ns: Option<u64>,
}

impl Agent {
    /// Makes the agent of a host whose one connection is all it has, as over ssh. `incarnation`
    /// differs each time that an agent starts.
    pub fn new(name: String, program_version: String, incarnation: u64, now_ns: u64) -> Self {
        Agent {
            name,
            program_version,
            incarnation,
            state: State::Idle,
            run_idx: 0,
            frames: FrameMaker::default(),
            spool: VecDeque::new(),
            refused: None,
            ready_idx: None,
            ended_idx: None,
            order: None,
            is_connected: false,
            calls_again: false,
            barred: None,
            heard_ns: now_ns,
            looked_ns: now_ns,
            awake_ns: now_ns,
            orphan_ns: ORPHAN_NS,
            orphan_since_ns: None,
            progress_ns: None,
        }
    }

    /// Lets it call again where its connection ends: its run goes on meanwhile, for as long as it
    /// does without a word from the controller.
    #[must_use]
    pub fn calling_again(self) -> Self {
        Agent { calls_again: true, ..self }
    }

    /// Takes an event that came at `now_ns` of the agent's clock, and returns what follows.
    pub fn take(&mut self, event: Event, now_ns: u64) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.state == State::Ended {
            return actions;
        }
        if now_ns.saturating_sub(self.looked_ns) >= OWN_GAP_NS {
            self.awake_ns = now_ns;
        }
        self.looked_ns = now_ns;
        match event {
            Event::Connected => self.connect(now_ns, &mut actions),
            Event::Disconnected => self.disconnect(now_ns, &mut actions),
            Event::Barred(reason) => {
                self.barred = Some(reason);
                self.leave(now_ns, &mut actions);
            }
            Event::Message(message) => self.message(message, now_ns, &mut actions),
            Event::Refused(findings) => {
                self.state = State::Delivering;
                self.refused = Some(Refused { findings });
                self.deliver(now_ns, &mut actions);
            }
            Event::Progress(done_bytes, total_bytes) => {
                let is_due = |told_ns: u64| now_ns.saturating_sub(told_ns) >= PROGRESS_NS;
                if done_bytes >= total_bytes || self.progress_ns.is_none_or(is_due) {
                    self.progress_ns = Some(now_ns);
                    let progress = Progress { done_bytes, total_bytes };
                    self.send(&mut actions, From::Progress(progress));
                }
            }
            Event::Ready(step_idx) => {
                self.ready_idx = Some(step_idx);
                self.send(&mut actions, From::Ready(Ready { step_idx }));
            }
            Event::StepEnded(step_idx) => {
                self.ended_idx = Some(step_idx);
                self.send(&mut actions, From::Ended(StepEnded { step_idx }));
            }
            Event::Said(said) => self.send(&mut actions, From::Said(said)),
            Event::Report(record) => self.add_frame(*record, &mut actions),
            Event::Ended(record) => {
                self.add_frame(*record, &mut actions);
                self.state = State::Delivering;
                self.deliver(now_ns, &mut actions);
            }
            Event::Inspected(facts_json) => {
                self.send(&mut actions, From::Inspected(Inspected { facts_json }));
            }
            Event::Due => {}
        }
        self.watch(now_ns, &mut actions);
        actions
    }

    /// Says who it is, and again what the connection before may not have carried.
    fn connect(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        self.is_connected = true;
        self.heard_ns = now_ns;
        self.send(actions, From::Hello(self.hello()));
        for frame in &self.spool {
            actions.push(Action::Send(From::Frame(frame.clone())));
        }
        match self.state {
            State::Idle | State::Ended => {}
            State::Running => {
                if let Some(step_idx) = self.ended_idx {
                    self.send(actions, From::Ended(StepEnded { step_idx }));
                }
                if let Some(step_idx) = self.ready_idx {
                    self.send(actions, From::Ready(Ready { step_idx }));
                }
            }
            State::Delivering => self.deliver(now_ns, actions),
        }
    }

    fn disconnect(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        self.is_connected = false;
        if self.may_return() {
            actions.push(Action::Call);
        } else {
            self.leave(now_ns, actions);
        }
    }

    /// Its controller may be reached again.
    fn may_return(&self) -> bool {
        self.calls_again && self.barred.is_none()
    }

    fn hello(&self) -> Hello {
        Hello {
            protocol_major: PROTOCOL_MAJOR,
            protocol_minor: PROTOCOL_MINOR,
            program_version: self.program_version.clone(),
            agent: self.name.clone(),
            incarnation: self.incarnation,
            calls_again: self.calls_again,
            has_run: self.state != State::Idle,
            run_idx: self.run_idx,
        }
    }

    fn message(&mut self, message: To, now_ns: u64, actions: &mut Vec<Action>) {
        self.heard_ns = now_ns;
        match message {
            To::Ping(ping) => {
                let pong = Pong { id: ping.id, received_ns: now_ns, sent_ns: now_ns };
                self.send(actions, From::Pong(pong));
            }
            To::Assignment(assignment) => {
                // What the run before has given is there: its controller asks for the next one.
                let is_next = self.state == State::Delivering && assignment.run_idx > self.run_idx;
                if self.state == State::Idle || is_next {
                    self.begin(assignment, actions);
                }
            }
            To::LayOut(lay_out) => {
                if self.state == State::Running {
                    actions.push(Action::LayOut(lay_out.step_idx));
                }
            }
            To::Arm(arm) => {
                if self.state == State::Running && self.ready_idx == Some(arm.step_idx) {
                    self.arm(arm, now_ns, actions);
                }
            }
            To::Ack(ack) => {
                while self.spool.front().is_some_and(|frame| frame.seq < ack.next_seq) {
                    self.spool.pop_front();
                }
            }
            To::Inspect(request) => {
                if self.state == State::Idle {
                    actions.push(Action::Inspect(Box::new(request)));
                }
            }
            To::Fetch(fetch) => {
                if self.state == State::Idle {
                    for piece in pieces(fetch.n_bytes) {
                        self.send(actions, From::Piece(piece));
                    }
                }
            }
            To::Stop(stop) => match self.state {
                State::Running => actions.push(Action::StopRun(stop.is_now)),
                State::Idle => {
                    self.state = State::Delivering;
                    self.deliver(now_ns, actions);
                }
                State::Delivering | State::Ended => {}
            },
            To::Bye(bye) => {
                if self.state == State::Running {
                    actions.push(Action::StopRun(true));
                }
                let Bye { reason } = bye;
                let unwanted = (!reason.is_empty()).then_some(EndReason::Unwanted { reason });
                self.end(unwanted, actions);
            }
        }
    }

    /// Begins a run, with nothing of the one before.
    fn begin(&mut self, assignment: Assignment, actions: &mut Vec<Action>) {
        self.state = State::Running;
        self.run_idx = assignment.run_idx;
        if assignment.orphan_limit_ns > 0 {
            self.orphan_ns = assignment.orphan_limit_ns;
        }
        self.frames = FrameMaker::default();
        self.spool.clear();
        (self.refused, self.order, self.progress_ns) = (None, None, None);
        (self.ready_idx, self.ended_idx, self.orphan_since_ns) = (None, None, None);
        if self.calls_again {
            self.send(actions, From::Begun(Begun { run_idx: self.run_idx }));
        }
        actions.push(Action::Run(Box::new(assignment)));
    }

    /// Takes an order to start. One whose time has passed is for later: it begins nothing.
    fn arm(&mut self, arm: Arm, now_ns: u64, actions: &mut Vec<Action>) {
        let Arm { step_idx, start_ns } = arm;
        let is_fixed = |start_ns: u64| start_ns <= now_ns.saturating_add(FIXED_NS);
        let begins_ns = match self.order {
            Some((of, before_ns)) if of == step_idx && is_fixed(before_ns) => before_ns,
            Some(_) | None if start_ns > now_ns => {
                self.order = Some((step_idx, start_ns));
                actions.push(Action::StartStep(step_idx, start_ns));
                start_ns
            }
            Some(_) | None => 0,
        };
        self.send(actions, From::Armed(Armed { step_idx, start_ns, begins_ns }));
    }

    fn add_frame(&mut self, record: Record, actions: &mut Vec<Action>) {
        let frame = self.frames.frame(record);
        self.spool.push_back(frame.clone());
        self.send(actions, From::Frame(frame));
    }

    /// Says that all was sent, once the run has ended; ends where no one is there to hear it.
    fn deliver(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if !self.is_connected {
            if !self.may_return() {
                self.leave(now_ns, actions);
            }
        } else if let Some(refused) = &self.refused {
            self.send(actions, From::Refused(refused.clone()));
        } else {
            let finished = Finished { n_frames: self.frames.n_frames() };
            self.send(actions, From::Finished(finished));
        }
    }

    /// Ends what can be delivered to no one any more: the run at once, then the agent.
    fn leave(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        match self.state {
            State::Running if self.orphan_since_ns.is_none() => {
                self.orphan_since_ns = Some(now_ns);
                actions.push(Action::StopRun(true));
            }
            State::Running | State::Ended => {}
            State::Idle | State::Delivering => self.end(Some(self.loss(now_ns)), actions),
        }
    }

    /// Ends the run, and then the agent, where the controller has been silent for long.
    fn watch(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        let is_silent = now_ns.saturating_sub(self.heard_ns) >= self.orphan_ns;
        let is_cut_off = !self.is_connected && !self.may_return();
        let is_alone = is_silent || (is_cut_off && self.orphan_since_ns.is_some());
        let is_over = |since_ns: u64| now_ns.saturating_sub(since_ns) >= LEAVE_NS;
        if is_alone && self.orphan_since_ns.is_some_and(is_over) {
            self.end(Some(self.loss(now_ns)), actions);
        } else if is_alone {
            self.leave(now_ns, actions);
        } else {
            self.hang_up(now_ns, actions);
        }
    }

    /// Calls again where the connection stands, and nothing comes.
    fn hang_up(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        let quiet_since_ns = self.heard_ns.max(self.awake_ns);
        let is_quiet = now_ns.saturating_sub(quiet_since_ns) >= HANG_UP_NS;
        if self.is_connected && self.may_return() && is_quiet && self.state != State::Ended {
            self.is_connected = false;
            actions.push(Action::Call);
        }
    }

    /// Returns how the controller was lost.
    fn loss(&self, now_ns: u64) -> EndReason {
        let silence_s = now_ns.saturating_sub(self.heard_ns) / 1_000_000_000;
        if self.is_connected {
            EndReason::Silent { silence_s }
        } else if let Some(reason) = self.barred.clone() {
            EndReason::Barred { reason }
        } else if self.calls_again {
            EndReason::NotThere { silence_s }
        } else {
            EndReason::Disconnected
        }
    }

    fn end(&mut self, reason: Option<EndReason>, actions: &mut Vec<Action>) {
        self.state = State::Ended;
        actions.push(Action::End(reason));
    }

    /// Sends where there is a connection. What must not be lost is sent again with the next one.
    fn send(&self, actions: &mut Vec<Action>, message: From) {
        if self.is_connected {
            actions.push(Action::Send(message));
        }
    }
}

/// Bytes of a piece of what is sent to be timed.
const PIECE_BYTES: usize = 32 << 10;

/// Most bytes that are sent at once for that.
const FETCH_BYTES_MAX: u64 = 16 << 20;

/// Returns so many bytes in pieces, one at least. They look random: what carries them may compress.
fn pieces(n_bytes: u64) -> impl Iterator<Item = Piece> {
    let n_pieces = n_bytes.clamp(1, FETCH_BYTES_MAX).div_ceil(PIECE_BYTES as u64);
    let n_words = PIECE_BYTES as u64 / 8;
    (0..n_pieces).map(move |idx| {
        let words = idx * n_words..(idx + 1) * n_words;
        let content = words.flat_map(|word| units::mix64(word).to_le_bytes()).collect();
        Piece { content, is_last: idx + 1 == n_pieces }
    })
}
