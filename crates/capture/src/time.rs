//! Moments as logs print them: ISO, American, European, with and without a zone.

use std::borrow::Cow;

use crate::sample::{ClockKind, NS_PER_S};

const S_PER_DAY: i64 = 86_400;

/// A moment as it was printed: the clock's own reading, as if it were UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) unix_ns: i64,
    pub(crate) clock: ClockKind,
}

/// Which of day and month stands first in a date that does not begin with the year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// As in 21/11/26.
    DayFirst,
    /// As in 11/21/26.
    MonthFirst,
}

impl DateOrder {
    /// Each order, for who offers them.
    pub const ALL: [DateOrder; 2] = units::all_of!(DateOrder: DayFirst, MonthFirst);

    /// Returns its word, as `--dates` takes it.
    pub fn word(self) -> &'static str {
        match self {
            DateOrder::DayFirst => "day-first",
            DateOrder::MonthFirst => "month-first",
        }
    }
}

/// What is not certain of dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// A date could be either, and was read in the usual order.
    Assumed(String),
    /// A later date shows that the order may be the other one.
    Contradicted(String),
}

/// A date whose day and month are both at most 12 and differ: days since 1970, either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EitherWay {
    /// As it was printed, without what set the numbers apart.
    printed: [i64; 3],
    as_read: i64,
    as_other: i64,
}

/// Reads moments of one source, and learns from them which number is the day.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamps {
    /// What a person said, or a date that can be read one way alone.
    order: Option<DateOrder>,
    /// The last date that was read in the usual order because nothing said which.
    either_way: Option<EitherWay>,
    /// That was reported.
    is_doubt_reported: bool,
    /// A date said the other order after one that could be either.
    contradicts: Option<[i64; 3]>,
    /// Date of the last line that had one without a time, days since 1970.
    day: Option<i64>,
    /// Last moment, for times without a date.
    last_s: Option<i64>,
}

impl Stamps {
    /// Begins with the order of dates, where it is known.
    pub(crate) fn new(order: Option<DateOrder>) -> Self {
        Stamps { order, ..Stamps::default() }
    }

    /// Reads `11/21/26 01:20:27`, `2026-11-21T01:20:27+0000`, `21.11.2026 13:20:27`,
    /// `11/21/2026 01:20:27.050 PM`, or seconds since 1970.
    pub(crate) fn stamp(&mut self, text: &str) -> Option<Stamp> {
        let text = western(text.trim());
        let text = text.as_ref();
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
        let (ns_of_day, clock) = time_of_day(western(text.trim()).trim())?;
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
        if n_digits == 4 {
            return days(one, two, three);
        }
        let of = |order: DateOrder| match order {
            DateOrder::DayFirst => days(three, two, one),
            DateOrder::MonthFirst => days(three, one, two),
        };
        let (day_first, month_first) = (of(DateOrder::DayFirst), of(DateOrder::MonthFirst));
        let printed = [one, two, three];
        // Nowhere does the month stand before a point.
        if separator == '.' {
            return day_first;
        }
        match (day_first, month_first) {
            (None, None) => None,
            (Some(_), None) => {
                if self.order.is_none() && self.either_way.is_some() {
                    self.contradicts = Some(printed);
                }
                self.order.get_or_insert(DateOrder::DayFirst);
                day_first
            }
            (None, Some(_)) => {
                self.order.get_or_insert(DateOrder::MonthFirst);
                month_first
            }
            (Some(day_first), Some(month_first)) => Some(match self.order {
                Some(DateOrder::DayFirst) => day_first,
                Some(DateOrder::MonthFirst) => month_first,
                None => {
                    self.assume(EitherWay { printed, as_read: month_first, as_other: day_first })
                }
            }),
        }
    }

    /// Takes a date month first, as where no language is set, and remembers that it may be wrong.
    fn assume(&mut self, date: EitherWay) -> i64 {
        if date.as_read == date.as_other {
            return date.as_read;
        }
        // The next day, or a month without a line: one log seldom has the latter.
        let is_next_day = |last: EitherWay| {
            date.as_other == last.as_other + 1 && date.as_read >= last.as_read + 28
        };
        if self.either_way.is_some_and(is_next_day) {
            self.contradicts = Some(date.printed);
        }
        if self.contradicts.is_none() {
            self.either_way = Some(date);
        }
        date.as_read
    }

    /// Returns what is not certain of the dates so far, once each.
    pub(crate) fn doubt(&mut self) -> Option<Doubt> {
        let date = self.either_way?;
        let text = |[one, two, three]: [i64; 3]| format!("{one:02}/{two:02}/{three:02}");
        if let Some(other) = self.contradicts.take() {
            return Some(Doubt::Contradicted(format!(
                "after {}, {} has the day first, or a month is missing between them: say which \
                 stands first with `--dates {}` or `--dates {}`",
                text(date.printed),
                text(other),
                DateOrder::DayFirst.word(),
                DateOrder::MonthFirst.word()
            )));
        }
        if self.order.is_some() || std::mem::replace(&mut self.is_doubt_reported, true) {
            return None;
        }
        Some(Doubt::Assumed(format!(
            "{} is read month first, as {}: if the day stands first in it, add `--dates {}`",
            text(date.printed),
            &iso(date.as_read * S_PER_DAY * NS_PER_S as i64)[..10],
            DateOrder::DayFirst.word()
        )))
    }
}

/// Returns the days since 1970 of a date, a year of two digits being of this century.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let year = if year < 100 { year + 2000 } else { year };
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    (is_date && (1970..=2200).contains(&year)).then(|| units::days_since_1970(year, month, day))
}

/// Returns a moment of East Asia with the marks of the West: `2026年11月21日 13時20分27秒`,
/// `2026년 11월 21일 오후 01시 20분 27초`, `下午 01:20:27`.
pub(crate) fn western(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut western = String::with_capacity(text.len());
    let mut half = "";
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((word, mark)) = MARKS.iter().find(|(word, _)| rest.starts_with(word)) {
            rest = &rest[word.len()..];
            match *mark {
                // Hours of half a day stand behind it in the West.
                " AM" | " PM" => half = mark,
                "-" | ":" => {
                    western.push_str(mark);
                    rest = rest.trim_start_matches(' ');
                }
                _ => western.push_str(mark),
            }
        } else {
            western.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    western.push_str(half);
    let words: Vec<&str> = western.split_whitespace().collect();
    Cow::Owned(words.join(" "))
}

/// Marks of dates and times in Chinese, Japanese and Korean, as the C library's languages print
/// them, and those of the West.
const MARKS: [(&str, &str); 20] = [
    ("年", "-"),
    ("月", "-"),
    ("日", " "),
    ("년", "-"),
    ("월", "-"),
    ("일", " "),
    ("时", ":"),
    ("時", ":"),
    ("点", ":"),
    ("시", ":"),
    ("分", ":"),
    ("분", ":"),
    ("秒", ""),
    ("초", ""),
    ("上午", " AM"),
    ("下午", " PM"),
    ("午前", " AM"),
    ("午後", " PM"),
    ("오전", " AM"),
    ("오후", " PM"),
];

/// Reads `13:20:27`, `01:20:27.5 PM`, with a zone behind it, in nanoseconds.
fn time_of_day(text: &str) -> Option<(i64, ClockKind)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.' | ',')));
    let (time, rest) = text.split_at(end.unwrap_or(text.len()));
    // Points in place of colons, as in Finnish.
    let is_pointed = !time.contains(':') && time.matches('.').count() == 2;
    let mut parts = time.split(if is_pointed { '.' } else { ':' });
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
        check("2026年11月21日 13時20分27秒", "2026-11-21 13:20:27");
        check("2026年11月21日 13时20分27秒", "2026-11-21 13:20:27");
        check("2026년 11월 21일 13시 20분 27초", "2026-11-21 13:20:27");
        check("2026년 11월 21일 오후 01시 20분 27초", "2026-11-21 13:20:27");
        check("2026年11月21日 午前12時20分27秒", "2026-11-21 00:20:27");
        check("21.11.2026 13.20.27", "2026-11-21 13:20:27");
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

    /// Reads dates one after the other, and returns the last with what is in doubt.
    fn doubts(order: Option<DateOrder>, dates: &[&str]) -> (String, Vec<Doubt>) {
        let mut stamps = Stamps::new(order);
        let mut doubts = Vec::new();
        let mut last = String::new();
        for date in dates {
            let stamp = stamps.stamp(&format!("{date} 10:00:00")).expect("a moment");
            last = iso(stamp.unix_ns)[..10].to_owned();
            doubts.extend(stamps.doubt());
        }
        (last, doubts)
    }

    #[test]
    fn a_date_that_could_be_either_is_noted_once() {
        let (last, found) = doubts(None, &["05/11/26", "05/11/26", "05/12/26"]);
        assert_eq!(last, "2026-05-12");
        let [Doubt::Assumed(text)] = &found[..] else { panic!("{found:?}") };
        assert!(text.contains("05/11/26 is read month first, as 2026-05-11"), "{text}");
        for sure in [&["11/21/26", "11/05/26"][..], &["05/05/26"], &["05.11.26"]] {
            assert_eq!(doubts(None, sure).1, [], "{sure:?}");
        }
        assert_eq!(doubts(Some(DateOrder::DayFirst), &["05/11/26"]), ("2026-11-05".into(), vec![]));
    }

    #[test]
    fn a_log_that_begins_with_the_day_does_not_jump_by_months() {
        for days in [&["05/11/26", "06/11/26"][..], &["12/11/26", "13/11/26"]] {
            let (_, found) = doubts(None, days);
            assert!(matches!(found[..], [Doubt::Assumed(_), Doubt::Contradicted(_)]), "{found:?}");
        }
        let (last, found) = doubts(Some(DateOrder::MonthFirst), &["05/11/26", "06/11/26"]);
        assert_eq!((last.as_str(), found), ("2026-06-11", vec![]));
    }

    #[test]
    fn a_version_is_no_date() {
        let mut stamps = Stamps::default();
        stamps.set_day("6.1.112");
        stamps.set_day("4.18.0");
        assert_eq!(stamps.time_only("10:00:00"), None);
        stamps.set_day("11/05/26");
        assert_eq!(
            stamps.time_only("10:00:00").map(|it| iso(it.unix_ns)[..10].to_owned()),
            Some("2026-11-05".to_owned())
        );
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
