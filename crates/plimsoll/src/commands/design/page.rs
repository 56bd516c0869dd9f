//! Designs side by side as a page, as Markdown, CSV and JSON: the same tables.

use std::path::Path;

use ::design::{Judged, Price, Ranked, SearchInput, Terms, judge, parse};
use report::{Cell, ChartSpec, Document, DocumentSection, Table};
use units::{format_number, format_percent_whole};

use super::explain::made_of;
use super::form::Form;
use super::frontier::frontier;
use super::pictures::{PlacePrices, PricePoint, Shown, usd};
use super::text::{KNOWN_ONLY, capacity_gib, disks, nearest_text, notes, price, size};
use super::{Args, CloudAnswer, json, pictures, text};
use crate::exit::Failure;

/// Returns designs in a form.
///
/// # Errors
/// If the need is none.
pub(super) fn of(
    args: &Args,
    asked: &SearchInput,
    answers: &[CloudAnswer<'_>],
    form: Form,
) -> Result<String, Failure> {
    Ok(match form {
        Form::Text => text::page(args, asked, answers),
        Form::Json => json::page(args, asked, answers, None),
        Form::Csv => designs(asked, answers).csv(),
        Form::Markdown => report::document_markdown(&document(args, asked, answers)?),
        Form::Html => report::document(&document(args, asked, answers)?),
    })
}

fn document(
    args: &Args,
    asked: &SearchInput,
    answers: &[CloudAnswer<'_>],
) -> Result<Document, Failure> {
    let mut sections = Vec::new();
    let prices = answers.iter().map(|answer| prices(args, asked, answer));
    let prices = prices.collect::<Result<Vec<PlacePrices>, Failure>>()?;
    let is_carried = answers.iter().any(|answer| !answer.found.designs.is_empty());
    for answer in answers {
        let Some(nearest) = &answer.nearest else { continue };
        let text = nearest_text(asked, answer, nearest);
        sections.push(DocumentSection {
            title: format!("Nothing carries it in {}", answer.place()),
            lead: text.trim_start_matches(['.', ':', ',', ' ']).to_owned(),
            ..DocumentSection::default()
        });
    }
    if is_carried {
        sections.push(side_by_side(
            designs(asked, answers),
            "types of disk",
            &answers[0].market.terms,
            &prices,
        ));
    }
    let shown: Vec<Shown> = answers.iter().filter_map(|it| shown(asked, it)).collect();
    sections.extend(load_on_caps(&shown, "cloud"));
    sections.extend(captured(asked, answers));
    sections.push(what_is_asked(asked));
    let mut all_notes = asked.notes.clone();
    for answer in answers {
        if let Some(nearest) = &answer.nearest_known {
            let text = nearest_text(asked, answer, nearest);
            all_notes.push(format!("{}: {KNOWN_ONLY}{text}", answer.place()));
        }
        let head = if answers.len() > 1 { format!("{}: ", answer.place()) } else { String::new() };
        all_notes.extend(notes(asked, answer).iter().map(|note| format!("{head}{note}")));
    }
    all_notes.extend(headroom_note(args));
    Ok(Document { title: title(args), sentence: sentence(answers), sections, notes: all_notes })
}

/// Returns the table of designs with their prices, and what more headroom costs.
pub(super) fn side_by_side(
    mut table: Table,
    parts: &str,
    terms: &Terms,
    prices: &[PlacePrices],
) -> DocumentSection {
    table.remove_empty_columns();
    DocumentSection {
        title: "Designs".to_owned(),
        lead: format!(
            "The best of each machine and {parts}: price, then headroom, then fewer parts. {}",
            text::prices(terms)
        ),
        table,
        charts: pictures::price_against_headroom(prices).into_iter().collect(),
    }
}

/// Returns how each cap of the designs shown is used; none where none is shown.
pub(super) fn load_on_caps(shown: &[Shown], place: &str) -> Option<DocumentSection> {
    let charts = shown.iter().enumerate().map(|(idx, it)| pictures::utilisation(idx, it));
    (!shown.is_empty()).then(|| DocumentSection {
        title: "Load on each cap".to_owned(),
        lead: format!(
            "Of the best design of each {place}; where nothing carries the need, of what comes \
             nearest."
        ),
        charts: charts.collect(),
        ..DocumentSection::default()
    })
}

pub(super) fn what_is_asked(asked: &SearchInput) -> DocumentSection {
    DocumentSection {
        title: "What is asked".to_owned(),
        table: needs(asked),
        ..DocumentSection::default()
    }
}

pub(super) fn headroom_note(args: &Args) -> Option<String> {
    let more =
        || format!("every cap carries {} more than that", format_percent_whole(args.headroom));
    (args.headroom > 0.0).then(more)
}

/// Returns the prices of a cloud, with those of more headroom.
fn prices(
    args: &Args,
    asked: &SearchInput,
    answer: &CloudAnswer<'_>,
) -> Result<PlacePrices, Failure> {
    let point = |ranked: &Ranked| PricePoint {
        headroom: ranked.headroom,
        price: ranked.price,
        text: made_of(ranked),
    };
    Ok(PlacePrices {
        place: answer.place(),
        front: frontier(args, asked, answer)?.designs.iter().map(point).collect(),
        others: answer.found.designs.iter().map(point).collect(),
    })
}

/// Returns whose designs these are: the file of needs by its name.
pub(super) fn title(args: &Args) -> String {
    let name = args.needs.first().and_then(|file| Path::new(file).file_stem()?.to_str());
    match name.filter(|name| *name != "-") {
        Some(name) => format!("Designs for {name}"),
        None => "Designs".to_owned(),
    }
}

/// Returns the samples over time; none where there are none.
fn captured(asked: &SearchInput, answers: &[CloudAnswer<'_>]) -> Option<DocumentSection> {
    let chart = |(idx, answer): (usize, &CloudAnswer<'_>)| {
        super::series::chart(idx, answer, asked, shown_design(answer)?)
    };
    let charts: Vec<ChartSpec> = answers.iter().enumerate().filter_map(chart).collect();
    (!charts.is_empty()).then(|| DocumentSection {
        title: "What was captured, over time".to_owned(),
        lead: "Every sample beside the needs, with growth, against the caps of the same designs."
            .to_owned(),
        charts,
        ..DocumentSection::default()
    })
}

/// Says in one sentence what is cheapest.
fn sentence(answers: &[CloudAnswer<'_>]) -> String {
    match super::best(answers, 0) {
        None => {
            let places: Vec<String> = answers.iter().map(CloudAnswer::place).collect();
            format!("Nothing carries it in {}.", places.join(", "))
        }
        Some((answer, ranked)) => {
            let machine = ranked.machine.trim_start_matches("Standard_");
            carried(ranked.price, machine, &answer.place())
        }
    }
}

/// Says what carries the need, for how much and where.
pub(super) fn carried(of: Price, what: &str, place: &str) -> String {
    let carries =
        if of.is_open { "carries it as far as the catalogue knows" } else { "carries it" };
    format!("{} {carries}: {what} in {place}.", price(of))
}

/// Returns the best design, or what comes nearest.
fn shown_design<'a>(answer: &'a CloudAnswer<'_>) -> Option<&'a Ranked> {
    let nearest = answer.nearest.as_ref().and_then(|nearest| match nearest {
        ::design::Nearest::Part { design, .. } => Some(design.as_ref()),
        ::design::Nearest::Machine { .. }
        | ::design::Nearest::Refused
        | ::design::Nearest::Nothing { .. } => None,
    });
    answer.found.designs.first().or(nearest)
}

fn shown(asked: &SearchInput, answer: &CloudAnswer<'_>) -> Option<Shown> {
    let ranked = shown_design(answer)?;
    // A need that asks for no I/O uses no cap.
    let judged = judged(asked, answer, ranked).filter(|it| it.tightest().is_some())?;
    let machine = ranked.machine.trim_start_matches("Standard_");
    Some(Shown { cloud: format!("{}: {machine}", answer.place()), judged })
}

fn judged(asked: &SearchInput, answer: &CloudAnswer<'_>, ranked: &Ranked) -> Option<Judged> {
    let design = parse(&answer.market, &asked.need, ranked)?;
    Some(judge(&design, &asked.need))
}

/// A row for each design.
fn designs(asked: &SearchInput, answers: &[CloudAnswer<'_>]) -> Table {
    let mut table = Table::new(&[
        ("rank", "rank"),
        ("cloud", "cloud"),
        ("region", "region"),
        ("USD a month", "price_usd"),
        ("machine", "machine"),
        ("disks", "disks"),
        ("headroom, %", "headroom_pct"),
        ("what binds", "binds"),
        ("not known", "not_known"),
    ]);
    let has_series = asked.need.series.is_some();
    if has_series {
        table.add_column("burst credits".to_owned(), "burst_credits".to_owned());
    }
    for answer in answers {
        let terms = &answer.market.terms;
        for (idx, ranked) in answer.found.designs.iter().enumerate() {
            let of_volumes = asked.need.volumes.iter().zip(&ranked.volumes);
            let of_volumes: Vec<String> = of_volumes
                .map(|(volume, chosen)| format!("{}: {}", volume.mount, disks(chosen)))
                .collect();
            let mut row = vec![
                Cell::count(idx as u64 + 1),
                Cell::text(terms.cloud.as_str()),
                Cell::text(terms.region.as_deref().unwrap_or("")),
                usd(ranked.price),
                Cell::text(&*ranked.machine),
                Cell::text(of_volumes.join("; ")),
                Cell::number(json::percent(ranked.headroom), 0),
                Cell::text(judged(asked, answer, ranked).map_or(String::new(), |it| tight(&it))),
                Cell::text(unknown(ranked.price)),
            ];
            if has_series {
                let credits = super::series::credits(answer, asked, ranked);
                row.push(Cell::text(credits.unwrap_or_default()));
            }
            table.rows.push(row);
        }
    }
    table
}

/// Says what is not known of a design, by its price.
pub(super) fn unknown(price: Price) -> &'static str {
    match (price.is_open, price.is_unpriced) {
        (false, false) => "",
        (true, false) => "a limit, memory or processors",
        (false, true) => "the price of a part",
        (true, true) => "a limit, memory or processors; the price of a part",
    }
}

/// Returns which cap is the tightest.
pub(super) fn tight(judged: &Judged) -> String {
    judged.tightest().map_or("nothing is asked".to_owned(), |(phase, cap)| {
        format!("{} of {}, {}", cap.cap.bound, cap.cap.name, phase.phase)
    })
}

/// A row for each volume and phase.
fn needs(asked: &SearchInput) -> Table {
    let mut table = Table::new(&[
        ("volume", "volume"),
        ("capacity, GiB", "capacity_gib"),
        ("phase", "phase"),
        ("IOPS", "iops"),
        ("size", "size_bytes"),
        ("reads, %", "read_pct"),
        ("random, %", "random_pct"),
    ]);
    for volume in &asked.need.volumes {
        let mount = || Cell::text(&*volume.mount);
        let known = |gib| Cell::Number(gib, format_number(gib));
        let capacity = || capacity_gib(volume).map_or(Cell::Nothing, known);
        for phase in &volume.phases {
            table.rows.push(vec![
                mount(),
                capacity(),
                Cell::text(&*phase.phase),
                Cell::Number(phase.iops, format_number(phase.iops)),
                Cell::Number(phase.size_bytes as f64, size(phase.size_bytes)),
                Cell::number(json::percent(phase.read_share), 0),
                Cell::number(json::percent(phase.random_share), 0),
            ]);
        }
        if volume.phases.is_empty() {
            let mut row = vec![mount(), capacity(), Cell::text("")];
            row.extend(vec![Cell::Nothing; 4]);
            table.rows.push(row);
        }
    }
    table
}
