//! What `plimsoll provision` prints for Linux, run on emulated disks: stripes, file systems and
//! mounts, and all of it again after the arrays were stopped.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::ram_disk::{Archive, Modules};
use crate::{process, workspace};

/// Programs of this host that the lines call. Busybox has others of some of these names, which do
/// less.
const PROGRAMS: [&str; 7] =
    ["mdadm", "mkfs.ext4", "mkfs.xfs", "blkid", "mount", "umount", "wipefs"];

/// Drivers of the disks, stripes and file systems; and what both file systems sum up with.
const MODULES: [&str; 6] = ["virtio_pci", "virtio_blk", "raid0", "ext4", "xfs", "crc32c_generic"];

/// Disks of the machine, and their size: the least that XFS is made on, and a bit.
const N_DISKS: usize = 7;
const DISK_BYTES: u64 = 400 << 20;

/// A stripe with each file system, and a single disk below a folder whose name has a blank.
const DESIGN: &str = "\
name = \"three volumes, and a name with a 'quote'\"

[[volume]]
name = \"data\"
mount = \"/mnt/data\"
disk = { size = \"400MiB\" }
count = 4
chunk = \"64KiB\"
file_system = \"ext4\"

[[volume]]
name = \"log\"
mount = \"/mnt/log\"
disk = { size = \"400MiB\" }
count = 2
chunk = \"256KiB\"
file_system = \"xfs\"

[[volume]]
name = \"temp\"
mount = \"/mnt/data/two words\"
disk = { size = \"400MiB\" }
file_system = \"xfs\"
";

/// Returns the first program that is missing on this host.
pub(super) fn missing() -> Option<&'static str> {
    PROGRAMS.into_iter().find(|program| find(program).is_none())
}

/// Prints the lines with this build, and runs them in the machine.
pub(super) fn run(cache: &Path, unpacked: &Path, kernel: &Path) -> Result<()> {
    let design = cache.join("stripes.toml");
    fs::write(&design, DESIGN)?;
    let mut archive = Archive::default();
    for folder in ["bin", "sbin", "dev", "proc", "sys", "modules", "etc", "mnt", "run", "tmp"] {
        archive.folder(folder);
    }
    archive.file("bin/busybox", &fs::read(unpacked.join("bin/busybox"))?, true);
    let program = workspace::target_dir()?.join("debug/plimsoll");
    for form in ["mdadm", "fstab"] {
        let mut provision = Command::new(&program);
        provision.arg("provision").arg(&design).args(["--as", form]);
        let lines = process::output(&mut provision)?;
        archive.file(&format!("{form}.sh"), lines.as_bytes(), true);
    }
    add_programs(&mut archive)?;
    let modules = Modules::find(&unpacked.join("lib/modules"))?.in_order(&MODULES)?;
    super::add_modules(&mut archive, &modules)?;
    archive.file("init", include_bytes!("stripes.sh"), true);
    let disk = cache.join("initrd-stripes");
    fs::write(&disk, archive.finish())?;
    let disks = Disks::make(cache)?;
    super::boot(kernel, &disk, &disks.args(), "stripes as printed")
}

fn find(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(Path::new);
    folders.into_iter().map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Adds the programs with the libraries that they are linked with.
fn add_programs(archive: &mut Archive) -> Result<()> {
    let mut libraries = BTreeSet::new();
    for program in PROGRAMS {
        let path = find(program).with_context(|| format!("`{program}` is not installed"))?;
        archive.file(&format!("sbin/{program}"), &fs::read(&path)?, true);
        let linked = process::output(Command::new("ldd").arg(&path))?;
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

/// Disks of the machine: files without contents, removed at the end.
struct Disks {
    paths: Vec<PathBuf>,
}

impl Disks {
    fn make(cache: &Path) -> Result<Disks> {
        let mut disks = Disks { paths: Vec::new() };
        for idx in 0..N_DISKS {
            let path = cache.join(format!("disk-{idx}"));
            File::create(&path)?.set_len(DISK_BYTES)?;
            disks.paths.push(path);
        }
        Ok(disks)
    }

    fn args(&self) -> Vec<String> {
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
