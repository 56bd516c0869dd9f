//! Copies that survive a page that cannot be had.
//!
//! The kernel answers access to such a page with SIGBUS, at the instruction that touched it. The
//! handler puts a page of zeros in its place, so that the instruction succeeds, and notes the
//! fault; the copy then reports it. Jumping out of the handler was rejected: it would skip frames
//! that Rust does not allow to skip. A look at the file's size before each copy was rejected, too:
//! it costs more than the copy, and sees no failing device.

use std::io;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

/// What was there for SIGBUS before: Rust's own handler, or a program's.
static PREVIOUS: OnceLock<Option<libc::sigaction>> = OnceLock::new();

/// What a thread is copying. Plain numbers without a destructor, so that the handler may look.
struct Guard {
    start: AtomicUsize,
    end: AtomicUsize,
    page_bytes: AtomicUsize,
    faulted: AtomicBool,
}

thread_local! {
    static GUARD: Guard = const {
        Guard {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            page_bytes: AtomicUsize::new(0),
            faulted: AtomicBool::new(false),
        }
    };
}

/// Sets the handler, once for the process.
pub(super) fn install() -> io::Result<()> {
    let previous = PREVIOUS.get_or_init(|| {
        // SAFETY: all zeros is a valid action; the handler has the type that SA_SIGINFO asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(_, _, _) = on_fault;
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            let mut previous: libc::sigaction = std::mem::zeroed();
            let result = libc::sigaction(libc::SIGBUS, &raw const action, &raw mut previous);
            (result == 0).then_some(previous)
        }
    });
    match previous {
        Some(_) => Ok(()),
        None => Err(io::Error::last_os_error()),
    }
}

/// Copies `len` bytes; says whether all pages could be had.
///
/// # Safety
/// Both ranges are mapped and do not overlap; `window` is a mapping of the caller's that holds the
/// one of them that may fault.
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, len: usize, window: Range<usize>) -> bool {
    GUARD.with(|guard| {
        guard.page_bytes.store(crate::arena::page_bytes(), Ordering::Relaxed);
        guard.start.store(window.start, Ordering::Relaxed);
        guard.end.store(window.end, Ordering::Relaxed);
        // The handler runs in this thread, in the middle of the copy.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the caller promises that both ranges are valid.
        unsafe { std::ptr::copy_nonoverlapping(from, to, len) };
        compiler_fence(Ordering::SeqCst);
        guard.end.store(0, Ordering::Relaxed);
        if guard.faulted.load(Ordering::Relaxed) {
            guard.faulted.store(false, Ordering::Relaxed);
            return false;
        }
        true
    })
}

extern "C" fn on_fault(
    signal: libc::c_int,
    facts: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes facts of a SIGBUS, which name an address.
    let address = unsafe { (*facts).si_addr() } as usize;
    let is_ours = GUARD.with(|guard| {
        let window = guard.start.load(Ordering::Relaxed)..guard.end.load(Ordering::Relaxed);
        let page_bytes = guard.page_bytes.load(Ordering::Relaxed);
        if !window.contains(&address) || !replace_page(address, page_bytes) {
            return false;
        }
        guard.faulted.store(true, Ordering::Relaxed);
        true
    });
    if !is_ours {
        pass_on(signal, facts, context);
    }
}

/// Puts a page of zeros where the address lies.
fn replace_page(address: usize, page_bytes: usize) -> bool {
    let page = (address & !(page_bytes - 1)) as *mut libc::c_void;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: the page is part of a window, which its owner gives up after the fault.
    let result = unsafe { libc::mmap(page, page_bytes, protection, flags, -1, 0) };
    result != libc::MAP_FAILED
}

/// Lets the handler before ours have the signal; without one, the process ends as it would have.
fn pass_on(signal: libc::c_int, facts: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let previous = PREVIOUS.get().copied().flatten();
    let handler = previous.map_or(libc::SIG_DFL, |action| action.sa_sigaction);
    let takes_facts = previous.is_some_and(|action| action.sa_flags & libc::SA_SIGINFO != 0);
    // SAFETY: the kernel reported `handler` as what was set before, with the type that its flags
    // say. Restoring the default lets the instruction fault again, which ends the process.
    unsafe {
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            libc::signal(signal, libc::SIG_DFL);
        } else if takes_facts {
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(handler);
            handler(signal, facts, context);
        } else {
            let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
}
