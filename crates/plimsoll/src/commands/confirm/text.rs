//! The result for each promise, in 80 columns and as a table of a page.

use std::fmt::Write as _;

use ::provision::confirm::{Answer, Confirmation, Measured, Verdict, load};
use export::Run;
use report::{Cell, Table};
use units::{format_iops, format_latency_ns, format_percent, plural};
use volume::design::Promised;

use super::called;
use crate::summary;

/// Columns that every line keeps to.
const COLUMNS: usize = 80;

/// Indentation of what goes on in a further line.
const INDENT: usize = 4;

const MB: f64 = 1e6;

/// Returns the result for all promises in one sentence.
pub(super) fn answer(found: &Confirmation) -> String {
    let n = |verdict| found.answers.iter().filter(|it| it.verdict == verdict).count();
    let all = found.answers.len();
    let of = |count: usize, verdict: Verdict| {
        (count > 0).then(|| format!("{count} {}", verdict.words()))
    };
    let verdicts = units::all_of!(Verdict: Met, NotMet, CannotTell);
    let parts: Vec<String> = verdicts.into_iter().filter_map(|it| of(n(it), it)).collect();
    format!("{}: {}", plural(all, "promise"), parts.join(", "))
}

/// Returns the promises with what was measured. Ends in a newline.
pub(super) fn text(design: &str, runs: &[Run], found: &Confirmation) -> String {
    let named: Vec<String> = runs.iter().map(called).collect();
    let mut text = String::new();
    put(&mut text, &format!("{design}, by {}: {}", named.join(", "), answer(found)), 0);
    for note in &found.notes {
        put(&mut text, &format!("note: {note}"), 6);
    }
    for answer in &found.answers {
        text.push('\n');
        of_promise(&mut text, answer);
    }
    text
}

fn put(text: &mut String, line: &str, indent: usize) {
    text.push_str(&summary::wrap(line, indent, COLUMNS));
}

/// Returns what a promise is of: its phase, volume and load.
fn whose(promised: &Promised) -> String {
    let phase = match promised.phase.as_str() {
        "" => String::new(),
        phase => format!(", {phase}"),
    };
    let of = load(promised.io_size_bytes, promised.read_share, Some(promised.random_share));
    let lasts = promised.lasts_ns.map_or(String::new(), |ns| {
        format!(", for {} at a time", units::format_seconds(ns as f64 / 1e9))
    });
    format!("{}{phase}: {of}{lasts}", promised.volume)
}

fn of_promise(text: &mut String, answer: &Answer) {
    let Answer { promised, verdict, measured, .. } = answer;
    put(text, &format!("{}: {}", whose(promised), verdict.words()), INDENT);
    let _ = writeln!(text, "  {:<10}{:>14}{:>14}{:>12}", "", "promised", "measured", "ratio");
    let ratio = answer.ratio();
    let seen = |of: &dyn Fn(&Measured) -> String| measured.as_ref().map_or("-".to_owned(), of);
    let percent = |ratio: Option<f64>| ratio.map_or(String::new(), format_percent);
    let mut row = |name: &str, promised: String, measured: String, ratio: Option<f64>| {
        let line = format!("  {name:<10}{promised:>14}{measured:>14}{:>12}", percent(ratio));
        text.push_str(line.trim_end());
        text.push('\n');
    };
    row("IOPS", format_iops(promised.iops), seen(&|it| format_iops(it.iops)), ratio);
    row(
        "MB/s",
        format!("{:.1}", promised.bytes_per_s() / MB),
        seen(&|it| format!("{:.1}", it.bytes_per_s / MB)),
        measured.as_ref().map(|it| it.bytes_per_s / promised.bytes_per_s()),
    );
    if promised.latency_ns.is_some() || measured.is_some() {
        row(
            "mean",
            promised.latency_ns.map_or("-".to_owned(), format_latency_ns),
            seen(&|it| it.latency_ns.map_or("-".to_owned(), |ns| format_latency_ns(ns as u64))),
            promised.latency_ns.and_then(|most| Some(measured.as_ref()?.latency_ns? / most as f64)),
        );
    }
    if !answer.reason.is_empty() {
        put(text, &format!("  {}", answer.reason), INDENT);
    }
    if let Some(cap) = &answer.cap {
        put(text, &format!("  held by {cap}"), INDENT);
    }
    for explanation in &answer.explanations {
        put(text, &format!("  {explanation}"), INDENT);
    }
    if answer.n_measured > 1 {
        let _ = writeln!(text, "  measured {} times", answer.n_measured);
    }
}

/// Returns the promises as a table of a page.
pub(super) fn promises(found: &Confirmation) -> Table {
    let mut table = Table::new(&[
        ("answer", "verdict"),
        ("promise", "promise"),
        ("promised IOPS", "promised_iops"),
        ("measured IOPS", "measured_iops"),
        ("ratio", "ratio_pct"),
        ("promised mean", "promised_latency_ns"),
        ("measured mean", "measured_latency_ns"),
        ("because", "reason"),
        ("held by", "cap"),
    ]);
    let number = |value: Option<f64>, shown: &dyn Fn(f64) -> String| match value {
        Some(value) => Cell::Number(value, shown(value)),
        None => Cell::Nothing,
    };
    let latency = |ns: Option<f64>| number(ns, &|ns| format_latency_ns(ns as u64));
    for answer in &found.answers {
        let Answer { promised, measured, .. } = answer;
        let because = [&[answer.reason.clone()][..], &answer.explanations].concat();
        let because: Vec<String> = because.into_iter().filter(|it| !it.is_empty()).collect();
        table.rows.push(vec![
            Cell::Text(answer.verdict.words().to_owned()),
            Cell::Text(whose(promised)),
            number(Some(promised.iops), &format_iops),
            number(measured.as_ref().map(|it| it.iops), &format_iops),
            number(answer.ratio().map(|ratio| ratio * 100.0), &|it| format_percent(it / 100.0)),
            latency(promised.latency_ns.map(|ns| ns as f64)),
            latency(measured.as_ref().and_then(|it| it.latency_ns)),
            Cell::Text(because.join("; ")),
            answer.cap.clone().map_or(Cell::Nothing, Cell::Text),
        ]);
    }
    table.remove_empty_columns();
    table
}
