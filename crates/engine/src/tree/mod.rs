//! Operations on a tree of files, by number: each one system call, below the anchor's descriptor.
//!
//! No path is stored. The path of a file is written into one buffer when an operation needs it;
//! the last component is never followed if it is a symbolic link.

mod copy;
mod folder;

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use pattern::tree::Tree;
use plan::op::{Op, OpKind};
use plan::tree::{IN_TARGET, TreeOpen};
use rustix::fs::{Mode, OFlags};

use crate::named::{self, NameAt, NameOptions, open};
use crate::one_by_one::{ExecuteOne, SerialEngine};
use crate::{Arena, Engine, EngineError, FileTable, TablePolicy, call, mapped};

/// A tree and the folder that holds it.
#[derive(Debug)]
pub struct Anchored {
    /// The tree.
    pub tree: Tree,
    /// The folder, opened.
    pub anchor: OwnedFd,
}

impl Anchored {
    /// Opens the anchor, which must be a folder and no symbolic link.
    ///
    /// # Errors
    /// When it cannot be opened as that.
    pub fn open(tree: Tree, anchor: &Path) -> Result<Anchored, EngineError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(anchor, flags, Mode::empty());
        let anchor = opened.map_err(|errno| EngineError::file("open", anchor, errno))?;
        Ok(Anchored { tree, anchor })
    }
}

/// How files of a tree are opened by one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeAccess {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// Flags and durability.
    pub open: TreeOpen,
    /// Bytes per I/O of a copy.
    pub copy_bytes: u32,
}

impl TreeAccess {
    fn flags(&self) -> i32 {
        let mut flags = libc::O_CLOEXEC | libc::O_NOFOLLOW;
        flags |= match (self.read, self.write) {
            (true, true) => libc::O_RDWR,
            (false, true) => libc::O_WRONLY,
            _ => libc::O_RDONLY,
        };
        flags | self.durability()
    }

    fn durability(&self) -> i32 {
        let mut flags = self.open.raw_bits as i32;
        if self.open.direct {
            flags |= libc::O_DIRECT;
        }
        if self.open.dsync {
            flags |= libc::O_DSYNC;
        }
        flags
    }
}

/// Makes the engine of one worker on a tree. `second` is where files are copied or moved to, or a
/// tree that is removed; numbers marked with [`IN_TARGET`] are in it.
///
/// # Errors
/// When the table of no files cannot be made.
pub fn on_tree(
    first: Anchored,
    second: Option<Anchored>,
    access: TreeAccess,
    name: &str,
    arena: Arena,
) -> Result<Box<dyn Engine>, EngineError> {
    let files = FileTable::new(Vec::new(), TablePolicy { lazy: true, ..TablePolicy::default() })?;
    let how = OnTree {
        first,
        second,
        access,
        path: Vec::with_capacity(libc::PATH_MAX as usize),
        other_path: Vec::with_capacity(libc::PATH_MAX as usize),
        opened: Vec::with_capacity(4),
    };
    Ok(Box::new(SerialEngine::new(how, name, files, arena)))
}

/// Carries out the operations of one worker.
struct OnTree {
    first: Anchored,
    second: Option<Anchored>,
    access: TreeAccess,
    path: Vec<u8>,
    other_path: Vec<u8>,
    /// Open files by number; as many as the worker's job has tasks.
    opened: Vec<(u32, OwnedFd)>,
}

impl Anchored {
    /// Writes a path into the buffer. Returns where it is.
    fn at(&self, is_folder: bool, number: u32, path: &mut Vec<u8>) -> NameAt {
        path.clear();
        if is_folder {
            self.tree.push_folder_path(number, path);
        } else {
            self.tree.push_file_path(number, path);
        }
        path.push(0);
        NameAt { folder: self.anchor.as_raw_fd(), path: path.as_ptr().cast() }
    }
}

impl ExecuteOne for OnTree {
    fn carry_out(&mut self, op: &Op, _files: &mut FileTable, arena: &Arena) -> i32 {
        match op.kind {
            OpKind::Read | OpKind::Write | OpKind::MapRead | OpKind::MapWrite => self.io(op, arena),
            OpKind::Close => self.close(op.file.0),
            OpKind::Lock => self.lock(op.file.0),
            OpKind::Truncate => self.truncate(op),
            OpKind::Rename => self.rename(op),
            OpKind::Readdir => self.list(op.file.0),
            OpKind::Statfs | OpKind::Pathconf => self.statfs(),
            OpKind::Copy => self.copy(op, arena),
            OpKind::Move => self.move_file(op, arena),
            OpKind::Open
            | OpKind::Create
            | OpKind::Stat
            | OpKind::Delete
            | OpKind::Mkdir
            | OpKind::Rmdir
            | OpKind::Access
            | OpKind::Setattr
            | OpKind::Chmod
            | OpKind::NegStat => self.by_name(op),
            OpKind::Trim | OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange => {
                -libc::EOPNOTSUPP
            }
        }
    }
}

impl OnTree {
    #[inline]
    fn io(&mut self, op: &Op, arena: &Arena) -> i32 {
        let found = self.opened.iter().find(|(file, _)| *file == op.file.0);
        let Some((_, fd)) = found else { return -libc::EBADF };
        let memory = arena.memory(op);
        let fd = fd.as_raw_fd();
        if matches!(op.kind, OpKind::MapRead | OpKind::MapWrite) {
            mapped::copy_once(fd, op, memory, self.access.open.dsync)
        } else if op.kind == OpKind::Read {
            call::pread(fd, memory, op.len, op.offset)
        } else {
            call::pwrite(fd, memory, op.len, op.offset)
        }
    }

    /// Cuts an open file.
    fn truncate(&mut self, op: &Op) -> i32 {
        let found = self.opened.iter().find(|(file, _)| *file == op.file.0);
        let Some((_, fd)) = found else { return -libc::EBADF };
        // SAFETY: the call takes no memory.
        call::retry(|| unsafe { libc::ftruncate64(fd.as_raw_fd(), op.offset as i64) } as isize)
    }

    /// Locks an open file, all of it, and lets go of it: for reading alone, where it is not open
    /// for writing. Locks belong to the descriptor, so that threads are strangers to each other.
    fn lock(&mut self, file: u32) -> i32 {
        let found = self.opened.iter().find(|(opened, _)| *opened == file);
        let Some((_, fd)) = found else { return -libc::EBADF };
        let kind = if self.access.write { libc::F_WRLCK } else { libc::F_RDLCK };
        let mut result = 0;
        for kind in [kind, libc::F_UNLCK] {
            // SAFETY: of zeros the structure is valid: from the first byte to the last.
            let mut range: libc::flock = unsafe { std::mem::zeroed() };
            range.l_type = kind as libc::c_short;
            let range = &raw mut range;
            // SAFETY: the structure outlives the call, which reads it.
            let set = || unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_OFD_SETLK, range) };
            result = call::retry(|| set() as isize);
            if result < 0 {
                break;
            }
        }
        result
    }

    /// Closes a file, made durable first where that is asked for.
    fn close(&mut self, file: u32) -> i32 {
        let found = self.opened.iter().position(|(opened, _)| *opened == file);
        let Some(idx) = found else { return -libc::EBADF };
        let (_, fd) = self.opened.swap_remove(idx);
        let mut result = 0;
        if self.access.open.fsync_on_close && self.access.write {
            // SAFETY: the call takes no memory.
            result = call::retry(|| unsafe { libc::fsync(fd.as_raw_fd()) } as isize);
        }
        // An interrupted close has closed the file anyway (Linux).
        drop(fd);
        result
    }

    /// Returns the tree of a number, and the number without its mark.
    fn side(&self, entry: u32) -> Option<(&Anchored, u32)> {
        match entry & IN_TARGET {
            0 => Some((&self.first, entry)),
            _ => self.second.as_ref().map(|second| (second, entry & !IN_TARGET)),
        }
    }

    /// Carries out what needs a name and nothing else.
    fn by_name(&mut self, op: &Op) -> i32 {
        let mut path = std::mem::take(&mut self.path);
        let result = match self.side(op.file.0) {
            Some((anchored, number)) => {
                let at = anchored.at(op.kind.is_on_folder(), number, &mut path);
                if op.kind == OpKind::Open {
                    open(at, self.access.flags(), 0).map_or_else(
                        |result| result,
                        |fd| {
                            self.opened.push((op.file.0, fd));
                            0
                        },
                    )
                } else {
                    named::carry_out(op.kind, at, NameOptions::IN_TREE)
                }
            }
            None => -libc::EBADF,
        };
        self.path = path;
        result
    }
}
