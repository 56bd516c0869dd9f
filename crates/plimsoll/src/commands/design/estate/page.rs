//! An estate as a page, as Markdown, CSV and JSON: the same tables.

use std::collections::BTreeMap;

use ::design::Filled;
use ::design::estate::{CloudResult, DiskTotal, Totals};
use report::{Cell, Document, DocumentSection, Table};
use serde_json::{Value, json};
use units::{format_count, plural};

use super::super::form::Form;
use super::super::json;
use super::super::text::{capacity_gib, dollars};
use super::text::{cloud, made_of, notes, part, price, short, stand_out};
use super::{Estate, Server};

/// Name and version of the layout.
const SCHEMA: &str = "plimsoll.estate/1";

/// Returns an estate in a form.
pub(super) fn of(estate: &Estate<'_, '_>, form: Form, text: impl Fn() -> String) -> String {
    match form {
        Form::Text => text(),
        Form::Csv => servers(estate).csv(),
        Form::Json => json(estate),
        Form::Markdown => report::document_markdown(&document(estate)),
        Form::Html => report::document(&document(estate)),
    }
}

fn document(estate: &Estate<'_, '_>) -> Document {
    let mut sections = vec![totals(estate)];
    for (title, lines) in stand_out(estate) {
        let mut table = Table::new(&[("server", "server"), ("what", "what")]);
        let (hints, lines): (Vec<_>, Vec<_>) =
            lines.into_iter().partition(|line| line.starts_with("see: "));
        for line in lines {
            let (name, what) = line.split_once(": ").unwrap_or(("", &line));
            table.rows.push(vec![Cell::text(name), Cell::text(what)]);
        }
        let hint = hints.first().and_then(|hint| hint.strip_prefix("see: "));
        let lead = hint.map_or(String::new(), |hint| format!("To look into the first: {hint}"));
        sections.push(DocumentSection { title, lead, table, charts: Vec::new() });
    }
    sections.push(DocumentSection {
        title: "Servers".to_owned(),
        table: side_by_side(estate),
        ..DocumentSection::default()
    });
    sections.push(DocumentSection {
        title: "Machines".to_owned(),
        table: machines(estate),
        ..DocumentSection::default()
    });
    sections.push(DocumentSection {
        title: "Disks".to_owned(),
        table: stored(estate, ("disk", "n_disks"), |totals| &totals.disks),
        ..DocumentSection::default()
    });
    if estate.totals.iter().any(|totals| totals.n_pools() > 0) {
        sections.push(DocumentSection {
            title: "Capacity pools".to_owned(),
            lead:
                "Of network volumes; each is bought once, for all volumes and machines that share \
                   it."
                .to_owned(),
            table: stored(estate, ("pool", "n_pools"), |totals| &totals.pools),
            ..DocumentSection::default()
        });
    }
    Document {
        title: "Estate".to_owned(),
        sentence: sentence(estate),
        sections,
        notes: notes(estate),
    }
}

/// Says what all costs in each cloud; where one does not carry all, or not all is known, of those
/// servers alone of which everything is known everywhere: only these compare.
fn sentence(estate: &Estate<'_, '_>) -> String {
    let n_servers = estate.servers.len();
    let n_common = estate.common.first().map_or(0, |totals| totals.n_designs);
    let is_some = n_common > 0 && n_common < n_servers && estate.markets.len() > 1;
    let servers = plural(n_servers, "server");
    let (head, all) = if is_some {
        (format!("{servers}; of {n_common} all is known everywhere"), &estate.common)
    } else {
        (servers, &estate.totals)
    };
    let of = |(idx, totals): (usize, &Totals)| {
        let (at, usd) = (cloud(estate, idx), dollars(totals.price.usd()));
        let carried = match totals.n_designs {
            n if n == n_servers || is_some => String::new(),
            n => format!(" for the {n} that it carries"),
        };
        format!("{at} USD {usd} a month{carried}")
    };
    let clouds: Vec<String> = all.iter().enumerate().map(of).collect();
    format!("{head}: {}.", clouds.join(", "))
}

fn totals(estate: &Estate<'_, '_>) -> DocumentSection {
    let mut table = Table::new(&[("", "figure")]);
    for idx in 0..estate.markets.len() {
        let name = cloud(estate, idx);
        table.add_column(name.clone(), name.to_lowercase());
    }
    for (head, cells) in super::text::total_rows(estate) {
        let cell = |text: String| match text.trim_end_matches(['+', '?']).replace(',', "").parse() {
            Ok(value) => Cell::Number(value, text),
            Err(_) => Cell::Text(text),
        };
        let mut row = vec![Cell::text(head.trim())];
        row.extend(cells.into_iter().map(cell));
        table.rows.push(row);
    }
    let mut lead = String::new();
    if estate.markets.len() > 1 {
        let best = &estate.cheapest;
        let usd = dollars(best.price.usd());
        lead = format!("Each server where it is cheapest: USD {usd} a month.");
    }
    DocumentSection { title: "Totals".to_owned(), lead, table, charts: Vec::new() }
}

/// A row for each server, for readers.
fn side_by_side(estate: &Estate<'_, '_>) -> Table {
    let mut table = Table::new(&[("server", "server")]);
    for idx in 0..estate.markets.len() {
        let name = cloud(estate, idx);
        table.add_column(
            format!("{name}, USD a month"),
            format!("{}_price_usd", name.to_lowercase().replace('-', "_")),
        );
    }
    let what = if estate.markets.len() > 1 { "the cheapest" } else { "design" };
    let rest = [("used most", "used_most"), ("used, %", "used_pct")];
    table = table.and(&[(what, "design")]).and(&rest);
    for server in &estate.servers {
        let mut row = vec![Cell::text(&*server.name)];
        row.extend(server.places.iter().map(|place| {
            let usd = place.design().map(|design| usd(design.price()));
            usd.map_or(Cell::Nothing, |usd| Cell::Number(usd, price(place)))
        }));
        match server.best().map(|best| &server.places[best]) {
            Some(CloudResult::Carried { design, filled, .. }) => {
                row.push(Cell::text(made_of(design)));
                row.extend(used(filled.as_ref()));
            }
            Some(CloudResult::Missed { .. }) | None => {
                row.extend([Cell::text("nothing carries it"), Cell::text(""), Cell::Nothing]);
            }
        }
        table.rows.push(row);
    }
    table
}

fn used(filled: Option<&Filled>) -> [Cell; 2] {
    let what = filled.map_or(String::new(), |it| part(&it.part));
    [Cell::Text(what), Cell::number(filled.and_then(|it| json::percent(it.share)), 0)]
}

/// A row for each server and cloud.
fn servers(estate: &Estate<'_, '_>) -> Table {
    let mut table = Table::new(&[
        ("server", "server"),
        ("cloud", "cloud"),
        ("region", "region"),
        ("carried", "is_carried"),
        ("USD a month", "price_usd"),
        ("without a price", "is_unpriced"),
        ("limits known", "is_known"),
        ("design", "design"),
        ("machine", "machine"),
        ("machines", "n_machines"),
        ("disks", "n_disks"),
        ("asked, GiB", "asked_gib"),
        ("capacity, GiB", "capacity_gib"),
        ("headroom, %", "headroom_pct"),
        ("used most", "used_most"),
        ("used, %", "used_pct"),
        ("why not", "why_not"),
        ("file", "file"),
    ]);
    for server in &estate.servers {
        for (market, place) in estate.markets.iter().zip(&server.places) {
            let terms = &market.terms;
            let mut row = vec![
                Cell::text(&*server.name),
                Cell::text(terms.cloud.as_str()),
                Cell::text(terms.region.as_deref().unwrap_or("")),
            ];
            row.extend(cells(server, place));
            row.push(Cell::text(&*server.file));
            table.rows.push(row);
        }
    }
    table
}

fn cells(server: &Server, place: &CloudResult) -> Vec<Cell> {
    let yes_no = |is: bool| Cell::text(if is { "yes" } else { "no" });
    // The sum of what is known is less than what is needed where one is not.
    let asked_gib: Option<f64> = server.asked.need.volumes.iter().map(capacity_gib).sum();
    let asked_gib = Cell::number(asked_gib, 0);
    match place {
        CloudResult::Carried { design, filled, .. } => {
            let storage = design.storage();
            let capacity: u64 = storage.iter().map(|it| (it.count * it.size_bytes) >> 30).sum();
            let n_disks: u64 = storage.iter().filter(|it| !it.is_pool).map(|it| it.count).sum();
            let (price_of, (machine, n_machines)) = (design.price(), design.machines());
            let mut row = vec![
                yes_no(true),
                Cell::Number(usd(price_of), price(place)),
                yes_no(price_of.is_unpriced),
                yes_no(!place.is_open()),
                Cell::text(made_of(design)),
                Cell::text(machine),
                Cell::count(n_machines),
                Cell::count(n_disks),
                asked_gib,
                Cell::count(capacity),
                Cell::number(json::percent(design.headroom()), 0),
            ];
            row.extend(used(filled.as_ref()));
            row.push(Cell::text(""));
            row
        }
        CloudResult::Missed { nearest, why } => {
            let nothing = || Cell::Nothing;
            let mut row = vec![yes_no(false), nothing(), Cell::text(""), Cell::text("")];
            row.extend([
                Cell::text(""),
                Cell::text(""),
                nothing(),
                nothing(),
                asked_gib,
                nothing(),
            ]);
            row.extend([nothing(), Cell::text(""), nothing()]);
            row.push(Cell::text(short(nearest, why.as_ref())));
            row
        }
    }
}

/// A row for each size of machine, with how many of each cloud.
fn machines(estate: &Estate<'_, '_>) -> Table {
    let mut table =
        Table::new(&[("cloud", "cloud"), ("machine", "machine"), ("number", "n_machines")]);
    for (idx, totals) in estate.totals.iter().enumerate() {
        let mut by_number: Vec<(&String, &u64)> = totals.machines.iter().collect();
        by_number.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        for (name, n) in by_number {
            table.rows.push(vec![Cell::text(cloud(estate, idx)), Cell::text(&**name), grouped(*n)]);
        }
    }
    table
}

/// A count, in groups of three digits.
fn grouped(count: u64) -> Cell {
    Cell::Number(count as f64, format_count(count))
}

/// A row for each type of disk, or level of pools.
fn stored(
    estate: &Estate<'_, '_>,
    (what, number): (&'static str, &'static str),
    of: impl Fn(&Totals) -> &BTreeMap<String, DiskTotal>,
) -> Table {
    let mut table = Table::new(&[
        ("cloud", "cloud"),
        (what, what),
        ("number", number),
        ("capacity, GiB", "capacity_gib"),
    ]);
    for (idx, totals) in estate.totals.iter().enumerate() {
        for (name, disks) in of(totals) {
            table.rows.push(vec![
                Cell::text(cloud(estate, idx)),
                Cell::text(&**name),
                grouped(disks.n_disks),
                grouped(disks.capacity_bytes >> 30),
            ]);
        }
    }
    table
}

fn json(estate: &Estate<'_, '_>) -> String {
    let totals = |totals: &Totals| {
        let disks = totals.disks.iter().map(|(name, disks)| {
            let capacity_gib = disks.capacity_bytes >> 30;
            (name.clone(), json!({"n_disks": disks.n_disks, "capacity_gib": capacity_gib}))
        });
        let pools = totals.pools.iter().map(|(name, pools)| {
            let capacity_gib = pools.capacity_bytes >> 30;
            (name.clone(), json!({"n_pools": pools.n_disks, "capacity_gib": capacity_gib}))
        });
        json!({
            "n_designs": totals.n_designs,
            "n_unpriced": totals.n_unpriced,
            "n_open": totals.n_open,
            "price_usd": usd(totals.price),
            "machine_price_usd": usd(totals.machine_price),
            "n_disks": totals.n_disks(),
            "capacity_gib": totals.capacity_bytes() >> 30,
            "machines": totals.machines,
            "disks": disks.collect::<serde_json::Map<String, Value>>(),
            "n_pools": totals.n_pools(),
            "pools": pools.collect::<serde_json::Map<String, Value>>(),
        })
    };
    let names = |all: &[usize]| {
        all.iter().map(|idx| estate.servers[*idx].name.clone()).collect::<Vec<String>>()
    };
    let clouds = estate.markets.iter().zip(&estate.totals).zip(&estate.common);
    let clouds = clouds.map(|((market, own), common)| {
        json!({
            "cloud": market.terms.cloud.as_str(),
            "region": market.terms.region,
            "edition": market.terms.edition,
            "term": market.terms.term.as_str(),
            "totals": totals(own),
            "known_everywhere": totals(common),
        })
    });
    let page = json!({
        "schema": SCHEMA,
        "headroom": estate.args.headroom,
        "clouds": clouds.collect::<Vec<_>>(),
        "cheapest": totals(&estate.cheapest),
        "servers": servers(estate).json(),
        "outliers": {
            "dearest": names(&estate.outliers.dearest),
            "missed": names(&estate.outliers.missed),
            "open": names(&estate.outliers.open),
            "far_above": names(&estate.outliers.far_above),
        },
        "wrong_files": estate.wrong,
        "notes": notes(estate),
    });
    format!("{page:#}\n")
}

fn usd(price: ::design::Price) -> f64 {
    (price.usd() * 100.0).round() / 100.0
}
