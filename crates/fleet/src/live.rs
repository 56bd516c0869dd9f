//! A run over many hosts while it goes on: its seconds as they become whole, and when its record is
//! reported.
//!
//! What hosts did in a second can be compared once all of them have come to its end: before, the
//! slower ones would seem to have done nothing.

use std::collections::BTreeMap;

use record::{HostShareRecord, Interval, LossRecord, Outcome, Record, StartRecord};

use crate::controller::{AgentOutcome, Controller, News};
use crate::intervals::Joiner;
use crate::merge;

/// Least time between two reports of the record: half a second of the hosts, which come now sooner
/// and now later.
const REPORT_NS_MIN: u64 = 500_000_000;

/// Time after which the record is reported though no second has become whole: what is lost at most
/// where the controller is killed.
const OVERDUE_NS: u64 = 2_000_000_000;

/// Least time between two reports, in times of what one takes.
const REPORT_PAUSE: u64 = 50;

/// Why the record is reported as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportCause {
    /// All hosts that are heard have come to the end of a second.
    Second,
    /// All have ended a step, or begin the next one.
    Step,
    /// They have not come to the end of a second, for long. What it says of single hosts is not of
    /// the same time.
    Overdue,
}

/// What is known while a run goes on.
pub(crate) struct Live {
    /// The hosts.
    pub(crate) names: Vec<String>,
    /// What stands against the run, by the hosts that refuse it.
    pub(crate) refused: Vec<(String, Vec<String>)>,
    /// Why hosts are lost.
    pub(crate) lost: Vec<(String, Vec<String>)>,
    /// Intervals of each host that were joined, and the joining of them.
    n_intervals: Vec<usize>,
    joiner: Joiner,
    /// Since when frames have come that no whole second has shown.
    waits_since_ns: Option<u64>,
    /// When the record may be reported again.
    next_ns: u64,
}

impl Live {
    pub(crate) fn new(names: Vec<String>) -> Self {
        Live {
            refused: Vec::new(),
            lost: Vec::new(),
            n_intervals: vec![0; names.len()],
            joiner: Joiner::new(names.len()),
            names,
            waits_since_ns: None,
            next_ns: 0,
        }
    }

    /// Takes what happened. Returns the seconds that have become whole by it, and whether the
    /// record is to be reported: then [`Live::reported`] follows.
    pub(crate) fn take(
        &mut self,
        news: &News,
        controller: &Controller,
        now_ns: u64,
    ) -> (Vec<Interval>, Option<ReportCause>) {
        match news {
            News::Refused(idx, findings) => {
                self.refused.push((self.names[*idx].clone(), findings.clone()));
            }
            News::Lost(idx, reason) | News::Absent(idx, reason) => {
                self.lost.push((self.names[*idx].clone(), vec![reason.clone()]));
            }
            News::Frame(idx) => self.add_intervals(*idx, controller),
            // A host that is silent holds the seconds of the others back no longer.
            News::Suspect(_) => {}
            News::Sent(..)
            | News::Came(..)
            | News::Away(..)
            | News::Back(..)
            | News::Starts(..)
            | News::Ended(..)
            | News::Said(..)
            | News::Progress(..) => return (Vec::new(), None),
        }
        let seconds = self.joiner.take(|idx| controller.is_measuring(idx));
        let since_ns = *self.waits_since_ns.get_or_insert(now_ns);
        let cause = if seconds.is_empty() {
            let is_overdue = now_ns.saturating_sub(since_ns) >= OVERDUE_NS;
            is_overdue.then_some(ReportCause::Overdue)
        } else {
            self.waits_since_ns = None;
            Some(ReportCause::Second)
        };
        (seconds, cause.filter(|_| now_ns >= self.next_ns))
    }

    /// Notes that the record was reported, from when to when. What takes long with many hosts is
    /// not done all the time.
    pub(crate) fn reported(&mut self, from_ns: u64, to_ns: u64) {
        let took_ns = to_ns.saturating_sub(from_ns);
        self.waits_since_ns = None;
        self.next_ns = from_ns + REPORT_NS_MIN.max(took_ns.saturating_mul(REPORT_PAUSE));
    }

    /// Hands over the intervals of a host that have come since. A silent host is not waited for:
    /// what it did comes with it.
    fn add_intervals(&mut self, idx: usize, controller: &Controller) {
        let n_joined = &mut self.n_intervals[idx];
        let intervals = controller.frames(idx).intervals();
        for interval in intervals.get(*n_joined..).unwrap_or_default() {
            self.joiner.push(idx, interval);
        }
        *n_joined = intervals.len().max(*n_joined);
    }
}

/// Makes the record of what came from all; `None` where nothing did.
pub(crate) fn record(names: &[String], controller: &Controller, now_ns: u64) -> Option<Record> {
    let outcomes = controller.outcomes(now_ns);
    if !outcomes.iter().any(|it| it.has_frames) {
        return None;
    }
    let shares = names.iter().zip(outcomes);
    let shares: Vec<HostShareRecord> =
        shares.map(|(name, outcome)| share(name.clone(), outcome)).collect();
    let notes = merge::notes_about(&shares);
    let mut record = merge::merge(shares);
    record.notes.extend(notes);
    Some(record)
}

/// Makes what is kept of a host.
fn share(name: String, outcome: AgentOutcome) -> HostShareRecord {
    let mut record = outcome.record;
    let later: BTreeMap<u32, u64> = outcome.starts.into_iter().collect();
    let started = record.conditions.iter().filter_map(|of_step| {
        let later_ns = later.get(&of_step.step_idx).copied().unwrap_or(0);
        let start_error_ns = of_step.start_error_ns?.saturating_add_unsigned(later_ns);
        Some(StartRecord { step_idx: of_step.step_idx, start_error_ns })
    });
    let starts = started.collect();
    if !outcome.is_complete && record.outcome == Outcome::Complete {
        record.outcome = Outcome::Interrupted;
    }
    let lost = outcome.lost.map(|(_, reason)| {
        let since_ms = record.intervals.last().map_or(0, |last| last.end_ms);
        LossRecord { since_ms, reason }
    });
    let offset = outcome.offset;
    HostShareRecord {
        name,
        clock_offset_ns: offset.map_or(0, |it| it.offset_ns),
        clock_error_ns: offset.map_or(u64::MAX, |it| it.error_ns),
        silence_ns_max: outcome.silence_ns_max,
        starts,
        lost,
        record,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use record::JobRecord;

    use super::*;
    use crate::controller::{Action, Event, LossPolicy};
    use crate::frame::FrameMaker;
    use crate::wire::from_agent::Kind as From;
    use crate::wire::to_agent::Kind as To;
    use crate::wire::{Armed, Assignment, Hello, Pong, Ready};
    use crate::{PROTOCOL_MAJOR, PROTOCOL_MINOR};

    const MS: u64 = 1_000_000;

    /// Two hosts, `a` and `b`, that run a step, and what is shown of them.
    struct Run {
        controller: Controller,
        live: Live,
        now_ns: u64,
        /// What each host has measured, and its frames.
        hosts: Vec<(Record, FrameMaker)>,
        /// Nothing comes from this host.
        silent: Option<usize>,
        has_begun: bool,
        /// Seconds that were shown: the end, milliseconds, and the hosts in it.
        seconds: Vec<(u64, u32)>,
        /// Reports: why, and the operations of each host.
        reports: Vec<(ReportCause, Vec<u64>)>,
    }

    const A: usize = 0;
    const B: usize = 1;

    impl Run {
        fn start() -> Self {
            let now_ns = 1_000_000 * MS;
            let assignment = Assignment::default();
            let policy = LossPolicy::Continue;
            let mut run = Run {
                controller: Controller::new(2, assignment, policy, now_ns, 60_000 * MS),
                live: Live::new(vec!["a".to_owned(), "b".to_owned()]),
                now_ns,
                hosts: (0..2).map(|_| (one_job(), FrameMaker::default())).collect(),
                silent: None,
                has_begun: false,
                seconds: Vec::new(),
                reports: Vec::new(),
            };
            for idx in [A, B] {
                run.take(Event::Message(idx, hello(idx)));
            }
            for idx in [A, B] {
                run.take(Event::Message(idx, From::Ready(Ready { step_idx: 0 })));
            }
            for _ in 0..40 {
                run.pass(250);
            }
            assert!(run.has_begun, "both began");
            run
        }

        /// Hands an event over, and what hosts answer to what follows.
        fn take(&mut self, event: Event) {
            let mut events = VecDeque::from([event]);
            while let Some(event) = events.pop_front() {
                for action in self.controller.take(event, self.now_ns) {
                    match action {
                        Action::Send(idx, message) if self.silent != Some(idx) => {
                            let answer = answer(&message, self.now_ns);
                            events.extend(answer.map(|it| Event::Message(idx, it)));
                        }
                        Action::Send(..) | Action::Finish => {}
                        Action::Tell(news) => self.show(&news),
                    }
                }
            }
        }

        fn show(&mut self, news: &News) {
            self.has_begun |= matches!(news, News::Starts(..));
            let (seconds, cause) = self.live.take(news, &self.controller, self.now_ns);
            let shown = seconds.iter().map(|it| (it.end_ms, it.n_hosts.unwrap_or(0)));
            self.seconds.extend(shown);
            if let Some(cause) = cause {
                let record = record(&self.live.names, &self.controller, self.now_ns);
                let record = record.expect("frames have come");
                let n_ios = record.hosts.iter().map(|host| host.record.jobs.first());
                let n_ios = n_ios.map(|job| job.map_or(0, JobRecord::n_ios)).collect();
                self.reports.push((cause, n_ios));
                self.live.reported(self.now_ns, self.now_ns);
            }
        }

        /// Lets time pass, milliseconds.
        fn pass(&mut self, ms: u64) {
            self.now_ns += ms * MS;
            self.take(Event::Due);
        }

        /// A host has measured another second of 100 operations.
        fn second(&mut self, idx: usize) {
            let (record, frames) = &mut self.hosts[idx];
            let end_ms = record.intervals.last().map_or(0, |last| last.end_ms) + 1000;
            record.intervals.push(Interval { end_ms, length_ms: 1000, ..Interval::default() });
            record.jobs[0].dirs.read.n_ios += 100;
            let frame = frames.frame(record.clone());
            self.take(Event::Message(idx, From::Frame(frame)));
        }
    }

    fn one_job() -> Record {
        let plimsoll_version = "0".to_owned();
        Record { plimsoll_version, jobs: vec![JobRecord::default()], ..Record::default() }
    }

    fn hello(idx: usize) -> From {
        From::Hello(Hello {
            protocol_major: PROTOCOL_MAJOR,
            protocol_minor: PROTOCOL_MINOR,
            program_version: "0".to_owned(),
            agent: ["a", "b"][idx].to_owned(),
            incarnation: 1,
            calls_again: false,
            has_run: false,
            run_idx: 0,
        })
    }

    /// What a host answers whose clock reads what the controller's does.
    fn answer(message: &To, now_ns: u64) -> Option<From> {
        match *message {
            To::Ping(ping) => {
                Some(From::Pong(Pong { id: ping.id, received_ns: now_ns, sent_ns: now_ns }))
            }
            To::Arm(arm) => {
                let (step_idx, start_ns) = (arm.step_idx, arm.start_ns);
                Some(From::Armed(Armed { step_idx, start_ns, begins_ns: start_ns }))
            }
            To::Assignment(_)
            | To::Ack(_)
            | To::Stop(_)
            | To::Bye(_)
            | To::LayOut(_)
            | To::Inspect(_)
            | To::Fetch(_) => None,
        }
    }

    #[test]
    fn a_second_is_shown_once_all_hosts_have_come_to_its_end() {
        let mut run = Run::start();
        // Now one is the first, now the other.
        for (n_seconds, order) in [(1, [A, B]), (2, [B, A]), (3, [A, B]), (4, [B, A])] {
            run.second(order[0]);
            assert_eq!(run.seconds.len(), n_seconds - 1, "the other one is not there yet");
            run.pass(10);
            run.second(order[1]);
            assert_eq!(run.seconds.last(), Some(&(n_seconds as u64 * 1000, 2)));
            run.pass(990);
        }
        let of_both = |n: u64| (ReportCause::Second, vec![n, n]);
        assert_eq!(run.reports, [100, 200, 300, 400].map(of_both));
    }

    #[test]
    fn a_silent_host_and_a_lost_one_hold_nothing_back() {
        let mut run = Run::start();
        run.second(A);
        run.second(B);
        run.pass(1000);
        run.silent = Some(B);
        run.second(A);
        assert_eq!(run.seconds, [(1000, 2)]);
        for _ in 0..8 {
            run.pass(250);
        }
        assert_eq!(run.seconds, [(1000, 2), (2000, 1)], "it is suspected after two seconds");
        let mut run = Run::start();
        run.second(A);
        run.take(Event::Gone(B, "its connection was closed".to_owned()));
        assert_eq!(run.seconds, [(1000, 1)]);
    }

    #[test]
    fn a_host_that_waits_for_the_next_step_holds_nothing_back() {
        let mut run = Run::start();
        run.take(Event::Message(B, From::Ready(Ready { step_idx: 1 })));
        run.second(A);
        assert_eq!(run.seconds, [(1000, 1)]);
    }

    #[test]
    fn what_is_measured_is_reported_though_no_second_becomes_whole() {
        let mut run = Run::start();
        run.second(A);
        run.second(B);
        for _ in 0..3 {
            run.pass(1000);
            run.second(A);
        }
        assert_eq!(run.seconds, [(1000, 2)]);
        let expected =
            [(ReportCause::Second, vec![100, 100]), (ReportCause::Overdue, vec![400, 100])];
        assert_eq!(run.reports, expected);
    }
}
