//! Between start and end a worker allocates nothing (invariant 2 of ARCHITECTURE.md).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crate::common::{job, worker_of};
use plan::job::Part;
use plan::op::{Completion, Op, OpKind};
use worker::{Decision, NoData};

thread_local! {
    static N_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of the thread.
struct Counting;

// SAFETY: passes every call on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        N_ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn check(change: impl FnOnce(&mut plan::Job)) {
    let mut job = job(OpKind::Read, true, 32);
    job.workload.access.write = true;
    change(&mut job);
    let (mut worker, _) = worker_of(job, 16 << 20, 32);
    let mut ops: Vec<Op> = Vec::with_capacity(32);
    let mut done: Vec<Completion> = Vec::with_capacity(32);
    let before = N_ALLOCATIONS.with(Cell::get);
    let mut now_ns = 0;
    while let Decision::Exchange { .. } = worker.next(now_ns, &mut ops, &mut NoData) {
        worker.submitted(now_ns, &ops);
        now_ns += 10_000;
        done.clear();
        done.extend(ops.iter().map(|op| Completion { slot: op.slot, result: op.len as i32 }));
        worker.complete(now_ns, ops.len(), &done, &mut NoData);
    }
    assert_eq!(N_ALLOCATIONS.with(Cell::get) - before, 0);
}

#[test]
fn a_worker_allocates_nothing_while_it_runs() {
    check(|_| {});
    check(|job| job.load.rate.read = Some(plan::load::Rate::Iops(1_000_000)));
    check(|job| job.durability.fsync_every = 3);
    check(|job| job.load.serialize_overlap = true);
    check(|job| {
        job.workload.block_size =
            plan::PerDir::all(plan::workload::BlockSize::Range { min: 4096, max: 65536 });
    });
    check(|job| {
        let part = |weight| Part { weight, workload: job.workload.clone(), ..Part::default() };
        job.parts = vec![part(1.0), part(0.25), part(7.5)];
    });
    check(|job| {
        job.engine.priority_pct = plan::PerDir::all(30);
        job.workload.block_size = plan::PerDir::all(plan::workload::BlockSize::Fixed(4096));
    });
}
