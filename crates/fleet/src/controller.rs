//! The controller of a run as a state machine: what came from the agents in, what to send out.
//!
//! It does no I/O and reads no clock: [`Controller::take`] gets every event with the time at which
//! it came, [`Controller::due_ns`] says when it wants to be called at the latest.
//!
//! ```text
//! wait for all ─► prepare ─► ready ─► arm ─► run ─► (next step) ─► finished
//! ```

mod coming;
mod ending;
mod peer;
mod plans;
mod silence;
mod start;
mod turns;

use record::Record;

pub use self::plans::OwnPlan;

use self::peer::{Agent, Lost, State};
use crate::agent::ORPHAN_NS;
use crate::clock::Offset;
use crate::frame::FrameSum;
use crate::version::Version;
use crate::wire::from_agent::Kind as From;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Ack, Assignment, Bye, Frame, Said};

/// Time between two questions for the time, which are the heartbeat, too.
pub const PING_NS: u64 = 250_000_000;

/// Silence after which an agent is suspected.
pub const SUSPECT_NS: u64 = 2_000_000_000;

/// Silence after which an agent counts as lost.
pub const DEAD_NS: u64 = 10_000_000_000;

/// How long a lost agent may come back once all others have ended.
pub const RETURN_NS: u64 = 20_000_000_000;

/// How long agents have for their last frames when the user wants the end at once.
pub const NOW_NS: u64 = 1_000_000_000;

/// How often it is looked at whether a step can begin, or the run end, at most: once in this time
/// for each full thousand agents. All of them are looked at for it, and all say at about the same
/// time that they are ready.
const LOOK_NS: u64 = 1_000_000;
const LOOK_AGENTS: u64 = 1000;

/// The minor version of the protocol from which on an agent takes one run after another.
const RUNS_MINOR: u32 = 4;

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
    /// The program of an agent is on its way: bytes sent, and in all.
    Sent(usize, u64, u64),
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
    /// How far the program of an agent is on its way: bytes sent, and in all.
    Sent(usize, u64, u64),
    /// An agent has come: what it is called, and the version of its program.
    Came(usize, String, String),
    /// An agent cannot run its part: its findings.
    Refused(usize, Vec<String>),
    /// The connection to an agent that calls again ended, for this reason.
    Away(usize, String),
    /// Nothing came from an agent for two seconds.
    Suspect(usize),
    /// It came back, after so long.
    Back(usize, u64),
    /// An agent did not come, for this reason: nothing runs.
    Absent(usize, String),
    /// An agent is lost, for this reason.
    Lost(usize, String),
    /// The workers of a step start on so many hosts.
    Starts(u32, usize),
    /// A step behind which there are others has ended on all hosts that are left.
    Ended(u32),
    /// The frames of an agent have grown: there may be new intervals.
    Frame(usize),
    /// The run of an agent has something to say.
    Said(usize, Said),
    /// How far an agent's preparing is: bytes done, and in all.
    Progress(usize, u64, u64),
}

/// Returns whether a step, or the end of the run, may follow from an event. Most say what an agent
/// has measured, or that it lives.
fn moves(event: &Event) -> bool {
    match event {
        Event::Message(_, message) => match message {
            From::Hello(_)
            | From::Begun(_)
            | From::Refused(_)
            | From::Ready(_)
            | From::Armed(_)
            | From::Ended(_)
            | From::Finished(_) => true,
            From::Pong(_)
            | From::Progress(_)
            | From::Frame(_)
            | From::Said(_)
            | From::Inspected(_)
            | From::Piece(_) => false,
        },
        Event::Gone(..) | Event::Stop => true,
        Event::Sent(..) | Event::Due => false,
    }
}

/// A start that hosts were given and that not all have answered.
#[derive(Clone, Copy, Debug)]
struct Start {
    step_idx: u32,
    /// When all must have answered, or get a later one.
    confirm_until_ns: u64,
}

/// How a run ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// With what its hosts have measured.
    Soon,
    /// With what has come by this time.
    Until(u64),
}

/// How the hosts of a run stand in the end.
#[derive(Debug)]
pub struct AgentOutcome {
    /// All that came from it.
    pub record: Record,
    /// Something came from it.
    pub has_frames: bool,
    /// All of it is here.
    pub is_complete: bool,
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
    /// How many of them take part, the first ones. The others are kept for another run.
    n_taking: usize,
    assignment: Assignment,
    /// The plan of each agent, where they have plans of their own.
    plans: Vec<OwnPlan>,
    policy: LossPolicy,
    /// How long agents may take to come.
    join_ns: u64,
    next_ping_ns: u64,
    next_ping_id: u64,
    /// Before this none can have been silent for too long.
    silence_ns: u64,
    /// Something came that a step or the end of the run may follow from.
    is_open: bool,
    /// When that may be looked at again.
    next_look_ns: u64,
    /// All have been given what to do.
    is_assigned: bool,
    start: Option<Start>,
    /// The step that has begun last.
    begun: Option<u32>,
    /// The step whose end was reported last.
    said_end: Option<u32>,
    /// Its user has asked for the end.
    is_interrupted: bool,
    end: Option<End>,
    /// Since when only lost agents are left.
    only_lost_since_ns: Option<u64>,
    is_finished: bool,
    /// Agents stay for another run when they have delivered this one.
    keeps_agents: bool,
    /// Least time from an order to start to the start.
    lead_ns_min: u64,
}

impl Controller {
    /// Awaits `n_agents`. Each may take `join_ns` from `now_ns`, or from the last that was sent of
    /// its program, and is given `assignment` with its own position.
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
        let join_until_ns = now_ns.saturating_add(join_ns);
        Controller {
            version: Version::OWN,
            agents: (0..n_agents).map(|_| Agent::new(now_ns, join_until_ns)).collect(),
            n_taking: n_agents,
            assignment,
            plans: Vec::new(),
            policy,
            join_ns,
            next_ping_ns: now_ns,
            next_ping_id: 0,
            silence_ns: 0,
            is_open: true,
            next_look_ns: 0,
            is_assigned: false,
            start: None,
            begun: None,
            said_end: None,
            is_interrupted: false,
            end: None,
            only_lost_since_ns: None,
            is_finished: false,
            keeps_agents: false,
            lead_ns_min: start::LEAD_NS_MIN,
        }
    }

    /// Lets agents stay for another run ([`Controller::next_run`]) when they have delivered this
    /// one.
    #[must_use]
    pub fn keeping_agents(self) -> Self {
        Controller { keeps_agents: true, ..self }
    }

    /// Has the first of the agents run, up to so many, and the others rest until another run. All
    /// are awaited.
    ///
    /// # Panics
    /// Where none would run.
    #[must_use]
    pub fn of_first(self, n_taking: usize) -> Self {
        assert!(n_taking > 0, "a run needs an agent");
        Controller { n_taking: n_taking.min(self.agents.len()), ..self }
    }

    /// Begins another run, once this one has finished. Returns who has to be called again: those
    /// that were lost, sent away, or are of a version that takes one run.
    pub fn next_run(self, assignment: Assignment, now_ns: u64) -> (Self, Vec<usize>) {
        let run_idx = self.assignment.run_idx + 1;
        let assignment = Assignment { run_idx, ..assignment };
        let Controller { version, policy, join_ns, next_ping_id, .. } = self;
        let mut next = Controller::new(self.agents.len(), assignment, policy, now_ns, join_ns);
        (next.version, next.next_ping_id) = (version, next_ping_id);
        (next.keeps_agents, next.lead_ns_min) = (true, start::LEAD_AGAIN_NS_MIN);
        let mut absent = Vec::new();
        for (idx, before) in self.agents.into_iter().enumerate() {
            match before.for_next_run(now_ns) {
                Some(agent) => next.agents[idx] = agent,
                None => absent.push(idx),
            }
        }
        (next, absent)
    }

    /// Takes another policy for this run.
    #[must_use]
    pub fn with_policy(self, policy: LossPolicy) -> Self {
        Controller { policy, ..self }
    }

    /// Speaks another version: what a later program does with agents of today can be tried.
    #[must_use]
    pub fn of_version(self, version: Version) -> Self {
        Controller { version, ..self }
    }

    /// Takes an event that came at `now_ns`, and returns what follows, in order.
    pub fn take(&mut self, event: Event, now_ns: u64) -> Vec<Action> {
        let mut actions = Vec::new();
        if let Event::Gone(idx, _) = event {
            self.agents[idx].is_connected = false;
        }
        if self.is_finished {
            return actions;
        }
        self.leave_out_own_gap(now_ns);
        self.is_open |= moves(&event) || now_ns >= self.due_by_time_ns();
        match event {
            Event::Sent(idx, done, total) => {
                self.agents[idx].join_until_ns = now_ns.saturating_add(self.join_ns);
                actions.push(Action::Tell(News::Sent(idx, done, total)));
            }
            Event::Message(idx, message) => self.message(idx, message, now_ns, &mut actions),
            Event::Gone(idx, reason) => self.disconnect(idx, reason, now_ns, &mut actions),
            Event::Stop => self.interrupt(now_ns, &mut actions),
            Event::Due => {}
        }
        self.watch_silence(now_ns, &mut actions);
        self.ping(now_ns, &mut actions);
        if self.is_open && now_ns >= self.next_look_ns {
            self.is_open = false;
            self.next_look_ns = now_ns + self.agents.len() as u64 / LOOK_AGENTS * LOOK_NS;
            self.assign(&mut actions);
            self.give_turns(&mut actions);
            self.arm(now_ns, &mut actions);
            self.finish(now_ns, &mut actions);
        }
        actions
    }

    /// Returns when [`Controller::take`] wants to be called even if nothing comes.
    pub fn due_ns(&self) -> u64 {
        let look_ns = if self.is_open { self.next_look_ns } else { u64::MAX };
        self.due_by_time_ns().min(look_ns)
    }

    /// Returns when something is to be done because time has passed.
    fn due_by_time_ns(&self) -> u64 {
        let confirm_ns = self.start.map_or(u64::MAX, |start| start.confirm_until_ns);
        let end_ns = match self.end {
            Some(End::Until(at_ns)) => at_ns,
            Some(End::Soon) | None => u64::MAX,
        };
        self.next_ping_ns.min(confirm_ns).min(end_ns)
    }

    /// Returns what came from an agent so far.
    pub fn frames(&self, idx: usize) -> &FrameSum {
        &self.agents[idx].frames
    }

    /// Returns whether a second of the step that runs is awaited from an agent: it is not silent,
    /// and does not wait for the next step.
    pub fn is_measuring(&self, idx: usize) -> bool {
        let agent = &self.agents[idx];
        let is_at_work = match agent.state {
            State::Running(step_idx) => agent.ended_idx < Some(step_idx),
            State::Ending => true,
            State::Awaited
            | State::Joined
            | State::Resting
            | State::Preparing
            | State::Ready(_)
            | State::Armed(_)
            | State::Set(_)
            | State::Finished
            | State::Refused
            | State::Expelled
            | State::Lost => false,
        };
        is_at_work && agent.lost.is_none() && !agent.is_suspect
    }

    /// Returns whether the user has asked for the end.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Returns how many agents take part, the first ones.
    pub fn n_taking(&self) -> usize {
        self.n_taking
    }

    /// The agents that take part in this run: the first ones.
    fn taking(&self) -> &[Agent] {
        &self.agents[..self.n_taking]
    }

    /// Returns how everything stands at `now_ns` that takes part.
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
            is_complete: agent.state == State::Finished,
            lost: agent.lost.as_ref().map(|lost| (lost.at_ns, lost.reason.clone())),
            silence_ns_max: agent.silence_ns_max,
            is_refused: agent.state == State::Refused,
            starts: (agent.starts.iter())
                .map(|(step_idx, start_ns)| (*step_idx, start_ns - first_starts[step_idx]))
                .collect(),
        };
        self.taking().iter().map(outcome).collect()
    }

    /// Takes the time in which the controller itself stood still out of the silence of all others.
    fn leave_out_own_gap(&mut self, now_ns: u64) {
        let gap_ns = now_ns.saturating_sub(self.next_ping_ns);
        if gap_ns == 0 {
            return;
        }
        for agent in &mut self.agents {
            agent.heard_ns = agent.heard_ns.saturating_add(gap_ns).min(now_ns);
            agent.join_until_ns = agent.join_until_ns.saturating_add(gap_ns);
            if gap_ns >= PING_NS {
                // Their answers have waited here: that is no round trip.
                agent.asked.clear();
            }
        }
        if let Some(start) = &mut self.start {
            start.confirm_until_ns = start.confirm_until_ns.saturating_add(gap_ns);
        }
        if let Some(since_ns) = &mut self.only_lost_since_ns {
            *since_ns = since_ns.saturating_add(gap_ns).min(now_ns);
        }
    }

    fn message(&mut self, idx: usize, message: From, now_ns: u64, actions: &mut Vec<Action>) {
        if let From::Hello(hello) = &message {
            self.greet(idx, hello, now_ns, actions);
        }
        let agent = &self.agents[idx];
        let has_no_say = matches!(agent.state, State::Refused | State::Expelled);
        if has_no_say || agent.incarnation.is_none() {
            return;
        }
        self.hear(idx, now_ns, actions);
        let agent = &mut self.agents[idx];
        if agent.state == State::Resting && !matches!(message, From::Pong(_)) {
            // It was asked for nothing else.
            return;
        }
        if let From::Begun(begun) = message {
            agent.is_behind &= begun.run_idx != self.assignment.run_idx;
        } else if agent.is_behind && !matches!(message, From::Hello(_) | From::Pong(_)) {
            return;
        }
        match message {
            // The others answer what a run does not ask.
            From::Hello(_) | From::Begun(_) | From::Inspected(_) | From::Piece(_) => {}
            From::Pong(pong) => {
                if !agent.add_exchange(pong, now_ns) {
                    let reason = "its answers to questions for the time contradict themselves";
                    self.expel(idx, reason.to_owned(), now_ns, actions);
                }
                // Its clock may be known well enough by now.
                self.is_open |= self.agents[idx].n_exchanges == start::N_EXCHANGES_MIN;
            }
            From::Refused(refused) => {
                if agent.state == State::Finished {
                    return;
                }
                agent.state = State::Refused;
                actions.push(Action::Tell(News::Refused(idx, refused.findings)));
                actions.push(Action::Send(idx, To::Bye(Bye::default())));
                // What the others would do is not what was asked for.
                self.end_soon(actions);
            }
            From::Progress(progress) => {
                let (done, total) = (progress.done_bytes, progress.total_bytes);
                actions.push(Action::Tell(News::Progress(idx, done, total)));
            }
            From::Said(said) => actions.push(Action::Tell(News::Said(idx, said))),
            From::Ready(ready) => self.take_ready(idx, ready.step_idx, now_ns, actions),
            From::Armed(armed) => agent.take_armed(armed),
            From::Ended(ended) => {
                agent.ended_idx = agent.ended_idx.max(Some(ended.step_idx));
                self.tell_end(ended.step_idx, actions);
            }
            From::Frame(frame) => self.frame(idx, &frame, now_ns, actions),
            From::Finished(finished) => self.complete(idx, finished.n_frames, now_ns, actions),
        }
    }

    /// Notes that an agent lives.
    fn hear(&mut self, idx: usize, now_ns: u64, actions: &mut Vec<Action>) {
        let agent = &mut self.agents[idx];
        let silence_ns = now_ns.saturating_sub(agent.heard_ns);
        agent.heard_ns = now_ns;
        self.silence_ns = self.silence_ns.min(now_ns.saturating_add(SUSPECT_NS));
        agent.is_connected = true;
        let away_ns = agent.away_since_ns.take().map(|since_ns| now_ns.saturating_sub(since_ns));
        if std::mem::take(&mut agent.is_suspect) {
            agent.silence_ns_max = agent.silence_ns_max.max(silence_ns);
            actions.push(Action::Tell(News::Back(idx, silence_ns)));
        } else if let Some(away_ns) = away_ns {
            actions.push(Action::Tell(News::Back(idx, away_ns)));
        }
        if agent.state == State::Lost {
            self.come_back(idx, actions);
            self.is_open = true;
        }
    }

    /// Takes an agent back that stood still and goes on: what it has measured counts. One that the
    /// others have left behind ends: it would run a step of theirs alone.
    fn come_back(&mut self, idx: usize, actions: &mut Vec<Action>) {
        let begun = self.begun;
        // Those that have begun a step before the others may be given the start of the next one.
        let before_start = self.start.and_then(|start| start.step_idx.checked_sub(1));
        let passed = begun.max(before_start);
        let is_due = |step_idx: u32| passed.is_none_or(|passed| step_idx > passed);
        let agent = &mut self.agents[idx];
        let Some(lost) = agent.lost.take() else { return };
        let state = match lost.before {
            State::Joined if !self.is_assigned => Some(State::Joined),
            State::Resting => Some(State::Resting),
            State::Preparing if passed.is_none() => Some(State::Preparing),
            // What it has answered is not known: it gets the next order with the others.
            State::Ready(step_idx) | State::Armed(step_idx) | State::Set(step_idx)
                if is_due(step_idx) =>
            {
                Some(State::Ready(step_idx))
            }
            State::Set(step_idx) | State::Running(step_idx) if begun == Some(step_idx) => {
                Some(State::Running(step_idx))
            }
            State::Ending => Some(State::Ending),
            State::Awaited
            | State::Joined
            | State::Preparing
            | State::Ready(_)
            | State::Armed(_)
            | State::Set(_)
            | State::Running(_)
            | State::Finished
            | State::Refused
            | State::Expelled
            | State::Lost => None,
        };
        match state {
            Some(State::Resting) => agent.state = State::Resting,
            Some(state) if self.end.is_none() => agent.state = state,
            Some(_) => self.ask_to_end(idx, actions),
            None => {
                agent.lost = Some(lost);
                self.ask_to_end(idx, actions);
            }
        }
    }

    fn take_ready(&mut self, idx: usize, step_idx: u32, now_ns: u64, actions: &mut Vec<Action>) {
        let agent = &mut self.agents[idx];
        let is_next = match agent.state {
            State::Preparing => true,
            State::Running(running_idx) => step_idx > running_idx,
            // It has begun by an order before, and was given a later one in vain.
            State::Armed(of) | State::Set(of) if step_idx > of => {
                agent.begin(of);
                true
            }
            State::Awaited
            | State::Joined
            | State::Resting
            | State::Ready(_)
            | State::Armed(_)
            | State::Set(_)
            | State::Ending
            | State::Finished
            | State::Refused
            | State::Expelled
            | State::Lost => false,
        };
        if !is_next {
            // It was sent again with a new connection.
            return;
        }
        agent.state = State::Ready(step_idx);
        if self.begun.is_some_and(|begun| step_idx <= begun) {
            let reason = format!("it wants to start step {step_idx} again");
            self.expel(idx, reason, now_ns, actions);
        }
    }

    /// Says that a step has ended, once it has everywhere.
    fn tell_end(&mut self, step_idx: u32, actions: &mut Vec<Action>) {
        let is_in_it = |agent: &Agent| {
            agent.state == State::Running(step_idx) && agent.ended_idx < Some(step_idx)
        };
        let is_said = self.said_end >= Some(step_idx);
        if self.begun != Some(step_idx) || is_said || self.agents.iter().any(is_in_it) {
            return;
        }
        self.said_end = Some(step_idx);
        actions.push(Action::Tell(News::Ended(step_idx)));
    }

    /// Adds a frame, and acknowledges what is here.
    fn frame(&mut self, idx: usize, frame: &Frame, now_ns: u64, actions: &mut Vec<Action>) {
        let agent = &mut self.agents[idx];
        match agent.frames.add(frame) {
            Ok(true) => actions.push(Action::Tell(News::Frame(idx))),
            // It was sent again with a new connection.
            Ok(false) => {}
            Err(error) => {
                // Everything behind it would be wrong.
                self.expel(idx, error.to_string(), now_ns, actions);
                return;
            }
        }
        let next_seq = agent.frames.next_seq();
        actions.push(Action::Send(idx, To::Ack(Ack { next_seq })));
    }

    /// Ends an agent that has sent all it has: frames come before the message that counts them.
    fn complete(&mut self, idx: usize, n_frames: u64, now_ns: u64, actions: &mut Vec<Action>) {
        let agent = &mut self.agents[idx];
        let n_here = agent.frames.next_seq();
        if n_frames != n_here {
            let reason = format!("it says that it sent {n_frames} frames, and {n_here} came");
            self.expel(idx, reason, now_ns, actions);
            return;
        }
        if let State::Armed(step_idx) | State::Set(step_idx) = agent.state {
            agent.begin(step_idx);
        }
        agent.state = State::Finished;
        if !(self.keeps_agents && agent.takes_runs) {
            actions.push(Action::Send(idx, To::Bye(Bye::default())));
        }
    }

    /// Gives an agent up that is not heard of.
    fn lose(&mut self, idx: usize, reason: String, now_ns: u64, actions: &mut Vec<Action>) {
        let state = self.agents[idx].state;
        if state.is_live() || state == State::Awaited {
            self.part_with(idx, State::Lost, reason, now_ns, actions);
        }
    }

    /// Gives an agent up that cannot be gone on with, and tells it to go. What came from it so far
    /// stays.
    fn expel(&mut self, idx: usize, reason: String, now_ns: u64, actions: &mut Vec<Action>) {
        actions.push(Action::Send(idx, To::Bye(Bye { reason: reason.clone() })));
        self.part_with(idx, State::Expelled, reason, now_ns, actions);
    }

    fn part_with(
        &mut self,
        idx: usize,
        state: State,
        reason: String,
        now_ns: u64,
        actions: &mut Vec<Action>,
    ) {
        self.is_open = true;
        let agent = &mut self.agents[idx];
        let before = std::mem::replace(&mut agent.state, state);
        if agent.lost.is_some() {
            // That was reported, and the policy was applied.
            return;
        }
        agent.lost = Some(Lost { at_ns: now_ns, reason: reason.clone(), before });
        if before == State::Resting {
            // This run does not need it.
            actions.push(Action::Tell(News::Lost(idx, reason)));
            return;
        }
        let news =
            if self.is_assigned { News::Lost(idx, reason) } else { News::Absent(idx, reason) };
        actions.push(Action::Tell(news));
        let is_left = |agent: &&Agent| agent.lost.is_none() && agent.state != State::Refused;
        let goes_on = match self.policy {
            LossPolicy::Abort => false,
            // Who never came was not lost on the way: nothing has begun yet.
            LossPolicy::Continue => self.is_assigned,
            LossPolicy::AtLeast(n) => self.taking().iter().filter(is_left).count() >= n as usize,
        };
        if !goes_on {
            self.end_soon(actions);
        }
    }

    /// Tells all what to do, once all have come.
    fn assign(&mut self, actions: &mut Vec<Action>) {
        if self.is_assigned || self.end.is_some() {
            return;
        }
        let is_there = |agent: &Agent| agent.state == State::Joined;
        let is_awaited = |agent: &Agent| agent.state == State::Awaited;
        if self.agents.iter().any(is_awaited) || !self.taking().iter().any(is_there) {
            return;
        }
        self.is_assigned = true;
        for idx in 0..self.agents.len() {
            if self.agents[idx].state != State::Joined {
                continue;
            }
            if idx >= self.n_taking {
                self.agents[idx].state = State::Resting;
                continue;
            }
            self.agents[idx].state = State::Preparing;
            self.send_assignment(idx, actions);
        }
    }

    fn send_assignment(&self, idx: usize, actions: &mut Vec<Action>) {
        let (host_idx, n_hosts) = (idx as u32, self.n_taking as u32);
        let orphan_limit_ns = ORPHAN_NS;
        let mut assignment =
            Assignment { host_idx, n_hosts, orphan_limit_ns, ..self.assignment.clone() };
        if let Some(plan) = self.plans.get(idx) {
            plan.put_into(&mut assignment);
        }
        actions.push(Action::Send(idx, To::Assignment(assignment)));
    }

    /// Ends when nothing more is to come.
    fn finish(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        let is_time_up = matches!(self.end, Some(End::Until(at_ns)) if now_ns >= at_ns);
        let is_awaited = |agent: &Agent| agent.state.takes_part() || agent.state == State::Awaited;
        if self.agents.iter().any(is_awaited) && !is_time_up {
            self.only_lost_since_ns = None;
            return;
        }
        let since_ns = *self.only_lost_since_ns.get_or_insert(now_ns);
        let calls =
            |agent: &Agent| agent.calls_again && now_ns.saturating_sub(agent.heard_ns) < ORPHAN_NS;
        let may_return =
            |agent: &Agent| agent.state == State::Lost && (agent.is_connected || calls(agent));
        // A run that ends before its time waits for no one who may be lost for good.
        let waits = self.end.is_none()
            && self.taking().iter().any(may_return)
            && now_ns.saturating_sub(since_ns) < RETURN_NS;
        if !waits {
            self.is_finished = true;
            actions.push(Action::Finish);
        }
    }
}
