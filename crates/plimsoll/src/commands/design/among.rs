//! `--among`: designs of the user's own, ranked by what they cost and whether they carry the need.

use std::collections::BTreeSet;
use std::sync::Arc;

use ::catalog::Catalog;
use ::catalog::cost::{Line, Purchase, cost};
use ::design::advice::advice;
use ::design::{Judged, Price, Rejected, Rejection, SearchInput, Terms, bill, judge, netapp};
use serde_json::{Value, json};
use units::plural;
use volume::Design;
use volume::design::{Backing, MB_READINGS, ReadAs, parse_as};

use super::explain::{lifts_of_design, rejections, sections};
use super::json::{self, Why, share};
use super::text::{COLUMNS, binds, cents, dollars, head, why_text};
use super::{Args, edition};
use crate::commands::on;
use crate::exit::{Exit, Failure};
use crate::fill::fill;
use crate::stream;

/// A design that was looked at.
struct RankedDesign {
    name: String,
    design: Design,
    judged: Judged,
    why_not: Option<Rejection>,
    /// What the catalogue does not know of it, as sentences: limits that may hold it all the same.
    unknown: Vec<String>,
    /// US dollars a month, or why there is no price.
    usd: Result<f64, String>,
    /// What the sources of its prices add.
    price_notes: Vec<String>,
    /// Bytes of a published MB by which the verdict is another one.
    other_readings: Vec<u64>,
}

impl RankedDesign {
    /// Returns whether it carries the need, and whether a limit that is not known may hold it.
    fn standing(&self) -> Standing {
        match (&self.why_not, self.unknown.is_empty()) {
            (None, true) => Standing::Carries,
            (None, false) => Standing::CarriesAsFarAsKnown,
            (Some(_), _) => Standing::Rejected,
        }
    }
}

/// What is said of a design, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// All of its limits are known, and carry the need.
    Carries,
    /// Those that are known do.
    CarriesAsFarAsKnown,
    /// A limit that is known does not.
    Rejected,
}

/// Ranks the designs that are named.
pub(super) fn run(
    args: &Args,
    asked: &SearchInput,
    catalog: &Arc<Catalog>,
) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    for name in &args.among {
        all.push(rank_named(args, asked, name, catalog)?);
    }
    // What carries the need before what may, and that before what does not; a price before none,
    // and less before more.
    let rank = |it: &RankedDesign| {
        let usd = it.usd.as_ref().map_or(u64::MAX, |usd| (usd * 1e6).round() as u64);
        (it.standing(), it.usd.is_err(), usd)
    };
    all.sort_by_key(rank);
    let page = match args.explain {
        None if args.json => as_json(&all, None),
        None => as_text(args, asked, &all),
        Some(number) => {
            let idx = usize::from(number) - 1;
            if idx >= all.len() {
                let named = plural(all.len(), "design");
                let text = format!("`--explain {number}`: `--among` names {named}");
                return Err(Failure::wrong_use(text));
            }
            let explained = Explained::of(args, asked, &all, idx)?;
            if args.json {
                as_json(&all, Some(explained.as_json(&all[idx])))
            } else {
                explained.as_text(args, asked, &all, idx)
            }
        }
    };
    let is_carried = all.iter().any(|it| it.why_not.is_none());
    let exit = if is_carried { Exit::Fine } else { Exit::Missed };
    exit.once(stream::print(&page))
}

fn rank_named(
    args: &Args,
    asked: &SearchInput,
    name: &str,
    catalog: &Arc<Catalog>,
) -> Result<RankedDesign, Failure> {
    let edition = edition(args, catalog)?.info.name;
    let read_as = ReadAs { edition, ..ReadAs::default() };
    let on::Read { design, text, findings } = on::read_as(name, catalog, read_as)?;
    if args.edition.is_some() && design.edition != edition {
        let text = format!(
            "design `{name}` names edition {}, and `--edition {edition}` is given",
            design.edition
        );
        let hint = "`--edition` is for designs that name none: leave it out, or take `edition` \
                    out of the design";
        return Err(Failure::wrong_use(text).hint(hint));
    }
    let unknown = on::unknown_figures(&findings);
    let need = &asked.need;
    if design.volumes.len() != need.volumes.len() {
        let (has, asks) = (design.volumes.len(), need.volumes.len());
        let text = format!("design `{name}` has {has} volumes, and {asks} are asked for");
        return Err(Failure::wrong_use(text).hint(
            "give it one volume for each of the needs, in the same \
                                           order",
        ));
    }
    let mut scaled = need.clone();
    for phase in scaled.volumes.iter_mut().flat_map(|volume| &mut volume.phases) {
        phase.iops *= 1.0 + args.headroom;
    }
    let why_not = judge(&design, &scaled).why_not(&scaled);
    let other = |mb_bytes: &u64| {
        let read = parse_as(&text, catalog, ReadAs { mb_bytes: Some(*mb_bytes), ..read_as });
        read.0.is_some_and(|it| judge(&it, &scaled).why_not(&scaled).is_some() != why_not.is_some())
    };
    let other_readings = MB_READINGS.into_iter().filter(other).collect();
    let region = args.region.first().map(String::as_str).or(design.region.as_deref());
    let usd = bill::order(&design, region, 0.0).map_err(|error| error.to_string());
    let usd = usd.and_then(|order| {
        let order = Purchase {
            term: args.term,
            month_hours: args.hours,
            machine_hours: args.running.unwrap_or(args.hours),
            is_full_month: args.full_month,
            ..order
        };
        let edition = design.rows().ok_or("the design has no edition")?;
        cost(edition, &order).map_err(|error| error.to_string())
    });
    let noted = |line: &Line| format!("{}: {}", line.price.name, line.price.note);
    let price_notes = usd.iter().flat_map(|cost| &cost.lines);
    let price_notes: BTreeSet<String> =
        price_notes.filter(|line| !line.price.note.is_empty()).map(noted).collect();
    let usd = usd.map(|cost| cost.usd());
    let judged = judge(&design, need);
    Ok(RankedDesign {
        name: design.name.clone(),
        design,
        judged,
        why_not,
        unknown,
        usd,
        price_notes: price_notes.into_iter().collect(),
        other_readings,
    })
}

/// Why one of the designs does what it does.
struct Explained {
    why: Why,
    terms: Terms,
}

impl Explained {
    /// Explains one: what its parts cost, what fills its caps and what lifts them, and which of the
    /// cheaper ones do not carry the need.
    fn of(
        args: &Args,
        asked: &SearchInput,
        all: &[RankedDesign],
        idx: usize,
    ) -> Result<Self, Failure> {
        let RankedDesign { design, judged, .. } = &all[idx];
        let edition =
            design.rows().ok_or_else(|| Failure::wrong_use("the design has no edition"))?;
        let region = args.region.first().map(String::as_str).or(design.region.as_deref());
        let terms = Terms {
            edition: design.edition.clone(),
            term: args.term,
            month_hours: args.hours,
            machine_hours: args.running.unwrap_or(args.hours),
            is_full_month: args.full_month,
            mb_bytes: design.mb_bytes,
            ..Terms::new(design.cloud.unwrap_or(bill::cloud(design, edition)), region)
        };
        let is_network =
            |volume: &volume::design::Volume| matches!(volume.backing, Backing::Network(_));
        let rules = if design.volumes.iter().any(is_network) {
            netapp::advice(design, &asked.need, judged)
        } else {
            advice(design, &asked.need, judged)
        };
        let rejected = cheaper(all, idx).filter_map(|it| {
            let micro_usd = (it.usd.as_ref().ok()? * 1e6).round() as u64;
            let price = Price { micro_usd, ..Price::default() };
            Some(Rejected { change: it.name.clone(), price, why: it.why_not.clone()? })
        });
        let why = Why {
            changes: lifts_of_design(design, judged, &terms),
            cheaper: rejected.collect(),
            rules,
        };
        Ok(Explained { why, terms })
    }

    fn as_json(&self, of: &RankedDesign) -> Value {
        json::explained(&of.name, (&of.design, &of.judged), &self.why)
    }

    fn as_text(
        &self,
        args: &Args,
        asked: &SearchInput,
        all: &[RankedDesign],
        idx: usize,
    ) -> String {
        let of = &all[idx];
        let mut page = head(args, asked);
        page.push('\n');
        page.push_str(&one_as_text(idx, of));
        let carry: Vec<&str> = cheaper(all, idx)
            .filter(|it| it.why_not.is_none())
            .map(|it| it.name.as_str())
            .collect();
        let mut not = fill("  ", "Of the designs that are named, cheaper:", COLUMNS);
        if carry.is_empty() || !self.why.cheaper.is_empty() {
            not.push_str(&rejections(&self.why.cheaper, "none of the others is"));
        }
        for name in carry {
            not.push_str(&fill("  - ", &format!("{name}, which carries it, too"), COLUMNS));
        }
        let Why { changes, rules, .. } = &self.why;
        page + &sections(&self.terms, (&of.design, &of.judged), &not, changes, rules)
    }
}

/// Returns the designs that cost less than one of them.
fn cheaper(all: &[RankedDesign], idx: usize) -> impl Iterator<Item = &RankedDesign> {
    let usd = |it: &RankedDesign| it.usd.as_ref().ok().copied();
    let own = usd(&all[idx]);
    all.iter().filter(move |it| usd(it).zip(own).is_some_and(|(other, own)| other < own))
}

fn as_text(args: &Args, asked: &SearchInput, all: &[RankedDesign]) -> String {
    let mut page = head(args, asked);
    page.push_str(&format!("\n{}, {} h a month\n", plural(all.len(), "design"), args.hours));
    for (idx, it) in all.iter().enumerate() {
        page.push_str(&one_as_text(idx, it));
    }
    page
}

fn one_as_text(idx: usize, it: &RankedDesign) -> String {
    let price = match &it.usd {
        Ok(usd) => format!("USD {} a month", dollars(*usd)),
        Err(why) => why.clone(),
    };
    let mut text = fill(&format!("{:>3}  ", idx + 1), &format!("{price}: {}", it.name), COLUMNS);
    let verdict = match (&it.why_not, it.standing()) {
        (Some(why), _) => format!("rejected: {}", why_text(why)),
        (None, Standing::CarriesAsFarAsKnown) => format!(
            "carries it as far as the catalogue knows: {}; {}",
            it.unknown.join("; "),
            binds(&it.judged)
        ),
        (None, Standing::Carries | Standing::Rejected) => {
            format!("carries it; {}", binds(&it.judged))
        }
    };
    text.push_str(&fill("     ", &verdict, COLUMNS));
    for note in &it.price_notes {
        text.push_str(&fill("     note: ", note, COLUMNS));
    }
    if !it.other_readings.is_empty() {
        let bytes: Vec<String> = it.other_readings.iter().map(u64::to_string).collect();
        let note = format!(
            "the verdict depends on how many bytes a published MB has, which is not stated: of {} \
             bytes it is the other one",
            bytes.join(" or ")
        );
        text.push_str(&fill("     note: ", &note, COLUMNS));
    }
    text
}

fn as_json(all: &[RankedDesign], explained: Option<Value>) -> String {
    let one = |it: &RankedDesign| {
        json!({
            "name": it.name,
            "usd": it.usd.as_ref().ok().map(|usd| cents(*usd) as f64 / 100.0),
            "no_price": it.usd.as_ref().err(),
            "is_carried": it.why_not.is_none(),
            "is_known": it.unknown.is_empty(),
            "not_known": it.unknown,
            "why_not": it.why_not.as_ref().map(why_text),
            "headroom": share(it.judged.headroom()),
            "other_readings_mb_bytes": it.other_readings,
        })
    };
    let designs: Vec<_> = all.iter().map(one).collect();
    let mut page = json!({"schema": "plimsoll.design/1", "designs": designs});
    if let Some(explained) = explained {
        page["explained"] = explained;
    }
    format!("{page:#}\n")
}
