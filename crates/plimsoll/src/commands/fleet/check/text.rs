//! What was found on hosts, for people: a row for each, where their targets lie, and what to do.

use std::time::Duration;

use fleet::inspect::{Finding, HostFacts, HostReport, Severity, TargetFacts, is_shared};
use units::{
    format_bytes, format_duration, format_latency_ns, format_percent_whole, format_rate_mib_s,
    plural,
};

use crate::fill::{fill, fill_below};
use crate::stream;

/// Columns where there is no terminal, and the most that are used.
const COLUMNS: usize = 80;

/// Columns of a name; a longer one has a line of its own.
const NAME_COLUMNS: usize = 16;

/// Columns of the word before a finding.
const WORD_COLUMNS: usize = 13;

/// Hosts that a line names before it counts them.
const NAMES_MAX: usize = 5;

/// Prints it.
pub(super) fn of(reports: &[HostReport], findings: &[Finding]) -> String {
    let columns = stream::stdout_columns().map_or(COLUMNS, |columns| columns.min(COLUMNS));
    let mut text = table(reports);
    text.push_str(&common(reports, columns));
    text.push_str(&targets(reports, columns));
    text.push('\n');
    for finding in findings {
        let who = match &finding.hosts[..] {
            [] => String::new(),
            hosts => format!("{}: ", names(hosts.iter().map(String::as_str))),
        };
        let head = format!("{:<WORD_COLUMNS$}", finding.severity.word());
        text.push_str(&fill(&head, &format!("{who}{}", finding.message), columns));
        let indent = " ".repeat(WORD_COLUMNS);
        text.push_str(&fill_below(&indent, WORD_COLUMNS, &finding.remedy, columns));
    }
    text.push_str(&fill("", &verdict(reports, findings), columns));
    text
}

/// Says in one sentence whether a run may begin.
fn verdict(reports: &[HostReport], findings: &[Finding]) -> String {
    let n_hosts = plural(reports.len() as u64, "host");
    match findings.first().map(|worst| worst.severity) {
        Some(Severity::Unreachable) => {
            let n = reports.iter().filter(|report| report.facts.is_err()).count();
            format!("{n} of {n_hosts} cannot be reached")
        }
        Some(Severity::Unfit) => format!("{n_hosts} answered, and not all can run this"),
        Some(Severity::Doubt) => format!("{n_hosts} can run this, and the result is in doubt"),
        Some(Severity::Caution) => {
            format!("{n_hosts} can be used; {}", plural(findings.len() as u64, "caution"))
        }
        None => format!("{n_hosts} can be used, and nothing stands against it"),
    }
}

fn table(reports: &[HostReport]) -> String {
    let mut text =
        row("host", ["cores", "memory", "time off", "known to", "link", "to here", "busy"]);
    for report in reports {
        let Ok(facts) = &report.facts else {
            text.push_str(&format!(
                "{:<NAME_COLUMNS$} cannot be reached, see below\n",
                report.name
            ));
            continue;
        };
        let cells = cells(report, facts);
        text.push_str(&row(&report.name, cells.each_ref().map(String::as_str)));
    }
    text
}

fn row(name: &str, cells: [&str; 7]) -> String {
    let [cores, memory, off, known, link, rate, busy] = cells;
    let rest =
        format!(" {cores:>5} {memory:>9} {off:>9} {known:>8} {link:>10} {rate:>10} {busy:>5}");
    if name.chars().count() > NAME_COLUMNS {
        return format!("{name}\n{:<NAME_COLUMNS$}{rest}\n", "");
    }
    format!("{name:<NAME_COLUMNS$}{rest}\n")
}

fn cells(report: &HostReport, facts: &HostFacts) -> [String; 7] {
    let off = report.wall_offset_ns.map(|ns| {
        let sign = if ns < 0 { '-' } else { '+' };
        format!("{sign}{}", format_latency_ns(ns.unsigned_abs()))
    });
    let unknown = || "unknown".to_owned();
    let link = facts.link.as_ref().and_then(|link| link.bytes_s);
    let rate = report.transfer.filter(|it| it.took_ns > 0);
    let rate = rate.map(|it| it.n_bytes as f64 * 1e9 / it.took_ns as f64);
    [
        facts.host.n_cpus.to_string(),
        format_bytes(facts.host.memory_bytes),
        off.unwrap_or_else(unknown),
        report.offset.map_or_else(unknown, |offset| format_latency_ns(offset.error_ns)),
        link.map_or_else(unknown, |bytes_s| format!("{} Gbit/s", bytes_s * 8.0 / 1e9)),
        rate.map_or_else(unknown, format_rate_mib_s),
        facts.load.busy_share.map_or_else(unknown, format_percent_whole),
    ]
}

/// Says what all hosts have in common, and how the transfers were measured.
fn common(reports: &[HostReport], columns: usize) -> String {
    let known: Vec<&HostFacts> =
        reports.iter().filter_map(|report| report.facts.as_deref().ok()).collect();
    let Some(first) = known.first() else { return String::new() };
    let all = |of: &dyn Fn(&HostFacts) -> String| {
        let value = of(first);
        known.iter().all(|facts| of(facts) == value).then_some(value)
    };
    let parts = [
        all(&|it| format!("plimsoll {}", it.program_version)),
        all(&|it| it.host.kernel.clone()),
        all(&|it| it.host.architecture.clone()),
        all(&|it| match &*it.limits.uring_refusal {
            "" => "io_uring allowed".to_owned(),
            _ => "io_uring forbidden".to_owned(),
        }),
        all(&|it| match it.limits.open_files {
            Some(n) => format!("{n} open files"),
            None => "open files without limit".to_owned(),
        }),
        all(&|it| match it.limits.locked_bytes {
            Some(bytes) => format!("{} of locked memory", format_bytes(bytes)),
            None => "locked memory without limit".to_owned(),
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let mut text = format!("\n{}", fill("", &format!("each: {}", parts.join(", ")), columns));
    let times = reports.iter().filter_map(|report| report.transfer).map(|it| it.took_ns);
    let bytes = reports.iter().filter_map(|report| report.transfer).map(|it| it.n_bytes).max();
    if let (Some(shortest), Some(longest), Some(bytes)) = (times.clone().min(), times.max(), bytes)
    {
        let words = |ns: u64| format_duration(Duration::from_nanos(ns));
        let line = format!(
            "to here: {} through ssh, one host after the other, in {} to {}",
            format_bytes(bytes),
            words(shortest),
            words(longest)
        );
        text.push_str(&fill("", &line, columns));
    }
    text
}

/// Hosts on which a target lies alike.
struct Alike<'a> {
    lies: String,
    free_bytes: Option<u64>,
    layout_bytes: u64,
    hosts: Vec<&'a str>,
}

/// Says where each target lies, for hosts alike in one line.
fn targets(reports: &[HostReport], columns: usize) -> String {
    let mut by_path: Vec<(&str, Vec<Alike<'_>>)> = Vec::new();
    for report in reports {
        let Ok(facts) = &report.facts else { continue };
        for target in facts.targets.iter().filter(|target| target.problem.is_empty()) {
            let at = by_path.iter().position(|(path, _)| *path == target.path);
            let at = at.unwrap_or_else(|| {
                by_path.push((&target.path, Vec::new()));
                by_path.len() - 1
            });
            add(&mut by_path[at].1, &report.name, target);
        }
    }
    let mut text = String::new();
    for (path, groups) in by_path {
        text.push_str(&format!("\n{path}\n"));
        for Alike { lies, free_bytes, layout_bytes, hosts } in groups {
            let mut line = format!("{}: {lies}", names(hosts.iter().copied()));
            if let Some(bytes) = free_bytes {
                line.push_str(&format!("; {} free", format_bytes(bytes)));
            }
            if layout_bytes > 0 {
                line.push_str(&format!(", the job needs {}", format_bytes(layout_bytes)));
            }
            text.push_str(&fill_below("  ", 4, &line, columns));
        }
    }
    text
}

/// Adds a host to those that are like it: the least room and the most need count.
fn add<'a>(groups: &mut Vec<Alike<'a>>, host: &'a str, target: &TargetFacts) {
    let lies = lies(target);
    let TargetFacts { free_bytes, layout_bytes, .. } = *target;
    match groups.iter_mut().find(|group| group.lies == lies) {
        Some(group) => {
            group.free_bytes = group.free_bytes.zip(free_bytes).map(|(a, b)| a.min(b));
            group.layout_bytes = group.layout_bytes.max(layout_bytes);
            group.hosts.push(host);
        }
        None => groups.push(Alike { lies, free_bytes, layout_bytes, hosts: vec![host] }),
    }
}

/// Says what a target lies on.
fn lies(target: &TargetFacts) -> String {
    let place = &target.place;
    if place.file_system.is_empty() {
        let device = place.device.as_ref();
        return match device {
            Some(device) => format!("device {} {}", device.model, format_bytes(device.size_bytes)),
            None if is_shared(target) => format!("export {}", place.path),
            None => "unknown".to_owned(),
        };
    }
    let whose = if is_shared(target) { "shared" } else { "each host's own" };
    format!(
        "{} of {} at {}, {whose}, {}",
        place.file_system, place.source, place.path, place.mount_options
    )
}

/// Names hosts, the first of many.
fn names<'a>(hosts: impl Iterator<Item = &'a str>) -> String {
    let hosts: Vec<&str> = hosts.collect();
    match hosts.len().checked_sub(NAMES_MAX) {
        None | Some(0) => hosts.join(", "),
        Some(n_more) => format!("{} and {n_more} more", hosts[..NAMES_MAX].join(", ")),
    }
}
