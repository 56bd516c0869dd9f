//! Sets of runs beside each other: ratios with their intervals, distributions, curves and rates.

use analysis::compare::{Comparison, Verdict};
use analysis::sets::{Row, SetComparison};
use hist::Histogram;
use record::{CurveRecord, Figure};

use super::percentiles;
use crate::axis;
use crate::spec::{ChartSpec, Colour, DashStyle, Marker, Quantity, Rule, Series};
use crate::subject::Set;
use crate::table::{Cell, Table};
use crate::thin::{self, POINTS_MAX, Seconds, total};
use crate::view::steps;
use crate::words::difference;

/// A candidate against the baseline.
pub(crate) struct CandidateSide<'a> {
    pub(crate) candidate: &'a Set,
    pub(crate) found: SetComparison,
}

/// Most rows that are drawn; the table has all.
const ROWS_MAX: usize = 30;

/// Most candidates that one picture tells apart.
const CANDIDATES_MAX: usize = 5;

/// Draws the ratio of each figure, as a difference in percent, with its interval.
pub(crate) fn ratios(against: &[CandidateSide<'_>]) -> Option<ChartSpec> {
    let first = against.first()?;
    let mut keys: Vec<String> =
        labelled(&first.found).into_iter().map(|(label, _)| label).collect();
    keys.truncate(ROWS_MAX);
    if keys.is_empty() {
        return None;
    }
    let several = against.len() > 1;
    let mut series = Vec::new();
    for (idx, one) in against.iter().take(CANDIDATES_MAX).enumerate() {
        if several {
            let colour = Colour::Of(idx as u8);
            let shift = (idx as f64 - (against.len() - 1) as f64 / 2.0) * 0.14;
            series.push(points(one, &keys, &one.candidate.name, colour, shift, |_| true));
            continue;
        }
        for verdict in VERDICTS {
            let own = points(one, &keys, word(verdict), colour(verdict), 0.0, |row| {
                row.comparison.verdict == verdict
            });
            series.push(own);
        }
    }
    series.retain(|it| !it.x.is_empty());
    for (idx, own) in series.iter_mut().enumerate() {
        own.marker = Some(Marker::ALL[idx % Marker::ALL.len()]);
    }
    let n_rows = keys.len();
    Some(ChartSpec {
        id: "ratios".to_owned(),
        title: "Difference of each figure".to_owned(),
        about: "The candidate against the baseline, in percent, with the interval that holds the \
                true difference."
            .to_owned(),
        height_px: 110 + 30 * n_rows as u32,
        x: crate::spec::Axis {
            title: "difference to the baseline, %".to_owned(),
            quantity: Quantity::DifferencePct,
            range: Some(range_pct(&series)),
            ..crate::spec::Axis::default()
        },
        y: axis::categories("", keys),
        series,
        spans: Vec::new(),
        rules: vec![Rule {
            is_across: false,
            at: 0.0,
            text: String::new(),
            colour: Colour::Plain,
            dash: DashStyle::Solid,
        }],
        cells: None,
        notes: vec![
            "More is better for rates, less for latencies. Without a bar there is no interval: \
             runs are too few to know how much they vary."
                .to_owned(),
        ],
        source: String::new(),
        thinned: None,
        table: table(against),
    })
}

/// Least difference to either side that is in the picture, percent: a dot at none has room.
const ROOM_PCT: f64 = 1.0;

/// Returns the ends of the axis: all differences with their intervals, and no difference.
fn range_pct(series: &[Series]) -> (f64, f64) {
    let ends = series.iter().flat_map(|it| it.ends.iter().flatten().flat_map(|it| [it.0, it.1]));
    let values = series.iter().flat_map(|it| it.x.iter().copied()).chain(ends);
    let (low, high) =
        values.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let room = ROOM_PCT.max(0.05 * (high - low));
    (low - room, high + room)
}

const VERDICTS: [Verdict; 4] =
    units::all_of!(Verdict: Better, Worse, NoDifferenceShown, CannotTell);

fn colour(verdict: Verdict) -> Colour {
    match verdict {
        Verdict::Better => Colour::Good,
        Verdict::Worse => Colour::Bad,
        Verdict::NoDifferenceShown => Colour::Of(0),
        Verdict::CannotTell => Colour::Plain,
    }
}

/// The verdict in words.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::NoDifferenceShown => "no difference shown",
        Verdict::CannotTell => "cannot tell",
    }
}

/// Returns the rows with what they are about, such as `read p99`; with step and job where there are
/// several.
pub(crate) fn labelled(found: &SetComparison) -> Vec<(String, &Row)> {
    let place = |row: &Row| (row.step.clone(), row.job.clone());
    let first = found.rows.first().map(place);
    let has_places = found.rows.iter().any(|row| Some(place(row)) != first);
    found.rows.iter().map(|row| (label(row, has_places), row)).collect()
}

fn label(row: &Row, has_place: bool) -> String {
    let figure = row.figure.title();
    let place = [row.step.as_str(), row.job.as_str()];
    let mut place: Vec<&str> = place.into_iter().filter(|it| !it.is_empty()).collect();
    place.dedup();
    let what = format!("{} {figure}", row.dir).trim().to_owned();
    if place.is_empty() || !has_place { what } else { format!("{}: {what}", place.join(", ")) }
}

fn points(
    one: &CandidateSide<'_>,
    keys: &[String],
    name: &str,
    colour: Colour,
    shift: f64,
    is_wanted: impl Fn(&Row) -> bool,
) -> Series {
    let mut series = Series { name: name.to_owned(), colour, ..Series::default() };
    let pct = |ratio: f64| ((ratio - 1.0) * 1e5).round() / 1e3;
    for (label, row) in labelled(&one.found).into_iter().filter(|(_, row)| is_wanted(row)) {
        let at = keys.iter().position(|key| *key == label);
        let (Some(at), Some(ratio)) = (at, row.comparison.ratio) else { continue };
        series.x.push(pct(ratio));
        series.y.push(Some(at as f64 + shift));
        let interval = row.comparison.interval;
        series.ends.push(interval.map(|it| (pct(it.low), pct(it.high))));
        series.texts.push(row.comparison.reason.clone());
    }
    series
}

fn table(against: &[CandidateSide<'_>]) -> Table {
    let mut table = Table::new(&[
        ("figure", "figure"),
        ("candidate", "candidate"),
        ("baseline", "baseline_median"),
        ("now", "candidate_median"),
        ("difference", "ratio"),
        ("from", "ratio_low"),
        ("to", "ratio_high"),
        ("verdict", "verdict"),
        ("why", "reason"),
    ]);
    for one in against {
        for (label, row) in labelled(&one.found) {
            let Comparison { baseline_median, candidate_median, ratio, interval, .. } =
                &row.comparison;
            let end = |of: fn(&analysis::stats::Interval) -> f64| {
                interval.as_ref().map_or(Cell::Nothing, |it| ratio_cell(of(it)))
            };
            table.rows.push(vec![
                Cell::text(label),
                Cell::text(one.candidate.name.as_str()),
                value_cell(row, *baseline_median),
                value_cell(row, *candidate_median),
                ratio.map_or(Cell::Nothing, ratio_cell),
                end(|it| it.low),
                end(|it| it.high),
                Cell::text(word(row.comparison.verdict)),
                Cell::text(row.comparison.reason.as_str()),
            ]);
        }
    }
    table
}

fn ratio_cell(ratio: f64) -> Cell {
    Cell::Number(ratio, difference(ratio))
}

fn value_cell(row: &Row, value: Option<f64>) -> Cell {
    Cell::figure(row.figure.figure(), value)
}

/// Draws the distributions of all sets over each other, each of all its runs together.
pub(crate) fn distributions(sets: &[Set]) -> Option<ChartSpec> {
    let merged = |set: &Set| {
        let mut all = Histogram::new();
        for run in &set.runs {
            for step in steps(&run.record) {
                let latencies = step.latencies();
                if latencies.measured.is_empty() {
                    return None;
                }
                all.merge(&latencies.measured);
            }
        }
        (!all.is_empty()).then(|| (set.name.clone(), all))
    };
    let named: Vec<(String, Histogram)> = sets.iter().filter_map(merged).collect();
    let mut chart = percentiles::overlay(&named)?;
    chart.id = "compared-percentiles".into();
    chart.about = "All operations of each set; the last point is the slowest.".into();
    chart.notes = vec![
        "Response time under an open load, else latency from the choice of the operation; all \
         jobs and directions together."
            .to_owned(),
    ];
    Some(chart)
}

/// Draws the rate of the first run of each set over its own time.
pub(crate) fn rates(sets: &[Set]) -> Option<ChartSpec> {
    let dashes = [
        DashStyle::Solid,
        DashStyle::Dash,
        DashStyle::Dot,
        DashStyle::DashDot,
        DashStyle::Dash,
        DashStyle::Dot,
    ];
    let mut series = Vec::new();
    let mut table = Table::new(&[("run", "run"), ("time", "end_s")]).figures(&[Figure::Iops]);
    let (mut start_s, mut end_s) = (f64::INFINITY, 0.0_f64);
    let mut is_thinned = false;
    for (idx, set) in sets.iter().take(dashes.len()).enumerate() {
        let Some(run) = set.runs.first() else { continue };
        // Six lines share the screen that one has elsewhere.
        let seconds = Seconds::of(&run.record, POINTS_MAX / 2);
        if seconds.intervals.len() < 2 {
            continue;
        }
        is_thinned |= seconds.is_thinned();
        (start_s, end_s) = (start_s.min(seconds.start_s()), end_s.max(seconds.end_s()));
        let levels = seconds.rates(|it| total(it, |dir| dir.n_ios));
        let (colour, dash) = (Colour::Of(idx as u8), dashes[idx]);
        let name = set.name.clone();
        let mut line = Series { name, colour, dash, is_line: true, ..Series::default() };
        for (point, level) in seconds.points.iter().zip(levels) {
            if point.is_after_gap {
                line.x.push(thin::start_s(seconds.intervals[point.of.start]));
                line.y.push(None);
            }
            for x in point.long_from_s.into_iter().chain([point.at_s]) {
                line.x.push(x);
                line.y.push(Some((level.middle * 1000.0).round() / 1000.0));
            }
            let cells = [Cell::number(point.at_s, 1), Cell::iops(level.middle)];
            table.rows.push([Cell::text(set.name.as_str())].into_iter().chain(cells).collect());
        }
        series.push(line);
    }
    if series.is_empty() {
        return None;
    }
    let mut notes = vec!["The first run of each set, all jobs and directions together.".to_owned()];
    if is_thinned {
        notes.push("Several seconds make one point: their mean.".to_owned());
    }
    Some(ChartSpec {
        id: "compared-rates".to_owned(),
        title: "Rates over time".to_owned(),
        about: "IOPS of each set over the time of its run.".to_owned(),
        height_px: 320,
        x: axis::time(start_s.min(end_s), end_s),
        y: axis::iops(),
        series,
        spans: Vec::new(),
        rules: Vec::new(),
        cells: None,
        notes,
        source: String::new(),
        thinned: None,
        table,
    })
}

/// Draws the load curves of all sets that have one: the 99th percentile over the carried rate.
pub(crate) fn curves(sets: &[Set]) -> Option<ChartSpec> {
    let with_curve = |set: &'_ Set| -> Option<(String, CurveRecord)> {
        let curve = set.runs.iter().find_map(|run| run.record.curve.clone())?;
        Some((set.name.clone(), curve))
    };
    let found: Vec<(String, CurveRecord)> = sets.iter().filter_map(with_curve).collect();
    if found.len() < 2 {
        return None;
    }
    let mut table =
        Table::new(&[("set", "set")]).figures(Figure::OF_CURVES).and(&[("limits", "is_kept")]);
    let mut series = Vec::new();
    let mut rules = Vec::new();
    for (idx, (name, curve)) in found.iter().take(Marker::ALL.len()).enumerate() {
        series.push(one_curve(idx, name, curve, &mut table));
        rules.extend(curve.line_iops().map(|at| Rule {
            is_across: false,
            at,
            text: String::new(),
            colour: Colour::Of(idx as u8),
            dash: DashStyle::Dot,
        }));
    }
    let values: Vec<f64> = series.iter().flat_map(|it| it.y.iter().flatten().copied()).collect();
    Some(ChartSpec {
        id: "compared-curves".to_owned(),
        title: "Load curves".to_owned(),
        about: "The 99th percentile over the rate that was carried; upright lines are the load \
                lines."
            .to_owned(),
        height_px: 420,
        x: axis::iops(),
        y: axis::latency(Figure::P99.head(), values.into_iter()),
        series,
        spans: Vec::new(),
        rules,
        cells: None,
        notes: vec![
            "Hollow points broke a limit, or are not usable; the table says which.".to_owned(),
        ],
        source: String::new(),
        thinned: None,
        table,
    })
}

/// Makes the line of one curve, and its rows.
fn one_curve(idx: usize, name: &str, curve: &CurveRecord, table: &mut Table) -> Series {
    let carried = curve.points.iter().filter(|point| point.figures.iops() > 0.0);
    let mut points: Vec<_> = carried.collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    for point in &points {
        let mut row = vec![Cell::text(name)];
        row.extend(Cell::figures(&point.figures, Figure::OF_CURVES));
        row.push(Cell::text(match (point.passed, &point.void) {
            (true, _) => "kept",
            (false, None) => "broken",
            (false, Some(_)) => "not usable",
        }));
        table.rows.push(row);
    }
    let broken = points.iter().enumerate().filter(|(_, point)| !point.passed);
    Series {
        name: name.to_owned(),
        colour: Colour::Of(idx as u8),
        dash: [DashStyle::Solid, DashStyle::Dash, DashStyle::Dot, DashStyle::DashDot][idx % 4],
        marker: Some(Marker::ALL[idx]),
        is_line: true,
        x: points.iter().map(|point| point.figures.iops()).collect(),
        y: points.iter().map(|point| point.figures.get(Figure::P99)).collect(),
        hollow: broken.map(|(at, _)| at).collect(),
        ..Series::default()
    }
}
