//! `plimsoll import`: results that were taken elsewhere join the store.

use std::path::{Path, PathBuf};

use dialects::fio::parse_text;
use dialects::vdbench::result::{FLATFILE, PARMFILE};
use dialects::{LowerOptions, NO_HOST, native};
use sha2::{Digest, Sha256};
use store::{Begin, Imported, Source, Store};

use super::keep::{StoreArgs, failure};
use super::several::{FromFile, PlanOfResult, files, read};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Add results of fio or Vdbench, or records from elsewhere, to the stored runs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Results: fio's JSON (--output-format=json or json+), records (`--json`), or folders of
    /// them; output directories of Vdbench, or their flatfile.html.
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// What to call the runs; their files' names unless given.
    #[arg(long, value_name = "NAME", value_parser = super::keep::label)]
    name: Option<String>,

    /// A word to find the runs by; may be given several times.
    #[arg(long, value_name = "TAG", value_parser = super::keep::label)]
    tag: Vec<String>,

    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll import fio-output.json
  plimsoll import results/*.json --tag before
  plimsoll import records/ --store shared.db
  plimsoll import vdbench-output/

Files are recognised by content: the same one is not added twice. Without bins
(--output-format=json+ writes them) only the percentiles that fio lists are
known, and of Vdbench none; nothing is made up for the others.";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut paths = Vec::new();
    for path in &args.files {
        paths.extend(files(path)?);
    }
    // All are read before one is added: a mistake leaves the store as it was.
    let read: Result<Vec<(PathBuf, FromFile)>, Failure> =
        paths.into_iter().map(|path| Ok((path.clone(), read(&path)?))).collect();
    let read = read?;
    let mut store = args.store.open_or_make()?;
    let mut text = String::new();
    for (path, file) in read {
        text.push_str(&add(&mut store, args, &path, &file)?);
    }
    Exit::Fine.once(stream::print(&text))
}

/// Adds a file and says what came of it.
fn add(store: &mut Store, args: &Args, path: &Path, file: &FromFile) -> Result<String, Failure> {
    // A file may be called `last` or `12`, by which no command finds its run.
    let name = name_of(path).filter(|name| store::can_be_found(name));
    let begin = Begin {
        name: args.name.clone().or(name).unwrap_or_default(),
        about: String::new(),
        tags: args.tag.clone(),
        command: file.record.command.clone(),
        plan: plan(&file.asked, &file.tool),
        started_unix_ms: file.record.started_unix_ms,
    };
    let hash = Sha256::digest(&file.bytes);
    let source = Source {
        path: path.display().to_string(),
        sha256: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        tool: file.tool.clone(),
    };
    let path = path.display();
    Ok(match store.import(&begin, &file.record, &source).map_err(failure)? {
        Imported::Added(id) => format!("run {id}: {path}, {}\n", file.tool),
        Imported::Known(id) => format!("run {id} already: {path}, nothing was added\n"),
    })
}

/// Returns what a file is called: of Vdbench's, which are all called the same, their folder is.
fn name_of(path: &Path) -> Option<String> {
    if path.file_name().is_some_and(|name| name == FLATFILE) {
        let path = std::path::absolute(path).ok()?;
        return Some(path.parent()?.file_name()?.to_string_lossy().into_owned());
    }
    Some(path.file_stem()?.to_string_lossy().into_owned())
}

/// Returns the plan that a result means, as its options or its parameter file say; nothing where
/// they make none.
fn plan(asked: &PlanOfResult, tool: &str) -> String {
    let job_file = match asked {
        PlanOfResult::Unknown => return String::new(),
        PlanOfResult::Plan(plan) => {
            let text = native::write(plan).text;
            return format!("# Made from the {PARMFILE} beside the result of {tool}.\n\n{text}");
        }
        PlanOfResult::JobFile(job_file) if job_file.is_empty() => return String::new(),
        PlanOfResult::JobFile(job_file) => job_file,
    };
    let parsed = parse_text("imported", job_file, &LowerOptions::default(), &NO_HOST);
    let is_bad = |found: &plan::Diagnostic| found.severity == plan::Severity::Error;
    if parsed.diagnostics.iter().any(is_bad) {
        return String::new();
    }
    format!(
        "# Made from the options that {tool} lists. Flags without a value, such as\n\
         # time_based, are not among them.\n\n{}",
        native::write(&parsed.plan).text
    )
}
