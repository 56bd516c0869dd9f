//! Numbers and dates as the page says them.

use std::time::Duration;

use record::Record;
use units::{format_change, format_duration};

/// Returns a difference in percent with its sign.
pub(crate) fn difference(ratio: f64) -> String {
    format_change(ratio - 1.0).replace('-', "−")
}

/// Returns a latency for an axis: a round value without decimals.
pub(crate) fn round_latency(ns: f64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
    let (unit, of_ns) = units.into_iter().find(|(_, of_ns)| ns >= *of_ns).unwrap_or(units[3]);
    format!("{} {unit}", (ns / of_ns * 1000.0).round() / 1000.0)
}

/// Returns a size without decimals, in the largest unit that allows it.
pub(crate) fn round_bytes(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| bytes.is_multiple_of(*unit) && bytes > 0) {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// Returns a length of time.
pub(crate) fn duration_ns(ns: u64) -> String {
    // Milliseconds of a long run are noise.
    let rounded =
        if ns >= 10_000_000_000 { (ns + 500_000_000) / 1_000_000_000 * 1_000_000_000 } else { ns };
    format_duration(Duration::from_nanos(rounded))
}

/// Returns a moment as `2026-11-22 08:10:05 UTC`. Without leap seconds, as Unix time is.
pub(crate) fn moment(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = units::date_of(days as i64);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Returns a text with a capital letter at its start, unless it is a path or one word, which stays
/// as it is written.
pub fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if text.contains(' ') => first.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// Returns a sentence in which no line ends between a number and its unit.
pub(crate) fn unbroken(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    let mut is_number = false;
    for word in sentence.split(' ') {
        let is_unit = matches!(
            word.trim_end_matches(['.', ',', ';', ')', ':']),
            "k" | "M" | "G" | "I/Os" | "IOPS" | "MiB/s" | "ns" | "µs" | "ms" | "s" | "%"
        );
        if !out.is_empty() {
            out.push(if is_unit && is_number { '\u{a0}' } else { ' ' });
        }
        is_number = is_unit || word.ends_with(|c: char| c.is_ascii_digit());
        out.push_str(word);
    }
    out
}

/// Returns what was measured: the emulated design, the one target, or the host.
pub(crate) fn volume(record: &Record) -> String {
    let mut targets: Vec<&str> =
        record.jobs.iter().flat_map(|job| &job.targets).map(String::as_str).collect();
    if let Some(emulation) = &record.emulation {
        let is_on = |mount: &&String| targets.iter().any(|target| target.starts_with(*mount));
        let mut used = emulation.mounts.iter().filter(is_on);
        // Of several volumes it may be one that was measured.
        return match (used.next(), used.next()) {
            (Some(only), None) if emulation.mounts.len() > 1 => {
                format!("{only} of {}", emulation.design)
            }
            _ => sentence_case(&emulation.design),
        };
    }
    targets.dedup();
    match targets.as_slice() {
        [only] => without_scratch(only).to_owned(),
        _ => record.host.name.clone(),
    }
}

/// Returns the folder that was asked about, where a scratch file in it was made and removed.
fn without_scratch(target: &str) -> &str {
    let is_scratch = target.ends_with(".scratch");
    match target.find("/plimsoll-").filter(|at| is_scratch && *at > 0).map(|at| &target[..at]) {
        Some(".") => "The folder it ran in",
        folder => folder.unwrap_or(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(moment(1_709_251_199_999), "2024-02-29 23:59:59 UTC");
        assert_eq!(moment(4_102_444_800_000), "2100-01-01 00:00:00 UTC");
    }

    #[test]
    fn a_scratch_file_stands_for_its_folder() {
        assert_eq!(without_scratch("/mnt/v/plimsoll-bench-7/plimsoll-bench.scratch"), "/mnt/v");
        let here = "./plimsoll-bench-7/plimsoll-bench.scratch";
        assert_eq!(without_scratch(here), "The folder it ran in");
        assert_eq!(without_scratch("/mnt/plimsoll-data/f"), "/mnt/plimsoll-data/f");
        assert_eq!(without_scratch("/dev/sdx"), "/dev/sdx");
    }

    #[test]
    fn axis_texts_are_short() {
        assert_eq!(round_latency(1e6), "1 ms");
        assert_eq!(round_latency(200.0), "200 ns");
        assert_eq!(round_latency(5e10), "50 s");
        assert_eq!(round_bytes(65536), "64 KiB");
        assert_eq!(round_bytes(513), "513 B");
    }

    #[test]
    fn numbers_keep_their_units() {
        let sentence = "a did 2.01 k IOPS, 15.7 MiB/s; 99 of 100 took 3.74 ms.";
        let expected = "a did 2.01\u{a0}k\u{a0}IOPS, 15.7\u{a0}MiB/s; 99 of 100 took 3.74\u{a0}ms.";
        assert_eq!(unbroken(sentence), expected);
    }
}
