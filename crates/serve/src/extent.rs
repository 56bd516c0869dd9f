//! Where the bytes of files lie on volumes.

/// A file's number in the backing's file system.
pub(crate) type Ino = u64;

/// A range on a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First byte.
    pub address: u64,
    /// Length in bytes.
    pub len_bytes: u32,
}
