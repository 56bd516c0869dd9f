//! Agents over ssh: the system's own client, with its configuration, agent and jump hosts.
//!
//! One connection per host, all at once. A small script on the other side looks for the same
//! program by its hash; where it is not there, the program is sent over the same connection into
//! a folder of its own, which is removed in the end. Then the agent speaks over the connection's
//! standard input and output: no port is opened.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Join};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

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

/// An agent that was started: its connection, and the client that carries it.
#[derive(Debug)]
pub struct Launched {
    /// What carries the bytes of the session.
    pub io: Join<BufReader<ChildStdout>, ChildStdin>,
    /// The client. Where it is dropped, it is ended.
    pub client: Child,
    /// What it and the other side have said, for when something goes wrong.
    pub said: Said,
}

/// The last of what a client said.
#[derive(Clone, Debug, Default)]
pub struct Said(Arc<Mutex<String>>);

/// Most bytes that are kept of what a client says.
const SAID_BYTES_MAX: usize = 4 << 10;

/// Most bytes that a host may print before the script speaks, such as a greeting at login.
const GREETING_BYTES_MAX: usize = 64 << 10;

impl Said {
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

/// The script on the other side. No single quote, no newline and no exclamation mark: it stands in
/// single quotes for whatever shell the user has there.
fn script(program: &Program, agent: &str) -> String {
    let (sha256, n_bytes) = (&program.sha256, program.bytes.len());
    format!(
        "hash() {{ sha256sum <\"$1\" 2>/dev/null | cut -d\" \" -f1; }}; \
         b=$(command -v plimsoll || :); \
         if [ -n \"$b\" ] && [ \"$(hash \"$b\")\" = {sha256} ]; then \
         echo plimsoll-have; exec \"$b\" agent --stdio --name {agent}; fi; \
         d=$(mktemp -d \"${{TMPDIR:-/tmp}}/plimsoll.XXXXXX\") || exit 1; \
         trap \"rm -rf \\\"\\$d\\\"\" EXIT; trap : HUP PIPE; \
         echo plimsoll-need; \
         head -c {n_bytes} >\"$d/plimsoll\" || exit 1; \
         if [ \"$(hash \"$d/plimsoll\")\" = {sha256} ]; then :; else \
         echo \"the program did not arrive whole\" >&2; exit 1; fi; \
         chmod 700 \"$d/plimsoll\"; echo plimsoll-ready; \
         \"$d/plimsoll\" agent --stdio --name {agent}"
    )
}

impl Ssh {
    /// Starts the agent of a host.
    ///
    /// # Errors
    /// In the words of the client or of the other side where it could not.
    pub async fn launch(&self, host: &Host) -> Result<Launched, String> {
        let Some((name, arguments)) = self.command.split_first() else {
            return Err("no ssh client is named".to_owned());
        };
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
        command.arg(format!("sh -c '{}'", script(&self.program, &host.name)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for the controller, which ends the agents in order.
        command.process_group(0).kill_on_drop(true);
        let mut client =
            command.spawn().map_err(|error| format!("cannot start `{name}`: {error}"))?;
        let said = Said::default();
        let (Some(input), Some(output), Some(errors)) =
            (client.stdin.take(), client.stdout.take(), client.stderr.take())
        else {
            return Err(format!("`{name}` has no pipes"));
        };
        tokio::spawn(listen(errors, said.clone()));
        let io = tokio::io::join(BufReader::new(output), input);
        let mut launched = Launched { io, client, said };
        match self.hand_over(&mut launched).await {
            Ok(()) => Ok(launched),
            Err(error) => {
                // What it says comes before it ends.
                let ended = tokio::time::timeout(LAST_WORDS, launched.client.wait()).await;
                let status = ended.ok().and_then(Result::ok);
                tokio::task::yield_now().await;
                let otherwise = match status.and_then(|status| status.code()) {
                    Some(code) => format!("`{name}` ended with code {code}"),
                    None => error,
                };
                Err(launched.said.or(&otherwise))
            }
        }
    }

    /// Sends the program where it is not there, until the agent speaks.
    async fn hand_over(&self, launched: &mut Launched) -> Result<(), String> {
        let io = &mut launched.io;
        let words = ["plimsoll-have", "plimsoll-need"];
        let word = answer(io.reader_mut(), &words).await?;
        if word == "plimsoll-have" {
            return Ok(());
        }
        let broke = |error: std::io::Error| format!("cannot send the program: {error}");
        io.writer_mut().write_all(&self.program.bytes).await.map_err(broke)?;
        io.writer_mut().flush().await.map_err(broke)?;
        answer(io.reader_mut(), &["plimsoll-ready"]).await.map(drop)
    }
}

/// How long a client that failed may take to say why.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_secs(2);

/// Reads lines until one is among `words`.
async fn answer(from: &mut BufReader<ChildStdout>, words: &[&str]) -> Result<String, String> {
    let mut n_bytes = 0;
    let mut line = Vec::new();
    while n_bytes <= GREETING_BYTES_MAX {
        line.clear();
        let mut limited = (&mut *from).take(GREETING_BYTES_MAX as u64);
        let n = limited.read_until(b'\n', &mut line).await.map_err(|error| error.to_string())?;
        if n == 0 {
            return Err("the connection ended before the agent began".to_owned());
        }
        n_bytes += n;
        let text = String::from_utf8_lossy(&line);
        if let Some(word) = words.iter().find(|word| text.trim_end() == **word) {
            return Ok((*word).to_owned());
        }
    }
    Err("the host prints without end when somebody logs in".to_owned())
}

/// Keeps the last of what a client says.
async fn listen(errors: tokio::process::ChildStderr, said: Said) {
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
