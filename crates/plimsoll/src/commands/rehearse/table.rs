//! The status of a rehearsal in 80 columns.

use std::fmt::Write as _;

use serve::status::{
    CacheReport, CapReport, ExportReport, LatenessReport, MachineStatus, VolumeReport, WaitReport,
};
use units::{format_bytes, format_iops, format_latency_ns, format_percent_whole, plural};
use volume::CapCount;

use super::rate_as_published;
use crate::fill::fill;

/// Columns of the name that a line begins with.
const NAME_COLUMNS: usize = 34;

/// Columns of a page.
const COLUMNS: usize = 80;

/// Clients of an export that are named.
const N_CLIENTS_SHOWN: usize = 10;

/// Columns of what a volume waits for.
const WAITED_COLUMNS: usize = 33;

/// From one late answer in this many on, the host is reported as busy.
const LATE_PER: u64 = 50;

/// From this share of the latency on, a cap is shown as the one that holds a volume back.
const HOLDS: f64 = 0.05;

/// Returns the page.
pub(super) fn page(report: &MachineStatus) -> String {
    let mut text = String::new();
    let state = if report.is_crashed { "crashed" } else { "running" };
    let _ = writeln!(text, "{} at {}: {state}", report.design, report.place);
    text.push_str(&fill("served by ", &format!("process {}", report.pid), COLUMNS));
    // A path is kept whole, to be copied.
    let _ = writeln!(text, "data in   {}", report.backing);
    if let Some(hash) = &report.catalog_hash {
        let _ = writeln!(text, "tables of your own come before the catalogue's ({hash})");
    }
    text.push_str(&exported(report.export.as_ref()));
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
    text.push_str(&unwritten(report));
    text.push_str(&verdict(report));
    text.push_str(&lateness(report.lateness));
    text
}

/// Where clients reach the volumes, and who is there.
fn exported(export: Option<&ExportReport>) -> String {
    let Some(ExportReport { address, clients }) = export else { return String::new() };
    let mut text = format!("exported  at {address}, ");
    match clients.len() {
        0 => text.push_str("no client is connected\n"),
        n_clients => {
            let _ = writeln!(text, "{}:", plural(n_clients as u64, "client"));
        }
    }
    for client in clients.iter().take(N_CLIENTS_SHOWN) {
        let connections = plural(client.n_connections, "connection");
        let name = client.name.as_ref().map_or(String::new(), |name| format!(", as `{name}`"));
        let line = format!("{}: {connections}{name}", client.address);
        text.push_str(&fill("          ", &line, COLUMNS));
    }
    if clients.len() > N_CLIENTS_SHOWN {
        let _ = writeln!(text, "          and {} more", clients.len() - N_CLIENTS_SHOWN);
    }
    text
}

/// What is in a ReadWrite cache only, and what it waits for on its way to the disks.
fn unwritten(report: &MachineStatus) -> String {
    let mut text = String::new();
    for volume in &report.volumes {
        let dirty = volume.dirty_bytes;
        let what = match (volume.n_flushes, dirty, volume.leaving_bytes, &volume.disks_held_by) {
            (0, 0, ..) => continue,
            (0, _, 0, None) => "a crash would lose it",
            (0, _, 0, Some(_)) => "writing back, held",
            (0, ..) => "going there at once",
            (1, ..) => "fsync waits",
            _ => "fsyncs wait",
        };
        let held_by = volume.disks_held_by.as_ref().map_or(String::new(), |name| {
            let found = report.caps.iter().find(|cap| cap.name == *name);
            let is_own = found.is_some_and(|cap| cap.volume.is_some());
            let label = found.map_or(name.clone(), |cap| label(cap, is_own.then_some(volume)));
            let word =
                if volume.n_flushes == 0 && volume.leaving_bytes == 0 { "by" } else { "for" };
            format!(" {word} {label}")
        });
        let what = format!("{what}{held_by}");
        let (mount, bytes) = (cut(&volume.mount, 24), format_bytes(dirty));
        let _ = writeln!(text, "{mount:<24} {bytes:>20}  {}", cut(&what, WAITED_COLUMNS));
    }
    if text.is_empty() {
        return text;
    }
    format!("\nnot on the disks yet\n{text}")
}

/// Reports that this host is late, if it is.
fn lateness(late: LatenessReport) -> String {
    let LatenessReport { n_answers, n_late, late_ns_mean } = late;
    if n_late * LATE_PER < n_answers || n_late == 0 {
        return String::new();
    }
    let by = format_latency_ns(late_ns_mean);
    format!(
        "\nthis host is busy: {n_late} of the last {n_answers} answers came late, by {by} on\n\
         average; the volumes are better than that\n"
    )
}

/// The caps, under the volume that each belongs to; then those that volumes share.
fn caps(report: &MachineStatus) -> String {
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
        let rate = |per_s: f64| match cap.counts {
            CapCount::Slots => format!("{} slots", format_iops(per_s)),
            CapCount::Units | CapCount::Weighed => format_iops(per_s),
            CapCount::Bytes => rate_as_published(per_s, &cap.origin),
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
            format_percent_whole(held),
            credit.map_or("-".to_owned(), format_percent_whole)
        )
    }
}

fn credit_share(cap: &CapReport) -> Option<f64> {
    let full = cap.credits_full.filter(|&full| full > 0)?;
    Some(cap.credits_left? as f64 / full as f64)
}

/// Names a cap without its volume, which is named beside it.
fn label(cap: &CapReport, volume: Option<&VolumeReport>) -> String {
    let own = volume.and_then(|volume| match cap.counts {
        _ if !cap.is_of_disk => {
            cap.name.strip_prefix(&format!("volume {} {} ", volume.mount, volume.medium))
        }
        CapCount::Units | CapCount::Weighed => Some("disk iops"),
        CapCount::Bytes => Some("disk bytes"),
        CapCount::Slots => Some("disk slots"),
    });
    // The prefix that all sizes of a provider share is left out: the column is narrow.
    own.unwrap_or(&cap.name).replacen("vm Standard_", "vm ", 1)
}

fn cache_line(cache: &CacheReport) -> String {
    // What an earlier cache has left to write is held as well, but answers no reads.
    let held_bytes = cache.held_bytes.max(cache.dirty_bytes);
    let (held, size) = (format_bytes(held_bytes), format_bytes(cache.size_bytes));
    let n_reads = cache.n_hits + cache.n_misses;
    let share = cache.n_hits as f64 / n_reads as f64;
    let hits = match n_reads {
        0 => "no reads yet".to_owned(),
        _ => format!("{} of the reads hit", format_percent_whole(share)),
    };
    if cache.is_warm {
        // What is there is held, but counted from its first read on.
        return format!(
            "\nhost cache: began warm, with the data that are there, up to {size};\n            \
             {held} of them used since, {hits}\n"
        );
    }
    format!("\nhost cache: holds {held} of {size}, {hits}\n")
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

/// Returns what holds each volume back.
fn verdict(report: &MachineStatus) -> String {
    let mut text = String::new();
    for (idx, volume) in report.volumes.iter().enumerate() {
        let Some(wait) = &volume.recent_wait else { continue };
        let WaitReport { cap, wait_ns_mean, latency_ns_mean } = wait;
        if (*wait_ns_mean as f64) < HOLDS * *latency_ns_mean as f64 {
            continue;
        }
        let found = report.caps.iter().find(|found| found.name == *cap);
        let is_own = found.is_some_and(|cap| cap.volume.is_some());
        let name = found.map_or(cap.clone(), |cap| label(cap, is_own.then_some(volume)));
        let (mount, name) = (cut(&volume.mount, 24), cut(&name, WAITED_COLUMNS));
        let (wait, latency) =
            (format_latency_ns(*wait_ns_mean), format_latency_ns(*latency_ns_mean));
        let _ = writeln!(text, "{mount:<24} {wait:>9} {latency:>10}  {name}");
        for own in own_at_limit(report, idx, cap) {
            let _ = writeln!(text, "{:<46}{} is at its limit, too", "", label(own, Some(volume)));
        }
    }
    if text.is_empty() {
        let is_waited_for = report.volumes.iter().any(|volume| volume.n_flushes > 0);
        let text = if is_waited_for { "" } else { "\nno cap holds the programs back\n" };
        return text.to_owned();
    }
    let head = format!("{:<24} {:>9} {:>10}  {}", "held back recently", "waits", "latency", "for");
    format!("\n{head}\n{text}")
}

/// Share of what a cap allows from which on it gives all, over a second or so.
const ALL: f64 = 0.99;

/// Returns the kinds of a volume's own caps that are at their limit while it waits for another one,
/// `waited_for`: to lift that one alone would bring it nothing.
fn own_at_limit<'a>(
    report: &'a MachineStatus,
    volume: usize,
    waited_for: &str,
) -> Vec<&'a CapReport> {
    let own = || report.caps.iter().filter(|cap| cap.volume.map(usize::from) == Some(volume));
    // What a write-back cache sends to the disks fills them, and holds no program.
    let fills_from_cache = report.volumes[volume].dirty_bytes > 0;
    if fills_from_cache || own().any(|cap| cap.name == waited_for) {
        return Vec::new();
    }
    let mut found: Vec<&CapReport> = Vec::new();
    for cap in own().filter(|cap| cap.recent_held_share >= HOLDS) {
        let alike = || own().filter(|other| other.kind == cap.kind);
        let allowed: f64 = alike().map(|cap| cap.per_s as f64).sum();
        let carried: f64 = alike().map(|cap| cap.recent_per_s).sum();
        if carried >= ALL * allowed && found.iter().all(|other| other.kind != cap.kind) {
            found.push(cap);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serve::status::ClientReport;

    use super::*;

    fn cap(name: &str, kind: &str, volume: Option<u16>) -> CapReport {
        CapReport {
            name: name.to_owned(),
            kind: kind.to_owned(),
            counts: match kind {
                "nfs_slots" => CapCount::Slots,
                kind if kind.ends_with("iops") => CapCount::Units,
                _ => CapCount::Bytes,
            },
            is_of_disk: kind.starts_with("disk_"),
            volume,
            per_s: 5_000,
            recent_per_s: 2_500.0,
            recent_held_share: 0.5,
            held_share: 0.1,
            n_waiting: 3,
            credits_left: None,
            credits_full: None,
            origin: "P30: 200 MB/s, with MB taken as 1,000,000 bytes".to_owned(),
        }
    }

    fn volume(mount: &str, cap: &str) -> VolumeReport {
        VolumeReport {
            mount: mount.to_owned(),
            medium: "2 x P30, cache None".to_owned(),
            capacity_bytes: 1 << 40,
            used_bytes: 0,
            dirty_bytes: 0,
            leaving_bytes: 0,
            n_flushes: 0,
            disks_held_by: None,
            recent_wait: Some(WaitReport {
                cap: cap.to_owned(),
                wait_ns_mean: 5_400_000,
                latency_ns_mean: 6_400_000,
            }),
        }
    }

    fn report(volumes: Vec<VolumeReport>, caps: Vec<CapReport>) -> MachineStatus {
        MachineStatus {
            schema: serve::status::SCHEMA.to_owned(),
            design: "two volumes".to_owned(),
            edition: "current".to_owned(),
            catalog_hash: None,
            place: "/mnt".to_owned(),
            backing: "/data".to_owned(),
            is_crashed: false,
            is_disk_full: false,
            pid: 1,
            n_waiting: 0,
            lateness: LatenessReport::default(),
            volumes,
            caps,
            cache: None,
            export: None,
        }
    }

    /// A path of 90 characters is not broken, nor does it break what follows it.
    #[test]
    fn an_export_says_where_it_is_and_who_is_there() {
        let mut report = report(Vec::new(), Vec::new());
        report.backing = format!("/{}", "x".repeat(89));
        let address = "127.0.0.1:2049".to_owned();
        report.export = Some(ExportReport { address, clients: Vec::new() });
        let alone = page(&report);
        assert!(alone.contains(&format!("data in   {}\n", report.backing)), "{alone}");
        assert!(alone.contains("served by process 1\n"), "{alone}");
        assert!(alone.contains("at 127.0.0.1:2049, no client is connected\n"), "{alone}");
        let client = |idx: u64| ClientReport {
            address: format!("10.0.0.{idx}"),
            name: (idx == 1).then(|| "near".to_owned()),
            n_connections: idx,
        };
        report.export.as_mut().expect("an export").clients = (1..=12).map(client).collect();
        let many = page(&report);
        for part in [
            "at 127.0.0.1:2049, 12 clients:\n          10.0.0.1: 1 connection, as `near`\n",
            "          10.0.0.10: 10 connections\n          and 2 more\n",
        ] {
            assert!(many.contains(part), "`{part}` is missing in\n{many}");
        }
    }

    #[test]
    fn a_cache_that_began_warm_says_so() {
        let mut report = report(Vec::new(), Vec::new());
        let cache = CacheReport {
            size_bytes: 200 << 30,
            held_bytes: 0,
            dirty_bytes: 0,
            n_hits: 0,
            n_misses: 0,
            is_warm: true,
        };
        report.cache = Some(cache.clone());
        let warm = page(&report);
        assert!(
            warm.contains("began warm, with the data that are there, up to 200 GiB;"),
            "{warm}"
        );
        assert!(warm.lines().all(|line| line.chars().count() <= 80), "{warm}");
        report.cache = Some(CacheReport { is_warm: false, ..cache });
        assert!(page(&report).contains("holds 0 B of 200 GiB, no reads yet"));
    }

    #[test]
    fn what_an_fsync_waits_for_is_reported_and_that_the_host_is_late() {
        let name = "disk /mnt/b[0] P30 bytes";
        let mut waiting = VolumeReport { recent_wait: None, ..volume("/mnt/b", name) };
        waiting.dirty_bytes = 1 << 30;
        waiting.n_flushes = 1;
        waiting.disks_held_by = Some(name.to_owned());
        let mut report = report(vec![waiting], vec![cap(name, "disk_bytes", Some(0))]);
        report.lateness = LatenessReport { n_answers: 100, n_late: 50, late_ns_mean: 2_000_000 };
        let held = page(&report);
        assert!(held.contains("1.00 GiB  fsync waits for disk bytes\n"), "{held}");
        assert!(held.contains("50 of the last 100 answers came late, by 2.00 ms"), "{held}");
        assert!(!held.contains("no cap holds"), "{held}");
        assert!(held.lines().all(|line| line.chars().count() <= 80), "{held}");
        report.volumes[0].n_flushes = 0;
        report.lateness.n_late = 1;
        let back = page(&report);
        assert!(back.contains("1.00 GiB  writing back, held by disk bytes\n"), "{back}");
        assert!(back.contains("no cap holds") && !back.contains("late"), "{back}");
    }

    /// A machine that holds a disk which is at its own limit is half of the truth.
    #[test]
    fn a_volume_at_its_own_limit_is_reported_beside_what_it_waits_for() {
        let vm = "vm DS1 uncached iops";
        let disk = |at: u16, recent_per_s: f64| {
            let name = format!("disk /mnt/a[{at}] P30 iops");
            CapReport { recent_per_s, ..cap(&name, "disk_iops", Some(0)) }
        };
        let shown = |first: f64, second: f64| {
            let caps = vec![disk(0, first), disk(1, second), cap(vm, "vm_uncached_iops", None)];
            page(&report(vec![volume("/mnt/a", vm)], caps))
        };
        let own = format!("vm DS1 uncached iops\n{:46}disk iops is at its limit, too\n", "");
        assert!(shown(5_000.0, 4_950.0).contains(&own), "{}", shown(5_000.0, 4_950.0));
        assert!(!shown(5_000.0, 2_500.0).contains("all it has"));
    }

    #[test]
    fn slots_are_counted_and_not_calls() {
        let mut slots = cap("client near slots", "nfs_slots", None);
        (slots.per_s, slots.recent_per_s) = (512, 300.0);
        let page = page(&report(Vec::new(), vec![slots]));
        assert!(page.contains("  512 slots   300 slots "), "{page}");
    }

    /// Two volumes that different caps hold, with names longer than their columns.
    #[test]
    fn each_volume_says_what_holds_it_in_eighty_columns() {
        let long = format!("/mnt/{}", "long-name-".repeat(9));
        let disk = |idx: u16| format!("disk {long}[{idx}] P30 iops");
        let vm = "vm Standard_E64-16ds_v5 uncached bytes";
        let volumes = vec![volume(&long, &disk(1)), volume("/mnt/b", vm)];
        let caps = vec![
            cap(&disk(0), "disk_iops", Some(0)),
            cap(&disk(1), "disk_iops", Some(0)),
            cap(vm, "vm_uncached_bytes", None),
        ];
        let report = report(volumes, caps);
        let page = page(&report);
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
        for part in [
            "  disk iops (2 disks)                   10.0 k      5.00 k      6  50 %       -\n",
            "shared:\n  vm E64-16ds_v5 uncached bytes      0.01 MB/s ",
            "…me-long-name-long-name-   5.40 ms    6.40 ms  disk iops\n",
            "/mnt/b                     5.40 ms    6.40 ms  vm E64-16ds_v5 uncached bytes\n",
        ] {
            assert!(page.contains(part), "`{part}` is missing in\n{page}");
        }
    }
}
