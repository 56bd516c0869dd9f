//! Attributes of files as NFS sends them, and errors as it numbers them.

use nfs3_types::nfs3::{
    ACCESS3_DELETE, ACCESS3_EXECUTE, ACCESS3_EXTEND, ACCESS3_LOOKUP, ACCESS3_MODIFY, ACCESS3_READ,
    fattr3, ftype3, nfstime3, specdata3,
};
use rustix::fs::{FileType, Stat, major, minor};
use rustix::io::Errno;

use super::caller::Caller;
use crate::tree::Node;

/// Bytes of a sector that `stat` counts in.
const SECTOR_BYTES: u64 = 512;

/// Returns a file's attributes. `number` is the one it is known by.
pub(super) fn of(number: u64, node: &Node, stat: &Stat) -> fattr3 {
    let time = |seconds, nseconds| nfstime3 { seconds: seconds as u32, nseconds: nseconds as u32 };
    fattr3 {
        type_: kind(node.kind),
        mode: stat.st_mode & 0o7777,
        nlink: stat.st_nlink as u32,
        uid: stat.st_uid,
        gid: stat.st_gid,
        size: stat.st_size as u64,
        used: stat.st_blocks as u64 * SECTOR_BYTES,
        rdev: specdata3 { specdata1: major(stat.st_rdev), specdata2: minor(stat.st_rdev) },
        fsid: node.volume.map_or(0, |volume| u64::from(volume) + 1),
        fileid: number,
        atime: time(stat.st_atime, stat.st_atime_nsec as i64),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec as i64),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec as i64),
    }
}

fn kind(kind: FileType) -> ftype3 {
    match kind {
        FileType::Directory => ftype3::NF3DIR,
        FileType::Symlink => ftype3::NF3LNK,
        FileType::BlockDevice => ftype3::NF3BLK,
        FileType::CharacterDevice => ftype3::NF3CHR,
        FileType::Socket => ftype3::NF3SOCK,
        FileType::Fifo => ftype3::NF3FIFO,
        _ => ftype3::NF3REG,
    }
}

/// Returns which of the asked kinds of access a caller has.
pub(super) fn access(asked: u32, caller: &Caller, stat: &Stat) -> u32 {
    let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let bits = match caller {
        Caller { uid: 0, .. } => 0o6 | u32::from(is_folder || stat.st_mode & 0o111 != 0),
        Caller { uid, .. } if *uid == stat.st_uid => stat.st_mode >> 6,
        caller if caller.is_in(stat.st_gid) => stat.st_mode >> 3,
        _ => stat.st_mode,
    };
    let mut granted = 0;
    if bits & 0o4 != 0 {
        granted |= ACCESS3_READ;
    }
    if bits & 0o2 != 0 {
        granted |= ACCESS3_MODIFY | ACCESS3_EXTEND;
        granted |= if is_folder { ACCESS3_DELETE } else { 0 };
    }
    if bits & 0o1 != 0 {
        granted |= if is_folder { ACCESS3_LOOKUP } else { ACCESS3_EXECUTE };
    }
    asked & granted
}

/// Returns the number that NFS has for an error (RFC 1813, section 2.6).
pub(super) fn status(error: Errno) -> u32 {
    const IO: u32 = 5;
    match error {
        Errno::NAMETOOLONG => 63,
        Errno::NOTEMPTY => 66,
        Errno::DQUOT => 69,
        Errno::STALE => 70,
        Errno::OPNOTSUPP | Errno::NOSYS => 10_004,
        // Something else has no number of its own.
        Errno::PERM
        | Errno::NOENT
        | Errno::NXIO
        | Errno::ACCESS
        | Errno::EXIST
        | Errno::XDEV
        | Errno::NODEV
        | Errno::NOTDIR
        | Errno::ISDIR
        | Errno::INVAL
        | Errno::FBIG
        | Errno::NOSPC
        | Errno::ROFS
        | Errno::MLINK => error.raw_os_error() as u32,
        _ => IO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mode: u32, (uid, gid): (u32, u32), expected: u32) {
        let dir = tempfile::tempdir().expect("a folder");
        // Owner, group and mode are set on the copy: only root could set them on a file.
        let mut stat = rustix::fs::stat(dir.path()).expect("it is there");
        (stat.st_mode, stat.st_uid, stat.st_gid) = (mode, 10, 20);
        let caller = Caller { uid, gid, groups: [gid; 16] };
        assert_eq!(access(0x3f, &caller, &stat), expected);
    }

    #[test]
    fn access_follows_owner_group_and_others() {
        let (read, write) = (ACCESS3_READ, ACCESS3_MODIFY | ACCESS3_EXTEND);
        check(0o100_640, (10, 1), read | write);
        check(0o100_640, (11, 20), read);
        check(0o100_640, (11, 21), 0);
        check(0o100_640, (0, 0), read | write);
        check(0o100_750, (0, 0), read | write | ACCESS3_EXECUTE);
        check(0o040_755, (11, 21), read | ACCESS3_LOOKUP);
        check(0o040_700, (10, 21), read | write | ACCESS3_LOOKUP | ACCESS3_DELETE);
    }
}
