//! Completions taken at most so many at a time (`complete_max`, fio's
//! `iodepth_batch_complete_max`).
//!
//! What an engine has ready beyond that is kept, and counts as in flight until its turn comes: its
//! latency includes the waiting, as in fio, which leaves it in the kernel's queue.

use std::collections::VecDeque;

use engine::{Engine, EngineError, Wait};
use plan::op::{Completion, Op};

/// Completions that wait for their turn.
pub(crate) struct Portions {
    /// Taken at most in one go; `usize::MAX` where nothing is kept.
    max: usize,
    /// What the engine returned last.
    fresh: Vec<Completion>,
    kept: VecDeque<Completion>,
}

impl Portions {
    /// Makes room for all that can be in flight. `max` is at least 1.
    pub(crate) fn new(max: u32, queue_depth: usize) -> Self {
        let is_bounded = (max as usize) < queue_depth;
        let room = if is_bounded { queue_depth } else { 0 };
        Portions {
            max: if is_bounded { max as usize } else { usize::MAX },
            fresh: Vec::with_capacity(room),
            kept: VecDeque::with_capacity(room),
        }
    }

    /// Does what [`Engine::exchange`] does, but for returning at most `max` completions.
    #[inline]
    pub(crate) fn exchange(
        &mut self,
        engine: &mut dyn Engine,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        if self.max == usize::MAX {
            return engine.exchange(ops, wait, done);
        }
        self.exchange_some(engine, ops, wait, done)
    }

    #[inline(never)]
    fn exchange_some(
        &mut self,
        engine: &mut dyn Engine,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        let n_kept = self.kept.len() as u32;
        let min = wait.min.min(u32::try_from(self.max).unwrap_or(u32::MAX));
        let rest = if n_kept >= min { Wait::POLL } else { Wait { min: min - n_kept, ..wait } };
        if !ops.is_empty() || self.kept.len() < self.max {
            engine.exchange(ops, rest, &mut self.fresh)?;
            self.kept.extend(self.fresh.drain(..));
        }
        let n_taken = self.kept.len().min(self.max);
        done.extend(self.kept.drain(..n_taken));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use engine::{Arena, ArenaSpec, BuildOptions, FileTable, TablePolicy};
    use plan::job::{EngineKind, EngineSpec};
    use plan::op::{BufId, FileIdx, OpKind};

    use super::*;

    /// An engine that completes all at once.
    fn null(queue_depth: u32) -> Box<dyn Engine> {
        let spec = EngineSpec { kind: EngineKind::Null, ..EngineSpec::default() };
        let files = FileTable::new(Vec::new(), TablePolicy::default()).expect("no files");
        let arena = Arena::new(&ArenaSpec { n_buffers: 1, ..ArenaSpec::default() });
        let options = BuildOptions { queue_depth, ..BuildOptions::default() };
        engine::build(&spec, files, arena.expect("a buffer"), options).expect("the null engine")
    }

    fn reads(slots: std::ops::Range<u32>) -> Vec<Op> {
        let read = |slot| Op {
            offset: 0,
            len: 4096,
            file: FileIdx(0),
            slot,
            buf: BufId(0),
            buf_offset_bytes: 0,
            kind: OpKind::Read,
            priority: plan::IoPriority::NONE,
        };
        slots.map(read).collect()
    }

    /// Hands 8 operations over and then none; returns the slots that each call returned.
    fn taken(max: u32, n_calls: usize) -> Vec<Vec<u32>> {
        let mut engine = null(8);
        let mut portions = Portions::new(max, 8);
        let mut ops = reads(0..8);
        let mut all = Vec::new();
        for _ in 0..n_calls {
            let mut done = Vec::new();
            let wait = Wait { min: 1, timeout_ns: None };
            portions.exchange(engine.as_mut(), &ops, wait, &mut done).expect("nothing can fail");
            all.push(done.iter().map(|completion| completion.slot).collect());
            ops.clear();
        }
        all
    }

    #[test]
    fn no_more_than_the_job_takes_and_none_is_lost() {
        assert_eq!(taken(3, 4), [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7], vec![]]);
        assert_eq!(taken(1, 2), [vec![0], vec![1]]);
        assert_eq!(taken(8, 2), [vec![0, 1, 2, 3, 4, 5, 6, 7], vec![]]);
        assert_eq!(taken(u32::MAX, 1)[0].len(), 8);
    }

    #[test]
    fn what_was_kept_comes_before_what_follows() {
        let mut engine = null(8);
        let mut portions = Portions::new(4, 8);
        let mut done = Vec::new();
        for ops in [reads(0..6), reads(6..8)] {
            let wait = Wait { min: 4, timeout_ns: None };
            portions.exchange(engine.as_mut(), &ops, wait, &mut done).expect("nothing can fail");
        }
        let slots: Vec<u32> = done.iter().map(|completion| completion.slot).collect();
        assert_eq!(slots, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
