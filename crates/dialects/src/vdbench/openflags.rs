//! `openflags=`.

use super::params::Param;
use super::run::OpenFlags;
use super::scan::Scan;

/// Reads flags for opening files; one that Linux does not know cannot run.
pub(super) fn open_flags(param: &Param, scan: &mut Scan<'_>) -> OpenFlags {
    let mut flags = OpenFlags::default();
    for word in &param.values.words {
        let lower = word.to_lowercase();
        match lower.as_str() {
            "o_direct" | "directio" => flags.direct = true,
            "o_dsync" | "o_rsync" | "o_sync" => flags.dsync = true,
            "fsync" => flags.fsync_on_close = true,
            _ => match lower.strip_prefix("0x").map(|hex| u32::from_str_radix(hex, 16)) {
                Some(Ok(bits)) => flags.raw_bits |= bits,
                _ => bad_flag(param, word, scan),
            },
        }
    }
    for number in &param.values.numbers {
        bad_flag(param, &(*number as i64).to_string(), scan);
    }
    flags
}

/// Vdbench finds a wrong flag only when it opens a file: a simulation passes.
fn bad_flag(param: &Param, word: &str, scan: &mut Scan<'_>) {
    let message = format!("`openflags=` does not know `{word}` on Linux");
    let help = "write o_direct, o_dsync, o_sync, fsync, or hexadecimal bits such as 0x4000";
    if scan.is_kind() {
        scan.findings.error_help(param.place, "unknown-openflag", message, help);
    } else {
        scan.findings.refuse(param.place, "unknown-openflag", message);
    }
}
