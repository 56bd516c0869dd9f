//! What `plimsoll provision` prints for Linux, run on emulated disks: stripes, file systems and
//! mounts, and all of it again after the arrays were stopped.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::disks::Disks;
use super::programs;
use super::ram_disk::{Archive, Modules};
use crate::{process, workspace};

/// Programs of this host that the lines call. Busybox has others of some of these names, which do
/// less.
const PROGRAMS: [&str; 8] =
    ["mdadm", "mkfs.ext4", "mkfs.xfs", "blkid", "blockdev", "mount", "umount", "mountpoint"];

/// Drivers of the disks, stripes and file systems; and what both file systems sum up with.
const MODULES: [&str; 6] = ["virtio_pci", "virtio_blk", "raid0", "ext4", "xfs", "crc32c_generic"];

/// Disks of the machine, and their size: the least that XFS is made on, and a bit.
const N_DISKS: usize = 7;
const DISK_BYTES: u64 = 400 << 20;

/// A stripe with each file system, and a single disk below a folder whose name has a blank. Of the
/// cloud whose disks are found by links.
const DESIGN: &str = "\
name = \"three volumes, and a name with a 'quote'\"
cloud = \"azure\"

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
    PROGRAMS.into_iter().find(|program| programs::find(program).is_none())
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
    let program = workspace::program()?;
    for form in ["mdadm", "fstab"] {
        let mut provision = Command::new(&program);
        provision.arg("provision").arg(&design).args(["--as", form]);
        let lines = process::output(&mut provision)?;
        archive.file(&format!("{form}.sh"), lines.as_bytes(), true);
    }
    let found = PROGRAMS.into_iter().filter_map(programs::find);
    programs::add(&mut archive, &found.collect::<Vec<_>>())?;
    let modules = Modules::find(&unpacked.join("lib/modules"))?.in_order(&MODULES)?;
    super::add_modules(&mut archive, &modules)?;
    archive.file("init", include_bytes!("stripes.sh"), true);
    let disk = cache.join("initrd-stripes");
    fs::write(&disk, archive.finish())?;
    let disks = Disks::make(cache, N_DISKS, DISK_BYTES)?;
    super::boot(kernel, &disk, &disks.args(), "stripes as printed")
}
