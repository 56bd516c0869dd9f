//! What the I/O looks like: mix, sizes and addressing.

use std::sync::Arc;

use crate::replay::Recording;
use crate::{Direction, PerDir};

/// Which directions a job issues, and how it walks the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Issues reads.
    pub read: bool,
    /// Issues writes.
    pub write: bool,
    /// Issues trims.
    pub trim: bool,
    /// Random addressing; otherwise sequential.
    pub random: bool,
    /// Each trim is followed by a write of the same block (`trimwrite`, `randtrimwrite`).
    pub trim_then_write: bool,
}

impl Access {
    /// Sequential reads only: the default of fio.
    pub const READ: Access =
        Access { read: true, write: false, trim: false, random: false, trim_then_write: false };

    /// Returns whether both reads and writes are issued in a set proportion.
    pub fn is_mixed(self) -> bool {
        self.read && self.write
    }

    /// Iterates over the directions that are issued.
    pub fn issued(self) -> impl Iterator<Item = Direction> + use<> {
        Direction::ALL.into_iter().filter(move |dir| match dir {
            Direction::Read => self.read,
            Direction::Write => self.write,
            Direction::Trim => self.trim,
        })
    }
}

/// Bytes per I/O of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSize {
    /// Always the same, in bytes, at least 1.
    Fixed(u32),
    /// Any multiple of `min` up to `max`, equally likely (any byte count when unaligned).
    Range {
        /// Smallest, in bytes.
        min: u32,
        /// Largest, in bytes.
        max: u32,
    },
    /// Sizes with their share in percent; the shares add up to 100.
    Split(Vec<(u32, u8)>),
    /// Sizes with relative weights: shares finer than a percent.
    Weighted(Vec<(u32, u32)>),
    /// `min` and any size that is a multiple of `step` larger, up to `max`; equally likely.
    Stepped {
        /// Smallest, in bytes.
        min: u32,
        /// Largest, in bytes.
        max: u32,
        /// Distance between sizes, in bytes, at least 1.
        step: u32,
    },
}

impl BlockSize {
    /// Returns the smallest size that can occur, in bytes.
    pub fn min(&self) -> u32 {
        match self {
            BlockSize::Fixed(size) => *size,
            BlockSize::Range { min, .. } | BlockSize::Stepped { min, .. } => *min,
            BlockSize::Split(parts) => parts.iter().map(|p| p.0).min().unwrap_or(0),
            BlockSize::Weighted(parts) => parts.iter().map(|p| p.0).min().unwrap_or(0),
        }
    }

    /// Returns the largest size that can occur, in bytes.
    pub fn max(&self) -> u32 {
        match self {
            BlockSize::Fixed(size) => *size,
            BlockSize::Range { max, .. } | BlockSize::Stepped { max, .. } => *max,
            BlockSize::Split(parts) => parts.iter().map(|p| p.0).max().unwrap_or(0),
            BlockSize::Weighted(parts) => parts.iter().map(|p| p.0).max().unwrap_or(0),
        }
    }

    /// Returns the mean size over the I/Os, in bytes. Of a range the multiples of its smallest.
    pub fn mean(&self) -> f64 {
        fn weighted(parts: impl Iterator<Item = (u32, f64)>) -> f64 {
            let (bytes, weights) = parts.fold((0.0, 0.0), |(bytes, weights), (size, weight)| {
                (bytes + f64::from(size) * weight, weights + weight)
            });
            if weights > 0.0 { bytes / weights } else { 0.0 }
        }
        match self {
            BlockSize::Fixed(size) => f64::from(*size),
            BlockSize::Range { min, max } => {
                f64::from(*min) * f64::from(1 + max / (*min).max(1)) / 2.0
            }
            BlockSize::Stepped { min, max, step } => {
                let n_steps = max.saturating_sub(*min) / (*step).max(1);
                f64::from(*min) + f64::from(*step) * f64::from(n_steps) / 2.0
            }
            BlockSize::Split(parts) => weighted(parts.iter().map(|p| (p.0, f64::from(p.1)))),
            BlockSize::Weighted(parts) => weighted(parts.iter().map(|p| (p.0, f64::from(p.1)))),
        }
    }
}

/// How random offsets are spread over the region.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Equally likely.
    Uniform,
    /// Zipf with exponent `theta` (> 0, not 1); `centre` in 0..=1 fixes where the hot spot lies.
    Zipf {
        /// Exponent.
        theta: f64,
        /// Relative place of the hot spot, or a seeded one.
        centre: Option<f64>,
    },
    /// Pareto with the input value `h` in 0..1.
    Pareto {
        /// Skew.
        h: f64,
        /// Relative place of the hot spot, or a seeded one.
        centre: Option<f64>,
    },
    /// Normal with a deviation in percent of the region, 0..=100.
    Normal {
        /// Standard deviation, percent of the region.
        deviation_pct: f64,
        /// Relative place of the mean, or the middle.
        centre: Option<f64>,
    },
    /// Shares of the accesses that go to consecutive shares of the region, both in percent.
    Zoned(Vec<(u8, u8)>),
    /// The same with sizes in bytes.
    ZonedAbs(Vec<(u8, u64)>),
    /// These block numbers, over and over.
    Sequence(Vec<u64>),
    /// Denser towards the region's start: exponentially distributed with a mean of this share of
    /// the region (above 0), and wrapped at its end. Vdbench's `poisson` with midpoint `n` has a
    /// mean of `1 / n`.
    Exponential {
        /// Mean, as a share of the region.
        mean: f64,
    },
    /// Denser towards the region's start: the first share `x` of the region gets the share
    /// `x^(1 / exponent)` of the accesses. 1 is uniform.
    Power {
        /// At least 1.
        exponent: f64,
    },
}

/// Returns the standard deviation, percent of the region, that fio's `normal:PARAMETER` has.
///
/// fio averages twelve even numbers over the region, which alone deviates by 8.3 %, and adds an
/// even number that is `parameter_pct` of the region wide, at most half of it (measured, fio
/// 3.33: `normal:20` deviates by 10.1 %).
pub fn fio_normal_deviation_pct(parameter_pct: f64) -> f64 {
    let mean_of_twelve_pct = 100.0 / 12.0;
    let added_pct = parameter_pct.clamp(0.0, 50.0) / 12.0_f64.sqrt();
    f64::hypot(mean_of_twelve_pct, added_pct)
}

/// Returns the parameter of fio's `normal:` that gives this standard deviation, percent of the
/// region: the inverse of [`fio_normal_deviation_pct`], to nine digits.
pub fn fio_normal_parameter_pct(deviation_pct: f64) -> f64 {
    let mean_of_twelve_pct = 100.0 / 12.0;
    let added_pct2 = deviation_pct.powi(2) - f64::powi(mean_of_twelve_pct, 2);
    let parameter_pct = (added_pct2.max(0.0) * 12.0).sqrt();
    (parameter_pct * 1e9).round() / 1e9
}

/// Where the random numbers of offsets come from, as fio's `random_generator` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomGenerator {
    /// Ours, whatever the region's size (fio: `tausworthe`, `tausworthe64`).
    Standard,
    /// Visits every block once without remembering any (fio: `lfsr`). Single block size only.
    Lfsr,
}

/// How a postfix on `rw` (`randread:8`, `write:4k`) shapes the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequencer {
    /// After each random draw, go on sequentially until the next draw.
    Sequential,
    /// After each random draw, stay at the same offset until the next draw.
    Identical,
}

/// Zones of a target, worked one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Bytes of a zone that are worked before going on.
    pub zone_size_bytes: u64,
    /// Bytes from the start of a zone to the start of the gap (`zonerange`, default the size).
    pub zone_range_bytes: u64,
    /// Bytes left out after each zone.
    pub zone_skip_bytes: u64,
}

/// Shares of the I/Os that go to the start of the region: what a cache would hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitArea {
    /// Bytes from the region's start. All other I/O goes to what is behind.
    pub len_bytes: u64,
    /// Share of the reads, percent.
    pub read_pct: f64,
    /// Share of the writes, percent.
    pub write_pct: f64,
}

impl HitArea {
    /// For how long reads of an area find places that are new to a cache, seconds: it is in any
    /// cache before a ramp is over.
    const NEW_S: f64 = 0.05;

    /// Returns how large an area is that so many reads of a size soon have in a cache, bytes.
    pub fn bytes_for(reads_per_s: f64, size_bytes: f64) -> f64 {
        reads_per_s * Self::NEW_S * size_bytes
    }
}

/// What the I/O of a job looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Directions and walk.
    pub access: Access,
    /// Share of reads among reads and writes, percent, 0..=100; counts to a millionth.
    pub read_pct: f64,
    /// Sizes per direction.
    pub block_size: PerDir<BlockSize>,
    /// Alignment of random offsets in bytes; `None` is the smallest block size of the direction.
    pub block_align: PerDir<Option<u32>>,
    /// Sizes of a range need not be multiples of its minimum.
    pub block_unaligned: bool,
    /// `block_size.read` is for sequential and `.write` for random I/O (fio `bs_is_seq_rand`).
    pub block_size_by_pattern: bool,
    /// Share of random I/O per direction, percent, when the walk is random; 0..=100, counts to a
    /// millionth.
    pub random_pct: PerDir<f64>,
    /// Every block once per pass (a permutation, or fio's map for mixed sizes); otherwise draws
    /// are independent (`norandommap`).
    pub no_repeats: bool,
    /// Generator for random offsets.
    pub generator: RandomGenerator,
    /// Spread of random offsets.
    pub distribution: PerDir<Distribution>,
    /// A sequence of blocks moves on by its own number of blocks after each cycle, and starts over
    /// where the next cycle would leave the region; otherwise it repeats in place.
    pub sequence_advances: bool,
    /// Random walk: a new offset every this many I/Os, at least 1.
    pub ios_per_draw: u32,
    /// Between draws: go on or stay.
    pub sequencer: Sequencer,
    /// Sequential walk: bytes added after each I/O beyond its own length; may be negative.
    pub sequential_step_bytes: i64,
    /// Strided zones.
    pub strided: Option<Strided>,
    /// All directions share one place to go on from; otherwise each has its own. A random walk
    /// that goes on sequentially starts over at the region's end then, where it draws otherwise.
    pub one_cursor: bool,
    /// Independent draws: random offsets are multiples of the I/O's own length, counted from the
    /// region's start. A `block_align` overrides this.
    pub aligned_to_length: bool,
    /// Random draws go forward instead: from the end of the I/O before by the first of these
    /// plus a random number of whole I/Os up to the second, in bytes. Past the region's end they
    /// start over. Excludes `no_repeats` and distributions.
    pub skip_bytes: Option<(u64, u64)>,
    /// Sequential walk: starts at a seeded place, and goes on at the region's start after its end.
    pub starts_anywhere: bool,
    /// Sequential walk: is done at the region's end, however long the job may run.
    pub ends_with_region: bool,
    /// Sequential walk: so many walks in equal parts of the region, served in turn; 0 and 1 are
    /// one.
    pub n_streams: u32,
    /// Some of the I/O goes to the start of the region, and walks there by itself.
    pub hit_area: Option<HitArea>,
    /// Seed of the job; with `seed_varies` each run draws another.
    pub seed: u64,
    /// The seed differs from run to run (`randrepeat=0`); the one used is stored in the Record.
    pub seed_varies: bool,
    /// Trims must have this share of written blocks trimmed for verification, percent.
    pub trim_pct: u8,
    /// Trim after this many blocks written (with `trim_pct`); 0 is off.
    pub trim_backlog: u32,
    /// Trims per batch; 0 is the backlog.
    pub trim_backlog_batch: u32,
    /// Replaces mix, sizes and addressing by recorded operations; worker `i` replays member
    /// `i % n`. Read from [`crate::report::Logs::read_replay`] before a run.
    pub recordings: Vec<Arc<Recording>>,
}

/// fio's default seed; kept so that the same file gives the same run.
pub const DEFAULT_SEED: u64 = 0x89;

impl Default for Workload {
    fn default() -> Self {
        Workload {
            access: Access::READ,
            read_pct: 50.0,
            block_size: PerDir::all(BlockSize::Fixed(4096)),
            block_align: PerDir::all(None),
            block_unaligned: false,
            block_size_by_pattern: false,
            random_pct: PerDir::all(100.0),
            no_repeats: true,
            generator: RandomGenerator::Standard,
            distribution: PerDir::all(Distribution::Uniform),
            sequence_advances: false,
            ios_per_draw: 1,
            sequencer: Sequencer::Sequential,
            sequential_step_bytes: 0,
            strided: None,
            one_cursor: false,
            aligned_to_length: false,
            skip_bytes: None,
            starts_anywhere: false,
            ends_with_region: false,
            n_streams: 0,
            hit_area: None,
            seed: DEFAULT_SEED,
            seed_varies: false,
            trim_pct: 0,
            trim_backlog: 0,
            trim_backlog_batch: 0,
            recordings: Vec::new(),
        }
    }
}

impl Workload {
    /// Returns what is issued of what the workload allows: a mix of 100 % reads writes nothing, and
    /// one of 0 % reads nothing.
    pub fn drawn(&self) -> Access {
        let access = self.access;
        let is_mixed = access.is_mixed();
        Access {
            read: access.read && !(is_mixed && self.read_pct <= 0.0),
            write: access.write && !(is_mixed && self.read_pct >= 100.0),
            ..access
        }
    }

    /// Returns the smallest block size in bytes over the directions that are issued; that of reads
    /// where none is.
    pub fn block_size_min(&self) -> u32 {
        let sizes = self.access.issued().map(|dir| self.block_size[dir].min());
        sizes.min().unwrap_or_else(|| self.block_size.read.min())
    }

    /// Returns the largest block size in bytes over the directions that are issued; that of reads
    /// where none is.
    pub fn block_size_max(&self) -> u32 {
        let sizes = self.access.issued().map(|dir| self.block_size[dir].max());
        sizes.max().unwrap_or_else(|| self.block_size.read.max())
    }
}
