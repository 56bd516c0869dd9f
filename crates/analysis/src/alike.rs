//! May two runs be compared?

use std::collections::BTreeMap;

use record::{JobRecord, Record};

/// Something in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// Other I/O was done: a comparison says nothing about the storage. Refuse unless told.
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

/// Returns in what two runs differ, workload first. Nothing where both did the same in the same
/// place.
pub fn differences(baseline: &Record, candidate: &Record) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut note = |kind, what: &str, baseline: String, candidate: String| {
        if baseline != candidate {
            found.push(Difference { kind, what: what.to_owned(), baseline, candidate });
        }
    };
    let kind = DifferenceKind::Surroundings;
    let (a, b) = (baseline, candidate);
    note(kind, "version", a.plimsoll_version.clone(), b.plimsoll_version.clone());
    note(kind, "host", a.host.name.clone(), b.host.name.clone());
    note(kind, "kernel", a.host.kernel.clone(), b.host.kernel.clone());
    note(kind, "cpu", a.host.cpu_model.clone(), b.host.cpu_model.clone());
    note(kind, "n_cpus", a.host.n_cpus.to_string(), b.host.n_cpus.to_string());
    note(kind, "memory_bytes", a.host.memory_bytes.to_string(), b.host.memory_bytes.to_string());
    note(kind, "clock", a.clock.source.clone(), b.clock.source.clone());
    note(kind, "emulation", emulation(a), emulation(b));
    let n_jobs = |record: &Record| record.jobs.len().to_string();
    note(DifferenceKind::Workload, "number of jobs", n_jobs(a), n_jobs(b));
    let several = a.jobs.len() > 1;
    for (from, to) in a.jobs.iter().zip(&b.jobs) {
        let place = if several { format!("{} of job `{}`", "{}", from.name) } else { "{}".into() };
        let (from, to) = (facts(a, from), facts(b, to));
        let mut names: Vec<&str> = from.keys().chain(to.keys()).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let value =
                |facts: &BTreeMap<String, String>| facts.get(name).cloned().unwrap_or_default();
            let is_place = SURROUNDINGS.contains(&name) || name == "targets";
            let kind =
                if is_place { DifferenceKind::Surroundings } else { DifferenceKind::Workload };
            note(kind, &place.replace("{}", name), value(&from), value(&to));
        }
    }
    found.sort_by_key(|difference| difference.kind == DifferenceKind::Surroundings);
    found
}

fn emulation(record: &Record) -> String {
    let emulation = record.emulation.as_ref();
    emulation.map(|e| format!("{} ({})", e.design, e.time)).unwrap_or_default()
}

/// Returns what a job did, by name: its options, and what came of them.
fn facts(record: &Record, job: &JobRecord) -> BTreeMap<String, String> {
    let options = record.global_options.iter().chain(&job.options);
    let mut facts: BTreeMap<String, String> = options.cloned().collect();
    facts.insert("iodepth".to_owned(), job.queue_depth.to_string());
    facts.insert("workers".to_owned(), job.n_workers.to_string());
    facts.insert("engine".to_owned(), job.engine_used.clone());
    facts.insert("targets".to_owned(), job.targets.join(" "));
    facts
}
