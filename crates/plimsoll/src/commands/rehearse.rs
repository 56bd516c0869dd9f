//! `plimsoll rehearse`: emulated volumes that other programs can use.
//!
//! One file per command below. Each names the volumes by their mount point, or by the folder that
//! holds their data.

mod changes;
mod crash;
mod edit;
mod export;
mod mount;
mod serving;
mod set;
mod status;
mod table;
mod unmount;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serve::backing::{Backing, BackingError};
use serve::control::{self, AskError, Command};
use serve::holders::named;
use serve::mount::{Serving, find, resolve};
use units::{format_bytes, format_rate_mb_s, format_rate_mib_s, system_text};
use volume::design::is_in_mb;

use crate::exit::{Exit, Failure};

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

/// State of the host caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CacheState {
    /// Empty, as after every start of a machine.
    Cold,
    /// With the data that are there, as far as they fit.
    Warm,
}

impl CacheState {
    /// Returns the word that the argument takes.
    fn word(self) -> &'static str {
        match self {
            CacheState::Cold => "cold",
            CacheState::Warm => "warm",
        }
    }
}

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

/// Prints a rate in the unit that its limit is published in: MB/s, or MiB/s where those are meant.
fn rate_as_published(bytes_per_s: f64, origin: &str) -> String {
    if is_in_mb(origin) { format_rate_mb_s(bytes_per_s) } else { format_rate_mib_s(bytes_per_s) }
}

/// Returns a path without links, whether a server answers or not.
fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    resolve(path).map_err(|error| {
        Failure::wrong_use(format!("`{}` is not a path: {}", path.display(), system_text(&error)))
    })
}

/// Returns the folder with the data of what is mounted at a path, or the path if it is one.
fn backing_of(path: &Path) -> Result<PathBuf, Failure> {
    let path = resolved(path)?;
    let mounted = find(&path).map_err(|error| {
        Failure::wrong_use(format!("cannot read the list of mounts: {}", system_text(&error)))
            .with(Exit::RunFailed)
    })?;
    let backing = mounted.as_ref().and_then(serve::mount::Mounted::backing);
    match (mounted, backing) {
        (Some(mounted), Some(backing)) => match mounted.serving() {
            Serving::Answers => Ok(backing),
            Serving::Gone => Err(stale(&path)),
            Serving::Silent => Err(silent(&path, &backing).hint(lazily(&path))),
        },
        (_, None) if path.join("control").is_dir() => Ok(path),
        (Some(mounted), None) => {
            let (path, source) = (path.display(), mounted.source.display());
            Err(Failure::wrong_use(format!(
                "`{path}` is a mount of `{source}`, not of a rehearsal"
            )))
        }
        (None, _) => {
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

/// Reports that a mount has lost its server, and what clears it.
fn stale(path: &Path) -> Failure {
    let path = path.display();
    Failure::wrong_use(format!("`{path}` is a mount whose server is gone"))
        .hint(format!("clear it: plimsoll rehearse unmount {path}"))
        .hint("the data are kept: mount the design again to go on")
}

/// Refuses a folder for data that lies in the mount or among the data of another rehearsal: one
/// would wait for the other, and unmounting it would take the data away.
fn check_place(dir: &Path) -> Result<(), Failure> {
    let real = dir.ancestors().find_map(|above| above.canonicalize().ok());
    // A mount without a server has no real path.
    for place in real.iter().map(PathBuf::as_path).chain([dir]) {
        let above = mount_above(place);
        let mounted = find(&above).ok().flatten();
        if mounted.is_some_and(|mounted| mounted.backing().is_some()) {
            let (dir, above) = (dir.display(), above.display());
            return Err(Failure::wrong_use(format!(
                "`{dir}` is inside `{above}`, which is itself the mount of a rehearsal"
            ))
            .hint("keep the data on a disk of this machine: --backing DIR"));
        }
        let is_backing = |dir: &&Path| {
            let has = |name: &str| dir.join(name);
            has("lock").is_file() && has("data").is_dir() && has("control").is_dir()
        };
        if let Some(other) = place.ancestors().filter(|above| *above != dir).find(is_backing) {
            let (dir, other) = (dir.display(), other.display());
            return Err(Failure::wrong_use(format!(
                "`{dir}` is inside `{other}`, which holds the data of another rehearsal"
            ))
            .hint("keep the data in another folder: --backing DIR"));
        }
    }
    Ok(())
}

/// Returns why a folder cannot keep the data, and what to do. `end` is the command that ends what
/// serves from it.
fn unusable(error: &BackingError, end: &str) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    match error {
        BackingError::InUse { .. } => failure
            .hint(format!("stop the serving process: {end}"))
            .hint("or keep the data elsewhere: --backing DIR"),
        BackingError::Foreign { .. } => failure.hint("name an empty or new folder with --backing"),
        BackingError::Full { .. } => {
            failure.hint("make room, or keep the data on another disk: --backing DIR")
        }
        BackingError::NotFolder { .. } => failure.hint("name a folder, or a path that is free"),
        BackingError::MountPath { .. } => failure.hint("write it as /mnt/data, without `..`"),
        BackingError::OtherVolumes { has, .. } => failure
            .hint("give this design a folder of its own: --backing DIR")
            .hint(format!("or go on with a design whose volumes are {}", has.join(", "))),
        BackingError::OtherSize { path, mount, has_bytes, asked_bytes } => {
            let (has, asked) = (format_bytes(*has_bytes), format_bytes(*asked_bytes));
            let path = path.display();
            Failure::wrong_use(format!(
                "`{path}` holds the data of `{mount}` with {has}; this design gives it {asked}"
            ))
            .hint("give this design a folder of its own: --backing DIR")
            .hint(format!("or go on with these data at {asked}: --resize"))
        }
        BackingError::Io { .. } => failure.hint("keep the data where you may write: --backing DIR"),
    }
}

/// Reports that the serving process is there and says nothing.
fn silent(path: &Path, backing: &Path) -> Failure {
    let servers = Backing::servers(backing);
    let who = if servers.is_empty() { "another user's".to_owned() } else { named(&servers) };
    let text = format!("the process that serves `{}` does not answer: {who}", path.display());
    let failure = Failure::wrong_use(text).with(Exit::RunFailed);
    match servers.first() {
        Some(server) => {
            failure.hint(format!("if it was stopped, continue it: kill -CONT {}", server.pid))
        }
        None => failure,
    }
}

fn lazily(path: &Path) -> String {
    format!("detach it: plimsoll rehearse unmount {} --lazy", path.display())
}

/// Gives a command to the process that serves a path.
fn ask(path: &Path, command: &Command) -> Result<serde_json::Value, Failure> {
    let backing = backing_of(path)?;
    control::ask(&backing, command).map_err(|error| match error {
        AskError::Broken(error) if error.kind() == ErrorKind::WouldBlock => silent(path, &backing),
        error => failure(error),
    })
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
