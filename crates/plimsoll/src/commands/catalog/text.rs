//! Tables and figures as text that fits a terminal.

use std::fmt::Write as _;
use std::sync::Arc;

use ::catalog::{Figure, Source};

use crate::fill::fill;

/// Columns of a terminal that tables fit into.
const COLUMNS: usize = 80;

/// Lays cells out in columns with a gap between them, numbers to the right. The first row names
/// the columns. The gap is narrower where the rows would not fit.
pub(in crate::commands) fn table(rows: &[Vec<String>], is_number: &[bool]) -> Vec<String> {
    let n_columns = rows.first().map_or(0, Vec::len);
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let is_wide = widths.iter().sum::<usize>() + 2 * n_columns.saturating_sub(1) > COLUMNS;
    let gap = if is_wide { " " } else { "  " };
    let mut lines = Vec::new();
    for row in rows {
        let mut line = String::new();
        for (idx, cell) in row.iter().enumerate() {
            let gap = if idx == 0 { "" } else { gap };
            let width = widths[idx];
            let _ = if is_number[idx] {
                write!(line, "{gap}{cell:>width$}")
            } else {
                write!(line, "{gap}{cell:<width$}")
            };
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Breaks a text into lines at blanks: the first is `head`, the others are indented as far.
pub(super) fn wrapped(head: &str, text: &str) -> String {
    fill(head, text, COLUMNS)
}

/// Puts cells side by side as far as they fit, equally wide, so far from the left.
pub(super) fn columns(indent: usize, cells: &[String]) -> String {
    let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
    let n_per_line = ((COLUMNS - indent + 2) / width).max(1);
    let mut text = String::new();
    for line in cells.chunks(n_per_line) {
        let cells: String = line.iter().map(|cell| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{:indent$}{}", "", cells.trim_end());
    }
    text
}

/// Lists sources by their keys.
pub(super) fn sources(sources: &[&Arc<Source>]) -> String {
    let width = sources.iter().map(|source| source.key.len()).max().unwrap_or(0);
    let mut text = String::from("sources\n");
    for source in sources {
        let head = format!("  {:<width$}  ", source.key);
        text.push_str(&wrapped(&head, &format!("{}, {}", source.title, source.date)));
    }
    text
}

/// Adds the sources that are not in the list yet.
pub(super) fn collect<'a>(known: &mut Vec<&'a Arc<Source>>, more: Vec<&'a Arc<Source>>) {
    for source in more {
        if !known.iter().any(|seen| seen.key == source.key) {
            known.push(source);
        }
    }
}

/// Prints a figure's bytes per second as MB/s of 10^6 bytes.
pub(super) fn mb_s(figure: Option<&Figure>) -> String {
    figure.map_or("-".to_owned(), |figure| {
        let mb_s = figure.per_s as f64 / 1e6;
        if mb_s < 100.0 { short(mb_s) } else { format!("{mb_s:.0}") }
    })
}

/// Prints a figure's number as published, without its unit.
pub(super) fn value(figure: Option<&Figure>) -> String {
    figure.map_or("-".to_owned(), |figure| short(figure.value))
}

/// Prints a number with at most one digit behind the point.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), ToOwned::to_owned)
}
