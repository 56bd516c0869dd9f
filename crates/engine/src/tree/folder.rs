//! Operations on folders and names that are more than one call with a path.

use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use plan::op::Op;
use rustix::fs::RawDir;

use super::OnTree;
use crate::call;
use crate::named::open;

/// Memory for a part of a list, on the stack: some hundred names.
const LIST_BYTES: usize = 16 << 10;

impl OnTree {
    /// Lists a folder and throws the names away.
    pub(super) fn list(&mut self, folder: u32) -> i32 {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let opened = open(self.first.at(true, folder, &mut self.path), flags, 0);
        let fd = match opened {
            Ok(fd) => fd,
            Err(result) => return result,
        };
        let mut memory = [MaybeUninit::<u8>::uninit(); LIST_BYTES];
        let mut entries = RawDir::new(&fd, &mut memory);
        while let Some(entry) = entries.next() {
            if let Err(errno) = entry {
                return -errno.raw_os_error();
            }
        }
        0
    }

    /// Gives a file the name of another one, which is not there.
    pub(super) fn rename(&mut self, op: &Op) -> i32 {
        let Ok(other) = u32::try_from(op.offset) else { return -libc::EBADF };
        let from = self.first.at(false, op.file.0, &mut self.path);
        let to = self.first.at(false, other, &mut self.other_path);
        // SAFETY: both names end with NUL and outlive the call.
        call::retry(|| unsafe {
            libc::renameat(from.folder, from.path, to.folder, to.path) as isize
        })
    }

    /// Asks for the facts of the file system that holds the tree. Limits come by the same call:
    /// the kernel has no other.
    pub(super) fn statfs(&self) -> i32 {
        let mut facts = MaybeUninit::<libc::statfs64>::uninit();
        let anchor = self.first.anchor.as_raw_fd();
        // SAFETY: the kernel fills `facts`, which is what the call expects; it is not read.
        call::retry(|| unsafe { libc::fstatfs64(anchor, facts.as_mut_ptr()) } as isize)
    }
}
