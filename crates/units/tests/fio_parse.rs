//! fio's sizes and times: outcomes of fio 3.33's own parser (`--debug=parse`), and of fio's own
//! expression grammar, which Debian's build leaves out.

use proptest::prelude::*;
use units::fio::{
    KbBase, SizeOrPercentOrZones, SizeRules, TimeUnit, parse_integer, parse_range, parse_size,
    parse_size_or_percent_or_zones, parse_time,
};
use units::{Parsed, UnitError, UnitWarning};

const K1024: SizeRules = SizeRules { kb_base: KbBase::K1024 };
const K1000: SizeRules = SizeRules { kb_base: KbBase::K1000 };

fn plain<T>(value: T) -> Parsed<T> {
    Parsed { value, warnings: vec![] }
}

/// The text means this value and nothing about it is odd.
#[track_caller]
fn check_size(text: &str, expected: u64) {
    assert_eq!(parse_size(text, K1024), Ok(plain(expected)));
}

/// The text means this value, with a warning that starts so.
#[track_caller]
fn check_odd(text: &str, rules: SizeRules, expected: i64, warning: &str) {
    let parsed = parse_integer(text, rules).expect("fio takes this");
    assert_eq!(parsed.value, expected);
    let found = parsed.warnings.first().map(ToString::to_string).unwrap_or_default();
    assert!(found.starts_with(warning) && !found.is_empty(), "{found}");
}

#[test]
fn sizes() {
    check_size("4096", 4096);
    check_size("4k", 4096);
    check_size("4K", 4096);
    check_size("4kb", 4096);
    check_size("4KB", 4096);
    check_size("1m", 1 << 20);
    check_size("1MB", 1 << 20);
    check_size("1g", 1 << 30);
    check_size("1t", 1 << 40);
    check_size("1p", 1 << 50);
    check_size("1b", 1);
    check_size("0", 0);
    check_size("+5k", 5120);
    check_size(" 5", 5);
    check_size("5 ", 5);
    check_size("0x10", 16);
    check_size("0X1F", 31);
    check_size("8388608t", 1 << 63);
    check_size("9223372036854775807", i64::MAX as u64);
}

#[test]
fn sizes_with_kb_base_1000() {
    let check = |text, expected| assert_eq!(parse_size(text, K1000), Ok(plain(expected)));
    check("4k", 4000);
    check("4kb", 4000);
    check("4kib", 4096);
    check("4KiB", 4096);
    check("1mib", 1 << 20);
    check("1pib", 1 << 50);
    check("1t", 1_000_000_000_000);
    check_odd("4ki", K1000, 4000, "`ki` counts as `k`");
}

#[test]
fn odd_sizes_are_taken_as_fio_does_and_reported() {
    check_odd("4kib", K1024, 4000, "`kib` counts in powers of 1000");
    check_odd("4KiB", K1024, 4000, "`KiB` counts in powers of 1000");
    check_odd("1mib", K1024, 1_000_000, "`mib` counts in powers of 1000");
    check_odd("1pib", K1024, 1_000_000_000_000_000, "`pib` counts in powers of 1000");
    check_odd("4ki", K1024, 4096, "`ki` counts as `k`");
    check_odd("1mi", K1024, 1 << 20, "`mi` counts as `m`");
    check_odd("0.5", K1024, 0, "`.5` is ignored");
    check_odd("1.5g", K1024, 1, "`.5g` is ignored");
    check_odd("3.7k", K1024, 3, "`.7k` is ignored");
    check_odd("50.5%", K1024, 50, "`.5%` is ignored");
    check_odd("4x", K1024, 4, "`x` is ignored");
    check_odd("4kx", K1024, 4096, "`x` is ignored");
    check_odd("4kg", K1024, 4096, "`g` is ignored");
    check_odd("4kilo", K1024, 4096, "`ki` counts as `k`");
    check_odd("4 k", K1024, 4, "` k` is ignored");
    check_odd(" 4k", K1024, 4, "`k` is ignored");
    check_odd("16e", K1024, 16, "`e` is ignored");
    check_odd("1e3", K1024, 1, "`e3` is ignored");
    check_odd("0x10k", K1024, 16, "`k` is ignored: a hexadecimal number");
    check_odd("0x1fm", K1024, 31, "`m` is ignored: a hexadecimal number");
    check_odd("10x0x", K1024, 16, "`x0x` is ignored");
    check_odd("0xk", K1024, 0, "`xk` is ignored");
    check_odd("4k-8k", K1024, 4096, "`-8k` is ignored");
    check_odd("4-8k", K1024, 4, "`-8k` is ignored");
}

#[test]
fn negative_numbers() {
    assert_eq!(parse_integer("-5", K1024), Ok(plain(-5)));
    assert_eq!(parse_integer("-5k", K1024), Ok(plain(-5120)));
    assert_eq!(parse_integer("(5-7)", K1024), Ok(plain(-2)));
    assert_eq!(parse_size("-5", K1024), Err(UnitError::Negative { text: "-5".into() }));
}

#[track_caller]
fn check_size_error(text: &str, expected: &str) {
    let error = parse_size(text, K1024).expect_err("no size");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn refused_sizes() {
    check_size_error("", "a number is missing");
    check_size_error("k", "`k` is not a number");
    check_size_error("abc", "`abc` is not a number");
    check_size_error("- 5", "`- 5` is not a number");
    check_size_error("9223372036854775808", "`9223372036854775808` is too large");
    check_size_error(
        "99999999999999999999999999999999999999999999999999",
        "`99999999999999999999999999999999999999999999999999` is too large",
    );
    check_size_error("20000p", "`20000p` is too large");
    check_size_error("50%", "`50%` is a percentage, and a plain number is needed here");
    check_size_error(
        "5z",
        "`5z` is not a number of zones, such as `5z`, or zones make no sense here",
    );
}

#[track_caller]
fn check_extent(text: &str, expected: SizeOrPercentOrZones) {
    assert_eq!(parse_size_or_percent_or_zones(text, K1024), Ok(plain(expected)));
}

#[test]
fn percentages_and_zones() {
    check_extent("4k", SizeOrPercentOrZones::Bytes(4096));
    check_extent("(2*2)k", SizeOrPercentOrZones::Bytes(4096));
    check_extent("50%", SizeOrPercentOrZones::Percent(50));
    check_extent("0%", SizeOrPercentOrZones::Percent(0));
    check_extent("100%", SizeOrPercentOrZones::Percent(100));
    check_extent("5z", SizeOrPercentOrZones::Zones(5));
    let refused = |text| parse_size_or_percent_or_zones(text, K1024).is_err();
    assert!(["150%", "-1%", "z", "0x5z", "5kz", "-1z", "4294967296z"].into_iter().all(refused));
    let zones = parse_size_or_percent_or_zones("3zz", K1024).expect("fio takes this");
    assert_eq!(zones.value, SizeOrPercentOrZones::Zones(3));
    assert_eq!(zones.warnings.len(), 1);
}

#[test]
fn ranges() {
    assert_eq!(parse_range("4k-8k", K1024), Ok(plain((4096, 8192))));
    assert_eq!(parse_range("4k:8k", K1024), Ok(plain((4096, 8192))));
    let swapped = Parsed { value: (4096, 8192), warnings: vec![UnitWarning::Swapped] };
    assert_eq!(parse_range("8k-4k", K1024), Ok(swapped));
    assert_eq!(parse_range("4k", K1024), Err(UnitError::NotARange { text: "4k".into() }));
}

#[test]
fn expressions() {
    check_size("(2*1024)", 2048);
    check_size("(2*1024)k", 2 << 20);
    check_size("(4+4)*2", 16);
    check_size("(4+4)k*2", 16384);
    check_size("(1+2*3)", 7);
    check_size("((2+3)*4)k", 20480);
    check_size("(2^10)", 1024);
    check_size("(2^3^2)", 512);
    check_size("(2^-1)", 0);
    check_size("(10/4)", 2);
    check_size("(10/4.0)", 2);
    check_size("(10%4)k", 2048);
    check_size("(1.5k)", 1024);
    check_size("(1.5*1024)", 1536);
    check_size("(.5k)", 0);
    check_size("(1e3k)", 1_024_000);
    check_size("(4kib)", 4000);
    check_size("(1kib+1m)", 1_049_576);
    check_size("(1gib)", 1_000_000_000);
    check_size("(1pib)", 1_000_000_000_000);
    check_size("(1s)", 1_000_000);
    check_size("(10-4-3)", 3);
    check_size("(100/10/2)", 5);
    check_size("(0x10k)", 16384);
    check_size("(5) k", 5120);
    check_size("( 5 + 3 )", 8);
    check_size("(5)#x", 5);
    check_size("(1k)k", 1 << 20);
    check_size("(-2^2)", 4);
    check_size("(1+2k)", 2049);
    check_size("(10/3k)", 3072);
    check_size("(2^3k)", 8192);
    check_size("(1+2.5)*2", 6);
    check_size("(2.5+1)*2", 7);
}

#[test]
fn expressions_beyond_32_bits_keep_their_value() {
    check_odd("(3000000000)", K1024, 3_000_000_000, "fio itself computes this in 32 bits");
    check_odd("(1024*1024*1024*4)", K1024, 1 << 32, "fio itself computes this in 32 bits");
}

#[test]
fn refused_expressions() {
    check_size_error("(5", "`(5` is not an expression: a closing parenthesis is missing");
    check_size_error("()", "`()` is not an expression: a number is missing");
    check_size_error("(4ki)", "`(4ki)` is not an expression: a closing parenthesis is missing");
    check_size_error("(2)(3)", "`(2)(3)` is not an expression: it goes on after its end");
    check_size_error("(1/0)", "`(1/0)` is not an expression: it divides by zero");
    check_size_error("(2^64)", "`(2^64)` is too large");
    check_size_error("(1e30)", "`(1e30)` is too large");
    check_size_error("(0^-1)", "`(0^-1)` is too large");
    for text in ["(5)x", "(5)5", "(1tib)", "(+5)", "(5,6)", "(1b)", "(1e)", "(1.)", "(1 2)"] {
        assert!(parse_size(text, K1024).is_err(), "{text}");
    }
    let deep = "(".repeat(100_000);
    assert!(parse_size(&deep, K1024).is_err());
}

#[track_caller]
fn check_time(text: &str, unit: TimeUnit, expected_us: u64) {
    assert_eq!(parse_time(text, unit), Ok(plain(expected_us)));
}

#[test]
fn times() {
    use TimeUnit::{Microseconds, Seconds};
    check_time("10", Seconds, 10_000_000);
    check_time("10", Microseconds, 10);
    check_time("10s", Seconds, 10_000_000);
    check_time("10S", Microseconds, 10_000_000);
    check_time("1m", Seconds, 60_000_000);
    check_time("1M", Microseconds, 60_000_000);
    check_time("2h", Seconds, 7_200_000_000);
    check_time("1d", Seconds, 86_400_000_000);
    check_time("5us", Seconds, 5);
    check_time("5usec", Seconds, 5);
    check_time("5ms", Seconds, 5_000);
    check_time("5msec", Microseconds, 5_000);
    check_time("+3m", Seconds, 180_000_000);
    check_time("(60)", Seconds, 60_000_000);
    check_time("(2*30)s", Seconds, 60_000_000);
    check_time("(1h+30m)", Seconds, 5_400_000_000);
    check_time("(1000ms)", Seconds, 1_000_000);
    check_time("(2*5)", Microseconds, 10);
}

#[track_caller]
fn check_odd_time(text: &str, unit: TimeUnit, expected_us: u64, warning: &str) {
    let parsed = parse_time(text, unit).expect("fio takes this");
    assert_eq!(parsed.value, expected_us);
    let found = parsed.warnings.first().map(ToString::to_string).unwrap_or_default();
    assert!(found.starts_with(warning) && !found.is_empty(), "{found}");
}

#[test]
fn odd_times_are_taken_as_fio_does_and_reported() {
    use TimeUnit::{Microseconds, Seconds};
    check_odd_time("2sec", Seconds, 2, "`sec` is not a time unit of fio");
    check_odd_time("1m30s", Seconds, 1, "`m30s` is not a time unit of fio");
    check_odd_time("5min", Seconds, 5, "`min` is not a time unit of fio");
    check_odd_time("1k", Seconds, 1, "`k` is not a time unit of fio");
    check_odd_time("300ns", Microseconds, 300, "`ns` is not a time unit of fio");
    check_odd_time("0.5", Seconds, 0, "`.5` is ignored");
    check_odd_time("1.5s", Seconds, 1_000_000, "`.5s` is ignored");
    check_odd_time("1.5s", Microseconds, 1, "`.5s` is ignored");
    check_odd_time("10 s", Seconds, 10_000_000, "` s` is ignored");
    check_odd_time("50%", Seconds, 50_000_000, "`%` is ignored");
    check_odd_time("5usx", Seconds, 5, "`x` is ignored");
    check_odd_time("5msfoo", Seconds, 5_000, "`foo` is ignored");
    check_odd_time("0x10", Seconds, 16, "`x10` is not a time unit of fio");
    check_odd_time("0xas", Seconds, 10, "`xas` is not a time unit of fio");
    check_odd_time("(1500ms)", Seconds, 1_000_000, "500000 us are cut off");
    check_odd_time("(60*60)", Seconds, 3_600_000_000, "fio itself computes this in 32 bits");
}

#[test]
fn refused_times() {
    let error = |text: &str| parse_time(text, TimeUnit::Seconds).expect_err("no time").to_string();
    assert_eq!(error("s"), "`s` is not a number");
    assert_eq!(error(""), "a number is missing");
    assert_eq!(error("-1"), "`-1` is negative");
    assert_eq!(error("99999999999999"), "`99999999999999` is too large");
}

proptest! {
    #[test]
    fn any_text_is_handled(text in "\\PC*") {
        let _ = parse_size(&text, K1024);
        let _ = parse_size_or_percent_or_zones(&text, K1000);
        let _ = parse_range(&text, K1024);
        let _ = parse_time(&text, TimeUnit::Seconds);
    }

    #[test]
    fn any_expression_is_handled(text in "\\([-0-9xkmgtpibus.e+*/%^()# ]{0,30}") {
        let _ = parse_size(&text, K1024);
        let _ = parse_time(&text, TimeUnit::Seconds);
    }

    #[test]
    fn plain_numbers_are_read_back(value in 0..i64::MAX as u64) {
        prop_assert_eq!(parse_size(&value.to_string(), K1024), Ok(plain(value)));
        prop_assert_eq!(parse_size(&format!("{value:#x}"), K1000), Ok(plain(value)));
    }
}
