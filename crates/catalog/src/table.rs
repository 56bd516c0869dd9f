//! Tables as text: CSV with one line of column names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::column::{self, Column};
use crate::error::CatalogError;
use crate::figure::{Figure, Source};
use crate::item::{Item, Note};

/// A table's text, with the path that says what it holds: `EDITION/KIND-REST.csv`.
#[derive(Clone, Copy, Debug)]
pub struct TableFile<'a> {
    /// Below the catalogue's folder, such as `current/vms-azure-map.csv`.
    pub path: &'a str,
    /// Its contents.
    pub text: &'a str,
}

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableSchema {
    /// Disk tiers and types.
    Disks,
    /// Machine sizes.
    Vms,
    /// Facts about network volumes.
    Network,
    /// One price per line.
    Prices,
    /// Prices of machines, a column per region: on demand, or for a term.
    ByRegion,
    /// Discounts for machines that run all month.
    Sustained,
}

impl TableSchema {
    /// What is wrong with the name of a table that is of no kind.
    pub(crate) const EXPECTED: &str = "a table is named disks-, vms-, network-, prices-, hourly-, \
                                       reserved- or sustained-SOMETHING.csv";

    /// Determines a table's kind from its file name.
    pub(crate) fn of(file_name: &str) -> Option<Self> {
        match file_name.split('-').next()? {
            "disks" => Some(TableSchema::Disks),
            "vms" => Some(TableSchema::Vms),
            "network" => Some(TableSchema::Network),
            "prices" => Some(TableSchema::Prices),
            "hourly" | "reserved" => Some(TableSchema::ByRegion),
            "sustained" => Some(TableSchema::Sustained),
            _ => None,
        }
    }

    /// Returns whether it is read for prices only.
    pub(crate) fn is_of_prices(self) -> bool {
        match self {
            TableSchema::Prices | TableSchema::ByRegion | TableSchema::Sustained => true,
            TableSchema::Disks | TableSchema::Vms | TableSchema::Network => false,
        }
    }
}

/// Sources by their keys.
pub(crate) type Sources = BTreeMap<String, Arc<Source>>;

/// Lines of a table, by column name.
pub(crate) struct Lines {
    pub(crate) header: Vec<String>,
    pub(crate) lines: Vec<(u64, Vec<String>)>,
}

/// Reads a table's cells. A line with too few or too many cells is an error.
pub(crate) fn lines(file: TableFile<'_>, errors: &mut Vec<CatalogError>) -> Lines {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file.text.as_bytes());
    let mut read = Lines { header: Vec::new(), lines: Vec::new() };
    match reader.headers() {
        Ok(header) => read.header = header.iter().map(|name| name.trim().to_owned()).collect(),
        Err(error) => errors.push(CatalogError::new(file.path, 1, error.to_string())),
    }
    for record in reader.records() {
        match record {
            Ok(record) => {
                let line = record.position().map_or(0, csv::Position::line);
                if record.len() != read.header.len() {
                    let what = format!("{} cells, expected {}", record.len(), read.header.len());
                    errors.push(CatalogError::new(file.path, line, what));
                    continue;
                }
                read.lines.push((line, record.iter().map(|cell| cell.trim().to_owned()).collect()));
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                errors.push(CatalogError::new(file.path, line, error.to_string()));
                return read;
            }
        }
    }
    read
}

impl Lines {
    /// Returns a cell by its column's name; `None` where the column is absent or the cell empty.
    pub(crate) fn cell<'a>(&self, cells: &'a [String], name: &str) -> Option<&'a str> {
        let idx = self.header.iter().position(|column| column == name)?;
        Some(cells[idx].as_str()).filter(|cell| !cell.is_empty())
    }
}

/// Reads the table of sources.
pub(crate) fn sources(file: TableFile<'_>, errors: &mut Vec<CatalogError>) -> Sources {
    let mut sources = Sources::new();
    let read = lines(file, errors);
    for (line, cells) in &read.lines {
        let cell = |name| read.cell(cells, name).map(ToOwned::to_owned);
        let (Some(key), Some(title), Some(date)) = (cell("key"), cell("title"), cell("date"))
        else {
            let what = "a source needs key, title and date";
            errors.push(CatalogError::new(file.path, *line, what));
            continue;
        };
        let licence = cell("licence").unwrap_or_default();
        let source = Arc::new(Source { key: key.clone(), title, licence, date });
        sources.insert(key, source);
    }
    sources
}

/// Finds the source that a line names.
pub(crate) fn source_of<'a>(
    read: &Lines,
    cells: &[String],
    sources: &'a Sources,
) -> Result<&'a Arc<Source>, String> {
    let key = read.cell(cells, "source").ok_or("no source")?;
    sources.get(key).ok_or_else(|| format!("source `{key}` is not in sources.csv"))
}

/// What a column of a table of items is.
enum ColumnRole {
    Figure(&'static Column, Option<u64>),
    Word(&'static str),
    Other,
}

/// Reads a table of disks or machines: one item per line, several lines of a name are merged later.
pub(crate) fn items(
    file: TableFile<'_>,
    sources: &Sources,
    errors: &mut Vec<CatalogError>,
) -> Vec<Item> {
    let read = lines(file, errors);
    let roles: Vec<ColumnRole> = read.header.iter().map(|name| role(name, file, errors)).collect();
    let mut items = Vec::new();
    for (line, cells) in &read.lines {
        match item(&read, cells, &roles, sources) {
            Ok(item) => items.push(item),
            Err(what) => errors.push(CatalogError::new(file.path, *line, what)),
        }
    }
    items
}

fn role(name: &str, file: TableFile<'_>, errors: &mut Vec<CatalogError>) -> ColumnRole {
    // `mb_s*1000000`: all cells of the column mean so many bytes.
    let (plain, bytes) = match name.split_once('*') {
        Some((plain, bytes)) => (plain, bytes.parse().ok()),
        None => (name, None),
    };
    if let Some(column) = column::find(plain) {
        return ColumnRole::Figure(column, bytes);
    }
    if let Some(word) = column::WORDS.iter().find(|word| **word == name) {
        return ColumnRole::Word(word);
    }
    if !matches!(name, "name" | "source" | "note") {
        errors.push(CatalogError::new(file.path, 1, format!("unknown column `{name}`")));
    }
    ColumnRole::Other
}

fn item(
    read: &Lines,
    cells: &[String],
    roles: &[ColumnRole],
    sources: &Sources,
) -> Result<Item, String> {
    let name = read.cell(cells, "name").ok_or("no name")?;
    let source = source_of(read, cells, sources)?;
    let mut item = Item { name: name.to_owned(), ..Item::default() };
    for (cell, role) in cells.iter().zip(roles).filter(|(cell, _)| !cell.is_empty()) {
        match role {
            ColumnRole::Figure(column, bytes) => {
                let figure = Figure::read(cell, column.unit, *bytes, source)
                    .map_err(|what| format!("`{name}`, {}: {what}", column.name))?;
                item.figures.entry(column.property).or_default().push(figure);
            }
            ColumnRole::Word(word) => {
                item.words.insert(word, cell.clone());
            }
            ColumnRole::Other => {}
        }
    }
    if let Some(text) = read.cell(cells, "note") {
        item.notes.push(Note { text: text.to_owned(), source: Arc::clone(source) });
    }
    Ok(item)
}
