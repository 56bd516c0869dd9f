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
//! ends its connection. Permissions are sent to clients and not enforced here, because the client's
//! kernel enforces them.
//!
//! The library `nfs3_server` was not taken: it reports 1 TiB whatever the volume, does not pass to
//! its file system which client calls over which connection, fails the 257th call in flight, and
//! reserves as much memory as a length on the wire says.

mod answer;
mod arguments;
mod attributes;
mod call;
mod caller;
mod connection;
mod data;
mod decode;
mod files;
mod folders;
mod info;
mod mount;
mod mount_arguments;
mod names;
mod overhead;
mod record;
mod refusal;
mod repeated;
mod reply;
mod server;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use units::system_text;

use crate::clock::now_ns;
use crate::lock::lock;
use crate::machine::Machine;
use crate::status::{ClientReport, ExportReport};
use crate::tree::Changes;
pub use decode::{Decoded, decode_call, read_record};
pub use refusal::Refusal;
pub use server::{Limits, RootAccess};

use files::Files;
use server::{Opened, Server, VolumeFacts};

/// Mode of a new volume's folder where no client is root: every user may create files and remove
/// those that belong to him, as in `/tmp`.
const FOLDER_MODE_OPEN: u32 = 0o1777;

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

/// Takes an address to export at; port 0 is any that is free. Clients that connect wait until it is
/// served.
///
/// # Errors
/// When the port is taken or may not be used, or the address is another machine's.
pub fn bind(address: SocketAddr) -> Result<TcpListener, ExportError> {
    TcpListener::bind(address).map_err(|source| ExportError::Listen { address, source })
}

/// Returns who is connected to an export.
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
        trust: RootAccess,
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
        trust: RootAccess,
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
        trust: RootAccess,
    ) -> Result<Export, ExportError> {
        Export::serve(machine, listener, trust, Limits::default())
    }

    fn serve(
        machine: Arc<Machine>,
        listener: TcpListener,
        trust: RootAccess,
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
        if trust == RootAccess::Squashed && rustix::process::geteuid().is_root() {
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

    /// Lets every user create files in volumes that hold none: their folders belong to root, and no
    /// client is root and could change their owner.
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
}
