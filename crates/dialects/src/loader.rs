//! What a dialect may ask the outside world, injected so that parsing stays pure.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// Largest file that a parser takes, in bytes: whatever is larger was named by mistake. A loader
/// may stop one byte behind it.
pub const FILE_BYTES_MAX: usize = 64 << 20;

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("no such file")]
    NotFound,
    /// The file may not be read.
    #[error("permission denied")]
    PermissionDenied,
    /// The path names a directory.
    #[error("is a directory")]
    IsDirectory,
    /// The system said this instead.
    #[error("{0}")]
    Failed(String),
}

/// What is at a path where a job works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lun {
    /// Nothing.
    Missing,
    /// Not even the folder that it would be in.
    NoFolder,
    /// A file of so many bytes.
    File(u64),
    /// Something that cannot be made or made longer: a device.
    Device,
}

/// Access to files, the environment and the host, for parsers that have none of their own.
pub trait Loader {
    /// Returns the contents of the file; the path `-` is the standard input.
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError>;

    /// Returns whether the path leads to a regular file.
    fn is_file(&self, path: &str) -> bool {
        self.read(path).is_ok()
    }

    /// Returns what is at a path.
    fn lun(&self, path: &str) -> Lun {
        self.read(path).map_or(Lun::Missing, |bytes| Lun::File(bytes.len() as u64))
    }

    /// Returns where a path leads, links followed as far as they are there: the same text for all
    /// ways to write it.
    fn real_path(&self, path: &str) -> String {
        plain_path(path)
    }

    /// Returns whether a host's name or address can be resolved.
    fn host_exists(&self, _name: &str) -> bool {
        true
    }

    /// Returns the value of an environment variable; `None` when it is not set.
    fn env(&self, name: &str) -> Option<String>;

    /// Returns the size of a memory page in bytes.
    fn page_size_bytes(&self) -> u64;

    /// Returns the size of main memory in MiB.
    fn memory_mib(&self) -> u64;

    /// Returns the number of CPUs that are online.
    fn n_cpus(&self) -> u32;
}

/// A host of which some things are known already. Each file is read once: a pipe gives its text
/// once, and what is asked later, as for results, is about what was run.
#[derive(Clone, Debug, Default)]
pub struct Overlay<L> {
    /// The host, which is asked for everything else.
    pub host: L,
    /// Environment variables in place of the host's.
    pub env: Vec<(String, String)>,
    /// By name, what was read.
    files: RefCell<BTreeMap<String, Result<Vec<u8>, LoadError>>>,
}

impl<L> Overlay<L> {
    /// Puts a file in the place of the host's.
    #[must_use]
    pub fn with_file(mut self, name: &str, bytes: Vec<u8>) -> Self {
        self.files.get_mut().insert(name.to_owned(), Ok(bytes));
        self
    }
}

impl<L: Loader> Loader for Overlay<L> {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        let mut files = self.files.borrow_mut();
        files.entry(path.to_owned()).or_insert_with(|| self.host.read(path)).clone()
    }

    fn is_file(&self, path: &str) -> bool {
        self.host.is_file(path)
    }

    fn lun(&self, path: &str) -> Lun {
        self.host.lun(path)
    }

    fn real_path(&self, path: &str) -> String {
        self.host.real_path(path)
    }

    fn host_exists(&self, name: &str) -> bool {
        self.host.host_exists(name)
    }

    fn env(&self, name: &str) -> Option<String> {
        let known = self.env.iter().find(|(known, _)| known == name);
        known.map_or_else(|| self.host.env(name), |(_, value)| Some(value.clone()))
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

/// Returns a path without what says nothing: doubled slashes, `.`, and a slash at the end.
fn plain_path(path: &str) -> String {
    let lead = if path.starts_with('/') { "/" } else { "" };
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    format!("{lead}{}", names.collect::<Vec<_>>().join("/"))
}

/// A host with nothing on it but files, which a function reads: no variable, one CPU, 1 GiB of
/// memory in pages of 4 KiB.
#[derive(Clone, Copy, Debug)]
pub struct FilesOnly<F>(
    /// Returns the contents of a file.
    pub F,
);

/// A function that returns the contents of a file.
pub type ReadFile = fn(&str) -> Result<Vec<u8>, LoadError>;

/// A host with nothing on it, no file either. For texts that ask for nothing: those that a program
/// makes itself, benchmarks, tests.
pub static NO_HOST: FilesOnly<ReadFile> = FilesOnly(|_| Err(LoadError::NotFound));

impl<F: Fn(&str) -> Result<Vec<u8>, LoadError>> Loader for FilesOnly<F> {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        (self.0)(path)
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
        1
    }
}
