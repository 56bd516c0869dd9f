//! The release archive: one static binary for x86-64 Linux, with what belongs beside it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{process, workspace};

/// Links the C library in, so that the binary runs on every distribution.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// What lies beside the binary.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Builds, checks and packs. Prints where the archive lies and how large the binary is.
pub(crate) fn run() -> Result<()> {
    if let Some(missing) = DOCUMENTS.iter().find(|name| !process::root().join(name).is_file()) {
        bail!("no {missing}, which belongs into the archive");
    }
    let binary = build()?;
    let image = fs::read(&binary).with_context(|| format!("cannot read {}", binary.display()))?;
    ensure!(is_static(&image)?, "{} needs libraries of its host", binary.display());

    let name = format!("plimsoll-{}-x86_64-linux", workspace::version());
    let dist = process::root().join("dist");
    let folder = dist.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    fs::copy(&binary, folder.join("plimsoll"))?;
    symlink("plimsoll", folder.join("fio"))?;
    for document in DOCUMENTS {
        fs::copy(process::root().join(document), folder.join(document))
            .with_context(|| format!("cannot copy `{document}`"))?;
    }
    write_completions(&binary, &folder.join("completions"))?;

    let archive = dist.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-czf"]);
    process::run(tar.arg(&archive).arg("-C").arg(&dist).arg(&name))?;
    let archive_bytes = fs::metadata(&archive)?.len();
    println!("plimsoll: static, {} B", image.len());
    println!("{}: {archive_bytes} B", archive.display());
    Ok(())
}

/// Builds the binary and returns its path.
fn build() -> Result<PathBuf> {
    let has_compiler =
        process::on_path("musl-gcc") || std::env::var_os("CC_x86_64_unknown_linux_musl").is_some();
    if !has_compiler {
        bail!("no C compiler for musl, which the allocator needs: `apt-get install musl-tools`");
    }
    if process::on_path("rustup") {
        process::run(Command::new("rustup").args(["target", "add", TARGET]))?;
    }
    let args = ["build", "--profile", "dist", "--locked", "--target", TARGET, "-p", "plimsoll"];
    process::run(&mut process::cargo(&args))?;
    Ok(workspace::target_dir()?.join(TARGET).join("dist").join("plimsoll"))
}

/// Writes one completion script per shell, made by the binary itself.
fn write_completions(binary: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for shell in ["bash", "zsh", "fish"] {
        let script = process::output(Command::new(binary).args(["completion", shell]))?;
        fs::write(folder.join(format!("plimsoll.{shell}")), script)?;
    }
    Ok(())
}

/// Program headers of an ELF file: the interpreter that loads libraries, and the dynamic table.
const PT_DYNAMIC: u64 = 2;
const PT_INTERP: u64 = 3;
/// Entry of the dynamic table that names a library.
const DT_NEEDED: u64 = 1;

/// Returns whether a 64-bit little-endian ELF file loads without an interpreter and libraries.
///
/// A static program may still have a dynamic table, because it relocates itself.
/// Layout: System V ABI, chapters 4 and 5.
fn is_static(image: &[u8]) -> Result<bool> {
    ensure!(image.starts_with(b"\x7fELF\x02\x01"), "not a 64-bit little-endian ELF file");
    let headers_at = field(image, 32, 8)?;
    let header_size = field(image, 54, 2)?;
    let n_headers = field(image, 56, 2)?;
    for header_idx in 0..n_headers {
        let header_at = headers_at.saturating_add(header_idx * header_size);
        match field(image, header_at, 4)? {
            PT_INTERP => return Ok(false),
            PT_DYNAMIC => {
                let table_at = field(image, header_at + 8, 8)?;
                let size = field(image, header_at + 32, 8)?;
                for entry_idx in 0..size / 16 {
                    if field(image, table_at.saturating_add(entry_idx * 16), 8)? == DT_NEEDED {
                        return Ok(false);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(true)
}

/// Reads an unsigned little-endian number of at most eight bytes.
fn field(image: &[u8], offset: u64, n_bytes: usize) -> Result<u64> {
    let start = usize::try_from(offset)?;
    let end = start.checked_add(n_bytes);
    let bytes = end.and_then(|end| image.get(start..end)).context("the ELF file is cut short")?;
    Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an ELF file with one program header and, at offset 128, a dynamic table.
    fn elf(header_type: u8, first_tag: u8) -> Vec<u8> {
        let mut image = vec![0; 160];
        image[..6].copy_from_slice(b"\x7fELF\x02\x01");
        image[32] = 64; // program headers at
        image[54] = 56; // size of one
        image[56] = 1; // how many
        image[64] = header_type;
        image[64 + 8] = 128; // contents at
        image[64 + 32] = 32; // size of the contents
        image[128] = first_tag;
        image
    }

    #[test]
    fn an_interpreter_or_a_library_is_not_static() {
        assert!(is_static(&elf(1, 0)).expect("valid"));
        assert!(is_static(&elf(2, 5)).expect("valid"));
        assert!(!is_static(&elf(2, 1)).expect("valid"));
        assert!(!is_static(&elf(3, 0)).expect("valid"));
    }

    #[test]
    fn a_broken_file_is_an_error() {
        assert!(is_static(b"#!/bin/sh\n").is_err());
        assert!(is_static(&elf(2, 0)[..140]).is_err());
        assert!(is_static(&elf(1, 0)[..40]).is_err());
    }

    #[test]
    fn this_program_is_what_it_was_built_as() {
        let path = std::env::current_exe().expect("a running program has a path");
        let image = fs::read(path).expect("readable");
        assert_eq!(is_static(&image).expect("valid"), cfg!(target_feature = "crt-static"));
    }
}
