//! A machine's volumes as an NFSv3 export: what the kernel's client and libnfs can mount.
//!
//! One TCP port serves MOUNT, NFS and the portmapper's questions. Each connection has a thread that
//! reads calls and one that writes answers; data calls go to the machine and are answered, in any
//! order, when the model says. A connection has as many slots as the design gives each: when all
//! are taken, no further call is read from it, so that a client gains by `nconnect` what it would
//! gain from a real server, and no more.
//!
//! Machines that connect are the design's clients: by their addresses, or in the order in which
//! they come.
//!
//! No call ends the server: a call that cannot be read is refused, and a stream that makes no sense
//! ends its connection. Permissions are shown and not enforced, as the client's kernel does that.
//!
//! The library `nfs3_server` was not taken: it reports 1 TiB whatever the volume, does not tell its
//! file system who calls over which connection, fails the 257th call in flight, and reserves as
//! much memory as a length on the wire says.

mod arguments;
mod attributes;
mod call;
mod connection;
mod data;
mod decode;
mod files;
mod folders;
mod info;
mod mount;
mod names;
mod overhead;
mod repeated;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::FileType;
use rustix::io::Errno;
use units::system_text;
use volume::design::Backing as Medium;

use crate::clock::now_ns;
use crate::machine::Machine;
use crate::pacer::lock;
use crate::status::{ClientReport, ExportReport};
use crate::tree::{Changes, LENT_RIGHTS, Node};
pub use call::Refusal;
pub use decode::{Decoded, decode_call, read_record};

use files::Files;
use repeated::Repeated;

/// Connections at once. The kernel's client makes at most 16 each, so this is many machines; two
/// threads each are a few megabytes.
const CONNECTIONS_MAX: usize = 256;

/// Mode of a new volume's folder where no client is root: everybody makes files, and removes his
/// own, as in `/tmp`.
const FOLDER_MODE_OPEN: u32 = 0o1777;

/// A connection that says nothing for so long is closed: six minutes, as knfsd does. Clients
/// connect again by themselves.
const IDLE: Duration = Duration::from_mins(6);

/// Where there are as many connections as there may be, the one that has been idle longest makes
/// room for another, if that was for so long: no client waits for an answer as long.
const IDLE_MIN: Duration = Duration::from_secs(30);

/// Which connections an export keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One that says nothing for so long is closed.
    pub idle: Duration,
    /// Where there are as many as there may be, the one that has been idle longest makes room for
    /// another, if that was for so long.
    pub idle_min: Duration,
    /// Connections at once.
    pub n_connections_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { idle: IDLE, idle_min: IDLE_MIN, n_connections_max: CONNECTIONS_MAX }
    }
}

/// Who a client's users are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// A caller who says that it is root is the user nobody, who can neither give files away nor
    /// lend rights by setuid and setgid: whoever reaches the port can claim to be any user.
    Squashed,
    /// Each caller is who it says it is, root as well.
    Root,
}

impl Trust {
    fn taken_for(self, caller: call::Caller) -> call::Caller {
        match self {
            Trust::Squashed => caller.squashed(),
            Trust::Root => caller,
        }
    }

    /// Returns the mode that a file is given of the one that is asked for.
    fn mode(self, kind: FileType, mode: u32) -> u32 {
        let is_lent = self == Trust::Squashed && kind != FileType::Directory;
        if is_lent { mode & !LENT_RIGHTS } else { mode }
    }

    /// Returns changes without what a caller may not ask for: only root gives a file to
    /// another owner, or to a group that he is not in.
    fn changes(
        self,
        node: &Node,
        caller: &call::Caller,
        asked: &Changes,
    ) -> Result<Changes, Errno> {
        if self == Trust::Root {
            return Ok(*asked);
        }
        let stat = node.stat()?;
        let is_own = asked.uid.is_none_or(|uid| uid == stat.st_uid);
        let is_group = asked.gid.is_none_or(|gid| gid == stat.st_gid || caller.is_in(gid));
        if !is_own || !is_group {
            return Err(Errno::PERM);
        }
        let mode = asked.mode.map(|mode| self.mode(node.kind, mode));
        Ok(Changes { mode, ..*asked })
    }
}

/// An open connection.
#[derive(Debug)]
struct Opened {
    stream: TcpStream,
    used_ns: AtomicU64,
}

impl Opened {
    fn new(stream: TcpStream) -> Self {
        Opened { stream, used_ns: AtomicU64::new(now_ns()) }
    }

    /// Notes that its client has said something.
    fn used(&self) {
        self.used_ns.store(now_ns(), Relaxed);
    }
}

/// Slots of a connection where the design names no client: what the services that are emulated
/// allow.
const SLOTS: u16 = 128;

/// Largest transfer of one call where the volume has no limit of its own.
const TRANSFER_BYTES_MAX: u32 = 1 << 20;

/// Why an export cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The port is taken, or may not be used.
    #[error("cannot listen on {address}: {}", system_text(source))]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot serve the volumes: {}", system_text(.0))]
    Io(#[from] io::Error),
}

/// What every call on a volume needs to know of it.
#[derive(Clone, Copy, Debug)]
struct VolumeFacts {
    /// One of the network: its model knows clients, and nothing of it is in a cache of the machine.
    is_network: bool,
    /// Most bytes of one call.
    transfer_bytes: u32,
}

impl VolumeFacts {
    fn of(medium: &Medium) -> VolumeFacts {
        match medium {
            Medium::Network(network) => VolumeFacts {
                is_network: true,
                transfer_bytes: network.transfer_bytes.clamp(1024, TRANSFER_BYTES_MAX),
            },
            Medium::Disks(_) => {
                VolumeFacts { is_network: false, transfer_bytes: TRANSFER_BYTES_MAX }
            }
        }
    }
}

/// What all connections share.
struct Server {
    machine: Arc<Machine>,
    /// By position in the design.
    volumes: Vec<VolumeFacts>,
    files: Files,
    repeated: Mutex<Repeated>,
    /// Where the export is reached.
    address: SocketAddr,
    /// Machines that have connected, in order.
    clients: Mutex<Vec<IpAddr>>,
    /// Open connections, to be closed at the end.
    streams: Mutex<Vec<Arc<Opened>>>,
    trust: Trust,
    limits: Limits,
    is_stopped: AtomicBool,
}

/// Takes an address to export at; port 0 is any that is free. Who connects waits until it is
/// served.
///
/// # Errors
/// When the port is taken or may not be used, or the address is another machine's.
pub fn bind(address: SocketAddr) -> Result<TcpListener, ExportError> {
    TcpListener::bind(address).map_err(|source| ExportError::Listen { address, source })
}

/// Tells who is connected to an export.
#[derive(Clone)]
pub struct Peers {
    server: Arc<Server>,
}

impl Peers {
    /// Describes the export as it is now: the machines in the order of their addresses.
    pub fn report(&self) -> ExportReport {
        let mut connected: BTreeMap<IpAddr, u64> = BTreeMap::new();
        for stream in lock(&self.server.streams).iter() {
            if let Ok(peer) = stream.stream.peer_addr() {
                *connected.entry(peer.ip()).or_default() += 1;
            }
        }
        let design = self.server.machine.in_force().design;
        let client = |(address, n_connections): (IpAddr, u64)| {
            let idx = self.server.client_of(address);
            let client = design.clients.get(usize::from(idx));
            ClientReport {
                address: address.to_canonical().to_string(),
                name: client.map(|client| client.name.clone()).filter(|name| !name.is_empty()),
                n_connections,
            }
        };
        let clients = connected.into_iter().map(client).collect();
        ExportReport { address: self.server.address.to_string(), clients }
    }
}

impl std::fmt::Debug for Peers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peers").field("address", &self.server.address).finish_non_exhaustive()
    }
}

/// An export that is served until it is dropped.
pub struct Export {
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl Export {
    /// Serves a machine's volumes at an address; port 0 is any that is free.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn start(
        machine: Arc<Machine>,
        address: SocketAddr,
        trust: Trust,
    ) -> Result<Export, ExportError> {
        Export::over(machine, bind(address)?, trust)
    }

    /// Does the same with other limits to connections.
    ///
    /// # Errors
    /// As [`Export::start`].
    pub fn limited(
        machine: Arc<Machine>,
        address: SocketAddr,
        trust: Trust,
        limits: Limits,
    ) -> Result<Export, ExportError> {
        Export::serve(machine, bind(address)?, trust, limits)
    }

    /// Serves a machine's volumes to those who connect to a listener, from [`bind`].
    ///
    /// # Errors
    /// When the listener cannot be used.
    pub fn over(
        machine: Arc<Machine>,
        listener: TcpListener,
        trust: Trust,
    ) -> Result<Export, ExportError> {
        Export::serve(machine, listener, trust, Limits::default())
    }

    fn serve(
        machine: Arc<Machine>,
        listener: TcpListener,
        trust: Trust,
        limits: Limits,
    ) -> Result<Export, ExportError> {
        let design = machine.in_force().design;
        let server = Arc::new(Server {
            volumes: design.volumes.iter().map(|it| VolumeFacts::of(&it.backing)).collect(),
            files: Files::new(Arc::clone(&machine)).map_err(io::Error::from)?,
            machine,
            repeated: Mutex::default(),
            address: listener.local_addr()?,
            clients: Mutex::default(),
            streams: Mutex::default(),
            trust,
            limits,
            is_stopped: AtomicBool::new(false),
        });
        if trust == Trust::Squashed && rustix::process::geteuid().is_root() {
            server.open_new_volumes();
        }
        overhead::measure(&server);
        let accepting = Arc::clone(&server);
        let thread = std::thread::Builder::new().name("nfs".to_owned());
        let thread = thread.spawn(move || accepting.accept(&listener))?;
        Ok(Export { server, thread: Some(thread) })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// Returns what tells who is connected.
    pub fn peers(&self) -> Peers {
        Peers { server: Arc::clone(&self.server) }
    }

    /// Returns the number of open connections.
    pub fn n_connections(&self) -> usize {
        lock(&self.server.streams).len()
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.server.is_stopped.store(true, Release);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.server.address);
        for opened in lock(&self.server.streams).drain(..) {
            let _ = opened.stream.shutdown(std::net::Shutdown::Both);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Export {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Export").field("address", &self.server.address).finish_non_exhaustive()
    }
}

/// Closes the connection that has been idle longest, if that was for as long as `idle_min`.
fn make_room(streams: &mut Vec<Arc<Opened>>, idle_min: Duration) -> bool {
    let now_ns = now_ns();
    let idle = |opened: &Arc<Opened>| {
        Duration::from_nanos(now_ns.saturating_sub(opened.used_ns.load(Relaxed)))
    };
    let longest = (0..streams.len()).max_by_key(|idx| idle(&streams[*idx]));
    let Some(idx) = longest.filter(|idx| idle(&streams[*idx]) >= idle_min) else { return false };
    let _ = streams.swap_remove(idx).stream.shutdown(std::net::Shutdown::Both);
    true
}

impl Server {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.is_stopped.load(Acquire) {
                return;
            }
            // A connection that is gone again, or one too many, is dropped; the next may be fine.
            if let Ok(stream) = stream
                && self.serve(stream).is_err()
            {
                // Out of threads or descriptors: give others time to end.
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
    }

    /// Lets everybody make files in volumes that hold none: their folders are root's, and no client
    /// is, who could give them away.
    fn open_new_volumes(&self) {
        let design = self.machine.in_force().design;
        let tree = self.machine.tree();
        for volume in &design.volumes {
            let folder = self.files.find_mounted(&volume.mount);
            let Ok(node) = folder.and_then(|handle| self.files.node(&handle)) else { continue };
            let is_own = |name: &[u8]| matches!(name, b"." | b"..");
            let entries = tree.list(&node).unwrap_or_default();
            if entries.iter().all(|entry| is_own(entry.name.to_bytes())) {
                let mode = Some(FOLDER_MODE_OPEN);
                let _ = tree.change(&node, &Changes { mode, ..Changes::default() });
            }
        }
    }

    fn serve(self: &Arc<Self>, stream: TcpStream) -> io::Result<()> {
        let peer = stream.peer_addr()?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.limits.idle))?;
        let mut streams = lock(&self.streams);
        let Limits { idle_min, n_connections_max, .. } = self.limits;
        if streams.len() >= n_connections_max && !make_room(&mut streams, idle_min) {
            return Ok(());
        }
        let opened = Arc::new(Opened::new(stream));
        let known = Arc::clone(&opened);
        let server = Arc::clone(self);
        let thread = std::thread::Builder::new().name("nfs-call".to_owned());
        thread.spawn(move || {
            connection::run(&server, &opened, server.client_of(peer.ip()));
            let _ = opened.stream.shutdown(std::net::Shutdown::Both);
            lock(&server.streams).retain(|other| !Arc::ptr_eq(other, &opened));
        })?;
        streams.push(known);
        Ok(())
    }

    /// Returns the position of a machine among the design's clients: the one with its address,
    /// else, in the order in which machines come, one without. Those beyond them share the last
    /// one's place.
    fn client_of(&self, address: IpAddr) -> u16 {
        let design = self.machine.in_force().design;
        let address = address.to_canonical();
        if let Some(idx) = design.clients.iter().position(|it| it.address == Some(address)) {
            return idx as u16;
        }
        let mut clients = lock(&self.clients);
        let index = clients.iter().position(|known| *known == address).unwrap_or_else(|| {
            clients.push(address);
            clients.len() - 1
        });
        let free = design.clients.iter().enumerate().filter(|(_, it)| it.address.is_none());
        let free: Vec<u16> = free.map(|(idx, _)| idx as u16).collect();
        let last = design.clients.len().saturating_sub(1) as u16;
        free.get(index).or(free.last()).copied().unwrap_or(last)
    }

    /// Returns the calls that a client may have in flight on one connection.
    fn slots(&self, client: u16) -> u16 {
        let design = self.machine.in_force().design;
        design.clients.get(usize::from(client)).map_or(SLOTS, |it| it.slots_per_connection).max(1)
    }

    /// Returns what is to be known of a volume; of a folder above them, what holds for most.
    fn facts(&self, volume: Option<u16>) -> VolumeFacts {
        let above = VolumeFacts { is_network: false, transfer_bytes: TRANSFER_BYTES_MAX };
        volume.and_then(|it| self.volumes.get(usize::from(it))).copied().unwrap_or(above)
    }
}
