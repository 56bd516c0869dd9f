//! Memory that runs out: the process ends with a message instead of an abort.
//!
//! What a plan needs is checked before (`runner`); this is for what cannot be foreseen, such as a
//! limit that other processes use up meanwhile.

use std::alloc::{GlobalAlloc, Layout};
use std::panic::{self, PanicHookInfo};

use rustix::process::{Resource, getrlimit};

use crate::exit::Exit;

/// Requests of this size and more fail as usual: the caller may be able to do without.
const LARGE_BYTES: usize = 1 << 20;

/// Makes ready for little memory. Before any other thread starts.
pub(crate) fn prepare() {
    if getrlimit(Resource::As).current.is_some() {
        take_one_arena();
    }
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if lacks_signal_stack(info) {
            end();
        }
        usual(info);
    }));
}

/// Keeps glibc from setting 64 MiB of addresses aside for each of many threads: under `ulimit -v`
/// they are what is missing then.
fn take_one_arena() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call takes two numbers, and no other thread allocates yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Says whether a thread has found no room for the stack of its signals. Rust panics then where
/// nothing can catch it, and the process would abort.
fn lacks_signal_stack(info: &PanicHookInfo<'_>) -> bool {
    let text = info.payload().downcast_ref::<String>();
    text.is_some_and(|text| text.contains("alternative stack"))
}

/// An allocator whose small requests do not fail: the process ends where one would.
#[derive(Debug)]
pub(crate) struct OrEnd<A>(pub(crate) A);

// SAFETY: each call is handed on as it is; a null pointer of the inner allocator is returned or
// ends the process.
unsafe impl<A: GlobalAlloc> GlobalAlloc for OrEnd<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract, which is the same.
        given(unsafe { self.0.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.0.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size_bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { self.0.realloc(memory, layout, size_bytes) }, size_bytes)
    }
}

#[inline]
fn given(memory: *mut u8, size_bytes: usize) -> *mut u8 {
    if memory.is_null() && size_bytes < LARGE_BYTES {
        end();
    }
    memory
}

/// Ends the process without a further allocation, and without what others do at its end: a file
/// that is being written stays as it is, and a scratch file stays.
#[cold]
fn end() -> ! {
    const TEXT: &str = "error: this process can have no more memory\n\n\
        hint: lower `numjobs`, `nrfiles` or `iodepth`, or raise the limit (`ulimit -v`, that of \
        the container)\n";
    // What cannot be written is lost.
    let _ = rustix::io::write(rustix::stdio::stderr(), TEXT.as_bytes());
    signal_hook::low_level::exit(i32::from(Exit::RunFailed.number()))
}
