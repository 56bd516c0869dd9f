//! An emulated machine with its volumes: the model in real time over real data.
//!
//! What serves volumes to others (a mount, an export) is a thin layer over [`Machine`]: it turns
//! requests into the calls here and sends the answers when they come.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};
use std::sync::{Arc, Mutex, RwLock, Weak};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use units::system_text;
use volume::design::Backing as Medium;
use volume::{CacheMode, CapId, Design, IoKind, Start};

use crate::backing::{self, Backing, BackingError};
use crate::extent::Extent;
use crate::lock::lock;
use crate::pacer::{Arrival, Crashed, ModelState, Outcome, Pacer, Request};
use crate::status::{self, MachineStatus, Recent, VolumeReport};
use crate::store::undo::{Lost, Overwrite, SavedBefore, Undo};
use crate::store::{Opened, Store, write_whole};
use crate::tree::{Node, Tree};

/// Why a machine cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// Its backing cannot be used.
    #[error(transparent)]
    Backing(#[from] BackingError),
    /// The design has no volume.
    #[error("the design has no volume")]
    NoVolume,
    /// A volume that was asked for is not in the design.
    #[error("the design has no volume `{wanted}`; it has {known}")]
    UnknownVolume {
        /// What was asked for.
        wanted: String,
        /// What there is.
        known: String,
    },
    /// The system refused.
    #[error("the emulated machine cannot be started: {}", system_text(.0))]
    Io(#[from] io::Error),
}

/// Why a running machine cannot become another one.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The design has another shape.
    #[error(transparent)]
    Shape(#[from] volume::ChangeError),
    /// What is on a volume would not fit.
    #[error(
        "`{mount}` holds {} MiB, and would have room for {} MiB",
        used_bytes.div_ceil(1 << 20),
        size_bytes >> 20
    )]
    Space {
        /// The volume.
        mount: String,
        /// Its new size, bytes.
        size_bytes: u64,
        /// What is on it, bytes.
        used_bytes: u64,
    },
}

/// What to start.
#[derive(Debug)]
pub struct MachineOptions {
    /// Text that the design was read from; `change` replaces it.
    pub design_text: String,
    /// What was read.
    pub design: Design,
    /// The only volume to show, by mount path; `None` shows all.
    pub only: Option<String>,
    /// Whether the host cache holds the data that is there already.
    pub is_cache_warm: bool,
}

/// A design that is in force.
#[derive(Clone, Debug)]
pub struct InForce {
    /// Its text.
    pub text: String,
    /// What the text means.
    pub design: Design,
}

/// An emulated machine.
#[derive(Debug)]
pub struct Machine {
    pacer: Pacer,
    undo: Arc<Mutex<Undo>>,
    stores: Arc<Vec<Store>>,
    tree: Tree,
    /// The only volume that is shown, by position; `None` shows all.
    only: Option<usize>,
    in_force: RwLock<InForce>,
    backing: Backing,
    resumed_bytes: Option<u64>,
    is_crashed: AtomicBool,
    n_crashes: AtomicU64,
    pub(crate) recent: Recent,
}

/// A disk under the backing that is smaller than the volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// What may still be written to the volumes, bytes.
    pub provisioned_bytes: u64,
    /// What the disk has room for, bytes.
    pub free_bytes: u64,
}

/// A range of a file that a crash took back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct LostRange {
    /// Volume the file is on, by position in the design.
    pub volume: u16,
    /// The file's number.
    pub ino: u64,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

/// What a crash took.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct CrashReport {
    /// What only the cache had, by the model.
    pub dirty: Vec<LostRange>,
    /// What was taken back.
    pub lost: Vec<LostRange>,
    /// Why not all could be taken back.
    pub error: Option<String>,
}

impl Machine {
    /// Starts a machine over a backing.
    pub fn start(options: MachineOptions, backing: Backing) -> Result<Arc<Self>, MachineError> {
        let MachineOptions { design_text, design, only, is_cache_warm } = options;
        let mounts: Vec<&str> = design.volumes.iter().map(|volume| &*volume.mount).collect();
        // What can be refused is refused before the backing is taken.
        let only = position(only, &mounts)?;
        backing.claim(&design)?;
        let dirs = backing.volume_dirs(&mounts)?;
        let root = only.map_or(backing.data(), |only| dirs[only].clone());
        let n_crashes = AtomicU64::new(backing.n_crashes()?);
        let resumed_bytes = backing.resume()?;
        let stores = Arc::new(stores(&design, &dirs)?);
        let tree = Tree::open(&root, &dirs, Arc::clone(&stores)).map_err(io::Error::from)?;
        let undo = Undo::new(backing.undo()?, backing.marker())?;
        let undo = Arc::new(Mutex::new(undo));
        let start = if is_cache_warm { Start::Warm } else { Start::Cold };
        let pacer = Pacer::start(&design, start, Arc::clone(&undo))?;
        let machine = Arc::new(Machine {
            pacer,
            undo,
            stores,
            tree,
            only,
            in_force: RwLock::new(InForce { text: design_text, design }),
            backing,
            resumed_bytes,
            is_crashed: AtomicBool::new(false),
            n_crashes,
            recent: Recent::new(),
        });
        watch(&machine)?;
        Ok(machine)
    }

    /// Returns the pacer, for layers that have data of their own.
    pub fn pacer(&self) -> &Pacer {
        &self.pacer
    }

    /// Returns the files.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the backing.
    pub fn backing(&self) -> &Backing {
        &self.backing
    }

    /// Returns the bytes lost in a crash that an earlier process was killed in, and that was
    /// finished at the start.
    pub fn resumed_bytes(&self) -> Option<u64> {
        self.resumed_bytes
    }

    /// Returns whether the disk under the backing is full before the volumes are.
    pub fn shortage(&self) -> Option<Shortage> {
        let left = |store: &Store| store.space.capacity().saturating_sub(store.space.used());
        let shown = self.stores.iter().enumerate().filter(|(idx, _)| self.shows(*idx));
        let left = shown.map(|(_, store)| left(store));
        let provisioned_bytes = left.fold(0, u64::saturating_add);
        let free_bytes = self.backing.free_bytes()?;
        (free_bytes < provisioned_bytes).then_some(Shortage { provisioned_bytes, free_bytes })
    }

    /// Returns whether a volume is shown, by position.
    fn shows(&self, volume: usize) -> bool {
        self.only.is_none_or(|only| only == volume)
    }

    /// Returns the mount path of the only volume that is shown; `None` where all are.
    pub fn only(&self) -> Option<String> {
        Some(self.in_force().design.volumes.get(self.only?)?.mount.clone())
    }

    /// Returns the volumes' stores.
    pub(crate) fn stores(&self) -> &[Store] {
        &self.stores
    }

    /// Returns the design in force.
    pub fn in_force(&self) -> InForce {
        self.in_force.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Returns whether the machine has crashed and not been started again.
    pub fn is_crashed(&self) -> bool {
        self.is_crashed.load(Acquire)
    }

    /// Returns how many crashes the data have been through, those of earlier processes as well. One
    /// counts before the first byte is taken back.
    pub(crate) fn n_crashes(&self) -> u64 {
        self.n_crashes.load(Acquire)
    }

    /// Refuses everything after a crash.
    pub(crate) fn alive(&self) -> Result<(), Errno> {
        if self.is_crashed() { Err(Errno::IO) } else { Ok(()) }
    }

    /// Changes the design under the requests that wait: levels, quotas, cache modes, sizes.
    ///
    /// A design without a name keeps that of the one before.
    pub fn change(&self, text: String, mut design: Design) -> Result<(), ChangeError> {
        let mut in_force = self.in_force.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (store, volume) in self.stores.iter().zip(&design.volumes) {
            let used_bytes = store.space.used();
            if volume.capacity_bytes < used_bytes.min(store.space.capacity()) {
                let (mount, size_bytes) = (volume.mount.clone(), volume.capacity_bytes);
                return Err(ChangeError::Space { mount, size_bytes, used_bytes });
            }
        }
        if design.name.is_empty() {
            design.name.clone_from(&in_force.design.name);
        }
        let each = || self.stores.iter().zip(&design.volumes);
        // A volume that had such a cache counts as one with it until nothing is left there, which
        // `note_clean` finds.
        for (store, _) in each().filter(|(_, volume)| is_write_back(&volume.backing)) {
            store.is_write_back.store(true, Release);
        }
        self.pacer.change(&design)?;
        for (store, volume) in each() {
            store.space.resize(volume.capacity_bytes);
        }
        // Without the note a later mount asks whether the sizes are meant, and nothing is lost.
        let _ = self.backing.note(&design);
        *in_force = InForce { text, design };
        Ok(())
    }

    /// Notes which volumes no longer have anything in a cache that took their writes.
    pub(crate) fn note_clean(&self) {
        let in_force = self.in_force.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (number, (store, volume)) in (0..).zip(self.stores.iter().zip(&in_force.design.volumes))
        {
            if store.is_write_back.load(Acquire) && !is_write_back(&volume.backing) {
                self.pacer.if_clean(number, || store.is_write_back.store(false, Release));
            }
        }
    }

    /// Crashes the machine. What only a cache had is taken back; all that is asked until
    /// [`Machine::restart`] fails.
    pub fn crash(&self) -> CrashReport {
        self.is_crashed.store(true, Release);
        let n_crashes = self.n_crashes.fetch_add(1, AcqRel) + 1;
        let noted = self.backing.note_crashes(n_crashes);
        let n_volumes = u16::try_from(self.stores.len()).unwrap_or(u16::MAX);
        let owner = |volume: u16, address| self.stores.get(usize::from(volume))?.owner(address);
        let Crashed { dirty, lost, error } = self.pacer.crash(n_volumes, &owner);
        let named = |lost: Vec<Lost>| {
            let name = |Lost { volume, ino, offset, len }| LostRange { volume, ino, offset, len };
            lost.into_iter().map(name).collect()
        };
        let error = error.or_else(|| Some(format!("cannot note the crash: {}", noted.err()?)));
        let report = CrashReport { dirty: named(dirty), lost: named(lost), error };
        for number in self.tree.numbers() {
            let Ok(node) = self.tree.node(number) else { continue };
            let is_of_it =
                |lost: &LostRange| (Some(lost.volume), lost.ino) == (node.volume, node.ino);
            if report.lost.iter().any(is_of_it) {
                node.lost_at.store(n_crashes, Release);
            }
            // What is no file holds nothing, and a FIFO would wait for another process to open it.
            if !std::fs::metadata(node.path()).is_ok_and(|found| found.is_file()) {
                continue;
            }
            if let (Ok(store), Ok(file)) = (self.tree.store(&node), File::open(node.path())) {
                store.recount(&file, &node.occupied, 0);
            }
        }
        report
    }

    /// Returns what the model says now.
    pub(crate) fn snapshot(&self) -> ModelState {
        self.pacer.snapshot()
    }

    /// Describes the machine, which is served at a place.
    pub fn report(&self, place: &str) -> MachineStatus {
        let state = self.snapshot();
        let design = self.in_force().design;
        let waits = status::waits(&self.recent, &state);
        let modelled = state.status.volumes.iter().zip(waits);
        let cap = |cap: CapId| Some(state.status.caps.get(usize::from(cap.0))?.info.name.clone());
        let each = design.volumes.iter().zip(self.stores.iter()).zip(modelled);
        let volumes = each.map(|((volume, store), (modelled, wait))| VolumeReport {
            mount: volume.mount.clone(),
            medium: medium(&volume.backing),
            capacity_bytes: store.space.capacity(),
            used_bytes: store.space.used(),
            dirty_bytes: modelled.dirty_bytes,
            leaving_bytes: modelled.leaving_bytes,
            n_flushes: modelled.n_flushes,
            disks_held_by: modelled.disks_held_by.and_then(cap),
            recent_wait: wait,
        });
        let shown = volumes.enumerate().filter(|(idx, _)| self.shows(*idx));
        MachineStatus {
            schema: status::SCHEMA.to_owned(),
            place: place.to_owned(),
            backing: self.backing.dir().display().to_string(),
            is_crashed: self.is_crashed(),
            is_disk_full: self.is_disk_full(),
            pid: std::process::id(),
            n_waiting: state.status.n_waiting as u64,
            lateness: status::lateness(&self.recent, &state),
            volumes: shown.map(|(_, volume)| volume).collect(),
            caps: status::caps(&self.recent, &state, &design, self.only),
            export: None,
            cache: state.status.cache.map(Into::into),
            catalog_hash: design.catalog.own_hash(),
            design: design.name,
            edition: design.edition,
        }
    }

    /// Starts the machine again, with a cold cache.
    pub fn restart(&self) {
        self.pacer.restart();
        self.is_crashed.store(false, Release);
    }
}

/// Finds the only volume to show among the mount paths, if one is asked for.
fn position(only: Option<String>, mounts: &[&str]) -> Result<Option<usize>, MachineError> {
    let Some(wanted) = only else {
        return if mounts.is_empty() { Err(MachineError::NoVolume) } else { Ok(None) };
    };
    match mounts.iter().position(|mount| **mount == wanted) {
        Some(found) => Ok(Some(found)),
        None => Err(MachineError::UnknownVolume { wanted, known: mounts.join(", ") }),
    }
}

/// Counts what each volume has and starts its store.
fn stores(design: &Design, dirs: &[PathBuf]) -> Result<Vec<Store>, io::Error> {
    let store = |(volume, dir): (&volume::design::Volume, &PathBuf)| {
        let others: Vec<PathBuf> = dirs.iter().filter(|other| *other != dir).cloned().collect();
        let used = backing::occupied(dir, &others)?;
        Ok(Store::new(volume.capacity_bytes, used, is_write_back(&volume.backing)))
    };
    design.volumes.iter().zip(dirs).map(store).collect()
}

/// Says in a few words what a volume is made of.
fn medium(medium: &Medium) -> String {
    match medium {
        Medium::Disks(stripe) => {
            let disk = stripe.disks.first();
            let sku = disk.map_or("", |disk| &*disk.sku);
            let cache = disk.map_or(CacheMode::None, |disk| disk.cache);
            match stripe.disks.len() {
                1 => format!("{sku}, cache {cache:?}"),
                n => format!("{n} x {sku}, cache {cache:?}"),
            }
        }
        Medium::Network(network) => network.level.clone(),
    }
}

fn is_write_back(medium: &Medium) -> bool {
    match medium {
        Medium::Disks(stripe) => stripe.disks.iter().any(|disk| disk.cache == CacheMode::ReadWrite),
        Medium::Network(_) => false,
    }
}

/// Data: what takes modelled time. The answer comes by a callback on another thread, which must
/// not wait; an error that is found at once comes as a result, and the callback is dropped.
impl Machine {
    /// Reads up to `len` bytes; fewer where the file ends.
    pub(crate) fn read(
        &self,
        node: &Node,
        opened: &Opened,
        (offset, len): (u64, u32),
        arrival: Arrival,
        reply: impl FnOnce(Result<Vec<u8>, Errno>) + Send + 'static,
    ) {
        let data = self.alive().and_then(|()| read(&opened.file, offset, len));
        let (data, volume) = match (data, node.volume) {
            (Ok(data), Some(volume)) if !data.is_empty() => (data, volume),
            // At the end of the file no disk is asked.
            (data, _) => return reply(data),
        };
        let Some(store) = self.stores.get(usize::from(volume)) else {
            return reply(Err(Errno::IO));
        };
        let extents = store.extents(node.ino, offset, data.len() as u64);
        let request = Request { kind: IoKind::Read, volume, client: 0, extents, arrival };
        self.pacer.submit(request, Box::new(move |outcome| reply(done(outcome, data))));
    }

    /// Writes all of `data`, or nothing.
    pub(crate) fn write(
        &self,
        node: &Node,
        opened: &Opened,
        (offset, data): (u64, &[u8]),
        (is_sync, arrival): (bool, Arrival),
        reply: impl FnOnce(Result<u32, Errno>) + Send + 'static,
    ) {
        let n_bytes = data.len() as u32;
        let store = match self.alive().and_then(|()| self.tree.store(node)) {
            Ok(store) if n_bytes > 0 => store,
            outcome => return reply(outcome.map(|_| 0)),
        };
        if offset.checked_add(u64::from(n_bytes)).is_none_or(|end| i64::try_from(end).is_err()) {
            return reply(Err(Errno::FBIG));
        }
        let volume = node.volume.unwrap_or(0);
        let kind = if is_sync { IoKind::WriteThrough } else { IoKind::Write };
        let extents = store.extents(node.ino, offset, u64::from(n_bytes));
        let request = Request { kind, volume, client: 0, extents, arrival };
        let reply = move |outcome: Result<Outcome, Errno>| {
            reply(outcome.and_then(|outcome| done(outcome, n_bytes)));
        };
        if !store.is_write_back.load(Acquire) {
            let written = store.write(&opened.file, &node.occupied, data, offset);
            return match written {
                Ok(()) => self.pacer.submit(request, Box::new(move |end| reply(Ok(end)))),
                Err(error) => reply(Err(errno(&error))),
            };
        }
        // What the volume has no room for was never accepted: a crash cannot lose it.
        let end = offset + u64::from(n_bytes);
        let reserved = match store.reserve(&opened.file, offset, end) {
            Ok(reserved) => reserved,
            Err(error) => return reply(Err(errno(&error))),
        };
        // The model knows of the write first. While this lock is held no reply is called, so the
        // reply finds how the write went.
        let failed = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&failed);
        let reply = move |end| match seen.load(Acquire) {
            0 => reply(Ok(end)),
            error => reply(Err(Errno::from_raw_os_error(error))),
        };
        let mut undo = lock(&self.undo);
        if let Err(error) = self.alive() {
            failed.store(error.raw_os_error(), Release);
            store.recount(&opened.file, &node.occupied, reserved);
            return reply(Outcome::Lost);
        }
        let extents = request.extents.clone();
        let clean = self.pacer.submit_write(&mut undo, request, Box::new(reply));
        let mut before = Vec::new();
        // Clean data are kept and settled, too, if a crash would roll back their neighbours in a
        // block, or the file's length.
        let n_clean: u64 = clean.iter().map(|range| range.end - range.start).sum();
        let kept = if n_clean < u64::from(n_bytes) || undo.touches(volume, node.ino) {
            keep(&mut undo, node, opened, (offset, &extents), &mut before)
        } else {
            Ok(())
        };
        let write = || kept.and_then(|()| write_whole(&opened.file, data, offset));
        let written = store.fill(&opened.file, &node.occupied, reserved, write);
        let mut settle = || clean.iter().try_for_each(|range| undo.settle(volume, range));
        if let Err(error) = written.and_then(|()| settle()) {
            failed.store(errno(&error).raw_os_error(), Release);
            undo.undo_before(volume, before);
        }
        drop(undo);
    }

    /// Ends when all that was written to the volume before is on its disks.
    pub(crate) fn flush(
        &self,
        node: &Node,
        arrival: Arrival,
        reply: impl FnOnce(Result<(), Errno>) + Send + 'static,
    ) {
        let volume = match (self.alive(), node.volume) {
            (Ok(()), Some(volume)) => volume,
            (outcome, _) => return reply(outcome),
        };
        let extents = vec![Extent { address: 0, len_bytes: 0 }];
        let request = Request { kind: IoKind::Flush, volume, client: 0, extents, arrival };
        self.pacer.submit(request, Box::new(move |outcome| reply(done(outcome, ()))));
    }

    /// Sets a file's length. Lasting at once, as in a file system with a journal.
    pub(crate) fn truncate(&self, node: &Node, file: &File, size: u64) -> Result<(), Errno> {
        self.alive()?;
        let store = self.tree.store(node)?;
        let volume = node.volume.unwrap_or(0);
        let mut undo = lock(&self.undo);
        // A crash meanwhile came first.
        self.alive()?;
        let old_size = file.metadata().map_err(|error| errno(&error))?.len();
        file.set_len(size).map_err(|error| errno(&error))?;
        let is_set = undo.set_size(volume, node.ino, size);
        self.pacer.discard(&mut undo);
        is_set.map_err(|error| errno(&error))?;
        store.recount(file, &node.occupied, 0);
        if size < old_size {
            self.trim(store, node, size, old_size - size);
        }
        drop(undo);
        Ok(())
    }

    /// Notes in the model that blocks hold nothing any more. No program waits for it.
    fn trim(&self, store: &Store, node: &Node, offset: u64, len: u64) {
        let Some(volume) = node.volume else { return };
        let now_ns = crate::clock::now_ns();
        for extent in store.extents(node.ino, offset, len.min(TRIM_BYTES_MAX)) {
            let request = Request::new(IoKind::Trim, volume, extent, now_ns);
            self.pacer.submit(request, Box::new(|_| ()));
        }
    }

    /// Occupies or frees a range of a file (`fallocate`).
    pub(crate) fn allocate(
        &self,
        node: &Node,
        opened: &Opened,
        (offset, len): (u64, u64),
        mode: FallocateFlags,
    ) -> Result<(), Errno> {
        self.alive()?;
        let store = self.tree.store(node)?;
        let end = offset.checked_add(len).filter(|&end| i64::try_from(end).is_ok());
        let end = end.ok_or(Errno::FBIG)?;
        let supported =
            FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE;
        if !supported.contains(mode) {
            return Err(Errno::OPNOTSUPP);
        }
        let volume = node.volume.unwrap_or(0);
        let is_cleared = mode.intersects(FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE);
        let mut undo = lock(&self.undo);
        self.alive()?;
        let act = || fallocate(&opened.file, mode, offset, len).map_err(io::Error::from);
        if mode.contains(FallocateFlags::PUNCH_HOLE) {
            act().map_err(|error| errno(&error))?;
            store.recount(&opened.file, &node.occupied, 0);
        } else {
            let grown = store.grow(&opened.file, &node.occupied, offset, end, act);
            grown.map_err(|error| errno(&error))?;
        }
        let settled = if is_cleared {
            undo.clear(volume, node.ino, &(offset..end))
        } else if mode.contains(FallocateFlags::KEEP_SIZE) {
            Ok(())
        } else {
            undo.extend(volume, node.ino, end);
            Ok(())
        };
        if is_cleared {
            self.pacer.discard(&mut undo);
            self.trim(store, node, offset, len);
        }
        settled.map_err(|error| errno(&error))
    }

    /// Gives a deleted file's space back, once no request reads it any more.
    pub(crate) fn release(&self, node: &Node) {
        if !node.is_gone() {
            return;
        }
        let Ok(store) = self.tree.store(node) else { return };
        let volume = node.volume.unwrap_or(0);
        let mut undo = lock(&self.undo);
        // What cannot be forgotten would only be put back into a file that is gone.
        let _ = undo.clear(volume, node.ino, &(0..u64::MAX));
        self.pacer.discard(&mut undo);
        store.release(&node.occupied);
        let now_ns = crate::clock::now_ns();
        for address in store.forget(node.ino) {
            let extent = Extent { address, len_bytes: TRIM_BYTES_MAX as u32 };
            let request = Request::new(IoKind::Trim, volume, extent, now_ns);
            self.pacer.submit(request, Box::new(|_| ()));
        }
        drop(undo);
    }

    /// Returns whether a disk under the backing was found full.
    pub fn is_disk_full(&self) -> bool {
        self.stores.iter().any(|store| store.is_disk_full.load(Relaxed))
    }
}

/// One trim passes at most this much to the model.
const TRIM_BYTES_MAX: u64 = 2 << 30;

/// Keeps what a write will replace.
fn keep(
    undo: &mut Undo,
    node: &Node,
    opened: &Opened,
    (mut offset, extents): (u64, &[Extent]),
    before: &mut Vec<SavedBefore>,
) -> io::Result<()> {
    let size = opened.file.metadata()?.len();
    for extent in extents {
        let write = Overwrite {
            file: &opened.file,
            ino: node.ino,
            volume: node.volume.unwrap_or(0),
            offset,
            address: extent.address,
            len: u64::from(extent.len_bytes),
            size,
        };
        undo.before_write(&write, before)?;
        offset += u64::from(extent.len_bytes);
    }
    Ok(())
}

fn read(file: &File, offset: u64, len: u32) -> Result<Vec<u8>, Errno> {
    let size = file.metadata().map_err(|error| errno(&error))?.len();
    let mut data = vec![0; u64::from(len).min(size.saturating_sub(offset)) as usize];
    let mut n_read = 0;
    while n_read < data.len() {
        match file.read_at(&mut data[n_read..], offset + n_read as u64) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(errno(&error)),
        }
    }
    data.truncate(n_read);
    Ok(data)
}

fn done<T>(outcome: Outcome, value: T) -> Result<T, Errno> {
    match outcome {
        Outcome::Done => Ok(value),
        Outcome::Lost => Err(Errno::IO),
    }
}

/// Returns the number of an error; one without stands for a device error.
pub(crate) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Looks at a machine once a second while it lives.
fn watch(machine: &Arc<Machine>) -> std::io::Result<()> {
    let watched: Weak<Machine> = Arc::downgrade(machine);
    let watch = move || {
        while let Some(machine) = watched.upgrade() {
            machine.recent.keep(machine.snapshot());
            machine.note_clean();
            drop(machine);
            std::thread::sleep(status::RECENT);
        }
    };
    std::thread::Builder::new().name("watch".to_owned()).spawn(watch)?;
    Ok(())
}
