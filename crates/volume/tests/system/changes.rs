//! Caps change while operations wait.

use crate::common::*;
use volume::design::{Backing, CacheMode, Stripe};
use volume::{ChangeError, Design, Io, IoKind, System};

fn p40() -> Design {
    let mut design = one_p30();
    let Backing::Disks(Stripe { disks, .. }) = &mut design.volumes[0].backing else {
        unreachable!()
    };
    disks[0].sku.replace_range(.., "P40");
    disks[0].cap = cap(7_500, 250_000_000);
    design
}

#[test]
fn what_waits_goes_on_under_the_new_caps() {
    let mut system = system(&one_p30());
    for id in 0..1_000 {
        let io =
            Io { id, kind: IoKind::Write, volume: 0, client: 0, offset_bytes: 0, len_bytes: 1 };
        system.submit(0, io);
    }
    let mut done = Vec::new();
    system.poll(100 * MS, &mut done);
    assert_eq!(done.len(), 496);
    system.change(100 * MS, &p40()).expect("the same shape");
    assert_eq!(system.caps()[0].name, "disk /data[0] P40 iops");
    assert_eq!((system.caps().len(), system.caps()[0].per_s), (2, 7_500));
    system.poll(S, &mut done);
    assert!(done.iter().map(|done| done.id).eq(0..1_000), "in their order");
    // The other 499 or so that wait take 66.5 ms at 7,500 a second, and a millisecond each.
    near(done[999].at_ns as f64, (100.0 + 66.5 + 1.0) * MS as f64, 0.3);
}

#[test]
fn a_load_follows_a_change_down_and_up() {
    let mut system = system(&p40());
    let load = Load::reads(64, 8 * KIB);
    near(run_from(&mut system, &[load], 0, S, 5 * S)[0].iops, 7_500.0, 0.1);
    system.change(6 * S, &one_p30()).expect("the same shape");
    near(run_from(&mut system, &[load], 6 * S, S, 5 * S)[0].iops, 5_000.0, 0.1);
    system.change(12 * S, &p40()).expect("the same shape");
    near(run_from(&mut system, &[load], 12 * S, S, 5 * S)[0].iops, 7_500.0, 0.1);
}

#[test]
fn a_cache_switched_on_begins_cold_and_switched_off_writes_what_is_dirty() {
    let with = |mode| {
        let machine = vm(cap(50_000, 1 << 30), cap(64_000, 1 << 30), 8 * GIB);
        design(Some(machine), vec![volume("/data", vec![p30(mode)])])
    };
    let mut system = system(&with(CacheMode::None));
    let load = Load { span_bytes: 256 * MIB, ..Load::reads(64, 64 * KIB) };
    near(run_from(&mut system, &[load], 0, S, 5 * S)[0].iops, 3_051.76, 0.3);
    system.change(6 * S, &with(CacheMode::ReadWrite)).expect("the same shape");
    assert!(run_from(&mut system, &[load], 6 * S, 4 * S, S)[0].iops > 10_000.0);
    for id in 0..10 {
        let kind = IoKind::Write;
        let offset_bytes = id << 20;
        let io = Io { id, kind, volume: 0, client: 0, offset_bytes, len_bytes: 8192 };
        system.submit(12 * S, io);
    }
    assert_eq!(system.dirty(0).count(), 10);
    system.change(12 * S, &with(CacheMode::None)).expect("the same shape");
    system.poll(12 * S + 50 * MS, &mut Vec::new());
    assert_eq!(system.dirty(0).count(), 0);
}

/// One cached disk of a machine with a cache.
fn cached(mode: CacheMode, cache_bytes: u64) -> Design {
    let machine = vm(cap(50_000, 1 << 30), cap(64_000, 1 << 30), cache_bytes);
    design(Some(machine), vec![volume("/data", vec![p30(mode)])])
}

/// Writes pieces of 1 MiB, each at its number.
fn write_mib(system: &mut System, now_ns: u64, ids: std::ops::Range<u64>) {
    for id in ids {
        let (kind, offset_bytes) = (IoKind::Write, id << 20);
        let io = Io { id, kind, volume: 0, client: 0, offset_bytes, len_bytes: 1 << 20 };
        system.submit(now_ns, io);
    }
}

#[test]
fn a_cache_of_another_size_leaves_nothing_behind() {
    let mut system = system(&cached(CacheMode::ReadWrite, 8 * GIB));
    write_mib(&mut system, 0, 0..100);
    system.poll(200 * MS, &mut Vec::new());
    assert_eq!(system.status(200 * MS).volumes[0].leaving_bytes, 0);
    system.change(200 * MS, &cached(CacheMode::ReadWrite, 16 * GIB)).expect("the same shape");
    let volumes = system.status(200 * MS).volumes;
    assert_eq!(volumes[0].leaving_bytes, 100 * MIB);
    // What is written afterwards stays in the new cache for its second.
    write_mib(&mut system, 700 * MS, 200..210);
    system.poll(900 * MS, &mut Vec::new());
    let volumes = system.status(900 * MS).volumes;
    assert_eq!((volumes[0].leaving_bytes, volumes[0].dirty_bytes), (0, 10 * MIB));
}

#[test]
fn a_write_over_what_an_earlier_cache_has_left_is_dirty_until_it_is_on_the_disk() {
    let mut system = system(&cached(CacheMode::ReadWrite, 8 * GIB));
    write_mib(&mut system, 0, 0..100);
    system.poll(200 * MS, &mut Vec::new());
    system.change(200 * MS, &cached(CacheMode::None, 8 * GIB)).expect("the same shape");
    assert_eq!(system.status(200 * MS).volumes[0].leaving_bytes, 100 * MIB);
    let write = |id, offset_bytes| {
        let (kind, len_bytes) = (IoKind::Write, 4096);
        Io { id, kind, volume: 0, client: 0, offset_bytes, len_bytes }
    };
    system.submit(200 * MS, write(1_000, 99 * MIB));
    system.submit(200 * MS, write(1_001, 500 * MIB));
    assert!(system.is_dirty(0, &(99 * MIB..99 * MIB + 4096)));
    assert!(!system.is_dirty(0, &(500 * MIB..500 * MIB + 4096)));
    let flush = Io { kind: IoKind::Flush, len_bytes: 0, ..write(1_002, 0) };
    system.submit(200 * MS, flush);
    let mut done = Vec::new();
    system.poll(2 * S, &mut done);
    let flush = done.iter().find(|done| done.id == 1_002).expect("it is done");
    // 100 MiB at 200 MB/s, but for what the disk had not used before.
    near((flush.at_ns - 200 * MS) as f64, 420.0 * MS as f64, 2.0);
    assert_eq!(system.dirty(0).count(), 0);
}

#[test]
fn a_flush_says_which_cap_of_the_disks_it_waited_for() {
    let mut system = system(&cached(CacheMode::ReadWrite, 8 * GIB));
    write_mib(&mut system, 0, 0..100);
    let (kind, offset_bytes, len_bytes) = (IoKind::Flush, 0, 0);
    let flush = Io { id: 1_000, kind, volume: 0, client: 0, offset_bytes, len_bytes };
    system.submit(200 * MS, flush);
    let mut done = Vec::new();
    system.poll(400 * MS, &mut done);
    let status = system.status(400 * MS);
    let held_by = status.volumes[0].disks_held_by.expect("writes wait for the disk");
    assert_eq!(status.volumes[0].n_flushes, 1);
    assert_eq!(status.caps[usize::from(held_by.0)].info.name, "disk /data[0] P30 bytes");
    system.poll(2 * S, &mut done);
    let first = done.iter().find(|done| done.id == 1_000).expect("it is done");
    let wait_ns = first.at_ns - 200 * MS;
    assert_eq!(first.held_by, held_by);
    assert!((wait_ns / 2..=wait_ns).contains(&first.held_ns), "{} of {wait_ns}", first.held_ns);
    // One that finds nothing to wait for waited for nothing.
    system.submit(3 * S, Io { id: 1_001, ..flush });
    system.poll(4 * S, &mut done);
    assert_eq!(done.last().map(|done| (done.id, done.held_ns)), Some((1_001, 0)));
}

#[test]
fn another_shape_is_refused() {
    let mut system = system(&one_p30());
    let mut moved = one_p30();
    moved.volumes[0].mount = "/elsewhere".to_owned();
    let error = system.change(0, &moved).expect_err("another mount");
    assert_eq!(
        error.to_string(),
        "volume 1 is `/data`, and `/elsewhere` in the new design; \
         volumes and their mount paths stay"
    );
    let striped = design(None, vec![volume("/data", vec![p30(CacheMode::None); 2])]);
    assert!(matches!(system.change(0, &striped), Err(ChangeError::Backing { .. })));
    let none = design(None, Vec::new());
    assert!(matches!(system.change(0, &none), Err(ChangeError::Mount { .. })));
}

#[test]
fn caps_of_a_machine_that_is_gone_are_not_in_force() {
    let machine = vm(cap(12_800, 1 << 30), cap(16_000, 1 << 30), 8 * GIB);
    let with = design(Some(machine), vec![volume("/data", vec![p30(CacheMode::None)])]);
    let without = design(None, with.volumes.clone());
    let mut system = system(&with);
    let names = |system: &System| -> Vec<String> {
        let caps = system.status(S).caps;
        caps.into_iter().filter(|cap| cap.in_force).map(|cap| cap.info.name).collect()
    };
    assert!(names(&system).iter().any(|name| name.starts_with("vm ")));
    system.change(MS, &without).expect("the same shape");
    assert_eq!(names(&system), ["disk /data[0] P30 iops", "disk /data[0] P30 bytes"]);
    system.change(2 * MS, &with).expect("the same shape");
    assert!(names(&system).iter().any(|name| name.starts_with("vm ")));
}
