//! What can hold a rate back, and the smallest of several caps.

use std::fmt;

use crate::cap::CapKind;

/// What holds a rate back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bound {
    /// Nothing: all that was asked for is achieved.
    Nothing,
    /// A cap of the design.
    Cap(CapKind),
    /// I/Os in flight: with no more of them, latency sets the rate.
    QueueDepth,
    /// Credits: the rate holds while they last.
    Credits,
}

impl Bound {
    /// Returns the name as it stands in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Nothing => "none",
            Bound::Cap(kind) => kind.name(),
            Bound::QueueDepth => "queue_depth",
            Bound::Credits => "credits",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What comes of a demand under several caps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Achieved {
    /// The rate, in the unit of the caps.
    pub rate: f64,
    /// What holds it back; [`Bound::Nothing`] if the demand is met.
    pub binds: Bound,
    /// The smallest cap, infinite without caps.
    pub cap: f64,
    /// The next larger cap and what it is.
    pub next: Option<(Bound, f64)>,
}

impl Achieved {
    /// Returns how far the next cap lies above the smallest: 0.25 is a quarter more.
    pub fn next_margin(&self) -> Option<f64> {
        self.next.map(|(_, cap)| headroom(cap, self.cap))
    }
}

/// Returns the smallest of a demand and caps in one unit. `None` asks for all there is. Of equal
/// caps the first one binds.
pub fn least(demand: Option<f64>, caps: &[(Bound, f64)]) -> Achieved {
    let mut sorted = caps.to_vec();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (binds, cap) = sorted.first().copied().unwrap_or((Bound::Nothing, f64::INFINITY));
    let next = sorted.get(1).copied();
    match demand {
        Some(demand) if demand <= cap => {
            Achieved { rate: demand, binds: Bound::Nothing, cap, next }
        }
        _ => Achieved { rate: cap, binds, cap, next },
    }
}

/// Returns how much larger a cap is than the need: 0.25 is a quarter more, below 0 it does not fit.
pub fn headroom(cap: f64, need: f64) -> f64 {
    cap / need - 1.0
}

/// Returns the fewest equal parts that carry a need.
pub fn count_for(need: f64, per_part: f64) -> u64 {
    (need / per_part).ceil() as u64
}

/// Shares a cap among needs: each gets its need, or an equal part of what is left.
pub fn water_fill(needs: &[f64], cap: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by(|&a, &b| needs[a].total_cmp(&needs[b]));
    let mut shares = vec![0.0; needs.len()];
    let mut left = cap;
    for (n_served, &idx) in order.iter().enumerate() {
        shares[idx] = needs[idx].min(left / (needs.len() - n_served) as f64);
        left -= shares[idx];
    }
    shares
}

/// Shares a cap among needs in their order: each takes what it needs while there is any.
pub fn first_come(needs: &[f64], cap: f64) -> Vec<f64> {
    let mut left = cap;
    let share = |need: &f64| {
        let share = need.min(left);
        left -= share;
        share
    };
    needs.iter().map(share).collect()
}
