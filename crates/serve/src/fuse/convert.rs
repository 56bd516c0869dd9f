//! Our types as the protocol has them, and back.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, INodeNo, TimeOrNow};
use rustix::fs::{FileType, Stat, Timespec, UTIME_NOW};
use rustix::io::Errno;

/// Turns an error number into the protocol's.
pub(super) fn error(error: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(error.raw_os_error())
}

/// Turns a kind of file into the protocol's.
pub(super) fn kind(kind: FileType) -> fuser::FileType {
    match kind {
        FileType::Directory => fuser::FileType::Directory,
        FileType::Symlink => fuser::FileType::Symlink,
        FileType::Fifo => fuser::FileType::NamedPipe,
        FileType::Socket => fuser::FileType::Socket,
        FileType::CharacterDevice => fuser::FileType::CharDevice,
        FileType::BlockDevice => fuser::FileType::BlockDevice,
        FileType::RegularFile | FileType::Unknown => fuser::FileType::RegularFile,
    }
}

/// Turns attributes into the protocol's, under the number that the kernel knows.
pub(super) fn attributes(number: u64, stat: &Stat) -> FileAttr {
    FileAttr {
        ino: INodeNo(number),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        blocks: u64::try_from(stat.st_blocks).unwrap_or(0),
        atime: time(stat.st_atime, stat.st_atime_nsec),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        perm: (stat.st_mode & 0o7777) as u16,
        nlink: u32::try_from(stat.st_nlink).unwrap_or(u32::MAX),
        uid: stat.st_uid,
        gid: stat.st_gid,
        rdev: stat.st_rdev as u32,
        blksize: 4096,
        flags: 0,
    }
}

fn time(seconds: i64, nanoseconds: u64) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole =
        if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    whole.unwrap_or(UNIX_EPOCH) + Duration::from_nanos(nanoseconds)
}

/// Turns a time to be set into the system's.
pub(super) fn timespec(wanted: TimeOrNow) -> Timespec {
    let TimeOrNow::SpecificTime(time) = wanted else {
        return Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    };
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => Timespec {
            tv_sec: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(after.subsec_nanos()),
        },
        Err(before) => {
            let before = before.duration();
            let seconds = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
            match i64::from(before.subsec_nanos()) {
                0 => Timespec { tv_sec: -seconds, tv_nsec: 0 },
                rest => Timespec { tv_sec: -seconds - 1, tv_nsec: 1_000_000_000 - rest },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: i64, nanoseconds: i64) {
        let there = time(seconds, nanoseconds as u64);
        let back = timespec(TimeOrNow::SpecificTime(there));
        assert_eq!((back.tv_sec, back.tv_nsec), (seconds, nanoseconds));
    }

    #[test]
    fn times_come_back_as_they_were() {
        check(0, 0);
        check(1_700_000_000, 123_456_789);
        check(-1, 0);
        check(-1, 999_999_999);
        check(-2_000_000_000, 1);
    }
}
