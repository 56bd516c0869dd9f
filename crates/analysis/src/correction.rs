//! Correcting latencies of a closed loop for the waits that it hides.

use hist::Histogram;

/// Adds the operations that a stall kept from being issued: for each latency `v`, also the
/// latencies `v - k`, `v - 2 k`, ... above 0, where `k` is the interval at which operations should
/// have come (`HdrHistogram`'s correction for coordinated omission).
///
/// Only for results taken elsewhere, in a closed loop with a known interval; mark what comes out as
/// corrected. Latencies counted from intended starts never need it. Each bucket counts with its
/// middle. An interval of 0 corrects nothing.
pub fn corrected(recorded: &Histogram, interval_ns: u64) -> Histogram {
    let mut corrected = recorded.clone();
    if interval_ns == 0 {
        return corrected;
    }
    for (low, high, n) in recorded.iter_nonempty() {
        let middle = low + (high - low) / 2;
        let mut missing = middle.saturating_sub(interval_ns);
        // Each step is a bucket's width or more: what falls into one bucket is added at once.
        while missing > 0 {
            let (bucket_low, _) = hist::bucket_bounds(hist::bucket_index(missing));
            let n_more = (missing - bucket_low.max(1)) / interval_ns;
            corrected.record_n(missing, n.saturating_mul(n_more + 1));
            let step = (n_more + 1).saturating_mul(interval_ns);
            missing = missing.saturating_sub(step);
        }
    }
    corrected
}
