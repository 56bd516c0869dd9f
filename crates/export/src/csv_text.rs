//! The table as CSV (RFC 4180): a head line with the names of the columns, empty for none.

use crate::columns::{COLUMNS, Value};
use crate::table::Table;

/// Returns the table as CSV.
pub fn csv(table: &Table) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = COLUMNS.iter().map(|column| column.name);
    writer.write_record(head).expect("memory takes it");
    for row in &table.rows {
        let cells = row.iter().map(|value| match value {
            Value::None => String::new(),
            Value::Text(text) => text.clone(),
            Value::Whole(whole) => whole.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
        });
        writer.write_record(cells).expect("every row has all columns");
    }
    let bytes = writer.into_inner().expect("memory takes it");
    String::from_utf8(bytes).expect("made of text")
}
