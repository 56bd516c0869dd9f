//! The engine `nfs` allocates nothing while it runs.

#[path = "../../engine/tests/nfs_support/mod.rs"]
mod engine_support;
mod nfs_common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use engine::Wait;
use engine_support::{Setup, op};
use nfs_common::{MOUNT, Served, free_volume};
use plan::op::{Completion, Op, OpKind};

thread_local! {
    /// Allocations of this thread: the server's threads may allocate.
    static N_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        N_ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn an_engine_that_runs_allocates_nothing() {
    const DEPTH: u32 = 16;
    let served = Served::start(free_volume());
    let setup = Setup {
        n_connections: 4,
        queue_depth: DEPTH,
        transfer_bytes: Some(16 << 10),
        ..Setup::new(&served.url(MOUNT))
    };
    let mut engine = setup.engine(&["file"]).expect("an engine");
    let mut ops: Vec<Op> = Vec::with_capacity(DEPTH as usize);
    let mut done: Vec<Completion> = Vec::with_capacity(DEPTH as usize);
    let mut counted = 0;
    for round in 0..60_u64 {
        ops.clear();
        done.clear();
        let kinds = [OpKind::Write, OpKind::Read, OpKind::Fsync];
        let kind = kinds[(round % 3) as usize];
        let offset = |slot: u32| (u64::from(slot) + round / 3) << 16;
        let len = if kind == OpKind::Fsync { 0 } else { 64 << 10 };
        ops.extend((0..DEPTH).map(|slot| op(kind, slot, offset(slot), len)));
        let before = N_ALLOCATIONS.get();
        let wait = Wait { min: DEPTH, timeout_ns: None };
        engine.exchange(&ops, wait, &mut done).expect("the engine goes on");
        // The first rounds may fill what the libraries keep for a thread.
        counted += if round < 6 { 0 } else { N_ALLOCATIONS.get() - before };
        assert!(done.iter().all(|completion| completion.result == len as i32), "{done:?}");
    }
    assert_eq!(counted, 0);
}
