//! Sizes and counts: `4k`, `1mib`, `0x1000`, `(2*8)k`, `50%`, `5z`, `4k-8k`.

use super::{base_of, expression, leading_integer};
use crate::error::{Parsed, UnitError, UnitWarning};

/// What `k` means: fio's option `kb_base`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KbBase {
    /// `k` is 1024 and `kib` is 1000: fio's default.
    #[default]
    K1024,
    /// `k` is 1000 and `kib` is 1024.
    K1000,
}

/// How sizes are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeRules {
    /// What `k` means.
    pub kb_base: KbBase,
}

/// The value of options such as `size` and `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeOrPercentOrZones {
    /// A plain number of bytes.
    Bytes(u64),
    /// A share of the target, 0 to 100.
    Percent(u8),
    /// A number of zones of a zoned device.
    Zones(u32),
}

/// Parses a size or count that is not negative. Lists are split by the caller.
///
/// Digits with an optional unit (k m g t p, each also with b or ib, case ignored), hexadecimal
/// where `0x` occurs, or an expression in parentheses. Anything after that is ignored by fio and
/// reported in the warnings.
pub fn parse_size(text: &str, rules: SizeRules) -> Result<Parsed<u64>, UnitError> {
    let parsed = parse_plain(text, rules)?;
    match u64::try_from(parsed.value) {
        Ok(value) => Ok(parsed.map(|_| value)),
        Err(_) if parsed.value < 0 => Err(UnitError::Negative { text: text.into() }),
        Err(_) => Err(UnitError::TooLarge { text: text.into() }),
    }
}

/// Parses a number that may be negative, as [`parse_size`] does.
pub fn parse_integer(text: &str, rules: SizeRules) -> Result<Parsed<i64>, UnitError> {
    let parsed = parse_plain(text, rules)?;
    let value = i64::try_from(parsed.value);
    let value = value.map_err(|_| UnitError::TooLarge { text: text.into() })?;
    Ok(parsed.map(|_| value))
}

/// Parses a size, a percentage (`50%`, whole) or a number of zones (`5z`).
pub fn parse_size_or_percent_or_zones(
    text: &str,
    rules: SizeRules,
) -> Result<Parsed<SizeOrPercentOrZones>, UnitError> {
    if text.ends_with('z') {
        return parse_zones(text);
    }
    if let Some((percent, rest)) = leading_integer(text, base_of(text))
        && rest.starts_with('%')
        && !text.starts_with('(')
        && base_of(text) == 10
        && !text.starts_with(|c: char| c.is_ascii_whitespace())
    {
        return match u8::try_from(percent) {
            Ok(percent @ 0..=100) => Ok(Parsed {
                value: SizeOrPercentOrZones::Percent(percent),
                warnings: ignored(&rest[1..]).into_iter().collect(),
            }),
            _ if percent < 0 => Err(UnitError::Negative { text: text.into() }),
            _ => Err(UnitError::PercentRange { text: text.into() }),
        };
    }
    Ok(parse_size(text, rules)?.map(SizeOrPercentOrZones::Bytes))
}

/// Parses two sizes separated by `-` or `:`, in ascending order after the call.
pub fn parse_range(text: &str, rules: SizeRules) -> Result<Parsed<(u64, u64)>, UnitError> {
    let halves = text.split_once('-').or_else(|| text.split_once(':'));
    let (low, high) = halves.ok_or_else(|| UnitError::NotARange { text: text.into() })?;
    let (low, high) = (parse_size(low, rules)?, parse_size(high, rules)?);
    let mut warnings = [low.warnings, high.warnings].concat();
    if low.value <= high.value {
        return Ok(Parsed { value: (low.value, high.value), warnings });
    }
    warnings.push(UnitWarning::Swapped);
    Ok(Parsed { value: (high.value, low.value), warnings })
}

fn parse_zones(text: &str) -> Result<Parsed<SizeOrPercentOrZones>, UnitError> {
    let malformed = || UnitError::Zones { text: text.into() };
    let (zones, rest) = leading_integer(text, 10).ok_or_else(malformed)?;
    let Some(rest) = rest.strip_prefix('z') else { return Err(malformed()) };
    let zones = u32::try_from(zones).map_err(|_| UnitError::TooLarge { text: text.into() })?;
    let warnings = ignored(rest).into_iter().collect();
    Ok(Parsed { value: SizeOrPercentOrZones::Zones(zones), warnings })
}

fn parse_plain(text: &str, rules: SizeRules) -> Result<Parsed<i128>, UnitError> {
    if text.is_empty() {
        return Err(UnitError::Empty);
    }
    if text.ends_with('z') {
        return Err(UnitError::Zones { text: text.into() });
    }
    if text.starts_with('(') {
        let result = expression::evaluate(text, expression::Dimension::Size)?;
        return Ok(result.map(|outcome| i128::from(outcome.value)));
    }
    let base = base_of(text);
    let (number, rest) =
        leading_integer(text, base).ok_or_else(|| UnitError::NotANumber { text: text.into() })?;
    if i64::try_from(number).is_err() {
        return Err(UnitError::TooLarge { text: text.into() });
    }
    // fio looks for the unit after the decimal digits from the start of the text, which finds
    // none in hexadecimal or after leading white space.
    let (unit_text, warning) = match rest.chars().next() {
        Some('.') => ("", Some(UnitWarning::FractionCut { ignored: rest.into() })),
        Some('%') if base == 10 => {
            return Err(UnitError::PercentNotAllowed { text: text.into() });
        }
        Some(_) if base == 16 && text.to_ascii_lowercase().contains("0x") => hex_unit(text, rest),
        Some(c) if c.is_ascii_alphabetic() && !starts_with_space(text) => (rest, None),
        _ => ("", ignored(rest)),
    };
    let (multiplier, mut warnings) = unit(unit_text, rules.kb_base);
    warnings.extend(warning);
    Ok(Parsed { value: number * i128::from(multiplier), warnings })
}

/// Returns what follows a number in a text with `0x`: a unit only where no hex digit came before.
fn hex_unit<'a>(text: &'a str, rest: &'a str) -> (&'a str, Option<UnitWarning>) {
    let unsigned = text.trim_start_matches(['+', '-']);
    let after_digits = unsigned.trim_start_matches(|c: char| c.is_ascii_digit());
    if after_digits.len() == rest.len() && !starts_with_space(text) {
        return (rest, None);
    }
    ("", (!rest.is_empty()).then(|| UnitWarning::HexUnit { ignored: rest.into() }))
}

fn starts_with_space(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_whitespace() || c == '\u{b}')
}

fn ignored(rest: &str) -> Option<UnitWarning> {
    let is_blank = rest.trim().is_empty();
    (!is_blank).then(|| UnitWarning::GarbageIgnored { ignored: rest.into() })
}

/// Returns the multiplier of a unit and what is odd about it.
fn unit(text: &str, kb_base: KbBase) -> (u64, Vec<UnitWarning>) {
    let mut letters = text.chars().map(|c| c.to_ascii_lowercase());
    let power = letters.next().and_then(|c| "kmgtp".find(c).map(|idx| (c, idx as u32 + 1)));
    let Some((plain, power)) = power else {
        let rest = text.strip_prefix(['b', 'B']).unwrap_or(text);
        return (1, ignored(rest).into_iter().collect());
    };
    let (base, other) = match kb_base {
        KbBase::K1024 => (1024_u64, 1000_u64),
        KbBase::K1000 => (1000, 1024),
    };
    let unit_of = |n_chars: usize| text[..n_chars].to_owned();
    let (base, n_used, warning) = match (letters.next(), letters.next()) {
        (Some('i'), Some('b')) => {
            let inverted = UnitWarning::InvertedUnit { unit: unit_of(3), plain };
            (other, 3, (kb_base == KbBase::K1024).then_some(inverted))
        }
        (Some('i'), _) => (base, 2, Some(UnitWarning::PlainPrefix { unit: unit_of(2), plain })),
        (Some('b'), _) => (base, 2, None),
        _ => (base, 1, None),
    };
    (base.pow(power), warning.into_iter().chain(ignored(&text[n_used..])).collect())
}
