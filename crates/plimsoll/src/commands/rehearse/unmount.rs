//! `plimsoll rehearse unmount`: ends the service; clears what a killed server left.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serve::backing::Backing;
use serve::control::{self, AskError, Command};
use serve::holders::{holders, named};
use serve::mount::{self, find};

use super::{backing_of, failure, resolved};
use crate::clock::Stopwatch;
use crate::exit::{Exit, Failure};
use crate::stream;

/// Unmount emulated volumes; the data are kept
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Mount point.
    #[arg(value_name = "MOUNT")]
    path: PathBuf,

    /// Take it out of sight at once, and away when the last program has left it.
    #[arg(long)]
    lazy: bool,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll rehearse unmount /mnt/p30
  plimsoll rehearse unmount /mnt/p30 --lazy";

/// How long the serving process may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let path = resolved(&args.path)?;
    let mounted = find(&path).ok().flatten();
    if mounted.is_some_and(|mounted| mounted.backing().is_some() && mounted.is_stale()) {
        clear(&path)?;
        stream::print(&format!("cleared {}: its server was gone\n", path.display()))?;
        return Ok(Exit::Fine);
    }
    if find(&path).is_ok_and(|mounted| mounted.is_none()) && !path.join("control").is_dir() {
        let text = format!("nothing to unmount: no rehearsal is at `{}`", path.display());
        return Err(Failure::wrong_use(text));
    }
    let backing = backing_of(&path)?;
    // Once it is out of sight, nobody can tell whose files are below it.
    let holders = if args.lazy { holders(&path) } else { Vec::new() };
    match control::ask(&backing, &Command::Unmount { is_lazy: args.lazy }) {
        // A server that ends may end before its answer is read.
        Ok(_) | Err(AskError::Broken(_)) => {}
        Err(error) => return Err(failure(error)),
    }
    if !args.lazy {
        let waiting = Stopwatch::start();
        while Backing::is_in_use(&backing) && waiting.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let is_there = |mounted: mount::Mounted| mounted.backing().is_some() && !mounted.is_stale();
    if !args.lazy && find(&path).ok().flatten().is_some_and(is_there) {
        let text =
            format!("`{}` is still mounted: the serving process does not end", path.display());
        return Err(Failure::wrong_use(text)
            .hint(format!(
                "take it out of sight: plimsoll rehearse unmount {} --lazy",
                path.display()
            ))
            .with(Exit::RunFailed));
    }
    stream::print(&format!("unmounted {}\n", path.display()))?;
    if !holders.is_empty() {
        let who = named(&holders);
        stream::remark("note: ", &format!("still held by process {who}: served until it is left"));
    }
    Ok(Exit::Fine)
}

/// Takes away a mount that nobody answers for.
fn clear(path: &Path) -> Result<(), Failure> {
    mount::unmount(path, true)
        .map_err(|error| Failure::wrong_use(error.to_string()).with(Exit::RunFailed))
}
