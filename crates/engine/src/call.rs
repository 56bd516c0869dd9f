//! System calls that several engines share. Each returns what a completion holds: the value of the
//! call, or the negated `errno`. A call that a signal interrupts is made again.

use std::ffi::CStr;
use std::io;
use std::os::fd::RawFd;

/// An offset is one argument of a system call.
const _: () = assert!(usize::BITS == 64, "only processors of 64 bits are served");

/// Makes the call until no signal interrupts it.
#[inline]
pub(crate) fn retry(mut call: impl FnMut() -> isize) -> i32 {
    loop {
        let value = call();
        if value >= 0 {
            // The kernel moves at most 2^31 - 4096 bytes per call.
            return value as i32;
        }
        let errno = errno();
        if errno != libc::EINTR {
            return -errno;
        }
    }
}

/// Returns the error number of the call that just failed.
#[inline]
pub(crate) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Reads into memory of the arena.
///
/// Makes the system call itself. `pread64` of the GNU C library lets the thread be cancelled while
/// it waits, which takes two locked instructions per call: a twentieth of what the generator uses
/// per read from the page cache.
#[inline]
pub(crate) fn pread(fd: RawFd, to: *mut u8, len: u32, offset: u64) -> i32 {
    let (number, len) = (libc::SYS_pread64, len as usize);
    // SAFETY: the caller took the pointer from the arena, which checked that `len` bytes fit.
    retry(|| unsafe { libc::syscall(number, i64::from(fd), to, len, offset as i64) as isize })
}

/// Writes from memory of the arena; as [`pread`] does.
#[inline]
pub(crate) fn pwrite(fd: RawFd, from: *const u8, len: u32, offset: u64) -> i32 {
    let (number, len) = (libc::SYS_pwrite64, len as usize);
    // SAFETY: as for `pread`.
    retry(|| unsafe { libc::syscall(number, i64::from(fd), from, len, offset as i64) as isize })
}

/// Reserves or gives back space.
pub(crate) fn fallocate(fd: RawFd, mode: i32, offset: u64, len: u64) -> i32 {
    // SAFETY: the call takes no memory.
    retry(|| unsafe { libc::fallocate64(fd, mode, offset as i64, len as i64) } as isize)
}

/// Closes and removes by name.
pub(crate) fn unlink(path: &CStr) -> i32 {
    // SAFETY: the name ends with NUL and outlives the call.
    retry(|| unsafe { libc::unlink(path.as_ptr()) } as isize)
}

/// Turns the zero of a call that moves no bytes into the length that was asked for.
#[inline]
pub(crate) fn done(result: i32, len: u32) -> i32 {
    if result < 0 { result } else { len.min(i32::MAX as u32) as i32 }
}
