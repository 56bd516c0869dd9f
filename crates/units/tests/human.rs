//! Our own numbers: kind parsing, three-digit printing, and one back into the other.

use std::time::Duration;

use proptest::prelude::*;
use units::{
    format_bytes, format_change, format_change_short, format_change_whole, format_duration,
    format_iops, format_latency_ns, format_percent, format_percent_exact, format_percent_whole,
    format_rate_mb_s, format_rate_mib_s, parse_bytes, parse_count, parse_duration, parse_rate,
};

#[track_caller]
fn check_bytes(text: &str, expected: u64) {
    assert_eq!(parse_bytes(text), Ok(expected));
}

#[test]
fn bytes() {
    check_bytes("4096", 4096);
    check_bytes("512 B", 512);
    check_bytes("4k", 4096);
    check_bytes("64 KiB", 65_536);
    check_bytes("64K", 65_536);
    check_bytes("1.5G", 1_610_612_736);
    check_bytes("100 GB", 100_000_000_000);
    check_bytes("4 kB", 4_000);
    check_bytes("1.3k", 1_331);
    check_bytes("0.1 TiB", 109_951_162_778);
    check_bytes(".5 MiB", 524_288);
    check_bytes("  1T ", 1 << 40);
}

#[test]
fn rates_and_counts() {
    assert_eq!(parse_rate("200 MiB/s"), Ok(209_715_200));
    assert_eq!(parse_rate("1.5GB/s"), Ok(1_500_000_000));
    assert_eq!(parse_rate("100M"), Ok(104_857_600));
    assert_eq!(parse_rate("10 Gbit/s"), Ok(1_250_000_000));
    assert_eq!(parse_rate("64 bit/s"), Ok(8));
    assert_eq!(parse_count("54.6k"), Ok(54_600));
    assert_eq!(parse_count("1.2 M"), Ok(1_200_000));
    assert_eq!(parse_count("500"), Ok(500));
}

#[test]
fn durations() {
    let check = |text, ms| assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)));
    check("10s", 10_000);
    check("1m30s", 90_000);
    check("1 min 30 sec", 90_000);
    check("500ms", 500);
    check("2h", 7_200_000);
    check("1.5h", 5_400_000);
    check("1d2h", 93_600_000);
    assert_eq!(parse_duration("1.5 µs"), Ok(Duration::from_nanos(1_500)));
}

#[test]
fn refused_with_a_reason() {
    let error = |text: &str| parse_bytes(text).expect_err("no bytes").to_string();
    assert_eq!(error(""), "a number is missing");
    assert_eq!(error("k"), "`k` is not a number");
    assert_eq!(error("-4k"), "`-4k` is negative");
    assert_eq!(error("99999 P"), "`99999 P` is too large");
    assert_eq!(
        error("4kilo"),
        "`kilo` in `4kilo` is not a unit here; use B, KiB, MiB, GiB, TiB, PiB (or k, M, G, T, P), \
         kB, MB, GB, TB or PB"
    );
    let error = |text: &str| parse_duration(text).expect_err("no duration").to_string();
    assert_eq!(error("10"), "`10` has no unit; use d, h, m, s, ms, us or ns");
    assert_eq!(error("1m30"), "`1m30` has no unit; use d, h, m, s, ms, us or ns");
    assert_eq!(
        error("3 weeks"),
        "`weeks` in `3 weeks` is not a unit here; use d, h, m, s, ms, us or ns"
    );
    assert!(parse_duration("999999999999d").is_err());
    assert!(parse_rate("5 MiB/h").is_err());
    assert!(parse_count("5 KiB").is_err());
}

#[test]
fn three_digits_and_a_unit() {
    let check = |found: String, expected: &str| assert_eq!(found, expected);
    check(format_bytes(0), "0 B");
    check(format_bytes(1023), "1023 B");
    check(format_bytes(65_536), "64.0 KiB");
    check(format_bytes(3_221_225_472), "3.00 GiB");
    check(format_bytes((1 << 30) - 1), "1.00 GiB");
    check(format_bytes(1023 << 20), "1023 MiB");
    check(format_bytes(u64::MAX), "16.0 EiB");
    check(format_rate_mib_s(223_346_688.0), "213 MiB/s");
    check(format_rate_mib_s(524_288.0), "0.50 MiB/s");
    check(format_rate_mib_s(f64::NAN), "0 MiB/s");
    check(format_rate_mb_s(200_000_000.0), "200 MB/s");
    check(format_rate_mb_s(32_768_000.0), "32.8 MB/s");
    check(format_iops(842.4), "842");
    check(format_iops(54_600.0), "54.6 k");
    check(format_iops(999_600.0), "1.00 M");
    check(format_iops(0.25), "0.25");
    check(format_iops(-1.0), "0");
    check(format_latency_ns(850), "850 ns");
    check(format_latency_ns(1_234), "1.23 µs");
    check(format_latency_ns(999_999), "1.00 ms");
    check(format_latency_ns(12_345_678), "12.3 ms");
    check(format_latency_ns(123_456_789_000), "123 s");
}

#[test]
fn shares_are_printed_in_percent() {
    assert_eq!(format_percent(0.005), "0.5 %");
    assert_eq!(format_percent(1.0), "100.0 %");
    assert_eq!(format_percent_whole(0.666), "67 %");
    assert_eq!(format_percent_whole(-0.2), "-20 %");
    assert_eq!(format_percent_whole(-0.001), "0 %");
    assert_eq!((format_change(0.005), format_change(-0.2)), ("+0.5 %".into(), "-20.0 %".into()));
    let exact = [(0.95, 4), (0.999, 4), (1.0 / 3.0, 2), (1.0, 0), (0.0, 2), (0.2, 2)];
    let exact = exact.map(|(share, n_max)| format_percent_exact(share, n_max));
    assert_eq!(exact, ["95 %", "99.9 %", "33.33 %", "100 %", "0 %", "20 %"]);
    let changes = [0.005, -0.9994, 1.2].map(format_change_short);
    assert_eq!(changes, ["+0.5 %", "-99.9 %", "+120 %"]);
    let changes = [0.07, -0.2, -0.001].map(format_change_whole);
    assert_eq!(changes, ["+7 %", "-20 %", "+0 %"]);
}

#[test]
fn durations_are_printed_short() {
    let check = |ms, expected: &str| {
        assert_eq!(format_duration(Duration::from_millis(ms)), expected);
    };
    check(0, "0s");
    check(500, "500 ms");
    check(12_500, "12.5s");
    check(10_000, "10s");
    check(90_000, "1m30s");
    check(7_200_000, "2h");
    check(93_784_000, "1d2h3m4s");
    check(59_999, "59.999s");
}

proptest! {
    #[test]
    fn printed_bytes_are_read_back_within_half_a_percent(bytes: u64) {
        let back = parse_bytes(&format_bytes(bytes / 2)).unwrap();
        prop_assert!(back.abs_diff(bytes / 2) as f64 <= bytes as f64 * 0.005);
    }

    #[test]
    fn printed_seconds_are_read_back(seconds in 0..100_000_000_u64) {
        let duration = Duration::from_secs(seconds);
        prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
    }

    #[test]
    fn printed_latencies_are_read_back_within_half_a_percent(latency_ns in 0..1_u64 << 60) {
        let back = parse_duration(&format_latency_ns(latency_ns)).unwrap().as_nanos();
        prop_assert!(back.abs_diff(u128::from(latency_ns)) as f64 <= latency_ns as f64 * 0.006);
    }

    #[test]
    fn any_text_is_handled(text in "\\PC*") {
        let _ = (parse_bytes(&text), parse_rate(&text), parse_count(&text), parse_duration(&text));
    }

    #[test]
    fn any_number_is_printed(value: u64, rate: f64, duration: Duration) {
        let texts = [
            format_bytes(value),
            format_latency_ns(value),
            format_iops(rate),
            format_rate_mib_s(rate),
            format_duration(duration),
        ];
        prop_assert!(texts.iter().all(|text| !text.is_empty()));
    }
}
