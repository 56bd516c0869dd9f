//! Tables of Azure series pages.

use std::collections::BTreeMap;

use super::header::{self, ColumnTarget};
use super::{ReadTable, RejectedRow, TableForm, TableKind, TableRow, cell};

/// Returns whether a text has a Markdown table with a column of sizes.
pub(super) fn fits(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(2).any(|pair| is_rule(pair[1]) && targets(pair[0]).contains(&ColumnTarget::Name))
}

/// Reads all tables that have a column of sizes.
pub(super) fn read(text: &str) -> ReadTable {
    let mut read = ReadTable::empty(TableForm::Markdown);
    let mut table: Option<Vec<ColumnTarget>> = None;
    let mut header: &str = "";
    for (idx, line) in text.lines().enumerate() {
        if !line.contains('|') {
            table = None;
            header = "";
            continue;
        }
        if is_rule(line) {
            let targets = targets(header);
            for (name, target) in cells(header).iter().zip(&targets) {
                let name = cell::without_tags(name).trim().to_owned();
                if *target == ColumnTarget::Nothing
                    && !name.is_empty()
                    && !read.ignored.contains(&name)
                {
                    read.ignored.push(name);
                }
            }
            table = Some(targets).filter(|targets| targets.contains(&ColumnTarget::Name));
            continue;
        }
        let Some(targets) = &table else {
            header = line;
            continue;
        };
        match row(line, targets, idx as u64 + 1) {
            Ok(Some(row)) => read.rows.push(row),
            Ok(None) => {}
            Err(rejected) => read.rejected.push(rejected),
        }
    }
    read
}

/// Returns whether a line is the rule under a table's names: `|---|:--:|`.
fn is_rule(line: &str) -> bool {
    line.contains('-')
        && line.contains('|')
        && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    line.strip_suffix('|').unwrap_or(line).split('|').map(str::trim).collect()
}

fn targets(header: &str) -> Vec<ColumnTarget> {
    cells(header).iter().map(|name| header::of_page(name)).collect()
}

fn row(
    line: &str,
    targets: &[ColumnTarget],
    line_number: u64,
) -> Result<Option<TableRow>, RejectedRow> {
    let texts = cells(line);
    let name_idx = targets.iter().position(|target| *target == ColumnTarget::Name).unwrap_or(0);
    let name = cell::without_tags(texts.get(name_idx).copied().unwrap_or(""));
    let name = name.split_whitespace().next().unwrap_or("").trim_matches('*').to_owned();
    let rejected = |why: String| RejectedRow { line: line_number, name: name.clone(), why };
    if name.is_empty() {
        return Ok(None);
    }
    if texts.len() != targets.len() {
        return Err(rejected(format!("{} cells, expected {}", texts.len(), targets.len())));
    }
    let mut found = BTreeMap::new();
    let mut put = |column: &'static str, text: &str| -> Result<(), RejectedRow> {
        if column.is_empty() {
            return Ok(());
        }
        if let Some(number) = cell::number(text).map_err(&rejected)? {
            found.insert(column, number);
        }
        Ok(())
    };
    for (text, target) in texts.iter().zip(targets) {
        match target {
            ColumnTarget::One(column) => put(column, text)?,
            ColumnTarget::Pair(iops, bytes, cache) => {
                let plain = cell::without_tags(text);
                let [iops_text, bytes_text, cache_text] = cell::pair(&plain);
                put(iops, iops_text)?;
                put(bytes, bytes_text)?;
                put(cache, cache_text)?;
            }
            ColumnTarget::Second(column) => {
                let behind = text.rsplit('/').next().unwrap_or(text);
                put(column, behind)?;
            }
            ColumnTarget::Name | ColumnTarget::Nothing => {}
        }
    }
    let row = TableRow { line: line_number, kind: TableKind::Vms, name, cells: found };
    Ok(Some(row).filter(|row| !row.cells.is_empty()))
}
