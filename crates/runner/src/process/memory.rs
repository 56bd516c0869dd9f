//! Memory nodes, and memory that is only there to be missing elsewhere.

use std::io;
use std::ptr::NonNull;

use super::error::ProcessError;

/// Nodes that a mask has room for: the most that Linux can be built for.
const NODES_MAX: u32 = 1024;

/// Left free when memory is locked, so that the machine lives on.
const SPARED_BYTES: u64 = 128 << 20;

/// Memory locked for the length of a run (`lockmem`), to leave less for the page cache.
pub(crate) struct LockedMemory {
    base: NonNull<libc::c_void>,
    size_bytes: usize,
}

// SAFETY: no code reads or writes the memory; unmapping it is no thread's own business.
unsafe impl Send for LockedMemory {}

impl LockedMemory {
    /// Takes and locks memory.
    pub(crate) fn new(size_bytes: u64) -> Result<Self, ProcessError> {
        let refused = |source| ProcessError::LockMemory { size_bytes, source };
        let available = available_bytes().saturating_sub(SPARED_BYTES);
        let size = usize::try_from(size_bytes).ok().filter(|_| size_bytes <= available);
        let size = size.ok_or_else(|| refused(io::Error::from_raw_os_error(libc::ENOMEM)))?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
        let base = (base != libc::MAP_FAILED).then(|| NonNull::new(base)).flatten();
        let base = base.ok_or_else(|| refused(io::Error::last_os_error()))?;
        let locked = LockedMemory { base, size_bytes: size };
        // SAFETY: the range is the mapping just made.
        match unsafe { libc::mlock(base.as_ptr(), size) } {
            0 => Ok(locked),
            _ => Err(refused(io::Error::last_os_error())),
        }
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping, which no other code knows.
        unsafe { libc::munmap(self.base.as_ptr(), self.size_bytes) };
    }
}

/// Returns the memory that can be had without swapping; without limit where the system does not
/// say.
fn available_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or(u64::MAX, |kib| kib.saturating_mul(1024))
}

/// Returns the CPUs of a memory node.
pub(super) fn cpus_of_node(node: u32) -> Result<Vec<u32>, ProcessError> {
    let text = std::fs::read_to_string(format!("/sys/devices/system/node/node{node}/cpulist"))
        .map_err(|source| ProcessError::NoNode { node, source })?;
    Ok(numbers(text.trim()).unwrap_or_default())
}

/// Sets where the calling thread's memory comes from.
pub(super) fn set_policy(text: &str) -> Result<(), ProcessError> {
    let unknown = || ProcessError::PolicyText { text: text.to_owned() };
    let (mode, nodes) = parse_policy(text).ok_or_else(unknown)?;
    let mut mask = [0_u64; (NODES_MAX / u64::BITS) as usize];
    for node in nodes {
        let word = mask.get_mut((node / u64::BITS) as usize).ok_or_else(unknown)?;
        *word |= 1 << (node % u64::BITS);
    }
    let is_empty = mask.iter().all(|word| *word == 0);
    let pointer = if is_empty { std::ptr::null() } else { mask.as_ptr() };
    let n_bits = if is_empty { 0 } else { NODES_MAX };
    // SAFETY: the kernel reads at most `n_bits` bits of the mask, which outlives the call.
    match unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, pointer, n_bits) } {
        0 => Ok(()),
        _ => {
            Err(ProcessError::Policy { text: text.to_owned(), source: io::Error::last_os_error() })
        }
    }
}

/// Reads `mode` or `mode:nodes`.
fn parse_policy(text: &str) -> Option<(i32, Vec<u32>)> {
    let (mode, nodes) = match text.split_once(':') {
        Some((mode, nodes)) => (mode.trim(), numbers(nodes)?),
        None => (text.trim(), Vec::new()),
    };
    let n_nodes = nodes.len();
    let mode = match mode {
        "default" if n_nodes == 0 => libc::MPOL_DEFAULT,
        "local" if n_nodes == 0 => libc::MPOL_LOCAL,
        "prefer" if n_nodes == 1 => libc::MPOL_PREFERRED,
        "bind" if n_nodes > 0 => libc::MPOL_BIND,
        "interleave" if n_nodes > 0 => libc::MPOL_INTERLEAVE,
        _ => return None,
    };
    Some((mode, nodes))
}

/// Reads a list such as `0,2-3`.
fn numbers(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last >= NODES_MAX.max(1 << 16) {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::{numbers, parse_policy};

    #[track_caller]
    fn check(text: &str, expected: Option<(i32, &[u32])>) {
        assert_eq!(parse_policy(text), expected.map(|(mode, nodes)| (mode, nodes.to_vec())));
    }

    #[test]
    fn policies_are_read() {
        check("default", Some((0, &[])));
        check("prefer:1", Some((1, &[1])));
        check("bind:0-2,5", Some((2, &[0, 1, 2, 5])));
        check("interleave:0,1", Some((3, &[0, 1])));
        check("local", Some((4, &[])));
        check("bind", None);
        check("prefer:0,1", None);
        check("bind:x", None);
        check("nearest:0", None);
        check("bind:0-4000000000", None);
        assert_eq!(numbers("0-1"), Some(vec![0, 1]));
    }
}
