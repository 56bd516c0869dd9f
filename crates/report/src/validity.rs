//! Whether the figures can be trusted: what each check said, and the record's own remarks.

use analysis::GateName;
use analysis::assess::RowsWorth;
use analysis::gates::culprit;
use record::{
    GateRecord, LineVerdict, NeedVerdict, Note, NoteSeverity, Outcome, Record, StepPurpose,
    StepValidity, SuiteRecord, UntilSteadyRecord, Verdict,
};

use crate::view::step_name;
use crate::words::sentence_case;

/// A state that the page shows by a word, a sign and a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// All is well.
    Good,
    /// Something is to be known.
    Unknown,
    /// It is not.
    Bad,
}

impl State {
    /// Its sign: the second cue beside its colour.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            State::Good => "✓",
            State::Unknown => "?",
            State::Bad => "✗",
        }
    }

    /// Its class in the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            State::Good => "good",
            State::Unknown => "unknown",
            State::Bad => "bad",
        }
    }
}

/// What is known of the validity of a run.
#[derive(Clone, Debug)]
pub(crate) struct ValidityView {
    pub(crate) name: String,
    pub(crate) verdict: String,
    pub(crate) class: &'static str,
    pub(crate) sign: &'static str,
    pub(crate) checks: Vec<Check>,
    /// (class, sign, text).
    pub(crate) remarks: Vec<(&'static str, &'static str, String)>,
}

/// One check over all steps of a run.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) state: State,
    /// Its failing makes the figures say something else than was asked for.
    pub(crate) invalidates: bool,
    /// `passed`, or in how many steps it did not.
    pub(crate) word: String,
    pub(crate) reason: String,
    /// Who or what was at fault, in a few words.
    pub(crate) culprit: String,
    /// What to do about it; may be empty.
    pub(crate) next_step: String,
}

/// What is known of a run's validity.
#[derive(Clone, Debug)]
pub(crate) struct Validity {
    pub(crate) state: State,
    /// One sentence.
    pub(crate) verdict: String,
    pub(crate) checks: Vec<Check>,
    /// The record's remarks: (state, text).
    pub(crate) remarks: Vec<(State, String)>,
}

/// Sums up what the record's checks said.
pub(crate) fn of(record: &Record) -> Validity {
    let names = names(record);
    let checks: Vec<Check> = names.iter().filter_map(|name| check(record, name)).collect();
    let mut remarks: Vec<(State, String)> = record.notes.iter().map(remark).collect();
    let n_left = record.validity.iter().filter(|step| !counts(record, step.step_idx)).count();
    if record.curve.is_some() && n_left > 0 {
        let text = "Checked at the load line: the other points were measured on the way to it.";
        remarks.push((State::Good, text.to_owned()));
    }
    remarks.extend(failures(record).into_iter().map(|why| (State::Bad, why)));
    remarks.sort_by_key(|(state, _)| match state {
        State::Bad => 0,
        State::Unknown => 1,
        State::Good => 2,
    });
    let has_warning = remarks.iter().any(|(state, _)| *state != State::Good);
    let (state, verdict) = match record.outcome {
        Outcome::Failed => {
            let why = failures(record);
            let text = match why.first() {
                Some(why) => format!("A part of the run failed: {why}."),
                None => "A part of the run failed.".to_owned(),
            };
            (State::Bad, text)
        }
        Outcome::Partial => (State::Bad, format!("Partial: {}.", record.losses_text())),
        Outcome::Interrupted if record.has_measured() => {
            (State::Bad, "Interrupted: this is what was measured until then.".to_owned())
        }
        Outcome::Interrupted => {
            (State::Bad, "Interrupted before anything was measured.".to_owned())
        }
        Outcome::Complete => complete(record, &checks, has_warning),
    };
    Validity { state, verdict, checks, remarks }
}

/// Returns what a run that went on to its end is worth.
fn complete(record: &Record, checks: &[Check], has_warning: bool) -> (State, String) {
    if let Some(found) = record.suite.as_ref().and_then(of_rows) {
        return found;
    }
    let failed = |weighs: bool| -> Vec<&Check> {
        let of_weight = |check: &&Check| check.state == State::Bad && check.invalidates == weighs;
        checks.iter().filter(of_weight).collect()
    };
    let (invalid, cautions) = (failed(true), failed(false));
    let cannot_tell = record.curve.as_ref().is_some_and(|curve| match curve.line.verdict() {
        LineVerdict::CannotTell(_) | LineVerdict::Unfinished => true,
        LineVerdict::Line(_) | LineVerdict::Above(_) | LineVerdict::Below => false,
    });
    let mut why: Vec<String> = invalid.iter().map(|check| check.culprit.clone()).collect();
    why.extend(record.conditions.iter().filter_map(|it| never_steady(it.until_steady)));
    let is_error = |note: &&Note| note.severity == NoteSeverity::Error;
    why.extend(record.notes.iter().filter(is_error).map(|note| note.message.clone()));
    let (state, mut verdict) = if !why.is_empty() {
        (State::Bad, format!("Invalid: {}.", why.join("; ")))
    } else if cannot_tell {
        (State::Unknown, "Cannot tell what the load line is.".to_owned())
    } else if !cautions.is_empty() {
        let names: Vec<&str> = cautions.iter().map(|check| check.name.as_str()).collect();
        (State::Unknown, format!("To be read with caution: {}.", names.join(", ")))
    } else if has_warning {
        (State::Unknown, with_remarks(record))
    } else if record.validity.is_empty() {
        (State::Unknown, "Measured; the run has no checks.".to_owned())
    } else if checks.iter().any(|check| check.state == State::Unknown) {
        (State::Unknown, "Measured; not everything could be checked.".to_owned())
    } else {
        (State::Good, "Valid: every check passed.".to_owned())
    };
    let is_answered = state != State::Bad && !cannot_tell;
    if record.suite.as_ref().is_some_and(|suite| suite.indicative) && is_answered {
        verdict.push_str(" Indicative: short runs give a first look.");
    }
    (state, verdict)
}

/// Sums up a record that has warnings: what limits the load line itself is named.
fn with_remarks(record: &Record) -> String {
    let of_line = record.notes.iter().filter(|note| note.is_of_line());
    let of_line: Vec<&str> = of_line.map(|note| note.message.as_str()).collect();
    match of_line.as_slice() {
        [] => "Measured, with remarks.".to_owned(),
        remarks => format!("Measured, with remarks: {}.", remarks.join("; ")),
    }
}

/// Reports that a step was to run until it was steady, and did not become so.
fn never_steady(asked: Option<UntilSteadyRecord>) -> Option<String> {
    let limit_s = asked.filter(|it| it.attained_ms.is_none())?.limit_ms as f64 / 1e3;
    Some(format!("it did not become steady in {limit_s:.0} s"))
}

/// Returns what is known of a suite by its rows and needs, which have verdicts of their own; none
/// where its checks say the rest.
fn of_rows(suite: &SuiteRecord) -> Option<(State, String)> {
    let worth = RowsWorth::of(suite);
    if worth != RowsWorth::All {
        let verdict = worth.verdict(suite.indicative)?;
        return Some((State::Bad, format!("{}.", sentence_case(&verdict))));
    }
    let open = suite.needs.iter().find(|need| need.verdict == NeedVerdict::CannotTell);
    if let Some(need) = open {
        return Some((State::Unknown, format!("Cannot tell: {}.", need.reason)));
    }
    let asks_needs = suite.needs.iter().any(|need| need.source.is_empty());
    asks_needs.then(|| (State::Good, "Every need has its answer.".to_owned()))
}

/// Most failures that are listed one by one.
const FAILURES_MAX: usize = 8;

/// Returns why jobs of a run failed, each reason once with the first job that has it.
pub(crate) fn failures(record: &Record) -> Vec<String> {
    let failed = |job: &&record::JobRecord| job.error_errno != 0 && !job.print.continue_on_error;
    let mut found: Vec<(String, String, usize)> = Vec::new();
    for job in record.jobs.iter().filter(failed) {
        let why = match job.error_message.as_str() {
            "" => format!("error {}", job.error_errno),
            message => message.trim_end_matches('.').to_owned(),
        };
        match found.iter().position(|(known, ..)| *known == why) {
            Some(at) => found[at].2 += 1,
            None if found.len() < FAILURES_MAX => found.push((why, job.name.clone(), 1)),
            None => {}
        }
    }
    let line = |(why, job, n): (String, String, usize)| match n {
        1 => format!("job {job}: {why}"),
        n => format!("job {job} and {} more: {why}", n - 1),
    };
    found.into_iter().map(line).collect()
}

/// Returns the names of all checks that were made, in the order of the record.
fn names(record: &Record) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for gate in record.validity.iter().flat_map(|step| &step.gates) {
        if !names.contains(&gate.name.as_str()) {
            names.push(&gate.name);
        }
    }
    names
}

/// Returns whether a step's checks say something of the result: the points of a curve beyond its
/// load line are meant to fail, and what makes a suite ready is no result.
fn counts(record: &Record, step_idx: u32) -> bool {
    let mut points = record.curve.iter().flat_map(|it| &it.points);
    if points.any(|it| it.step_idx == step_idx) {
        return record.line_validity().is_some_and(|it| it.step_idx == step_idx);
    }
    let mut steps = record.suite.iter().flat_map(|it| &it.steps);
    !steps.any(|step| step.step_idx == step_idx && step.purpose == StepPurpose::Prepare)
}

/// Sums one check up over the steps that count; none where it was not made in one.
fn check(record: &Record, name: &str) -> Option<Check> {
    let steps: Vec<&StepValidity> =
        record.validity.iter().filter(|step| counts(record, step.step_idx)).collect();
    let own: Vec<(u32, &GateRecord)> =
        steps.iter().filter_map(|step| Some((step.step_idx, step.gate(name)?))).collect();
    let with = |verdict| own.iter().filter(move |(_, gate)| gate.verdict == verdict);
    let (n_failed, n_unknown) = (with(Verdict::Failed).count(), with(Verdict::NotAssessed).count());
    let (step_idx, gate) = *with(Verdict::Failed)
        .chain(with(Verdict::NotAssessed))
        .chain(with(Verdict::Passed))
        .next()?;
    let (state, n) = match (n_failed, n_unknown) {
        (0, 0) => (State::Good, own.len()),
        (0, n) => (State::Unknown, n),
        (n, _) => (State::Bad, n),
    };
    let n_steps = steps.len();
    let word = gate.verdict.words();
    let word = if n == n_steps { word.to_owned() } else { format!("{word} in {n} of {n_steps}") };
    let reason = if n_steps > 1 && state != State::Good {
        format!("{}: {}", step_name(record, step_idx), gate.reason)
    } else {
        gate.reason.clone()
    };
    let has_culprit = GateName::only_slows_by_name(name);
    let culprit = if has_culprit { culprit(&gate.reason) } else { gate.reason.clone() };
    Some(Check {
        name: plain(name),
        state,
        invalidates: GateName::invalidates_by_name(name),
        word,
        reason,
        culprit,
        next_step: gate.next_step.clone().unwrap_or_default(),
    })
}

/// Returns what a check is about, in words.
fn plain(name: &str) -> String {
    let known = [
        ("errors", "errors"),
        ("steady", "steadiness"),
        ("credits", "burst credits"),
        ("write-cache", "write-back cache"),
        ("offered", "offered load"),
        ("queue-depth", "queue depth"),
        ("generator", "load generator"),
        ("shared-disk", "others on the disk"),
        ("littles-law", "Little's law"),
        ("footprint", "footprint against caches"),
        ("page-cache", "page cache"),
        ("socket-buffers", "socket buffers"),
    ];
    let found = known.into_iter().find(|(known, _)| *known == name);
    found.map_or_else(|| name.replace('-', " "), |(_, words)| words.to_owned())
}

fn remark(note: &Note) -> (State, String) {
    let state = match note.severity {
        NoteSeverity::Error => State::Bad,
        NoteSeverity::Warning => State::Unknown,
        NoteSeverity::Info => State::Good,
    };
    (state, note.message.clone())
}
