//! Disks of the emulated machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Disks: files without contents, removed at the end.
pub(super) struct Disks {
    paths: Vec<PathBuf>,
}

impl Disks {
    /// Makes so many disks of so many bytes.
    pub(super) fn make(cache: &Path, n_disks: usize, size_bytes: u64) -> Result<Disks> {
        let mut disks = Disks { paths: Vec::new() };
        for idx in 0..n_disks {
            let path = cache.join(format!("disk-{idx}"));
            File::create(&path)?.set_len(size_bytes)?;
            disks.paths.push(path);
        }
        Ok(disks)
    }

    /// Returns what makes them part of the machine.
    pub(super) fn args(&self) -> Vec<String> {
        let of = |path: &PathBuf| {
            let drive = format!("file={},format=raw,if=virtio", path.display());
            ["-drive".to_owned(), drive]
        };
        self.paths.iter().flat_map(of).collect()
    }
}

impl Drop for Disks {
    fn drop(&mut self) {
        for path in &self.paths {
            let _ = fs::remove_file(path);
        }
    }
}
