//! The table as CSV (RFC 4180): a head line with the names of the columns, empty for none.

use std::borrow::Cow;

use crate::columns::{COLUMNS, Value};
use crate::table::Table;

/// Returns the table as CSV.
///
/// # Panics
/// If a row has more or fewer cells than there are columns, or one of another kind.
pub fn csv(table: &Table) -> String {
    table.must_be_whole();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = COLUMNS.iter().map(|column| column.name);
    writer.write_record(head).expect("memory takes it");
    for row in &table.rows {
        let cells = row.iter().map(|value| match value {
            Value::None => String::new(),
            Value::Text(text) => plain_cell(text).into_owned(),
            Value::Whole(whole) => whole.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
        });
        writer.write_record(cells).expect("every row has all columns");
    }
    let bytes = writer.into_inner().expect("memory takes it");
    String::from_utf8(bytes).expect("made of text")
}

/// Returns a text as a cell that no spreadsheet takes for a formula: one that begins as such has an
/// apostrophe before it, which spreadsheets do not show. Names of jobs and files come from whoever
/// wrote the job file. Numbers and a lone sign stay as they are.
pub fn plain_cell(text: &str) -> Cow<'_, str> {
    let begins = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let is_harmless = text.len() == 1 || text.parse::<f64>().is_ok();
    if begins && !is_harmless { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}
