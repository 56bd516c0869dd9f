//! An agent's way to a controller that listens, or to a relay: it tries until one is there.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::Code;
use units::{format_duration, system_text};

use super::agent::{OpenError, Session, Trunk, open, open_trunk};
use super::tls::{connector, peer_name};
use crate::monotonic_ns;
use crate::token::Token;

/// How long one address may take to answer, and the handshake after it.
const ATTEMPT: Duration = Duration::from_secs(10);

/// Time from an attempt that failed to the next: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Waits for what a call gives; for ever where there is none.
pub(crate) async fn called<F: Future>(call: &mut Option<Pin<Box<F>>>) -> F::Output {
    match call {
        Some(call) => call.await,
        None => std::future::pending().await,
    }
}

/// Why no session came about.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// It is a controller, or not, but it has another token.
    #[error("the controller at {0} has another token: give it and its agents the same file")]
    OtherToken(String),
    /// Something else listens there.
    #[error("what listens at {address} is no controller of plimsoll: {reason}")]
    NoController {
        /// Where it was called.
        address: String,
        /// What TLS says.
        reason: String,
    },
    /// It refused the session.
    #[error("{0}")]
    Refused(OpenError),
    /// It was not there in time.
    #[error("no controller answers at {address} for {}: {reason}", format_duration(*.limit))]
    NotThere {
        /// Where it was called.
        address: String,
        /// How long.
        limit: Duration,
        /// Why the last attempt failed.
        reason: String,
    },
}

/// Where a controller can be reached: itself, or relays.
#[derive(Debug)]
pub struct Ways {
    /// Each `HOST:PORT`; one at least.
    addresses: Vec<String>,
    /// The one that is tried first.
    next: Cell<usize>,
}

impl Ways {
    /// Takes them in the order in which they are tried.
    ///
    /// # Panics
    /// Without one.
    pub fn new(addresses: Vec<String>) -> Self {
        assert!(!addresses.is_empty(), "there is a way");
        Ways { addresses, next: Cell::new(0) }
    }

    /// Returns them as text.
    pub fn text(&self) -> String {
        self.addresses.join(", ")
    }

    /// Returns each of them once, the one whose turn it is first.
    fn turn(&self) -> impl Iterator<Item = (usize, &str)> {
        let (n, next) = (self.addresses.len(), self.next.get());
        (0..n).map(move |nth| (next + nth) % n).map(|at| (at, &*self.addresses[at]))
    }
}

/// The way to a controller that was there, for agents whose connection ends.
pub struct Line<'a> {
    /// Where it is reached.
    pub ways: &'a Ways,
    /// What it must have.
    pub token: &'a Token,
    /// What is to be said of it.
    pub says: &'a dyn Fn(&LineNews),
}

/// What happens to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineNews {
    /// It has ended: the controller is called again.
    Lost,
    /// There is another one, after so long.
    Back(Duration),
}

impl std::fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line({})", self.ways.text())
    }
}

impl Line<'_> {
    /// Opens another session, whenever that may be.
    ///
    /// # Errors
    /// Where the controller that is there is another one.
    pub(crate) async fn call_again(&self) -> Result<Session, DialError> {
        let since_ns = monotonic_ns();
        (self.says)(&LineNews::Lost);
        let session = dial(self.ways, self.token, Duration::MAX, &|_| {}).await?;
        let away_ns = monotonic_ns().saturating_sub(since_ns);
        (self.says)(&LineNews::Back(Duration::from_nanos(away_ns)));
        Ok(session)
    }
}

/// Why an attempt failed.
enum Attempt {
    /// It may be there later.
    Again(String),
    /// It will not do.
    Never(DialError),
}

/// Opens a session with the controller, or a relay, which may not be there yet. The next session
/// is tried elsewhere first. `waits` is called with the reason where the first attempts fail.
///
/// # Errors
/// Where none was there within `limit`, or one is another one's.
pub async fn dial(
    ways: &Ways,
    token: &Token,
    limit: Duration,
    waits: &dyn Fn(&str),
) -> Result<Session, DialError> {
    dial_by(ways, token, limit, waits, open).await
}

/// Opens what a relay has, in the same way.
///
/// # Errors
/// Where none was there within `limit`, or one is another one's, or does not take relays.
pub(super) async fn dial_trunk(
    ways: &Ways,
    token: &Token,
    limit: Duration,
    waits: &dyn Fn(&str),
    program_version: &str,
) -> Result<Trunk, DialError> {
    dial_by(ways, token, limit, waits, async |io| open_trunk(io, program_version).await).await
}

async fn dial_by<T>(
    ways: &Ways,
    token: &Token,
    limit: Duration,
    waits: &dyn Fn(&str),
    opens: impl AsyncFn(TlsStream<TcpStream>) -> Result<T, OpenError>,
) -> Result<T, DialError> {
    let connector = connector(token);
    let until_ns =
        monotonic_ns().saturating_add(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    let mut pause = PAUSE;
    loop {
        let mut reason = String::new();
        for (at, address) in ways.turn() {
            match attempt(address, &connector, &opens).await {
                Ok(session) => {
                    ways.next.set(at + 1);
                    return Ok(session);
                }
                Err(Attempt::Never(error)) => return Err(error),
                Err(Attempt::Again(why)) => reason = why,
            }
        }
        let left = Duration::from_nanos(until_ns.saturating_sub(monotonic_ns()));
        if left.is_zero() {
            return Err(DialError::NotThere { address: ways.text(), limit, reason });
        }
        if pause == PAUSE {
            waits(&reason);
        }
        tokio::time::sleep(pause.min(left)).await;
        pause = PAUSE_MAX.min(pause * 2);
    }
}

/// Tries once, every address that the name stands for.
async fn attempt<T>(
    address: &str,
    connector: &TlsConnector,
    opens: &impl AsyncFn(TlsStream<TcpStream>) -> Result<T, OpenError>,
) -> Result<T, Attempt> {
    let again = |error: io::Error| Attempt::Again(system_text(&error));
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name stands for no address");
    for at in lookup_host(address).await.map_err(again)? {
        let stream = match within(TcpStream::connect(at)).await {
            Ok(stream) => stream,
            Err(error) => {
                last = error;
                continue;
            }
        };
        let _slower = stream.set_nodelay(true);
        let io = within(connector.connect(peer_name(), stream)).await;
        let io = io.map_err(|error| failure(address, &error))?;
        return opens(io).await.map_err(|error| match error {
            OpenError::Refused(status) if is_final(status.code()) => {
                Attempt::Never(DialError::Refused(OpenError::Refused(status)))
            }
            OpenError::Refused(_) | OpenError::Transport(_) | OpenError::Silent => {
                Attempt::Again(error.to_string())
            }
        });
    }
    Err(again(last))
}

/// Returns whether another attempt would be refused, too. Else the connection may have broken on
/// the way.
fn is_final(code: Code) -> bool {
    matches!(code, Code::Unauthenticated | Code::PermissionDenied | Code::Unimplemented)
}

async fn within<T>(doing: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let done = tokio::time::timeout(ATTEMPT, doing).await;
    done.unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "it does not answer")))
}

/// Tells a stranger from a connection that broke.
fn failure(address: &str, error: &io::Error) -> Attempt {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        None => Attempt::Again(system_text(error)),
        Some(rustls::Error::InvalidCertificate(_)) => {
            Attempt::Never(DialError::OtherToken(address.to_owned()))
        }
        Some(other) => Attempt::Never(DialError::NoController {
            address: address.to_owned(),
            reason: other.to_string(),
        }),
    }
}
