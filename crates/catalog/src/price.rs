//! Prices, each of one day and one origin. None is current by contract.

use std::sync::Arc;

use crate::error::CatalogError;
use crate::figure::Source;
use crate::table::{self, Sources, TableFile};

/// One published price.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// What is bought: a machine size, a disk tier or type, a service level.
    pub name: Arc<str>,
    /// Amount in US dollars, if the currency is stated; else in what is likely US dollars.
    pub usd: f64,
    /// For how long or how much: `hour`, `month`, `GiB-hour`, `GB-month`, `IOPS-month`.
    pub per: Arc<str>,
    /// Region, if stated.
    pub region: Option<Arc<str>>,
    /// Whether the source states the currency.
    pub is_currency_stated: bool,
    /// Where it comes from.
    pub source: Arc<Source>,
    /// What the source adds; may be empty.
    pub note: String,
}

/// Reads a table with one price per line.
pub(crate) fn prices(
    file: TableFile<'_>,
    sources: &Sources,
    errors: &mut Vec<CatalogError>,
) -> Vec<Price> {
    let read = table::lines(file, errors);
    let mut prices = Vec::new();
    for (line, cells) in &read.lines {
        let cell = |name: &str| read.cell(cells, name);
        let price = || -> Result<Price, String> {
            let source = table::source_of(&read, cells, sources)?;
            let name = cell("name").ok_or("no name")?;
            Ok(Price {
                name: name.into(),
                usd: amount(cell("usd").unwrap_or(""))?,
                per: cell("per").ok_or("no `per`")?.into(),
                region: cell("region").map(Into::into),
                is_currency_stated: cell("currency") == Some("USD"),
                source: Arc::clone(source),
                note: cell("note").unwrap_or("").to_owned(),
            })
        };
        match price() {
            Ok(price) => prices.push(price),
            Err(what) => errors.push(CatalogError::new(file.path, *line, what)),
        }
    }
    prices
}

/// Reads a table with one machine size per line and a column per region, in dollars per hour.
pub(crate) fn hourly(
    file: TableFile<'_>,
    sources: &Sources,
    errors: &mut Vec<CatalogError>,
) -> Vec<Price> {
    let read = table::lines(file, errors);
    let per: Arc<str> = "hour".into();
    let regions: Vec<Arc<str>> = read.header.iter().map(|name| name.as_str().into()).collect();
    let mut prices = Vec::new();
    for (line, cells) in &read.lines {
        let name: Arc<str> = read.cell(cells, "name").unwrap_or("").into();
        let source = match table::source_of(&read, cells, sources) {
            Ok(source) => source,
            Err(what) => {
                errors.push(CatalogError::new(file.path, *line, what));
                continue;
            }
        };
        for (region, cell) in regions.iter().zip(cells) {
            if matches!(&**region, "name" | "source") || cell.is_empty() {
                continue;
            }
            match amount(cell) {
                Ok(usd) => prices.push(Price {
                    name: Arc::clone(&name),
                    usd,
                    per: Arc::clone(&per),
                    region: Some(Arc::clone(region)),
                    is_currency_stated: true,
                    source: Arc::clone(source),
                    note: String::new(),
                }),
                Err(what) => errors.push(CatalogError::new(file.path, *line, what)),
            }
        }
    }
    prices
}

/// Reads an amount. A price of nothing is not a price: it is how lists say "not for sale yet".
fn amount(text: &str) -> Result<f64, String> {
    let usd: f64 = text.parse().map_err(|_| format!("`{text}` is not an amount"))?;
    if usd > 0.0 && usd < 1e9 { Ok(usd) } else { Err(format!("`{text}` is not a price")) }
}
