//! Agents that come by themselves, as a state machine: who is there and what they are called, until
//! there are enough for a run.
//!
//! It does no I/O and reads no clock, as [`crate::controller`], which takes over from it.

use std::collections::BTreeMap;

use crate::controller::DEAD_NS;
use crate::hosts::is_word;
use crate::version::Version;
use crate::wire::from_agent::Kind as From;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Bye, Hello, Ping};

/// Time between two questions whether those who wait are still there. They, too, want to hear
/// something now and then.
const PING_NS: u64 = 1_000_000_000;

/// What is asked with. The controller counts up from 0, and takes no answer to this for its own.
const PING_ID: u64 = u64::MAX;

/// Longest name of a host that the system has.
const NAME_BYTES_MAX: usize = 253;

/// What comes to the lobby. Agents are named by their connections.
#[derive(Clone, Debug)]
pub enum Event {
    /// An agent sent a message.
    Message(usize, From),
    /// A connection has ended.
    Closed(usize),
    /// The user wants the end.
    Stop,
    /// Time has passed.
    Due,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Send a message.
    Send(usize, To),
    /// Tell the user.
    Tell(LobbyNews),
    /// Nothing more is waited for.
    Close(Closing),
}

/// What the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LobbyNews {
    /// An agent has come: its name, how many there are, and how many are wanted.
    Came(String, usize, usize),
    /// An agent that waited is gone: the same.
    Left(String, usize, usize),
}

/// How the waiting ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Closing {
    /// The run may begin with these, in the order of their names.
    Begin(Vec<Guest>),
    /// Too few came in time: their names.
    TooFew(Vec<String>),
    /// This agent cannot be driven, for this reason.
    Unfit(String, String),
    /// The user wants the end.
    Stopped,
}

/// An agent that waits for the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Guest {
    /// Its connection.
    pub connection: usize,
    /// What it is called; no other is.
    pub name: String,
    /// What it said first.
    pub hello: Hello,
    heard_ns: u64,
}

/// How many agents are waited for, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// So many are a full house.
    pub n_agents: usize,
    /// So many do when the time is over.
    pub n_agents_min: usize,
    /// When it is, in the controller's time.
    pub until_ns: u64,
}

/// The lobby of a run.
#[derive(Debug)]
pub struct Lobby {
    wanted: Wanted,
    guests: BTreeMap<usize, Guest>,
    next_ping_ns: u64,
    is_closed: bool,
}

impl Lobby {
    /// Opens it.
    ///
    /// # Panics
    /// Where no agent is wanted.
    pub fn new(wanted: Wanted) -> Self {
        assert!(wanted.n_agents > 0, "a run needs an agent");
        Lobby { wanted, guests: BTreeMap::new(), next_ping_ns: 0, is_closed: false }
    }

    /// Takes an event that came at `now_ns`, and returns what follows, in order.
    pub fn take(&mut self, event: Event, now_ns: u64) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.is_closed {
            return actions;
        }
        match event {
            Event::Message(connection, From::Hello(hello)) => {
                self.greet(connection, hello, now_ns, &mut actions);
            }
            Event::Message(connection, _) => {
                if let Some(guest) = self.guests.get_mut(&connection) {
                    guest.heard_ns = now_ns;
                }
            }
            Event::Closed(connection) => self.leave(connection, &mut actions),
            Event::Stop => self.close(Closing::Stopped, &mut actions),
            Event::Due => {}
        }
        self.ask(now_ns, &mut actions);
        if !self.is_closed && now_ns >= self.wanted.until_ns {
            if self.guests.len() >= self.wanted.n_agents_min.max(1) {
                self.begin(&mut actions);
            } else {
                let came = sorted(self.guests.values());
                let names = came.iter().map(|guest| guest.name.clone()).collect();
                self.close(Closing::TooFew(names), &mut actions);
            }
        }
        actions
    }

    /// Takes an agent in, or says why not.
    fn greet(&mut self, connection: usize, hello: Hello, now_ns: u64, actions: &mut Vec<Action>) {
        if self.guests.contains_key(&connection) {
            return;
        }
        if hello.has_run {
            let reason = "it is in a run of another controller, which is gone".to_owned();
            actions.push(Action::Send(connection, To::Bye(Bye { reason })));
            return;
        }
        if let Some(before) = self.connection_before(&hello)
            && let Some(guest) = self.guests.remove(&before)
        {
            // It called again before the end of its connection was seen.
            let guest = Guest { connection, heard_ns: now_ns, ..guest };
            self.guests.insert(connection, guest);
            return;
        }
        let base = hello.agent.clone();
        if !is_word(&base) || base.len() > NAME_BYTES_MAX {
            let reason = "it has no name that a host may have: give it one with --name".to_owned();
            actions.push(Action::Send(connection, To::Bye(Bye { reason })));
            return;
        }
        let name = self.distinct(&base);
        if let Some(reason) = Version::OWN.unfit(&hello) {
            let bye = To::Bye(Bye { reason: reason.clone() });
            actions.push(Action::Send(connection, bye));
            self.close(Closing::Unfit(name, reason), actions);
            return;
        }
        let guest = Guest { connection, name: name.clone(), hello, heard_ns: now_ns };
        self.guests.insert(connection, guest);
        actions.push(Action::Tell(LobbyNews::Came(name, self.guests.len(), self.wanted.n_agents)));
        if self.guests.len() == self.wanted.n_agents {
            self.begin(actions);
        }
    }

    /// Returns the connection by which an agent came that calls again.
    fn connection_before(&self, hello: &Hello) -> Option<usize> {
        let is_it = |guest: &&Guest| hello.calls_again && guest.hello == *hello;
        self.guests.values().find(is_it).map(|guest| guest.connection)
    }

    /// Returns a name that no one has: where several share a host, the second is `vm1#2`.
    fn distinct(&self, base: &str) -> String {
        let is_free = |name: &String| self.guests.values().all(|guest| guest.name != *name);
        let numbered = (2..).map(|number: u32| format!("{base}#{number}"));
        let mut names = std::iter::once(base.to_owned()).chain(numbered);
        names.find(is_free).expect("there are more numbers than guests")
    }

    fn leave(&mut self, connection: usize, actions: &mut Vec<Action>) {
        if let Some(guest) = self.guests.remove(&connection) {
            let (n, n_wanted) = (self.guests.len(), self.wanted.n_agents);
            actions.push(Action::Tell(LobbyNews::Left(guest.name, n, n_wanted)));
        }
    }

    /// Asks those who wait whether they are there, and gives up those who are not.
    fn ask(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if self.is_closed || now_ns < self.next_ping_ns {
            return;
        }
        self.next_ping_ns = now_ns + PING_NS;
        let is_silent = |guest: &Guest| now_ns.saturating_sub(guest.heard_ns) >= DEAD_NS;
        let silent = self.guests.values().filter(|guest| is_silent(guest));
        let silent: Vec<usize> = silent.map(|guest| guest.connection).collect();
        for connection in silent {
            let reason = "nothing came from it for too long".to_owned();
            actions.push(Action::Send(connection, To::Bye(Bye { reason })));
            self.leave(connection, actions);
        }
        for connection in self.guests.keys() {
            actions.push(Action::Send(*connection, To::Ping(Ping { id: PING_ID })));
        }
    }

    fn begin(&mut self, actions: &mut Vec<Action>) {
        self.is_closed = true;
        let guests = sorted(self.guests.values()).into_iter().cloned().collect();
        actions.push(Action::Close(Closing::Begin(guests)));
    }

    /// Sends all away.
    fn close(&mut self, closing: Closing, actions: &mut Vec<Action>) {
        self.is_closed = true;
        for connection in self.guests.keys() {
            let reason = "the run does not begin".to_owned();
            actions.push(Action::Send(*connection, To::Bye(Bye { reason })));
        }
        actions.push(Action::Close(closing));
    }
}

/// Sorts by names, numbers in them by their values: where an agent stands does not depend on who
/// was quicker.
fn sorted<'a>(guests: impl Iterator<Item = &'a Guest>) -> Vec<&'a Guest> {
    let mut guests: Vec<&Guest> = guests.collect();
    guests.sort_by_cached_key(|guest| name_key(&guest.name));
    guests
}

/// Returns a name's parts: text, and the digits behind it without leading zeros, the fewer first.
fn name_key(name: &str) -> Vec<(String, usize, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let (text, tail) = rest.split_at(rest.find(is_digit).unwrap_or(rest.len()));
        let (digits, tail) = tail.split_at(tail.find(|c| !is_digit(c)).unwrap_or(tail.len()));
        let number = digits.trim_start_matches('0');
        parts.push((text.to_owned(), number.len(), number.to_owned()));
        rest = tail;
    }
    parts
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Pong;
    use crate::{PROTOCOL_MAJOR, PROTOCOL_MINOR};

    const S: u64 = 1_000_000_000;

    fn hello(name: &str) -> From {
        From::Hello(Hello {
            protocol_major: PROTOCOL_MAJOR,
            protocol_minor: PROTOCOL_MINOR,
            program_version: "0.1.0".to_owned(),
            agent: name.to_owned(),
            incarnation: 1,
            calls_again: false,
            has_run: false,
            run_idx: 0,
        })
    }

    fn lobby(n_agents: usize, n_agents_min: usize) -> Lobby {
        Lobby::new(Wanted { n_agents, n_agents_min, until_ns: 300 * S })
    }

    fn closing(actions: &[Action]) -> Option<&Closing> {
        actions.iter().find_map(|action| match action {
            Action::Close(closing) => Some(closing),
            Action::Send(..) | Action::Tell(_) => None,
        })
    }

    fn byes<'a>(actions: &'a [Action]) -> Vec<(usize, &'a str)> {
        let bye = |action: &'a Action| match action {
            Action::Send(connection, To::Bye(bye)) => Some((*connection, &*bye.reason)),
            Action::Send(..) | Action::Tell(_) | Action::Close(_) => None,
        };
        actions.iter().filter_map(bye).collect()
    }

    #[test]
    fn a_full_house_begins_in_the_order_of_names() {
        let mut lobby = lobby(5, 5);
        let names = ["vm10", "vm2", "vm2", "vm1", "vm2"];
        let mut last = Vec::new();
        for (connection, name) in names.iter().enumerate() {
            assert_eq!(closing(&last), None);
            last = lobby.take(Event::Message(connection, hello(name)), S);
        }
        let Some(Closing::Begin(guests)) = closing(&last) else { panic!("{last:?}") };
        let found: Vec<(usize, &str)> =
            guests.iter().map(|guest| (guest.connection, &*guest.name)).collect();
        let expected = [(3, "vm1"), (1, "vm2"), (2, "vm2#2"), (4, "vm2#3"), (0, "vm10")];
        assert_eq!(found, expected);
        // What comes later is not of its concern.
        assert_eq!(lobby.take(Event::Message(9, hello("vm3")), 2 * S), []);
    }

    #[test]
    fn one_that_left_gives_its_place_and_name_back() {
        let mut lobby = lobby(2, 2);
        lobby.take(Event::Message(0, hello("vm1")), S);
        let left = lobby.take(Event::Closed(0), S);
        assert!(left.contains(&Action::Tell(LobbyNews::Left("vm1".to_owned(), 0, 2))), "{left:?}");
        lobby.take(Event::Message(1, hello("vm1")), S);
        let last = lobby.take(Event::Message(2, hello("vm2")), S);
        let Some(Closing::Begin(guests)) = closing(&last) else { panic!("{last:?}") };
        assert_eq!(guests.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["vm1", "vm2"]);
    }

    #[test]
    fn too_few_in_time_are_named_and_sent_home() {
        let mut lobby = lobby(3, 3);
        for (connection, name) in [(0, "b"), (1, "a")] {
            lobby.take(Event::Message(connection, hello(name)), 299 * S);
        }
        let last = lobby.take(Event::Due, 300 * S);
        let too_few = Closing::TooFew(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(closing(&last), Some(&too_few));
        let reason = "the run does not begin";
        assert_eq!(byes(&last), [(0, reason), (1, reason)]);
    }

    #[test]
    fn enough_in_time_begin_without_the_others() {
        let mut lobby = lobby(3, 1);
        lobby.take(Event::Message(7, hello("a")), 299 * S);
        let last = lobby.take(Event::Due, 300 * S);
        assert!(matches!(closing(&last), Some(Closing::Begin(guests)) if guests.len() == 1));
    }

    #[test]
    fn those_who_wait_are_asked_and_the_silent_lose_their_place() {
        let mut lobby = lobby(2, 2);
        lobby.take(Event::Message(0, hello("quick")), 0);
        lobby.take(Event::Message(1, From::Pong(Pong::default())), 0);
        let mut gone_at = None;
        for second in 1..=60 {
            let actions = lobby.take(Event::Due, second * S);
            if second < 20 {
                let ping = Action::Send(0, To::Ping(Ping { id: PING_ID }));
                assert!(actions.contains(&ping), "{second}: {actions:?}");
                let pong = Pong { id: PING_ID, ..Pong::default() };
                lobby.take(Event::Message(0, From::Pong(pong)), second * S);
            } else if !byes(&actions).is_empty() {
                gone_at.get_or_insert(second);
            }
        }
        assert_eq!(gone_at, Some(29), "ten seconds after its last word");
    }

    #[test]
    fn another_version_ends_it_and_a_wrong_name_does_not() {
        let mut lobby = lobby(2, 2);
        let wrong = lobby.take(Event::Message(0, hello("a b\u{1b}")), S);
        assert!(byes(&wrong)[0].1.contains("--name") && closing(&wrong).is_none(), "{wrong:?}");
        lobby.take(Event::Message(1, hello("a")), S);
        let From::Hello(mut old) = hello("b") else { panic!("it is one") };
        old.protocol_major = PROTOCOL_MAJOR + 1;
        let last = lobby.take(Event::Message(2, From::Hello(old)), S);
        let Some(Closing::Unfit(name, reason)) = closing(&last) else { panic!("{last:?}") };
        let both = [format!("{}.", PROTOCOL_MAJOR + 1), format!("{PROTOCOL_MAJOR}.")];
        assert_eq!(name, "b");
        assert!(both.iter().all(|version| reason.contains(version)), "{reason}");
        assert_eq!(byes(&last).len(), 2, "{last:?}");
    }
}
