//! `plimsoll check`: what job files mean, and every mistake in them. Nothing is run or opened.

use super::input::{self, Input, InputArgs};
use crate::exit::{Exit, Failure};
use crate::{plan_json, plan_text, stream};

/// Say what job files mean, and every mistake in them with line and column
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
Nothing is run, and no target is opened. The exit code is 2 if there is an error.

Examples:
  plimsoll check fiowrite.ini
  plimsoll check fiowrite.ini --set iodepth=64
  plimsoll check *.fio --json | jq '.findings[].message'";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let Input { parsed, runs, .. } = args.input.parse(false);
    if args.json {
        stream::print(&plan_json::page(&parsed))?;
        return input::tell(&parsed).map(|()| Exit::Fine);
    }
    // A plan with a hole in it would mislead: after an error only the findings are shown.
    input::tell(&parsed)?;
    if let Some(runs) = runs {
        stream::print(&format!("{}\n", plan_text::folded(&runs)))?;
    }
    stream::print(&plan_text::page(&parsed.plan))?;
    Ok(Exit::Fine)
}
