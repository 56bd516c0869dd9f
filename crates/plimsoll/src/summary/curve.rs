//! A load curve in words, as a table, and as a picture of characters.

use std::fmt::Write as _;

use analysis::GateName;
use record::{CurvePointRecord, CurveRecord, Figure, Figures, Record, Verdict, load_words};
use units::{format_iops, format_latency_ns};

use super::COLUMNS;
use super::table::Columns;
use super::words::wrap;

/// Figures of a load.
const OF_POINT: Columns = Columns { figures: Figure::OF_POINT, iops: 9, mib_s: 9, latency: 10 };

/// Rows and columns of the picture, without its axes.
const PLOT: (usize, usize) = (12, 66);

/// Puts the load line, the curve's figures, its table and its picture.
pub(super) fn put_curve(text: &mut String, record: &Record, curve: &CurveRecord) {
    for line in std::iter::once(curve.headline()).chain(curve.sentences()) {
        text.push_str(&wrap(&line, 2, COLUMNS));
    }
    for gate in record.line_validity().iter().flat_map(|step| step.with(Verdict::Failed)) {
        let weighs = GateName::invalidates_by_name(&gate.name);
        let weight = if weighs { "invalid" } else { "caution" };
        let line = format!("{weight}: {} at the load line: {}", gate.name, gate.reason);
        text.push_str(&wrap(&line, 2, COLUMNS));
    }
    text.push('\n');
    put_table(text, curve);
    put_plot(text, curve);
}

/// Returns the line about a point as it is measured.
pub(crate) fn point_line(point: &CurvePointRecord) -> String {
    let CurvePointRecord { step_idx, purpose, figures, .. } = point;
    let head = format!("{:>3} {purpose:<8}{:>8}  ", step_idx + 1, load_words(point.load));
    let verdict = point.outcome_words();
    // The figures of a point that says nothing are not those of its load.
    let known = (figures.shown(Figure::Iops), figures.shown(Figure::P99));
    let (Some(achieved), Some(p99), true) = (known.0, known.1, figures.iops() > 0.0) else {
        return format!("{head}{verdict}\n");
    };
    if point.void.is_some() {
        return format!("{head}{verdict}\n");
    }
    format!("{head}{achieved:>8} IOPS  p99 {p99:>8}  {verdict}\n")
}

/// One row per load: its last measurement, or the worst one where any broke a limit.
fn put_table(text: &mut String, curve: &CurveRecord) {
    let (unit, _) = curve.lever.column();
    let _ = writeln!(text, "{unit:>10}{}", OF_POINT.heads());
    let mut is_mixed = false;
    for point in by_load(curve) {
        let mark = match curve.measured(point.load) {
            (0, _) => "  not known".to_owned(),
            (_, 0) => String::new(),
            (n, n_over) if n_over == n => "  over".to_owned(),
            (n, n_over) => {
                is_mixed = true;
                format!("  over {n_over}/{n}")
            }
        };
        let is_known = point.figures.iops() > 0.0;
        let figures = if is_known { point.figures } else { Figures::default() };
        let row = OF_POINT.row(&figures, "-");
        let _ = writeln!(text, "{:>10}{row}{mark}", load_words(point.load));
    }
    if is_mixed {
        text.push_str("over k/n: k of the n measurements of this load broke a limit\n");
    }
}

/// The points by load, of each load a measurement that says something of it, if there is one: where
/// most broke a limit the slowest of those, else the last one that did not.
fn by_load(curve: &CurveRecord) -> Vec<&CurvePointRecord> {
    let mut points: Vec<&CurvePointRecord> = curve.points.iter().rev().collect();
    let rank = |point: &CurvePointRecord| {
        let (n, n_over) = curve.measured(point.load);
        let is_typical = point.passed == (2 * n_over <= n);
        let p99 = point.figures.ns(Figure::P99).filter(|_| !point.passed);
        (point.void.is_some(), !is_typical, std::cmp::Reverse(p99))
    };
    points.sort_by(|a, b| a.load.total_cmp(&b.load).then(rank(a).cmp(&rank(b))));
    points.dedup_by(|next, kept| next.load <= kept.load);
    points
}

/// What the picture shows of each load, by which marks.
const MARKS: [(char, Figure); 2] = [('o', Figure::Mean), ('*', Figure::P99)];

/// Puts the picture: achieved rate across, latency up, on a scale of powers. Loads above the first
/// that fails would press all else to the ground.
fn put_plot(text: &mut String, curve: &CurveRecord) {
    // Without a line there is nothing else.
    let first_fail = curve.line.load.and(curve.line.first_fail).unwrap_or(f64::INFINITY);
    let mut points = by_load(curve);
    points.retain(|point| point.load <= first_fail && curve.stands(point));
    let latencies = points.iter().flat_map(|it| MARKS.map(|(_, figure)| it.figures.get(figure)));
    let latencies: Vec<f64> = latencies.flatten().filter(|ns| *ns > 0.0).collect();
    let rate_max = points.iter().map(|it| it.figures.iops()).fold(0.0, f64::max);
    let (low, high) = latencies
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), ns| (low.min(*ns), high.max(*ns)));
    if points.len() < 3 || rate_max <= 0.0 {
        return;
    }
    let (n_rows, n_columns) = PLOT;
    let (low, high) = (low / 1.2, (high * 1.2).max(low * 2.0));
    let row = |ns: f64| {
        let share = (ns / low).ln() / (high / low).ln();
        n_rows - 1 - ((share * (n_rows - 1) as f64).round() as usize).min(n_rows - 1)
    };
    let column = |rate: f64| {
        ((rate / rate_max * (n_columns - 1) as f64).round() as usize).min(n_columns - 1)
    };
    let mut rows = vec![vec![' '; n_columns]; n_rows];
    // The figure of the headline: of an open load the rate that was offered.
    if let Some(line) = curve.line_iops() {
        for cells in &mut rows {
            cells[column(line)] = '|';
        }
    }
    for (mark, figure) in MARKS {
        for point in &points {
            if let Some(ns) = point.figures.get(figure).filter(|ns| *ns > 0.0) {
                rows[row(ns)][column(point.figures.iops())] = mark;
            }
        }
    }
    text.push('\n');
    for (idx, cells) in rows.iter().enumerate() {
        let share = (n_rows - 1 - idx) as f64 / (n_rows - 1) as f64;
        let ns = low * (high / low).powf(share);
        let label = if idx % 3 == 2 { format_latency_ns(ns.round() as u64) } else { String::new() };
        let cells: String = cells.iter().collect();
        let _ = writeln!(text, "{label:>10} |{}", cells.trim_end());
    }
    let _ = writeln!(text, "{:>10} +{}", "", "-".repeat(n_columns));
    let right = format!("{} IOPS", format_iops(rate_max));
    let _ = writeln!(text, "{:>10}  0{right:>width$}", "", width = n_columns - 1);
    let _ = writeln!(text, "{:>10}  o mean, * p99, | load line", "");
}
