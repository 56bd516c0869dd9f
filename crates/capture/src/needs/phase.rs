//! Phases of the day.

use crate::time::minute_of_day;

/// Names of phases, in the order in which the rest of the day gets them.
pub(super) const NAMES: [&str; 3] = ["normal", "off-peak", "peak"];

const MINUTES_PER_DAY: u32 = 24 * 60;

/// A part of the day: from a minute on, to before another. It may pass midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    from_min: u32,
    to_min: u32,
}

/// A phase and when it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseRule {
    /// `normal`, `peak` or `off-peak`.
    pub name: String,
    /// When it is.
    pub windows: Vec<Window>,
}

impl Window {
    /// Reads `09:00-17:00`, `9-17` or `22:00-06:00`.
    ///
    /// # Errors
    /// Says what to write.
    pub fn parse(text: &str) -> Result<Window, String> {
        let bad = || format!("`{text}` is no part of a day: write one such as `09:00-17:00`");
        let (from, to) = text.split_once('-').ok_or_else(bad)?;
        let minute = |text: &str| -> Option<u32> {
            let (hour, minute) = text.trim().split_once(':').unwrap_or((text.trim(), "0"));
            let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
            let total = hour * 60 + minute;
            (hour <= 24 && minute < 60 && total <= MINUTES_PER_DAY).then_some(total)
        };
        let (from_min, to_min) = (minute(from).ok_or_else(bad)?, minute(to).ok_or_else(bad)?);
        if from_min == to_min {
            return Err(format!("`{text}` is empty: write one such as `09:00-17:00`"));
        }
        Ok(Window { from_min, to_min })
    }

    /// Says whether a minute of the day lies in it.
    fn holds(self, minute: u32) -> bool {
        if self.from_min < self.to_min {
            (self.from_min..self.to_min).contains(&minute)
        } else {
            minute >= self.from_min || minute < self.to_min
        }
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (from, to) = (self.from_min, self.to_min);
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

impl PhaseRule {
    /// Reads `peak=09:00-17:00`, with several parts of the day set apart by commas.
    ///
    /// # Errors
    /// Says what to write.
    pub fn parse(text: &str) -> Result<PhaseRule, String> {
        let (name, windows) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}`: write one such as `peak=09:00-17:00`"))?;
        let hours: Vec<String> = windows.split(',').map(str::to_owned).collect();
        PhaseRule::check(name.trim(), &hours)
    }

    /// Reads a phase of a file.
    pub(super) fn check(name: &str, hours: &[String]) -> Result<PhaseRule, String> {
        if !NAMES.contains(&name) {
            return Err(format!("`{name}` is no phase: write normal, peak or off-peak"));
        }
        let windows = hours.iter().map(|hours| Window::parse(hours)).collect::<Result<_, _>>()?;
        Ok(PhaseRule { name: name.to_owned(), windows })
    }
}

/// The phases of a capture: those that were given, and the rest of the day.
#[derive(Clone, Debug)]
pub(super) struct Phases {
    rules: Vec<PhaseRule>,
    /// Place of the phase that has no hours of its own.
    rest_idx: usize,
}

impl Phases {
    /// Joins rules of one name, and gives the rest of the day the first name that is free.
    ///
    /// # Errors
    /// Where two phases claim one minute, or no name is free for the rest of the day.
    pub(super) fn new(given: &[PhaseRule]) -> Result<Phases, String> {
        let mut rules: Vec<PhaseRule> = Vec::new();
        for rule in given {
            match rules.iter_mut().find(|known| known.name == rule.name) {
                Some(known) => known.windows.extend(&rule.windows),
                None => rules.push(rule.clone()),
            }
        }
        for minute in 0..MINUTES_PER_DAY {
            let of = |rule: &&PhaseRule| rule.windows.iter().any(|window| window.holds(minute));
            let mut claims = rules.iter().filter(of);
            if let (Some(one), Some(other)) = (claims.next(), claims.next()) {
                let (hour, minute) = (minute / 60, minute % 60);
                let (one, other) = (&one.name, &other.name);
                return Err(format!("{hour:02}:{minute:02} is in phase {one} and in {other}"));
            }
        }
        let rest_idx = rules.len();
        let free = NAMES.iter().find(|name| rules.iter().all(|rule| rule.name != **name));
        match free {
            Some(name) => {
                rules.push(PhaseRule { name: (*name).to_owned(), windows: Vec::new() });
                Ok(Phases { rules, rest_idx })
            }
            None => Ok(Phases { rules, rest_idx }),
        }
    }

    /// Returns their rules; that of the rest of the day has no hours.
    pub(super) fn rules(&self) -> &[PhaseRule] {
        &self.rules
    }

    /// Returns the place of the phase in which a span lies with its middle; none where no phase
    /// takes the rest of the day.
    pub(super) fn of(&self, end_ns: i64, span_ns: u64, has_times_of_day: bool) -> Option<usize> {
        if has_times_of_day {
            let minute = minute_of_day(end_ns.saturating_sub_unsigned(span_ns / 2));
            let holds = |rule: &PhaseRule| rule.windows.iter().any(|window| window.holds(minute));
            if let Some(idx) = self.rules.iter().position(holds) {
                return Some(idx);
            }
        }
        (self.rest_idx < self.rules.len()).then_some(self.rest_idx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_day() {
        let window = |text: &str| Window::parse(text).expect("a part of a day");
        assert_eq!(window("9-17").to_string(), "09:00-17:00");
        let night = window("22:00-06:30");
        for (minute, is_in) in [(0, true), (389, true), (390, false), (1319, false), (1320, true)] {
            assert_eq!(night.holds(minute), is_in, "{minute}");
        }
        for text in ["", "9", "9-9", "25-26", "09:60-10:00", "a-b"] {
            assert!(Window::parse(text).expect_err("none").contains("09:00-17:00"), "{text}");
        }
    }

    #[test]
    fn the_rest_of_the_day_has_a_name() {
        let phases = |texts: &[&str]| {
            let rules: Result<Vec<_>, _> =
                texts.iter().map(|text| PhaseRule::parse(text)).collect();
            rules.and_then(|rules| Phases::new(&rules))
        };
        let names = |texts: &[&str]| -> Vec<String> {
            let phases = phases(texts).expect("they fit");
            phases.rules().iter().map(|rule| rule.name.clone()).collect()
        };
        assert_eq!(names(&[]), ["normal"]);
        assert_eq!(names(&["peak=9-12", "peak=13-17"]), ["peak", "normal"]);
        assert_eq!(names(&["peak=9-17", "normal=6-9,17-20"]), ["peak", "normal", "off-peak"]);
        for (texts, part) in [
            (&["peak=9-17", "normal=16-18"][..], "16:00 is in phase peak and in normal"),
            (&["busy=9-17"], "normal, peak or off-peak"),
            (&["peak"], "peak=09:00-17:00"),
        ] {
            assert!(phases(texts).expect_err("a mistake").contains(part), "{texts:?}");
        }
    }
}
