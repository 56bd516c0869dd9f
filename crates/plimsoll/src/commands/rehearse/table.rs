//! The status of a rehearsal in 80 columns.

use std::fmt::Write as _;

use serve::status::{CacheReport, CapReport, Report, VolumeReport, WaitReport};
use units::{format_bytes, format_iops, format_latency_ns, format_rate_mib_s};

/// Columns of the name that a line begins with.
const NAME_COLUMNS: usize = 34;

/// Columns of what a volume waits for.
const WAITED_COLUMNS: usize = 33;

/// From this share of the latency on, a cap is said to hold a volume back.
const HOLDS: f64 = 0.05;

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
    text.push_str(&caps(report));
    if let Some(cache) = &report.cache {
        text.push_str(&cache_line(cache));
    }
    text.push_str(&verdict(report));
    text
}

/// The caps, under the volume that each belongs to; then those that volumes share.
fn caps(report: &Report) -> String {
    let head = ["cap", "limit", "now", "waits", "held", "credit"];
    let [cap, limit, now, waits, held, credit] = head;
    let mut text = format!("\n{cap:<34} {limit:>11} {now:>11} {waits:>6} {held:>5} {credit:>7}\n");
    let volumes = report.volumes.iter().map(Some).zip((0..).map(Some));
    for (volume, owner) in volumes.chain([(None, None)]) {
        let mut rows = Vec::new();
        for cap in report.caps.iter().filter(|cap| cap.volume == owner) {
            Row::add(&mut rows, cap, volume);
        }
        let heading = volume.map_or("shared", |volume| &volume.mount);
        if !rows.is_empty() && (volume.is_none() || report.volumes.len() > 1) {
            let _ = writeln!(text, "{}:", cut(heading, 79));
        }
        for row in &rows {
            text.push_str(&row.line());
        }
    }
    text
}

/// A line of the table: one cap, or those of a stripe's disks that are alike.
struct Row<'a> {
    label: String,
    alike: Vec<&'a CapReport>,
}

impl<'a> Row<'a> {
    /// Adds a cap to the row that it belongs to, or a row.
    fn add(rows: &mut Vec<Row<'a>>, cap: &'a CapReport, volume: Option<&VolumeReport>) {
        let label = label(cap, volume);
        let is_alike = |row: &&mut Row<'_>| row.label == label && row.alike[0].per_s == cap.per_s;
        match rows.iter_mut().find(is_alike) {
            Some(row) => row.alike.push(cap),
            None => rows.push(Row { label, alike: vec![cap] }),
        }
    }

    fn line(&self) -> String {
        let cap = self.alike[0];
        let rate = |per_s: f64| {
            if cap.counts_operations { format_iops(per_s) } else { format_rate_mib_s(per_s) }
        };
        let credit = self.alike.iter().filter_map(|cap| credit_share(cap)).reduce(f64::min);
        let held = self.alike.iter().map(|cap| cap.recent_held_share).fold(0.0, f64::max);
        let label = match self.alike.len() {
            1 => self.label.clone(),
            n => format!("{} ({n} disks)", self.label),
        };
        let n_waiting: u64 = self.alike.iter().map(|cap| cap.n_waiting).sum();
        format!(
            "  {:<32} {:>11} {:>11} {:>6} {:>5} {:>7}\n",
            cut(&label, NAME_COLUMNS - 2),
            rate(self.alike.iter().map(|cap| cap.per_s as f64).sum()),
            rate(self.alike.iter().map(|cap| cap.recent_per_s).sum()),
            n_waiting,
            percent(held),
            credit.map_or("-".to_owned(), percent)
        )
    }
}

fn credit_share(cap: &CapReport) -> Option<f64> {
    let full = cap.credits_full.filter(|&full| full > 0)?;
    Some(cap.credits_left? as f64 / full as f64)
}

/// Names a cap without its volume, which is named beside it.
fn label(cap: &CapReport, volume: Option<&VolumeReport>) -> String {
    let own = volume.and_then(|volume| match &*cap.kind {
        "disk_iops" => Some("disk iops"),
        "disk_bytes" => Some("disk bytes"),
        _ => cap.name.strip_prefix(&format!("volume {} {} ", volume.mount, volume.medium)),
    });
    // What every size of one provider begins with tells nothing, and its column is narrow.
    own.unwrap_or(&cap.name).replacen("vm Standard_", "vm ", 1)
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

/// Says what holds each volume back.
fn verdict(report: &Report) -> String {
    let mut text = String::new();
    for volume in &report.volumes {
        let Some(wait) = &volume.recent_wait else { continue };
        let WaitReport { cap, wait_ns_mean, latency_ns_mean } = wait;
        if (*wait_ns_mean as f64) < HOLDS * *latency_ns_mean as f64 {
            continue;
        }
        let found = report.caps.iter().find(|found| found.name == *cap);
        let is_own = found.is_some_and(|cap| cap.volume.is_some());
        let label = found.map_or(cap.clone(), |cap| label(cap, is_own.then_some(volume)));
        let (mount, label) = (cut(&volume.mount, 24), cut(&label, WAITED_COLUMNS));
        let (wait, latency) =
            (format_latency_ns(*wait_ns_mean), format_latency_ns(*latency_ns_mean));
        let _ = writeln!(text, "{mount:<24} {wait:>9} {latency:>10}  {label}");
    }
    if text.is_empty() {
        return "\nno cap holds the programs back\n".to_owned();
    }
    let head = format!("{:<24} {:>9} {:>10}  {}", "held back of late", "waits", "latency", "for");
    format!("\n{head}\n{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cap(name: &str, kind: &str, volume: Option<u16>) -> CapReport {
        CapReport {
            name: name.to_owned(),
            kind: kind.to_owned(),
            counts_operations: kind.ends_with("iops"),
            volume,
            per_s: 5_000,
            recent_per_s: 2_500.0,
            recent_held_share: 0.5,
            held_share: 0.1,
            n_waiting: 3,
            credits_left: None,
            credits_full: None,
            origin: String::new(),
        }
    }

    fn volume(mount: &str, cap: &str) -> VolumeReport {
        VolumeReport {
            mount: mount.to_owned(),
            medium: "2 x P30, cache None".to_owned(),
            capacity_bytes: 1 << 40,
            used_bytes: 0,
            recent_wait: Some(WaitReport {
                cap: cap.to_owned(),
                wait_ns_mean: 5_400_000,
                latency_ns_mean: 6_400_000,
            }),
        }
    }

    /// Two volumes that different caps hold, with names longer than their columns.
    #[test]
    fn each_volume_says_what_holds_it_in_eighty_columns() {
        let long = format!("/mnt/{}", "long-name-".repeat(9));
        let disk = |idx: u16| format!("disk {long}[{idx}] P30 iops");
        let vm = "vm Standard_E64-16ds_v5 uncached bytes";
        let report = Report {
            schema: serve::status::SCHEMA.to_owned(),
            design: "two volumes".to_owned(),
            edition: "current".to_owned(),
            place: "/mnt".to_owned(),
            backing: "/data".to_owned(),
            is_crashed: false,
            is_disk_full: false,
            n_waiting: 0,
            volumes: vec![volume(&long, &disk(1)), volume("/mnt/b", vm)],
            caps: vec![
                cap(&disk(0), "disk_iops", Some(0)),
                cap(&disk(1), "disk_iops", Some(0)),
                cap(vm, "vm_uncached_bytes", None),
            ],
            cache: None,
        };
        let page = page(&report);
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
        for part in [
            "  disk iops (2 disks)                   10.0 k      5.00 k      6  50 %       -\n",
            "shared:\n  vm E64-16ds_v5 uncached bytes     0.01 MiB/s ",
            "…me-long-name-long-name-   5.40 ms    6.40 ms  disk iops\n",
            "/mnt/b                     5.40 ms    6.40 ms  vm E64-16ds_v5 uncached bytes\n",
        ] {
            assert!(page.contains(part), "`{part}` is missing in\n{page}");
        }
    }
}
