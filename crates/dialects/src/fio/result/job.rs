//! One entry of `jobs`.

use std::collections::HashMap;

use record::{
    DirRecord, DiskRecord, JobRecord, ListedLatencies, PerDirRecord, PrintRecord, Samples,
    SteadyRecord,
};
use serde_json::Value;

use super::ResultError;
use super::fields::Fields;
use super::latency::{latency, percentiles};

/// fio's default engine on Linux.
const ENGINE: &str = "psync";

const NS_PER_MS: u64 = 1_000_000;

/// Reads `job options` or `global options`.
pub(super) fn options(of: &Fields<'_>) -> Vec<(String, String)> {
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    of.pairs().map(|(name, of)| (name.clone(), value(of))).collect()
}

/// How many entries have the same name, group and host.
#[derive(Debug)]
pub(super) struct Copies(HashMap<[String; 3], u32>);

impl Copies {
    /// Counts them. There may be tens of thousands.
    pub(super) fn of(entries: &[(usize, &Value)]) -> Self {
        let mut counts = HashMap::new();
        for (_, entry) in entries {
            *counts.entry(Self::key(entry)).or_insert(0) += 1;
        }
        Copies(counts)
    }

    fn key(entry: &Value) -> [String; 3] {
        ["jobname", "groupid", "hostname"].map(|key| entry[key].to_string())
    }

    fn n_of(&self, entry: &Value) -> u32 {
        self.0.get(&Self::key(entry)).copied().unwrap_or(1)
    }
}

/// Reads an entry, which stands at `path`; `copies` counts all of them.
pub(super) fn job(
    entry: &Value,
    path: String,
    copies: &Copies,
    globals: &[(String, String)],
) -> Result<JobRecord, ResultError> {
    let of = Fields::new(entry, path)?;
    let name = of.text("jobname")?.to_owned();
    let options = options(&of.object("job options")?);
    let option = |name: &str| {
        let mut all = options.iter().rev().chain(globals.iter().rev());
        all.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    let dirs = dirs(&of, &name, option("rw").or(option("readwrite")))?;
    let n_ios = dirs.iter().fold(0_u64, |sum, (_, dir)| sum.saturating_add(dir.n_ios));
    let runtime_ns = runtime_ns(&of, &dirs)?;
    let cpu_ns = |key| Ok((of.amount(key)? / 100.0 * runtime_ns as f64).round() as u64);
    let synced = of.object("sync")?;
    let (sync, sync_listed) = latency(&synced.object("lat_ns")?, synced.count("total_ios")?)?;
    let target = option("filename").or(option("directory"));
    let levels = of.object("iodepth_level")?;
    let mut depth_levels = [0; 7];
    for (level, depth) in depth_levels.iter_mut().zip(["1", "2", "4", "8", "16", "32", ">=64"]) {
        *level = (levels.amount(depth)? / 100.0 * n_ios as f64).round() as u64;
    }
    Ok(JobRecord {
        description: of.has("desc").then(|| of.text("desc").map(str::to_owned)).transpose()?,
        group_id: of.count("groupid")?,
        n_workers: n_workers(entry, copies, option("numjobs")),
        started_unix_ms: of.count("job_start")?,
        error_errno: of.count("error")?,
        engine: option("ioengine").unwrap_or(ENGINE).to_owned(),
        queue_depth: of.count::<u32>("latency_depth")?.max(1),
        pauses: option("thinktime").is_some_and(|time| time != "0"),
        targets: target.map(str::to_owned).into_iter().collect(),
        runtime_ns,
        cpu_user_ns: cpu_ns("usr_cpu")?,
        cpu_system_ns: cpu_ns("sys_cpu")?,
        context_switches: of.count("ctx")?,
        major_faults: of.count("majf")?,
        minor_faults: of.count("minf")?,
        dirs,
        sync,
        sync_listed,
        depth_levels,
        n_errors: of.count("total_err")?,
        steady: of.has("steadystate").then(|| steady(&of.object("steadystate")?)).transpose()?,
        print: PrintRecord {
            percentiles: listed_percentiles(&of)?
                .unwrap_or_else(|| PrintRecord::default().percentiles),
            clat_percentiles: option("clat_percentiles") != Some("0"),
            lat_percentiles: option("lat_percentiles") == Some("1"),
            slat_percentiles: option("slat_percentiles") == Some("1"),
            continue_on_error: of.has("total_err"),
            ..PrintRecord::default()
        },
        options,
        name,
        ..JobRecord::default()
    })
}

/// Returns how long a job ran. Old versions say it of its directions only.
fn runtime_ns(of: &Fields<'_>, dirs: &PerDirRecord<DirRecord>) -> Result<u64, ResultError> {
    if of.has("job_runtime") {
        return Ok(of.count::<u64>("job_runtime")?.saturating_mul(NS_PER_MS));
    }
    Ok(dirs.iter().map(|(_, dir)| dir.runtime_ns).max().unwrap_or(0))
}

/// Returns how many workers an entry stands for: all copies of a job, unless each has its own.
fn n_workers(entry: &Value, copies: &Copies, numjobs: Option<&str>) -> u32 {
    let n_entries = copies.n_of(entry);
    let n_asked: u32 = numjobs.and_then(|n| n.parse().ok()).unwrap_or(1);
    if n_entries > 1 { 1 } else { n_asked.max(1) }
}

fn dirs(
    entry: &Fields<'_>,
    name: &str,
    access: Option<&str>,
) -> Result<PerDirRecord<DirRecord>, ResultError> {
    let none = DirRecord::default;
    if entry.has("mixed") && !entry.has("read") {
        let mixed = dir(&entry.object("mixed")?)?;
        // Without a mix it is known after all.
        return match access.unwrap_or("read") {
            "read" | "randread" => Ok(PerDirRecord { read: mixed, write: none(), trim: none() }),
            "write" | "randwrite" => Ok(PerDirRecord { read: none(), write: mixed, trim: none() }),
            "trim" | "randtrim" => Ok(PerDirRecord { read: none(), write: none(), trim: mixed }),
            _ => Err(ResultError::Mixed { job: name.to_owned() }),
        };
    }
    Ok(PerDirRecord {
        read: dir(&entry.object("read")?)?,
        write: dir(&entry.object("write")?)?,
        trim: dir(&entry.object("trim")?)?,
    })
}

/// Reads a direction.
///
/// `total_ios` leaves out what was in flight when a ramp ended, while bytes and latencies count it
/// (fio 3.33; 37,215 beside 37,470 at a depth of 256). The number of latencies counts where it is
/// larger, so that bytes per I/O come out as they were issued.
fn dir(of: &Fields<'_>) -> Result<DirRecord, ResultError> {
    if of.pairs().next().is_some() {
        of.need(&["io_bytes", "total_ios", "runtime"])?;
    }
    let total_ios: u64 = of.count("total_ios")?;
    let n_ios = total_ios.max(of.object("clat_ns")?.count("N")?);
    let mut record = DirRecord {
        io_bytes: of.count("io_bytes")?,
        n_ios,
        short_ios: of.count("short_ios")?,
        dropped_ios: of.count("drop_ios")?,
        runtime_ns: of.count::<u64>("runtime")?.saturating_mul(NS_PER_MS),
        bandwidth_kib_s: samples(of, "bw", "dev")?,
        iops: samples(of, "iops", "stddev")?,
        ..DirRecord::default()
    };
    let mut listed = ListedLatencies::default();
    (record.slat, listed.slat) = latency(&of.object("slat_ns")?, n_ios)?;
    (record.clat, listed.clat) = latency(&of.object("clat_ns")?, n_ios)?;
    (record.lat, listed.lat) = latency(&of.object("lat_ns")?, n_ios)?;
    record.listed = (listed != ListedLatencies::default()).then_some(listed);
    Ok(record)
}

fn samples(of: &Fields<'_>, kind: &str, deviation: &str) -> Result<Samples, ResultError> {
    Ok(Samples {
        n: of.count(&format!("{kind}_samples"))?,
        min: of.count(&format!("{kind}_min"))?,
        max: of.count(&format!("{kind}_max"))?,
        mean: of.amount(&format!("{kind}_mean"))?,
        stdev: of.amount(&format!("{kind}_{deviation}"))?,
    })
}

/// Returns the percentiles that the first direction lists that lists any.
fn listed_percentiles(entry: &Fields<'_>) -> Result<Option<Vec<f64>>, ResultError> {
    for dir in record::DIRECTIONS {
        for kind in ["clat_ns", "lat_ns", "slat_ns"] {
            let listed = percentiles(&entry.object(dir)?.object(kind)?)?;
            if !listed.is_empty() {
                return Ok(Some(listed.into_iter().map(|(percentile, _)| percentile).collect()));
            }
        }
    }
    Ok(None)
}

fn steady(of: &Fields<'_>) -> Result<SteadyRecord, ResultError> {
    let samples = of.object("data")?;
    Ok(SteadyRecord {
        criterion_text: of.text("ss")?.to_owned(),
        window_ns: of.count::<u64>("duration")?.saturating_mul(1_000_000_000),
        attained: of.count::<u64>("attained")? == 1,
        criterion: of.text("criterion")?.trim_end_matches('%').parse().unwrap_or(f64::NAN),
        deviation_max: of.number("max_deviation")?,
        slope: of.number("slope")?,
        iops: samples.counts("iops")?,
        bandwidth_kib_s: samples.counts("bw")?.iter().map(|bytes| bytes / 1024).collect(),
        latency_ns: samples.counts("lat_ns")?,
    })
}

/// Reads an entry of `disk_util`, which stands at `path`.
pub(super) fn disk(of: &Value, path: String) -> Result<DiskRecord, ResultError> {
    let of = Fields::new(of, path)?;
    Ok(DiskRecord {
        name: of.text("name")?.to_owned(),
        read_ios: of.count("read_ios")?,
        write_ios: of.count("write_ios")?,
        read_sectors: of.count("read_sectors")?,
        write_sectors: of.count("write_sectors")?,
        read_merges: of.count("read_merges")?,
        write_merges: of.count("write_merges")?,
        read_ticks_ms: of.count("read_ticks")?,
        write_ticks_ms: of.count("write_ticks")?,
        in_queue_ms: of.count("in_queue")?,
        util_pct: of.amount("util")?,
        members: Vec::new(),
    })
}
