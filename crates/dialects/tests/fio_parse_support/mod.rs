//! A host made of maps, and findings as text, for the tests of fio's language.
#![allow(dead_code, reason = "each test file uses another part")]

use std::collections::BTreeMap;

use dialects::fio::{Parsed, Wishes, parse_text};
use dialects::{LoadError, Loader};
use plan::{Diagnostic, Severity};

/// A host with these files and variables, 4 KiB pages, 8192 MiB and 4 CPUs.
#[derive(Default)]
pub(crate) struct MapHost {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) env: BTreeMap<String, String>,
    /// Every variable has this value.
    pub(crate) env_all: Option<String>,
}

impl MapHost {
    pub(crate) fn with(files: &[(&str, &str)], env: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        MapHost { files: files.collect(), env: env.collect(), env_all: None }
    }
}

impl Loader for MapHost {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        let path = path.strip_prefix("./").unwrap_or(path);
        self.files.get(path).cloned().ok_or(LoadError::NotFound)
    }

    fn env(&self, name: &str) -> Option<String> {
        self.env.get(name).or(self.env_all.as_ref()).cloned()
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

/// Parses a job file on an empty host.
pub(crate) fn parse(text: &str) -> Parsed {
    parse_text("test.fio", text, &Wishes::default(), &MapHost::default())
}

/// Writes a finding as `severity code line:column message | help`.
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
    let text = format!("{severity} {} {place} {}", finding.code, finding.message);
    std::iter::once(&text).chain(&finding.help).cloned().collect::<Vec<_>>().join(" | ")
}

/// Writes all findings, one per line.
pub(crate) fn all_shown(findings: &[Diagnostic]) -> String {
    findings.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// Shows the lines in which two values differ.
pub(crate) fn difference<T: std::fmt::Debug>(before: &T, after: &T) -> String {
    let (before, after) = (format!("{before:#?}"), format!("{after:#?}"));
    let pairs = before.lines().zip(after.lines()).filter(|(before, after)| before != after);
    pairs.take(9).map(|(before, after)| format!("-{before}\n+{after}\n")).collect()
}
