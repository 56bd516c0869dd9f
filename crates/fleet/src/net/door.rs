//! The controller's door: it lets in who has the token, and keeps no one waiting for those who
//! have not.
//!
//! Whoever knocks has a few seconds for the handshake, and so many may stand there at once: one
//! more, and the one who stands there longest has to go. Those who got in have as long again for
//! their first message.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::Duplex;
use super::controller::AgentConnection;
use super::place::Listener;

/// What is let in.
pub type Incoming = AgentConnection<Box<dyn Duplex>>;

/// How much patience the door has.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For a handshake.
    pub handshake: Duration,
    /// From there to the first message.
    pub first_message: Duration,
    /// Most that may be in their handshake at once.
    pub n_pending: usize,
}

impl Default for Limits {
    /// Long enough for a busy host on another continent, and so many that a thousand agents that
    /// are started at once get in quickly.
    fn default() -> Self {
        let limit = Duration::from_secs(10);
        Limits { handshake: limit, first_message: limit, n_pending: 512 }
    }
}

/// Rest after a connection that could not be taken: where the process has no descriptors left, the
/// next try finds none either.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Keeps the door until the task is aborted, or no one takes who comes in. `n_refused` counts those
/// who did not get in.
pub async fn keep(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    limits: Limits,
    to: Sender<Incoming>,
    n_refused: Arc<AtomicU64>,
) {
    let (admitted, mut came) = channel(1);
    let let_in = |io, _from| admit(io, acceptor.clone(), limits.handshake);
    let listener = Listener::Port(listener);
    let standing = stand(&listener, limits.n_pending, let_in, admitted);
    let ushering = async {
        let mut n_connections = 0;
        while let Some(io) = came.recv().await {
            let Some(io) = io else {
                n_refused.fetch_add(1, Relaxed);
                continue;
            };
            let connection = AgentConnection::new(io, n_connections);
            n_connections += 1;
            if to.send(connection.speaking_within(limits.first_message)).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = standing => {}
        () = ushering => {}
    }
}

/// Has all who knock let in at once by `let_in`, each with where it comes from, `n_pending_max` at
/// most. Ends where no one takes what comes of it, `None` for those who had to go.
pub(super) async fn stand<T, L>(
    listener: &Listener,
    n_pending_max: usize,
    mut let_in: impl FnMut(Box<dyn Duplex>, String) -> L,
    to: Sender<Option<T>>,
) where
    T: Send + 'static,
    L: Future<Output = Option<T>> + Send + 'static,
{
    let mut handshakes = JoinSet::new();
    let mut pending: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, from)) = accepted {
                if pending.len() >= n_pending_max
                    && let Some(oldest) = pending.pop_front()
                {
                    oldest.abort();
                }
                pending.push_back(handshakes.spawn(let_in(stream, from)));
            } else {
                // That one is gone, or there is no descriptor for it: then others have to go.
                let n_older = pending.len().div_ceil(2);
                pending.drain(..n_older).for_each(|older| older.abort());
                tokio::time::sleep(ACCEPT_PAUSE).await;
            },
            Some(done) = handshakes.join_next_with_id() => {
                let id = done.as_ref().map_or_else(tokio::task::JoinError::id, |(id, _)| *id);
                pending.retain(|handle| handle.id() != id);
                let came = done.ok().and_then(|(_, came)| came);
                if to.send(came).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Lets one in that has the token, and shows so in time.
async fn admit<T>(io: T, acceptor: TlsAcceptor, limit: Duration) -> Option<Box<dyn Duplex>>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = tokio::time::timeout(limit, acceptor.accept(io)).await.ok()?.ok()?;
    Some(Box::new(stream))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::net::TcpStream;
    use tokio::sync::mpsc::Receiver;

    use super::*;
    use crate::net::tls::{connector, peer_name};
    use crate::token::Token;

    const LONG: Duration = Duration::from_hours(1);

    fn token() -> Token {
        Token::draw().expect("random numbers")
    }

    /// Opens a door on the loopback.
    async fn open(
        token: &Token,
        limits: Limits,
    ) -> (SocketAddr, Receiver<Incoming>, Arc<AtomicU64>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let (to, incoming) = channel(16);
        let n_refused = Arc::default();
        tokio::spawn(keep(listener, acceptor(token), limits, to, Arc::clone(&n_refused)));
        (address, incoming, n_refused)
    }

    fn acceptor(token: &Token) -> TlsAcceptor {
        crate::net::tls::acceptor(token)
    }

    /// Lets the door count: those who are refused see it before it does.
    async fn await_refused(n_refused: &AtomicU64, n: u64) {
        for _ in 0..10_000 {
            if n_refused.load(Relaxed) == n {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("{} were refused, not {n}", n_refused.load(Relaxed));
    }

    /// Both sides shake hands over pipes. Returns whether the controller let the agent in, and
    /// whether the agent could speak.
    async fn shake(controller: &Token, agent: &Token) -> (bool, std::io::Result<()>) {
        let (inside, outside) = duplex(1 << 16);
        let inside = tokio::spawn(admit(inside, acceptor(controller), LONG));
        let connected = connector(agent).connect(peer_name(), outside).await;
        let spoke = match connected {
            Ok(mut stream) => {
                let spoke = stream.write_all(b"x").await;
                drop(stream);
                spoke
            }
            Err(error) => Err(error),
        };
        (inside.await.expect("no panic").is_some(), spoke)
    }

    #[tokio::test]
    async fn the_same_token_lets_in_and_another_does_not() {
        let (one, other) = (token(), token());
        let (is_in, spoke) = shake(&one, &one).await;
        assert!(is_in && spoke.is_ok(), "{spoke:?}");
        let (is_in, spoke) = shake(&one, &other).await;
        assert!(!is_in, "a stranger got in");
        let error = spoke.expect_err("the controller is another one");
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        assert!(matches!(tls, Some(rustls::Error::InvalidCertificate(_))), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_slow_in_the_handshake_has_to_go() {
        let (inside, mut outside) = duplex(1 << 16);
        let limit = Limits::default().handshake;
        let inside = tokio::spawn(admit(inside, acceptor(&token()), limit));
        // A byte now and then: the beginning of a handshake.
        for byte in [0x16, 0x03, 0x01] {
            outside.write_all(&[byte]).await.expect("the pipe takes it");
            tokio::time::sleep(limit / 4).await;
        }
        let started = tokio::time::Instant::now();
        assert!(inside.await.expect("no panic").is_none());
        assert!(started.elapsed() <= limit / 4 + Duration::from_millis(1));
        assert_eq!(outside.read(&mut [0]).await.expect("an end"), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_gets_in_and_says_nothing_has_to_go() {
        let (inside, _outside): (DuplexStream, DuplexStream) = duplex(1 << 16);
        let limit = Limits::default().first_message;
        let mut silent = AgentConnection::new(inside, 0).speaking_within(limit);
        let error = silent.read(&mut [0]).await.expect_err("it does not wait for ever");
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn idle_strangers_stand_in_the_way_of_no_one() {
        let token = token();
        let limits = Limits { handshake: LONG, first_message: LONG, n_pending: 4 };
        let (address, mut incoming, n_refused) = open(&token, limits).await;
        let mut strangers = Vec::new();
        for _ in 0..40 {
            strangers.push(TcpStream::connect(address).await.expect("anyone may knock"));
        }
        let stream = TcpStream::connect(address).await.expect("anyone may knock");
        let agent = connector(&token).connect(peer_name(), stream).await;
        let _agent = agent.expect("it has the token");
        incoming.recv().await.expect("it is in");
        // Three stand there still.
        await_refused(&n_refused, 37).await;
        // Who stood there longest has gone, and the last has not.
        assert_eq!(strangers[0].read(&mut [0]).await.expect("an end"), 0);
        assert!(strangers[39].try_read(&mut [0]).is_err());
    }

    #[tokio::test]
    async fn what_is_no_handshake_gets_nothing() {
        let token = token();
        let (address, mut incoming, n_refused) = open(&token, Limits::default()).await;
        let http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
        let old_tls = b"\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03".to_vec();
        for bytes in [http2, vec![0xff; 1 << 16], old_tls] {
            let mut stranger = TcpStream::connect(address).await.expect("anyone may knock");
            let _it_may_be_gone = stranger.write_all(&bytes).await;
            let _it_may_be_gone = stranger.shutdown().await;
            let mut answer = Vec::new();
            let _reset = stranger.read_to_end(&mut answer).await;
            // At most an alert of TLS.
            assert!(answer.is_empty() || (answer[0] == 21 && answer.len() == 7), "{answer:?}");
        }
        await_refused(&n_refused, 3).await;
        assert!(incoming.try_recv().is_err());
    }
}
