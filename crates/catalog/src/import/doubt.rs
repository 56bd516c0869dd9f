//! Figures of which nothing is known yet, held against what is known of others.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::column::Column;
use crate::figure::Figure;
use crate::item::Item;

/// A figure is plausible up to this multiple of the largest known one, and down to this part of the
/// smallest. Sizes grow by two to four times from one generation to the next; a wrong unit is off
/// by 1,000.
const REACH: u64 = 10;

/// Bytes of the I/O at which both caps of a pair bind: from a sector to beyond the largest requests
/// that systems make. Outside one of the two caps could never be met.
const IO_BYTES: RangeInclusive<f64> = 512.0..=4_194_304.0;

/// A figure that was unknown, and for which the table has an implausible value.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubtedFigure {
    /// Line of the table, from 1.
    pub line: u64,
    /// Name of the tier or size.
    pub name: String,
    /// Column of our own layout.
    pub column: &'static str,
    /// What the table says.
    pub figure: Figure,
    /// What is wrong with it.
    pub why: String,
}

/// Least and most of one property over an edition.
struct Range<'a> {
    least: &'a Figure,
    most: &'a Figure,
}

/// What the disks, or the machines, of an edition have: by property.
pub(super) struct Ranges<'a>(BTreeMap<&'static str, Range<'a>>);

impl<'a> Ranges<'a> {
    pub(super) fn of(items: impl Iterator<Item = &'a Item>) -> Self {
        let mut ranges: BTreeMap<&'static str, Range<'a>> = BTreeMap::new();
        for (property, figures) in items.flat_map(Item::figures) {
            for figure in figures {
                let range =
                    ranges.entry(pooled(property)).or_insert(Range { least: figure, most: figure });
                if figure.per_s < range.least.per_s {
                    range.least = figure;
                }
                if figure.per_s > range.most.per_s {
                    range.most = figure;
                }
            }
        }
        Ranges(ranges)
    }
}

/// Returns the implausible figures of a row. `fresh` are those of properties that were unknown; the
/// others are in `known`.
pub(super) fn doubts(
    fresh: &[(&'static Column, Figure)],
    known: Option<&Item>,
    ranges: &Ranges<'_>,
) -> Vec<(&'static str, Figure, String)> {
    let mut whys: Vec<Option<String>> =
        fresh.iter().map(|(column, figure)| out_of_range(column, figure, ranges)).collect();
    for (idx, (column, figure)) in fresh.iter().enumerate() {
        let Some(partner) = partner(column.property) else { continue };
        let partner_idx = fresh.iter().position(|(other, _)| other.property == partner);
        // What is doubted already makes its partner no worse.
        if whys[idx].is_some() || partner_idx.is_some_and(|idx| whys[idx].is_some()) {
            continue;
        }
        let other = match partner_idx {
            Some(idx) => Some(&fresh[idx].1),
            None => known.and_then(|item| item.figure(&partner)),
        };
        whys[idx] = other.and_then(|other| odd_pair(column, figure, other));
    }
    let found = fresh.iter().zip(whys);
    found.filter_map(|((column, figure), why)| Some((column.name, figure.clone(), why?))).collect()
}

fn out_of_range(column: &Column, figure: &Figure, ranges: &Ranges<'_>) -> Option<String> {
    // What is not limited, or not known, has no cell.
    if figure.per_s == 0 {
        return Some("is nothing".to_owned());
    }
    let Range { least, most } = ranges.0.get(pooled(column.property))?;
    if figure.per_s > most.per_s.saturating_mul(REACH) {
        return Some(format!("is more than {REACH} times the most known, {most}"));
    }
    let is_less = figure.per_s.saturating_mul(REACH) < least.per_s;
    is_less.then(|| format!("is less than a tenth of the least known, {least}"))
}

/// Returns the property that figures of several are held against together: a limit of reads is no
/// other thing than one that reads and writes share.
fn pooled(property: &'static str) -> &'static str {
    match property {
        "read_iops_per_gib" | "write_iops_per_gib" => "iops_per_gib",
        own => own,
    }
}

/// Returns the bytes per second that go with operations per second, and the other way round.
fn partner(property: &str) -> Option<String> {
    let other = |from: &str, to: &str| property.contains(from).then(|| property.replace(from, to));
    // Rules of disks whose limits are chosen give one by the other.
    if property.contains("_per_iops") || property.contains("iops_per_") {
        return None;
    }
    other("iops", "throughput").or_else(|| other("throughput", "iops"))
}

/// Returns why two caps cannot be of one disk or machine.
fn odd_pair(column: &Column, figure: &Figure, other: &Figure) -> Option<String> {
    let is_iops = column.property.contains("iops");
    let (iops, bytes) = if is_iops { (figure, other) } else { (other, figure) };
    if iops.per_s == 0 || bytes.per_s == 0 {
        return None;
    }
    let io_bytes = bytes.per_s as f64 / iops.per_s as f64;
    let is_odd = !IO_BYTES.contains(&io_bytes);
    is_odd.then(|| {
        format!(
            "with {other} makes {io_bytes:.0} bytes per operation, expected {} to {}",
            IO_BYTES.start(),
            IO_BYTES.end()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule that our own figures break would be none.
    #[test]
    fn nothing_that_is_known_is_doubted() {
        for edition in ["2018", "current"] {
            let edition = crate::edition(edition).expect("an edition");
            let disks = edition.disks().iter().map(|disk| &**disk);
            let items = disks.chain(edition.vms().iter().map(|vm| &**vm));
            for item in items {
                let figures: Vec<_> = item
                    .figures()
                    .filter_map(|(property, figures)| {
                        let column =
                            crate::column::COLUMNS.iter().find(|it| it.property == property)?;
                        Some((column, figures.first()?.clone()))
                    })
                    .collect();
                let found = doubts(&figures, None, &Ranges(BTreeMap::new()));
                assert!(found.is_empty(), "{}: {found:?}", item.name);
            }
        }
    }
}
