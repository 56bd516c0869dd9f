//! What a wrong caller meets: each check that stays on in release, failed on purpose.

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use common::{BLOCK, arena, file, make, op, options, read_write, scratch, spec, table, zeros};
use engine::volume::{Member, UsageMark, VolumeEngine, VolumeRange, Volumes};
use engine::{Arena, ArenaSpec, LayoutSpec, OpenFlags, Wait, build, offload};
use plan::EngineKind;
use plan::files::Fallocate;
use plan::op::OpKind;
use volume::{System, SystemOptions};

#[test]
fn an_arena_has_room() {
    let arena = |n_buffers, buffer_bytes| {
        Arena::new(&ArenaSpec { n_buffers, buffer_bytes, ..ArenaSpec::default() }).is_ok()
    };
    testing::check_wrong_calls(&[
        ("no buffer", "an arena has a buffer at least", &|| _ = arena(0, 4096)),
        ("no byte", "a buffer has a byte at least", &|| _ = arena(1, 0)),
    ]);
    assert!(arena(1, 1));
}

#[test]
fn each_operation_in_flight_has_a_buffer_of_its_own() {
    let expected = "each operation in flight has a buffer of its own";
    let build_with = |kind| _ = build(&spec(kind), table(vec![]), arena(1), options(2)).is_ok();
    let make = |files, arena| build(&spec(EngineKind::Sync), files, arena, options(1));
    let pool = |n_threads| _ = offload(n_threads, table(vec![]), arena(1), &make).is_ok();
    testing::check_wrong_calls(&[
        ("io_uring", expected, &|| build_with(EngineKind::Uring)),
        ("libaio", expected, &|| build_with(EngineKind::Aio)),
        ("one by one", expected, &|| build_with(EngineKind::Sync)),
        ("nothing is done", expected, &|| build_with(EngineKind::Null)),
        ("more threads", expected, &|| pool(2)),
        ("no threads", "a thread issues", &|| pool(0)),
    ]);
}

/// Engines that hold operations in flight take no more than the queue is deep.
#[test]
fn a_queue_that_is_too_full_is_refused() {
    let dir = scratch();
    let path = zeros(dir.path(), "f", u64::from(8 * BLOCK));
    let reads: Vec<_> =
        (0..8).map(|slot| op(OpKind::Read, slot, u64::from(slot * BLOCK), BLOCK)).collect();
    for kind in [EngineKind::Uring, EngineKind::Aio] {
        let engine = || make(kind, vec![file(&path, read_write())], 8);
        if kind == EngineKind::Uring && engine().name().starts_with("libaio") {
            continue;
        }
        let twice: Vec<_> = reads.iter().chain(&reads[..1]).copied().collect();
        let expected = "no more is in flight than the queue is deep";
        testing::check_wrong_calls(&[("one too many", expected, &|| {
            _ = engine().exchange(&twice, Wait::POLL, &mut Vec::new());
        })]);
    }
}

#[test]
fn threads_have_one_operation_each() {
    let dir = scratch();
    let path = zeros(dir.path(), "f", u64::from(8 * BLOCK));
    let reads: Vec<_> = (0..8).map(|slot| op(OpKind::Read, slot, 0, BLOCK)).collect();
    let make = |files, arena| build(&spec(EngineKind::Sync), files, arena, options(1));
    let pool = || {
        let files = table(vec![file(&path, read_write())]);
        offload(4, files, arena(8), &make).expect("threads")
    };
    testing::check_wrong_calls(&[("one too many", "5 are in flight on 4 threads", &|| {
        _ = pool().exchange(&reads[..5], Wait::POLL, &mut Vec::new());
    })]);
}

#[test]
fn a_file_is_written_from_within_on() {
    let dir = scratch();
    let (fallocate, from_bytes) = (Fallocate::None, 4097);
    let wrong = LayoutSpec { size_bytes: 4096, from_bytes, fallocate, write: true, fsync: false };
    let path = dir.path().join("f");
    let expected = "a file of 4096 B is written from 4097 B on";
    testing::check_wrong_calls(&[
        ("a local one", expected, &|| {
            _ = engine::layout(&path, &wrong, |_, _| {}, &mut |_| ControlFlow::Continue(()));
        }),
        ("one of a server", expected, &|| {
            let spec = spec(EngineKind::Nfs);
            let goes_on = &mut |_| ControlFlow::Continue(());
            _ = engine::nfs::layout(&spec, &path, &wrong, |_, _| {}, goes_on);
        }),
    ]);
}

/// Returns a system of one volume at rest.
fn system() -> System {
    let text = "[[volume]]\nmount = \"/a\"\ndisk = \"P30\"\n";
    let (design, findings) = volume::design::parse(text);
    let design = design.unwrap_or_else(|| panic!("{findings:?}"));
    let options = SystemOptions { n_waiting_max: 8, start: volume::Start::Cold, seed: 1 };
    System::new(&design, &options)
}

fn volumes(time_scale: f64) -> Arc<Volumes> {
    let now_ns = AtomicU64::new(0);
    Volumes::new(system(), Arc::new(move || now_ns.fetch_add(1, Relaxed)), time_scale)
}

fn join(volumes: &Arc<Volumes>, queue_depth: u32, place: VolumeRange) -> Member {
    volumes.join(3, queue_depth, vec![place], false, Box::new(|_| true))
}

#[test]
fn a_worker_joins_volumes_once_with_what_they_can_hold() {
    let place = VolumeRange { volume: 0, client: 0, base_bytes: 1 << 20, len_bytes: 1 << 20 };
    let engine = |specs, n_buffers, queue_depth| {
        let member = join(&volumes(1.0), queue_depth, place);
        VolumeEngine::new(member, table(specs), arena(n_buffers), queue_depth, false)
    };
    drop(engine(vec![], 2, 2));
    testing::check_wrong_calls(&[
        ("no time", "a second of the volumes takes 0 s", &|| drop(volumes(0.0))),
        ("a time that is none", "a second of the volumes takes NaN s", &|| drop(volumes(f64::NAN))),
        ("nothing in flight", "worker 3 joins with nothing in flight", &|| {
            drop(join(&volumes(1.0), 0, place));
        }),
        ("a file without end", "B from 1048576 B on end beyond 64 bits", &|| {
            drop(join(&volumes(1.0), 1, VolumeRange { len_bytes: u64::MAX, ..place }));
        }),
        ("twice", "worker 3 joins twice", &|| {
            let volumes = volumes(1.0);
            drop((join(&volumes, 1, place), join(&volumes, 1, place)));
        }),
        ("files", "volumes hold nothing of 1 files", &|| {
            drop(engine(vec![file("/dev/zero".as_ref(), OpenFlags::default())], 1, 1));
        }),
        ("a buffer less", "3 in flight have 2 buffers", &|| drop(engine(vec![], 2, 3))),
    ]);
}

#[test]
fn caps_are_compared_with_what_they_were() {
    let (early, late) = (UsageMark::of(&system(), 5), UsageMark::of(&system(), 6));
    let none = UsageMark::default();
    assert_eq!(late.since(&early).len(), late.rates_since(&early).len());
    let later = "caps at 5 ns are compared with 6 ns";
    testing::check_wrong_calls(&[
        ("what is dirty, in the future", later, &|| _ = early.dirty_since(&late)),
        ("rates in the future", later, &|| _ = early.rates_since(&late)),
        ("shares in the future", later, &|| _ = early.since(&late)),
        ("another system", "caps are compared with 0", &|| _ = early.since(&none)),
    ]);
}
