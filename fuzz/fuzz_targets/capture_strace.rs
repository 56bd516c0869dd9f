//! `strace`: no bytes make the reader panic or hang, and what comes of them is a plan.

#![no_main]

use capture::{CallTrace, Scope, recognise};
use dialects::loader::NO_HOST;
use dialects::{LowerOptions, native};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = recognise(bytes);
    let mut trace = CallTrace::new(Scope::default());
    if let Err(error) = trace.read("input", &mut &bytes[..]) {
        assert!(!error.to_string().is_empty());
    }
    let Ok(workload) = trace.finish() else { return };
    let text = workload.to_toml("unit", "input");
    let parsed = native::parse_text("input.toml", &text, &LowerOptions::default(), &NO_HOST);
    assert!(!parsed.has_errors(), "{text}\n{:?}", parsed.diagnostics);
});
