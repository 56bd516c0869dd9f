//! How many different bytes a step touched, by the arithmetic of its plan.
//!
//! Nothing is noted per operation: what a walk touches follows from its kind, its region and the
//! bytes that were moved. A walk that visits each block once touches what it moved; `n` independent
//! draws of `b` bytes in a region of `L` leave `exp(-n b / L)` of it untouched. Workers on the same
//! region are joined as independent walks, or, where they go through it in order, as one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use plan::workload::{Distribution, Workload};
use plan::{Direction, EngineKind, Job};
use worker::Meters;

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
struct Group {
    len_bytes: u64,
    /// Share that random walks left untouched.
    untouched: f64,
    /// Most that a walk in order touched.
    in_order_bytes: u64,
}

/// Tells the footprint of a step's workers, ramps included.
pub(crate) fn of_step<'a>(
    workers: impl Iterator<Item = (&'a BoundWorker, &'a Meters)> + Clone,
) -> Footprint {
    let n_regions: usize = workers.clone().map(|(bound, _)| bound.files.len()).sum();
    let is_told = |(bound, _): (&BoundWorker, &Meters)| bound.job.tree.is_none();
    if n_regions == 0 || n_regions > REGIONS_MAX || !workers.clone().all(is_told) {
        return Footprint::default();
    }
    let mut groups: BTreeMap<Vec<Region<'_>>, Option<Group>> = BTreeMap::new();
    for (bound, meters) in workers {
        let regions: Vec<Region<'_>> = bound.files.iter().map(region).collect();
        let len_bytes = regions.iter().map(|region| region.2).sum();
        let group = groups
            .entry(regions)
            .or_insert_with(|| Some(Group { len_bytes, untouched: 1.0, in_order_bytes: 0 }));
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

impl Group {
    /// Adds what a worker did. Returns false where its plan does not tell what it touched.
    fn add(&mut self, job: &Job, meters: &Meters) -> bool {
        let moved = Direction::ALL.iter().map(|dir| meters.dir(*dir).bytes_live.load(Relaxed));
        let moved: u64 = moved.sum();
        if !job.parts.is_empty() || !is_on_bytes(job) {
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
        let at_random = (self.len_bytes as f64 * (1.0 - self.untouched)).round() as u64;
        at_random.max(self.in_order_bytes).min(self.len_bytes)
    }
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

/// Says whether a job works on the bytes of its files.
fn is_on_bytes(job: &Job) -> bool {
    use EngineKind::{Fallocate, Ftruncate};
    let kind = job.engine.kind;
    job.workload.recordings.is_empty()
        && !kind.is_file_operation()
        && !matches!(kind, Fallocate | Ftruncate)
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
