//! `--output-format=json` and `json+`.

use hist::{FIO_LATENCY_KEYS, FIO_LATENCY_KEYS_MS, Histogram, fio_bucket_value};
use record::{DirRecord, DiskRecord, JobRecord, Latency, ListedLatency, Record, SteadyRecord};

use super::ReportTime;
use super::json_text::Document;
use super::latency::{LatencyKind, shown_percentiles};
use super::model::{self, Group, Row};

/// How to print JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonOptions<'a> {
    /// Add the bins of each distribution (`json+`).
    pub plus: bool,
    /// What stands under `fio version`; [`super::COMPAT_VERSION`] unless there is a reason.
    pub version: &'a str,
    /// When the report is made.
    pub now: ReportTime,
}

/// Returns a record as fio's JSON, with a final newline.
///
/// Keys, their order, their types and the rounding of their values are fio's: integers bare,
/// fractions with six decimals. Always valid JSON.
pub fn json(record: &Record, options: JsonOptions<'_>) -> String {
    let groups = model::groups(record);
    Document::write(|top| {
        top.string("fio version", options.version);
        top.int("timestamp", options.now.unix_ms / 1000);
        top.int("timestamp_ms", options.now.unix_ms);
        top.string("time", &options.now.ctime());
        if !record.global_options.is_empty() {
            top.object("global options", |to| put_options(to, &record.global_options));
        }
        let elapsed_s = record.elapsed_ns.div_ceil(1_000_000_000);
        top.objects("jobs", &record.jobs, |entry, job| {
            let group = model::group_of(&groups, job);
            put_job(entry, job, group, elapsed_s, options.plus);
        });
        let disks = model::printed_disks(record);
        if !disks.is_empty() {
            top.objects("disk_util", disks, put_disk);
        }
    })
}

pub(super) fn put_options(to: &mut Document, options: &[(String, String)]) {
    for (idx, (name, value)) in options.iter().enumerate() {
        // A key that occurs twice is not valid; the last value is the one that counts.
        if !options[idx + 1..].iter().any(|(later, _)| later == name) {
            to.string(name, value);
        }
    }
}

fn put_job(to: &mut Document, job: &JobRecord, group: &Group<'_>, elapsed_s: u64, plus: bool) {
    to.string("jobname", &job.name);
    to.int("groupid", job.group_id);
    to.int("job_start", job.started_unix_ms);
    to.int("error", job.error_errno);
    to.int("eta", model::ETA_FINISHED);
    to.int("elapsed", elapsed_s);
    put_figures(to, job, group, plus);
}

/// Puts an entry of a server, in which fio leaves out what it does not send.
pub(super) fn put_client_job(to: &mut Document, job: &JobRecord, group: &Group<'_>, plus: bool) {
    to.string("jobname", &job.name);
    to.int("groupid", job.group_id);
    to.int("job_start", job.started_unix_ms);
    to.int("error", job.error_errno);
    put_figures(to, job, group, plus);
}

fn put_figures(to: &mut Document, job: &JobRecord, group: &Group<'_>, plus: bool) {
    if !job.options.is_empty() {
        to.object("job options", |to| put_options(to, &job.options));
    }
    for row in model::rows(job) {
        // The mixed row of `both` comes after `sync`.
        if row.name != "mixed" || job.print.unified == "mixed" {
            to.object(row.name, |to| put_row(to, job, group, &row, plus));
        }
    }
    if job.print.unified != "mixed" {
        to.object("sync", |to| {
            let latency = job.sync_latency();
            to.int("total_ios", latency.count());
            match latency {
                Latency::Measured(hist) => {
                    put_latency(to, "lat_ns", hist, job, LatencyKind::Sync, plus);
                }
                Latency::Listed(listed) => put_listed(to, "lat_ns", listed),
            }
        });
    }
    if job.print.unified == "both" {
        let mixed = model::rows(job).pop().expect("`both` has four rows");
        to.object(mixed.name, |to| put_row(to, job, group, &mixed, plus));
    }
    put_resources(to, job);
    put_latency_tables(to, job);
    put_errors_and_target(to, job);
    if let Some(description) = &job.description {
        to.string("desc", description);
    }
    if let Some(steady) = &job.steady {
        to.object("steadystate", |to| put_steady(to, steady));
    }
}

fn put_row(to: &mut Document, job: &JobRecord, group: &Group<'_>, row: &Row<'_>, plus: bool) {
    let dir: &DirRecord = &row.dir;
    let rate_bytes = model::rate_bytes(dir);
    to.int("io_bytes", dir.io_bytes);
    to.int("io_kbytes", dir.io_bytes / 1024);
    to.int("bw_bytes", rate_bytes);
    to.int("bw", rate_bytes / 1024);
    to.float("iops", model::rate_iops_exact(dir));
    to.int("runtime", model::runtime_ms(dir));
    to.int("total_ios", dir.n_ios);
    to.int("short_ios", dir.short_ios);
    to.int("drop_ios", dir.dropped_ios);
    for (key, latency, kind) in [
        ("slat_ns", dir.submit_latency(), LatencyKind::Slat),
        ("clat_ns", dir.service_latency(), LatencyKind::Clat),
        ("lat_ns", dir.total_latency(), LatencyKind::Lat),
    ] {
        match latency {
            Latency::Measured(hist) => put_latency(to, key, hist, job, kind, plus),
            Latency::Listed(listed) => put_listed(to, key, listed),
        }
    }
    put_priorities(to, job, dir, plus);
    let bandwidth = &dir.bandwidth_kib_s;
    let share = if bandwidth.n == 0 { 0.0 } else { group.share_pct(row.name, bandwidth.mean) };
    to.int("bw_min", bandwidth.min);
    to.int("bw_max", bandwidth.max);
    to.float("bw_agg", share);
    to.float("bw_mean", bandwidth.mean);
    to.float("bw_dev", bandwidth.stdev);
    to.int("bw_samples", bandwidth.n);
    to.int("iops_min", dir.iops.min);
    to.int("iops_max", dir.iops.max);
    to.float("iops_mean", dir.iops.mean);
    to.float("iops_stddev", dir.iops.stdev);
    to.int("iops_samples", dir.iops.n);
}

/// Latencies by priority; nothing unless there are two.
fn put_priorities(to: &mut Document, job: &JobRecord, dir: &DirRecord, plus: bool) {
    let rows = model::priority_rows(job, dir);
    if rows.is_empty() {
        return;
    }
    to.objects("prios", &rows, |to, row| {
        to.int("prioclass", row.priority.class);
        to.int("prio", row.priority.level);
        to.int("priohint", row.priority.hint);
        let key = if row.kind == "lat" { "lat_ns" } else { "clat_ns" };
        put_latency(to, key, row.hist, job, LatencyKind::Priority, plus);
    });
}

fn put_latency(
    to: &mut Document,
    key: &str,
    hist: &Histogram,
    job: &JobRecord,
    kind: LatencyKind,
    plus: bool,
) {
    to.object(key, |to| {
        to.int("min", hist.min_ns().unwrap_or(0));
        to.int("max", hist.max_ns().unwrap_or(0));
        to.float("mean", hist.mean_ns().unwrap_or(0.0));
        to.float("stddev", hist.stdev_ns().unwrap_or(0.0));
        to.int("N", hist.count());
        let Some(percentiles) = shown_percentiles(hist, job, kind) else { return };
        to.object("percentile", |to| {
            for (percentile, value) in hist.fio_percentiles(&percentiles).iter().enumerate() {
                to.int(&format!("{:.6}", percentiles[percentile]), *value);
            }
        });
        if plus {
            to.object("bins", |to| {
                for (bin, count) in hist.to_fio_bins().into_iter().enumerate() {
                    if count > 0 {
                        to.int(&fio_bucket_value(bin).to_string(), count);
                    }
                }
            });
        }
    });
}

/// What another program listed, as it stood there, and nothing that it did not.
fn put_listed(to: &mut Document, key: &str, listed: &ListedLatency) {
    to.object(key, |to| {
        for (key, ns) in [("min", listed.min_ns), ("max", listed.max_ns)] {
            if let Some(ns) = ns {
                to.int(key, ns);
            }
        }
        to.float("mean", listed.mean_ns);
        if let Some(stdev_ns) = listed.stdev_ns {
            to.float("stddev", stdev_ns);
        }
        to.int("N", listed.n);
        if !listed.percentiles.is_empty() {
            to.object("percentile", |to| {
                for (percentile, value) in &listed.percentiles {
                    to.int(&format!("{percentile:.6}"), *value);
                }
            });
        }
    });
}

fn put_resources(to: &mut Document, job: &JobRecord) {
    let (user_pct, system_pct) = model::cpu_pct(job);
    to.int("job_runtime", job.runtime_ns / 1_000_000);
    to.float("usr_cpu", user_pct);
    to.float("sys_cpu", system_pct);
    to.int("ctx", job.context_switches);
    to.int("majf", job.major_faults);
    to.int("minf", job.minor_faults);
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let tables = [
        ("iodepth_level", ["1", "2", "4", "8", "16", "32", ">=64"], &job.depth_levels),
        ("iodepth_submit", batches, &job.submit_batches),
        ("iodepth_complete", batches, &job.complete_batches),
    ];
    for (name, keys, counts) in tables {
        to.object(name, |to| {
            for (key, share) in keys.into_iter().zip(model::level_shares(counts)) {
                to.float(key, share);
            }
        });
    }
}

fn put_latency_tables(to: &mut Document, job: &JobRecord) {
    let table = model::clat_of_all(job).fio_latency_table();
    let total = job.n_ios();
    let mut put = |name: &str, keys: &[u64], counts: &[u64]| {
        to.object(name, |to| {
            for (key, count) in keys.iter().zip(counts) {
                let key = if *key == u64::MAX { ">=2000".to_owned() } else { key.to_string() };
                to.float(&key, model::share_pct(*count, total, 0.01));
            }
        });
    };
    put("latency_ns", &FIO_LATENCY_KEYS, &table.ns);
    put("latency_us", &FIO_LATENCY_KEYS, &table.us);
    put("latency_ms", &FIO_LATENCY_KEYS_MS, &table.ms);
}

fn put_errors_and_target(to: &mut Document, job: &JobRecord) {
    if job.print.continue_on_error {
        to.int("total_err", job.n_errors);
        to.int("first_error", job.error_errno);
    }
    let target = job.latency_target;
    if target.is_none() && job.queue_depth == 0 {
        // It is a sum.
        return;
    }
    let window_us = target.map_or(0, |target| target.window_ns / 1000);
    let target_ns = target.map_or(0, |target| target.target_ns);
    to.int("latency_depth", target.map_or(job.queue_depth, |target| target.queue_depth.max(1)));
    // Both names of each value: fio added the ones with a unit and kept the others.
    to.int("latency_target", target_ns);
    to.int("latency_target_ns", target_ns);
    to.float("latency_percentile", target.map_or(100.0, |target| target.percentile));
    to.int("latency_window", window_us);
    to.int("latency_window_us", window_us);
}

/// Zeros printed for a window of which nothing was sampled: a day of seconds.
const STEADY_ZEROS_MAX: u64 = 86_400;

fn put_steady(to: &mut Document, steady: &SteadyRecord) {
    let (name, limit) =
        steady.criterion_text.split_once(':').unwrap_or((&steady.criterion_text, ""));
    let unit = if limit.ends_with('%') { "%" } else { "" };
    let limit = limit.trim_end_matches('%').parse().unwrap_or(0.0);
    let limit = super::text::finite(limit);
    to.string("ss", &format!("{name}:{limit:.6}{unit}"));
    to.int("duration", steady.window_ns / 1_000_000_000);
    to.int("attained", u8::from(steady.attained));
    to.string("criterion", &format!("{:.6}{unit}", super::text::finite(steady.criterion)));
    to.float("max_deviation", steady.deviation_max);
    to.float("slope", steady.slope);
    let bandwidth = || steady.bandwidth_kib_s.iter().map(|kib| kib.saturating_mul(1024));
    to.object("data", |to| {
        // Here, unlike elsewhere, bandwidth is in bytes per second.
        to.int("bw_mean", mean(bandwidth()));
        to.int("iops_mean", mean(steady.iops.iter().copied()));
        if !steady.latency_ns.is_empty() {
            to.int("lat_mean", mean(steady.latency_ns.iter().copied()));
            to.ints("lat_ns", steady.latency_ns.iter().copied());
        }
        // Before the first sample fio prints a window of zeros, and readers divide by its length.
        let n_zeros = if steady.iops.is_empty() { steady.window_ns / 1_000_000_000 } else { 0 };
        let zeros = || (0..n_zeros.min(STEADY_ZEROS_MAX)).map(|_| 0);
        to.ints("iops", steady.iops.iter().copied().chain(zeros()));
        to.ints("bw", bandwidth().chain(zeros()));
    });
}

/// Mean of the samples that there are, rounded down; 0 without any.
pub(super) fn mean(values: impl Iterator<Item = u64> + Clone) -> u64 {
    let n_values = values.clone().count() as u64;
    let sum = values.fold(0_u64, u64::saturating_add);
    sum.checked_div(n_values).unwrap_or(0)
}

pub(super) fn put_disk(to: &mut Document, disk: &DiskRecord) {
    to.string("name", &disk.name);
    put_disk_figures(to, "", "write_merges", disk);
    if let Some(mean) = model::members_mean(disk) {
        // Without its s: so it is in fio, and so readers ask for it.
        put_disk_figures(to, "aggr_", "write_merge", &mean);
    }
}

fn put_disk_figures(to: &mut Document, prefix: &str, write_merges: &str, disk: &DiskRecord) {
    let figures = [
        ("read_ios", disk.read_ios),
        ("write_ios", disk.write_ios),
        ("read_sectors", disk.read_sectors),
        ("write_sectors", disk.write_sectors),
        ("read_merges", disk.read_merges),
        (write_merges, disk.write_merges),
        ("read_ticks", disk.read_ticks_ms),
        ("write_ticks", disk.write_ticks_ms),
        ("in_queue", disk.in_queue_ms),
    ];
    for (name, value) in figures {
        to.int(&format!("{prefix}{name}"), value);
    }
    to.float(&format!("{prefix}util"), disk.util_pct);
}
