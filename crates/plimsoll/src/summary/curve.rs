//! A load curve in words, as a table, and as a picture of characters.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use analysis::GateName;
use record::{
    CarriedRecord, CurvePointRecord, CurveRecord, Figure, Figures, IntervalRecord, Lever,
    LineVerdict, LoadLineRecord, Record, Verdict,
};
use units::{format_iops, format_latency_ns, format_mib_s};

use super::table::Columns;
use super::words::wrap;
use super::{COLUMNS, percent};

/// Figures of a load.
const OF_POINT: Columns = Columns { figures: &Figure::OF_POINT, iops: 9, mib_s: 9, latency: 10 };

/// Rows and columns of the picture, without its axes.
const PLOT: (usize, usize) = (12, 66);

/// Puts the load line, the curve's figures, its table and its picture.
pub(super) fn put_curve(text: &mut String, record: &Record, curve: &CurveRecord) {
    for line in answer(curve) {
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

/// A load as it is said: a rate or I/Os in flight, without unit.
pub(crate) fn load_words(load: f64) -> String {
    if load >= 10_000.0 { format_iops(load) } else { format!("{load:.0}") }
}

/// Returns the line about a point as it is measured.
pub(crate) fn point_line(point: &CurvePointRecord) -> String {
    let CurvePointRecord { step_idx, purpose, achieved_iops, latency_p99_ns, .. } = point;
    let head = format!("{:>3} {purpose:<8}{:>8}  ", step_idx + 1, load_words(point.load));
    let verdict = match (&point.void, point.passed) {
        // Its figures are not those of the load.
        (Some(reason), _) => return format!("{head}says nothing: {reason}\n"),
        (None, true) => "carried",
        (None, false) => point.broken.first().map_or("", String::as_str),
    };
    let (achieved, p99) = (format_iops(*achieved_iops), format_latency_ns(*latency_p99_ns));
    if *achieved_iops <= 0.0 {
        return format!("{head}{verdict}\n");
    }
    format!("{head}{achieved:>8} IOPS  p99 {p99:>8}  {verdict}\n")
}

/// Says how many I/Os an open load let out at once.
fn room(curve: &CurveRecord) -> String {
    curve
        .in_flight_max
        .map_or_else(String::new, |room| format!(", with up to {room} in flight per worker"))
}

/// The unit of a load.
fn unit(lever: Lever) -> &'static str {
    match lever {
        Lever::Rate => "IOPS",
        Lever::QueueDepth => "in flight",
        Lever::Workers => "workers",
    }
}

/// The question answered, in sentences.
fn answer(curve: &CurveRecord) -> Vec<String> {
    let line = &curve.line;
    let mut sentences = vec![headline(curve)];
    let were = if line.n_probes == 1 { "load was" } else { "loads were" };
    let tried = format!("{} {were} tried to find it{}", line.n_probes, room(curve));
    if let Some(interval) = line.interval {
        sentences.push(format!("{}; {tried}", between(curve.lever, interval)));
    } else if line.load.is_none() {
        sentences.push(tried.replace("to find it", "to find one"));
    }
    sentences.extend(void(curve));
    if let (Some(first_fail), [broken, ..]) = (line.first_fail, line.broken.as_slice()) {
        let load = load_words(first_fail);
        sentences.push(format!("at {load} {}: {broken}", unit(curve.lever)));
    }
    sentences.extend(by_turns(curve));
    if !line.dips.is_empty() {
        let dips: Vec<String> = line.dips.iter().map(|load| load_words(*load)).collect();
        let message = "below the line these loads failed, twice each";
        sentences.push(format!("{message}: {}", dips.join(", ")));
    }
    sentences.extend(carried(curve));
    if let Some(ns) = curve.overall_response_ns {
        let latency = format_latency_ns(ns.round() as u64);
        sentences.push(format!("mean latency over the curve: {latency}"));
    }
    if let Some(knees) = curve.knees.as_ref().filter(|knees| !knees.rates_iops.is_empty()) {
        let rates: Vec<String> = knees.rates_iops.iter().map(|rate| format_iops(*rate)).collect();
        let mut sentence = format!("it bends at {} IOPS", rates.join(" and "));
        if let Some((low, high)) = knees.leave_one_out_iops.filter(|(low, high)| low < high) {
            let (low, high) = (format_iops(low), format_iops(high));
            let _ = write!(sentence, " ({low} to {high} when a point is left out)");
        }
        sentences.push(sentence);
    }
    if let Some(target) = &curve.target {
        let (rate, latency) = (load_words(target.rate_iops), target.latency_mean_ns.round() as u64);
        let latency = format_latency_ns(latency);
        let depth = target.depth;
        let reached = if target.highest_iops < target.rate_iops {
            format!("; no more than {} were achieved at any load", load_words(target.highest_iops))
        } else {
            "; more where it grows under load".to_owned()
        };
        sentences.push(format!(
            "{rate} IOPS take {depth} I/Os in flight at the best latency, {latency}: rate x \
             latency{reached}"
        ));
    }
    if let Some(law) = &curve.scalability {
        let (low, high) = (law.peak_interval.low, law.peak_interval.high);
        let peak = law.peak_depth;
        sentences.push(format!(
            "the rate is highest with {peak:.0} in flight ({low:.0} to {high:.0}, by the \
             scalability law)"
        ));
    }
    sentences
}

/// Says how many measurements say nothing, and why.
fn void(curve: &CurveRecord) -> Option<String> {
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    for reason in curve.points.iter().filter_map(|point| point.void.as_deref()) {
        // Without its figures, which differ.
        let reason = reason.split(" (").next().unwrap_or(reason);
        *reasons.entry(reason.split(':').next().unwrap_or(reason)).or_default() += 1;
    }
    let n_void: u32 = reasons.values().sum();
    let mut reasons: Vec<(&str, u32)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let reasons: Vec<String> = match &*reasons {
        [] => return None,
        [(only, _)] => vec![(*only).to_owned()],
        several => several.iter().map(|(reason, n)| format!("{reason} ({n})")).collect(),
    };
    let is_over = curve.line.verdict() != LineVerdict::Unfinished;
    let then = if is_over { " and were repeated" } else { "" };
    let (n, reasons) = (curve.points.len(), reasons.join(", "));
    Some(format!("{n_void} of {n} measurements say nothing{then}: {reasons}"))
}

/// Says where above the line limits were kept in some measurements, and broken in others.
fn by_turns(curve: &CurveRecord) -> Option<String> {
    let (first_fail, highest) = curve.by_turns()?;
    let (from, unit) = (load_words(first_fail), unit(curve.lever));
    let at = if highest > first_fail {
        format!("from {from} to {} {unit}", load_words(highest))
    } else {
        format!("at {from} {unit}")
    };
    Some(format!("{at} some measurements kept the limits and some did not"))
}

/// Says where the line lies, and how sure that is.
fn between(lever: Lever, interval: IntervalRecord) -> String {
    let (low, high) = (load_words(interval.low), load_words(interval.high));
    let sure = match interval.coverage {
        share if share > 0.0 => format!(" with a probability of {} or more", percent(share)),
        _ => String::new(),
    };
    format!("by all measurements between {low} and {high} {}{sure}", unit(lever))
}

fn headline(curve: &CurveRecord) -> String {
    let LoadLineRecord { achieved_iops, .. } = &curve.line;
    let limits = &curve.limits;
    let rate = achieved_iops.map_or_else(String::new, format_iops);
    let moved = curve.line.bytes_per_s;
    let moved = moved.map_or_else(String::new, |it| format!("{} MiB/s", format_mib_s(it)));
    let at = |load: f64| {
        let load = load_words(load);
        match curve.lever {
            Lever::Rate => format!("{load} IOPS ({moved})"),
            Lever::QueueDepth => format!("{rate} IOPS ({moved}) at {load} in flight"),
            Lever::Workers => format!("{rate} IOPS ({moved}) at {load} workers"),
        }
    };
    match curve.line.verdict() {
        LineVerdict::Line(load) => format!("load line: {} with {limits}", at(load)),
        LineVerdict::Above(load) => {
            format!("load line: above {}; nothing broke {limits}", at(load))
        }
        LineVerdict::Below => {
            let lowest = curve.points.iter().map(|it| it.load).fold(f64::INFINITY, f64::min);
            let (lowest, unit) = (load_words(lowest), unit(curve.lever));
            format!("load line: none; even {lowest} {unit} break {limits}")
        }
        LineVerdict::CannotTell(_) => {
            format!("load line: cannot tell: {} (limits: {limits})", curve.line.why_not())
        }
        LineVerdict::Unfinished => {
            format!("load line: not found: {} (limits: {limits})", curve.line.why_not())
        }
    }
}

fn carried(curve: &CurveRecord) -> Option<String> {
    let parts = curve.carried.iter().filter_map(|it| {
        let ms = it.latency_mean_ns / 1_000_000;
        let rate = format_iops(it.rate_iops?);
        let moved = format_mib_s(it.bytes_per_s?);
        match it.state.as_str() {
            "reached" => {
                let step = coarse_step(curve, it).unwrap_or_default();
                Some(format!("{ms} ms: {rate} IOPS, {moved} MiB/s{step}"))
            }
            "above" => Some(format!("{ms} ms: above {rate} IOPS, {moved} MiB/s")),
            "below" => Some(format!("{ms} ms: nothing measured is as fast")),
            _ => None,
        }
    });
    let parts: Vec<String> = parts.collect();
    // Nothing is known of a curve without a whole point.
    (!parts.is_empty()).then(|| format!("carried at a mean latency of {}", parts.join("; ")))
}

/// Says what the next load carried, where the load could be turned up in steps only.
fn coarse_step(curve: &CurveRecord, carried: &CarriedRecord) -> Option<String> {
    let [_, over] = curve.coarse_step(carried.latency_mean_ns)?;
    let (unit, latency) = (unit(curve.lever), over.latency_mean_ns.round() as u64);
    Some(format!(
        " ({} {unit}, the next load measured, carry {} at {})",
        load_words(over.load),
        format_iops(over.achieved_iops),
        format_latency_ns(latency),
    ))
}

/// One row per load: its last measurement, or the worst one where any broke a limit.
fn put_table(text: &mut String, curve: &CurveRecord) {
    let unit = match curve.lever {
        Lever::Rate => "offered",
        Lever::QueueDepth => "in flight",
        Lever::Workers => "workers",
    };
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
        let figures = if point.achieved_iops > 0.0 { point.into() } else { Figures::default() };
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
        let p99 = if point.passed { 0 } else { point.latency_p99_ns };
        (point.void.is_some(), !is_typical, std::cmp::Reverse(p99))
    };
    points.sort_by(|a, b| a.load.total_cmp(&b.load).then(rank(a).cmp(&rank(b))));
    points.dedup_by(|next, kept| next.load <= kept.load);
    points
}

/// Puts the picture: achieved rate across, latency up, on a scale of powers. Loads above the first
/// that fails would press all else to the ground.
fn put_plot(text: &mut String, curve: &CurveRecord) {
    // Without a line there is nothing else.
    let first_fail = curve.line.load.and(curve.line.first_fail).unwrap_or(f64::INFINITY);
    let mut points = by_load(curve);
    points.retain(|point| point.load <= first_fail && curve.stands(point));
    let latencies = points.iter().flat_map(|it| [it.latency_mean_ns, it.latency_p99_ns as f64]);
    let latencies: Vec<f64> = latencies.filter(|ns| *ns > 0.0).collect();
    let rate_max = points.iter().map(|it| it.achieved_iops).fold(0.0, f64::max);
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
    for (mark, of) in [('o', 0), ('*', 1)] {
        for point in &points {
            let ns = [point.latency_mean_ns, point.latency_p99_ns as f64][of];
            if ns > 0.0 {
                rows[row(ns)][column(point.achieved_iops)] = mark;
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
