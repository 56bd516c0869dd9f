//! Sizes of files: a function of the seed and the file's number.

use plan::tree::FileSizes;

use crate::rng::{Stream, derive};

/// 1 KiB; sizes below 100 KiB are multiples of it.
const KIB: u64 = 1024;

/// 1 MiB.
const MIB: u64 = 1024 * KIB;

/// The size of each file.
#[derive(Clone, Debug)]
pub(super) struct SizeOf {
    kind: Kind,
    seed: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Fixed(u64),
    /// Sizes, each with the upper end of its share of all 64-bit numbers.
    Split(Vec<(u64, u64)>),
    Average(u64),
}

impl SizeOf {
    pub(super) fn new(sizes: &FileSizes, seed: u64) -> Self {
        let kind = match sizes {
            FileSizes::Fixed(bytes) => Kind::Fixed(*bytes),
            FileSizes::Average(bytes) => Kind::Average(*bytes),
            FileSizes::Split(parts) => {
                let total: f64 = parts.iter().map(|part| part.1.max(0.0)).sum();
                let mut shares = 0.0;
                let mut ends = Vec::with_capacity(parts.len());
                for (bytes, share) in parts.iter().filter(|part| part.1 > 0.0) {
                    shares += share / total;
                    // Saturates at the last one.
                    ends.push((*bytes, (shares * 2.0_f64.powi(64)) as u64));
                }
                if let Some(last) = ends.last_mut() {
                    last.1 = u64::MAX;
                }
                Kind::Split(ends)
            }
        };
        SizeOf { kind, seed }
    }

    /// Returns the size if all are the same.
    pub(super) fn fixed(&self) -> Option<u64> {
        match self.kind {
            Kind::Fixed(bytes) => Some(bytes),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn of(&self, file: u32) -> u64 {
        match &self.kind {
            Kind::Fixed(bytes) => *bytes,
            Kind::Split(ends) => {
                let draw = self.draw(file);
                ends.iter().find(|part| draw <= part.1).map_or(0, |part| part.0)
            }
            Kind::Average(mean) => {
                let span = u128::from(*mean) * 2 + 1;
                let bytes = ((u128::from(self.draw(file)) * span) >> 64) as u64;
                rounded(bytes)
            }
        }
    }

    fn draw(&self, file: u32) -> u64 {
        derive(self.seed, Stream::Size, u64::from(file))
    }
}

/// Rounds to the multiples that Vdbench uses; never to nothing.
fn rounded(bytes: u64) -> u64 {
    let unit = match bytes {
        _ if bytes > 10 * MIB => MIB,
        _ if bytes > MIB => 100 * KIB,
        _ if bytes > 100 * KIB => 10 * KIB,
        _ => KIB,
    };
    ((bytes + unit / 2) / unit * unit).max(KIB)
}
