//! Times of day as Vdbench prints them.

use units::MONTHS;

/// A time of day: the only one that the outputs know.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Moment {
    /// Milliseconds since the Unix epoch.
    pub unix_ms: u64,
    /// Seconds that local time is ahead of UTC; negative west of Greenwich.
    pub utc_offset_s: i32,
    /// Name of the time zone, such as `UTC` or `CET`.
    pub zone: String,
}

/// A moment in the parts of a calendar.
struct Parts {
    year: i64,
    month_idx: usize,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    ms: u64,
}

impl Moment {
    /// Returns what stands before each line: `01:15:27.021`.
    pub fn clock(&self) -> String {
        let Parts { hour, minute, second, ms, .. } = self.parts(self.utc_offset_s);
        format!("{hour:02}:{minute:02}:{second:02}.{ms:03}")
    }

    /// Returns the date in headings: `Nov 21, 2026`.
    pub fn date(&self) -> String {
        let Parts { year, month_idx, day, .. } = self.parts(self.utc_offset_s);
        format!("{} {day:02}, {year}", MONTHS[month_idx])
    }

    /// Returns the form that programs read: `11/21/2026-01:15:24-UTC`.
    pub fn stamp(&self) -> String {
        let Parts { year, month_idx, day, hour, minute, second, .. } =
            self.parts(self.utc_offset_s);
        let month = month_idx + 1;
        let zone = &self.zone;
        format!("{month:02}/{day:02}/{year}-{hour:02}:{minute:02}:{second:02}-{zone}")
    }

    /// Returns the form of a report's first lines: `01:15:19 Nov 21 2026 UTC`.
    pub fn long(&self) -> String {
        let zone = &self.zone;
        format!("{} {zone}", long_parts(&self.parts(self.utc_offset_s)))
    }

    /// Returns the same in universal time.
    pub fn long_utc(&self) -> String {
        format!("{} UTC", long_parts(&self.parts(0)))
    }

    /// Returns what replaces `tod` in the name of an output directory: `261121.011519`.
    pub fn compact(&self) -> String {
        let Parts { year, month_idx, day, hour, minute, second, .. } =
            self.parts(self.utc_offset_s);
        let (year, month) = (year.rem_euclid(100), month_idx + 1);
        format!("{year:02}{month:02}{day:02}.{hour:02}{minute:02}{second:02}")
    }

    fn parts(&self, utc_offset_s: i32) -> Parts {
        let local_s = (self.unix_ms / 1000) as i64 + i64::from(utc_offset_s);
        let (days, of_day) = (local_s.div_euclid(86_400), local_s.rem_euclid(86_400));
        let (year, month, day) = units::date_of(days);
        Parts {
            year,
            month_idx: month as usize - 1,
            day,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            ms: self.unix_ms % 1000,
        }
    }
}

fn long_parts(parts: &Parts) -> String {
    let Parts { year, month_idx, day, hour, minute, second, .. } = parts;
    format!("{hour:02}:{minute:02}:{second:02} {} {day:02} {year}", MONTHS[*month_idx])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_all_its_forms() {
        let utc_offset_s = 3600;
        let now = Moment { unix_ms: 1_795_232_389_021, utc_offset_s, zone: "CET".to_owned() };
        assert_eq!(now.clock(), "04:39:49.021");
        assert_eq!(now.date(), "Nov 21, 2026");
        assert_eq!(now.stamp(), "11/21/2026-04:39:49-CET");
        assert_eq!(now.long(), "04:39:49 Nov 21 2026 CET");
        assert_eq!(now.long_utc(), "03:39:49 Nov 21 2026 UTC");
        assert_eq!(now.compact(), "261121.043949");
    }
}
