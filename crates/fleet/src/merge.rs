//! Records of several hosts as one.
//!
//! Counts and histograms add up without loss. Intervals are joined by time ([`intervals`]); their
//! starts differ by what [`record::StartRecord`] says. Percentiles of an interval of several hosts
//! come from its coarse bins ([`record::LatencyCounts`]), those of a job from whole histograms.

use std::collections::BTreeMap;

use record::{
    DiskRecord, HostRecord, HostShareRecord, JobRecord, Note, NoteSeverity, Outcome, Record,
    StepConditions, StepRecord,
};

use crate::intervals;

/// Joins what the hosts of one run did. What one host alone can say (disks, places, notes) keeps
/// its name.
pub fn merge(hosts: Vec<HostShareRecord>) -> Record {
    let records: Vec<(&str, &Record)> =
        hosts.iter().map(|host| (&*host.name, &host.record)).collect();
    let Some((_, first)) = records.iter().find(|(_, record)| !record.plimsoll_version.is_empty())
    else {
        return Record { outcome: outcome(&hosts), hosts, ..Record::default() };
    };
    let started = records.iter().filter(|(_, record)| record.started_unix_ms > 0);
    let mut whole = Record {
        schema: first.schema.clone(),
        plimsoll_version: first.plimsoll_version.clone(),
        started_unix_ms: started.map(|(_, record)| record.started_unix_ms).min().unwrap_or(0),
        elapsed_ns: records.iter().map(|(_, record)| record.elapsed_ns).max().unwrap_or(0),
        outcome: outcome(&hosts),
        command: first.command.clone(),
        host: host(&records),
        clock: first.clock.clone(),
        emulation: None,
        global_options: first.global_options.clone(),
        steps: steps(&records),
        conditions: conditions(&records),
        validity: Vec::new(),
        hosts: Vec::new(),
        places: Vec::new(),
        curve: None,
        suite: None,
        units: Vec::new(),
        jobs: jobs(&records),
        intervals: intervals::join(
            &records.iter().map(|(_, it)| &*it.intervals).collect::<Vec<_>>(),
        ),
        disks: disks(&records),
        notes: notes(&records),
    };
    for (_, record) in &records {
        for place in &record.places {
            if !whole.places.contains(place) {
                whole.places.push(place.clone());
            }
        }
    }
    whole.hosts = hosts;
    whole
}

fn outcome(hosts: &[HostShareRecord]) -> Outcome {
    let has = |outcome| hosts.iter().any(|host| host.record.outcome == outcome);
    if has(Outcome::Failed) {
        // Also where a host was lost: `hosts` names it.
        Outcome::Failed
    } else if hosts.iter().any(|host| host.lost.is_some()) {
        Outcome::Partial
    } else if has(Outcome::Interrupted) {
        Outcome::Interrupted
    } else {
        Outcome::Complete
    }
}

/// Returns the hosts as one machine; of what differs nothing is said.
fn host(records: &[(&str, &Record)]) -> HostRecord {
    let hosts: Vec<&HostRecord> = records.iter().map(|(_, record)| &record.host).collect();
    let common = |of: fn(&HostRecord) -> &String| {
        let first = of(hosts[0]);
        if hosts.iter().all(|host| of(host) == first) { first.clone() } else { String::new() }
    };
    let sum = |of: fn(&HostRecord) -> u64| hosts.iter().map(|host| of(host)).sum();
    HostRecord {
        name: records.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
        kernel: common(|host| &host.kernel),
        architecture: common(|host| &host.architecture),
        cpu_model: common(|host| &host.cpu_model),
        n_cpus: hosts.iter().map(|host| host.n_cpus).sum(),
        memory_bytes: sum(|host| host.memory_bytes),
        cpu_cache_bytes: sum(|host| host.cpu_cache_bytes),
        sysctls: BTreeMap::new(),
    }
}

fn steps(records: &[(&str, &Record)]) -> Vec<StepRecord> {
    let mut steps: BTreeMap<u32, StepRecord> = BTreeMap::new();
    for step in records.iter().flat_map(|(_, record)| &record.steps) {
        match steps.get_mut(&step.step_idx) {
            None => {
                steps.insert(step.step_idx, step.clone());
            }
            Some(known) => {
                known.started_ms = known.started_ms.min(step.started_ms);
                known.ended_ms = known.ended_ms.max(step.ended_ms);
                known.rate_iops = known.rate_iops.zip(step.rate_iops).map(|(a, b)| a + b);
                known.io_errors.extend(step.io_errors.iter().cloned());
                known.io_errors.truncate(record::step::IO_ERRORS_MAX);
            }
        }
    }
    steps.into_values().collect()
}

/// Returns for each step the conditions of the host that was busiest, for lists and pages; checks
/// look at each host's own. Bytes that were touched are not known: hosts may share files.
fn conditions(records: &[(&str, &Record)]) -> Vec<StepConditions> {
    let mut worst: BTreeMap<u32, StepConditions> = BTreeMap::new();
    let busy = |it: &StepConditions| {
        it.host_busy_share.unwrap_or(0.0) + it.host_steal_share.unwrap_or(0.0)
    };
    for of_step in records.iter().flat_map(|(_, record)| &record.conditions) {
        let of_step = StepConditions {
            addressed_bytes: None,
            touched_bytes: None,
            until_steady: None,
            ..of_step.clone()
        };
        let error_ns = |it: &StepConditions| it.start_error_ns.map(i64::unsigned_abs);
        let entry = worst.entry(of_step.step_idx).or_insert_with(|| of_step.clone());
        let start_error_ns = if error_ns(&of_step) > error_ns(entry) {
            of_step.start_error_ns
        } else {
            entry.start_error_ns
        };
        if busy(&of_step) > busy(entry) {
            *entry = of_step;
        }
        entry.start_error_ns = start_error_ns;
    }
    worst.into_values().collect()
}

/// Adds up the entries of the same job.
fn jobs(records: &[(&str, &Record)]) -> Vec<JobRecord> {
    let mut whole: Vec<JobRecord> = Vec::new();
    let mut position: BTreeMap<(u32, u32, &str, u32), usize> = BTreeMap::new();
    for (host, record) in records {
        let mut n_same: BTreeMap<(u32, u32, &str), u32> = BTreeMap::new();
        for job in &record.jobs {
            let same = n_same.entry((job.step_idx, job.group_id, &job.name)).or_default();
            let key = (job.step_idx, job.group_id, &*job.name, *same);
            *same += 1;
            if let Some(at) = position.get(&key) {
                let is_first = whole[*at].error_errno == 0;
                whole[*at].merge(job);
                if is_first {
                    name_host(&mut whole[*at], host);
                }
            } else {
                position.insert(key, whole.len());
                whole.push(job.clone());
                name_host(whole.last_mut().expect("it was pushed"), host);
            }
        }
    }
    // A host may have entries that the first one lacks.
    whole.sort_by_key(|job| job.step_idx);
    whole
}

/// Puts the host that a job failed on before the reason.
fn name_host(job: &mut JobRecord, host: &str) {
    if !job.error_message.is_empty() {
        job.error_message.insert_str(0, &format!("{host}: "));
    }
}

fn disks(records: &[(&str, &Record)]) -> Vec<DiskRecord> {
    let named = |(host, record): &(&str, &Record)| {
        let name = |disk: &DiskRecord| format!("{host}:{}", disk.name);
        let disks = record.disks.iter();
        disks.map(|disk| DiskRecord { name: name(disk), ..disk.clone() }).collect::<Vec<_>>()
    };
    records.iter().flat_map(named).collect()
}

/// Returns the notes of all hosts: one that every host makes stands once, others with the names of
/// their hosts. Amounts that every host has are still those of each.
fn notes(records: &[(&str, &Record)]) -> Vec<Note> {
    let mut by_note: Vec<(&Note, Vec<&str>)> = Vec::new();
    for (host, record) in records {
        for note in &record.notes {
            match by_note.iter_mut().find(|(known, _)| *known == note) {
                Some((_, hosts)) => hosts.push(host),
                None => by_note.push((note, vec![host])),
            }
        }
    }
    let said = |(note, hosts): (&Note, Vec<&str>)| {
        let message = if hosts.len() == records.len() {
            match note.severity {
                NoteSeverity::Info if hosts.len() > 1 => format!("on each host: {}", note.message),
                NoteSeverity::Info | NoteSeverity::Warning | NoteSeverity::Error => {
                    note.message.clone()
                }
            }
        } else {
            format!("{}: {}", hosts.join(", "), note.message)
        };
        Note { message, ..note.clone() }
    };
    by_note.into_iter().map(said).collect()
}

/// Start errors above this are noted: a second of one host holds more of another's than that.
const START_ERROR_NS_MAX: u64 = 5_000_000;

/// Returns what a reader of the merged record must know about how its hosts ran together.
pub fn notes_about(hosts: &[HostShareRecord]) -> Vec<Note> {
    let note = |code: &str, message| Note {
        severity: NoteSeverity::Warning,
        code: code.to_owned(),
        message,
    };
    let starts = late_starts(hosts).map(|message| note("start-error", message));
    let silences = silences(hosts).map(|message| note("host-silent", message));
    starts.into_iter().chain(silences).collect()
}

/// Names hosts, the first of many.
fn names(hosts: &[&HostShareRecord]) -> String {
    let named: Vec<String> =
        hosts.iter().take(NAMES_MAX).map(|host| format!("`{}`", host.name)).collect();
    match hosts.len().checked_sub(NAMES_MAX) {
        None | Some(0) => named.join(", "),
        Some(n_more) => format!("{} and {n_more} more", named.join(", ")),
    }
}

/// Hosts that a note names.
const NAMES_MAX: usize = 3;

/// Returns what is said of hosts whose start, as far as their clocks are known, was not that of
/// all; the latest first.
fn late_starts(hosts: &[HostShareRecord]) -> Option<String> {
    let error_ns = |host: &HostShareRecord| {
        host.starts.iter().map(|start| start.start_error_ns.unsigned_abs()).max()
    };
    let is_late = |host: &&HostShareRecord| {
        error_ns(host).is_some_and(|ns| ns.saturating_add(host.clock_error_ns) > START_ERROR_NS_MAX)
    };
    let mut late: Vec<&HostShareRecord> = hosts.iter().filter(is_late).collect();
    late.sort_by_key(|host| std::cmp::Reverse(error_ns(host)));
    let error_ms = error_ns(late.first()?)? as f64 / 1e6;
    let clock_ms = late.iter().map(|host| host.clock_error_ns).max()? as f64 / 1e6;
    Some(format!(
        "{} began up to {error_ms:.1} ms off the moment that all hosts were given, by clocks known \
         to {clock_ms:.1} ms: their seconds are not quite those of the others",
        names(&late)
    ))
}

/// Returns what is said of hosts that were gone for a while, the longest first.
fn silences(hosts: &[HostShareRecord]) -> Option<String> {
    let mut silent: Vec<&HostShareRecord> =
        hosts.iter().filter(|host| host.silence_ns_max > 0).collect();
    silent.sort_by_key(|host| std::cmp::Reverse(host.silence_ns_max));
    let silent_s = silent.first()?.silence_ns_max as f64 / 1e9;
    Some(format!(
        "nothing came from {} for up to {silent_s:.1} s: they or the way to them stood still, and \
         if it was they, so did their load",
        names(&silent)
    ))
}
