//! The ring itself: making it with what the kernel offers, registering, entering.

use std::os::fd::{AsRawFd, RawFd};
use std::{io, mem, ptr};

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use plan::job::EngineSpec;

use super::encode;
use crate::{Arena, EngineError, call};

/// Most entries of a submission queue; the kernel's own limit.
const ENTRIES_MAX: u32 = 32768;

/// How long the kernel thread of `SQPOLL` goes on polling without work, in milliseconds: the
/// kernel's own default.
const SQ_POLL_IDLE_MS: u32 = 1000;

/// Most bytes of one registered buffer; the kernel's own limit.
const REGION_BYTES_MAX: usize = 1 << 30;

/// Registered buffers; a limit of ours that allows 1 TiB.
const REGIONS_MAX: usize = 1024;

/// `IORING_REGISTER_RING_FDS` of `linux/io_uring.h`. Linux 5.18.
const REGISTER_RING_FDS: u32 = 20;

const ENTER_GETEVENTS: u32 = 1 << 0;
const ENTER_SQ_WAKEUP: u32 = 1 << 1;
const ENTER_EXT_ARG: u32 = 1 << 3;
const ENTER_REGISTERED_RING: u32 = 1 << 4;

/// `struct io_uring_getevents_arg`.
#[repr(C)]
struct WaitArgument {
    sigmask: u64,
    sigmask_bytes: u32,
    min_wait_us: u32,
    timespec: u64,
}

/// `struct __kernel_timespec`.
#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct ResourceUpdate {
    offset: u32,
    reserved: u32,
    value: u64,
}

/// A ring and how it is entered.
pub(super) struct Ring {
    uring: IoUring,
    /// Entries in the queue that the kernel has not taken. With a polling kernel thread always 0:
    /// it takes them by itself.
    pub(super) n_unsubmitted: u32,
    /// Descriptor, or position among the thread's registered rings.
    enter_fd: RawFd,
    enter_flags: u32,
    sq_poll: bool,
    io_poll: bool,
}

/// Ways to set a ring up, the best first. Older kernels refuse what they do not know.
#[derive(Clone, Copy)]
enum SetUp {
    /// Linux 6.6.
    Best,
    /// Linux 6.1.
    Deferred,
    /// Linux 5.19.
    Cooperative,
    /// Linux 5.11.
    Plain,
}

impl Ring {
    pub(super) fn new(spec: &EngineSpec, queue_depth: u32) -> Result<Ring, EngineError> {
        let mut refused = io::Error::from_raw_os_error(libc::EINVAL);
        for set_up in [SetUp::Best, SetUp::Deferred, SetUp::Cooperative, SetUp::Plain] {
            match build(spec, queue_depth, set_up) {
                Ok(uring) if uring.params().is_feature_ext_arg() => {
                    let enter_fd = uring.as_raw_fd();
                    return Ok(Ring {
                        uring,
                        n_unsubmitted: 0,
                        enter_fd,
                        enter_flags: 0,
                        sq_poll: spec.sq_poll,
                        io_poll: spec.poll,
                    });
                }
                Ok(_) => return Err(unavailable("Linux 5.11 or later is needed".into())),
                Err(source) if source.raw_os_error() == Some(libc::EINVAL) => refused = source,
                Err(source) => return Err(explain(source)),
            }
        }
        Err(explain(refused))
    }

    /// Lets the calling thread, and only it, use the ring.
    pub(super) fn enable(&mut self) -> Result<(), EngineError> {
        self.uring
            .submitter()
            .register_enable_rings()
            .map_err(|source| EngineError::System { call: "io_uring_register", source })?;
        let mut update =
            ResourceUpdate { offset: u32::MAX, reserved: 0, value: self.uring.as_raw_fd() as u64 };
        // SAFETY: the kernel reads and writes one `update`, which outlives the call.
        let n_registered = call::retry(|| unsafe {
            let number = libc::SYS_io_uring_register;
            let fd = self.uring.as_raw_fd();
            libc::syscall(number, fd, REGISTER_RING_FDS, &raw mut update, 1) as isize
        });
        if n_registered == 1 {
            self.enter_fd = update.offset as RawFd;
            self.enter_flags = ENTER_REGISTERED_RING;
        }
        Ok(())
    }

    /// Registers the arena, and returns how many bytes each registered buffer covers. `None` where
    /// the kernel refuses, most often for a limit on locked memory.
    pub(super) fn register_buffers(&self, arena: &Arena) -> Option<usize> {
        let (base, len) = arena.region();
        let region_bytes = REGION_BYTES_MAX / arena.stride_bytes() * arena.stride_bytes();
        if region_bytes == 0 || len.div_ceil(region_bytes) > REGIONS_MAX {
            return None;
        }
        let regions: Vec<libc::iovec> = (0..len)
            .step_by(region_bytes)
            .map(|start| libc::iovec {
                iov_base: base.wrapping_add(start).cast(),
                iov_len: region_bytes.min(len - start),
            })
            .collect();
        // SAFETY: the regions lie in the arena, which the engine keeps until the ring is idle.
        unsafe { self.uring.submitter().register_buffers(&regions) }.ok()?;
        Some(region_bytes)
    }

    /// Registers descriptors in place of those before; says whether the kernel took them.
    pub(super) fn register_files(&self, fds: &[RawFd]) -> bool {
        // There may be none to take back.
        let _ = self.uring.submitter().unregister_files();
        self.uring.submitter().register_files(fds).is_ok()
    }

    /// Takes files and buffers back from the kernel. It would do so by itself, but some time after
    /// the ring is closed: a file system could not be unmounted yet, and the next job would meet
    /// the limit on locked memory.
    pub(super) fn release(&self) {
        // There may be none.
        let _ = self.uring.submitter().unregister_files();
        let _ = self.uring.submitter().unregister_buffers();
    }

    /// Finds out whether a device takes discards through the ring. Nothing is in flight yet.
    ///
    /// A discard of no bytes is refused as a bad argument by kernels that know the command, and as
    /// not supported by all others.
    pub(super) fn can_discard(&mut self, fd: RawFd) -> Result<bool, EngineError> {
        let mut probe = io_uring::Probe::new();
        let probed = self.uring.submitter().register_probe(&mut probe).is_ok();
        if !probed || !probe.is_supported(opcode::UringCmd16::CODE) || self.io_poll {
            return Ok(false);
        }
        let entry = encode::discard(types::Fd(fd), 0, 0);
        // SAFETY: the entry names no memory.
        let pushed = unsafe { self.uring.submission().push(&entry) };
        if pushed.is_err() {
            return Ok(false);
        }
        self.n_unsubmitted += 1;
        loop {
            self.enter(1, None)?;
            if let Some(entry) = self.uring.completion().next() {
                return Ok(entry.result() == -libc::EINVAL);
            }
        }
    }

    /// Borrows the submission queue.
    #[inline]
    pub(super) fn queue(&mut self) -> squeue::SubmissionQueue<'_> {
        self.uring.submission()
    }

    /// Borrows the completion queue.
    #[inline]
    pub(super) fn completions(&mut self) -> cqueue::CompletionQueue<'_> {
        self.uring.completion()
    }

    /// Returns the number of completions that can be taken without a system call.
    #[inline]
    pub(super) fn n_ready(&mut self) -> u32 {
        self.uring.completion().len() as u32
    }

    /// Returns whether the kernel has taken all entries of the queue.
    pub(super) fn is_submitted(&mut self) -> bool {
        if self.sq_poll { self.uring.submission().is_empty() } else { self.n_unsubmitted == 0 }
    }

    /// Hands over what is in the queue and waits for `want` completions, in one system call.
    /// Returns how many entries the kernel took; 0 also when it is short of memory or has to be
    /// relieved of completions first, or when a signal came or the time was up.
    #[inline]
    pub(super) fn enter(&mut self, want: u32, timeout_ns: Option<u64>) -> Result<u32, EngineError> {
        let mut flags = self.enter_flags | ENTER_GETEVENTS;
        if self.sq_poll {
            self.n_unsubmitted = 0;
            if self.uring.submission().need_wakeup() {
                flags |= ENTER_SQ_WAKEUP;
            } else if want == 0 {
                return Ok(0);
            }
        }
        let timespec = timeout_ns.map(|ns| Timespec {
            seconds: (ns / 1_000_000_000) as i64,
            nanoseconds: (ns % 1_000_000_000) as i64,
        });
        let argument = WaitArgument {
            sigmask: 0,
            sigmask_bytes: 0,
            min_wait_us: 0,
            timespec: timespec.as_ref().map_or(0, |timespec| ptr::from_ref(timespec) as u64),
        };
        let (mut argument_pointer, mut argument_bytes) = (ptr::null(), 0);
        let mut want = want;
        if timespec.is_some() {
            if self.io_poll {
                // A polling ring does not heed the time: look once, and let the caller decide.
                want = 0;
            } else {
                flags |= ENTER_EXT_ARG;
                argument_pointer = &raw const argument;
                argument_bytes = mem::size_of::<WaitArgument>();
            }
        }
        // SAFETY: the argument and what it points to outlive the call. The entries in the queue
        // are valid, as their `push` said.
        let n_taken = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.enter_fd,
                self.n_unsubmitted,
                want,
                flags,
                argument_pointer,
                argument_bytes,
            )
        };
        if n_taken >= 0 {
            self.n_unsubmitted = self.n_unsubmitted.saturating_sub(n_taken as u32);
            return Ok(n_taken as u32);
        }
        match call::errno() {
            libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY => Ok(0),
            errno => Err(EngineError::System {
                call: "io_uring_enter",
                source: io::Error::from_raw_os_error(errno),
            }),
        }
    }
}

fn build(spec: &EngineSpec, queue_depth: u32, set_up: SetUp) -> io::Result<IoUring> {
    let entries = queue_depth.clamp(1, ENTRIES_MAX).next_power_of_two();
    let mut builder = IoUring::builder();
    // Twice the entries, so that completions never overflow whatever is in flight.
    builder.setup_clamp().setup_cqsize(entries * 2).setup_r_disabled();
    if spec.poll {
        builder.setup_iopoll();
    }
    if spec.sq_poll {
        builder.setup_sqpoll(SQ_POLL_IDLE_MS);
        if let Some(cpu) = spec.sq_poll_cpu {
            builder.setup_sqpoll_cpu(cpu);
        }
    }
    match set_up {
        SetUp::Best => builder.setup_submit_all().setup_single_issuer().setup_no_sqarray(),
        SetUp::Deferred => builder.setup_submit_all().setup_single_issuer(),
        SetUp::Cooperative => builder.setup_submit_all(),
        SetUp::Plain => &mut builder,
    };
    if !spec.sq_poll {
        match set_up {
            SetUp::Best | SetUp::Deferred => builder.setup_defer_taskrun(),
            SetUp::Cooperative => builder.setup_coop_taskrun(),
            SetUp::Plain => &mut builder,
        };
    }
    builder.build(entries)
}

/// Returns why this process may not use `io_uring`, in the words that a job would hear; `None`
/// where it may.
pub fn refusal() -> Option<String> {
    let ring: io::Result<IoUring> = IoUring::new(1);
    ring.err().map(|source| explain(source).to_string())
}

fn unavailable(reason: String) -> EngineError {
    EngineError::Unavailable { interface: "io_uring", instead: "libaio", reason }
}

/// Puts the likely cause into words.
fn explain(source: io::Error) -> EngineError {
    match source.raw_os_error() {
        Some(libc::ENOSYS) => {
            unavailable("the kernel has none, or a seccomp filter hides it: ENOSYS".into())
        }
        Some(libc::EPERM | libc::EACCES) => unavailable(
            "forbidden by the sysctl kernel.io_uring_disabled or a seccomp filter: EPERM".into(),
        ),
        Some(libc::ENOMEM) => {
            unavailable("the limit on locked memory (`ulimit -l`) is too low: ENOMEM".into())
        }
        _ => EngineError::System { call: "io_uring_setup", source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(errno: i32, expected: &str) {
        assert_eq!(explain(io::Error::from_raw_os_error(errno)).to_string(), expected);
    }

    #[test]
    fn a_refused_ring_comes_with_the_likely_cause() {
        check(
            libc::EPERM,
            "io_uring is not available: forbidden by the sysctl kernel.io_uring_disabled or a \
             seccomp filter: EPERM",
        );
        check(
            libc::ENOSYS,
            "io_uring is not available: the kernel has none, or a seccomp filter hides it: ENOSYS",
        );
        check(
            libc::ENOMEM,
            "io_uring is not available: the limit on locked memory (`ulimit -l`) is too low: \
             ENOMEM",
        );
        check(libc::EMFILE, "io_uring_setup failed: Too many open files");
    }

    #[test]
    fn the_arguments_have_the_sizes_that_the_kernel_expects() {
        assert_eq!(size_of::<WaitArgument>(), 24);
        assert_eq!(size_of::<ResourceUpdate>(), 16);
        assert_eq!(size_of::<Timespec>(), 16);
    }
}
