//! A controller and its agents in simulated time: connections that delay and break, clocks that
//! differ and drift, hosts that refuse, freeze, die and start anew, a controller that stands still,
//! and users who press Ctrl-C. Every random case is a seed, which a failure names.
//!
//! What each agent did is counted here, apart from the code under test.

#[path = "simulation/calling.rs"]
mod calling;
#[path = "simulation/relays.rs"]
mod relays;
#[path = "simulation/restart.rs"]
mod restart;
#[path = "simulation/series.rs"]
mod series;

use std::collections::{BTreeMap, BTreeSet};

use fleet::agent::{self, Agent};
use fleet::controller::{self, Controller, DEAD_NS, LossPolicy, NOW_NS, News};
use fleet::ledger::Head;
use fleet::merge::merge;
use fleet::wire::Assignment;
use fleet::wire::from_agent::Kind as FromAgent;
use fleet::wire::to_agent::Kind as ToAgent;
use record::{HostShareRecord, Interval, JobRecord, LossRecord, Outcome, Record};

const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

/// What the controller's clock reads at the start: that of an agent may read an hour less.
const START_NS: u64 = 7200 * S;

/// How long hosts may take to come.
const JOIN_NS: u64 = 60 * S;

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn is_one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// What is due at a time.
enum Due {
    ToController(usize, Box<FromAgent>),
    ToAgent(usize, Box<ToAgent>),
    /// An agent's own: what its run does next.
    Run(usize, u64, RunStep),
    Connect(usize),
    Disconnect(usize),
    /// Its connection ends, and what is on its way is lost; it is there again after so long at the
    /// earliest. The controller sees the end after so long.
    Break(usize, u64, u64),
    /// The controller sees the end of a host's connection of this number.
    Gone(usize, u32),
    Kill(usize),
    /// It is killed, and another one starts in its place.
    Restart(usize),
    Freeze(usize, u64),
    /// Nothing passes between it and the controller for so long.
    Cut(usize, u64),
    /// The controller stands still.
    Pause(u64),
    CtrlC,
    Look,
    /// Something on its way by a relay, or to one.
    ByRelay(relays::Leg),
}

#[derive(Clone, Copy)]
enum RunStep {
    Prepared,
    Ready(u32),
    /// It has laid out the files of a step.
    LaidOut(u32),
    Second(u32, u32),
}

/// A host: its agent and its run.
struct Host {
    agent: Agent,
    /// What its clock reads more than the controller's at the start, and how much faster it goes,
    /// parts per million.
    offset_ns: i64,
    drift_ppm: i64,
    delay_ns: u64,
    /// Its agent calls again where its connection ends, and how long that takes.
    calls_again: bool,
    away_ns: u64,
    /// Connections that it has had.
    n_connections: u32,
    /// How it can reach the controller, and how it does.
    ways: relays::Ways,
    is_alive: bool,
    is_connected: bool,
    /// Until when it stands still.
    frozen_until_ns: u64,
    /// Until when nothing passes.
    cut_until_ns: u64,
    record: Record,
    /// Operations counted here, by frame: what is true.
    truth: Vec<u64>,
    n_ios_per_s: u64,
    n_steps: u32,
    seconds: u32,
    /// It does not run what it is to run.
    refuses: bool,
    /// Its I/O never comes back once it is to end.
    hangs: bool,
    /// The frame that is damaged on its way.
    damaged_seq: Option<u64>,
    has_run: bool,
    has_ended: bool,
    /// The last step whose files it may lay out, and the one that it waits to lay out.
    turn: Option<u32>,
    awaits_turn: Option<u32>,
    /// When each step begins, in the controller's time.
    begins_ns: BTreeMap<u32, u64>,
}

struct World {
    now_ns: u64,
    queue: BTreeMap<(u64, u64), Due>,
    n_queued: u64,
    hosts: Vec<Host>,
    relays: relays::Relays,
    controller: Controller,
    /// How the run began, and what came to its controller, where that is kept.
    head: Head,
    events: Option<Vec<(u64, controller::Event)>>,
    /// Until when the controller stands still.
    paused_until_ns: u64,
    n_interrupts: u32,
    /// By when it must have ended after the second one.
    ends_until_ns: Option<u64>,
    /// Steps in the order in which they were begun.
    begun: Vec<u32>,
    /// Hosts lay out files in turn: all have the same ones.
    has_turns: bool,
    /// Some runs are of the first hosts alone, as these numbers say.
    draws_takers: bool,
    takers: Rng,
    /// How often the files of each step were laid out, and those that are there.
    n_layouts: BTreeMap<u32, u32>,
    laid_out: BTreeSet<u32>,
    is_finished: bool,
    /// The controller is gone for good.
    is_over: bool,
    /// Runs of the series, that which goes on among them.
    n_runs: u32,
    rng: Rng,
    /// Order of a connection: nothing overtakes.
    last_ns: BTreeMap<(usize, bool), u64>,
}

impl Host {
    fn clock(&self, now_ns: u64) -> u64 {
        let drifted = i128::from(now_ns - START_NS) * i128::from(self.drift_ppm) / 1_000_000;
        (i128::from(now_ns) + i128::from(self.offset_ns) + drifted) as u64
    }

    /// Returns the controller's time at which this clock reads `at_ns`.
    fn controller_time(&self, at_ns: u64) -> u64 {
        let since = i128::from(at_ns) - i128::from(self.offset_ns) - i128::from(START_NS);
        let passed = since * 1_000_000 / i128::from(1_000_000 + self.drift_ppm);
        (i128::from(START_NS) + passed).max(0) as u64
    }

    /// Begins a run, with nothing of the one before.
    fn begin(&mut self) {
        (self.has_run, self.has_ended) = (true, false);
        (self.record, self.truth) = (Record::default(), Vec::new());
        (self.turn, self.awaits_turn) = (None, None);
        self.begins_ns.clear();
    }

    fn new_agent(&self, idx: usize, incarnation: u64, now_ns: u64) -> Agent {
        let agent = Agent::new(format!("h{idx}"), "0".to_owned(), incarnation, self.clock(now_ns));
        if self.calls_again { agent.calling_again() } else { agent }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "begun {:?}, lost {:?}", self.begun, self.lost())
    }
}

impl World {
    fn push(&mut self, at_ns: u64, due: Due) {
        self.n_queued += 1;
        self.queue.insert((at_ns.max(self.now_ns), self.n_queued), due);
    }

    fn send(&mut self, idx: usize, is_up: bool, due: Due) {
        let host = &self.hosts[idx];
        let jitter_ns = self.rng.below(host.delay_ns + 1);
        let at_ns = (self.now_ns + host.delay_ns + jitter_ns).max(host.cut_until_ns);
        let last_ns = self.last_ns.entry((idx, is_up)).or_default();
        *last_ns = at_ns.max(*last_ns + 1);
        let at_ns = *last_ns;
        self.push(at_ns, due);
    }

    fn controller_does(&mut self, event: controller::Event) {
        if let Some(events) = &mut self.events {
            events.push((self.now_ns, event.clone()));
        }
        for action in self.controller.take(event, self.now_ns) {
            match action {
                controller::Action::Send(idx, kind) => {
                    if self.relays.has(idx) {
                        self.hand(idx, kind);
                    } else if self.hosts[idx].is_connected {
                        self.send(idx, false, Due::ToAgent(idx, Box::new(kind)));
                    }
                }
                controller::Action::Tell(News::Starts(step_idx, _)) => self.begun.push(step_idx),
                controller::Action::Tell(_) => {}
                controller::Action::Finish => self.is_finished = true,
            }
        }
    }

    fn agent_does(&mut self, idx: usize, event: agent::Event) {
        if !self.hosts[idx].is_alive {
            return;
        }
        let clock_ns = self.hosts[idx].clock(self.now_ns);
        let actions = self.hosts[idx].agent.take(event, clock_ns);
        for action in actions {
            match action {
                agent::Action::Send(kind) => self.agent_sends(idx, kind),
                agent::Action::Call => self.call(idx),
                agent::Action::Run(_) => {
                    if self.hosts[idx].has_run {
                        // What the run before would still do it does no more.
                        self.queue.retain(|_, due| !matches!(due, Due::Run(of, ..) if *of == idx));
                    }
                    self.hosts[idx].begin();
                    let preparing_ns = self.rng.below(3 * S);
                    self.push(self.now_ns + preparing_ns, Due::Run(idx, 0, RunStep::Prepared));
                }
                agent::Action::LayOut(step_idx) => {
                    let host = &mut self.hosts[idx];
                    host.turn = host.turn.max(Some(step_idx));
                    if let Some(step_idx) = host.awaits_turn.take() {
                        self.lay_out(idx, step_idx);
                    }
                }
                agent::Action::StartStep(step_idx, at_ns) => {
                    let host = &mut self.hosts[idx];
                    let start_ns = host.controller_time(at_ns).max(self.now_ns);
                    let begins_ns = host.begins_ns.entry(step_idx).or_insert(start_ns);
                    assert!(*begins_ns >= self.now_ns, "it has begun step {step_idx}");
                    *begins_ns = start_ns;
                    self.push(start_ns + S, Due::Run(idx, start_ns, RunStep::Second(step_idx, 0)));
                }
                agent::Action::Inspect(_) => panic!("no run asks what a host is"),
                agent::Action::StopRun(_) => {
                    if !self.hosts[idx].hangs {
                        self.end_run(idx, Outcome::Interrupted);
                    }
                }
                agent::Action::End(_) => {
                    self.hosts[idx].is_alive = false;
                    self.push(self.now_ns + MS, Due::Disconnect(idx));
                }
            }
        }
    }

    fn agent_sends(&mut self, idx: usize, mut kind: FromAgent) {
        if !self.hosts[idx].is_connected {
            return;
        }
        if let FromAgent::Frame(frame) = &mut kind
            && self.hosts[idx].damaged_seq == Some(frame.seq)
        {
            frame.facts_json.truncate(frame.facts_json.len() / 2);
        }
        let due = match self.hosts[idx].ways.line() {
            Some(line) => Due::ByRelay(line.up(kind)),
            None => Due::ToController(idx, Box::new(kind)),
        };
        self.send(idx, true, due);
    }

    fn end_run(&mut self, idx: usize, outcome: Outcome) {
        let host = &mut self.hosts[idx];
        if host.has_ended {
            return;
        }
        host.has_ended = true;
        host.record.outcome = outcome;
        host.truth.push(host.record.jobs.iter().map(JobRecord::n_ios).sum());
        let record = Box::new(host.record.clone());
        self.agent_does(idx, agent::Event::Ended(record));
    }

    fn run_does(&mut self, idx: usize, began_ns: u64, step: RunStep) {
        let host = &mut self.hosts[idx];
        if host.has_ended || !host.is_alive {
            return;
        }
        match step {
            RunStep::Prepared if host.refuses => {
                host.has_ended = true;
                let findings = vec!["it is mounted".to_owned()];
                self.agent_does(idx, agent::Event::Refused(findings));
            }
            RunStep::Prepared => self.lay_out(idx, 0),
            RunStep::Ready(step_idx) => self.lay_out(idx, step_idx),
            RunStep::LaidOut(step_idx) => {
                self.laid_out.insert(step_idx);
                self.agent_does(idx, agent::Event::Ready(step_idx));
            }
            // It was given another start since.
            RunStep::Second(step_idx, _) if host.begins_ns.get(&step_idx) != Some(&began_ns) => {}
            RunStep::Second(step_idx, second) => self.run_second(idx, began_ns, step_idx, second),
        }
    }

    /// Makes a host ready for a step: lays its files out once it may, unless they are there.
    fn lay_out(&mut self, idx: usize, step_idx: u32) {
        let host = &mut self.hosts[idx];
        if !self.has_turns || self.laid_out.contains(&step_idx) && host.turn >= Some(step_idx) {
            self.agent_does(idx, agent::Event::Ready(step_idx));
        } else if host.turn >= Some(step_idx) {
            *self.n_layouts.entry(step_idx).or_default() += 1;
            let at_ns = self.now_ns + self.rng.below(3 * S);
            self.push(at_ns, Due::Run(idx, 0, RunStep::LaidOut(step_idx)));
        } else {
            host.awaits_turn = Some(step_idx);
        }
    }

    fn run_second(&mut self, idx: usize, began_ns: u64, step_idx: u32, second: u32) {
        let host = &mut self.hosts[idx];
        let n_ios = host.n_ios_per_s;
        "0".clone_into(&mut host.record.plimsoll_version);
        if host.record.jobs.len() <= step_idx as usize {
            host.record.jobs.push(JobRecord { step_idx, ..JobRecord::default() });
        }
        let job = &mut host.record.jobs[step_idx as usize];
        job.dirs.read.n_ios += n_ios;
        job.dirs.read.lat.record_n(1000 * (idx as u64 + 1), n_ios);
        let mut interval = Interval { step_idx, length_ms: 1000, ..Interval::default() };
        interval.end_ms = (host.record.intervals.len() as u64 + 1) * 1000;
        interval.dirs.read.n_ios = n_ios;
        host.record.intervals.push(interval);
        let is_last = second + 1 >= host.seconds;
        if is_last && step_idx + 1 >= host.n_steps {
            self.end_run(idx, Outcome::Complete);
            return;
        }
        host.truth.push(host.record.jobs.iter().map(JobRecord::n_ios).sum());
        let record = Box::new(host.record.clone());
        let (next, at_ns) = if is_last {
            (RunStep::Ready(step_idx + 1), self.now_ns)
        } else {
            (RunStep::Second(step_idx, second + 1), began_ns + S * (u64::from(second) + 2))
        };
        self.push(at_ns, Due::Run(idx, began_ns, next));
        self.agent_does(idx, agent::Event::Report(record));
    }

    /// Does what is due next. Returns false where nothing is.
    fn step(&mut self) -> bool {
        let Some(((at_ns, _), due)) = self.queue.pop_first() else { return false };
        self.now_ns = at_ns;
        let until_ns = match &due {
            Due::ToAgent(idx, _) | Due::Run(idx, ..) => self.hosts[*idx].frozen_until_ns,
            Due::Connect(idx) if self.hosts[*idx].calls_again => {
                self.hosts[*idx].frozen_until_ns.max(self.paused_until_ns)
            }
            Due::ToController(..) | Due::Gone(..) | Due::CtrlC | Due::Look => self.paused_until_ns,
            Due::ByRelay(leg) => self.leg_waits_until_ns(leg),
            Due::Connect(_)
            | Due::Disconnect(_)
            | Due::Break(..)
            | Due::Kill(_)
            | Due::Restart(_)
            | Due::Freeze(..)
            | Due::Cut(..)
            | Due::Pause(_) => 0,
        };
        if until_ns > at_ns {
            // Who stands still comes to it when it goes on; the order stays.
            self.push(until_ns, due);
            return true;
        }
        match due {
            Due::ToController(idx, kind) => {
                self.controller_does(controller::Event::Message(idx, *kind));
            }
            Due::ToAgent(idx, kind) => self.agent_does(idx, agent::Event::Message(*kind)),
            Due::Run(idx, began_ns, step) => self.run_does(idx, began_ns, step),
            Due::Connect(idx) if self.connects_by_relay(idx) => {}
            Due::Connect(idx) => {
                self.hosts[idx].is_connected = true;
                self.hosts[idx].n_connections += 1;
                // What the connection before carries is of no one any more.
                self.queue.retain(|_, due| !matches!(due, Due::ToController(of, _) if *of == idx));
                self.agent_does(idx, agent::Event::Connected);
            }
            Due::Break(idx, away_ns, seen_ns) => self.break_off(idx, away_ns, seen_ns),
            Due::Gone(idx, number) => {
                if self.hosts[idx].n_connections == number {
                    let gone = controller::Event::Gone(idx, "gone".to_owned());
                    self.controller_does(gone);
                }
            }
            Due::Disconnect(idx) => self.disconnect(idx),
            Due::Kill(idx) => {
                self.hosts[idx].is_alive = false;
                self.push(at_ns, Due::Disconnect(idx));
            }
            Due::Restart(idx) => self.restart(idx),
            Due::Freeze(idx, length_ns) => self.hosts[idx].frozen_until_ns = at_ns + length_ns,
            Due::Cut(idx, length_ns) => self.hosts[idx].cut_until_ns = at_ns + length_ns,
            Due::Pause(length_ns) => self.paused_until_ns = at_ns + length_ns,
            Due::CtrlC => self.interrupt(),
            Due::Look => self.look(),
            Due::ByRelay(leg) => self.take_leg(leg),
        }
        true
    }

    fn disconnect(&mut self, idx: usize) {
        if std::mem::take(&mut self.hosts[idx].is_connected) {
            let is_elsewhere = self.leave_relay(idx, 0);
            self.agent_does(idx, agent::Event::Disconnected);
            if is_elsewhere {
                return;
            }
            let gone = controller::Event::Gone(idx, "gone".to_owned());
            self.controller_does(gone);
        }
    }

    /// The connection of a host ends, and what is on its way with it.
    fn break_off(&mut self, idx: usize, away_ns: u64, seen_ns: u64) {
        let host = &mut self.hosts[idx];
        if !std::mem::take(&mut host.is_connected) {
            return;
        }
        host.away_ns = away_ns;
        if self.leave_relay(idx, seen_ns) {
            self.agent_does(idx, agent::Event::Disconnected);
            return;
        }
        let number = self.hosts[idx].n_connections;
        let is_its =
            |due: &Due| matches!(due, Due::ToController(of, _) | Due::ToAgent(of, _) if *of == idx);
        self.queue.retain(|_, due| !is_its(due));
        self.push(self.now_ns + seen_ns, Due::Gone(idx, number));
        self.agent_does(idx, agent::Event::Disconnected);
    }

    /// An agent calls again, and reads no more of what the connection before has for it.
    fn call(&mut self, idx: usize) {
        let host = &mut self.hosts[idx];
        assert!(host.calls_again, "it has one connection");
        host.is_connected = false;
        let is_elsewhere = self.leave_relay(idx, 0);
        let host = &mut self.hosts[idx];
        let at_ns = (self.now_ns + std::mem::take(&mut host.away_ns)).max(host.cut_until_ns);
        if !is_elsewhere {
            self.queue.retain(|_, due| !matches!(due, Due::ToAgent(of, _) if *of == idx));
        }
        if !self.is_over {
            self.push(at_ns + MS, Due::Connect(idx));
        }
    }

    /// Another agent of the same host calls: it knows nothing of the run. Where something else
    /// starts agents, it has no place in it.
    fn restart(&mut self, idx: usize) {
        self.hosts[idx].is_alive = false;
        self.disconnect(idx);
        if self.hosts[idx].calls_again {
            return;
        }
        let incarnation = self.rng.next();
        let agent = self.hosts[idx].new_agent(idx, incarnation, self.now_ns);
        let host = &mut self.hosts[idx];
        host.agent = agent;
        host.is_alive = true;
        host.has_ended = host.has_run;
        // What was on its way to the one before is lost.
        self.queue.retain(|_, due| !matches!(due, Due::ToAgent(at, _) if *at == idx));
        let away_ns = self.rng.below(5 * S);
        self.push(self.now_ns + away_ns, Due::Connect(idx));
    }

    /// Begins the next run of a series. Files that were laid out are there.
    fn next_run(&mut self) {
        let of_none = Controller::new(1, Assignment::default(), LossPolicy::Abort, 0, 0);
        let controller = std::mem::replace(&mut self.controller, of_none);
        let assignment = Assignment { awaits_turn: self.has_turns, ..Assignment::default() };
        let (controller, absent) = controller.next_run(assignment, self.now_ns);
        self.controller = match self.draws_takers.then(|| self.n_takers()) {
            Some(n_taking) => controller.of_first(n_taking),
            None => controller,
        };
        self.is_finished = false;
        self.n_runs += 1;
        self.begun.clear();
        self.n_layouts.clear();
        for idx in absent {
            self.call_again(idx);
        }
    }

    /// Draws how many hosts take part in a run: half of the time all of them.
    fn n_takers(&mut self) -> usize {
        let n_hosts = self.hosts.len() as u64;
        let is_all = self.takers.is_one_in(2);
        if is_all { self.hosts.len() } else { 1 + self.takers.below(n_hosts) as usize }
    }

    /// Has another agent of a host call; of the one before nothing comes any more.
    fn call_again(&mut self, idx: usize) {
        self.queue.retain(|_, due| match due {
            Due::ToController(of, _)
            | Due::ToAgent(of, _)
            | Due::Run(of, ..)
            | Due::Connect(of)
            | Due::Break(of, ..)
            | Due::Gone(of, _)
            | Due::Disconnect(of) => *of != idx,
            Due::Kill(_)
            | Due::Restart(_)
            | Due::Freeze(..)
            | Due::Cut(..)
            | Due::Pause(_)
            | Due::CtrlC
            | Due::Look
            | Due::ByRelay(_) => true,
        });
        let incarnation = self.rng.next();
        let agent = self.hosts[idx].new_agent(idx, incarnation, self.now_ns);
        let host = &mut self.hosts[idx];
        host.agent = agent;
        (host.is_alive, host.is_connected) = (true, false);
        // What kept the one before is its own.
        (host.frozen_until_ns, host.hangs) = (0, false);
        let at_ns = self.now_ns + self.rng.below(2 * S);
        self.push(at_ns, Due::Connect(idx));
    }

    fn interrupt(&mut self) {
        self.n_interrupts += 1;
        self.controller_does(controller::Event::Stop);
        if self.n_interrupts == 2 {
            self.ends_until_ns = Some(self.now_ns + NOW_NS);
        }
    }

    fn look(&mut self) {
        self.controller_does(controller::Event::Due);
        self.relays_look();
        for idx in 0..self.hosts.len() {
            if self.hosts[idx].frozen_until_ns <= self.now_ns {
                self.agent_does(idx, agent::Event::Due);
            }
        }
        self.push(self.now_ns + 100 * MS, Due::Look);
    }
}

/// What was done to the hosts of a run.
#[derive(Default)]
struct Harm {
    /// Hosts that something was done to: they may be lost, or late.
    hosts: BTreeSet<usize>,
    /// One of them that may make the controller end the run.
    has_refusal: bool,
    is_paused: bool,
    /// Connections ended for a moment: a host that has heard of a start, and whose answer was lost,
    /// begins by it while the others wait.
    has_breaks: bool,
}

fn host(idx: usize, plan: (u32, u32), calls_again: bool, rng: &mut Rng) -> Host {
    let (n_steps, seconds) = plan;
    let offset_ns = rng.below(7200 * S).cast_signed() - (3600 * S).cast_signed();
    let at_ns = START_NS.saturating_add_signed(offset_ns);
    let agent = Agent::new(format!("h{idx}"), "0".to_owned(), rng.next(), at_ns);
    Host {
        agent: if calls_again { agent.calling_again() } else { agent },
        calls_again,
        away_ns: 0,
        n_connections: 0,
        ways: relays::Ways::default(),
        offset_ns,
        drift_ppm: rng.below(401).cast_signed() - 200,
        delay_ns: [10_000, 200_000, 5 * MS, 40 * MS][rng.below(4) as usize],
        is_alive: true,
        is_connected: false,
        frozen_until_ns: 0,
        cut_until_ns: 0,
        record: Record::default(),
        truth: Vec::new(),
        n_ios_per_s: 1 + rng.below(5000),
        n_steps,
        seconds,
        refuses: false,
        hangs: false,
        damaged_seq: None,
        has_run: false,
        has_ended: false,
        turn: None,
        awaits_turn: None,
        begins_ns: BTreeMap::new(),
    }
}

fn head(n_hosts: usize, assignment: &Assignment, policy: LossPolicy) -> Head {
    let names = (0..n_hosts).map(|idx| format!("h{idx}")).collect();
    Head::new(START_NS, JOIN_NS, assignment, names).with_policy(policy)
}

fn world(seed: u64, n_runs: u32) -> (World, Harm) {
    let mut rng = Rng(seed);
    let n_hosts = 1 + rng.below(6) as usize;
    let plan = (1 + rng.below(4) as u32, 1 + rng.below(8) as u32);
    let calls_again = rng.is_one_in(2);
    let hosts = (0..n_hosts).map(|idx| host(idx, plan, calls_again, &mut rng)).collect();
    let policy = match rng.below(4) {
        0 => LossPolicy::Abort,
        1 => LossPolicy::AtLeast(1 + rng.below(n_hosts as u64) as u32),
        _ => LossPolicy::Continue,
    };
    let has_turns = rng.is_one_in(2);
    let assignment = Assignment { awaits_turn: has_turns, ..Assignment::default() };
    let head = head(n_hosts, &assignment, policy);
    let controller = head.controller();
    let mut world = World {
        now_ns: START_NS,
        queue: BTreeMap::new(),
        n_queued: 0,
        relays: relays::Relays::default(),
        hosts,
        controller: if n_runs > 1 { controller.keeping_agents() } else { controller },
        head,
        events: None,
        draws_takers: n_runs > 1,
        takers: Rng(!seed),
        paused_until_ns: 0,
        n_interrupts: 0,
        ends_until_ns: None,
        begun: Vec::new(),
        has_turns,
        n_layouts: BTreeMap::new(),
        laid_out: BTreeSet::new(),
        is_finished: false,
        is_over: false,
        n_runs: 1,
        rng,
        last_ns: BTreeMap::new(),
    };
    let mut harm = Harm::default();
    let within_ns = (6 * S + u64::from(plan.0 * (plan.1 + 4)) * S) * u64::from(n_runs);
    for idx in 0..n_hosts {
        let late_ns = if world.rng.is_one_in(40) { 2 * JOIN_NS } else { 2 * S };
        let at_ns = START_NS + world.rng.below(late_ns);
        world.push(at_ns, Due::Connect(idx));
        if late_ns > JOIN_NS || harm_host(&mut world, idx, within_ns) {
            harm.hosts.insert(idx);
        }
        harm.has_refusal |= world.hosts[idx].refuses;
        harm.has_breaks = world.queue.values().any(|due| matches!(due, Due::Break(..)));
    }
    if world.rng.is_one_in(6) {
        // Less than what agents wait for.
        let (at_ns, length_ns) = (world.rng.below(within_ns), MS + world.rng.below(28 * S));
        world.push(START_NS + at_ns, Due::Pause(length_ns));
        harm.is_paused = true;
    }
    if world.rng.is_one_in(6) {
        for _ in 0..=world.rng.below(2) {
            let at_ns = world.rng.below(within_ns);
            world.push(START_NS + at_ns, Due::CtrlC);
        }
    }
    world.push(0, Due::Look);
    (world, harm)
}

/// Does something to a host, or nothing.
fn harm_host(world: &mut World, idx: usize, within_ns: u64) -> bool {
    let at_ns = START_NS + 3 * S + world.rng.below(within_ns);
    let length_ns = MS + world.rng.below(24 * S);
    match world.rng.below(100) {
        0..6 => world.push(at_ns, Due::Kill(idx)),
        6..18 => world.push(at_ns, Due::Freeze(idx, length_ns)),
        18..24 => world.push(at_ns, Due::Cut(idx, length_ns)),
        24..28 => world.push(at_ns, Due::Restart(idx)),
        28..31 if !world.hosts[idx].calls_again => {
            world.push(at_ns, Due::Disconnect(idx));
            world.hosts[idx].hangs = true;
        }
        31..34 => world.hosts[idx].damaged_seq = Some(world.rng.below(12)),
        34..36 => world.hosts[idx].refuses = true,
        36..42 if world.hosts[idx].calls_again => {
            let seen_ns = world.rng.below(4 * S);
            world.push(at_ns, Due::Break(idx, length_ns, seen_ns));
        }
        42..64 if world.hosts[idx].calls_again => {
            // So short that it is not lost for it: nothing is to be seen of it in the end.
            for nth in 0..=world.rng.below(3) {
                let (away_ns, seen_ns) = (world.rng.below(8 * S), world.rng.below(10 * S));
                world.push(at_ns + nth * 12 * S, Due::Break(idx, away_ns, seen_ns));
            }
            return false;
        }
        _ => return false,
    }
    true
}

/// Checks a series of so many runs. It ends with one that was interrupted or refused.
fn check(seed: u64, n_runs: u32) {
    let (mut world, harm) = world(seed, n_runs);
    if world.draws_takers {
        let n_taking = world.n_takers();
        let of_none = Controller::new(1, Assignment::default(), LossPolicy::Abort, 0, 0);
        let controller = std::mem::replace(&mut world.controller, of_none);
        world.controller = controller.of_first(n_taking);
    }
    check_run(seed, &mut world, &harm);
    while world.n_runs < n_runs && world.n_interrupts == 0 && world.has_run() {
        world.next_run();
        check_run(seed, &mut world, &harm);
    }
    check_orphans(seed, world);
}

fn check_run(seed: u64, world: &mut World, harm: &Harm) {
    while !world.is_finished {
        assert!(world.now_ns < START_NS + 3600 * S, "seed {seed}: no end after an hour: {world:?}");
        assert!(world.step(), "seed {seed}: nothing more happens");
        let is_late =
            world.ends_until_ns.is_some_and(|until_ns| world.now_ns > until_ns + 100 * MS)
                && world.paused_until_ns <= world.now_ns;
        assert!(!is_late || world.is_finished, "seed {seed}: the second Ctrl-C does not end it");
    }
    assert!(world.begun.is_sorted_by(|a, b| a < b), "seed {seed}: steps {:?}", world.begun);
    let has_harm = !harm.hosts.is_empty();
    let is_cut_short = world.ends_until_ns.is_some();
    let mut total = 0;
    let mut shares = Vec::new();
    let outcomes = world.controller.outcomes(world.now_ns);
    for (idx, (host, outcome)) in world.hosts.iter().zip(outcomes).enumerate() {
        let counted: u64 = outcome.record.jobs.iter().map(JobRecord::n_ios).sum();
        let is_true = counted == 0 || host.truth.contains(&counted);
        assert!(is_true, "seed {seed}: host {idx} counted {counted}, never so: {:?}", host.truth);
        if outcome.is_complete {
            let all = host.truth.last().copied().unwrap_or(0);
            assert_eq!(counted, all, "seed {seed}: host {idx} is complete and lacks something");
            let goes_on = host.has_run && !host.has_ended;
            assert!(!goes_on, "seed {seed}: host {idx} is complete and goes on");
        } else {
            let may_lack = outcome.lost.is_some() || outcome.is_refused || is_cut_short;
            assert!(may_lack, "seed {seed}: host {idx} is not complete, and not lost");
        }
        // What is away while the controller stands still may hear of no one for too long.
        let is_both = harm.is_paused && harm.has_breaks;
        let may_be_lost = harm.hosts.contains(&idx) || is_both;
        assert!(outcome.lost.is_none() || may_be_lost, "seed {seed}: {idx} {:?}", outcome.lost);
        // Its bins are its own: latencies of hosts differ.
        let n_own: u64 = (outcome.record.jobs.iter())
            .map(|job| job.dirs.read.lat.count_below(1000 * (idx as u64 + 1) + 16))
            .sum();
        assert_eq!(n_own, counted, "seed {seed}: host {idx}");
        total += counted;
        shares.push(HostShareRecord {
            name: format!("h{idx}"),
            lost: outcome.lost.map(|(_, reason)| LossRecord { since_ms: 0, reason }),
            record: outcome.record,
            ..HostShareRecord::default()
        });
    }
    check_sums(seed, shares, total);
    let has_harm = has_harm || harm.has_breaks;
    if !has_harm && !harm.is_paused && world.n_interrupts == 0 {
        check_starts(seed, world);
        check_layouts(seed, world);
    }
}

fn check_sums(seed: u64, shares: Vec<HostShareRecord>, total: u64) {
    let has_lost = shares.iter().any(|share| share.lost.is_some());
    let merged = merge(shares);
    assert_eq!(merged.outcome == Outcome::Partial, has_lost, "seed {seed}");
    let of_jobs: u64 = merged.jobs.iter().map(JobRecord::n_ios).sum();
    let of_bins: u64 = merged.jobs.iter().map(|job| job.dirs.read.lat.count()).sum();
    let of_intervals: u64 = merged.intervals.iter().map(|it| it.dirs.read.n_ios).sum();
    assert_eq!([of_jobs, of_bins, of_intervals], [total; 3], "seed {seed}");
}

/// All hosts began each step within what the clocks and the connections allow.
fn check_starts(seed: u64, world: &World) {
    let n_steps = world.hosts[0].n_steps;
    let taking = &world.hosts[..world.controller.n_taking()];
    for step_idx in 0..n_steps {
        let began: Vec<u64> =
            taking.iter().filter_map(|host| host.begins_ns.get(&step_idx).copied()).collect();
        assert_eq!(began.len(), taking.len(), "seed {seed}: not all began step {step_idx}");
        let spread_ns = began.iter().max().unwrap() - began.iter().min().unwrap();
        // Half of the longest round trip of either, and what clocks drift until the start.
        let delay_ns = world.hosts.iter().map(|host| host.delay_ns).max().unwrap();
        let allowed_ns = 4 * (delay_ns + world.relays.delay_ns_max()) + MS;
        assert!(spread_ns <= allowed_ns, "seed {seed}: step {step_idx} began {spread_ns} ns apart");
    }
}

/// The files of each step were laid out once, in the first run.
fn check_layouts(seed: u64, world: &World) {
    let lays_out = world.has_turns && world.n_runs == 1;
    let n_steps = if lays_out { world.hosts[0].n_steps } else { 0 };
    let once: BTreeMap<u32, u32> = (0..n_steps).map(|step_idx| (step_idx, 1)).collect();
    assert_eq!(world.n_layouts, once, "seed {seed}: layouts by step");
}

/// Agents end by themselves once their controller is gone, whatever their I/O does.
fn check_orphans(seed: u64, mut world: World) {
    world.is_over = true;
    for idx in 0..world.hosts.len() {
        if std::mem::take(&mut world.hosts[idx].is_connected) {
            world.agent_does(idx, agent::Event::Disconnected);
        }
    }
    let frozen_until_ns = world.hosts.iter().map(|host| host.frozen_until_ns).max().unwrap_or(0);
    let until_ns = world.now_ns.max(frozen_until_ns) + agent::LEAVE_NS + S;
    // Nothing more is done to them. Those that have yet to call wait as long as any.
    world.queue.retain(|_, due| matches!(due, Due::ToAgent(..) | Due::Run(..) | Due::Look));
    let until_ns = until_ns + agent::ORPHAN_NS;
    while world.now_ns < until_ns && world.step() {}
    for (idx, host) in world.hosts.iter().enumerate() {
        assert!(!host.is_alive, "seed {seed}: agent {idx} outlives its controller");
    }
}

/// Seeds of a usual test: a few seconds.
const N_SEEDS: u64 = 1_000;

/// Seeds with `PLIMSOLL_LONG_TESTS`: before a change of the protocol is called done.
const N_SEEDS_LONG: u64 = 10_000;

#[test]
#[expect(clippy::disallowed_methods, reason = "a long test is asked for by a variable")]
fn every_run_ends_in_a_true_record() {
    let (first, n_seeds) = match std::env::var("PLIMSOLL_LONG_TESTS") {
        Ok(first) => (first.parse().expect("the first seed"), N_SEEDS_LONG),
        Err(_) => (1, N_SEEDS),
    };
    for seed in first..first + n_seeds {
        check(seed, 1);
    }
    // Runs one after another by the same agents.
    for seed in first..first + n_seeds / 2 {
        check(seed, 2 + (seed % 3) as u32);
    }
}

/// Hosts to which nothing is done.
fn quiet(n_hosts: usize, plan: (u32, u32), policy: LossPolicy) -> World {
    of_assignment(n_hosts, plan, policy, &Assignment::default())
}

/// Such hosts, with something to do that matters here.
fn of_assignment(
    n_hosts: usize,
    plan: (u32, u32),
    policy: LossPolicy,
    assignment: &Assignment,
) -> World {
    let has_turns = assignment.awaits_turn;
    let mut rng = Rng(7);
    let hosts = (0..n_hosts).map(|idx| host(idx, plan, false, &mut rng)).collect();
    let head = head(n_hosts, assignment, policy);
    let mut world = World {
        now_ns: START_NS,
        queue: BTreeMap::new(),
        n_queued: 0,
        relays: relays::Relays::default(),
        hosts,
        controller: head.controller(),
        head,
        events: None,
        draws_takers: false,
        takers: Rng(7),
        paused_until_ns: 0,
        n_interrupts: 0,
        ends_until_ns: None,
        begun: Vec::new(),
        has_turns,
        n_layouts: BTreeMap::new(),
        laid_out: BTreeSet::new(),
        is_finished: false,
        is_over: false,
        n_runs: 1,
        rng,
        last_ns: BTreeMap::new(),
    };
    world.push(0, Due::Look);
    world
}

impl World {
    /// Runs until this time, or the end of the run.
    fn run_until(&mut self, at_ns: u64) {
        while !self.is_finished && self.now_ns < START_NS + at_ns && self.step() {}
    }

    fn run_to_end(&mut self) {
        self.run_until(3600 * S);
        assert!(self.is_finished, "no end after an hour");
    }

    /// Returns whether all hosts that are not lost took part in the run.
    fn has_run(&self) -> bool {
        let outcomes = self.controller.outcomes(self.now_ns);
        !outcomes.iter().any(|it| it.is_refused) && outcomes.iter().any(|it| it.has_frames)
    }

    /// Returns who is lost, and why.
    fn lost(&self) -> Vec<Option<String>> {
        let outcomes = self.controller.outcomes(self.now_ns).into_iter();
        outcomes.map(|it| it.lost.map(|(_, reason)| reason)).collect()
    }
}

#[test]
fn a_host_that_comes_after_the_beginning_stays_out() {
    let mut world = quiet(2, (2, 90), LossPolicy::AtLeast(1));
    world.push(START_NS, Due::Connect(0));
    world.push(START_NS + 70 * S, Due::Connect(1));
    world.run_to_end();
    assert_eq!(world.lost(), [None, Some("it did not come within 60 s".to_owned())]);
    assert_eq!(world.begun, [0, 1]);
    assert!(world.hosts[1].begins_ns.is_empty(), "it runs nothing");
    assert!(!world.hosts[1].is_alive, "it was sent away");
}

#[test]
fn a_host_that_was_silent_at_the_beginning_stays_out() {
    let mut world = quiet(3, (1, 60), LossPolicy::AtLeast(2));
    for (idx, at_ns) in [(0, 0), (1, 0), (2, 30 * S)] {
        world.push(START_NS + at_ns, Due::Connect(idx));
    }
    // It has come, is lost while the third one is awaited, and goes on during the run.
    world.push(START_NS + S, Due::Freeze(1, 40 * S));
    world.run_to_end();
    let reason = format!("nothing came from it for {} s", DEAD_NS / S);
    assert_eq!(world.lost(), [None, Some(reason), None]);
    assert_eq!(world.begun, [0]);
    assert!(world.hosts[1].begins_ns.is_empty(), "it runs nothing");
    assert!(!world.hosts[1].is_alive, "it was sent away");
}

#[test]
fn a_damaged_frame_costs_its_host_and_no_other() {
    let mut world = quiet(2, (2, 8), LossPolicy::AtLeast(1));
    for idx in 0..2 {
        world.push(START_NS, Due::Connect(idx));
    }
    world.hosts[1].damaged_seq = Some(3);
    world.run_to_end();
    let [None, Some(reason)] = &world.lost()[..] else { panic!("{:?}", world.lost()) };
    assert!(reason.contains("frame 3 has no record in it"), "{reason}");
    let records = world.controller.outcomes(world.now_ns);
    assert_eq!(records[1].record.intervals.len(), 3, "what came before it stays");
    assert_eq!(records[0].record.intervals.len(), 16);
}

#[test]
fn a_controller_that_stood_still_calls_no_one_lost() {
    let mut world = quiet(3, (1, 60), LossPolicy::Abort);
    for idx in 0..3 {
        world.push(START_NS, Due::Connect(idx));
    }
    world.push(START_NS + 20 * S, Due::Pause(25 * S));
    world.run_to_end();
    assert_eq!(world.lost(), [None, None, None]);
    let outcomes = world.controller.outcomes(world.now_ns);
    assert!(outcomes.iter().all(|it| it.silence_ns_max == 0), "nor silent");
}

#[test]
fn a_host_that_is_left_behind_runs_no_step_alone() {
    let mut world = quiet(3, (3, 8), LossPolicy::Continue);
    for idx in 0..3 {
        world.push(START_NS, Due::Connect(idx));
    }
    world.push(START_NS + 10 * S, Due::Freeze(2, 20 * S));
    world.run_to_end();
    assert_eq!(world.begun, [0, 1, 2]);
    assert_eq!(world.hosts[2].begins_ns.keys().collect::<Vec<_>>(), [&0]);
    let reason = format!("nothing came from it for {} s", DEAD_NS / S);
    assert_eq!(world.lost(), [None, None, Some(reason)]);
    let outcomes = world.controller.outcomes(world.now_ns);
    assert!(outcomes[2].is_complete, "what it measured counts");
}

#[test]
fn an_agent_that_cannot_make_the_start_gives_all_a_later_one() {
    let mut world = quiet(2, (1, 3), LossPolicy::Continue);
    for idx in 0..2 {
        world.push(START_NS, Due::Connect(idx));
    }
    (world.hosts[0].delay_ns, world.hosts[1].delay_ns) = (10_000, 40 * MS);
    while world.hosts[0].begins_ns.is_empty() {
        assert!(world.step());
    }
    assert!(world.hosts[1].begins_ns.is_empty(), "its order is on its way");
    // It hears of nothing while both should begin.
    let first_ns = world.hosts[0].begins_ns[&0];
    world.hosts[1].frozen_until_ns = first_ns + 3 * S;
    world.run_to_end();
    assert_eq!(world.lost(), [None, None]);
    let begins: Vec<u64> = world.hosts.iter().map(|host| host.begins_ns[&0]).collect();
    assert!(begins[0] > first_ns, "the other one waits");
    assert!(begins[0].abs_diff(begins[1]) < 200 * MS, "{begins:?}");
    assert_eq!(world.begun, [0]);
}

#[test]
fn a_second_interrupt_ends_it_beside_a_host_that_hangs() {
    let mut world = quiet(2, (1, 60), LossPolicy::Continue);
    for idx in 0..2 {
        world.push(START_NS, Due::Connect(idx));
    }
    world.hosts[1].hangs = true;
    world.push(START_NS + 20 * S, Due::CtrlC);
    world.run_until(40 * S);
    assert!(!world.is_finished, "the first one waits for what is in flight");
    world.push(world.now_ns, Due::CtrlC);
    let asked_ns = world.now_ns;
    world.run_to_end();
    assert!(world.now_ns <= asked_ns + NOW_NS + 200 * MS);
    let outcomes = world.controller.outcomes(world.now_ns);
    assert_eq!(outcomes.iter().map(|it| it.is_complete).collect::<Vec<_>>(), [true, false]);
    assert_eq!(world.lost(), [None, None], "the user ended it");
}

#[test]
fn an_interrupt_before_all_have_come_ends_it_at_once() {
    let mut world = quiet(2, (1, 60), LossPolicy::AtLeast(1));
    world.push(START_NS, Due::Connect(0));
    world.push(START_NS + 5 * S, Due::CtrlC);
    world.run_to_end();
    assert!(world.now_ns <= START_NS + 5 * S + 100 * MS);
    assert!(world.controller.is_interrupted());
    assert_eq!(world.lost(), [None, None]);
}

#[test]
fn an_interrupt_after_a_loss_that_ends_the_run_is_the_first_one() {
    let mut world = quiet(3, (1, 60), LossPolicy::Abort);
    for idx in 0..3 {
        world.push(START_NS, Due::Connect(idx));
    }
    world.hosts[1].hangs = true;
    world.push(START_NS + 20 * S, Due::Kill(2));
    world.push(START_NS + 21 * S, Due::CtrlC);
    world.run_until(30 * S);
    assert!(!world.is_finished, "what is in flight is waited for");
    world.push(world.now_ns, Due::CtrlC);
    world.run_to_end();
}

/// Three hosts that share their files, and are there from the start.
fn sharing() -> World {
    let assignment = Assignment { awaits_turn: true, ..Assignment::default() };
    let mut world = of_assignment(3, (2, 4), LossPolicy::Continue, &assignment);
    for idx in 0..3 {
        world.push(START_NS, Due::Connect(idx));
    }
    world
}

#[test]
fn shared_files_are_laid_out_by_one_host() {
    let mut world = sharing();
    world.run_to_end();
    assert_eq!(world.lost(), [None, None, None]);
    assert_eq!(world.begun, [0, 1]);
    check_layouts(7, &world);
}

#[test]
fn another_host_goes_on_where_the_one_that_lays_out_is_lost() {
    let mut world = sharing();
    while world.n_layouts.is_empty() {
        assert!(world.step());
    }
    assert_eq!(world.hosts[0].turn, Some(0), "the first one has the turn");
    assert_eq!([world.hosts[1].turn, world.hosts[2].turn], [None, None], "the others wait");
    world.push(world.now_ns, Due::Kill(0));
    world.run_to_end();
    assert_eq!(world.lost(), [Some("gone".to_owned()), None, None]);
    assert_eq!(world.begun, [0, 1]);
    assert_eq!(world.n_layouts, BTreeMap::from([(0, 2), (1, 1)]), "by the second one, too");
}

/// The seconds that hosts measured which take part.
fn seconds_of(world: &World) -> Vec<usize> {
    let outcomes = world.controller.outcomes(world.now_ns);
    outcomes.iter().map(|it| it.record.intervals.len()).collect()
}
