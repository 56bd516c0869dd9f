//! anchors.html: how large file structures are by their definition.

use super::number::{size, thousands};
use crate::vdbench::loops::short_size;
use crate::vdbench::lower_files::tree_spec;
use crate::vdbench::run::Fsd;

/// What a product of a number of files may be above a whole number for want of digits.
const SLACK: f64 = 1e-6;

/// What is there of a structure of files at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeSeen {
    /// Files with their whole size.
    pub n_files: u64,
    /// Folders.
    pub n_folders: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Files that were opened in the run so far; `None` where they are not counted.
    pub n_opened: Option<u64>,
    /// Their bytes.
    pub opened_bytes: u64,
}

/// Returns the console's line on how large a structure is by its definition.
pub(super) fn console_line(fsd: &Fsd) -> String {
    let spec = tree_spec(fsd);
    let count = |n: Option<u64>| n.map_or_else(|| "n/a".to_owned(), |n| n.to_string());
    let bytes = spec.expected_bytes().unwrap_or(0.0);
    format!(
        "Anchor size: anchor={}: dirs: {:>12}; files: {:>12}; bytes: {:>10} ({})",
        fsd.anchor,
        count(spec.n_folders()),
        count(spec.n_files()),
        short_size(bytes),
        thousands(bytes as u64)
    )
}

/// Returns the row of one structure, with what is there of it where that is known.
pub(super) fn row(fsd: &Fsd, seen: Option<&TreeSeen>) -> String {
    let spec = tree_spec(fsd);
    let count = |n: Option<u64>| n.map_or_else(|| "n/a".to_owned(), |n| n.to_string());
    let all_bytes = spec.expected_bytes().unwrap_or(0.0);
    let part = |bytes: u64| {
        let share = if all_bytes > 0.0 { (bytes as f64 / all_bytes).min(1.0) } else { 0.0 };
        // A file of which a part is needed is used whole.
        let n_files = spec.n_files().map(|n| (n as f64 * share - SLACK).ceil().max(0.0) as u64);
        format!(" {:>8} {:>8} {:>6}", count(n_files), 0, size(bytes))
    };
    let (existing, opened) = match seen {
        None => (format!(" {0:>8} {0:>8} {0:>6}", "n/a"), format!(" {0:>8} {0:>6}", "n/a")),
        Some(seen) => {
            let TreeSeen { n_files, n_folders, bytes, n_opened, opened_bytes } = *seen;
            let opened_size = n_opened.map_or_else(|| "n/a".to_owned(), |_| size(opened_bytes));
            (
                format!(" {n_files:>8} {n_folders:>8} {:>6}", size(bytes)),
                format!(" {:>8} {opened_size:>6}", count(n_opened)),
            )
        }
    };
    format!(
        "{:<25} {:>8} {:>8} {:>6}{}{}{existing}{opened}\n",
        fsd.anchor,
        count(spec.n_files()),
        count(spec.n_folders()),
        size(all_bytes as u64),
        part(fsd.total_bytes),
        part(fsd.working_set_bytes)
    )
}
