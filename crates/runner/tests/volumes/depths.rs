//! The table of rate and latency by queue depth, against runs with as many in flight.
//!
//! Designs and loads are drawn at random. A run keeps as many I/Os in flight as the table says, and
//! must come to its rate and mean latency: within 3 %, and within 8 % where one half more in flight
//! would change what holds the load.

use volume::CacheMode;
use volume::design::{Backing, Design, Stripe, Vm};
use volume::limits::{AtDepth, at_depth, by_depth};
use volume::limits::{Flow, Load};

use crate::bench::{Bench, cap, design, iops, p30};
use crate::demands::{Dice, seeds};

/// Designs that an ordinary test run looks at.
const N_CASES: u64 = 60;

/// Designs that are looked at with `PLIMSOLL_LONG_TESTS=1`.
const N_CASES_LONG: u64 = 1000;

/// How far a run may be from the table.
const OFF_MAX: f64 = 0.03;

/// The same near the corner, which chance rounds.
const CORNER_OFF_MAX: f64 = 0.08;

/// Depths this many times apart from where another cap binds are near the corner.
const CORNER: f64 = 1.5;

/// Deepest queue that is run: beyond it the rate is the same, and runs take long.
const DEPTH_MAX: u32 = 512;

const MB: f64 = 1e6;

struct Case {
    design: Design,
    flow: Flow,
    is_warm: bool,
}

fn case(seed: u64) -> Case {
    let mut dice = Dice(seed ^ 0x5ca1_ab1e);
    let is_warm = dice.one_of(&[false, true]);
    let modes = [CacheMode::None, CacheMode::None, CacheMode::ReadOnly];
    let mut volume = p30("/v", dice.one_of(&[1, 1, 2, 4, 8]), dice.one_of(&modes));
    let disk = cap(dice.size(500.0, 8000.0) as u64, dice.size(20.0 * MB, 300.0 * MB) as u64);
    volume.latency.mean_ns = dice.size(300_000.0, 4_000_000.0) as u64;
    if let Backing::Disks(Stripe { disks, .. }) = &mut volume.backing {
        for it in disks {
            it.cap = disk.clone();
        }
    }
    let mut pair =
        || cap(dice.size(1000.0, 30_000.0) as u64, dice.size(30.0 * MB, 600.0 * MB) as u64);
    let vm = Vm {
        size: "own".to_owned(),
        uncached: pair(),
        cached: pair(),
        cache_bytes: Some(if is_warm { 1 << 30 } else { 1 << 20 }),
        ..Vm::default()
    };
    let size_bytes = dice.one_of(&[4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10]);
    let read_share = dice.one_of(&[0.0, 0.5, 0.7, 1.0]);
    let hit_ratio = if is_warm { 1.0 } else { 0.0 };
    let load = Load { hit_ratio, ..Load::new(size_bytes, read_share) };
    let flow = Flow { volume: 0, load, demand: None };
    Case { design: design(Some(vm), vec![volume]), flow, is_warm }
}

/// Seconds of ramp and of measured time: of a short run, and of one for what seems wrong in it.
const TIMES: [(u32, u32); 2] = [(2, 8), (20, 100)];

/// Returns the rate and the mean latency in seconds of a run with so many in flight.
fn run(case: &Case, queue_depth: u32, (ramp_s, time_s): (u32, u32)) -> (f64, f64) {
    let Load { size_bytes, read_share, .. } = case.flow.load;
    let rw = match read_share {
        share if share >= 1.0 => "randread",
        share if share <= 0.0 => "randwrite",
        _ => "randrw",
    };
    let size = if case.is_warm { "64m" } else { "100g" };
    let text = format!(
        "[global]\nioengine=libaio\ndirect=1\ntime_based=1\nramp_time={ramp_s}\nruntime={time_s}\n\
         [j]\nfilename=/v/f\nrw={rw}\nbs={size_bytes}\nrwmixread={:.0}\niodepth={queue_depth}\n\
         size={size}\n",
        read_share * 100.0
    );
    let bench = Bench { is_warm: case.is_warm, ..Bench::new(case.design.clone()) };
    let record = bench.run(&text);
    let job = &record.jobs[0];
    let (mut n_done, mut total_ns) = (0.0, 0.0);
    for (_, dir) in job.dirs.iter() {
        let latency = dir.service_latency();
        let n = latency.count() as f64;
        (n_done, total_ns) = (n_done + n, total_ns + n * latency.mean_ns().unwrap_or(0.0));
    }
    (iops(job), total_ns / n_done / 1e9)
}

/// Returns whether another depth not far from it is held by something else.
fn is_near_corner(case: &Case, row: &AtDepth) -> bool {
    let of = |depth: f64| at_depth(&case.design, &[case.flow], 0, (depth.round() as u32).max(1));
    let depth = f64::from(row.queue_depth);
    [depth / CORNER, depth * CORNER].into_iter().any(|depth| of(depth).binds != row.binds)
}

fn check_seed(seed: u64) -> Vec<String> {
    let case = case(seed);
    let mut wrong = Vec::new();
    for row in by_depth(&case.design, &[case.flow], 0) {
        let in_flight = row.iops * row.latency_s;
        let depth = f64::from(row.queue_depth);
        assert!((in_flight / depth - 1.0).abs() < 1e-9, "{in_flight} in flight: {row:?}");
        if row.queue_depth > DEPTH_MAX {
            break;
        }
        let most = if is_near_corner(&case, &row) { CORNER_OFF_MAX } else { OFF_MAX };
        let off = |time: (u32, u32)| {
            let (iops, latency_s) = run(&case, row.queue_depth, time);
            (iops / row.iops - 1.0).abs().max((latency_s / row.latency_s - 1.0).abs())
        };
        if TIMES.into_iter().all(|time| off(time) > most) {
            wrong.push(format!(
                "seed {seed}: {row:?}, a long run is off by {:.1} %; {:?} warm {}\n",
                off(TIMES[1]) * 100.0,
                case.flow.load,
                case.is_warm
            ));
        }
    }
    wrong
}

#[test]
fn rate_and_latency_by_depth_are_those_of_runs() {
    let wrong: Vec<String> = seeds(N_CASES, N_CASES_LONG).flat_map(check_seed).collect();
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.concat());
}

/// The published P30: 1 ms without load, 5,000 IOPS; the corner lies at five in flight.
#[test]
fn the_table_of_one_disk() {
    let one = design(None, vec![p30("/v", 1, CacheMode::None)]);
    let flow = Flow { volume: 0, load: Load::new(8 << 10, 1.0), demand: None };
    let rows: Vec<(u32, f64, f64)> = by_depth(&one, &[flow], 0)
        .iter()
        .map(|row| (row.queue_depth, row.iops, (row.latency_s * 1e8).round() / 1e5))
        .collect();
    let expected = [
        (1, 1000.0, 1.0),
        (2, 2000.0, 1.0),
        (4, 4000.0, 1.0),
        (8, 5000.0, 1.6),
        (16, 5000.0, 3.2),
        (32, 5000.0, 6.4),
    ];
    assert_eq!(rows, expected);
}
