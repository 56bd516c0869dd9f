//! A cap that is said to bind is one whose lifting changes the result, and no other is.
//!
//! Designs and loads are drawn at random and run; then each cap is lifted by a fifth, one at a
//! time, and they are run again. What seems wrong in a short run is looked at again in a long one:
//! a job of ten large I/Os per second ends some of them more or less in four seconds by where the
//! last second cuts. What one job gains of a common cap and others lose is no gain: more of the cap
//! that is said to bind is not carried.

use record::CapsRecord;
use volume::design::{Backing, Burst, Cap, Design, Stripe, Vm, Volume};
use volume::{CacheMode, Limit};

use crate::bench::{Bench, cap, design, iops, p30};
use crate::demands::{Dice, seeds};

/// Designs that an ordinary test run looks at.
const N_CASES: u64 = 40;

/// Designs that are looked at with `PLIMSOLL_LONG_TESTS=1`.
const N_CASES_LONG: u64 = 1000;

/// Designs that are looked at beside them: what waits behind a write-back cache for several caps at
/// once, caps in front of a cache and behind it, a job of one I/O at a time, and exchanges.
const KNOWN: [u64; 10] =
    [356, 413, 570, 200_058, 200_061, 200_463, 200_550, 200_603, 500_146, 500_199];

/// By how much a cap is lifted.
const LIFT: f64 = 1.2;

/// Gain of a cap that does not bind, at most: bursts of I/Os that meet by chance wait for other
/// caps as well.
const STRAY_MAX: f64 = 0.03;

/// Seconds of ramp and of measured time, and what a run of that length can tell.
#[derive(Clone, Copy)]
struct Time {
    ramp_s: u64,
    measured_s: u64,
    /// Gain from which on lifting a cap changes the result: less is chance.
    gain_min: f64,
}

/// A short run, and one for what seems wrong in it.
const TIMES: [Time; 2] = [
    Time { ramp_s: 3, measured_s: 4, gain_min: 0.01 },
    Time { ramp_s: 30, measured_s: 60, gain_min: 0.005 },
];

/// A design and the load of each of its volumes.
struct Case {
    design: Design,
    jobs: String,
    /// Bytes of an I/O of each job.
    sizes: Vec<f64>,
    /// As [`Time::gain_min`].
    gain_min: f64,
}

const MB: f64 = 1e6;

fn case(seed: u64, Time { ramp_s, measured_s, gain_min }: Time) -> Case {
    let mut dice = Dice(seed);
    let n_volumes = dice.one_of(&[1, 1, 2]);
    let volumes: Vec<Volume> =
        (0..n_volumes).map(|idx| disks(&mut dice, &format!("/v{idx}"), &MODES)).collect();
    let mut pair = || cap(dice.size(500.0, 8000.0) as u64, dice.size(10.0 * MB, 300.0 * MB) as u64);
    let vm = Vm {
        size: "own".to_owned(),
        uncached: pair(),
        cached: pair(),
        // So large that it never fills, or so small that it is full at once.
        cache_bytes: Some(dice.one_of(&[100 << 30, 1 << 20])),
        ..Vm::default()
    };
    let mut jobs = format!(
        "[global]\nioengine=libaio\ndirect=1\ntime_based=1\nramp_time={ramp_s}\n\
         runtime={measured_s}\nsize=100g\n"
    );
    let mut sizes = Vec::new();
    for volume in 0..n_volumes {
        let bs = dice.one_of(&[4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10]);
        sizes.push(f64::from(bs));
        let rw = dice.one_of(&["randread", "randwrite", "randwrite", "randrw"]);
        let depth = dice.one_of(&[1, 4, 16, 64, 256]);
        jobs.push_str(&format!(
            "[j{volume}]\nfilename=/v{volume}/f\nrw={rw}\nbs={bs}\niodepth={depth}\n"
        ));
    }
    Case { design: design(Some(vm), volumes), jobs, sizes, gain_min }
}

/// Draws a design whose cache is cold when the measured time begins, and warms in it: the file of
/// each volume is as large as what some seconds read.
fn warming_case(seed: u64, time: Time) -> Case {
    let Time { measured_s, .. } = time;
    let mut dice = Dice(seed);
    let modes = [CacheMode::ReadOnly, CacheMode::ReadWrite];
    let mut pair = || cap(dice.size(500.0, 8000.0) as u64, dice.size(10.0 * MB, 300.0 * MB) as u64);
    let vm = Vm {
        size: "own".to_owned(),
        uncached: pair(),
        cached: pair(),
        cache_bytes: Some(100 << 30),
        ..Vm::default()
    };
    let volume = disks(&mut dice, "/v0", &modes);
    let bs = dice.one_of(&[4 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10]);
    let file_bytes = (dice.size(2.0 * MB, 60.0 * MB) as u64 * measured_s).next_multiple_of(bs);
    let rw = dice.one_of(&["randread", "randread", "randrw"]);
    let depth = dice.one_of(&[4, 16, 64, 256]);
    let jobs = one_job(&time, rw, bs, depth, &file_bytes.to_string());
    Case {
        design: design(Some(vm), vec![volume]),
        jobs,
        sizes: vec![bs as f64],
        gain_min: time.gain_min,
    }
}

/// Draws a design whose disks burst when the measured time begins, and end to in it, or soon after:
/// a machine carries more than they sustain, and often less than their bursts.
fn bursting_case(seed: u64, time: Time) -> Case {
    let Time { measured_s, .. } = time;
    let mut dice = Dice(seed);
    let mut volume = disks(&mut dice, "/v0", &[CacheMode::None]);
    let Backing::Disks(Stripe { disks, .. }) = &mut volume.backing else { unreachable!("disks") };
    let (burst, bursts_s) = (dice.size(1.5, 6.0), dice.size(0.1, 2.0) * measured_s as f64);
    let has_iops_bursts = dice.one_of(&[true, false]);
    for disk in &mut *disks {
        let Cap { iops, bytes, .. } = &mut disk.cap;
        if let Some(limit) = if has_iops_bursts { iops } else { bytes } {
            let per_s = (limit.per_s as f64 * burst) as u64;
            let bucket = Some(((per_s - limit.per_s) as f64 * bursts_s) as u64);
            limit.burst = Some(Burst { per_s, bucket });
        }
    }
    let of = |limit: &Option<Limit>| limit.as_ref().map_or(0, |limit| limit.per_s) as f64;
    let n_disks = disks.len() as f64;
    let (base_iops, base_bytes) =
        (of(&disks[0].cap.iops) * n_disks, of(&disks[0].cap.bytes) * n_disks);
    let mut room = || dice.size(0.8, 8.0);
    let vm = Vm {
        size: "own".to_owned(),
        uncached: cap((base_iops * room()) as u64, (base_bytes * room()) as u64),
        ..Vm::default()
    };
    let bs = dice.one_of(&[4 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10]);
    let rw = dice.one_of(&["randread", "randwrite", "randrw"]);
    let depth = dice.one_of(&[4, 16, 64, 256]);
    let jobs = one_job(&time, rw, bs, depth, "100g");
    Case {
        design: design(Some(vm), vec![volume]),
        jobs,
        sizes: vec![bs as f64],
        gain_min: time.gain_min,
    }
}

/// Returns a job file whose measured time begins at once.
fn one_job(time: &Time, rw: &str, bs: u64, depth: u32, size: &str) -> String {
    let measured_s = time.measured_s;
    format!(
        "[j0]\nfilename=/v0/f\nioengine=libaio\ndirect=1\ntime_based=1\nruntime={measured_s}\n\
         rw={rw}\nbs={bs}\niodepth={depth}\nsize={size}\n"
    )
}

/// How the caches of a volume's disks are drawn.
const MODES: [CacheMode; 4] =
    [CacheMode::None, CacheMode::ReadOnly, CacheMode::ReadWrite, CacheMode::ReadWrite];

fn disks(dice: &mut Dice, mount: &str, modes: &[CacheMode]) -> Volume {
    let mut volume = p30(mount, dice.one_of(&[1, 1, 2, 4]), dice.one_of(modes));
    let cap = cap(dice.size(200.0, 4000.0) as u64, dice.size(10.0 * MB, 200.0 * MB) as u64);
    if let Backing::Disks(Stripe { disks, .. }) = &mut volume.backing {
        for disk in disks {
            disk.cap = cap.clone();
        }
    }
    volume
}

/// Lifts a cap by its name in a record.
fn lift(design: &mut Design, name: &str) {
    let more = |limit: &mut Option<Limit>| {
        if let Some(limit) = limit {
            let lifted = |per_s: u64| (per_s as f64 * LIFT) as u64;
            limit.per_s = lifted(limit.per_s);
            if let Some(burst) = &mut limit.burst {
                burst.per_s = lifted(burst.per_s);
                burst.bucket = burst.bucket.map(lifted);
            }
        }
    };
    let of =
        |cap: &mut Cap, is_iops: bool| more(if is_iops { &mut cap.iops } else { &mut cap.bytes });
    let (kind, mount) = name.split_once(' ').unwrap_or((name, ""));
    let is_iops = kind.ends_with("_iops");
    if kind.starts_with("disk_") {
        let volume = design.volumes.iter_mut().find(|volume| volume.mount == mount);
        if let Some(Volume { backing: Backing::Disks(stripe), .. }) = volume {
            stripe.disks.iter_mut().for_each(|disk| of(&mut disk.cap, is_iops));
        }
        return;
    }
    let vm = design.vm.as_mut().expect("a machine");
    of(if kind.starts_with("vm_cached") { &mut vm.cached } else { &mut vm.uncached }, is_iops);
}

/// Returns what each job carries, and what held it.
fn run(design: &Design, jobs: &str) -> Vec<(f64, CapsRecord)> {
    let record = Bench::new(design.clone()).run(jobs);
    record.jobs.iter().map(|job| (iops(job), job.caps.clone().expect("caps"))).collect()
}

/// What one design carries, and what it would carry with caps lifted.
struct Lifts {
    case: Case,
    before: Vec<(f64, CapsRecord)>,
    /// What each job carries with each of the caps lifted alone.
    alone: Vec<(String, Vec<f64>)>,
}

impl Lifts {
    fn new(case: Case) -> Lifts {
        let before = run(&case.design, &case.jobs);
        let mut names: Vec<String> = Vec::new();
        for cap in before.iter().flat_map(|(_, caps)| &caps.caps) {
            if !names.contains(&cap.name) {
                names.push(cap.name.clone());
            }
        }
        let mut lifts = Lifts { case, before, alone: Vec::new() };
        for name in names {
            let rates = lifts.rates(&[&name]);
            lifts.alone.push((name, rates));
        }
        lifts
    }

    /// Returns what each job carries with these caps lifted.
    fn rates(&self, lifted: &[&String]) -> Vec<f64> {
        if let [name] = lifted
            && let Some((_, rates)) = self.alone.iter().find(|(known, _)| known == *name)
        {
            return rates.clone();
        }
        let mut design = self.case.design.clone();
        for name in lifted {
            lift(&mut design, name);
        }
        run(&design, &self.case.jobs).into_iter().map(|(iops, _)| iops).collect()
    }

    fn named(&self, job: usize) -> Vec<&String> {
        let caps = &self.before[job].1;
        let both = caps.binding.iter().chain(&caps.binding_too);
        both.chain(&caps.binding_at_times).collect()
    }

    /// Returns by how much more a job carries than with other rates, as a share of what it carries
    /// now. What a common cap gives more is shared anew among those that such caps hold, and one
    /// may lose by it: what one of them gains counts.
    fn gain(&self, job: usize, caps: &[&String], rates: (&[f64], &[f64])) -> f64 {
        let is_common = |name: &str| !name.contains(' ');
        let meets = |other: usize, name: &String| is_common(name) && self.meets(other, name);
        let shares = |other: &usize| {
            self.named(*other).iter().any(|name| is_common(name))
                && caps.iter().any(|name| meets(*other, name))
        };
        let of = |job: usize| (rates.1[job] - rates.0[job]) / self.before[job].0;
        (0..self.before.len()).filter(shares).map(of).fold(of(job), f64::max)
    }

    /// Returns whether what a job gains is what others lose of a common cap that is named for it.
    fn is_taken_from_others(&self, job: usize, rates: &[f64]) -> bool {
        let is_exchange = |name: &&String| {
            let amount = |other: usize, rate: f64| {
                rate * if name.ends_with("_iops") { 1.0 } else { self.case.sizes[other] }
            };
            let users = || (0..self.before.len()).filter(|other| self.meets(*other, name));
            let before: f64 = users().map(|other| amount(other, self.before[other].0)).sum();
            let after: f64 = users().map(|other| amount(other, rates[other])).sum();
            !name.contains(' ') && users().count() > 1 && after <= before * (1.0 + STRAY_MAX)
        };
        self.named(job).iter().any(is_exchange)
    }

    fn meets(&self, job: usize, name: &str) -> bool {
        self.before[job].1.caps.iter().any(|cap| cap.name == *name)
    }

    /// Returns what is wrong about what is said of a job.
    fn wrong(&self, job: usize) -> Option<String> {
        let before: Vec<f64> = self.before.iter().map(|(iops, _)| *iops).collect();
        let named = self.named(job);
        for (name, rates) in &self.alone {
            let is_of_others = (0..before.len()).any(|other| self.named(other).contains(&name));
            let gains = rates[job] / before[job] - 1.0 > STRAY_MAX;
            if !is_of_others && gains && !self.is_taken_from_others(job, rates) {
                return Some(format!("{name} is not named"));
            }
        }
        if named.is_empty() {
            return None;
        }
        let together = self.rates(&named);
        if self.gain(job, &named, (&before, &together)) < self.case.gain_min {
            return Some("to lift what is named brings nothing".to_owned());
        }
        for name in named.iter().filter(|_| named.len() > 1) {
            let others: Vec<&String> =
                named.iter().copied().filter(|other| other != name).collect();
            if self.gain(job, &[name], (&self.rates(&others), &together)) < self.case.gain_min {
                return Some(format!("{name} is named in vain"));
            }
        }
        None
    }
}

/// Returns what is wrong about what one design says, if anything is.
fn check_seed(draw: Draw, seed: u64) -> Result<(), String> {
    let [short, long] = TIMES;
    look_for(draw, seed, short).or_else(|_| look_for(draw, seed, long))
}

/// Makes the case of a seed, to be run so long.
type Draw = fn(u64, Time) -> Case;

fn look_for(draw: Draw, seed: u64, time: Time) -> Result<(), String> {
    let lifts = Lifts::new(draw(seed, time));
    let mut wrong = String::new();
    for job in 0..lifts.before.len() {
        if let Some(why) = lifts.wrong(job) {
            wrong.push_str(&format!("seed {seed}, job {job}: {why}\n{}", describe(&lifts, job)));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Describes a job and its caps.
fn describe(lifts: &Lifts, job: usize) -> String {
    let (iops, caps) = &lifts.before[job];
    let named = lifts.named(job);
    let mut text = format!("  {iops:.0} IOPS, {named:?} named, filling: {:?}\n", caps.filling);
    for line in lifts.case.jobs.lines().filter(|line| !line.contains("time") && !line.is_empty()) {
        text.push_str(&format!("{line} "));
    }
    text.push('\n');
    for (name, rates) in &lifts.alone {
        let gains = rates.iter().zip(&lifts.before).map(|(rate, (iops, _))| rate / iops - 1.0);
        text.push_str(&format!("   {name} lifted: {:.3?}\n", gains.collect::<Vec<_>>()));
    }
    for cap in &caps.caps {
        let (held, used, part) = (cap.held_share, cap.fullest_share(), cap.part);
        let n = cap.n_disks;
        let (bound, apart) = (cap.bound_share, cap.apart_share);
        text.push_str(&format!(
            "   {} held {held:.3} used {used:.4} part {part:.2} bound {bound:.2} \
             apart {apart:.2} n {n}\n",
            cap.name
        ));
    }
    text
}

#[test]
fn a_cap_that_is_named_is_one_whose_lifting_changes_the_result() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let all = seeds.clone().chain(KNOWN);
    let wrong: Vec<String> = all.filter_map(|seed| check_seed(case, seed).err()).collect();
    assert!(wrong.is_empty(), "{} of {seeds:?} are wrong:\n{}", wrong.len(), wrong.concat());
}

/// A job is held by one cap first, and later by another one: both are named.
#[track_caller]
fn check_changing(draw: Draw) {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let all = seeds.clone();
    let wrong: Vec<String> = all.filter_map(|seed| check_seed(draw, seed).err()).collect();
    assert!(wrong.is_empty(), "{} of {seeds:?} are wrong:\n{}", wrong.len(), wrong.concat());
    let changes = |seed: &u64| {
        let case = draw(*seed, TIMES[0]);
        !run(&case.design, &case.jobs)[0].1.binding_at_times.is_empty()
    };
    let n = seeds.clone().take(N_CASES as usize).filter(changes).count();
    assert!(n * 8 >= N_CASES as usize, "only {n} of {N_CASES} are held by one after the other");
}

#[test]
fn caps_that_bind_before_and_after_a_cache_is_warm_are_named() {
    check_changing(warming_case);
}

#[test]
fn caps_that_bind_before_and_after_credits_end_are_named() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let (mut n_looked, mut n_ended, mut wrong) = (0, 0, String::new());
    let [short, long] = TIMES;
    for seed in seeds.clone().filter(|seed| !is_at_a_corner(*seed, short)) {
        let case = bursting_case(seed, short);
        let caps = run(&case.design, &case.jobs).remove(0).1;
        n_looked += 1;
        n_ended += usize::from(!caps.binding.iter().any(|name| name.starts_with("vm_")));
        let why = check_seed(bursting_case, seed).err();
        wrong.extend(why.filter(|_| !is_at_a_corner(seed, long)));
    }
    assert!(wrong.is_empty(), "of {seeds:?} are wrong:\n{wrong}");
    let is_common = n_looked * 2 >= N_CASES && n_ended * 4 >= N_CASES as usize;
    assert!(is_common, "of {n_looked} designs disks hold {n_ended}");
}

/// Returns whether a few more or less credits change what holds the job of a seed.
fn is_at_a_corner(seed: u64, time: Time) -> bool {
    let named = |share: f64| {
        let mut case = bursting_case(seed, time);
        let Backing::Disks(stripe) = &mut case.design.volumes[0].backing else { return None };
        let caps = stripe.disks.iter_mut().map(|disk| &mut disk.cap);
        for limit in caps.flat_map(|cap| [&mut cap.iops, &mut cap.bytes]).flatten() {
            let bucket = limit.burst.as_mut().and_then(|burst| burst.bucket.as_mut());
            if let Some(bucket) = bucket {
                *bucket = (*bucket as f64 * share) as u64;
            }
        }
        Some(run(&case.design, &case.jobs).remove(0).1.binding)
    };
    named(0.8) != named(1.2)
}
