//! What calls ask for: the arguments of every procedure, read before anything is carried out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use engine::nfs::xdr::{Flaw, Reader};
use nfs3_types::nfs3::{NFS_PROGRAM, stable_how};
use rustix::fs::{FileType, Timespec, UTIME_NOW};

use super::TRANSFER_BYTES_MAX;
use crate::tree::Changes;

/// Longest handle that a call may bring.
const HANDLE_BYTES_MAX: usize = 64;
/// Longest target of a symbolic link. Names up to it are read, and then found too long.
const PATH_BYTES_MAX: usize = 4096;

/// A name in a folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The folder's handle.
    pub(super) folder: &'a [u8],
    pub(super) name: &'a OsStr,
}

impl<'a> Place<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Place<'a>, Flaw> {
        let folder = handle(reader)?;
        let name = reader.opaque(PATH_BYTES_MAX, "name")?;
        Ok(Place { folder, name: OsStr::from_bytes(name) })
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
    fn read(reader: &mut Reader<'_>) -> Result<Wanted, Flaw> {
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
pub(super) enum How {
    Unchecked(Wanted),
    Guarded(Wanted),
    /// By times that stand for the caller's own number, so that a repeated call is known.
    Exclusive(Timespec, Timespec),
}

impl How {
    fn read(reader: &mut Reader<'_>) -> Result<How, Flaw> {
        let seconds = |seconds: u32| Timespec { tv_sec: i64::from(seconds), tv_nsec: 0 };
        Ok(match reader.u32()? {
            0 => How::Unchecked(Wanted::read(reader)?),
            1 => How::Guarded(Wanted::read(reader)?),
            2 => How::Exclusive(seconds(reader.u32()?), seconds(reader.u32()?)),
            _ => return Err(Flaw::Malformed("how a file is made")),
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
    fn read(reader: &mut Reader<'_>) -> Result<Special, Flaw> {
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
pub(super) enum Asked<'a> {
    Null,
    Getattr(&'a [u8]),
    /// The guard is the time of the last change that the file must still have.
    Setattr {
        file: &'a [u8],
        wanted: Wanted,
        guard: Option<(u32, u32)>,
    },
    Lookup(Place<'a>),
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
    Create(Place<'a>, How),
    Mkdir(Place<'a>, Wanted),
    Symlink(Place<'a>, &'a OsStr),
    Mknod(Place<'a>, Special),
    Remove(Place<'a>),
    Rmdir(Place<'a>),
    Rename {
        from: Place<'a>,
        to: Place<'a>,
    },
    Link {
        file: &'a [u8],
        to: Place<'a>,
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

impl<'a> Asked<'a> {
    /// Reads the arguments of a procedure.
    ///
    /// # Errors
    /// When they end early, or say what no caller may.
    pub(super) fn read(procedure: NFS_PROGRAM, reader: &mut Reader<'a>) -> Result<Asked<'a>, Flaw> {
        use NFS_PROGRAM as P;
        Ok(match procedure {
            P::NFSPROC3_NULL => Asked::Null,
            P::NFSPROC3_GETATTR => Asked::Getattr(handle(reader)?),
            P::NFSPROC3_SETATTR => setattr(reader)?,
            P::NFSPROC3_LOOKUP => Asked::Lookup(Place::read(reader)?),
            P::NFSPROC3_ACCESS => Asked::Access { file: handle(reader)?, asked: reader.u32()? },
            P::NFSPROC3_READLINK => Asked::Readlink(handle(reader)?),
            P::NFSPROC3_READ => {
                Asked::Read { file: handle(reader)?, offset: reader.u64()?, count: reader.u32()? }
            }
            P::NFSPROC3_WRITE => write(reader)?,
            P::NFSPROC3_CREATE => Asked::Create(Place::read(reader)?, How::read(reader)?),
            P::NFSPROC3_MKDIR => Asked::Mkdir(Place::read(reader)?, Wanted::read(reader)?),
            P::NFSPROC3_SYMLINK => {
                let (place, _wanted) = (Place::read(reader)?, Wanted::read(reader)?);
                let target = reader.opaque(PATH_BYTES_MAX, "target")?;
                Asked::Symlink(place, OsStr::from_bytes(target))
            }
            P::NFSPROC3_MKNOD => Asked::Mknod(Place::read(reader)?, Special::read(reader)?),
            P::NFSPROC3_REMOVE => Asked::Remove(Place::read(reader)?),
            P::NFSPROC3_RMDIR => Asked::Rmdir(Place::read(reader)?),
            P::NFSPROC3_RENAME => {
                Asked::Rename { from: Place::read(reader)?, to: Place::read(reader)? }
            }
            P::NFSPROC3_LINK => Asked::Link { file: handle(reader)?, to: Place::read(reader)? },
            P::NFSPROC3_READDIR => {
                let (folder, behind, _verifier) = (handle(reader)?, reader.u64()?, reader.u64()?);
                Asked::Readdir { folder, behind, count: reader.u32()? }
            }
            P::NFSPROC3_READDIRPLUS => {
                let (folder, behind, _verifier) = (handle(reader)?, reader.u64()?, reader.u64()?);
                let _names = reader.u32()?;
                Asked::Readdirplus { folder, behind, count: reader.u32()? }
            }
            P::NFSPROC3_FSSTAT => Asked::Fsstat(handle(reader)?),
            P::NFSPROC3_FSINFO => Asked::Fsinfo(handle(reader)?),
            P::NFSPROC3_PATHCONF => Asked::Pathconf(handle(reader)?),
            P::NFSPROC3_COMMIT => {
                let (file, _offset, _count) = (handle(reader)?, reader.u64()?, reader.u32()?);
                Asked::Commit(file)
            }
        })
    }

    /// Says whether the call must not happen twice.
    pub(super) fn is_once(&self) -> bool {
        matches!(
            self,
            Asked::Setattr { .. }
                | Asked::Create(..)
                | Asked::Mkdir(..)
                | Asked::Symlink(..)
                | Asked::Mknod(..)
                | Asked::Remove(_)
                | Asked::Rmdir(_)
                | Asked::Rename { .. }
                | Asked::Link { .. }
        )
    }
}

fn handle<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Flaw> {
    reader.opaque(HANDLE_BYTES_MAX, "handle")
}

fn setattr<'a>(reader: &mut Reader<'a>) -> Result<Asked<'a>, Flaw> {
    let (file, wanted) = (handle(reader)?, Wanted::read(reader)?);
    let is_guarded = reader.bool("guard follows")?;
    let guard = if is_guarded { Some((reader.u32()?, reader.u32()?)) } else { None };
    Ok(Asked::Setattr { file, wanted, guard })
}

fn write<'a>(reader: &mut Reader<'a>) -> Result<Asked<'a>, Flaw> {
    let (file, offset) = (handle(reader)?, reader.u64()?);
    let (count, stable) = (reader.u32()?, reader.u32()?);
    let data = reader.opaque(TRANSFER_BYTES_MAX as usize, "data")?;
    if stable > stable_how::FILE_SYNC as u32 {
        return Err(Flaw::Malformed("stability"));
    }
    let data = data.get(..count as usize).ok_or(Flaw::Malformed("count"))?;
    Ok(Asked::Write { file, offset, stable, data })
}

fn time(reader: &mut Reader<'_>) -> Result<Option<Timespec>, Flaw> {
    Ok(match reader.u32()? {
        0 => None,
        1 => Some(Timespec { tv_sec: 0, tv_nsec: UTIME_NOW }),
        2 => {
            let (seconds, nseconds) = (reader.u32()?, reader.u32()?);
            if nseconds >= 1_000_000_000 {
                return Err(Flaw::Malformed("nanoseconds"));
            }
            Some(Timespec { tv_sec: i64::from(seconds), tv_nsec: i64::from(nseconds) as _ })
        }
        _ => return Err(Flaw::Malformed("how a time is set")),
    })
}
