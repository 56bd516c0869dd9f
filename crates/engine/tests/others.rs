//! Engines that move no bytes, engines that stand in for others, and mappings that break.

mod common;

use common::{
    BLOCK, all, arena, file, make, make_with, one, op, options, read_write, scratch, spec, table,
    zeros,
};
use engine::{
    BuildOptions, Engine, EngineError, FileSpec, FileTable, OpenFlags, TablePolicy, Wait,
};
use plan::IoPriority;
use plan::job::StatCall;
use plan::op::{BufId, FileIdx, Op, OpKind};
use plan::{EngineKind, EngineSpec, NameOp, SpaceCall};

#[test]
fn null_completes_everything_at_once_in_full() {
    let mut engine = make(EngineKind::Null, Vec::new(), 64);
    let ops: Vec<Op> = (0..64).map(|slot| op(OpKind::Read, slot, 0, slot * 512)).collect();
    let mut done = Vec::with_capacity(64);
    engine.exchange(&ops, Wait::POLL, &mut done).unwrap();
    let expected: Vec<(u32, i32)> = (0..64).map(|slot| (slot, slot as i32 * 512)).collect();
    assert_eq!(done.iter().map(|done| (done.slot, done.result)).collect::<Vec<_>>(), expected);
}

#[test]
fn an_interface_that_is_refused_names_the_other_one() {
    let error = EngineError::Unavailable {
        interface: "io_uring",
        instead: "libaio",
        reason: "it is refused".to_owned(),
    };
    assert_eq!(error.hint().as_deref(), Some("use the engine `libaio` or `psync`"));
}

#[test]
fn aio_stands_in_for_a_forbidden_uring_and_says_so() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", u64::from(BLOCK));
    let files = table(vec![file(&path, read_write())]);
    let options = BuildOptions { forbid_uring: true, ..options(2) };
    let mut engine = make_with(&spec(EngineKind::Uring), files, options);
    assert_eq!(engine.name(), "libaio (in place of io_uring: it is not to be used)");
    assert!(engine.stands_in());
    assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 0, BLOCK)), BLOCK as i32);
}

/// Makes the calling thread, and only it, fail to set up io_uring with EPERM.
fn forbid_uring() {
    let jump = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    // Loads the number of the call; all but `io_uring_setup` are allowed.
    let mut filter = [
        jump((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, 0, 0, 0),
        jump(
            (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            libc::SYS_io_uring_setup as u32,
            0,
            1,
        ),
        jump(libc::BPF_RET as u16, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
        jump(libc::BPF_RET as u16, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter outlive the calls.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program), 0);
    }
}

#[test]
fn aio_stands_in_where_the_kernel_forbids_uring() {
    let in_a_container = std::thread::spawn(|| {
        forbid_uring();
        let dir = scratch();
        let path = zeros(dir.path(), "data", u64::from(BLOCK));
        let mut engine = make(EngineKind::Uring, vec![file(&path, read_write())], 2);
        assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 0, BLOCK)), BLOCK as i32);
        engine.name().to_owned()
    });
    assert_eq!(
        in_a_container.join().unwrap(),
        "libaio (in place of io_uring: forbidden by the sysctl kernel.io_uring_disabled or a \
         seccomp filter: EPERM)"
    );
}

type Switch = fn(&mut EngineSpec);

#[test]
fn uring_works_with_each_of_its_switches() {
    let switches: [(&str, Switch); 7] = [
        ("buffers", |spec| spec.fixed_buffers = Some(false)),
        ("files", |spec| spec.registered_files = Some(false)),
        ("neither", |spec| {
            spec.fixed_buffers = Some(false);
            spec.registered_files = Some(false);
        }),
        ("async", |spec| spec.force_async = 2),
        ("kernel thread", |spec| spec.sq_poll = true),
        ("poll", |spec| spec.poll = true),
        ("uncached", |spec| spec.uncached = true),
    ];
    for (what, switch) in switches {
        let dir = scratch();
        let path = zeros(dir.path(), "data", 16 * u64::from(BLOCK));
        let mut spec = spec(EngineKind::Uring);
        switch(&mut spec);
        let mut engine = make_with(&spec, table(vec![file(&path, read_write())]), options(16));
        for slot in 0..16 {
            unsafe { engine.arena().slice_mut(BufId(slot), BLOCK) }.fill(slot as u8 + 1);
        }
        let writes: Vec<Op> =
            (0..16).map(|slot| op(OpKind::Write, slot, u64::from(slot * BLOCK), BLOCK)).collect();
        let results: Vec<i32> = all(&mut *engine, &writes).iter().map(|done| done.result).collect();
        if results.iter().all(|&result| result == -libc::EOPNOTSUPP) {
            testing::skipped!("the file system does not know a flag");
            continue;
        }
        assert_eq!(results, [BLOCK as i32; 16], "{what}");
        drop(engine);
        let bytes = std::fs::read(&path).unwrap();
        let blocks: Vec<u8> = bytes.chunks(BLOCK as usize).map(|block| block[0]).collect();
        assert_eq!(blocks, (1..=16).collect::<Vec<u8>>(), "{what}");
    }
}

/// The kernel has no class 7: its refusal shows that it was called.
#[test]
fn an_operations_priority_reaches_the_kernel() {
    for kind in [EngineKind::Uring, EngineKind::Aio] {
        let dir = scratch();
        let path = zeros(dir.path(), "data", u64::from(BLOCK));
        let check = |engine: &mut dyn Engine, priority, expected: i32| {
            for op_kind in [OpKind::Read, OpKind::Write] {
                let op = Op { priority, ..op(op_kind, 0, 0, BLOCK) };
                assert_eq!(one(engine, op), expected, "{kind:?} {priority:?}");
            }
        };
        let mut engine = make(kind, vec![file(&path, read_write())], 2);
        check(&mut *engine, IoPriority::new(2, 3, 0), BLOCK as i32);
        check(&mut *engine, IoPriority::new(7, 0, 0), -libc::EINVAL);
        check(&mut *engine, IoPriority::NONE, BLOCK as i32);
    }
    let dir = scratch();
    let path = zeros(dir.path(), "data", u64::from(BLOCK));
    let usual = BuildOptions { priority: IoPriority::new(7, 0, 0), ..options(2) };
    let table = table(vec![file(&path, read_write())]);
    let mut engine = make_with(&spec(EngineKind::Uring), table, usual);
    if engine.name() == "io_uring" {
        assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 0, BLOCK)), -libc::EINVAL);
    }
}

#[test]
fn a_wait_ends_when_its_time_is_up() {
    for kind in [EngineKind::Uring, EngineKind::Aio] {
        let dir = scratch();
        let pipe = dir.path().join("pipe");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the name ends with NUL and outlives the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        if kind == EngineKind::Aio {
            // Native AIO reads a pipe while it is submitted, so nothing is ever left to wait for.
            continue;
        }
        // Open for both, a pipe has a writer and stays empty: the read cannot complete.
        let mut engine = make(kind, vec![file(&pipe, read_write())], 2);
        let mut done = Vec::with_capacity(2);
        let wait = Wait { min: 1, timeout_ns: Some(2_000_000) };
        let read = op(OpKind::Read, 0, 0, 16);
        engine.exchange(&[read], wait, &mut done).unwrap();
        engine.exchange(&[], wait, &mut done).unwrap();
        assert_eq!(done, [], "{kind:?}");
        // A write from the same ring ends it.
        let write = op(OpKind::Write, 1, 0, 16);
        let both = Wait { min: 2, timeout_ns: None };
        engine.exchange(&[write], both, &mut done).unwrap();
        assert_eq!(done.iter().map(|done| done.result).collect::<Vec<_>>(), [16, 16], "{kind:?}");
    }
}

#[test]
fn registered_files_follow_a_table_that_changes() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", u64::from(BLOCK));
    let open = OpenFlags { create: true, ..read_write() };
    for kind in [EngineKind::Uring, EngineKind::Mmap] {
        std::fs::write(&path, vec![1_u8; BLOCK as usize]).unwrap();
        let mut engine = make(kind, vec![file(&path, open)], 1);
        assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 0, BLOCK)), BLOCK as i32);
        engine.files().unlink_all().unwrap();
        engine.files().open_all(&mut || std::ops::ControlFlow::Continue(())).unwrap();
        std::fs::write(&path, vec![2_u8; BLOCK as usize]).unwrap();
        assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 0, BLOCK)), BLOCK as i32);
        assert_eq!(unsafe { engine.arena().slice(BufId(0), 1) }, [2], "{kind:?}");
    }
}

#[test]
fn fallocate_reserves_and_gives_back() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", 0);
    let mut engine =
        make(EngineKind::Space(SpaceCall::Fallocate), vec![file(&path, read_write())], 1);
    let size = || std::fs::metadata(&path).unwrap().len();
    let result = one(&mut *engine, op(OpKind::Read, 0, 0, 65536));
    if result == -libc::EOPNOTSUPP {
        testing::skipped!("this file system reserves no space");
        return;
    }
    assert_eq!((result, size()), (65536, 0));
    assert_eq!(one(&mut *engine, op(OpKind::Write, 0, 65536, 65536)), 65536);
    assert_eq!(size(), 131_072);
    assert_eq!(one(&mut *engine, op(OpKind::Trim, 0, 0, 65536)), 65536);
}

#[test]
fn ftruncate_sets_the_size_to_where_a_write_begins() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", 0);
    let mut engine =
        make(EngineKind::Space(SpaceCall::Ftruncate), vec![file(&path, read_write())], 1);
    assert_eq!(one(&mut *engine, op(OpKind::Write, 0, 8192, BLOCK)), BLOCK as i32);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 8192);
    assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 0, BLOCK)), -libc::EOPNOTSUPP);
}

/// Runs a file engine over five names and returns the results.
fn over_five(kind: EngineKind, dir: &std::path::Path) -> Vec<i32> {
    let specs: Vec<FileSpec> =
        (0..5).map(|i| file(&dir.join(format!("n{i}")), read_write())).collect();
    let policy = TablePolicy { lazy: true, ..TablePolicy::default() };
    let files = FileTable::new(specs, policy).unwrap();
    let mut engine = make_with(&spec(kind), files, options(1));
    (0..5)
        .map(|i| one(&mut *engine, Op { file: FileIdx(i), ..op(OpKind::Read, 0, 0, BLOCK) }))
        .collect()
}

#[test]
fn file_engines_create_stat_and_delete() {
    let dir = scratch();
    let count = || std::fs::read_dir(dir.path()).unwrap().count();
    let (fine, missing) = ([BLOCK as i32; 5], [-libc::ENOENT; 5]);
    for (create, stat, delete) in [
        (
            EngineKind::Names(NameOp::FileCreate),
            EngineKind::Names(NameOp::FileStat),
            EngineKind::Names(NameOp::FileDelete),
        ),
        (
            EngineKind::Names(NameOp::DirCreate),
            EngineKind::Names(NameOp::DirStat),
            EngineKind::Names(NameOp::DirDelete),
        ),
    ] {
        assert_eq!(over_five(stat, dir.path()), missing);
        assert_eq!(over_five(create, dir.path()), fine);
        assert_eq!((over_five(stat, dir.path()), count()), (fine.to_vec(), 5));
        assert_eq!((over_five(delete, dir.path()), count()), (fine.to_vec(), 0));
        assert_eq!(over_five(delete, dir.path()), missing);
    }
}

#[test]
fn every_stat_call_finds_the_file() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", 1);
    for stat_call in [StatCall::Stat, StatCall::Lstat, StatCall::Statx] {
        let spec = EngineSpec { stat_call, ..spec(EngineKind::Names(NameOp::FileStat)) };
        let mut engine = make_with(&spec, table(vec![file(&path, read_write())]), options(1));
        assert_eq!(one(&mut *engine, op(OpKind::Stat, 0, 0, 0)), 0, "{stat_call:?}");
        std::fs::remove_file(&path).unwrap();
        let result = one(&mut *engine, op(OpKind::Stat, 0, 0, 0));
        assert_eq!(result, -libc::ENOENT, "{stat_call:?}");
        zeros(dir.path(), "data", 1);
    }
}

#[test]
fn a_mapped_file_that_is_cut_short_is_an_error_of_the_operation() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", 16 * u64::from(BLOCK));
    let mut engine = make(EngineKind::Mmap, vec![file(&path, read_write())], 1);
    let last = u64::from(15 * BLOCK);
    assert_eq!(one(&mut *engine, op(OpKind::Read, 0, last, BLOCK)), BLOCK as i32);
    std::fs::File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
    assert_eq!(one(&mut *engine, op(OpKind::Write, 0, last, BLOCK)), -libc::EIO);
    // The next one looks at the file again.
    assert_eq!(one(&mut *engine, op(OpKind::Write, 0, last, BLOCK)), -libc::ENXIO);
    assert_eq!(one(&mut *engine, op(OpKind::Read, 0, last, BLOCK)), 0);
    assert_eq!(one(&mut *engine, op(OpKind::Write, 0, 0, BLOCK)), BLOCK as i32);
}

#[test]
fn a_mapped_file_that_grew_is_mapped_again() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", u64::from(BLOCK));
    let mut engine = make(EngineKind::Mmap, vec![file(&path, read_write())], 1);
    assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 0, BLOCK)), BLOCK as i32);
    std::fs::write(&path, vec![5_u8; 2 * BLOCK as usize]).unwrap();
    assert_eq!(one(&mut *engine, op(OpKind::Read, 0, u64::from(BLOCK), BLOCK)), BLOCK as i32);
    assert_eq!(unsafe { engine.arena().slice(BufId(0), 1) }, [5]);
}

#[test]
fn a_file_that_is_only_written_can_be_mapped() {
    let dir = scratch();
    let path = zeros(dir.path(), "data", u64::from(BLOCK));
    let open = OpenFlags { read: false, ..read_write() };
    let mut engine = make(EngineKind::Mmap, vec![file(&path, open)], 1);
    assert_eq!(one(&mut *engine, op(OpKind::Write, 0, 0, BLOCK)), BLOCK as i32);
}

#[test]
fn an_operation_on_a_part_of_its_buffer_leaves_the_rest() {
    let dir = scratch();
    let path = dir.path().join("data");
    std::fs::write(&path, vec![3_u8; BLOCK as usize]).unwrap();
    for kind in common::BYTE_ENGINES {
        let mut engine = make(kind, vec![file(&path, read_write())], 1);
        let read = Op { buf_offset_bytes: 512, ..op(OpKind::Read, 0, 0, 1024) };
        assert_eq!(one(&mut *engine, read), 1024, "{kind:?}");
        let bytes = unsafe { engine.arena().slice(BufId(0), 2048) };
        let threes: Vec<usize> = (0..2048).filter(|&at| bytes[at] == 3).collect();
        assert_eq!(threes, (512..1536).collect::<Vec<_>>(), "{kind:?}");
    }
}

#[test]
fn engines_are_sized_by_their_queue_depth() {
    let batch_max = |kind, depth| make(kind, Vec::new(), depth).batch_max();
    assert_eq!(batch_max(EngineKind::Uring, 1), 1);
    assert_eq!(batch_max(EngineKind::Uring, 128), 128);
    assert_eq!(batch_max(EngineKind::Aio, 64), 64);
    assert_eq!(batch_max(EngineKind::Sync, 64), 1);
    assert_eq!(batch_max(EngineKind::Null, 16), 16);
    assert_eq!(batch_max(EngineKind::Null, 128), 64);
    assert_eq!(arena(3).n_buffers(), 3);
}
