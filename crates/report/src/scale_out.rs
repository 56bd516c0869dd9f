//! How the steps of a suite grew with the number of hosts that drove the volume together.

use record::{Figure, ScaleOutPointRecord, ScaleOutRecord, SuiteRecord, SuiteRowRecord};
use units::plural;

use crate::axis;
use crate::spec::{Axis, ChartSpec, Colour, DashStyle, Marker, Series};
use crate::table::{Cell, Table};

/// Most steps that are drawn: each has a colour that readers tell apart.
const SERIES_MAX: usize = 6;

/// A row per step and number of hosts; none where that was not measured.
pub(crate) fn table(suite: &SuiteRecord) -> Option<Table> {
    let mut table =
        Table::new(&[("step", "step"), ("hosts", "n_hosts")]).figures(Figure::OF_RUN).and(&[
            ("speed-up", "speed_up"),
            ("host min", "host_iops_min"),
            ("host median", "host_iops_median"),
            ("host max", "host_iops_max"),
            ("first done", "first_done_ns"),
            ("last done", "last_done_ns"),
            ("bound by", "binds"),
            ("because", "why"),
        ]);
    for of_step in &suite.scale_out {
        table.rows.extend(of_step.points.iter().map(|point| row(suite, &of_step.label, point)));
    }
    (!table.rows.is_empty()).then_some(table)
}

fn row(suite: &SuiteRecord, label: &str, point: &ScaleOutPointRecord) -> Vec<Cell> {
    let of_all = suite.rows.iter().find(|row| row.label == point.row);
    let figures = of_all.map(SuiteRowRecord::medians).unwrap_or_default();
    let mut cells = vec![Cell::text(label), Cell::count(u64::from(point.n_hosts))];
    cells.extend(Cell::figures(&figures, Figure::OF_RUN));
    cells.extend([
        Cell::number(point.speed_up, 2),
        Cell::iops(point.host_iops_min),
        Cell::iops(point.host_iops_median),
        Cell::iops(point.host_iops_max),
        Cell::latency_ns(point.first_done_ns),
        Cell::latency_ns(point.last_done_ns),
        Cell::text(point.binds.word()),
        Cell::text(point.why.as_str()),
    ]);
    cells
}

/// Draws the speed-up over the hosts, a line per step, beside one that grows as the hosts do; none
/// where there is one number of hosts.
pub(crate) fn chart(suite: &SuiteRecord, id: &str, source: &str) -> Option<ChartSpec> {
    let table = table(suite)?;
    let drawn = suite.scale_out.iter().filter(|it| it.points.len() > 1);
    let drawn: Vec<&ScaleOutRecord> = drawn.take(SERIES_MAX).collect();
    let mut hosts: Vec<u32> =
        drawn.iter().flat_map(|it| &it.points).map(|point| point.n_hosts).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let fewest = f64::from(*hosts.first()?);
    let hosts: Vec<f64> = hosts.into_iter().map(f64::from).collect();
    let mut series: Vec<Series> = drawn.iter().enumerate().map(line).collect();
    series.push(Series {
        name: "as the hosts".to_owned(),
        dash: DashStyle::Dot,
        is_line: true,
        x: hosts.clone(),
        y: hosts.iter().map(|n_hosts| Some(n_hosts / fewest)).collect(),
        ..Series::default()
    });
    let n_left = suite.scale_out.len() - drawn.len();
    let left = format!("Not drawn: {}; the table has all.", plural(n_left, "step"));
    Some(ChartSpec {
        id: format!("{id}-scale-out"),
        title: "Growth with the hosts".to_owned(),
        about: "Operations per second of all hosts over those of the fewest.".to_owned(),
        height_px: 320,
        x: axis::powers("hosts", &hosts, |n_hosts| format!("{n_hosts}")),
        y: Axis { title: "speed-up".to_owned(), ..Axis::default() },
        series,
        spans: Vec::new(),
        rules: Vec::new(),
        cells: None,
        notes: (n_left > 0).then_some(left).into_iter().collect(),
        source: source.to_owned(),
        thinned: None,
        table,
    })
}

/// Draws a step.
fn line((idx, of_step): (usize, &&ScaleOutRecord)) -> Series {
    let points = || of_step.points.iter();
    Series {
        name: of_step.label.clone(),
        colour: Colour::Of(idx as u8),
        marker: Some(Marker::ALL[idx % Marker::ALL.len()]),
        is_line: true,
        x: points().map(|point| f64::from(point.n_hosts)).collect(),
        y: points().map(|point| point.speed_up.map(round3)).collect(),
        texts: points().map(|point| format!("bound by {}", point.binds.word())).collect(),
        ..Series::default()
    }
}

fn round3(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
