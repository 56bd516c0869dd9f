//! A package for Debian, Ubuntu and their kin. Format: deb(5), version 2.0.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use md5::{Digest, Md5};

use super::target::Target;
use super::tree::{Entry, Stamp, Tree, gzip};
use crate::{process, workspace};

/// Packs the files, which lie below `/`.
pub(super) fn pack(files: &Tree, target: &Target, stamp: Stamp) -> Result<Vec<u8>> {
    let mut control = Tree::default();
    control.put("control", Entry::File(about(files, target).into_bytes()));
    control.put("md5sums", Entry::File(sums(files).into_bytes()));
    let mut package = b"!<arch>\n".to_vec();
    append(&mut package, "debian-binary", b"2.0\n", stamp);
    append(&mut package, "control.tar.gz", &gzip(&control.tar("./", stamp)?), stamp);
    append(&mut package, "data.tar.gz", &gzip(&files.tar("./", stamp)?), stamp);
    Ok(package)
}

fn about(files: &Tree, target: &Target) -> String {
    format!(
        "Package: plimsoll\nVersion: {}\nArchitecture: {}\nMaintainer: the Plimsoll developers\n\
         Installed-Size: {}\nSection: utils\nPriority: optional\nDescription: {}\n",
        workspace::version(),
        target.debian,
        files.size_bytes().div_ceil(1024),
        super::ABOUT,
    )
}

/// Returns the sums that `dpkg --verify` compares with.
fn sums(files: &Tree) -> String {
    let mut sums = String::new();
    for (path, entry) in files.entries() {
        if let Entry::File(bytes) | Entry::Program(bytes) = entry {
            let _ = writeln!(sums, "{}  {path}", super::hex(&Md5::digest(bytes)));
        }
    }
    sums
}

/// Adds a member to an archive of `ar`. Each begins at an even place.
fn append(archive: &mut Vec<u8>, name: &str, bytes: &[u8], stamp: Stamp) {
    let header = format!("{name:<16}{:<12}0     0     100644  {:<10}`\n", stamp.0, bytes.len());
    archive.extend(header.as_bytes());
    archive.extend(bytes);
    if bytes.len() % 2 == 1 {
        archive.push(b'\n');
    }
}

/// Returns why a package cannot be tried out here.
pub(super) fn missing() -> Option<&'static str> {
    if !process::on_path("dpkg") || !process::on_path("dpkg-deb") {
        return Some("no dpkg, which installs it");
    }
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    (!is_root).then_some("only root may install with dpkg")
}

/// Installs a package in a folder of its own, runs the program and removes it again. Returns what
/// the program printed.
pub(super) fn try_out(package: &Path, target: &Target) -> Result<String> {
    let root = tempfile::tempdir()?;
    let dpkg = |args: &[&OsStr]| {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg("--root").arg(root.path()).arg("--log").arg(root.path().join("log"));
        process::output(dpkg.args(["--force-bad-path", "--force-architecture"]).args(args))
    };
    for folder in ["info", "updates", "triggers"] {
        fs::create_dir_all(root.path().join("var/lib/dpkg").join(folder))?;
    }
    fs::write(root.path().join("var/lib/dpkg/status"), "")?;
    dpkg(&["--install".as_ref(), package.as_os_str()])?;
    let program = root.path().join("usr/bin/plimsoll");
    let said = process::output(target.command(&program).arg("--version"))?;
    let changed = dpkg(&["--verify".as_ref(), "plimsoll".as_ref()])?;
    ensure!(changed.is_empty(), "what was installed is not what was packed: {changed}");
    dpkg(&["--remove".as_ref(), "plimsoll".as_ref()])?;
    let rest = root.path().join("usr");
    ensure!(!rest.exists(), "removing the package left {}", rest.display());
    Ok(said)
}
