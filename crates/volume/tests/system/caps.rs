//! Caps of disks and of machines, in a closed loop.

use std::slice;

use crate::common::*;
use volume::design::{Backing, CacheMode, Cap, Disk, Merging};
use volume::limits::{self, alone};
use volume::{CapKind, Io, IoKind, Start, System, SystemOptions};

/// A closed loop of 8 KiB against one P30: depth, operations a second, milliseconds.
#[track_caller]
fn check_depth(queue_depth: u64, iops: f64, latency_ms: f64) {
    let outcome = run_one(&one_p30(), Load::writes(queue_depth, 8 * KIB));
    near(outcome.iops, iops, 0.1);
    near(outcome.latency_ms, latency_ms, 0.1);
}

#[test]
fn the_queue_depth_curve_of_one_p30() {
    check_depth(1, 1_000.0, 1.0);
    check_depth(4, 4_000.0, 1.0);
    check_depth(5, 5_000.0, 1.0);
    check_depth(16, 5_000.0, 3.2);
    check_depth(128, 5_000.0, 25.6);
}

/// Block size against one P30: operations a second, and the cap that binds.
#[track_caller]
fn check_size(len_bytes: u64, iops: f64, binding: &str) {
    let design = one_p30();
    let outcome = run_one(&design, Load::reads(32, len_bytes));
    near(outcome.iops, iops, 0.5);
    near(outcome.bytes_per_s, iops * len_bytes as f64, 0.5);
    let binding_idx = outcome.binding().expect("a cap binds");
    assert_eq!(system(&design).caps()[binding_idx].name, binding);
}

#[test]
fn operations_or_bytes_bind_by_size() {
    check_size(8 * KIB, 5_000.0, "disk /data[0] P30 iops");
    check_size(32 * KIB, 5_000.0, "disk /data[0] P30 iops");
    check_size(64 * KIB, 3_051.76, "disk /data[0] P30 bytes");
    check_size(MIB, 190.73, "disk /data[0] P30 bytes");
}

#[test]
fn an_operation_counts_once_for_each_256_kib() {
    // 500 operations a second and bytes without limit: 100 of five units each.
    let mut one = disk(cap(500, 1), CacheMode::None);
    one.cap.bytes = None;
    let design = design(None, vec![volume("/data", vec![one])]);
    for (kib, iops) in [(1, 500.0), (256, 500.0), (257, 250.0), (1_100, 100.0), (2_048, 62.5)] {
        near(run_one(&design, Load::writes(16, kib * KIB)).iops, iops, 0.3);
    }
}

/// A disk that merges: size, operations a second in sequence and at random places.
#[track_caller]
fn check_merging(disks: &[Disk], load: Load, in_sequence: f64, at_random: f64) {
    let design = design(None, vec![volume("/data", disks.to_vec())]);
    let sequential = Load { is_sequential: true, ..load };
    near(run_one(&design, sequential).iops, in_sequence, 0.5);
    near(run_one(&design, load).iops, at_random, 0.5);
    let read_share = load.read_pct as f64 / 100.0;
    let asked = limits::Load::new(u64::from(load.len_bytes), read_share);
    near(alone(&design, 0, &asked).iops, at_random, 0.5);
    let asked = limits::Load { is_sequential: true, ..asked };
    near(alone(&design, 0, &asked).iops, in_sequence, 0.5);
}

#[test]
fn what_follows_each_other_counts_together_where_a_disk_merges() {
    // 3,000 operations and 125 MiB a second: 16,000 of 8 KiB by bytes.
    let ssd = disk(cap(3_000, 125 * MIB), CacheMode::None);
    let ssd = Disk { merging: Merging::Operations, ..ssd };
    check_merging(slice::from_ref(&ssd), Load::reads(64, 8 * KIB), 16_000.0, 3_000.0);
    check_merging(slice::from_ref(&ssd), Load::writes(64, 8 * KIB), 16_000.0, 3_000.0);
    check_merging(slice::from_ref(&ssd), Load::reads(64, 384 * KIB), 333.3, 333.3);
    check_merging(&vec![ssd; 4], Load::reads(256, 8 * KIB), 64_000.0, 12_000.0);
    // Throughput in units of 1 MiB: 200 of them.
    let mut hdd = disk(cap(1, 200 * MIB), CacheMode::None);
    hdd.cap.iops = None;
    let hdd = Disk { merging: Merging::Units, io_unit_bytes: Some(MIB), ..hdd };
    check_merging(slice::from_ref(&hdd), Load::reads(64, 8 * KIB), 25_600.0, 200.0);
    check_merging(&[hdd], Load::reads(64, MIB), 200.0, 200.0);
}

#[test]
fn streams_side_by_side_are_merged_each_for_itself() {
    let ssd = disk(cap(3_000, 125 * MIB), CacheMode::None);
    let ssd = Disk { merging: Merging::Operations, ..ssd };
    let design = design(None, vec![volume("/data", vec![ssd])]);
    let mut system = system(&design);
    for idx in 0..640 {
        let stream = idx % 4;
        let io = Io {
            id: idx,
            kind: if stream == 3 { IoKind::Write } else { IoKind::Read },
            volume: 0,
            client: 0,
            offset_bytes: stream * GIB + idx / 4 * 8 * KIB,
            len_bytes: 8 * KIB as u32,
        };
        system.submit(0, io);
    }
    system.poll(S, &mut Vec::new());
    // 160 operations of each stream are 1,280 KiB: five units.
    assert_eq!(system.usage(S)[0].used, 20);
}

/// A stripe of P30s: disks, chunk, block size, alignment, queue depth; operations a second.
#[track_caller]
fn check_stripe(n_disks: usize, len_bytes: u64, align_bytes: u64, iops: f64, percent: f64) {
    let design = design(None, vec![volume("/data", vec![p30(CacheMode::None); n_disks])]);
    let load = Load { align_bytes, ..Load::reads(256, len_bytes) };
    near(run_one(&design, load).iops, iops, percent);
}

#[test]
fn misaligned_operations_cost_what_they_touch() {
    check_stripe(2, 8 * KIB, 8 * KIB, 10_000.0, 1.0);
    check_stripe(2, 8 * KIB, 4 * KIB, 9_412.0, 1.0);
    check_stripe(2, 8 * KIB, 512, 8_951.0, 1.0);
    check_stripe(4, 256 * KIB, 256 * KIB, 3_052.0, 0.5);
}

#[test]
fn columns_fill_one_set_after_the_other() {
    let mut striped = volume("/data", vec![p30(CacheMode::None); 16]);
    let Backing::Disks(stripe) = &mut striped.backing else { unreachable!() };
    stripe.columns = 8;
    let design = design(None, vec![striped]);
    // All of the first 8 TiB is on the first eight disks.
    let load = Load { span_bytes: 8 << 40, ..Load::reads(512, 8 * KIB) };
    near(run_one(&design, load).iops, 40_000.0, 1.0);
    let load = Load { span_bytes: 16 << 40, ..load };
    near(run_one(&design, load).iops, 80_000.0, 1.0);
}

/// Equal disks behind a machine, one volume each, all with one load: what each carries.
fn shares(vm_cap: Cap, disks: &[Cap], loads: &[Load]) -> Vec<f64> {
    let volumes = disks
        .iter()
        .enumerate()
        .map(|(idx, cap)| volume(&format!("/data{idx}"), vec![disk(cap.clone(), CacheMode::None)]));
    let design = design(Some(vm(vm_cap, Cap::default(), 0)), volumes.collect());
    let outcomes = run_from(&mut system(&design), loads, 0, S, 10 * S);
    outcomes.iter().map(|outcome| outcome.iops).collect()
}

#[track_caller]
fn check_shares(vm_cap: Cap, disks: &[Cap], loads: &[Load], expected: &[f64]) {
    let found = shares(vm_cap, disks, loads);
    for (found, expected) in found.iter().zip(expected) {
        near(*found, *expected, 0.3);
    }
}

const MB: u64 = 1_000_000;

#[test]
fn the_smaller_of_machine_and_disk_binds() {
    let p30 = || cap(5_000, 200 * MB);
    let reads = |volume, rate, len| Load { volume, rate, ..Load::reads(64, len) };
    let ds1 = Cap { iops: Some(limit(3_200)), bytes: None };
    check_shares(ds1, &[p30()], &[reads(0, 4_000, 8 * KIB)], &[3_200.0]);
    // 250 MB/s wanted in I/Os of 100 kB.
    let wanted = |volume, n: u64| Load { rate: 2_500 / n, ..reads(volume, 0, 100_000) };
    let ds4 = || Cap { iops: None, bytes: Some(limit(256 * MB)) };
    check_shares(ds4(), &[p30()], &[wanted(0, 1)], &[2_000.0]);
    check_shares(ds4(), &[cap(7_500, 250 * MB)], &[wanted(0, 1)], &[2_500.0]);
    check_shares(ds4(), &[p30(), p30()], &[wanted(0, 2), wanted(1, 2)], &[1_250.0; 2]);
    let small = Cap { iops: None, bytes: Some(limit(32 * MB)) };
    check_shares(small, &[cap(5_000, 100 * MB)], &[Load { rate: 1_000, ..wanted(0, 1) }], &[320.0]);
}

#[test]
fn disks_share_a_machine_evenly_and_leave_what_they_do_not_need() {
    let p30 = || cap(5_000, 200 * MB);
    let reads = |volume| Load { volume, ..Load::reads(64, 8 * KIB) };
    let slow = || cap(500, 60 * MB);
    let loads = [reads(0), reads(1), reads(2)];
    check_shares(cap(12_800, 192 * MB), &[slow(), slow(), slow()], &loads, &[500.0; 3]);
    check_shares(cap(12_800, 192 * MB), &[p30(), p30(), p30()], &loads, &[4_266.67; 3]);
    // The one that needs little gets it; the others share the rest.
    let loads = [Load { rate: 2_000, ..reads(0) }, reads(1), reads(2)];
    let expected = [2_000.0, 3_000.0, 3_000.0];
    check_shares(cap(8_000, 192 * MB), &[p30(), p30(), p30()], &loads, &expected);
    // 200 + 56: the second one wants no more.
    let big = |volume, rate| Load { volume, rate, ..Load::reads(64, 100_000) };
    let machine = Cap { iops: None, bytes: Some(limit(256 * MB)) };
    let loads = [big(0, 0), big(1, 560)];
    check_shares(machine.clone(), &[p30(), p30()], &loads, &[2_000.0, 560.0]);
    check_shares(machine, &[p30(), p30()], &[big(0, 0), big(1, 0)], &[1_280.0; 2]);
    // Unequal queue depths do not buy a larger share.
    let loads = [Load { queue_depth: 256, ..reads(0) }, reads(1)];
    check_shares(cap(6_000, 192 * MB), &[p30(), p30()], &loads, &[3_000.0; 2]);
}

#[test]
fn a_cap_in_bytes_is_shared_in_bytes_whatever_the_sizes() {
    let p30 = || cap(5_000, 200 * MB);
    let small = Load { volume: 0, ..Load::reads(32, 8 * KIB) };
    let large = Load { volume: 1, ..Load::reads(8, MIB) };
    // 24 MB/s each.
    let machine = || Cap { iops: Some(limit(3_200)), bytes: Some(limit(48 * MB)) };
    let half = [24e6 / 8192.0, 24e6 / 1_048_576.0];
    check_shares(machine(), &[p30(), p30()], &[small, large], &half);
    // Where operations are held, one of 1 MiB is four: 1,600 each.
    let machine = || Cap { iops: Some(limit(400)), bytes: None };
    check_shares(machine(), &[p30(), p30()], &[small, large], &[200.0, 50.0]);
    // One that needs less than its share leaves the rest.
    let machine = Cap { iops: None, bytes: Some(limit(48 * MB)) };
    let some = Load { rate: 1_000, ..small };
    let rest = (48e6 - 8_192_000.0) / 1_048_576.0;
    check_shares(machine, &[p30(), p30()], &[some, large], &[1_000.0, rest]);
}

/// Ten striped P30, 50,000 operations a second, behind a machine: the kind of cap that binds holds
/// nine in ten of the operations that are held at all. Random addresses leave some disks without a
/// queue for a while.
#[track_caller]
fn check_binding(vm_iops: u64, kind: CapKind) {
    let machine = vm(cap(vm_iops, 1 << 30), Cap::default(), 0);
    let design = design(Some(machine), vec![volume("/data", vec![p30(CacheMode::None); 10])]);
    let outcome = run_one(&design, Load::writes(1024, 8 * KIB));
    let caps = system(&design);
    let of_kind = caps.caps().iter().zip(&outcome.held).filter(|(cap, _)| cap.kind == kind);
    let n_held: u64 = of_kind.map(|(_, n)| n).sum();
    let n_all: u64 = outcome.held[..caps.caps().len()].iter().sum();
    assert!(n_all > outcome.n / 3, "{n_all} of {} are held", outcome.n);
    assert!(n_held * 10 > n_all * 9, "{n_held} of {n_all}: {:?}", outcome.held);
}

#[test]
fn the_cap_that_binds_is_named_even_when_another_is_close() {
    check_binding(51_200, CapKind::DiskIops);
    check_binding(48_000, CapKind::VmUncachedIops);
}

#[test]
fn writers_at_a_rate_leave_the_cached_path_to_readers() {
    // Four writers of 12,500 a second, and readers of 4 KiB.
    let machine = vm(cap(50_000, 524_288_000), cap(64_000, 524_288_000), 576 * GIB);
    let striped = volume("/mnt/nocache", vec![p30(CacheMode::None); 10]);
    let cached = volume("/mnt/cache", vec![p30(CacheMode::ReadOnly)]);
    let design = design(Some(machine), vec![striped, cached]);
    let options = SystemOptions { n_waiting_max: 2048, start: Start::Warm, seed: 1 };
    let mut system = System::new(&design, &options);
    let writers = Load { rate: 50_000, ..Load::writes(1024, 4 * KIB) };
    let readers = Load { volume: 1, ..Load::reads(1024, 4 * KIB) };
    let outcomes = run_from(&mut system, &[writers, readers], 0, S, 5 * S);
    near(outcomes[0].iops, 50_000.0, 1.5);
    near(outcomes[1].iops, 64_000.0, 0.5);
}

#[test]
fn a_trim_is_one_operation_without_bytes() {
    let load = Load { write_kind: IoKind::Trim, ..Load::writes(16, MIB) };
    near(run_one(&one_p30(), load).iops, 5_000.0, 0.1);
}

#[test]
fn a_trim_of_a_stripe_is_one_operation_of_each_disk_that_it_reaches() {
    let run = |len_bytes, align_bytes| {
        let volume = volume("/data", vec![p30(CacheMode::None); 4]);
        let load = Load { write_kind: IoKind::Trim, ..Load::writes(64, len_bytes) };
        run_one(&design(None, vec![volume]), Load { align_bytes, ..load }).iops
    };
    // 20,000 operations a second of four disks: one chunk, two of them, and all however long.
    near(run(64 * KIB, 64 * KIB), 20_000.0, 1.0);
    near(run(128 * KIB, 128 * KIB), 10_000.0, 1.0);
    near(run(256 * KIB, 256 * KIB), 5_000.0, 1.0);
    near(run(GIB, GIB), 5_000.0, 1.0);
}

#[test]
fn a_flush_waits_for_the_writes_before_it_and_for_no_others() {
    let mut system = system(&one_p30());
    let io =
        |id, kind, len_bytes| Io { id, kind, volume: 0, client: 0, offset_bytes: 0, len_bytes };
    for id in 0..50 {
        system.submit(0, io(id, IoKind::Write, 8192));
    }
    system.submit(0, io(1_000, IoKind::Flush, 0));
    for id in 50..100 {
        system.submit(0, io(id, IoKind::Write, 8192));
    }
    let mut done = Vec::new();
    system.poll(S, &mut done);
    assert_eq!(done.len(), 101);
    let at = |id| done.iter().find(|done| done.id == id).expect("it is done").at_ns;
    assert_eq!(at(1_000), at(49) + MS);
    assert!(at(99) > at(1_000));
}

#[test]
fn usage_counts_operations_bytes_and_the_time_held() {
    let mut system = system(&one_p30());
    run_from(&mut system, &[Load::writes(16, 8 * KIB)], 0, 0, 10 * S);
    let usage = system.usage(10 * S);
    let kinds: Vec<CapKind> = system.caps().iter().map(|cap| cap.kind).collect();
    assert_eq!(kinds, [CapKind::DiskIops, CapKind::DiskBytes]);
    near(usage[0].used as f64, 50_000.0, 0.1);
    near(usage[1].used as f64, 50_000.0 * 8192.0, 0.1);
    near(usage[0].capacity_share, 1.0, 0.1);
    near(usage[0].held_share, 1.0, 0.5);
    assert!(usage[1].held_share < 0.001);
    let status = system.status(10 * S);
    assert_eq!(status.caps[0].n_waiting + 5, status.n_waiting as u64);
}

#[test]
fn the_callers_clock_may_begin_anywhere() {
    let outcome = |from_ns| {
        let mut system = system(&one_p30());
        run_from(&mut system, &[Load::writes(16, 8 * KIB)], from_ns, 0, S).remove(0).n
    };
    assert_eq!(outcome(0), outcome(1_000_000 * S));
}

#[test]
fn an_idle_cap_keeps_what_one_window_brings() {
    for (window_ns, n_at_once) in [(100 * MS, 501), (10 * MS, 51)] {
        let mut design = one_p30();
        design.bucket_window_ns = window_ns;
        let mut system = system(&design);
        let io = |id, kind, offset_bytes, len_bytes| Io {
            id,
            kind,
            volume: 0,
            client: 0,
            offset_bytes,
            len_bytes,
        };
        let mut done = Vec::new();
        system.poll(10 * S, &mut done);
        system.submit(10 * S, io(0, IoKind::Read, 0, 4096));
        system.poll(20 * S, &mut done);
        done.clear();
        for id in 0..1_000 {
            system.submit(20 * S, io(id, IoKind::Read, id * 4096, 4096));
        }
        system.poll(20 * S + MS, &mut done);
        let near = n_at_once..=n_at_once + 6;
        assert!(near.contains(&done.len()), "{} in a window of {window_ns} ns", done.len());
    }
}
