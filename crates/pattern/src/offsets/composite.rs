//! Several walks over parts of one region: a hit area and the rest, or streams.

use std::sync::Arc;

use plan::workload::{HitArea, Workload};
use plan::{Direction, PerDir};

use super::{Cursor, Extent, Offsets, Region, largest_block};
use crate::error::PatternError;
use crate::rng::{Chance, Rng, Stream, derive};

/// See the module.
#[derive(Clone, Debug)]
pub(super) enum Composite {
    Hits(Box<Hits>),
    Streams(Streams),
}

/// A hit area and what is behind it.
#[derive(Clone, Debug)]
pub(super) struct Hits {
    hot: Offsets,
    rest: Offsets,
    /// How often I/O goes to the hit area.
    hit_chance: PerDir<Chance>,
    rng: Rng,
}

/// Sequential walks in equal parts of a region, served in turn.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    walks: Box<[Offsets]>,
    next_idx: usize,
    /// A stream is done at the end of its part, and does not start over.
    ends: bool,
}

impl Composite {
    /// Builds the walks; `None` for a workload that is one walk. `seed` is the file's own.
    pub(super) fn new(
        workload: &Workload,
        region: Region,
        seed: u64,
    ) -> Result<Option<Self>, PatternError> {
        if let Some(area) = workload.hit_area {
            return Hits::new(workload, area, region, seed)
                .map(|it| Some(Composite::Hits(Box::new(it))));
        }
        if workload.n_streams > 1 && !workload.access.random {
            let streams = Streams::new(workload, region, seed)?;
            return Ok(Some(Composite::Streams(streams)));
        }
        Ok(None)
    }

    /// Returns where the next I/O goes; `None` where the walk behind the hit area ends, or all
    /// streams do.
    pub(super) fn next(&mut self, dir: Direction) -> Option<Extent> {
        match self {
            Composite::Hits(walk) => walk.next(dir),
            Composite::Streams(walk) => walk.next(dir),
        }
    }

    /// Starts over what has ended.
    pub(super) fn restart(&mut self, dir: Direction) {
        match self {
            Composite::Hits(walk) => walk.rest.restart(dir),
            Composite::Streams(walk) => walk.walks.iter_mut().for_each(|it| it.restart(dir)),
        }
    }

    /// Starts a new pass of every walk.
    pub(super) fn next_pass(&mut self) {
        match self {
            Composite::Hits(walk) => {
                walk.hot.next_pass();
                walk.rest.next_pass();
            }
            Composite::Streams(walk) => {
                walk.next_idx = 0;
                walk.walks.iter_mut().for_each(Offsets::next_pass);
            }
        }
    }

    /// See [`Offsets::share`].
    pub(super) fn share(&mut self, cursor: &mut dyn FnMut(u64) -> Arc<Cursor>) -> bool {
        match self {
            Composite::Hits(walk) => {
                let is_hot_shared = walk.hot.share(cursor);
                walk.rest.share(cursor) || is_hot_shared
            }
            Composite::Streams(walk) => {
                walk.walks.iter_mut().map(|stream| stream.share(cursor)).filter(|it| *it).count()
                    > 0
            }
        }
    }

    pub(super) fn map_bytes(&self) -> u64 {
        match self {
            Composite::Hits(walk) => walk.hot.map_bytes() + walk.rest.map_bytes(),
            Composite::Streams(walk) => walk.walks.iter().map(Offsets::map_bytes).sum(),
        }
    }
}

impl Hits {
    fn new(
        workload: &Workload,
        area: HitArea,
        region: Region,
        seed: u64,
    ) -> Result<Self, PatternError> {
        let block_bytes = u64::from(largest_block(workload));
        let hit_bytes = area.len_bytes.min(region.len_bytes) / block_bytes * block_bytes;
        let hits = Region { len_bytes: hit_bytes, ..region };
        let misses = Region {
            start_bytes: region.start_bytes + hit_bytes,
            len_bytes: region.len_bytes - hit_bytes,
        };
        let workload = Workload { hit_area: None, ..workload.clone() };
        let one_stream = Workload { n_streams: 0, ends_with_region: false, ..workload.clone() };
        let (read, write) = (Chance::from_pct(area.read_pct), Chance::from_pct(area.write_pct));
        Ok(Hits {
            hot: Offsets::seeded(&one_stream, hits, derive(seed, Stream::Substream, u64::MAX))?,
            rest: Offsets::seeded(&workload, misses, seed)?,
            hit_chance: PerDir { read, write, trim: Chance::from_pct(0.0) },
            rng: Rng::for_stream(seed, Stream::Hit, 0),
        })
    }

    fn next(&mut self, dir: Direction) -> Option<Extent> {
        if !self.rng.chance(self.hit_chance[dir]) {
            return self.rest.next(dir);
        }
        self.hot.next(dir).or_else(|| {
            self.hot.restart(dir);
            self.hot.next(dir)
        })
    }
}

impl Streams {
    fn new(workload: &Workload, region: Region, seed: u64) -> Result<Self, PatternError> {
        let n_streams = u64::from(workload.n_streams);
        let block_bytes = u64::from(largest_block(workload));
        let len_bytes = region.len_bytes / n_streams / block_bytes * block_bytes;
        let workload = Workload { n_streams: 0, ..workload.clone() };
        let stream = |idx| {
            let start_bytes = region.start_bytes + idx * len_bytes;
            let seed = derive(seed, Stream::Substream, idx);
            Offsets::seeded(&workload, Region { start_bytes, len_bytes }, seed)
        };
        let walks = (0..n_streams).map(stream).collect::<Result<_, _>>()?;
        Ok(Streams { walks, next_idx: 0, ends: workload.ends_with_region })
    }

    fn next(&mut self, dir: Direction) -> Option<Extent> {
        let n_streams = self.walks.len();
        for _ in 0..n_streams {
            let stream = &mut self.walks[self.next_idx];
            self.next_idx = (self.next_idx + 1) % n_streams;
            if let Some(extent) = stream.next(dir) {
                return Some(extent);
            }
            if !self.ends {
                stream.restart(dir);
                return stream.next(dir);
            }
        }
        None
    }
}
