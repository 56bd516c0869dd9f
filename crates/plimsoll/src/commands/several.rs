//! Runs that a command line names: from the store, or from files.

use std::fs;
use std::path::{Path, PathBuf};

use dialects::vdbench::result::{FLATFILE, PARMFILE, TOOL};
use export::Run;
use plan::Plan;
use record::Record;
use store::{RunsSelector, Store};
use units::system_text;

use super::foreign;
use super::keep::{StoreArgs, failure};
use super::runs::not_found;
use crate::exit::Failure;
use crate::limited::{self, RESULT_BYTES_MAX};

/// How runs are named, for help.
pub(super) const HOW: &str = "\
Runs are named by their number, `last`, `last~N`, `12..17`, `tag:NAME`, or
their name: all runs of that name, or of a pattern as 'night*'. A file may
stand for a run: a record (`--json`), fio's JSON, or a folder of them; Vdbench's
flatfile.html, or its output directory. Several are joined by commas:
`3,5,tag:night`.";

/// Finds the runs that a text names, each once, in the order in which they were taken.
pub(super) fn find(text: &str, args: &StoreArgs) -> Result<Vec<Run>, Failure> {
    let mut store = None;
    let mut runs: Vec<Run> = Vec::new();
    for word in words(text) {
        if is_file(word) {
            for path in files(Path::new(word))? {
                let name = path.display().to_string();
                runs.push(Run { id: None, name, record: read(&path)?.record });
            }
            continue;
        }
        if store.is_none() {
            store = Some(args.open()?);
        }
        let Some(store) = &store else { continue };
        for run in of_store(word, store)? {
            if runs.iter().all(|known| known.id != run.id) {
                runs.push(run);
            }
        }
    }
    if runs.is_empty() {
        return Err(Failure::wrong_use(format!("`{text}` names no run")).hint(HOW));
    }
    runs.sort_by_key(|run| run.record.started_unix_ms);
    Ok(runs)
}

/// A file may have commas in its name.
fn words(text: &str) -> Vec<&str> {
    if is_file(text) {
        return vec![text];
    }
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
}

fn is_file(word: &str) -> bool {
    let has_ending = Path::new(word).extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
    let looks_like_one = word.contains('/') || has_ending || word.ends_with(FLATFILE);
    looks_like_one && (word.starts_with(['.', '/']) || Path::new(word).exists())
}

fn of_store(word: &str, store: &Store) -> Result<Vec<Run>, Failure> {
    let Ok(several) = word.parse::<RunsSelector>();
    let mut runs = Vec::new();
    for row in store.find_several(&several).map_err(not_found)? {
        let Some(record) = store.record(row.id).map_err(failure)? else {
            return Err(Failure::wrong_use(format!("run {} has measured nothing", row.id)));
        };
        runs.push(Run { id: Some(row.id), name: row.name, record });
    }
    Ok(runs)
}

/// Returns a file, the flatfile of an output directory, or the JSON files of a folder by name.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let flatfile = path.join(FLATFILE);
    if flatfile.is_file() {
        return Ok(vec![flatfile]);
    }
    let failed = |error| {
        Failure::wrong_use(format!("cannot read {}: {}", path.display(), system_text(&error)))
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        let message =
            format!("no file in {} ends in .json, and none is {FLATFILE}", path.display());
        return Err(Failure::wrong_use(message));
    }
    Ok(found)
}

/// What a file says about a run.
pub(super) struct FromFile {
    /// What came out.
    pub(super) record: Record,
    /// What wrote it, such as `fio-3.33`.
    pub(super) tool: String,
    /// What it says of the plan.
    pub(super) asked: PlanOfResult,
    /// The file's bytes.
    pub(super) bytes: Vec<u8>,
}

/// What a result says of the plan that was run.
pub(super) enum PlanOfResult {
    /// Nothing.
    Unknown,
    /// Its jobs as fio's job file, as far as the options are listed.
    JobFile(String),
    /// All of it, from the parameter file beside the result.
    Plan(Box<Plan>),
}

/// Reads a record of ours, or a result of fio or Vdbench.
pub(super) fn read(path: &Path) -> Result<FromFile, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::wrong_use(format!("cannot read {}: {}", path.display(), system_text(error)))
    };
    let bytes = limited::read(path, RESULT_BYTES_MAX).map_err(|error| failed(&error))?;
    foreign::refuse(&path.to_string_lossy(), &bytes, "a result that is read")?;
    let text = std::str::from_utf8(&bytes).map_err(|_| failed(&"it is not text"))?;
    if dialects::fio::result::is_result(text) {
        let result = dialects::fio::result::read_result(text).map_err(|error| failed(&error))?;
        let dialects::fio::result::FioResult { record, version, job_file } = result;
        return Ok(FromFile {
            record,
            tool: version,
            asked: PlanOfResult::JobFile(job_file),
            bytes,
        });
    }
    if dialects::vdbench::result::is_result(text) {
        let beside = limited::read_text(&path.with_file_name(PARMFILE), RESULT_BYTES_MAX).ok();
        let result = dialects::vdbench::result::read_result(text, beside.as_deref());
        let result = result.map_err(|error| failed(&error))?;
        let asked =
            result.plan.map_or(PlanOfResult::Unknown, |plan| PlanOfResult::Plan(Box::new(plan)));
        return Ok(FromFile { record: result.record, tool: TOOL.to_owned(), asked, bytes });
    }
    let record = Record::from_json(text).map_err(|error| {
        failed(&error)
            .hint("records of ours (`--json`), fio's JSON and Vdbench's flatfile.html are read")
    })?;
    let tool = format!("plimsoll {}", record.plimsoll_version);
    Ok(FromFile { record, tool, asked: PlanOfResult::Unknown, bytes })
}
