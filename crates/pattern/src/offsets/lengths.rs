//! Independent draws of blocks that lie at multiples of their own lengths.

use plan::workload::{Distribution, Workload};
use plan::{Direction, PerDir};

use super::{Extent, Region, dirs, is_once, is_plain_random, random_size};
use crate::error::PatternError;
use crate::rng::{Rng, Stream};
use crate::sizes::Sizes;

/// The draws that the walk of every kind makes, number for number, without its divisions: how many
/// places there are for each length is known before the first draw.
#[derive(Clone, Debug)]
pub(super) struct ByLength {
    start_bytes: u64,
    places: PerDir<Places>,
    offset_rng: Rng,
}

/// The lengths of one direction; none where the workload does not issue it.
#[derive(Clone, Debug)]
struct Places {
    /// Equally likely: a length, and how many of it the region holds.
    slots: Box<[(u32, u64)]>,
    rng: Rng,
}

impl ByLength {
    /// Builds the walk of a workload that draws a length from few, and then any place for it.
    pub(super) fn new(
        workload: &Workload,
        region: Region,
        seed: u64,
    ) -> Result<Option<Self>, PatternError> {
        if !workload.aligned_to_length || !is_plain_random(workload) || is_once(workload) {
            return Ok(None);
        }
        let none = || Places { slots: Box::default(), rng: Rng::new(0) };
        let mut places = PerDir { read: none(), write: none(), trim: none() };
        for dir in dirs(workload) {
            let size = random_size(workload, dir);
            // Near the end of what is smaller than the largest block, lengths depend on the room.
            let is_even = workload.distribution[dir] == Distribution::Uniform
                && workload.random_pct[dir] >= 100.0
                && workload.block_align[dir].is_none()
                && region.len_bytes >= u64::from(size.max());
            let sizes = Sizes::new(size, workload.block_unaligned, seed, dir as u64)?;
            let Some((lengths, rng)) = is_even.then(|| sizes.into_slots()).flatten() else {
                return Ok(None);
            };
            let slot = |len: u32| (len, region.len_bytes / u64::from(len));
            places[dir] = Places { slots: lengths.into_iter().map(slot).collect(), rng };
        }
        let offset_rng = Rng::for_stream(seed, Stream::Offset, 0);
        Ok(Some(ByLength { start_bytes: region.start_bytes, places, offset_rng }))
    }

    #[inline]
    pub(super) fn next(&mut self, dir: Direction) -> Option<Extent> {
        let places = &mut self.places[dir];
        let slot = places.rng.bounded(places.slots.len() as u64) as usize;
        let &(len, n_places) = places.slots.get(slot)?;
        let place = self.offset_rng.bounded(n_places);
        Some(Extent { offset: self.start_bytes + place * u64::from(len), len })
    }
}
