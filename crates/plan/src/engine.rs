//! Kinds of engines, and what the rest of the program asks of one.

use crate::op::OpKind;

/// How I/O is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// io_uring.
    Uring,
    /// Linux native AIO by raw system calls.
    Aio,
    /// `pread` and `pwrite`, one at a time. fio's `sync` and `psync`.
    Sync,
    /// `preadv` and `pwritev`. fio's `vsync` and `pvsync`.
    VectoredSync,
    /// `preadv2` and `pwritev2` with their flags.
    VectoredSync2,
    /// Copies to and from a mapping.
    Mmap,
    /// Files of an NFSv3 server, over connections of our own.
    Nfs,
    /// Completes at once, moves nothing.
    Null,
    /// Reserves space of files or sets their size.
    Space(SpaceCall),
    /// Makes, looks at or removes whole files or directories.
    Names(NameOp),
}

/// What an engine of [`EngineKind::Space`] calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpaceCall {
    /// `fallocate`: read keeps the size, write allocates, trim punches. fio's `falloc`.
    Fallocate,
    /// `ftruncate` to where each write begins.
    Ftruncate,
}

/// What an engine of [`EngineKind::Names`] does with a name, once per operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameOp {
    /// Creates a file.
    FileCreate,
    /// Reads the metadata of a file.
    FileStat,
    /// Removes a file.
    FileDelete,
    /// Creates a directory.
    DirCreate,
    /// Reads the metadata of a directory.
    DirStat,
    /// Removes a directory.
    DirDelete,
}

impl NameOp {
    /// Returns the operation that is carried out, whatever direction the job counts it as.
    pub fn op_kind(self) -> OpKind {
        match self {
            NameOp::FileCreate => OpKind::Create,
            NameOp::FileStat | NameOp::DirStat => OpKind::Stat,
            NameOp::FileDelete => OpKind::Delete,
            NameOp::DirCreate => OpKind::Mkdir,
            NameOp::DirDelete => OpKind::Rmdir,
        }
    }

    /// Returns whether the names are those of directories.
    pub fn is_of_directories(self) -> bool {
        match self {
            NameOp::DirCreate | NameOp::DirStat | NameOp::DirDelete => true,
            NameOp::FileCreate | NameOp::FileStat | NameOp::FileDelete => false,
        }
    }

    /// Returns whether the name must be there before; otherwise it must not.
    pub fn needs_existing(self) -> bool {
        match self {
            NameOp::FileStat | NameOp::FileDelete | NameOp::DirStat | NameOp::DirDelete => true,
            NameOp::FileCreate | NameOp::DirCreate => false,
        }
    }
}

/// What an engine is to the rest of the program. A new engine says it here, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineTraits {
    /// What its operations work on.
    pub work: EngineWork,
    /// How it holds what is in flight.
    pub queue: EngineQueue,
    /// Submission waits for the device unless the I/O is direct: one at a time, whatever the queue.
    pub waits_unless_direct: bool,
}

/// What operations of an engine work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineWork {
    /// Nothing: no file is opened, no byte is moved.
    Nothing,
    /// Bytes of files and devices of this host, by system calls; past the page cache where the job
    /// asks for it.
    Bytes,
    /// Bytes of files and devices of this host through a mapping, and so through the page cache. A
    /// mapping ends where its file does.
    MappedBytes,
    /// Bytes of files on a server that the engine reaches by itself.
    ServerBytes,
    /// Sizes and space of files of this host, and none of their bytes.
    Space(SpaceCall),
    /// Names of files or directories of this host, one operation each.
    Names(NameOp),
}

/// How an engine holds what is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineQueue {
    /// One operation at a time, whatever the queue depth.
    OneByOne,
    /// A queue of the kernel's, in which each operation can carry a priority.
    Kernel,
    /// A queue of the engine's own.
    Own,
}

impl EngineKind {
    /// Returns what the engine is to the rest of the program.
    pub const fn traits(self) -> EngineTraits {
        use EngineQueue::{Kernel, OneByOne, Own};
        let (work, queue, waits_unless_direct) = match self {
            EngineKind::Uring => (EngineWork::Bytes, Kernel, false),
            EngineKind::Aio => (EngineWork::Bytes, Kernel, true),
            EngineKind::Sync | EngineKind::VectoredSync | EngineKind::VectoredSync2 => {
                (EngineWork::Bytes, OneByOne, false)
            }
            EngineKind::Mmap => (EngineWork::MappedBytes, OneByOne, false),
            EngineKind::Nfs => (EngineWork::ServerBytes, Own, false),
            EngineKind::Null => (EngineWork::Nothing, Own, false),
            EngineKind::Space(call) => (EngineWork::Space(call), OneByOne, false),
            EngineKind::Names(op) => (EngineWork::Names(op), OneByOne, false),
        };
        EngineTraits { work, queue, waits_unless_direct }
    }

    /// Returns whether the engine holds one operation at a time whatever the queue depth.
    pub fn is_synchronous(self) -> bool {
        self.traits().queue == EngineQueue::OneByOne
    }

    /// Returns whether each operation of the engine can carry a priority.
    pub fn has_priorities(self) -> bool {
        self.traits().queue == EngineQueue::Kernel
    }

    /// Returns whether the engine reads and writes through a mapping of the file.
    pub fn is_mapped(self) -> bool {
        self.traits().work == EngineWork::MappedBytes
    }

    /// Returns whether each operation of the engine makes the name that it works on.
    pub fn makes_names(self) -> bool {
        matches!(self.traits().work, EngineWork::Names(op) if !op.needs_existing())
    }

    /// Returns whether the engine's files are on a server that it reaches by itself, and not in
    /// this host's folders.
    pub fn is_remote(self) -> bool {
        self.traits().work == EngineWork::ServerBytes
    }

    /// Returns whether the engine opens no file and moves nothing.
    pub fn is_idle(self) -> bool {
        self.traits().work == EngineWork::Nothing
    }

    /// Returns whether the engine works on names of files or directories rather than on files.
    pub fn is_of_names(self) -> bool {
        matches!(self.traits().work, EngineWork::Names(_))
    }

    /// Returns whether the engine works on files of this host, rather than on their names, on a
    /// server or on nothing.
    pub fn opens_files_here(self) -> bool {
        match self.traits().work {
            EngineWork::Bytes | EngineWork::MappedBytes | EngineWork::Space(_) => true,
            EngineWork::Nothing | EngineWork::ServerBytes | EngineWork::Names(_) => false,
        }
    }
}
