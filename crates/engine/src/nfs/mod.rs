//! The engine `nfs`: files of an NFSv3 server, without the kernel's client or a mount.
//!
//! Each worker has its own connections, 1 to 16. An operation is split at the server's transfer
//! sizes; its calls go over the connections in turn, and many are in flight on each. Calls are
//! matched to their answers by number ([`calls`]), so answers may come in any order. Data go from
//! and to the worker's buffers without a copy where they are large.
//!
//! A write asks for what the job asks of its files: nothing (the server may keep it in memory),
//! `DATA_SYNC` for `sync=dsync`, `FILE_SYNC` for `sync=sync`. A sync is a COMMIT, which fails (EIO)
//! where the server lost earlier writes. What the server refuses is the result of the operation,
//! as the error number that the Linux client would return.
//!
//! A connection that breaks is made again, and what had no answer is sent again with the same
//! numbers. After [`RECONNECT_PAUSES_MS`] the engine gives up, and the job ends with that error.
//!
//! The decoding of replies ([`reply`], [`record`], [`xdr`]) is pure, for tests and fuzzing.

mod calls;
mod connection;
mod encode;
mod opened;
pub mod record;
pub mod reply;
mod rpc;
mod server;
mod socket;
mod space;
pub mod xdr;

use std::hash::{BuildHasher, Hasher};

use nfs3_types::nfs3::stable_how;
use plan::Direction;
use plan::files::SyncMode;
use plan::job::EngineSpec;
use plan::nfs::NfsUrl;
use plan::op::{Completion, FileIdx, Op, OpClass, OpKind, SyncScope};

use calls::{CALLS_MAX, Calls};
use connection::{Connection, ConnectionFault, Shared};
use encode::Handle;
use opened::Opened;
use rpc::RpcError;
use server::{Server, remote};
pub use space::{Export, layout};
use units::system_text;

use crate::{Arena, BuildOptions, Engine, EngineError, FileTable, Wait, call};

/// Pauses before each attempt to make a lost connection again, in milliseconds: six seconds in all,
/// which a restarting server needs, and after which a run is of no use.
const RECONNECT_PAUSES_MS: [u64; 8] = [0, 50, 100, 200, 400, 800, 1600, 3200];

/// The engine.
pub(crate) struct Nfs {
    shared: Shared,
    connections: Vec<Connection>,
    /// For what is done one call at a time: files that are opened late, or removed.
    server: Server,
    files: FileTable,
    /// Paths of the files below the export.
    paths: Vec<String>,
    polled: Vec<libc::pollfd>,
    /// The connection that takes the next call.
    turn: usize,
    queue_depth: u32,
    name: String,
}

impl Nfs {
    /// Mounts the export, makes the connections and opens the files.
    pub(crate) fn new(
        spec: &EngineSpec,
        files: FileTable,
        arena: Arena,
        options: &BuildOptions,
    ) -> Result<Nfs, EngineError> {
        let mut server = Server::mount(&spec.nfs)?;
        let transfer_bytes = server.read_bytes.min(server.write_bytes);
        let n_slots = options.queue_depth as usize;
        let n_calls = arena.buffer_bytes().div_ceil(transfer_bytes).max(1) as usize * n_slots;
        if n_calls > CALLS_MAX {
            return Err(EngineError::OutOfRange {
                what: "the number of calls in flight (queue depth times block size over rsize)",
                value: n_calls as u64,
                expected: "at most 1048576",
            });
        }
        let url = spec.nfs.url.clone().unwrap_or_default();
        let mut paths = Vec::with_capacity(files.len());
        let mut opened = Vec::with_capacity(files.len());
        for (_, file) in files.specs() {
            let path = below_export(&url, &file.path.to_string_lossy());
            let mut state = Opened::new(match file.open.sync {
                SyncMode::None => stable_how::UNSTABLE,
                SyncMode::Dsync => stable_how::DATA_SYNC,
                SyncMode::Sync => stable_how::FILE_SYNC,
            });
            let handle = open(&mut server, &path, file.open.create);
            state.handle = Some(handle.map_err(|error| {
                let source = std::io::Error::from_raw_os_error(error.errno());
                EngineError::file("open", &file.path, source)
            })?);
            paths.push(path);
            opened.push(state);
        }
        let calls = Calls::new(n_calls, n_slots, seed());
        let mut connections = Vec::new();
        for number in 0..spec.nfs.n_connections.max(1) {
            let fd = socket::connect(server.address)
                .map_err(|source| cannot_connect(&server, &source))?;
            connections.push(Connection::new(fd, number, n_calls));
        }
        Ok(Nfs {
            shared: Shared { calls, files: opened, arena, caller: server.caller },
            polled: Vec::with_capacity(connections.len()),
            connections,
            server,
            files,
            paths,
            turn: 0,
            queue_depth: options.queue_depth,
            name: spec.name.clone(),
        })
    }

    /// Starts an operation: makes its calls and queues them.
    fn start(&mut self, op: &Op) {
        let transfer_bytes = match op.kind.class() {
            OpClass::Bytes(Direction::Read) => self.server.read_bytes,
            OpClass::Bytes(Direction::Write) => self.server.write_bytes,
            OpClass::Sync(_) => u32::MAX,
            OpClass::File if op.kind == OpKind::Stat => u32::MAX,
            OpClass::File | OpClass::Bytes(Direction::Trim) => {
                return self.shared.calls.complete(op.slot, -libc::EOPNOTSUPP);
            }
        };
        if let Err(errno) = self.ensure_open(op.file) {
            return self.shared.calls.complete(op.slot, -errno);
        }
        // Offset and count of a commit are its range; both 0 is all of the file.
        let op = match op.kind.class() {
            OpClass::Sync(SyncScope::All | SyncScope::Data) => &Op { offset: 0, len: 0, ..*op },
            OpClass::Sync(SyncScope::Range) | OpClass::Bytes(_) | OpClass::File => op,
        };
        let n_calls = op.len.div_ceil(transfer_bytes).max(1);
        self.shared.calls.start(op, n_calls);
        for n in 0..n_calls {
            let at = n * transfer_bytes.min(op.len);
            let len = transfer_bytes.min(op.len - at);
            let connection = self.turn;
            self.turn = (self.turn + 1) % self.connections.len();
            let index = self.shared.calls.make(op, at, len, connection as u16);
            let index = index.expect("there are calls for the largest block of every slot");
            self.connections[connection].push(index);
        }
    }

    /// Opens a file that was removed since.
    #[inline]
    fn ensure_open(&mut self, file: FileIdx) -> Result<(), i32> {
        match self.shared.files.get(file.0 as usize) {
            Some(Opened { handle: Some(_), .. }) => Ok(()),
            Some(_) => self.open_again(file),
            None => Err(libc::EBADF),
        }
    }

    #[cold]
    fn open_again(&mut self, file: FileIdx) -> Result<(), i32> {
        let create = self.files.spec(file).open.create;
        let handle = open(&mut self.server, &self.paths[file.0 as usize], create);
        self.shared.files[file.0 as usize].handle = Some(handle.map_err(|error| error.errno())?);
        Ok(())
    }

    /// Sends and receives what can be, without waiting.
    fn turn_over(&mut self) -> Result<(), EngineError> {
        for number in 0..self.connections.len() {
            let connection = &mut self.connections[number];
            if connection.n_open == 0 {
                continue;
            }
            let sent = connection.send(&self.shared);
            if let Err(broken) = sent.and_then(|()| connection.receive(&mut self.shared)) {
                self.connect_again(number, broken)?;
            }
        }
        Ok(())
    }

    /// Makes a broken connection again, and queues what had no answer. A server that takes
    /// connections and answers nothing is given up, too.
    #[cold]
    fn connect_again(&mut self, number: usize, broken: ConnectionFault) -> Result<(), EngineError> {
        let mut reason = broken.to_string();
        let mut errno = libc::ECONNRESET;
        while let Some(pause_ms) = RECONNECT_PAUSES_MS.get(self.connections[number].n_attempts) {
            self.connections[number].n_attempts += 1;
            std::thread::sleep(std::time::Duration::from_millis(*pause_ms));
            match socket::connect(self.server.address) {
                Ok(fd) => {
                    self.connections[number].replace(fd, &self.shared.calls);
                    match self.connections[number].send(&self.shared) {
                        Ok(()) => return Ok(()),
                        Err(broken) => reason = broken.to_string(),
                    }
                }
                Err(source) => {
                    errno = source.raw_os_error().unwrap_or(libc::ETIMEDOUT);
                    reason = system_text(source);
                }
            }
        }
        Err(remote("reach again", self.server.name(), errno, reason))
    }

    /// Waits until a connection can go on. Returns whether one can; what is left of the time is
    /// stored in `timeout`.
    fn wait(&mut self, timeout: Option<&mut libc::timespec>) -> Result<bool, EngineError> {
        self.polled.clear();
        for connection in self.connections.iter().filter(|connection| connection.n_open > 0) {
            let out = if connection.wants_to_send() { libc::POLLOUT } else { 0 };
            let events = libc::POLLIN | out;
            self.polled.push(libc::pollfd { fd: connection.raw_fd(), events, revents: 0 });
        }
        let n_ready = poll(&mut self.polled, timeout);
        match n_ready {
            0 => Ok(false),
            n if n > 0 || n == -libc::EINTR => Ok(true),
            n => Err(EngineError::System {
                call: "ppoll",
                source: std::io::Error::from_raw_os_error(-n),
            }),
        }
    }
}

impl Engine for Nfs {
    fn exchange(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        for op in ops {
            self.start(op);
        }
        let n_before = done.len();
        let mut timeout = wait.timeout_ns.map(timespec);
        loop {
            self.turn_over()?;
            done.append(&mut self.shared.calls.completed);
            let n_done = (done.len() - n_before) as u32;
            if n_done >= wait.min || self.shared.calls.n_live() == 0 {
                return Ok(());
            }
            if !self.wait(timeout.as_mut())? {
                return Ok(());
            }
        }
    }

    fn batch_max(&self) -> u32 {
        self.queue_depth
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn arena(&mut self) -> &mut Arena {
        &mut self.shared.arena
    }

    fn files(&mut self) -> &mut FileTable {
        &mut self.files
    }

    fn remove_files(&mut self) -> Result<(), EngineError> {
        let mut result = Ok(());
        for (path, file) in self.paths.iter().zip(&mut self.shared.files) {
            file.handle = None;
            if let Err(error) = self.server.remove(path) {
                let (name, errno) = (self.server.name(), error.errno());
                result = Err(remote("remove a file of", name, errno, format!("{path}: {error}")));
            }
        }
        result
    }

    fn sync_file_systems(&mut self) -> Result<(), EngineError> {
        // There is no call for it in NFS: each file is made durable instead.
        let n_files = self.shared.files.len() as u32;
        let mut done = Vec::new();
        for file in 0..n_files {
            let op = Op {
                offset: 0,
                len: 0,
                file: FileIdx(file),
                slot: 0,
                buf: plan::op::BufId(0),
                buf_offset_bytes: 0,
                kind: OpKind::Fsync,
                priority: plan::IoPriority::NONE,
            };
            self.exchange(&[op], Wait { min: 1, timeout_ns: None }, &mut done)?;
        }
        match done.iter().find(|completion| completion.result < 0) {
            Some(failed) => {
                let source = std::io::Error::from_raw_os_error(-failed.result);
                Err(remote("sync", self.server.name(), -failed.result, system_text(source)))
            }
            None => Ok(()),
        }
    }
}

fn open(server: &mut Server, path: &str, create: bool) -> Result<Handle, RpcError> {
    let found = if create { server.create(path, true)? } else { server.find(path)? };
    if found.is_folder { Err(RpcError::Refused(libc::EISDIR)) } else { Ok(found.handle) }
}

fn cannot_connect(server: &Server, source: &std::io::Error) -> EngineError {
    let errno = source.raw_os_error().unwrap_or(libc::ETIMEDOUT);
    remote("connect to", server.name(), errno, system_text(source))
}

/// Returns a file's path below the export, from the path that it is shown by.
fn below_export(url: &NfsUrl, path: &str) -> String {
    let path = path.strip_prefix(&url.folder()).unwrap_or(path);
    path.trim_start_matches('/').to_owned()
}

/// Returns a number that differs from process to process and from call to call.
pub(super) fn seed() -> u32 {
    // The standard library seeds each of these by the system's random numbers.
    let hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.finish() as u32
}

fn timespec(timeout_ns: u64) -> libc::timespec {
    const NS_PER_S: u64 = 1_000_000_000;
    libc::timespec {
        tv_sec: (timeout_ns / NS_PER_S) as i64,
        tv_nsec: (timeout_ns % NS_PER_S) as i64,
    }
}

/// Waits for one of the descriptors, and leaves in `timeout` what remains of it.
///
/// The system call itself, since the C library's hides the remaining time, and an engine reads no
/// clock.
fn poll(polled: &mut [libc::pollfd], timeout: Option<&mut libc::timespec>) -> i32 {
    let timeout = timeout.map_or(std::ptr::null_mut(), std::ptr::from_mut);
    let no_mask: *const libc::sigset_t = std::ptr::null();
    // SAFETY: the kernel reads and writes the descriptors and the time, which outlive the call.
    let n_ready = unsafe {
        let n = polled.len();
        libc::syscall(libc::SYS_ppoll, polled.as_mut_ptr(), n, timeout, no_mask, 0_usize)
    };
    if n_ready < 0 { -call::errno() } else { n_ready as i32 }
}
