//! What a load curve or a suite came to.

use std::fmt::Write as _;

use record::{CurvePointRecord, CurveRecord, Figure, Lever, LineVerdict, SuiteRecord};
use units::{format_iops, format_mib_s};

use super::{cells, escaped, heads, rules};

/// Puts the load line, what it rests on, and the points by their load.
pub(super) fn put_curve(text: &mut String, curve: &CurveRecord) {
    let _ = writeln!(text, "**{}**\n", line(curve));
    let open = curve.lever == Lever::Rate;
    let head = match curve.lever {
        Lever::Rate => "offered IOPS",
        Lever::QueueDepth => "in flight",
        Lever::Workers => "workers",
    };
    let of = &Figure::OF_POINT;
    let _ = writeln!(text, "| {head} | {} | |\n|---:|{}|---|", heads(of), rules(of));
    let mut points: Vec<&CurvePointRecord> = curve.points.iter().collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    for point in points {
        let verdict = match (&point.void, point.passed) {
            (Some(reason), _) => escaped(&format!("says nothing: {reason}")),
            (None, true) => "carried".to_owned(),
            (None, false) => escaped(&point.broken.join("; ")),
        };
        let shown = cells(&point.into(), of);
        let _ = writeln!(text, "| {} | {shown} | {verdict} |", load(point.load));
    }
    let kind = if open { "response time, from when an I/O was due" } else { "service time" };
    let _ = writeln!(text, "\nlatency: {kind}");
}

/// Says what the load line is.
fn line(curve: &CurveRecord) -> String {
    let (found, limits) = (&curve.line, &curve.limits);
    let limits = escaped(limits);
    let unit = match curve.lever {
        Lever::Rate => "IOPS",
        Lever::QueueDepth => "I/Os in flight",
        Lever::Workers => "workers",
    };
    let by_turns = curve.by_turns().map_or_else(String::new, |(from, to)| {
        let (from, to) = (load(from), load(to));
        let at = if from == to { format!("at {from}") } else { format!("from {from} to {to}") };
        format!("; {at} {unit} some measurements kept the limits and some did not")
    });
    let (at, mut text) = match found.verdict() {
        LineVerdict::Line(at) => (at, "Load line: ".to_owned()),
        LineVerdict::Above(at) => (at, "Load line: more than ".to_owned()),
        LineVerdict::Below => {
            let lowest = curve.points.iter().map(|point| point.load).fold(f64::INFINITY, f64::min);
            let lowest = load(lowest);
            return format!("Load line: none; even {lowest} {unit} break {limits}{by_turns}");
        }
        LineVerdict::CannotTell(_) => {
            let why = escaped(&found.why_not());
            return format!("Load line with {limits}: cannot tell: {why}");
        }
        LineVerdict::Unfinished => {
            return format!("Load line with {limits}: {}", found.why_not());
        }
    };
    // Under an open load the line is the rate that was offered, as its interval is.
    let rate = match curve.lever {
        Lever::Rate => at,
        Lever::QueueDepth | Lever::Workers => found.achieved_iops.unwrap_or(at),
    };
    text.push_str(&format!("{} IOPS", load(rate)));
    if let Some(bytes_per_s) = found.bytes_per_s {
        text.push_str(&format!(" ({} MiB/s)", format_mib_s(bytes_per_s)));
    }
    match curve.lever {
        Lever::Rate => {}
        Lever::QueueDepth => text.push_str(&format!(" at {} I/Os in flight", load(at))),
        Lever::Workers => text.push_str(&format!(" with {} workers", load(at))),
    }
    text.push_str(&format!(" with {limits}"));
    if let Some(interval) = &found.interval {
        let sure = interval.coverage * 100.0;
        let (low, high) = (load(interval.low), load(interval.high));
        text.push_str(&format!("; between {low} and {high}"));
        if sure > 0.0 {
            text.push_str(&format!(", {sure:.0} % sure"));
        }
    }
    text + &by_turns
}

fn load(load: f64) -> String {
    if load >= 10_000.0 { format_iops(load) } else { format!("{load:.0}") }
}

/// Puts what was asked of the disk, and the answers.
fn put_needs(text: &mut String, suite: &SuiteRecord) {
    for need in &suite.needs {
        let what = if need.source.is_empty() { "Need" } else { "Published target" };
        let _ = write!(text, "- **{what} {}", escaped(&need.need));
        if !need.source.is_empty() {
            let _ = write!(text, " of {}", escaped(&need.label));
        }
        let _ = write!(text, ": {}**", need.verdict);
        for condition in &need.conditions {
            let shown = condition.shown().unwrap_or_else(|| "nothing".to_owned());
            let asked = escaped(&condition.condition);
            let _ = write!(text, "; {asked}: {shown}, {}", condition.kept_words());
        }
        if !need.reason.is_empty() {
            let _ = write!(text, "; {}", escaped(&need.reason));
        }
        let _ = writeln!(text, "; {}", need.measured_words());
    }
    if !suite.needs.is_empty() {
        text.push('\n');
    }
}

/// Puts the rows of a suite with their verdicts, and the published figures beside ours.
pub(super) fn put_suite(text: &mut String, suite: &SuiteRecord, verdict: Option<&str>) {
    let _ = write!(text, "**Suite {}**: {}", escaped(&suite.name), escaped(&suite.title));
    if let Some(verdict) = verdict {
        let _ = write!(text, "; **verdict: {}**", escaped(verdict));
    }
    if let Some(scale) = suite.scale {
        let _ = write!(text, "; shortened to {:.3} % of its sizes and times", scale * 100.0);
    }
    for (name, value) in &suite.changed {
        let _ = write!(text, "; {}", escaped(&format!("{name}={value}")));
    }
    if suite.n_repeats > 1 {
        let _ = write!(text, "; medians of {} measurements", suite.n_repeats);
    }
    let of = &Figure::OF_ROW;
    let (heads, rules) = (heads(of), rules(of));
    let _ = writeln!(text, "\n\n| measurement | {heads} | verdict | |\n|---|{rules}|---|---|");
    for row in suite.rows.iter().filter(|row| !row.preparation) {
        let is_fine = matches!(row.verdict.as_str(), "valid" | "not assessed");
        let verdict = if suite.indicative && is_fine { "indicative" } else { &row.verdict };
        let words = [&row.label, verdict, &row.reason].map(escaped);
        let [label, verdict, reason] = words;
        let _ = writeln!(text, "| {label} | {} | {verdict} | {reason} |", cells(&row.into(), of));
        if let Some(figures) = row.sync_figures() {
            let _ = writeln!(text, "| {label}, made durable in | {} | | |", cells(&figures, of));
        }
    }
    text.push('\n');
    put_needs(text, suite);
    if suite.published.is_empty() {
        return;
    }
    text.push_str("Published by others, for reference and no mark to pass:\n\n");
    text.push_str("| measurement | published | here | on |\n|---|---:|---:|---|\n");
    let figure = |value: f64, unit: &str| {
        let value = if unit == "IOPS" { format_iops(value) } else { format!("{value:.0}") };
        format!("{value} {unit}")
    };
    for it in &suite.published {
        let _ = writeln!(
            text,
            "| {} | {}{} | {} | {} |",
            escaped(&it.label),
            if it.above { "more than " } else { "" },
            figure(it.value, &it.unit),
            it.here.map_or("-".to_owned(), |here| figure(here, &it.unit)),
            escaped(&it.on),
        );
    }
    text.push('\n');
}
