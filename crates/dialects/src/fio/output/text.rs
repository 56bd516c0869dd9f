//! Numbers as fio shortens them.

use units::fio::{NumberStyle, Prefixes, Unit, format_number};

/// Returns the unit of rates for fio's `unit_base`: bits for 1, else bytes.
pub(super) fn rate_unit(unit_base: u8) -> Unit {
    if unit_base == 1 { Unit::BitPerSecond } else { Unit::BytePerSecond }
}

/// Shortens a number to at most `n_chars` digits (a decimal point counts as one) and a prefix.
pub(super) fn shorten(value: u64, n_chars: usize, binary: bool, unit: Unit) -> String {
    let prefixes = if binary { Prefixes::Binary } else { Prefixes::Decimal };
    format_number(value, &NumberStyle { max_chars: n_chars, ..NumberStyle::new(prefixes, unit) })
}

/// Returns a number that is finite: others are printed as 0, which every parser accepts.
pub(super) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}
