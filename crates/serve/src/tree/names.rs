//! Names: looking up, creating, removing, renaming, listing.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, Dev, Dir, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, chownat, fchmod,
    linkat, mkdirat, mknodat, openat, readlinkat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::nodes::{Node, Tree};

/// A file that was found or made, with its attributes.
pub(crate) type Child = (Arc<Node>, Stat);

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// What to make.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NewKind<'a> {
    Folder,
    /// A symbolic link to a path.
    Link(&'a Path),
    /// A file without data, a pipe, a socket or a device, by mode and device number.
    Special(u64),
}

/// A name in a folder.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) kind: FileType,
    pub(crate) name: CString,
}

/// Refuses what is no name of one folder entry.
fn checked(name: &OsStr) -> Result<&OsStr, Errno> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') {
        return Err(Errno::INVAL);
    }
    Ok(name)
}

impl Tree {
    /// Looks a name up. Counts as a lookup of the file.
    pub(crate) fn lookup(&self, parent: &Node, name: &OsStr) -> Result<Child, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name_fd = openat(&parent.name_fd, checked(name)?, flags, Mode::empty())?;
        self.know(parent, name_fd)
    }

    /// Makes a file and opens it for reading and writing. Counts as a lookup.
    pub(crate) fn create(
        &self,
        parent: &Node,
        name: &OsStr,
        mode: u32,
        who: Identity,
    ) -> Result<(Child, File), Errno> {
        self.store(parent)?;
        let name = checked(name)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let flags = flags | OFlags::CLOEXEC;
        let file = openat(&parent.name_fd, name, flags, Mode::RUSR | Mode::WUSR)?;
        give(parent, name, who)?;
        fchmod(&file, Mode::from_raw_mode(mode & 0o7777))?;
        let child = self.lookup(parent, name)?;
        Ok((child, File::from(file)))
    }

    /// Makes anything else. Counts as a lookup.
    pub(crate) fn make(
        &self,
        parent: &Node,
        name: &OsStr,
        kind: NewKind<'_>,
        mode: u32,
        who: Identity,
    ) -> Result<Child, Errno> {
        self.store(parent)?;
        let name = checked(name)?;
        let permissions = Mode::from_raw_mode(mode & 0o7777);
        match kind {
            NewKind::Folder => mkdirat(&parent.name_fd, name, permissions)?,
            NewKind::Link(target) => symlinkat(target, &parent.name_fd, name)?,
            NewKind::Special(device) => {
                let kind = FileType::from_raw_mode(mode);
                mknodat(&parent.name_fd, name, kind, permissions, device as Dev)?;
            }
        }
        give(parent, name, who)?;
        let child = self.lookup(parent, name)?;
        if !matches!(kind, NewKind::Link(_)) {
            // The serving process has a mask of its own, which no program asked for.
            let inherited = child.1.st_mode & 0o2000;
            rustix::fs::chmod(child.0.path(), Mode::from_raw_mode((mode & 0o7777) | inherited))?;
        }
        let stat = child.0.stat()?;
        Ok((child.0, stat))
    }

    /// Removes a name of a file; returns the file if it is in use.
    pub(crate) fn unlink(&self, parent: &Node, name: &OsStr) -> Result<Option<Arc<Node>>, Errno> {
        self.store(parent)?;
        let name = checked(name)?;
        let stat = statat(&parent.name_fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let node = self.node(stat.st_ino).ok();
        unlinkat(&parent.name_fd, name, AtFlags::empty())?;
        Ok(node)
    }

    /// Removes an empty folder.
    pub(crate) fn rmdir(&self, parent: &Node, name: &OsStr) -> Result<(), Errno> {
        let name = checked(name)?;
        self.movable(parent, name)?;
        unlinkat(&parent.name_fd, name, AtFlags::REMOVEDIR)
    }

    /// Refuses names of folders that a volume is, or that lead to one.
    fn movable(&self, parent: &Node, name: &OsStr) -> Result<Option<Stat>, Errno> {
        self.store(parent)?;
        match statat(&parent.name_fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if self.is_volume_dir(stat.st_ino) => Err(Errno::BUSY),
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Renames within a volume; returns the file that lost its name, if it is in use.
    pub(crate) fn rename(
        &self,
        (parent, name): (&Node, &OsStr),
        (to_parent, to_name): (&Node, &OsStr),
        flags: RenameFlags,
    ) -> Result<Option<Arc<Node>>, Errno> {
        let (name, to_name) = (checked(name)?, checked(to_name)?);
        self.movable(parent, name)?;
        let replaced = self.movable(to_parent, to_name)?;
        if parent.volume != to_parent.volume {
            return Err(Errno::XDEV);
        }
        renameat_with(&parent.name_fd, name, &to_parent.name_fd, to_name, flags)?;
        if flags.contains(RenameFlags::EXCHANGE) {
            return Ok(None);
        }
        Ok(replaced.and_then(|stat| self.node(stat.st_ino).ok()))
    }

    /// Gives a file one more name. Counts as a lookup.
    pub(crate) fn link(&self, node: &Node, parent: &Node, name: &OsStr) -> Result<Child, Errno> {
        self.store(parent)?;
        let name = checked(name)?;
        if node.volume != parent.volume {
            return Err(Errno::XDEV);
        }
        linkat(CWD, node.path(), &parent.name_fd, name, AtFlags::SYMLINK_FOLLOW)?;
        self.lookup(parent, name)
    }

    /// Returns where a symbolic link leads.
    #[expect(clippy::unused_self, reason = "one place for all that is asked of names")]
    pub(crate) fn readlink(&self, node: &Node) -> Result<PathBuf, Errno> {
        let target = readlinkat(&node.name_fd, "", Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
    }

    /// Lists a folder, itself and its parent included.
    pub(crate) fn list(&self, node: &Node) -> Result<Vec<Entry>, Errno> {
        let folder = node.open(OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            // The kernel does not use the parent's number: it keeps its own.
            let is_parent = entry.file_name().to_bytes() == b"..";
            let ino = if is_parent { node.ino } else { entry.ino() };
            entries.push(Entry {
                number: self.number(ino),
                kind: entry.file_type(),
                name: entry.file_name().to_owned(),
            });
        }
        Ok(entries)
    }
}

/// Makes a new file its maker's, where the serving process is not the maker.
fn give(parent: &Node, name: &OsStr, who: Identity) -> Result<(), Errno> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let folder = parent.stat()?;
    let gid = if folder.st_mode & 0o2000 == 0 { who.gid } else { folder.st_gid };
    let (uid, gid) = (Uid::from_raw(who.uid), Gid::from_raw(gid));
    chownat(&parent.name_fd, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)
}
