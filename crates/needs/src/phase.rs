//! Phases of the day.

use std::fmt;

use serde::Serialize;

/// Minutes of a day.
pub const MINUTES_PER_DAY: u32 = 24 * 60;

/// A phase of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseName {
    /// As it is most of the time.
    #[default]
    Normal,
    /// As it is when little is asked for.
    OffPeak,
    /// As it is when most is asked for.
    Peak,
}

impl PhaseName {
    /// All of them.
    pub const ALL: [PhaseName; 3] = units::all_of!(PhaseName: Normal, OffPeak, Peak);

    /// Returns its word in files and tables.
    pub fn word(self) -> &'static str {
        match self {
            PhaseName::Normal => "normal",
            PhaseName::OffPeak => "off-peak",
            PhaseName::Peak => "peak",
        }
    }

    /// Reads its word.
    ///
    /// # Errors
    /// Returns what to write.
    pub fn parse(text: &str) -> Result<PhaseName, String> {
        let known = PhaseName::ALL.into_iter().find(|name| name.word() == text);
        known.ok_or_else(|| format!("`{text}` is not a phase: write normal, peak or off-peak"))
    }
}

impl fmt::Display for PhaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A part of the day: from a minute on, to before another. It may pass midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    from_min: u32,
    to_min: u32,
}

/// A phase and when it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseRule {
    /// Which one it is.
    pub name: PhaseName,
    /// When it is.
    pub windows: Vec<Window>,
}

impl Window {
    /// Reads `09:00-17:00`, `9-17` or `22:00-06:00`.
    ///
    /// # Errors
    /// Returns what to write.
    pub fn parse(text: &str) -> Result<Window, String> {
        let bad = || format!("`{text}` is not a part of a day: write one such as `09:00-17:00`");
        let (from, to) = text.split_once('-').ok_or_else(bad)?;
        let minute = |text: &str| -> Option<u32> {
            let (hour, minute) = text.trim().split_once(':').unwrap_or((text.trim(), "0"));
            let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
            (hour <= 24 && minute < 60).then_some(hour * 60 + minute)
        };
        let is_of_day = |minute: &u32| *minute <= MINUTES_PER_DAY;
        let from_min = minute(from).filter(is_of_day).ok_or_else(bad)?;
        let to_min = minute(to).filter(is_of_day).ok_or_else(bad)?;
        if from_min == to_min {
            return Err(format!("`{text}` is empty: write one such as `09:00-17:00`"));
        }
        Ok(Window { from_min, to_min })
    }

    /// Returns how long it lasts, minutes.
    pub fn minutes(self) -> u32 {
        let Window { from_min, to_min } = self;
        if from_min < to_min { to_min - from_min } else { MINUTES_PER_DAY - from_min + to_min }
    }

    /// Returns whether a minute of the day lies in it.
    pub fn holds(self, minute: u32) -> bool {
        if self.from_min < self.to_min {
            (self.from_min..self.to_min).contains(&minute)
        } else {
            minute >= self.from_min || minute < self.to_min
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from_min, self.to_min);
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

impl PhaseRule {
    /// Reads `peak=09:00-17:00`, with several parts of the day set apart by commas.
    ///
    /// # Errors
    /// Returns what to write.
    pub fn parse(text: &str) -> Result<PhaseRule, String> {
        let (name, windows) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}`: write one such as `peak=09:00-17:00`"))?;
        let name = PhaseName::parse(name.trim())?;
        let windows = windows.split(',').map(Window::parse).collect::<Result<_, _>>()?;
        Ok(PhaseRule { name, windows })
    }
}

/// A minute of the day that two phases claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoursClash {
    /// The first such minute of the day.
    pub minute: u32,
    /// The phase whose rule stands first.
    pub first: PhaseName,
    /// The other one.
    pub other: PhaseName,
    /// Position of the other one's rule.
    pub other_idx: usize,
}

impl fmt::Display for HoursClash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute) = (self.minute / 60, self.minute % 60);
        write!(f, "{hour:02}:{minute:02} is in phase {} and in {}", self.first, self.other)
    }
}

/// Makes sure that no minute of the day is of two phases. Returns each rule that claims a minute
/// of one before it, with the first such minute.
pub fn check_hours(rules: &[PhaseRule]) -> Vec<HoursClash> {
    let holds = |rule: &PhaseRule, minute| rule.windows.iter().any(|window| window.holds(minute));
    let clash = |(other_idx, other): (usize, &PhaseRule)| {
        (0..MINUTES_PER_DAY).filter(|minute| holds(other, *minute)).find_map(|minute| {
            let first = rules[..other_idx].iter().find(|rule| holds(rule, minute))?;
            Some(HoursClash { minute, first: first.name, other: other.name, other_idx })
        })
    };
    rules.iter().enumerate().filter_map(clash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_day() {
        let window = |text: &str| Window::parse(text).expect("a part of a day");
        assert_eq!(window("9-17").to_string(), "09:00-17:00");
        let night = window("22:00-06:30");
        assert_eq!((window("9-17").minutes(), night.minutes()), (480, 510));
        for (minute, is_in) in [(0, true), (389, true), (390, false), (1319, false), (1320, true)] {
            assert_eq!(night.holds(minute), is_in, "{minute}");
        }
        for text in ["", "9", "9-9", "25-26", "09:60-10:00", "24:01-3", "a-b"] {
            assert!(Window::parse(text).expect_err("none").contains("09:00-17:00"), "{text}");
        }
    }

    #[test]
    fn a_minute_is_of_one_phase() {
        let of = |texts: &[&str]| {
            let rules: Vec<PhaseRule> =
                texts.iter().map(|text| PhaseRule::parse(text).expect("a phase")).collect();
            check_hours(&rules)
        };
        assert_eq!(of(&["peak=9-17", "normal=17-20,6-9"]), []);
        let found = of(&["peak=9-17", "normal=16-18", "off-peak=17-19"]);
        let found: Vec<_> = found.iter().map(|it| (it.other_idx, it.to_string())).collect();
        let expected = [
            (1, "16:00 is in phase peak and in normal".to_owned()),
            (2, "17:00 is in phase normal and in off-peak".to_owned()),
        ];
        assert_eq!(found, expected);
    }
}
