//! Uneven spreads of random offsets: zipf, pareto, normal, exponential, power, zoned and listed
//! blocks.
//!
//! Zipf and pareto draw a rank (0 is the hottest block). Hot blocks are not neighbours: ranks are
//! spread over the region by a seeded permutation that is the same in every pass, so that a cache
//! sees the same hot set. fio hashes ranks instead; a permutation keeps two hot ranks from falling
//! on one block. All need memory only for their own list. Functions of floating-point numbers come
//! from the platform's mathematical library, so these spreads repeat exactly per build only.

use plan::workload::Distribution;

use crate::error::PatternError;
use crate::permutation::Permutation;
use crate::rng::{Rng, Stream, derive};

/// Draws before the normal distribution gives up on a deviate outside the region and takes the
/// mean. At least a third of all deviates lie inside with any deviation up to 100 %.
const N_NORMAL_TRIES: u32 = 64;

/// A spread over the blocks `0..n_blocks`.
#[derive(Clone, Debug)]
pub struct Spread {
    n_blocks: u64,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Uniform,
    Zipf(Zipf, HotSpots),
    /// The exponent of a uniform number.
    Pareto(f64, HotSpots),
    Normal {
        mean: f64,
        deviation: f64,
    },
    /// Exponential with this mean in blocks, wrapped.
    Exponential(f64),
    /// This power of a uniform number.
    Power(f64),
    Zoned {
        zones: Box<[Zone]>,
        /// Index of the zone per unit of access share.
        zone_by_share: Box<[u16]>,
        rng: Rng,
    },
    Sequence {
        blocks: Box<[u64]>,
        next: usize,
        /// Added to every block of this cycle.
        base: u64,
        /// Added to `base` after a cycle.
        step: u64,
        /// The largest base that keeps a cycle within the region.
        base_max: u64,
    },
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    start: u64,
    n_blocks: u64,
}

impl Spread {
    /// Builds a spread over `n_blocks` blocks of `block_bytes` each.
    ///
    /// `seed` and `idx` place the hot spots; `idx` tells directions apart.
    ///
    /// # Panics
    /// If there is no block, a block has no bytes, or a centre is no share of the region.
    pub fn new(
        distribution: &Distribution,
        n_blocks: u64,
        block_bytes: u64,
        seed: u64,
        idx: u64,
    ) -> Result<Self, PatternError> {
        assert!(n_blocks > 0, "a spread over {n_blocks} blocks");
        assert!(block_bytes > 0, "a spread over blocks of {block_bytes} B");
        let hot_spots = |centre| HotSpots::new(n_blocks, centre, derive(seed, Stream::Spread, idx));
        let out_of_range = |distribution, value: f64| PatternError::Distribution {
            distribution,
            value: value.to_string(),
        };
        let shape = match *distribution {
            Distribution::Uniform => Shape::Uniform,
            Distribution::Zipf { theta, centre } => {
                if !(theta > 0.0 && theta.is_finite()) {
                    return Err(out_of_range("zipf", theta));
                }
                Shape::Zipf(Zipf::new(n_blocks, theta), hot_spots(centre))
            }
            Distribution::Pareto { h, centre } => {
                if !(h > 0.0 && h < 1.0) {
                    return Err(out_of_range("pareto", h));
                }
                Shape::Pareto(h.ln() / (1.0 - h).ln(), hot_spots(centre))
            }
            Distribution::Normal { deviation_pct, centre } => {
                if !(0.0..=100.0).contains(&deviation_pct) {
                    return Err(out_of_range("normal", deviation_pct));
                }
                let mean = share_of(centre.unwrap_or(0.5)) * n_blocks as f64;
                Shape::Normal { mean, deviation: deviation_pct / 100.0 * n_blocks as f64 }
            }
            Distribution::Exponential { mean } => {
                if !(mean > 0.0 && mean.is_finite()) {
                    return Err(out_of_range("exponential", mean));
                }
                Shape::Exponential(mean * n_blocks as f64)
            }
            Distribution::Power { exponent } => {
                if !(exponent >= 1.0 && exponent.is_finite()) {
                    return Err(out_of_range("power", exponent));
                }
                Shape::Power(exponent)
            }
            Distribution::Zoned(ref shares) => zoned(
                shares.iter().map(|&(access, size)| (access, u64::from(size), 100)),
                n_blocks,
                Rng::for_stream(seed, Stream::Zone, idx),
            )?,
            Distribution::ZonedAbs(ref shares) => zoned(
                shares.iter().map(|&(access, bytes)| (access, bytes / block_bytes, 0)),
                n_blocks,
                Rng::for_stream(seed, Stream::Zone, idx),
            )?,
            Distribution::Sequence(ref blocks) => sequence(blocks, n_blocks)?,
        };
        Ok(Spread { n_blocks, shape })
    }

    /// Lets a sequence of blocks move on by its own number of blocks after each cycle (fio's
    /// `random_sequence_stride`). Other distributions stay as they are.
    #[must_use]
    pub fn advancing(mut self) -> Self {
        if let Shape::Sequence { blocks, step, .. } = &mut self.shape {
            *step = blocks.len() as u64;
        }
        self
    }

    /// Draws the next block.
    #[inline]
    pub fn next(&mut self, rng: &mut Rng) -> u64 {
        match &mut self.shape {
            Shape::Uniform => rng.bounded(self.n_blocks),
            Shape::Zipf(zipf, hot_spots) => hot_spots.block(zipf.rank(rng)),
            Shape::Pareto(exponent, hot_spots) => {
                // The self-similar distribution of J. Gray et al., "Quickly Generating
                // Billion-Record Synthetic Databases" (SIGMOD 1994).
                let share = rng.unit_f64().powf(*exponent);
                let rank = (share * self.n_blocks as f64) as u64;
                hot_spots.block(rank.min(self.n_blocks - 1))
            }
            Shape::Normal { mean, deviation } => normal(rng, *mean, *deviation, self.n_blocks),
            Shape::Exponential(mean) => {
                // 1 less the draw is never 0.
                (-(1.0 - rng.unit_f64()).ln() * *mean) as u64 % self.n_blocks
            }
            Shape::Power(exponent) => {
                let block = (rng.unit_f64().powf(*exponent) * self.n_blocks as f64) as u64;
                block.min(self.n_blocks - 1)
            }
            Shape::Zoned { zones, zone_by_share, rng: zone_rng } => {
                let share = zone_rng.bounded(zone_by_share.len() as u64);
                let zone = zones[usize::from(zone_by_share[share as usize])];
                zone.start + rng.bounded(zone.n_blocks)
            }
            Shape::Sequence { blocks, next, base, step, base_max } => {
                let block = *base + blocks[*next];
                *next += 1;
                if *next == blocks.len() {
                    *next = 0;
                    *base = if *base + *step > *base_max { 0 } else { *base + *step };
                }
                block
            }
        }
    }
}

/// Builds zones from (share of accesses, size, what the whole region is in the size's unit; 0 when
/// the size is in blocks).
fn zoned(
    shares: impl Iterator<Item = (u8, u64, u64)>,
    n_blocks: u64,
    rng: Rng,
) -> Result<Shape, PatternError> {
    let mut zones = Vec::new();
    let mut zone_by_share = Vec::new();
    let mut size_sum = 0_u64;
    let block_at = |size: u64, whole: u64| {
        let block = match whole {
            0 => size,
            _ => (u128::from(size) * u128::from(n_blocks) / u128::from(whole)) as u64,
        };
        block.min(n_blocks)
    };
    for (access_share, size, whole) in shares {
        let start = block_at(size_sum, whole);
        size_sum = size_sum.saturating_add(size);
        let n_zone_blocks = block_at(size_sum, whole) - start;
        // A zone too small for one block, or past the end, gets no accesses.
        if n_zone_blocks == 0 || access_share == 0 {
            continue;
        }
        let zone_idx = zones.len() as u16;
        zones.push(Zone { start, n_blocks: n_zone_blocks });
        zone_by_share.extend(std::iter::repeat_n(zone_idx, usize::from(access_share)));
    }
    if zones.is_empty() || zones.len() > usize::from(u16::MAX) {
        return Err(PatternError::Distribution {
            distribution: "zoned",
            value: format!("{} zones that hold a block", zones.len()),
        });
    }
    Ok(Shape::Zoned { zones: zones.into(), zone_by_share: zone_by_share.into(), rng })
}

fn sequence(blocks: &[u64], n_blocks: u64) -> Result<Shape, PatternError> {
    let Some(&last) = blocks.iter().max() else {
        let value = "an empty list".to_owned();
        return Err(PatternError::Distribution { distribution: "sequence", value });
    };
    if let Some(&block) = blocks.iter().find(|&&block| block >= n_blocks) {
        return Err(PatternError::SequenceBlock { block, n_blocks });
    }
    let base_max = n_blocks - 1 - last;
    Ok(Shape::Sequence { blocks: blocks.into(), next: 0, base: 0, step: 0, base_max })
}

/// Draws from a normal distribution cut off at the region's ends (G. Marsaglia's polar method).
fn normal(rng: &mut Rng, mean: f64, deviation: f64, n_blocks: u64) -> u64 {
    let mut tries = 0;
    while tries < N_NORMAL_TRIES {
        let x = rng.unit_f64() * 2.0 - 1.0;
        let y = rng.unit_f64() * 2.0 - 1.0;
        let s = x * x + y * y;
        if s >= 1.0 || s == 0.0 {
            continue;
        }
        tries += 1;
        let block = mean + deviation * x * (-2.0 * s.ln() / s).sqrt();
        if block >= 0.0 && block < n_blocks as f64 {
            return (block as u64).min(n_blocks - 1);
        }
    }
    (mean as u64).min(n_blocks - 1)
}

/// Returns where a distribution has its centre, which is a share of the region.
fn share_of(centre: f64) -> f64 {
    assert!((0.0..=1.0).contains(&centre), "a centre at {centre} of the region");
    centre
}

/// Places ranks on blocks.
#[derive(Clone, Debug)]
struct HotSpots {
    places: Permutation,
    /// Added to each place, so that rank 0 falls on the centre.
    shift: u64,
}

impl HotSpots {
    fn new(n_blocks: u64, centre: Option<f64>, key: u64) -> Self {
        let places = Permutation::new(n_blocks, key);
        let n_blocks = places.domain();
        let shift = centre.map_or(0, |centre| {
            let block = (share_of(centre) * n_blocks as f64) as u64;
            (block.min(n_blocks - 1) + (n_blocks - places.get(0))) % n_blocks
        });
        HotSpots { places, shift }
    }

    #[inline]
    fn block(&self, rank: u64) -> u64 {
        let place = self.places.get(rank) + self.shift;
        if place >= self.places.domain() { place - self.places.domain() } else { place }
    }
}

/// Zipf's law: rank `k`, counted from 1, has a weight of `k^-theta`.
///
/// Rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-Inversion to Generate Variates
/// from Monotone Discrete Distributions", 1996): exact for every exponent, in constant memory and
/// time, where the sum over all weights that other methods need takes minutes for large devices.
#[derive(Clone, Debug)]
struct Zipf {
    n: f64,
    theta: f64,
    /// Integral of the weight up to 1.5, less the weight of rank 1.
    integral_first: f64,
    /// Integral of the weight up to `n + 0.5`.
    integral_last: f64,
    /// Ranks this close to the inverted integral are taken without a further look.
    squeeze: f64,
}

impl Zipf {
    fn new(n: u64, theta: f64) -> Self {
        let n = n as f64;
        Zipf {
            n,
            theta,
            integral_first: integral(theta, 1.5) - 1.0,
            integral_last: integral(theta, n + 0.5),
            squeeze: 2.0 - integral_inverse(theta, integral(theta, 2.5) - weight(theta, 2.0)),
        }
    }

    /// Draws a rank, counted from 0.
    fn rank(&self, rng: &mut Rng) -> u64 {
        loop {
            let area =
                self.integral_last + rng.unit_f64() * (self.integral_first - self.integral_last);
            let x = integral_inverse(self.theta, area);
            let rank = x.round().clamp(1.0, self.n);
            if rank - x <= self.squeeze
                || area >= integral(self.theta, rank + 0.5) - weight(self.theta, rank)
            {
                return rank as u64 - 1;
            }
        }
    }
}

fn weight(theta: f64, x: f64) -> f64 {
    (-theta * x.ln()).exp()
}

/// Integrates the weight from 1 to `x`: `(x^(1 - theta) - 1) / (1 - theta)`, or `ln x` for 1.
fn integral(theta: f64, x: f64) -> f64 {
    let ln_x = x.ln();
    let t = (1.0 - theta) * ln_x;
    // exp_m1(t) / t, whose limit at 0 is 1.
    let ratio = if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 };
    ratio * ln_x
}

/// Inverts [`integral`].
fn integral_inverse(theta: f64, area: f64) -> f64 {
    let t = (area * (1.0 - theta)).max(-1.0);
    // ln_1p(t) / t, whose limit at 0 is 1.
    let ratio = if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 };
    (ratio * area).exp()
}
