//! What `mount` and `export` have in common: their arguments, and the process that serves.
//!
//! Without `--foreground` the command starts itself once more to serve, hands the text of a design
//! from the standard input on, and returns when the other says that it is ready.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serve::backing::Backing;
use serve::machine::{Machine, MachineError, MachineOptions, Shortage};
use units::{format_bytes, system_text};
use volume::Design;

use super::{CacheState, check_place, unusable};
use crate::commands::on::{read_again, read_design, warn_of_nothing_to_warm};
use crate::commands::own_tables::CatalogArgs;
use crate::env;
use crate::exit::{Exit, Failure};
use crate::{signals, stream};

/// What both commands take.
#[derive(Debug, clap::Args)]
pub(super) struct ServingArgs {
    /// The design.
    #[arg(value_name = "DESIGN")]
    design: String,

    /// Folder that keeps the data. Without it, one in ~/.local/state/plimsoll, named for the mount
    /// point or the port.
    #[arg(long, value_name = "DIR")]
    backing: Option<PathBuf>,

    #[command(flatten)]
    catalog: CatalogArgs,

    /// What the host caches hold at the start: nothing, or the data that are there.
    #[arg(long, value_name = "STATE", value_enum, default_value = "cold")]
    cache: CacheState,

    /// Continue with data that were written to volumes of other sizes.
    #[arg(long)]
    resize: bool,

    /// Serve from this process, until Ctrl-C.
    #[arg(long)]
    foreground: bool,

    /// Be the process that the command started to serve.
    #[arg(long, hide = true)]
    serving: bool,
}

/// What the serving process says when it is ready, before what else there is to say.
const READY: &str = "ready";

impl ServingArgs {
    /// Returns whether this process is to serve.
    pub(super) fn is_server(&self) -> bool {
        self.foreground || self.serving
    }

    /// Returns whether the serving process keeps its terminal.
    pub(super) fn keeps_terminal(&self) -> bool {
        !self.serving
    }

    /// Reads the design, and says what is to be said of it: once, by the process that was started
    /// first.
    pub(super) fn design(&self) -> Result<(Design, String), Failure> {
        let catalog = self.catalog.load()?;
        if self.serving {
            return read_again(&self.design, &catalog);
        }
        let (design, text) = read_design(&self.design, &catalog)?;
        warn_of_nothing_to_warm(&design, self.cache == CacheState::Warm);
        Ok((design, text))
    }

    /// Returns where the data are kept: in the folder that is named, or in one of this name.
    pub(super) fn backing_dir(&self, name: &str) -> Result<PathBuf, Failure> {
        if let Some(dir) = &self.backing {
            let dir = std::path::absolute(dir).map_err(|error| {
                Failure::wrong_use(format!("`--backing` is not a path: {}", system_text(&error)))
            })?;
            check_place(&dir)?;
            return Ok(dir);
        }
        let state = env::XDG_STATE_HOME.get().filter(|dir| dir.starts_with('/'));
        let state = state.or_else(|| Some(format!("{}/.local/state", env::HOME.get()?)));
        let Some(state) = state else {
            return Err(Failure::wrong_use("HOME is not set, so there is no folder for the data")
                .hint("name a folder with --backing"));
        };
        Ok(PathBuf::from(state).join("plimsoll/rehearse").join(name))
    }

    /// Starts the process that serves. Returns what it says once it is ready.
    ///
    /// `command` is `mount` or `export`, `options` and `place` are its further arguments.
    pub(super) fn start(
        &self,
        command: &str,
        backing: &Path,
        design_text: &str,
        (options, place): (Vec<OsString>, Option<&Path>),
    ) -> Result<String, Failure> {
        let mut words: Vec<OsString> = vec!["rehearse".into(), command.into()];
        words.extend(["--serving".into(), "--backing".into(), backing.into()]);
        if let Some(dir) = &self.catalog.catalog {
            words.extend(["--catalog".into(), dir.into()]);
        }
        words.extend(["--cache".into(), self.cache.word().into()]);
        words.extend(self.resize.then(|| "--resize".into()));
        words.extend(options);
        words.extend(["--".into(), OsString::from(&self.design)]);
        words.extend(place.map(Into::into));
        let mut server = spawn(words).map_err(|error| {
            broken(&format!("cannot start the serving process: {}", system_text(&error)))
        })?;
        if let Some(mut stdin) = server.stdin.take() {
            // A server that has ended already says why itself.
            let _ = stdin.write_all(design_text.as_bytes());
        }
        let mut line = String::new();
        if let Some(stdout) = server.stdout.take() {
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        line.trim_end().strip_prefix(READY).map(|said| said.trim_start().to_owned()).ok_or_else(
            || {
                let ended = server.wait().ok().and_then(|status| status.code());
                let is_wrong_use = ended == Some(2);
                Failure::silent(if is_wrong_use { Exit::WrongUse } else { Exit::RunFailed })
            },
        )
    }

    /// Starts the machine over the folder with the data, and says what is to be said of these.
    /// `only` is the volume to serve of several, `end` the command that ends a server.
    pub(super) fn machine(
        &self,
        (design, design_text): (Design, String),
        only: Option<&str>,
        dir: &Path,
        end: &str,
    ) -> Result<Arc<Machine>, Failure> {
        let unusable = |error| unusable(&error, end);
        let backing = Backing::open(dir).map_err(unusable)?.with_other_sizes(self.resize);
        let options = MachineOptions {
            design_text,
            design,
            only: only.map(str::to_owned),
            is_cache_warm: self.cache == CacheState::Warm,
        };
        let machine = Machine::start(options, backing).map_err(|error| match error {
            MachineError::Backing(error) => unusable(error),
            MachineError::Io(_) => broken(&error.to_string()),
            MachineError::NoVolume | MachineError::UnknownVolume { .. } => {
                Failure::wrong_use(error.to_string())
            }
        })?;
        print_resumed_crash(&machine);
        warn_of_shortage(&machine);
        Ok(machine)
    }
}

/// Starts this program again. It hears nothing of the terminal's Ctrl-C.
fn spawn(words: Vec<OsString>) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    std::os::unix::process::CommandExt::arg0(&mut command, "plimsoll");
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(&mut command, 0).spawn()
}

/// Reports to the parent process that this one is ready, with what else there is to say, and
/// lets go of the terminal.
pub(super) fn detach(machine: &Machine, said: &str) -> Result<(), Failure> {
    let detach = || -> io::Result<()> {
        let log = machine.backing().log();
        let log = OpenOptions::new().create(true).append(true).mode(0o600).open(log)?;
        rustix::stdio::dup2_stderr(&log)?;
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        stream::print(&format!("{READY} {said}\n"))?;
        rustix::stdio::dup2_stdout(&log)?;
        std::env::set_current_dir("/")
    };
    // It was started by another name: without this, lists of processes say `exe`.
    let _ = std::fs::write("/proc/self/comm", "plimsoll");
    // Without a session of its own it would end with the terminal.
    let _ = rustix::process::setsid();
    detach().map_err(unable)
}

/// Prints where to see what holds the volumes back, and how to end what serves them.
pub(super) fn print_next_commands(place: &Path) {
    let place = place.display();
    stream::print_message(&format!(
        "see what holds it back: plimsoll rehearse status {place}\n\
         end it, keep the data:  plimsoll rehearse unmount {place}\n"
    ));
}

/// Returns a socket that has a byte for each SIGINT, SIGTERM and SIGHUP, and its other end, to
/// write to.
pub(super) fn on_signals() -> io::Result<(UnixStream, UnixStream)> {
    let (signals, sender) = UnixStream::pair()?;
    for signal in signals::heard() {
        signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
    }
    Ok((signals, sender))
}

/// Reports that the disk under the data is full before the volumes are.
fn warn_of_shortage(machine: &Machine) {
    let Some(Shortage { provisioned_bytes, free_bytes }) = machine.shortage() else { return };
    let (left, free) = (format_bytes(provisioned_bytes), format_bytes(free_bytes));
    let dir = machine.backing().dir().display();
    let text = format!(
        "the volumes have room for {left}, and the disk under `{dir}` for {free}: a program that \
         writes more sees that disk full"
    );
    stream::remark("note: ", &text);
}

/// Reports of a crash that a killed process had begun and that the start has finished.
fn print_resumed_crash(machine: &Machine) {
    if let Some(n_bytes) = machine.resumed_bytes() {
        let lost = format_bytes(n_bytes);
        let text = "the serving process was killed in a crash of the machine; it is finished now";
        stream::print_message(&format!("{text}: lost {lost}\n"));
    }
}

/// Returns why volumes cannot be served, or are not any more.
#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
pub(super) fn unable(error: io::Error) -> Failure {
    broken(&format!("cannot serve: {}", system_text(&error)))
}

/// A failure that is not of what was asked for.
pub(super) fn broken(message: &str) -> Failure {
    Failure::wrong_use(message).with(Exit::RunFailed)
}
