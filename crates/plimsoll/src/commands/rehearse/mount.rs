//! `plimsoll rehearse mount`: the volumes of a design as a folder.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serve::machine::Machine;
use serve::mount::{self, Mount, MountError, MountPoint};
use serve::server;
use units::system_text;

use super::serving::{ServingArgs, broken, detach, on_signals, print_next_commands, unable};
use super::{resolved, stale};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Mount the volumes of a design: real files behind its caps, cache and latency
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    serving: ServingArgs,

    /// Empty folder to mount at.
    #[arg(value_name = "MOUNTPOINT")]
    path: PathBuf,

    /// Mount only this volume of several, by its mount path in the design.
    #[arg(long, value_name = "PATH")]
    volume: Option<String>,
}

const HELP: &str = "\
A design with one volume is mounted at MOUNTPOINT, one with several at folders
below it that are named as in the design: /mnt/data is at MOUNTPOINT/mnt/data.
The data are kept: mount again to go on with them. Mounted by root, it is open
to all users, as their permissions allow.

The page cache of the machine is not emulated: every read and write meets the
caps. Names and attributes take no time. fsync waits for the emulated disk, not
for the real one.

Examples:
  plimsoll rehearse mount docs/designs/p30.toml /mnt/p30
  plimsoll rehearse mount docs/designs/ds14.toml /mnt/ds14 --cache warm
  plimsoll rehearse mount docs/designs/ds14.toml /mnt/log --volume /mnt/nocache
  plimsoll rehearse mount new-size.toml /mnt/new --catalog my-tables";

/// Priority of the serving process, from -20 to 19: above that of ordinary programs.
const NICENESS: i32 = -15;

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    // Mistakes are found before anything is started.
    let path = resolved(&args.path)?;
    mount::check(&path).map_err(unmountable)?;
    let backing = backing_dir(args, &path)?;
    if args.serving.is_server() {
        return serve(args, &path, &backing);
    }
    let (_, text) = args.serving.design()?;
    let mut options: Vec<OsString> = Vec::new();
    if let Some(volume) = &args.volume {
        options.extend(["--volume".into(), volume.into()]);
    }
    args.serving.start("mount", &backing, &text, (options, Some(&path)))?;
    stream::print(&format!("mounted at {}, data in {}\n", path.display(), backing.display()))?;
    print_next_commands(&path);
    Ok(Exit::Fine)
}

/// Serves until the mount is taken away.
fn serve(args: &Args, path: &Path, backing: &Path) -> Result<Exit, Failure> {
    let design = args.serving.design()?;
    // A process that must answer at modelled times has priority over programs that use every
    // processor. Only root may set it; for other users nothing changes. Threads inherit it.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    let end = "plimsoll rehearse unmount MOUNT";
    let machine = args.serving.machine(design, args.volume.as_deref(), backing, end)?;
    let mount = mount::mount(&machine, path).map_err(unmountable)?;
    if let Err(error) = attend(args, &machine, path, &mount) {
        // The process that asked has gone, and no other one knows of the mount.
        let _ = mount::unmount(path, true);
        return Err(error);
    }
    let shown = path.display();
    if args.serving.keeps_terminal() {
        let dir = machine.backing().dir().display();
        stream::print_message(&format!("mounted at {shown}, data in {dir}; Ctrl-C unmounts\n"));
    }
    mount
        .wait()
        .map_err(|error| broken(&format!("serving {shown} ended: {}", system_text(&error))))?;
    Ok(Exit::Fine)
}

/// Makes the serving process ready for commands, signals, and life without a terminal.
fn attend(args: &Args, machine: &Arc<Machine>, path: &Path, mount: &Mount) -> Result<(), Failure> {
    server::obey(machine, MountPoint::new(path.to_owned(), mount)).map_err(unable)?;
    unmount_on_signal(path.to_owned()).map_err(unable)?;
    if args.serving.keeps_terminal() { Ok(()) } else { detach(machine, "") }
}

/// Unmounts at SIGINT, SIGTERM and SIGHUP. If programs still use the mount, a second signal
/// detaches it.
fn unmount_on_signal(path: PathBuf) -> io::Result<()> {
    let (signals, _) = on_signals()?;
    let wait = move || {
        let mut is_lazy = false;
        for _ in io::Read::bytes(signals) {
            match mount::unmount(&path, is_lazy) {
                Ok(()) => return,
                Err(error) => {
                    let again = "a second signal detaches it, and programs keep their files";
                    stream::print_message(&format!("{error}; {again}\n"));
                }
            }
            is_lazy = true;
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    Ok(())
}

/// Returns where the data are kept.
fn backing_dir(args: &Args, path: &Path) -> Result<PathBuf, Failure> {
    let name = path.to_string_lossy().trim_start_matches('/').replace('/', "-");
    let dir = args.serving.backing_dir(&name)?;
    if dir.starts_with(path) {
        let (dir, path) = (dir.display(), path.display());
        return Err(Failure::wrong_use(format!("`{dir}` is inside the mount point `{path}`"))
            .hint("keep the data outside of it: the mount would hide them"));
    }
    Ok(dir)
}

fn unmountable(error: MountError) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    match error {
        MountError::Missing { path } => failure.hint(format!("make it: mkdir {}", path.display())),
        MountError::NotFolder { .. } => failure.hint("name an empty folder"),
        MountError::NotEmpty { .. } => {
            failure.hint("a mount would hide what is in it: name an empty folder")
        }
        MountError::InUse { path, .. } => failure
            .hint(format!("if it is a rehearsal: plimsoll rehearse unmount {}", path.display())),
        MountError::Stale { path } => stale(&path),
        MountError::NoFuse => failure
            .hint("load the module: modprobe fuse; in a container, pass --device /dev/fuse")
            .hint("without a mount: plimsoll run FILE --on DESIGN"),
        MountError::Denied(_) => failure.hint("be root, or in the group that may open it"),
        MountError::NoHelper => failure.hint("install it: apt-get install fuse3"),
        MountError::Refused { .. } => failure.with(Exit::RunFailed),
    }
}
