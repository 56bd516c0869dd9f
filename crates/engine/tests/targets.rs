//! Looking at targets, laying files out, tables of files, and buffers.

mod common;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{BLOCK, all, file, make, one, op, options, read_write, scratch, spec, table, zeros};
use engine::mounts::{KernelUse, MountPoint};
use engine::{
    Arena, ArenaSpec, Contents, ContentsKind, EngineError, FileKind, FileTable, LayoutSpec,
    MemoryKind, OpenFlags, TablePolicy, TargetFacts, WriteRisk, claim, layout, probe,
};
use plan::EngineKind;
use plan::files::{Fadvise, Fallocate, SyncMode};
use plan::op::{BufId, FileIdx, OpKind};
use plan::verify::Memory;

const NO_STOP: fn(u64) -> ControlFlow<()> = |_| ControlFlow::Continue(());

#[test]
fn a_regular_file_is_known_with_its_file_system() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", 12_345);
    let facts = probe(&path).unwrap();
    assert_eq!((facts.kind, facts.size_bytes, facts.read_only), (FileKind::Regular, 12_345, false));
    assert!(facts.free_bytes.is_some_and(|bytes| bytes > 0));
    assert!(facts.logical_block_bytes.is_power_of_two());
    assert_eq!((facts.write_risk(), facts.contents), (None, Contents::Nothing));
}

#[test]
fn a_missing_file_says_about_its_directory() {
    let dir = scratch();
    let facts = probe(&dir.path().join("none")).unwrap();
    assert_eq!((facts.kind, facts.size_bytes), (FileKind::Missing, 0));
    assert!(facts.free_bytes.is_some());
    let error = probe(&dir.path().join("no/such/file")).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOENT));
    assert!(error.hint().unwrap().contains("does not exist: create it"));
}

#[test]
fn a_character_device_is_known() {
    let facts = probe(Path::new("/dev/null")).unwrap();
    assert_eq!((facts.kind, facts.device), (FileKind::Character, (1, 3)));
}

/// Returns the flags that this process has a file open with.
fn open_flags(path: &Path) -> i32 {
    let fds = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let mut ours = fds.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == path));
    let number = ours.next().expect("it is open").file_name();
    let facts = std::fs::read_to_string(Path::new("/proc/self/fdinfo").join(number)).unwrap();
    let flags = facts.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    i32::from_str_radix(flags.trim(), 8).unwrap()
}

#[test]
fn writes_are_as_durable_as_asked_and_no_more() {
    for (sync, bits) in
        [(SyncMode::None, 0), (SyncMode::Dsync, libc::O_DSYNC), (SyncMode::Sync, libc::O_SYNC)]
    {
        let dir = scratch();
        let path = std::fs::canonicalize(zeros(dir.path(), "data", 4096)).unwrap();
        let _table = table(vec![file(&path, OpenFlags { sync, ..read_write() })]);
        assert_eq!(open_flags(&path) & libc::O_SYNC, bits, "{sync:?}");
    }
}

/// A loop device over a file, while it lives.
struct LoopDevice(PathBuf);

impl LoopDevice {
    /// `None` where this user, or this machine, has none.
    fn new(file: &Path) -> Option<LoopDevice> {
        LoopDevice::at(file, 0)
    }

    /// The same from a byte of the file on.
    fn at(file: &Path, offset: u64) -> Option<LoopDevice> {
        let mut command = Command::new("losetup");
        command.args(["--find", "--show", "--offset", &offset.to_string()]).arg(file);
        let output = command.output().ok()?;
        let name = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| LoopDevice(PathBuf::from(name.trim())))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn a_device_is_guarded_by_what_it_holds() {
    let dir = scratch();
    let image = zeros(dir.path(), "image", 16 << 20);
    let Some(device) = LoopDevice::new(&image) else {
        testing::skipped!("no loop devices here");
        return;
    };
    let facts = probe(&device.0).unwrap();
    assert_eq!((facts.kind, facts.size_bytes), (FileKind::Block, 16 << 20));
    assert_eq!((facts.write_risk(), facts.is_held, facts.free_bytes), (None, false, None));
    assert!(facts.discards && facts.direct.is_some());
    let made = Command::new("mkfs.ext4").arg("-q").arg(&device.0).status();
    if !made.is_ok_and(|status| status.success()) {
        testing::skipped!("no mkfs.ext4 here");
        return;
    }
    let facts = probe(&device.0).unwrap();
    assert_eq!(
        facts.write_risk(),
        Some(WriteRisk::Contents("ext2/ext3/ext4", ContentsKind::FileSystem))
    );
    let mount_point = dir.path().join("at here");
    std::fs::create_dir(&mount_point).unwrap();
    let mounted = Command::new("mount").arg(&device.0).arg(&mount_point).status();
    if !mounted.is_ok_and(|status| status.success()) {
        testing::skipped!("this user may not mount");
        return;
    }
    let facts = probe(&device.0).unwrap();
    let _ = Command::new("umount").arg(&mount_point).status();
    let mounted = KernelUse::Mounted(MountPoint::here(mount_point));
    assert_eq!(facts.write_risk(), Some(WriteRisk::InUse(&mounted)));
    assert!(facts.is_held);
}

#[test]
fn a_device_below_another_is_in_use() {
    let dir = scratch();
    let image = zeros(dir.path(), "image", 32 << 20);
    let Some(below) = LoopDevice::new(&image) else {
        testing::skipped!("no loop devices here");
        return;
    };
    // None of its copies of the super block lies where the device below would have one.
    let Some(above) = LoopDevice::at(&below.0, 15 << 20) else {
        testing::skipped!("loop devices do not stack here");
        return;
    };
    let mount_point = dir.path().join("at");
    std::fs::create_dir(&mount_point).unwrap();
    let run = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    if !run(Command::new("mkfs.ext4").arg("-q").arg(&above.0)) {
        testing::skipped!("no mkfs.ext4 here");
        return;
    }
    let ext4 = WriteRisk::Contents("ext2/ext3/ext4", ContentsKind::FileSystem);
    let unmounted = |facts: TargetFacts| {
        assert_eq!(facts.write_risk(), Some(WriteRisk::Stacked(&above.0)));
        assert_eq!(facts.contents_risk(), Some(ext4), "its own head is empty");
    };
    unmounted(probe(&below.0).unwrap());
    if !run(Command::new("mount").arg(&above.0).arg(&mount_point)) {
        testing::skipped!("this user may not mount");
        return;
    }
    let facts = probe(&below.0).unwrap();
    assert!(run(Command::new("umount").arg(&mount_point)));
    let mounted = KernelUse::Mounted(MountPoint::here(mount_point));
    assert_eq!(facts.write_risk(), Some(WriteRisk::InUse(&mounted)));
    unmounted(probe(&below.0).unwrap());
    drop(above);
    let alone = probe(&below.0).unwrap();
    assert_eq!(alone.write_risk(), None);
    assert!(alone.stacked.is_empty());
}

#[test]
fn a_claimed_device_is_held_until_it_is_let_go() {
    let dir = scratch();
    let image = zeros(dir.path(), "image", 16 << 20);
    let Some(device) = LoopDevice::new(&image) else {
        testing::skipped!("no loop devices here");
        return;
    };
    let (facts, held) = claim(&device.0).unwrap();
    assert!(held.is_some() && facts.write_risk().is_none());
    let (facts, again) = claim(&device.0).unwrap();
    assert!(again.is_none());
    assert_eq!(facts.write_risk(), Some(WriteRisk::Held));
    drop(held);
    assert_eq!(probe(&device.0).unwrap().write_risk(), None);
}

#[test]
fn discards_and_transfers_work_on_a_device() {
    let dir = scratch();
    let image = zeros(dir.path(), "image", 1 << 20);
    let Some(device) = LoopDevice::new(&image) else {
        testing::skipped!("no loop devices here");
        return;
    };
    for kind in common::BYTE_ENGINES {
        for direct in [false, true] {
            let open = OpenFlags { direct, ..read_write() };
            let mut engine = make(kind, vec![file(&device.0, open)], 2);
            unsafe { engine.arena().slice_mut(BufId(0), BLOCK) }.fill(7);
            let write = op(OpKind::Write, 0, 8192, BLOCK);
            assert_eq!(one(&mut *engine, write), BLOCK as i32, "{kind:?}");
            assert_eq!(one(&mut *engine, op(OpKind::Fsync, 0, 0, 0)), 0, "{kind:?}");
            let trim = op(OpKind::Trim, 1, 8192, BLOCK);
            assert_eq!(one(&mut *engine, trim), BLOCK as i32, "{kind:?}");
            let read = op(OpKind::Read, 0, 8192, BLOCK);
            assert_eq!(one(&mut *engine, read), BLOCK as i32, "{kind:?}");
            let bytes = unsafe { engine.arena().slice(BufId(0), BLOCK) };
            assert!(bytes.iter().all(|&byte| byte == 0), "{kind:?} direct={direct}");
            engine.files().invalidate().unwrap();
        }
    }
}

#[track_caller]
fn check_layout(fallocate: Fallocate, write: bool, expected_first: u8) {
    let dir = scratch();
    let path = dir.path().join("data");
    let layout_spec =
        LayoutSpec { size_bytes: (3 << 20) + 5, from_bytes: 0, fallocate, write, fsync: true };
    let mut seen = Vec::new();
    let written_bytes = layout(
        &path,
        &layout_spec,
        |offset, bytes| bytes.fill((offset >> 20) as u8 + 1),
        &mut |bytes| {
            seen.push(bytes);
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert_eq!(written_bytes, if write { layout_spec.size_bytes } else { 0 });
    let bytes = std::fs::read(&path).unwrap();
    if write {
        assert_eq!(seen, [1 << 20, 2 << 20, 3 << 20, (3 << 20) + 5]);
        assert_eq!((bytes[0], bytes[(1 << 20) + 1], bytes[(3 << 20) + 4]), (1, 2, 4));
    }
    if fallocate != Fallocate::KeepSize {
        assert_eq!((bytes.len(), bytes[0]), ((3 << 20) + 5, expected_first));
    }
}

#[test]
fn files_are_laid_out_in_every_way() {
    for fallocate in [Fallocate::Native, Fallocate::Posix, Fallocate::None, Fallocate::Truncate] {
        check_layout(fallocate, true, 1);
    }
    check_layout(Fallocate::KeepSize, true, 1);
    check_layout(Fallocate::Native, false, 0);
    check_layout(Fallocate::Truncate, false, 0);
    check_layout(Fallocate::KeepSize, false, 0);
}

#[test]
fn a_file_is_extended_from_where_it_ended() {
    let dir = scratch();
    let path = dir.path().join("data");
    std::fs::write(&path, [7; 3000]).unwrap();
    let spec = LayoutSpec {
        size_bytes: 5000,
        from_bytes: 3000,
        fallocate: Fallocate::Native,
        write: true,
        fsync: false,
    };
    let fill = |offset, bytes: &mut [u8]| bytes.fill((offset / 1000) as u8);
    assert_eq!(layout(&path, &spec, fill, &mut { NO_STOP }).unwrap(), 2000);
    let expected = [vec![7; 3000], vec![3; 2000]].concat();
    assert!(std::fs::read(&path).unwrap() == expected);
}

#[test]
fn a_layout_that_is_stopped_says_how_far_it_came() {
    let dir = scratch();
    let spec = LayoutSpec {
        size_bytes: 8 << 20,
        from_bytes: 0,
        fallocate: Fallocate::None,
        write: true,
        fsync: false,
    };
    let stop = &mut |bytes| {
        if bytes >= 2 << 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert_eq!(layout(&dir.path().join("data"), &spec, |_, _| {}, stop).unwrap(), 2 << 20);
}

#[test]
fn a_file_that_does_not_fit_is_refused_before_it_is_written() {
    let dir = scratch();
    let path = dir.path().join("data");
    let spec = LayoutSpec {
        size_bytes: 1 << 60,
        from_bytes: 0,
        fallocate: Fallocate::Native,
        write: true,
        fsync: false,
    };
    let error = layout(&path, &spec, |_, _| {}, &mut { NO_STOP }).unwrap_err();
    assert!(matches!(error, EngineError::NoSpace { needed_bytes, .. } if needed_bytes == 1 << 60));
    assert!(!path.exists());
}

#[test]
fn a_default_reservation_that_does_not_fit_is_left_out() {
    let dir = scratch();
    let path = dir.path().join("data");
    let facts = engine::probe(&path).unwrap();
    let size_bytes = facts.free_bytes.expect("a file system") + (1 << 30);
    let fallocate = Fallocate::Native;
    let spec = LayoutSpec { size_bytes, from_bytes: 0, fallocate, write: false, fsync: false };
    assert_eq!(layout(&path, &spec, |_, _| {}, &mut { NO_STOP }).unwrap(), 0);
    let made = engine::probe(&path).unwrap();
    assert_eq!((made.size_bytes, made.allocated_bytes), (size_bytes, 0));
}

#[track_caller]
fn check_open(path: &Path, open: OpenFlags, errno: i32, hint: &str) {
    let error = FileTable::new(vec![file(path, open)], TablePolicy::default()).unwrap_err();
    assert_eq!(error.errno(), Some(errno), "{error}");
    let found = error.hint().unwrap_or_default();
    assert!(found.contains(hint), "{error}: {found}");
}

#[test]
fn files_that_cannot_be_opened_come_with_a_remedy() {
    let dir = scratch();
    check_open(&dir.path().join("none"), OpenFlags::default(), libc::ENOENT, "check the name");
    check_open(&dir.path().join("a/b"), OpenFlags::default(), libc::ENOENT, "create it");
    check_open(dir.path(), read_write(), libc::EISDIR, "directory=");
    let direct = OpenFlags { direct: true, ..OpenFlags::default() };
    check_open(Path::new("/proc/self/status"), direct, libc::EINVAL, "direct=0");
    let error = FileTable::new(vec![file(Path::new("a\0b"), read_write())], TablePolicy::default());
    assert!(matches!(error, Err(EngineError::BadPath { .. })));
}

#[test]
fn a_limited_table_keeps_what_is_used() {
    let dir = scratch();
    let specs: Vec<_> = (0..4)
        .map(|i| {
            let create = OpenFlags { create: true, ..read_write() };
            file(&dir.path().join(format!("f{i}")), create)
        })
        .collect();
    let policy = TablePolicy { n_open: Some(2), lazy: true, ..TablePolicy::default() };
    let mut files = FileTable::new(specs, policy).unwrap();
    assert_eq!(files.n_open(), 0);
    for i in [0, 1, 2, 3, 0, 0, 3] {
        assert!(files.fd(FileIdx(i)).is_ok());
        assert!(files.n_open() <= 2);
    }
    files.close_all().unwrap();
    assert_eq!(files.n_open(), 0);
    assert!(files.fd(FileIdx(1)).is_ok());
    files.unlink_all().unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn cache_calls_reach_all_files() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", (2 << 20) + 1);
    let mut files = table(vec![file(&path, read_write())]);
    let mut read_bytes = 0;
    files
        .pre_read(&mut |bytes| {
            read_bytes = bytes;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(read_bytes, (2 << 20) + 1);
    files.invalidate().unwrap();
    for fadvise in [Fadvise::ByAccess, Fadvise::Random, Fadvise::Sequential, Fadvise::NoReuse] {
        files.advise(fadvise, true).unwrap();
    }
    files.sync_all().unwrap();
    files.sync_file_systems().unwrap();
}

#[track_caller]
fn check_arena(memory: Memory, align_bytes: u32, buffer_bytes: u32, expected_align: usize) {
    let n_buffers = 5;
    let spec = ArenaSpec { n_buffers, buffer_bytes, align_bytes, memory, ..ArenaSpec::default() };
    let mut arena = match Arena::new(&spec) {
        Err(EngineError::Memory { .. })
            if matches!(spec.memory, Memory::Mmap { huge: true, .. }) =>
        {
            testing::skipped!("no huge pages are reserved");
            return;
        }
        other => other.unwrap(),
    };
    for i in 0..5 {
        unsafe { arena.slice_mut(BufId(i), buffer_bytes) }.fill(i as u8);
    }
    for i in 0..5 {
        let bytes = unsafe { arena.slice(BufId(i), buffer_bytes) };
        assert_eq!(bytes.as_ptr() as usize % expected_align, 0);
        assert!(bytes.iter().all(|&byte| byte == i as u8));
    }
}

#[test]
fn buffers_are_apart_and_aligned_in_every_kind_of_memory() {
    let mapped = |huge, shared| Memory::Mmap { huge, shared, file: None };
    check_arena(Memory::Malloc, 0, 4096, 4096);
    check_arena(Memory::Malloc, 0, 512, 512);
    check_arena(Memory::Malloc, 0, 1, 512);
    check_arena(Memory::Malloc, 0, 6000, 4096);
    check_arena(Memory::Malloc, 512, 4096, 512);
    check_arena(Memory::Malloc, 65536, 4096, 65536);
    check_arena(Memory::Malloc, 4 << 20, 4096, 4 << 20);
    check_arena(Memory::Shm { huge: false }, 0, 4096, 4096);
    check_arena(mapped(false, true), 0, 4096, 4096);
    check_arena(mapped(true, false), 0, 4096, 4096);
    let dir = scratch();
    let file = dir.path().join("buffers").to_str().unwrap().to_owned();
    check_arena(Memory::Mmap { huge: false, shared: true, file: Some(file) }, 0, 4096, 4096);
}

/// Returns how many pages of this process were touched for the first time so far.
fn n_faults() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the structure is a valid destination, and filled where the call returns 0.
    let usage = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    usage.ru_minflt
}

#[test]
fn buffers_that_no_operation_uses_take_no_pages() {
    let n_touched = |is_used| {
        let before = n_faults();
        let spec = ArenaSpec { n_buffers: 4000, is_used, ..ArenaSpec::default() };
        let mut arena = Arena::new(&spec).unwrap();
        let n_pages = n_faults() - before;
        // All the same there are bytes, should somebody look.
        unsafe { arena.slice_mut(BufId(3999), 4096) }.fill(7);
        assert_eq!(unsafe { arena.slice(BufId(3999), 4096) }, [7; 4096]);
        n_pages
    };
    assert!(n_touched(false) < 100);
    // With huge pages there are fewer faults than pages.
    assert!(n_touched(true) >= 4);
}

#[test]
fn buffers_that_the_kernel_will_not_register_still_work() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", u64::from(BLOCK));
    let backing = dir.path().join("buffers").to_str().unwrap().to_owned();
    let memory = Memory::Mmap { huge: false, shared: true, file: Some(backing) };
    let arena = Arena::new(&ArenaSpec { n_buffers: 2, memory, ..ArenaSpec::default() }).unwrap();
    assert_eq!(arena.memory_kind(), MemoryKind::File);
    let files = table(vec![file(&path, read_write())]);
    let mut engine = engine::build(&spec(EngineKind::Uring), files, arena, options(2)).unwrap();
    let reads = [op(OpKind::Read, 0, 0, BLOCK), op(OpKind::Read, 1, 0, BLOCK)];
    for done in all(&mut *engine, &reads) {
        assert_eq!(done.result, BLOCK as i32);
    }
}

#[test]
#[should_panic(expected = "outside of the arena")]
fn a_buffer_outside_of_the_arena_is_a_programmer_error() {
    let arena = Arena::new(&ArenaSpec::default()).unwrap();
    unsafe { arena.slice(BufId(1), 1) };
}
