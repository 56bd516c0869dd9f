//! `plimsoll rehearse status`: caps, credits, cache, and what holds whom.

use std::path::PathBuf;

use serve::control::Command;

use super::{ask, mount_above, resolved, table};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Show caps, credits, caches, and which cap holds the programs back
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Mount point.
    #[arg(value_name = "MOUNT")]
    path: PathBuf,

    /// Print it as JSON (`plimsoll.rehearse/1`).
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
limit   what the cap allows, sustained
now     what it carried over the last second or so
waits   parts of I/Os that wait for it at this moment
held    share of the last second or so in which it held something back
credit  what is left of its burst credits

Examples:
  plimsoll rehearse status /mnt/p30
  plimsoll rehearse status /mnt/p30 --json";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let path = mount_above(&resolved(&args.path)?);
    let value = ask(&path, &Command::Status)?;
    if args.json {
        stream::print(&format!("{value}\n"))?;
        return Ok(Exit::Fine);
    }
    let report = serde_json::from_value(value).map_err(|error| {
        Failure::wrong_use(format!("the answer cannot be read: {error}")).with(Exit::RunFailed)
    })?;
    stream::print(&table::page(&report))?;
    Ok(Exit::Fine)
}
