//! The kernel's side of native AIO: a context, and its ring of completions that the kernel maps
//! into this process.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{EngineError, call};

/// `AIO_RING_MAGIC` of `fs/aio.c`.
const RING_MAGIC: u32 = 0xa10a_10a1;

/// One operation, `struct iocb` of `linux/aio_abi.h` on a little-endian machine.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct ControlBlock {
    pub(super) slot: u64,
    pub(super) key: u32,
    pub(super) rw_flags: i32,
    pub(super) opcode: u16,
    pub(super) priority: i16,
    pub(super) fd: u32,
    pub(super) memory: u64,
    pub(super) len: u64,
    pub(super) offset: i64,
    pub(super) reserved: u64,
    pub(super) flags: u32,
    pub(super) event_fd: u32,
}

/// One completion, `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Event {
    pub(super) slot: u64,
    block: u64,
    pub(super) result: i64,
    result2: i64,
}

/// `struct aio_ring` of `fs/aio.c`, at the address that is the context's name.
#[repr(C)]
struct RingHeader {
    id: u32,
    n_events: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible_features: u32,
    incompatible_features: u32,
    header_bytes: u32,
}

/// A context of native AIO.
pub(crate) struct Context {
    id: libc::c_ulong,
    /// Number of events in the ring, when completions can be taken from it without a system call.
    n_ring_events: Option<u32>,
    /// Room for what a system call returns.
    events: Vec<Event>,
}

impl Context {
    pub(crate) fn new(n_operations: u32) -> Result<Context, EngineError> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: the kernel writes the name of the context into `id`.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, n_operations, &raw mut id) };
        if result != 0 {
            return Err(explain(io::Error::last_os_error()));
        }
        let events = vec![Event::default(); n_operations as usize];
        let mut context = Context { id, n_ring_events: None, events };
        let ring = context.ring();
        let is_readable = ring.magic == RING_MAGIC
            && ring.incompatible_features == 0
            && ring.header_bytes as usize == size_of::<RingHeader>();
        context.n_ring_events = is_readable.then_some(ring.n_events);
        Ok(context)
    }

    /// Returns whether completions can be taken without a system call.
    #[inline]
    pub(super) fn is_readable(&self) -> bool {
        self.n_ring_events.is_some()
    }

    /// Hands control blocks over. Returns how many the kernel took, or the negated error number of
    /// the first.
    #[inline]
    pub(super) fn submit(&self, blocks: &[*mut ControlBlock]) -> i32 {
        // SAFETY: the blocks and the memory they name live in the engine until they complete.
        call::retry(|| unsafe {
            libc::syscall(libc::SYS_io_submit, self.id, blocks.len(), blocks.as_ptr()) as isize
        })
    }

    /// Takes completions from the ring without a system call; none where the ring is unreadable.
    #[inline]
    pub(super) fn take_ready(&mut self, mut take: impl FnMut(Event)) {
        let Some(n_ring_events) = self.n_ring_events else { return };
        let ring = self.ring();
        // Only this thread moves the head.
        let mut head = ring.head.load(Ordering::Relaxed);
        // The kernel writes an event before it moves the tail.
        let tail = ring.tail.load(Ordering::Acquire);
        if head == tail {
            return;
        }
        // The events follow the header, as checked when the context was made.
        let events = (self.id as usize + size_of::<RingHeader>()) as *const Event;
        while head != tail {
            // SAFETY: `head` is below `n_ring_events`, and the kernel has written the event.
            take(unsafe { events.add(head as usize).read() });
            head = if head + 1 >= n_ring_events { 0 } else { head + 1 };
        }
        // The kernel must not overwrite an event before it has been read.
        ring.head.store(head, Ordering::Release);
    }

    /// Waits for completions with a system call: for at least `min`, or until the time is up or a
    /// signal comes.
    pub(super) fn wait(
        &mut self,
        min: u32,
        timeout_ns: Option<u64>,
        take: impl FnMut(Event),
    ) -> Result<(), EngineError> {
        let timeout = timeout_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as _,
            tv_nsec: (ns % 1_000_000_000) as _,
        });
        let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let max = self.events.len();
        let events = self.events.as_mut_ptr();
        // SAFETY: the kernel writes at most `max` events, for which there is room; the time
        // outlives the call.
        let n_events = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.id,
                (min as usize).min(max),
                max,
                events,
                timeout,
            )
        };
        if n_events < 0 {
            return match call::errno() {
                libc::EINTR => Ok(()),
                errno => Err(EngineError::System {
                    call: "io_getevents",
                    source: io::Error::from_raw_os_error(errno),
                }),
            };
        }
        self.events[..n_events as usize].iter().copied().for_each(take);
        Ok(())
    }

    fn ring(&self) -> &RingHeader {
        // SAFETY: the name of a context is the address of its ring, which stays mapped until the
        // context is destroyed. Head and tail are atomics; the rest does not change.
        unsafe { &*(self.id as *const RingHeader) }
    }
}

impl Drop for Context {
    /// Waits for everything in flight, as the kernel does before it destroys a context.
    fn drop(&mut self) {
        // SAFETY: the context is this one's, and nothing uses it afterwards.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}

fn explain(source: io::Error) -> EngineError {
    let reason = match source.raw_os_error() {
        Some(libc::EAGAIN) => "all contexts of the system are taken (sysctl fs.aio-max-nr): EAGAIN",
        Some(libc::ENOSYS) => "the kernel has none, or a seccomp filter hides it: ENOSYS",
        _ => return EngineError::System { call: "io_setup", source },
    };
    let reason = reason.to_owned();
    EngineError::Unavailable { interface: "native AIO", instead: "io_uring", reason }
}
