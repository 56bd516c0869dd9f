//! What the targets of the fio dialect share: a small world to ask, and what must hold of any
//! answer.

use dialects::Parsed;
use dialects::{LoadError, Loader};
use plan::job::Source;

/// The only file there is. It may include itself.
pub const FILE_NAME: &str = "job.fio";

/// A host with one file and one variable.
pub struct OneFile<'a>(pub &'a [u8]);

impl Loader for OneFile<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        if path == FILE_NAME { Ok(self.0.to_vec()) } else { Err(LoadError::NotFound) }
    }

    fn env(&self, name: &str) -> Option<String> {
        (name == "SIZE").then(|| "1g".to_owned())
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

/// Every finding says something, and its place lies in its text.
pub fn check(parsed: &Parsed) {
    for finding in parsed.diagnostics.iter().chain(&parsed.refusals) {
        assert!(!finding.message.is_empty() && !finding.code.is_empty());
        let Some(span) = &finding.span else { continue };
        assert!(span.line >= 1 && span.column >= 1, "{finding:?}");
        let Some(source_idx) = span.source_idx else { continue };
        let Source { text, .. } = &parsed.plan.sources[source_idx as usize];
        assert!(text.get(span.bytes.clone()).is_some(), "{finding:?}");
    }
}
