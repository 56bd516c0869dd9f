//! `plimsoll capture` on what this host may not have: a mount of NFS, and control groups of both
//! versions on a disk that others use, too.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::disks::Disks;
use super::ram_disk::{Archive, Modules};
use super::{EXPORT, Export, add_mount_program, programs};
use crate::workspace;

/// Drivers of the network card and the disk, the client and a file system.
const MODULES: [&str; 6] =
    ["virtio_pci", "virtio_net", "virtio_blk", "nfsv3", "ext4", "crc32c_generic"];

/// Size of the disk.
const DISK_BYTES: u64 = 256 << 20;

/// What makes the file system.
pub(super) const MKFS: &str = "mkfs.ext4";

/// Captures beside programs whose I/O is known.
pub(super) fn run(cache: &Path, unpacked: &Path, kernel: &Path) -> Result<()> {
    let port = super::free_port()?;
    let mut archive = Archive::default();
    for folder in ["bin", "sbin", "dev", "proc", "sys", "modules", "etc", "mnt", "tmp", "cg"] {
        archive.folder(folder);
    }
    archive.file("bin/busybox", &fs::read(unpacked.join("bin/busybox"))?, true);
    add_mount_program(&mut archive, cache)?;
    let ours = workspace::program()?;
    let all: Vec<_> = programs::find(MKFS).into_iter().chain([ours]).collect();
    programs::add(&mut archive, &all)?;
    let modules = Modules::find(&unpacked.join("lib/modules"))?.in_order(&MODULES)?;
    super::add_modules(&mut archive, &modules)?;
    let init = include_str!("captures.sh")
        .replace("@EXPORT@", EXPORT)
        .replace("@PORT@", &port.to_string());
    archive.file("init", init.as_bytes(), true);
    let ram_disk = cache.join("initrd-captures");
    fs::write(&ram_disk, archive.finish())?;
    let _export = Export::start(cache, port, &[])?;
    let disks = Disks::make(cache, 1, DISK_BYTES)?;
    super::boot(kernel, &ram_disk, &disks.args(), "captures of NFS and of control groups")
}
