//! What stands in a verified block besides its headers: random bytes, or the verify pattern.

use crate::rng::{Stream, derive, mix64};
use plan::verify::PatternPart;

/// Patterns without `%o` are repeated up to this size once, so that blocks are filled and compared
/// in long runs. Picked as one page.
const TILE_BYTES: usize = 4096;

/// Bytes that `%o` stands for.
const OFFSET_BYTES: usize = 8;

/// Returns the seed of a write's contents: a function of the worker's seed and of the position of
/// the write among the worker's writes.
pub fn write_seed(worker_seed: u64, number_io: u64) -> u64 {
    derive(worker_seed, Stream::Contents, number_io)
}

/// Fills `buf` with bytes that depend on `seed` only and look random to compression.
///
/// A counter multiplied with itself, scrambled, to twice the width, the halves folded (the idea of
/// wyrand): words do not wait for each other (20 GB/s). Multiplying by a constant was rejected: it
/// spreads bytes more evenly than chance does.
pub fn fill_random(seed: u64, buf: &mut [u8]) {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let start = mix64(seed.wrapping_add(STEP));
    let scramble = mix64(start.wrapping_add(STEP));
    let word = |idx: usize| {
        let counter = start.wrapping_add((idx as u64).wrapping_mul(STEP));
        let wide = u128::from(counter) * u128::from(counter ^ scramble);
        (((wide >> 64) as u64) ^ wide as u64).to_le_bytes()
    };
    let (words, rest) = buf.as_chunks_mut::<8>();
    let n_words = words.len();
    for (idx, out) in words.iter_mut().enumerate() {
        *out = word(idx);
    }
    let len = rest.len();
    rest.copy_from_slice(&word(n_words)[..len]);
}

/// The first byte of a pattern that is not as expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PatternMiss {
    /// Position in the compared bytes.
    pub(crate) at: usize,
    /// What was read.
    pub(crate) got: u8,
    /// What was written.
    pub(crate) want: u8,
}

/// A verify pattern, ready to be written and compared without allocation.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The pattern with zeros for offsets; without offsets, repeated to a tile. An interval repeats
    /// every so many bytes.
    bytes: Vec<u8>,
    /// Length of one repetition.
    period: usize,
    /// Where offsets stand, ascending.
    offsets_at: Vec<usize>,
    /// Restarts every this many bytes of the block; `usize::MAX` is never.
    interval: usize,
}

impl Pattern {
    /// Builds the pattern; `None` when it is empty.
    pub(crate) fn new(parts: &[PatternPart], interval_bytes: u32) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut offsets_at = Vec::new();
        for part in parts {
            match part {
                PatternPart::Bytes(part) => bytes.extend_from_slice(part),
                PatternPart::Offset => {
                    offsets_at.push(bytes.len());
                    bytes.extend_from_slice(&[0; OFFSET_BYTES]);
                }
            }
        }
        let period = bytes.len();
        if period == 0 {
            return None;
        }
        if offsets_at.is_empty() {
            bytes = bytes.repeat(TILE_BYTES.div_ceil(period));
        }
        let interval = match interval_bytes {
            0 => usize::MAX,
            interval => interval as usize,
        };
        Some(Pattern { bytes, period, offsets_at, interval })
    }

    /// Fills a whole block that lies at `offset` in its file.
    pub(crate) fn fill(&self, block: &mut [u8], offset: u64) {
        for (idx, part) in block.chunks_mut(self.interval).enumerate() {
            let start = idx.wrapping_mul(self.interval);
            let n_first = part.len().min(self.bytes.len());
            let (first, _) = part.split_at_mut(n_first);
            self.fill_runs(first, start, offset);
            // The rest repeats; each copy doubles what there is.
            let mut done = n_first;
            while done < part.len() {
                let n = done.min(part.len() - done);
                part.copy_within(..n, done);
                done += n;
            }
        }
    }

    /// Fills a block with what the pattern without offsets, over and over, has from a place on.
    pub(crate) fn fill_from(&self, block: &mut [u8], place: u64) {
        let n_first = block.len().min(self.bytes.len());
        let (first, rest) = block.split_at_mut(n_first);
        self.fill_runs(first, (place % self.period as u64) as usize, 0);
        // All that the pattern has, which is whole repetitions.
        for more in rest.chunks_mut(n_first.max(1)) {
            more.copy_from_slice(&first[..more.len()]);
        }
    }

    fn fill_runs(&self, part: &mut [u8], start: usize, offset: u64) {
        let mut done = 0;
        while done < part.len() {
            let mut field = [0; OFFSET_BYTES];
            let run = self.run(start + done, offset, &mut field);
            let n = run.len().min(part.len() - done);
            part[done..done + n].copy_from_slice(&run[..n]);
            done += n;
        }
    }

    /// Compares `part`, which lies at `start` within a block at `offset`.
    pub(crate) fn compare(
        &self,
        part: &[u8],
        start: usize,
        offset: u64,
    ) -> Result<(), PatternMiss> {
        let mut done = 0;
        while done < part.len() {
            let at = start + done;
            let n = (self.interval - at % self.interval).min(part.len() - done);
            let piece = &part[done..done + n];
            let n_first = n.min(self.bytes.len());
            let repeats = piece[n_first..] == piece[..n - n_first];
            let compared = if repeats { &piece[..n_first] } else { piece };
            self.compare_runs(compared, at, offset)
                .map_err(|miss| PatternMiss { at: done + miss.at, ..miss })?;
            done += n;
        }
        Ok(())
    }

    fn compare_runs(&self, part: &[u8], start: usize, offset: u64) -> Result<(), PatternMiss> {
        let mut done = 0;
        while done < part.len() {
            let mut field = [0; OFFSET_BYTES];
            let run = self.run(start + done, offset, &mut field);
            let n = run.len().min(part.len() - done);
            let (got, want) = (&part[done..done + n], &run[..n]);
            if got != want {
                let miss = got.iter().zip(want).enumerate().find(|(_, (got, want))| got != want);
                if let Some((idx, (&got, &want))) = miss {
                    return Err(PatternMiss { at: done + idx, got, want });
                }
            }
            done += n;
        }
        Ok(())
    }

    /// Returns the bytes from position `at` of the block on, at least one and as many as can be
    /// had in one piece; those of an offset are put into `field`.
    fn run<'a>(&'a self, at: usize, offset: u64, field: &'a mut [u8; OFFSET_BYTES]) -> &'a [u8] {
        let within = at % self.interval;
        let phase = within % self.period;
        let room = self.interval - within;
        // The first field that ends behind the position: the position lies in it or before it.
        let next = self.offsets_at.partition_point(|start| start + OFFSET_BYTES <= phase);
        let run = match self.offsets_at.get(next) {
            Some(&start) if start <= phase => {
                *field = offset.wrapping_add((at - within) as u64).to_le_bytes();
                &field[phase - start..]
            }
            Some(&start) => &self.bytes[phase..start],
            None => &self.bytes[phase..],
        };
        &run[..run.len().min(room)]
    }
}
