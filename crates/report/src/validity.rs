//! Whether the figures can be trusted: what each check said, and the record's own remarks.

use analysis::GateName;
use record::{GateRecord, LineVerdict, NoteSeverity, Outcome, Record, StepValidity, Verdict};

use crate::view::step_name;

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
    let failed = |weighs: bool| -> Vec<&str> {
        let of_weight = |check: &&Check| check.state == State::Bad && check.invalidates == weighs;
        checks.iter().filter(of_weight).map(|check| check.name.as_str()).collect()
    };
    let (invalid, cautions) = (failed(true), failed(false));
    let cannot_tell = record.curve.as_ref().is_some_and(|curve| match curve.line.verdict() {
        LineVerdict::CannotTell(_) | LineVerdict::Unfinished => true,
        LineVerdict::Line(_) | LineVerdict::Above(_) | LineVerdict::Below => false,
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
        Outcome::Interrupted => {
            (State::Bad, "Interrupted: this is what was measured until then.".to_owned())
        }
        Outcome::Complete if !invalid.is_empty() => {
            let names = invalid.join(", ");
            (State::Bad, format!("Invalid, it measured something else than was asked: {names}."))
        }
        Outcome::Complete if cannot_tell => {
            (State::Unknown, "The load line cannot be told.".to_owned())
        }
        Outcome::Complete if !cautions.is_empty() => {
            (State::Unknown, format!("To be read with caution: {}.", cautions.join(", ")))
        }
        Outcome::Complete if has_warning => (State::Unknown, "Measured, with remarks.".to_owned()),
        Outcome::Complete if record.validity.is_empty() => {
            (State::Unknown, "Measured; nobody judged the run.".to_owned())
        }
        Outcome::Complete if checks.iter().any(|check| check.state == State::Unknown) => {
            (State::Unknown, "Measured; not everything could be checked.".to_owned())
        }
        Outcome::Complete => (State::Good, "Valid: every check passed.".to_owned()),
    };
    Validity { state, verdict, checks, remarks }
}

/// Most failures that are told one by one.
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
    let told = |(why, job, n): (String, String, usize)| match n {
        1 => format!("job {job}: {why}"),
        n => format!("job {job} and {} more: {why}", n - 1),
    };
    found.into_iter().map(told).collect()
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
    !steps.any(|step| step.step_idx == step_idx && step.purpose == "prepare")
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
    let next_step = gate.next_step.clone().unwrap_or_default();
    let invalidates = GateName::invalidates_by_name(name);
    Some(Check { name: plain(name), state, invalidates, word, reason, next_step })
}

/// Returns what a check is about, in words.
fn plain(name: &str) -> String {
    let known = [
        ("errors", "errors"),
        ("steady", "steadiness"),
        ("credits", "burst credits"),
        ("offered", "offered load"),
        ("queue-depth", "queue depth"),
        ("generator", "load generator"),
        ("littles-law", "Little's law"),
        ("footprint", "footprint against caches"),
        ("page-cache", "page cache"),
        ("socket-buffers", "socket buffers"),
    ];
    let found = known.into_iter().find(|(known, _)| *known == name);
    found.map_or_else(|| name.replace('-', " "), |(_, words)| words.to_owned())
}

fn remark(note: &record::Note) -> (State, String) {
    let state = match note.severity {
        NoteSeverity::Error => State::Bad,
        NoteSeverity::Warning => State::Unknown,
        NoteSeverity::Info => State::Good,
    };
    (state, note.message.clone())
}
