//! Agents over ssh: the system's own client, with its configuration, agent and jump hosts.
//!
//! One connection per host, all at once. A small script on the other side looks for the same
//! program by its hash; where it is not there, the program is sent over the same connection into
//! a folder of its own, which is removed in the end. Then the agent speaks over the connection's
//! standard input and output: no port is opened.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Join};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use units::system_text;

use crate::hosts::Host;

/// The program that agents run.
#[derive(Clone, Debug)]
pub struct Program {
    bytes: Arc<[u8]>,
    sha256: String,
}

impl Program {
    /// Reads the program.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        let bytes = std::fs::read(path)?;
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Program { bytes: bytes.into(), sha256 })
    }
}

/// How hosts are reached.
#[derive(Clone, Debug)]
pub struct Ssh {
    /// The client and its first arguments; `ssh` unless the user names another.
    pub command: Vec<String>,
    /// What runs there.
    pub program: Program,
}

/// What carries the bytes of a session.
pub type Io = Join<BufReader<ChildStdout>, ChildStdin>;

/// An agent that was started: its connection, and the client that carries it.
#[derive(Debug)]
pub struct Launched {
    /// What carries the bytes of the session.
    pub io: Io,
    /// The client.
    pub client: Client,
}

/// A client that was started. Where it is dropped, it is ended.
#[derive(Debug)]
pub struct Client {
    name: String,
    process: Child,
    /// What it and the other side have said, for when something goes wrong.
    said: ClientOutput,
    listening: JoinHandle<()>,
}

/// Why no agent was started on a host.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The user's command for it is empty.
    #[error("no ssh client is named: write for example --ssh 'ssh -i KEY'")]
    NoClient,
    /// The client is not there, or cannot be run.
    #[error("cannot start `{client}`: {}", system_text(.source))]
    Start {
        /// Its command.
        client: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// In the words of the client or of the other side.
    #[error("{words}")]
    Said {
        /// What they said last.
        words: String,
    },
    /// It ended without a word.
    #[error("`{client}` ended with code {code} before the agent began")]
    Ended {
        /// Its command.
        client: String,
        /// Its exit code.
        code: i32,
    },
    /// The connection ended, and the client goes on.
    #[error("the connection ended before the agent began")]
    Closed,
    /// The program does not go through the connection.
    #[error("cannot send the program: {}", system_text(.0))]
    Send(std::io::Error),
    /// The run has ended before.
    #[error("the run has ended")]
    Abandoned,
    /// Nothing can be read from the connection.
    #[error("cannot read the answer of the host: {}", system_text(.0))]
    Read(std::io::Error),
    /// A greeting, or a profile, that prints without end.
    #[error("the host prints endless output at login: silence it for logins without a terminal")]
    Greeting,
}

/// The last of what a client said.
#[derive(Clone, Debug, Default)]
pub struct ClientOutput(Arc<Mutex<String>>);

/// Most bytes that are kept of what a client says.
const SAID_BYTES_MAX: usize = 4 << 10;

/// Bytes of the program that are sent before progress is reported.
const PART_BYTES: usize = 256 << 10;

/// Most bytes that a host may print before the script speaks, such as a greeting at login.
const GREETING_BYTES_MAX: usize = 64 << 10;

impl ClientOutput {
    /// Returns it in one line; `otherwise` where it said nothing.
    pub fn or(&self, otherwise: &str) -> String {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        if lines.is_empty() { otherwise.to_owned() } else { lines.join("; ") }
    }

    fn add(&self, text: &str) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.push_str(text);
        if said.len() > SAID_BYTES_MAX {
            let mut cut = said.len() - SAID_BYTES_MAX;
            while !said.is_char_boundary(cut) {
                cut += 1;
            }
            said.drain(..cut);
        }
    }
}

/// Returns what an agent is called: as its host is in messages and results, but for what a shell or
/// a file's name might take otherwise.
fn agent_name(host: &Host) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_:@%".contains(c) { c } else { '-' };
    host.to_string().chars().map(plain).collect()
}

/// The script on the other side. No single quote, no newline and no exclamation mark: it stands in
/// single quotes for whatever shell the user has there.
fn script(program: &Program, agent: &str) -> String {
    let (sha256, n_bytes) = (&program.sha256, program.bytes.len());
    let system = rustix::system::uname();
    let processor = system.machine().to_string_lossy();
    format!(
        "hash() {{ sha256sum <\"$1\" 2>/dev/null | cut -d\" \" -f1; }}; \
         b=$(command -v plimsoll || :); \
         if [ -n \"$b\" ] && [ \"$(hash \"$b\")\" = {sha256} ]; then \
         echo plimsoll-have; exec \"$b\" agent --stdio --name={agent}; fi; \
         m=$(uname -m); if [ \"$m\" = {processor} ]; then :; else \
         echo \"the processor is $m, and this program is for {processor}: install plimsoll \
         there\" >&2; exit 126; fi; \
         d=$(mktemp -d \"${{TMPDIR:-/tmp}}/plimsoll.XXXXXX\") || exit 1; \
         trap \"rm -rf \\\"\\$d\\\"\" EXIT; trap : HUP PIPE; \
         echo plimsoll-need; \
         head -c {n_bytes} >\"$d/plimsoll\" || exit 1; \
         if [ \"$(hash \"$d/plimsoll\")\" = {sha256} ]; then :; else \
         echo \"the program did not arrive whole\" >&2; exit 1; fi; \
         chmod 700 \"$d/plimsoll\"; if [ -x \"$d/plimsoll\" ]; then :; else \
         echo \"no program may run in $d: name another folder with TMPDIR\" >&2; exit 126; fi; \
         echo plimsoll-ready; \
         exec \"$d/plimsoll\" agent --stdio --name={agent} --remove \"$d\""
    )
}

impl Ssh {
    /// Starts the agent of a host. `tell` is given how much of the program was sent, bytes and in
    /// all. It is given up where `abandoned` comes first.
    ///
    /// # Errors
    /// In the words of the client or of the other side where it could not.
    pub async fn launch(
        &self,
        host: &Host,
        tell: &(dyn Fn(u64, u64) + Send + Sync),
        abandoned: impl Future,
    ) -> Result<Launched, LaunchError> {
        let Launched { mut io, mut client } = self.call(host)?;
        let handed_over = tokio::select! {
            handed_over = self.hand_over(&mut io, tell) => handed_over,
            _ = abandoned => Err(LaunchError::Abandoned),
        };
        let Err(error) = handed_over else {
            return Ok(Launched { io, client });
        };
        // The other side cleans up and ends.
        drop(io);
        let words = client.last_words(LAST_WORDS, "").await;
        if !words.is_empty() {
            return Err(LaunchError::Said { words });
        }
        let code = client.process.try_wait().ok().flatten().and_then(|status| status.code());
        match (error, code) {
            (LaunchError::Closed, Some(code)) => {
                Err(LaunchError::Ended { client: client.name, code })
            }
            (error, _) => Err(error),
        }
    }

    /// Starts the client.
    fn call(&self, host: &Host) -> Result<Launched, LaunchError> {
        let (name, mut command) = self.command_for(host)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for the controller, which ends the agents in order.
        command.process_group(0).kill_on_drop(true);
        let mut process = command
            .spawn()
            .map_err(|source| LaunchError::Start { client: name.to_owned(), source })?;
        let said = ClientOutput::default();
        let (Some(input), Some(output), Some(errors)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            unreachable!("all three were asked for");
        };
        let listening = tokio::spawn(listen(errors, said.clone()));
        let io = tokio::io::join(BufReader::new(output), input);
        Ok(Launched { io, client: Client { name: name.to_owned(), process, said, listening } })
    }

    /// Returns the name of the client, and how it is started.
    fn command_for(&self, host: &Host) -> Result<(&str, Command), LaunchError> {
        let script = script(&self.program, &agent_name(host));
        if host.is_here {
            let mut command = Command::new("sh");
            command.args(["-c", &script]);
            return Ok(("sh", command));
        }
        let (name, arguments) = self.command.split_first().ok_or(LaunchError::NoClient)?;
        let mut command = Command::new(name);
        command.args(arguments);
        // No password can be typed; and a client that hangs is one host less.
        command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15"]);
        if let Some(port) = host.port {
            command.args(["-p", &port.to_string()]);
        }
        if let Some(user) = &host.user {
            command.args(["-l", user]);
        }
        command.args(["--", &host.name]);
        command.arg(format!("sh -c '{script}'"));
        Ok((name, command))
    }

    /// Sends the program where it is not there, until the agent speaks.
    async fn hand_over(
        &self,
        io: &mut Io,
        tell: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), LaunchError> {
        let words = ["plimsoll-have", "plimsoll-need"];
        let word = answer(io.reader_mut(), &words).await?;
        if word == "plimsoll-have" {
            return Ok(());
        }
        let (mut done, total) = (0, self.program.bytes.len() as u64);
        for part in self.program.bytes.chunks(PART_BYTES) {
            io.writer_mut().write_all(part).await.map_err(LaunchError::Send)?;
            done += part.len() as u64;
            tell(done, total);
        }
        io.writer_mut().flush().await.map_err(LaunchError::Send)?;
        answer(io.reader_mut(), &["plimsoll-ready"]).await?;
        // Only now is all of it there.
        tell(total, total);
        Ok(())
    }
}

impl Client {
    /// Waits for its end, and returns how it ended.
    pub async fn status(&mut self) -> String {
        let status = self.process.wait().await;
        match status.ok().and_then(|status| status.code()) {
            Some(code) => format!("`{}` ended with code {code}", self.name),
            None => format!("`{}` was ended", self.name),
        }
    }

    /// Returns what it has said when it ends, or after this time; `otherwise` where that is
    /// nothing.
    pub async fn last_words(&mut self, limit: Duration, otherwise: &str) -> String {
        let ending = async {
            let _status = self.process.wait().await;
            // What it said may be read after its end.
            let _read = (&mut self.listening).await;
        };
        let _in_time = tokio::time::timeout(limit, ending).await;
        self.said.or(otherwise)
    }
}

/// How long a client that failed may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Reads lines until one is among `words`.
async fn answer(from: &mut BufReader<ChildStdout>, words: &[&str]) -> Result<String, LaunchError> {
    let mut n_bytes = 0;
    let mut line = Vec::new();
    while n_bytes <= GREETING_BYTES_MAX {
        line.clear();
        let mut limited = (&mut *from).take(GREETING_BYTES_MAX as u64);
        let n = limited.read_until(b'\n', &mut line).await.map_err(LaunchError::Read)?;
        if n == 0 {
            return Err(LaunchError::Closed);
        }
        n_bytes += n;
        let text = String::from_utf8_lossy(&line);
        if let Some(word) = words.iter().find(|word| text.trim_end() == **word) {
            return Ok((*word).to_owned());
        }
    }
    Err(LaunchError::Greeting)
}

/// Keeps the last of what a client says.
async fn listen(errors: tokio::process::ChildStderr, said: ClientOutput) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut errors).take(SAID_BYTES_MAX as u64);
        match limited.read_until(b'\n', &mut line).await {
            Ok(n) if n > 0 => said.add(&String::from_utf8_lossy(&line)),
            Ok(_) | Err(_) => return,
        }
    }
}
