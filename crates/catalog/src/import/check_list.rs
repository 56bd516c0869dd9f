//! What imported prices and facts say that the catalogue does not.

use std::sync::Arc;

use super::check::{Change, Report, disagrees};
use super::{Rejected, Row};
use crate::column::Unit;
use crate::edition::Edition;
use crate::figure::{Figure, Source};

/// How many times a known price, or which part of it, is believed: a price per hour taken for one
/// per month is off by more than 700.
const REACH: f64 = 10.0;

/// A price that differs from what is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Repriced {
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

/// Compares one price with those of the same thing, amount and region.
pub(super) fn compare_price(row: Row, edition: &Edition, accept: bool, report: &mut Report) {
    let cell = |name: &str| row.cells.get(name).map_or("", String::as_str);
    let (per, region) = (cell("per").to_owned(), cell("region").to_owned());
    let rejected = |why: String| Rejected { line: row.line, name: row.name.clone(), why };
    let after_usd = match cell("usd").parse::<f64>() {
        Ok(usd) if usd > 0.0 && usd < 1e9 => usd,
        _ => {
            report.rejected.push(rejected(format!("`{}` is not a price", cell("usd"))));
            return;
        }
    };
    let known: Vec<f64> = edition
        .prices_of(&row.name)
        .filter(|price| *price.per == *per && price.region.as_deref().unwrap_or("") == region)
        .map(|price| price.usd)
        .collect();
    let Some(before_usd) = known.first().copied() else {
        report.new.push(row.clone());
        report.taken.push(row);
        return;
    };
    if known.iter().any(|usd| (usd - after_usd).abs() <= 1e-9 * usd) {
        report.n_same += 1;
    } else {
        let share = after_usd / before_usd;
        if !accept && !(1.0 / REACH..=REACH).contains(&share) {
            let why = format!("hard to believe: {after_usd} USD, known are {before_usd} per {per}");
            report.rejected.push(rejected(why));
            return;
        }
        let name = row.name.clone();
        report.repriced.push(Repriced { name, per, region, before_usd, after_usd });
    }
    report.taken.push(row);
}

/// Compares one fact about network volumes.
pub(super) fn compare_fact(
    mut row: Row,
    edition: &Edition,
    accept: bool,
    source: &Arc<Source>,
    report: &mut Report,
) {
    let name = row.name.clone();
    let told = |why: String| Rejected { line: row.line, name: name.clone(), why };
    let own = row.cells.remove("edition").filter(|own| own != edition.info.name);
    if let Some(own) = own {
        report.left_out.push(told(format!("of edition {own}, not {}", edition.info.name)));
        return;
    }
    let cell = |name: &str| row.cells.get(name).map_or("", String::as_str);
    let (parameter, unit) = (cell("parameter").to_owned(), cell("unit"));
    let figure = Unit::from_text(unit)
        .ok_or_else(|| format!("unknown unit `{unit}`"))
        .and_then(|unit| Figure::read(cell("value"), unit, None, source));
    let after = match figure {
        _ if parameter.is_empty() => {
            report.rejected.push(told("no parameter".to_owned()));
            return;
        }
        Ok(after) => after,
        Err(why) => {
            report.rejected.push(told(format!("{parameter}: {why}")));
            return;
        }
    };
    let is_it = |scope: &str, of: &str| scope == row.name && of == parameter;
    let facts = edition.network_volumes().iter();
    let known: Vec<&Figure> =
        facts.filter(|fact| is_it(&fact.scope, &fact.parameter)).map(|fact| &fact.figure).collect();
    let Some(before) = known.first().copied() else {
        report.new.push(row.clone());
        report.taken.push(row);
        return;
    };
    if known.iter().any(|figure| figure.per_s == after.per_s) {
        report.n_same += 1;
    } else {
        if let Some(reason) = disagrees(before, &after).filter(|_| !accept) {
            let why = format!("{parameter} is {after}, known is {before} {reason}");
            report.rejected.push(told(why));
            return;
        }
        let before = Some(before.clone());
        report.changed.push(Change { name: row.name.clone(), property: parameter, before, after });
    }
    report.taken.push(row);
}
