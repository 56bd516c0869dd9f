//! Why this design, why not a cheaper one, and what would lift what binds.

use ::catalog::cost::{Order, cost};
use ::design::advice::advice;
use ::design::{Asked, Judged, PhaseJudged, Ranked, bill, judge, parse, rejected, remedies};
use volume::Design;

use super::text::{COLUMNS, binds, design as of_design, disks, dollars, head, number, why_text};
use super::{Answer, Args, options};
use crate::fill::fill;

/// Most caps of a phase that are shown.
const CAPS_MAX: usize = 8;

/// Most changes that are proposed.
const REMEDIES_MAX: usize = 3;

/// Returns the page.
pub(super) fn page(args: &Args, asked: &Asked, answer: &Answer<'_>, ranked: &Ranked) -> String {
    let mut page = head(args, asked);
    page.push('\n');
    let idx = usize::from(args.explain.unwrap_or(1)) - 1;
    page.push_str(&of_design(answer, asked, idx, ranked));
    let Some(design) = parse(&answer.market, &asked.need, ranked) else { return page };
    let judged = judge(&design, &asked.need);
    page.push_str("\nWhat it costs\n");
    page.push_str(&lines(answer, &design));
    page.push_str("\nWhat is asked of each cap\n");
    for phase in &judged.phases {
        page.push_str(&caps(phase));
    }
    page.push_str("\nWhy not a cheaper one\n");
    page.push_str(&cheaper(args, asked, answer, ranked));
    page.push_str("\nWhat lifts what binds\n");
    page.push_str(&lifts(&design, &judged));
    page.push_str("\nRules that apply\n");
    for advice in advice(&design, &asked.need, &judged) {
        page.push_str(&fill("  ", &advice.rule, COLUMNS));
        page.push_str(&fill("      ", &format!("{} ({})", advice.reason, advice.source), COLUMNS));
    }
    page
}

/// Returns each part of the price.
fn lines(answer: &Answer<'_>, design: &Design) -> String {
    let terms = &answer.market.terms;
    let order = bill::order(design, terms.region.as_deref(), 0.0);
    let Some((order, edition)) = order.ok().zip(design.rows()) else { return String::new() };
    let order = Order {
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
            for line in &cost.lines {
                let (name, source) = (&line.price.name, &line.price.source);
                let what = format!("{} x {name}, {}", line.count, line.price.part.as_str());
                text.push_str(&format!("  {what:<48}{:>14}\n", dollars(line.usd)));
                let origin = format!("{}, {}", source.title, source.date);
                text.push_str(&fill("      ", &origin, COLUMNS));
                if !line.price.note.is_empty() {
                    text.push_str(&fill("      ", &line.price.note, COLUMNS));
                }
            }
            text
        }
    }
}

fn caps(phase: &PhaseJudged) -> String {
    let mut text = format!("  phase {}\n", phase.phase);
    text.push_str("    cap                  carries      asked  used headroom  what\n");
    for cap in phase.caps.iter().take(CAPS_MAX) {
        let is_bytes = cap.cap.bound.name().ends_with("bytes");
        let scale = if is_bytes { 1e6 } else { 1.0 };
        let used = format!("{:.0} %", cap.used / cap.cap.per_s * 100.0);
        let headroom = format!("{:+.0} %", cap.headroom() * 100.0);
        text.push_str(&format!(
            "    {:<17} {:>10} {:>10} {used:>5} {headroom:>8}  {}\n",
            cap.cap.bound,
            number(cap.cap.per_s / scale),
            number(cap.used / scale),
            cap.cap.name.trim_start_matches("Standard_")
        ));
    }
    text
}

fn cheaper(args: &Args, asked: &Asked, answer: &Answer<'_>, ranked: &Ranked) -> String {
    let mut text = fill(
        "  ",
        "Every machine, type, number of disks and cache mode was compared. Next to it, cheaper, \
         and rejected:",
        COLUMNS,
    );
    let all = rejected(&answer.market, &asked.need, ranked, &options(args));
    for rejected in &all {
        let line = format!(
            "{}, USD {}: {}",
            rejected.change,
            dollars(rejected.price.usd()),
            why_text(&rejected.why)
        );
        text.push_str(&fill("  - ", &line, COLUMNS));
    }
    if all.is_empty() {
        text.push_str("  - nothing: no machine and no disks are cheaper\n");
    }
    text
}

fn lifts(design: &Design, judged: &Judged) -> String {
    let mut text = fill("  ", &binds(judged), COLUMNS);
    let Some((phase, tightest)) = judged.tightest() else { return text };
    let is_on_it = |flow_idx: &usize| {
        let caps = &phase.done[*flow_idx].caps;
        caps.iter().any(|(cap, _)| {
            (cap.bound, cap.scope, &cap.name)
                == (tightest.cap.bound, tightest.cap.scope, &tightest.cap.name)
        })
    };
    let Some(flow_idx) = (0..phase.flows.len()).find(is_on_it) else { return text };
    for remedy in remedies(design, phase, flow_idx).iter().take(REMEDIES_MAX) {
        let line = format!("{}: {} IOPS of that load", remedy.change, number(remedy.iops));
        text.push_str(&fill("  - ", &line, COLUMNS));
    }
    text
}

/// Prints what a design is made of, on one line.
pub(super) fn made_of(ranked: &Ranked) -> String {
    let all: Vec<String> = ranked.volumes.iter().map(disks).collect();
    format!("{} with {}", ranked.machine, all.join(" and "))
}
