//! anchors.html: how large file structures are by their definition.

use super::number::size;
use crate::vdbench::lower_files::tree_spec;
use crate::vdbench::run::Fsd;

/// Returns the row of one structure.
pub(super) fn row(fsd: &Fsd) -> String {
    let spec = tree_spec(fsd);
    let count = |n: Option<u64>| n.map_or_else(|| "n/a".to_owned(), |n| n.to_string());
    let all_bytes = spec.expected_bytes().unwrap_or(0.0);
    let part = |bytes: u64| {
        let share = if all_bytes > 0.0 { (bytes as f64 / all_bytes).min(1.0) } else { 0.0 };
        let n_files = spec.n_files().map(|n| (n as f64 * share).round() as u64);
        format!(" {:>8} {:>8} {:>6}", count(n_files), 0, size(bytes))
    };
    format!(
        "{:<26} {:>6} {:>8} {:>6}{}{}\n",
        fsd.anchor,
        count(spec.n_files()),
        count(spec.n_folders()),
        size(all_bytes as u64),
        part(fsd.total_bytes),
        part(fsd.working_set_bytes)
    )
}
