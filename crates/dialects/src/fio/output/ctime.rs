//! The one form in which fio prints a date: that of the C function `ctime`.

use super::ReportTime;

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
pub(crate) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const SECONDS_PER_DAY: i64 = 86_400;
/// Days of 400 years of the Gregorian calendar, after which it repeats.
const DAYS_PER_ERA: i64 = 146_097;
/// Days from 1 March of year 0 to 1 January 1970.
const DAYS_TO_EPOCH: i64 = 719_468;

impl ReportTime {
    /// Returns local time such as `Sat Nov 21 02:51:29 2026`, without a final newline.
    pub fn ctime(self) -> String {
        let local_s = (self.unix_ms / 1000) as i64 + i64::from(self.utc_offset_s);
        let (days, second) =
            (local_s.div_euclid(SECONDS_PER_DAY), local_s.rem_euclid(SECONDS_PER_DAY));
        // 1 January 1970 was a Thursday.
        let weekday = DAYS[(days + 4).rem_euclid(7) as usize];
        let (year, month_idx, day) = civil(days);
        let month = MONTHS[month_idx];
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{weekday} {month} {day:>2} {hour:02}:{minute:02}:{second:02} {year}")
    }
}

/// Returns year, month (from 0) and day of a day counted from 1 January 1970.
///
/// Years start in March here, so that the day added in leap years is the last one of the year.
pub(crate) fn civil(days: i64) -> (i64, usize, i64) {
    let days = days + DAYS_TO_EPOCH;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months from March have 31, 30, 31, 30, 31 days and repeat: 153 days in five months.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month_idx = (month_from_march + 2) % 12;
    let year = era * 400 + year_of_era + i64::from(month_idx < 2);
    (year, month_idx as usize, day)
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
