//! How a suite grew with the number of hosts, as a table per step.

use std::fmt::Write as _;

use record::{Figure, ScaleOutPointRecord, SuiteRecord, SuiteRowRecord};
use units::{format_iops, format_latency_ns};

use super::COLUMNS;
use super::table::Columns;
use super::words::wrap;

/// Columns of the figures of a number of hosts.
const OF_POINT: Columns = Columns { figures: Figure::OF_RUN, iops: 8, mib_s: 7, latency: 9 };

/// Puts a table per step, and below it what bound the hosts last.
pub(super) fn put_scale_out(text: &mut String, suite: &SuiteRecord) {
    for of_step in &suite.scale_out {
        let heads = OF_POINT.heads();
        let _ = writeln!(
            text,
            "\n{}\n{:>5}{heads}{:>9}{:>10}{:>9}{:>9}  bound by",
            of_step.label, "hosts", "speed-up", "host min", "median", "max"
        );
        for point in &of_step.points {
            put_point(text, point, suite.rows.iter().find(|row| row.label == point.row));
        }
        if let Some(last) = of_step.points.last() {
            let words = format!("bound by {}: {}", last.binds.word(), last.why);
            text.push_str(&wrap(&words, 2, COLUMNS));
        }
        for point in of_step.points.iter().filter(|it| gap(it) >= GAP_SHARE_MIN) {
            let [first, last] = [point.first_done_ns, point.last_done_ns].map(format_latency_ns);
            let n_hosts = point.n_hosts;
            let words =
                format!("{n_hosts} hosts: the first was done after {first}, the last after {last}");
            text.push_str(&wrap(&words, 2, COLUMNS));
        }
    }
}

/// Share of the time by which the last host was done later than the first, from which on it is
/// shown: what clocks and starts differ by is less.
const GAP_SHARE_MIN: f64 = 0.02;

fn gap(point: &ScaleOutPointRecord) -> f64 {
    let gap_ns = point.last_done_ns.saturating_sub(point.first_done_ns);
    gap_ns as f64 / point.last_done_ns.max(1) as f64
}

fn put_point(text: &mut String, point: &ScaleOutPointRecord, row: Option<&SuiteRowRecord>) {
    let figures = row.map(SuiteRowRecord::medians).unwrap_or_default();
    let done = OF_POINT.row(&figures, "-");
    let speed_up = point.speed_up.map_or_else(|| "-".to_owned(), |it| format!("{it:.2}"));
    let [min, median, max] =
        [point.host_iops_min, point.host_iops_median, point.host_iops_max].map(format_iops);
    let _ = writeln!(
        text,
        "{:>5}{done}{speed_up:>9}{min:>10}{median:>9}{max:>9}  {}",
        point.n_hosts,
        point.binds.word()
    );
}
