//! What engines know besides the switches of the job.

use plan::{EngineSpec, IoPriority};

/// What an engine has to know besides its switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BuildOptions {
    /// Operations in flight at most, at least 1; slots are below it.
    pub queue_depth: u32,
    /// Behave as if the kernel had no io_uring.
    pub forbid_uring: bool,
    /// Writes are all or nothing (`RWF_ATOMIC`).
    pub atomic_writes: bool,
    /// Flags of `sync_file_range(2)`.
    pub sync_file_range_flags: u32,
    /// Priority of operations that have none of their own. For engines whose operations may be
    /// issued by a thread of the kernel, which does not have that of the worker.
    pub priority: IoPriority,
}

/// Returns the `RWF_` flags of reads and writes.
pub(crate) fn rwf_flags(spec: &EngineSpec, options: &BuildOptions) -> (i32, i32) {
    let mut common = 0;
    if spec.uncached {
        common |= libc::RWF_DONTCACHE;
    }
    if spec.nowait {
        common |= libc::RWF_NOWAIT;
    }
    (common, common | if options.atomic_writes { libc::RWF_ATOMIC } else { 0 })
}
