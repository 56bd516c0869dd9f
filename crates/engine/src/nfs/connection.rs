//! One TCP connection: sends calls, takes replies apart. Never blocks.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use plan::op::{BufId, FileIdx};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags};
use units::system_text;

use super::calls::{Call, Calls, Next};
use super::encode::{self, Caller, HEAD_BYTES_MAX};
use super::opened::Opened;
use super::record::Records;
use super::reply::{self, Answer, Question};
use super::xdr::{XdrError, padding};
use crate::Arena;

/// Calls gathered into one system call: each is up to three pieces, and more than this gains
/// nothing once the call's own cost is spread.
const GATHER: usize = 32;

/// Bytes received at once: many small replies, or the heads of large ones.
const RECEIVE_BYTES: usize = 64 << 10;

/// Runs of data at least this long are received straight into their buffer; below it a copy is
/// cheaper than a system call of its own.
const DIRECT_BYTES: usize = 16 << 10;

/// Why a connection cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionFault {
    /// The server closed it.
    Closed,
    /// The network failed.
    Failed(Errno),
    /// The server sent what is no reply; the name of the field.
    Nonsense(&'static str),
}

impl std::fmt::Display for ConnectionFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConnectionFault::Closed => f.write_str("the server closed it"),
            ConnectionFault::Failed(errno) => f.write_str(&system_text(errno)),
            ConnectionFault::Nonsense(what) => write!(f, "the server sent a bad reply ({what})"),
        }
    }
}

impl From<XdrError> for ConnectionFault {
    fn from(flaw: XdrError) -> Self {
        match flaw {
            XdrError::Incomplete => ConnectionFault::Nonsense("end of a reply"),
            XdrError::Malformed(what) => ConnectionFault::Nonsense(what),
        }
    }
}

/// What all connections of an engine work on.
pub(super) struct Shared {
    pub(super) calls: Calls,
    pub(super) files: Vec<Opened>,
    pub(super) arena: Arena,
    pub(super) caller: Caller,
}

impl Shared {
    fn file(&self, file: FileIdx) -> Option<&Opened> {
        self.files.get(file.0 as usize)
    }

    /// Takes an answer: notes its facts about the file, then ends or continues the call.
    fn answer(&mut self, index: u32, answer: Answer) -> Next {
        let call = *self.calls.get(index);
        let too_much = match answer {
            Answer::Read { count, .. } | Answer::Write { count, .. } => count > call.len,
            Answer::Commit { .. }
            | Answer::GetAttr { .. }
            | Answer::Accepted
            | Answer::Refused { .. } => false,
        };
        if too_much {
            // A server that says it moved more than it was asked for cannot be counted on.
            self.calls.end_with(index, libc::EPROTO);
            return Next::Over;
        }
        let is_lost =
            self.files.get_mut(call.file.0 as usize).is_some_and(|file| file.note(&answer));
        if is_lost {
            self.calls.end_with(index, libc::EIO);
            return Next::Over;
        }
        self.calls.answer(index, answer)
    }
}

/// What the bytes of the current record are.
#[derive(Clone, Copy, Debug)]
enum State {
    /// The head of a reply is gathered.
    Head,
    /// Data of a read, for this call.
    Data { index: u32, at: u32, count: u32, eof: bool },
    /// The rest is of no use.
    Skip,
}

/// One connection.
pub(super) struct Connection {
    fd: OwnedFd,
    number: u16,
    /// Calls to be sent, in order.
    queue: VecDeque<u32>,
    /// Bytes of the first one that are sent already.
    sent_bytes: usize,
    heads: Box<[[u8; HEAD_BYTES_MAX]; GATHER]>,
    records: Records,
    state: State,
    head: [u8; reply::HEAD_BYTES_MAX],
    n_head: usize,
    input: Box<[u8]>,
    /// Calls sent or queued that have no answer yet.
    pub(super) n_open: usize,
    /// Attempts to make the connection again since it last brought an answer.
    pub(super) n_attempts: usize,
}

impl Connection {
    pub(super) fn new(fd: OwnedFd, number: u16, n_calls: usize) -> Connection {
        Connection {
            fd,
            number,
            queue: VecDeque::with_capacity(n_calls),
            sent_bytes: 0,
            heads: Box::new([[0; HEAD_BYTES_MAX]; GATHER]),
            records: Records::default(),
            state: State::Head,
            head: [0; reply::HEAD_BYTES_MAX],
            n_head: 0,
            input: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            n_open: 0,
            n_attempts: 0,
        }
    }

    pub(super) fn raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Returns whether calls wait to be sent.
    pub(super) fn wants_to_send(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Queues a new call.
    pub(super) fn push(&mut self, index: u32) {
        self.queue.push_back(index);
        self.n_open += 1;
    }

    /// Goes on over a new socket: everything without an answer is sent again, as it was.
    pub(super) fn replace(&mut self, fd: OwnedFd, calls: &Calls) {
        self.fd = fd;
        self.queue.clear();
        self.queue.extend(calls.of_connection(self.number));
        self.sent_bytes = 0;
        self.records = Records::default();
        self.state = State::Head;
        self.n_head = 0;
    }

    /// Sends what the socket takes.
    pub(super) fn send(&mut self, shared: &Shared) -> Result<(), ConnectionFault> {
        while !self.queue.is_empty() {
            let n_sent = match self.send_some(shared) {
                Ok(n_sent) => n_sent,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(ConnectionFault::Closed),
                Err(errno) => return Err(ConnectionFault::Failed(errno)),
            };
            self.take_sent(n_sent, shared);
        }
        Ok(())
    }

    fn send_some(&mut self, shared: &Shared) -> Result<usize, Errno> {
        const ZEROS: [u8; 3] = [0; 3];
        let mut lens = [0; GATHER];
        let batch = self.queue.iter().zip(self.heads.iter_mut().zip(&mut lens));
        for (index, (head, len)) in batch {
            *len = head_of(head, shared, shared.calls.get(*index));
        }
        let mut pieces = [IoSlice::new(&[]); 3 * GATHER];
        let mut n_pieces = 0;
        let mut skip = self.sent_bytes;
        let batch = self.queue.iter().zip(self.heads.iter().zip(lens));
        for (index, (head, len)) in batch {
            let call = shared.calls.get(*index);
            let data = data_of(call, &shared.arena);
            for piece in [&head[..len], data, &ZEROS[..padding(data.len())]] {
                let n_skipped = skip.min(piece.len());
                skip -= n_skipped;
                if n_skipped < piece.len() {
                    pieces[n_pieces] = IoSlice::new(&piece[n_skipped..]);
                    n_pieces += 1;
                }
            }
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let mut no_control = SendAncillaryBuffer::default();
        rustix::net::sendmsg(self.fd.as_fd(), &pieces[..n_pieces], &mut no_control, flags)
    }

    /// Takes what was sent off the queue.
    fn take_sent(&mut self, n_sent: usize, shared: &Shared) {
        let mut head = [0; HEAD_BYTES_MAX];
        self.sent_bytes += n_sent;
        while let Some(index) = self.queue.front() {
            let call = shared.calls.get(*index);
            let data_bytes = data_of(call, &shared.arena).len();
            let len = head_of(&mut head, shared, call) + data_bytes + padding(data_bytes);
            if self.sent_bytes < len {
                return;
            }
            self.sent_bytes -= len;
            self.queue.pop_front();
        }
    }

    /// Receives what is there. Returns without waiting when there is nothing more.
    pub(super) fn receive(&mut self, shared: &mut Shared) -> Result<(), ConnectionFault> {
        loop {
            if let State::Data { index, at, count, eof } = self.state {
                let run = self.records.run_bytes().min((count - at) as usize);
                if run >= DIRECT_BYTES {
                    let call = *shared.calls.get(index);
                    let start = call.buf_at + at;
                    let to = &mut arena_range(&mut shared.arena, call.buf, start, run as u32);
                    let Some(n) = received(self.fd.as_fd(), to)? else { return Ok(()) };
                    let ends = self.records.advance(n);
                    self.data(shared, index, (at + n as u32, count), eof);
                    if ends {
                        self.end_of_record()?;
                    }
                    continue;
                }
            }
            let Some(n) = received(self.fd.as_fd(), &mut self.input)? else { return Ok(()) };
            self.take(n, shared)?;
            if n < self.input.len() {
                // Nothing more was there; what has come since is found by the next poll.
                return Ok(());
            }
        }
    }

    /// Takes the first `n` bytes of the input apart.
    fn take(&mut self, n: usize, shared: &mut Shared) -> Result<(), ConnectionFault> {
        let input = std::mem::take(&mut self.input);
        let mut rest = &input[..n];
        let mut result = Ok(());
        while result.is_ok() {
            result = match self.records.next(&mut rest) {
                Ok(None) => break,
                Ok(Some(part)) => {
                    let taken = self.part(part.bytes, shared);
                    if part.is_end { taken.and_then(|()| self.end_of_record()) } else { taken }
                }
                Err(flaw) => Err(flaw.into()),
            };
        }
        self.input = input;
        result
    }

    /// Takes a part of a record.
    fn part(&mut self, mut bytes: &[u8], shared: &mut Shared) -> Result<(), ConnectionFault> {
        while !bytes.is_empty() {
            match self.state {
                State::Head => bytes = self.more_head(bytes, shared)?,
                State::Data { index, at, count, eof } => {
                    let n = bytes.len().min((count - at) as usize);
                    let (data, rest) = bytes.split_at(n);
                    let call = *shared.calls.get(index);
                    arena_range(&mut shared.arena, call.buf, call.buf_at + at, n as u32)
                        .copy_from_slice(data);
                    bytes = rest;
                    self.data(shared, index, (at + n as u32, count), eof);
                }
                State::Skip => return Ok(()),
            }
        }
        Ok(())
    }

    /// Adds to the head of a reply. Returns the bytes behind it.
    fn more_head<'a>(
        &mut self,
        bytes: &'a [u8],
        shared: &mut Shared,
    ) -> Result<&'a [u8], ConnectionFault> {
        let n = bytes.len().min(self.head.len() - self.n_head);
        self.head[self.n_head..self.n_head + n].copy_from_slice(&bytes[..n]);
        self.n_head += n;
        let head = &self.head[..self.n_head];
        let is_full = self.n_head == self.head.len();
        let xid = match reply::xid(head) {
            Err(XdrError::Incomplete) => return Ok(&[]),
            other => other?,
        };
        let Some(index) = shared.calls.find(xid) else {
            // The answer to a call that had been sent again and is over.
            self.state = State::Skip;
            return Ok(&[]);
        };
        let found = match reply::decode(shared.calls.get(index).question, head) {
            Err(XdrError::Incomplete) if !is_full => return Ok(&[]),
            other => other?,
        };
        let n_behind = self.n_head - found.len;
        match found.answer {
            Answer::Read { count, eof } if count > 0 && count <= shared.calls.get(index).len => {
                self.state = State::Data { index, at: 0, count, eof };
            }
            answer => {
                self.state = State::Skip;
                self.over(shared, index, answer);
            }
        }
        Ok(&bytes[n - n_behind..])
    }

    /// Data of a read have come, so many of so many.
    fn data(&mut self, shared: &mut Shared, index: u32, (at, count): (u32, u32), eof: bool) {
        if at < count {
            self.state = State::Data { index, at, count, eof };
        } else {
            self.state = State::Skip;
            self.over(shared, index, Answer::Read { count, eof });
        }
    }

    /// A call has its answer.
    fn over(&mut self, shared: &mut Shared, index: u32, answer: Answer) {
        self.n_attempts = 0;
        match shared.answer(index, answer) {
            Next::Over => self.n_open -= 1,
            Next::Again => self.queue.push_back(index),
        }
    }

    fn end_of_record(&mut self) -> Result<(), ConnectionFault> {
        let is_whole = matches!(self.state, State::Skip);
        self.state = State::Head;
        self.n_head = 0;
        if is_whole { Ok(()) } else { Err(ConnectionFault::Nonsense("end of a reply")) }
    }
}

fn head_of(head: &mut [u8; HEAD_BYTES_MAX], shared: &Shared, call: &Call) -> usize {
    // A call is only made on a file that is open; one that was closed since has an empty handle,
    // which the server refuses.
    let (handle, stable) = shared.file(call.file).map(Opened::for_calls).unwrap_or_default();
    encode::file_call(head, call, &handle, stable, shared.caller)
}

/// Returns what follows the head of a call.
fn data_of<'a>(call: &Call, arena: &'a Arena) -> &'a [u8] {
    if call.question != Question::Write {
        return &[];
    }
    // SAFETY: what is sent of a buffer is read by this thread, here; nothing is received into the
    // buffer of a write.
    let bytes = unsafe { arena.slice(call.buf, call.buf_at + call.len) };
    &bytes[call.buf_at as usize..]
}

fn arena_range(arena: &mut Arena, buf: BufId, start: u32, len: u32) -> &mut [u8] {
    // SAFETY: only this thread receives into the buffer of a read, one call after another.
    let bytes = unsafe { arena.slice_mut(buf, start + len) };
    &mut bytes[start as usize..]
}

/// Receives into `to`. `None` when nothing is there.
fn received(fd: impl AsFd, to: &mut [u8]) -> Result<Option<usize>, ConnectionFault> {
    loop {
        match rustix::net::recv(&fd, &mut *to, RecvFlags::DONTWAIT) {
            Ok((0, _)) | Err(Errno::CONNRESET) => return Err(ConnectionFault::Closed),
            Ok((n_received, _)) => return Ok(Some(n_received)),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(None),
            Err(errno) => return Err(ConnectionFault::Failed(errno)),
        }
    }
}
