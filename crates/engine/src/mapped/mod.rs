//! Copies to and from a mapping of the file.
//!
//! A file is mapped whole where the address space allows it, else through one window that moves.
//! A mapping cannot extend a file: a write beyond its end fails with `ENXIO`, a read there returns
//! nothing. A page that cannot be read, because the device fails or the file was cut short, is an
//! `EIO` of the operation, not the end of the process (see [`fault`]).

mod fault;

use std::os::fd::RawFd;
use std::ptr::{self, NonNull};

use plan::Direction;
use plan::job::EngineSpec;
use plan::op::{Op, OpClass, OpKind, SyncScope};
use rustix::fs::SeekFrom;

use crate::one_by_one::ExecuteOne;
use crate::without_data::without_data;
use crate::{Arena, BuildOptions, EngineError, FileTable, call};

/// Bytes of a window where a file cannot be mapped whole: few enough for 32-bit machines and
/// tight limits (`ulimit -v`), many enough that sequential work moves it rarely.
const WINDOW_BYTES: u64 = 256 << 20;

/// Copies to and from mappings.
pub(crate) struct Mapped {
    /// One per file, by its position in the table.
    windows: Vec<Option<Window>>,
    files_generation: u64,
    huge_pages: bool,
    sync_flags: u32,
}

impl Mapped {
    /// Makes the files fit for mapping.
    pub(crate) fn new(
        spec: &EngineSpec,
        files: &mut FileTable,
        options: &BuildOptions,
    ) -> Result<Mapped, EngineError> {
        files.make_readable()?;
        fault::install().map_err(|source| EngineError::System { call: "sigaction", source })?;
        Ok(Mapped {
            windows: std::iter::repeat_with(|| None).take(files.len()).collect(),
            files_generation: files.generation(),
            huge_pages: spec.huge_pages,
            sync_flags: options.sync_file_range_flags,
        })
    }

    /// Gives up the mappings of files that may have been replaced. Under a limit files come and go
    /// as they are.
    fn forget_replaced(&mut self, files: &FileTable) {
        if self.files_generation != files.generation() && !files.is_limited() {
            self.windows.fill_with(|| None);
        }
    }

    fn window_of(&self, op: &Op) -> Option<&Window> {
        self.windows.get(op.file.0 as usize).and_then(Option::as_ref)
    }

    /// Copies the bytes of a read or write. `Err` holds a negated error number, too.
    fn copy(&mut self, op: &Op, files: &mut FileTable, arena: &Arena) -> Result<i32, i32> {
        let is_write = op.kind == OpKind::Write;
        let index = op.file.0 as usize;
        if index >= self.windows.len() {
            return Err(-libc::EBADF);
        }
        if is_write && !files.spec(op.file).open.write {
            return Err(-libc::EBADF);
        }
        if !self.window_of(op).is_some_and(|window| window.holds(op)) {
            self.move_window(op, files)?;
        }
        let Some(window) = self.window_of(op) else {
            return if is_write { Err(-libc::ENXIO) } else { Ok(0) };
        };
        let skip = (op.offset - window.offset) as usize;
        let len = (window.len - skip).min(op.len as usize);
        let mapped = window.base.as_ptr().wrapping_add(skip);
        let memory = arena.memory(op);
        let (from, to) = if is_write { (memory, mapped) } else { (mapped, memory) };
        // SAFETY: both ranges were checked to hold `len` bytes. They do not overlap: one is the
        // arena. Other workers may change the mapped bytes meanwhile, as with any shared file; a
        // copy of bytes has no invalid value.
        if unsafe { fault::copy(from, to, len, window.range()) } {
            return Ok(len as i32);
        }
        // Pages of zeros stand where the file should be: give up the window.
        self.windows[index] = None;
        Err(-libc::EIO)
    }

    /// Maps the part of the file that the operation starts in; no window where it lies beyond the
    /// end.
    #[cold]
    fn move_window(&mut self, op: &Op, files: &mut FileTable) -> Result<(), i32> {
        let index = op.file.0 as usize;
        let fd = files.fd(op.file)?;
        // SAFETY: the descriptor is open: the table just returned it.
        let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
        let size_bytes =
            rustix::fs::seek(borrowed, SeekFrom::End(0)).map_err(|errno| -errno.raw_os_error())?;
        if self
            .window_of(op)
            .is_some_and(|window| window.end() == size_bytes && op.offset >= window.offset)
            && op.offset < size_bytes
        {
            // The window reaches the end already: the operation will be short.
            return Ok(());
        }
        self.windows[index] = None;
        if op.offset >= size_bytes {
            return Ok(());
        }
        let open = files.spec(op.file).open;
        let window = Window::map(fd, 0, size_bytes, open.write).or_else(|result| {
            if result != -libc::ENOMEM {
                return Err(result);
            }
            let offset = op.offset / WINDOW_BYTES * WINDOW_BYTES;
            Window::map(fd, offset, (size_bytes - offset).min(WINDOW_BYTES), open.write)
        })?;
        window.advise(files.random_access(), self.huge_pages);
        self.windows[index] = Some(window);
        Ok(())
    }
}

/// Reads or writes bytes of an open file through a mapping of their pages, which is made for it
/// and given up. A write that is `durable` is so when it returns. Returns the bytes that were
/// moved, or the negated error number; a file that ends before them is an `EIO`.
pub(crate) fn copy_once(fd: RawFd, op: &Op, memory: *mut u8, durable: bool) -> i32 {
    let is_write = op.kind == OpKind::MapWrite;
    if let Err(error) = fault::install() {
        return -error.raw_os_error().unwrap_or(libc::EIO);
    }
    let first = op.offset - op.offset % crate::arena::page_bytes() as u64;
    let skip = (op.offset - first) as usize;
    let window = match Window::map(fd, first, skip as u64 + u64::from(op.len), is_write) {
        Ok(window) => window,
        Err(result) => return result,
    };
    let mapped = window.base.as_ptr().wrapping_add(skip);
    let (from, to) = if is_write { (memory, mapped) } else { (mapped, memory) };
    // SAFETY: the window holds `len` bytes from there, the memory those of the operation, and they
    // do not overlap: one is the arena.
    if !unsafe { fault::copy(from, to, op.len as usize, window.range()) } {
        return -libc::EIO;
    }
    let result = if is_write && durable { window.sync() } else { 0 };
    if result < 0 { result } else { op.len as i32 }
}

impl ExecuteOne for Mapped {
    fn carry_out(&mut self, op: &Op, files: &mut FileTable, arena: &Arena) -> i32 {
        self.forget_replaced(files);
        let result = match op.kind.class() {
            OpClass::Bytes(Direction::Read | Direction::Write) => {
                self.copy(op, files, arena).unwrap_or_else(|result| result)
            }
            OpClass::Sync(SyncScope::All | SyncScope::Data) => match self.window_of(op) {
                Some(window) => window.sync(),
                None => without_data(files, op, self.sync_flags),
            },
            OpClass::Bytes(Direction::Trim) | OpClass::Sync(SyncScope::Range) | OpClass::File => {
                without_data(files, op, self.sync_flags)
            }
        };
        self.files_generation = files.generation();
        result
    }
}

/// A part of a file, mapped.
struct Window {
    base: NonNull<u8>,
    len: usize,
    /// Where in the file it starts.
    offset: u64,
}

// SAFETY: the mapping belongs to the window alone; the pointer is no thread's own.
unsafe impl Send for Window {}

impl Window {
    fn map(fd: RawFd, offset: u64, len: u64, writes: bool) -> Result<Window, i32> {
        let len = usize::try_from(len).map_err(|_| -libc::ENOMEM)?;
        let protection = libc::PROT_READ | if writes { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe {
            libc::mmap64(ptr::null_mut(), len, protection, libc::MAP_SHARED, fd, offset as i64)
        };
        if base == libc::MAP_FAILED {
            return Err(-call::errno());
        }
        let base = NonNull::new(base.cast()).ok_or(-libc::ENOMEM)?;
        Ok(Window { base, len, offset })
    }

    fn end(&self) -> u64 {
        self.offset + self.len as u64
    }

    fn holds(&self, op: &Op) -> bool {
        op.offset >= self.offset && op.offset.saturating_add(u64::from(op.len)) <= self.end()
    }

    fn range(&self) -> std::ops::Range<usize> {
        let start = self.base.as_ptr() as usize;
        start..start + self.len
    }

    /// Gives advice; a kernel that does not take it only works more slowly.
    fn advise(&self, random_access: Option<bool>, huge_pages: bool) {
        let order = match random_access {
            Some(true) => libc::MADV_RANDOM,
            Some(false) => libc::MADV_SEQUENTIAL,
            None => libc::MADV_NORMAL,
        };
        // SAFETY: the range is the mapping; neither advice changes its contents.
        unsafe {
            libc::madvise(self.base.as_ptr().cast(), self.len, order);
            if huge_pages {
                libc::madvise(self.base.as_ptr().cast(), self.len, libc::MADV_HUGEPAGE);
            }
        }
    }

    fn sync(&self) -> i32 {
        let base = self.base.as_ptr().cast();
        // SAFETY: the range is the mapping.
        call::retry(|| unsafe { libc::msync(base, self.len, libc::MS_SYNC) as isize })
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping, and nothing keeps a pointer into it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}
