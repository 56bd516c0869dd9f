//! Records to report.

use export::Run;
use hist::Histogram;
use record::{
    CurvePointRecord, CurveRecord, DirRecord, Figure, Figures, Interval, IntervalDir,
    IntervalLatency, IntervalRecord, JobRecord, Latency, LatencyCounts, LoadLineRecord,
    PerDirRecord, Record, SearchEnd, StepRecord,
};

pub(crate) fn histogram(latencies_ns: impl IntoIterator<Item = u64>) -> Histogram {
    let mut hist = Histogram::new();
    latencies_ns.into_iter().for_each(|ns| hist.record(ns));
    hist
}

/// A second in which `n_ios` reads took `ns` each.
pub(crate) fn second(number: u64, n_ios: u64, ns: u64) -> Interval {
    let known = (n_ios > 0).then_some(ns);
    let latencies = histogram(std::iter::repeat_n(ns, n_ios as usize));
    let read = IntervalDir {
        n_ios,
        io_bytes: n_ios * 8192,
        latency: IntervalLatency::each(|_| known),
        latency_counts: LatencyCounts::of(&latencies),
        ..IntervalDir::default()
    };
    Interval {
        end_ms: (number + 1) * 1000,
        length_ms: 1000,
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        ..Interval::default()
    }
}

/// A direction that did `n_ios` of a size in a time.
pub(crate) fn dir(n_ios: u64, block: u64, seconds: u64, latencies: Histogram) -> DirRecord {
    DirRecord {
        n_ios,
        io_bytes: n_ios * block,
        runtime_ns: seconds * 1_000_000_000,
        clat: latencies.clone(),
        lat: latencies,
        ..DirRecord::default()
    }
}

pub(crate) fn job(name: &str, step_idx: u32, read: DirRecord, write: DirRecord) -> JobRecord {
    JobRecord {
        name: name.to_owned(),
        step_idx,
        n_workers: 1,
        queue_depth: 16,
        runtime_ns: read.runtime_ns.max(write.runtime_ns),
        dirs: PerDirRecord { read, write, ..PerDirRecord::default() },
        ..JobRecord::default()
    }
}

pub(crate) fn run(name: &str, record: Record) -> Run {
    Run { id: Some(7), name: name.to_owned(), record }
}

/// A run of one job whose seconds are given.
pub(crate) fn of_seconds(intervals: Vec<Interval>) -> Run {
    let n_ios: u64 = intervals.iter().map(|it| it.dirs.read.n_ios).sum();
    let n_seconds = intervals.len() as u64;
    let latencies = histogram((0..1000).map(|n| 100_000 + n * 1000));
    let read = dir(n_ios, 8192, n_seconds, latencies);
    let record = Record {
        elapsed_ns: n_seconds * 1_000_000_000,
        jobs: vec![job("oltp", 0, read, DirRecord::default())],
        intervals,
        ..Record::default()
    };
    run("plain", record)
}

/// A run with a step per (block size, share of reads in percent, IOPS).
pub(crate) fn of_steps(shapes: &[(u64, u64, u64)]) -> Run {
    let mut record = Record::default();
    for (idx, (block, read_pct, iops)) in shapes.iter().enumerate() {
        let n_reads = iops * read_pct / 10;
        let latencies = || histogram([200_000, 300_000]);
        let read = dir(n_reads, *block, 10, latencies());
        let write = dir(iops * 10 - n_reads, *block, 10, latencies());
        let mut job = job(&format!("{block}/{read_pct}"), idx as u32, read, write);
        job.options = [("rw", "randrw".to_owned()), ("rwmixread", read_pct.to_string())]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec();
        record.jobs.push(job);
        record.steps.push(StepRecord {
            step_idx: idx as u32,
            name: format!("{block} B, {read_pct} %"),
            ..StepRecord::default()
        });
    }
    run("matrix", record)
}

/// A curve of (offered, achieved, p99), of which those from `n_kept` on broke the limit.
pub(crate) fn of_curve(points: &[(f64, f64, u64)], n_kept: usize) -> Run {
    let mut record = Record::default();
    let mut curve_points = Vec::new();
    for (idx, (load, achieved, p99_ns)) in points.iter().enumerate() {
        let latencies = histogram((0..1000).map(|n| if n < 980 { p99_ns / 4 } else { *p99_ns }));
        let mut read = dir((achieved * 10.0) as u64, 4096, 10, latencies.clone());
        read.response = Some(latencies.clone());
        record.jobs.push(job("curve", idx as u32, read, DirRecord::default()));
        curve_points.push(CurvePointRecord {
            step_idx: idx as u32,
            load: *load,
            purpose: "curve".to_owned(),
            passed: idx < n_kept,
            broken: if idx < n_kept { Vec::new() } else { vec!["p99 too slow".to_owned()] },
            figures: Figures::of(&Latency::Measured(&latencies))
                .with(Figure::Iops, *achieved)
                .with(Figure::BytesPerS, achieved * 4096.0),
            ..CurvePointRecord::default()
        });
    }
    let (line, fail) = (points[n_kept - 1].0, points[n_kept].0);
    record.curve = Some(CurveRecord {
        arrivals: Some("poisson".to_owned()),
        in_flight_max: Some(256),
        limits: "p99 < 10ms and achieved > 0.95".to_owned(),
        points: curve_points,
        line: LoadLineRecord {
            end: SearchEnd::Bracketed,
            load: Some(line),
            first_fail: Some(fail),
            interval: Some(IntervalRecord { low: line, high: fail, coverage: 0.875 }),
            broken: vec!["p99 too slow".to_owned()],
            achieved_iops: Some(points[n_kept - 1].1),
            bytes_per_s: Some(points[n_kept - 1].1 * 4096.0),
            n_probes: 9,
            ..LoadLineRecord::default()
        },
        overall_response_ns: Some(1_200_000.0),
        ..CurveRecord::default()
    });
    run("p30", record)
}
