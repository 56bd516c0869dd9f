//! The metrics of a run, sent once a second to a collector of OpenTelemetry: OTLP over HTTP.
//!
//! One thread sends. A collector that is slow, refuses, or is gone costs the run nothing: the next
//! second has all that was lost, since counts are those since the start.

use std::fmt;
use std::io;
use std::net::{TcpStream as Probe, ToSocketAddrs as _};
use std::pin::Pin;
use std::time::Duration;

use hyper::Request;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::background::Background;
use crate::http::Content;
use crate::metrics::{self, Moment};
use crate::view::Shared;

/// The port of OTLP over HTTP.
const PORT: u16 = 4318;

/// Where collectors take metrics.
const PATH: &str = "/v1/metrics";

/// How often the metrics are sent.
const EVERY: Duration = Duration::from_secs(1);

/// Longest time for one request and its answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Most bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Where a collector listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
    path: String,
}

impl Address {
    /// Returns what is connected to: an address of IPv6 without its brackets.
    fn place(&self) -> (&str, u16) {
        (self.host.trim_matches(['[', ']']), self.port)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address { host, port, path } = self;
        write!(f, "http://{host}:{port}{path}")
    }
}

/// Reads where a collector listens: `http://HOST[:PORT][/PATH]`, or `:PORT` of this host.
///
/// # Errors
/// What is to be written instead.
pub fn parse(text: &str) -> Result<Address, String> {
    let wrong = || "write http://HOST:4318, or :4318 for this host".to_owned();
    if text.starts_with("https://") {
        return Err(
            "only http:// is spoken: send to a collector on this host, which forwards with \
                    TLS, or through `ssh -L`"
                .to_owned(),
        );
    }
    let rest = text.strip_prefix("http://").unwrap_or(text);
    let (place, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let path = if path.trim_matches('/').is_empty() { PATH } else { path };
    if path.parse::<hyper::Uri>().is_err() {
        return Err(wrong());
    }
    // An address of IPv6 stands in brackets.
    let after_host = place.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match place[after_host..].rfind(':') {
        Some(at) => {
            let (host, port) = place.split_at(after_host + at);
            (host, port[1..].parse().map_err(|_| wrong())?)
        }
        None => (place, PORT),
    };
    let host = match host {
        "" if place.starts_with(':') => "127.0.0.1",
        host => host,
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || ".-_[]:".contains(c);
    if host.is_empty() || port == 0 || !host.chars().all(is_name) {
        return Err(wrong());
    }
    Ok(Address { host: host.to_owned(), port, path: path.to_owned() })
}

/// A header of each request, such as a key that a collector asks for.
#[derive(Clone)]
pub struct Header(HeaderName, HeaderValue);

impl fmt::Debug for Header {
    /// No secret in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Header({}: ..)", self.0)
    }
}

/// Reads headers as `OTEL_EXPORTER_OTLP_HEADERS` has them: `name=value,name=value`, values with
/// `%20` for what may not stand there.
///
/// # Errors
/// Which entry is none; never its value.
pub fn parse_headers(text: &str) -> Result<Vec<Header>, String> {
    let entries = text.split(',').map(str::trim).enumerate();
    let header = |(idx, entry): (usize, &str)| {
        let wrong = || format!("entry {} is not name=value", idx + 1);
        let (name, value) = entry.split_once('=').ok_or_else(wrong)?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
        let value = percent_decoded(value.trim()).ok_or_else(wrong)?;
        let mut value = HeaderValue::from_bytes(&value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok(Header(name, value))
    };
    entries.filter(|(_, entry)| !entry.is_empty()).map(header).collect()
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            decoded.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            decoded.push(*first);
            rest = after;
        }
    }
    Some(decoded)
}

/// Who sends, and what is done with what goes wrong.
pub struct Sender {
    /// Where the collector listens.
    pub address: Address,
    /// Sent with each request.
    pub headers: Vec<Header>,
    /// What tells this run from others of the same host.
    pub instance: String,
    /// Returns the time of day, in nanoseconds since 1970.
    pub now_unix_ns: fn() -> u64,
    /// Takes what goes wrong, once until it goes well again.
    pub on_change: Box<dyn Fn(&str) + Send>,
}

/// Sends until it is dropped, and then what is new once more.
#[derive(Debug)]
pub struct Sending {
    _thread: Background,
}

impl Sending {
    /// Starts, if the collector can be reached.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(shared: &Shared, sender: Sender) -> io::Result<Self> {
        reach(&sender.address)?;
        let shared = shared.clone();
        let thread = Background::start("otlp", move |stopped| send(shared, sender, stopped))?;
        Ok(Sending { _thread: thread })
    }
}

/// Connects once, before the run: a wrong address is not found out an hour later.
fn reach(address: &Address) -> io::Result<()> {
    let mut outcome = Err(io::Error::from(io::ErrorKind::AddrNotAvailable));
    for address in address.place().to_socket_addrs()? {
        outcome = Probe::connect_timeout(&address, PATIENCE).map(drop);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

async fn send(shared: Shared, sender: Sender, mut stopped: watch::Receiver<bool>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut connection = None;
    let mut is_well = true;
    loop {
        let is_last = tokio::select! {
            _ = ticks.tick() => false,
            // An error: the sender is gone.
            _ = stopped.changed() => true,
        };
        let moment = Moment { unix_ns: (sender.now_unix_ns)(), instance: &sender.instance };
        let bytes = metrics::otlp(&shared.lock(), &moment);
        let outcome = timeout(PATIENCE, post(&mut connection, &sender, bytes)).await;
        let outcome = outcome.unwrap_or_else(|_| Err("no answer in time".to_owned()));
        if outcome.is_err() {
            connection = None;
        }
        match &outcome {
            Err(why) if is_well => (sender.on_change)(&format!("does not take the figures: {why}")),
            Ok(()) if !is_well => (sender.on_change)("takes the figures again"),
            Err(_) | Ok(()) => {}
        }
        is_well = outcome.is_ok();
        if is_last {
            break;
        }
    }
}

/// Sends one request, over the connection that is open or a new one.
async fn post(
    connection: &mut Option<SendRequest<Content>>,
    sender: &Sender,
    bytes: Vec<u8>,
) -> Result<(), String> {
    let address = &sender.address;
    let text = |error: hyper::Error| error.to_string();
    let mut open = match connection.take() {
        Some(open) if !open.is_closed() => open,
        Some(_) | None => {
            let stream = TcpStream::connect(address.place()).await;
            let stream = stream.map_err(|error| units::system_text(&error))?;
            let (open, exchange) = http1::handshake(TokioIo::new(stream)).await.map_err(text)?;
            tokio::spawn(exchange);
            open
        }
    };
    open.ready().await.map_err(text)?;
    let mut request = Request::post(&address.path)
        .header(header::HOST, format!("{}:{}", address.host, address.port))
        .header(header::CONTENT_TYPE, metrics::OTLP_TYPE)
        .header(header::USER_AGENT, concat!("plimsoll/", env!("CARGO_PKG_VERSION")));
    for Header(name, value) in &sender.headers {
        request = request.header(name, value);
    }
    let body = Content::Whole(Some(bytes.into()));
    let request = request.body(body).map_err(|error| error.to_string())?;
    let answer = open.send_request(request).await.map_err(text)?;
    let status = answer.status();
    let answer = read(answer.into_body()).await.map_err(text)?;
    *connection = Some(open);
    if status.is_success() {
        return metrics::rejected(&answer).map_or(Ok(()), Err);
    }
    Err(format!("HTTP {status}"))
}

/// Reads an answer to its end, and keeps its beginning.
async fn read(mut body: Incoming) -> Result<Vec<u8>, hyper::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) =
        std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await
    {
        if let Ok(data) = frame?.into_data() {
            let room = ANSWER_BYTES_MAX - bytes.len();
            bytes.extend_from_slice(&data[..data.len().min(room)]);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let read = parse(text).map(|address| address.to_string());
        assert_eq!(read.as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn addresses_of_collectors() {
        check("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics");
        check("http://collector/", "http://collector:4318/v1/metrics");
        check(":14318", "http://127.0.0.1:14318/v1/metrics");
        check("otel.example.org:80/in/metrics", "http://otel.example.org:80/in/metrics");
        check("http://[::1]:4318", "http://[::1]:4318/v1/metrics");
        check("[::1]", "http://[::1]:4318/v1/metrics");
        for wrong in
            ["", ":", "http://", "http://:x", ":0", ":70000", "a b", "http://a@b:1", "h:1/ x"]
        {
            assert!(parse(wrong).is_err(), "{wrong}: {:?}", parse(wrong));
        }
        let refused = parse("https://collector:4318").expect_err("TLS is not spoken");
        assert!(refused.contains("only http://"), "{refused}");
    }

    #[test]
    fn headers_are_decoded_and_never_shown() {
        let headers = parse_headers("api-key=a%20b, x-scope-orgid=team=1,").expect("two headers");
        assert_eq!(headers.len(), 2);
        assert_eq!(
            (headers[0].1.as_bytes(), headers[1].1.as_bytes()),
            (&b"a b"[..], &b"team=1"[..])
        );
        assert!(!format!("{headers:?}").contains("team"), "{headers:?}");
        for wrong in ["key", "a=1,bad name=secret", "a=%2", "a=%0a"] {
            let refused = parse_headers(wrong).expect_err("no header");
            assert!(!refused.contains("secret"), "{refused}");
        }
    }
}
