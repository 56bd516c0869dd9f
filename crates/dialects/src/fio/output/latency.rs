//! Latencies as the printed formats show them: which percentiles, and in which unit.

use std::fmt::Write as _;

use hist::Histogram;
use record::JobRecord;
use units::fio::Unit;

use super::text::shorten;

/// Most percentiles in a report, and the number of percentile fields of the terse formats.
pub(super) const PERCENTILES_MAX: usize = 20;

/// The latencies that a report distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LatencyKind {
    Slat,
    Clat,
    Lat,
    Sync,
    /// Of one priority: of completion or in total.
    Priority,
}

/// Returns the percentiles to print, ascending, if there are values and the job wants them.
pub(super) fn shown_percentiles(
    hist: &Histogram,
    job: &JobRecord,
    kind: LatencyKind,
) -> Option<Vec<f64>> {
    let print = &job.print;
    let wanted = match kind {
        LatencyKind::Slat => print.slat_percentiles,
        LatencyKind::Clat => print.clat_percentiles,
        LatencyKind::Lat => print.lat_percentiles,
        LatencyKind::Sync | LatencyKind::Priority => {
            print.clat_percentiles || print.lat_percentiles
        }
    };
    let percentiles = percentile_list(job);
    (wanted && !hist.is_empty() && !percentiles.is_empty()).then_some(percentiles)
}

/// Returns a job's percentiles, ascending, without any that are not numbers.
pub(super) fn percentile_list(job: &JobRecord) -> Vec<f64> {
    let list = job.print.percentiles.iter().copied().filter(|percentile| percentile.is_finite());
    let mut list: Vec<f64> = list.take(PERCENTILES_MAX).collect();
    list.sort_by(f64::total_cmp);
    list
}

/// Unit of a printed latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LatencyUnit {
    Ns,
    Us,
    Ms,
}

impl LatencyUnit {
    pub(super) fn name(self) -> &'static str {
        match self {
            LatencyUnit::Ns => "nsec",
            LatencyUnit::Us => "usec",
            LatencyUnit::Ms => "msec",
        }
    }

    pub(super) fn length_ns(self) -> u64 {
        match self {
            LatencyUnit::Ns => 1,
            LatencyUnit::Us => 1_000,
            LatencyUnit::Ms => 1_000_000,
        }
    }

    /// Returns the unit of a row by its smallest and largest value, and, of a row with a
    /// deviation, by that too: more than 2, 99.999 and 1 of the next finer unit's thousand.
    pub(super) fn of(min_ns: u64, max_ns: u64, stdev_ns: Option<f64>) -> Self {
        let exceeds = |unit: LatencyUnit| {
            let thousandth_ns = unit.length_ns() / 1000;
            min_ns > 2_000 * thousandth_ns
                && max_ns > 100_000 * thousandth_ns - 1
                && stdev_ns.is_none_or(|stdev| stdev > 1_000.0 * thousandth_ns as f64)
        };
        [LatencyUnit::Ms, LatencyUnit::Us].into_iter().find(|u| exceeds(*u)).unwrap_or(Self::Ns)
    }
}

/// Writes a row such as `    clat (usec): min=5, max=219, avg=53.76, stdev=23.24`.
pub(super) fn latency_row(name: &str, hist: &Histogram) -> String {
    let (min_ns, max_ns) = (hist.min_ns().unwrap_or(0), hist.max_ns().unwrap_or(0));
    let stdev_ns = hist.stdev_ns().unwrap_or(0.0);
    let unit = LatencyUnit::of(min_ns, max_ns, Some(stdev_ns));
    let length_ns = unit.length_ns();
    let short = |value_ns: u64| shorten(value_ns / length_ns, 6, false, Unit::None);
    format!(
        "    {name} ({}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        unit.name(),
        short(min_ns),
        short(max_ns),
        hist.mean_ns().unwrap_or(0.0) / length_ns as f64,
        stdev_ns / length_ns as f64,
    )
}

/// Writes the percentiles of a distribution, as many per line as 80 columns hold.
pub(super) fn percentile_rows(name: &str, hist: &Histogram, percentiles: &[f64]) -> String {
    let values = hist.fio_percentiles(percentiles);
    let (min_ns, max_ns) = (values.iter().min().copied(), values.iter().max().copied());
    let (Some(min_ns), Some(max_ns)) = (min_ns, max_ns) else { return String::new() };
    let unit = LatencyUnit::of(min_ns, max_ns, None);
    let length_ns = unit.length_ns();
    let n_decimals = n_decimals(percentiles);
    let value_width = (max_ns / length_ns).max(1).ilog10() as usize + 1;
    let value_width = value_width.max(5);
    let label_width = n_decimals + 3;
    let n_per_line = (73 / (n_decimals + 10 + value_width)).max(1);
    let mut text = format!("    {name} percentiles ({}):\n", unit.name());
    for (line, percentiles) in percentiles.chunks(n_per_line).enumerate() {
        text.push_str("     |");
        for (idx, percentile) in percentiles.iter().enumerate() {
            let place = line * n_per_line + idx;
            let value = values[place].div_ceil(length_ns);
            let end = if place + 1 == values.len() { "" } else { "," };
            let label = format!("{percentile:label_width$.n_decimals$}th");
            let _ = write!(text, " {label}=[{value:value_width$}]{end}");
        }
        text.push('\n');
    }
    text
}

/// Returns the fewest decimals that show each percentile as it was given, at most 6.
fn n_decimals(percentiles: &[f64]) -> usize {
    let needed = |percentile: &f64| {
        let text = format!("{percentile:.6}");
        let decimals = text.split_once('.').map_or("", |(_, decimals)| decimals);
        decimals.trim_end_matches('0').len()
    };
    percentiles.iter().map(needed).max().unwrap_or(0)
}
