//! `--server`: waits for clients, and runs what they send.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use dialects::fio::Switches;
use fleet::net::callee::{CalleeEvent, keep};
use fleet::net::place::ListenAddress;
use fleet::token::Token;
use runner::Control;
use tokio::sync::Notify;
use units::system_text;

use super::super::dial_in::no_token;
use super::super::hosts::host_name;
use super::{FAILED, place};
use crate::env;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::stream;

/// Waits for clients until a signal ends it.
pub(super) fn serve(switches: &Switches, at: &str) -> Result<Exit, Failure> {
    let failed = |text: String| Failure::wrong_use(text).with(FAILED);
    let at = place::server(at).map_err(failed)?.place;
    let token = token(switches)?;
    let program = std::env::current_exe()
        .map_err(|error| failed(format!("cannot find this program: {}", system_text(error))))?;
    let name = host_name();
    let agent = ["agent", "--stdio", "--as-fio", "--name", &name, "--called-from"];
    let agent = agent.map(OsString::from);
    let program: Vec<OsString> = [program.into()].into_iter().chain(agent).collect();
    let control = Arc::new(Control::new());
    let _signals = Signals::listen(&control).map_err(|failure| failure.with(FAILED))?;
    let asked = Arc::new(Notify::new());
    let heard = Arc::clone(&asked);
    control.tell_stops(Box::new(move || heard.notify_one()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| failed(format!("cannot wait for clients: {}", system_text(error))))?;
    runtime.block_on(async {
        let listener = at
            .listen()
            .await
            .map_err(|error| failed(format!("cannot listen at {at}: {}", system_text(error))))?;
        let text = match listener.place().unwrap_or(at) {
            ListenAddress::Port { host, port, .. } => format!("{host},{port}"),
            ListenAddress::Socket(path) => path.display().to_string(),
        };
        stream::print(&format!("fio: server listening on {text}\n"))?;
        let mut said = |event: CalleeEvent| say(&event);
        tokio::select! {
            () = keep(&listener, &token, &program, &mut said) => {}
            () = asked.notified() => {}
        }
        Ok(Exit::Fio(0))
    })
}

/// Starts a server in the background, and writes the number of its process to a file once it
/// listens.
pub(super) fn daemonize(switches: &Switches, at: &str, pid_file: &str) -> Result<Exit, Failure> {
    let failed = |text: String| Failure::wrong_use(text).with(FAILED);
    let not_started =
        |error: io::Error| failed(format!("cannot start a server: {}", system_text(error)));
    let file = token_file(switches)?;
    let mut command = Command::new(std::env::current_exe().map_err(not_started)?);
    command.args(["fio", &format!("--server={at}"), &format!("--token-file={file}")]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C is for what runs in the foreground.
    command.process_group(0);
    let mut server = command.spawn().map_err(not_started)?;
    let (stdout, stderr) = (server.stdout.take(), server.stderr.take());
    let mut line = String::new();
    if let Some(stdout) = stdout {
        BufReader::new(stdout).read_line(&mut line).map_err(not_started)?;
    }
    if line.is_empty() {
        // It has said why.
        let mut said = String::new();
        if let Some(mut stderr) = stderr {
            stderr.read_to_string(&mut said).map_err(not_started)?;
        }
        stream::print_message(&said);
        let _ended = server.wait();
        return Ok(FAILED);
    }
    if let Err(error) = std::fs::write(pid_file, format!("{}\n", server.id())) {
        let _ended = server.kill();
        let _ended = server.wait();
        return Err(failed(format!("cannot write `{pid_file}`: {}", system_text(error))));
    }
    Ok(Exit::Fio(0))
}

/// Says what happens at the door.
fn say(event: &CalleeEvent) {
    match event {
        CalleeEvent::Came(_) => {}
        CalleeEvent::Foreign(from) => stream::print_message(&format!(
            "fio: {from} does not speak plimsoll's protocol, and fio's network format is not \
             spoken here: use `plimsoll fio --client`\n"
        )),
        CalleeEvent::NoAgent(from, error) => stream::print_message(&format!(
            "fio: cannot start a process for {from}: {}\n",
            system_text(error)
        )),
    }
}

/// Reads what servers and their clients know each other by.
pub(super) fn token(switches: &Switches) -> Result<Token, Failure> {
    let file = token_file(switches)?;
    Token::read(file.as_ref()).map_err(|error| no_token(&error).with(FAILED))
}

/// Returns the file that it is in.
fn token_file(switches: &Switches) -> Result<String, Failure> {
    let file = switches.token_file.clone().or_else(|| env::TOKEN_FILE.get());
    file.filter(|file| !file.is_empty()).ok_or_else(|| {
        let text = "`--server` and `--client` need a shared token, and none is named";
        Failure::wrong_use(text)
            .with(FAILED)
            .hint("make one with `plimsoll fleet token -o FILE`, and copy it to each host")
            .hint("name it with `--token-file=FILE`, or by the variable PLIMSOLL_TOKEN_FILE")
    })
}
