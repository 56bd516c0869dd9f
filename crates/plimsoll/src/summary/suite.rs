//! A suite of a benchmark as a table, with what others published beside it.

use std::fmt::Write as _;
use std::time::Duration;

use analysis::assess::{RowsWorth, is_invalid_row};
use record::{
    Figure, IntervalRecord, PublishedRecord, Record, SuiteRecord, SuiteRowRecord, SuiteSourceRecord,
};
use units::{format_duration, format_percent};

use super::scale_out::put_scale_out;
use super::table::Columns;
use super::words::{fit, wrap};
use super::{COLUMNS, put_failures};

/// Columns of a row's name.
const LABEL: usize = 30;

/// Figures of a row.
const OF_ROW: Columns = Columns { figures: Figure::OF_ROW, iops: 8, mib_s: 8, latency: 10 };

/// Reasons that are shown below the table.
const REASONS_MAX: usize = 6;

/// Returns the answer of a suite in one sentence, as its page has it; none where it answers needs
/// of the user's own, which have a headline each.
pub(super) fn answer(record: &Record) -> Option<String> {
    let needs = &record.suite.as_ref()?.needs;
    let is_own = !needs.is_empty() && needs.iter().all(|need| need.source.is_empty());
    (!is_own).then(|| wrap(&report::answer(record).0, 2, COLUMNS))
}

/// Puts what the suite came to, without its curve.
pub(super) fn put_suite(text: &mut String, suite: &SuiteRecord, record: &Record) {
    put_head(text, suite);
    put_failures(text, record);
    let (prepared, measured): (Vec<_>, Vec<_>) = suite.rows.iter().partition(|row| row.preparation);
    for row in prepared {
        text.push_str(&wrap(&format!("made ready: {}", preparation(row)), 2, COLUMNS));
    }
    text.push('\n');
    if measured.is_empty() {
        text.push_str("nothing was measured\n");
        return;
    }
    // A need's own answer has its figures; those of a row leave the wait before an I/O out.
    if suite.needs.iter().all(|need| !need.source.is_empty()) {
        put_rows(text, suite, &measured);
    }
    put_scale_out(text, suite);
    put_needs(text, suite);
    put_published(text, suite);
}

fn put_rows(text: &mut String, suite: &SuiteRecord, rows: &[&SuiteRowRecord]) {
    let _ = writeln!(text, "{:<LABEL$}{}  verdict", "", OF_ROW.heads());
    for row in rows {
        put_row(text, row, suite);
    }
    put_reasons(text, rows);
    text.push_str(if suite.needs.is_empty() { "" } else { "\n" });
}

/// Puts what was asked of the disk, and the answers.
fn put_needs(text: &mut String, suite: &SuiteRecord) {
    for (idx, need) in suite.needs.iter().enumerate() {
        text.push_str(if idx == 0 { "" } else { "\n" });
        text.push_str(&wrap(&need.headline(), 2, COLUMNS));
        for sentence in need.sentences() {
            text.push_str(&wrap(&format!("  {sentence}"), 4, COLUMNS));
        }
        if let Some(source) = suite.sources.iter().find(|it| it.id == need.source) {
            let line = format!("  asked by {}", source.document);
            text.push_str(&wrap(&line, 4, COLUMNS));
        }
    }
    let is_of_need =
        |source: &&SuiteSourceRecord| suite.needs.iter().any(|need| need.source == source.id);
    put_sources(text, suite.sources.iter().filter(is_of_need), "\n");
}

/// Puts documents, each once, behind what separates them from what comes before.
fn put_sources<'a>(
    text: &mut String,
    sources: impl Iterator<Item = &'a SuiteSourceRecord>,
    before: &str,
) {
    for (idx, source) in sources.enumerate() {
        text.push_str(if idx == 0 { before } else { "" });
        text.push_str(&wrap(&format!("source: {}", source.words()), 2, COLUMNS));
    }
}

fn put_head(text: &mut String, suite: &SuiteRecord) {
    text.push_str(&wrap(&format!("suite {}: {}", suite.name, suite.title), 2, COLUMNS));
    let worth = RowsWorth::of(suite);
    if let Some(verdict) = worth.verdict(suite.indicative) {
        let more = if worth == RowsWorth::All { ", `--suite` has longer ones" } else { "" };
        text.push_str(&wrap(&format!("verdict: {verdict}{more}"), 2, COLUMNS));
    }
    for sentence in suite.run_words() {
        text.push_str(&wrap(&sentence, 2, COLUMNS));
    }
}

fn preparation(row: &SuiteRowRecord) -> String {
    let time = format_duration(Duration::from_millis(row.measured_ns / 1_000_000));
    let rate = row.medians().shown(Figure::BytesPerS);
    let rate = rate.map_or_else(String::new, |rate| format!(", {rate} MiB/s for {time}"));
    format!("{}{rate} ({})", row.label, row.verdict)
}

fn put_row(text: &mut String, row: &SuiteRowRecord, suite: &SuiteRecord) {
    let verdict = suite.verdict_of(row);
    let label = fit(&row.label, LABEL - 1);
    let _ = writeln!(text, "{label:<LABEL$}{}  {verdict}", OF_ROW.row(&row.medians(), "-"));
    if let Some(figures) = row.sync_figures() {
        let _ = writeln!(text, "{:<LABEL$}{}", "  made durable in", OF_ROW.row(&figures, ""));
    }
    let interval = |figure: Figure| row.figures.get(figure).and_then(|it| it.interval);
    let (Some(iops), Some(p99)) = (interval(Figure::Iops), interval(Figure::P99)) else { return };
    let ends = |figure: Figure, of: IntervalRecord| [of.low, of.high].map(|it| figure.shown(it));
    let ([iops_low, iops_high], [p99_low, p99_high]) =
        (ends(Figure::Iops, iops), ends(Figure::P99, p99));
    let sure = format_percent(iops.coverage);
    let _ = writeln!(
        text,
        "  {sure} sure: {iops_low} to {iops_high} IOPS, p99 {p99_low} to {p99_high}"
    );
}

/// Puts why rows are not valid, each reason once.
fn put_reasons(text: &mut String, rows: &[&SuiteRowRecord]) {
    let is_bad = |row: &&&SuiteRowRecord| !row.reason.is_empty() && !row.is_fine();
    let mut bad: Vec<&&SuiteRowRecord> = rows.iter().filter(is_bad).collect();
    if bad.is_empty() {
        return;
    }
    bad.sort_by_key(|row| !is_invalid_row(row));
    text.push('\n');
    for row in bad.iter().take(REASONS_MAX) {
        let weight = if is_invalid_row(row) { "invalid: " } else { "" };
        text.push_str(&wrap(&format!("{weight}{}: {}", row.label, row.reason), 2, COLUMNS));
    }
    if bad.len() > REASONS_MAX {
        let _ = writeln!(text, "... and {} more, in the record", bad.len() - REASONS_MAX);
    }
}

fn put_published(text: &mut String, suite: &SuiteRecord) {
    if suite.published.is_empty() {
        return;
    }
    text.push_str("\npublished, for reference: other machines and volumes, not a pass mark\n");
    let _ = writeln!(text, "{:<LABEL$}{:>24}{:>16}", "", "published", "here");
    let mut last = "";
    for published in &suite.published {
        let PublishedRecord { label, on, .. } = published;
        let (shown, here) = (published.published_words(), published.here_words());
        let _ = writeln!(text, "{:<LABEL$}{shown:>24}{here:>16}", fit(label, LABEL - 1));
        if !on.is_empty() && on != last {
            text.push_str(&wrap(&format!("  on {on}"), 4, COLUMNS));
        }
        last = on;
    }
    let is_shown =
        |source: &&SuiteSourceRecord| suite.needs.iter().any(|it| it.source == source.id);
    put_sources(text, suite.sources.iter().filter(|source| !is_shown(source)), "");
}
