//! Programs of this host in the emulated machine, with the libraries that they are linked with.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::ram_disk::Archive;
use crate::process;

/// Finds a program of this host.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(Path::new);
    folders.into_iter().map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Adds programs to the folder `sbin`, and what they are linked with to where they look for it.
pub(super) fn add(archive: &mut Archive, programs: &[PathBuf]) -> Result<()> {
    let mut libraries = BTreeSet::new();
    for path in programs {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        archive.file(&format!("sbin/{name}"), &fs::read(path)?, true);
        let linked = process::output(Command::new("ldd").arg(path))?;
        libraries.extend(libraries_of(&linked));
    }
    let mut folders = BTreeSet::new();
    for library in &libraries {
        let ancestors = library.ancestors().skip(1).filter(|folder| folder.parent().is_some());
        folders.extend(ancestors.map(Path::to_owned));
    }
    for folder in folders {
        archive.folder(name_in(&folder));
    }
    for library in &libraries {
        archive.file(name_in(library), &fs::read(library)?, true);
    }
    Ok(())
}

/// Returns the paths in what ldd prints.
fn libraries_of(linked: &str) -> BTreeSet<PathBuf> {
    let words = linked.split_whitespace().filter(|word| word.starts_with('/'));
    words.map(PathBuf::from).collect()
}

fn name_in(path: &Path) -> &str {
    path.to_str().unwrap_or_default().trim_start_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_the_paths_that_ldd_prints() {
        let said = "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x2)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x3)\n";
        let expected = ["/lib/x/libc.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from);
        assert_eq!(libraries_of(said), BTreeSet::from(expected));
    }
}
