//! Caps change while operations wait.

use crate::common::*;
use volume::design::{Backing, CacheMode, Stripe};
use volume::{ChangeError, Design, Io, IoKind};

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

#[test]
fn another_shape_is_refused() {
    let mut system = system(&one_p30());
    let mut moved = one_p30();
    moved.volumes[0].mount = "/elsewhere".to_owned();
    let error = system.change(0, &moved).expect_err("another mount");
    assert_eq!(
        error.to_string(),
        "volume 0 is `/data` now and `/elsewhere` in the new design; volumes stay"
    );
    let striped = design(None, vec![volume("/data", vec![p30(CacheMode::None); 2])]);
    assert!(matches!(system.change(0, &striped), Err(ChangeError::Backing { .. })));
    let none = design(None, Vec::new());
    assert!(matches!(system.change(0, &none), Err(ChangeError::Mount { .. })));
}
