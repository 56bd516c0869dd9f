//! docs/acceptance.md: every row with what is printed, what came out, and the verdict.

use std::fmt::Write as _;

use serde_json::Value;

use crate::answer::{Answer, Outcome, deviation_pct, faults};
use crate::table::Case;

/// Documents by tag.
const SOURCES: [(&str, &str); 15] = [
    ("S1", "training module on EDA work with Azure NetApp Files, about 2023"),
    ("S2", "Azure NetApp Files volume benchmarks with Vdbench, 2019"),
    ("S3", "Azure Premium Storage: design for high performance, about 2018"),
    ("S4", "Azure NetApp Files regular-volume benchmarks for Linux, 2024"),
    ("DP", "Azure: virtual machine and disk performance"),
    ("DM", "Azure: disk metrics"),
    ("BU", "Azure: disk bursting"),
    ("I18", "Azure: premium storage, common text, 2018"),
    ("ASL", "Azure NetApp Files: service levels"),
    ("ABL", "Azure NetApp Files: Linux benchmarks"),
    ("ALV", "Azure NetApp Files: large-volume benchmarks"),
    ("ACS", "Azure NetApp Files: concurrency of NFS sessions"),
    ("ACO", "Azure NetApp Files: cost model"),
    ("EC2", "Amazon EC2 user guide: EBS volumes"),
    ("QEM", "QEMU: throttling"),
];

const HEAD: &str = "\
# Acceptance

Every figure of the source documents, and what comes of it. Made by
`cargo xtask acceptance` from a run of `crates/volume/tests/acceptance`; do not edit.

*Printed* is what the source prints, or what follows from it. *Ours* is what the product says,
*simulated* what a run of the same design shows in virtual time, within 2 %; `=` is as printed.
*Diff.* is the largest deviation of ours; *binds* is the cap that the product names.

*Pass*: it came through the product, by the catalogue, `limits` and, where there is something to
run, a run. *Arithmetic* follows from its own input alone and says nothing about the product.
*Erratum*: the source is wrong, and ours follows from the rest ([errata](errata.md)).
";

/// Returns the page.
pub(crate) fn page(answered: &[(Outcome, Case)]) -> String {
    let mut page = HEAD.to_owned();
    page.push('\n');
    page.push_str(&counts(answered));
    page.push_str("\n| source | document |\n|---|---|\n");
    for (tag, title) in SOURCES {
        let _ = writeln!(page, "| {tag} | {title} |");
    }
    for (tag, title) in SOURCES {
        let rows: Vec<_> = answered.iter().filter(|(_, case)| case.source == tag).collect();
        let _ = write!(page, "\n## {tag}: {title}\n\n");
        page.push_str(
            "| case | what | printed | ours | simulated | diff. | binds | verdict | remarks |",
        );
        page.push_str("\n|---|---|---|---|---|---|---|---|---|\n");
        for (outcome, case) in rows {
            page.push_str(&row(case, outcome));
        }
    }
    page
}

fn counts(answered: &[(Outcome, Case)]) -> String {
    let count = |word: &str| {
        answered.iter().filter(|(outcome, case)| verdict(case, outcome).starts_with(word)).count()
    };
    format!(
        "{} rows: {} pass through the product, {} are arithmetic of their own input, {} errata, \
         {} not yet, {} fail.\n",
        answered.len(),
        count("pass"),
        count("arithmetic"),
        count("erratum"),
        count("not yet"),
        count("FAIL"),
    )
}

fn verdict(case: &Case, outcome: &Outcome) -> String {
    if let Outcome::Waits(what) = outcome {
        return format!("not yet: waits for {what}");
    }
    if !faults(case, outcome).is_empty() {
        return "FAIL".to_owned();
    }
    let is_erratum = match case.check.as_str() {
        "note" => crate::erratum_of(&case.id).is_some(),
        check => check == "erratum",
    };
    match (is_erratum, outcome) {
        (true, _) => "erratum",
        (false, Outcome::Arithmetic(_)) => "arithmetic",
        (false, Outcome::Product(..) | Outcome::Waits(_)) => "pass",
    }
    .to_owned()
}

fn row(case: &Case, outcome: &Outcome) -> String {
    let expected = &case.expect;
    let (answer, simulated) = match outcome {
        Outcome::Arithmetic(answer) => (Some(answer), None),
        Outcome::Product(said, seen) => (Some(said), seen.as_ref()),
        Outcome::Waits(_) => (None, None),
    };
    let printed = if case.printed.is_null() { expected } else { &case.printed };
    let printed_text = text_of(printed);
    let ours = answer.map_or(String::new(), |answer| asked(expected, answer));
    let ours = or_equal(ours, &printed_text);
    let of_run = simulated.map_or(String::new(), |answer| asked(expected, answer));
    let of_run = or_equal(of_run, &printed_text);
    let pct = answer.and_then(|answer| deviation_pct(printed, answer));
    let pct = pct.map_or(String::new(), percent);
    let binds = answer.map_or(String::new(), |answer| answer.binds.join(", "));
    let place = if case.lines.is_empty() { String::new() } else { format!(" ({})", case.lines) };
    format!(
        "| {} | {}{} | {printed_text} | {ours} | {of_run} | {pct} | {binds} | {} | {} |\n",
        case.id,
        escape(&case.what),
        escape(&place),
        verdict(case, outcome),
        escape(&case.note)
    )
}

/// Returns `=` in the place of values that are all as printed.
fn or_equal(values: String, printed: &str) -> String {
    let is_printed = |value: &str| printed.split("; ").any(|part| part == value);
    if !values.is_empty() && values.split("; ").all(is_printed) { "=".to_owned() } else { values }
}

/// Returns those values of an answer that the row asks for, also where it asks for a bound.
fn asked(expected: &Value, answer: &Answer) -> String {
    let keys = expected.as_object().into_iter().flat_map(|expected| expected.keys());
    let found = keys.filter_map(|key| {
        let base = ["_min", "_max", "_gt", "_lt"].into_iter().find_map(|end| key.strip_suffix(end));
        let value = |key: &str| answer.values.get_key_value(key);
        value(key).or_else(|| value(base?))
    });
    let found: serde_json::Map<String, Value> =
        found.map(|(key, value)| (key.clone(), value.clone())).collect();
    text_of(&Value::Object(found))
}

fn percent(pct: f64) -> String {
    let text = format!("{pct:+.2} %");
    if text == "+0.00 %" || text == "-0.00 %" { "0".to_owned() } else { text }
}

/// Prints a value in words: `iops 5,000; throughput_mb_s 40`.
fn text_of(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let part = |(key, value): (&String, &Value)| format!("{key} {}", text_of(value));
            map.iter().map(part).collect::<Vec<_>>().join("; ")
        }
        Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(" / "),
        Value::Number(number) => grouped(number.as_f64().unwrap_or_default()),
        Value::String(text) => escape(text),
        Value::Bool(is) => if *is { "yes" } else { "no" }.to_owned(),
        Value::Null => "-".to_owned(),
    }
}

/// Prints a number with six digits at most and commas between thousands.
fn grouped(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-3 {
        return format!("{value:.2e}");
    }
    let digits = value.abs().max(1.0).log10() as usize + 1;
    let text = format!("{value:.*}", 6_usize.saturating_sub(digits));
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text.as_str()
    };
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let mut grouped = String::new();
    let digits = whole.trim_start_matches('-');
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if whole.starts_with('-') { "-" } else { "" };
    if decimals.is_empty() {
        format!("{sign}{grouped}")
    } else {
        format!("{sign}{grouped}.{decimals}")
    }
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

const ERRATA_HEAD: &str = "\
# Errata of the source documents

Where they contradict themselves, and which figure is used. Made by `cargo xtask acceptance` from
`volume::errata`, which `plimsoll limits --errata` prints; do not edit. The cases are rows of
[acceptance](acceptance.md).

| where | printed | used | why | cases |
|---|---|---|---|---|
";

/// Returns the page of errata.
pub(crate) fn errata() -> String {
    let mut page = ERRATA_HEAD.to_owned();
    for erratum in volume::errata::ERRATA {
        let printed = erratum.printed.join("; ");
        let cells = [erratum.place, &printed, erratum.used, erratum.why, &erratum.cases.join(", ")];
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
    page
}
