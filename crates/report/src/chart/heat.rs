//! Latency over time as a heat map: how many operations, when, how slow.

use record::{Interval, LatencyCounts};

use super::over_time::{Source, Waited};
use crate::axis;
use crate::spec::{Cells, ChartSpec, Thinned};
use crate::table::{Cell, Table};
use crate::thin::{Point, Seconds, start_s};
use crate::words::sentence_case;
use units::format_latency_ns;

/// Most columns: each is some pixels wide.
const COLUMNS_MAX: usize = 180;

/// Most rows; beyond, neighbouring bins become one.
const ROWS_MAX: usize = 40;

/// Draws the heat map; none where the intervals hold no counts.
pub(crate) fn chart(source: &Source<'_>) -> Option<ChartSpec> {
    let seconds = Seconds::of(source.record, COLUMNS_MAX);
    let (first, last) = bins(&seconds)?;
    let per_row = (last + 1 - first).div_ceil(ROWS_MAX);
    let n_rows = (last + 1 - first).div_ceil(per_row);
    let mut values = Vec::new();
    let mut x = Vec::new();
    for point in &seconds.points {
        if point.is_after_gap
            && let Some(end) = x.last().copied()
        {
            // What lies between two steps is an empty column of its own.
            let start = start_s(seconds.intervals[point.of.start]);
            if start > end {
                x.push(start);
                values.push(vec![0; n_rows]);
            }
        } else if x.is_empty() {
            x.push(start_s(seconds.intervals[point.of.start]));
        }
        values.push(column(&seconds, point, first, per_row, n_rows));
        x.push(point.at_s);
    }
    let low = |row: usize| LatencyCounts::bounds_ns(first + row * per_row).0.max(1) as f64;
    let y: Vec<f64> = (0..=n_rows).map(low).collect();
    let mut chart = base(source, &seconds, &y);
    chart.table = table(&seconds, &y, &values);
    let cell = |row: usize| values.iter().map(move |column| column[row]);
    let some = |count: u64| (count > 0).then_some(count as f64);
    let rows = (0..n_rows).map(|row| cell(row).map(some).collect()).collect();
    chart.cells = Some(Cells {
        title: "operations".to_owned(),
        x,
        y,
        values: rows,
        texts: Vec::new(),
        is_log: true,
    });
    Some(chart)
}

fn each_count(interval: &Interval) -> impl Iterator<Item = (usize, u64)> + '_ {
    interval.dirs.iter().flat_map(|(_, dir)| dir.waited_counts().iter())
}

/// Returns the lowest and the highest bin that is not empty.
fn bins(seconds: &Seconds<'_>) -> Option<(usize, usize)> {
    let used = || {
        let all = seconds.intervals.iter().flat_map(|it| each_count(it));
        all.filter(|(_, count)| *count > 0).map(|(bin, _)| bin)
    };
    Some((used().min()?, used().max()?))
}

fn column(
    seconds: &Seconds<'_>,
    point: &Point,
    first: usize,
    per_row: usize,
    n_rows: usize,
) -> Vec<u64> {
    let mut counts = vec![0_u64; n_rows];
    for (bin, count) in seconds.of_point(point).iter().flat_map(|it| each_count(it)) {
        if let Some(row) = bin.checked_sub(first).and_then(|at| counts.get_mut(at / per_row)) {
            *row = row.saturating_add(count);
        }
    }
    counts
}

fn base(source: &Source<'_>, seconds: &Seconds<'_>, y: &[f64]) -> ChartSpec {
    let (n_samples, n_points) = (seconds.intervals.len(), seconds.points.len());
    let mut notes = vec!["Darker is more, by the logarithm; every operation is in a cell.".into()];
    if seconds.is_thinned() {
        notes.push(format!("{n_samples} seconds in {n_points} columns, added up."));
    }
    let kind = Waited::of(seconds);
    notes.extend(kind.note(source.steps).map(str::to_owned));
    ChartSpec {
        id: format!("{}-heat", source.id),
        title: sentence_case(&format!("{} heat map", kind.word())),
        about: format!("How many operations completed with which {}, over time.", kind.word()),
        height_px: 340,
        x: axis::time(seconds.start_s(), seconds.end_s()),
        y: axis::latency(kind.word(), y.iter().copied()),
        series: Vec::new(),
        spans: Vec::new(),
        rules: Vec::new(),
        cells: None,
        notes,
        source: source.line.to_owned(),
        thinned: seconds.is_thinned().then_some(Thinned { n_samples, n_points }),
        table: Table::default(),
    }
}

/// A row per column of the picture, a column per row of it.
fn table(seconds: &Seconds<'_>, y: &[f64], values: &[Vec<u64>]) -> Table {
    let mut table = Table::new(&[("time", "end_s")]);
    for low in &y[..y.len() - 1] {
        let name = format!("n_from_{low}_ns");
        table.add_column(format!("from {}", format_latency_ns(*low as u64)), name);
    }
    let filled = values.iter().filter(|column| column.iter().any(|count| *count > 0));
    let with_io = seconds.points.iter().filter(|point| {
        seconds.of_point(point).iter().any(|it| each_count(it).any(|(_, count)| count > 0))
    });
    for (point, column) in with_io.zip(filled) {
        let mut row = vec![Cell::number(point.at_s, 1)];
        let cell = |count: &u64| if *count == 0 { Cell::Nothing } else { Cell::count(*count) };
        row.extend(column.iter().map(cell));
        table.rows.push(row);
    }
    table
}
