//! An agent's door, where controllers call: each that has the token gets a program of its own,
//! which is the agent, and serves it over its standard input and output.
//!
//! A process for each, as sshd has: what one run does to its process touches no other.

use std::ffi::OsString;
use std::io::{self, Cursor};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, join, sink, split};
use tokio::process::Command;
use tokio::sync::mpsc::channel;
use tokio_rustls::TlsAcceptor;

use super::Duplex;
use super::door::{Limits, stand};
use super::foreign;
use super::place::Listener;
use super::tls::agent_acceptor;
use crate::token::Token;

/// The first byte of a handshake of TLS.
const HANDSHAKE: u8 = 0x16;

/// What happens at the door. Each has where the connection comes from.
#[derive(Debug)]
pub enum CalleeEvent {
    /// Who came does not speak TLS.
    Foreign(String),
    /// A controller is served.
    Came(String),
    /// Its agent could not be started.
    NoAgent(String, io::Error),
}

/// Who knocked.
enum Knock {
    /// One that has the token, and where it comes from.
    Controller(Box<dyn Duplex>, String),
    /// One that speaks something else.
    Foreign(String),
}

/// Serves all controllers that call, each by a process of `program`, which has the address where
/// that one comes from as one more argument, for ever.
pub async fn keep(
    listener: &Listener,
    token: &Token,
    program: &[OsString],
    on_event: &mut dyn FnMut(CalleeEvent),
) {
    let acceptor = agent_acceptor(token);
    let limits = Limits::default();
    let (admitted, mut came) = channel(1);
    let let_in = |io, from| admit(io, from, acceptor.clone(), limits.handshake);
    let standing = stand(listener, limits.n_pending, let_in, admitted);
    let serving = async {
        while let Some(knock) = came.recv().await {
            match knock {
                Some(Knock::Controller(io, from)) => match serve(io, program, &from) {
                    Ok(()) => on_event(CalleeEvent::Came(from)),
                    Err(error) => on_event(CalleeEvent::NoAgent(from, error)),
                },
                Some(Knock::Foreign(from)) => on_event(CalleeEvent::Foreign(from)),
                None => {}
            }
        }
    };
    tokio::select! {
        () = standing => {}
        () = serving => {}
    }
}

/// Lets one in that has the token, and shows so in time.
async fn admit(
    mut io: Box<dyn Duplex>,
    from: String,
    acceptor: TlsAcceptor,
    limit: Duration,
) -> Option<Knock> {
    let admitting = async {
        let mut first = [0; 1];
        io.read_exact(&mut first).await.ok()?;
        if first != [HANDSHAKE] {
            let _gone = answer(&mut io, first[0]).await;
            return Some(Knock::Foreign(from));
        }
        let (read, write) = split(io);
        let io = join(Cursor::new(first).chain(read), write);
        let io = acceptor.accept(io).await.ok()?;
        Some(Knock::Controller(Box::new(io), from))
    };
    tokio::time::timeout(limit, admitting).await.ok()?
}

/// Tells a client of fio so, whose first byte this is; others nothing.
async fn answer(io: &mut Box<dyn Duplex>, first: u8) -> io::Result<()> {
    let mut head = [first; foreign::HEAD_BYTES];
    io.read_exact(&mut head[1..]).await?;
    if foreign::is_fio(head) {
        io.write_all(&foreign::farewell(head)).await?;
        io.shutdown().await?;
        // Its answer is read: a connection that is ended with something unread drops what was said.
        let _its_end = copy(io, &mut sink()).await;
    }
    Ok(())
}

/// Starts the agent of a controller, and carries what both say until it ends.
fn serve(io: Box<dyn Duplex>, program: &[OsString], from: &str) -> io::Result<()> {
    let Some((name, args)) = program.split_first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut command = Command::new(name);
    command.args(args).arg(from).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = command.spawn()?;
    let (Some(mut stdin), Some(mut stdout)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    tokio::spawn(async move {
        let (mut from, mut to) = split(io);
        let hearing = async {
            let _it_has_ended = copy(&mut from, &mut stdin).await;
            // The agent sees that its controller is gone, and ends by itself.
            drop(stdin);
            std::future::pending::<()>().await;
        };
        let speaking = async {
            let _controller_is_gone = copy(&mut stdout, &mut to).await;
            let _controller_is_gone = to.shutdown().await;
        };
        tokio::select! {
            () = hearing => {}
            () = speaking => {}
        }
        let _status = agent.wait().await;
    });
    Ok(())
}
