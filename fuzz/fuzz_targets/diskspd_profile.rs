//! Profiles of diskspd, as a file and behind `-X`: no text makes the parser panic or hang, each
//! finding has a place in its text, and what a profile without mistakes asks for can be printed.

#![no_main]

use dialects::{FilesOnly, LoadError, Overrides, Request, diskspd, find_dialect};
use libfuzzer_sys::fuzz_target;

/// A command line that names the profile, and one that prints it.
const SCRIPT: &str = "diskspd -Xself -d1 /m/a '#1'\ndiskspd -Xself -Rpxml\n";

fuzz_target!(|bytes: &[u8]| {
    let host = FilesOnly(|path: &str| match path {
        "self" => Ok(bytes.to_vec()),
        "script" => Ok(SCRIPT.as_bytes().to_vec()),
        _ => Err(LoadError::NotFound),
    });
    let overrides = Overrides::default();
    let diskspd = find_dialect("diskspd").expect("it is a language");
    for file in ["self", "script"] {
        let request = Request {
            files: &[file.to_owned()],
            sections: &[],
            overrides: &overrides,
            all_hosts_local: false,
            is_to_run: bytes.len() % 2 == 0,
        };
        let parsed = diskspd.read(&request, &host).parsed;
        for finding in parsed.diagnostics.iter().chain(&parsed.refusals) {
            let Some(span) = &finding.span else { continue };
            let Some(source_idx) = span.source_idx else { continue };
            let text = &parsed.plan.sources[source_idx as usize].text;
            assert!(text.get(span.bytes.clone()).is_some(), "{finding:?}");
        }
    }
    let _ = diskspd::profile("diskspd -Xself -Rpxml\n", &overrides, &host);
});
