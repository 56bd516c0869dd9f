//! The rows of rates and latencies.

use std::fmt::Write as _;

use record::{DirRecord, JobRecord, Latency};
use units::{format_iops, format_latency_ns};

/// Width of the first column with its indentation.
pub(super) const LABEL_WIDTH: usize = 11;

/// The names of the columns.
pub(super) const HEADER: &str =
    "               IOPS    MiB/s      mean       p50       p99     p99.9       max\n";

/// Returns a row per direction with I/O, its response time under a rate, and the syncs.
pub(super) fn direction_rows(job: &JobRecord) -> String {
    let mut text = String::new();
    for (name, dir) in job.dirs.iter() {
        if dir.n_ios == 0 {
            continue;
        }
        let (is_total, latency) = dir.shown_latency();
        // Without the total latency the rest is shown for what it is.
        let label = if is_total || latency.is_empty() { name } else { &format!("{name} clat") };
        put_row(&mut text, label, Some(dir), &latency);
        if let Some(response) = dir.response.as_ref().filter(|response| !response.is_empty()) {
            put_row(&mut text, " response", None, &Latency::Measured(response));
        }
    }
    let sync = job.sync_latency();
    if !sync.is_empty() {
        let runtime_ns = job.dirs.iter().map(|(_, dir)| dir.runtime_ns).max().unwrap_or(0);
        let syncs = DirRecord { n_ios: sync.count(), runtime_ns, ..DirRecord::default() };
        put_row(&mut text, "sync", Some(&syncs), &sync);
    }
    text
}

fn put_row(text: &mut String, label: &str, dir: Option<&DirRecord>, latency: &Latency<'_>) {
    let iops = dir.map_or(String::new(), |dir| format_iops(dir.rate_iops()));
    let moved = dir.filter(|dir| dir.io_bytes > 0);
    let mib_s = moved.map_or(String::new(), |dir| mib_per_s(dir.rate_bytes()));
    let mut row = format!("  {label:<9}{iops:>8} {mib_s:>8}");
    let mean = latency.mean_ns().map(|mean_ns| mean_ns.round() as u64);
    let percentiles = [50.0, 99.0, 99.9].map(|percentile| latency.percentile_ns(percentile));
    for value_ns in [mean].into_iter().chain(percentiles).chain([latency.max_ns()]) {
        let value = value_ns.map_or("-".to_owned(), format_latency_ns);
        let _ = write!(row, "{value:>10}");
    }
    text.push_str(row.trim_end());
    text.push('\n');
}

/// Returns a rate with three digits, at least; always in MiB/s, so that rows compare.
pub(crate) fn mib_per_s(rate_bytes: f64) -> String {
    let text = units::format_rate_mib_s(rate_bytes);
    text.trim_end_matches(" MiB/s").to_owned()
}
