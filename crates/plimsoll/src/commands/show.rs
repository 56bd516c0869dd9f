//! `plimsoll show`: one run from the store, as it was printed when it ended.

use dialects::fio::output::{COMPAT_VERSION, JsonOptions, json};
use store::{RunSelector, State};

use super::keep::{StoreArgs, failure};
use super::runs::not_found;
use crate::exit::{Exit, Failure};
use crate::{clock, stream, summary};

/// Show a stored run
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The run: its number, its name, `last`, or `last~N` for the Nth before the last.
    #[arg(default_value = "last")]
    run: RunSelector,

    /// Print the record as JSON (`plimsoll.record/1`).
    #[arg(long, conflicts_with_all = ["fio_json", "plan"])]
    json: bool,

    /// Print fio's JSON, for scripts made for it.
    #[arg(long, conflicts_with = "plan")]
    fio_json: bool,

    /// Print the plan that was run, as a plan file of Plimsoll (TOML): `plimsoll run -` runs it
    /// again.
    #[arg(long)]
    plan: bool,

    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll show
  plimsoll show last~1
  plimsoll show before-the-firmware --json
  plimsoll show 12 --plan | plimsoll run -";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let store = args.store.open()?;
    let run = store.find(&args.run).map_err(not_found)?;
    if args.plan {
        let plan = store.plan(run.id).map_err(failure)?;
        if plan.is_empty() {
            let message =
                format!("run {} was imported, and its file does not contain its plan", run.id);
            return Err(Failure::wrong_use(message));
        }
        return Exit::Fine.once(stream::print(&plan));
    }
    let Some(record) = store.record(run.id).map_err(failure)? else {
        let what = if run.state == State::Running { "has measured" } else { "measured" };
        let message = format!("run {} {what} nothing yet that could be shown", run.id);
        return Err(Failure::wrong_use(message).with(Exit::Invalid));
    };
    let text = if args.json {
        record.to_json()
    } else if args.fio_json {
        let now = clock::report_time();
        json(&record, JsonOptions { plus: false, version: COMPAT_VERSION, now })
    } else {
        let started = clock::local_minute(run.started_unix_ms);
        let mut head = format!("run {}, {}, {started}", run.id, run.state.word());
        if let Some(source) = &run.source {
            head.push_str(&format!(", imported from {} ({})", source.path, source.tool));
        }
        for part in [run.name.as_str(), run.note.as_str()] {
            if !part.is_empty() {
                head.push_str(&format!(", {part}"));
            }
        }
        for tag in &run.tags {
            head.push_str(&format!(" #{tag}"));
        }
        format!("{head}\n\n{}", summary::summary(&record))
    };
    Exit::Fine.once(stream::print(&text))
}
