//! What a load curve or a suite came to.

use std::fmt::Write as _;

use record::{CurvePointRecord, CurveRecord, Figure, Lever, SuiteRecord, load_words};

use super::{capital, cells, escaped, heads, rules};

/// Puts the load line, what it rests on, and the points by their load.
pub(super) fn put_curve(text: &mut String, curve: &CurveRecord) {
    let more = [
        curve.interval_words().map(|between| format!("by all measurements {between}")),
        curve.by_turns_words(),
    ];
    let answer: Vec<String> =
        std::iter::once(curve.headline()).chain(more.into_iter().flatten()).collect();
    let _ = writeln!(text, "**{}**\n", escaped(&capital(&answer.join("; "))));
    let (head, _) = curve.lever.column();
    let of = Figure::OF_POINT;
    let _ = writeln!(text, "| {head} | {} | |\n|---:|{}|---|", heads(of), rules(of));
    let mut points: Vec<&CurvePointRecord> = curve.points.iter().collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    for point in points {
        let verdict = escaped(&point.outcome_words());
        let shown = cells(&point.figures, of);
        let _ = writeln!(text, "| {} | {shown} | {verdict} |", load_words(point.load));
    }
    let from = if curve.lever == Lever::Rate { ", from when an I/O was due" } else { "" };
    let _ = writeln!(text, "\nlatency: {}{from}", curve.lever.latency());
}

/// Puts what was asked of the disk, and the answers.
fn put_needs(text: &mut String, suite: &SuiteRecord) {
    for need in &suite.needs {
        let rests_on = escaped(&need.sentences().join("; "));
        let _ = writeln!(text, "- **{}**; {rests_on}", escaped(&capital(&need.headline())));
    }
    if !suite.needs.is_empty() {
        text.push('\n');
    }
}

/// Writes the rows of a suite with their verdicts, and the published figures with ours.
pub(super) fn put_suite(text: &mut String, suite: &SuiteRecord, verdict: Option<&str>) {
    let _ = write!(text, "**Suite {}**: {}", escaped(&suite.name), escaped(&suite.title));
    if let Some(verdict) = verdict {
        let _ = write!(text, "; **verdict: {}**", escaped(verdict));
    }
    for sentence in suite.run_words() {
        let _ = write!(text, "; {}", escaped(&sentence));
    }
    let of = Figure::OF_ROW;
    let (heads, rules) = (heads(of), rules(of));
    let _ = writeln!(text, "\n\n| measurement | {heads} | verdict | |\n|---|{rules}|---|---|");
    for row in suite.rows.iter().filter(|row| !row.preparation) {
        let words = [&row.label, suite.verdict_of(row), &row.reason].map(escaped);
        let [label, verdict, reason] = words;
        let _ =
            writeln!(text, "| {label} | {} | {verdict} | {reason} |", cells(&row.medians(), of));
        if let Some(figures) = row.sync_figures() {
            let _ = writeln!(text, "| {label}, made durable in | {} | | |", cells(&figures, of));
        }
    }
    text.push('\n');
    put_needs(text, suite);
    if suite.published.is_empty() {
        return;
    }
    text.push_str("Published by others, for reference, not a pass mark:\n\n");
    text.push_str("| measurement | published | here | on |\n|---|---:|---:|---|\n");
    for it in &suite.published {
        let cells = [&it.label, &it.published_words(), &it.here_words(), &it.on];
        let _ = writeln!(text, "| {} |", cells.map(|cell| escaped(cell)).join(" | "));
    }
    text.push('\n');
}
