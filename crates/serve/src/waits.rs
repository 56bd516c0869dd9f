//! How long a volume's I/Os waited, and for which cap.

use volume::Done;

/// What the I/Os of one volume have waited since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// I/Os that completed.
    pub(crate) n_ios: u64,
    /// What they took, summed, nanoseconds.
    pub(crate) latency_ns: u64,
    /// What each cap made them wait, summed, nanoseconds; by its position. An I/O counts for the
    /// cap that it waited for longest.
    held_ns: Vec<u64>,
}

impl Waits {
    /// Counts an I/O that was submitted at a time.
    pub(crate) fn count(&mut self, done: &Done, submitted_ns: u64) {
        self.n_ios += 1;
        self.latency_ns += done.at_ns.saturating_sub(submitted_ns);
        if done.held_ns == 0 {
            return;
        }
        let idx = usize::from(done.held_by.0);
        if self.held_ns.len() <= idx {
            self.held_ns.resize(idx + 1, 0);
        }
        self.held_ns[idx] += done.held_ns;
    }

    /// Returns what was counted after an earlier look.
    pub(crate) fn since(&self, earlier: &Waits) -> Waits {
        let held_before = earlier.held_ns.iter().copied().chain(std::iter::repeat(0));
        let held = self.held_ns.iter().zip(held_before);
        Waits {
            n_ios: self.n_ios.saturating_sub(earlier.n_ios),
            latency_ns: self.latency_ns.saturating_sub(earlier.latency_ns),
            held_ns: held.map(|(now, before)| now.saturating_sub(before)).collect(),
        }
    }

    /// Returns the cap that was waited for longest in all, by its position, and how long.
    pub(crate) fn longest(&self) -> Option<(usize, u64)> {
        let held = self.held_ns.iter().copied().enumerate();
        held.max_by_key(|&(_, held_ns)| held_ns).filter(|&(_, held_ns)| held_ns > 0)
    }
}

/// From here on an answer counts as late, nanoseconds: some ten times what a sleep ends late on a
/// calm machine, and a fifth of the shortest latency of the catalogue's disks.
const LATE_NS: u64 = 200_000;

/// How late answers were handed out after their modelled time, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lateness {
    /// Answers.
    pub(crate) n_answers: u64,
    /// Those that were late.
    pub(crate) n_late: u64,
    /// What those were late by, summed, nanoseconds.
    pub(crate) late_ns: u64,
}

impl Lateness {
    /// Counts an answer that is handed out so long after its time.
    pub(crate) fn count(&mut self, late_ns: u64) {
        self.n_answers += 1;
        if late_ns >= LATE_NS {
            self.n_late += 1;
            self.late_ns += late_ns;
        }
    }

    /// Returns what was counted after an earlier look.
    pub(crate) fn since(self, earlier: Lateness) -> Lateness {
        Lateness {
            n_answers: self.n_answers.saturating_sub(earlier.n_answers),
            n_late: self.n_late.saturating_sub(earlier.n_late),
            late_ns: self.late_ns.saturating_sub(earlier.late_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use volume::{CapId, Stations};

    use super::*;

    #[test]
    fn answers_are_late_from_a_fifth_of_a_millisecond_on() {
        let mut lateness = Lateness::default();
        for late_ns in [0, LATE_NS - 1, LATE_NS, 3 * LATE_NS] {
            lateness.count(late_ns);
        }
        let expected = Lateness { n_answers: 4, n_late: 2, late_ns: 4 * LATE_NS };
        assert_eq!(lateness, expected);
        assert_eq!(expected.since(expected), Lateness::default());
    }

    #[test]
    fn the_longest_wait_of_late_is_reported() {
        let mut waits = Waits::default();
        let done = |cap, held_ns, at_ns| Done {
            id: 0,
            at_ns,
            held_by: CapId(cap),
            held_ns,
            stations: Stations::default(),
        };
        waits.count(&done(3, 500, 1_000), 0);
        let earlier = waits.clone();
        waits.count(&done(1, 100, 2_000), 1_500);
        waits.count(&done(3, 90, 2_100), 1_600);
        assert_eq!(waits.longest(), Some((3, 590)));
        let late = waits.since(&earlier);
        assert_eq!((late.n_ios, late.latency_ns), (2, 1_000));
        assert_eq!(late.longest(), Some((1, 100)));
        assert_eq!(late.since(&late).longest(), None);
    }
}
