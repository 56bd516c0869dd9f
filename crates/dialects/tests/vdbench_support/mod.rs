//! A host made of maps, and findings as text, for the tests of Vdbench's language.
#![allow(dead_code, reason = "each test file uses another part")]

use std::collections::BTreeMap;

use dialects::vdbench::{Options, Parsed, parse_text, simulation};
use dialects::{LoadError, Loader};
use plan::{Diagnostic, Severity};

/// A host with these files; all host names exist but those listed.
#[derive(Default)]
pub(crate) struct MapHost {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) unknown_hosts: Vec<String>,
}

impl MapHost {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        MapHost { files: files.collect(), unknown_hosts: Vec::new() }
    }
}

impl Loader for MapHost {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        self.files.get(path).cloned().ok_or(LoadError::NotFound)
    }

    fn host_exists(&self, name: &str) -> bool {
        !self.unknown_hosts.iter().any(|unknown| unknown == name)
    }

    fn env(&self, _name: &str) -> Option<String> {
        None
    }

    fn page_size_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        8192
    }

    fn n_cpus(&self) -> u32 {
        4
    }
}

/// Parses a parameter file on an empty host, in the kind mode.
pub(crate) fn kind(text: &str) -> Parsed {
    parse_text("test.parm", text, &Options::default(), &MapHost::default())
}

/// Parses it as 5.04.07 does.
pub(crate) fn compat(text: &str) -> Parsed {
    parse_text("test.parm", text, &Options::compat(), &MapHost::default())
}

/// Writes a finding as `severity code line:column message`.
pub(crate) fn shown(finding: &Diagnostic) -> String {
    let severity = match finding.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let place = finding
        .span
        .as_ref()
        .map_or_else(|| "-".to_owned(), |span| format!("{}:{}", span.line, span.column));
    format!("{severity} {} {place} {}", finding.code, finding.message)
}

/// Writes all findings, one per line.
pub(crate) fn all_shown(findings: &[Diagnostic]) -> String {
    findings.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// Writes the run list, without its prefix and its last line; or the mistakes.
pub(crate) fn runs(parsed: &Parsed) -> String {
    if parsed.has_errors() {
        let errors = parsed.diagnostics.iter().filter(|f| f.severity == Severity::Error);
        return errors.map(shown).collect::<Vec<_>>().join("\n");
    }
    let text = simulation(parsed);
    let lines = text.lines().filter_map(|line| line.strip_prefix("Simulating RD="));
    lines.collect::<Vec<_>>().join("\n")
}
