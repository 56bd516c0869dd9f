//! One operation per file: create, look at, remove. The engines `filecreate` to `dirdelete`, and
//! the same operations wherever another engine is handed one. The calls are those of trees, too.

use plan::job::StatCall;
use plan::op::{Op, OpKind};

use crate::named::{NameAt, NameOptions};
use crate::one_by_one::ExecuteOne;
use crate::{Arena, FileTable, call, named};

/// Carries out the operation of its name, whatever direction the job counts it as.
pub(crate) struct FileOps {
    pub(crate) kind: OpKind,
    pub(crate) stat_call: StatCall,
}

impl ExecuteOne for FileOps {
    fn carry_out(&mut self, op: &Op, files: &mut FileTable, _arena: &Arena) -> i32 {
        call::done(file_call(files, op, self.kind, self.stat_call), op.len)
    }
}

/// Carries out a file operation for another engine.
pub(crate) fn carry_out(files: &FileTable, op: &Op) -> i32 {
    file_call(files, op, op.kind, StatCall::Stat)
}

fn file_call(files: &FileTable, op: &Op, kind: OpKind, stat_call: StatCall) -> i32 {
    let Some(name) = files.c_name(op.file) else { return -libc::EBADF };
    let at = NameAt { folder: libc::AT_FDCWD, path: name.as_ptr() };
    named::carry_out(kind, at, NameOptions::of_fio(stat_call))
}
