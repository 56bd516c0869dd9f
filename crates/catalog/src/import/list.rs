//! Lists whose lines are no items with figures: prices, and facts about network volumes.

use std::collections::BTreeMap;

use super::header::{self, ColumnTarget};
use super::{ReadTable, RejectedRow, TableKind, TableRow, cell};
use crate::packed::EDITIONS;

/// Columns of a price as other lists call them: how much it is for, where the name says so.
const PRICES: [(&str, &str); 9] = [
    ("usd", ""),
    ("price", ""),
    ("usd_per_hour", "hour"),
    ("usd_per_hour_linux", "hour"),
    ("usd_per_month", "month"),
    ("usd_per_month_printed", "month"),
    ("usd_per_gb_month", "GB-month"),
    ("usd_per_gib_month", "GiB-month"),
    ("usd_per_gib_hour", "GiB-hour"),
];

/// What the columns of a list are, by their place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct List {
    kind: TableKind,
    name: usize,
    columns: Vec<(&'static str, usize)>,
    /// What a price is for, where its column says so.
    per: &'static str,
    /// Its name states the currency.
    is_in_usd: bool,
    /// How many the price is for, where a column says so.
    quantity: Option<usize>,
    /// The edition that a fact belongs to.
    edition: Option<usize>,
}

impl List {
    /// Finds the columns of a list; `None` for a table of another kind.
    pub(super) fn of(names: &csv::StringRecord) -> Option<Self> {
        let at = |name: &str| names.iter().position(|column| column.trim() == name);
        let present = |columns: &[&'static str]| -> Vec<(&'static str, usize)> {
            columns.iter().filter_map(|name| Some((*name, at(name)?))).collect()
        };
        if let (Some(name), Some(_), Some(_)) = (at("scope"), at("parameter"), at("value")) {
            let columns = present(&["parameter", "value", "unit"]);
            return Some(List {
                kind: TableKind::Network,
                name,
                columns,
                per: "",
                is_in_usd: false,
                quantity: None,
                edition: at("edition"),
            });
        }
        // A table of disks or machines may have prices in it; they are no list of prices.
        let is_figure = |name: &str| match header::of_csv(name.trim()) {
            ColumnTarget::One(column) => !column.starts_with("size"),
            // Pages in Markdown alone have columns of two.
            ColumnTarget::Name
            | ColumnTarget::Pair(..)
            | ColumnTarget::Second(_)
            | ColumnTarget::Nothing => false,
        };
        if names.iter().any(is_figure) {
            return None;
        }
        let name = header::NAMES.iter().chain(&["item"]).find_map(|name| at(name))?;
        let (column, per) = PRICES.iter().find(|(column, _)| at(column).is_some())?;
        let mut columns = present(&["part", "above", "up_to", "per", "term", "region", "currency"]);
        columns.insert(0, ("usd", at(column)?));
        let is_in_usd = column.starts_with("usd");
        let (kind, quantity, edition) = (TableKind::Prices, at("quantity"), None);
        Some(List { kind, name, columns, per, is_in_usd, quantity, edition })
    }

    /// Returns whether a column of the table has a place in the catalogue.
    pub(super) fn keeps(&self, idx: usize) -> bool {
        idx == self.name
            || Some(idx) == self.edition
            || Some(idx) == self.quantity
            || self.columns.iter().any(|(_, column)| *column == idx)
    }

    /// Reads one line into `read`.
    pub(super) fn line(&self, record: &csv::StringRecord, line: u64, read: &mut ReadTable) {
        let text = |idx: usize| record.get(idx).unwrap_or("").trim();
        let name = text(self.name).to_owned();
        let reported = |why: &str| RejectedRow { line, name: name.clone(), why: why.to_owned() };
        if name.is_empty() {
            read.rejected.push(reported("no name"));
            return;
        }
        let mut cells: BTreeMap<&'static str, String> = self
            .columns
            .iter()
            .map(|(column, idx)| (*column, text(*idx).to_owned()))
            .filter(|(_, cell)| !cell.is_empty())
            .collect();
        if self.kind == TableKind::Prices {
            match cells.get("usd").map_or(Ok(None), |usd| cell::number(usd)) {
                // A price of nothing is how lists say that they have none.
                Ok(None) => read.left_out.push(reported("no price")),
                Err(why) => read.rejected.push(reported(&why)),
                Ok(Some(usd)) => {
                    let usd = match self.quantity.map(|idx| of_one(&usd, text(idx))) {
                        None => usd,
                        Some(Some(of_one)) => of_one,
                        Some(None) => {
                            read.left_out.push(reported("its quantity is not stated"));
                            return;
                        }
                    };
                    cells.insert("usd", usd);
                    if self.is_in_usd {
                        cells.entry("currency").or_insert_with(|| "USD".to_owned());
                    }
                    if !self.per.is_empty() {
                        cells.insert("per", self.per.to_owned());
                    }
                    if cells.contains_key("per") {
                        read.rows.push(TableRow { line, kind: self.kind, name, cells });
                    } else {
                        read.rejected.push(reported("its time or quantity is not stated"));
                    }
                }
            }
            return;
        }
        if let Some(edition) = self.edition.map(text).filter(|edition| !edition.is_empty()) {
            let known = EDITIONS.iter().find(|info| info.is_called(edition));
            cells.insert("edition", known.map_or(edition, |info| info.name).to_owned());
        }
        read.rows.push(TableRow { line, kind: self.kind, name, cells });
    }
}

/// Returns the price of one of several; `None` if it is not said how many they are.
fn of_one(usd: &str, quantity: &str) -> Option<String> {
    let quantity: f64 = cell::number(quantity).ok()??.parse().ok()?;
    let usd: f64 = usd.parse().ok()?;
    // The hundredth part of what printed prices are rounded to, without the noise of dividing.
    Some(format!("{:.6}", usd / quantity).trim_end_matches('0').trim_end_matches('.').to_owned())
}
