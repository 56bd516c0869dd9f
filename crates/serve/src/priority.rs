//! Threads that must answer on time come before programs that use every processor.

/// Lowest of the priorities above all ordinary threads.
const LOWEST_REAL_TIME: i32 = 1;

/// Puts the calling thread, and those that it starts from now on, before all ordinary ones. Only
/// root may; for others nothing changes.
///
/// Such a thread must not compute for long: while it does, ordinary ones have a processor less. The
/// kernel leaves those 5 % even then. With only one processor nothing changes: a program that waits
/// for an answer would have none left for its next request.
pub(crate) fn go_ahead() {
    if std::thread::available_parallelism().is_ok_and(|n_cores| n_cores.get() > 1) {
        set(libc::SCHED_FIFO, LOWEST_REAL_TIME);
    }
}

/// Makes the calling thread an ordinary one again.
pub(crate) fn go_back() {
    set(libc::SCHED_OTHER, 0);
}

fn set(policy: i32, priority: i32) {
    const CALLING_THREAD: i32 = 0;
    // Of the kernel's `sched_param` this is the one field, in every C library.
    let param: [i32; 1] = [priority];
    // Not by the C library's function: musl has it refuse always.
    // SAFETY: the call reads one `int` from `param`, which lives until it returns.
    unsafe {
        // Without the right to do so the kernel's default stays.
        libc::syscall(libc::SYS_sched_setscheduler, CALLING_THREAD, policy, param.as_ptr());
    }
}
