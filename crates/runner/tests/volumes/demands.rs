//! What `limits` says of several needs at once, against runs of the same needs.
//!
//! Designs and needs are drawn at random. A need is met by a run if its job achieves the rate. Both
//! must say the same, but within 1 % of a corner: where a hundredth more or less of all needs
//! changes what `limits` says.

use record::JobRecord;
use volume::design::{
    Backing, Ceiling, Client, Design, Limit, NetworkVolume, Pool, PoolBuild, Stripe, Vm, Volume,
};
use volume::limits::{Bound, Done, Flow, Load, together};
use volume::{CacheMode, CapKind};

use crate::bench::{Bench, cap, design, iops, p30};

/// Designs that an ordinary test run looks at.
const N_CASES: u64 = 60;

/// Designs that are looked at with `PLIMSOLL_LONG_TESTS=1`.
const N_CASES_LONG: u64 = 2000;

/// Part of a need that a run may miss: what a job of some seconds has under way at its end.
const SHORT_MAX: f64 = 0.005;

/// How far from a corner both must say the same.
const CORNER: f64 = 0.01;

const MB: f64 = 1e6;

/// Returns the seeds to look at: the first `n_short`, or with `PLIMSOLL_LONG_TESTS` so many from
/// its value on.
#[expect(clippy::disallowed_methods, reason = "a long test is asked for by a variable")]
pub(crate) fn seeds(n_short: u64, n_long: u64) -> std::ops::Range<u64> {
    let Ok(first) = std::env::var("PLIMSOLL_LONG_TESTS") else { return 0..n_short };
    let first = first.parse().expect("PLIMSOLL_LONG_TESTS is the first seed");
    first..first + n_long
}

/// Random numbers by seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to below 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn happens(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// Between two sizes, each order of magnitude as likely.
    pub(crate) fn size(&mut self, from: f64, to: f64) -> f64 {
        from * (to / from).powf(self.share())
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.next() % all.len() as u64) as usize]
    }
}

/// A design, and its load.
struct Case {
    design: Design,
    is_warm: bool,
    flows: Vec<Flow>,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut dice = Dice(seed);
        let n_volumes = 1 + dice.next() as usize % 4;
        let is_network = dice.happens(0.25);
        let is_warm = dice.happens(0.5);
        let volumes: Vec<Volume> = (0..n_volumes)
            .map(|idx| {
                let mount = format!("/v{idx}");
                if is_network {
                    network(&mut dice, &mount)
                } else {
                    disks(&mut dice, &mount, is_warm)
                }
            })
            .collect();
        let mut design = design(None, volumes);
        if is_network {
            design.pools = vec![Pool {
                name: "pool".to_owned(),
                throughput: bytes(&mut dice),
                iops: dice.happens(0.5).then(|| Limit {
                    per_s: dice.size(1_000.0, 20_000.0) as u64,
                    ..bytes(&mut dice)
                }),
                build: PoolBuild::default(),
            }];
            design.clients = clients(&mut dice);
        } else if dice.happens(0.9) || design.volumes.iter().any(is_cached) {
            design.vm = Some(machine(&mut dice, is_warm));
        }
        let mut flows = Vec::new();
        for volume in 0..n_volumes {
            // Now and then two needs of one volume.
            for _ in 0..=u8::from(dice.happens(0.15)) {
                let size_bytes = dice.one_of(&[4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10]);
                let read_share = dice.one_of(&[0.0, 0.5, 0.7, 1.0]);
                let hit_ratio = if is_warm { 1.0 } else { 0.0 };
                let load = Load { hit_ratio, ..Load::new(size_bytes, read_share) };
                let demand = Some(dice.size(50.0, 6000.0));
                flows.push(Flow { volume: volume as u16, load, demand });
            }
        }
        let mut case = Case { design, is_warm, flows };
        // Half of what is asked at random would be met far too easily, and half never.
        let most = case.most();
        case.scale(most * dice.size(0.6, 1.7));
        case
    }

    /// Returns the factor up to which all needs are met.
    fn most(&self) -> f64 {
        let greedy = |factor: f64| {
            let flows: Vec<Flow> = self.flows.iter().map(|flow| by(flow, factor)).collect();
            let all = together(&self.design, &flows);
            all.iter().zip(&flows).all(|(done, flow)| is_met(done, flow))
        };
        let (mut low, mut high) = (1e-6_f64, 1e6_f64);
        for _ in 0..60 {
            let middle = (low * high).sqrt();
            *(if greedy(middle) { &mut low } else { &mut high }) = middle;
        }
        low
    }

    fn scale(&mut self, factor: f64) {
        for flow in &mut self.flows {
            // A job's rate is whole, each direction's own, and more than nothing.
            let rate = (flow.demand.unwrap_or(0.0) * factor).max(2.0);
            let reads = (rate * flow.load.read_share).round();
            let writes = (rate * (1.0 - flow.load.read_share)).round();
            flow.demand = Some(reads + writes);
            flow.load.read_share = reads / (reads + writes);
        }
    }

    fn said(&self, factor: f64) -> Vec<bool> {
        let flows: Vec<Flow> = self.flows.iter().map(|flow| by(flow, factor)).collect();
        let all = together(&self.design, &flows);
        all.iter().zip(&flows).map(|(done, flow)| is_met(done, flow)).collect()
    }

    /// Returns whether both what a machine's path carries of I/Os and of bytes are used up: how
    /// unlike flows share them then hangs on who comes when.
    fn is_at_two_caps(&self) -> bool {
        let all = together(&self.design, &self.flows);
        let holds = |kind| all.iter().any(|done| done.binds == Bound::Cap(kind));
        (holds(CapKind::VmUncachedIops) && holds(CapKind::VmUncachedBytes))
            || (holds(CapKind::VmCachedIops) && holds(CapKind::VmCachedBytes))
    }

    fn job_file(&self, Trial { ramp_s, time_s, depth }: Trial) -> String {
        let mut text = format!(
            "[global]\nioengine=libaio\ndirect=1\ntime_based=1\nramp_time={ramp_s}\n\
             runtime={time_s}\n"
        );
        for (idx, flow) in self.flows.iter().enumerate() {
            let Load { size_bytes, read_share, .. } = flow.load;
            let demand = flow.demand.unwrap_or(0.0);
            let (reads, writes) = (demand * read_share, demand * (1.0 - read_share));
            let rw = match read_share {
                share if share >= 1.0 => "randread",
                share if share <= 0.0 => "randwrite",
                _ => "randrw",
            };
            // Enough for the rate at 2 ms, and some to wait.
            let depth = depth + (demand * 0.002) as u64;
            let size = if self.is_warm { "64m" } else { "100g" };
            text.push_str(&format!(
                "[j{idx}]\niodepth={depth}\nfilename=/v{}/f{idx}\nrw={rw}\nbs={size_bytes}\n\
                 size={size}\nrwmixread={:.0}\nrate_iops={:.0},{:.0}\n",
                flow.volume,
                read_share * 100.0,
                reads.max(1.0),
                writes.max(1.0)
            ));
        }
        text
    }
}

fn by(flow: &Flow, factor: f64) -> Flow {
    Flow { demand: flow.demand.map(|demand| demand * factor), ..*flow }
}

fn is_met(done: &Done, flow: &Flow) -> bool {
    done.iops >= flow.demand.unwrap_or(0.0) * (1.0 - 1e-9)
}

fn is_cached(volume: &Volume) -> bool {
    match &volume.backing {
        Backing::Disks(stripe) => stripe.disks.iter().any(|disk| disk.cache != CacheMode::None),
        Backing::Network(_) => false,
    }
}

fn bytes(dice: &mut Dice) -> Limit {
    let per_s = dice.size(10.0 * MB, 400.0 * MB) as u64;
    Limit { per_s, burst: None, origin: "a test".to_owned() }
}

/// A warm run's files are small: what is written again before it is on a disk goes there once,
/// which is more than `limits` counts on.
fn disks(dice: &mut Dice, mount: &str, is_warm: bool) -> Volume {
    let cached = if is_warm { CacheMode::ReadOnly } else { CacheMode::ReadWrite };
    let none = CacheMode::None;
    let mode = dice.one_of(&[none, none, CacheMode::ReadOnly, cached]);
    let mut volume = p30(mount, dice.one_of(&[1, 1, 2, 3, 6]), mode);
    let cap = cap(dice.size(200.0, 4000.0) as u64, dice.size(10.0 * MB, 200.0 * MB) as u64);
    if let Backing::Disks(Stripe { disks, .. }) = &mut volume.backing {
        for disk in disks {
            disk.cap = cap.clone();
        }
    }
    volume
}

fn machine(dice: &mut Dice, is_warm: bool) -> Vm {
    let mut pair =
        || cap(dice.size(500.0, 10_000.0) as u64, dice.size(20.0 * MB, 400.0 * MB) as u64);
    // Small enough for its half to be dirty in the ramp; in a warm run, as large as all files.
    Vm {
        size: "own".to_owned(),
        uncached: pair(),
        cached: pair(),
        cache_bytes: Some(if is_warm { 1 << 30 } else { 1 << 20 }),
        ..Vm::default()
    }
}

fn network(dice: &mut Dice, mount: &str) -> Volume {
    let ceiling = if dice.happens(0.5) {
        Ceiling {
            read_iops: Some(dice.size(1000.0, 8000.0) as u64),
            write_iops: Some(dice.size(500.0, 4000.0) as u64),
            ..Ceiling::default()
        }
    } else {
        Ceiling::default()
    };
    let backing = Backing::Network(NetworkVolume {
        level: "own".to_owned(),
        quota: Some(bytes(dice)),
        ceiling,
        pool: dice.happens(0.6).then_some(0),
        transfer_bytes: 256 << 10,
    });
    Volume { backing, ..p30(mount, 1, CacheMode::None) }
}

/// None, or one with slots for all that is in flight.
fn clients(dice: &mut Dice) -> Vec<Client> {
    if dice.happens(0.5) {
        return Vec::new();
    }
    let egress = dice.happens(0.5).then(|| bytes(dice));
    vec![Client {
        name: "c".to_owned(),
        round_trip_ns: 500_000,
        connections: 16,
        slots_per_connection: 128,
        egress,
        ..Client::default()
    }]
}

/// How a run goes.
#[derive(Clone, Copy)]
struct Trial {
    ramp_s: u64,
    time_s: u64,
    /// What each job has in flight beyond what its rate takes.
    depth: u64,
}

/// A short run, and those that are asked where it says something else: long enough for queues and
/// caches that fill by little, and with as many in flight as it takes for no disk to idle.
const TRIALS: [Trial; 4] = [
    Trial { ramp_s: 3, time_s: 4, depth: 32 },
    Trial { ramp_s: 40, time_s: 40, depth: 256 },
    Trial { ramp_s: 100, time_s: 100, depth: 1024 },
    Trial { ramp_s: 200, time_s: 100, depth: 64 },
];

/// Looks at one design; returns whether it stood clear of every corner, or what differs.
fn check_seed(seed: u64) -> Result<bool, String> {
    let case = Case::new(seed);
    let said = case.said(1.0);
    let is_other = |factor| case.said(factor) != said;
    if [1.0 - CORNER, 1.0 + CORNER].into_iter().any(is_other) || case.is_at_two_caps() {
        return Ok(false);
    }
    let all = together(&case.design, &case.flows);
    let mut carried = Vec::new();
    for trial in TRIALS {
        let bench = Bench { is_warm: case.is_warm, ..Bench::new(case.design.clone()) };
        let record = bench.run(&case.job_file(trial));
        carried = record.jobs.iter().map(|job: &JobRecord| iops(job)).collect::<Vec<f64>>();
        let is_carried =
            |idx: usize| carried[idx] >= case.flows[idx].demand.unwrap_or(0.0) * (1.0 - SHORT_MAX);
        let mut judged = 0..case.flows.len();
        let is_alike = |idx: usize| {
            let (flow, done) = (&case.flows[idx], &all[idx]);
            // Needs of one volume that it cannot carry together wait in one queue: which of them is
            // short hangs on how many each has in flight. Both must say that one is.
            let is_with = |other: &usize| case.flows[*other].volume == flow.volume;
            let in_line: Vec<usize> = (0..case.flows.len()).filter(is_with).collect();
            let is_short = in_line.iter().any(|other| !is_met(&all[*other], &case.flows[*other]));
            if in_line.len() > 1 && is_short && in_line.iter().any(|other| !is_carried(*other)) {
                return true;
            }
            let need = flow.demand.unwrap_or(0.0);
            is_carried(idx) == is_met(done, flow)
                || (carried[idx] - done.iops).abs() <= need * CORNER
        };
        if judged.all(is_alike) {
            return Ok(true);
        }
    }
    let mut why = format!("seed {seed}\n");
    for ((done, iops), flow) in all.iter().zip(&carried).zip(&case.flows) {
        let need = flow.demand.unwrap_or(0.0);
        why.push_str(&format!(
            "  volume {}: needs {need:.0}, limits says {:.0} ({}), the run {iops:.0}; {:?}\n",
            flow.volume, done.iops, done.binds, flow.load
        ));
        for (cap, left) in &done.caps {
            let (bound, name, per_s) = (cap.bound, &cap.name, cap.per_s);
            why.push_str(&format!("      {bound} {name} {per_s:.0} leaves {left:.0}\n"));
        }
    }
    Err(why)
}

#[test]
fn several_needs_are_judged_as_a_run_judges_them() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let (mut n_clear, mut wrong) = (0, Vec::new());
    for seed in seeds {
        match check_seed(seed) {
            Ok(is_clear) => n_clear += u64::from(is_clear),
            Err(why) => wrong.push(why),
        }
    }
    assert!(n_clear * 2 > n_cases, "too few clear of a corner: {n_clear}");
    assert!(wrong.is_empty(), "{} of {n_cases} differ:\n{}", wrong.len(), wrong.concat());
}
