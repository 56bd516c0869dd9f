//! Why a load gets the rate it gets, as text and JSON: of `limits --demand` and `design --explain`.

use ::design::advice::Advice;
use ::design::explain::{Change, Explained};
use serde_json::{Value, json};
use units::{format_count, format_latency_ns, format_number, format_percent_whole};
use volume::limits::bound::headroom;
use volume::limits::{AtDepth, Bound, Flow};

use crate::fill::fill;

/// Columns of the text.
const COLUMNS: usize = 80;

/// Caps no further apart bind together.
const TIE: f64 = 0.001;

const NS_PER_S: f64 = 1e9;

/// Returns what holds a load and what comes next; of a need that is not met, to which part of it.
pub(super) fn held(indent: &str, explained: &Explained, flow: &Flow) -> String {
    let Some((first, left)) = explained.done.caps.first() else { return String::new() };
    let need = flow.demand.unwrap_or(0.0);
    let is_met = explained.done.binds == Bound::Nothing || explained.done.iops >= need;
    let what = if is_met {
        format!(
            "the first cap in the way is {} ({}), at {} IOPS",
            first.bound,
            first.name,
            format_number(*left)
        )
    } else {
        // Rounded down: what is missing never looks carried.
        let part = format_percent_whole((explained.done.iops / need * 100.0).floor() / 100.0);
        let rate = format_number(explained.done.iops);
        format!("{} ({}) throttles it to {rate} IOPS, {part} of the need", first.bound, first.name)
    };
    let next = explained.done.caps.get(1).map(|(cap, next)| {
        let margin = headroom(*next, *left);
        let how_far = match margin {
            margin if margin < TIE => "at the same rate".to_owned(),
            _ => format!("at {} IOPS", format_number(*next)),
        };
        format!("; the next is {} ({}), {how_far}", cap.bound, cap.name)
    });
    fill(indent, &format!("{what}{}", next.unwrap_or_default()), COLUMNS)
}

/// Returns the table of rate and latency by queue depth, and what it means.
pub(super) fn table(indent: &str, explained: &Explained, flow: &Flow) -> String {
    let mut text = format!("{indent}in flight         IOPS    latency  held by\n");
    for row in &explained.by_depth {
        text.push_str(&format!(
            "{indent}{:>9} {:>12} {:>10}  {}\n",
            format_number(f64::from(row.queue_depth)),
            format_number(row.iops),
            latency(row.latency_s),
            row.binds
        ));
    }
    text.push_str(&fill(indent, &meaning(explained, flow), COLUMNS));
    text
}

/// Says from where on more in flight brings nothing but waiting.
fn meaning(explained: &Explained, flow: &Flow) -> String {
    let Some(first) = explained.by_depth.first() else { return String::new() };
    let most = explained.by_depth.iter().map(|row| row.iops).fold(0.0, f64::max);
    if first.binds != Bound::QueueDepth {
        return format!(
            "one in flight waits already: without load it would take {}",
            latency(explained.latency_s)
        );
    }
    let corner = (most * explained.latency_s * (1.0 + 1e-9)).floor();
    let shortest = latency(explained.latency_s);
    let mut text = format!(
        "up to {} in flight take {shortest}, the latency without load; each more only waits longer",
        format_number(corner)
    );
    let need = flow.demand.filter(|need| *need <= most * (1.0 + 1e-9));
    if let Some(need) = need {
        let in_flight = format_number(need * explained.latency_s);
        text.push_str(&format!("; the need takes {in_flight} in flight on average"));
    }
    text
}

fn latency(seconds: f64) -> String {
    format_latency_ns((seconds * NS_PER_S).round() as u64)
}

/// Lists what lifts the first cap with prices; `then` says what each brings.
pub(super) fn list(indent: &str, changes: &[Change], then: impl Fn(&Change) -> String) -> String {
    let mut text = String::new();
    for change in changes {
        let line = format!("{}: {}; {}", change.remedy.change, then(change), price(change));
        text.push_str(&fill(&format!("{indent}- "), &line, COLUMNS));
    }
    let mut hints: Vec<String> = Vec::new();
    for hint in changes.iter().filter_map(|change| change.usd_more.as_ref().err()?.hint()) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    for hint in hints {
        text.push_str(&fill(&format!("{indent}note: "), &hint, COLUMNS));
    }
    text
}

/// Least that is a price, US dollars: half a cent.
const USD_MIN: f64 = 0.005;

fn price(change: &Change) -> String {
    match &change.usd_more {
        Ok(usd) if usd.abs() < USD_MIN => "costs nothing more".to_owned(),
        Ok(usd) if *usd < 0.0 => format!("USD {} a month less", dollars(-usd)),
        Ok(usd) => format!("USD {} a month more", dollars(*usd)),
        Err(why) => format!("price not known: {why}"),
    }
}

/// Prints an amount with two digits behind the point and commas between thousands.
pub(super) fn dollars(usd: f64) -> String {
    let cents = cents(usd);
    format!("{}.{:02}", format_count(cents / 100), cents % 100)
}

/// Rounds an amount to cents. Prices are in millionths of a dollar: a sum of half a cent must not
/// be rounded in two ways for what its last bits are.
pub(super) fn cents(usd: f64) -> u64 {
    ((usd * 1e6).round() / 1e4).round() as u64
}

/// Lists rules that apply, each with its reason and source.
pub(super) fn rules(list: &[Advice]) -> String {
    let mut text = String::new();
    for advice in list {
        text.push_str(&fill("  ", &advice.rule, COLUMNS));
        text.push_str(&fill("      ", &format!("{} ({})", advice.reason, advice.source), COLUMNS));
    }
    text
}

/// Returns rules as JSON.
pub(super) fn rules_json(list: &[Advice]) -> Vec<Value> {
    let one = |it: &Advice| json!({"rule": it.rule, "reason": it.reason, "source": it.source});
    list.iter().map(one).collect()
}

/// Returns rows of the table as JSON.
pub(super) fn rows_json(rows: &[AtDepth]) -> Vec<Value> {
    let row = |row: &AtDepth| {
        json!({
            "queue_depth": row.queue_depth,
            "iops": row.iops,
            "latency_s": row.latency_s,
            "binds": row.binds.name(),
        })
    };
    rows.iter().map(row).collect()
}

/// Returns changes as JSON, in the order of the text.
pub(super) fn changes_json(changes: &[Change]) -> Vec<Value> {
    let one = |change: &Change| {
        let Change { remedy, usd_more } = change;
        json!({
            "change": remedy.change,
            "iops": remedy.iops,
            "meets_need": remedy.is_enough,
            "binds": remedy.after.first().map(|cap| cap.bound.name()),
            "usd_more_per_month": usd_more.as_ref().ok().map(|usd| (usd * 100.0).round() / 100.0),
            "price_unknown": usd_more.as_ref().err().map(ToString::to_string),
        })
    };
    changes.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a sum and as a difference of prices half a cent has other last bits.
    #[test]
    fn half_a_cent_is_rounded_in_one_way() {
        assert_eq!(dollars(136.085), "136.09");
        assert_eq!(dollars(499.17 - 363.085), "136.09");
        assert_eq!(dollars(1548.0), "1,548.00");
        assert_eq!(dollars(0.004), "0.00");
    }
}
