//! What fio prints before a run: a line per job, its version, and the number of workers.

use std::fmt::Write as _;

use plan::workload::Access;
use plan::{Job, Plan};
use units::fio::Unit;

use super::text::shorten;

/// Returns the lines before a run, up to and including `Starting 2 processes`.
///
/// `fio_version` is usually [`super::COMPAT_VERSION`]. Jobs that say `thread` are counted as
/// threads, the others as processes: what the user asked for, since scripts look for it.
pub fn start_lines(plan: &Plan, fio_version: &str) -> String {
    let mut text = String::new();
    let (mut n_threads, mut n_processes) = (0_u64, 0_u64);
    for job in plan.jobs() {
        job_line(&mut text, job);
        if job.n_workers > 1 {
            text.push_str("...\n");
        }
        let count = if job.process.thread { &mut n_threads } else { &mut n_processes };
        *count += u64::from(job.n_workers);
    }
    let _ = writeln!(text, "{fio_version}");
    let threads = (n_threads > 0).then(|| units::plural(n_threads, "thread"));
    let processes = (n_processes > 0)
        .then(|| format!("{n_processes} process{}", if n_processes == 1 { "" } else { "es" }));
    let workers: Vec<_> = threads.into_iter().chain(processes).collect();
    let _ = writeln!(text, "Starting {}", workers.join(" and "));
    text
}

/// Returns the line about files that are written before the run: how many, and their size.
pub fn layout_line(job_name: &str, n_files: u64, size_bytes: u64) -> String {
    let mib = size_bytes >> 20;
    if n_files > 1 {
        format!("{job_name}: Laying out IO files ({n_files} files / total {mib}MiB)\n")
    } else {
        format!("{job_name}: Laying out IO file ({n_files} file / {mib}MiB)\n")
    }
}

fn job_line(text: &mut String, job: &Job) {
    let print = &job.reporting;
    let size = |bytes: u32| {
        let n_chars = usize::from(print.significant_figures.clamp(1, 10));
        shorten(u64::from(bytes), n_chars, print.kb_base.is_power_of_two(), Unit::Byte)
    };
    let sizes = &job.workload.block_size;
    let _ = write!(
        text,
        "{}: (g={}): rw={}, bs=(R) {}-{}, (W) {}-{}, ",
        job.name,
        job.group_id,
        access_word(job.workload.access),
        size(sizes.read.min()),
        size(sizes.read.max()),
        size(sizes.write.min()),
        size(sizes.write.max()),
    );
    if job.workload.block_size_by_pattern {
        text.push_str("bs_is_seq_rand, ");
    } else {
        let _ = write!(text, "(T) {}-{}, ", size(sizes.trim.min()), size(sizes.trim.max()));
    }
    let _ = writeln!(text, "ioengine={}, iodepth={}", job.engine.name, job.load.queue_depth);
}

/// Returns fio's word for directions and walk, such as `randrw`.
fn access_word(access: Access) -> String {
    let directions = match (access.read, access.write, access.trim) {
        (true, true, _) => "rw",
        (_, true, true) => "trimwrite",
        (false, true, false) => "write",
        (false, false, true) => "trim",
        (_, false, _) => "read",
    };
    if access.random { format!("rand{directions}") } else { directions.to_owned() }
}
