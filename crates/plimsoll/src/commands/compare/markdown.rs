//! A comparison as Markdown, for a pull request: what came of it first, then the table.

use std::fmt::Write as _;

use export::escaped;

use super::Judged;
use super::text::{after, before, cells, place};

/// Returns the comparison. Ends in a newline.
pub(super) fn markdown(judged: &Judged) -> String {
    let mut text = String::from("### Comparison\n\n");
    for (word, line) in after(judged).iter().chain(&before(judged)) {
        let line = escaped(line).replace('\u{a0}', " ");
        let _ = match *word {
            "" => writeln!(text, "  {line}"),
            word => writeln!(text, "- **{word}**: {line}"),
        };
    }
    let interval = format!("{} interval", units::format_percent_exact(judged.options.coverage, 4));
    let _ = write!(
        text,
        "\n| of | I/O | figure | baseline | candidate | change | {interval} | verdict |\n\
         |---|---|---|---:|---:|---:|---:|---|\n"
    );
    for row in &judged.found.rows {
        let cells: Vec<String> = cells(row).iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| {} | {} |", escaped(&place(row)), cells.join(" | "));
    }
    text
}
