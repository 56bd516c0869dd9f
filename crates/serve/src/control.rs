//! Commands to a machine while it runs, over a socket that only its owner can reach.
//!
//! The socket lies in the backing, in a folder that only its owner may enter. One request and one
//! answer per connection, each a line of JSON.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::getuid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use units::system_text;

/// Longest request: a design and a user's tables of any sensible size.
const REQUEST_BYTES_MAX: u64 = 1 << 24;

/// How long one side waits for the other. A crash that takes much back is the longest answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A command to a running machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// What it is, and what holds whom.
    Status,
    /// The text of the design in force, the user's tables that it was read with, and the only
    /// volume of it that is shown.
    Design,
    /// Another design for the same volumes.
    Change {
        /// Its text.
        design: String,
        /// The user's tables to read it with, as pairs of path and text; without them those in
        /// force.
        #[serde(default)]
        tables: Option<Vec<(String, String)>>,
    },
    /// The machine dies.
    Crash,
    /// The machine starts again.
    Restart,
    /// The volumes are taken away and the server ends.
    Unmount {
        /// Out of sight at once, away when the last program has left.
        is_lazy: bool,
    },
}

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is wrong: one sentence, lower case, no final full stop.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
}

impl Refusal {
    /// Makes one without hints.
    pub fn new(message: impl Into<String>) -> Self {
        Refusal { message: message.into(), hints: Vec::new() }
    }

    /// Adds a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// What comes back.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Ok(Value),
    Refused(Refusal),
}

/// Why a command could not be given.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No process listens.
    #[error("no process serves the data in `{}`", backing.display())]
    NoServer {
        /// The backing.
        backing: PathBuf,
    },
    /// The machine refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The connection broke.
    #[error("the serving process does not answer: {}", system_text(.0))]
    Broken(io::Error),
}

fn folder(backing: &Path) -> PathBuf {
    backing.join("control")
}

/// Returns a path to the socket that is short enough for an address, whatever the backing's is.
/// Good while the folder is held.
fn address(folder: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/socket", folder.as_raw_fd()))
}

/// Listens for commands on a thread of its own, to the end of the process. `answer` is called for
/// one command at a time.
pub fn listen(
    backing: &Path,
    mut answer: impl FnMut(Command) -> Result<Value, Refusal> + Send + 'static,
) -> io::Result<()> {
    let folder = folder(backing);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
    let held = open(&folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let socket = address(&held);
    match fs::remove_file(&socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&socket)?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
    let listen = move || {
        let _held = held;
        for stream in listener.incoming().flatten() {
            // A program that breaks off gets no answer; the next one does.
            let _ = converse(&stream, &mut answer);
        }
    };
    std::thread::Builder::new().name("control".to_owned()).spawn(listen)?;
    Ok(())
}

fn converse(
    stream: &UnixStream,
    answer: &mut impl FnMut(Command) -> Result<Value, Refusal>,
) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?.uid;
    if peer != getuid() && !peer.is_root() {
        return Ok(());
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(REQUEST_BYTES_MAX)).read_line(&mut line)?;
    let answer = match serde_json::from_str(&line) {
        Ok(command) => match answer(command) {
            Ok(value) => Answer::Ok(value),
            Err(refusal) => Answer::Refused(refusal),
        },
        Err(error) => Answer::Refused(Refusal::new(format!("this is not a command: {error}"))),
    };
    write_line(stream, &answer)
}

fn write_line(mut stream: &UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Gives a command to the machine that serves from a backing.
pub fn ask(backing: &Path, command: &Command) -> Result<Value, AskError> {
    let no_server = || AskError::NoServer { backing: backing.to_owned() };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let foreign = || {
        let text = format!("the rehearsal in `{}` belongs to another user", backing.display());
        Refusal::new(text).hint("run the command as the user who started it, or as root")
    };
    let held = match open(folder(backing), flags, Mode::empty()) {
        Ok(held) => held,
        Err(Errno::ACCESS | Errno::PERM) => return Err(foreign().into()),
        Err(_) => return Err(no_server()),
    };
    let stream = match UnixStream::connect(address(&held)) {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(foreign().into());
        }
        Err(_) => return Err(no_server()),
    };
    let talk = || {
        stream.set_read_timeout(Some(PATIENCE))?;
        write_line(&stream, command)?;
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line)?;
        Ok(serde_json::from_str::<Answer>(&line)?)
    };
    match talk().map_err(AskError::Broken)? {
        Answer::Ok(value) => Ok(value),
        Answer::Refused(refusal) => Err(refusal.into()),
    }
}
