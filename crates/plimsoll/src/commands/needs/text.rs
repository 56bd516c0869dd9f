//! The checklist for a terminal, in Markdown and as JSON.

use std::fmt::Write as _;

use ::needs::{Amount, Checklist, ChecklistRow, LoadRequirement, Needs, Requirements};
use units::{format_percent, format_short};

use crate::commands::catalog::table;
use crate::summary::wrap;

/// Columns that everything fits into.
const COLUMNS: usize = 80;

const IS_NUMBER: [bool; 7] = [false, true, true, true, true, false, false];

/// Prints checklists, and what a design must carry.
pub(super) fn plain(needs: &Needs, lists: &[Checklist], required: &Requirements) -> String {
    let mut text = format!("{}\n", head(needs));
    for list in lists {
        let _ = writeln!(text, "\n{}", title(list));
        let heads = ["", "p50", "p90", "p99", "all", "", ""].map(str::to_owned).to_vec();
        let rows = list.rows.iter().map(|row| cells(row, "-"));
        let rows: Vec<Vec<String>> = std::iter::once(heads).chain(rows).collect();
        for line in table(&rows, &IS_NUMBER) {
            let _ = writeln!(text, "  {line}");
        }
    }
    let lines = required_rows(required);
    // Where no rate is known, notes say what to write.
    if lines.len() > 1 {
        let _ = writeln!(text, "\nto be carried, at {} of the time", required.percentile.word());
        for line in table(&lines, &[false, false, true, true, true, true, true, false]) {
            let _ = writeln!(text, "  {line}");
        }
    }
    for note in all_notes(needs, required) {
        text.push_str(&wrap(&format!("note: {note}"), 2, COLUMNS));
    }
    text
}

/// Returns what is to be known beside the figures: bursts, factors, assumptions.
pub(super) fn all_notes(needs: &Needs, required: &Requirements) -> Vec<String> {
    let parts = [bursts(needs), reasons(required), required.notes.clone(), needs.notes.clone()];
    parts.concat()
}

/// Returns how the I/Os of each volume arrive, where a trace shows it.
fn bursts(needs: &Needs) -> Vec<String> {
    let mut texts = Vec::new();
    for phase in &needs.phases {
        for load in &phase.volumes {
            let Some(peak) = &load.burst_peak_to_mean else { continue };
            let dispersion = load.burst_dispersion.as_ref().map_or(String::new(), |amount| {
                let times = format_short(amount.value);
                format!("; counts of 100 ms vary {times} times as much as of random arrivals")
            });
            texts.push(format!(
                "{}, {}: the busiest 100 ms had {} times the mean of I/Os{dispersion}",
                load.name,
                phase.name.word(),
                format_short(peak.value)
            ));
        }
    }
    texts
}

fn head(needs: &Needs) -> &str {
    if needs.name.is_empty() { "needs" } else { &needs.name }
}

/// Returns the heading of a checklist.
pub(super) fn title(list: &Checklist) -> String {
    let volume = list.volume.as_deref().unwrap_or("all volumes together");
    match list.hours[..] {
        [] => format!("{}, {volume}", list.phase),
        _ => format!("{}, {volume} ({})", list.phase, list.hours.join(", ")),
    }
}

/// Returns the cells of a row: figures, what the last one is, and how sure they are.
pub(super) fn cells(row: &ChecklistRow, nothing: &str) -> Vec<String> {
    let figure = |value: Option<f64>| value.map_or(nothing.to_owned(), format_short);
    let name = match row.unit {
        "" => row.requirement.to_owned(),
        unit => format!("{}, {unit}", row.requirement),
    };
    let statistic = if row.overall.is_some() { row.statistic.word() } else { "" };
    vec![
        name,
        figure(row.p50),
        figure(row.p90),
        figure(row.p99),
        figure(row.overall),
        statistic.to_owned(),
        row.label.map_or(String::new(), |label| label.word().to_owned()),
    ]
}

/// Returns what a design must carry, a row per volume and phase.
pub(super) fn required_rows(required: &Requirements) -> Vec<Vec<String>> {
    let heads = ["volume", "phase", "IOPS", "MB/s", "KiB", "reads", "depth", ""];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for volume in &required.volumes {
        for load in &volume.loads {
            rows.push(required_row(&volume.name, load));
        }
    }
    rows
}

fn required_row(name: &str, load: &LoadRequirement) -> Vec<String> {
    let figure = |amount: &Option<Amount>, unit: f64| {
        amount.as_ref().map_or("-".to_owned(), |amount| format_short(amount.value / unit))
    };
    let reads = load.read_share.as_ref();
    let labels = load.amounts().into_iter().filter_map(|(_, amount)| Some(amount?.label));
    // Of rates: a share that is assumed says little of them.
    let label = [&load.iops, &load.throughput_bytes_per_s].into_iter().flatten();
    let label = label.map(|amount| amount.label).max().or_else(|| labels.max());
    vec![
        name.chars().take(24).collect(),
        load.phase.word().to_owned(),
        figure(&load.iops, 1.0),
        figure(&load.throughput_bytes_per_s, 1e6),
        figure(&load.io_size_bytes, 1024.0),
        reads.map_or("-".to_owned(), |share| format_percent(share.value)),
        figure(&load.queue_depth, 1.0),
        label.map_or(String::new(), |label| label.word().to_owned()),
    ]
}

/// Returns the reasons of figures that were not counted: rates with a factor, each once.
fn reasons(required: &Requirements) -> Vec<String> {
    let mut reasons = Vec::new();
    for volume in &required.volumes {
        for load in &volume.loads {
            let rate = load.iops.as_ref().or(load.throughput_bytes_per_s.as_ref());
            let Some(rate) = rate.filter(|rate| rate.source.contains("; x ")) else { continue };
            reasons.push(format!("{}, {}: {}", volume.name, load.phase, rate.source));
        }
    }
    reasons
}

/// Prints checklists as Markdown, and what a design must carry.
pub(super) fn markdown(needs: &Needs, lists: &[Checklist], required: &Requirements) -> String {
    let mut text = format!("# {}\n", escaped(head(needs)));
    for list in lists {
        let _ = write!(
            text,
            "\n## {}\n\n| requirement | p50 | p90 | p99 | all | how sure | source |\n\
             |---|---:|---:|---:|---:|---|---|\n",
            escaped(&title(list))
        );
        for row in &list.rows {
            let cells = cells(row, "");
            let [name, p50, p90, p99, all, statistic, label] = &cells[..] else { continue };
            let all = format!("{statistic} {all}");
            let (all, source) = (all.trim(), escaped(&row.source));
            let _ =
                writeln!(text, "| {name} | {p50} | {p90} | {p99} | {all} | {label} | {source} |");
        }
    }
    let rows = required_rows(required);
    if rows.len() > 1 {
        let percentile = required.percentile.word();
        let _ = writeln!(text, "\n## to be carried, at {percentile} of the time\n");
        for (idx, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if idx == 0 {
                text.push_str("|---|---|---:|---:|---:|---:|---:|---|\n");
            }
        }
    }
    for (idx, note) in all_notes(needs, required).iter().enumerate() {
        let _ = writeln!(text, "{}- {}", if idx == 0 { "\n" } else { "" }, escaped(note));
    }
    text
}

/// Writes a text so that nothing in it is a mark of Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Prints checklists and requirements as JSON.
pub(super) fn json(needs: &Needs, lists: &[Checklist], required: &Requirements) -> String {
    let value = serde_json::json!({
        "schema": "plimsoll.checklist/1",
        "name": needs.name,
        "checklists": lists,
        "requirements": required,
        "notes": needs.notes,
    });
    format!("{value:#}\n")
}
