//! Which operations a step did, how many of each, and how long they took: of trees of files, and of
//! jobs whose mix has parts.

use hist::Histogram;
use record::{Figure, Figures, JobRecord, Latency, Record, SeriesRecord};
use units::{format_iops, format_latency_ns, format_percent};

use super::over_time::Source;
use crate::axis;
use crate::spec::{ChartSpec, Colour, Marker, Series};
use crate::table::{Cell, Table};
use crate::view::{Step, steps};

/// Operations of one kind, of a step or of a job.
struct OperationKind {
    /// The operation, behind its part's name where it has one.
    name: String,
    n_ios: u64,
    n_failed: u64,
    /// Per second, over all workers.
    rate_iops: f64,
    rate_bytes: f64,
    lat: Histogram,
}

/// A figure of a kind's latencies: its colour and its marker.
type Line = (Figure, Colour, Marker);

const LINES: [Line; 4] = [
    (Figure::Mean, Colour::Of(1), Marker::Diamond),
    (Figure::P50, Colour::Shade(0, 0), Marker::TriangleUp),
    (Figure::P99, Colour::Shade(0, 2), Marker::Circle),
    (Figure::Max, Colour::Shade(0, 3), Marker::TriangleDown),
];

/// Draws a step whose operations are of several kinds; none where its jobs do not tell them apart.
pub(crate) fn chart(source: &Source<'_>, step: &Step<'_>) -> Option<ChartSpec> {
    let kinds = kinds(step.jobs.iter().copied());
    if kinds.len() < 2 {
        return None;
    }
    let n_all: u64 = kinds.iter().map(|kind| kind.n_ios).sum();
    let series: Vec<Series> = LINES.into_iter().map(|line| points(&kinds, line)).collect();
    let values: Vec<f64> = series.iter().flat_map(|it| it.x.iter().copied()).collect();
    let label = |kind: &OperationKind| format!("{}, {}", kind.name, share(kind.n_ios, n_all));
    Some(ChartSpec {
        id: format!("{}-operations-{}", source.id, step.idx),
        title: format!("Operations: {}", step.name),
        about: format!(
            "Which operations were done, as shares of all {n_all}, and how long each kind took \
             from its choice to its end."
        ),
        height_px: 130 + 30 * kinds.len() as u32,
        x: axis::latency("latency", values.into_iter()),
        y: axis::categories("", kinds.iter().map(label).collect()),
        series,
        spans: Vec::new(),
        rules: Vec::new(),
        cells: None,
        notes: notes(&kinds),
        source: source.line.to_owned(),
        thinned: None,
        table: table(&kinds, n_all),
    })
}

/// Lists the operations job by job; none where no step has several jobs that tell them apart.
pub(crate) fn by_job(record: &Record) -> Option<(String, Table)> {
    let mut all = Table::new(&[("step", "step"), ("job", "job")]);
    let mut is_needed = false;
    for step in steps(record) {
        let jobs: Vec<_> = step.jobs.iter().filter(|job| !job.series.is_empty()).collect();
        is_needed |= jobs.len() > 1;
        for job in jobs {
            let kinds = kinds(std::iter::once(*job));
            let rows = table(&kinds, kinds.iter().map(|kind| kind.n_ios).sum());
            if all.rows.is_empty() {
                all.columns.extend(rows.columns);
            }
            for row in rows.rows {
                let of = [step.name.as_str(), job.name.as_str()].map(Cell::text);
                all.rows.push(of.into_iter().chain(row).collect());
            }
        }
    }
    (is_needed && !all.rows.is_empty()).then(|| ("Operations by job".to_owned(), all))
}

/// Adds up the operations of jobs by part and kind, the most frequent first.
fn kinds<'a>(jobs: impl Iterator<Item = &'a JobRecord>) -> Vec<OperationKind> {
    let mut kinds: Vec<OperationKind> = Vec::new();
    for job in jobs {
        // As the rates of directions count, where there are any.
        let of_dirs = job.dirs.iter().map(|(_, dir)| dir.runtime_ns).max().unwrap_or(0);
        let of_worker = job.runtime_ns / u64::from(job.n_workers.max(1));
        let window_s = if of_dirs > 0 { of_dirs } else { of_worker } as f64 / 1e9;
        let per_s = |count: u64| if window_s > 0.0 { count as f64 / window_s } else { 0.0 };
        for series in job.series.iter().filter(|it| it.n_ios > 0 || it.n_failed > 0) {
            let name = name(series);
            let at = kinds.iter().position(|kind| kind.name == name).unwrap_or_else(|| {
                kinds.push(OperationKind {
                    name,
                    n_ios: 0,
                    n_failed: 0,
                    rate_iops: 0.0,
                    rate_bytes: 0.0,
                    lat: Histogram::new(),
                });
                kinds.len() - 1
            });
            let kind = &mut kinds[at];
            kind.n_ios += series.n_ios;
            kind.n_failed += series.n_failed;
            kind.rate_iops += per_s(series.n_ios);
            kind.rate_bytes += per_s(series.io_bytes);
            kind.lat.merge(&series.lat);
        }
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.n_ios));
    kinds
}

fn name(series: &SeriesRecord) -> String {
    match series.part.as_str() {
        "" => series.op.clone(),
        part => format!("{part}: {}", series.op),
    }
}

fn points(kinds: &[OperationKind], (figure, colour, marker): Line) -> Series {
    let name = figure.head();
    let of = |lat| Figures::of(&Latency::Measured(lat)).ns(figure);
    let known: Vec<(usize, &OperationKind, u64)> = kinds
        .iter()
        .enumerate()
        .filter_map(|(row, kind)| Some((row, kind, of(&kind.lat)?)))
        .collect();
    let text = |(_, kind, ns): &(usize, &OperationKind, u64)| {
        let rate = format_iops(kind.rate_iops);
        format!("{}: {} {name}, {rate} per second", kind.name, format_latency_ns(*ns))
    };
    Series {
        name: name.to_owned(),
        colour,
        marker: Some(marker),
        x: known.iter().map(|(_, _, ns)| *ns as f64).collect(),
        y: known.iter().map(|(row, _, _)| Some(*row as f64)).collect(),
        texts: known.iter().map(text).collect(),
        ..Series::default()
    }
}

fn notes(kinds: &[OperationKind]) -> Vec<String> {
    let leads = |kind: &OperationKind| matches!(kind.name.as_str(), "open" | "close" | "create");
    let mut notes = Vec::new();
    if kinds.iter().any(leads) && !kinds.iter().all(leads) {
        notes.push(
            "What leads to an operation or ends it, such as the opening and closing of its file, \
             stands here with its own latency, and does not count for the rate of the step."
                .to_owned(),
        );
    }
    let n_failed: u64 = kinds.iter().map(|kind| kind.n_failed).sum();
    if n_failed > 0 {
        notes.push(format!("{n_failed} operations failed and are not in the latencies."));
    }
    notes
}

fn table(kinds: &[OperationKind], n_all: u64) -> Table {
    // Operations are not all I/O: their rate has a head of its own.
    let (_, rest) = Figure::OF_POINT.split_at(1);
    let mut table = Table::new(&[
        ("operation", "op"),
        ("number", "n_ios"),
        ("failed", "n_failed"),
        ("share", "share"),
        ("per second", "iops"),
    ])
    .figures(rest);
    for kind in kinds {
        let part = kind.n_ios as f64 / n_all.max(1) as f64;
        let moved = (kind.rate_bytes > 0.0).then_some(kind.rate_bytes);
        let mut cells = vec![
            Cell::text(kind.name.as_str()),
            Cell::count(kind.n_ios),
            Cell::count(kind.n_failed),
            Cell::Number(part, share(kind.n_ios, n_all)),
            Cell::iops(kind.rate_iops),
        ];
        let figures = Figures::of(&Latency::Measured(&kind.lat)).with(Figure::BytesPerS, moved);
        cells.extend(Cell::figures(&figures, rest));
        table.rows.push(cells);
    }
    table
}

fn share(n_ios: u64, n_all: u64) -> String {
    format_percent(n_ios as f64 / n_all.max(1) as f64)
}
