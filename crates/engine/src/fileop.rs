//! One operation per file: create, look at, remove. The engines `filecreate` to `dirdelete`, and
//! the same operations wherever another engine is handed one.

use plan::job::{EngineKind, StatCall};
use plan::op::{Op, OpKind};

use crate::one_by_one::CarryOut;
use crate::{Arena, FileTable, call};

/// Carries out the operation of its name, whatever direction the job counts it as.
pub(crate) struct FileOps {
    pub(crate) kind: OpKind,
    pub(crate) stat_call: StatCall,
}

impl FileOps {
    /// Makes the engine of this kind, or returns `None` for a kind that works on bytes.
    pub(crate) fn kind_of(engine: EngineKind) -> Option<OpKind> {
        Some(match engine {
            EngineKind::FileCreate => OpKind::Create,
            EngineKind::FileStat | EngineKind::DirStat => OpKind::Stat,
            EngineKind::FileDelete => OpKind::Delete,
            EngineKind::DirCreate => OpKind::Mkdir,
            EngineKind::DirDelete => OpKind::Rmdir,
            _ => return None,
        })
    }
}

impl CarryOut for FileOps {
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
    let path = name.as_ptr();
    // SAFETY: in each call the name ends with NUL and outlives the call, and the memory for the
    // answer is as large as the call expects.
    call::retry(|| unsafe {
        match kind {
            OpKind::Create => {
                let flags = libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC;
                match libc::open(path, flags, 0o644) {
                    fd if fd < 0 => -1,
                    fd => {
                        libc::close(fd);
                        0
                    }
                }
            }
            OpKind::Stat => stat(path, stat_call),
            OpKind::Delete => libc::unlink(path) as isize,
            OpKind::Mkdir => libc::mkdir(path, 0o755) as isize,
            OpKind::Rmdir => libc::rmdir(path) as isize,
            _ => {
                *libc::__errno_location() = libc::EOPNOTSUPP;
                -1
            }
        }
    })
}

/// Asks for the metadata of a path and throws it away.
///
/// # Safety
/// `path` ends with NUL.
unsafe fn stat(path: *const libc::c_char, stat_call: StatCall) -> isize {
    let mut facts = std::mem::MaybeUninit::<libc::stat64>::uninit();
    // SAFETY: the kernel fills `facts`, which is what these calls expect; nobody reads it.
    let result = unsafe {
        match stat_call {
            StatCall::Stat => libc::stat64(path, facts.as_mut_ptr()),
            StatCall::Lstat => libc::lstat64(path, facts.as_mut_ptr()),
            StatCall::Statx => {
                let path = std::ffi::CStr::from_ptr(path);
                let flags = rustix::fs::AtFlags::empty();
                let mask = rustix::fs::StatxFlags::BASIC_STATS;
                return match rustix::fs::statx(rustix::fs::CWD, path, flags, mask) {
                    Ok(_) => 0,
                    Err(errno) => {
                        *libc::__errno_location() = errno.raw_os_error();
                        -1
                    }
                };
            }
        }
    };
    result as isize
}
