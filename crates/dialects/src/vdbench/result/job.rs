//! A row of averages as a job, and a row of an interval as what it did.

use record::{
    DirRecord, Figure, IntervalDir, IntervalLatency, JobRecord, ListedLatencies, ListedLatency,
    PerDirRecord, SeriesRecord,
};

use super::figures::{Flow, Line};
use super::parameters::RunSettings;

const NS_PER_MS: f64 = 1e6;

/// Returns how many operations a rate makes in a time.
fn count(iops: f64, time_ms: u64) -> u64 {
    (iops * time_ms as f64 / 1000.0).round() as u64
}

/// Returns how many reads and writes there are: both together are whole, and so is each.
fn counts(line: &Line, time_ms: u64) -> (u64, u64) {
    let n_all = count(line.read.iops + line.write.iops, time_ms);
    let n_reads = count(line.read.iops, time_ms).min(n_all);
    (n_reads, n_all - n_reads)
}

fn bytes(flow: &Flow, n_ios: u64) -> u64 {
    (flow.size_bytes * n_ios as f64).round() as u64
}

/// Returns what a row of an interval says.
pub(super) fn interval(line: &Line, length_ms: u64) -> PerDirRecord<IntervalDir> {
    let (n_reads, n_writes) = counts(line, length_ms);
    let dir = |flow: &Flow, n_ios: u64| {
        let max_ns = flow.max_ms.filter(|_| n_ios > 0).map(|ms| (ms * NS_PER_MS).round() as u64);
        IntervalDir {
            n_ios,
            io_bytes: bytes(flow, n_ios),
            latency: IntervalLatency::each(|figure| max_ns.filter(|_| figure == Figure::Max)),
            ..IntervalDir::default()
        }
    };
    PerDirRecord {
        read: dir(&line.read, n_reads),
        write: dir(&line.write, n_writes),
        trim: IntervalDir::default(),
    }
}

/// Returns what a row of averages says. Its place in time and in the run is to be filled in.
pub(super) fn job(line: &Line, settings: RunSettings, time_ms: u64) -> JobRecord {
    let (n_reads, n_writes) = counts(line, time_ms);
    let runtime_ns = time_ms.saturating_mul(1_000_000);
    let dir = |flow: &Flow, n_ios: u64| DirRecord {
        n_ios,
        io_bytes: bytes(flow, n_ios),
        runtime_ns,
        listed: listed(flow, n_ios),
        ..DirRecord::default()
    };
    let others = line.others.iter().map(|(op, iops)| SeriesRecord {
        op: op.clone(),
        n_ios: count(*iops, time_ms),
        ..SeriesRecord::default()
    });
    let n_targets = u32::try_from(settings.targets.len().max(1)).unwrap_or(u32::MAX);
    // Threads are of each storage definition.
    let of_page = line.asked.threads.map(|threads| threads.saturating_mul(n_targets));
    let queue_depth = settings.threads.or(of_page).unwrap_or(1).max(1);
    JobRecord {
        name: line.run.clone(),
        n_workers: 1,
        lacks_cpu: true,
        queue_depth,
        options: options(line, queue_depth, n_reads, n_writes),
        targets: settings.targets,
        runtime_ns,
        dirs: PerDirRecord {
            read: dir(&line.read, n_reads),
            write: dir(&line.write, n_writes),
            trim: DirRecord::default(),
        },
        series: others.collect(),
        ..JobRecord::default()
    }
}

fn listed(flow: &Flow, n_ios: u64) -> Option<ListedLatencies> {
    let ns = |ms: f64| ms * NS_PER_MS;
    let mean_ns = ns(flow.mean_ms.filter(|_| n_ios > 0)?);
    let clat = ListedLatency {
        n: n_ios,
        min_ns: None,
        max_ns: flow.max_ms.map(|ms| ns(ms).round() as u64),
        mean_ns,
        stdev_ns: flow.stdev_ms.map(ns),
        percentiles: Vec::new(),
    };
    Some(ListedLatencies { clat: Some(clat), ..ListedLatencies::default() })
}

/// Returns what the columns of a run on storage definitions ask for, in our words.
fn options(line: &Line, depth: u32, n_reads: u64, n_writes: u64) -> Vec<(String, String)> {
    let asked = &line.asked;
    let mut options = Vec::new();
    let mut put = |name: &str, value: String| options.push((name.to_owned(), value));
    if let Some(seek_pct) = asked.seek_pct.filter(|pct| (0.0..=100.0).contains(pct)) {
        let kind = match (n_reads > 0, n_writes > 0) {
            (true, false) => "read",
            (false, true) => "write",
            (true, true) | (false, false) => "rw",
        };
        let is_random = seek_pct > 0.0;
        put("rw", if is_random { format!("rand{kind}") } else { kind.to_owned() });
        if is_random && seek_pct < 100.0 {
            put("percentage_random", format!("{seek_pct:.0}"));
        }
    }
    if let Some(bytes) = asked.size_bytes {
        put("bs", bytes.to_string());
    }
    put("iodepth", depth.to_string());
    if let Some(iops) = asked.rate_iops {
        let n_all = (n_reads + n_writes).max(1) as f64;
        let of = |n_ios: u64| (iops * n_ios as f64 / n_all).round();
        let both = n_reads > 0 && n_writes > 0;
        put(
            "rate_iops",
            if both { format!("{},{}", of(n_reads), of(n_writes)) } else { format!("{iops:.0}") },
        );
    }
    options
}
