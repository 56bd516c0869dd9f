//! A relay as a state machine: the sessions of many agents over one connection to the controller.
//!
//! To an agent it is what the controller is, to the controller as many agents as there are. It
//! passes messages on as they are, those of an agent in their order, and answers none: a frame is
//! acknowledged by the controller alone, and its agent keeps it until then. So nothing is lost with
//! a relay. Its agents call again, another relay or the controller, and go on where they were.
//!
//! It adds nothing up: a record has figures of each host. What it saves the controller is a
//! connection for each agent. Relays may stand behind relays.
//!
//! It does no I/O and reads no clock, as [`crate::controller`].

use std::collections::BTreeMap;

use crate::agent::HANG_UP_NS;
use crate::version::Version;
use crate::wire::from_agent::Kind as From;
use crate::wire::passed::What;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Bye, FromAgent, Handed, Passed, RelayHello, ToAgent};
use crate::{PROTOCOL_MAJOR, PROTOCOL_MINOR};

/// Time from one event to the next, ten looks at what is due, from which on the relay itself stood
/// still: what was sent to it meanwhile is yet to be read.
const OWN_GAP_NS: u64 = 1_000_000_000;

/// What comes to a relay. Agents are named by their sessions, each of which has a number that no
/// other had.
#[derive(Clone, Debug)]
pub enum Event {
    /// There is a connection to the controller.
    Connected,
    /// It has ended.
    Disconnected,
    /// The controller sent something for an agent.
    Handed(Handed),
    /// An agent has opened a session.
    Opened(usize),
    /// It sent a message.
    Message(usize, From),
    /// Its session has ended, for this reason.
    Closed(usize, String),
    /// Time has passed.
    Due,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Send the controller something of an agent.
    Pass(Passed),
    /// Send an agent a message.
    Hand(usize, To),
    /// End the session of an agent.
    HangUp(usize),
    /// Call the controller again, until it is there; what is left of the connection is hung up.
    Call,
}

/// One relay.
#[derive(Debug)]
pub struct Relay {
    /// Most agents at once.
    n_lines_max: usize,
    is_connected: bool,
    /// Sessions by their lines, and lines by their sessions.
    sessions: BTreeMap<u32, usize>,
    lines: BTreeMap<usize, u32>,
    next_line: u32,
    /// When the controller was heard last, of any agent.
    heard_ns: u64,
    /// When something came last, if only time, and when something did after the relay stood still.
    looked_ns: u64,
    awake_ns: u64,
}

impl Relay {
    /// Makes one for so many agents at most.
    pub fn new(n_lines_max: usize, now_ns: u64) -> Self {
        Relay {
            n_lines_max,
            is_connected: false,
            sessions: BTreeMap::new(),
            lines: BTreeMap::new(),
            next_line: 0,
            heard_ns: now_ns,
            looked_ns: now_ns,
            awake_ns: now_ns,
        }
    }

    /// Returns what it says first on a connection to the controller.
    pub fn hello(program_version: &str) -> RelayHello {
        RelayHello {
            protocol_major: PROTOCOL_MAJOR,
            protocol_minor: PROTOCOL_MINOR,
            program_version: program_version.to_owned(),
        }
    }

    /// Returns why a controller takes nothing from a relay that says this; `None` where it does.
    /// Its version is the same: what it does not know it would not pass on.
    pub fn unfit(hello: &RelayHello) -> Option<String> {
        let theirs = Version { major: hello.protocol_major, minor: hello.protocol_minor };
        (theirs != Version::OWN).then(|| {
            format!(
                "the relay's plimsoll {} speaks protocol {theirs}, the controller's {}: install \
                 the same version on both",
                hello.program_version,
                Version::OWN
            )
        })
    }

    /// Returns whether it takes another agent.
    pub fn has_room(&self) -> bool {
        self.is_connected && self.lines.len() < self.n_lines_max
    }

    /// Returns how many agents it has.
    pub fn n_agents(&self) -> usize {
        self.lines.len()
    }

    /// Takes an event that came at `now_ns` of the relay's clock, and returns what follows, in
    /// order.
    pub fn take(&mut self, event: Event, now_ns: u64) -> Vec<Action> {
        if now_ns.saturating_sub(self.looked_ns) >= OWN_GAP_NS {
            self.awake_ns = now_ns;
        }
        self.looked_ns = now_ns;
        let mut actions = Vec::new();
        match event {
            Event::Connected => (self.is_connected, self.heard_ns) = (true, now_ns),
            Event::Disconnected => self.lose_controller(&mut actions),
            Event::Handed(handed) => {
                self.heard_ns = now_ns;
                self.hand(handed, &mut actions);
            }
            Event::Opened(session) => self.open(session, now_ns, &mut actions),
            Event::Message(session, message) => self.pass(session, message, &mut actions),
            Event::Closed(session, reason) => {
                if let Some(line) = self.forget(session) {
                    actions.push(Action::Pass(Passed { line, what: Some(What::Ended(reason)) }));
                }
            }
            Event::Due => {}
        }
        self.watch(now_ns, &mut actions);
        actions
    }

    /// Gives an agent a line; has one call elsewhere that it has none for.
    fn open(&mut self, session: usize, now_ns: u64, actions: &mut Vec<Action>) {
        if !self.has_room() {
            actions.push(Action::HangUp(session));
            return;
        }
        if self.lines.is_empty() {
            // Without an agent there was nothing to hear.
            self.heard_ns = now_ns;
        }
        let line = self.next_line;
        self.next_line = self.next_line.wrapping_add(1);
        self.sessions.insert(line, session);
        self.lines.insert(session, line);
    }

    fn pass(&mut self, session: usize, message: From, actions: &mut Vec<Action>) {
        let Some(line) = self.lines.get(&session).copied() else { return };
        if let From::Hello(hello) = &message
            && (hello.protocol_major, hello.protocol_minor) > (PROTOCOL_MAJOR, PROTOCOL_MINOR)
        {
            let reason = format!(
                "the relay speaks protocol {}, the agent's plimsoll {} a later one: install the \
                 same version on both",
                Version::OWN,
                hello.program_version
            );
            actions.push(Action::Hand(session, To::Bye(Bye { reason })));
            self.forget(session);
            return;
        }
        let message = FromAgent { kind: Some(message) };
        actions.push(Action::Pass(Passed { line, what: Some(What::Message(message)) }));
    }

    fn hand(&mut self, handed: Handed, actions: &mut Vec<Action>) {
        let Handed { line, message } = handed;
        // One that has left since.
        let Some(session) = self.sessions.get(&line).copied() else { return };
        match message {
            Some(ToAgent { kind: Some(kind) }) => actions.push(Action::Hand(session, kind)),
            // A message of a newer version.
            Some(ToAgent { kind: None }) => {}
            None => {
                self.forget(session);
                actions.push(Action::HangUp(session));
            }
        }
    }

    /// Takes an agent's line away, and returns it.
    fn forget(&mut self, session: usize) -> Option<u32> {
        let line = self.lines.remove(&session)?;
        self.sessions.remove(&line);
        Some(line)
    }

    /// Has its agents call elsewhere, and calls the controller again.
    fn lose_controller(&mut self, actions: &mut Vec<Action>) {
        self.is_connected = false;
        self.sessions.clear();
        let sessions = std::mem::take(&mut self.lines).into_keys();
        actions.extend(sessions.map(Action::HangUp));
        actions.push(Action::Call);
    }

    /// Gives a connection up that stands and carries nothing, though there are agents: the
    /// controller asks each of them for the time.
    fn watch(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        let since_ns = self.heard_ns.max(self.awake_ns);
        let is_silent = now_ns.saturating_sub(since_ns) >= HANG_UP_NS;
        if self.is_connected && !self.lines.is_empty() && is_silent {
            self.lose_controller(actions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Hello, Ping, Pong};

    const S: u64 = 1_000_000_000;

    fn connected(n_lines_max: usize) -> Relay {
        let mut relay = Relay::new(n_lines_max, 0);
        assert_eq!(relay.take(Event::Connected, 0), []);
        relay
    }

    fn pong() -> From {
        From::Pong(Pong::default())
    }

    fn passed(line: u32, message: From) -> Action {
        let message = FromAgent { kind: Some(message) };
        Action::Pass(Passed { line, what: Some(What::Message(message)) })
    }

    fn handed(line: u32, kind: Option<To>) -> Event {
        Event::Handed(Handed { line, message: kind.map(|kind| ToAgent { kind: Some(kind) }) })
    }

    #[test]
    fn each_agent_has_a_line_that_no_other_had() {
        let mut relay = connected(8);
        for session in [70, 71] {
            assert_eq!(relay.take(Event::Opened(session), S), []);
        }
        assert_eq!(relay.take(Event::Message(71, pong()), S), [passed(1, pong())]);
        let ended = What::Ended("closed".to_owned());
        let ended = Action::Pass(Passed { line: 0, what: Some(ended) });
        assert_eq!(relay.take(Event::Closed(70, "closed".to_owned()), S), [ended]);
        assert_eq!(relay.take(Event::Opened(72), S), []);
        assert_eq!(relay.take(Event::Message(72, pong()), S), [passed(2, pong())]);
        let ping = To::Ping(Ping { id: 5 });
        let of_one = relay.take(handed(2, Some(ping.clone())), S);
        assert_eq!(of_one, [Action::Hand(72, ping.clone())]);
        assert_eq!(relay.take(handed(0, Some(ping)), S), [], "that agent has left");
    }

    #[test]
    fn the_controller_ends_a_session() {
        let mut relay = connected(8);
        relay.take(Event::Opened(70), S);
        assert_eq!(relay.take(handed(0, None), S), [Action::HangUp(70)]);
        assert_eq!(relay.take(Event::Closed(70, "closed".to_owned()), S), [], "it knows");
        assert_eq!(relay.n_agents(), 0);
    }

    #[test]
    fn there_is_room_for_so_many_and_for_none_without_a_controller() {
        let mut relay = Relay::new(1, 0);
        assert_eq!(relay.take(Event::Opened(70), S), [Action::HangUp(70)]);
        relay.take(Event::Connected, S);
        assert_eq!(relay.take(Event::Opened(71), S), []);
        assert_eq!(relay.take(Event::Opened(72), S), [Action::HangUp(72)]);
        let lost = relay.take(Event::Disconnected, S);
        assert_eq!(lost, [Action::HangUp(71), Action::Call]);
        assert!(!relay.has_room());
        relay.take(Event::Connected, 2 * S);
        assert!(relay.has_room());
    }

    #[test]
    fn a_silent_controller_is_called_again_where_there_are_agents() {
        let mut relay = connected(8);
        let mut take = |event: Event, tenths: u64| relay.take(event, tenths * S / 10);
        assert!((1..100).all(|tenth| take(Event::Due, tenth).is_empty()), "none to be heard of");
        take(Event::Opened(70), 100);
        assert!((101..150).all(|tenth| take(Event::Due, tenth).is_empty()), "five seconds");
        assert_eq!(take(Event::Due, 150), [Action::HangUp(70), Action::Call]);
    }

    #[test]
    fn a_relay_that_stood_still_itself_keeps_its_connection() {
        let mut relay = connected(8);
        relay.take(Event::Opened(70), S);
        assert_eq!(relay.take(Event::Due, 20 * S), []);
        assert_eq!(relay.take(handed(0, Some(To::Ping(Ping { id: 1 }))), 20 * S).len(), 1);
    }

    #[test]
    fn versions_that_it_does_not_know_are_not_passed_on() {
        let mut relay = connected(8);
        relay.take(Event::Opened(70), S);
        let later = Hello {
            protocol_major: PROTOCOL_MAJOR,
            protocol_minor: PROTOCOL_MINOR + 1,
            ..Hello::default()
        };
        let said = relay.take(Event::Message(70, From::Hello(later)), S);
        let [Action::Hand(70, To::Bye(bye))] = &said[..] else { panic!("{said:?}") };
        assert!(bye.reason.contains("a later one"), "{}", bye.reason);
        assert_eq!(relay.take(Event::Message(70, pong()), S), []);
        assert_eq!(Relay::unfit(&Relay::hello("1")), None);
        let older = RelayHello { protocol_minor: PROTOCOL_MINOR - 1, ..Relay::hello("1") };
        assert!(Relay::unfit(&older).is_some_and(|text| text.contains("the relay's plimsoll 1")));
    }
}
