//! fio's short numbers: `IOPS=54.6k, BW=213MiB/s (223MB/s)(3928KiB/18msec)`.

/// Which prefixes shorten a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefixes {
    /// k M G T P E, powers of 1000.
    Decimal,
    /// Ki Mi Gi Ti Pi Ei, powers of 1024.
    Binary,
}

/// What stands after the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nothing.
    None,
    /// `/s`
    PerSecond,
    /// `B`
    Byte,
    /// `bit`; the value is in bytes and printed times eight.
    Bit,
    /// `B/s`
    BytePerSecond,
    /// `bit/s`; the value is in bytes and printed times eight.
    BitPerSecond,
}

/// How a number is shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberStyle {
    /// Most characters of the digits with their decimal point: fio's `significant_figures`, 4
    /// unless given, so that three digits stay beside a point.
    pub max_chars: usize,
    /// Prefix the value already has: 0 for none, 1 if it is in Ki or k.
    pub first_prefix: usize,
    /// Which prefixes shorten it.
    pub prefixes: Prefixes,
    /// What stands after the prefix.
    pub unit: Unit,
}

impl NumberStyle {
    /// Four characters, a value without a prefix.
    pub const fn new(prefixes: Prefixes, unit: Unit) -> Self {
        Self { max_chars: 4, first_prefix: 0, prefixes, unit }
    }
}

const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Prints a number as fio's normal output does.
///
/// The number is divided until its digits fit. With room for a point and a decimal, the last
/// remainder is printed as decimals and rounds half to even; without, it rounds half up.
/// Remainders of earlier divisions are dropped, so the last digit can be one too low.
/// A carry can make the number one character longer (`1000k` stands for 999,9xx).
pub fn format_number(value: u64, style: &NumberStyle) -> String {
    let (thousand, names) = match style.prefixes {
        Prefixes::Decimal => (1000, DECIMAL),
        Prefixes::Binary => (1024, BINARY),
    };
    let (value, unit) = match style.unit {
        Unit::None => (value, ""),
        Unit::PerSecond => (value, "/s"),
        Unit::Byte => (value, "B"),
        Unit::BytePerSecond => (value, "B/s"),
        Unit::Bit => (value.wrapping_mul(8), "bit"),
        Unit::BitPerSecond => (value.wrapping_mul(8), "bit/s"),
    };
    let mut whole = value;
    let mut remainder = None;
    let mut prefix_idx = style.first_prefix;
    while n_digits(whole) > style.max_chars && prefix_idx < names.len() {
        remainder = Some(whole % thousand);
        whole /= thousand;
        prefix_idx += 1;
    }
    let prefix = names.get(prefix_idx).copied().unwrap_or("");
    let Some(remainder) = remainder else {
        return format!("{whole}{prefix}{unit}");
    };
    let n_decimals = style.max_chars.saturating_sub(n_digits(whole) + 1);
    if n_decimals == 0 {
        let rounded = whole + u64::from(remainder >= thousand / 2);
        return format!("{rounded}{prefix}{unit}");
    }
    let decimals = format!("{:.n_decimals$}", remainder as f64 / thousand as f64);
    let carried = whole + u64::from(decimals.starts_with('1'));
    format!("{carried}.{}{prefix}{unit}", &decimals[2..])
}

fn n_digits(value: u64) -> usize {
    value.checked_ilog10().map_or(1, |log| log as usize + 1)
}
