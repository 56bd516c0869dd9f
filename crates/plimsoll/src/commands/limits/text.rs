//! The answer as tables, 80 columns wide.

use ::design::explain::Change;
use units::{format_change_whole, format_number, format_percent_whole};
use volume::Design;
use volume::limits::bound::headroom;
use volume::limits::path::describe;
use volume::limits::size::published_mb_s;
use volume::limits::{Bound, Done, Load, Remedy};

use super::Mb;
use super::answer::{DemandAnswer, LimitsAnswer, VolumeAnswer};
use crate::commands::explained;
use crate::fill::fill;

/// Columns of the text.
const COLUMNS: usize = 80;

/// Caps no further apart bind together.
const TIE: f64 = 0.001;

/// Margins from here on are printed as a factor.
const FACTOR_MIN: f64 = 9.995;

/// Returns the page.
pub(super) fn page(design: &Design, answer: &LimitsAnswer, mb: Mb) -> String {
    let machine = match &design.vm {
        Some(vm) => format!(", {}", vm.size),
        None => ", no machine in front".to_owned(),
    };
    let own = if design.catalog.own_tables().is_empty() { "" } else { " with own tables" };
    let title = format!("{} (edition {}{own}{machine})", design.name, design.edition);
    let mut page = fill("", &title, COLUMNS);
    for of in &answer.volumes {
        page.push_str(&of_volume(design, of, mb));
    }
    if !answer.together.is_empty() {
        let has_cache = answer.volumes.iter().any(|volume| volume.has_cache);
        page.push_str("\nAll volumes at once, each under the same load\n");
        page.push_str(&head(has_cache, mb, "what binds them"));
        for (load, all) in &answer.together {
            page.push_str(&together_row(load, all, has_cache, mb));
        }
    }
    for of in &answer.demands {
        page.push_str(&of_demand(design, of, mb, &answer.not_known));
    }
    if !answer.rules.is_empty() {
        page.push_str("\nRules that apply\n");
        page.push_str(&explained::rules(&answer.rules));
    }
    page
}

fn of_volume(design: &Design, of: &VolumeAnswer, mb: Mb) -> String {
    let volume = &design.volumes[usize::from(of.volume)];
    let mut text = format!("\n{}: {}\n", volume.mount, describe(volume));
    text.push_str(&head(of.has_cache, mb, "binds             next              margin"));
    for row in &of.rows {
        let next = row.done.next();
        let margin = next.map_or(String::new(), |(_, margin)| more(margin));
        let next = next.map_or("-".to_owned(), |(cap, _)| cap.label());
        let figures = figures(&row.load, &row.done, of.has_cache, mb);
        let line = format!("{figures}  {:<17} {next:<17} {margin:>6}", row.done.binds_label());
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if of.rows.iter().any(|row| row.done.caps.iter().take(2).any(|(cap, _)| cap.side.is_some())) {
        text.push_str("  /r counts reads alone, /w writes alone\n");
    }
    for (idx, lifts) in &of.lifts {
        let row = &of.rows[*idx];
        let name = format!("  {} is lifted by ", row.done.binds_label());
        let at = format!(
            " (at {}, {} reads)",
            size(&row.load),
            format_percent_whole(row.load.read_share)
        );
        if row.done.binds != Bound::Nothing {
            let what = changes(lifts, (&row.load, mb), &row.done);
            text.push_str(&fill(&name, &format!("{what}{at}"), COLUMNS));
        }
    }
    for note in &of.notes {
        text.push_str(&fill("  note: ", note, COLUMNS));
    }
    text
}

fn changes(lifts: &[Remedy], asked: (&Load, Mb), done: &Done) -> String {
    let one = |lift: &Remedy| format!("{}: {}", lift.change, brings(lift, asked));
    let all: Vec<String> = lifts.iter().map(one).collect();
    if all.is_empty() { no_change(done) } else { all.join("; or ") }
}

/// Returns what a change brings, and what binds then.
fn brings(lift: &Remedy, (load, mb): (&Load, Mb)) -> String {
    // Beside a need that is not met, it matters whether this is enough.
    let is_short = lift.is_enough == Some(false);
    let enough = if is_short { ", not enough" } else { "" };
    // Printed as its row would be, were more asked for than it carries.
    let iops = match (mb, lift.after.first()) {
        (Mb::Published, Some(cap)) => {
            published_mb_s(lift.iops, load.size_bytes as f64, cap.bound, cap.per_s).0
        }
        _ => lift.iops,
    };
    let then = lift.after.first().map(|cap| format!(", where {} binds", cap.label()));
    format!("{} IOPS{enough}{}", format_number(iops), then.unwrap_or_default())
}

fn no_change(done: &Done) -> String {
    match done.next().filter(|(_, margin)| *margin < TIE) {
        Some((next, _)) => format!("no single change: {} binds at the same rate", next.label()),
        None => "no known change".to_owned(),
    }
}

fn head(has_cache: bool, mb: Mb, rest: &str) -> String {
    let hit = if has_cache { "  hit" } else { "" };
    let unit = unit(mb);
    format!("{:>7} {:>4}{hit} {:>9} {unit:>8}  {rest}\n", "size", "read", "IOPS")
}

/// Returns the unit that megabytes are printed in.
fn unit(mb: Mb) -> &'static str {
    match mb {
        Mb::Binary => "MiB/s",
        Mb::Decimal | Mb::Kib1000 | Mb::Published => "MB/s",
    }
}

/// Returns size, mix, hits, I/Os and megabytes of a row.
fn figures(load: &Load, done: &Done, has_cache: bool, mb: Mb) -> String {
    let (iops, mb_s) = rates(load, done, mb);
    let hit = match (has_cache, load.read_share > 0.0) {
        (false, _) => String::new(),
        (true, false) => format!(" {:>4}", "-"),
        (true, true) => format!(" {:>4}", trimmed(load.hit_ratio)),
    };
    let read = narrow(&format_percent_whole(load.read_share));
    format!(
        "{:>7} {read:>4}{hit} {:>9} {:>8}",
        size(load),
        format_number(iops),
        format_number(mb_s)
    )
}

/// Returns I/Os and megabytes per second as they are printed.
fn rates(load: &Load, done: &Done, mb: Mb) -> (f64, f64) {
    let bytes_per_mb = match mb {
        Mb::Decimal => 1e6,
        Mb::Binary => f64::from(1 << 20),
        Mb::Kib1000 => 1_024_000.0,
        Mb::Published => {
            let cap = done.first().map_or(0.0, |cap| cap.per_s);
            return published_mb_s(done.iops, load.size_bytes as f64, done.binds, cap);
        }
    };
    (done.iops, done.bytes_per_s / bytes_per_mb)
}

fn together_row(load: &Load, all: &[Done], has_cache: bool, mb: Mb) -> String {
    let (mut iops, mut mb_s) = (0.0, 0.0);
    let mut bounds: Vec<String> = Vec::new();
    for done in all {
        let rates = rates(load, done, mb);
        (iops, mb_s) = (iops + rates.0, mb_s + rates.1);
        let label = done.binds_label();
        if !bounds.contains(&label) {
            bounds.push(label);
        }
    }
    let read = narrow(&format_percent_whole(load.read_share));
    let hit = match (has_cache, load.read_share > 0.0) {
        (false, _) => String::new(),
        (true, false) => format!(" {:>4}", "-"),
        (true, true) => format!(" {:>4}", trimmed(load.hit_ratio)),
    };
    let row = format!(
        "{:>7} {read:>4}{hit} {:>9} {:>8}",
        size(load),
        format_number(iops),
        format_number(mb_s)
    );
    fill(&format!("{row}  "), &bounds.join(" + "), COLUMNS)
}

fn of_demand(design: &Design, of: &DemandAnswer, mb: Mb, not_known: &[String]) -> String {
    let volume = &design.volumes[usize::from(of.volume)];
    // A published table's I/Os are of another MB than the limits: beside the need stand those that
    // are carried.
    let (load, done) = (&of.flow.load, &of.explained.done);
    let (_, mb_s) = rates(load, done, mb);
    let verdict = match (of.is_met(), not_known.is_empty()) {
        (true, true) => "met".to_owned(),
        (true, false) => "met as far as the catalogue knows".to_owned(),
        (false, _) => {
            let rate = format_number(done.iops);
            format!("not met: {rate} IOPS, {} {}", format_number(mb_s), unit(mb))
        }
    };
    let mut text = format!(
        "\n{}: {}\nneeds {} IOPS of {}, {} reads: {verdict}\n",
        volume.mount,
        describe(volume),
        format_number(of.need),
        size(load),
        format_percent_whole(load.read_share),
    );
    text.push_str("  cap                        carries IOPS   need  headroom  what\n");
    for (cap, left) in &done.caps {
        let used = format_percent_whole(of.need / left);
        let line = format!(
            "  {:<25} {:>13} {used:>6}  {:>8}  {}",
            cap.label(),
            format_number(*left),
            more(headroom(*left, of.need)),
            cap.name
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str(&explained::held("  ", &of.explained, &of.flow));
    text.push_str(&explained::table("    ", &of.explained, &of.flow));
    if let Some(first) = done.first() {
        if of.changes.is_empty() {
            let name = format!("  {} is lifted by ", first.label());
            text.push_str(&fill(&name, &no_change(done), COLUMNS));
        } else {
            let is_priced = of.changes.iter().any(|change| change.usd_more.is_ok());
            let order = if is_priced { ", the cheapest first" } else { "" };
            text.push_str(&format!("  {} is lifted by{order}:\n", first.label()));
            let then = |change: &Change| brings(&change.remedy, (load, mb));
            text.push_str(&explained::list("    ", &of.changes, then));
        }
    }
    let not_known = not_known.iter().filter(|_| of.is_met());
    for note in of.notes.iter().chain(not_known) {
        text.push_str(&fill("  note: ", note, COLUMNS));
    }
    text
}

/// Prints how much more: `+28%`, `x12`, `-5%`.
fn more(margin: f64) -> String {
    if margin >= FACTOR_MIN {
        return if margin < 1e5 { format!("x{:.0}", margin + 1.0) } else { "far".to_owned() };
    }
    narrow(&format_change_whole(margin))
}

/// Returns a percentage without its blank.
fn narrow(percent: &str) -> String {
    percent.replace(' ', "")
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn size(load: &Load) -> String {
    let (kib, mib) = (1 << 10, 1 << 20);
    match load.size_bytes {
        bytes if bytes.is_multiple_of(mib) => format!("{} MiB", bytes / mib),
        bytes if bytes.is_multiple_of(kib) => format!("{} KiB", bytes / kib),
        bytes => format!("{bytes} B"),
    }
}
