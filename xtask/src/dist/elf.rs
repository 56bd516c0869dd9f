//! What an ELF file says of a program: for which machine, and whether it needs libraries.

use anyhow::{Context, Result, ensure};

/// Program headers of an ELF file: the interpreter that loads libraries, and the dynamic table.
const PT_DYNAMIC: u64 = 2;
const PT_INTERP: u64 = 3;
/// Entry of the dynamic table that names a library.
const DT_NEEDED: u64 = 1;

/// Returns whether a 64-bit little-endian ELF file loads without an interpreter and libraries.
///
/// A static program may still have a dynamic table, because it relocates itself.
/// Layout: System V ABI, chapters 4 and 5.
pub(super) fn is_static(image: &[u8]) -> Result<bool> {
    check(image)?;
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

/// Returns `e_machine`, the kind of machine that an ELF file is for.
pub(super) fn machine(image: &[u8]) -> Result<u64> {
    check(image)?;
    field(image, 18, 2)
}

fn check(image: &[u8]) -> Result<()> {
    ensure!(image.starts_with(b"\x7fELF\x02\x01"), "not a 64-bit little-endian ELF file");
    Ok(())
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
        let image = std::fs::read(path).expect("readable");
        assert_eq!(is_static(&image).expect("valid"), cfg!(target_feature = "crt-static"));
    }
}
