//! What calls ask for: the arguments of every procedure, read before anything is carried out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use engine::nfs::xdr::{Reader, XdrError};
use nfs3_types::nfs3::{NFS_PROGRAM, stable_how};
use rustix::fs::{FileType, Timespec, UTIME_NOW};

use crate::tree::Changes;

/// Largest transfer of one call where the volume has no limit of its own.
pub(super) const TRANSFER_BYTES_MAX: u32 = 1 << 20;
/// Longest handle that a call may bring.
const HANDLE_BYTES_MAX: usize = 64;
/// Longest target of a symbolic link. Names up to it are read, and then found too long.
const PATH_BYTES_MAX: usize = 4096;

/// A name in a folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryName<'a> {
    /// The folder's handle.
    pub(super) folder: &'a [u8],
    pub(super) name: &'a OsStr,
}

impl<'a> EntryName<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<EntryName<'a>, XdrError> {
        let folder = handle(reader)?;
        let name = reader.opaque(PATH_BYTES_MAX, "name")?;
        Ok(EntryName { folder, name: OsStr::from_bytes(name) })
    }
}

/// Attributes to be set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wanted {
    pub(super) changes: Changes,
    pub(super) size: Option<u64>,
}

impl Wanted {
    /// Reads them (`sattr3`).
    fn read(reader: &mut Reader<'_>) -> Result<Wanted, XdrError> {
        let optional = |reader: &mut Reader<'_>| {
            Ok(if reader.bool("attribute follows")? { Some(reader.u32()?) } else { None })
        };
        let [mode, uid, gid] = [optional(reader)?, optional(reader)?, optional(reader)?];
        let size = if reader.bool("attribute follows")? { Some(reader.u64()?) } else { None };
        let (atime, mtime) = (time(reader)?, time(reader)?);
        Ok(Wanted { changes: Changes { mode, uid, gid, atime, mtime }, size })
    }
}

/// How CREATE treats a file that is there.
#[derive(Clone, Copy, Debug)]
pub(super) enum CreateMode {
    Unchecked(Wanted),
    Guarded(Wanted),
    /// By times that stand for the caller's own number, so that a repeated call is known.
    Exclusive(Timespec, Timespec),
}

impl CreateMode {
    fn read(reader: &mut Reader<'_>) -> Result<CreateMode, XdrError> {
        let seconds = |seconds: u32| Timespec { tv_sec: i64::from(seconds), tv_nsec: 0 };
        Ok(match reader.u32()? {
            0 => CreateMode::Unchecked(Wanted::read(reader)?),
            1 => CreateMode::Guarded(Wanted::read(reader)?),
            2 => CreateMode::Exclusive(seconds(reader.u32()?), seconds(reader.u32()?)),
            _ => return Err(XdrError::Malformed("how a file is made")),
        })
    }
}

/// What MKNOD makes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Special {
    /// A socket or a pipe.
    Made(FileType, Wanted),
    /// A device of the server.
    Device,
    /// What it never makes.
    Other,
}

impl Special {
    fn read(reader: &mut Reader<'_>) -> Result<Special, XdrError> {
        const BLOCK: u32 = 3;
        const CHARACTER: u32 = 4;
        const SOCKET: u32 = 6;
        const PIPE: u32 = 7;
        Ok(match reader.u32()? {
            SOCKET => Special::Made(FileType::Socket, Wanted::read(reader)?),
            PIPE => Special::Made(FileType::Fifo, Wanted::read(reader)?),
            BLOCK | CHARACTER => Special::Device,
            _ => Special::Other,
        })
    }
}

/// What a call of the NFS program asks for. Files and folders are named by their handles.
#[derive(Clone, Copy, Debug)]
pub(super) enum NfsRequest<'a> {
    Null,
    Getattr(&'a [u8]),
    /// The guard is the time of the last change that the file must still have.
    Setattr {
        file: &'a [u8],
        wanted: Wanted,
        guard: Option<(u32, u32)>,
    },
    Lookup(EntryName<'a>),
    Access {
        file: &'a [u8],
        asked: u32,
    },
    Readlink(&'a [u8]),
    Read {
        file: &'a [u8],
        offset: u64,
        count: u32,
    },
    Write {
        file: &'a [u8],
        offset: u64,
        stable: u32,
        data: &'a [u8],
    },
    Create(EntryName<'a>, CreateMode),
    Mkdir(EntryName<'a>, Wanted),
    Symlink(EntryName<'a>, &'a OsStr),
    Mknod(EntryName<'a>, Special),
    Remove(EntryName<'a>),
    Rmdir(EntryName<'a>),
    Rename {
        from: EntryName<'a>,
        to: EntryName<'a>,
    },
    Link {
        file: &'a [u8],
        to: EntryName<'a>,
    },
    Readdir {
        folder: &'a [u8],
        behind: u64,
        count: u32,
    },
    Readdirplus {
        folder: &'a [u8],
        behind: u64,
        count: u32,
    },
    Fsstat(&'a [u8]),
    Fsinfo(&'a [u8]),
    Pathconf(&'a [u8]),
    /// All of the volume is made durable, whatever the range.
    Commit(&'a [u8]),
}

impl<'a> NfsRequest<'a> {
    /// Reads the arguments of a procedure.
    ///
    /// # Errors
    /// When they end early, or say what no caller may.
    pub(super) fn read(
        procedure: NFS_PROGRAM,
        reader: &mut Reader<'a>,
    ) -> Result<NfsRequest<'a>, XdrError> {
        use NFS_PROGRAM as P;
        Ok(match procedure {
            P::NFSPROC3_NULL => NfsRequest::Null,
            P::NFSPROC3_GETATTR => NfsRequest::Getattr(handle(reader)?),
            P::NFSPROC3_SETATTR => setattr(reader)?,
            P::NFSPROC3_LOOKUP => NfsRequest::Lookup(EntryName::read(reader)?),
            P::NFSPROC3_ACCESS => {
                NfsRequest::Access { file: handle(reader)?, asked: reader.u32()? }
            }
            P::NFSPROC3_READLINK => NfsRequest::Readlink(handle(reader)?),
            P::NFSPROC3_READ => NfsRequest::Read {
                file: handle(reader)?,
                offset: reader.u64()?,
                count: reader.u32()?,
            },
            P::NFSPROC3_WRITE => write(reader)?,
            P::NFSPROC3_CREATE => {
                NfsRequest::Create(EntryName::read(reader)?, CreateMode::read(reader)?)
            }
            P::NFSPROC3_MKDIR => NfsRequest::Mkdir(EntryName::read(reader)?, Wanted::read(reader)?),
            P::NFSPROC3_SYMLINK => {
                let (place, _wanted) = (EntryName::read(reader)?, Wanted::read(reader)?);
                let target = reader.opaque(PATH_BYTES_MAX, "target")?;
                NfsRequest::Symlink(place, OsStr::from_bytes(target))
            }
            P::NFSPROC3_MKNOD => {
                NfsRequest::Mknod(EntryName::read(reader)?, Special::read(reader)?)
            }
            P::NFSPROC3_REMOVE => NfsRequest::Remove(EntryName::read(reader)?),
            P::NFSPROC3_RMDIR => NfsRequest::Rmdir(EntryName::read(reader)?),
            P::NFSPROC3_RENAME => {
                NfsRequest::Rename { from: EntryName::read(reader)?, to: EntryName::read(reader)? }
            }
            P::NFSPROC3_LINK => {
                NfsRequest::Link { file: handle(reader)?, to: EntryName::read(reader)? }
            }
            P::NFSPROC3_READDIR => {
                let (folder, behind, _verifier) = (handle(reader)?, reader.u64()?, reader.u64()?);
                NfsRequest::Readdir { folder, behind, count: reader.u32()? }
            }
            P::NFSPROC3_READDIRPLUS => {
                let (folder, behind, _verifier) = (handle(reader)?, reader.u64()?, reader.u64()?);
                let _names = reader.u32()?;
                NfsRequest::Readdirplus { folder, behind, count: reader.u32()? }
            }
            P::NFSPROC3_FSSTAT => NfsRequest::Fsstat(handle(reader)?),
            P::NFSPROC3_FSINFO => NfsRequest::Fsinfo(handle(reader)?),
            P::NFSPROC3_PATHCONF => NfsRequest::Pathconf(handle(reader)?),
            P::NFSPROC3_COMMIT => {
                let (file, _offset, _count) = (handle(reader)?, reader.u64()?, reader.u32()?);
                NfsRequest::Commit(file)
            }
        })
    }

    /// Returns whether the call must not happen twice.
    pub(super) fn is_once(&self) -> bool {
        matches!(
            self,
            NfsRequest::Setattr { .. }
                | NfsRequest::Create(..)
                | NfsRequest::Mkdir(..)
                | NfsRequest::Symlink(..)
                | NfsRequest::Mknod(..)
                | NfsRequest::Remove(_)
                | NfsRequest::Rmdir(_)
                | NfsRequest::Rename { .. }
                | NfsRequest::Link { .. }
        )
    }
}

fn handle<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], XdrError> {
    reader.opaque(HANDLE_BYTES_MAX, "handle")
}

fn setattr<'a>(reader: &mut Reader<'a>) -> Result<NfsRequest<'a>, XdrError> {
    let (file, wanted) = (handle(reader)?, Wanted::read(reader)?);
    let is_guarded = reader.bool("guard follows")?;
    let guard = if is_guarded { Some((reader.u32()?, reader.u32()?)) } else { None };
    Ok(NfsRequest::Setattr { file, wanted, guard })
}

fn write<'a>(reader: &mut Reader<'a>) -> Result<NfsRequest<'a>, XdrError> {
    let (file, offset) = (handle(reader)?, reader.u64()?);
    let (count, stable) = (reader.u32()?, reader.u32()?);
    let data = reader.opaque(TRANSFER_BYTES_MAX as usize, "data")?;
    if stable > stable_how::FILE_SYNC as u32 {
        return Err(XdrError::Malformed("stability"));
    }
    let data = data.get(..count as usize).ok_or(XdrError::Malformed("count"))?;
    Ok(NfsRequest::Write { file, offset, stable, data })
}

fn time(reader: &mut Reader<'_>) -> Result<Option<Timespec>, XdrError> {
    Ok(match reader.u32()? {
        0 => None,
        1 => Some(Timespec { tv_sec: 0, tv_nsec: UTIME_NOW }),
        2 => {
            let (seconds, nseconds) = (reader.u32()?, reader.u32()?);
            if nseconds >= 1_000_000_000 {
                return Err(XdrError::Malformed("nanoseconds"));
            }
            Some(Timespec { tv_sec: i64::from(seconds), tv_nsec: i64::from(nseconds) as _ })
        }
        _ => return Err(XdrError::Malformed("how a time is set")),
    })
}
