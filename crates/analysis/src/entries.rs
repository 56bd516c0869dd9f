//! The jobs of a run as they are compared: by step and name, with all workers of a name as one.

use record::{JobRecord, Record};

/// All entries of a run with the same step and name.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Step, from 0.
    pub step_idx: u32,
    /// The step's name, or its number from 1; empty where the run has one step.
    pub step: String,
    /// The job's name.
    pub job: String,
    /// Its workers or groups.
    pub parts: Vec<&'a JobRecord>,
}

/// Returns the jobs of a run, in its order.
pub fn entries(record: &Record) -> Vec<Entry<'_>> {
    let mut found: Vec<Entry<'_>> = Vec::new();
    for job in &record.jobs {
        let is_it =
            |entry: &&mut Entry<'_>| entry.step_idx == job.step_idx && entry.job == job.name;
        match found.iter_mut().find(is_it) {
            Some(entry) => entry.parts.push(job),
            None => found.push(Entry {
                step_idx: job.step_idx,
                step: String::new(),
                job: job.name.clone(),
                parts: vec![job],
            }),
        }
    }
    let first = found.first().map(|entry| entry.step_idx);
    if found.iter().any(|entry| Some(entry.step_idx) != first) {
        for entry in &mut found {
            entry.step = step_name(record, entry.step_idx);
        }
    }
    found
}

fn step_name(record: &Record, step_idx: u32) -> String {
    let known = record.steps.iter().find(|step| step.step_idx == step_idx);
    match known.map(|step| step.name.as_str()) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => (u64::from(step_idx) + 1).to_string(),
    }
}

/// Returns the entry that corresponds to another run's: of the same step and name, or the only one
/// where each run has one.
pub fn counterpart<'a, 'b>(
    entry: &Entry<'_>,
    is_only: bool,
    others: &'b [Entry<'a>],
) -> Option<&'b Entry<'a>> {
    if let ([only], true) = (others, is_only) {
        return Some(only);
    }
    others.iter().find(|other| other.step == entry.step && other.job == entry.job)
}
