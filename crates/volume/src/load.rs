//! What is asked of a volume.

/// The load of a volume: I/Os of one mix, and of one size or sizes of one mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Bytes per I/O, at least 1; the mean of mixed ones.
    pub size_bytes: u64,
    /// Sizes are mixed: all of them, and all offsets, are multiples of this.
    pub step_bytes: Option<u64>,
    /// Offsets of I/Os of one size are multiples of this; the I/O's own size unless given.
    pub align_bytes: Option<u64>,
    /// Each follows the one before, and disks that merge such I/Os do; otherwise at random places.
    pub is_sequential: bool,
    /// Share of reads, 0 to 1.
    pub read_share: f64,
    /// Share of reads that hit the host cache, 0 to 1; counts where there is a cache.
    pub hit_ratio: f64,
    /// I/Os in flight; `None` are as many as it takes.
    pub queue_depth: Option<u32>,
    /// Take burst rates, as they hold while credits last.
    pub with_credits: bool,
}

impl Load {
    /// Makes a load of aligned I/Os, without hits, without a limit on what is in flight, sustained.
    pub fn new(size_bytes: u64, read_share: f64) -> Self {
        let size_bytes = size_bytes.max(1);
        Load {
            size_bytes,
            step_bytes: None,
            align_bytes: None,
            is_sequential: false,
            read_share,
            hit_ratio: 0.0,
            queue_depth: None,
            with_credits: false,
        }
    }
}

/// A load on one of the volumes of a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Position of the volume.
    pub volume: u16,
    /// What is asked.
    pub load: Load,
    /// How many I/Os per second are asked; `None` are all there are.
    pub demand: Option<f64>,
}
