//! `plimsoll rehearse unmount`: ends the service; clears what a killed server left.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serve::backing::Backing;
use serve::control::{self, AskError, Command};
use serve::holders::{holders, named};
use serve::mount::{self, Serving, find};

use super::{backing_of, failure, lazily, resolved, silent};
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

    /// Detach it at once; it ends when the last program has left it.
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
    let served = mounted.and_then(|mounted| Some((mounted.backing()?, mounted.serving())));
    match served {
        Some((_, Serving::Gone)) => {
            clear(&path)?;
            stream::print(&format!("cleared {}: its server was gone\n", path.display()))?;
            return Ok(Exit::Fine);
        }
        Some((_, Serving::Silent)) if args.lazy => {
            clear(&path)?;
            stream::print(&format!("unmounted {}\n", path.display()))?;
            let text =
                "its server does not answer: the unmount completes when it does, or is killed";
            stream::remark("note: ", text);
            return Ok(Exit::Fine);
        }
        Some((backing, Serving::Silent)) => return Err(silent(&path, &backing).hint(lazily(&path))),
        Some((_, Serving::Answers)) | None => {}
    }
    if find(&path).is_ok_and(|mounted| mounted.is_none()) && !path.join("control").is_dir() {
        let text = format!("nothing to unmount: no rehearsal is at `{}`", path.display());
        return Err(Failure::wrong_use(text)
            .hint("name the mount point, or of an export the folder with its data")
            .hint("what is mounted: findmnt -t fuse"));
    }
    let backing = backing_of(&path)?;
    // Once it is out of sight, it is not known whose files are below it.
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
    let is_there =
        |mounted: mount::Mounted| mounted.backing().is_some() && mounted.serving() != Serving::Gone;
    if !args.lazy && find(&path).ok().flatten().is_some_and(is_there) {
        let text =
            format!("`{}` is still mounted: the serving process does not end", path.display());
        return Err(Failure::wrong_use(text).hint(lazily(&path)).with(Exit::RunFailed));
    }
    stream::print(&format!("unmounted {}\n", path.display()))?;
    if !holders.is_empty() {
        let who = named(&holders);
        stream::remark(
            "note: ",
            &format!(
                "still held by process {who}: served until that process \
         leaves"
            ),
        );
    }
    Ok(Exit::Fine)
}

/// Takes away a mount without a server.
fn clear(path: &Path) -> Result<(), Failure> {
    mount::unmount(path, true)
        .map_err(|error| Failure::wrong_use(error.to_string()).with(Exit::RunFailed))
}
