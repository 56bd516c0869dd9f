//! Attributes: owner, permissions, times, extended attributes.

use std::ffi::OsStr;

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, Stat, Timespec, Timestamps, UTIME_OMIT, Uid, XattrFlags, chmod,
    chownat, getxattr, listxattr, removexattr, setxattr, utimensat,
};
use rustix::io::Errno;

use super::nodes::{Node, Tree};

/// What to change; `None` stays as it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) mode: Option<u32>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) atime: Option<Timespec>,
    pub(crate) mtime: Option<Timespec>,
}

/// Bits of a mode that lend a program its file's owner and group.
const SET_UID: u32 = 0o4000;
const SET_GID: u32 = 0o2000;
/// Both.
pub(crate) const LENT_RIGHTS: u32 = SET_UID | SET_GID;
const GROUP_EXECUTES: u32 = 0o010;

/// Largest extended attribute that the kernel allows.
const XATTR_MAX: usize = 65_536;

impl Node {
    /// Returns an extended attribute.
    pub(crate) fn xattr(&self, name: &OsStr) -> Result<Vec<u8>, Errno> {
        let mut value = vec![0; XATTR_MAX];
        let n_bytes = match self.kind {
            FileType::Symlink => return Err(Errno::NODATA),
            _ => getxattr(self.path(), name, &mut value[..])?,
        };
        value.truncate(n_bytes);
        Ok(value)
    }

    /// Returns the names of the extended attributes, each with a zero byte at its end.
    pub(crate) fn xattr_names(&self) -> Result<Vec<u8>, Errno> {
        let mut names = vec![0; XATTR_MAX];
        let n_bytes = match self.kind {
            FileType::Symlink => 0,
            _ => listxattr(self.path(), &mut names[..])?,
        };
        names.truncate(n_bytes);
        Ok(names)
    }

    /// Removes the bits that lend the owner's rights from a file that is written to, as kernel file
    /// systems do: setuid, and setgid where the group may execute it.
    pub(crate) fn drop_privileges(&self) -> Result<(), Errno> {
        let mode = self.stat()?.st_mode & 0o7777;
        let lends_group = mode & (SET_GID | GROUP_EXECUTES) == SET_GID | GROUP_EXECUTES;
        let dropped = mode & SET_UID | if lends_group { SET_GID } else { 0 };
        if self.kind == FileType::RegularFile && dropped != 0 {
            chmod(self.path(), Mode::from_raw_mode(mode & !dropped))?;
        }
        Ok(())
    }
}

impl Tree {
    /// Changes attributes other than the length, and returns all.
    pub(crate) fn change(&self, node: &Node, changes: &Changes) -> Result<Stat, Errno> {
        self.store(node)?;
        if changes.uid.is_some() || changes.gid.is_some() {
            let uid = changes.uid.map(Uid::from_raw);
            let gid = changes.gid.map(Gid::from_raw);
            chownat(&node.name_fd, "", uid, gid, AtFlags::EMPTY_PATH)?;
        }
        if let Some(mode) = changes.mode {
            if node.kind == FileType::Symlink {
                return Err(Errno::OPNOTSUPP);
            }
            chmod(node.path(), Mode::from_raw_mode(mode & 0o7777))?;
        }
        if changes.atime.is_some() || changes.mtime.is_some() {
            let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
            let times = Timestamps {
                last_access: changes.atime.unwrap_or(omit),
                last_modification: changes.mtime.unwrap_or(omit),
            };
            if node.kind == FileType::Symlink {
                utimensat(&node.name_fd, "", &times, AtFlags::EMPTY_PATH)?;
            } else {
                utimensat(rustix::fs::CWD, node.path(), &times, AtFlags::empty())?;
            }
        }
        node.stat()
    }

    /// Sets an extended attribute.
    pub(crate) fn set_xattr(
        &self,
        node: &Node,
        name: &OsStr,
        value: &[u8],
        flags: u32,
    ) -> Result<(), Errno> {
        self.store(node)?;
        let flags = XattrFlags::from_bits(flags).ok_or(Errno::INVAL)?;
        match node.kind {
            FileType::Symlink => Err(Errno::PERM),
            _ => setxattr(node.path(), name, value, flags),
        }
    }

    /// Removes an extended attribute.
    pub(crate) fn remove_xattr(&self, node: &Node, name: &OsStr) -> Result<(), Errno> {
        self.store(node)?;
        match node.kind {
            FileType::Symlink => Err(Errno::NODATA),
            _ => removexattr(node.path(), name),
        }
    }
}
