//! How many different bytes a step touched, computed from its plan where the plan determines it.
//!
//! What an even walk touches follows from its kind, its region and the bytes that were moved, and
//! nothing is noted per operation. A walk that visits each block once touches what it moved; `n`
//! independent draws of `b` bytes in a region of `L` leave `exp(-n b / L)` of it untouched. Workers
//! on the same region are joined as independent walks, or, where they go through it in order, as
//! one. Of uneven distributions, mixes of workloads and recorded operations the different blocks
//! are counted ([`Touched`]).

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plan::workload::{Distribution, Workload};
use plan::{Direction, EngineWork, Job};
use worker::{Meters, Touched};

use crate::bind::BoundWorker;

/// Regions that are looked at. A plan of more files has better tools for its size.
const REGIONS_MAX: usize = 1 << 18;

/// What a step may touch, and what it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// Different bytes that it may touch.
    pub(crate) addressed_bytes: Option<u64>,
    /// Different bytes that it touched.
    pub(crate) touched_bytes: Option<u64>,
}

/// A file's name and a part of it.
type Region<'a> = (&'a Path, u64, u64);

/// Workers on the same regions.
#[derive(Default)]
struct Group<'a> {
    len_bytes: u64,
    /// Share that random walks left untouched.
    untouched: f64,
    /// Most that a walk in order touched.
    in_order_bytes: u64,
    /// What workers counted.
    counted: Vec<&'a Touched>,
}

/// Returns the footprint of a step's workers, ramps included.
pub(crate) fn of_step<'a>(
    workers: impl Iterator<Item = (&'a BoundWorker, &'a Meters)> + Clone,
) -> Footprint {
    let n_regions: usize = workers.clone().map(|(bound, _)| bound.files.len()).sum();
    let has_no_tree = |(bound, _): (&BoundWorker, &Meters)| bound.job.tree.is_none();
    if n_regions == 0 || n_regions > REGIONS_MAX || !workers.clone().all(has_no_tree) {
        return Footprint::default();
    }
    let mut groups: BTreeMap<Vec<Region<'_>>, Option<Group<'_>>> = BTreeMap::new();
    for (bound, meters) in workers {
        let regions: Vec<Region<'_>> = bound.files.iter().map(region).collect();
        let len_bytes = regions.iter().map(|region| region.2).sum();
        let group = groups
            .entry(regions)
            .or_insert_with(|| Some(Group { len_bytes, untouched: 1.0, ..Group::default() }));
        let is_known = group.as_mut().is_some_and(|group| group.add(&bound.job, meters));
        if !is_known {
            *group = None;
        }
    }
    let addressed_bytes = united(groups.keys().flatten().copied());
    let touched: Option<u64> =
        groups.values().map(|group| group.as_ref().map(Group::touched_bytes)).sum();
    // Regions that overlap without being equal were counted twice.
    let touched_bytes = touched.map(|bytes| bytes.min(addressed_bytes));
    Footprint { addressed_bytes: Some(addressed_bytes), touched_bytes }
}

fn region(file: &crate::bind::BoundFile) -> Region<'_> {
    (file.path.as_path(), file.region.offset_bytes, file.region.len_bytes)
}

impl<'a> Group<'a> {
    /// Adds what a worker did. Returns false where its plan does not determine what it touched.
    fn add(&mut self, job: &Job, meters: &'a Meters) -> bool {
        let moved = Direction::ALL.iter().map(|dir| meters.dir(*dir).bytes_live.load(Relaxed));
        let moved: u64 = moved.sum();
        if let Some(touched) = meters.touched() {
            self.counted.push(touched);
            return true;
        }
        if !job.parts.is_empty() || !moves_bytes(job) || !job.workload.recordings.is_empty() {
            return moved == 0;
        }
        let share = (moved as f64 / self.len_bytes as f64).min(1.0);
        match walk(&job.workload) {
            Some(Walk::InOrder) => {
                self.in_order_bytes = self.in_order_bytes.max(moved.min(self.len_bytes));
            }
            Some(Walk::EachOnce) => self.untouched *= 1.0 - share,
            Some(Walk::Drawn) => self.untouched *= (-(moved as f64) / self.len_bytes as f64).exp(),
            None => return moved == 0,
        }
        true
    }

    fn touched_bytes(&self) -> u64 {
        let untouched = self.untouched * self.uncounted();
        let at_random = (self.len_bytes as f64 * (1.0 - untouched)).round() as u64;
        at_random.max(self.in_order_bytes).min(self.len_bytes)
    }

    /// Returns the share that those who counted left untouched. Counts of the same blocks are
    /// joined, others taken as independent.
    fn uncounted(&self) -> f64 {
        let mut sizes: Vec<u64> = self.counted.iter().map(|count| count.block_bytes()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let of_size = |block_bytes: u64| {
            let same = self.counted.iter().copied();
            let same = same.filter(move |count| count.block_bytes() == block_bytes);
            let bytes = Touched::n_blocks(same) * block_bytes as f64;
            1.0 - (bytes / self.len_bytes.max(1) as f64).min(1.0)
        };
        sizes.into_iter().map(of_size).product()
    }
}

/// Operations of recordings, and what they are counted in.
const RECORDED_LEN: u32 = 4096;

/// Makes a worker count what it touches, unless its plan determines that.
pub(crate) fn counting(meters: Arc<Meters>, bound: &BoundWorker) -> Arc<Meters> {
    let job = &bound.job;
    let is_recorded = !job.workload.recordings.is_empty();
    let is_by_walk = !is_recorded && job.parts.is_empty() && walk(&job.workload).is_some();
    if is_by_walk || job.tree.is_some() || !moves_bytes(job) {
        return meters;
    }
    let workloads = || job.parts.iter().map(|part| &part.workload);
    let lens: Vec<(u32, u32)> = match (is_recorded, job.parts.is_empty()) {
        (true, _) => vec![(RECORDED_LEN, RECORDED_LEN)],
        (_, true) => vec![lens(&job.workload)],
        (_, false) => workloads().map(lens).collect(),
    };
    let len_min = lens.iter().map(|it| it.0).min().unwrap_or(RECORDED_LEN);
    let len_max = lens.iter().map(|it| it.1).max().unwrap_or(RECORDED_LEN);
    let keys: Vec<u64> = bound.files.iter().map(|file| key(&file.path)).collect();
    meters.counting(Touched::new(&keys, len_min, len_max))
}

/// Returns the shortest distance of two blocks, and the longest block.
fn lens(workload: &Workload) -> (u32, u32) {
    let dirs = || workload.access.issued();
    let align = |dir| workload.block_align[dir].unwrap_or(u32::MAX);
    let shortest = dirs().map(|dir| workload.block_size[dir].min().min(align(dir)));
    let longest = dirs().map(|dir| workload.block_size[dir].max());
    (shortest.min().unwrap_or(RECORDED_LEN), longest.max().unwrap_or(RECORDED_LEN))
}

/// Returns a key that distinguishes a file from others.
fn key(path: &Path) -> u64 {
    units::fnv1a(path.as_os_str().as_bytes().iter().copied())
}

/// How a workload goes through its region.
enum Walk {
    /// From the start on, and again.
    InOrder,
    /// At random, each block once per pass.
    EachOnce,
    /// At random, each time anew.
    Drawn,
}

/// Returns how a workload walks; `None` for what favours some of its blocks, or leaves some out.
fn walk(workload: &Workload) -> Option<Walk> {
    let access = workload.access;
    if workload.strided.is_some() || workload.sequential_step_bytes != 0 {
        return None;
    }
    if !access.random {
        return Some(Walk::InOrder);
    }
    let is_even = |dir| matches!(workload.distribution[dir], Distribution::Uniform);
    let is_whole = |dir| workload.random_pct[dir] >= 100.0;
    let mut dirs = access.issued();
    if workload.skip_bytes.is_some() || !dirs.all(|dir| is_even(dir) && is_whole(dir)) {
        return None;
    }
    Some(if workload.no_repeats { Walk::EachOnce } else { Walk::Drawn })
}

/// Returns whether a job visits a block again only after all of its region.
pub(crate) fn goes_in_passes(job: &Job) -> bool {
    let is_one = job.parts.is_empty() && job.workload.recordings.is_empty();
    is_one && matches!(walk(&job.workload), Some(Walk::InOrder | Walk::EachOnce))
}

/// Returns whether operations of a job move bytes of its files.
fn moves_bytes(job: &Job) -> bool {
    match job.engine.kind.traits().work {
        EngineWork::Nothing
        | EngineWork::Bytes
        | EngineWork::MappedBytes
        | EngineWork::ServerBytes => true,
        EngineWork::Space(_) | EngineWork::Names(_) => false,
    }
}

/// Returns how many bytes regions cover together.
fn united<'a>(regions: impl Iterator<Item = Region<'a>>) -> u64 {
    let mut regions: Vec<Region<'_>> = regions.collect();
    regions.sort_unstable();
    let mut total = 0;
    let mut last: Option<(&Path, u64)> = None;
    for (path, offset, len) in regions {
        let end = offset.saturating_add(len);
        let done = last.filter(|last| last.0 == path).map_or(0, |last| last.1);
        total += end.saturating_sub(offset.max(done));
        last = Some((path, end.max(done)));
    }
    total
}

#[cfg(test)]
mod tests;
