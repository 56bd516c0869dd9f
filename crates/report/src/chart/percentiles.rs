//! Percentile plots: how slow the slowest share of the operations is, and the largest latency
//! always.

use hist::Histogram;
use record::{DIRECTIONS, DirRecord};

use super::over_time::Source;
use crate::axis;
use crate::spec::{ChartSpec, Colour, DashStyle, Marker, Series};
use crate::table::{Cell, Table};
use crate::view::Step;

/// Points of a line for each further nine.
const POINTS_PER_NINE: u32 = 24;

/// A distribution with its name and how it is drawn.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) latencies: Histogram,
    pub(crate) colour: Colour,
    pub(crate) dash: DashStyle,
}

/// Percentiles that the table lists.
const LISTED: [f64; 9] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 0.99999];

/// What is drawn of a direction: its name, where it is, and its stroke.
type LatencyKind = (&'static str, fn(&DirRecord) -> Option<&Histogram>, DashStyle);

const KINDS: [LatencyKind; 2] = [
    ("service time", |dir| Some(&dir.clat), DashStyle::Solid),
    ("response time", |dir| dir.response.as_ref(), DashStyle::Dash),
];

/// Draws one step: service and response time of each direction.
pub(crate) fn of_step(source: &Source<'_>, step: &Step<'_>) -> Option<ChartSpec> {
    let mut lines = Vec::new();
    for (idx, dir) in DIRECTIONS.into_iter().enumerate() {
        let own: Vec<_> = step.dirs().filter(|(name, _)| *name == dir).collect();
        for (kind, of, dash) in KINDS {
            let mut latencies = Histogram::new();
            own.iter().filter_map(|(_, dir)| of(dir)).for_each(|hist| latencies.merge(hist));
            if !latencies.is_empty() {
                let name = format!("{dir} {kind}");
                lines.push(Line { name, latencies, colour: Colour::Of(idx as u8), dash });
            }
        }
    }
    let mut latencies = Histogram::new();
    step.jobs.iter().for_each(|job| latencies.merge(&job.sync));
    let has_syncs = !latencies.is_empty();
    if has_syncs {
        let (name, colour, dash) = ("sync".to_owned(), Colour::Of(3), DashStyle::DashDot);
        lines.push(Line { name, latencies, colour, dash });
    }
    let mut chart = chart(&lines)?;
    if has_syncs {
        chart.notes.push("Sync: what makes writes durable, fsync and its like.".to_owned());
    }
    chart.id = format!("{}-percentiles-{}", source.id, step.idx);
    source.line.clone_into(&mut chart.source);
    if source.steps.len() > 1 {
        chart.title = format!("Percentiles of {}{}", step.name, which(source, step));
    }
    Some(chart)
}

/// Returns which of the measurements of one name a step is; nothing where it is the only one.
fn which(source: &Source<'_>, step: &Step<'_>) -> String {
    let mut same = source.steps.iter().filter(|other| other.name == step.name);
    let n = same.clone().count();
    match same.position(|other| other.idx == step.idx) {
        Some(at) if n > 1 => format!(", measurement {} of {n}", at + 1),
        _ => String::new(),
    }
}

/// Draws distributions; none where there is none.
pub(crate) fn chart(lines: &[Line]) -> Option<ChartSpec> {
    let n_max = lines.iter().map(|line| line.latencies.count()).max()?;
    let series: Vec<Series> = lines.iter().map(series).collect();
    let values: Vec<f64> = series.iter().flat_map(|it| it.y.iter().flatten().copied()).collect();
    Some(ChartSpec {
        id: "percentiles".to_owned(),
        title: "Percentiles of latency".to_owned(),
        about: "Which share of the operations was at least as fast; the last point of each line \
                is the slowest operation."
            .to_owned(),
        height_px: 360,
        x: axis::percentile(n_max as f64),
        y: axis::latency("latency", values.into_iter()),
        series,
        spans: Vec::new(),
        rules: Vec::new(),
        cells: None,
        notes: vec![
            "Each further nine takes as much room. Service time counts from submission, response \
             time from when an operation was due."
                .to_owned(),
        ],
        source: String::new(),
        thinned: None,
        table: table(lines),
    })
}

fn series(line: &Line) -> Series {
    let n = line.latencies.count() as f64;
    let mut series = Series {
        name: line.name.clone(),
        colour: line.colour,
        dash: line.dash,
        is_line: true,
        ..Series::default()
    };
    let mut put = |x: f64, ns: Option<u64>| {
        series.x.push((x * 1e4).round() / 1e4);
        series.y.push(ns.map(|ns| ns as f64));
    };
    let n_points = (n.log10() * f64::from(POINTS_PER_NINE)).floor() as u32;
    for idx in 0..=n_points {
        let x = 10_f64.powf(f64::from(idx) / f64::from(POINTS_PER_NINE));
        put(x, line.latencies.quantile(1.0 - 1.0 / x));
    }
    // One operation of n is slower than all others: its place is 1 - 1/n, drawn at the edge.
    put(n * 1.2, line.latencies.max_ns());
    series.texts = vec![String::new(); series.x.len() - 1];
    series.texts.push("max".to_owned());
    series
}

fn table(lines: &[Line]) -> Table {
    let mut table = Table::new(&[("percentile", "percentile")]);
    for line in lines {
        table.add_column(&line.name, format!("{}_ns", line.name.replace(' ', "_")));
    }
    for share in LISTED {
        // Ten operations must lie beyond it, or it is an accident.
        let cell = |line: &Line| {
            let n_beyond = line.latencies.count() as f64 * (1.0 - share);
            Cell::latency_ns(line.latencies.quantile(share).filter(|_| n_beyond >= 10.0))
        };
        let percentile = share * 100.0;
        let mut row = vec![Cell::text(format!("p{}", (percentile * 1e6).round() / 1e6))];
        row.extend(lines.iter().map(cell));
        table.rows.push(row);
    }
    let mut max = vec![Cell::text("max")];
    max.extend(lines.iter().map(|line| Cell::latency_ns(line.latencies.max_ns())));
    table.rows.push(max);
    table
}

/// Draws several runs over each other, in the colours of the page.
pub(crate) fn overlay(named: &[(String, Histogram)]) -> Option<ChartSpec> {
    let dashes = [
        DashStyle::Solid,
        DashStyle::Dash,
        DashStyle::Dot,
        DashStyle::DashDot,
        DashStyle::Dash,
        DashStyle::Dot,
    ];
    let line = |(idx, (name, latencies)): (usize, &(String, Histogram))| Line {
        name: name.clone(),
        latencies: latencies.clone(),
        colour: Colour::Of(idx as u8),
        dash: dashes[idx % dashes.len()],
    };
    let lines: Vec<Line> = named.iter().take(Marker::ALL.len()).enumerate().map(line).collect();
    chart(&lines)
}
