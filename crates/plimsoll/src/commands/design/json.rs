//! Designs as JSON.

use ::design::advice::{Advice, advice};
use ::design::explain::Change;
use ::design::{
    Judged, Lack, Nearest, Price, Ranked, Rejected, SearchInput, Terms, judge, parse, rejected,
    toml,
};
use serde_json::{Value, json};
use volume::Design;
use volume::design::Interface;
use volume::limits::by_depth;

use super::explain::{lifts, made_of};
use super::frontier::{Frontier, frontier};
use super::text::{cents, notes, of_unsized, why_text};
use super::{Args, CloudAnswer, options};
use crate::commands::explained::{changes_json, rows_json, rules_json};
use crate::exit::Failure;

/// Name and version of the layout.
pub(super) const SCHEMA: &str = "plimsoll.design/1";

/// Returns the front of price against headroom.
///
/// # Errors
/// If the need is none.
pub(super) fn pareto(
    args: &Args,
    asked: &SearchInput,
    answers: &[CloudAnswer<'_>],
) -> Result<String, Failure> {
    let mut clouds = Vec::new();
    for answer in answers {
        let front = frontier(args, asked, answer)?;
        let mut found = front_of(&front, |ranked| design(asked, answer, ranked));
        put_place(&mut found, &answer.market.terms, answer.found.n_machines);
        let of_machines = answer.unsized_machines.as_ref().map(of_unsized);
        found["notes"] = json!(of_machines.into_iter().collect::<Vec<_>>());
        clouds.push(found);
    }
    Ok(fronts(args, asked, &clouds))
}

/// Returns a front of price against headroom.
pub(super) fn front_of<D>(front: &Frontier<D>, design: impl Fn(&D) -> Value) -> Value {
    json!({
        "designs": front.designs.iter().map(design).collect::<Vec<_>>(),
        "none_from_headroom": front.none_from,
    })
}

/// Returns the page of the fronts of all places.
pub(super) fn fronts(args: &Args, asked: &SearchInput, places: &[Value]) -> String {
    let page = json!({
        "schema": SCHEMA,
        "headroom": args.headroom,
        "notes": asked.notes,
        "pareto": places,
    });
    format!("{page:#}\n")
}

/// Returns the page.
pub(super) fn page(
    args: &Args,
    asked: &SearchInput,
    answers: &[CloudAnswer<'_>],
    explained: Option<(&CloudAnswer<'_>, &Ranked)>,
) -> String {
    let of_answer = |answer: &CloudAnswer<'_>| {
        let designs = answer.found.designs.iter().map(|ranked| design(asked, answer, ranked));
        let mut found = json!({
            "designs": designs.collect::<Vec<_>>(),
            "nearest": answer.nearest.as_ref().map(nearest),
            "nearest_known": answer.nearest_known.as_ref().map(nearest),
            "notes": notes(asked, answer),
        });
        put_place(&mut found, &answer.market.terms, answer.found.n_machines);
        found
    };
    let page = json!({
        "schema": SCHEMA,
        "headroom": args.headroom,
        "notes": asked.notes,
        "clouds": answers.iter().map(of_answer).collect::<Vec<_>>(),
        "explained": explained.map(|(answer, ranked)| explain(args, asked, answer, ranked)),
    });
    format!("{page:#}\n")
}

/// Adds where and at what prices was searched, in so many machine sizes.
pub(super) fn put_place(found: &mut Value, terms: &Terms, n_machines: usize) {
    found["cloud"] = terms.cloud.as_str().into();
    found["region"] = terms.region.clone().into();
    found["edition"] = terms.edition.clone().into();
    found["term"] = terms.term.as_str().into();
    found["month_hours"] = terms.month_hours.into();
    found["machine_hours"] = terms.machine_hours.into();
    found["n_machines"] = n_machines.into();
}

pub(super) fn price(price: Price) -> Value {
    json!({
        "usd": cents(price.usd()) as f64 / 100.0,
        "is_unpriced": price.is_unpriced,
        "is_open": price.is_open,
    })
}

fn design(asked: &SearchInput, answer: &CloudAnswer<'_>, ranked: &Ranked) -> Value {
    let volumes = asked.need.volumes.iter().zip(&ranked.volumes).map(|(volume, chosen)| {
        json!({
            "mount": volume.mount,
            "disk": chosen.disk,
            "count": chosen.n_disks,
            "cache": format!("{:?}", chosen.cache),
            "chunk_bytes": chosen.chunk_bytes,
            "size_bytes": chosen.size_bytes,
            "iops": chosen.iops,
            "throughput_bytes_per_s": chosen.throughput,
            "price": price(chosen.price),
        })
    });
    let judged = parse(&answer.market, &asked.need, ranked).map(|it| judge(&it, &asked.need));
    json!({
        "machine": ranked.machine,
        "interface": ranked.interface.map(Interface::as_str),
        "machine_price": price(ranked.machine_price),
        "price": price(ranked.price),
        "headroom": share(ranked.headroom),
        "n_parts": ranked.n_parts,
        "binds": judged.as_ref().and_then(tightest),
        "series": super::series::json(answer, asked, ranked),
        "volumes": volumes.collect::<Vec<_>>(),
        "toml": toml(&answer.market.terms, &asked.need, ranked, &made_of(ranked)),
    })
}

/// Returns a share with the digits that mean something: four of a percent.
pub(super) fn share(value: f64) -> Option<f64> {
    finite((value * 1e6).round() / 1e6)
}

/// Returns a share as percent, likewise.
pub(super) fn percent(value: f64) -> Option<f64> {
    finite((value * 1e6).round() / 1e4)
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

fn tightest(judged: &Judged) -> Option<Value> {
    let (phase, cap) = judged.tightest()?;
    Some(json!({
        "phase": phase.phase,
        "cap": cap.cap.bound.name(),
        "name": cap.cap.name,
        "headroom": share(cap.headroom()),
    }))
}

fn nearest(nearest: &Nearest) -> Value {
    match nearest {
        Nearest::Part { of, part, design } => {
            let of = match of {
                Lack::Ios => "ios",
                Lack::Capacity => "capacity",
                Lack::Latency => "latency",
            };
            json!({"part": part, "of": of, "design": made_of(design)})
        }
        Nearest::Machine { vcpus_max, memory_gib_max } => {
            json!({"vcpus_max": vcpus_max, "memory_gib_max": memory_gib_max})
        }
        Nearest::Refused => json!({}),
        Nearest::Nothing { capacity, latency } => {
            json!({"capacity_part": capacity, "latency_part": latency})
        }
    }
}

fn explain(args: &Args, asked: &SearchInput, answer: &CloudAnswer<'_>, ranked: &Ranked) -> Value {
    let Some(design) = parse(&answer.market, &asked.need, ranked) else { return Value::Null };
    let judged = judge(&design, &asked.need);
    let why = Why {
        changes: lifts(args, asked, answer, ranked, &judged),
        cheaper: rejected(&answer.market, &asked.need, ranked, &options(args)),
        rules: advice(&design, &asked.need, &judged),
    };
    explained(&made_of(ranked), (&design, &judged), &why)
}

/// What is said of a design beside its caps.
pub(super) struct Why {
    /// What lifts the caps that bind.
    pub(super) changes: Vec<Change>,
    /// Cheaper designs, with what rejects them.
    pub(super) cheaper: Vec<Rejected>,
    /// Rules that apply.
    pub(super) rules: Vec<Advice>,
}

/// Returns why a design is chosen: every cap with its load, what lifts what binds, and what rejects
/// cheaper ones.
pub(super) fn explained(made_of: &str, (design, judged): (&Design, &Judged), why: &Why) -> Value {
    let cheaper = why
        .cheaper
        .iter()
        .map(|it| json!({"change": it.change, "price": price(it.price), "why": why_text(&it.why)}));
    json!({
        "design": made_of,
        "phases": phases(design, judged),
        "lifted_by": changes_json(&why.changes),
        "cheaper_rejected": cheaper.collect::<Vec<_>>(),
        "rules": rules_json(&why.rules),
    })
}

fn phases(design: &Design, judged: &Judged) -> Vec<Value> {
    let phases = judged.phases.iter().map(|phase| {
        let caps = phase.caps.iter().map(|cap| {
            json!({
                "cap": cap.cap.bound.name(),
                "name": cap.cap.name,
                "per_s": cap.cap.per_s,
                "asked_per_s": cap.used,
                "asked_share": cap.share(),
                "is_on_credits": cap.is_on_credits(),
                "headroom": share(cap.headroom()),
                "origin": cap.cap.origin,
            })
        });
        let volumes = phase.flows.iter().zip(&phase.done).enumerate().map(|(idx, (flow, done))| {
            let next = done.next();
            json!({
                "mount": design.volumes[usize::from(flow.volume)].mount,
                "iops": flow.demand,
                "size_bytes": flow.load.size_bytes,
                "read_share": flow.load.read_share,
                "is_sequential": flow.load.is_sequential,
                "first_cap": done.first().map(|cap| cap.bound.name()),
                "next_cap": next.map(|(cap, _)| cap.bound.name()),
                "next_margin": next.and_then(|(_, margin)| share(margin)),
                "by_depth": rows_json(&by_depth(design, &phase.flows, idx)),
            })
        });
        json!({
            "phase": phase.phase,
            "caps": caps.collect::<Vec<_>>(),
            "loads": volumes.collect::<Vec<_>>(),
        })
    });
    phases.collect()
}
