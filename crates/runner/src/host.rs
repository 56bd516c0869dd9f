//! What this machine is, for the record.

use std::collections::BTreeMap;

use record::HostRecord;

/// Settings of the kernel that affect I/O: buffers of sockets, write-back of the page cache, and
/// limits of asynchronous I/O.
const SYSCTLS: [&str; 13] = [
    "fs.aio-max-nr",
    "kernel.io_uring_disabled",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "sunrpc.tcp_max_slot_table_entries",
    "sunrpc.tcp_slot_table_entries",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_ratio",
    "vm.swappiness",
];

/// Returns the settings that there are.
fn sysctls() -> BTreeMap<String, String> {
    let read = |name: &str| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        let text = std::fs::read_to_string(path).ok()?;
        let words: Vec<&str> = text.split_whitespace().collect();
        Some((name.to_owned(), words.join(" ")))
    };
    SYSCTLS.iter().filter_map(|name| read(name)).collect()
}

/// Returns the size of the largest cache of the first processor; 0 if unknown.
fn cpu_cache_bytes() -> u64 {
    let size = |idx: u32| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{idx}/size");
        let text = std::fs::read_to_string(path).ok()?;
        units::parse_bytes(text.trim()).ok()
    };
    (0..8).map_while(size).max().unwrap_or(0)
}

/// Describes this machine. What cannot be found out stays empty.
pub fn describe() -> HostRecord {
    let uname = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu_model = read("/proc/cpuinfo")
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or_else(String::new, |(_, model)| model.trim().to_owned());
    let memory_kib = read("/proc/meminfo")
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse().ok())
        .unwrap_or(0_u64);
    HostRecord {
        name: text(uname.nodename()),
        kernel: format!("{} {}", text(uname.sysname()), text(uname.release())),
        architecture: text(uname.machine()),
        cpu_model,
        n_cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        memory_bytes: memory_kib * 1024,
        cpu_cache_bytes: cpu_cache_bytes(),
        sysctls: sysctls(),
    }
}
