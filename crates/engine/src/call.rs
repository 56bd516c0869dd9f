//! System calls that several engines share. Each returns what a completion holds: the value of the
//! call, or the negated `errno`. A call that a signal interrupts is made again.

use std::ffi::CStr;
use std::io;
use std::os::fd::RawFd;

use plan::Direction;
use plan::op::{Op, OpClass, SyncScope};

use crate::files::{FileKind, FileTable};

/// `BLKDISCARD` of `linux/fs.h`, `_IO(0x12, 119)`.
const BLKDISCARD: u32 = 0x1277;

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

/// Carries out an operation that moves no data through buffers, in the calling thread.
///
/// Success returns the operation's length, so that every engine counts a trim alike.
pub(crate) fn without_data(files: &mut FileTable, op: &Op, sync_file_range_flags: u32) -> i32 {
    let scope = match op.kind.class() {
        OpClass::File => return done(crate::fileop::carry_out(files, op), op.len),
        OpClass::Bytes(Direction::Read | Direction::Write) => return -libc::EOPNOTSUPP,
        OpClass::Bytes(Direction::Trim) => None,
        OpClass::Sync(scope) => Some(scope),
    };
    let fd = match files.fd(op.file) {
        Ok(fd) => fd,
        Err(result) => return result,
    };
    match scope {
        None => done(trim(fd, files.kind(op.file), op.offset, u64::from(op.len)), op.len),
        // SAFETY: these calls take no memory.
        Some(SyncScope::All) => retry(|| unsafe { libc::fsync(fd) } as isize),
        // SAFETY: as above.
        Some(SyncScope::Data) => retry(|| unsafe { libc::fdatasync(fd) } as isize),
        Some(SyncScope::Range) => {
            let (offset, len) = (op.offset as i64, i64::from(op.len));
            // SAFETY: as above.
            retry(|| unsafe {
                libc::sync_file_range(fd, offset, len, sync_file_range_flags) as isize
            })
        }
    }
}

/// Gives a range back: discards it on a device, punches a hole into a file.
pub(crate) fn trim(fd: RawFd, kind: FileKind, offset: u64, len: u64) -> i32 {
    if kind == FileKind::Block {
        let range = [offset, len];
        // SAFETY: the call reads the two numbers of `range`, which outlives it.
        return retry(|| unsafe { libc::ioctl(fd, BLKDISCARD as _, range.as_ptr()) } as isize);
    }
    fallocate(fd, libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, offset, len)
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
