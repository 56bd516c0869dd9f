//! In what a published table differs from an edition.

use super::doubt::DoubtedFigure;
use super::{RejectedRow, TableRow};
use crate::column::Unit;
use crate::figure::Figure;

/// One figure that differs from what is known, or was unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureChange {
    /// Name of the tier or size.
    pub name: String,
    /// What it is a figure of.
    pub property: String,
    /// What was known.
    pub before: Option<Figure>,
    /// What the table says.
    pub after: Figure,
}

/// A price that differs from what is known.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceChange {
    /// What is bought.
    pub name: String,
    /// For how long or how much, such as `month`.
    pub per: String,
    /// Region; empty where none is stated.
    pub region: String,
    /// What was known, US dollars.
    pub before_usd: f64,
    /// What the table says, US dollars.
    pub after_usd: f64,
}

/// In what a published table differs from an edition of the catalogue, and what of it is taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableDiff {
    /// Lines read.
    pub n_lines: usize,
    /// Rows read: of disks and machines one per name.
    pub n_read: usize,
    /// Rows that agree with what is known.
    pub n_same: usize,
    /// Rows not taken, with the reason.
    pub rejected: Vec<RejectedRow>,
    /// Rows without anything that the catalogue has a place for.
    pub left_out: Vec<RejectedRow>,
    /// Names, prices and facts that the catalogue does not have.
    pub new: Vec<TableRow>,
    /// Figures that differ, or that were unknown.
    pub changed: Vec<FigureChange>,
    /// Prices that differ.
    pub repriced: Vec<PriceChange>,
    /// Figures that were unknown and are implausible. Their rows are taken only if that was asked
    /// for.
    pub doubted: Vec<DoubtedFigure>,
    /// All rows that were taken.
    pub taken: Vec<TableRow>,
}

/// How far bytes per second may differ before a row is rejected: "MB" may be up to 4.9 % more than
/// 10^6 bytes, and maps cut off fractions.
const BYTES_TOLERANCE: f64 = 0.05;

/// Returns why two figures cannot both be right.
pub(super) fn disagrees(before: &Figure, after: &Figure) -> Option<String> {
    let origin = format!("({}, {})", before.source.key, before.date());
    if before.unit == Unit::Iops {
        return (before.per_s != after.per_s).then_some(origin);
    }
    let is_rate = matches!(
        before.unit,
        Unit::MbPerS | Unit::MibPerS | Unit::MibPerSRoundedDown | Unit::BytesPerS
    );
    let (low, high) = before.range().into_inner();
    let off = if after.per_s < low {
        1.0 - after.per_s as f64 / low as f64
    } else {
        after.per_s as f64 / high as f64 - 1.0
    };
    let is_off = is_rate && off > BYTES_TOLERANCE;
    is_off.then(|| format!("{origin}: more than 5 % apart"))
}
