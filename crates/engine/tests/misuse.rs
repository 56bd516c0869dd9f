//! What a wrong caller meets: each check that stays on in release, failed on purpose.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{BLOCK, arena, file, make, op, options, read_write, scratch, spec, table, zeros};
use engine::{Arena, ArenaSpec, Wait, build, offload};
use plan::EngineKind;
use plan::op::OpKind;

/// Checks that a call ends with these words.
#[track_caller]
fn check<T>(expected: &str, call: impl FnOnce() -> T) {
    let payload = catch_unwind(AssertUnwindSafe(call)).err().expect("the call is refused");
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    assert!(text.contains(expected), "{text}, not {expected}");
}

#[test]
fn an_arena_has_room() {
    let arena = |n_buffers, buffer_bytes| {
        Arena::new(&ArenaSpec { n_buffers, buffer_bytes, ..ArenaSpec::default() }).is_ok()
    };
    check("an arena has a buffer at least", || arena(0, 4096));
    check("a buffer has a byte at least", || arena(1, 0));
    assert!(arena(1, 1));
}

#[test]
fn each_operation_in_flight_has_a_buffer_of_its_own() {
    let expected = "each operation in flight has a buffer of its own";
    for kind in [EngineKind::Uring, EngineKind::Aio, EngineKind::Sync, EngineKind::Null] {
        check(expected, || build(&spec(kind), table(vec![]), arena(1), options(2)).is_ok());
    }
    let make = |files, arena| build(&spec(EngineKind::Sync), files, arena, options(1));
    check(expected, || offload(2, table(vec![]), arena(1), &make).is_ok());
    check("somebody issues", || offload(0, table(vec![]), arena(1), &make).is_ok());
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
        let mut engine = engine();
        if kind == EngineKind::Uring && engine.name().starts_with("libaio") {
            continue;
        }
        let twice: Vec<_> = reads.iter().chain(&reads[..1]).copied().collect();
        check("no more is in flight than the queue is deep", || {
            engine.exchange(&twice, Wait::POLL, &mut Vec::new()).is_ok()
        });
    }
    let make = |files, arena| build(&spec(EngineKind::Sync), files, arena, options(1));
    let files = table(vec![file(&path, read_write())]);
    let mut pool = offload(4, files, arena(8), &make).expect("threads");
    check("no more is in flight than there are threads", || {
        pool.exchange(&reads, Wait::POLL, &mut Vec::new()).is_ok()
    });
}
