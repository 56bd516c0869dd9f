//! What is provisioned: a virtual machine and its volumes, as numbers with their origin.
//!
//! [`parse`] reads it from TOML and returns every mistake with its place. docs/designs/ has
//! examples, docs/design-files.md every key.

use core::net::IpAddr;
use std::sync::Arc;

use catalog::Edition;

mod ceiling;
mod check;
mod client;
mod disks;
mod free;
pub(crate) mod local;
mod medium;
mod network;
mod parser;
mod promised;
mod read;
pub mod service;
mod vm;

pub(crate) use network::{BY_HAND, file_server_limits};
pub(crate) use parser::per_s;
pub(crate) use vm::machine_of;

pub use catalog::{Catalog, Cloud};
pub use free::Provisioned;
pub use local::{LOCAL, LOCAL_DISK, Local};
pub use medium::{MEDIA, MediumLatency, medium_latency};
pub use network::carried_by;
pub use parser::{MB_BYTES_DEFAULT, MB_READINGS};
pub use promised::Promised;
pub use read::{BUCKET_WINDOW_NS_DEFAULT, ReadAs, parse, parse_as, parse_in_mb, parse_with};
pub use vm::{Interface, lacks_limits, machine_with, needs_premium};

/// What a disk of figures in the design is called where it has no name.
pub(crate) const OWN_DISK: &str = "own disk";

/// What a machine of figures in the design is called.
pub(crate) const OWN_MACHINE: &str = "own machine";

/// All that is provisioned together.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// What the user calls it.
    pub name: String,
    /// Edition of the catalogue that the limits come from (`2018`, `current`).
    pub edition: String,
    /// The catalogue that has this edition: the built-in tables, perhaps with a user's on top.
    pub catalog: Arc<Catalog>,
    /// The cloud it is to be built in, where the design says.
    pub cloud: Option<Cloud>,
    /// The region it is to be built in, as the catalogue's prices name it.
    pub region: Option<String>,
    /// The machine all volumes are attached to; `None` leaves its caps out.
    pub vm: Option<Vm>,
    /// The volumes; operations name them by position.
    pub volumes: Vec<Volume>,
    /// Machines that reach the network volumes. Empty: one, without distance.
    pub clients: Vec<Client>,
    /// Capacity pools of network volumes.
    pub pools: Vec<Pool>,
    /// What it is to carry.
    pub promises: Vec<Promised>,
    /// Seed of the latency samples.
    pub seed: u64,
    /// Bytes of a published MB whose size the source does not state.
    pub mb_bytes: u64,
    /// Time for which an idle cap keeps what it did not use, nanoseconds. Credits are apart.
    pub bucket_window_ns: u64,
}

impl Design {
    /// Returns the tables of its edition; `None` for an edition that there is not.
    pub fn rows(&self) -> Option<&Edition> {
        self.catalog.edition(&self.edition)
    }

    /// Returns where volumes are mounted whose latency without load is constant: percentiles of
    /// what is measured on them show waiting only, and not how a medium's own latency spreads.
    pub fn constant_latency_mounts(&self) -> Vec<String> {
        let constant = self.volumes.iter().filter(|volume| volume.latency.spread <= 0.0);
        constant.map(|volume| volume.mount.clone()).collect()
    }
}

/// A limit per second, with a bucket of credits above it if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Operations (after unit accounting) or bytes per second, sustained. At least 1.
    pub per_s: u64,
    /// Bursting above `per_s`.
    pub burst: Option<Burst>,
    /// Where the figure comes from, for people: source, date, unit as published.
    pub origin: String,
}

/// Returns whether a limit's figure is in MB/s where it comes from; others are printed in MiB/s.
/// `origin` is that of a [`Limit`].
pub fn is_in_mb(origin: &str) -> bool {
    origin.contains("MB/s") && !origin.contains("taken as 1,048,576")
}

/// Bursting above a sustained limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Operations or bytes per second while it lasts.
    pub per_s: u64,
    /// Credits of a full bucket, in operations or bytes; `None` lasts for ever (on-demand burst).
    /// A credit is spent per operation or byte above the sustained rate, and accrues per one below.
    pub bucket: Option<u64>,
}

/// A pair of limits; both hold at once. `None` is without a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cap {
    /// Operations per second.
    pub iops: Option<Limit>,
    /// Bytes per second.
    pub bytes: Option<Limit>,
}

/// A virtual machine's caps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vm {
    /// Name of the size.
    pub size: String,
    /// Cap of traffic to remote disks: uncached I/O, cache misses, writes that reach a disk.
    pub uncached: Cap,
    /// Cap of the cached path, reads. Reads and writes share it where the two are equal.
    pub cached: Cap,
    /// Cap of writes on the cached path where it differs from that of reads.
    pub cached_write: Option<Cap>,
    /// Size of the host cache, bytes; `None` where the size has no cache or it is unknown.
    pub cache_bytes: Option<u64>,
    /// What the network card sends at most, bytes per second. Receiving is not metered.
    pub egress: Option<Limit>,
    /// Disks it takes.
    pub max_data_disks: Option<u32>,
    /// How it reaches its disks, where the design says; else the size's usual one.
    pub interface: Option<Interface>,
}

/// One volume: what a job's files fall on.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// Folder it is mounted at; files below it are on this volume.
    pub mount: String,
    /// Provisioned size, bytes.
    pub capacity_bytes: u64,
    /// What it is made of.
    pub backing: Backing,
    /// Latency of its medium without load.
    pub latency: Latency,
    /// Latency of a hit in the host cache.
    pub cache_latency: Latency,
    /// How it is built; no limit follows from that.
    pub build: VolumeBuild,
}

/// How a volume is built, where the design says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumeBuild {
    /// What its disks are named after; empty for a name made of the mount.
    pub name: String,
    /// What it is formatted with.
    pub file_system: Option<FileSystem>,
    /// Its disks have the higher limits that some tiers offer.
    pub has_performance_plus: bool,
    /// A large volume of a network file service.
    pub is_large: bool,
}

/// A file system of Linux that volumes are formatted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// The fourth extended file system.
    Ext4,
    /// The file system of SGI.
    Xfs,
}

impl FileSystem {
    /// All of them.
    pub const ALL: [FileSystem; 2] = units::all_of!(FileSystem: Ext4, Xfs);

    /// Returns its name, as `mount` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            FileSystem::Ext4 => "ext4",
            FileSystem::Xfs => "xfs",
        }
    }
}

/// What a volume is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Backing {
    /// Disks, striped where there are several.
    Disks(Stripe),
    /// A volume of a network file service.
    Network(NetworkVolume),
}

/// Equal disks side by side (RAID 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripe {
    /// The disks.
    pub disks: Vec<Disk>,
    /// Bytes on one disk before the next one's turn; a power of two, at least 4 KiB.
    pub chunk_bytes: u64,
    /// Disks that one run of chunks goes over; at most the number of disks. With fewer columns than
    /// disks, the first columns fill before the next ones are used.
    pub columns: u32,
    /// Disks of the machine itself, which its uncached caps do not count, nor its places for disks.
    pub is_local: bool,
    /// Its disks share what the machine has once for all disks of their type; it is in their caps.
    pub has_machine_base: bool,
}

impl Stripe {
    /// Says whether it is made of the disks that the machine's size has.
    pub fn is_named_local(&self) -> bool {
        self.is_local && self.disks.first().is_some_and(|disk| disk.sku == LOCAL_DISK)
    }

    /// Says whether its I/Os count on the machine's cached path, as those of local disks without
    /// limits of their own do.
    pub(crate) fn shares_cached_path(&self) -> bool {
        self.is_local && self.disks.first().is_some_and(Disk::has_no_limit)
    }
}

/// What a write takes of a limit that counts reads: `write` parts where a read takes `read`.
///
/// A disk that carries R reads or W writes a second, and no mix of both at once, carries
/// 1 / (r/R + w/W) of a mix: a write takes R/W of what a read takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WriteCost {
    write: u64,
    read: u64,
}

impl Default for WriteCost {
    /// A write takes what a read takes.
    fn default() -> Self {
        WriteCost { write: 1, read: 1 }
    }
}

impl WriteCost {
    /// Most that a limit times a part may be: what all of it is in whole parts.
    const WHOLE_MAX: u64 = 1 << 62;

    /// Returns the cost where so many reads a second, or so many writes, are what is carried.
    pub fn between(reads_per_s: u64, writes_per_s: u64) -> Self {
        let (reads, writes) = (reads_per_s.max(1), writes_per_s.max(1));
        let common = units::gcd(reads, writes);
        let (write, read) = (reads / common, writes / common);
        if reads.checked_mul(read).is_some_and(|whole| whole <= Self::WHOLE_MAX) {
            return WriteCost { write, read };
        }
        // Finer than any figure is known.
        let read = 1 << 12;
        let write = (u128::from(reads) * u128::from(read) / u128::from(writes)) as u64;
        WriteCost { write: write.clamp(1, 1 << 20), read }
    }

    /// Returns what a write takes where a read takes 1.
    pub fn factor(self) -> f64 {
        self.write as f64 / self.read as f64
    }

    /// Returns the parts that a read and a write take in whole numbers.
    pub(crate) fn parts(self) -> [u64; 2] {
        [self.read, self.write]
    }
}

/// What a write takes of a disk's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WriteCosts {
    /// Of its operations.
    pub op: WriteCost,
    /// Of its bytes, for each byte.
    pub byte: WriteCost,
}

/// One disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Name of its tier or type.
    pub sku: String,
    /// Its caps.
    pub cap: Cap,
    /// Writes per second, where they have a limit of their own; operations of `cap` are reads then.
    pub write_iops: Option<Limit>,
    /// What a write takes of limits that it shares with reads.
    pub write_costs: WriteCosts,
    /// An operation counts once for each begun piece of this size; `None` counts each once.
    pub io_unit_bytes: Option<u64>,
    /// Whether I/Os that follow each other on the disk count together, up to a unit.
    pub merging: Merging,
    /// Provisioned size, bytes.
    pub size_bytes: u64,
    /// Host cache.
    pub cache: CacheMode,
}

impl Disk {
    /// Says whether it has no limit of its own.
    pub fn has_no_limit(&self) -> bool {
        self.cap == Cap::default() && self.write_iops.is_none()
    }
}

/// What the count of operations makes of I/Os that follow each other on a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merging {
    /// Each counts.
    #[default]
    None,
    /// Those of one unit count once (SSD volumes of Amazon EBS).
    Operations,
    /// The same, and a unit that was begun counts with all its bytes (HDD volumes of Amazon EBS,
    /// whose limit is throughput: a small I/O at a random place takes as much as 1 MiB).
    Units,
}

/// What the machine's host cache does for a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheMode {
    /// Nothing: all I/O goes the uncached path.
    None,
    /// Keeps what was read; writes go through to the disk.
    ReadOnly,
    /// Keeps what was read and written; writes reach the disk later, or at a flush.
    ReadWrite,
}

/// A volume of a network file service.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkVolume {
    /// Service level, for people.
    pub level: String,
    /// Throughput of the level times the quota, or what was assigned by hand; reads and writes
    /// together. `None` where volumes share what their pool has.
    pub quota: Option<Limit>,
    /// Measured ceilings of one volume.
    pub ceiling: Ceiling,
    /// Position in [`Design::pools`]; `None` is alone.
    pub pool: Option<u16>,
    /// Largest transfer of one call, bytes (rsize and wsize).
    pub transfer_bytes: u32,
}

/// What one volume carries at most, as measured. Every part may be unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ceiling {
    /// Small random reads per second, R. A mix carries 1 / (r/R + w/W).
    pub read_iops: Option<u64>,
    /// Small random writes per second, W.
    pub write_iops: Option<u64>,
    /// Large sequential reads, bytes per second, R. A mix carries min(R/r, W/w, C).
    pub read_bytes_per_s: Option<u64>,
    /// Large sequential writes, bytes per second, W.
    pub write_bytes_per_s: Option<u64>,
    /// Reads and writes together, bytes per second, C.
    pub total_bytes_per_s: Option<u64>,
}

/// Capacity shared by network volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// What the user calls it.
    pub name: String,
    /// Throughput of all its volumes together.
    pub throughput: Limit,
    /// Operations per second of all its volumes together, where these have a limit.
    pub iops: Option<Limit>,
    /// How it is built; no limit follows from that.
    pub build: PoolBuild,
}

/// How a pool is built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolBuild {
    /// Service level, such as `Premium`.
    pub level: String,
    /// Provisioned size, bytes.
    pub size_bytes: u64,
    /// Throughput is assigned to its volumes by hand, and not by their quotas.
    pub is_manual: bool,
    /// The file servers that it is a file system of; `None` of a pool whose level gives throughput.
    pub file_server: Option<BoughtFileServer>,
}

/// File servers and disks as they are bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoughtFileServer {
    /// Throughput under which the servers are sold, MB/s.
    pub throughput_mb_s: u64,
    /// Operations per second of the disks.
    pub iops: u64,
}

/// A machine that reaches network volumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Client {
    /// What the user calls it.
    pub name: String,
    /// Its machine size, as the catalogue has it; empty where the design names none.
    pub size: String,
    /// How many clients after it are of the same table: the workers of a job are spread over all.
    pub n_following: u16,
    /// Network distance to the volumes, there and back, nanoseconds.
    pub round_trip_ns: u64,
    /// TCP connections (`nconnect`), 1 to 16.
    pub connections: u16,
    /// Calls in flight on one connection.
    pub slots_per_connection: u16,
    /// What its network card sends at most; `None` is not limited.
    pub egress: Option<Limit>,
    /// Jobs that run on it, by name; `*` stands for any letters. Empty: those that no other client
    /// names, where it is the first such client.
    pub jobs: Vec<String>,
    /// Where its calls come from when the volumes are exported; `None` is any machine.
    pub address: Option<IpAddr>,
}

/// Latency without load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// Mean, nanoseconds.
    pub mean_ns: u64,
    /// Standard deviation over mean of a log-normal distribution; 0 is constant.
    pub spread: f64,
}
