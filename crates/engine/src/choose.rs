//! From an [`EngineSpec`] to the engine that runs.

use plan::{EngineKind, EngineSpec};

use crate::aio::{Aio, Context};
use crate::fileop::FileOps;
use crate::mapped::Mapped;
use crate::nfs::Nfs;
use crate::null::Null;
use crate::offload::Offload;
use crate::one_by_one::SerialEngine;
use crate::options::{BuildOptions, rwf_flags};
use crate::space::Space;
use crate::sync::{Calls, OneCall};
use crate::uring::Uring;
use crate::{Arena, Engine, EngineError, FileTable};

/// Makes the engine that the job asks for. Any thread may call it; the thread that first calls
/// [`Engine::exchange`] is then the only one that may. An exchange of nothing with [`Wait::POLL`]
/// does the binding ahead of the measurement.
///
/// Where io_uring is refused, Linux native AIO stands in, and where that is refused as well calls
/// by as many threads as there are operations in flight; the engine's name says so. Native AIO does
/// so too where it is faster and the job leaves the choice ([`EngineSpec::gives_way`]).
///
/// # Errors
/// When the kernel refuses the interface, or a number is out of range.
///
/// [`Wait::POLL`]: crate::Wait::POLL
pub fn build(
    spec: &EngineSpec,
    files: FileTable,
    arena: Arena,
    options: BuildOptions,
) -> Result<Box<dyn Engine>, EngineError> {
    if options.queue_depth == 0 {
        return Err(EngineError::OutOfRange {
            what: "the queue depth",
            value: 0,
            expected: "at least 1",
        });
    }
    if arena.buffer_bytes() > i32::MAX as u32 {
        return Err(EngineError::OutOfRange {
            what: "the block size",
            value: u64::from(arena.buffer_bytes()),
            expected: "below 2 GiB, since a completion counts bytes in 31 bits",
        });
    }
    let has_buffers = arena.n_buffers() >= options.queue_depth;
    assert!(has_buffers, "each operation in flight has a buffer of its own");
    let name = &spec.name;
    let sync = |calls, files, arena| {
        Box::new(SerialEngine::new(OneCall::new(spec, calls, &options), name, files, arena))
    };
    Ok(match spec.kind {
        EngineKind::Uring => return uring_or_aio(spec, files, arena, &options),
        EngineKind::Aio => Box::new(Aio::new(spec, name.clone(), files, arena, &options)?),
        EngineKind::Nfs => Box::new(Nfs::new(spec, files, arena, &options)?),
        EngineKind::Sync => sync(Calls::Plain, files, arena),
        EngineKind::VectoredSync => sync(Calls::Vectored, files, arena),
        EngineKind::VectoredSync2 => {
            let (read_flags, write_flags) = rwf_flags(spec, &options);
            sync(Calls::Flagged { read_flags, write_flags }, files, arena)
        }
        EngineKind::Mmap => {
            let mut files = files;
            let how = Mapped::new(spec, &mut files, &options)?;
            Box::new(SerialEngine::new(how, name, files, arena))
        }
        EngineKind::Space(call) => {
            let how = Space { call, sync_flags: options.sync_file_range_flags };
            Box::new(SerialEngine::new(how, name, files, arena))
        }
        EngineKind::Names(op) => {
            let how = FileOps { kind: op.op_kind(), stat_call: spec.stat_call };
            Box::new(SerialEngine::new(how, name, files, arena))
        }
        EngineKind::Null => Box::new(Null::new(name.clone(), files, arena, options.queue_depth)),
    })
}

fn uring_or_aio(
    spec: &EngineSpec,
    files: FileTable,
    arena: Arena,
    options: &BuildOptions,
) -> Result<Box<dyn Engine>, EngineError> {
    if options.forbid_uring {
        return stand_in(spec, "it is not to be used", files, arena, options);
    }
    if spec.gives_way && files.waits_in_calls() {
        let reason = "it would hand each I/O to a thread of the kernel here";
        let context = Context::new(options.queue_depth)?;
        return Ok(Box::new(aio_instead(spec, reason, context, files, arena, options)));
    }
    match Uring::new(spec, files, arena, options) {
        Ok(uring) => Ok(Box::new(uring)),
        Err(refused) => match &refused.error {
            EngineError::Unavailable { reason, .. } => {
                let reason = reason.clone();
                stand_in(spec, &reason, refused.files, refused.arena, options)
            }
            _ => Err(refused.error),
        },
    }
}

/// Makes the engine that runs where io_uring is refused: native AIO, and where that is refused as
/// well a thread with a call for each operation in flight.
fn stand_in(
    spec: &EngineSpec,
    reason: &str,
    files: FileTable,
    arena: Arena,
    options: &BuildOptions,
) -> Result<Box<dyn Engine>, EngineError> {
    match Context::new(options.queue_depth) {
        Ok(context) => {
            let mut aio = aio_instead(spec, reason, context, files, arena, options);
            aio.stands_in = true;
            Ok(Box::new(aio))
        }
        Err(EngineError::Unavailable { reason: of_aio, .. }) => {
            let name = format!("psync (in place of io_uring and of libaio: {of_aio})");
            let spec = EngineSpec { kind: EngineKind::Sync, name, ..spec.clone() };
            let one = BuildOptions { queue_depth: 1, ..*options };
            let make = |files, arena| build(&spec, files, arena, one);
            let mut pool = Offload::new(options.queue_depth, files, arena, &make)?;
            pool.stands_in = true;
            Ok(Box::new(pool))
        }
        Err(error) => Err(error),
    }
}

fn aio_instead(
    spec: &EngineSpec,
    reason: &str,
    context: Context,
    files: FileTable,
    arena: Arena,
    options: &BuildOptions,
) -> Aio {
    let name = format!("libaio (in place of io_uring: {reason})");
    Aio::in_context(context, spec, name, files, arena, options)
}
