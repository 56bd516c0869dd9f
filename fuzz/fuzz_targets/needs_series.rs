//! Samples beside a file of needs: no text makes the reader panic, and rates of what it takes are
//! numbers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use needs::read_series;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(series) = read_series(&text, "needs.series.csv") else { return };
    for sample in series.values().flatten() {
        let rate = sample.rate(1.5);
        assert!(rate.is_finite() && rate >= 0.0, "{sample:?}");
    }
});
