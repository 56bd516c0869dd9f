//! Completions taken at most so many at a time: as the job says (`complete_max`, fio's
//! `iodepth_batch_complete_max`), or as many as the worker hands over at once.
//!
//! What an engine has ready beyond that is kept, and counts as in flight until its turn comes: its
//! latency includes the waiting, as in fio, which leaves it in the kernel's queue.

use std::collections::VecDeque;

use engine::{Engine, EngineError, Wait};
use plan::op::{Completion, Op};

/// Completions that wait for their turn.
pub(crate) struct Portions {
    /// What the engine returned last.
    fresh: Vec<Completion>,
    kept: VecDeque<Completion>,
}

impl Portions {
    /// Makes room for all that can be in flight.
    pub(crate) fn new(queue_depth: usize) -> Self {
        Portions {
            fresh: Vec::with_capacity(queue_depth),
            kept: VecDeque::with_capacity(queue_depth),
        }
    }

    /// Returns whether `min` completions wait for their turn, so that an exchange waits for
    /// nothing.
    #[inline]
    pub(crate) fn has(&self, min: u32) -> bool {
        self.kept.len() >= min as usize
    }

    /// Panics unless every completion has been handed out; for the end of the worker.
    pub(crate) fn must_be_empty(&self) {
        let n_kept = self.kept.len();
        assert!(n_kept == 0, "a worker ends while {n_kept} completions wait for their turn");
    }

    /// Does what [`Engine::exchange`] does into an empty `done`, but for returning at most `max`
    /// completions. None are taken with 0: more goes over first.
    #[inline]
    pub(crate) fn exchange(
        &mut self,
        engine: &mut dyn Engine,
        ops: &[Op],
        wait: Wait,
        max: u32,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        assert!(done.is_empty(), "what was returned before has been taken");
        if !self.kept.is_empty() {
            return self.exchange_some(engine, ops, wait, max, done);
        }
        engine.exchange(ops, Wait { min: wait.min.min(max), ..wait }, done)?;
        if done.len() > max as usize {
            self.keep_rest(max, done);
        }
        Ok(())
    }

    /// Keeps what is beyond a portion.
    #[inline(never)]
    fn keep_rest(&mut self, max: u32, done: &mut Vec<Completion>) {
        self.kept.extend(done.drain(max as usize..));
    }

    #[inline(never)]
    fn exchange_some(
        &mut self,
        engine: &mut dyn Engine,
        ops: &[Op],
        wait: Wait,
        max: u32,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        let n_kept = self.kept.len() as u32;
        let min = wait.min.min(max);
        let rest = if n_kept >= min { Wait::POLL } else { Wait { min: min - n_kept, ..wait } };
        if !ops.is_empty() || n_kept < max {
            engine.exchange(ops, rest, &mut self.fresh)?;
            self.kept.extend(self.fresh.drain(..));
        }
        let n_taken = self.kept.len().min(max as usize);
        done.extend(self.kept.drain(..n_taken));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use engine::{Arena, ArenaSpec, BuildOptions, FileTable, TablePolicy};
    use plan::op::{BufId, FileIdx, OpKind};
    use plan::{EngineKind, EngineSpec};

    use super::*;

    /// An engine that completes all at once.
    fn null(queue_depth: u32) -> Box<dyn Engine> {
        let spec = EngineSpec { kind: EngineKind::Null, ..EngineSpec::default() };
        let files = FileTable::new(Vec::new(), TablePolicy::default()).expect("no files");
        let arena = Arena::new(&ArenaSpec { n_buffers: queue_depth, ..ArenaSpec::default() });
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
        let mut portions = Portions::new(8);
        let mut ops = reads(0..8);
        let mut all = Vec::new();
        for _ in 0..n_calls {
            let mut done = Vec::new();
            let wait = Wait { min: 1, timeout_ns: None };
            portions
                .exchange(engine.as_mut(), &ops, wait, max, &mut done)
                .expect("nothing can fail");
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
        assert!(taken(0, 1)[0].is_empty());
        assert_eq!(taken(u32::MAX, 1)[0].len(), 8);
    }

    #[test]
    fn completions_are_all_taken_in_the_end() {
        let exchange = |ops: &[Op], done: &mut Vec<Completion>| {
            let mut portions = Portions::new(8);
            let exchanged = portions.exchange(null(8).as_mut(), ops, Wait::POLL, 1, done);
            exchanged.expect("nothing can fail");
            portions
        };
        exchange(&reads(0..1), &mut Vec::new()).must_be_empty();
        testing::check_wrong_calls(&[
            ("what was not taken", "what was returned before has been taken", &|| {
                drop(exchange(&[], &mut vec![Completion { slot: 0, result: 0 }]));
            }),
            ("an early end", "a worker ends while 7 completions wait", &|| {
                exchange(&reads(0..8), &mut Vec::new()).must_be_empty();
            }),
        ]);
    }

    #[test]
    fn what_was_kept_comes_before_what_follows() {
        let mut engine = null(8);
        let mut portions = Portions::new(8);
        let mut slots: Vec<u32> = Vec::new();
        for ops in [reads(0..6), reads(6..8)] {
            let (wait, mut done) = (Wait { min: 4, timeout_ns: None }, Vec::new());
            portions.exchange(engine.as_mut(), &ops, wait, 4, &mut done).expect("nothing can fail");
            slots.extend(done.iter().map(|completion| completion.slot));
        }
        assert_eq!(slots, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
