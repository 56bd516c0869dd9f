//! `/proc/self/mountstats`: no bytes make the reader panic, and what comes of them is a plan.

#![no_main]

use capture::{MountCounts, recognise};
use dialects::loader::NO_HOST;
use dialects::{LowerOptions, native};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = recognise(bytes);
    let mut mounts = MountCounts::default();
    if mounts.read(&mut &bytes[..]).is_err() {
        return;
    }
    let Ok(workload) = mounts.finish(&[]) else { return };
    let text = workload.to_toml("unit", "input");
    let parsed = native::parse_text("input.toml", &text, &LowerOptions::default(), &NO_HOST);
    assert!(!parsed.has_errors(), "{text}\n{:?}", parsed.diagnostics);
});
