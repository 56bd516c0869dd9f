//! Network volumes: quota, pool, measured ceilings, slots, and what a client sends.

use crate::common::*;
use volume::design::{Backing, Ceiling, Client, Latency, NetworkVolume, Pool, PoolBuild, Volume};
use volume::{CapKind, Design, IoKind};

fn network(quota: u64, ceiling: Ceiling) -> Volume {
    Volume {
        backing: Backing::Network(NetworkVolume {
            level: "Premium".to_owned(),
            quota: Some(limit(quota)),
            ceiling,
            pool: None,
            transfer_bytes: 256 << 10,
        }),
        ..volume("/mnt/anf", Vec::new())
    }
}

fn client(connections: u16, egress: Option<u64>) -> Client {
    Client {
        name: "near".to_owned(),
        connections,
        slots_per_connection: 128,
        egress: egress.map(limit),
        ..Client::default()
    }
}

fn one(quota: u64, ceiling: Ceiling) -> Design {
    design(None, vec![network(quota, ceiling)])
}

/// Runs a load for a fifth of a second after a tenth: these volumes are fast.
fn run(design: &Design, load: Load) -> Outcome {
    run_from(&mut system(design), &[load], 0, S / 10, S / 5).remove(0)
}

/// What is far above everything else.
const AMPLE: u64 = 1 << 40;

/// A surface of random operations: reads and writes a second; percent of reads, and the mix.
#[track_caller]
fn check_mix(reads: u64, writes: u64, points: &[(u64, f64)]) {
    let ceiling =
        Ceiling { read_iops: Some(reads), write_iops: Some(writes), ..Ceiling::default() };
    let design = one(AMPLE, ceiling);
    for &(read_pct, iops) in points {
        let outcome = run(&design, Load { read_pct, ..Load::reads(1024, 4 * KIB) });
        near(outcome.iops, iops, 1.0);
        let binding = outcome.binding().expect("a cap binds");
        assert_eq!(system(&design).caps()[binding].kind, CapKind::VolumeIops);
    }
}

#[test]
fn random_mixes_share_a_budget_of_time() {
    let points =
        [(100, 460_000.0), (75, 281_412.0), (50, 202_712.0), (25, 158_411.0), (0, 130_000.0)];
    check_mix(460_000, 130_000, &points);
    check_mix(388_000, 120_000, &[(75, 248_984.0), (50, 183_307.0), (25, 145_047.0)]);
    check_mix(293_000, 111_000, &[(75, 207_815.0), (50, 161_005.0), (25, 131_406.0)]);
    // Figures without a common divisor.
    check_mix(200_003, 99_991, &[(100, 200_003.0), (0, 99_991.0)]);
}

/// A surface of bytes: MiB a second of reads, writes and both; percent of reads, and the mix.
#[track_caller]
fn check_bytes(len_bytes: u64, reads: u64, writes: u64, total: u64, points: &[(u64, f64)]) {
    let ceiling = Ceiling {
        read_bytes_per_s: Some(reads * MIB),
        write_bytes_per_s: Some(writes * MIB),
        total_bytes_per_s: Some(total * MIB),
        ..Ceiling::default()
    };
    let design = one(AMPLE, ceiling);
    for &(read_pct, mib_per_s) in points {
        let outcome = run(&design, Load { read_pct, ..Load::reads(512, len_bytes) });
        near(outcome.bytes_per_s / MIB as f64, mib_per_s, 3.0);
    }
}

#[test]
fn bytes_of_a_mix_are_bound_by_each_direction_and_by_both() {
    let points = [(100, 3_600.0), (75, 3_600.0), (50, 3_600.0), (25, 3_200.0), (0, 2_400.0)];
    check_bytes(64 * KIB, 3_600, 2_400, 3_600, &points);
    check_bytes(256 * KIB, 3_500, 2_500, 4_500, &[(100, 3_500.0), (50, 4_500.0), (0, 2_500.0)]);
    check_bytes(64 * KIB, 4_500, 1_600, 4_500, &[(100, 4_500.0), (0, 1_600.0)]);
}

#[test]
fn level_times_quota_binds() {
    // 70.3125 TiB of Premium, and 0.09765625 TiB of it.
    for mib_per_s in [4_500.0, 128.0, 6.25] {
        let design = one((mib_per_s * MIB as f64) as u64, Ceiling::default());
        let outcome = run_from(&mut system(&design), &[Load::reads(512, 64 * KIB)], 0, S, 4 * S);
        near(outcome[0].bytes_per_s / MIB as f64, mib_per_s, 0.7);
    }
}

#[test]
fn depth_over_rate_is_the_latency() {
    // Four jobs at depth 128.
    let ceiling = Ceiling {
        read_iops: Some(200_000),
        write_iops: Some(135_000),
        total_bytes_per_s: Some(4_500 * MIB),
        ..Ceiling::default()
    };
    let mut design = one(AMPLE, ceiling);
    design.volumes[0].latency = Latency { mean_ns: MS / 2, spread: 0.0 };
    let reads = run(&design, Load::reads(512, 8 * KIB));
    near(reads.latency_ms, 2.56, 0.5);
    near(reads.bytes_per_s / MIB as f64, 1_562.5, 0.5);
    let writes = run(&design, Load::writes(512, 8 * KIB));
    near(writes.latency_ms, 3.793, 0.5);
    near(run(&design, Load::reads(512, 64 * KIB)).iops, 72_000.0, 0.5);
}

#[test]
fn slots_over_latency_bound_the_calls() {
    let with = |connections, round_trip_ns| {
        let mut design = one(AMPLE, Ceiling::default());
        design.clients = vec![Client { round_trip_ns, ..client(connections, None) }];
        run(&design, Load::reads(1024, 4 * KIB))
    };
    // One client of 128 slots at 2 ms: 64,000; ten of them, 640,000. Eight connections: as deep as
    // the load.
    let one = with(1, MS);
    near(one.iops, 64_000.0, 0.5);
    near(one.latency_ms, 16.0, 0.5);
    near(with(8, MS).iops, 512_000.0, 0.5);
    near(with(1, 3 * MS).iops, 32_000.0, 0.5);
}

#[test]
fn each_client_has_its_own_distance_and_slots() {
    let mut design = one(AMPLE, Ceiling::default());
    design.volumes[0].latency = Latency { mean_ns: MS / 2, spread: 0.0 };
    let near_by = Client { round_trip_ns: MS / 2, ..client(8, None) };
    design.clients = vec![near_by, Client { round_trip_ns: MS, ..client(1, None) }];
    let load = |client| Load { client, ..Load::reads(300, 4 * KIB) };
    let outcomes = run_from(&mut system(&design), &[load(0), load(1)], 0, S / 10, S / 5);
    // 300 in flight at 1 ms; 128 slots at 1.5 ms.
    near(outcomes[0].iops, 300_000.0, 0.5);
    near(outcomes[1].iops, 128.0 / 1.5e-3, 0.5);
}

#[test]
fn a_commit_is_a_call_of_its_client_and_nothing_to_the_volume() {
    let few = Ceiling { write_iops: Some(10), ..Ceiling::default() };
    let mut design = one(AMPLE, few);
    design.clients = vec![Client { round_trip_ns: MS, ..client(1, None) }];
    let commits = Load { write_kind: IoKind::Flush, ..Load::writes(1024, 4 * KIB) };
    let outcome = run(&design, commits);
    // 128 slots over the volume's 1 ms and the way there and back.
    near(outcome.iops, 64_000.0, 1.5);
    let binding = outcome.binding().expect("a cap binds");
    assert_eq!(system(&design).caps()[binding].kind, CapKind::NfsSlots);
    // Its request is sent, as that of any call: 1,000 requests of 200 B fit into a second.
    design.clients[0].egress = Some(limit(200_000));
    near(run(&design, Load { queue_depth: 64, ..commits }).iops, 1_000.0, 1.0);
}

#[test]
fn a_clients_card_meters_what_it_sends() {
    let mut design = one(AMPLE, Ceiling::default());
    design.clients = vec![client(8, Some(2_000_000_000))];
    let rate =
        |read_pct| run(&design, Load { read_pct, ..Load::reads(1024, 256 * KIB) }).bytes_per_s;
    near(rate(0), 2_000_000_000.0, 0.5);
    assert!(rate(100) > 100_000_000_000.0, "reads come in, and only their requests go out");
}

#[test]
fn the_volumes_of_a_pool_share_it() {
    let volumes = (0..3).map(|idx| {
        let mut one = network(700 * MIB, Ceiling::default());
        one.mount = format!("/mnt/anf{idx}");
        let Backing::Network(network) = &mut one.backing else { unreachable!() };
        network.pool = Some(0);
        one
    });
    let mut design = design(None, volumes.collect());
    let throughput = limit(1_280 * MIB);
    design.pools = vec![Pool {
        name: "pool1".to_owned(),
        throughput,
        iops: None,
        build: PoolBuild::default(),
    }];
    let load = |volume| Load { volume, ..Load::reads(256, 64 * KIB) };
    let run = |loads: &[Load]| {
        let outcomes = run_from(&mut system(&design), loads, 0, S, 2 * S);
        outcomes.iter().map(|outcome| outcome.bytes_per_s / MIB as f64).collect::<Vec<_>>()
    };
    near(run(&[load(0)])[0], 700.0, 0.5);
    for share in run(&[load(0), load(1), load(2)]) {
        near(share, 1_280.0 / 3.0, 0.5);
    }
}

#[test]
fn the_volumes_behind_a_card_share_it() {
    let volumes = (0..2).map(|idx| {
        let mut one = network(4_000 * MIB, Ceiling::default());
        one.mount = format!("/mnt/anf{idx}");
        one
    });
    let mut design = design(None, volumes.collect());
    // What is sent is data and 200 bytes a call: half of 125 MB/s each.
    design.clients = vec![client(16, Some(125_000_000))];
    let load = |volume, depth, len| Load { volume, ..Load::writes(depth, len) };
    let loads = [load(0, 32, 8 * KIB), load(1, 8, 256 * KIB)];
    let outcomes = run_from(&mut system(&design), &loads, 0, S, 10 * S);
    near(outcomes[0].iops, 62.5e6 / (8192.0 + 200.0), 0.5);
    near(outcomes[1].iops, 62.5e6 / (262_144.0 + 200.0), 0.5);
}

#[test]
fn a_large_transfer_is_several_calls() {
    let ceiling = Ceiling { read_iops: Some(10_000), ..Ceiling::default() };
    near(run(&one(AMPLE, ceiling), Load::reads(64, MIB)).iops, 2_500.0, 1.0);
}
