//! Rates and latencies over time, with ramps, warm-up and the steady window.

use record::{DIRECTIONS, Figure, Interval, IntervalDir, Record, Verdict};

use units::plural;

use crate::axis;
use crate::spec::{Axis, ChartSpec, Colour, DashStyle, Rule, Series, Span, SpanKind, Thinned};
use crate::table::{Cell, Table};
use crate::thin::{Level, POINTS_MAX, Seconds, end_s, start_s};
use crate::view::{Step, preparations, step_name};
use crate::words::sentence_case;

/// What the charts of a run are made from.
pub(crate) struct Source<'a> {
    pub(crate) record: &'a Record,
    pub(crate) steps: &'a [Step<'a>],
    /// Prefix of the charts' ids.
    pub(crate) id: &'a str,
    /// Where and how it was measured.
    pub(crate) line: &'a str,
}

/// Steps whose beginning is marked; more would hide what is drawn.
const MARKED_STEPS_MAX: usize = 12;

/// Returns the charts over time; none where the record has fewer than two intervals.
pub(crate) fn charts(source: &Source<'_>) -> Vec<ChartSpec> {
    let seconds = Seconds::of(source.record, POINTS_MAX);
    if seconds.intervals.len() < 2 {
        return Vec::new();
    }
    let mut charts = vec![rate(source, &seconds, &IOPS), rate(source, &seconds, &BYTES)];
    charts.extend(latency(source, &seconds));
    charts
}

/// A rate over time.
struct RateChart {
    id: &'static str,
    title: &'static str,
    figure: Figure,
    of: fn(&IntervalDir) -> u64,
    axis: fn() -> Axis,
    height_px: u32,
}

const IOPS: RateChart = RateChart {
    id: "iops",
    title: "I/O rate over time",
    figure: Figure::Iops,
    of: |dir| dir.n_ios,
    axis: axis::iops,
    height_px: 340,
};

const BYTES: RateChart = RateChart {
    id: "bytes",
    title: "Throughput over time",
    figure: Figure::BytesPerS,
    of: |dir| dir.io_bytes,
    axis: axis::mib_per_s,
    height_px: 240,
};

fn rate(source: &Source<'_>, seconds: &Seconds<'_>, kind: &RateChart) -> ChartSpec {
    let mut series = Vec::new();
    let mut table = Table::new(&[("time", "end_s"), ("seconds", "n_intervals")]);
    let mut columns = Vec::new();
    for (idx, name) in DIRECTIONS.into_iter().enumerate() {
        let of = |it: &Interval| it.dirs.iter().nth(idx).map_or(0, |(_, dir)| (kind.of)(dir));
        if seconds.intervals.iter().all(|it| of(it) == 0) {
            continue;
        }
        let mut levels = seconds.rates(of);
        for level in &mut levels {
            *level = in_unit(*level, kind.figure);
        }
        let levels: Vec<Option<Level>> = levels.into_iter().map(Some).collect();
        let stroke = [DashStyle::Solid, DashStyle::Dash, DashStyle::Dot][idx];
        let line = LineStroke { colour: Colour::Of(idx as u8), dash: stroke, has_band: true };
        series.push(joined(seconds, format!("{name}s"), &line, &levels));
        add_columns(&mut table, seconds, name, kind.figure.name());
        columns.push(levels);
    }
    fill(&mut table, seconds, &columns, |value| Cell::number(value, 1));
    let mut chart = base(source, seconds, kind.id, kind.title);
    chart.about = format!(
        "{} of each second over the {} of the run.",
        kind.figure.head(),
        crate::words::duration_ns(source.record.elapsed_ns)
    );
    chart.height_px = kind.height_px;
    chart.y = (kind.axis)();
    chart.series = series;
    chart.table = table;
    chart
}

fn in_unit(level: Level, figure: Figure) -> Level {
    let round = |value: f64| (figure.in_unit(value) * 1000.0).round() / 1000.0;
    Level { middle: round(level.middle), low: round(level.low), high: round(level.high) }
}

/// What the latencies of a run's seconds count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// From when each operation was due.
    Response,
    /// From the choice of each operation.
    Total,
    /// The first of some steps or directions, the second of others.
    Mixed,
}

impl Waited {
    pub(crate) fn of(seconds: &Seconds<'_>) -> Self {
        let all = seconds.intervals.iter().flat_map(|it| it.dirs.iter());
        let known: Vec<bool> = all
            .filter(|(_, dir)| dir.waited_ns(Figure::P99).is_some())
            .map(|(_, dir)| dir.response.is_some())
            .collect();
        match (known.contains(&true), known.contains(&false)) {
            (true, false) => Waited::Response,
            (true, true) => Waited::Mixed,
            (false, _) => Waited::Total,
        }
    }

    /// What an axis is called.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Waited::Response => "response time",
            Waited::Total | Waited::Mixed => "latency",
        }
    }

    /// Says from when on it counts, where that is not plain.
    pub(crate) fn note(self, steps: &[Step<'_>]) -> Option<&'static str> {
        match self {
            Waited::Response => Some("Response time: from when each operation was due."),
            Waited::Mixed => Some(
                "Under an open load the response time, from when each operation was due; else \
                 from its choice.",
            ),
            // Records of before hold no response times by the second.
            Waited::Total if steps.iter().any(Step::is_open) => Some(
                "Counted from the choice of each operation; the response time, from when it was \
                 due, is in the percentiles below.",
            ),
            Waited::Total => None,
        }
    }
}

fn latency(source: &Source<'_>, seconds: &Seconds<'_>) -> Option<ChartSpec> {
    let mut series = Vec::new();
    let mut table = Table::new(&[("time", "end_s"), ("seconds", "n_intervals")]);
    let mut columns = Vec::new();
    // Trims would make nine lines, more than one can tell apart.
    for (idx, name) in DIRECTIONS.into_iter().enumerate().take(2) {
        for (shade, figure) in Figure::OF_INTERVAL.iter().copied().enumerate() {
            let of =
                |it: &Interval| it.dirs.iter().nth(idx).and_then(|(_, dir)| dir.waited_ns(figure));
            let mut levels = seconds.figures(of);
            if levels.iter().all(Option::is_none) {
                continue;
            }
            // Of a largest value only the largest is one.
            if figure == Figure::Max {
                for level in levels.iter_mut().flatten() {
                    level.middle = level.high;
                }
            }
            let (colour, is_main) =
                (Colour::Shade(idx as u8, shade as u8 + 1), figure == Figure::P99);
            let dash = match (is_main, figure == Figure::Max) {
                (true, _) => DashStyle::Solid,
                (false, true) => DashStyle::Dash,
                (false, false) => DashStyle::Dot,
            };
            let line = LineStroke { colour, dash, has_band: is_main };
            let head = format!("{name} {}", figure.head());
            series.push(joined(seconds, head.clone(), &line, &levels));
            add_columns(&mut table, seconds, &head, figure.metric());
            columns.push(levels);
        }
    }
    if series.is_empty() {
        return None;
    }
    fill(&mut table, seconds, &columns, |ns| Cell::latency_ns(ns as u64));
    let kind = Waited::of(seconds);
    let title = sentence_case(&format!("{} over time", kind.word()));
    let mut chart = base(source, seconds, "latency", &title);
    chart.about = format!("Median, 99th percentile and largest {} of each second.", kind.word());
    let values = series.iter().flat_map(|it: &Series| {
        let ends = it.ends.iter().flatten().flat_map(|(low, high)| [*low, *high]);
        it.y.iter().flatten().copied().chain(ends)
    });
    chart.y = axis::latency(kind.word(), values.collect::<Vec<_>>().into_iter());
    chart.series = series;
    chart.table = table;
    if seconds.is_thinned() {
        chart.notes.push(
            "Percentiles are not averaged: a point of p50 or p99 is the median of its seconds, \
             max is their largest."
                .to_owned(),
        );
    }
    chart.notes.extend(kind.note(source.steps).map(str::to_owned));
    Some(chart)
}

/// How a line is drawn.
struct LineStroke {
    colour: Colour,
    dash: DashStyle,
    has_band: bool,
}

/// Makes a line of the points, broken at gaps.
fn joined(
    seconds: &Seconds<'_>,
    name: String,
    stroke: &LineStroke,
    levels: &[Option<Level>],
) -> Series {
    let has_band = stroke.has_band && seconds.is_thinned();
    let LineStroke { colour, dash, .. } = *stroke;
    let mut series = Series { name, colour, dash, is_line: true, ..Series::default() };
    let mut put = |x: f64, level: Option<Level>| {
        series.x.push(x);
        series.y.push(level.map(|level| level.middle));
        if has_band {
            series.ends.push(level.map(|level| (level.low, level.high)));
        }
    };
    for (point, level) in seconds.points.iter().zip(levels) {
        if point.is_after_gap {
            put(start_s(seconds.intervals[point.of.start]), None);
        }
        if let Some(from_s) = point.long_from_s {
            put(from_s, *level);
        }
        put(point.at_s, *level);
    }
    series
}

fn add_columns(table: &mut Table, seconds: &Seconds<'_>, head: &str, name: &str) {
    let dir = head.split(' ').next().unwrap_or(head);
    if seconds.is_thinned() {
        for (end, suffix) in [("lowest", "low"), ("highest", "high")] {
            table.add_column(format!("{head}, {end}"), format!("{dir}_{name}_{suffix}"));
        }
        let at = table.columns.len() - 2;
        table.add_column(head, format!("{dir}_{name}"));
        let column = table.columns.pop();
        table.columns.splice(at..at, column);
    } else {
        table.add_column(head, format!("{dir}_{name}"));
    }
}

fn fill(
    table: &mut Table,
    seconds: &Seconds<'_>,
    columns: &[Vec<Option<Level>>],
    cell: impl Fn(f64) -> Cell,
) {
    for (row, point) in seconds.points.iter().enumerate() {
        let mut cells = vec![Cell::number(point.at_s, 1), Cell::count(point.of.len() as u64)];
        for levels in columns {
            let Some(level) = levels[row] else {
                let n = if seconds.is_thinned() { 3 } else { 1 };
                cells.extend(std::iter::repeat_n(Cell::Nothing, n));
                continue;
            };
            cells.push(cell(level.middle));
            if seconds.is_thinned() {
                cells.extend([cell(level.low), cell(level.high)]);
            }
        }
        table.rows.push(cells);
    }
}

/// Makes a chart over time with everything but its lines.
fn base(source: &Source<'_>, seconds: &Seconds<'_>, id: &str, title: &str) -> ChartSpec {
    let (n_samples, n_points) = (seconds.intervals.len(), seconds.points.len());
    let mut notes = Vec::new();
    if let Some(longest_s) = seconds.longest_s() {
        notes.push(format!(
            "A flat stretch is one interval that lasted longer than the others, up to \
             {longest_s:.2} s: the host paused, or the program that samples was late."
        ));
    }
    if seconds.is_thinned() {
        notes.push(format!(
            "{n_samples} seconds drawn as {n_points} points; the band reaches from the lowest to \
             the highest second of each."
        ));
    }
    let left_out = prepared(source.record);
    if !left_out.is_empty() {
        notes.push(format!("Without what made ready: {}.", left_out.join(", ")));
    }
    let rules = marks(source, seconds);
    if !rules.is_empty() {
        let names: Vec<&str> = source.steps.iter().map(|step| step.name.as_str()).collect();
        notes.push(format!("Dotted lines are where steps begin: {}.", names.join(", ")));
    }
    if seconds.n_left_out > 0 {
        let cut_off = plural(seconds.n_left_out, "interval");
        notes.push(format!("Without {cut_off} that the end of a step cut short."));
    }
    ChartSpec {
        id: format!("{}-{id}", source.id),
        title: title.to_owned(),
        about: String::new(),
        height_px: 300,
        x: axis::time(seconds.start_s(), seconds.end_s()),
        y: axis::iops(),
        series: Vec::new(),
        spans: spans(source, seconds),
        rules,
        cells: None,
        notes,
        source: source.line.to_owned(),
        thinned: seconds.is_thinned().then_some(Thinned { n_samples, n_points }),
        table: Table::default(),
    }
}

/// Names the steps with intervals that are no results, each once.
fn prepared(record: &Record) -> Vec<String> {
    let is_seen = |idx: &u32| record.intervals.iter().any(|it| it.step_idx == *idx);
    let mut names: Vec<String> = Vec::new();
    for idx in preparations(record).into_iter().filter(is_seen) {
        let name = step_name(record, idx);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Marks where steps begin.
fn marks(source: &Source<'_>, seconds: &Seconds<'_>) -> Vec<Rule> {
    if !(2..=MARKED_STEPS_MAX).contains(&source.steps.len()) {
        return Vec::new();
    }
    let mark = |step: &Step<'_>| {
        let first = seconds.intervals.iter().find(|it| it.step_idx == step.idx)?;
        let (at, text) = (start_s(first), step.name.clone());
        Some(Rule { is_across: false, at, text, colour: Colour::Plain, dash: DashStyle::Dot })
    };
    source.steps.iter().filter_map(mark).collect()
}

/// Shades ramps, warm-up and what was steady.
fn spans(source: &Source<'_>, seconds: &Seconds<'_>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for interval in seconds.intervals.iter().filter(|it| it.ramp) {
        match spans.last_mut() {
            Some(last) if (start_s(interval) - last.to).abs() < 0.5 => last.to = end_s(interval),
            _ => spans.push(Span {
                from: start_s(interval),
                to: end_s(interval),
                text: "ramp".to_owned(),
                kind: SpanKind::Left,
            }),
        }
    }
    spans.extend(settling(source, seconds));
    spans
}

/// Shades the warm-up that was found, and the stretch that was steady. Of many steps the stretches
/// are left out: they would be all that one sees.
fn settling(source: &Source<'_>, seconds: &Seconds<'_>) -> Vec<Span> {
    let [step] = source.steps else { return Vec::new() };
    let Some(found) = source.record.validity.iter().find(|it| it.step_idx == step.idx) else {
        return Vec::new();
    };
    let mut spans = Vec::new();
    let first = seconds.intervals.iter().find(|it| !it.ramp).map(|it| start_s(it));
    if let (Some(from), Some(length_ms @ 1..)) = (first, found.warm_up_ms) {
        let (to, text) = (from + length_ms as f64 / 1000.0, "warm-up".to_owned());
        spans.push(Span { from, to, text, kind: SpanKind::Left });
    }
    let is_steady = found.gate("steady").is_some_and(|gate| gate.verdict == Verdict::Passed);
    if let Some((from_ms, to_ms)) = found.window_ms.filter(|_| is_steady) {
        let (from, to) = (from_ms as f64 / 1000.0, to_ms as f64 / 1000.0);
        spans.push(Span { from, to, text: "steady".to_owned(), kind: SpanKind::Kept });
    }
    spans
}
