//! Moments as logs print them: ISO, American, European, with and without a zone.

use crate::sample::{ClockKind, NS_PER_S};

const S_PER_DAY: i64 = 86_400;

/// A moment as it was printed: the clock's own reading, as if it were UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) unix_ns: i64,
    pub(crate) clock: ClockKind,
}

/// Reads moments of one source, and learns from them which number is the day.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamps {
    /// A date had a day before its month: so have the others.
    is_day_first: bool,
    /// Date of the last line that had one without a time, days since 1970.
    day: Option<i64>,
    /// Last moment, for times without a date.
    last_s: Option<i64>,
}

impl Stamps {
    /// Reads `11/21/26 01:20:27`, `2026-11-21T01:20:27+0000`, `21.11.2026 13:20:27`,
    /// `11/21/2026 01:20:27.050 PM`, or seconds since 1970.
    pub(crate) fn stamp(&mut self, text: &str) -> Option<Stamp> {
        let text = text.trim();
        if text.len() >= 9 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let unix_s: i64 = text.parse().ok()?;
            let unix_ns = unix_s.checked_mul(NS_PER_S as i64)?;
            return Some(Stamp { unix_ns, clock: ClockKind::Utc });
        }
        let (date, rest) = text.split_once(['T', ' ', '\t'])?;
        let days = self.date(date)?;
        let (ns_of_day, clock) = time_of_day(rest.trim())?;
        let unix_ns = days.checked_mul(S_PER_DAY)?.checked_mul(NS_PER_S as i64)? + ns_of_day;
        Some(Stamp { unix_ns, clock })
    }

    /// Keeps the date of a header, for lines that have only a time.
    pub(crate) fn set_day(&mut self, date: &str) {
        if let Some(day) = self.date(date) {
            self.day = Some(day);
            self.last_s = None;
        }
    }

    /// Reads a time without a date, of the day of the header or the days after it.
    pub(crate) fn time_only(&mut self, text: &str) -> Option<Stamp> {
        let (ns_of_day, clock) = time_of_day(text.trim())?;
        let mut day = self.day?;
        let second = ns_of_day / NS_PER_S as i64;
        // Half a day back is midnight, less is a clock that was set.
        if self.last_s.is_some_and(|last_s| second + S_PER_DAY / 2 < last_s) {
            day += 1;
            self.day = Some(day);
        }
        self.last_s = Some(second);
        Some(Stamp { unix_ns: day * S_PER_DAY * NS_PER_S as i64 + ns_of_day, clock })
    }

    /// Reads a date, in days since 1970.
    fn date(&mut self, text: &str) -> Option<i64> {
        let separator = text.chars().find(|c| matches!(c, '/' | '-' | '.'))?;
        let mut parts = text.splitn(3, separator);
        let mut part = || -> Option<(i64, usize)> {
            let text = parts.next()?;
            let is_number = text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
            Some((text.parse().ok().filter(|_| is_number)?, text.len()))
        };
        let ((one, n_digits), (two, _), (three, _)) = (part()?, part()?, part()?);
        let (year, month, day) = if n_digits == 4 {
            (one, two, three)
        } else if separator == '.' || one > 12 || (self.is_day_first && two <= 12) {
            self.is_day_first = true;
            (three, two, one)
        } else {
            (three, one, two)
        };
        let year = if year < 100 { year + 2000 } else { year };
        let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
        (is_date && (1970..=2200).contains(&year)).then(|| units::days_since_1970(year, month, day))
    }
}

/// Reads `13:20:27`, `01:20:27.5 PM`, with a zone behind it, in nanoseconds.
fn time_of_day(text: &str) -> Option<(i64, ClockKind)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.' | ',')));
    let (time, rest) = text.split_at(end.unwrap_or(text.len()));
    let mut parts = time.split(':');
    let mut two = || -> Option<i64> {
        parts.next().filter(|part| part.len() <= 2).and_then(|part| part.parse().ok())
    };
    let (mut hour, minute) = (two()?, two()?);
    let second = parts.next().unwrap_or("0");
    let second_ns = i64::try_from(crate::number::decimal_ns(second.as_bytes(), 9)?).ok()?;
    let rest = rest.trim();
    let lower = rest.to_ascii_lowercase();
    if lower.starts_with("pm") && hour < 12 {
        hour += 12;
    } else if lower.starts_with("am") && hour == 12 {
        hour = 0;
    }
    let is_time = parts.next().is_none()
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && second_ns <= 60 * NS_PER_S as i64;
    let clock = match rest.trim_start_matches(['A', 'P', 'M', 'a', 'p', 'm', ' ']) {
        "UTC" | "Z" | "GMT" => ClockKind::Utc,
        _ => ClockKind::Local,
    };
    is_time.then(|| ((hour * 3600 + minute * 60) * NS_PER_S as i64 + second_ns, clock))
}

/// Prints a moment as `2026-11-21 01:20:27`.
pub fn iso(unix_ns: i64) -> String {
    let seconds = unix_ns.div_euclid(NS_PER_S as i64);
    let of_day = seconds.rem_euclid(S_PER_DAY);
    let (year, month, day) = units::date_of(seconds.div_euclid(S_PER_DAY));
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Returns the minute of the day of a moment, 0 to 1439.
pub(crate) fn minute_of_day(unix_ns: i64) -> u32 {
    let seconds = unix_ns.div_euclid(NS_PER_S as i64).rem_euclid(S_PER_DAY);
    (seconds / 60) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let stamp = Stamps::default().stamp(text).unwrap_or_else(|| panic!("no moment: {text}"));
        assert_eq!(iso(stamp.unix_ns), expected, "{text}");
    }

    #[test]
    fn the_forms_of_logs() {
        check("11/21/26 01:20:27", "2026-11-21 01:20:27");
        check("11/21/2018 09:00:15.050", "2018-11-21 09:00:15");
        check("11/21/2026 01:20:27 PM", "2026-11-21 13:20:27");
        check("11/21/2026 12:20:27 AM", "2026-11-21 00:20:27");
        check("21/11/26 13:20:27", "2026-11-21 13:20:27");
        check("21.11.2026 13:20:27", "2026-11-21 13:20:27");
        check("2026-11-21T01:20:27+0000", "2026-11-21 01:20:27");
        check("2026-11-21 01:20:28 UTC", "2026-11-21 01:20:28");
        check("2026-11-21T01:20:00Z", "2026-11-21 01:20:00");
        // 1,795,224,027 s: 20,778 days and 4,827 s.
        check("1795224027", "2026-11-21 01:20:27");
        check("2024-02-29 23:59:59", "2024-02-29 23:59:59");
        check("2000-03-01 00:00:00", "2000-03-01 00:00:00");
    }

    #[test]
    fn what_is_no_moment() {
        for text in ["", "vda 1 2", "13:20:27", "11/21/26", "21/21/26 01:00:00", "1/2/3 25:00:00"] {
            assert_eq!(Stamps::default().stamp(text), None, "{text}");
        }
    }

    #[test]
    fn one_date_says_which_number_is_the_day() {
        let mut stamps = Stamps::default();
        stamps.stamp("31/05/26 23:59:59").expect("a moment");
        let next = stamps.stamp("01/06/26 00:00:00").expect("a moment");
        assert_eq!(iso(next.unix_ns), "2026-06-01 00:00:00");
    }

    #[test]
    fn times_alone_pass_midnight() {
        let mut stamps = Stamps::default();
        stamps.set_day("11/21/26");
        let moments: Vec<String> = ["11:59:59 PM", "12:00:00 AM"]
            .iter()
            .map(|text| iso(stamps.time_only(text).expect("a time").unix_ns))
            .collect();
        assert_eq!(moments, ["2026-11-21 23:59:59", "2026-11-22 00:00:00"]);
    }
}
