//! Values and histograms for the property tests.

use hist::Histogram;
use proptest::prelude::*;

/// Latencies as they occur (100 ns to 1000 s, evenly over the octaves), with odd ones in between.
pub(crate) fn latency_ns() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => (7..40_u32, any::<u64>())
            .prop_map(|(bits, raw)| (1 << bits) | (raw & ((1 << bits) - 1))),
        1 => 0..300_u64,
        1 => (0..64_u32, any::<u64>()).prop_map(|(bits, raw)| raw >> bits),
    ]
}

/// Up to 200 latencies.
pub(crate) fn latencies() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(latency_ns(), 0..200)
}

/// Returns the histogram of some latencies.
pub(crate) fn histogram_of(latencies_ns: &[u64]) -> Histogram {
    let mut hist = Histogram::new();
    for &latency_ns in latencies_ns {
        hist.record(latency_ns);
    }
    hist
}
