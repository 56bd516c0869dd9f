//! Why a generator cannot be built.

/// Why a generator cannot be built for a workload on a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Not even one I/O fits.
    #[error("the region holds {region_bytes} B, less than one block of {block_bytes} B")]
    RegionTooSmall {
        /// Bytes in the region.
        region_bytes: u64,
        /// Smallest block of a direction that the workload issues.
        block_bytes: u32,
    },
    /// The region's end does not fit into a file offset.
    #[error("a region of {len_bytes} B at {start_bytes} B ends beyond 2^63")]
    RegionTooLarge {
        /// First byte.
        start_bytes: u64,
        /// Bytes.
        len_bytes: u64,
    },
    /// A block size or an alignment of zero, an inverted range, or a split without shares.
    #[error("block sizes from {min_bytes} B to {max_bytes} B cannot be drawn")]
    BlockSize {
        /// Smallest size.
        min_bytes: u32,
        /// Largest size.
        max_bytes: u32,
    },
    /// The map of visited blocks does not fit into memory.
    #[error("a map of {n_blocks} blocks does not fit into memory")]
    MapTooLarge {
        /// Blocks to remember, one bit each.
        n_blocks: u64,
    },
    /// A parameter of a distribution is out of its range.
    #[error("{distribution} distribution: {value} is out of range")]
    Distribution {
        /// Its name.
        distribution: &'static str,
        /// The value, as text.
        value: String,
    },
    /// A listed block lies outside the region.
    #[error("block {block} of the sequence lies beyond the region's {n_blocks} blocks")]
    SequenceBlock {
        /// The block.
        block: u64,
        /// Blocks in the region.
        n_blocks: u64,
    },
    /// A rate of zero.
    #[error("a rate of zero never comes due")]
    ZeroRate,
    /// Nothing to choose from.
    #[error("there is no file to choose")]
    NoFiles,
}
