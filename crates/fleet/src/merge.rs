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
    for (_, record) in records {
        let mut n_same: BTreeMap<(u32, u32, &str), u32> = BTreeMap::new();
        for job in &record.jobs {
            let same = n_same.entry((job.step_idx, job.group_id, &job.name)).or_default();
            let key = (job.step_idx, job.group_id, &*job.name, *same);
            *same += 1;
            if let Some(at) = position.get(&key) {
                whole[*at].merge(job);
            } else {
                position.insert(key, whole.len());
                whole.push(job.clone());
            }
        }
    }
    // A host may have entries that the first one lacks.
    whole.sort_by_key(|job| job.step_idx);
    whole
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
/// their hosts.
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
            note.message.clone()
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
    hosts.iter().flat_map(|host| [late_start(host), silence(host)]).flatten().collect()
}

/// Returns what is said of a host whose start, as far as its clock is known, was not that of all.
fn late_start(host: &HostShareRecord) -> Option<Note> {
    let worst = host.starts.iter().max_by_key(|start| start.start_error_ns.unsigned_abs())?;
    let error_ns = worst.start_error_ns.unsigned_abs();
    if error_ns.saturating_add(host.clock_error_ns) <= START_ERROR_NS_MAX {
        return None;
    }
    let (name, error_ms) = (&host.name, error_ns as f64 / 1e6);
    let way = if worst.start_error_ns > 0 { "after" } else { "before" };
    let clock_ms = host.clock_error_ns as f64 / 1e6;
    let message = format!(
        "`{name}` began {error_ms:.1} ms {way} the moment that all were given, and its clock is \
         known to {clock_ms:.1} ms: its seconds are not quite those of the others"
    );
    Some(Note { severity: NoteSeverity::Warning, code: "start-error".to_owned(), message })
}

/// Returns what is said of a host that was gone for a while.
fn silence(host: &HostShareRecord) -> Option<Note> {
    let silent_s = host.silence_ns_max as f64 / 1e9;
    let message = format!(
        "nothing came from `{}` for {silent_s:.1} s: it or the way to it stood still, and so did \
         its load if it was the host",
        host.name
    );
    let code = "host-silent".to_owned();
    (host.silence_ns_max > 0).then_some(Note { severity: NoteSeverity::Warning, code, message })
}
