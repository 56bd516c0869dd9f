//! Which I/Os carry a priority of their own.

use pattern::rng::{Rng, Stream};
use plan::op::Op;
use plan::{Direction, IoPriority, Job, PriorityShare};

/// Chooses the priority of each I/O of a worker.
///
/// Every data operation takes one number from its own stream, in the order of issue and whatever
/// the shares are: the choice for operation k follows from the seed, the worker and k alone.
#[derive(Debug)]
pub(crate) struct Raising {
    shares: [Vec<PriorityShare>; 3],
    rng: Rng,
}

impl Raising {
    /// Returns what raises the priorities of a job; `None` where all I/Os have the job's own.
    pub(crate) fn new(job: &Job, seed: u64) -> Option<Self> {
        let shares = Direction::ALL.map(|dir| job.priority_shares(dir));
        let raises = shares.iter().any(|shares| !shares.is_empty());
        raises.then(|| Raising { shares, rng: Rng::for_stream(seed, Stream::Priority, 0) })
    }

    /// Chooses the priority of the next data operation.
    pub(crate) fn choose(&mut self, dir: Direction, len: u32) -> IoPriority {
        let mut drawn = self.rng.bounded(100);
        for share in &self.shares[dir as usize] {
            if share.block_bytes.is_some_and(|block_bytes| block_bytes != len) {
                continue;
            }
            let pct = u64::from(share.pct);
            if drawn < pct {
                return share.priority;
            }
            drawn -= pct;
        }
        IoPriority::NONE
    }

    /// Gives the operations of a batch their priorities. Rests of short transfers keep theirs.
    pub(crate) fn raise(&mut self, ops: &mut [Op], mut note: impl FnMut(u32, IoPriority)) {
        for op in ops.iter_mut().filter(|op| op.buf_offset_bytes == 0) {
            if let Some(dir) = op.kind.direction() {
                op.priority = self.choose(dir, op.len);
                note(op.slot, op.priority);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::{Direction, EngineKind, IoPriority, Job, PerDir, PriorityShare};

    use super::Raising;

    const BLOCK: u32 = 4096;

    fn job(change: impl FnOnce(&mut Job)) -> Job {
        let mut job = Job::default();
        job.engine.kind = EngineKind::Aio;
        job.workload.access.write = true;
        change(&mut job);
        job
    }

    /// Returns how many of 100,000 operations of each size get each priority, in thousandths.
    fn shares(job: &Job, dir: Direction, len: u32) -> Vec<(u16, u32)> {
        let mut raising = Raising::new(job, 7).expect("the job raises priorities");
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..100_000 {
            *counts.entry(raising.choose(dir, len).bits()).or_insert(0_u32) += 1;
        }
        counts.into_iter().map(|(bits, n)| (bits, (n + 50) / 100)).collect()
    }

    /// The draws of a seed are fixed, so the bound of 1 % is never crossed by chance.
    #[track_caller]
    fn check(job: &Job, dir: Direction, len: u32, expected: &[(u16, u32)]) {
        let found = shares(job, dir, len);
        let names: Vec<u16> = found.iter().map(|(bits, _)| *bits).collect();
        assert_eq!(names, expected.iter().map(|(bits, _)| *bits).collect::<Vec<_>>());
        for ((_, found), (_, expected)) in found.iter().zip(expected) {
            assert!(found.abs_diff(*expected) <= 10, "{found} of 1000, not {expected}");
        }
    }

    #[test]
    fn shares_are_those_asked_for() {
        let half = job(|job| job.engine.priority_pct = PerDir { read: 50, write: 0, trim: 50 });
        check(&half, Direction::Read, BLOCK, &[(0, 500), (0x2000, 500)]);
        check(&half, Direction::Write, BLOCK, &[(0, 1000)]);
        check(&half, Direction::Trim, BLOCK, &[(0, 1000)]);
        let all = job(|job| {
            job.engine.priority_pct = PerDir::all(100);
            job.engine.priority_class = PerDir { read: 2, write: 3, trim: 0 };
            job.engine.priority_level = PerDir { read: 4, write: 0, trim: 0 };
            job.engine.priority_hint.write = 1;
        });
        check(&all, Direction::Read, BLOCK, &[(0x4004, 1000)]);
        check(&all, Direction::Write, BLOCK, &[(0x6008, 1000)]);
    }

    #[test]
    fn shares_may_differ_by_block_size() {
        let split = job(|job| {
            job.engine.priority_level.read = 5;
            let share = |block_bytes, pct, priority| PriorityShare {
                block_bytes: Some(block_bytes),
                pct,
                priority,
            };
            job.engine.priority_split.read = vec![
                share(BLOCK, 25, IoPriority::new(1, 1, 0)),
                share(8192, 10, IoPriority::NONE),
                share(BLOCK, 60, IoPriority::new(3, 2, 0)),
            ];
        });
        check(&split, Direction::Read, BLOCK, &[(0, 150), (0x2001, 250), (0x6002, 600)]);
        check(&split, Direction::Read, 8192, &[(0, 900), (0x2005, 100)]);
        check(&split, Direction::Read, 512, &[(0, 1000)]);
        check(&split, Direction::Write, BLOCK, &[(0, 1000)]);
    }

    #[test]
    fn nothing_is_raised_where_it_is_not_asked_for_or_the_engine_cannot() {
        let none = |change: fn(&mut Job)| assert!(Raising::new(&job(change), 7).is_none());
        none(|_| {});
        none(|job| job.engine.priority_level.read = 3);
        none(|job| job.engine.priority_pct.trim = 50);
        none(|job| {
            job.workload.access.write = false;
            job.engine.priority_pct.write = 50;
        });
        none(|job| {
            job.engine.priority_pct = PerDir::all(50);
            job.engine.kind = EngineKind::Sync;
        });
    }
}
