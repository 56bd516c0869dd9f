//! Prices, each of one day and one origin. None is current by contract.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use crate::cloud::Cloud;
use crate::error::CatalogError;
use crate::exactness::Exactness;
use crate::figure::Source;
use crate::near;
use crate::packed::{self, EditionInfo, OwnTables};
use crate::price_per::Part;
use crate::table::{self, Lines, Sources, TableFile, TableSchema};

/// Which of a part's quantity a price is for, in the unit of the price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantityBand {
    /// So much comes before it: it is free, or has a price of its own.
    pub above: f64,
    /// So much more for each GiB of capacity.
    pub above_per_gib: f64,
    /// Where it ends; infinite where it does not.
    pub up_to: f64,
}

impl QuantityBand {
    /// All of it.
    pub const ALL: QuantityBand =
        QuantityBand { above: 0.0, above_per_gib: 0.0, up_to: f64::INFINITY };

    /// Returns how much of a quantity is in it.
    pub fn of(&self, quantity: f64, capacity_gib: f64) -> f64 {
        let above = self.above + self.above_per_gib * capacity_gib;
        (quantity.min(self.up_to) - above).max(0.0)
    }

    /// Reads the cells `above` (`3000`, or `3 per GiB`) and `up_to`.
    pub(crate) fn read(above: Option<&str>, up_to: Option<&str>) -> Result<Self, String> {
        let number = |text: &str| -> Result<f64, String> {
            let value = text.trim().parse().ok().filter(|value| (0.0..1e15).contains(value));
            value.ok_or_else(|| format!("`{text}` is not a quantity"))
        };
        let mut band = QuantityBand::ALL;
        if let Some(above) = above {
            match above.strip_suffix(" per GiB") {
                Some(per_gib) => band.above_per_gib = number(per_gib)?,
                None => band.above = number(above)?,
            }
        }
        if let Some(up_to) = up_to {
            band.up_to = number(up_to)?;
        }
        if band.above >= band.up_to {
            return Err(format!("the range from {} up to {} is empty", band.above, band.up_to));
        }
        Ok(band)
    }
}

impl fmt::Display for QuantityBand {
    /// Prints ` above 3000`, ` up to 32000`, ` 32000 to 64000`; nothing for all.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.above > 0.0, self.above_per_gib > 0.0, self.up_to.is_finite()) {
            (_, true, _) => write!(f, " above {} per GiB", self.above_per_gib),
            (true, _, true) => write!(f, " {} to {}", self.above, self.up_to),
            (true, _, false) => write!(f, " above {}", self.above),
            (false, _, true) => write!(f, " up to {}", self.up_to),
            (false, _, false) => Ok(()),
        }
    }
}

/// For how long one binds oneself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// Not at all.
    #[default]
    OnDemand,
    /// One year.
    OneYear,
    /// Three years.
    ThreeYears,
}

impl Term {
    /// All of them.
    pub const ALL: [Term; 3] = units::all_of!(Term: OnDemand, OneYear, ThreeYears);

    /// Returns its word in tables and options: `on-demand`, `1y` or `3y`.
    pub fn as_str(self) -> &'static str {
        match self {
            Term::OnDemand => "on-demand",
            Term::OneYear => "1y",
            Term::ThreeYears => "3y",
        }
    }

    /// Reads a word.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let known = Term::ALL.into_iter().find(|term| term.as_str().eq_ignore_ascii_case(text));
        known.ok_or_else(|| {
            let words = Term::ALL.map(Term::as_str).join(", ");
            format!("unknown term `{text}`, expected {words}")
        })
    }
}

/// One published price.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// What is bought: a machine size, a disk tier or type, a service level.
    pub name: Arc<str>,
    /// Whose it is, where that is known.
    pub cloud: Option<Cloud>,
    /// What of it.
    pub part: Part,
    /// Which of the part's quantity.
    pub band: QuantityBand,
    /// Amount in US dollars, if the currency is stated; else in what is likely US dollars.
    pub usd: f64,
    /// For how long or how much: `hour`, `month`, `GiB-hour`, `GB-month`, `IOPS-month`.
    pub per: Arc<str>,
    /// For how long one binds oneself.
    pub term: Term,
    /// Region, if stated.
    pub region: Option<Arc<str>>,
    /// How well it is known.
    pub exactness: Exactness,
    /// Whether the source states the currency.
    pub is_currency_stated: bool,
    /// Where it comes from.
    pub source: Arc<Source>,
    /// What the source adds; may be empty.
    pub note: Arc<str>,
}

/// A part of a thing that is billed, at a price that no source gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unpriced {
    pub(crate) name: Arc<str>,
    pub(crate) part: Part,
    pub(crate) band: QuantityBand,
    pub(crate) per: Arc<str>,
}

/// What a machine of a family costs that runs all month, as a share of its hourly price times the
/// hours.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sustained {
    pub(crate) family: String,
    pub(crate) cloud: Cloud,
    pub(crate) factor: f64,
    pub(crate) source: Arc<Source>,
}

/// All prices of an edition.
#[derive(Debug, Default)]
pub(crate) struct Prices {
    all: Vec<Price>,
    of_name: HashMap<String, Vec<usize>>,
    unpriced: Vec<Unpriced>,
    sustained: Vec<Sustained>,
    regions: BTreeMap<Cloud, BTreeSet<Arc<str>>>,
}

impl Prices {
    /// Reads the prices of an edition and of the one it is based on.
    pub(crate) fn read(
        info: &'static EditionInfo,
        own: &OwnTables,
        errors: &mut Vec<CatalogError>,
    ) -> Self {
        let sources = packed::sources(own, errors);
        let mut prices = Prices::default();
        for edition in std::iter::once(info.name).chain(info.based_on) {
            packed::each_table(own, edition, TableSchema::is_of_prices, |kind, file| match kind {
                TableSchema::Prices => {
                    let (priced, unpriced) = listed(file, &sources, errors);
                    prices.all.extend(priced);
                    prices.unpriced.extend(unpriced);
                }
                TableSchema::ByRegion => prices.all.extend(by_region(file, &sources, errors)),
                TableSchema::Sustained => {
                    prices.sustained.extend(sustained(file, &sources, errors));
                }
                TableSchema::Disks | TableSchema::Vms | TableSchema::Network => {}
            });
        }
        prices.index();
        prices
    }

    fn index(&mut self) {
        let mut last: Option<(&Arc<str>, String)> = None;
        for (idx, price) in self.all.iter().enumerate() {
            // The prices of a line share their name.
            let key = match last.take() {
                Some((name, key)) if Arc::ptr_eq(name, &price.name) => key,
                Some(_) | None => near::key(&price.name),
            };
            match self.of_name.get_mut(&key) {
                Some(known) => known.push(idx),
                None => drop(self.of_name.insert(key.clone(), vec![idx])),
            }
            last = Some((&price.name, key));
            if let (Some(cloud), Some(region)) = (price.cloud, &price.region) {
                self.regions.entry(cloud).or_default().insert(Arc::clone(region));
            }
        }
    }

    pub(crate) fn all(&self) -> &[Price] {
        &self.all
    }

    /// Returns the prices of one thing, those that count first coming first.
    pub(crate) fn of(&self, name: &str) -> impl Iterator<Item = &Price> {
        let known = self.of_name.get(&near::key(name));
        known.into_iter().flatten().map(|idx| &self.all[*idx])
    }

    /// Returns the parts of one thing that are billed at a price which no source gives.
    pub(crate) fn unpriced(&self, name: &str) -> impl Iterator<Item = &Unpriced> {
        let key = near::key(name);
        self.unpriced.iter().filter(move |meter| near::key(&meter.name) == key)
    }

    /// Returns the discount of a family that runs all month.
    pub(crate) fn sustained(&self, cloud: Cloud, family: &str) -> Option<&Sustained> {
        let is_it = |it: &&Sustained| it.cloud == cloud && it.family == family;
        self.sustained.iter().find(is_it)
    }

    /// Returns the regions of a cloud.
    pub(crate) fn regions(&self, cloud: Cloud) -> impl Iterator<Item = &str> {
        self.regions.get(&cloud).into_iter().flatten().map(|region| &**region)
    }

    /// Returns a region of a cloud that is spelt so.
    pub(crate) fn region(&self, cloud: Cloud, name: &str) -> Option<&str> {
        self.regions.get(&cloud)?.get(name).map(|region| &**region)
    }
}

/// Cells that the prices of one line share.
struct LineCells {
    name: Arc<str>,
    cloud: Option<Cloud>,
    per: Arc<str>,
    term: Term,
    source: Arc<Source>,
    note: Arc<str>,
}

impl LineCells {
    fn read(read: &Lines, cells: &[String], sources: &Sources) -> Result<Self, String> {
        let cell = |name: &str| read.cell(cells, name);
        let name = cell("name").ok_or("no name")?;
        let cloud = match cell("cloud") {
            Some(word) => {
                let unknown = || format!("unknown cloud `{word}`, expected Azure, AWS or GCP");
                Some(Cloud::from_text(word).ok_or_else(unknown)?)
            }
            None => Cloud::of_machine(name),
        };
        Ok(LineCells {
            name: name.into(),
            cloud,
            per: cell("per").unwrap_or("").into(),
            term: cell("term").map_or(Ok(Term::OnDemand), Term::from_text)?,
            source: Arc::clone(table::source_of(read, cells, sources)?),
            note: cell("note").unwrap_or("").into(),
        })
    }

    fn price(&self, cell: &str, region: Option<Arc<str>>) -> Result<Price, String> {
        let (usd, exactness) = amount(cell)?;
        Ok(Price {
            name: Arc::clone(&self.name),
            cloud: self.cloud,
            part: Part::Whole,
            band: QuantityBand::ALL,
            usd,
            per: Arc::clone(&self.per),
            term: self.term,
            region,
            exactness,
            is_currency_stated: true,
            source: Arc::clone(&self.source),
            note: Arc::clone(&self.note),
        })
    }
}

/// Reads a table with one price per line. A line without an amount is of a part that is billed at
/// an unknown price.
pub(crate) fn listed(
    file: TableFile<'_>,
    sources: &Sources,
    errors: &mut Vec<CatalogError>,
) -> (Vec<Price>, Vec<Unpriced>) {
    let read = table::lines(file, errors);
    let (mut prices, mut unpriced) = (Vec::new(), Vec::new());
    for (line, cells) in &read.lines {
        let cell = |name: &str| read.cell(cells, name);
        let mut take = || -> Result<(), String> {
            let of_line = LineCells::read(&read, cells, sources)?;
            if of_line.per.is_empty() {
                return Err("no `per`".to_owned());
            }
            let part = Part::read(cell("part").unwrap_or(""), &of_line.per)?;
            let band = QuantityBand::read(cell("above"), cell("up_to"))?;
            let Some(usd) = cell("usd") else {
                let LineCells { name, per, .. } = of_line;
                unpriced.push(Unpriced { name, part, band, per });
                return Ok(());
            };
            let price = of_line.price(usd, cell("region").map(Into::into))?;
            let is_currency_stated = cell("currency") == Some("USD");
            prices.push(Price { part, band, is_currency_stated, ..price });
            Ok(())
        };
        if let Err(what) = take() {
            errors.push(CatalogError::new(file.path, *line, what));
        }
    }
    (prices, unpriced)
}

/// Columns of a table by region that are no region.
const NO_REGIONS: [&str; 6] = ["name", "cloud", "source", "term", "per", "note"];

/// Reads a table with one machine size per line and a column per region, in dollars per hour unless
/// a column says per what.
pub(crate) fn by_region(
    file: TableFile<'_>,
    sources: &Sources,
    errors: &mut Vec<CatalogError>,
) -> Vec<Price> {
    let read = table::lines(file, errors);
    let hour: Arc<str> = "hour".into();
    let regions: Vec<Option<Arc<str>>> = read
        .header
        .iter()
        .map(|name| (!NO_REGIONS.contains(&name.as_str())).then(|| name.as_str().into()))
        .collect();
    let mut prices = Vec::new();
    for (line, cells) in &read.lines {
        let mut of_line = match LineCells::read(&read, cells, sources) {
            Ok(of_line) => of_line,
            Err(what) => {
                errors.push(CatalogError::new(file.path, *line, what));
                continue;
            }
        };
        if of_line.per.is_empty() {
            of_line.per = Arc::clone(&hour);
        }
        for (region, cell) in regions.iter().zip(cells) {
            let Some(region) = region.as_ref().filter(|_| !cell.is_empty()) else { continue };
            match of_line.price(cell, Some(Arc::clone(region))) {
                Ok(price) => prices.push(price),
                Err(what) => errors.push(CatalogError::new(file.path, *line, what)),
            }
        }
    }
    prices
}

/// Reads a table of discounts for machines that run all month.
pub(crate) fn sustained(
    file: TableFile<'_>,
    sources: &Sources,
    errors: &mut Vec<CatalogError>,
) -> Vec<Sustained> {
    let read = table::lines(file, errors);
    let mut discounts = Vec::new();
    for (line, cells) in &read.lines {
        let cell = |name: &str| read.cell(cells, name);
        let discount = || -> Result<Sustained, String> {
            let family = cell("family").ok_or("no family")?.to_owned();
            let cloud = cell("cloud").and_then(Cloud::from_text).ok_or("no cloud")?;
            let text = cell("factor").unwrap_or("");
            let factor = text.parse().ok().filter(|factor| *factor > 0.0 && *factor <= 1.0);
            let factor = factor.ok_or_else(|| format!("`{text}` is not a share of 1"))?;
            let source = Arc::clone(table::source_of(&read, cells, sources)?);
            Ok(Sustained { family, cloud, factor, source })
        };
        match discount() {
            Ok(discount) => discounts.push(discount),
            Err(what) => errors.push(CatalogError::new(file.path, *line, what)),
        }
    }
    discounts
}

/// Reads an amount, with `~` before it for about and `=` for derived. A price of nothing is not a
/// price: it is how lists say "not for sale yet".
fn amount(text: &str) -> Result<(f64, Exactness), String> {
    let (exactness, number) = match text.as_bytes().first() {
        Some(b'~') => (Exactness::About, &text[1..]),
        Some(b'=') => (Exactness::Derived, &text[1..]),
        _ => (Exactness::Exact, text),
    };
    let usd: f64 = number.parse().map_err(|_| format!("`{text}` is not an amount"))?;
    if usd > 0.0 && usd < 1e9 {
        Ok((usd, exactness))
    } else {
        Err(format!("`{text}` is not a price"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(above: Option<&str>, up_to: Option<&str>, expected: &str) {
        let band =
            QuantityBand::read(above, up_to).map(|band| (band.to_string(), band.of(50.0, 10.0)));
        assert_eq!(format!("{band:?}"), expected);
    }

    #[test]
    fn a_band_says_what_is_billed() {
        check(None, None, r#"Ok(("", 50.0))"#);
        check(Some("30"), None, r#"Ok((" above 30", 20.0))"#);
        check(Some("60"), None, r#"Ok((" above 60", 0.0))"#);
        check(Some("3 per GiB"), None, r#"Ok((" above 3 per GiB", 20.0))"#);
        check(None, Some("32"), r#"Ok((" up to 32", 32.0))"#);
        check(Some("32"), Some("40"), r#"Ok((" 32 to 40", 8.0))"#);
        check(Some("x"), None, r#"Err("`x` is not a quantity")"#);
        check(Some("40"), Some("32"), r#"Err("the range from 40 up to 32 is empty")"#);
    }

    #[test]
    fn words_of_tables_are_read_or_refused() {
        assert_eq!(Term::from_text("3Y"), Ok(Term::ThreeYears));
        let unknown = Term::from_text("2y").expect_err("no such term");
        assert_eq!(unknown, "unknown term `2y`, expected on-demand, 1y, 3y");
        assert_eq!(Part::read("", "month"), Ok(Part::Whole));
        assert_eq!(Part::read("", "IOPS-month"), Ok(Part::Iops));
        let unknown = Part::read("iop", "IOPS-month").expect_err("no such part");
        assert!(unknown.contains("expected capacity, iops"), "{unknown}");
        let odd = Part::read("capacity", "IOPS-month").expect_err("no such price");
        assert_eq!(odd, "a price of capacity cannot be per `IOPS-month`");
        assert_eq!(amount("=0.5"), Ok((0.5, Exactness::Derived)));
        assert_eq!(amount("0"), Err("`0` is not a price".to_owned()));
    }
}
