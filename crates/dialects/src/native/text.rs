//! What reading and writing share: a value without its place, and durations as plans write them.

use plan::keys::Located;

/// A value that was read, without its place.
pub(super) fn value<T>(found: Option<Located<T>>) -> Option<T> {
    found.map(|(value, _)| value)
}

/// Writes a duration with the largest unit that leaves a whole number.
pub(super) fn time_text(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    match units.iter().find(|(unit, _)| ns.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", ns / unit),
        None => format!("{ns}ns"),
    }
}
