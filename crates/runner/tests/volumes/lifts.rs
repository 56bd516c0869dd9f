//! A cap that is said to bind is one whose lifting changes the result, and no other is.
//!
//! Designs and loads are drawn at random and run; then each cap is lifted by a fifth, one at a
//! time, and they are run again.

use record::CapsRecord;
use volume::design::{Backing, Cap, Design, Stripe, Vm, Volume};
use volume::{CacheMode, Limit};

use crate::bench::{Bench, cap, design, iops, p30};
use crate::demands::{Dice, seeds};

/// Designs that an ordinary test run looks at.
const N_CASES: u64 = 40;

/// Designs that are looked at with `PLIMSOLL_LONG_TESTS=1`.
const N_CASES_LONG: u64 = 1000;

/// By how much a cap is lifted.
const LIFT: f64 = 1.2;

/// Gain from which on lifting a cap changes the result.
const GAIN_MIN: f64 = 0.01;

/// Gain of a cap that does not bind, at most: bursts of I/Os that meet by chance wait for other
/// caps as well.
const STRAY_MAX: f64 = 0.03;

/// A design and the load of each of its volumes.
struct Case {
    design: Design,
    jobs: String,
}

const MB: f64 = 1e6;

fn case(seed: u64) -> Case {
    let mut dice = Dice(seed);
    let n_volumes = dice.one_of(&[1, 1, 2]);
    let volumes: Vec<Volume> =
        (0..n_volumes).map(|idx| disks(&mut dice, &format!("/v{idx}"))).collect();
    let mut pair = || cap(dice.size(500.0, 8000.0) as u64, dice.size(10.0 * MB, 300.0 * MB) as u64);
    let vm = Vm {
        size: "own".to_owned(),
        uncached: pair(),
        cached: pair(),
        // So large that it never fills, or so small that it is full at once.
        cache_bytes: Some(dice.one_of(&[100 << 30, 1 << 20])),
        ..Vm::default()
    };
    let mut jobs = "[global]\nioengine=libaio\ndirect=1\ntime_based=1\nramp_time=3\nruntime=4\n\
                    size=100g\n"
        .to_owned();
    for volume in 0..n_volumes {
        let bs = dice.one_of(&["4k", "8k", "16k", "64k", "256k"]);
        let rw = dice.one_of(&["randread", "randwrite", "randwrite", "randrw"]);
        let depth = dice.one_of(&[1, 4, 16, 64, 256]);
        jobs.push_str(&format!(
            "[j{volume}]\nfilename=/v{volume}/f\nrw={rw}\nbs={bs}\niodepth={depth}\n"
        ));
    }
    Case { design: design(Some(vm), volumes), jobs }
}

fn disks(dice: &mut Dice, mount: &str) -> Volume {
    let modes = [CacheMode::None, CacheMode::ReadOnly, CacheMode::ReadWrite, CacheMode::ReadWrite];
    let mut volume = p30(mount, dice.one_of(&[1, 1, 2, 4]), dice.one_of(&modes));
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
            limit.per_s = (limit.per_s as f64 * LIFT) as u64;
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

/// Returns what is wrong about what one design says, if anything is.
fn look(seed: u64) -> Result<bool, String> {
    let case = case(seed);
    let before = run(&case.design, &case.jobs);
    let mut names: Vec<String> = Vec::new();
    for cap in before.iter().flat_map(|(_, caps)| &caps.caps) {
        if !names.contains(&cap.name) {
            names.push(cap.name.clone());
        }
    }
    let rates = |lifted: &[&String]| -> Vec<f64> {
        let mut design = case.design.clone();
        for name in lifted {
            lift(&mut design, name);
        }
        run(&design, &case.jobs).into_iter().map(|(iops, _)| iops).collect()
    };
    let alone: Vec<Vec<f64>> = names.iter().map(|name| rates(&[name])).collect();
    let mut wrong = String::new();
    for (job, (iops, caps)) in before.iter().enumerate() {
        let gain = |rates: &[f64]| rates[job] / iops - 1.0;
        let gains: Vec<(&String, f64)> =
            names.iter().zip(alone.iter().map(|rates| gain(rates))).collect();
        let named: Vec<&String> = caps.binding.iter().chain(&caps.binding_too).collect();
        let of_named = gains.iter().filter(|(name, _)| named.contains(name));
        let of_others = gains.iter().filter(|(name, _)| !named.contains(name));
        let most = of_others.map(|(_, gain)| *gain).fold(0.0, f64::max);
        let is_right = match named.len() {
            0 => true,
            1 => of_named.into_iter().all(|(_, gain)| *gain >= GAIN_MIN),
            _ => {
                let best = of_named.map(|(_, gain)| *gain).fold(0.0, f64::max);
                best <= STRAY_MAX && gain(&rates(&named)) >= GAIN_MIN
            }
        };
        // Once half of the cache is dirty, writes take the way to the disk, which is longer: near
        // to it, more of another cap can even be less.
        let is_near = |cap: &record::CapRecord| cap.is_behind_cache && cap.used_share > 1.0 / LIFT;
        let is_at_corner = !named.is_empty()
            && caps.caps.iter().any(|cap| is_near(cap) && cap.held_share < GAIN_MIN)
            && caps.filling.is_none();
        if !is_at_corner && (!is_right || most > STRAY_MAX) {
            wrong.push_str(&told(seed, job, (*iops, caps), &gains));
        }
    }
    if wrong.is_empty() { Ok(true) } else { Err(wrong) }
}

/// Describes a job whose named caps are not those that hold it.
fn told(
    seed: u64,
    job: usize,
    (iops, caps): (f64, &CapsRecord),
    gains: &[(&String, f64)],
) -> String {
    let (binding, too) = (&caps.binding, &caps.binding_too);
    let mut text = format!("seed {seed}, job {job}: {iops:.0} IOPS, {binding:?} {too:?} named\n");
    for (name, gain) in gains {
        text.push_str(&format!("   {name} lifted: {gain:.3}\n"));
    }
    for cap in &caps.caps {
        let (held, used, part) = (cap.held_share, cap.fullest_share(), cap.part);
        text.push_str(&format!("   {} held {held:.3} used {used:.4} part {part:.2}\n", cap.name));
    }
    text
}

#[test]
fn a_cap_that_is_named_is_one_whose_lifting_changes_the_result() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let wrong: Vec<String> = seeds.clone().filter_map(|seed| look(seed).err()).collect();
    assert!(wrong.is_empty(), "{} of {seeds:?} are wrong:\n{}", wrong.len(), wrong.concat());
}
