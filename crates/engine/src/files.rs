//! The files of one worker: opened up front, or a limited number at a time.

use std::ffi::{CStr, CString};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plan::files::{Fadvise, SyncMode};
use plan::op::FileIdx;
use rustix::fs::{Advice, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::{EngineError, call};

/// `BLKFLSBUF` of `linux/fs.h`, `_IO(0x12, 97)`: writes back and drops the cache of a device.
const BLKFLSBUF: u32 = 0x1261;

/// Bytes per read when a file is read into the cache: large enough to stream, small enough that an
/// interrupt is answered at once.
const PRE_READ_BYTES: usize = 1 << 20;

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Regular file.
    Regular,
    /// Block device.
    Block,
    /// Character device.
    Character,
    /// Directory.
    Directory,
    /// Nothing yet.
    Missing,
    /// Pipe, socket or the like.
    Other,
}

impl FileKind {
    pub(crate) fn from_mode(mode: u32) -> FileKind {
        match FileType::from_raw_mode(mode) {
            FileType::RegularFile => FileKind::Regular,
            FileType::BlockDevice => FileKind::Block,
            FileType::CharacterDevice => FileKind::Character,
            FileType::Directory => FileKind::Directory,
            _ => FileKind::Other,
        }
    }
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFlags {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// Past the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Durable writes.
    pub sync: SyncMode,
    /// Create it where it is missing, with mode 0644 less the umask.
    pub create: bool,
    /// Bits added to the flags of `open(2)`, as the kernel knows them.
    pub more_bits: u32,
}

impl Default for OpenFlags {
    fn default() -> Self {
        OpenFlags {
            read: true,
            write: false,
            direct: false,
            sync: SyncMode::None,
            create: false,
            more_bits: 0,
        }
    }
}

/// One file of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Where it is.
    pub path: PathBuf,
    /// How it is opened.
    pub open: OpenFlags,
    /// Its size in bytes, as far as the worker is concerned.
    pub size_bytes: u64,
}

/// How a table treats its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TablePolicy {
    /// Files open at once, at least 1; `None` is all. When all are taken, the file that was not
    /// used for a while is closed (second chance, an approximation of least recently used).
    pub n_open: Option<u32>,
    /// Make a file durable each time it is closed.
    pub fsync_on_close: bool,
    /// Open files when they are first used. For engines that create or remove them.
    pub lazy: bool,
}

/// The open files of a table that limits them, in the order in which the hand of a clock passes
/// them. A file that is opened takes the place of one that was closed, so that every change takes
/// the same time however many files are open.
#[derive(Clone, Debug, Default)]
struct Ring {
    /// As many places as there may be open files.
    places: Vec<Option<FileIdx>>,
    /// Places without a file.
    free: Vec<u32>,
    /// The place of each file of the table that is open.
    place_of: Vec<u32>,
    /// The place that the hand passes next.
    hand: usize,
}

impl Ring {
    /// Makes one of `n_open` places for a table of `n_files`.
    fn new(n_open: u32, n_files: usize) -> Self {
        Ring {
            places: vec![None; n_open as usize],
            free: (0..n_open).rev().collect(),
            place_of: vec![0; n_files],
            hand: 0,
        }
    }

    /// Takes in a file that was opened.
    ///
    /// Panics when all places are taken (programmer error).
    fn add(&mut self, file: FileIdx) {
        let place = self.free.pop().expect("a file is closed before one more is opened");
        self.places[place as usize] = Some(file);
        self.place_of[file.0 as usize] = place;
    }

    /// Takes out a file that is closed.
    fn remove(&mut self, file: FileIdx) {
        let place = self.place_of[file.0 as usize];
        let removed = self.places[place as usize].take();
        assert_eq!(removed, Some(file), "a file that is open has its place");
        self.free.push(place);
    }

    /// Moves the hand on, and returns the file that it passed.
    fn pass(&mut self) -> Option<FileIdx> {
        let file = self.places[self.hand];
        self.hand = (self.hand + 1) % self.places.len();
        file
    }
}

/// The files of one worker, by [`FileIdx`].
#[derive(Debug)]
pub struct FileTable {
    specs: Vec<FileSpec>,
    names: Vec<CString>,
    kinds: Vec<FileKind>,
    /// Shared with the tables of other threads that work for the same worker.
    fds: Vec<Option<Arc<OwnedFd>>>,
    policy: TablePolicy,
    /// Which files are open, where their number is limited.
    ring: Ring,
    /// Used since the hand passed; empty when there is no limit.
    used: Vec<bool>,
    generation: u64,
    random_access: Option<bool>,
}

impl FileTable {
    /// Opens the files: all of them, or as the policy says when they are first used.
    ///
    /// # Errors
    /// The first file that cannot be opened, with cause and remedy in the error.
    ///
    /// # Panics
    /// If none of the files may be open.
    pub fn new(specs: Vec<FileSpec>, policy: TablePolicy) -> Result<FileTable, EngineError> {
        assert!(policy.n_open != Some(0), "none of {} files may be open", specs.len());
        let names = specs.iter().map(|spec| c_path(&spec.path)).collect::<Result<Vec<_>, _>>()?;
        let n_files = specs.len();
        let n_open = policy.n_open.filter(|n| (*n as usize) < n_files);
        let ring = n_open.map_or(Ring::default(), |n_open| Ring::new(n_open, n_files));
        let mut table = FileTable {
            names,
            kinds: vec![FileKind::Regular; n_files],
            fds: std::iter::repeat_with(|| None).take(n_files).collect(),
            specs,
            policy: TablePolicy { n_open, ..policy },
            ring,
            used: if n_open.is_some() { vec![false; n_files] } else { Vec::new() },
            generation: 0,
            random_access: None,
        };
        if !policy.lazy {
            table.open_all(&mut || ControlFlow::Continue(()))?;
        }
        Ok(table)
    }

    /// Makes a table for another thread of the same worker. It shares the open files, so that no
    /// file is opened twice; what either opens or closes later is its own.
    pub(crate) fn share(&self) -> FileTable {
        let mut ring = self.ring.clone();
        ring.free.reserve_exact(ring.places.len() - ring.free.len());
        FileTable {
            specs: self.specs.clone(),
            names: self.names.clone(),
            kinds: self.kinds.clone(),
            fds: self.fds.clone(),
            policy: self.policy,
            ring,
            used: self.used.clone(),
            generation: self.generation,
            random_access: self.random_access,
        }
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.specs.len()
    }

    /// Returns whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Returns what the file was said to be.
    ///
    /// Panics when there is no such file (programmer error), as do all methods that name one and
    /// are not for use during a measurement.
    pub fn spec(&self, file: FileIdx) -> &FileSpec {
        &self.specs[file.0 as usize]
    }

    /// Iterates over all files.
    pub fn specs(&self) -> impl Iterator<Item = (FileIdx, &FileSpec)> {
        (0..).map(FileIdx).zip(&self.specs)
    }

    /// Returns what kind of file it turned out to be when it was opened.
    pub fn kind(&self, file: FileIdx) -> FileKind {
        self.kinds.get(file.0 as usize).copied().unwrap_or(FileKind::Missing)
    }

    /// Returns whether all files are open, so that their descriptors stay what they are.
    pub fn is_complete(&self) -> bool {
        self.policy.n_open.is_none() && self.fds.iter().all(Option::is_some)
    }

    /// Returns whether files are closed to stay within a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.policy.n_open.is_some()
    }

    /// Returns the number of files that are open.
    pub fn n_open(&self) -> usize {
        self.fds.iter().flatten().count()
    }

    /// Returns a number that changes whenever a descriptor changes.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the descriptor, opening the file where that is due.
    ///
    /// # Errors
    /// The negated `errno` of the open, as the result of the operation that needs it.
    #[inline]
    pub fn fd(&mut self, file: FileIdx) -> Result<RawFd, i32> {
        let index = file.0 as usize;
        match self.fds.get(index) {
            Some(Some(fd)) => {
                let fd = fd.as_raw_fd();
                if let Some(used) = self.used.get_mut(index) {
                    *used = true;
                }
                Ok(fd)
            }
            Some(None) => self.open_late(file),
            None => Err(-libc::EBADF),
        }
    }

    /// Returns whether [`fd`](Self::fd) would close another file. An engine then hands over first
    /// what it has prepared with that file's descriptor.
    #[inline]
    pub(crate) fn would_evict(&self, file: FileIdx) -> bool {
        self.is_limited()
            && self.ring.free.is_empty()
            && self.fds.get(file.0 as usize).is_some_and(Option::is_none)
    }

    /// Returns all descriptors, for registration; -1 for a file that is not open.
    pub(crate) fn raw_fds(&self) -> Vec<RawFd> {
        self.fds.iter().map(|fd| fd.as_ref().map_or(-1, AsRawFd::as_raw_fd)).collect()
    }

    /// Returns the descriptor of some open block device that may be written.
    pub(crate) fn first_writable_device(&self) -> Option<RawFd> {
        let mut devices = self.fds.iter().zip(&self.kinds).zip(&self.specs);
        devices.find_map(|((fd, kind), spec)| {
            let fits = *kind == FileKind::Block && spec.open.write;
            fd.as_ref().filter(|_| fits).map(AsRawFd::as_raw_fd)
        })
    }

    /// Returns whether direct I/O to one of the open files may wait inside the call that submits
    /// it: the kernel cannot promise it otherwise, and io_uring then hands each I/O to a thread.
    pub(crate) fn waits_in_calls(&self) -> bool {
        let is_direct = self.specs.iter().all(|spec| spec.open.direct);
        let mut open = self.fds.iter().zip(&self.specs);
        is_direct
            && open.any(|(fd, spec)| match fd {
                None => false,
                Some(fd) if spec.open.read => refuses_nowait(fd.as_fd()),
                // Only for writing: what holds for its file holds for another descriptor of it.
                Some(_) => {
                    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
                    let again = rustix::fs::open(&spec.path, flags, Mode::empty());
                    again.is_ok_and(|fd| refuses_nowait(fd.as_fd()))
                }
            })
    }

    /// Returns the file's name for system calls.
    pub(crate) fn c_name(&self, file: FileIdx) -> Option<&CStr> {
        self.names.get(file.0 as usize).map(CString::as_c_str)
    }

    /// Returns whether access was announced as random, for engines that map files.
    pub(crate) fn random_access(&self) -> Option<bool> {
        self.random_access
    }

    /// Opens what is not open, up to the limit of the policy. `goes_on` may stop it; what is not
    /// open then is opened when it is first used.
    ///
    /// # Errors
    /// The first file that cannot be opened.
    pub fn open_all(
        &mut self,
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        for index in 0..self.len() {
            let file = FileIdx(index as u32);
            if self.would_evict(file) || goes_on().is_break() {
                break;
            }
            if self.fds[index].is_none() {
                self.open(file).map_err(|errno| open_error(&self.specs[index], errno))?;
            }
        }
        Ok(())
    }

    /// Opens files that are only for writing for reading, too: a mapping needs both.
    pub(crate) fn make_readable(&mut self) -> Result<(), EngineError> {
        for index in 0..self.len() {
            if self.specs[index].open.read {
                continue;
            }
            self.specs[index].open.read = true;
            if self.fds[index].is_some() {
                let file = FileIdx(index as u32);
                self.close(file)?;
                self.open(file).map_err(|errno| open_error(&self.specs[index], errno))?;
            }
        }
        Ok(())
    }

    /// Closes a file, durably where the policy says so.
    ///
    /// # Errors
    /// When the file cannot be made durable; it is closed anyway.
    pub fn close(&mut self, file: FileIdx) -> Result<(), EngineError> {
        self.close_raw(file)
            .map_err(|errno| EngineError::file("sync", &self.spec(file).path, errno))
    }

    /// Closes all files, durably where the policy says so.
    ///
    /// # Errors
    /// The last failure; all files are closed anyway.
    pub fn close_all(&mut self) -> Result<(), EngineError> {
        let mut result = Ok(());
        for index in 0..self.len() {
            result = self.close(FileIdx(index as u32)).and(result);
        }
        result
    }

    /// Closes and removes all regular files. One that is gone already is no error.
    ///
    /// # Errors
    /// The last failure; the others are removed anyway.
    pub fn unlink_all(&mut self) -> Result<(), EngineError> {
        // Another user of the table may have open what is closed here.
        self.generation += 1;
        let mut result = Ok(());
        for index in 0..self.len() {
            let file = FileIdx(index as u32);
            result = self.close(file).and(result);
            // Asked anew: one that was never opened may be anything.
            let facts = rustix::fs::stat(&self.names[index]);
            if facts.map(|facts| FileKind::from_mode(facts.st_mode)) != Ok(FileKind::Regular) {
                continue;
            }
            let removed = call::unlink(&self.names[index]);
            if removed < 0 && removed != -libc::ENOENT {
                let source = io::Error::from_raw_os_error(-removed);
                result = Err(EngineError::file("remove", &self.spec(file).path, source));
            }
        }
        result
    }

    /// Makes all files durable (`fsync`).
    ///
    /// # Errors
    /// The first file that fails.
    pub fn sync_all(&mut self) -> Result<(), EngineError> {
        self.for_each("sync", |_, fd| rustix::fs::fsync(fd))
    }

    /// Makes the file systems of all files durable (`syncfs`).
    ///
    /// # Errors
    /// The first file that fails.
    pub fn sync_file_systems(&mut self) -> Result<(), EngineError> {
        self.for_each("sync the file system of", |_, fd| rustix::fs::syncfs(fd))
    }

    /// Drops what the page cache holds of all files. Dirty pages of regular files stay, as
    /// `posix_fadvise` leaves them; a device is written back first.
    ///
    /// # Errors
    /// The first file that fails. A user who may not flush a device only gives the advice.
    pub fn invalidate(&mut self) -> Result<(), EngineError> {
        self.for_each("drop the cache of", |kind, fd| {
            if kind == FileKind::Character || kind == FileKind::Other {
                return Ok(());
            }
            if kind == FileKind::Block {
                // SAFETY: the call takes no memory.
                match call::retry(|| unsafe {
                    libc::ioctl(fd.as_raw_fd(), BLKFLSBUF as _, 0) as isize
                }) {
                    result if result >= 0 => return Ok(()),
                    result if result == -libc::EACCES || result == -libc::EPERM => {}
                    result => return Err(Errno::from_raw_os_error(-result)),
                }
            }
            rustix::fs::fadvise(fd, 0, None, Advice::DontNeed)
        })
    }

    /// Writes back what the page cache holds of all files and drops it, so that what is read next
    /// comes from the target.
    ///
    /// # Errors
    /// The first file that fails: what was written to it may be lost.
    pub fn drop_cache(&mut self) -> Result<(), EngineError> {
        self.for_each("write back", |kind, fd| match kind {
            FileKind::Character | FileKind::Directory | FileKind::Other => Ok(()),
            FileKind::Regular | FileKind::Missing | FileKind::Block => rustix::fs::fsync(fd),
        })?;
        self.invalidate()
    }

    /// Advises the kernel about buffered access. `random` is the job's walk, for
    /// [`Fadvise::ByAccess`].
    ///
    /// # Errors
    /// The first file that fails.
    pub fn advise(&mut self, fadvise: Fadvise, random: bool) -> Result<(), EngineError> {
        let advice = match (fadvise, random) {
            (Fadvise::None, _) => return Ok(()),
            (Fadvise::ByAccess, true) | (Fadvise::Random, _) => Advice::Random,
            (Fadvise::ByAccess, false) | (Fadvise::Sequential, _) => Advice::Sequential,
            (Fadvise::NoReuse, _) => Advice::NoReuse,
        };
        self.random_access = Some(matches!(advice, Advice::Random));
        self.for_each("give advice about", |kind, fd| match kind {
            FileKind::Regular | FileKind::Block => rustix::fs::fadvise(fd, 0, None, advice),
            FileKind::Character | FileKind::Directory | FileKind::Missing | FileKind::Other => {
                Ok(())
            }
        })
    }

    /// Reads all files into the page cache, whatever they are opened for. `progress` is given the
    /// bytes read so far and may stop it.
    ///
    /// # Errors
    /// The first file that cannot be read.
    pub fn pre_read(
        &self,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let mut buffer = vec![0_u8; PRE_READ_BYTES];
        let mut total_bytes = 0;
        for spec in &self.specs {
            let fail = |errno: Errno| EngineError::file("read", &spec.path, errno);
            let fd = rustix::fs::open(&spec.path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(fail)?;
            let mut offset = 0;
            while offset < spec.size_bytes {
                let want = (spec.size_bytes - offset).min(PRE_READ_BYTES as u64) as usize;
                let n_read = match rustix::io::pread(&fd, &mut buffer[..want], offset) {
                    Ok(0) => break,
                    Ok(n_read) => n_read as u64,
                    Err(Errno::INTR) => continue,
                    Err(errno) => return Err(fail(errno)),
                };
                offset += n_read;
                total_bytes += n_read;
                if progress(total_bytes).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn for_each(
        &mut self,
        action: &'static str,
        mut apply: impl FnMut(FileKind, &OwnedFd) -> rustix::io::Result<()>,
    ) -> Result<(), EngineError> {
        for index in 0..self.len() {
            let file = FileIdx(index as u32);
            self.fd(file).map_err(|result| {
                open_error(&self.specs[index], Errno::from_raw_os_error(-result))
            })?;
            let Some(fd) = &self.fds[index] else { continue };
            apply(self.kinds[index], fd)
                .map_err(|errno| EngineError::file(action, &self.specs[index].path, errno))?;
        }
        Ok(())
    }

    #[cold]
    fn open_late(&mut self, file: FileIdx) -> Result<RawFd, i32> {
        if self.would_evict(file) {
            self.evict().map_err(|errno| -errno.raw_os_error())?;
        }
        self.open(file).map_err(|errno| -errno.raw_os_error())
    }

    /// Opens the file; there is room for it.
    fn open(&mut self, file: FileIdx) -> rustix::io::Result<RawFd> {
        let index = file.0 as usize;
        assert!(self.fds[index].is_none(), "file {index} is opened, and is open");
        assert!(!self.would_evict(file), "{} files are open, and {index} is opened", self.n_open());
        let fd = open_path(&self.names[index], self.specs[index].open)?;
        self.kinds[index] = FileKind::from_mode(rustix::fs::fstat(&fd)?.st_mode);
        let raw = fd.as_raw_fd();
        self.fds[index] = Some(Arc::new(fd));
        self.generation += 1;
        if self.is_limited() {
            self.ring.add(file);
            self.used[index] = true;
        }
        Ok(raw)
    }

    /// Closes the first file behind the hand that was not used since the hand last passed.
    fn evict(&mut self) -> rustix::io::Result<()> {
        loop {
            let Some(file) = self.ring.pass() else { continue };
            if !std::mem::take(&mut self.used[file.0 as usize]) {
                return self.close_raw(file);
            }
        }
    }

    fn close_raw(&mut self, file: FileIdx) -> rustix::io::Result<()> {
        let Some(fd) = self.fds[file.0 as usize].take() else { return Ok(()) };
        self.generation += 1;
        if self.is_limited() {
            self.ring.remove(file);
        }
        // The last one to have it open closes it.
        let Some(fd) = Arc::into_inner(fd) else { return Ok(()) };
        if self.policy.fsync_on_close && self.specs[file.0 as usize].open.write {
            return rustix::fs::fsync(fd.as_fd());
        }
        Ok(())
    }
}

impl Drop for FileTable {
    fn drop(&mut self) {
        // Whoever needs to know whether the files are durable calls `close_all`.
        let _ = self.close_all();
    }
}

/// Opens a path. Access times stay untouched where that is allowed: they are no part of the load.
fn open_path(name: &CStr, open: OpenFlags) -> rustix::io::Result<OwnedFd> {
    let mut flags = OFlags::CLOEXEC
        | match (open.read, open.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
    flags.set(OFlags::DIRECT, open.direct);
    flags.set(OFlags::CREATE, open.create);
    flags |= OFlags::from_bits_retain(open.more_bits);
    flags |= match open.sync {
        SyncMode::None => OFlags::empty(),
        SyncMode::Sync => OFlags::SYNC,
        // The library's own `DSYNC` has the bits of `SYNC`.
        SyncMode::Dsync => OFlags::from_bits_retain(libc::O_DSYNC as u32),
    };
    // As fio: what is made as it is opened is its owner's alone, what is laid out is readable.
    let mode = Mode::from_raw_mode(0o600);
    loop {
        match rustix::fs::open(name, flags | OFlags::NOATIME, mode) {
            // Only the owner may leave access times alone.
            Err(Errno::PERM) => {}
            Err(Errno::INTR) => continue,
            other => return other,
        }
        match rustix::fs::open(name, flags, mode) {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// Where a file is asked whether it takes `RWF_NOWAIT`: behind the end of every file, at a multiple
/// of every block, so that nothing is read.
const BEHIND_ALL: i64 = 1 << 62;

/// Returns whether a file refuses I/O that must not wait. Nothing is read.
fn refuses_nowait(fd: BorrowedFd<'_>) -> bool {
    let mut block = Block([0; 4096]);
    let memory = libc::iovec { iov_base: block.0.as_mut_ptr().cast(), iov_len: block.0.len() };
    // SAFETY: the one piece of memory is named with its length, and outlives the call.
    let result = call::retry(|| unsafe {
        libc::preadv2(fd.as_raw_fd(), &raw const memory, 1, BEHIND_ALL, libc::RWF_NOWAIT)
    });
    result == -libc::EOPNOTSUPP
}

/// Memory for direct I/O.
#[repr(align(4096))]
struct Block([u8; 4096]);

fn open_error(spec: &FileSpec, errno: Errno) -> EngineError {
    if errno == Errno::INVAL && spec.open.direct {
        return EngineError::DirectRefused { path: spec.path.display().to_string() };
    }
    EngineError::file("open", &spec.path, errno)
}

pub(crate) fn c_path(path: &Path) -> Result<CString, EngineError> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| EngineError::BadPath {
        path: path.display().to_string().replace('\0', "\u{fffd}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns which files of a table are open.
    fn open_files(table: &FileTable) -> Vec<usize> {
        let all = table.raw_fds().into_iter().enumerate();
        all.filter(|(_, fd)| *fd >= 0).map(|(idx, _)| idx).collect()
    }

    #[test]
    fn a_file_is_closed_that_is_open() {
        testing::check_wrong_calls(&[("twice", "a file that is open has its place", &|| {
            let mut ring = Ring::new(2, 2);
            ring.add(FileIdx(1));
            ring.remove(FileIdx(1));
            ring.remove(FileIdx(1));
        })]);
    }

    #[test]
    fn the_file_that_was_not_used_for_a_while_is_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let spec = |number| {
            let path = folder.path().join(format!("{number}"));
            std::fs::write(&path, "").expect("it is ours");
            FileSpec { path, open: OpenFlags::default(), size_bytes: 0 }
        };
        let policy = TablePolicy { n_open: Some(3), ..TablePolicy::default() };
        let mut table = FileTable::new((0..6).map(spec).collect(), policy).expect("they are there");
        assert_eq!(open_files(&table), [0, 1, 2]);
        // Used, and which files are open then.
        for (used, open) in [
            // All were just opened: the first one goes.
            (3, [1, 2, 3]),
            (1, [1, 2, 3]),
            // The second one was used since, the third one was not.
            (4, [1, 3, 4]),
            // Three was used when it was opened, one before that.
            (5, [3, 4, 5]),
        ] {
            assert!(table.fd(FileIdx(used)).expect("it is there") >= 0);
            assert_eq!(open_files(&table), open, "after {used}");
        }
        let mut other = table.share();
        for file in [3, 5] {
            table.close(FileIdx(file)).expect("nothing is to be made durable");
        }
        assert_eq!((open_files(&table), open_files(&other)), (vec![4], vec![3, 4, 5]));
        for file in [0, 1, 2, 3] {
            table.fd(FileIdx(file)).expect("it is there");
            other.fd(FileIdx(file)).expect("it is there");
        }
        assert_eq!((table.n_open(), other.n_open()), (3, 3));
        table.close_all().expect("nothing is to be made durable");
        assert_eq!(open_files(&table), Vec::<usize>::new());
    }

    #[test]
    fn a_file_is_opened_once_and_where_there_is_room() {
        let open = OpenFlags::default();
        let file = FileSpec { path: "/dev/zero".into(), open, size_bytes: 0 };
        let table = |n_open| {
            let policy = TablePolicy { n_open, lazy: true, ..TablePolicy::default() };
            FileTable::new(vec![file.clone(); 3], policy).expect("a table")
        };
        let opened = |n_open, all: &[u32]| {
            let mut table = table(n_open);
            for idx in all {
                table.open(FileIdx(*idx)).expect("is there");
            }
        };
        opened(Some(2), &[2, 0]);
        testing::check_wrong_calls(&[
            ("none at all", "none of 3 files may be open", &|| drop(table(Some(0)))),
            ("one twice", "file 1 is opened, and is open", &|| opened(None, &[1, 1])),
            ("one too many", "2 files are open, and 1 is opened", &|| opened(Some(2), &[2, 0, 1])),
        ]);
    }

    #[test]
    fn no_more_files_are_opened_than_may_be() {
        let open = OpenFlags::default();
        let file = FileSpec { path: "/dev/zero".into(), open, size_bytes: 0 };
        let policy = TablePolicy { n_open: Some(2), lazy: true, ..TablePolicy::default() };
        let mut table = FileTable::new(vec![file; 4], policy).expect("a table");
        table.fd(FileIdx(3)).expect("is there");
        table.open_all(&mut || ControlFlow::Continue(())).expect("are there");
        assert_eq!((table.n_open(), table.fds[3].is_some()), (2, true));
    }

    #[test]
    fn a_file_says_whether_it_takes_io_that_must_not_wait() {
        // Neither depends on what the file systems of this host can do.
        for (path, refuses) in [(c"/proc/self/stat", true), (c"/dev/zero", false)] {
            let file = rustix::fs::open(path, OFlags::RDONLY, Mode::empty()).expect("is there");
            assert_eq!(refuses_nowait(file.as_fd()), refuses, "{path:?}");
        }
    }
}
