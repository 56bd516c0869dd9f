//! The agent's end of a connection.

use std::sync::Mutex;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint, Uri};

use super::{MAILBOX, PASSED_BYTES_MAX};
use crate::relay::Relay;
use crate::wire::fleet_client::FleetClient;
use crate::wire::from_relay::Kind;
use crate::wire::{FromAgent, FromRelay, ToAgent, ToRelay};

/// How long the controller may take to answer the call.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);

/// An open session.
#[derive(Debug)]
pub struct Session {
    /// What is put here goes to the controller.
    pub to: Sender<FromAgent>,
    /// What comes from it.
    pub from: Streaming<ToAgent>,
}

/// The open connection of a relay.
#[derive(Debug)]
pub(super) struct Trunk {
    /// What is put here goes to the controller.
    pub(super) to: Sender<FromRelay>,
    /// What comes from it.
    pub(super) from: Streaming<ToRelay>,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// What carries the bytes does not.
    #[error("cannot connect to the controller: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// The controller refused it.
    #[error("the controller refused the session: {}", .0.message())]
    Refused(#[from] tonic::Status),
    /// No answer.
    #[error("the controller did not answer for {} s", OPEN_TIMEOUT.as_secs())]
    Silent,
}

/// Opens a session over a connection that is there.
///
/// # Errors
/// Where the other end does not speak the protocol.
pub async fn open<T>(io: T) -> Result<Session, OpenError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    within(Box::pin(async {
        let mut client = client(io).await?;
        let (to, messages) = channel(MAILBOX);
        let from = client.session(ReceiverStream::new(messages)).await?.into_inner();
        Ok(Session { to, from })
    }))
    .await
}

/// Opens what a relay has over a connection that is there, and greets.
///
/// # Errors
/// Where the other end does not speak the protocol, or not with relays.
pub(super) async fn open_trunk<T>(io: T, program_version: &str) -> Result<Trunk, OpenError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    within(Box::pin(async {
        let mut client = client(io).await?;
        let (to, messages) = channel(MAILBOX);
        let hello = FromRelay { kind: Some(Kind::Hello(Relay::hello(program_version))) };
        // It is the first of what has room.
        let _greeted = to.send(hello).await;
        let from = client.relay(ReceiverStream::new(messages)).await?.into_inner();
        Ok(Trunk { to, from })
    }))
    .await
}

async fn within<T>(opening: impl Future<Output = Result<T, OpenError>>) -> Result<T, OpenError> {
    let opened = tokio::time::timeout(OPEN_TIMEOUT, opening).await;
    opened.unwrap_or(Err(OpenError::Silent))
}

async fn client<T>(io: T) -> Result<FleetClient<Channel>, OpenError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // There is one connection: a second dial has nothing to dial.
    let once = Mutex::new(Some(io));
    let connector = tower::service_fn(move |_: Uri| {
        let io = once.lock().ok().and_then(|mut io| io.take());
        std::future::ready(match io {
            Some(io) => Ok(TokioIo::new(io)),
            None => Err(std::io::Error::from(std::io::ErrorKind::NotConnected)),
        })
    });
    let endpoint = Endpoint::from_static("http://controller");
    let connection = endpoint.connect_with_connector(connector).await?;
    Ok(FleetClient::new(connection)
        .max_decoding_message_size(PASSED_BYTES_MAX)
        .max_encoding_message_size(PASSED_BYTES_MAX))
}
