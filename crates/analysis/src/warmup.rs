//! Where the warm-up of a series ends.
//!
//! MSER-5 (K. P. White, "An effective truncation heuristic for bias reduction in simulation
//! output", Simulation 69(6), 1997): means of five neighbouring samples each; cut off the first `d`
//! of them for which the squared standard error of what remains,
//! `sum (z_i - mean)^2 / (k - d)^2`, is smallest. Cutting a transient off lowers it, cutting good
//! samples off raises it. Where it still falls in the middle, the series never settled. Cuts beyond
//! that are not looked at: the error of a few last batches is small by chance.

/// Samples per batch.
pub const BATCH_LEN: usize = 5;

/// Fewest batches to judge: with fewer, chance decides.
const N_BATCHES_MIN: usize = 12;

/// What became of the search for the end of the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// The first samples, this many, are warm-up; 0 where there is none.
    Cut(usize),
    /// The best cut lies beyond the first half: the series had not settled when it ended.
    NotSettled,
    /// Too few samples, or one is not a number.
    NotAssessed,
}

impl WarmUp {
    /// Finds the end of the warm-up of a series of equally spaced samples.
    pub fn of(samples: &[f64]) -> Self {
        let batches = samples.chunks_exact(BATCH_LEN);
        let means: Vec<f64> =
            batches.map(|batch| batch.iter().sum::<f64>() / BATCH_LEN as f64).collect();
        if means.len() < N_BATCHES_MIN || !means.iter().all(|mean| mean.is_finite()) {
            return WarmUp::NotAssessed;
        }
        match best_cut(&means) {
            best if best < means.len() / 2 => WarmUp::Cut(best * BATCH_LEN),
            _ => WarmUp::NotSettled,
        }
    }
}

/// Returns the number of batches to cut off.
fn best_cut(means: &[f64]) -> usize {
    // From the end, by Welford's update: one pass, and nothing cancels.
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (idx, value) in means.iter().enumerate().rev() {
        n += 1.0;
        let distance = value - mean;
        mean += distance / n;
        squares += distance * (value - mean);
        let error = squares / (n * n);
        // Of equal errors the earliest cut: it keeps most.
        if idx <= means.len() / 2 && error <= best.0 {
            best = (error, idx);
        }
    }
    best.1
}
