//! What this machine is, for the record.

use record::HostRecord;

/// Describes this machine. What cannot be found out stays empty.
pub(crate) fn describe() -> HostRecord {
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
        ..HostRecord::default()
    }
}
