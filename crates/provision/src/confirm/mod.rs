//! Whether a run keeps what a design promises.
//!
//! A measurement counts for a promise if it is of the same volume, size and mix; anything else is
//! named as what it is. What it is judged by is what plimsoll judges any run by: its checks, the
//! interval of its rate, the share of an offered rate that counts as achieved.

mod explain;
mod judge;
mod lasting;
mod measured;

use record::{GateRecord, Record};
use volume::Design;
use volume::design::Promised;
use volume::limits::Flow;

pub use measured::{Measured, load};

/// What a run says of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was kept.
    Met,
    /// It was not.
    NotMet,
    /// It was not measured, or not so that it would tell.
    CannotTell,
}

impl Verdict {
    /// Returns the words for it.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::NotMet => "not met",
            Verdict::CannotTell => "cannot tell",
        }
    }
}

/// What the runs say of one promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The promise.
    pub promised: Promised,
    /// What came of it.
    pub verdict: Verdict,
    /// Why, as a sentence; empty where it was simply kept.
    pub reason: String,
    /// The measurement that decided; `None` where nothing like it was run.
    pub measured: Option<Measured>,
    /// Measurements of its load.
    pub n_measured: usize,
    /// What held the rate back, where it was not kept: a cap by its name, with its figure.
    pub cap: Option<String>,
    /// What else would explain the figure, each as half a sentence.
    pub explanations: Vec<String>,
}

impl Answer {
    /// Returns measured over promised I/Os per second.
    pub fn ratio(&self) -> Option<f64> {
        self.measured.as_ref().map(|measured| measured.iops / self.promised.iops)
    }
}

/// What the runs say of a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    /// One answer for each promise, in the order of the design.
    pub answers: Vec<Answer>,
    /// What is to be known of the runs as a whole, as sentences.
    pub notes: Vec<String>,
}

impl Confirmation {
    /// Returns the verdict of all promises together: one that is missed weighs most.
    pub fn verdict(&self) -> Verdict {
        let has = |verdict| self.answers.iter().any(|answer| answer.verdict == verdict);
        if has(Verdict::NotMet) {
            Verdict::NotMet
        } else if has(Verdict::CannotTell) {
            Verdict::CannotTell
        } else {
            Verdict::Met
        }
    }
}

/// A design with where its volumes are.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The design.
    pub design: &'a Design,
    /// Hash of its text, as records of emulated volumes have it.
    pub design_hash: &'a str,
    /// Mounts of the design and what stands for them in the runs, such as a device.
    pub places: &'a [(String, String)],
}

impl Subject<'_> {
    /// Returns the mount of the volume that a path of a run is on.
    fn mount_of(&self, path: &str) -> Option<&str> {
        let volumes = self.design.volumes.iter().map(|volume| {
            let mount = volume.mount.as_str();
            let place = self.places.iter().find(|(from, _)| from.trim_end_matches('/') == mount);
            (place.map_or(mount, |(_, to)| to.trim_end_matches('/')), mount)
        });
        let holds = |(place, _): &(&str, &str)| {
            let rest = path.strip_prefix(place);
            *place == "/" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        volumes.filter(holds).max_by_key(|(place, _)| place.len()).map(|(_, mount)| mount)
    }

    /// Returns the position of a volume by its mount.
    fn position(&self, mount: &str) -> Option<u16> {
        let position = self.design.volumes.iter().position(|volume| volume.mount == mount);
        position.and_then(|position| u16::try_from(position).ok())
    }

    /// Returns all that is promised in the same phase; the promise in question comes first.
    fn flows(&self, promised: &Promised) -> Vec<Flow> {
        let of_phase = self.design.promises.iter().filter(|it| it.phase == promised.phase);
        let others = of_phase.filter(|it| *it != promised);
        let all = std::iter::once(promised).chain(others);
        all.filter_map(|it| Some(it.flow(self.position(&it.volume)?))).collect()
    }
}

/// What a rate, a latency or burst credits say.
enum Part {
    Kept,
    Broken(String),
    Open(String),
}

/// Returns the checks of a step.
fn gates(record: &Record, step_idx: u32) -> impl Iterator<Item = &GateRecord> {
    let of_step = record.validity.iter().filter(move |step| step.step_idx == step_idx);
    of_step.flat_map(|step| &step.gates)
}

/// Holds runs against what a design promises.
pub fn confirm(subject: &Subject<'_>, records: &[&Record]) -> Confirmation {
    let all = records.iter().enumerate();
    let measured: Vec<Vec<Measured>> =
        all.map(|(idx, record)| measured::of(subject, record, idx)).collect();
    let promises = subject.design.promises.iter();
    let answers = promises.map(|promised| answer(subject, promised, records, &measured)).collect();
    Confirmation { answers, notes: notes(subject, records) }
}

/// Returns what is odd about the runs for this design.
fn notes(subject: &Subject<'_>, records: &[&Record]) -> Vec<String> {
    let mut notes = Vec::new();
    for emulation in records.iter().filter_map(|record| record.emulation.as_ref()) {
        let name = &emulation.design;
        let note = if emulation.design_hash == subject.design_hash {
            format!("measured on emulated volumes of `{name}`: this says nothing about real ones")
        } else {
            format!("measured on emulated volumes of another design, `{name}` with other text")
        };
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn answer(
    subject: &Subject<'_>,
    promised: &Promised,
    records: &[&Record],
    measured: &[Vec<Measured>],
) -> Answer {
    let mut judged = Vec::new();
    for measured in measured.iter().flatten().filter(|it| it.is_of(promised)) {
        let record = records[measured.record_idx];
        judged.push((judge::judge(subject, promised, measured, record), measured));
    }
    let n = |verdict: Verdict| judged.iter().filter(|(it, _)| it.verdict == verdict).count();
    let (n_met, n_missed) = (n(Verdict::Met), n(Verdict::NotMet));
    // A step of another phase may have this load too: its own is the one whose rate is the nearest.
    let apart = |it: &Measured| (it.held_to_iops().unwrap_or(it.iops) / promised.iops).ln().abs();
    let nearest = |verdict: Verdict| {
        let all = judged.iter().rev().filter(|(it, _)| it.verdict == verdict);
        all.min_by(|one, other| apart(one.1).total_cmp(&apart(other.1)))
    };
    let missed = nearest(Verdict::NotMet);
    let decided = nearest(Verdict::Met).or(missed).or_else(|| nearest(Verdict::CannotTell));
    let Some((found, shown)) = decided else {
        return nothing_like_it(promised, measured);
    };
    let (mut verdict, mut reason) = (found.verdict, found.reason.clone());
    if n_met > 0 && n_missed > 0 {
        verdict = Verdict::CannotTell;
        reason = format!("{n_met} of {} measurements kept it: they disagree", n_met + n_missed);
    }
    let (mut cap, mut explanations) = (None, Vec::new());
    if let Some((_, missed)) = missed {
        let record = records[missed.record_idx];
        (cap, explanations) = explain::explain(subject, promised, missed, record);
    }
    Answer {
        promised: promised.clone(),
        verdict,
        reason,
        measured: Some((*shown).clone()),
        n_measured: judged.len(),
        cap,
        explanations,
    }
}

/// Answers for a promise whose load no run had, and says what was run in its place.
fn nothing_like_it(promised: &Promised, measured: &[Vec<Measured>]) -> Answer {
    let all = || measured.iter().flatten();
    let on_it: Vec<&Measured> = all().filter(|it| it.mount == promised.volume).collect();
    let reason = if all().next().is_none() {
        "no job of the run is on a volume of the design: `--remap MOUNT=PATH` says where they are"
            .to_owned()
    } else if on_it.is_empty() {
        format!("no job of the run is on {}", promised.volume)
    } else {
        let mut unlike: Vec<String> = on_it.iter().map(|it| it.unlike(promised)).collect();
        unlike.dedup();
        let more = unlike.len().saturating_sub(UNLIKE_MAX);
        unlike.truncate(UNLIKE_MAX);
        let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
        format!("no run had this load: {}{rest}", unlike.join("; "))
    };
    Answer {
        promised: promised.clone(),
        verdict: Verdict::CannotTell,
        reason,
        measured: None,
        n_measured: 0,
        cap: None,
        explanations: Vec::new(),
    }
}

/// Loads that are named one by one where none is the one promised.
const UNLIKE_MAX: usize = 3;
