//! The time of day for reports, and a stopwatch for progress. Never used to measure I/O.

use std::time::{Duration, Instant};

use dialects::fio::output::ReportTime;
use dialects::vdbench::output::Moment;

/// Returns the time of day with the local offset from UTC.
pub(crate) fn report_time() -> ReportTime {
    let now = jiff::Zoned::now();
    ReportTime {
        unix_ms: u64::try_from(now.timestamp().as_millisecond()).unwrap_or(0),
        utc_offset_s: now.offset().seconds(),
    }
}

/// Counts from its making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts.
    #[expect(clippy::disallowed_methods, reason = "progress is no measurement")]
    pub(crate) fn start() -> Self {
        Stopwatch(Instant::now())
    }

    /// Returns the time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Returns the time of day with the name of the local time zone.
pub(crate) fn moment() -> Moment {
    let now = jiff::Zoned::now();
    Moment {
        unix_ms: u64::try_from(now.timestamp().as_millisecond()).unwrap_or(0),
        utc_offset_s: now.offset().seconds(),
        zone: now.strftime("%Z").to_string(),
    }
}

/// Returns what the local clock reads, in nanoseconds since 1970 as if it were UTC.
pub(crate) fn local_ns() -> i64 {
    let now = jiff::Zoned::now();
    let unix_ns = i64::try_from(now.timestamp().as_nanosecond()).unwrap_or(0);
    unix_ns.saturating_add(i64::from(now.offset().seconds()) * 1_000_000_000)
}

/// Prints a moment as a local date with hour and minute.
pub(crate) fn local_minute(unix_ms: u64) -> String {
    local(unix_ms, "%Y-%m-%d %H:%M")
}

/// Prints a moment as a local date with milliseconds behind a colon: `2026-11-27 02:49:00:123`.
pub(crate) fn local_millisecond(unix_ms: u64) -> String {
    format!("{}:{:03}", local(unix_ms, "%Y-%m-%d %H:%M:%S"), unix_ms % 1000)
}

/// Prints a moment by the local clock, as a form of `strftime` says; `-` for one that no calendar
/// has.
fn local(unix_ms: u64, form: &str) -> String {
    let moment =
        i64::try_from(unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let zone = jiff::tz::TimeZone::system();
    moment.map_or("-".to_owned(), |at| at.to_zoned(zone).strftime(form).to_string())
}

/// Prints a moment in UTC with milliseconds: `2026-11-27T02:49:00.123Z`.
pub(crate) fn utc_millisecond(unix_ms: u64) -> String {
    let moment =
        i64::try_from(unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    moment.map_or("-".to_owned(), |at| at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// Prints a moment as a date in UTC with seconds: `2026/11/27 02:49:00`.
pub(crate) fn utc_second(unix_ms: u64) -> String {
    let moment =
        i64::try_from(unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    moment.map_or("-".to_owned(), |at| at.strftime("%Y/%m/%d %H:%M:%S").to_string())
}

/// Returns the local time of day for the name of a file or a run, such as `20261123-0415-07`.
pub(crate) fn file_stamp() -> String {
    jiff::Zoned::now().strftime("%Y%m%d-%H%M-%S").to_string()
}
