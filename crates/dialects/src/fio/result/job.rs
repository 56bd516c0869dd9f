//! One entry of `jobs`.

use record::{
    DirRecord, DiskRecord, JobRecord, ListedLatencies, PerDirRecord, PrintRecord, Samples,
    SteadyRecord,
};
use serde_json::Value;

use super::ResultError;
use super::fields::{float, int, text};
use super::latency::latency;

/// fio's default engine on Linux.
const ENGINE: &str = "psync";

/// Reads `job options` or `global options`.
pub(super) fn options(of: &Value) -> Vec<(String, String)> {
    let options = of.as_object().into_iter().flatten();
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    options.map(|(name, of)| (name.clone(), value(of))).collect()
}

/// Reads an entry; `entries` are all of them.
pub(super) fn job(
    entry: &Value,
    entries: &[&Value],
    globals: &[(String, String)],
) -> Result<JobRecord, ResultError> {
    let name = text(entry, "jobname");
    let options = options(&entry["job options"]);
    let option = |name: &str| {
        let mut all = options.iter().rev().chain(globals.iter().rev());
        all.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    let damaged = |what: String| ResultError::Damaged { job: name.clone(), what };
    let runtime_ns = int(entry, "job_runtime").saturating_mul(1_000_000);
    let cpu_ns = |key| (float(entry, key) / 100.0 * runtime_ns as f64).round() as u64;
    let dirs = dirs(entry, &name, option("rw").or(option("readwrite")))?;
    let n_ios: u64 = dirs.iter().map(|(_, dir)| dir.n_ios).sum();
    let percentiles = dirs.iter().find_map(|(name, _)| listed_percentiles(&entry[name]));
    let (sync, sync_listed) = latency(&entry["sync"]["lat_ns"]).map_err(damaged)?;
    let target = option("filename").or(option("directory"));
    Ok(JobRecord {
        description: entry["desc"].as_str().map(str::to_owned),
        group_id: int(entry, "groupid") as u32,
        n_workers: n_workers(entry, entries, option("numjobs")),
        started_unix_ms: int(entry, "job_start"),
        error_errno: int(entry, "error") as i32,
        engine: option("ioengine").unwrap_or(ENGINE).to_owned(),
        queue_depth: int(entry, "latency_depth").max(1) as u32,
        targets: target.map(str::to_owned).into_iter().collect(),
        runtime_ns,
        cpu_user_ns: cpu_ns("usr_cpu"),
        cpu_system_ns: cpu_ns("sys_cpu"),
        context_switches: int(entry, "ctx"),
        major_faults: int(entry, "majf"),
        minor_faults: int(entry, "minf"),
        dirs,
        sync,
        sync_listed,
        depth_levels: ["1", "2", "4", "8", "16", "32", ">=64"].map(|depth| {
            (float(&entry["iodepth_level"], depth) / 100.0 * n_ios as f64).round() as u64
        }),
        n_errors: int(entry, "total_err"),
        steady: entry.get("steadystate").map(steady),
        print: PrintRecord {
            percentiles: percentiles.unwrap_or_else(|| PrintRecord::default().percentiles),
            clat_percentiles: option("clat_percentiles") != Some("0"),
            lat_percentiles: option("lat_percentiles") == Some("1"),
            slat_percentiles: option("slat_percentiles") == Some("1"),
            continue_on_error: entry.get("total_err").is_some(),
            ..PrintRecord::default()
        },
        options,
        name,
        ..JobRecord::default()
    })
}

/// Returns how many workers an entry stands for: all copies of a job, unless each has its own.
fn n_workers(entry: &Value, entries: &[&Value], numjobs: Option<&str>) -> u32 {
    let is_same = |other: &&&Value| {
        other["jobname"] == entry["jobname"]
            && other["groupid"] == entry["groupid"]
            && other["hostname"] == entry["hostname"]
    };
    let n_entries = entries.iter().filter(is_same).count() as u32;
    let n_asked: u32 = numjobs.and_then(|n| n.parse().ok()).unwrap_or(1);
    if n_entries > 1 { 1 } else { n_asked.max(1) }
}

fn dirs(
    entry: &Value,
    name: &str,
    access: Option<&str>,
) -> Result<PerDirRecord<DirRecord>, ResultError> {
    let dir = |of: &Value| {
        let damaged = |what| ResultError::Damaged { job: name.to_owned(), what };
        dir(of).map_err(damaged)
    };
    let mixed = &entry["mixed"];
    if mixed.is_object() && !entry["read"].is_object() {
        // Without a mix it is known after all.
        let (read, write, trim) = match access.unwrap_or("read") {
            "read" | "randread" => (mixed, &Value::Null, &Value::Null),
            "write" | "randwrite" => (&Value::Null, mixed, &Value::Null),
            "trim" | "randtrim" => (&Value::Null, &Value::Null, mixed),
            _ => return Err(ResultError::Mixed { job: name.to_owned() }),
        };
        return Ok(PerDirRecord { read: dir(read)?, write: dir(write)?, trim: dir(trim)? });
    }
    Ok(PerDirRecord {
        read: dir(&entry["read"])?,
        write: dir(&entry["write"])?,
        trim: dir(&entry["trim"])?,
    })
}

fn dir(of: &Value) -> Result<DirRecord, String> {
    let mut record = DirRecord {
        io_bytes: int(of, "io_bytes"),
        n_ios: int(of, "total_ios"),
        short_ios: int(of, "short_ios"),
        dropped_ios: int(of, "drop_ios"),
        runtime_ns: int(of, "runtime").saturating_mul(1_000_000),
        bandwidth_kib_s: samples(of, "bw", "dev"),
        iops: samples(of, "iops", "stddev"),
        ..DirRecord::default()
    };
    let mut listed = ListedLatencies::default();
    (record.slat, listed.slat) = latency(&of["slat_ns"])?;
    (record.clat, listed.clat) = latency(&of["clat_ns"])?;
    (record.lat, listed.lat) = latency(&of["lat_ns"])?;
    record.listed = (listed != ListedLatencies::default()).then_some(listed);
    Ok(record)
}

fn samples(of: &Value, kind: &str, deviation: &str) -> Samples {
    Samples {
        n: int(of, &format!("{kind}_samples")),
        min: int(of, &format!("{kind}_min")),
        max: int(of, &format!("{kind}_max")),
        mean: float(of, &format!("{kind}_mean")),
        stdev: float(of, &format!("{kind}_{deviation}")),
    }
}

/// Returns the percentiles that a direction lists.
fn listed_percentiles(of: &Value) -> Option<Vec<f64>> {
    let listed = ["clat_ns", "lat_ns", "slat_ns"].iter().find_map(|kind| {
        of[*kind]["percentile"].as_object().filter(|percentiles| !percentiles.is_empty())
    })?;
    Some(listed.keys().filter_map(|percentile| percentile.parse().ok()).collect())
}

fn steady(of: &Value) -> SteadyRecord {
    let list = |key: &str| -> Vec<u64> {
        let values = of["data"][key].as_array().into_iter().flatten();
        values.filter_map(Value::as_u64).collect()
    };
    SteadyRecord {
        criterion_text: text(of, "ss"),
        window_ns: int(of, "duration").saturating_mul(1_000_000_000),
        attained: int(of, "attained") == 1,
        criterion: text(of, "criterion").trim_end_matches('%').parse().unwrap_or(f64::NAN),
        deviation_max: float(of, "max_deviation"),
        slope: float(of, "slope"),
        iops: list("iops"),
        bandwidth_kib_s: list("bw").iter().map(|bytes| bytes / 1024).collect(),
        latency_ns: list("lat_ns"),
    }
}

/// Reads an entry of `disk_util`.
pub(super) fn disk(of: &Value) -> DiskRecord {
    DiskRecord {
        name: text(of, "name"),
        read_ios: int(of, "read_ios"),
        write_ios: int(of, "write_ios"),
        read_sectors: int(of, "read_sectors"),
        write_sectors: int(of, "write_sectors"),
        read_merges: int(of, "read_merges"),
        write_merges: int(of, "write_merges"),
        read_ticks_ms: int(of, "read_ticks"),
        write_ticks_ms: int(of, "write_ticks"),
        in_queue_ms: int(of, "in_queue"),
        util_pct: float(of, "util"),
        members: Vec::new(),
    }
}
