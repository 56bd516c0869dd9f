//! An estate as text, 80 columns wide.

use std::collections::BTreeMap;

use ::catalog::Cloud;
use ::design::estate::{ChosenDesign, CloudResult, NearestDesign, Totals};
use ::design::{Lack, Nearest, Part, Price, Ranked, Rejection};
use units::{format_count, format_number, format_percent_whole, plural};
use volume::design::LOCAL_DISK;

use super::super::network;
use super::super::text::{COLUMNS, NONE_TAKEN, dollars, part_of, several, why_text};
use super::{Estate, Server};
use crate::fill::{fill, fill_below};

/// Columns of a server's name.
const NAME_COLUMNS: usize = 18;

/// Columns of a price.
const PRICE_COLUMNS: usize = 13;

/// Most servers of a sort that are named.
const NAMED_MAX: usize = 10;

/// Returns the page: every server, then what it comes to, then what stands out.
pub(super) fn page(estate: &Estate<'_, '_>) -> String {
    let mut page = heads(estate);
    for server in &estate.servers {
        page.push_str(&row(estate, server));
    }
    page.push('\n');
    page.push_str(&totals(estate));
    for (title, lines) in stand_out(estate) {
        page.push_str(&format!("\n{title}\n"));
        for line in lines {
            page.push_str(&fill("  ", &line, COLUMNS));
        }
    }
    for note in notes(estate) {
        page.push_str(&fill("note: ", &note, COLUMNS));
    }
    page
}

/// Returns what a cloud is called where several stand side by side.
pub(super) fn cloud(estate: &Estate<'_, '_>, idx: usize) -> String {
    let terms = &estate.markets[idx].terms;
    let is_twice = estate.markets.iter().filter(|it| it.terms.cloud == terms.cloud).count() > 1;
    match &terms.region {
        Some(region) if is_twice => region.clone(),
        _ => terms.cloud.as_str().to_owned(),
    }
}

fn heads(estate: &Estate<'_, '_>) -> String {
    let mut text = format!("{:<NAME_COLUMNS$}", "server");
    for idx in 0..estate.markets.len() {
        text.push_str(&format!("{:>PRICE_COLUMNS$}", cloud(estate, idx)));
    }
    let what = if estate.markets.len() > 1 { "the cheapest" } else { "design" };
    format!("{text}  {what}\n")
}

fn row(estate: &Estate<'_, '_>, server: &Server) -> String {
    let mut head = format!("{:<NAME_COLUMNS$}", server.name);
    if server.name.chars().count() >= NAME_COLUMNS {
        head = format!("{}\n{:NAME_COLUMNS$}", server.name, "");
    }
    for place in &server.places {
        head.push_str(&format!("{:>PRICE_COLUMNS$}", price(place)));
    }
    let below = (NAME_COLUMNS + PRICE_COLUMNS * server.places.len() + 2).min(COLUMNS / 2);
    let what = server.best().map_or("nothing carries it".to_owned(), |best| {
        server.places[best].design().map_or(String::new(), made_of)
    });
    if estate.markets.len() > 3 {
        return fill_below(&format!("{head}\n{:below$}", ""), below, &what, COLUMNS);
    }
    fill_below(&format!("{head}  "), below, &what, COLUMNS)
}

/// Prints what a place costs in a month.
pub(super) fn price(place: &CloudResult) -> String {
    let of = |design: &ChosenDesign| {
        marked(design.price().usd(), Price { is_open: place.is_open(), ..design.price() })
    };
    place.design().map_or("-".to_owned(), of)
}

/// Prints an amount with a plus where a part has no price, and a question mark where a limit is not
/// known.
fn marked(usd: f64, price: Price) -> String {
    let unpriced = if price.is_unpriced { "+" } else { "" };
    let open = if price.is_open { "?" } else { "" };
    format!("{}{unpriced}{open}", dollars(usd))
}

/// Prints machines and disks, or pools, short.
pub(super) fn made_of(design: &ChosenDesign) -> String {
    match design {
        ChosenDesign::Disks(ranked) => with_disks(ranked),
        ChosenDesign::Network(ranked) => network::made_of(ranked),
    }
}

fn with_disks(ranked: &Ranked) -> String {
    let disks = ranked.volumes.iter().map(|chosen| {
        let size = if chosen.is_sized || chosen.is_local() {
            format!(" of {} GiB", format_count(chosen.size_bytes >> 30))
        } else {
            String::new()
        };
        let name = if chosen.is_local() { LOCAL_DISK } else { &chosen.disk };
        format!("{} x {name}{size}", chosen.n_disks)
    });
    let disks: Vec<String> = disks.collect();
    format!("{}, {}", ranked.machine.trim_start_matches("Standard_"), disks.join(", "))
}

fn totals(estate: &Estate<'_, '_>) -> String {
    let mut text = String::new();
    for (head, cells) in total_rows(estate) {
        text.push_str(&format!("{head:<NAME_COLUMNS$}"));
        for cell in cells {
            text.push_str(&format!("{cell:>PRICE_COLUMNS$}"));
        }
        text.push('\n');
    }
    let best = &estate.cheapest;
    if estate.markets.len() > 1 && best.n_designs > 0 {
        let wins: Vec<String> = (0..estate.markets.len())
            .map(|idx| {
                let n = estate.servers.iter().filter(|it| it.best() == Some(idx)).count();
                format!("{n} at {}", cloud(estate, idx))
            })
            .collect();
        let each = format!(
            "each where it is cheapest: USD {} a month for {} ({})",
            dollars(best.price.usd()),
            plural(best.n_designs, "server"),
            wins.join(", ")
        );
        text.push_str(&fill("", &each, COLUMNS));
    }
    text
}

/// Returns the totals by cloud, a row for each figure.
pub(super) fn total_rows(estate: &Estate<'_, '_>) -> Vec<(&'static str, Vec<String>)> {
    type Show = fn(&Totals) -> String;
    let of = |totals: &[Totals], show: Show| totals.iter().map(show).collect::<Vec<String>>();
    let usd: Show = |totals| marked(totals.price.usd(), totals.price);
    let mut rows = vec![
        ("carried", of(&estate.totals, |totals| totals.n_designs.to_string())),
        ("USD a month", of(&estate.totals, usd)),
        ("  machines", of(&estate.totals, |totals| dollars(totals.machine_price.usd()))),
        ("disks", of(&estate.totals, |totals| format_count(totals.n_disks()))),
    ];
    if estate.totals.iter().any(|totals| totals.n_pools() > 0) {
        rows.push(("capacity pools", of(&estate.totals, |totals| format_count(totals.n_pools()))));
    }
    rows.extend([(
        "capacity, GiB",
        of(&estate.totals, |totals| format_count(totals.capacity_bytes() >> 30)),
    )]);
    let n_common = estate.common.first().map_or(0, |totals| totals.n_designs);
    let is_all = estate.totals.iter().all(|totals| totals.n_designs == n_common);
    if estate.markets.len() > 1 && !is_all {
        let n = estate.common.len();
        rows.push(("known everywhere", vec![n_common.to_string(); n]));
        rows.push(("  USD for these", of(&estate.common, usd)));
    }
    rows
}

/// Returns what stands out, a title with lines for each sort.
pub(super) fn stand_out(estate: &Estate<'_, '_>) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    let of = |idx: &usize| &estate.servers[*idx];
    let missed = &estate.outliers.missed;
    if !missed.is_empty() {
        let mut lines: Vec<String> = missed.iter().take(NAMED_MAX).map(|it| miss(of(it))).collect();
        more(&mut lines, missed.len());
        lines.extend(missed.first().map(|it| format!("see: {}", estate.look_into(of(it)))));
        all.push((format!("Nothing carries {}", plural(missed.len(), "server")), lines));
    }
    let open = &estate.outliers.open;
    if !open.is_empty() {
        let line = |server: &Server| {
            let CloudResult::Carried { design, unknown, .. } = &server.places[server.best()?]
            else {
                return None;
            };
            let what = [&[made_of(design)], &unknown[..]].concat().join("; ");
            Some(format!("{}: {what}", server.name))
        };
        let of_open = open.iter().take(NAMED_MAX);
        let mut lines: Vec<String> = of_open.filter_map(|it| line(of(it))).collect();
        more(&mut lines, open.len());
        let what = plural(open.len(), "design");
        let title = format!("Of {what} not all limits, processors or memory are known");
        all.push((title, lines));
    }
    let dearest = &estate.outliers.dearest;
    if !dearest.is_empty() && estate.servers.len() > 1 {
        let total = estate.cheapest.price.usd();
        let line = |server: &Server| {
            let design = server.best().and_then(|best| server.places[best].design());
            design.map(|design| {
                let usd = design.price().usd();
                let part = format_percent_whole(usd / total);
                let what = made_of(design);
                format!("{}: USD {}, {part} of all: {what}", server.name, dollars(usd))
            })
        };
        let mut lines: Vec<String> = dearest.iter().filter_map(|it| line(of(it))).collect();
        lines.extend(dearest.first().map(|it| format!("see: {}", estate.look_into(of(it)))));
        all.push(("These cost most".to_owned(), lines));
    }
    let far = &estate.outliers.far_above;
    if !far.is_empty() {
        let line = |server: &Server| {
            let best = server.best().map(|best| &server.places[best]);
            let Some(CloudResult::Carried { design, filled: Some(filled), .. }) = best else {
                return String::new();
            };
            format!(
                "{}: USD {}, {} used at most: {}",
                server.name,
                dollars(design.price().usd()),
                format_percent_whole(filled.share),
                part(&filled.part)
            )
        };
        let mut lines: Vec<String> = far.iter().take(NAMED_MAX).map(|it| line(of(it))).collect();
        more(&mut lines, far.len());
        let what = plural(far.len(), "design");
        all.push((format!("{what} would carry twice the need: nothing smaller is sold"), lines));
    }
    all
}

fn more(lines: &mut Vec<String>, n_all: usize) {
    if n_all > NAMED_MAX {
        lines.push(format!("and {} more: `--as csv` has all", n_all - NAMED_MAX));
    }
}

/// Returns which part of a design is used most.
pub(super) fn part(part: &Part) -> String {
    match part {
        Part::Cap { cap, whose } => format!("{cap} of {whose}"),
        Part::Capacity { mount } => format!("capacity of {mount}"),
        Part::Vcpus => "processors".to_owned(),
        Part::Memory => "memory".to_owned(),
    }
}

/// Returns what comes nearest to a server that nothing carries, in the cloud that comes nearest.
fn miss(server: &Server) -> String {
    let part = |place: &CloudResult| match place {
        CloudResult::Missed { nearest, .. } => match nearest.as_ref() {
            NearestDesign::Disks(Nearest::Part { part, of: Lack::Ios, .. })
            | NearestDesign::Network(Some((part, _))) => *part,
            NearestDesign::Disks(
                Nearest::Part { .. }
                | Nearest::Machine { .. }
                | Nearest::Refused
                | Nearest::Nothing { .. },
            )
            | NearestDesign::Network(None) => 0.0,
        },
        CloudResult::Carried { .. } => 1.0,
    };
    let best = server.places.iter().max_by(|a, b| part(a).total_cmp(&part(b)));
    let text = match best {
        Some(CloudResult::Missed { nearest, why }) => short(nearest, why.as_ref()),
        _ => String::new(),
    };
    format!("{}: {text}", server.name)
}

/// Says in one line what comes nearest to a need that nothing carries.
pub(super) fn short(nearest: &NearestDesign, why: Option<&Rejection>) -> String {
    let near = |(of, part): (Lack, f64), made_of: String| {
        let why = why.map_or(String::new(), |why| format!("; {}", why_text(why)));
        format!("nearest, {}, on {made_of}{why}", part_of(of, part))
    };
    match nearest {
        NearestDesign::Disks(Nearest::Part { of, part, design }) => {
            near((*of, *part), with_disks(design))
        }
        NearestDesign::Network(Some((part, design))) => {
            near((Lack::Ios, *part), network::made_of(design))
        }
        NearestDesign::Disks(Nearest::Machine { vcpus_max, memory_gib_max }) => {
            let most = |most: &Option<f64>| most.map_or("unknown".to_owned(), format_number);
            let (vcpus, memory) = (most(vcpus_max), most(memory_gib_max));
            format!("no machine is large enough: at most {vcpus} vCPUs, {memory} GiB of memory")
        }
        NearestDesign::Disks(Nearest::Refused) => NONE_TAKEN.to_owned(),
        NearestDesign::Disks(Nearest::Nothing { capacity, latency }) => {
            several(*capacity, *latency)
        }
        NearestDesign::Network(None) => {
            "no network volume has the capacity or the latency, or no machine \
                                the processors or memory, that are asked"
                .to_owned()
        }
    }
}

/// Returns shared volumes that several files name, with the servers of these files.
fn shared_by_several<'a>(estate: &'a Estate<'_, '_>) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for server in &estate.servers {
        for volume in server.asked.need.volumes.iter().filter(|volume| volume.is_shared) {
            all.entry(&volume.mount).or_default().push(&server.name);
        }
    }
    all.retain(|_, servers| servers.len() > 1);
    all
}

/// Returns the notes on what the catalogue does not know.
fn of_unknown(estate: &Estate<'_, '_>) -> Vec<String> {
    let is_open = estate.totals.iter().any(|totals| totals.n_open > 0);
    let asks = estate.servers.iter().any(|server| server.asked.need.memory_gib.is_some());
    let open = "`?`: a limit, or processors or memory that are asked for, is not known of it, or \
                whether its machine takes its disks";
    let memory = "machines whose memory is not known stand last where it is asked: `plimsoll \
                  design` of a file alone names those that would cost less";
    let all = [(is_open, open), (asks, memory)].into_iter();
    all.filter(|(is_said, _)| *is_said).map(|(_, text)| text.to_owned()).collect()
}

/// Returns the notes on the figures.
pub(super) fn notes(estate: &Estate<'_, '_>) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for market in &estate.markets {
        let terms = &market.terms;
        let region = terms.region.as_deref().unwrap_or("no region");
        let mut text = format!(
            "{} {region}: edition {}, {}, {} h a month",
            terms.cloud.title(),
            terms.edition,
            terms.term.as_str(),
            terms.month_hours
        );
        if terms.machine_hours < terms.month_hours {
            text.push_str(&format!(", machines run {} h", terms.machine_hours));
        }
        if terms.cloud == Cloud::Gcp {
            text.push_str("; of many machine types no source gives the limits of disks");
        }
        notes.push(text);
    }
    if estate.args.headroom > 0.0 {
        let more = format_percent_whole(estate.args.headroom);
        notes.push(format!("every cap carries {more} more than is asked"));
    }
    if estate.totals.iter().any(|totals| totals.n_unpriced > 0) {
        notes.push("`+`: parts of it have no price there, which is not counted".to_owned());
    }
    notes.extend(of_unknown(estate));
    let is_reading = |server: &&Server| {
        let best = server.best().map(|best| &server.places[best]);
        let Some(CloudResult::Carried { other_readings, .. }) = best else { return false };
        !other_readings.is_empty()
    };
    let readings: Vec<&str> =
        estate.servers.iter().filter(is_reading).map(|it| it.name.as_str()).collect();
    if !readings.is_empty() {
        notes.push(format!(
            "whether the design carries it depends on how many bytes a published MB has, which is \
             not stated: {}",
            readings.join(", ")
        ));
    }
    for (mount, files) in shared_by_several(estate) {
        notes.push(format!(
            "{mount} is shared in {} files, and has a volume and a pool of its own for each: {}. \
             If it is one volume, write the loads of all into one file",
            files.len(),
            files.join(", ")
        ));
    }
    let asked = estate.servers.iter().filter(|it| !it.asked.notes.is_empty()).count();
    if asked > 0 {
        notes.push(format!(
            "{} incomplete: `plimsoll design` of that file alone shows what is not known",
            match asked {
                1 => "1 file of needs is".to_owned(),
                n => format!("{n} files of needs are"),
            }
        ));
    }
    if !estate.wrong.is_empty() {
        let files = plural(estate.wrong.len(), "file");
        notes.push(format!("left out for mistakes, {files}: {}", estate.wrong.join(", ")));
    }
    notes
}
