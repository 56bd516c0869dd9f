//! fio's numbers: sizes, times, ranges and expressions in; its short numbers out.
//!
//! Every rule was checked with the parser of a real fio 3.33 (`--debug=parse`) and, for
//! expressions, with fio's own grammar; the tests hold the outcomes. Where fio computes nonsense
//! without a word (numbers that wrap around, division by zero) this is an error instead.

mod expression;
mod number;
mod size;
mod time;

pub use number::{NumberStyle, Prefixes, Unit, format_number};
pub use size::{
    KbBase, SizeOrPercentOrZones, SizeRules, parse_integer, parse_range, parse_size,
    parse_size_or_percent_or_zones,
};
pub use time::{TimeUnit, parse_time};

/// Reads an integer at the start of text as C's `strtoll` does: (value, rest), or none.
///
/// Skips white space, takes a sign, and in base 16 a `0x`. The value saturates at 128 bits.
fn leading_integer(text: &str, base: u32) -> Option<(i128, &str)> {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    let (is_negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let is_digit = |c: &char| c.is_digit(base);
    let unprefixed = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let digits = match unprefixed {
        Some(hex) if base == 16 && hex.chars().next().as_ref().is_some_and(is_digit) => hex,
        _ => digits,
    };
    let end = digits.find(|c: char| !is_digit(&c)).unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    let value =
        digits[..end].chars().filter_map(|c| c.to_digit(base)).fold(0_i128, |sum, digit| {
            sum.saturating_mul(i128::from(base)).saturating_add(i128::from(digit))
        });
    Some((if is_negative { -value } else { value }, &digits[end..]))
}

/// Returns the base of a number as fio chooses it: 16 if `0x` occurs anywhere.
fn base_of(text: &str) -> u32 {
    if text.contains("0x") || text.contains("0X") { 16 } else { 10 }
}
