//! Operations that move no bytes through buffers, for every engine over the kernel's interfaces.

use std::os::fd::RawFd;

use plan::Direction;
use plan::op::{Op, OpClass, SyncScope};

use crate::call::{done, fallocate, retry};
use crate::fileop;
use crate::files::{FileKind, FileTable};

/// `BLKDISCARD` of `linux/fs.h`, `_IO(0x12, 119)`.
const BLKDISCARD: u32 = 0x1277;

/// Carries out an operation that moves no data through buffers, in the calling thread.
///
/// Success returns the operation's length, so that every engine counts a trim alike.
pub(crate) fn without_data(files: &mut FileTable, op: &Op, sync_file_range_flags: u32) -> i32 {
    let scope = match op.kind.class() {
        OpClass::File => return done(fileop::carry_out(files, op), op.len),
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
