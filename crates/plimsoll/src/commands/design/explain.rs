//! Why this design, why not a cheaper one, and what would lift what binds.

use ::catalog::cost::{Purchase, cost};
use ::design::advice::{Advice, advice};
use ::design::explain::{Change, changes, changes_of_found, explain};
use ::design::{
    CapAsked, Changed, Judged, Lift, PhaseJudged, Ranked, Rejected, SearchInput, Terms, bill,
    judge, parse, rejected,
};
use units::{format_change_whole, format_number, format_percent_whole};
use volume::{CacheMode, Design};

use super::text::{
    COLUMNS, binds, design as of_design, disks, dollars, head, of_unsized, price, size, unit_of,
    why_text,
};
use super::{Args, CloudAnswer, options};
use crate::commands::explained;
use crate::fill::fill;

/// Most changes that are proposed.
const CHANGES_MAX: usize = 5;

/// Returns the page.
pub(super) fn page(
    args: &Args,
    asked: &SearchInput,
    answer: &CloudAnswer<'_>,
    ranked: &Ranked,
) -> String {
    let mut page = head(args, asked);
    page.push('\n');
    let idx = usize::from(args.explain.unwrap_or(1)) - 1;
    page.push_str(&of_design(answer, asked, idx, ranked));
    let Some(design) = parse(&answer.market, &asked.need, ranked) else { return page };
    let judged = judge(&design, &asked.need);
    let all = rejected(&answer.market, &asked.need, ranked, &options(args));
    let compared = "Every machine, type, number of disks and cache mode was compared. Next to it, \
                    cheaper, and rejected:";
    let mut cheaper = fill("  ", compared, COLUMNS);
    cheaper.push_str(&rejections(&all, "no machine and no disks are"));
    if let Some(machines) = &answer.unsized_machines {
        cheaper.push_str(&fill("  - ", &of_unsized(machines), COLUMNS));
    }
    let rules = advice(&design, &asked.need, &judged);
    let changes = lifts(args, asked, answer, ranked, &judged);
    page + &sections(&answer.market.terms, (&design, &judged), &cheaper, &changes, &rules)
}

/// Returns what is said of a chosen design, whatever it is made of; `cheaper` is why it is not a
/// cheaper one, and `changes` are what lifts its tightest cap.
pub(super) fn sections(
    terms: &Terms,
    (design, judged): (&Design, &Judged),
    cheaper: &str,
    changes: &[Change],
    rules: &[Advice],
) -> String {
    let loads: String = judged.phases.iter().map(caps).collect();
    let then = |change: &Change| format!("{} IOPS of that load", format_number(change.remedy.iops));
    let lifts = fill("  ", &binds(judged), COLUMNS) + &explained::list("  ", changes, then);
    let all = [
        ("What it costs", &*lines(terms, design)),
        ("Load on each cap", &*loads),
        ("What each load does by queue depth", &*depths(design, judged)),
        ("Why not a cheaper one", cheaper),
        ("What lifts what binds", &*lifts),
        ("Rules that apply", &*explained::rules(rules)),
    ];
    all.iter().map(|(title, text)| format!("\n{title}\n{text}")).collect()
}

/// Lists cheaper designs with what rejects each; `none` is what is not cheaper where there are
/// none.
pub(super) fn rejections(all: &[Rejected], none: &str) -> String {
    let line = |it: &Rejected| {
        let price = if it.price.is_unpriced {
            price(it.price)
        } else {
            format!("USD {}", dollars(it.price.usd()))
        };
        fill("  - ", &format!("{}, {price}: {}", it.change, why_text(&it.why)), COLUMNS)
    };
    match all {
        [] => format!("  - nothing: {none} cheaper\n"),
        all => all.iter().map(line).collect(),
    }
}

/// Returns each part of the price.
fn lines(terms: &Terms, design: &Design) -> String {
    let order = bill::order(design, terms.region.as_deref(), 0.0);
    let Some((order, edition)) = order.ok().zip(design.rows()) else { return String::new() };
    let order = Purchase {
        term: terms.term,
        month_hours: terms.month_hours,
        machine_hours: terms.machine_hours,
        is_full_month: terms.is_full_month,
        ..order
    };
    match cost(edition, &order) {
        Err(error) => fill("  ", &error.to_string(), COLUMNS),
        Ok(cost) => {
            let mut text = String::new();
            let mut notes: Vec<&str> = Vec::new();
            for line in &cost.lines {
                let (name, source) = (&line.price.name, &line.price.source);
                let what = format!("{} x {name}, {}", line.count, line.price.part.as_str());
                text.push_str(&format!("  {what:<48}{:>14}\n", dollars(line.usd)));
                let origin = format!("{}, {}", source.title, source.date);
                text.push_str(&fill("      ", &origin, COLUMNS));
                // Of volumes on disks of one type once.
                let note: &str = &line.price.note;
                if !note.is_empty() && !notes.contains(&note) {
                    text.push_str(&fill("      ", note, COLUMNS));
                    notes.push(note);
                }
            }
            text
        }
    }
}

/// What the figures of a cap mean that carries what is asked on burst credits.
pub(super) const ON_CREDITS: &str = "On credits: the cap sustains the rate shown, and carries the \
                                     captured load above it on burst credits. Used share and \
                                     headroom are those of the largest series of that shape that \
                                     the credits carry. Credits of machines are not counted.";

fn caps(phase: &PhaseJudged) -> String {
    let mut text = format!("  phase {}\n", phase.phase);
    text.push_str("    cap                  carries      asked  used headroom  what\n");
    for cap in &phase.caps {
        let (_, scale) = unit_of(cap.cap.bound);
        let used = format_percent_whole(cap.share());
        let headroom = format_change_whole(cap.headroom());
        text.push_str(&format!(
            "    {:<17} {:>10} {:>10} {used:>5} {headroom:>8}  {}{}\n",
            cap.cap.bound,
            format_number(cap.cap.per_s / scale),
            format_number(cap.used / scale),
            cap.cap.name.trim_start_matches("Standard_"),
            if cap.is_on_credits() { " *" } else { "" }
        ));
    }
    if phase.caps.iter().any(CapAsked::is_on_credits) {
        text.push_str(&fill("    * ", ON_CREDITS, COLUMNS));
    }
    text
}

/// Returns the largest load of each volume in the tightest phase.
fn main_flows(judged: &Judged) -> Option<(&PhaseJudged, Vec<usize>)> {
    let (phase, _) = judged.tightest()?;
    let demand = |idx: &usize| phase.flows[*idx].demand.unwrap_or(0.0);
    let mut main: Vec<usize> = Vec::new();
    for idx in 0..phase.flows.len() {
        let is_same = |other: &&mut usize| phase.flows[**other].volume == phase.flows[idx].volume;
        match main.iter_mut().find(is_same) {
            Some(other) if demand(&idx) > demand(other) => *other = idx,
            Some(_) => {}
            None => main.push(idx),
        }
    }
    Some((phase, main))
}

/// Returns rate and latency by queue depth of the largest load of each volume.
fn depths(design: &Design, judged: &Judged) -> String {
    let Some((phase, main)) = main_flows(judged) else { return String::new() };
    let mut text = String::new();
    for idx in main {
        let flow = &phase.flows[idx];
        let explained = explain(design, &phase.flows, idx);
        let mount = &design.volumes[usize::from(flow.volume)].mount;
        let load = &flow.load;
        let places = if load.is_sequential { "in order" } else { "at random places" };
        let what = format!(
            "phase {}: {} IOPS of {} {places}, {} reads",
            phase.phase,
            format_number(flow.demand.unwrap_or(0.0)),
            size(load.size_bytes),
            format_percent_whole(load.read_share)
        );
        text.push_str(&fill(&format!("  {mount}: "), &what, COLUMNS));
        text.push_str(&explained::held("    ", &explained, flow));
        text.push_str(&explained::table("    ", &explained, flow));
    }
    text
}

/// Returns the tightest cap's flow, of which changes are looked for.
fn tightest_flow(judged: &Judged) -> Option<(&PhaseJudged, usize)> {
    let (phase, tightest) = judged.tightest()?;
    let is_on_it = |flow_idx: &usize| {
        let caps = &phase.done[*flow_idx].caps;
        caps.iter().any(|(cap, _)| {
            (cap.bound, cap.scope, &cap.name)
                == (tightest.cap.bound, tightest.cap.scope, &tightest.cap.name)
        })
    };
    (0..phase.flows.len()).find(is_on_it).map(|flow_idx| (phase, flow_idx))
}

/// Returns the changes that lift the tightest cap of a design, whatever it was found by.
pub(super) fn lifts_of_design(design: &Design, judged: &Judged, terms: &Terms) -> Vec<Change> {
    let Some((phase, flow_idx)) = tightest_flow(judged) else { return Vec::new() };
    let mut changes = changes(design, &phase.flows, flow_idx, terms);
    changes.truncate(CHANGES_MAX);
    changes
}

/// Returns the changes that lift the tightest cap, the cheapest first.
pub(super) fn lifts(
    args: &Args,
    asked: &SearchInput,
    answer: &CloudAnswer<'_>,
    ranked: &Ranked,
    judged: &Judged,
) -> Vec<Change> {
    let Some((phase, flow_idx)) = tightest_flow(judged) else { return Vec::new() };
    let options = options(args);
    let search = (&answer.market, &asked.need, &options);
    let words = |lift: &Lift| change_text(asked, ranked, lift);
    let mut changes = changes_of_found(search, ranked, (&phase.flows, flow_idx), words);
    changes.truncate(CHANGES_MAX);
    changes
}

/// Prints what is changed.
fn change_text(asked: &SearchInput, ranked: &Ranked, lift: &Lift) -> String {
    let chosen = |volume: usize| (&lift.ranked.volumes[volume], &asked.need.volumes[volume].mount);
    match lift.changed {
        Changed::Machine => format!("{} in place of {}", lift.ranked.machine, ranked.machine),
        Changed::Disks(volume) => {
            let (chosen, mount) = chosen(volume);
            format!("{} at {mount}", disks(chosen))
        }
        Changed::Cache(volume) => {
            let (chosen, mount) = chosen(volume);
            let cache = match chosen.cache {
                CacheMode::None => "no host cache",
                CacheMode::ReadOnly => "a ReadOnly host cache",
                CacheMode::ReadWrite => "a ReadWrite host cache",
            };
            format!("{cache} at {mount}")
        }
        Changed::StripeUnit(volume) => {
            let (chosen, mount) = chosen(volume);
            format!("a stripe unit of {} KiB at {mount}", chosen.chunk_bytes >> 10)
        }
    }
}

/// Prints what a design is made of, on one line.
pub(super) fn made_of(ranked: &Ranked) -> String {
    let all: Vec<String> = ranked.volumes.iter().map(disks).collect();
    format!("{} with {}", ranked.machine, all.join(" and "))
}
