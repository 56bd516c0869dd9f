//! Designs as text, 80 columns wide.

use std::collections::BTreeSet;

use ::catalog::{Cloud, Term};
use ::design::{
    ChosenDisks, Judged, Lack, Market, Nearest, PhaseNeed, Price, Ranked, Rejection, SERIES_PHASE,
    SearchInput, Terms, UnsizedMachines, VolumeNeed, judge, parse, unknowns,
};
use units::{
    format_count, format_latency_ns, format_number, format_percent, format_percent_whole, plural,
};
use volume::design::LOCAL_DISK;
use volume::limits::Bound;
use volume::{CacheMode, CapCount};

use super::frontier::frontier;
use super::{Args, CloudAnswer};
pub(super) use crate::commands::explained::{cents, dollars};
use crate::exit::Failure;
use crate::fill::fill;

/// Columns of the text.
pub(super) const COLUMNS: usize = 80;

/// Returns the page with the designs of each cloud.
pub(super) fn page(args: &Args, asked: &SearchInput, answers: &[CloudAnswer<'_>]) -> String {
    let mut page = head(args, asked);
    for answer in answers {
        page.push('\n');
        page.push_str(&of_market(answer));
        for (idx, ranked) in answer.found.designs.iter().enumerate() {
            page.push_str(&design(answer, asked, idx, ranked));
        }
        if let Some(nearest) = &answer.nearest {
            page.push_str(&of_nearest(asked, answer, nearest));
        }
        if let Some(nearest) = &answer.nearest_known {
            let text = nearest_text(asked, answer, nearest);
            page.push_str(&fill("  ", &format!("{KNOWN_ONLY}{text}"), COLUMNS));
        }
        for note in notes(asked, answer) {
            page.push_str(&fill("  note: ", &note, COLUMNS));
        }
    }
    page
}

/// What stands before the nearest of designs of which all is known.
pub(super) const KNOWN_ONLY: &str =
    "of machines and disks whose limits are known nothing carries it";

/// Returns what is asked for.
pub(super) fn head(args: &Args, asked: &SearchInput) -> String {
    let mut page = String::new();
    for volume in &asked.need.volumes {
        let gib = capacity_gib(volume).map(|gib| format!("{} GiB", format_number(gib)));
        let mut parts = vec![gib.unwrap_or("capacity unknown".to_owned())];
        let of = |phase: &PhaseNeed| {
            let assumed = asked.is_random_assumed(&volume.mount, &phase.phase);
            format!("{}{}", self::phase(phase), if assumed { " (assumed)" } else { "" })
        };
        parts.extend(volume.phases.iter().map(of));
        page.push_str(&fill(&format!("{}: ", volume.mount), &parts.join("; "), COLUMNS));
    }
    let machine = [(asked.need.vcpus, "vCPUs"), (asked.need.memory_gib, "GiB of memory")];
    let machine: Vec<String> = machine
        .into_iter()
        .filter_map(|(least, what)| Some(format!("{} {what}", format_number(least?))))
        .collect();
    if !machine.is_empty() {
        page.push_str(&fill("machine: ", &format!("at least {}", machine.join(", ")), COLUMNS));
    }
    if args.headroom > 0.0 {
        let text = format!("{} more than that on every cap", format_percent_whole(args.headroom));
        page.push_str(&fill("headroom: ", &text, COLUMNS));
    }
    for note in &asked.notes {
        page.push_str(&fill("note: ", note, COLUMNS));
    }
    page
}

/// Returns what a volume must hold, GiB; `None` where that is not known, and any size is accepted.
pub(super) fn capacity_gib(volume: &VolumeNeed) -> Option<f64> {
    Some(volume.capacity_gib).filter(|gib| *gib > 0.0)
}

fn phase(phase: &PhaseNeed) -> String {
    format!(
        "{} {} IOPS of {}, {} reads, {} random",
        phase.phase,
        format_number(phase.iops),
        size(phase.size_bytes),
        format_percent_whole(phase.read_share),
        format_percent_whole(phase.random_share)
    )
}

/// Returns where and at what prices was searched, and in what.
pub(super) fn place(terms: &Terms, searched: &str) -> String {
    let region = terms.region.as_deref().unwrap_or("no region");
    let mut text = format!(
        "{} {region} (edition {}, {}, {} h a month); {searched}",
        terms.cloud.title(),
        terms.edition,
        terms.term.as_str(),
        terms.month_hours,
    );
    if terms.machine_hours < terms.month_hours {
        text.push_str(&format!("; machines run {} h", terms.machine_hours));
    }
    fill("", &text, COLUMNS)
}

fn of_market(answer: &CloudAnswer<'_>) -> String {
    let (n_machines, n_disks) = (answer.found.n_machines, answer.market.disks().count());
    let searched = format!("machines: {n_machines}, types of disk: {n_disks}");
    place(&answer.market.terms, &searched)
}

/// Says what the prices of a page are.
pub(super) fn prices(terms: &Terms) -> String {
    format!(
        "List prices of edition {}, {}, {} h a month; `plimsoll catalog price` says source and \
         date of each.",
        terms.edition,
        terms.term.as_str(),
        terms.month_hours
    )
}

/// Returns one design.
pub(super) fn design(
    answer: &CloudAnswer<'_>,
    asked: &SearchInput,
    idx: usize,
    ranked: &Ranked,
) -> String {
    let head = format!("{:>3}  ", idx + 1);
    let over = ranked.interface.map_or(String::new(), |it| format!(" over {}", it.as_str()));
    let title = format!("{}: {}{over}", price(ranked.price), ranked.machine);
    let mut text = fill(&head, &title, COLUMNS);
    for (volume, chosen) in asked.need.volumes.iter().zip(&ranked.volumes) {
        text.push_str(&fill(&format!("     {}  ", volume.mount), &disks(chosen), COLUMNS));
    }
    let binds = parse(&answer.market, &asked.need, ranked)
        .map(|design| binds(&judge(&design, &asked.need)));
    text.push_str(&fill("     ", &binds.unwrap_or_default(), COLUMNS));
    if let Some(words) = super::series::words(answer, asked, ranked) {
        text.push_str(&fill("     ", &words, COLUMNS));
    }
    text
}

/// Prints what a design costs, and what is not known of it.
pub(super) fn price(price: Price) -> String {
    let mut text = format!("USD {} a month", dollars(price.usd()));
    if price.is_unpriced {
        text = if price.micro_usd == 0 {
            "no price is known".to_owned()
        } else {
            format!("{text}, and parts of it without a price")
        };
    }
    if price.is_open {
        text.push_str(", a limit, memory or processors not known");
    }
    text
}

/// Prints the disks of a volume.
pub(super) fn disks(chosen: &ChosenDisks) -> String {
    let name = if chosen.is_local() { LOCAL_DISK } else { &chosen.disk };
    let mut text = match chosen.n_disks {
        1 => name.to_owned(),
        n_disks => format!("{n_disks} x {name}"),
    };
    if chosen.is_sized || chosen.is_local() {
        text.push_str(&format!(" of {} GiB", format_count(chosen.size_bytes >> 30)));
    }
    if let Some(iops) = chosen.iops {
        text.push_str(&format!(", {} IOPS", format_count(iops)));
    }
    if let Some(bytes) = chosen.throughput {
        text.push_str(&format!(", {} MB/s", format_number(bytes as f64 / 1e6)));
    }
    text.push_str(match chosen.cache {
        CacheMode::None => "",
        CacheMode::ReadOnly => ", ReadOnly host cache",
        CacheMode::ReadWrite => ", ReadWrite host cache",
    });
    if chosen.n_disks > 1 {
        text.push_str(&format!(", stripe unit {} KiB", chosen.chunk_bytes >> 10));
    }
    text
}

/// Returns which cap is the tightest and how much is left of it.
pub(super) fn binds(judged: &Judged) -> String {
    let Some((phase, cap)) = judged.tightest() else { return "nothing is asked".to_owned() };
    format!(
        "headroom {}: {} of {} binds first, in phase {}",
        format_percent_whole(cap.headroom()),
        cap.cap.bound,
        cap.cap.name,
        phase.phase
    )
}

fn of_nearest(asked: &SearchInput, answer: &CloudAnswer<'_>, nearest: &Nearest) -> String {
    let text = format!("nothing carries it{}", nearest_text(asked, answer, nearest));
    fill("  ", &text, COLUMNS)
}

/// Returns what comes nearest, behind the words that nothing carries it.
pub(super) fn nearest_text(
    asked: &SearchInput,
    answer: &CloudAnswer<'_>,
    nearest: &Nearest,
) -> String {
    match nearest {
        Nearest::Part { of, part, design } => {
            let what: Vec<String> = asked
                .need
                .volumes
                .iter()
                .zip(&design.volumes)
                .map(|(volume, chosen)| format!("{} at {}", disks(chosen), volume.mount))
                .collect();
            let why = parse(&answer.market, &asked.need, design)
                .and_then(|it| judge(&it, &asked.need).why_not(&asked.need));
            let why = why.map_or(String::new(), |why| format!("; {}", why_text(&why)));
            format!(
                ". Nearest, {}: {} with {}, {}{why}",
                part_of(*of, *part),
                design.machine,
                what.join(" and "),
                price(design.price)
            )
        }
        Nearest::Machine { vcpus_max, memory_gib_max } => {
            format!(": no machine is large enough. {}", largest(*vcpus_max, *memory_gib_max))
        }
        Nearest::Refused => format!(": {NONE_TAKEN}"),
        Nearest::Nothing { capacity, latency } => {
            format!(", not even with few I/Os: {}", several(*capacity, *latency))
        }
    }
}

/// Says how large the largest machines are, as far as that is known.
fn largest(vcpus_max: Option<f64>, memory_gib_max: Option<f64>) -> String {
    let vcpus = vcpus_max.map(|most| format!("{} vCPUs", format_number(most)));
    let memory = memory_gib_max.map(|most| format!("{} GiB of memory", format_number(most)));
    match (vcpus, memory) {
        (Some(vcpus), Some(memory)) => {
            format!("The largest have {vcpus} and, of those whose memory is known, {memory}")
        }
        (Some(vcpus), None) => format!("The largest have {vcpus}; the memory of none is known"),
        (None, Some(memory)) => {
            format!("The largest have {memory}; the processors of none are known")
        }
        (None, None) => "The memory and processors of none are known".to_owned(),
    }
}

/// Says that there are machines of which no source says whether they are large enough, and what
/// they would cost.
pub(super) fn of_unsized(machines: &UnsizedMachines) -> String {
    let UnsizedMachines { n_machines, designs } = machines;
    let one = |it: &Ranked| {
        let disks: Vec<String> = it.volumes.iter().map(disks).collect();
        format!("{} with {}, USD {}", it.machine, disks.join(" and "), dollars(it.price.usd()))
    };
    let each: Vec<String> = designs.iter().map(one).collect();
    format!(
        "memory of {} is not known, so that designs on them stand last. These would cost less, and \
         are large enough if they have as much for each processor as others of their series: {}",
        plural(*n_machines, "machine"),
        each.join("; ")
    )
}

/// What is said where machines and disks do not go together.
pub(super) const NONE_TAKEN: &str = "no machine that was looked at takes any of the disks";

/// Says of each of several things by how much it is more than anything has.
pub(super) fn several(capacity: Option<f64>, latency: Option<f64>) -> String {
    let parts = [(Lack::Capacity, capacity), (Lack::Latency, latency)];
    let of = |(of, part): (Lack, Option<f64>)| part.filter(|part| *part > 0.0).map(|it| (of, it));
    let each: Vec<String> =
        parts.into_iter().filter_map(of).map(|(of, part)| part_of(of, part)).collect();
    let each = if each.is_empty() { String::new() } else { format!(": {}", each.join("; ")) };
    format!("several of capacity, latency and machine are more than anything has{each}")
}

/// Says which part of what is asked the nearest design has.
pub(super) fn part_of(of: Lack, part: f64) -> String {
    let pct = format_percent(part);
    match of {
        Lack::Ios => format!("{pct} of all I/Os"),
        Lack::Capacity => format!("{pct} of the capacity"),
        Lack::Latency => format!("{} times as slow as asked", times(1.0 / part)),
    }
}

/// Prints how many times as much something is: from 10 on as a whole number.
fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { format_count(ratio.round() as u64) }
}

/// Prints a latency with three digits, in the unit that it is long in.
fn latency(ms: f64) -> String {
    format_latency_ns((ms * 1e6).round() as u64)
}

/// Returns the unit that a cap is printed in, and how much of the cap's own it is.
pub(super) fn unit_of(cap: Bound) -> (&'static str, f64) {
    match cap.counts() {
        CapCount::Slots => ("calls in flight", 1.0),
        CapCount::Units | CapCount::Weighed => ("IOPS", 1.0),
        CapCount::Bytes => ("MB/s", 1e6),
    }
}

/// Returns what rejects a design.
pub(super) fn why_text(why: &Rejection) -> String {
    match why {
        Rejection::Cap { phase, cap, whose, carries, asked } => {
            let (unit, scale) = unit_of(*cap);
            let (carries, asked) = (carries / scale, asked / scale);
            let short = format_percent(1.0 - carries / asked);
            let whose = format!("{cap} of {whose}");
            let of = format!("{} of the {} {unit}", format_number(carries), format_number(asked));
            match phase.as_str() {
                // Credits carry more than that, for not as long as is asked.
                SERIES_PHASE => format!("{whose} sustains {of} that were captured"),
                phase => format!("{whose} carries {of} of phase {phase}, {short} short"),
            }
        }
        Rejection::Capacity { mount, has_gib, asked_gib } => {
            format!("{mount} has {} of {} GiB", format_number(*has_gib), format_number(*asked_gib))
        }
        Rejection::Latency { mount, has_ms, asked_ms } => {
            let (has, asked) = (latency(*has_ms), latency(*asked_ms));
            format!("{mount} takes {has} without load, at most {asked} are asked")
        }
        Rejection::Vcpus { has } => format!("it has {} vCPUs", format_number(*has)),
        Rejection::Memory { has_gib } => {
            format!("it has {} GiB of memory", format_number(*has_gib))
        }
        Rejection::Disks => "it does not take these disks, or not with this host cache".to_owned(),
        Rejection::Places { has, asked } => format!("it takes {has} of the {asked} disks"),
        Rejection::Premium => "it takes no premium disks".to_owned(),
        Rejection::LocalDisks => "it has no such local disks".to_owned(),
    }
}

/// Says how many machines have no price; where that is all of them, what designs are ranked by.
fn without_price(market: &Market<'_>, region: &str) -> String {
    let n_machines = market.n_unpriced_machines;
    let term = match market.terms.term {
        Term::OnDemand => String::new(),
        term => format!(" reserved for {}", term.as_str()),
    };
    if n_machines < market.n_machines() {
        return format!("{n_machines} of the machines have no price{term} in {region}");
    }
    format!(
        "none of the machines has a price{term} in {region}: designs are ranked by processors, \
         then by what has a price; `plimsoll catalog list prices` shows where there are such prices"
    )
}

/// Says what other readings of a published MB give, those that give the same together.
fn of_readings(answer: &CloudAnswer<'_>) -> Vec<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (mb_bytes, best) in &answer.readings {
        let what = best.as_ref().map_or("nothing carries it".to_owned(), |best| {
            let disks: Vec<String> = best.volumes.iter().map(disks).collect();
            format!(
                "the best is {} with {}, {}",
                best.machine,
                disks.join(" and "),
                price(best.price)
            )
        });
        let bytes = format_count(*mb_bytes);
        match all.iter_mut().find(|(known, _)| *known == what) {
            Some((_, readings)) => readings.push(bytes),
            None => all.push((what, vec![bytes])),
        }
    }
    let say = |(what, readings): (String, Vec<String>)| {
        format!(
            "the verdict depends on how many bytes a published MB has, which is not stated: of {} \
             bytes {what}",
            readings.join(" or ")
        )
    };
    all.into_iter().map(say).collect()
}

/// Returns the notes on the designs.
pub(super) fn notes(asked: &SearchInput, answer: &CloudAnswer<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let market = &answer.market;
    let unpriced = market.unpriced_disks();
    let region = market.terms.region.as_deref().unwrap_or("this edition");
    if !unpriced.is_empty() {
        notes.push(format!(
            "not all of their parts have a price in {region}, so that designs with them stand \
             last: {}",
            unpriced.join(", ")
        ));
    }
    if market.n_unpriced_machines > 0 {
        notes.push(without_price(market, region));
    }
    notes.extend(answer.unsized_machines.as_ref().map(of_unsized));
    notes.extend(of_readings(answer));
    if answer.found.designs.iter().any(|it| it.volumes.iter().any(ChosenDisks::is_local)) {
        notes.push(
            "what is on local disks is lost when the machine stops, fails or is moved".to_owned(),
        );
    }
    if answer.found.lacks_local {
        let cloud = market.terms.cloud.title();
        notes.push(format!("the local disks of machines of {cloud} are not known: none are taken"));
    }
    for ranked in &answer.found.designs {
        for unknown in unknowns(market, &asked.need, ranked) {
            if !notes.contains(&unknown) {
                notes.push(unknown);
            }
        }
    }
    let burstable = answer.found.designs.iter().map(|it| it.machine.as_str());
    let burstable: BTreeSet<&str> =
        burstable.filter(|it| market.terms.cloud.is_burstable(it)).collect();
    if !burstable.is_empty() {
        let names: Vec<&str> = burstable.into_iter().collect();
        notes.push(format!(
            "{}: burstable, its processors have their full speed on credits only, and the part \
                that lasts is not in the catalogue; name others with `--machine` for a \
             load that keeps them busy",
            names.join(", ")
        ));
    }
    if asked.need.series.is_some() && market.terms.cloud == Cloud::Aws {
        notes.push(
            "how long a machine of AWS bursts is not known from any source: its baseline counts"
                .to_owned(),
        );
    }
    if market.terms.cloud == Cloud::Gcp {
        notes.push(
            "of many machine types of Google Cloud no source gives the limits of disks: they stand \
             last"
                .to_owned(),
        );
    }
    notes
}

/// Returns the front of price against headroom.
pub(super) fn pareto(
    args: &Args,
    asked: &SearchInput,
    answers: &[CloudAnswer<'_>],
) -> Result<String, Failure> {
    let mut page = head(args, asked);
    for answer in answers {
        page.push('\n');
        page.push_str(&of_market(answer));
        let frontier = frontier(args, asked, answer)?;
        for best in &frontier.designs {
            let disks: Vec<String> = best.volumes.iter().map(disks).collect();
            let text =
                format!("{}: {} with {}", price(best.price), best.machine, disks.join(" and "));
            page.push_str(&with_headroom(best.headroom, &text));
        }
        page.push_str(&none_from(frontier.none_from));
        if let Some(machines) = &answer.unsized_machines {
            page.push_str(&fill("  note: ", &of_unsized(machines), COLUMNS));
        }
    }
    Ok(page)
}

/// Returns a design of a front, below its headroom.
pub(super) fn with_headroom(headroom: f64, design: &str) -> String {
    fill(&format!("  {:>6}  ", format_percent_whole(headroom)), design, COLUMNS)
}

/// Says from which headroom on nothing carries the need, where that was met with.
pub(super) fn none_from(headroom: Option<f64>) -> String {
    let line = |headroom| {
        format!("  at least {:>5}: nothing carries it\n", format_percent_whole(headroom))
    };
    headroom.map_or(String::new(), line)
}

/// Prints the size of an I/O.
pub(super) fn size(bytes: u64) -> String {
    let (kib, mib) = (1 << 10, 1 << 20);
    match bytes {
        bytes if bytes.is_multiple_of(mib) => format!("{} MiB", bytes / mib),
        bytes if bytes.is_multiple_of(kib) => format!("{} KiB", bytes / kib),
        bytes => format!("{} B", format_count(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_latency((has_ms, asked_ms): (f64, f64), expected: &str) {
        let why = Rejection::Latency { mount: "/a".to_owned(), has_ms, asked_ms };
        assert_eq!(why_text(&why), format!("/a takes {expected} are asked"));
    }

    #[test]
    fn latencies_have_enough_digits() {
        check_latency((1.0, 0.25), "1.00 ms without load, at most 250 µs");
        check_latency((1.0, 0.001), "1.00 ms without load, at most 1.00 µs");
        check_latency((5.0, 2.5), "5.00 ms without load, at most 2.50 ms");
        check_latency((0.5, 0.000_3), "500 µs without load, at most 300 ns");
    }

    #[test]
    fn large_ratios_are_whole_numbers() {
        for (part, expected) in [
            (0.75, "1.3 times as slow as asked"),
            (0.25, "4.0 times as slow as asked"),
            (0.1, "10 times as slow as asked"),
            (0.001, "1,000 times as slow as asked"),
        ] {
            assert_eq!(part_of(Lack::Latency, part), expected);
        }
    }
}
