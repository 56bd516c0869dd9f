//! What is done to files of an export before a job works on them: looking, making, filling.

use std::ops::ControlFlow;
use std::path::Path;

use plan::job::EngineSpec;
use plan::op::{BufId, FileIdx, Op, OpKind};
use plan::{EngineKind, IoPriority};

use super::rpc::RpcError;
use super::server::{Server, remote};
use super::{Nfs, below_export};
use crate::{
    Arena, ArenaSpec, BuildOptions, Engine, EngineError, FileKind, FileSpec, FileTable, LayoutSpec,
    OpenFlags, TablePolicy, TargetFacts, Wait,
};

/// Bytes per write while a file is laid out.
const CHUNK_BYTES: u32 = 1 << 20;
/// Writes in flight while a file is laid out: enough to hide the distance to the server.
const DEPTH: u32 = 8;

/// An export that can be looked at.
pub struct Export {
    server: Server,
    spec: EngineSpec,
}

impl Export {
    /// Mounts the export that the engine names.
    ///
    /// # Errors
    /// `Remote` when it cannot be mounted.
    pub fn mount(spec: &EngineSpec) -> Result<Export, EngineError> {
        Ok(Export { server: Server::mount(&spec.nfs)?, spec: spec.clone() })
    }

    /// Looks at a file. One that is not there is [`FileKind::Missing`].
    ///
    /// # Errors
    /// When the server does not tell.
    pub fn probe(&mut self, path: &Path) -> Result<TargetFacts, EngineError> {
        let url = self.spec.nfs.url.clone().unwrap_or_default();
        let name = below_export(&url, &path.to_string_lossy());
        let mut facts = TargetFacts {
            path: path.to_owned(),
            kind: FileKind::Missing,
            size_bytes: 0,
            allocated_bytes: 0,
            written_bytes: 0,
            logical_block_bytes: 1,
            direct: None,
            discards: false,
            read_only: false,
            free_bytes: self.server.free_bytes(),
            uses: Vec::new(),
            unread: None,
            stacked: Vec::new(),
            is_held: false,
            contents: crate::Contents::Nothing,
            device: (0, 0),
        };
        match self.server.find(&name) {
            Ok(found) => {
                facts.kind = match (found.is_regular, found.is_folder) {
                    (true, _) => FileKind::Regular,
                    (_, true) => FileKind::Directory,
                    _ => FileKind::Other,
                };
                facts.size_bytes = found.size_bytes;
                facts.allocated_bytes = found.used_bytes;
                facts.written_bytes = found.size_bytes;
            }
            Err(RpcError::Refused(libc::ENOENT)) => {}
            Err(error) => {
                let source = std::io::Error::from_raw_os_error(error.errno());
                return Err(EngineError::file("look at", path, source));
            }
        }
        Ok(facts)
    }
}

/// Makes a file of the given size on the server, or brings an existing one to it, as
/// [`crate::layout()`] does for a local one.
///
/// # Errors
/// `NoSpace` before anything is written when the export cannot hold the file; otherwise what fails
/// on the way.
///
/// # Panics
/// As [`crate::layout()`].
pub fn layout(
    spec: &EngineSpec,
    path: &Path,
    layout: &LayoutSpec,
    mut fill: impl FnMut(u64, &mut [u8]),
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, EngineError> {
    layout.check();
    let mut export = Export::mount(spec)?;
    check_space(&mut export, path, layout)?;
    let mut engine = one_file(spec, path)?;
    let handle = engine.shared.files[0].handle.unwrap_or_default();
    let facts = export.probe(path)?;
    if facts.size_bytes > layout.size_bytes || !layout.write {
        let set = export.server.set_size(&handle, layout.size_bytes);
        set.map_err(|error| failed("set the size of a file of", &export.server, &error))?;
    }
    let mut written_bytes = 0;
    if layout.write {
        written_bytes = write(&mut engine, path, layout, &mut fill, progress)?;
    }
    if layout.fsync {
        engine.sync_file_systems()?;
    }
    Ok(written_bytes)
}

fn check_space(export: &mut Export, path: &Path, layout: &LayoutSpec) -> Result<(), EngineError> {
    let facts = export.probe(path)?;
    let needed_bytes = layout.size_bytes.saturating_sub(facts.allocated_bytes);
    match facts.free_bytes {
        Some(free_bytes) if layout.write && needed_bytes > free_bytes => {
            let path = path.display().to_string();
            Err(EngineError::NoSpace { path, needed_bytes, free_bytes })
        }
        _ => Ok(()),
    }
}

/// Makes an engine for one file.
fn one_file(spec: &EngineSpec, path: &Path) -> Result<Nfs, EngineError> {
    let open = OpenFlags { write: true, create: true, ..OpenFlags::default() };
    let file = FileSpec { path: path.to_owned(), open, size_bytes: 0 };
    let policy = TablePolicy { lazy: true, ..TablePolicy::default() };
    let files = FileTable::new(vec![file], policy)?;
    let arena = Arena::new(&ArenaSpec {
        n_buffers: DEPTH,
        buffer_bytes: CHUNK_BYTES,
        ..ArenaSpec::default()
    })?;
    let options = BuildOptions { queue_depth: DEPTH, ..BuildOptions::default() };
    let spec = EngineSpec { kind: EngineKind::Nfs, ..spec.clone() };
    Nfs::new(&spec, files, arena, &options)
}

/// Writes the file from `from_bytes` on, a batch at a time. Returns the bytes written.
fn write(
    engine: &mut Nfs,
    path: &Path,
    layout: &LayoutSpec,
    fill: &mut impl FnMut(u64, &mut [u8]),
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, EngineError> {
    let mut ops = Vec::with_capacity(DEPTH as usize);
    let mut done = Vec::with_capacity(DEPTH as usize);
    let mut offset = layout.from_bytes;
    while offset < layout.size_bytes {
        ops.clear();
        done.clear();
        for slot in 0..DEPTH {
            let len = (layout.size_bytes - offset).min(u64::from(CHUNK_BYTES)) as u32;
            if len == 0 {
                break;
            }
            let buf = BufId(slot);
            // SAFETY: all operations of the round before have completed.
            fill(offset, unsafe { engine.arena().slice_mut(buf, len) });
            ops.push(Op {
                offset,
                len,
                file: FileIdx(0),
                slot,
                buf,
                buf_offset_bytes: 0,
                kind: OpKind::Write,
                priority: IoPriority::NONE,
            });
            offset += u64::from(len);
        }
        let wait = Wait { min: ops.len() as u32, timeout_ns: None };
        engine.exchange(&ops, wait, &mut done)?;
        if let Some(failed) = done.iter().find(|completion| completion.result < 0) {
            let source = std::io::Error::from_raw_os_error(-failed.result);
            return Err(EngineError::file("write", path, source));
        }
        let written_bytes = offset - layout.from_bytes;
        if progress(written_bytes).is_break() {
            return Ok(written_bytes);
        }
    }
    Ok(offset - layout.from_bytes)
}

fn failed(action: &'static str, server: &Server, error: &RpcError) -> EngineError {
    remote(action, server.name(), error.errno(), error.to_string())
}
