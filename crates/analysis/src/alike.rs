//! May two runs be compared?

use std::collections::{BTreeMap, BTreeSet, HashSet};

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

/// Options that say where, how long and what to print, and not what I/O to do. Any other option
/// counts as workload, also one that is not known here.
const SURROUNDINGS: [&str; 24] = [
    "description",
    "directory",
    "disable_bw_measurement",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "eta",
    "filename",
    "filename_format",
    "group_reporting",
    "log_avg_msec",
    "name",
    "nfs_url",
    "output",
    "output-format",
    "percentile_list",
    "ramp_time",
    "randseed",
    "runtime",
    "status-interval",
    "time_based",
    "write_bw_log",
    "write_iops_log",
    "write_lat_log",
];

/// Options of fio with their defaults: leaving one out means the same as writing this value.
const DEFAULTS: [(&str, &str); 7] = [
    ("bs", "4096"),
    ("direct", "0"),
    ("ioengine", "psync"),
    ("numjobs", "1"),
    ("ramp_time", "0"),
    ("rw", "read"),
    ("rwmixread", "50"),
];

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
        if !is_same(what, &difference.baseline, &difference.candidate)
            && known.insert(difference.clone())
        {
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
        if !from.is_empty() && !to.is_empty() {
            note(DifferenceKind::Surroundings, what, from, to);
        }
    }
    note(DifferenceKind::Surroundings, "emulation", emulation(a), emulation(b));
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
            let value = |facts: &BTreeMap<String, String>| {
                facts.get(name).cloned().or_else(|| default_of(name)).unwrap_or_default()
            };
            let (from, to) = (value(&from), value(&to));
            let is_unknown = name == "engine" && (from.is_empty() || to.is_empty());
            let is_place = SURROUNDINGS.contains(&name.as_str()) || name == "targets";
            let kind =
                if is_place { DifferenceKind::Surroundings } else { DifferenceKind::Workload };
            if !is_unknown && !is_same(name, &from, &to) {
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

fn default_of(name: &str) -> Option<String> {
    let known = DEFAULTS.iter().find(|(option, _)| *option == name);
    known.map(|(_, value)| (*value).to_owned())
}

/// Returns whether two values of an option mean the same.
fn is_same(name: &str, from: &str, to: &str) -> bool {
    if from.eq_ignore_ascii_case(to) {
        return true;
    }
    // Names of jobs, hosts and files are no sizes, however they look.
    let is_text = matches!(name, "host" | "version" | "kernel" | "targets" | "filename" | "name");
    let size = |text: &str| {
        let parsed = units::fio::parse_size(text, units::fio::SizeRules::default()).ok()?;
        parsed.warnings.is_empty().then_some(parsed.value)
    };
    !is_text && size(from).is_some_and(|value| size(to) == Some(value))
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
