//! Times: `10`, `500ms`, `2h`, `(5*60)`.

use super::{base_of, expression, leading_integer};
use crate::error::{Parsed, UnitError, UnitWarning};

const US_PER_S: u64 = 1_000_000;

/// What a time without a unit counts in, by fio's option table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, as for `runtime` and `ramp_time`.
    Seconds,
    /// Microseconds, as for `thinktime` and `latency_target`.
    Microseconds,
}

impl TimeUnit {
    fn us(self) -> u64 {
        match self {
            Self::Seconds => US_PER_S,
            Self::Microseconds => 1,
        }
    }
}

/// Parses a time and returns microseconds.
///
/// Units are us and ms (and anything that starts with them), and s, m, h, d standing alone, case
/// ignored. **Any other unit counts as microseconds** (`2sec` is 2 us, `1m30s` is 1 us), and
/// decimals are cut together with their unit; both are reported in the warnings.
/// Options in milliseconds (`log_avg_msec`) are plain integers to fio: see [`super::parse_size`].
pub fn parse_time(text: &str, default_unit: TimeUnit) -> Result<Parsed<u64>, UnitError> {
    if text.is_empty() {
        return Err(UnitError::Empty);
    }
    if text.starts_with('(') {
        return parse_expression(text, default_unit);
    }
    let (number, rest) = leading_integer(text, base_of(text))
        .ok_or_else(|| UnitError::NotANumber { text: text.into() })?;
    if number < 0 {
        return Err(UnitError::Negative { text: text.into() });
    }
    let (unit_us, warning) = unit_us(text, rest, default_unit);
    let value = u64::try_from(number).ok().and_then(|number| number.checked_mul(unit_us));
    let value = value.ok_or_else(|| UnitError::TooLarge { text: text.into() })?;
    Ok(Parsed { value, warnings: warning.into_iter().collect() })
}

/// Returns the unit of a time in microseconds. `rest` is what follows the number.
fn unit_us(text: &str, rest: &str, default_unit: TimeUnit) -> (u64, Option<UnitWarning>) {
    // The unit follows the decimal digits, so of `0x10s` it is `x10s`.
    let suffix = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
    if !suffix.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let warning = match rest.chars().next() {
            Some('.') => Some(UnitWarning::FractionCut { ignored: rest.into() }),
            _ if rest.trim().is_empty() => None,
            _ => Some(UnitWarning::GarbageIgnored { ignored: rest.into() }),
        };
        return (default_unit.us(), warning);
    }
    let garbage = |rest: &str| {
        (!rest.trim().is_empty()).then(|| UnitWarning::GarbageIgnored { ignored: rest.into() })
    };
    match suffix.to_ascii_lowercase().as_str() {
        "us" | "usec" => (1, None),
        "ms" | "msec" => (1_000, None),
        "s" => (US_PER_S, None),
        "m" => (60 * US_PER_S, None),
        "h" => (3_600 * US_PER_S, None),
        "d" => (86_400 * US_PER_S, None),
        lower if lower.starts_with("us") => (1, garbage(&suffix[2..])),
        lower if lower.starts_with("ms") => (1_000, garbage(&suffix[2..])),
        _ => (1, Some(UnitWarning::CountsAsMicroseconds { suffix: suffix.into() })),
    }
}

fn parse_expression(text: &str, default_unit: TimeUnit) -> Result<Parsed<u64>, UnitError> {
    let Parsed { value: outcome, mut warnings } =
        expression::evaluate(text, expression::Dimension::Time)?;
    let too_large = || UnitError::TooLarge { text: text.into() };
    let implied_us = if outcome.has_unit { 1 } else { default_unit.us() };
    let value = u64::try_from(outcome.value)
        .map_err(|_| UnitError::Negative { text: text.into() })?
        .checked_mul(implied_us)
        .ok_or_else(too_large)?;
    if !outcome.has_unit && i32::try_from(value).is_err() {
        warnings.push(UnitWarning::Beyond32Bits);
    }
    let cut_us = match default_unit {
        TimeUnit::Seconds => value % US_PER_S,
        TimeUnit::Microseconds => 0,
    };
    if cut_us > 0 {
        warnings.push(UnitWarning::CutToSeconds { cut_us });
    }
    Ok(Parsed { value: value - cut_us, warnings })
}
