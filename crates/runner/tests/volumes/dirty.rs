//! Rates that hold only until a write-back cache is dirty: for how long they are said to hold,
//! against when they fall in a longer run of the same load.

use volume::CacheMode;
use volume::design::{Backing, Design, Stripe, Vm, Volume};

use crate::bench::{Bench, cap, design, iops, p30};
use crate::demands::{Dice, seeds};

/// Designs that an ordinary test run looks at.
const N_CASES: u64 = 12;

/// Designs that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 200;

/// Seconds until the end of the measured time of the run that says for how long.
const SAID_AT_S: f64 = 7.0;

/// How far from the truth it may be: as a share, and seconds, within which the rate falls. Where
/// blocks are written again while they are dirty, it may last longer.
const OFF_MAX: f64 = 0.02;
/// The same where reads take of the disks as well, of which a few seconds say less.
const OFF_MIXED_MAX: f64 = 0.1;
const OFF_S_MAX: f64 = 0.5;

/// Change of a rate that does not fall.
const STEADY: f64 = 0.02;

const MB: f64 = 1e6;

/// Levels that what is dirty comes near to, as shares of what may be dirty.
const LEVELS: [f64; 5] = [f64::INFINITY, f64::INFINITY, 2.0, 1.5, 0.7];

/// A design whose cache takes more than its disks, and a load.
struct Case {
    design: Design,
    jobs: String,
    /// Whether half of the I/Os are reads, which fill no cache.
    is_mixed: bool,
    /// Whether blocks are written again before the cache is full.
    is_again: bool,
    /// Seconds by which a cache that fills is full.
    filled_s: f64,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut dice = Dice(seed);
        let n_volumes = dice.one_of(&[1, 1, 2]);
        let block_bytes = dice.one_of(&[4_u64 << 10, 8 << 10, 16 << 10, 64 << 10]);
        let rw = dice.one_of(&["randwrite", "randwrite", "randrw"]);
        // What the disks take of writes, and what comes in: half as much again or more.
        let mut out_per_s = 0.0;
        let volumes: Vec<Volume> = (0..n_volumes)
            .map(|idx| {
                let n_disks = dice.one_of(&[1, 2, 4]);
                let mut volume = p30(&format!("/v{idx}"), n_disks, CacheMode::ReadWrite);
                let per_s = dice.size(200.0, 1000.0);
                out_per_s += per_s * n_disks as f64;
                if let Backing::Disks(Stripe { disks, .. }) = &mut volume.backing {
                    for disk in disks {
                        disk.cap = cap(per_s as u64, 1 << 40);
                    }
                }
                volume
            })
            .collect();
        let in_per_s = out_per_s * dice.size(1.5, 4.0) + 500.0;
        let filled_s = dice.size(15.0, 60.0);
        let cache_bytes = 2.0 * (in_per_s - out_per_s) * block_bytes as f64 * filled_s;
        let vm = Vm {
            size: "own".to_owned(),
            uncached: cap(1_000_000, 1 << 40),
            cached: cap(in_per_s as u64, (4000.0 * MB) as u64),
            cache_bytes: Some(cache_bytes as u64),
            ..Vm::default()
        };
        // Of what is written at random to so many bytes, what is dirty comes near to a level: here
        // to so much of what fits into the cache. Below 1 the cache never fills.
        let level = if rw == "randrw" { f64::INFINITY } else { dice.one_of(&LEVELS) };
        let places = level * cache_bytes / 2.0 / (1.0 - out_per_s / in_per_s) / n_volumes as f64;
        let size_bytes = places.min(900.0 * f64::from(1 << 30)) as u64 / block_bytes * block_bytes;
        let jobs = (0..n_volumes).map(|idx| {
            let what = format!("rw={rw}\nbs={block_bytes}\niodepth=64\nsize={size_bytes}");
            format!("[j{idx}]\nfilename=/v{idx}/f\nnorandommap=1\n{what}\n")
        });
        let (jobs, design) = (jobs.collect(), design(Some(vm), volumes));
        Case { design, jobs, is_mixed: rw == "randrw", is_again: level.is_finite(), filled_s }
    }

    /// Runs it for so long after 3 s of ramp. Returns I/Os per second, and how long that is said to
    /// last.
    fn run(&self, time_s: u64) -> (f64, Option<f64>) {
        let head = "[global]\nioengine=libaio\ndirect=1\ntime_based=1\nramp_time=3\n";
        let text = format!("{head}runtime={time_s}\n{}", self.jobs);
        let record = Bench::new(self.design.clone()).run(&text);
        let filling = |job: &record::JobRecord| {
            job.caps.as_ref()?.filling.clone().filter(|filling| !filling.never_fills)
        };
        let lasts_s = record.jobs.iter().find_map(filling).map(|filling| filling.lasts_s);
        (record.jobs.iter().map(iops).sum(), lasts_s)
    }
}

/// Returns what is wrong about what is said of one design, if it says something.
fn check_seed(seed: u64) -> Result<bool, String> {
    let case = Case::new(seed);
    let (fast, lasts_s) = case.run(4);
    let Some(lasts_s) = lasts_s else {
        let later = case.run((case.filled_s * 4.0) as u64).0;
        let is_steady = (later / fast - 1.0).abs() <= STEADY;
        let why = || format!("seed {seed}: {fast:.0} IOPS, later {later:.0}, and nothing said\n");
        return is_steady.then_some(false).ok_or_else(why);
    };
    let said_s = SAID_AT_S + lasts_s;
    // Far beyond the fall, twice: what both carry gives the rate after it, and then its moment.
    let long_s = (said_s * 1.5) as u64 + 10;
    let longer_s = long_s + 20;
    let carried = |time_s: u64| case.run(time_s).0 * time_s as f64;
    let (n_long, n_longer) = (carried(long_s), carried(longer_s));
    let slow = (n_longer - n_long) / (longer_s - long_s) as f64;
    let fell_s = 3.0 + (n_long - slow * long_s as f64) / (fast - slow);
    let never_falls = slow > fast * (1.0 - STEADY);
    if case.is_again && (never_falls || fell_s > said_s) {
        return Ok(true);
    }
    let off_max = if case.is_mixed { OFF_MIXED_MAX } else { OFF_MAX };
    if (fell_s - said_s).abs() > OFF_S_MAX + off_max * fell_s {
        let rates = format!("{fast:.0} IOPS, then {slow:.0}");
        return Err(format!("seed {seed}: {rates}: fell at {fell_s:.1} s, said {said_s:.1} s\n"));
    }
    Ok(true)
}

#[test]
fn a_rate_falls_when_it_is_said_to() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let (mut n_said, mut wrong) = (0, String::new());
    for seed in seeds {
        match check_seed(seed) {
            Ok(is_said) => n_said += u64::from(is_said),
            Err(why) => wrong.push_str(&why),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_said * 2 >= n_cases, "only {n_said} of {n_cases} said for how long");
}
