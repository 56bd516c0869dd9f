//! Phases of a capture: those that were given, and the rest of the day.

use needs::{PhaseName, PhaseRule, check_hours};

use crate::time::minute_of_day;

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
