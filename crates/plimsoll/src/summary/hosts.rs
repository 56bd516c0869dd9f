//! What each host did, where the load came from several.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use record::{Figure, Figures, HostShareRecord, Interval, JobRecord, Record};
use units::{format_duration, format_iops, format_latency_ns, format_rate_mib_s, plural};

use super::words::fit;

/// Hosts that are listed: the slowest. The record has all.
const HOSTS_MAX: usize = 16;

/// Columns of a host's name.
const NAME_COLUMNS: usize = 24;

/// Puts a line about all hosts in a step, and one for each.
pub(super) fn put_hosts(text: &mut String, record: &Record, step_idx: u32) {
    if record.hosts.is_empty() {
        return;
    }
    let mut hosts: Vec<(f64, &HostShareRecord, Figures)> = record
        .hosts
        .iter()
        .map(|host| (host, figures_of(&host.record, step_idx)))
        .map(|(host, figures)| (figures.get(Figure::Iops).unwrap_or(0.0), host, figures))
        .collect();
    hosts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n_hosts = plural(hosts.len() as u64, "host");
    let _ = write!(text, "\n{n_hosts}");
    if let (Some((least, ..)), Some((most, ..))) = (hosts.first(), hosts.last()) {
        let _ = write!(text, ": {} to {} IOPS each", format_iops(*least), format_iops(*most));
    }
    let starts = record.hosts.iter().flat_map(|host| &host.starts);
    let errors_ns = starts.filter(|start| start.step_idx == step_idx);
    if let Some(worst_ns) = errors_ns.map(|start| start.start_error_ns.unsigned_abs()).max() {
        let _ = write!(text, ", started within {}", format_latency_ns(worst_ns));
    }
    text.push('\n');
    for (iops, host, figures) in hosts.iter().take(HOSTS_MAX) {
        let name = fit(&host.name, NAME_COLUMNS);
        let bytes = format_rate_mib_s(figures.get(Figure::BytesPerS).unwrap_or(0.0));
        let p99 = figures
            .ns(Figure::P99)
            .map_or_else(String::new, |ns| format!("  p99 {}", format_latency_ns(ns)));
        let lost = host.lost_words().map_or_else(String::new, |when| format!("  lost {when}"));
        let iops = format_iops(*iops);
        let _ = writeln!(text, "  {name:<NAME_COLUMNS$}{iops:>8} IOPS {bytes:>12}{p99}{lost}");
    }
    if let Some(more) = hosts.len().checked_sub(HOSTS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {}, faster: `--json` has them", plural(more as u64, "host"));
    }
    let of_step = record.intervals.iter().filter(|it| it.step_idx == step_idx && !it.ramp);
    put_parts(text, of_step, record.hosts.len());
}

/// Returns the figures of a host's part of a step.
fn figures_of(record: &Record, step_idx: u32) -> Figures {
    let jobs: Vec<&JobRecord> = record.jobs.iter().filter(|job| job.step_idx == step_idx).collect();
    Figures::of_step(&jobs)
}

/// Says what was done with all hosts, and with those that were left: a mean over both is the rate
/// of neither.
fn put_parts<'a>(text: &mut String, intervals: impl Iterator<Item = &'a Interval>, n_hosts: usize) {
    let mut parts: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for interval in intervals {
        let of_part = parts.entry(interval.n_hosts.unwrap_or(1)).or_default();
        of_part.0 += interval.dirs.iter().map(|(_, dir)| dir.n_ios).sum::<u64>();
        of_part.1 += interval.length_ms;
    }
    if parts.keys().all(|n| *n as usize == n_hosts) {
        return;
    }
    let part = |(n, (n_ios, length_ms)): (&u32, &(u64, u64))| {
        let iops = *n_ios as f64 * 1000.0 / (*length_ms).max(1) as f64;
        let time = format_duration(std::time::Duration::from_millis(*length_ms));
        format!("{} {} IOPS for {time}", plural(u64::from(*n), "host"), format_iops(iops))
    };
    let parts: Vec<String> = parts.iter().rev().map(part).collect();
    let _ = writeln!(text, "  {}", parts.join(", "));
}
