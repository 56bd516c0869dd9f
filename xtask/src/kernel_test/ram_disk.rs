//! The initial RAM disk of the emulated machine: kernel modules in loading order, and an archive
//! that is written here, so that neither kmod nor cpio has to be installed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Kernel modules by name, as the kernel writes it: with `_` for `-`.
pub(super) struct Modules {
    paths: BTreeMap<String, PathBuf>,
}

impl Modules {
    /// Finds all modules below a folder.
    pub(super) fn find(folder: &Path) -> Result<Modules> {
        let mut paths = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder)
                .with_context(|| format!("cannot list {}", folder.display()))?;
            for entry in entries {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ext| ext == "ko") {
                    let name = path.file_stem().unwrap_or_default().to_string_lossy();
                    paths.insert(name.replace('-', "_"), path);
                }
            }
        }
        Ok(Modules { paths })
    }

    /// Returns the modules and all that they need, each after what it needs. A name without a file
    /// is built into the kernel.
    pub(super) fn in_order(&self, wanted: &[&str]) -> Result<Vec<PathBuf>> {
        let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
        for name in wanted {
            self.add(name, &mut seen, &mut order)?;
        }
        Ok(order)
    }

    fn add(&self, name: &str, seen: &mut BTreeSet<String>, to: &mut Vec<PathBuf>) -> Result<()> {
        let name = name.replace('-', "_");
        let Some(path) = self.paths.get(&name).filter(|_| seen.insert(name.clone())) else {
            return Ok(());
        };
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        for needed in depends(&bytes) {
            self.add(&needed, seen, to)?;
        }
        to.push(path.clone());
        Ok(())
    }
}

/// Returns the names in a module's `depends=`, which lies in it as plain text.
fn depends(module: &[u8]) -> Vec<String> {
    const MARK: &[u8] = b"\0depends=";
    let Some(at) = module.windows(MARK.len()).position(|window| window == MARK) else {
        return Vec::new();
    };
    let text = module[at + MARK.len()..].split(|byte| *byte == 0).next().unwrap_or_default();
    let names = String::from_utf8_lossy(text);
    names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// A cpio archive in the format that the kernel unpacks (`newc`).
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    n_files: u32,
}

impl Archive {
    /// Adds a folder.
    pub(super) fn folder(&mut self, name: &str) {
        self.add(name, 0o040_755, &[]);
    }

    /// Adds a file; programs are what may be run.
    pub(super) fn file(&mut self, name: &str, contents: &[u8], is_program: bool) {
        self.add(name, if is_program { 0o100_755 } else { 0o100_644 }, contents);
    }

    /// Ends the archive and returns it.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.add("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn add(&mut self, name: &str, mode: u32, contents: &[u8]) {
        self.n_files += 1;
        let (len, name_len) = (contents.len() as u32, name.len() as u32 + 1);
        // Number, mode, user, group, links, time, size, four device numbers, name, checksum.
        let fields = [self.n_files, mode, 0, 0, 1, 0, len, 0, 0, 0, 0, name_len, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(contents);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_needs_is_found_in_it() {
        assert_eq!(depends(b"\x7fELF\0license=GPL\0depends=sunrpc,nfs\0x=y\0"), ["sunrpc", "nfs"]);
        assert_eq!(depends(b"\0depends=\0"), [""; 0]);
        assert_eq!(depends(b"nothing"), [""; 0]);
    }

    #[test]
    fn an_archive_has_heads_of_one_length_and_is_aligned() {
        let mut archive = Archive::default();
        archive.folder("bin");
        archive.file("bin/a", b"12345", true);
        let bytes = archive.finish();
        assert_eq!(&bytes[..14], b"07070100000001");
        assert_eq!(&bytes[110..114], b"bin\0");
        assert!(bytes.len().is_multiple_of(4));
        assert!(bytes.windows(10).any(|window| window == b"TRAILER!!!"));
    }
}
