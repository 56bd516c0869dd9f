//! What imported prices and facts say that the catalogue does not.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::dates::{ItemKey, item_key};
use super::diff::{FigureChange, PriceChange, TableDiff, disagrees};
use super::{RejectedRow, TableKind, TableRow};
use crate::column::Unit;
use crate::edition::Edition;
use crate::figure::{Figure, Source};
use crate::price::{Price, QuantityBand, Term};
use crate::price_per::Part;

/// A price is accepted between this part and this multiple of the known one: a price per hour taken
/// for one per month is off by more than 700.
const REACH: f64 = 10.0;

/// Hours of a month as price lists count them: 31 days, and the twelfth of a year.
const HOURS_PER_MONTH: [f64; 2] = [744.0, 730.0];

/// Returns whether a price per month, in whole cents, is that of one per hour.
fn is_month_of(usd_per_hour: f64, usd_per_month: f64) -> bool {
    let month = |hours: f64| (usd_per_hour * hours - usd_per_month).abs() <= 0.005 + 1e-9;
    HOURS_PER_MONTH.into_iter().any(month)
}

/// Takes out prices that contradict another one of the same thing in the table, but for those that
/// are known: nothing says which one counts.
pub(super) fn without_contradictions(
    rows: Vec<TableRow>,
    edition: &Edition,
    diff: &mut TableDiff,
) -> Vec<TableRow> {
    let mut first: BTreeMap<ItemKey, Vec<(String, u64)>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind == TableKind::Prices) {
        let usd = row.cells.get("usd").cloned().unwrap_or_default();
        first.entry(item_key(row)).or_default().push((usd, row.line));
    }
    let (mut kept, mut rejected) = (Vec::new(), Vec::new());
    for row in rows {
        let usd = row.cells.get("usd").map_or("", String::as_str);
        let other = first
            .get(&item_key(&row))
            .and_then(|all| all.iter().find(|(other, _)| !is_same_price(usd, other)));
        match other {
            Some((other, line)) if !is_known(&row, edition) => {
                let why = format!(
                    "{usd} USD here and {other} in line {line}, and there is no date to choose \
                    by: keep only the right one"
                );
                rejected.push(RejectedRow { line: row.line, name: row.name, why });
            }
            _ => kept.push(row),
        }
    }
    diff.rejected.extend(rejected);
    kept
}

fn is_same_price(usd: &str, other: &str) -> bool {
    usd == other || usd.parse::<f64>().ok() == other.parse::<f64>().ok()
}

/// Returns whether an edition has this price of this thing.
fn is_known(row: &TableRow, edition: &Edition) -> bool {
    let Ok(usd) = row.cells.get("usd").map_or("", String::as_str).parse::<f64>() else {
        return false;
    };
    let Ok(meter) = PriceKey::of(row) else { return false };
    let mut known = edition.prices_of(&row.name).filter(|price| meter.is_of(price));
    known.any(|price| (price.usd - usd).abs() <= 1e-9 * usd)
}

/// What a row is the price of, beside the name.
struct PriceKey<'r> {
    part: Part,
    band: QuantityBand,
    term: Term,
    per: &'r str,
    region: &'r str,
}

impl<'r> PriceKey<'r> {
    fn of(row: &'r TableRow) -> Result<Self, String> {
        let cell = |name: &str| row.cells.get(name).map(String::as_str);
        let per = cell("per").unwrap_or("");
        Ok(PriceKey {
            part: Part::read(cell("part").unwrap_or(""), per)?,
            band: QuantityBand::read(cell("above"), cell("up_to"))?,
            term: cell("term").map_or(Ok(Term::OnDemand), Term::from_text)?,
            per,
            region: cell("region").unwrap_or(""),
        })
    }

    /// Returns whether a price is for the same. Only one that says above what it counts is held
    /// against another that does.
    fn is_of(&self, price: &Price) -> bool {
        (price.part, price.term) == (self.part, self.term)
            && (self.band == QuantityBand::ALL || price.band == self.band)
            && *price.per == *self.per
            && price.region.as_deref().unwrap_or("") == self.region
    }
}

/// Compares one price with those of the same thing, amount and region.
pub(super) fn compare_price(row: TableRow, edition: &Edition, accept: bool, diff: &mut TableDiff) {
    let cell = |name: &str| row.cells.get(name).map_or("", String::as_str);
    let rejected = |why: String| RejectedRow { line: row.line, name: row.name.clone(), why };
    let after_usd = match cell("usd").parse::<f64>() {
        Ok(usd) if usd > 0.0 && usd < 1e9 => usd,
        _ => {
            diff.rejected.push(rejected(format!("`{}` is not a price", cell("usd"))));
            return;
        }
    };
    let meter = match PriceKey::of(&row) {
        Ok(meter) => meter,
        Err(why) => {
            diff.rejected.push(rejected(why));
            return;
        }
    };
    let (per, region) = (meter.per.to_owned(), meter.region.to_owned());
    let prices = || edition.prices_of(&row.name);
    let known: Vec<f64> =
        prices().filter(|price| meter.is_of(price)).map(|price| price.usd).collect();
    let hourly = PriceKey { per: "hour", ..meter };
    let is_hourly = |price: &&Price| per == "month" && hourly.is_of(price);
    let is_known = prices().filter(is_hourly).any(|price| is_month_of(price.usd, after_usd));
    if known.is_empty() && is_known {
        diff.n_same += 1;
        diff.taken.push(row);
        return;
    }
    let Some(before_usd) = known.first().copied() else {
        diff.new.push(row.clone());
        diff.taken.push(row);
        return;
    };
    if known.iter().any(|usd| (usd - after_usd).abs() <= 1e-9 * usd) {
        diff.n_same += 1;
    } else {
        let share = after_usd / before_usd;
        if !accept && !(1.0 / REACH..=REACH).contains(&share) {
            let why = format!("implausible: {after_usd} USD, known are {before_usd} per {per}");
            diff.rejected.push(rejected(why));
            return;
        }
        let name = row.name.clone();
        diff.repriced.push(PriceChange { name, per, region, before_usd, after_usd });
    }
    diff.taken.push(row);
}

/// Returns the unit of a fact, as the catalogue writes it or as pages do.
fn unit_of(text: &str) -> Result<Unit, String> {
    let of_what = text.strip_suffix(" of pool").unwrap_or(text);
    let unit = match of_what {
        "bytes" => Some(Unit::Bytes),
        "connections" => Some(Unit::Count),
        _ => Unit::from_text(of_what),
    };
    unit.ok_or_else(|| format!("unknown unit `{text}`"))
}

/// Compares one fact about network volumes.
pub(super) fn compare_fact(
    mut row: TableRow,
    edition: &Edition,
    accept: bool,
    source: &Arc<Source>,
    diff: &mut TableDiff,
) {
    let name = row.name.clone();
    let reported = |why: String| RejectedRow { line: row.line, name: name.clone(), why };
    let own = row.cells.remove("edition").filter(|own| own != edition.info.name);
    if let Some(own) = own {
        diff.left_out.push(reported(format!("of edition {own}, not {}", edition.info.name)));
        return;
    }
    let cell = |name: &str| row.cells.get(name).cloned().unwrap_or_default();
    let (parameter, value, unit) = (cell("parameter"), cell("value"), cell("unit"));
    let figure = unit_of(&unit).and_then(|unit| {
        row.cells.insert("unit", unit.as_str().to_owned());
        Figure::read(&value, unit, None, source)
    });
    let after = match figure {
        _ if parameter.is_empty() => {
            diff.rejected.push(reported("no parameter".to_owned()));
            return;
        }
        Ok(after) => after,
        Err(why) => {
            diff.rejected.push(reported(format!("{parameter}: {why}")));
            return;
        }
    };
    let is_it = |scope: &str, of: &str| scope == row.name && of == parameter;
    let facts = edition.network_volumes().iter();
    let known: Vec<&Figure> =
        facts.filter(|fact| is_it(&fact.scope, &fact.parameter)).map(|fact| &fact.figure).collect();
    let Some(before) = known.first().copied() else {
        diff.new.push(row.clone());
        diff.taken.push(row);
        return;
    };
    if known.iter().any(|figure| figure.per_s == after.per_s) {
        diff.n_same += 1;
    } else {
        if let Some(reason) = disagrees(before, &after).filter(|_| !accept) {
            let why = format!("{parameter} is {after}, known is {before} {reason}");
            diff.rejected.push(reported(why));
            return;
        }
        let before = Some(before.clone());
        diff.changed.push(FigureChange {
            name: row.name.clone(),
            property: parameter,
            before,
            after,
        });
    }
    diff.taken.push(row);
}
