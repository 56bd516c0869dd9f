//! Our own numbers in: kind to people, strict where a guess could be wrong.

use std::time::Duration;

use crate::error::UnitError;

const BYTE_UNITS: &str = "B, KiB, MiB, GiB, TiB, PiB (or k, M, G, T, P), kB, MB, GB, TB or PB";
const TIME_UNITS: &str = "d, h, m, s, ms, us or ns";

/// Parses a number of bytes: `4096`, `4k`, `64 KiB`, `1.5G`, `100 GB`.
///
/// `k`, `K`, `KiB`, `M`, `MiB` ... are powers of 1024, as in every storage tool; `kB`, `MB` ... are
/// powers of 1000, as on the label of a disk. A lone `b` is refused: it could mean bits.
/// Rounds to whole bytes.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text)?;
    let unit_bytes = byte_unit(unit).ok_or_else(|| unknown(text, unit, BYTE_UNITS))?;
    number.times(unit_bytes, 1).ok_or_else(|| UnitError::TooLarge { text: text.into() })
}

/// Parses a data rate and returns bytes per second: `200 MiB/s`, `1.5GB/s`, `100M`, `10 Gbit/s`.
///
/// Units are those of [`parse_bytes`] with or without `/s`, and `bit/s`, `kbit/s`, `Mbit/s`,
/// `Gbit/s`.
pub fn parse_rate(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text)?;
    let too_large = || UnitError::TooLarge { text: text.into() };
    let per_second = unit.strip_suffix("/s").unwrap_or(unit).trim_end();
    if let Some(prefix) = per_second.strip_suffix("bit") {
        let power = match prefix {
            "" => Some(0),
            _ => prefix_power(prefix),
        };
        let power = power.ok_or_else(|| unknown(text, unit, "bit/s, kbit/s, Mbit/s or Gbit/s"))?;
        return number.times(1000_u64.pow(power), 8).ok_or_else(too_large);
    }
    let unit_bytes = byte_unit(per_second).ok_or_else(|| unknown(text, unit, BYTE_UNITS))?;
    number.times(unit_bytes, 1).ok_or_else(too_large)
}

/// Parses a count, such as I/Os per second: `500`, `54.6k`, `1.2 M`; powers of 1000.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text)?;
    let power = if unit.is_empty() { Some(0) } else { prefix_power(unit) };
    let power = power.ok_or_else(|| unknown(text, unit, "k, M, G, T or P"))?;
    let count = number.times(1000_u64.pow(power), 1);
    count.ok_or_else(|| UnitError::TooLarge { text: text.into() })
}

/// Parses a duration: `10s`, `1m30s`, `500 ms`, `1.5h`, `2d`.
///
/// Every number has a unit (a bare `10` is an error, since tools disagree on it): d, h, m or min, s
/// or sec, ms, us or µs, ns, in capitals or not. Parts are added. Rounds to whole nanoseconds.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let too_large = || UnitError::TooLarge { text: text.into() };
    let mut rest = text.trim();
    let mut total_ns = 0_u64;
    loop {
        let (number, after) = Decimal::take(rest, text)?;
        let after = after.trim_start();
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.' || c.is_whitespace());
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        if unit.is_empty() {
            return Err(UnitError::MissingUnit { text: text.into(), expected: TIME_UNITS });
        }
        let unit_ns = time_unit_ns(unit).ok_or_else(|| unknown(text, unit, TIME_UNITS))?;
        let part_ns = number.times(unit_ns, 1).ok_or_else(too_large)?;
        total_ns = total_ns.checked_add(part_ns).ok_or_else(too_large)?;
        rest = after.trim_start();
        if rest.is_empty() {
            return Ok(Duration::from_nanos(total_ns));
        }
    }
}

/// A decimal number, kept exact: `digits` / 10^`n_decimals`.
struct Decimal {
    digits: u64,
    n_decimals: u32,
}

impl Decimal {
    /// Most digits after the point: with 64-bit digits and units, products fit 128 bits.
    const MAX_DECIMALS: usize = 18;

    /// Takes a number off the start of `rest`; `text` is the whole, for messages.
    fn take<'a>(rest: &'a str, text: &str) -> Result<(Self, &'a str), UnitError> {
        if rest.is_empty() {
            return Err(UnitError::Empty);
        }
        if rest.starts_with('-') {
            return Err(UnitError::Negative { text: text.into() });
        }
        let n_whole = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, after) = rest.split_at(n_whole);
        let (decimals, after) = match after.strip_prefix('.') {
            Some(tail) => {
                tail.split_at(tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len()))
            }
            None => ("", after),
        };
        if whole.is_empty() && decimals.is_empty() {
            return Err(UnitError::NotANumber { text: text.into() });
        }
        let decimals = decimals.trim_end_matches('0');
        let decimals = &decimals[..decimals.len().min(Self::MAX_DECIMALS)];
        let digits = format!("0{whole}{decimals}");
        let digits = digits.parse().map_err(|_| UnitError::TooLarge { text: text.into() })?;
        Ok((Self { digits, n_decimals: decimals.len() as u32 }, after))
    }

    /// Returns the number times `unit` over `divisor`, rounded half up, or none if it does not fit.
    fn times(&self, unit: u64, divisor: u64) -> Option<u64> {
        let divisor = u128::from(divisor) * 10_u128.pow(self.n_decimals);
        let product = u128::from(self.digits) * u128::from(unit);
        let rounded = product / divisor + u128::from(product % divisor >= divisor.div_ceil(2));
        u64::try_from(rounded).ok()
    }
}

/// Splits text into its number and its unit.
fn split(text: &str) -> Result<(Decimal, &str), UnitError> {
    let (number, unit) = Decimal::take(text.trim(), text)?;
    Ok((number, unit.trim_start()))
}

fn unknown(text: &str, unit: &str, expected: &'static str) -> UnitError {
    UnitError::UnknownUnit { text: text.into(), unit: unit.into(), expected }
}

fn prefix_power(prefix: &str) -> Option<u32> {
    match prefix {
        "k" | "K" => Some(1),
        "m" | "M" => Some(2),
        "g" | "G" => Some(3),
        "t" | "T" => Some(4),
        "p" | "P" => Some(5),
        "E" => Some(6),
        _ => None,
    }
}

fn byte_unit(unit: &str) -> Option<u64> {
    if matches!(unit, "" | "B") {
        return Some(1);
    }
    let prefix = unit.get(..1)?;
    let base = match &unit[1..] {
        "" | "iB" | "ib" | "IB" | "i" => 1024_u64,
        "B" => 1000,
        _ => return None,
    };
    prefix_power(prefix).map(|power| base.pow(power))
}

/// Returns a time in nanoseconds, and at most what 64 bits hold: 584 years.
pub fn nanoseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn time_unit_ns(unit: &str) -> Option<u64> {
    // A lone `M` may mean months or millions.
    if unit == "M" {
        return None;
    }
    match &*unit.to_lowercase() {
        "ns" => Some(1),
        "us" | "µs" | "μs" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" | "sec" => Some(1_000_000_000),
        "m" | "min" => Some(60_000_000_000),
        "h" => Some(3_600_000_000_000),
        "d" => Some(86_400_000_000_000),
        _ => None,
    }
}
