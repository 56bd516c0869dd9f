//! What an imported table says that the catalogue does not, and what it says that cannot be.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::check_list::{compare_fact, compare_price, without_contradictions};
use super::diff::{FigureChange, TableDiff, disagrees};
use super::doubt::{DoubtedFigure, Ranges, doubts};
use super::{CLOUD, ReadTable, RejectedRow, TableKind, TableRow, editions};
use crate::cloud::Cloud;
use crate::column::Column;
use crate::edition::Edition;
use crate::exactness::Exactness;
use crate::figure::{Figure, Source};
use crate::item::Item;

/// Bytes that a published MB may have.
const MB_BYTES: [u64; 3] = [1_000_000, 1_024_000, 1 << 20];

/// Compares rows with an edition.
///
/// A row whose operations per second differ from what is known, or whose bytes per second differ by
/// more than 5 %, is rejected; with `accept` it is taken as a change. So is one with an unknown
/// figure that is implausible: nothing, more than 10 times the most
/// or less than a tenth of the least that the edition has of the property, or operations and bytes
/// per second that meet at less than 512 B or more than 4 MiB, and a price of more than 10 times or
/// less than a tenth of the known one.
pub fn compare(read: ReadTable, edition: &Edition, accept: bool) -> TableDiff {
    let n_read = read.rows.len() + read.rejected.len();
    let mut diff = TableDiff {
        n_lines: read.n_lines,
        n_read,
        rejected: read.rejected,
        left_out: read.left_out,
        ..TableDiff::default()
    };
    let source = Arc::new(Source {
        key: "import".to_owned(),
        title: "the table".to_owned(),
        licence: String::new(),
        date: String::new(),
    });
    let disks = Ranges::of(edition.disks().iter().map(|disk| &**disk));
    let vms = Ranges::of(edition.vms().iter().map(|vm| &**vm));
    let known = |row: &TableRow| match row.kind {
        TableKind::Disks => {
            let item = edition.disk(&row.name).map(|disk| &**disk);
            Some(KnownItem { item, ranges: &disks, source: &source })
        }
        TableKind::Vms => {
            let item = edition.vm(&row.name).map(|vm| &**vm);
            Some(KnownItem { item, ranges: &vms, source: &source })
        }
        TableKind::Prices | TableKind::Network => None,
    };
    let is_known = |row: &TableRow| {
        let weighed = known(row).map(|known| weigh(row.clone(), &known, accept));
        weighed.is_some_and(|weighed| weighed.why.is_none() && weighed.changes.is_empty())
    };
    let (lists, items): (Vec<TableRow>, Vec<TableRow>) =
        read.rows.into_iter().partition(TableRow::is_of_a_list);
    for row in without_contradictions(lists, edition, &mut diff) {
        if row.kind == TableKind::Prices {
            compare_price(row, edition, accept, &mut diff);
        } else {
            compare_fact(row, edition, accept, &source, &mut diff);
        }
    }
    for row in editions::choose(items, edition, &mut diff, is_known) {
        let Some(known) = known(&row) else { continue };
        let item = known.item;
        put(weigh(row, &known, accept), item, &mut diff);
    }
    put_clouds(&mut diff);
    diff.left_out.sort_by_key(|left_out| left_out.line);
    diff.rejected.sort_by_key(|rejected| rejected.line);
    diff
}

/// What a row is held against.
struct KnownItem<'a> {
    item: Option<&'a Item>,
    ranges: &'a Ranges<'a>,
    /// Source of what the table says.
    source: &'a Arc<Source>,
}

/// A row held against what is known.
struct WeighedRow {
    row: TableRow,
    changes: Vec<FigureChange>,
    /// Why it is not taken.
    why: Option<String>,
    doubted: Vec<DoubtedFigure>,
}

fn weigh(mut row: TableRow, known: &KnownItem<'_>, accept: bool) -> WeighedRow {
    let KnownItem { item, ranges, source } = *known;
    if let Some(item) = item {
        fold_shared(&mut row, item);
    }
    let mut changes = Vec::new();
    let mut fresh: Vec<(&'static Column, Figure)> = Vec::new();
    let mut why = None;
    for (name, cell) in &mut row.cells {
        let Some(column) = super::column(name) else { continue };
        let mut after = match Figure::read(cell, column.unit, None, source) {
            Ok(after) => after,
            Err(error) => {
                why.get_or_insert(format!("{name}: {error}"));
                continue;
            }
        };
        let all = item.map_or(&[][..], |item| figures_of(item, column.property));
        settle_unit(&mut after, cell, all, source);
        let Some(before) = all.first() else {
            fresh.push((column, after.clone()));
            changes.push(FigureChange {
                name: row.name.clone(),
                property: column.property.to_owned(),
                before: None,
                after,
            });
            continue;
        };
        if !accept && let Some(reason) = disagrees(before, &after) {
            why.get_or_insert(format!("{name} is {after}, known is {before} {reason}"));
        }
        let is_same = all.iter().any(|known| known.per_s == after.per_s)
            || before.range().contains(&after.per_s);
        if !is_same {
            let before = Some(before.clone());
            let (name, property) = (row.name.clone(), column.property.to_owned());
            changes.push(FigureChange { name, property, before, after });
        }
    }
    let machine = Cloud::of_machine(&row.name).filter(|_| row.kind == TableKind::Disks);
    if let Some(cloud) = machine.filter(|_| item.is_none() && !accept) {
        why.get_or_insert(format!(
            "it is named as machine sizes of {cloud} are, but the table has disks: for a machine \
            write `uncached_iops` and `uncached_mb_s`"
        ));
    }
    if let Some(other) = of_another_cloud(&row) {
        why.get_or_insert(other);
    }
    let doubted = doubts(&fresh, item, ranges);
    if !accept && !doubted.is_empty() {
        let columns: Vec<&str> = doubted.iter().map(|(column, ..)| *column).collect();
        why.get_or_insert(format!("implausible: {}", columns.join(", ")));
    }
    let doubted = doubted.into_iter().map(|(column, figure, why)| DoubtedFigure {
        line: row.line,
        name: row.name.clone(),
        column,
        figure,
        why,
    });
    let doubted = doubted.collect();
    WeighedRow { row, changes, why, doubted }
}

/// Says which figure of a machine only those of another cloud have: nothing would use it.
fn of_another_cloud(row: &TableRow) -> Option<String> {
    if row.kind != TableKind::Vms {
        return None;
    }
    let named = row.cells.get(CLOUD).and_then(|word| Cloud::from_text(word));
    let own = named.unwrap_or_else(|| cloud(&row.name, row.kind));
    let columns = row.cells.keys().filter_map(|name| super::column(name));
    let mut others = columns.filter_map(|column| Some((column.name, column.cloud_of_machines()?)));
    let (name, other) = others.find(|(_, cloud)| *cloud != own)?;
    Some(format!(
        "`{name}` is a figure of machines of {other}, and this one is of {own}: write \
         `uncached_iops` and `uncached_mb_s`"
    ))
}

/// Puts a row where it belongs.
fn put(weighed: WeighedRow, item: Option<&Item>, diff: &mut TableDiff) {
    let WeighedRow { mut row, changes, why, doubted } = weighed;
    diff.doubted.extend(doubted);
    if let Some(why) = why {
        diff.rejected.push(RejectedRow { line: row.line, name: row.name, why });
        return;
    }
    match item {
        None => diff.new.push(row.clone()),
        Some(item) => {
            if changes.is_empty() {
                diff.n_same += 1;
            } else {
                diff.changed.extend(changes);
            }
            // A table may have another name for it, and not say whose it is.
            row.name.clone_from(&item.name);
            if let Some(cloud) = item.word(CLOUD) {
                row.cells.insert(CLOUD, cloud.to_owned());
            }
        }
    }
    diff.taken.push(row);
}

/// What reads and writes share where they have no limits of their own.
const SHARED: &str = "iops_per_gib";

/// The same of each direction, where they have.
const OF_DIRECTIONS: [&str; 2] = ["read_iops_per_gib", "write_iops_per_gib"];

/// Returns what is known of a property: of a direction what both share, if that is how it is known.
fn figures_of<'i>(item: &'i Item, property: &str) -> &'i [Figure] {
    let own = item.figures_of(property);
    let is_shared = own.is_empty() && OF_DIRECTIONS.contains(&property);
    if is_shared { item.figures_of(SHARED) } else { own }
}

/// Makes one figure of two equal ones for reads and writes where the item is known to have one.
fn fold_shared(row: &mut TableRow, item: &Item) {
    let is_shared = item.figure(SHARED).is_some()
        && OF_DIRECTIONS.iter().all(|property| item.figure(property).is_none());
    let cells = OF_DIRECTIONS.map(|column| row.cells.get(column));
    if let ([Some(read), Some(write)], true) = (cells, is_shared)
        && read == write
    {
        let both = read.clone();
        row.cells.retain(|column, _| !OF_DIRECTIONS.contains(column));
        row.cells.entry(SHARED).or_insert(both);
    }
}

/// Finds out what an unclear MB is where the bytes are known from elsewhere.
fn settle_unit(after: &mut Figure, cell: &mut String, known: &[Figure], source: &Arc<Source>) {
    if after.exactness != Exactness::UnitUnclear {
        return;
    }
    let is_clear = |figure: &&Figure| figure.exactness != Exactness::UnitUnclear;
    let Some(clear) = known.iter().find(is_clear).map(Figure::range) else { return };
    for bytes in MB_BYTES {
        if clear.contains(&((after.value * bytes as f64).round() as u64)) {
            let settled = format!("{cell}*{bytes}");
            if let Ok(figure) = Figure::read(&settled, after.unit, None, source) {
                (*after, *cell) = (figure, settled);
            }
            return;
        }
    }
}

/// Writes rows of one kind as a table of the catalogue, with `source` as their source's key.
/// Returns nothing if there is none of the kind.
pub fn table(rows: &[TableRow], kind: TableKind, source: &str) -> Option<String> {
    let rows: Vec<&TableRow> = rows.iter().filter(|row| row.kind == kind).collect();
    let columns: BTreeSet<&'static str> =
        rows.iter().flat_map(|row| row.cells.keys().copied()).filter(|it| *it != CLOUD).collect();
    if columns.is_empty() {
        return None;
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let first: &[&str] = if kind == TableKind::Network { &["scope"] } else { &["name", "cloud"] };
    let header = first.iter().copied().chain(columns.iter().copied()).chain(["source"]);
    let mut is_written = writer.write_record(header).is_ok();
    for row in rows {
        let cell = |column: &&'static str| row.cells.get(column).map_or("", String::as_str);
        let cells = columns.iter().map(cell);
        let named = [row.name.as_str(), cell(&CLOUD)].into_iter().take(first.len());
        let record = named.chain(cells).chain([source]);
        is_written &= writer.write_record(record).is_ok();
    }
    let bytes = writer.into_inner().ok().filter(|_| is_written)?;
    String::from_utf8(bytes).ok()
}

/// Returns the table of sources with one more, which replaces one of the same key.
pub fn with_source(before: &str, key: &str, title: &str, date: &str) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(before.as_bytes());
    for record in reader.records().flatten().filter(|record| record.get(0) != Some(key)) {
        rows.push(record.iter().map(ToOwned::to_owned).collect());
    }
    rows.push([key, title, "", date].map(ToOwned::to_owned).to_vec());
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    let header = ["key", "title", "licence", "date"].map(ToOwned::to_owned).to_vec();
    for row in std::iter::once(&header).chain(&rows) {
        writer.write_record(row).expect("writing to memory");
    }
    let bytes = writer.into_inner().expect("writing to memory");
    String::from_utf8(bytes).expect("it was made of text")
}

/// Distinguishes clouds by how they spell machine sizes: `m5.large`, `n2-standard-16`. What has no
/// such name is Azure's.
fn cloud(name: &str, kind: TableKind) -> Cloud {
    match kind {
        TableKind::Vms | TableKind::Prices => Cloud::of_machine(name).unwrap_or(Cloud::Azure),
        TableKind::Disks | TableKind::Network => Cloud::Azure,
    }
}

/// Says whose each row is. A table of disks is of one cloud: what does not say is of that of the
/// others.
fn put_clouds(diff: &mut TableDiff) {
    let mut disks = diff.taken.iter().filter(|row| row.kind == TableKind::Disks);
    let of_disks = disks.find_map(|row| row.cells.get(CLOUD)).cloned();
    for row in diff.taken.iter_mut().chain(&mut diff.new) {
        let others = of_disks.as_deref().filter(|_| row.kind == TableKind::Disks);
        if row.kind != TableKind::Network && !row.cells.contains_key(CLOUD) {
            let cloud = others.unwrap_or_else(|| cloud(&row.name, row.kind).as_str()).to_owned();
            row.cells.insert(CLOUD, cloud);
        }
    }
}
