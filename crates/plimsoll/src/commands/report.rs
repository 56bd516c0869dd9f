//! `plimsoll report`: runs as a page to look at.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use report::{Runs, Set, Subject};

use super::keep::StoreArgs;
use super::several;
use crate::exit::{Exit, Failure};
use crate::inputs;
use crate::result_file::{self, not_written};
use crate::{clock, stream};

/// Make a page of charts: one file that needs no other
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The runs: one, or several to compare, the first of them the baseline.
    #[arg(default_value = "last")]
    runs: Vec<String>,

    /// Write to FILE; `-` for standard output.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,

    /// Show the page in the browser.
    #[arg(long, conflicts_with = "json")]
    open: bool,

    /// Print the data of the charts as JSON (`plimsoll.report/1`), and write no page.
    #[arg(long)]
    json: bool,

    /// Heading of the page; made of the runs' names unless given.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    title: String,

    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll report --open
  plimsoll report last -o /tmp/curve.html
  plimsoll report before after -o compared.html
  plimsoll report tag:old tag:new
  plimsoll report 12,13,14 --title 'Three patterns'
  plimsoll report result.json --json | jq '.charts[].title'

Runs are named by their number, `last`, `last~N`, `12..17`, `tag:NAME`, or
their name: all runs of that name, or of a pattern as 'night*'. A file may
stand for a run: a record (`--json`), fio's JSON, or a folder of them; Vdbench's
flatfile.html, or its output directory. Runs joined by commas are on one page,
one after another; separate ones are compared.";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let subject = subject(args)?;
    if args.json {
        return Exit::Fine.once(stream::print(&report::json(&subject)));
    }
    let page = report::page(&subject);
    if args.output == Path::new("-") {
        return Exit::Fine.once(stream::print(&page));
    }
    write(&args.output, &page)?;
    if args.open {
        open(&args.output)?;
    }
    Ok(Exit::Fine)
}

fn subject(args: &Args) -> Result<Subject, Failure> {
    let mut sets = Vec::new();
    for text in &args.runs {
        sets.push(Set { name: text.clone(), runs: several::find(text, &args.store)? });
    }
    for set in &mut sets {
        // `last` is another run tomorrow.
        if let [only] = set.runs.as_slice() {
            set.name = match (only.id, only.name.as_str()) {
                (Some(id), "") => format!("run {id}"),
                (_, name) => name.to_owned(),
            };
        }
    }
    let is_single = sets.len() == 1;
    let runs = match sets.pop() {
        Some(only) if is_single => Runs::Parts(only.runs),
        last => Runs::Sets(sets.into_iter().chain(last).collect()),
    };
    let written = clock::local_minute(clock::report_time().unix_ms);
    Ok(Subject { title: args.title.clone(), runs, written, ..Subject::default() })
}

/// Writes a page and says where.
pub(super) fn write(path: &Path, page: &str) -> Result<(), Failure> {
    inputs::refuse(path)?;
    result_file::write(path, page.as_bytes()).map_err(|error| not_written(path, &error))?;
    let size = units::format_bytes(page.len() as u64);
    stream::print_message(&format!("wrote {} ({size})\n", path.display()));
    Ok(())
}

/// Hands a page to the desktop's browser.
pub(super) fn open(path: &Path) -> Result<(), Failure> {
    let nothing = || Stdio::null();
    let mut opener = Command::new("xdg-open");
    opener.arg(path).stdin(nothing()).stdout(nothing()).stderr(nothing());
    match opener.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::wrong_use("no browser can be started here: xdg-open fails").hint(
            format!("open {} in a browser, or copy it to a machine that has one", path.display()),
        )),
    }
}
