//! Operations of a mix, by their published names: plans of ours ask for them, and a capture of a
//! program's calls counts them.

use plan::op::OpKind;

/// How an operation of a mix works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// On a name, or a file as a whole, without bytes.
    Name,
    /// A file from start to end in one transfer, opened and closed for it.
    Whole,
    /// One transfer at a random place of a file, opened and closed for it.
    Random,
    /// The same, read before it is written.
    ReadFirst,
    /// The same, through a mapping.
    Mapped,
    /// One transfer at the end of a file, opened and closed for it: cut off, then written.
    End,
    /// All of a file, after all of another one was read.
    Copy,
    /// The next transfer of a file that is gone through from start to end.
    Next,
}

/// An operation of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MixOp {
    /// The next transfer of a file that is gone through from start to end, read.
    Read,
    /// The same, written.
    Write,
    /// One transfer at a random place of a file that is opened for it, read.
    RandomRead,
    /// The same, written.
    RandomWrite,
    /// The same, read through a mapping.
    MmapRead,
    /// The same, written through a mapping.
    MmapWrite,
    /// One transfer at a random place, read and written again.
    Rmw,
    /// One transfer at the end of a file.
    Append,
    /// A file is cut by one transfer.
    Trunc,
    /// All of a file in one transfer, read.
    ReadFile,
    /// The same, written.
    WriteFile,
    /// All of a file, written to another one.
    CopyFile,
    /// An empty file is made.
    Create,
    /// A file is removed.
    Unlink,
    /// The same: published mixes have two, and how they differ is not public.
    Unlink2,
    /// A file gets another name.
    Rename,
    /// A folder is made.
    Mkdir,
    /// A folder is removed.
    Rmdir,
    /// A folder is listed.
    Readdir,
    /// The facts of a file are asked for.
    Stat,
    /// A file is looked for that is not there.
    NegStat,
    /// Whether a file may be read is asked.
    Access,
    /// Permissions are set.
    Chmod,
    /// A file is locked, and let go of.
    Lock,
    /// The facts of the file system are asked for.
    Statfs,
    /// The limits of the file system are asked for.
    Pathconf,
}

impl MixOp {
    /// All of them.
    pub const ALL: [MixOp; 26] = units::all_of!(
        MixOp:
        Read, Write, RandomRead, RandomWrite, MmapRead, MmapWrite, Rmw, Append, Trunc, ReadFile,
        WriteFile, CopyFile, Create, Unlink, Unlink2, Rename, Mkdir, Rmdir, Readdir, Stat,
        NegStat, Access, Chmod, Lock, Statfs, Pathconf,
    );

    /// Returns its name, as published mixes have it.
    pub fn name(self) -> &'static str {
        match self {
            MixOp::Read => "read",
            MixOp::Write => "write",
            MixOp::RandomRead => "random_read",
            MixOp::RandomWrite => "random_write",
            MixOp::MmapRead => "mmap_read",
            MixOp::MmapWrite => "mmap_write",
            MixOp::Rmw => "rmw",
            MixOp::Append => "append",
            MixOp::Trunc => "trunc",
            MixOp::ReadFile => "read_file",
            MixOp::WriteFile => "write_file",
            MixOp::CopyFile => "copyfile",
            MixOp::Create => "create",
            MixOp::Unlink => "unlink",
            MixOp::Unlink2 => "unlink2",
            MixOp::Rename => "rename",
            MixOp::Mkdir => "mkdir",
            MixOp::Rmdir => "rmdir",
            MixOp::Readdir => "readdir",
            MixOp::Stat => "stat",
            MixOp::NegStat => "neg_stat",
            MixOp::Access => "access",
            MixOp::Chmod => "chmod",
            MixOp::Lock => "lock",
            MixOp::Statfs => "statfs",
            MixOp::Pathconf => "pathconf",
        }
    }

    /// Finds one by its name.
    pub(crate) fn of_name(name: &str) -> Option<MixOp> {
        MixOp::ALL.into_iter().find(|op| op.name() == name)
    }

    /// Returns what is done, and how.
    pub(crate) fn work(self) -> (OpKind, Manner) {
        match self {
            MixOp::Read => (OpKind::Read, Manner::Next),
            MixOp::Write => (OpKind::Write, Manner::Next),
            MixOp::RandomRead => (OpKind::Read, Manner::Random),
            MixOp::RandomWrite => (OpKind::Write, Manner::Random),
            MixOp::MmapRead => (OpKind::MapRead, Manner::Mapped),
            MixOp::MmapWrite => (OpKind::MapWrite, Manner::Mapped),
            MixOp::Rmw => (OpKind::Write, Manner::ReadFirst),
            MixOp::Append => (OpKind::Write, Manner::End),
            MixOp::Trunc => (OpKind::Truncate, Manner::End),
            MixOp::ReadFile => (OpKind::Read, Manner::Whole),
            MixOp::WriteFile => (OpKind::Write, Manner::Whole),
            MixOp::CopyFile => (OpKind::Write, Manner::Copy),
            MixOp::Create => (OpKind::Create, Manner::Name),
            MixOp::Unlink | MixOp::Unlink2 => (OpKind::Delete, Manner::Name),
            MixOp::Rename => (OpKind::Rename, Manner::Name),
            MixOp::Mkdir => (OpKind::Mkdir, Manner::Name),
            MixOp::Rmdir => (OpKind::Rmdir, Manner::Name),
            MixOp::Readdir => (OpKind::Readdir, Manner::Name),
            MixOp::Stat => (OpKind::Stat, Manner::Name),
            MixOp::NegStat => (OpKind::NegStat, Manner::Name),
            MixOp::Access => (OpKind::Access, Manner::Name),
            MixOp::Chmod => (OpKind::Chmod, Manner::Name),
            MixOp::Lock => (OpKind::Lock, Manner::Name),
            MixOp::Statfs => (OpKind::Statfs, Manner::Name),
            MixOp::Pathconf => (OpKind::Pathconf, Manner::Name),
        }
    }
}
