//! The controller of a run as a state machine: what came from the agents in, what to send out.
//!
//! It does no I/O and reads no clock: [`Controller::take`] gets every event with the time at which
//! it came, [`Controller::due_ns`] says when it wants to be called at the latest.
//!
//! ```text
//! wait for all ─► prepare ─► ready ─► arm ─► run ─► (next step) ─► finished
//! ```

use record::Record;

use crate::clock::{ClockEstimate, Exchange, Offset};
use crate::frame::{FrameError, FrameSum};
use crate::version::Version;
use crate::wire::from_agent::Kind as From;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Ack, Arm, Assignment, Bye, Frame, Hello, Ping, Stop};

/// Time between two questions for the time, which are the heartbeat, too.
pub const PING_NS: u64 = 250_000_000;

/// Silence after which an agent is suspected.
pub const SUSPECT_NS: u64 = 2_000_000_000;

/// Silence after which an agent counts as lost.
pub const DEAD_NS: u64 = 10_000_000_000;

/// How long a lost agent may come back once all others have ended.
pub const RETURN_NS: u64 = 20_000_000_000;

/// Least time from the order to start to the start: the order must be there, and heard.
const LEAD_NS_MIN: u64 = 500_000_000;

/// The same in longest round trips.
const LEAD_ROUND_TRIPS: u64 = 10;

/// Exchanges of the time before a step may start.
const N_EXCHANGES_MIN: u32 = 4;

/// What to do when an agent is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LossPolicy {
    /// The run ends.
    Abort,
    /// The others go on.
    #[default]
    Continue,
    /// The others go on while there are at least so many.
    AtLeast(u32),
}

/// What comes to the controller.
#[derive(Clone, Debug)]
pub enum Event {
    /// An agent sent a message.
    Message(usize, From),
    /// The connection to an agent ended, or its launch failed, for this reason.
    Gone(usize, String),
    /// The user wants the end; a second time at once.
    Stop,
    /// Time has passed.
    Due,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Send a message to an agent.
    Send(usize, To),
    /// Tell the user.
    Tell(News),
    /// Everything has ended: collect.
    Finish,
}

/// What the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// An agent cannot run its part: its findings.
    Refused(usize, Vec<String>),
    /// Nothing came from an agent for two seconds.
    Suspect(usize),
    /// It came back.
    Back(usize, u64),
    /// An agent did not come, for this reason: nothing runs.
    Absent(usize, String),
    /// An agent is lost, for this reason.
    Lost(usize, String),
    /// The workers of a step start on so many hosts, at this time.
    Starts(u32, usize),
    /// The frames of an agent have grown: there may be new intervals.
    Frame(usize),
    /// How far an agent's preparing is: bytes done, and in all.
    Progress(usize, u64, u64),
}

/// What an agent does, as far as the controller has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It was launched and has not come.
    Awaited,
    /// It prepares a step, or runs one.
    Busy,
    /// It waits for the start of a step.
    Ready(u32),
    /// It has been given the start of a step.
    Armed(u32),
    /// All of it is here.
    Finished,
    /// It ran nothing: it refused its part, or was refused.
    Refused,
    /// Nothing comes from it any more. It may come back while it has a connection.
    Lost,
}

/// What is known of an agent.
#[derive(Debug)]
struct Agent {
    state: State,
    /// When something last came from it.
    heard_ns: u64,
    is_suspect: bool,
    is_connected: bool,
    clock: ClockEstimate,
    n_exchanges: u32,
    /// When the pings were sent that it has not answered.
    asked: Vec<(u64, u64)>,
    frames: FrameSum,
    /// Frames there are in all, once it has said so.
    n_frames: Option<u64>,
    /// When it was lost, why, and what it did then.
    lost: Option<Lost>,
    /// Longest silence that it came back from.
    silence_ns_max: u64,
    /// The steps that it was given to start, and when, in the controller's time.
    starts: Vec<(u32, u64)>,
}

/// An agent that is lost, or was.
#[derive(Clone, Debug)]
struct Lost {
    at_ns: u64,
    reason: String,
    before: State,
}

/// How the hosts of a run stand in the end.
#[derive(Debug)]
pub struct AgentOutcome {
    /// All that came from it.
    pub record: Record,
    /// Something came from it.
    pub has_frames: bool,
    /// The offset of its clock, if it is known.
    pub offset: Option<Offset>,
    /// When it was lost, in the controller's time, and why.
    pub lost: Option<(u64, String)>,
    /// Longest silence that it came back from, nanoseconds; 0 where there was none of note.
    pub silence_ns_max: u64,
    /// It ran nothing.
    pub is_refused: bool,
    /// The steps that it was given to start, and how much later than the first host, nanoseconds.
    pub starts: Vec<(u32, u64)>,
}

/// The controller of a run.
#[derive(Debug)]
pub struct Controller {
    version: Version,
    agents: Vec<Agent>,
    assignment: Assignment,
    policy: LossPolicy,
    next_ping_ns: u64,
    next_ping_id: u64,
    /// How long agents may take to come.
    join_until_ns: u64,
    /// All have been given what to do.
    is_assigned: bool,
    n_stops: u32,
    /// Since when only lost agents are left.
    only_lost_since_ns: Option<u64>,
    is_finished: bool,
}

impl Controller {
    /// Awaits `n_agents`, which come within `join_ns` from `now_ns` on. Each is given
    /// `assignment` with its own position.
    ///
    /// # Panics
    /// Without an agent.
    pub fn new(
        n_agents: usize,
        assignment: Assignment,
        policy: LossPolicy,
        now_ns: u64,
        join_ns: u64,
    ) -> Self {
        assert!(n_agents > 0, "a run needs an agent");
        let agent = || Agent {
            state: State::Awaited,
            heard_ns: now_ns,
            is_suspect: false,
            is_connected: false,
            clock: ClockEstimate::default(),
            n_exchanges: 0,
            asked: Vec::new(),
            frames: FrameSum::default(),
            n_frames: None,
            lost: None,
            silence_ns_max: 0,
            starts: Vec::new(),
        };
        Controller {
            version: Version::OWN,
            agents: (0..n_agents).map(|_| agent()).collect(),
            assignment,
            policy,
            next_ping_ns: now_ns,
            next_ping_id: 0,
            join_until_ns: now_ns.saturating_add(join_ns),
            is_assigned: false,
            n_stops: 0,
            only_lost_since_ns: None,
            is_finished: false,
        }
    }

    /// Speaks another version: what a later program does with agents of today can be tried.
    #[must_use]
    pub fn of_version(self, version: Version) -> Self {
        Controller { version, ..self }
    }

    /// Takes an event that came at `now_ns`, and returns what follows, in order.
    pub fn take(&mut self, event: Event, now_ns: u64) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.is_finished {
            return actions;
        }
        match event {
            Event::Message(idx, message) => self.message(idx, message, now_ns, &mut actions),
            Event::Gone(idx, reason) => {
                self.agents[idx].is_connected = false;
                self.lose(idx, reason, now_ns, &mut actions);
            }
            Event::Stop => self.stop(&mut actions),
            Event::Due => {}
        }
        self.watch_silence(now_ns, &mut actions);
        self.ping(now_ns, &mut actions);
        self.assign(now_ns, &mut actions);
        self.arm(now_ns, &mut actions);
        self.finish(now_ns, &mut actions);
        actions
    }

    /// Returns when [`Controller::take`] wants to be called even if nothing comes.
    pub fn due_ns(&self) -> u64 {
        self.next_ping_ns
    }

    /// Returns what came from an agent so far.
    pub fn frames(&self, idx: usize) -> &FrameSum {
        &self.agents[idx].frames
    }

    /// Returns whether an agent goes on with the run, and is not silent.
    pub fn is_heard(&self, idx: usize) -> bool {
        let agent = &self.agents[idx];
        let goes_on = matches!(agent.state, State::Busy | State::Ready(_) | State::Armed(_));
        goes_on && !agent.is_suspect
    }

    /// Returns how everything stands at `now_ns`.
    pub fn outcomes(&self, now_ns: u64) -> Vec<AgentOutcome> {
        let mut first_starts = std::collections::BTreeMap::new();
        for (step_idx, start_ns) in self.agents.iter().flat_map(|agent| &agent.starts) {
            let first = first_starts.entry(*step_idx).or_insert(*start_ns);
            *first = (*first).min(*start_ns);
        }
        let outcome = |agent: &Agent| AgentOutcome {
            offset: agent.clock.offset(now_ns),
            record: agent.frames.record(),
            has_frames: agent.frames.next_seq() > 0,
            lost: agent.lost.as_ref().map(|lost| (lost.at_ns, lost.reason.clone())),
            silence_ns_max: agent.silence_ns_max,
            is_refused: agent.state == State::Refused,
            starts: (agent.starts.iter())
                .map(|(step_idx, start_ns)| (*step_idx, start_ns - first_starts[step_idx]))
                .collect(),
        };
        self.agents.iter().map(outcome).collect()
    }

    fn message(&mut self, idx: usize, message: From, now_ns: u64, actions: &mut Vec<Action>) {
        self.hear(idx, now_ns, actions);
        let agent = &mut self.agents[idx];
        match message {
            From::Hello(hello) => self.greet(idx, &hello, actions),
            From::Pong(pong) => {
                let Some(at) = agent.asked.iter().position(|(id, _)| *id == pong.id) else {
                    return;
                };
                let (_, asked_ns) = agent.asked.swap_remove(at);
                agent.clock.add(Exchange {
                    asked_ns,
                    received_ns: pong.received_ns,
                    sent_ns: pong.sent_ns,
                    answered_ns: now_ns,
                });
                agent.n_exchanges += 1;
            }
            From::Refused(refused) => {
                if agent.state == State::Finished {
                    return;
                }
                agent.state = State::Refused;
                actions.push(Action::Tell(News::Refused(idx, refused.findings)));
                actions.push(Action::Send(idx, To::Bye(Bye::default())));
                // What the others would do is not what was asked for.
                self.stop(actions);
            }
            From::Progress(progress) => {
                let (done, total) = (progress.done_bytes, progress.total_bytes);
                actions.push(Action::Tell(News::Progress(idx, done, total)));
            }
            From::Ready(ready) => match agent.state {
                State::Busy => agent.state = State::Ready(ready.step_idx),
                State::Awaited
                | State::Ready(_)
                | State::Armed(_)
                | State::Finished
                | State::Refused
                | State::Lost => {}
            },
            From::Armed(armed) => match agent.state {
                State::Armed(step_idx) if step_idx == armed.step_idx => agent.state = State::Busy,
                State::Awaited
                | State::Busy
                | State::Ready(_)
                | State::Armed(_)
                | State::Finished
                | State::Refused
                | State::Lost => {}
            },
            From::Frame(frame) => self.frame(idx, &frame, now_ns, actions),
            From::Finished(finished) => {
                agent.n_frames = Some(finished.n_frames);
                self.settle(idx, actions);
            }
        }
    }

    /// Notes that an agent lives.
    fn hear(&mut self, idx: usize, now_ns: u64, actions: &mut Vec<Action>) {
        let agent = &mut self.agents[idx];
        let silence_ns = now_ns.saturating_sub(agent.heard_ns);
        agent.heard_ns = now_ns;
        agent.is_connected = true;
        if std::mem::take(&mut agent.is_suspect) {
            agent.silence_ns_max = agent.silence_ns_max.max(silence_ns);
            actions.push(Action::Tell(News::Back(idx, silence_ns)));
        }
        if agent.state == State::Lost
            && let Some(lost) = agent.lost.take()
        {
            // It stood still and goes on: what it has measured counts.
            agent.state = lost.before;
        }
    }

    /// Takes an agent in, or tells it why not.
    fn greet(&mut self, idx: usize, hello: &Hello, actions: &mut Vec<Action>) {
        let agent = &mut self.agents[idx];
        if agent.state != State::Awaited {
            return;
        }
        let Some(reason) = self.version.unfit(hello) else {
            agent.state = State::Busy;
            return;
        };
        agent.state = State::Refused;
        actions.push(Action::Tell(News::Refused(idx, vec![reason.clone()])));
        actions.push(Action::Send(idx, To::Bye(Bye { reason })));
        self.stop(actions);
    }

    /// Adds a frame, and acknowledges what is here.
    fn frame(&mut self, idx: usize, frame: &Frame, now_ns: u64, actions: &mut Vec<Action>) {
        let agent = &mut self.agents[idx];
        match agent.frames.add(frame) {
            Ok(true) => actions.push(Action::Tell(News::Frame(idx))),
            // The acknowledgement says what to send again.
            Ok(false) | Err(FrameError::Gap { .. }) => {}
            Err(error) => {
                // Everything behind it would be wrong.
                self.lose(idx, error.to_string(), now_ns, actions);
                return;
            }
        }
        let next_seq = self.agents[idx].frames.next_seq();
        actions.push(Action::Send(idx, To::Ack(Ack { next_seq })));
        self.settle(idx, actions);
    }

    /// Ends an agent of which everything is here.
    fn settle(&mut self, idx: usize, actions: &mut Vec<Action>) {
        let agent = &mut self.agents[idx];
        let is_complete = agent.n_frames.is_some_and(|n| agent.frames.next_seq() >= n);
        if is_complete && !matches!(agent.state, State::Finished | State::Refused) {
            agent.state = State::Finished;
            actions.push(Action::Send(idx, To::Bye(Bye::default())));
        }
    }

    /// Gives an agent up.
    fn lose(&mut self, idx: usize, reason: String, now_ns: u64, actions: &mut Vec<Action>) {
        let agent = &mut self.agents[idx];
        let before = match agent.state {
            State::Finished | State::Refused | State::Lost => return,
            it @ (State::Awaited | State::Busy | State::Ready(_) | State::Armed(_)) => it,
        };
        agent.state = State::Lost;
        agent.lost = Some(Lost { at_ns: now_ns, reason: reason.clone(), before });
        let news =
            if self.is_assigned { News::Lost(idx, reason) } else { News::Absent(idx, reason) };
        actions.push(Action::Tell(news));
        let n_left = self.agents.iter().filter(|it| it.state != State::Lost).count();
        let goes_on = match self.policy {
            LossPolicy::Abort => false,
            // Who never came was not lost on the way: nothing has begun yet.
            LossPolicy::Continue => self.is_assigned,
            LossPolicy::AtLeast(n) => n_left >= n as usize,
        };
        if !goes_on {
            self.stop(actions);
        }
    }

    /// Asks all to end.
    fn stop(&mut self, actions: &mut Vec<Action>) {
        self.n_stops += 1;
        let is_now = self.n_stops > 1;
        for (idx, agent) in self.agents.iter_mut().enumerate() {
            match agent.state {
                State::Awaited => agent.state = State::Refused,
                State::Busy | State::Ready(_) | State::Armed(_) | State::Lost => {
                    let stop = if self.is_assigned {
                        To::Stop(Stop { is_now })
                    } else {
                        agent.state = State::Refused;
                        To::Bye(Bye { reason: "the run does not begin".to_owned() })
                    };
                    actions.push(Action::Send(idx, stop));
                }
                State::Finished | State::Refused => {}
            }
        }
    }

    fn watch_silence(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        for idx in 0..self.agents.len() {
            let agent = &mut self.agents[idx];
            match agent.state {
                State::Awaited if now_ns >= self.join_until_ns => {
                    self.lose(idx, "it did not come".to_owned(), now_ns, actions);
                }
                State::Busy | State::Ready(_) | State::Armed(_) => {
                    let silence_ns = now_ns.saturating_sub(agent.heard_ns);
                    if silence_ns >= SUSPECT_NS && !agent.is_suspect {
                        agent.is_suspect = true;
                        actions.push(Action::Tell(News::Suspect(idx)));
                    }
                    if silence_ns >= DEAD_NS {
                        let text =
                            format!("nothing came from it for {} s", DEAD_NS / 1_000_000_000);
                        self.lose(idx, text, now_ns, actions);
                    }
                }
                State::Awaited | State::Finished | State::Refused | State::Lost => {}
            }
        }
    }

    fn ping(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if now_ns < self.next_ping_ns {
            return;
        }
        self.next_ping_ns = now_ns + PING_NS;
        let id = self.next_ping_id;
        self.next_ping_id += 1;
        for (idx, agent) in self.agents.iter_mut().enumerate() {
            match agent.state {
                State::Busy | State::Ready(_) | State::Armed(_) | State::Lost => {
                    agent.asked.retain(|(_, asked_ns)| now_ns - asked_ns < DEAD_NS);
                    agent.asked.push((id, now_ns));
                    actions.push(Action::Send(idx, To::Ping(Ping { id })));
                }
                State::Awaited | State::Finished | State::Refused => {}
            }
        }
    }

    /// Tells all what to do, once all have come.
    fn assign(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        let is_there = |agent: &Agent| agent.state == State::Busy;
        if self.is_assigned || !self.agents.iter().all(|it| is_there(it) || it.state == State::Lost)
        {
            return;
        }
        if !self.agents.iter().any(is_there) {
            return;
        }
        self.is_assigned = true;
        let n_hosts = self.agents.len() as u32;
        for (idx, agent) in self.agents.iter_mut().enumerate() {
            // What was silent so far had nothing to say.
            agent.heard_ns = now_ns;
            let host_idx = idx as u32;
            let assignment = Assignment { host_idx, n_hosts, ..self.assignment.clone() };
            actions.push(Action::Send(idx, To::Assignment(assignment)));
        }
    }

    /// Starts the next step once all that are left wait for it.
    fn arm(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        let mut next: Option<u32> = None;
        for agent in &self.agents {
            match agent.state {
                State::Awaited | State::Busy | State::Armed(_) => return,
                State::Ready(step_idx) => {
                    if agent.n_exchanges < N_EXCHANGES_MIN {
                        return;
                    }
                    next = Some(next.map_or(step_idx, |it| it.min(step_idx)));
                }
                State::Finished | State::Refused | State::Lost => {}
            }
        }
        let Some(step_idx) = next else { return };
        let round_trip_ns = self.agents.iter().map(|it| it.clock.round_trip_ns_max()).max();
        let lead_ns = LEAD_NS_MIN.max(round_trip_ns.unwrap_or(0).saturating_mul(LEAD_ROUND_TRIPS));
        let start_ns = now_ns.saturating_add(lead_ns);
        let mut n_hosts = 0;
        for (idx, agent) in self.agents.iter_mut().enumerate() {
            if agent.state != State::Ready(step_idx) {
                continue;
            }
            let Some(offset) = agent.clock.offset(now_ns) else { continue };
            agent.state = State::Armed(step_idx);
            agent.starts.push((step_idx, start_ns));
            n_hosts += 1;
            let arm = Arm { step_idx, start_ns: offset.there(start_ns) };
            actions.push(Action::Send(idx, To::Arm(arm)));
        }
        actions.push(Action::Tell(News::Starts(step_idx, n_hosts)));
    }

    /// Ends when nothing more is to come.
    fn finish(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        let mut may_return = false;
        for agent in &self.agents {
            match agent.state {
                State::Awaited | State::Busy | State::Ready(_) | State::Armed(_) => {
                    self.only_lost_since_ns = None;
                    return;
                }
                State::Finished | State::Refused => {}
                State::Lost => may_return |= agent.is_connected,
            }
        }
        let since_ns = *self.only_lost_since_ns.get_or_insert(now_ns);
        if !may_return || now_ns.saturating_sub(since_ns) >= RETURN_NS || self.n_stops > 1 {
            self.is_finished = true;
            actions.push(Action::Finish);
        }
    }
}
