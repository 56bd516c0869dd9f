//! The status of a rehearsal in 80 columns.

use std::fmt::Write as _;

use serve::status::{CacheReport, CapReport, Report};
use units::{format_bytes, format_iops, format_rate_mib_s};

/// Columns of a cap's name.
const NAME_COLUMNS: usize = 34;

/// From this share of the time on, a cap is said to hold the programs back.
const HOLDS: f64 = 0.5;

/// Returns the page.
pub(super) fn page(report: &Report) -> String {
    let mut text = String::new();
    let state = if report.is_crashed { "crashed" } else { "running" };
    let _ = writeln!(text, "{} at {}: {state}", report.design, report.place);
    let _ = writeln!(text, "data in {}", report.backing);
    if report.is_crashed {
        let _ = writeln!(text, "every access fails: plimsoll rehearse restart {}", report.place);
    }
    if report.is_disk_full {
        let _ = writeln!(text, "the disk under the data was full: writes have failed for that");
    }
    let _ = writeln!(text, "\n{:<34} {:<22} {:>10} {:>10}", "volume", "made of", "size", "used");
    for volume in &report.volumes {
        let (mount, medium) = (cut(&volume.mount, NAME_COLUMNS), cut(&volume.medium, 22));
        let (size, used) = (format_bytes(volume.capacity_bytes), format_bytes(volume.used_bytes));
        let _ = writeln!(text, "{mount:<34} {medium:<22} {size:>10} {used:>10}");
    }
    let head = ["cap", "limit", "now", "waits", "held", "credit"];
    let [cap, limit, now, waits, held, credit] = head;
    let _ = writeln!(text, "\n{cap:<34} {limit:>11} {now:>11} {waits:>6} {held:>5} {credit:>7}");
    for cap in &report.caps {
        text.push_str(&row(cap));
    }
    if let Some(cache) = &report.cache {
        text.push_str(&cache_line(cache));
    }
    text.push_str(&verdict(report));
    text
}

fn row(cap: &CapReport) -> String {
    let rate = |per_s: f64| {
        if cap.counts_operations { format_iops(per_s) } else { format_rate_mib_s(per_s) }
    };
    let credit = match (cap.credits_left, cap.credits_full) {
        (Some(left), Some(full)) if full > 0 => percent(left as f64 / full as f64),
        _ => "-".to_owned(),
    };
    format!(
        "{:<34} {:>11} {:>11} {:>6} {:>5} {:>7}\n",
        cut(&cap.name, NAME_COLUMNS),
        rate(cap.per_s as f64),
        rate(cap.recent_per_s),
        cap.n_waiting,
        percent(cap.recent_held_share),
        credit
    )
}

fn cache_line(cache: &CacheReport) -> String {
    let (held, size) = (format_bytes(cache.held_bytes), format_bytes(cache.size_bytes));
    let n_reads = cache.n_hits + cache.n_misses;
    let hits = match n_reads {
        0 => "no reads yet".to_owned(),
        _ => format!("{} of the reads hit", percent(cache.n_hits as f64 / n_reads as f64)),
    };
    let dirty = match cache.dirty_bytes {
        0 => String::new(),
        bytes => format!(", {} only there", format_bytes(bytes)),
    };
    format!("\nhost cache: holds {held} of {size}, {hits}{dirty}\n")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Shortens from the left: the end of a name tells more.
fn cut(text: &str, n_columns: usize) -> String {
    let n_chars = text.chars().count();
    if n_chars <= n_columns {
        return text.to_owned();
    }
    let end: String = text.chars().skip(n_chars + 1 - n_columns).collect();
    format!("…{end}")
}

/// Says in a sentence what holds the programs back.
fn verdict(report: &Report) -> String {
    let most =
        report.caps.iter().max_by(|a, b| a.recent_held_share.total_cmp(&b.recent_held_share));
    match most {
        Some(cap) if cap.recent_held_share >= HOLDS => format!(
            "\nheld back by {}: I/Os waited for it in {} of the last second\n",
            cap.name,
            percent(cap.recent_held_share)
        ),
        _ => "\nno cap holds the programs back\n".to_owned(),
    }
}
