//! Which position is next: random, in order, or more often some than others.

use plan::tree::{Locality, SelectOrder};

use crate::Permutation;
use crate::rng::{Chance, Rng, Stream, derive};

/// A Poisson draw ends here: the chance of more is below 10^-9 for midpoints up to 100.
const POISSON_DRAWS_MAX: u32 = 1_000;

/// Draws positions below a number of them. One per worker.
///
/// In order, and where each comes once, the workers of a job share a count: `turn` is its value
/// that this worker took, from 0.
#[derive(Clone, Debug)]
pub struct Selector {
    n: u64,
    law: Law,
    /// Order in which each position comes once.
    order: Option<Permutation>,
    /// Where the order starts.
    start: u64,
    /// The last draw was among the hot positions.
    is_hot: bool,
    rng: Rng,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Even,
    InTurn,
    /// Midpoint, and into how many slices the positions are cut.
    Poisson(f64, u64),
    /// Exponent of an even draw.
    Skewed(f64),
    /// Chance of the first positions, and how many those are.
    Hot(Chance, u64),
}

impl Selector {
    /// Makes a selector of `n` positions. `job_seed` is the same for all workers that share turns,
    /// `worker_seed` is this one's.
    ///
    /// Poisson: the positions are cut into four times as many slices as the midpoint, and a draw
    /// from the Poisson distribution says which slice. Skewed: half of the draws are in the first
    /// `midpoint` percent of the positions, and half of those in the same share of them, and so on
    /// (self-similar). Hot: a share of the draws is among the first positions, a share of all.
    ///
    /// # Panics
    /// If a midpoint is no number.
    pub fn new(order: SelectOrder, once: bool, n: u32, job_seed: u64, worker_seed: u64) -> Self {
        if let SelectOrder::Poisson(midpoint) | SelectOrder::Skewed(midpoint) = order {
            assert!(midpoint.is_finite(), "a midpoint of {midpoint}");
        }
        let n = u64::from(n);
        let law = match order {
            SelectOrder::Random => Law::Even,
            SelectOrder::Seq | SelectOrder::SeqNz => Law::InTurn,
            SelectOrder::Poisson(midpoint) => {
                let midpoint = midpoint.clamp(0.01, 100.0);
                Law::Poisson(midpoint, (midpoint * 4.0).ceil().max(1.0) as u64)
            }
            SelectOrder::Skewed(midpoint) => {
                let share = (midpoint / 100.0).clamp(0.0001, 0.9999);
                Law::Skewed(share.ln() / 0.5_f64.ln())
            }
            SelectOrder::Hot(locality) => {
                let Locality { ops_pct, of_pct: _ } = locality;
                Law::Hot(Chance::from_pct(ops_pct), locality.n_hot(n))
            }
        };
        let random_start = Rng::for_stream(job_seed, Stream::File, 1).bounded(n);
        let is_random_once = once && law != Law::InTurn;
        let key = derive(job_seed, Stream::File, 2);
        Selector {
            n,
            law,
            order: (is_random_once && n > 0).then(|| Permutation::new(n, key)),
            start: if order == SelectOrder::SeqNz { random_start } else { 0 },
            is_hot: false,
            rng: Rng::for_stream(worker_seed, Stream::File, 3),
        }
    }

    /// Returns the number of positions.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Returns whether there is no position.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Returns whether positions come in turns, which the workers of a job share.
    pub fn takes_turns(&self) -> bool {
        self.order.is_some() || self.law == Law::InTurn
    }

    /// Returns the position of a turn.
    #[inline]
    pub fn at_turn(&self, turn: u64) -> u32 {
        let n = self.n.max(1);
        let place = (turn % n + self.start) % n;
        self.order.as_ref().map_or(place, |order| order.get(place)) as u32
    }

    /// Draws a position; 0 where there is none.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        if let Law::Hot(chance, _) = self.law {
            self.is_hot = self.rng.chance(chance);
        }
        self.draw_again()
    }

    /// Draws another position in place of one that was no use: of the hot ones if that was one of
    /// them, so that their share does not depend on how many are of use.
    #[inline]
    pub fn draw_again(&mut self) -> u32 {
        let position = match self.law {
            Law::Even | Law::InTurn => self.rng.bounded(self.n),
            Law::Poisson(midpoint, n_slices) => {
                let slice = self.poisson(midpoint).min(n_slices - 1);
                let (from, to) = (self.n * slice / n_slices, self.n * (slice + 1) / n_slices);
                from + self.rng.bounded(to - from)
            }
            Law::Skewed(exponent) => {
                let share = self.rng.unit_f64().powf(exponent);
                (share * self.n as f64) as u64
            }
            Law::Hot(_, n_hot) if self.is_hot || n_hot >= self.n => self.rng.bounded(n_hot),
            Law::Hot(_, n_hot) => n_hot + self.rng.bounded(self.n - n_hot),
        };
        position.min(self.n.saturating_sub(1)) as u32
    }

    /// Draws from a Poisson distribution (D. E. Knuth's product of even draws).
    fn poisson(&mut self, mean: f64) -> u64 {
        let limit = (-mean).exp();
        let mut product = self.rng.unit_f64();
        let mut n_draws = 0;
        while product > limit && n_draws < POISSON_DRAWS_MAX {
            product *= self.rng.unit_f64();
            n_draws += 1;
        }
        u64::from(n_draws)
    }
}
