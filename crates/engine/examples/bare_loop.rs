//! The limit to measure engines against: random direct 4 KiB reads by a loop that does nothing
//! else.
//!
//! `bare_loop io_uring|libaio PATH DEPTH SECONDS` prints one line of JSON. `cargo xtask peers` runs
//! it beside the real thing. It knows neither latency nor errors, and takes every batch the
//! kernel's cheapest way: registered file and buffers, completions handled inside its own calls.

#![expect(clippy::print_stdout, reason = "an example prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use io_uring::{IoUring, opcode, types};

const BLOCK: u32 = 4096;
const BATCH: u32 = 32;

/// Set when the time is over, by a thread that sleeps: the loops read no clock.
static IS_OVER: AtomicBool = AtomicBool::new(false);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, path, depth, seconds] = args.as_slice() else {
        panic!("usage: bare_loop io_uring|libaio PATH DEPTH SECONDS")
    };
    let depth: u32 = depth.parse().expect("a depth");
    let seconds: u64 = seconds.parse().expect("seconds");
    let target = Target::open(path, depth);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        IS_OVER.store(true, Relaxed);
    });
    let start = Instant::now();
    let n_ios = match kind.as_str() {
        "io_uring" => uring(target, depth),
        "libaio" => aio(target, depth),
        _ => panic!("no such loop: {kind}"),
    };
    let passed = start.elapsed();
    let iops = n_ios as f64 / passed.as_secs_f64();
    let runtime_ms = passed.as_millis();
    println!(r#"{{"iops": {iops:.0}, "total_ios": {n_ios}, "runtime": {runtime_ms}}}"#);
}

/// A file with a block of memory per slot, and where the next read goes.
struct Target {
    file: File,
    base: *mut u8,
    n_blocks: u64,
    state: u64,
}

impl Target {
    fn open(path: &str, depth: u32) -> Self {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).custom_flags(libc::O_DIRECT).open(path).expect("a file");
        let n_blocks = file.seek(SeekFrom::End(0)).expect("a size") / u64::from(BLOCK);
        // The loops end with the process, and so does the memory.
        let memory = vec![1_u8; (depth * BLOCK + BLOCK) as usize].leak().as_mut_ptr();
        let base = memory.wrapping_add(memory.align_offset(BLOCK as usize));
        Target { file, base, n_blocks, state: 0x9e37_79b9_7f4a_7c15 }
    }

    #[inline]
    fn next_offset(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let block = (u128::from(self.state) * u128::from(self.n_blocks)) >> 64;
        block as u64 * u64::from(BLOCK)
    }

    #[inline]
    fn memory(&self, slot: u32) -> *mut u8 {
        self.base.wrapping_add((slot * BLOCK) as usize)
    }
}

fn uring(mut target: Target, depth: u32) -> u64 {
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(depth.next_power_of_two())
        .expect("a ring");
    let len = (depth * BLOCK) as usize;
    let iovec = libc::iovec { iov_base: target.base.cast(), iov_len: len };
    // SAFETY: the memory is never freed.
    unsafe { ring.submitter().register_buffers(&[iovec]) }.expect("buffers");
    ring.submitter().register_files(&[target.file.as_raw_fd()]).expect("files");
    let mut entry = |slot: u32| {
        opcode::ReadFixed::new(types::Fixed(0), target.memory(slot), BLOCK, 0)
            .offset(target.next_offset())
            .build()
            .user_data(u64::from(slot))
    };
    for slot in 0..depth {
        // SAFETY: the slot's memory is free.
        unsafe { ring.submission().push(&entry(slot)) }.expect("room");
    }
    let batch = depth.min(BATCH) as usize;
    let mut n_ios = 0;
    ring.submit_and_wait(batch).expect("a submission");
    while !IS_OVER.load(Relaxed) {
        let (submitter, mut queue, completions) = ring.split();
        for completed in completions.take(batch) {
            assert!(completed.result() == BLOCK as i32, "a read failed");
            // SAFETY: the slot's memory is free again.
            unsafe { queue.push(&entry(completed.user_data() as u32)) }.expect("room");
            n_ios += 1;
        }
        drop(queue);
        submitter.submit_and_wait(batch).expect("a submission");
    }
    n_ios
}

fn aio(mut target: Target, depth: u32) -> u64 {
    let mut context: libc::c_ulong = 0;
    let mut blocks = vec![[0_u64; 8]; depth as usize];
    let mut events = vec![[0_u64; 4]; depth as usize];
    let mut pointers: Vec<*mut [u64; 8]> = Vec::with_capacity(depth as usize);
    let mut ready: Vec<u64> = (0..u64::from(depth)).collect();
    let batch = depth.min(BATCH) as usize;
    let mut n_ios = 0;
    // SAFETY: the kernel writes the context's name.
    let made = unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) };
    assert!(made == 0, "no context");
    let fd = u64::from(target.file.as_raw_fd() as u32) << 32;
    while !IS_OVER.load(Relaxed) {
        pointers.clear();
        for &slot in &ready {
            let to = target.memory(slot as u32) as u64;
            let offset = target.next_offset();
            blocks[slot as usize] = [slot, 0, fd, to, u64::from(BLOCK), offset, 0, 0];
            pointers.push(&raw mut blocks[slot as usize]);
        }
        // SAFETY: blocks, memory and events outlive the operations.
        let n_events = unsafe {
            let (n, first) = (pointers.len(), pointers.as_ptr());
            assert!(libc::syscall(libc::SYS_io_submit, context, n, first) == n as i64);
            let none = std::ptr::null::<libc::timespec>();
            let to = events.as_mut_ptr();
            libc::syscall(libc::SYS_io_getevents, context, batch, batch, to, none)
        };
        assert!(n_events > 0, "no completions");
        n_ios += n_events as u64;
        ready.clear();
        ready.extend(events[..n_events as usize].iter().map(|event| event[0]));
    }
    n_ios
}
