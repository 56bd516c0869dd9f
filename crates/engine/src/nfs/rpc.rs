//! One call at a time, waited for: what happens before and after a measurement.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use nfs3_types::xdr_codec::Pack;
use units::system_text;

use super::encode::{Caller, HEAD_BYTES_MAX, call_head};
use super::record::{self, Records};
use super::reply::{self, Answer, Question};
use super::socket;
use super::xdr::{Reader, Writer, XdrError};

/// How long a server has for one call. A paced one may be slow, a dead one is noticed by TCP.
const CALL_S: u64 = 60;

/// Why a call failed.
#[derive(Debug)]
pub(super) enum RpcError {
    /// The connection failed.
    Io(io::Error),
    /// The server refused it.
    Refused(i32),
    /// The server answered what is no reply.
    Nonsense(&'static str),
}

impl RpcError {
    pub(super) fn errno(&self) -> i32 {
        match self {
            RpcError::Io(source) => source.raw_os_error().unwrap_or(libc::EIO),
            RpcError::Refused(errno) => *errno,
            RpcError::Nonsense(_) => libc::EPROTO,
        }
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RpcError::Io(source) => f.write_str(&system_text(source)),
            RpcError::Refused(errno) => {
                f.write_str(&system_text(io::Error::from_raw_os_error(*errno)))
            }
            RpcError::Nonsense(what) => write!(f, "the server sent a bad reply ({what})"),
        }
    }
}

impl From<io::Error> for RpcError {
    fn from(source: io::Error) -> Self {
        RpcError::Io(source)
    }
}

impl From<XdrError> for RpcError {
    fn from(flaw: XdrError) -> Self {
        match flaw {
            XdrError::Incomplete => RpcError::Nonsense("end of a reply"),
            XdrError::Malformed(what) => RpcError::Nonsense(what),
        }
    }
}

/// A connection for single calls.
#[derive(Debug)]
pub(super) struct Rpc {
    stream: TcpStream,
    address: SocketAddr,
    caller: Caller,
    xid: u32,
}

impl Rpc {
    pub(super) fn connect(address: SocketAddr, caller: Caller) -> Result<Rpc, RpcError> {
        Ok(Rpc { stream: stream(address)?, address, caller, xid: super::seed() })
    }

    /// Makes a call and returns its results, behind the head of the reply.
    ///
    /// A connection that broke since the last call is made again once.
    pub(super) fn call(
        &mut self,
        program: [u32; 3],
        arguments: &impl Pack,
    ) -> Result<Vec<u8>, RpcError> {
        self.xid = self.xid.wrapping_add(1);
        let mut head = [0; HEAD_BYTES_MAX];
        let mut writer = Writer::new(&mut head);
        writer.u32(0);
        call_head(&mut writer, self.xid, program, self.caller);
        let len = writer.len();
        let mut message = head[..len].to_vec();
        arguments.pack(&mut message).map_err(|_| RpcError::Refused(libc::EINVAL))?;
        let mark = record::mark(message.len() - 4);
        message[..4].copy_from_slice(&mark.to_be_bytes());
        match self.exchange(&message) {
            Err(RpcError::Io(source)) if source.kind() != io::ErrorKind::WouldBlock => {
                self.stream = stream(self.address)?;
                self.exchange(&message)
            }
            other => other,
        }
    }

    fn exchange(&mut self, message: &[u8]) -> Result<Vec<u8>, RpcError> {
        self.stream.write_all(message)?;
        loop {
            let reply = self.record()?;
            if reply::xid(&reply)? != self.xid {
                continue;
            }
            let head = reply::decode(Question::Other, &reply)?;
            return match head.answer {
                Answer::Refused { errno } => Err(RpcError::Refused(errno)),
                _ => Ok(reply[head.len..].to_vec()),
            };
        }
    }

    fn record(&mut self) -> Result<Vec<u8>, RpcError> {
        let mut records = Records::default();
        let mut record = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let n_read = self.stream.read(&mut buffer)?;
            if n_read == 0 {
                return Err(RpcError::Io(io::ErrorKind::UnexpectedEof.into()));
            }
            let mut input = &buffer[..n_read];
            while let Some(part) = records.next(&mut input)? {
                record.extend_from_slice(part.bytes);
                if part.is_end {
                    return Ok(record);
                }
            }
        }
    }
}

fn stream(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::from(socket::connect(address)?);
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(CALL_S)))?;
    stream.set_write_timeout(Some(Duration::from_secs(CALL_S)))?;
    Ok(stream)
}

/// Reads the status in front of NFS results.
pub(super) fn status(results: &[u8]) -> Result<Reader<'_>, RpcError> {
    let mut reader = Reader::new(results);
    match reader.u32()? {
        0 => Ok(reader),
        status => Err(RpcError::Refused(reply::errno_of(status))),
    }
}
