//! `--output-format=normal`: the report that people read and scripts grep.

use std::fmt::Write as _;

use hist::{FIO_LATENCY_KEYS, FIO_LATENCY_KEYS_MS};
use record::{DiskRecord, IoPriorityRecord, JobRecord, PrintRecord, Record, Samples, SteadyRecord};
use units::fio::Unit;

use super::ReportTime;
use super::latency::{
    LatencyKind, latency_row, percentile_list, percentile_rows, shown_percentiles,
};
use super::model::{self, Group, GroupRow, PriorityRow, Row};
use super::text::{finite, rate_unit, shorten};

/// Entries of the latency distribution per line.
const SHARES_PER_LINE: usize = 5;

/// Returns a record as fio's normal report, from the empty line before the first entry on.
///
/// What comes before it is [`super::start_lines`]. An entry without any I/O is left out, as is a
/// direction without bytes.
pub fn normal(record: &Record, now: ReportTime) -> String {
    let groups = model::groups(record);
    let mut text = "\n".to_owned();
    for job in &record.jobs {
        if job.n_ios() > 0 || job.io_bytes() > 0 {
            put_job(&mut text, job, model::group_of(&groups, job), now);
        }
    }
    for group in &groups {
        put_group(&mut text, group);
    }
    let disks = model::printed_disks(record);
    if !disks.is_empty() {
        text.push_str("\nDisk stats (read/write):\n");
        for disk in disks {
            put_disk(&mut text, disk);
        }
    }
    text
}

/// Appends an entry.
pub(super) fn put_job(text: &mut String, job: &JobRecord, group: &Group<'_>, now: ReportTime) {
    let error = match job.error_errno {
        0 => " 0".to_owned(),
        errno => format!("{errno:2} ({})", job.error_message),
    };
    let _ = writeln!(
        text,
        "{}: (groupid={}, jobs={}): err={error}: pid={}: {}",
        job.name,
        job.group_id,
        job.n_workers,
        job.pid,
        now.ctime(),
    );
    if let Some(description) = job.description.as_ref().filter(|text| !text.is_empty()) {
        let _ = writeln!(text, "  Description  : [{description}]");
    }
    for row in model::rows(job) {
        if row.dir.io_bytes > 0 && row.dir.runtime_ns > 0 {
            put_row(text, job, group, &row);
        }
    }
    put_latency_table(text, job);
    if !job.sync.is_empty() {
        text.push_str("  fsync/fdatasync/sync_file_range/syncfs:\n");
        text.push_str(&latency_row("sync", &job.sync));
        // Here, and not in JSON, they stand whatever `clat_percentiles` says.
        let percentiles = percentile_list(job);
        if !percentiles.is_empty() {
            text.push_str(&percentile_rows("sync", &job.sync, &percentiles));
        }
    }
    put_resources(text, job);
    put_counts(text, job);
    put_target(text, job);
    if let Some(steady) = &job.steady {
        put_steady(text, steady, &job.print);
    }
}

fn put_row(text: &mut String, job: &JobRecord, group: &Group<'_>, row: &Row<'_>) {
    let (print, dir) = (&job.print, &row.dir);
    let n_chars = significant(print);
    let binary = print.kb_base.is_power_of_two();
    let rate = rate_unit(print.unit_base);
    let _ = writeln!(
        text,
        "  {}: IOPS={}, BW={} ({})({}/{}msec)",
        row.name,
        shorten(model::rate_iops(dir), n_chars, false, Unit::None),
        shorten(model::rate_bytes(dir), n_chars, binary, rate),
        shorten(model::rate_bytes(dir), n_chars, !binary, rate),
        shorten(dir.io_bytes, n_chars, binary, Unit::Byte),
        model::runtime_ms(dir),
    );
    let latencies = [
        ("slat", &dir.slat, LatencyKind::Slat),
        ("clat", &dir.clat, LatencyKind::Clat),
        (" lat", &dir.lat, LatencyKind::Lat),
    ];
    for (name, hist, _) in latencies {
        if !hist.is_empty() {
            text.push_str(&latency_row(name, hist));
        }
    }
    let priorities = model::priority_rows(job, dir);
    for row in &priorities {
        text.push_str(&latency_row(&priority_name(row), row.hist));
    }
    for (name, hist, kind) in latencies {
        if let Some(percentiles) = shown_percentiles(hist, job, kind) {
            text.push_str(&percentile_rows(name.trim_start(), hist, &percentiles));
        }
    }
    for row in &priorities {
        if let Some(percentiles) = shown_percentiles(row.hist, job, LatencyKind::Priority) {
            let name = format!("{} ({:.2}% of IOs)", priority_name(row), row.share_pct);
            text.push_str(&percentile_rows(&name, row.hist, &percentiles));
        }
    }
    if dir.bandwidth_kib_s.n > 0 {
        let share = group.share_pct(row.name, dir.bandwidth_kib_s.mean);
        put_bandwidth(text, print, &dir.bandwidth_kib_s, share);
    }
    if dir.iops.n > 0 {
        let Samples { n, min, max, mean, stdev } = dir.iops;
        let _ = writeln!(
            text,
            "   iops        : min={min:5}, max={max:5}, avg={:5.2}, stdev={:5.2}, samples={n}",
            finite(mean),
            finite(stdev),
        );
    }
}

/// Names the latency of one priority as `clat prio CLASS/LEVEL/HINT`.
fn priority_name(row: &PriorityRow<'_>) -> String {
    let IoPriorityRecord { class, level, hint } = row.priority;
    format!("{} prio {class}/{level}/{hint}", row.kind)
}

fn put_bandwidth(text: &mut String, print: &PrintRecord, samples: &Samples, share_pct: f64) {
    let in_bits = print.unit_base == 1;
    let kilo = if print.kb_base == 1000 { 1000.0 } else { 1024.0 };
    let mut unit = match (in_bits, print.kb_base.is_power_of_two()) {
        (true, true) => "Kibit",
        (true, false) => "kbit",
        (false, true) => "KiB",
        (false, false) => "kB",
    };
    let mut factor = if in_bits { 8.0 } else { 1.0 };
    if samples.mean * factor > kilo * kilo {
        factor /= kilo;
        unit = if in_bits { "Mibit" } else { "MiB" };
    }
    let _ = writeln!(
        text,
        "   bw ({unit:>5}/s): min={:5}, max={:5}, per={share_pct:.2}%, avg={:5.2}, \
         stdev={:5.2}, samples={}",
        (samples.min as f64 * factor) as u64,
        (samples.max as f64 * factor) as u64,
        finite(samples.mean * factor),
        finite(samples.stdev * factor),
        samples.n,
    );
}

fn put_latency_table(text: &mut String, job: &JobRecord) {
    let table = model::clat_of_all(job).fio_latency_table();
    let total = job.n_ios();
    let tables: [(&str, &[u64], &[u64]); 3] = [
        ("nsec", &FIO_LATENCY_KEYS, &table.ns),
        ("usec", &FIO_LATENCY_KEYS, &table.us),
        ("msec", &FIO_LATENCY_KEYS_MS, &table.ms),
    ];
    for (unit, keys, counts) in tables {
        let mut shares = Vec::new();
        for (key, count) in keys.iter().zip(counts) {
            let share = model::share_pct(*count, total, 0.01);
            match key {
                _ if share <= 0.0 => {}
                &u64::MAX => shares.push(format!(">=2000={share:.2}%")),
                key => shares.push(format!("{key}={share:.2}%")),
            }
        }
        for line in shares.chunks(SHARES_PER_LINE) {
            let _ = writeln!(text, "  lat ({unit})   : {}", line.join(", "));
        }
    }
}

fn put_resources(text: &mut String, job: &JobRecord) {
    let (user_pct, system_pct) = model::cpu_pct(job);
    let _ = writeln!(
        text,
        "  cpu          : usr={user_pct:.2}%, sys={system_pct:.2}%, ctx={}, majf={}, minf={}",
        job.context_switches, job.major_faults, job.minor_faults,
    );
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let tables = [
        ("  IO depths    ", ["1", "2", "4", "8", "16", "32", ">=64"], &job.depth_levels),
        ("     submit    ", batches, &job.submit_batches),
        ("     complete  ", batches, &job.complete_batches),
    ];
    for (name, keys, counts) in tables {
        let shares = keys.into_iter().zip(model::level_shares(counts));
        let shares: Vec<_> = shares.map(|(key, share)| format!("{key}={share:.1}%")).collect();
        let _ = writeln!(text, "{name}: {}", shares.join(", "));
    }
}

fn put_counts(text: &mut String, job: &JobRecord) {
    // All directions together stand in the place of reads.
    let mixed = job.mixed();
    let dirs = if job.print.unified == "mixed" {
        [(mixed.n_ios, mixed.short_ios, mixed.dropped_ios), (0, 0, 0), (0, 0, 0)]
    } else {
        [&job.dirs.read, &job.dirs.write, &job.dirs.trim]
            .map(|dir| (dir.n_ios, dir.short_ios, dir.dropped_ios))
    };
    let [read, write, trim] = dirs;
    let _ = writeln!(
        text,
        "     issued rwts: total={},{},{},{} short={},{},{},0 dropped={},{},{},0",
        read.0,
        write.0,
        trim.0,
        job.sync.count(),
        read.1,
        write.1,
        trim.1,
        read.2,
        write.2,
        trim.2,
    );
    if job.print.continue_on_error {
        let (total, errno) = (job.n_errors, job.error_errno);
        let message = if errno == 0 { "Success" } else { &job.error_message };
        let _ = writeln!(text, "     errors    : total={total}, first_error={errno}/<{message}>");
    }
}

fn put_target(text: &mut String, job: &JobRecord) {
    let target = job.latency_target;
    let depth = target.map_or(job.queue_depth, |target| target.queue_depth);
    if depth > 0 {
        let _ = writeln!(
            text,
            "     latency   : target={}, window={}, percentile={:.2}%, depth={depth}",
            in_words(target.map_or(0, |target| target.target_ns)),
            in_words(target.map_or(0, |target| target.window_ns)),
            target.map_or(100.0, |target| target.percentile),
        );
    }
}

/// Returns a duration such as `2.50ms`: the unit in which it is at least 2, or nanoseconds.
fn in_words(duration_ns: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    let fits = |(_, unit_ns): &(&str, u64)| duration_ns >= 2 * unit_ns;
    let (name, unit_ns) = units.into_iter().find(fits).unwrap_or(("ns", 1));
    format!("{:.2}{name}", duration_ns as f64 / unit_ns as f64)
}

fn put_steady(text: &mut String, steady: &SteadyRecord, print: &PrintRecord) {
    let n_chars = significant(print);
    let binary = print.kb_base.is_power_of_two();
    let rate = rate_unit(print.unit_base);
    let (criterion, limit) =
        steady.criterion_text.split_once(':').unwrap_or((&steady.criterion_text, ""));
    let metric = criterion.trim_end_matches("_slope");
    let kind = if criterion.ends_with("_slope") { "slope" } else { "mean dev" };
    let unit = if limit.ends_with('%') { "%" } else { "" };
    let kib = steady.bandwidth_kib_s.iter().copied();
    let bandwidth = super::json::mean(kib.map(|kib| kib.saturating_mul(1024)));
    let iops = super::json::mean(steady.iops.iter().copied());
    let _ = write!(
        text,
        "  steadystate  : attained={}, bw={} ({}), iops={}",
        if steady.attained { "yes" } else { "no" },
        shorten(bandwidth, n_chars, binary, rate),
        shorten(bandwidth, n_chars, !binary, rate),
        shorten(iops, n_chars, false, Unit::None),
    );
    if metric == "lat" {
        let lat_ns = super::json::mean(steady.latency_ns.iter().copied());
        let unit = super::latency::LatencyUnit::of(lat_ns, lat_ns, None);
        let lat = shorten(lat_ns / unit.length_ns(), n_chars, false, Unit::None);
        let _ = write!(text, ", lat={lat}{}", unit.name());
    }
    let _ = writeln!(text, ", {metric} {kind}={:.3}{unit}", finite(steady.criterion));
}

fn put_group(text: &mut String, group: &Group<'_>) {
    let _ = writeln!(text, "\nRun status group {} (all jobs):", group.id);
    for row in &group.rows {
        if row.run_max_ms > 0 {
            put_group_row(text, row, &group.first.print);
        }
    }
}

fn put_group_row(text: &mut String, row: &GroupRow, print: &PrintRecord) {
    let n_chars = significant(print);
    let binary = print.kb_base.is_power_of_two();
    let unit = rate_unit(print.unit_base);
    let rate = |rate_bytes, binary| shorten(rate_bytes, n_chars, binary, unit);
    let (min, max, total) = (row.rate_min, row.rate_max, row.rate_total());
    let _ = writeln!(
        text,
        "{:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec",
        row.name.to_uppercase(),
        rate(total, binary),
        rate(total, !binary),
        rate(min, binary),
        rate(max, binary),
        rate(min, !binary),
        rate(max, !binary),
        shorten(row.io_bytes, n_chars, binary, Unit::Byte),
        shorten(row.io_bytes, n_chars, !binary, Unit::Byte),
        row.run_min_ms,
        row.run_max_ms,
    );
}

fn put_disk(text: &mut String, disk: &DiskRecord) {
    let indent = if disk.members.is_empty() { "  " } else { "    " };
    let _ = write!(
        text,
        "{indent}{}: ios={}/{}, sectors={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:.2}%",
        disk.name,
        disk.read_ios,
        disk.write_ios,
        disk.read_sectors,
        disk.write_sectors,
        disk.read_merges,
        disk.write_merges,
        disk.read_ticks_ms,
        disk.write_ticks_ms,
        disk.in_queue_ms,
        finite(disk.util_pct),
    );
    if let Some(mean) = model::members_mean(disk) {
        let _ = write!(
            text,
            ", aggrios={}/{}, aggsectors={}/{}, aggrmerge={}/{}, aggrticks={}/{}, \
             aggrin_queue={}, aggrutil={:.2}%",
            mean.read_ios,
            mean.write_ios,
            mean.read_sectors,
            mean.write_sectors,
            mean.read_merges,
            mean.write_merges,
            mean.read_ticks_ms,
            mean.write_ticks_ms,
            mean.in_queue_ms,
            finite(mean.util_pct),
        );
    }
    text.push('\n');
}

fn significant(print: &PrintRecord) -> usize {
    usize::from(print.significant_figures.clamp(1, 10))
}
