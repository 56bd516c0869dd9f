//! `plimsoll agent --relay`: runs nothing, and carries many agents over one connection.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fleet::net::dial::Ways;
use fleet::net::relay::{Place, RelayNews, relay};
use fleet::token::Token;
use runner::{Control, Stop};
use tokio::sync::Notify;
use units::{plural, system_text};

use super::super::dial_in::join_address;
use super::{Args, waiting};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Listens for agents, and carries them until the controller is gone for long.
pub(super) fn run(
    args: &Args,
    listen: &str,
    (ways, token): (&Ways, &Token),
    control: &Control,
) -> Result<Exit, Failure> {
    let limit = args.join_limit;
    let failed = |text: String| Failure::wrong_use(text).with(Exit::RunFailed);
    let refused = |error: std::io::Error| {
        failed(format!("cannot listen at `{listen}`: {}", system_text(&error)))
    };
    let listener = TcpListener::bind(listen).map_err(refused)?;
    let at = join_address(listener.local_addr().map_err(refused)?);
    let file = args.token_file.as_deref().unwrap_or(Path::new("FILE")).display();
    stream::print_message(&format!(
        "a relay: start agents with `plimsoll agent --join {at} --token-file {file}`\n"
    ));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(format!("cannot wait for agents: {error}")))?;
    let asked = Arc::new(Notify::new());
    let heard = Arc::clone(&asked);
    control.tell_stops(Box::new(move || heard.notify_one()));
    let says = |news: &RelayNews| stream::print_message(&said(news, ways, limit));
    let version = env!("CARGO_PKG_VERSION");
    let place = Place { listener, token, ways, limit, version, says: &says };
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = relay(place) => Some(ended),
            () = asked.notified() => None,
        }
    });
    runtime.shutdown_background();
    match ended {
        Some(Err(error)) => Err(failed(error.to_string())),
        Some(Ok(())) => Ok(Exit::Fine),
        None if control.stop() == Stop::No => Ok(Exit::Fine),
        None => Ok(Exit::Interrupted),
    }
}

/// Returns what is said of what happens to it.
fn said(news: &RelayNews, ways: &Ways, limit: Duration) -> String {
    match news {
        RelayNews::Waits(reason) => waiting(ways, reason, limit),
        RelayNews::Connected => format!("connected to {}\n", ways.text()),
        RelayNews::Lost(n_agents) => {
            let elsewhere = match n_agents {
                0 => String::new(),
                n => format!("; {} to call elsewhere", plural(*n, "agent")),
            };
            format!("the connection to {} ended: calling again{elsewhere}\n", ways.text())
        }
        RelayNews::Agents(n_agents) => format!("{} here\n", plural(*n_agents, "agent")),
    }
}
