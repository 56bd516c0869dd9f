//! What happens before the workers of a step start: files are laid out, engines are built.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use engine::{
    Arena, ArenaSpec, BuildOptions, Engine, EngineError, FileKind, FileSpec, FileTable, OpenFlags,
    TablePolicy,
};
use pattern::{Contents, ContentsSpec};
use plan::files::Fallocate;
use plan::{EngineWork, Job, SpaceCall, change};
use rustix::fs::{Mode, OFlags};

use crate::bind::{BoundFile, BoundStep, BoundWorker};
use crate::claims::Claims;
use crate::control::Control;
use crate::emulation::VolumesSeat;
use crate::exports::Exports;
use crate::file_locks::{Locked, WorkerLocks};
use crate::folders::{Folders, folder_of};
use crate::layout_progress::LayoutProgress;
use crate::options::RunOptions;
use crate::overlaps::{Serialized, WorkerRanges};
use crate::setup_error::SetupError;
use crate::targets::may_make_parents;
use crate::tree::TreeSeat;

/// Returns the most operations that a job hands over at once, unless it says so itself.
pub(crate) fn batch_max(job: &Job) -> u32 {
    let queue_depth = job.load.queue_depth;
    if job.issues_one_at_a_time() { 1 } else { engine::batch_max(job.engine.kind, queue_depth) }
}

/// A file to be laid out before the step starts.
pub(crate) struct Layout<'a> {
    job: &'a Arc<Job>,
    seed: u64,
    from_bytes: u64,
    to_bytes: u64,
    /// The bytes are written, not only reserved.
    written: bool,
    /// Missing folders above it are made.
    create_parents: bool,
}

/// What a run lets the layout of files do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayoutRules {
    read_only: bool,
    /// Missing folders above files are made.
    create_parents: bool,
    /// Another host may have made the files since.
    are_shared: bool,
}

impl LayoutRules {
    pub(crate) fn of(options: &RunOptions) -> Self {
        let RunOptions { read_only, create_parents, waits_for_turn, .. } = *options;
        let create_parents = create_parents && !read_only;
        LayoutRules { read_only, create_parents, are_shared: waits_for_turn }
    }
}

/// Lays out the files of a step, until `control` is asked for the end. Returns what went wrong per
/// worker.
///
/// A file that is written grows as it is written, so that an interrupted one is known by its size
/// and completed by the next run.
pub(crate) fn step(
    step: &BoundStep,
    rules: LayoutRules,
    control: &Control,
    report: &mut dyn FnMut(LayoutProgress),
) -> Vec<Option<SetupError>> {
    let layouts = layouts(step, rules, control);
    let to_write = layouts.iter().filter(|(_, layout)| layout.written);
    let total_bytes: u64 = to_write.map(|(_, layout)| layout.to_bytes - layout.from_bytes).sum();
    let mut failed: HashMap<PathBuf, SetupError> = HashMap::new();
    let mut before_bytes = 0;
    let mut parents = Parents::default();
    for (path, layout) in &layouts {
        let path = *path;
        let at = |done_bytes, is_last| {
            let (job, path) = (Arc::clone(layout.job), path.to_owned());
            LayoutProgress { job, path, done_bytes, total_bytes, is_last }
        };
        let mut progress = |file_bytes: u64| {
            report(at(before_bytes + file_bytes, false));
            if control.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // All that is to be laid out was refused before; what has gone since is not made again.
        let done = if rules.read_only {
            Err(file_error("make or extend", path, io::Error::from_raw_os_error(libc::EROFS)))
        } else {
            lay_out(path, layout, &mut parents, &mut progress)
        };
        match done {
            Ok(written_bytes) => before_bytes += written_bytes,
            Err(error) => {
                failed.insert(path.to_owned(), SetupError::from(&error));
            }
        }
        if control.is_stopped() {
            break;
        }
        if layout.written {
            report(at(before_bytes, true));
        }
    }
    let of_worker = |worker: &BoundWorker| {
        let unwritable = worker.files.iter().find_map(|file| unwritable(&worker.job, file));
        let files = worker.files.iter().filter(|_| !failed.is_empty());
        unwritable.or_else(|| files.into_iter().find_map(|file| failed.get(&file.path).cloned()))
    };
    step.workers.iter().map(of_worker).collect()
}

/// A job that writes to a target that takes no writes fails by itself; others go on.
fn unwritable(job: &Job, file: &BoundFile) -> Option<SetupError> {
    if !file.read_only || !job.modifies() || job.engine.kind.is_idle() {
        return None;
    }
    let message = format!(
        "`{}` is read-only; name another target, or make this one writable",
        file.path.display()
    );
    Some(SetupError { errno: libc::EROFS, message })
}

/// Collects the files that are missing or too short, each once, with the largest size needed; not
/// all of them once the run is to end.
fn layouts<'a>(
    step: &'a BoundStep,
    rules: LayoutRules,
    control: &Control,
) -> Vec<(&'a Path, Layout<'a>)> {
    let LayoutRules { create_parents, are_shared, .. } = rules;
    let mut layouts: Vec<(&Path, Layout<'_>)> = Vec::new();
    let mut positions: HashMap<&OsStr, usize> = HashMap::new();
    let mut present: HashMap<&OsStr, FileNow> = HashMap::new();
    let mut exports = Exports::default();
    let working = || step.workers.iter().filter(|worker| !worker.job.engine.kind.is_idle());
    let here = working().filter(|worker| !worker.job.engine.kind.is_remote());
    let folders = Folders::of(here.flat_map(|it| &it.files).map(|file| &file.path), control);
    let mut parents = Parents::default();
    for worker in working() {
        let is_remote = worker.job.engine.kind.is_remote();
        let makes_parents = create_parents && may_make_parents(&worker.job) && !is_remote;
        for file in worker.files.iter().take_while(|_| !control.is_stopped()) {
            // Steps before may have made, grown or removed it since the plan was bound.
            let now = if !is_remote && folders.lack(&file.path) {
                FileNow { missing: true, size_bytes: 0 }
            } else {
                *present.entry(file.path.as_os_str()).or_insert_with(|| {
                    let size_bytes = if is_remote {
                        let facts = exports.probe(&worker.job, &file.path).ok();
                        let facts = facts.filter(|facts| facts.kind != FileKind::Missing);
                        facts.map(|facts| facts.size_bytes)
                    } else {
                        if are_shared && is_made_here(file) {
                            ask_server(&file.path);
                        }
                        std::fs::metadata(&file.path).ok().map(|facts| facts.len())
                    };
                    let missing = size_bytes.is_none();
                    FileNow { missing, size_bytes: size_bytes.unwrap_or(0) }
                })
            };
            if now.missing && makes_parents {
                // What cannot be made shows when the file is opened, with its name.
                let _ = parents.make(&file.path);
            }
            let Some(layout) = layout_of(worker, file, now, create_parents) else { continue };
            match positions.entry(file.path.as_os_str()) {
                Entry::Occupied(at) => {
                    let known = &mut layouts[*at.get()].1;
                    known.to_bytes = known.to_bytes.max(layout.to_bytes);
                    known.written |= layout.written;
                }
                Entry::Vacant(at) => {
                    at.insert(layouts.len());
                    layouts.push((&file.path, layout));
                }
            }
        }
    }
    layouts
}

/// Has a client of a network file system ask its server for a file anew, which another host may
/// just have made: when a folder or a file is opened it does, and else it may answer from memory.
fn ask_server(path: &Path) {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    for path in [path.parent(), Some(path)].into_iter().flatten() {
        // What cannot be opened shows when it is laid out or used.
        let _opened = rustix::fs::open(path, flags, Mode::empty());
    }
}

/// What a path leads to just before the step.
#[derive(Clone, Copy)]
pub(crate) struct FileNow {
    pub(crate) missing: bool,
    pub(crate) size_bytes: u64,
}

/// Returns whether a file is one that is laid out where it is missing or too short.
fn is_made_here(file: &BoundFile) -> bool {
    matches!(file.kind, FileKind::Missing | FileKind::Regular)
}

/// Returns what a file needs before its worker may start, or `None` if it needs nothing.
pub(crate) fn layout_of<'a>(
    worker: &'a BoundWorker,
    file: &BoundFile,
    now: FileNow,
    create_parents: bool,
) -> Option<Layout<'a>> {
    let job = &worker.job;
    let kind = job.engine.kind;
    if kind.is_idle() || !is_made_here(file) {
        return None;
    }
    let missing = now.missing;
    let reads = job.access().read || (job.verify.verify_only && job.verify.method.is_some());
    if let EngineWork::Names(op) = kind.traits().work {
        return (op.needs_existing() && missing).then_some(Layout {
            job,
            seed: worker.seed,
            from_bytes: 0,
            to_bytes: file.laid_out_bytes(),
            written: reads || job.files.overwrite,
            create_parents,
        });
    }
    let grows = job.files.create_on_open || job.files.fill_device || job.files.append;
    // A mapping cannot grow its file.
    let skip = grows && kind.traits().work != EngineWork::MappedBytes;
    if (skip && !reads) || (now.size_bytes >= file.laid_out_bytes() && !missing) {
        return None;
    }
    Some(Layout {
        job,
        seed: worker.seed,
        from_bytes: now.size_bytes,
        to_bytes: file.laid_out_bytes(),
        written: reads || job.files.overwrite || maps_without_size(job),
        create_parents,
    })
}

/// Returns whether a job writes through a mapping, which ends where the file does, and lays files
/// out in a way that leaves them empty: then they are written, as fio does.
fn maps_without_size(job: &Job) -> bool {
    let is_empty = matches!(job.files.fallocate, Fallocate::None | Fallocate::KeepSize);
    job.engine.kind.traits().work == EngineWork::MappedBytes && is_empty
}

/// Makes one file. Returns the bytes written.
fn lay_out(
    path: &Path,
    layout: &Layout<'_>,
    parents: &mut Parents,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, EngineError> {
    let files = &layout.job.files;
    let is_remote = layout.job.engine.kind.is_remote();
    if !is_remote && layout.create_parents {
        parents.make(path)?;
    }
    if let EngineWork::Names(op) = layout.job.engine.kind.traits().work
        && op.is_of_directories()
    {
        return make_directory(path).map(|()| 0);
    }
    let spec = ContentsSpec {
        block_bytes: layout.job.block_size_max(),
        region_bytes: layout.to_bytes,
        worker_seed: layout.seed,
        job_seed: layout.job.workload.seed,
        is_direct: files.direct,
    };
    let contents = Contents::from_buffers(&layout.job.buffers, spec);
    let spec = engine::LayoutSpec {
        size_bytes: layout.to_bytes,
        from_bytes: layout.from_bytes,
        fallocate: fallocate_for(layout.job),
        write: layout.written,
        fsync: files.create_fsync,
    };
    let fill = |offset, buf: &mut [u8]| contents.fill(buf, offset, 0);
    if is_remote {
        return engine::nfs::layout(&layout.job.engine, path, &spec, fill, progress);
    }
    engine::layout(path, &spec, fill, progress)
}

/// Returns how space is reserved for a job's file. A mapping ends where its file does, so that one
/// that is written through a mapping needs its size before.
fn fallocate_for(job: &Job) -> Fallocate {
    let is_mapped = job.engine.kind.traits().work == EngineWork::MappedBytes;
    match job.files.fallocate {
        Fallocate::None if is_mapped => Fallocate::Truncate,
        Fallocate::KeepSize if is_mapped => Fallocate::Posix,
        fallocate @ (Fallocate::None
        | Fallocate::Native
        | Fallocate::Posix
        | Fallocate::KeepSize
        | Fallocate::Truncate) => fallocate,
    }
}

/// Makes the folders above files, each once.
#[derive(Debug, Default)]
struct Parents {
    made: HashSet<OsString>,
}

impl Parents {
    fn make(&mut self, path: &Path) -> Result<(), EngineError> {
        let folder = folder_of(path);
        if folder.is_empty() || self.made.contains(folder) {
            return Ok(());
        }
        let parent = Path::new(folder);
        std::fs::create_dir_all(parent).map_err(|source| file_error("create", parent, source))?;
        self.made.insert(folder.to_owned());
        Ok(())
    }
}

fn make_directory(path: &Path) -> Result<(), EngineError> {
    std::fs::create_dir(path).map_err(|source| file_error("create", path, source))
}

fn file_error(action: &'static str, path: &Path, source: io::Error) -> EngineError {
    EngineError::File { action, path: path.display().to_string(), source }
}

/// What a worker waits for that others hold, where its job asks for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitsForOthers {
    /// Files that are locked.
    pub(crate) locks: Option<WorkerLocks>,
    /// Ranges that others have in flight.
    pub(crate) ranges: Option<WorkerRanges>,
}

impl WaitsForOthers {
    fn wrap(&self, mut engine: Box<dyn Engine>) -> Box<dyn Engine> {
        if let Some(locks) = self.locks.clone() {
            engine = Box::new(Locked { engine, locks });
        }
        if let Some(ranges) = self.ranges.clone() {
            engine = Box::new(Serialized { engine, ranges });
        }
        engine
    }
}

/// What a worker's thread needs to build its engine.
pub(crate) struct EngineBuilder {
    spec: plan::EngineSpec,
    files: Vec<FileSpec>,
    policy: TablePolicy,
    arena: ArenaSpec,
    options: BuildOptions,
    invalidate: bool,
    pre_read: bool,
    advise: Option<(plan::files::Fadvise, bool)>,
    waits: WaitsForOthers,
    /// Threads that issue the I/O; `None` for the worker's own.
    n_threads: Option<u32>,
    /// Emulated volumes in place of the files.
    volumes: Option<VolumesSeat>,
    /// A tree of files in place of the files.
    tree: Option<TreeSeat>,
    /// Block devices that the job changes, and who holds them.
    devices: Vec<PathBuf>,
    claims: Arc<Claims>,
    job: Arc<Job>,
    #[cfg(test)]
    double: Option<crate::options::MakeTestEngine>,
}

impl EngineBuilder {
    pub(crate) fn new(
        bound: &BoundWorker,
        options: &RunOptions,
        waits: WaitsForOthers,
        claims: Arc<Claims>,
    ) -> Self {
        let job = bound.job.as_ref();
        let kind = job.engine.kind;
        let uses_files = !kind.is_idle();
        let files = if uses_files {
            let mut specs: Vec<_> = bound.files.iter().map(|f| file_spec(job, f)).collect();
            for open in specs.iter_mut().map(|spec| &mut spec.open).filter(|_| options.read_only) {
                (open.write, open.create) = (false, false);
            }
            specs
        } else {
            Vec::new()
        };
        let has_content = uses_files && !kind.is_of_names();
        // A server's files are not opened here, and nothing of them is cached.
        let is_here = has_content && !kind.is_remote();
        let buffers = &job.buffers;
        EngineBuilder {
            spec: job.engine.clone(),
            files,
            policy: TablePolicy {
                n_open: job.files.n_open,
                fsync_on_close: job.files.fsync_on_close,
                lazy: !is_here || job.files.create_on_open,
            },
            arena: ArenaSpec {
                n_buffers: job.load.queue_depth.max(1),
                buffer_bytes: if has_content || kind.is_idle() {
                    job.block_size_max().max(1)
                } else {
                    512
                },
                align_bytes: buffers.align_bytes,
                memory: buffers.memory.clone(),
                lock: false,
                is_used: job.uses_buffers(),
            },
            options: BuildOptions {
                queue_depth: job.load.queue_depth.max(1),
                forbid_uring: options.forbid_uring,
                atomic_writes: job.files.atomic,
                sync_file_range_flags: job.durability.sync_file_range_flags,
                priority: job.process.priority(),
            },
            invalidate: job.files.invalidate
                && is_here
                && !job.files.pre_read
                && kind.traits().work != EngineWork::MappedBytes,
            pre_read: job.files.pre_read && is_here,
            advise: is_here.then_some((job.files.fadvise, job.access().random)),
            waits: if uses_files { waits } else { WaitsForOthers::default() },
            n_threads: (job.load.offload && !kind.is_remote())
                .then_some(job.load.queue_depth.max(1)),
            volumes: None,
            tree: None,
            devices: changed_devices(bound),
            claims,
            job: Arc::clone(&bound.job),
            #[cfg(test)]
            double: options.double,
        }
    }

    /// Takes emulated volumes in place of the files.
    #[must_use]
    pub(crate) fn on(self, volumes: Option<VolumesSeat>) -> Self {
        EngineBuilder { volumes, ..self }
    }

    /// Takes a tree of files in place of the files.
    #[must_use]
    pub(crate) fn on_tree(self, tree: Option<TreeSeat>) -> Self {
        EngineBuilder { tree, ..self }
    }

    /// Returns what looks at the job's devices once more.
    pub(crate) fn device_check(&self) -> DeviceCheck {
        let devices = if self.volumes.is_none() { self.devices.clone() } else { Vec::new() };
        DeviceCheck { devices, claims: Arc::clone(&self.claims), job: Arc::clone(&self.job) }
    }

    /// Opens the files and builds the engine. On the worker's own thread. `stop` cuts short what
    /// may take long.
    pub(crate) fn build(self, stop: &AtomicBool) -> Result<Box<dyn Engine>, SetupError> {
        if self.volumes.is_none() {
            for device in &self.devices {
                self.claims.claim(&self.job, device)?;
            }
        }
        self.build_engine(stop).map_err(|error| SetupError::from(&error))
    }

    fn build_engine(self, stop: &AtomicBool) -> Result<Box<dyn Engine>, EngineError> {
        if let Some(seat) = self.volumes {
            return seat.engine(&self.arena);
        }
        if let Some(tree) = self.tree {
            return tree.engine(Arena::new(&self.arena)?);
        }
        let mut goes_on = || {
            if stop.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut files = FileTable::new(self.files, TablePolicy { lazy: true, ..self.policy })?;
        if !self.policy.lazy {
            files.open_all(&mut goes_on)?;
        }
        if self.pre_read {
            files.pre_read(&mut |_| goes_on())?;
        }
        if self.invalidate && goes_on().is_continue() {
            files.invalidate()?;
        }
        if let Some((fadvise, random)) = self.advise.filter(|_| goes_on().is_continue()) {
            files.advise(fadvise, random)?;
        }
        let arena = Arena::new(&self.arena)?;
        #[cfg(test)]
        if let Some(make) = self.double {
            return Ok(make(&self.job, files, arena));
        }
        let Some(n_threads) = self.n_threads else {
            let engine = engine::build(&self.spec, files, arena, self.options)?;
            return Ok(self.waits.wrap(engine));
        };
        let options = BuildOptions { queue_depth: 1, ..self.options };
        engine::offload(n_threads, files, arena, &|files, arena| {
            Ok(self.waits.wrap(engine::build(&self.spec, files, arena, options)?))
        })
    }
}

/// Looks once more at the block devices that a job changes, for a worker that waited since it
/// opened them.
pub(crate) struct DeviceCheck {
    devices: Vec<PathBuf>,
    claims: Arc<Claims>,
    job: Arc<Job>,
}

impl DeviceCheck {
    /// # Errors
    /// When one has come into use, or holds something now.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        for device in &self.devices {
            let checked = self.claims.check_again(&self.job, device);
            checked.map_err(|SetupError { message, .. }| EngineError::Taken { why: message })?;
        }
        Ok(())
    }
}

/// Returns the block devices that a worker's job changes.
fn changed_devices(bound: &BoundWorker) -> Vec<PathBuf> {
    let job = bound.job.as_ref();
    if job.engine.kind.is_remote() || !change::changes_targets(job) {
        return Vec::new();
    }
    let devices = bound.files.iter().filter(|file| file.kind == FileKind::Block);
    devices.map(|file| file.path.clone()).collect()
}

pub(crate) fn file_spec(job: &Job, file: &BoundFile) -> FileSpec {
    // Reserving space takes a file that may be written, and a read reserves some, too.
    let reserves = job.engine.kind.traits().work == EngineWork::Space(SpaceCall::Fallocate);
    let modifies = job.modifies() || reserves;
    let reads = job.access().read || job.verify.method.is_some();
    FileSpec {
        path: file.path.clone(),
        open: OpenFlags {
            read: reads || !modifies,
            write: modifies && !job.verify.verify_only,
            direct: job.files.direct,
            sync: job.files.sync,
            create: job.files.allow_create && (modifies || job.files.create_on_open),
            more_bits: job.files.open_flag_bits,
        },
        size_bytes: file.needed_bytes(),
    }
}
