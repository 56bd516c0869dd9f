//! A rate that changes within a run.
//!
//! A schedule at the largest rate counts how much is offered; here that amount becomes the time at
//! which the changing rate has offered as much. So gaps stretch by what the rate falls to, wherever
//! in them it changes, and a random process stays one of independent gaps. Vdbench draws each gap
//! at the rate of the second in which it begins, so that one drawn at 1 I/O per second runs far
//! into a second of 1000.

use plan::load::RatePeriods;

/// Rates are kept in millionths, in which those that people write are whole.
const PARTS: f64 = 1e6;

/// Rates above it count as this, far beyond what anything carries; products stay within 128 bits.
const RATE_MAX: f64 = 1e12;

/// Nanoseconds per second.
const NS_PER_S: u64 = 1_000_000_000;

/// The way from the schedule of a job's largest rate to that of its periods.
///
/// Amounts are nanoseconds at the largest rate times that rate, in whole numbers: nothing drifts.
#[derive(Clone, Debug)]
pub struct Periods {
    listed: Box<[Period]>,
    in_spikes: bool,
    rate_max: u128,
    /// What a cycle offers, above 0, and how long it lasts.
    cycle_amount: u128,
    cycle_ns: u64,
    /// The current period, and what was offered, and when it began.
    idx: usize,
    since_amount: u128,
    since_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Period {
    rate: u128,
    duration_ns: u64,
}

impl Period {
    fn amount(self) -> u128 {
        self.rate * u128::from(self.duration_ns)
    }
}

impl Periods {
    /// Starts at the first period; `None` if none of them offers anything.
    pub fn new(rates: &RatePeriods) -> Option<Self> {
        let period = |it: &plan::load::RatePeriod| Period {
            rate: u128::from((it.rate.clamp(0.0, RATE_MAX) * PARTS).round() as u64),
            duration_ns: it.duration_ns,
        };
        let listed: Box<[Period]> = rates.periods.iter().map(period).collect();
        let cycle_amount = listed.iter().map(|it| it.amount()).fold(0, u128::saturating_add);
        let rate_max = listed.iter().map(|it| it.rate).max()?;
        (cycle_amount > 0).then_some(Periods {
            listed,
            in_spikes: rates.in_spikes,
            rate_max,
            cycle_amount,
            cycle_ns: rates.cycle_ns(),
            idx: 0,
            since_amount: 0,
            since_ns: 0,
        })
    }

    /// Returns when something is due that would be due at `at_max_ns` if the rate were always the
    /// largest, both in nanoseconds after the start. Times asked for never fall.
    ///
    /// What falls on the border of two periods belongs to the later one that offers anything.
    pub fn due_ns(&mut self, at_max_ns: u64) -> u64 {
        let amount = u128::from(at_max_ns) * self.rate_max;
        let period = loop {
            let period = self.listed[self.idx];
            if amount - self.since_amount < period.amount() {
                break period;
            }
            self.go_on(period, amount);
        };
        // Below the period's duration.
        let within_ns = ((amount - self.since_amount) / period.rate) as u64;
        let due_ns = self.since_ns.saturating_add(within_ns);
        if self.in_spikes { due_ns / NS_PER_S * NS_PER_S } else { due_ns }
    }

    /// Returns until when a rate that were always the largest would offer what is due before
    /// `at_ns`, both in nanoseconds after the start.
    pub fn at_max_ns(&self, at_ns: u64) -> u64 {
        // What is due within a second is due when it begins.
        let at_ns = if self.in_spikes { at_ns.div_ceil(NS_PER_S) * NS_PER_S } else { at_ns };
        let n_cycles = at_ns.checked_div(self.cycle_ns).unwrap_or(0);
        let mut amount = u128::from(n_cycles).saturating_mul(self.cycle_amount);
        let mut left_ns = at_ns - n_cycles * self.cycle_ns;
        for period in &self.listed {
            let within_ns = left_ns.min(period.duration_ns);
            amount = amount.saturating_add(period.rate * u128::from(within_ns));
            left_ns -= within_ns;
        }
        u64::try_from(amount.div_ceil(self.rate_max.max(1))).unwrap_or(u64::MAX)
    }

    /// Goes on to the next period; past whole cycles at once.
    fn go_on(&mut self, period: Period, amount: u128) {
        self.since_amount += period.amount();
        self.since_ns = self.since_ns.saturating_add(period.duration_ns);
        self.idx += 1;
        if self.idx == self.listed.len() {
            self.idx = 0;
            let n_cycles = (amount - self.since_amount) / self.cycle_amount;
            self.since_amount += n_cycles * self.cycle_amount;
            let passed_ns = u128::from(self.cycle_ns) * n_cycles;
            let passed_ns = u64::try_from(passed_ns).unwrap_or(u64::MAX);
            self.since_ns = self.since_ns.saturating_add(passed_ns);
        }
    }
}
