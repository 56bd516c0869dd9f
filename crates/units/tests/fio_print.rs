//! fio's short numbers, as the real program prints them.

use proptest::prelude::*;
use units::fio::{NumberStyle, Prefixes, Unit, format_number};

#[track_caller]
fn check(value: u64, prefixes: Prefixes, unit: Unit, expected: &str) {
    assert_eq!(format_number(value, &NumberStyle::new(prefixes, unit)), expected);
}

#[track_caller]
fn check_style(value: u64, max_chars: usize, first_prefix: usize, prefixes: Prefixes, text: &str) {
    let style = NumberStyle { max_chars, first_prefix, prefixes, unit: Unit::None };
    assert_eq!(format_number(value, &style), text);
}

#[test]
fn four_characters_as_in_normal_output() {
    check(0, Prefixes::Decimal, Unit::None, "0");
    check(1, Prefixes::Decimal, Unit::None, "1");
    check(842, Prefixes::Decimal, Unit::None, "842");
    check(9999, Prefixes::Decimal, Unit::None, "9999");
    check(10_000, Prefixes::Decimal, Unit::None, "10.0k");
    check(54_600, Prefixes::Decimal, Unit::None, "54.6k");
    check(54_649, Prefixes::Decimal, Unit::None, "54.6k");
    check(99_999, Prefixes::Decimal, Unit::None, "100.0k");
    check(999_499, Prefixes::Decimal, Unit::None, "999k");
    check(999_999, Prefixes::Decimal, Unit::None, "1000k");
    check(1_000_000, Prefixes::Decimal, Unit::None, "1000k");
    check(1_234_567, Prefixes::Decimal, Unit::None, "1235k");
    check(223_000_000, Prefixes::Binary, Unit::BytePerSecond, "213MiB/s");
    check(223_000_000, Prefixes::Decimal, Unit::BytePerSecond, "223MB/s");
    check(4_022_272, Prefixes::Binary, Unit::Byte, "3928KiB");
    check(4_022_272, Prefixes::Decimal, Unit::Byte, "4022kB");
    check(10_239, Prefixes::Binary, Unit::Byte, "10.00KiB");
    check(10_239, Prefixes::Decimal, Unit::Byte, "10.2kB");
    check(1_048_575, Prefixes::Binary, Unit::Byte, "1024KiB");
    check(99_999_999, Prefixes::Binary, Unit::Byte, "95.4MiB");
    check(99_999_999, Prefixes::Decimal, Unit::Byte, "100.0MB");
    check(1_047_552, Prefixes::Binary, Unit::Byte, "1023KiB");
    check(5_497_558_138_880, Prefixes::Binary, Unit::Byte, "5120GiB");
    check(u64::MAX, Prefixes::Binary, Unit::Byte, "16.0EiB");
    check(u64::MAX, Prefixes::Decimal, Unit::Byte, "18.4EB");
    check(125_000_000, Prefixes::Decimal, Unit::BitPerSecond, "1000Mbit/s");
    check(125_000_000, Prefixes::Binary, Unit::Bit, "954Mibit");
}

#[test]
fn other_widths_and_values_that_have_a_prefix() {
    check_style(1_234_567, 1, 0, Prefixes::Decimal, "1M");
    check_style(1_234_567, 2, 0, Prefixes::Decimal, "1M");
    check_style(1_234_567, 6, 0, Prefixes::Decimal, "1234.6k");
    check_style(1_234_567, 10, 0, Prefixes::Decimal, "1234567");
    check_style(999_999, 5, 0, Prefixes::Decimal, "1000.0k");
    check_style(54_649, 6, 0, Prefixes::Decimal, "54649");
    check_style(5000, 4, 1, Prefixes::Binary, "5000Ki");
    check_style(50_000, 4, 1, Prefixes::Binary, "48.8Mi");
    check_style(50_000, 4, 1, Prefixes::Decimal, "50.0M");
    check_style(4_611_686_018_427_387_904, 4, 3, Prefixes::Binary, "4194304");
}

proptest! {
    #[test]
    fn any_style_is_printed(value: u64, max_chars in 0..30_usize, first_prefix in 0..9_usize) {
        for prefixes in [Prefixes::Decimal, Prefixes::Binary] {
            let style = NumberStyle { max_chars, first_prefix, prefixes, unit: Unit::BitPerSecond };
            prop_assert!(format_number(value, &style).ends_with("bit/s"));
        }
    }
}
