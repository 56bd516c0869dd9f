//! May two runs be compared?

use std::collections::{BTreeMap, BTreeSet, HashSet};

use plan::param::{Param, ValueKind, find, find_fio};
use record::Record;

use crate::entries::{Entries, Entry};

/// Something in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Difference {
    /// What it is about.
    pub kind: DifferenceKind,
    /// Such as `bs` or `kernel`; with the job's name where there are several.
    pub what: String,
    /// In the baseline; empty where it is not set.
    pub baseline: String,
    /// In the candidate.
    pub candidate: String,
}

/// What a difference is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DifferenceKind {
    /// Other I/O was done: a comparison says nothing about the storage. Refuse unless asked not to.
    Workload,
    /// Where, when and for how long: perhaps the very thing to be compared. Print it.
    Surroundings,
}

/// What fio's command line says of its output, and some results list among the options.
const OF_OUTPUT: [&str; 4] = ["eta", "output", "output-format", "status-interval"];

/// Text for a job that only one side has.
const THERE: &str = "there";
const MISSING: &str = "missing";

/// Returns in what two runs differ, workload first, each difference once. Nothing where both did
/// the same in the same place.
///
/// Values count as equal that mean the same, such as `4k` and `4096`, or an option left out and its
/// default. What is unknown on one side, such as in an imported result, is no difference.
pub fn differences(baseline: &Record, candidate: &Record) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    let mut known: HashSet<Difference> = HashSet::new();
    let mut note = |kind, what: &str, baseline: String, candidate: String| {
        let difference = Difference { kind, what: what.to_owned(), baseline, candidate };
        if known.insert(difference.clone()) {
            found.push(difference);
        }
    };
    let (a, b) = (baseline, candidate);
    for (what, from, to) in [
        ("version", a.plimsoll_version.clone(), b.plimsoll_version.clone()),
        ("host", a.host.name.clone(), b.host.name.clone()),
        ("kernel", a.host.kernel.clone(), b.host.kernel.clone()),
        ("cpu", a.host.cpu_model.clone(), b.host.cpu_model.clone()),
        ("n_cpus", number(u64::from(a.host.n_cpus)), number(u64::from(b.host.n_cpus))),
        ("memory_bytes", number(a.host.memory_bytes), number(b.host.memory_bytes)),
        ("clock", a.clock.source.clone(), b.clock.source.clone()),
    ] {
        if !from.is_empty() && !to.is_empty() && from != to {
            note(DifferenceKind::Surroundings, what, from, to);
        }
    }
    if emulation(a) != emulation(b) {
        note(DifferenceKind::Surroundings, "emulation", emulation(a), emulation(b));
    }
    let (from, to) = (Entries::of(a), Entries::of(b));
    let is_only = from.is_one();
    for entry in from.list() {
        let place = |what: &str| {
            if is_only { what.to_owned() } else { format!("{what} of job `{}`", entry.job) }
        };
        let Some(other) = to.counterpart(entry, is_only) else {
            note(DifferenceKind::Workload, &title(entry), THERE.to_owned(), MISSING.to_owned());
            continue;
        };
        let (from, to) = (facts(a, entry), facts(b, other));
        let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        for name in names {
            let param = find_fio(name).or_else(|| find(name));
            let usual = param.map(usual).unwrap_or_default();
            let value = |facts: &BTreeMap<String, String>| {
                facts.get(name).cloned().unwrap_or_else(|| usual.to_owned())
            };
            let (from, to) = (value(&from), value(&to));
            let is_unknown = name == "engine" && (from.is_empty() || to.is_empty());
            let is_load = param.map_or(name != "targets", |param| param.is_load)
                && !OF_OUTPUT.contains(&name.as_str());
            let kind =
                if is_load { DifferenceKind::Workload } else { DifferenceKind::Surroundings };
            if !is_unknown && !is_same(param, &from, &to) {
                note(kind, &place(name), from, to);
            }
        }
    }
    for other in to.list().iter().filter(|_| !to.is_one() || !from.is_one()) {
        if from.counterpart(other, to.is_one()).is_none() {
            note(DifferenceKind::Workload, &title(other), MISSING.to_owned(), THERE.to_owned());
        }
    }
    found.sort_by_key(|difference| difference.kind == DifferenceKind::Surroundings);
    found
}

fn title(entry: &Entry<'_>) -> String {
    match entry.step.as_str() {
        "" => format!("job `{}`", entry.job),
        step => format!("job `{}` of step {step}", entry.job),
    }
}

/// Zero stands for what is not known.
fn number(value: u64) -> String {
    if value == 0 { String::new() } else { value.to_string() }
}

/// Returns the value that a parameter has where it is left out; empty where it has none.
fn usual(param: &Param) -> &'static str {
    match param.kind {
        ValueKind::Flag if param.default.is_empty() => "0",
        _ => param.default,
    }
}

/// Returns whether two values of an option mean the same. One that is no parameter may be a size.
fn is_same(param: Option<&Param>, from: &str, to: &str) -> bool {
    let kind = param.map(|param| param.kind);
    let meant = |text: &str| match kind {
        // Without a value a flag is set.
        Some(ValueKind::Flag) if text.is_empty() => "1".to_owned(),
        Some(ValueKind::Enum(choices)) => {
            let choice = choices.iter().find(|it| it.name == text || it.aliases.contains(&text));
            choice.map_or(text, |choice| choice.name).to_owned()
        }
        _ => text.to_owned(),
    };
    let (from, to) = (meant(from), meant(to));
    // Names of files and the like are no sizes, however they look.
    let is_text = matches!(
        kind,
        Some(
            ValueKind::Str
                | ValueKind::OptionalStr
                | ValueKind::PathList
                | ValueKind::Pattern { .. }
        )
    );
    let size = |text: &str| {
        let parsed = units::fio::parse_size(text, units::fio::SizeRules::default()).ok()?;
        parsed.warnings.is_empty().then_some(parsed.value)
    };
    from.eq_ignore_ascii_case(&to)
        || !is_text && size(&from).is_some_and(|value| size(&to) == Some(value))
}

fn emulation(record: &Record) -> String {
    let emulation = record.emulation.as_ref();
    emulation.map(|e| format!("{} ({})", e.designs(), e.time)).unwrap_or_default()
}

/// Returns what a job did, by name: its options, and what came of them.
fn facts(record: &Record, entry: &Entry<'_>) -> BTreeMap<String, String> {
    let mut facts: BTreeMap<String, String> = BTreeMap::new();
    let Some(first) = entry.parts.first() else { return facts };
    let options = record.global_options.iter().chain(&first.options);
    facts.extend(options.cloned());
    // What follows from options counts, not how it was written.
    facts.remove("name");
    facts.remove("numjobs");
    let depth = entry.parts.iter().map(|part| part.queue_depth).max().unwrap_or(0);
    facts.insert("iodepth".to_owned(), depth.to_string());
    let n_workers: u32 = entry.parts.iter().map(|part| part.n_workers).sum();
    facts.insert("workers".to_owned(), n_workers.to_string());
    facts.insert("engine".to_owned(), first.engine_used.clone());
    facts.insert("targets".to_owned(), first.targets.join(" "));
    facts
}
