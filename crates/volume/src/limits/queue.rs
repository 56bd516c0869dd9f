//! Queue depth, latency and rate: Little's law.

/// Returns the rate that so many I/Os in flight make at a latency.
pub(super) fn rate(in_flight: f64, latency_s: f64) -> f64 {
    in_flight / latency_s
}

/// Returns the latency at which so many I/Os in flight make a rate, in seconds.
pub(super) fn latency_s(in_flight: f64, iops: f64) -> f64 {
    in_flight / iops
}
