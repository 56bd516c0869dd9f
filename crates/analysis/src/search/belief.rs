//! What is believed about where the line is: probabilistic bisection with answers that are wrong
//! now and then, and not independently of each other.
//!
//! The line `L` has a distribution over the logarithm of the load. A probe at `x` is carried if `L`
//! is above `x`, but
//! - near the line by chance: a point is a finite sample, so `P(carried)` falls from 1 to 0 over a
//!   width of `softness`;
//! - in a *trouble* (a pause, another program, a neighbour) it fails whatever the load. They come
//!   one by one or last for several probes: a hidden state with its own chances to begin and to go
//!   on, so that three failures in a row weigh less than three with a carried one between them;
//! - seldom it is carried for no reason ([`WRONGLY_CARRIED`]).
//!
//! How often troubles come, how long they last and how soft the line is, is not known either: every
//! combination of [`TROUBLES`] and [`SOFTNESS`] has a share of the belief, and the answers move it.
//!
//! Sources: M. Horstein, "Sequential transmission using noiseless feedback", IEEE Trans. Inf.
//! Theory 9 (1963); R. Waeber, P. Frazier, S. Henderson, "Bisection search with noisy responses",
//! SIAM J. Control Optim. 51 (2013); A. Watson, D. Pelli, "QUEST", Percept. Psychophys. 33
//! (1983). The hidden state is the forward algorithm of hidden Markov models (L. Rabiner,
//! Proc. IEEE 77, 1989).

use super::SearchOptions;

/// How troubles come: chance that one begins at a probe, that it goes on at the next one, and the
/// share of the belief before any answer.
const TROUBLES: [(f64, f64, f64); 4] =
    [(0.01, 0.01, 0.5), (0.1, 0.1, 0.2), (0.35, 0.35, 0.1), (0.05, 0.7, 0.2)];

/// Which of them leaves no line to be found.
const CHAOS: usize = 2;

/// Widths over which the line is soft, as a share of the load, and their share of the belief.
const SOFTNESS: [(f64, f64); 3] = [(0.002, 0.7), (0.015, 0.22), (0.04, 0.08)];

/// Chance that a load above the line is carried: a cache, a credit.
const WRONGLY_CARRIED: f64 = 0.01;

/// Chance that a trouble leaves a probe alone.
const SPARED: f64 = 0.1;

/// How fast the belief before any answer falls off on both sides of the first load: a doubling
/// costs a fifth.
const DECAY: f64 = 0.35;

/// Width of a cell in the logarithm of the load, where nothing was probed.
const CELL: f64 = 0.08;

/// How near to the line an overloaded volume's achieved rate tends to be, as a share of it.
const HINT_WIDTH: f64 = 0.02;

/// How much more probable the line is there than elsewhere. Low: a limit on latency may be broken
/// far below what can be achieved.
const HINT: f64 = 8.0;

/// Widest cell near a probe.
const CELL_NEAR: f64 = 0.0025;

/// What counts as near.
const NEAR: f64 = 0.03;

const N_KINDS: usize = TROUBLES.len() * SOFTNESS.len();

/// Mass by kind, without trouble and in one.
type KindMass = [[f64; 2]; N_KINDS];

/// Where the line may be: cells in ascending order over the logarithm of the load. The first one is
/// all below the smallest load, the last one all from the largest load on.
#[derive(Clone, Debug)]
pub(super) struct Belief {
    /// Lower ends of the cells, but for the first, and the upper end of the last but one.
    edges: Vec<f64>,
    /// One more than edges.
    masses: Vec<KindMass>,
    /// Widest cell near a probe.
    cell_near: f64,
    /// Logarithm of the probability of all answers so far.
    evidence: f64,
}

impl Belief {
    /// What is believed before any answer.
    pub(super) fn new(options: &SearchOptions) -> Self {
        let ln = |units: u64| (units as f64 * options.step).ln();
        let (low, start) = (ln(options.units_min()), ln(options.units_start()));
        let high = ln(options.units_max()).max(low);
        let n = ((high - low) / CELL).ceil().clamp(1.0, 10_000.0);
        let edges: Vec<f64> = (0..=n as usize).map(|k| low + (high - low) * k as f64 / n).collect();
        let below = |at: f64| {
            let part = (-DECAY * (at - start).abs()).exp() / 2.0;
            if at < start { part } else { 1.0 - part }
        };
        // The ends take what lies beyond.
        let mut shares = vec![below(low)];
        shares.extend(edges.windows(2).map(|pair| below(pair[1]) - below(pair[0])));
        shares.push(1.0 - below(high));
        let masses = shares.into_iter().map(mass).collect();
        let cell_near = CELL_NEAR.min(options.tolerance / 4.0);
        Belief { edges, masses, cell_near, evidence: 0.0 }
    }

    /// Takes an answer for a load.
    pub(super) fn take(&mut self, load: f64, is_carried: bool) {
        assert!(load > 0.0 && load.is_finite(), "a load of {load} was probed");
        let at = load.ln();
        self.refine(at);
        let n_cells = self.masses.len();
        let mut sum = 0.0;
        for (idx, mass) in self.masses.iter_mut().enumerate() {
            let distance = match idx {
                0 => f64::NEG_INFINITY,
                _ if idx + 1 == n_cells => f64::INFINITY,
                _ => f64::midpoint(self.edges[idx - 1], self.edges[idx]) - at,
            };
            sum += answer(mass, distance, is_carried);
        }
        self.evidence += sum.ln();
        self.masses.iter_mut().flatten().flatten().for_each(|part| *part /= sum);
    }

    /// Takes what an overloaded volume achieved: often that is where its line is.
    pub(super) fn hint(&mut self, load: f64) {
        assert!(load > 0.0 && load.is_finite(), "a rate of {load} was achieved");
        let at = load.ln();
        self.refine(at);
        let mut sum = 0.0;
        for (idx, mass) in self.masses.iter_mut().enumerate() {
            let ends = idx.checked_sub(1).and_then(|low| self.edges.get(low..=low + 1));
            let distance = ends.map(|ends| f64::midpoint(ends[0], ends[1]) - at);
            let is_near = distance.is_some_and(|it| it.abs() < HINT_WIDTH);
            mass.iter_mut().flatten().for_each(|it| {
                *it *= if is_near { HINT } else { 1.0 };
                sum += *it;
            });
        }
        self.masses.iter_mut().flatten().flatten().for_each(|part| *part /= sum);
    }

    /// Returns the logarithm of the probability of all answers: models are compared by it.
    pub(super) fn evidence(&self) -> f64 {
        self.evidence
    }

    /// Returns the probability that every third probe or more fails whatever the load.
    pub(super) fn in_chaos(&self) -> f64 {
        let of_kind = |mass: &KindMass| -> f64 {
            let kinds = mass.iter().skip(CHAOS * SOFTNESS.len()).take(SOFTNESS.len());
            kinds.flatten().sum()
        };
        self.masses.iter().map(of_kind).sum()
    }

    /// Returns the probability that the line lies below a load.
    pub(super) fn below(&self, load: f64) -> f64 {
        let at = load.ln();
        let mut below = 0.0;
        for (idx, mass) in self.masses.iter().enumerate() {
            let low = if idx == 0 { f64::NEG_INFINITY } else { self.edges[idx - 1] };
            let Some(high) = self.edges.get(idx).copied().filter(|_| low < at) else { break };
            let part = if high <= at { 1.0 } else { (at - low) / (high - low) };
            below += total(mass) * if idx == 0 { 1.0 } else { part };
        }
        below
    }

    /// Returns the load below which the line lies with a probability; the smallest or largest load
    /// of the search where it lies beyond.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        assert!((0.0..=1.0).contains(&share), "the line lies below it with {share}");
        let mut below = 0.0;
        for (idx, mass) in self.masses.iter().enumerate() {
            let here = total(mass);
            let high = self.edges.get(idx).copied();
            if below + here >= share || high.is_none() {
                let low = self.edges[idx.saturating_sub(1)];
                let width = high.map_or(0.0, |high| (high - low).max(0.0));
                let part = if here > 0.0 { ((share - below) / here).clamp(0.0, 1.0) } else { 1.0 };
                return (low + part * width).exp();
            }
            below += here;
        }
        f64::NAN
    }

    /// Splits the cells around a load.
    fn refine(&mut self, at: f64) {
        let is_wide = |pair: &[f64]| {
            pair[1] > at - NEAR && pair[0] < at + NEAR && pair[1] - pair[0] > self.cell_near * 1.01
        };
        if !self.edges.windows(2).any(is_wide) {
            return;
        }
        let (mut edges, mut masses) = (vec![self.edges[0]], vec![self.masses[0]]);
        for (idx, pair) in self.edges.windows(2).enumerate() {
            let width = pair[1] - pair[0];
            let n = if is_wide(pair) { (width / self.cell_near).ceil() } else { 1.0 };
            let part = self.masses[idx + 1].map(|kind| kind.map(|it| it / n));
            for k in 1..=n as usize {
                edges.push(if k as f64 >= n { pair[1] } else { pair[0] + width * k as f64 / n });
                masses.push(part);
            }
        }
        masses.extend(self.masses.last().copied());
        (self.edges, self.masses) = (edges, masses);
    }
}

/// Shares a probability out over the kinds.
fn mass(share: f64) -> KindMass {
    let mut mass = [[0.0; 2]; N_KINDS];
    for (idx, kind) in mass.iter_mut().enumerate() {
        let (trouble, softness) = (TROUBLES[idx / SOFTNESS.len()], SOFTNESS[idx % SOFTNESS.len()]);
        let (begins, goes_on, weight) = trouble;
        // As often as it is in the long run.
        let in_trouble = begins / (1.0 - goes_on + begins);
        let all = share * weight * softness.1;
        *kind = [all * (1.0 - in_trouble), all * in_trouble];
    }
    mass
}

fn total(mass: &KindMass) -> f64 {
    mass.iter().flatten().sum()
}

/// Multiplies a cell by how probable an answer is there. Returns what is left.
fn answer(mass: &mut KindMass, distance: f64, is_carried: bool) -> f64 {
    let carries = SOFTNESS.map(|(softness, _)| match distance / (softness * 0.6) {
        far if far < -20.0 => 0.0,
        far if far > 20.0 => 1.0,
        near => 1.0 / (1.0 + (-near).exp()),
    });
    let mut sum = 0.0;
    for (idx, kind) in mass.iter_mut().enumerate() {
        let (begins, goes_on, _) = TROUBLES[idx / SOFTNESS.len()];
        let [well, troubled] = *kind;
        let now_troubled = well * begins + troubled * goes_on;
        let now_well = well + troubled - now_troubled;
        let carried = carries[idx % SOFTNESS.len()];
        let carried = WRONGLY_CARRIED + (1.0 - 1.5 * WRONGLY_CARRIED) * carried;
        let p = [carried, carried * SPARED];
        let p = if is_carried { p } else { p.map(|p| 1.0 - p) };
        *kind = [now_well * p[0], now_troubled * p[1]];
        sum += kind[0] + kind[1];
    }
    sum
}
