//! Command lines of diskspd: no text makes the parser panic or hang, and each finding has a
//! place in it.

#![no_main]

use dialects::{FilesOnly, LoadError, Overrides, Request, find_dialect};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let host = FilesOnly(|path: &str| match path {
        "self" => Ok(bytes.to_vec()),
        _ => Err(LoadError::NotFound),
    });
    let request = Request {
        files: &["self".to_owned(), "p=9".to_owned(), "MORE=-n".to_owned()],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: false,
        is_to_run: bytes.len() % 2 == 0,
    };
    let diskspd = find_dialect("diskspd").expect("it is a language");
    let parsed = diskspd.read(&request, &host).parsed;
    let text = dialects::foreign::text(bytes);
    for finding in parsed.diagnostics.iter().chain(&parsed.refusals) {
        let Some(span) = &finding.span else { continue };
        assert!(text.get(span.bytes.clone()).is_some(), "{finding:?}");
    }
});
