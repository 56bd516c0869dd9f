//! Vdbench's parameter files: no text makes the parser panic or hang, whichever the mode, and each
//! finding has a place in it.

#![no_main]

use dialects::vdbench::{Mode, Options, parse_files, simulation, sniff};
use dialects::{FilesOnly, LoadError};
use libfuzzer_sys::fuzz_target;

/// The only file there is. It may include itself.
const FILE_NAME: &str = "self";

fuzz_target!(|bytes: &[u8]| {
    let mode = if bytes.len() % 2 == 0 { Mode::Kind } else { Mode::Compat };
    let options = Options { mode, ..Options::default() };
    let host = FilesOnly(|path: &str| match path {
        FILE_NAME => Ok(bytes.to_vec()),
        _ => Err(LoadError::NotFound),
    });
    let parsed = parse_files(&[FILE_NAME], &options, &host);
    for finding in parsed.diagnostics.iter().chain(&parsed.refusals) {
        assert!(!finding.message.is_empty());
        let Some(span) = &finding.span else { continue };
        let source_idx = span.source_idx.expect("a place lies in a file");
        let source = &parsed.sources[source_idx as usize];
        assert!(source.text.get(span.bytes.clone()).is_some(), "{finding:?}");
    }
    assert!(parsed.runs.is_empty() == parsed.has_errors());
    assert!(simulation(&parsed).contains("Total amount"));
    sniff(&String::from_utf8_lossy(bytes));
});
