//! A host made of maps, folders of real files, and findings as text, for tests of all languages.
#![allow(dead_code, reason = "each test file uses another part")]

pub(crate) mod fio;
pub(crate) mod vdbench;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dialects::{LoadError, Loader};
use plan::{Diagnostic, Severity};

/// A host with these files and variables, 4 KiB pages, 8192 MiB and 4 CPUs.
#[derive(Default)]
pub(crate) struct MapHost {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) env: BTreeMap<String, String>,
    /// Every variable has this value.
    pub(crate) env_all: Option<String>,
    /// Names of hosts that end so do not exist; all others do.
    pub(crate) unknown_hosts: Vec<String>,
}

impl MapHost {
    pub(crate) fn with(files: &[(&str, &str)], env: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        MapHost { files: files.collect(), env: env.collect(), ..MapHost::default() }
    }

    pub(crate) fn of_files(files: &[(&str, &str)]) -> Self {
        MapHost::with(files, &[])
    }
}

impl Loader for MapHost {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        let path = path.strip_prefix("./").unwrap_or(path);
        self.files.get(path).cloned().ok_or(LoadError::NotFound)
    }

    fn host_exists(&self, name: &str) -> bool {
        !self.unknown_hosts.iter().any(|unknown| name.ends_with(unknown))
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

/// A folder as current directory, on a host that has no other files.
pub(crate) struct FolderHost {
    pub(crate) path: PathBuf,
    pub(crate) host: MapHost,
}

impl Loader for FolderHost {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        std::fs::read(self.path.join(path)).map_err(|_| LoadError::NotFound)
    }

    fn host_exists(&self, name: &str) -> bool {
        self.host.host_exists(name)
    }

    fn env(&self, name: &str) -> Option<String> {
        self.host.env(name)
    }

    fn page_size_bytes(&self) -> u64 {
        self.host.page_size_bytes()
    }

    fn memory_mib(&self) -> u64 {
        self.host.memory_mib()
    }

    fn n_cpus(&self) -> u32 {
        self.host.n_cpus()
    }
}

/// Returns the rows of a folder's table below its head, cell by cell.
pub(crate) fn rows(folder: &Path, table: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join(table)).expect("it is there");
    text.lines().skip(1).map(|row| row.split('\t').map(str::to_owned).collect()).collect()
}

/// Writes a finding as `severity code line:column message`.
pub(crate) fn headline(finding: &Diagnostic) -> String {
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

/// Writes a finding as `severity code line:column message | help`.
pub(crate) fn shown(finding: &Diagnostic) -> String {
    let text = headline(finding);
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
