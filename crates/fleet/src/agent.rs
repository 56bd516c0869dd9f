//! An agent as a state machine: what came from the controller and from its run in, what to do out.
//!
//! It does no I/O and reads no clock, as [`crate::controller`].

use std::collections::VecDeque;

use record::Record;

use crate::frame::FrameMaker;
use crate::wire::from_agent::Kind as From;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Armed, Assignment, Finished, Frame, Hello, Pong, Progress, Ready, Refused};
use crate::{PROTOCOL_MAJOR, PROTOCOL_MINOR};

/// How long an agent goes on without a word from the controller, unless that says otherwise.
pub const ORPHAN_NS: u64 = 30_000_000_000;

/// What comes to an agent.
#[derive(Debug)]
pub enum Event {
    /// There is a connection.
    Connected,
    /// The connection has ended.
    Disconnected,
    /// The controller sent a message.
    Message(To),
    /// The run cannot begin: its findings.
    Refused(Vec<String>),
    /// Bytes of files laid out, and in all.
    Progress(u64, u64),
    /// The workers of a step wait for their start.
    Ready(u32),
    /// The record as it would be if the run ended now.
    Report(Box<Record>),
    /// The run has ended.
    Ended(Box<Record>),
    /// Time has passed.
    Due,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum Action {
    /// Send a message.
    Send(From),
    /// Begin the run.
    Run(Box<Assignment>),
    /// Start a step at this time of the agent's clock.
    StartStep(u32, u64),
    /// End the run: at once, or when what is in flight has completed.
    StopRun(bool),
    /// End the agent, with the reason where something went wrong.
    End(Option<String>),
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
    frames: FrameMaker,
    /// Frames that the controller does not have yet.
    spool: VecDeque<Frame>,
    is_connected: bool,
    /// When the controller was heard last.
    heard_ns: u64,
    orphan_ns: u64,
    /// The run was asked to end, because no controller waits for it.
    is_orphan: bool,
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
            frames: FrameMaker::default(),
            spool: VecDeque::new(),
            is_connected: false,
            heard_ns: now_ns,
            orphan_ns: ORPHAN_NS,
            is_orphan: false,
        }
    }

    /// Takes an event that came at `now_ns` of the agent's clock, and returns what follows.
    pub fn take(&mut self, event: Event, now_ns: u64) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.state == State::Ended {
            return actions;
        }
        match event {
            Event::Connected => {
                self.is_connected = true;
                self.heard_ns = now_ns;
                self.send(&mut actions, From::Hello(self.hello()));
                for frame in &self.spool {
                    actions.push(Action::Send(From::Frame(frame.clone())));
                }
                self.finish(&mut actions);
            }
            Event::Disconnected => self.disconnect(&mut actions),
            Event::Message(message) => self.message(message, now_ns, &mut actions),
            Event::Refused(findings) => {
                self.state = State::Delivering;
                let refused = Refused { findings };
                self.send(&mut actions, From::Refused(refused));
            }
            Event::Progress(done_bytes, total_bytes) => {
                let progress = Progress { done_bytes, total_bytes };
                self.send(&mut actions, From::Progress(progress));
            }
            Event::Ready(step_idx) => {
                self.send(&mut actions, From::Ready(Ready { step_idx }));
            }
            Event::Report(record) => self.add_frame(*record, now_ns, &mut actions),
            Event::Ended(record) => {
                self.add_frame(*record, now_ns, &mut actions);
                self.state = State::Delivering;
                self.finish(&mut actions);
                self.end_without_hope(&mut actions);
            }
            Event::Due => {}
        }
        self.watch(now_ns, &mut actions);
        actions
    }

    fn hello(&self) -> Hello {
        Hello {
            protocol_major: PROTOCOL_MAJOR,
            protocol_minor: PROTOCOL_MINOR,
            program_version: self.program_version.clone(),
            agent: self.name.clone(),
            incarnation: self.incarnation,
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
                if self.state == State::Idle {
                    self.state = State::Running;
                    if assignment.orphan_limit_ns > 0 {
                        self.orphan_ns = assignment.orphan_limit_ns;
                    }
                    actions.push(Action::Run(Box::new(assignment)));
                }
            }
            To::Arm(arm) => {
                if self.state == State::Running {
                    let (step_idx, start_ns) = (arm.step_idx, arm.start_ns);
                    let is_in_time = start_ns > now_ns;
                    actions.push(Action::StartStep(step_idx, start_ns));
                    self.send(actions, From::Armed(Armed { step_idx, start_ns, is_in_time }));
                }
            }
            To::Ack(ack) => {
                while self.spool.front().is_some_and(|frame| frame.seq < ack.next_seq) {
                    self.spool.pop_front();
                }
            }
            To::Stop(stop) => match self.state {
                State::Running => actions.push(Action::StopRun(stop.is_now)),
                State::Idle | State::Delivering | State::Ended => {}
            },
            To::Bye(bye) => {
                if self.state == State::Running {
                    actions.push(Action::StopRun(true));
                }
                self.end(Some(bye.reason).filter(|reason| !reason.is_empty()), actions);
            }
        }
    }

    fn add_frame(&mut self, record: Record, now_ns: u64, actions: &mut Vec<Action>) {
        let frame = self.frames.frame(record, now_ns);
        self.spool.push_back(frame.clone());
        self.send(actions, From::Frame(frame));
    }

    /// Ends what can be delivered to no one any more.
    fn disconnect(&mut self, actions: &mut Vec<Action>) {
        self.is_connected = false;
        if self.state == State::Running && !self.is_orphan {
            self.is_orphan = true;
            actions.push(Action::StopRun(false));
        }
        self.end_without_hope(actions);
    }

    /// Ends the agent where nothing that it has can be delivered any more.
    fn end_without_hope(&mut self, actions: &mut Vec<Action>) {
        match self.state {
            State::Idle | State::Delivering if !self.is_connected => {
                self.end(Some("the connection to the controller ended".to_owned()), actions);
            }
            State::Idle | State::Delivering | State::Running | State::Ended => {}
        }
    }

    /// Says that all frames were sent, once the run has ended.
    fn finish(&self, actions: &mut Vec<Action>) {
        if self.state == State::Delivering && self.frames.n_frames() > 0 {
            let finished = Finished { n_frames: self.frames.n_frames() };
            self.send(actions, From::Finished(finished));
        }
    }

    /// Ends the run, and then the agent, where the controller has been silent for long.
    fn watch(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if now_ns.saturating_sub(self.heard_ns) < self.orphan_ns {
            return;
        }
        match self.state {
            State::Running if !self.is_orphan => {
                self.is_orphan = true;
                actions.push(Action::StopRun(false));
            }
            State::Running | State::Ended => {}
            State::Idle | State::Delivering => {
                let silence_s = self.orphan_ns / 1_000_000_000;
                let reason = format!("nothing came from the controller for {silence_s} s");
                self.end(Some(reason), actions);
            }
        }
    }

    fn end(&mut self, reason: Option<String>, actions: &mut Vec<Action>) {
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
