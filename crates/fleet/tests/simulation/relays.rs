//! Agents that reach their controller through relays, which fail.
//!
//! A message goes from the agent to its relay, and from there to the controller, each way with a
//! delay of its own. Whose a line is the controller learns from the greeting on it, as in a run.

use std::collections::BTreeMap;

use fleet::agent;
use fleet::controller::{self, LossPolicy};
use fleet::relay::{self, Relay};
use fleet::wire::from_agent::Kind as FromAgent;
use fleet::wire::passed::What;
use fleet::wire::to_agent::Kind as ToAgent;
use fleet::wire::{Handed, Passed, ToAgent as Message};

use super::{
    Due, Harm, MS, Rng, S, START_NS, World, check_orphans, check_run, host, quiet, seconds_of,
};

/// How a host can reach the controller.
#[derive(Default)]
pub(super) struct Ways {
    /// In the order in which they are tried: a relay, or `None` for the controller itself.
    list: Vec<Option<usize>>,
    /// The one that is tried next, or was last.
    at: usize,
    line: Option<Line>,
}

/// The session of an agent with a relay.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Line {
    relay: usize,
    session: usize,
}

impl Line {
    /// Takes a message of the agent's.
    pub(super) fn up(self, kind: FromAgent) -> Leg {
        Leg::ToRelay(self, Box::new(kind))
    }
}

impl Ways {
    /// Returns the session with a relay, where there is one.
    pub(super) fn line(&self) -> Option<Line> {
        self.line
    }
}

/// All relays.
#[derive(Default)]
pub(super) struct Relays {
    posts: Vec<Post>,
    /// Hosts by the sessions that they have had.
    owners: BTreeMap<usize, usize>,
    /// What the controller has of each host by a relay, whatever became of it.
    seats: BTreeMap<usize, Seat>,
    /// Connections that the controller has had at once, of relays and of agents.
    pub(super) n_connections_max: usize,
}

impl Relays {
    /// Returns whether the controller speaks to a host by a relay.
    pub(super) fn has(&self, idx: usize) -> bool {
        self.seats.contains_key(&idx)
    }

    /// Returns the longest delay between a relay and the controller; 0 without relays.
    pub(super) fn delay_ns_max(&self) -> u64 {
        self.posts.iter().map(|post| post.delay_ns).max().unwrap_or(0)
    }
}

/// A relay and its host.
struct Post {
    relay: Relay,
    delay_ns: u64,
    is_alive: bool,
    is_connected: bool,
    /// Number of its connection to the controller: what is on its way in an earlier one is lost.
    connection: u32,
    /// How long its next connection takes, and how long the controller takes to see the end of the
    /// one before.
    away_ns: u64,
    seen_ns: u64,
    frozen_until_ns: u64,
    cut_until_ns: u64,
    /// Hosts by lines, as the controller knows them.
    lines: BTreeMap<u32, usize>,
    /// Nothing overtakes, up and down.
    last_ns: [u64; 2],
}

/// A host's line, in which connection of its relay.
#[derive(Clone, Copy, PartialEq)]
struct Seat {
    relay: usize,
    connection: u32,
    line: u32,
}

/// A part of the way.
pub(super) enum Leg {
    ToRelay(Line, Box<FromAgent>),
    ToController(usize, u32, Box<Passed>),
    FromController(usize, u32, Box<Handed>),
    ToAgent(usize, Line, Box<ToAgent>),
    /// A relay sees the end of an agent's session.
    Closed(Line),
    /// An agent sees it.
    HungUp(usize, Line),
    Connect(usize),
    /// Its connection breaks; it is there again after so long, and the controller sees it after so
    /// long.
    Break(usize, u64, u64),
    /// The controller sees the end of its connection.
    Gone(usize, u32),
    /// It is killed; its agents and the controller see it, or find it silent.
    Kill(usize, bool),
    Freeze(usize, u64),
    /// Nothing passes between it and the controller for so long.
    Cut(usize, u64),
}

impl World {
    /// Adds a relay that is there from the start.
    fn add_relay(&mut self, n_lines_max: usize, delay_ns: u64) {
        self.relays.posts.push(Post {
            relay: Relay::new(n_lines_max, self.now_ns),
            delay_ns,
            is_alive: true,
            is_connected: false,
            connection: 0,
            away_ns: 0,
            seen_ns: 0,
            frozen_until_ns: 0,
            cut_until_ns: 0,
            lines: BTreeMap::new(),
            last_ns: [0; 2],
        });
        let relay = self.relays.posts.len() - 1;
        self.push(START_NS, Due::ByRelay(Leg::Connect(relay)));
    }

    /// Returns until when what it comes to stands still.
    pub(super) fn leg_waits_until_ns(&self, leg: &Leg) -> u64 {
        let frozen_ns = |relay: usize| self.relays.posts[relay].frozen_until_ns;
        match leg {
            Leg::ToRelay(line, _) | Leg::Closed(line) => frozen_ns(line.relay),
            Leg::FromController(relay, ..) | Leg::Connect(relay) => frozen_ns(*relay),
            Leg::ToController(..) | Leg::Gone(..) => self.paused_until_ns,
            Leg::ToAgent(idx, ..) | Leg::HungUp(idx, _) => self.hosts[*idx].frozen_until_ns,
            Leg::Break(..) | Leg::Kill(..) | Leg::Freeze(..) | Leg::Cut(..) => 0,
        }
    }

    pub(super) fn take_leg(&mut self, leg: Leg) {
        match leg {
            Leg::ToRelay(line, kind) => {
                self.relay_does(line.relay, relay::Event::Message(line.session, *kind));
            }
            Leg::ToController(relay, connection, passed) => {
                self.controller_takes(relay, connection, *passed);
            }
            Leg::FromController(relay, connection, handed) => {
                if self.relays.posts[relay].connection == connection {
                    self.relay_does(relay, relay::Event::Handed(*handed));
                }
            }
            Leg::ToAgent(idx, line, kind) => {
                if self.hosts[idx].ways.line == Some(line) {
                    self.agent_does(idx, agent::Event::Message(*kind));
                }
            }
            Leg::Closed(line) => {
                let closed = relay::Event::Closed(line.session, "closed".to_owned());
                self.relay_does(line.relay, closed);
            }
            Leg::HungUp(idx, line) => {
                if self.hosts[idx].ways.line == Some(line) {
                    self.hosts[idx].ways.line = None;
                    self.hosts[idx].is_connected = false;
                    self.agent_does(idx, agent::Event::Disconnected);
                }
            }
            Leg::Connect(relay) => {
                let post = &mut self.relays.posts[relay];
                if post.is_alive && !post.is_connected {
                    post.is_connected = true;
                    self.relay_does(relay, relay::Event::Connected);
                    self.count_connections(0);
                }
            }
            Leg::Break(relay, away_ns, seen_ns) => {
                let post = &mut self.relays.posts[relay];
                (post.away_ns, post.seen_ns) = (away_ns, seen_ns);
                if post.is_connected {
                    self.relay_does(relay, relay::Event::Disconnected);
                }
            }
            Leg::Gone(relay, connection) => self.controller_loses(relay, connection),
            Leg::Kill(relay, is_seen) => self.kill_relay(relay, is_seen),
            Leg::Freeze(relay, length_ns) => {
                self.relays.posts[relay].frozen_until_ns = self.now_ns + length_ns;
            }
            Leg::Cut(relay, length_ns) => {
                self.relays.posts[relay].cut_until_ns = self.now_ns + length_ns;
            }
        }
    }

    fn relay_does(&mut self, relay: usize, event: relay::Event) {
        let post = &mut self.relays.posts[relay];
        if !post.is_alive {
            return;
        }
        for action in post.relay.take(event, self.now_ns) {
            match action {
                relay::Action::Pass(passed) => {
                    let connection = self.relays.posts[relay].connection;
                    let leg = Leg::ToController(relay, connection, Box::new(passed));
                    self.send_leg(relay, true, leg);
                }
                relay::Action::Hand(session, kind) => {
                    let line = Line { relay, session };
                    let idx = self.relays.owners[&session];
                    let leg = Leg::ToAgent(idx, line, Box::new(kind));
                    self.send(idx, false, Due::ByRelay(leg));
                }
                relay::Action::HangUp(session) => {
                    let idx = self.relays.owners[&session];
                    let leg = Leg::HungUp(idx, Line { relay, session });
                    self.send(idx, false, Due::ByRelay(leg));
                }
                relay::Action::Call => self.relay_calls(relay),
            }
        }
    }

    /// Sends something between a relay and the controller.
    fn send_leg(&mut self, relay: usize, is_up: bool, leg: Leg) {
        let post = &mut self.relays.posts[relay];
        let jitter_ns = self.rng.below(post.delay_ns + 1);
        let at_ns = (self.now_ns + post.delay_ns + jitter_ns).max(post.cut_until_ns);
        let last_ns = &mut post.last_ns[usize::from(is_up)];
        *last_ns = at_ns.max(*last_ns + 1);
        let at_ns = *last_ns;
        self.push(at_ns, Due::ByRelay(leg));
    }

    /// A relay gives its connection up, if there is one, and makes another.
    fn relay_calls(&mut self, relay: usize) {
        let post = &mut self.relays.posts[relay];
        let gone = Leg::Gone(relay, post.connection);
        let seen_ns = self.now_ns + std::mem::take(&mut post.seen_ns);
        let away_ns = std::mem::take(&mut post.away_ns);
        let at_ns = (self.now_ns + away_ns).max(post.cut_until_ns) + MS;
        post.is_connected = false;
        post.connection += 1;
        self.push(seen_ns, Due::ByRelay(gone));
        self.push(at_ns, Due::ByRelay(Leg::Connect(relay)));
    }

    fn kill_relay(&mut self, relay: usize, is_seen: bool) {
        let post = &mut self.relays.posts[relay];
        let gone = Leg::Gone(relay, post.connection);
        (post.is_alive, post.is_connected) = (false, false);
        post.connection += 1;
        if !is_seen {
            return;
        }
        self.push(self.now_ns + MS, Due::ByRelay(gone));
        for idx in 0..self.hosts.len() {
            if let Some(line) = self.hosts[idx].ways.line
                && line.relay == relay
            {
                self.push(self.now_ns + MS, Due::ByRelay(Leg::HungUp(idx, line)));
            }
        }
    }

    /// The controller takes what a relay has passed on.
    fn controller_takes(&mut self, relay: usize, connection: u32, passed: Passed) {
        let post = &mut self.relays.posts[relay];
        if post.connection != connection {
            // It was on its way when the connection broke.
            return;
        }
        let Passed { line, what } = passed;
        let seat = Seat { relay, connection, line };
        let known = post.lines.get(&line).copied();
        match what {
            Some(What::Message(message)) => {
                let kind = message.kind.expect("agents say nothing that has no kind");
                let idx = match (known, &kind) {
                    (Some(idx), _) => idx,
                    (None, FromAgent::Hello(hello)) => {
                        let idx = hello.agent[1..].parse().expect("a host's name");
                        post.lines.insert(line, idx);
                        self.relays.seats.insert(idx, seat);
                        idx
                    }
                    (None, _) => panic!("a line begins with a greeting"),
                };
                if self.relays.seats.get(&idx) == Some(&seat) {
                    self.controller_does(controller::Event::Message(idx, kind));
                }
            }
            Some(What::Ended(reason)) => {
                let idx = known.filter(|idx| self.relays.seats.get(idx) == Some(&seat));
                if let Some(idx) = idx {
                    self.controller_does(controller::Event::Gone(idx, reason));
                }
            }
            None => panic!("a relay says something"),
        }
    }

    /// The controller sees the end of a relay's connection.
    fn controller_loses(&mut self, relay: usize, connection: u32) {
        let is_its = |seat: &Seat| seat.relay == relay && seat.connection == connection;
        let seats = self.relays.seats.iter().filter(|(_, seat)| is_its(seat));
        let hosts: Vec<usize> = seats.map(|(idx, _)| *idx).collect();
        for idx in hosts {
            self.controller_does(controller::Event::Gone(idx, "its relay is gone".to_owned()));
        }
    }

    /// Sends what the controller has for a host, by the line that it knows last.
    pub(super) fn hand(&mut self, idx: usize, kind: ToAgent) {
        let Seat { relay, connection, line } = self.relays.seats[&idx];
        let post = &self.relays.posts[relay];
        if post.is_connected && post.connection == connection {
            let handed = Handed { line, message: Some(Message { kind: Some(kind) }) };
            self.send_leg(relay, false, Leg::FromController(relay, connection, Box::new(handed)));
        }
    }

    /// Connects a host by a relay, or has it try again. Returns false where it is the controller's
    /// turn.
    pub(super) fn connects_by_relay(&mut self, idx: usize) -> bool {
        let n_ways = self.hosts[idx].ways.list.len();
        for _ in 0..n_ways {
            let ways = &mut self.hosts[idx].ways;
            let Some(relay) = ways.list[ways.at % n_ways] else {
                self.relays.seats.remove(&idx);
                self.count_connections(1);
                return false;
            };
            let post = &self.relays.posts[relay];
            let answers = post.is_alive && post.frozen_until_ns <= self.now_ns;
            if !answers || !post.relay.has_room() {
                ways.at += 1;
                continue;
            }
            let session = self.relays.owners.len();
            self.relays.owners.insert(session, idx);
            ways.line = Some(Line { relay, session });
            self.hosts[idx].is_connected = true;
            self.hosts[idx].n_connections += 1;
            self.relay_does(relay, relay::Event::Opened(session));
            self.agent_does(idx, agent::Event::Connected);
            return true;
        }
        if n_ways > 0 {
            self.push(self.now_ns + S, Due::Connect(idx));
        }
        n_ways > 0
    }

    /// Ends a host's session with its relay, which sees that after so long. Returns false where it
    /// has none.
    pub(super) fn leave_relay(&mut self, idx: usize, seen_ns: u64) -> bool {
        let ways = &mut self.hosts[idx].ways;
        let has_ways = !ways.list.is_empty();
        // Another one is called first.
        ways.at += usize::from(has_ways);
        let Some(line) = ways.line.take() else { return false };
        let at_ns = self.now_ns + self.hosts[idx].delay_ns + seen_ns;
        self.push(at_ns, Due::ByRelay(Leg::Closed(line)));
        true
    }

    pub(super) fn relays_look(&mut self) {
        for relay in 0..self.relays.posts.len() {
            if self.relays.posts[relay].frozen_until_ns <= self.now_ns {
                self.relay_does(relay, relay::Event::Due);
            }
        }
    }

    /// Counts those that are there, and so many that are about to be.
    fn count_connections(&mut self, n_coming: usize) {
        let is_direct = |host: &&super::Host| host.is_connected && host.ways.line.is_none();
        let n_direct = self.hosts.iter().filter(is_direct).count();
        let n_relays = self.relays.posts.iter().filter(|post| post.is_connected).count();
        let n_max = &mut self.relays.n_connections_max;
        *n_max = (*n_max).max(n_direct + n_relays + n_coming);
    }
}

/// Hosts behind relays of so many lines each, which all can call, one after the other from their
/// own.
fn behind(
    n_hosts: usize,
    (n_relays, n_lines): (usize, usize),
    plan: (u32, u32),
    policy: LossPolicy,
) -> World {
    let mut world = quiet(n_hosts, plan, policy);
    for _ in 0..n_relays {
        world.add_relay(n_lines, 200_000);
    }
    for idx in 0..n_hosts {
        world.hosts[idx] = host(idx, plan, true, &mut Rng(7 + idx as u64));
        world.hosts[idx].ways.list = (0..n_relays).map(Some).collect();
        world.hosts[idx].ways.at = idx % n_relays;
        world.push(START_NS + S, Due::Connect(idx));
    }
    world
}

/// Runs until the step has begun, and returns when.
fn begun_ns(world: &mut World) -> u64 {
    while world.begun.is_empty() {
        assert!(world.step());
    }
    world.now_ns
}

#[test]
fn agents_of_a_relay_that_is_killed_call_another_and_nothing_is_missing() {
    for is_seen in [true, false] {
        let mut world = behind(6, (2, 6), (2, 15), LossPolicy::Abort);
        let begun_ns = begun_ns(&mut world);
        world.push(begun_ns + 7 * S, Due::ByRelay(Leg::Kill(0, is_seen)));
        world.run_to_end();
        assert_eq!(world.lost(), [None, None, None, None, None, None]);
        assert_eq!(world.begun, [0, 1]);
        assert_eq!(seconds_of(&world), [30; 6], "each second once");
        let n_connections = world.hosts.iter().map(|host| host.n_connections);
        assert_eq!(n_connections.collect::<Vec<_>>(), [2, 1, 2, 1, 2, 1]);
    }
}

#[test]
fn agents_without_a_relay_that_has_room_call_the_controller() {
    let mut world = behind(6, (2, 3), (1, 20), LossPolicy::Abort);
    for host in &mut world.hosts {
        host.ways.list.push(None);
        host.ways.at = 0;
    }
    let begun_ns = begun_ns(&mut world);
    assert_eq!(world.relays.n_connections_max, 2, "those of the relays");
    world.push(begun_ns + 5 * S, Due::ByRelay(Leg::Kill(1, true)));
    world.run_to_end();
    assert_eq!(world.lost(), [None, None, None, None, None, None]);
    assert_eq!(seconds_of(&world), [20; 6]);
    assert_eq!(world.relays.n_connections_max, 4, "one relay, and three agents");
}

#[test]
fn a_relay_whose_connection_breaks_or_stands_still_is_there_again() {
    type Failure = fn() -> Leg;
    let failures: [Failure; 3] = [
        || Leg::Break(0, 2 * S, 0),
        // The controller sees the end of it long after the next one.
        || Leg::Break(0, 300 * MS, 30 * S),
        || Leg::Cut(0, 7 * S),
    ];
    for (nth, failure) in failures.iter().enumerate() {
        let mut world = behind(3, (1, 3), (1, 40), LossPolicy::Abort);
        let begun_ns = begun_ns(&mut world);
        world.push(begun_ns + 10 * S, Due::ByRelay(failure()));
        world.run_to_end();
        assert_eq!(world.lost(), [None, None, None], "{nth}");
        assert_eq!(seconds_of(&world), [40; 3], "{nth}");
        // One that finds the silence before its relay does calls that in vain once.
        assert!(world.hosts.iter().all(|host| (2..=3).contains(&host.n_connections)), "{nth}");
    }
}

#[test]
fn a_relay_that_stood_still_says_nothing_for_agents_that_have_left_it() {
    let mut world = behind(4, (2, 4), (1, 40), LossPolicy::Abort);
    let begun_ns = begun_ns(&mut world);
    world.push(begun_ns + 10 * S, Due::ByRelay(Leg::Freeze(0, 12 * S)));
    world.run_to_end();
    assert_eq!(world.lost(), [None, None, None, None]);
    assert_eq!(seconds_of(&world), [40; 4]);
}

/// Hosts of a large run, and seconds of it.
const N_HOSTS: usize = 10_000;
const N_SECONDS: u32 = 5;

#[test]
fn ten_thousand_agents_through_a_hundred_relays() {
    let mut world = behind(N_HOSTS, (100, 128), (1, N_SECONDS), LossPolicy::Continue);
    let begun_ns = begun_ns(&mut world);
    for (relay, is_seen) in [(7, true), (8, false)] {
        world.push(begun_ns + 2 * S, Due::ByRelay(Leg::Kill(relay, is_seen)));
    }
    world.push(begun_ns + 2 * S, Due::ByRelay(Leg::Break(50, S, S)));
    // Those that were closed before the silent one is given up have the run end before.
    let harm = Harm { has_breaks: true, ..Harm::default() };
    check_run(7, &mut world, &harm);
    assert_eq!(world.begun, [0]);
    assert!(world.lost().iter().all(Option::is_none));
    assert_eq!(seconds_of(&world), vec![N_SECONDS as usize; N_HOSTS]);
    assert_eq!(world.relays.n_connections_max, 100);
    let n_again = world.hosts.iter().filter(|host| host.n_connections > 1).count();
    assert_eq!(n_again, 300, "those of three relays");
}

/// Puts one to three relays before the hosts of a random world, and does something to them.
fn put_relays(seed: u64, world: &mut World, harm: &mut Harm) {
    let mut rng = Rng(seed ^ 0x5e1a_5e1a);
    let n_relays = 1 + rng.below(3) as usize;
    let n_hosts = world.hosts.len();
    for _ in 0..n_relays {
        let n_lines = if rng.is_one_in(3) { n_hosts.div_ceil(2) } else { n_hosts };
        world.add_relay(n_lines, [10_000, 200_000, 5 * MS][rng.below(3) as usize]);
    }
    for idx in 0..n_hosts {
        let first = rng.below(n_relays as u64) as usize;
        let mut list: Vec<Option<usize>> =
            (0..n_relays).map(|nth| Some((first + nth) % n_relays)).collect();
        list.push(None);
        world.hosts[idx].ways.list = list;
    }
    let n_failures = rng.below(3);
    for _ in 0..n_failures {
        let relay = rng.below(n_relays as u64) as usize;
        let (length_ns, seen_ns) = (MS + rng.below(20 * S), rng.below(10 * S));
        let leg = match rng.below(5) {
            0 => Leg::Kill(relay, true),
            1 => Leg::Kill(relay, false),
            2 => Leg::Break(relay, length_ns, seen_ns),
            3 => Leg::Freeze(relay, length_ns),
            _ => Leg::Cut(relay, length_ns),
        };
        let at_ns = START_NS + rng.below(40 * S);
        world.push(at_ns, Due::ByRelay(leg));
    }
    if n_failures > 1 || (n_failures > 0 && harm.has_breaks) {
        // One after the other an agent may be away for long: eight seconds by itself, and five
        // until it finds a relay silent.
        harm.hosts.extend(0..n_hosts);
    }
    harm.has_breaks |= n_failures > 0;
}

/// Seeds of a usual test, and of a long one.
const N_SEEDS: u64 = 1_000;
const N_SEEDS_LONG: u64 = 10_000;

#[test]
#[expect(clippy::disallowed_methods, reason = "a long test is asked for by a variable")]
fn every_run_through_relays_ends_in_a_true_record() {
    let (first, n_seeds) = match std::env::var("PLIMSOLL_LONG_TESTS") {
        Ok(first) => (first.parse().expect("the first seed"), N_SEEDS_LONG),
        Err(_) => (1, N_SEEDS),
    };
    for seed in first..first + n_seeds {
        let (mut world, mut harm) = super::world(seed, 1);
        // Behind a relay are those that call again.
        if world.hosts[0].calls_again {
            put_relays(seed, &mut world, &mut harm);
            check_run(seed, &mut world, &harm);
            check_orphans(seed, world);
        }
    }
}
