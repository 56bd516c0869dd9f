//! What the kernel counts for a thread.

use std::ops::AddAssign;

/// What the kernel counted for a thread, or for several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on a processor in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Time on a processor in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl Usage {
    /// Reads the counters of the calling thread (`getrusage(2)`).
    pub fn of_thread() -> Self {
        // SAFETY: `rusage` is plain integers, for which zero bytes are valid.
        let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live `rusage`; the call writes it and nothing else.
        if unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut raw) } != 0 {
            return Usage::default();
        }
        let ns =
            |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Usage {
            user_ns: ns(raw.ru_utime),
            system_ns: ns(raw.ru_stime),
            context_switches: (raw.ru_nvcsw + raw.ru_nivcsw) as u64,
            major_faults: raw.ru_majflt as u64,
            minor_faults: raw.ru_minflt as u64,
        }
    }

    /// Returns what was counted after `earlier` was read.
    #[must_use]
    pub fn since(self, earlier: Usage) -> Usage {
        Usage {
            user_ns: self.user_ns - earlier.user_ns,
            system_ns: self.system_ns - earlier.system_ns,
            context_switches: self.context_switches - earlier.context_switches,
            major_faults: self.major_faults - earlier.major_faults,
            minor_faults: self.minor_faults - earlier.minor_faults,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.context_switches += other.context_switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }
}
