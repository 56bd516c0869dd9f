//! A controller's way to an agent that listens.

use std::io;
use std::time::Duration;

use units::system_text;

use super::Duplex;
use super::place::ListenAddress;
use super::tls::{controller_connector, peer_name};
use crate::token::Token;

/// How long an agent may take to answer, and the handshake after it.
const LIMIT: Duration = Duration::from_secs(10);

/// Why an agent cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nothing listens there.
    #[error("failed to connect to {place}: {}", system_text(.error))]
    NotThere {
        /// Where it was called.
        place: ListenAddress,
        /// What the system says.
        error: io::Error,
    },
    /// It has another token.
    #[error("the server at {0} has another token: give it and its clients the same file")]
    OtherToken(ListenAddress),
    /// Something else listens there.
    #[error(
        "what listens at {place} is no server of plimsoll ({reason}): fio's own servers speak a \
         network format that is not spoken here; start `plimsoll fio --server` there"
    )]
    NoServer {
        /// Where it was called.
        place: ListenAddress,
        /// What TLS says, or the system.
        reason: String,
    },
}

/// Calls an agent, and makes the connection secret.
///
/// # Errors
/// Where it is not there, or is another one.
pub async fn call(place: &ListenAddress, token: &Token) -> Result<Box<dyn Duplex>, CallError> {
    let not_there = |error| CallError::NotThere { place: place.clone(), error };
    let stream = within(place.connect()).await.map_err(not_there)?;
    let connecting = controller_connector(token).connect(peer_name(), stream);
    let io = within(connecting).await.map_err(|error| failure(place, &error))?;
    Ok(Box::new(io))
}

async fn within<T>(doing: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let done = tokio::time::timeout(LIMIT, doing).await;
    done.unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "it does not answer")))
}

/// Tells a stranger from an agent with another token.
fn failure(place: &ListenAddress, error: &io::Error) -> CallError {
    let place = place.clone();
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::InvalidCertificate(_)) => CallError::OtherToken(place),
        Some(other) => CallError::NoServer { place, reason: other.to_string() },
        // It ended the connection, or waits for something else.
        None => CallError::NoServer { place, reason: system_text(error) },
    }
}
