//! Published tables as rows of the catalogue: read, checked against what is known, and compared.
//!
//! [`read`] takes CSV (our own layout or a published one with columns of known meaning: disks,
//! machines, prices, network volumes), the tables
//! of an Azure series page in Markdown, or the Go map of azuredisk-csi-driver. [`compare`] says
//! what is new, changed, or cannot be; [`table`] writes what was taken in our own layout.

mod cell;
mod check;
mod check_list;
mod csv_form;
mod dates;
mod diff;
mod doubt;
mod editions;
mod go_map;
mod header;
mod list;
mod markdown;

use std::collections::BTreeMap;
use std::fmt;

use crate::column::Column;

pub use check::{compare, table, with_source};
pub use diff::{FigureChange, PriceChange, TableDiff};
pub use doubt::DoubtedFigure;

/// Cell of a row that says which edition it is of; the catalogue keeps editions apart by folders.
const EDITION: &str = "edition";

/// Cell of a row that says whose it is, where that is known.
const CLOUD: &str = "cloud";

/// What rows are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableKind {
    /// Disk tiers.
    Disks,
    /// Machine sizes.
    Vms,
    /// Prices: cells `usd`, `per`, and perhaps `region` and `currency`.
    Prices,
    /// Facts about network volumes: the name is the scope; cells `parameter`, `value`, `unit`.
    Network,
}

impl TableKind {
    /// Returns the word that a table's file name starts with.
    pub fn as_str(self) -> &'static str {
        match self {
            TableKind::Disks => "disks",
            TableKind::Vms => "vms",
            TableKind::Prices => "prices",
            TableKind::Network => "network",
        }
    }
}

/// The form of a published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// Comma-separated values.
    Csv,
    /// Markdown with tables.
    Markdown,
    /// Go source with `NodeInfo` and `DiskSkuInfo` literals.
    GoMap,
}

impl fmt::Display for TableForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TableForm::Csv => "CSV",
            TableForm::Markdown => "Markdown tables",
            TableForm::GoMap => "Go map",
        })
    }
}

/// One row as published: a cell of the catalogue's layout per column.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Line of the table, from 1.
    pub line: u64,
    /// What it is about.
    pub kind: TableKind,
    /// Name of the tier or size.
    pub name: String,
    /// Cells by column name.
    pub cells: BTreeMap<&'static str, String>,
}

impl TableRow {
    /// Returns whether it is of a list: a price or a fact.
    fn is_of_a_list(&self) -> bool {
        matches!(self.kind, TableKind::Prices | TableKind::Network)
    }
}

/// A row that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRow {
    /// Line of the table, from 1.
    pub line: u64,
    /// Name of the tier or size, as far as it is known.
    pub name: String,
    /// Why.
    pub why: String,
}

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadTable {
    /// How the text was taken.
    pub form: TableForm,
    /// Lines of the table that were read, whatever became of them.
    pub n_lines: usize,
    /// Rows: of disks and machines one per name, merged from all rows with that name.
    pub rows: Vec<TableRow>,
    /// Rows that could not be read.
    pub rejected: Vec<RejectedRow>,
    /// Rows without anything that the catalogue has a place for.
    pub left_out: Vec<RejectedRow>,
    /// Columns that have no place in the catalogue.
    pub ignored: Vec<String>,
}

impl ReadTable {
    fn empty(form: TableForm) -> Self {
        let (rows, rejected, left_out, ignored) = (vec![], vec![], vec![], vec![]);
        ReadTable { form, n_lines: 0, rows, rejected, left_out, ignored }
    }
}

/// Why a text holds no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Nothing in it looks like a table that the catalogue has a place for.
    #[error("no table of disks, machine sizes, prices or network volumes found")]
    NoTable,
    /// A table of one kind has a column of the other.
    #[error(
        "line 1, column {column}: `{name}` is a figure of {of}, and the table is one of {kind}"
    )]
    OtherKind {
        /// Character of the first line at which the column's name begins, from 1.
        column: usize,
        /// The column.
        name: String,
        /// What has such a figure: `disks` or `machines`.
        of: &'static str,
        /// What the table is of, and by which column that is seen.
        kind: String,
        /// What to write instead.
        help: String,
    },
}

/// Reads a published table, whatever its form.
pub fn read(text: &str) -> Result<ReadTable, ImportError> {
    let read = if go_map::fits(text) {
        go_map::read(text)
    } else if markdown::fits(text) {
        markdown::read(text)
    } else {
        csv_form::read(text)?
    };
    let n_lines = read.rows.len() + read.rejected.len() + read.left_out.len();
    if n_lines == 0 {
        return Err(ImportError::NoTable);
    }
    Ok(merged(dates::newest(ReadTable { n_lines, ..read })))
}

/// Merges rows of one name, as a page spreads a size over several tables. Two rows that say
/// different things of one column contradict one another, and the second is not taken.
fn merged(mut read: ReadTable) -> ReadTable {
    let mut rows: Vec<TableRow> = Vec::new();
    for row in read.rows {
        if row.is_of_a_list() {
            rows.push(row);
            continue;
        }
        let is_same = |known: &&mut TableRow| {
            let editions = [known.cells.get(EDITION), row.cells.get(EDITION)];
            known.kind == row.kind && known.name == row.name && editions[0] == editions[1]
        };
        let Some(known) = rows.iter_mut().find(is_same) else {
            rows.push(row);
            continue;
        };
        let contradiction = row
            .cells
            .iter()
            .find(|(column, cell)| known.cells.get(*column).is_some_and(|known| known != *cell));
        if let Some((column, cell)) = contradiction {
            let first = &known.cells[column];
            let why = format!("{column} is {cell} here and {first} in line {}", known.line);
            read.rejected.push(RejectedRow { line: row.line, name: row.name, why });
            continue;
        }
        known.cells.extend(row.cells);
    }
    ReadTable { rows, ..read }
}

/// Returns a column of figures by its name.
pub(crate) fn column(name: &str) -> Option<&'static Column> {
    crate::column::find(name)
}
