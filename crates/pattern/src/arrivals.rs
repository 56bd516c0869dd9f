//! Intended start times under a rate.
//!
//! A schedule answers one question: when is the next operation of a direction due, counted from
//! the start of the step? It reads no clock and never waits, so a late generator cannot bend it: a
//! stall delays the submit and not the intended start, which keeps response time honest. The worker
//! may shift the whole schedule where think time does not count against the rate.
//!
//! Times are exact. fio's are whole microseconds, which makes its Poisson process up to 75 % too
//! fast at high rates.

use plan::load::{Arrivals as Spacing, Rate};

use crate::error::PatternError;
use crate::rng::{Rng, Stream};

/// Nanoseconds per second.
const NS_PER_S: u64 = 1_000_000_000;

/// The schedule of one direction of one worker.
#[derive(Clone, Debug)]
pub struct Arrivals {
    due_ns: u64,
    /// Operations or bytes per second.
    per_s: u64,
    is_bytes: bool,
    process: Process,
}

#[derive(Clone, Debug)]
enum Process {
    /// The exact due time is `due_ns + rest / per_s`, in nanoseconds; `rest` is below `per_s`.
    Linear { rest: u64 },
    /// Gaps drawn at random. The exact due time is `due_ns + rest_ns`; `rest_ns` is in `0.0..1.0`.
    Drawn { gap: Gap, rest_ns: f64, rng: Rng },
}

/// How a gap is drawn.
#[derive(Clone, Copy, Debug)]
enum Gap {
    Exponential,
    /// Even between none and twice the mean.
    Even,
}

impl Arrivals {
    /// Builds the schedule of a direction. `idx` tells the worker's directions apart.
    pub fn new(spacing: Spacing, rate: Rate, seed: u64, idx: u64) -> Result<Self, PatternError> {
        let (per_s, is_bytes) = match rate {
            Rate::Bytes(per_s) => (per_s, true),
            Rate::Iops(per_s) => (per_s, false),
        };
        if per_s == 0 {
            return Err(PatternError::ZeroRate);
        }
        let drawn = |gap| {
            let rng = Rng::for_stream(seed, Stream::Arrival, idx);
            Process::Drawn { gap, rest_ns: 0.0, rng }
        };
        let process = match spacing {
            Spacing::Linear => Process::Linear { rest: 0 },
            Spacing::Poisson => drawn(Gap::Exponential),
            Spacing::Uniform => drawn(Gap::Even),
        };
        Ok(Arrivals { due_ns: 0, per_s, is_bytes, process })
    }

    /// Returns when the next operation is due, in nanoseconds after the start of the step.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Returns the same, with a fraction of a nanosecond rounded up where the schedule is even.
    #[inline]
    pub fn due_up_ns(&self) -> u64 {
        match self.process {
            Process::Linear { rest } => self.due_ns.saturating_add(u64::from(rest > 0)),
            Process::Drawn { .. } => self.due_ns,
        }
    }

    /// Goes on to the operation after one of `len` bytes, which was due at [`Arrivals::due_ns`].
    ///
    /// Evenly spaced and exact: operation `k` is due at `k / rate` seconds, rounded down; with a
    /// rate in bytes, at the bytes of all operations before it over the rate. Adding a rounded gap
    /// each time was rejected: at 3,000 op/s the schedule would be 3.6 ms early after an hour.
    /// Drawn gaps have that mean, and their fractions are carried.
    #[inline]
    pub fn advance(&mut self, len: u32) {
        // 2^32 bytes times 10^9 fit into 64 bits.
        let amount = if self.is_bytes { u64::from(len) } else { 1 };
        match &mut self.process {
            Process::Linear { rest } => {
                // The sum stays below 2^63 + 2^62 unless the rate is beyond 2^63.
                let sum = (amount * NS_PER_S).saturating_add(*rest);
                self.due_ns = self.due_ns.saturating_add(sum / self.per_s);
                *rest = sum % self.per_s;
            }
            Process::Drawn { gap, rest_ns, rng } => {
                let mean_ns = amount as f64 * NS_PER_S as f64 / self.per_s as f64;
                let draw = rng.unit_f64();
                let of_mean = match gap {
                    // 1 - draw is never 0.
                    Gap::Exponential => -(1.0 - draw).ln(),
                    Gap::Even => 2.0 * draw,
                };
                let gap_ns = of_mean * mean_ns + *rest_ns;
                let whole_ns = gap_ns.floor();
                *rest_ns = gap_ns - whole_ns;
                self.due_ns = self.due_ns.saturating_add(whole_ns as u64);
            }
        }
    }
}
