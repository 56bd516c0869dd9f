//! Which operation comes next: direction, file, place and length.

mod joined;
mod parts;
pub(crate) mod replaying;

use std::sync::Arc;

use pattern::PatternError;
use pattern::files::FilePicker;
use pattern::mix::Mix;
use pattern::offsets::{Cursor, Extent, Offsets, Region};
use plan::job::Part;
use plan::load::Share;
use plan::op::OpKind;
use plan::workload::Workload;
use plan::{Direction, EngineWork};

use crate::chosen::{ChosenOp, UntimedOp};
use crate::series::{NO_SERIES, series_of};
use crate::spec::{FileRegion, WorkerSpec};
use joined::Joined;
use parts::Parts;
use replaying::Replaying;

/// How a source chooses several operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Of one file and in one direction: [`Source::take_batch`].
    Batches,
    /// Of parts without rates of their own, where no amount ends a pass: [`Source::take_turns`].
    Turns,
    /// One after another: [`Source::take_next`].
    OneByOne,
}

/// Most operations chosen at once: what engines take in one call.
pub(crate) const BATCH_MAX: usize = 32;

/// The sequence of operations of one worker, without their times.
#[derive(Debug)]
pub(crate) struct Source {
    mix: Mix,
    pending: Option<Direction>,
    files: Files,
    amount_bytes: u64,
    bytes_chosen: u64,
    n_ios_max: u64,
    n_chosen: u64,
    kinds: [OpKind; 3],
    /// Directions that the mix draws.
    issued: [bool; 3],
    /// Series of the operations of each direction.
    series: [u16; 3],
    /// The region ends a pass even if the amount is not reached: sequential I/O with steps, unless
    /// the job says how much or how long (fio `io_size`, `time_based`).
    ends_with_region: bool,
    /// The end of the region is the end of the work.
    ends_for_good: bool,
    /// The work is done for good.
    is_over: bool,
    /// Files done in this pass since an operation was last chosen: all done means a new pass.
    n_fruitless: usize,
    /// What [`Source::take_batch`] chose, and what it will choose next.
    batch: [Extent; BATCH_MAX],
    /// Where in `batch` what was chosen last begins.
    batch_first: usize,
    /// What is chosen next: from where on in `batch`, and until where.
    ahead: (usize, usize),
    batch_kind: OpKind,
    batch_series: u16,
    /// More may be chosen than is handed over now. Not of a walk that others do along: they go on
    /// behind what is chosen.
    looks_ahead: bool,
    /// Longest operation.
    len_max: u64,
    /// Which operations of the sequence are taken.
    share: Share,
    /// What [`Source::take_turns`] chose; empty for sources that it chooses nothing of.
    turns: Box<[UntimedOp]>,
}

#[derive(Debug)]
enum Files {
    /// One file: nothing to pick.
    One(Box<Offsets>),
    Many {
        offsets: Vec<Offsets>,
        picker: FilePicker,
    },
    /// Several files as one.
    Joined(Box<Joined>),
    /// Several workloads in turn.
    Parts(Box<Parts>),
    /// What was recorded.
    Replay(Replaying),
    /// One operation per file.
    Whole {
        n_files: u32,
        next_idx: u32,
    },
}

impl Source {
    pub(crate) fn new(spec: &WorkerSpec) -> Result<Self, PatternError> {
        let job = &spec.job;
        let workload = &job.workload;
        let is_amount_set = job.files.io_size.is_some();
        let ends_for_good = workload.ends_with_region && !workload.access.random;
        // Parts go round their regions each for itself, not all when the amount of one is done.
        let is_endless = !job.parts.is_empty() && job.limits.time_based || ends_for_good;
        let amount_bytes = if is_endless && !is_amount_set { u64::MAX } else { spec.amount_bytes };
        let n_ios_max = job.limits.n_ios_max.unwrap_or(u64::MAX);
        if let Some(part) = parts::alone(job) {
            let (files, seed) = parts::place(part, 0, spec);
            let source = Source::of_part(part, 0, spec, &files, seed)?;
            return Ok(Source { amount_bytes, n_ios_max, ..source }.with(job.load.share));
        }
        let n_files = spec.files.len() as u32;
        let files = if job.tree.is_some() {
            Files::Whole { n_files: 0, next_idx: 0 }
        } else if let Some(parts) = Parts::new(spec)? {
            Files::Parts(parts)
        } else if job.engine.kind.is_of_names() {
            Files::Whole { n_files, next_idx: 0 }
        } else if let Some(replaying) = Replaying::new(workload, spec.worker_idx, n_files)? {
            Files::Replay(replaying)
        } else {
            Files::of(workload, spec, &spec.files, spec.seed)?
        };
        let ends_with_region = !workload.access.random && !is_amount_set && !job.limits.time_based;
        let takes_turns = matches!(&files, Files::Parts(parts) if !parts.has_rates());
        let n_turns = if takes_turns && amount_bytes == u64::MAX { BATCH_MAX } else { 0 };
        let source = Source {
            turns: vec![UntimedOp::NONE; n_turns].into(),
            amount_bytes,
            n_ios_max,
            kinds: kinds(spec),
            series: Direction::ALL.map(|dir| series_of(0, dir)),
            ends_with_region: ends_with_region || ends_for_good,
            ..Source::endless(workload, files, spec.seed)
        };
        Ok(source.with(job.load.share))
    }

    /// Returns it with a part of its operations only.
    fn with(self, share: Share) -> Self {
        assert!(share.idx < share.n, "part {} of {} parts", share.idx, share.n);
        let mut source = Source { share, ..self };
        source.begin_part();
        source
    }

    /// Passes over what comes before its part. A pass in which the part has nothing is the last.
    fn begin_part(&mut self) {
        self.pass_over(self.share.idx);
        self.is_over |= self.share.idx > 0 && self.is_done();
    }

    /// Leaves out the next operations: others issue them. They count for the amount of a pass,
    /// which is that of all.
    #[inline(never)]
    fn pass_over(&mut self, n_ops: u32) {
        for _ in 0..n_ops {
            if self.is_done() {
                return;
            }
            let dir = self.direction();
            if self.choose(dir).is_none() {
                // The direction stays what was drawn.
                self.pending = Some(dir);
                return;
            }
        }
    }

    /// Makes the operations of one part, on what it uses of the files. They end only where the part
    /// says so.
    pub(crate) fn of_part(
        part: &Part,
        part_idx: u16,
        spec: &WorkerSpec,
        files: &[FileRegion],
        seed: u64,
    ) -> Result<Self, PatternError> {
        let files = Files::of(&part.workload, spec, files, seed)?;
        let series = Direction::ALL.map(|dir| series_of(part_idx, dir));
        Ok(Source { series, ..Source::endless(&part.workload, files, seed) })
    }

    /// Makes operations without a limit to their amount.
    fn endless(workload: &Workload, files: Files, seed: u64) -> Self {
        // A trim is followed by its write when it completes, not by the mix.
        let mut access = workload.access;
        if access.trim_then_write {
            access.write = false;
            access.trim_then_write = false;
        }
        let sizes = &workload.block_size;
        let len_max = sizes.read.max().max(sizes.write.max()).max(sizes.trim.max());
        let ends_for_good = workload.ends_with_region && !workload.access.random;
        Source {
            mix: Mix::new(access, workload.read_pct, seed),
            pending: None,
            files,
            amount_bytes: u64::MAX,
            bytes_chosen: 0,
            n_ios_max: u64::MAX,
            n_chosen: 0,
            kinds: [OpKind::Read, OpKind::Write, OpKind::Trim],
            issued: [access.read, access.write, access.trim],
            series: [NO_SERIES; 3],
            ends_with_region: ends_for_good,
            ends_for_good,
            is_over: false,
            n_fruitless: 0,
            batch: [Extent::default(); BATCH_MAX],
            batch_first: 0,
            ahead: (0, 0),
            batch_kind: OpKind::Read,
            batch_series: NO_SERIES,
            looks_ahead: true,
            len_max: u64::from(len_max.max(1)),
            share: Share::default(),
            turns: Box::default(),
        }
    }

    /// Returns whether the work is done for good: another pass would find none.
    pub(crate) fn is_over(&self) -> bool {
        match &self.files {
            Files::Parts(parts) => self.is_over || parts.is_over(),
            Files::One(_)
            | Files::Many { .. }
            | Files::Joined(_)
            | Files::Replay(_)
            | Files::Whole { .. } => self.is_over,
        }
    }

    pub(crate) fn n_files(&self) -> u32 {
        match &self.files {
            Files::One(_) => 1,
            Files::Many { offsets, .. } => offsets.len() as u32,
            Files::Joined(joined) => joined.n_files(),
            Files::Parts(parts) => parts.n_files(),
            Files::Whole { n_files, .. } => *n_files,
            Files::Replay(replaying) => replaying.n_files(),
        }
    }

    /// Returns whether operations are due at recorded times, or at those of rates of parts.
    pub(crate) fn is_timed(&self) -> bool {
        match &self.files {
            Files::Replay(replaying) => replaying.is_timed(),
            Files::Parts(parts) => parts.has_rates(),
            Files::One(_) | Files::Many { .. } | Files::Joined(_) | Files::Whole { .. } => false,
        }
    }

    /// Returns whether the next operation is of a part with a rate of its own.
    #[inline]
    pub(crate) fn is_by_own_rate(&self) -> bool {
        matches!(&self.files, Files::Parts(parts) if parts.is_by_own_rate())
    }

    /// Returns how many operations of parts with rates of their own are due at `at_ns`.
    pub(crate) fn backlog(&self, at_ns: u64) -> u64 {
        match &self.files {
            Files::Parts(parts) => parts.backlog(at_ns),
            Files::One(_)
            | Files::Many { .. }
            | Files::Joined(_)
            | Files::Replay(_)
            | Files::Whole { .. } => 0,
        }
    }

    /// Returns when the next operation of a part with a rate of its own is due.
    pub(crate) fn next_own_due_ns(&self) -> Option<u64> {
        match &self.files {
            Files::Parts(parts) => parts.next_due_ns(),
            Files::One(_)
            | Files::Many { .. }
            | Files::Joined(_)
            | Files::Replay(_)
            | Files::Whole { .. } => None,
        }
    }

    /// Returns when the next operation is due, if that was recorded or the part has a rate.
    #[inline]
    pub(crate) fn due_ns(&mut self, now_ns: u64) -> Option<u64> {
        match &mut self.files {
            Files::Replay(replaying) => replaying.due_ns(now_ns),
            Files::Parts(parts) => parts.due_ns(now_ns),
            Files::One(_) | Files::Many { .. } | Files::Joined(_) | Files::Whole { .. } => None,
        }
    }

    /// Takes the next operation if it is a recorded sync, which belongs to no direction.
    #[inline]
    pub(crate) fn take_sync(&mut self) -> Option<ChosenOp> {
        match &mut self.files {
            Files::Replay(replaying) => replaying.take_sync(),
            Files::One(_)
            | Files::Many { .. }
            | Files::Joined(_)
            | Files::Parts(_)
            | Files::Whole { .. } => None,
        }
    }

    /// Returns whether the pass has chosen all its I/O.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        match &self.files {
            Files::Whole { n_files, next_idx } => next_idx == n_files,
            Files::Replay(replaying) => replaying.is_done() || self.n_chosen >= self.n_ios_max,
            Files::One(_) | Files::Many { .. } | Files::Joined(_) | Files::Parts(_) => {
                self.bytes_chosen >= self.amount_bytes || self.n_chosen >= self.n_ios_max
            }
        }
    }

    /// Returns the direction of the next operation; the same one until it is taken.
    #[expect(clippy::inline_always, reason = "see `take`")]
    #[inline(always)]
    pub(crate) fn direction(&mut self) -> Direction {
        if let Some(dir) = self.pending {
            return dir;
        }
        let dir = match &mut self.files {
            Files::Replay(replaying) => replaying.direction(),
            Files::Parts(parts) => return parts.direction(),
            Files::One(_) | Files::Many { .. } | Files::Joined(_) | Files::Whole { .. } => {
                self.mix.next()
            }
        };
        self.pending = Some(dir);
        dir
    }

    /// Returns how several operations can be chosen at once.
    pub(crate) fn choice(&self) -> Choice {
        if self.share.n > 1 {
            return Choice::OneByOne;
        }
        match &self.files {
            Files::One(_) if self.mix.only().is_some() => Choice::Batches,
            Files::Parts(_) if !self.turns.is_empty() => Choice::Turns,
            Files::One(_)
            | Files::Many { .. }
            | Files::Joined(_)
            | Files::Parts(_)
            | Files::Replay(_)
            | Files::Whole { .. } => Choice::OneByOne,
        }
    }

    /// Chooses the next operation, of a source that is not timed. `None` where a pass ends: then
    /// nothing was chosen.
    #[inline]
    pub(crate) fn take_next(&mut self) -> Option<UntimedOp> {
        if self.is_done() {
            return None;
        }
        if let Files::Parts(parts) = &mut self.files
            && self.share.n == 1
        {
            let untimed = parts.take_next()?;
            return Some(self.count(untimed));
        }
        if matches!(self.files, Files::Whole { .. } | Files::Replay(_)) {
            return None;
        }
        let dir = self.direction();
        let untimed = self.take(dir);
        if untimed.is_none() {
            // The direction stays what was drawn.
            self.pending = Some(dir);
        }
        untimed
    }

    /// Chooses operations of a worker with one file and one direction, at most `n_max`. Returns how
    /// many, each of which [`Source::of_batch`] then gives once: none for any other worker, and
    /// none or fewer where a pass ends.
    #[inline]
    pub(crate) fn take_batch(&mut self, n_max: usize) -> usize {
        let n_max = n_max.min(BATCH_MAX);
        let mut n_ops = n_max;
        if self.ahead.1 - self.ahead.0 <= n_max {
            n_ops = self.choose_ahead(n_max);
        }
        let first = self.ahead.0;
        (self.batch_first, self.ahead.0) = (first, first + n_ops);
        self.n_chosen += n_ops as u64;
        self.pending = None;
        n_ops
    }

    /// Makes sure that the operation after the next `n_max` is known, if there are as many. Returns
    /// how many of the `n_max` there are.
    ///
    /// Several at once cost less, and the next one is known in time: see [`Source::peek`]. None
    /// beyond those that are chosen for certain, so that what is known needs no more questions.
    #[inline(never)]
    fn choose_ahead(&mut self, n_max: usize) -> usize {
        let (Files::One(offsets), Some(dir)) = (&mut self.files, self.mix.only()) else { return 0 };
        // Lengths may vary: as many as fit into the amount whatever they turn out to be.
        let n_by_bytes = self.amount_bytes.saturating_sub(self.bytes_chosen) / self.len_max;
        let n_left = self.n_ios_max.saturating_sub(self.n_chosen).min(n_by_bytes);
        let n_asked = n_left.min(n_max as u64) as usize;
        let (first, end) = self.ahead;
        if end - first <= n_asked {
            self.batch.copy_within(first..end, 0);
            let mut end = end - first;
            let n_known_max = if self.looks_ahead { BATCH_MAX } else { n_asked };
            let room = n_left.min(n_known_max as u64) as usize;
            if end < room {
                end += offsets.fill(dir, &mut self.batch[end..room]);
            }
            self.ahead = (0, end);
        }
        self.batch_kind = self.kinds[dir as usize];
        self.batch_series = self.series[dir as usize];
        n_asked.min(self.ahead.1 - self.ahead.0)
    }

    /// Chooses operations of parts in turn, at most `n_max`. Returns how many, which
    /// [`Source::of_turns`] then gives; fewer where the work ends.
    #[inline]
    pub(crate) fn take_turns(&mut self, n_max: usize) -> usize {
        let n_left = self.n_ios_max.saturating_sub(self.n_chosen);
        let n_ops = (n_max.min(self.turns.len()) as u64).min(n_left) as usize;
        let Files::Parts(parts) = &mut self.files else { return 0 };
        let n_taken = parts.take_turns(&mut self.turns[..n_ops]);
        self.n_chosen += n_taken as u64;
        n_taken
    }

    /// Returns an operation of those last chosen by [`Source::take_turns`].
    #[inline]
    pub(crate) fn of_turns(&self, idx: usize) -> UntimedOp {
        self.turns[idx]
    }

    /// Returns the place of the next operation in the one file, if it is known already.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u64> {
        let (first, end) = self.ahead;
        (first < end).then(|| self.batch[first].offset)
    }

    /// Returns whether the next operation is known already, and the one after it too.
    #[inline]
    pub(crate) fn knows_two(&self) -> bool {
        let (first, end) = self.ahead;
        end - first >= 2
    }

    /// Takes the next operation of those that are known already.
    #[inline]
    fn take_ahead(&mut self) -> Option<Extent> {
        let (first, end) = self.ahead;
        if first == end {
            return None;
        }
        self.ahead.0 += 1;
        Some(self.batch[first])
    }

    /// Chooses several operations of one file and one direction that are taken one by one, if none
    /// is known yet: that costs less than to choose each when it is taken.
    #[inline]
    pub(crate) fn look_ahead(&mut self) {
        if self.ahead.0 == self.ahead.1 && self.choice() == Choice::Batches {
            self.take_batch(0);
        }
    }

    /// Takes an operation that is known already, or would be after [`Source::look_ahead`], of a
    /// source without an end. Returns false where operations are chosen one by one, or a pass ends.
    #[inline]
    pub(crate) fn put_known(&mut self, untimed: &mut UntimedOp) -> bool {
        if self.ahead.0 == self.ahead.1 {
            self.look_ahead();
        }
        let Some(extent) = self.take_ahead() else { return false };
        let (kind, series) = (self.batch_kind, self.batch_series);
        *untimed = UntimedOp { kind, file_idx: 0, extent, series };
        true
    }

    /// Returns an operation of those last chosen by [`Source::take_batch`], and counts its bytes.
    #[inline]
    pub(crate) fn of_batch(&mut self, idx: usize) -> UntimedOp {
        let extent = self.batch[self.batch_first + idx];
        self.bytes_chosen += u64::from(extent.len);
        UntimedOp { kind: self.batch_kind, file_idx: 0, extent, series: self.batch_series }
    }

    /// Chooses the next operation in a direction; `None` when no file has any left to choose.
    #[expect(
        clippy::inline_always,
        reason = "the call costs a quarter of what it does, and there are three of it"
    )]
    #[inline(always)]
    pub(crate) fn take(&mut self, dir: Direction) -> Option<UntimedOp> {
        let untimed = self.choose(dir);
        if self.share.n > 1 && untimed.is_some() {
            self.pass_over(self.share.n - 1);
        }
        untimed
    }

    /// Chooses the next operation of the whole sequence.
    #[expect(clippy::inline_always, reason = "see `take`")]
    #[inline(always)]
    fn choose(&mut self, dir: Direction) -> Option<UntimedOp> {
        if self.pending == Some(dir) {
            self.pending = None;
        }
        let (kind, series) = (self.kinds[dir as usize], self.series[dir as usize]);
        if let Some(extent) = self.take_ahead() {
            return Some(self.count(UntimedOp { kind, file_idx: 0, extent, series }));
        }
        if let Files::One(offsets) = &mut self.files {
            let extent = match offsets.next(dir) {
                Some(extent) => extent,
                None if self.ends_with_region => {
                    self.is_over = self.ends_for_good;
                    return None;
                }
                None => {
                    // More I/O than the region holds: go over it again, in another order.
                    offsets.restart(dir);
                    offsets.next(dir)?
                }
            };
            return Some(self.count(UntimedOp { kind, file_idx: 0, extent, series }));
        }
        self.take_of_many(dir, kind, series)
    }

    fn take_of_many(&mut self, dir: Direction, kind: OpKind, series: u16) -> Option<UntimedOp> {
        let untimed = match &mut self.files {
            Files::One(_) => return None,
            Files::Parts(parts) => parts.take(dir)?,
            Files::Replay(replaying) => replaying.take()?,
            Files::Joined(joined) => {
                let next = match joined.next(dir) {
                    None if self.ends_with_region => {
                        self.is_over = self.ends_for_good;
                        return None;
                    }
                    None => {
                        joined.restart(dir);
                        joined.next(dir)
                    }
                    next => next,
                };
                let (file_idx, extent) = next?;
                UntimedOp { kind, file_idx, extent, series }
            }
            Files::Whole { n_files, next_idx } => {
                if next_idx == n_files {
                    return None;
                }
                *next_idx += 1;
                UntimedOp { kind, file_idx: *next_idx - 1, extent: Extent::default(), series }
            }
            Files::Many { offsets, picker } => loop {
                let Some(file_idx) = picker.next() else {
                    self.n_fruitless += 1;
                    if self.n_fruitless > 1 || self.ends_with_region {
                        self.is_over = self.ends_for_good;
                        return None;
                    }
                    for file in offsets.iter_mut() {
                        file.next_pass();
                    }
                    picker.restart();
                    continue;
                };
                if let Some(extent) = offsets[file_idx as usize].next(dir) {
                    break UntimedOp { kind, file_idx, extent, series };
                }
                picker.finish(file_idx);
            },
        };
        self.n_fruitless = 0;
        Some(self.count(untimed))
    }

    #[inline]
    fn count(&mut self, untimed: UntimedOp) -> UntimedOp {
        self.bytes_chosen += u64::from(untimed.extent.len);
        self.n_chosen += 1;
        untimed
    }

    /// Starts another pass over the amount, unless the work ends for good with the first.
    pub(crate) fn restart(&mut self) {
        if self.ends_for_good {
            return;
        }
        self.bytes_chosen = 0;
        self.n_chosen = 0;
        self.n_fruitless = 0;
        self.ahead = (0, 0);
        match &mut self.files {
            Files::One(offsets) => offsets.next_pass(),
            Files::Many { offsets, picker } => {
                for file in offsets {
                    file.next_pass();
                }
                picker.restart();
            }
            Files::Joined(joined) => joined.next_pass(),
            Files::Whole { next_idx, .. } => *next_idx = 0,
            Files::Replay(replaying) => replaying.restart(),
            Files::Parts(parts) => parts.restart(),
        }
        self.begin_part();
    }

    /// Does the walks together with others: see [`Offsets::share`].
    pub(crate) fn share(&mut self, cursor: &mut dyn FnMut(u64) -> Arc<Cursor>) {
        match &mut self.files {
            Files::One(offsets) => self.looks_ahead = !offsets.share(cursor),
            Files::Joined(joined) => joined.share(cursor),
            Files::Parts(parts) => parts.share(cursor),
            // Which file is next follows from all that came before; so does what is recorded.
            Files::Many { .. } | Files::Replay(_) | Files::Whole { .. } => {}
        }
    }

    /// Returns whether operations in this direction are issued.
    pub(crate) fn issues(&self, dir: Direction) -> bool {
        self.issued[dir as usize]
    }
}

impl Files {
    /// Makes the places of a workload's operations in some files.
    fn of(
        workload: &Workload,
        spec: &WorkerSpec,
        files: &[FileRegion],
        seed: u64,
    ) -> Result<Self, PatternError> {
        if spec.job.files.concatenate && files.len() > 1 {
            return Ok(Files::Joined(Box::new(Joined::new(workload, files, seed)?)));
        }
        let mut offsets = Vec::with_capacity(files.len());
        for (file_idx, file) in files.iter().enumerate() {
            let region = Region { start_bytes: file.offset_bytes, len_bytes: file.len_bytes };
            offsets.push(Offsets::new(workload, region, seed, file_idx as u32)?);
        }
        let n_files = offsets.len() as u32;
        match n_files {
            0 => Err(PatternError::NoFiles),
            1 => Ok(Files::One(Box::new(offsets.remove(0)))),
            _ => {
                let files = &spec.job.files;
                let picker = FilePicker::new(files.service, files.ios_per_file, n_files, seed)?;
                Ok(Files::Many { offsets, picker })
            }
        }
    }
}

/// What an operation of each direction is, by engine.
fn kinds(spec: &WorkerSpec) -> [OpKind; 3] {
    match spec.job.engine.kind.traits().work {
        EngineWork::Names(op) => [op.op_kind(); 3],
        EngineWork::Nothing
        | EngineWork::Bytes
        | EngineWork::MappedBytes
        | EngineWork::ServerBytes
        | EngineWork::Space(_) => [OpKind::Read, OpKind::Write, OpKind::Trim],
    }
}
