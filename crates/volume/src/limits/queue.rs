//! Queue depth, latency and rate: Little's law.

use super::bound::{Bound, least};

/// How near to a whole number of threads a product is taken for it: products of published figures
/// such as 0.0013 s x 5,000 carry rounding in their last bits.
const WHOLE: f64 = 1e-9;

/// Returns I/Os in flight: rate times latency.
pub fn in_flight(iops: f64, latency_s: f64) -> f64 {
    iops * latency_s
}

/// Returns the rate that so many I/Os in flight make at a latency.
pub fn rate(in_flight: f64, latency_s: f64) -> f64 {
    in_flight / latency_s
}

/// Returns the latency at which so many I/Os in flight make a rate, in seconds.
pub fn latency_s(in_flight: f64, iops: f64) -> f64 {
    in_flight / iops
}

/// Returns the threads of one I/O each that keep so many in flight.
pub fn threads(in_flight: f64) -> u64 {
    (in_flight - WHOLE).ceil().max(0.0) as u64
}

/// What a closed loop settles at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// I/Os per second.
    pub iops: f64,
    /// Mean latency, seconds.
    pub latency_s: f64,
    /// What holds the rate back; [`Bound::QueueDepth`] if more in flight would lift it.
    pub binds: Bound,
}

/// Returns where a closed loop settles: X = min(QD / L0, caps), L = max(L0, QD / X).
///
/// At the depth where both are equal the cap binds: more in flight would not lift the rate.
pub fn settle(queue_depth: f64, base_latency_s: f64, caps: &[(Bound, f64)]) -> Settled {
    let mut all = caps.to_vec();
    all.push((Bound::QueueDepth, rate(queue_depth, base_latency_s)));
    let least = least(None, &all);
    let latency_s = latency_s(queue_depth, least.rate).max(base_latency_s);
    Settled { iops: least.rate, latency_s, binds: least.binds }
}
