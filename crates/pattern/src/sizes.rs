//! Bytes per I/O.

use plan::workload::BlockSize;

use crate::error::PatternError;
use crate::rng::{Rng, Stream};

/// Draws before a split falls back to its smallest size, when only that may fit.
///
/// Only the last blocks of a region come near it. A part with a share of 1 % is missed once in 4
/// million such draws.
const N_TRIES: u32 = 1_500;

/// Slots of [`Sizes::into_slots`]: 12 KiB a direction, which stays in a core's nearest cache.
const N_SLOTS_MAX: u32 = 1_000;

/// The block sizes of one direction.
#[derive(Clone, Debug)]
pub struct Sizes {
    rule: LengthRule,
    min_bytes: u32,
    max_bytes: u32,
    rng: Rng,
}

#[derive(Clone, Debug)]
enum LengthRule {
    Fixed,
    /// Multiples of the smallest size.
    Multiples,
    /// Any number of bytes.
    Unaligned,
    /// One entry per percent (more exactly: per unit of the shares' sum).
    Split(Box<[u32]>),
    /// Sizes with the sum of their weights and of those before.
    Weighted(Box<[(u32, u64)]>),
    /// The smallest and multiples of this distance above it.
    Stepped(u32),
}

impl LengthRule {
    fn weighted(parts: &[(u32, u32)]) -> Self {
        let mut sum = 0;
        let weighted = parts.iter().filter(|part| part.1 > 0).map(|&(bytes, weight)| {
            sum += u64::from(weight);
            (bytes, sum)
        });
        LengthRule::Weighted(weighted.collect())
    }
}

impl Sizes {
    /// Builds the sizes of one direction. `unaligned` lets a range take any number of bytes.
    ///
    /// `idx` tells apart the directions and files of a worker, so that each has its own sequence.
    pub fn new(
        size: &BlockSize,
        unaligned: bool,
        seed: u64,
        idx: u64,
    ) -> Result<Self, PatternError> {
        let (min_bytes, max_bytes) = (size.min(), size.max());
        let rule = match size {
            BlockSize::Range { min, max } if min == max => LengthRule::Fixed,
            BlockSize::Range { .. } if unaligned => LengthRule::Unaligned,
            BlockSize::Range { .. } => LengthRule::Multiples,
            BlockSize::Fixed(_) => LengthRule::Fixed,
            BlockSize::Split(parts) => LengthRule::Split(
                parts
                    .iter()
                    .flat_map(|&(bytes, share)| std::iter::repeat_n(bytes, usize::from(share)))
                    .collect(),
            ),
            BlockSize::Weighted(parts) => LengthRule::weighted(parts),
            BlockSize::Stepped { step, .. } => LengthRule::Stepped(*step),
        };
        let is_empty = match &rule {
            LengthRule::Split(slots) => slots.is_empty(),
            LengthRule::Weighted(parts) => parts.is_empty(),
            LengthRule::Stepped(step) => *step == 0,
            LengthRule::Fixed | LengthRule::Multiples | LengthRule::Unaligned => false,
        };
        if min_bytes == 0 || min_bytes > max_bytes || is_empty {
            return Err(PatternError::BlockSize { min_bytes, max_bytes });
        }
        Ok(Sizes { rule, min_bytes, max_bytes, rng: Rng::for_stream(seed, Stream::Size, idx) })
    }

    /// Returns the smallest size, in bytes.
    #[inline]
    pub fn min_bytes(&self) -> u32 {
        self.min_bytes
    }

    /// Returns the largest size, in bytes.
    #[inline]
    pub fn max_bytes(&self) -> u32 {
        self.max_bytes
    }

    /// Returns the size if all are the same.
    #[inline]
    pub fn fixed(&self) -> Option<u32> {
        matches!(self.rule, LengthRule::Fixed).then_some(self.min_bytes)
    }

    /// Returns the sizes as slots, each as likely as any other, and their random numbers: where all
    /// sizes fit, [`Sizes::next`] draws one number below the slots' count and takes that slot.
    /// `None` where there would be more than a thousand.
    pub(crate) fn into_slots(self) -> Option<(Vec<u32>, Rng)> {
        let slots: Vec<u32> = match &self.rule {
            LengthRule::Split(slots) => slots.to_vec(),
            LengthRule::Stepped(step) if (self.max_bytes - self.min_bytes) / step < N_SLOTS_MAX => {
                (self.min_bytes..=self.max_bytes).step_by(*step as usize).collect()
            }
            LengthRule::Fixed
            | LengthRule::Multiples
            | LengthRule::Unaligned
            | LengthRule::Weighted(_)
            | LengthRule::Stepped(_) => return None,
        };
        // One size draws nothing: see `next`.
        (self.min_bytes < self.max_bytes).then_some((slots, self.rng))
    }

    /// Draws the next size out of those that fit into `room_bytes`.
    ///
    /// When room is short, the sizes that fit keep their relative shares, as with fio. When not
    /// even the smallest fits, the room itself is returned.
    #[inline]
    pub fn next(&mut self, room_bytes: u64) -> u32 {
        let room_bytes = room_bytes.min(u64::from(self.max_bytes)) as u32;
        if room_bytes <= self.min_bytes {
            // Fixed sizes draw nothing, and most calls for them end here.
            return room_bytes;
        }
        match &self.rule {
            LengthRule::Fixed => self.min_bytes,
            LengthRule::Multiples => {
                let n_multiples = u64::from(room_bytes / self.min_bytes);
                self.min_bytes * (1 + self.rng.bounded(n_multiples) as u32)
            }
            LengthRule::Unaligned => {
                let n_sizes = u64::from(room_bytes - self.min_bytes) + 1;
                self.min_bytes + self.rng.bounded(n_sizes) as u32
            }
            LengthRule::Split(slots) => {
                for _ in 0..N_TRIES {
                    let bytes = slots[self.rng.bounded(slots.len() as u64) as usize];
                    if bytes <= room_bytes {
                        return bytes;
                    }
                }
                self.min_bytes
            }
            LengthRule::Weighted(parts) => {
                let sum = parts.last().map_or(1, |part| part.1);
                for _ in 0..N_TRIES {
                    let draw = self.rng.bounded(sum);
                    let bytes = parts.iter().find(|part| draw < part.1).map(|part| part.0);
                    if let Some(bytes) = bytes.filter(|bytes| *bytes <= room_bytes) {
                        return bytes;
                    }
                }
                self.min_bytes
            }
            LengthRule::Stepped(step) => {
                let n_steps = u64::from((room_bytes - self.min_bytes) / step) + 1;
                self.min_bytes + self.rng.bounded(n_steps) as u32 * step
            }
        }
    }
}
