//! The I/O of a job as the lines of an access specification, each of which has a share, one size,
//! and whole percents.

use plan::load::ThinkTime;
use plan::workload::{BlockSize, Sequencer, Workload};
use plan::{Direction, Job, PerDir, Span};

use super::config::AccessLine;
use super::read::LINES_MAX;

/// A share of a job's I/O that one line says, but for fractions of a percent.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Share of the job's I/Os, percent.
    pub(super) share_pct: f64,
    /// What it looks like: of one size, and alike for the directions that it has.
    pub(super) workload: Workload,
}

/// The I/O of a job, share by share.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// There may be more than a specification has lines.
    pub(super) all: Vec<Piece>,
    /// Some sizes stand for others that are near.
    pub(super) is_cut: bool,
}

impl Pieces {
    /// Splits the I/O of a job.
    pub(super) fn of(job: &Job) -> Self {
        let mut pieces = Pieces::default();
        if job.parts.is_empty() {
            pieces.split(&job.workload, 100.0, LINES_MAX);
            return pieces;
        }
        let total: f64 = job.parts.iter().map(|part| part.weight).sum();
        let n_max = LINES_MAX / job.parts.len();
        for part in &job.parts {
            pieces.split(&part.workload, 100.0 * part.weight / total, n_max);
        }
        pieces
    }

    /// Adds the pieces of a workload: so many, or one of each direction.
    fn split(&mut self, work: &Workload, share_pct: f64, n_max: usize) {
        let drawn = work.drawn();
        if drawn.is_mixed() && !is_alike(work) {
            let of_reads_pct = share_pct * work.read_pct / 100.0;
            for (dir, share_pct) in
                [(Direction::Read, of_reads_pct), (Direction::Write, share_pct - of_reads_pct)]
            {
                let mut own = work.clone();
                own.access.read = dir == Direction::Read;
                own.access.write = dir == Direction::Write;
                self.sizes(&own, dir, share_pct, n_max / 2);
            }
            return;
        }
        let mut own = work.clone();
        (own.access.read, own.access.write) = (drawn.read, drawn.write);
        let dir = if drawn.read { Direction::Read } else { Direction::Write };
        self.sizes(&own, dir, share_pct, n_max);
    }

    /// Adds a piece for each size of a direction, whose values are those of all.
    fn sizes(&mut self, work: &Workload, dir: Direction, share_pct: f64, n_max: usize) {
        let (sizes, is_cut) = sizes(&work.block_size[dir], n_max.max(1));
        self.is_cut |= is_cut;
        let total: f64 = sizes.iter().map(|it| it.1).sum();
        for (bytes, weight) in sizes {
            let share_pct = share_pct * weight / total;
            self.all.push(Piece { share_pct, workload: of_size(work, dir, bytes) });
        }
    }
}

/// Returns whether reads and writes differ in nothing but their number.
fn is_alike(work: &Workload) -> bool {
    let align = |dir| work.block_align[dir].unwrap_or_else(|| work.block_size[dir].min());
    let (read, write) = (Direction::Read, Direction::Write);
    let is_random_alike = align(read) == align(write)
        && (work.random_pct[read] - work.random_pct[write]).abs() < 1e-6
        && work.distribution[read] == work.distribution[write];
    work.block_size[read] == work.block_size[write] && (!work.access.random || is_random_alike)
}

/// Returns what a workload does with I/Os of this size, as one direction does.
fn of_size(work: &Workload, dir: Direction, bytes: u32) -> Workload {
    let mut own = work.clone();
    // Runs of I/Os between draws: so many of all are drawn.
    if work.access.random && matches!(work.sequencer, Sequencer::Sequential) {
        own.ios_per_draw = 1;
    }
    let n_per_draw = if own.ios_per_draw == work.ios_per_draw { 1 } else { work.ios_per_draw };
    let random_pct = work.random_pct[dir] / f64::from(n_per_draw.max(1));
    own.access.random = work.access.random && random_pct > 0.0;
    let align = match work.block_align[dir] {
        Some(align) => align,
        None if work.aligned_to_length => bytes,
        None => work.block_size[dir].min(),
    };
    own.block_size = PerDir::all(BlockSize::Fixed(bytes));
    own.block_align = PerDir::all(own.access.random.then_some(align));
    own.aligned_to_length = false;
    own.random_pct = PerDir::all(if own.access.random { random_pct } else { 100.0 });
    own.distribution = PerDir::all(work.distribution[dir].clone());
    if !own.access.is_mixed() {
        own.read_pct = Workload::default().read_pct;
    }
    own
}

/// Lists sizes with their weights, and whether one of them stands for several: for those up to it.
fn sizes(size: &BlockSize, n_max: usize) -> (Vec<(u32, f64)>, bool) {
    let weighted = |parts: Vec<(u32, f64)>| {
        let parts: Vec<(u32, f64)> = parts.into_iter().filter(|it| it.1 > 0.0).collect();
        let weight = |from: usize, to: usize| parts[from..to].iter().map(|it| it.1).sum();
        thinned(parts.len(), n_max, |idx| parts[idx].0, weight)
    };
    let even = |from: usize, to: usize| (to - from) as f64;
    match size {
        BlockSize::Fixed(bytes) => (vec![(*bytes, 1.0)], false),
        BlockSize::Range { min, max } => {
            let n_sizes = (max / (*min).max(1)).max(1) as usize;
            thinned(n_sizes, n_max, |idx| min * (idx as u32 + 1), even)
        }
        BlockSize::Stepped { min, max, step } => {
            let step = (*step).max(1);
            let first = (min / step).saturating_add(1);
            let n_sizes = 1 + (max / step + 1).saturating_sub(first) as usize;
            let at = |idx: usize| if idx == 0 { *min } else { step * (first + idx as u32 - 1) };
            thinned(n_sizes, n_max, at, even)
        }
        BlockSize::Split(parts) => {
            weighted(parts.iter().map(|it| (it.0, f64::from(it.1))).collect())
        }
        BlockSize::Weighted(parts) => {
            weighted(parts.iter().map(|it| (it.0, f64::from(it.1))).collect())
        }
    }
}

/// Takes so many of some sizes, each with the weight of those that it stands for.
fn thinned(
    n_sizes: usize,
    n_max: usize,
    at: impl Fn(usize) -> u32,
    weight: impl Fn(usize, usize) -> f64,
) -> (Vec<(u32, f64)>, bool) {
    let n = n_sizes.min(n_max);
    let bounds = (0..n).map(|idx| (idx * n_sizes / n, (idx + 1) * n_sizes / n));
    let taken = bounds.map(|(from, to)| (at(to - 1), weight(from, to)));
    (taken.collect(), n < n_sizes)
}

/// Returns shares as whole percents, at least 1 and 100 together, and whether they are the same.
/// There are at most 100 of them.
pub(super) fn whole_shares(pieces: &[Piece]) -> (Vec<u8>, bool) {
    let exact = || pieces.iter().map(|it| it.share_pct);
    let mut shares: Vec<u8> = exact().map(|pct| pct.floor().clamp(1.0, 100.0) as u8).collect();
    // The next percent goes where most is lacking, or is taken where most is too much.
    loop {
        let total: u32 = shares.iter().map(|pct| u32::from(*pct)).sum();
        let lacking = exact().zip(&shares).map(|(exact, pct)| exact - f64::from(*pct));
        let by_lack = |one: &(usize, f64), other: &(usize, f64)| one.1.total_cmp(&other.1);
        let lacking = lacking.enumerate();
        let found = match total.cmp(&100) {
            std::cmp::Ordering::Less => lacking.max_by(by_lack).map(|it| (it.0, 1)),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => {
                let is_more = |it: &(usize, f64)| shares[it.0] > 1;
                lacking.filter(is_more).min_by(by_lack).map(|it| (it.0, -1))
            }
        };
        let Some((idx, step)) = found else { break };
        shares[idx] = shares[idx].saturating_add_signed(step);
    }
    let is_same = exact().zip(&shares).all(|(exact, pct)| (exact - f64::from(*pct)).abs() < 1e-6);
    (shares, is_same)
}

/// Returns a piece as a line.
pub(super) fn line(piece: &Piece, share_pct: u8, think: &ThinkTime) -> AccessLine {
    let work = &piece.workload;
    let whole = |pct: f64, (min, max): (f64, f64)| pct.round().clamp(min, max) as u8;
    let read_pct = match (work.access.read, work.access.write) {
        (true, true) => whole(work.read_pct, (1.0, 99.0)),
        (_, true) => 0,
        (_, false) => 100,
    };
    let is_random = work.access.random;
    AccessLine {
        size_bytes: work.block_size.read.max(),
        share_pct,
        read_pct,
        random_pct: if is_random { whole(work.random_pct.read, (1.0, 100.0)) } else { 0 },
        delay_ms: think.pause_ns.div_ceil(NS_PER_MS).min(u64::from(u32::MAX)) as u32,
        burst: if think.pause_ns > 0 { think.every_ios.max(1) } else { 1 },
        align_bytes: work.block_align.read.unwrap_or(0),
        span: Span::default(),
    }
}

const NS_PER_MS: u64 = 1_000_000;
