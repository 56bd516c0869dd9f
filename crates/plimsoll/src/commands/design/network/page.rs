//! Designs with network volumes as a page, as Markdown, CSV and JSON, and their front of price
//! against headroom.

use ::design::netapp::{self, Options, Ranked};
use ::design::{Judged, SearchInput, judge};
use report::{Cell, Document, DocumentSection, Table};
use serde_json::json;

use super::super::form::Form;
use super::super::frontier::{Frontier, follow};
use super::super::json::{self, front_of, fronts, put_place};
use super::super::page::{
    carried, headroom_note, load_on_caps, side_by_side, tight, title, unknown, what_is_asked,
};
use super::super::pictures::{PlacePrices, PricePoint, Shown, usd};
use super::super::text::{self, COLUMNS, head, price};
use super::super::{Args, network};
use super::{NetworkAnswer, made_of, nothing, options, pool_text, volume_text, wrong};
use crate::exit::Failure;
use crate::fill::fill;

/// Returns designs in a form.
///
/// # Errors
/// If the need is none.
pub(super) fn of(
    args: &Args,
    asked: &SearchInput,
    answers: &[NetworkAnswer<'_>],
    form: Form,
) -> Result<String, Failure> {
    Ok(match form {
        Form::Text => network::as_text(args, asked, answers),
        Form::Json => network::as_json(args, asked, answers, None),
        Form::Csv => designs(asked, answers).csv(),
        Form::Markdown => report::document_markdown(&document(args, asked, answers)?),
        Form::Html => report::document(&document(args, asked, answers)?),
    })
}

/// Returns the front of price against headroom, as text or JSON.
///
/// # Errors
/// If the need is none.
pub(super) fn pareto(
    args: &Args,
    asked: &SearchInput,
    answers: &[NetworkAnswer<'_>],
    is_json: bool,
) -> Result<String, Failure> {
    let (mut page, mut places) = (head(args, asked), Vec::new());
    for answer in answers {
        let front = frontier(args, asked, answer)?;
        if is_json {
            let mut found = front_of(&front, |it| network::one_as_json(asked, answer, it));
            put_place(&mut found, &answer.market.terms, answer.found.n_machines);
            let of_machines = network::of_unsized(asked, answer);
            found["notes"] = json!(of_machines.into_iter().collect::<Vec<_>>());
            places.push(found);
            continue;
        }
        page.push('\n');
        page.push_str(&network::place(answer));
        for best in &front.designs {
            let text = format!("{}: {}", price(best.price), made_of(best));
            page.push_str(&text::with_headroom(best.headroom, &text));
        }
        page.push_str(&text::none_from(front.none_from));
        if let Some(note) = network::of_unsized(asked, answer) {
            page.push_str(&fill("  note: ", &note, COLUMNS));
        }
    }
    Ok(if is_json { fronts(args, asked, &places) } else { page })
}

fn frontier(
    args: &Args,
    asked: &SearchInput,
    answer: &NetworkAnswer<'_>,
) -> Result<Frontier<Ranked>, Failure> {
    let best = |headroom| {
        let options = Options { headroom, n_kept: 1, ..options(args, asked) };
        let found = netapp::search(&answer.market, &asked.need, &options);
        Ok(found.map_err(|error| wrong(&error))?.designs.into_iter().next())
    };
    follow(args.headroom, best, |design| design.headroom)
}

fn document(
    args: &Args,
    asked: &SearchInput,
    answers: &[NetworkAnswer<'_>],
) -> Result<Document, Failure> {
    let mut sections = Vec::new();
    let none = answers.iter().filter(|answer| answer.found.designs.is_empty());
    sections.extend(none.map(|answer| DocumentSection {
        title: format!("Nothing carries it in {}", answer.market.terms.place()),
        lead: nothing(asked, answer),
        ..DocumentSection::default()
    }));
    if answers.iter().any(|answer| !answer.found.designs.is_empty()) {
        let prices = answers.iter().map(|answer| prices(args, asked, answer));
        let prices = prices.collect::<Result<Vec<PlacePrices>, Failure>>()?;
        sections.push(side_by_side(
            designs(asked, answers),
            "service levels",
            &answers[0].market.terms,
            &prices,
        ));
    }
    let shown: Vec<Shown> = answers.iter().filter_map(|it| shown(asked, it)).collect();
    sections.extend(load_on_caps(&shown, "place"));
    sections.push(what_is_asked(asked));
    let mut notes = asked.notes.clone();
    for answer in answers {
        let place = answer.market.terms.place();
        let head = if answers.len() > 1 { format!("{place}: ") } else { String::new() };
        notes.extend(network::notes(asked, answer).iter().map(|note| format!("{head}{note}")));
    }
    notes.extend(headroom_note(args));
    Ok(Document { title: title(args), sentence: sentence(answers), sections, notes })
}

/// Says in one sentence what is cheapest.
fn sentence(answers: &[NetworkAnswer<'_>]) -> String {
    match network::best(answers, 0) {
        None => {
            let places: Vec<String> = answers.iter().map(|it| it.market.terms.place()).collect();
            format!("Nothing carries it in {}.", places.join(", "))
        }
        Some((answer, ranked)) => {
            carried(ranked.price, &made_of(ranked), &answer.market.terms.place())
        }
    }
}

fn prices(
    args: &Args,
    asked: &SearchInput,
    answer: &NetworkAnswer<'_>,
) -> Result<PlacePrices, Failure> {
    let point = |ranked: &Ranked| PricePoint {
        headroom: ranked.headroom,
        price: ranked.price,
        text: made_of(ranked),
    };
    Ok(PlacePrices {
        place: answer.market.terms.place(),
        front: frontier(args, asked, answer)?.designs.iter().map(point).collect(),
        others: answer.found.designs.iter().map(point).collect(),
    })
}

/// Returns the best design, or what comes nearest, and how it is used.
fn shown(asked: &SearchInput, answer: &NetworkAnswer<'_>) -> Option<Shown> {
    let nearest = answer.nearest.as_ref().map(|(_, ranked)| ranked);
    let ranked = answer.found.designs.first().or(nearest)?;
    // A need that asks for no I/O uses no cap.
    let judged = judged(asked, answer, ranked).filter(|it| it.tightest().is_some())?;
    let cloud = format!("{}: {}", answer.market.terms.place(), made_of(ranked));
    Some(Shown { cloud, judged })
}

fn judged(asked: &SearchInput, answer: &NetworkAnswer<'_>, ranked: &Ranked) -> Option<Judged> {
    let design = netapp::parse(&answer.market, &asked.need, ranked)?;
    Some(judge(&design, &asked.need))
}

/// A row for each design.
fn designs(asked: &SearchInput, answers: &[NetworkAnswer<'_>]) -> Table {
    let mut table = Table::new(&[
        ("rank", "rank"),
        ("cloud", "cloud"),
        ("region", "region"),
        ("USD a month", "price_usd"),
        ("machines", "n_machines"),
        ("machine", "machine"),
        ("nconnect", "nconnect"),
        ("pools", "pools"),
        ("volumes", "volumes"),
        ("headroom, %", "headroom_pct"),
        ("what binds", "binds"),
        ("not known", "not_known"),
    ]);
    for answer in answers {
        let terms = &answer.market.terms;
        for (idx, ranked) in answer.found.designs.iter().enumerate() {
            let pools: Vec<String> = ranked.pools.iter().map(pool_text).collect();
            let volumes = asked.need.volumes.iter().zip(&ranked.volumes);
            let volumes: Vec<String> = volumes
                .map(|(volume, chosen)| {
                    format!("{}: {}", volume.mount, volume_text(ranked, chosen))
                })
                .collect();
            table.rows.push(vec![
                Cell::count(idx as u64 + 1),
                Cell::text(terms.cloud.as_str()),
                Cell::text(terms.region.as_deref().unwrap_or("")),
                usd(ranked.price),
                Cell::count(u64::from(ranked.n_machines)),
                Cell::text(&*ranked.machine),
                Cell::count(u64::from(ranked.connections)),
                Cell::text(pools.join("; ")),
                Cell::text(volumes.join("; ")),
                Cell::number(json::percent(ranked.headroom), 0),
                Cell::text(judged(asked, answer, ranked).map_or(String::new(), |it| tight(&it))),
                Cell::text(unknown(ranked.price)),
            ]);
        }
    }
    table
}
