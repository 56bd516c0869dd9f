//! Comma-separated values.

use std::collections::BTreeMap;

use super::dates::{self, DATE};
use super::header::{self, ColumnTarget};
use super::list::List;
use super::{
    CLOUD, EDITION, ImportError, ReadTable, RejectedRow, TableForm, TableKind, TableRow, cell,
    go_map,
};
use crate::cloud::Cloud;
use crate::column::Owner;

/// Figures of a disk that a machine has under other names.
const OF_MACHINES: [(&str, &str); 5] = [
    ("iops", "uncached_iops"),
    ("mb_s", "uncached_mb_s"),
    ("mib_s", "uncached_mb_s"),
    ("burst_iops", "uncached_burst_iops"),
    ("burst_mb_s", "uncached_burst_mb_s"),
];

/// Reads CSV with one line of column names. A table that has columns of disks and of machines is
/// refused: a figure that nothing would use is one that somebody counts on.
pub(super) fn read(text: &str) -> Result<ReadTable, ImportError> {
    let mut read = ReadTable::empty(TableForm::Csv);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let Ok(names) = reader.headers().cloned() else { return Ok(read) };
    let list = List::of(&names);
    let targets: Vec<ColumnTarget> = names.iter().map(|name| header::of_csv(name.trim())).collect();
    if list.is_none() && !targets.contains(&ColumnTarget::Name) {
        return Ok(read);
    }
    let edition = names.iter().position(|name| name.trim() == "edition");
    let cloud = names.iter().position(|name| name.trim() == CLOUD);
    let date = dates::column(&names);
    let date_of = |record: &csv::StringRecord| {
        let date = date.and_then(|idx| record.get(idx)).map_or("", str::trim);
        (!date.is_empty()).then(|| date.to_owned())
    };
    let keeps = |idx: usize| match &list {
        Some(list) => list.keeps(idx),
        None => targets[idx] != ColumnTarget::Nothing || Some(idx) == edition || Some(idx) == cloud,
    };
    let ignored = names.iter().enumerate().filter(|(idx, _)| !keeps(*idx));
    read.ignored = ignored.map(|(_, name)| name.to_owned()).collect();
    let kind = if list.is_none() { kind(&names, &targets)? } else { TableKind::Disks };
    let account = names.iter().position(|name| name.trim() == "account_type");
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                let rejected = RejectedRow { line, name: String::new(), why: error.to_string() };
                read.rejected.push(rejected);
                break;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        if let Some(list) = &list {
            let n_before = read.rows.len();
            list.line(&record, line, &mut read);
            for row in &mut read.rows[n_before..] {
                row.cells.extend(date_of(&record).map(|date| (DATE, date)));
            }
            continue;
        }
        if let Some(account) = account.and_then(|idx| record.get(idx))
            && go_map::is_chosen(account)
        {
            let tier =
                record.iter().zip(&targets).find(|(_, target)| **target == ColumnTarget::Name);
            let tier = tier.map_or("", |(cell, _)| cell);
            read.left_out.push(go_map::chosen(line, account, tier));
            continue;
        }
        let cell = |idx: Option<usize>| idx.and_then(|idx| record.get(idx));
        let row = row(&record, &targets, line, kind).and_then(|row| {
            row.map(|row| with_cloud(with_edition(row, cell(edition)), cell(cloud))).transpose()
        });
        match row {
            Ok(Some(mut row)) => {
                row.cells.extend(date_of(&record).map(|date| (DATE, date)));
                read.rows.push(row);
            }
            Ok(None) => {}
            Err(rejected) => read.rejected.push(rejected),
        }
    }
    Ok(read)
}

/// Returns what a table is of by its columns: machines where one is a figure of machines.
fn kind(names: &csv::StringRecord, targets: &[ColumnTarget]) -> Result<TableKind, ImportError> {
    let owner = |target: &ColumnTarget| match target {
        ColumnTarget::One(column) => super::column(column).map(|column| column.of),
        ColumnTarget::Name
        | ColumnTarget::Pair(..)
        | ColumnTarget::Second(_)
        | ColumnTarget::Nothing => None,
    };
    let first = |of: Owner| targets.iter().position(|target| owner(target) == Some(of));
    let Some(of_machines) = first(Owner::Machine) else { return Ok(TableKind::Disks) };
    let Some(of_disks) = first(Owner::Disk) else { return Ok(TableKind::Vms) };
    let name = names.get(of_disks).unwrap_or("").trim().to_owned();
    let before = names.iter().take(of_disks).map(|name| name.chars().count() + 1);
    let ours = OF_MACHINES.iter().find(|(disks, _)| *disks == name).map(|(_, ours)| *ours);
    let help = match ours {
        Some(ours) => {
            let cached = ours.replace("uncached", "cached");
            format!("name it `{ours}`, or `{cached}` for what goes through the host cache")
        }
        None => "leave it out, or put the disks into a file of their own".to_owned(),
    };
    Err(ImportError::OtherKind {
        column: before.sum::<usize>() + 1,
        name,
        of: "disks",
        kind: format!("machines: it has `{}`", names.get(of_machines).unwrap_or("").trim()),
        help,
    })
}

/// Notes the edition of a row, where its table says. Which row of several is meant is found out
/// where they are compared.
fn with_edition(mut row: TableRow, cell: Option<&str>) -> TableRow {
    let own = cell.map_or("", str::trim);
    if !own.is_empty() {
        row.cells.insert(EDITION, own.to_owned());
    }
    row
}

/// Notes whose a row is, where its table says.
fn with_cloud(mut row: TableRow, cell: Option<&str>) -> Result<TableRow, RejectedRow> {
    let own = cell.map_or("", str::trim);
    if own.is_empty() {
        return Ok(row);
    }
    let clouds = Cloud::ALL.map(Cloud::as_str);
    let Some(known) = clouds.iter().find(|known| known.eq_ignore_ascii_case(own)) else {
        let why = format!("cloud `{own}`, expected {}", clouds.join(", "));
        return Err(RejectedRow { line: row.line, name: row.name, why });
    };
    row.cells.insert(CLOUD, (*known).to_owned());
    Ok(row)
}

fn row(
    record: &csv::StringRecord,
    targets: &[ColumnTarget],
    line: u64,
    kind: TableKind,
) -> Result<Option<TableRow>, RejectedRow> {
    let name_idx = targets.iter().position(|target| *target == ColumnTarget::Name).unwrap_or(0);
    let name = record.get(name_idx).unwrap_or("").trim().to_owned();
    let rejected = |why: String| RejectedRow { line, name: name.clone(), why };
    if record.len() != targets.len() {
        return Err(rejected(format!("{} cells, expected {}", record.len(), targets.len())));
    }
    if name.is_empty() {
        return Err(rejected("no name".to_owned()));
    }
    let mut cells = BTreeMap::new();
    for (text, target) in record.iter().zip(targets) {
        let ColumnTarget::One(column) = target else { continue };
        // Our own layout marks cells (`~`, `=`, `*1000000`), which are kept.
        let marks = text.trim().starts_with(['~', '>', '=']) || text.contains('*');
        if marks {
            cells.insert(*column, text.trim().to_owned());
            continue;
        }
        let number = cell::number(text).map_err(|why| rejected(format!("{column}: {why}")))?;
        if let Some(number) = number {
            cells.insert(*column, number);
        }
    }
    // What does not burst is listed with its own rate as that of bursts.
    for (burst, base) in [
        ("burst_iops", "iops"),
        ("burst_mb_s", "mb_s"),
        ("uncached_burst_iops", "uncached_iops"),
        ("uncached_burst_mb_s", "uncached_mb_s"),
    ] {
        if cells.get(burst).is_some_and(|burst| cells.get(base) == Some(burst)) {
            cells.remove(burst);
        }
    }
    // A list may give a size with processors switched off those of the whole one.
    if let Some(vcpus) = go_map::constrained(&name).filter(|_| kind == TableKind::Vms)
        && let Some(cell) = cells.get_mut("vcpus")
        && *cell != vcpus.to_string()
    {
        *cell = format!("={vcpus}");
    }
    Ok(Some(TableRow { line, kind, name, cells }).filter(|row| !row.cells.is_empty()))
}
