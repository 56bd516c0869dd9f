//! Answers of `aws cloudwatch get-metric-data`.
//!
//! An answer names neither its statistic nor its period. Counts are taken as sums, which is how
//! EBS should be queried; the period is the shortest time between two samples. Both are noted.

use std::collections::BTreeSet;
use std::io::BufRead;

use serde_json::Value;

use crate::cloud::{MetricGrid, document};
use crate::context::{Context, quote};
use crate::lines::ReadError;
use crate::sample::{ClockKind, Event, NS_PER_S, Rates};
use crate::time::Stamps;

/// What a metric is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    /// Sums of a period.
    ReadOps,
    WriteOps,
    ReadBytes,
    WriteBytes,
    /// Seconds of all I/Os of a period.
    ReadTime,
    WriteTime,
    /// Rates per second, as RDS has them.
    ReadIops,
    WriteIops,
    ReadRate,
    WriteRate,
    /// Seconds of one I/O.
    ReadLatency,
    WriteLatency,
    Queue,
    CpuPercent,
}

/// Names of metrics, in any label. EBS counts volumes, EC2 the instance, RDS a database.
const METRICS: [(&str, Metric); 21] = [
    ("VolumeReadOps", Metric::ReadOps),
    ("VolumeWriteOps", Metric::WriteOps),
    ("VolumeReadBytes", Metric::ReadBytes),
    ("VolumeWriteBytes", Metric::WriteBytes),
    ("VolumeTotalReadTime", Metric::ReadTime),
    ("VolumeTotalWriteTime", Metric::WriteTime),
    ("VolumeQueueLength", Metric::Queue),
    ("EBSReadOps", Metric::ReadOps),
    ("EBSWriteOps", Metric::WriteOps),
    ("EBSReadBytes", Metric::ReadBytes),
    ("EBSWriteBytes", Metric::WriteBytes),
    ("DiskReadOps", Metric::ReadOps),
    ("DiskWriteOps", Metric::WriteOps),
    ("DiskQueueDepth", Metric::Queue),
    ("ReadIOPS", Metric::ReadIops),
    ("WriteIOPS", Metric::WriteIops),
    ("ReadThroughput", Metric::ReadRate),
    ("WriteThroughput", Metric::WriteRate),
    ("ReadLatency", Metric::ReadLatency),
    ("WriteLatency", Metric::WriteLatency),
    ("CPUUtilization", Metric::CpuPercent),
];

/// Where a result has no name of a volume.
const UNNAMED: &str = "volume";

/// Reads an answer.
pub(crate) fn read(input: &mut dyn BufRead, context: &mut Context<'_>) -> Result<(), ReadError> {
    let answer = document(input)?;
    let results = answer["MetricDataResults"].as_array();
    let results =
        results.ok_or_else(|| ReadError::whole("there is no list `MetricDataResults`"))?;
    if answer["NextToken"].is_string() {
        let text = "the answer has a `NextToken`: more of it was not fetched";
        context.unreadable(None, text);
    }
    context.put(Event::Clock(ClockKind::Utc));
    let period_ns = period_ns(results)
        .ok_or_else(|| ReadError::whole("fewer than two times: the period is not known"))?;
    let text = format!(
        "an answer does not say how it was asked: counts are taken as sums (statistic Sum) of {} s",
        period_ns / NS_PER_S
    );
    context.remark(None, text);
    let mut grid = MetricGrid::default();
    let (mut unknown, mut n_unnamed) = (BTreeSet::new(), 0);
    let mut seen = BTreeSet::new();
    // Times are divided by the counts, which must be there by then.
    let is_time = |metric: Metric| matches!(metric, Metric::ReadTime | Metric::WriteTime);
    for wants_times in [false, true] {
        for result in results {
            let (label, id) = (result["Label"].as_str(), result["Id"].as_str());
            let Some(shown) = label.or(id) else {
                n_unnamed += u64::from(!wants_times);
                continue;
            };
            let Some((name, metric)) = label.and_then(metric).or_else(|| metric(id?)) else {
                unknown.insert(quote(shown));
                continue;
            };
            if is_time(metric) != wants_times {
                continue;
            }
            let device = label.and_then(device).or_else(|| device(id?)).unwrap_or(UNNAMED);
            if !seen.insert((device.to_owned(), name)) {
                let text = format!(
                    "a second `{name}` of `{device}`: give each result a label with its volume"
                );
                context.unreadable(None, text);
                continue;
            }
            if result["StatusCode"].as_str().is_some_and(|status| status != "Complete") {
                context.unreadable(None, format!("the result {} is not complete", quote(shown)));
            }
            let n_left_out = put_all(&mut grid, device, metric, result, period_ns);
            if n_left_out > 0 {
                let points = units::plural(n_left_out, "point");
                let text = format!("{points} of {} without a time or a value", quote(shown));
                context.unreadable(None, text);
            }
        }
    }
    if n_unnamed > 0 {
        let results = units::plural(n_unnamed, "result");
        context.unreadable(None, format!("{results} without a `Label` or `Id`"));
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.into_iter().collect();
        context.remark(None, format!("metrics that are not read: {}", names.join(", ")));
    }
    grid.put(period_ns, context);
    Ok(())
}

fn metric(text: &str) -> Option<(&'static str, Metric)> {
    METRICS.into_iter().find(|(name, _)| text.contains(name))
}

/// Returns the volume or instance that a label names.
fn device(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.into_iter().find(|word| word.starts_with("vol-") || word.starts_with("i-"))
}

/// Returns the shortest time between two moments of a result.
fn period_ns(results: &[Value]) -> Option<u64> {
    let mut shortest: Option<u64> = None;
    for result in results {
        let mut moments: Vec<i64> = moments(result).flatten().collect();
        moments.sort_unstable();
        let gaps = moments.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
        if let Some(gap_ns) = gaps.filter(|gap_ns| *gap_ns > 0).min() {
            shortest = Some(shortest.map_or(gap_ns, |shortest| shortest.min(gap_ns)));
        }
    }
    shortest
}

fn moments(result: &Value) -> impl Iterator<Item = Option<i64>> {
    let moments = result["Timestamps"].as_array().into_iter().flatten();
    moments.map(|moment| Some(Stamps::default().stamp(moment.as_str()?)?.unix_ns))
}

/// Puts the points of a result where they belong, and returns how many have no moment or no value.
fn put_all(
    grid: &mut MetricGrid,
    device: &str,
    metric: Metric,
    result: &Value,
    period_ns: u64,
) -> u64 {
    let values: &[Value] = result["Values"].as_array().map_or(&[], Vec::as_slice);
    let period_s = period_ns as f64 / NS_PER_S as f64;
    let n_moments = moments(result).count();
    let mut n_left_out = n_moments.abs_diff(values.len()) as u64;
    for (moment, value) in moments(result).zip(values) {
        let (Some(start_ns), Some(value)) = (moment, value.as_f64()) else {
            n_left_out += 1;
            continue;
        };
        let end_ns = start_ns.saturating_add_unsigned(period_ns);
        if metric == Metric::CpuPercent {
            grid.host(end_ns).cpu_share = Some(value / 100.0);
        } else {
            put(grid.device(device, end_ns), metric, value.max(0.0), period_s);
        }
    }
    n_left_out
}

fn put(rates: &mut Rates, metric: Metric, value: f64, period_s: f64) {
    let of_time = |iops: Option<f64>| {
        let n_ios = iops.map(|iops| iops * period_s).filter(|n_ios| *n_ios > 0.0)?;
        Some(value / n_ios * 1e3)
    };
    match metric {
        Metric::ReadOps => rates.read.iops = Some(value / period_s),
        Metric::WriteOps => rates.write.iops = Some(value / period_s),
        Metric::ReadBytes => rates.read.bytes = Some(value / period_s),
        Metric::WriteBytes => rates.write.bytes = Some(value / period_s),
        Metric::ReadTime => rates.read.latency_ms = of_time(rates.read.iops),
        Metric::WriteTime => rates.write.latency_ms = of_time(rates.write.iops),
        Metric::ReadIops => rates.read.iops = Some(value),
        Metric::WriteIops => rates.write.iops = Some(value),
        Metric::ReadRate => rates.read.bytes = Some(value),
        Metric::WriteRate => rates.write.bytes = Some(value),
        Metric::ReadLatency => rates.read.latency_ms = Some(value * 1e3),
        Metric::WriteLatency => rates.write.latency_ms = Some(value * 1e3),
        Metric::Queue => rates.queue = Some(value),
        Metric::CpuPercent => {}
    }
}
