//! The catalogue as JSON.

use ::catalog::{Cloud, Edition, Figure, Item, NetworkFact, Price};
use serde_json::{Map, Value, json};

/// Name and version of the page.
const SCHEMA: &str = "plimsoll.catalog/1";

/// Returns items with all their figures.
pub(super) fn items<'e>(
    what: &str,
    edition: &Edition,
    items: impl Iterator<Item = &'e Item>,
) -> String {
    page(what, edition, &items.map(item).collect::<Vec<_>>())
}

/// Returns facts about network volumes.
pub(super) fn facts<'e>(edition: &Edition, facts: impl Iterator<Item = &'e NetworkFact>) -> String {
    let facts = facts.map(|fact| {
        json!({
            "scope": fact.scope,
            "parameter": fact.parameter,
            "figure": figure(&fact.figure),
            "note": fact.note,
        })
    });
    page("volumes", edition, &facts.collect::<Vec<_>>())
}

/// Returns prices.
pub(super) fn prices<'e>(edition: &Edition, prices: impl Iterator<Item = &'e Price>) -> String {
    let prices = prices.map(|price| {
        json!({
            "name": &*price.name,
            "cloud": price.cloud.map(Cloud::as_str),
            "part": price.part.as_str(),
            "above": price.band.above,
            "above_per_gib": price.band.above_per_gib,
            "up_to": Some(price.band.up_to).filter(|up_to| up_to.is_finite()),
            "usd": price.usd,
            "exactness": price.exactness,
            "per": &*price.per,
            "term": price.term.as_str(),
            "region": price.region.as_deref(),
            "currency_stated": price.is_currency_stated,
            "source": price.source.title,
            "date": price.source.date,
            "note": &*price.note,
        })
    });
    page("prices", edition, &prices.collect::<Vec<_>>())
}

fn page(what: &str, edition: &Edition, list: &[Value]) -> String {
    let page = json!({ "schema": SCHEMA, "edition": edition.info.name, what: list });
    format!("{page:#}\n")
}

fn item(item: &Item) -> Value {
    let mut figures = Map::new();
    for (property, of_property) in item.figures() {
        figures.insert(property.to_owned(), of_property.iter().map(figure).collect());
    }
    let notes: Vec<Value> = item
        .notes
        .iter()
        .map(|note| json!({ "text": note.text, "source": note.source.title }))
        .collect();
    json!({
        "name": item.name,
        "cloud": item.word("cloud"),
        "family": item.word("family"),
        "cache": item.word("cache"),
        "arch": item.word("arch"),
        "interface": item.word("interface"),
        "attaches": item.word("attaches"),
        "refuses": item.word("refuses"),
        "nitro": item.word("nitro"),
        "figures": figures,
        "notes": notes,
    })
}

fn figure(figure: &Figure) -> Value {
    let (low, high) = figure.range().into_inner();
    json!({
        "value": figure.value,
        "unit": figure.unit.as_str(),
        "per_s": figure.per_s,
        "per_s_min": low,
        "per_s_max": high,
        "exactness": figure.exactness,
        "source": figure.source.title,
        "date": figure.date(),
    })
}
