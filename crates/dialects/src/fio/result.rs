//! Results of fio, read back: `--output-format=json` and `json+` of fio 3.
//!
//! What the file says becomes a record; what it does not say stays unknown. With bins (`json+`) a
//! latency is a histogram, without them the percentiles that are listed and no others. There are
//! no seconds in it, no host, and of the plan only the options that had a value.
//!
//! Facts come from output of fio 3.33 and its manual. Tests: `tests/fio_result.rs`.

mod fields;
mod job;
mod latency;
mod steps;

use std::collections::HashSet;

use record::{DiskRecord, HostRecord, Note, NoteSeverity, Outcome, Record};
use serde_json::{Deserializer, Value};

use self::fields::Fields;

/// A result of fio.
#[derive(Clone, Debug, PartialEq)]
pub struct FioResult {
    /// What it says.
    pub record: Record,
    /// What wrote it, such as `fio-3.33`.
    pub version: String,
    /// Its jobs as a job file, as far as the options are listed: flags without a value, such as
    /// `time_based` and `group_reporting`, are not.
    pub job_file: String,
}

/// Why a text is no result that can be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// It is not JSON, or cut off.
    #[error("not JSON: {source}")]
    Syntax {
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// It is something else.
    #[error("not fio's output: expected an object with `fio version` and `jobs`")]
    NotFio,
    /// It was written by fio 2, whose latencies have other units.
    #[error("written by {version}, but only results of fio 3 are read")]
    TooOld {
        /// As it stands in the file.
        version: String,
    },
    /// It lists no job.
    #[error("{version} wrote it, but no job is in it")]
    NoJobs {
        /// As it stands in the file.
        version: String,
    },
    /// A job reports reads and writes as one, so which is which is not known.
    #[error(
        "job `{job}` reports reads and writes as one (unified_rw_reporting=mixed), so which is \
         which is not known"
    )]
    Mixed {
        /// The job.
        job: String,
    },
    /// A field is missing, of another kind than fio writes, or nothing that could be measured.
    #[error("`{path}` is {found}, expected {wanted}")]
    Field {
        /// Where it stands, such as `jobs[0].read.total_ios`.
        path: String,
        /// What stands there.
        found: String,
        /// What belongs there.
        wanted: String,
    },
}

/// Returns whether a text looks like fio's JSON.
pub fn is_result(text: &str) -> bool {
    text.contains("\"fio version\"")
}

/// Reads fio's JSON. Text before it is passed over, as fio puts warnings there; of several reports
/// (`--status-interval`) the last one counts.
pub fn read_result(text: &str) -> Result<FioResult, ResultError> {
    let top = last_document(text)?;
    let version = top["fio version"].as_str().ok_or(ResultError::NotFio)?.to_owned();
    if version.starts_with("fio-1") || version.starts_with("fio-2") {
        return Err(ResultError::TooOld { version });
    }
    // With `--client` each client has its own entries, and one more stands for all.
    let list = if top["jobs"].is_array() { "jobs" } else { "client_stats" };
    let entries = top[list].as_array().ok_or(ResultError::NotFio)?.iter().enumerate();
    let entries: Vec<(usize, &Value)> =
        entries.filter(|(_, job)| job["jobname"] != "All clients").collect();
    if entries.is_empty() {
        return Err(ResultError::NoJobs { version });
    }
    let whole = Fields::new(&top, String::new())?;
    let globals = job::options(&whole.object("global options")?);
    let mut jobs = Vec::new();
    let mut elapsed_s = 0;
    let copies = job::Copies::of(&entries);
    for &(idx, entry) in &entries {
        let path = format!("{list}[{idx}]");
        jobs.push(job::job(entry, path.clone(), &copies, &globals)?);
        elapsed_s = Fields::new(entry, path)?.count::<u64>("elapsed")?.max(elapsed_s);
    }
    steps::set_steps(&mut jobs, &globals, elapsed_s);
    let reported_ms: u64 = whole.count("timestamp_ms")?;
    let started = jobs.iter().map(|job| job.started_unix_ms).filter(|ms| *ms > 0).min();
    let is_failed = jobs.iter().any(|job| job.error_errno != 0 && !job.print.continue_on_error);
    let mut notes = notes(&jobs, &version);
    let record = Record {
        plimsoll_version: version.clone(),
        started_unix_ms: started
            .unwrap_or(reported_ms.saturating_sub(elapsed_s.saturating_mul(1000))),
        elapsed_ns: elapsed_s.saturating_mul(1_000_000_000),
        outcome: if is_failed { Outcome::Failed } else { Outcome::Complete },
        host: host(&entries),
        global_options: globals.clone(),
        disks: disks(&top["disk_util"], &mut notes),
        notes,
        jobs,
        ..Record::default()
    };
    let job_file = job_file(&record);
    Ok(FioResult { record, version, job_file })
}

fn last_document(text: &str) -> Result<Value, ResultError> {
    // Where fio divides by zero it prints what is not JSON.
    let text = text.replace(": -nan", ": null").replace(": nan", ": null");
    let start = if text.starts_with('{') { Some(0) } else { text.find("\n{").map(|at| at + 1) };
    let start = start.ok_or(ResultError::NotFio)?;
    let mut last = None;
    for document in Deserializer::from_str(&text[start..]).into_iter::<Value>() {
        match (document, last.is_some()) {
            (Ok(document), _) => last = Some(document),
            // Text for people may follow (`--output-format=json,normal`).
            (Err(error), true) if !error.is_eof() => break,
            (Err(source), _) => return Err(ResultError::Syntax { source }),
        }
    }
    last.ok_or(ResultError::NotFio)
}

/// The host's name, where clients report theirs and all are one.
fn host(entries: &[(usize, &Value)]) -> HostRecord {
    let names = entries.iter().filter_map(|(_, job)| job["hostname"].as_str());
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    let name = if let [name] = names.as_slice() { (*name).to_owned() } else { String::new() };
    HostRecord { name, ..HostRecord::default() }
}

fn notes(jobs: &[record::JobRecord], version: &str) -> Vec<Note> {
    let mut notes = vec![Note {
        severity: NoteSeverity::Info,
        code: "imported".to_owned(),
        message: format!("{version} measured this; host and clock are not known"),
    }];
    let mut dirs = jobs.iter().flat_map(|job| job.dirs.iter());
    if dirs.any(|(_, dir)| dir.n_ios > 0 && dir.clat.is_empty() && dir.lat.is_empty()) {
        notes.push(Note {
            severity: NoteSeverity::Info,
            code: "no_histogram".to_owned(),
            message: "the file has no bins, so only the percentiles that it lists are known; \
                      --output-format=json+ writes bins"
                .to_owned(),
        });
    }
    notes
}

/// Reads `disk_util`. A disk whose counters make no sense is left out and reported: the kernel's
/// wrap around and fio then prints what is negative, and no result of the jobs rests on them.
fn disks(of: &Value, notes: &mut Vec<Note>) -> Vec<DiskRecord> {
    let mut disks = Vec::new();
    for (idx, disk) in of.as_array().into_iter().flatten().enumerate() {
        match job::disk(disk, format!("disk_util[{idx}]")) {
            Ok(disk) => disks.push(disk),
            Err(error) => notes.push(Note {
                severity: NoteSeverity::Warning,
                code: "imported_disk".to_owned(),
                message: format!("{error}; this disk is left out"),
            }),
        }
    }
    disks
}

/// Writes the options as a job file. Copies of a job (`numjobs`) count once.
fn job_file(record: &Record) -> String {
    let mut text = String::new();
    let mut put = |name: &str, waits: bool, options: &[(String, String)]| {
        text.push_str(&format!("[{name}]\n"));
        if waits && options.iter().all(|(name, _)| name != "stonewall") {
            text.push_str("stonewall=1\n");
        }
        for (name, value) in options.iter().filter(|(name, _)| name != "name") {
            text.push_str(&format!("{name}={value}\n"));
        }
    };
    if !record.global_options.is_empty() {
        put("global", false, &record.global_options);
    }
    let mut known = HashSet::new();
    let mut step_idx = 0;
    for job in &record.jobs {
        let is_name = !job.name.contains(['[', ']', '\n']);
        if is_name && known.insert((&job.name, &job.options)) {
            put(&job.name, job.step_idx > step_idx, &job.options);
            step_idx = job.step_idx;
        }
    }
    text
}
