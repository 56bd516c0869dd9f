//! Phases of a capture: those that were given, and the rest of the day.

use std::time::Duration;

use needs::{PhaseName, PhaseRule, check_hours};

use crate::sample::NS_PER_S;
use crate::time::minute_of_day;

const NS_PER_MINUTE: i64 = 60 * NS_PER_S as i64;

const NS_PER_DAY: i64 = 24 * 60 * NS_PER_MINUTE;

/// A phase that a watch does not reach.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "phase {}: a watch of {} that begins at {:02}:{:02} does not reach it",
    with_hours(rule), units::format_duration(*length), begin_minute / 60, begin_minute % 60
)]
pub struct MissedPhase {
    /// The phase.
    pub rule: PhaseRule,
    /// When the watch begins, minutes after midnight.
    pub begin_minute: u32,
    /// How long it lasts.
    pub length: Duration,
}

/// Returns a phase with its hours: `peak (09:00-17:00)`.
pub(super) fn with_hours(rule: &PhaseRule) -> String {
    let hours: Vec<String> = rule.windows.iter().map(ToString::to_string).collect();
    format!("{} ({})", rule.name, hours.join(","))
}

/// The phases of a capture: those that were given, and the rest of the day.
#[derive(Clone, Debug)]
pub struct Phases {
    rules: Vec<PhaseRule>,
    /// Place of the phase that has no hours of its own.
    rest_idx: usize,
}

impl Default for Phases {
    /// One for the whole day.
    fn default() -> Self {
        Phases::with_rest(Vec::new())
    }
}

impl Phases {
    /// Joins rules of one name, and gives the rest of the day the first name that is free.
    ///
    /// # Errors
    /// Where two phases claim one minute.
    pub fn new(given: &[PhaseRule]) -> Result<Phases, String> {
        let mut rules: Vec<PhaseRule> = Vec::new();
        for rule in given {
            match rules.iter_mut().find(|known| known.name == rule.name) {
                Some(known) => known.windows.extend(&rule.windows),
                None => rules.push(rule.clone()),
            }
        }
        if let Some(clash) = check_hours(&rules).first() {
            return Err(clash.to_string());
        }
        Ok(Phases::with_rest(rules))
    }

    /// Adds the rest of the day to rules that fit each other.
    fn with_rest(mut rules: Vec<PhaseRule>) -> Phases {
        let rest_idx = rules.len();
        let is_free = |name: &PhaseName| rules.iter().all(|rule| rule.name != *name);
        if let Some(name) = PhaseName::ALL.into_iter().find(is_free) {
            rules.push(PhaseRule { name, windows: Vec::new() });
        }
        Phases { rules, rest_idx }
    }

    /// Returns whether any were given.
    pub(super) fn are_given(&self) -> bool {
        self.rest_idx > 0
    }

    /// Returns their rules; that of the rest of the day has no hours.
    pub(super) fn rules(&self) -> &[PhaseRule] {
        &self.rules
    }

    /// Makes sure that a watch reaches each phase with hours of its own.
    ///
    /// # Errors
    /// The first one of which no minute lies in it.
    pub fn check_watch(&self, begin_ns: i64, length: Duration) -> Result<(), MissedPhase> {
        let length_ns = i64::try_from(length.as_nanos()).unwrap_or(i64::MAX);
        let end_ns = begin_ns.saturating_add(length_ns.min(NS_PER_DAY));
        let minutes = (begin_ns..end_ns).step_by(NS_PER_MINUTE as usize).chain([end_ns]);
        let minutes: Vec<u32> = minutes.map(minute_of_day).collect();
        let is_reached = |rule: &&PhaseRule| {
            minutes.iter().any(|minute| rule.windows.iter().any(|window| window.holds(*minute)))
        };
        match self.rules[..self.rest_idx].iter().find(|rule| !is_reached(rule)) {
            None => Ok(()),
            Some(rule) => Err(MissedPhase { rule: rule.clone(), begin_minute: minutes[0], length }),
        }
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

    /// Checks what is said of a watch that begins at a minute of the day.
    #[track_caller]
    fn check_watch(phases: &[&str], (hour, minute): (i64, i64), watch_s: u64, expected: &str) {
        let rules: Vec<PhaseRule> =
            phases.iter().map(|text| PhaseRule::parse(text).expect("a phase")).collect();
        let phases = Phases::new(&rules).expect("they fit");
        let begin_ns = (hour * 60 + minute) * NS_PER_MINUTE;
        let checked = phases.check_watch(begin_ns, Duration::from_secs(watch_s));
        let said = checked.map_or_else(|missed| missed.to_string(), |()| String::new());
        let said = said.trim_start_matches("phase ").trim_end_matches(" does not reach it");
        assert_eq!(said, expected);
    }

    #[test]
    fn a_watch_that_does_not_reach_a_phase_is_known_before_it() {
        let peak = ["peak=9-17"];
        check_watch(&[], (8, 0), 60, "");
        let missed = "peak (09:00-17:00): a watch of 59m that begins at 08:00";
        check_watch(&peak, (8, 0), 3540, missed);
        check_watch(&peak, (8, 0), 3600, "");
        check_watch(&peak, (12, 0), 1, "");
        let missed = "peak (09:00-17:00): a watch of 1h that begins at 17:00";
        check_watch(&peak, (17, 0), 3600, missed);
        // Over midnight, over a whole day, and for a week.
        let missed = "peak (00:00-01:00): a watch of 20m that begins at 23:30";
        check_watch(&["peak=0-1"], (23, 30), 1200, missed);
        check_watch(&["peak=0-1"], (23, 30), 2400, "");
        check_watch(&peak, (17, 0), 86_400, "");
        check_watch(&peak, (17, 0), 604_800, "");
        // The first of two, which has two parts of the day.
        let both = ["peak=6-7,9-12", "normal=13-17"];
        let missed = "normal (13:00-17:00): a watch of 10m that begins at 10:00";
        check_watch(&both, (10, 0), 600, missed);
        let missed = "peak (06:00-07:00,09:00-12:00): a watch of 10m that begins at 20:00";
        check_watch(&both, (20, 0), 600, missed);
    }

    #[test]
    fn the_rest_of_the_day_has_a_name() {
        let phases = |texts: &[&str]| {
            let rules: Result<Vec<_>, _> =
                texts.iter().map(|text| PhaseRule::parse(text)).collect();
            rules.and_then(|rules| Phases::new(&rules))
        };
        let names = |texts: &[&str]| -> Vec<&str> {
            let phases = phases(texts).expect("they fit");
            phases.rules().iter().map(|rule| rule.name.word()).collect()
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
