//! Several workloads that one worker mixes, operation by operation.

use pattern::{PatternError, Stream, derive};
use plan::Direction;
use plan::job::{Part, PartRegion};

use crate::source::{Chosen, Source};
use crate::spec::{FileRegion, WorkerSpec};

/// The parts of a worker's job and whose turn it is.
#[derive(Debug)]
pub(crate) struct Parts {
    members: Vec<Member>,
    turns: Turns,
    /// The part that the next operation is of, once that is known.
    next_idx: Option<usize>,
}

/// One part.
#[derive(Debug)]
struct Member {
    source: Source,
    weight: f64,
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

impl Parts {
    /// Builds the parts of a job; `None` if it has none.
    pub(crate) fn new(spec: &WorkerSpec) -> Result<Option<Box<Self>>, PatternError> {
        let parts = &spec.job.parts;
        if parts.is_empty() {
            return Ok(None);
        }
        let mut members = Vec::with_capacity(parts.len());
        for (part_idx, part) in parts.iter().enumerate() {
            members.push(Member::new(part, part_idx as u16, spec)?);
        }
        let mut turns = Turns::new(derive(spec.seed, Stream::Part, u64::MAX));
        turns.share(&members);
        Ok(Some(Box::new(Parts { members, turns, next_idx: None })))
    }

    pub(crate) fn n_files(&self) -> u32 {
        self.members.first().map_or(0, |member| member.source.n_files())
    }

    /// Says whether every part has done its work for good.
    pub(crate) fn is_over(&self) -> bool {
        self.members.iter().all(|member| member.has_left)
    }

    /// Returns the direction of the next operation; the same one until it is taken.
    #[inline]
    pub(crate) fn direction(&mut self) -> Direction {
        let idx = self.next_idx.unwrap_or_else(|| self.turns.next());
        self.next_idx = Some(idx);
        self.members[idx].source.direction()
    }

    /// Takes the next operation, in direction `dir` if a part issues that. `None` when every part
    /// has done its work.
    #[inline]
    pub(crate) fn take(&mut self, dir: Direction) -> Option<Chosen> {
        loop {
            let idx = self.next_idx.take().unwrap_or_else(|| self.turns.next());
            let member = self.members.get_mut(idx)?;
            if let Some(chosen) = member.take(dir) {
                return Some(chosen);
            }
            self.leave(idx);
            if self.is_over() {
                return None;
            }
        }
    }

    /// Ends a part; the others go on in proportion.
    #[cold]
    fn leave(&mut self, idx: usize) {
        self.members[idx].has_left = true;
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
        let seed = derive(spec.seed, Stream::Part, u64::from(part_idx));
        let block_bytes = part.workload.block_size_min();
        let files: Vec<FileRegion> =
            spec.files.iter().map(|file| file.of_part(part.region, block_bytes)).collect();
        let is_wrapped = matches!(part.region, PartRegion::Pct(_, to_pct) if to_pct > 100.0);
        let wraps = spec.files.iter().filter(|_| is_wrapped).map(|file| Wrap {
            end_bytes: file.offset_bytes + file.len_bytes,
            len_bytes: file.len_bytes,
        });
        let wraps = wraps.collect();
        let source = Source::of_part(part, part_idx, spec, &files, seed)?;
        Ok(Member { source, weight: part.weight, wraps, has_left: false })
    }

    #[inline]
    fn take(&mut self, dir: Direction) -> Option<Chosen> {
        let own = self.source.direction();
        let dir = if self.source.issues(dir) { dir } else { own };
        let mut chosen = self.source.take(dir)?;
        if let Some(wrap) = self.wraps.get(chosen.file_idx as usize) {
            chosen.offset = wrap.place(chosen.offset, chosen.len);
        }
        Some(chosen)
    }
}

impl Wrap {
    /// Returns where an operation goes that may lie behind the end of its file's region. One across
    /// the end is moved before it.
    fn place(self, offset: u64, len: u32) -> u64 {
        let (len, end) = (u64::from(len), self.end_bytes);
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
}

/// The golden ratio's fraction in units of 2^-64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Turns {
    fn new(start: u64) -> Self {
        Turns { at: start, ends: Vec::new() }
    }

    /// Divides the interval among the members that have not left.
    fn share(&mut self, members: &[Member]) {
        let weights = members.iter().map(|it| if it.has_left { 0.0 } else { it.weight.max(0.0) });
        self.divide(weights);
    }

    fn divide(&mut self, weights: impl Iterator<Item = f64> + Clone) {
        let total: f64 = weights.clone().sum();
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
    fn a_part_without_share_gets_no_turn() {
        let mut turns = Turns::new(7);
        turns.divide([0.0, 2.0, 0.0, 1.0, 0.0].into_iter());
        let drawn: Vec<usize> = (0..10_000).map(|_| turns.next()).collect();
        assert!(drawn.iter().all(|idx| matches!(idx, 1 | 3)));
    }
}
