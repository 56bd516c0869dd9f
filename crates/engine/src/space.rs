//! Engines that only move the borders of files: `fallocate` and `ftruncate`.

use plan::SpaceCall;
use plan::op::{Op, OpKind};

use crate::one_by_one::ExecuteOne;
use crate::without_data::without_data;
use crate::{Arena, FileTable, call};

/// Moves borders, not bytes.
pub(crate) struct Space {
    pub(crate) call: SpaceCall,
    /// Of `sync_file_range`.
    pub(crate) sync_flags: u32,
}

impl ExecuteOne for Space {
    fn carry_out(&mut self, op: &Op, files: &mut FileTable, _arena: &Arena) -> i32 {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return without_data(files, op, self.sync_flags);
        }
        let fd = match files.fd(op.file) {
            Ok(fd) => fd,
            Err(result) => return result,
        };
        let len = u64::from(op.len);
        let result = match (self.call, op.kind) {
            (SpaceCall::Fallocate, OpKind::Read) => {
                call::fallocate(fd, libc::FALLOC_FL_KEEP_SIZE, op.offset, len)
            }
            (SpaceCall::Fallocate, _) => call::fallocate(fd, 0, op.offset, len),
            (SpaceCall::Ftruncate, OpKind::Write) => {
                // As in fio: to where the block begins, so the last of a file leaves it short.
                let size_bytes = op.offset as i64;
                // SAFETY: the call takes no memory.
                call::retry(|| unsafe { libc::ftruncate64(fd, size_bytes) } as isize)
            }
            (SpaceCall::Ftruncate, _) => -libc::EOPNOTSUPP,
        };
        call::done(result, op.len)
    }
}
