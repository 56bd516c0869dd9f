//! The operations a worker issues and an engine carries out.
//!
//! An operation names its file by [`FileIdx`] and its memory by [`BufId`], never by descriptor or
//! pointer: the same operation can go to a kernel ring, to an emulated volume in virtual time, or
//! to an NFS server. In a job that works on a tree of files ([`crate::tree`]) the index names a
//! file or folder of the tree by its number. Object operations are added to [`OpKind`] as they
//! come.

use crate::{Direction, IoPriority};

/// Position of a file in the worker's file table (its bound targets, in order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileIdx(pub u32);

/// Position of a buffer in the worker's arena. Each slot in flight owns one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufId(pub u32);

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OpKind {
    /// Reads `len` bytes at `offset`.
    Read,
    /// Writes `len` bytes at `offset`.
    Write,
    /// Discards `len` bytes at `offset`.
    Trim,
    /// Makes all written data and metadata of the file durable.
    Fsync,
    /// Makes all written data of the file durable.
    Fdatasync,
    /// Starts or awaits write-back of `len` bytes at `offset` (`sync_file_range`).
    SyncFileRange,
    /// Creates the file, empty.
    Create,
    /// Reads the file's metadata.
    Stat,
    /// Removes the file.
    Delete,
    /// Creates the directory.
    Mkdir,
    /// Removes the directory.
    Rmdir,
    /// Opens the file, for what its job does with it.
    Open,
    /// Closes the file, made durable first where the job asks for it.
    Close,
    /// Asks whether the file may be read.
    Access,
    /// Changes the file's metadata: its times.
    Setattr,
    /// Changes the file's permissions.
    Chmod,
    /// Asks for the metadata of a file that is not there.
    NegStat,
    /// Locks the open file for itself, all of it, and lets go of it.
    Lock,
    /// Cuts the open file to `offset` bytes.
    Truncate,
    /// Gives the file the name of another one of its tree, number `offset`, which is not there.
    Rename,
    /// Lists the directory, from opening to closing it.
    Readdir,
    /// Asks for the room of the file system.
    Statfs,
    /// Asks for the limits of the file system, such as the longest name.
    Pathconf,
    /// Reads `len` bytes at `offset` through a mapping that is made for them.
    MapRead,
    /// Writes `len` bytes at `offset` through a mapping that is made for them.
    MapWrite,
    /// Copies the file to the same place in another tree.
    Copy,
    /// Moves the file to the same place in another tree.
    Move,
}

/// What kinds of operations have in common, as engines and logs tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpClass {
    /// Works on bytes of a file: reads, writes or discards them.
    Bytes(Direction),
    /// Makes earlier writes durable.
    Sync(SyncScope),
    /// Works on a name, or on a file as a whole.
    File,
}

/// What a sync makes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncScope {
    /// Data and metadata of a file.
    All,
    /// Data of a file.
    Data,
    /// A range of a file, as far as write-back goes.
    Range,
}

/// What a kind of operations is to the rest of the program. A new kind says it here, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTraits {
    /// The word for it in results.
    pub name: &'static str,
    /// What it has in common with others.
    pub class: OpClass,
    /// It changes what is stored.
    pub modifies: bool,
    /// It works on a folder and not on a file.
    pub is_on_folder: bool,
}

impl OpKind {
    /// All kinds, in the order in which outputs list them.
    pub const ALL: [OpKind; 27] = units::all_of!(
        OpKind:
        Read, Write, MapRead, MapWrite, Trim, Fsync, Fdatasync, SyncFileRange, Mkdir, Rmdir,
        Readdir, Create, Open, Close, Delete, Rename, Stat, NegStat, Setattr, Chmod, Access, Lock,
        Truncate, Statfs, Pathconf, Copy, Move,
    );

    /// Returns what the kind is to the rest of the program.
    #[inline]
    pub const fn traits(self) -> OpTraits {
        use OpClass::{Bytes, File, Sync};
        let (name, class, modifies, is_on_folder) = match self {
            OpKind::Read => ("read", Bytes(Direction::Read), false, false),
            OpKind::Write => ("write", Bytes(Direction::Write), true, false),
            OpKind::Trim => ("trim", Bytes(Direction::Trim), true, false),
            OpKind::Fsync => ("fsync", Sync(SyncScope::All), false, false),
            OpKind::Fdatasync => ("fdatasync", Sync(SyncScope::Data), false, false),
            OpKind::SyncFileRange => ("sync_file_range", Sync(SyncScope::Range), false, false),
            OpKind::Create => ("create", File, true, false),
            OpKind::Stat => ("getattr", File, false, false),
            OpKind::Delete => ("delete", File, true, false),
            OpKind::Mkdir => ("mkdir", File, true, true),
            OpKind::Rmdir => ("rmdir", File, true, true),
            OpKind::Open => ("open", File, false, false),
            OpKind::Close => ("close", File, false, false),
            OpKind::Access => ("access", File, false, false),
            OpKind::Setattr => ("setattr", File, true, false),
            OpKind::Chmod => ("chmod", File, true, false),
            OpKind::NegStat => ("neg_stat", File, false, false),
            OpKind::Lock => ("lock", File, false, false),
            OpKind::Truncate => ("truncate", File, true, false),
            OpKind::Rename => ("rename", File, true, false),
            OpKind::Readdir => ("readdir", File, false, true),
            OpKind::Statfs => ("statfs", File, false, true),
            OpKind::Pathconf => ("pathconf", File, false, true),
            OpKind::MapRead => ("mmap_read", Bytes(Direction::Read), false, false),
            OpKind::MapWrite => ("mmap_write", Bytes(Direction::Write), true, false),
            OpKind::Copy => ("copy", File, true, false),
            OpKind::Move => ("move", File, true, false),
        };
        OpTraits { name, class, modifies, is_on_folder }
    }

    /// Returns the word for it in results: that of Vdbench and of NFS where they have one.
    pub fn name(self) -> &'static str {
        self.traits().name
    }

    /// Returns what kind of operation it is among all.
    #[inline]
    pub fn class(self) -> OpClass {
        self.traits().class
    }

    /// Returns the direction whose counters and histograms take the operation, or `None` for syncs.
    ///
    /// File operations count as reads, as fio's `filecreate`, `filestat` and `filedelete` do.
    #[inline]
    pub fn direction(self) -> Option<Direction> {
        match self.class() {
            OpClass::Bytes(dir) => Some(dir),
            OpClass::Sync(_) => None,
            OpClass::File => Some(Direction::Read),
        }
    }

    /// Returns whether the operation changes what is stored. A sync does not: it writes back what
    /// others have written.
    pub fn modifies(self) -> bool {
        self.traits().modifies
    }

    /// Returns whether the operation works on a folder and not on a file.
    #[inline]
    pub fn is_on_folder(self) -> bool {
        self.traits().is_on_folder
    }

    /// Returns whether the operation makes earlier writes durable.
    #[inline]
    pub fn is_sync(self) -> bool {
        matches!(self.class(), OpClass::Sync(_))
    }
}

/// One operation, ready to be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// First byte, counted from the start of the file or device.
    pub offset: u64,
    /// Bytes to move; 0 for file operations.
    pub len: u32,
    /// The file it goes to.
    pub file: FileIdx,
    /// The worker's slot that the completion names; slots are dense, 0 up to the queue depth.
    pub slot: u32,
    /// The memory read into or written from.
    pub buf: BufId,
    /// Where in the buffer it starts: 0, or after a short transfer what was moved before. Engines
    /// add it to the buffer's address.
    pub buf_offset_bytes: u32,
    /// What to do.
    pub kind: OpKind,
    /// Priority of this operation, where the engine takes one; [`IoPriority::NONE`] is its job's.
    pub priority: IoPriority,
}

/// The end of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot of the operation.
    pub slot: u32,
    /// Bytes moved, or the negated `errno`. A trim longer than fits shows `i32::MAX`.
    pub result: i32,
}

impl Completion {
    /// Makes the completion of an operation that did all it should.
    #[inline]
    pub fn whole(op: &Op) -> Self {
        Completion { slot: op.slot, result: op.len.min(i32::MAX as u32) as i32 }
    }

    /// Returns whether `op` did all it should.
    #[inline]
    pub fn is_whole(&self, op: &Op) -> bool {
        self.result >= 0 && self.result as u32 == op.len.min(i32::MAX as u32)
    }
}
