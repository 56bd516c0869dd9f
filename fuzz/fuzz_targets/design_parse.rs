//! Files of designs: no text makes the parser panic, and what it takes has limits that are numbers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use volume::design::parse;
use volume::limits::{Load, alone, remedies};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (Some(design), _) = parse(&text) else { return };
    for volume in 0..design.volumes.len().min(4) as u16 {
        for (size_bytes, read_share, queue_depth) in [(8192, 0.7, Some(32)), (1 << 20, 0.0, None)] {
            let load = Load { queue_depth, ..Load::new(size_bytes, read_share) };
            let done = alone(&design, volume, &load);
            assert!(done.iops.is_finite() && done.iops >= 0.0, "{done:?}");
            for remedy in remedies(&design, volume, &load) {
                assert!(remedy.iops > done.iops, "{} lifts nothing of {done:?}", remedy.change);
            }
        }
    }
});
