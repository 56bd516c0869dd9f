//! Vdbench's parameter files: no text makes the parser panic or hang, whichever the mode, and each
//! finding has a place in it.

#![no_main]

use dialects::vdbench::{Mode, Options, parse_files, simulation, sniff};
use dialects::{LoadError, Loader};
use libfuzzer_sys::fuzz_target;

/// The only file there is. It may include itself.
const FILE_NAME: &str = "self";

/// A host with one file.
struct OneFile<'a>(&'a [u8]);

impl Loader for OneFile<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        if path == FILE_NAME { Ok(self.0.to_vec()) } else { Err(LoadError::NotFound) }
    }

    fn env(&self, _name: &str) -> Option<String> {
        None
    }

    fn page_size_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1024
    }

    fn n_cpus(&self) -> u32 {
        2
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mode = if bytes.len() % 2 == 0 { Mode::Kind } else { Mode::Compat };
    let options = Options { mode, ..Options::default() };
    let parsed = parse_files(&[FILE_NAME], &options, &OneFile(bytes));
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
