//! `plimsoll rehearse mount`: the volumes of a design as a folder.
//!
//! The command starts itself once more, as the process that serves, and returns when the mount is
//! live. With `--foreground` it serves itself.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serve::backing::Backing;
use serve::machine::{Machine, MachineError, MachineOptions};
use serve::mount::{self, Mount, MountError, MountPoint};
use serve::server;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{
    CacheState, check_place, resolved, stale, tell_of_resumed_crash, tell_of_shortage, unusable,
};
use crate::commands::catalog::CatalogArgs;
use crate::commands::on::{read_again, read_design, tell_of_nothing_to_warm};
use crate::env;
use crate::exit::{Exit, Failure};
use crate::stream;

/// Mount the volumes of a design: real files behind its caps, cache and latency
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// The design.
    #[arg(value_name = "DESIGN")]
    design: String,

    /// Empty folder to mount at.
    #[arg(value_name = "MOUNTPOINT")]
    path: PathBuf,

    /// Folder that keeps the data. Without it, one for the mount point in ~/.local/state/plimsoll.
    #[arg(long, value_name = "DIR")]
    backing: Option<PathBuf>,

    /// Mount only this volume of several, by its mount path in the design.
    #[arg(long, value_name = "PATH")]
    volume: Option<String>,

    #[command(flatten)]
    catalog: CatalogArgs,

    /// What the host caches hold at the start: nothing, or the data that are there.
    #[arg(long, value_name = "STATE", value_enum, default_value = "cold")]
    cache: CacheState,

    /// Go on with data that were written to volumes of other sizes.
    #[arg(long)]
    resize: bool,

    /// Serve from this process; Ctrl-C unmounts.
    #[arg(long)]
    foreground: bool,

    /// Be the process that the command started to serve.
    #[arg(long, hide = true)]
    serving: bool,
}

const HELP: &str = "\
A design with one volume is mounted at MOUNTPOINT, one with several at folders below it that are \
named as in the design: /mnt/data is at MOUNTPOINT/mnt/data. The data are kept: mount again to go \
on with them. Mounted by root, it is open to all users, as their permissions allow.

What the machine's page cache would do is left out: every read and write meets the caps. Names and \
attributes take no time. fsync is what reaches the emulated disk; the real one is not waited for.

Examples:
  plimsoll rehearse mount docs/designs/p30.toml /mnt/p30
  plimsoll rehearse mount docs/designs/ds14.toml /mnt/ds14 --cache warm
  plimsoll rehearse mount docs/designs/ds14.toml /mnt/log --volume /mnt/nocache
  plimsoll rehearse mount new-size.toml /mnt/new --catalog my-tables";

/// Priority of the serving process, from -20 to 19: above that of ordinary programs.
const NICENESS: i32 = -15;

/// What the serving process says when the mount is live.
const READY: &str = "ready";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.foreground || args.serving {
        return serve(args);
    }
    // Mistakes are found before anything is started.
    let path = resolved(&args.path)?;
    mount::check(&path).map_err(unmountable)?;
    let backing = backing_dir(args, &path)?;
    let (design, text) = read_design(&args.design, &args.catalog.load()?)?;
    tell_of_nothing_to_warm(&design, args.cache == CacheState::Warm);
    let mut server = start_server(args, &path, &backing)
        .map_err(|error| broken(&format!("cannot start the serving process: {error}")))?;
    if let Some(mut stdin) = server.stdin.take() {
        // A server that has ended already says why itself.
        let _ = stdin.write_all(text.as_bytes());
    }
    let mut line = String::new();
    if let Some(stdout) = server.stdout.take() {
        let _ = BufReader::new(stdout).read_line(&mut line);
    }
    if line.trim_end() != READY {
        let ended = server.wait().ok().and_then(|status| status.code());
        let exit = if ended == Some(2) { Exit::WrongUse } else { Exit::RunFailed };
        return Err(Failure::silent(exit));
    }
    let (shown, backing) = (path.display(), backing.display());
    stream::print(&format!("mounted at {shown}, data in {backing}\n"))?;
    stream::tell(&format!(
        "see what holds it back: plimsoll rehearse status {shown}\n\
         end it, keep the data:  plimsoll rehearse unmount {shown}\n"
    ));
    Ok(Exit::Fine)
}

/// Starts this program again to serve. It hears nothing of the terminal's Ctrl-C.
fn start_server(args: &Args, path: &Path, backing: &Path) -> io::Result<std::process::Child> {
    let mut line: Vec<OsString> = vec!["rehearse".into(), "mount".into(), "--serving".into()];
    line.extend(["--backing".into(), backing.into()]);
    if let Some(dir) = &args.catalog.catalog {
        line.extend(["--catalog".into(), dir.into()]);
    }
    line.extend(["--cache".into(), args.cache.word().into()]);
    line.extend(args.resize.then(|| "--resize".into()));
    if let Some(volume) = &args.volume {
        line.extend(["--volume".into(), volume.into()]);
    }
    line.extend(["--".into(), OsString::from(&args.design), path.into()]);
    let mut command = Command::new("/proc/self/exe");
    std::os::unix::process::CommandExt::arg0(&mut command, "plimsoll");
    command.args(line).stdin(Stdio::piped()).stdout(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(&mut command, 0).spawn()
}

/// Serves until somebody unmounts.
fn serve(args: &Args) -> Result<Exit, Failure> {
    let read = if args.serving { read_again } else { read_design };
    let (design, design_text) = read(&args.design, &args.catalog.load()?)?;
    if !args.serving {
        tell_of_nothing_to_warm(&design, args.cache == CacheState::Warm);
    }
    let path = resolved(&args.path)?;
    mount::check(&path).map_err(unmountable)?;
    let backing = backing_dir(args, &path)?;
    let unusable = |error| unusable(&error, "plimsoll rehearse unmount MOUNT");
    let backing = Backing::open(&backing).map_err(unusable)?.with_other_sizes(args.resize);
    let (dir, log) = (backing.dir().to_owned(), backing.log());
    let options = MachineOptions {
        design_text,
        design,
        only: args.volume.clone(),
        is_cache_warm: args.cache == CacheState::Warm,
    };
    // What must answer at its modelled time comes before programs that use every processor. Only
    // root may ask for it; others are served as the kernel likes. Threads inherit it.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    let machine = Machine::start(options, backing).map_err(|error| match error {
        MachineError::Backing(error) => unusable(error),
        MachineError::Io(_) => broken(&error.to_string()),
        _ => Failure::wrong_use(error.to_string()),
    })?;
    tell_of_resumed_crash(&machine);
    tell_of_shortage(&machine);
    let mount = mount::mount(&machine, &path).map_err(unmountable)?;
    let outcome = attend(args, &machine, &path, &mount, &log);
    if outcome.is_err() {
        // Who asked has gone, and nobody else knows of the mount.
        let _ = mount::unmount(&path, true);
    }
    outcome?;
    let shown = path.display();
    if args.foreground {
        let text = format!("mounted at {shown}, data in {}; Ctrl-C unmounts\n", dir.display());
        stream::tell(&text);
    }
    mount.wait().map_err(|error| broken(&format!("serving {shown} ended: {error}")))?;
    Ok(Exit::Fine)
}

/// Makes the serving process ready for commands, signals, and life without a terminal.
fn attend(
    args: &Args,
    machine: &Arc<Machine>,
    path: &Path,
    mount: &Mount,
    log: &Path,
) -> Result<(), Failure> {
    let failed = |error: io::Error| broken(&format!("cannot serve: {error}"));
    server::obey(machine, MountPoint::new(path.to_owned(), mount)).map_err(failed)?;
    unmount_on_signal(path.to_owned()).map_err(failed)?;
    if args.serving {
        super::take_name();
        // Without a session of its own it would end with the terminal.
        let _ = rustix::process::setsid();
        detach(log).map_err(failed)?;
    }
    Ok(())
}

/// Tells whoever started the server that the mount is live, and lets go of the terminal.
fn detach(log: &Path) -> io::Result<()> {
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(log)?;
    rustix::stdio::dup2_stderr(&log)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    stream::print(&format!("{READY}\n"))?;
    rustix::stdio::dup2_stdout(&log)?;
    std::env::set_current_dir("/")
}

/// Unmounts at SIGINT and SIGTERM: if programs are still there, at the second one, out of sight.
fn unmount_on_signal(path: PathBuf) -> io::Result<()> {
    let (signals, sender) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(SIGINT, sender.try_clone()?)?;
    signal_hook::low_level::pipe::register(SIGTERM, sender)?;
    let wait = move || {
        let mut is_lazy = false;
        for _ in io::Read::bytes(signals) {
            match mount::unmount(&path, is_lazy) {
                Ok(()) => return,
                Err(error) => {
                    let again = "once more takes it out of sight and leaves it to the programs";
                    stream::tell(&format!("{error}; {again}\n"));
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
    if let Some(dir) = &args.backing {
        let dir = std::path::absolute(dir);
        let dir =
            dir.map_err(|error| Failure::wrong_use(format!("`--backing` is no path: {error}")))?;
        if dir.starts_with(path) {
            let (dir, path) = (dir.display(), path.display());
            return Err(Failure::wrong_use(format!("`{dir}` is inside the mount point `{path}`"))
                .hint("keep the data beside it: the mount would hide them"));
        }
        check_place(&dir)?;
        return Ok(dir);
    }
    let state = env::XDG_STATE_HOME.get().filter(|dir| dir.starts_with('/'));
    let state = state.or_else(|| Some(format!("{}/.local/state", env::HOME.get()?)));
    let Some(state) = state else {
        return Err(Failure::wrong_use("there is no home to keep the data in")
            .hint("name a folder with --backing"));
    };
    let name = path.to_string_lossy().trim_start_matches('/').replace('/', "-");
    Ok(PathBuf::from(state).join("plimsoll/rehearse").join(name))
}

fn broken(message: &str) -> Failure {
    Failure::wrong_use(message).with(Exit::RunFailed)
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
