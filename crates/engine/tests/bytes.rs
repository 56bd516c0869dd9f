//! Moving bytes: what every engine that does so has in common.

mod common;

use common::{
    BLOCK, BYTE_ENGINES, all, arena, file, make, make_with, one, op, options, read_write, scratch,
    spec, table, zeros,
};
use engine::{Arena, FileSpec, FileTable, OpenFlags, TablePolicy, Wait, build};
use plan::op::{BufId, FileIdx, Op, OpKind};
use plan::{EngineKind, EngineSpec};

/// A cheap source of numbers (splitmix64), so that failures repeat.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

fn write_then_read(kind: EngineKind, open: OpenFlags) {
    let dir = scratch();
    let path = zeros(dir.path(), "data", 16 * u64::from(BLOCK));
    let mut engine = make(kind, vec![file(&path, open)], 8);
    for slot in 0..8 {
        unsafe { engine.arena().slice_mut(BufId(slot), BLOCK) }.fill(slot as u8 + 1);
    }
    let writes: Vec<Op> =
        (0..8).map(|slot| op(OpKind::Write, slot, u64::from(slot * 2 * BLOCK), BLOCK)).collect();
    for done in all(&mut *engine, &writes) {
        assert_eq!(done.result, BLOCK as i32, "{kind:?}");
    }
    assert_eq!(one(&mut *engine, op(OpKind::Fsync, 0, 0, 0)), 0, "{kind:?}");
    // Back to front, so that a buffer never holds what it is about to read.
    let reads: Vec<Op> = (0..8)
        .map(|slot| op(OpKind::Read, slot, u64::from((7 - slot) * 2 * BLOCK), BLOCK))
        .collect();
    for done in all(&mut *engine, &reads) {
        assert_eq!(done.result, BLOCK as i32, "{kind:?}");
    }
    for slot in 0..8 {
        let bytes = unsafe { engine.arena().slice(BufId(slot), BLOCK) };
        assert!(bytes.iter().all(|&byte| byte == 8 - slot as u8), "{kind:?}");
    }
    let expected: Vec<u8> = (0..16)
        .flat_map(|block: u8| {
            vec![if block.is_multiple_of(2) { block / 2 + 1 } else { 0 }; BLOCK as usize]
        })
        .collect();
    assert!(std::fs::read(&path).unwrap() == expected, "{kind:?}");
}

#[test]
fn what_was_written_is_read_back() {
    for kind in BYTE_ENGINES {
        write_then_read(kind, read_write());
    }
}

#[test]
fn direct_io_moves_the_same_bytes() {
    let dir = scratch();
    let path = zeros(dir.path(), "probe", u64::from(BLOCK));
    let open = OpenFlags { direct: true, ..read_write() };
    if FileTable::new(vec![file(&path, open)], TablePolicy::default()).is_err() {
        testing::skipped!("this file system has no direct I/O");
        return;
    }
    for kind in BYTE_ENGINES {
        write_then_read(kind, open);
    }
}

#[test]
fn ten_thousand_random_operations_agree_with_a_model() {
    const N_BLOCKS: u64 = 64;
    const DEPTH: u32 = 16;
    for (seed, kind) in (1..).zip(BYTE_ENGINES) {
        let dir = scratch();
        let path = zeros(dir.path(), "data", N_BLOCKS * u64::from(BLOCK));
        let mut engine = make(kind, vec![file(&path, read_write())], DEPTH);
        let mut model = vec![0_u8; N_BLOCKS as usize];
        let mut numbers = Numbers(seed);
        let mut n_done = 0;
        while n_done < 10_000 {
            // Blocks differ within a batch: the order of two writes to one block is not defined.
            let n_ops = 1 + numbers.below(u64::from(DEPTH.min(engine.batch_max()))) as u32;
            let first = numbers.below(N_BLOCKS);
            let ops: Vec<Op> = (0..n_ops)
                .map(|slot| {
                    let block = (first + u64::from(slot) * 3) % N_BLOCKS;
                    let kind = if numbers.below(2) == 0 { OpKind::Read } else { OpKind::Write };
                    op(kind, slot, block * u64::from(BLOCK), BLOCK)
                })
                .collect();
            for op in ops.iter().filter(|op| op.kind == OpKind::Write) {
                let value = numbers.next() as u8;
                unsafe { engine.arena().slice_mut(op.buf, BLOCK) }.fill(value);
                model[(op.offset / u64::from(BLOCK)) as usize] = value;
            }
            let mut done = Vec::with_capacity(DEPTH as usize);
            let wait = Wait { min: n_ops, timeout_ns: None };
            engine.exchange(&ops, wait, &mut done).unwrap();
            assert_eq!(done.len(), n_ops as usize, "{kind:?}");
            assert!(done.iter().all(|done| done.result == BLOCK as i32), "{kind:?}: {done:?}");
            for op in ops.iter().filter(|op| op.kind == OpKind::Read) {
                let expected = model[(op.offset / u64::from(BLOCK)) as usize];
                let bytes = unsafe { engine.arena().slice(op.buf, BLOCK) };
                assert!(bytes.iter().all(|&byte| byte == expected), "{kind:?}");
            }
            n_done += n_ops;
        }
        drop(engine);
        let expected: Vec<u8> = model.iter().flat_map(|&value| [value; BLOCK as usize]).collect();
        assert!(std::fs::read(&path).unwrap() == expected, "{kind:?}");
    }
}

#[test]
fn batches_of_every_size_complete_each_slot_once() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "data", u64::from(BLOCK));
        let mut engine = make(kind, vec![file(&path, read_write())], 40);
        for n_ops in 1..=40 {
            let ops: Vec<Op> = (0..n_ops).map(|slot| op(OpKind::Read, slot, 0, BLOCK)).collect();
            let slots: Vec<u32> = all(&mut *engine, &ops).iter().map(|done| done.slot).collect();
            assert_eq!(slots, (0..n_ops).collect::<Vec<_>>(), "{kind:?}");
        }
    }
}

#[test]
fn a_read_at_the_end_of_the_file_is_short() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "data", 5000);
        let mut engine = make(kind, vec![file(&path, read_write())], 1);
        assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 4096, BLOCK)), 904, "{kind:?}");
        assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 8192, BLOCK)), 0, "{kind:?}");
    }
}

#[test]
fn a_write_to_a_file_opened_for_reading_is_a_result() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "data", u64::from(BLOCK));
        let mut engine = make(kind, vec![file(&path, OpenFlags::default())], 1);
        let result = one(&mut *engine, op(OpKind::Write, 0, 0, BLOCK));
        assert!([-libc::EBADF, -libc::EACCES].contains(&result), "{kind:?}: {result}");
        assert_eq!(one(&mut *engine, op(OpKind::Read, 0, 0, BLOCK)), BLOCK as i32, "{kind:?}");
    }
}

#[test]
fn a_file_outside_of_the_table_is_a_result() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "data", u64::from(BLOCK));
        let mut engine = make(kind, vec![file(&path, read_write())], 1);
        let stray = Op { file: FileIdx(7), ..op(OpKind::Read, 0, 0, BLOCK) };
        assert_eq!(one(&mut *engine, stray), -libc::EBADF, "{kind:?}");
    }
}

#[test]
fn trimmed_blocks_read_as_zeros() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = dir.path().join("data");
        std::fs::write(&path, vec![7_u8; 4 * BLOCK as usize]).unwrap();
        let mut engine = make(kind, vec![file(&path, read_write())], 2);
        let trim = op(OpKind::Trim, 0, u64::from(BLOCK), BLOCK);
        let result = one(&mut *engine, trim);
        if result == -libc::EOPNOTSUPP {
            testing::skipped!("this file system punches no holes");
            return;
        }
        assert_eq!(result, BLOCK as i32, "{kind:?}");
        let bytes = std::fs::read(&path).unwrap();
        let blocks: Vec<u8> = bytes.chunks(BLOCK as usize).map(|block| block[0]).collect();
        assert_eq!((bytes.len(), blocks), (4 * BLOCK as usize, vec![7, 0, 7, 7]), "{kind:?}");
    }
}

#[test]
fn syncs_of_every_kind_succeed() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "data", u64::from(BLOCK));
        let mut engine = make(kind, vec![file(&path, read_write())], 1);
        assert_eq!(one(&mut *engine, op(OpKind::Write, 0, 0, BLOCK)), BLOCK as i32);
        for sync in [OpKind::Fsync, OpKind::Fdatasync, OpKind::SyncFileRange] {
            assert_eq!(one(&mut *engine, op(sync, 0, 0, BLOCK)), 0, "{kind:?} {sync:?}");
        }
    }
}

#[test]
fn a_full_file_system_is_a_result() {
    for kind in BYTE_ENGINES {
        if kind == EngineKind::Mmap {
            continue; // Its files have their size already; see `mapped.rs`.
        }
        // Each has one of its own: the kernel ends a ring, which holds its files, after the call.
        let dir = scratch();
        let Some(_mount) = SmallTmpfs::mount(dir.path()) else {
            testing::skipped!("this user may not mount a tmpfs");
            return;
        };
        let path = zeros(dir.path(), "data", 0);
        let mut engine = make(kind, vec![file(&path, read_write())], 1);
        let results: Vec<i32> = (0..40)
            .map(|block| one(&mut *engine, op(OpKind::Write, 0, block * 65536, 65536)))
            .collect();
        assert_eq!(results[0], 65536, "{kind:?}");
        assert_eq!(results[39], -libc::ENOSPC, "{kind:?}");
    }
}

/// A tmpfs of 1 MiB, while it lives.
struct SmallTmpfs(std::ffi::CString);

impl SmallTmpfs {
    fn mount(dir: &std::path::Path) -> Option<SmallTmpfs> {
        let at = std::ffi::CString::new(dir.to_str()?).ok()?;
        let (kind, size) = (c"tmpfs", c"size=1m");
        // SAFETY: all names end with NUL and outlive the call.
        let result = unsafe {
            libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), 0, size.as_ptr().cast())
        };
        (result == 0).then_some(SmallTmpfs(at))
    }
}

impl Drop for SmallTmpfs {
    fn drop(&mut self) {
        // SAFETY: the name ends with NUL and outlives the call.
        unsafe { libc::umount2(self.0.as_ptr(), libc::MNT_DETACH) };
    }
}

#[track_caller]
fn check_few_descriptors(spec: &EngineSpec) {
    let dir = scratch();
    let specs: Vec<FileSpec> = (0..10)
        .map(|i| file(&zeros(dir.path(), &format!("f{i}"), u64::from(BLOCK)), read_write()))
        .collect();
    let policy = TablePolicy { n_open: Some(3), ..TablePolicy::default() };
    let files = FileTable::new(specs, policy).unwrap();
    let mut engine = make_with(spec, files, options(10));
    for slot in 0..10 {
        unsafe { engine.arena().slice_mut(BufId(slot), BLOCK) }.fill(slot as u8 + 1);
    }
    let writes: Vec<Op> = (0..10)
        .map(|slot| Op { file: FileIdx(slot), ..op(OpKind::Write, slot, 0, BLOCK) })
        .collect();
    for done in all(&mut *engine, &writes) {
        assert_eq!(done.result, BLOCK as i32, "{spec:?}");
    }
    assert_eq!(engine.files().n_open(), 3, "{spec:?}");
    drop(engine);
    for i in 0..10_u8 {
        let bytes = std::fs::read(dir.path().join(format!("f{i}"))).unwrap();
        assert!(bytes.iter().all(|&byte| byte == i + 1), "{spec:?}");
    }
}

#[test]
fn fewer_descriptors_than_files_still_reach_all_files() {
    for kind in BYTE_ENGINES {
        check_few_descriptors(&spec(kind));
    }
    // Here a kernel thread takes the entries, at a time of its own choice.
    check_few_descriptors(&EngineSpec { sq_poll: true, ..spec(EngineKind::Uring) });
}

#[test]
fn a_wait_with_nothing_in_flight_returns() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "data", u64::from(BLOCK));
        let mut engine = make(kind, vec![file(&path, read_write())], 4);
        let mut done = Vec::with_capacity(4);
        for wait in [
            Wait::POLL,
            Wait { min: 3, timeout_ns: None },
            Wait { min: 1, timeout_ns: Some(1_000) },
        ] {
            engine.exchange(&[], wait, &mut done).unwrap();
            assert_eq!(done, [], "{kind:?}");
        }
    }
}

#[test]
fn a_wait_for_more_than_is_in_flight_returns_what_there_is() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "data", u64::from(BLOCK));
        let mut engine = make(kind, vec![file(&path, read_write())], 4);
        let mut done = Vec::with_capacity(4);
        let read = [op(OpKind::Read, 0, 0, BLOCK)];
        engine.exchange(&read, Wait { min: 4, timeout_ns: None }, &mut done).unwrap();
        assert_eq!(done.len(), 1, "{kind:?}");
    }
}

#[test]
fn an_engine_dropped_with_work_in_flight_lets_the_work_end() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "data", 32 * u64::from(BLOCK));
        let mut engine = make(kind, vec![file(&path, read_write())], 32);
        for slot in 0..32 {
            unsafe { engine.arena().slice_mut(BufId(slot), BLOCK) }.fill(9);
        }
        let writes: Vec<Op> =
            (0..32).map(|slot| op(OpKind::Write, slot, u64::from(slot * BLOCK), BLOCK)).collect();
        let mut done = Vec::with_capacity(32);
        for batch in writes.chunks(engine.batch_max() as usize) {
            engine.exchange(batch, Wait::POLL, &mut done).unwrap();
        }
        drop(engine);
        assert!(std::fs::read(&path).unwrap().iter().all(|&byte| byte == 9), "{kind:?}");
    }
}

#[test]
fn an_engine_may_be_built_on_another_thread() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "data", u64::from(BLOCK));
        let mut engine = make(kind, vec![file(&path, read_write())], 1);
        let result = std::thread::spawn(move || one(&mut *engine, op(OpKind::Read, 0, 0, BLOCK)));
        assert_eq!(result.join().unwrap(), BLOCK as i32, "{kind:?}");
    }
}

#[test]
fn bad_numbers_are_refused_before_anything_starts() {
    let build_with = |queue_depth, arena: Arena| {
        build(&spec(EngineKind::Sync), table(Vec::new()), arena, options(queue_depth))
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(
        build_with(0, arena(1)).as_deref(),
        Some("the queue depth is 0, but must be at least 1")
    );
    assert_eq!(build_with(1, arena(1)), None);
}
