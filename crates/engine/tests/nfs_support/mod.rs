//! What must hold of the engine `nfs` against any server. Also used by tests of `serve`, against
//! the export of an emulated volume.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use engine::nfs::{Export, layout};
use engine::{
    Arena, ArenaSpec, BuildOptions, Engine, EngineError, FileKind, FileSpec, FileTable, LayoutSpec,
    OpenFlags, TablePolicy, Wait, build,
};
use plan::files::{Fallocate, SyncMode};
use plan::nfs::{NfsSpec, NfsUrl};
use plan::op::{BufId, Completion, FileIdx, Op, OpKind};
use plan::{EngineKind, EngineSpec};

/// Where files are and how they are reached.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) url: String,
    pub(crate) n_connections: u16,
    pub(crate) transfer_bytes: Option<u32>,
    pub(crate) queue_depth: u32,
    pub(crate) block_bytes: u32,
    pub(crate) sync: SyncMode,
    pub(crate) create: bool,
}

impl Setup {
    pub(crate) fn new(url: &str) -> Setup {
        Setup {
            url: url.to_owned(),
            n_connections: 1,
            transfer_bytes: None,
            queue_depth: 8,
            block_bytes: 64 << 10,
            sync: SyncMode::None,
            create: true,
        }
    }

    pub(crate) fn spec(&self) -> EngineSpec {
        EngineSpec {
            kind: EngineKind::Nfs,
            name: "nfs".to_owned(),
            nfs: NfsSpec {
                url: Some(NfsUrl::parse(&self.url).expect("an address")),
                n_connections: self.n_connections,
                read_bytes: self.transfer_bytes,
                write_bytes: self.transfer_bytes,
            },
            ..EngineSpec::default()
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        Path::new(&NfsUrl::parse(&self.url).expect("an address").folder()).join(name)
    }

    pub(crate) fn engine(&self, names: &[&str]) -> Result<Box<dyn Engine>, EngineError> {
        let open = OpenFlags {
            read: true,
            write: true,
            direct: false,
            sync: self.sync,
            create: self.create,
            ..OpenFlags::default()
        };
        let file = |name: &&str| FileSpec { path: self.path(name), open, size_bytes: 0 };
        let policy = TablePolicy { lazy: true, ..TablePolicy::default() };
        let files = FileTable::new(names.iter().map(file).collect(), policy).expect("names");
        let arena = Arena::new(&ArenaSpec {
            n_buffers: self.queue_depth,
            buffer_bytes: self.block_bytes,
            ..ArenaSpec::default()
        });
        let options = BuildOptions { queue_depth: self.queue_depth, ..BuildOptions::default() };
        build(&self.spec(), files, arena.expect("memory"), options)
    }
}

pub(crate) fn op(kind: OpKind, slot: u32, offset: u64, len: u32) -> Op {
    let (file, buf) = (FileIdx(0), BufId(slot));
    let priority = plan::IoPriority::NONE;
    Op { offset, len, file, slot, buf, buf_offset_bytes: 0, kind, priority }
}

/// Carries operations out and returns their results by slot.
pub(crate) fn run(engine: &mut dyn Engine, ops: &[Op]) -> Vec<i32> {
    let mut done = Vec::new();
    for batch in ops.chunks(engine.batch_max() as usize) {
        engine.exchange(batch, Wait::POLL, &mut done).expect("the engine goes on");
    }
    while done.len() < ops.len() {
        let wait = Wait { min: 1, timeout_ns: Some(20_000_000_000) };
        let n_before = done.len();
        engine.exchange(&[], wait, &mut done).expect("the engine goes on");
        assert!(done.len() > n_before, "nothing completes within 20 s");
    }
    let result = |op: &Op| {
        let of_slot = |completion: &&Completion| completion.slot == op.slot;
        done.iter().find(of_slot).expect("each operation completes").result
    };
    ops.iter().map(result).collect()
}

/// A byte that differs between places in a file.
pub(crate) fn byte_at(offset: u64, salt: u8) -> u8 {
    (offset ^ (offset >> 8) ^ (offset >> 16)) as u8 ^ salt
}

pub(crate) fn fill(engine: &mut dyn Engine, op: &Op, salt: u8) {
    for (at, byte) in (op.offset..).zip(unsafe { engine.arena().slice_mut(op.buf, op.len) }) {
        *byte = byte_at(at, salt);
    }
}

#[track_caller]
pub(crate) fn check_bytes(engine: &mut dyn Engine, op: &Op, n: usize, salt: u8) {
    for (at, byte) in (op.offset..).zip(&unsafe { engine.arena().slice(op.buf, op.len) }[..n]) {
        assert_eq!(*byte, byte_at(at, salt), "byte {at}");
    }
}

/// Writes blocks all at once, makes them durable, reads them back in another order by another
/// engine, and compares every byte.
#[track_caller]
pub(crate) fn check_round_trip(setup: &Setup, name: &str) {
    let n = setup.queue_depth;
    let len = setup.block_bytes;
    let salt = n as u8 ^ setup.n_connections as u8;
    let mut engine = setup.engine(&[name]).expect("a writer");
    let writes: Vec<Op> =
        (0..n).map(|k| op(OpKind::Write, k, u64::from(k) * u64::from(len), len)).collect();
    for write in &writes {
        fill(&mut *engine, write, salt);
    }
    assert_eq!(run(&mut *engine, &writes), vec![len as i32; n as usize]);
    assert_eq!(run(&mut *engine, &[op(OpKind::Fsync, 0, 0, 0)]), [0]);
    drop(engine);
    let mut engine = setup.engine(&[name]).expect("a reader");
    let reads: Vec<Op> =
        (0..n).rev().map(|k| op(OpKind::Read, k, u64::from(k) * u64::from(len), len)).collect();
    assert_eq!(run(&mut *engine, &reads), vec![len as i32; n as usize]);
    for read in &reads {
        check_bytes(&mut *engine, read, len as usize, salt);
    }
    engine.remove_files().expect("removed");
}

/// Offsets and lengths that are no multiples of anything, and reads across the end of the file.
#[track_caller]
pub(crate) fn check_odd_places(setup: &Setup, name: &str) {
    let mut engine = setup.engine(&[name]).expect("an engine");
    let write = op(OpKind::Write, 0, 1, 10_001);
    fill(&mut *engine, &write, 7);
    assert_eq!(run(&mut *engine, &[write]), [10_001]);
    let read = op(OpKind::Read, 1, 5_000, 20_000);
    assert_eq!(run(&mut *engine, &[read]), [5_002], "the file ends at 10,002");
    check_bytes(&mut *engine, &read, 5_002, 7);
    assert_eq!(run(&mut *engine, &[op(OpKind::Read, 1, 10_002, 100)]), [0]);
    assert_eq!(run(&mut *engine, &[op(OpKind::Read, 1, 1 << 40, 100)]), [0]);
    let hole = op(OpKind::Read, 1, 0, 1);
    assert_eq!(run(&mut *engine, &[hole]), [1]);
    assert_eq!(unsafe { engine.arena().slice(BufId(1), 1) }, [0]);
    assert_eq!(run(&mut *engine, &[op(OpKind::Trim, 1, 0, 512)]), [-libc::EOPNOTSUPP]);
    engine.remove_files().expect("removed");
}

/// Files are made, found with their size, filled, cut and removed.
#[track_caller]
pub(crate) fn check_layout(setup: &Setup, name: &str) {
    const SIZE: u64 = (5 << 20) + 123;
    let path = setup.path(name);
    let mut export = Export::mount(&setup.spec()).expect("mounted");
    assert_eq!(export.probe(&path).expect("an answer").kind, FileKind::Missing);
    let mut spec = LayoutSpec {
        size_bytes: SIZE,
        from_bytes: 0,
        fallocate: Fallocate::Native,
        write: true,
        fsync: true,
    };
    let fill = |offset: u64, bytes: &mut [u8]| {
        for (at, byte) in (offset..).zip(bytes) {
            *byte = byte_at(at, 3);
        }
    };
    let mut seen_bytes = 0;
    let mut progress = |bytes| {
        seen_bytes = bytes;
        ControlFlow::Continue(())
    };
    let written = layout(&setup.spec(), &path, &spec, fill, &mut progress).expect("laid out");
    assert_eq!((written, seen_bytes), (SIZE, SIZE));
    let facts = export.probe(&path).expect("an answer");
    assert_eq!((facts.kind, facts.size_bytes), (FileKind::Regular, SIZE));
    let mut engine = setup.engine(&[name]).expect("an engine");
    let read = op(OpKind::Read, 0, SIZE - 1000, 2000);
    assert_eq!(run(&mut *engine, &[read]), [1000]);
    check_bytes(&mut *engine, &read, 1000, 3);
    spec = LayoutSpec { size_bytes: 1000, write: false, ..spec };
    layout(&setup.spec(), &path, &spec, fill, &mut |_| ControlFlow::Continue(())).expect("cut");
    assert_eq!(export.probe(&path).expect("an answer").size_bytes, 1000);
    engine.remove_files().expect("removed");
    assert_eq!(export.probe(&path).expect("an answer").kind, FileKind::Missing);
    // A job that goes on makes the file anew.
    assert_eq!(run(&mut *engine, &[op(OpKind::Write, 0, 0, 100)]), [100]);
    engine.remove_files().expect("removed");
}

/// What is wrong is an error that names it.
#[track_caller]
pub(crate) fn check_refusals(setup: &Setup) {
    let absent = Setup { create: false, ..setup.clone() };
    let error = absent.engine(&["no-such-file"]).err().expect("no such file");
    assert_eq!(error.errno(), Some(libc::ENOENT), "{error}");
    let error = absent.engine(&["no-such-folder/file"]).err().expect("no such folder");
    assert_eq!(error.errno(), Some(libc::ENOENT), "{error}");
    let mut elsewhere = setup.clone();
    elsewhere.url = setup.url.replacen('?', "/no-such-export?", 1);
    if !elsewhere.url.contains('?') {
        elsewhere.url.push_str("/no-such-export");
    }
    let error = elsewhere.engine(&["file"]).err().expect("no such export");
    assert!(error.to_string().starts_with("cannot mount `nfs://"), "{error}");
}

/// All that must hold, at several numbers of connections and sizes of calls.
#[track_caller]
pub(crate) fn check_server(url: &str) {
    let base = Setup::new(url);
    check_round_trip(&base, "plain");
    check_round_trip(&Setup { n_connections: 8, queue_depth: 64, ..base.clone() }, "many");
    let small = Setup { transfer_bytes: Some(4096), n_connections: 3, ..base.clone() };
    check_round_trip(&small, "small-calls");
    let large = Setup { block_bytes: 1 << 20, n_connections: 2, ..base.clone() };
    check_round_trip(&large, "large");
    for sync in [SyncMode::Sync, SyncMode::Dsync] {
        check_round_trip(&Setup { sync, ..base.clone() }, "sync");
    }
    check_odd_places(&base, "odd");
    check_odd_places(&Setup { transfer_bytes: Some(1024), ..base.clone() }, "odd-small");
    check_layout(&base, "folder/below/laid-out");
    check_refusals(&base);
}
