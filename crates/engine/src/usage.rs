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
    /// Time ready to run while others had the processor, in nanoseconds; 0 where the kernel does
    /// not count it.
    pub cpu_wait_ns: u64,
    /// Times a processor was given to it.
    pub n_cpu_slices: u64,
}

impl Usage {
    /// Reads the processor time of the whole process, all threads that are or were; the rest is 0.
    pub fn of_process() -> Self {
        let Some(raw) = rusage(libc::RUSAGE_SELF) else { return Usage::default() };
        let (user_ns, system_ns) = (ns(raw.ru_utime), ns(raw.ru_stime));
        Usage { user_ns, system_ns, ..Usage::default() }
    }

    /// Reads the counters of the calling thread (`getrusage(2)`, `schedstat`).
    pub fn of_thread() -> Self {
        let Some(raw) = rusage(libc::RUSAGE_THREAD) else { return Usage::default() };
        let (cpu_wait_ns, n_cpu_slices) = waits_of_thread().unwrap_or_default();
        Usage {
            user_ns: ns(raw.ru_utime),
            system_ns: ns(raw.ru_stime),
            context_switches: (raw.ru_nvcsw + raw.ru_nivcsw) as u64,
            major_faults: raw.ru_majflt as u64,
            minor_faults: raw.ru_minflt as u64,
            cpu_wait_ns,
            n_cpu_slices,
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
            cpu_wait_ns: self.cpu_wait_ns.saturating_sub(earlier.cpu_wait_ns),
            n_cpu_slices: self.n_cpu_slices.saturating_sub(earlier.n_cpu_slices),
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
        self.cpu_wait_ns += other.cpu_wait_ns;
        self.n_cpu_slices += other.n_cpu_slices;
    }
}

/// Reads `getrusage(2)` of a thread or process.
fn rusage(of: libc::c_int) -> Option<libc::rusage> {
    // SAFETY: `rusage` is plain integers, for which zero bytes are valid.
    let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live `rusage`; the call writes it and nothing else.
    (unsafe { libc::getrusage(of, &raw mut raw) } == 0).then_some(raw)
}

fn ns(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

/// Reads how long the calling thread was ready to run and did not, and how often it was given a
/// processor (`/proc/thread-self/schedstat`: time on a processor, time waiting for one, slices).
fn waits_of_thread() -> Option<(u64, u64)> {
    parse_waits(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// Reads the second and third number of a line of `schedstat`.
fn parse_waits(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.split_ascii_whitespace().skip(1).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::parse_waits;

    #[test]
    fn waits_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_waits("91683309 10454274 4851\n"), Some((10_454_274, 4851)));
        assert_eq!(parse_waits("0 0 1\n"), Some((0, 1)));
        for text in ["", "1", "1 2", "1 x 3"] {
            assert_eq!(parse_waits(text), None, "{text:?}");
        }
    }
}
