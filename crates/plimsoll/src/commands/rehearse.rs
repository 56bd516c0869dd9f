//! `plimsoll rehearse`: emulated volumes that other programs can use.
//!
//! One file per command below. Each names the volumes by their mount point, or by the folder that
//! holds their data.

mod changes;
mod crash;
mod edit;
mod export;
mod mount;
mod set;
mod status;
mod table;
mod unmount;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serve::control::{self, AskError, Command};
use serve::machine::Machine;
use serve::mount::{find, resolve};
use units::format_bytes;

use crate::exit::{Exit, Failure};
use crate::stream;

/// Use the volumes of a design before they are bought: mount them, change them, crash them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Rehearsal,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll rehearse mount p30x4.toml /mnt/p30
  fio --directory=/mnt/p30 --name=t --size=1g --rw=randread --bs=8k --iodepth=32 \\
      --ioengine=libaio --direct=1 --time_based --runtime=30
  plimsoll rehearse status /mnt/p30
  plimsoll rehearse set /mnt/p30 --disk P40
  plimsoll rehearse crash /mnt/p30; plimsoll rehearse restart /mnt/p30
  plimsoll rehearse unmount /mnt/p30";

#[derive(Debug, Subcommand)]
enum Rehearsal {
    Mount(mount::Args),
    Export(export::Args),
    Status(status::Args),
    Set(set::Args),
    Crash(crash::CrashArgs),
    Restart(crash::RestartArgs),
    Unmount(unmount::Args),
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Rehearsal::Mount(args) => mount::run(args),
        Rehearsal::Export(args) => export::run(args),
        Rehearsal::Status(args) => status::run(args),
        Rehearsal::Set(args) => set::run(args),
        Rehearsal::Crash(args) => crash::crash(args),
        Rehearsal::Restart(args) => crash::restart(args),
        Rehearsal::Unmount(args) => unmount::run(args),
    }
}

/// Returns a path without links, whoever serves it.
fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    resolve(path)
        .map_err(|error| Failure::wrong_use(format!("`{}` is no path: {error}", path.display())))
}

/// Returns the folder with the data of what is mounted at a path, or the path if it is one.
fn backing_of(path: &Path) -> Result<PathBuf, Failure> {
    let path = resolved(path)?;
    let mounted = find(&path).map_err(|error| {
        Failure::wrong_use(format!("cannot read the list of mounts: {error}")).with(Exit::RunFailed)
    })?;
    let backing = mounted.as_ref().and_then(serve::mount::Mounted::backing);
    match (mounted, backing) {
        (Some(mounted), Some(_)) if mounted.is_stale() => Err(stale(&path)),
        (_, Some(backing)) => Ok(backing),
        (_, None) if path.join("control").is_dir() => Ok(path),
        (Some(mounted), None) => {
            let (path, source) = (path.display(), mounted.source.display());
            Err(Failure::wrong_use(format!(
                "`{path}` is a mount of `{source}`, not of a rehearsal"
            )))
        }
        (None, None) => {
            let text = format!("no emulated volume is mounted at `{}`", path.display());
            Err(Failure::wrong_use(text)
                .hint("mount one: plimsoll rehearse mount DESIGN MOUNTPOINT"))
        }
    }
}

/// Returns the rehearsal's mount point that a path lies in, or the path.
fn mount_above(path: &Path) -> PathBuf {
    let mounts = path.ancestors().filter_map(|above| Some((above, find(above).ok()??)));
    // The nearest counts: another file system may be mounted within.
    let nearest = mounts.into_iter().next();
    let ours = nearest.filter(|(_, mounted)| mounted.backing().is_some());
    ours.map_or(path, |(above, _)| above).to_owned()
}

/// Makes the process that serves known by the program's name: it was started by another.
fn take_name() {
    // Without it lists of processes say `exe`.
    let _ = std::fs::write("/proc/self/comm", "plimsoll");
}

/// Says that a mount has lost its server, and what clears it.
fn stale(path: &Path) -> Failure {
    let path = path.display();
    Failure::wrong_use(format!("`{path}` is a mount whose server is gone"))
        .hint(format!("clear it: plimsoll rehearse unmount {path}"))
        .hint("the data are kept: mount the design again to go on")
}

/// Tells of a crash that a killed process had begun and that the start has finished.
fn tell_of_resumed_crash(machine: &Machine) {
    if let Some(n_bytes) = machine.resumed_bytes() {
        let lost = format_bytes(n_bytes);
        let text = "the serving process was killed in a crash of the machine; it is finished now";
        stream::tell(&format!("{text}: lost {lost}\n"));
    }
}

/// Gives a command to whoever serves a path.
fn ask(path: &Path, command: &Command) -> Result<serde_json::Value, Failure> {
    control::ask(&backing_of(path)?, command).map_err(failure)
}

fn failure(error: AskError) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    match error {
        AskError::NoServer { backing } => {
            let backing = backing.display();
            failure
                .hint(format!(
                    "mount it: plimsoll rehearse mount DESIGN MOUNTPOINT --backing {backing}"
                ))
                .hint(format!("or export it: plimsoll rehearse export DESIGN --backing {backing}"))
        }
        AskError::Refused(refusal) => refusal.hints.into_iter().fold(failure, Failure::hint),
        AskError::Broken(_) => failure.with(Exit::RunFailed),
    }
}
