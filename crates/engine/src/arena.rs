//! The memory that operations read into and write from: one mapping per worker, cut into equal
//! buffers.
//!
//! One mapping means one registration with a kernel ring, one lock, and huge pages where they are
//! asked for. A buffer belongs to one slot, so that no two operations in flight share memory.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use plan::op::{BufId, Op};
use plan::verify::Memory;

use crate::EngineError;

/// Size of a huge page in bytes: what x86-64 and arm64 kernels with 4 KiB pages offer by default.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Smallest alignment of a buffer in bytes when none is asked for: the smallest sector.
const SECTOR_BYTES: usize = 512;

/// What kind of memory an arena holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Private anonymous pages.
    Anonymous,
    /// Private anonymous huge pages, reserved by the administrator.
    Huge,
    /// Shared anonymous pages, which are shmem pages to the kernel.
    Shared,
    /// Shared huge pages.
    SharedHuge,
    /// Pages of a file.
    File,
}

/// How to make an arena.
#[derive(Clone, Debug)]
pub struct ArenaSpec {
    /// Buffers, at least 1: the queue depth.
    pub n_buffers: u32,
    /// Bytes per buffer, at least 1: the largest block.
    pub buffer_bytes: u32,
    /// Alignment of each buffer in bytes, a power of two; 0 is the page, or for buffers smaller
    /// than a page the next power of two, at least 512.
    pub align_bytes: u32,
    /// Kind of memory.
    pub memory: Memory,
    /// Keep the pages in memory (`mlock`).
    pub lock: bool,
    /// An operation may read or write the buffers. If none does, their pages are not touched
    /// beforehand: a queue of a million blocks of 4 KiB would take 4 GiB, and two seconds of
    /// set-up.
    pub is_used: bool,
}

impl Default for ArenaSpec {
    fn default() -> Self {
        ArenaSpec {
            n_buffers: 1,
            buffer_bytes: 4096,
            align_bytes: 0,
            memory: Memory::Malloc,
            lock: false,
            is_used: true,
        }
    }
}

/// Buffers of one worker, in one mapping.
#[derive(Debug)]
pub struct Arena {
    base: NonNull<u8>,
    /// Holds the memory behind `base`.
    mapping: Arc<Mapping>,
    stride_bytes: usize,
    buffer_bytes: u32,
    n_buffers: u32,
    kind: MemoryKind,
}

// SAFETY: the pointer is no thread's own, and the mapping outlives it. Arenas that share a mapping
// belong to threads that work for one worker, which use a buffer in turn (see `share`).
unsafe impl Send for Arena {}

/// Memory that is given back when it is no longer used.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    size_bytes: usize,
}

// SAFETY: the pointer is only used to give the memory back.
unsafe impl Send for Mapping {}

// SAFETY: as above; there is nothing to see through a shared reference.
unsafe impl Sync for Mapping {}

impl Arena {
    /// Maps the memory and, if it is used, touches all of it, so that no page fault falls into a
    /// measurement.
    ///
    /// # Errors
    /// `Memory` when the kernel does not give it; `File` for a backing file that cannot be used.
    ///
    /// # Panics
    /// If there is to be no buffer, or one without a byte.
    pub fn new(spec: &ArenaSpec) -> Result<Arena, EngineError> {
        let page_bytes = page_bytes();
        assert!(spec.n_buffers > 0, "an arena has a buffer at least");
        assert!(spec.buffer_bytes > 0, "a buffer has a byte at least");
        let align_bytes = match spec.align_bytes as usize {
            0 => (spec.buffer_bytes as usize)
                .next_power_of_two()
                .clamp(SECTOR_BYTES.min(page_bytes), page_bytes),
            asked => asked.next_power_of_two(),
        };
        let n_buffers = spec.n_buffers;
        let stride_bytes = (spec.buffer_bytes as usize).next_multiple_of(align_bytes);
        let kind = memory_kind(&spec.memory);
        let granule_bytes = match kind {
            MemoryKind::Huge | MemoryKind::SharedHuge => HUGE_PAGE_BYTES,
            MemoryKind::Anonymous | MemoryKind::Shared | MemoryKind::File => page_bytes,
        };
        // Alignments beyond a page need room to move the base.
        let slack_bytes = if align_bytes > granule_bytes { align_bytes } else { 0 };
        let size_bytes = stride_bytes
            .checked_mul(n_buffers as usize)
            .and_then(|bytes| bytes.checked_add(slack_bytes + granule_bytes))
            .map(|bytes| (bytes - 1) / granule_bytes * granule_bytes)
            .ok_or_else(|| out_of_memory(usize::MAX))?;
        let mut mapping = Mapping { base: map(size_bytes, kind, spec)?, size_bytes };
        if spec.lock {
            mapping.lock()?;
        }
        if slack_bytes > 0 {
            mapping.align_base(align_bytes);
        }
        Ok(Arena {
            base: mapping.base,
            mapping: Arc::new(mapping),
            stride_bytes,
            buffer_bytes: spec.buffer_bytes,
            n_buffers,
            kind,
        })
    }

    /// Makes an arena of the same memory, for another thread that works for the same worker.
    ///
    /// A buffer is used by one of them at a time: by the thread that carries out its operation
    /// while that is in flight, by the worker otherwise. Whoever hands the operation over orders
    /// their accesses.
    pub(crate) fn share(&self) -> Arena {
        Arena { mapping: Arc::clone(&self.mapping), ..*self }
    }

    /// Returns the number of buffers.
    pub fn n_buffers(&self) -> u32 {
        self.n_buffers
    }

    /// Returns the bytes of each buffer.
    pub fn buffer_bytes(&self) -> u32 {
        self.buffer_bytes
    }

    /// Returns the distance from one buffer to the next in bytes.
    pub fn stride_bytes(&self) -> usize {
        self.stride_bytes
    }

    /// Returns the kind of memory.
    pub fn memory_kind(&self) -> MemoryKind {
        self.kind
    }

    /// Returns the first byte of the first buffer and the bytes up to the end of the last, for
    /// registration with a kernel interface.
    pub fn region(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.stride_bytes * self.n_buffers as usize)
    }

    /// Returns the first `len` bytes of a buffer.
    ///
    /// Panics when the buffer or the length is outside of the arena (programmer error).
    ///
    /// # Safety
    /// No operation that uses the buffer is in flight while the bytes are borrowed: the kernel, or
    /// the thread that carries the operation out, writes into it until its completion has been
    /// returned.
    #[inline]
    pub unsafe fn slice(&self, buf: BufId, len: u32) -> &[u8] {
        let start = self.pointer(buf, len);
        // SAFETY: `pointer` checked the bounds; the mapping lives as long as the arena, and every
        // byte of it is initialised (zero pages). The caller says that no other code writes.
        unsafe { std::slice::from_raw_parts(start, len as usize) }
    }

    /// Returns the first `len` bytes of a buffer, to fill.
    ///
    /// Panics when the buffer or the length is outside of the arena (programmer error).
    ///
    /// # Safety
    /// As for [`Arena::slice`]; nor may anything else read the buffer meanwhile.
    #[inline]
    pub unsafe fn slice_mut(&mut self, buf: BufId, len: u32) -> &mut [u8] {
        let start = self.pointer(buf, len);
        // SAFETY: as in `slice`, and the arena is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(start, len as usize) }
    }

    /// Returns the memory of an operation, after checking that it lies in its buffer.
    #[inline]
    pub(crate) fn memory(&self, op: &Op) -> *mut u8 {
        let start = self.pointer(op.buf, op.buf_offset_bytes.saturating_add(op.len));
        start.wrapping_add(op.buf_offset_bytes as usize)
    }

    /// Returns where a buffer starts, after checking that `len` bytes fit.
    #[inline]
    fn pointer(&self, buf: BufId, len: u32) -> *mut u8 {
        assert!(
            buf.0 < self.n_buffers && len <= self.buffer_bytes,
            "an operation names memory outside of the arena"
        );
        // SAFETY: the buffer is one of `n_buffers`, each `stride_bytes` after the one before.
        unsafe { self.base.as_ptr().add(buf.0 as usize * self.stride_bytes) }
    }

    /// Gives the memory up without unmapping it. For an engine that ends while the kernel may
    /// still write into it: losing the memory is better than losing other data.
    pub(crate) fn leak(&mut self) {
        std::mem::forget(Arc::clone(&self.mapping));
    }
}

impl Mapping {
    fn lock(&self) -> Result<(), EngineError> {
        // SAFETY: the range is the mapping just made.
        match unsafe { libc::mlock(self.base.as_ptr().cast(), self.size_bytes) } {
            0 => Ok(()),
            _ => Err(out_of_memory(self.size_bytes)),
        }
    }

    /// Moves the base up to the alignment; the pages before it are given back.
    fn align_base(&mut self, align_bytes: usize) {
        let skip_bytes = self.base.as_ptr().align_offset(align_bytes);
        if skip_bytes == 0 {
            return;
        }
        let size_bytes = self.size_bytes;
        assert!(skip_bytes < size_bytes, "{skip_bytes} B are cut off a mapping of {size_bytes} B");
        // SAFETY: `skip_bytes` lies within the mapping. Both numbers are multiples of the page, so
        // the front can be unmapped by itself.
        unsafe {
            libc::munmap(self.base.as_ptr().cast(), skip_bytes);
            self.base = self.base.add(skip_bytes);
        }
        self.size_bytes -= skip_bytes;
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping, and no arena that uses it is left.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.size_bytes) };
    }
}

/// Returns the size of a page in bytes.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: the call takes no memory.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

fn memory_kind(memory: &Memory) -> MemoryKind {
    let (huge, shared) = match memory {
        Memory::Malloc => (false, false),
        Memory::Shm { huge } => (*huge, true),
        Memory::Mmap { file: Some(_), .. } => return MemoryKind::File,
        Memory::Mmap { huge, shared, file: None } => (*huge, *shared),
    };
    match (huge, shared) {
        (false, false) => MemoryKind::Anonymous,
        (true, false) => MemoryKind::Huge,
        (false, true) => MemoryKind::Shared,
        (true, true) => MemoryKind::SharedHuge,
    }
}

fn map(size_bytes: usize, kind: MemoryKind, spec: &ArenaSpec) -> Result<NonNull<u8>, EngineError> {
    let memory = &spec.memory;
    let file = match memory {
        Memory::Mmap { file: Some(path), .. } => Some(backing_file(path, size_bytes)?),
        Memory::Mmap { file: None, .. } | Memory::Shm { .. } | Memory::Malloc => None,
    };
    let shared = match memory {
        Memory::Mmap { shared, .. } => *shared,
        Memory::Shm { .. } => true,
        Memory::Malloc => false,
    };
    let mut flags = if spec.is_used { libc::MAP_POPULATE } else { libc::MAP_NORESERVE };
    flags |= if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
    if file.is_none() {
        flags |= libc::MAP_ANONYMOUS;
    }
    if matches!(kind, MemoryKind::Huge | MemoryKind::SharedHuge) {
        flags |= libc::MAP_HUGETLB;
    }
    let fd = file.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
    let base = unsafe { libc::mmap(ptr::null_mut(), size_bytes, protection, flags, fd, 0) };
    if base == libc::MAP_FAILED {
        return Err(out_of_memory(size_bytes));
    }
    NonNull::new(base.cast()).ok_or_else(|| out_of_memory(size_bytes))
}

/// Opens the backing file and makes it large enough. A device has its size already.
fn backing_file(path: &str, size_bytes: usize) -> Result<File, EngineError> {
    let name = std::path::Path::new(path);
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(name)
        .map_err(|source| EngineError::file("open for buffers", name, source))?;
    let facts = file.metadata().map_err(|source| EngineError::file("look at", name, source))?;
    if facts.is_file() && facts.len() < size_bytes as u64 {
        file.set_len(size_bytes as u64)
            .map_err(|source| EngineError::file("extend", name, source))?;
    }
    Ok(file)
}

fn out_of_memory(size_bytes: usize) -> EngineError {
    EngineError::Memory { size_bytes, source: io::Error::last_os_error() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_a_mapping_is_cut_off() {
        let cut = |align_bytes| {
            let size_bytes = page_bytes();
            let base = map(size_bytes, MemoryKind::Anonymous, &ArenaSpec::default());
            let base = base.expect("a page");
            Mapping { base, size_bytes }.align_base(align_bytes);
        };
        cut(page_bytes());
        let beyond = format!("B are cut off a mapping of {} B", page_bytes());
        // No page of a process lies at the border of a half of all that can be addressed.
        testing::check_wrong_calls(&[("half the memory", &beyond, &|| cut(1 << 63))]);
    }
}
