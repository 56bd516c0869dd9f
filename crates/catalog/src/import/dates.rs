//! Tables that have an item several times: as of several dates, or for no reason that they state.

use std::collections::BTreeMap;

use super::{EDITION, ReadTable, RejectedRow, TableKind, TableRow};

/// What tables call the column of dates.
const COLUMNS: [&str; 4] = ["date", "as_of", "valid_from", "effective_date"];

/// Cell that a row's date is in until it has been chosen.
pub(super) const DATE: &str = "date";

/// Cells that tell items apart, besides kind and name.
const KEYS: [&str; 9] =
    [EDITION, "part", "above", "up_to", "per", "term", "region", "currency", "parameter"];

/// What a row is about.
pub(super) type ItemKey = (TableKind, String, [Option<String>; KEYS.len()]);

/// Returns the key of a row: rows with the same key are about the same thing.
pub(super) fn item_key(row: &TableRow) -> ItemKey {
    (row.kind, row.name.clone(), KEYS.map(|key| row.cells.get(key).cloned()))
}

/// Returns the column of dates.
pub(super) fn column(names: &csv::StringRecord) -> Option<usize> {
    let at = |wanted: &&str| names.iter().position(|name| name.trim() == *wanted);
    COLUMNS.iter().find_map(at)
}

/// Keeps of rows about the same thing those of the newest date, and says so of the others. Where
/// their dates are alike all stay: what contradicts is found later.
pub(super) fn newest(mut read: ReadTable) -> ReadTable {
    let mut of_item: BTreeMap<ItemKey, Vec<usize>> = BTreeMap::new();
    for (idx, row) in read.rows.iter().enumerate().filter(|(_, row)| row.cells.contains_key(DATE)) {
        of_item.entry(item_key(row)).or_default().push(idx);
    }
    let mut older: BTreeMap<usize, String> = BTreeMap::new();
    for idxs in of_item.values() {
        let dated = |idx: &usize| Some((date(&read.rows[*idx])?, *idx));
        let Some(dates) = idxs.iter().map(dated).collect::<Option<Vec<_>>>() else { continue };
        let Some((newest, at)) = dates.iter().max_by_key(|(date, _)| *date) else { continue };
        // The year of one and the day of another have no order.
        if dates.iter().any(|(date, _)| date.len() != newest.len()) {
            continue;
        }
        let line = read.rows[*at].line;
        for (date, idx) in dates.iter().filter(|(date, _)| date != newest) {
            older.insert(*idx, format!("of {date}; the one of {newest} in line {line} is used"));
        }
    }
    let mut rows = Vec::new();
    for (idx, mut row) in read.rows.into_iter().enumerate() {
        row.cells.remove(DATE);
        match older.remove(&idx) {
            None => rows.push(row),
            Some(why) => read.left_out.push(RejectedRow { line: row.line, name: row.name, why }),
        }
    }
    ReadTable { rows, ..read }
}

/// Returns a row's date if it is one: `2024`, `2024-03` or `2024-03-01`.
fn date(row: &TableRow) -> Option<&str> {
    let date = row.cells.get(DATE)?.as_str();
    let lens: Vec<usize> = date.split('-').map(str::len).collect();
    let is_plain = date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    (is_plain && matches!(lens[..], [4] | [4, 2] | [4, 2, 2])).then_some(date)
}
