//! What a suite of a benchmark came to, row by row.

use analysis::assess::RowsWorth;
use record::{Figure, IntervalRecord, NeedVerdict, SuiteRecord, SuiteRowRecord};
use units::plural;

use crate::axis;
use crate::spec::{Axis, ChartSpec, Colour, Marker, Scale, Series};
use crate::table::{Cell, Table};
use crate::words::sentence_case;

/// Returns how the suite was run.
pub(crate) fn lead(suite: &SuiteRecord) -> String {
    let title = suite.title.trim_end_matches('.');
    let stop = if title.ends_with('?') { "" } else { "." };
    let mut parts = vec![format!("Suite {}: {title}{stop}", suite.name)];
    if let Some(verdict) = RowsWorth::of(suite).verdict(suite.indicative) {
        parts.push(format!("Verdict: {verdict}."));
    }
    let sentences = suite.run_words();
    parts.extend(sentences.iter().map(|sentence| format!("{}.", sentence_case(sentence))));
    parts.join(" ")
}

/// Returns the interval of a row's rate.
fn interval(row: &SuiteRowRecord) -> Option<IntervalRecord> {
    row.figures.get(Figure::Iops)?.interval
}

/// A row per measurement, with its verdict.
pub(crate) fn table(suite: &SuiteRecord) -> Table {
    let has_ends = suite.rows.iter().any(|row| interval(row).is_some());
    let ends = if has_ends { &[("from", "iops_low"), ("to", "iops_high")][..] } else { &[] };
    // The ends of the first one stand behind it.
    let (first, rest) = Figure::OF_ROW.split_at(1);
    let mut table = Table::new(&[("measurement", "label")])
        .figures(first)
        .and(ends)
        .figures(rest)
        .and(&[("verdict", "verdict"), ("because", "reason")]);
    for row in suite.rows.iter().filter(|row| !row.preparation) {
        let figures = row.medians();
        let mut cells = vec![Cell::text(row.label.as_str())];
        cells.extend(Cell::figures(&figures, first));
        if has_ends {
            let interval = interval(row);
            cells.push(Cell::iops(interval.map(|it| it.low)));
            cells.push(Cell::iops(interval.map(|it| it.high)));
        }
        cells.extend(Cell::figures(&figures, rest));
        cells.extend([Cell::text(suite.verdict_of(row)), Cell::text(row.reason.as_str())]);
        table.rows.push(cells);
        if let Some(figures) = row.sync_figures() {
            let mut cells = vec![Cell::text(format!("{}, made durable in", row.label))];
            cells.extend(Cell::figures(&figures, first));
            cells.resize(cells.len() + ends.len(), Cell::Nothing);
            cells.extend(Cell::figures(&figures, rest));
            cells.extend([Cell::text(""), Cell::text("")]);
            table.rows.push(cells);
        }
    }
    table
}

/// A row per thing that was asked of the disk; none where nothing was.
pub(crate) fn needs(suite: &SuiteRecord) -> Option<Table> {
    // A need of the user's own is what its measurement is called, too.
    let has_labels = suite.needs.iter().any(|need| need.label != need.need);
    let label = if has_labels { &[("of", "label")][..] } else { &[] };
    let columns = [
        ("answer", "verdict"),
        ("must hold", "condition"),
        ("measured", "value"),
        ("holds", "is_kept"),
        ("because", "reason"),
        ("rests on", "measurements"),
    ];
    let mut table = Table::new(&[("need", "need")]).and(label).and(&columns);
    for need in &suite.needs {
        for condition in &need.conditions {
            let mut cells = vec![Cell::text(need.need.as_str())];
            cells.extend(has_labels.then(|| Cell::text(need.label.as_str())));
            cells.extend([
                Cell::text(need.verdict.words()),
                Cell::text(condition.condition.as_str()),
                condition.shown().map_or(Cell::Nothing, Cell::text),
                Cell::text(condition.kept_words()),
                Cell::text(need.reason.as_str()),
                Cell::text(need.measured_words()),
            ]);
            table.rows.push(cells);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Says in one sentence which needs are met; none where nothing was asked.
pub(crate) fn answer(suite: &SuiteRecord) -> Option<String> {
    let n = |verdict: NeedVerdict| suite.needs.iter().filter(|it| it.verdict == verdict).count();
    let all = suite.needs.len();
    let what = if suite.needs.iter().all(|it| it.source.is_empty()) { "need" } else { "target" };
    match suite.needs.as_slice() {
        [] => None,
        [only] => Some(format!("{}: {}.", only.need, only.verdict.words())),
        _ => {
            let (met, missed) = (n(NeedVerdict::Met), n(NeedVerdict::NotMet));
            let unknown = n(NeedVerdict::CannotTell);
            let all = plural(all, what);
            Some(format!("Of {all}: {met} met, {missed} not met, {unknown} without an answer."))
        }
    }
}

/// Draws the rows by their rate and by their latency; those that are not valid are hollow.
pub(crate) fn charts(suite: &SuiteRecord, id: &str, source: &str) -> Vec<ChartSpec> {
    let rows: Vec<_> = suite.rows.iter().filter(|row| !row.preparation).collect();
    if rows.len() < 2 {
        return Vec::new();
    }
    let mut charts = vec![rates(suite, &rows, id)];
    charts.extend(latencies(suite, &rows, id));
    for chart in &mut charts {
        source.clone_into(&mut chart.source);
    }
    charts
}

/// Positions of the rows that are not valid.
fn hollow(rows: &[&SuiteRowRecord]) -> Vec<usize> {
    let found = rows.iter().enumerate().filter(|(_, row)| !row.is_fine());
    found.map(|(idx, _)| idx).collect()
}

/// Draws the p50 and p99 of each row, in the order of the rates.
fn latencies(suite: &SuiteRecord, rows: &[&SuiteRowRecord], id: &str) -> Option<ChartSpec> {
    let lines = [(Figure::P50, 0, Marker::TriangleUp), (Figure::P99, 2, Marker::Circle)];
    let series = lines.map(|(figure, shade, marker)| {
        let of = |row: &&SuiteRowRecord| row.medians().get(figure);
        let with = || rows.iter().enumerate().filter_map(|(idx, row)| Some((idx, of(row)?)));
        let bad = hollow(rows);
        let is_bad = |(at, (idx, _)): (usize, (usize, f64))| bad.contains(&idx).then_some(at);
        Series {
            name: figure.head().to_owned(),
            colour: Colour::Shade(0, shade),
            marker: Some(marker),
            x: with().map(|(_, ns)| ns).collect(),
            y: with().map(|(idx, _)| Some(idx as f64)).collect(),
            hollow: with().enumerate().filter_map(is_bad).collect(),
            ..Series::default()
        }
    });
    if series.iter().all(|it| it.x.is_empty()) {
        return None;
    }
    let values: Vec<f64> = series.iter().flat_map(|it| &it.x).copied().collect();
    Some(ChartSpec {
        title: "Latency of the measurements".to_owned(),
        about: "Latency that half of the I/Os keep (p50), and 99 of 100 (p99), of each \
                measurement."
            .to_owned(),
        x: axis::latency("latency", values.into_iter()),
        series: series.into(),
        ..frame(suite, rows, format!("{id}-suite-latency"))
    })
}

/// A row for each measurement, without anything in it.
fn frame(suite: &SuiteRecord, rows: &[&SuiteRowRecord], id: String) -> ChartSpec {
    let mut notes = Vec::new();
    if !hollow(rows).is_empty() {
        notes.push("Hollow: a check failed; the table says which.".to_owned());
    }
    ChartSpec {
        id,
        title: String::new(),
        about: String::new(),
        height_px: 110 + 26 * rows.len() as u32,
        x: axis::iops(),
        y: Axis {
            scale: Scale::Categories,
            categories: rows.iter().map(|row| row.label.clone()).collect(),
            ..Axis::default()
        },
        series: Vec::new(),
        spans: Vec::new(),
        rules: Vec::new(),
        cells: None,
        notes,
        source: String::new(),
        thinned: None,
        table: table(suite),
    }
}

fn rates(suite: &SuiteRecord, rows: &[&SuiteRowRecord], id: &str) -> ChartSpec {
    let text = |row: &&SuiteRowRecord| format!("{}, {}", row.medians().rates_shown(), row.verdict);
    let round = |value: f64| (value * 1000.0).round() / 1000.0;
    let has_ends = rows.iter().any(|row| interval(row).is_some());
    let ends = rows.iter().map(|row| interval(row).map(|it| (round(it.low), round(it.high))));
    let series = Series {
        name: Figure::Iops.head().to_owned(),
        colour: Colour::Of(0),
        marker: Some(Marker::Circle),
        x: rows.iter().map(|row| round(row.medians().iops())).collect(),
        y: (0..rows.len()).map(|row| Some(row as f64)).collect(),
        ends: if has_ends { ends.collect() } else { Vec::new() },
        hollow: hollow(rows),
        texts: rows.iter().map(text).collect(),
        ..Series::default()
    };
    ChartSpec {
        title: "Measurements of the suite".to_owned(),
        about: "I/Os per second of each measurement.".to_owned(),
        series: vec![series],
        ..frame(suite, rows, format!("{id}-suite"))
    }
}
