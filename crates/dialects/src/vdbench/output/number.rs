//! Numbers as Vdbench prints them.
//!
//! Java rounds the shortest decimal text of a number half up: 293.25 with one digit is 293.3.
//! Rust rounds the exact binary value, half to even. Readers compare figures between pages, so the
//! rounding is Java's.

/// Returns a number with so many decimals, rounded half up. What is not a number is 0: no page
/// shows `NaN`.
pub(super) fn fixed(value: f64, n_decimals: usize) -> String {
    if !value.is_finite() {
        return fixed(0.0, n_decimals);
    }
    let shortest = format!("{}", value.abs());
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    let rounds_up = fraction.as_bytes().get(n_decimals).is_some_and(|digit| *digit >= b'5');
    let kept = fraction.get(..n_decimals).unwrap_or(fraction);
    let mut digits: Vec<u8> = [whole.as_bytes(), kept.as_bytes()].concat();
    digits.resize(whole.len() + n_decimals, b'0');
    if rounds_up {
        add_one(&mut digits);
    }
    let point = digits.len() - n_decimals;
    let mut text: String = digits.iter().map(|&digit| char::from(digit)).collect();
    if n_decimals > 0 {
        text.insert(point, '.');
    }
    if value < 0.0 && digits.iter().any(|&digit| digit != b'0') {
        text.insert(0, '-');
    }
    text
}

/// Adds one to a decimal number.
fn add_one(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
}

/// Returns a number right-aligned in so many columns; a longer one takes more.
pub(super) fn column(value: f64, width: usize, n_decimals: usize) -> String {
    format!("{:>width$}", fixed(value, n_decimals))
}

/// The same, but decimals of a number that is too long are cut off, as Vdbench does, so that
/// columns stay in line.
pub(super) fn squeezed(value: f64, width: usize, n_decimals: usize) -> String {
    let mut text = fixed(value, n_decimals);
    if let Some(point) = text.find('.').filter(|_| text.len() > width) {
        text.truncate(if width > point + 1 { width } else { point });
    }
    format!("{text:>width$}")
}

/// Returns a number with up to four decimals, without zeros at the end.
pub(super) fn short(value: f64) -> String {
    let text = fixed(value, 4);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns a count with commas: `1,268,464`.
pub(super) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a size in the largest unit that keeps it at 1 or more: `1.5m`; bytes as they are.
pub(super) fn size(bytes: u64) -> String {
    let units = ["k", "m", "g", "t"];
    let mut value = bytes as f64;
    let mut unit = "";
    for name in units {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = name;
    }
    if unit.is_empty() { bytes.to_string() } else { format!("{}{unit}", fixed(value, 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_up() {
        let cases = [
            (293.25, 1, "293.3"),
            (0.125, 2, "0.13"),
            (1.005, 2, "1.01"),
            (99.996, 2, "100.00"),
            (-1.755, 2, "-1.76"),
            (-0.001, 2, "0.00"),
            (7.0, 0, "7"),
            (0.5, 0, "1"),
            (f64::NAN, 2, "0.00"),
            (f64::INFINITY, 1, "0.0"),
        ];
        for (value, n_decimals, expected) in cases {
            assert_eq!(fixed(value, n_decimals), expected, "{value}");
        }
    }

    #[test]
    fn columns_stay_in_line_as_long_as_they_can() {
        assert_eq!(squeezed(5.567, 4, 2), "5.57");
        assert_eq!(squeezed(29.78, 4, 2), "29.7");
        assert_eq!(squeezed(9.999, 4, 2), "10.0");
        assert_eq!(squeezed(100.0, 4, 2), " 100");
        assert_eq!(squeezed(1_234_567.8, 6, 1), "1234567");
        assert_eq!(column(1.5, 6, 2), "  1.50");
    }

    #[test]
    fn short_forms() {
        assert_eq!(short(519.0), "519");
        assert_eq!(short(0.08016), "0.0802");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(100.0), "100");
        assert_eq!(thousands(1_268_464), "1,268,464");
        assert_eq!(thousands(320), "320");
        assert_eq!(size(1_605_632), "1.5m");
        assert_eq!(size(0), "0");
        assert_eq!(size(1000), "1000");
    }
}
