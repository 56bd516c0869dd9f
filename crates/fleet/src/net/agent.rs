//! The agent's end of a connection.

use std::sync::Mutex;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::{Endpoint, Uri};

use super::{MAILBOX, MESSAGE_BYTES_MAX};
use crate::wire::fleet_client::FleetClient;
use crate::wire::{FromAgent, ToAgent};

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
    // There is one connection: a second dial has nothing to dial.
    let once = Mutex::new(Some(io));
    let connector = tower::service_fn(move |_: Uri| {
        let io = once.lock().ok().and_then(|mut io| io.take());
        std::future::ready(match io {
            Some(io) => Ok(TokioIo::new(io)),
            None => Err(std::io::Error::from(std::io::ErrorKind::NotConnected)),
        })
    });
    let opening = async {
        let endpoint = Endpoint::from_static("http://controller");
        let connection = endpoint.connect_with_connector(connector).await?;
        let mut client = FleetClient::new(connection)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let (to, messages) = channel(MAILBOX);
        let from = client.session(ReceiverStream::new(messages)).await?.into_inner();
        Ok(Session { to, from })
    };
    match tokio::time::timeout(OPEN_TIMEOUT, opening).await {
        Ok(opened) => opened,
        Err(_) => Err(OpenError::Silent),
    }
}
