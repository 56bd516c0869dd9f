//! The one form in which fio prints a date: that of the C function `ctime`.

use super::ReportTime;

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

const SECONDS_PER_DAY: i64 = 86_400;

impl ReportTime {
    /// Returns local time such as `Sat Nov 21 02:51:29 2026`, without a final newline.
    pub fn ctime(self) -> String {
        let local_s = (self.unix_ms / 1000) as i64 + i64::from(self.utc_offset_s);
        let (days, second) =
            (local_s.div_euclid(SECONDS_PER_DAY), local_s.rem_euclid(SECONDS_PER_DAY));
        // 1 January 1970 was a Thursday.
        let weekday = DAYS[(days + 4).rem_euclid(7) as usize];
        let (year, month, day) = units::date_of(days);
        let month = units::MONTHS[month as usize - 1];
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{weekday} {month} {day:>2} {hour:02}:{minute:02}:{second:02} {year}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unix_s: u64, utc_offset_s: i32, expected: &str) {
        let time = ReportTime { unix_ms: unix_s * 1000 + 999, utc_offset_s };
        assert_eq!(time.ctime(), expected);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        check(0, 0, "Thu Jan  1 00:00:00 1970");
        check(0, -1, "Wed Dec 31 23:59:59 1969");
        check(951_782_400, 0, "Tue Feb 29 00:00:00 2000");
        check(1_795_232_389, 0, "Sat Nov 21 03:39:49 2026");
        check(1_795_232_389, 5 * 3600 + 1800, "Sat Nov 21 09:09:49 2026");
        check(4_107_542_400, 0, "Mon Mar  1 00:00:00 2100");
        check(1_735_689_599, 0, "Tue Dec 31 23:59:59 2024");
    }
}
