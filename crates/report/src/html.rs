//! Charts and tables as the template wants them.

use crate::spec::ChartSpec;
use crate::table::{Cell, Table};

/// Most rows that a table on the page has; its CSV file has all.
const ROWS_MAX: usize = 500;

/// Letters of a cell beyond which its column wants more room than a name does.
const LONG_CHARS: usize = 40;

/// A chart of the page.
#[derive(Clone, Debug)]
pub(crate) struct ChartView {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) height_px: u32,
    pub(crate) notes: Vec<String>,
    pub(crate) source: String,
    pub(crate) table: TableView,
    /// Level of its heading, 2 or 3.
    pub(crate) level: u8,
}

/// A table of the page.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableView {
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Vec<CellView>>,
    pub(crate) n_rows: usize,
    pub(crate) is_cut: bool,
    /// A narrow screen shows each row as a block, each cell beside its head: it has sentences, or
    /// more columns than fit.
    pub(crate) is_stacked: bool,
    pub(crate) download: Download,
}

/// The head of a column.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) text: String,
    pub(crate) is_number: bool,
    /// It has sentences, which want room.
    pub(crate) is_long: bool,
}

/// A cell.
#[derive(Clone, Debug)]
pub(crate) struct CellView {
    pub(crate) text: String,
    pub(crate) is_number: bool,
    /// It is one word, which is not broken at its hyphens.
    pub(crate) is_name: bool,
    /// The head of its column, where rows may be blocks.
    pub(crate) head: Option<String>,
}

/// A file that the page itself holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Download {
    pub(crate) file: String,
    pub(crate) address: String,
}

impl ChartView {
    pub(crate) fn of(chart: &ChartSpec, level: u8) -> Self {
        ChartView {
            id: chart.id.clone(),
            title: chart.title.clone(),
            about: chart.about.clone(),
            height_px: chart.height_px,
            notes: chart.notes.clone(),
            source: chart.source.clone(),
            table: TableView::of(&chart.table, &chart.id),
            level,
        }
    }
}

impl TableView {
    pub(crate) fn of(table: &Table, file: &str) -> Self {
        Self::cut(table, file, ROWS_MAX)
    }

    /// Makes a table of at most so many rows.
    pub(crate) fn cut(table: &Table, file: &str, rows_max: usize) -> Self {
        let is_number =
            |column: usize| table.rows.iter().any(|row| matches!(row[column], Cell::Number(..)));
        let heads = table.columns.iter().enumerate();
        let is_long = |column: usize| {
            let mut cells = table.rows.iter().map(|row| &row[column]);
            cells.any(|it| !it.is_number() && it.as_shown().chars().count() > LONG_CHARS)
        };
        let n_columns = table.columns.len();
        let is_stacked = n_columns > COLUMNS_ON_NARROW || (0..n_columns).any(is_long);
        let are_numbers: Vec<bool> = (0..table.columns.len()).map(is_number).collect();
        let cell = |(column, cell): (usize, &Cell)| CellView {
            text: cell.as_shown().to_owned(),
            is_number: cell.is_number() && are_numbers[column],
            is_name: is_name(cell.as_shown()),
            head: is_stacked.then(|| table.columns[column].head.clone()),
        };
        TableView {
            heads: heads
                .map(|(idx, of)| Head {
                    text: of.head.clone(),
                    is_number: are_numbers[idx],
                    is_long: is_long(idx),
                })
                .collect(),
            rows: table
                .rows
                .iter()
                .take(rows_max)
                .map(|row| row.iter().enumerate().map(cell).collect())
                .collect(),
            n_rows: table.rows.len(),
            is_cut: table.rows.len() > rows_max,
            is_stacked,
            download: Download::csv(table, file),
        }
    }
}

/// Columns of short words and numbers that a screen of 400 pixels shows side by side.
const COLUMNS_ON_NARROW: usize = 5;

fn is_name(text: &str) -> bool {
    !text.contains(' ') && text.chars().count() <= LONG_CHARS
}

impl Download {
    /// Makes a CSV file of a table.
    pub(crate) fn csv(table: &Table, file: &str) -> Self {
        let file = format!("{file}.csv");
        Download { file, address: format!("data:text/csv;charset=utf-8,{}", escaped(&table.csv())) }
    }
}

/// Writes a text for a page: what stands between backticks is a command, a key or a path.
pub(crate) fn coded(text: impl AsRef<str>) -> String {
    let parts: Vec<&str> = text.as_ref().split('`').collect();
    // A last one without its partner is a letter like others.
    let n_pairs = (parts.len() - 1) / 2;
    let mut out = String::new();
    for (idx, part) in parts.iter().enumerate() {
        if idx > 0 {
            out.push_str(match idx {
                idx if idx > n_pairs * 2 => "`",
                idx if idx % 2 == 1 => "<code>",
                _ => "</code>",
            });
        }
        for letter in part.chars() {
            match letter {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                letter => out.push(letter),
            }
        }
    }
    out
}

/// Writes a text as a data address has it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b',' | b'.' | b'_' | b'-' => {
                out.push(byte as char);
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code() {
        assert_eq!(coded("plain < text"), "plain &lt; text");
        assert_eq!(
            coded("run `a <b>` and `c`."),
            "run <code>a &lt;b&gt;</code> and <code>c</code>."
        );
        assert_eq!(coded("`a` and one ` alone"), "<code>a</code> and one ` alone");
        assert_eq!(coded("`"), "`");
    }
}
