//! Several workloads that one worker mixes, operation by operation.

use std::sync::Arc;

use pattern::offsets::{Cursor, Extent};
use pattern::{PatternError, Stream, derive};
use plan::job::{Part, PartRegion};
use plan::{Direction, Job};

use super::Source;
use crate::chosen::UntimedOp;
use crate::gate::{IopsSchedule, leaves_rest};
use crate::spec::{FileRegion, WorkerSpec};

/// The parts of a worker's job and whose turn it is.
#[derive(Debug)]
pub(crate) struct Parts {
    members: Vec<Member>,
    turns: Turns,
    /// The part whose turn it is, once that is known.
    turn_idx: Option<usize>,
    /// The part with a rate of its own whose operation goes before.
    due_idx: Option<usize>,
    /// Parts with rates of their own, the most urgent first.
    rated: Vec<usize>,
    /// When rates count from.
    since_ns: Option<u64>,
}

/// One part.
#[derive(Debug)]
struct Member {
    source: Source,
    weight: f64,
    /// A rate of its own.
    rate: Option<IopsSchedule>,
    /// Per file: where a region that goes on at the start of the file's does so. Empty where no
    /// region does.
    wraps: Vec<Wrap>,
    /// Has done its work for good.
    has_left: bool,
}

/// The end of a file's region, behind which its start follows.
#[derive(Clone, Copy, Debug)]
struct Wrap {
    end_bytes: u64,
    len_bytes: u64,
}

/// Returns the part of a job that has just one, where nothing sets it apart from the workload of a
/// job without parts. It costs no more than that then.
pub(crate) fn alone(job: &Job) -> Option<&Part> {
    let [part] = job.parts.as_slice() else { return None };
    (part.rate_iops.is_none() && !goes_on_at_start(part.region)).then_some(part)
}

/// Returns what a part uses of the worker's files, and its seed.
pub(crate) fn place(part: &Part, part_idx: u16, spec: &WorkerSpec) -> (Vec<FileRegion>, u64) {
    let block_bytes = part.workload.block_size_min();
    let files = spec.files.iter().map(|file| file.of_part(part.region, block_bytes)).collect();
    (files, derive(spec.seed, Stream::Part, u64::from(part_idx)))
}

/// Returns whether a region ends behind the end of the file's, and so goes on at its start.
fn goes_on_at_start(region: PartRegion) -> bool {
    matches!(region, PartRegion::Pct(_, to_pct) if to_pct > 100.0)
}

impl Parts {
    /// Builds the parts of a job; `None` if it has none.
    pub(crate) fn new(spec: &WorkerSpec) -> Result<Option<Box<Self>>, PatternError> {
        let parts = &spec.job.parts;
        if parts.is_empty() {
            return Ok(None);
        }
        let mut members = Vec::with_capacity(parts.len());
        for (part_idx, part) in parts.iter().enumerate() {
            let mut member = Member::new(part, part_idx as u16, spec)?;
            member.has_left = !member.is_rated() && !leaves_rest(&spec.job);
            members.push(member);
        }
        let mut turns = Turns::new(derive(spec.seed, Stream::Part, u64::MAX));
        turns.share(&members);
        let mut rated: Vec<usize> =
            (0..parts.len()).filter(|idx| members[*idx].is_rated()).collect();
        rated.sort_by_key(|idx| parts[*idx].priority);
        let (turn_idx, due_idx, since_ns) = (None, None, None);
        Ok(Some(Box::new(Parts { members, turns, turn_idx, due_idx, rated, since_ns })))
    }

    pub(crate) fn n_files(&self) -> u32 {
        self.members.first().map_or(0, |member| member.source.n_files())
    }

    /// Does the walks of each part together with others.
    pub(crate) fn share(&mut self, cursor: &mut dyn FnMut(u64) -> Arc<Cursor>) {
        for member in &mut self.members {
            member.source.share(cursor);
        }
    }

    /// Returns whether every part has done its work for good.
    pub(crate) fn is_over(&self) -> bool {
        self.members.iter().all(|member| member.has_left)
    }

    /// Returns the direction of the next operation; the same one until it is taken.
    pub(crate) fn direction(&mut self) -> Direction {
        let idx = match self.due_idx {
            Some(idx) => idx,
            None => *self.turn_idx.get_or_insert_with(|| self.turns.next()),
        };
        self.members[idx].source.direction()
    }

    /// Takes the next operation, in direction `dir` if a part issues that. `None` when every part
    /// has done its work.
    pub(crate) fn take(&mut self, dir: Direction) -> Option<UntimedOp> {
        loop {
            let due_idx = self.due_idx.take();
            let idx = due_idx.or_else(|| self.turn_idx.take());
            let idx = idx.unwrap_or_else(|| self.turns.next());
            let member = self.members.get_mut(idx)?;
            if let Some(untimed) = member.take(dir) {
                if let Some(rate) = &mut member.rate {
                    rate.advance();
                }
                return Some(untimed);
            }
            self.leave(idx);
            if self.is_over() || !self.turns.any_left() {
                return None;
            }
        }
    }

    /// Takes the next operations of parts without rates of their own. Returns how many: fewer than
    /// there is room for where every part has done its work.
    #[inline]
    pub(crate) fn take_turns(&mut self, turns: &mut [UntimedOp]) -> usize {
        for (n_taken, untimed) in turns.iter_mut().enumerate() {
            let idx = self.turn_idx.take().unwrap_or_else(|| self.turns.next());
            let member = &mut self.members[idx];
            if member.wraps.is_empty() && member.source.put_known(untimed) {
                continue;
            }
            let dir = member.source.direction();
            match member.take_own(dir).or_else(|| self.take_after(idx, dir)) {
                Some(taken) => *untimed = taken,
                None => return n_taken,
            }
        }
        turns.len()
    }

    /// Takes the next operation of parts without rates of their own.
    #[inline]
    pub(crate) fn take_next(&mut self) -> Option<UntimedOp> {
        let idx = self.turn_idx.take().unwrap_or_else(|| self.turns.next());
        let member = &mut self.members[idx];
        let dir = member.source.direction();
        member.take_own(dir).or_else(|| self.take_after(idx, dir))
    }

    /// Takes the next operation, if any, when a part has just none left.
    #[cold]
    fn take_after(&mut self, idx: usize, dir: Direction) -> Option<UntimedOp> {
        self.leave(idx);
        if self.is_over() || !self.turns.any_left() { None } else { self.take(dir) }
    }

    /// Returns whether any part has a rate of its own.
    pub(crate) fn has_rates(&self) -> bool {
        !self.rated.is_empty()
    }

    /// Returns whether the next operation is one that was due by the rate of its part.
    #[inline]
    pub(crate) fn is_by_own_rate(&self) -> bool {
        self.due_idx.is_some()
    }

    /// Returns when the next operation is due: of a part with a rate of its own that is due, the
    /// most urgent first, or where no other part is left of the one that will be. `None` if it is
    /// the turn of a part without.
    #[inline]
    pub(crate) fn due_ns(&mut self, now_ns: u64) -> Option<u64> {
        if self.rated.is_empty() {
            return None;
        }
        self.since_ns.get_or_insert(now_ns);
        self.due_idx = self
            .rated
            .iter()
            .copied()
            .find(|idx| self.due_of(*idx).is_some_and(|due_ns| due_ns <= now_ns));
        match self.due_idx {
            Some(idx) => self.due_of(idx),
            None if self.turns.any_left() => None,
            None => self.next_due_ns(),
        }
    }

    /// Returns when the next part with a rate of its own is due.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.rated.iter().filter_map(|idx| self.due_of(*idx)).min()
    }

    /// Returns how many operations of parts with rates of their own are due at `at_ns`.
    pub(crate) fn backlog(&self, at_ns: u64) -> u64 {
        let Some(since_ns) = self.since_ns else { return 0 };
        let members = self.members.iter().filter(|member| !member.has_left);
        let rates = members.filter_map(|member| member.rate.as_ref());
        rates.map(|rate| rate.n_due(at_ns.saturating_sub(since_ns))).sum()
    }

    fn due_of(&self, idx: usize) -> Option<u64> {
        let member = self.members.get(idx).filter(|member| !member.has_left)?;
        Some(self.since_ns?.saturating_add(member.rate.as_ref()?.due_ns()))
    }

    /// Ends a part; the others go on in proportion.
    #[cold]
    fn leave(&mut self, idx: usize) {
        self.members[idx].has_left = true;
        self.turn_idx = self.turn_idx.filter(|turn_idx| *turn_idx != idx);
        self.turns.share(&self.members);
    }

    /// Starts another pass of every part that does not end for good with the first.
    pub(crate) fn restart(&mut self) {
        for member in &mut self.members {
            member.source.restart();
        }
    }
}

impl Member {
    fn new(part: &Part, part_idx: u16, spec: &WorkerSpec) -> Result<Self, PatternError> {
        let (files, seed) = place(part, part_idx, spec);
        let is_wrapped = goes_on_at_start(part.region);
        let block_bytes = part.workload.block_size_min();
        let wraps = spec.files.iter().filter(|_| is_wrapped).map(|file| {
            let FileRegion { offset_bytes, len_bytes } = file.in_whole_blocks(block_bytes);
            Wrap { end_bytes: offset_bytes + len_bytes, len_bytes }
        });
        let wraps = wraps.collect();
        let source = Source::of_part(part, part_idx, spec, &files, seed)?;
        let rate = match part.rate_iops {
            Some(rate) => Some(IopsSchedule::new(&spec.job, rate, spec.worker_idx, seed, 0)?),
            None => None,
        };
        Ok(Member { source, weight: part.weight, rate, wraps, has_left: false })
    }

    fn is_rated(&self) -> bool {
        self.rate.is_some()
    }

    /// Returns the part's share of the turns.
    fn share(&self) -> f64 {
        if self.has_left || self.is_rated() { 0.0 } else { self.weight.max(0.0) }
    }

    #[inline]
    fn take(&mut self, dir: Direction) -> Option<UntimedOp> {
        let own = self.source.direction();
        let dir = if self.source.issues(dir) { dir } else { own };
        self.take_own(dir)
    }

    /// Takes the next operation in a direction that the part issues.
    #[inline]
    fn take_own(&mut self, dir: Direction) -> Option<UntimedOp> {
        self.source.look_ahead();
        let mut untimed = self.source.take(dir)?;
        if let Some(wrap) = self.wraps.get(untimed.file_idx as usize) {
            untimed.extent.offset = wrap.place(untimed.extent);
        }
        Some(untimed)
    }
}

impl Wrap {
    /// Returns where an operation goes that may lie behind the end of its file's region. One across
    /// the end is moved before it.
    fn place(self, extent: Extent) -> u64 {
        let (offset, len, end) = (extent.offset, u64::from(extent.len), self.end_bytes);
        if offset >= end {
            offset - self.len_bytes
        } else if offset + len > end {
            end.saturating_sub(len)
        } else {
            offset
        }
    }
}

/// Whose turn it is: part by part in proportion to the weights.
///
/// Turn `k` goes to the part into whose share of the interval from 0 to 1 the fraction of
/// `start + k * golden ratio` falls. These fractions are spread more evenly than any others of
/// their kind: after any number of operations, wherever one starts to count, the share of a part
/// is off by a few operations at most, where independent draws would be off by 1 % after 10,000.
/// So a skew that was asked for is also seen in each second of a slow target. The start differs
/// from worker to worker, so that workers do not issue the large operations at the same time.
#[derive(Debug)]
struct Turns {
    /// The fraction, in units of 2^-64.
    at: u64,
    /// Where the share of each part ends.
    ends: Vec<u64>,
    /// Parts that have a share.
    n_left: usize,
}

/// The golden ratio's fraction in units of 2^-64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Turns {
    fn new(start: u64) -> Self {
        Turns { at: start, ends: Vec::new(), n_left: 0 }
    }

    /// Divides the interval among the members that have not left.
    fn share(&mut self, members: &[Member]) {
        self.divide(members.iter().map(Member::share));
    }

    fn divide(&mut self, weights: impl Iterator<Item = f64> + Clone) {
        let odd = weights.clone().find(|weight| !weight.is_finite() || *weight < 0.0);
        assert!(odd.is_none(), "turns are divided by the weight {odd:?}");
        let total: f64 = weights.clone().sum();
        self.n_left = weights.clone().filter(|weight| *weight > 0.0).count();
        let mut before = 0.0;
        self.ends.clear();
        self.ends.extend(weights.clone().map(|weight| {
            before += weight;
            (before / total * 2.0_f64.powi(64)) as u64
        }));
        // The last that has a share takes what rounding left over.
        if let Some(last_idx) = weights.enumerate().filter(|it| it.1 > 0.0).map(|it| it.0).last() {
            self.ends[last_idx..].fill(u64::MAX);
        }
    }

    /// Returns whether any part has a share.
    fn any_left(&self) -> bool {
        self.n_left > 0
    }

    #[inline]
    fn next(&mut self) -> usize {
        self.at = self.at.wrapping_add(GOLDEN);
        let at = self.at;
        self.ends.iter().position(|end| at < *end).unwrap_or(self.ends.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;

    /// Checks that in every stretch of the sequence, wherever it begins, each part gets its share
    /// but for `off_max` operations.
    #[track_caller]
    fn check(weights: &[f64], off_max: f64) {
        let mut turns = Turns::new(0x1234_5678_9abc_def0);
        turns.divide(weights.iter().copied());
        let drawn: Vec<usize> = (0..20_000).map(|_| turns.next()).collect();
        let total: f64 = weights.iter().sum();
        for (part, weight) in weights.iter().enumerate() {
            let (mut least, mut most, mut ahead) = (0.0_f64, 0.0_f64, 0.0);
            for idx in &drawn {
                ahead += f64::from(u8::from(*idx == part)) - weight / total;
                (least, most) = (least.min(ahead), most.max(ahead));
            }
            assert!(most - least <= off_max, "part {part}: off by {}", most - least);
        }
    }

    #[test]
    fn every_stretch_has_its_shares() {
        check(&[1.0], 0.1);
        check(&[50.0, 50.0], 6.0);
        check(&[60.0, 30.0, 10.0], 8.0);
        check(&[33.3, 33.3, 33.4], 8.0);
        check(&[99.9, 0.1], 6.0);
        check(&[1.0; 16], 10.0);
    }

    #[test]
    fn turns_are_divided_by_numbers() {
        let divide = |weight| Turns::new(7).divide([1.0, weight].into_iter());
        testing::check_wrong_calls(&[
            ("less than none", "by the weight Some(-0.5)", &|| divide(-0.5)),
            ("no number", "by the weight Some(NaN)", &|| divide(f64::NAN)),
        ]);
    }

    #[test]
    fn a_part_without_share_gets_no_turn() {
        let mut turns = Turns::new(7);
        turns.divide([0.0, 2.0, 0.0, 1.0, 0.0].into_iter());
        let drawn: Vec<usize> = (0..10_000).map(|_| turns.next()).collect();
        assert!(drawn.iter().all(|idx| matches!(idx, 1 | 3)));
    }
}
