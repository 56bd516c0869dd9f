//! Making a file of a given size, with contents, before a job works on it.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use plan::files::Fallocate;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::EngineError;
use crate::files::FileKind;
use crate::probe::probe;

/// Bytes per write: large enough to stream to any device, small enough that an interrupt is
/// answered at once and the contents stay in a second-level cache.
const CHUNK_BYTES: usize = 1 << 20;

/// Bytes of dirty pages after which write-back is started, so that the final sync does not have to
/// do all the work while the progress stands still at 100 %.
const WRITE_BACK_BYTES: u64 = 64 << 20;

/// A file up to this size is small: there may be a million of them.
const SMALL_BYTES: u64 = 1 << 20;

/// How a file is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutSpec {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Write from here on: what is before is there already.
    pub from_bytes: u64,
    /// How space is reserved before it is written.
    pub fallocate: Fallocate,
    /// Write all of it. Otherwise the file only gets its size and space.
    pub write: bool,
    /// Make what was written durable at the end.
    pub fsync: bool,
}

impl LayoutSpec {
    /// Asserts that what is written ends where the file does.
    pub(crate) fn check(&self) {
        let LayoutSpec { size_bytes, from_bytes, .. } = *self;
        let is_within = from_bytes <= size_bytes;
        assert!(is_within, "a file of {size_bytes} B is written from {from_bytes} B on");
    }
}

/// Makes a file of the given size, or extends or cuts an existing one to it. Writes what `fill`
/// puts into the buffer for an offset; `progress` is given the bytes written so far, and may stop
/// it.
///
/// Returns the bytes written from `from_bytes` on: fewer than asked for when it was stopped, and
/// none when the file only gets its size and space. A stopped file is as long as what was written.
///
/// # Errors
/// `NoSpace` before anything is written when the file system cannot hold the file; `File` for what
/// fails on the way.
///
/// # Panics
/// If it is to be written from beyond its end on.
pub fn layout(
    path: &Path,
    spec: &LayoutSpec,
    mut fill: impl FnMut(u64, &mut [u8]),
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, EngineError> {
    spec.check();
    let fits = check_space(path, spec)?;
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|source| EngineError::file("create", path, source))?;
    reserve(&file, path, spec, fits)?;
    let mut written_bytes = 0;
    if spec.write {
        written_bytes = write(&file, path, spec, &mut fill, progress)?;
    }
    // A reservation holds nothing yet. Made durable, it would wait for whatever the file system's
    // journal holds of others: seconds on a busy disk. fio makes none durable either.
    if spec.fsync && spec.write {
        file.sync_all().map_err(|source| EngineError::file("sync", path, source))?;
    }
    Ok(written_bytes)
}

/// Compares what the file still needs with what is free, and says whether it fits.
///
/// A file that is to be written in full must fit. One that only reserves space because that is the
/// default need not: its job may end long before it has written so much.
fn check_space(path: &Path, spec: &LayoutSpec) -> Result<bool, EngineError> {
    if spec.size_bytes <= SMALL_BYTES && has_room(path, spec.size_bytes) {
        return Ok(true);
    }
    let facts = probe(path)?;
    let (FileKind::Regular | FileKind::Missing, Some(free_bytes)) = (facts.kind, facts.free_bytes)
    else {
        return Ok(true);
    };
    let must_reserve = matches!(spec.fallocate, Fallocate::Posix | Fallocate::KeepSize);
    let needed_bytes = spec.size_bytes.saturating_sub(facts.allocated_bytes);
    let fits = needed_bytes <= free_bytes;
    if (spec.write || must_reserve) && !fits {
        let path = path.display().to_string();
        return Err(EngineError::NoSpace { path, needed_bytes, free_bytes });
    }
    Ok(fits)
}

/// Returns whether the folder of a file has room for so many bytes: one call, where all that there
/// is to know about the file takes several.
fn has_room(path: &Path, size_bytes: u64) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let facts = rustix::fs::statvfs(folder.unwrap_or(Path::new(".")));
    facts.is_ok_and(|facts| facts.f_bavail.saturating_mul(facts.f_frsize) >= size_bytes)
}

/// Sets the size and reserves space. A file system that cannot reserve is passed over, as the
/// contents will take the space; a full one is not.
///
/// A file that is written grows with its contents: were the size set first, an interrupted file
/// would look complete.
fn reserve(file: &File, path: &Path, spec: &LayoutSpec, fits: bool) -> Result<(), EngineError> {
    let facts = file.metadata().map_err(|source| EngineError::file("look at", path, source))?;
    if !facts.is_file() {
        return Ok(());
    }
    let size_bytes = spec.size_bytes;
    let sets_size = !spec.write && !matches!(spec.fallocate, Fallocate::None | Fallocate::KeepSize);
    if facts.len() > size_bytes || sets_size {
        file.set_len(size_bytes)
            .map_err(|source| EngineError::file("set the size of", path, source))?;
    }
    let flags = match spec.fallocate {
        Fallocate::None | Fallocate::Truncate => return Ok(()),
        Fallocate::Native if !fits => return Ok(()),
        Fallocate::Native | Fallocate::Posix if !spec.write => FallocateFlags::empty(),
        Fallocate::Native | Fallocate::Posix | Fallocate::KeepSize => FallocateFlags::KEEP_SIZE,
    };
    if size_bytes > 0 {
        loop {
            match rustix::fs::fallocate(file, flags, 0, size_bytes) {
                Err(Errno::INTR) => {}
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => break,
                Err(errno) => return Err(EngineError::file("reserve space for", path, errno)),
            }
        }
    }
    Ok(())
}

fn write(
    file: &File,
    path: &Path,
    spec: &LayoutSpec,
    fill: &mut impl FnMut(u64, &mut [u8]),
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, EngineError> {
    // No larger than the file: clearing a whole chunk takes longer than making a small one.
    let mut buffer = vec![0_u8; chunk_bytes(spec.size_bytes - spec.from_bytes)];
    let mut offset = spec.from_bytes;
    while offset < spec.size_bytes {
        let len = chunk_bytes(spec.size_bytes - offset);
        let chunk = &mut buffer[..len];
        fill(offset, chunk);
        let mut n_written = 0;
        while n_written < len {
            match rustix::io::pwrite(file, &chunk[n_written..], offset + n_written as u64) {
                Ok(n) => n_written += n,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(EngineError::file("write", path, errno)),
            }
        }
        offset += len as u64;
        let written_bytes = offset - spec.from_bytes;
        if written_bytes.is_multiple_of(WRITE_BACK_BYTES) {
            start_write_back(file, offset - WRITE_BACK_BYTES);
        }
        if progress(written_bytes).is_break() {
            return Ok(written_bytes);
        }
    }
    Ok(offset - spec.from_bytes)
}

/// Returns how many of these bytes are written at once.
fn chunk_bytes(left_bytes: u64) -> usize {
    left_bytes.min(CHUNK_BYTES as u64) as usize
}

/// Starts write-back of what was written last. Where that is not possible, the sync does it all.
fn start_write_back(file: &File, offset: u64) {
    use std::os::fd::AsRawFd;
    // SAFETY: the call takes no memory.
    unsafe {
        libc::sync_file_range(
            file.as_raw_fd(),
            offset as i64,
            WRITE_BACK_BYTES as i64,
            libc::SYNC_FILE_RANGE_WRITE,
        )
    };
}
