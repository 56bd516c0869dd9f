//! How much must be in flight for a rate.

/// Returns the queue depth, all workers together, that a rate needs at a latency: Little's law,
/// rounded up to whole operations. None where a figure is not above 0, or there is no such depth.
///
/// The latency is that of the depth in question. That of depth 1, the best possible, gives the
/// least depth that can do.
pub fn depth_for(rate_iops: f64, latency_ns: f64) -> Option<u32> {
    let in_flight = rate_iops * (latency_ns / 1e9);
    if !(rate_iops > 0.0 && latency_ns > 0.0 && in_flight <= f64::from(u32::MAX)) {
        return None;
    }
    // 5,000 x 1 ms is meant to be 5, whatever binary fractions make of it.
    Some(((in_flight * (1.0 - 4.0 * f64::EPSILON)).ceil() as u32).max(1))
}
