//! Iometer's test configurations: no text makes the parser panic or hang, and each finding has a
//! place in it.

#![no_main]

use dialects::{FilesOnly, Overrides, Request, find_dialect};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let host = FilesOnly(|_: &str| Ok(bytes.to_vec()));
    let request = Request {
        files: &["self".to_owned()],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: false,
        is_to_run: bytes.len() % 2 == 0,
    };
    let iometer = find_dialect("iometer").expect("it is a language");
    let parsed = iometer.read(&request, &host).parsed;
    let text = dialects::foreign::text(bytes);
    for finding in parsed.diagnostics.iter().chain(&parsed.refusals) {
        let Some(span) = &finding.span else { continue };
        assert!(text.get(span.bytes.clone()).is_some(), "{finding:?}");
    }
});
