//! A comparison in 80 columns, without colour.

use std::fmt::Write as _;

use analysis::GateName;
use analysis::alike::{Difference, DifferenceKind};
use analysis::assess::Standing;
use analysis::compare::Verdict;
use analysis::sets::{Basis, Row, SetComparison};
use export::Run;
use record::{GateRecord, NoteSeverity, Outcome, Record, Verdict as GateVerdict};
use units::{format_change_short, format_percent, format_percent_exact};

use super::{Judged, Undecided, called};
use crate::exit::Failure;
use crate::summary;

/// Columns that every line keeps to.
const COLUMNS: usize = 80;

/// Runs that are named one by one.
const RUNS_MAX: usize = 4;

/// Indentation of what stands behind a word at the start of a line.
const INDENT: usize = 11;

/// Returns the comparison. Ends in a newline.
pub(super) fn text(judged: &Judged) -> String {
    let mut text = String::new();
    for (word, line) in before(judged) {
        put(&mut text, word, &line);
    }
    let mut last = None;
    for row in &judged.found.rows {
        if last != Some((&row.step, &row.job)) {
            last = Some((&row.step, &row.job));
            text.push('\n');
            put_head(&mut text, row);
        }
        put_row(&mut text, row);
    }
    text.push('\n');
    for (word, line) in after(judged) {
        put(&mut text, word, &line);
    }
    text
}

/// A word, and what is to be said of it.
pub(super) type Line = (&'static str, String);

/// Returns what is compared.
pub(super) fn before(judged: &Judged) -> Vec<Line> {
    let mut lines = Vec::new();
    put_runs(&mut lines, "baseline", &judged.baseline);
    put_runs(&mut lines, "candidate", &judged.candidate);
    lines.extend(differing(&judged.found.differences).into_iter().map(|it| ("differs", it)));
    lines.extend(judged.found.remarks.iter().map(|it| ("note", it.clone())));
    lines
}

/// Returns what came of it.
pub(super) fn after(judged: &Judged) -> Vec<Line> {
    let mut lines = Vec::new();
    put_remarks(&mut lines, judged);
    put_verdict(&mut lines, judged);
    lines
}

/// Reports that two sets are not alike.
pub(super) fn unlike(found: &SetComparison) -> Failure {
    let workload = found.differences.iter().filter(|it| it.kind == DifferenceKind::Workload);
    let list: Vec<String> = workload.map(words).collect();
    Failure::wrong_use(format!(
        "these runs did not do the same I/O, so a comparison says nothing about the storage: {}",
        list.join("; ")
    ))
    .hint("`--anyway` compares them nevertheless")
}

fn words(difference: &Difference) -> String {
    let Difference { what, baseline, candidate, .. } = difference;
    format!("{what}: {} -> {}", shown(baseline), shown(candidate))
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "not set" } else { value }
}

/// Returns what differs, a line for each: of many runs, the first values.
fn differing(differences: &[Difference]) -> Vec<String> {
    let mut all: Vec<(&Difference, Vec<&str>)> = Vec::new();
    for it in differences {
        let same = |known: &&mut (&Difference, _)| {
            (&known.0.what, &known.0.baseline) == (&it.what, &it.baseline)
        };
        match all.iter_mut().find(same) {
            Some((_, values)) => values.push(shown(&it.candidate)),
            None => all.push((it, vec![shown(&it.candidate)])),
        }
    }
    let line = |(it, values): &(&Difference, Vec<&str>)| {
        let first = values.iter().take(RUNS_MAX).copied().collect::<Vec<_>>().join(", ");
        let more = values.len().saturating_sub(RUNS_MAX);
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{}: {} -> {first}{rest}", it.what, shown(&it.baseline))
    };
    all.iter().map(line).collect()
}

fn put(text: &mut String, word: &str, line: &str) {
    text.push_str(&summary::wrap(&format!("{word:<10} {line}"), INDENT, COLUMNS));
}

fn put_runs(lines: &mut Vec<Line>, word: &'static str, runs: &[Run]) {
    let named: Vec<String> = runs.iter().take(RUNS_MAX).map(called).collect();
    let mut line = match runs.len() {
        1 => String::new(),
        n => format!("{n} runs: "),
    };
    line.push_str(&named.join(", "));
    if runs.len() > RUNS_MAX {
        let _ = write!(line, ", ... {}", runs.last().map(called).unwrap_or_default());
    }
    lines.push((word, line));
    let mut doubts: Vec<(String, String, Vec<&Run>)> = Vec::new();
    for run in runs {
        for (doubt, example) in doubts_of(&run.record) {
            match doubts.iter_mut().find(|(known, ..)| *known == doubt) {
                Some((.., of)) => of.push(run),
                None => doubts.push((doubt, example, vec![run])),
            }
        }
    }
    for (doubt, example, of) in doubts {
        let line = match of.as_slice() {
            [run] if runs.len() == 1 => format!("{doubt}{example}"),
            [run] => format!("{}: {doubt}{example}", called(run)),
            [run, ..] => {
                let which = format!("{} of {} runs", of.len(), runs.len());
                let as_in = if example.is_empty() { "" } else { ", as in " };
                let run = if example.is_empty() { String::new() } else { called(run) };
                format!("{which}: {doubt}{as_in}{run}{example}")
            }
            [] => continue,
        };
        lines.push(("", line));
    }
}

/// Returns why a run's figures are in doubt, and what it said itself of each.
fn doubts_of(record: &Record) -> Vec<(String, String)> {
    let plain = |text: &str| vec![(text.to_owned(), String::new())];
    match record.outcome {
        Outcome::Interrupted => return plain("interrupted"),
        Outcome::Failed => return plain("failed in part"),
        Outcome::Partial => return plain("lost hosts on the way"),
        Outcome::Complete => {}
    }
    // The points of a curve are meant to fail, and a suite gives verdicts of its own.
    let has_own = record.curve.is_some() || record.suite.is_some();
    let gates = record.validity.iter().filter(|_| !has_own).flat_map(|step| &step.gates);
    let mut found: Vec<(String, String)> = Vec::new();
    // A rate on credits is in doubt, too: it does not last.
    let is_doubt = |gate: &&GateRecord| gate.verdict == GateVerdict::Failed || gate.is_borrowed();
    for gate in gates.filter(is_doubt) {
        let is_invalid = GateName::invalidates_by_name(&gate.name);
        let weight = if is_invalid { "invalid" } else { "caution" };
        let doubt = format!("{weight}: {}", gate.name);
        if !found.iter().any(|(known, _)| *known == doubt) {
            found.push((doubt, format!(": {}", gate.reason)));
        }
    }
    let is_bad = |note: &record::Note| note.severity != NoteSeverity::Info;
    if found.is_empty() && Standing::of(record) == Standing::Invalid {
        return plain("invalid: its figures are not what was asked for; see `plimsoll show`");
    }
    if found.is_empty() && record.notes.iter().any(is_bad) {
        return plain("warnings: see `plimsoll show`");
    }
    found
}

/// Returns the name of what a row is of.
pub(super) fn place(row: &Row) -> String {
    match (row.step.as_str(), row.job.as_str()) {
        ("", "") => "all jobs".to_owned(),
        ("", job) => job.to_owned(),
        (step, "") if is_of_curve(step) => step.to_owned(),
        // The only load of a step of a suite has its name.
        (step, job) if step == job => step.to_owned(),
        (step, "") => format!("step {step}"),
        (step, job) => format!("step {step}, {job}"),
    }
}

fn put_head(text: &mut String, row: &Row) {
    let name = summary::fit(&place(row), 18);
    let _ = writeln!(
        text,
        "{name:<19}{:>9}{:>10}{:>9}{:>17}  verdict",
        "baseline", "candidate", "change", "interval"
    );
}

/// Rows of load curves are called by what they are.
fn is_of_curve(step: &str) -> bool {
    step == "load line" || step.starts_with("at ")
}

/// A row in words: direction, figure, both values, change, interval and verdict.
pub(super) fn cells(row: &Row) -> [String; 7] {
    let found = &row.comparison;
    let value =
        |value: Option<f64>| value.map_or("-".to_owned(), |value| row.figure.figure().shown(value));
    let dir = if row.dir.is_empty() { "all" } else { row.dir };
    let change = found.ratio.map_or("-".to_owned(), |ratio| format_change_short(ratio - 1.0));
    let interval = found.interval.map_or("-".to_owned(), |interval| {
        let [low, high] = [interval.low, interval.high].map(|end| format_change_short(end - 1.0));
        format!("{} .. {high}", low.trim_end_matches(" %"))
    });
    [
        dir.to_owned(),
        row.figure.title(),
        value(found.baseline_median),
        value(found.candidate_median),
        change,
        interval,
        verdict(found.verdict).to_owned(),
    ]
}

fn put_row(text: &mut String, row: &Row) {
    let [dir, figure, baseline, candidate, change, interval, verdict] = cells(row);
    let _ = writeln!(
        text,
        "  {dir:<6}{figure:<11}{baseline:>9}{candidate:>10}{change:>9}{interval:>17}  {verdict}"
    );
}

pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::NoDifferenceShown => "no difference",
        Verdict::CannotTell => "cannot tell",
    }
}

/// Returns a row's name in a sentence: `oltp read p99`.
fn name(row: &Row) -> String {
    let job = if row.job == row.step { "" } else { row.job.as_str() };
    let title = row.figure.title();
    let parts = [row.step.as_str(), job, row.dir, title.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// Puts where the intervals come from, and what would be needed where nothing can be said.
fn put_remarks(lines: &mut Vec<Line>, judged: &Judged) {
    if judged.found.rows.iter().any(|row| row.basis == Basis::Seconds) {
        let line = "one run on each side: intervals come from its seconds (batch means), and show \
                    whether these two runs differ, not whether the next ones will";
        lines.push(("note", line.to_owned()));
    }
    for (word, runs) in [("baseline", &judged.baseline), ("candidate", &judged.candidate)] {
        let said = runs.iter().find_map(|run| run.record.emulation.as_ref()?.constant_latency());
        if let Some(constant) = said {
            lines.push(("note", format!("{word}: {constant}")));
        }
    }
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for row in &judged.found.rows {
        if row.comparison.verdict == Verdict::CannotTell {
            let reason = row.comparison.reason.as_str();
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(name(row)),
                None => reasons.push((reason, vec![name(row)])),
            }
        }
    }
    for (reason, names) in reasons {
        lines.push(("not judged", format!("{}: {reason}", names.join(", "))));
    }
}

fn put_verdict(lines: &mut Vec<Line>, judged: &Judged) {
    for (wanted, word) in [(Verdict::Worse, "worse"), (Verdict::Better, "better")] {
        let rows = judged.found.rows.iter().filter(|row| row.comparison.verdict == wanted);
        let list: Vec<String> = rows
            .map(|row| {
                let change = row.comparison.ratio.map(|ratio| format_change_short(ratio - 1.0));
                format!("{} {}", name(row), change.unwrap_or_default().replace(' ', "\u{a0}"))
            })
            .collect();
        if !list.is_empty() {
            lines.push((word, list.join(", ")));
        }
    }
    let Some(limit) = judged.limit else { return };
    put_detectable(lines, judged);
    let limit = format_percent_exact(limit, 4);
    let failing = judged.failing();
    let (word, line) = if !failing.is_empty() {
        let names: Vec<String> = failing.iter().map(|row| name(row)).collect();
        ("fails", format!("worse, by {limit} or more as measured: {}", names.join(", ")))
    } else if judged.is_decided() {
        ("passes", format!("nothing is shown to be worse by {limit} or more"))
    } else {
        let line = "no figure could be judged: see what is needed above";
        match judged.undecided {
            Undecided::Pass => ("passes", format!("{line} (`--cannot-tell fail` ends with 3)")),
            Undecided::Fail => ("fails", line.to_owned()),
        }
    };
    lines.push((word, line));
}

/// Prints which changes these runs would have found: a pass means no more than that.
fn put_detectable(lines: &mut Vec<Line>, judged: &Judged) {
    let known = judged.found.rows.iter().filter_map(|row| Some((row, row.comparison.detectable?)));
    let mut known: Vec<(&Row, f64)> = known.collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let share = |(_, share): &(&Row, f64)| format_percent(*share);
    let line = match known.as_slice() {
        [] => "no change, however large: there is no interval".to_owned(),
        [first, .., last] if share(first) != share(last) => format!(
            "changes of {} in {}, up to {} in {}, nine times of ten",
            share(first),
            name(first.0),
            share(last),
            name(last.0)
        ),
        [first, ..] => format!("changes of {}, nine times of ten", share(first)),
    };
    lines.push(("finds", line));
}
