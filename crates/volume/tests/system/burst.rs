//! Burst credits of disks and of machines. Rates are a hundredth of the published ones, and times
//! are the published ones: the same phases with fewer operations.

use crate::common::*;
use volume::design::{CacheMode, Cap, Limit};
use volume::{Credits, Design, System};

fn one_disk(iops: Limit) -> Design {
    let one = disk(Cap { iops: Some(iops), bytes: None }, CacheMode::None);
    design(None, vec![volume("/data", vec![one])])
}

fn credits(system: &System, now_s: u64) -> Credits {
    system.usage(now_s * S)[0].credits.expect("it bursts on credits")
}

/// A disk that bursts for 1,800 s from full: sustained and burst rate, time of an idle refill.
#[track_caller]
fn check_credits(per_s: u64, burst_per_s: u64, refill_s: u64) {
    let bucket = (burst_per_s - per_s) * 1_800;
    let mut system = system(&one_disk(bursting(per_s, burst_per_s, Some(bucket))));
    let load = Load::reads(8, 4 * KIB);
    assert_eq!(credits(&system, 0), Credits { left: bucket, full: bucket });
    let n = |system: &mut System, from_s, until_s| {
        run_from(system, &[load], from_s * S, 0, (until_s - from_s) * S)[0].n as f64
    };
    near(n(&mut system, 0, 1_800), 1_800.0 * burst_per_s as f64, 0.2);
    assert!(credits(&system, 1_800).left <= burst_per_s);
    near(n(&mut system, 1_810, 3_600), 1_790.0 * per_s as f64, 1.0);
    // Idle from here on; what is under way still takes its tokens.
    assert!(credits(&system, 3_600 + refill_s - refill_s / 50).left < bucket);
    assert_eq!(credits(&system, 3_600 + refill_s + 60).left, bucket);
}

#[test]
fn credits_last_half_an_hour_and_come_back_at_the_sustained_rate() {
    check_credits(23, 35, 939);
    // P4: 120 and 3,500, here a fortieth.
    check_credits(3, 88, 51_000);
}

#[test]
fn the_two_buckets_of_a_disk_are_independent() {
    // Operations burst, bytes do not: 64 KiB operations stay at the bytes' rate and spend nothing.
    let iops = Some(bursting(50, 350, Some(540_000)));
    let cap = Cap { iops, bytes: Some(limit(1 << 20)) };
    let design = design(None, vec![volume("/data", vec![disk(cap, CacheMode::None)])]);
    let mut system = system(&design);
    let large = Load::reads(8, 64 * KIB);
    near(run_from(&mut system, &[large], 0, S, 100 * S)[0].iops, 16.0, 1.0);
    assert_eq!(credits(&system, 101).left, 540_000);
    let small = Load::reads(8, KIB);
    near(run_from(&mut system, &[small], 200 * S, S, 100 * S)[0].iops, 350.0, 0.5);
    near(credits(&system, 301).left as f64, 540_000.0 - 101.0 * 300.0, 0.2);
}

#[test]
fn a_bucket_of_credits_outlasts_its_size_because_it_refills() {
    // Of EBS: 100 and 3,000 from 5.4 million, here a hundredth or tenth. Of QEMU: 63.2 s, not 60.
    for (per_s, burst_per_s, bucket, expected_s) in
        [(30, 300, 54_000, 200.0), (10, 300, 54_000, 186.207), (10, 200, 12_000, 63.158)]
    {
        let mut system = system(&one_disk(bursting(per_s, burst_per_s, Some(bucket))));
        let load = Load::reads(8, 4 * KIB);
        let total_s = 400;
        let n = run_from(&mut system, &[load], 0, 0, total_s * S)[0].n as f64;
        // So many fast, the rest at the sustained rate.
        let (fast, slow) = (burst_per_s as f64, per_s as f64);
        let burst_s = (n - slow * total_s as f64) / (fast - slow);
        near(burst_s, expected_s, 0.5);
    }
}

#[test]
fn a_burst_on_demand_has_no_end() {
    let mut system = system(&one_disk(bursting(50, 300, None)));
    let load = Load::reads(8, 4 * KIB);
    near(run_from(&mut system, &[load], 0, 0, 7_200 * S)[0].iops, 300.0, 0.1);
    assert_eq!(system.usage(7_200 * S)[0].credits, None);
}

/// A machine of 160 that bursts to 1,280 MB/s, here a thousandth; three disks and what they want.
fn machine_burst(disks: [Limit; 3], wanted_kb: [u64; 3], from_s: u64) -> f64 {
    let bytes = Some(bursting(160_000, 1_280_000, Some(1_120_000 * 1_800)));
    let uncached = Cap { iops: None, bytes };
    let volumes = disks.into_iter().enumerate().map(|(idx, bytes)| {
        let cap = Cap { iops: None, bytes: Some(bytes) };
        volume(&format!("/data{idx}"), vec![disk(cap, CacheMode::None)])
    });
    let design = design(Some(vm(uncached, Cap::default(), 0)), volumes.collect());
    let loads: Vec<Load> = (0..3)
        .map(|volume| Load {
            volume,
            rate: wanted_kb[usize::from(volume)],
            ..Load::reads(16, 1_000)
        })
        .collect();
    let mut system = system(&design);
    run_from(&mut system, &loads, 0, 0, from_s * S);
    let outcomes = run_from(&mut system, &loads, from_s * S, S, 10 * S);
    outcomes.iter().map(|outcome| outcome.bytes_per_s).sum()
}

#[test]
fn a_machine_bursts_apart_from_its_disks() {
    let plain = || limit(250_000);
    near(machine_burst([plain(), plain(), plain()], [200; 3], 0), 600_000.0, 0.5);
    // Its credits last for 2,016,000,000 / (600,000 - 160,000) = 4,582 s.
    near(machine_burst([plain(), plain(), plain()], [200; 3], 4_600), 160_000.0, 0.5);
    let bursts = || bursting(60_000, 170_000, Some(110_000 * 1_800));
    near(machine_burst([bursts(), bursts(), bursts()], [20, 170, 170], 0), 360_000.0, 0.5);
}
