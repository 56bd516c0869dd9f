//! `plimsoll check`: what job files mean, and every mistake in them. Nothing is run or opened.

use std::path::Path;

use dialects::{Foreign, Loader, ReadPlan, likeliest};
use plan::Severity;
use units::system_text;

use super::input::{self, InputArgs};
use super::on;
use crate::exit::{Exit, Failure};
use crate::loader::ReadOnce;
use crate::{plan_json, plan_text, stream};

/// Check job files: show what they mean, and every mistake with line and column
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Print plan and findings as JSON (`plimsoll.check/1`).
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Nothing is run, and no target is opened. The exit code is 2 if there is an
error. Of a folder, all files in it are checked, each by itself.

Examples:
  plimsoll check fiowrite.ini
  plimsoll check fiowrite.ini --set iodepth=64
  plimsoll check jobs/
  plimsoll check *.fio --json | jq '.findings[].message'";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.input.files.iter().any(|name| Path::new(name).is_dir()) {
        return each(args);
    }
    let ReadPlan { parsed, listing, .. } = args.input.parse(false);
    if args.json {
        let shown = stream::print(&plan_json::page(&parsed));
        input::print_findings(&parsed)?;
        return Exit::Fine.once(shown);
    }
    // A plan with a hole in it would mislead: after an error only the findings are shown.
    input::print_findings(&parsed)?;
    if let Some(listing) = listing {
        stream::print(&format!("{}\n", plan_text::folded(&listing)))?;
    }
    stream::print(&plan_text::page(&parsed.plan))?;
    Ok(Exit::Fine)
}

/// Checks files one by one, those of folders among them, and reports the result of each.
fn each(args: &Args) -> Result<Exit, Failure> {
    if args.json {
        let message = "`--json` prints one plan, and a folder has several";
        return Err(Failure::wrong_use(message).hint("name the files of one plan"));
    }
    let mut exit = Exit::Fine;
    for name in &args.input.files {
        for file in files(name)? {
            let found = one(args, &file);
            if matches!(found, CheckOutcome::Wrong) {
                exit = Exit::WrongUse;
            }
            // All are checked, whether or not a reader has seen enough.
            exit = exit.once(stream::print(&format!("{file}: {}\n", found.words())))?;
        }
    }
    Ok(exit)
}

/// Returns a file, or the files of a folder by name.
fn files(name: &str) -> Result<Vec<String>, Failure> {
    if !Path::new(name).is_dir() {
        return Ok(vec![name.to_owned()]);
    }
    let failed =
        |error| Failure::wrong_use(format!("cannot read `{name}`: {}", system_text(&error)));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(name).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_hidden =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !is_hidden {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    if found.is_empty() {
        let failure = Failure::wrong_use(format!("there is no file in `{name}`"));
        return Err(failure.hint("name a job file, or a folder of them"));
    }
    Ok(found)
}

/// What came of a file.
enum CheckOutcome {
    /// It is fine, with so many jobs.
    Fine(usize),
    /// It has mistakes, which were printed.
    Wrong,
    /// It is something else.
    Other(String),
}

impl CheckOutcome {
    fn words(&self) -> String {
        match self {
            CheckOutcome::Fine(1) => "1 job, no mistake".to_owned(),
            CheckOutcome::Fine(n) => format!("{n} jobs, no mistake"),
            CheckOutcome::Wrong => "mistakes, see above".to_owned(),
            CheckOutcome::Other(what) => format!("not checked: {what}"),
        }
    }
}

fn one(args: &Args, file: &str) -> CheckOutcome {
    let read = ReadOnce::default();
    let bytes = read.read(file).unwrap_or_default();
    let is_named = args.input.dialect.is_some();
    let foreign = Foreign::recognise(&bytes).filter(|it| !is_named && !it.is_dialect());
    if let Some(foreign) = foreign {
        return CheckOutcome::Other(format!("it {}", foreign.what()));
    }
    let text = dialects::foreign::text(&bytes);
    if text.contains(['\0', char::REPLACEMENT_CHARACTER]) {
        return CheckOutcome::Other("it is not text".to_owned());
    }
    if on::is_design(&text) {
        return CheckOutcome::Other("it is a design; `plimsoll limits` checks it".to_owned());
    }
    if likeliest(&text).is_none() && !is_named {
        return CheckOutcome::Other("it does not look like a job file".to_owned());
    }
    let input = InputArgs { files: vec![file.to_owned()], ..args.input.clone() };
    let parsed = input.parse_read(&read, false).parsed;
    let is_wrong =
        input::findings(&parsed).iter().any(|finding| finding.severity == Severity::Error);
    // All of it is printed, and only errors make it wrong.
    let _ = input::print_findings(&parsed);
    if is_wrong { CheckOutcome::Wrong } else { CheckOutcome::Fine(parsed.plan.jobs().count()) }
}
