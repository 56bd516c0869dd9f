//! The histogram codec: no bytes make it panic, and what it accepts it writes back byte for byte.

#![no_main]

use hist::Histogram;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(decoded) = Histogram::decode(bytes) else { return };
    assert_eq!(decoded.encode(), bytes, "one histogram has one encoding");
    assert_eq!(Histogram::decode_text(&decoded.encode_text()), Ok(decoded.clone()));
    // What comes from outside must not overflow in later arithmetic either.
    let mut doubled = decoded.clone();
    doubled.merge(&decoded);
    let _ = (doubled.mean_ns(), doubled.stdev_ns(), doubled.quantile(0.99));
    assert!(doubled.delta_since(&decoded).count() <= doubled.count());
});
