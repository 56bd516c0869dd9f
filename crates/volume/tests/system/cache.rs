//! The host cache: hits, warm-up, and writes that reach the disk later.

use crate::common::*;
use volume::design::{CacheMode, Cap};
use volume::{Design, Io, IoKind, Start, System, SystemOptions};

/// One cached P30 behind a DS14: 64,000 and 512 x 1,024,000 bytes a second from the cache.
fn cached_p30(mode: CacheMode, cache_bytes: u64) -> Design {
    let machine = vm(cap(50_000, 524_288_000), cap(64_000, 524_288_000), cache_bytes);
    design(Some(machine), vec![volume("/data", vec![p30(mode)])])
}

/// Runs a load for a second of ramp and ten of measuring, with a share of its span warm.
fn run_warm(design: &Design, load: Load, warm_share: f64) -> Outcome {
    let mut system = system(design);
    system.warm(0, 0, (load.span_bytes as f64 * warm_share) as u64);
    run_from(&mut system, &[load], 0, S, 10 * S).remove(0)
}

#[test]
fn a_warm_cache_lifts_reads_above_the_disk() {
    let design = cached_p30(CacheMode::ReadOnly, 576 * GIB);
    let load = Load::reads(1024, 8 * KIB);
    let outcome = run_warm(&design, load, 1.0);
    near(outcome.iops, 64_000.0, 0.5);
    near(outcome.latency_ms, 16.0, 0.5);
    let binding = outcome.binding().expect("a cap binds");
    assert_eq!(system(&design).caps()[binding].name, "vm test cached iops");
}

#[test]
fn what_misses_the_cache_is_held_by_the_disk() {
    let design = cached_p30(CacheMode::ReadOnly, 4 << 40);
    // One place in 64 KiB. What misses is held from then on, but there are so many places that the
    // share hardly moves within a second.
    let n_places = 4 << 20;
    let load = Load {
        len_bytes: 8192,
        align_bytes: 65_536,
        span_bytes: n_places << 16,
        ..Load::reads(512, 65_536)
    };
    for (hit_pct, iops) in [(0, 5_000.0), (50, 10_000.0), (90, 50_000.0)] {
        let mut system = system(&design);
        for place in (0..n_places).filter(|place| mix64(*place) % 100 < hit_pct) {
            system.warm(0, place << 16, 8192);
        }
        near(run_from(&mut system, &[load], 0, S, S)[0].iops, iops, 2.5);
    }
}

#[test]
fn writes_of_a_read_only_cache_go_through() {
    let design = cached_p30(CacheMode::ReadOnly, 576 * GIB);
    let load = Load { read_pct: 70, ..Load::reads(1024, 8 * KIB) };
    near(run_warm(&design, load, 1.0).iops, 16_667.0, 1.0);
    near(run_warm(&design, Load { read_pct: 0, ..load }, 1.0).iops, 5_000.0, 0.5);
}

#[test]
fn uniform_reads_hit_with_the_share_of_the_span_that_fits() {
    // 64 MiB of cache for twice and four times as much.
    for (span_mib, hit_share) in [(128, 0.5), (256, 0.25)] {
        let machine = vm(Cap::default(), Cap::default(), 64 * MIB);
        let mut one = p30(CacheMode::ReadOnly);
        one.cap = Cap::default();
        let design = design(Some(machine), vec![volume("/data", vec![one])]);
        let mut system = system(&design);
        let load = Load { span_bytes: span_mib * MIB, ..Load::reads(256, 8 * KIB) };
        run_from(&mut system, &[load], 0, 0, S / 2);
        let before = system.status(S / 2).cache.expect("a cache");
        run_from(&mut system, &[load], S / 2, 0, S / 2);
        let after = system.status(S).cache.expect("a cache");
        let n_hits = (after.n_hits - before.n_hits) as f64;
        let n_misses = (after.n_misses - before.n_misses) as f64;
        near(n_hits / (n_hits + n_misses), hit_share, 2.0);
        assert!(after.held_bytes <= after.size_bytes);
    }
}

#[test]
fn a_range_as_large_as_the_cache_fits_into_it() {
    let design = cached_p30(CacheMode::ReadOnly, 8 * GIB);
    let mut system = system(&design);
    let size_bytes = system.status(0).cache.expect("a cache").size_bytes;
    system.warm(0, 3 * GIB, size_bytes);
    let load = Load { span_bytes: size_bytes, ..Load::reads(64, MIB) };
    let mut done = Vec::new();
    for id in 0..8 * KIB {
        let offset_bytes = 3 * GIB + id * MIB;
        let io = Io {
            id,
            kind: IoKind::Read,
            volume: 0,
            client: 0,
            offset_bytes,
            len_bytes: load.len_bytes,
        };
        system.submit(id * 10 * MS, io);
        system.poll(id * 10 * MS, &mut done);
    }
    let cache = system.status(100 * S).cache.expect("a cache");
    assert_eq!((cache.n_hits, cache.n_misses), (8 * KIB, 0));
}

/// Reads a place, as long after the one before as every I/O needs, and returns whether it was held.
fn is_hit(system: &mut System, now_ns: &mut u64, offset_bytes: u64, len_bytes: u32) -> bool {
    *now_ns += S;
    let hits = |system: &System, now_ns| system.status(now_ns).cache.expect("a cache").n_hits;
    let n_before = hits(system, *now_ns);
    system.submit(*now_ns, io(1, IoKind::Read, offset_bytes, len_bytes));
    *now_ns += S;
    system.poll(*now_ns, &mut Vec::new());
    hits(system, *now_ns) > n_before
}

#[test]
fn scattered_ranges_fill_the_whole_cache() {
    let mut system = system(&cached_p30(CacheMode::ReadOnly, 64 * MIB));
    // Neither aligned nor side by side, and as many as fit.
    let ranges: Vec<u64> = (0..64).map(|idx| mix64(idx) % (1 << 28) * 4096).collect();
    for &offset in &ranges {
        system.warm(0, offset, MIB);
    }
    let cache = system.status(0).cache.expect("a cache");
    assert_eq!((cache.held_bytes, cache.size_bytes), (64 * MIB, 64 * MIB));
    let mut now_ns = 0;
    for offset in ranges {
        assert!(is_hit(&mut system, &mut now_ns, offset, MIB as u32), "{offset}");
    }
}

#[test]
fn what_is_used_again_stays_while_other_data_passes() {
    let mut system = system(&cached_p30(CacheMode::ReadOnly, 64 * MIB));
    let mut now_ns = 0;
    // A quarter of the cache is used again before another quarter has passed. It is lost at most
    // once: when the cache first fills, all of it was used since the hand was there last.
    let mut n_misses = 0;
    for round in 0..32 {
        for idx in 0..16 {
            let is_held = is_hit(&mut system, &mut now_ns, idx * MIB, MIB as u32);
            n_misses += u32::from(!is_held);
            let passing = GIB + (round * 16 + idx) * MIB;
            assert!(!is_hit(&mut system, &mut now_ns, passing, MIB as u32));
        }
    }
    assert!(n_misses <= 2 * 16, "{n_misses}");
    let cache = system.status(now_ns).cache.expect("a cache");
    assert_eq!(cache.held_bytes, cache.size_bytes);
}

#[test]
fn single_blocks_all_over_the_volume_are_held_one_by_one() {
    let mut system = system(&cached_p30(CacheMode::ReadOnly, 64 * MIB));
    // A tenth of what fits, each far from the others: the blocks beside them are not held.
    let blocks: Vec<u64> = (0..1638).map(|idx| idx * 64 * 4096 + idx % 16 * 4096).collect();
    for &offset in &blocks {
        system.warm(0, offset, 1);
    }
    let cache = system.status(0).cache.expect("a cache");
    assert_eq!(cache.held_bytes, 1638 * 4096);
    let mut now_ns = 0;
    for offset in blocks {
        assert!(is_hit(&mut system, &mut now_ns, offset + 1000, 3000), "{offset}");
        assert!(!is_hit(&mut system, &mut now_ns, offset + 16 * 4096, 4096), "{offset}");
    }
}

#[test]
fn a_warm_start_holds_what_is_asked_for_until_the_restart() {
    let design = cached_p30(CacheMode::ReadOnly, 576 * GIB);
    let options = SystemOptions { n_waiting_max: 1024, start: Start::Warm, seed: 1 };
    let mut system = System::new(&design, &options);
    let load = Load { span_bytes: 1 << 39, ..Load::reads(1024, 8 * KIB) };
    near(run_from(&mut system, &[load], 0, S, 5 * S)[0].iops, 64_000.0, 0.5);
    let cache = |system: &System| system.status(7 * S).cache.expect("a cache");
    assert!(cache(&system).is_warm && cache(&system).n_hits > 0);
    system.crash(7 * S);
    system.restart(7 * S);
    let cold = cache(&system);
    assert_eq!((cold.is_warm, cold.held_bytes, cold.n_hits, cold.n_misses), (false, 0, 0, 0));
    near(run_from(&mut system, &[load], 7 * S, S, 5 * S)[0].iops, 5_000.0, 3.0);
}

#[test]
fn the_documents_warm_up_takes_half_an_hour_and_is_complete_after_two() {
    // 200 GB behind a P30 of 200 MB/s and a cache of 512 MB/s, random reads of 1 MiB; here a
    // twentieth of the file and of the time. The whole runs in `benches/system.rs`.
    let machine = vm(cap(50_000, 512_000_000), cap(64_000, 512_000_000), 576 * GIB);
    let design = design(Some(machine), vec![volume("/data", vec![p30(CacheMode::ReadOnly)])]);
    let mut system = system(&design);
    let load = Load { span_bytes: 10_000_000_000, ..Load::reads(32, MIB) };
    let mut from_ns = 0;
    for (until_s, held_share) in [(609, 0.609), (1_000, 0.856), (2_041, 0.99), (7_200, 1.0)] {
        let until_ns = until_s * S / 20;
        run_from(&mut system, &[load], from_ns, 0, until_ns - from_ns);
        let held_bytes = system.status(until_ns).cache.expect("a cache").held_bytes;
        near(held_bytes as f64 / 1e10, held_share, 1.0);
        from_ns = until_ns;
    }
}

fn io(id: u64, kind: IoKind, offset_bytes: u64, len_bytes: u32) -> Io {
    Io { id, kind, volume: 0, client: 0, offset_bytes, len_bytes }
}

fn dirty(system: &System) -> Vec<std::ops::Range<u64>> {
    system.dirty(0).collect()
}

#[test]
fn a_write_back_cache_writes_at_once_and_reaches_the_disk_later() {
    let mut system = system(&cached_p30(CacheMode::ReadWrite, 576 * GIB));
    let (mut done, mut flushed) = (Vec::new(), Vec::new());
    system.take_flushed(&mut flushed);
    system.submit(0, io(1, IoKind::Write, 1_000, 500));
    system.poll(MS, &mut done);
    assert_eq!(done[0].at_ns, MS / 10);
    assert_eq!(dirty(&system), std::slice::from_ref(&(1_000..1_500)));
    // A second write of a part of it leaves with it.
    system.submit(MS, io(2, IoKind::Write, 1_200, 100));
    system.submit(MS, io(3, IoKind::Read, 1_000, 500));
    system.poll(500 * MS, &mut done);
    assert_eq!(done[2].at_ns, MS + MS / 10, "a read of dirty bytes is a hit");
    system.take_flushed(&mut flushed);
    assert!(flushed.is_empty());
    system.poll(2 * S, &mut done);
    system.take_flushed(&mut flushed);
    assert_eq!(flushed, [(0, 1_000..1_500)]);
    assert!(dirty(&system).is_empty());
}

#[test]
fn a_flush_and_a_write_through_reach_the_disk_before_they_are_done() {
    let mut system = system(&cached_p30(CacheMode::ReadWrite, 576 * GIB));
    let mut done = Vec::new();
    system.submit(0, io(1, IoKind::Write, 0, 8192));
    system.submit(0, io(2, IoKind::Write, 65_536, 8192));
    system.submit(MS, io(3, IoKind::Flush, 0, 0));
    system.submit(MS, io(4, IoKind::Write, 131_072, 8192));
    system.submit(MS, io(5, IoKind::WriteThrough, 65_536, 4096));
    system.poll(20 * MS, &mut done);
    let at = |id| done.iter().find(|done| done.id == id).expect("it is done").at_ns;
    assert!(at(3) >= 2 * MS && at(5) >= 2 * MS, "{done:?}");
    assert_eq!(at(4), MS + MS / 10);
    assert_eq!(dirty(&system), std::slice::from_ref(&(131_072..139_264)));
}

#[test]
fn what_a_trim_takes_needs_no_disk_and_no_flush_waits_for_it() {
    let mut system = system(&cached_p30(CacheMode::ReadWrite, 576 * GIB));
    let (mut done, mut flushed) = (Vec::new(), Vec::new());
    system.take_flushed(&mut flushed);
    // The machine takes 128 MiB in a quarter of a second, a P30 in 0.67.
    for id in 0..512 {
        system.submit(0, io(id, IoKind::Write, id * 256 * KIB, 256 << 10));
    }
    system.poll(500 * MS, &mut done);
    assert_eq!(done.len(), 512);
    system.submit(500 * MS, io(1_000, IoKind::Trim, 0, 128 << 20));
    assert!(dirty(&system).is_empty());
    system.submit(500 * MS, io(1_001, IoKind::Flush, 0, 0));
    done.clear();
    system.poll(510 * MS, &mut done);
    assert!(done.iter().any(|done| done.id == 1_001), "{done:?}");
    system.poll(4 * S, &mut done);
    system.take_flushed(&mut flushed);
    assert!(flushed.is_empty(), "{flushed:?}");
    // The ends of what was written stay dirty.
    system.submit(4 * S, io(1, IoKind::Write, 0, 8192));
    system.discard(0, 1_000..5_000);
    assert_eq!(dirty(&system), [0..1_000, 5_000..8_192]);
}

/// A file is deleted while its data are on their way, and another one gets its place.
#[test]
fn what_was_trimmed_on_its_way_brings_nothing_newer_to_the_disk() {
    let mut system = system(&cached_p30(CacheMode::ReadWrite, 576 * GIB));
    let (mut done, mut flushed) = (Vec::new(), Vec::new());
    system.take_flushed(&mut flushed);
    for (id, kind) in [(1, IoKind::Write), (2, IoKind::WriteThrough)] {
        let start_ns = id * 10 * S;
        system.submit(start_ns, io(id, kind, 1_000, 5_000));
        system.submit(start_ns, io(10, IoKind::Flush, 0, 0));
        // A disk takes a millisecond.
        let trimmed_ns = start_ns + MS / 2;
        system.poll(trimmed_ns, &mut done);
        system.submit(trimmed_ns, io(11, IoKind::Trim, 0, 1 << 20));
        system.submit(trimmed_ns, io(12, IoKind::Write, 0, 4096));
        system.poll(start_ns + 100 * MS, &mut done);
        system.take_flushed(&mut flushed);
        assert!(flushed.is_empty(), "{kind:?}: {flushed:?}");
        assert_eq!(dirty(&system), std::slice::from_ref(&(0..4_096)));
        // It goes by itself.
        system.poll(start_ns + 5 * S, &mut done);
        system.take_flushed(&mut flushed);
        assert_eq!(std::mem::take(&mut flushed), [(0, 0..4_096)]);
        assert!(dirty(&system).is_empty());
    }
}

#[test]
fn sustained_writes_are_held_by_the_disk_once_the_cache_is_full_of_them() {
    let mut system = system(&cached_p30(CacheMode::ReadWrite, 64 * MIB));
    let load = Load::writes(64, 64 * KIB);
    let outcome = run_from(&mut system, &[load], 0, 5 * S, 10 * S).remove(0);
    near(outcome.bytes_per_s, 200_000_000.0, 3.0);
    let cache = system.status(15 * S).cache.expect("a cache");
    assert!(cache.dirty_bytes <= 33 * MIB, "{}", cache.dirty_bytes);
}

#[test]
fn small_writes_are_taken_until_half_of_the_cache_is_dirty() {
    // A disk so slow that hardly anything leaves, and 1.2 GiB in scattered pages.
    let machine = vm(Cap::default(), Cap::default(), 200 * GIB);
    let slow = disk(cap(100, 200_000_000), CacheMode::ReadWrite);
    let mut system = system(&design(Some(machine), vec![volume("/data", vec![slow])]));
    let mut done = Vec::new();
    let n_writes = 160_000;
    for id in 0..n_writes {
        let at_ns = id * 10_000;
        system.submit(at_ns, io(id, IoKind::Write, id * 64 * KIB, 8192));
        system.poll(at_ns, &mut done);
    }
    system.poll(n_writes * 10_000 + MS, &mut done);
    assert_eq!(done.len() as u64, n_writes, "none waits for the disk");
    let dirty_bytes = system.status(n_writes * 10_000 + MS).volumes[0].dirty_bytes;
    assert!(dirty_bytes > (n_writes - 1_000) * 8192, "{dirty_bytes}");
}

#[test]
fn a_crash_loses_what_is_dirty_and_everything_under_way() {
    let mut system = system(&cached_p30(CacheMode::ReadWrite, 576 * GIB));
    let mut done = Vec::new();
    for id in 0..100 {
        system.submit(0, io(id, IoKind::Write, id * 8192, 8192));
    }
    system.submit(0, io(200, IoKind::Flush, 0, 0));
    system.poll(MS, &mut done);
    assert!(!dirty(&system).is_empty());
    system.crash(MS);
    assert!(dirty(&system).is_empty());
    assert_eq!(system.next_event_ns(), None);
    assert_eq!(system.status(MS).n_waiting, 0);
    system.restart(5 * S);
    done.clear();
    system.submit(5 * S, io(1, IoKind::Read, 0, 8192));
    system.submit(5 * S, io(2, IoKind::Flush, 0, 0));
    system.poll(6 * S, &mut done);
    assert_eq!(done.len(), 2);
    assert!(done.iter().any(|done| done.id == 1 && done.at_ns >= 5 * S + MS), "a miss: {done:?}");
}

#[test]
fn cached_and_uncached_caps_add() {
    // Ten striped P30 without a cache and a cached one, as in the DS14 example.
    let machine = vm(cap(51_200, 524_288_000), cap(64_000, 524_288_000), 576 * GIB);
    let striped = volume("/mnt/nocache", vec![p30(CacheMode::None); 10]);
    let cached = volume("/mnt/cache", vec![p30(CacheMode::ReadOnly)]);
    let design = design(Some(machine), vec![striped, cached]);
    let writes = Load { volume: 0, ..Load::writes(1024, 8 * KIB) };
    let reads = Load { volume: 1, ..Load::reads(1024, 8 * KIB) };
    let options = SystemOptions { n_waiting_max: 2048, start: Start::Warm, seed: 1 };
    let run = |loads: &[Load]| run_from(&mut System::new(&design, &options), loads, 0, S, 10 * S);
    let alone = run(&[writes]).remove(0);
    near(alone.iops, 50_000.0, 1.0);
    near(alone.latency_ms, 20.48, 1.0);
    let both = run(&[writes, reads]);
    near(both[0].iops, 50_000.0, 1.0);
    near(both[1].iops, 64_000.0, 0.5);
    // 64 KiB: both paths end at their bytes.
    let large = |load| Load { len_bytes: 65_536, align_bytes: 65_536, ..load };
    let both = run(&[large(writes), large(reads)]);
    near(both[0].bytes_per_s, 524_288_000.0, 0.5);
    near(both[1].bytes_per_s, 524_288_000.0, 0.5);
}

#[test]
fn cached_and_uncached_disks_of_one_machine() {
    let machine = || vm(cap(12_800, 192_000_000), cap(16_000, 256_000_000), 200 * GIB);
    let run = |n_cached: usize| {
        let volumes = (0..5).map(|idx| {
            let mode = if idx < n_cached { CacheMode::ReadOnly } else { CacheMode::None };
            volume(&format!("/data{idx}"), vec![p30(mode)])
        });
        let design = design(Some(machine()), volumes.collect());
        let options = SystemOptions { n_waiting_max: 1024, start: Start::Warm, seed: 1 };
        let mut system = System::new(&design, &options);
        let loads: Vec<Load> =
            (0..5).map(|volume| Load { volume, rate: 5_000, ..Load::reads(64, 8 * KIB) }).collect();
        let outcomes = run_from(&mut system, &loads, 0, S, 10 * S);
        let sum = |part: &[Outcome]| part.iter().map(|outcome| outcome.iops).sum::<f64>();
        (sum(&outcomes[..n_cached]), sum(&outcomes[n_cached..]))
    };
    let (cached, uncached) = run(3);
    near(cached, 15_000.0, 0.5);
    near(uncached, 10_000.0, 0.5);
    let (cached, uncached) = run(2);
    near(cached, 10_000.0, 0.5);
    near(uncached, 12_800.0, 0.5);
}
