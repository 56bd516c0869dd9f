//! Our own numbers out: three digits and a unit, so that a column of them reads at a glance.

use std::time::Duration;

/// Prints bytes with a binary unit: `512 B`, `64.0 KiB`, `3.00 GiB`.
pub fn format_bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    // A number that would round to 1024 of one unit is printed in the next.
    let fits = |idx: &usize| in_unit(bytes, 1 << (10 * (idx + 1))) < 1_023_500;
    let idx = (0..units.len()).find(fits).unwrap_or(units.len() - 1);
    format!("{} {}", three_digits(in_unit(bytes, 1 << (10 * (idx + 1)))), units[idx])
}

/// Prints a data rate in MiB/s, always that unit so that rows compare: `213 MiB/s`, `0.50 MiB/s`.
///
/// Not a number and negative rates print as zero.
pub fn format_rate_mib_s(bytes_per_s: f64) -> String {
    format!("{} MiB/s", format_mib_s(bytes_per_s))
}

/// Prints a data rate as [`format_rate_mib_s`] does, without the unit: of a column that has it.
pub fn format_mib_s(bytes_per_s: f64) -> String {
    let mib_per_s = bytes_per_s.max(0.0) / f64::from(1 << 20);
    three_digits((mib_per_s * 1000.0).round() as u64)
}

/// Prints a share in percent with one decimal: `0.5 %`, `100.0 %`.
pub fn format_percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Prints a share in whole percent: `7 %`, `-20 %`. What is rounded to nothing has no sign.
pub fn format_percent_whole(share: f64) -> String {
    // Adding zero takes the sign from nothing.
    format!("{:.0} %", (share * 100.0).round() + 0.0)
}

/// Prints a share in percent with so many decimals as it has, and no more than this: `95 %`,
/// `33.33 %`.
pub fn format_percent_exact(share: f64, n_decimals_max: usize) -> String {
    let text = format!("{:.n_decimals_max$}", share * 100.0);
    let is_whole = !text.contains('.');
    let text =
        if is_whole { text.as_str() } else { text.trim_end_matches('0').trim_end_matches('.') };
    format!("{text} %")
}

/// Prints a change in percent with its sign and three digits at most: `+0.5 %`, `-20.0 %`,
/// `+120 %`.
pub fn format_change_short(share: f64) -> String {
    if share.abs() < 0.9995 { format_change(share) } else { format_change_whole(share) }
}

/// Prints a change in percent with its sign and one decimal: `+0.5 %`, `-20.0 %`.
pub fn format_change(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

/// Prints a change in whole percent with its sign: `+7 %`, `-20 %`. No change has a plus.
pub fn format_change_whole(share: f64) -> String {
    // Adding zero takes the sign from what is rounded to nothing.
    format!("{:+.0} %", (share * 100.0).round() + 0.0)
}

/// Prints a count with its noun: `1 worker`, `2 workers`, `3 more entries`.
///
/// # Panics
/// If the count is below 0, or the noun is none or its plural.
pub fn plural(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().ok();
    assert!(count.is_some(), "a number of `{noun}` below 0");
    let count = count.unwrap_or(0);
    format!("{count} {}", things(count, noun))
}

/// Returns what so many things are called: `worker`, `workers`, `entries`.
///
/// # Panics
/// If the noun is none or its plural.
pub fn things(count: u64, noun: &str) -> String {
    let is_one = !noun.is_empty() && !noun.ends_with('s');
    assert!(is_one, "`{noun}` is not what one thing is called");
    match (count, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{noun}s"),
    }
}

/// Prints a whole number with commas between thousands: `1,268,464`.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<&str> =
        groups.map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(",")
}

/// Prints a number with commas between thousands; below 1,000 with one decimal if it has any:
/// `16,384`, `12.5`.
pub fn format_number(value: f64) -> String {
    if value < 1000.0 {
        let text = format!("{value:.1}");
        return text.strip_suffix(".0").map_or(text.clone(), ToOwned::to_owned);
    }
    format_count(value.round() as u64)
}

/// Prints a number with three digits, or all before the point: `0.125`, `12.5`, `16384`.
pub fn format_short(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.0995 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Prints a rate in MB/s of 10^6 bytes, with three digits, for what is published so.
///
/// Not a number and negative rates print as zero.
pub fn format_rate_mb_s(bytes_per_s: f64) -> String {
    let mb_per_s = bytes_per_s.max(0.0) / 1e6;
    format!("{} MB/s", three_digits((mb_per_s * 1000.0).round() as u64))
}

/// Prints I/Os per second: `842`, `54.6 k`, `1.20 M`. Below 100 with decimals.
///
/// Not a number and negative rates print as zero.
pub fn format_iops(iops: f64) -> String {
    let thousandths = (iops.max(0.0) * 1000.0).round() as u64;
    let units = ["", " k", " M", " G"];
    let scaled = |idx: usize| in_unit(thousandths, 1000_u64.pow(idx as u32)) / 1000;
    let fits = |idx: &usize| scaled(*idx) < 999_500;
    let idx = (0..units.len()).find(fits).unwrap_or(units.len() - 1);
    format!("{}{}", three_digits(scaled(idx)), units[idx])
}

/// Prints a latency: `850 ns`, `1.23 µs`, `12.3 ms`, `1.00 s`.
pub fn format_latency_ns(latency_ns: u64) -> String {
    if latency_ns < 1000 {
        return format!("{latency_ns} ns");
    }
    let units = [("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let fits = |unit: &&(&str, u64)| in_unit(latency_ns, unit.1) < 999_500;
    let (name, unit_ns) = units.iter().find(fits).unwrap_or(&units[2]);
    format!("{} {name}", three_digits(in_unit(latency_ns, *unit_ns)))
}

/// Prints a duration as [`crate::parse_duration`] reads it: `500 ms`, `12.5s`, `1m30s`, `2h`.
///
/// Below a second with three digits, below a minute in milliseconds, from there in whole seconds.
pub fn format_duration(duration: Duration) -> String {
    let total_ms = (duration.as_nanos() + 500_000) / 1_000_000;
    if duration.is_zero() {
        return "0s".to_owned();
    }
    if total_ms < 1000 {
        return format_latency_ns(duration.as_nanos() as u64);
    }
    if total_ms < 60_000 {
        let text = format!("{}.{:03}", total_ms / 1000, total_ms % 1000);
        return format!("{}s", text.trim_end_matches('0').trim_end_matches('.'));
    }
    let mut rest_s = (duration.as_nanos() + 500_000_000) / 1_000_000_000;
    let mut text = String::new();
    for (unit_s, name) in [(86_400, 'd'), (3_600, 'h'), (60, 'm'), (1, 's')] {
        if rest_s >= unit_s {
            text.push_str(&(rest_s / unit_s).to_string());
            text.push(name);
            rest_s %= unit_s;
        }
    }
    text
}

/// Longest time that is printed, seconds: 317 years.
const SECONDS_MAX: f64 = 1e10;

/// Prints seconds as [`format_duration`] does, to a tenth below ten of them and else to whole ones:
/// `2.5s`, `51m2s`.
///
/// No panic: what is below 0 or no number is `0s`.
pub fn format_seconds(seconds: f64) -> String {
    let parts = if seconds < 9.95 { 10.0 } else { 1.0 };
    let seconds = (seconds.clamp(0.0, SECONDS_MAX) * parts).round() / parts;
    format_duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// Returns thousandths of `value` in a unit, rounded half up.
fn in_unit(value: u64, unit: u64) -> u64 {
    let rounded = (u128::from(value) * 1000 + u128::from(unit / 2)) / u128::from(unit);
    u64::try_from(rounded).unwrap_or(u64::MAX)
}

/// Prints thousandths with three digits, or all digits before the point; nothing is a plain 0.
fn three_digits(thousandths: u64) -> String {
    let hundredths = thousandths.saturating_add(5) / 10;
    let tenths = thousandths.saturating_add(50) / 100;
    match thousandths {
        0 => "0".to_owned(),
        1..9_995 => format!("{}.{:02}", hundredths / 100, hundredths % 100),
        9_995..99_950 => format!("{}.{}", tenths / 10, tenths % 10),
        _ => (thousandths.saturating_add(500) / 1000).to_string(),
    }
}
