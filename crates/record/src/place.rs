//! What the targets of a run lie on.

use serde::{Deserialize, Serialize};

/// A mounted file system, a block device or an export that targets lie on.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct PlaceRecord {
    /// Where it is mounted; of a device or an export that is used directly, its name.
    pub path: String,
    /// Type of the file system as the kernel names it, such as `ext4` or `nfs4`; empty for a device
    /// that is used directly.
    pub file_system: String,
    /// What is mounted: a device, or `server:/export`; empty if unknown.
    pub source: String,
    /// Mount options, those of the mount and of the file system, separated by commas.
    pub mount_options: String,
    /// The block device below; `None` where there is none, or several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceRecord>,
    /// The way to it, where it is a network's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkRecord>,
}

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceRecord {
    /// Kernel name, such as `nvme0n1`.
    pub name: String,
    /// Model, empty if unknown.
    pub model: String,
    /// Size.
    pub size_bytes: u64,
    /// I/O scheduler in use, empty if unknown.
    pub scheduler: String,
    /// Its own write cache as the kernel sees it, `write back` or `write through`; empty if
    /// unknown.
    pub write_cache: String,
    /// The kernel takes it for one with moving heads.
    pub is_rotational: bool,
}

/// The way to a network's storage.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct NetworkRecord {
    /// Address of the server, as the mount or the job names it.
    pub server: String,
    /// Connections that share the load.
    pub n_connections: u32,
    /// Network interface that leads there; empty if unknown.
    pub interface: String,
    /// What it carries in one direction by its link, bytes per second; `None` if unknown.
    pub link_bytes_s: Option<f64>,
    /// Round trip time to the server, nanoseconds; `None` if unknown.
    pub round_trip_ns: Option<f64>,
    /// The program sets the buffers of its sockets itself.
    #[serde(default)]
    pub sets_buffers: bool,
}
