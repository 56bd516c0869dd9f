//! The random numbers of every generator.
//!
//! The generator is xoshiro256++ 1.0 (D. Blackman and S. Vigna, 2019; public domain), seeded
//! through `SplitMix64`. Both are named and frozen: a stored seed must give the same run in every
//! later version. Test vectors of the authors' programs guard them.

/// What a stream of random numbers decides. One stream per decision keeps decisions independent: a
/// workload that switches one feature on draws the same numbers for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// The seed of a worker, from the seed of its job.
    Worker = 1,
    /// Random offsets.
    Offset = 2,
    /// Which zone of a zoned distribution.
    Zone = 3,
    /// Random or sequential, under a share of random I/O.
    Walk = 4,
    /// Block sizes.
    Size = 5,
    /// Read or write.
    Mix = 6,
    /// Which file.
    File = 7,
    /// Contents of write buffers.
    Contents = 8,
    /// Which write buffers are duplicates.
    Dedupe = 9,
    /// Gaps between intended starts.
    Arrival = 10,
    /// Where on the target a distribution's hot blocks lie.
    Spread = 11,
    /// Order of the blocks within a pass.
    Pass = 12,
    /// The seed of one of a worker's files.
    Target = 13,
    /// Which I/Os carry a priority of their own.
    Priority = 14,
    /// The seed of one of the workloads that a worker mixes, and the start of their sequence.
    Part = 18,
    /// Where a walk starts that does not start at the region's start.
    Start = 15,
    /// Which I/Os go to the hit area.
    Hit = 16,
    /// The seed of one of several walks over the same file.
    Substream = 17,
    /// The seed of one of several hosts that each run the whole job.
    Host = 19,
}

/// Steps of the `SplitMix64` counter: 2^64 divided by the golden ratio, made odd.
const SPLITMIX_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

pub use units::mix64;

/// Returns the next number of a `SplitMix64` counter.
#[inline]
pub(crate) fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(SPLITMIX_STEP);
    mix64(*state)
}

/// Derives the seed of a stream's `idx`-th member (a worker, file, direction or pass).
///
/// Different streams and members get seeds as good as independent; the same arguments always get
/// the same seed.
pub fn derive(seed: u64, stream: Stream, idx: u64) -> u64 {
    let mut state = seed;
    let seed = splitmix64(&mut state);
    let mut state = seed ^ (stream as u64).wrapping_mul(SPLITMIX_STEP);
    let seed = splitmix64(&mut state);
    let mut state = seed ^ idx;
    splitmix64(&mut state)
}

/// A probability in the form in which it is drawn fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// Draws of 64 bits below this say yes.
    below: u128,
}

impl Chance {
    /// Makes a probability from percent, to a millionth of a percent. Whole percentages draw as
    /// [`Rng::percent`] does.
    ///
    /// # Panics
    /// If it is no percentage from 0 to 100.
    pub fn from_pct(pct: f64) -> Self {
        assert!((0.0..=100.0).contains(&pct), "a chance of {pct} %");
        let millionths = (pct * 1e6).round() as u128;
        Chance { below: (millionths << 64).div_ceil(100_000_000) }
    }
}

/// A generator of random numbers: xoshiro256++.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Builds a generator whose state is filled by `SplitMix64` from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        Rng { state: std::array::from_fn(|_| splitmix64(&mut counter)) }
    }

    /// Builds the generator of a stream's `idx`-th member; see [`derive`](fn@derive).
    pub fn for_stream(seed: u64, stream: Stream, idx: u64) -> Self {
        Rng::new(derive(seed, stream, idx))
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a number in `0..n`, or 0 when `n` is 0.
    ///
    /// The upper half of a widening multiply. The bias is at most `n` in 2^64, which no measurable
    /// number of I/Os shows; rejection, which would remove it, costs a branch.
    #[inline]
    pub fn bounded(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Returns a number in `0.0..1.0`, a multiple of 2^-53.
    #[inline]
    pub fn unit_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Returns true with this probability. Always draws exactly one number.
    #[inline]
    pub fn chance(&mut self, chance: Chance) -> bool {
        u128::from(self.next_u64()) < chance.below
    }

    /// Returns true with a probability of `pct` percent. Always draws exactly one number.
    #[inline]
    pub fn percent(&mut self, pct: u8) -> bool {
        self.bounded(100) < u64::from(pct)
    }
}
