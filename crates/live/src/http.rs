//! The pages of a run over HTTP: `--watch` and `--metrics`.
//!
//! One thread serves both. Whoever does not know the token gets an empty refusal, in the same time
//! whatever of it is right. Headers, their time, the time of a connection without the token, and
//! the number of connections are limited.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::address::Token;
use crate::background::Background;
use crate::metrics;
use crate::page::Pages;
use crate::view::Shared;

/// Most connections at once, of those who watch and those who try to.
const CONNECTIONS_MAX: usize = 64;

/// Most bytes of a request that are held: a link and the headers of a browser are 2 KiB.
const REQUEST_BYTES_MAX: usize = 16 << 10;

/// Most headers.
const HEADERS_MAX: usize = 64;

/// Longest time for the headers of a request.
const HEADERS_TIME: Duration = Duration::from_secs(5);

/// Longest time of a connection that has not shown the token.
const STRANGER_TIME: Duration = Duration::from_secs(20);

/// How long the end waits until those who watch have it.
const LINGER: Duration = Duration::from_secs(2);

/// What is served where.
#[derive(Debug)]
pub enum Serve {
    /// The page of the run, for those who know the token.
    Page(TcpListener, Token),
    /// Metrics, for everyone who can connect.
    Metrics(TcpListener),
}

/// Serves until it is dropped. Those who watch have the end.
#[derive(Debug)]
pub struct Server {
    _thread: Background,
}

impl Server {
    /// Starts.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(shared: &Shared, serve: Vec<Serve>) -> io::Result<Self> {
        let shared = shared.clone();
        let thread = Background::start("live", move |stopped| async move {
            let mut serving = Vec::new();
            for what in serve {
                serving.push(tokio::spawn(accept(what, shared.clone(), stopped.clone())));
            }
            for one in serving {
                let _ended = one.await;
            }
        })?;
        Ok(Server { _thread: thread })
    }
}

/// Whether a connection has shown the token.
type Known = Arc<AtomicBool>;

/// Answers the requests of one listener.
#[derive(Clone)]
enum Answers {
    Page(Arc<Pages>, Token),
    Metrics(Shared),
}

async fn accept(what: Serve, shared: Shared, mut stopped: watch::Receiver<bool>) {
    let (listener, answers) = match what {
        Serve::Page(listener, token) => {
            (listener, Answers::Page(Arc::new(Pages::new(shared)), token))
        }
        Serve::Metrics(listener) => (listener, Answers::Metrics(shared)),
    };
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // An error: the sender is gone.
            _ = stopped.changed() => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, perhaps: it may pass.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(seat) = Arc::clone(&room).try_acquire_owned() else { continue };
        let (answers, stopped) = (answers.clone(), stopped.clone());
        tokio::spawn(async move {
            converse(stream, answers, stopped).await;
            drop(seat);
        });
    }
    drop(listener);
    let all_have_left = room.acquire_many(CONNECTIONS_MAX as u32);
    let _in_time = tokio::time::timeout(LINGER, all_have_left).await;
}

/// Answers the requests of a connection.
async fn converse(stream: TcpStream, answers: Answers, mut stopped: watch::Receiver<bool>) {
    let known = Known::default();
    let seen = Arc::clone(&known);
    let service = service_fn(move |request| {
        let answer = answers.answer(&request, &seen);
        async move { Ok::<_, Infallible>(answer) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_TIME)
        .max_buf_size(REQUEST_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let mut patience = std::pin::pin!(tokio::time::sleep(STRANGER_TIME));
    let (mut is_stranger, mut goes_on) = (true, true);
    loop {
        tokio::select! {
            _ended = connection.as_mut() => return,
            () = patience.as_mut(), if is_stranger => {
                if !known.load(Relaxed) {
                    return;
                }
                is_stranger = false;
            }
            _ = stopped.changed(), if goes_on => {
                // What is under way is sent to its end.
                goes_on = false;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

impl Answers {
    fn answer(&self, request: &Request<Incoming>, known: &Known) -> Response<Content> {
        let path = request.uri().path();
        match self {
            Answers::Metrics(shared) => match (request.method(), path) {
                (&Method::GET, "/metrics") => {
                    let families = metrics::families(&shared.lock());
                    let accept = request.headers().get(header::ACCEPT);
                    if accept.and_then(|it| it.to_str().ok()).is_some_and(metrics::wants_proto) {
                        whole(metrics::PROTO_TYPE, metrics::proto(&families).into())
                    } else {
                        whole(metrics::TEXT_TYPE, metrics::text(&families).into())
                    }
                }
                _ => refusal(StatusCode::NOT_FOUND),
            },
            Answers::Page(pages, token) => {
                let rest = path.strip_prefix('/').unwrap_or_default();
                let (shown, what) = rest.split_once('/').unwrap_or((rest, ""));
                if !token.is(shown) {
                    return refusal(StatusCode::FORBIDDEN);
                }
                known.store(true, Relaxed);
                match (request.method(), what) {
                    (&Method::GET, "") => whole("text/html; charset=utf-8", pages.html()),
                    (&Method::GET, "events") => events(pages.follow()),
                    _ => refusal(StatusCode::NOT_FOUND),
                }
            }
        }
    }
}

/// The body of a message.
pub(crate) enum Content {
    Whole(Option<Bytes>),
    Events(mpsc::Receiver<Bytes>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Events(events) => {
                events.poll_recv(context).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Content::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Events(_) => SizeHint::default(),
        }
    }
}

fn refusal(status: StatusCode) -> Response<Content> {
    let mut response = Response::new(Content::Whole(None));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn whole(content_type: &'static str, bytes: Bytes) -> Response<Content> {
    with_headers(Response::new(Content::Whole(Some(bytes))), content_type)
}

fn events(events: mpsc::Receiver<Bytes>) -> Response<Content> {
    with_headers(Response::new(Content::Events(events)), "text/event-stream")
}

/// The link is a secret: it is not passed on, and what it shows is not kept.
fn with_headers(mut response: Response<Content>, content_type: &'static str) -> Response<Content> {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
