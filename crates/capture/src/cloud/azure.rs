//! Answers of Azure Monitor (`az monitor metrics list`, or its REST form).

use std::collections::BTreeSet;
use std::io::BufRead;

use serde_json::Value;

use crate::cloud::{MetricGrid, document};
use crate::context::{Context, quote};
use crate::lines::ReadError;
use crate::sample::{ClockKind, Event, NS_PER_S, WHOLE_HOST};
use crate::time::Stamps;

/// What a metric is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    ReadIops,
    WriteIops,
    /// Bytes per second.
    ReadRate,
    WriteRate,
    /// Bytes of the whole grain.
    ReadTotal,
    WriteTotal,
    Queue,
    LatencyMs,
    CpuPercent,
    FreeMemoryPercent,
}

/// Returns which disk and which figure a metric is of.
fn metric(name: &str) -> Option<(&'static str, Metric)> {
    let name = name.to_lowercase();
    match name.as_str() {
        "percentage cpu" => return Some(("", Metric::CpuPercent)),
        "available memory percentage" => return Some(("", Metric::FreeMemoryPercent)),
        "disk read bytes" => return Some((WHOLE_HOST, Metric::ReadTotal)),
        "disk write bytes" => return Some((WHOLE_HOST, Metric::WriteTotal)),
        _ => {}
    }
    let disks = [
        ("data disk ", "data disk"),
        ("os disk ", "os disk"),
        ("temp disk ", "temp disk"),
        ("composite disk ", "disk"),
        ("disk ", WHOLE_HOST),
    ];
    let (disk, figure) = disks
        .into_iter()
        .find_map(|(prefix, disk)| name.strip_prefix(prefix).map(|figure| (disk, figure)))?;
    let metric = match figure {
        "read operations/sec" => Metric::ReadIops,
        "write operations/sec" => Metric::WriteIops,
        "read bytes/sec" => Metric::ReadRate,
        "write bytes/sec" => Metric::WriteRate,
        "queue depth" => Metric::Queue,
        "latency" => Metric::LatencyMs,
        _ => return None,
    };
    Some((disk, metric))
}

/// Reads an answer.
pub(crate) fn read(input: &mut dyn BufRead, context: &mut Context<'_>) -> Result<(), ReadError> {
    let answer = document(input)?;
    let grain = answer["interval"].as_str();
    let span_ns = grain.and_then(duration_ns).ok_or_else(|| {
        let found = grain.map_or("missing".to_owned(), quote);
        ReadError::whole(format!("`interval` is {found}: expected one such as `PT1M`"))
    })?;
    let metrics = answer["value"].as_array();
    let metrics = metrics.ok_or_else(|| ReadError::whole("there is no list `value` of metrics"))?;
    context.put(Event::Clock(ClockKind::Utc));
    let mut grid = MetricGrid::default();
    let mut unknown = BTreeSet::new();
    let (mut n_unnamed, mut n_without_moment, mut is_of_peaks) = (0, 0, false);
    for of in metrics {
        let Some(name) = of["name"]["value"].as_str().or(of["name"].as_str()) else {
            n_unnamed += 1;
            continue;
        };
        let Some((disk, metric)) = metric(name) else {
            unknown.insert(quote(name));
            continue;
        };
        for series in of["timeseries"].as_array().into_iter().flatten() {
            let device = device(disk, series);
            for point in series["data"].as_array().into_iter().flatten() {
                let Some((value, is_peak)) = value(point, metric) else { continue };
                let Some(text) = point["timeStamp"].as_str() else {
                    n_without_moment += 1;
                    continue;
                };
                let Some(stamp) = Stamps::default().stamp(text) else {
                    context.unreadable(None, format!("{} is not a time", quote(text)));
                    continue;
                };
                is_of_peaks |= is_peak;
                // A point is named for the beginning of its grain.
                let end_ns = stamp.unix_ns.saturating_add_unsigned(span_ns);
                put(&mut grid, &device, metric, value, (end_ns, span_ns));
            }
        }
    }
    if is_of_peaks {
        context.remark(None, "metrics without averages: their maxima are taken");
    }
    if n_unnamed > 0 {
        let metrics = units::plural(n_unnamed, "metric");
        context.unreadable(None, format!("{metrics} without a name"));
    }
    if n_without_moment > 0 {
        let points = units::plural(n_without_moment, "point");
        context.unreadable(None, format!("{points} without a time (`timeStamp`)"));
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.into_iter().collect();
        context.remark(None, format!("metrics that are not read: {}", names.join(", ")));
    }
    grid.put(span_ns, context);
    Ok(())
}

/// Returns the name of a disk, with its number where the metric is split by it.
fn device(disk: &str, series: &Value) -> String {
    let labels = series["metadatavalues"].as_array().into_iter().flatten();
    let mut lun = labels.filter(|label| {
        let name = label["name"]["value"].as_str().or(label["name"].as_str());
        name.is_some_and(|name| name.eq_ignore_ascii_case("lun"))
    });
    match lun.next().and_then(|label| label["value"].as_str()) {
        Some(lun) => format!("lun {lun}"),
        None => disk.to_owned(),
    }
}

/// Returns the value of a point, and whether it is a maximum.
fn value(point: &Value, metric: Metric) -> Option<(f64, bool)> {
    let of = |key: &str| point[key].as_f64().filter(|value| *value >= 0.0);
    match metric {
        Metric::ReadTotal | Metric::WriteTotal => of("total").map(|value| (value, false)),
        Metric::ReadIops
        | Metric::WriteIops
        | Metric::ReadRate
        | Metric::WriteRate
        | Metric::Queue
        | Metric::LatencyMs
        | Metric::CpuPercent
        | Metric::FreeMemoryPercent => of("average")
            .map(|value| (value, false))
            .or_else(|| of("maximum").map(|value| (value, true))),
    }
}

fn put(
    grid: &mut MetricGrid,
    device: &str,
    metric: Metric,
    value: f64,
    (end_ns, span_ns): (i64, u64),
) {
    let span_s = span_ns as f64 / NS_PER_S as f64;
    match metric {
        Metric::ReadIops => grid.device(device, end_ns).read.iops = Some(value),
        Metric::WriteIops => grid.device(device, end_ns).write.iops = Some(value),
        Metric::ReadRate => grid.device(device, end_ns).read.bytes = Some(value),
        Metric::WriteRate => grid.device(device, end_ns).write.bytes = Some(value),
        Metric::ReadTotal => grid.device(device, end_ns).read.bytes = Some(value / span_s),
        Metric::WriteTotal => grid.device(device, end_ns).write.bytes = Some(value / span_s),
        Metric::Queue => grid.device(device, end_ns).queue = Some(value),
        Metric::LatencyMs => {
            let rates = grid.device(device, end_ns);
            (rates.read.latency_ms, rates.write.latency_ms) = (Some(value), Some(value));
        }
        Metric::CpuPercent => grid.host(end_ns).cpu_share = Some(value / 100.0),
        Metric::FreeMemoryPercent => {
            grid.host(end_ns).memory_share = Some((1.0 - value / 100.0).max(0.0));
        }
    }
}

/// Reads a duration of ISO 8601: `PT1M`, `PT1H30M`, `P1D`.
fn duration_ns(text: &str) -> Option<u64> {
    let rest = text.strip_prefix('P')?;
    let (days, times) = rest.split_once('T').unwrap_or((rest, ""));
    let mut total_s = 0_u64;
    for (part, units) in
        [(days, &[('D', 86_400)][..]), (times, &[('H', 3600), ('M', 60), ('S', 1)])]
    {
        let mut number = String::new();
        for c in part.chars() {
            if c.is_ascii_digit() {
                number.push(c);
                continue;
            }
            let (_, unit_s) = units.iter().find(|(unit, _)| *unit == c)?;
            let count: u64 = std::mem::take(&mut number).parse().ok()?;
            total_s = total_s.checked_add(count.checked_mul(*unit_s)?)?;
        }
        if !number.is_empty() {
            return None;
        }
    }
    total_s.checked_mul(NS_PER_S).filter(|ns| *ns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grains() {
        for (text, seconds) in [("PT1M", 60), ("PT1H30M", 5400), ("P1D", 86_400), ("PT5S", 5)] {
            assert_eq!(duration_ns(text), Some(seconds * NS_PER_S), "{text}");
        }
        for text in ["", "P", "PT", "1M", "PTM", "PT1", "PT1X", "PT99999999999999999999S"] {
            assert_eq!(duration_ns(text), None, "{text}");
        }
    }
}
