//! Prices as text: one group for each meter and source, with its regions side by side.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use ::catalog::{Exactness, Part, Price, Source, Term};

use super::text;

/// Prices of one meter from one source, which differ by region.
struct Group<'e> {
    first: &'e Price,
    prices: Vec<&'e Price>,
}

/// What tells groups apart: name, part, band, term, per, source and note.
type Key<'e> = (&'e str, Part, [u64; 3], Term, &'e str, &'e str, &'e str);

fn groups<'e>(prices: impl Iterator<Item = &'e Price>) -> Vec<Group<'e>> {
    let mut idx_of: HashMap<Key<'e>, usize> = HashMap::new();
    let mut groups: Vec<Group<'e>> = Vec::new();
    for price in prices {
        let band = [price.band.above, price.band.above_per_gib, price.band.up_to];
        let key = (
            &*price.name,
            price.part,
            band.map(f64::to_bits),
            price.term,
            &*price.per,
            price.source.key.as_str(),
            &*price.note,
        );
        let idx = *idx_of.entry(key).or_insert(groups.len());
        match groups.get_mut(idx) {
            Some(group) => group.prices.push(price),
            None => groups.push(Group { first: price, prices: vec![price] }),
        }
    }
    groups
}

/// Lays prices out, and collects their sources. `is_named` says what each is the price of.
pub(super) fn page<'e>(
    prices: impl Iterator<Item = &'e Price>,
    is_named: bool,
    known: &mut Vec<&'e Arc<Source>>,
) -> String {
    let mut page = String::new();
    for group in groups(prices) {
        let Price { name, source, note, .. } = group.first;
        let short = name.strip_prefix("Standard_").unwrap_or(name);
        let name = if is_named { format!("{short}: ") } else { String::new() };
        let head = format!("{name}{}  ({}, {})", meter(group.first), source.key, source.date);
        page.push_str(&text::wrapped("  ", &head));
        page.push_str(&text::columns(
            4,
            &group.prices.iter().map(|it| amount(it)).collect::<Vec<_>>(),
        ));
        if !note.is_empty() {
            page.push_str(&text::wrapped("    ", note));
        }
        text::collect(known, vec![source]);
    }
    page
}

/// Returns what a price is for: `USD per month`, `iops above 3000, USD per IOPS-month`.
pub(super) fn meter(price: &Price) -> String {
    let mut words = match price.part {
        Part::Whole => String::new(),
        part => format!("{}{}, ", part.as_str(), price.band),
    };
    let currency = if price.is_currency_stated { "USD" } else { "(currency not stated)" };
    let _ = write!(words, "{currency} per {}", price.per);
    words.push_str(match price.term {
        Term::OnDemand => "",
        Term::OneYear => ", reserved for 1 year",
        Term::ThreeYears => ", reserved for 3 years",
    });
    words
}

/// Prints a region and its price: `eastus 135.17`.
fn amount(price: &Price) -> String {
    let region = price.region.as_deref().unwrap_or("region not stated,");
    format!("{region} {}{}", mark(price), price.usd)
}

/// Returns the mark of what is not exactly published, as tables have it.
pub(super) fn mark(price: &Price) -> &'static str {
    match price.exactness {
        Exactness::About => "~",
        Exactness::Derived => "=",
        Exactness::Exact | Exactness::UnitUnclear | Exactness::RoundedDown | Exactness::AtLeast => {
            ""
        }
    }
}
