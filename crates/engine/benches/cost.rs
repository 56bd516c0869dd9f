//! What an operation costs in the engines, beside loops written for nothing else: `cargo bench -p
//! engine`. Buffered 4 KiB random reads of a cached file, so that no device stands in the way.
//!
//! Not included: choosing operations, the clock, statistics. Those are the worker's.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Instant;

use engine::{
    Arena, ArenaSpec, BuildOptions, FileSpec, FileTable, OpenFlags, TablePolicy, Wait, build,
};
use io_uring::{IoUring, opcode, types};
use plan::op::{BufId, Completion, FileIdx, Op, OpKind};
use plan::{EngineKind, EngineSpec};

const BLOCK: u32 = 4096;
const N_BLOCKS: u64 = 16 << 10;
const N_OPS: u64 = 1 << 20;
const ROUNDS: usize = 5;

fn offset(number: u64) -> u64 {
    let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 40) % N_BLOCKS * u64::from(BLOCK)
}

fn main() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = dir.path().join("data");
    std::fs::write(&path, vec![1; (N_BLOCKS * u64::from(BLOCK)) as usize]).expect("a file");
    println!("{:34} {:>10} {:>10}  ratio", "ns per operation, median of 5", "engine", "bare");
    compare("null, depth 64", || run(EngineKind::Null, &path, 64), || f64::NAN);
    for depth in [1, 128] {
        let name = format!("io_uring, depth {depth}");
        compare(&name, || run(EngineKind::Uring, &path, depth), || bare_uring(&path, depth));
    }
    // Here the kernel does next to nothing, so that the cost of the engine shows.
    let zero = Path::new("/dev/zero");
    let (engine, bare) = (|| run(EngineKind::Uring, zero, 128), || bare_uring(zero, 128));
    compare("io_uring, depth 128, /dev/zero", engine, bare);
    compare("psync", || run(EngineKind::Sync, &path, 1), || bare_pread(&path));
    for depth in [1, 64] {
        let name = format!("libaio, depth {depth}");
        compare(&name, || run(EngineKind::Aio, &path, depth), || bare_aio(&path, depth));
    }
    compare("mmap", || run(EngineKind::Mmap, &path, 1), || f64::NAN);
}

/// Runs both in turn, so that what disturbs one disturbs the other, and prints their medians.
fn compare(name: &str, engine: impl Fn() -> f64, bare: impl Fn() -> f64) {
    let (mut engines, mut bares): (Vec<f64>, Vec<f64>) =
        (0..ROUNDS).map(|_| (engine(), bare())).unzip();
    engines.sort_by(f64::total_cmp);
    bares.sort_by(f64::total_cmp);
    let (engine, bare) = (engines[ROUNDS / 2], bares[ROUNDS / 2]);
    if bare.is_nan() {
        println!("{name:34} {engine:10.1}");
    } else {
        println!("{name:34} {engine:10.1} {bare:10.1}  {:.3}", bare / engine);
    }
}

fn run(kind: EngineKind, path: &Path, queue_depth: u32) -> f64 {
    let size_bytes = N_BLOCKS * u64::from(BLOCK);
    let spec = FileSpec { path: path.to_owned(), open: OpenFlags::default(), size_bytes };
    let files = FileTable::new(vec![spec], TablePolicy::default()).expect("the file");
    let arena = Arena::new(&ArenaSpec { n_buffers: queue_depth, ..ArenaSpec::default() });
    let spec = EngineSpec { kind, name: "bench".into(), ..EngineSpec::default() };
    let options = BuildOptions { queue_depth, ..BuildOptions::default() };
    let mut engine = build(&spec, files, arena.expect("memory"), options).expect("the engine");
    let batch = engine.batch_max().min(queue_depth) as usize;
    let mut done: Vec<Completion> = Vec::with_capacity(queue_depth as usize);
    let mut ops: Vec<Op> = (0..queue_depth).map(|slot| read(slot, u64::from(slot))).collect();
    for part in ops.chunks(batch) {
        engine.exchange(part, Wait::POLL, &mut done).expect("an exchange");
    }
    let start = Instant::now();
    let mut n_ops = 0;
    let wait = Wait { min: batch as u32, timeout_ns: None };
    while n_ops < N_OPS {
        ops.clear();
        for completion in done.drain(..).take(batch) {
            assert!(completion.result == BLOCK as i32);
            ops.push(read(completion.slot, n_ops));
            n_ops += 1;
        }
        engine.exchange(&ops, wait, &mut done).expect("an exchange");
    }
    start.elapsed().as_nanos() as f64 / n_ops as f64
}

#[inline]
fn read(slot: u32, number: u64) -> Op {
    Op {
        offset: offset(number),
        len: BLOCK,
        file: FileIdx(0),
        slot,
        buf: BufId(slot),
        buf_offset_bytes: 0,
        kind: OpKind::Read,
        priority: plan::IoPriority::NONE,
    }
}

fn bare_uring(path: &Path, depth: u32) -> f64 {
    let file = std::fs::File::open(path).expect("the file");
    let mut memory = vec![0_u8; (depth * BLOCK) as usize + 4096];
    let base = memory.as_mut_ptr();
    let base = base.wrapping_add(base.align_offset(4096));
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_no_sqarray()
        .build(depth.next_power_of_two())
        .expect("a ring");
    let iovec = libc::iovec { iov_base: base.cast(), iov_len: (depth * BLOCK) as usize };
    // SAFETY: `memory` outlives the ring.
    unsafe { ring.submitter().register_buffers(&[iovec]) }.expect("buffers");
    ring.submitter().register_files(&[file.as_raw_fd()]).expect("files");
    let entry = |slot: u32, number: u64| {
        let to = base.wrapping_add((slot * BLOCK) as usize);
        opcode::ReadFixed::new(types::Fixed(0), to, BLOCK, 0)
            .offset(offset(number))
            .build()
            .user_data(u64::from(slot))
    };
    let batch = depth.min(32) as usize;
    for slot in 0..depth {
        // SAFETY: the slot's memory is free.
        unsafe { ring.submission().push(&entry(slot, u64::from(slot))) }.expect("room");
    }
    ring.submit_and_wait(batch).expect("a submission");
    let start = Instant::now();
    let mut n_ops = 0;
    while n_ops < N_OPS {
        let (submitter, mut queue, completions) = ring.split();
        for completed in completions.take(batch) {
            // SAFETY: the slot's memory is free again.
            unsafe { queue.push(&entry(completed.user_data() as u32, n_ops)) }.expect("room");
            n_ops += 1;
        }
        drop(queue);
        submitter.submit_and_wait(batch).expect("a submission");
    }
    start.elapsed().as_nanos() as f64 / n_ops as f64
}

fn bare_pread(path: &Path) -> f64 {
    let file = std::fs::File::open(path).expect("the file");
    let mut memory = vec![0_u8; BLOCK as usize];
    let start = Instant::now();
    for number in 0..N_OPS {
        let (fd, to) = (file.as_raw_fd(), memory.as_mut_ptr().cast());
        // SAFETY: `memory` holds a block.
        let n_read = unsafe { libc::pread(fd, to, BLOCK as usize, offset(number) as i64) };
        assert!(n_read == BLOCK as isize);
    }
    start.elapsed().as_nanos() as f64 / N_OPS as f64
}

/// Submits and takes with two system calls, as a program on libaio does.
fn bare_aio(path: &Path, depth: u32) -> f64 {
    let file = std::fs::File::open(path).expect("the file");
    let mut memory = vec![0_u8; (depth * BLOCK) as usize];
    let mut context: libc::c_ulong = 0;
    let mut blocks = vec![[0_u64; 8]; depth as usize];
    let mut events = vec![[0_u64; 4]; depth as usize];
    let batch = depth.min(32) as usize;
    let mut ready: Vec<u64> = (0..u64::from(depth)).collect();
    let mut pointers: Vec<*mut [u64; 8]> = Vec::with_capacity(depth as usize);
    // SAFETY: the kernel writes the context's name.
    unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) };
    let start = Instant::now();
    let mut n_ops = 0;
    while n_ops < N_OPS {
        pointers.clear();
        for &slot in &ready {
            let at = slot as usize;
            let to = memory.as_mut_ptr().wrapping_add(at * BLOCK as usize) as u64;
            let fd = u64::from(file.as_raw_fd() as u32) << 32;
            blocks[at] = [slot, 0, fd, to, u64::from(BLOCK), offset(n_ops), 0, 0];
            pointers.push(&raw mut blocks[at]);
            n_ops += 1;
        }
        // SAFETY: blocks, memory and events outlive the operations.
        let n_events = unsafe {
            let (n, first) = (pointers.len(), pointers.as_ptr());
            libc::syscall(libc::SYS_io_submit, context, n, first);
            let none = std::ptr::null::<libc::timespec>();
            let to = events.as_mut_ptr();
            libc::syscall(libc::SYS_io_getevents, context, batch, batch, to, none)
        };
        assert!(n_events > 0);
        ready.clear();
        ready.extend(events[..n_events as usize].iter().map(|event| event[0]));
    }
    // SAFETY: the context is this function's.
    unsafe { libc::syscall(libc::SYS_io_destroy, context) };
    start.elapsed().as_nanos() as f64 / n_ops as f64
}
