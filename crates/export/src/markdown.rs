//! Runs as tables for a pull request.

mod answer;

use std::fmt::Write as _;
use std::time::Duration;

use record::{
    EmulationRecord, Figure, Figures, Latency, NoteSeverity, Outcome, Record, SuiteRecord, Verdict,
};
use units::format_duration;

use crate::table::Run;

/// Returns runs as Markdown, run by run: a heading, the answer (the load line, the suite, or all
/// jobs and directions), what the checks said and what weighs on the figures, and where it was
/// measured.
///
pub fn markdown(runs: &[Run], judge: &Judge) -> String {
    let mut text = String::new();
    for run in runs {
        if !text.is_empty() {
            text.push('\n');
        }
        put_run(&mut text, run, judge);
    }
    text
}

/// What is known elsewhere of a run's checks.
#[derive(Clone, Copy, Debug)]
pub struct Judge {
    /// Says of the name of a check whether a run that fails it did not measure what was asked for;
    /// the others are cautions.
    pub invalidates: fn(&str) -> bool,
    /// Says what the rows of a suite are worth together.
    pub suite_verdict: fn(&SuiteRecord) -> Option<String>,
}

fn put_run(text: &mut String, run: &Run, judge: &Judge) {
    let record = &run.record;
    let title = match (run.id, run.name.as_str()) {
        (Some(id), "") => format!("Run {id}"),
        (Some(id), name) => format!("Run {id}: {}", escaped(name)),
        (None, name) => escaped(name),
    };
    let _ = writeln!(text, "### {title}\n");
    match record.outcome {
        Outcome::Complete => {}
        Outcome::Interrupted if record.has_measured() => {
            text.push_str("**Interrupted:** measured until then.\n\n");
        }
        Outcome::Interrupted => {
            text.push_str("**Interrupted** before anything was measured.\n\n");
        }
        Outcome::Failed => text.push_str("**Failed:** at least one job.\n\n"),
        Outcome::Partial => text.push_str(&format!("**Partial:** {}.\n\n", record.losses_text())),
    }
    put_checks(text, record, judge.invalidates);
    for note in &record.notes {
        let word = match note.severity {
            NoteSeverity::Info => continue,
            NoteSeverity::Warning => "Warning",
            NoteSeverity::Error => "Error",
        };
        let _ = writeln!(text, "- **{word}:** {}", escaped(&note.message));
    }
    if record.notes.iter().any(|note| note.severity != NoteSeverity::Info) {
        text.push('\n');
    }
    if let Some(suite) = &record.suite {
        answer::put_suite(text, suite, (judge.suite_verdict)(suite).as_deref());
    }
    if let Some(curve) = &record.curve {
        answer::put_curve(text, curve);
    }
    if record.suite.is_none() && record.curve.is_none() {
        put_table(text, record);
    }
    if let Some(constant) = record.emulation.as_ref().and_then(EmulationRecord::constant_latency) {
        let _ = writeln!(text, "\n{}", escaped(&constant));
    }
    for job in record.jobs.iter().take(LASTING_MAX) {
        if let Some(lasts) = job.rates_last() {
            let _ =
                writeln!(text, "\nThe rates of {} last {}", escaped(&job.name), escaped(&lasts));
        }
    }
    let _ = writeln!(text, "\n{}", place(record));
}

/// Most jobs of which it is said for how long their rates last.
const LASTING_MAX: usize = 8;

/// Puts what the checks said, what weighs most first. A curve's points beyond the line fail on
/// purpose, and the rows of a suite have verdicts of their own.
fn put_checks(text: &mut String, record: &Record, invalidates: fn(&str) -> bool) {
    if record.validity.is_empty() || record.curve.is_some() || record.suite.is_some() {
        return;
    }
    let failed = record.validity.iter().flat_map(|step| step.with(Verdict::Failed));
    let (invalid, cautions): (Vec<_>, Vec<_>) = failed.partition(|gate| invalidates(&gate.name));
    let mut listed = Vec::new();
    for (word, gates) in [("Not valid", invalid), ("Caution", cautions)] {
        for gate in gates {
            if !listed.contains(&&gate.name) {
                listed.push(&gate.name);
                let _ = writeln!(text, "- **{word}:** {}: {}", gate.name, escaped(&gate.reason));
            }
        }
    }
    if !listed.is_empty() {
        text.push('\n');
        return;
    }
    let all = record.validity.iter().flat_map(|step| step.with(Verdict::NotAssessed));
    let mut unknown: Vec<&str> = all.map(|gate| gate.name.as_str()).collect();
    unknown.sort_unstable();
    unknown.dedup();
    text.push_str("No check failed");
    if !unknown.is_empty() {
        let _ = write!(text, "; not assessed: {}", unknown.join(", "));
    }
    text.push_str(".\n\n");
}

fn put_table(text: &mut String, record: &Record) {
    let of = Figure::OF_JOB;
    let _ = writeln!(text, "| job | | {} |\n|---|---|{}|", heads(of), rules(of));
    let (mut has_service, mut has_response) = (false, false);
    for job in &record.jobs {
        let step = record.steps.iter().find(|step| step.step_idx == job.step_idx);
        let name = match step.map_or("", |step| step.name.as_str()) {
            "" => escaped(&job.name),
            step => escaped(&format!("{step}: {}", job.name)),
        };
        for (dir, result) in job.dirs.iter().filter(|(_, dir)| dir.n_ios > 0) {
            let shown = |latency: &Latency<'_>| cells(&Figures::of(latency).with_rates(result), of);
            if let Some(response) = result.response.as_ref().filter(|it| !it.is_empty()) {
                has_response = true;
                let shown = shown(&Latency::Measured(response));
                let _ = writeln!(text, "| {name} | {dir}, response | {shown} |");
            }
            let (is_total, latency) = result.shown_latency();
            has_service |= !is_total;
            let mark = if is_total { "" } else { " \\*" };
            let _ = writeln!(text, "| {name} | {dir}{mark} | {} |", shown(&latency));
        }
        if let Some(figures) = job.sync_figures() {
            let _ = writeln!(text, "| {name} | sync | {} |", cells(&figures, of));
        }
    }
    if has_response {
        text.push_str("\nresponse: from when an I/O was due; else from when it was chosen\n");
    }
    if has_service {
        text.push_str("\n\\* service time: percentiles of the total latency are not known\n");
    }
}

/// Returns the heads of columns, and the rules below them: figures stand at the right.
fn heads(of: &[Figure]) -> String {
    of.iter().map(|figure| figure.head()).collect::<Vec<_>>().join(" | ")
}

fn rules(of: &[Figure]) -> String {
    vec!["---:"; of.len()].join("|")
}

/// Returns figures as cells.
fn cells(figures: &Figures, of: &[Figure]) -> String {
    let cell = |figure: &Figure| figures.shown(*figure).unwrap_or_else(|| "-".to_owned());
    of.iter().map(cell).collect::<Vec<_>>().join(" | ")
}

/// Says where, when, how long and by what it was measured.
fn place(record: &Record) -> String {
    let host = &record.host;
    let mut parts = vec![format_duration(Duration::from_nanos(record.elapsed_ns))];
    parts.push(match record.emulation.as_ref() {
        Some(emulation) => format!("emulated `{}` ({} time)", emulation.designs(), emulation.time),
        None => [host.name.as_str(), &host.kernel, &host.cpu_model].map(escaped).join(", "),
    });
    let version = &record.plimsoll_version;
    let is_number = version.starts_with(|c: char| c.is_ascii_digit());
    parts.push(if is_number { format!("plimsoll {version}") } else { escaped(version) });
    let known = parts.iter().map(|part| part.trim_matches([',', ' '])).filter(|it| !it.is_empty());
    format!("<sub>{}</sub>", known.collect::<Vec<_>>().join(" · "))
}

/// Returns a sentence with a capital letter at its start.
fn capital(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Returns a text that Markdown leaves as it is within a table.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '|' | '*' | '_' | '`' | '<' | '\\' | '[' | '#') {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}
