//! Operations on a file or folder by its name: create, look at, remove. One system call each, for
//! the engines `filecreate` to `dirdelete` and for trees of files.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use plan::job::StatCall;
use plan::op::OpKind;

use crate::call;

/// A name, and the folder that it counts from.
#[derive(Clone, Copy)]
pub(crate) struct NameAt {
    pub(crate) folder: RawFd,
    /// Ends with NUL, within memory that outlives the call.
    pub(crate) path: *const libc::c_char,
}

/// How operations are carried out, where there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameOptions {
    /// Flags for `open` of a file that is made.
    pub(crate) create_flags: i32,
    /// Permissions of a file that is made.
    pub(crate) create_mode: libc::mode_t,
    pub(crate) stat_call: StatCall,
}

impl NameOptions {
    /// As in fio: a file that is there is opened, links are followed, and what is made is its
    /// owner's alone.
    pub(crate) const fn of_fio(stat_call: StatCall) -> Self {
        let create_flags = libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC;
        NameOptions { create_flags, create_mode: 0o600, stat_call }
    }

    /// Within a tree: nothing is there yet, and no link leads out of it.
    pub(crate) const IN_TREE: NameOptions = NameOptions {
        create_flags: libc::O_CREAT
            | libc::O_EXCL
            | libc::O_WRONLY
            | libc::O_CLOEXEC
            | libc::O_NOFOLLOW,
        create_mode: 0o644,
        stat_call: StatCall::Lstat,
    };
}

/// Opens a file. A mode is for one that is made.
pub(crate) fn open(at: NameAt, flags: i32, mode: libc::mode_t) -> Result<OwnedFd, i32> {
    // SAFETY: the path ends with NUL and outlives the call.
    let fd = call::retry(|| unsafe { libc::openat(at.folder, at.path, flags, mode) as isize });
    if fd < 0 {
        return Err(fd);
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Carries out an operation that needs a name and nothing else. Returns 0 or the negated error
/// number.
pub(crate) fn carry_out(kind: OpKind, at: NameAt, manner: NameOptions) -> i32 {
    if kind == OpKind::Create {
        let made = open(at, manner.create_flags, manner.create_mode);
        return made.map_or_else(|result| result, |_| 0);
    }
    // SAFETY: in each call the name ends with NUL and outlives the call. A null time means now.
    call::retry(|| unsafe {
        let result = match kind {
            OpKind::Delete => libc::unlinkat(at.folder, at.path, 0),
            OpKind::Mkdir => libc::mkdirat(at.folder, at.path, 0o755),
            OpKind::Rmdir => libc::unlinkat(at.folder, at.path, libc::AT_REMOVEDIR),
            OpKind::Access => libc::faccessat(at.folder, at.path, libc::R_OK, 0),
            OpKind::Setattr => {
                let no_follow = libc::AT_SYMLINK_NOFOLLOW;
                libc::utimensat(at.folder, at.path, std::ptr::null(), no_follow)
            }
            // Those that it was made with: how long it takes does not depend on which.
            OpKind::Chmod => libc::fchmodat(at.folder, at.path, manner.create_mode, 0),
            OpKind::Stat => return stat(at, manner.stat_call),
            OpKind::NegStat => {
                let result = stat(at, manner.stat_call);
                let is_missing = result < 0 && *libc::__errno_location() == libc::ENOENT;
                return if is_missing { 0 } else { result };
            }
            // One that creates is carried out above.
            OpKind::Create
            | OpKind::Read
            | OpKind::Write
            | OpKind::Trim
            | OpKind::Fsync
            | OpKind::Fdatasync
            | OpKind::SyncFileRange
            | OpKind::Open
            | OpKind::Close
            | OpKind::Lock
            | OpKind::Truncate
            | OpKind::Rename
            | OpKind::Readdir
            | OpKind::Statfs
            | OpKind::Pathconf
            | OpKind::MapRead
            | OpKind::MapWrite
            | OpKind::Copy
            | OpKind::Move => {
                *libc::__errno_location() = libc::EOPNOTSUPP;
                -1
            }
        };
        result as isize
    })
}

/// Asks for the metadata of a name and throws them away.
///
/// # Safety
/// The path ends with NUL and outlives the call.
unsafe fn stat(at: NameAt, stat_call: StatCall) -> isize {
    let mut facts = std::mem::MaybeUninit::<libc::stat64>::uninit();
    // SAFETY: the kernel fills `facts`, which is what these calls expect; it is not read. A folder
    // that is none of ours stands for the current one, or stays open while its tree is in use.
    let result = unsafe {
        match stat_call {
            StatCall::Stat => libc::fstatat64(at.folder, at.path, facts.as_mut_ptr(), 0),
            StatCall::Lstat => {
                let no_follow = libc::AT_SYMLINK_NOFOLLOW;
                libc::fstatat64(at.folder, at.path, facts.as_mut_ptr(), no_follow)
            }
            StatCall::Statx => {
                let folder = std::os::fd::BorrowedFd::borrow_raw(at.folder);
                let path = std::ffi::CStr::from_ptr(at.path);
                let flags = rustix::fs::AtFlags::empty();
                let mask = rustix::fs::StatxFlags::BASIC_STATS;
                return match rustix::fs::statx(folder, path, flags, mask) {
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
