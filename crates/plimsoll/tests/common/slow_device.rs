//! A file whose reads take a known time: a FUSE file system of one file of zeros.
#![expect(clippy::disallowed_methods, reason = "the device's time is real time")]

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEntry,
    ReplyOpen, Request,
};

const SIZE_BYTES: u64 = 16 << 20;
const FILE: INodeNo = INodeNo(2);
const NAME: &str = "slow";
/// Reads that are under way at once.
const N_THREADS: usize = 16;
/// How long the kernel may remember names and attributes: longer than a test.
const REMEMBERED: Duration = Duration::from_mins(10);
/// Waits are slept but for this end, which is spun: a sleep overshoots by tens of microseconds.
const SPUN: Duration = Duration::from_micros(200);

/// The mounted file system. It is unmounted when dropped.
pub(crate) struct SlowDevice {
    session: Option<BackgroundSession>,
    folder: tempfile::TempDir,
}

impl SlowDevice {
    /// Mounts a file whose read at an offset takes what `delay` says; says why it cannot.
    pub(crate) fn mount(delay: fn(u64) -> Duration) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = Config::default();
        config.n_threads = Some(N_THREADS);
        config.mount_options = vec![MountOption::FSName("plimsoll-slow".to_owned())];
        match fuser::spawn_mount(Zeros { delay }, folder.path(), &config) {
            Ok(session) => Some(SlowDevice { session: Some(session), folder }),
            Err(error) => {
                testing::skipped!("no FUSE file system can be mounted here: {error}");
                None
            }
        }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }
}

impl Drop for SlowDevice {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            let unmounted = session.umount_and_join();
            assert!(unmounted.is_ok() || std::thread::panicking(), "{unmounted:?}");
        }
    }
}

struct Zeros {
    delay: fn(u64) -> Duration,
}

fn attributes(ino: INodeNo) -> FileAttr {
    let is_file = ino == FILE;
    FileAttr {
        ino,
        size: if is_file { SIZE_BYTES } else { 0 },
        blocks: if is_file { SIZE_BYTES / 512 } else { 0 },
        atime: SystemTime::UNIX_EPOCH,
        mtime: SystemTime::UNIX_EPOCH,
        ctime: SystemTime::UNIX_EPOCH,
        crtime: SystemTime::UNIX_EPOCH,
        kind: if is_file { FileType::RegularFile } else { FileType::Directory },
        perm: if is_file { 0o644 } else { 0o755 },
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        flags: 0,
        blksize: 4096,
    }
}

impl Filesystem for Zeros {
    fn lookup(&self, _: &Request, _parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if name == NAME {
            reply.entry(&REMEMBERED, &attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&REMEMBERED, &attributes(ino));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        // Every read comes here, none is answered by the page cache.
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let due = Instant::now() + (self.delay)(offset);
        std::thread::sleep(due.saturating_duration_since(Instant::now()).saturating_sub(SPUN));
        while Instant::now() < due {
            std::hint::spin_loop();
        }
        let rest = SIZE_BYTES.saturating_sub(offset);
        reply.data(&vec![0; u64::from(size).min(rest) as usize]);
    }
}
