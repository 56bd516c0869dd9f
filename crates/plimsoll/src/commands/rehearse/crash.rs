//! `plimsoll rehearse crash` and `restart`: the machine dies, and starts again.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serve::control::Command;
use serve::machine::CrashReport;
use units::format_bytes;

use super::ask;
use crate::exit::{Exit, Failure};
use crate::stream;

/// Crash the machine: data that only a ReadWrite host cache had is lost
#[derive(Debug, clap::Args)]
#[command(after_help = CRASH_HELP)]
pub(super) struct CrashArgs {
    /// Mount point.
    #[arg(value_name = "MOUNT")]
    path: PathBuf,

    /// Print what was lost as JSON.
    #[arg(long)]
    json: bool,
}

const CRASH_HELP: &str = "\
Data for which an fsync returned are never lost, nor are names and lengths that
were set without a write. Until `plimsoll rehearse restart` every access fails
with EIO, also through open files.

The machine's programs die with it: end those that have files of the volumes
open or mapped before the restart. One that keeps running keeps its memory, and
loses the pages that it had mapped.

Examples:
  plimsoll rehearse crash /mnt/p30
  plimsoll rehearse restart /mnt/p30";

const RESTART_HELP: &str = "\
Lost data stay lost. End the programs that had files of the volumes
open or mapped first, as the machine's crash would have: files that are still
open stay usable, and a program that uses them relies on data in its memory,
which a real crash would have erased.

Example:
  plimsoll rehearse restart /mnt/p30";

/// Start a crashed machine again, with cold caches
#[derive(Debug, clap::Args)]
#[command(after_help = RESTART_HELP)]
pub(super) struct RestartArgs {
    /// Mount point.
    #[arg(value_name = "MOUNT")]
    path: PathBuf,
}

/// Runs `crash`.
pub(super) fn crash(args: &CrashArgs) -> Result<Exit, Failure> {
    let value = ask(&args.path, &Command::Crash)?;
    if args.json {
        stream::print(&format!("{value}\n"))?;
        return Ok(Exit::Fine);
    }
    let report: CrashReport = serde_json::from_value(value).map_err(|error| {
        Failure::wrong_use(format!("the answer cannot be read: {error}")).with(Exit::RunFailed)
    })?;
    let n_bytes: u64 = report.lost.iter().map(|range| range.len).sum();
    let n_files =
        report.lost.iter().map(|range| (range.volume, range.ino)).collect::<BTreeSet<_>>().len();
    let files = units::plural(n_files, "file");
    let text = match n_bytes {
        0 => "crashed; nothing was lost: the disks had all that the caches held\n".to_owned(),
        _ => format!("crashed; lost {} in {files}\n", format_bytes(n_bytes)),
    };
    stream::print(&text)?;
    if let Some(error) = report.error {
        return Err(Failure::wrong_use(format!("not everything could be undone: {error}"))
            .with(Exit::RunFailed));
    }
    let path = args.path.display();
    stream::print_message(&format!("start it again: plimsoll rehearse restart {path}\n"));
    Ok(Exit::Fine)
}

/// Runs `restart`.
pub(super) fn restart(args: &RestartArgs) -> Result<Exit, Failure> {
    ask(&args.path, &Command::Restart)?;
    stream::print("running, with cold caches\n")?;
    Ok(Exit::Fine)
}
