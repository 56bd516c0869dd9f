//! A controller and its agents in simulated time: connections that delay and break, clocks that
//! differ and drift, hosts that freeze and die. Every random case is a seed, which a failure names.
//!
//! What each agent did is counted here, apart from the code under test.

use std::collections::BTreeMap;

use fleet::agent::{self, Agent};
use fleet::controller::{self, Controller, LossPolicy};
use fleet::merge::merge;
use fleet::wire::Assignment;
use fleet::wire::from_agent::Kind as FromAgent;
use fleet::wire::to_agent::Kind as ToAgent;
use record::{HostShareRecord, Interval, JobRecord, LossRecord, Outcome, Record};

const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

/// What the controller's clock reads at the start: that of an agent may read an hour less.
const START_NS: u64 = 7200 * S;

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
}

/// What is due at a time.
enum Due {
    ToController(usize, Box<FromAgent>),
    ToAgent(usize, Box<ToAgent>),
    /// An agent's own: what its run does next.
    Run(usize, u64, RunStep),
    Connect(usize),
    Disconnect(usize),
    Kill(usize),
    Freeze(usize, u64),
    Look,
}

#[derive(Clone, Copy)]
enum RunStep {
    Ready(u32),
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
    is_alive: bool,
    is_connected: bool,
    /// Until when it stands still.
    frozen_until_ns: u64,
    record: Record,
    /// Operations counted here, by frame: what is true.
    truth: Vec<u64>,
    n_ios_per_s: u64,
    n_steps: u32,
    seconds: u32,
    is_stopped: bool,
    has_ended: bool,
    /// When each step really began, in the controller's time.
    began_ns: BTreeMap<u32, u64>,
}

struct World {
    now_ns: u64,
    queue: BTreeMap<(u64, u64), Due>,
    n_queued: u64,
    hosts: Vec<Host>,
    controller: Controller,
    is_finished: bool,
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
}

impl World {
    fn push(&mut self, at_ns: u64, due: Due) {
        self.n_queued += 1;
        self.queue.insert((at_ns.max(self.now_ns), self.n_queued), due);
    }

    fn send(&mut self, idx: usize, is_up: bool, due: Due) {
        let jitter_ns = self.rng.below(self.hosts[idx].delay_ns + 1);
        let at_ns = self.now_ns + self.hosts[idx].delay_ns + jitter_ns;
        let last_ns = self.last_ns.entry((idx, is_up)).or_default();
        *last_ns = at_ns.max(*last_ns + 1);
        let at_ns = *last_ns;
        self.push(at_ns, due);
    }

    fn controller_does(&mut self, event: controller::Event) {
        for action in self.controller.take(event, self.now_ns) {
            match action {
                controller::Action::Send(idx, kind) => {
                    if self.hosts[idx].is_connected {
                        self.send(idx, false, Due::ToAgent(idx, Box::new(kind)));
                    }
                }
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
                agent::Action::Send(kind) => {
                    if self.hosts[idx].is_connected {
                        self.send(idx, true, Due::ToController(idx, Box::new(kind)));
                    }
                }
                agent::Action::Run(_) => {
                    let preparing_ns = self.rng.below(3 * S);
                    self.push(self.now_ns + preparing_ns, Due::Run(idx, 0, RunStep::Ready(0)));
                }
                agent::Action::StartStep(step_idx, at_ns) => {
                    let host = &mut self.hosts[idx];
                    let start_ns = host.controller_time(at_ns).max(self.now_ns);
                    host.began_ns.insert(step_idx, start_ns);
                    self.push(start_ns + S, Due::Run(idx, start_ns, RunStep::Second(step_idx, 0)));
                }
                agent::Action::StopRun(_) => {
                    self.hosts[idx].is_stopped = true;
                    self.end_run(idx, Outcome::Interrupted);
                }
                agent::Action::End(_) => {
                    self.hosts[idx].is_alive = false;
                    self.push(self.now_ns + MS, Due::Disconnect(idx));
                }
            }
        }
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
            RunStep::Ready(step_idx) => self.agent_does(idx, agent::Event::Ready(step_idx)),
            RunStep::Second(step_idx, second) => {
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
                let next = if is_last {
                    Due::Run(idx, 0, RunStep::Ready(step_idx + 1))
                } else {
                    Due::Run(idx, began_ns, RunStep::Second(step_idx, second + 1))
                };
                let at_ns =
                    if is_last { self.now_ns } else { began_ns + S * (u64::from(second) + 2) };
                self.push(at_ns, next);
                self.agent_does(idx, agent::Event::Report(record));
            }
        }
    }

    fn step(&mut self) -> bool {
        let Some(((at_ns, _), due)) = self.queue.pop_first() else { return false };
        self.now_ns = at_ns;
        let of_agent = match &due {
            Due::ToAgent(idx, _) | Due::Run(idx, ..) => Some(*idx),
            Due::ToController(..)
            | Due::Connect(_)
            | Due::Disconnect(_)
            | Due::Kill(_)
            | Due::Freeze(..)
            | Due::Look => None,
        };
        if let Some(idx) = of_agent
            && self.hosts[idx].frozen_until_ns > at_ns
        {
            // It comes to it when it goes on; the order stays.
            let until_ns = self.hosts[idx].frozen_until_ns;
            self.push(until_ns, due);
            return true;
        }
        match due {
            Due::ToController(idx, kind) => {
                self.controller_does(controller::Event::Message(idx, *kind));
            }
            Due::ToAgent(idx, kind) => self.agent_does(idx, agent::Event::Message(*kind)),
            Due::Run(idx, began_ns, step) => self.run_does(idx, began_ns, step),
            Due::Connect(idx) => {
                self.hosts[idx].is_connected = true;
                self.agent_does(idx, agent::Event::Connected);
            }
            Due::Disconnect(idx) => {
                if std::mem::take(&mut self.hosts[idx].is_connected) {
                    self.agent_does(idx, agent::Event::Disconnected);
                    let gone = controller::Event::Gone(idx, "gone".to_owned());
                    self.controller_does(gone);
                }
            }
            Due::Kill(idx) => {
                self.hosts[idx].is_alive = false;
                self.push(at_ns, Due::Disconnect(idx));
            }
            Due::Freeze(idx, length_ns) => self.hosts[idx].frozen_until_ns = at_ns + length_ns,
            Due::Look => {
                self.controller_does(controller::Event::Due);
                for idx in 0..self.hosts.len() {
                    if self.hosts[idx].frozen_until_ns <= at_ns {
                        self.agent_does(idx, agent::Event::Due);
                    }
                }
                self.push(at_ns + 100 * MS, Due::Look);
            }
        }
        true
    }
}

/// What was done to the hosts of a run.
#[derive(Default)]
struct Harm {
    killed: Vec<usize>,
    frozen: Vec<(usize, u64)>,
}

fn world(seed: u64) -> (World, Harm) {
    let mut rng = Rng(seed);
    let n_hosts = 1 + rng.below(6) as usize;
    let (n_steps, seconds) = (1 + rng.below(3) as u32, 1 + rng.below(8) as u32);
    let host = |idx: usize, rng: &mut Rng| {
        let offset_ns = rng.below(7200 * S).cast_signed() - (3600 * S).cast_signed();
        let drift_ppm = rng.below(401).cast_signed() - 200;
        Host {
            agent: Agent::new(
                format!("h{idx}"),
                "0".to_owned(),
                rng.next(),
                START_NS.saturating_add_signed(offset_ns),
            ),
            offset_ns,
            drift_ppm,
            delay_ns: [10_000, 200_000, 5 * MS, 40 * MS][rng.below(4) as usize],
            is_alive: true,
            is_connected: false,
            frozen_until_ns: 0,
            record: Record::default(),
            truth: Vec::new(),
            n_ios_per_s: 1 + rng.below(5000),
            n_steps,
            seconds,
            is_stopped: false,
            has_ended: false,
            began_ns: BTreeMap::new(),
        }
    };
    let hosts: Vec<Host> = (0..n_hosts).map(|idx| host(idx, &mut rng)).collect();
    let controller =
        Controller::new(n_hosts, Assignment::default(), LossPolicy::Continue, START_NS, 60 * S);
    let mut world = World {
        now_ns: START_NS,
        queue: BTreeMap::new(),
        n_queued: 0,
        hosts,
        controller,
        is_finished: false,
        rng,
        last_ns: BTreeMap::new(),
    };
    let mut harm = Harm::default();
    for idx in 0..n_hosts {
        let at_ns = START_NS + world.rng.below(2 * S);
        world.push(at_ns, Due::Connect(idx));
        let within_ns = 4 * S + u64::from(n_steps * (seconds + 3)) * S;
        let harm_of_host = world.rng.below(100);
        if harm_of_host < 12 {
            let at_ns = START_NS + 3 * S + world.rng.below(within_ns);
            world.push(at_ns, Due::Kill(idx));
            harm.killed.push(idx);
        } else if harm_of_host < 24 {
            let at_ns = START_NS + 3 * S + world.rng.below(within_ns);
            let length_ns = MS + world.rng.below(14 * S);
            world.push(at_ns, Due::Freeze(idx, length_ns));
            harm.frozen.push((idx, length_ns));
        }
    }
    world.push(0, Due::Look);
    (world, harm)
}

fn check(seed: u64) {
    let (mut world, harm) = world(seed);
    while !world.is_finished {
        assert!(world.now_ns < START_NS + 3600 * S, "seed {seed}: no end after an hour");
        assert!(world.step(), "seed {seed}: nothing more happens");
    }
    let outcomes = world.controller.outcomes(world.now_ns);
    let mut total = 0;
    let mut shares = Vec::new();
    for (idx, (host, outcome)) in world.hosts.iter().zip(outcomes).enumerate() {
        let counted: u64 = outcome.record.jobs.iter().map(JobRecord::n_ios).sum();
        let is_harmed = harm.killed.contains(&idx);
        let is_true = counted == 0 || host.truth.contains(&counted);
        assert!(is_true, "seed {seed}: host {idx} counted {counted}, never so: {:?}", host.truth);
        if outcome.lost.is_none() && !outcome.is_refused {
            let all = host.truth.last().copied().unwrap_or(0);
            assert_eq!(counted, all, "seed {seed}: host {idx} is complete and lacks something");
            assert!(host.has_ended, "seed {seed}: host {idx} is complete and goes on");
        } else {
            assert!(is_harmed || !harm.killed.is_empty() || !harm.frozen.is_empty(), "seed {seed}");
        }
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
    let has_lost = shares.iter().any(|share| share.lost.is_some());
    let merged = merge(shares);
    assert_eq!(merged.outcome == Outcome::Partial, has_lost, "seed {seed}");
    let of_jobs: u64 = merged.jobs.iter().map(JobRecord::n_ios).sum();
    let of_bins: u64 = merged.jobs.iter().map(|job| job.dirs.read.lat.count()).sum();
    let of_intervals: u64 = merged.intervals.iter().map(|it| it.dirs.read.n_ios).sum();
    assert_eq!([of_jobs, of_bins, of_intervals], [total; 3], "seed {seed}");
    if harm.killed.is_empty() && harm.frozen.is_empty() {
        check_starts(seed, &world);
    }
}

/// All hosts began each step within what the clocks and the connections allow.
fn check_starts(seed: u64, world: &World) {
    let n_steps = world.hosts[0].n_steps;
    for step_idx in 0..n_steps {
        let began: Vec<u64> =
            world.hosts.iter().filter_map(|host| host.began_ns.get(&step_idx).copied()).collect();
        assert_eq!(began.len(), world.hosts.len(), "seed {seed}: not all began step {step_idx}");
        let spread_ns = began.iter().max().unwrap() - began.iter().min().unwrap();
        // Half of the longest round trip of either, and what clocks drift until the start.
        let delay_ns = world.hosts.iter().map(|host| host.delay_ns).max().unwrap();
        let allowed_ns = 4 * delay_ns + MS;
        assert!(spread_ns <= allowed_ns, "seed {seed}: step {step_idx} began {spread_ns} ns apart");
    }
}

/// 256 seeds; as many as `PROPTEST_CASES` says, before a change of the protocol is called done.
#[test]
fn every_run_ends_in_a_true_record() {
    for seed in 0..u64::from(proptest::test_runner::Config::default().cases) {
        check(seed);
    }
}
