//! The engines that make one system call per operation and wait in it: `pread` and `pwrite`,
//! `preadv` and `pwritev`, `preadv2` and `pwritev2`.

use plan::job::EngineSpec;
use plan::op::{Op, OpKind};

use crate::one_by_one::ExecuteOne;
use crate::share::Share;
use crate::without_data::without_data;
use crate::{Arena, BuildOptions, FileTable, call};

/// Which pair of system calls moves the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// `pread` and `pwrite`.
    Plain,
    /// `preadv` and `pwritev`, each with one piece.
    Vectored,
    /// `preadv2` and `pwritev2`, with these flags.
    Flagged {
        /// Of reads.
        read_flags: i32,
        /// Of writes.
        write_flags: i32,
    },
}

/// One system call per operation.
pub(crate) struct OneCall {
    calls: Calls,
    /// Operations that poll for their completion (`RWF_HIPRI`).
    polled: Share,
    sync_file_range_flags: u32,
}

impl OneCall {
    pub(crate) fn new(spec: &EngineSpec, calls: Calls, options: &BuildOptions) -> OneCall {
        OneCall {
            calls,
            polled: Share::new(if spec.poll { spec.poll_pct } else { 0 }),
            sync_file_range_flags: options.sync_file_range_flags,
        }
    }
}

impl ExecuteOne for OneCall {
    #[inline]
    fn carry_out(&mut self, op: &Op, files: &mut FileTable, arena: &Arena) -> i32 {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return without_data(files, op, self.sync_file_range_flags);
        }
        let fd = match files.fd(op.file) {
            Ok(fd) => fd,
            Err(result) => return result,
        };
        let memory = arena.memory(op);
        let is_read = op.kind == OpKind::Read;
        let piece = libc::iovec { iov_base: memory.cast(), iov_len: op.len as usize };
        let offset = op.offset as i64;
        match self.calls {
            Calls::Plain if is_read => call::pread(fd, memory, op.len, op.offset),
            Calls::Plain => call::pwrite(fd, memory, op.len, op.offset),
            // SAFETY: `piece` is memory of the arena, which checked that `len` bytes fit.
            Calls::Vectored => call::retry(|| unsafe {
                if is_read {
                    libc::preadv64(fd, &raw const piece, 1, offset)
                } else {
                    libc::pwritev64(fd, &raw const piece, 1, offset)
                }
            }),
            Calls::Flagged { read_flags, write_flags } => {
                let flags = if is_read { read_flags } else { write_flags };
                let flags = flags | if self.polled.take() { libc::RWF_HIPRI } else { 0 };
                let number = if is_read { libc::SYS_preadv2 } else { libc::SYS_pwritev2 };
                // The offset goes in two halves; a 64-bit kernel ignores the high one.
                // SAFETY: as above.
                call::retry(|| unsafe {
                    libc::syscall(number, fd, &raw const piece, 1_usize, offset, 0_usize, flags)
                        as isize
                })
            }
        }
    }
}
