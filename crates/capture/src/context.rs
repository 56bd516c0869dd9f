//! What all readers share: where events go, what could not be read, and how long a sample lasted.

use std::borrow::Cow;

use crate::lengths::Lengths;
use crate::lines::{Lines, ReadError};
use crate::sample::{ClockKind, Event, NS_PER_S, Note, NoteKind, Rates};
use crate::time::{self, Doubt};

/// Lines that could not be read and are listed one by one. The rest is counted.
const UNREADABLE_SHOWN: u64 = 5;

/// Of a last line without an end.
const CUT_OFF: &str = "the last line is cut off and left out";

/// Where a reader's events go.
pub(crate) struct Context<'a> {
    sink: &'a mut dyn FnMut(Event<'_>),
    n_unreadable: u64,
    n_samples: u64,
    clock: Option<ClockKind>,
    lengths: Lengths,
    /// Samples of devices were among those handed over.
    has_devices: bool,
    /// I/Os of a disk were, in samples or one by one.
    has_ios: bool,
    /// A report since the start of the host was left out, and a note says so.
    has_left_out: bool,
}

impl<'a> Context<'a> {
    pub(crate) fn new(sink: &'a mut dyn FnMut(Event<'_>)) -> Self {
        let lengths = Lengths::default();
        Context {
            sink,
            n_unreadable: 0,
            n_samples: 0,
            clock: None,
            lengths,
            has_devices: false,
            has_ios: false,
            has_left_out: false,
        }
    }

    /// Takes what a person says of the length of samples.
    pub(crate) fn state_length(&mut self, stated_ns: Option<u64>) {
        self.lengths.stated_ns = stated_ns;
    }

    /// Hands over an event.
    pub(crate) fn put(&mut self, event: Event<'_>) {
        match &event {
            Event::Device { sample, .. } => {
                self.lengths.see(sample.end_ns, sample.span_ns);
                self.has_devices = true;
                self.has_ios = true;
                self.n_samples += 1;
            }
            Event::Host(sample) => {
                self.lengths.see(sample.end_ns, sample.span_ns);
                self.n_samples += 1;
            }
            Event::Trace { .. } => {
                self.has_ios = true;
                self.n_samples += 1;
            }
            Event::Unknown { .. }
            | Event::Capacity { .. }
            | Event::Machine { .. }
            | Event::Clock(_)
            | Event::Length(_)
            | Event::Note(_) => {}
        }
        (self.sink)(event);
    }

    /// Reports which clock the moment of a sample is of, once for the whole source.
    ///
    /// # Errors
    /// Where some samples of a source have moments and others none: they have no common order.
    pub(crate) fn clock(&mut self, clock: ClockKind) -> Result<(), String> {
        let Some(known) = self.clock else {
            self.clock = Some(clock);
            self.put(Event::Clock(clock));
            return Ok(());
        };
        let is_absent = |clock: ClockKind| clock == ClockKind::Absent;
        match (is_absent(known), is_absent(clock)) {
            (true, true) | (false, false) => Ok(()),
            (false, true) => Err(
                "a report without a time in a log with times: capture each run as a file of its own"
                    .to_owned(),
            ),
            (true, false) => Err(
                "a report with a time in a log without times: capture each run as a file of its own"
                    .to_owned(),
            ),
        }
    }

    /// Looks at bytes of a report beside bytes per second, which tell how long it lasted.
    pub(crate) fn see_totals(&mut self, rates: &Rates) {
        self.lengths.see_totals(rates);
    }

    fn has_moments(&self) -> bool {
        self.clock != Some(ClockKind::Absent)
    }

    /// Makes sure that the length of reports without moments can be known.
    ///
    /// # Errors
    /// Where it cannot, as soon as there is a sample: a stream may go on for hours.
    pub(crate) fn check_length(&self) -> Result<(), ReadError> {
        let is_told = self.has_moments()
            || self.lengths.stated_ns.is_some()
            || self.lengths.has_totals()
            || self.lengths.are_told(false);
        if self.has_devices && !is_told { Err(self.no_length()) } else { Ok(()) }
    }

    /// Reports how long samples last, where they do not say it.
    ///
    /// # Errors
    /// Where nothing tells it.
    pub(crate) fn finish_length(&mut self) -> Result<(), ReadError> {
        let stated_ns = self.lengths.stated_ns;
        if !self.lengths.has_samples() {
            return Ok(());
        }
        if self.lengths.are_told(self.has_moments()) {
            if stated_ns.is_some() {
                self.remark(None, "`--every` is ignored: its own times count");
            }
            return Ok(());
        }
        let derived_ns = self.lengths.derived_ns();
        let seconds = |ns: u64| needs::number(ns as f64 / NS_PER_S as f64);
        if let Some(derived_ns) = derived_ns {
            let without = if self.has_moments() { "" } else { "there are no times in it: " };
            let derived_s = seconds(derived_ns);
            let other = stated_ns.filter(|ns| *ns != derived_ns);
            let other = other.map_or(String::new(), |ns| format!(", and not {} s", seconds(ns)));
            let text = format!(
                "{without}its reports last {derived_s} s, by their KiB and KiB per second{other}"
            );
            self.remark(None, text);
        }
        let length_ns = derived_ns.or(stated_ns).ok_or_else(|| self.no_length())?;
        self.put(Event::Length(length_ns));
        Ok(())
    }

    fn no_length(&self) -> ReadError {
        let message = if self.has_moments() {
            "its only report does not say how long it lasted: add `--every 10s` if that was 10 s, \
             or let the tool run for more reports"
        } else {
            "its reports have no times, and nothing in it says how far apart they are: add \
             `--every 10s` if one was written every 10 s; iostat and vmstat print times with `-t`"
        };
        ReadError::Length { message: message.to_owned() }
    }

    /// Says something that the reader of the figures must know.
    pub(crate) fn remark(&mut self, line: Option<u64>, text: impl Into<String>) {
        self.put(Event::Note(Note { kind: NoteKind::Remark, line, text: text.into() }));
    }

    /// Says, once for the source, that the report since the start of the host is left out.
    pub(crate) fn left_out_first(&mut self) {
        if !std::mem::replace(&mut self.has_left_out, true) {
            let text = "the first report is left out: it is the average since the host started; \
                        if the tool ran with `-y`, which leaves that one out, add `--keep-first`";
            self.remark(None, text);
        }
    }

    /// Reports a line that makes no sense, or that is cut off where the stream ends.
    pub(crate) fn bad_line(&mut self, lines: &Lines<'_>, message: String) {
        if lines.is_cut() {
            self.remark(Some(lines.number()), CUT_OFF);
        } else {
            self.unreadable(Some(lines.number()), message);
        }
    }

    /// Reports, after the last line, that there was one more that is cut off within a number.
    pub(crate) fn check_end(&mut self, lines: &Lines<'_>) {
        if lines.is_last_left_out() {
            self.remark(Some(lines.number()), CUT_OFF);
        }
    }

    /// Reports what is not certain of dates.
    ///
    /// # Errors
    /// Where dates show that those before may have been read wrong.
    pub(crate) fn check_dates(
        &mut self,
        doubt: Option<Doubt>,
        line: Option<u64>,
    ) -> Result<(), ReadError> {
        match doubt {
            None => Ok(()),
            Some(Doubt::Assumed(text)) => {
                self.remark(None, text);
                Ok(())
            }
            Some(Doubt::Contradicted(message)) => Err(match line {
                Some(line) => ReadError::Line { line, message },
                None => ReadError::Whole { message },
            }),
        }
    }

    /// Reports that a part could not be read.
    pub(crate) fn unreadable(&mut self, line: Option<u64>, text: impl Into<String>) {
        self.n_unreadable += 1;
        if self.n_unreadable <= UNREADABLE_SHOWN {
            self.put(Event::Note(Note { kind: NoteKind::Unreadable, line, text: text.into() }));
        }
    }

    /// Reports how much more could not be read.
    pub(crate) fn finish(&mut self) {
        if self.n_unreadable > UNREADABLE_SHOWN {
            let n_more = self.n_unreadable - UNREADABLE_SHOWN;
            let text = format!("{} cannot be read either", units::plural(n_more, "more line"));
            self.put(Event::Note(Note { kind: NoteKind::Unreadable, line: None, text }));
        }
    }

    /// Returns whether I/Os of a disk were handed over.
    pub(crate) fn has_ios(&self) -> bool {
        self.has_ios
    }

    /// Returns how many samples were handed over.
    pub(crate) fn n_samples(&self) -> u64 {
        self.n_samples
    }
}

/// Shortens what is quoted from a line, so that a message stays one.
pub(crate) fn quote(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let clean: String = text.chars().take(CHARS_MAX).filter(|c| !c.is_control()).collect();
    if text.chars().count() > CHARS_MAX { format!("`{clean}...`") } else { format!("`{clean}`") }
}

/// Returns a text with `?` for each control character: a damaged log must not steer a terminal,
/// and TOML has none in comments.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(text.replace(char::is_control, "?"))
    } else {
        Cow::Borrowed(text)
    }
}

/// How long samples last whose source tells only when they end.
///
/// The time since the sample before is what one lasted only where the source is in order. Once the
/// clock went back, a time counts that two neighbours agree on; until then the span is not known,
/// and follows from the moments in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spans {
    last_end_ns: Option<i64>,
    /// The time between the last two samples.
    last_since_ns: Option<u64>,
    usual_ns: Option<u64>,
    /// Two neighbours agreed on the usual span.
    is_agreed: bool,
    /// How often the clock went back.
    n_back: u32,
    /// Gaps of a few spans: the sample behind each counts for all of it, if it does not state its
    /// own.
    n_short_gaps: u32,
}

/// Oddities of one kind that are noted: a log that is sorted the other way has one per line.
const N_NOTED: u32 = 3;

/// Spans of more than this many usual ones are gaps, in which nothing is known.
const GAP_SPANS: u64 = 3;

impl Spans {
    /// Begins anew: what comes next does not follow on what was.
    pub(crate) fn restart(&mut self) {
        self.last_end_ns = None;
        self.last_since_ns = None;
    }

    /// Returns the span of a sample that ends here, 0 where it is not known; and what is odd.
    ///
    /// `stated_ns` is the value that the source itself states.
    pub(crate) fn next(&mut self, end_ns: i64, stated_ns: Option<u64>) -> (u64, Option<String>) {
        let Some(last_ns) = self.last_end_ns.replace(end_ns) else {
            return (stated_ns.unwrap_or(self.usual_ns()), None);
        };
        if end_ns < last_ns {
            let note = self.back(last_ns, end_ns);
            return (stated_ns.unwrap_or(self.usual_ns()), note);
        }
        let since_ns = end_ns.abs_diff(last_ns);
        let usual_ns = stated_ns.or(self.usual_ns).unwrap_or(0);
        let is_usual = usual_ns > 0 && is_same_span(since_ns, usual_ns);
        if stated_ns.is_none() && since_ns > 0 {
            self.learn(since_ns);
        }
        if since_ns == 0 || is_usual {
            return (stated_ns.unwrap_or(self.usual_ns()), None);
        }
        if stated_ns.is_none() && self.is_in_doubt() {
            return (0, None);
        }
        let is_gap = usual_ns > 0 && since_ns > usual_ns;
        // Where the time before was as long, it is what the source does now.
        let is_usual_now = stated_ns.is_none() && self.usual_ns == Some(since_ns);
        if !is_gap || is_usual_now {
            return (stated_ns.unwrap_or(since_ns), None);
        }
        let (from, to) = (time::iso(last_ns), time::iso(end_ns));
        let is_short = since_ns <= usual_ns.saturating_mul(GAP_SPANS);
        let is_filled = is_short && stated_ns.is_none();
        let becomes = if is_filled {
            "the one that ends there is taken for all of that time"
        } else {
            "that time is left out"
        };
        let text = format!("no samples from {from} to {to}: {becomes}");
        let span_ns = if is_filled { since_ns } else { stated_ns.unwrap_or(self.usual_ns()) };
        self.n_short_gaps += u32::from(is_short);
        (span_ns, if is_short { noted(text, self.n_short_gaps) } else { Some(text) })
    }

    /// Takes a step back of the clock: one time between two samples may have been one of reports
    /// that are not in order.
    fn back(&mut self, last_ns: i64, end_ns: i64) -> Option<String> {
        self.n_back += 1;
        self.last_since_ns = None;
        if !self.is_agreed {
            self.usual_ns = None;
        }
        let (from, to) = (time::iso(last_ns), time::iso(end_ns));
        let text = format!("the clock goes back from {from} to {to}: samples are sorted by time");
        noted(text, self.n_back)
    }

    /// Takes a time between two samples: the usual one is the least, or what two in turn agree on.
    fn learn(&mut self, since_ns: u64) {
        let is_as_before = self.last_since_ns.replace(since_ns);
        let is_as_before = is_as_before.is_some_and(|before| is_same_span(before, since_ns));
        match self.usual_ns {
            Some(usual_ns) if is_same_span(usual_ns, since_ns) => self.is_agreed |= is_as_before,
            Some(usual_ns) if since_ns > usual_ns && !is_as_before => {}
            Some(_) | None => {
                self.usual_ns = Some(since_ns);
                self.is_agreed = is_as_before;
            }
        }
    }

    fn is_in_doubt(&self) -> bool {
        self.n_back > 0 && !self.is_agreed
    }

    /// Returns the usual span, 0 where it is not certain.
    fn usual_ns(&self) -> u64 {
        self.usual_ns.filter(|_| !self.is_in_doubt()).unwrap_or(0)
    }
}

/// Moments are printed in whole seconds: one more or less is the same span.
fn is_same_span(one_ns: u64, other_ns: u64) -> bool {
    one_ns.abs_diff(other_ns) <= NS_PER_S
}

/// Returns the text of an oddity that is the n-th of its kind; none where enough were noted.
fn noted(mut text: String, n: u32) -> Option<String> {
    if n == N_NOTED {
        text.push_str("; more of these are not noted");
    }
    Some(text).filter(|_| n <= N_NOTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = NS_PER_S as i64;

    #[test]
    fn spans_follow_the_moments() {
        let mut spans = Spans::default();
        let mut at = |second: i64| {
            let (span_ns, note) = spans.next(second * S, None);
            (span_ns / NS_PER_S, note.is_some())
        };
        // Every 10 s; one late by a second, a gap of a minute, a clock set back by half a minute.
        let spans: Vec<(u64, bool)> = [0, 10, 20, 31, 41, 101, 71, 81].map(&mut at).into();
        let ten = (10, false);
        assert_eq!(spans, [(0, false), ten, ten, ten, ten, (10, true), (10, true), ten]);
    }

    /// Returns the spans of moments, in seconds, and whether each is noted.
    fn spans(moments: &[i64]) -> Vec<(u64, bool)> {
        let mut spans = Spans::default();
        let mut at = |second: &i64| {
            let (span_ns, note) = spans.next(second * S, None);
            (span_ns / NS_PER_S, note.is_some())
        };
        moments.iter().map(&mut at).collect()
    }

    /// The first leap, from a report that is left out to the last one, is no span.
    #[test]
    fn of_reports_in_the_wrong_order_no_span_is_taken_from_one_leap() {
        let none = (0, true);
        let reversed = spans(&[0, 60, 50, 40, 30, 20, 10]);
        // Three steps back are noted.
        assert_eq!(reversed, [(0, false), (60, false), none, none, none, (0, false), (0, false)]);
        let shuffled = spans(&[30, 10, 50, 20, 40]);
        assert_eq!(shuffled, [(0, false), none, (0, false), none, (0, false)]);
    }

    #[test]
    fn a_short_gap_is_noted_and_its_sample_counts_for_it() {
        let ten = (10, false);
        assert_eq!(spans(&[0, 10, 20, 50, 60]), [(0, false), ten, ten, (30, true), ten]);
        // One more, and nothing is known of that time.
        assert_eq!(spans(&[0, 10, 20, 51, 61]), [(0, false), ten, ten, (10, true), ten]);
        // What the source says of itself is not stretched.
        let mut spans = Spans::default();
        assert_eq!(spans.next(0, Some(10 * NS_PER_S)).0, 10 * NS_PER_S);
        let (span_ns, note) = spans.next(30 * S, Some(10 * NS_PER_S));
        assert_eq!((span_ns, note.is_some()), (10 * NS_PER_S, true));
    }

    /// The second report came soon after the first one, as where a log begins with two.
    #[test]
    fn a_short_first_span_is_not_the_usual_one() {
        let fifteen = (15, false);
        let found = spans(&[0, 3, 18, 33, 48]);
        assert_eq!(found, [(0, false), (3, false), (3, true), fifteen, fifteen]);
    }

    #[test]
    fn what_the_source_says_counts() {
        let mut spans = Spans::default();
        assert_eq!(spans.next(0, Some(5 * NS_PER_S)).0, 5 * NS_PER_S);
        assert_eq!(spans.next(7 * S, Some(7 * NS_PER_S)).0, 7 * NS_PER_S);
    }
}
