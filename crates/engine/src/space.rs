//! Engines that only move the borders of files: `fallocate` and `ftruncate`.

use plan::op::{Completion, Op, OpKind};

use crate::{Arena, BuildOptions, Engine, EngineError, FileTable, Wait, call};

/// Which system call stands for a read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpaceCall {
    /// A read reserves space and keeps the size, a write reserves space, a trim punches a hole.
    Fallocate,
    /// A write sets the size to its end; reads are not supported.
    Ftruncate,
}

/// Moves borders, not bytes.
pub(crate) struct Space {
    arena: Arena,
    files: FileTable,
    call: SpaceCall,
    sync_flags: u32,
    name: String,
}

impl Space {
    pub(crate) fn new(
        call: SpaceCall,
        name: String,
        files: FileTable,
        arena: Arena,
        options: &BuildOptions,
    ) -> Space {
        Space { arena, files, call, sync_flags: options.sync_file_range_flags, name }
    }

    fn carry_out(&mut self, op: &Op) -> i32 {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return call::without_data(&mut self.files, op, self.sync_flags);
        }
        let fd = match self.files.fd(op.file) {
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
                let end = op.offset.saturating_add(len) as i64;
                // SAFETY: the call takes no memory.
                call::retry(|| unsafe { libc::ftruncate64(fd, end) } as isize)
            }
            (SpaceCall::Ftruncate, _) => -libc::EOPNOTSUPP,
        };
        call::done(result, op.len)
    }
}

impl Engine for Space {
    fn exchange(
        &mut self,
        ops: &[Op],
        _wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        for op in ops {
            let result = self.carry_out(op);
            done.push(Completion { slot: op.slot, result });
        }
        Ok(())
    }

    fn batch_max(&self) -> u32 {
        1
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn files(&mut self) -> &mut FileTable {
        &mut self.files
    }
}
