//! What goes into an emulated volume and what comes out.

use crate::cap::{CapId, CapKind, CapStation};

/// What an operation does to a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IoKind {
    /// Reads.
    Read,
    /// Writes. Complete once a write-back cache, if there is one, has the data.
    Write,
    /// Writes through every cache (`O_SYNC`, FUA, NFS `FILE_SYNC`).
    WriteThrough,
    /// Completes when all that was written to the volume before is on its disks. Counts on no
    /// disk; on a network volume it is a call of its client.
    Flush,
    /// Works on a name, or on a file as a whole. On a network volume it is a call of its client, as
    /// a flush is, which waits for nothing before it. On disks the file system answers from memory.
    Call,
    /// Gives blocks back. Counts as one operation without bytes on each disk that it reaches.
    Trim,
}

/// One operation on one volume of a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// The caller's name for it; comes back in [`Done::id`]. Any value: it is for the caller only.
    pub id: u64,
    /// What to do.
    pub kind: IoKind,
    /// Position in [`crate::Design::volumes`].
    pub volume: u16,
    /// Position in [`crate::Design::clients`]; 0 where there is one, or none.
    pub client: u16,
    /// First byte, counted from the start of the volume. May lie beyond its size: a file system
    /// over the volume gives each file its own range of addresses.
    pub offset_bytes: u64,
    /// Length in bytes; 0 for a flush and a call.
    pub len_bytes: u32,
}

/// The end of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// [`Io::id`].
    pub id: u64,
    /// When it completed, on the caller's clock, nanoseconds.
    pub at_ns: u64,
    /// The cap that it waited for longest; [`CapId::NONE`] if it waited for none.
    pub held_by: CapId,
    /// How long it waited for `held_by`, nanoseconds.
    pub held_ns: u64,
    /// Which stations it came through.
    pub stations: Stations,
}

/// The stations that operations came through: each has caps of its own kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stations(u8);

impl Stations {
    /// The machine's host cache.
    pub(crate) const CACHE: Stations = Stations(1);
    /// Disks.
    pub(crate) const DISKS: Stations = Stations(2);
    /// Network volumes.
    pub(crate) const NETWORK: Stations = Stations(4);

    /// Returns what either came through.
    #[must_use]
    pub fn and(self, other: Stations) -> Stations {
        Stations(self.0 | other.0)
    }

    /// Returns whether one of the stations has caps of this kind.
    pub fn have(self, kind: CapKind) -> bool {
        let station = match kind.traits().station {
            CapStation::Cache => Stations::CACHE,
            CapStation::Disks => Stations::DISKS,
            CapStation::Network => Stations::NETWORK,
        };
        self.0 & station.0 != 0
    }
}
