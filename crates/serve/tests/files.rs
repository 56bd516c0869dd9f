//! What a file system must do, on a real mount.

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;

use common::{Mounted, design, disk, fast};
use rustix::fs::{FallocateFlags, RenameFlags, Timespec, Timestamps};
use rustix::io::Errno;
use volume::CacheMode;

const MIB: u64 = 1 << 20;

#[test]
fn files_behave() {
    let Some(mounted) = Mounted::new(fast(64 * MIB, CacheMode::None)) else { return };
    let at = |name: &str| mounted.join(name);

    // Create, write, read back, append.
    fs::write(at("a"), b"hello").unwrap();
    assert_eq!(fs::read(at("a")).unwrap(), b"hello");
    let mut appending = OpenOptions::new().append(true).open(at("a")).unwrap();
    appending.write_all(b" world").unwrap();
    assert_eq!(fs::read_to_string(at("a")).unwrap(), "hello world");
    assert_eq!(fs::metadata(at("a")).unwrap().len(), 11);
    assert_eq!(
        OpenOptions::new().write(true).create_new(true).open(at("a")).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );

    // Truncate both ways; what comes back is zero.
    let file = OpenOptions::new().read(true).write(true).open(at("a")).unwrap();
    file.set_len(5).unwrap();
    file.set_len(8).unwrap();
    assert_eq!(fs::read(at("a")).unwrap(), b"hello\0\0\0");

    // Rename over, with the kernel's flags.
    fs::write(at("b"), b"b").unwrap();
    let rename = |from: &str, to: &str, flags| {
        rustix::fs::renameat_with(rustix::fs::CWD, at(from), rustix::fs::CWD, at(to), flags)
    };
    assert_eq!(rename("a", "b", RenameFlags::NOREPLACE), Err(Errno::EXIST));
    rename("a", "b", RenameFlags::EXCHANGE).unwrap();
    assert_eq!(fs::read(at("a")).unwrap(), b"b");
    fs::rename(at("a"), at("b")).unwrap();
    assert_eq!(fs::read(at("b")).unwrap(), b"b");
    assert!(!at("a").exists());

    // Hard and symbolic links.
    fs::hard_link(at("b"), at("c")).unwrap();
    assert_eq!(fs::metadata(at("c")).unwrap().nlink(), 2);
    symlink("c", at("s")).unwrap();
    assert_eq!(fs::read(at("s")).unwrap(), b"b");
    assert_eq!(fs::read_link(at("s")).unwrap().to_str(), Some("c"));

    // Owner, permissions, times.
    fs::set_permissions(at("c"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(fs::metadata(at("b")).unwrap().permissions().mode() & 0o7777, 0o640);
    let time = Timespec { tv_sec: 1_000_000_000, tv_nsec: 123 };
    let times = Timestamps { last_access: time, last_modification: time };
    rustix::fs::utimensat(rustix::fs::CWD, at("c"), &times, rustix::fs::AtFlags::empty()).unwrap();
    let found = fs::metadata(at("c")).unwrap();
    assert_eq!((found.mtime(), found.mtime_nsec()), (1_000_000_000, 123));

    // A file that is deleted while it is open stays until it is closed.
    let mut open = File::open(at("b")).unwrap();
    fs::remove_file(at("b")).unwrap();
    fs::remove_file(at("c")).unwrap();
    let mut text = String::new();
    open.read_to_string(&mut text).unwrap();
    assert_eq!(text, "b");
}

/// The kernel has no say in it and must not answer from what it remembers.
#[test]
fn a_write_by_another_user_is_seen_to_take_setuid_away_at_once() {
    if !rustix::process::geteuid().is_root() {
        testing::skipped!("only root can write as another user");
        return;
    }
    let Some(mounted) = Mounted::new(fast(64 * MIB, CacheMode::None)) else { return };
    fs::set_permissions(mounted.folder().path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mode = |name: &str| fs::metadata(mounted.join(name)).unwrap().mode() & 0o7777;
    for lent in [0o4777, 0o2777, 0o6777] {
        fs::write(mounted.join("lent"), b"").unwrap();
        fs::set_permissions(mounted.join("lent"), fs::Permissions::from_mode(lent)).unwrap();
        assert_eq!(mode("lent"), lent);
        let mut other = Command::new("/bin/sh");
        other.args(["-c", "echo x >> \"$0\""]).arg(mounted.join("lent"));
        assert!(other.uid(65_534).gid(65_534).status().unwrap().success());
        assert_eq!(mode("lent"), 0o777, "was {lent:o}");
    }
}

#[test]
fn folders_behave() {
    let Some(mounted) = Mounted::new(fast(64 * MIB, CacheMode::None)) else { return };
    let at = |name: &str| mounted.join(name);
    fs::write(at("a"), b"a").unwrap();
    fs::create_dir(at("d")).unwrap();
    fs::write(at("d/x"), b"x").unwrap();
    assert_eq!(fs::remove_dir(at("d")).unwrap_err().kind(), ErrorKind::DirectoryNotEmpty);
    assert_eq!(fs::read(at("d/none")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(fs::read(at("a/none")).unwrap_err().kind(), ErrorKind::NotADirectory);
    let mut names: Vec<_> =
        fs::read_dir(mounted.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "d"]);
    fs::remove_file(at("d/x")).unwrap();
    fs::remove_dir(at("d")).unwrap();
}

#[test]
fn space_is_what_was_provisioned() {
    let Some(mounted) = Mounted::new(fast(8 * MIB, CacheMode::None)) else { return };
    let room = rustix::fs::statvfs(mounted.path()).unwrap();
    assert_eq!(room.f_blocks * room.f_frsize, 8 * MIB);
    assert_eq!(room.f_bfree, room.f_blocks);

    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(true).read(true).write(true);
    let file = options.open(mounted.join("big")).unwrap();
    file.write_all_at(&vec![7; 6 << 20], 0).unwrap();
    // What is there already may be written again; more than is left may not.
    file.write_all_at(&vec![8; 6 << 20], 0).unwrap();
    let error = file.write_all_at(&vec![9; 3 << 20], 6 * MIB).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    let room = rustix::fs::statvfs(mounted.path()).unwrap();
    assert!(room.f_bfree * room.f_frsize <= 2 * MIB);

    // Holes cost nothing, and a hole that is made gives room back.
    file.set_len(1 << 40).unwrap();
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&file, hole, 0, 4 * MIB).unwrap();
    file.write_all_at(&vec![9; 3 << 20], 512 * MIB).unwrap();
    let mut start = [1; 16];
    file.read_exact_at(&mut start, 0).unwrap();
    assert_eq!(start, [0; 16]);
    assert_eq!(rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(0)), Ok(4 * MIB));
    let reserve = rustix::fs::fallocate(&file, FallocateFlags::empty(), 600 * MIB, 8 * MIB);
    assert_eq!(reserve, Err(Errno::NOSPC));

    drop(file);
    fs::remove_file(mounted.join("big")).unwrap();
    fs::write(mounted.join("next"), vec![1; 7 << 20]).unwrap();
}

#[test]
fn several_volumes_lie_side_by_side() {
    let mut volumes = vec![
        disk(100_000, 1 << 30, 4 * MIB, CacheMode::None),
        disk(100_000, 1 << 30, 8 * MIB, CacheMode::None),
    ];
    volumes[1].mount = "/mnt/log".to_owned();
    let Some(mounted) = Mounted::new(design(volumes)) else { return };
    fs::write(mounted.join("data/f"), b"data").unwrap();
    fs::write(mounted.join("mnt/log/f"), b"log").unwrap();
    let size = |name: &str| {
        let room = rustix::fs::statvfs(mounted.join(name)).unwrap();
        room.f_blocks * room.f_frsize
    };
    assert_eq!([size("data"), size("mnt/log"), size("")], [4 * MIB, 8 * MIB, 12 * MIB]);
    // Each is a device of its own, and the folders above them belong to none.
    let moved = fs::rename(mounted.join("data/f"), mounted.join("mnt/log/g")).unwrap_err();
    assert_eq!(moved.kind(), ErrorKind::CrossesDevices);
    assert_eq!(
        fs::write(mounted.join("f"), b"").unwrap_err().kind(),
        ErrorKind::ReadOnlyFilesystem
    );
    assert!(fs::remove_dir(mounted.join("data")).is_err());
}

#[test]
fn data_are_there_when_mounted_again() {
    let Some(mounted) = Mounted::new(fast(64 * MIB, CacheMode::ReadWrite)) else { return };
    fs::create_dir(mounted.join("d")).unwrap();
    fs::write(mounted.join("d/f"), b"never flushed").unwrap();
    let folder = mounted.folder();
    drop(mounted);
    let Some(mounted) = Mounted::over(fast(64 * MIB, CacheMode::ReadWrite), folder) else { return };
    assert_eq!(fs::read(mounted.join("d/f")).unwrap(), b"never flushed");
}

#[test]
fn a_copied_file_is_the_same() {
    let Some(mounted) = Mounted::new(fast(64 * MIB, CacheMode::None)) else { return };
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(mounted.join("f"))
        .unwrap();
    file.write_all(&[1; 8192]).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    // cp uses the extent and copy calls of the kernel, which fall back where there are none.
    let copied = std::process::Command::new("cp")
        .arg(mounted.join("f"))
        .arg(mounted.join("g"))
        .status()
        .unwrap();
    assert!(copied.success());
    assert_eq!(fs::read(mounted.join("g")).unwrap(), vec![1; 8192]);
}

/// A shared mapping: what is stored there and synced is what others read, and it lasts.
#[test]
fn a_mapped_file_and_a_read_file_are_one() {
    let design = || fast(64 * MIB, CacheMode::ReadWrite);
    let Some(mounted) = Mounted::new(design()) else { return };
    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(true).read(true).write(true);
    let file = options.open(mounted.join("f")).unwrap();
    file.write_all_at(&[1; 3 * PAGE], 0).unwrap();
    let Some(mut mapping) = Mapping::new(&file) else {
        testing::skipped!("this kernel maps no file with direct I/O (6.6 or newer does)");
        return;
    };
    assert_eq!(mapping.bytes(), [1; 3 * PAGE]);
    mapping.bytes()[PAGE - 10..PAGE + 10].fill(2);
    mapping.sync();
    let mut expected = [1; 3 * PAGE];
    expected[PAGE - 10..PAGE + 10].fill(2);
    let mut found = [0; 3 * PAGE];
    file.read_exact_at(&mut found, 0).unwrap();
    assert_eq!(found, expected);

    // What was synced stays in a crash; what only the mapping had goes.
    mapping.bytes()[0] = 9;
    let report = mounted.machine.crash();
    mounted.forgetter.forget(&mounted.machine);
    assert_eq!((report.lost, report.error), (vec![], None));
    mounted.machine.restart();
    drop(mapping);
    drop(file);
    let folder = mounted.folder();
    drop(mounted);
    let Some(mounted) = Mounted::over(design(), folder) else { return };
    let found = fs::read(mounted.join("f")).unwrap();
    assert_eq!(found[1..], expected[1..]);
}

const PAGE: usize = 4096;

/// Three pages of a file in memory, shared.
struct Mapping(*mut libc::c_void);

impl Mapping {
    fn new(file: &File) -> Option<Self> {
        let (protection, fd) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        let at = std::ptr::null_mut();
        // SAFETY: a new mapping, where the kernel likes.
        let start = unsafe { libc::mmap(at, 3 * PAGE, protection, libc::MAP_SHARED, fd, 0) };
        (start != libc::MAP_FAILED).then_some(Mapping(start))
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is this long and lives as long as `self`; no other code stores there.
        unsafe { std::slice::from_raw_parts_mut(self.0.cast(), 3 * PAGE) }
    }

    fn sync(&mut self) {
        // SAFETY: the range is the mapping.
        assert_eq!(unsafe { libc::msync(self.0, 3 * PAGE, libc::MS_SYNC) }, 0);
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping, of which no slice is left.
        unsafe { libc::munmap(self.0, 3 * PAGE) };
    }
}
