//! What all connections of an export share.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::fs::FileType;
use rustix::io::Errno;
use volume::design::Backing as Medium;

use super::arguments::TRANSFER_BYTES_MAX;
use super::caller::Caller;
use super::files::Files;
use super::repeated::Repeated;
use crate::clock::now_ns;
use crate::lock::lock;
use crate::machine::Machine;
use crate::tree::{Changes, LENT_RIGHTS, Node};

/// Connections at once. The kernel's client makes at most 16 each, so this is many machines; two
/// threads each are a few megabytes.
const CONNECTIONS_MAX: usize = 256;

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

/// As which users the users of a client act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootAccess {
    /// A caller who says that it is root is the user nobody, who can neither give files away nor
    /// lend rights by setuid and setgid: whoever reaches the port can claim to be any user.
    Squashed,
    /// Each caller is who it says it is, root as well.
    Root,
}

impl RootAccess {
    pub(super) fn taken_for(self, caller: Caller) -> Caller {
        match self {
            RootAccess::Squashed => caller.squashed(),
            RootAccess::Root => caller,
        }
    }

    /// Returns the mode that a file is given of the one that is asked for.
    pub(super) fn mode(self, kind: FileType, mode: u32) -> u32 {
        let is_lent = self == RootAccess::Squashed && kind != FileType::Directory;
        if is_lent { mode & !LENT_RIGHTS } else { mode }
    }

    /// Returns changes without what a caller may not ask for: only root gives a file to
    /// another owner, or to a group that he is not in.
    pub(super) fn changes(
        self,
        node: &Node,
        caller: &Caller,
        asked: &Changes,
    ) -> Result<Changes, Errno> {
        if self == RootAccess::Root {
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
pub(super) struct Opened {
    pub(super) stream: TcpStream,
    pub(super) used_ns: AtomicU64,
}

impl Opened {
    pub(super) fn new(stream: TcpStream) -> Self {
        Opened { stream, used_ns: AtomicU64::new(now_ns()) }
    }

    /// Notes that its client has said something.
    pub(super) fn used(&self) {
        self.used_ns.store(now_ns(), Relaxed);
    }
}

/// Slots of a connection where the design names no client: what the services that are emulated
/// allow.
const SLOTS: u16 = 128;

/// What every call on a volume needs to know of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct VolumeFacts {
    /// One of the network: its model knows clients, and nothing of it is in a cache of the machine.
    pub(super) is_network: bool,
    /// Most bytes of one call.
    pub(super) transfer_bytes: u32,
}

impl VolumeFacts {
    pub(super) fn of(medium: &Medium) -> VolumeFacts {
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
pub(super) struct Server {
    pub(super) machine: Arc<Machine>,
    /// By position in the design.
    pub(super) volumes: Vec<VolumeFacts>,
    pub(super) files: Files,
    pub(super) repeated: Mutex<Repeated>,
    /// Where the export is reached.
    pub(super) address: SocketAddr,
    /// Machines that have connected, in order.
    pub(super) clients: Mutex<Vec<IpAddr>>,
    /// Open connections, to be closed at the end.
    pub(super) streams: Mutex<Vec<Arc<Opened>>>,
    pub(super) trust: RootAccess,
    pub(super) limits: Limits,
    pub(super) is_stopped: AtomicBool,
}

impl Server {
    /// Returns the position of a machine among the design's clients: the one with its address,
    /// else, in the order in which machines come, one without. Those beyond them share the last
    /// one's place.
    pub(super) fn client_of(&self, address: IpAddr) -> u16 {
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
    pub(super) fn slots(&self, client: u16) -> u16 {
        let design = self.machine.in_force().design;
        design.clients.get(usize::from(client)).map_or(SLOTS, |it| it.slots_per_connection).max(1)
    }

    /// Returns what is to be known of a volume; of a folder above them, what holds for most.
    pub(super) fn facts(&self, volume: Option<u16>) -> VolumeFacts {
        let above = VolumeFacts { is_network: false, transfer_bytes: TRANSFER_BYTES_MAX };
        volume.and_then(|it| self.volumes.get(usize::from(it))).copied().unwrap_or(above)
    }
}
