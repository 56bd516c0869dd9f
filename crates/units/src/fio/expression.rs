//! Arithmetic in parentheses: `(2*1024)k`, `(1h+30m)`.
//!
//! fio allows + - * / % ^ and units inside. From loosest to tightest they bind: + and -, a unit
//! after its number, * and /, ^ (from the right), %, the sign. So `10/3k` is `(10/3)k`.
//! Integers stay integers; a number with a decimal point makes what follows it in the same
//! operation a decimal, and the result is cut. (After a sign fio takes a decimal for whole or not
//! by what it read last; here it stays a decimal.)

use crate::error::{Parsed, UnitError, UnitWarning};

/// Deepest nesting. Real expressions have two or three; a limit keeps the stack safe.
const MAX_DEPTH: u32 = 64;

/// What an expression is about: `m` is 2^20 in sizes and a minute in times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    /// Bytes, or a plain count.
    Size,
    /// Microseconds.
    Time,
}

/// The result of an expression.
pub(super) struct Outcome {
    /// The value; times with a unit are in microseconds.
    pub(super) value: i64,
    /// Whether any unit occurred.
    pub(super) has_unit: bool,
}

/// Evaluates an expression. Everything from `#`, `:` or `,` on is a comment.
pub(super) fn evaluate(text: &str, kind: Dimension) -> Result<Parsed<Outcome>, UnitError> {
    let fault = |fault| match fault {
        Fault::TooLarge => UnitError::TooLarge { text: text.into() },
        Fault::Malformed(what) => UnitError::Expression { text: text.into(), what },
    };
    let end = text.find(['#', ':', ',', '\n']).unwrap_or(text.len());
    let mut parser =
        Parser { rest: &text[..end], kind, has_unit: false, is_beyond_32_bits: false, depth: 0 };
    let value = parser.expression(0).map_err(fault)?;
    parser.skip_blanks();
    if !parser.rest.is_empty() {
        return Err(fault(Fault::Malformed("it goes on after its end")));
    }
    let has_unit = parser.has_unit;
    let is_wide = !has_unit && kind == Dimension::Size && i32::try_from(value.whole).is_err();
    let warnings = if is_wide || parser.is_beyond_32_bits {
        vec![UnitWarning::Beyond32Bits]
    } else {
        Vec::new()
    };
    Ok(Parsed { value: Outcome { value: value.whole, has_unit }, warnings })
}

enum Fault {
    TooLarge,
    Malformed(&'static str),
}

/// A value in both forms; `whole` is the result, `decimal` enters where a decimal takes part.
#[derive(Clone, Copy)]
struct Value {
    whole: i64,
    decimal: f64,
    is_decimal: bool,
}

impl Value {
    fn whole(whole: i64) -> Self {
        Self { whole, decimal: whole as f64, is_decimal: false }
    }

    fn decimal(decimal: f64) -> Result<Self, Fault> {
        Ok(Self { whole: cut(decimal)?, decimal, is_decimal: true })
    }

    /// Joins two values; the result is a decimal if the first is.
    fn join(
        self,
        other: Self,
        whole: impl Fn(i64, i64) -> Option<i64>,
        decimal: impl Fn(f64, f64) -> f64,
    ) -> Result<Self, Fault> {
        let decimal = decimal(self.decimal, other.decimal);
        let whole = if self.is_decimal || other.is_decimal {
            cut(decimal)?
        } else {
            whole(self.whole, other.whole).ok_or(Fault::TooLarge)?
        };
        Ok(Self { whole, decimal, is_decimal: self.is_decimal })
    }
}

struct Parser<'a> {
    rest: &'a str,
    kind: Dimension,
    has_unit: bool,
    is_beyond_32_bits: bool,
    depth: u32,
}

/// How tightly a unit binds: tighter than a sum, looser than a product.
const UNIT_BINDS: u32 = 2;

impl Parser<'_> {
    /// Parses operands as long as their operators bind at least as tightly as `min_binds`.
    fn expression(&mut self, min_binds: u32) -> Result<Value, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Malformed("it is nested too deeply"));
        }
        let mut value = self.operand()?;
        loop {
            self.skip_blanks();
            if let Some((multiplier, is_exact, n_chars)) = unit(self.rest, self.kind) {
                if UNIT_BINDS < min_binds {
                    break;
                }
                self.rest = &self.rest[n_chars..];
                self.has_unit = true;
                value = apply_unit(value, multiplier, is_exact)?;
                continue;
            }
            let operator = self.rest.chars().next().unwrap_or(')');
            let (binds, right_binds) = match operator {
                '+' | '-' => (1, 2),
                '*' | '/' => (3, 4),
                '^' => (5, 5),
                '%' => (7, 8),
                _ => break,
            };
            if binds < min_binds {
                break;
            }
            self.rest = &self.rest[1..];
            let right = self.expression(right_binds)?;
            value = operate(operator, value, right)?;
        }
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Result<Value, Fault> {
        self.skip_blanks();
        match self.rest.chars().next() {
            Some('(') => {
                self.rest = &self.rest[1..];
                let value = self.expression(0)?;
                self.skip_blanks();
                let rest = self.rest.strip_prefix(')');
                self.rest = rest.ok_or(Fault::Malformed("a closing parenthesis is missing"))?;
                Ok(value)
            }
            Some('-') => {
                self.rest = &self.rest[1..];
                let value = self.expression(9)?;
                let whole = value.whole.checked_neg().ok_or(Fault::TooLarge)?;
                Ok(Value { whole, decimal: -value.decimal, ..value })
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            _ => Err(Fault::Malformed("a number is missing")),
        }
    }

    fn number(&mut self) -> Result<Value, Fault> {
        if let Some(hex) = self.rest.strip_prefix("0x") {
            let n_digits = n_matching(hex, |c| c.is_ascii_hexdigit());
            if n_digits > 0 {
                self.rest = &hex[n_digits..];
                return self.integer(&hex[..n_digits], 16);
            }
        }
        let n_digits = n_matching(self.rest, |c| c.is_ascii_digit());
        let n_decimal = n_decimal_chars(self.rest, n_digits);
        if n_decimal > 0 {
            let number = self.rest[..n_decimal].parse::<f64>();
            self.rest = &self.rest[n_decimal..];
            return Value::decimal(number.map_err(|_| Fault::Malformed("a number is missing"))?);
        }
        if n_digits == 0 {
            return Err(Fault::Malformed("a number is missing"));
        }
        let (digits, rest) = self.rest.split_at(n_digits);
        self.rest = rest;
        self.integer(digits, 10)
    }

    fn integer(&mut self, digits: &str, base: u32) -> Result<Value, Fault> {
        let value = i64::from_str_radix(digits, base).map_err(|_| Fault::TooLarge)?;
        self.is_beyond_32_bits |= i32::try_from(value).is_err();
        Ok(Value::whole(value))
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }
}

fn n_matching(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// Returns the length of a number with decimals or an exponent, or 0 for any other text.
fn n_decimal_chars(text: &str, n_digits: usize) -> usize {
    let mut end = n_digits;
    if text[end..].starts_with('.') {
        let n_fraction = n_matching(&text[end + 1..], |c| c.is_ascii_digit());
        if n_fraction == 0 {
            return 0;
        }
        end += 1 + n_fraction;
    }
    if end > 0 && text[end..].starts_with(['e', 'E']) {
        let exponent = &text[end + 1..];
        let n_signs = usize::from(exponent.starts_with(['+', '-']));
        let n_exponent = n_matching(&exponent[n_signs..], |c| c.is_ascii_digit());
        if n_exponent > 0 {
            return end + 1 + n_signs + n_exponent;
        }
    }
    if end > n_digits { end } else { 0 }
}

fn apply_unit(value: Value, multiplier: i64, is_exact: bool) -> Result<Value, Fault> {
    // Decimals are cut before the unit applies: `1.5k` is 1024.
    let whole = if value.is_decimal { cut(value.decimal)? } else { value.whole };
    let whole = whole.checked_mul(multiplier).ok_or(Fault::TooLarge)?;
    let decimal = if value.is_decimal || !is_exact {
        value.decimal * multiplier as f64
    } else {
        whole as f64
    };
    Ok(Value { whole, decimal, is_decimal: value.is_decimal })
}

fn operate(operator: char, left: Value, right: Value) -> Result<Value, Fault> {
    match operator {
        '+' => left.join(right, i64::checked_add, |a, b| a + b),
        '-' => left.join(right, i64::checked_sub, |a, b| a - b),
        '*' => left.join(right, i64::checked_mul, |a, b| a * b),
        '/' | '%' if right.whole == 0 && (right.decimal == 0.0 || operator == '%') => {
            Err(Fault::Malformed("it divides by zero"))
        }
        '/' => left.join(right, i64::checked_div, |a, b| a / b),
        '%' => left.whole.checked_rem(right.whole).map(Value::whole).ok_or(Fault::TooLarge),
        _ => left.join(right, power, f64::powf),
    }
}

fn power(base: i64, exponent: i64) -> Option<i64> {
    match u32::try_from(exponent) {
        Ok(exponent) => base.checked_pow(exponent),
        Err(_) if exponent > 0 => matches!(base, 0 | 1).then_some(base),
        Err(_) => cut((base as f64).powf(exponent as f64)).ok(),
    }
}

/// Returns the whole part of a decimal, if it fits.
fn cut(decimal: f64) -> Result<i64, Fault> {
    // -2^63 is exact in binary, and 2^63 the first number above.
    let fits = (i64::MIN as f64..-(i64::MIN as f64)).contains(&decimal);
    if fits { Ok(decimal as i64) } else { Err(Fault::TooLarge) }
}

/// Returns the unit at the start of text: (multiplier, whether it is a whole number, length).
fn unit(text: &str, kind: Dimension) -> Option<(i64, bool, usize)> {
    let letter = |idx: usize| text.as_bytes().get(idx).map(u8::to_ascii_lowercase);
    let first = letter(0)?;
    if let Some(power) = b"kmgp".iter().position(|&c| c == first)
        && (letter(1), letter(2)) == (Some(b'i'), Some(b'b'))
    {
        // As fio has it: `pib` is 10^12, and `tib` is no unit.
        return Some((1000_i64.pow(power as u32 + 1), true, 3));
    }
    if let Some(power) = b"kmgtp".iter().position(|&c| c == first) {
        let n_chars = if letter(1) == Some(b'b') { 2 } else { 1 };
        let is_binary = first != b'm' || n_chars == 2 || kind == Dimension::Size;
        if is_binary && !(first == b'm' && letter(1) == Some(b's')) {
            return Some((1 << (10 * (power + 1)), true, n_chars));
        }
    }
    match (first, letter(1)) {
        (b'm', Some(b's')) => Some((1_000, false, 2)),
        (b'u', Some(b's')) => Some((1, false, 2)),
        (b's', _) => Some((1_000_000, true, 1)),
        (b'm', _) => Some((60_000_000, true, 1)),
        (b'h', _) => Some((3_600_000_000, true, 1)),
        (b'd', _) => Some((86_400_000_000, true, 1)),
        _ => None,
    }
}
