//! Numbers of logs and traces, from bytes.

/// Parses a number with a decimal point, or with a comma as some locales print it.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let number: Option<f64> = match text.split_once(',') {
        None => text.parse().ok(),
        Some((whole, part)) if !part.contains([',', '.']) => format!("{whole}.{part}").parse().ok(),
        Some(_) => None,
    };
    number.filter(|number| number.is_finite())
}

/// Parses a whole number of digits only.
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return std::str::from_utf8(text).ok()?.parse().ok();
    }
    text.iter().try_fold(0_u64, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0'))
    })
}

/// Parses a decimal number of units of 10^`power` nanoseconds, rounded down to whole ones.
pub(crate) fn decimal_ns(text: &[u8], power: usize) -> Option<u64> {
    let dot = text.iter().position(|byte| matches!(byte, b'.' | b',')).unwrap_or(text.len());
    let mut number = whole(&text[..dot])?;
    let digits = text.get(dot + 1..).unwrap_or_default();
    for idx in 0..power {
        let digit = match digits.get(idx) {
            Some(byte) if byte.is_ascii_digit() => u64::from(byte - b'0'),
            Some(_) => return None,
            None => 0,
        };
        number = number.checked_mul(10)?.checked_add(digit)?;
    }
    let rest = digits.get(power..).unwrap_or_default();
    rest.iter().all(u8::is_ascii_digit).then_some(number)
}

/// Iterates over what spaces and tabs set apart.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_take_point_and_comma() {
        for (text, number) in [("12.5", 12.5), ("12,5", 12.5), (" 7 ", 7.0), ("-1", -1.0)] {
            assert_eq!(decimal(text), Some(number), "{text}");
        }
        for text in ["", "1.234,5", "1,234,567", "3.9k", "nan", "inf", "."] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn nanoseconds_are_exact() {
        // 0.000961904 s, 1.07 ms, and more digits than there are nanoseconds.
        assert_eq!(decimal_ns(b"0.000961904", 9), Some(961_904));
        assert_eq!(decimal_ns(b"1.07", 6), Some(1_070_000));
        assert_eq!(decimal_ns(b"2.1234567", 6), Some(2_123_456));
        assert_eq!(decimal_ns(b"12", 9), Some(12_000_000_000));
        for text in [&b"1.x"[..], b"", b".5", b"1.0000000x", b"99999999999999999999"] {
            assert_eq!(decimal_ns(text, 9), None);
        }
    }

    #[test]
    fn whole_numbers_are_digits() {
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(whole(b"18446744073709551616"), None);
        assert_eq!((whole(b""), whole(b"-1"), whole(b"12a")), (None, None, None));
    }
}
