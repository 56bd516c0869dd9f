//! What the tests of all engines share: files, arenas, and one exchange at a time.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::path::{Path, PathBuf};

use engine::{
    Arena, ArenaSpec, BuildOptions, Engine, EngineError, FileSpec, FileTable, OpenFlags,
    TablePolicy, Wait, build,
};
use plan::IoPriority;
use plan::op::{BufId, Completion, FileIdx, Op, OpKind};
use plan::{EngineKind, EngineSpec};

pub(crate) const BLOCK: u32 = 4096;

/// Engines that move bytes between files and memory.
pub(crate) const BYTE_ENGINES: [EngineKind; 6] = [
    EngineKind::Uring,
    EngineKind::Aio,
    EngineKind::Sync,
    EngineKind::VectoredSync,
    EngineKind::VectoredSync2,
    EngineKind::Mmap,
];

pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Makes a file of this many zero bytes.
pub(crate) fn zeros(dir: &Path, name: &str, size_bytes: u64) -> PathBuf {
    let path = dir.join(name);
    std::fs::File::create(&path).unwrap().set_len(size_bytes).unwrap();
    path
}

pub(crate) fn read_write() -> OpenFlags {
    OpenFlags { write: true, ..OpenFlags::default() }
}

pub(crate) fn file(path: &Path, open: OpenFlags) -> FileSpec {
    let size_bytes = std::fs::metadata(path).map_or(0, |facts| facts.len());
    FileSpec { path: path.to_owned(), open, size_bytes }
}

pub(crate) fn table(specs: Vec<FileSpec>) -> FileTable {
    FileTable::new(specs, TablePolicy::default()).unwrap()
}

pub(crate) fn arena(n_buffers: u32) -> Arena {
    Arena::new(&ArenaSpec { n_buffers, buffer_bytes: 64 << 10, ..ArenaSpec::default() }).unwrap()
}

pub(crate) fn spec(kind: EngineKind) -> EngineSpec {
    EngineSpec { kind, name: format!("{kind:?}").to_lowercase(), ..EngineSpec::default() }
}

pub(crate) fn options(queue_depth: u32) -> BuildOptions {
    BuildOptions { queue_depth, ..BuildOptions::default() }
}

pub(crate) fn make(kind: EngineKind, specs: Vec<FileSpec>, queue_depth: u32) -> Box<dyn Engine> {
    make_with(&spec(kind), table(specs), options(queue_depth))
}

pub(crate) fn make_with(
    spec: &EngineSpec,
    files: FileTable,
    options: BuildOptions,
) -> Box<dyn Engine> {
    build(spec, files, arena(options.queue_depth), options).unwrap()
}

/// An operation on file 0 whose buffer is its slot's.
pub(crate) fn op(kind: OpKind, slot: u32, offset: u64, len: u32) -> Op {
    let (file, buf) = (FileIdx(0), BufId(slot));
    Op { offset, len, file, slot, buf, buf_offset_bytes: 0, kind, priority: IoPriority::NONE }
}

/// Hands `ops` over and waits for all of them. Returns the results in the order of the slots.
pub(crate) fn all(engine: &mut dyn Engine, ops: &[Op]) -> Vec<Completion> {
    let mut done = try_all(engine, ops).unwrap();
    done.sort_by_key(|completion| completion.slot);
    done
}

pub(crate) fn try_all(engine: &mut dyn Engine, ops: &[Op]) -> Result<Vec<Completion>, EngineError> {
    let mut done = Vec::with_capacity(ops.len());
    let mut rest = ops;
    while !rest.is_empty() {
        let (batch, later) = rest.split_at((engine.batch_max() as usize).min(rest.len()));
        engine.exchange(batch, Wait::POLL, &mut done)?;
        rest = later;
    }
    while done.len() < ops.len() {
        let min = (ops.len() - done.len()) as u32;
        engine.exchange(&[], Wait { min, timeout_ns: None }, &mut done)?;
    }
    Ok(done)
}

/// Carries out one operation and returns its result.
pub(crate) fn one(engine: &mut dyn Engine, op: Op) -> i32 {
    let done = all(engine, &[op]);
    assert_eq!((done.len(), done[0].slot), (1, op.slot));
    done[0].result
}
