//! Where the level of a series jumps: credits run out, a limit was changed, a cache is full.
//!
//! Segments of constant mean. The best single split (least squares) is applied to the segment that
//! gains most, again and again; then every boundary must prove itself against its neighbours, or
//! goes; then each is moved to its best place. Splitting first and testing later finds a bump whose
//! two jumps cancel, which testing each split at once does not.
//!
//! Samples resemble their neighbours, so the test takes the variance that a mean of such samples
//! has: `s^2 (1 + r) / (1 - r)` with their lag-1 autocorrelation `r`. Without that, a calm series
//! is full of false jumps.

use crate::series;

/// A jump of the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// First sample at the new level.
    pub at_idx: usize,
    /// Mean from the change before (or the start) to here.
    pub before: f64,
    /// Mean from here to the next change (or the end).
    pub after: f64,
}

impl Change {
    /// Returns the size of the jump, percent of the larger of both levels.
    pub fn size_pct(&self) -> f64 {
        100.0 * (self.after - self.before).abs() / self.before.abs().max(self.after.abs())
    }
}

/// What counts as a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeRule {
    /// Fewest samples between two changes; at least 2.
    pub segment_len_min: usize,
    /// Smallest jump that matters, percent of the larger level.
    pub size_pct_min: f64,
}

impl Default for ChangeRule {
    /// Five samples, as SNIA's window has rounds; 5 %, which is what users ask a comparison for.
    fn default() -> Self {
        ChangeRule { segment_len_min: 5, size_pct_min: 5.0 }
    }
}

/// Most changes looked for: a series with more has no level at all.
const N_CHANGES_MAX: usize = 16;

/// Standard errors that a jump must have. The largest of `n` looks at noise reaches
/// `sqrt(2 ln n)`, which is 4.2 for a day of seconds over ten boundaries.
const ERRORS_MIN: f64 = 4.5;

/// Highest autocorrelation allowed for: a random walk has no level to leave.
const AUTOCORRELATION_MAX: f64 = 0.9;

/// Finds the changes of a series, in order of time; none if a sample is not finite.
///
/// # Panics
/// If the rule allows for levels of fewer than two samples, or for jumps of no size.
pub fn changes(samples: &[f64], rule: &ChangeRule) -> Vec<Change> {
    let ChangeRule { segment_len_min, size_pct_min } = *rule;
    assert!(segment_len_min >= 2, "a level of {segment_len_min} samples");
    assert!(size_pct_min >= 0.0, "a jump of {size_pct_min} % matters");
    if samples.len() < 2 * segment_len_min || !samples.iter().all(|value| value.is_finite()) {
        return Vec::new();
    }
    let sums = Sums::of(samples);
    let mut bounds = split(&sums, segment_len_min);
    loop {
        settle(&sums, &mut bounds, segment_len_min);
        let kinship = sums.kinship(samples, &bounds);
        let weakest = (1..bounds.len() - 1)
            .map(|at| (at, sums.strength(samples, &bounds[at - 1..=at + 1], kinship, rule)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        match weakest {
            Some((at, strength)) if strength < 1.0 => bounds.remove(at),
            _ => break,
        };
    }
    let inner = bounds.windows(3);
    inner
        .map(|ends| Change {
            at_idx: ends[1],
            before: sums.mean(ends[0], ends[1]),
            after: sums.mean(ends[1], ends[2]),
        })
        .collect()
}

/// Returns the ends of segments, 0 and the length among them.
fn split(sums: &Sums, segment_len_min: usize) -> Vec<usize> {
    let mut bounds = vec![0, sums.len()];
    for _ in 0..N_CHANGES_MAX {
        let splits = bounds.windows(2).filter_map(|ends| sums.best_split(ends, segment_len_min));
        let Some((_, at)) = splits.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|best| best.0 > 0.0)
        else {
            break;
        };
        bounds.push(at);
        bounds.sort_unstable();
    }
    bounds
}

/// Moves each boundary to the best place between its neighbours.
fn settle(sums: &Sums, bounds: &mut [usize], segment_len_min: usize) {
    for at in 1..bounds.len() - 1 {
        let ends = [bounds[at - 1], bounds[at + 1]];
        if let Some((_, best)) = sums.best_split(&ends, segment_len_min) {
            bounds[at] = best;
        }
    }
}

/// Running sums, so that the mean of any segment costs two look-ups.
struct Sums {
    /// Sum of the first `i` samples, less the overall mean each.
    sums: Vec<f64>,
    mean: f64,
}

impl Sums {
    fn of(samples: &[f64]) -> Self {
        let mean = series::mean(samples).unwrap_or(0.0);
        let mut sum = 0.0;
        let mut sums = vec![0.0];
        for value in samples {
            sum += value - mean;
            sums.push(sum);
        }
        Sums { sums, mean }
    }

    fn len(&self) -> usize {
        self.sums.len() - 1
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        self.mean + (self.sums[to] - self.sums[from]) / (to - from) as f64
    }

    /// Returns what the best split of a segment gains in squared error, and where it is.
    fn best_split(&self, ends: &[usize], segment_len_min: usize) -> Option<(f64, usize)> {
        let (from, to) = (ends[0], ends[1]);
        let (first, last) = (from + segment_len_min, to.checked_sub(segment_len_min)?);
        let gains = (first..=last).map(|at| {
            let (left, right) = ((at - from) as f64, (to - at) as f64);
            let jump = self.mean(at, to) - self.mean(from, at);
            (jump * jump * left * right / (left + right), at)
        });
        gains.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Returns the sums of the products of neighbours and of the squares, around the means of
    /// segments.
    fn lag_products(&self, samples: &[f64], bounds: &[usize]) -> (f64, f64) {
        let segments = bounds.windows(2).map(|ends| {
            let mean = self.mean(ends[0], ends[1]);
            series::lag_products(&samples[ends[0]..ends[1]], mean)
        });
        segments.fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
    }

    /// Returns by how much the variance of a mean grows because samples resemble their neighbours:
    /// `(1 + r) / (1 - r)`, at least 1.
    fn kinship(&self, samples: &[f64], bounds: &[usize]) -> f64 {
        let (products, squares) = self.lag_products(samples, bounds);
        let r = if squares > 0.0 { products / squares } else { 0.0 };
        let r = r.clamp(0.0, AUTOCORRELATION_MAX);
        (1.0 + r) / (1.0 - r)
    }

    /// Returns how far the middle of three bounds proves itself: below 1 it does not.
    ///
    /// Noise is that of the two segments beside it: a volume that is slow after a change is quiet
    /// as well, and would make the noise before it look like changes.
    fn strength(&self, samples: &[f64], ends: &[usize], kinship: f64, rule: &ChangeRule) -> f64 {
        let (before, after) = (self.mean(ends[0], ends[1]), self.mean(ends[1], ends[2]));
        let jump = (after - before).abs();
        let (_, squares) = self.lag_products(samples, ends);
        let n_free = (ends[2] - ends[0]).saturating_sub(2).max(1);
        let per_left = 1.0 / (ends[1] - ends[0]) as f64;
        let per_right = 1.0 / (ends[2] - ends[1]) as f64;
        let error = (squares / n_free as f64 * kinship * (per_left + per_right)).sqrt();
        let size_min = rule.size_pct_min / 100.0 * before.abs().max(after.abs());
        // A jump of nothing over nothing is no change.
        let ratio = |of: f64| if jump == 0.0 { 0.0 } else { jump / of };
        ratio(ERRORS_MIN * error).min(ratio(size_min))
    }
}
