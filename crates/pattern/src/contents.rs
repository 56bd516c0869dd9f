//! What write buffers hold.
//!
//! [`Contents::fill`] is a function of (seed, offset, generation), where the generation counts the
//! worker's writes: what was written can be made again. Random bytes come at memory speed, and no
//! compressor finds anything in them. Verified writes are made by [`crate::verify`] instead.

mod sets;

use plan::verify::{Buffers, DedupeMode, PatternPart};

use crate::rng::{Stream, derive, mix64};
use crate::verify::{Pattern, fill_random};
use sets::Grouping;

/// Where one write is looked for duplicates of it: the worker's writes so far, at most. A chain of
/// duplicates as long as this is rarer than one in 10^43 at 99 %.
const N_REPEATS_MAX: u32 = 10_000;

/// Spacing of the changes that scrambling makes: what removes duplicates works on no less.
const SCRAMBLE_EVERY_BYTES: usize = 512;

/// Bytes changed each time.
const SCRAMBLE_BYTES: usize = 8;

/// Where parts of a pattern begin that are written past the page cache, as diskspd 2.2 has it.
const SECTOR_BYTES: u64 = 512;

/// Bytes that a compression ratio holds for: what file systems and arrays compress at once, at
/// least.
const RATIO_CHUNK_BYTES: usize = 4096;

/// What the driver does with the buffer of a write before it is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// Nothing: [`Contents::fill`] once, before the run.
    Never,
    /// [`Contents::scramble`] for each write, on top of a fill before the run.
    Scramble,
    /// [`Contents::fill`] for each write.
    Fill,
}

/// What the contents depend on besides the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentsSpec {
    /// The smallest block written, in bytes: duplicates are blocks of this size.
    pub block_bytes: u32,
    /// Bytes in the worker's region, of which a working set is a share.
    pub region_bytes: u64,
    /// Seed of the worker.
    pub worker_seed: u64,
    /// Seed of the job, for a working set that all its workers share.
    pub job_seed: u64,
    /// Writes go past the page cache.
    pub is_direct: bool,
}

/// The contents of one worker's writes.
#[derive(Clone, Debug)]
pub struct Contents {
    fill: Fill,
    refresh: Refresh,
    seed: u64,
}

#[derive(Clone, Debug)]
enum Fill {
    Zero,
    Pattern(Pattern),
    Parts(Parts),
    Random(Random),
}

/// Parts of a pattern that is repeated up to a size.
#[derive(Clone, Debug)]
struct Parts {
    pattern: Pattern,
    source_bytes: u64,
    /// Parts begin at multiples of this.
    step_bytes: u64,
}

/// Random bytes, with shares of something else.
#[derive(Clone, Debug)]
struct Random {
    /// Share of the bytes that are random, in millionths.
    incompressible_ppm: usize,
    /// 0 is the whole block.
    chunk_bytes: usize,
    /// What compressible parts hold instead of zeros.
    fixed: Option<Pattern>,
    duplicates: Duplicates,
}

#[derive(Clone, Debug)]
enum Duplicates {
    None,
    /// Drawn for each write.
    Drawn(Dedupe),
    /// By place.
    Sets(Grouping),
}

/// All bytes.
const ALL_PPM: usize = 1_000_000;

#[derive(Clone, Debug)]
struct Dedupe {
    pct: u8,
    block_bytes: usize,
    seed: u64,
    /// Seed and number of the blocks in the working set; without, a duplicate repeats the block
    /// before it.
    working_set: Option<(u64, u64)>,
}

impl Contents {
    /// Builds the contents that the settings ask for.
    ///
    /// Zeros come first (also as 100 % compressible), then compressible and duplicate blocks, then
    /// the pattern, then random bytes.
    ///
    /// # Panics
    /// If a percentage is above 100, a ratio below 1, or a unit of what repeats has no bytes.
    pub fn from_buffers(buffers: &Buffers, spec: ContentsSpec) -> Self {
        let compress_pct = buffers.compress_pct.map(usize::from);
        if let Some(pct) = compress_pct {
            assert!(pct <= 100, "{pct} % of the bytes compress away");
        }
        let compress_pct = compress_pct.filter(|_| buffers.compress_ratio.is_none());
        let by_ratio = buffers.compress_ratio.is_some() || buffers.dedupe_sets.is_some();
        let pattern = Pattern::new(&buffers.pattern, 0).filter(|_| !by_ratio);
        let has_offset = buffers.pattern.contains(&PatternPart::Offset);
        let is_mixed = compress_pct.is_some() || buffers.dedupe_pct > 0 || by_ratio;
        let (fill, is_refilled, is_scrambled) = match pattern {
            _ if buffers.zero || compress_pct == Some(100) => (Fill::Zero, false, false),
            Some(pattern) if !is_mixed => match buffers.pattern_source_bytes {
                0 => (Fill::Pattern(pattern), has_offset, false),
                source_bytes => {
                    let step_bytes = if spec.is_direct { SECTOR_BYTES } else { 1 };
                    (Fill::Parts(Parts { pattern, source_bytes, step_bytes }), true, false)
                }
            },
            fixed => {
                let ratio_ppm = buffers.compress_ratio.map(random_ppm);
                let random = Random {
                    incompressible_ppm: ratio_ppm
                        .unwrap_or(ALL_PPM - compress_pct.unwrap_or(0) * ALL_PPM / 100),
                    chunk_bytes: match ratio_ppm {
                        Some(_) => RATIO_CHUNK_BYTES,
                        None => buffers.compress_chunk_bytes as usize,
                    },
                    fixed,
                    duplicates: Duplicates::from_buffers(buffers, spec),
                };
                (Fill::Random(random), is_mixed, buffers.scramble)
            }
        };
        let refresh = match buffers.refill {
            _ if matches!(fill, Fill::Zero) => Refresh::Never,
            Some(true) => Refresh::Fill,
            None if is_refilled => Refresh::Fill,
            _ if is_scrambled => Refresh::Scramble,
            _ => Refresh::Never,
        };
        Contents { fill, refresh, seed: spec.worker_seed }
    }

    /// Returns what each write needs.
    #[inline]
    pub fn refresh(&self) -> Refresh {
        self.refresh
    }

    /// Fills the buffer of a write at `offset_bytes`, the worker's `generation`-th.
    ///
    /// Before the run, when no offset is known, give each buffer its own number as offset.
    pub fn fill(&self, buf: &mut [u8], offset_bytes: u64, generation: u64) {
        match &self.fill {
            Fill::Zero => buf.fill(0),
            Fill::Pattern(pattern) => pattern.fill(buf, offset_bytes),
            Fill::Parts(parts) => parts.fill(buf, self.write_seed(offset_bytes, generation)),
            Fill::Random(random) => match &random.duplicates {
                Duplicates::None => {
                    random.fill(buf, self.write_seed(offset_bytes, generation), offset_bytes);
                }
                Duplicates::Sets(sets) => sets.fill(buf, offset_bytes, |part, block| {
                    random.fill(block, sets.block_seed(self.seed, part, generation), offset_bytes);
                }),
                Duplicates::Drawn(dedupe) => {
                    for (block_idx, block) in buf.chunks_mut(dedupe.block_bytes).enumerate() {
                        let seed = dedupe.block_seed(self.seed, generation, block_idx as u64);
                        random.fill(block, seed, offset_bytes);
                    }
                }
            },
        }
    }

    fn write_seed(&self, offset_bytes: u64, generation: u64) -> u64 {
        let seed = derive(self.seed, Stream::Contents, offset_bytes);
        derive(seed, Stream::Contents, generation)
    }

    /// Changes a few bytes in each 512 bytes, so that no two writes are equal.
    ///
    /// The bytes changed and their new values depend on the seed, the offset and the generation.
    pub fn scramble(&self, buf: &mut [u8], offset_bytes: u64, generation: u64) {
        let seed = derive(self.seed, Stream::Contents, offset_bytes ^ generation.rotate_left(32));
        for (chunk_idx, chunk) in buf.chunks_mut(SCRAMBLE_EVERY_BYTES).enumerate() {
            let value = mix64(seed.wrapping_add(chunk_idx as u64));
            let n_places = (chunk.len() / SCRAMBLE_BYTES).max(1);
            let at = (value >> 32) as usize % n_places * SCRAMBLE_BYTES;
            for (byte, new) in chunk[at..].iter_mut().zip(value.to_le_bytes()) {
                *byte = new;
            }
        }
    }
}

impl Parts {
    /// Fills a block from a place that the seed draws; from the start if it is no shorter than all.
    fn fill(&self, block: &mut [u8], seed: u64) {
        let n_places = self.source_bytes.saturating_sub(block.len() as u64).saturating_add(1);
        let place = mix64(seed) % n_places / self.step_bytes * self.step_bytes;
        self.pattern.fill_from(block, place);
    }
}

impl Random {
    fn fill(&self, block: &mut [u8], seed: u64, offset_bytes: u64) {
        if self.incompressible_ppm == ALL_PPM {
            fill_random(seed, block);
            return;
        }
        let chunk_bytes = if self.chunk_bytes == 0 { block.len() } else { self.chunk_bytes };
        for (chunk_idx, chunk) in block.chunks_mut(chunk_bytes.max(1)).enumerate() {
            let n_random = chunk.len() * self.incompressible_ppm / ALL_PPM;
            let (random, rest) = chunk.split_at_mut(n_random);
            fill_random(mix64(seed.wrapping_add(chunk_idx as u64)), random);
            match &self.fixed {
                Some(pattern) => pattern.fill(rest, offset_bytes),
                None => rest.fill(0),
            }
        }
    }
}

/// Returns the share of random bytes, in millionths, of data that compresses so many times.
///
/// The rest of each chunk is zeros, which cost common programs little. What they do cost, and what
/// telling the two apart costs, is taken off. Measured on 4 MiB: gzip and lz4 come within 1 % of
/// ratios up to 16 and within 3 % of 25, zstd within 2 % up to 4 and within 13 % of 25.
fn random_ppm(ratio: f64) -> usize {
    /// Of a chunk: what gzip (16) and lz4 (19) spend on one; zstd spends 2.
    const OVERHEAD_BYTES: f64 = 20.0;
    let chunk_bytes = RATIO_CHUNK_BYTES as f64;
    assert!(ratio >= 1.0, "data that compress to 1/{ratio}");
    if ratio <= 1.0 {
        return ALL_PPM;
    }
    let random_bytes = (chunk_bytes / ratio - OVERHEAD_BYTES).max(1.0);
    (random_bytes / chunk_bytes * ALL_PPM as f64).ceil() as usize
}

impl Duplicates {
    fn from_buffers(buffers: &Buffers, spec: ContentsSpec) -> Self {
        if let Some(sets) = &buffers.dedupe_sets {
            return Duplicates::Sets(Grouping::new(sets, spec));
        }
        Dedupe::from_buffers(buffers, spec).map_or(Duplicates::None, Duplicates::Drawn)
    }
}

impl Dedupe {
    fn from_buffers(buffers: &Buffers, spec: ContentsSpec) -> Option<Self> {
        let (pct, block_bytes) = (buffers.dedupe_pct, spec.block_bytes);
        assert!(pct <= 100, "{pct} % of the blocks are duplicates");
        if pct == 0 {
            return None;
        }
        assert!(block_bytes > 0, "duplicates of blocks of {block_bytes} B");
        let seed = derive(spec.worker_seed, Stream::Dedupe, 0);
        let working_set = match buffers.dedupe_mode {
            DedupeMode::Repeat => None,
            DedupeMode::WorkingSet { pct, global } => {
                assert!(pct <= 100, "{pct} % of the target are what duplicates repeat");
                let set_seed = if global { spec.job_seed } else { spec.worker_seed };
                let n_blocks = spec.region_bytes / 100 * u64::from(pct) / u64::from(block_bytes);
                Some((derive(set_seed, Stream::Dedupe, 1), n_blocks.max(1)))
            }
        };
        Some(Dedupe { pct, block_bytes: block_bytes as usize, seed, working_set })
    }

    /// Returns the seed of the contents of a write's `block_idx`-th block.
    fn block_seed(&self, seed: u64, generation: u64, block_idx: u64) -> u64 {
        let is_duplicate = |draw: u64| draw % 100 < u64::from(self.pct);
        let unique = |generation, block_idx| {
            derive(derive(seed, Stream::Contents, generation), Stream::Contents, block_idx)
        };
        let (mut generation, mut block_idx) = (generation, block_idx);
        let mut draw = self.draw(generation, block_idx);
        if let Some((set_seed, n_blocks)) = self.working_set {
            return if is_duplicate(draw) {
                derive(set_seed, Stream::Contents, mix64(draw) % n_blocks)
            } else {
                unique(generation, block_idx)
            };
        }
        if self.pct == 100 {
            return unique(0, 0);
        }
        // Walk back to the block that the chain of duplicates started with.
        for _ in 0..N_REPEATS_MAX {
            if !is_duplicate(draw) || (generation, block_idx) == (0, 0) {
                break;
            }
            // Before the first block of a write comes the first one of the write before.
            (generation, block_idx) = match block_idx.checked_sub(1) {
                Some(before) => (generation, before),
                None => (generation - 1, 0),
            };
            draw = self.draw(generation, block_idx);
        }
        unique(generation, block_idx)
    }

    fn draw(&self, generation: u64, block_idx: u64) -> u64 {
        mix64(mix64(self.seed.wrapping_add(generation)).wrapping_add(block_idx))
    }
}
