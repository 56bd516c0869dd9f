//! Between the first and the last operation a system allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;

use crate::common::*;
use volume::design::CacheMode;
use volume::{Design, Done, IoKind};

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
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        N_ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { Heap.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { Heap.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn check(design: &Design) {
    const N_WAITING: u64 = 1024;
    let mut system = system(design);
    let mut done: Vec<Done> = Vec::with_capacity(N_WAITING as usize);
    let before = N_ALLOCATIONS.with(Cell::get);
    let mut now_ns = 0;
    let loads = [Load { read_pct: 50, ..Load::reads(1, 8 * KIB) }, Load::writes(1, 100 * KIB)];
    let mut n = 0;
    while n < 20_000 {
        while (system.n_waiting() as u64) < N_WAITING {
            n += 1;
            let mut io = loads[n as usize % 2].io(n, n);
            if n % 97 == 0 {
                (io.kind, io.len_bytes) = (IoKind::Flush, 0);
            }
            system.submit(now_ns, io);
        }
        now_ns = system.next_event_ns().expect("something is under way");
        done.clear();
        system.poll(now_ns, &mut done);
    }
    assert_eq!(N_ALLOCATIONS.with(Cell::get) - before, 0);
}

#[test]
fn a_system_allocates_nothing_while_it_runs() {
    for mode in [CacheMode::None, CacheMode::ReadOnly, CacheMode::ReadWrite] {
        for n_disks in [1, 10] {
            let machine = vm(cap(50_000, 1 << 29), cap(64_000, 1 << 29), GIB);
            check(&design(Some(machine), vec![volume("/data", vec![p30(mode); n_disks])]));
        }
    }
}
